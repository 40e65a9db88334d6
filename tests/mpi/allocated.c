/* tests/mpi/allocated.c - a program that links a library with the prefix x, for tests/mpi/allocated.py: runs it once on
 * blocks of zeros, and prints for each process the bytes of its inputs and outputs and the most that the context had
 * allocated at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <x_mpi.h>

enum { RANK = 8, MOST = 16 };

static size_t now, most;

static void *take(void *user, size_t bytes, size_t align) {
  (void)user;
  now += bytes;
  if (now > most) most = now;
  return aligned_alloc(align < 64 ? 64 : align, (bytes + 127) / 64 * 64);
}

static void give(void *user, void *at, size_t bytes) {
  (void)user;
  if (at) now -= bytes;
  free(at);
}

static size_t element(int dtype) {
  return dtype == EIN_F64 || dtype == EIN_I64 ? 8 : dtype == EIN_F16 || dtype == EIN_BF16 ? 2 : 4;
}

int main(int argc, char **argv) {
  static int64_t low[2][MOST][RANK], extent[2][MOST][RANK];
  static ein_tensor tensor[2][MOST];
  ein_config config = {.size = sizeof config, .threads = 1, .alloc = take, .release = give};
  x_inputs in;
  x_outputs out;
  x_ctx *ctx;
  int rank;
  size_t all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (x_create_mpi(MPI_COMM_WORLD, &config, &ctx)) return 1;
  if (x_plan(ctx, NULL)) return fprintf(stderr, "%s\n", x_last_error(ctx)), 1;
  for (int o = 0; o < 2; o++)
    for (int i = 0; i < (o ? x_model.n_outputs : x_model.n_inputs); i++) {
      const ein_argument *a = o ? &x_model.output[i] : &x_model.input[i];
      if (x_local_extent(ctx, o, i, rank, low[o][i], extent[o][i])) return 1;
      size_t bytes = element(a->dtype);
      for (int k = 0; k < a->ndim; k++) bytes *= (size_t)extent[o][i][k];
      all += bytes;
      tensor[o][i] = (ein_tensor){
          .data = calloc(1, bytes + 64), .device_type = 1, .ndim = a->ndim, .dtype = a->dtype, .shape = extent[o][i]};
    }
  memcpy(&in, tensor[0], sizeof in);
  memcpy(&out, tensor[1], sizeof out);
  if (x_run(ctx, &in, &out)) return fprintf(stderr, "%s\n", x_last_error(ctx)), 1;
  printf("%zu\n", all + most);
  fflush(stdout);
  x_destroy(ctx);
  return MPI_Finalize();
}
