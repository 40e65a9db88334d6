#!/bin/sh
# suite: ci
# A column that each of many rows reads with a stride is copied first, so that it lies side by side.
. "$(dirname "$0")/common"

of() { # of WHAT: the program with a matrix V, whose columns the equation WHAT reads
  printf 'dim N = 70, M = 50, C = 9, c = 3\ninput A[i:N,j:M], V[j:M,q:C], B[b:4,j:M,q:C] : f32\n%s\n' "$1" >column.ein
  want 0 "$EIN" build column.ein --stop=task
  copies=$(grep -c 'stage [VB]\.column' out)
}

for what in 'output y[i] = sum[j] A[i,j] * V[j,3]' 'output y[i] = max[j] (A[i,j] - V[j,C-1])' 'output Y[i,j] = A[i,j] / V[j,0]' \
  'output Y[i,j] = softmax[j](A[i,j] + V[j,c])' 'output Y[b,i:N,j] = A[i,j] * B[b,j,5]' 'output y[i] = sum[j where j <= i] A[i,j] * V[j,1]' \
  'output Y[i,j] = if j > 3 then A[i,j-1] + V[j,2] else V[j,2]'; do
  of "$what"
  [ "$copies" = 1 ] || wrong "$copies copies: $what: $(cat out)"
  want 0 "$EIN" verify column.ein --threads 2 --flags="-O1 -march=native"
  want 0 "$EIN" verify column.ein -D N=300 -D M=17 --target=jit
done
# Not where it is read as it lies, once, or along rows that something else determines; nor in products, which pack.
for what in 'output Y[i,q] = (sum[j] A[i,j]) * V[3,q]' 'output Y[b,j] = B[b,j,4] + V[j,2]' 'output y[j] = sum[i] A[i,j] * V[j,2]' \
  'output Y[i,q] = sum[j] A[i,j] * V[j,q]' 'output Y[i,b] = sum[j] A[i,j] * B[b,j,2]' \
  'output Y[i,j] = A[i,j] * (V[(j + i) % M,2] + V[M-1-j,1])'; do
  of "$what"
  [ "$copies" = 0 ] || wrong "$copies copies: $what: $(cat out)"
done

# In a loop the place may be beyond the tensor: then nobody reads the copy.
cat >loop.ein <<'END'
dim N = 60, M = 64, K = 5
input A[i:N,j:M], V[j:M,k:K] : f32
repeat t < 2*K {
  state S[i:N,j:M] : f32 = A[i,j]
  next S[i,j] = if t < K then S[i,j] + V[j,t] else S[i,j] * 2
}
output S
END
want 0 "$EIN" build loop.ein --stop=task
grep -q 'stage V.column.* domain ' out || wrong "the copy has no domain: $(cat out)"
want 0 "$EIN" verify loop.ein --threads 2 --flags="-O1 -march=native"
finish
