#!/bin/sh
# suite: ci
# Runs that do not fit a device's memory, on the stand-ins: with the least memory that they can have and with a third more they give what the evaluator
# gives, whether copies are done as late or as early as they may be. The bytes over the bus are those planned, everything is given back, a copy that is
# left out is noticed, and where the least memory does not do, the message says what it is.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
look_alikes
on="--target=cuda --flags=-O0" # of the code around the kernels, which takes longest to compile

given_back() { # TEXT: all of it; and that line
  grep -q 'left: 0 pieces of memory, 0 modules, 0 streams, 0 contexts' "$EIN_STANDIN_REPORT" && grep -q "$1" "$EIN_STANDIN_REPORT" ||
    wrong "wanted \"$1\", and nothing left: $(cat "$EIN_STANDIN_REPORT"): $line"
  rm -f "$EIN_STANDIN_REPORT"
}
least_of() { # WORD...: with one byte
  want 4 "$EIN" run "$@" $on --memory=1
  least=$(sed -n 's/.*no memory on the device: the run takes at least \([0-9]*\) bytes there, for .*, and 1 are allowed$/\1/p' err)
  [ -n "$least" ] || wrong "it does not say how much it needs: $(cat err)"
  given_back ''
}
same() { # FOLDER OTHER, WORDS for a complaint
  for output in "$1"/*.npy; do cmp -s "$output" "$2/${output##*/}" || wrong "$3 ${output##*/}: $line"; done
}
fits() { # WORD...
  want 0 "$EIN" run "$@" -o all=want/
  least_of "$@"
  for memory in $least $((least + least / 3)); do
    for order in late early; do
      EIN_STANDIN=$order want 0 "$EIN" run "$@" $on --memory="$memory" -o all=got/
      same want got 'other than by the evaluator:'
      given_back ''
    done
  done
}

# Three of nine tensors of 1,024 bytes at a time.
cat >chain.ein <<'END'
dim N = 16
input A[i:N,j:N] : f32
input B[i:N,j:N] : f32
C[i,j] = sum[k] A[i,k] * B[k,j]
D[i,j] = sum[k] C[k,i] * B[k,j]
E[i,j] = sum[k] A[i,k] * D[j,k]
F[i,j] = sum[k] C[i,k] * E[k,j]
output Y[i,j] = F[i,j] + C[i,j]
output Z[j,i] = D[i,j] - E[i,j]
END
cat >numbers.ein <<'END'
output A[i:16,j:16] = f32((3 * i + 5 * j) % 7 - 3)
output B[i:16,j:16] = f32((i + 2 * j) % 5 - 2)
END
want 0 "$EIN" run numbers.ein -o A=A.npy -o B=B.npy
given="A=A.npy B=B.npy"
# shellcheck disable=SC2086
{
  fits chain.ein $given
  [ "$least" = 3328 ] || wrong "chain.ein takes $least bytes at least"
  want 4 "$EIN" run chain.ein $given $on --memory=3327
  says 'no memory on the device: the run takes at least 3328 bytes there, for C (chain.ein:4), and 3327 are allowed'
  given_back ''
  want 0 "$EIN" run chain.ein $given $on --memory=3328 -v -o all=spilled/
  says '5120 bytes went there, 4120 came back'
  says "1 run did not fit the device's memory: 5120 of these bytes were for tensors kept on the host, most of all "
  given_back '5120 bytes up, 4120 down'
  want 0 "$EIN" run chain.ein $given $on -v -o all=whole/
  says '2048 bytes went there, 2072 came back'
  given_back ' 2 events,'
  same whole spilled 'other than in a run that fits:'
  # What is free decides, if nothing is said.
  EIN_STANDIN=memory=5200 want 0 "$EIN" run chain.ein $given $on -o all=free/
  given_back '129 events'
  same whole free 'other with less memory:'
  EIN_STANDIN=memory=2600 want 4 "$EIN" run chain.ein $given $on
  says 'the run takes at least 3328 bytes there, for C (chain.ein:4), and 2'
  given_back ''
  EIN_CUDA_MEMORY=3328 want 0 "$EIN" run chain.ein $given $on -o all=said/
  given_back '5120 bytes up, 4120 down'
  EIN_CUDA_MEMORY=much want 3 "$EIN" run chain.ein $given $on
  rm -f "$EIN_STANDIN_REPORT"
  # Each copy to the device counts: 5 of them.
  for copy in 1 2 3 4 5; do
    EIN_STANDIN=lose=$copy want 0 "$EIN" run chain.ein $given $on --memory=3328 -o all=lost/
    cmp -s lost/Y.npy whole/Y.npy && cmp -s lost/Z.npy whole/Z.npy && wrong "copy $copy is not needed"
  done
  rm -f "$EIN_STANDIN_REPORT"
  # Many runs.
  want 0 "$EIN" bench chain.ein $given $on --memory=3500B --reps 3
  given_back ''
  # Failures of the machine.
  for planted in alloc=2 alloc=3 launch=3; do
    EIN_STANDIN=$planted want 4 "$EIN" run chain.ein $given $on --memory=3328
    given_back ''
  done
}

# A library: tensors with strides, at an odd address on the device, and where a run may use them in place; sizes that fit between sizes that do not; a
# stream of the caller's.
cat >blur.ein <<'END'
dim N
input X[i:N,j:N], G[i:N,j:N] : f32
A[i,j] = sum[k] X[i,k] * X[k,j]
B[i,j] = sum[k] A[i,k] * G[k,j]
output Y[i,j] = B[i,j] + A[j,i]
output Z[i,j] = B[j,i] - G[i,j]
END
cat >calls.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "blur.h"
int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuDevicePrimaryCtxRelease_v2(int), cuCtxPushCurrent_v2(void *), cuCtxPopCurrent_v2(void **);
int cuMemAlloc_v2(uint64_t *, size_t), cuMemFree_v2(uint64_t), cuStreamCreate(void **, unsigned), cuStreamDestroy_v2(void *), cuStreamSynchronize(void *);
int cuMemcpyHtoDAsync_v2(uint64_t, const void *, size_t, void *), cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *);
enum { MOST = 26 };
static float X[MOST][MOST], G[MOST][MOST], A[MOST][MOST], B[MOST][MOST], Y[MOST][2 * MOST], Z[MOST][MOST];
static uint64_t on; /* memory of the device */
static void *stream;
static int lent; /* the run is in that stream, behind what we asked of it */

static int wrong(int n, float (*H)[MOST]) {
  int differ = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      A[i][j] = 0;
      for (int k = 0; k < n; k++) A[i][j] += X[i][k] * X[k][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      B[i][j] = 0;
      for (int k = 0; k < n; k++) B[i][j] += A[i][k] * H[k][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) differ += Y[i][2 * j] != B[i][j] + A[j][i], differ += Z[i][j] != B[j][i] - H[i][j];
  return differ;
}

/* at: where the first input is on the device, behind its beginning; -1: it is on the host; -2: the second is the same. */
static void run(blur_ctx *ctx, int n, int at) {
  int64_t shape[] = {n, n}, apart[] = {2 * MOST, 2}, rows[] = {MOST, 1};
  blur_inputs in = {.X = {X, 1, 0, 2, EIN_F32, shape, rows, 0}, .G = {G, 1, 0, 2, EIN_F32, shape, rows, 0}};
  if (at == -2) in.G = in.X;
  blur_outputs out = {.Y = {Y, 1, 0, 2, EIN_F32, shape, apart, 0}, .Z = {Z, 1, 0, 2, EIN_F32, shape, rows, 0}};
  int status = blur_plan(ctx, &(blur_sizes){n});
  memset(Y, 0, sizeof Y), memset(Z, 0, sizeof Z);
  for (int i = 0; i < n && at >= 0; i++)
    cuMemcpyHtoDAsync_v2(on + (uint64_t)at + (uint64_t)(i * n) * sizeof(float), X[i], (size_t)n * sizeof(float), stream);
  if (at >= 0) in.X = (ein_tensor){(void *)(uintptr_t)(on + (uint64_t)at), 2, 0, 2, EIN_F32, shape, NULL, 0};
  if (!lent) cuStreamSynchronize(stream);
  if (!status) status = blur_run(ctx, &in, &out);
  if (!status && at == -1) status = blur_run(ctx, &in, &out);
  printf("%d, %s: %d %s\n", n, at == -2 ? "twice the same" : at < 0 ? "on the host" : at ? "at an odd place" : "on the device", status, blur_last_error(ctx));
  if (!status && wrong(n, at == -2 ? X : G)) printf("%d numbers are wrong\n", wrong(n, at == -2 ? X : G));
}

int main(void) {
  void *context, *was;
  for (int i = 0; i < MOST; i++)
    for (int j = 0; j < MOST; j++) X[i][j] = (float)((3 * i + j) % 5 - 2), G[i][j] = (float)((i + 2 * j) % 7 - 3);
  cuInit(0), cuDevicePrimaryCtxRetain(&context, 0), cuCtxPushCurrent_v2(context), cuStreamCreate(&stream, 1), cuMemAlloc_v2(&on, 2 * sizeof G);
  for (lent = 0; lent < 2; lent++) {
    ein_counts counts = {0};
    ein_config config = {.size = sizeof config, .device_memory = 11840, .stream = lent ? stream : NULL, .counts = &counts};
    blur_ctx *ctx = NULL;
    if (blur_create(&config, &ctx)) return 1;
    run(ctx, 24, -1), run(ctx, 24, -2), run(ctx, 24, 4), run(ctx, 8, -1), run(ctx, 24, 0), run(ctx, 26, -1);
    printf("%d spilled\n", (int)counts.runs_spilled);
    blur_destroy(ctx);
  }
  cuMemFree_v2(on), cuStreamDestroy_v2(stream), cuCtxPopCurrent_v2(&was), cuDevicePrimaryCtxRelease_v2(0);
  return 0;
}
END
want 0 "$EIN" build blur.ein --target=cuda --lib -o lib/ --flags=-O0
want 0 cc -std=c99 -D_GNU_SOURCE -O0 calls.c -Ilib lib/libblur.a -L"$standin" -l:libcuda.so.1 -lm -ldl -o calls
for order in late early; do
  EIN_STANDIN=$order want 0 ./calls
  cat >wanted <<'END'
24, on the host: 0 
24, twice the same: 0 
24, at an odd place: 0 
8, on the host: 0 
24, on the device: 0 
26, on the host: 5 no memory on the device: the run takes at least 14336 bytes there, for Z (blur.ein:6), and 11840 are allowed
4 spilled
END
  cat wanted wanted | cmp -s - out || wrong "calls of a library: $(diff wanted out)"
  given_back ''
done

# Turns: states that are exchanged, also three in turn, an end that data tells, repeats in repeats, none at all, defaults and what is given.
cat >turns.ein <<'END'
dim N = 24
input start[i:N,j:N] : i64 = (i * 7 + j * 3) % 10
input M[i:N,j:N] : i64 = (i + 3 * j) % 5
input rounds : i64 = 3
W[i,j] = M[i,j] * start[j,i] + 1
repeat t < rounds until total > 60000000 {
  state X[i:N,j:N] = start[i,j]
  state Y[i:N,j:N] = M[j,i]
  state older[i:N,j:N] : i64 = M[i,j]
  state total : i64 = 0
  repeat u < t {
    state V[i:N,j:N] = X[i,j] + W[j,i]
    next V[i,j] = (V[j,i] + M[i,j]) % 1000
  }
  next X[i,j] = Y[i,j] + V[i,j] % 7
  next Y[i,j] = (sum[k] X[i,k] * M[k,j]) % 11
  next older[i,j] = X[i,j]
  next total = sum[i,j] (X[i,j] + older[j,i])
}
output X
output older
output R[i,j] = Y[i,j] + W[i,j] * total
END
rm -rf want
fits turns.ein
[ "$least" -lt 20000 ] || wrong "turns.ein takes $least bytes at least"
for rounds in 0 1 2 7; do
  want 0 "$EIN" run turns.ein rounds=$rounds start=iota -o all=want/
  EIN_STANDIN=early want 0 "$EIN" run turns.ein $on --memory="$least" rounds=$rounds start=iota -o all=got/
  same want got 'other than by the evaluator:'
  given_back ''
done

# Four sites, each with so much: blocks that are moved, also beside kernels, and parts that are combined.
cat >sites.ein <<'END'
dim S = 24, D = 16
input X[s:S,d:D] : i64 = (s * 5 + d * 3) % 7 - 3
param W[d:D,e:D] : i64 = (d + 2 * e) % 5 - 2
Q[s,e] = sum[d] X[s,d] * W[d,e]
K[s,e] = sum[d] X[s,d] * W[e,d]
T[s,t] = sum[e] Q[s,e] * K[t,e]
m[t] = max[s] T[s,t]
A[s,t] = T[s,t] - m[t] + m[s]
O[s,e] = sum[t] A[s,t] * Q[t,e]
R[s,e] = O[s,e] % 1000 + X[s,e]
output Z[e,s] = (sum[t] R[t,e] * A[t,s]) % 1001
output best[s] = argmax[t] A[s,t]
END
rm -rf want got
want 0 "$EIN" run sites.ein -o all=want/
EIN_CUDA_MEMORY=7000 want 4 "$EIN" run sites.ein $on -n 4
says 'no memory on the device: the run takes at least 7168 bytes there, for '
rm -f "$EIN_STANDIN_REPORT"
for order in late early; do
  EIN_STANDIN=$order EIN_CUDA_MEMORY=7168 want 0 "$EIN" run sites.ein $on -n 4 -o all=got/
  same want got 'other than by the evaluator:'
  given_back '43776 bytes up, 38752 down; 516 events'
done

# The first token of a small LLaMA, of whose three layers the device holds a part of one: each weight comes once.
python3 "$root/samples/papers/llama_prefill.py" 3 32 2 16 48 5 2 20 >prefill.ein
given=$(sed -n 's/^param //p' prefill.ein | grep -o '[UW][QKVO123_]*[0-9]*\[' | tr -d '[' | sed 's/^W2.*/&=const:0.01/; /=/!s/$/=uniform:seed=1/' | tr '\n' ' ')
given="X0=randn:seed=2 $given"
weights=$((3 * (4 * 32 * 32 + 3 * 32 * 48) * 2))
# shellcheck disable=SC2086
{
  rm -rf whole paged
  want 0 "$EIN" run prefill.ein $given $on -o all=whole/
  rm -f "$EIN_STANDIN_REPORT"
  least_of prefill.ein $given
  [ "$least" -lt $((weights / 3)) ] || wrong "a layer of $((weights / 3)) bytes takes $least"
  want 0 "$EIN" run prefill.ein $given $on --memory=$((least * 6 / 5)) -v -o all=paged/
  same whole paged 'other than in a run that fits:'
  up=$(sed -n 's/.*; \([0-9]*\) bytes went there, .*/\1/p' err)
  [ "$up" -gt $weights ] && [ "$up" -lt $((weights * 12 / 10)) ] || wrong "$up bytes went to the device, for weights of $weights"
  rm -f "$EIN_STANDIN_REPORT"
}

# With the layers as turns it computes the same: weights are alike in all layers here.
python3 "$root/samples/papers/llama_prefill.py" 3 32 2 16 48 5 2 20 --turns >turns.ein
for p in prefill turns; do
  given=$(sed -n 's/^param //p' $p.ein | grep -o '[UW][QKVO123_]*[0-9]*\[' | sed 's/\[$/=const:0.02/' | tr '\n' ' ')
  # shellcheck disable=SC2086
  want 0 "$EIN" run $p.ein X0=randn:seed=2 $given --target=eval -o logits=$p.npy
done
cmp -s prefill.npy turns.npy || wrong "turns of layers compute other than layers, one after the other"

# Other programs.
at=0
for file in "$root"/tests/run/*.ein; do
  at=$((at + 1))
  case $file in */states_rotate.ein) ;; *) [ $(((at + ${EIN_TURN:-0}) % ${CUDA_EVERY:-150})) = 0 ] || continue ;; esac
  grep -qE '^extern def| extern "|fails|out_of' "$file" && continue
  case $file in *streamed* | */scan_ends.ein | */attention_masks.ein | *fails* | *out_of*) continue ;; esac
  cd "${file%/*}" || exit 1
  # shellcheck disable=SC2046
  set -- "${file##*/}" $(sed -n '1,3s/^# args: //p' "$file")
  { "$EIN" verify "$@" $on --memory=1; } >"$work/out" 2>&1
  least=$(sed -n 's/.*the run takes at least \([0-9]*\) bytes there.*/\1/p' "$work/out")
  [ -n "$least" ] || { wrong "$(cat "$work/out")"; continue; }
  EIN_STANDIN=early "$EIN" verify "$@" $on --memory="$least" >"$work/out" 2>&1 || wrong "$(grep -v '  equal$\|  abs ' "$work/out")"
done
cd "$work" || exit 1
given_back ''
finish
