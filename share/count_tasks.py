"""Counts what the tasks of a plan move and have in memory, from their text (`ein plan x.ein -n P --format=task`), for
check_plan.py. Needs only Python.

A site's memory at a step is that of the buffers which are alive there, and what the step's moves pack and receive. In
a move, each site gets from each other one what it is due and does not have, in a parcel. A parcel is packed, and
received, in memory of its own, unless it is one piece of a buffer. Partial results of which a site has no room for
all come in slices, one after the other."""
import collections
import functools
import itertools
import json
import math
import re

SIZE = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "f16": 2, "bf16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8}
ROOM = 1 << 26                 # bytes of partial results that arrive at once, unless the tasks have less room for them
SLICE = 1 << 16                # the smallest slice of longer ones, in bytes;
LEAST = 1 << 12                # and where those of all groups exceed the room
LONG = 1 << 22                 # the largest one, where there are more than four per group
SPREAD = 1 << 20               # a broadcast that saves as many bytes by it goes by shares

# ---- boxes -----------------------------------------------------------------------------------------------------------
# What a site has of a tensor is a box: a range for each dimension, after a first one of length 1, or 0 if it has
# nothing.


def places(mesh):
    return list(itertools.product(*map(range, mesh)))


def block(k, extent, count):
    return range(k * extent // count, (k + 1) * extent // count)


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


def padded(n):
    return -(-n // 64) * 64


def share(b, i, n):
    """Slice i of n of a box, along the first dimension that is long enough, else the longest."""
    if len(b) == 1:
        return b if i == 0 else [range(0)]
    d = next((d for d, x in enumerate(b) if len(x) >= n), max(range(len(b)), key=lambda d: len(b[d])))
    part = block(i, len(b[d]), n)
    return [*b[:d], b[d][part.start : part.stop], *b[d + 1 :]]


# ---- tasks -----------------------------------------------------------------------------------------------------------

BUFFER = re.compile(r"[^\[]*\[(.*?)\] : (\w+)(?: low \[(.*?)\])?(?: when (\(.*?\)))?(?: alive (\d+)\.\.(\d+))?$")
MOVE = re.compile(r"move \S+ (\w+) %(\d+) at((?: [\d*+?]+)*) to %(\d+) at((?: [\d*+?]+)*)(?: wrap (\[.*?\]))?( by \S+)?"
                  r"(?: places %\d+ to %(\d+))?")


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

    def in_place(self, site, found):
        """Whether pieces found in its box are one piece: all of the last dimensions, and single places in the first."""
        all_of = [sum(f) == len(x) for f, x in zip(found, self.boxes[site])]
        return self.work and all(len(f) == 1 and (f == [1] or all(all_of[d + 1 :])) for d, f in enumerate(found))


def exchange(source, target, has, due, each, group, alike, wrap=(), parts=0, slices=1):
    """Each site gets what it is due from the sites of its group that have it. By site: the bytes that it receives, and
    those that this takes there, for parcels that are packed, once for sites that are alike, or received, and for what
    parts add up to. has, due, group, alike: by site. each: bytes of an element. parts: 0, or of how many partial
    results all is due."""
    most = [elements(share(b, slices - 1, slices)) for b in due]
    got, packed = [0] * len(due), [{} for _ in due]
    room = [padded(elements(b)) if parts else 0 for b in due]
    for p, q in itertools.permutations(range(len(due)), 2):
        found = [pieces(*x) for x in itertools.zip_longest(due[q], has[p], [0, *wrap], fillvalue=0)]
        n = math.prod(map(sum, found)) if group[p] == group[q] else 0
        got[q], at_once = got[q] + n, padded(min(n, most[q]) * each)
        if parts or not target.in_place(q, found):
            room[q] += at_once
        if n and (parts or not source.in_place(p, found)):
            packed[p].setdefault(alike[q], at_once)
    if parts: # one from each site, even from those that predicates leave no point
        got = [(parts - 1) * elements(own) + lacking(own, [range(1), *h[1:]]) for own, h in zip(due, has)]
    return [(n * each, beside + sum(p.values())) for n, beside, p in zip(got, room, packed)]


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

    def slices(self, longest, n):
        """In how many slices parts of so many bytes come, in a group of n sites: 1, or at least n."""
        at_once = self.room // n
        if n == 1 or longest <= at_once:
            return 1
        most = max(4 * n, longest // LONG, -(-longest * n // self.room))
        found = min(longest // min(SLICE, max(LEAST, at_once)), most)
        return found if found >= n else 1

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
        each = target.size + (8 if place else 0)
        yield exchange(source, target, source.boxes, due, each,
                       along([a for a in axes if of[a] == "*" or of[a] == "+" and a not in shared]),
                       along([a for a in axes if shares or onto[a] != "*"]),
                       wrap, n if by else 0, self.slices(max(map(elements, due)) * each, n) if by else 1)
        for b in [target, *([self.buffers[place]] if place else [])] if shares else []:
            part = [share(x, i, n) for x, i in zip(b.boxes, number)]
            rest = [[range(0)] if h[0] and not by else x for h, x in zip(source.boxes, b.boxes)] # who sends all has it
            yield exchange(b, b, part, rest, b.size, along([a for a in axes if a not in shared]), along(axes))

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

    def begun(self, name):
        """The bytes of an input, if the tasks have one of that name: of all its blocks, and of the whole of which they
        are blocks."""
        if b := self.buffers.get(self.inputs.get(name)):
            there = [x for x in b.boxes if elements(x)]
            whole = math.prod(max(r.stop for r in ranges) for ranges in zip(*there)) if there else 0
            yield from (sum(map(elements, there)) * b.size, whole * b.size)

    def form(self):
        """(what, whether it is right): tasks use buffers while they are alive, of the size and dtype that is stored."""
        for first, last, _, line in self.lines:
            for n in re.findall(r"(?<![\w%])%(\d+)", line):
                start, end = self.buffers[n].alive if n in self.buffers else (math.inf, 0)
                part = line.startswith(("repeat", "exchange", "}", "output")) and start <= last and first <= end
                yield f"step {first}: %{n} is not alive", part or start <= first and last <= end
            if not line.startswith("stage"):
                continue
            bounds = {} # of a label that several reducers have, the smallest extent
            for label, n in re.findall(r"([^\s\[\],:]+):(\d+)", line):
                bounds[label] = min(bounds.get(label, math.inf), int(n))
            guarded = any(word in line for word in (" where ", "select(", " and "))
            for n, indices in re.findall(r"%(\d+)\[([^\[\]()]*)\]", line) if not guarded else ():
                room = zip(indices.split(", "), self.buffers[n].dims)
                yield f"step {first}: size of %{n}", not any(d.isdigit() and int(d) < bounds.get(i, 0) for i, d in room)
            for dtype, n in re.findall(r"^stage [^\[]*\[.*?\] : (\w+) = .* to %(\d+)\[", line):
                yield f"step {first}: dtype of %{n}", self.buffers[n].dtype == dtype
