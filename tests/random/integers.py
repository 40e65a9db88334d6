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


def program(ein, path, seed):
    """A program with up to 25 outputs: it omits those that the language refuses (numbers that do not fit, conditions
    that are known)."""
    r = random.Random(seed)
    lines = HEAD.splitlines() + [output(r, k) for k in range(25)]
    while True:
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        said = subprocess.run([ein, "check", path], capture_output=True, text=True, check=False).stderr
        refused = {int(n) for n in re.findall(r"\.ein:(\d+):\d+: error", said)}
        if not refused:
            return
        lines = [x for n, x in enumerate(lines, 1) if n not in refused]


def outputs(ein, path, target, folder):
    subprocess.run([ein, "run", path, f"--target={target}", "-o", f"all={folder}/"], check=True, capture_output=True)
    made = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as f:
            made[name] = f.read()
    return made


def main():
    ein, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    looked = narrower = 0
    for seed in range(first, last):
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "integers.ein")
            program(ein, path, seed)
            text = subprocess.run([ein, "build", path, "--stop=task", "-o", "-"], capture_output=True, text=True, check=True).stdout
            narrower += len(re.findall(r"\+ i16\(|i16\([^()]*\) [+*-]", text))
            slow = outputs(ein, path, "eval", os.path.join(work, "slow"))
            fast = outputs(ein, path, "jit", os.path.join(work, "fast"))
            looked += len(slow)
            for name in slow:
                if slow[name] != fast.get(name):
                    with open(path, encoding="utf-8") as f:
                        print(f"seed {seed}: {name} differs:\n{f.read()}")
                    sys.exit(1)
    print(f"{looked} outputs, {narrower} operations that are narrower")
    sys.exit(0 if narrower else 1)


main()
