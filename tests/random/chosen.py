#!/usr/bin/env python3
"""Tests sums over points that data send to a result, and over more than these: chosen.py EIN FIRST LAST [OPTION...]

Each seed gives S[n,c] = sum[z,f where k[z] == n] A[z,f] * B, with B of several layouts, or chosen by data too. Points go
nowhere at times, choices are out of range, predicates leave points or terms out, and the same is done for max and min.
The data are small integers. `ein verify` must find the same result, or the same failure, by eval and by C. The options
are verify's (default --target=jit). A failure prints the program. Exits with 1 if any fail, or if no program is taken
apart, or none fails as it should."""
import re
import sys

from verified import verify_all


def others(r, z, points, labels):
    """The second operand: its declaration, and how it is read."""
    C, F, R = labels["c"], labels["f"], labels["r"]
    choice = f"q[{z}]"
    return r.choice([
        (f"B[{points},c:{C},f:{F}]", f"B[{z},c,f]"), (f"B[{points},f:{F},c:{C}]", f"B[{z},f,c]"), (f"B[c:{C},f:{F}]", "B[c,f]"),
        (f"B[r:{R},c:{C},f:{F}]", f"B[{choice},c,f]"), (f"B[r:{R},c:{C},f:{F}]", f"B[{choice},c,f]"),
        (f"B[r:{R},f:{F}]", f"B[{choice},f]"), (f"B[m:{labels['z'] + 2},c:{C},f:{F}]", "B[z+2,c,f]"),
        (f"B[m:{labels['z'] + 2},c:{C},f:{F}]", "B[z+3,c,f]")])


def program(r):
    n = {"z": r.choice([1, 7, 40, 133]), "f": r.choice([3, 8, 16, 40]), "c": r.choice([1, 5, 17, 33]), "n": r.choice([1, 3, 9]), "r": r.choice([2, 4])}
    dtype = r.choice(["i32", "i64", "f64", "f32", "u8", "f16"])
    small = "% 3" if dtype in ("u8", "f16") else "% 7 - 3"
    z, points, more = r.choice([("z", f"z:{n['z']}", ""), ("z", f"z:{n['z']}", ""), ("z,y", f"z:{n['z']},y:2", " + y")])
    declared, read = others(r, z, points, n)
    values = " + ".join(f"{k + 1} * {x.split(':')[0]}" for k, x in enumerate(declared[2:-1].split(",")))
    lines = [f"input A[{points},f:{n['f']}] : {dtype} = (5 * z + 3 * f{more}) {small}", f"input {declared} : {dtype} = ({values}) {small}"]
    spoil = lambda most: r.choice(["", "", f" + (if z == 2 then {most} else 0)", " - (if z == 3 then 9 else 0)"])
    lines += [f"input k[{points}] : i32 = (z * z + z{more}) % {n['n']}{spoil(n['n'])}", f"input q[{points}] : i64 = (3 * z + 1) % {n['r']}{spoil(n['r'])}"]
    where = [f"z + 1 < {n['z']}"] * (read == "B[z+3,c,f]") + [f"0 <= q[{z}] and q[{z}] < {n['r']}"] * (r.random() < 0.25)
    where += [f"k[{z}] == n"] + ["z % 3 != 1"] * (r.random() < 0.15) + ["f > 0"] * (r.random() < 0.15) + [f"A[{z},0] < 2"] * (r.random() < 0.1)
    reducer = r.choice(["sum", "sum", "sum", "max", "min"])
    body = f"A[{z},f] {'*' if reducer == 'sum' else r.choice('+*')} {read}" if r.random() < 0.8 else f"A[{z},f]"
    value = f"{reducer}[{r.choice([f'{z},f', f'f,{z}'])} where {' and '.join(where)}] ({body})"
    value = f"({value}) ?? 99" if reducer != "sum" else r.choice([value, value, f"2 * ({value}) + n"])
    out = [f"n:{n['n']}"] + [f"c:{n['c']}"] * (",c" in body or "c," in body)
    r.shuffle(out)
    return "\n".join([*lines, f"output S[{','.join(out)}] = {value}"]) + "\n"


def is_apart(graph):
    """Whether a reduction over a point's terms alone is in it."""
    return any("where" not in line and "[z" in line and re.search(r"\b(sum|max|min):", line) for line in graph.splitlines())


def main():
    _, count, failed = verify_all(program, "optimised", is_apart, "apart")
    return failed > 0 or count["refused"] > 0 or not count["apart"] or not count["both fail"]


sys.exit(main())
