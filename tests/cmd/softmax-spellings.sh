#!/bin/sh
# suite: ci
# A softmax makes each exponential once, however it is written: the stages of a kernel share it (task/passes/shared.c),
# and an exponential less the logarithm of their sum is a quotient (task/passes/quotient.c). Values are eval's, with
# infinities and NaN, too.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"

made() { # NUMBER FILE: so many places of the tasks take exponentials
  want 0 "$EIN" build "$2" --stop=task
  has=$(grep -o 'exp(' out | wc -l)
  [ "$has" -eq "$1" ] || wrong "wanted $1 exponentials, and there are $has: $(cat out): $2"
}

line() { # NUMBER PROGRAM: the output Y[i,j] of X[i,j], in rows and in columns, f32 and f64
  for head in 'X[i:40,j:130] : f32' 'X[j:150,i:36] : f64' 'X[i:24,k:2,j:70] : f32'; do
    case $head in *k:*) text=$(echo "$2" | sed 's/\[i,/[i,k,/g; s/\[i\]/[i,k]/g') ;; *) text=$2 ;; esac
    case $head in X.j:*) text=$(echo "$text" | sed 's/X\[i,\([jl]\)\]/X[\1,i]/g') ;; esac
    printf 'input %s\n%s\n' "$head" "$text" >p.ein
    made "$1" p.ein
    want 0 "$EIN" verify p.ein --flags=-O1
  done
}

line 1 'output Y[i,j] = exp(X[i,j] - max[l] X[i,l]) / sum[l] exp(X[i,l] - max[j] X[i,j])'
line 1 'm[i] = max[j] X[i,j]
z[i] = 1 / sum[j] exp(X[i,j] - m[i])
output Y[i,j] = exp(X[i,j] - m[i]) * z[i]'
line 1 'output Y[i,j] = exp(X[i,j] - logsumexp[l] X[i,l])'
line 1 'L[i] = logsumexp[j] X[i,j]
output L
output Y[i,j] = 3 * exp(X[i,j] - L[i]) + 1'
line 1 'output Y[i,j] = exp(logsoftmax[j](X[i,j]))'
line 1 'm[i] = max[j] X[i,j]
output Y[i,j] = exp(X[i,j] - (m[i] + log(sum[l] exp(X[i,l] - m[i]))))'
line 1 'output Y[i,j] = (sum[l] exp(sin(X[i,l]))) * exp(sin(X[i,j])) + sum[l] exp(sin(X[i,l]))^2'

# What one stage makes anyway serves another, which needs it under a condition.
line 1 'm[i] = max[j] X[i,j]
s[i] = sum[j] exp(X[i,j] - m[i])
output Y[i,j] = if X[i,j] > 0 then exp(X[i,j] - m[i]) else s[i]'
line 1 'L[i] = logsumexp[j] X[i,j]
output Y[i,j] = (if j == 2 then -1 else 0) + (if L[i] == -inf then 0 else exp(X[i,j] - L[i]))'

# Another point, other points, and what a condition may leave out in both, are something else.
line 2 'output Y[i,j] = exp(X[i,j]) / sum[l] exp(2 * X[i,l])'
line 2 'm[i] = max[j] X[i,j]
s[i] = sum[j] (1 + (if X[i,j] > 0 then exp(X[i,j] - m[i]) else 0))
output Y[i,j] = if X[i,j] > 0 then exp(X[i,j] - m[i]) else s[i]'
line 2 'm[i] = max[j] X[i,j]
s[i] = sum[j where j > 5] exp(X[i,j] - m[i])
output Y[i,j] = exp(X[i,j] - (m[i] + log(s[i])))'

# The same predicate in each: exponentials are made where it holds.
cat >causal.ein <<'END2'
input A[b:3,s:40,t:40] : f32
L[b,s] = logsumexp[t where t <= s] A[b,s,t]
output Y[b,s] = sum[t where t <= s] exp(A[b,s,t] - L[b,s]) * A[b,s,t]
END2
made 1 causal.ein
want 0 "$EIN" verify causal.ein --flags=-O1

# Attention by a logsumexp.
cat >attention.ein <<'END2'
input Q[h:2,s:40,d:16], K[h:2,t:48,d:16], V[h:2,t:48,e:16] : f32
A[h,s,t] = sum[d] Q[h,s,d] * K[h,t,d] / 4
L[h,s] = logsumexp[t] A[h,s,t]
output O[h,s,e] = sum[t] exp(A[h,s,t] - L[h,s]) * V[h,t,e]
END2
made 1 attention.ein
want 0 "$EIN" verify attention.ein --flags=-O1

# Rows of infinities, NaN, great and small numbers: what is NaN, 0 and infinite.
cat >special.ein <<'END2'
input X[i:32,j:8] : f32 = (if i % 8 == 0 then -inf
    else if i % 8 == 1 then (if j == 1 then inf else 1000 * f32(j) - 2000)
    else if i % 8 == 2 then (if j == 2 then nan else f32(j))
    else if i % 8 == 3 then (if j == 0 then -inf else 2)
    else if i % 8 == 4 then inf
    else if i % 8 == 5 then (if j == 0 then 3e38 else -3e38)
    else if i % 8 == 6 then 100 * f32(j) else (if j < 4 then inf else -inf))
L[i] = logsumexp[j] X[i,j]
Y[i,j] = exp(X[i,j] - L[i])
Z[i,j] = exp(logsoftmax[j](X[i,j]))
output of_nan[i] = count[j where isnan(Y[i,j])] + 16 * count[j where isnan(Z[i,j])]
output of_zero[i] = count[j where Y[i,j] == 0] + 16 * count[j where Z[i,j] == 0]
output of_one[i] = count[j where Y[i,j] > 0.99] + 16 * count[j where Z[i,j] > 0.99]
output Y, Z
END2
for target in eval c; do
  want 0 "$EIN" run special.ein --target=$target \
    -o of_nan=$target.1.npy -o of_zero=$target.2.npy -o of_one=$target.3.npy
done
for k in 1 2 3; do cmp -s eval.$k.npy c.$k.npy || wrong "another answer of special values in code: $k"; done
finish
