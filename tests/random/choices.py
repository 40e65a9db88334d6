#!/usr/bin/env python3
"""Tests reductions whose bodies choose by ranges of labels: choices.py EIN FIRST LAST [TARGET...]

Each seed gives a program of reductions over products of reads with defaults (`h[t - s] ?? 0`), indices that wrap around
or are bounded by min and max, and choices by conditions on labels, as they are, within defs, and one in another. All
are exact integers, of several dtypes. Each target (jit, c, and 3 for as many sites; by default jit and 3) must give the
evaluator's outputs to the byte, for sizes that are passed when the program runs, among them 0 and 1, or for sizes that
are numbers in the program. A failure prints the program with only the outputs that differ. Exits with 1 if any do.
"""
import os
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from against import compare  # noqa: E402

HEAD = """dim N, M, W
input x[t:N] : i64 = (37 * t) % 23 - 11
input y[t:N] : f32 = f32((13 * t) % 7 - 3)
input z[t:N] : i16 = i16((17 * t) % 19 - 9)
input h[u:M] : i64 = u * u % 17 - 5
input g[u:M] : f64 = f64((5 * u) % 11 - 4)
input X[s:N, t:N] : i64 = (3 * s * s + 7 * t) % 29 - 13
input p[s:N] : i64 = (11 * s) % (N + 3) - 1
made[s:N] = 3 * s - N
def at(k) = h[k] ?? 0
def pad(k, v) = if k < 0 then v else x[k] ?? v - 1
def wrapped(k) = x[k % N] + 1
def mirror(k) = x[if k < 0 then 0 - k else if k >= N then 2 * N - 2 - k else k] ?? 3
def edge(k) = x[clamp(k, 0, N - 1)] ?? 2
"""
TARGETS = ["jit", "3"]
COMPARISONS = ["<", "<=", ">", ">=", "<", ">=", "==", "!="]


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def any(self, *of):
        return self.r.choice(of)

    def number(self):
        return self.any("0", "1", "2", "3", "5", "W", "N // 2", "M - 1", "N - W", "W + 1")

    def line(self):
        """An index that moves with the reduced label."""
        s = self.any("s", "s", "s", "p[s]", "2 * s", self.number())
        t = self.any("t", "t", "t", "t", "2 * t", "3 * t")
        form = self.any("{t} - {s}", "{s} - {t}", "{s} + {t}", "{t}", "N - 1 - {t} + {s}", "{t} + {n}",
                        "{s} - {t} + {n}", "{t} - {s} - {n}", "{s} + {t} - {n}")
        return form.format(s=s, t=t, n=self.number())

    def comparison(self):
        if self.r.random() < 0.1:
            return self.any("x[t] > 3", "x[s] > 0", "z[t] == 2", "s < W", "t % 2 == 0", "abs(t - s) < 3")
        other = self.any(self.number(), self.number(), "s", "2 * s", "p[s]")
        return f"{self.line()} {self.any(*COMPARISONS)} {other}"

    def condition(self, depth):
        kind = self.r.random()
        if not depth or kind < 0.5:
            return self.comparison()
        if kind < 0.85:
            return f"({self.condition(depth - 1)} {self.any('and', 'or')} {self.condition(depth - 1)})"
        return f"not ({self.condition(depth - 1)})"

    def index(self, depth):
        kind, l = self.r.random(), self.line()
        if kind < 0.45:
            return l
        if kind < 0.7:
            return f"({l}) % {self.any('N', 'N', 'N', 'M', 'W', '4', '(N + 1)')}"
        if kind < 0.85:
            return f"{self.any('min', 'max')}({l}, {self.any(self.number(), self.line(), 's')})"
        if kind < 0.93 and depth:
            return f"(if {self.condition(1)} then {l} else {self.line()})"
        return f"({l}) // {self.any('2', '3', 'W')}"

    def factor(self, depth):
        kind = self.r.random()
        if kind < 0.4:
            return f"i64({self.any('x', 'y', 'z', 'h', 'g')}[{self.index(depth)}] ?? {self.r.randint(-2, 3)})"
        if kind < 0.48 and depth:
            return f"({self.any('x', 'h')}[{self.index(depth)}] ?? {self.factor(depth - 1)})"
        if kind < 0.53:
            return f"(X[{self.any('s', self.index(0))}, {self.index(0)}] ?? 1)"
        if kind < 0.63:
            return f"{self.any('at', 'wrapped', 'mirror', 'edge')}({self.line()})"
        if kind < 0.68:
            return f"pad({self.line()}, {self.any('0', '2', 't', 's - t')})"
        if kind < 0.85 and depth:
            return f"(if {self.condition(depth)} then {self.factor(depth - 1)} else {self.factor(depth - 1)})"
        if kind < 0.9:
            return f"{self.any('min', 'max')}({self.line()}, {self.any(self.number(), 's')})"
        return self.any("x[t]", "x[s]", "i64(z[t])", "(made[s] + t)", "2", "(t - s)", "i64(y[t])")

    def body(self):
        parts = [self.factor(2) for _ in range(self.r.choice([1, 1, 2, 2, 3]))]
        return f" {self.any('*', '*', '*', '+', '-')} ".join(parts)

    def output(self, n):
        r = self.r
        size = self.any("N", "N", "M", "(N + M)", "(W + 1)")
        range_t = self.any("N", "N", "N", "M", "(N + W)", "(2 * N)")
        if size != "N" and r.random() < 0.7:
            size = "N"
        where = f" where {self.condition(1)}" if r.random() < 0.3 else ""
        body, less, t = self.body(), self.any("max", "min"), f"t:{range_t}"
        value = r.choice([
            f"sum[{t}{where}] ({body})", f"sum[{t}{where}] ({body})", f"sum[{t}{where}] ({body})",
            f"{less}[{t}{where}] ({body})", f"any[{t}{where}] ({body} == {r.randint(-3, 9)})",
            f"all[{t}{where}] ({body} > {r.randint(-90, 9)})", f"(prod[{t}{where}] (({body}) % 3 - 1))",
            f"(arg{less}[{t}{where}] ({body})) ?? -1", f"count[{t} where {self.condition(1)} and {body} > 2]",
            f"sum[{t}{where}] {self.any('f32', 'f64')}(({body}) % 5)",
            f"{less}[{t}{where}] {self.any('f32', 'f64', 'i16')}(({body}) % 50)",
            f"sum[{t}, u:3{where}] (({body}) * (u + {self.any('s', 't', '1')}))",
            f"sum[{t}{where}] ({body}) + {less}[{t}] ({self.body()})",
        ])
        return f"output o{n}[s:{size}] = {value}"


def prepared(ein, r, lines, sizes, path):
    """In some cases the sizes are numbers in the text, if the language accepts it so."""
    if r.random() >= 0.3:
        return path, sizes
    text, other = "\n".join(lines[1:]) + "\n", os.path.join(os.path.dirname(path), "numbered.ein")
    for name, v in sizes.items():
        text = re.sub(rf"\b{name}\b", str(v), text)
    with open(other, "w", encoding="utf-8") as f:
        f.write(text)
    said = subprocess.run([ein, "check", other], capture_output=True, check=False)
    return (other, {}) if said.returncode == 0 else (path, sizes)


def program(seed):
    make = Maker(seed)
    return HEAD.splitlines() + [make.output(n) for n in range(12)]


def sizes_of(r):
    return [{"N": n, "M": r.choice([0, 1, 2, 5, 9, 40]), "W": r.choice([0, 1, 2, 4, 9, 33])}
            for n in (r.choice([0, 1, 2, 3]), r.randint(4, 40), r.choice([64, 97, 150]))]


if __name__ == "__main__":
    sys.exit(compare(program, sizes_of, TARGETS, prepared))
