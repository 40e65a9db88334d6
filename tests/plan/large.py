#!/usr/bin/env python3
"""Measures how far plans of large programs can be from the best. Run by hand: a program takes minutes.

large.py EIN [--kind products] [--programs 5] [--products 500] [--sites 16]: prints a line for each program, then the
median and the worst.

Random kinds are graphs of `products`, each of two random inputs or earlier products, with sides of 256, 512 or 1024,
and `mixed` ones, which also have maps, sums of two, and what is made of labels alone. Of one form are `layers` of a
transformer (20 equations each), a `chain` of products and maps with random widths, a `unet` (in one dimension, with
skips), an `images` net (the same in two, whose convolutions have seven labels), and `ccsd` (turns of coupled cluster
doubles, 15 equations each with up to seven labels); of these only the chain differs from seed to seed."""
import argparse
import json
import random
import resource
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
    """A U-net: each level has half the length and twice the channels of the one before, and back."""

    def __init__(self, blocks, levels=5, axes="x", length=4096):
        self.blocks, self.axes, self.n = blocks, axes, 0
        size = self.each("{0}:{1}", length)
        self.lines = [f"input I[b:16,c:32,{size}] : f32"]
        path, x, channels = [], "I", 32
        for _ in range(levels):
            path.append((x := self.stack(x, channels, length), channels, length))
            most = f"{x}[b,c,{self.each('2*{0}', 0)}]"
            for axis in axes:
                most = f"max({most}, {most.replace('2*' + axis, f'2*{axis} + 1')})"
            half = self.add(f"[b,c,{self.each('{0}:{1}', length // 2)}] = {most}")
            channels, length = 2 * channels, length // 2
            x = self.convolution(half, channels // 2, channels, length)
        x = self.stack(x, channels, length)
        for skip, fewer, longer in reversed(path):
            twice = self.add(f"[b,c,{self.each('{0}:{1}', longer)}] = {x}[b,c,{self.each('{0} // 2', 0)}]")
            x, channels = self.convolution(twice, channels, fewer, longer), fewer
            x = self.stack(self.both(x, skip), channels, longer)
        self.lines.append(f"output Z[b,o,{self.each('{0}', 0)}] = {x}[b,o,{self.each('{0}', 0)}]")

    def each(self, text, length):
        return ",".join(text.format(axis, length) for axis in self.axes)

    def both(self, x, y):
        at = self.each("{0}", 0)
        return self.add(f"[b,o,{at}] = {x}[b,o,{at}] + {y}[b,o,{at}]")

    def add(self, text):
        self.n += 1
        self.lines.append(f"T{self.n}{text}")
        return f"T{self.n}"

    def convolution(self, x, c, o, length):
        w, at = f"W{self.n}", self.each("{0}", 0)
        self.lines.append(f"param {w}[o:{o},c:{c},{self.each('d{0}:3', 0)}] : f32")
        y = self.add(f"[b,o,{self.each('{0}:{1}', length)}] = sum[c,{self.each('d{0}', 0)}] "
                     f"({x}[b,c,{self.each('{0} + d{0} - 1', 0)}] ?? 0) * {w}[o,c,{self.each('d{0}', 0)}]")
        return self.add(f"[b,o,{at}] = max({y}[b,o,{at}], 0)")

    def stack(self, x, c, length):
        for _ in range(self.blocks):
            x = self.both(x, self.convolution(self.convolution(x, c, c, length), c, c, length))
        return x


TURN = """F{0}[a,e] = sum[k,l,f] Y[k,l,e,f] * T{0}[a,f,k,l]
G{0}[m,i] = sum[l,c,d] Y[m,l,c,d] * T{0}[c,d,i,l]
W{0}[m,n,i,j] = V[m,n,i,j] + sum[e,f] Y[m,n,e,f] * T{0}[e,f,i,j]
X{0}[m,b,e,j] = U[m,b,e,j] + sum[n,f] Y[m,n,e,f] * T{0}[f,b,j,n]
P{0}[a,b,i,j] = sum[e] T{0}[a,e,i,j] * F{0}[b,e]
Q{0}[a,b,i,j] = sum[m] T{0}[a,b,i,m] * G{0}[m,j]
R{0}[a,b,i,j] = sum[m,n] T{0}[a,b,m,n] * W{0}[m,n,i,j]
L{0}[a,b,i,j] = sum[c,d] C[a,b,c,d] * T{0}[c,d,i,j]
S{0}[a,b,i,j] = sum[m,e] T{0}[a,e,i,m] * X{0}[m,b,e,j]
H{0}[a,b,i,j] = B[a,b,i,j] + R{0}[a,b,i,j] + L{0}[a,b,i,j] + P{0}[a,b,i,j] + P{0}[b,a,j,i]
J{0}[a,b,i,j] = H{0}[a,b,i,j] - Q{0}[a,b,i,j] - Q{0}[b,a,j,i]
T{1}[a,b,i,j] = (J{0}[a,b,i,j] + S{0}[a,b,i,j] - S{0}[b,a,i,j] - S{0}[a,b,j,i] + S{0}[b,a,j,i]) / D[a,b,i,j]
"""


def ccsd(_, equations):
    turns = max(1, equations // 15)
    head = """dim O = 32, M = 128
input V[i:O,j:O,k:O,l:O], U[k:O,b:M,c:M,j:O], Y[k:O,l:O,c:M,d:M], C[a:M,b:M,c:M,d:M] : f32
input B[a:M,b:M,i:O,j:O], D[a:M,b:M,i:O,j:O], T0[a:M,b:M,i:O,j:O] : f32
"""
    body = "".join(TURN.format(k, k + 1) for k in range(turns))
    return f"{head}{body}output E = sum[i,j,a,b] Y[i,j,a,b] * T{turns}[a,b,i,j]\n"


KINDS = {"products": program, "mixed": lambda r, n: mixed(r, INPUTS, lambda: n, SIDES), "layers": layers,
         "chain": chain, "ccsd": ccsd, "unet": lambda _, n: "\n".join(Net(max(1, n // 55)).lines) + "\n",
         "images": lambda _, n: "\n".join(Net(max(1, n // 45), 4, "yx", 128).lines) + "\n"}


def gap(ein, text, sites):
    with tempfile.NamedTemporaryFile("w", suffix=".ein") as f:
        f.write(text)
        f.flush()
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        run = subprocess.run([ein, "plan", f.name, "-n", str(sites), "--format=json"], capture_output=True, text=True)
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if run.returncode:
        sys.exit(run.stderr)
    plan = json.loads(run.stdout)
    equations = len(plan["vertices"])
    above = plan["bytes"] / plan["bound"] - 1 if plan["bound"] else float("inf")
    print(f"{equations} equations, {plan['bytes']:.0f} bytes, none moves less than {plan['bound'] or 0:.0f}: "
          f"{above:.1%} above, {took:.1f} s of processor time", flush=True)
    return above


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
