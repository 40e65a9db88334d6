/* expr/points.c - concrete points. In: facts and a goal. Out: whether the goal fails at a point, as decided by the
 * language's own evaluator, never by the linear system. Also enumerates small boxes, which decides what elimination
 * over the integers leaves open. */
#include "pool.h"
#include "expr/prove/proof.h"

static bool dim_at(void *ctx, Str name, int64_t *out) {
  const Point *at = ctx;
  *out = 1;
  for (uint32_t i = 0; i < at->n_dim; i++)
    if (at->dim[i].name == name) *out = at->dim[i].value;
  return true;
}

static bool value_at(const Facts *f, const Point *at, const Expr *e, int64_t *out) {
  Value v = {0};
  ExprEnv env = {.label = at->label, .turn = at->turn, .n_label = f->n_label, .n_turn = f->n_turn, .dim = dim_at,
                 .ctx = (void *)(uintptr_t)at};
  int64_t left = LOOKED_MOST - at->p->looked, before = left;
  bool ok = expr_value_within(e, &env, &v, &left);
  at->p->looked += before - left;
  *out = v.i;
  return ok;
}

bool facts_small(const Facts *f) {
  return f->n_label <= MOST_LABELS && f->n_turn <= MOST_TURNS;
}

static Truth truth_at(const Facts *f, const Point *at, const Expr *e) {
  int64_t v;
  if (!value_at(f, at, e, &v)) return TRUTH_UNKNOWN;
  return v ? TRUTH_YES : TRUTH_NO;
}

static bool in_range(const Facts *f, const Point *at, uint32_t n, const Expr *const *extent, const int64_t *x) {
  for (uint32_t k = 0; k < n; k++) {
    int64_t most;
    if (!extent[k]) continue;
    if (x[k] < 0 || !value_at(f, at, extent[k], &most) || x[k] >= most) return false;
  }
  return true;
}

bool point_refutes(const Facts *f, const Point *at, const Expr *goal) {
  for (uint32_t i = 0; i < at->n_dim; i++)
    if (at->dim[i].value < 0) return false;
  for (uint32_t i = 0; i < f->n_turn; i++)
    if (at->turn[i] < 0) return false;
  if (!in_range(f, at, f->n_label, f->label, at->label) || !in_range(f, at, f->n_turn, f->turn, at->turn)) return false;
  for (uint32_t i = 0; i < f->n_hold; i++)
    if (truth_at(f, at, f->hold[i]) != TRUTH_YES) return false;
  return truth_at(f, at, goal) == TRUTH_NO;
}

void point_give(Exprs *p, const Facts *f, const Point *at, Proof *out) {
  Arena *a = exprs_arena(p);
  out->label.len = out->turn.len = out->dim.len = 0;
  for (uint32_t i = 0; i < f->n_label; i++) vec_push(a, out->label, at->label[i]);
  for (uint32_t i = 0; i < f->n_turn; i++) vec_push(a, out->turn, at->turn[i]);
  for (uint32_t i = 0; i < at->n_dim; i++) {
    vec_room(a, out->dim);
    out->dim.at[out->dim.len].name = at->dim[i].name;
    out->dim.at[out->dim.len++].value = at->dim[i].value;
  }
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static bool side_add(Box *b, int64_t *at, const Expr *extent, int64_t *points) {
  if (!extent || extent->kind != EX_INT) return false;
  int64_t n = extent->i > 0 ? extent->i : 0;
  if (!mul_ok(*points, n > 0 ? n : 1, points) || *points > MOST_POINTS) return false;
  b->side[b->n].at = at;
  b->side[b->n++].extent = n;
  return true;
}

/* Of the labels with use[k] and, if asked, the turns. Returns false if an extent is not a literal or the box has more
 * than MOST_POINTS points. */
static bool box_new(Box *b, const Facts *f, Point *at, const bool *use, bool turns) {
  int64_t points = 1;
  b->n = 0;
  for (uint32_t k = 0; k < f->n_label; k++)
    if (use[k] && !side_add(b, &at->label[k], f->label[k], &points)) return false;
  for (uint32_t k = 0; turns && k < f->n_turn; k++)
    if (!side_add(b, &at->turn[k], f->turn[k], &points)) return false;
  return true;
}

/* Moves to the box's first point; returns whether it has one. */
static bool box_first(Box *b) {
  bool any = true;
  for (uint32_t i = 0; i < b->n; i++) {
    *b->side[i].at = 0;
    any = any && b->side[i].extent > 0;
  }
  return any;
}

/* Returns false after the last point, when it is at zeros again. */
static bool box_next(Box *b) {
  for (uint32_t i = b->n; i-- > 0;) {
    if (++*b->side[i].at < b->side[i].extent) return true;
    *b->side[i].at = 0;
  }
  return false;
}

/* The facts at a point: no, maybe (some have no value without data), or yes. */
static Truth facts_at(const Facts *f, const Point *at) {
  Truth all = TRUTH_YES;
  for (uint32_t i = 0; i < f->n_hold; i++) {
    Truth t = f->hold[i]->has & HAS_DIM ? TRUTH_UNKNOWN : truth_at(f, at, f->hold[i]);
    if (t == TRUTH_NO) return t;
    if (t == TRUTH_UNKNOWN) all = t;
  }
  return all;
}

static unsigned uses(const Facts *f, const Expr *goal, bool *use) {
  unsigned has = goal ? goal->has : 0;
  if (goal) expr_labels(goal, f->n_label, use);
  for (uint32_t i = 0; i < f->n_hold; i++) {
    expr_labels(f->hold[i], f->n_label, use);
    has |= f->hold[i]->has;
  }
  return has;
}

Verdict enumerate(Exprs *p, const Facts *f, const Expr *goal, Proof *out) {
  Point at = {.p = p};
  Box b;
  bool use[MOST_LABELS] = {false}, open = false;
  if (!facts_small(f) || (goal->has & (HAS_READ | HAS_DIM | HAS_PARAM))) return OPEN_DATA;
  unsigned has = uses(f, goal, use);
  if (!box_new(&b, f, &at, use, (has & HAS_TURN) != 0)) return OPEN_DATA;
  if (!box_first(&b)) return PROVED;
  do {
    Truth t = truth_at(f, &at, goal);
    if (t == TRUTH_YES || facts_at(f, &at) == TRUTH_NO) continue;
    open = true;
    if (t == TRUTH_UNKNOWN) return OPEN_DATA;
    if (!point_refutes(f, &at, goal)) continue;
    point_give(p, f, &at, out);
    return REFUTED;
  } while (box_next(&b));
  return open ? OPEN_DATA : PROVED;
}

static Truth some_inner(const Facts *f, const Point *at, Box *inner, const Expr *where) {
  Truth all = TRUTH_NO;
  if (!box_first(inner)) return TRUTH_NO;
  do {
    Truth t = where ? truth_at(f, at, where) : TRUTH_YES;
    if (t == TRUTH_YES) return t;
    if (t == TRUTH_UNKNOWN) all = t;
  } while (box_next(inner));
  return all;
}

Verdict enumerate_nonempty(Exprs *p, const Facts *f, const Facts *extents, const bool *inner, const Expr *where,
                           Proof *out) {
  Point at = {.p = p};
  Box outside, inside, whole;
  bool use[MOST_LABELS] = {false}, all[MOST_LABELS] = {false}, open = false;
  if (!facts_small(f) || (where && (where->has & (HAS_READ | HAS_DIM | HAS_PARAM)))) return OPEN_DATA;
  bool turns = (uses(f, where, use) & HAS_TURN) != 0;
  for (uint32_t k = 0; k < f->n_label; k++) {
    all[k] = use[k] || inner[k];
    use[k] = use[k] && !inner[k];
  }
  if (!box_new(&whole, extents, &at, all, turns) || !box_new(&outside, f, &at, use, turns) ||
      !box_new(&inside, extents, &at, inner, false))
    return OPEN_DATA;
  if (!box_first(&outside)) return PROVED;
  do {
    Truth some = some_inner(f, &at, &inside, where);
    if (some == TRUTH_YES || facts_at(f, &at) == TRUTH_NO) continue;
    open = true;
    if (some == TRUTH_UNKNOWN) return OPEN_DATA;
    if (!point_refutes(f, &at, expr_bool(p, false))) continue;
    point_give(p, f, &at, out);
    return REFUTED;
  } while (box_next(&outside));
  return open ? OPEN_DATA : PROVED;
}
