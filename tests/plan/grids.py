#!/usr/bin/env python3
"""Products under limits of memory beside the best grid that fits: grids.py EIN [--sites 2,4,6,8,12,16] [--limits 1.05,1.1,...] [--dtype f64]
[--all] [SHAPE...]

SHAPE: IxKxJ, of C[i,j] = sum[k] A[i,k] * B[k,j]. Plans each with so many times a site's part of A, B and C, and exits with 1 if a plan moves
more than the best grid that fits (or is refused), or if nothing was compared. --all prints every row, not only those.

A grid cuts i, k and j into a, b and c blocks, a*b*c the sites. Each site has its part of A, B and C, all stored once, and computes one block
of points. Each block of A goes to c sites, of B to a, and each of C is the sum of b parts: so many elements arrive, less those that are there.
Parts in f16 are in f32, and so is what panels of k add up to.
It need not be in memory all at once. As COSMA (Kwasniewski et al., 2019), a site takes its points in panels of one label:

- of k: a panel of A, one of B; the parts of C, in which panels add up, are there as a whole, beside its sum;
- of i: a panel of A, one of C; B as a whole;
- of j: a panel of B, one of C; A as a whole.

Nothing is there as a whole that is not moved: what a site has at home. A panel is a 64th, and takes its space twice, as it is sent and received.
So each thing still moves once. With more passes over it less memory would do, but then it would move again."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

SHAPES = ["4000x4000x4000", "500x32000x500", "4000x500x4000"]
SIZE = {"f64": (8, 8), "f32": (4, 4), "i64": (8, 8), "f16": (2, 4)}  # of an element, and of one of a part
PANELS = 64


def grids(sites):
    return [(a, b, sites // a // b) for a in range(1, sites + 1) if sites % a == 0 for b in range(1, sites // a + 1) if sites // a % b == 0]


def moved(shape, grid):
    """Elements of A, B and C that arrive."""
    (i, k, j), (a, b, c) = shape, grid
    return i * k * (c - 1), k * j * (a - 1), i * j * (b - 1)


def needs(shape, grid, size, part):
    """The least bytes at a site, of all labels that panels may have."""
    (i, k, j), (a, b, c) = shape, grid
    blocks = -(-i // a) * -(-k // b) * size, -(-k // b) * -(-j // c) * size, -(-i // a) * -(-j // c) * part
    blocks = [x if n else 0 for x, n in zip(blocks, moved(shape, grid))]
    home = (i * k + k * j + i * j) / (a * b * c) * size
    added = -(-i // a) * -(-j // c) * part if part != size and not blocks[2] else 0
    labels = {(0, 1): -(-k // b), (0, 2): -(-i // a), (1, 2): -(-j // c)}  # which of A, B and C have the label, and its points
    return min(home + (added if 2 not in has else 0) + sum(x * (2 * -(-n // PANELS) / n if t in has else 1) for t, x in enumerate(blocks))
               for has, n in labels.items())


def best(shape, sites, limit, size, part):
    """The bytes that the best grid that fits moves; None: none fits."""
    fit = [moved(shape, g) for g in grids(sites) if needs(shape, g, size, part) <= limit and all(n <= x for n, x in zip(g, shape))]
    return min((size * (a + b) + part * c for a, b, c in fit), default=None)


def plan(ein, path, sites, limit):
    run = subprocess.run([ein, "plan", path, "-n", str(sites), f"--memory={limit}B", "--format=json"], capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr.strip()
    p = json.loads(run.stdout)
    if p["memory"]["bytes"] > limit:
        sys.exit(f"{path} on {sites} sites: the plan takes {p['memory']['bytes']} bytes of {limit}")
    v = next(v for v in p["vertices"] if v["name"] == "C")
    return p["bytes"], " ".join(f"{l['name']}={l['count']}" for l in v["labels"])


def main():
    args = argparse.ArgumentParser()
    args.add_argument("ein")
    args.add_argument("shapes", nargs="*")
    args.add_argument("--sites", default="2,4,6,8,12,16")
    args.add_argument("--limits", default="1.05,1.1,1.25,1.5,1.75,2,2.5,3,4")
    args.add_argument("--dtype", default="f64")
    args.add_argument("--all", action="store_true")
    args = args.parse_intermixed_args()
    compared = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for shape in args.shapes or SHAPES:
            i, k, j = ikj = tuple(int(n) for n in shape.split("x"))
            path = os.path.join(folder, "product.ein")
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"input A[i:{i}, k:{k}], B[k:{k}, j:{j}] : {args.dtype}\noutput C[i,j] = sum[k] A[i,k] * B[k,j]\n")
            for sites in (int(n) for n in args.sites.split(",")):
                for times in (float(x) for x in args.limits.split(",")):
                    limit = times * (i * k + k * j + i * j) / sites * SIZE[args.dtype][0]
                    want = best(ikj, sites, limit, *SIZE[args.dtype])
                    if want is None:
                        continue
                    got, told = plan(args.ein, path, sites, int(limit))
                    compared += 1
                    worse = got is None or got > want
                    bad += worse
                    if worse or args.all:
                        print(f"{shape} on {sites} sites, {times:g} times: {'none' if got is None else f'{got / want:.3f} of {want}'}: {told}", flush=True)
    print(f"{compared} plans beside the best grid that fits, {bad} times more moves")
    return bad > 0 or compared == 0


if __name__ == "__main__":
    sys.exit(main())
