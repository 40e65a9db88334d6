#!/bin/sh
# suite: ci
# What only one branch of a choice needs is made only where that branch is taken, if the condition has no labels.
. "$(dirname "$0")/common"

# done_times WHAT N PROGRAM [INPUT...]: the step that says WHAT (a regular expression) is made N times in all; and what is
# compiled gives what eval gives.
done_times() {
  what=$1 n=$2 program=$3
  shift 3
  want 0 "$EIN" run "$program" "$@" --target=c --flags=-O1 --threads 1 --profile
  made=$(grep -E "$what" err | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^[0-9]+$/ && $(i + 2) ~ /^[num]?s$/) { print $i; exit } }')
  [ "${made:-0}" = "$n" ] || wrong "made ${made:-0} times, not $n: $what in $program: $(cat "$program" err)"
  want 0 "$EIN" verify "$program" "$@" --flags=-O1
}

head='dim N = 40
input A[i:N,j:N] : i64 = (3*i + 5*j) % 7
input B[i:N,j:N] : i64 = (i*j + 2*i) % 5
input f : i64 = 0'

# A state that every fifth turn changes; the sum has parts, or is a product, which is used in another tensor or number.
for then in 'sum[i,j,k] max(X[i,j] * B[j,k], 1)' 'max[i,k] P[i,k]' 'sum[i,k] P[i,k] * X[k,i]'; do
  cat >loop.ein <<END
$head
repeat t < 20 {
  state X[i:N,j:N] : i64 = A[i,j]
  state best : i64 = 0
  P[i,k] = sum[j] X[i,j] * B[j,k]
  next best = if t % 5 == 0 then $then else best
  next X[i,j] = (X[i,j] * 3 + t) % 11
}
output best
END
  case $then in *P*) made='P.i,k. = ' ;; *) made='max.X' ;; esac
  done_times "$made" 4 loop.ein
done

# A number that is given; either side, or both, in the middle of an equation, with sums of every kind, and in a predicate.
for line in 'if f > 0 then S[i,k] else A[i,k]' 'if f <= 0 then A[i,k] else S[i,k]' 'B[k,i] - (if f > 0 then 2 * S[i,k] else 3)' \
  'if f > 0 and i < k then S[i,k] else 0' 'if f > 0 then S[k,i] + S[i,k] else B[i,k]'; do
  printf '%s\nS[i,k] = sum[j] A[i,j] * B[j,k]\noutput Y[i,k] = %s\n' "$head" "$line" >given.ein
  done_times 'sum.j. A|next Y' 0 given.ein
  done_times 'sum.j. A|next Y' 1 given.ein f=2
done
printf '%s\noutput Y[i,k] = max[j where f > 0] (A[i,j] - B[j,k])\n' "$head" >given.ein
done_times 'max.j. .A' 0 given.ein
done_times 'max.j. .A' 1 given.ein f=1
printf '%s\nS[i,k] = sum[j] A[i,j] * B[j,k]\nT[i,k] = max[j] (A[i,j] - B[j,k])\noutput Y[i,k] = if f > 0 then S[i,k] else T[k,i]\n' "$head" >both.ein
done_times 'sum.j. A|next Y.i,k. = S' 0 both.ein
done_times 'sum.j. A|next Y.i,k. = S' 1 both.ein f=1
done_times 'max.j. .A|next Y.k,i. = T' 1 both.ein
done_times 'max.j. .A|next Y.k,i. = T' 0 both.ein f=1
printf '%s\nS[i,k] = sum[j] A[i,j] * B[j,k]\noutput Y[i,k] = sum[j] (if f > 0 then S[i,j] else 1) * B[j,k]\n' "$head" >sum.ein
done_times 'sum.j. A|sum.j. S' 0 sum.ein
done_times 'sum.j. S' 1 sum.ein f=1

# Choices by one condition that share what they need; one within another; a loop that only a branch needs.
printf '%s\nS[i,k] = sum[j] A[i,j] * B[j,k]\noutput Y[i,k] = if f > 0 then S[i,k] else 0\noutput z = if f > 0 then max[i,k] S[i,k] else -1\n' "$head" >shared.ein
done_times 'sum.j. A|next Y' 0 shared.ein
done_times 'sum.j. A|next Y' 1 shared.ein f=1
printf '%s\nS[i,k] = sum[j] A[i,j] * B[j,k]\nT[i,k] = sum[j] S[i,j] * B[j,k]\noutput Y[i,k] = if f > 0 then (if f > 1 then T[i,k] else S[i,k]) else A[i,k]\n' "$head" >nested.ein
done_times 'sum.j. S' 0 nested.ein f=1
done_times 'sum.j. A|S.i,k. = S' 1 nested.ein f=1
done_times 'sum.j. S' 1 nested.ein f=2
cat >inner.ein <<END
$head
repeat t < 6 {
  state X[i:N,j:N] : i64 = A[i,j]
  repeat u < 3 {
    state Z[i:N,j:N] : i64 = X[i,j]
    next Z[i,j] = (sum[k] Z[i,k] * B[k,j] + t * u) % 13
  }
  next X[i,j] = if t % 3 == 2 then Z[i,j] else (X[i,j] + t) % 13
}
output X
END
done_times 'sum.k. (X|Z)' 6 inner.ein

# Not where another reader needs it, where it decides itself, where the index needs the condition, nor for little work.
for line in 'if f > 0 then S[i,k] else A[i,k]
output Z[i,k] = S[k,i]' 'if (max[i,k] S[i,k]) > 3 then S[i,k] else A[i,k]'; do
  printf '%s\nS[i,k] = sum[j] A[i,j] * B[j,k]\noutput Y[i,k] = %s\n' "$head" "$line" >not.ein
  done_times 'sum.j. A|Z.k,i. = S' 1 not.ein
done
printf '%s\noutput Y[i,k] = if f > 0 then A[i,k] * 2 else B[i,k]\n' "$head" >not.ein
want 0 "$EIN" build not.ein --stop=task
! grep -q '^repeat' out || wrong "a repeat for a map: $(cat out)"
cat >index.ein <<END
$head
repeat t < 5 {
  state s : i64 = 0
  S[i,k] = sum[j] A[i,j] * B[j,k]
  next s = if t > 0 and t < N then s + S[t-1,0] else s
}
output s
END
want 0 "$EIN" verify index.ein --flags=-O1

# The program's own repeat stays the outermost one, whose turns are kept.
cat >kept.ein <<END
dim I, J, K
input f : i64 = 1
input A[i:I,j:J] : f64 = f64((3*i + 5*j) % 7) / 10
input B[j:J,k:K] : f64 = f64((2*j + 5*k) % 7) / 10
input C[k:K,l:I] : f64 = f64((3*k + l) % 5) / 10
Y[i,l] = sum[j,k] A[i,j] * B[j,k] * C[k,l]
Z[i,l] = if f > 0 then sum[j] Y[i,j] * Y[j,l] else Y[i,l]
repeat t < 40 {
  state X[i:I,l:I] : f64 = Z[i,l]
  state best : f64 = 0
  P[i,k:I] = sum[l] X[i,l] * Y[l,k]
  next best = if t % 7 == 0 then max[i,k] P[i,k] else best
  next X[i,l] = 0.9 * X[i,l] + 0.001 * t
}
output X, best
END
sizes='-D I=30 -D J=31 -D K=32'
# shellcheck disable=SC2086
{
  want 0 "$EIN" run kept.ein $sizes --target=c --checkpoint kept --every 5 -o all=whole/
  rm kept/turn-000040.safetensors
  want 0 "$EIN" run kept.ein $sizes --target=c --resume kept -v -o all=rest/
}
says 'goes on behind turn 35'
for x in X best; do cmp whole/$x.npy rest/$x.npy || wrong "$x differs after a resume"; done

# A branch that is true, or false.
cat >truths.ein <<END
dim N, W
input x[t:N], f[k:1] : i64
output a[s:N] = all[t:N] ((t - s + N) % N != W or x[t] > 9)
output b[s:N] = any[t:N] ((t - s + N) % N == W and x[t] > 9)
output c[s:N] = if f[0] > 3 then x[s] > 3 else true
output d[s:N] = if f[0] > 3 then false else x[s] > 3
output e = all[s:N] (f[0] > 3 or x[s] > 3)
END
want 0 "$EIN" verify truths.ein -D N=12 -D W=4 f=const:0 x=iota
want 0 "$EIN" verify truths.ein -D N=12 -D W=0 f=const:9 x=iota

want 0 python3 "$here/../random/branches.py" "$EIN" 1 12 jit
finish
