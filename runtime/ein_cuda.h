/* SPDX-License-Identifier: MIT-0 */
/*
 * What emitted CUDA stands on beside ein_run.h, whose part it is where EIN_CUDA is defined: what kernels see, and what stands
 * in a body in the place of the host's calls. Every buffer has a copy on the device, in row-major order: inputs are
 * brought there when a run begins, outputs back when it has ended well.
 */
#ifndef EIN_CUDA_H
#define EIN_CUDA_H

/* ---- what kernels see ---- */

#ifndef EIN_TURNS
#define EIN_TURNS 1
#endif

/* A gathered index that was out of range; one of them, where there are several. */
typedef struct ein_device_fault { int met, site; int64_t index, extent; } ein_device_fault;
typedef struct ein_device {
  int64_t turn[EIN_TURNS];     /* by depth */
  ein_device_fault *fault;
} ein_device;

/* An emulation says these in its own way: a buffer's pointer, an array of a block, a call. */
#ifndef EIN_EMULATED
#define EIN_GLOBAL(type) type *__restrict__
#define EIN_SHARED(type, name, n) __shared__ type name[n]
#define EIN_ARGUMENT(type, ctx, buffer) ((type *)ein_cuda_at(ctx, buffer))
#define EIN_CALL(kernel, gx, gy, gz, bx, by, bz, ...) kernel<<<dim3(gx, gy, gz), dim3(bx, by, bz)>>>(__VA_ARGS__)
#endif
#undef EIN_UNROLL
#undef EIN_ROLL
#if defined(__CUDACC__)
#define EIN_UNROLL _Pragma("unroll")
#define EIN_ROLL _Pragma("unroll 1")
#else
#define EIN_UNROLL
#define EIN_ROLL
#endif

static __device__ int64_t ein_fault(const ein_device *ctx, int site, int64_t index, int64_t extent) {
  if (atomicCAS(&ctx->fault->met, 0, 1) == 0) {
    ctx->fault->site = site;
    ctx->fault->index = index;
    ctx->fault->extent = extent;
  }
  return 0;
}
static __device__ int64_t ein_within_of(const ein_device *ctx, int64_t index, int64_t extent, int site) {
  return (uint64_t)index < (uint64_t)extent ? index : ein_fault(ctx, site, index, extent);
}
#if defined(__CUDACC_RTC__)
#define ein_within(index, extent, site) ein_within_of(ctx, index, extent, (int)(site))
#else

/* ---- the context's part on the device ---- */

/* ein_inside's `device`. */
typedef struct ein_cuda {
  char *block;                 /* fault, work, inputs and outputs */
  size_t held;
  char *staging;               /* on the host, for what the caller's strides scatter */
  size_t staged;
  void **at;                   /* of each buffer; behind it in one piece of memory */
} ein_cuda;

static ein_cuda *ein_cuda_of(const ein_ctx *ctx) { return (ein_cuda *)ctx->inside->device; }
static EIN_UNUSED void *ein_cuda_at(const ein_ctx *ctx, int buffer) { return ein_cuda_of(ctx)->at[buffer]; }
static size_t ein_cuda_bytes(const ein_ctx *ctx, int buffer) {
  return (size_t)ctx->inside->count[buffer] * ein_dtype_size(ein_buffer_of(ctx, buffer)->dtype);
}

/* Whether it went well. No driver, no device, no memory there, a kernel that failed: the machine's. */
static int ein_cuda_ok(ein_ctx *ctx, cudaError_t e, const char *what) {
  if (e == cudaSuccess) return 1;
  int none = e == cudaErrorNoDevice || e == cudaErrorInsufficientDriver;
  ein_error_set(&ctx->inside->error, e == cudaErrorMemoryAllocation ? EIN_ERR_MEMORY : EIN_ERR_IO, "%s: %s, %s", none ? "no CUDA driver" : "CUDA", what,
                cudaGetErrorString(e));
  return 0;
}

static void ein_cuda_end_of(void *device) {
  ein_cuda *d = (ein_cuda *)device;
  if (d->block) cudaFree(d->block);
  free(d->staging);
  free(d);
}

static ein_cuda *ein_cuda_state(ein_ctx *ctx) {
  ein_inside *in = ctx->inside;
  if (in->device) return ein_cuda_of(ctx);
  ein_cuda *d = (ein_cuda *)calloc(1, sizeof *d + (size_t)(in->tables->n_buffers + 1) * sizeof *d->at);
  if (!d) {
    ein_error_set(&in->error, EIN_ERR_MEMORY, "no memory for a device's part of the context");
    return NULL;
  }
  d->at = (void **)(void *)(d + 1);
  in->device = d;
  in->device_end = ein_cuda_end_of;
  return d;
}

enum { EIN_CUDA_ALIGN = 256 };
static size_t ein_cuda_round(size_t bytes) { return (bytes + EIN_CUDA_ALIGN - 1) / EIN_CUDA_ALIGN * EIN_CUDA_ALIGN; }

/* Where each buffer lies in the block: work as it lies on the host. Gives the block's size. */
static size_t ein_cuda_lay(ein_ctx *ctx, ein_cuda *d, char *block) {
  const ein_inside *in = ctx->inside;
  size_t used = ein_cuda_round(sizeof(ein_device_fault)), end = used;
  for (int w = 0; w < in->n_work; w++) {
    size_t to = used + (size_t)in->offset[w] + ein_cuda_bytes(ctx, in->work[w]);
    if (block) d->at[in->work[w]] = block + used + in->offset[w];
    if (to > end) end = to;
  }
  for (int b = 0; b < in->tables->n_buffers; b++) {
    if (in->tables->buffer[b].space == 2) continue;
    end = ein_cuda_round(end);
    if (block) d->at[b] = block + end;
    end += ein_cuda_bytes(ctx, b);
  }
  return ein_cuda_round(end);
}

static int ein_cuda_room(ein_ctx *ctx, ein_cuda *d) {
  size_t wanted = ein_cuda_lay(ctx, d, NULL);
  if (d->held < wanted) {
    if (d->block) cudaFree(d->block);
    d->block = NULL;
    d->held = 0;
    if (!ein_cuda_ok(ctx, cudaMalloc((void **)&d->block, wanted), "memory for the run")) return 0;
    d->held = wanted;
  }
  ein_cuda_lay(ctx, d, d->block);
  return ein_cuda_ok(ctx, cudaMemset(d->block, 0, sizeof(ein_device_fault)), "a run begins");
}

/* ---- the caller's tensors, there and back ---- */

static char *ein_cuda_stage(ein_ctx *ctx, size_t bytes) {
  ein_cuda *d = ein_cuda_of(ctx);
  if (d->staged >= bytes) return d->staging;
  free(d->staging);
  d->staging = (char *)malloc(bytes);
  d->staged = d->staging ? bytes : 0;
  if (!d->staging) ein_error_set(&ctx->inside->error, EIN_ERR_MEMORY, "no memory to put a tensor in order for the device");
  return d->staging;
}

/* All elements, in row-major order at `row`, from or to where the caller's strides say. */
static void ein_cuda_turn(const ein_ctx *ctx, int buffer, char *row, int there) {
  const ein_buffer *b = ein_buffer_of(ctx, buffer);
  const int64_t *shape = ctx->shape + b->at, *stride = ctx->stride + b->at;
  size_t size = ein_dtype_size(b->dtype);
  int64_t index[EIN_MAX_AXES] = {0}, at = 0;
  char *data = (char *)ctx->data[buffer];
  for (int64_t n = ctx->inside->count[buffer]; n > 0; n--, row += size) {
    if (there) memcpy(row, data + at * (int64_t)size, size);
    else memcpy(data + at * (int64_t)size, row, size);
    for (int k = b->ndim - 1; k >= 0; k--) { /* on to the next element */
      at += stride[k];
      if (++index[k] < shape[k]) break;
      at -= stride[k] * shape[k];
      index[k] = 0;
    }
  }
}

static int ein_cuda_bring(ein_ctx *ctx, int buffer) {
  size_t bytes = ein_cuda_bytes(ctx, buffer);
  char *from = (char *)ctx->data[buffer];
  if (!bytes) return 1;
  if (!ctx->dense[buffer]) {
    from = ein_cuda_stage(ctx, bytes);
    if (!from) return 0;
    ein_cuda_turn(ctx, buffer, from, 1);
  }
  return ein_cuda_ok(ctx, cudaMemcpy(ein_cuda_at(ctx, buffer), from, bytes, cudaMemcpyHostToDevice), "an input goes to the device");
}

static int ein_cuda_fetch(ein_ctx *ctx, int buffer) {
  size_t bytes = ein_cuda_bytes(ctx, buffer);
  int dense = ctx->dense[buffer];
  if (!bytes) return 1;
  char *to = dense ? (char *)ctx->data[buffer] : ein_cuda_stage(ctx, bytes);
  if (!to || !ein_cuda_ok(ctx, cudaMemcpy(to, ein_cuda_at(ctx, buffer), bytes, cudaMemcpyDeviceToHost), "an output comes from the device")) return 0;
  if (!dense) ein_cuda_turn(ctx, buffer, to, 0);
  return 1;
}

/* ---- what a body calls ---- */

/* What kernels have met so far. Gives the context's status. */
static ein_status ein_cuda_settle(ein_ctx *ctx) {
  ein_device_fault f;
  if (ein_state(ctx) != EIN_OK) return ein_state(ctx);
  if (!ein_cuda_ok(ctx, cudaMemcpy(&f, ein_cuda_of(ctx)->block, sizeof f, cudaMemcpyDeviceToHost), "a kernel")) return ein_state(ctx);
  if (f.met) ein_fault(ctx, f.site, f.index, f.extent);
  return ein_cancelled(ctx);
}

static ein_status ein_cuda_begin(ein_ctx *ctx) {
  ein_inside *in = ctx->inside;
  ein_cuda *d = ein_cuda_state(ctx);
  if (!d || !ein_cuda_room(ctx, d)) return ein_state(ctx);
  for (int k = 0; k < in->tables->n_inputs; k++)
    if (in->given[in->input[k]] && !ein_cuda_bring(ctx, in->input[k])) return ein_state(ctx);
  return EIN_OK;
}

static ein_status ein_cuda_finish(ein_ctx *ctx) {
  ein_inside *in = ctx->inside;
  if (ein_cuda_settle(ctx) != EIN_OK) return ein_state(ctx);
  for (int k = 0; k < in->tables->n_outputs; k++)
    if (!ein_cuda_fetch(ctx, in->output[k])) break;
  return ein_state(ctx);
}

static EIN_UNUSED ein_device ein_cuda_now(const ein_ctx *ctx) {
  ein_device d;
  for (int k = 0; k < EIN_TURNS; k++) d.turn[k] = k < ctx->inside->tables->n_turns ? ctx->turn[k] : 0;
  d.fault = (ein_device_fault *)(void *)ein_cuda_of(ctx)->block;
  return d;
}

static EIN_UNUSED void ein_cuda_zero(ein_ctx *ctx, int buffer) {
  size_t bytes = ein_cuda_bytes(ctx, buffer);
  if (bytes) ein_cuda_ok(ctx, cudaMemset(ein_cuda_at(ctx, buffer), 0, bytes), "a tensor becomes 0");
}

static EIN_UNUSED void ein_cuda_default(ein_ctx *ctx, int input, int from) { ein_cuda_of(ctx)->at[input] = ein_cuda_of(ctx)->at[from]; }

static EIN_UNUSED void ein_cuda_exchange(ein_ctx *ctx, int a, int b) {
  void **at = ein_cuda_of(ctx)->at, *was = at[a];
  at[a] = at[b];
  at[b] = was;
}

/* What is looked at on the host waits for what makes it; 0 after a failure. */
static EIN_UNUSED int64_t ein_cuda_i64(ein_ctx *ctx, int buffer) {
  int64_t x = 0;
  if (ein_cuda_settle(ctx) == EIN_OK) ein_cuda_ok(ctx, cudaMemcpy(&x, ein_cuda_at(ctx, buffer), sizeof x, cudaMemcpyDeviceToHost), "a number");
  return x;
}

static EIN_UNUSED int ein_cuda_true(ein_ctx *ctx, int buffer) {
  unsigned char x = 0;
  if (ein_cuda_settle(ctx) == EIN_OK) ein_cuda_ok(ctx, cudaMemcpy(&x, ein_cuda_at(ctx, buffer), sizeof x, cudaMemcpyDeviceToHost), "a condition");
  return x != 0;
}

static EIN_UNUSED void ein_cuda_set_i64(ein_ctx *ctx, int buffer, int64_t value) {
  ein_cuda_ok(ctx, cudaMemcpy(ein_cuda_at(ctx, buffer), &value, sizeof value, cudaMemcpyHostToDevice), "a number");
}

/* Before a launch: whether there is anything to do in it, in a run that has not failed. */
static EIN_UNUSED int ein_cuda_any(ein_ctx *ctx, int64_t gx, int64_t gy, int64_t gz) {
  if (gx <= 0 || gy <= 0 || gz <= 0 || ein_state(ctx) != EIN_OK) return 0;
  if (gx <= 2147483647 && gy <= 65535 && gz <= 65535) return 1;
  ein_error_set(&ctx->inside->error, EIN_ERR_SHAPE, "a launch of %lld by %lld by %lld blocks is more than a device takes", (long long)gx, (long long)gy,
                (long long)gz);
  return 0;
}

#define EIN_LAUNCH(ctx, kernel, gx, gy, gz, bx, by, bz, ...)                                       \
  do {                                                                                             \
    if (!ein_cuda_any(ctx, gx, gy, gz)) break;                                                     \
    EIN_CALL(kernel, (unsigned)(gx), (unsigned)(gy), (unsigned)(gz), bx, by, bz, __VA_ARGS__);     \
    ein_cuda_ok(ctx, cudaGetLastError(), #kernel);                                                 \
  } while (0)

#endif
#endif
