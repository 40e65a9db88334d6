#!/bin/sh
# suite: ci
# Indices that depend on data are tested where they are computed, also if a pass finds that they do not: what cancels, a vertex that is one number, a
# remainder of zero.
. "$(dirname "$0")/common"

for e in 'p[i] - p[i] + 3' 'k' 'p[i] % 0' 'if p[i] == p[i] then i else p[i]' 'p[i] * 0 + k'; do
  cat >one.ein <<END
dim N = 3
input X[n:N] : f32 = 1
input p[i:5] : i64 = i
k = 8
output Y[i:5] = X[$e]
END
  want 0 "$EIN" verify one.ein --target=jit -D N=0
  shows 'both fail'
  want 0 "$EIN" verify one.ein --target=jit
  [ "$e" = 'p[i] % 0' ] || shows 'both fail'
  want 0 "$EIN" verify one.ein --target=jit -D N=9
  shows 'Y            f32  abs 0'
done

want 0 python3 "$here/../random/indices.py" "$EIN" 1 60
want 0 python3 "$here/../random/indices.py" "$EIN" 101 108 -n 3 --flags=-O0
finish
