#!/usr/bin/env python3
"""Measures how far plans of large programs can be from the best. Run by hand: a program takes minutes.

large.py EIN [--kind products] [--programs 5] [--products 500] [--sites 16]: prints a line for each program, then the
median and the worst.

Random kinds are graphs of `products`, each of two random inputs or earlier products, with sides of 256, 512 or 1024,
and `mixed` ones, which also have maps, sums of two, and what is made of labels alone. Of one form are `layers` of a
transformer (20 equations each), a `chain` of products and maps with random widths, and a `unet` (in one dimension,
with skips), where only the chain differs from seed to seed."""
import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile

from integer import mixed

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


LAYER = """param WQ{0}[a:A,g:G,d:D], WK{0}[a:A,g:G,d:D], WV{0}[a:A,g:G,d:D], WO{0}[g:G,d:D,a:A] : f32
param U{0}[a:A,f:F], L{0}[f:F,a:A], n{0}[a:A], m{0}[a:A] : f32
N{0}[b,s,a] = rmsnorm[a](X{0}[b,s,a], n{0}[a], 1e-5)
Q{0}[b,s,g,d] = sum[a] N{0}[b,s,a] * WQ{0}[a,g,d]
K{0}[b,s,g,d] = sum[a] N{0}[b,s,a] * WK{0}[a,g,d]
V{0}[b,s,g,d] = sum[a] N{0}[b,s,a] * WV{0}[a,g,d]
O{0}[b,s,g,e] = causal[s,t,d](Q{0}[b,s,g,d], K{0}[b,t,g,d], V{0}[b,t,g,e], 0.125)
Y{0}[b,s,a] = X{0}[b,s,a] + sum[g,e] O{0}[b,s,g,e] * WO{0}[g,e,a]
M{0}[b,s,a] = rmsnorm[a](Y{0}[b,s,a], m{0}[a], 1e-5)
H{0}[b,s,f] = max(sum[a] M{0}[b,s,a] * U{0}[a,f], 0)
X{1}[b,s,a] = Y{0}[b,s,a] + sum[f] H{0}[b,s,f] * L{0}[f,a]
"""


def layers(_, equations):
    n = equations // 20 + 1
    head = "use nn\nuse attention\ndim B = 8, S = 1024, A = 1024, G = 16, D = 64, F = 4096\n"
    return head + "input X0[b:B,s:S,a:A] : f32\n" + "".join(LAYER.format(k, k + 1) for k in range(n)) + f"output Z[b,s,a] = X{n}[b,s,a]\n"


def chain(r, equations):
    widths = [r.choice(SIDES + [2048]) for _ in range(equations // 2 + 1)]
    lines = [f"input X0[i:{r.choice(SIDES)}, j:{widths[0]}] : f32"]
    for k, (a, b) in enumerate(zip(widths, widths[1:])):
        lines += [f"param W{k}[a:{a},b:{b}] : f32", f"H{k}[i,b] = sum[a] X{k}[i,a] * W{k}[a,b]",
                  f"X{k + 1}[i,b] = max(H{k}[i,b], 0)"]
    return "\n".join(lines) + f"\noutput Z[i,b] = X{len(widths) - 1}[i,b]\n"


class Net:
    """A U-net: five levels, each of half the length and twice the channels, and back."""

    def __init__(self, blocks):
        self.blocks, self.n = blocks, 0
        self.lines = ["input I[b:16,c:32,x:4096] : f32"]
        path, x, channels, length = [], "I", 32, 4096
        for _ in range(5):
            path.append((x := self.stack(x, channels, length), channels, length))
            half = self.add("[b,c,x:{}] = max({}[b,c,2*x], {}[b,c,2*x + 1])".format(length // 2, x, x))
            channels, length = 2 * channels, length // 2
            x = self.convolution(half, channels // 2, channels, length)
        x = self.stack(x, channels, length)
        for skip, fewer, longer in reversed(path):
            x = self.convolution(self.add(f"[b,c,x:{longer}] = {x}[b,c,x // 2]"), channels, fewer, longer)
            channels = fewer
            x = self.stack(self.add(f"[b,o,x] = {x}[b,o,x] + {skip}[b,o,x]"), channels, longer)
        self.lines.append(f"output Z[b,o,x] = {x}[b,o,x]")

    def add(self, text):
        self.n += 1
        self.lines.append(f"T{self.n}{text}")
        return f"T{self.n}"

    def convolution(self, x, c, o, length):
        w = f"W{self.n}"
        self.lines.append(f"param {w}[o:{o},c:{c},u:3] : f32")
        y = self.add(f"[b,o,x:{length}] = sum[c,u] ({x}[b,c,x + u - 1] ?? 0) * {w}[o,c,u]")
        return self.add(f"[b,o,x] = max({y}[b,o,x], 0)")

    def stack(self, x, c, length):
        for _ in range(self.blocks):
            y = self.convolution(self.convolution(x, c, c, length), c, c, length)
            x = self.add(f"[b,o,x] = {x}[b,o,x] + {y}[b,o,x]")
        return x


KINDS = {"products": program, "mixed": lambda r, n: mixed(r, INPUTS, lambda: n, SIDES), "layers": layers,
         "chain": chain, "unet": lambda _, n: "\n".join(Net(max(1, n // 55)).lines) + "\n"}


def gap(ein, text, sites):
    with tempfile.NamedTemporaryFile("w", suffix=".ein") as f:
        f.write(text)
        f.flush()
        run = subprocess.run([ein, "plan", f.name, "-n", str(sites), "--format=json"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    plan = json.loads(run.stdout)
    equations = len(plan["vertices"])
    print(f"{equations} equations, {plan['bytes']:.0f} bytes, none moves less than {plan['bound']:.0f}", flush=True)
    return plan["bytes"] / plan["bound"] - 1


def main():
    args = argparse.ArgumentParser()
    args.add_argument("ein")
    args.add_argument("--kind", choices=KINDS, default="products")
    for name, value in ("programs", 5), ("products", 500), ("sites", 16):
        args.add_argument(f"--{name}", type=int, default=value)
    args = args.parse_args()
    texts = [KINDS[args.kind](random.Random(seed), args.products) for seed in range(1, args.programs + 1)]
    gaps = [gap(args.ein, text, args.sites) for text in texts]
    print(f"above the bound: median {statistics.median(gaps):.1%}, worst {max(gaps):.1%}")


if __name__ == "__main__":
    main()
