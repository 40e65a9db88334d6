#!/usr/bin/env python3
"""Plans under limits of memory beside all pinned plans.

pinned.py EIN [--sites 4] [--limits 4] [--dtype f32] [--all] [PROGRAM...]

PROGRAM: one of those below, or a file. Each is planned under limits from the memory of its best plan down to the least
that is found. Then again with each way in which the sites may cut all of its equations, all of them busy, as pins.
Exits with 1 if one of these keeps the limit and moves less, or if nothing was compared. --all prints every limit.

A pinned plan is searched too, but in a much smaller space. One that moves no less without a limit is not planned again
under it."""
import argparse
import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile

LEAST = re.compile(r"the least that was found is [^(]*\((\d+) bytes\)")
PROGRAMS = {
    "batch": """input A[b:6, i:200, k:240], B[b:6, k:240, j:160] : T
output C[b,i,j] = sum[k] A[b,i,k] * B[b,k,j]
""",
    "shared": """input A[i:240, k:360], B[k:360, j:180], D[k:360, l:120] : T
output C[i,j] = sum[k] A[i,k] * B[k,j]
output E[i,l] = sum[k] A[i,k] * D[k,l]
""",
    "both": """input A[i:300, k:180], B[k:180, j:300], D[i:300, l:60] : T
output C[i,j] = sum[k] A[i,k] * B[k,j]
output E[l,k] = sum[i] D[i,l] * A[i,k]
""",
    "layer": """input X[i:400, k:240], W[k:240, j:320], c[j:320] : T
H[i,k] = max(0, X[i,k] - X[i,0])
S[i,j] = sum[k] H[i,k] * W[k,j]
output Y[i,j] = max(0, S[i,j] + c[j])
""",
    "chain": """input A[i:200, j:300], B[j:300, k:100], C[k:100, l:240] : T
P[i,k] = sum[j] A[i,j] * B[j,k]
output Y[i,l] = sum[k] P[i,k] * C[k,l]
""",
    "gram": """input A[i:360, k:240] : T
output G[k,l:240] = sum[i] A[i,k] * A[i,l]
""",
}


def plan(ein, path, sites, pins=(), limit=None):
    """The plan as JSON; the least memory that was found; None: there is no such plan."""
    words = [w for p in pins for w in ("--pin", p)] + ([f"--memory={limit}B"] if limit else [])
    command = [ein, "plan", path, "-n", str(sites), "--format=json", *words]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode == 0:
        return json.loads(run.stdout)
    told = LEAST.search(run.stderr)
    return int(told.group(1)) if told else None


def factors(n, parts):
    if parts == 1:
        yield (n,)
        return
    for d in range(1, n + 1):
        if n % d == 0:
            yield from ((d, *rest) for rest in factors(n // d, parts - 1))


def pins_of(free, sites):
    """All ways to cut all equations, as pins."""
    ways = []
    for v in free["vertices"]:
        names = [l["name"] for l in v["labels"]]
        counts = (",".join(f"{l}={n}" for l, n in zip(names, f)) for f in factors(sites, len(names)))
        ways.append([v["name"] + ":" + c for c in counts])
    yield from itertools.product(*ways)


def limits_of(free, least, many):
    """Evenly on a scale of ratios."""
    most = free["memory"]["bytes"]
    return [int(most * (least / most) ** (k / many)) + 1 for k in range(1, many)] + [least]


def main():
    args = argparse.ArgumentParser()
    args.add_argument("ein")
    args.add_argument("programs", nargs="*")
    args.add_argument("--sites", default="4")
    args.add_argument("--limits", type=int, default=4)
    args.add_argument("--dtype", default="f32")
    args.add_argument("--all", action="store_true")
    args = args.parse_intermixed_args()
    compared = bad = ways = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in args.programs or PROGRAMS:
            path = name
            if name in PROGRAMS:
                path = os.path.join(folder, name + ".ein")
                with open(path, "w", encoding="utf-8") as f:
                    f.write(PROGRAMS[name].replace(" T\n", f" {args.dtype}\n"))
            for sites in (int(n) for n in args.sites.split(",")):
                free = plan(args.ein, path, sites)
                least = plan(args.ein, path, sites, limit=1)
                if not isinstance(free, dict) or not isinstance(least, int):
                    sys.exit(f"{name} on {sites} sites: no plan")
                pinned = [(plan(args.ein, path, sites, pins), pins) for pins in pins_of(free, sites)]
                pinned = [(p["bytes"], pins) for p, pins in pinned if isinstance(p, dict)]
                ways += len(pinned)
                for limit in limits_of(free, least, args.limits):
                    got = plan(args.ein, path, sites, limit=limit)
                    best = moved = got["bytes"] if isinstance(got, dict) else math.inf
                    for unlimited, pins in sorted(pinned):
                        if unlimited >= best:
                            break
                        p = plan(args.ein, path, sites, pins, limit)
                        if isinstance(p, dict) and p["bytes"] < best:
                            best, by = p["bytes"], pins
                    compared += 1
                    bad += best < moved
                    if best < moved or args.all:
                        told = f"{moved / best:.3f} of {best}, by {' '.join(by)}" if best < moved else moved
                        print(f"{name} on {sites} sites, {limit} bytes: {told}", flush=True)
    print(f"{compared} plans beside {ways} pinned ones, {bad} times more moves")
    return bad > 0 or compared == 0


if __name__ == "__main__":
    sys.exit(main())
