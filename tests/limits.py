#!/usr/bin/env python3
"""Compares the table of limits in docs/reliability.md with the sources: each number must equal the constant that the
row names.

A row reads: | what | 1,000 | `compiler/front/modules.c` `MODULES_MOST` |. The name is defined in that file as
`NAME = number` in an enum, or by `#define NAME number`; a number may be written as a product or with <<.
"""
import pathlib
import re
import sys

ROW = re.compile(r"^\| [^|]+ \| ([0-9,]+)[^|]* \| `([^`]+)` `([A-Z_0-9]+)` \|$")
NUMBER = re.compile(r"[0-9]+( (\*|<<) [0-9]+)*")


def number_in(text, name):
    found = re.search(r"(?:\b%s = |#define %s +)([^,}/\n]+)" % (name, name), text)
    said = found.group(1).strip() if found else ""
    return eval(said) if NUMBER.fullmatch(said) else None


def main():
    root = pathlib.Path(__file__).parent.parent
    table = (root / "docs/reliability.md").read_text().split("## Limits")
    if len(table) != 2:
        return "docs/reliability.md has no section `Limits`"
    rows = [line for line in table[1].split("\n## ")[0].splitlines() if line.startswith("| ")]
    bad = []
    for line in rows[1:]: # without the head
        row = ROW.match(line)
        if not row:
            bad.append(f"not understood: {line}")
            continue
        said, path, name = int(row[1].replace(",", "")), root / row[2], row[3]
        is_ = number_in(path.read_text(), name) if path.exists() else None
        if is_ != said:
            bad.append(f"{row[2]}: {name} is {is_}, but the table says {said}")
    if len(rows) < 20:
        bad.append(f"only {len(rows)} rows")
    return "\n".join(bad) or None


sys.exit(main())
