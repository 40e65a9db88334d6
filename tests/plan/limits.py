#!/usr/bin/env python3
"""Sweeps limits of memory over programs, and checks what must hold of any search, however good it is.

limits.py EIN [--limits 7] [--random 4] [--sites 4,6] [FILE...]: prints a line for each violation; exits with 1 if there are any, or if
nothing was compared. Beside the files it plans random graphs of matrix products. If EIN_TURN is a number, every other of these.

From the memory of the best plan down to less than the least that is found:

- a plan that is found keeps the limit, and moves no less than the bound;
- with a larger limit no plan moves more, and whatever was found with a smaller one is found or surpassed;
- where a plan was found that fits a limit, whatever limit it was found with, none is refused;
- the least memory that a refusal names can be asked for, and a byte less cannot."""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from large import program

LEAST = re.compile(r"the least that was found is [^(]*\((\d+) bytes\)")


def plan(ein, path, words, limit=None):
    """(bytes, memory, bound), or the least memory that was found; None: no plan at all."""
    more = [f"--memory={limit}B"] if limit else []
    run = subprocess.run([ein, "plan", path, "--format=json", *words, *more], capture_output=True, text=True)
    if run.returncode == 0:
        p = json.loads(run.stdout)
        return p["bytes"], p["memory"]["bytes"], p["bound"]
    told = LEAST.search(run.stderr)
    return int(told.group(1)) if told else None


def limits_of(ein, path, words, free, many):
    """Evenly on a scale of ratios, from what the best plan takes to the least that is found, and around each end."""
    least = plan(ein, path, words, 1)
    if not isinstance(least, int):
        return []
    steps = [int(free[1] * (least / free[1]) ** (k / many)) for k in range(1, many)]
    return sorted({free[1], free[1] - 1, *steps, least, least - 1}, reverse=True)


def complaints(ein, path, words, many):
    free = plan(ein, path, words)
    if not isinstance(free, tuple):
        return None, 0
    found, refused, wrong = [], [], []
    for limit in limits_of(ein, path, words, free, many):
        p = plan(ein, path, words, limit)
        if p is None:
            wrong.append(f"--memory={limit}B: no plan, and no least")
        elif isinstance(p, int):
            refused.append((limit, p))
        else:
            found.append((limit, *p))
    for limit, moved, memory, bound in found:
        if memory > limit:
            wrong.append(f"--memory={limit}B: the plan takes {memory}")
        if moved < bound * (1 - 1e-9):
            wrong.append(f"--memory={limit}B: {moved} bytes move, and none moves less than {bound}")
        for other, other_moved, other_memory, _ in found:
            if limit > other and moved > other_moved:
                wrong.append(f"--memory={limit}B moves {moved} bytes, and {other} only {other_moved}")
            if other > limit >= other_memory and moved > other_moved:
                wrong.append(f"--memory={limit}B moves {moved} bytes; with {other} a plan of {other_memory} moved {other_moved}")
    for limit, least in refused:
        if least <= limit:
            wrong.append(f"--memory={limit}B is refused, and {least} was found")
        wrong += [f"--memory={limit}B is refused; a plan of {m} is found with {other}" for other, _, m, _ in found if m < least]
    return wrong, len(found)


def known(path):
    """The arguments of the plans that the file's remarks ask for, without limits."""
    words = [re.sub(r" --memory=\S+", "", line.split(":", 1)[1]).split() for line in open(path) if re.match(r"# found: .*--memory", line)]
    return [w for k, w in enumerate(words) if w not in words[:k] and not any("machine" in x for x in w)]


def main():
    args = argparse.ArgumentParser()
    args.add_argument("ein")
    for name, value in ("limits", 7), ("random", 4), ("sites", "4,6"):
        args.add_argument(f"--{name}", type=type(value), default=value)
    args.add_argument("files", nargs="*")
    args = args.parse_intermixed_args()
    compared = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        jobs = [(path, words) for path in args.files for words in known(path) or [["-n", n] for n in args.sites.split(",")]]
        for seed in range(args.random):
            path = f"{folder}/random{seed}.ein"
            with open(path, "w") as f:
                f.write(program(random.Random(seed), 3 + seed % 6))
            jobs += [(path, ["-n", n]) for n in args.sites.split(",")]
        turn = os.environ.get("EIN_TURN")
        for path, words in jobs[int(turn) % 2::2] if turn else jobs:
            wrong, n = complaints(args.ein, path, words, args.limits)
            compared += n
            bad += len(wrong or [])
            for line in wrong or []:
                print(f"{path.replace(folder + '/', '')} {' '.join(words)} {line}")
    print(f"{compared} plans under limits, {bad} times what must not be")
    return bad > 0 or compared == 0


if __name__ == "__main__":
    sys.exit(main())
