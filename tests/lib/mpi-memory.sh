#!/bin/sh
# suite: ci
# A library over MPI uses exactly the memory that it reports: it runs in a workspace of the reported size and allocates nothing else, whatever its moves
# pack, and leaves the bytes around it unchanged. With the arguments, this is what ein plan predicts for the busiest process.
. "$(dirname "$0")/../cmd/common"
mpi_builds

cat >caller.c <<'END'
/* Each process gives ones as its blocks, lends a workspace between fences, and runs three times. The linker brings malloc and its like here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "x_mpi.h"

extern const ein_model x_model;
enum { FENCE = 4096, AXES = 8 };
static long taken;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t each);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t each);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n) { return taken++, __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t each) { return taken++, __real_calloc(n, each); }
void *__wrap_realloc(void *p, size_t n) { return taken++, __real_realloc(p, n); }

static int bad(const char *what, const x_ctx *ctx) {
  printf("%s: %s\n", what, ctx ? x_last_error(ctx) : "no context");
  return 1;
}

static int64_t arguments;

static void view(x_ctx *ctx, int output, int k, int site, int64_t *shape, ein_tensor *out) {
  static const size_t size[] = {8, 4, 2, 2, 8, 4, 2, 1, 1, 1};
  const ein_argument *a = &(output ? x_model.output : x_model.input)[k];
  int64_t low[AXES];
  size_t bytes = size[a->dtype];
  x_local_extent(ctx, output, k, site, low, shape);
  for (int d = 0; d < a->ndim; d++) bytes *= (size_t)shape[d];
  arguments += (int64_t)bytes;
  memset(out, 0, sizeof *out);
  out->data = calloc(bytes + 1, 1), out->device_type = 1, out->ndim = a->ndim, out->dtype = a->dtype, out->shape = shape;
}

static size_t told(MPI_Comm comm) {
  x_ctx *ctx = NULL;
  size_t bytes = 0;
  if (x_create_mpi(comm, NULL, &ctx) || x_plan(ctx, NULL)) exit(bad("plan", ctx));
  bytes = x_workspace_bytes(ctx);
  x_destroy(ctx);
  return bytes;
}

static int run(MPI_Comm comm, int site, char *room, size_t bytes) {
  x_ctx *ctx = NULL;
  int inputs = x_model.n_inputs, n = inputs + x_model.n_outputs, code = 0;
  int64_t *shape = (int64_t *)calloc((size_t)n, AXES * sizeof *shape);
  ein_tensor *v = (ein_tensor *)calloc((size_t)n + 1, sizeof *v);
  ein_config config;
  memset(&config, 0, sizeof config);
  config.size = sizeof config, config.workspace = room, config.workspace_bytes = bytes;
  if (x_create_mpi(comm, &config, &ctx) || x_plan(ctx, NULL)) return bad("plan", ctx);
  for (int i = 0; i < n; i++) view(ctx, i >= inputs, i < inputs ? i : i - inputs, site, shape + i * AXES, &v[i]);
  for (int i = 0; i < 3 && !code; i++) {
    long before = taken;
    if (x_model.run_blocks(ctx, v, v + inputs)) code = bad("run", ctx);
    if (taken != before) code = 1, printf("site %d: a run takes memory %ld times\n", site, taken - before);
  }
  for (int i = 0; i < n; i++) free(v[i].data);
  free(v), free(shape);
  x_destroy(ctx);
  return code;
}

int main(int argc, char **argv) {
  int site, level, code;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &site);
  size_t bytes = told(MPI_COMM_WORLD), all = bytes + 2 * FENCE + 64;
  char *block = (char *)malloc(all), *room = block + FENCE + 64 - (size_t)((uintptr_t)(block + FENCE) % 64);
  memset(block, 0x5A, all);
  code = run(MPI_COMM_WORLD, site, room, bytes);
  for (char *c = block; c < block + all; c++)
    if ((c < room || c >= room + bytes) && *c != 0x5A) {
      code = 1, printf("site %d writes beside its workspace of %zu bytes\n", site, bytes);
      break;
    }
  free(block);
  int64_t all_of_it = arguments + (int64_t)bytes;
  MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &all_of_it, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  if (site == 0) printf("memory %lld\n", (long long)all_of_it);
  MPI_Finalize();
  return code;
}
END
cat >x.ein <<'END'
dim I = 46, K = 39, J = 29, S = 37, D = 12
input A[i:I,k:K] : f32
input B[k:K,j:J] : f32
output C[i,j] = sum[k] A[i,k]*B[k,j]
output R[j,i] = C[i,j] + 1
output whole = sum[i,j] C[i,j]
output M[i] : i64 = argmax[j] C[i,j]

input E[k:5000,i:120] : f64
output F[i:120,l:120] = max[k] E[k,(i + l) % 120]

input Q[s:S,d:D] : f16
input V[t:S,e:D] : f16
T[s,t] = softmax[t where t <= s](sum[d:D] Q[s,d]*V[t,d]) ?? 0
output O[e,s] = sum[t] T[s,t]*V[t,e]
output last[e] : i64 = argmin[t] V[t,e]

input X[n:97,m:6] : f64
repeat turn < 5 {
  state U[n:97,m:6] : f64 = X[n,m]
  next U[n,m] = (U[(n+96)%97,m] + U[n,m] + U[(n+1)%97,(m+5)%6]) / 3
}
output Y[m,n] = U[n,m]
output far = max[n,m] abs(U[n,m])
END
want 0 "$EIN" build x.ein --lib --target=mpi -n 2,3,4,7 --flags=-O0 -o x/
want 0 mpicc -Wall -Wextra -Werror caller.c -Ix -Lx -lx -lm -fopenmp -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc -o caller
for n in 2 3 4 7; do
  want 0 ranks $n ./caller
  used=$(sed -n 's/^memory //p' out)
  want 0 "$EIN" plan x.ein -n $n --format=json
  told=$(tr -d ' \n' <out | sed 's/.*"memory":{"bytes":\([0-9]*\).*/\1/')
  [ "$used" -ge "$told" ] && [ "$used" -le $((told + 64 * 30)) ] || wrong "$n processes: the busiest has $used bytes, but reports $told"
done
finish
