#!/usr/bin/env python3
"""Checks a certificate, which `ein plan x.ein -n P --certificate c.json` writes.

Believed: the graph (labels of equations and their extents, what they read, how often they run, what predicates leave
to do), and that sites do what the text of the tasks says. Verified (docs/plan.md, "Checked without ein"):

- *Form*: what is stated twice agrees; cuts and homes have room; tasks use buffers while they are alive.
- *Bytes*, twice: by the plan, what sites need and do not have (`edges`); by the tasks, each parcel of each move.
- *Memory*: at each site and step, the buffers that are alive, and what moves pack and receive.
- *Bound*: if the space of plans is small, it is searched again. Of others, only ein vouches for the bound.

Each line says what was checked, or why it was not. The exit code is 1 if a check fails and, with --strict, 2 if
something was not checked. Needs only Python."""
import argparse
import collections
import functools
import itertools
import json
import math
import re
import sys

SIZE = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "f16": 2, "bf16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8}


class Record(dict):
    """An object of the file; its members are attributes too."""
    __getattr__ = dict.__getitem__


# ---- boxes -----------------------------------------------------------------------------------------------------------
# What a site has of a tensor is a box: a range for each dimension, after a first one of length 1, or 0 if it has
# nothing. A tuple of the mesh's length says what each of its axes cuts: the number of a label or dimension, or none.
ALL, PARTS, FIRST = -1, -2, -3 # Then there are along it: copies, partial results, or nothing but at the first place.


def places(mesh):
    return list(itertools.product(*map(range, mesh)))


def counts(mesh, on, n):
    """Into how many blocks each of n labels or dimensions is cut."""
    return [math.prod(s for s, x in zip(mesh, on) if x == d) for d in range(n)]


def block(k, extent, count):
    return range(k * extent // count, (k + 1) * extent // count)


def box(mesh, at, on, extents):
    """The block of the site at `at`. Of two axes that cut one dimension, the second cuts the blocks of the first."""
    k, n = [0] * len(extents), [1] * len(extents)
    for place, size, d in zip(at, mesh, on):
        if d >= 0:
            k[d], n[d] = k[d] * size + place, n[d] * size
    here = not any(place for place, d in zip(at, on) if d == FIRST)
    return [range(here), *map(block, k, extents, n)]


def elements(b):
    return math.prod(map(len, b))


def pieces(want, has, around=0):
    """The lengths of the pieces of one range that lie in another, which returns every `around`, if that is not 0."""
    laps = range((want.start - has.stop) // around, (want.stop - has.start) // around + 1) if around else [0]
    found = [min(want.stop, has.stop + k * around) - max(want.start, has.start + k * around) for k in laps]
    return [n for n in found if n > 0]


def lacking(want, has):
    """The elements of one box that are not in another."""
    return elements(want) - math.prod(sum(pieces(w, h)) for w, h in zip(want, has))


# ---- bytes by the plan -----------------------------------------------------------------------------------------------


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


@functools.lru_cache(None)
def moved(mesh, extents, here, there, parts=1):
    """The elements that sites need but do not have; and of other partial results as many as they need."""
    boxes = [(box(mesh, at, there, extents), box(mesh, at, here, extents)) for at in places(mesh)]
    return sum((parts - 1) * elements(want) + lacking(want, has) for want, has in boxes)


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


def check_bytes(c):
    plan, said, reads = c.plan, c.plan.bytes, [r for v in c.plan.vertices for r in v.reads]
    asked = sum(r.received for r in reads if r.asked and r.asked.bytes < r.asked.whole)
    found = [(f"operands of {v.name}", v.received, sum(r.received for r in v.reads)) for v in plan.vertices]
    found += [("the total", said, sum(v.received for v in plan.vertices) + sum(t.brought for t in plan.tensors))]
    words = f"{said:.0f}, counted for each read and each result"
    if not c.uncounted:
        found.append(("what the tasks move", said - asked, c.tasks.counted[0]))
        words += " and in the tasks" + (f", but {asked} that are requested at most" if asked else "")
    wrong = [f"{what}: {said}, but it should be {mine:.0f}" for what, said, mine in [*chosen(plan), *found]
             if said is not None and not abs(said - mine) <= 1e-9 * mine]
    if c.uncounted and any(r.indices for r in reads) and not wrong:
        return None, f"windows and places from data are counted in the tasks, but {c.uncounted}"
    return not wrong, "; ".join(wrong[:5]) or words


# ---- bytes and memory by the tasks -----------------------------------------------------------------------------------

BUFFER = re.compile(r"[^\[]*\[(.*?)\] : (\w+)(?: low \[(.*?)\])?(?: when (\(.*?\)))?(?: alive (\d+)\.\.(\d+))?$")
MOVE = re.compile(r"move \S+ (\w+) %(\d+) at((?: [\d*+?]+)*) to %(\d+) at((?: [\d*+?]+)*)(?: wrap (\[.*?\]))?( by \S+)?"
                  r"(?: places %\d+ to %(\d+))?")
ROOM = 1 << 26                 # bytes of partial results that arrive at once, unless the tasks have less room for them
SLICE = 1 << 16                # the smallest slice of longer ones, in bytes;
LEAST = 1 << 12                # and where those of all groups exceed the room
LONG = 1 << 22                 # the largest one, where there are more than four per group
SPREAD = 1 << 20               # a broadcast that saves as many bytes by it goes by shares


def padded(n):
    return -(-n // 64) * 64


def share(b, i, n):
    """Slice i of n of a box, along the first dimension that is long enough, else the longest."""
    if len(b) == 1:
        return b if i == 0 else [range(0)]
    d = next((d for d, x in enumerate(b) if len(x) >= n), max(range(len(b)), key=lambda d: len(b[d])))
    part = block(i, len(b[d]), n)
    return [*b[:d], b[d][part.start : part.stop], *b[d + 1 :]]


class Buffer:
    def __init__(self, line, mesh):
        dims, self.dtype, low, when, first, last = BUFFER.match(line).groups()
        self.dims, self.size, self.mesh, self.work = dims.split(", "), SIZE[self.dtype], mesh, bool(first)
        self.alive = (int(first), int(last)) if first else (0, math.inf) # else the caller's
        sizes = f"{when or 1}, [{low or '0, ' * len(self.dims)}], [{dims}]".replace("$", "")
        # numbers, names and operators only, so no text runs a program; no powers and shifts, which can be endless
        if not re.fullmatch(r"[\w\s()\[\]+*/%,<>=-]*", sizes) or "**" in sizes or "<<" in sizes:
            raise ValueError(sizes)
        self.sizes = compile(sizes, line, "eval")

    @functools.cached_property
    def boxes(self):
        """By site."""
        names = [{f"at{a}": k for a, k in enumerate(at)} for at in places(self.mesh)]
        found = [eval(self.sizes, x | {"min": min, "max": max, "__builtins__": {}}) for x in names]
        return [[range(bool(here)), *(range(k, k + n) for k, n in zip(low, dims))] for here, low, dims in found]


class Tasks:
    """The text of tasks. lines: the first and last step of each line's task, how often a run does it, the line."""

    def __init__(self, text):
        head = dict(re.findall(r"^(mesh|room|input \S+ =|buffer %\d+) ?%?(.*?)(?: @\".*)?$", text, re.M))
        self.mesh, self.room = tuple(map(int, head.get("mesh", "").split())), int(head.get("room", ROOM))
        self.buffers = {name[8:]: Buffer(of, self.mesh) for name, of in head.items() if name.startswith("buffer")}
        self.inputs = {name[6:-2]: of.split()[0] for name, of in head.items() if name.startswith("input")}
        self.lines, number, repeats, first, last = [], {}, [], 0, 0
        for line in re.findall(r"^ *(?!buffer)(\S.*?)(?: @\".*)?$", text, re.M):
            if step := re.match(r"(?:kernel|move|fetch|zero|default|assert|repeat) (\d+)(?:\.\.(\d+))?", line):
                first, last = int(step[1]), int(step[2] or step[1])
            if stored := re.match(r"stage .*\[\] : i64 = (\d+) to %(\d+)\[\]", line):
                number[stored[2]] = int(stored[1])
            if bound := re.match(r"repeat .* < %(\d+)", line):
                repeats.append((last, number.get(bound[1], 1)))
            self.lines.append((first, last, math.prod(turns for end, turns in repeats if first <= end), line))

    def exchange(self, source, target, has, due, each, group, alike, wrap=(), parts=0, slices=1):
        """Each site gets what it is due from the sites of its group that have it. By site: the bytes that it receives,
        and those that this takes there, for parcels that are packed, once for sites that are alike, or received, and
        for what parts add up to. has, due, group, alike: by site. each: bytes of an element. parts: 0, or of how many
        partial results all is due; these come in slices, one at a time."""
        def in_place(buffer, s, found):
            """Whether it is one piece of a work buffer: all of the last dimensions, and single places in the first."""
            all_of = [sum(f) == len(x) for f, x in zip(found, buffer.boxes[s])]
            one = all(len(f) == 1 and (f == [1] or all(all_of[d + 1 :])) for d, f in enumerate(found))
            return one and buffer.work and not parts

        most = [elements(share(b, slices - 1, slices)) for b in due]
        got, packed = [0] * len(due), [{} for _ in due]
        room = [padded(elements(b)) if parts else 0 for b in due]
        for p, q in itertools.permutations(range(len(due)), 2):
            found = [pieces(*x) for x in itertools.zip_longest(due[q], has[p], [0, *wrap], fillvalue=0)]
            n = math.prod(map(sum, found)) if group[p] == group[q] else 0
            bytes_ = padded(min(n, most[q]) * each)
            got[q] += n
            room[q] += 0 if in_place(target, q, found) else bytes_
            if n and not in_place(source, p, found):
                packed[p].setdefault(alike[q], bytes_)
        if parts: # one from each site, even from those that predicates leave no point
            got = [(parts - 1) * elements(own) + lacking(own, [range(1), *h[1:]]) for own, h in zip(due, has)]
        return [(n * each, beside + sum(p.values())) for n, beside, p in zip(got, room, packed)]

    def halves(self, kind, source, of, target, onto, wrap, by, place):
        """What is exchanged in a move. A sum for all sites, and a broadcast of much, go by shares: each site of a group
        gets one, and then all get those of the others."""
        source, target, of, onto = self.buffers[source], self.buffers[target], of.split(), onto.split()
        axes, wrap = range(len(self.mesh)), json.loads(wrap or "[]")
        shared = [a for a in axes if of[a] == "+" != onto[a] or (of[a], onto[a]) == ("?", "*")]
        n, shares = math.prod(self.mesh[a] for a in shared), kind == "all_reduce"
        if kind == "broadcast" and not wrap:
            shares = n > 2 and elements(source.boxes[0]) * source.size * (n - 1) * (1 - 2 / n) >= SPREAD

        def along(axes):
            """By site, its place along some axes."""
            return [tuple(at[a] for a in axes) for at in places(self.mesh)]

        number = list(map(places([self.mesh[a] for a in shared]).index, along(shared)))
        due = [share(b, i, n) if shares else b for b, i in zip(target.boxes, number)]
        each, slices = target.size + (8 if place else 0), 0
        longest, at_once = max(map(elements, due)) * each, self.room // n
        if by and n > 1 and longest > at_once:
            slices = longest // min(SLICE, max(LEAST, at_once))
            slices = min(slices, max(4 * n, longest // LONG, -(-longest * n // self.room)))
        yield self.exchange(source, target, source.boxes, due, each,
                            along([a for a in axes if of[a] == "*" or of[a] == "+" and a not in shared]),
                            along([a for a in axes if shares or onto[a] != "*"]),
                            wrap, n if by else 0, slices if slices >= n else 1)
        for b in [target, *([self.buffers[place]] if place else [])] if shares else []:
            part = [share(x, i, n) for x, i in zip(b.boxes, number)]
            rest = [[range(0)] if h[0] and not by else x for h, x in zip(source.boxes, b.boxes)] # who sends all has it
            yield self.exchange(b, b, part, rest, b.size, along([a for a in axes if a not in shared]), along(axes))

    @functools.cached_property
    def counted(self):
        """The bytes that all sites receive, and the most that a site has at one step."""
        alive = [(*b.alive, [elements(x) * b.size for x in b.boxes]) for b in self.buffers.values()]
        change, received = [collections.Counter() for _ in places(self.mesh)], 0
        for first, last, times, line in self.lines:
            if move := MOVE.match(line):
                by_site = list(zip(*self.halves(*move.groups())))
                alive.append((first, last, [max(beside for _, beside in at) for at in by_site]))
                received += times * sum(got for at in by_site for got, _ in at)
        for first, last, by_site in alive:
            for by_step, n in zip(change, by_site):
                by_step[first] += n
                by_step[last + 1] -= n
        return received, max(max(itertools.accumulate(by[step] for step in sorted(by)), default=0) for by in change)


def check_memory(c):
    if c.uncounted:
        return None, c.uncounted
    n, said = c.tasks.counted[1], c.plan.memory.bytes
    return n == said, f"{n} bytes at the busiest site" + ("" if n == said else f", but the plan states {said}")


# ---- form: what the rest relies on -----------------------------------------------------------------------------------


def form_of_plan(plan):
    """(what, whether it is right). That a read is left out of the graph shows in the tasks, if it moves something; else
    it could only make the bound harder to prove."""
    mesh, tensors, vertices = plan.mesh, plan.tensors, plan.vertices

    def fits(on, extents, most):
        there = len(on) == len(mesh) and all(ALL <= d < len(extents) for d in on)
        return there and all(n <= m <= max(x, 1) for n, m, x in zip(counts(mesh, on, len(extents)), most, extents))

    idle = math.prod(mesh) < plan.sites and 210**64 % plan.sites # which has a prime factor of more than 7
    yield "sites", math.prod(mesh) == plan.sites or idle
    for i, t in enumerate(tensors):
        yield f"the bytes of {t.name}", t.bytes == math.prod(t.extents) * t.size
        yield f"the home of {t.name}", fits(t.home, t.extents, t.most)
        most = max(elements(box(mesh, at, t.home, t.extents)) for at in places(mesh))
        yield f"a block of {t.name}", t.block == most * t.size
        yield f"what makes {t.name}", t.vertex == (vertices[i].id if i < len(vertices) else None)
    for v, t in zip(vertices, tensors):
        cut, extents = counts(mesh, v.axes, len(v.labels)), [l.extent for l in v.labels]
        kept = tuple(l.extent for l in v.labels if not l.reduced)
        yield f"the name of {v.name}", v.name == t.name
        yield f"the cut of {v.name}", fits(v.axes, extents, v.most) and [l.count for l in v.labels] == cut
        yield f"the extents of {v.name}", kept == t.extents
        for r in v.reads:
            of, by_labels = tensors[r.tensor], r.called and not r.indices
            same = not by_labels or all(l < 0 or extents[l] == x for l, x in zip(r.labels, r.extents))
            whole = of.vertex is not None or math.prod(r.extents) == math.prod(of.extents)
            yield f"what {v.name} reads", r.tensor >= 0 and same and whole and len(r.labels) == len(r.extents)
    if plan.measure == "bytes" and plan.busiest:
        mine, limit = sum(work(v, mesh, v.axes) for v in vertices), plan.busiest.limit or math.inf
        same = abs(mine - plan.busiest.operations) <= 1e-9 * mine
        yield "work of the busiest site", same and mine <= limit * (1 + 1e-9)
    if plan.bound:
        equal = sum(n for _, _, n in chosen(equalized(plan, mesh)))
        own = {"bytes": max(equal, plan.bytes), "seconds": plan.get("seconds"), "ia": plan.get("elements")}
        yield "bound above the plan itself", plan.bound <= own[plan.measure] * (1 + 1e-9)


def form_of_tasks(plan, tasks):
    """Whether tasks use buffers while they are alive, of the size and dtype that stages store; the same."""
    yield "the mesh of the tasks", tasks.mesh == plan.mesh
    for first, last, _, line in tasks.lines:
        for n in re.findall(r"(?<![\w%])%(\d+)", line):
            start, end = tasks.buffers[n].alive
            part = line.startswith(("repeat", "exchange", "}", "output")) and start <= last and first <= end
            yield f"step {first}: %{n}", part or start <= first and last <= end
        if not line.startswith("stage"):
            continue
        bounds = {} # of a label that several reducers have, the smallest extent
        for label, n in re.findall(r"([^\s\[\],:]+):(\d+)", line):
            bounds[label] = min(bounds.get(label, math.inf), int(n))
        guarded = any(word in line for word in (" where ", "select(", " and "))
        for n, indices in re.findall(r"%(\d+)\[([^\[\]()]*)\]", line) if not guarded else ():
            room = zip(indices.split(", "), tasks.buffers[n].dims)
            yield f"step {first}: size of %{n}", not any(d.isdigit() and int(d) < bounds.get(i, 0) for i, d in room)
        for dtype, n in re.findall(r"^stage [^\[]*\[.*?\] : (\w+) = .* to %(\d+)\[", line):
            yield f"step {first}: dtype of %{n}", tasks.buffers[n].dtype == dtype
    for t in plan.tensors[len(plan.vertices) :]:
        if b := tasks.buffers.get(tasks.inputs.get(t.name)):
            there = [x for x in b.boxes if elements(x)]
            whole = math.prod(max(r.stop for r in ranges) for ranges in zip(*there)) if there else 0
            yield f"all blocks of {t.name}", t.bytes == whole * b.size == sum(map(elements, there)) * b.size


def check_form(c):
    found = [("tasks", bool(c.tasks) == c.plan.memory.measured), *form_of_plan(c.plan)]
    found += form_of_tasks(c.plan, c.tasks) if c.tasks else []
    wrong = [what for what, ok in found if not ok]
    return not wrong, "; ".join(wrong[:5]) or "names, extents, cuts and lives agree"


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


def equalized(plan, mesh):
    """The plan on a mesh, with more elements that are smaller, so that all blocks are equal."""
    def equal(t, n):
        one = n ** -len(t.extents)
        return Record(t, extents=tuple(x * n for x in t.extents), size=t.size * one, part=t.part * one)

    return Record(plan, mesh=mesh, tensors=[equal(t, math.prod(mesh)) for t in plan.tensors])


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
        sizes, tables = list(map(len, self.values)), []
        found = [(over, cost) for _, _, over, cost in edges(self.plan)]
        if sum(math.prod(sizes[x] for x in over) for over, _ in found) > most:
            raise OverflowError
        for over, cost in found:
            keys = itertools.product(*(range(sizes[x]) for x in over))
            tables.append((over, {k: cost(*(self.values[x][j] for x, j in zip(over, k))) for k in keys}))
        best, start = 0, enough / limit if limit else 0
        for price in [0, 1e-6 * start, *(start * 2.0**k for k in range(-6, 5))]:
            more = [([i], {(k,): price * w for k, w in enumerate(by)}) for i, by in enumerate(self.works)]
            best = max(best, eliminated(sizes, tables + more, most) - price * limit)
            if best >= enough:
                break
        return best


def check_bound(c, most):
    plan = c.plan
    why = "the plan states no bound" if plan.bound is None else \
        f"this checker searches plans by bytes, not by {plan.measure}" if plan.measure != "bytes" else \
        "pins or a plan file fix a part of the plan" if c.pinned else \
        "some sites are idle" if math.prod(plan.mesh) != plan.sites else \
        "windows and reads at indices from data are recounted, but not searched" \
        if any(r.indices or r.asked for v in plan.vertices for r in v.reads) else None
    if why or plan.bound == 0:
        return (None, why) if why else (True, "no plan moves less than 0 bytes")
    word = ("the certificate contains no proof of the bound; only ein claims that no plan moves less than "
            f"{plan.bound:.0f} bytes")
    # a mesh has an axis for each prime factor, or four axes if there are more factors, in every order
    meshes = next(found for k in (4, 3, 2, 1, 0) if (found := products(plan.sites, k)))
    spaces, claimed = [Space(plan, mesh) for mesh in meshes], plan.bound * (1 - 1e-9)
    limit = 2 * min(sum(map(min, s.works)) for s in spaces)
    if plan.busiest and plan.busiest.limit and abs(plan.busiest.limit - limit) > 1e-9 * limit:
        return False, f"the limit on work is {limit}, and not {plan.busiest.limit}"
    try:
        found = min(s.least(limit, claimed, most) for s in spaces)
    except OverflowError:
        return None, f"its space is too large to search here (--most), and {word}"
    words = (f"no plan on {len(spaces)} mesh{'es' * (len(spaces) > 1)} within twice the least work moves less than "
             f"{min(found, plan.bound):.0f} bytes")
    return (True, words) if found >= claimed else (None, f"this search shows only that {words}, and {word}")


# ---- a certificate ---------------------------------------------------------------------------------------------------


def completed(plan, equations=()):
    """Adds what follows: equations' entries, which vertices are states, the size of dtypes."""
    plan.update(mesh=tuple(plan.mesh))
    for v, equation in itertools.zip_longest(plan.vertices, equations, fillvalue={}):
        v.update(equation, axes=tuple(v.axes), state=v.equation.startswith("state "))
    for t in plan.tensors:
        t.update({key: tuple(t[key]) for key in ("extents", "most", "home")}, size=SIZE[t.dtype])


def check(path, most):
    """(True, False, or None if it was not checked; what; words), for each part. Only what has form can be counted."""
    found, what = [], "form"
    try:
        with open(path, encoding="utf-8") as f:
            c = json.load(f, object_hook=Record)
        if c.schema != "ein certificate 1":
            raise ValueError(c.schema)
    except OSError as e:
        return [(False, "certificate", f"cannot be read: {e.strerror}")]
    except Exception:
        return [(False, "certificate", "this file is not a certificate")]
    try:
        completed(c.plan, c.equations)
        c.update(tasks=Tasks(c.tasks) if c.tasks else None)
        c.update(uncounted="the plan has no tasks" if not c.tasks else
                 "on more than 256 sites not all moves are counted" if math.prod(c.tasks.mesh) > 256 else None)
        for what, part in (("form", check_form), ("bytes", check_bytes), ("memory", check_memory),
                           ("bound", functools.partial(check_bound, most=most))):
            ok, words = part(c)
            found.append((ok, what, words))
            if what == "form" and not ok:
                break
    except Exception as e: # whatever a file that is no sound certificate leads to
        found.append((False, what, f"cannot be read: {type(e).__name__} {e}"))
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
