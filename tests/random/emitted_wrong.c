/* tests/random/emitted_wrong.c - calls that must be refused, made from such as are right: shapes, dtypes, NULLs,
 * strides that reach too far, views that lie on each other. A status comes back, and nothing is touched; a sanitizer
 * sees to that. */
#include <string.h>

#include "emitted.h"

typedef enum { MUST, MAY, NOT_HERE } Refused; /* MAY: whether it is refused depends on more than is looked at here */

typedef struct Wrong {
  ein_tensor *x;             /* the argument, and */
  const View *v;             /*   what it was made from */
  bool optional;
  ein_tensor *other;         /* another one */
  const View *w;
  bool written;              /* one of the two is an output */
  int64_t shape[EIN_MAX_AXES], stride[EIN_MAX_AXES];
  Rng *r;
} Wrong;

static Refused no_data(Wrong *w) {
  w->x->data = NULL;
  return w->optional || !w->v->count ? MAY : MUST;
}

static Refused other_dtype(Wrong *w) {
  static const int odd[] = {-1, EIN_DTYPE_COUNT, 99, 1 << 30};
  int t = chance(w->r, 50) ? odd[below(w->r, COUNT(odd))] : (int)below(w->r, EIN_DTYPE_COUNT);
  if (t == (int)w->x->dtype) return NOT_HERE;
  memcpy(&w->x->dtype, &t, sizeof t); /* a caller's enum may hold anything */
  return MUST;
}

static Refused other_ndim(Wrong *w) {
  static const int32_t odd[] = {-1, 1, 2, 65, INT32_MAX, INT32_MIN};
  int32_t n = odd[below(w->r, COUNT(odd))];
  if (n == w->x->ndim) return NOT_HERE;
  w->x->ndim = n;
  return MUST;
}

static Refused other_extent(Wrong *w) {
  static const int64_t odd[] = {-1, 0, 1, 2, INT64_MAX, INT64_MIN};
  if (!w->x->ndim) return NOT_HERE;
  uint32_t k = below(w->r, (uint32_t)w->x->ndim);
  int64_t n = chance(w->r, 40) ? w->shape[k] + 1 : odd[below(w->r, COUNT(odd))];
  if (n == w->shape[k]) return NOT_HERE;
  w->shape[k] = n;
  return MUST;
}

static Refused no_shape(Wrong *w) {
  w->x->shape = NULL;
  return w->x->ndim ? MUST : MAY;
}

static Refused far_stride(Wrong *w) {
  /* the last: bytes reach that far */
  static const int64_t odd[] = {INT64_MAX, INT64_MIN, INT64_MIN / 2, INT64_MAX / 2 + 1};
  if (!w->x->ndim) return NOT_HERE;
  uint32_t k = below(w->r, (uint32_t)w->x->ndim);
  w->x->strides = w->stride;
  w->stride[k] = odd[below(w->r, dtype_size(w->v->dtype) > 1 ? 4 : 3)];
  return w->v->count && w->shape[k] > 1 ? MUST : MAY;
}

static Refused no_stride(Wrong *w) { /* all elements of an output on each other */
  if (!w->x->ndim || !w->written) return NOT_HERE;
  uint32_t k = below(w->r, (uint32_t)w->x->ndim);
  w->x->strides = w->stride;
  w->stride[k] = 0;
  return w->v->count && w->shape[k] > 1 ? MUST : MAY;
}

static Refused other_device(Wrong *w) {
  w->x->device_type = chance(w->r, 50) ? 2 : -1;
  return MUST;
}

static Refused not_aligned(Wrong *w) {
  if (dtype_size(w->v->dtype) < 2 || !w->v->count) return NOT_HERE;
  w->x->byte_offset += 1;
  return MUST;
}

static Refused far_offset(Wrong *w) {
  w->x->byte_offset = UINT64_MAX - below(w->r, 64);
  return w->v->count ? MUST : MAY;
}

/* Whatever gaps there are: both have the same first element. */
static Refused same_memory(Wrong *w) {
  if (!w->other || !w->written) return NOT_HERE;
  w->x->data = w->w->memory.at + w->w->first;
  w->x->byte_offset = 0;
  bool inside = w->v->first <= w->w->first && w->v->memory.bytes - w->v->first <= w->w->memory.bytes - w->w->first;
  return w->v->count && w->w->count && inside ? MUST : NOT_HERE;
}

static Refused (*const ways[])(Wrong *) = {no_data, other_dtype, other_ndim, other_extent, no_shape, far_stride,
    no_stride, other_device, not_aligned, far_offset, same_memory};

/* ---- one argument --------------------------------------------------------------------------------- */

static bool refused(Subject *s, const ein_model *m, void *ctx, const ein_tensor *x, const ein_tensor *y, Refused must,
                    const char *what, Count *n) {
  ein_status st = m->run(ctx, x, y);
  n->wrong += st != EIN_OK;
  if (st == EIN_OK && must == MUST) return say(&s->v, "a wrong call is not refused", what);
  if (st != EIN_OK && !*m->last_error(ctx)) return say(&s->v, "a wrong call is refused without a word", what);
  return true;
}

static bool argument_wrong(Subject *s, const ein_model *m, void *ctx, View *in, View *out, Rng *r, Count *n) {
  int all = m->n_inputs + m->n_outputs;
  ein_tensor *x = NEW_ARRAY(s->arena, ein_tensor, all + 1);
  for (int i = 0; i < all; i++) x[i] = i < m->n_inputs ? in[i].t : out[i - m->n_inputs].t;
  int at = (int)below(r, (uint32_t)all), of = (int)below(r, (uint32_t)all);
  uint32_t way = below(r, COUNT(ways));
  Wrong *w = NEW(s->arena, Wrong);
  *w = (Wrong){.x = &x[at], .v = at < m->n_inputs ? &in[at] : &out[at - m->n_inputs], .r = r};
  w->optional = at < m->n_inputs && m->input[at].optional;
  w->written = at >= m->n_inputs;
  if (of != at) w->other = &x[of], w->w = of < m->n_inputs ? &in[of] : &out[of - m->n_inputs];
  memcpy(w->shape, w->v->shape, sizeof w->shape);
  memcpy(w->stride, w->v->stride, sizeof w->stride);
  w->x->shape = w->shape;
  Refused must = ways[way](w);
  if (must == NOT_HERE) return true;
  return refused(
      s, m, ctx, x, x + m->n_inputs, must, arena_printf(s->arena, "way %u, argument %d, other %d", way, at, of), n);
}

/* ---- the calls themselves ------------------------------------------------------------------------- */

static bool sizes_wrong(Subject *s, const ein_model *m, void *ctx, const int64_t *dims, Rng *r, Count *n) {
  static const int64_t odd[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 8, 1LL << 61};
  int64_t dim[64] = {0}; /* as many as a program may have here */
  if (!m->n_dims || m->n_dims > 64) return true;
  if (m->plan(ctx, NULL) == EIN_OK) return say(&s->v, "a plan without sizes is not refused", "");
  for (int k = 0; k < m->n_dims; k++) dim[k] = dims[k];
  dim[below(r, (uint32_t)m->n_dims)] = odd[below(r, 2)];
  n->wrong++;
  if (m->plan(ctx, dim) == EIN_OK) return say(&s->v, "a size below 0 is not refused", "");
  for (int k = 0; k < m->n_dims; k++) dim[k] = odd[2 + below(r, 3)];
  m->plan(ctx, dim); /* what does not depend on the sizes can be planned */
  return true;
}

static bool order_wrong(Subject *s, const ein_model *m, void *ctx, View *in, View *out) {
  ein_tensor *x = NEW_ARRAY(s->arena, ein_tensor, m->n_inputs + 1),
             *y = NEW_ARRAY(s->arena, ein_tensor, m->n_outputs + 1);
  for (int i = 0; i < m->n_inputs; i++) x[i] = in[i].t;
  for (int k = 0; k < m->n_outputs; k++) y[k] = out[k].t;
  if (m->run(ctx, x, y) != EIN_ERR_PLAN) return say(&s->v, "a run before a plan is not refused", "");
  if (m->run(NULL, x, y) != EIN_ERR_ARG || m->plan(NULL, NULL) != EIN_ERR_ARG)
    return say(&s->v, "no context is not refused", "");
  return true;
}

bool wrong_calls(Judge *j, View *in, View *out) {
  Subject *s = j->s;
  const ein_model *m = j->m;
  const int64_t *dims = j->t->dim;
  Rng *r = &j->rng;
  Count *n = j->n;
  void *ctx = NULL;
  ein_config small = {.size = 3}, odd = {.size = sizeof odd, .threads = -1};
  if (m->create(&small, &ctx) == EIN_OK || m->create(&odd, &ctx) == EIN_OK || m->create(NULL, NULL) == EIN_OK)
    return say(&s->v, "a wrong config is not refused", "");
  odd = (ein_config){.size = sizeof odd, .threads = 1};
  if (m->create(&odd, &ctx) != EIN_OK) return say(&s->v, "create fails", "");
  bool ok = order_wrong(s, m, ctx, in, out) && sizes_wrong(s, m, ctx, dims, r, n);
  ok =
      ok && (m->plan(ctx, dims) == EIN_OK || say(&s->v, "a plan fails after one that was refused", m->last_error(ctx)));
  ok = ok && (!m->n_inputs || refused(s, m, ctx, NULL, &out->t, MUST, "no inputs", n));
  ok = ok && (!m->n_outputs || refused(s, m, ctx, &in->t, NULL, MUST, "no outputs", n));
  for (int k = 0; ok && k < 12 && m->n_inputs + m->n_outputs > 0; k++) ok = argument_wrong(s, m, ctx, in, out, r, n);
  m->destroy(ctx);
  return ok;
}
