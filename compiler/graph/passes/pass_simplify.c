/* graph/passes/pass_simplify.c - simplifies one vertex after the other: applies the laws of rules.c, resolves
 * conditions that decide.c decides or that enclosing conditions answer (under.c), and removes labels that an equation
 * pins.
 *
 *   sum[j where j == e] body       e without j: body at j = e, where e is in range
 *   sum[j] select(j == e, x, 0)    the same
 *   sum[j] select(j <= i, x, 0)    sum[j where j <= i] x
 *   sum[j where e == i + 1] x      sum[j where e - 1 == i] x, which is a scatter
 *   sum[j where false] body        the identity
 *   sum[j:1] body                  body at j = 0
 *   sum[j where j < e] body        for integers and a body without j: body times the number of points
 *   sum[j where j // 4 == e] body  sum[j where 4*e <= j and j < 4*e + 4] body
 *   a read of n, where n[i] = 8    8
 *   x ^ n[i], where n is a list    x ^ select(i < 1, 2, 4), where few products are enough
 *
 * This turns scatters to known places, permutations and deltas into reads. */
#include "expr/prove/in_range.h"
#include "decide.h"
#include "range.h"

typedef struct Simplify {
  Rebuild b;
  Rules *rules;
  Decide decide;
  Interval *of;              /* by old id: the range of a vertex' values */
  uint32_t checks;           /* facts that hold everywhere */
  VEC(const Expr *) turn;    /* of the loops around */
} Simplify;

typedef struct Draft {       /* the current vertex */
  EinSum sum;
  const Expr **bound;
  Str *label;
  Place place;
  bool changed;
} Draft;

enum { PIN_LABELS = 63 };    /* above this, masks of labels cannot distinguish them */

/* ---- pinning --------------------------------------------------------------------------------- */

static bool has_label(const Expr *e, uint32_t l) {
  return e->labels >> l & 1;
}

/* Solves t == rhs for label l, which occurs in t: l == the result; or NULL. */
static const Expr *solve(Exprs *p, const Expr *t, const Expr *rhs, uint32_t l) {
  while (t->kind == EX_OP && t->dtype == DT_I64) {
    const Expr *a = t->arg[0], *b = t->n == 2 ? t->arg[1] : NULL;
    if (b && has_label(a, l) && has_label(b, l)) return NULL;
    bool left = has_label(a, l);
    if (t->op == OP_ADD) {
      rhs = expr_op2(p, OP_SUB, rhs, left ? b : a);
    } else if (t->op == OP_SUB) {
      rhs = left ? expr_op2(p, OP_ADD, rhs, b) : expr_op2(p, OP_SUB, a, rhs);
    } else if (t->op == OP_NEG) {
      rhs = expr_op1(p, OP_NEG, rhs);
    } else {
      return NULL;
    }
    t = left ? a : b;
  }
  return t->kind == EX_LABEL && t->i == (int64_t)l ? expr_normal(p, rhs) : NULL;
}

static const Expr *pinned(Exprs *p, const Expr *c, uint32_t l) {
  if (c->kind != EX_OP || c->op != OP_EQ || c->arg[0]->dtype != DT_I64) return NULL;
  const Expr *a = c->arg[0], *b = c->arg[1];
  if (has_label(a, l) == has_label(b, l)) return NULL;
  return has_label(a, l) ? solve(p, a, b, l) : solve(p, b, a, l);
}

typedef VEC(const Expr *) Parts;

/* The conjuncts, from left to right. */
static Parts parts_of(Arena *a, const Expr *e) {
  Parts stack = {0}, parts = {0};
  if (e) vec_push(a, stack, e);
  while (stack.len) {
    const Expr *x = vec_pop(stack);
    if (x->kind == EX_OP && x->op == OP_AND) {
      vec_push(a, stack, x->arg[1]);
      vec_push(a, stack, x->arg[0]);
    } else {
      vec_push(a, parts, x);
    }
  }
  return parts;
}

/* What comes before the equation and depends on l may only be evaluated once e is known to be in range; if e reads,
 * it may be what guards the read. And over nothing e was never computed. */
static bool may_pin(const Draft *d, const Parts *parts, uint32_t at, uint32_t l, const Expr *e) {
  const Expr *n = d->bound[l];
  for (uint32_t i = 0; i < at; i++)
    if (has_label(parts->at[i], l) && (e->has & HAS_READ)) return false;
  return !expr_can_fail(e) || (n->kind == EX_INT && n->i > 0);
}

static void drop_label(Arena *a, Draft *d, uint32_t l) {
  uint32_t n = d->sum.n_out + d->sum.n_red;
  const Expr **bound = NEW_ARRAY(a, const Expr *, n);
  Str *label = NEW_ARRAY(a, Str, n);
  for (uint32_t k = 0, to = 0; k < n; k++) {
    if (k == l) continue;
    bound[to] = d->bound[k];
    label[to++] = d->label[k];
  }
  d->bound = bound;
  d->label = label;
  d->sum.n_red--;
}

/* Replaces l by e everywhere, and moves the labels after it up. */
static void put_label(Simplify *s, Draft *d, Parts *parts, uint32_t at, uint32_t l, const Expr *e) {
  Exprs *p = s->decide.p;
  const Expr *to[PIN_LABELS + 1] = {0}, *in_range, *where = NULL;
  uint32_t n = d->sum.n_out + d->sum.n_red;
  for (uint32_t k = l + 1; k < n; k++) to[k] = expr_label(p, k - 1);
  e = expr_relabel(p, e, n, to);
  in_range = expr_and(p, expr_op2(p, OP_LE, expr_int(p, DT_I64, 0), e), expr_op2(p, OP_LT, e, d->bound[l]));
  to[l] = e;
  uint32_t first = at;
  for (uint32_t i = at; i-- > 0;)
    if (has_label(parts->at[i], l)) first = i;
  for (uint32_t i = 0; i < parts->len; i++) {
    if (i == first) where = expr_and(p, where, in_range);
    if (i != at) where = expr_and(p, where, expr_relabel(p, parts->at[i], n, to));
  }
  d->sum.where = where;
  d->sum.body = expr_relabel(p, d->sum.body, n, to);
  drop_label(s->b.arena, d, l);
  d->changed = true;
  rebuild_note(&s->b, "labels pinned", d->place);
}

static bool pin_one(Simplify *s, Draft *d) {
  Exprs *p = s->decide.p;
  Parts parts = parts_of(s->b.arena, d->sum.where);
  for (uint32_t i = 0; i < parts.len; i++)
    for (uint32_t l = d->sum.n_out + d->sum.n_red; l-- > d->sum.n_out;) {
      const Expr *e = pinned(p, parts.at[i], l);
      if (!e || !may_pin(d, &parts, i, l, e)) continue;
      put_label(s, d, &parts, i, l, e);
      return true;
    }
  return false;
}

/* A reduced label of one point. A reducer that keeps more than the value keeps its last label. */
static bool one_goes(Simplify *s, Draft *d) {
  Exprs *p = s->decide.p;
  Reducer r = d->sum.reducer;
  bool last = d->sum.n_red == 1 && (r == RED_FMAX || r == RED_FMIN);
  for (uint32_t l = d->sum.n_out + d->sum.n_red; l-- > d->sum.n_out && !last && r != RED_MONOID;) {
    const Expr *to[PIN_LABELS + 1] = {0};
    uint32_t n = d->sum.n_out + d->sum.n_red;
    if (!expr_is_int(d->bound[l], 1)) continue;
    to[l] = expr_int(p, DT_I64, 0);
    for (uint32_t k = l + 1; k < n; k++) to[k] = expr_label(p, k - 1);
    d->sum.body = expr_relabel(p, d->sum.body, n, to);
    if (d->sum.where) d->sum.where = expr_relabel(p, d->sum.where, n, to);
    drop_label(s->b.arena, d, l);
    d->changed = true;
    rebuild_note(&s->b, "labels of one point", d->place);
    return true;
  }
  return false;
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* The negation of a comparison of integers, as a comparison; NULL: it is something else. */
static const Expr *opposite(Exprs *p, const Expr *c) {
  return c->kind == EX_OP && c->arg[0]->dtype == DT_I64 ? expr_opposite(p, c) : NULL;
}

/* Whether a point determines one of the output's labels: label == e, solved from among other terms. NULL: none. */
static const Expr *put_at(Exprs *p, const EinSum *sum, const Expr *c) {
  uint64_t out = ((uint64_t)1 << sum->n_out) - 1;
  if (c->kind != EX_OP || c->op != OP_EQ || c->arg[0]->dtype != DT_I64 || !(c->has & HAS_READ)) return NULL;
  for (uint32_t l = 0; l < sum->n_out; l++) {
    const Expr *label = expr_label(p, l), *e = pinned(p, c, l);
    if (e && e->has & HAS_READ && !(e->labels & out) && c->arg[0] != label && c->arg[1] != label)
      return expr_op2(p, OP_EQ, e, label);
  }
  return NULL;
}

/* All points of a reduced label but one: label != e, solved from among other terms. NULL: it is something else. */
static const Expr *all_but(Exprs *p, const EinSum *sum, const Expr *c) {
  if (c->kind != EX_OP || c->op != OP_NE || c->arg[0]->dtype != DT_I64) return NULL;
  for (uint32_t l = sum->n_out; l < sum->n_out + sum->n_red; l++) {
    const Expr *label = expr_label(p, l), *e = pinned(p, expr_op2(p, OP_EQ, c->arg[0], c->arg[1]), l);
    if (e && c->arg[0] != label && c->arg[1] != label) return expr_op2(p, OP_NE, label, e);
  }
  return NULL;
}

/* The condition, with conjuncts in the form in which bounds and scatters are recognised. */
static const Expr *conjuncts_plain(Exprs *p, const EinSum *sum, const Expr *c) {
  const Expr *a = c->kind == EX_OP ? c->arg[0] : NULL, *to;
  if (a && c->op == OP_AND) return expr_and(p, conjuncts_plain(p, sum, a), conjuncts_plain(p, sum, c->arg[1]));
  if (a && c->op == OP_NOT && a->kind == EX_OP && a->op == OP_OR) {
    const Expr *x = conjuncts_plain(p, sum, expr_op1(p, OP_NOT, a->arg[0]));
    return expr_and(p, x, conjuncts_plain(p, sum, expr_op1(p, OP_NOT, a->arg[1])));
  }
  if (a && c->op == OP_NOT && (to = opposite(p, a))) c = to;
  to = put_at(p, sum, c);
  if (!to) to = all_but(p, sum, c);
  return to ? to : c;
}

static void conditions_plain(Simplify *s, Draft *d) {
  const Expr *was = d->sum.where;
  if (was) d->sum.where = conjuncts_plain(s->decide.p, &d->sum, was);
  d->changed |= d->sum.where != was;
}

/* ---- counting -------------------------------------------------------------------------------- */

typedef struct Asked { const EinNode *n; bool open; } Asked;

static const Expr *extent_asked(void *ctx, const Expr *read, uint32_t k) {
  return ((Asked *)ctx)->n->input[read->i]->dim[k];
}

static void extent_open(void *ctx, int64_t slot, uint32_t k, const Expr *index, const Proof *why) {
  (void)slot, (void)k, (void)index, (void)why;
  ((Asked *)ctx)->open = true;
}

/* With data as bounds, reads happen even where the label has no point: they must be in range all the same. */
static bool reads_stand(Simplify *s, const EinNode *n, const Draft *d) {
  Asked asked = {n, false};
  Facts facts = s->decide.facts;
  facts.n_hold = s->checks;
  InRange q = {.exprs = s->decide.p,
      .arena = s->b.arena,
      .facts = facts,
      .ctx = &asked,
      .extent = extent_asked,
      .open = extent_open};
  in_range_sum(&q, &d->sum, d->bound);
  return !asked.open;
}

/* A label that only bounds use: the body times the number of its points. For integers only, whose sums may wrap in
 * any order. */
static bool count_one(Simplify *s, const EinNode *n, Draft *d) {
  Exprs *p = s->decide.p;
  const EinSum *sum = &d->sum;
  if (sum->reducer != RED_SUM || !dtype_is_int(sum->acc) || sum->body->dtype != sum->acc || expr_can_fail(sum->body))
    return false;
  for (uint32_t l = sum->n_out + sum->n_red, all = l; l-- > sum->n_out;) {
    const Expr *rest, *to[PIN_LABELS + 1] = {0};
    const Expr *points = has_label(sum->body, l) ? NULL : range_points(p, sum->where, l, d->bound[l], &rest);
    if (!points) continue;
    Draft made = *d;
    for (uint32_t k = l + 1; k < all; k++) to[k] = expr_label(p, k - 1);
    made.sum.body = expr_relabel(p, expr_op2(p, OP_MUL, expr_cast(p, (DType)sum->acc, points), sum->body), all, to);
    made.sum.where = rest ? expr_relabel(p, rest, all, to) : NULL;
    drop_label(s->b.arena, &made, l);
    if (points->has & HAS_READ && !reads_stand(s, n, &made)) continue;
    made.changed = true;
    *d = made;
    rebuild_note(&s->b, "points counted", d->place);
    return true;
  }
  return false;
}

/* The condition, with comparisons of reduced labels as bounds of them. */
static const Expr *bounded(Simplify *s, const Draft *d, const Expr *c) {
  Exprs *p = s->decide.p;
  Facts f = s->decide.facts;
  f.label = d->bound;
  f.n_label = d->sum.n_out + d->sum.n_red;
  f.n_hold = s->checks;
  for (uint32_t l = d->sum.n_out; l < f.n_label; l++) {
    c = bounds_of_label(p, &f, c, l, d->bound[l]);
    c = range_of_quotients(p, &f, c, l, d->bound[l]);
  }
  return c;
}

static bool bounds_go(Simplify *s, const EinNode *n, Draft *d) {
  const Expr *was = d->sum.where;
  if (was) d->sum.where = bounded(s, d, was);
  for (uint32_t l = d->sum.n_out; was && l < d->sum.n_out + d->sum.n_red; l++) {
    Draft made = *d;
    made.sum.where = ends_joined(s->decide.p, d->sum.where, l, d->bound[l]);
    if (made.sum.where != d->sum.where && reads_stand(s, n, &made)) *d = made;
  }
  if (d->sum.where == was) return false;
  d->changed = true;
  rebuild_note(&s->b, "conditions made bounds", d->place);
  return true;
}

static bool is_identity(const Expr *e, const Expr *none) {
  return e == none ||
      (e->kind == EX_REAL && none->kind == EX_REAL && (e->f == none->f || (e->f != e->f && none->f != none->f)));
}

/* Whether data are compared with reduced labels, and so bound them; or equal an expression of an output label, and
 * so determine where the point goes. */
static bool is_about_data(const Draft *d, const Expr *c) {
  uint64_t out = ((uint64_t)1 << d->sum.n_out) - 1;
  if (c->kind != EX_OP || op_info[c->op].rule != RULE_COMPARE || c->op == OP_NE || c->arg[0]->dtype != DT_I64)
    return false;
  for (uint32_t k = 0; k < 2; k++) {
    const Expr *label = c->arg[k], *data = c->arg[1 - k];
    if (label->has & HAS_READ || !(data->has & HAS_READ) || !label->labels) continue;
    if (!(label->labels & out) && !(data->labels & ~out)) return true;
    if (c->op == OP_EQ && !(label->labels & ~out) && !(data->labels & out)) return true;
  }
  return false;
}

/* Whether it compares an expression of the points with one of the result's labels, which the value does not use: so
 * one number classifies the points. */
static bool tells_apart(Exprs *p, const Draft *d, const Expr *c, const Expr *value) {
  uint64_t out = ((uint64_t)1 << d->sum.n_out) - 1;
  if (c->kind != EX_OP || (c->op != OP_EQ && c->op != OP_NE) || c->arg[0]->dtype != DT_I64) return false;
  for (uint32_t k = 0; k < 2; k++) {
    uint64_t of = c->arg[k]->labels, result = c->arg[1 - k]->labels;
    if (of && !(of & out) && result && !(result & ~out) && !(value->labels & result))
      return c->op == OP_EQ || c->arg[k]->kind == EX_LABEL || all_but(p, &d->sum, c);
  }
  return false;
}

/* Whether it limits a remainder of reduced labels by something else. */
static bool is_about_remainder(const Draft *d, const Expr *c) {
  uint64_t out = ((uint64_t)1 << d->sum.n_out) - 1;
  if (c->kind != EX_OP || op_info[c->op].rule != RULE_COMPARE || c->op == OP_NE || c->arg[0]->dtype != DT_I64)
    return false;
  for (uint32_t k = 0; k < 2; k++) {
    const Expr *q = c->arg[k];
    bool remainder = q->kind == EX_OP && q->op == OP_MOD && q->arg[0]->labels & ~out;
    if (remainder && !(c->arg[1 - k]->labels & ~out)) return true;
  }
  return false;
}

/* Whether some conjunct pins or bounds a reduced label, or classifies points. */
static bool is_about_reduced(Simplify *s, const Draft *d, const Expr *c, const Expr *value) {
  Exprs *p = s->decide.p;
  Parts parts = parts_of(s->b.arena, bounded(s, d, c));
  const Expr *by;
  int64_t strict;
  for (uint32_t i = 0; i < parts.len; i++)
    if (is_about_data(d, parts.at[i]) || is_about_remainder(d, parts.at[i]) || tells_apart(p, d, parts.at[i], value))
      return true;
  for (uint32_t i = 0; i < parts.len; i++)
    for (uint32_t l = d->sum.n_out; l < d->sum.n_out + d->sum.n_red; l++)
      if (pinned(p, parts.at[i], l) || bound_of_label(p, parts.at[i], expr_label(p, l), &by, &strict)) return true;
  return false;
}

/* Whether it leaves out results, as of a triangle: there is then nothing to reduce. A border has one label, and its
 * loops are split there. */
static bool is_about_results(const Draft *d, const Expr *c) {
  uint64_t out = labels_below(d->sum.n_out);
  return !(c->has & HAS_READ) && !(c->labels & ~out) && c->labels & (c->labels - 1);
}

/* Whether some operand of a and-chain, or or-chain, may fail: it is then computed only where those before it allow. */
static bool may_reorder(const Expr *c, const Expr *x) { return !expr_can_fail(c) && !expr_can_fail(x); }

static const Expr *negated(Exprs *p, const Expr *c) {
  const Expr *to = opposite(p, c);
  return to ? to : c->kind == EX_OP && c->op == OP_NOT ? c->arg[0] : expr_op1(p, OP_NOT, c);
}

/* any (c and x), all (c or x): the points where c holds, or doesn't. Takes the first operand that says something of
 * reduced labels. */
static const Expr *test_chosen(Simplify *s, const Draft *d, const Expr **value) {
  enum { MOST = 32 };
  Exprs *p = s->decide.p;
  const Expr *e = d->sum.body, *part[MOST], *found = NULL;
  bool any = d->sum.reducer == RED_ANY;
  uint32_t n;
  if (e->kind == EX_INT || !op_parts(s->b.arena, e, any ? OP_AND : OP_OR, MOST, part, &n)) return NULL;
  *value = NULL;
  for (uint32_t i = 0; i < n; i++) {
    const Expr *c = found ? NULL : any ? part[i] : negated(p, part[i]);
    bool first = i == 0 && n == 2; /* nothing is computed before it, then or now */
    if (c && c->labels && is_about_reduced(s, d, c, e) && (first || may_reorder(c, e))) found = c;
    else *value = *value ? expr_op2(p, any ? OP_AND : OP_OR, *value, part[i]) : part[i];
  }
  if (!*value) *value = expr_bool(p, any);
  return found;
}

/* Whether it is a finite float: 0 times it is 0. */
static bool is_finite(const Expr *e) {
  if (e->kind == EX_REAL) return e->f - e->f == 0;
  bool wide = e->dtype == DT_F32 || e->dtype == DT_F64;
  return e->kind == EX_OP && e->op == OP_CAST && wide && !dtype_is_float((DType)e->arg[0]->dtype);
}

static bool is_condition(const Expr *e) {
  return e->kind == EX_OP && e->op == OP_CAST && e->arg[0]->dtype == DT_BOOL;
}

/* The sum of i64(c), and of x * i64(c): of 1, and of x, where c holds. So it is for floats if x is finite. */
static const Expr *factor_chosen(Exprs *p, const Draft *d, const Expr **value) {
  const Expr *e = d->sum.body, *outer = NULL;
  bool wider = e->kind == EX_OP && e->op == OP_CAST && dtype_is_int((DType)e->dtype) &&
      dtype_is_int((DType)e->arg[0]->dtype);
  if (wider && !is_condition(e)) outer = e, e = e->arg[0];
  if (is_condition(e)) {
    DType t = (DType)d->sum.body->dtype;
    *value = dtype_is_float(t) ? expr_real(p, t, 1) : expr_int(p, t, 1);
    return e->arg[0];
  }
  for (uint32_t k = 0; k < 2 && e->kind == EX_OP && e->op == OP_MUL; k++) {
    const Expr *c = e->arg[k], *x = e->arg[1 - k];
    if (!is_condition(c) || !may_reorder(c, x) || (dtype_is_float((DType)x->dtype) && !is_finite(x))) continue;
    *value = outer ? expr_cast(p, (DType)outer->dtype, x) : x;
    return c->arg[0];
  }
  return NULL;
}

/* A choice between a value and the identity: the condition, and the value; NULL: it is none. */
static const Expr *choice_of(Exprs *p, const Draft *d, const Expr **value) {
  const Expr *e = d->sum.body, *none = reducer_identity(p, &d->sum);
  if (e->kind != EX_OP || e->op != OP_SELECT || d->sum.reducer == RED_MONOID || !none) return NULL;
  bool otherwise = !is_identity(e->arg[2], none);
  if (otherwise && !is_identity(e->arg[1], none)) return NULL;
  *value = e->arg[otherwise ? 2 : 1];
  return otherwise ? opposite(p, e->arg[0]) : e->arg[0];
}

/* select(c, x, identity) under the reducer, or what says the same: moves c, or its negation, to where. A condition that
 * depends on data alone stays: it is tested at each point in any case. */
static bool select_to_where(Simplify *s, Draft *d) {
  Exprs *p = s->decide.p;
  const Expr *value, *c = choice_of(p, d, &value);
  if (d->sum.reducer == RED_SUM && !c) c = factor_chosen(p, d, &value);
  if (c && !is_about_reduced(s, d, c, value) && !is_about_results(d, c)) c = NULL;
  if (d->sum.reducer == RED_ANY || d->sum.reducer == RED_ALL) c = test_chosen(s, d, &value);
  if (!c) return false;
  d->sum.where = expr_and(p, d->sum.where, c);
  d->sum.body = value;
  d->changed = true;
  return true;
}

/* ---- what the extents decide ----------------------------------------------------------------- */

static const Expr *lawful(Simplify *s, Draft *d, const Expr *e) {
  uint32_t count = 0;
  if (!e) return NULL;
  const Expr *to = rules_apply(s->rules, e, &count);
  for (; count; count--) rebuild_note(&s->b, "laws applied", d->place);
  d->changed |= to != e;
  return to;
}

static const Expr *not_true(const Expr *e) {
  return e && e->kind == EX_INT && e->i ? NULL : e;
}

/* Resolves conditions that enclosing conditions answer. */
static const Expr *answered(Simplify *s, Draft *d, const Expr *e, const Expr *domain, const Expr *where) {
  uint32_t count = 0;
  if (!e || !(e->n || e->dtype == DT_BOOL)) return e;
  const Expr *to = expr_under(s->b.arena, s->decide.p, e, (const Expr *[]){domain, where}, 2, &count);
  for (; count; count--) rebuild_note(&s->b, "conditions answered", d->place);
  d->changed |= to != e;
  return to == e ? e : lawful(s, d, to);
}

static void answer(Simplify *s, Draft *d) {
  d->sum.where = not_true(answered(s, d, d->sum.where, d->sum.domain, NULL));
  d->sum.body = answered(s, d, d->sum.body, d->sum.domain, d->sum.where);
}

static void prune(Simplify *s, Draft *d) {
  Decide *k = &s->decide;
  EinSum was = d->sum;
  decide_start(k, d->bound, d->sum.n_out, s->checks);
  d->sum.domain = not_true(decide(k, d->sum.domain));
  decide_hold(k, d->sum.domain);
  k->facts.n_label = d->sum.n_out + d->sum.n_red;
  d->sum.where = not_true(decide(k, d->sum.where));
  decide_hold(k, d->sum.where);
  d->sum.body = decide(k, d->sum.body);
  for (uint32_t i = 0; i < k->decided; i++) rebuild_note(&s->b, "conditions decided", d->place);
  d->changed |= was.domain != d->sum.domain || was.where != d->sum.where || was.body != d->sum.body;
}

/* ---- the remaining reducer ------------------------------------------------------------------- */

static bool over_nothing(const Draft *d) {
  const Expr *w = d->sum.where;
  if (w && w->kind == EX_INT && !w->i) return true;
  for (uint32_t k = d->sum.n_out; k < d->sum.n_out + d->sum.n_red; k++)
    if (expr_is_int(d->bound[k], 0)) return true;
  return false;
}

static void become_map(Draft *d, const Expr *body) {
  d->sum.body = body;
  d->sum.where = NULL;
  d->sum.n_red = 0;
  d->sum.reducer = RED_NONE;
  d->sum.monoid = NULL;
  d->changed = true;
}

/* fmax and fmin of one value are that value unless it is NaN, so they stay. */
static void finish(Simplify *s, Draft *d) {
  Exprs *p = s->decide.p;
  const Expr *none = reducer_identity(p, &d->sum);
  if (d->sum.reducer == RED_NONE || !none) return;
  if (over_nothing(d)) {
    become_map(d, none);
    rebuild_note(&s->b, "reductions over nothing", d->place);
  } else if (!d->sum.n_red && d->sum.reducer != RED_FMAX && d->sum.reducer != RED_FMIN) {
    become_map(d, d->sum.where ? expr_select(p, d->sum.where, d->sum.body, none) : d->sum.body);
  }
}

/* ---- numbers ---------------------------------------------------------------------------------- */

/* A read of a vertex that is one number everywhere. */
static const Expr *leaf_number(void *env, Exprs *p, const Expr *leaf) {
  const EinNode *const *input = env;
  (void)p;
  if (leaf->kind != EX_READ) return leaf;
  const EinNode *of = input[leaf->i];
  if (of->kind != EIN_VERTEX || of->sum->reducer != RED_NONE || of->sum->domain || of->sum->by) return leaf;
  const Expr *e = of->sum->body;
  return (e->kind == EX_INT || e->kind == EX_REAL) && e->dtype == leaf->dtype && !expr_can_fail(leaf) ? e : leaf;
}

/* An exponent that is an element of a list. */
static const Expr *op_exponent(void *env, Exprs *p, const Expr *e) {
  const EinNode *const *input = env;
  if (e->op != OP_POW) return e;
  const Expr *by = e->arg[1], *read = is_op(by, OP_CAST) ? by->arg[0] : by;
  if (read->kind != EX_READ || expr_can_fail(read)) return e;
  const EinNode *of = input[read->i];
  if (of->kind != EIN_VERTEX || of->sum->reducer != RED_NONE || of->sum->domain || of->sum->by) return e;
  if (of->sum->body->dtype != read->dtype || !exponent_is_chosen(of->sum->body)) return e;
  const Expr *chosen = expr_relabel(p, of->sum->body, read->n, read->arg);
  return expr_op2(p, OP_POW, e->arg[0], expr_cast(p, (DType)by->dtype, chosen));
}

static const Expr *numbers_put(Simplify *s, Draft *d, EinNode *const *input, const Expr *e) {
  const Expr *to = e ? expr_map(s->decide.p, e, leaf_number, (void *)(uintptr_t)input) : NULL;
  if (to) to = expr_map_ops(s->decide.p, to, op_exponent, (void *)(uintptr_t)input);
  if (to != e) rebuild_note(&s->b, "numbers put in", d->place);
  d->changed |= to != e;
  return to;
}

/* ---- indices ---------------------------------------------------------------------------------- */

/* An index that depends on data is tested when it is computed, others are proved. p[i] - p[i] + 3 becomes 3, which
 * nobody tests any more. */
typedef struct Tested {
  Arena *arena;
  EinNode *const *input;
  VEC(const Expr *) read;    /* reads whose index was data */
  bool open;
} Tested;

static void tested_add(void *ctx, const Expr *read, const Expr *guard) {
  Tested *t = ctx;
  (void)guard;
  for (uint32_t k = 0; k < read->n; k++)
    if (index_is_data(read->arg[k])) {
      vec_push(t->arena, t->read, read);
      return;
    }
}

/* The extent that an index must be proved to be below. */
static const Expr *tested_extent(void *ctx, const Expr *read, uint32_t k) {
  const Tested *t = ctx;
  if (index_is_data(read->arg[k])) return NULL;
  vec_each_of(const Expr, was, t->read)
    if (was->i == read->i && index_is_data(was->arg[k])) return t->input[read->i]->dim[k];
  return NULL;
}

static void tested_open(void *ctx, int64_t slot, uint32_t k, const Expr *index, const Proof *why) {
  (void)slot, (void)k, (void)index, (void)why;
  ((Tested *)ctx)->open = true;
}

/* Whether indices of n that were data are still, or are proved to be in range. */
static bool indices_hold(Simplify *s, const EinNode *n, const Draft *d, EinNode *const *input) {
  Arena *a = s->b.arena;
  Tested t = {.arena = a, .input = input};
  const Expr *part[] = {n->sum->domain, n->sum->where, n->sum->body};
  for (uint32_t i = 0; i < COUNT(part); i++)
    if (part[i]) reads_guarded(a, s->decide.p, part[i], NULL, tested_add, &t);
  if (!t.read.len) return true;
  InRange q = {.exprs = s->decide.p, .arena = a, .facts = s->decide.facts, .ctx = &t, .extent = tested_extent,
      .open = tested_open};
  q.facts.n_hold = s->checks;
  in_range_sum(&q, &d->sum, d->bound);
  return !t.open;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static EinNode *simplified(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Simplify *s = env;
  Draft d = {.sum = *n->sum, .bound = n->bound, .label = n->label, .place = n->place};
  EinNode **input = rebuild_inputs(b, n, 0);
  d.sum.body = numbers_put(s, &d, input, d.sum.body);
  d.sum.where = numbers_put(s, &d, input, d.sum.where);
  d.sum.domain = numbers_put(s, &d, input, d.sum.domain);
  d.sum.body = lawful(s, &d, d.sum.body);
  d.sum.where = not_true(lawful(s, &d, d.sum.where));
  d.sum.domain = not_true(lawful(s, &d, d.sum.domain));
  answer(s, &d);
  s->of[n->id] = interval_of_vertex(s->of, n);
  s->decide.n = n;
  prune(s, &d);
  s->decide.n = NULL;
  if (d.sum.n_out + d.sum.n_red <= PIN_LABELS) {
    bool any = false, value = !red_is_arg(&d.sum);
    while (value && d.sum.n_red && one_goes(s, &d)) any = true;
    while (value && d.sum.n_red && select_to_where(s, &d)) {}
    conditions_plain(s, &d);
    while (value && d.sum.where && d.sum.n_red && pin_one(s, &d)) any = true;
    any |= bounds_go(s, n, &d);
    while (value && d.sum.n_red && count_one(s, n, &d)) any = true;
    if (any) prune(s, &d);
  }
  finish(s, &d);
  if (!d.changed) return rebuild_copy(b, r, n);
  d.sum.body = lawful(s, &d, d.sum.body);
  d.sum.where = not_true(lawful(s, &d, d.sum.where));
  answer(s, &d);
  if (!indices_hold(s, n, &d, input)) return rebuild_copy(b, r, n);
  return rebuild_vertex(b, r, n, &d.sum, d.bound, d.label, input);
}

static void entered(void *env, EinRegion *r) {
  Simplify *s = env;
  if (r->parent) vec_push(s->b.arena, s->turn, r->turns);
  s->decide.facts.turn = s->turn.at;
  s->decide.facts.n_turn = s->turn.len;
}

static void left(void *env, EinRegion *r) {
  Simplify *s = env;
  if (r->parent) s->turn.len--;
  s->decide.facts.n_turn = s->turn.len;
}

EinGraph *graph_simplify(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = simplified, .enter = entered, .leave = left};
  Simplify s = {.b = {.arena = a, .pass = "simplify", .notes = notes}, .rules = rules_new(a, g->exprs)};
  s.decide = (Decide){.arena = a, .p = g->exprs, .conditions = map_new(a), .proofs = 1000 + 4 * (int64_t)g->n_nodes};
  s.decide.of = s.of = NEW_ARRAY(a, Interval, g->n_nodes + 1);
  decide_start(&s.decide, NULL, 0, 0);
  for (uint32_t i = 0; i < g->checks.len && i < DECIDE_HOLD / 2; i++) decide_hold(&s.decide, g->checks.at[i].cond);
  s.checks = s.decide.facts.n_hold;
  return rebuild(&s.b, a, g, &rules, &s);
}
