#!/bin/sh
# suite: ci
# ein bench: its two formats, and comparing.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

want 0 "$EIN" bench sum.ein -D N=1000 --reps 3 --flags=-O1 --threads 1 --format=json -o old.json
if command -v python3 >/dev/null; then
  want 0 python3 -c '
import json
b = json.load(open("old.json"))
assert b["format"] == "ein bench 1" and len(b["seconds"]) == 3 and b["dims"] == {"N": 1000} and b["threads"] == 1, b
assert b["least"] <= b["median"] <= b["most"] and b["mad"] >= 0 and b["flops"] == 2001 and b["cc_seconds"] > 0, b'
fi
want 0 "$EIN" bench sum.ein -D N=1000 --reps 2 --flags=-O1 X=iota --compare old.json
shows "median"
shows "GFLOP/s"
shows "times that time"
grep -q 'but before dims was' out && wrong "the sizes are the same"
grep -q 'but before threads was 1' out || wrong "other threads are not told"
echo '{"format": "something"}' >other.json
want 1 "$EIN" bench sum.ein -D N=1000 --flags=-O1 --compare other.json
want 4 "$EIN" bench sum.ein -D N=1000 --flags=-O1 --compare nowhere.json
want 2 "$EIN" bench sum.ein --flags=-O1
says "-D N="
want 2 "$EIN" bench sum.ein -D N=10 --reps 0
want 2 "$EIN" bench
finish
