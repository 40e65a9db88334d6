#!/bin/sh
# Places of argmax are counted in 32 bits if all of them fit, else in 64: in strips up to 2^31 - 1 points; in lanes,
# which process several at once, up to half as many.
. "$(dirname "$0")/common"

# counts A B LANES STRIPS: the dtypes that the places of A times B points are counted in
counts() {
  cat >most.ein <<END
input X[i:100000, a:$1, b:$2], T[a:$1, b:$2, i:100000] : f32
output P[i] = argmax[(a b)] X[i,a,b]
output Q[i] = argmax[(a b)] T[a,b,i]
END
  want 0 "$EIN" build most.ein --stop=loop
  sed -n '/^kernel P/,/^}/s/^  register was : \(i[0-9]*\) .*/\1/p' out >lanes
  sed -n '/^kernel Q/,/^}/s/^  stack places : \(i[0-9]*\) .*/\1/p' out >strips
  [ "$(cat lanes)" = "$3" ] || wrong "lanes of $1 x $2 count in '$(cat lanes)', expected $3"
  [ "$(cat strips)" = "$4" ] || wrong "strips of $1 x $2 count in '$(cat strips)', expected $4"
}
counts 32767 32768 i32 i32 # 2^30 - 2^15
counts 32768 32768 i64 i32 # 2^30
counts 46340 46340 i64 i32 # 2^31 - 88048
counts 46341 46341 i64 i64 # 2^31 + 4633
counts 1 2147483647 i64 i32

# What a strip keeps is the value at the place that it found, and is not read again; a value elsewhere is read.
keeps() { # REDUCTION: what is stored of X beside the place, of Y at the place, and of X there
  cat >kept.task <<END
taskgraph 1
buffer %0 input 0 X[60, 64] : f32
buffer %1 input 1 Y[60, 64] : f32
buffer %2 output 0 v[64] : f64
buffer %3 output 1 w[64] : f32
buffer %4 output 2 u[64] : f32
buffer %5 output 3 t[64] : f32
input X = %0
input Y = %1
output v = %2
output w = %3
output u = %4
output t = %5
kernel 0 v outer 1 {
  stage p[m:64] : i64 = $1
  stage v[m:64] : f64 = f64(%0[&0[m], m]) to %2[m]
  stage w[m:64] : f32 = %0[&0[m], (63 - m)] to %3[m]
  stage u[m:64] : f32 = %1[&0[m], m] to %4[m]
  stage t[m:64] : f32 = %0[&0[m], m] to %5[m]
}
END
  want 0 "$EIN" build kept.task --stop=loop
  sed -n 's/^ *[wut]\[.*\] = //p' out
}
keeps 'argmax:f32[n:60] %0[n, m]' >got
cat >expected <<'END'
X[within(i64(places[l_4]), 60, 1), (63 - l_4)]
Y[within(i64(places[l_4]), 60, 2), l_4]
sums[l_4]
END
cmp -s got expected || wrong "a value at its place is not kept, or another one is: $(cat got)"
for other in 'argmax:f32[n:60] (%0[n, m] + 1.0:f32)' 'argmax:f32[n:60 where (n < m)] %0[n, m]' \
  'argmax:f32[n:59] %0[(n + 1), m]'; do
  keeps "$other" | grep '^sums' && wrong "what is kept of $other is not what is read"
done
finish
