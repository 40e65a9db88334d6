#!/usr/bin/env python3
"""Tests choices that are one for a whole tensor: branches.py EIN FIRST LAST [TARGET...]

Each seed gives a program of sums, maps and loops, some of which are needed only where a condition without labels holds:
over a turn, sizes, a number that is given, or one that is computed. Choices share what they need, stand in one another,
choose between two long branches, and are states, stacks, or parts of equations and predicates. All values are integers,
so each target (c, jit, or a number of sites) must give the evaluator's outputs to the byte. A failure prints the
program. Exits with 1 if any differ."""
import random
import sys

sys.dont_write_bytecode = True
from against import compare  # noqa: E402

TARGETS = ["jit", "3"]


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines, self.known, self.numbers = [], ["A", "B"], ["f", "N", "c[1]"]
        self.count = 0

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def read(self, i="i", j="j"):
        return f"{self.r.choice(self.known[-4:] + ['A'])}[{i},{j}]"

    def long(self):
        r = self.r
        form = r.choice(["sum[k] {a} * {b}", "sum[k] {a} * {b}", "max[k] ({a} - {b})", "sum[k where k <= i] {a} * {b}",
                         "sum[k] ({a} * {b} + {a} * 3)", "min[k where {cond}] ({a} + {b})", "(sum[k] {a} * {b}) - {x}",
                         "sum[k where {cond} and k != j] {a} * {b}", "sum[k] (if {cond} then {a} * {b} else {a})"])
        return form.format(a=self.read(j="k"), b=self.read(i="k"), x=self.read(), cond=self.condition())

    def short(self):
        return self.r.choice(["{x}", "{x}", "{x} + 1", "{x} - {y}", "0", "{x} % 7", "-{y}"]).format(
            x=self.read(), y=self.read())

    def value(self):
        return self.long() if self.r.random() < 0.5 else self.short()

    def condition(self):
        r = self.r
        one = [r.choice(["{n} > 0", "{n} % 2 == 0", "{n} % 3 != 1", "{n} < {m}", "N > 5", "{n} == 2 or {m} > 3"]).format(
            n=r.choice(self.numbers), m=r.choice(self.numbers)) for _ in range(r.choice([1, 1, 1, 2]))]
        if r.random() < 0.15:
            one.append("i < j")
        return " and ".join(f"({x})" for x in one)

    def choice(self):
        r, cond = self.r, self.condition()
        form = r.choice(["if {c} then {a} else {b}", "if {c} then {a} else {b}", "{x} + (if {c} then {a} else {b})",
                         "if {c} then (if {d} then {a} else {b}) else {x}", "(if {c} then {a} else {b}) * {x}"])
        return form.format(c=cond, d=self.condition(), a=f"({self.value()})", b=f"({self.value()})", x=self.read())

    def equation(self, indent="", labels="i:N,j:N"):
        what = self.r.choice([self.long, self.long, self.choice, self.choice, self.choice, self.short])()
        name = self.name("T")
        self.lines.append(f"{indent}{name}[{labels}] = i64(({what}) % 1009)")
        self.known.append(name)

    def number(self, indent=""):
        name = self.name("n")
        self.lines.append(f"{indent}{name} = (sum[i,j] {self.read()}) % 5")
        self.numbers.append(name)

    def loop(self, depth):
        r, turn = self.r, f"t{depth}"
        indent, states = "  " * depth, [self.name("S") for _ in range(r.randint(1, 2))]
        inner = indent + "  "
        self.lines.append(f"{indent}repeat {turn} < {r.randint(1, 4)} {{")
        for s in states:
            self.lines.append(f"{inner}state {s}[i:N,j:N] : i64 = {self.read()}")
        outside = len(self.known), len(self.numbers)
        self.known += states
        self.numbers += [turn, turn]
        for _ in range(r.randint(1, 4)):
            self.body(inner, depth)
        for s in states:
            self.lines.append(f"{inner}next {s}[i,j] = i64(({self.choice()}) % 1009)")
        self.lines.append(indent + "}")
        self.known[outside[0]:] = states
        del self.numbers[outside[1]:]

    def body(self, indent, depth):
        x = self.r.random()
        if x < 0.15:
            self.number(indent)
        elif x < 0.35 and depth < 2:
            self.loop(depth + 1)
        else:
            self.equation(indent)

    def program(self):
        r = self.r
        self.lines = [f"dim N = {r.choice([3, 9, 20, 33])}", f"input f : i64 = {r.randint(-1, 3)}",
                      "input c[i:3] : i64 = 2 * i - 1", "input A[i:N,j:N] : i64 = (3*i + 5*j) % 7 - 3",
                      "input B[i:N,j:N] : i64 = (i*j + 2*i) % 5 - 2"]
        for _ in range(r.randint(2, 6)):
            self.body("", -1)
        outputs = [x for x in self.known[2:] if r.random() < 0.5] or [self.known[-1]]
        return [*self.lines, "output " + ", ".join(outputs[-3:])]


def program(seed):
    return Maker(seed).program()


if __name__ == "__main__":
    sys.exit(compare(program, lambda r: [{}], TARGETS))
