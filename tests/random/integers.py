#!/usr/bin/env python3
"""Tests integers that compiled code computes in narrower types: integers.py EIN FIRST LAST

Each seed gives a program of random sums, products, choices, comparisons and casts of u8, i8, i16 and bool. It runs
compiled in process and in the evaluator, and the outputs must agree to the byte. Numbers are near the limits of 16 and
32 bits, so that a type that is too narrow is noticed. Exits with 1 if any differ.
"""
import os
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from against import differs, run, written  # noqa: E402

HEAD = """dim N = 97
input a[i:N] : u8 = u8((i * 53) % 256)
input b[i:N] : i8 = i8((i * 29) % 256 - 128)
input c[i:N] : i16 = i16((i * 9973) % 65536 - 32768)
input d[i:N] : u8 = u8((i * 31 + 7) % 256)
input e[i:N] : bool = i % 3 == 1
"""
NUMBERS = [0, 1, -1, 3, 7, 100, 255, 256, 1000, 32767, -32768, 70000]
COMPARISONS = ["<", "<=", "==", "!=", ">", ">="]


def integer(r, depth):
    kind = r.random()
    if depth == 0 or kind < 0.15:
        leaf = r.choice([f"i64({x}[i])" for x in "abcd"] + [f"i32({x}[i])" for x in "abcd"] + ["choice", "number", "number"])
        if leaf == "choice":
            return f"(if e[i] then {r.randint(-3, 300)} else {r.randint(-40000, 3)})"
        return str(r.choice(NUMBERS)) if leaf == "number" else leaf
    if kind < 0.8:
        return f"({integer(r, depth - 1)} {r.choice('++-*')} {integer(r, depth - 1)})"
    if kind < 0.9:
        return f"{r.choice(['min', 'max'])}({integer(r, depth - 1)}, {integer(r, depth - 1)})"
    return f"(if {comparison(r, depth - 1, depth - 1)} then {integer(r, depth - 1)} else {integer(r, depth - 1)})"


def comparison(r, left, right):
    return f"{integer(r, left)} {r.choice(COMPARISONS)} {integer(r, right)}"


def output(r, k):
    if r.random() < 0.5:
        value = comparison(r, r.randint(1, 4), r.randint(0, 2)) + r.choice(["", " or e[i]"])
    else:
        value = f"{r.choice(['u8', 'i8', 'i16', 'f32', 'f64', 'i32', 'i64'])}({integer(r, r.randint(1, 4))})"
    return f"output o{k}[i:N] = {value}"


def program(seed):
    """Up to 25 outputs: the language refuses numbers that do not fit, and conditions that are known."""
    r = random.Random(seed)
    return HEAD.splitlines() + [output(r, k) for k in range(25)]


def main():
    ein, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    looked = narrower = 0
    for seed in range(first, last):
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "integers.ein")
            lines = written(ein, path, program(seed))
            text = subprocess.run([ein, "build", path, "--stop=task", "-o", "-"], capture_output=True, text=True, check=True).stdout
            narrower += len(re.findall(r"\+ i16\(|i16\([^()]*\) [+*-]", text))
            slow, fast = (run(ein, path, target, {}, os.path.join(work, target)) for target in ("eval", "jit"))
            bad = differs(slow, fast)
            if bad or isinstance(slow, str):
                print(f"seed {seed}: {', '.join(bad or [slow])}:", *lines, sep="\n")
                sys.exit(1)
            looked += len(slow)
    print(f"{looked} outputs, {narrower} operations that are narrower")
    sys.exit(0 if narrower else 1)


main()
