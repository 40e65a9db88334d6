#!/usr/bin/env python3
"""Measures how far plans of large random programs can be from the best. Run by hand: a program takes minutes.

large.py EIN [--programs 5] [--products 500] [--sites 16]: prints a line for each program, then the median and the
worst.

A program is a graph of matrix products, each of two random inputs or earlier products, with sides of 256, 512 or
1024."""
import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile

SIDES = [256, 512, 1024]
INPUTS = 8


def program(r, products):
    known = [(f"A{k}", r.choice(SIDES), r.choice(SIDES)) for k in range(INPUTS)]
    lines = [f"input {name}[i{k}:{rows}, j{k}:{columns}] : f32" for k, (name, rows, columns) in enumerate(known)]
    made, read = [], set()
    while len(made) < products:
        (x, rows, inner), (y, other, columns) = r.choice(known), r.choice(known)
        if inner != other:
            continue
        name = f"T{len(made)}"
        made.append((name, f"{name}[i:{rows},j:{columns}] = sum[k] {x}[i,k] * {y}[k,j]"))
        known.append((name, rows, columns))
        read |= {x, y}
    return "\n".join(lines + [text if name in read else "output " + text for name, text in made]) + "\n"


def gap(ein, text, sites):
    with tempfile.NamedTemporaryFile("w", suffix=".ein") as f:
        f.write(text)
        f.flush()
        run = subprocess.run([ein, "plan", f.name, "-n", str(sites), "--format=json"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    plan = json.loads(run.stdout)
    print(f"{plan['bytes']:.0f} bytes, none moves less than {plan['bound']:.0f}", flush=True)
    return plan["bytes"] / plan["bound"] - 1


def main():
    args = argparse.ArgumentParser()
    args.add_argument("ein")
    for name, value in ("programs", 5), ("products", 500), ("sites", 16):
        args.add_argument(f"--{name}", type=int, default=value)
    args = args.parse_args()
    gaps = [gap(args.ein, program(random.Random(seed), args.products), args.sites) for seed in range(1, args.programs + 1)]
    print(f"above the bound: median {statistics.median(gaps):.1%}, worst {max(gaps):.1%}")


if __name__ == "__main__":
    main()
