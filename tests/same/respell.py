#!/usr/bin/env python3
"""respell.py EIN [--count N] [--seed S] [--verify]: one computation in several spellings.

Random contractions are spelled with the fewest labels, with their random labels, and with more. The loops must be
equal up to names, except where a long sum is split for threads: there the label that is cut depends on the spelling.
So are random windows, whose labels meet within one index: x[i+m], x[i+6*k+l], x[8*a+b+m].
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
    text = re.sub(r" axes [\d ]+(?= :)| work [^@]+(?= @)| @\".*?\":\d+:\d+|^ *(note|how) .*\n", "", text, flags=re.M)
    return "".join(numbered(kernel) for kernel in re.split(r"^(?=kernel |narrow )", text, flags=re.M))


def numbered(kernel):
    names = {}
    return re.sub(r"[A-Za-z_]\w*", lambda m: names.setdefault(m[0], f"n{len(names)}"), kernel)


def first_difference(a, b):
    for x, y in zip(a.splitlines(), b.splitlines()):
        if x != y:
            return f"{x.strip()}   and   {y.strip()}"
    return "one goes on"


class Window:
    """y[i] = sum[m] x[s*i+d*m] * w[m]; each label may be split, into labels that lie together in the tensors that have
    them. Small ones may have a condition; they are computed only, for their loops do depend on the spelling: sums of
    few products become terms, and a condition bounds one of its labels."""

    def __init__(self, rng, small):
        self.i, self.m = (rng.choice(n) for n in ([(24, 60), (6, 24)] if small else [(96, 512, 3000), (36, 64, 512)]))
        self.stride, self.step = rng.choice([1, 1, 2, 3]), rng.choice([1, 1, 2, -1])
        self.where = rng.choice(["", " where {m} <= {i}", " where f32({m}) * 0.5 < 4.0"]) if small else ""
        self.value = rng.choice(["", " * f32({i} + 2 * {m})"])

    def program(self, rng, dtype, pieces):
        """pieces: into how many labels each is split, at most."""
        i, m = (split_at_random(rng, name, n, pieces) for name, n in (("i", self.i), ("m", self.m)))
        place = {"i": i[1], "m": m[1]}
        low = -min(0, self.step) * (self.m - 1)
        reach = 1 + self.stride * (self.i - 1) + abs(self.step) * (self.m - 1)
        labels = ",".join(n.split(":")[0] for n in m[0].split(","))
        return (f"input x[t:{reach}], w[{m[0]}] : {dtype}\n"
                f"output y[{i[0]}] = sum[{m[0]}{self.where.format(**place)}] "
                f"x[{self.stride}*({i[1]}) + {self.step}*({m[1]}) + {low}] * w[{labels}]"
                f"{self.value.format(**place).replace('f32', dtype)}\n")


def split_at_random(rng, name, n, pieces):
    """Declares labels that count to n together, and the number that they are."""
    sizes = [n]
    while len(sizes) < pieces:
        divisors = [d for d in range(2, sizes[0]) if sizes[0] % d == 0]
        if not divisors:
            break
        d = rng.choice(divisors)
        sizes[:1] = [sizes[0] // d, d]
    number = ""
    for k, size in enumerate(sizes):
        number = f"{size}*({number}) + {name}{k}" if number else f"{name}{k}"
    return ",".join(f"{name}{k}:{size}" for k, size in enumerate(sizes)), f"({number})"


def windows(o, rng, folder):
    """Returns how many spellings differ."""
    wrong = 0
    for _ in range(o.count):
        window = Window(rng, o.verify)
        programs = [window.program(rng, "f32", n) for n in ((1, 2, 3) if not o.verify else ())]
        texts = [loops(o.ein, folder, p) for p in programs]
        for p, text in zip(programs, texts):
            if None not in texts and text != texts[0]:
                print(f"{p}runs otherwise than\n{programs[0]}{first_difference(texts[0], text)}")
                wrong += 1
        wrong += sum(not verified(o.ein, folder, window.program(rng, "i64", n)) for n in ((2, 3) if o.verify else ()))
    return wrong


def verified(ein, folder, program):
    path = os.path.join(folder, "v.ein")
    with open(path, "w") as f:
        f.write(program)
    said = subprocess.run([ein, "verify", "--flags=-O1", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if said.returncode:
        print(program + said.stdout)
    return said.returncode == 0


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
            wrong += sum(not verified(o.ein, folder, s.program("i64")) for s in (spellings[1:] if o.verify else []))
        wrong += windows(o, rng, folder)
    print(f"{o.count} windows; {o.count} contractions, {fewer} of them of fewer labels than they are spelled with; {wrong} spellings that differ")
    sys.exit(wrong > 0 or not fewer)


main()
