#!/usr/bin/env python3
"""ranges.py EIN [--seed N] [--count N] [--print]: random predicates over a reduced label, with bounds, quotients,
`or`, `not` and arbitrary 64-bit data, under count, sum, max and mean. After the passes, the C must compute the same as
eval on the original program. A failure prints the program."""
import random
import sys

import verified

ENDS = ["0 - 2^62 - 2^62", "2^62 + (2^62 - 1)", "2^62 + (2^62 - 4)", "0 - 2^62", "-5", "-1", "0", "1", "3", "6", "11",
        "12", "40"]


def outside(r):
    """Of the output's label, sizes and data."""
    return r.choice(["s", "s", f"s - {r.randrange(5)}", f"s + {r.randrange(5)}", f"{r.choice([2, 3])} * s",
                     f"s // {r.choice([2, 3, 4])}", "k[s]", "k[s]",
                     "m[s]", f"k[s] + {r.randrange(3)}", "N - s", str(r.randrange(-3, 14)), f"min(s, {r.randrange(9)})",
                     f"m[s] // {r.choice([2, 5])}"])


def inside(r):
    """Of the reduced label."""
    d = r.choice([2, 3, 4, 7, 40])
    return r.choice(["t", "t", "t", "t", f"t // {d}", f"t // {d}", f"(t + {r.randrange(4)}) // {d}",
                     f"2 * t - {r.randrange(5)}", f"t + s", f"(t - s) // {d}",
                     f"t % {d}", f"{r.randrange(12)} - t"])


def asked(r, depth):
    kind = r.randrange(8) if depth else 7
    if kind <= 2:
        return f"{asked(r, depth - 1)} and {asked(r, depth - 1)}"
    if kind == 3:
        return f"({asked(r, depth - 1)} or {asked(r, depth - 1)})"
    if kind == 4:
        return f"not ({asked(r, depth - 1)})"
    if r.randrange(5) == 0:
        return r.choice(["x[t] % 3 == 1", "m[s] > 3", "x[t] > m[s]", "t != s", "N - 1 - t != s", "x[t] < k[t]",
                         f"m[t] == s + {r.randrange(-2, 3)}",
                         "N - 1 - m[t] == s", f"k[t] - s == {r.randrange(3)}",
                         f"(t + {r.randrange(3)} * s) % {r.choice([2, 3, 5])} == {r.choice(['k[s]', '1', 's % 3'])}",
                         f"t % {r.choice([2, 3, 5])} == {r.choice(['k[s]', 'm[s]', '1', 's % 3'])}",
                         f"t + {r.randrange(3)} < k[s]", f"t + 1 > m[s]"] +
                        [f"{d} {o} {r.choice([0, 0, 1, -1, 3, -4])}" for o in ("<", "<=", ">", ">=")
                         for d in ("t - k[s]", "k[s] - t", "t + 2 - m[s]", "k[s] - (t + s)")] +
                        [f"{r.choice([2, 3])} * t + {r.randrange(3)} {o} k[s]" for o in ("<", "<=", ">", ">=", "==")])
    a, b = inside(r), outside(r)
    if r.randrange(3) == 0:
        a, b = b, a
    return f"{a} {r.choice(['<', '<=', '>', '>=', '=='])} {b}"


def remainder(r):
    """One remainder alone, mostly between bounds."""
    left = f"t % {r.choice([1, 2, 3, 5])}" if r.randrange(2) else f"({r.choice(['t + s', 't - 2 * s', 't + 7', 'N - 1 + t'])}) % {r.choice([2, 3, 5])}"
    c = f"{left} == {r.choice(['k[s]', 'm[s]', '1', 's % 3', 's'])}"
    return f"{c} and {r.choice(['t <= s', 't > k[s]', '2 * t < s', 'm[s] <= t', 's > 2'])}" if r.randrange(3) else c


def program(seed, count):
    r = random.Random(seed)
    n = r.choice([1, 5, 12, 13, 70])
    data = [r.choice(ENDS) for _ in range(n)]
    k = "".join(f"if s == {i} then {v} else " for i, v in enumerate(data)) + "0"
    lines = [f"dim N = {n}", f"input k[s:N] : i64 = {k}", "input m[s:N] : i32 = i32(s * 7 % 5 - 1)",
             "input x[t:N] : i64 = t * t - 3 * t + 1",
             "input z[t:N] : f64 = 1.0 / f64(t + 1)"]
    for i in range(count):
        what = r.choice(["count[t:{e} where {p}]", "count[t:{e} where {p}]", "sum[t:{e} where {p}] x[t]",
                         "sum[t:{e} where {p}] m[s]", "sum[t:{e}] if {p} then x[t] else 0",
                         "max[t:{e}] if {p} then z[t] else 0 - inf",
                         "max[t:{e} where {p}] x[t]", "(mean[t:{e} where {p}] f64(t)) ?? -1",
                         "sum[t:{e} where {p}] z[t]", "any[t:{e} where {p}] (x[t] > 5)",
                         "(argmax[t:{e} where {p}] x[t]) ?? -1", "(argmin[t:{e} where {p}] m[t]) ?? -1",
                         "(argmax[t:{e} where {p}] (if t % 4 == 2 then sqrt(-1.0) else z[t])) ?? -1",
                         "sum[t:{e}, u:3 where {p} and u <= t] x[t] * u"])
        p = asked(r, 2)
        if r.randrange(5) == 0:
            what, p = "count[t:{e} where {p}]", remainder(r)
        elif r.randrange(3) == 0:
            p = r.choice([remainder(r), f"t {r.choice(['<', '<=', '>', '>='])} {r.choice('km')}[s]",
                          f"{r.choice('km')}[s] {r.choice(['<', '<=', '>', '>='])} t", "t != s + 1",
                          "t != N - 1 - s and s > 2", "t < k[s] and x[t] % 2 == 0 and s % 3 < 2"])
        lines.append(f"output y{i}[s:N] = " + what.format(e="N", p=p))
    return "\n".join(lines) + "\n"


sys.exit(verified.main(__doc__, program, 4, 24, "outputs"))
