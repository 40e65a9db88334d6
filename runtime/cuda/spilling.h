/* SPDX-License-Identifier: MIT-0 */
/*
 * A run that does not fit the device's memory: does what spill.h plans. Copies to the device and copies to the host
 * have a stream each, since a device makes both at once, and go ahead of the kernels that need them. These streams wait
 * for kernels whose memory they take, and for each other, and kernels wait for what was fetched for them, by events;
 * the host waits for nothing. Launches between two such waits are sent as one list. Arguments stay in the caller's
 * memory, which is page-locked during the run if the driver can do that; work buffers get page-locked memory when they
 * are first written back.
 */
#ifndef EIN_CUDA_SPILLING_H
#define EIN_CUDA_SPILLING_H

#include "spill.h"

enum { EIN_SPILL_EVENTS = 64, EIN_SPILL_TOLD = 4 };
enum { EIN_SPILL_HEAD_HOLDS = 1 / (sizeof(ein_cuda_seen) <= EIN_SPILL_HEAD) }; /* what the host looks at */

typedef struct ein_spilling_stream {
  void *at;
  void *event[EIN_SPILL_EVENTS]; /* by action, as a ring: it is done */
  int64_t row, other;          /* what it waits for: the rows up to this one (-1: what was before the run); how many
                                * actions of the other stream */
} ein_spilling_stream;

typedef struct ein_spilling {
  ein_spill plan;
  int n;                       /* what is planned: buffers, and moves */
  int on;                      /* this run spills */
  void *launched;              /* an event, recorded in the run's stream: the rows so far */
  ein_spilling_stream to[EIN_SPILL_STREAMS];
  int64_t waited[EIN_SPILL_STREAMS]; /* how many of their actions the run's stream waits for */
  char *memory;                /* where the planned memory begins on the device */
  char **home;                 /* by slot: its place on the host; NULL: none yet */
  char **own;                  /* by buffer: memory for that, page-locked */
  size_t *owned;               /*   its bytes */
  void **locked;               /* by buffer: the caller's memory that is locked during the run */
  int64_t *bytes, *moved;      /* by slot; moved: over the bus in this run */
  unsigned char *kind, *skip;
  uint64_t made;               /* a hash of what the plan is made of; 0: there is none */
} ein_spilling;

#if defined(EIN_SITES)
static int ein_spilling_moves(const ein_ctx *ctx) { return ctx->inside->tables->mesh->n_moves; }
static void ein_spilling_room(ein_cuda *d, int move, char *at) { d->sites->room[move] = at; }
#else
#define ein_spilling_moves(ctx) 0
#define ein_spilling_room(d, move, at) ((void)0)
#endif

/* What is planned: the buffers, and behind them the memory of each move. */
static int ein_spilling_count(const ein_ctx *ctx) { return ctx->inside->tables->n_buffers + ein_spilling_moves(ctx); }

/* ---- creation ---- */

static ein_spilling *ein_spilling_new(ein_ctx *ctx, const ein_spill_table *t) {
  size_t n = (size_t)ein_spilling_count(ctx) + 1, rows = (size_t)t->n_rows + 1;
  ein_spilling *x = (ein_spilling *)calloc(
      1, sizeof *x + n * (3 * sizeof(char *) + sizeof(size_t) + 2 * sizeof(int64_t) + 1) + rows);
  if (!x) return ein_error_set(&ctx->inside->error, EIN_ERR_MEMORY, "no memory to plan what is on the device"), x;
  x->home = (char **)(void *)(x + 1);
  x->own = x->home + n;
  x->locked = (void **)(void *)(x->own + n);
  x->owned = (size_t *)(void *)(x->locked + n);
  x->bytes = (int64_t *)(void *)(x->owned + n);
  x->moved = x->bytes + n;
  x->kind = (unsigned char *)(void *)(x->moved + n);
  x->skip = x->kind + n;
  x->n = (int)n - 1;
  return x;
}

static int ein_spilling_event(ein_ctx *ctx, ein_gpu *g, void **event) {
  return *event || ein_gpu_ok(ctx, g, g->cu.event_new(event, EIN_CU_NO_TIMES), "an event");
}

static int ein_spilling_streams(ein_ctx *ctx, ein_gpu *g, ein_spilling *x) {
  if (!ein_spilling_event(ctx, g, &x->launched)) return 0;
  for (int k = 0; k < EIN_SPILL_STREAMS; k++) {
    ein_spilling_stream *c = &x->to[k];
    if (!c->at && !ein_gpu_ok(ctx, g, g->cu.stream_new(&c->at, EIN_CU_OWN_STREAM), "a stream")) return 0;
    for (int e = 0; e < EIN_SPILL_EVENTS; e++)
      if (!ein_spilling_event(ctx, g, &c->event[e])) return 0;
  }
  return 1;
}

/* Waits for all copies. Returns the driver's error. */
static int ein_spilling_wait(const ein_gpu *g, const ein_spilling *x) {
  int e = 0;
  for (int k = 0; k < EIN_SPILL_STREAMS && !e; k++)
    if (x->to[k].at) e = g->cu.stream_wait(x->to[k].at);
  return e;
}

static void ein_spilling_unlock(ein_gpu *g, ein_spilling *x) {
  for (int b = 0; b < x->n; b++) {
    if (x->locked[b]) g->cu.host_unlock(x->locked[b]);
    x->locked[b] = NULL;
  }
}

static void ein_spilling_end(ein_gpu *g, ein_spilling *x) {
  void *own;
  if (!x) return;
  if (g->context && !g->cu.context_push(g->context)) {
    ein_spilling_wait(g, x);
    ein_spilling_unlock(g, x);
    for (int b = 0; b < x->n; b++)
      if (x->own[b]) g->cu.host_drop(x->own[b]);
    if (x->launched) g->cu.event_end(x->launched);
    for (int k = 0; k < EIN_SPILL_STREAMS; k++) {
      for (int e = 0; e < EIN_SPILL_EVENTS; e++)
        if (x->to[k].event[e]) g->cu.event_end(x->to[k].event[e]);
      if (x->to[k].at) g->cu.stream_end(x->to[k].at);
    }
    g->cu.context_pop(&own);
  }
  ein_spill_end(&x->plan);
  free(x);
}

/* ---- the beginning of a run ---- */

/* By a buffer's space. */
static const unsigned char ein_spilling_kind[] = {EIN_SPILL_INPUT, EIN_SPILL_OUTPUT, EIN_SPILL_WORK};

/* The memory of moves; which rows are not run. defaults: no input is given, else those that are not. */
static void ein_spilling_others(const ein_ctx *ctx, const ein_cuda *d, ein_spilling *x, int defaults) {
  const ein_inside *in = ctx->inside;
  for (int b = in->tables->n_buffers; b < x->n; b++) {
    x->bytes[b] = in->laid.bytes[in->laid.n_work + b - in->tables->n_buffers];
    x->kind[b] = (unsigned char)(x->bytes[b] ? EIN_SPILL_WORK : EIN_SPILL_OUTSIDE);
  }
  for (int r = 0; r < d->table->n_rows; r++) {
    const ein_spill_row *row = &d->table->row[r];
    x->skip[r] = (row->unless >= 0 && !defaults && in->args.given[row->unless]) ||
        (row->when >= 0 && !ctx->size[row->when]);
  }
}

/* What is planned of a run: all tensors but those that are on the device already, and empty ones. */
static void ein_spilling_kinds(ein_ctx *ctx, ein_cuda *d, ein_spilling *x) {
  const ein_inside *in = ctx->inside;
  for (int b = 0; b < in->tables->n_buffers; b++) {
    int space = ein_buffer_of(ctx, b)->space;
    x->bytes[b] = (int64_t)ein_cuda_bytes(ctx, b);
    x->kind[b] = EIN_SPILL_OUTSIDE;
    if (in->count[b] && (space == 2 || ein_cuda_copied(ctx, b))) x->kind[b] = ein_spilling_kind[space];
    if (x->kind[b] == EIN_SPILL_OUTSIDE) d->at[b] = in->count[b] ? ctx->data[b] : d->block;
  }
  ein_spilling_others(ctx, d, x, 0);
}

static int ein_spilling_own(ein_ctx *ctx, ein_gpu *g, ein_spilling *x, int b) {
  size_t bytes = (size_t)x->bytes[b];
  if (x->owned[b] < bytes) {
    if (x->own[b]) g->cu.host_drop(x->own[b]);
    x->own[b] = NULL, x->owned[b] = 0;
    void *at = NULL;
    if (!ein_gpu_ok(ctx, g, g->cu.host_take(&at, bytes), "host memory for what is not on the device")) return 0;
    x->own[b] = (char *)at, x->owned[b] = bytes;
  }
  x->home[b] = x->own[b];
  return 1;
}

/* Whether the caller's memory serves as an argument's place on the host: it is in row-major order, and nobody else has
 * locked it, who may unlock it during a copy. */
static int ein_spilling_serves(ein_ctx *ctx, ein_gpu *g, ein_spilling *x, int b) {
  int e;
  if (!ctx->dense[b]) return 0;
  e = g->cu.host_lock(ctx->data[b], (size_t)x->bytes[b], 0);
  if (!e) x->locked[b] = ctx->data[b];
  return e != EIN_CU_LOCKED;
}

/* Finds the arguments' places on the host. */
static int ein_spilling_homes(ein_ctx *ctx, ein_cuda *d, ein_spilling *x) {
  for (int b = 0; b < x->n; b++) {
    x->home[b] = NULL;
    if (x->kind[b] != EIN_SPILL_INPUT && x->kind[b] != EIN_SPILL_OUTPUT) continue;
    if (d->there[b] || ein_spilling_serves(ctx, &d->gpu, x, b)) x->home[b] = (char *)ctx->data[b];
    else if (!ein_spilling_own(ctx, &d->gpu, x, b)) return 0;
    else if (x->kind[b] == EIN_SPILL_INPUT) ein_cuda_turn(ctx, b, x->home[b], 1);
  }
  return 1;
}

static int ein_spilling_too_small(ein_ctx *ctx, const ein_cuda *d, uint64_t least, int r, uint64_t all) {
  static const ein_spill_row none = {0, 0, 0, -1, -1, -1, -1, NULL, NULL, 0};
  const ein_spill_row *row = r < 0 ? &none : &d->table->row[r];
  const ein_where where = ein_where_of(row->file, row->line);
  ein_error_set(&ctx->inside->error, EIN_ERR_MEMORY,
      "no memory on the device: the run takes at least %llu bytes there, for %.80s%s, and %llu are %s",
      (unsigned long long)least, row->name ? row->name : "one step", where.text, (unsigned long long)all,
      d->limit ? "allowed" : "free");
  return 0;
}

static uint64_t ein_spilling_most(const ein_cuda *d) {
  uint64_t all = ein_cuda_most(d);
  return d->limit ? all : all - all / 16; /* the driver needs some */
}

/* The least that a run takes, if all its arguments are on the device, and defaults are not computed; or, on_host, the
 * opposite. *row: for which; -1: there was no memory to plan it. */
static uint64_t ein_spilling_least(ein_ctx *ctx, ein_cuda *d, ein_spilling *x, int on_host, int *row) {
  for (int b = 0; b < ctx->inside->tables->n_buffers; b++) {
    int space = ein_buffer_of(ctx, b)->space;
    x->bytes[b] = (int64_t)ein_cuda_bytes(ctx, b);
    x->kind[b] = space == 2 || on_host ? ein_spilling_kind[space] : (unsigned char)EIN_SPILL_OUTSIDE;
  }
  ein_spilling_others(ctx, d, x, 1);
  for (int r = 0; r < d->table->n_rows && !on_host; r++) x->skip[r] |= d->table->row[r].unless >= 0;
  x->made = 0;
  *row = -1;
  ein_spill_end(&x->plan);
  if (!ein_spill_begin(&x->plan, d->table, x->n, x->kind, x->bytes, x->skip))
    return ein_error_set(&ctx->inside->error, EIN_ERR_MEMORY, "no memory to plan what is on the device"), 0;
  return EIN_SPILL_HEAD + (uint64_t)ein_spill_least(&x->plan, row);
}

/* When sizes are bound: whether there is a run that can spill. */
static int ein_spilling_ready(ein_ctx *ctx, ein_cuda *d) {
  int row;
  if (!d->spilling) d->spilling = ein_spilling_new(ctx, d->table);
  if (!d->spilling) return 0;
  if (ein_spilling_least(ctx, d, d->spilling, 0, &row) <= ein_spilling_most(d)) return ein_state(ctx) == EIN_OK;
  uint64_t least = ein_spilling_least(ctx, d, d->spilling, 1, &row);
  return ein_state(ctx) == EIN_OK && ein_spilling_too_small(ctx, d, least, row, ein_spilling_most(d));
}

/* Of what a plan is made of, besides the table. */
static uint64_t ein_spilling_hash(const ein_cuda *d, const ein_spilling *x, uint64_t memory) {
  uint64_t hash = ein_asks_mix(1, memory);
  for (int b = 0; b < x->n; b++) hash = ein_asks_mix(ein_asks_mix(hash, (uint64_t)x->bytes[b]), x->kind[b]);
  for (int r = 0; r < d->table->n_rows; r++) hash = ein_asks_mix(hash, x->skip[r]);
  return hash | 1;
}

/* Makes the plan, unless the last run's will do, and takes the memory. */
static int ein_spilling_plan(ein_ctx *ctx, ein_cuda *d, ein_spilling *x) {
  const size_t head = EIN_SPILL_HEAD;
  uint64_t all = ein_spilling_most(d), wanted = head;
  int row = -1;
  uint64_t made = ein_spilling_hash(d, x, d->limit);
  if (x->made == made && d->held == (size_t)x->plan.memory + head) return ein_spill_reset(&x->plan), 1;
  x->made = 0;
  ein_spill_end(&x->plan);
  if (!ein_spill_begin(&x->plan, d->table, x->n, x->kind, x->bytes, x->skip))
    return ein_error_set(&ctx->inside->error, EIN_ERR_MEMORY, "no memory to plan what is on the device"), 0;
  wanted += (uint64_t)ein_spill_takes(&x->plan);
  if (ctx->inside->memory.emptied > wanted) wanted = ctx->inside->memory.emptied;
  uint64_t least = head + (uint64_t)ein_spill_least(&x->plan, &row);
  if (all < least) return ein_spilling_too_small(ctx, d, least, row, all);
  if (wanted > all) wanted = all;
  if (!ein_cuda_piece(ctx, d, &d->copies, &d->copied, 0, "") ||
      !ein_cuda_piece(ctx, d, &d->block, &d->held, (size_t)wanted, "a run that spills takes"))
    return 0;
  x->plan.memory = (int64_t)(wanted - head);
  x->memory = d->block + head;
  ein_spill_choose(&x->plan);
  x->made = made;
  return 1;
}

static int ein_spilling_begin(ein_ctx *ctx, ein_cuda *d) {
  if (ein_gpu_captures(&d->gpu))
    return ein_error_set(&ctx->inside->error, EIN_ERR_ARG,
               "the stream is being captured, and the run does not fit the device's memory"),
           0;
  if (!d->spilling) d->spilling = ein_spilling_new(ctx, d->table);
  ein_spilling *x = d->spilling;
  if (!x || !ein_spilling_streams(ctx, &d->gpu, x)) return 0;
  ein_spilling_kinds(ctx, d, x);
  if (!ein_spilling_plan(ctx, d, x)) return 0;
  ein_spilling_kinds(ctx, d, x); /* the block may be another one */
  ein_cuda_sites_lay(ctx, d, d->block);
  x->on = 1;
  for (int k = 0; k < EIN_SPILL_STREAMS; k++) {
    x->to[k].row = -2; /* the first copies wait for what the caller has asked of a stream of its own */
    x->to[k].other = x->waited[k] = 0;
  }
  memset(x->moved, 0, (size_t)x->n * sizeof *x->moved);
  return ein_spilling_homes(ctx, d, x);
}

/* ---- actions ---- */

static int ein_spilling_move(ein_ctx *ctx, ein_gpu *g, ein_spilling *x, const ein_spill_action *a) {
  void *copies = x->to[EIN_SPILL_IN].at;
  uint64_t base = (uint64_t)(uintptr_t)x->memory, to = base + (uint64_t)a->at, from = base + (uint64_t)a->from;
  int64_t step = a->room > a->from - a->at ? a->room : a->from - a->at;
  for (int64_t done = 0; done < a->bytes; done += step) {
    size_t n = (size_t)(step < a->bytes - done ? step : a->bytes - done);
    uint64_t via = base + (uint64_t)a->via, at = to + (uint64_t)done;
    int e = g->cu.copy_across(a->room ? via : at, from + (uint64_t)done, n, copies);
    if (!e && a->room) e = g->cu.copy_across(at, via, n, copies);
    if (!ein_gpu_ok(ctx, g, e, "a tensor is moved")) return 0;
  }
  return 1;
}

/* A profiler's range for an action. */
static void ein_spilling_range(ein_ctx *ctx, const ein_spill_action *a) {
  static const char *const what[] = {EIN_CUDA_COMES, EIN_CUDA_GOES, " within the device"};
  if (a->slot < ctx->inside->tables->n_buffers) ein_cuda_range(ctx, a->slot, what[a->kind]);
  else ein_gpu_range(ctx, &ein_cuda_of(ctx)->gpu, "a move's memory", NULL, 0, what[a->kind]);
}

static int ein_spilling_act(ein_ctx *ctx, ein_cuda *d, const ein_spill_action *a) {
  ein_spilling *x = d->spilling;
  ein_gpu *g = &d->gpu;
  uint64_t at = (uint64_t)(uintptr_t)(x->memory + a->at);
  size_t bytes = (size_t)a->bytes;
  void *copies = x->to[ein_spill_stream(a->kind)].at;
  int there = x->kind[a->slot] != EIN_SPILL_WORK && d->there[a->slot];
  ein_spilling_range(ctx, a);
  if (a->kind == EIN_SPILL_MOVE) return ein_spilling_move(ctx, g, x, a);
  if (!x->home[a->slot] && !ein_spilling_own(ctx, g, x, a->slot)) return 0; /* of a work buffer */
  uint64_t home = (uint64_t)(uintptr_t)x->home[a->slot];
  if (!there) x->moved[a->slot] += a->bytes;
  if (there && !ctx->dense[a->slot])
    return ein_cuda_pack(ctx, copies, a->slot, x->memory + a->at, a->kind == EIN_SPILL_FETCH);
  if (a->kind == EIN_SPILL_FETCH) {
    if (there) return ein_gpu_ok(ctx, g, g->cu.copy_across(at, home, bytes, copies), "a tensor is copied");
    g->counts->bytes_up += bytes;
    return ein_gpu_ok(ctx, g, g->cu.copy_up(at, x->home[a->slot], bytes, copies), "a tensor goes to the device");
  }
  if (there) return ein_gpu_ok(ctx, g, g->cu.copy_across(home, at, bytes, copies), "a tensor is copied");
  g->counts->bytes_down += bytes;
  return ein_gpu_ok(ctx, g, g->cu.copy_down(x->home[a->slot], at, bytes, copies), "a tensor comes from the device");
}

/* A stream waits for so many actions of one of the copies' streams. */
static int ein_spilling_after(ein_ctx *ctx, ein_gpu *g, ein_spilling *x, void *stream, int of, int64_t actions) {
  int64_t last = actions - 1, kept = x->plan.m.queue[of].done - EIN_SPILL_EVENTS;
  if (last < kept) last = kept;
  return ein_gpu_ok(ctx, g, g->cu.stream_after(stream, x->to[of].event[last % EIN_SPILL_EVENTS], 0), "an event");
}

/* The stream of an action waits for what must be over before. number: of the next row to be launched. */
static int ein_spilling_ordered(ein_ctx *ctx, ein_gpu *g, ein_spilling *x, const ein_spill_action *a, int64_t number) {
  int stream = ein_spill_stream(a->kind), other = !stream;
  ein_spilling_stream *c = &x->to[stream];
  if (a->after.row > c->row) {
    if (!ein_gpu_send(ctx, g) || !ein_gpu_ok(ctx, g, g->cu.event_record(x->launched, g->stream), "an event") ||
        !ein_gpu_ok(ctx, g, g->cu.stream_after(c->at, x->launched, 0), "an event"))
      return 0;
    c->row = number - 1;
  }
  if (a->after.actions[other] <= c->other) return 1;
  c->other = a->after.actions[other];
  return ein_spilling_after(ctx, g, x, c->at, other, c->other);
}

/* Asks for the stream's actions that may begin before the row with that number. Returns how many; -1: a failure. */
static int ein_spilling_some(ein_ctx *ctx, ein_cuda *d, int stream, int64_t number) {
  ein_spilling *x = d->spilling;
  ein_spill_memory *m = &x->plan.m;
  ein_spill_queue *q = &m->queue[stream];
  int n = 0;
  for (; q->done < q->asked; q->done++, n++) {
    const ein_spill_action *a = &q->action[q->done % q->room];
    if (a->after.row >= number || a->after.actions[!stream] > m->queue[!stream].done) break;
    void *event = x->to[stream].event[q->done % EIN_SPILL_EVENTS];
    if (!ein_spilling_ordered(ctx, &d->gpu, x, a, number) || !ein_spilling_act(ctx, d, a) ||
        !ein_gpu_ok(ctx, &d->gpu, d->gpu.cu.event_record(event, x->to[stream].at), "an event"))
      return -1;
  }
  return n;
}

/* Asks for all actions that may begin before the row with that number. */
static int ein_spilling_go(ein_ctx *ctx, ein_cuda *d, int64_t number) {
  if (d->spilling->plan.m.failed)
    return ein_error_set(&ctx->inside->error, EIN_ERR_MEMORY, "no memory to plan what is on the device"), 0;
  for (int in = 1, out = 1; in || out;) {
    in = ein_spilling_some(ctx, d, EIN_SPILL_IN, number);
    out = in < 0 ? -1 : ein_spilling_some(ctx, d, EIN_SPILL_OUT, number);
    if (out < 0) return 0;
  }
  return 1;
}

/* The run's stream waits for the actions that a row needs. */
static int ein_spilling_awaits(ein_ctx *ctx, ein_gpu *g, ein_spilling *x, const ein_spill_planned *p) {
  for (int k = 0; k < EIN_SPILL_STREAMS; k++) {
    if (p->actions[k] <= x->waited[k]) continue;
    x->waited[k] = p->actions[k];
    if (!ein_gpu_send(ctx, g) || !ein_spilling_after(ctx, g, x, g->stream, k, p->actions[k])) return 0;
  }
  return 1;
}

/* Before a row: its buffers get their addresses. */
static void ein_spilling_need(ein_ctx *ctx, ein_cuda *d, int row) {
  ein_spilling *x = d->spilling;
  ein_gpu *g = &d->gpu;
  ein_spill *s = &x->plan;
  if (ein_state(ctx) != EIN_OK) return;
  const ein_spill_planned *p = ein_spill_need(s);
  const ein_spill_row *r = &d->table->row[row];
  if (p->row != row) {
    ein_error_set(&ctx->inside->error, EIN_ERR_IO, "the device's memory is planned for row %d, and the run is at %d",
        p->row, row);
    return;
  }
  if (!ein_spilling_go(ctx, d, p->number) || !ein_spilling_awaits(ctx, g, x, p)) return;
  for (int k = 0, n = ctx->inside->tables->n_buffers; k < r->n; k++) {
    int b = d->table->use[r->first + k].buffer;
    if (p->at[k] < 0) continue;
    if (b < n) d->at[b] = x->memory + p->at[k];
    else ein_spilling_room(d, b - n, x->memory + p->at[k]);
  }
}

static int ein_spilling_on(const ein_cuda *d) { return d->spilling && d->spilling->on; }
static void ein_spilling_repeat(ein_cuda *d, int row, int64_t turns) {
  ein_spill_repeat(&d->spilling->plan, row, turns);
}
static void ein_spilling_until(ein_cuda *d, int row, int stop) { ein_spill_until(&d->spilling->plan, row, stop); }

/* ---- the end ---- */

/* The name of what is planned, for people. */
static const char *ein_spilling_name(const ein_ctx *ctx, int b) {
  const char *name = b < ctx->inside->tables->n_buffers ? ein_buffer_of(ctx, b)->name : "a move's memory";
  return name ? name : "a tensor";
}

/* Counts the bytes beyond each argument once, and lists what moved most of them. */
static void ein_spilling_count_run(ein_ctx *ctx, ein_spilling *x, ein_counts *counts) {
  size_t at = 0;
  counts->runs_spilled++;
  for (int b = 0; b < x->n; b++) {
    if (x->kind[b] != EIN_SPILL_WORK && x->moved[b] > 0) x->moved[b] -= x->bytes[b];
    counts->bytes_spilled += (uint64_t)x->moved[b];
  }
  counts->spilled[0] = '\0';
  for (int k = 0; k < EIN_SPILL_TOLD; k++) {
    int most = 0;
    for (int b = 1; b < x->n; b++)
      if (x->moved[b] > x->moved[most]) most = b;
    if (!x->n || !x->moved[most] || at >= sizeof counts->spilled) return;
    int n = snprintf(counts->spilled + at, sizeof counts->spilled - at, "%s%.40s %lld", k ? ", " : "",
        ein_spilling_name(ctx, most), (long long)x->moved[most]);
    at += n > 0 ? (size_t)n : 0;
    x->moved[most] = 0;
  }
}

static int ein_spilling_give(ein_ctx *ctx, ein_cuda *d) {
  ein_spilling *x = d->spilling;
  ein_gpu *g = &d->gpu;
  if (!ein_gpu_send(ctx, g)) return 0;
  ein_spill_finish(&x->plan);
  if (!ein_spilling_go(ctx, d, INT64_MAX)) return 0;
  ein_gpu_range_end(ctx, g);
  if (!ein_gpu_ok(ctx, g, ein_spilling_wait(g, x), "an output comes from the device")) return 0;
  for (int b = 0; b < ctx->inside->tables->n_buffers; b++)
    if (x->kind[b] == EIN_SPILL_OUTPUT && x->home[b] == x->own[b]) ein_cuda_turn(ctx, b, x->home[b], 0);
  ein_spilling_count_run(ctx, x, g->counts);
  return 1;
}

/* After the run, also after a failed one. */
static ein_status ein_spilling_finish(ein_ctx *ctx, ein_cuda *d, ein_status status) {
  ein_spilling *x = d->spilling;
  if (status == EIN_OK && !ein_spilling_give(ctx, d)) status = ein_state(ctx);
  if (d->gpu.entered && status != EIN_OK) ein_spilling_wait(&d->gpu, x);
  if (d->gpu.entered) ein_spilling_unlock(&d->gpu, x);
  x->on = 0;
  return status;
}

#endif
