#!/usr/bin/env python3
"""Recomputes the moves in `ein plan -n P --format=json`, site by site, from only the mesh, the axes and the homes.
With --costs=ia it also recomputes the elements that the TRA paper counts: all elements that sites need, if any site
lacks some of them.

moves.py FILE...: prints a line for each difference, and exits with 1 if there are any."""
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "share"))
import check_plan  # noqa: E402
from check_plan import PARTS, box, elements, is_state, made, moved, places, reduced, size, wanted, windows  # noqa: E402


def needed(mesh, extents, on):
    return sum(elements(box(mesh, at, on, extents)) for at in places(mesh))


def read_elements(mesh, read, tensor, vertex, use, home):
    """As the paper counts: all that is needed, if some of it moves."""
    to, extents = wanted(read, tensor, use), tuple(tensor["extents"])
    if not read["indices"]:
        return needed(mesh, extents, to) if moved(mesh, extents, home, to) else 0
    labels = [l["extent"] for l in vertex["labels"]]
    windowed = [check_plan.window(mesh, at, read, use, labels) for at in places(mesh)]
    turns = max(1, math.prod(read["extents"]) // max(1, math.prod(extents)))
    whole = sum(elements(w[:2] for w in window) for window in windowed) / turns
    return whole if windows(mesh, read, tensor, vertex, use, home) else 0


def brought_elements(mesh, tensor, vertex):
    home, extents = tuple(tensor["home"]), tuple(tensor["extents"])
    if vertex is None:
        copies = math.prod(s for s, d in zip(mesh, home) if d < 0)
        return math.prod(extents) * copies if copies > 1 else 0
    if is_state(vertex):
        return 0
    on = made(vertex, vertex["axes"])
    share = check_plan.between(mesh, tensor["most"], on, home)
    group = math.prod(s for s, d in zip(mesh, on) if d == PARTS)
    have = [at for at in places(mesh) if not any(k for k, d in zip(at, share) if d == check_plan.FIRST)]
    parts = sum(group * elements(box(mesh, at, share, extents)) for at in have) if group > 1 else 0
    _, after = reduced(mesh, extents, tuple(tensor["most"]), on, home)
    return vertex["times"] * (parts + (needed(mesh, extents, home) if after else 0))


def check(path):
    plan = json.load(open(path))
    mesh, tensors, wrong = tuple(plan["mesh"]), plan["tensors"], []
    by_paper, paper, values = plan["measure"] == "ia", 0, check_plan.chosen(plan)

    def same(what, said, mine):
        if said != mine:
            wrong.append(f"{path}: {what}: {said}, but it is {mine}")

    for what, said, over, cost in check_plan.edges(plan, mesh):
        same(what, said, cost(*(values[x] for x in over)))
    for i, v in enumerate(plan["vertices"]):
        for read in v["reads"]:
            t, use = tensors[read["tensor"]], tuple(v["axes"] if read["called"] else tensors[i]["home"])
            home = tuple(t["home"])
            if by_paper:
                counted = read["times"] * read_elements(mesh, read, t, v, use, home)
                same(f"{v['name']} reads {t['name']}, as the paper counts", read["elements"], counted)
                paper += read["elements"]
            if read["asked"]:
                whole = windows(mesh, read, t, v, use, home) * read["times"] * size(t)
                same(f"{v['name']} reads all of {t['name']}", read["asked"]["whole"], whole)
                most = check_plan.asked(mesh, read, t, v, home)
                same(f"{v['name']} asks for {t['name']}", read["asked"]["bytes"], most)
        same(f"operands of {v['name']}", v["received"], sum(r["received"] for r in v["reads"]))
    for i, t in enumerate(tensors):
        if by_paper:
            counted = brought_elements(mesh, t, plan["vertices"][i] if t["vertex"] is not None else None)
            same(f"{t['name']} brought home, as the paper counts", t["brought_elements"], counted)
            paper += counted
        at_home = [elements(box(mesh, at, t["home"], t["extents"])) for at in places(mesh)]
        same(f"a block of {t['name']}", t["block"], max(at_home) * size(t))
    same("all", plan["bytes"], sum(v["received"] for v in plan["vertices"]) + sum(t["brought"] for t in tensors))
    if by_paper:
        same("all, as the paper counts", plan["elements"], paper)
    for key in "flops", "integer_operations":
        same(key, plan["work"][key], sum(v["work"][key] for v in plan["vertices"]))
    busiest, each = plan["work"]["site_operations"], [v["work"]["site_operations"] for v in plan["vertices"]]
    if not max(each, default=0) <= busiest <= sum(each):  # busiest.py counts it
        wrong.append(f"{path}: site_operations: {busiest}, where equations have {each}")
    rival = plan["runner_up"]
    key = "elements" if by_paper else "bytes"
    if plan["planner"] == "exact" and plan["bound"] == plan[key] and rival.get(key, plan[key]) < plan[key]:
        wrong.append(f"{path}: the runner-up is better")
    return wrong


if __name__ == "__main__":
    lines = [line for path in sys.argv[1:] for line in check(path)]
    print("\n".join(lines), end="\n" if lines else "")
    sys.exit(1 if lines else 0)
