#!/bin/sh
# suite: ci
# A caller's bool may be any byte, also where a library over MPI moves it to other processes first.
. "$(dirname "$0")/../cmd/common"
mpi_builds

cat >x.ein <<'END'
input A[i:8, j:6], B[j:6, k:4] : bool
output C[i,k] = any[j] (A[i,j] == B[j,k])
END
cat >caller.c <<'END'
#include <stdio.h>
#include <string.h>
#include "x_mpi.h"

static unsigned char A[8 * 6], B[6 * 4], C[8 * 4];

static ein_tensor view(void *data, const int64_t *shape) {
  ein_tensor v;
  memset(&v, 0, sizeof v);
  v.data = data, v.device_type = 1, v.ndim = 2, v.dtype = EIN_BOOL, v.shape = shape;
  return v;
}

int main(int argc, char **argv) {
  static const int64_t a[] = {8, 6}, b[] = {6, 4}, c[] = {8, 4};
  int rank, some = 0;
  x_ctx *ctx;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  memset(B, 2, sizeof B), memset(C, 9, sizeof C);
  x_inputs in = {view(A, a), view(B, b)};
  x_outputs out = {view(C, c)};
  if (x_create_mpi(MPI_COMM_WORLD, NULL, &ctx) || x_plan(ctx, NULL)) return 1;
  if (x_run_whole(ctx, rank ? NULL : &in, rank ? NULL : &out)) return 2;
  for (int i = 0; i < 32 && !rank; i++) some |= C[i];
  if (!rank) printf("any: %d\n", some);
  x_destroy(ctx);
  MPI_Finalize();
  return 0;
}
END
want 0 "$EIN" build x.ein --target=mpi -n 2 --lib -o lib/ --flags=-O0
"$EIN" build x.ein -n 2 --stop=task | grep -q 'move .* named B' || wrong "B is not moved: the test is void"
want 0 mpicc -Ilib caller.c lib/*.c -o caller -lm -lpthread
want 0 mpirun -n 2 ./caller
shows "any: 0"
finish
