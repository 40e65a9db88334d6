#!/bin/sh
# suite: ci
# ein machine: its output has the form of a machine file, with plausible figures.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

want 0 "$EIN" machine --threads 2 -o m.json
silent
[ ! -s out ] || wrong "with -o, something is written to standard output"
if command -v python3 >/dev/null; then
  want 0 python3 -c '
import json
m = json.load(open("m.json"))
assert m["format"] == "ein machine 1" and m["site"]["level"] == "node", m
core, node = m["levels"]
assert core["name"] == "core" and core["parts"] == 1 and node["name"] == "node" and node["parts"] == 2, m
for level in m["levels"]:
    rates = level["operations_per_second"]
    for t in "f64", "f32", "i64", "i32":
        assert 1e7 < rates[t]["multiply_add"]["worst"] <= rates[t]["multiply_add"]["value"] < 1e14, rates
    assert rates["f32"]["add_max"]["value"] > 1e7, rates
    for x in level["memories"]:
        assert x["read_bytes_per_second"]["value"] > 1e7 and x["copy_bytes_per_second"]["value"] > 1e7, x
far = [x["latency_seconds"]["value"] for x in core["memories"]]
assert 1e-10 < far[0] < far[-1] < 1e-3, far
assert core["memories"][-1]["name"] == "memory" and core["memories"][-1]["bytes"] == m["site"]["bytes"], m
p = m["prices"]
assert 0 < p["kernel_seconds"]["value"] < p["parallel_seconds"]["value"] and p["run_seconds"]["value"] > 0, p
assert p["worth_threads_operations"] > 0, p'
fi
want 0 "$EIN" machine --threads 1
shows "f32 multiply_add"
shows "latency"
grep -q "for all threads" out && wrong "with one thread, there is a figure for all threads"
want 2 "$EIN" machine now
says "takes no words"
want 2 "$EIN" machine --threads 0
want 2 "$EIN" machine --format=xml
want 2 "$EIN" machine --reps 3
want 4 "$EIN" machine -o nowhere/m.json
want 4 "$EIN" machine --cc nothing-of-this-name
says "there is no C compiler"
finish
