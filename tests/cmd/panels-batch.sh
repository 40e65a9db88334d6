#!/bin/sh
# suite: ci
# Products of many matrices whose batch label is innermost: operands are copied first with the batch label outermost,
# and the result is copied back. Not so if the batch label is outermost already, the work is small, a size is open, or
# a predicate bounds the sum.
. "$(dirname "$0")/common"
turn 2
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
  shows "transposed"
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
  grep -q transposed out && wrong "$p: something is copied"
done

# Short sums over a batch that is last in the result: lanes go along the batch, and the operands are copied with it last. The result,
# the largest of the three, is not.
cat >last.ein <<'EIN'
input A[a:24, b:16, f:4, g:4, e:4] : f32
input B[f:4, g:4, e:4, c:32, d:12] : f32
output Y[c,d,a,b,f,g] = sum[e] A[a,b,f,g,e] * B[f,g,e,c,d]
EIN
# One operand lies as it should; the batch label that is not last stays in front.
cat >part.ein <<'EIN'
input A[h:3, a:90, c:5, d:12] : f64
input B[c:5, d:12, h:3, b:50] : f64
output Y[h,b,a,d] = max[c] (A[h,a,c,d] + B[c,d,h,b])
EIN
for p in last part; do
  want 0 "$EIN" build $p.ein --stop=loop
  shows ", transposed"
  shows "in lanes"
  grep -q '"Y: .*transposed' out && wrong "$p: the result is copied"
  grep -q 'Y\[[^]]*l[_0-9]*)*\] = ' out || wrong "$p: lanes do not go along the result"
  want 0 "$EIN" verify $p.ein --flags="-O1 -march=native"
  want 0 "$EIN" verify $p.ein --threads 3 --flags="-O3 -march=native"
done

# Results that would be stored one by one, each on a line that other blocks' results or too many of the same block evict, are computed
# beside each other and copied; so are operands of which each line serves one vector at a time.
cat >stored.ein <<'EIN'
input A[g:8, h:2, f:16, a:32, b:8, c:2] : f32
input B[f:16, g:8, e:4, h:2, d:16] : f32
output Y[g,a,h,d,b,e,c] = sum[f] A[g,h,f,a,b,c] * B[f,g,e,h,d]
EIN
cat >lines.ein <<'EIN'
input A[a:128, d:256, e:16] : f32
input B[d:256, c:3, e:16, b:5] : f32
output Y[a,c,b,e] = sum[d] A[a,d,e] * B[d,c,e,b]
EIN
for p in stored lines; do
  want 0 "$EIN" build $p.ein --stop=loop
  shows "transposed"
  sed '/^narrow/,$d' out | grep -c 'how "Y: ' | grep -q 2 || wrong "$p: the result is not copied"
  want 0 "$EIN" verify $p.ein --flags="-O1 -march=native"
done

# The result ends with a few labels of one side: that side is copied for lanes along them, and the much larger result is not.
cat >few.ein <<'EIN'
input A[a:14, b:3, c:12, f:8, g:4, h:2, e:4] : f32
input B[e:4, f:8, g:4, h:2, d:50] : f32
output Y[b,d,g,c,h,f,a] = sum[e] A[a,b,c,f,g,h,e] * B[e,f,g,h,d]
EIN
want 0 "$EIN" build few.ein --stop=loop
shows "d by 14 a in lanes"
[ "$(grep -c 'how "[AY]: ' out)" = 2 ] || wrong "few: not A alone is copied"
want 0 "$EIN" verify few.ein --flags="-O1 -march=native"

# What a batch has beside it does not count where tiles ask whether lanes stay near: the rows of a result are then written whole.
cat >near.ein <<'EIN'
input A[a:384, c:4, d:16] : f32
input B[d:16, c:4, b:256] : f32
output Y[b,d,a] = sum[c] A[a,c,d] * B[d,c,b]
EIN
want 0 "$EIN" build near.ein --stop=loop
grep -q '^ *for [a-z_0-9]* < 8 {' out || wrong "near: rows of the result are not written whole"
finish
