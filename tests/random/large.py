#!/usr/bin/env python3
"""Random programs of sizes too large to be run in a test: large.py EIN FIRST LAST [DIVISOR REMAINDER]

Each seed, or each that leaves that remainder, gives a contraction of two tensors, maybe with an epilogue or a result that is transposed afterwards, a map or a
reduction of tensors whose axes lie in different orders, or a window. Large tensors go other ways in the schedule than
small ones: in tiles, past the cache, with panels in several levels. Each must build to loops, and the text of these
must be read and checked again; so must the programs in FOUND, which once did not. Exits with 1, and prints the program, if one does not.
"""
import math
import os
import random
import subprocess
import sys
import tempfile

DTYPES = ["f32", "f32", "f64", "f16", "bf16", "i32", "i64"]
TARGETS = [[], [], [], ["--target=cuda"]]
NAMES = "abcdefghijklmnop"
FOUND = [
    (["input A[a:1024,e:16,c:12,d:2], B[e:16,c:12,d:2,b:256] : f32", "output Y[a,b,e] = sum[c,d] A[a,e,c,d] * B[e,c,d,b]"], []),
    (["input X[f:64,a:2,b:16,c:32,e:1024], Z[e:1024,d:384,f:64] : bf16", "output Y[a,d,b,f,c] = sum[e] X[f,a,b,c,e] * Z[e,d,f]"],
     ["--target=cuda"]),
    (["input X[y:28,x:28,n:1,c:16], W[q:5,o:32,r:5,c:16] : f16", "output Y[x:12,y:12,n,o] = sum[c,r,q] X[2*y+r,2*x+q,n,c] * W[q,o,r,c]"],
     ["--target=cuda"]),
]


def listed(labels, extent=None):
    return ",".join(f"{n}:{extent[n]}" if extent else n for n in labels)


def split(r, total):
    """An extent as one to three."""
    out = []
    for _ in range(r.choice([0, 0, 1, 1, 2])):
        s = r.choice([1, 2, 3, 4, 8, 12, 16, 32])
        if total >= 2 * s:
            out.append(s)
            total //= s
    out.append(total)
    r.shuffle(out)
    return out


def permuted(r, groups):
    """Labels group by group in any order, or all mixed."""
    groups = [list(g) for g in groups]
    r.shuffle(groups)
    out = [n for g in groups for n in g]
    if r.random() < 0.45:
        r.shuffle(out)
    return out


def contraction(r):
    names, extent, part = iter(NAMES), {}, {}
    for g in "mnkb":
        total = r.choice([1, 1, 1, 2, 4, 16, 64]) if g == "b" else r.choice([1, 2, 4, 7, 16, 33, 64, 128, 200, 256, 384, 512, 1024, 2048, 4096])
        part[g] = []
        for s in split(r, total) if g != "b" or total > 1 else []:
            part[g].append(next(names))
            extent[part[g][-1]] = s
    dtype = r.choice(DTYPES)
    x, z, y = (permuted(r, [part[g] for g in of]) for of in ("mkb", "knb", "mnb"))
    value = r.choice(["{} * {}"] * 5 + ["({} + {})", "abs({} - {})", "max({}, {})"]).format(f"X[{listed(x)}]", f"Z[{listed(z)}]")
    value = f"{r.choice(['sum'] * 4 + ['max', 'min'])}[{listed(part['k'])}] {value}"
    lines = [f"input X[{listed(x, extent)}], Z[{listed(z, extent)}] : {dtype}"]
    after = r.random()
    if after < 0.2:
        n = r.choice(y)
        lines += [f"input v[{n}:{extent[n]}] : {dtype}", f"output Y[{listed(y)}] = ({value}) + v[{n}]"]
    elif after < 0.4:
        transposed = r.sample(y, len(y))
        lines += [f"{r.choice(['', 'output '])}T[{listed(y)}] = {value}", f"output Y[{listed(transposed)}] = 2 * T[{listed(y)}]"]
    else:
        lines.append(f"output Y[{listed(y)}] = {value}")
    return lines


def transposed(r):
    labels = NAMES[:r.choice([2, 3, 3, 4, 5])]
    extent = {n: r.choice([1, 2, 3, 4, 5, 8, 16, 17, 31, 64, 100, 128, 500, 1000, 1024, 4096]) for n in labels}
    most = r.choice([10**4, 10**6, 10**7, 3 * 10**8])
    while math.prod(extent.values()) > most:
        n = r.choice(labels)
        extent[n] = max(1, extent[n] // 2)
    dtype = r.choice(DTYPES)
    lines, reads, seen = [], [], set()
    for name in "ABC"[:r.choice([1, 1, 2, 3])]:
        order = r.sample(labels, len(labels) - (r.random() < 0.2))
        seen.update(order)
        lines.append(f"input {name}[{listed(order, extent)}] : {dtype}")
        reads.append(f"{name}[{listed(order)}]")
    value = r.choice([" + ", " * "]).join(reads)
    out = r.sample(labels, len(labels))
    folded = [n for n in out if n in seen and r.random() < 0.3] if r.random() < 0.3 else []
    if folded:
        value = f"{r.choice(['sum', 'sum', 'max'])}[{listed(folded)}] ({value})"
    out = [n for n in out if n not in folded]
    return lines + [f"output Y[{listed(out, extent)}] = {value}" if out else f"output Y = {value}"]


def window(r):
    n, c, o, size, taps = (r.choice(s) for s in ([1, 2, 8], [1, 3, 16, 64], [1, 4, 32, 64], [7, 28, 56, 224], [1, 2, 3, 5, 7]))
    step, pad = r.choice([1, 1, 2]), r.choice([0, taps // 2])
    out = (size + 2 * pad - taps) // step + 1
    dtype = r.choice(["f32", "f64", "f16", "i32"])
    at = [f"{step if step > 1 else ''}{'*' if step > 1 else ''}{v}+{w}-{pad}" for v, w in ("yr", "xq")]
    image, weights = (permuted(r, g) for g in (["n", "c", "yx"], ["o", "c", "rq"]))
    extent = {"n": n, "c": c, "o": o, "y": size, "x": size, "r": taps, "q": taps}
    read = ",".join(dict(y=at[0], x=at[1]).get(v, v) for v in image)
    labels = permuted(r, ["n", "o", "yx"])
    result = ",".join(f"{v}:{out}" if v in "yx" else v for v in labels)
    return [f"input X[{listed(image, extent)}], W[{listed(weights, extent)}] : {dtype}",
            f"output Y[{result}] = sum[c,r,q] {'(' * (pad > 0)}X[{read}]{' ?? 0)' * (pad > 0)} * W[{listed(weights)}]"]


def built(ein, lines, words):
    """What is wrong; an empty text if nothing."""
    with tempfile.TemporaryDirectory() as work:
        path, loops = os.path.join(work, "large.ein"), os.path.join(work, "large.loop")
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        for command in ([ein, "build", path, "--stop=loop", "-o", loops] + words, [ein, "check", loops]):
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
            if done.returncode:
                return f"{command[1]} {' '.join(words)} exits with {done.returncode}: {done.stderr}"
    return ""


def made(seed):
    r = random.Random(seed)
    return r.choice([contraction, contraction, transposed, window])(r), r.choice(TARGETS)


def main():
    ein, first, last, divisor, remainder = sys.argv[1:] + ["1", "0"] * (len(sys.argv) < 5)
    seeds = [n for n in range(int(first), int(last)) if n % int(divisor) == int(remainder)]
    wrong = 0
    for name, (lines, words) in [("found", f) for f in FOUND] + [(f"seed {n}", made(n)) for n in seeds]:
        bad = built(ein, lines, words)
        if bad:
            wrong += 1
            print(f"{name}: {bad}", *lines, sep="\n", flush=True)
    print(f"{len(FOUND) + len(seeds)} programs, {wrong} wrong")
    sys.exit(wrong != 0 or not seeds)


main()
