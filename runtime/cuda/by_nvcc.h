/* SPDX-License-Identifier: MIT-0 */
/*
 * A device through NVIDIA's runtime functions, for code that nvcc compiles, including the kernels. The calls
 * are those of by_driver.h, which documents them.
 */
#ifndef EIN_CUDA_BY_NVCC_H
#define EIN_CUDA_BY_NVCC_H

typedef struct ein_gpu { int entered, lent, number; } ein_gpu; /* lent: never here; number: the first device */

/* An emulation defines these calls itself. */
#ifndef EIN_EMULATED
#define EIN_ARGUMENT(type, ctx, buffer) ((type *)ein_cuda_at(ctx, buffer))
#define EIN_CALL(kernel, shared, gx, gy, gz, bx, by, bz, ...)                                   \
  if (shared) cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared); \
  kernel<<<dim3(gx, gy, gz), dim3(bx, by, bz), shared>>>(__VA_ARGS__)
#endif

static int ein_gpu_ok(ein_ctx *ctx, cudaError_t e, const char *what) {
  if (e == cudaSuccess) return 1;
  int none = e == cudaErrorNoDevice || e == cudaErrorInsufficientDriver;
  ein_error_set(&ctx->inside->error, e == cudaErrorMemoryAllocation ? EIN_ERR_MEMORY : EIN_ERR_IO, "%s: %s, %s",
      none ? "no CUDA driver" : "CUDA", what, cudaGetErrorString(e));
  return 0;
}

static int ein_gpu_open(ein_ctx *ctx, ein_gpu *g, const ein_cuda_code *code) {
  (void)g, (void)code;
  if (ctx->inside->config.device <= 0 && !ctx->inside->config.stream && !ctx->inside->config.workspace) return 1;
  return ein_error_set(&ctx->inside->error, EIN_ERR_ARG,
             "code compiled by nvcc runs on the first device, with its own stream and memory"),
         0;
}
static int ein_gpu_points(ein_gpu *g, const void *at, int *device, int *managed) {
  return (void)g, (void)at, *device = *managed = 0;
}
static int ein_gpu_holds(ein_gpu *g, const ein_tensor *x, char *why, size_t room) {
  (void)g;
  if (x->device_type != 1)
    snprintf(why, room, "it is on a device of type %d, but 1, the CPU, is expected", (int)x->device_type);
  return x->device_type == 1;
}
static void ein_gpu_close(ein_gpu *g) { (void)g; }
static int ein_gpu_enter(ein_ctx *ctx, ein_gpu *g) { return (void)ctx, g->entered = 1; }
static void ein_gpu_leave(ein_gpu *g) { g->entered = 0; }
static int ein_gpu_wait(ein_ctx *ctx, ein_gpu *g, const char *what) {
  return (void)g, ein_gpu_ok(ctx, cudaGetLastError(), what);
}
static void *ein_gpu_take(ein_ctx *ctx, ein_gpu *g, size_t bytes, const char *what) {
  void *at = NULL;
  (void)g;
  return ein_gpu_ok(ctx, cudaMalloc(&at, bytes), what) ? at : NULL;
}
static size_t ein_gpu_left(const ein_gpu *g) { return (void)g, SIZE_MAX; } /* not needed: nothing spills */
static void ein_gpu_drop(ein_gpu *g, void *at) { (void)g, (void)cudaFree(at); }
static int ein_gpu_up(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  return (void)g, ein_gpu_ok(ctx, cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), what);
}
static int ein_gpu_put(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  return ein_gpu_up(ctx, g, to, from, bytes, what);
}
static int ein_gpu_down(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  return (void)g, ein_gpu_ok(ctx, cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), what);
}
static int ein_gpu_across(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  return (void)g, ein_gpu_ok(ctx, cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice), what);
}
static int ein_gpu_zero(ein_ctx *ctx, ein_gpu *g, void *at, size_t bytes, const char *what) {
  return (void)g, ein_gpu_ok(ctx, cudaMemset(at, 0, bytes), what);
}
/* No profiler is told of ranges. */
static void ein_gpu_range(ein_ctx *ctx, ein_gpu *g, const char *name, const char *file, int line, const char *what) {
  (void)ctx, (void)g, (void)name, (void)file, (void)line, (void)what;
}
static void ein_gpu_range_end(ein_ctx *ctx, ein_gpu *g) { (void)ctx, (void)g; }
/* Nothing is deferred, and the stream is never the caller's. */
static int ein_gpu_send(ein_ctx *ctx, ein_gpu *g) { return (void)ctx, (void)g, 1; }
static void ein_gpu_end(ein_gpu *g) { (void)g, (void)cudaGetLastError(); }
static EIN_UNUSED void ein_gpu_turned(ein_ctx *ctx, ein_gpu *g, int outer) { (void)ctx, (void)g, (void)outer; }
static int ein_gpu_capture(ein_ctx *ctx, ein_gpu *g) { return (void)ctx, (void)g, 1; }
static int ein_gpu_captures(const ein_gpu *g) { return (void)g, 0; }

#define EIN_LAUNCH(ctx, kernel, shared, gx, gy, gz, bx, by, bz, ...)                               \
  do {                                                                                             \
    if (!ein_cuda_any(ctx, gx, gy, gz)) break;                                                     \
    EIN_CALL(kernel, shared, (unsigned)(gx), (unsigned)(gy), (unsigned)(gz), bx, by, bz, __VA_ARGS__); \
    ein_gpu_ok(ctx, cudaGetLastError(), #kernel);                                                  \
  } while (0)

#endif
