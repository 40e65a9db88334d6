#!/bin/sh
# suite: ci
# Loops that few programs have: each program must get them, and compute what eval does.
. "$(dirname "$0")/common"

right() { # PROGRAM
  want 0 "$EIN" verify "$1.ein" --flags="-O1 -march=native"
}
emulated() { # PROGRAM: the same on a device
  command -v g++ >/dev/null || return 0
  XDG_CACHE_HOME=$work/cache want 0 "$EIN" verify "$1.ein" --target=cuda --cc="$here/../cuda/cc" --flags=-O0
}

# Rows past the cache that choose by position go by pieces, which are split where the choice changes.
cat >pieces.ein <<'EIN'
input x[n:700,d:4096], z[n:700,d:4096] : f32
mu[n] = mean[d] x[n,d]
output Y[n,d] = if d < 2040 then x[n,d] - mu[n] else z[n,d-2040] * mu[n]
EIN
want 0 "$EIN" build pieces.ein --stop=loop
shows 'for piece < 4096 step 1024'
right pieces

# A small matrix, transposed often: squares are streamed from where they are.
cat >often.ein <<'EIN'
input X[a:64,b:64] : f32
output Y[c:2000,b,a] = X[a,b]
EIN
want 0 "$EIN" build often.ein --stop=loop
shows 'stream Y[c, (b + b_3), a] = square[b_3, 0] for 16'
right often

# Predicates of alternatives that compare the other way round bound the blocks of rows.
cat >ways.ein <<'EIN'
input Q[t:96,d:32], K[s:96,d:32], V[s:96,d:32] : f32
A[t,s:96] = sum[d] Q[t,d] * K[s,d]
output Y[t,d:32] = sum[s] softmax[s where t > s or 8 >= s](A[t,s]) * V[s,d]
output Z[t,d:32] = sum[s] softmax[s where t // 16 >= s // 16 or 7 > s](A[t,s]) * V[s,d]
EIN
want 0 "$EIN" build ways.ein --stop=loop
shows 'for s_3 < to from all_to'
right ways

# On a device: few rows of halves, whose sums the threads of a block put together.
cat >few.ein <<'EIN'
input Q[h:3,t:32,d:16], K[h:3,s:200,d:16], V[h:3,s:200,e:64] : f16
A[h,t,s:200] = sum[d:16] f32(Q[h,t,d]) * f32(K[h,s,d])
P[h,t,s:200] = f16(softmax[s](A[h,t,s]))
output Z[h,t] = max[s] A[h,t,s]
output Y[h,t,e:64] = sum[s] P[h,t,s] * V[h,s,e]
EIN
want 0 "$EIN" build few.ein --target=cuda --stop=loop
shows '16 by 16 threads; products by matrix units; sums of exponentials'
emulated few

finish
