#!/usr/bin/env python3
"""Recomputes the moves in `ein plan -n P --format=json`, site by site, from only the mesh, the axes and the homes.
With --costs=ia it also recomputes the elements that the TRA paper counts: all elements that sites need, if any site
lacks some of them.

moves.py FILE...: prints a line for each difference, and exits with 1 if there are any."""
import itertools
import json
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "share"))
from check_plan import asked, box, brought, elements, moved, size, wanted, windows  # noqa: E402


def check(path):
    plan = json.load(open(path))
    mesh, tensors, wrong = plan["mesh"], plan["tensors"], []
    by_paper, paper = plan["measure"] == "ia", 0

    def same(what, said, mine):
        if said != mine:
            wrong.append(f"{path}: {what}: {said}, but it is {mine}")

    for i, v in enumerate(plan["vertices"]):
        for read in v["reads"]:
            t = tensors[read["tensor"]]
            home = tensors[i]["home"]
            n, counted = windows(mesh, read, t, v, home) if read["indices"] else moved(mesh, t["extents"], t["home"], wanted(read, t, v["axes"] if read["called"] else home))
            if by_paper:
                same(f"{v['name']} reads {t['name']}, as the paper counts", read["elements"], read["times"] * counted)
                paper += read["elements"]
            n *= read["times"] * size(t)
            if read["asked"]:
                same(f"{v['name']} reads all of {t['name']}", read["asked"]["whole"], n)
                same(f"{v['name']} asks for {t['name']}", read["asked"]["bytes"], asked(mesh, read, t, v))
                n = min(n, read["asked"]["bytes"])
            same(f"{v['name']} reads {t['name']}", read["received"], n)
        same(f"operands of {v['name']}", v["received"], sum(r["received"] for r in v["reads"]))
    for i, t in enumerate(tensors):
        v = plan["vertices"][i] if t["vertex"] is not None else None
        n, counted = brought(mesh, t, v)
        same(f"{t['name']} brought home", t["brought"], n)
        if by_paper:
            same(f"{t['name']} brought home, as the paper counts", t["brought_elements"], counted)
            paper += counted
        at_home = [elements(box(mesh, at, t["home"], t["extents"])) for at in itertools.product(*map(range, mesh))]
        same(f"a block of {t['name']}", t["block"], max(at_home) * size(t))
    same("all", plan["bytes"], sum(v["received"] for v in plan["vertices"]) + sum(t["brought"] for t in tensors))
    if by_paper:
        same("all, as the paper counts", plan["elements"], paper)
    for key in plan["work"]:
        same(key, plan["work"][key], sum(v["work"][key] for v in plan["vertices"]))
    rival = plan["runner_up"]
    key = "elements" if by_paper else "bytes"
    if plan["planner"] == "exact" and plan["bound"] == plan[key] and rival.get(key, plan[key]) < plan[key]:
        wrong.append(f"{path}: the runner-up is better")
    return wrong


if __name__ == "__main__":
    lines = [line for path in sys.argv[1:] for line in check(path)]
    print("\n".join(lines), end="\n" if lines else "")
    sys.exit(1 if lines else 0)
