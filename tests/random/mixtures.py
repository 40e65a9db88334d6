#!/usr/bin/env python3
"""Tests programs of many statements of different kinds: mixtures.py EIN FIRST LAST [TARGET...]

Each seed gives a program of a dozen statements that read each other's tensors: maps, reductions, scans, windows,
gathers, scatters, one-hot products, groups, defs with several results, monoids, loops with stacks and `until`,
gradients, permutations and casts, over symbolic sizes, which may be 0 or 1. All values are integers, whatever their
dtypes, so each target must give the evaluator's outputs exactly: jit, c, cuda, or a number of sites, also with words
for `ein run` after a comma, `3,--threads=2`. A failure prints the program and the outputs that differ. Exits with 1 if
any do.
"""
import random
import re
import sys

sys.dont_write_bytecode = True
from against import compare  # noqa: E402

TARGETS = ["jit", "3"]
INTS = ["i64", "i64", "i64", "i32", "i16", "i8", "u8"]
FLOATS = ["f32", "f32", "f64", "f16", "bf16"]
DIMS = ["N", "M", "K", "3", "4"]
HEAD = """dim N, M, K
def shift[j](x) = x - x[j = j - 1] ?? 0
def both[j](x) {
  s = sum[j] x
  (s - x, max[j] x * 2 - x)
}
def twice[j](x) {
  a, b = both[j](x)
  a + 2 * b
}
def first[j](x, k) = (argmax[j where x >= k] x) ?? -1
def turn[j](x) = x[j = size(j) - 1 - j]
monoid larger(a, b) = max(a, b) identity -1000 where a >= -1000
monoid xor(a, b) = (a + b) % 2 identity 0 where a == 0 or a == 1
monoid best((v, at), (w, to)) = (max(v, w), if w > v or (w == v and to < at) then to else at)
    identity (-100000, 100000) where v >= -100000 and at >= 0 and at <= 100000
monoid chain((p, q, c), (r, s, d)) = (p + r, min(q, s), c * d % 97) identity (0, 10000, 1)
    where q <= 10000 and c >= 0 and c < 97
"""


class Tensor:
    def __init__(self, name, dims, dtype):
        self.name, self.dims, self.dtype = name, dims, dtype


class Maker:
    """What is known while a program is made. `env` maps labels to their sizes."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.n = 0
        self.seen, self.lines, self.inside = [], [], ""
        self.turn = None

    def chance(self, p):
        return self.r.random() < p

    def name(self, head="T"):
        self.n += 1
        return f"{head}{self.n}"

    # ---- expressions of integers -----------------------------------------------------------------

    def index(self, env, d, depth):
        """An index of an axis of size d, and whether it is in range."""
        r = self.r
        fit = [l for l in env if env[l] == d]
        kind = r.random()
        if fit and kind < 0.55:
            return r.choice(fit), True
        if fit and kind < 0.63:
            return f"{d} - 1 - {r.choice(fit)}", True
        if fit and kind < 0.72:
            return f"{r.choice(fit)} {r.choice(['- 1', '+ 1', '- 2', '+ K', '+ 0'])}", False
        if fit and kind < 0.76:
            return f"{r.choice(fit)} // {r.choice(['2', '3'])}", True
        any_of = list(env) + ([self.turn] if self.turn else [])
        if any_of and kind < 0.9:
            l = r.choice(any_of)
            if self.chance(0.4):
                return f"2 * {l} + {r.randint(0, 2)}", False
            return f"({l} + {r.randint(0, 3)}) % {d}" if self.chance(0.5) else f"{l} + {r.randint(-1, 1)}", False
        if depth > 0 and kind < 0.97:
            e = self.integer(env, depth - 1)
            return (f"({e}) % {d}" if self.chance(0.7) else e), False
        return r.choice(["0", "1", f"{d} - 1"]), False

    def read(self, env, depth, wide=False):
        """A read of a tensor as an i64, or as what it is."""
        if not self.seen:
            return "1"
        fitting = [t for t in self.seen if all(d in env.values() for d in t.dims)]
        t = self.r.choice(fitting if fitting and self.chance(0.8) else self.seen[-8:])
        at = [self.index(env, d, depth) for d in t.dims]
        text = t.name + (f"[{', '.join(a for a, _ in at)}]" if at else "")
        least = 0 if t.dtype == "u8" else -1
        default = "false" if t.dtype == "bool" else str(self.r.randint(least, 3))
        if not all(sure for _, sure in at):
            text += f" ?? {default}"
            if self.chance(0.5):
                text = f"({text})"
        return text if wide else f"i64({text})"

    def integer(self, env, depth):
        r = self.r
        kind = r.random()
        if depth <= 0 or kind < 0.3:
            leaf = r.random()
            if leaf < 0.75:
                return self.read(env, depth)
            if leaf < 0.9 and env:
                return r.choice(list(env))
            return r.choice(["1", "2", "7", "N", "K", self.turn or "3"])
        a, b = self.integer(env, depth - 1), self.integer(env, depth - 1)
        if kind < 0.6:
            return f"({a} {r.choice('++-*')} {b})"
        if kind < 0.68:
            return f"{r.choice(['min', 'max'])}({a}, {b})"
        if kind < 0.75:
            return f"(({a}) {r.choice(['%', '//'])} {r.choice(['2', '3', '5', 'M', '7'])})"
        if kind < 0.8:
            return f"abs({a})"
        if kind < 0.9:
            return f"(if {self.truth(env, depth - 1)} then {a} else {b})"
        return self.reduction(env, depth - 1)

    def truth(self, env, depth):
        r = self.r
        if depth > 0 and self.chance(0.3):
            return f"({self.truth(env, depth - 1)} {r.choice(['and', 'or'])} {self.truth(env, depth - 1)})"
        if self.chance(0.15):
            return f"not ({self.truth(env, depth - 1)})"
        return f"({self.integer(env, depth)} {r.choice(['<', '<=', '==', '!=', '>', '>='])} {self.integer(env, 0)})"

    def reduction(self, env, depth):
        r = self.r
        free = [l for l in "ijklmnpq" if l not in env]
        some = free[:r.choice([1, 1, 1, 2])]
        inner = {**env, **{l: r.choice(DIMS) for l in some}}
        where = f" where {self.truth(inner, 1)}" if self.chance(0.4) else ""
        if env and self.chance(0.25):
            where = f" where {some[0]} {r.choice(['<=', '<', '>=', '>', '=='])} {r.choice(list(env))}"
        bind = ", ".join(f"{l}:{inner[l]}" for l in some)
        body = self.integer(inner, depth)
        what = r.choice(["sum", "sum", "sum", "max", "min", "any", "count", "argmax", "argmin", "larger", "float",
                         "typed"])
        if what in ("sum", "max", "min"):
            text = f"({what}[{bind}{where}] ({body}))"
            return text if what == "sum" else f"max(min({text}, 10000), -10000)"
        if what == "any":
            return f"i64({r.choice(['any', 'all'])}[{bind}{where}] ({self.truth(inner, depth)}))"
        if what == "count":
            return f"count[{bind}{where}]"
        if what == "larger":
            return f"larger[{bind}{where}]({body} % 100)"
        if what == "float":
            t = r.choice(FLOATS)
            other = f"{r.choice(['f32', 'f64', t])}(({self.integer(inner, 0)}) % 3)"
            return f"i64(sum[{bind}{where}] {t}(({body}) % 4) * {other})"
        if what == "typed":
            return f"i64({r.choice(['sum', 'max'])}[{bind}{where}] {r.choice(INTS)}({body})) % 1000"
        group = bind if len(some) == 1 else f"({bind.replace(',', '')})"
        return f"(({what}[{group}{where}] ({body})) ?? -1)"

    # ---- statements ------------------------------------------------------------------------------

    def put(self, name, labels, env, dtype, value, typed=False):
        sizes = ", ".join(f"{l}:{env[l]}" for l in labels)
        out = "" if self.inside or not self.chance(0.5) else "output "
        kind = f" : {dtype}" if typed else ""
        self.lines.append(f"{self.inside}{out}{name}" + (f"[{sizes}]" if labels else "") + f"{kind} = {value}")
        self.seen.append(Tensor(name, [env[l] for l in labels], dtype))

    def labels(self, most=3):
        ls = self.r.sample("ijkl", self.r.choice([0, 1, 1, 2, 2, 2, 3][:most * 2 + 1]))
        return ls, {l: self.r.choice(DIMS) for l in ls}

    def small(self, e):
        return f"({e}) % {self.r.choice([2, 10, 100, 50])}"

    def map(self):
        ls, env = self.labels()
        e, r = self.integer(env, 3), self.r
        kind = r.random()
        if kind < 0.5:
            return self.put(self.name(), ls, env, "i64", self.small(e))
        if kind < 0.75:
            t = r.choice(INTS)
            return self.put(self.name(), ls, env, t, f"{t}({e})", self.chance(0.5))
        if kind < 0.85:
            return self.put(self.name(), ls, env, "bool", self.truth(env, 2))
        t = r.choice(FLOATS)
        return self.put(self.name(), ls, env, t, f"{t}(({e}) % 8)", self.chance(0.5))

    def reduce(self):
        ls, env = self.labels(2)
        self.put(self.name(), ls, env, "i64", self.small(self.reduction(env, 2)))

    def vector(self, dim):
        """An integer of label i of this size, from -3 to 100."""
        return self.small(self.integer({"i": dim}, 1))

    def scan(self):
        r, d = self.r, self.r.choice("NMK")
        env = {"i": d, **({"b": r.choice(DIMS)} if self.chance(0.4) else {})}
        inner = {**env, "j": d}
        ls = r.sample(list(env), len(env))
        seg = f" and ({self.integer({**env}, 0)}) % 3 == ({self.integer({**env}, 0)}) % 3" if self.chance(0.2) else ""
        where = f"j {r.choice(['<=', '<', '>=', '>'])} i{seg}"
        what = r.choice(["sum", "sum", "max", "min", "prod", "arg", "larger", "best"])
        body = self.small(self.integer(inner, r.choice([0, 1])))
        j = f"j:{d}"
        if what == "arg":
            place = r.choice(["argmax", "argmin"])
            return self.put(self.name(), ls, env, "i64", f"({place}[{j} where {where}] ({body})) ?? -2")
        if what == "larger":
            return self.put(self.name(), ls, env, "i64", f"larger[{j} where {where}](({body}))")
        if what == "best":
            return self.several(ls, env, f"best[{j} where {where}]({body}, j)", 2)
        if what == "prod":
            return self.put(self.name(), ls, env, "i64", f"(prod[{j} where {where}] (({body}) % 3 + 1)) % 1000003")
        self.put(self.name(), ls, env, "i64", f"max(min({what}[{j} where {where}] ({body}), 5000), -5000)")

    def window(self):
        r, d = self.r, self.r.choice("NMK")
        inputs = [t for t in self.seen if len(t.dims) == 1 and t.dims[0] == d]
        if not inputs:
            return self.map()
        t = r.choice(inputs)
        w = r.choice(["2", "3", "5", "K"])
        at = r.choice(["i + r", "i - r", "2 * i + r", "i + 2 * r - 1", f"i + r - {w} // 2", f"(i + r) % {d}",
                       "i * 3 - r"])
        what = r.choice(["sum", "max", "min", "sum"])
        x = f"{t.name}[{at}]"
        x = f"i64({x} ?? {'false' if t.dtype == 'bool' else '2'})" if self.chance(0.5) else f"i64({x})"
        body = x if self.chance(0.5) else f"{x} * ({self.integer({'i': d, 'r': w}, 0)})"
        extent = r.choice([d, d, f"({d} // 2)", f"({d} + 1)"])
        self.put(self.name(), ["i"], {"i": extent}, "i64", f"(({what}[r:{w}] {body}) ?? -1) % 1000")
        if extent != d:
            self.seen.pop()

    def scatter(self):
        r, d = self.r, self.r.choice("NMK")
        env = {"b": r.choice(DIMS)}
        inner = {**env, "i": d}
        what = r.choice(["sum", "max", "count", "any", "min", "arg", "best"])
        bins = self.small(self.integer({"i": d}, 1))
        where = f"{bins} == b" + (f" and {self.truth(inner, 0)}" if self.chance(0.3) else "")
        if what == "count":
            return self.put(self.name(), ["b"], env, "i64", f"count[i:{d} where {where}]")
        if what == "any":
            return self.put(self.name(), ["b"], env, "bool", f"any[i:{d} where {where}] {self.truth(inner, 1)}")
        body = self.small(self.integer(inner if self.chance(0.3) else {"i": d}, 1))
        if what == "arg":
            return self.put(self.name(), ["b"], env, "i64", f"(argmax[i:{d} where {where}] ({body})) ?? -1")
        if what == "best":
            return self.several(["b"], env, f"best[i:{d} where {where}]({body}, i)", 2)
        self.put(self.name(), ["b"], env, "i64", f"max(min({what}[i:{d} where {where}] ({body}), 9999), -9999)")

    def one_hot(self):
        r, d, c = self.r, self.r.choice("NMK"), self.r.choice(DIMS)
        t = r.choice(["i64", "f32", "i32", "f64"])
        hot = self.name("H")
        self.put(hot, ["i", "c"], {"i": d, "c": c}, t, f"{t}({self.vector(d)} == c)")
        other = {"c": c, "k": r.choice(DIMS)}
        self.put(self.name(), ["i", "k"], {"i": d, "k": other["k"]}, "i64",
                 f"i64(sum[c:{c}] {hot}[i,c] * {t}({self.small(self.integer(other, 0))}))")

    def arg_then_gather(self):
        r, d, e = self.r, self.r.choice(DIMS), self.r.choice(DIMS)
        tables = [t for t in self.seen if t.dims and e in t.dims]
        a = self.name("A")
        where = f" where {self.truth({'i': d, 'j': e}, 0)}" if self.chance(0.3) else ""
        place, body = r.choice(["argmax", "argmin"]), self.integer({"i": d, "j": e}, 1)
        self.put(a, ["i"], {"i": d}, "i64", f"({place}[j:{e}{where}] ({body})) ?? {r.choice(['0', '-1'])}")
        if tables:
            t = r.choice(tables)
            at = [f"{a}[i]" if x == e else self.index({"i": d}, x, 0)[0] for x in t.dims]
            default = "false" if t.dtype == "bool" else "1"
            self.put(self.name(), ["i"], {"i": d}, "i64", f"i64({t.name}[{', '.join(at)}] ?? {default})")

    def group(self):
        r, d, e = self.r, self.r.choice(DIMS), self.r.choice(DIMS)
        g = self.name("G")
        value = self.small(self.integer({"i": d, "j": e}, 1))
        self.lines.append(f"{g}[(i:{d} j:{e})] = {value}")
        k = r.choice(["i", "j"])
        body = f"{g}[(i:{d} j)]" if self.chance(0.5) else f"{g}[(i j:{e})]"
        kind = r.random()
        if kind < 0.4:
            self.put(self.name(), ["i", "j"][::r.choice([1, -1])], {"i": d, "j": e}, "i64", f"{g}[(i j)]")
        elif kind < 0.7:
            left, size = ("i", e) if k == "j" else ("j", d)
            self.put(self.name(), [left], {"i": d, "j": e}, "i64", f"sum[{k}:{size}] {g}[(i j)]")
        elif kind < 0.85:
            self.put(self.name(), [], {}, "i64", f"(argmax[(i:{d} j:{e})] {g}[(i j)]) ?? -1")
        else:
            self.put(self.name(), ["i"], {"i": d}, "i64", f"sum[j:{e}] {g}[(j i)]" if d != e else f"sum[j:{e}] {body}")

    def several(self, ls, env, call, count):
        names = [self.name() for _ in range(count)]
        left = ", ".join(n + (f"[{', '.join(f'{l}:{env[l]}' for l in ls)}]" if ls else "") for n in names)
        self.lines.append(f"{self.inside}{left} = {call}")
        for n in names:
            self.seen.append(Tensor(n, [env[l] for l in ls], "i64"))

    def call(self):
        r, (ls, env) = self.r, self.labels(2)
        j = r.choice([l for l in "pq"])
        d = r.choice(DIMS)
        e = self.small(self.integer({**env, j: d}, 1))
        x = self.name("X")
        self.put(x, ls + [j], {**env, j: d}, "i64", e)
        read = f"{x}[{', '.join(ls + [j])}]"
        where = f" where {self.truth({**env, j: d}, 0)}" if self.chance(0.3) else ""
        cover = " ?? 3" if where else ""
        full, fenv = ls + [j], {**env, j: d}
        r.shuffle(full)
        what = r.choice(["shift", "both", "twice", "first", "turn", "best", "chain", "xor", "subst"])
        if what in ("shift", "twice"):
            return self.put(self.name(), full, fenv, "i64", f"({what}[{j}{where}]({read})){cover}")
        if what == "turn":
            return self.put(self.name(), full, fenv, "i64", f"turn[{j}]({read} + 0)")
        if what == "subst":
            mirrored = f"({read} * 2 - {self.integer(fenv, 0)})[{j} = {d} - 1 - {j}]"
            return self.put(self.name(), full, fenv, "i64", mirrored)
        if what == "both":
            return self.several(full, fenv, f"both[{j}]({read})", 2)
        if what == "first":
            return self.put(self.name(), ls, env, "i64", f"first[{j}{where}]({read}, {r.randint(0, 9)})")
        if what == "best":
            return self.several(ls, env, f"best[{j}{where}]({read}, {j})", 2)
        if what == "chain":
            second = self.small(self.integer(fenv, 0))
            return self.several(ls, env, f"chain[{j}{where}]({read}, {second}, {read} % 7 + 1)", 3)
        self.put(self.name(), ls, env, "i64", f"xor[{j}{where}](({read}) % 2)")

    def loop(self):
        r, d = self.r, self.r.choice(DIMS)
        ls, env = self.labels(2)
        t, s = self.name("t"), self.name("s")
        turns = r.choice(["3", "4", "K", "5"])
        until = ""
        side = "" if not ls else f"[{', '.join(ls)}]"
        sized = "" if not ls else "[" + ", ".join(f"{l}:{env[l]}" for l in ls) + "]"
        start = self.small(self.integer(env, 1))
        if self.chance(0.3):
            until = f" until {f'(sum[{chr(44).join(ls)}] {s}{side})' if ls else s} > {r.randint(5, 60)}"
        self.lines += [f"repeat {t} < {turns}{until} {{", f"  state {s}{sized} = {start}"]
        keep, self.inside, self.turn = len(self.seen), "  ", t
        self.seen.append(Tensor(s, [env[l] for l in ls], "i64"))
        for _ in range(r.choice([0, 1, 1, 2])):
            r.choice([self.map, self.reduce, self.scan, self.scatter])()
        h = self.name("h")
        stack = self.chance(0.5)
        if stack:
            at = r.randint(0, len(ls))
            order = [f"{l}:{env[l]}" for l in ls]
            order.insert(at, t)
            self.lines.append(f"  {h}[{', '.join(order)}] = {self.small(self.integer(env, 1))}")
        step = self.small(self.integer(env, 2))
        if ls and self.chance(0.4):
            l = ls[0]
            p = r.choice([f"{l} == {t}", f"{l} == {self.read({}, 0)}", f"{l} < {t}", f"{t} <= {l} and {l} < {t} + 2"])
            step = f"if {p} then {step} else {s}{side}"
        self.lines += [f"  next {s}{side} = {step}", "}"]
        del self.seen[keep:]
        self.inside, self.turn = "", None
        self.seen.append(Tensor(s, [env[l] for l in ls], "i64"))
        if stack:
            dims = [env[l] for l in ls]
            dims.insert(at, turns)
            self.seen.append(Tensor(h, dims, "i64"))
            if self.chance(0.5):
                self.lines.append(f"output {h}")
        self.lines.append(f"output {s}, {t}")

    def gradient(self):
        r, d, e = self.r, self.r.choice(DIMS), self.r.choice(DIMS)
        w, p, g = self.name("W"), self.name("P"), self.name()
        self.put(w, ["i"], {"i": d}, "f64", f"f64({self.vector(d)} % 5)")
        x = f"f64({self.small(self.integer({'i': d, 'k': e}, 0))} % 5)"
        form = r.choice([f"sum[i:{d}] {w}[i] * {x}", f"sum[i:{d} where i <= k] {w}[i] * {x}",
                         f"max[i:{d}] ({w}[i] * {x})", f"({w}[k] ?? 1) * 2 + ({w}[k + 1] ?? 0)",
                         f"({w}[({self.integer({'k': e}, 0)}) % {d}] ?? 1) ^ 2",
                         f"if {self.truth({'k': e}, 0)} then sum[i:{d}] {w}[i]^2 else 3"])
        self.lines.append(f"{p}[k:{e}] = {form}")
        loss = r.choice([f"sum[k] {p}[k]^2", f"sum[k where k % 2 == 0] {p}[k]", f"sum[k,j:{d}] {p}[k] * {w}[j]"])
        if self.chance(0.5):
            l = self.name("L")
            self.lines.append(f"{l} = {loss}")
            loss = l
        if "max" in form:
            self.lines.append(f"{g}[i:{d}] = i64(clamp(grad({loss}, {w}[i]), -10000, 10000))")
        else:
            self.lines.append(f"{g}[i:{d}] = i64(grad({loss}, {w}[i]))")
        self.seen.append(Tensor(g, [d], "i64"))
        self.lines.append(f"output {g}")

    def random(self):
        r, d = self.r, self.r.choice("NMK")
        what = r.choice(["permutation[i]", "inverse_permutation[i]"])
        if self.chance(0.4):
            return self.put(self.name(), ["i"], {"i": d}, "i64", f"i64(8 * uniform[i]({self.read({}, 0)}))")
        self.put(self.name(), ["i"], {"i": d}, "i64", f"{what}({r.choice(['7', self.read({}, 0)])})")

    def held(self):
        ls, env = self.labels(2)
        all_of = ", ".join(f"{l}:{env[l]}" for l in ls)
        e = self.integer(env, 1)
        if ls:
            self.lines.append(f"assert all[{all_of}] (({e}) % 1000003 > -5), \"held\"")

    def program(self):
        r = self.r
        self.lines = HEAD.splitlines()
        for k in range(r.randint(2, 4)):
            ls, env = r.sample("ij", r.choice([1, 1, 2])), {}
            env = {l: r.choice(DIMS[:4]) for l in ls}
            t = r.choice(INTS + FLOATS[:3] + ["bool"])
            e = " + ".join(f"{r.randint(1, 9)} * {l}" for l in ls)
            e = f"({e} + {r.randint(0, 5)}) * {r.choice([1, 3, 7])} % {r.choice([5, 8, 11, 13])}"
            e = f"{e} > 3" if t == "bool" else f"{t}({e} - {r.choice([0, 0, 2]) if t != 'u8' else 0})"
            self.lines.append(f"input I{k}[{', '.join(f'{l}:{env[l]}' for l in ls)}] : {t} = {e}")
            self.seen.append(Tensor(f"I{k}", [env[l] for l in ls], t))
        kinds = [self.map] * 4 + [self.reduce] * 4 + [self.scan] * 3 + [self.window] * 3 + [self.scatter] * 2
        kinds += [self.one_hot] * 2 + [self.arg_then_gather] * 2 + [self.group] * 2 + [self.call] * 4 + [self.loop] * 2
        kinds += [self.gradient, self.random, self.held]
        for _ in range(r.randint(3, 12)):
            r.choice(kinds)()
        self.lines.append("output " + self.seen[-1].name)
        made, out = {}, []
        for line in self.lines:
            m = re.match(r"output (\w+)$", line)
            if m and made.get(m[1]):
                continue
            listed = re.match(r"output [\w, ]+$", line)
            for n in re.findall(r"\w+", line[7:]) if listed else re.findall(r"^output (\w+)", line):
                made[n] = True
            out.append(line)
        return out


def sizes_of(r):
    few, some, many = [1, 2, 3, 0], [4, 5, 6, 7, 8, 9], [12, 16, 17, 24, 33, 40]
    return [{"N": r.choice(n), "M": r.choice([0, 1, 2, 3, 7, 8, 16, 20]), "K": r.choice([0, 1, 2, 3, 5, 6])}
            for n in (few, some, many)]


if __name__ == "__main__":
    sys.exit(compare(lambda seed: Maker(seed).program(), sizes_of, TARGETS, unneeded=True))
