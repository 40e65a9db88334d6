#!/usr/bin/env python3
"""spellings.py EIN [--count N] [--seed S] [--families NAME ...] [--open NAME ...] [--limit R]: how much the time depends on the spelling of a computation.

Random contractions are written in several ways: with the fewest labels and with more; with factors, declarations and
the labels of the sum in another order; with other names. --families: instead, the computations of families.py, or some of
them, which users spell in very different ways; spellings that are another formula are shown, but do not count. --open: instead, rows of peers.py, whose sizes are numbers in one
spelling, and said by the inputs in the other. Results must agree. Spellings with different loops are timed
alternately, and the worst is compared with the best. On one thread, the processor's time is taken, which other load on
the machine disturbs little."""
import argparse
import fnmatch
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from einlib import CLOSE, DTYPES, Data, Failure, runs_find, support_make  # noqa: E402
from families import FAMILIES  # noqa: E402
from peers.contractions import contractions  # noqa: E402
from peers.groups import GROUPS  # noqa: E402


def library_load(ein):
    """The package ein, with the library of the same build folder, which compiles in process."""
    here = os.path.dirname(os.path.abspath(__file__))
    os.environ["EIN_LIBEIN"] = os.path.dirname(ein)
    sys.path.insert(0, os.path.join(here, "..", "python"))
    from ein import library
    return library


def spellings(c, rng):
    """Programs, by what was changed."""
    least = c.merged()
    return {"as it came": c.program(), "few labels": least.program(), "more labels": c.split(rng).program(), "swapped": swapped(c.program()),
            "few, swapped": swapped(least.program()), "declarations swapped": declarations_swapped(c.program())}


def swapped(program):
    """Factors and the labels of the sum in reverse order."""
    labels, left, right = re.search(r"sum\[(.*?)\] (A\[.*?\]) \* (B\[.*?\])", program).groups()
    return program.replace(f"sum[{labels}] {left} * {right}", f"sum[{','.join(reversed(labels.split(',')))}] {right} * {left}")


def declarations_swapped(program):
    """Declares the second tensor first."""
    return re.sub(r"input (A\[.*?\]), (B\[.*?\])", r"input \2, \1", program)


def loops(ein, path):
    """Returns the text of the kernels, without names of tensors and labels."""
    made = subprocess.run([ein, "build", path, "--stop=loop"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if made.returncode:
        raise Failure(made.stderr)
    text = made.stdout[made.stdout.index("\nkernel "):]
    names = {}
    text = re.sub(r"@\".*?\":\d+:\d+|^ *(note|how) .*\n", "", text, flags=re.M)
    return re.sub(r"[A-Za-z_%][\w]*", lambda m: names.setdefault(m[0], f"n{len(names)}"), text)


class Spelling:
    """A program, compiled in process, with its data. sizes: the path of a program that tells the inputs' sizes."""

    def __init__(self, o, what, path, below, sizes=None):
        self.what = what
        self.handle, _ = o.library.function_open([path, "--target=jit", f"--threads={o.threads}"], ())
        graph = subprocess.run([o.ein, "build", sizes or path, "--stop=graph"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.inputs = [Data(name, DTYPES.index(dtype), shape_read(shape)) for name, shape, dtype in re.findall(r"^(?:input|param) %\d+ (\w+)(\[.*?\])? : (\w+)", graph, flags=re.M)]
        for d in self.inputs:
            o.support.fill(d.at, d.dtype, d.elements, below.get(d.name, 16), 1 + sum(map(ord, d.name)))
        outputs = len(re.findall(r"^output ", graph, flags=re.M))
        given, made = (o.library.Tensor * (len(self.inputs) + 1))(), (o.library.Tensor * (outputs + 1))()
        for k, d in enumerate(self.inputs):
            given[k] = o.library.Tensor.from_buffer_copy(d.view)
        call = o.library.lib.ein_function_call
        self.run = lambda: call(self.handle, given, made)
        if self.run():
            raise o.library.error_of(o.library.lib.ein_function_answer(self.handle).contents)
        self.outputs = [Data(f"Y{k}", t.dtype, t.shape[:t.ndim]) for k, t in enumerate(made[:outputs])]  # where later results go
        for k, d in enumerate(self.outputs):
            made[k] = o.library.Tensor.from_buffer_copy(d.view)
        self.runs, self.least = runs_find(self.run), math.inf

    def sample(self, clock):
        start = clock()
        for _ in range(self.runs):
            self.run()
        self.least = min(self.least, (clock() - start) / self.runs)

    def differs(self, o, other):
        return any(o.support.differ(a.at, b.at, a.dtype, a.count) > 100 * CLOSE[a.dtype] for a, b in zip(self.outputs, other.outputs))


def shape_read(text):
    return [int(n) for n in re.findall(r"\d+", text)]


def measured(o, programs, below, sizes=False):
    """Returns the least seconds, by what tells spellings apart, those with equal loops as one; and which disagree with
    the first. sizes: the first tells those of all inputs."""
    with tempfile.TemporaryDirectory() as folder:
        one, some = {}, []
        for what, program in programs.items():
            path = os.path.join(folder, f"s{len(one)}.ein")
            with open(path, "w", encoding="utf-8") as f:
                f.write(program + "\n")
            one.setdefault(loops(o.ein, path), (what, path))
        if len(one) > 1:
            first = next(iter(one.values()))[1] if sizes else None
            some = [Spelling(o, what, path, below, first) for what, path in one.values()]
        for _ in range(o.rounds):
            for s in some:
                s.sample(time.process_time if o.threads == 1 else time.perf_counter)
        wrong = [s.what for s in some if s.differs(o, some[0])]
        for s in some:
            o.library.lib.ein_function_close(s.handle)
        return {s.what: s.least for s in some}, wrong


def family_row(o, family):
    """Prints all its spellings, those that are another formula apart; returns worst over best of the others."""
    one = {what: program for what, program in family.programs(o.dtype).items() if what not in family.another}
    least, wrong = measured(o, {**one, **family.programs(o.dtype)}, family.below)
    if not least:
        print(f" 1.00  {family.name}  all alike", flush=True)
        return 1.0
    own = {what: t for what, t in least.items() if what not in family.another}
    best = min(own.values())
    ratio = max(own.values()) / best
    each = ", ".join(f"{what} {t / best:.2f}" for what, t in sorted(own.items(), key=lambda x: x[1]))
    print(f"{ratio:5.2f}  {family.name} ({best * 1e3:.3g} ms): {each}", flush=True)
    for what in sorted(least.keys() - own.keys(), key=least.get):
        print(f"       another formula: {what} {least[what] / best:.2f}: {family.another[what]}", flush=True)
    for what in wrong:
        print(f"       WRONG: {what}", flush=True)
    return math.inf if wrong else ratio


def opened(program, names):
    """The program with these dims open."""
    return re.sub(rf"\b({'|'.join(names)}) = \d+", r"\1", program, count=len(names))


def open_row(o, row):
    """Prints the time of a row with open sizes beside that with known ones; returns the ratio."""
    program = row.program()
    declared = " ".join(re.findall(r"\[(.*?)\]", " ".join(re.findall(r"^(?:input|param) .*", program, flags=re.M))))
    names = [n for n in row.sizes if re.search(rf":{n}\b *(,|$)", declared)]  # the others, no input tells
    least, wrong = measured(o, {"known": program, "open": opened(program, names)}, row.below, True)
    ratio = least["open"] / least["known"]
    print(f"{ratio:5.2f}  {row.name} ({least['known'] * 1e3:.3g} ms)" + "  WRONG" * len(wrong), flush=True)
    return math.inf if wrong else ratio


def contraction_row(o, c, rng):
    least, _ = measured(o, spellings(c, rng), {})
    if not least:
        print(f" 1.00  {c.einsum()} {c.extent}  all alike", flush=True)
        return 1.0
    best, last = min(least, key=least.get), max(least, key=least.get)
    ratio = least[last] / least[best]
    print(f"{ratio:5.2f}  {c.einsum()} {c.extent}  {last} beside {best}", flush=True)
    return ratio


def main():
    words = argparse.ArgumentParser()
    words.add_argument("ein")
    words.add_argument("--count", type=int, default=20)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--families", nargs="*", metavar="NAME", help="shell patterns; without a name, all")
    words.add_argument("--open", nargs="*", metavar="NAME", help="shell patterns; without a name, all")
    words.add_argument("--dtype", default="f32", help="of the families")
    words.add_argument("--threads", type=int, default=1)
    words.add_argument("--rounds", type=int, default=7)
    words.add_argument("--cc", default="cc")
    words.add_argument("--limit", type=float, default=1.5, help="a larger ratio is a failure")
    o = words.parse_args()
    o.ein = os.path.abspath(o.ein)
    o.library = library_load(o.ein)
    with tempfile.TemporaryDirectory() as folder:
        o.support = support_make(o.cc, folder)
    if o.open is not None:
        rows = [r.at(False) for g in GROUPS for p in g.parts for r in p.rows]
        ratios = [open_row(o, r) for r in rows if not o.open or any(fnmatch.fnmatch(r.name, p) for p in o.open)]
    elif o.families is None:
        rng = random.Random(o.seed)
        ratios = [contraction_row(o, c, rng) for c in contractions(o.seed, o.count)]
    else:
        chosen = [f for f in FAMILIES if not o.families or any(fnmatch.fnmatch(f.name, p) for p in o.families)]
        ratios = [family_row(o, f) for f in chosen]
    print(f"{len(ratios)} computations: worst over best spelling {max(ratios):.2f} at most, above {o.limit:g}: {sum(r > o.limit for r in ratios)}")
    sys.exit(max(ratios) > o.limit)


main()
