/* SPDX-License-Identifier: MIT-0 */
/*
 * A run that fits the device's memory, with arguments on the host: copies them beside its kernels. What is copied to
 * the device and to the host has a stream each, as in runs that spill. Inputs come in the order in which rows first use
 * them, small ones together, and the run's stream waits for them by an event just before that row. A long output
 * goes as soon as no row may change it; the others go at the end. Long ones are page-locked meanwhile, because the host
 * would wait for a copy to other memory; where the driver cannot do that, they go at the end too.
 *
 * In: the table of rows (spill.h), which says what each row uses, and the views of this run.
 */
#ifndef EIN_CUDA_COPYING_H
#define EIN_CUDA_COPYING_H

#include "spill.h"

/* Fewer bytes cross the bus in about the time of the calls that copy them apart from others. */
enum { EIN_COPYING_BYTES = 1 << 18 };
enum { EIN_COPYING_IN, EIN_COPYING_OUT, EIN_COPYING_STREAMS };

typedef struct ein_copying {
  int on;                      /* in this run arguments are on the host */
  void *stream[EIN_COPYING_STREAMS], *event[EIN_COPYING_STREAMS]; /* events: what has come; what is computed */
  int busy[EIN_COPYING_STREAMS]; /* there may be copies that the host has not waited for */
  int n_inputs, n_outputs;     /* that rows use */
  int *input, *output;         /* inputs by their first row, outputs by their last */
  int *last;                   /* by buffer: no row behind this one changes it */
  int *from;                   /* by buffer: of an input that is not given, the buffer that it is; -1: itself */
  int next, done;              /* in this run: of inputs, those looked at so far; of outputs, the same */
  void **locked;               /* by buffer: the caller's memory that is page-locked; NULL: none */
  unsigned char *waits;        /* by buffer: it has not been copied yet */
} ein_copying;

static int ein_copying_on(const ein_cuda *d) { return d->copying && d->copying->on; }
static int ein_copying_waits(const ein_cuda *d, int buffer) { return ein_copying_on(d) && d->copying->waits[buffer]; }

/* ---- creation ---- */

/* A repeat may do each of its rows again, up to its end. */
static void ein_copying_rows(const ein_spill_table *t, ein_copying *x) {
  int end = -1, *last = x->last; /* end: of the outermost repeat */
  for (int r = 0; r < t->n_rows; r++) {
    const ein_spill_row *row = &t->row[r];
    const int step = row->kind == EIN_SPILL_STEP, at = r > end ? r : end;
    if (row->kind == EIN_SPILL_REPEAT && r > end) end = row->pair;
    if (row->from >= 0) x->from[row->first] = row->from;
    for (int k = row->first; k < row->first + row->n; k++) {
      if (!step || t->use[k].how != EIN_SPILL_READ) last[t->use[k].buffer] = at;
      if (!step) last[t->use[k].how] = at; /* two buffers are exchanged */
    }
  }
}

static void ein_copying_order(const ein_ctx *ctx, const ein_spill_table *t, ein_copying *x) {
  for (int k = 0; k < t->n_uses; k++) {
    const int b = t->use[k].buffer;
    if (b >= ctx->inside->tables->n_buffers || ein_buffer_of(ctx, b)->space != 0 || x->waits[b]) continue;
    x->waits[b] = 1, x->input[x->n_inputs++] = b;
  }
  for (int k = 0; k < ctx->inside->tables->n_outputs; k++) {
    const int b = ctx->inside->args.output[k];
    int at = x->n_outputs++;
    for (; at > 0 && x->last[x->output[at - 1]] > x->last[b]; at--) x->output[at] = x->output[at - 1];
    x->output[at] = b;
  }
}

static ein_copying *ein_copying_new(ein_ctx *ctx, const ein_spill_table *t) {
  const int moves = ein_spilling_moves(ctx), buffers = ctx->inside->tables->n_buffers;
  const size_t n = (size_t)(buffers + moves) + 1, arguments = (size_t)buffers + 1;
  ein_copying *x =
      (ein_copying *)calloc(1, sizeof *x + n * (sizeof(void *) + 2 * sizeof(int) + 1) + 2 * arguments * sizeof(int));
  if (!x) return ein_error_set(&ctx->inside->error, EIN_ERR_MEMORY, "no memory for what is copied to the device"), x;
  x->locked = (void **)(void *)(x + 1);
  x->last = (int *)(void *)(x->locked + n);
  x->from = x->last + n;
  x->input = x->from + n;
  x->output = x->input + arguments;
  x->waits = (unsigned char *)(void *)(x->output + arguments);
  for (size_t b = 0; b < n; b++) x->last[b] = t->n_rows, x->from[b] = -1;
  ein_copying_rows(t, x);
  ein_copying_order(ctx, t, x);
  return x;
}

static int ein_copying_streams(ein_ctx *ctx, ein_gpu *g, ein_copying *x) {
  for (int k = 0; k < EIN_COPYING_STREAMS; k++)
    if ((!x->stream[k] && !ein_gpu_ok(ctx, g, g->cu.stream_new(&x->stream[k], EIN_CU_OWN_STREAM), "a stream")) ||
        (!x->event[k] && !ein_gpu_ok(ctx, g, g->cu.event_new(&x->event[k], EIN_CU_NO_TIMES), "an event")))
      return 0;
  return 1;
}

/* Waits for the copies, after which the caller may use its memory. Returns the driver's error. */
static int ein_copying_wait(ein_gpu *g, ein_copying *x) {
  int e = 0;
  for (int k = 0; k < EIN_COPYING_STREAMS && !e; k++) {
    if (x->busy[k]) e = g->cu.stream_wait(x->stream[k]);
    x->busy[k] = 0;
  }
  for (int k = 0; k < x->n_outputs; k++) {
    void **locked = &x->locked[x->output[k]];
    if (*locked) g->cu.host_unlock(*locked);
    *locked = NULL;
  }
  return e;
}

static void ein_copying_end(ein_gpu *g, ein_copying *x) {
  void *own;
  if (!x) return;
  if (g->context && !g->cu.context_push(g->context)) {
    for (int k = 0; k < EIN_COPYING_STREAMS; k++) {
      if (x->event[k]) g->cu.event_end(x->event[k]);
      if (x->stream[k]) g->cu.stream_end(x->stream[k]);
    }
    g->cu.context_pop(&own);
  }
  free(x);
}

/* ---- a run ---- */

/* A stream waits for what has been asked of another one so far. */
static int ein_copying_after(ein_ctx *ctx, ein_gpu *g, void *event, void *stream, void *other) {
  return ein_gpu_ok(ctx, g, g->cu.event_record(event, other), "an event") &&
      ein_gpu_ok(ctx, g, g->cu.stream_after(stream, event, 0), "an event");
}

/* The first copy waits for what a caller has asked of a stream of its own, which may use the same memory. */
static int ein_copying_begin(ein_ctx *ctx, ein_cuda *d) {
  const ein_inside *in = ctx->inside;
  ein_gpu *g = &d->gpu;
  int any = 0;
  if (d->copying) d->copying->on = 0;
  for (int b = 0; b < in->tables->n_buffers; b++) any |= ein_cuda_copied(ctx, b) && !d->there[b] && in->count[b];
  if (!d->table || !any) return 1;
  if (!d->copying) d->copying = ein_copying_new(ctx, d->table);
  ein_copying *x = d->copying;
  if (!x || !ein_copying_streams(ctx, g, x)) return 0;
  x->next = x->done = 0, x->on = 1;
  for (int b = 0; b < in->tables->n_buffers; b++)
    x->waits[b] = ein_cuda_copied(ctx, b) && !d->there[b] && in->count[b];
  void *in_stream = x->stream[EIN_COPYING_IN];
  return !g->lent || ein_copying_after(ctx, g, x->event[EIN_COPYING_OUT], in_stream, g->stream);
}

/* Copies to the device; a tensor that is not in row-major order is put in order before. */
static int ein_copying_bring(ein_ctx *ctx, ein_cuda *d, int buffer) {
  ein_gpu *g = &d->gpu;
  void *stream = d->copying->stream[EIN_COPYING_IN];
  size_t bytes = ein_cuda_bytes(ctx, buffer);
  char *from = (char *)ctx->data[buffer];
  d->copying->waits[buffer] = 0;
  ein_cuda_range(ctx, buffer, EIN_CUDA_COMES);
  if (!ctx->dense[buffer]) {
    from = ein_cuda_stage(ctx, bytes);
    if (!from) return 0;
    ein_cuda_turn(ctx, buffer, from, 1);
  }
  g->counts->bytes_up += bytes;
  d->copying->busy[EIN_COPYING_IN] = 1;
  int e = g->cu.copy_up((uint64_t)(uintptr_t)ein_cuda_at(ctx, buffer), from, bytes, stream);
  if (!e && !ctx->dense[buffer]) e = g->cu.stream_wait(stream); /* the next one is put in order in the same memory */
  return ein_gpu_ok(ctx, g, e, "an input goes to the device");
}

/* The input that a row uses as its k-th buffer, if it has not come; else -1. */
static int ein_copying_input(const ein_ctx *ctx, const ein_cuda *d, const ein_spill_row *row, int k) {
  const ein_copying *x = d->copying;
  int b = d->table->use[row->first + k].buffer;
  while (x->from[b] >= 0 && !ctx->inside->args.given[b]) b = x->from[b];
  return x->waits[b] && ein_buffer_of(ctx, b)->space == 0 ? b : -1;
}

/* Copies what the row uses and, if that is little, what comes next. If it is much, what has been asked for is sent
 * before, and need not wait for it; else it stays in one list with the row, which may be a graph. */
static int ein_copying_come(ein_ctx *ctx, ein_cuda *d, const ein_spill_row *row) {
  ein_copying *x = d->copying;
  ein_gpu *g = &d->gpu;
  size_t bytes = 0;
  for (int k = 0; k < row->n; k++) {
    const int b = ein_copying_input(ctx, d, row, k);
    if (b >= 0) bytes += ein_cuda_bytes(ctx, b);
  }
  if (!bytes) return 1;
  if (bytes >= EIN_COPYING_BYTES && !ein_gpu_send(ctx, g)) return 0;
  for (int k = 0; k < row->n; k++) {
    const int b = ein_copying_input(ctx, d, row, k);
    if (b >= 0 && !ein_copying_bring(ctx, d, b)) return 0;
  }
  for (; x->next < x->n_inputs; x->next++) {
    const int b = x->input[x->next];
    if (!x->waits[b]) continue;
    bytes += ein_cuda_bytes(ctx, b);
    if (bytes > EIN_COPYING_BYTES) break;
    if (!ein_copying_bring(ctx, d, b)) return 0;
  }
  return ein_copying_after(ctx, g, x->event[EIN_COPYING_IN], g->stream, x->stream[EIN_COPYING_IN]);
}

/* Copies the long outputs that no row from this one on changes. */
static int ein_copying_go(ein_ctx *ctx, ein_cuda *d, int row) {
  ein_copying *x = d->copying;
  ein_gpu *g = &d->gpu;
  for (int ordered = 0; x->done < x->n_outputs && x->last[x->output[x->done]] < row; x->done++) {
    const int b = x->output[x->done];
    const size_t bytes = ein_cuda_bytes(ctx, b);
    if (!x->waits[b] || bytes < EIN_COPYING_BYTES || !ctx->dense[b]) continue;
    if (g->cu.host_lock(ctx->data[b], bytes, 0)) continue;
    x->locked[b] = ctx->data[b];
    if (!ordered) {
      void *out = x->stream[EIN_COPYING_OUT];
      if (!ein_gpu_send(ctx, g) || !ein_copying_after(ctx, g, x->event[EIN_COPYING_OUT], out, g->stream)) return 0;
      ordered = 1;
    }
    x->waits[b] = 0, x->busy[EIN_COPYING_OUT] = 1;
    ein_cuda_range(ctx, b, EIN_CUDA_GOES);
    g->counts->bytes_down += bytes;
    int e = g->cu.copy_down(
        ctx->data[b], (uint64_t)(uintptr_t)ein_cuda_at(ctx, b), bytes, x->stream[EIN_COPYING_OUT]);
    if (!ein_gpu_ok(ctx, g, e, "an output comes from the device")) return 0;
  }
  return 1;
}

/* Before a row. */
static void ein_copying_need(ein_ctx *ctx, ein_cuda *d, int row) {
  if (ein_state(ctx) == EIN_OK && ein_copying_go(ctx, d, row)) ein_copying_come(ctx, d, &d->table->row[row]);
}

/* After a run, also after a failed one. waited: so far the host has waited for the run's stream, and so for what that
 * has waited for. */
static ein_status ein_copying_finish(ein_ctx *ctx, ein_cuda *d, ein_status status, int waited) {
  ein_gpu *g = &d->gpu;
  d->copying->on = 0;
  if (waited && status == EIN_OK) d->copying->busy[EIN_COPYING_IN] = 0;
  int e = g->entered ? ein_copying_wait(g, d->copying) : 0;
  if (status == EIN_OK && !ein_gpu_ok(ctx, g, e, "an output comes from the device")) status = ein_state(ctx);
  return status;
}

#endif
