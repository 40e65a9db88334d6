#!/bin/sh
# suite: ci
# A CUDA library whose caller uses the device too: with tensors there, the caller's stream and workspace, one device of several; and the message if a view
# is not in the memory that it names. On the stand-ins for NVRTC and the driver (tests/cuda/standin).
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tests/cmd/common"
look_alikes

cat >rows.ein <<'END'
dim N, M = 8
input X[i:N, k:M] : f32
param gain : f32 = 0.5
m[i] = max[k] X[i, k]
output Y[i, k] = gain * (X[i, k] - m[i])
output total = sum[i] m[i]
END
cat >look.ein <<'END'
input X[i:6] : f32
input at[j:3] : i64
output Y[j] = X[at[j]]
END
cat >steps.ein <<'END'
input A[i:32, k:32] : f32
input B[i:32, k:32] : f32
input C[i:32, k:32] : f32
D[i, j] = sum[k] A[i, k] * B[k, j]
E[i, j] = f32(i64(sum[k] D[i, k] * C[k, j]) % 7)
output Y[i, j] = sum[k] E[i, k] * A[k, j]
END
want 0 "$EIN" build rows.ein --target=cuda --lib -o lib/ --flags=-O1
want 0 "$EIN" build look.ein --target=cuda --lib -o lib/ --flags=-O1
want 0 "$EIN" build steps.ein --target=cuda --lib -o lib/ --flags=-O1
grep -q 'device_type 2' lib/rows.h || wrong 'the header tells nothing of a device'

cat >calls.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "look.h"
#include "rows.h"
#include "steps.h"

/* Of the driver, as far as a caller wants it here. */
int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuDevicePrimaryCtxRelease_v2(int), cuCtxPushCurrent_v2(void *), cuCtxPopCurrent_v2(void **);
int cuMemAlloc_v2(uint64_t *, size_t), cuMemFree_v2(uint64_t), cuStreamCreate(void **, unsigned), cuStreamDestroy_v2(void *), cuStreamSynchronize(void *);
int cuMemcpyHtoDAsync_v2(uint64_t, const void *, size_t, void *), cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, void *);

enum { N = 5, M = 8 };
static void *context[2], *stream[2], *other;
static float X[N][M], Y[N][M], total;
static int64_t two[] = {N, M}, six[] = {6}, three[] = {3}, at[3] = {5, 0, 2};

static void check(int failed, const char *what) { if (failed) printf("%s: %d\n", what, failed), exit(1); }
static float *there(int device, const void *from, size_t bytes) { /* memory of that device, with these bytes */
  uint64_t p;
  void *was;
  check(cuCtxPushCurrent_v2(context[device]) || cuMemAlloc_v2(&p, bytes), "memory");
  if (from) check(cuMemcpyHtoDAsync_v2(p, from, bytes, stream[device]) || cuStreamSynchronize(stream[device]), "up");
  cuCtxPopCurrent_v2(&was);
  return (float *)(uintptr_t)p;
}
static void back(int device, void *to, const void *from, size_t bytes, void *in) {
  void *was;
  check(cuCtxPushCurrent_v2(context[device]) || cuMemcpyDtoHAsync_v2(to, (uint64_t)(uintptr_t)from, bytes, in) || cuStreamSynchronize(in), "down");
  cuCtxPopCurrent_v2(&was);
}
static void away(int device, void *p) {
  void *was;
  check(cuCtxPushCurrent_v2(context[device]) || cuMemFree_v2((uint64_t)(uintptr_t)p), "memory is given back");
  cuCtxPopCurrent_v2(&was);
}
static ein_tensor view(void *data, int type, int id, int ndim, const int64_t *shape) {
  ein_tensor x = {data, type, id, ndim, EIN_F32, shape, NULL, 0};
  return x;
}
static int right(void) {
  float sum = 0;
  int ok = 1;
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < M; k++) ok &= Y[i][k] == 0.5f * (X[i][k] - X[i][M - 1]);
    sum += X[i][M - 1];
  }
  return ok && total == sum;
}
static void said(const char *what, int status, const rows_ctx *ctx) {
  printf("%s: %d %s\n", what, status, rows_last_error(ctx));
  fflush(stdout);
}

/* Everything on that device; in a stream of ours, or none; in memory of ours, or none. */
static void on(int device, void *in, void *workspace, size_t bytes) {
  float *x = there(device, X, sizeof X), *y = there(device, NULL, sizeof Y), *t = there(device, NULL, sizeof total);
  ein_config config = {.size = sizeof config, .device = device, .stream = in, .workspace = workspace, .workspace_bytes = bytes};
  rows_inputs i = {view(x, 2, device, 2, two), {0}};
  rows_outputs o = {view(y, 2, device, 2, two), view(t, 2, device, 0, NULL)};
  rows_ctx *ctx = NULL;
  memset(Y, 0, sizeof Y), total = 0;
  check(rows_create(&config, &ctx), "create");
  int status = rows_plan(ctx, &(rows_sizes){N});
  if (!status) status = rows_run(ctx, &i, &o);
  if (!status && in) { /* not done yet, as another stream sees it */
    back(device, Y, y, sizeof Y, stream[device]);
    if (right()) puts("a run in a stream of ours was waited for");
  }
  if (!status) back(device, Y, y, sizeof Y, in ? in : stream[device]), back(device, &total, t, sizeof total, stream[device]);
  said(in ? "in our stream" : workspace ? "in our memory" : "on the device", status, ctx);
  if (!status && !right()) puts("wrong numbers");
  if (!status && rows_again(ctx)) puts("not again");
  rows_destroy(ctx);
  away(device, x), away(device, y), away(device, t);
}

/* A tensor of the device of which X or Y is a part: at an offset, with these strides. memory: its elements here. */
typedef struct Part { int64_t offset, strides[2]; int n; } Part;
static ein_tensor part(const Part *p, float *memory, int64_t *room) {
  ein_tensor x = view(memory, 2, 0, 2, two);
  x.byte_offset = (uint64_t)p->offset * sizeof(float);
  room[0] = p->strides[0], room[1] = p->strides[1];
  x.strides = room;
  return x;
}
static void parts(const char *what, Part in, Part out) {
  static float x[1024], y[1024];
  int64_t xs[2], ys[2];
  ein_config config = {.size = sizeof config};
  rows_ctx *ctx = NULL;
  for (int k = 0; k < 1024; k++) x[k] = y[k] = -7;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < M; k++) x[in.offset + i * in.strides[0] + k * in.strides[1]] = X[in.strides[0] ? i : 0][k];
  float *dx = there(0, x, (size_t)in.n * 4), *dy = there(0, y, (size_t)out.n * 4);
  rows_inputs i = {part(&in, dx, xs), {0}};
  rows_outputs o = {part(&out, dy, ys), view(&total, 1, 0, 0, NULL)};
  total = 0;
  check(rows_create(&config, &ctx), "create");
  int status = rows_plan(ctx, &(rows_sizes){N});
  for (int turn = 0; turn < 2 && !status; turn++) {
    status = rows_run(ctx, &i, &o);
    if (!status) back(0, y, dy, (size_t)out.n * 4, stream[0]);
    for (int r = 0; r < N && !status; r++)
      for (int k = 0; k < M; k++) {
        float *to = &y[out.offset + r * out.strides[0] + k * out.strides[1]];
        Y[r][k] = in.strides[0] ? *to : *to + 0.5f * (X[r][k] - X[r][M - 1]) - 0.5f * (X[0][k] - X[0][M - 1]);
        *to = -7;
      }
    for (int k = 0; k < 1024 && !status; k++)
      if (y[k] != -7) status = 1000 + k; /* what is no part of Y has changed */
    if (!status && !right() && (in.strides[0] || total != N * X[0][M - 1])) puts("wrong numbers");
  }
  said(what, status, ctx);
  rows_destroy(ctx);
  away(0, dx), away(0, dy);
}
static void all_parts(void) {
  const Part plain = {0, {M, 1}, N * M}, transposed = {0, {1, N}, N * M}, wide = {3, {2 * M + 1, 2}, 128},
             back_to_front = {N * M - 1, {-M, -1}, N * M}, mixed = {N - 1, {-1, N}, N * M}, same = {2, {0, 1}, 16};
  parts("transposed", transposed, plain);
  parts("a transposed result", plain, transposed);
  parts("every second", wide, wide);
  parts("back to front", back_to_front, mixed);
  parts("the same for all", same, back_to_front);
  parts("over itself", plain, (Part){0, {1, 1}, N * M});
}

/* Three products, of matrices that lie transposed on the device, in memory for five tensors of six. */
static void in_little_memory(void) {
  enum { L = 32, ALL = L * L };
  static float a[3][ALL], y[ALL], want[ALL], next[ALL];
  int64_t shape[] = {L, L}, strides[] = {1, L};
  ein_counts counts = {0};
  ein_config config = {.size = sizeof config, .device_memory = 5 * sizeof y, .counts = &counts};
  steps_ctx *ctx = NULL;
  steps_inputs in;
  ein_tensor *to = &in.A;
  for (int m = 0; m < 3; m++, to++) {
    for (int k = 0; k < ALL; k++) a[m][k] = (float)((k * (m + 3)) % 5 - 2);
    *to = view(there(0, a[m], sizeof y), 2, 0, 2, shape);
    to->strides = strides;
  }
  steps_outputs out = {view(there(0, NULL, sizeof y), 2, 0, 2, shape)};
  out.Y.strides = strides;
  memcpy(want, a[0], sizeof want);
  for (int m = 1; m <= 3; m++) { /* element (i, j) is at j * L + i */
    for (int i = 0; i < L; i++)
      for (int j = 0; j < L; j++) {
        float sum = 0;
        for (int k = 0; k < L; k++) sum += want[k * L + i] * a[m % 3][j * L + k];
        next[j * L + i] = m == 2 ? (float)((((int)sum % 7) + 7) % 7) : sum;
      }
    memcpy(want, next, sizeof want);
  }
  check(steps_create(&config, &ctx), "create");
  int status = steps_plan(ctx, NULL);
  for (int turn = 0; turn < 2 && !status; turn++) {
    status = steps_run(ctx, &in, &out);
    if (!status) back(0, y, out.Y.data, sizeof y, stream[0]);
    if (!status && memcmp(y, want, sizeof y) != 0) puts("wrong numbers");
  }
  printf("in little memory: %d %s %d\n", status, steps_last_error(ctx), (int)counts.runs_spilled);
  steps_destroy(ctx);
  for (int m = 0; m < 3; m++) away(0, (&in.A)[m].data);
  away(0, out.Y.data);
}

/* What is said of views of X, gain, Y. */
static void views(const char *what, ein_tensor x, ein_tensor g, ein_tensor y) {
  rows_ctx *ctx = NULL;
  rows_inputs i = {x, g};
  rows_outputs o = {y, view(&total, 1, 0, 0, NULL)};
  memset(Y, 0, sizeof Y), total = 0;
  check(rows_create(NULL, &ctx) || rows_plan(ctx, &(rows_sizes){N}), "plan");
  int status = rows_run(ctx, &i, &o);
  if (!status && y.device_type == 2) back(0, Y, y.data, sizeof Y, stream[0]);
  said(what, status, ctx);
  if (!status && !right()) puts("wrong numbers");
  rows_destroy(ctx);
}

static void made(const char *what, ein_config config) {
  rows_ctx *ctx = NULL;
  config.size = sizeof config;
  int status = rows_create(&config, &ctx);
  if (!status) status = rows_plan(ctx, &(rows_sizes){N});
  said(what, status, ctx);
  rows_destroy(ctx);
}

/* A kernel that looks at indices: waited for in a stream of ours too, and the device stays in order. */
static void looks(void) {
  float x[6] = {0, 1, 2, 3, 4, 5}, y[3];
  ein_config config = {.size = sizeof config, .stream = stream[0]};
  look_ctx *ctx = NULL;
  float *dx = there(0, x, sizeof x), *dy = there(0, NULL, sizeof y);
  look_inputs i = {view(dx, 2, 0, 1, six), {at, 1, 0, 1, EIN_I64, three, NULL, 0}};
  look_outputs o = {view(dy, 2, 0, 1, three)};
  check(look_create(&config, &ctx) || look_plan(ctx, NULL), "plan");
  check(look_run(ctx, &i, &o), "look");
  back(0, y, dy, sizeof y, stream[0]);
  printf("%g %g %g\n", (double)y[0], (double)y[1], (double)y[2]);
  at[1] = 6;
  printf("%d %s\n", (int)look_run(ctx, &i, &o), look_last_error(ctx));
  look_destroy(ctx);
  away(0, dx), away(0, dy);
}

int main(void) {
  check(cuInit(0), "begin");
  for (int d = 0; d < 2; d++) {
    void *was;
    check(cuDevicePrimaryCtxRetain(&context[d], d) || cuCtxPushCurrent_v2(context[d]) || cuStreamCreate(&stream[d], 1), "device");
    if (!d) check(cuStreamCreate(&other, 0), "stream");
    cuCtxPopCurrent_v2(&was);
  }
  for (int i = 0; i < N; i++)
    for (int k = 0; k < M; k++) X[i][k] = (float)(3 * i + k);
  float gain = 0.5f, *x = there(0, X, sizeof X), *y = there(0, NULL, sizeof Y), *g = there(0, &gain, sizeof gain), *far = there(1, X, sizeof X), *room = there(0, NULL, 4096);
  float shifted[1 + N * M], *ox, *oy = there(0, NULL, sizeof shifted); /* at no multiple of 16 bytes */
  memcpy(shifted + 1, X, sizeof X);
  ox = there(0, shifted, sizeof shifted);
  ein_tensor none = {0}, here = view(X, 1, 0, 2, two), to = view(Y, 1, 0, 2, two);
  on(0, NULL, NULL, 0);
  on(1, NULL, NULL, 0);
  on(0, other, NULL, 0);
  on(0, NULL, room, 4096);
  looks();
  views("all here", here, none, to);
  views("some there", view(x, 2, 0, 2, two), none, to);
  views("the result there", here, view(g, 2, 0, 0, NULL), view(y, 2, 0, 2, two));
  views("at odd places", view(ox + 1, 2, 0, 2, two), none, view(oy + 1, 2, 0, 2, two));
  views("another kind", view(x, 7, 0, 2, two), none, to);
  views("another number", view(x, 2, 1, 2, two), none, to);
  views("another device's", view(far, 2, 0, 2, two), none, to);
  views("the host's as a device's", view(X, 2, 0, 2, two), none, to);
  views("a device's as the host's", view(x, 1, 0, 2, two), none, to);
  views("a result in the host's", here, none, view(Y, 2, 0, 2, two));
  all_parts();
  in_little_memory();
  views("one over the other", view(x, 2, 0, 2, two), none, view(x + 1, 2, 0, 2, two));
  made("no such device", (ein_config){.device = 2});
  made("a stream of another", (ein_config){.device = 1, .stream = other});
  made("no stream", (ein_config){.stream = X});
  made("little memory", (ein_config){.workspace = room, .workspace_bytes = 8});
  made("memory of the host", (ein_config){.workspace = (void *)(((uintptr_t)X / 256 + 1) * 256), .workspace_bytes = 4096});
  made("memory of another", (ein_config){.workspace = (void *)far, .workspace_bytes = 4096});
  away(0, x), away(0, y), away(0, g), away(0, ox), away(0, oy), away(1, far), away(0, room);
  for (int d = 0; d < 2; d++) {
    void *was;
    cuCtxPushCurrent_v2(context[d]);
    cuStreamDestroy_v2(stream[d]);
    if (!d) cuStreamDestroy_v2(other);
    cuCtxPopCurrent_v2(&was);
    cuDevicePrimaryCtxRelease_v2(d);
  }
  setenv("EIN_STANDIN", "launch=1", 1); /* from here on the device is lost */
  made("as before", (ein_config){0});
  views("a kernel fails", here, none, to);
  return 0;
}
END
want 0 cc -std=c99 -D_GNU_SOURCE -O1 calls.c $(pkg-config --cflags --libs lib/rows.pc lib/look.pc lib/steps.pc) -L"$standin" -l:libcuda.so.1 -o calls
EIN_STANDIN=devices=2 EIN_STANDIN_REPORT=$work/report want 0 ./calls
cat >wanted <<'END'
on the device: 0 
on the device: 0 
in our stream: 0 
in our memory: 0 
5 0 2
8 index 1 of X, read for Y: 6 is out of range, its size is 6 (look.ein:3)
all here: 0 
some there: 0 
the result there: 0 
at odd places: 0 
another kind: 6 input X: it is on a device of type 7, but 1, the CPU, or 2, CUDA, is expected (rows.ein:2)
another number: 6 input X: it is on device 1, but the context's is device 0 (rows.ein:2)
another device's: 6 input X: its data is on device 1, but the context's is device 0 (rows.ein:2)
the host's as a device's: 6 input X: its data is in the host's memory, and its device_type says that it is on a device (rows.ein:2)
a device's as the host's: 6 input X: its data is on device 0, and its device_type says that it is on the CPU (rows.ein:2)
a result in the host's: 6 output Y: its data is in the host's memory, and its device_type says that it is on a device (rows.ein:5)
transposed: 0 
a transposed result: 0 
every second: 0 
back to front: 0 
the same for all: 0 
over itself: 6 output Y: its elements overlap each other: label k has the stride 1 (rows.ein:5)
in little memory: 0  2
one over the other: 6 output Y: it shares memory with input X (rows.ein:5)
no such device: 6 there is no device 2: this machine has 2, which count from 0
a stream of another: 6 the stream is not one of device 1, or not of its primary context
no stream: 1 CUDA: the caller's stream: invalid resource handle (CUDA_ERROR_INVALID_HANDLE)
little memory: 10 the workspace has 8 bytes, but 512 are needed
memory of the host: 6 the workspace is not memory of device 0, at a multiple of 256 bytes
memory of another: 6 the workspace is not memory of device 0, at a multiple of 256 bytes
as before: 0 
a kernel fails: 1 CUDA: the kernel 
END
sed -i 's/\(CUDA: the kernel \).*/\1/' out
cmp -s out wanted || wrong "unexpected calls: $(diff wanted out)"
grep -q 'left: 0 pieces of memory, 0 modules, 0 streams, 0 contexts' report || wrong "not all is given back: $(cat report)"
finish
