/* SPDX-License-Identifier: MIT-0 */
/*
 * Checks the caller's tensors before a run: each against the plan, and then that none overlaps one that is
 * written. In come borrowed views; out go the context's data and strides, or the first error, which names the
 * argument, its label, and the line of the program.
 */
#include "ein_inside.h"

#include <stdio.h>

/* The argument that is being checked. */
typedef struct ein_view {
  ein_ctx *ctx;
  const ein_tensor *tensor;
  const ein_argument *argument;
  const ein_buffer *buffer;
  int number;                  /* the buffer's */
  const int64_t *shape;        /* as planned */
  int64_t *stride;
} ein_view;

static const char *ein_view_kind(const ein_view *v) {
  return v->buffer->space == 0 ? "input" : "output";
}

static ein_view ein_view_of(ein_ctx *ctx, int buffer, const ein_tensor *tensor) {
  const ein_tables *t = ctx->inside->tables;
  ein_view v;
  v.ctx = ctx;
  v.number = buffer;
  v.buffer = &t->buffer[buffer];
  v.argument = v.buffer->space == 0 ? &t->input[v.buffer->argument] : &t->output[v.buffer->argument];
  v.tensor = tensor;
  v.shape = ctx->shape + v.buffer->at;
  v.stride = ctx->stride + v.buffer->at;
  return v;
}

/* ---- messages ---- */

EIN_API ein_axis ein_axis_of(const ein_buffer *b, int axis) {
  ein_axis a;
  const char *s = b->labels;
  int depth = 0, skip = axis, length = 0;
  for (; s && *s && skip; s++) {
    depth += (*s == '(') - (*s == ')');
    skip -= *s == ',' && depth == 0;
  }
  while (s && *s == ' ') s++;
  for (; s && s[length] && (depth || s[length] != ','); length++) depth += (s[length] == '(') - (s[length] == ')');
  if (length > 0 && length < 50 && !(length == 1 && *s == '_')) /* _ stands for no label */
    snprintf(a.text, sizeof a.text, "label %.*s", length, s);
  else
    snprintf(a.text, sizeof a.text, "dimension %d", axis + 1);
  return a;
}

#define EIN_REFUSE(v, status, format, ...)                                                         \
  ein_error_set(&(v)->ctx->inside->error, status, "%s %s: " format "%s", ein_view_kind(v),         \
                (v)->argument->name, __VA_ARGS__, ein_where_of((v)->buffer->file, (v)->buffer->line).text)

/* ---- one view ---- */

static ein_status ein_view_shape(const ein_view *v) {
  const ein_tensor *x = v->tensor;
  int ndim = v->buffer->ndim;
  if (ein_dtype_size(x->dtype) == 0)
    return EIN_REFUSE(v, EIN_ERR_DTYPE, "%d is not a dtype; %s is expected", (int)x->dtype,
                      ein_dtype_name(v->buffer->dtype));
  if (x->dtype != v->buffer->dtype)
    return EIN_REFUSE(v, EIN_ERR_DTYPE, "its dtype is %s, but %s is expected", ein_dtype_name(x->dtype),
                      ein_dtype_name(v->buffer->dtype));
  if (x->ndim != ndim)
    return EIN_REFUSE(v, EIN_ERR_SHAPE, "it has %d dimension%s, but %d %s expected", (int)x->ndim,
                      x->ndim == 1 ? "" : "s", ndim, ndim == 1 ? "is" : "are");
  if (ndim > 0 && !x->shape) return EIN_REFUSE(v, EIN_ERR_ARG, "%s", "its shape is NULL");
  for (int k = 0; k < ndim; k++) {
    if (x->shape[k] == v->shape[k]) continue;
    ein_axis axis = ein_axis_of(v->buffer, k);
    return EIN_REFUSE(v, EIN_ERR_SHAPE, "%s has the extent %lld, but %lld is expected", axis.text,
                      (long long)x->shape[k], (long long)v->shape[k]);
  }
  return EIN_OK;
}

/* Sets the strides: the caller's, or row-major ones if the caller's are ignored. Sets how many bytes the view
 * reaches to both sides. Returns 0 if that does not fit the address space. */
static int ein_view_reach(const ein_view *v, int64_t *low, int64_t *high) {
  int64_t size = (int64_t)ein_dtype_size(v->buffer->dtype);
  *low = *high = 0;
  for (int k = 0; k < v->buffer->ndim; k++) {
    int64_t reach;
    if (v->shape[k] > 1 && v->tensor->strides) v->stride[k] = v->tensor->strides[k];
    if (v->shape[k] <= 1) continue;
    if (ein_mul_wraps(v->stride[k], v->shape[k] - 1, &reach) || ein_mul_wraps(reach, size, &reach)) return 0;
    if (reach < 0 ? ein_add_wraps(*low, reach, low) : ein_add_wraps(*high, reach, high)) return 0;
  }
  return !ein_add_wraps(*high, size, high);
}

/* An output's elements do not overlap if each stride, in increasing order, is larger than the reach of the
 * smaller ones. */
static ein_status ein_view_apart(const ein_view *v) {
  int64_t reach = 0, below = -1; /* strides up to `below` are done */
  if (v->buffer->space == 0) return EIN_OK;
  for (;;) {
    int next = -1;
    int64_t least = 0;
    for (int k = 0; k < v->buffer->ndim; k++) {
      int64_t stride = v->stride[k] < 0 ? -v->stride[k] : v->stride[k];
      if (v->shape[k] > 1 && stride > below && (next < 0 || stride < least)) next = k, least = stride;
    }
    if (next < 0) return EIN_OK;
    for (int k = 0; k < v->buffer->ndim; k++) { /* all axes with that stride */
      if (v->shape[k] <= 1 || (v->stride[k] < 0 ? -v->stride[k] : v->stride[k]) != least) continue;
      if (least <= reach) {
        ein_axis axis = ein_axis_of(v->buffer, k);
        return EIN_REFUSE(v, EIN_ERR_ARG, "its elements overlap each other: %s has the stride %lld", axis.text,
                          (long long)v->stride[k]);
      }
      reach += least * (v->shape[k] - 1);
    }
    below = least;
  }
}

static ein_status ein_view_place(const ein_view *v, ein_span *span) {
  int64_t low, high;
  const ein_tensor *x = v->tensor;
  uintptr_t at = (uintptr_t)x->data + (uintptr_t)x->byte_offset;
  size_t size = ein_dtype_size(v->buffer->dtype);
  if (!ein_view_reach(v, &low, &high) || x->byte_offset > UINTPTR_MAX || at < (uintptr_t)x->data ||
      (uint64_t)high > UINTPTR_MAX - at || 0 - (uint64_t)low > at)
    return EIN_REFUSE(v, EIN_ERR_ARG, "%s", "its strides reach beyond the address space");
  if (at % size)
    return EIN_REFUSE(v, EIN_ERR_ARG, "its data is not aligned to the %d bytes of %s", (int)size,
                      ein_dtype_name(v->buffer->dtype));
  v->ctx->data[v->number] = (char *)x->data + x->byte_offset;
  span->low = at - (uintptr_t)(0 - (uint64_t)low);
  span->high = at + (uintptr_t)high;
  return ein_view_apart(v);
}

static ein_status ein_view_bind(const ein_view *v, ein_span *span) {
  ein_inside *in = v->ctx->inside;
  const ein_tensor *x = v->tensor;
  int k = v->number;
  char why[200] = "";
  span->low = span->high = 0;
  v->ctx->dense[k] = 1;
  in->args.given[k] = 1;
  v->ctx->data[k] = in->memory.empty;
  ein_row_major(v->buffer->ndim, v->shape, v->stride);
  if (!x->data && v->buffer->space == 0 && v->argument->optional) {
    in->args.given[k] = 0;
    return EIN_OK;
  }
  if (!x->data && in->count[k] > 0) return EIN_REFUSE(v, EIN_ERR_ARG, "%s", "its data is NULL");
  if (in->device.holds && !in->device.holds(v->ctx, k, x, why, sizeof why))
    return EIN_REFUSE(v, EIN_ERR_ARG, "%s", why);
  if (!in->device.holds && x->device_type != 1)
    return EIN_REFUSE(v, EIN_ERR_ARG, "it is on a device of type %d, but 1, the CPU, is expected", (int)x->device_type);
  if (ein_view_shape(v) != EIN_OK) return in->error.status;
  if (in->count[k] == 0) return EIN_OK;
  int64_t row_major = 1;
  for (int axis = v->buffer->ndim - 1; axis >= 0; axis--) {
    if (x->strides && v->shape[axis] > 1 && x->strides[axis] != row_major) v->ctx->dense[k] = 0;
    row_major *= v->shape[axis];
  }
  if (in->tables->dense && !v->ctx->dense[k])
    return EIN_REFUSE(
        v, EIN_ERR_ARG, "%s", "its strides are not row-major, and this code was compiled only for row-major data");
  return ein_view_place(v, span);
}

/* ---- two views ---- */

/* Runs of bytes at regular distances: a view whose adjacent innermost elements are merged. */
typedef struct ein_runs {
  uintptr_t low;
  uint64_t run;                /* in bytes */
  uint64_t step;               /* all runs begin at multiples of it from low; 0: there is one run */
} ein_runs;

static uint64_t ein_gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t c = a % b;
    a = b;
    b = c;
  }
  return a;
}

static ein_runs ein_runs_of(const ein_ctx *ctx, int buffer, ein_span span) {
  const ein_buffer *b = ein_buffer_of(ctx, buffer);
  uint64_t size = ein_dtype_size(b->dtype);
  ein_runs r = {span.low, size, 0};
  unsigned char joined[EIN_MAX_AXES] = {0};
  for (int again = 1; again;) {
    again = 0;
    for (int k = 0; k < b->ndim; k++) {
      int64_t stride = ctx->stride[b->at + k], extent = ctx->shape[b->at + k];
      uint64_t bytes = (stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride) * size;
      if (joined[k] || extent <= 1 || bytes > r.run) continue;
      r.run += bytes * (uint64_t)(extent - 1); /* if elements overlap, all bytes between them are included */
      joined[k] = 1;
      again = 1;
    }
  }
  for (int k = 0; k < b->ndim; k++) {
    int64_t stride = ctx->stride[b->at + k];
    if (!joined[k] && ctx->shape[b->at + k] > 1)
      r.step = ein_gcd(r.step, (stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride) * size);
  }
  return r;
}

/* Whether two views may share a byte. If all distances are multiples of one step, the same part of `b`, or
 * none, lies between any two runs of `a`. */
static int ein_overlap(const ein_ctx *ctx, int buffer_a, ein_span a, int buffer_b, ein_span b) {
  if (a.low >= b.high || b.low >= a.high) return 0;
  ein_runs x = ein_runs_of(ctx, buffer_a, a), y = ein_runs_of(ctx, buffer_b, b);
  if (x.low < y.low) {
    ein_runs swap = x;
    x = y;
    y = swap;
  }
  uint64_t step = ein_gcd(x.step, y.step);
  if (step == 0) return 1;
  uint64_t between = (x.low - y.low) % step;
  return !(between >= y.run && x.run <= step - between);
}

static ein_status ein_view_clash(ein_ctx *ctx, int output, const char *kind, const char *name) {
  ein_view v = ein_view_of(ctx, output, NULL);
  return EIN_REFUSE(&v, EIN_ERR_ARG, "it shares memory with %s%s%s", kind, *name ? " " : "", name);
}

static EIN_FAR ein_status ein_views_apart(ein_ctx *ctx) {
  const ein_inside *in = ctx->inside;
  const ein_tables *t = in->tables;
  uintptr_t work = in->config.workspace ? (uintptr_t)in->memory.workspace : 0;
  for (int k = 0; k < t->n_inputs + t->n_outputs; k++) {
    ein_span a = in->args.span[k];
    int buffer = k < t->n_inputs ? in->args.input[k] : in->args.output[k - t->n_inputs];
    if (a.low == a.high) continue;
    if (work && a.low < work + in->memory.wanted && work < a.high)
      return ein_view_clash(ctx, buffer, "the workspace", "");
    if (k < t->n_inputs) continue;
    for (int i = 0; i < k; i++) {
      int is_input = i < t->n_inputs;
      int other = is_input ? in->args.input[i] : in->args.output[i - t->n_inputs];
      if (in->args.span[i].low != in->args.span[i].high && ein_overlap(ctx, buffer, a, other, in->args.span[i]))
        return ein_view_clash(ctx, buffer, is_input ? "input" : "output",
                              is_input ? t->input[i].name : t->output[i - t->n_inputs].name);
    }
  }
  return EIN_OK;
}

/* Keeps a view, for the next run to compare with. */
static void ein_view_keep(const ein_view *v, ein_seen *u) {
  const ein_tensor *x = v->tensor;
  u->data = x->data;
  u->byte_offset = x->byte_offset;
  u->device_type = x->device_type;
  u->device_id = x->device_id;
  u->given = v->ctx->inside->args.given[v->number];
  u->strided = x->strides != NULL;
  u->buffer = v->number;
  u->skew = (uintptr_t)ein_dtype_size(v->buffer->dtype) - 1;
  for (int a = 0; u->given && x->strides && a < v->buffer->ndim; a++)
    v->ctx->inside->args.told[v->buffer->at + a] = x->strides[a];
}

EIN_API ein_status ein_bind(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs) {
  ein_inside *in = ctx->inside;
  const ein_tables *t = in->tables;
  if ((t->n_inputs && !inputs) || (t->n_outputs && !outputs))
    return ein_error_set(&in->error, EIN_ERR_ARG, "the %s are NULL", inputs || !t->n_inputs ? "outputs" : "inputs");
  for (int k = 0; k < t->n_inputs + t->n_outputs; k++) {
    const ein_tensor *x = k < t->n_inputs ? &inputs[k] : &outputs[k - t->n_inputs];
    ein_view v = ein_view_of(ctx, k < t->n_inputs ? in->args.input[k] : in->args.output[k - t->n_inputs], x);
    if (ein_view_bind(&v, &in->args.span[k]) != EIN_OK) return in->error.status;
    ein_view_keep(&v, &in->args.seen[k]);
  }
  return ein_views_apart(ctx);
}

/* ---- the same views again ---- */

/* Accepts a view that has moved by a multiple of its alignment. Returns 0 if it needs a full check. */
static int ein_view_moved(ein_ctx *ctx, ein_seen *u, const ein_tensor *x, ein_span *span) {
  uintptr_t was = (uintptr_t)u->data + (uintptr_t)u->byte_offset, at = (uintptr_t)x->data + (uintptr_t)x->byte_offset;
  uintptr_t low = was - span->low, high = span->high - was;
  if (!x->data || span->low == span->high || at < (uintptr_t)x->data || (at & u->skew) || low > at ||
      high > UINTPTR_MAX - at)
    return 0;
  span->low = at - low;
  span->high = at + high;
  ctx->data[u->buffer] = (char *)x->data + x->byte_offset;
  u->data = x->data;
  return 1;
}

/* Whether no output's bytes lie between another argument's first and last byte. */
static int ein_spans_apart(const ein_span *span, int n_inputs, int n) {
  for (int k = n_inputs; k < n; k++)
    for (int i = 0; i < k; i++)
      if (span[i].low < span[k].high && span[k].low < span[i].high) return 0;
  return 1;
}

EIN_API EIN_FAR int ein_views_moved(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs) {
  ein_inside *in = ctx->inside;
  int n_inputs = in->tables->n_inputs, n = n_inputs + in->tables->n_outputs;
  if (in->device.state) return 0; /* a device checks the addresses itself */
  for (int k = 0; k < n; k++) {
    const ein_tensor *x = k < n_inputs ? &inputs[k] : &outputs[k - n_inputs];
    if (x->data != in->args.seen[k].data && !ein_view_moved(ctx, &in->args.seen[k], x, &in->args.span[k])) return 0;
  }
  return !in->config.workspace && ein_spans_apart(in->args.span, n_inputs, n);
}

EIN_API int ein_bound_again(ein_ctx *ctx, const ein_tensor *inputs, const ein_tensor *outputs) {
  const ein_tables *t = ctx->inside->tables;
  uintptr_t moved = 0;
  if ((t->n_inputs && !inputs) || (t->n_outputs && !outputs)) return 0;
  for (int k = 0; k < t->n_inputs + t->n_outputs; k++) {
    const ein_tensor *x = k < t->n_inputs ? &inputs[k] : &outputs[k - t->n_inputs];
    const ein_buffer *b = ein_buffer_of(ctx, ctx->inside->args.seen[k].buffer);
    if (ein_view_other(ctx, k, x, b->dtype, b->ndim, b->at, 1, &moved)) return 0;
  }
  return !moved || ein_views_moved(ctx, inputs, outputs);
}
