#!/usr/bin/env python3
"""respell.py EIN [--count N] [--seed S] [--verify]: one computation in several spellings.

Random contractions are spelled with the fewest labels, with their random labels, and with more. The loops must be
equal up to names, except where a long sum is split for threads: there the label that is cut depends on the spelling.
--verify: each spelling is also computed with small integers, and must agree with eval."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
from peers.contractions import contractions  # noqa: E402


def loops(ein, folder, program):
    """The kernels' text, names in the order of their first occurrence in a kernel."""
    path = os.path.join(folder, "x.ein")
    with open(path, "w") as f:
        f.write(program)
    made = subprocess.run([ein, "build", path, "--stop=loop"], stdout=subprocess.PIPE, text=True, check=True).stdout
    text = made[made.index("\nkernel "):]
    if re.search(r'how "parts of', text):
        return None
    text = re.sub(r" axes [\d ]+(?= :)| @\".*?\":\d+:\d+|^ *(note|how) .*\n", "", text, flags=re.M)
    return "".join(numbered(kernel) for kernel in re.split(r"^(?=kernel |narrow )", text, flags=re.M))


def numbered(kernel):
    names = {}
    return re.sub(r"[A-Za-z_]\w*", lambda m: names.setdefault(m[0], f"n{len(names)}"), kernel)


def first_difference(a, b):
    for x, y in zip(a.splitlines(), b.splitlines()):
        if x != y:
            return f"{x.strip()}   and   {y.strip()}"
    return "one goes on"


def main():
    words = argparse.ArgumentParser()
    words.add_argument("ein")
    words.add_argument("--count", type=int, default=60)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--verify", action="store_true")
    o = words.parse_args()
    limits = {"operations": 3e5, "elements": 2e4} if o.verify else {}
    rng, wrong, fewer = random.Random(o.seed), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for c in contractions(o.seed, o.count, **limits):
            least = c.merged()
            spellings = [least, c, least.split(rng), c.split(rng)]
            fewer += least.extent != c.extent
            texts = [loops(o.ein, folder, s.program()) for s in spellings]
            for s, text in zip(spellings, texts):
                if None not in texts and text != texts[0]:
                    print(f"{s.einsum()} {s.extent} runs otherwise than {least.einsum()} {least.extent}: {first_difference(texts[0], text)}")
                    wrong += 1
            for s in spellings[1:] if o.verify else []:
                path = os.path.join(folder, "v.ein")
                with open(path, "w") as f:
                    f.write(s.program("i64"))
                said = subprocess.run([o.ein, "verify", "--flags=-O1", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if said.returncode:
                    print(s.program("i64") + said.stdout)
                    wrong += 1
    print(f"{o.count} contractions, {fewer} of them of fewer labels than they are spelled with; {wrong} spellings that differ")
    sys.exit(wrong > 0 or not fewer)


main()
