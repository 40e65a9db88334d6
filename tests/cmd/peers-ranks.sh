#!/bin/sh
# suite: ci
# bench/ranks.py: programs over four processes build, receive what their plans say, and agree with what peers there are.
. "$(dirname "$0")/common"
turn 1
mpi_builds
command -v python3 >/dev/null && command -v pkg-config >/dev/null || finish
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
bench=$here/../../bench/ranks.py

want 2 python3 "$bench" "$EIN" --only nothing
says "invalid choice: 'nothing'"
want 0 timeout 300 python3 "$bench" "$EIN" --small --rounds 2 --only speech "skewed chain"
shows "| speech | N 40, D 24, H 400, L 10 |"
shows "| 21.1 kB |"
shows "| skewed chain | S 40, K 8, L 200 |"

# Nobody installed: ours are still there.
mkdir none
for name in numpy torch jax; do echo 'raise ImportError("hidden")' >none/$name.py; done
want 0 env PYTHONPATH="$work/none" timeout 300 python3 "$bench" "$EIN" --small --rounds 1 --only chain
says "left out: torch (ImportError: hidden)"
says "left out: jax (ImportError: hidden)"
shows "| chain | S 40, K 40, L 40 |"
finish
