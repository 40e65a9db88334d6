#!/bin/sh
# suite: ci
# Spellings of one computation are made in the same way (bench/families.py times them).
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"

kernels() { # NUMBER FILE
  want 0 "$EIN" build "$2" --stop=task
  [ "$(grep -c '^ *kernel ' out)" = "$1" ] || wrong "wanted $1 kernels: $(cat out): $(cat "$2")"
}

# ---- a product and the sum that reads it: apart, if rows would be copied for each point of a label between
bilinear() { # KERNELS ROWS REDUCED LABELS
  printf 'input X[b:%s,i:%s], W[i:%s,j:%s,o:%s], Z[b:%s,j:%s] : f32\n' "$2" "$3" "$3" "$4" "$5" "$2" "$4" >p.ein
  printf 'P[b,j,o] = sum[i] X[b,i] * W[i,j,o]\noutput Y[b,o] = max[j] (P[b,j,o] + Z[b,j])\n' >>p.ein
  kernels "$1" p.ein
}
bilinear 2 64 96 80 32
bilinear 2 48 20 40 24
want 0 "$EIN" verify p.ein --flags=-O1
sed 's/P\[b,j,o\]/P[j,b,o]/g' p.ein >turned.ein
kernels 2 turned.ein
want 0 "$EIN" verify turned.ein --flags=-O1
bilinear 1 64 8 6 40       # few points for each of a long row: little is copied
want 0 "$EIN" verify p.ein --flags=-O1
bilinear 1 8192 64 32 64   # the product leaves the caches
bilinear 2 8192 96 32 64
printf 'input X[b:64,j:20,i:32], W[i:32,o:20], Z[b:64,j:20] : f32\nP[b,j,o] = sum[i] X[b,j,i] * W[i,o]\n' >p.ein
printf 'output Y[b,o] = max[j] (P[b,j,o] + Z[b,j])\n' >>p.ein
kernels 1 p.ein            # each point between has rows of its own
want 0 "$EIN" verify p.ein --flags=-O1

# ---- one half of a symmetric result is made, and copied (task/passes/mirror.c)
half() { # YES-OR-NO PROGRAM
  printf '%s\n' "$2" >p.ein
  want 0 "$EIN" build p.ein --stop=task
  grep -q '^ *kernel .*half' out && made=yes || made=no
  [ $made = "$1" ] || wrong "half: $made: $(cat out)"
  want 0 "$EIN" verify p.ein --flags=-O1
}
for dtype in f32 i32; do
  half yes "input X[n:130,i:65] : $dtype
output Y[i,j:65] = sum[n] X[n,i] * X[n,j]"
done
half yes 'input X[b:2,i:70,n:131], C[b:2,i:70,j:70] : f64
output Y[b,i,j] = 0.5 * C[b,i,j] - 2 * sum[n] X[b,j,n] * X[b,i,n]'
half yes 'input X[i:72,d:128] : f32
output Y[i,j:72] = exp(-0.01 * sum[d] (X[i,d] - X[j,d])^2)'
half yes 'input X[i:72,d:128] : f32
output Y[j:72,i] = max[d] abs(X[j,d] - X[i,d])'
half yes 'input X[n:128,a:4,h:2,b:17] : f32
output Y[h,a,b,c:4,d:17] = sum[n] X[n,a,h,b] * X[n,c,h,d]'
half yes 'input X[i:66,n:150] : f32
repeat t < 3 {
  state S[i:66,j:66] : f32 = 0
  next S[i,j] = S[j,i] + sum[n] X[i,n] * X[j,n]
}
output S'
half no 'input X[n:130,i:65] : f32
output Y[i,j:65] = sum[n] X[n,i] * (X[n,j] - X[n,i])'
half no 'input X[n:130,i:65], Z[n:130,i:65] : f32
output Y[i,j:65] = sum[n] X[n,i] * Z[n,j]'
half no 'input X[n:130,i:65] : f32
output Y[i,j:65] = sum[n where i + j <= n] X[n,i] * X[n,j]'
half no 'input X[n:30,i:65] : f32
output Y[i,j:65] = sum[n] X[n,i] * X[n,j]'
finish
