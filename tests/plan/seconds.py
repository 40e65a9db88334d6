#!/usr/bin/env python3
"""Recomputes the seconds of `ein plan -n P --machine M --format=json`, site by site, from the mesh, the axes and the
homes.

seconds.py MACHINE PLAN...: prints a line for each difference, and exits with 1 if there are any. It checks plans on at
most 256 sites."""
import json
import math
import sys
from fractions import Fraction
from functools import lru_cache

from moves import window

SIZE = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "u8": 1, "bool": 1}
ALL, PART, FIRST, INNER = -1, -2, -3, -4


def value(figure):
    return figure["value"] if isinstance(figure, dict) else figure


class Machine:
    def __init__(self, path):
        self.json = json.load(open(path))
        self.levels = self.json["levels"]
        self.site = [l["name"] for l in self.levels].index(self.json["site"]["level"])

    def rate(self, dtype, kind):
        times = 1
        for level in reversed(self.levels[: self.site + 1]):
            figure = level.get("operations_per_second", {}).get(dtype, {}).get(kind)
            if figure:
                return times * value(figure)
            times *= level["parts"]

    def memory(self):
        return [value(m["read_bytes_per_second"]) for m in self.levels[self.site]["memories"] if "read_bytes_per_second" in m][-1]

    def used(self, sites):
        """As many as can be of each level, the innermost first, so that the rest has room."""
        def use(levels, left):
            if not levels:
                return [] if left == 1 else None
            for n in range(min(levels[0]["parts"], left), 0, -1):
                rest = use(levels[1:], left // n) if left % n == 0 else None
                if rest is not None:
                    return [n] + rest
        return use(self.levels[self.site + 1 :], sites)

    def links(self, sites):
        """(sites in a part, latency, bytes a second of a part)"""
        part, out = 1, []
        for level, n in zip(self.levels[self.site + 1 :], self.used(sites)):
            if n > 1:
                out.append((part, value(level["link"]["latency_seconds"]), value(level["link"]["bytes_per_second"])))
            part *= n
        return out


class Mesh:
    def __init__(self, sizes, machine):
        self.sizes, self.sites = sizes, math.prod(sizes)
        self.stride = [math.prod(sizes[a + 1 :]) for a in range(len(sizes))]
        self.links, self.memory = [], machine.memory()
        for part, latency, rate in machine.links(self.sites):
            # axes that stay inside of a part, if need be of a share of it, which has a share of its link
            inside = max(math.prod(sizes[a:]) for a in range(len(sizes) + 1) if all(part % math.prod(sizes[b:]) == 0 for b in range(a, len(sizes))))
            self.links.append((inside, latency, rate * inside / part))
        # an axis goes by the widest link that leads out of what two neighbours along it are in
        self.by = [max((k for k, l in enumerate(self.links) if l[0] <= s), default=0) for s in self.stride]

    def place(self, site):
        return [site // s % n for s, n in zip(self.stride, self.sizes)]

    def cuts(self, on, dimension):
        return [a for a, d in enumerate(on) if d == dimension]

    def box(self, on, extents, site, ideal=False):
        at, out = self.place(site), []
        for d, extent in enumerate(extents):
            k, n = 0, 1
            for a in self.cuts(on, d):
                k, n = k * self.sizes[a] + at[a], n * self.sizes[a]
            out.append((Fraction(k, n), Fraction(k + 1, n)) if ideal else (k * extent // n, (k + 1) * extent // n))
        return out

    def parts(self, size):
        return [range(first, first + size) for first in range(0, self.sites, size)]


def hull(boxes):
    return [(min(b[d][0] for b in boxes), max(b[d][1] for b in boxes)) for d in range(len(boxes[0]))]


def volume(box):
    return math.prod(max(0, h - l) for l, h in box)


def meet(a, b):
    return [(max(x[0], y[0]), min(x[1], y[1])) for x, y in zip(a, b)]


def worst_of(extents, have, want, ideal):
    """In each dimension a part with a largest block and, of those, the least of it: there may be none that is so in all dimensions. Where
    cuts cross, there is nothing."""
    wanted, there = 1, 1
    for d in range(len(extents)):
        sizes = [w[d][1] - w[d][0] for w in want]
        wanted *= max(sizes)
        there *= min(volume([meet(h, w)[d]]) for h, w, s in zip(have, want, sizes) if s == max(sizes))
    if any(volume(meet(h, w)) == 0 for h, w in ideal):
        there = 0
    worst = max(volume(w) - volume(meet(h, w)) for h, w in zip(have, want))
    assert worst <= wanted - there or math.prod(extents) == 0, (worst, wanted, there)
    return wanted - there


def exchange(mesh, crossed):
    """Messages go at once: the slowest level crossed."""
    return max((mesh.links[mesh.by[a]][1] for a in crossed), default=0)


def long(mesh, on, what):
    return [a for a, x in enumerate(on) if x == what and mesh.sizes[a] > 1]


def group(mesh, site, axes):
    at = mesh.place(site)
    return [s for s in range(mesh.sites) if all(a in axes or x == y for a, (x, y) in enumerate(zip(mesh.place(s), at)))]


def far(mesh, part, site, axes):
    """How many of its group are in other parts."""
    return sum(s // part != site // part for s in group(mesh, site, axes))


def together(mesh, extents, size, was, to):
    """What comes in pieces is read and written."""
    count = lambda on, d: math.prod(mesh.sizes[a] for a in mesh.cuts(on, d))
    pieces = any(Fraction(count(to, d), count(was, d)).denominator > 1 or INNER - d in was for d in range(len(extents)))
    return 2 * size * max(volume(mesh.box(to, extents, s)) for s in range(mesh.sites)) / mesh.memory if pieces else 0


def move(mesh, extents, size, was, to):
    most = 0
    for part, _, rate in mesh.links:
        hulls, ideals = ([hull([mesh.box(was, extents, s, ideal) for s in sites]) for sites in mesh.parts(part)] for ideal in (False, True))
        have = [hulls[s // part] for s in range(mesh.sites)]
        want = [mesh.box(to, extents, s) for s in range(mesh.sites)]
        ideal = [(ideals[s // part], mesh.box(to, extents, s, True)) for s in range(mesh.sites)]
        most = max(most, part * size * worst_of(extents, have, want, ideal) / rate)
    if not most:
        return 0
    crossed = [a for a in range(len(was)) if was[a] >= 0 and mesh.sizes[a] > 1
               and [x for x in mesh.cuts(was, was[a]) if x <= a] != [x for x in mesh.cuts(to, was[a]) if x <= a]]
    return most + exchange(mesh, crossed) + together(mesh, extents, size, was, to)


def panels(mesh, extents, size, was, to, d, n):
    """On links, of a panel of dimension d: who sends and who receives most in each. And what is put together, of all."""
    links, seconds = [0] * len(mesh.links), 0
    own, want = ([mesh.box(on, extents, s) for s in range(mesh.sites)] for on in (was, to))
    for t in range(n):
        goes = {}
        for s in range(mesh.sites):
            low, high = want[s][d]
            slice_ = [(low + (high - low) * t // n, low + (high - low) * (t + 1) // n) if k == d else w for k, w in enumerate(want[s])]
            for r in range(mesh.sites):
                near = all(x == y or w >= 0 for x, y, w in zip(mesh.place(r), mesh.place(s), was))
                if r != s and near and volume(meet(own[r], slice_)):
                    goes[r, s] = size * volume(meet(own[r], slice_))
        for k, (part, _, rate) in enumerate(mesh.links):
            load = {}
            for (r, s), bytes_ in goes.items():
                if r // part != s // part:
                    for end in ("out", r // part), ("in", s // part):
                        load[end] = load.get(end, 0) + bytes_
            links[k] += max(load.values(), default=0) / rate / n
    whole = move(mesh, extents, size, was, to)
    copied = together(mesh, extents, size, was, to)
    latency = exchange(mesh, [a for a in range(len(was)) if was[a] >= 0 and mesh.sizes[a] > 1
                              and [x for x in mesh.cuts(was, was[a]) if x <= a] != [x for x in mesh.cuts(to, was[a]) if x <= a]])
    return (max(links) + latency, copied) if whole else (0, 0)


def along(read, tensor, label):
    """The dimension that comes in panels of the label, if the operand moves for this vertex alone."""
    at = [d for d, x in enumerate(read["labels"]) if x == label]
    made = [d if tensor["vertex"] is None else read["made"][d] for d in at]
    return made[0] if len(made) == 1 and made[0] >= 0 and not read["indices"] else None


def block_of(mesh, extents, to):
    return max(volume(mesh.box(to, extents, s)) for s in range(mesh.sites))


def rounds(size, groups, room):
    """How many, and how much longer they take than all at once."""
    slices = min(size // min(1 << 16, max(1 << 12, room // groups)), max(4 * groups, size // (1 << 22), -(-size * groups // room)))
    return (1, 1) if groups < 2 or size <= room // groups or slices < groups else (slices + groups - 1, (slices + groups - 1) / slices)


def reduce(mesh, extents, size, axes, to):
    """Along these axes there are parts."""
    parts, again = [a for a in axes if mesh.sizes[a] > 1], [a for a in axes if to[a] == ALL and mesh.sizes[a] > 1]
    if not parts:
        return 0
    n = math.prod(mesh.sizes[a] for a in parts)
    share = size * block_of(mesh, extents, to) / math.prod(mesh.sizes[a] for a in again)
    many, longer = rounds(share, n, mesh.room)
    most = max(share * sum(longer * far(mesh, part, s, parts) + far(mesh, part, s, again) for s in range(part)) / rate for part, _, rate in mesh.links)
    most += many * exchange(mesh, parts) + (exchange(mesh, again) if again else 0)
    return most + (3 * n + 2 * (n - 1)) * share / mesh.memory


def further(mesh, most, home, inner):
    at = list(home)
    for a in long(mesh, home, ALL):
        room = [most[d] // math.prod(mesh.sizes[b] for b in mesh.cuts(at, d) + mesh.cuts(at, INNER - d)) for d in range(len(most))]
        fits = [d for d, r in enumerate(room) if r >= mesh.sizes[a] and (inner or not any(b > a for b in mesh.cuts(home, d)))]
        d = max(fits, key=lambda d: (room[d], -d)) if fits else None
        d = next((x for x in fits if inner and room[x] >= 8 * mesh.sizes[a]), d)  # the outermost with much room
        at[a] = FIRST if d is None else INNER - d if inner else d
    return at


def stored(mesh, most, home):
    """Along an axis with copies it is cut further, where there is most room, and no later axis cuts at home; or else inside the blocks there."""
    at, inside = further(mesh, most, home, False), further(mesh, most, home, True)
    return inside if inside.count(FIRST) < at.count(FIRST) else at


def copies(mesh, extents, size, most, to):
    """Of an input that is stored once."""
    axes, at = long(mesh, to, ALL), stored(mesh, most, to)
    n, firsts = (math.prod(mesh.sizes[a] for a in of) for of in (axes, long(mesh, at, FIRST)))
    block = size * block_of(mesh, extents, to)

    def all_send(share, holders):
        return exchange(mesh, axes) + max(share * sum(far(mesh, part, s, axes) for s in range(part) if s in holders) / rate for part, _, rate in mesh.links)
    if not axes:
        return 0
    everyone = set(range(mesh.sites))
    one = {s for s in everyone if all(mesh.place(s)[a] == 0 for a in long(mesh, at, FIRST))}
    if firsts == 1:
        return all_send(block / n, everyone) + together(mesh, extents, size, at, to)
    if firsts < n:
        return all_send(block * firsts / n, one) + 2 * block / mesh.memory
    if n > 2 and block * (n - 1) * (1 - 2 / n) >= 1 << 20:
        return all_send(block / n, one) + all_send(block / n, everyone)
    return all_send(block, one)


def shared(window, block, around):
    """Of a window that may go around the end."""
    return sum(block[0] <= (j % around if around else j) < block[1] for j in range(*window))


def windowed(mesh, read, tensor, vertex, own_home, turns):
    """What indices reach: each dimension by itself, with the longest window, and the most that is not there."""
    use, size, most = vertex["axes"] if read["called"] else own_home, SIZE[tensor["dtype"]], 0
    labels, rank = [l["extent"] for l in vertex["labels"]], len(read["extents"])
    reached = [window(mesh.sizes, mesh.place(s), read, use, labels) for s in range(mesh.sites)]
    wants = [[(at.start, at.stop, wrap) for at, wrap in dims] for dims in reached]
    around = [max(w[k][2] for w in wants) for k in range(rank)]
    made = [k if tensor["vertex"] is None else read["made"][k] for k in range(rank)]
    scale = [e // tensor["extents"][d] if d >= 0 and tensor["extents"][d] else 0 for d, e in zip(made, read["extents"])]
    own = [mesh.box(tensor["home"], tensor["extents"], s) for s in range(mesh.sites)]
    has = [[(o[d][0] * n, o[d][1] * n) if n else (0, e) for d, n, e in zip(made, scale, read["extents"])] for o in own]
    crossed, asks, asked = [], 0, read["asked"] if read["asked"] and read["asked"]["bytes"] < read["asked"]["whole"] else None
    for part, latency, rate in mesh.links:
        pairs = [[hull([of[s] for s in sites]) for of in (wants, has)] for sites in mesh.parts(part)]
        pairs = [([w[k] if w[k][1] - w[k][0] < e else (0, e) for k, e in enumerate(read["extents"])], h) for w, h in pairs]
        longest = [max(w[k][1] - w[k][0] for w, h in pairs) for k in range(rank)]
        lacks = [max(w[k][1] - w[k][0] - shared(w[k], h[k], around[k]) for w, h in pairs) for k in range(rank)]
        lacking = math.prod(longest) - math.prod(n - l for n, l in zip(longest, lacks))
        most = max(most, size * lacking / rate)
        crossed.append(latency if lacking else 0)
        if asked and lacking:  # from all other sites alike
            each = asked["bytes"] / asked["times"] / mesh.sites
            asks = max(asks, part * each * (mesh.sites - part) / (mesh.sites - 1) / rate)
    if asked:
        return (asks + 3 * max(crossed)) * asked["times"] / (read["times"] / turns) if asked["bytes"] else 0
    if not most:
        return 0
    return most + max(crossed)


def close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1e-15)


def wanted(made_by, read, axes):
    """By axis, the dimension as it is made that the reader's label cuts."""
    on = []
    for label in axes:
        cut = [k if made_by is None else read["made"][k] for k, l in enumerate(read["labels"]) if l == label and label >= 0]
        cut = [d for d in cut if d >= 0]
        on.append(cut[0] if cut else ALL)
    return on


def check(machine, path):
    plan = json.load(open(path))
    mesh, total, wrong = Mesh(plan["mesh"], machine), 0, []
    mesh.room = plan.get("room", 1 << 26)
    made_by = {t["vertex"]: t for t in plan["tensors"] if t["vertex"] is not None}
    inputs = {t["name"]: t for t in plan["tensors"] if t["vertex"] is None}
    if mesh.sites > 256:
        return wrong

    @lru_cache(None)
    def moved(extents, size, was, to):
        return move(mesh, extents, size, was, to)

    def differ(what, mine, said):
        if not close(mine, said):
            wrong.append(f"{path}: {what}: {said}, but it is {mine}")
        return mine

    for v in plan["vertices"]:
        own, blocks = made_by[v["id"]], [-(-l["extent"] // l["count"]) for l in v["labels"]]
        state = v["equation"].startswith("state ")
        axes, seconds, bytes_, points = v["axes"], 0, 0, v["site_points"]
        ahead, apart, copied = 0, 0, 0
        if points > math.prod(blocks):
            wrong.append(f"{path}: {v['name']}: {points} points of a block that has fewer")
        for number, r in enumerate(v["reads"]):
            t = plan["tensors"][r["tensor"]]
            block = math.prod(-(-e // (v["labels"][l]["count"] if l >= 0 else 1)) for e, l in zip(r["extents"], r["labels"]))
            bytes_ += SIZE[t["dtype"]] * min(block, points)
            turns = math.prod(r["extents"]) / max(1, math.prod(t["extents"]))
            if r["indices"] and r["times"]:
                seconds += r["times"] / max(1, turns) * windowed(mesh, r, t, v, own["home"], max(1, turns))
            if r["indices"]:
                continue
            to = wanted(t["vertex"], r, axes if r["called"] else own["home"])
            d = along(r, t, v["panels"]["label"]) if "panels" in v and r["times"] else None
            if d is not None:
                one, put = panels(mesh, tuple(t["extents"]), SIZE[t["dtype"]], tuple(t["home"]), tuple(to), d, v["panels"]["count"])
                late = number in v["panels"]["apart"]
                ahead, apart, copied = ahead + (0 if late else one), apart + (one if late else 0), copied + put
                continue
            seconds += r["times"] / max(1, turns) * moved(tuple(t["extents"]), SIZE[t["dtype"]] * turns, tuple(t["home"]), tuple(to))
        if "panels" in v:
            n, kernel = v["panels"]["count"], v["kernel_seconds"] / v["times"]
            seconds += v["times"] * (ahead + apart + (n - 1) * (apart + max(0, ahead - kernel / n)) + copied)
        total += differ(f"operands of {v['name']}", seconds, v["received_seconds"])
        if state:
            continue
        kept = [k for k, l in enumerate(v["labels"]) if not l["reduced"]]
        bytes_ += SIZE[own["dtype"]] * math.prod(blocks[k] for k in kept)
        dtype, kind = v["point_rate"].split()
        rate = machine.rate(dtype, kind)
        computing = points * v["point_operations"] / rate if rate else 0
        total += differ(f"kernels of {v['name']}", v["times"] * max(computing, bytes_ / machine.memory()), v["kernel_seconds"])
        made = [ALL if l < 0 else PART if l not in kept else l for l in axes]
        between = [h if m == PART else m for m, h in zip(made, own["home"])]
        out = reduce(mesh, own["extents"], SIZE[own["dtype"]], [a for a, m in enumerate(made) if m == PART], between)
        out += moved(tuple(own["extents"]), SIZE[own["dtype"]], tuple(between), tuple(own["home"]))
        total += differ(f"result of {v['name']}", v["times"] * out, own["brought_seconds"])
    for t in inputs.values():
        mine = copies(mesh, t["extents"], SIZE[t["dtype"]], t["most"], t["home"])
        total += differ(f"copies of {t['name']}", mine, t["brought_seconds"])
    differ("all of it", total, plan["seconds"])
    at_once = not any("panels" in v for v in plan["vertices"])  # as the bound is
    if at_once and plan["measure"] == "seconds" and plan["bound"] is not None and plan["bound"] > plan["seconds"] * (1 + 1e-9):
        wrong.append(f"{path}: a bound of {plan['bound']}")
    if plan["measure"] == "seconds" and plan["planner"] == "exact" and plan["bound"] is not None and plan["memory"]["limit"] is None:
        for rival in plan["against"]:
            if close(plan["bound"], plan["seconds"]) and rival.get("seconds", math.inf) < plan["seconds"] * (1 - 1e-9):
                wrong.append(f"{path}: proven, but {rival['planner']} is faster")
    return wrong


if __name__ == "__main__":
    on = Machine(sys.argv[1])
    found = [w for path in sys.argv[2:] for w in check(on, path)]
    print("\n".join(found) if found else f"{len(sys.argv) - 2} plans")
    sys.exit(bool(found))
