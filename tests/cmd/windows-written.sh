#!/bin/sh
# suite: ci
# Which reductions of a few points are written out term by term (task/passes/terms.c).
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"

written() { # 0 or 1, BODY
  printf 'input X[i:20,j:96] : i32\ninput K[a:3] : i32\noutput Y%s\n' "$2" >window.ein
  want 0 "$EIN" build window.ein --stop=task
  [ "$(grep -cE ' = (sum|max|min):' out)" = "$1" ] || wrong "$2: $(cat out)"
  want 0 "$EIN" verify --target=jit window.ein
}
written 0 '[i:18,j:96] = sum[a] X[i+a,j] * K[a]'
written 0 '[i:18,j:94] = (sum[a:3] X[i+a,j+1]) + sum[b:3] X[i+1,j+b]'
written 1 '[i:20,j:6] = sum[b:16] X[i,16*j+b]'
written 0 '[i:20,j:48] = sum[b:2] X[i,2*j+b]'
written 0 '[i:20,j:96] = max[a:3,b:5] X[i+a-1,j+b-2] ?? -2147483648'
written 0 '[i:20,j:96] = min[b:3 where j + b < 96] X[i,j+b]'
finish
