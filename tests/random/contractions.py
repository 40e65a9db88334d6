#!/usr/bin/env python3
"""Tests contractions of two tensors: contractions.py EIN FIRST LAST TARGET [TARGET ...]

Each seed gives one contraction of up to 1.2 million points: labels of the batch, of either side and of the sum in any
number and order, in each operand and in the result; extents from 1 to 64; sums, maxima and minima. Numbers are small and
odd, so that any order gives the same bits (a minimum of 0 and -0 would not). It runs for each target and in the
evaluator, and the outputs must agree to the byte. Exits with 1 if any differ, or if no operand was copied.
"""
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from against import differs, run  # noqa: E402

LEAST, MOST = 30_000, 1_200_000


def labels(r):
    """Labels by part, with their extents."""
    names = r.sample("abcdefgh", r.randint(3, 7))
    cuts = sorted(r.choices(range(len(names) + 1), k=3))
    parts = [names[a:b] for a, b in zip([0] + cuts, cuts + [len(names)])]
    wide = [[2, 3, 4, 8, 16, 33, 64], [1, 2, 3, 5, 12, 16, 20, 40], [1, 2, 6, 7, 12, 16, 24, 50], [2, 3, 4, 8, 15, 32]]
    return parts, {n: r.choice(wide[k]) for k in range(4) for n in parts[k]}


def program(seed):
    r = random.Random(seed)
    points = 0
    while not LEAST < points < MOST:
        (batch, left, right, summed), extent = labels(r)
        points = summed and 1
        for n in extent:
            points = points * extent[n] if summed else 0
    x, z, y = batch + left + summed, batch + right + summed, batch + left + right
    for some in (x, z, y):
        r.shuffle(some)
    if batch and r.random() < 0.5:
        y = [n for n in y if n not in batch] + batch
    dtype = r.choice(["f32", "f32", "f32", "f64", "i32", "f16"])
    fold = r.choice(["sum", "sum", "sum", "max", "min"])

    def declared(name, some, seed):
        read = "".join(f" + {k + 3} * {n}" for k, n in enumerate(some))
        return f"input {name}[{','.join(f'{n}:{extent[n]}' for n in some)}] : {dtype} = {dtype}(({seed}{read}) % 6 * 2 - 5)"

    def read(name, some):
        return f"{name}[{','.join(some)}]" if some else name

    lines = [declared("X", x, 1), declared("Z", z, 5)] if x and z else [declared("X", x or z, 1)]
    value = " * ".join([read("X", x)] + [read("Z", z)] * bool(z)) if x and z else read("X", x or z)
    return lines + [f"output {read('Y', y)} = {fold}[{','.join(summed)}] {value}"]


def main():
    ein, first, last, targets = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    copied = 0
    for seed in range(first, last):
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "contraction.ein")
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join(program(seed)) + "\n")
            said = subprocess.run([ein, "build", path, "--stop=loop", "-o", "-"], capture_output=True, text=True, check=False)
            copied += "buffer transposed" in said.stdout
            got = {t: run(ein, path, t, {}, os.path.join(work, str(k))) for k, t in enumerate(["eval"] + targets)}
            for target in targets:
                bad = differs(got["eval"], got[target])
                if bad or isinstance(got["eval"], str):
                    print(f"seed {seed}, {target}: {', '.join(bad or [got['eval']])}:", *program(seed), sep="\n")
                    sys.exit(1)
    print(f"{last - first} contractions, {copied} with copies")
    sys.exit(0 if copied else 1)


main()
