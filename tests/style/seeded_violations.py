#!/usr/bin/env python3
"""Seeds one violation of each rule in a small tree and sees scripts/check-layers name exactly that rule."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check-layers"

CLEAN = {
    "src/core/views.hpp": '#include <Kokkos_Core.hpp>\n',
    "src/core/text.hpp": '#include <string>\n',
    "src/core/text.cpp": '#include "core/text.hpp"\n\n#include <fmt/format.h>\n',
    "src/core/CMakeLists.txt": 'annulus_room(core HOST text.cpp)\n',
    "src/ops/scale.cpp": '#include "core/views.hpp"\nvoid scale() {\n  // deep_copy(a, b) is banned\n'
                         '  Kokkos::parallel_for("annulus::ops::scale", Kokkos::RangePolicy<Exec>(exec, 0, n), f);\n'
                         '  Kokkos::deep_copy(exec, a, b);\n}\n',
    "src/ops/CMakeLists.txt": 'annulus_room(ops KOKKOS scale.cpp)  # HOST nothing\n',
    "src/comm/mpi.cpp": '#include <mpi.h>\n',
}


def append(file, text):
    return {file: CLEAN.get(file, "") + text}


SEEDED = {
    "includes_point_down": [
        append("src/core/text.hpp", '#include "ops/names.hpp"\n') | {"src/ops/names.hpp": ""},
        {"src/train/loop.hpp": "", "src/eval/loop.hpp": '#include "train/loop.hpp"\n'},
        {"tests/poison.hpp": "", "src/io/a.cpp": '#include "poison.hpp"\n'},
        {"cuda_kernels/k.hpp": "", "src/cp/a.cpp": '#include "cuda_kernels/k.hpp"\n'},
    ],
    "kokkos_or_text_libraries": [
        {"src/io/both.hpp": '#include "core/views.hpp"\n#include <toml++/toml.h>\n'},
        {"src/io/log.hpp": '#include <spdlog/spdlog.h>\n',
         "src/io/both.cpp": '#include "core/views.hpp"\n#include "io/log.hpp"\n'},
        {"cuda_kernels/forward.cu": '#include <Kokkos_Core.hpp>\n'},
    ],
    "cmake_lists_agree": [
        {"src/core/CMakeLists.txt": 'annulus_room(core\n  KOKKOS text.cpp)\n'},
        {"src/core/CMakeLists.txt": 'annulus_room(core TOGETHER text.cpp)\n'},
        {"src/ops/CMakeLists.txt": 'annulus_room(ops HOST scale.cpp)\n'},
    ],
    "nvcc_files_are_few": [
        {f"src/ops/k{i}.cpp": '#include <Kokkos_Core.hpp>\n' for i in range(50)}
        | {"src/ops/CMakeLists.txt": f"annulus_room(ops KOKKOS scale.cpp {' '.join(f'k{i}.cpp' for i in range(50))})\n"},
    ],
    "mpi_and_hdf5_stay_in_their_rooms": [
        append("src/core/text.hpp", "#include <mpi.h>\n"), append("src/comm/mpi.cpp", "#include <hdf5.h>\n"),
    ],
    "no_default_instance": [
        append("src/ops/scale.cpp", text) for text in (
            "Kokkos::deep_copy(a, b);\n", "deep_copy(subview(a, pair(1, 2)), b);\n", "Kokkos::fence();\n",
            "auto parts = Kokkos::Experimental::partition_space(exec, 1, 1);\n", "run(Exec(), x);\n", "run(Exec{}, x);\n",
            'Kokkos::parallel_for("a", Kokkos::RangePolicy<>(0, n), f);\n',
            'Kokkos::parallel_reduce("a", n, f, sum);\n', "Kokkos::parallel_for(Kokkos::TeamPolicy<Exec>(teams, 1), f);\n")
    ],
    "files_are_short": [append("src/core/text.cpp", "\n" * 501)],
    "no_machine_is_named": [
        # in two halves, as this very file is checked too
        {"scripts/fetch": "curl https:/" "/mirror.example.org/kokkos\n"}, {"README.md": "Unpack it in /ro" "ot/annulus\n"},
    ],
}


def violations(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in (CLEAN | files).items():
            path = pathlib.Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run = subprocess.run([CHECK, "--root", root], capture_output=True, text=True)
    named = {line.split(": ")[1] for line in run.stdout.splitlines() if ": " in line}
    return run.returncode, named, run.stdout + run.stderr


class EachRule(unittest.TestCase):
    def test_a_clean_tree_passes(self):
        code, named, output = violations({})
        self.assertEqual((code, named), (0, set()), output)

    def test_a_seeded_violation_is_named(self):
        for rule, trees in SEEDED.items():
            for files in trees:
                with self.subTest(rule=rule, files=files):
                    code, named, output = violations(files)
                    self.assertEqual((code, named), (1, {rule}), output)


if __name__ == "__main__":
    sys.exit(unittest.main())
