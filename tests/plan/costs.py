#!/usr/bin/env python3
"""Recomputes the costs of `ein plan -n P --costs=eindecomp --format=json`, from only the counts of labels and the
reads.

costs.py FILE...: prints a line for each difference, and exits with 1 if there are any."""
import json
import math
import sys


def tile(extent, count):
    return -(-extent // count)


def counts_of(vertex, labels):
    return [1 if l < 0 else vertex["labels"][l]["count"] for l in labels]


def join(v):
    calls = math.prod(l["count"] for l in v["labels"])
    return calls * sum(math.prod(map(tile, r["extents"], counts_of(v, r["labels"]))) for r in v["reads"] if r["called"])


def aggregation(v):
    kept = [l for l in v["labels"] if not l["reduced"]]
    n_agg = math.prod(l["count"] for l in v["labels"] if l["reduced"])
    return math.prod(l["count"] for l in kept) * (n_agg - 1) * math.prod(tile(l["extent"], l["count"]) for l in kept)


def repartition(v, r, maker):
    reader, made = counts_of(v, r["labels"]), counts_of(maker, r["made"])
    n_c, n_p = (math.prod(map(tile, r["extents"], d)) for d in (reader, made))
    pieces = math.prod(reader)
    per_block = math.prod(max(a, b) for a, b in zip(reader, made))  # n_c/n_int, times pieces
    whole = per_block == math.prod(made)  # n_p = n_int: no reader's block is smaller, along any dimension
    return (per_block - pieces) * (n_c + n_p) + (0 if whole else n_p * pieces)


def check(path):
    plan = json.load(open(path))
    by_id = {v["id"]: v for v in plan["vertices"]}
    total = {"join": 0, "aggregation": 0, "repartition": 0, "all": 0}
    wrong = []
    for v in plan["vertices"]:
        mine = {"join": v["times"] * join(v), "aggregation": v["times"] * aggregation(v)}
        mine["repartition"] = sum(r["times"] * repartition(v, r, by_id[r["from"]]) for r in v["reads"] if r["from"] is not None)
        mine["all"] = sum(mine.values())
        if mine != v["cost"]:
            wrong.append(f"{path}: {v['name']}: {v['cost']}, but it is {mine}")
        if math.prod(l["count"] for l in v["labels"]) != v["calls"] or v["calls"] > plan["sites"]:
            wrong.append(f"{path}: {v['name']}: {v['calls']} calls")
        if any(l["count"] > max(1, l["extent"]) for l in v["labels"]):
            wrong.append(f"{path}: {v['name']}: a label is cut into more blocks than it has elements")
        for key in total:
            total[key] += mine[key]
    if total != plan["cost"]:
        wrong.append(f"{path}: {plan['cost']} in all, but it is {total}")
    if plan["planner"] == "exact" and (plan["bound"] is None or plan["bound"] > total["all"]):
        wrong.append(f"{path}: a bound of {plan['bound']}")
    for rival in plan["against"]:
        if plan["proven"] and "cost" in rival and rival["cost"]["all"] < total["all"]:
            wrong.append(f"{path}: proven, but {rival['planner']} is better")
    return wrong


if __name__ == "__main__":
    found = [w for path in sys.argv[1:] for w in check(path)]
    print("\n".join(found) if found else f"{len(sys.argv) - 1} plans")
    sys.exit(bool(found))
