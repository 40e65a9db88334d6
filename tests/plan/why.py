#!/usr/bin/env python3
"""Checks that the edges listed by `ein plan --why` add up to the extra cost of the pinned plan.

why.py FILE...: reads JSON with "why"; prints a line for each difference, and exits with 1 if there are any."""
import json
import sys


def wrong(plan):
    cost = {"bytes": "bytes", "seconds": "seconds", "ia": "elements"}[plan["measure"]]
    for w in plan["why"]:
        if "why" in w:
            continue
        more = sum(e["more"] for e in w["edges"])
        if abs(more - (w[cost] - plan[cost])) > 1e-6 * plan[cost]:
            yield f"{w['pin']}: edges cost {more} more, the plan {w[cost] - plan[cost]}"
        losses = [e["more"] for e in w["edges"]]
        if losses != sorted(losses, reverse=True):
            yield f"{w['pin']}: the largest loss is not the first"
        if plan["proven"] and w[cost] < plan[cost] * (1 - 1e-9):
            yield f"{w['pin']}: costs less than a plan that is proven"


bad = 0
for file in sys.argv[1:]:
    plan = json.load(open(file))
    plan["proven"] = plan["bound"] is not None and plan["bound"] >= plan[{"bytes": "bytes", "seconds": "seconds", "ia": "elements"}[plan["measure"]]]
    for line in wrong(plan):
        print(f"{file}: {line}")
        bad = 1
sys.exit(bad)
