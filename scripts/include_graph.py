"""What each C++ file of the project includes, directly and through the project's own headers."""
import functools
import pathlib
import re

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh"}
FOLDERS = ("src", "cuda_kernels", "tests", "bench")


class IncludeGraph:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files = sorted(p for f in FOLDERS for p in (self.root / f).rglob("*") if p.suffix in SUFFIXES)

    @functools.cache
    def direct(self, file):
        """(line number, name as written, the project's file or None) of each #include."""
        found = []
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if match := INCLUDE.match(line):
                found.append((number, match[2], self._ours(file, match[2])))
        return found

    def _ours(self, file, name):
        places = (file.parent, self.root / "src", self.root / "tests", self.root)
        return next((p / name for p in places if (p / name).is_file()), None)

    @functools.cache
    def reached(self, file):
        """The project's files that a translation unit of this file reads, itself included."""
        seen, todo = set(), [file]
        while todo:
            current = todo.pop()
            if current not in seen:
                seen.add(current)
                todo += [ours for _, _, ours in self.direct(current) if ours]
        return seen

    def foreign(self, file):
        """Names of the headers that are not ours, with the file of ours that includes them: {name: file}."""
        return {name: by for by in sorted(self.reached(file)) for _, name, ours in self.direct(by) if not ours}
