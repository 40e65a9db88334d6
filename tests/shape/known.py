#!/usr/bin/env python3
"""Checks plans of programs whose best distribution is known by name: the search must find it by itself.

    known.py EIN FILE...

Each FILE has its expectations in comments. A line `# plan: WORD...` plans it with these arguments (-n, -D, --memory,
--machine with the name of a sample); the following lines are about that plan, and each may occur several times:

    # plan: WORD...         no plan on the mesh moves less (or takes less time)
    # found: WORD...        the same, without the check that it is the best: under a limit of memory there is no proof
    # none: WORD...         there is no such plan
    # cut: T:b=8,f=2 U:-    the labels of T's equation that are cut, and the number of blocks; -: none
    # home: T:1=8 U:-*8     the dimensions (from 1) that T's home cuts, and the number of copies
    # axes: T:b,f,f         the label that each axis of the mesh cuts; -: it is idle
    # that: EXPRESSION      a Python expression that is true; it knows the program's dims, p (sites), bytes (received by
                            all), memory (the most bytes of a site), bound, seconds, and grids(n): the ways to write p as a
                            product of n factors
    # as: PLANNER...        it moves as much as the plan of that rule of thumb
    # less: PLANNER...      it moves less than the plan of that rule
    # not: PLANNER...       the plan of that rule of thumb is different: it violates one of the lines cut, home, axes

The formulas are from textbooks, independent of the planner. If EIN_TURN is a number, it selects every third plan of a file
with more than two."""
import ast
import json
import math
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def grids(p, n):
    if n == 1:
        return [(p,)]
    return [(a, *rest) for a in range(1, p + 1) if p % a == 0 for rest in grids(p // a, n - 1)]


def plan(ein, path, words):
    words = [re.sub(r"^--machine=(\w+)$", rf"--machine={ROOT}/samples/machines/\1.json", w) for w in words]
    run = subprocess.run([ein, "plan", path, "--format=json", *words], capture_output=True, text=True)
    return json.loads(run.stdout) if run.returncode == 0 else run.stderr


def counts(pairs, copies=1):
    return (",".join(f"{n}={c}" for n, c in pairs if c > 1) or "-") + (f"*{copies}" if copies > 1 else "")


def cut_of(plan, name):
    v = next(v for v in plan["vertices"] if v["name"] == name)
    return counts([(l["name"], l["count"]) for l in v["labels"]])


def axes_of(plan, name):
    v = next(v for v in plan["vertices"] if v["name"] == name)
    return ",".join("-" if a < 0 else v["labels"][a]["name"] for a in v["axes"])


def home_of(plan, name):
    home = next(t for t in plan["tensors"] if t["name"] == name)["home"]
    along = {d: math.prod(m for m, h in zip(plan["mesh"], home) if h == d) for d in sorted(set(home))}
    return counts([(d + 1, c) for d, c in along.items() if d >= 0], along.get(-1, 1))


def that_fails(plan, text):
    p = plan["sites"]
    names = dict(plan["dims"], p=p, bytes=plan["bytes"], bound=plan["bound"], memory=plan["memory"]["bytes"],
                 seconds=plan.get("seconds"), grids=lambda n: grids(p, n))
    tree = ast.parse(text.strip(), mode="eval").body
    if eval(text.strip(), names):
        return None
    told = [tree.left, *tree.comparators] if isinstance(tree, ast.Compare) else []
    return f"{text}: " + ", ".join(f"{ast.unparse(e)} = {eval(ast.unparse(e), names)}" for e in told)


OF = {"cut": cut_of, "home": home_of, "axes": axes_of}


def complaints(plan, wants):
    out = []
    for kind, text in wants:
        if kind == "that":
            out.append(that_fails(plan, text))
        elif kind in OF:
            for word in text.split():
                name, want = word.rsplit(":", 1)
                got = OF[kind](plan, name)
                out.append(None if got == want else f"{kind} {name}:{got}, wanted {want}")
    return [c for c in out if c]


def judged(ein, path, kind, words, wants):
    got = plan(ein, path, words)
    if kind == "none":
        return [] if isinstance(got, str) and "no plan was found" in got else ["there is a plan"]
    if isinstance(got, str):
        return [got]
    out = complaints(got, wants)
    least = got.get("seconds", got["bytes"])
    if kind == "plan" and (got["bound"] is None or got["bound"] < least * (1 - 1e-9)):
        out.append(f"not the least: {least}, and {got['bound']} is all that is proved")
    for how, rule in ((k, r) for k, text in wants if k in ("as", "less", "not") for r in text.split()):
        other = plan(ein, path, words + [f"--planner={rule}"])
        if isinstance(other, str):
            out.append(f"by {rule}: {other}")
        elif how == "as" and other["bytes"] != got["bytes"]:
            out.append(f"by {rule} {other['bytes']:.0f} bytes, and not {got['bytes']:.0f}")
        elif how == "less" and other["bytes"] <= got["bytes"]:
            out.append(f"by {rule} {other['bytes']:.0f} bytes, and not more than {got['bytes']:.0f}")
        elif how == "not" and not complaints(other, wants):
            out.append(f"by {rule} it is the same plan: nothing is tested")
    return out


def read(path):
    """The plans that a file wants: kind, words, and the lines about it."""
    out = []
    for line in open(path, encoding="utf-8"):
        found = re.match(r"# (plan|found|none|cut|home|axes|that|as|less|not): (.*)", line)
        if found and found[1] in ("plan", "found", "none"):
            out.append((found[1], found[2].split(), []))
        elif found and out:
            out[-1][2].append((found[1], found[2]))
    return out


def main():
    ein, failed = sys.argv[1], len(sys.argv) < 3
    turn = int(os.environ["EIN_TURN"]) if os.environ.get("EIN_TURN") else None
    for path in sys.argv[2:]:
        plans = read(path)
        if not plans or any(kind != "none" and not wants for kind, _, wants in plans):
            print(f"{path}: says not what is wanted")
            failed = 1
        if turn is not None and len(plans) > 2:
            plans = plans[turn % 3::3]
        for kind, words, wants in plans:
            for why in judged(ein, path, kind, words, wants):
                print(f"{path}: {kind} {' '.join(words)}: {why}")
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
