#!/usr/bin/env python3
"""Checks a trace of `ein run --profile --trace`: profile.py TRACE SITES BYTES [steps].

The slices of a site must follow each other without large gaps. Each message must begin in a slice of its sender and
end, not earlier, in one of its receiver. All messages together must have BYTES bytes. `steps`: prints how often site 0
began each step."""
import collections
import json
import sys


def main():
    path, sites, bytes_ = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    with open(path, encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    wrong = []
    slices = {s: [] for s in range(sites)}
    ends = {}
    for e in events:
        if e["ph"] == "X":
            slices[e["pid"]].append(e)
        elif e["ph"] in "sf":
            ends.setdefault(e["id"], {})[e["ph"]] = e
        elif e["ph"] != "M":
            wrong.append(f"an event of kind {e['ph']}")
    if sorted(e["pid"] for e in events if e["ph"] == "M") != list(range(sites)):
        wrong.append("not each site has its name once")
    for site, all_ in slices.items():
        if not all_:
            wrong.append(f"site {site} has no slice")
        for a, b in zip(all_, all_[1:]):
            if abs(a["ts"] + a["dur"] - b["ts"]) > 0.01:
                wrong.append(f"site {site}: {b['name']} does not begin where {a['name']} ends")
    got = 0
    for name, end in ends.items():
        if set(end) != {"s", "f"}:
            wrong.append(f"message {name} has one end")
            continue
        got += end["f"]["args"]["bytes"]
        if end["s"]["pid"] == end["f"]["pid"]:
            wrong.append(f"message {name} is from a site to itself")
        if end["f"]["ts"] < end["s"]["ts"]:
            wrong.append(f"message {name} ends {end['s']['ts'] - end['f']['ts']:.3f} us before it begins")
        for kind in "sf":
            x = end[kind]
            if not any(s["ts"] - 0.01 <= x["ts"] <= s["ts"] + s["dur"] + 0.01 and s["cat"] in ("move", "fetch") for s in slices[x["pid"]]):
                wrong.append(f"message {name}: its end {kind} is in no slice of a move")
    if got != bytes_:
        wrong.append(f"messages have {got:.0f} bytes, planned were {bytes_:.0f}")
    for w in wrong[:10]:
        print(w)
    if len(sys.argv) > 4:
        for step, n in sorted(collections.Counter(e["args"]["step"] for e in slices[0]).items()):
            print(f"step {step}: {n}")
    return 1 if wrong else 0


sys.exit(main())
