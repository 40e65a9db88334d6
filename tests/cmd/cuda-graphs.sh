#!/bin/sh
# suite: ci
# Requests that recur are launched as a graph: turns of a repeat and whole runs, with the same addresses and with others, with cuBLAS products among them.
# Also: drivers without graphs; drivers that fail to make, update or launch one; a stream that the caller captures. Runs on the stand-ins of
# tests/cuda/standin.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
turn 0
look_alikes

did() { # TEXT: the last run released everything, and its report contains TEXT
  grep -q "left: 0 pieces of memory, 0 modules, 0 streams, 0 contexts; done: .*$1" "$EIN_STANDIN_REPORT" ||
    wrong "wanted $1: $(cat "$EIN_STANDIN_REPORT"): $line"
  rm -f "$EIN_STANDIN_REPORT"
}

# Buffers that swap, turn numbers, a repeat within another, and one whose end depends on data.
cat >turns.ein <<'END'
dim N = 48
input X[i:N] : f32
repeat t < 40 {
  state s[i] = X[i]
  state a[i:N] = 0.0
  next s[i] = s[i] * 0.5 + t + sum[j] a[j] * 0.001
  next a[i] = s[i]
}
repeat u < 6 {
  state z[i] = s[i]
  repeat v < 5 {
    state w[i] = z[i]
    next w[i] = w[i] + u * v
  }
  next z[i] = 0.25 * w[i]
}
repeat q < 100 until sum[i] y[i] > 1000 {
  state y[i:N] = 1.0
  next y[i] = y[i] * 1.5
}
output Y[i] = z[i] + y[i]
output q
END
want 0 "$EIN" verify turns.ein X=iota --target=cuda --flags=-O0
did 'graphs: [1-9][0-9]* made, [1-9]'
want 0 "$EIN" run turns.ein X=iota --target=cuda --flags=-O0 -v
says 'launches one by one'
few=$(sed -n 's/.*: \([0-9]*\) launches one by one, .*/\1/p' err)
cp out once
did 'graphs: [1-9][0-9]* made, [1-9]'
plain() { # the last run had the same output
  cmp -s out once || wrong "other numbers: $line"
}
EIN_CUDA_GRAPHS=off want 0 "$EIN" run turns.ein X=iota --target=cuda --flags=-O0 -v
says ' 0 graphs made, 0 launched'
many=$(sed -n 's/.*: \([0-9]*\) launches one by one, .*/\1/p' err)
plain
did 'graphs: 0 made, 0 launched, 0 kernels told'
[ "$((2 * few))" -lt "$many" ] || wrong "of $many launches $few are left"
for fails in capture=1 graph=1 graph=2 graph-set=1 graph-full=2; do
  EIN_STANDIN=$fails want 0 "$EIN" run turns.ein X=iota --target=cuda --flags=-O0
  plain
  did ''
done
EIN_STANDIN=graph-launch=2 want 4 "$EIN" run turns.ein X=iota --target=cuda --flags=-O0
says ', or one before it, failed: an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS); this process'
did ''

# A driver without one of the functions.
mkdir -p old
cp "$standin"/lib*.so.1 "$standin"/lib*.so.13 old
sed 's/cuGraphExecKernelNodeSetParams/cuGraphExecKernelNodeGetNone00/g' "$standin/libcuda.so.1" >old/libcuda.so.1
LD_LIBRARY_PATH=$work/old want 0 "$EIN" run turns.ein X=iota --target=cuda --flags=-O0
plain
did 'graphs: 0 made, 0 launched'

# A library: runs with the same tensors, with two that alternate, with new ones each time; and captured by its caller. Its products are hardly
# larger than cuBLAS is asked for.
cat >step.ein <<'END'
dim N = 104
input A[i:N, k:N] : f32
input x[k:N] : f32
b[i] = sum[k] A[i, k] * x[k]
C[i, j] = sum[k] A[i, k] * A[k, j]
D[i, j] = sum[k] C[i, k] * A[k, j]
output y[i] = b[i] + sum[j] abs(D[i, j]) * x[j]
END
cat >wait.ein <<'END'
input x[k:104] : f32
repeat t < 9 until sum[k] y[k] > 40000 {
  state y[k] = x[k]
  next y[k] = 2 * y[k]
}
output z[k] = y[k]
END
cat >loop.ein <<'END'
dim T
input x[k:104] : f32
input w[t:T] : f32
repeat t < T + 1 {
  state y[k] = x[k]
  repeat u < 3 {
    state z[k] = y[k]
    next z[k] = z[k] + w[min(u, T - 1)]
  }
  repeat v < 2 * t - 3 {
    state a[k] = z[k]
    next a[k] = 0.5 * a[k] + v
  }
  next y[k] = a[k] + v
}
output r[k] = y[k] + t
output t
END
# A number of turns that is constant, or depends only on sizes and outer turns, is not read from the device. Only the outputs and, once, the faults are.
rm -f "$EIN_STANDIN_REPORT"
want 0 "$EIN" verify loop.ein -D T=4 x=iota w=iota --target=cuda --flags=-O0
did ''
want 0 "$EIN" run loop.ein -D T=4 x=iota w=iota --target=cuda --flags=-O0 -v
says '432 bytes went there, 448 came back'
did '; 6 waits' # for the faults, two outputs, and three at the end: what comes is waited for on the device
# A turn whose value the host reads has one wait.
want 0 "$EIN" run wait.ein x=iota --target=cuda --flags=-O0
shows 'z[k:104]'
did '; 9 waits' # for four turns, the faults, the output, and three at the end
# A number of turns that depends on the counter of a finished repeat is read.
cat >over.ein <<'END'
input X[i:48] : f32
repeat u < 4 {
  state s[i] = X[i]
  repeat v < u + 1 {
    state w[i] = s[i]
    next w[i] = w[i] + 1
  }
  next s[i] = w[i]
}
repeat z < 3 {
  state q[i] = s[i]
  next q[i] = q[i] + z
}
output Y[i] = q[i]
END
want 0 "$EIN" build over.ein --target=cuda --stop=task -o over.task
grep -q '^repeat 9..11 z < %4' over.task || wrong "other numbers in over.task"
sed -i 's/^\(buffer %3 work .. : i64 alive\) 3..4/\1 2..9/; s/ z < %4/ z < %3/' over.task
want 0 "$EIN" build over.task --emit=cuda
[ "$(grep -c '(int64_t turns = ein_cuda_i64(ctx, 3);' out)" = 1 ] || wrong "a counter is used after its repeat"
want 0 "$EIN" run over.task X=iota --target=c
cp out once
want 0 "$EIN" run over.task X=iota --target=cuda --flags=-O0
cmp -s out once || wrong "other numbers: $line"
want 0 "$EIN" build step.ein --target=cuda --lib -o lib/ --flags=-O1
want 0 "$EIN" build loop.ein --target=cuda --lib -o lib/ --flags=-O1
want 0 "$EIN" build wait.ein --target=cuda --lib -o lib/ --flags=-O1
cat >calls.c <<'END'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "step.h"
#include "loop.h"
#include "wait.h"
int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuDevicePrimaryCtxRelease_v2(int), cuCtxPushCurrent_v2(void *);
int cuMemAlloc_v2(uint64_t *, size_t), cuMemFree_v2(uint64_t), cuStreamCreate(void **, unsigned), cuStreamDestroy_v2(void *), cuStreamSynchronize(void *);
int cuMemcpyHtoDAsync_v2(uint64_t, const void *, size_t, void *), cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *);
int cuStreamBeginCapture_v2(void *, int), cuStreamEndCapture(void *, void **), cuGraphInstantiateWithFlags(void **, void *, unsigned long long);
int cuGraphLaunch(void *, void *), cuGraphExecDestroy(void *), cuGraphDestroy(void *);

enum { N = 104, PIECES = 6 };
static float A[N][N], x[N], y[N], wanted[N];
static double C[N][N], D[N][N];
static void *context, *stream;
static uint64_t dA, dx[PIECES], dy[PIECES];
static int64_t square[] = {N, N}, row[] = {N};
static void check(int failed, const char *what) { if (failed) printf("%s: %d\n", what, failed), exit(1); }
static ein_tensor view(uint64_t at, int device, int ndim) {
  ein_tensor t = {(void *)(uintptr_t)at, device, 0, ndim, EIN_F32, ndim == 2 ? square : row, NULL, 0};
  return t;
}
static void give(int p, float scale) { /* x is that, and what y is to be */
  for (int i = 0; i < N; i++) x[i] = scale * (float)(i % 7);
  check(cuMemcpyHtoDAsync_v2(dx[p], x, sizeof x, stream) || cuStreamSynchronize(stream), "up");
  for (int i = 0; i < N; i++) {
    double s = 0;
    for (int k = 0; k < N; k++) s += ((double)A[i][k] + fabs(D[i][k])) * (double)x[k];
    wanted[i] = (float)s;
  }
}
static int right(int p) {
  check(cuMemcpyDtoHAsync_v2(y, dy[p], sizeof y, stream) || cuStreamSynchronize(stream), "down");
  for (int i = 0; i < N; i++)
    if (!(fabsf(y[i] - wanted[i]) <= 1e-3f * fabsf(wanted[i]) + 1e-4f)) return printf("y[%d] is %g, not %g\n", i, (double)y[i], (double)wanted[i]), 0;
  return 1;
}
static ein_counts count;
static int run(step_ctx *ctx, int in, int out) {
  step_inputs i = {view(dA, 2, 2), view(dx[in], 2, 1)};
  step_outputs o = {view(dy[out], 2, 1)};
  return step_run(ctx, &i, &o);
}
static void runs(const char *what, step_ctx *ctx, int n, int pieces, int turn) {
  ein_counts was = count;
  int ok = 1;
  for (int i = 0; i < n; i++) {
    int in = i * turn % pieces, out = (i * turn + 1) % pieces;
    give(in, (float)(i + 1));
    ok &= run(ctx, in, out) == 0 && right(out);
  }
  printf("%s: %d, %s graphs made, %d graph launches, %s\n", what, ok, count.graphs > was.graphs ? "new" : "no", (int)(count.graph_launches - was.graph_launches),
         count.launches > was.launches ? "some more launches" : "no others");
}
/* A repeat whose numbers of turns the host knows, in a graph of ours: `t` turns, and what it comes to then. */
static void loops(const ein_config *config) {
  enum { T = 4 };
  static int64_t few[] = {T};
  void *graph, *made;
  float w[T] = {1, 2, 3, 4};
  int64_t turns = 0, wrong = 0;
  uint64_t dw, dt;
  loop_ctx *l = NULL;
  loop_sizes sizes = {.T = T};
  check(cuMemAlloc_v2(&dw, sizeof w) || cuMemAlloc_v2(&dt, sizeof turns) || cuMemcpyHtoDAsync_v2(dw, w, sizeof w, stream), "memory");
  check(loop_create(config, &l) || loop_plan(l, &sizes), "plan");
  loop_inputs in = {.x = view(dx[0], 2, 1), .w = {(void *)(uintptr_t)dw, 2, 0, 1, EIN_F32, few, NULL, 0}};
  loop_outputs out = {.r = view(dy[1], 2, 1), .t = {(void *)(uintptr_t)dt, 2, 0, 0, EIN_I64, NULL, NULL, 0}};
  check(cuStreamBeginCapture_v2(stream, 0), "begin");
  int status = loop_run(l, &in, &out);
  check(cuStreamEndCapture(stream, &graph), "end");
  printf("a repeat captured: %d%s\n", status, status ? loop_last_error(l) : "");
  check(status || cuGraphInstantiateWithFlags(&made, graph, 0), "graph");
  for (int run = 1; run < 4; run++) {
    give(0, (float)run);
    check(cuGraphLaunch(made, stream) || cuMemcpyDtoHAsync_v2(y, dy[1], sizeof y, stream) || cuMemcpyDtoHAsync_v2(&turns, dt, sizeof turns, stream), "launch");
    check(cuStreamSynchronize(stream), "wait");
    for (int k = 0; k < N; k++) {
      float s = x[k];
      for (int t = 0; t <= T; t++) {
        for (int u = 0; u < 3; u++) s += w[u];
        for (int v = 0; v < 2 * t - 3; v++) s = 0.5f * s + (float)v;
        s += (float)(2 * t > 3 ? 2 * t - 3 : 0);
      }
      wrong += !(fabsf(y[k] - (s + T + 1)) <= 1e-4f * fabsf(s));
    }
  }
  printf("%d wrong, %d turns\n", (int)wrong, (int)turns);
  check(cuGraphExecDestroy(made) || cuGraphDestroy(graph), "destroy");
  loop_destroy(l), cuMemFree_v2(dw), cuMemFree_v2(dt);
}
int main(void) {
  void *graph, *made;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) A[i][k] = (float)((i * 5 + k * 3) % 11 - 5) / 16;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) C[i][j] += (double)A[i][k] * (double)A[k][j];
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) D[i][j] += C[i][k] * (double)A[k][j];
  check(cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxPushCurrent_v2(context) || cuStreamCreate(&stream, 1), "device");
  check(cuMemAlloc_v2(&dA, sizeof A) || cuMemcpyHtoDAsync_v2(dA, A, sizeof A, stream), "memory");
  for (int p = 0; p < PIECES; p++) check(cuMemAlloc_v2(&dx[p], sizeof x) || cuMemAlloc_v2(&dy[p], sizeof y), "memory");
  ein_config config = {.size = sizeof config, .stream = stream, .counts = &count};
  step_ctx *ctx = NULL;
  check(step_create(&config, &ctx) || step_plan(ctx, NULL), "plan");
  runs("the same", ctx, 4, 1, 0);
  runs("the same again", ctx, 3, 1, 0);
  runs("in turn", ctx, 6, 2, 1);
  runs("in turn again", ctx, 6, 2, 1);
  runs("others", ctx, 5, 5, 1);

  /* In a graph of ours. */
  give(0, 3);
  check(cuStreamBeginCapture_v2(stream, 0), "begin");
  printf("captured: %d\n", run(ctx, 0, 1));
  step_inputs here = {view((uint64_t)(uintptr_t)A, 1, 2), view(dx[0], 2, 1)};
  step_outputs there = {view(dy[1], 2, 1)};
  int status = step_run(ctx, &here, &there);
  printf("%d %s\n", status, step_last_error(ctx));
  check(cuStreamEndCapture(stream, &graph) || cuGraphInstantiateWithFlags(&made, graph, 0), "end");
  for (int i = 1; i < 4; i++) {
    give(0, (float)i);
    check(cuGraphLaunch(made, stream), "launch");
    if (!right(1)) puts("wrong numbers");
  }
  check(cuGraphExecDestroy(made) || cuGraphDestroy(graph), "destroy");
  runs("behind it", ctx, 2, 1, 0);
  step_destroy(ctx);
  loops(&config);

  wait_ctx *w = NULL;
  check(wait_create(&config, &w) || wait_plan(w, NULL), "plan");
  check(cuStreamBeginCapture_v2(stream, 0), "begin");
  wait_inputs wi = {view(dx[0], 2, 1)};
  wait_outputs wo = {view(dy[0], 2, 1)};
  status = wait_run(w, &wi, &wo);
  printf("%d %s\n", status, wait_last_error(w));
  check(cuStreamEndCapture(stream, &graph) || cuGraphDestroy(graph), "end");
  printf("%d\n", (int)wait_run(w, &wi, &wo));
  wait_destroy(w);
  for (int p = 0; p < PIECES; p++) cuMemFree_v2(dx[p]), cuMemFree_v2(dy[p]);
  cuMemFree_v2(dA), cuStreamDestroy_v2(stream), cuDevicePrimaryCtxRelease_v2(0);
  return 0;
}
END
want 0 cc -std=c99 -D_GNU_SOURCE -O1 calls.c $(pkg-config --cflags --libs lib/step.pc lib/loop.pc lib/wait.pc) -L"$standin" -l:libcuda.so.1 -lm -o calls
cat >wanted <<'END'
the same: 1, new graphs made, 2 graph launches, some more launches
the same again: 1, no graphs made, 3 graph launches, no others
in turn: 1, new graphs made, 6 graph launches, no others
in turn again: 1, no graphs made, 6 graph launches, no others
others: 1, no graphs made, 5 graph launches, no others
captured: 0
6 the stream is being captured, and the run has to wait for the device: A is on the host
behind it: 1, no graphs made, 2 graph launches, no others
a repeat captured: 0
0 wrong, 5 turns
6 the stream is being captured, and the run has to wait for the device: it needs values from the device
0
END
for blas in on off; do
  EIN_CUBLAS=$blas want 0 ./calls
  [ $blas = on ] || sed -i "1s/2 graph launches/3 graph launches/" wanted # the first call of a product is sent at once
  cmp -s out wanted || wrong "EIN_CUBLAS=$blas: the calls say: $(diff wanted out)"
  grep -q "cuBLAS: [1-9]" "$EIN_STANDIN_REPORT"
  [ $? = "$([ $blas = on ]; echo $?)" ] || wrong "EIN_CUBLAS=$blas: $(cat "$EIN_STANDIN_REPORT")"
  did 'graphs: [1-9]'
done
finish
