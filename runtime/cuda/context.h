/* SPDX-License-Identifier: MIT-0 */
/*
 * A context's state on a device, and the functions that a body calls instead of the host's. A run's memory is
 * one block on the device, allocated when sizes are bound. Tensors already on the device are used in place.
 * Others are copied, in row-major order, to a second block, allocated when a run first needs it: beside the kernels
 * (copying.h) or, where rows are not told, inputs when the run begins and outputs when it has succeeded. The device
 * itself is in by_driver.h or by_nvcc.h.
 */
#ifndef EIN_CUDA_CONTEXT_H
#define EIN_CUDA_CONTEXT_H

#include <stdio.h>
#include <stdlib.h>

/* The kernels of code that carries them as images. Each image contains all kernels, as machine code for one
 * kind of device, or as PTX, which the driver compiles. arch: 90 is compute
 * capability 9.0; machine: not PTX. */
typedef struct ein_cuda_image { int arch, machine; const void *at; } ein_cuda_image;
typedef struct ein_cuda_code {
  const ein_cuda_image *image;
  int n_images;
  const char *const *kernel;   /* their names */
  const unsigned *shared;      /* bytes of a block's shared memory that each asks for; 0: it has what it needs */
  int n_kernels;
  int boxes[4];                /* the kernels that move boxes of elements of 1, 2, 4 and 8 bytes; -1: none */
} ein_cuda_code;

#if defined(EIN_DRIVER)
#include "by_driver.h"
#else
#include "by_nvcc.h"
#endif

/* The `device` of ein_inside. */
typedef struct ein_cuda {
  ein_gpu gpu;
  char *block;                 /* the fault record and work buffers: owned, or the caller's workspace */
  size_t held;                 /* its bytes if owned, else 0 */
  char *copies;                /* of arguments that are on the host */
  size_t copied;
  char *staging;               /* on the host, for tensors whose strides are not row-major */
  size_t staged;
  void **at;                   /* by buffer: its address on the device */
  unsigned char *there;        /* by buffer: the caller's view is on the device */
  struct ein_cuda_sites *sites; /* for code for several sites */
  const struct ein_spill_table *table; /* what runs tell if they do not fit; NULL: nothing, so they must fit */
  struct ein_spilling *spilling; /* NULL: no run has spilled */
  struct ein_copying *copying; /* NULL: no run that fits had arguments on the host */
  uint64_t limit;              /* the most bytes to take; 0: what is free */
} ein_cuda;

static ein_cuda *ein_cuda_of(const ein_ctx *ctx) { return (ein_cuda *)ctx->inside->device.state; }
static EIN_UNUSED void *ein_cuda_at(const ein_ctx *ctx, int buffer) { return ein_cuda_of(ctx)->at[buffer]; }
static size_t ein_cuda_bytes(const ein_ctx *ctx, int buffer) {
  return (size_t)ctx->inside->count[buffer] * ein_dtype_size(ein_buffer_of(ctx, buffer)->dtype);
}

#if defined(EIN_SITES)
static void ein_cuda_sites_end(ein_cuda *d);
static int ein_cuda_sites_new(ein_ctx *ctx, ein_cuda *d);
static int ein_cuda_sites_begin(ein_ctx *ctx, ein_cuda *d);
static void ein_cuda_sites_lay(ein_ctx *ctx, ein_cuda *d, char *work);
#else
#define ein_cuda_sites_end(d) ((void)0)
#define ein_cuda_sites_new(ctx, d) 1
#define ein_cuda_sites_begin(ctx, d) 1
#define ein_cuda_sites_lay(ctx, d, work) ((void)0)
#endif

#if defined(EIN_DRIVER)
static void ein_spilling_end(ein_gpu *g, struct ein_spilling *x);
static int ein_spilling_ready(ein_ctx *ctx, ein_cuda *d);
static int ein_spilling_begin(ein_ctx *ctx, ein_cuda *d);
static void ein_spilling_need(ein_ctx *ctx, ein_cuda *d, int row);
static void ein_spilling_repeat(ein_cuda *d, int row, int64_t turns);
static void ein_spilling_until(ein_cuda *d, int row, int stop);
static ein_status ein_spilling_finish(ein_ctx *ctx, ein_cuda *d, ein_status status);
static int ein_spilling_on(const ein_cuda *d);
static void ein_copying_end(ein_gpu *g, struct ein_copying *x);
static int ein_copying_begin(ein_ctx *ctx, ein_cuda *d);
static void ein_copying_need(ein_ctx *ctx, ein_cuda *d, int row);
static ein_status ein_copying_finish(ein_ctx *ctx, ein_cuda *d, ein_status status, int waited);
static int ein_copying_on(const ein_cuda *d);
static int ein_copying_waits(const ein_cuda *d, int buffer);
static int ein_cuda_any(ein_ctx *ctx, int64_t gx, int64_t gy, int64_t gz);
#include "packing.h"
#include "spill.h"
#else
#define ein_spilling_end(gpu, spilling) ((void)0)
#define ein_spilling_ready(ctx, d) 0
#define ein_spilling_begin(ctx, d) 0
#define ein_spilling_finish(ctx, d, status) (status)
#define ein_spilling_on(d) 0
#define ein_copying_end(gpu, copying) ((void)0)
#define ein_copying_begin(ctx, d) 1
#define ein_copying_finish(ctx, d, status, waited) (status)
#define ein_copying_on(d) 0
#define ein_copying_waits(d, buffer) 0
#define ein_cuda_pack(ctx, stream, buffer, row, from_caller) 0
#endif

/* ---- creation and memory ---- */

static void ein_cuda_end_of(void *device) {
  ein_cuda *d = (ein_cuda *)device;
  ein_cuda_sites_end(d);
  ein_spilling_end(&d->gpu, d->spilling);
  ein_copying_end(&d->gpu, d->copying);
  if (d->held) ein_gpu_drop(&d->gpu, d->block);
  ein_gpu_drop(&d->gpu, d->copies);
  ein_gpu_close(&d->gpu);
  free(d->staging);
  free(d);
}

/* The `device_holds` of ein_inside. */
static int ein_cuda_holds(ein_ctx *ctx, int buffer, const ein_tensor *x, char *why, size_t room) {
  ein_cuda *d = ein_cuda_of(ctx);
  d->there[buffer] = x->device_type != 1;
  return ein_gpu_holds(&d->gpu, x, why, room);
}

/* The most bytes to take: the caller's, or $EIN_CUDA_MEMORY. */
static int ein_cuda_limit(ein_ctx *ctx, ein_cuda *d) {
  const char *said = getenv("EIN_CUDA_MEMORY");
  char *end = NULL;
  d->limit = ctx->inside->config.device_memory;
  if (d->limit || !said || !*said) return 1;
  d->limit = strtoull(said, &end, 10);
  if (d->limit && !*end && *said != '-') return 1;
  return ein_error_set(
             &ctx->inside->error, EIN_ERR_ARG, "EIN_CUDA_MEMORY is %.40s: expected a number of bytes", said),
         0;
}

static ein_cuda *ein_cuda_state(ein_ctx *ctx, const ein_cuda_code *code, const struct ein_spill_table *table) {
  ein_inside *in = ctx->inside;
  size_t n = (size_t)in->tables->n_buffers + 1;
  if (in->device.state) return ein_cuda_of(ctx);
  ein_cuda *d = (ein_cuda *)calloc(1, sizeof *d + n * sizeof *d->at + n);
  if (!d) {
    ein_error_set(&in->error, EIN_ERR_MEMORY, "no memory for a device's part of the context");
    return NULL;
  }
  d->at = (void **)(void *)(d + 1);
  d->there = (unsigned char *)(void *)(d->at + n);
  d->table = table;
  in->device.state = d; /* needed by the setup of sites */
  if (!ein_cuda_limit(ctx, d) || !ein_gpu_open(ctx, &d->gpu, code) || !ein_cuda_sites_new(ctx, d)) {
    in->device.state = NULL;
    in->among.ground = NULL;
    ein_cuda_end_of(d);
    return NULL;
  }
  in->device.end = ein_cuda_end_of;
  in->device.holds = ein_cuda_holds;
  return d;
}

/* The start of the block: faults, and room for a scalar that the host reads. */
typedef struct ein_cuda_seen { ein_device_fault fault; unsigned char value[sizeof(int64_t)]; } ein_cuda_seen;

enum { EIN_CUDA_ALIGN = 256 };
static size_t ein_cuda_round(size_t bytes) { return (bytes + EIN_CUDA_ALIGN - 1) / EIN_CUDA_ALIGN * EIN_CUDA_ALIGN; }

/* Places the work buffers and the moves' memory in the block, as on the host. Returns the block's size. */
static size_t ein_cuda_lay(ein_ctx *ctx, ein_cuda *d, char *block) {
  const ein_inside *in = ctx->inside;
  size_t used = ein_cuda_round(sizeof(ein_cuda_seen)), end = used;
  for (int w = 0; w < in->laid.n; w++) {
    size_t to = used + (size_t)in->laid.offset[w] + (size_t)in->laid.bytes[w];
    if (block && w < in->laid.n_work) d->at[in->laid.work[w]] = block + used + in->laid.offset[w];
    if (to > end) end = to;
  }
  for (int b = 0; block && b < in->tables->n_buffers; b++)
    if (in->count[b] == 0) d->at[b] = block;
  if (in->memory.emptied > end) end = in->memory.emptied;
  if (block) ein_cuda_sites_lay(ctx, d, block + used);
  return ein_cuda_round(end);
}

static int ein_cuda_lent(ein_ctx *ctx, ein_cuda *d, size_t wanted) {
  const ein_config *c = &ctx->inside->config;
  int device = 0, managed = 0;
  if (wanted > c->workspace_bytes)
    return ein_error_set(&ctx->inside->error, EIN_ERR_PLAN, "the workspace has %llu bytes, but %llu are needed",
               (unsigned long long)c->workspace_bytes, (unsigned long long)wanted),
           0;
  if ((uintptr_t)c->workspace % EIN_CUDA_ALIGN || !ein_gpu_points(&d->gpu, c->workspace, &device, &managed) ||
      (device != d->gpu.number && !managed))
    return ein_error_set(&ctx->inside->error, EIN_ERR_ARG,
               "the workspace is not memory of device %d, at a multiple of %d bytes", d->gpu.number, EIN_CUDA_ALIGN),
           0;
  d->block = (char *)(ctx->inside->memory.workspace = c->workspace);
  return 1;
}

/* Allocates a piece of that size, replacing one of another size. */
static int ein_cuda_piece(ein_ctx *ctx, ein_cuda *d, char **piece, size_t *held, size_t wanted, const char *what) {
  if (*held == wanted) return 1;
  if (*piece) ein_gpu_drop(&d->gpu, *piece);
  *held = 0;
  *piece = wanted ? (char *)ein_gpu_take(ctx, &d->gpu, wanted, what) : NULL;
  if (*piece) *held = wanted;
  return *piece || !wanted;
}

/* The bytes that the block and the copies of arguments may take together: those allowed, or most of those free. */
static size_t ein_cuda_most(const ein_cuda *d) {
  size_t left = ein_gpu_left(&d->gpu);
  return d->limit ? (size_t)d->limit : left - left / 64 + d->held + d->copied;
}

static int ein_cuda_room(ein_ctx *ctx, ein_cuda *d) {
  size_t wanted = ein_cuda_lay(ctx, d, NULL);
  ctx->inside->memory.wanted = wanted;
  if (ctx->inside->config.workspace) return ein_cuda_lent(ctx, d, wanted);
  if (d->table && d->held != wanted) {
    ein_cuda_piece(ctx, d, &d->block, &d->held, 0, "");
    ein_cuda_piece(ctx, d, &d->copies, &d->copied, 0, "");
    if (wanted > ein_cuda_most(d)) return ein_spilling_ready(ctx, d);
  }
  return ein_cuda_piece(ctx, d, &d->block, &d->held, wanted, "the run takes");
}

/* An argument is copied if it is on the host, not in row-major order, or not aligned for wide accesses by kernels. */
enum { EIN_CUDA_WIDE = 16 };
static int ein_cuda_copied(const ein_ctx *ctx, int buffer) {
  if (ein_buffer_of(ctx, buffer)->space == 2 || !ctx->inside->args.given[buffer]) return 0;
  return !ein_cuda_of(ctx)->there[buffer] || !ctx->dense[buffer] || (uintptr_t)ctx->data[buffer] % EIN_CUDA_WIDE;
}

/* The bytes of all copies. */
static size_t ein_cuda_copies(const ein_ctx *ctx) {
  size_t end = 0;
  for (int b = 0; b < ctx->inside->tables->n_buffers; b++)
    if (ein_cuda_copied(ctx, b)) end = ein_cuda_round(end + ein_cuda_bytes(ctx, b));
  return end;
}

/* Whether the run does not fit, and has to spill. A larger piece for copies is kept, unless it takes too much. */
static int ein_cuda_spills(ein_ctx *ctx, ein_cuda *d) {
  size_t copies = ein_cuda_copies(ctx), wanted = ein_cuda_lay(ctx, d, NULL);
  if (!d->table || ctx->inside->config.workspace || (d->held == wanted && copies <= d->copied)) return 0;
  if (ein_gpu_captures(&d->gpu)) return d->held != wanted;
  ein_cuda_piece(ctx, d, &d->copies, &d->copied, 0, "");
  if (wanted + copies > ein_cuda_most(d)) return 1;
  return !ein_cuda_piece(ctx, d, &d->block, &d->held, wanted, "the run takes");
}

/* Sets the addresses of arguments: the caller's, or copies, for which this allocates room. */
static int ein_cuda_seat(ein_ctx *ctx, ein_cuda *d) {
  size_t end = ein_cuda_copies(ctx);
  if (end > d->copied && ein_gpu_captures(&d->gpu))
    return ein_error_set(&ctx->inside->error, EIN_ERR_ARG,
               "the stream is being captured, and the run allocates memory for copies of tensors that are not in "
               "row-major order, or not aligned to %d bytes: run once before",
               EIN_CUDA_WIDE),
           0;
  if (end > d->copied && !ein_cuda_piece(ctx, d, &d->copies, &d->copied, end, "inputs and outputs take")) return 0;
  end = 0;
  for (int b = 0; b < ctx->inside->tables->n_buffers; b++) {
    if (ein_buffer_of(ctx, b)->space == 2 || ctx->inside->count[b] == 0) continue;
    d->at[b] = ein_cuda_copied(ctx, b) ? d->copies + end : ctx->data[b];
    if (ein_cuda_copied(ctx, b)) end = ein_cuda_round(end + ein_cuda_bytes(ctx, b));
  }
  return 1;
}

/* The tables' `ready`. */
static ein_status ein_cuda_ready(ein_ctx *ctx, const ein_cuda_code *code, const struct ein_spill_table *table) {
  ein_cuda *d = ein_cuda_state(ctx, code, table);
  if (!d || !ein_gpu_enter(ctx, &d->gpu)) return ein_state(ctx);
  if (ein_cuda_sites_begin(ctx, d)) ein_cuda_room(ctx, d);
  ein_gpu_leave(&d->gpu);
  return ein_state(ctx);
}

/* ---- copies of the caller's tensors ---- */

#define EIN_CUDA_COMES " to the device"
#define EIN_CUDA_GOES " to the host"

static char *ein_cuda_stage(ein_ctx *ctx, size_t bytes) {
  ein_cuda *d = ein_cuda_of(ctx);
  if (d->staged >= bytes) return d->staging;
  free(d->staging);
  d->staging = (char *)malloc(bytes);
  d->staged = d->staging ? bytes : 0;
  if (!d->staging)
    ein_error_set(&ctx->inside->error, EIN_ERR_MEMORY, "no memory to put a tensor in order for the device");
  return d->staging;
}

/* Copies all elements between `row`, in row-major order, and the caller's strided memory. */
static void ein_cuda_turn(const ein_ctx *ctx, int buffer, char *row, int there) {
  const ein_buffer *b = ein_buffer_of(ctx, buffer);
  const int64_t *shape = ctx->shape + b->at, *stride = ctx->stride + b->at;
  size_t size = ein_dtype_size(b->dtype);
  int64_t index[EIN_MAX_AXES] = {0}, at = 0;
  char *data = (char *)ctx->data[buffer];
  for (int64_t n = ctx->inside->count[buffer]; n > 0; n--, row += size) {
    if (there) memcpy(row, data + at * (int64_t)size, size);
    else memcpy(data + at * (int64_t)size, row, size);
    for (int k = b->ndim - 1; k >= 0; k--) { /* advance to the next element */
      at += stride[k];
      if (++index[k] < shape[k]) break;
      at -= stride[k] * shape[k];
      index[k] = 0;
    }
  }
}

/* A profiler's range for a copy of the tensor. */
static void ein_cuda_range(ein_ctx *ctx, int buffer, const char *what) {
  const ein_buffer *b = ein_buffer_of(ctx, buffer);
  ein_gpu_range(ctx, &ein_cuda_of(ctx)->gpu, b->name ? b->name : "a tensor", b->file, b->line, what);
}

static int ein_cuda_bring(ein_ctx *ctx, int buffer) {
  size_t bytes = ein_cuda_bytes(ctx, buffer);
  char *from = (char *)ctx->data[buffer];
  if (!bytes) return 1;
  ein_cuda_range(ctx, buffer, EIN_CUDA_COMES);
  if (ein_cuda_of(ctx)->there[buffer] && !ctx->dense[buffer])
    return ein_cuda_pack(ctx, ein_cuda_of(ctx)->gpu.stream, buffer, ein_cuda_at(ctx, buffer), 1);
  if (ein_cuda_of(ctx)->there[buffer])
    return ein_gpu_across(ctx, &ein_cuda_of(ctx)->gpu, ein_cuda_at(ctx, buffer), from, bytes, "an input is copied");
  if (!ctx->dense[buffer]) {
    from = ein_cuda_stage(ctx, bytes);
    if (!from) return 0;
    ein_cuda_turn(ctx, buffer, from, 1);
  }
  return ein_gpu_up(ctx, &ein_cuda_of(ctx)->gpu, ein_cuda_at(ctx, buffer), from, bytes, "an input goes to the device");
}

static int ein_cuda_give(ein_ctx *ctx, int buffer) {
  size_t bytes = ein_cuda_bytes(ctx, buffer);
  int dense = ctx->dense[buffer];
  if (!bytes) return 1;
  ein_cuda_range(ctx, buffer, EIN_CUDA_GOES);
  if (ein_cuda_of(ctx)->there[buffer] && !dense)
    return ein_cuda_pack(ctx, ein_cuda_of(ctx)->gpu.stream, buffer, ein_cuda_at(ctx, buffer), 0);
  if (ein_cuda_of(ctx)->there[buffer])
    return ein_gpu_across(
        ctx, &ein_cuda_of(ctx)->gpu, ctx->data[buffer], ein_cuda_at(ctx, buffer), bytes, "an output is copied");
  char *to = dense ? (char *)ctx->data[buffer] : ein_cuda_stage(ctx, bytes);
  if (!to ||
      !ein_gpu_down(
          ctx, &ein_cuda_of(ctx)->gpu, to, ein_cuda_at(ctx, buffer), bytes, "an output comes from the device"))
    return 0;
  if (!dense) ein_cuda_turn(ctx, buffer, to, 0);
  return 1;
}

/* ---- functions that a body calls ---- */

static int ein_cuda_get(ein_ctx *ctx, void *to, const void *from, size_t bytes, const char *what) {
  return ein_gpu_down(ctx, &ein_cuda_of(ctx)->gpu, to, from, bytes, what);
}

/* Copies the start of the block to the host, with that many bytes of `value`, and reports faults that kernels have met
 * so far. Returns the context's status. */
static ein_status ein_cuda_see(ein_ctx *ctx, ein_cuda_seen *x, size_t bytes) {
  if (ein_state(ctx) != EIN_OK) return ein_state(ctx);
  if (!ein_cuda_get(ctx, x, ein_cuda_of(ctx)->block, offsetof(ein_cuda_seen, value) + bytes, "a kernel"))
    return ein_state(ctx);
  if (x->fault.met) ein_fault(ctx, x->fault.site, x->fault.index, x->fault.extent);
  return ein_cancelled(ctx);
}

static ein_status ein_cuda_settle(ein_ctx *ctx) {
  ein_cuda_seen x;
  return ein_cuda_see(ctx, &x, 0);
}

/* Reads a scalar after the kernels that compute it. The device copies it next to the faults, so that one wait gets
 * both. Returns 0 if the run has failed. */
static int ein_cuda_look(ein_ctx *ctx, void *to, int buffer, size_t bytes, const char *what) {
  ein_cuda *d = ein_cuda_of(ctx);
  ein_cuda_seen x;
  if (ein_state(ctx) != EIN_OK) return 0;
  if (!ein_gpu_across(ctx, &d->gpu, d->block + offsetof(ein_cuda_seen, value), ein_cuda_at(ctx, buffer), bytes, what))
    return 0;
  if (ein_cuda_see(ctx, &x, bytes) != EIN_OK) return 0;
  memcpy(to, x.value, bytes);
  return 1;
}

/* Checks a run in a stream that the caller is capturing for a graph: it must not wait for anything. */
static int ein_cuda_capture(ein_ctx *ctx, ein_cuda *d) {
  if (!ein_gpu_capture(ctx, &d->gpu)) return 0;
  if (!ein_gpu_captures(&d->gpu)) return 1;
  if (ctx->inside->tables->n_sites)
    return ein_error_set(&ctx->inside->error, EIN_ERR_ARG,
               "the stream is being captured, and the run has to wait for the device: it checks indices from data"),
           0;
  for (int b = 0; b < ctx->inside->tables->n_buffers; b++)
    if (ein_cuda_copied(ctx, b) && !d->there[b])
      return ein_error_set(&ctx->inside->error, EIN_ERR_ARG,
                 "the stream is being captured, and the run has to wait for the device: %.80s is on the host",
                 ein_buffer_of(ctx, b)->name ? ein_buffer_of(ctx, b)->name : "an argument"),
             0;
  return 1;
}

static ein_status ein_cuda_begin(ein_ctx *ctx) {
  ein_inside *in = ctx->inside;
  ein_cuda *d = ein_cuda_of(ctx);
  if (!ein_gpu_enter(ctx, &d->gpu) || !ein_cuda_capture(ctx, d) || !ein_cuda_sites_begin(ctx, d)) return ein_state(ctx);
  const int spills = ein_cuda_spills(ctx, d);
  if (ein_state(ctx) != EIN_OK) return ein_state(ctx);
  if (spills && !ein_spilling_begin(ctx, d)) return ein_state(ctx);
  if (!spills) ein_cuda_lay(ctx, d, d->block); /* the last run may have exchanged buffers */
  if (!spills && (!ein_cuda_seat(ctx, d) || !ein_copying_begin(ctx, d))) return ein_state(ctx);
  if (!ein_gpu_zero(ctx, &d->gpu, d->block, sizeof(ein_device_fault), "a run begins")) return ein_state(ctx);
  if (spills) return EIN_OK;
  for (int k = 0; k < in->tables->n_inputs; k++) {
    const int b = in->args.input[k];
    if (ein_cuda_copied(ctx, b) && !ein_copying_waits(d, b) && !ein_cuda_bring(ctx, b)) return ein_state(ctx);
  }
  return EIN_OK;
}

/* Also called for a run that failed: afterwards the device is idle, and the caller may use its memory. A run in
 * the caller's stream without checked indices is not waited for: its results are available to later work in
 * that stream. */
static ein_status ein_cuda_finish(ein_ctx *ctx, ein_status status) {
  ein_inside *in = ctx->inside;
  ein_cuda *d = ein_cuda_of(ctx);
  ein_gpu *g = &d->gpu;
  const int spills = ein_spilling_on(d), copies = ein_copying_on(d);
  const int waits = !g->lent || in->tables->n_sites || spills;
  ein_gpu_range_end(ctx, g);
  if (status == EIN_OK) status = waits ? ein_cuda_settle(ctx) : ein_cancelled(ctx);
  if (spills) status = ein_spilling_finish(ctx, d, status);
  for (int k = 0; k < in->tables->n_outputs && status == EIN_OK && !spills; k++) {
    const int b = in->args.output[k];
    if (ein_cuda_copied(ctx, b) && (!copies || d->there[b] || ein_copying_waits(d, b)) && !ein_cuda_give(ctx, b))
      status = ein_state(ctx);
  }
  if (copies) status = ein_copying_finish(ctx, d, status, waits);
  ein_gpu_range_end(ctx, g);
  if (status == EIN_OK && !ein_gpu_send(ctx, g)) status = ein_state(ctx);
  if (g->entered && status != EIN_OK) ein_gpu_end(g);
  ein_gpu_leave(g);
  return status;
}

static EIN_UNUSED ein_device ein_cuda_now(const ein_ctx *ctx) {
  ein_device d;
  for (int k = 0; k < EIN_TURNS; k++) d.turn[k] = k < ctx->inside->tables->n_turns ? ctx->turn[k] : 0;
  d.fault = (ein_device_fault *)(void *)ein_cuda_of(ctx)->block;
  return d;
}

#if defined(EIN_DRIVER)
/* Before a row of the table: its buffers are on the device. */
static EIN_UNUSED void ein_cuda_need(ein_ctx *ctx, int row) {
  ein_cuda *d = ein_cuda_of(ctx);
  const ein_spill_row *x = &d->table->row[row];
  ein_gpu_range_end(ctx, &d->gpu);
  if (ein_spilling_on(d)) ein_spilling_need(ctx, d, row);
  else if (ein_copying_on(d)) ein_copying_need(ctx, d, row);
  ein_gpu_range(ctx, &d->gpu, x->name, x->file, x->line, "");
}

/* At the beginning of a repeat. Returns the number of turns. */
static EIN_UNUSED int64_t ein_cuda_repeat(ein_ctx *ctx, int row, int64_t turns) {
  if (ein_spilling_on(ein_cuda_of(ctx)) && ein_state(ctx) == EIN_OK) ein_spilling_repeat(ein_cuda_of(ctx), row, turns);
  return turns;
}

/* At the end of a turn of a repeat that data may stop. */
static EIN_UNUSED void ein_cuda_until(ein_ctx *ctx, int row, int stop) {
  if (ein_spilling_on(ein_cuda_of(ctx)) && ein_state(ctx) == EIN_OK) ein_spilling_until(ein_cuda_of(ctx), row, stop);
}
#endif

static EIN_UNUSED void ein_cuda_zero(ein_ctx *ctx, int buffer) {
  size_t bytes = ein_cuda_bytes(ctx, buffer);
  if (bytes) ein_gpu_zero(ctx, &ein_cuda_of(ctx)->gpu, ein_cuda_at(ctx, buffer), bytes, "a tensor becomes 0");
}

static EIN_UNUSED void ein_cuda_default(ein_ctx *ctx, int input, int from) {
  ein_cuda_of(ctx)->at[input] = ein_cuda_of(ctx)->at[from];
}

static EIN_UNUSED void ein_cuda_exchange(ein_ctx *ctx, int a, int b) {
  void **at = ein_cuda_of(ctx)->at, *was = at[a];
  at[a] = at[b];
  at[b] = was;
}

/* Reads a value on the host, after waiting for the kernels that compute it. Returns 0 after a failure. */
static EIN_UNUSED int64_t ein_cuda_i64(ein_ctx *ctx, int buffer) {
  int64_t x = 0;
  ein_cuda_look(ctx, &x, buffer, sizeof x, "a number");
  return x;
}

static EIN_UNUSED int ein_cuda_true(ein_ctx *ctx, int buffer) {
  unsigned char x = 0;
  ein_cuda_look(ctx, &x, buffer, sizeof x, "a condition");
  return x != 0;
}

static EIN_UNUSED void ein_cuda_set_i64(ein_ctx *ctx, int buffer, int64_t value) {
  ein_gpu_up(ctx, &ein_cuda_of(ctx)->gpu, ein_cuda_at(ctx, buffer), &value, sizeof value, "a number");
}

/* The same without a wait, as part of the list. Only for numbers that do not depend on data: each new number makes a
 * new list, which has no graph yet. */
static EIN_UNUSED void ein_cuda_put_i64(ein_ctx *ctx, int buffer, int64_t value) {
  if (ein_state(ctx) == EIN_OK)
    ein_gpu_put(ctx, &ein_cuda_of(ctx)->gpu, ein_cuda_at(ctx, buffer), &value, sizeof value, "a number");
}

/* Before a launch: whether it has any work, and the run has not failed. */
static EIN_UNUSED int ein_cuda_any(ein_ctx *ctx, int64_t gx, int64_t gy, int64_t gz) {
  if (gx <= 0 || gy <= 0 || gz <= 0 || ein_state(ctx) != EIN_OK) return 0;
  if (gx <= 2147483647 && gy <= 65535 && gz <= 65535) return 1;
  ein_error_set(&ctx->inside->error, EIN_ERR_SHAPE,
      "a launch of %lld by %lld by %lld blocks is more than a device takes", (long long)gx, (long long)gy,
      (long long)gz);
  return 0;
}

#if defined(EIN_DRIVER)
/* given: for each parameter, a buffer's number, or ~ of a size's number. If `device`, the context's state on
 * the device is one more parameter. */
static EIN_UNUSED void ein_cuda_launch(ein_ctx *ctx, int kernel, int64_t gx, int64_t gy, int64_t gz, int bx, int by,
    int bz, int n, const int *given, int device) {
  uint64_t word[EIN_CUDA_MOST];
  ein_device now;
  if (!ein_cuda_any(ctx, gx, gy, gz)) return;
  if (n > EIN_CUDA_MOST) {
    ein_error_set(&ctx->inside->error, EIN_ERR_SHAPE, "a kernel with %d parameters is more than a device takes", n);
    return;
  }
  for (int k = 0; k < n; k++)
    word[k] = given[k] < 0 ? (uint64_t)ctx->size[~given[k]] : (uint64_t)(uintptr_t)ein_cuda_at(ctx, given[k]);
  now = ein_cuda_now(ctx);
  const unsigned grid[] = {(unsigned)gx, (unsigned)gy, (unsigned)gz},
                 block[] = {(unsigned)bx, (unsigned)by, (unsigned)bz};
  ein_gpu_launch(ctx, &ein_cuda_of(ctx)->gpu, kernel, grid, block, word, n, device ? &now : NULL);
}
#endif

/* Called after a turn of a repeat. outer: the repeat contains others, so the list is sent after each turn, and
 * is the same each time. */
static EIN_UNUSED void ein_cuda_turned(ein_ctx *ctx, int outer) { ein_gpu_turned(ctx, &ein_cuda_of(ctx)->gpu, outer); }

#if defined(EIN_SITES)
#include "sites.h"
#endif
#if defined(EIN_DRIVER)
#include "spilling.h"
#include "copying.h"
#endif

#if defined(EIN_PRODUCTS)
/* A matrix product: the result, the side with its rows, and the side with its lanes. Extents and steps (in
 * elements) are by loop; the last three loops are rows, lanes and the sum. */
typedef struct ein_cuda_matrix { int buffer; int64_t first; const int64_t *step; } ein_cuda_matrix;
typedef struct ein_cuda_product {
  const char *name;            /* of the kernel that it replaces */
  int n;
  const int64_t *size;
  ein_cuda_matrix of[3];
  double scale;
} ein_cuda_product;

/* Whether cuBLAS computes it; else our own kernels must. */
static EIN_UNUSED int ein_cuda_multiply(ein_ctx *ctx, const ein_cuda_product *x) {
  ein_gpu_matrices m = {.name = x->name, .n = x->n, .size = x->size, .scale = x->scale};
  if (ein_state(ctx) != EIN_OK) return 1;
  for (int k = 0; k < 3; k++) {
    ein_dtype t = ein_buffer_of(ctx, x->of[k].buffer)->dtype;
    m.dtype[k] = t;
    m.bytes[k] = (int64_t)ein_dtype_size(t);
    m.at[k] = (char *)ein_cuda_at(ctx, x->of[k].buffer) + x->of[k].first * m.bytes[k];
    m.step[k] = x->of[k].step;
  }
  return ein_gpu_multiply(ctx, &ein_cuda_of(ctx)->gpu, &m);
}
#endif

#endif
