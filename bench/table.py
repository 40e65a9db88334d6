#!/usr/bin/env python3
"""Makes the tables of docs/performance.md from JSON files of peers.py: `--one` for runs with one thread, `--two` for
runs with two.

    bench/table.py --one one/*.json --two two/*.json                            # prints both
    bench/table.py --one one/*.json --two two/*.json --into docs/performance.md # replaces the tables in the file
"""
import argparse
import json

from einlib import duration
from peers.groups import GROUPS as KNOWN

GROUPS = ("group", "target", "beside", "one thread: mean / least", "two threads: mean / least")
ROWS = ("group", "row", "ours", "of the roof", "best peer", "theirs / ours", "two threads", "fastest of all others")
LABEL = {"numpy": "NumPy", "scipy": "SciPy", "torch": "PyTorch", "compile": "PyTorch compiled", "jax": "JAX", "openblas": "OpenBLAS",
         "c": "C"}


class Runs:
    """The contents of several files: parts by name, groups in the order of the benchmark, rows by name."""

    def __init__(self, paths):
        parts, self.rows = [], {}
        for path in paths:
            with open(path, encoding="utf-8") as f:
                said = json.load(f)
            parts += said["parts"]
            for row in said["rows"]:
                self.rows[row["row"]] = row
        order = [group.name for group in KNOWN]
        self.parts = {part_name(part): part for part in sorted(parts, key=lambda part: order.index(part["group"]))}


def part_name(part):
    return part["group"] if part["part"] == part["group"] else f"{part['group']}: {part['part']}"


def best_of(row, part):
    """Returns the fastest peer that counts, and the fastest of all."""
    counted = [n for n in row["peers"] if not part["against"] or n in part["against"]]
    return min(counted, key=row["peers"].get, default=None), min(row["peers"], key=row["peers"].get, default=None)


def judged(part):
    if not part or part["mean"] is None:
        return ""
    return f"{part['mean']:.2f} / {part['least']:.2f}" + (" ✓" if part["met"] else "")


def group_lines(one, two):
    for name, part in one.parts.items():
        counted = part["against"] or {n for row in part["rows"] for n in one.rows[row]["peers"]}
        beside = ", ".join(label for n, label in LABEL.items() if n in counted) if len(counted) < 4 else "all"
        target = f"{part['target']:g}" if part["target"] is not None else "none"
        yield name, target, beside, judged(part), judged(two.parts.get(name))


def ratio(row, best):
    return f"{row['peers'][best] / row['ours']:.2f}"


def row_lines(one, two):
    for name, part in one.parts.items():
        for row in (one.rows[n] for n in part["rows"]):
            if not row["ours"]:
                continue
            best, fastest = best_of(row, part)
            roof, again = row.get("roof"), two.rows.get(row["row"])
            other = best_of(again, part)[0] if again and again["ours"] else None
            yield (name, row["row"], f"{duration(row['ours'])} ({row['rate']})", f"{roof['reached']:.0%}, {roof['by']}" if roof else "",
                   f"{best} {duration(row['peers'][best])}" if best else "", ratio(row, best) if best else "",
                   f"{ratio(again, other)} ({duration(again['ours'])})" if other else "",
                   f"{fastest} {duration(row['peers'][fastest])}" if fastest != best else "")


def table(head, lines):
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *lines)]


def put(path, tables):
    """Replaces each table whose heading begins with the same two cells."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    for new in tables:
        begin = "|".join(new[0].split("|")[:3])
        at = next(k for k, line in enumerate(lines) if line.startswith(begin))
        end = next(k for k in range(at, len(lines)) if not lines[k].startswith("|"))
        lines[at:end] = new
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description="Tables of several runs of peers.py.")
    parser.add_argument("--one", nargs="+", required=True, metavar="JSON", help="runs with one thread")
    parser.add_argument("--two", nargs="+", default=[], metavar="JSON", help="runs with two")
    parser.add_argument("--into", metavar="FILE", help="the file in which to replace the tables")
    options = parser.parse_args()
    one, two = Runs(options.one), Runs(options.two)
    tables = [table(GROUPS, group_lines(one, two)), table(ROWS, row_lines(one, two))]
    if options.into:
        put(options.into, tables)
    else:
        print("\n".join(tables[0] + [""] + tables[1]))


if __name__ == "__main__":
    main()
