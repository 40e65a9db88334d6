#!/usr/bin/env python3
"""Recomputes the moves in `ein plan -n P --format=json`, site by site, from only the mesh, the axes and the homes.
With --costs=ia it also recomputes the elements that the TRA paper counts: all elements that sites need, if any site
lacks some of them.

moves.py FILE...: prints a line for each difference, and exits with 1 if there are any."""
import ast
import itertools
import json
import math
import operator
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "share"))
import count_plan  # noqa: E402
from count_plan import PARTS, box, made, moved, reduced, wanted  # noqa: E402
from count_tasks import elements, pieces, places  # noqa: E402

# ---- reads by indices, which the checker of certificates counts only in the tasks ------------------------------------

OPERATORS = {"max": max, "min": min, "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul,
             "FloorDiv": operator.floordiv, "neg": operator.neg, "USub": operator.neg}


def interval(tree, labels):
    """The least and the largest value of an index, given as a Python expression, over a block of labels. KeyError: it
    has other operators than these, or reads data."""
    if isinstance(tree, ast.Constant):
        return tree.value, tree.value
    if isinstance(tree, ast.Name):
        return labels[int(tree.id[1:])].start, labels[int(tree.id[1:])].stop - 1
    called = isinstance(tree, ast.Call)
    name = tree.func.id if called else type(tree.op).__name__
    parts = tree.args if called else [x for x in ast.iter_child_nodes(tree) if isinstance(x, ast.expr)]
    numbers = [not any(isinstance(x, (ast.Name, ast.BinOp)) for x in ast.walk(p)) for p in parts]
    if name == "Mult" and not any(numbers) or name == "FloorDiv" and not numbers[1]:
        raise KeyError(name)
    values = [OPERATORS[name](*ends) for ends in itertools.product(*(interval(p, labels) for p in parts))]
    return min(values), max(values)


def reach(index, labels):
    """The least and the largest value of an index, and the number modulo which they are meant, or 0. None: unknown."""
    try:
        tree = ast.parse(index, mode="eval").body
        around = tree.right.value if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mod) else 0
        return (*interval(tree.left if around else tree, labels), around)
    except (AttributeError, KeyError, SyntaxError, ValueError):
        return None


def inside(found, extent):
    """The part of a dimension that an index reaches. All of it, if that is not known."""
    low, high, around = found or (0, extent - 1, 0)
    return range(extent) if around else range(max(low, 0), min(high + 1, extent))


def window(mesh, at, read, use, labels):
    """What a site needs, for each dimension: a range, and the extent at which it wraps (for e % extent, if no site's
    range is longer), else 0. A dimension whose index has no label that is cut is needed whole."""
    out = []

    def reached(index, at):
        return reach(index, box(mesh, at, use, labels)[1:])

    for index, extent in zip(read["indices"], read["extents"]):
        cut = any(int(l) in use for l in re.findall(r"\bl(\d+)\b", index or ""))
        found, around = reached(index, at) if cut else None, 0
        if found and found[2] == extent:
            everywhere = [reached(index, a) for a in places(mesh)]
            around = extent if max(high - low for low, high, _ in everywhere) < extent else 0
        out.append((range(found[0], found[1] + 1), extent) if around else (inside(found, extent), 0))
    return out


def held(mesh, at, read, tensor, home):
    """What a site has, by the dimensions of the read."""
    own, out = box(mesh, at, home, tensor["extents"])[1:], []
    dims = range(len(read["extents"])) if tensor["vertex"] is None else read["made"] # -1: such as the turns of a stack
    for d, extent in zip(dims, read["extents"]):
        by = extent // max(1, tensor["extents"][d]) if d >= 0 else 0
        out.append(range(own[d].start * by, own[d].stop * by) if d >= 0 else range(extent))
    return out


def windows(mesh, read, tensor, vertex, use, home):
    """The elements that sites receive for indices."""
    n, labels = 0, [l["extent"] for l in vertex["labels"]]
    for at in places(mesh):
        want, has = window(mesh, at, read, use, labels), held(mesh, at, read, tensor, home)
        n += elements(w for w, _ in want) - math.prod(sum(pieces(w, h, wrap)) for (w, wrap), h in zip(want, has))
    turns = max(1, math.prod(read["extents"]) // max(1, math.prod(tensor["extents"])))
    return n / turns # of a stack, whose dimensions include the turns, as `times` does


def asked(mesh, read, tensor, vertex, home):
    """The most bytes received if sites request places, each once: points request the most expensive places first."""
    request, by_place, n = 8 * sum(read["asked"]["places"]), read["asked"]["places"], 0
    owners = [set(column) for column in zip(*(held(mesh, at, read, tensor, home) for at in places(mesh)))]
    for at in places(mesh):
        labels = box(mesh, at, vertex["axes"], [l["extent"] for l in vertex["labels"]])[1:]
        want = [inside(index and reach(index, labels), x) for index, x in zip(read["indices"], read["extents"])]
        here = [sum(pieces(w, h)) for w, h in zip(want, held(mesh, at, read, tensor, home))]
        there = list(map(len, want))
        all_places, own_places, piece, own_piece = (
            math.prod(x for x, p in zip(of, by_place) if p == kind) for kind in (True, False) for of in (there, here))
        blocks = math.prod(
            sum(bool(pieces(w, o)) for o in own) or 1 for w, own, p in zip(want, owners, by_place) if not p)
        answer = piece * tensor["size"] + blocks * request if piece else 0
        saved = own_piece * tensor["size"] + request if own_piece else 0 # where the site has a block of the slice
        points = elements(labels[l] for l in read["asked"]["points"])
        away = min(points, all_places - own_places)
        n += away * answer + min(points - away, own_places) * (answer - saved)
    return read["asked"]["times"] * n


# ---- all that moves --------------------------------------------------------------------------------------------------


def needed(mesh, extents, on):
    return sum(elements(box(mesh, at, on, extents)) for at in places(mesh))


def read_elements(mesh, read, tensor, vertex, use, home):
    """As the paper counts: all that is needed, if some of it moves."""
    to, extents = wanted(read, tensor, use), tuple(tensor["extents"])
    if not read["indices"]:
        return needed(mesh, extents, to) if moved(mesh, extents, home, to) else 0
    labels = [l["extent"] for l in vertex["labels"]]
    windowed = [window(mesh, at, read, use, labels) for at in places(mesh)]
    turns = max(1, math.prod(read["extents"]) // max(1, math.prod(extents)))
    whole = sum(elements(w for w, _ in window) for window in windowed) / turns
    return whole if windows(mesh, read, tensor, vertex, use, home) else 0


def brought_elements(mesh, tensor, vertex):
    home, extents = tuple(tensor["home"]), tuple(tensor["extents"])
    if vertex is None:
        copies = math.prod(s for s, d in zip(mesh, home) if d < 0)
        return math.prod(extents) * copies if copies > 1 else 0
    if vertex["state"]:
        return 0
    on = made(vertex, vertex["axes"])
    share = count_plan.between(mesh, tensor["most"], on, home)
    group = math.prod(s for s, d in zip(mesh, on) if d == PARTS)
    have = [at for at in places(mesh) if not any(k for k, d in zip(at, share) if d == count_plan.FIRST)]
    parts = sum(group * elements(box(mesh, at, share, extents)) for at in have) if group > 1 else 0
    _, after = reduced(mesh, extents, tuple(tensor["most"]), on, home)
    return vertex["times"] * (parts + (needed(mesh, extents, home) if after else 0))


def check(path):
    plan = json.load(open(path), object_hook=count_plan.Record)
    count_plan.completed(plan)
    mesh, tensors, wrong = plan.mesh, plan.tensors, []
    by_paper, paper = plan.measure == "ia", 0

    def same(what, said, mine):
        if said != mine:
            wrong.append(f"{path}: {what}: {said}, but it is {mine}")

    for what, said, mine in count_plan.chosen(plan):
        if said is not None:
            same(what, said, mine)
    for i, v in enumerate(plan["vertices"]):
        for read in v["reads"]:
            t, use = tensors[read["tensor"]], tuple(v["axes"] if read["called"] else tensors[i]["home"])
            home = tuple(t["home"])
            if by_paper:
                counted = read["times"] * read_elements(mesh, read, t, v, use, home)
                same(f"{v['name']} reads {t['name']}, as the paper counts", read["elements"], counted)
                paper += read["elements"]
            if read["indices"]:
                whole = windows(mesh, read, t, v, use, home) * read["times"] * t["size"]
                most = asked(mesh, read, t, v, home) if read["asked"] else whole
                same(f"{v['name']} reads {t['name']}", read["received"], min(whole, most))
            if read["asked"]:
                same(f"{v['name']} reads all of {t['name']}", read["asked"]["whole"], whole)
                same(f"{v['name']} asks for {t['name']}", read["asked"]["bytes"], most)
        same(f"operands of {v['name']}", v["received"], sum(r["received"] for r in v["reads"]))
    for i, t in enumerate(tensors):
        if by_paper:
            counted = brought_elements(mesh, t, plan["vertices"][i] if t["vertex"] is not None else None)
            same(f"{t['name']} brought home, as the paper counts", t["brought_elements"], counted)
            paper += counted
        at_home = [elements(box(mesh, at, t["home"], t["extents"])) for at in places(mesh)]
        same(f"a block of {t['name']}", t["block"], max(at_home) * t["size"])
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
