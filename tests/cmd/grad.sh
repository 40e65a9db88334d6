#!/bin/sh
# suite: ci
# Gradients of random programs against differences, by eval and as C, and differentiated again. cmd/grad-long does 10,000 of each.
. "$(dirname "$0")/common"

command -v python3 >/dev/null || exit 77
n=0
for how in "--count 400" "--adjoint yes --count 200" "--seed 9000 --count 24 --target c" "--adjoint yes --seed 9000 --count 8 --target c"; do
  mine $((n += 1)) 2 || continue
  # shellcheck disable=SC2086
  python3 "$here/../grad/differences.py" "$EIN" $how >out 2>err || {
    cat out err
    wrong "a gradient is not the slope, or not the adjoint: $how"
  }
done
finish
