#!/usr/bin/env python3
"""Compares code from Clang in process with code from the C compiler, on one thread each.

    bench/targets.py build/ein [--only NAME ...] [--rounds 5] [--cc gcc] [--flags '-O2 -march=native']

For every bench/nests/NAME.ein, `ein bench --target=jit` and `ein bench --target=c` run alternately; a round is one of
each. Prints a table in Markdown: the medians of the rounds, and the median and range of the ratios of each round, C
compiler over Clang; on a machine with other load the ratios are more reliable. The last line lists the programs below
0.95.
"""
import argparse
import glob
import json
import os
import statistics
import subprocess
import sys

from einlib import duration

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nests")
# Inputs that are indices, which no generator provides.
GIVEN = {"gather": ["tok=const:7"], "embedding_bag": ["tok=const:7"], "histogram": ["bin=const:7"], "histogram_2d": ["a=const:7", "b=const:7"],
         "segment_sum": ["g=const:7"], "segment_mean": ["g=const:7"]}


def seconds(ein, path, name, words):
    p = subprocess.run([ein, "bench", "--threads", "1", "--format=json", "--reps", "5", *words, path, *GIVEN.get(name, [])],
                       capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(p.stderr.strip().split("\n")[0])
    return json.loads(p.stdout)["median"]


def main():
    a = argparse.ArgumentParser()
    a.add_argument("ein")
    a.add_argument("--only", nargs="+")
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--cc", default="gcc")
    a.add_argument("--flags", help="flags for Clang")
    a = a.parse_args()
    ein, below = os.path.abspath(a.ein), []
    jit, c = ["--target=jit"] + (["--flags=" + a.flags] if a.flags else []), ["--target=c", "--cc=" + a.cc]
    print("| program | Clang in process | C compiler | theirs / ours | from, to |\n|---|---|---|---|---|")
    for path in sorted(glob.glob(HERE + "/*.ein")):
        name = os.path.basename(path)[:-4]
        if a.only and name not in a.only:
            continue
        try:
            rounds = [(seconds(ein, path, name, jit), seconds(ein, path, name, c)) for _ in range(a.rounds)]
        except RuntimeError as e:
            print(f"{name}: {e}", file=sys.stderr)
            continue
        ratio = sorted(y / x for x, y in rounds)
        middle = statistics.median(ratio)
        ours, theirs = (statistics.median(r[k] for r in rounds) for k in (0, 1))
        print(f"| {name} | {duration(ours)} | {duration(theirs)} | {middle:.2f} | {ratio[0]:.2f}, {ratio[-1]:.2f} |", flush=True)
        if middle < 0.95:
            below.append(f"{name} {middle:.2f}")
    print("\nbelow 0.95: " + (", ".join(below) or "none"))


main()
