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

# Turns that data decide are not counted; defaults are neither counted nor timed.
cat >turns.ein <<'END'
input slow : f32 = sum[i:20000000] sin(f32(i)) * sin(f32(i))
input X[i:9] : f32 = 2 * slow
repeat t < 1000 until x < 1 {
  state x : f32 = 8
  next x = x / 2
}
output Y[i] = x + X[i]
END
cat >fixed.ein <<'END'
input slow, alike : f32 = sum[i:20000000] sin(f32(i)) * sin(f32(i))
output Y = slow * alike
END
for p in turns fixed; do want 0 "$EIN" bench $p.ein --reps 3 --flags=-O1 --threads 1 --format=json -o $p.json; done
if command -v python3 >/dev/null; then
  want 0 python3 -c '
import json
turns, fixed = json.load(open("turns.json")), json.load(open("fixed.json"))
assert turns["flops"] is None and turns["gflops"] is None, turns
assert fixed["flops"] == 1 and fixed["least"] < 1e-3, fixed'
fi
want 0 "$EIN" bench sum.ein -D N=1000 --reps 2 --flags=-O1 X=iota --compare old.json
shows "median"
shows "GFLOP/s"
shows "times that time"
grep -q 'but before dims was' out && wrong "the sizes are the same"
grep -q 'but before threads was 1' out || wrong "a different number of threads is not reported"
echo '{"format": "something"}' >other.json
want 1 "$EIN" bench sum.ein -D N=1000 --flags=-O1 --compare other.json
for text in '{"format": "something", "note": "no ein bench 1"}' '"ein bench 1"' '{"format": "ein bench 1"' ''; do
  echo "$text" >other.json
  want 1 "$EIN" bench sum.ein -D N=1000 --flags=-O1 --compare other.json
done
want 4 "$EIN" bench sum.ein -D N=1000 --flags=-O1 --compare nowhere.json
want 2 "$EIN" bench sum.ein --flags=-O1
says "-D N="
want 2 "$EIN" bench sum.ein -D N=10 --reps 0
want 2 "$EIN" bench
finish
