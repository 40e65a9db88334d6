#!/usr/bin/env python3
"""Checks a certificate, which `ein plan x.ein -n P --certificate c.json` writes.

Believed: the graph (labels of equations and their extents, what they read, how often they run, what predicates leave
to do), and that sites do what the text of the tasks says. Verified (docs/plan.md, "Checked without ein"):

- *Form*: what is stated twice agrees; cuts and homes have room; tasks use buffers while they are alive.
- *Bytes*, twice: by the plan, what sites need and do not have (`edges`); by the tasks, each parcel of each move.
- *Memory*: at each site and step, the buffers that are alive, and what moves pack and receive.
- *Bound*: if the space of plans is small, it is searched again. Of others, only ein vouches for the bound.

Each line says what was checked, or why it was not. The exit code is 1 if a check fails and, with --strict, 2 if
something was not checked. Needs only Python, and beside it count_plan.py, which counts what a plan moves, and
count_tasks.py, which counts what is in the tasks."""
import argparse
import itertools
import json
import math
import sys

from count_plan import ALL, Record, box, chosen, completed, counts, edges, equalized, work
from count_tasks import Tasks, elements, places

NEAR = 1e-9 # sums of floats differ by their order


class Unchecked(Exception):
    """Why something is not checked."""


def same(what, said, mine, near=0):
    """(words, whether it is right), as all parts of the check find; here, of a value that is stated."""
    right = said == mine if not near else abs(said - mine) <= near * mine
    return f"{what}: {said}, but it should be {mine}", right


# ---- form, bytes and memory ------------------------------------------------------------------------------------------


def fits(mesh, on, extents, most):
    """Whether there is room for what axes cut."""
    there = len(on) == len(mesh) and all(ALL <= d < len(extents) for d in on)
    return there and all(n <= m <= max(x, 1) for n, m, x in zip(counts(mesh, on, len(extents)), most, extents))


def form_of_plan(plan):
    """That a read is left out of the graph shows in the tasks, if it moves something; else it could only make the bound
    harder to prove."""
    mesh, tensors, vertices = plan.mesh, plan.tensors, plan.vertices
    idle = math.prod(mesh) < plan.sites and 210**64 % plan.sites # which has a prime factor of more than 7
    yield "the sites of the mesh", math.prod(mesh) == plan.sites or idle
    for i, t in enumerate(tensors):
        yield f"the home of {t.name}", fits(mesh, t.home, t.extents, t.most)
        yield same(f"the bytes of {t.name}", t.bytes, math.prod(t.extents) * t.size)
        most = max(elements(box(mesh, at, t.home, t.extents)) for at in places(mesh))
        yield same(f"a block of {t.name}", t.block, most * t.size)
        yield f"what makes {t.name}", t.vertex == (vertices[i].id if i < len(vertices) else None)
    for v, t in zip(vertices, tensors):
        extents = [l.extent for l in v.labels]
        yield f"the cut of {v.name}", fits(mesh, v.axes, extents, v.most)
        yield same(f"the cut of {v.name}", [l.count for l in v.labels], counts(mesh, v.axes, len(extents)))
        yield same(f"the name of {v.name}", v.name, t.name)
        yield same(f"the extents of {v.name}", tuple(l.extent for l in v.labels if not l.reduced), t.extents)
        for r in v.reads:
            of, by_labels = tensors[r.tensor], r.called and not r.indices
            kept = not by_labels or all(l < 0 or extents[l] == x for l, x in zip(r.labels, r.extents))
            whole = of.vertex is not None or math.prod(r.extents) == math.prod(of.extents)
            yield f"what {v.name} reads", r.tensor >= 0 and kept and whole and len(r.labels) == len(r.extents)
    if plan.measure == "bytes" and plan.busiest:
        mine = sum(work(v, mesh, v.axes) for v in vertices)
        yield same("the work of the busiest site", plan.busiest.operations, mine, NEAR)
        yield "the limit on work", mine <= (plan.busiest.limit or math.inf) * (1 + NEAR)
    if plan.bound:
        equal = sum(n for _, _, n in chosen(equalized(plan, mesh)))
        own = {"bytes": max(equal, plan.bytes), "seconds": plan.get("seconds"), "ia": plan.get("elements")}
        yield "a bound above the plan itself", plan.bound <= own[plan.measure] * (1 + NEAR)


def check_form(c):
    yield same("entries of equations", len(c.equations), len(c.plan.vertices))
    completed(c.plan, c.equations)
    c.update(tasks=Tasks(c.tasks) if c.tasks else None)
    c.update(uncounted="the plan has no tasks" if not c.tasks else
             "on more than 256 sites not all moves are counted" if math.prod(c.tasks.mesh) > 256 else None)
    yield "whether there are tasks", bool(c.tasks) == c.plan.memory.measured
    yield from form_of_plan(c.plan)
    if c.tasks:
        yield same("the mesh of the tasks", c.tasks.mesh, c.plan.mesh)
        yield from c.tasks.form()
        for t in c.plan.tensors[len(c.plan.vertices) :]:
            yield from (same(f"all blocks of {t.name}", n, t.bytes) for n in c.tasks.begun(t.name))
    return "names, extents, cuts and lives agree"


def check_bytes(c):
    plan, reads = c.plan, [r for v in c.plan.vertices for r in v.reads]
    yield from (same(*found, NEAR) for found in chosen(plan) if found[1] is not None)
    for v in plan.vertices:
        yield same(f"operands of {v.name}", v.received, sum(r.received for r in v.reads), NEAR)
    mine = sum(v.received for v in plan.vertices) + sum(t.brought for t in plan.tensors)
    yield same("the total", plan.bytes, mine, NEAR)
    words = f"{plan.bytes:.0f}, counted for each read and each result"
    if not c.uncounted:
        asked = sum(r.received for r in reads if r.asked and r.asked.bytes < r.asked.whole)
        yield same("what the tasks move", plan.bytes - asked, c.tasks.counted[0], NEAR)
        words += " and in the tasks" + (f", but {asked} that are requested at most" if asked else "")
    elif any(r.indices for r in reads):
        raise Unchecked(f"windows and places from data are counted in the tasks, but {c.uncounted}")
    return words


def check_memory(c):
    if c.uncounted:
        raise Unchecked(c.uncounted)
    yield same("bytes at the busiest site", c.plan.memory.bytes, c.tasks.counted[1])
    return f"{c.tasks.counted[1]} bytes at the busiest site"


# ---- the bound: searches the space again -----------------------------------------------------------------------------


def products(n, k):
    """All ways to write n as a product of k factors above 1."""
    if k == 0:
        return [()] if n == 1 else []
    return [(d, *rest) for d in range(2, n + 1) if n % d == 0 for rest in products(n // d, k - 1)]


def ways(mesh, most):
    """The choices of what each axis cuts for which there is room."""
    return [on for on in itertools.product(range(-1, len(most)), repeat=len(mesh))
            if all(n <= room for n, room in zip(counts(mesh, on, len(most)), most))]


def eliminated(sizes, tables, most):
    """The minimum of a sum of tables (variables, cost by their values): a variable's tables become one over all others
    that they have, with the least cost for these."""
    alone, left = 0, set(range(len(sizes)))
    while left:
        scope = {x: sorted({y for over, _ in tables if x in over for y in over} - {x}) for x in left}
        size, x = min((math.prod(sizes[y] for y in [x, *scope[x]]), x) for x in left)
        if size > most:
            raise OverflowError
        at = {y: k for k, y in enumerate([*scope[x], x])}
        mine = [([at[y] for y in over], cost) for over, cost in tables if x in over]
        out = {v: min(sum(cost[tuple((*v, w)[k] for k in over)] for over, cost in mine) for w in range(sizes[x]))
               for v in itertools.product(*(range(sizes[y]) for y in scope[x]))}
        tables = [t for t in tables if x not in t[0]] + ([(scope[x], out)] if scope[x] else [])
        alone += 0 if scope[x] else out[()]
        left.remove(x)
    return alone


class Space:
    """All plans on a mesh: the values of each variable of `edges`, and the work of each cut of a vertex."""

    def __init__(self, plan, mesh):
        self.plan = equalized(plan, mesh)
        self.values = [[(ALL,) * len(mesh)] if v.state else ways(mesh, v.most) for v in plan.vertices]
        self.works = [[work(v, mesh, use) for use in cuts] for v, cuts in zip(plan.vertices, self.values)]
        self.values += [ways(mesh, t.most) for t in plan.tensors]

    def least(self, limit, enough, most):
        """A lower bound for plans within the limit of work: for any price of an operation, min(cost + price * work) -
        price * limit. Prices are tried until it is enough."""
        sizes, tables, found = list(map(len, self.values)), [], list(edges(self.plan))
        if sum(math.prod(sizes[x] for x in over) for _, _, over, _ in found) > most:
            raise OverflowError
        for _, _, over, cost in found:
            keys = itertools.product(*(range(sizes[x]) for x in over))
            tables.append((over, {k: cost(*(self.values[x][j] for x, j in zip(over, k))) for k in keys}))
        best, start = 0, enough / limit if limit else 0
        for price in [0, 1e-6 * start, *(start * 2.0**k for k in range(-6, 5))]:
            more = [([i], {(k,): price * w for k, w in enumerate(by)}) for i, by in enumerate(self.works)]
            best = max(best, eliminated(sizes, tables + more, most) - price * limit)
            if best >= enough:
                break
        return best


def check_bound(c):
    plan = c.plan
    why = "the plan states no bound" if plan.bound is None else \
        f"this checker searches plans by bytes, not by {plan.measure}" if plan.measure != "bytes" else \
        "pins or a plan file fix a part of the plan" if c.pinned else \
        "some sites are idle" if math.prod(plan.mesh) != plan.sites else \
        "windows and reads at indices from data are recounted, but not searched" \
        if any(r.indices or r.asked for v in plan.vertices for r in v.reads) else None
    if why:
        raise Unchecked(why)
    if plan.bound == 0:
        return "no plan moves less than 0 bytes"
    word = ("the certificate contains no proof of the bound; only ein claims that no plan moves less than "
            f"{plan.bound:.0f} bytes")
    # a mesh has an axis for each prime factor, or four axes if there are more factors, in every order
    meshes = next(found for k in (4, 3, 2, 1, 0) if (found := products(plan.sites, k)))
    spaces, claimed = [Space(plan, mesh) for mesh in meshes], plan.bound * (1 - NEAR)
    limit = 2 * min(sum(map(min, s.works)) for s in spaces)
    if plan.busiest and plan.busiest.limit:
        yield same("the limit on work", plan.busiest.limit, limit, NEAR)
    try:
        found = min(s.least(limit, claimed, c.most) for s in spaces)
    except OverflowError:
        raise Unchecked(f"its space is too large to search here (--most), and {word}") from None
    words = (f"no plan on {len(spaces)} mesh{'es' * (len(spaces) > 1)} within twice the least work moves less than "
             f"{min(found, plan.bound):.0f} bytes")
    if found < claimed:
        raise Unchecked(f"this search shows only that {words}, and {word}")
    return words


# ---- a certificate ---------------------------------------------------------------------------------------------------


def results(part, c):
    """What a part of the check finds: (whether it is right, or None if that was not checked; words)."""
    wrong, found = [], part(c)
    try:
        while True:
            what, right = next(found)
            wrong += [] if right else [what]
    except StopIteration as end:
        right, words = True, end.value
    except Unchecked as why:
        right, words = None, str(why)
    except Exception as e: # whatever a file that is no sound certificate leads to
        right, words = False, f"cannot be read: {type(e).__name__} {e}"
    return (False, "; ".join(wrong[:5])) if wrong else (right, words)


def check(path, most):
    """(True, False, or None if it was not checked; what; words), for each part. Only what has form can be counted."""
    try:
        with open(path, encoding="utf-8") as f:
            c = json.load(f, object_hook=Record)
        if c.schema != "ein certificate 1":
            raise ValueError(c.schema)
    except OSError as e:
        return [(False, "certificate", f"cannot be read: {e.strerror}")]
    except Exception:
        return [(False, "certificate", "this file is not a certificate")]
    c.update(most=most)
    found = []
    for what, part in ("form", check_form), ("bytes", check_bytes), ("memory", check_memory), ("bound", check_bound):
        right, words = results(part, c)
        found.append((right, what, words))
        if what == "form" and not right:
            break
    return found


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("files", nargs="+", metavar="FILE")
    args.add_argument("--strict", action="store_true")
    args.add_argument("--most", type=float, default=3e5, metavar="N")
    args = args.parse_args()
    lines = [(path, *line) for path in args.files for line in check(path, args.most)]
    for path, ok, what, words in lines:
        print(f"{path}: {what:<7} {'not checked' if ok is None else 'checked' if ok else 'WRONG'}: {words}")
    found = {ok for _, ok, _, _ in lines}
    return 1 if False in found else 2 if args.strict and None in found else 0


if __name__ == "__main__":
    sys.exit(main())
