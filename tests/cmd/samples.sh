#!/bin/sh
# suite: ci
# Samples keep what their comments expect on four sites, as C (if EIN_TURN is a number, Clang in process compiles three of four, which takes half as
# long); and the programs over relations compute what the equations do. (That eval keeps it
# is a test each; that their C for one site computes what eval does, verify-all.)
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE

ran=0
for file in "$root"/samples/*.ein "$root"/samples/papers/*.ein "$root"/samples/nets/*.ein "$root"/samples/science/*.ein; do
  grep -q '^# run:' "$file" && continue
  # A plan that is found soon is as good a test as the best one.
  by=c
  mine $ran 4 || by=jit
  "$EIN" run "$file" --expect -n 4 --plan-budget 1e7 --target=$by --flags=-O0 >out 2>err || wrong "$(basename "$file"): $(grep -m 1 error err)"
  ran=$((ran + 1))
done
[ $ran -ge 32 ] || wrong "only $ran programs ran"

cat >product.ein <<'!'
dim M, K, N
input A[m:M,k:K], B[k:K,n:N] : f32
output C[m,n] = sum[k] A[m,k] * B[k,n]
!
product() { # FILE M K N: the same product by relations and by equations
  # shellcheck disable=SC2086
  want 0 "$EIN" run product.ein -D M=$2 -D K=$3 -D N=$4 A=iota B=iota
  mv out wanted
  want 0 "$EIN" run "$root/samples/relations/$1" A=iota B=iota
  tail -n +2 wanted >a
  tail -n +2 out >b
  cmp -s a b || wrong "$1: $(cat out)"
}
product product.tra 8 16 8
product product_broadcast.ia 8 4 8
product product_cross.ia 4 16 4
product product_replicated.ia 8 8 8

cat >nearest.ein <<'!'
dim N, D
input X[n:N,d:D], q[d:D], A[d:D,e:D] : f32
diff[n,d] = X[n,d] - q[d]
output dist[n] = sum[d,e] diff[n,d] * A[d,e] * diff[n,e]
!
for sizes in "horizontal 12 4" "vertical 4 12"; do
  # shellcheck disable=SC2086
  set -- $sizes
  want 0 "$EIN" run nearest.ein -D N=$2 -D D=$3 X=iota q=iota A=iota
  tail -n +2 out >a
  want 0 "$EIN" run "$root/samples/relations/nearest_$1.ia" X=iota q=iota A=iota
  tail -n +2 out >b
  cmp -s a b || wrong "nearest_$1.ia: $(cat out)"
done
finish
