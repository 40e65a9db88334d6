/* SPDX-License-Identifier: MIT-0 */
/*
 * A device through its driver, for C code (EIN_DRIVER) that carries its kernels as an image: memory, copies and
 * launches. A call returns 0 if it fails, with the reason in the context's error; close and leave always
 * succeed. All work goes to one stream, the caller's or one that the context owns. Requests that need not be
 * waited for are first put on a list (asks.h), which is sent before everything that must be.
 */
#ifndef EIN_CUDA_BY_DRIVER_H
#define EIN_CUDA_BY_DRIVER_H

#include "libcuda.h"
#if defined(EIN_PRODUCTS)
#include "libcublas.h"
#endif

#include "asks.h"

typedef struct ein_gpu {
  ein_libcuda cu;
  int number, device;          /* the caller's number, and the driver's */
  void *context, *module, *stream;
  int lent;                    /* the stream is the caller's */
#if defined(EIN_PRODUCTS)
  ein_libcublas blas;
  void *handle, *room;         /* cuBLAS's handle; its workspace on the device; NULL: our kernels do products */
  size_t roomy;                /* of the workspace */
  int away;                    /* the handle is in another stream, which is being captured */
  int old, tf32;               /* a device before 8.0 (our kernels compute bf16 products); tf32 is enabled for f32 (our
                                * kernels compute f32 products) */
  uint64_t known[64];          /* products that it has computed before, by ein_gpu_product_key */
#endif
  void **function;             /* by kernel; NULL: this device has not the shared memory for it */
  int shared;                  /* bytes of shared memory that a block may ask for */
  const ein_cuda_code *code;
  const char *last;            /* the last kernel launched; NULL: none since the last wait */
  ein_gpu_list asks;               /* requests not sent yet */
  ein_graphs graphs;
  ein_counts own, *counts;     /* counts: the caller's, or own */
  int captured;                /* the caller is capturing the stream: this run cannot wait, and makes no graphs */
  int entered;                 /* its context is current in this thread */
  int ranges, ranged;          /* a profiler listens; a range has begun */
  int dead;                    /* the driver's error after which nothing works in this process; 0: none */
} ein_gpu;

/* Whether an error has destroyed the context or the device: an address, a timeout, an assert, the stack, an
 * instruction, the program counter, another launch failure; a memory or link error. */
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
      ein_error_set(error, EIN_ERR_IO,
          "CUDA: the kernel %.80s, or one before it, failed: %s; this process can no longer use the device", kernel,
          words.text);
    else ein_error_set(error, EIN_ERR_IO, "CUDA: %s: %s; this process can no longer use the device", what, words.text);
  } else
    ein_error_set(error, e == EIN_CU_MEMORY ? EIN_ERR_MEMORY : EIN_ERR_IO, "CUDA: %s: %s", what, words.text);
  return 0;
}

/* Makes its context current in the thread, until ein_gpu_leave restores the previous one. */
static int ein_gpu_enter(ein_ctx *ctx, ein_gpu *g) {
  if (g->dead) {
    ein_error_set(&ctx->inside->error, EIN_ERR_IO,
        "CUDA: a kernel of an earlier run failed, %s: only a new process can use the device",
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

/* Selects an image. Machine code runs on devices of its own generation that are as new or newer; PTX runs on
 * all such devices. Returns NULL, with an error, if none runs on this device. */
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
    if (fits && (!best || x->machine > best->machine || (x->machine == best->machine && x->arch > best->arch)))
      best = x;
    if (at < (int)sizeof have)
      at += snprintf(
          have + at, sizeof have - (size_t)at, "%s%s_%d", k ? ", " : "", x->machine ? "sm" : "compute", x->arch);
  }
  if (!best)
    ein_error_set(&ctx->inside->error, EIN_ERR_IO,
        "the kernels were compiled for %s, and this device has compute capability %d.%d: build for it too, by "
        "--arch=sm_%d%d",
        have, major, minor, major, minor);
  return best;
}

static int ein_gpu_load(ein_ctx *ctx, ein_gpu *g) {
  const ein_cuda_code *code = g->code;
  if (!code->n_kernels) return 1;
  const ein_cuda_image *image = ein_gpu_image(ctx, g);
  if (!image) return 0;
  int e = g->cu.module_load(&g->module, image->at);
  if (e == EIN_CU_PTX_VERSION)
    return ein_error_set(&ctx->inside->error, EIN_ERR_IO,
               "the CUDA driver is too old for the kernels: they were compiled by a newer CUDA; update "
               "the driver, or compile with its CUDA"),
           0;
  if (e == EIN_CU_NO_IMAGE)
    return ein_error_set(&ctx->inside->error, EIN_ERR_IO,
               "the kernels were compiled for other devices than this one: compile them here"),
           0;
  if (!ein_gpu_ok(ctx, g, e, "the kernels are loaded")) return 0;
  if (g->cu.device_attribute(&g->shared, EIN_CU_SHARED, g->device)) g->shared = 0;
  for (int k = 0; k < code->n_kernels; k++) {
    void **function = &g->function[k];
    if (!ein_gpu_ok(ctx, g, g->cu.module_function(function, g->module, code->kernel[k]), code->kernel[k])) return 0;
    if (!code->shared[k]) continue;
    if (code->shared[k] > (unsigned)g->shared) *function = NULL; /* an error only if it is launched */
    else if (!ein_gpu_ok(ctx, g, g->cu.function_set(*function, EIN_CU_FUNCTION_SHARED, (int)code->shared[k]),
                 code->kernel[k]))
      return 0;
  }
  return 1;
}

static int ein_gpu_shares(ein_ctx *ctx, ein_gpu *g, int kernel) {
  if (g->function[kernel]) return 1;
  return ein_error_set(&ctx->inside->error, EIN_ERR_IO,
             "the kernel %.80s needs %u bytes of shared memory for a block, and a block of device %d has at most %d",
             g->code->kernel[kernel], g->code->shared[kernel], g->number, g->shared),
         0;
}

static int ein_gpu_products(ein_ctx *ctx, ein_gpu *g);
static void ein_gpu_products_end(ein_gpu *g);
static void ein_graphs_end(ein_gpu *g);
static int ein_gpu_send(ein_ctx *ctx, ein_gpu *g);

#include "ranges.h"

static void ein_gpu_close(ein_gpu *g) {
  void *own;
  if (g->context && !g->cu.context_push(g->context)) {
    if (g->stream) g->cu.stream_wait(g->stream);
    ein_graphs_end(g);
    ein_gpu_products_end(g);
    if (g->module) g->cu.module_unload(g->module);
    if (g->stream && !g->lent) g->cu.stream_end(g->stream);
    g->cu.context_pop(&own);
  }
  if (g->context) g->cu.context_release(g->device);
  free(g->function);
  free(g->asks.word);
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
  return ein_error_set(&ctx->inside->error, EIN_ERR_ARG, "there is no device %d: this machine has %d, which %s",
             g->number, n, n == 1 ? "is device 0" : "count from 0"),
         0;
}

/* A caller's stream must belong to the context that NVIDIA's runtime and everything built on it uses: the
 * device's primary context. */
static int ein_gpu_stream(ein_ctx *ctx, ein_gpu *g) {
  void *lent = ctx->inside->config.stream, *of = NULL;
  if (!lent) return ein_gpu_ok(ctx, g, g->cu.stream_new(&g->stream, EIN_CU_OWN_STREAM), "a stream");
  if (!ein_gpu_ok(ctx, g, g->cu.stream_context(lent, &of), "the caller's stream")) return 0;
  if (of != g->context)
    return ein_error_set(&ctx->inside->error, EIN_ERR_ARG,
               "the stream is not one of device %d, or not of its primary context", g->number),
           0;
  g->stream = lent;
  g->lent = 1;
  return 1;
}

/* ein_gpu_close releases everything, also if this fails. */
static int ein_gpu_open(ein_ctx *ctx, ein_gpu *g, const ein_cuda_code *code) {
  const char *graphs = getenv("EIN_CUDA_GRAPHS");
  if (!ein_libcuda_open(&g->cu, &ctx->inside->error)) return 0;
  g->graphs.off = graphs && strcmp(graphs, "off") == 0;
  g->counts = ctx->inside->config.counts ? ctx->inside->config.counts : &g->own;
  g->ranges = ein_nvtx_open();
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

/* Returns 0 if the address is not in device memory; sets which device, and whether the memory is managed. A
 * dead device is reported later. */
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

/* Whether a view is in the memory that it names; else 0, and why. */
static int ein_gpu_holds(ein_gpu *g, const ein_tensor *x, char *why, size_t room) {
  const char *data = (const char *)x->data + x->byte_offset;
  int device = 0, managed = 0, there, n = 0;
  if (x->device_type != 1 && x->device_type != 2)
    n = snprintf(
        why, room, "it is on a device of type %d, but 1, the CPU, or 2, CUDA, is expected", (int)x->device_type);
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

/* Called before waiting: sends all requests. Fails if the caller is capturing the stream. */
static int ein_gpu_waits(ein_ctx *ctx, ein_gpu *g) {
  if (g->captured)
    return ein_error_set(&ctx->inside->error, EIN_ERR_ARG,
               "the stream is being captured, and the run has to wait for the device: it needs values from the device"),
           0;
  return ein_gpu_send(ctx, g);
}

/* Waits for everything requested of the device so far. */
static int ein_gpu_wait(ein_ctx *ctx, ein_gpu *g, const char *what) {
  int ok = ein_gpu_waits(ctx, g) && ein_gpu_ok(ctx, g, g->cu.stream_wait(g->stream), what);
  if (ok) g->last = NULL;
  return ok;
}

static void *ein_gpu_take(ein_ctx *ctx, ein_gpu *g, size_t bytes, const char *what) {
  uint64_t at = 0;
  size_t left = 0, all = 0;
  int e = g->cu.memory_take(&at, bytes);
  if (e != EIN_CU_MEMORY) return ein_gpu_ok(ctx, g, e, "memory for the run") ? (void *)(uintptr_t)at : NULL;
  if (g->cu.memory_info(&left, &all)) left = all = 0;
  ein_error_set(&ctx->inside->error, EIN_ERR_MEMORY,
      "no memory on the device: %s %llu bytes there, and %llu of %llu are free", what, (unsigned long long)bytes,
      (unsigned long long)left, (unsigned long long)all);
  return NULL;
}

/* The bytes of the device that are free. */
static size_t ein_gpu_left(const ein_gpu *g) {
  size_t left = 0, all = 0;
  return g->cu.memory_info(&left, &all) ? SIZE_MAX : left;
}

static void ein_gpu_drop(ein_gpu *g, void *at) {
  void *own;
  if (!at || g->cu.context_push(g->context)) return;
  if (g->stream) g->cu.stream_wait(g->stream); /* a run in the caller's stream may still use it */
  g->cu.memory_drop((uint64_t)(uintptr_t)at);
  g->cu.context_pop(&own);
}

/* Copies from page-locked host memory; complete only after a wait. */
static int ein_gpu_up_later(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  if (!ein_gpu_waits(ctx, g)) return 0;
  g->counts->bytes_up += bytes;
  return ein_gpu_ok(ctx, g, g->cu.copy_up((uint64_t)(uintptr_t)to, from, bytes, g->stream), what);
}

static int ein_gpu_down_later(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  if (!ein_gpu_waits(ctx, g)) return 0;
  g->counts->bytes_down += bytes;
  return ein_gpu_ok(ctx, g, g->cu.copy_down(to, (uint64_t)(uintptr_t)from, bytes, g->stream), what);
}

/* Copies; `from` may change after this returns. */
static int ein_gpu_up(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  return ein_gpu_up_later(ctx, g, to, from, bytes, what) && ein_gpu_wait(ctx, g, what);
}

/* Copies; the data are there when this returns. */
static int ein_gpu_down(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  return ein_gpu_down_later(ctx, g, to, from, bytes, what) && ein_gpu_wait(ctx, g, what);
}

#if defined(EIN_SITES)
/* Allocates page-locked host memory. */
static void *ein_gpu_host_take(ein_ctx *ctx, ein_gpu *g, size_t bytes) {
  void *at = NULL;
  return ein_gpu_ok(ctx, g, g->cu.host_take(&at, bytes), "host memory for data sent to other sites") ? at : NULL;
}

static void ein_gpu_host_drop(ein_gpu *g, void *at) {
  void *own;
  if (!at || g->cu.context_push(g->context)) return;
  g->cu.host_drop(at);
  g->cu.context_pop(&own);
}

#endif

static uint64_t *ein_gpu_ask(ein_ctx *ctx, ein_gpu *g, uint64_t kind, size_t words) {
  uint64_t *w = ein_asks_more(&g->asks, kind, words);
  if (!w) ein_error_set(&ctx->inside->error, EIN_ERR_MEMORY, "no memory for the list of device requests");
  return w;
}

/* Ends a request, whose words are now filled in. */
static int ein_gpu_asked(ein_ctx *ctx, ein_gpu *g) {
  ein_asks_close(&g->asks);
  return g->asks.n < EIN_ASKS_MOST || ein_gpu_send(ctx, g);
}

/* Copies within the device, after earlier requests. */
static int ein_gpu_across(ein_ctx *ctx, ein_gpu *g, void *to, const void *from, size_t bytes, const char *what) {
  uint64_t *w = ein_gpu_ask(ctx, g, EIN_ASK_ACROSS, 4);
  if (!w) return 0;
  w[0] = (uint64_t)(uintptr_t)to, w[1] = (uint64_t)(uintptr_t)from, w[2] = bytes, w[3] = (uint64_t)(uintptr_t)what;
  return ein_gpu_asked(ctx, g);
}

static int ein_gpu_fill(ein_ctx *ctx, ein_gpu *g, void *at, size_t bytes, unsigned char byte, const char *what) {
  uint64_t *w = ein_gpu_ask(ctx, g, EIN_ASK_FILL, 4);
  if (!w) return 0;
  w[0] = (uint64_t)(uintptr_t)at, w[1] = bytes, w[2] = byte, w[3] = (uint64_t)(uintptr_t)what;
  return ein_gpu_asked(ctx, g);
}

static int ein_gpu_zero(ein_ctx *ctx, ein_gpu *g, void *at, size_t bytes, const char *what) {
  return ein_gpu_fill(ctx, g, at, bytes, 0, what);
}

/* Copies a few bytes as fills, without a wait. `from` may change once this returns. */
static int ein_gpu_put(ein_ctx *ctx, ein_gpu *g, void *at, const void *from, size_t bytes, const char *what) {
  const unsigned char *byte = (const unsigned char *)from;
  for (size_t k = 0, end; k < bytes; k = end) {
    for (end = k + 1; end < bytes && byte[end] == byte[k];) end++;
    if (!ein_gpu_fill(ctx, g, (char *)at + k, end - k, byte[k], what)) return 0;
  }
  return 1;
}

/* parameter: n of 8 bytes each; now: one more after them; NULL: the kernel takes none. */
static EIN_UNUSED int ein_gpu_launch(ein_ctx *ctx, ein_gpu *g, int kernel, const unsigned *grid, const unsigned *block,
    const uint64_t *parameter, int n, const ein_device *now) {
  size_t more = now ? sizeof *now / sizeof(uint64_t) : 0;
  if (!ein_gpu_shares(ctx, g, kernel)) return 0;
  uint64_t *w = ein_gpu_ask(ctx, g, EIN_ASK_LAUNCH, EIN_ASK_GIVEN + (size_t)n + more);
  if (!w) return 0;
  w[0] = (uint64_t)kernel, w[7] = (uint64_t)n, w[8] = more;
  for (int k = 0; k < 3; k++) w[1 + k] = grid[k], w[4 + k] = block[k];
  memcpy(w + EIN_ASK_GIVEN, parameter, (size_t)n * sizeof *w);
  if (now) memcpy(w + EIN_ASK_GIVEN + n, now, sizeof *now);
  return ein_gpu_asked(ctx, g);
}

/* Launches at once; in the run's stream, after sending the list. Parameters may have any type, and are read before this
 * returns. */
static int ein_gpu_launch_now(ein_ctx *ctx, ein_gpu *g, void *stream, int kernel, const unsigned *grid,
    const unsigned *block, void **parameter) {
  const char *was;
  int e;
  if (stream == g->stream && !ein_gpu_send(ctx, g)) return 0;
  was = g->last;
  g->last = g->code->kernel[kernel];
  g->counts->launches++;
  e = g->cu.launch(
      g->function[kernel], grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, stream, parameter, NULL);
  if (ein_gpu_lost(e) && was) g->last = was; /* the error is from earlier kernels */
  return ein_gpu_ok(ctx, g, e, g->code->kernel[kernel]);
}

#include "by_cublas.h"
#include "graphs.h"

#endif
