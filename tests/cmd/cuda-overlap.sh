#!/bin/sh
# suite: ci
# Runs whose tensors come from the host, or do not fit a device's memory, by the clock of the stand-in for the driver (tests/cuda/standin/order.h), where a kernel takes 100 microseconds and
# the bus 11 bytes in one, in each direction: about as long for a tensor. Kernels do not wait for the bus where something else could be done, copies in both
# directions go on at once, and what recurs between two waits is a graph. The stand-in reports a wait that is left out.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 1
look_alikes
on="--target=cuda --flags=-O0"

clock() { # WORD...: all, kernels, up, down, in microseconds
  rm -f "$EIN_STANDIN_REPORT"
  EIN_STANDIN=${bus:-clock=100:11.25} want 0 "$EIN" run "$@"
  # shellcheck disable=SC2046
  set -- $(sed -n 's/^clock: \([0-9]*\) us; kernels \([0-9]*\), up \([0-9]*\), down \([0-9]*\)$/\1 \2 \3 \4/p' "$EIN_STANDIN_REPORT")
  all=$1 kernels=$2 up=$3 down=$4
}
at_most() { # TIMES OF, in hundredths
  [ $((100 * all)) -le $(($1 * $2)) ] || wrong "it takes $all us, more than $1 hundredths of $2; kernels $kernels, up $up, down $down: $line"
}
same() {
  for output in whole/*.npy; do cmp -s "$output" "got/${output##*/}" || wrong "other than in a run that fits: ${output##*/}: $line"; done
}

L=12 X="X=randint:lo=0:hi=2:seed=1" words=$X
for k in $(seq $L); do words="$words W$k=randint:lo=-1:hi=2:seed=$k"; done

# A chain of products, each with its own matrix, in a device that has room for four tensors of 26: every matrix comes during the product before its own.
{
  echo 'dim N = 16'
  echo 'input X[i:N,j:N] : f32'
  h=X
  for k in $(seq $L); do
    echo "param W$k[i:N,j:N] : f32"
    echo "H$k[i,j] = max(sum[k] $h[i,k] * W$k[k,j], 0)"
    h=H$k
  done
  echo "output Y[i,j] = $h[i,j]"
} >chain.ein
# shellcheck disable=SC2086
{
  clock chain.ein $words $on -o all=whole/
  clock chain.ein $words $on --memory=4352 -o all=got/
  same
  at_most 130 "$kernels" # X and W1 come first, and Y goes last
  clock chain.ein $words $on --memory=3328 -o all=got/ # three tensors: nothing can come during a product that uses them all
  same
  at_most 100 $((kernels + up + down))
  # Of 2 * L - 1 waits the first is for the caller's stream, in which there is nothing here.
  for wait in 2 3 4 12 13 22 23; do
    EIN_STANDIN=no-wait=$wait want 98 "$EIN" run chain.ein $words $on --memory=4352 -o all=lost/
    says 'is not ordered after'
  done
}

# The same again and again: what comes is what was used last but one, or every product would wait for its matrix.
{
  sed '/^H\|^output/d' chain.ein
  echo 'repeat t < 4 {'
  echo '  state H[i:N,j:N] : f32 = X[i,j]'
  h=H
  for k in $(seq $L); do
    echo "  H$k[i,j] = max(sum[k] $h[i,k] * W$k[k,j], 0)"
    h=H$k
  done
  echo "  next H[i,j] = $h[i,j] + X[i,j]"
  echo '}'
  echo 'output H'
} >again.ein
rm -rf whole got
# shellcheck disable=SC2086
{
  clock again.ein $words $on -o all=whole/
  clock again.ein $words $on --memory=7500 -o all=got/
  same
  at_most 120 "$kernels"
}

# Training: what is kept for the way back goes to the host and comes back, and so do the matrices. Of 51 tensors 14 fit.
{
  echo 'dim N = 16'
  echo 'input X[i:N,j:N] : f32'
  for k in $(seq $L); do echo "param W$k[i:N,j:N] : f32"; done
  echo 'repeat t < 4 {'
  for k in $(seq $L); do echo "  state P$k[i:N,j:N] : f32 = W$k[i,j]"; done
  h=X
  for k in $(seq $L); do
    echo "  H$k[i,j] = sum[k] $h[i,k] * P$k[k,j]"
    h=H$k
  done
  echo "  G$L[i,j] = $h[i,j] - X[i,j]"
  for k in $(seq $L -1 1); do
    [ "$k" = 1 ] && h=X || h=H$((k - 1))
    [ "$k" = 1 ] || echo "  G$((k - 1))[i,k] = sum[j] G$k[i,j] * P$k[k,j]"
    echo "  next P$k[k,j] = P$k[k,j] - 0.001 * (sum[i] $h[i,k] * G$k[i,j])"
  done
  echo '}'
  for k in $(seq $L); do echo "output P$k"; done
} >train.ein
rm -rf whole got
# shellcheck disable=SC2086
{
  clock train.ein $words $on -o all=whole/
  resident=$kernels
  for memory in 15000 25000; do
    clock train.ein $words $on --memory=$memory -o all=got/
    same
    at_most 125 "$resident"
    grep -q ' graphs: [1-9][0-9]* made, [1-9]' "$EIN_STANDIN_REPORT" || wrong "no graphs: $(cat "$EIN_STANDIN_REPORT")"
  done
}

# A run that fits: a matrix comes before the step that first uses it, and not before all others; a long output goes when nothing changes it any more.
# All matrices have 256 kB, which the bus moves in 100 us.
bus=clock=100:2621 n=4 words='v=randint:lo=-1:hi=2:seed=9'
for k in $(seq $n); do words="$words W$k=randint:lo=-1:hi=2:seed=$k"; done
{
  echo 'dim N = 256'
  echo 'input v[i:N] : f32'
  h=v
  for k in $(seq $n); do
    echo "param W$k[i:N,j:N] : f32"
    echo "v$k[i] = max(-9, min(9, sum[j] W$k[i,j] * $h[j]))"
    h=v$k
  done
  echo "output y[i] = $h[i]"
} >comes.ein
{
  echo 'dim N = 256'
  echo 'input v[i:N] : f32'
  h=v
  for k in $(seq $n); do
    echo "output M$k[i,j:N] = $h[i] * $h[j] + 1"
    echo "v$k[i] = max(-9, min(9, sum[j] M$k[i,j]))"
    h=v$k
  done
  echo "output y[i] = $h[i]"
} >goes.ein
# A repeat changes M until its last turn, and needs W from its first.
{
  sed '/^output/d' comes.ein
  echo "M[i,j:N] = v1[i] * v2[j]"
  echo 'repeat t < 4 {'
  echo '  state S[i:N,j:N] : f32 = M[i,j]'
  echo '  state s[i:N] : f32 = v4[i]'
  echo '  next S[i,j] = S[i,j] % 3 + W4[j,i]'
  echo '  next s[i] = (sum[j] S[i,j]) % 5 + s[i]'
  echo '}'
  echo 'output S'
  echo 'output K[i,j:N] = s[i] + v[j]'
  echo 'output z[i] = (sum[j] K[i,j]) % 7'
} >turns.ein
rm -rf whole got
fits() { # PROGRAM WORD...: as the evaluator
  program=$1
  shift
  want 0 "$EIN" run "$program" "$@" --target=eval -o all=whole/
  clock "$program" "$@" $on -o all=got/
  same
}
# shellcheck disable=SC2086
{
  fits comes.ein $words
  at_most 101 $((up + 100))
  fits goes.ein "${words%% *}"
  at_most 101 $((kernels + 100))
  fits turns.ein $words
  at_most 101 $((kernels + 200))
  waits=$(sed -n 's/.* events, \([0-9]*\) waits for them$/\1/p' "$EIN_STANDIN_REPORT")
  [ "$waits" -gt 4 ] || wrong "it waits for $waits events: $line"
  for wait in $(seq "$waits"); do
    EIN_STANDIN=no-wait=$wait want 98 "$EIN" run turns.ein $words $on -o all=lost/
    says 'is not ordered after'
  done
}
finish
