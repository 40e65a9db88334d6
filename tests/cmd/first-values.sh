#!/bin/sh
# suite: ci
# A state may begin in the buffer of its first value. What else reads that value, perhaps behind the loop, sees it as it was: states that are exchanged
# and in place, loops one after the other.
. "$(dirname "$0")/common"

for next in 'cos(T[i]) + T[N-1-i]' 'cos(T[i])' 'if i == t then 5 else T[i]'; do
  cat >one.ein <<END
dim N = 20
input W[i:N] : f64 = f64(i % 7) + 0.5
V[i] = W[i] * 2
A[i] = sin(V[i]) ^ 2
repeat t < 3 {
  state T[i] = V[i]
  next T[i] = $next
}
B[i] = exp(A[i]) + 1
output s = sum[i] B[i]
D[i] = T[i] * 3
C[i] = cos(D[i]) ^ 2
repeat t < 3 {
  state R[i] = D[i]
  next R[i] = sin(R[i]) + R[N-1-i]
}
output r = sum[i] (R[i] + exp(C[i]))
output u = sum[i] T[i]
END
  for how in --target=jit "-n 3 --flags=-O0"; do
    # shellcheck disable=SC2086
    want 0 "$EIN" verify one.ein $how
    shows '    s            f64  abs'
  done
done
finish
