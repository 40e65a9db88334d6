#!/usr/bin/env python3
"""Tests indices that depend on data until something simplifies them: indices.py EIN FIRST LAST [OPTION...]

Each seed gives a program with one read at a random index, made of labels, integers of data, and vertices that are one
number everywhere. What is read is an input, or rows that a kernel may keep, or a sum of which only this may be made. Often it cancels to something that does not depend on data any more, and often it is out of range.
`ein verify` must find the same outputs, or the same failure, by eval and by C. The options are verify's (default
--target=jit). A failure prints the program. Exits with 1 if any fail."""
import sys

from verified import verify_all

LEAVES = ["i", "i", "i", "j", "j", "j", "p[i+0]", "p[j+0]", "q[p[i+0]]", "k", "m", "z[i]", "u[i]", "c[i,j]", "s"]
READS = ["output Y[i:I,j:J] = X[{e}]", "output Y[i:I,j:J] = X[{e}] ?? -7", "output Y[i:I] = sum[j:J] X[{e}]",
         "output Y[i:I] = sum[j:J where {c}] X[{e}]", "output Y[i:I,j:J] = if {c} then X[{e}] else 3",
         "output Y[i:I] = sum[j:J, n:N where n == {e}] X[n] * (j + 1)", "output Y[i:I] = max[j:J where {c}] (X[{e}] ?? 2)",
         "output Y[i:I,j:J] = V[i,{e}]", "output Y[i:I,j:J] = P[i,{e}]", "output Y[i:I] = sum[j:J] P[i,{e}]"]


def index(r, depth):
    if depth == 0 or r.random() < 0.25:
        return r.choice([*LEAVES, str(r.randint(0, 6))])
    a, b, c = (index(r, depth - 1) for _ in range(3))
    return r.choice([f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} % {b})", f"({a} // {b})", f"min({a}, {b})",
                     f"max({a}, {b})", f"(if {a} < {b} then {a} else {b})", f"(if {a} == {b} then {a} else {c})",
                     f"({a} - {a} + {b})", f"abs({a})"])


def condition(r):
    return f"{index(r, 1)} {r.choice(['<', '==', '>=', '!='])} {index(r, 1)}"


def program(r):
    sizes = f"N = {r.choice([1, 2, 3, 5, 8, 40])}, I = {r.choice([1, 2, 4, 6, 33])}, J = {r.choice([1, 3, 5, 17])}"
    return "\n".join([
        f"dim {sizes}",
        "input X[n:N] : i64 = 10 * n + 1",
        f"input p[a:40] : i64 = a % {r.randint(1, 9)}",
        "input q[a:40] : i64 = (a * 3) % 7",
        f"k = {r.randint(0, 5)}",
        f"m = k * {r.randint(0, 2)}",
        f"z[i:I] : i64 = {r.randint(0, 4)}",
        "u[i:I] : i64 = i // 2",
        "c[i:I,j:J] : i64 = if i < j then 0 else p[i+0] - p[i+0]",
        "s = sum[a:40] (p[a] - p[a])",
        "o[i:I] = max[n:N] X[n] * (i + 1)",
        "V[i:I,n:N] = X[n] - o[i]",
        "P[i:I,n:N] = sum[h:7] (h + i) * X[n]",
        r.choice(READS).format(e=index(r, r.randint(1, 3)), c=condition(r)),
    ]) + "\n"


def main():
    _, count, failed = verify_all(program)
    return failed > 0 or not count["equal"]


sys.exit(main())
