#!/usr/bin/env python3
"""Works out anew what `ein plan -n P --format=json` says that moves, site by site, from the mesh, the axes and the homes alone; with
--costs=ia also the elements that the TRA paper counts: all that sites are to hold, where one of them lacks some of it.

moves.py FILE...: exit 1 and a line a difference."""
import ast
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
    """Elements that sites lack of what they are to have; and as the paper counts."""
    n = all_of_it = 0
    for at in itertools.product(*map(range, mesh)):
        want = box(mesh, at, there, extents)
        n += elements(want) - elements(both(want, box(mesh, at, here, extents)))
        all_of_it += elements(want)
    return n, all_of_it if n else 0


def wanted(read, tensor, vertex, home):
    use = vertex["axes"] if read["called"] else home
    on = []
    for label in use:
        dims = [k if tensor["vertex"] is None else read["made"][k] for k, l in enumerate(read["labels"]) if label >= 0 and l == label]
        on.append(next((d for d in dims if d >= 0), -1))
    return on


def between(mesh, most, made, home):
    """Where parts (made: None) are reduced: as home cuts, if there is room; else in a dimension that no later axis cuts; else at the first place."""
    out, first = list(made), [False] * len(mesh)

    def room(d, a):
        return d >= 0 and math.prod(s for s, x in zip(mesh, out) if x == d) * mesh[a] <= most[d]

    for a, use in enumerate(made):
        if use is None:
            free = [d for d in range(len(most)) if room(d, a) and d not in made[a + 1 :]]
            out[a] = home[a] if room(home[a], a) else free[0] if free else -1
            first[a] = out[a] < 0
    return out, first


def reduced(mesh, extents, most, made, home):
    """Elements in parts that sites get, elements that go home after that, and both as the paper counts."""
    at_made = [-1 if use is None else use for use in made]
    share, first = between(mesh, most, made, home)
    group = math.prod(s for s, use in zip(mesh, made) if use is None)
    parts = after = shared = at_home = 0
    for at in itertools.product(*map(range, mesh)):
        has = box(mesh, at, share, extents)
        there = not any(f and k for f, k in zip(first, at))
        if there and None in made:
            parts += group * elements(has) - elements(both(has, box(mesh, at, at_made, extents)))
            shared += group * elements(has)
        want = box(mesh, at, home, extents)
        after += elements(want) - (elements(both(want, has)) if there else 0)
        at_home += elements(want)
    return parts if group > 1 else 0, after, (shared if group > 1 else 0) + (at_home if after else 0)


def intervals(tree, labels):
    """The least and the largest value of an index, as of a Python expression."""
    if isinstance(tree, ast.Name):
        low, high = labels[int(tree.id[1:])]
        return low, high - 1
    if isinstance(tree, ast.Constant):
        return tree.value, tree.value
    parts = tree.args if isinstance(tree, ast.Call) else [tree.operand] if isinstance(tree, ast.UnaryOp) else [tree.left, tree.right]
    ends = list(itertools.product(*(intervals(p, labels) for p in parts)))
    name = tree.func.id if isinstance(tree, ast.Call) else type(tree.op).__name__
    do = {"max": max, "min": min, "neg": lambda x: -x, "USub": lambda x: -x, "Add": int.__add__, "Sub": int.__sub__, "Mult": int.__mul__, "FloorDiv": int.__floordiv__}
    values = [do[name](*e) for e in ends]
    return min(values), max(values)


def told(tree):
    """Windows are told of sums, differences, max, min, and of products with and quotients by numbers."""
    for t in ast.walk(tree):
        if isinstance(t, ast.Call) and t.func.id not in ("max", "min", "neg"):
            return False
        if isinstance(t, ast.BinOp):
            left, right = (not any(isinstance(y, (ast.Name, ast.BinOp)) for y in ast.walk(x)) for x in (t.left, t.right))
            if not (isinstance(t.op, (ast.Add, ast.Sub)) or isinstance(t.op, ast.Mult) and (left or right) or isinstance(t.op, ast.FloorDiv) and right):
                return False
    return True


def span(mesh, at, tree, use, labels):
    return intervals(tree, [box(mesh, at, [0 if u == l else -1 for u in use], [x])[0] for l, x in enumerate(labels)])


def window(mesh, at, read, use, labels):
    """By dimension: from, to, and where it goes round: of e % extent, if that is nowhere longer than the dimension; else 0."""
    out = []
    for index, extent in zip(read["indices"], read["extents"]):
        out.append((0, extent, 0))
        tree = index and ast.parse(index.replace("%", "@"), mode="eval").body
        cut = tree and any(isinstance(t, ast.Name) and t.id[1:].isdigit() and int(t.id[1:]) in use for t in ast.walk(tree))
        around = tree and isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult) and isinstance(tree.right, ast.Constant)
        if around and cut and tree.right.value == extent and told(tree.left):
            ends = [span(mesh, a, tree.left, use, labels) for a in itertools.product(*map(range, mesh))]
            low, high = span(mesh, at, tree.left, use, labels)
            if max(y - x for x, y in ends) < extent:
                out[-1] = (low, high + 1, extent)
        if cut and told(tree):
            low, high = span(mesh, at, tree, use, labels)
            out[-1] = (max(low, 0), max(min(high + 1, extent), max(low, 0)), 0)
    return out


def there(want, has):
    """Places of a window that are there."""
    low, to, around = want
    return sum(has[0] <= (j % around if around else j) < has[1] for j in range(low, to))


def windows(mesh, read, tensor, vertex, home):
    """Elements that sites get of what indices reach; and as the paper counts."""
    use, n, all_of_it = vertex["axes"] if read["called"] else home, 0, 0
    labels = [l["extent"] for l in vertex["labels"]]
    for at in itertools.product(*map(range, mesh)):
        want, has = window(mesh, at, read, use, labels), []
        own = box(mesh, at, tensor["home"], tensor["extents"])
        for k, extent in enumerate(read["extents"]):
            d = k if tensor["vertex"] is None else read["made"][k]
            by = extent // max(1, tensor["extents"][d]) if d >= 0 else 0
            has.append((own[d][0] * by, own[d][1] * by) if d >= 0 else (0, extent))
        n += elements(w[:2] for w in want) - math.prod(map(there, want, has))
        all_of_it += elements(w[:2] for w in want)
    turns = max(1, math.prod(read["extents"]) // max(1, math.prod(tensor["extents"])))  # of a stack: they stand in its dimensions
    return n / turns, all_of_it / turns if n else 0


def reached(index, extent, labels):
    """What a block of labels reaches of a slice, or of places that it says without data."""
    tree = index and ast.parse(index.replace("%", "@"), mode="eval").body
    if not tree or not told(tree):
        return 0, extent
    low, high = intervals(tree, labels)
    return max(low, 0), max(min(high + 1, extent), max(low, 0))


def asked(mesh, read, tensor, vertex):
    """Bytes that come at most if sites ask for places, each once: points ask for those that cost most, while there are such."""
    use, a, n = vertex["axes"], read["asked"], 0
    index = 8 * sum(a["places"])
    for at in itertools.product(*map(range, mesh)):
        labels = [box(mesh, at, [0 if u == l else -1 for u in use], [x["extent"]])[0] for l, x in enumerate(vertex["labels"])]
        want = [reached(i, x, labels) for i, x in zip(read["indices"], read["extents"])]
        own, has, blocks = box(mesh, at, tensor["home"], tensor["extents"]), [], 1
        for k, extent in enumerate(read["extents"]):
            d = k if tensor["vertex"] is None else read["made"][k]
            by = extent // max(1, tensor["extents"][d]) if d >= 0 else 0
            has.append((own[d][0] * by, own[d][1] * by) if d >= 0 else (0, extent))
            if d >= 0 and not a["places"][k]:
                count = math.prod(s for s, x in zip(mesh, tensor["home"]) if x == d)
                cuts = [block(c, tensor["extents"][d], count) for c in range(count)]
                blocks *= sum(elements(both([(low * by, high * by)], [want[k]])) > 0 for low, high in cuts) or 1
        parts = [[elements(x[k] for k in range(len(want)) if a["places"][k] == p) for x in (want, both(want, has))] for p in (True, False)]
        (places, here), (piece, mine) = parts
        points = elements(labels[l] for l in a["points"])
        each = piece * size(tensor) + blocks * index if piece else 0
        away = min(points, places - here)
        n += away * each + min(points - away, here) * (each - (mine * size(tensor) + index if mine else 0))
    return a["times"] * n


def brought(mesh, tensor, vertex):
    home, extents, whole = tensor["home"], tensor["extents"], math.prod(tensor["extents"])
    if vertex is None:
        copies = math.prod(s for s, d in zip(mesh, home) if d < 0)
        return whole * (copies - 1) * size(tensor), whole * copies if copies > 1 else 0
    if vertex["equation"].startswith("state "):
        return 0, 0
    kept = sum(not l["reduced"] for l in vertex["labels"])
    made = [None if l >= kept else l for l in vertex["axes"]]
    parts, after, paper = reduced(mesh, extents, tensor["most"], made, home)
    return vertex["times"] * (parts * tensor["part"] + after * size(tensor)), vertex["times"] * paper


def size(tensor):
    n = math.prod(tensor["extents"])
    return tensor["bytes"] // n if n else 0


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
            n, counted = windows(mesh, read, t, v, home) if read["indices"] else moved(mesh, t["extents"], t["home"], wanted(read, t, v, home))
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
