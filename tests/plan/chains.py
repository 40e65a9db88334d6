#!/usr/bin/env python3
"""Chains of three matrices beside the best grids of their two products: chains.py EIN [--sites 4,6,8,12,16] [SHAPE...]

SHAPE: IxJxKxL, of Y[i,l] = sum[j,k] A[i,j] * B[j,k] * C[k,l] in f64. Prints a row in Markdown for each shape and number of sites, in MB: the sum
of the best grids, even if it cost nothing to go from one layout to the next; the same with what that costs at least; the plan; its bound. Exits
with 1 if a plan is neither the sum that costs nothing between, which no plan without repeated work is below, nor below the sum with what is
between; if one without repeated work is below that least; or if nothing was compared.

A grid cuts the three labels of a product into a, b and c blocks, a*b*c the sites. Each block of an operand goes to all sites that need it, and
each of the result is the sum of its parts; all three are stored once. The chain may be computed in both orders: the better counts.

Why no plan is below: let p sites add something to an element of the tensor between the products, and q sites need it. Until some site has its
value, p - 1 numbers have arrived for it, and then one at each of the q sites that had none: p + q - 2, if one of the q is among the p. So much
moves too if the first product stores it once and the second fetches it, each by itself.

What going from layout to layout costs at least is counted here, site by site (count_plan.py): over all meshes of prime axes, all ways in which
axes give the best grids, and all homes of the tensor between the products."""
import argparse
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "share"))
import count_plan as moves
from integer import meshes

SHAPES = ["4000x4000x4000x4000", "3000x3100x200x2900", "500x32000x500x32000", "16000x1600x16000x1600"]
SIZE = 8


def grids(sites, extents):
    for a, b in itertools.product(range(1, sites + 1), repeat=2):
        if sites % (a * b) == 0:
            grid = (a, b, sites // (a * b))
            if all(n <= x for n, x in zip(grid, extents)):
                yield grid


def alone(extents, grid):
    """Elements that a product moves, of x * y and y * z to x * z."""
    (x, y, z), (a, b, c) = extents, grid
    return x * y * (c - 1) + y * z * (a - 1) + x * z * (b - 1)


def best(sites, extents):
    """The least, and all grids that move so little."""
    least = min(alone(extents, g) for g in grids(sites, extents))
    return least, [g for g in grids(sites, extents) if alone(extents, g) == least]


def cuts(mesh, grid):
    """By axis, which of the three labels it cuts, so that they are cut into so many blocks."""
    for on in itertools.product(range(3), repeat=len(mesh)):
        if tuple(math.prod(s for s, l in zip(mesh, on) if l == k) for k in range(3)) == grid:
            yield on


def between(mesh, extents, made, want):
    """The least that moves from parts as made to what is wanted, of a tensor that lies anywhere between, stored once or more often."""
    homes = (h for h in itertools.product(range(-1, 2), repeat=len(mesh)) if all(n <= x for n, x in zip(moves.counts(mesh, h, 2), extents)))
    return min(sum(moves.reduced(mesh, extents, extents, made, h)) + moves.moved(mesh, extents, h, want) for h in homes)


def redistributed(sites, first, second, left):
    """The least that two products move by their best grids. left: the tensor between them is the second one's left operand, else its right one."""
    (one, ones), (two, twos) = best(sites, first), best(sites, second)
    tensor = (first[0], first[2])
    least = math.inf
    for mesh, a, b in itertools.product(meshes(sites), ones, twos):
        made = {tuple({0: 0, 1: moves.PARTS, 2: 1}[l] for l in on) for on in cuts(mesh, a)}
        want = {tuple(({0: 0, 1: 1} if left else {1: 0, 2: 1}).get(l, moves.ALL) for l in on) for on in cuts(mesh, b)}
        own = first[0] * first[2] * (a[1] - 1) + first[0] * first[2] * ((b[2] if left else b[0]) - 1)
        for m, w in itertools.product(made, want):
            least = min(least, one + two - own + between(mesh, tensor, m, w))
            if least <= one + two:
                return least
    return least


def chain(sites, i, j, k, l):
    """The sum of the best grids of the better order, without and with what is between."""
    orders = ((i, j, k), (i, k, l), True), ((j, k, l), (i, j, l), False)
    return min(best(sites, a)[0] + best(sites, b)[0] for a, b, _ in orders), min(redistributed(sites, *o) for o in orders)


def plan(ein, path, sites):
    run = subprocess.run([ein, "plan", path, "-n", str(sites), "--format=json"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    p = json.loads(run.stdout)
    counts = [[l["count"] for l in v["labels"]] for v in p["vertices"]]
    return p["bytes"], p["bound"], any(math.prod(x) < sites for x in counts), ", ".join(" x ".join(map(str, x)) for x in counts)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("ein")
    args.add_argument("shapes", nargs="*")
    args.add_argument("--sites", default="4,6,8,12,16")
    args = args.parse_intermixed_args()
    compared = wrong = 0
    print("| i x j x k x l | sites | best grids | with what is between | plan | bound | cuts |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "chain.ein")
        for shape in args.shapes or SHAPES:
            i, j, k, l = extents = [int(n) for n in shape.split("x")]
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"input A[i:{i}, j:{j}], B[j:{j}, k:{k}], C[k:{k}, l:{l}] : f64\noutput Y[i,l] = sum[j,k] A[i,j] * B[j,k] * C[k,l]\n")
            for sites in (int(n) for n in args.sites.split(",")):
                free, paid = (SIZE * n for n in chain(sites, *extents))
                got, bound, repeated, cut = plan(args.ein, path, sites)
                compared += 1
                wrong += got != free and got >= paid or got < free and not repeated
                cells = (f"{x / 1e6:.1f}" for x in (free, paid, got, bound))
                print(f"| {shape.replace('x', ' x ')} | {sites} | {' | '.join(cells)} | {cut} |", flush=True)
    print(f"{compared} chains, {wrong} wrong")
    return wrong > 0 or compared == 0


if __name__ == "__main__":
    sys.exit(main())
