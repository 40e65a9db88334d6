#!/bin/sh
# suite: ci
# Products of many matrices whose batch label is innermost: operands are copied first with the batch label outermost,
# and the result is copied back. Not so if the batch label is outermost already, the work is small, a size is open, or
# a predicate bounds the sum.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE

cat >all.ein <<'EIN'
input A[a:130, d:110, e:9] : f32
input B[d:110, c:120, e:9] : f32
output Y[a,c,e] = sum[d] A[a,d,e] * B[d,c,e]
EIN
# Written with more labels, of which some are in another order than in the result.
cat >split.ein <<'EIN'
input A[a:13, f:3, b:10, d:110, e:3] : f32
input B[f:3, d:110, c:120, e:3] : f32
output Y[a,b,f,c,e] = sum[d] A[a,f,b,d,e] * B[f,d,c,e]
EIN
cat >one.ein <<'EIN'
input A[e:16, b:15, d:64] : i32
input B[c:96, d:64, e:16] : i32
output Y[e,b,c] = sum[d] A[e,b,d] * B[c,d,e]
EIN
cat >result.ein <<'EIN'
input A[e:2, a:130, d:120] : f64
input B[e:2, d:120, c:110] : f64
output Y[c,a,e] = max[d] (A[e,a,d] + B[e,d,c])
EIN
cat >half.ein <<'EIN'
input A[d:64, a:40, e:8] : f16
input B[e:8, c:64, d:64] : f16
output Y[e,a,c] = sum[d] f32(A[d,a,e]) * f32(B[e,c,d])
EIN
cat >any.ein <<'EIN'
input A[e:8, d:64, a:40] : i32
input B[c:64, d:64, e:8] : i32
output Y[e,a,c] = any[d] (A[e,d,a] > 0 and B[c,d,e] > 0)
EIN
for p in all split one result half any; do
  want 0 "$EIN" build $p.ein --stop=loop
  shows "turned"
  want 0 "$EIN" verify $p.ein --flags="-O1 -march=native"
  want 0 "$EIN" verify $p.ein --threads 3 --flags="-O3 -march=native"
done

cat >front.ein <<'EIN'
input A[e:17, a:40, d:50] : f32
input B[e:17, d:50, c:33] : f32
output Y[e,a,c] = sum[d] A[e,a,d] * B[e,d,c]
EIN
cat >little.ein <<'EIN'
input A[a:20, d:30, e:17] : f32
input B[d:30, c:23, e:17] : f32
output Y[a,c,e] = sum[d] A[a,d,e] * B[d,c,e]
EIN
cat >bound.ein <<'EIN'
input A[a:60, d:60, e:17] : f32
input B[d:60, c:33, e:17] : f32
output Y[a,c,e] = sum[d where d <= a] A[a,d,e] * B[d,c,e]
EIN
cat >open.ein <<'EIN'
dim N
input A[a:N, d:50, e:17] : f32
input B[d:50, c:33, e:17] : f32
output Y[a,c,e] = sum[d] A[a,d,e] * B[d,c,e]
EIN
for p in front little bound open; do
  want 0 "$EIN" build $p.ein --stop=loop
  grep -q turned out && wrong "$p: something is copied"
done
finish
