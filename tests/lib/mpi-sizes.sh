#!/bin/sh
# suite: ci
# A library over MPI with plans for several sizes: x_plan chooses the matching one, repeatedly in one context; if none matches, it lists them on all
# processes.
. "$(dirname "$0")/../cmd/common"
mpi_builds

cat >x.ein <<'END'
dim N, M
input A[i:N,k:M] : f64
output C[i,j] = sum[k] A[i,k] * A[j,k]
output most[i] : i64 = argmax[k] A[i,k]
END
cat >caller.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "x_mpi.h"

static int rank;

static ein_tensor view(void *data, int ndim, ein_dtype dtype, const int64_t *shape) {
  ein_tensor t;
  memset(&t, 0, sizeof t);
  t.data = data, t.device_type = 1, t.ndim = ndim, t.dtype = dtype, t.shape = shape;
  return t;
}

static double of_A(int64_t i, int64_t k) { return (double)((i * 7 + k * 5) % 11 - 5); }

/* Whole tensors at process 0. */
static int works(x_ctx *ctx, int64_t N, int64_t M) {
  x_sizes sizes = {N, M};
  int64_t a[] = {N, M}, c[] = {N, N}, told[2];
  double *A = malloc(sizeof(double) * N * M), *C = calloc(N * N, sizeof(double));
  int64_t *most = calloc(N, sizeof *most);
  for (int64_t i = 0; i < N * M; i++) A[i] = of_A(i / M, i % M);
  x_inputs in = {view(A, 2, EIN_F64, a)};
  x_outputs out = {view(C, 2, EIN_F64, c), view(most, 1, EIN_I64, a)};
  ein_status status = x_plan(ctx, &sizes);
  if (status == EIN_OK && (x_model.shape(ctx, 1, 0, told) != EIN_OK || told[0] != N || told[1] != N)) return printf("N = %d has another shape\n", (int)N), 1;
  if (status == EIN_OK) status = x_run_whole(ctx, rank ? NULL : &in, rank ? NULL : &out);
  if (status != EIN_OK) return printf("process %d: %s\n", rank, x_last_error(ctx)), 1;
  for (int64_t i = 0; rank == 0 && i < N; i++)
    for (int64_t j = 0; j < N; j++) {
      double want = 0;
      for (int64_t k = 0; k < M; k++) want += of_A(i, k) * of_A(j, k);
      if (C[i * N + j] != want) return printf("C[%d,%d] of N = %d is wrong\n", (int)i, (int)j, (int)N), 1;
    }
  free(A), free(C), free(most);
  return 0;
}

int main(int argc, char **argv) {
  x_ctx *ctx = NULL;
  int wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (x_create_mpi(MPI_COMM_WORLD, NULL, &ctx) != EIN_OK) return 1;
  x_sizes other = {13, 5};
  if (x_run(ctx, NULL, NULL) != EIN_ERR_PLAN) wrong = 1, printf("a run before a plan: %s\n", x_last_error(ctx));
  if (x_plan(ctx, NULL) != EIN_ERR_ARG) wrong = 1, printf("a plan without sizes\n");
  wrong |= works(ctx, 24, 9) | works(ctx, 12, 9) | works(ctx, 12, 9) | works(ctx, 24, 30);
  if (x_plan(ctx, &other) != EIN_ERR_ARG) wrong = 1, printf("a plan for 13\n");
  if (rank == 1) printf("%s\n", x_last_error(ctx));
  wrong |= works(ctx, 12, 30);
  x_destroy(ctx);
  MPI_Finalize();
  return wrong;
}
END
want 0 "$EIN" build x.ein --lib --target=mpi -n 2,3 -D N=24 -D M=9 -D N=12 -D M=30 --flags=-O0 -o x/
grep -q '"plans"' x/x.json && grep -q 'N = 24, M = 9; N = 24, M = 30; N = 12, M = 9; N = 12, M = 30' x/x.h || wrong "plans are not listed"
want 0 mpicc -Wall -Wextra -Werror -Wno-sign-conversion caller.c -Ix -Lx -lx -lm -fopenmp -o caller
for n in 2 3; do
  want 0 ranks $n ./caller
  shows "it is built for these sites: 2 with N = 24, M = 9; 2 with N = 24, M = 30;"
  shows "but runs on $n with N = 13, M = 5"
done
want 1 ranks 4 ./caller
want 2 "$EIN" build x.ein --lib -D N=24 -D N=12 -D M=9 -o y/
says 'N is given twice'
finish
