#!/usr/bin/env python3
"""Checks a certificate, which `ein plan x.ein -n P --certificate c.json` writes.

Believed: the graph (labels of equations and their extents, what they read, how often they run, what predicates leave
to do), and that sites do what the text of the tasks says. Verified:

- *Form.* Names, extents, sizes and the work of the busiest site agree; cuts and homes have room; tasks use buffers
  that exist, are large enough and are alive.
- *Bytes*, twice. By the plan: an axis of the mesh cuts a label of each equation and a dimension of each tensor, or
  none, so a site's block of anything is a box; what moves is what sites need and do not have (`edges`). By the tasks:
  each parcel of each move, from one site's box to another's (`Exchange`). Reads by computed indices are counted in
  the tasks only. What is requested at places that data decide has no number but the plan's.
- *Memory.* At each site and step, the buffers that are alive, and what moves pack and receive (`recount`).
- *Bound.* No plan of the space in docs/plan.md ("What is searched, and what a bound is") costs less. A certificate
  contains no proof of that. So a small space is searched again: the sum of `edges`, with equal blocks, is minimized
  over all cuts and homes, on every mesh, by eliminating one variable after the other. Tables have at most N entries
  (--most N, default 3e5). If the space is larger, only ein vouches for the bound.

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

# ---- boxes: for each dimension, from and to; or None, if there is nothing --------------------------------------------
# A tuple of the mesh's length says what each of its axes cuts: the number of a label or dimension, or nothing. Then
ALL, PARTS, FIRST = -1, -2, -3 # there are along it: copies, partial results, or nothing but at the first place.


def places(mesh):
    return list(itertools.product(*map(range, mesh)))


def counts(mesh, on, n):
    return [math.prod(s for s, x in zip(mesh, on) if x == d) for d in range(n)]


def block(k, extent, count):
    return k * extent // count, (k + 1) * extent // count


def box(mesh, at, on, extents):
    """The block of the site at `at`. Of two axes that cut one dimension, the second cuts the blocks of the first."""
    k, n = [0] * len(extents), [1] * len(extents)
    for place, size, d in zip(at, mesh, on):
        if d == FIRST and place:
            return None
        if d >= 0:
            k[d], n[d] = k[d] * size + place, n[d] * size
    return list(map(block, k, extents, n))


def elements(b):
    return 0 if b is None else math.prod(max(0, to - low) for low, to in b)


def pieces(want, has, around=0):
    """The lengths of the pieces of one interval that lie in another, which returns every `around`, if that is not 0."""
    laps = range((want[0] - has[1]) // around, (want[1] - has[0]) // around + 1) if around else [0]
    found = [min(want[1], has[1] + k * around) - max(want[0], has[0] + k * around) for k in laps]
    return [n for n in found if n > 0]


def lacking(want, has):
    """The elements of one box that are not in another."""
    there = 0 if want is None or has is None else math.prod(sum(pieces(w, h)) for w, h in zip(want, has))
    return elements(want) - there


# ---- bytes by the plan: what reads and results move ------------------------------------------------------------------


def wanted(read, tensor, use):
    """What each axis cuts of the tensor for a reader whose axes cut the labels `use`."""
    dims = range(len(read["extents"])) if tensor["vertex"] is None else read["made"] # -1: such as the turns of a stack
    found = [(l, d) for l, d in zip(read["labels"], dims) if l >= 0 and d >= 0]
    return tuple(next((d for l, d in found if l == label), ALL) for label in use)


def made(vertex, use):
    """The dimension of the result that each axis cuts."""
    return tuple(PARTS if l >= 0 and vertex["labels"][l]["reduced"] else l for l in use)


def between(mesh, most, on, home):
    """Where partial results are reduced: in the dimension that home cuts, if there is room; else in one that no later
    axis cuts; else at the first place."""
    out = list(on)
    for a, use in enumerate(on):
        if use == PARTS:
            room = [d for d, n in enumerate(counts(mesh, out, len(most))) if n * mesh[a] <= most[d]]
            free = [d for d in room if d not in on[a + 1 :]]
            out[a] = home[a] if home[a] in room else free[0] if free else FIRST
    return out


@functools.lru_cache(None)
def moved(mesh, extents, here, there):
    """The elements that sites need but do not have."""
    return sum(lacking(box(mesh, at, there, extents), box(mesh, at, here, extents)) for at in places(mesh))


@functools.lru_cache(None)
def reduced(mesh, extents, most, on, home):
    """The elements of partial results that sites receive, and those then sent home."""
    share, group = between(mesh, most, on, home), math.prod(s for s, use in zip(mesh, on) if use == PARTS)
    boxes = [[box(mesh, at, x, extents) for x in (on, share, home)] for at in places(mesh)]
    parts = sum((group - 1) * elements(has) + lacking(has, own) for own, has, _ in boxes)
    return parts, sum(lacking(want, has) for _, has, want in boxes)


def edges(plan, mesh):
    """All that moves: (what, the bytes stated, variables, the bytes as a function of their values). The variables are
    the labels that axes cut of each vertex, and then, from len(vertices), the homes of tensors. Stated is None for
    reads by indices; the function counts them as if they were by labels."""
    vertices, tensors = plan["vertices"], plan["tensors"]

    def read(r, t, use, home):
        return r["times"] * t["size"] * moved(mesh, tuple(t["extents"]), home, wanted(r, t, use))

    def result(v, t, use, home):
        parts, after = reduced(mesh, tuple(t["extents"]), tuple(t["most"]), made(v, use), home)
        return 0 if v["state"] else v["times"] * (parts * t["part"] + after * t["size"])

    def copies(t, home):
        return t["bytes"] * (math.prod(s for s, d in zip(mesh, home) if d < 0) - 1)

    for i, v in enumerate(vertices):
        for r in v["reads"]: # a state is read where it has its home
            t, over = tensors[r["tensor"]], [i if r["called"] else len(vertices) + i, len(vertices) + r["tensor"]]
            said = None if r["indices"] else r["received"]
            yield f"{v['name']} reads {t['name']}", said, over, functools.partial(read, r, t)
    for i, t in enumerate(tensors):
        over, cost = [len(vertices) + i], functools.partial(copies, t)
        if i < len(vertices):
            over, cost = [i, len(vertices) + i], functools.partial(result, vertices[i], t)
        yield f"{t['name']} brought home", t["brought"], over, cost


def chosen(plan):
    """All that moves: (what, the bytes stated, the bytes counted)."""
    values = [tuple(v["axes"]) for v in plan["vertices"]] + [tuple(t["home"]) for t in plan["tensors"]]
    found = edges(plan, tuple(plan["mesh"]))
    return [(what, said, cost(*(values[x] for x in over))) for what, said, over, cost in found]


def check_bytes(c):
    plan, said, wrong = c["plan"], c["plan"]["bytes"], []
    reads = [r for v in plan["vertices"] for r in v["reads"]]

    def compare(what, said, mine):
        if said is not None and not abs(said - mine) <= 1e-9 * mine:
            wrong.append(f"{what}: {said}, but it should be {mine:.0f}")

    for edge in chosen(plan):
        compare(*edge)
    compare("the total", said, sum(r["received"] for r in reads) + sum(t["brought"] for t in plan["tensors"]))
    words = f"{said:.0f}, counted for each read and each result"
    if uncounted(c) is None:
        asked = sum(r["received"] for r in reads if r["asked"] and r["asked"]["bytes"] < r["asked"]["whole"])
        compare("what the tasks move", said - asked, recount(c["tasks"])[0])
        words += " and in the tasks" + (f", but {asked} that are requested at most" if asked else "")
    elif any(r["indices"] for r in reads) and not wrong:
        return None, f"windows and places from data are counted in the tasks, but {uncounted(c)}"
    return not wrong, "; ".join(wrong[:5]) or words


# ---- bytes and memory by the tasks -----------------------------------------------------------------------------------

BUFFER = re.compile(r"buffer %(\d+) (input|output|work)(?: \d+)?(?: [^\[ ]\S*)? ?\[(.*?)\] : (\w+)(?: low \[(.*?)\])?"
                    r"(?: when (\(.*?\)))?(?: alive (\d+)\.\.(\d+))?(?: @.*)?$")
MOVE = r"\s*move (\d+)(?:\.\.(\d+))? (\w+) %(\d+) at((?: \S+){{{n}}}) to %(\d+) at((?: \S+){{{n}}})" \
       r"(?: wrap \[(.*?)\])?( by \S+)?(?: places %\d+ to %(\d+))?"
ROOM = 1 << 26                 # bytes of partial results that arrive at once, unless the tasks have less room for them
SLICE = 1 << 16                # the smallest slice of longer ones, in bytes;
LEAST = 1 << 12                # and where those of all groups exceed the room
LONG = 1 << 22                 # the largest one, where there are more than four per group
SPREAD = 1 << 20               # a broadcast that saves as many bytes by it goes by shares


@functools.lru_cache(None)
def expression(text):
    """A size in the tasks, to be evaluated by Python: numbers, names and operators only, so no text runs a program;
    no powers and shifts, which a few digits make endless."""
    if not re.fullmatch(r"[\w\s()\[\]+*/%,<>=-]*", text) or "**" in text or "<<" in text:
        raise ValueError(text)
    return compile(text, text, "eval")


class Buffer:
    def __init__(self, line, mesh):
        self.number, space, self.dims, self.dtype, low, when, first, last = BUFFER.match(line).groups()
        self.work, self.size, self.mesh = space == "work", SIZE[self.dtype], mesh
        self.alive = (int(first), int(last)) if self.work else (0, math.inf) # else the caller's
        low = low or "0, " * (self.dims.count(",") + 1)
        self.ranges = expression(f"list(zip([{low}], [{self.dims}])) if {when or '1'} else None".replace("$", ""))

    @functools.cached_property
    def boxes(self):
        """By site."""
        names = {"min": min, "max": max, "zip": zip, "list": list, "__builtins__": {}}
        found = [eval(self.ranges, names | {f"at{a}": k for a, k in enumerate(at)}) for at in places(self.mesh)]
        return [None if b is None else [(low, low + n) for low, n in b] for b in found]


def mesh_of(tasks):
    return tuple(map(int, re.search(r"^mesh(.*)$", tasks + "\nmesh", re.M)[1].split()))


def buffers(tasks):
    return {b.number: b for b in (Buffer(line, mesh_of(tasks)) for line in re.findall(r"^buffer .*$", tasks, re.M))}


def padded(n):
    return -(-n // 64) * 64


def share(b, i, n):
    """Slice i of n of a box, along the first dimension that is long enough, else the longest."""
    shape = [to - low for low, to in b or []]
    if not shape:
        return b if i == 0 else None
    d = next((d for d, x in enumerate(shape) if x >= n), shape.index(max(shape)))
    low, to = block(i, shape[d], n)
    return None if low == to else b[:d] + [(b[d][0] + low, b[d][0] + to)] + b[d + 1 :]


class Exchange(collections.namedtuple("Exchange", "source target has due each group alike wrap parts slices")):
    """Each site gets what it is due from the sites of its group that have it. source, target: the buffers. has, due,
    group, alike: by site; those that are alike can get the same packed parcel. each: bytes of an element. parts: 0, or
    of how many partial results all is due; these come in slices, one at a time."""

    def parcel(self, p, q, buffer, whole):
        """The elements that site q gets from p, and the bytes that they take beside the buffer where they are, whose
        box is `whole`: none if they are one piece of a work buffer, all of the last dimensions and single places in
        the first."""
        has, due = self.has[p], self.due[q]
        if has is None or due is None:
            return 0, 0
        found = [pieces(*x) for x in itertools.zip_longest(due, has, self.wrap, fillvalue=0)]
        n, all_of = math.prod(map(sum, found)), [sum(f) == to - low for f, (low, to) in zip(found, whole)]
        one = all(len(f) == 1 and (f == [1] or all(all_of[d + 1 :])) for d, f in enumerate(found))
        at_once = min(n, elements(share(due, self.slices - 1, self.slices)))
        return n, 0 if one and buffer.work and not self.parts else padded(at_once * self.each)

    def at(self, s):
        """The bytes that a site receives, and those that this takes there: parcels packed, once for sites that are
        alike, and received; and a byte for each element that parts come to."""
        due, packed = self.due[s], {}
        got, room = 0, padded(elements(due)) if self.parts else 0
        for q in range(len(self.due)):
            if q != s and self.group[q] == self.group[s]:
                n, beside = self.parcel(q, s, self.target, self.target.boxes[s])
                got, room = got + n, room + beside
                _, beside = self.parcel(s, q, self.source, self.source.boxes[s])
                packed.setdefault(self.alike[q] if beside else None, beside)
        if self.parts: # one from each site, even if the block that it is of is empty
            got = (self.parts - 1) * elements(due) + lacking(due, self.has[s] or due)
        return got * self.each, room + sum(packed.values())


def exchanges(move, held, mesh, room):
    """A sum for all sites, and a broadcast of much, go by shares: each site of a group gets one, and then all get those
    of the others."""
    kind, source, of, target, onto, wrap, by, place = move
    source, target, of, onto, wrap = held[source], held[target], of.split(), onto.split(), json.loads(f"[{wrap or ''}]")
    axes = [a for a, (x, y) in enumerate(zip(of, onto)) if x == "+" != y or (x, y) == ("?", "*")]
    n, shares = math.prod(mesh[a] for a in axes), kind == "all_reduce"
    if kind == "broadcast" and not wrap:
        shares = n > 2 and elements(source.boxes[0]) * source.size * (n - 1) * (1 - 2 / n) >= SPREAD

    def along(which):
        """By site, its place along some axes."""
        return [tuple(k for a, k in enumerate(at) if which(a)) for at in places(mesh)]

    number = [places([mesh[a] for a in axes]).index(at) for at in along(lambda a: a in axes)]
    due = [share(b, i, n) if shares else b for b, i in zip(target.boxes, number)]
    each = target.size + (8 if place else 0)
    longest, slices = max(map(elements, due)) * each, 1
    if by and n > 1 and longest > room // n:
        slices = min(longest // min(SLICE, max(LEAST, room // n)), max(4 * n, longest // LONG, -(-longest * n // room)))
    yield Exchange(source, target, source.boxes, due, each,
                   along(lambda a: of[a] == "*" or of[a] == "+" and a not in axes),
                   along(lambda a: shares or onto[a] != "*"), wrap, n if by else 0, slices if slices >= n else 1)
    for b in [target, *([held[place]] if place else [])] if shares else []:
        part = [share(x, i, n) for x, i in zip(b.boxes, number)]
        rest = [None if h is not None and not by else x for h, x in zip(source.boxes, b.boxes)] # who sends all has it
        yield Exchange(b, b, part, rest, b.size, along(lambda a: a not in axes), places(mesh), (), 0, 1)


@functools.lru_cache(None)
def recount(tasks):
    """The bytes that all sites receive, and the most that a site has at one step."""
    held, mesh, received = buffers(tasks), mesh_of(tasks), 0
    room = int((re.findall(r"^room (\d+)$", tasks, re.M) or [ROOM])[0])
    turns = {n: int(k) for k, n in re.findall(r"^ *stage .*\[\] : i64 = (\d+) to %(\d+)\[\]", tasks, re.M)}
    repeats = re.findall(r"^ *repeat (\d+)(?:\.\.(\d+))? \S+ < %(\d+)", tasks, re.M)
    change = [collections.Counter() for _ in places(mesh)] # by site, of what is alive from a step on

    def alive(first, last, by_site):
        for by_step, n in zip(change, by_site):
            by_step[first] += n
            by_step[last + 1] -= n

    for b in held.values():
        alive(*b.alive, [elements(x) * b.size for x in b.boxes])
    for line in re.findall(r"^ *move .*$", tasks, re.M):
        first, last, *move = re.match(MOVE.format(n=len(mesh)), line).groups()
        ways = list(exchanges(move, held, mesh, room))
        by_site = [[x.at(s) for x in ways] for s in range(len(change))]
        alive(int(first), int(last or first), [max(beside for _, beside in at) for at in by_site])
        times = math.prod(turns.get(n, 1) for low, to, n in repeats if int(low) <= int(first) <= int(to or low))
        received += times * sum(got for at in by_site for got, _ in at)
    return received, max(max(itertools.accumulate(by[step] for step in sorted(by)), default=0) for by in change)


def uncounted(c):
    """Why the tasks are not recounted, or None."""
    return "the plan has no tasks" if c["tasks"] is None else \
        "on more than 256 sites not all moves are counted" if math.prod(mesh_of(c["tasks"])) > 256 else None


def check_memory(c):
    if uncounted(c):
        return None, uncounted(c)
    n, said = recount(c["tasks"])[1], c["plan"]["memory"]["bytes"]
    return n == said, f"{n} bytes at the busiest site" + ("" if n == said else f", but the plan states {said}")


# ---- form: what the rest relies on -----------------------------------------------------------------------------------

USE = r"(?<![\w%])%(\d+)"
STEP = re.compile(r"(?:kernel|move|fetch|zero|default|assert|repeat) (\d+)(?:\.\.(\d+))?")


def form_of_plan(plan, equations):
    """Whether extents and counts agree, and cuts and homes have room. That a read is left out of the graph shows in the
    tasks, if it moves something; else it could only make the bound harder to prove."""
    mesh, tensors, vertices = tuple(plan["mesh"]), plan["tensors"], plan["vertices"]
    idle = math.prod(mesh) < plan["sites"] and 210**64 % plan["sites"] # which has a prime factor of more than 7
    yield "sites", math.prod(mesh) == plan["sites"] or idle
    yield "an entry for each equation", len(equations) == len(vertices) <= len(tensors)

    def cut(on, extents, most):
        there = len(on) == len(mesh) and all(ALL <= d < len(extents) for d in on)
        return there and all(n <= m <= max(x, 1) for n, m, x in zip(counts(mesh, on, len(extents)), most, extents))

    for i, t in enumerate(tensors):
        yield f"{t['name']}: bytes", t["bytes"] == math.prod(t["extents"]) * t["size"]
        yield f"{t['name']}: home", cut(t["home"], t["extents"], t["most"])
        yield f"{t['name']}: its vertex", (t["vertex"] is None) == (i >= len(vertices))
    for v, t in zip(vertices, tensors):
        labels, name, extents = v["labels"], v["name"], [l["extent"] for l in v["labels"]]
        if not v["state"]:
            yield f"{name}: cut", cut(v["axes"], extents, v["most"])
            yield f"{name}: counts", [l["count"] for l in labels] == counts(mesh, v["axes"], len(labels))
            yield f"{name}: extents", [l["extent"] for l in labels if not l["reduced"]] == t["extents"]
            yield f"{name}: what it is called", name == t["name"]
        for r in v["reads"]:
            of, by_labels = tensors[r["tensor"]], r["called"] and not r["indices"]
            same = not by_labels or all(l < 0 or extents[l] == x for l, x in zip(r["labels"], r["extents"]))
            whole = of["vertex"] is not None or math.prod(r["extents"]) == math.prod(of["extents"])
            yield f"{name} reads {of['name']}: extents", same and whole and len(r["labels"]) == len(r["extents"])
    if plan["measure"] == "bytes" and plan["busiest"]:
        mine, limit = sum(work(v, mesh, v["axes"]) for v in vertices), plan["busiest"]["limit"] or math.inf
        same = abs(mine - plan["busiest"]["operations"]) <= 1e-9 * mine
        yield "work of the busiest site", same and mine <= limit * (1 + 1e-9)
    if plan["bound"]:
        equal = sum(n for _, _, n in chosen(equalized(plan, mesh)))
        own = {"bytes": max(equal, plan["bytes"]), "seconds": plan.get("seconds"), "ia": plan.get("elements")}
        yield "bound above the plan itself", plan["bound"] <= own[plan["measure"]] * (1 + 1e-9)


def form_of_tasks(plan, tasks):
    """Whether tasks use buffers that are declared, while they are alive, of the size and type that stages store."""
    held, first, last = buffers(tasks), 0, 0
    lines = re.findall(r"^ *(?!buffer)(\S.*?)(?: @\".*)?$", tasks, re.M)
    unknown = {n for line in lines for n in re.findall(USE, line)} - {*held}
    if unknown:
        yield f"no buffer %{min(unknown)}", False
        return
    for line in lines:
        if STEP.match(line):
            first, last = (int(x) for x in (STEP.match(line)[1], STEP.match(line)[2] or STEP.match(line)[1]))
        for n in re.findall(USE, line):
            start, end = held[n].alive
            part = line.startswith(("repeat", "exchange", "}", "output")) and start <= last and first <= end
            yield f"step {first}: %{n}", part or start <= first and last <= end
        if line.startswith("stage"):
            yield from form_of_stage(f"step {first}", line, held)
    for t in plan["tensors"]:
        n = re.search(rf"^input {re.escape(t['name'])} = %(\d+)", tasks, re.M)
        if t["vertex"] is None and n:
            yield f"{t['name']}, all blocks", sum(map(elements, held[n[1]].boxes)) * held[n[1]].size == t["bytes"]


def form_of_stage(step, line, held):
    bounds = {}
    for label, n in re.findall(r"([^\s\[\],:]+):(\d+)", line):
        bounds[label] = min(bounds.get(label, math.inf), int(n)) # of several reducers, the smallest extent
    guarded = any(word in line for word in (" where ", "select(", " and "))
    for n, indices in re.findall(r"%(\d+)\[([^\[\]()]*)\]", line) if not guarded else ():
        dims = zip(indices.split(", "), held[n].dims.split(", "))
        yield f"{step}: the size of %{n}", not any(d.isdigit() and int(d) < bounds.get(i, 0) for i, d in dims)
    for dtype, n in re.findall(r"^stage [^\[]*\[.*?\] : (\w+) = .* to %(\d+)\[", line):
        yield f"{step}: the dtype of a store", held[n].dtype == dtype


def check_form(c):
    plan, tasks = c["plan"], c["tasks"] or ""
    found = [("tasks", bool(tasks) == plan["memory"]["measured"])]
    wrong = [what for what, ok in [*found, *form_of_plan(plan, c["equations"]), *form_of_tasks(plan, tasks)] if not ok]
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
    """The plan with more elements that are smaller, so that all blocks are equal."""
    def equal(t, n):
        one = 1 / n ** len(t["extents"])
        return t | {"extents": [x * n for x in t["extents"]], "size": t["size"] * one, "part": t["part"] * one}

    return plan | {"tensors": [equal(t, math.prod(mesh)) for t in plan["tensors"]]}


def points(ties, has):
    """The most points of a block that predicates admit. has: how many values of each label the block has. A tie says
    how many values a label has if others are given; ties with the least share come first, and never form a cycle."""
    has, tied, depends = list(has), set(), [set() for _ in has]
    while True:
        on = [set(t["given"]).union(*(depends[l] for l in t["given"])) for t in ties]
        usable = [(t["values"] / has[t["label"]], k) for k, t in enumerate(ties)
                  if t["label"] not in tied | on[k] and t["values"] < has[t["label"]]]
        if not usable:
            return math.prod(has)
        _, k = min(usable)
        label = ties[k]["label"]
        has[label], depends[label] = ties[k]["values"], on[k]
        depends = [d | on[k] if label in d else d for d in depends]
        tied.add(label)


def work(vertex, mesh, use):
    """The operations of the site with the largest block, in a run."""
    has = [-(-l["extent"] // n) for l, n in zip(vertex["labels"], counts(mesh, use, len(vertex["labels"])))]
    each = 0 if vertex["state"] else max(1, vertex["operations"])
    return vertex["times"] * each * min(vertex["kept"], points(vertex["ties"], has))


def eliminated(sizes, tables, most):
    """The minimum of a sum of tables (variables, cost by their values): a variable's tables become one over all others
    that they have, with the least cost for these."""
    alone, left = 0, set(range(len(sizes)))
    while left:
        scope = {x: sorted({y for over, _ in tables if x in over for y in over} - {x}) for x in left}
        x = min(left, key=lambda x: (math.prod(sizes[y] for y in [x, *scope[x]]), x))
        if math.prod(sizes[y] for y in [x, *scope[x]]) > most:
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
    """All plans on a mesh: how many values each variable of `edges` has, what they move, and the work."""

    def __init__(self, plan, mesh, most):
        vertices = plan["vertices"]
        values = [[(ALL,) * len(mesh)] if v["state"] else ways(mesh, v["most"]) for v in vertices]
        self.works = [[work(v, mesh, use) for use in cuts] for v, cuts in zip(vertices, values)]
        values += [ways(mesh, t["most"]) for t in plan["tensors"]]
        self.sizes, self.tables, self.most = [len(v) for v in values], [], most
        found = [(sorted(set(over)), over, cost) for _, _, over, cost in edges(equalized(plan, mesh), mesh)]
        if sum(math.prod(self.sizes[x] for x in own) for own, _, _ in found) > most:
            raise OverflowError
        for own, over, cost in found:
            keys = itertools.product(*(range(self.sizes[x]) for x in own))
            self.tables.append((own, {k: cost(*(values[x][k[own.index(x)]] for x in over)) for k in keys}))

    def least(self, limit, enough):
        """A lower bound for plans on this mesh within the limit of work: for any price of an operation, min(cost +
        price * work) - price * limit. Prices are tried until it is enough."""
        best, start = 0, enough / limit if limit else 0
        for price in [0, 1e-6 * start, *(start * 2.0**k for k in range(-6, 5))]:
            more = [([i], {(k,): price * w for k, w in enumerate(by)}) for i, by in enumerate(self.works)]
            best = max(best, eliminated(self.sizes, self.tables + more, self.most) - price * limit)
            if best >= enough:
                break
        return best


def check_bound(c, most):
    plan = c["plan"]
    why = "the plan states no bound" if plan["bound"] is None else \
        f"this checker searches plans by bytes, not by {plan['measure']}" if plan["measure"] != "bytes" else \
        "pins or a plan file fix a part of the plan" if c["pinned"] else \
        "some sites are idle" if math.prod(plan["mesh"]) != plan["sites"] else \
        "windows and reads at indices from data are recounted, but not searched" \
        if any(r["indices"] or r["asked"] for v in plan["vertices"] for r in v["reads"]) else None
    if why or plan["bound"] == 0:
        return (None, why) if why else (True, "no plan moves less than 0 bytes")
    word = ("the certificate contains no proof of the bound; only ein claims that no plan moves less than "
            f"{plan['bound']:.0f} bytes")
    # a mesh has an axis for each prime factor, or four axes if there are more factors, in every order
    meshes = next(found for k in (4, 3, 2, 1, 0) if (found := products(plan["sites"], k)))
    try:
        spaces, claimed = [Space(plan, mesh, most) for mesh in meshes], plan["bound"] * (1 - 1e-9)
        limit = 2 * min(sum(map(min, s.works)) for s in spaces)
        found = min(s.least(limit, claimed) for s in spaces)
    except OverflowError:
        return None, f"its space is too large to search here (--most), and {word}"
    words = (f"no plan on {len(spaces)} mesh{'es' * (len(spaces) > 1)} within twice the least work moves less than "
             f"{min(found, plan['bound']):.0f} bytes")
    return (True, words) if found >= claimed else (None, f"this search shows only that {words}, and {word}")


# ---- a certificate ---------------------------------------------------------------------------------------------------


def completed(plan, equations=()):
    for v, equation in itertools.zip_longest(plan["vertices"], equations, fillvalue={}):
        v.update(equation, state=v["equation"].startswith("state "))
    for t in plan["tensors"]:
        t["size"] = SIZE[t["dtype"]]


def check(path, most):
    """(True, False, or None if it was not checked; what; words), for each part. Only what has form can be counted."""
    found, what, c = [], "certificate", None
    parts = {"form": check_form, "bytes": check_bytes, "memory": check_memory, "bound": lambda c: check_bound(c, most)}
    try:
        with open(path, encoding="utf-8") as f:
            c = json.load(f)
    except OSError as e:
        return [(False, what, f"cannot be read: {e.strerror}")]
    except (ValueError, RecursionError):
        pass
    if not isinstance(c, dict) or c.get("schema") != "ein certificate 1":
        return [(False, what, "this file is not a certificate")]
    try:
        completed(c["plan"], c["equations"])
        for what, part in parts.items():
            ok, words = part(c)
            found.append((ok, what, words))
            if what == "form" and not ok:
                break
    except (LookupError, ValueError, AttributeError, TypeError, ArithmeticError, NameError, SyntaxError,
            RecursionError) as e:
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
