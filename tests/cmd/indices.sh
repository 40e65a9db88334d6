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

# A row that a kernel keeps is read at data: a label of -1, say. It read what lies before the row.
cat >entropy.ein <<'EIN'
input A[i:40,j:9] : f32 = i - j
input y[i:40] : i64 = i % 10 - 1
p[i,j] = softmax[j](A[i,j] / 8)
output Y[i] = -log(p[i,y[i]])
EIN
want 0 "$EIN" verify entropy.ein --target=jit
shows 'both fail: index 2 (label j) of p, read for Y: -1 is out of range'
want 0 "$EIN" verify entropy.ein --target=jit -n 2
shows 'both fail'
sed 's/ - 1$/ % 9/' entropy.ein >labels.ein
want 0 "$EIN" verify labels.ein --target=jit
shows '    Y            f32  abs'

want 0 python3 "$here/../random/indices.py" "$EIN" 1 60
want 0 python3 "$here/../random/indices.py" "$EIN" 101 108 -n 3 --flags=-O0
finish
