#!/bin/sh
# suite: ci
# A run over MPI always has the same bits: a program with products, softmax, halos, argmax, a monoid and gathers runs repeatedly on four processes, while
# their MPI calls are delayed at random. REPEATS: how often.
. "$(dirname "$0")/../cmd/common"
mpi_builds
: "${REPEATS:=100}"
shim=$(dirname "$EIN")/tests/mpi/mpi_shim.so

cat >caller.c <<'END'
/* Each process fills its blocks by where their elements stand in the whole, and runs so often; what it has then is compared, and told as a number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "x_mpi.h"

extern const ein_model x_model;
enum { AXES = 8 };
static const size_t size[] = {8, 4, 2, 2, 8, 4, 2, 1, 1, 1};

static uint64_t mixed(uint64_t x) {
  x ^= x >> 31, x *= 0x9E3779B97F4A7C15u;
  return x ^ x >> 29;
}

/* Of random bits, finite and about 1; of whole numbers places in a table of 40. */
static void fill(const ein_tensor *v, const int64_t *low) {
  int64_t n = 1, at[AXES] = {0};
  for (int d = 0; d < v->ndim; d++) n *= v->shape[d];
  for (int64_t i = 0; i < n; i++) {
    uint64_t h = 7;
    for (int d = 0; d < v->ndim; d++) h = mixed(h * 31 + (uint64_t)(low[d] + at[d]));
    double sign = h >> 60 & 1 ? -1 : 1, x = sign * (double)(h >> 11 & 0xFFFFF) / 0x80000;
    uint16_t half = (uint16_t)((h >> 60 & 1) << 15 | 0x3800 | (h >> 11 & 0x3FF));
    char *to = (char *)v->data + (size_t)i * size[v->dtype];
    if (v->dtype == EIN_F64) memcpy(to, &x, 8);
    else if (v->dtype == EIN_F32) *(float *)(void *)to = (float)x;
    else if (v->dtype == EIN_I64) *(int64_t *)(void *)to = (int64_t)(h >> 11) % 40;
    else memcpy(to, &half, 2);
    for (int d = v->ndim; d-- > 0 && ++at[d] == v->shape[d];) at[d] = 0;
  }
}

static size_t view(x_ctx *ctx, int output, int k, int site, int64_t *shape, ein_tensor *out) {
  const ein_argument *a = &(output ? x_model.output : x_model.input)[k];
  int64_t low[AXES];
  size_t bytes = size[a->dtype];
  x_local_extent(ctx, output, k, site, low, shape);
  for (int d = 0; d < a->ndim; d++) bytes *= (size_t)shape[d];
  memset(out, 0, sizeof *out);
  out->data = calloc(bytes + 1, 1), out->device_type = 1, out->ndim = a->ndim, out->dtype = a->dtype, out->shape = shape;
  if (!output) fill(out, low);
  return bytes;
}

static uint64_t number(const ein_tensor *out, const size_t *bytes) {
  uint64_t h = 1;
  for (int k = 0; k < x_model.n_outputs; k++)
    for (size_t i = 0; i < bytes[k]; i++) h = mixed(h * 257 + ((unsigned char *)out[k].data)[i]);
  return h;
}

int main(int argc, char **argv) {
  int site, level, code = 0, repeats = argc > 1 ? atoi(argv[1]) : 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &site);
  x_ctx *ctx = NULL;
  int inputs = x_model.n_inputs, n = inputs + x_model.n_outputs;
  int64_t *shape = (int64_t *)calloc((size_t)n, AXES * sizeof *shape);
  ein_tensor *v = (ein_tensor *)calloc((size_t)n + 1, sizeof *v);
  size_t *bytes = (size_t *)calloc((size_t)n + 1, sizeof *bytes);
  uint64_t first = 0, all = 0;
  if (x_create_mpi(MPI_COMM_WORLD, NULL, &ctx) || x_plan(ctx, NULL)) code = 1;
  for (int i = 0; i < n && !code; i++) bytes[i] = view(ctx, i >= inputs, i < inputs ? i : i - inputs, site, shape + i * AXES, &v[i]);
  for (int i = 0; i < repeats && !code; i++) {
    for (int k = inputs; k < n; k++) memset(v[k].data, 0xA5, bytes[k]);
    if (x_model.run_blocks(ctx, v, v + inputs)) code = 1, printf("site %d: %s\n", site, x_last_error(ctx));
    uint64_t now = number(v + inputs, bytes + inputs);
    if (i == 0) first = now;
    if (now != first) printf("site %d: run %d has other bits\n", site, i);
  }
  MPI_Reduce(&first, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (site == 0 && !code) printf("bits %llx\n", (unsigned long long)all);
  x_destroy(ctx);
  MPI_Finalize();
  return code;
}
END
cat >x.ein <<'END'
dim I = 21, K = 402, J = 13, S = 24, D = 6
monoid lse(a, b) = if a == b then a + log(2) else max(a, b) + log1p(exp(-abs(a - b))) identity -inf
input A[i:I,k:K] : f32
input B[k:K,j:J] : f32
input G[k:K,e:9] : f16
output C[i,j] = sum[k] A[i,k]*B[k,j]
output M[i] : i64 = argmax[k] A[i,k]
output L[i] = lse[k](A[i,k])
output H[e,f:9] = sum[k] G[k,e]*G[k,f]
output whole = sum[i,j] C[i,j]
input Q[s:S,d:D] : f32
input V[t:S,e:D] : f32
T[s,t] = softmax[t where t <= s](sum[d:D] Q[s,d]*V[t,d]) ?? 0
output O[e,s] = sum[t] T[s,t]*V[t,e]
input E[a:40,d:D] : f64
input tok[s:S] : i64
output W[s,d] = E[tok[s],d] / (1 + s)
input X[n:97,m:6] : f64
repeat turn < 5 {
  state U[n:97,m:6] : f64 = X[n,m]
  next U[n,m] = (U[(n+96)%97,m] + U[n,m] + U[(n+1)%97,(m+5)%6]) / 3
}
output Y[m,n] = U[n,m]
END
bits() { # WORD...: of the last one's output
  [ "$(grep -cv '^bits' out)" = 0 ] || wrong "$(grep -v '^bits' out | head -3)"
  sed -n 's/^bits //p' out
}
want 0 "$EIN" plan x.ein -n 4 -o x.plan
(cat x.plan && echo 'room 1') >little.plan
for plan in x little; do
  rm -rf x
  want 0 "$EIN" build x.ein --lib --target=mpi -n 4 --plan=$plan.plan '--flags=-O0 -DEIN_MOVE_SLICE=64' -o x/
  want 0 mpicc -Wall -Wextra -Werror caller.c -Ix -Lx -lx -lm -fopenmp -o caller
  want 0 ranks 4 ./caller 2
  once=$(bits)
  EIN_TEST_DELAY=$$ want 0 timeout $((300 + 2 * REPEATS)) mpirun -n 4 -x EIN_TEST_DELAY -x LD_PRELOAD="$shim" ./caller "$REPEATS"
  late=$(bits)
  [ -n "$once" ] && [ "$once" = "$late" ] || wrong "$plan.plan: with seed $$ the bits are $late, and $once before"
  [ -z "$all" ] || [ "$all" = "$once" ] || wrong "in rounds the bits are $once, and $all at once"
  all=$once
done
finish
