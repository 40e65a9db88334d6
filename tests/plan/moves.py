#!/usr/bin/env python3
"""Works out anew what `ein plan -n P --format=json` says that moves, site by site, from the mesh, the axes and the homes alone.

moves.py FILE...: exit 1 and a line a difference."""
import itertools
import json
import math
import sys


def block(k, extent, count):
    return k * extent // count, (k + 1) * extent // count


def box(mesh, at, on, extents):
    """What the site at `at` has, by dimension: from, to."""
    out = []
    for d, extent in enumerate(extents):
        k = n = 0
        for place, size, use in zip(at, mesh, on):
            if use == d:
                k, n = k * size + place, (n or 1) * size
        out.append(block(k, extent, n or 1))
    return out


def elements(b):
    return math.prod(max(0, to - low) for low, to in b)


def both(a, b):
    return [(max(x[0], y[0]), min(x[1], y[1])) for x, y in zip(a, b)]


def moved(mesh, extents, here, there):
    n = 0
    for at in itertools.product(*map(range, mesh)):
        want = box(mesh, at, there, extents)
        n += elements(want) - elements(both(want, box(mesh, at, here, extents)))
    return n


def wanted(read, tensor, vertex, home):
    use = vertex["axes"] if read["called"] else home
    on = []
    for label in use:
        dims = [k if tensor["vertex"] is None else read["made"][k] for k, l in enumerate(read["labels"]) if label >= 0 and l == label]
        on.append(next((d for d in dims if d >= 0), -1))
    return on


def brought(mesh, tensor, vertex):
    home, extents, whole = tensor["home"], tensor["extents"], math.prod(tensor["extents"])
    if vertex is None:
        return whole * (math.prod(s for s, d in zip(mesh, home) if d < 0) - 1)
    if vertex["equation"].startswith("state "):
        return 0
    kept = sum(not l["reduced"] for l in vertex["labels"])
    parts = [l >= kept for l in vertex["axes"]]
    between = [h if part else l for l, h, part in zip(vertex["axes"], home, parts)]
    copies = math.prod(s for s, l in zip(mesh, vertex["axes"]) if l < 0)
    group = math.prod(s for s, part in zip(mesh, parts) if part)
    again = math.prod(s for s, part, h in zip(mesh, parts, home) if part and h < 0)
    return vertex["times"] * (whole * copies * (group - 1 + again - 1) + moved(mesh, extents, between, home))


def size(tensor):
    n = math.prod(tensor["extents"])
    return tensor["bytes"] // n if n else 0


def check(path):
    plan = json.load(open(path))
    mesh, tensors, wrong = plan["mesh"], plan["tensors"], []

    def same(what, said, mine):
        if said != mine:
            wrong.append(f"{path}: {what}: {said}, but it is {mine}")

    for i, v in enumerate(plan["vertices"]):
        for read in v["reads"]:
            t = tensors[read["tensor"]]
            n = moved(mesh, t["extents"], t["home"], wanted(read, t, v, tensors[i]["home"]))
            same(f"{v['name']} reads {t['name']}", read["received"], read["times"] * n * size(t))
        same(f"operands of {v['name']}", v["received"], sum(r["received"] for r in v["reads"]))
    for i, t in enumerate(tensors):
        v = plan["vertices"][i] if t["vertex"] is not None else None
        same(f"{t['name']} brought home", t["brought"], brought(mesh, t, v) * size(t))
        at_home = [elements(box(mesh, at, t["home"], t["extents"])) for at in itertools.product(*map(range, mesh))]
        same(f"a block of {t['name']}", t["block"], max(at_home) * size(t))
    same("all", plan["bytes"], sum(v["received"] for v in plan["vertices"]) + sum(t["brought"] for t in tensors))
    for key in plan["work"]:
        same(key, plan["work"][key], sum(v["work"][key] for v in plan["vertices"]))
    rival = plan["runner_up"]
    if plan["planner"] == "exact" and plan["bound"] == plan["bytes"] and rival.get("bytes", plan["bytes"]) < plan["bytes"]:
        wrong.append(f"{path}: the runner-up is better")
    return wrong


if __name__ == "__main__":
    lines = [line for path in sys.argv[1:] for line in check(path)]
    print("\n".join(lines), end="\n" if lines else "")
    sys.exit(1 if lines else 0)
