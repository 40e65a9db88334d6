/* SPDX-License-Identifier: MIT-0 */
/*
 * A device by its driver, for a text in C (EIN_DRIVER) that has its kernels as an image: what is done with memory, moves and launches. Each call
 * gives 0 where it fails, and the context's error says why then; close and leave always succeed. All that is asked of the device goes into one
 * stream, the caller's or one of the context's own.
 */
#ifndef EIN_CUDA_BY_DRIVER_H
#define EIN_CUDA_BY_DRIVER_H

#include "libcuda.h"
#if defined(EIN_PRODUCTS)
#include "libcublas.h"
#endif

typedef struct ein_gpu {
  ein_libcuda cu;
  int number, device;          /* the caller's number of it, and the driver's */
  void *context, *module, *stream;
  int lent;                    /* the stream is the caller's */
#if defined(EIN_PRODUCTS)
  ein_libcublas blas;
  void *handle, *room;         /* cuBLAS's, and memory of the device for what it works in; NULL: products are our kernels' */
  int old, tf32;               /* devices before 8.0; somebody has f32 be tf32: of these our kernels make products of bf16, of f32 */
#endif
  void **function;             /* of each kernel */
  const ein_cuda_code *code;
  const char *last;            /* the kernel that was launched last; NULL: none since the last wait */
  int entered;                 /* its context is the thread's current one */
  int dead;                    /* the driver's error after which nothing works any more in this process; 0: none */
} ein_gpu;

/* A kernel has failed in such a way that the context is lost, or the device is: an address, the time, an assert, the stack, an instruction, the program's
 * counter, any other failure; memory or a link that is broken. */
static int ein_gpu_lost(int e) {
  return e == 700 || e == 702 || e == 709 || e == 710 || (e >= 714 && e <= 719) || e == 214 || e == 220;
}

static int ein_gpu_ok(ein_ctx *ctx, ein_gpu *g, int e, const char *what) {
  ein_error *error = &ctx->inside->error;
  if (!e) return 1;
  const char *kernel = g->last ? g->last : "";
  ein_cuda_words words = ein_libcuda_words(&g->cu, e);
  if (ein_gpu_lost(e)) {
    g->dead = e;
    if (g->last)
      ein_error_set(error, EIN_ERR_IO, "CUDA: the kernel %.80s, or one before it, failed: %s; this process can use the device no more", kernel,
                    words.text);
    else ein_error_set(error, EIN_ERR_IO, "CUDA: %s: %s; this process can use the device no more", what, words.text);
  } else
    ein_error_set(error, e == EIN_CU_MEMORY ? EIN_ERR_MEMORY : EIN_ERR_IO, "CUDA: %s: %s", what, words.text);
  return 0;
}

/* In the thread's way, until ein_gpu_leave gives back what was current. */
static int ein_gpu_enter(ein_ctx *ctx, ein_gpu *g) {
  if (g->dead) {
    ein_error_set(&ctx->inside->error, EIN_ERR_IO, "CUDA: a kernel of an earlier run failed, %s: only a new process can use the device",
                  ein_libcuda_words(&g->cu, g->dead).text);
    return 0;
  }
  return g->entered = ein_gpu_ok(ctx, g, g->cu.context_push(g->context), "the device's context");
}

static void ein_gpu_leave(ein_gpu *g) {
  void *own;
  if (g->entered) g->cu.context_pop(&own);
  g->entered = 0;
}

/* Machine code runs on devices of its own generation that are as new or newer; PTX, on all that are. NULL: none of it runs on this device, and why. */
static const ein_cuda_image *ein_gpu_image(ein_ctx *ctx, ein_gpu *g) {
  const ein_cuda_code *code = g->code;
  const ein_cuda_image *best = NULL;
  int major = 0, minor = 0;
  char have[200] = "";
  if (!ein_gpu_ok(ctx, g, g->cu.device_attribute(&major, EIN_CU_MAJOR, g->device), "the device") ||
      !ein_gpu_ok(ctx, g, g->cu.device_attribute(&minor, EIN_CU_MINOR, g->device), "the device"))
    return NULL;
  for (int k = 0, at = 0; k < code->n_images; k++) {
    const ein_cuda_image *x = &code->image[k];
    int fits = x->arch <= 10 * major + minor && (!x->machine || x->arch / 10 == major);
    if (fits && (!best || x->machine > best->machine || (x->machine == best->machine && x->arch > best->arch))) best = x;
    if (at < (int)sizeof have) at += snprintf(have + at, sizeof have - (size_t)at, "%s%s_%d", k ? ", " : "", x->machine ? "sm" : "compute", x->arch);
  }
  if (!best)
    ein_error_set(&ctx->inside->error, EIN_ERR_IO, "the kernels were compiled for %s, and this device has compute capability %d.%d: build for it too, by "
                  "--arch=sm_%d%d", have, major, minor, major, minor);
  return best;
}

static int ein_gpu_load(ein_ctx *ctx, ein_gpu *g) {
  const ein_cuda_code *code = g->code;
  if (!code->n_kernels) return 1;
  const ein_cuda_image *image = ein_gpu_image(ctx, g);
  if (!image) return 0;
  int e = g->cu.module_load(&g->module, image->at);
  if (e == EIN_CU_PTX_VERSION)
    return ein_error_set(&ctx->inside->error, EIN_ERR_IO, "the CUDA driver is too old for the kernels: they were compiled by a newer CUDA; update "
                         "the driver, or compile with its CUDA"), 0;
  if (e == EIN_CU_NO_IMAGE)
    return ein_error_set(&ctx->inside->error, EIN_ERR_IO, "the kernels were compiled for other devices than this one: compile them here"), 0;
  if (!ein_gpu_ok(ctx, g, e, "the kernels are loaded")) return 0;
  for (int k = 0; k < code->n_kernels; k++)
    if (!ein_gpu_ok(ctx, g, g->cu.module_function(&g->function[k], g->module, code->kernel[k]), code->kernel[k])) return 0;
  return 1;
}

static int ein_gpu_products(ein_ctx *ctx, ein_gpu *g);
static void ein_gpu_products_end(ein_gpu *g);

static void ein_gpu_close(ein_gpu *g) {
  void *own;
  if (g->context && !g->cu.context_push(g->context)) {
    if (g->stream) g->cu.stream_wait(g->stream);
    ein_gpu_products_end(g);
    if (g->module) g->cu.module_unload(g->module);
    if (g->stream && !g->lent) g->cu.stream_end(g->stream);
    g->cu.context_pop(&own);
  }
  if (g->context) g->cu.context_release(g->device);
  free(g->function);
  memset(g, 0, sizeof *g);
}

static int ein_gpu_find(ein_ctx *ctx, ein_gpu *g) {
  const ein_wire *wire = ctx->inside->config.wire;
  int n = 0;
  g->number = ctx->inside->config.device;
  if (!ein_gpu_ok(ctx, g, g->cu.device_count(&n), "the number of devices")) return 0;
  if (!g->number && wire && n) g->number = wire->place % n;
  if (g->number < 0) g->number = 0;
  if (g->number < n) return ein_gpu_ok(ctx, g, g->cu.device_get(&g->device, g->number), "the device");
  return ein_error_set(&ctx->inside->error, EIN_ERR_ARG, "there is no device %d: this machine has %d, which %s", g->number, n,
                       n == 1 ? "is device 0" : "count from 0"), 0;
}

/* The caller's has to be of the context that NVIDIA's runtime has, and all that stands on that: the device's primary one. */
static int ein_gpu_stream(ein_ctx *ctx, ein_gpu *g) {
  void *lent = ctx->inside->config.stream, *of = NULL;
  if (!lent) return ein_gpu_ok(ctx, g, g->cu.stream_new(&g->stream, EIN_CU_OWN_STREAM), "a stream");
  if (!ein_gpu_ok(ctx, g, g->cu.stream_context(lent, &of), "the caller's stream")) return 0;
  if (of != g->context)
    return ein_error_set(&ctx->inside->error, EIN_ERR_ARG, "the stream is not one of device %d, or not of its primary context", g->number), 0;
  g->stream = lent;
  g->lent = 1;
  return 1;
}

/* What was begun is undone by ein_gpu_close, also where this fails. */
static int ein_gpu_open(ein_ctx *ctx, ein_gpu *g, const ein_cuda_code *code) {
  if (!ein_libcuda_open(&g->cu, &ctx->inside->error)) return 0;
  g->code = code;
  g->function = (void **)calloc((size_t)code->n_kernels + 1, sizeof *g->function);
  if (!g->function) return ein_error_set(&ctx->inside->error, EIN_ERR_MEMORY, "no memory for a table of kernels"), 0;
  if (!ein_gpu_find(ctx, g)) return 0;
  int e = g->cu.context_retain(&g->context, g->device);
  if (e) g->context = NULL;
  if (!ein_gpu_ok(ctx, g, e, "the device's context") || !ein_gpu_enter(ctx, g)) return 0;
  int ok = ein_gpu_stream(ctx, g) && ein_gpu_load(ctx, g) && ein_gpu_products(ctx, g);
  ein_gpu_leave(g);
  return ok;
}

/* 0: not on this device's memory. A device that is dead is told of later. */
static int ein_gpu_points(ein_gpu *g, const void *at, int *device, int *managed) {
  unsigned type = 0, shared = 0;
  uint64_t p = (uint64_t)(uintptr_t)at;
  *managed = 0;
  *device = g->number;
  if (g->dead) return 1;
  if (g->cu.pointer_attribute(&type, EIN_CU_POINTER_TYPE, p) || type != EIN_CU_ON_DEVICE) return 0;
  *managed = !g->cu.pointer_attribute(&shared, EIN_CU_POINTER_MANAGED, p) && shared;
  return *managed || !g->cu.pointer_attribute(device, EIN_CU_POINTER_DEVICE, p);
}

/* Whether a view is where it says; else 0, and why. */
static int ein_gpu_holds(ein_gpu *g, const ein_tensor *x, char *why, size_t room) {
  const char *data = (const char *)x->data + x->byte_offset;
  int device = 0, managed = 0, there, n = 0;
  if (x->device_type != 1 && x->device_type != 2)
    n = snprintf(why, room, "it is on a device of type %d, but 1, the CPU, or 2, CUDA, is wanted", (int)x->device_type);
  else if (x->device_type == 2 && x->device_id != g->number)
    n = snprintf(why, room, "it is on device %d, but the context's is device %d", (int)x->device_id, g->number);
  if (n || !x->data) return n == 0;
  there = ein_gpu_points(g, data, &device, &managed);
  if (x->device_type == 1 && there && !managed && !g->dead)
    n = snprintf(why, room, "its data is on device %d, and its device_type says that it is on the CPU", device);
  else if (x->device_type == 2 && !there)
    n = snprintf(why, room, "its data is in the host's memory, and its device_type says that it is on a device");
  else if (x->device_type == 2 && device != g->number && !managed)
    n = snprintf(why, room, "its data is on device %d, but the context's is device %d", device, g->number);
  return n == 0;
}

/* For all that was asked of the device so far. */
static int ein_gpu_wait(ein_ctx *ctx, ein_gpu *g, const char *what) {
  int ok = ein_gpu_ok(ctx, g, g->cu.stream_wait(g->stream), what);
  if (ok) g->last = NULL;
  return ok;
}

static void *ein_gpu_take(ein_ctx *ctx, ein_gpu *g, size_t bytes, const char *what) {
  uint64_t at = 0;
  size_t left = 0, all = 0;
  int e = g->cu.memory_take(&at, bytes);
  if (e != EIN_CU_MEMORY) return ein_gpu_ok(ctx, g, e, "memory for the run") ? (void *)(uintptr_t)at : NULL;
  if (g->cu.memory_info(&left, &all)) left = all = 0;
  ein_error_set(&ctx->inside->error, EIN_ERR_MEMORY, "no memory on the device: %s %llu bytes there, and %llu of %llu are free", what,
                (unsigned long long)bytes, (unsigned long long)left, (unsigned long long)all);
  return NULL;
}

static void ein_gpu_drop(ein_gpu *g, void *at) {
  void *own;
  if (!at || g->cu.context_push(g->context)) return;
  if (g->stream) g->cu.stream_wait(g->stream); /* a run in the caller's stream may use it still */
  g->cu.memory_drop((uint64_t)(uintptr_t)at);
  g->cu.context_pop(&own);
}

/* When this is back, `from` may change. */
static int ein_gpu_up(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  return ein_gpu_ok(ctx, g, g->cu.copy_up((uint64_t)(uintptr_t)to, from, bytes, g->stream), what) && ein_gpu_wait(ctx, g, what);
}

/* When this is back, it is there. */
static int ein_gpu_down(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  return ein_gpu_ok(ctx, g, g->cu.copy_down(to, (uint64_t)(uintptr_t)from, bytes, g->stream), what) && ein_gpu_wait(ctx, g, what);
}

#if defined(EIN_SITES)
/* Memory of the host that the device reaches by itself. */
static void *ein_gpu_host_take(ein_ctx *ctx, ein_gpu *g, size_t bytes) {
  void *at = NULL;
  return ein_gpu_ok(ctx, g, g->cu.host_take(&at, bytes), "memory of the host for what goes to other sites") ? at : NULL;
}

static void ein_gpu_host_drop(ein_gpu *g, void *at) {
  void *own;
  if (!at || g->cu.context_push(g->context)) return;
  g->cu.host_drop(at);
  g->cu.context_pop(&own);
}

/* The same, of such memory: it is done when that is waited for. */
static int ein_gpu_up_later(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  return ein_gpu_ok(ctx, g, g->cu.copy_up((uint64_t)(uintptr_t)to, from, bytes, g->stream), what);
}

static int ein_gpu_down_later(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  return ein_gpu_ok(ctx, g, g->cu.copy_down(to, (uint64_t)(uintptr_t)from, bytes, g->stream), what);
}
#endif

/* From the device to the device, behind what was asked before. */
static int ein_gpu_across(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  return ein_gpu_ok(ctx, g, g->cu.copy_across((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, bytes, g->stream), what);
}

static int ein_gpu_zero(ein_ctx *ctx, ein_gpu *g, void *at, size_t bytes, const char *what) {
  return ein_gpu_ok(ctx, g, g->cu.fill((uint64_t)(uintptr_t)at, 0, bytes, g->stream), what);
}

static EIN_UNUSED int ein_gpu_launch(ein_ctx *ctx, ein_gpu *g, int kernel, const unsigned *grid, const unsigned *block, void **parameter) {
  const char *was = g->last;
  g->last = g->code->kernel[kernel];
  int e = g->cu.launch(g->function[kernel], grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, g->stream, parameter, NULL);
  if (ein_gpu_lost(e) && was) g->last = was; /* it tells of those before */
  return ein_gpu_ok(ctx, g, e, g->code->kernel[kernel]);
}

#include "by_cublas.h"

#endif
