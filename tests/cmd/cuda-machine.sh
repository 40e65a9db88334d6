#!/bin/sh
# suite: ci
# ein machine --cuda on the stand-ins: it writes a valid machine file, for which plans can be made. The measured speeds mean nothing.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 3
look_alikes

EIN_STANDIN=devices=2 want 0 "$EIN" machine --cuda -o m.json
silent
grep -q 'left: 0 pieces of memory, 0 modules, 0 streams, 0 contexts' report || wrong "not all is given back: $(cat report)"
if command -v python3 >/dev/null; then
  want 0 python3 -c '
import json
m = json.load(open("m.json"))
assert m["format"] == "ein machine 1" and m["site"] == {"level": "gpu", "bytes": 1 << 30}, m
gpu, server = m["levels"]
assert gpu["parts"] == 1 and server["parts"] == 2, m
for t in "f64", "f32", "f16", "bf16", "i64", "i32":
    x = gpu["operations_per_second"][t]["multiply_add"]
    assert 0 < x["worst"] <= x["median"] <= x["value"], x
assert gpu["operations_per_second"]["f32"]["add_max"]["value"] > 0
[memory] = gpu["memories"]
assert memory["read_bytes_per_second"]["value"] > 0 and memory["copy_bytes_per_second"]["value"] > 0, memory
link = server["link"]
assert 0 < link["latency_seconds"]["value"] <= link["latency_seconds"]["worst"] and link["bytes_per_second"]["value"] > 0, link
assert m["prices"]["run_seconds"]["value"] > 0 and m["prices"]["kernel_seconds"]["value"] > 0, m'
fi
cat >mul.ein <<'END'
input A[i:64, k:64] : f32
input B[k:64, j:64] : f32
output C[i, j] = sum[k] A[i, k] * B[k, j]
END
want 0 "$EIN" plan mul.ein -n 2 --machine m.json
want 2 "$EIN" machine --cuda --threads 2
says "--threads are a processor's"
EIN_STANDIN=no-device want 4 "$EIN" machine --cuda
says 'no CUDA device'
EIN_STANDIN=memory=1000 want 4 "$EIN" machine --cuda
says 'out of memory'
finish
