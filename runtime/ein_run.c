/* SPDX-License-Identifier: MIT-0 */
/*
 * The contexts of generated code: made, planned for given sizes, and run. In come a model's tables and the
 * caller's settings, sizes and tensors; out go statuses and one message, the first of each call. A context is
 * one block of memory, a plan one more; a run allocates nothing. Nothing is printed, and there is no global
 * state.
 */
#include "ein_inside.h"
#include "ein_pages.h"

#include <stdio.h>
#include <stdlib.h>

EIN_API ein_where ein_where_of(const char *file, int line) {
  ein_where w;
  size_t length = file ? strlen(file) : 0;
  w.text[0] = '\0';
  if (length > 120) file += length - 120;
  if (file) snprintf(w.text, sizeof w.text, " (%s%s:%d)", length > 120 ? "..." : "", file, line);
  return w;
}

/* ---- checked arithmetic ---- */

EIN_API int ein_add_wraps(int64_t a, int64_t b, int64_t *sum) {
  int wraps = b < 0 ? a < INT64_MIN - b : a > INT64_MAX - b;
  *sum = (int64_t)((uint64_t)a + (uint64_t)b);
  return wraps;
}

EIN_API int ein_mul_wraps(int64_t a, int64_t b, int64_t *product) {
  *product = (int64_t)((uint64_t)a * (uint64_t)b);
  if (a == 0 || b == 0) return 0;
  if (a == -1 || b == -1) return a == INT64_MIN || b == INT64_MIN;
  return *product / b != a;
}

EIN_API void ein_row_major(int ndim, const int64_t *shape, int64_t *stride) {
  int64_t step = 1;
  for (int k = ndim - 1; k >= 0; k--) {
    stride[k] = step;
    step *= shape[k] ? shape[k] : 1;
  }
}

EIN_API int64_t ein_plan_add(ein_plan *p, int64_t a, int64_t b) {
  p->wrapped |= ein_add_wraps(a, b, &a);
  return a;
}

EIN_API int64_t ein_plan_sub(ein_plan *p, int64_t a, int64_t b) {
  p->wrapped |= b == INT64_MIN ? a >= 0 : ein_add_wraps(a, -b, &a);
  return b == INT64_MIN ? (int64_t)((uint64_t)a - (uint64_t)b) : a;
}

EIN_API int64_t ein_plan_mul(ein_plan *p, int64_t a, int64_t b) {
  p->wrapped |= ein_mul_wraps(a, b, &a);
  return a;
}

EIN_API int64_t ein_plan_neg(ein_plan *p, int64_t a) {
  return ein_plan_sub(p, 0, a);
}

EIN_API void ein_plan_size(ein_plan *p, int64_t size, const char *what, const char *file, int line) {
  ein_where where = ein_where_of(file, line);
  if (p->wrapped)
    ein_error_set(p->error, EIN_ERR_SHAPE, "%s does not fit 64 bits%s", what, where.text);
  else if (size < 0)
    ein_error_set(p->error, EIN_ERR_SHAPE, "%s is %lld, which is less than 0%s", what, (long long)size, where.text);
}

EIN_API void ein_plan_check(ein_plan *p, int holds, const char *text, const char *file, int line) {
  ein_where where = ein_where_of(file, line);
  if (p->wrapped)
    ein_error_set(p->error, EIN_ERR_SHAPE, "a size does not fit 64 bits%s", where.text);
  else if (!holds)
    ein_error_set(
        p->error, EIN_ERR_ASSERT, "%s%s", text && *text ? text : "a check of the sizes does not hold", where.text);
}

/* ---- memory ---- */

/* Allocates with malloc and aligns the block; the pointer that malloc returned is stored before it. */
static void *ein_memory_get(const ein_config *config, size_t bytes) {
  if (config->alloc) return config->alloc(config->user, bytes, EIN_ALIGN);
  if (bytes > SIZE_MAX - 2 * EIN_ALIGN) return NULL;
  char *block = (char *)malloc(bytes + EIN_ALIGN + sizeof(void *));
  if (!block) return NULL;
  ein_pages_large(block, bytes);
  char *p = block + sizeof(void *);
  p += (EIN_ALIGN - (uintptr_t)p % EIN_ALIGN) % EIN_ALIGN;
  memcpy(p - sizeof(void *), &block, sizeof(void *));
  return p;
}

static void ein_memory_drop(const ein_config *config, void *p, size_t bytes) {
  void *block;
  if (!p) return;
  if (config->release) {
    config->release(config->user, p, bytes);
    return;
  }
  memcpy(&block, (char *)p - sizeof(void *), sizeof(void *));
  free(block);
}

/* Takes a piece of a block; if base is NULL, only adds up its size. */
static void *ein_cut(char *base, size_t *used, int64_t n, size_t size) {
  void *piece = base ? base + *used : NULL;
  *used += ((size_t)n * size + EIN_ALIGN - 1) / EIN_ALIGN * EIN_ALIGN;
  return piece;
}

/* Lays out all of a context in one block. Returns its size; if base is NULL, does only that. */
static size_t ein_context_cut(char *base, const ein_tables *t, ein_ctx *ctx, ein_inside *in, void **team) {
  size_t used = 0;
  int n = t->n_buffers, n_args = t->n_inputs + t->n_outputs, n_laid = n + (t->mesh ? t->mesh->n_moves : 0);
  int sites = in->config.wire ? in->config.wire->sites : 0;
  ein_cut(base, &used, 1, sizeof(ein_ctx));
  ein_cut(base, &used, 1, sizeof(ein_inside));
  in->args.seen = (ein_seen *)ein_cut(base, &used, n_args, sizeof(ein_seen));
  in->args.told = (int64_t *)ein_cut(base, &used, t->n_axes, sizeof(int64_t));
  in->plan.size = (int64_t *)ein_cut(base, &used, t->n_sizes, sizeof(int64_t));
  in->plan.shape = (int64_t *)ein_cut(base, &used, t->n_axes, sizeof(int64_t));
  ctx->stride = (int64_t *)ein_cut(base, &used, t->n_axes, sizeof(int64_t));
  ctx->data = (void **)ein_cut(base, &used, n, sizeof(void *));
  ctx->turn = (int64_t *)ein_cut(base, &used, t->n_turns, sizeof(int64_t));
  in->count = (int64_t *)ein_cut(base, &used, n, sizeof(int64_t));
  in->laid.offset = (int64_t *)ein_cut(base, &used, n_laid, sizeof(int64_t));
  in->laid.bytes = (int64_t *)ein_cut(base, &used, n_laid, sizeof(int64_t));
  in->laid.first = (int *)ein_cut(base, &used, n_laid, sizeof(int));
  in->laid.last = (int *)ein_cut(base, &used, n_laid, sizeof(int));
  in->laid.order = (int *)ein_cut(base, &used, n_laid, sizeof(int));
  in->laid.work = (int *)ein_cut(base, &used, n, sizeof(int));
  in->args.input = (int *)ein_cut(base, &used, t->n_inputs, sizeof(int));
  in->args.output = (int *)ein_cut(base, &used, t->n_outputs, sizeof(int));
  in->laid.home = (void **)ein_cut(base, &used, n, sizeof(void *));
  in->args.span = (ein_span *)ein_cut(base, &used, n_args, sizeof(ein_span));
  in->args.given = (unsigned char *)ein_cut(base, &used, n, 1);
  ctx->dense = (unsigned char *)ein_cut(base, &used, n, 1);
  in->memory.nothing = ein_cut(base, &used, 1, EIN_ALIGN);
  in->among.parcel = (ein_parcel *)ein_cut(base, &used, 2 * (int64_t)sites, sizeof(ein_parcel));
  in->among.alike = (int *)ein_cut(base, &used, sites, sizeof(int));
  in->among.near = (unsigned char *)ein_cut(base, &used, t->mesh ? (int64_t)sites * t->mesh->n_moves : 0, 1);
  *team = ein_cut(base, &used, 1, ein_team_bytes(in->threads));
  return used;
}

/* ---- creation ---- */

static int ein_mesh_sites(const ein_mesh *m) {
  int n = 1;
  for (int a = 0; a < m->n; a++) n *= m->size[a];
  return n;
}

static int ein_config_read(ein_config *to, const ein_config *from) {
  memset(to, 0, sizeof *to);
  if (!from) return 1;
  if (from->size < sizeof from->size) return 0;
  memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
  return to->threads >= 0 && to->device >= -1 && !to->alloc == !to->release &&
      (uintptr_t)to->workspace % EIN_ALIGN == 0;
}

/* Finds the buffers of arguments and of work. Returns 0 if the tables are inconsistent. */
static int ein_buffers_sort(ein_inside *in) {
  const ein_tables *t = in->tables;
  ein_laid *l = &in->laid;
  for (int k = 0; k < t->n_inputs; k++) in->args.input[k] = -1;
  for (int k = 0; k < t->n_outputs; k++) in->args.output[k] = -1;
  for (int b = 0; b < t->n_buffers; b++) {
    const ein_buffer *x = &t->buffer[b];
    int limit = x->space == 0 ? t->n_inputs : x->space == 1 ? t->n_outputs : 1;
    if (x->at < 0 || x->ndim < 0 || x->ndim > t->n_axes - x->at) return 0;
    if (x->space < 2 && (x->argument < 0 || x->argument >= limit)) return 0;
    if (x->space == 0) in->args.input[x->argument] = b;
    if (x->space == 1) in->args.output[x->argument] = b;
    if (x->space != 2) continue;
    l->first[l->n_work] = x->first;
    l->last[l->n_work] = x->last;
    l->work[l->n_work++] = b;
  }
  l->n = l->n_work;
  for (int k = 0; t->mesh && k < t->mesh->n_moves; k++) {
    l->first[l->n] = t->mesh->move[k].step;
    l->last[l->n++] = t->mesh->move[k].end;
  }
  for (int k = 0; k < t->n_inputs; k++)
    if (in->args.input[k] < 0) return 0;
  for (int k = 0; k < t->n_outputs; k++)
    if (in->args.output[k] < 0) return 0;
  return 1;
}

EIN_API ein_status ein_create(const ein_tables *t, const ein_config *config, void **ctx) {
  ein_config own;
  ein_ctx first;
  ein_inside in;
  void *team;
  if (!ctx) return EIN_ERR_ARG;
  *ctx = NULL;
  if (!ein_config_read(&own, config)) return EIN_ERR_ARG;
  if (t->mesh && own.wire && own.wire->sites != ein_mesh_sites(t->mesh)) return EIN_ERR_ARG;
  memset(&first, 0, sizeof first);
  memset(&in, 0, sizeof in);
  in.threads = ein_team_size(&own);
  in.tables = t;
  in.worth_threads = t->worth_threads > 0 ? t->worth_threads : EIN_WORTH_THREADS;
  in.config = own;
  in.size = ein_context_cut(NULL, t, &first, &in, &team);
  char *block = (char *)ein_memory_get(&own, in.size);
  if (!block) return EIN_ERR_MEMORY;
  memset(block, 0, in.size);
  ein_context_cut(block, t, &first, &in, &team);
  first.size = in.plan.size;
  first.shape = in.plan.shape;
  first.scratch = (char *)(in.memory.empty = in.memory.nothing);
  first.inside = (ein_inside *)(void *)(block + (sizeof first + EIN_ALIGN - 1) / EIN_ALIGN * EIN_ALIGN);
  *first.inside = in;
  memcpy(block, &first, sizeof first);
  ein_ctx *made = (ein_ctx *)(void *)block;
  made->inside->plan.error = &made->inside->error;
  if (!ein_buffers_sort(made->inside)) {
    ein_memory_drop(&own, block, in.size);
    return EIN_ERR_ARG;
  }
  ein_team_start(made, team);
  *ctx = made;
  return EIN_OK;
}

static void ein_workspace_drop(ein_inside *in) {
  if (!in->config.workspace) ein_memory_drop(&in->config, in->memory.workspace, in->memory.held);
  in->memory.workspace = NULL;
  in->memory.held = 0;
}

static void ein_empty_drop(ein_inside *in) {
  ein_memory *m = &in->memory;
  if (m->emptied && m->empty != m->nothing) ein_memory_drop(&in->config, m->empty, m->emptied);
  m->empty = m->nothing;
  m->emptied = 0;
}

EIN_API void ein_destroy(void *context) {
  ein_ctx *ctx = (ein_ctx *)context;
  if (!ctx) return;
  ein_team_end(ctx);
  const ein_device_side *device = &ctx->inside->device;
  if (device->state) device->end(device->state);
  ein_workspace_drop(ctx->inside);
  ein_empty_drop(ctx->inside);
  ein_config own = ctx->inside->config;
  ein_memory_drop(&own, ctx, ctx->inside->size);
  if (own.wire && own.wire->close) own.wire->close(own.wire->user);
}

/* ---- planning ---- */

static void ein_error_clear(ein_inside *in) {
  in->error.status = EIN_OK;
  in->error.text[0] = '\0';
}

static ein_status ein_plan_sizes(ein_inside *in, const int64_t *dims) {
  const ein_tables *t = in->tables;
  if (t->n_dims && !dims) return ein_error_set(&in->error, EIN_ERR_ARG, "the sizes are NULL");
  for (int k = 0; k < t->n_dims; k++)
    if (dims[k] < 0)
      ein_error_set(
          &in->error, EIN_ERR_SHAPE, "the size %s is %lld, which is less than 0", t->dim[k], (long long)dims[k]);
  in->plan.scratch = 0;
  in->plan.wrapped = 0;
  if (in->error.status == EIN_OK && t->sizes) t->sizes(&in->plan, dims);
  return in->error.status;
}

/* Reports an overflow in the amount of work. An overflow of a tensor's size has been reported before. */
static ein_status ein_plan_counted(ein_inside *in, const int64_t *dims) {
  const ein_tables *t = in->tables;
  char with[256] = "";
  if (!in->plan.wrapped && in->plan.scratch >= 0) return EIN_OK;
  for (int k = 0, at = 0; k < t->n_dims && at < (int)sizeof with; k++)
    at += snprintf(
        with + at, sizeof with - (size_t)at, "%s%.40s = %lld", k ? ", " : " with ", t->dim[k], (long long)dims[k]);
  return ein_error_set(&in->error, EIN_ERR_SHAPE, "there is more to compute than 64 bits can count%s", with);
}

static ein_status ein_plan_too_large(ein_ctx *ctx, const ein_buffer *b) {
  const int64_t *shape = ctx->shape + b->at;
  int most = 0;
  for (int k = 1; k < b->ndim; k++)
    if (shape[k] > shape[most]) most = k;
  ein_axis axis = ein_axis_of(b, most);
  ein_where where = ein_where_of(b->file, b->line);
  return ein_error_set(&ctx->inside->error, EIN_ERR_SHAPE,
      "%.90s would take more than 2^63 bytes: %s has the extent %lld%s", b->name ? b->name : "a tensor", axis.text,
      (long long)shape[most], where.text);
}

/* Computes counts and strides of all buffers, and the bytes of work. */
static ein_status ein_plan_buffers(ein_ctx *ctx) {
  ein_inside *in = ctx->inside;
  int w = 0;
  for (int b = 0; b < in->tables->n_buffers; b++) {
    const ein_buffer *x = ein_buffer_of(ctx, b);
    int64_t bytes = 0;
    if (ein_shape_size("", x->dtype, x->ndim, ctx->shape + x->at, &in->count[b], &bytes, NULL) != EIN_OK)
      return ein_plan_too_large(ctx, x);
    ein_row_major(x->ndim, ctx->shape + x->at, ctx->stride + x->at);
    ctx->dense[b] = 1;
    if (x->space == 2) in->laid.bytes[w++] = bytes;
  }
  for (int k = 0; w < in->laid.n; k++) in->laid.bytes[w++] = in->tables->mesh->staged(ctx, k);
  return EIN_OK;
}

/* An index from data that is out of range becomes 0, so a kernel may read one element along that axis of an
 * empty tensor. */
static ein_status ein_plan_empty(ein_ctx *ctx) {
  ein_inside *in = ctx->inside;
  int64_t most = 0;
  ein_empty_drop(in);
  for (int b = 0; in->tables->n_sites && b < in->tables->n_buffers; b++) {
    const ein_buffer *x = ein_buffer_of(ctx, b);
    int64_t bytes = (int64_t)ein_dtype_size(x->dtype);
    for (int d = 0; in->count[b] == 0 && d < x->ndim; d++)
      if (ctx->shape[x->at + d] && ein_mul_wraps(bytes, ctx->shape[x->at + d], &bytes))
        bytes = INT64_MAX / EIN_MAX_AXES;
    if (in->count[b] == 0 && bytes > most) most = bytes;
  }
  if (most <= EIN_ALIGN) return EIN_OK;
  ein_memory *m = &in->memory;
  m->emptied = (size_t)most;
  if (in->tables->ready) return EIN_OK; /* the device does this itself */
  m->empty = (uint64_t)most > SIZE_MAX / 2 ? NULL : ein_memory_get(&in->config, (size_t)most);
  if (m->empty) return memset(m->empty, 0, (size_t)most), EIN_OK;
  m->emptied = 0;
  m->empty = m->nothing;
  return ein_error_set(&in->error, EIN_ERR_MEMORY,
      "no memory: reads of tensors without elements need %llu bytes", (unsigned long long)most);
}

/* The workspace: work buffers, then the threads' scratch memory. */
static ein_status ein_plan_memory(ein_ctx *ctx, size_t *scratch_at) {
  ein_inside *in = ctx->inside;
  int64_t scratch = in->plan.scratch, all, total;
  const ein_laid *l = &in->laid;
  int64_t work = ein_layout(l->n, l->bytes, l->first, l->last, l->offset, l->order);
  if (work < 0 || ein_add_wraps(scratch, EIN_ALIGN - 1, &scratch) ||
      ein_mul_wraps(scratch / EIN_ALIGN * EIN_ALIGN, in->threads, &all) || ein_add_wraps(work, all, &total) ||
      (uint64_t)total > SIZE_MAX / 2)
    return ein_error_set(&in->error, EIN_ERR_SHAPE, "the work memory does not fit 64 bits");
  *scratch_at = (size_t)work;
  ctx->scratch_bytes = (size_t)(scratch / EIN_ALIGN * EIN_ALIGN);
  in->memory.wanted = (size_t)total;
  return EIN_OK;
}

static ein_status ein_plan_take(ein_inside *in) {
  const ein_config *c = &in->config;
  ein_memory *m = &in->memory;
  if (c->workspace) {
    m->workspace = c->workspace;
    if (m->wanted > c->workspace_bytes)
      return ein_error_set(&in->error, EIN_ERR_PLAN, "the workspace has %llu bytes, but %llu are needed",
                           (unsigned long long)c->workspace_bytes, (unsigned long long)m->wanted);
    return EIN_OK;
  }
  if (m->held == m->wanted) return EIN_OK;
  ein_workspace_drop(in);
  if (m->wanted) m->workspace = ein_memory_get(c, m->wanted);
  if (m->wanted && !m->workspace)
    return ein_error_set(&in->error, EIN_ERR_MEMORY, "no memory: the run needs %llu bytes",
                         (unsigned long long)m->wanted);
  m->held = m->wanted;
  return EIN_OK;
}

/* ---- one of several sites ---- */

/* All sites know that this run has failed. */
static void ein_part(ein_inside *in) {
  in->among.parted = 1;
  in->among.under_way = 0;
  in->among.partings++;
}

/* Tells all sites whether this one can go on. A site that failed alone keeps its own message. */
static ein_status ein_agree(ein_ctx *ctx, ein_status mine) {
  ein_inside *in = ctx->inside;
  ein_status all = in->config.wire->agree(in->config.wire->user, mine);
  if (all == EIN_OK) return EIN_OK;
  ein_part(in);
  ein_error_set(&in->error, all, EIN_ELSEWHERE);
  return all;
}

EIN_API ein_status ein_met(ein_ctx *ctx, ein_status status) {
  if (status == EIN_OK) return EIN_OK;
  const ein_wire *wire = ctx->inside->config.wire;
  const char *why = wire->why ? wire->why(wire->user) : "";
  if (*why) ein_error_set(&ctx->inside->error, status, "an exchange between sites failed: %s", why);
  ein_status all = ein_agree(ctx, EIN_OK);
  return all != EIN_OK ? all : ein_error_set(&ctx->inside->error, status, "an exchange between sites failed");
}

EIN_API ein_status ein_meet(
    ein_ctx *ctx, ein_status mine, int n_send, const ein_parcel *send, int n_receive, const ein_parcel *receive) {
  if (mine != EIN_OK) return mine;
  const ein_wire *wire = ctx->inside->config.wire;
  const ein_ground *ground = ctx->inside->among.ground;
  const ein_far *far = ground && n_send + n_receive ? ground->far : NULL;
  const ein_parcel *to = receive;
  ein_parcel *lent = NULL;
  if (far && !far->lend(ctx, 0, n_send, send, n_receive, receive, &lent)) return ein_state(ctx);
  if (far) send = lent, to = lent + n_send;
  ein_status status = ein_met(ctx, wire->exchange(wire->user, n_send, send, n_receive, to));
  if (status == EIN_OK && lent && !far->back(ctx, 0, n_send, n_receive, receive)) status = ein_state(ctx);
  return status;
}

/* Returns the status of a plan or run to all sites. */
static ein_status ein_agreed(ein_ctx *ctx, ein_status status) {
  ein_inside *in = ctx->inside;
  if (!in->config.wire || in->among.parted) return status;
  if (status != EIN_OK) ein_error_set(&in->error, status, "the run failed");
  return ein_agree(ctx, status);
}

static ein_status ein_plan_here(ein_ctx *ctx, const int64_t *dims) {
  ein_inside *in = ctx->inside;
  size_t scratch_at = 0;
  ein_error_clear(in);
  in->planned = in->args.bound = 0;
  in->memory.wanted = 0;
  if (ein_plan_sizes(in, dims) != EIN_OK || ein_plan_buffers(ctx) != EIN_OK || ein_plan_counted(in, dims) != EIN_OK ||
      ein_plan_empty(ctx) != EIN_OK || ein_plan_memory(ctx, &scratch_at) != EIN_OK ||
      (in->tables->ready ? in->tables->ready(ctx) : ein_plan_take(in)) != EIN_OK)
    return in->error.status;
  const ein_laid *l = &in->laid;
  char *space = (char *)in->memory.workspace;
  for (int w = 0; w < l->n_work; w++)
    l->home[w] = in->count[l->work[w]] && space ? space + l->offset[w] : in->memory.empty;
  ctx->scratch = ctx->scratch_bytes && space ? space + scratch_at : (char *)in->memory.nothing;
  in->begins = l->n_work > 0 || in->tables->n_turns > 0;
  in->planned = 1;
  return EIN_OK;
}

EIN_API ein_status ein_plan_run(void *context, const int64_t *dims) {
  ein_ctx *ctx = (ein_ctx *)context;
  if (!ctx) return EIN_ERR_ARG;
  ctx->inside->among.parted = 0;
  ein_status status = ein_agreed(ctx, ein_plan_here(ctx, dims));
  if (status != EIN_OK) ctx->inside->planned = 0;
  return status;
}

EIN_API size_t ein_workspace_bytes(const void *context) {
  return context ? ((const ein_ctx *)context)->inside->memory.wanted : 0;
}

EIN_API ein_status ein_argument_shape(const void *context, int output, int argument, int64_t *shape) {
  const ein_ctx *ctx = (const ein_ctx *)context;
  if (!ctx) return EIN_ERR_ARG;
  const ein_inside *in = ctx->inside;
  int n = output ? in->tables->n_outputs : in->tables->n_inputs;
  if (argument < 0 || argument >= n) return EIN_ERR_ARG;
  if (!in->planned) return EIN_ERR_PLAN;
  const ein_buffer *b = ein_buffer_of(ctx, output ? in->args.output[argument] : in->args.input[argument]);
  if (b->ndim && !shape) return EIN_ERR_ARG;
  for (int k = 0; k < b->ndim; k++) shape[k] = ctx->shape[b->at + k];
  return EIN_OK;
}

/* ---- running ---- */

EIN_API EIN_FAR void ein_run_clear(ein_inside *in) {
  ein_error_clear(in);
  EIN_PUT(&in->faults, 0);
  EIN_PUT(&in->cancel, 0);
  if (in->config.stop && *in->config.stop) EIN_PUT(&in->cancel, 1); /* a later stop is covered by ein_cancel */
}

EIN_API EIN_FAR void ein_run_begin(ein_ctx *ctx) {
  ein_inside *in = ctx->inside;
  const ein_laid *l = &in->laid;
  for (int w = 0; w < l->n_work; w++) ctx->data[l->work[w]] = l->home[w];
  if (in->tables->n_turns) memset(ctx->turn, 0, (size_t)in->tables->n_turns * sizeof *ctx->turn);
}

EIN_API EIN_FAR ein_status ein_run_failed(ein_ctx *ctx, ein_status status) {
  ein_settle(ctx);
  ein_error_set(&ctx->inside->error, status, "the run failed");
  return ctx->inside->error.status;
}

EIN_API EIN_FAR ein_status ein_run_first(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs) {
  ein_inside *in = ctx->inside;
  ein_run_clear(in);
  in->args.bound = 0;
  if (!in->planned) return ein_error_set(&in->error, EIN_ERR_PLAN, "call plan before run");
  if (ein_bind(ctx, inputs, outputs) != EIN_OK) return in->error.status;
  in->args.bound = 1;
  return ein_run_bound(ctx, in->tables->body);
}

EIN_API EIN_FAR ein_status ein_run(void *context, const ein_tensor *inputs, const ein_tensor *outputs) {
  ein_ctx *ctx = (ein_ctx *)context;
  if (!ctx) return EIN_ERR_ARG;
  ctx->inside->among.parted = 0;
  if (!ctx->inside->args.bound || !ein_bound_again(ctx, inputs, outputs))
    return ein_agreed(ctx, ein_run_first(ctx, inputs, outputs));
  return ein_agreed(ctx, ein_run_bound(ctx, ctx->inside->tables->body));
}

EIN_API EIN_FAR ein_status ein_again(void *context) {
  ein_ctx *ctx = (ein_ctx *)context;
  if (!ctx) return EIN_ERR_ARG;
  ctx->inside->among.parted = 0;
  if (ctx->inside->args.bound) return ein_agreed(ctx, ein_run_bound(ctx, ctx->inside->tables->body));
  ein_run_clear(ctx->inside);
  return ein_agreed(ctx, ein_error_set(&ctx->inside->error, EIN_ERR_PLAN, "call run before again"));
}

EIN_API const char *ein_last_error(const void *context) {
  return context ? ((const ein_ctx *)context)->inside->error.text : "there is no context";
}

EIN_API void ein_cancel(void *context) {
  if (context) EIN_PUT(&((ein_ctx *)context)->inside->cancel, 1);
}

EIN_API ein_status ein_cancelled(ein_ctx *ctx) {
  return ein_settle(ctx);
}

EIN_API EIN_FAR int64_t ein_between(ein_ctx *ctx) {
  ein_inside *in = ctx->inside;
  ein_status mine = in->error.status != EIN_OK ? in->error.status : ein_settle(ctx);
  if (in->among.parted || (in->config.wire ? ein_agree(ctx, mine) : mine) != EIN_OK) return ctx->turn[0];
  ein_error why;
  memset(&why, 0, sizeof why);
  ein_status status = in->config.between(in->config.user, ctx, &why);
  if (status != EIN_OK)
    ein_error_set(&in->error, status, "%s", *why.text ? why.text : "the run was ended between two turns");
  if (status != EIN_OK && in->config.wire) ein_part(in); /* all sites return it */
  return ctx->turn[0];
}

EIN_API EIN_FAR void ein_step_begins(ein_ctx *ctx, int step, int half) {
  const ein_watch *watch = ctx->inside->config.watch;
  if (watch) watch->step(watch->user, step, half);
}

EIN_API int ein_ends(const ein_ctx *ctx) {
  return EIN_GET(&ctx->inside->cancel);
}

EIN_API ein_status ein_state(const ein_ctx *ctx) {
  ein_status status = ctx->inside->error.status;
  return status == EIN_OK && EIN_GET(&ctx->inside->faults) ? EIN_ERR_INDEX : status;
}

EIN_API ein_status ein_failed_assert(ein_ctx *ctx, const char *text, const char *file, int line) {
  ein_where where = ein_where_of(file, line);
  if (EIN_GET(&ctx->inside->faults)) return ein_settle(ctx);
  return ein_error_set(
      &ctx->inside->error, EIN_ERR_ASSERT, "%s%s", text && *text ? text : "an assert does not hold", where.text);
}

/* ---- functions that a body calls ---- */

EIN_API int ein_given(const ein_ctx *ctx, int buffer) {
  return ctx->inside->args.given[buffer];
}

/* The values may be in an output, with the caller's strides. */
EIN_API void ein_default(ein_ctx *ctx, int input, int from) {
  const ein_buffer *b = ein_buffer_of(ctx, input), *a = ein_buffer_of(ctx, from);
  ctx->data[input] = ctx->data[from];
  ctx->dense[input] = ctx->dense[from];
  if (ctx->dense[from]) ein_row_major(b->ndim, ctx->shape + b->at, ctx->stride + b->at);
  else memcpy(ctx->stride + b->at, ctx->stride + a->at, (size_t)b->ndim * sizeof *ctx->stride);
}

EIN_API void ein_zero(ein_ctx *ctx, int buffer) {
  const ein_buffer *b = ein_buffer_of(ctx, buffer);
  const int64_t *shape = ctx->shape + b->at, *stride = ctx->stride + b->at;
  size_t size = ein_dtype_size(b->dtype);
  int64_t index[EIN_MAX_AXES] = {0}, count = ctx->inside->count[buffer];
  char *data = (char *)ctx->data[buffer];
  if (ctx->dense[buffer]) {
    memset(data, 0, (size_t)count * size);
    return;
  }
  for (int64_t at = 0; count > 0; count--) {
    memset(data + at * (int64_t)size, 0, size);
    for (int k = b->ndim - 1; k >= 0; k--) { /* advance to the next element */
      at += stride[k];
      if (++index[k] < shape[k]) break;
      at -= stride[k] * shape[k];
      index[k] = 0;
    }
  }
}

EIN_API void ein_exchange(ein_ctx *ctx, int a, int b) {
  void *data = ctx->data[a];
  ctx->data[a] = ctx->data[b];
  ctx->data[b] = data;
}

EIN_API int64_t ein_i64(const ein_ctx *ctx, int buffer) {
  return *(const int64_t *)ctx->data[buffer];
}

EIN_API int ein_true(const ein_ctx *ctx, int buffer) {
  return *(const unsigned char *)ctx->data[buffer] != 0;
}

EIN_API void ein_set_i64(ein_ctx *ctx, int buffer, int64_t value) {
  *(int64_t *)ctx->data[buffer] = value;
}
