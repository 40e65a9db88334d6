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
finish
