/* graph/passes/pass_exact.c - float sums whose order changes no bit. In: a graph. Out: an equivalent one, apart from
 * rounding, in which the terms of each float sum are multiples of one unit, and no partial sum exceeds 2^53 units:
 * all additions are exact, in any order, however a plan or a schedule splits the sum.
 *
 *   M = max |e|                  over the points of the sum
 *   u = a power of two, above n M for n points, and at most 4 (n + 2) M
 *   Y = sum ((e + u) - u)        in f64: e rounded to a multiple of 2^-53 u, or of 2^-52 u
 *
 * What this rounds off is a sum of the same kind, with a power that is smaller by about 2^-53 n. For f32 and
 * narrower one sum is enough: it keeps about 50 - log2(n) bits below the largest term. For f64 there are two. (For
 * proofs see Rump, Ogita and Oishi 2008, and Demmel and Nguyen 2013.) */
#include <math.h>

#include "contract/contract.h"

enum { FOLDS_MOST = 2, CONDITIONS_MOST = 32, PROOFS = 64 };

typedef struct Exact {
  Rebuild b;
  Arena *scratch;
  Exprs *x;
} Exact;

/* A draft of a vertex: its inputs by slot, and the extents and names of its labels. */
typedef struct Draft {
  EinSum sum;
  VEC(EinNode *) input;
  const Expr **bound;
  Str *label;
} Draft;

/* ---- expressions ------------------------------------------------------------------------------------------- */

static const Expr *real(Exact *c, double v) { return expr_real(c->x, DT_F64, v); }
static const Expr *op2(Exact *c, Op op, const Expr *a, const Expr *b) { return expr_op2(c->x, op, a, b); }

static const Expr *is_finite(Exact *c, const Expr *e) {
  return op2(c, OP_LT, expr_op1(c->x, OP_ABS, e), expr_real(c->x, (DType)e->dtype, INFINITY));
}

/* The power of two at or below a positive number, by arithmetic that is exact except for the intended difference. */
static const Expr *power_below(Exact *c, const Expr *e) {
  const Expr *q = op2(c, OP_MUL, e, real(c, 0x1p52 + 1));
  return expr_op1(c->x, OP_ABS, op2(c, OP_SUB, q, op2(c, OP_MUL, q, real(c, 1 - 0x1p-53))));
}

/* A power of two that is at least n + 2, where n is the number of points of a sum. */
static const Expr *power_of_points(Exact *c, const EinNode *n) {
  const Expr *points = real(c, 1);
  double known = 1;
  bool all = true;
  for (uint32_t k = n->sum->n_out; k < n->sum->n_out + n->sum->n_red; k++) {
    const Expr *e = n->bound[k];
    if (e->kind == EX_INT) known *= (double)e->i;
    else all = false, points = op2(c, OP_MUL, points, expr_cast(c->x, DT_F64, e));
  }
  int power;
  if (all) return frexp(known + 2, &power) == 0.5 ? real(c, ldexp(1, power - 1)) : real(c, ldexp(1, power));
  points = op2(c, OP_ADD, op2(c, OP_MUL, points, real(c, known * (1 + 0x1p-40))), real(c, 2));
  return op2(c, OP_MUL, power_below(c, points), real(c, 2));
}

/* The unit for the largest term: 0 if there is none, or it is not finite, so that nothing is rounded. Where the
 * power would overflow, it is computed from something smaller, and is at most 2^1023. */
static const Expr *unit_of(Exact *c, const EinNode *n, const Expr *most) {
  const Expr *m = expr_cast(c->x, DT_F64, most), *points = power_of_points(c, n);
  const Expr *some = expr_and(c->x, op2(c, OP_LT, real(c, 0), m), op2(c, OP_LT, m, real(c, INFINITY)));
  const Expr *unit = op2(c, OP_MUL, op2(c, OP_MUL, power_below(c, m), real(c, 2)), points);
  if (most->dtype == DT_F64) {
    const Expr *large = op2(c, OP_LT, real(c, 0x1p800), m);
    const Expr *half = op2(c, OP_MUL, power_below(c, op2(c, OP_MUL, m, real(c, 0x1p-200))), real(c, 2));
    const Expr *top = op2(c, OP_MUL, op2(c, OP_MIN, op2(c, OP_MUL, half, points), real(c, 0x1p823)), real(c, 0x1p200));
    unit = expr_select(c->x, large, top, unit);
  }
  return expr_select(c->x, some, unit, real(c, 0));
}

/* ---- vertices ------------------------------------------------------------------------------------------------ */

static Draft draft_of(Exact *c, const EinNode *n) {
  Draft d = {.sum = *n->sum, .bound = n->bound, .label = n->label};
  d.sum.monoid = NULL;
  for (uint32_t i = 0; i < d.sum.n_slot; i++) vec_push(c->scratch, d.input, rebuild_to(&c->b, n->input[i]));
  return d;
}

/* The vertex's element at the first few of its labels. */
static const Expr *read_at(Exact *c, Draft *d, EinNode *made, uint32_t rank, const uint32_t *label) {
  const Expr **at = NEW_ARRAY(c->scratch, const Expr *, rank + 1);
  for (uint32_t k = 0; k < rank; k++) at[k] = expr_label(c->x, label[k]);
  vec_push(c->scratch, d->input, made);
  return expr_read(c->x, made->dtype, d->input.len - 1, rank, at);
}

static EinNode *vertex_add(Exact *c, EinRegion *r, const EinNode *from, Draft *d) {
  d->sum.n_slot = d->input.len;
  return rebuild_part(&c->b, r, from, &d->sum, d->bound, d->label, d->input.at);
}

/* Restricts the draft to n of its output labels, and all reduced ones. */
static void labels_keep(Exact *c, Draft *d, uint32_t n, const uint32_t *kept) {
  uint32_t was = d->sum.n_out, all = was + d->sum.n_red;
  const Expr **to = NEW_ARRAY(c->scratch, const Expr *, all + 1),
             **bound = NEW_ARRAY(c->b.arena, const Expr *, all + 1);
  Str *label = NEW_ARRAY(c->b.arena, Str, all + 1);
  if (n == was) return;
  for (uint32_t k = 0; k < n + d->sum.n_red; k++) {
    uint32_t old = k < n ? kept[k] : was + k - n;
    to[old] = expr_label(c->x, k);
    bound[k] = d->bound[old];
    label[k] = d->label[old];
  }
  sum_relabel(c->x, &d->sum, all, to);
  d->sum.n_out = n;
  d->bound = bound;
  d->label = label;
}

/* ---- the largest term ------------------------------------------------------------------------------------------ */

typedef struct Largest {
  uint32_t n;                /* the output labels on which it depends */
  uint32_t label[GRAPH_OUT + 1];
  bool own;                  /* it covers exactly the points that are summed, no more */
} Largest;

static const Expr *condition_within(Exact *c, const Expr *where, uint64_t labels) {
  const Expr *part[CONDITIONS_MOST], *some = NULL;
  uint32_t n;
  if (!where || !op_parts(c->scratch, where, OP_AND, CONDITIONS_MOST, part, &n)) return NULL;
  for (uint32_t k = 0; k < n; k++)
    if (!(part[k]->labels & ~labels)) some = expr_and(c->x, some, part[k]);
  return some;
}

/* Where only a predicate connects a result's labels with the points, as in running sums and in groups, the largest
 * term of all points serves all results, and the terms are the same for each: schedules visit them once. They must
 * exist at all points. */
static bool shared_by_all(Exact *c, const EinNode *n, Draft *d) {
  uint32_t labels = n->sum->n_out + n->sum->n_red;
  uint64_t out = labels_below(n->sum->n_out);
  if (labels > ORDER_LABELS || !n->sum->where) return false;
  uint64_t within = n->sum->body->labels | ~out;
  const Expr *where = condition_within(c, n->sum->where, within), *domain = n->sum->domain;
  if (where == n->sum->where) return false;
  if (domain && domain->labels & ~within) domain = NULL;
  int64_t proofs = PROOFS;
  const Expr *known = expr_and(c->x, domain, where);
  if (!expr_is_total(c->scratch, c->x, n, n->sum->body, known, &proofs)) return false;
  if (where && !expr_is_total(c->scratch, c->x, n, where, NULL, &proofs)) return false;
  d->sum.where = where;
  d->sum.domain = domain;
  return true;
}

/* Whether terms exist at all points of their labels, even where labels of the result that they lack have no values. */
static bool is_for_all(Exact *c, const EinNode *n, const Draft *d) {
  int64_t proofs = PROOFS;
  const Expr *known = expr_and(c->x, d->sum.domain, d->sum.where);
  if (!expr_is_total(c->scratch, c->x, n, n->sum->body, known, &proofs)) return false;
  return !d->sum.where || expr_is_total(c->scratch, c->x, n, n->sum->where, d->sum.domain, &proofs);
}

static EinNode *largest_add(Exact *c, EinRegion *r, const EinNode *n, Largest *l) {
  Draft d = draft_of(c, n);
  l->own = !shared_by_all(c, n, &d);
  uint64_t some =
      d.sum.body->labels | (d.sum.where ? d.sum.where->labels : 0) | (d.sum.domain ? d.sum.domain->labels : 0);
  bool all = n->sum->n_out > ORDER_LABELS || (l->own && !is_for_all(c, n, &d));
  for (uint32_t k = 0; k < n->sum->n_out; k++)
    if (all || some >> k & 1) l->label[l->n++] = k;
  const Expr *e = d.sum.body;
  DType t = (DType)e->dtype;
  d.sum.body = expr_op1(c->x, OP_ABS, e);
  /* a term that is not finite affects only its own sum */
  if (!l->own) d.sum.body = expr_select(c->x, is_finite(c, e), d.sum.body, expr_real(c->x, t, 0));
  d.sum.reducer = RED_MAX;
  d.sum.dtype = d.sum.acc = t;
  labels_keep(c, &d, l->n, l->label);
  return vertex_add(c, r, n, &d);
}

static EinNode *unit_add(Exact *c, EinRegion *r, const EinNode *n, const Largest *l, EinNode *most) {
  Draft d = draft_of(c, n);
  labels_keep(c, &d, l->n, l->label);
  d.sum.n_red = 0;
  d.sum.reducer = RED_NONE;
  d.sum.where = NULL;
  d.sum.acc = d.sum.dtype = DT_F64;
  uint32_t own[GRAPH_OUT + 1];
  for (uint32_t k = 0; k < l->n; k++) own[k] = k;
  if (d.sum.domain && !is_partial(most)) d.sum.domain = NULL;
  d.sum.body = unit_of(c, n, read_at(c, &d, most, l->n, own));
  return vertex_add(c, r, n, &d);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* The term of sum number `fold`, in f64: what the sums before it left. */
static const Expr *term(Exact *c, const EinNode *n, const Expr *e, const Expr *unit, uint32_t fold) {
  for (uint32_t k = 0;; k++) {
    const Expr *part = op2(c, OP_SUB, op2(c, OP_ADD, e, unit), unit);
    if (k == fold) return part;
    e = expr_select(c->x, is_finite(c, part), op2(c, OP_SUB, e, part), real(c, 0)); /* inf - inf is no remainder */
    unit = op2(c, OP_MUL, op2(c, OP_MUL, unit, real(c, 0x1p-53)), power_of_points(c, n));
  }
}

static void sum_draft(Exact *c, const EinNode *n, Draft *d, EinNode *unit, const Largest *l, uint32_t fold) {
  *d = draft_of(c, n);
  const Expr *e = expr_cast(c->x, DT_F64, d->sum.body);
  d->sum.body = term(c, n, e, read_at(c, d, unit, l->n, l->label), fold);
  d->sum.acc = DT_F64;
}

static EinNode *result_add(Exact *c, EinRegion *r, const EinNode *n, Draft *d) {
  return rebuild_vertex(&c->b, r, n, &d->sum, d->bound, d->label, d->input.at);
}

static EinNode *sum_exact(Exact *c, EinRegion *r, const EinNode *n) {
  Largest l = {0};
  Draft d;
  EinNode *most = largest_add(c, r, n, &l), *unit = unit_add(c, r, n, &l, most), *part[FOLDS_MOST];
  uint32_t folds = n->sum->acc == DT_F64 || !l.own ? 2 : 1, all[GRAPH_OUT + 1];
  rebuild_note(&c->b, "float sums in any order", n->place);
  if (folds == 1) {
    sum_draft(c, n, &d, unit, &l, 0);
    d.sum.n_slot = d.input.len;
    return result_add(c, r, n, &d);
  }
  for (uint32_t k = 0; k < folds; k++) {
    sum_draft(c, n, &d, unit, &l, k);
    d.sum.dtype = DT_F64;
    part[k] = vertex_add(c, r, n, &d);
  }
  for (uint32_t k = 0; k < n->sum->n_out; k++) all[k] = k;
  d = draft_of(c, n);
  d.sum.n_red = 0;
  d.sum.reducer = RED_NONE;
  d.sum.where = NULL;
  d.sum.acc = DT_F64;
  d.sum.body = op2(c, OP_ADD, read_at(c, &d, part[0], d.sum.n_out, all), read_at(c, &d, part[1], d.sum.n_out, all));
  d.sum.n_slot = d.input.len;
  return result_add(c, r, n, &d);
}

/* log(sum(exp(e))) relative to the largest e, or to 0 if that is not finite. */
static EinNode *lse_exact(Exact *c, EinRegion *r, const EinNode *n) {
  uint32_t all[GRAPH_OUT + 1];
  for (uint32_t k = 0; k < n->sum->n_out; k++) all[k] = k;
  Draft d = draft_of(c, n);
  DType t = n->sum->acc;
  d.sum.reducer = RED_MAX;
  d.sum.dtype = t;
  d.sum.body = op2(c, OP_ADD, d.sum.body, expr_real(c->x, t, 0));
  EinNode *most = vertex_add(c, r, n, &d);
  d = draft_of(c, n);
  const Expr *m = read_at(c, &d, most, n->sum->n_out, all),
             *by = expr_select(c->x, is_finite(c, m), m, expr_real(c->x, t, 0));
  d.sum.body = expr_op1(c->x, OP_EXP, op2(c, OP_SUB, d.sum.body, by));
  d.sum.reducer = RED_SUM;
  d.sum.dtype = t;
  EinNode *sum = vertex_add(c, r, n, &d);
  d = draft_of(c, n);
  m = read_at(c, &d, most, n->sum->n_out, all);
  by = expr_select(c->x, is_finite(c, m), m, expr_real(c->x, t, 0));
  d.sum.body = op2(c, OP_ADD, by, expr_op1(c->x, OP_LOG, read_at(c, &d, sum, n->sum->n_out, all)));
  d.sum.n_red = 0;
  d.sum.reducer = RED_NONE;
  d.sum.where = NULL;
  d.sum.n_slot = d.input.len;
  return result_add(c, r, n, &d);
}

/* Of equal zeros max returns the first one, so all zeros are made equal. */
static EinNode *extreme_of_one_zero(Exact *c, EinRegion *r, const EinNode *n) {
  Draft d = draft_of(c, n);
  d.sum.body = op2(c, OP_ADD, d.sum.body, expr_real(c->x, (DType)d.sum.body->dtype, 0));
  return result_add(c, r, n, &d);
}

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

static bool is_long(const EinNode *n) {
  for (uint32_t k = n->sum->n_out; k < n->sum->n_out + n->sum->n_red; k++)
    if (!expr_is_int(n->bound[k], 1)) return true;
  return false;
}

/* x - x, which is 0 or NaN: every order gives the same. */
static bool is_zero(const Expr *e) { return is_op(e, OP_SUB) && e->arg[0] == e->arg[1]; }

static EinNode *exact(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Exact *c = env;
  if (!dtype_is_float(n->sum->acc) || !is_long(n) || is_zero(n->sum->body)) return rebuild_copy(b, r, n);
  switch (n->sum->reducer) {
  case RED_SUM: return sum_exact(c, r, n);
  case RED_MAX: case RED_MIN: case RED_FMAX: case RED_FMIN: return extreme_of_one_zero(c, r, n);
  default: return rebuild_copy(b, r, n);
  }
}

static EinNode *plain(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  return n->sum->reducer == RED_LSE && is_long(n) ? lse_exact(env, r, n) : rebuild_copy(b, r, n);
}

static const EinNode *inexact_in(const EinRegion *r) {
  const EinNode *found = NULL;
  for (uint32_t i = 0; i < r->nodes.len && !found; i++) {
    const EinNode *n = r->nodes.at[i];
    if (n->kind == EIN_REPEAT) found = inexact_in(n->body);
    if (n->kind != EIN_VERTEX || !dtype_is_float(n->sum->acc)) continue;
    if (n->sum->by) found = n; /* whose order is its own */
    if (!is_long(n)) continue;
    if (n->sum->reducer == RED_PROD || n->sum->reducer == RED_MONOID) found = n;
  }
  return found;
}

const EinNode *graph_inexact(const EinGraph *g) { return inexact_in(g->top); }

static EinGraph *made_by(const RebuildRules *rules, Arena *a, const EinGraph *g, PassNotes *notes) {
  Exact c = {.b = {.arena = a, .old = g, .pass = "exact", .notes = notes}, .scratch = arena_new(), .x = g->exprs};
  return rebuild_free(&c.b, a, g, rules, &c, c.scratch);
}

EinGraph *graph_exact(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules sums = {.vertex = exact}, logarithms = {.vertex = plain};
  g = made_by(&sums, a, made_by(&logarithms, a, g, NULL), notes);
  return graph_dead(a, graph_common(a, g, NULL), NULL);
}
