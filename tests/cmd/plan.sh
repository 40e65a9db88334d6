#!/bin/sh
# suite: ci
# ein plan: its figures equal those of a run, as ein bench measures them; and what it refuses.
. "$(dirname "$0")/common"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
O=--flags=-O0

number() { # NAME of ./out, an integer however it is written
  sed -n "s/^ *\"$1\": \([0-9]*\)\(\.0\)\{0,1\},\{0,1\}\$/\1/p" out | head -1
}

# agrees FILE THREADS WORD...: flops and workspace of both are equal, and there are some
agrees() {
  file=$1
  threads=$2
  shift 2
  want 0 "$EIN" plan "$file" --format=json --threads "$threads" "$@"
  flops=$(number flops)
  bytes=$(number workspace_bytes)
  want 0 "$EIN" bench "$file" --format=json --threads "$threads" --reps 1 $O "$@"
  [ "$bytes" ] && [ "$bytes" = "$(number workspace_bytes)" ] ||
    wrong "$file: a run takes $(number workspace_bytes) bytes of workspace, not $bytes"
  [ "$flops" ] && [ "$flops" = "$(number flops)" ] ||
    wrong "$file: ein bench counts $(number flops) flops, not $flops"
}
echo 'dim N, M
input X[n:N, m:M] : f32
output Y[n, m] = softmax[m](X[n, m])' >softmax.ein
echo 'dim N = 9
input X[i:N] : f64 = i
repeat t < 7 {
  state a[i:N] = X[i]
  next a[i] = 0.5 * a[i] + (a[i-1] ?? 0)
  trace[t, i] = 2 * a[i]
}
output b[j:N] = sum[i] a[i] * a[j] * trace[2, i]
output trace' >loop.ein
echo 'input A[i:30, j:40], B[j:40, k:50], C[k:50, l:3] : f32
output Z[i, l] = sum[j, k] A[i, j] * B[j, k] * C[k, l]' >chain.ein
agrees softmax.ein 1 -D N=7 -D M=5
agrees softmax.ein 3 -D N=7 -D M=5000
agrees loop.ein 1
agrees chain.ein 2
agrees sum.ein 1 -D N=1000

# what is written is where it was asked for
want 0 "$EIN" plan loop.ein -o plan.txt
[ ! -s out ] && grep -q "peak memory" plan.txt || wrong "-o is not heard"
want 0 "$EIN" build loop.ein --stop=graph -o loop.graph
want 0 "$EIN" plan loop.graph
sed 's/ *$//' out | grep -q "loop.ein:5" || wrong "of a graph's text, lines say their file"

# what is refused
want 2 "$EIN" plan
want 2 "$EIN" plan loop.ein sum.ein
want 2 "$EIN" plan softmax.ein -D N=4
says "no value for dim M"
says "-D M=64"
want 2 "$EIN" plan softmax.ein
says "no value for dims N, M"

# sizes that files say: their shapes alone are looked at
want 0 "$EIN" run loop.ein -o trace=trace.npy -o b=b.npy
want 0 "$EIN" plan softmax.ein X=trace.npy
shows "softmax.ein: N = 7, M = 9"
want 0 "$EIN" plan X=trace.npy softmax.ein -n 2
shows "softmax.ein, on 2 sites"
want 0 "$EIN" plan softmax.ein X=zeros -D N=4 -D M=5
want 1 "$EIN" plan softmax.ein X=b.npy
says "softmax.ein:2:7: error[E045]"
want 1 "$EIN" plan softmax.ein -n 2 X=trace.npy -D M=5
says "M is 5 by -D M=5"
want 2 "$EIN" plan softmax.ein X=zeros
says "no value for dims N, M"
want 2 "$EIN" plan softmax.ein Z=trace.npy
says "softmax.ein has no input Z"

want 0 "$EIN" plan loop.ein -n 1
want 2 "$EIN" plan loop.ein -n none
want 2 "$EIN" plan loop.ein --format=xml
want 2 "$EIN" plan loop.ein -D M=3
want 2 "$EIN" plan loop.ein --threads 0
want 4 "$EIN" plan nowhere.ein
want 4 "$EIN" plan loop.ein -o nowhere/plan.txt
echo 'output Z[i] = Q[i]' >bad.ein
want 1 "$EIN" plan bad.ein
says "bad.ein:1:"
want 0 "$EIN" build loop.ein --stop=task -o loop.task
want 0 "$EIN" plan loop.ein
sed -n 2,5p out >wanted
want 0 "$EIN" plan loop.task
sed -n 2,5p out | cmp -s - wanted || wrong "the plan of tasks that are read is another"
shows "loop.ein:5"

# sizes that no run can have
echo 'dim N
input X[i:N] : f32
output Y[k:N-2] = X[k+2]' >short.ein
want 0 "$EIN" plan short.ein -D N=2
want 1 "$EIN" plan short.ein -D N=1
says "short.ein:3"
want 1 "$EIN" plan softmax.ein -D N=4000000000 -D M=4000000000
says "does not fit 64 bits"
echo 'dim N = 4000000000
input X[i:N, j:N, k:N] : f64 = 1
output Y[i, j, k] = X[i, j, k] + 1' >huge.ein
want 1 "$EIN" plan huge.ein
says "huge.ein:2:7: X has more elements than 64 bits can count"
want 1 "$EIN" run huge.ein --target=c
says "huge.ein:2:7: X has more elements than 64 bits can count"
echo 'dim N
input X[i:N, j:N] : f32
assert N < 10, "N is small"
output Y = sum[i] X[i, 3]' >check.ein
want 0 "$EIN" plan check.ein -D N=9
want 1 "$EIN" plan check.ein -D N=2
finish
