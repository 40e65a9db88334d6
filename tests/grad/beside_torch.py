#!/usr/bin/env python3
"""Compares gradients of random programs with PyTorch's, in f64: each program is generated once, printed as Ein, and computed by torch with autograd.

beside_torch.py EIN [--seed N] [--count N] [--target eval|c|jit] [--keep FOLDER]

Run by hand, with a Python that has torch; without torch it says so and exits with 77. The loss and the gradients must
agree with torch's within BOUND times the tensor's largest element, or times FLOOR of the largest element of all tensors
(sums that cancel have no accurate digits). If torch's own answer changes by more than 10,000 times as much as inputs
that change by a factor of 1 + s, for some s in SHAKEN, the program proves nothing, and is only counted: 1e-15 changes it
by a tenth of BOUND. After one of these steps alone, all may happen to round to the same numbers. If they differ, exits
with 1 and writes the program to FOLDER. An equation's value is a tree (Read, Map, Pair, Fold, ...) that has a text, and
a value over all labels of the equation; only indices and conditions on labels are texts that both sides evaluate."""
import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
except ImportError as missing:
    if __name__ == "__main__":
        print(f"no {missing.name} here")
        sys.exit(77)
    raise

F = torch.nn.functional
BOUND = 1e-10
FLOOR = 1e-3
SHAKEN = [1e-15, 1e-14, -3e-14, 1e-13]
BATCH = 10
IDX = [1, 4, 2, 0, 3]


def clamped(x):
    """clamp by the stated subgradient: at an end, where a clamped x lies if it is clamped again, all of it goes to x. That of torch.clamp is 0 there."""
    return torch.where(x < -0.391, -0.391, torch.where(x > 0.614, 0.614, x))


MAPS = [("sin({})", torch.sin), ("exp(0.3 * {})", lambda x: torch.exp(0.3 * x)), ("tanh({})", torch.tanh), ("1 / (2 + ({})^2)", lambda x: 1 / (2 + x * x)),
        ("sqrt(1 + ({})^2)", lambda x: torch.sqrt(1 + x * x)), ("log(2 + ({})^2)", lambda x: torch.log(2 + x**2)), ("(0.3 * {})^3", lambda x: (0.3 * x)**3),
        ("atan({})", torch.atan), ("erf({})", torch.erf), ("abs({} - 0.217)", lambda x: torch.abs(x - 0.217)),
        ("relu({} - 0.0137)", lambda x: torch.relu(x - 0.0137)), ("cosh(0.2 * {})", lambda x: torch.cosh(0.2 * x)), ("sigmoid({})", torch.sigmoid),
        ("gelu({})", F.gelu), ("gelu_tanh({})", lambda x: F.gelu(x, approximate="tanh")), ("softplus({})", lambda x: F.softplus(x, threshold=40)), ("silu({})", F.silu),
        ("hypot({}, 1.5)", lambda x: torch.hypot(x, torch.full_like(x, 1.5))), ("atan2({}, 2.5)", lambda x: torch.atan2(x, torch.full_like(x, 2.5))),
        ("rsqrt(3 + ({})^2)", lambda x: torch.rsqrt(3 + x**2)), ("expm1(0.2 * {})", lambda x: torch.expm1(0.2 * x)),
        ("(3 + sin({}))^1.7", lambda x: (3 + torch.sin(x))**1.7), ("2^(0.4 * {})", lambda x: 2**(0.4 * x)), ("log1p(exp({}))", lambda x: torch.log1p(torch.exp(x))),
        ("exp2(0.3 * {})", lambda x: torch.exp2(0.3 * x)), ("asin(0.3 * sin({}))", lambda x: torch.asin(0.3 * torch.sin(x))),
        ("clamp({}, -0.391, 0.614)", clamped), ("{} % 0.573", lambda x: torch.remainder(x, 0.573)),
        ("log2(2.5 + tanh({}))", lambda x: torch.log2(2.5 + torch.tanh(x))), ("sinh(0.2 * {})", lambda x: torch.sinh(0.2 * x)),
        ("tan(0.3 * tanh({}))", lambda x: torch.tan(0.3 * torch.tanh(x))), ("stop_gradient(cos({})) * 0.5", lambda x: torch.cos(x).detach() * 0.5),
        ("acos(0.4 * sin({}))", lambda x: torch.acos(0.4 * torch.sin(x))),
        ("lgamma(1.3 + ({})^2)", lambda x: torch.lgamma(1.3 + x * x))]
PAIRS = [("{} * {}", torch.mul), ("{} * {}", torch.mul), ("({} + 0.5) * sin({})", lambda a, b: (a + 0.5) * torch.sin(b)), ("({} - 2 * {})", lambda a, b: a - 2 * b),
         ("exp(0.1 * tanh({}) * {})", lambda a, b: torch.exp(0.1 * torch.tanh(a) * b)), ("{} / (3 + ({})^2)", lambda a, b: a / (3 + b**2)),
         ("max({} + 0.0113, {})", lambda a, b: torch.maximum(a + 0.0113, b)), ("min({} + 0.0171, {})", lambda a, b: torch.minimum(a + 0.0171, b)),
         ("atan2({}, 2.3 + tanh({}))", lambda a, b: torch.atan2(a, 2.3 + torch.tanh(b))), ("hypot({}, {} + 2.71)", lambda a, b: torch.hypot(a, b + 2.71)),
         ("(2 + tanh({}))^(sin({}))", lambda a, b: (2 + torch.tanh(a))**torch.sin(b)),
         ("(if {} > 0.0129 then {} else 0.3)", lambda a, b: torch.where(a > 0.0129, b, 0.3))]


# ---- expressions: a text, and a value over all labels of the equation ----------------------------------------------------

class At:
    """The labels of an equation as index tensors, each along its own axis, and the tensors that it reads."""

    def __init__(self, sizes, tensors, turn):
        self.order = list(sizes)
        self.sizes, self.tensors = sizes, tensors
        self.names = {c: torch.arange(n).reshape([-1 if c == d else 1 for d in sizes]) for c, n in sizes.items()}
        self.names.update(turn)
        self.names["idx"] = torch.tensor(IDX)

    def number(self, text):
        return eval(text, {"__builtins__": {}}, self.names)  # an index, or a condition on labels, of this program's own making

    def full(self, x, labels):
        return x.expand([self.sizes[c] if c in labels else n for c, n in zip(self.order, x.shape)])

    def axes(self, labels):
        return [self.order.index(c) for c in labels]


class Read:
    def __init__(self, tensor, indices, default=None):
        self.name, self.shape, self.indices, self.default = tensor[0], tensor[1], indices, default

    def text(self):
        read = self.name + (f"[{', '.join(self.indices)}]" if self.indices else "")
        return read if self.default is None else f"({read} ?? {self.default})"

    def value(self, at):
        x = at.tensors[self.name]
        if not self.indices:
            return x.reshape([1] * len(at.order))
        places = [torch.as_tensor(at.number(i)) for i in self.indices]
        inside = [(p >= 0) & (p < n) for p, n in zip(places, self.shape)]
        places = torch.broadcast_tensors(*[p.clamp(0, n - 1) for p, n in zip(places, self.shape)])
        got = x[tuple(places)]
        got = got.reshape([1] * (len(at.order) - got.dim()) + list(got.shape))
        if self.default is None:
            assert all(bool(i.all()) for i in inside)
            return got
        good = inside[0]
        for i in inside[1:]:
            good = good & i
        return torch.where(good, got, self.default)


class Map:
    def __init__(self, how, e):
        self.how, self.e = how, e

    def text(self):
        return "(" + self.how[0].replace("{}", self.e.text()) + ")"

    def value(self, at):
        return self.how[1](self.e.value(at))


class Pair:
    def __init__(self, how, a, b):
        self.how, self.a, self.b = how, a, b

    def text(self):
        return "(" + self.how[0].format(self.a.text(), self.b.text()) + ")"

    def value(self, at):
        return self.how[1](self.a.value(at), self.b.value(at))


class Number:
    """A constant times an index over labels."""

    def __init__(self, by, index):
        self.by, self.index = by, index

    def text(self):
        return f"{self.by} * f64({self.index})"

    def value(self, at):
        x = torch.as_tensor(at.number(self.index)).to(torch.float64) * self.by
        return x.reshape([1] * (len(at.order) - x.dim()) + list(x.shape))


class If:
    def __init__(self, condition, a, b):
        self.condition, self.a, self.b = condition, a, b

    def text(self):
        return f"(if {self.condition} then {self.a.text()} else {self.b.text()})"

    def value(self, at):
        return torch.where(torch.as_tensor(at.number(self.condition)), self.a.value(at), self.b.value(at))


class Fold:
    """A reducer over labels, perhaps under a condition on labels or on data."""

    def __init__(self, word, labels, body, where=None, data=None, size=""):
        self.word, self.labels, self.body, self.where, self.data, self.size = word, labels, body, where, data, size

    def text(self):
        where = f" where {self.where}" if self.where else f" where {self.data[0].text()} > {self.data[1]}" if self.data else ""
        return f"({self.word}[{','.join(self.labels)}{self.size}{where}] {self.body.text()})"

    def value(self, at):
        x = at.full(self.body.value(at), self.labels)
        axes = at.axes(self.labels)
        keep = torch.tensor(True)
        if self.where:
            keep = torch.as_tensor(at.number(self.where))
        if self.data:
            keep = self.data[0].value(at) > self.data[1]
        x, keep = torch.broadcast_tensors(x, keep)
        nothing = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -torch.inf, "min": torch.inf, "logsumexp": -torch.inf}[self.word]
        x = torch.where(keep, x, nothing)
        if self.word == "sum":
            return x.sum(axes, keepdim=True)
        if self.word == "mean":
            return x.sum(axes, keepdim=True) / keep.to(torch.float64).sum(axes, keepdim=True)
        if self.word == "prod":
            for k in axes:
                x = x.prod(k, keepdim=True)
            return x
        return {"max": torch.amax, "min": torch.amin, "logsumexp": torch.logsumexp}[self.word](x, axes, keepdim=True)


class Row:
    """A def of the prelude along one label, perhaps under a condition."""

    def __init__(self, word, label, e, where=None):
        self.word, self.label, self.e, self.where = word, label, e, where

    def text(self):
        where = f" where {self.where}" if self.where else ""
        more = {"layernorm": ", 1.5, 0.5, 0.3", "rmsnorm": ", 0.7, 0.2"}.get(self.word, "")
        return f"({self.word}[{self.label}{where}]({self.e.text()}{more}))" + (" ?? 0" if self.where else "")

    def value(self, at):
        k = at.order.index(self.label)
        x = at.full(self.e.value(at), [self.label])
        if self.where:
            keep = torch.as_tensor(at.number(self.where))
            x, keep = torch.broadcast_tensors(x, keep)
            return torch.where(keep, F.softmax(torch.where(keep, x, -torch.inf), k), 0.0)
        x = x.transpose(k, -1)
        n = [x.shape[-1]]
        y = {"softmax": lambda: F.softmax(x, -1), "logsoftmax": lambda: F.log_softmax(x, -1),
             "layernorm": lambda: F.layer_norm(x, n, torch.full(n, 1.5).to(torch.float64), torch.full(n, 0.5).to(torch.float64), 0.3),
             "rmsnorm": lambda: F.rms_norm(x, n, torch.full(n, 0.7).to(torch.float64), 0.2)}[self.word]()
        return y.transpose(k, -1)


class Product:
    """A product of reads at plain labels, summed: computed by torch.einsum."""

    def __init__(self, reads, out, sums):
        self.reads, self.out, self.sums = reads, out, sums

    def text(self):
        return (f"sum[{','.join(self.sums)}] " if self.sums else "") + " * ".join(r.text() for r in self.reads)

    def value(self, at):
        spelt = ",".join("".join(r.indices) for r in self.reads) + "->" + "".join(self.out)
        x = torch.einsum(spelt, *[at.tensors[r.name] for r in self.reads])
        return x.reshape([at.sizes[c] if c in self.out else 1 for c in at.order])


class Equation:
    def __init__(self, name, out, sizes, e, merged=0):
        self.name, self.out, self.sizes, self.e, self.merged = name, out, sizes, e, merged
        self.shape = tuple(sizes[c] for c in out)
        if merged:
            self.shape = (self.shape[0] * self.shape[1],) + self.shape[2:]

    def text(self):
        left = [f"{c}:{self.sizes[c]}" for c in self.out]
        if self.merged:
            left = [f"({left[0]} {left[1]})"] + left[2:]
        return self.name + (f"[{', '.join(left)}]" if left else "") + f" = {self.e.text()}"

    def run(self, tensors, turn):
        sizes = {c: self.sizes[c] for c in self.out}
        sizes.update({c: n for c, n in self.sizes.items() if c not in sizes})
        at = At(sizes, tensors, turn)
        x = self.e.value(at)
        x = x.expand([n if c in self.out else 1 for c, n in sizes.items()])
        x = x.reshape(self.shape)
        tensors[self.name] = x if x.requires_grad else x.detach().clone().requires_grad_()  # by a constant, too, there is a gradient


class Repeat:
    """A repeat: states, equations, stacked values, and perhaps an end that depends on data."""

    def __init__(self, turn, turns, states, body, nexts, stacked, until):
        self.turn, self.turns, self.states, self.body, self.nexts, self.stacked, self.until = turn, turns, states, body, nexts, stacked, until

    def text(self):
        def at(shape):
            ls = "ijk"[:len(shape)]
            return f"[{','.join(f'{c}:{n}' for c, n in zip(ls, shape))}]" if shape else ""
        lines = [f"repeat {self.turn} < {self.turns}" + (f" until {self.until[0]} > {self.until[1]}" if self.until else "") + " {"]
        lines += [f"  state {name}{at(shape)} = {init}" + (f"[{','.join('ijk'[:len(shape)])}]" if shape else "") for name, shape, init in self.states]
        lines += ["  " + q.text() for q in self.body]
        if self.stacked:
            ls = list("ijk"[:len(self.stacked[1])])
            lines.append(f"  {self.stacked[0]}[{','.join([self.turn] + ls)}] = {self.stacked[2]}" + (f"[{','.join(ls)}]" if ls else ""))
        lines += [f"  next {name}{at(shape)} = {new}" + (f"[{','.join('ijk'[:len(shape)])}]" if shape else "") for (name, shape, _), new in zip(self.states, self.nexts)]
        return "\n".join(lines + ["}"])

    def run(self, tensors, turn):
        for name, _, init in self.states:
            tensors[name] = tensors[init]
        stack = []
        for k in range(self.turns):
            for q in self.body:
                q.run(tensors, {self.turn: torch.tensor(k), **turn})
            if self.stacked:
                stack.append(tensors[self.stacked[2]])
            new = [tensors[n] for n in self.nexts]
            over = self.until and float(tensors[self.until[0]].detach()) > self.until[1]  # by the old state; the nexts still take effect
            for (name, _, _), x in zip(self.states, new):
                tensors[name] = x
            if over:
                break
        if self.stacked:
            tensors[self.stacked[0]] = torch.stack(stack)


# ---- a program ----------------------------------------------------------------------------------------------------------------

class Program:
    def __init__(self, seed):
        self.chance, self.seed = random.Random(seed), seed
        self.tag = f"P{seed}_"
        self.lines, self.params, self.tensors, self.n = [], [], [], 0
        for _ in range(self.chance.randint(1, 3)):
            self.params.append((f"{self.tag}W{len(self.params)}", tuple(self.chance.choice([2, 3, 4, 5]) for _ in range(self.chance.randint(0, 3)))))
        self.tensors += self.params
        for _ in range(self.chance.randint(3, 10)):
            self.chance.choice([self.map, self.pair, self.product, self.product, self.fold, self.fold, self.window, self.stride, self.gather, self.scatter,
                                self.choose, self.running, self.row, self.row, self.past, self.merge, self.diagonal, self.back, self.parts, self.loop, self.three])()
            name, shape = self.tensors[-1]
            if numpy.prod(shape) > 150:
                ls = list("ijk"[:len(shape)])
                self.add([], dict(zip(ls, shape)), Fold("mean", ls, Map(MAPS[0], Read((name, shape), ls))))
        self.end()

    def fresh(self):
        self.n += 1
        return f"{self.tag}T{self.n}"

    def pick(self, least=0, fits=lambda shape: True):
        """A tensor with at least that many labels, often the newest."""
        there = [t for t in self.tensors if len(t[1]) >= least and len(t[1]) <= 3 and fits(t[1])]
        if not there:
            return None
        return there[-1] if self.chance.random() < 0.4 else self.chance.choice(there)

    def add(self, out, sizes, e, merged=0):
        q = Equation(self.fresh(), out, sizes, e, merged)
        self.lines.append(q)
        self.tensors.append((q.name, q.shape))
        return q

    def whole(self, t):
        ls = list("ijk"[:len(t[1])])
        return ls, dict(zip(ls, t[1])), Read(t, ls)

    def map(self):
        ls, sizes, e = self.whole(self.pick())
        self.add(ls, sizes, Map(self.chance.choice(MAPS), e))

    def joined(self):
        """Two tensors that share labels of the same extent, and the labels of the result."""
        a, b = self.pick(), self.pick()
        la = list("ijk"[:len(a[1])])
        sizes, lb = dict(zip(la, a[1])), []
        for n in b[1]:
            same = [c for c in la if sizes[c] == n and c not in lb]
            c = self.chance.choice(same) if same and self.chance.random() < 0.7 else next(c for c in "pqr" if c not in lb)
            lb.append(c)
            sizes[c] = n
        out = [c for c in sizes if self.chance.random() < 0.5][:3]
        self.chance.shuffle(out)
        return Read(a, la), Read(b, lb), sizes, out, [c for c in sizes if c not in out]

    def pair(self):
        a, b, sizes, out, sums = self.joined()
        e = Pair(self.chance.choice(PAIRS), a, b)
        self.add(out, sizes, Fold("mean", sums, e) if sums else e)

    def product(self):
        a, b, sizes, out, sums = self.joined()
        self.add(out, sizes, Product([a, b], out, sums))
        ls, sizes, e = self.whole(self.tensors[-1])
        self.add(ls, sizes, Map(("0.7 * tanh(0.5 * {})", lambda x: 0.7 * torch.tanh(0.5 * x)), e))

    def three(self):
        """A product of three tensors, whose order the compiler chooses."""
        a, b, sizes, out, sums = self.joined()
        c = self.pick(1)
        if not c or len(c[1]) > 2:
            return self.pair()
        lc = []
        for n in c[1]:
            same = [x for x in sizes if sizes[x] == n and x not in lc]
            lc.append(same[0] if same else next(x for x in "uvw" if x not in lc))
            sizes[lc[-1]] = n
        self.add(out, sizes, Product([a, b, Read(c, lc)], out, [x for x in sizes if x not in out]))
        ls, sizes, e = self.whole(self.tensors[-1])
        self.add(ls, sizes, Map(MAPS[2], e))

    def uneven(self, ls, e):
        """Adds a different number at each point, so that no two values are equal."""
        for k, c in enumerate(ls):
            e = Pair(("{} + {}", torch.add), e, Number([0.137, 0.0731, 0.0317, 0.0173][k], f"({c} * {k + 3}) % 7"))
        return e

    def fold(self):
        t = self.pick(1)
        if not t:
            return self.map()
        ls, sizes, e = self.whole(t)
        sums = self.chance.sample(ls, self.chance.randint(1, len(ls)))
        word = self.chance.choice(["sum", "mean", "max", "min", "logsumexp"] + ["prod"] * (max(t[1]) <= 8))
        where = f"{sums[0]} >= 1" if word != "max" and self.chance.random() < 0.3 else None
        data = (Read(t, ls), 0.0213) if not where and word in ("sum", "prod") and self.chance.random() < 0.3 else None
        body = Map(self.chance.choice(MAPS), e)
        body = self.uneven(ls, Map(MAPS[2], body)) if word in ("max", "min") else Map(("(1 + 0.2 * sin({}))", lambda x: 1 + 0.2 * torch.sin(x)), body) \
            if word == "prod" else Map(MAPS[2], body)
        self.add([c for c in ls if c not in sums], sizes, Fold(word, sums, body, where, data))

    def window(self):
        t = self.pick(1)
        if not t:
            return self.map()
        ls, sizes, _ = self.whole(t)
        sizes["q"] = self.chance.randint(2, 3)
        read = Read(t, [f"{ls[0]} + q - 1"] + ls[1:], self.chance.choice([0.0, 0.1, -0.4]))
        word = self.chance.choice(["sum", "max", "mean", "logsumexp"])
        e = self.uneven(["q"] + ls, read) if word == "max" else Pair(("{} * {}", torch.mul), read, Number(0.4, "q + 1"))
        self.add(ls, sizes, Fold(word, ["q"], e, size=f":{sizes['q']}"))

    def stride(self):
        t = self.pick(1, lambda s: s[0] >= 4)
        if not t:
            return self.window()
        ls, sizes, _ = self.whole(t)
        sizes[ls[0]], sizes["q"] = t[1][0] // 2, 2
        read = Read(t, [f"2 * {ls[0]} + q"] + ls[1:])
        self.add(ls, sizes, Fold(self.chance.choice(["sum", "mean"]), ["q"], Map(self.chance.choice(MAPS), read), size=":2"))

    def gather(self):
        t = self.pick(1)
        if not t:
            return self.map()
        ls, sizes, _ = self.whole(t)
        n = t[1][0]
        index = self.chance.choice([f"(g * 3 + 1) % {n}", f"idx[g + 0] % {n}", f"idx[(g + 2) % 5] % {n}"])
        out = ["g"] + ls[1:]
        sizes = {"g": self.chance.randint(2, 5), **{c: sizes[c] for c in ls[1:]}}
        self.add(out, sizes, self.uneven(out, Map(self.chance.choice(MAPS), Read(t, [index] + ls[1:]))))

    def scatter(self):
        t = self.pick(1)
        if not t:
            return self.map()
        ls, sizes, e = self.whole(t)
        sizes = {"g": 3, **sizes}
        self.add(["g"] + ls[1:], sizes, Fold("sum", [ls[0]], Map(MAPS[0], e), f"idx[{ls[0]} % 5] % 3 == g"))

    def choose(self):
        t = self.pick(1)
        if not t:
            return self.map()
        ls, sizes, e = self.whole(t)
        other = If(f"{ls[0]} > 1", Map(self.chance.choice(MAPS), e), Map(self.chance.choice(MAPS), e))
        self.add(ls, sizes, If(f"{ls[-1]} % 2 == 0", Map(self.chance.choice(MAPS), e), other))

    def running(self):
        t = self.pick(1)
        if not t:
            return self.map()
        ls, sizes, _ = self.whole(t)
        sizes["q"] = t[1][0]
        word = self.chance.choice(["sum", "max", "logsumexp"] + ["prod"] * (t[1][0] <= 8))
        body = Map(self.chance.choice(MAPS[:8]), Read(t, ["q"] + ls[1:]))
        body = self.uneven(["q"] + ls[1:], body) if word == "max" else Map(("(1 + 0.2 * sin({}))", lambda x: 1 + 0.2 * torch.sin(x)), body) \
            if word == "prod" else body
        self.add(ls, sizes, Fold(word, ["q"], body, f"q <= {ls[0]}"))

    def row(self):
        t = self.pick(1)
        if not t:
            return self.map()
        ls, sizes, e = self.whole(t)
        self.add(ls, sizes, Row(self.chance.choice(["softmax", "softmax", "logsoftmax", "layernorm", "rmsnorm"]), self.chance.choice(ls), e))

    def past(self):
        """Scores between positions, and a causal softmax over them."""
        t = self.pick(1)
        if not t:
            return self.map()
        n, d = t[1][0], t[1][1:]
        rest = list("jk"[:len(d)])
        sizes = {"s": n, "t": n, **dict(zip(rest, d))}
        both = Pair(("{} * {}", torch.mul), Read(t, ["s"] + rest), Read(t, ["t"] + rest))
        self.add(["s", "t"], sizes, Fold("mean", rest, both) if rest else both)
        score = self.tensors[-1]
        self.add(["s", "t"], {"s": n, "t": n}, Row("softmax", "t", Read(score, ["s", "t"]), "t <= s"))

    def merge(self):
        t = self.pick(2)
        if not t:
            return self.map()
        ls, sizes, e = self.whole(t)
        if self.chance.random() < 0.5:
            self.add(ls, sizes, Map(self.chance.choice(MAPS), e), merged=1)
        else:
            n = t[1][1]
            read = Read(t, [f"m // {n}", f"m % {n}"] + ls[2:])
            self.add(["m"] + ls[2:], {"m": t[1][0] * n, **{c: sizes[c] for c in ls[2:]}}, Map(self.chance.choice(MAPS), read))

    def diagonal(self):
        t = self.pick(2, lambda s: s[0] == s[1])
        if not t:
            return self.product()
        ls, sizes, _ = self.whole(t)
        del sizes["j"]
        self.add([c for c in ls if c != "j"], sizes, Map(MAPS[0], Read(t, ["i", "i"] + ls[2:])))

    def back(self):
        t = self.pick(1)
        if not t:
            return self.map()
        ls, sizes, e = self.whole(t)
        self.add(ls, sizes, Pair(self.chance.choice(PAIRS), e, Read(t, [f"{t[1][0] - 1} - {ls[0]}"] + ls[1:])))

    def parts(self):
        """A def that uses its argument several times."""
        def bend(x):
            a = torch.sin(x)
            b = a * a + x
            return b * torch.tanh(b) - a / (2 + b**2)
        ls, sizes, e = self.whole(self.pick())
        self.add(ls, sizes, Map(("bend({})", bend), e))

    def loop(self):
        t, o = self.pick(), self.pick()
        ls, sizes, _ = self.whole(t)
        lo = list("pqr"[:len(o[1])])
        turn, state, second = self.fresh(), self.fresh(), self.fresh()
        n = self.chance.randint(1, 4)
        around = Fold("mean", lo, Map(MAPS[2], Read(o, lo))) if lo else Map(MAPS[2], Read(o, []))
        a, b = self.fresh(), self.fresh()
        here = Read((state, t[1]), ls)
        far = Read((state, t[1]), [f"{t[1][0] - 1} - {ls[0]}"] + ls[1:]) if ls else here
        beat = Pair(("{} + {}", torch.add), here, Number(0.2, turn))
        add = ("(0.6 * {} + {})", lambda x, y: 0.6 * x + y)
        e = Pair(add, Map(self.chance.choice([MAPS[0], MAPS[2], MAPS[1], MAPS[12]]), beat), Pair(self.chance.choice(PAIRS[:4]), far, around))
        e = Pair(("{} + 0.2 * {}", lambda x, y: x + 0.2 * y), e, Read((second, ()), []))
        body = [Equation(a, ls, {**sizes, **dict(zip(lo, o[1]))}, e)]
        mean = Read((a, t[1]), ls)
        body.append(Equation(b, [], sizes, Map(MAPS[2], Pair(("{} + 0.3 * {}", lambda x, y: x + 0.3 * y), Fold("mean", ls, mean) if ls else mean, Read((second, ()), [])))))
        seed = self.add([], dict(zip(lo, o[1])), Map(MAPS[0], around))
        stacked = (self.fresh(), t[1], a) if len(ls) < 3 and self.chance.random() < 0.5 else None
        until = (second, 0.217) if not stacked and self.chance.random() < 0.4 else None
        self.lines.append(Repeat(turn, n, [(state, t[1], t[0]), (second, (), seed.name)], body, [a, b], stacked, until))
        self.tensors.append((second, ()))
        if stacked:
            self.tensors.append((stacked[0], (n,) + t[1]))
        self.tensors.append((state, t[1]))

    def end(self):
        """Chooses the loss, and the tensors to differentiate by: the params, and one intermediate tensor."""
        text = "\n".join(q.text().split(" = ", 1)[-1] if isinstance(q, Equation) else q.text() for q in self.lines)
        loose = [t for t in self.tensors if t not in self.params and not any(t[0] + c in text for c in "[ ),\n") and not text.endswith(t[0])] or [self.tensors[-1]]
        parts = []
        for t in loose:
            ls, sizes, e = self.whole(t)
            parts.append(self.add([], sizes, Fold("sum", ls, Map(("sin(0.7 * {} + 0.2)", lambda x: torch.sin(0.7 * x + 0.2)), self.uneven(ls, e)))
                                  if ls else Map(MAPS[0], e)))
        self.parts = [q.name for q in parts]
        plain = [(q.name, q.shape) for q in self.lines if isinstance(q, Equation) and q.name not in self.parts]
        self.wrt = self.params + ([self.chance.choice(plain)] if plain else [])

    def text(self):
        out = []
        for name, shape in self.params:
            out.append(f"param {name}" + (f"[{', '.join(map(str, shape))}]" if shape else "") + " : f64")
        out += [q.text() for q in self.lines]
        out.append(f"output {self.tag}L = " + " + ".join(self.parts))
        for k, (name, shape) in enumerate(self.wrt):
            at = f"[{','.join('ijk'[:len(shape)])}]" if shape else ""
            out.append(f"output {self.tag}G{k}{at} = grad({self.tag}L, {name}{at})")
        return "\n".join(out) + "\n"

    def values(self):
        draw = numpy.random.default_rng(self.seed)
        return {name: draw.uniform(-1, 1, shape) for name, shape in self.params}

    def torch(self, values):
        """Returns the loss and its gradients."""
        tensors = {name: torch.tensor(x, dtype=torch.float64, requires_grad=True) for name, x in values.items()}
        for q in self.lines:
            q.run(tensors, {})
        loss = sum(tensors[n] for n in self.parts)
        wrt = [tensors[name] for name, _ in self.wrt]
        hangs = [x for x in wrt if x.requires_grad]
        grads = iter(torch.autograd.grad(loss, hangs, allow_unused=True) if loss.requires_grad else [None] * len(hangs))
        got = [next(grads) if x.requires_grad else None for x in wrt]
        return [loss.detach().numpy()] + [numpy.zeros(x.shape) if g is None else g.numpy() for g, x in zip(got, wrt)]


HEAD = "def bend(x) { a = sin(x); b = a * a + x; b * tanh(b) - a / (2 + b^2) }\nidx[i:5] = (i * 3 + 1) % 5\n"


# ---- judging ------------------------------------------------------------------------------------------------------------------

def run(ein, target, folder, text, values):
    """Runs Ein on a text. Returns a function from names to outputs, or None if it failed; and the messages."""
    path, out = os.path.join(folder, "p.ein"), os.path.join(folder, "out")
    with open(path, "w") as f:
        f.write(text)
    numpy.savez(os.path.join(folder, "p.npz"), **values)
    done = subprocess.run([ein, "run", path, f"--target={target}", "--params", os.path.join(folder, "p.npz"), "-o", f"all={out}/"],
                          capture_output=True, text=True, errors="replace", timeout=600)
    if done.returncode:
        return None, done.stderr
    return (lambda name: numpy.load(os.path.join(out, name + ".npy"))), done.stderr


def apart(ours, theirs):
    """The largest difference, relative to each tensor's largest element. The first tensor is the loss."""
    largest = max(float(numpy.max(numpy.abs(x), initial=0)) for x in theirs)
    return max(float(numpy.max(numpy.abs(a - b), initial=0)) / max(float(numpy.max(numpy.abs(b), initial=0)), FLOOR * largest, 1e-300) for a, b in zip(ours, theirs))


class Trial:
    def __init__(self, ein, target, keep, work):
        self.ein, self.target, self.keep, self.work = ein, target, keep, work
        if keep:
            os.makedirs(keep, exist_ok=True)
        self.wild, self.worst = 0, 0.0

    def judge(self, seeds):
        programs = [Program(s) for s in seeds]
        values = {k: v for p in programs for k, v in p.values().items()}
        got, said = run(self.ein, self.target, self.work, HEAD + "".join(p.text() for p in programs), values)
        if not got and len(seeds) > 1:
            return sum(self.judge([s]) for s in seeds)
        return sum(self.one(p, got, said) for p in programs)

    def one(self, p, got, said):
        theirs = p.torch(p.values())
        if not all(numpy.all(numpy.isfinite(x)) for x in theirs):
            self.wild += 1
            return 0
        far = apart([got(f"{p.tag}L")] + [got(f"{p.tag}G{k}") for k in range(len(p.wrt))], theirs) if got else float("inf")
        if far <= BOUND:
            self.worst = max(self.worst, far)
            return 0
        shaken = lambda s: p.torch({k: x * (1 + s) for k, x in p.values().items()})
        if got and any(apart(shaken(s), theirs) > 1e4 * abs(s) for s in SHAKEN):
            self.wild += 1
            return 0
        print(f"seed {p.seed}: {far} apart" + (f"\n{said[:1500]}" if not got else ""), flush=True)
        with open(os.path.join(self.keep or self.work, f"torch{p.seed}.ein"), "w") as f:
            f.write(HEAD + p.text())
        return 1


def main(words):
    options = {"--seed": "1", "--count": "100", "--target": "eval", "--keep": ""}
    ein = os.path.abspath(words.pop(0))
    while words:
        name, value = words.pop(0), words.pop(0)
        options[name] = value
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)  # numbers in torch.where have this dtype too
    first, count = int(options["--seed"]), int(options["--count"])
    with tempfile.TemporaryDirectory() as work:
        trial = Trial(ein, options["--target"], options["--keep"], work)
        bad = sum(trial.judge(list(range(k, min(k + BATCH, first + count)))) for k in range(first, first + count, BATCH))
    print(f"{count} programs, {bad} failed, the others at most {trial.worst:.1e} apart; {trial.wild} are too large, or hang on their last bits")
    return 1 if bad or trial.wild > count // 20 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
