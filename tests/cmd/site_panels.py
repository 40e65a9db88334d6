#!/usr/bin/env python3
"""site_panels.py SEED ORDERS: reads `ein plan --format=json` from stdin, and writes a plan in which every equation runs
in panels of a random label, with a random number of panels. ORDERS is the line about orders of products that the plan
as text has, or empty. The last line has the bytes that move."""
import json
import random
import re
import sys

random.seed(int(sys.argv[1]))
plan = json.load(sys.stdin)
print("plan 1\nsites", plan["sites"])
if sys.argv[2]:
    print(sys.argv[2])
for v in plan["vertices"]:
    long = [x for x in v["labels"] if x["extent"] > 1 and x["name"]]
    if not long or v["equation"].startswith("state") or re.search(r"= arg(max|min)\b", v["equation"]):
        continue
    name = v["name"] if re.fullmatch(r"%\d+|[A-Za-z_]\w*", v["name"]) else json.dumps(v["name"], ensure_ascii=False)
    label = random.choice(long)
    word = label["name"] if re.fullmatch(r"[A-Za-z_]\w*'*", label["name"]) else json.dumps(label["name"], ensure_ascii=False)
    print(f"panels {name} {word}={min(label['extent'], random.choice([2, 3, 5]))}")
print("#", int(plan["bytes"]))
