/* driver/data/distance.c - how far apart two arrays of one dtype and shape are: absolutely, relative to the largest
 * magnitude, and in units of the last place. */
#include <math.h>
#include <string.h>

#include "driver/driver.h"
#include "driver/compile/native.h"

/* Maps a float to an integer in the same order: neighbours are 1 apart, and both zeros are 0. */
static int64_t place_in_order(const EvalArray *x, int64_t k) {
  int size = dtype_size(x->dtype), shift = 64 - 8 * size;
  const char *at = (const char *)x->data + k * size;
  uint16_t h = 0;
  uint32_t w = 0;
  uint64_t d = 0;
  if (size == 2) memcpy(&h, at, sizeof h), d = h;
  else if (size == 4) memcpy(&w, at, sizeof w), d = w;
  else memcpy(&d, at, sizeof d);
  uint64_t low = d & (UINT64_MAX >> shift >> 1);
  return d >> (8 * size - 1) ? -(int64_t)low : (int64_t)low;
}

/* Computed in integers: as doubles, large neighbours would be equal. */
static double ulps(const EvalArray *a, const EvalArray *b, int64_t k) {
  int64_t x = place_in_order(a, k), y = place_in_order(b, k);
  return (double)(x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x);
}

static void differs(Distance *d, int64_t k, double by) {
  if (d->moves && by <= d->moves[k]) {
    if (!d->moved++) d->first_moved = k;
  } else if (!d->wrong++) d->first = k;
}

/* A sum may overflow, or meet infinities, in one order but not in another: then the result in the passes' order is
 * right too. */
static bool in_another_order(const Distance *d, double g, int64_t k) {
  if (!d->other) return false;
  double o = eval_real(d->other, k);
  return g == o || (isnan(g) && isnan(o)) || (isfinite(g) && fabs(g - o) <= d->bound * fabs(o));
}

static void compare_real(Distance *d, const EvalArray *got, const EvalArray *want, int64_t k) {
  double g = eval_real(got, k), w = eval_real(want, k);
  if (g == w || (isnan(g) && isnan(w))) return;
  if (!isfinite(g) || !isfinite(w)) {
    d->apart = true;
    if (in_another_order(d, g, k)) d->ordered++;
    else differs(d, k, INFINITY);
    return;
  }
  d->abs = fmax(d->abs, fabs(g - w));
  d->ulp = fmax(d->ulp, ulps(got, want, k));
  if (fabs(g - w) > d->allowed) differs(d, k, fabs(g - w));
}

static double most_of(const EvalArray *x) {
  double most = 0;
  for (int64_t k = 0; k < x->count; k++) {
    double v = x->has && !x->has[k] ? 0 : fabs(eval_real(x, k));
    if (isfinite(v)) most = fmax(most, v);
  }
  return most;
}

/* ---- how far is too far ---------------------------------------------------------------------- */

static double bound_of(DType t) {
  switch (t) {
  case DT_F64: return 1e-10;
  case DT_F32: return 1e-4;
  case DT_F16: return 1e-2;
  case DT_BF16: return 4e-2;
  default: return 0;
  }
}

typedef struct Way {         /* from an output back to the inputs */
  Arena *arena;
  bool *seen;                /* by node */
  VEC(const EinNode *) todo;
  double bound;
} Way;

static void way_to(Way *w, const EinNode *n) {
  if (!n || w->seen[n->id]) return;
  w->seen[n->id] = true;
  vec_push(w->arena, w->todo, n);
}

static void way_expr(Way *w, const Expr *top) {
  ExprNodes nodes = expr_nodes(w->arena, top, 0);
  for (const Expr *e; (e = expr_node(&nodes));)
    if (e->kind == EX_OP) w->bound = fmax(w->bound, bound_of((DType)e->dtype));
}

static void way_vertex(Way *w, const EinNode *n) {
  const EinSum *sum = n->sum;
  w->bound = fmax(w->bound, fmax(bound_of(n->dtype), bound_of(sum->acc)));
  way_expr(w, sum->body);
  way_expr(w, sum->where);
  for (uint32_t k = 0; k < sum->n_slot; k++) way_to(w, n->input[k]);
}

static void way_node(Way *w, const EinNode *n) {
  const EinState *state = n->kind == EIN_STATE   ? &n->region->states.at[n->index]
                          : n->kind == EIN_FINAL ? &n->repeat->body->states.at[n->index]
                                                 : NULL;
  if (state) way_to(w, state->init), way_to(w, state->next);
  if (n->kind == EIN_STACK) way_to(w, n->repeat->body->stacks.at[n->index].node);
  if (n->kind == EIN_INPUT) way_to(w, n->fallback);
  if (n->kind == EIN_VERTEX) way_vertex(w, n);
}

/* A result is only as precise as the coarsest dtype in which something before it was computed. */
double distance_bound(Arena *a, const EinGraph *g, const EinNode *output) {
  Way w = {.arena = a, .seen = NEW_ARRAY(a, bool, g->n_nodes + 1), .bound = bound_of(output->dtype)};
  way_to(&w, output);
  while (w.todo.len) way_node(&w, vec_pop(w.todo));
  return w.bound;
}

/* ---- the distance ---------------------------------------------------------------------------- */

Distance distance(const EvalArray *got, const EvalArray *want, double bound, double floor, const EvalArray *other,
    const double *moves) {
  Distance d = {.bound = bound, .first = -1, .other = other, .moves = moves};
  bool real = dtype_is_float(want->dtype);
  if (real) d.most = most_of(want);
  d.allowed = fmax(bound * (d.most > 0 ? d.most : 1), floor);
  for (int64_t k = 0; k < want->count; k++) {
    if (want->has && !want->has[k]) continue;
    if (real) compare_real(&d, got, want, k);
    else if (eval_int(got, k) != eval_int(want, k)) differs(&d, k, INFINITY);
  }
  d.rel = d.most > 0 ? d.abs / d.most : d.abs;
  return d;
}
