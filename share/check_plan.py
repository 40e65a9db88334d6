#!/usr/bin/env python3
"""Checks a certificate, which `ein plan x.ein -n P --certificate c.json` writes. Trusts only the graph in it.

    check_plan.py [--strict] [--most N] FILE...

- *Bytes*: counts, for each read and each result, the elements that each site needs but does not have. It uses only the
  mesh, the cuts and the homes of tensors.
- *Memory*: adds up all buffers of each site, step by step, from the text of the tasks.
- *Form*: the plan is consistent: equations read what they name, extents and sizes agree, cuts have room, and tasks use
  buffers that exist and are alive.
- *Bound*: no plan in the space that docs/plan.md describes ("What is searched, and what a bound is") costs less. A
  certificate contains no proof of that. So if the space is small, it is searched again here, by variable elimination,
  on every mesh in every order: at most N table entries (default 3e5), which take from seconds to a minute. If the space
  is larger, only ein vouches for the bound, and the output says so.

Each line says what was checked, or why it was not. The exit code is 1 if a check fails and, with --strict, 2 if
something was not checked. Needs only Python."""
import ast
import itertools
import json
import math
import re
import sys

# ---- blocks: half-open intervals, by dimension ------------------------------------------------------------------


def block(k, extent, count):
    """Block k of count. Blocks have whole elements; a float extent is cut into equal blocks."""
    if isinstance(extent, float):
        return k * extent / count, (k + 1) * extent / count
    return k * extent // count, (k + 1) * extent // count


def box(mesh, at, on, extents):
    """The block of the site at `at`: (from, to) for each dimension."""
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
    """The elements that sites need but do not have; and the count of the TRA paper."""
    n = all_of_it = 0
    for at in itertools.product(*map(range, mesh)):
        want = box(mesh, at, there, extents)
        n += elements(want) - elements(both(want, box(mesh, at, here, extents)))
        all_of_it += elements(want)
    return n, all_of_it if n else 0


def wanted(read, tensor, use):
    """The dimensions of the tensor that each mesh axis cuts for a reader whose axes are `use` (its home, if it only
    stores)."""
    on = []
    for label in use:
        dims = [k if tensor["vertex"] is None else read["made"][k] for k, l in enumerate(read["labels"]) if label >= 0 and l == label]
        on.append(next((d for d in dims if d >= 0), -1))
    return on


def between(mesh, most, made, home):
    """Where partial results (made: None) are reduced: in the dimension that home cuts, if there is room; else in one
    that no later axis cuts; else at the first place."""
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
    """The elements of partial results that sites receive, those then sent home, and the paper's count of both."""
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


def size(tensor):
    n = math.prod(tensor["extents"])
    return tensor["bytes"] // n if n else 0


def is_state(vertex):
    return vertex["equation"].startswith("state ")


def brought(mesh, tensor, vertex):
    """The bytes to reduce a result and send it home, or of an input's copies; and the paper's count."""
    home, extents, whole = tensor["home"], tensor["extents"], math.prod(tensor["extents"])
    if vertex is None:
        copies = math.prod(s for s, d in zip(mesh, home) if d < 0)
        return whole * (copies - 1) * size(tensor), whole * copies if copies > 1 else 0
    if is_state(vertex):
        return 0, 0
    kept = sum(not l["reduced"] for l in vertex["labels"])
    made = [None if l >= kept else l for l in vertex["axes"]]
    parts, after, paper = reduced(mesh, extents, tensor["most"], made, home)
    return vertex["times"] * (parts * tensor["part"] + after * size(tensor)), vertex["times"] * paper


# ---- windows, and reads at places in data -----------------------------------------------------------------------------


def intervals(tree, labels):
    """The least and the largest value of an index, given as a Python expression."""
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
    """Whether windows are computed for an index: sums, differences, max, min, products and quotients with numbers."""
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


def parsed(index):
    """None: data or turns tell the index, or what Python cannot read, such as a call of an extern function."""
    try:
        return index and ast.parse(index.replace("%", "@"), mode="eval").body
    except SyntaxError:
        return None


def window(mesh, at, read, use, labels):
    """For each dimension: from, to, and the extent at which it wraps (for e % extent, if no site's range is longer),
    else 0."""
    out = []
    for index, extent in zip(read["indices"], read["extents"]):
        out.append((0, extent, 0))
        tree = parsed(index)
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
    """How many places of a window a site has."""
    low, to, around = want
    return sum(has[0] <= (j % around if around else j) < has[1] for j in range(low, to))


def windows(mesh, read, tensor, vertex, home):
    """The elements that sites receive for windows of indices; and the paper's count."""
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
    turns = max(1, math.prod(read["extents"]) // max(1, math.prod(tensor["extents"])))  # of a stack, whose dimensions include the turns
    return n / turns, all_of_it / turns if n else 0


def reached(index, extent, labels):
    """The range of an index without data over a block of labels."""
    tree = parsed(index)
    if not tree or not told(tree):
        return 0, extent
    low, high = intervals(tree, labels)
    return max(low, 0), max(min(high + 1, extent), max(low, 0))


def asked(mesh, read, tensor, vertex):
    """The most bytes received if sites request places, each once: points request the most expensive places first."""
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


# ---- memory: the tasks of all sites ------------------------------------------------------------------------------------

SIZE = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "f16": 2, "bf16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8}
BUFFER = re.compile(r"buffer %(\d+) (input|output|work)(?: \d+)?(?: [^\[ ]\S*)? ?\[(.*?)\] : (\w+)(?: low \[(.*?)\])?(?: when (\(.*?\)))?"
                    r"(?: alive (\d+)\.\.(\d+))?(?: @.*)?$")


class Buffer:
    def __init__(self, line):
        self.number, self.space, self.dims, self.dtype, low, when, first, last = BUFFER.match(line).groups()
        self.alive = (int(first), int(last)) if self.space == "work" else None # else the caller's
        texts = f"[{self.dims}]", when or "True", f"[{low or '0, ' * (self.dims.count(',') + 1 if self.dims else 0)}]"
        self.dim, self.when, self.low = (compile(text.replace("$", ""), "text", "eval") for text in texts)

    def bytes(self, at):
        return SIZE[self.dtype] * math.prod(max(n, 0) for n in eval(self.dim, at)) if eval(self.when, at) else 0


    def box(self, at):
        """A site's block: a range for each dimension, or None if it has nothing."""
        if not eval(self.when, at):
            return None
        ranges = [(l, l + n) for l, n in zip(eval(self.low, at), eval(self.dim, at))]
        return None if any(h <= l for l, h in ranges) else ranges


def buffers(text):
    return [Buffer(line) for line in text.splitlines() if line.startswith("buffer ")]


def places(text):
    """The variables of each site's place along the axes."""
    mesh = re.search(r"^mesh(.*)$", text, re.M)
    for place in itertools.product(*map(range, [int(n) for n in mesh.group(1).split()] if mesh else [])):
        yield {f"at{k}": i for k, i in enumerate(place)} | {"min": min, "max": max}


ROOM = 1 << 26                 # bytes of partial results that arrive at once, unless the tasks have less room for them
SLICE = 1 << 16                # the smallest slice of longer ones, in bytes
LONG = 1 << 22                 # the largest one, where there are more than four per group


def along(shape, n):
    """The dimension that is cut into n slices: the first that is long enough, else the longest."""
    return next((d for d, x in enumerate(shape) if x >= n), max(range(len(shape)), key=lambda d: (shape[d], -d), default=None))


def share(box, i, n):
    """Slice i of n of a box; None: there is nothing in it."""
    d = along([h - l for l, h in box or []], n)
    if box is None or d is None:
        return box if i == 0 else None
    low, length = box[d][0], box[d][1] - box[d][0]
    cut = (low + length * i // n, low + length * (i + 1) // n)
    return None if cut[0] == cut[1] else box[:d] + [cut] + box[d + 1:]


class Half:
    """All of a move; or the part of it by which each site gets a share, or by which the shares then go to the others. Long partial results
    come in rounds, one slice at a time. due: by site, what it gets; if `of_shares`, what it gives."""

    def __init__(self, has, wants, due, each, parts, own, groups, alike, at_once, **more):
        self.has, self.wants, self.due, self.each, self.parts, self.own, self.alike = has, wants, due, each, parts, own, alike
        self.source, self.target, self.wrap = more["source"], more["target"], more.get("wrap", [])
        self.apart, self.of_shares, self.gave = more.get("apart", False), more.get("of_shares", False), more.get("gave")
        longest = max((math.prod(h - l for l, h in box) for box in due if box is not None), default=0) * each
        self.slices = min(longest // SLICE, max(4 * groups, longest // LONG)) if parts and groups > 1 and longest > at_once // groups else 1
        self.slices = 1 if self.slices < groups else self.slices

    def parcel(self, p, q, buffer, mine):
        """The packed bytes from site p to site q. mine: the box of the buffer that holds them."""
        has, wants, straight, whole, n = self.has[p], self.due[p if self.of_shares else q], buffer.space == "work" and not self.parts, True, 1
        if has is None or wants is None or self.wants[q] is None:
            return 0
        for d in reversed(range(len(has))):
            wrap = self.wrap[d] if d < len(self.wrap) else 0
            laps = range((wants[d][0] - has[d][1]) // wrap, (wants[d][1] - has[d][0]) // wrap + 1) if wrap else [0]
            here = [min(has[d][1] + k * wrap, wants[d][1]) - max(has[d][0] + k * wrap, wants[d][0]) for k in laps]
            here = [x for x in here if x > 0]
            straight = straight and len(here) == 1 and (whole or here[0] == 1)
            whole = whole and sum(here) == mine[d][1] - mine[d][0]
            n *= sum(here)
        if self.slices > 1:
            n = min(n, self.largest([h - l for l, h in wants]))
        return 0 if straight else room(n * self.each)

    def largest(self, shape):
        """The elements of the largest slice."""
        d = along(shape, self.slices)
        long = 1 if d is None else shape[d]
        return math.prod(shape) // long * -(-long // self.slices)

    def staged(self, s):
        n, packed = 0, set()
        for q in range(len(self.has)):
            if q == s or self.own[q] != self.own[s]:
                continue
            out = self.parcel(s, q, self.source, self.has[s]) if not (self.gave and self.gave[q]) else 0
            n += 0 if self.alike[q] in packed and not self.apart else out
            n += self.parcel(q, s, self.target, self.wants[s]) if not (self.gave and self.gave[s]) else 0
            packed |= {self.alike[q]} if out else set()
        return n + (room(math.prod(h - l for l, h in self.due[s])) if self.parts and self.due[s] is not None else 0)


class Move:
    """The memory of a move at a site: packed parcels to and from other sites, and room for partial results. In an all-reduce, and in a
    broadcast of much, it goes by shares."""

    def __init__(self, line, all_of_them, sites, mesh, at_once):
        n = len(mesh)
        found = re.match(rf"\s*move (\d+)(?:\.\.(\d+))? (\w+) %(\d+) at((?: \S+){{{n}}}) to %(\d+) at((?: \S+){{{n}}})"
                         r"(?: wrap \[(.*?)\])?( by \S+)?(?: places %(\d+) to %(\d+))?", line)
        step, end, kind, source, of, target, onto, wrap, parts, _, place = found.groups()
        self.step, self.end = int(step), int(end or step)
        source, target, of, onto = all_of_them[source], all_of_them[target], of.split(), onto.split()
        has, wants = ([b.box(at) for at in sites] for b in (source, target))
        where, size = list(itertools.product(*map(range, mesh))), SIZE[target.dtype]
        axes = [a for a in range(n) if of[a] == "+" != onto[a]]
        shares = kind == "all_reduce"
        if kind == "broadcast" and not wrap:
            spread = [a for a in range(n) if of[a] == "?" and onto[a] == "*"]
            many = math.prod(mesh[a] for a in spread)
            bytes_ = SIZE[source.dtype] * math.prod(h - l for l, h in has[0]) if has[0] is not None else 0
            shares = many > 2 and bytes_ * (many - 1) * (1 - 2 / many) >= 1 << 20
            axes = spread if shares else axes
        groups = math.prod(mesh[a] for a in axes)
        number = [sum(p[a] * math.prod(mesh[b] for b in axes if b > a) for a in axes) for p in where]
        alike = [tuple(0 if onto[a] == "*" else p[a] for a in range(n)) for p in where]
        own = [tuple(p[a] for a in range(n) if of[a] == "*" or of[a] == "+" and a not in axes) for p in where]
        first = [share(b, i, groups) for b, i in zip(wants, number)] if shares else wants
        self.halves = [Half(has, wants, first, size + (8 if place else 0), parts, own, groups, alike, at_once, source=source, target=target,
                            wrap=[int(x) for x in wrap.split(",")] if wrap else [], apart=shares)]
        others = [tuple(p[a] for a in range(n) if a not in axes) for p in where]
        for buffer in ([target] + ([all_of_them[place]] if place else []) if shares else []):
            all_ = [buffer.box(at) for at in sites]
            due = [share(b, i, groups) for b, i in zip(all_, number)]
            self.halves.append(Half(all_, all_, due, SIZE[buffer.dtype], None, others, groups, alike, at_once, source=buffer, target=buffer, of_shares=True,
                                    gave=None if parts else [b is not None for b in has]))

    def staged(self, s):
        return max(half.staged(s) for half in self.halves)


def room(n):
    return -(-n // 64) * 64


def moves(text, all_of_them, sites):
    stated = re.search(r"^room (\d+)$", text, re.M)
    mesh, by_number = re.search(r"^mesh(.*)$", text, re.M), {b.number: b for b in all_of_them}
    lines = [line for line in text.splitlines() if line.lstrip().startswith("move ")] if len(sites) <= 4096 else []
    lines = [line for line in lines if all(n in by_number for n in re.findall(r" %(\d+) at ", line))]
    return [Move(line, by_number, sites, [int(n) for n in mesh.group(1).split()], int(stated.group(1)) if stated else ROOM)
            for line in lines]


def peak(text):
    """The most bytes that a site has at one step. With many sites, the memory of moves is counted at some of them."""
    all_of_them, most, sites = buffers(text), 0, list(places(text))
    all_moves = moves(text, all_of_them, sites)
    for s, at in enumerate(sites):
        steps, always = {}, 0
        for m in all_moves if len(sites) <= 256 or s % (len(sites) // 64) == 0 or s + 1 == len(sites) else []:
            size = m.staged(s)
            steps[m.step] = steps.get(m.step, 0) + size
            steps[m.end + 1] = steps.get(m.end + 1, 0) - size
        for b in all_of_them:
            size = b.bytes(at)
            if b.alive is None:
                always += size
            else:
                steps[b.alive[0]] = steps.get(b.alive[0], 0) + size
                steps[b.alive[1] + 1] = steps.get(b.alive[1] + 1, 0) - size
        most = max(most, always + max(itertools.accumulate([0] + [steps[s] for s in sorted(steps)])))
    return most


# ---- form: the plan and its tasks are consistent ------------------------------------------------------------------------------


def counts(mesh, use, n):
    return [math.prod(s for s, x in zip(mesh, use) if x == d) for d in range(n)]


REDUCERS = {"sum", "prod", "max", "min", "any", "all"} # in an equation, `sum[k]` reads no tensor of this name


def form_of_plan(c):
    plan, mesh = c["plan"], c["plan"]["mesh"]
    tensors, vertices = plan["tensors"], plan["vertices"]
    factor = max(primes(plan["sites"]), default=1)
    yield "sites", math.prod(mesh) == plan["sites"] or factor > 7 and math.prod(mesh) < plan["sites"]
    yield "an entry for each equation", len(c["equations"]) == len(vertices) <= len(tensors)
    for i, t in enumerate(tensors):
        room = counts(mesh, t["home"], len(t["extents"]))
        yield f"{t['name']}: bytes", t["bytes"] == math.prod(t["extents"]) * SIZE[t["dtype"]]
        yield f"{t['name']}: home", len(t["home"]) == len(mesh) and all(-1 <= d < len(t["extents"]) for d in t["home"])
        yield f"{t['name']}: room", all(n <= m <= max(x, 1) for n, m, x in zip(room, t["most"], t["extents"]))
        yield f"{t['name']}: its vertex", (t["vertex"] is None) == (i >= len(vertices))
    for v, t in zip(vertices, tensors):
        labels, name, most = v["labels"], v["name"], v["most"]
        if not is_state(v):
            cut = counts(mesh, v["axes"], len(labels))
            yield f"{name}: cut", len(v["axes"]) == len(mesh) and all(-1 <= x < len(labels) for x in v["axes"])
            yield f"{name}: counts", [l["count"] for l in labels] == cut and all(n <= m <= max(l["extent"], 1) for n, m, l in zip(cut, most, labels))
            yield f"{name}: extents", [l["extent"] for l in labels if not l["reduced"]] == t["extents"]
            said = v["equation"].split(" = ", 1)[1]
            called = name.startswith("%") or v["equation"].startswith((f"{name}[", f"{name} ="))
            yield f"{name}: what it is called", name == t["name"] and called
            named = {n.lstrip("-") for n in re.findall(r"([^\s()\[\],]+)\[", said)} - REDUCERS
            read = {tensors[r["tensor"]]["name"] for r in v["reads"]} # and, of several called x: x.2, written x
            missing = named & {x["name"] for x in tensors} - read - {re.sub(r"\.\d+$", "", n) for n in read}
            yield f"{name}: {v['equation']}", not missing
        for r in v["reads"]:
            of = tensors[r["tensor"]]
            same = all(l < 0 or labels[l]["extent"] == x for l, x in zip(r["labels"], r["extents"])) if r["indices"] is None and r["called"] else True
            whole = math.prod(r["extents"]) == math.prod(of["extents"]) if of["vertex"] is None else True
            yield f"{name} reads {of['name']}: extents", same and whole and len(r["labels"]) == len(r["extents"])
    if plan["measure"] == "bytes" and plan["busiest"]:
        mine = sum(work(v, mesh, v["axes"]) for v in vertices if not is_state(v))
        limit = plan["busiest"]["limit"]
        yield "work of the busiest site", abs(mine - plan["busiest"]["operations"]) <= 1e-9 * mine and (limit is None or mine <= limit * (1 + 1e-9))
    if plan["bound"]:
        own = {"bytes": max(cost_equal(plan), plan["bytes"]), "seconds": plan.get("seconds"), "ia": plan.get("elements")}.get(plan["measure"])
        yield "bound above the plan itself", own is None or plan["bound"] <= own * (1 + 1e-9)


def form_of_tasks(c):
    """Whether tasks use what is there: buffers that are declared, while they are alive, of the size and type that stages store."""
    plan, held, step, end, inputs = c["plan"], {}, 0, 0, {}
    yield "tasks", (c["tasks"] is not None) == plan["memory"]["measured"]
    for line in (c["tasks"] or "").splitlines():
        line = line.split(' @"')[0].strip()
        word, rest = (line.split(" ", 1) + [""])[:2]
        if word == "buffer":
            b = Buffer(line)
            held[b.number] = b
        elif word in ("input", "output"):
            inputs[rest.split(" = %")[0]] = rest.split(" = %")[1].split()[0], word
        elif word in ("kernel", "move", "fetch", "zero", "default", "assert", "repeat"):
            step, end = ([*map(int, re.match(r"(\d+)(?:\.\.(\d+))?", rest).group().split(".."))] * 2)[:2]
        for number in re.findall(r"(?<![\w%])%(\d+)", line) if word != "buffer" else ():
            b = held.get(number)
            low, to = b.alive or (0, math.inf) if b else (math.inf, 0)
            whole = low <= step and end <= to
            yield f"step {step}: %{number}", whole or word in ("repeat", "exchange", "}", "output") and low <= end and step <= to
        bounds = {}
        for label, n in re.findall(r"([^\s\[\],:]+):(\d+)", line) if word == "stage" else ():
            bounds[label] = min(bounds.get(label, math.inf), int(n)) # a label of several reducers has the smallest extent
        guarded = " where " in line or "select(" in line or " and " in line
        for number, indices in re.findall(r"%(\d+)\[([^\[\]]*)\]", line) if word == "stage" and not guarded else ():
            dims = held[number].dims.split(", ") if number in held else []
            small = any(i in bounds and d.isdigit() and int(d) < bounds[i] for i, d in zip(indices.split(", "), dims))
            yield f"step {step}: the size of %{number}", not small
        stores = re.match(r"stage [^\[]*\[.*?\] : (\w+) = .* to %(\d+)\[", line)
        same = not stores or stores.group(2) not in held or stores.group(1) == held[stores.group(2)].dtype
        yield f"step {step}: the dtype of a store", same
    for t in plan["tensors"]:
        number, word = inputs.get(t["name"], (None, None))
        if t["vertex"] is None and word == "input":
            yield f"{t['name']}, all blocks", sum(held[number].bytes(at) for at in places(c["tasks"])) == t["bytes"]


def check_form(c):
    try:
        wrong = [what for what, ok in itertools.chain(form_of_plan(c), form_of_tasks(c)) if not ok]
    except (KeyError, IndexError, ValueError, AttributeError, TypeError) as e:
        wrong = [f"cannot be read: {type(e).__name__} {e}"]
    return (not wrong, "; ".join(wrong[:5]) if wrong else "names, extents, cuts and lives agree")


# ---- the bound: searches the space again -----------------------------------------------------------------------------------


class TooLarge(Exception):
    pass


class Budget:
    def __init__(self, most):
        self.left = most

    def spend(self, n):
        self.left -= n
        if self.left < 0:
            raise TooLarge


def least(sizes, tables, budget):
    """The minimum of a sum of tables (variables, cost by their values), by variable elimination."""
    left, alone = set(range(len(sizes))), 0

    def scope(x):
        return sorted({y for over, _ in tables if x in over for y in over} - {x})

    while left:
        x = min(left, key=lambda y: (math.prod(sizes[z] for z in [y, *scope(y)]), y))
        over, mine = scope(x), [t for t in tables if x in t[0]]
        budget.spend(math.prod(sizes[y] for y in [x, *over]))
        at = {y: k for k, y in enumerate([*over, x])}
        picks = [([at[y] for y in s], cost) for s, cost in mine]
        out = {}
        for v in itertools.product(*(range(sizes[y]) for y in over)):
            out[v] = min(sum(cost[tuple((*v, w)[k] for k in pick)] for pick, cost in picks) for w in range(sizes[x]))
        tables = [t for t in tables if x not in t[0]] + ([(over, out)] if over else [])
        alone += 0 if over else out[()]
        left.remove(x)
    return alone


def primes(n):
    p = 2
    while n > 1:
        if n % p == 0:
            yield p
            n //= p
        else:
            p += 1


def meshes(sites):
    """All meshes with an axis for each prime factor, or with four axes if there are more factors, in every order."""
    axes = list(primes(sites))
    if len(axes) <= 4:
        return sorted(set(itertools.permutations(axes)))

    def products(n, k):
        return [(n,)] if k == 1 else [(d, *rest) for d in range(2, n + 1) if n % d == 0 for rest in products(n // d, k - 1)]

    return products(sites, 4)


def ways(mesh, most):
    """The choices of what each axis cuts (-1: nothing) for which there is room."""
    return [on for on in itertools.product(range(-1, len(most)), repeat=len(mesh))
            if all(math.prod(s for s, x in zip(mesh, on) if x == d) <= room for d, room in enumerate(most))]


def points(ties, has):
    """The most points of a block that predicates admit. has: how many values of each label the block has. A tie says
    how many values a label has if others are given; ties with the least share come first, and ties never form a
    cycle."""
    has, depends, tied = list(has), [set() for _ in has], set()
    while True:
        best, share = None, 1
        for t in ties:
            on = set(t["given"]).union(*(depends[l] for l in t["given"]))
            if t["label"] not in tied | on and t["values"] < share * has[t["label"]]:
                best, share, least_on = t, t["values"] / has[t["label"]], on
        if not best:
            return math.prod(has)
        has[best["label"]] = best["values"]
        depends[best["label"]] = least_on
        tied.add(best["label"])
        for h in depends:
            h |= least_on if best["label"] in h else set()


def work(vertex, mesh, use):
    """The operations of the site with the largest block, in a run."""
    has = [-(-l["extent"] // n) for l, n in zip(vertex["labels"], counts(mesh, use, len(vertex["labels"])))]
    return vertex["times"] * max(1, vertex["operations"]) * min(vertex["kept"], points(vertex["ties"], has))


class Space:
    """All plans on a mesh. The variables are the axes of each vertex and the home of each tensor; a state has no
    axes."""

    def __init__(self, plan, mesh):
        self.plan, self.mesh, self.memo = plan, mesh, {}
        self.equal = [[1.0] * len(t["extents"]) for t in plan["tensors"]] # of a tensor of size 1, in equal blocks

    def open(self):
        plan, mesh = self.plan, self.mesh
        self.cuts = [[(-1,) * len(mesh)] if is_state(v) else ways(mesh, v["most"]) for v in plan["vertices"]]
        self.homes = [ways(mesh, t["most"]) for t in plan["tensors"]]
        return self

    def least_work(self):
        return sum(min(work(v, self.mesh, use) for use in cuts) for v, cuts in zip(self.plan["vertices"], self.cuts) if not is_state(v))

    def share(self, t, here, there):
        key = t, tuple(here), tuple(there)
        if key not in self.memo:
            self.memo[key] = moved(self.mesh, self.equal[t], here, there)[0]
        return self.memo[key]

    def read(self, read, use, home):
        t = read["tensor"]
        tensor = self.plan["tensors"][t]
        return read["times"] * tensor["bytes"] * self.share(t, home, wanted(read, tensor, use))

    def result(self, i, use, home):
        v, t = self.plan["vertices"][i], self.plan["tensors"][i]
        kept = sum(not l["reduced"] for l in v["labels"])
        made = [None if l >= kept else l for l in use]
        if None not in made:
            return v["times"] * t["bytes"] * self.share(i, made, home)
        parts, after, _ = reduced(self.mesh, self.equal[i], t["most"], made, home)
        return v["times"] * t["bytes"] * (parts * t["part"] / size(t) + after if size(t) else 0)

    def stored(self, t, home):
        return self.plan["tensors"][t]["bytes"] * (math.prod(s for s, d in zip(self.mesh, home) if d < 0) - 1)

    def tables(self, budget):
        """(variables, cost by their values). The cut of a vertex has its number; the homes of tensors follow."""
        plan, n = self.plan, len(self.cuts)
        values = [*self.cuts, *self.homes]

        def add(over, cost):
            budget.spend(math.prod(len(values[x]) for x in over))
            return over, {v: cost(*(values[x][k] for x, k in zip(over, v))) for v in itertools.product(*(range(len(values[x])) for x in over))}

        for i, v in enumerate(plan["vertices"]):
            for r in v["reads"]:
                reader, home = i if r["called"] else n + i, n + r["tensor"]
                if reader == home: # a state that does not change
                    yield add([reader], lambda a, r=r: self.read(r, a, a))
                else:
                    yield add([reader, home], lambda a, b, r=r: self.read(r, a, b))
            if not is_state(v):
                yield add([i, n + i], lambda a, b, i=i: self.result(i, a, b))
        for t, tensor in enumerate(plan["tensors"]):
            if tensor["vertex"] is None:
                yield add([n + t], lambda b, t=t: self.stored(t, b))

    def least(self, limit, budget, enough):
        """A lower bound for plans on this mesh within the limit of work: for any price of an operation, min(cost +
        price * work) - price * limit."""
        best, start, tables = 0, enough / limit if limit else 0, list(self.tables(budget))
        works = [[0 if is_state(v) else work(v, self.mesh, use) for use in cuts] for v, cuts in zip(self.plan["vertices"], self.cuts)]
        for price in [0, 1e-6 * start, *(start * 2.0**k for k in range(-6, 5))]:
            more = [([i], {(k,): price * w for k, w in enumerate(by)}) for i, by in enumerate(works)]
            best = max(best, least([len(x) for x in [*self.cuts, *self.homes]], tables + more, budget) - price * limit)
            if best >= enough:
                break
        return best

    def size(self):
        """The number of table entries, as far as known before the tables are made."""
        both = [len(c) * len(h) for c, h in zip(self.cuts, self.homes)]
        return sum(both) + sum(len(self.cuts[i]) * len(self.homes[r["tensor"]]) for i, v in enumerate(self.plan["vertices"]) for r in v["reads"])


def cost_equal(plan):
    """The cost of the plan itself with equal blocks, as the search computes it."""
    s, n = Space(plan, plan["mesh"]), 0
    for i, (v, t) in enumerate(zip(plan["vertices"], plan["tensors"])):
        n += sum(s.read(r, v["axes"] if r["called"] else t["home"], plan["tensors"][r["tensor"]]["home"]) for r in v["reads"])
        n += 0 if is_state(v) else s.result(i, v["axes"], t["home"])
    return n + sum(s.stored(t, x["home"]) for t, x in enumerate(plan["tensors"]) if x["vertex"] is None)


def bound_unchecked(plan, pinned):
    if plan["bound"] is None:
        return "the plan states no bound"
    if plan["measure"] != "bytes":
        return f"this checker searches plans by bytes, not by {plan['measure']}"
    if pinned:
        return "pins or a plan file fix a part of the plan"
    if math.prod(plan["mesh"]) != plan["sites"]:
        return "some sites are idle"
    if any(r["indices"] or r["asked"] for v in plan["vertices"] for r in v["reads"]):
        return "windows and reads at indices from data are recounted, but not searched"
    return None


def check_bound(c, most):
    """(None, text) if the bound was not checked; else (whether it holds, text)."""
    plan = c["plan"]
    why = bound_unchecked(plan, c["pinned"])
    if why:
        return None, why
    word = ("the certificate contains no proof of the bound; only ein claims that no plan moves less than "
            f"{plan['bound']:.0f} bytes")
    if plan["bound"] == 0:
        return True, "no plan moves less than 0 bytes"
    claimed, budget = plan["bound"] * (1 - 1e-9), Budget(most)
    try:
        spaces = []
        for mesh in meshes(plan["sites"]):
            spaces.append(Space(plan, mesh).open())
            if sum(s.size() for s in spaces) > most:
                raise TooLarge
        limit = 2 * min(s.least_work() for s in spaces)
        found = min(s.least(limit, budget, claimed) for s in spaces)
    except TooLarge:
        return None, f"its space is too large to search here (--most), and {word}"
    words = f"no plan on {len(spaces)} mesh{'es' * (len(spaces) > 1)} within twice the least work moves less than {min(found, plan['bound']):.0f} bytes"
    return (True, words) if found >= claimed else (None, f"this search shows only that {words}, and {word}")


# ---- a certificate ---------------------------------------------------------------------------------------------------------------


def check_bytes(plan):
    mesh, tensors, wrong, n = plan["mesh"], plan["tensors"], [], 0

    def same(what, said, mine):
        if not abs(said - mine) <= 1e-9 * abs(mine): # also if it is not a number
            wrong.append(f"{what}: {said}, but it should be {mine}")

    for i, v in enumerate(plan["vertices"]):
        for read in v["reads"]:
            t, home = tensors[read["tensor"]], tensors[i]["home"]
            here = windows(mesh, read, t, v, home)[0] if read["indices"] else \
                moved(mesh, t["extents"], t["home"], wanted(read, t, v["axes"] if read["called"] else home))[0]
            here *= read["times"] * size(t)
            if read["asked"]:
                here = min(here, asked(mesh, read, t, v))
            same(f"{v['name']} reads {t['name']}", read["received"], here)
            n += here
    for i, t in enumerate(tensors):
        here = brought(mesh, t, plan["vertices"][i] if t["vertex"] is not None else None)[0]
        same(f"{t['name']} brought home", t["brought"], here)
        n += here
    same("the total", plan["bytes"], n)
    return (not wrong, "; ".join(wrong[:5]) if wrong else f"{n:.0f}, counted for each read and each result")


def check_memory(c):
    said = c["plan"]["memory"]["bytes"]
    if c["tasks"] is None:
        return None, "the plan has no tasks"
    n = peak(c["tasks"])
    return n == said, f"{n} bytes at the busiest site" + ("" if n == said else f", but the plan states {said}")


def check(path, most):
    c = json.load(open(path, encoding="utf-8"))
    if c.get("schema") != "ein certificate 1":
        return [(False, "certificate", "this file is not a certificate")]
    for v, equation in zip(c["plan"]["vertices"], c["equations"]):
        v.update(equation)
    found = [("form", check_form(c))]
    if found[0][1][0]: # a consistent certificate can be counted
        found += [("bytes", check_bytes(c["plan"])), ("memory", check_memory(c)), ("bound", check_bound(c, most))]
    return [(ok, what, words) for what, (ok, words) in found]


def main(args):
    strict, most, files = "--strict" in args, 3e5, [a for a in args if a != "--strict"]
    if "--most" in files:
        at = files.index("--most")
        most, files = float(files[at + 1]), files[:at] + files[at + 2 :]
    if not files:
        print(__doc__)
        return 1
    lines = [(path, *line) for path in files for line in check(path, most)]
    for path, ok, what, words in lines:
        print(f"{path}: {what:8}{'not checked' if ok is None else 'checked' if ok else 'WRONG'}: {words}")
    worst = [ok for _, ok, _, _ in lines]
    return 1 if False in worst else 2 if strict and None in worst else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
