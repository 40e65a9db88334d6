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
finish
