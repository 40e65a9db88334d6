#!/usr/bin/env python3
"""Checks the operations of the busiest site that plans state against a count point by point, at every site: products
under random predicates, with random sizes, on random meshes, cut at random.

busiest.py EIN [--programs 60] [--seed 1]: prints a line for each difference; exits with 1 if there are any, or if few
plans were compared. On a machine whose memory costs no time, `--simulate` must take as long for kernels as the busiest
site's operations."""
import argparse
import itertools
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

LABELS = {"Y": "ikj", "S": "ki"}
TEXT = """input A[i:{i},j:{j}] : f32
input B[j:{j},k:{k}] : f32
Y[i,k] = sum[j where {Y}] A[i,j] * B[j,k]
output S[k] = sum[i where {S}] Y[i,k] * Y[i,k]
"""
POINT = 2                    # a product, and an addition
RATE = 1e9
FAST = 1e21                  # bytes per second
MACHINE = {"format": "ein machine 1", "name": "counting", "site": {"level": "core", "bytes": 10**12}, "levels": [
    {"name": "core", "parts": 1,
     "memories": [{"name": "memory", "bytes": 10**12, "read_bytes_per_second": FAST, "copy_bytes_per_second": FAST}],
     "operations_per_second": {"f32": {"multiply_add": RATE, "add_max": RATE}}},
    {"name": "net", "parts": 64, "link": {"latency_seconds": 1e-12, "bytes_per_second": FAST}}]}


def predicate(r, x, y):
    n = r.randrange(1, 12)
    wide = max(n, 2)         # x // 1 == y // 1 is x == y, which leaves no sum and so no addition
    return r.choice([f"{x} <= {y}", f"{y} < {x} + {n}", f"({x} + {y}) % {n + 1} == {r.randrange(n + 1)}",
                     f"{x} * {x} + {y} * {y} < {n * n * 9}", f"{x} < {n} or {y} < {n}", f"{x} + {y} >= {n}",
                     f"{x} // {wide} == {y} // {wide}", f"{x} - {y} < {n} and {y} - 2 * {x} < {n}", f"{x} >= {n}"])


def holds(text, at):
    return eval(text, {}, at)  # the language and Python agree on these, for what is not negative


def mesh_of(r, sites):
    sizes = []
    while sites > 1:
        d = r.choice([d for d in range(2, sites + 1) if sites % d == 0])
        sizes.append(d)
        sites //= d
    return sizes


def axes_of(r, mesh, labels, size):
    """A label for each axis, if it has room; else `*`."""
    blocks, axes = dict.fromkeys(labels, 1), []
    for n in mesh:
        room = [l for l in labels if blocks[l] * n <= size[l]]
        axes.append(r.choice(room + ["*"]))
        if axes[-1] != "*":
            blocks[axes[-1]] *= n
    return axes


def block(mesh, axes, label, extent, at):
    """The first axis cuts a label, each later one the blocks."""
    k, n = 0, 1
    for size, axis, place in zip(mesh, axes, at):
        if axis == label:
            k, n = k * size + place, n * size
    return range(k * extent // n, (k + 1) * extent // n)


def counted(mesh, axes, size, where):
    """By equation, by site: how many operations."""
    work = {}
    for name, labels in LABELS.items():
        work[name] = []
        for at in itertools.product(*map(range, mesh)):
            points = itertools.product(*(block(mesh, axes[name], l, size[l], at) for l in labels))
            work[name].append(POINT * sum(holds(where[name], dict(zip(labels, p))) for p in points))
    return work


def asked(ein, path, plan, *more):
    """None: a pass wrote a sum with other labels."""
    run = subprocess.run([ein, "plan", path, f"--plan={plan}", "--format=json", *more], capture_output=True, text=True)
    return json.loads(run.stdout) if run.returncode == 0 else None


def complaints(ein, r, folder, machine):
    size = {l: r.randrange(6, 40) for l in "ikj"}
    where = {"Y": predicate(r, "i", "j"), "S": predicate(r, "i", "k")}
    mesh = mesh_of(r, r.choice([2, 3, 4, 6, 8, 12]))
    axes = {name: axes_of(r, mesh, labels, size) for name, labels in LABELS.items()}
    path, plan = folder / "x.ein", folder / "x.plan"
    path.write_text(TEXT.format(**size, **where))
    plan.write_text("".join([f"plan 1\nsites {math.prod(mesh)}\nmesh {' '.join(map(str, mesh))}\n",
                             *(f"vertex {n} axes {' '.join(a)}\n" for n, a in axes.items())]))
    p = asked(ein, path, plan)
    if not p:
        return None
    work = counted(mesh, axes, size, where)
    want = {n: max(w) for n, w in work.items()}
    said = {v["name"]: v["work"]["site_operations"] for v in p["vertices"]}
    found = [f"{n}: {said[n]} operations, not {want[n]}" for n in want if said[n] != want[n]]
    most = max(map(sum, zip(*work.values())))
    if p["work"]["site_operations"] != most:
        found.append(f"the busiest site: {p['work']['site_operations']} operations, not {most}")
    took = RATE * asked(ein, path, plan, f"--machine={machine}", "--simulate")["simulated"]["kernel_seconds"]
    if not math.isclose(took, most, rel_tol=1e-6, abs_tol=1e-3):
        found.append(f"kernels of {took} operations are simulated, not {most}")
    return [f"{where}, {size}, {mesh}, {axes}: {x}" for x in found]


def main():
    args = argparse.ArgumentParser()
    args.add_argument("ein")
    args.add_argument("--programs", type=int, default=60)
    args.add_argument("--seed", type=int, default=1)
    args = args.parse_args()
    r = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as folder:
        machine = pathlib.Path(folder) / "m.json"
        machine.write_text(json.dumps(MACHINE))
        found = [complaints(args.ein, r, pathlib.Path(folder), machine) for _ in range(args.programs)]
    compared = [f for f in found if f is not None]
    print(*sum(compared, []), f"{len(compared)} plans, {sum(map(bool, compared))} that count otherwise", sep="\n")
    return any(compared) or 2 * len(compared) < args.programs


if __name__ == "__main__":
    sys.exit(main())
