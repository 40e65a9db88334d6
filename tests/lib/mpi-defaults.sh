#!/bin/sh
# suite: ci
# A library over MPI whose inputs have defaults that depend on other inputs, one of which no equation reads: from blocks with any strides, from whole
# tensors, and again after the caller's values have changed; with AddressSanitizer if available.
. "$(dirname "$0")/../cmd/common"
turn 3
mpi_builds

cat >x.ein <<'EOF'
dim N
input X[i:N] : f64
input Z[i:N,k:4] : f64
input V[i:N] : f64 = X[i] + i
input W[i:N] : f64 = 2*V[N-1-i] + Z[i,1]
output Y[i] = W[i] + sum[k] Z[i,k]
EOF
cat >caller.c <<'EOF'
#include <stdio.h>
#include <string.h>
#include "x_mpi.h"

enum { MOST = 24 };
static int rank, N;
static double X[MOST][2], V[MOST], W[MOST], Z[MOST][4][3], Y[MOST];

static ein_tensor view(void *data, int ndim, const int64_t *shape, const int64_t *strides) {
  ein_tensor v;
  memset(&v, 0, sizeof v);
  v.data = data, v.device_type = 1, v.ndim = ndim, v.dtype = EIN_F64, v.shape = shape, v.strides = strides;
  return v;
}

static void numbers(int seed) {
  for (int i = 0; i < N; i++) {
    X[i][0] = (i * 7 + seed) % 11, V[i] = (i * 3 + seed) % 5, W[i] = (i * 5 + seed) % 13;
    for (int k = 0; k < 4; k++) Z[i][k][0] = (i + 3 * k + seed) % 7;
  }
}

static int right(const char *what, int64_t low, int64_t n, int v, int w) {
  for (int64_t i = low; i < low + n; i++) {
    int64_t j = N - 1 - i;
    double want = w ? W[i] : 2 * (v ? V[j] : X[j][0] + (double)j) + Z[i][1][0];
    for (int k = 0; k < 4; k++) want += Z[i][k][0];
    if (Y[i - low] != want) return printf("%s: process %d has %g at %d, expected %g\n", what, rank, Y[i - low], (int)i, want), 0;
  }
  return 1;
}

static int works(x_ctx *ctx, int size) {
  int64_t low[5][2], n[5][2], apart_x[] = {2}, apart_z[] = {12, 3}, one[] = {1}, all[] = {size}, all_z[] = {size, 4};
  x_sizes sizes = {size};
  int good = 1;
  N = size;
  if (x_plan(ctx, &sizes) != EIN_OK) return printf("%s\n", x_last_error(ctx)), 0;
  const char *name[5] = {"", "", "", "", ""};
  int of[5]; /* Z, W, V, X, and the output */
  for (int k = 0; k < 4; k++) name[k] = x_model.input[k].name, of[strchr("ZWVX", *name[k]) - "ZWVX"] = k;
  of[4] = 4;
  for (int k = 0; k < 5; k++) x_local_extent(ctx, k == 4, k == 4 ? 0 : k, rank, low[k], n[k]);
  if (n[of[3]][0] != (rank ? 0 : N)) good = printf("process %d has a part of X\n", rank) < 0;
  x_inputs in;
  memset(&in, 0, sizeof in);
  in.Z = view(&Z[low[of[0]][0]][low[of[0]][1]][0], 2, n[of[0]], apart_z);
  in.W = view(NULL, 1, n[of[1]], NULL);
  in.V = view(NULL, 1, n[of[2]], NULL);
  in.X = view(rank ? NULL : X, 1, n[of[3]], apart_x);
  x_outputs out = {view(Y, 1, n[4], one)};
  numbers(1);
  good &= x_run(ctx, &in, &out) == EIN_OK && right("run", low[4][0], n[4][0], 0, 0);
  numbers(2);
  good &= x_again(ctx) == EIN_OK && right("again", low[4][0], n[4][0], 0, 0);
  in.V.data = rank ? NULL : V, in.X.data = NULL;
  good &= x_run(ctx, &in, &out) == EIN_OK && right("V given", low[4][0], n[4][0], 1, 0);
  in.V.data = NULL, in.W.data = &W[low[of[1]][0]];
  good &= x_run(ctx, &in, &out) == EIN_OK && right("W given", low[4][0], n[4][0], 0, 1);
  in.W.data = NULL;
  if (x_run(ctx, &in, &out) != EIN_ERR_ARG) good = printf("X is missing, and nobody says so\n") < 0;
  if (rank == 0 && !strstr(x_last_error(ctx), "input X is not given, and the default of V depends on it")) good = printf("%s\n", x_last_error(ctx)) < 0;
  in.X.data = rank ? NULL : X, in.Z.dtype = rank == 1 ? EIN_F32 : EIN_F64;
  if (x_run(ctx, &in, &out) == EIN_OK) good = printf("another type is taken\n") < 0;
  if (x_run(ctx, NULL, &out) == EIN_OK) good = printf("no inputs are taken\n") < 0;
  x_inputs whole = {.Z = view(Z, 2, all_z, apart_z), .W = view(NULL, 1, all, NULL), .V = view(NULL, 1, all, NULL), .X = view(X, 1, all, apart_x)};
  x_outputs to = {view(Y, 1, all, one)};
  for (int seed = 3; seed < 5; seed++) {
    numbers(seed);
    if (x_run_whole(ctx, rank ? NULL : &whole, rank ? NULL : &to) != EIN_OK) good = printf("%s\n", x_last_error(ctx)) < 0;
    if (rank == 0) good &= right("whole", 0, N, 0, 0);
  }
  return good;
}

int main(int argc, char **argv) {
  x_ctx *ctx = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (x_create_mpi(MPI_COMM_WORLD, NULL, &ctx) != EIN_OK) return 1;
  int good = works(ctx, 23) & works(ctx, 1) & works(ctx, 23);
  x_destroy(ctx);
  MPI_Finalize();
  return !good;
}
EOF
want 0 "$EIN" build x.ein --lib --target=mpi -n 2,3 -D N=23 -D N=1 --flags='-O1 -g -fsanitize=address' -o x/
grep -q 'x_inputs' x/x.h || wrong "no inputs"
want 0 mpicc -Wall -Wextra -Werror -Wno-sign-conversion -g -fsanitize=address caller.c -Ix -Lx -lx -lm -fopenmp -o caller
for n in 2 3; do
  ASAN_OPTIONS=detect_leaks=0 want 0 ranks $n ./caller
done
finish
