/* An MPI program in which one half of the processes computes heat.ein, each on its own blocks, while the other
 * half does something else.
 *
 *     ein build heat.ein --lib --target=mpi -n 2,4 -o heat/
 *     mpicc main.c $(pkg-config --cflags --libs heat/heat.pc) -o main
 *     mpirun -n 8 ./main                  # or -n 4
 */
#include <stdio.h>
#include <stdlib.h>

#include "heat_mpi.h"

/* The library never ends a program. It reports an error as a status and a text; the status is the same at all
 * processes. */
static int failed(const char *what, ein_status status, const heat_ctx *ctx) {
  if (status != EIN_OK) fprintf(stderr, "%s: status %d, %s\n", what, (int)status, heat_last_error(ctx));
  return status != EIN_OK;
}

static ein_tensor view(double *data, int axes, const int64_t *shape) {
  ein_tensor v = {0};
  v.data = data;
  v.device_type = 1;
  v.ndim = axes;
  v.dtype = EIN_F64;
  v.shape = shape;
  return v;
}

/* Allocates this process's block of an argument. The plan determines the block; the caller fills it. */
static double *block_new(const heat_ctx *ctx, int output, int rank, int64_t *low, int64_t *extent) {
  if (heat_local_extent(ctx, output, 0, rank, low, extent) != EIN_OK) return NULL;
  return malloc((size_t)(extent[0] * extent[1] + 1) * sizeof(double));
}

static int compute(MPI_Comm comm) {
  heat_ctx *ctx = NULL;
  int rank, code;
  int64_t low[2], extent[2], low_1[2], extent_1[2];
  double heat = 0;
  MPI_Comm_rank(comm, &rank);
  code = failed("create", heat_create_mpi(comm, NULL, &ctx), ctx) || failed("plan", heat_plan(ctx, NULL), ctx);
  if (code) {
    heat_destroy(ctx);
    return code;
  }
  double *before = block_new(ctx, 0, rank, low, extent), *after = block_new(ctx, 1, rank, low_1, extent_1);
  if (!before || !after) MPI_Abort(comm, 1);
  for (int64_t i = 0; i < extent[0]; i++)
    for (int64_t j = 0; j < extent[1]; j++)
      before[i * extent[1] + j] = low[0] + i == 64 && low[1] + j == 48 ? 1000 : 20;
  heat_inputs in = {.T0 = view(before, 2, extent)};
  heat_outputs out = {.T1 = view(after, 2, extent_1), .heat = view(&heat, 0, NULL)};
  code = failed("run", heat_run(ctx, &in, &out), ctx);
  if (!code && rank == 0)
    printf("the plate has %.1f of heat, of which this process has %lld by %lld points\n", heat, (long long)extent_1[0],
        (long long)extent_1[1]);
  heat_destroy(ctx);
  free(before);
  free(after);
  return code;
}

int main(int argc, char **argv) {
  int rank, size, level, code = 0;
  MPI_Comm comm;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &comm);
  if (rank < size / 2) code = compute(comm);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return code;
}
