#!/bin/sh
# suite: ci
# Sizes that are not known when a program is compiled: what reads whole matrices by data goes row by row.
. "$(dirname "$0")/common"

# Blocks of rows would read a column of the expert's matrix for each of their rows.
cat >experts.ein <<'EIN'
dim N, D, E, F
input x[n:N,d:D] : f32
param G[d:D,e:E], W[e:E,d:D,f:F], V[e:E,f:F,d:D] : f32
gate[n,e] = sum[d] x[n,d] * G[d,e]
share[n,e] = softmax[e](gate[n,e])
who[n] = argmax[e] gate[n,e]
h[n,f] = relu(sum[d] x[n,d] * W[who[n], d, f])
output y[n,d] = share[n, who[n]] * sum[f] h[n,f] * V[who[n], f, d]
EIN
want 0 "$EIN" build experts.ein --stop=loop
shows "all of it for one row, then for the next"
shows "relu.x: strips of 1024 f"
want 0 "$EIN" verify experts.ein -D N=37 -D D=20 -D E=5 -D F=70 --flags="-O1 -march=native"
finish
