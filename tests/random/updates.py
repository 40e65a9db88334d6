#!/usr/bin/env python3
"""Tests states that are updated from rows of themselves: updates.py EIN FIRST LAST [TARGET...]

Each seed gives a repeat whose steps are norms, means, maxima, scans and products over rows of its states and of inputs,
in any order of the labels, and whose next values are made of them, whole or in a slice. Most states can be updated in
place, and what comes before that shares kernels. All values are integers, whatever their dtypes, so each target (c,
jit, or a number of sites) must give the evaluator's outputs to the byte. A failure prints the program. Exits with 1 if
any differ. Outputs are i64, since 0 and -0 are equal.
"""
import random
import sys

sys.dont_write_bytecode = True
from against import compare  # noqa: E402

TARGETS = ["jit", "3"]
SIZES = {"a": [2, 3, 4], "b": [1, 5, 16, 33], "h": [17, 32, 40, 64], "d": [1, 3, 8, 20]}
DTYPES = ["f32", "f32", "f64", "i64", "i32"]


class Tensor:
    def __init__(self, name, labels, state=False):
        self.name, self.labels, self.state = name, labels, state

    def read(self):
        return f"{self.name}[{','.join(self.labels)}]"


class Maker:
    def __init__(self, seed):
        self.r = r = random.Random(seed)
        self.dtype = r.choice(DTYPES)
        self.size = {label: r.choice(SIZES[label]) for label in SIZES}
        self.tensors, self.n = [], 0

    def name(self):
        self.n += 1
        return f"T{self.n}"

    def order(self, labels):
        labels = list(labels)
        if self.r.random() < 0.5:
            return sorted(labels, key="abhd".index)
        self.r.shuffle(labels)
        return labels

    def some_labels(self):
        return self.order(self.r.choice(["abh", "ahd", "hd", "bh", "ah", "abd", "bhd", "h", "ab"]))

    def decl(self, name, labels):
        return f"{name}[{','.join(f'{label}:{self.size[label]}' for label in labels)}]"

    def number(self, e):
        return f"{self.dtype}({e})"

    def fresh(self, labels):
        of = " + ".join(f"{self.r.randint(1, 9)}*{label}" for label in labels)
        return self.number(f"({of}) % {self.r.choice([5, 7, 11])} - {self.r.choice([2, 3])}")

    def within(self, labels):
        """A tensor that has only some of these labels."""
        fits = [t for t in self.tensors if set(t.labels) <= set(labels)]
        near = fits[-6:] + [t for t in fits if t.state]
        return self.r.choice(near) if near else None

    def bounded(self, e):
        return f"max(min({self.number(e)}, {self.number(40)}), {self.number(-40)})"

    def value(self, labels):
        """An expression over these labels."""
        r = self.r
        parts = [t.read() for t in (self.within(labels) for _ in range(r.randint(1, 3))) if t]
        if not parts:
            return self.fresh(labels)
        e = parts[0]
        for p in parts[1:]:
            e = r.choice([f"{e} + {p}", f"{e} - {p}", f"max({e}, {p})", f"(if {e} > {p} then {e} else {p} - {e})",
                          f"({e}) * {p}"])
        return e

    def reduced(self):
        """The labels of a result, and an expression for it that reduces another label."""
        r = self.r
        t = r.choice(self.tensors[-6:] + [t for t in self.tensors if t.state])
        if len(t.labels) < 2:
            return None
        over = r.choice(t.labels)
        labels = [label for label in t.labels if label != over]
        kind = r.random()
        if kind < 0.45:
            other = self.within(t.labels)
            body = r.choice([t.read(), f"({t.read()} - {other.read()})^2", f"{t.read()} * {other.read()}"])
            return labels, f"{r.choice(['sum', 'sum', 'max', 'min'])}[{over}] ({body})"
        if kind < 0.6:
            first = labels[0]
            return labels, f"sum[{over} where {over} <= {first}] {t.read()}"
        with_it = [u for u in self.tensors if over in u.labels and set(u.labels) != set(t.labels)]
        if not with_it:
            return labels, f"sum[{over}] {t.read()}"
        other = r.choice(with_it)
        labels += [label for label in other.labels if label != over and label not in labels]
        if len(labels) > 3:
            return None
        return labels, f"sum[{over}] {t.read()} * {other.read()}"

    def statement(self):
        made = self.reduced() if self.r.random() < 0.55 else None
        if made is None:
            labels = self.some_labels()
            made = labels, self.value(labels)
        t = Tensor(self.name(), self.order(made[0]))
        self.tensors.append(t)
        return f"  {self.decl(t.name, t.labels)} = {self.bounded(made[1])}"

    def add(self, labels, e):
        t = Tensor(self.name(), labels)
        self.tensors.append(t)
        return t, f"  {self.decl(t.name, t.labels)} = {self.number(e)}"

    def norm(self, t=None, over=None):
        """Rows, what is made of each, and a map of both."""
        r = self.r
        t = t or r.choice([t for t in self.tensors if len(t.labels) > 1])
        over = over or r.choice(t.labels)
        rows = self.order(label for label in t.labels if label != over)
        lines = []
        for _ in range(r.randint(1, 2)):
            other = self.within(t.labels)
            one, line = self.add(rows, f"{r.choice(['sum', 'max', 'min'])}[{over}] {t.read()}")
            t, made = self.add(self.order(t.labels),
                               self.bounded(f"{r.choice(['', '2 * '])}{t.read()} - {one.read()} + {other.read()}"))
            lines += [line, made]
        return lines

    def next_of_norm(self, t):
        """The state gets a product of rows, which are made along a label that it lacks."""
        r = self.r
        lacks = [label for label in SIZES if label not in t.labels]
        if len(t.labels) < 2 or not lacks:
            return [self.next_of(t)]
        over, rows = r.choice(lacks), r.sample(t.labels, r.randint(1, len(t.labels)))
        beside = [label for label in t.labels if label not in rows or r.random() < 0.4]
        a, first = self.add(self.order(rows + [over]), self.fresh(rows + [over]))
        b, second = self.add(self.order(beside + [over]), self.fresh(beside + [over]))
        lines = [first, second] + self.norm(a, over)
        value = f"{t.read()} - sum[{over}] {self.tensors[-1].read()} * {b.read()}"
        return lines + [f"  next {t.read()} = {self.number(value)}"]

    def slice_of(self, labels):
        """A row, or a diagonal, which moves with the turns."""
        r = self.r
        label = r.choice(labels)
        others = [other for other in labels if other != label]
        if not others or r.random() < 0.4:
            return f"{label} == t % {self.size[label]}"
        sign, other, step = r.choice("+-"), r.choice(others), r.choice(["", "", "2 * "])
        return f"{label} {sign} {step}{other} == {r.choice(['t', '3 * t + 2', '1 - t'])}"

    def next_of(self, t):
        r = self.r
        to = self.bounded(r.choice([f"{t.read()} - {self.value(t.labels)}", f"{t.read()} + {self.value(t.labels)}",
                                    self.value(t.labels)]))
        made = self.r.choice(self.tensors[-4:])
        over = [label for label in made.labels if label not in t.labels]
        if set(t.labels) <= set(made.labels) and over and r.random() < 0.5:
            to = self.bounded(f"{t.read()} - sum[{','.join(over)}] {made.read()}")
        beside = [u for u in self.tensors if set(u.labels) | set(made.labels) >= set(t.labels) and u is not made]
        both = [u for u in beside if len(set(u.labels) & set(made.labels) - set(t.labels)) == 1]
        if both and r.random() < 0.6:
            u = r.choice(both)
            over = [label for label in SIZES if label in u.labels + made.labels and label not in t.labels]
            to = self.bounded(f"{t.read()} - sum[{','.join(over)}] {made.read()} * {u.read()}")
            if r.random() < 0.5:
                to = f"{t.read()} - sum[{','.join(over)}] {made.read()} * {u.read()}"
        if r.random() < 0.2:
            to = f"if {self.slice_of(t.labels)} then {to} else {t.read()}"
        return f"  next {t.read()} = {self.number(to)}"

    def program(self):
        r = self.r
        lines = []
        for _ in range(2):
            t = Tensor(self.name(), self.some_labels())
            self.tensors.append(t)
            lines.append(f"input {self.decl(t.name, t.labels)} : {self.dtype} = {self.fresh(t.labels)}")
        lines.append(f"repeat t < {r.randint(1, 3)} {{")
        states = []
        for _ in range(r.randint(1, 3)):
            t = Tensor(self.name(), self.some_labels(), True)
            states.append(t)
            start = self.number(0) if r.random() < 0.3 else self.fresh(t.labels)
            lines.append(f"  state {self.decl(t.name, t.labels)} = {start}")
        self.tensors += states
        late = list(states)
        for _ in range(r.randint(2, 6)):
            lines += self.norm() if r.random() < 0.3 else [self.statement()]
            if late and r.random() < 0.1:
                lines.append(self.next_of(late.pop()))
        for t in late:
            lines += self.next_of_norm(t) if r.random() < 0.5 else [self.next_of(t)]
        lines.append("}")
        return lines + [f"output o{t.read()} = i64({t.read()})" for t in states]


def program(seed):
    return Maker(seed).program()


if __name__ == "__main__":
    sys.exit(compare(program, lambda r: [{}], TARGETS))
