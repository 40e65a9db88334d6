#!/bin/sh
# What a condition says of a sum of data is not believed of its parts where the sum may wrap around: such a program is refused, for its C
# would read X far outside where P is 2^63 - 1 or -2^63. Where other conditions bound the data, it is taken, and right at both ends.
. "$(dirname "$0")/common"

unproved() { # CONDITION READ
  printf 'input P[1] : i64\ninput F[1] : f64\ninput X[4] : f32\noutput Y[i:100] = if %s then %s else F[0]\n' "$1" "$2" >x.ein
  want 1 "$EIN" check x.ein
  says 'error[E110]: this index of X can be out of range'
}
unproved 'P[0] >= 0 and P[0] + i < 4' 'X[i+0]'
says 'a sum of data can leave 64 bits and wrap around'
unproved 'P[0] < 4 and P[0] - i >= 0' 'X[i+0]'
unproved 'P[0] >= 1 and P[0] * (i + 1) <= 4' 'X[i+0]'
unproved 'P[0] <= 0 and -P[0] + i < 4' 'X[i+0]'
unproved '-P[0] <= 0 and P[0] < 4 and -P[0] <= i - 50' 'X[99-i]'
unproved 'abs(P[0]) < 4 and i < 4 + min(P[0], 0)*2 + abs(P[0])' 'X[i+0]'
unproved 'max(P[0], 0) + i < 4' 'X[i+0]'
unproved 'P[0] >= 0 and max(P[0] + i, P[0]) < 4' 'X[i+0]'
unproved 'P[0] >= 0 and (P[0] + i) // 2 < 2' 'X[i+0]'
unproved 'P[0] >= 0 and (if i > 7 then P[0] + i else i) < 4' 'X[i+0]'
unproved 'i64(F[0]) >= 0 and i64(F[0]) + i < 4' 'X[i+0]'
unproved 'P[0] >= 0' 'sum[j:100 where P[0] + j < 4] X[j+0]'
unproved 'not (P[0] < 0 or P[0] + i >= 4)' 'X[i+0]'

# ---- bounded in other words: taken
cat >x.ein <<'END'
input P[k:12] : i64
input Q[k:12] : i32
input X[4] : i64
output A[k,i:100] = if P[k] >= 0 and P[k] + i < 4 and P[k] < 1000 then X[i+0] else 0
output B[k,i:100] = if Q[k] >= 0 and Q[k] + i < 4 then X[i+0] else 0
output C[k,i:100] = if P[k] + i >= 0 and P[k] + i < 4 then X[P[k]+i] else 0
output D[k,i:100] = if P[k] + i >= 1 and P[k] + i < 4 then X[P[k]+i-1] else 0
output E[k,i:100] = if P[k] >= 0 and P[k] < 4 - i then X[i+0] else 0
output G[k] = sum[j:100 where P[k] <= j and j - P[k] < 4 and P[k] >= 0 and j < 4] X[j+0]
END
printf 'input s : i64\noutput P[k:12] = if k < 6 then s + k else -(s + 1) - (k - 6)\noutput Q[k:12] = i32(k // 3)\n' >p.ein
for s in 9223372036854775802 0 9223372036854775797; do
  printf 'input s : i64 = %s\n' $s >q.ein
  sed 1d p.ein >>q.ein
  want 0 "$EIN" run q.ein -o P=P.npy -o Q=Q.npy
  want 0 "$EIN" verify x.ein P=P.npy Q=Q.npy X=iota --flags=-O1
done

# ---- texts that are read
sed -n '1p;3p;8p' x.ein | sed 's/k:12/k:3/;s/,i:100/,i:100/' >y.ein
want 0 "$EIN" build y.ein --stop=graph -o y.graph
want 0 "$EIN" check y.graph
sed 's/(%0\[k\] < (4 - i))/((%0[k] + i) < 4)/' y.graph >z.graph
cmp -s y.graph z.graph && wrong "the text of the graph is not what this test edits"
want 1 "$EIN" check z.graph
says 'error[E917]'
want 0 "$EIN" build y.ein --stop=task -o y.task
sed 's/(%0\[k\] < (4 - i))/((%0[k] + i) < 4)/' y.task >z.task
cmp -s y.task z.task && wrong "the text of the tasks is not what this test edits"
want 1 "$EIN" check z.task
finish
