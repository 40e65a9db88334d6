#!/usr/bin/env python3
"""Measures what plans leave out: each tensor and each equation could have its own order in which mesh axes cut a
dimension. Run by hand.

nesting.py EIN [--programs 200] [--seed 1] [--sites 4,6,8,12]: prints how much less moves if all these orders are
tried, on small random graphs.

It tries all cuts within the limit on work, in all orders of the axes that cut a label. For given cuts, each tensor
gets its best home, in all orders of the axes that cut a dimension, and partial results are reduced in the best order.
From the compiler's JSON it takes the program and the answer, which must be the least among the plans in the mesh's
order."""
import argparse
import functools
import itertools
import math
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import integer
import count_plan as plans


def orders(on, dims, free):
    """For each dimension the axes that cut it, in all orders or in the mesh's. on: by axis."""
    sets = [[a for a, d in enumerate(on) if d == k] for k in range(dims)]
    return itertools.product(*(itertools.permutations(s) if free else [tuple(s)] for s in sets))


def box(mesh, at, cut, extents):
    out = []
    for axes, extent in zip(cut, extents):
        k, n = 0, 1
        for a in axes:
            k, n = k * mesh[a] + at[a], n * mesh[a]
        out.append(plans.block(k, extent, n))
    return out


def moved(mesh, extents, here, there):
    n = 0
    for at in itertools.product(*map(range, mesh)):
        want = box(mesh, at, there, extents)
        n += plans.lacking(want, box(mesh, at, here, extents))
    return n


class Space:
    """All plans on a mesh. free: in all orders."""

    def __init__(self, plan, mesh, free):
        self.plan, self.mesh, self.free = plan, mesh, free
        self.cuts = [list(self.ways([l["extent"] for l in v["labels"]])) for v in plan["vertices"]]
        self.homes = [list(self.ways(t["most"])) for t in plan["tensors"]]
        self.work = [[integer.work(v, mesh, on) for on, _ in cuts] for v, cuts in zip(plan["vertices"], self.cuts)]
        self.moved = functools.cache(lambda extents, here, there: moved(mesh, extents, here, there))
        self.kept = functools.cache(self.best_home)

    def ways(self, rooms):
        for on in integer.ways(self.mesh, rooms):
            for cut in orders(on, len(rooms), self.free):
                yield on, cut

    def stored(self, t, home):
        tensor = self.plan["tensors"][t]
        copies = math.prod(s for s, d in zip(self.mesh, home[0]) if d < 0)
        return math.prod(tensor["extents"]) * (copies - 1) * plans.SIZE[tensor["dtype"]]

    def brought(self, v, on, cut, home):
        """Along with the axes that cut what is made, in the order in which they do, those of parts."""
        tensor, vertex = self.plan["tensors"][v], self.plan["vertices"][v]
        kept, made = sum(not l["reduced"] for l in vertex["labels"]), plans.made(vertex, on)
        share = plans.between(self.mesh, tensor["most"], made, home[0])
        group, best = math.prod(s for s, use in zip(self.mesh, made) if use == plans.PARTS), math.inf
        for order in orders(share, len(tensor["extents"]), self.free):
            parts = after = 0
            for at in itertools.product(*map(range, self.mesh)):
                has, want = box(self.mesh, at, order, tensor["extents"]), box(self.mesh, at, home[1], tensor["extents"])
                there = not any(k for k, d in zip(at, share) if d == plans.FIRST)
                if there and group > 1:
                    parts += (group - 1) * plans.elements(has) + plans.lacking(has, box(self.mesh, at, cut[:kept], tensor["extents"]))
                after += plans.lacking(want, has) if there else plans.elements(want)
            if group == 1:
                after = self.moved(tuple(tensor["extents"]), cut[:kept], home[1])
            best = min(best, parts * tensor["part"] + after * plans.SIZE[tensor["dtype"]])
        return vertex["times"] * best

    def best_home(self, t, maker, wants):
        tensor, best = self.plan["tensors"][t], math.inf
        for home in self.homes[t]:
            bytes_ = self.stored(t, home) if maker is None else self.brought(t, *maker, home)
            for times, want in wants:
                bytes_ += times * plans.SIZE[tensor["dtype"]] * self.moved(tuple(tensor["extents"]), home[1], want)
                if bytes_ >= best:
                    break
            best = min(best, bytes_)
        return best

    def want(self, read, cut):
        tensor = self.plan["tensors"][read["tensor"]]
        out = [()] * len(tensor["extents"])
        for label, axes in enumerate(cut):
            dims = [k if tensor["vertex"] is None else read["made"][k] for k, l in enumerate(read["labels"]) if l == label]
            d = next((d for d in dims if d >= 0), -1)
            if d >= 0:
                out[d] = axes
        return tuple(out)

    def least(self, limit):
        best, last = math.inf, [v for v in range(len(self.plan["vertices"]))]
        for choice in itertools.product(*(range(len(c)) for c in self.cuts)):
            if sum(w[k] for w, k in zip(self.work, choice)) > limit:
                continue
            wants = [[] for _ in self.plan["tensors"]]
            for v in last:
                for read in self.plan["vertices"][v]["reads"]:
                    wants[read["tensor"]].append((read["times"], self.want(read, self.cuts[v][choice[v]][1])))
            bytes_ = 0
            for t, tensor in enumerate(self.plan["tensors"]):
                maker = None if tensor["vertex"] is None else self.cuts[t][choice[t]]
                bytes_ += self.kept(t, maker, tuple(sorted(wants[t])))
                if bytes_ >= best:
                    break
            best = min(best, bytes_)
        return best


def main():
    args = argparse.ArgumentParser()
    args.add_argument("ein")
    for name, value in ("programs", 200), ("seed", 1), ("most", 2):
        args.add_argument(f"--{name}", type=int, default=value)
    args.add_argument("--sites", default="4,6,8,12")
    args = args.parse_args()
    r, compared, less, most, wrong = random.Random(args.seed), 0, 0, 0.0, 0
    for k in range(args.programs):
        text, sites = integer.program(r, args.most), r.choice([int(n) for n in args.sites.split(",")])
        plan = integer.planned(args.ein, text, sites)
        meshes = integer.meshes(sites)
        limit = plan["busiest"]["limit"] * (1 + 1e-12)
        same, free = (min(Space(plan, m, f).least(limit) for m in meshes) for f in (False, True))
        compared += 1
        wrong += abs(plan["bytes"] - same) > 1e-6 * same
        if plan["bytes"] != same:
            print(f"program {k} on {sites}: {plan['bytes']}, and here {same}\n{text}", flush=True)
        if free < same * (1 - 1e-9):
            less += 1
            most = max(most, same / free - 1 if free else math.inf)
            print(f"program {k} on {sites}: {same}, in other orders {free}\n{text}", flush=True)
    print(f"{compared} programs: {less} move less in other orders, the most {most:.1%}; {wrong} are not what was planned")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
