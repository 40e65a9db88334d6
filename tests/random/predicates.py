#!/usr/bin/env python3
"""Tests predicates that bound loops: predicates.py EIN FIRST LAST [TARGET...]

Each seed gives a program of reductions, and of rows that are kept, with random predicates over labels, sizes and data:
ranges, distances, squares, quotients, remainders, rings, floats made of labels, joined by and, or, not and if, spelled
as `where`, as a choice, as a factor or within any and all. All are exact integers. Each target (c, jit, and 3 for as
many sites; by default all) must give the evaluator's outputs to the byte, for sizes that are passed when the program
runs. A failure prints the program with only the outputs that differ. Exits with 1 if any do.
"""
import random
import sys

sys.dont_write_bytecode = True
from against import compare  # noqa: E402

HEAD = """dim N, D, W
input k[s:N] : i64 = if s % 11 == 4 then 9223372036854775807 else if s % 13 == 5 then s - 9223372036854775807 else (5 * s) % (2 * N + 2) - 2
input w[s:N] : i64 = if s % 17 == 4 then 9223372036854775807 else if s % 19 == 2 then -9223372036854775808 else s % 7 - 1
input g[s:N] : i64 = (7 * s * s + 3) % N
input x[t:N] : i64 = (37 * t) % 23 - 5
input z[t:N] : i16 = i16((17 * t) % 19 - 9)
def share[t](v) { m = max[t] v; e = m - v + 1; e * 2 - sum[t] e }
"""
COMPARISONS = ["<", "<=", "==", "!=", ">", ">=", "<", "<=", "=="]
TARGETS = ["c", "jit", "3"]


def number(r):
    return str(r.choice([0, 1, 2, 3, 4, 5, 7, 12, -1, -3]))


def divisor(r):
    return r.choice(["D", "D", "W", "N", "3", "4", "10", "w[s]", "D + 1", "(N // 2 + 1)"])


def known(r):
    """Something that the reduced label does not change."""
    return r.choice([number(r), number(r), "W", "s", "w[s]", "k[s]", "g[s]", "D * 2", "N - W", "N - s", f"s % {divisor(r)}",
                     f"s // {divisor(r)}", f"2 * s - {number(r)}"])


def line(r):
    """Something that changes by one from point to point."""
    return r.choice(["t", "t", "t - s", "t - s", "s - t", "t + s", "t - k[s]", "g[s] - t", "t + 2", "t - W", "t - s + N",
                     "N - 1 - t"])


def integer(r, depth):
    kind = r.random()
    if depth == 0 or kind < 0.3:
        return line(r)
    inner = integer(r, depth - 1)
    if kind < 0.5:
        return f"({inner}) % {divisor(r)}"
    if kind < 0.6:
        return f"({inner}) // {divisor(r)}"
    if kind < 0.75:
        return f"abs({inner})"
    if kind < 0.8:
        return f"({inner}) ^ 2"
    if kind < 0.9:
        return f"{r.choice(['min', 'max'])}({inner}, {r.choice([line(r), known(r)])})"
    return r.choice([f"N - ({inner})", f"2 * ({inner})", f"({inner}) + {number(r)}", f"{known(r)} - ({inner})"])


def floats(r):
    of = f"{r.choice(['f32', 'f64', 'f32', 'f16'])}({r.choice(['t', 't - s', 's - t', '2 * t - s', 't + 3', '(t - s) ^ 2'])})"
    for _ in range(r.randint(0, 2)):
        of = r.choice([f"abs({of})", f"{of} * 0.5", f"-{of}", f"{of} / 3.0", f"2.5 - {of}", f"floor({of})", f"sqrt({of})",
                       f"{of} + 0.25"])
    return f"{of} {r.choice(['<', '<=', '>', '>=', '=='])} {r.choice(['2.5', '3.0', '0.0', '1.75', '-1.5', '7.25'])}"


def comparison(r):
    kind = r.random()
    if kind < 0.12:
        return floats(r)
    if kind < 0.2:
        ring = r.choice(["(t - s + N) % N", "(s - t) % N", "min(abs(t - s), N - abs(t - s))", "max(t, s) - min(t, s)"])
        return f"{ring} {r.choice(COMPARISONS)} {known(r)}"
    if kind < 0.3:
        return f"({line(r)}) % {divisor(r)} {r.choice(COMPARISONS)} {known(r)}"
    if kind < 0.4:
        by = divisor(r)
        return f"({line(r)}) {(op := r.choice(['%', '//']))} {by} {r.choice(COMPARISONS)} ({known(r)}) {op} {by}"
    left, right = integer(r, r.randint(0, 2)), known(r)
    if r.random() < 0.3:
        left, right = right, left
    return f"{left} {r.choice(COMPARISONS)} {right}"


def predicate(r, depth):
    kind = r.random()
    if depth == 0 or kind < 0.4:
        return r.choice([comparison(r)] * 6 + ["x[t] > 3", "x[s] < 4"])
    a, b = predicate(r, depth - 1), predicate(r, depth - 1)
    if kind < 0.65:
        return f"({a}) and ({b})"
    if kind < 0.82:
        return f"({a}) or ({b})"
    if kind < 0.95:
        return f"not ({a})"
    return f"(if {a} then {b} else {predicate(r, 0)})"


def output(r, n):
    p, body = predicate(r, r.randint(0, 3)), r.choice(["x[t]", "x[t] * x[s]", "x[t] + s", "t", "i64(z[t])", "x[(t + s) % N]"])
    if r.random() < 0.2:
        return f"output o{n}[s:N,t:N] = share[t where {p}](x[t]) ?? -1"
    less = r.choice(["max", "min"])
    value = r.choice([
        f"sum[t:N where {p}] {body}",
        f"sum[t:N where {p}] {body}",
        f"{less}[t:N where {p}] ({body})",
        f"count[t:N where {p}]",
        f"sum[t:N] if {p} then {body} else 0",
        f"sum[t:N] {body} * i64({p})",
        f"i64(sum[t:N] f64({p}) * f64(z[t]))",
        f"i64(any[t:N] (({p}) and x[t] > 9))",
        f"i64(any[t:N] (x[t] > 9 and ({p})))",
        f"i64(all[t:N] (({p}) or x[t] > 9))",
        f"i64(all[t:N where {p}] x[t] > -4)",
        f"(arg{less}[t:N where {p}] ({body})) ?? -1",
        f"(arg{less}[t:N where {p}] z[t]) ?? -1",
        f"sum[t:N, u:5 where ({p}) and u <= x[s]] (x[t] + u)",
        f"sum[t:N, u:5 where {predicate(r, 1).replace('s', 'u')}] (x[t] + u)".replace("ab(", "abs("),
    ])
    return f"output o{n}[s:N] = {value}"


def program(seed):
    r = random.Random(seed)
    return HEAD.splitlines() + [output(r, n) for n in range(16)]


def sizes_of(r):
    return [{"N": n, "D": r.choice([0, 1, 2, 3, 5, 8, 30]), "W": r.choice([0, 1, 2, 4, 9])}
            for n in (r.choice([1, 2, 3]), r.randint(4, 40), r.choice([64, 97, 150]))]


if __name__ == "__main__":
    sys.exit(compare(program, sizes_of, TARGETS))
