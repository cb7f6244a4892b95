#!/usr/bin/env python3
"""Writes the Unicode tables of src/io: the classes that tokenizers' patterns name, and what NFC composes.

  pip install unicodedata2==16.0.0
  tools/unicode_tables.py --ages /usr/share/unicode/DerivedAge.txt

Classes are of Unicode 16.0, as in the regular expressions of `tiktoken` 0.14 and `tokenizers` 0.23 (all code points were compared).
NFC knows the characters of Unicode 9.0 and earlier, as that of `tokenizers` does: later ones pass as they are. DerivedAge.txt
(Debian's package unicode-data) says which those are.
"""
import argparse
import pathlib
import re

import unicodedata2 as unicode

VERSION, NFC_VERSION = "16.0.0", (9, 0)
LETTERS = dict(Lu="upper", Lt="upper", Ll="lower", Lm="letter", Lo="letter")
HEAD = """// Written by tools/unicode_tables.py; Unicode {version}.
#include "io/unicode_tables.hpp"

namespace annulus::io::unicode {{

// clang-format off
"""
TAIL = "// clang-format on\n\n}  // namespace annulus::io::unicode\n"


def class_of(point):
    category = unicode.category(chr(point))
    if point in (10, 13):
        return "line_break"
    if category[0] == "Z" or 9 <= point <= 13 or point == 0x85:  # the property White_Space
        return "space"
    return LETTERS.get(category) or dict(M="mark", N="number").get(category[0])


def class_runs():
    """[first, count, class], where "cased" alternates upper and lower, beginning with upper."""
    runs = []
    for point in range(0x110000):
        kind = class_of(point)
        if not kind:
            continue
        if runs and runs[-1][0] + runs[-1][1] == point:
            first, count, before = runs[-1]
            if before == kind:
                runs[-1][1] += 1
                continue
            if before == "cased" and kind == ("upper", "lower")[count % 2] or (before, kind, count) == ("upper", "lower", 1):
                runs[-1][1:] = [count + 1, "cased"]
                continue
        runs.append([point, 1, kind])
    return runs


def rows(entries, width=118):
    line = ""
    for entry in entries:
        if len(line) + len(entry) + 3 > width:
            yield line
            line = ""
        line += (" " if line else "    ") + entry + ","
    yield line


def array(declaration, entries):
    return f"{declaration} = {{\n" + "\n".join(rows(entries)) + "\n};\n"


def old_points(ages):
    """The code points that NFC_VERSION knows."""
    points = set()
    for line in ages.read_text().splitlines():
        if match := re.match(r"(\w+)(?:\.\.(\w+))?\s*;\s*(\d+)\.(\d+)", line):
            first, last, *age = match.groups()
            if tuple(map(int, age)) <= NFC_VERSION:
                points.update(range(int(first, 16), int(last or first, 16) + 1))
    return points


def compositions(ages):
    """Canonical decompositions into one or two, whether NFC puts the two together again, and combining classes."""
    known, singles, pairs, classes = old_points(ages), [], [], []
    for point in sorted(known):
        if 0xAC00 <= point < 0xD7A4 or 0xD800 <= point < 0xE000:
            continue
        character = chr(point)
        if ccc := unicode.combining(character):
            if classes and classes[-1][0] + classes[-1][1] == point and classes[-1][2] == ccc:
                classes[-1][1] += 1
            else:
                classes.append([point, 1, ccc])
        decomposed = unicode.decomposition(character)
        if decomposed and "<" not in decomposed:
            parts = [int(p, 16) for p in decomposed.split()]
            if len(parts) == 1:
                singles.append((point, *parts))
            else:
                pairs.append((point, *parts, unicode.normalize("NFC", character) == character))
    return singles, pairs, classes


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--ages", type=pathlib.Path, required=True)
    options.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "src" / "io")
    given = options.parse_args()
    if unicode.unidata_version != VERSION:
        raise SystemExit(f"unicodedata2 holds Unicode {unicode.unidata_version}; {VERSION} is wanted")
    head = HEAD.format(version=VERSION)
    short = dict(upper="U", lower="l", cased="C", letter="o", mark="M", number="N", space="s", line_break="b")
    names = "".join(f"constexpr Kind {letter} = Kind::{kind};\n" for kind, letter in short.items())
    runs = [f"{{{first:#x},{count},{short[kind]}}}" for first, count, kind in class_runs()]
    (given.out / "unicode_classes.cpp").write_text(
        head + "namespace {\n" + names + array("constexpr ClassRun table[]", runs) + "}  // namespace\n" +
        "const std::span<const ClassRun> class_runs(table);\n" + TAIL)

    singles, pairs, classes = compositions(given.ages)
    print(f"{len(runs)} runs of a class, {len(singles)} characters for one, {len(pairs)} for two, {len(classes)} combining runs")
    head += "// NFC of characters of Unicode 9.0 and earlier\nnamespace {\n"
    (given.out / "unicode_compositions.cpp").write_text(
        head + array("constexpr Single single_table[]", [f"{{{a:#x},{b:#x}}}" for a, b in singles]) +
        array("constexpr CombiningRun combining_table[]", [f"{{{a:#x},{n},{c}}}" for a, n, c in classes]) +
        "}  // namespace\nconst std::span<const Single> singles(single_table);\n"
        "const std::span<const CombiningRun> combining_runs(combining_table);\n" + TAIL)
    (given.out / "unicode_pairs.cpp").write_text(
        head + array("constexpr Pair table[]", [f"{{{p:#x},{a:#x},{b:#x},{int(again)}}}" for p, a, b, again in pairs]) +
        "}  // namespace\nconst std::span<const Pair> pairs(table);\n" + TAIL)


main()
