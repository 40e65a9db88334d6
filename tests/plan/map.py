#!/usr/bin/env python3
"""Compares ein plan --map with ein plan --against at each of its points, as text and as a picture. map.py EIN SAMPLES,
in an empty folder."""
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

EIN, SAMPLES = sys.argv[1:]
USUAL = "sqrt,data,sequence,megatron,attention"
failed = []

TRAINING = """dim B = 64, A = 16, F = 32
input X[b:B, a:A], T[b:B, a:A] : f32
param W[a:A, f:F], V[f:F, a:A] : f32
P[b,f] = sum[a] X[b,a] * W[a,f]
D[b,a] = (sum[f] max(P[b,f], 0) * V[f,a]) - T[b,a]
L = sum[b,a] D[b,a]^2
output newV[f,a] = V[f,a] - 0.01 * grad(L, V[f,a])
output newW[a,f] = W[a,f] - 0.01 * grad(L, W[a,f])
"""


def wrong(what):
    failed.append(what)
    print("map.py:", what)


def ein(*words):
    done = subprocess.run([EIN, "plan", *words], capture_output=True, text=True)
    if done.returncode:
        wrong(f"{' '.join(words)}: {done.stderr[:500]}")
        raise SystemExit(1)
    return done.stdout


def doublings(low, high):
    values = []
    while low < high:
        values.append(low)
        low *= 2
    return values + [high]


def alone(path, against, costs, dims):
    """The cell that a plan of its own says."""
    words = [w for k, v in dims.items() for w in (["-n", str(v)] if k == "n" else ["-D", f"{k}={v}"])]
    plan = json.loads(ein(path, *words, f"--against={against}", "--format=json", *costs))
    if plan["schema"] == "ein partition 1":
        ours, its = plan["cost"]["all"], {r["planner"]: r["cost"]["all"] for r in plan["against"] if "cost" in r}
    else:
        key = "seconds" if plan["measure"] == "seconds" else "elements" if plan["measure"] == "ia" else "bytes"
        ours, its = plan[key], {r["planner"]: r[key] for r in plan["against"] if key in r}
    least = min(its.values(), default=0)
    if least <= 0:
        return "-"
    names = ",".join(k for k, v in its.items() if v <= least * (1 + 1e-9))
    if not ours:
        return f"{names} inf"
    return f"{names} {least / ours:.2f}" if least / ours < 99.5 else f"{names} {least / ours:.0f}"


def compare(path, axes, against=None, costs=()):
    spec = ",".join(f"{k}={v[0]}..{v[1]}" if isinstance(v, tuple) else f"{k}={v}" for k, v in axes)
    words = [path, "--map", spec, *costs] + ([f"--against={against}"] if against else [])
    lines = ein(*words).splitlines()
    values = [doublings(*v) if isinstance(v, tuple) else [v] for _, v in axes]
    rows = lines[2 if len(axes) == 2 else 1:]
    wins = {}
    for i, a in enumerate(values[0]):
        columns = values[1] if len(axes) == 2 else [None]
        cells = re.split(r"  +", rows[i].strip())
        if cells[0] != f"{axes[0][0]}={a}":
            wrong(f"{spec}: the row of {axes[0][0]}={a} is {rows[i]}")
        for k, b in enumerate(columns):
            dims = {axes[0][0]: a} | ({axes[1][0]: b} if b is not None else {})
            want = alone(path, against or USUAL, costs, dims)
            if cells[1 + k] != want:
                wrong(f"{path} {dims} {costs}: {cells[1 + k]}, and alone {want}")
            for name in want.split(" ")[0].split(","):
                wins[name] = wins.get(name, 0) + 1
    picture = ein(*words, "--format=svg")
    root = tree.fromstring(picture)
    points = len(values[0]) * (len(values[1]) if len(axes) == 2 else 1)
    titles = [t.text for t in root.iter("{http://www.w3.org/2000/svg}title")]
    if len(titles) != points + 1:
        wrong(f"{spec}: the picture has {len(titles) - 1} points and not {points}")
    for name, n in wins.items():
        if name != "-" and f">{name}, at {n} of {points} points<" not in picture:
            wrong(f"{spec}: the picture does not say that {name} wins at {n} points")


with open("training.ein", "w") as f:
    f.write(TRAINING)
compare("training.ein", [("n", (1, 4)), ("B", (8, 100))])
compare("training.ein", [("F", (16, 64)), ("n", 4)], against="data,megatron")
compare("training.ein", [("n", (2, 3))], costs=("--costs=eindecomp",))
compare("training.ein", [("n", (2, 4)), ("A", 32)], costs=(f"--machine={SAMPLES}/machines/p100_4.json",))
compare(f"{SAMPLES}/01_matmul.ein", [("n", (1, 4))], against="sqrt")
sys.exit(1 if failed else 0)
