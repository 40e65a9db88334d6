#!/usr/bin/env python3
"""Writes a tensor network as a program with its expected result: network.py KIND N [PIECES].

chain, tree: N tensors. strip: 5 rows of N / 5, in PIECES named equations. grid: a square of N, without an expected
result. All extents are 2, all data integers. The last line, `# expect:`, has the sum modulo 2^64, computed here by
contracting one tensor after the other. In `strip`, another label is in the output, one is in three tensors, one is in
only one tensor, and a number is also a factor.
"""
import itertools
import random
import sys


def edges_of(kind, n):
    if kind == "chain":
        return [(i, i + 1) for i in range(n - 1)]
    if kind == "tree":
        dice, degree, edges = random.Random(1), [0] * n, []
        for i in range(1, n):
            j = dice.choice([j for j in range(max(0, i - 40), i) if degree[j] < 3])
            degree[i] += 1
            degree[j] += 1
            edges.append((j, i))
        return edges
    rows = 5 if kind == "strip" else round(n ** 0.5)
    return [(i, i + rows) for i in range(n - rows)] + [(i, i + 1) for i in range(n) if (i + 1) % rows]


def value(i, at):
    """Of tensor i, as the program's default has it: odd where all are 0, else even; so the sum of all is odd, and not lost."""
    return (0 if any(at) else 1) + 2 * ((sum((k + 2) * x for k, x in enumerate(at)) + i) % 3 - 1)


def together(x, y, keep):
    """Two (labels, values by index) as one, over the labels in keep."""
    labels = list(dict.fromkeys(x[0] + y[0]))
    out = [l for l in labels if l in keep]
    to = {}
    for at in itertools.product((0, 1), repeat=len(labels)):
        of = dict(zip(labels, at))
        v = x[1][tuple(of[l] for l in x[0])] * y[1][tuple(of[l] for l in y[0])]
        key = tuple(of[l] for l in out)
        to[key] = to.get(key, 0) + v
    return out, to


def answer(kind, tensors, parent, out):
    parts = [(l, {at: value(i, at) for at in itertools.product((0, 1), repeat=len(l))}) for i, l in enumerate(tensors)]
    last = {l: i for i, t in enumerate(tensors) for l in t}
    first = {l: i for i, t in reversed(list(enumerate(tensors))) for l in t}
    if kind == "tree":
        for i in range(len(parts) - 1, 0, -1):
            keep = [l for l in parts[parent[i]][0] + parts[i][0] if first[l] != parent[i] or last[l] != i]
            parts[parent[i]] = together(parts[parent[i]], parts[i], keep)
        return parts[0]
    x = ([], {(): 1})
    for i, part in enumerate(parts):
        x = together(x, part, [l for l in x[0] + part[0] if last[l] > i or l in out])
    return x


def wrapped(x):
    return (x + 2 ** 63) % 2 ** 64 - 2 ** 63


def main(kind, n, pieces=1):
    edges = edges_of(kind, n)
    tensors = [[] for _ in range(n)]
    for k, (i, j) in enumerate(edges):
        tensors[i].append(f"a{k}")
        tensors[j].append(f"a{k}")
    out = []
    if kind == "strip":
        out = ["z"]
        tensors[3].append("z")
        for i in (1, 2, 6):
            tensors[i].append("three")
        tensors[4].append("own")
    for i, t in enumerate(tensors):
        body, zero = " + ".join([str(i)] + [f"{k + 2} * {l}" for k, l in enumerate(t)]), " * ".join(f"(1 - {l})" for l in t)
        print(f"input T{i}[{','.join(l + ':2' for l in t)}] : i64 = {zero} + 2 * (({body}) % 3 - 1)")
    met, whole = [], -(-n // pieces)
    for p in range(pieces):
        mine = range(p * whole, min(n, (p + 1) * whole))
        factors = ([f"P{p - 1}[{','.join(met)}]"] if p else []) + [f"T{i}[{','.join(tensors[i])}]" for i in mine]
        met = list(dict.fromkeys(met + [l for i in mine for l in tensors[i]]))
        later = {l for t in tensors[mine[-1] + 1:] for l in t}
        red, met = [l for l in met if l not in later and l not in out], [l for l in met if l in later or l in out]
        end = p == pieces - 1
        left = ("output Z" if end else f"P{p}") + (f"[{','.join(met)}]" if met else "")
        if end and kind == "strip":
            factors.insert(1, "3")
        print(left, "=", f"sum[{','.join(red)}]" if red else "", " * ".join(factors))
    if kind != "grid":
        labels, x = answer(kind, tensors, {j: i for i, j in edges}, out)
        assert labels == out
        scale = 3 if kind == "strip" else 1
        numbers = [wrapped(scale * v) for _, v in sorted(x.items())]
        print("# expect: Z =", numbers if out else numbers[0])


main(sys.argv[1], *map(int, sys.argv[2:]))
