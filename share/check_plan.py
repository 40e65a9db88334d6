#!/usr/bin/env python3
"""Checks a certificate, which `ein plan x.ein -n P --certificate c.json` writes. Trusts only the graph in it.

What is claimed, and why the check suffices:

- *Bytes.* The mesh has a site at each place. An axis of it cuts a label of each equation and a dimension of each
  tensor, or none: so a site's block of anything is a box, found in `box` alone. What a read moves is what a site needs
  and does not have, added over sites; a result moves its partial results and then its blocks. `edges` lists all reads
  and results with these costs. Each is compared with the stated number, and their sum with the stated sum.
- *Memory.* The text of the tasks has each buffer's size as an expression of a site's place, and the steps in which it
  is alive. `peak` adds up, at each site and step, what is alive, with what moves pack and receive.
- *Form.* What the rest relies on: equations read what they name, extents and sizes agree, cuts have room, and tasks use
  buffers that exist, are large enough and are alive.
- *Bound.* No plan of the space in docs/plan.md ("What is searched, and what a bound is") costs less. A certificate
  contains no proof of that. So a small space is searched again: the sum of the same `edges`, with equal blocks, is
  minimized over all cuts and homes, on every mesh, by eliminating one variable after the other. That takes at most N
  table entries (--most N, default 3e5), seconds to a minute. If the space is larger, only ein vouches for the bound.

Each line says what was checked, or why it was not. The exit code is 1 if a check fails and, with --strict, 2 if
something was not checked. Needs only Python."""
import argparse
import ast
import collections
import functools
import itertools
import json
import math
import operator
import re
import sys

SIZE = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "f16": 2, "bf16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8}


@functools.lru_cache(None)
def expression(text):
    """A size in the tasks, to be evaluated by Python: numbers, names and operators only, so no text runs a program;
    no powers and shifts, which a few digits make endless."""
    if not re.fullmatch(r"[\w\s()\[\]+*/%,<>=-]*", text) or "**" in text or "<<" in text:
        raise ValueError(text)
    return compile(text, text, "eval")


# ---- blocks: half-open intervals, by dimension -----------------------------------------------------------------------
# A tuple of the mesh's length says what each of its axes cuts: the number of a label or dimension, or nothing. Then
ALL, PARTS, FIRST = -1, -2, -3 # there are along it: copies, partial results, or nothing but at the first place.


def places(mesh):
    return itertools.product(*map(range, mesh))


def counts(mesh, on, n):
    return [math.prod(s for s, x in zip(mesh, on) if x == d) for d in range(n)]


def block(k, extent, count):
    """Block k of count. Blocks have whole elements; a float extent is cut into equal blocks."""
    if isinstance(extent, float):
        return k * extent / count, (k + 1) * extent / count
    return k * extent // count, (k + 1) * extent // count


def box(mesh, at, on, extents):
    """The block of the site at `at`. Of two axes that cut one dimension, the second cuts the blocks of the first."""
    k, n = [0] * len(extents), [1] * len(extents)
    for place, size, d in zip(at, mesh, on):
        if d >= 0:
            k[d], n[d] = k[d] * size + place, n[d] * size
    return list(map(block, k, extents, n))


def elements(b):
    return math.prod(max(0, to - low) for low, to in b)


def runs(want, has, around=0):
    """The lengths of the pieces of one interval that lie in another, which returns every `around`, if that is not 0."""
    laps = range((want[0] - has[1]) // around, (want[1] - has[0]) // around + 1) if around else [0]
    found = [min(want[1], has[1] + k * around) - max(want[0], has[0] + k * around) for k in laps]
    return [n for n in found if n > 0]


def lacking(want, has):
    """The elements of one block that are not in another."""
    return elements(want) - math.prod(sum(runs(w, h)) for w, h in zip(want, has))


# ---- bytes: what reads and results move ------------------------------------------------------------------------------


def size(tensor):
    return SIZE[tensor["dtype"]]


def is_state(vertex):
    return vertex["equation"].startswith("state ")


def dimensions(read, tensor):
    """For each dimension of a read, that of the tensor; -1: there is none, such as for the turns of a stack."""
    return range(len(read["extents"])) if tensor["vertex"] is None else read["made"]


def wanted(read, tensor, use):
    """What each axis cuts of the tensor for a reader whose axes cut the labels `use`."""
    dims = list(zip(read["labels"], dimensions(read, tensor)))
    return tuple(next((d for l, d in dims if l == label >= 0 and d >= 0), -1) for label in use)


@functools.lru_cache(None)
def moved(mesh, extents, here, there, equal=False):
    """The elements that sites need but do not have."""
    extents = [float(x) for x in extents] if equal else extents
    return sum(lacking(box(mesh, at, there, extents), box(mesh, at, here, extents)) for at in places(mesh))


def between(mesh, most, made, home):
    """Where partial results are reduced: in the dimension that home cuts, if there is room; else in one that no later
    axis cuts; else at the first place."""
    out = list(made)
    for a, use in enumerate(made):
        if use == PARTS:
            room = [d for d, n in enumerate(counts(mesh, out, len(most))) if n * mesh[a] <= most[d]]
            free = [d for d in room if d not in made[a + 1 :]]
            out[a] = home[a] if home[a] in room else free[0] if free else FIRST
    return out


@functools.lru_cache(None)
def reduced(mesh, extents, most, made, home, equal=False):
    """The elements of partial results that sites receive, and those then sent home."""
    extents = [float(x) for x in extents] if equal else extents
    share, parts, after = between(mesh, most, made, home), 0, 0
    group = math.prod(s for s, use in zip(mesh, made) if use == PARTS)
    for at in places(mesh):
        want, has = box(mesh, at, home, extents), box(mesh, at, share, extents)
        if any(k for k, d in zip(at, share) if d == FIRST): # another site has it
            after += elements(want)
        else:
            parts += (group - 1) * elements(has) + lacking(has, box(mesh, at, made, extents))
            after += lacking(want, has)
    return parts, after


def made(vertex, use):
    """The dimension of the result that each axis cuts."""
    kept = sum(not l["reduced"] for l in vertex["labels"])
    return tuple(PARTS if l >= kept else l for l in use)


def edges(plan, mesh, equal=False):
    """All that moves: (what, the bytes stated, variables, the bytes as a function of their values). The variables are
    the labels that axes cut of each vertex, and then, from len(vertices), the homes of tensors. With equal blocks,
    reads by indices count as if they were by labels."""
    vertices, tensors = plan["vertices"], plan["tensors"]

    def read(v, r, use, home):
        t = tensors[r["tensor"]]
        if r["indices"] and not equal:
            n = windows(mesh, r, t, v, use, home)
        else:
            n = moved(mesh, tuple(t["extents"]), home, wanted(r, t, use), equal)
        n *= r["times"] * size(t)
        return min(n, asked(mesh, r, t, v, home)) if r["asked"] and not equal else n

    def result(i, use, home):
        if is_state(vertices[i]):
            return 0
        t = tensors[i]
        parts, after = reduced(mesh, tuple(t["extents"]), tuple(t["most"]), made(vertices[i], use), home, equal)
        return vertices[i]["times"] * (parts * t["part"] + after * size(t))

    def copies(t, home):
        return tensors[t]["bytes"] * (math.prod(s for s, d in zip(mesh, home) if d < 0) - 1)

    for i, v in enumerate(vertices):
        for r in v["reads"]: # a state is read where it has its home
            over = [i if r["called"] else len(vertices) + i, len(vertices) + r["tensor"]]
            what = f"{v['name']} reads {tensors[r['tensor']]['name']}"
            yield what, r["received"], over, functools.partial(read, v, r)
    for t, tensor in enumerate(tensors):
        home, brought = len(vertices) + t, f"{tensor['name']} brought home"
        if t < len(vertices):
            yield brought, tensor["brought"], [t, home], functools.partial(result, t)
        else:
            yield brought, tensor["brought"], [home], functools.partial(copies, t)


def chosen(plan):
    """The values that the plan gives the variables of its edges."""
    return [tuple(v["axes"]) for v in plan["vertices"]] + [tuple(t["home"]) for t in plan["tensors"]]


def check_bytes(c):
    plan = c["plan"]
    mesh, values, wrong, total = tuple(plan["mesh"]), chosen(plan), [], 0
    for what, said, over, cost in edges(plan, mesh):
        mine = cost(*(values[x] for x in over))
        total += mine
        wrong += [] if abs(said - mine) <= 1e-9 * mine else [f"{what}: {said}, but it should be {mine}"]
    if not abs(plan["bytes"] - total) <= 1e-9 * total:
        wrong.append(f"the total: {plan['bytes']}, but it should be {total}")
    return not wrong, "; ".join(wrong[:5]) or f"{total:.0f}, counted for each read and each result"


# ---- bytes: reads by indices -----------------------------------------------------------------------------------------

OPERATORS = {"max": max, "min": min, "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul,
             "FloorDiv": operator.floordiv, "neg": operator.neg, "USub": operator.neg}


def interval(tree, labels):
    """The least and the largest value of an index, given as a Python expression, over a block of labels. KeyError: it
    has other operators than these, or reads data."""
    if isinstance(tree, ast.Constant):
        return tree.value, tree.value
    if isinstance(tree, ast.Name):
        low, to = labels[int(tree.id[1:])]
        return low, to - 1
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
    """The part of a dimension that an index reaches: from, to. All of it, if that is not known."""
    low, high, around = found or (0, extent - 1, 0)
    return (0, extent) if around else (max(low, 0), max(min(high + 1, extent), low, 0))


def window(mesh, at, read, use, labels):
    """What a site needs, for each dimension: from, to, and the extent at which it wraps (for e % extent, if no site's
    range is longer), else 0. A dimension whose index has no label that is cut is needed whole."""
    out = []
    for index, extent in zip(read["indices"], read["extents"]):
        cut = any(int(l) in use for l in re.findall(r"\bl(\d+)\b", index or ""))
        found, around = reach(index, box(mesh, at, use, labels)) if cut else None, 0
        if found and found[2] == extent:
            everywhere = [reach(index, box(mesh, a, use, labels)) for a in places(mesh)]
            around = extent if max(high - low for low, high, _ in everywhere) < extent else 0
        out.append((found[0], found[1] + 1, extent) if around else (*inside(found, extent), 0))
    return out


def held(mesh, at, read, tensor, home):
    """What a site has, by the dimensions of the read."""
    own, out = box(mesh, at, home, tensor["extents"]), []
    for d, extent in zip(dimensions(read, tensor), read["extents"]):
        by = extent // max(1, tensor["extents"][d]) if d >= 0 else 0
        out.append((own[d][0] * by, own[d][1] * by) if d >= 0 else (0, extent))
    return out


def windows(mesh, read, tensor, vertex, use, home):
    """The elements that sites receive for indices."""
    n, labels = 0, [l["extent"] for l in vertex["labels"]]
    for at in places(mesh):
        want, has = window(mesh, at, read, use, labels), held(mesh, at, read, tensor, home)
        n += elements(w[:2] for w in want) - math.prod(sum(runs(w[:2], h, w[2])) for w, h in zip(want, has))
    turns = max(1, math.prod(read["extents"]) // max(1, math.prod(tensor["extents"])))
    return n / turns # of a stack, whose dimensions include the turns, as `times` does


def asked(mesh, read, tensor, vertex, home):
    """The most bytes received if sites request places, each once: points request the most expensive places first."""
    request, by_place, n = 8 * sum(read["asked"]["places"]), read["asked"]["places"], 0
    owners = [set(column) for column in zip(*(held(mesh, at, read, tensor, home) for at in places(mesh)))]
    for at in places(mesh):
        labels = box(mesh, at, vertex["axes"], [l["extent"] for l in vertex["labels"]])
        want = [inside(index and reach(index, labels), x) for index, x in zip(read["indices"], read["extents"])]
        here = [sum(runs(w, h)) for w, h in zip(want, held(mesh, at, read, tensor, home))]
        there = [to - low for low, to in want]
        all_places, own_places, piece, own_piece = (
            math.prod(x for x, p in zip(of, by_place) if p == kind) for kind in (True, False) for of in (there, here))
        blocks = math.prod(
            sum(bool(runs(w, o)) for o in own) or 1 for w, own, p in zip(want, owners, by_place) if not p)
        answer = piece * size(tensor) + blocks * request if piece else 0
        saved = own_piece * size(tensor) + request if own_piece else 0 # where the site has a block of the slice itself
        points = elements(labels[l] for l in read["asked"]["points"])
        away = min(points, all_places - own_places)
        n += away * answer + min(points - away, own_places) * (answer - saved)
    return read["asked"]["times"] * n


# ---- memory: the tasks of all sites ----------------------------------------------------------------------------------

BUFFER = re.compile(r"buffer %(\d+) (input|output|work)(?: \d+)?(?: [^\[ ]\S*)? ?\[(.*?)\] : (\w+)(?: low \[(.*?)\])?"
                    r"(?: when (\(.*?\)))?(?: alive (\d+)\.\.(\d+))?(?: @.*)?$")


class Buffer:
    def __init__(self, line):
        self.number, space, self.dims, self.dtype, low, when, first, last = BUFFER.match(line).groups()
        self.work, self.size = space == "work", SIZE[self.dtype]
        self.alive = (int(first), int(last)) if self.work else (0, math.inf) # else the caller's
        low = low or "0, " * (self.dims.count(",") + 1)
        self.ranges = expression(f"list(zip([{low}], [{self.dims}])) if {when or '1'} else None".replace("$", ""))

    def box(self, at):
        """A site's block: a range for each dimension, or None if it has nothing."""
        ranges = eval(self.ranges, at)
        return None if ranges is None or any(n <= 0 for _, n in ranges) else [(low, low + n) for low, n in ranges]

    def bytes(self, at):
        return volume(self.box(at)) * self.size


def volume(b):
    return 0 if b is None else elements(b)


def padded(n):
    return -(-n // 64) * 64


def mesh_of(tasks):
    found = re.search(r"^mesh(.*)$", tasks, re.M)
    return [int(n) for n in found.group(1).split()] if found else []


def sites_of(tasks):
    """The variables of each site's place along the axes."""
    functions = {"min": min, "max": max, "zip": zip, "list": list, "__builtins__": {}}
    for at in places(mesh_of(tasks)):
        yield functions | {f"at{k}": i for k, i in enumerate(at)}


def buffers(tasks):
    return {b.number: b for b in map(Buffer, re.findall(r"^buffer .*$", tasks, re.M))}


# ---- memory: what moves pack and receive -----------------------------------------------------------------------------

MOVE = r"\s*move (\d+)(?:\.\.(\d+))? (\w+) %(\d+) at((?: \S+){{{n}}}) to %(\d+) at((?: \S+){{{n}}})" \
       r"(?: wrap \[(.*?)\])?( by \S+)?(?: places %\d+ to %(\d+))?"
ROOM = 1 << 26                 # bytes of partial results that arrive at once, unless the tasks have less room for them
SLICE = 1 << 16                # the smallest slice of longer ones, in bytes
LONG = 1 << 22                 # the largest one, where there are more than four per group
SPREAD = 1 << 20               # a broadcast that saves as many bytes by it goes by shares


def along(shape, n):
    """The dimension that is cut into n slices: the first that is long enough, else the longest."""
    longest = max(range(len(shape)), key=lambda d: (shape[d], -d), default=None)
    return next((d for d, x in enumerate(shape) if x >= n), longest)


def share(b, i, n):
    """Slice i of n of a box; None: there is nothing in it."""
    d = along([to - low for low, to in b or []], n)
    if b is None or d is None:
        return b if i == 0 else None
    low, to = block(i, b[d][1] - b[d][0], n)
    return None if low == to else b[:d] + [(b[d][0] + low, b[d][0] + to)] + b[d + 1 :]


class Parcels:
    """What goes from sites that have boxes `has` to sites that get boxes `due`, by site. source, target: the buffer
    there, and its box by site. group: only sites of one group exchange parcels. alike: what is equal where one packed
    parcel serves several sites. each: bytes of an element. slices: these are partial results of so many sites, which
    have room for so many bytes at once; longer ones come in rounds, one slice at a time."""

    def __init__(self, has, due, source, target, each, group, alike, wrap=(), slices=None):
        self.has, self.due, self.source, self.target, self.each = has, due, source, target, each
        self.group, self.alike, self.wrap, self.parts, self.slices = group, alike, wrap, slices is not None, 1
        if self.parts:
            (groups, at_once), longest = slices, max(map(volume, due)) * each
            n = min(longest // SLICE, max(4 * groups, longest // LONG))
            self.slices = n if groups > 1 and longest > at_once // groups and n >= groups else 1

    def packed(self, p, q, buffer, whole):
        """The bytes of the parcel from site p to q beside the buffer that it is in, which has the box `whole`: none if
        it is one piece of a work buffer: all of the last dimensions, a run in one, and single places in the first."""
        has, due, n, straight, rest = self.has[p], self.due[q], 1, buffer.work and not self.parts, True
        if has is None or due is None:
            return 0
        for d in reversed(range(len(has))):
            found = runs(due[d], has[d], self.wrap[d] if self.wrap else 0)
            straight = straight and len(found) == 1 and (rest or found == [1])
            rest = rest and sum(found) == whole[d][1] - whole[d][0]
            n *= sum(found)
        if self.slices > 1:
            shape = [to - low for low, to in due]
            d = along(shape, self.slices)
            n = min(n, math.prod(shape) // shape[d] * -(-shape[d] // self.slices) if shape else 1)
        return 0 if straight else padded(n * self.each)

    def staged(self, s):
        """The bytes beside buffers at a site: parcels packed, once for sites that get the same, and received; and a
        byte for each element that parts come to."""
        n, once = padded(volume(self.due[s])) if self.parts else 0, {}
        for q in range(len(self.has)):
            if q != s and self.group[q] == self.group[s]:
                out = self.packed(s, q, self.source[0], self.source[1][s])
                if out:
                    once.setdefault(self.alike[q], out)
                n += self.packed(q, s, self.target[0], self.target[1][s])
        return n + sum(once.values())


class Move:
    """A move's memory. A sum for all sites, and a broadcast of much, go by shares: each site of a group gets one, and
    then all get those of the others."""

    def __init__(self, line, held, sites, mesh, at_once):
        step, end, kind, source, of, target, onto, wrap, by, place = re.match(MOVE.format(n=len(mesh)), line).groups()
        self.alive, source, target = (int(step), int(end or step)), held[source], held[target]
        of, onto = of.split(), onto.split()
        has, want = ([b.box(at) for at in sites] for b in (source, target))
        axes, shares = [a for a, (x, y) in enumerate(zip(of, onto)) if x == "+" != y], kind == "all_reduce"
        if kind == "broadcast" and not wrap:
            spread = [a for a, (x, y) in enumerate(zip(of, onto)) if x == "?" and y == "*"]
            n = math.prod(mesh[a] for a in spread)
            shares = n > 2 and volume(has[0]) * source.size * (n - 1) * (1 - 2 / n) >= SPREAD
            axes = spread if shares else axes

        def along_axes(which):
            """By site, its place along some axes."""
            return [tuple(k for a, k in enumerate(p) if which(a)) for p in places(mesh)]

        rank = {p: k for k, p in enumerate(places([mesh[a] for a in axes]))} # of a site in its group
        number = [rank[p] for p in along_axes(lambda a: a in axes)]
        self.halves = [Parcels(
            has, [share(b, i, len(rank)) for b, i in zip(want, number)] if shares else want, (source, has),
            (target, want), target.size + (8 if place else 0), wrap=[int(x) for x in wrap.split(",")] if wrap else (),
            group=along_axes(lambda a: of[a] == "*" or of[a] == "+" and a not in axes),
            alike=along_axes(lambda a: shares or onto[a] != "*"), slices=(len(rank), at_once) if by else None)]
        for b in [target, *([held[place]] if place else [])] if shares else []:
            boxes = [b.box(at) for at in sites]
            part = [share(x, i, len(rank)) for x, i in zip(boxes, number)]
            rest = [None if h is not None and not by else x for h, x in zip(has, boxes)] # who sends all has it
            self.halves.append(Parcels(part, rest, (b, boxes), (b, boxes), b.size,
                                       group=along_axes(lambda a: a not in axes), alike=along_axes(lambda a: True)))

    def staged(self, s):
        return max(half.staged(s) for half in self.halves)


def moves(tasks, held, sites):
    """Those whose memory is counted: none with more than 4096 sites. (If a buffer is not there, the form is wrong.)"""
    room = re.search(r"^room (\d+)$", tasks, re.M)
    at_once, mesh = int(room.group(1)) if room else ROOM, mesh_of(tasks)
    lines = re.findall(r"^ *move .*$", tasks, re.M) if len(sites) <= 4096 else []
    return [Move(line, held, sites, mesh, at_once) for line in lines if {*re.findall(r" %(\d+) at ", line)} <= {*held}]


def peak(tasks):
    """The most bytes that a site has at one step. With many sites, the memory of moves is counted at some of them."""
    most, held, sites = 0, buffers(tasks), list(sites_of(tasks))
    all_moves = moves(tasks, held, sites)
    for s, at in enumerate(sites):
        change = collections.Counter()
        there = [(b.alive, b.bytes(at)) for b in held.values()]
        if len(sites) <= 256 or s % (len(sites) // 64) == 0 or s + 1 == len(sites):
            there += [(m.alive, m.staged(s)) for m in all_moves]
        for (first, last), n in there:
            change[first] += n
            change[last + 1] -= n
        most = max(most, max(itertools.accumulate(change[step] for step in sorted(change)), default=0))
    return most


def check_memory(c):
    if c["tasks"] is None:
        return None, "the plan has no tasks"
    n, said = peak(c["tasks"]), c["plan"]["memory"]["bytes"]
    return n == said, f"{n} bytes at the busiest site" + ("" if n == said else f", but the plan states {said}")


# ---- form: the plan and its tasks are consistent ---------------------------------------------------------------------

REDUCERS = {"sum", "prod", "max", "min", "any", "all"} # in an equation, `sum[k]` reads no tensor of this name


def form_of_plan(c):
    plan, mesh, tensors, vertices = c["plan"], c["plan"]["mesh"], c["plan"]["tensors"], c["plan"]["vertices"]
    idle = math.prod(mesh) < plan["sites"] and 210**64 % plan["sites"] # which has a prime factor of more than 7
    yield "sites", math.prod(mesh) == plan["sites"] or idle
    yield "an entry for each equation", len(c["equations"]) == len(vertices) <= len(tensors)

    def cut(on, extents, most):
        there = len(on) == len(mesh) and all(-1 <= d < len(extents) for d in on)
        return there and all(n <= m <= max(x, 1) for n, m, x in zip(counts(mesh, on, len(extents)), most, extents))

    for i, t in enumerate(tensors):
        yield f"{t['name']}: bytes", t["bytes"] == math.prod(t["extents"]) * SIZE[t["dtype"]]
        yield f"{t['name']}: home", cut(t["home"], t["extents"], t["most"])
        yield f"{t['name']}: its vertex", (t["vertex"] is None) == (i >= len(vertices))
    for v, t in zip(vertices, tensors):
        labels, name, extents = v["labels"], v["name"], [l["extent"] for l in v["labels"]]
        if not is_state(v):
            called, said = v["equation"].split(" = ", 1)
            named = {n.lstrip("-") for n in re.findall(r"([^\s()\[\],]+)\[", said)} - REDUCERS
            yield f"{name}: cut", cut(v["axes"], extents, v["most"])
            yield f"{name}: counts", [l["count"] for l in labels] == counts(mesh, v["axes"], len(labels))
            yield f"{name}: extents", [l["extent"] for l in labels if not l["reduced"]] == t["extents"]
            yield f"{name}: what it is called", name == t["name"] and (name[0] == "%" or called.split("[")[0] == name)
            read = {tensors[r["tensor"]]["name"] for r in v["reads"]} # and, of several called x: x.2, written x
            missing = named & {x["name"] for x in tensors} - read - {re.sub(r"\.\d+$", "", n) for n in read}
            yield f"{name}: {v['equation']}", not missing
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
        values = chosen(plan)
        equal = sum(cost(*(values[x] for x in over)) for _, _, over, cost in edges(plan, tuple(mesh), equal=True))
        own = {"bytes": max(equal, plan["bytes"]), "seconds": plan.get("seconds"), "ia": plan.get("elements")}
        yield "bound above the plan itself", plan["bound"] <= own[plan["measure"]] * (1 + 1e-9)


def form_of_tasks(c):
    """Whether tasks use buffers that are declared, while they are alive, of the size and type that stages store."""
    held, step, end = buffers(c["tasks"] or ""), 0, 0
    yield "tasks", (c["tasks"] is not None) == c["plan"]["memory"]["measured"]
    for line in (c["tasks"] or "").splitlines():
        line = line.split(' @"')[0].strip()
        word, rest = (line.split(" ", 1) + [""])[:2]
        if word == "buffer":
            continue
        if word in ("kernel", "move", "fetch", "zero", "default", "assert", "repeat"):
            step, end = ([*map(int, re.match(r"(\d+)(?:\.\.(\d+))?", rest).group().split(".."))] * 2)[:2]
        for number in re.findall(r"(?<![\w%])%(\d+)", line):
            first, last = held[number].alive if number in held else (math.inf, 0)
            part = word in ("repeat", "exchange", "}", "output") and first <= end and step <= last
            yield f"step {step}: %{number}", part or first <= step and end <= last
        if word == "stage":
            yield from form_of_stage(step, line, held)
    for t in c["plan"]["tensors"] if c["tasks"] is not None else ():
        number = re.search(rf"^input {re.escape(t['name'])} = %(\d+)", c["tasks"], re.M)
        if t["vertex"] is None and number:
            there = sum(held[number.group(1)].bytes(at) for at in sites_of(c["tasks"]))
            yield f"{t['name']}, all blocks", there == t["bytes"]


def form_of_stage(step, line, held):
    bounds = {}
    for label, n in re.findall(r"([^\s\[\],:]+):(\d+)", line):
        bounds[label] = min(bounds.get(label, math.inf), int(n)) # a label of several reducers has the smallest extent
    guarded = any(word in line for word in (" where ", "select(", " and "))
    for number, indices in re.findall(r"%(\d+)\[([^\[\]]*)\]", line) if not guarded else ():
        dims = held[number].dims.split(", ") if number in held else []
        small = any(d.isdigit() and int(d) < bounds.get(i, 0) for i, d in zip(indices.split(", "), dims))
        yield f"step {step}: the size of %{number}", not small
    stores = re.match(r"stage [^\[]*\[.*?\] : (\w+) = .* to %(\d+)\[", line)
    same = not stores or stores.group(2) not in held or stores.group(1) == held[stores.group(2)].dtype
    yield f"step {step}: the dtype of a store", same


def check_form(c):
    wrong = [what for what, ok in itertools.chain(form_of_plan(c), form_of_tasks(c)) if not ok]
    return not wrong, "; ".join(wrong[:5]) or "names, extents, cuts and lives agree"


# ---- the bound: searches the space again -----------------------------------------------------------------------------


def products(n, k):
    """All ways to write n as a product of k factors above 1."""
    if k == 0:
        return [()] if n == 1 else []
    return [(d, *rest) for d in range(2, n + 1) if n % d == 0 for rest in products(n // d, k - 1)]


def meshes(sites):
    """All meshes with an axis for each prime factor, or with four axes if there are more factors, in every order."""
    return next(found for k in (4, 3, 2, 1, 0) if (found := products(sites, k)))


def ways(mesh, most):
    """The choices of what each axis cuts for which there is room."""
    return [on for on in itertools.product(range(-1, len(most)), repeat=len(mesh))
            if all(n <= room for n, room in zip(counts(mesh, on, len(most)), most))]


def points(ties, has):
    """The most points of a block that predicates admit. has: how many values of each label the block has. A tie says
    how many values a label has if others are given; ties with the least share come first, and never form a cycle."""
    has, depends, tied = list(has), [set() for _ in has], set()

    def on(t):
        return set(t["given"]).union(*(depends[l] for l in t["given"]))

    while True:
        usable = [t for t in ties if t["label"] not in tied | on(t) and t["values"] < has[t["label"]]]
        if not usable:
            return math.prod(has)
        t = min(usable, key=lambda t: t["values"] / has[t["label"]])
        has[t["label"]], depends[t["label"]] = t["values"], on(t)
        tied.add(t["label"])
        for d in depends:
            d |= depends[t["label"]] if t["label"] in d else set()


def work(vertex, mesh, use):
    """The operations of the site with the largest block, in a run."""
    if is_state(vertex):
        return 0
    has = [-(-l["extent"] // n) for l, n in zip(vertex["labels"], counts(mesh, use, len(vertex["labels"])))]
    return vertex["times"] * max(1, vertex["operations"]) * min(vertex["kept"], points(vertex["ties"], has))


def eliminated(sizes, tables, spend):
    """The minimum of a sum of tables (variables, cost by their values): a variable's tables become one over all others
    that they have, with the least cost for these. spend(n): n more entries are looked at."""
    alone, left = 0, set(range(len(sizes)))
    while left:
        scope = {x: sorted({y for over, _ in tables if x in over for y in over} - {x}) for x in left}
        x = min(left, key=lambda x: (math.prod(sizes[y] for y in [x, *scope[x]]), x))
        spend(math.prod(sizes[y] for y in [x, *scope[x]]))
        at = {y: k for k, y in enumerate([*scope[x], x])}
        mine = [([at[y] for y in over], cost) for over, cost in tables if x in over]
        out = {v: min(sum(cost[tuple((*v, w)[k] for k in over)] for over, cost in mine) for w in range(sizes[x]))
               for v in itertools.product(*(range(sizes[y]) for y in scope[x]))}
        tables = [t for t in tables if x not in t[0]] + ([(scope[x], out)] if scope[x] else [])
        alone += 0 if scope[x] else out[()]
        left.remove(x)
    return alone


class Space:
    """All plans on a mesh: the values of each variable of `edges`."""

    def __init__(self, plan, mesh):
        states = [(-1,) * len(mesh)] # have no cut
        self.values = [states if is_state(v) else ways(mesh, v["most"]) for v in plan["vertices"]]
        self.works = [[work(v, mesh, use) for use in cuts] for v, cuts in zip(plan["vertices"], self.values)]
        self.values += [ways(mesh, t["most"]) for t in plan["tensors"]]
        self.edges = [(sorted(set(over)), over, cost) for _, _, over, cost in edges(plan, mesh, equal=True)]
        self.sizes = [len(v) for v in self.values]
        self.entries = sum(math.prod(self.sizes[x] for x in own) for own, _, _ in self.edges)

    def table(self, own, over, cost):
        return own, {k: cost(*(self.values[x][k[own.index(x)]] for x in over))
                     for k in itertools.product(*(range(self.sizes[x]) for x in own))}

    def least(self, limit, enough, spend):
        """A lower bound for plans on this mesh within the limit of work: for any price of an operation, min(cost +
        price * work) - price * limit. Prices are tried until it is enough."""
        best, start, tables = 0, enough / limit if limit else 0, [self.table(*e) for e in self.edges]
        for price in [0, 1e-6 * start, *(start * 2.0**k for k in range(-6, 5))]:
            more = [([i], {(k,): price * w for k, w in enumerate(by)}) for i, by in enumerate(self.works)]
            best = max(best, eliminated(self.sizes, tables + more, spend) - price * limit)
            if best >= enough:
                break
        return best


def bound_unchecked(plan, pinned):
    by_indices = any(r["indices"] or r["asked"] for v in plan["vertices"] for r in v["reads"])
    return "the plan states no bound" if plan["bound"] is None else \
        f"this checker searches plans by bytes, not by {plan['measure']}" if plan["measure"] != "bytes" else \
        "pins or a plan file fix a part of the plan" if pinned else \
        "some sites are idle" if math.prod(plan["mesh"]) != plan["sites"] else \
        "windows and reads at indices from data are recounted, but not searched" if by_indices else None


def check_bound(c, most):
    """(None, text) if the bound was not checked; else (True, text)."""
    plan = c["plan"]
    why = bound_unchecked(plan, c["pinned"])
    if why or plan["bound"] == 0:
        return (None, why) if why else (True, "no plan moves less than 0 bytes")
    word = ("the certificate contains no proof of the bound; only ein claims that no plan moves less than "
            f"{plan['bound']:.0f} bytes")
    claimed, spaces, left = plan["bound"] * (1 - 1e-9), [], most

    def spend(n):
        nonlocal left
        left -= n
        if left < 0:
            raise OverflowError

    try:
        for mesh in meshes(plan["sites"]):
            spaces.append(Space(plan, mesh))
            spend(spaces[-1].entries)
        limit = 2 * min(sum(map(min, s.works)) for s in spaces)
        found = min(s.least(limit, claimed, spend) for s in spaces)
    except OverflowError:
        return None, f"its space is too large to search here (--most), and {word}"
    words = (f"no plan on {len(spaces)} mesh{'es' * (len(spaces) > 1)} within twice the least work moves less than "
             f"{min(found, plan['bound']):.0f} bytes")
    return (True, words) if found >= claimed else (None, f"this search shows only that {words}, and {word}")


# ---- a certificate ---------------------------------------------------------------------------------------------------


def certificate(path):
    """What the file contains, and None; or None, and why that is no certificate."""
    try:
        with open(path, encoding="utf-8") as f:
            c = json.load(f)
    except OSError as e:
        return None, f"cannot be read: {e.strerror}"
    except (ValueError, RecursionError):
        c = None
    there = isinstance(c, dict) and c.get("schema") == "ein certificate 1"
    return (c, None) if there else (None, "this file is not a certificate")


def check(path, most):
    """(True, False, or None if it was not checked; what; words), for each part. Only what has form can be counted."""
    (c, why), found, what = certificate(path), [], "form"
    if why:
        return [(False, "certificate", why)]
    parts = {"form": check_form, "bytes": check_bytes, "memory": check_memory, "bound": lambda c: check_bound(c, most)}
    try:
        for v, equation in zip(c["plan"]["vertices"], c["equations"]):
            v.update(equation)
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
