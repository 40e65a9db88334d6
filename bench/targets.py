#!/usr/bin/env python3
"""Compares code from Clang in process with code from the C compiler, on one thread each.

    bench/targets.py build/ein [--group NAME ...] [--only ROW ...] [--seconds 0.5] [--most 1e9] [--cc gcc] [--flags '-O2 -march=native']

The groups are nests (bench/nests/*.ein) and those of bench/peers/groups. libein compiles each program both ways, in this
process. Calls alternate, on the same data; the least processor time of the calling thread counts, which other load
changes less than medians of clock times. A row gets as many calls as take about --seconds, and at least 6; rows of more
than --most operations are left out. Prints a table in Markdown, and the geometric mean of each group: the C compiler's
time over Clang's. The last lists name the rows and groups below 0.95. The exit code is 1 if a group is.
"""
import argparse
import ctypes
import fnmatch
import glob
import json
import os
import statistics
import sys
import tempfile
import time

from einlib import DTYPES, Data, duration, shared_make, support_make
from nests import BELOW, HERE, RANGES
from peers.groups import GROUPS

GOAL, LEAST = 0.95, 6


def rows_find():
    """Yields (group, name, text, {input: strides}, {input: below}, {input: scale}, operations)."""
    for path in sorted(glob.glob(HERE + "/*.ein")):
        name = os.path.basename(path)[:-4]
        yield "nests", name, open(path).read(), {}, RANGES.get(name, {}), {}, 0
    for group in GROUPS:
        for part in group.parts:
            for row in part.rows:
                row = row.at(False)
                yield group.name, row.name, row.program(), row.strides, row.below, row.scale, row.flops


class Compared:
    """A program, compiled by Clang and by the C compiler, with arguments."""

    def __init__(self, ein, options, support, scales, text, strides, below, scale):
        self.lib, self.library, name = ein.library.lib, ein.library, "row.ein"
        files = ((name, text),)
        shapes = json.loads(ein.library.ask(["build", name, "--emit=manifest", "--output=-"], files))
        sides = [[Data(a["name"], DTYPES.index(a["dtype"]), [int(n) for n in a["extents"]], strides.get(a["name"]) if side == "inputs" else None)
                  for a in shapes[side]] for side in ("inputs", "outputs")]
        for k, d in enumerate(sides[0]):
            support.fill(d.at, d.dtype, d.elements, below.get(d.name, BELOW), k + 1)
            if d.name in scale:
                by, plus = scale[d.name]
                getattr(scales, "scale_" + DTYPES[d.dtype])(
                    ctypes.c_void_p(d.at), ctypes.c_int64(d.elements), ctypes.c_double(by), ctypes.c_double(plus))
        self.kept = sides
        self.views = [(ein.library.Tensor * (len(side) + 1))(*(self.tensor(ein, d) for d in side)) for side in sides]
        how = (["--target=jit"] + (["--flags=" + options.flags] if options.flags else []), ["--target=c", "--cc=" + options.cc])
        self.handles = [ein.library.function_open([name, "--threads=1", *words], files)[0] for words in how]

    @staticmethod
    def tensor(ein, d):
        v = d.view
        return ein.library.Tensor(v.data, 1, 0, v.ndim, v.dtype, v.shape, v.strides, 0)

    def seconds(self, k):
        start = time.thread_time_ns()
        outcome = self.lib.ein_function_call(self.handles[k], *self.views)
        took = time.thread_time_ns() - start
        if outcome:
            raise self.library.error_of(self.lib.ein_function_answer(self.handles[k]).contents)
        return took * 1e-9

    def least(self, most):
        """The least times of both, and how many calls each got."""
        first = [self.seconds(k) for k in (0, 1, 0, 1)]
        calls = max(LEAST, int(most / sum(first[2:])))
        times = [(self.seconds(0), self.seconds(1)) for _ in range(calls)]
        return *(min(t) for t in zip(*times)), calls

    def close(self):
        for h in self.handles:
            self.lib.ein_function_close(h)


def module_open(ein):
    os.environ.setdefault("EIN_LIBEIN", os.path.dirname(os.path.abspath(ein)))
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
    import ein as module
    import ein.library
    return module


def options_parse():
    a = argparse.ArgumentParser(description="Compares code from Clang in process with code from the C compiler.")
    a.add_argument("ein")
    a.add_argument("--group", nargs="+", default=["*"])
    a.add_argument("--only", nargs="+", default=["*"])
    a.add_argument("--seconds", type=float, default=0.5)
    a.add_argument("--most", type=float, default=1e9)
    a.add_argument("--cc", default="gcc")
    a.add_argument("--flags", help="flags for Clang")
    return a.parse_args()


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, p) for p in patterns)


def main():
    a = options_parse()
    ein, groups, below = module_open(a.ein), {}, []
    print("| group | program | Clang in process | C compiler | theirs / ours | calls |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        support = support_make("cc", folder)
        scales = shared_make("cc", os.path.join(os.path.dirname(HERE), "peers", "calls.c"), ["-O2"], folder)
        for group, name, text, strides, ranges, scale, flops in rows_find():
            if not matches(group, a.group) or not matches(name, a.only) or flops > a.most:
                continue
            try:
                both = Compared(ein, a, support, scales, text, strides, ranges, scale)
                ours, theirs, calls = both.least(a.seconds)
                both.close()
            except ein.Error as e:
                print(f"{name}: {e}", file=sys.stderr)
                continue
            groups.setdefault(group, []).append(theirs / ours)
            print(f"| {group} | {name} | {duration(ours)} | {duration(theirs)} | {theirs / ours:.2f} | {calls} |", flush=True)
            if theirs / ours < GOAL:
                below.append(f"{name} {theirs / ours:.2f}")
    means = {group: statistics.geometric_mean(ratios) for group, ratios in groups.items()}
    print("\n| group | rows | geometric mean | least |\n|---|---|---|---|")
    for group, ratios in groups.items():
        print(f"| {group} | {len(ratios)} | {means[group]:.2f} | {min(ratios):.2f} |")
    slow = [f"{group} {mean:.2f}" for group, mean in means.items() if mean < GOAL]
    print(f"\nrows below {GOAL}: " + (", ".join(below) or "none"))
    print(f"groups below {GOAL}: " + (", ".join(slow) or "none"))
    return 1 if slow else 0


sys.exit(main())
