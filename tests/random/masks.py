#!/usr/bin/env python3
"""Tests products with masks of zeros and ones: masks.py EIN FIRST LAST [TARGET...]

Each seed gives a program of sums with masks, in the ways in which people write them, over data among which there are
NaN, inf and -inf, now selected and now not, and indices out of range. Everything else is a small integer, or half of
one, so that sums are exact. An output says which of its results are NaN, inf and -inf, and what the others are. Each
target (optimised, c, jit, and 3 for as many sites; by default all) must give the evaluator's outputs to the byte;
`optimised` is the evaluator on the graph after the passes. A failure prints the program with only the outputs that
differ. Exits with 1 if any do.
"""
import random
import subprocess
import sys

sys.dont_write_bytecode = True
import against  # noqa: E402

SPECIAL = "if ({0}) % P == 1 then nan else if ({0}) % (P + 2) == 2 then inf else if ({0}) % (P + 3) == 3 then -inf else if ({0}) % (P + 4) == 4 then 70000 else "
HEAD = f"""dim N, M, B, D, P
input k[n:N] : i64 = if n % 13 == 4 then 9223372036854775807 else if n % 17 == 5 then -9223372036854775808 else (5 * n) % (B + 3) - 1
input t[b:B] : i64 = if b % 11 == 3 then -9223372036854775808 else if b % 7 == 5 then 9223372036854775807 else (7 * b) % (N + 3) - 1
input g[n:N] : i32 = i32((7 * n * n + 3) % (B + 1))
input X[n:N,d:D] : f32 = {SPECIAL.format('7 * n + 3 * d')} f32((37 * n + 11 * d) % 9 - 4)
input V[n:N,m:M] : f32 = {SPECIAL.format('5 * n + 2 * m')} f32((31 * n + 13 * m) % 7 - 3)
input w[n:N] : f32 = {SPECIAL.format('3 * n + 1')} f32((29 * n) % 7 - 3)
input v[n:N] : f32 = {SPECIAL.format('3 * n + 2')} 2.0 ^ (n % 3 - 1)
input u[b:B] : f32 = 2.0 ^ (b % 3 - 1)
input z[n:N] : i16 = i16((17 * n) % 19 - 9)
""".splitlines()
DTYPES = ["f32", "f32", "f32", "f64", "f16", "bf16"]
TARGETS = ["optimised", "c", "jit", "3"]


def comparison(r, n, b):
    """A condition on a point n and a result b."""
    some = [f"{n} == {b}", f"{n} <= {b}", f"{n} < {b}", f"{b} < {n}", f"abs({n} - {b}) <= 2", f"{n} // 3 == {b} // 3", f"{n} != {b}", f"{n} + {b} < N",
            f"{b} - {n} == 1", f"{n} >= {b} - 2 and {n} < {b} + 2", f"2 * {n} <= {b}", f"{n} % 4 == {b} % 4", f"{n} - {b} >= -1"]
    if n == "n":
        some += [f"k[n] == {b}", f"k[n] <= {b}", f"{b} < k[n]", f"k[n] != {b}", f"g[n] == {b}", "n > 3", "z[n] > 2"]
    if b == "b":
        some += [f"{n} == t[b]", f"{n} == t[b]", f"{n} < t[b]", f"t[b] <= {n}", f"{n} != t[b]", "b % 3 == 1"]
    if (n, b) == ("n", "b"):
        some += ["k[n] == t[b]", "k[n] == b", "k[n] == b", "k[n] < t[b]"]
    return r.choice(some)


def condition(r, n, b):
    kind = r.random()
    one = comparison(r, n, b)
    if kind < 0.7:
        return one
    if kind < 0.8:
        return f"not ({one})"
    return f"({one}) {r.choice(['and', 'and', 'or'])} ({comparison(r, n, b)})"


class Writer:
    """The lines of a program; masks may get equations of their own."""

    def __init__(self, r):
        self.r, self.lines = r, list(HEAD)

    def mask(self, n, size, b, many, dtype):
        r, c = self.r, condition(self.r, n, b)
        if r.random() < 0.15:
            self.lines.append(f"c{len(self.lines)}[{b}:{many},{n}:{size}] = {c}")
            c = f"c{len(self.lines) - 1}[{b},{n}]"
        some = [f"(if {c} then 1 else 0)", f"(if {c} then 1 else 0)", f"(if {c} then 0 else 1)", f"{dtype}({c})", f"(1 - {dtype}({c}))", f"(-2 * {dtype}({c}))",
                f"(if {c} then {dtype}({n} % 5) else 0)", f"(if {c} then (if {condition(r, n, b)} then 2 else 0) else 0)"]
        if n == "n" and dtype == "f32":
            some += [f"(if {c} then w[n] else 0)"]
        e = r.choice(some)
        if r.random() < 0.4:
            self.lines.append(f"h{len(self.lines)}[{b}:{many},{n}:{size}] : {dtype} = {e}")
            e = f"h{len(self.lines) - 1}[{b},{n}]"
        return e

    def value(self):
        r, dtype = self.r, self.r.choice(DTYPES)
        where = r.choice([""] * 5 + [" where n > 2", " where z[n] > 0"])
        first = self.mask("n", "N", "b", "B", dtype)
        if r.random() < 0.2:
            other = self.mask("m", "M", "e", "D", dtype)
            factors = [first, other, f"{dtype}(V[n,m])"] + r.choice([[], ["v[n]"], [f"{dtype}(m)"]])
            r.shuffle(factors)
            return "b:B,e:D", dtype, f"sum[n:N,m:M{where}] " + " * ".join(factors)
        factors = [first] + r.choice([["X[n,d]"]] * 3 + [["X[n,d]", "w[n]"], ["X[n,d]", f"{dtype}(z[n])"], ["w[n]"], ["X[n,d]", "u[b]"], [f"{dtype}(z[n])"], ["(X[n,d] + w[n])"]])
        if r.random() < 0.15:
            factors.append(self.mask("n", "N", "b", "B", dtype))
        r.shuffle(factors)
        body = " * ".join(f if f == first else f"{dtype}({f})" if dtype != "f32" and f[0] in "Xwu" else f for f in factors)
        body = r.choice([body] * 5 + [f"{body} / {dtype}(u[b])", f"{body} / {dtype}(v[n])", f"-({body})"])
        value = r.choice([f"sum[n:N{where}] {body}"] * 5 + [f"(mean[n:N{where}] {body}) ?? 0"])
        return ("b:B,d:D" if "X" in body else "b:B"), dtype, value

    def output(self, k):
        labels, dtype, value = self.value()
        at = ",".join(x[0] for x in labels.split(","))
        self.lines.append(f"y{k}[{labels}] : {dtype} = {value}")
        y = f"y{k}[{at}]"
        self.lines.append(f"output o{k}[{labels}] = if isnan({y}) then -7777 else if {y} == inf then 7777 else if {y} == -inf then -777 else i64(8 * f64({y}))")


def program(seed):
    w = Writer(random.Random(seed))
    for k in range(10):
        w.output(k)
    return w.lines


def sizes_of(r):
    return [{"N": n, "M": r.choice([1, 5, 9]), "B": r.choice([0, 1, 7, 20]), "D": r.choice([1, 3, 8]), "P": r.choice([7, 30, 60, 100000])}
            for n in (r.choice([0, 1, 3]), r.randint(4, 40), 70)]


def optimised(ein, path, sizes, folder):
    """The evaluator on the graph after the passes."""
    graph = path[:-4] + ".graph"
    done = subprocess.run([ein, "build", path, "--stop=optimised", "-o", graph], capture_output=True, text=True, check=False)
    return run(ein, graph, "eval", sizes, folder) if done.returncode == 0 else f"exit {done.returncode}\n{done.stderr}"


def run_as(ein, path, target, sizes, folder):
    return (optimised if target == "optimised" else lambda *a: run(a[0], a[1], target, a[2], a[3]))(ein, path, sizes, folder)


run = against.run

if __name__ == "__main__":
    against.run = run_as
    sys.exit(against.compare(program, sizes_of, TARGETS))
