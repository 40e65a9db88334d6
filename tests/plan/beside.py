#!/usr/bin/env python3
"""Compares the seconds by which plans are chosen with a simulated run (`ein plan --simulate`), on random chains of products.

beside.py EIN MACHINES: prints what it found; exits with 1 if the two order pairs of plans otherwise, or if they are far from each other.
Pairs whose seconds differ by less than a fifth say nothing. What is asked for is what held when this was written, or a little less."""
import json
import os
import random
import subprocess
import sys
import tempfile

APART, SEED, PROGRAMS = 1.2, 3, 6
ALIKE = 0.97                   # of pairs in the same order
NEAR = (0.9, 1.1)              # simulated seconds, of those of the plan


def chain(r):
    n = r.randint(2, 4)
    sizes = [r.choice([512, 1024, 2048, 4096, 8192]) for _ in range(n + 1)]
    lines = [f"input M{k}[a{k}:{sizes[k]},a{k + 1}:{sizes[k + 1]}] : f32" for k in range(n)]
    for k in range(1, n):
        left = "M0[a0,a1]" if k == 1 else f"P{k - 1}[a0,a{k}]"
        lines.append(f"{'output ' if k == n - 1 else ''}P{k}[a0,a{k + 1}] = sum[a{k}] {left} * M{k}[a{k},a{k + 1}]")
    return "\n".join(lines) + "\n", [(f"P{k}", [f"a{j}" for j in (0, k, k + 1)]) for k in range(1, n)]


def plans(ein, path, sites, machine, tensors):
    ways = [[f"--planner={s}"] for s in ("exact", "sqrt", "data")]
    ways += [["--pin", f"{name}:{label}={sites}"] for name, labels in tensors for label in labels]
    for way in ways:
        done = subprocess.run([ein, "plan", path, "-n", str(sites), "--machine", machine, "--simulate", "--format=json", *way],
                              capture_output=True, text=True)
        if done.returncode == 0:
            plan = json.loads(done.stdout)
            yield plan["seconds"], plan["simulated"]["seconds"], " ".join(way)


def main(ein, machines):
    r, alike, of, ratios, wrong = random.Random(SEED), 0, 0, [], []
    with tempfile.TemporaryDirectory() as folder:
        for i in range(PROGRAMS):
            text, tensors = chain(r)
            path, sites = os.path.join(folder, f"chain{i}.ein"), r.choice([4, 8])
            machine = os.path.join(machines, r.choice(["m6in_16.json", "cluster_16.json", "server_8_gpus.json", "sites_1024.json"]))
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            found = sorted(set(plans(ein, path, sites, machine, tensors)))
            ratios += [simulated / seconds for seconds, simulated, _ in found]
            pairs = [(a, b) for k, b in enumerate(found) for a in found[:k] if b[0] >= APART * a[0]]
            wrong += [f"{i} on {sites} of {os.path.basename(machine)}: {a}, {b}" for a, b in pairs if a[1] >= b[1]]
            of += len(pairs)
    alike = of - len(wrong)
    print("\n".join(wrong + [f"{alike} of {of} pairs in the same order; simulated {min(ratios):.3f} to {max(ratios):.3f} of the plan's, {len(ratios)} plans"]))
    return of < 20 or alike < ALIKE * of or min(ratios) < NEAR[0] or max(ratios) > NEAR[1]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
