#!/usr/bin/env python3
"""Compares plans of random programs with an integer program over the same plans, which HiGHS solves. Run by hand,
because it requires highspy; without it, does nothing.

integer.py EIN [--programs 100] [--seed 1] [--most 12]: prints a line for each difference, and how many plans were
proved optimal and how many were.

The choices, their costs and the work of a site are recomputed here (moves by count_plan.py, site by site); from the
compiler's JSON it takes only the program and the answer. Each tensor has one home, each equation one cut, and each
pair of these with a cost is a variable that is 1 if both are chosen. Extents are multiples of all counts, so that
blocks are equal."""
import argparse
import itertools
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "share"))
import count_plan as moves

SIZES = [12, 24, 48, 96]


def program(r, most):
    return mixed(r, 1 + r.randrange(3), lambda: 1 + r.randrange(most), SIZES)


def mixed(r, inputs, equations, sizes):
    """Products, maps, sums of two, and what is made of labels alone."""
    lines, known, read = [], [], set()
    for k in range(inputs):
        known.append((f"A{k}", [r.choice(sizes) for _ in range(2)]))
        lines.append(f"input A{k}[i{k}:{known[-1][1][0]}, j{k}:{known[-1][1][1]}] : f32")
    for k in range(equations()):
        (x, a), (y, b) = r.choice(known), r.choice(known)
        kind = r.randrange(6)
        if kind == 0:
            a, text = [r.choice(sizes), r.choice(sizes)], "exp(0.01 * f32(i - j))"
        elif kind < 4 and a[1] == b[0]:
            a, text = [a[0], b[1]], f"sum[k] {x}[i,k] * {y}[k,j]"
            read |= {x, y}
        elif kind == 4:
            a, text = [a[1], a[0]], f"sqrt({x}[j,i])"
            read.add(x)
        else:
            text = f"{x}[i,j] * 0.5" + (f" + {y}[i,j]" if a == b else "")
            read |= {x, y} if a == b else {x}
        lines.append(f"T{k}[i:{a[0]},j:{a[1]}] = {text}")
        known.append((f"T{k}", a))
    return "\n".join(("output " if l[0] == "T" and l.split("[")[0] not in read else "") + l for l in lines) + "\n"


def meshes(sites):
    primes, d = [], 2
    while sites > 1:
        while sites % d == 0:
            primes.append(d)
            sites //= d
        d += 1
    return sorted(set(itertools.permutations(primes)))


def ways(mesh, rooms):
    """By axis a label, or -1, so that none is cut into more blocks than it has room for."""
    for on in itertools.product(range(-1, len(rooms)), repeat=len(mesh)):
        if all(math.prod(s for s, x in zip(mesh, on) if x == d) <= room for d, room in enumerate(rooms)):
            yield on


def work(vertex, mesh, axes):
    extents = [l["extent"] for l in vertex["labels"]]
    points = vertex["times"] * math.prod(extents)
    each = max(1, (vertex["work"]["flops"] + vertex["work"]["integer_operations"]) / points)
    counts = [math.prod(s for s, x in zip(mesh, axes) if x == l) for l in range(len(extents))]
    return vertex["times"] * each * math.prod(-(-e // c) for e, c in zip(extents, counts))


class Model:
    """Who chooses among how many, and what pairs of choices cost."""

    def __init__(self, plan, mesh):
        self.mesh, self.plan = mesh, plan
        self.cuts = [list(ways(mesh, [l["extent"] for l in v["labels"]])) for v in plan["vertices"]]
        self.homes = [list(ways(mesh, t["most"])) for t in plan["tensors"]]
        self.work = [[work(v, mesh, c) for c in cuts] for v, cuts in zip(plan["vertices"], self.cuts)]
        self.least = sum(map(min, self.work))

    def stored(self, t, home):
        return self.plan["tensors"][t]["bytes"] * (math.prod(s for s, d in zip(self.mesh, home) if d < 0) - 1)

    def brought(self, v):
        tensor, vertex, memo = self.plan["tensors"][v], self.plan["vertices"][v], {}
        made = [moves.made(vertex, c) for c in self.cuts[v]]
        for m in set(made):
            for h in self.homes[v]:
                n, after = moves.reduced(self.mesh, tuple(tensor["extents"]), tuple(tensor["most"]), m, h)
                memo[m, h] = vertex["times"] * (n * tensor["part"] + after * moves.SIZE[tensor["dtype"]])
        return made, self.homes[v], memo

    def fetched(self, v, read):
        tensor, memo = self.plan["tensors"][read["tensor"]], {}
        want = [moves.wanted(read, tensor, c) for c in self.cuts[v]]
        for w in set(want):
            for h in self.homes[read["tensor"]]:
                memo[w, h] = read["times"] * moves.SIZE[tensor["dtype"]] * moves.moved(self.mesh, tuple(tensor["extents"]), h, w)
        return want, self.homes[read["tensor"]], memo


def least(highspy, m, limit):
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.setOptionValue("mip_rel_gap", 1e-9)
    h.setOptionValue("time_limit", 120.0)
    inf, columns = highspy.kHighsInf, 0

    def column(cost, whole=False):
        nonlocal columns
        h.addCol(cost, 0, 1, 0, [], [])
        if whole:
            h.changeColIntegrality(columns, highspy.HighsVarType.kInteger)
        columns += 1
        return columns - 1

    def row(low, high, at, value):
        h.addRow(low, high, len(at), at, value)

    cut = [[column(0, True) for _ in c] for c in m.cuts]
    home = [[column(m.stored(t, x) if m.plan["tensors"][t]["vertex"] is None else 0, True) for x in xs] for t, xs in enumerate(m.homes)]
    for group in cut + home:
        row(1, 1, group, [1] * len(group))
    row(-inf, limit, [c for g in cut for c in g], [w for g in m.work for w in g])

    def pair(of, at, own, to, table):
        classes = sorted(set(of), key=str)
        both = {(a, b): column(table[a, b]) for a in classes for b in to}
        for a in classes:
            its = [c for c, x in zip(own, of) if x == a]
            row(0, 0, [both[a, b] for b in to] + its, [1] * len(to) + [-1] * len(its))
        for b, c in zip(to, at):
            row(0, 0, [both[a, b] for a in classes] + [c], [1] * len(classes) + [-1])

    for v, vertex in enumerate(m.plan["vertices"]):
        of, to, table = m.brought(v)
        pair(of, home[v], cut[v], to, table)
        for read in vertex["reads"]:
            of, to, table = m.fetched(v, read)
            pair(of, home[read["tensor"]], cut[v], to, table)
    h.run()
    if h.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return h.getObjectiveValue()


def planned(ein, text, sites):
    with tempfile.NamedTemporaryFile("w", suffix=".ein") as f:
        f.write(text)
        f.flush()
        run = subprocess.run([ein, "plan", f.name, "-n", str(sites), "--format=json"], capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{run.stderr}\n{text}")
    plan = json.loads(run.stdout, object_hook=moves.Record)
    moves.completed(plan)
    return plan


def main():
    args = argparse.ArgumentParser()
    args.add_argument("ein")
    args.add_argument("--programs", type=int, default=100)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--most", type=int, default=12)
    args = args.parse_args()
    try:
        import highspy
    except ImportError:
        print("highspy is not here: nothing is compared")
        return 0
    r, proven, best, beaten, unknown = random.Random(args.seed), 0, 0, 0, 0
    for k in range(args.programs):
        text, sites = program(r, args.most), r.choice([4, 4, 4, 6, 6, 8, 12])
        plan = planned(args.ein, text, sites)
        models = [Model(plan, m) for m in meshes(sites)]
        limit = 2 * min(m.least for m in models)
        if abs(plan["busiest"]["limit"] - limit) > 1e-6 * limit:
            print(f"program {k}: the limit is {plan['busiest']['limit']}, and here {limit}")
        costs = [least(highspy, m, limit * (1 + 1e-12)) for m in models if m.least <= limit]
        is_proven = plan["bytes"] <= plan["bound"] * (1 + 1e-9)
        proven += is_proven
        if None in costs:
            unknown += 1
            continue
        best += plan["bytes"] <= min(costs) * (1 + 1e-6)
        beaten += is_proven and plan["bytes"] > min(costs) * (1 + 1e-6)
        if plan["bytes"] > min(costs) * (1 + 1e-6) or plan["bytes"] < min(costs) * (1 - 1e-6):
            print(f"program {k} on {sites}: {plan['bytes']}, bound {plan['bound']}, but {min(costs)}\n{text}", flush=True)
    print(f"{args.programs} programs: {proven} proven, {best} the best, {beaten} proven and beaten, {unknown} not solved in time")
    return beaten > 0


if __name__ == "__main__":
    sys.exit(main())
