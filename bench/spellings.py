#!/usr/bin/env python3
"""spellings.py EIN [--count N] [--seed S] [--limit R]: how much the time depends on the spelling of a computation.

Random contractions are written in several ways: with the fewest labels and with more; with factors, declarations and
the labels of the sum in another order; with other names. Spellings with different loops are timed alternately, on one
thread, and the worst is compared with the best. Only ratios within one run count, so other load on the machine matters
little."""
import argparse
import math
import os
import random
import re
import json
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peers.contractions import contractions  # noqa: E402


def spellings(c, rng):
    """Programs, by what was changed."""
    least = c.merged()
    return {"as it came": c.program(), "few labels": least.program(), "more labels": c.split(rng).program(), "factors turned": turned(c.program()),
            "few, turned": turned(least.program()), "declared in turn": declared_turned(c.program())}


def turned(program):
    """Factors and the labels of the sum in reverse order."""
    labels, left, right = re.search(r"sum\[(.*?)\] (A\[.*?\]) \* (B\[.*?\])", program).groups()
    return program.replace(f"sum[{labels}] {left} * {right}", f"sum[{','.join(reversed(labels.split(',')))}] {right} * {left}")


def declared_turned(program):
    """Declares the second tensor first."""
    return re.sub(r"input (A\[.*?\]), (B\[.*?\])", r"input \2, \1", program)


def loops(ein, path):
    """Returns the text of the kernels, without names of tensors and labels."""
    made = subprocess.run([ein, "build", path, "--stop=loop"], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = {}
    text = re.sub(r"@\".*?\":\d+:\d+|^ *note .*\n", "", made[made.index("\nkernel "):], flags=re.M)
    return re.sub(r"[A-Za-z_%][\w]*", lambda m: names.setdefault(m[0], f"n{len(names)}"), text)


def seconds(ein, path):
    said = subprocess.run([ein, "bench", path, "--threads", "1", "--reps", "5", "--format=json"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(said)["least"]


def main():
    words = argparse.ArgumentParser()
    words.add_argument("ein")
    words.add_argument("--count", type=int, default=20)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--limit", type=float, default=1.5, help="a larger ratio is a failure")
    o = words.parse_args()
    rng, worst = random.Random(o.seed), []
    for c in contractions(o.seed, o.count):
        with tempfile.TemporaryDirectory() as folder:
            one = {}
            for what, program in spellings(c, rng).items():
                path = os.path.join(folder, f"{len(one)}.ein")
                with open(path, "w", encoding="utf-8") as f:
                    f.write(program)
                one.setdefault(loops(o.ein, path), (what, path))
            least = {what: math.inf for what, _ in one.values()}
            for _ in range(3 if len(one) > 1 else 0):
                for what, path in one.values():
                    least[what] = min(least[what], seconds(o.ein, path))
        best, last = min(least, key=least.get), max(least, key=least.get)
        ratio = least[last] / least[best] if len(one) > 1 else 1.0
        worst.append(ratio)
        print(f"{ratio:5.2f}  {c.einsum()} {c.extent}" + (f"  {last} beside {best}" if ratio > 1 else "  all alike"), flush=True)
    print(f"{o.count} contractions: worst over best spelling {max(worst):.2f} at most, above {o.limit:g}: {sum(r > o.limit for r in worst)}")
    sys.exit(max(worst) > o.limit)


main()
