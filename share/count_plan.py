"""Counts what a plan moves, and the work of its busiest site, from its cuts and homes, for check_plan.py. Needs only
Python, and count_tasks.py beside it.

A tuple of the mesh's length says what each of its axes cuts: the number of a label or dimension, or none."""
import functools
import itertools
import math

from count_tasks import SIZE, block, elements, lacking, places

ALL, PARTS, FIRST = -1, -2, -3 # Then there are along it: copies, partial results, or nothing but at the first place.


class Record(dict):
    """An object of the file; its members are attributes too."""
    __getattr__ = dict.__getitem__


def completed(plan, equations=()):
    """Adds what follows: equations' entries, which vertices are states, the size of dtypes."""
    plan.update(mesh=tuple(plan.mesh))
    for v, equation in itertools.zip_longest(plan.vertices, equations, fillvalue={}):
        v.update(equation, axes=tuple(v.axes), state=v.equation.startswith("state "))
    for t in plan.tensors:
        t.update({key: tuple(t[key]) for key in ("extents", "most", "home")}, size=SIZE[t.dtype])


# ---- what a site has, needs and receives -----------------------------------------------------------------------------


def counts(mesh, on, n):
    """Into how many blocks each of n labels or dimensions is cut."""
    return [math.prod(s for s, x in zip(mesh, on) if x == d) for d in range(n)]


def box(mesh, at, on, extents):
    """The block of the site at `at`. Of two axes that cut one dimension, the second cuts the blocks of the first."""
    k, n = [0] * len(extents), [1] * len(extents)
    for place, size, d in zip(at, mesh, on):
        if d >= 0:
            k[d], n[d] = k[d] * size + place, n[d] * size
    here = not any(place for place, d in zip(at, on) if d == FIRST)
    return [range(here), *map(block, k, extents, n)]


@functools.lru_cache(None)
def moved(mesh, extents, here, there, parts=1):
    """The elements that sites need but do not have; and of other partial results as many as they need."""
    boxes = [(box(mesh, at, there, extents), box(mesh, at, here, extents)) for at in places(mesh)]
    return sum((parts - 1) * elements(want) + lacking(want, has) for want, has in boxes)


def wanted(read, tensor, use):
    """What each axis cuts of the tensor for a reader whose axes cut the labels `use`."""
    dims = range(len(read.extents)) if tensor.vertex is None else read.made # -1: such as the turns of a stack
    found = [(l, d) for l, d in zip(read.labels, dims) if l >= 0 and d >= 0]
    return tuple(next((d for l, d in found if l == label), ALL) for label in use)


def made(vertex, use):
    """The dimension of the result that each axis cuts."""
    return tuple(PARTS if l >= 0 and vertex.labels[l].reduced else l for l in use)


def between(mesh, most, on, home):
    """Where partial results are reduced: in the dimension that home cuts, if there is room; else in one that no later
    axis cuts; else at the first place."""
    out = list(on)
    for a in (a for a, use in enumerate(on) if use == PARTS):
        room = [d for d, n in enumerate(counts(mesh, out, len(most))) if n * mesh[a] <= most[d]]
        free = [d for d in room if d not in on[a + 1 :]]
        out[a] = home[a] if home[a] in room else free[0] if free else FIRST
    return tuple(out)


def reduced(mesh, extents, most, on, home):
    """The elements of partial results that sites receive, and those then sent home."""
    share, group = between(mesh, most, on, home), math.prod(s for s, use in zip(mesh, on) if use == PARTS)
    return moved(mesh, extents, on, share, group), moved(mesh, extents, share, home)


def edges(plan):
    """All that moves: (what, the bytes stated, variables, the bytes as a function of their values). The variables are
    the labels that axes cut of each vertex, and then, from len(vertices), the homes of tensors. Stated is None for
    reads by indices; the function counts them as if they were by labels."""
    mesh, n = plan.mesh, len(plan.vertices)

    def fetched(r, t, use, home):
        return r.times * t.size * moved(mesh, t.extents, home, wanted(r, t, use))

    def brought(v, t, use, home):
        parts, after = reduced(mesh, t.extents, t.most, made(v, use), home)
        return 0 if v.state else v.times * (parts * t.part + after * t.size)

    def copied(t, home):
        return t.bytes * (math.prod(s for s, d in zip(mesh, home) if d < 0) - 1)

    for i, v in enumerate(plan.vertices):
        for r in v.reads: # a state is read where it has its home
            t, over = plan.tensors[r.tensor], (i if r.called else n + i, n + r.tensor)
            yield f"{v.name} reads {t.name}", None if r.indices else r.received, over, functools.partial(fetched, r, t)
    for i, t in enumerate(plan.tensors):
        over, cost = (n + i,), functools.partial(copied, t)
        if i < n:
            over, cost = (i, n + i), functools.partial(brought, plan.vertices[i], t)
        yield f"{t.name} brought home", t.brought, over, cost


def chosen(plan):
    """All that moves: (what, the bytes stated, the bytes counted)."""
    values = [v.axes for v in plan.vertices] + [t.home for t in plan.tensors]
    return [(what, said, cost(*(values[x] for x in over))) for what, said, over, cost in edges(plan)]


def equalized(plan, mesh):
    """The plan on a mesh, with more elements that are smaller, so that all blocks are equal."""
    def equal(t, n):
        one = n ** -len(t.extents)
        return Record(t, extents=tuple(x * n for x in t.extents), size=t.size * one, part=t.part * one)

    return Record(plan, mesh=mesh, tensors=[equal(t, math.prod(mesh)) for t in plan.tensors])


# ---- work ------------------------------------------------------------------------------------------------------------


def points(ties, has):
    """The most points of a block that predicates admit. has: how many values of each label the block has. A tie says
    how many values a label has if others are given; ties with the least share come first, and never form a cycle."""
    has, given = list(has), {}

    def above(labels):
        return set(labels).union(*(above(given[l]) for l in labels if l in given))

    while usable := [(t["values"] / has[t.label], k) for k, t in enumerate(ties)
                     if t.label not in {*given, *above(t.given)} and t["values"] < has[t.label]]:
        tie = ties[min(usable)[1]]
        has[tie.label], given[tie.label] = tie["values"], tie.given
    return math.prod(has)


def work(vertex, mesh, use):
    """The operations of the site with the largest block, in a run."""
    has = [-(-l.extent // n) for l, n in zip(vertex.labels, counts(mesh, use, len(vertex.labels)))]
    each = 0 if vertex.state else max(1, vertex.operations)
    return vertex.times * each * min(vertex.kept, points(vertex.ties, has))
