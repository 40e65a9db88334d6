#!/bin/sh
# suite: ci
# Each allocation of a library over MPI fails once, on one process only: no process hangs, all get the same status, and if the plan succeeded, the next run
# is right.
. "$(dirname "$0")/../cmd/common"
mpi_builds

cat >caller.c <<'END'
/* The linker brings malloc and its like here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "x_mpi.h"

enum { N = 30, M = 7 };
static long left = -1; /* so many are given, then one is not */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t each);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t each);
void *__wrap_realloc(void *p, size_t n);

static int refused(void) {
  return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t n) { return refused() ? NULL : __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t each) { return refused() ? NULL : __real_calloc(n, each); }
void *__wrap_realloc(void *p, size_t n) { return refused() ? NULL : __real_realloc(p, n); }

static double E[N][M], W[N][M], total;
static int64_t tok[N];

static ein_tensor view(void *data, ein_dtype t, int ndim, const int64_t *shape, const int64_t *strides) {
  ein_tensor v;
  memset(&v, 0, sizeof v);
  v.data = data, v.device_type = 1, v.ndim = ndim, v.dtype = t, v.shape = shape, v.strides = strides;
  return v;
}

static ein_status whole(x_ctx *ctx, int site) {
  static const int64_t shape[] = {N, M};
  x_inputs in = {view(E, EIN_F64, 2, shape, NULL), view(tok, EIN_I64, 1, shape, NULL), view(NULL, EIN_F64, 1, NULL, NULL)};
  x_outputs out = {view(W, EIN_F64, 2, shape, NULL), view(&total, EIN_F64, 0, NULL, NULL)};
  memset(W, 0, sizeof W);
  return x_run_whole(ctx, site ? NULL : &in, site ? NULL : &out);
}

/* Blocks where they lie in the whole tensors. */
static ein_status blocks(x_ctx *ctx, int site) {
  static const int64_t step[] = {M, 1};
  static double mine[N][M];
  int64_t low[3][2], n[3][2];
  x_local_extent(ctx, 0, 0, site, low[0], n[0]), x_local_extent(ctx, 0, 1, site, low[1], n[1]), x_local_extent(ctx, 1, 0, site, low[2], n[2]);
  x_inputs in = {view(&E[low[0][0]][low[0][1]], EIN_F64, 2, n[0], step), view(&tok[low[1][0]], EIN_I64, 1, n[1], NULL),
                 view(NULL, EIN_F64, 1, NULL, NULL)};
  x_outputs out = {view(mine, EIN_F64, 2, n[2], step), view(&total, EIN_F64, 0, NULL, NULL)};
  return x_run(ctx, &in, &out);
}

static int right(void) {
  double sum = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      if (W[i][j] != E[tok[i]][j] + 3 * i) return 0;
      sum += W[i][j];
    }
  return total == sum;
}

/* What all came to; -2: not to the same. */
static int same(int status) {
  int least, most;
  MPI_Allreduce(&status, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&status, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return least == most ? status : -2;
}

static int bad(const char *what, int k, int victim) {
  printf("%s: request %d refused at %d\n", what, k, victim);
  return 1;
}

/* Gives whether there were so many; 2: something is wrong. */
static int tried(int k, int victim, int site) {
  static const char *const calls[] = {"create", "plan", "run", "run_whole"};
  x_ctx *ctx = NULL;
  int status = 0, i, fired;
  left = site == victim ? k : -1;
  for (i = 0; i < 4 && !status; i++) {
    ein_status own = i == 0 ? x_create_mpi(MPI_COMM_WORLD, NULL, &ctx) : i == 1 ? x_plan(ctx, NULL) : i == 2 ? blocks(ctx, site) : whole(ctx, site);
    long now = left;
    left = -1, status = same(own), left = now;
    if (status && status != EIN_ERR_MEMORY) return site == 0 ? 1 + bad(calls[i], k, victim) : 2;
  }
  fired = site == victim && left < 0;
  left = -1;
  MPI_Bcast(&fired, 1, MPI_INT, victim, MPI_COMM_WORLD);
  if (status && !fired) return 1 + bad("nothing was refused", k, victim);
  if (ctx && i > 2 && (same(whole(ctx, site)) || (site == 0 && !right()))) return 1 + bad("the next run", k, victim);
  x_destroy(ctx);
  return fired;
}

int main(int argc, char **argv) {
  int site, sites, level, k = 0, now = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &site), MPI_Comm_size(MPI_COMM_WORLD, &sites);
  for (int i = 0; i < N * M; i++) E[i / M][i % M] = i % 13 - 6, tok[i / M] = i * 11 % N;
  for (; now == 1; k++) {
    now = 0;
    for (int victim = 0; victim < sites && now < 2; victim++) {
      int one = tried(k, victim, site);
      MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      now = one > now ? one : now;
    }
  }
  if (site == 0 && now == 0) printf("%d requests\n", k - 1);
  MPI_Finalize();
  return now;
}
END
cat >x.ein <<'END'
input E[a:30,d:7] : f64
input tok[s:30] : i64
input more[s:30] : f64 = 3.0*s
output W[s,d] : f64 = E[tok[s],d] + more[s]
output total = sum[s,d] W[s,d]
END
want 0 "$EIN" build x.ein --lib --target=mpi -n 3 --flags=-O0 -o x/
want 0 mpicc -Wall -Wextra -Werror caller.c -Ix -Lx -lx -lm -fopenmp -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc -o caller
want 0 ranks 3 ./caller
shows ' requests'
[ "$(sed -n 's/ requests//p' out)" -ge 10 ] || wrong "only $(cat out)"
finish
