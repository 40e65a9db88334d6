#!/bin/sh
# suite: ci
# Checkpoints over MPI: each process saves its blocks, the same number of processes resumes with the same bits, and an incomplete checkpoint is ignored.
. "$(dirname "$0")/common"
turn 3
mpi_ready
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
names() { # FOLDER: what is in it, in one line
  (cd "$1" && echo $(ls -A))
}

# Blocks that neighbours read, a tensor that is whole everywhere, a stack, a scalar.
cat >heat.ein <<'END'
input X[n:240] : f32 = 1.0 * (n % 7)
repeat t < 50 until high > 1e9 {
  state U[n:240] : f32 = X[n]
  state V[n:240] : f32 = 0 * X[n]
  state high : f32 = 0
  level[t] = high
  next U[n] = if n > 0 and n < 239 then 0.25 * U[n-1] + 0.5 * U[n] + 0.25 * U[n+1] + 0.01 * V[239-n] else U[n]
  next V[n] = 0.9 * V[n] + U[n]
  next high = max[n] U[n]
}
output U, V, level, t
END
for n in 2 4; do
  want 0 ein_ranks $n heat.ein -o all=whole/ # by another plan the bits may be others
  want 0 ein_ranks $n heat.ein -o all=kept/ --checkpoint d-$n --every 15
  for f in whole/*; do cmp -s "$f" "kept/${f#whole/}" || wrong "on $n ranks ${f#whole/} differs with checkpoints"; done
  [ "$(ls d-$n | wc -l)" = $((2 * n + 2)) ] || wrong "of $n ranks there is $(names d-$n)"
  want 0 ein_ranks $n heat.ein -o all=again/ --resume d-$n -v
  says "heat.ein: goes on behind turn 45, from d-$n/turn-000045.safetensors"
  for f in whole/*; do cmp -s "$f" "again/${f#whole/}" || wrong "on $n ranks ${f#whole/} differs after a resume"; done
  rm d-$n/turn-000045.safetensors # killed before the first one knew that all have written theirs
  want 0 ein_ranks $n heat.ein -o all=again/ --resume d-$n --checkpoint d-$n --every 20 -v
  says "goes on behind turn 30"
  for f in whole/*; do cmp -s "$f" "again/${f#whole/}" || wrong "on $n ranks another ${f#whole/} from turn 30"; done
  rm -r whole kept again
done
[ "$(cd d-2 && echo *[0-9].safetensors)" = "turn-000030.rank-0-of-2.safetensors turn-000030.rank-1-of-2.safetensors turn-000030.safetensors \
turn-000040.rank-0-of-2.safetensors turn-000040.rank-1-of-2.safetensors turn-000040.safetensors turn-000045.rank-0-of-2.safetensors \
turn-000045.rank-1-of-2.safetensors" ] || wrong "there is $(names d-2)"

# A different number of processes, or another plan, does not resume it.
want 1 ein_ranks 3 heat.ein --resume d-4
once "d-4/turn-000040.safetensors is of a run by 4 processes, and this is one by 3 processes, which have other blocks; with --deterministic, from the first turn on, any number can go on"
want 1 "$EIN" run heat.ein --resume d-4
says "d-4/turn-000040.safetensors is of a run by 4 processes, and this is one by one process, which have other blocks"
want 0 "$EIN" run heat.ein --checkpoint one --every 20
want 1 ein_ranks 2 heat.ein --resume one
once "one/turn-000040.safetensors is of a run by one process, and this is one by 2 processes, which have other blocks"
"$EIN" plan heat.ein -n 4 -o best.plan
sed 's/^home U .*/home U * */' best.plan >whole.plan
want 1 ein_ranks 4 heat.ein --resume d-4 --plan=whole.plan
once "d-4/turn-000040.safetensors is of a run by another plan"
rm d-4/turn-000040.rank-2-of-4.safetensors
want 4 ein_ranks 4 heat.ein --resume d-4
once "turn-000040.rank-2-of-4.safetensors"
# A byte of one process's blocks has changed.
flipped() { # FILE: its last byte
  at=$(($(wc -c <"$1") - 1))
  was=$(od -An -tu1 -j $at -N 1 "$1" | tr -d ' ')
  printf "$(printf '\\%03o' $((was ^ 1)))" | dd of="$1" bs=1 seek=$at conv=notrunc 2>/dev/null
}
flipped d-2/turn-000040.rank-1-of-2.safetensors
want 4 ein_ranks 2 heat.ein --resume d-2
once "d-2/turn-000040.rank-1-of-2.safetensors has changed since it was written"
# But under --deterministic, any number of processes resumes any checkpoint, with the same bits as one uninterrupted process.
cat >fixed.ein <<'END'
dim N = 61
input D[i:N,j:N] : f64 = (uniform[i,j](1) - 0.5) * 10.0^(f64((i*7 + j*3) % 13) - 9)
repeat t < 40 {
  state x[i:N] : f64 = 1 + D[i,0]
  state P[i:N,j:N] : f32 = 0 * f32(D[i,j])
  state norm : f64 = 0
  seen[t] = norm
  next x[i] = x[i] - 0.01 * sum[j] D[i,j] * x[j]
  next P[i,j] = 0.5 * P[i,j] + f32(x[i] * x[N-1-j]) + 0.001 * sum[k] P[i,k] * f32(D[k,j])
  size = sum[i] x[i]^2 + sum[i,j] f64(P[i,j])
  sizes[t] = size
  next norm = size
}
output x, P, norm, seen, sizes, t
END
want 0 "$EIN" run --flags=-O0 --target=c fixed.ein --deterministic -o all=never/
for n in 2 3; do
  want 0 ein_ranks $n fixed.ein --deterministic -o all=whole/ --checkpoint f-$n --every 15
  for f in never/*; do cmp -s "$f" "whole/${f#never/}" || wrong "$n ranks have another ${f#never/}"; done
done
want 0 "$EIN" run --flags=-O0 --target=c fixed.ein --deterministic --checkpoint f-1 --every 15
for by in f-1 f-2 f-3; do
  for n in 1 2 3 4; do
    rm -rf again
    if [ $n = 1 ]; then want 0 "$EIN" run --flags=-O0 --target=c fixed.ein --deterministic -o all=again/ --resume $by -v
    else want 0 ein_ranks $n fixed.ein --deterministic -o all=again/ --resume $by -v; fi
    says "fixed.ein: goes on behind turn 30, from $by/turn-000030.safetensors"
    for f in never/*; do cmp -s "$f" "again/${f#never/}" || wrong "on $n ranks ${f#never/} differs after a resume from $by"; done
  done
done
# So do states that begin with what a plan moves, and two that begin with one zero: each is saved under its own name.
cat >steps.ein <<'END'
dim N = 40, D = 10, H = 24
input X[n:N,d:D] : f32 = normal[n,d](1)
param W0[d:D,h:H] : f32 = 0.3 * normal[d,h](2)
repeat t < 40 {
  state W[d:D,h:H] = W0[d,h]
  state m[d:D,h:H] : f32 = 0
  state s[d:D,h:H] : f32 = 0
  loss = mean[n] ((mean[h] relu(sum[d] X[n,d] * W[d,h])) - X[n,0])^2
  g[d,h] = grad(loss, W[d,h])
  error[t] = loss
  next m[d,h] = 0.9 * m[d,h] + 0.1 * g[d,h]
  next s[d,h] = 0.99 * s[d,h] + 0.01 * g[d,h]^2
  next W[d,h] = W[d,h] - 0.01 * m[d,h] / (sqrt(s[d,h]) + 1e-6)
}
output W
output error
END
rm -r never
want 0 "$EIN" run --flags=-O0 --target=c steps.ein --deterministic -o all=never/ --checkpoint s-1 --every 15
want 0 ein_ranks 2 steps.ein --deterministic --checkpoint s-2 --every 15
for by in s-1 s-2; do
  for n in 1 3; do
    rm -rf again
    if [ $n = 1 ]; then want 0 "$EIN" run --flags=-O0 --target=c steps.ein --deterministic -o all=again/ --resume $by
    else want 0 ein_ranks $n steps.ein --deterministic -o all=again/ --resume $by; fi
    for f in never/*; do cmp -s "$f" "again/${f#never/}" || wrong "on $n ranks ${f#never/} differs after a resume from $by"; done
  done
done
cp -r f-2 g-2
flipped g-2/turn-000030.rank-0-of-2.safetensors
for n in 1 3; do
  if [ $n = 1 ]; then want 4 "$EIN" run --flags=-O0 --target=c fixed.ein --deterministic --resume g-2
  else want 4 ein_ranks $n fixed.ein --deterministic --resume g-2; fi
  once "g-2/turn-000030.rank-0-of-2.safetensors has changed since it was written"
done
want 0 ein_ranks 3 fixed.ein --deterministic --resume f-2 --checkpoint f-2 --every 3
[ "$(cd f-2 && echo *-of-2*)" = '*-of-2*' ] || wrong "there is $(names f-2)"
want 1 ein_ranks 3 fixed.ein --resume f-2
once "f-2/turn-000039.safetensors is of a run with --deterministic, and this is one without it: they have other bits"
want 1 ein_ranks 3 fixed.ein -D N=62 --deterministic --resume f-2
once "f-2/turn-000039.safetensors"
want 1 ein_ranks 4 heat.ein --deterministic --resume d-4
once "is of a run without --deterministic, and this is one with it"

want 2 "$EIN" run heat.ein -n 4 --target=c --resume d-4
says "--resume keeps what a process has, and -n runs all sites in one; by --np or mpirun, or without -n, it can be done"
finish
