#!/usr/bin/env python3
"""Compares gradients of random programs with finite differences: for a direction V, the sum of grad(L, W) * V is the slope of L at W + e V in e = 0.

differences.py EIN [--seed N] [--count N] [--target eval|c] [--keep FOLDER] [--adjoint yes]

Each program computes its loss five times, at e = 0 and at four steps, in f64; Richardson's extrapolation of the differences is exact up to O(e^4). Programs
are constructed without kinks: no two values are close where max, abs or a condition on data decides.
With --adjoint: J is the Jacobian of a program's tensors y by its inputs. For directions v of the inputs and w of the tensors, J'w is the gradient of
<y, w>, and Jv the gradient of <J'w, v>, which is linear in w. So a gradient is differentiated again, and <Jv, w> = <v, J'w> up to the last bits.

Exits with 1 and writes the program if they differ by more than BOUND of the larger one, or by more than ADJOINT of the sum of all terms' magnitudes."""
import math
import os
import random
import re
import subprocess
import sys
import tempfile

BOUND = 1e-7
ADJOINT = 1e-11
WILD = 3e-5  # the most that the unextrapolated slope may differ from the extrapolated one; if it differs more, differences are unreliable
STEPS = [1e-3, 1e-4, 3e-5]  # smaller ones where the first gives another slope: differences err by a power of the step, or if a kink lies between its ends
LETTERS = "ijklmn"
BATCH = 8

MAPS = ["sin({})", "exp(0.3 * {})", "tanh({})", "1 / (2 + ({})^2)", "sqrt(1 + ({})^2)", "log(2 + ({})^2)", "(0.3 * {})^3", "atan({})", "erf({})",
        "abs({} + 7.3)", "max({}, 0.013)", "cosh(0.2 * {})", "sigmoid({})", "gelu({})", "softplus({})", "({}) * sin({})", "hypot({}, 1.5)",
        "atan2({}, 2.5)", "rsqrt(3 + ({})^2)", "expm1(0.2 * {})", "cbrt(9 + {})", "(3 + sin({}))^(0.5 * cos({}))", "min({}, 0.4137) % 5.7",
        "log1p(exp({}))", "exp2(0.3 * {})", "asin(0.3 * sin({}))", "silu({})",
        "erfc({})", "lgamma(1.3 + ({})^2)", "digamma(2.1 + sin({}))"]


class Program:
    """Equations over tensors of up to three labels, all labels of an equation different."""

    def __init__(self, chance):
        self.chance = chance
        self.lines, self.inputs, self.tensors, self.n = [], [], [], 0
        self.dims = {}

    def pick(self, most=3):
        return self.chance.choice([t for t in self.tensors if len(t[1]) <= most])

    def fresh(self):
        self.n += 1
        return f"T{self.n}"

    def add(self, name, shape, left, right):
        self.lines.append((name, f"[{left}]" if left else "", right))
        self.tensors.append((name, shape))

    def input(self, shape):
        name = f"W{len(self.inputs)}"
        self.inputs.append((name, shape))
        self.tensors.append((name, shape))

    def labels(self, shape, taken=""):
        free = [c for c in LETTERS if c not in taken]
        return free[:len(shape)]

    def read(self, t, labels):
        return t[0] + (f"[{','.join(labels)}]" if labels else "")

    def grow(self):
        kind = self.chance.choice([self.map, self.map, self.join, self.join, self.reduce, self.reduce, self.window, self.gather, self.group, self.choose,
                                   self.running, self.softmax, self.merge, self.diagonal, self.shift, self.norm, self.stride, self.parts, self.scan, self.loop,
                                   self.transposed, self.layer])
        kind()

    def map(self):
        t = self.pick()
        ls = self.labels(t[1])
        e = self.read(t, ls)
        self.add(self.fresh(), t[1], ",".join(ls), self.chance.choice(MAPS).replace("{}", e))

    def join(self):
        """Two tensors that share labels of the same extent, some of which are summed."""
        a, b = self.pick(), self.pick()
        la = self.labels(a[1])
        lb, size = [], dict(zip(la, a[1]))
        for s in b[1]:
            same = [c for c in la if size[c] == s and c not in lb]
            c = self.chance.choice(same) if same and self.chance.random() < 0.7 else next(c for c in "pqrstu" if c not in lb)
            lb.append(c)
            size[c] = s
        every = la + [c for c in lb if c not in la]
        out = [c for c in every if self.chance.random() < 0.5][:3]
        red = [c for c in every if c not in out]
        self.chance.shuffle(out)
        word = f"sum[{','.join(red)}] " if red else ""
        how = self.chance.choice(["{} * {}", "{} * {}", "({} + 0.5) * sin({})", "({} - 2 * {})^2", "exp(0.1 * {} * {})", "{} / (3 + ({})^2)"])
        self.add(self.fresh(), tuple(size[c] for c in out), ",".join(out), word + "(" + how.format(self.read(a, la), self.read(b, lb)) + ") * 0.5")

    def reduce(self):
        t = self.pick()
        if not t[1]:
            return self.map()
        ls = self.labels(t[1])
        red = self.chance.sample(ls, self.chance.randint(1, len(ls)))
        out = [c for c in ls if c not in red]
        word = self.chance.choice(["sum", "mean", "max", "min", "prod", "logsumexp", "fmax", "fmin"])
        where = ""
        if word in ("sum", "logsumexp", "prod") and self.chance.random() < 0.4:
            where = f" where {red[0]} >= 1"
            if word == "logsumexp":
                where = f" where {red[0]} >= 0"
        e = self.read(t, ls)
        scale = "+".join(f"0.1 * f64({c} * {k + 2})" for k, c in enumerate(ls))
        body = f"(sin({e}) + {scale})" if word in ("max", "min", "fmax", "fmin") else f"(1.2 + 0.3 * sin({e}))" if word == "prod" else f"tanh({e})"
        self.add(self.fresh(), tuple(s for c, s in zip(ls, t[1]) if c in out), ",".join(out), f"{word}[{','.join(red)}{where}] {body}")

    def window(self):
        t = self.pick()
        if not t[1] or t[1][0] < 3:
            return self.map()
        ls = self.labels(t[1])
        k = self.chance.randint(2, 3)
        inner = self.read(t, [f"{ls[0]} + q - 1"] + ls[1:])
        self.add(self.fresh(), t[1], ",".join([f"{ls[0]}:{t[1][0]}"] + ls[1:]), f"sum[q:{k}] (({inner}) ?? 0.1) * (0.5 + 0.2 * f64(q))")

    def stride(self):
        t = self.pick()
        if not t[1] or t[1][0] < 4:
            return self.map()
        ls = self.labels(t[1])
        inner = self.read(t, [f"2 * {ls[0]} + q"] + ls[1:])
        n = t[1][0] // 2
        self.add(self.fresh(), (n,) + t[1][1:], ",".join([f"{ls[0]}:{n}"] + ls[1:]), f"sum[q:2] ({inner})^2 * 0.3")

    def transposed(self):
        """A transposed convolution: every second place of its input is read."""
        t = self.pick()
        if not t[1]:
            return self.map()
        ls = self.labels(t[1])
        n, k, at = 2 * t[1][0], self.chance.randint(2, 4), f"{ls[0]} + {self.chance.randint(0, 2)} - q"
        self.add(self.fresh(), (n,) + t[1][1:], ",".join([f"{ls[0]}:{n}"] + ls[1:]),
                 f"sum[q:{k} where ({at}) % 2 == 0] ({self.read(t, [f'({at}) // 2'] + ls[1:])} ?? 0) * (0.5 + 0.2 * f64(q))")

    def layer(self):
        """A product of matrices, perhaps those of a stack, with a kink inside."""
        t = self.pick()
        if len(t[1]) < 2:
            return self.map()
        first, second = (["0"], [str(t[1][0] - 1)]) if len(t[1]) == 3 else ([], [])
        n = t[1][-2]
        self.add(self.fresh(), (n, n), f"i:{n},j:{n}",
                 f"sum[q] max({self.read(t, first + ['i', 'q'])}, 0.0137) * {self.read(t, second + ['j', 'q'])} * 0.3")

    def shift(self):
        t = self.pick()
        if not t[1]:
            return self.map()
        ls = self.labels(t[1])
        back = self.read(t, [f"{t[1][0] - 1} - {ls[0]}"] + ls[1:])
        self.add(self.fresh(), t[1], ",".join(ls), f"{self.read(t, ls)} * {back}")

    def gather(self):
        t = self.pick()
        if not t[1]:
            return self.map()
        ls = self.labels(t[1])
        n = self.chance.randint(2, 5)
        inner = self.read(t, [f"(g * 5 + 2) % {t[1][0]}"] + ls[1:]) if self.chance.random() < 0.5 else self.read(t, [f"idx[g + 0] % {t[1][0]}"] + ls[1:])
        self.add(self.fresh(), (n,) + t[1][1:], ",".join([f"g:{n}"] + ls[1:]), f"sin({inner}) + 0.1 * f64(g)")

    def group(self):
        t = self.pick()
        if not t[1]:
            return self.map()
        ls = self.labels(t[1])
        rest = ls[1:]
        self.add(self.fresh(), (3,) + t[1][1:], ",".join(["g:3"] + rest), f"sum[{ls[0]} where idx[{ls[0]} % 5] % 3 == g] {self.read(t, ls)}")

    def choose(self):
        t = self.pick()
        if not t[1]:
            return self.map()
        ls = self.labels(t[1])
        e = self.read(t, ls)
        self.add(self.fresh(), t[1], ",".join(ls), f"if {ls[0]} % 2 == 0 then {e}^2 else if {ls[0]} > 1 then log(({e})^2 + 1) else 1 / ({e} + 4.5)")

    def running(self):
        t = self.pick()
        if not t[1]:
            return self.map()
        ls = self.labels(t[1])
        inner = self.read(t, ["q"] + ls[1:])
        self.add(self.fresh(), t[1], ",".join([f"{ls[0]}:{t[1][0]}"] + ls[1:]), f"sum[q where q <= {ls[0]}] sin({inner})")

    def scan(self):
        t = self.pick()
        if not t[1]:
            return self.map()
        ls = self.labels(t[1])
        inner = self.read(t, ["q"] + ls[1:])
        self.add(self.fresh(), t[1], ",".join([f"{ls[0]}:{t[1][0]}"] + ls[1:]),
                 f"(max[q where q <= {ls[0]}] (0.2 * sin({inner}) + 0.43 * f64((q * 3) % 7)))")

    def softmax(self):
        t = self.pick()
        if not t[1]:
            return self.map()
        ls = self.labels(t[1])
        f = self.chance.choice(["softmax", "logsoftmax"])
        self.add(self.fresh(), t[1], ",".join(ls), f"{f}[{self.chance.choice(ls)}]({self.read(t, ls)})")

    def norm(self):
        t = self.pick()
        if not t[1]:
            return self.map()
        ls = self.labels(t[1])
        j = self.chance.choice(ls)
        self.add(self.fresh(), t[1], ",".join(ls), f"layernorm[{j}]({self.read(t, ls)}, 1.5, 0.5, 0.3)")

    def merge(self):
        t = self.pick()
        if len(t[1]) < 2:
            return self.map()
        ls = self.labels(t[1])
        if self.chance.random() < 0.5:
            self.add(self.fresh(), (t[1][0] * t[1][1],) + t[1][2:], ",".join([f"({ls[0]} {ls[1]})"] + ls[2:]), f"sin({self.read(t, ls)})")
        else:
            self.add(self.fresh(), (t[1][0] * t[1][1],), "m", f"sum[{','.join(ls[2:])}] {t[0]}[m // {t[1][1]}, m % {t[1][1]}{''.join(',' + c for c in ls[2:])}]^2"
                     if ls[2:] else f"{t[0]}[m // {t[1][1]}, m % {t[1][1]}]^2")
            name, _, right = self.lines[-1]
            self.lines[-1] = (name, f"[m:{t[1][0] * t[1][1]}]", right)

    def diagonal(self):
        t = self.pick()
        same = [k for k in range(1, len(t[1])) if t[1][k] == t[1][0]]
        if not same:
            return self.join()
        ls = self.labels(t[1])
        k = same[0]
        out = [c for d, c in enumerate(ls) if d != k]
        ls[k] = ls[0]
        self.add(self.fresh(), tuple(s for d, s in enumerate(t[1]) if d != k), ",".join(out), f"cos({self.read(t, ls)})")

    def parts(self):
        """A local def that uses its argument several times."""
        t = self.pick()
        ls = self.labels(t[1])
        self.add(self.fresh(), t[1], ",".join(ls), f"bend({self.read(t, ls)})")

    def within(self, lines, at, ls, state, turn, around):
        """A repeat within a turn of another one. Returns the text of what the turn adds from it."""
        inner, value, values, m = self.fresh(), self.fresh(), self.fresh(), self.chance.randint(1, 3)
        stop = f" until {inner} == {turn}" if self.chance.random() < 0.3 else ""
        lines.append(f"repeat {inner} < {m}{stop} {{")
        lines.append(f"state {value}{at} = 0.5 * {state}{at}")
        lines.append(f"next {value}{at} = 0.6 * cos({value}{at} + 0.1 * f64({inner} + {turn})) + 0.2 * {around} * {state}{at}")
        stacked = self.chance.random() < 0.5
        if stacked:
            lines.append(f"{values}[{','.join([inner] + ls)}] = sin({value}{at})")
        lines.append("}")
        return f" + 0.3 * {value}{at}" + (f" + 0.1 * sum[w:{m}] {values}[{','.join(['w'] + ls)}]" if stacked else "")

    def loop(self):
        """A repeat: one or two states, outer tensors read in each turn, stacked values, and at times an early end."""
        t, o = self.pick(), self.pick()
        ls, other = self.labels(t[1]), ["p", "q", "r"][:len(o[1])]
        turn, state, second, new, all_turns = (self.fresh() for _ in range(5))
        n = self.chance.randint(1, 4)
        at = "[" + ",".join(ls) + "]" if ls else ""
        around = f"(sum[{','.join(other)}] tanh({self.read(o, other)}))" if other else f"tanh({o[0]})"
        far = f"{state}[{','.join([f'{t[1][0] - 1} - {ls[0]}'] + ls[1:])}]" if ls else state
        two = self.chance.random() < 0.5
        lines = [f"repeat {turn} < {n}" + (f" until {turn} == {self.chance.randint(0, n)}" if self.chance.random() < 0.4 else "") + " {",
                 f"state {state}{at} = {self.read(t, ls)}"]
        if two:
            lines.append(f"state {second} = 0.3 * {around}")
        within = self.within(lines, at, ls, state, turn, around) if self.chance.random() < 0.4 else ""
        lines.append(f"{new}{at} = 0.6 * sin({state}{at} + 0.2 * f64({turn})) + 0.3 * {far} * {around}" + (f" + 0.2 * {second}" if two else "") + within)
        if self.chance.random() < 0.6:
            stack = [turn] + ls if self.chance.random() < 0.5 else ls + [turn]
            lines.append(f"{all_turns}[{','.join(stack)}] = cos({new}{at})")
            self.tensors.append((all_turns, (n,) + t[1] if stack[0] == turn else t[1] + (n,)))
        lines.append(f"next {state}{at} = " + (f"{new}{at}" if self.chance.random() < 0.5 else f"0.5 * {state}{at} + {new}{at}"))
        if two:
            mean = f"(mean[{','.join(ls)}] {new}{at})" if ls else new
            lines.append(f"next {second} = 0.7 * {second} + {mean}")
            self.tensors.append((second, ()))
        self.lines.append((None, None, "\n".join(lines + ["}"])))
        self.tensors.append((state, t[1]))

    def make(self):
        sizes = [2, 3, 4, 5]
        for _ in range(self.chance.randint(1, 3)):
            self.input(tuple(self.chance.choice(sizes) for _ in range(self.chance.randint(0, 3))))
        for _ in range(self.chance.randint(2, 9)):
            self.grow()
            name, shape = self.tensors[-1]
            points = 1
            for s in shape:
                points *= s
            if points > 200:
                ls = self.labels(shape)
                self.add(self.fresh(), (), "", f"sum[{','.join(ls)}] sin({self.read((name, shape), ls)})")
        used = set(re.findall(r"\b[TW]\d+\b", " ".join(r for _, _, r in self.lines)))
        ends = [t for t in self.tensors if t[0] not in used and t[0][0] == "T"] or [self.tensors[-1]]
        self.ends = ends
        for t in ends:
            ls = self.labels(t[1])
            word = f"sum[{','.join(ls)}] " if ls else ""
            self.add(self.fresh(), (), "", f"{word}sin(0.7 * {self.read(t, ls)} + 0.2)")
        return " + ".join(t[0] for t in self.tensors[-len(ends):])


def at_of(ls):
    return "[" + ",".join(ls) + "]" if ls else ""


def way(name, ls, shape, seed):
    """A direction: numbers in [-0.5, 0.5)."""
    size = at_of([f"{c}:{s}" for c, s in zip(ls, shape)])
    return f"{name}{size} : f64 = " + (f"f64(uniform[{','.join(ls)}]({seed}))" if shape else "1") + " - 0.5"


def input_text(program, k, tag, seed):
    name, shape = program.inputs[k]
    ls = program.labels(shape)
    drawn = f"f64(uniform[{','.join(ls)}]({seed + k}))" if shape else f"0.{(seed * 7 + k * 3) % 9 + 1}"
    size = at_of([f"{c}:{s}" for c, s in zip(ls, shape)])
    return f"{tag}{name}{size} : f64 = {drawn} + 0.2"


def total(ls, e):
    return f"sum[{','.join(ls)}] {e}" if ls else e


def adjoint(program, _, tag, seed, _size=None):
    """The program with the names of `tag`; both products, C = <Jv, w> and D = <v, J'w>; and E, their relative difference."""
    def named(s):
        return re.sub(r"\b([TW]\d+)\b", rf"{tag}\g<1>", s).replace("idx[", f"{tag}idx[")
    out = [f"{tag}idx[i:5] = (i * 3 + 1) % 5"]
    for k, (name, shape) in enumerate(program.inputs):
        out.append(input_text(program, k, tag, seed))
        out.append(way(f"{tag}V{k}", program.labels(shape), shape, seed + k + 50))
    for name, left, right in program.lines[:len(program.lines) - len(program.ends)]:
        out.append(f"{named(name)}{left} = {named(right)}" if name else named(right))
    count = 0

    def sums(name, terms):
        """Defines name as the sum of all terms. Each term has its own equation, in which a label may have another extent."""
        nonlocal count
        for ls, e in terms:
            count += 1
            out.append(f"{tag}S{count} = {total(ls, e)}")
        out.append(f"{name} = " + " + ".join(f"{tag}S{count - i}" for i in range(len(terms))))

    inputs = [(k, name, program.labels(shape)) for k, (name, shape) in enumerate(program.inputs)]
    ends = [(k, name, program.labels(shape)) for k, (name, shape) in enumerate(program.ends)]
    out += [way(f"{tag}U{k}", ls, program.ends[k][1], seed + k + 80) for k, _, ls in ends]
    sums(f"output {tag}L", [(ls, f"{tag}{name}{at_of(ls)} * {tag}U{k}{at_of(ls)}") for k, name, ls in ends])
    out += [f"{tag}G{k}{at_of(ls)} = grad({tag}L, {tag}{name}{at_of(ls)})" for k, name, ls in inputs]
    there = [(ls, f"{tag}G{k}{at_of(ls)} * {tag}V{k}{at_of(ls)}") for k, _, ls in inputs]
    sums(f"output {tag}D", there)
    out += [f"{tag}J{k}{at_of(ls)} = grad({tag}D, {tag}U{k}{at_of(ls)})" for k, _, ls in ends]
    back = [(ls, f"{tag}J{k}{at_of(ls)} * {tag}U{k}{at_of(ls)}") for k, _, ls in ends]
    sums(f"output {tag}C", back)
    sums(f"{tag}M", [(ls, f"abs({e})") for ls, e in there + back])
    out.append(f"output {tag}E = abs({tag}C - {tag}D) / max({tag}M, 0.01)")
    return "\n".join(out)


def text(program, loss, tag, seed, size=STEPS[0]):
    """The program with the names of `tag`, its loss for five values of e, its gradients, and both slopes."""
    out = []
    grads = []
    for k, (name, shape) in enumerate(program.inputs):
        ls = program.labels(shape)
        at = at_of(ls)
        out.append(input_text(program, k, tag, seed))
        out.append(way(f"{tag}V{k}", ls, shape, seed + k + 50))
        one = f"grad({tag}L0, {tag}{name}0{at}) * {tag}V{k}{at}"
        grads.append(f"{tag}G{k} = " + (f"sum[{','.join(ls)}] {one}" if ls else one))
    for step, e in enumerate([0, size, -size, size / 2, -size / 2]):
        def named(s):
            s = re.sub(r"\b([TW]\d+)\b", rf"{tag}\g<1>{'x' if step else ''}{step}", s)
            return s.replace("idx[", f"{tag}idx[")
        for k, (name, shape) in enumerate(program.inputs):
            ls = program.labels(shape)
            left = "[" + ",".join(ls) + "]" if shape else ""
            out.append(f"{named(name)}{left} = {tag}{name}{left} + {e} * {tag}V{k}{left}" if e else f"{named(name)}{left} = {tag}{name}{left}")
        for name, left, right in program.lines:
            out.append(f"{named(name)}{left} = {named(right)}" if name else named(right))
        out.append(f"{tag}L{step} = {named(loss)}")
    out.append(f"{tag}idx[i:5] = (i * 3 + 1) % 5")
    out = [line for line in out if line.startswith(f"{tag}idx")] + [line for line in out if not line.startswith(f"{tag}idx")]
    out += grads
    out.append(f"output {tag}G = " + " + ".join(f"{tag}G{k}" for k in range(len(grads))))
    out.append(f"output {tag}D = (8 * ({tag}L3 - {tag}L4) - ({tag}L1 - {tag}L2)) / {6 * size}")
    out.append(f"output {tag}C = ({tag}L3 - {tag}L4) / {size}")
    out.append(f"output {tag}E = abs({tag}G - {tag}D) / max(max(abs({tag}G), abs({tag}D)), max(0.001 * abs({tag}L0), 0.01))")
    return "\n".join(out)


HEAD = "def bend(x) { a = sin(x); b = a * a + x; b * tanh(b) - a / (2 + b^2) }\n"


def run(ein, target, path):
    return subprocess.run([ein, "run", path, "--target=" + target], capture_output=True, text=True, errors="replace", timeout=300)


class Trial:
    """Generates, runs and judges programs. `wild`: those with too much curvature for differences."""

    def __init__(self, ein, target, keep, work, is_adjoint):
        self.ein, self.target, self.folder, self.work = ein, target, keep or work, work
        os.makedirs(self.folder, exist_ok=True)
        self.text, self.bound = (adjoint, ADJOINT) if is_adjoint else (text, BOUND)
        self.wild = [] if not is_adjoint else None
        self.refused, self.worst = 0, 0.0

    def is_wild(self, seed, difference, coarse):
        if self.wild is None or difference is None or abs(coarse - difference) <= WILD * max(abs(difference), 1e-2):
            return False
        self.wild.append(seed)  # or it is not a number
        return True

    def alone(self, seed, size, more):
        """Runs one program, with differences of this step, and what `more` adds to it; returns what is printed."""
        p = Program(random.Random(seed))
        path = os.path.join(self.work, "alone.ein")
        with open(path, "w") as f:
            f.write(HEAD + self.text(p, p.make(), f"P{seed}_", seed, size) + "\n" + more(p))
        return run(self.ein, self.target, path).stdout

    def is_finer(self, seed):
        """Whether differences by smaller steps agree with the gradient."""
        found = (re.search(r"^P\d+_E : f64 = (\S+)", self.alone(seed, size, lambda p: ""), re.M) for size in STEPS[1:])
        return any(e and float(e[1]) <= self.bound for e in found)

    def overflows(self, seed):
        """Whether a tensor of the program is infinite, so that its adjoint is no number."""
        def largest(p):
            tensors = [(n, s) for n, s in p.tensors if n.startswith("T") and any(n == line[0] for line in p.lines[:len(p.lines) - len(p.ends)])]
            return "".join(f"output P{seed}_X{k} = " + (f"max[{','.join(p.labels(s))}] abs(P{seed}_{n}{at_of(p.labels(s))})" if s else f"abs(P{seed}_{n})") + "\n"
                           for k, (n, s) in enumerate(tensors))
        return any(not float(x) < math.inf for x in re.findall(r"^P\d+_X\d+ : f64 = (\S+)", self.alone(seed, None, largest), re.M))

    def judge(self, seeds):
        """Returns how many fail. If a batch cannot be run, its programs are tried one by one."""
        texts = {}
        for seed in seeds:
            p = Program(random.Random(seed))
            loss = p.make()
            texts[seed] = self.text(p, loss, f"P{seed}_", seed)
        path = os.path.join(self.work, "batch.ein")
        with open(path, "w") as f:
            f.write(HEAD + "\n".join(texts.values()) + "\n")
        done = run(self.ein, self.target, path)
        if done.returncode and len(seeds) > 1:
            return sum(self.judge([s]) for s in seeds)
        bad = 0
        values = {m[0]: float(m[1]) for m in re.findall(r"^(P\d+_[GDCEL]) : f64 = (\S+)", done.stdout, re.M)}
        for seed in seeds:
            g, d, c, e = (values.get(f"P{seed}_{k}") for k in "GDCE")
            if e is not None and e <= self.bound:
                self.worst = max(self.worst, e)
                continue
            if self.is_wild(seed, d, c):
                continue
            if self.wild is None and (not abs(values.get(f"P{seed}_L", 0)) < math.inf or self.overflows(seed)):
                self.refused += 1
                continue
            if self.wild is not None and self.is_finer(seed):
                continue
            bad += 1
            what = f"grad {g}, differences {d}" if self.wild is not None else f"<Jv, w> {c}, <v, J'w> {d}"
            print(f"seed {seed}: {what}, apart {e}\n{done.stderr[:1500]}")
            with open(os.path.join(self.folder, f"grad{seed}.ein"), "w") as f:
                f.write(HEAD + texts[seed] + "\n")
        return bad


def main(words):
    options = {"--seed": "1", "--count": "64", "--target": "eval", "--keep": "", "--adjoint": ""}
    ein = os.path.abspath(words.pop(0))
    while words:
        name, value = words.pop(0), words.pop(0)
        options[name] = value
    first, count = int(options["--seed"]), int(options["--count"])
    with tempfile.TemporaryDirectory() as work:
        trial = Trial(ein, options["--target"], options["--keep"], work, options["--adjoint"])
        bad = sum(trial.judge(list(range(k, min(k + BATCH, first + count)))) for k in range(first, first + count, BATCH))
    wild = trial.wild or []
    left_out = f"{len(wild)} bend too much to be judged" if trial.wild is not None else f"{trial.refused} are too large for f64"
    print(f"{count} programs, {bad} failed, the others at most {trial.worst:.1e} apart; {left_out}")
    return 1 if bad or len(wild) > count // 20 or trial.refused > count // 20 + 1 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
