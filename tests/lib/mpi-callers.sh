#!/bin/sh
# suite: ci
# ein build --lib --target=mpi with a caller in C: half of the processes run the library, and the other half exchange messages with the same tags.
. "$(dirname "$0")/../cmd/common"
turn 3
mpi_builds

cat >att.ein <<'END'
dim S = 22, D = 6
input Q[s:S,d:D] : i64
input K[t:S,d:D] : i64
input shift[t:S] : i64 = 2*t
output W[s,t] = sum[d] Q[s,d]*K[t,d] + shift[t]
output best[s] : i64 = argmax[t] W[s,t]
output total = sum[s,t] W[s,t]
END
cat >caller.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "att_mpi.h"

enum { S = 22, D = 6, ROUNDS = 20 };
static int64_t Q[S][D], K[S][D], W[S][S], best[S], total;
static const int64_t shape_q[] = {S, D}, shape_w[] = {S, S}, shape_b[] = {S};

static int bad(const char *what, const att_ctx *ctx) {
  printf("%s: %s\n", what, att_last_error(ctx));
  return 1;
}

static ein_tensor view(void *data, int ndim, const int64_t *shape, const int64_t *strides) {
  ein_tensor v;
  memset(&v, 0, sizeof v);
  v.data = data, v.device_type = 1, v.ndim = ndim, v.dtype = EIN_I64, v.shape = shape, v.strides = strides;
  return v;
}

/* What the caller says among its own, on a communicator of all: from any to any, with tag 0, while the library's moves go on. */
static void talk(MPI_Comm comm) {
  int rank, size, got;
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE);
  if (got != (rank + size - 1) % size) printf("a message of the library's\n");
}

static int right(const int64_t *low, const int64_t *extent, const int64_t *w) {
  for (int64_t i = 0; i < extent[0]; i++)
    for (int64_t j = 0; j < extent[1]; j++) {
      int64_t sum = 2 * (low[1] + j); /* the default of shift */
      for (int d = 0; d < D; d++) sum += Q[low[0] + i][d] * K[low[1] + j][d];
      if (w[i * extent[1] + j] != sum) return 0;
    }
  return 1;
}

/* Each gives what it has, where it lies in the whole: the rows of its block are as far apart as the whole's. shift is left out. */
static int blocks(att_ctx *ctx, int site) {
  int64_t low[3][2], extent[3][2], low_b[1], extent_b[1], step[] = {D, 1}, sum = -1, b[S];
  for (int k = 0; k < 3; k++)
    if (att_local_extent(ctx, k == 2, k % 2, site, low[k], extent[k])) return 1;
  if (att_local_extent(ctx, 1, 1, site, low_b, extent_b)) return 1;
  int64_t *w = (int64_t *)malloc(S * S * sizeof *w);
  att_inputs in;
  att_outputs out;
  in.Q = view(&Q[low[0][0]][low[0][1]], 2, extent[0], step);
  in.K = view(&K[low[1][0]][low[1][1]], 2, extent[1], step);
  in.shift = view(NULL, 1, NULL, NULL);
  out.W = view(w, 2, extent[2], NULL);
  out.best = view(b, 1, extent_b, NULL);
  out.total = view(&sum, 0, NULL, NULL);
  if (att_run(ctx, &in, &out)) return bad("run", ctx);
  if (!right(low[2], extent[2], w)) return puts("wrong block"), 1;
  memset(w, 0, S * S * sizeof *w);
  if (att_again(ctx)) return bad("again", ctx);
  if (!right(low[2], extent[2], w)) return puts("wrong block, again"), 1;
  free(w);
  return 0;
}

static int whole(att_ctx *ctx, int site) {
  int64_t none[] = {0, 0}, all[] = {S, S};
  att_inputs in = {view(Q, 2, shape_q, NULL), view(K, 2, shape_q, NULL), view(NULL, 1, NULL, NULL)};
  att_outputs out = {view(W, 2, shape_w, NULL), view(best, 1, shape_b, NULL), view(&total, 0, NULL, NULL)};
  memset(W, 0, sizeof W);
  if (att_run_whole(ctx, site ? NULL : &in, site ? NULL : &out)) return bad("run_whole", ctx);
  return !site && !right(none, all, W[0]) ? puts("wrong whole"), 1 : 0;
}

static int library(MPI_Comm comm) {
  att_ctx *ctx = NULL, *other = NULL;
  int site, sites, code = 0;
  MPI_Comm_rank(comm, &site), MPI_Comm_size(comm, &sites);
  if (att_create_mpi(comm, NULL, &ctx) || att_create_mpi(comm, NULL, &other)) return puts("no context"), 1;
  if (att_plan(ctx, NULL)) code = bad("plan", ctx);
  else if (att_plan(other, NULL)) code = bad("plan", other);
  for (int i = 0; i < ROUNDS && !code; i++) {
    code = blocks(i % 2 ? other : ctx, site);
    talk(comm);
    if (!code) code = whole(i % 3 ? other : ctx, site);
  }
  if (!code) { /* what one alone gives wrongly all are told */
    att_inputs in = {view(Q, 2, shape_w, NULL), view(K, 2, shape_q, NULL), view(NULL, 1, NULL, NULL)};
    att_outputs out = {view(W, 2, shape_w, NULL), view(best, 1, shape_b, NULL), view(&total, 0, NULL, NULL)};
    if (att_run_whole(ctx, site ? NULL : &in, site ? NULL : &out) != EIN_ERR_SHAPE) code = 1, puts("a wrong shape is taken");
    if (strstr(att_last_error(ctx), site ? "another site" : "axis 2") == NULL) code = bad("words", ctx);
    if (!code) code = whole(ctx, site); /* as good as before */
  }
  att_destroy(other), att_destroy(ctx);
  return code;
}

int main(int argc, char **argv) {
  int rank, size, half, level, code = 0;
  MPI_Comm comm;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < S * D; i++) Q[i / D][i % D] = i * 7 % 11 - 5, K[i / D][i % D] = i * 5 % 13 - 6;
  half = argc > 1 ? atoi(argv[1]) : size; /* so many are the library's, the last ones */
  MPI_Comm_split(MPI_COMM_WORLD, rank < size - half, -rank, &comm);
  if (rank < size - half) for (int i = 0; i < 200; i++) talk(comm);
  else code = library(comm);
  MPI_Comm_free(&comm);
  MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return code;
}
END
want 0 "$EIN" build att.ein --lib --target=mpi -n 4,3 --flags=-O1 -o lib/
for f in att.h att.c att_3.c att_4.c att_default_2.c att_mpi.h att_mpi.c att-runtime.h libatt.a att.pc att-config.cmake att.json meson.build; do
  [ -s lib/$f ] || wrong "there is no $f"
done
knows=$(cd lib && grep -lE 'mpi\.h>|MPI_[A-Z]' ./*.[ch] | tr '\n' ' ')
[ "$knows" = './att_mpi.c ./att_mpi.h ' ] || wrong "MPI is known by $knows"
nm -g --defined-only lib/libatt.a | awk 'NF == 3 && $3 !~ /^att_/ {print; bad = 1} END {exit bad}' >symbols || wrong "symbols of other names: $(head -3 symbols)"
want 0 mpicc -Wall -Wextra -Werror caller.c -Ilib -Llib -latt -lm -fopenmp -o caller
want 0 timeout 60 mpirun -n 4 ./caller
want 0 timeout 60 mpirun -n 8 ./caller 4
want 0 timeout 60 mpirun -n 5 ./caller 3
want 1 timeout 60 mpirun -n 2 ./caller
[ "$(grep -c 'plan: it is built for 4, 3 sites, but runs on 2' out)" = 2 ] || wrong "not all say which numbers are built: $(cat out)"
command -v pkg-config >/dev/null && want 0 sh -c 'mpicc caller.c $(pkg-config --cflags --libs lib/att.pc) -o caller2'
command -v mpicxx >/dev/null && want 0 mpicxx -x c++ -DOMPI_SKIP_MPICXX -Wall -Wextra -Werror -fsyntax-only -Ilib lib/att.c lib/att_mpi.c lib/att_3.c lib/att_default_2.c

# ---- the sample, as docs/mpi.md builds it
cp "$here"/../../samples/mpi/* .
want 0 "$EIN" run heat.ein T0=const:20 -o T1=before.npy
shows 'heat : f64 = 245760'
want 0 "$EIN" build heat.ein --lib --target=mpi -n 2,4 --flags=-O1 -o heat/
want 0 sh -c 'mpicc -Wall -Wextra -Werror main.c $(pkg-config --cflags --libs heat/heat.pc) -o main'
for n in 4 8; do
  want 0 timeout 60 mpirun -n $n ./main
  shows 'the plate has 246740.0 of heat' # 128 * 96 * 20, and 980 in the middle
done

# ---- two libraries in one program, at the same time, each on some of the processes: their messages have equal tags
cat >two.c <<'END'
#define main heat_main
#include "main.c"
#undef main
#define main att_main
#define view att_view
#include "caller.c"
#undef main
int main(int argc, char **argv) {
  int rank, level, code = 0;
  MPI_Comm comm;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < S * D; i++) Q[i / D][i % D] = i * 7 % 11 - 5, K[i / D][i % D] = i * 5 % 13 - 6;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
  if (rank % 2) for (int i = 0; i < 4 && !code; i++) code = compute(comm);
  else code = library(comm);
  MPI_Comm_free(&comm);
  MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return code;
}
END
want 0 sh -c 'mpicc -Wno-unused-function two.c -Ilib $(pkg-config --cflags --libs heat/heat.pc) -Llib -latt -lm -fopenmp -o two'
for n in 5 8; do # 3 and 2 of them, 4 and 4
  want 0 timeout 60 mpirun -n $n ./two
  [ "$(grep -c 'the plate has 246740.0 of heat' out)" = 4 ] || wrong "beside another library: $(cat out)"
done

# ---- in other build systems
if command -v meson >/dev/null && command -v ninja >/dev/null; then
  mkdir -p m/subprojects && cp -r lib m/subprojects/att && cp caller.c m/
  rm m/subprojects/att/libatt.a
  cat >m/meson.build <<'END'
project('caller', 'c')
executable('caller', 'caller.c', dependencies: [dependency('att', fallback: ['att', 'att_dep'])])
END
  want 0 meson setup m/build m
  want 0 ninja -C m/build
  want 0 timeout 60 mpirun -n 3 m/build/caller
fi
if command -v cmake >/dev/null; then
  mkdir c && cp caller.c c/
  cat >c/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(caller C)
find_package(att CONFIG REQUIRED)
add_executable(caller caller.c)
target_link_libraries(caller att::att)
END
  want 0 cmake -S c -B c/build -DCMAKE_PREFIX_PATH="$work/lib"
  want 0 cmake --build c/build
  want 0 timeout 60 mpirun -n 4 c/build/caller
fi
finish
