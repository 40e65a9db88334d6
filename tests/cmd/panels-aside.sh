#!/bin/sh
# suite: ci
# Contractions whose result lies along a label that would leave most lanes empty, or that both sides have: another label is in the lanes.
# Not so where that gains nothing, as beside few rows, and where a size is not known.
# Panels are made, too, of what would be read a line for each element, again for each tile. Lanes are transposed along two or three short
# labels together, wherever the sum has them. Where results are stored one by one, lanes don't lie a multiple of 4096 bytes apart if they
# can lie closer; a block has what lies behind its lanes; squares also go along a short label that is whole in a block; a point of what
# lies across the result is copied if its lines crowd the cache; and short sums whose result ends in a batch have that batch copied.
. "$(dirname "$0")/common"
turn 3
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
unset EIN_MACHINE

cat >short.ein <<'EIN'
input A[e:4, d:40, a:40] : f32
input B[b:50, c:3, d:40, e:4] : f32
output Y[e,b,a,c] = sum[d] A[e,d,a] * B[b,c,d,e]
EIN
cat >batch.ein <<'EIN'
input A[e:45, a:70, f:2] : f32
input B[b:7, c:6, e:45, f:2] : f32
output Y[b,c,a,f] = sum[e] A[e,a,f] * B[b,c,e,f]
EIN
cat >transposed.ein <<'EIN'
input A[e:65, a:9, b:5] : f32
input B[d:2, e:65, c:70] : f32
output Y[a,b,c,d] = sum[e] A[e,a,b] * B[d,e,c]
EIN
cat >inside.ein <<'EIN'
input A[g:3, a:2, c:2, b:32, f:4, e:16] : f32
input B[f:4, g:3, d:42, e:16] : f32
output Y[a,b,c,d,g] = sum[e,f] A[g,a,c,b,f,e] * B[f,g,d,e]
EIN
cat >max.ein <<'EIN'
input A[e:45, a:70, f:2] : f32
input B[b:42, e:45, f:2] : f32
output Y[b,a,f] = max[e] (A[e,a,f] + B[b,e,f])
EIN
cat >along.ein <<'EIN'
input A[e:45, a:70, f:64] : f32
input B[e:45, f:64] : f32
output Y[a,f] = sum[e] A[e,a,f] * B[e,f]
EIN
cat >whole.ein <<'EIN'
input A[a:70, e:145] : f32
input B[e:145, c:80] : f32
output Y[a,c] = sum[e] A[a,e] * B[e,c]
EIN
cat >few.ein <<'EIN'
input A[c:90, a:4] : f32
input B[b:200, c:90] : f32
output Y[a,b] = sum[c] A[c,a] * B[b,c]
EIN
cat >far.ein <<'EIN'
input A[b:16, d:512, a:8, e:4] : f32
input B[e:4, d:512, c:512] : f32
output Y[c,a,b,e] = sum[d] A[b,d,a,e] * B[e,d,c]
EIN
cat >open.ein <<'EIN'
dim F
input A[e:45, a:70, f:F] : f32
input B[b:7, c:6, e:45, f:F] : f32
output Y[b,c,a,f] = sum[e] A[e,a,f] * B[b,c,e,f]
EIN

cat >ends.ein <<'EIN'
input A[e:4, d:3, a:2, b:129] : f32
input B[e:4, c:257, d:3] : f32
output Y[a,b,c,e] = sum[d] A[e,d,a,b] * B[e,c,d]
EIN
cat >two.ein <<'EIN'
input A[d:65, b:2, a:9, e:3] : f32
input B[c:67, d:65, e:3] : f32
output Y[b,a,c] = sum[d,e] A[d,b,a,e] * B[c,d,e]
EIN
cat >three.ein <<'EIN'
input A[f:2, d:265, a:19, e:3] : f32
input B[c:67, d:265, e:3, f:2] : f32
output Y[a,c] = sum[d,e,f] A[f,d,a,e] * B[c,d,e,f]
EIN
cat >twice.ein <<'EIN'
input X[a:70, d:64, e:2] : f32
input B[e:2, b:70, d:64] : f32
output Y[a,b] = sum[d,e] X[a,d,e] * B[e,b,d]
output Z[a,b] = sum[d,e] X[a,d,e] * X[b,(d + 1) % 64,e]
EIN
cat >diagonal.ein <<'EIN'
input A[e:3, d:64, a:70] : f32
input B[b:70, e:3, d:64, e':3] : f32
output Y[a,b] = sum[d,e] A[e,d,a] * B[b,e,d,e]
EIN
cat >behind.ein <<'EIN'
input A[a:2, b:512, f:2, d:128] : f32
input B[f:2, d:128, c:512] : f32
output Y[c,f,b,a] = sum[d] A[a,b,f,d] * B[f,d,c]
EIN
cat >crowd.ein <<'EIN'
input A[f:16, g:4, b:16, e:4, a:16] : f32
input B[c:2, d:64, e:4, f:16, g:4] : f32
output Y[d,g,b,a,c] = sum[e,f] A[f,g,b,e,a] * B[c,d,e,f,g]
EIN

cat >beside.ein <<'EIN'
input A[b:3, c:43, g:2, f:70, a:3] : f32
input B[e:9, g:2, f:70, d:4] : f32
output Y[g,b,c,d,e,a] = sum[f] A[b,c,g,f,a] * B[e,g,f,d]
EIN
cat >between.ein <<'EIN'
input A[c:100, f:35, h:2, a:2] : f64
input B[e:21, f:35, h:2] : f64
output Y[a,e,c] = sum[f,h] A[c,f,h,a] * B[e,f,h]
EIN
cat >cut.ein <<'EIN'
input A[c:65, f:900, a:3] : f32
input B[e:40, f:900] : f32
output Y[a,e,c] = sum[f] A[c,f,a] * B[e,f]
EIN
cat >rows.ein <<'EIN'
input A[h:16, f:4, g:8, a:3, b:2, c:8] : f32
input B[f:4, d:20, e:8, h:16, g:8] : f32
output Y[d,h,c,a,b,e] = sum[f,g] A[h,f,g,a,b,c] * B[f,d,e,h,g]
EIN
cat >lanes.ein <<'EIN'
input A[h:4, f:32, p:16, q:3] : f32
input B[f:32, e:16, h:4, d:16] : f32
output Y[h,d,q,p,e] = sum[f] A[h,f,p,q] * B[f,e,h,d]
EIN

# Lanes along the other side, where the result, which is copied anyway, ends in few labels; and a copy that is a single square, beside steps
# that threads share.
cat >other.ein <<'EIN'
input A[e:8, f:8, g:64, a:4, b:16, c:3] : f32
input B[e:8, f:8, d:12, g:64] : f32
output Y[a,b,c,d,g] = sum[e,f] A[e,f,g,a,b,c] * B[e,f,d,g]
EIN
cat >single.ein <<'EIN'
input A[c:16, b:20, d:2, f:16, g:3, e:4] : f32
input B[g:3, a:1, e:4, f:16] : f32
output Y[f,a,b,d,c] = sum[e,g] A[c,b,d,f,g,e] * B[g,a,e,f]
EIN

for p in other single beside between cut rows lanes short batch transposed inside max along whole few ends two three twice diagonal; do
  want 0 "$EIN" build $p.ein --stop=loop
  case $p in
    short) shows " a in lanes; panels of" ;;
    batch) shows " b_c in lanes; panels of" ;;
    transposed) shows " a_b in lanes; panels of" ;;
    inside) shows 'how "Y: along d, each g written out"' ;;
    max) shows " b in lanes; panels of" ;;
    along) shows " f in lanes" ;;
    whole) shows " c in lanes" ;;
    few) shows "by 4 a in lanes\"" ;;
    ends) shows 'how "Y: along c, each e written out"' ;;
    two | three | twice) shows ' transpose square' ;;
    other) shows "by 48 a_b_c in lanes" ;;
    single) shows "  var square_2" ;;
    beside | between | cut) shows "index point = (from" ;;
    rows | lanes) shows " point : f32" ;;
  esac
  want 0 "$EIN" verify $p.ein --flags="-O1 -march=native"
  want 0 "$EIN" verify $p.ein --threads 3 --flags="-O3 -march=native"
done
want 0 "$EIN" build far.ein --stop=loop
shows "in lanes; panels of"
want 0 "$EIN" build behind.ein --stop=loop
shows " b in lanes; panels of 256 c by 128 b a by"
want 0 "$EIN" build crowd.ein --stop=loop
shows " a in lanes; panels of"
want 0 "$EIN" verify open.ein -D F=2 --flags="-O1 -march=native"
finish
