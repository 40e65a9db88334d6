#!/bin/sh
# suite: long
# Gradients of 10,000 random programs against differences, and of as many the products of Jacobians with directions from both sides.
. "$(dirname "$0")/common"

command -v python3 >/dev/null || exit 77
for how in "--seed 20000 --count 10000" "--adjoint yes --seed 20000 --count 10000"; do
  # shellcheck disable=SC2086
  python3 "$here/../grad/differences.py" "$EIN" $how >out 2>err || {
    cat out err
    wrong "a gradient is not the slope, or not the adjoint: $how"
  }
  tail -1 out
done
finish
