/* graph/passes/masks/pass_masks.c - sums of products with masks of zeros and ones visit only what the masks select:
 *
 *     Y[i,d] = sum[c] (if c == t[i] then 1 else 0) * E[c,d]
 *
 * is the sum of E[c,d] where c == t[i], a read of E[t[i],d]; except that 0 times an infinity or a NaN is NaN. So
 * Y[i,d] is NaN if E[c,d] is not finite for some c != t[i]:
 *
 *     Y.finite = sum[c,d] E[c,d] - E[c,d]                                  0, or NaN if one is not finite
 *     Y.last[d] = max[c where Y.finite != 0 and E[c,d] - E[c,d] != 0] c    and Y.first, the least one
 *     Y.where[i,d] = sum[c where c == t[i]] E[c,d]
 *     Y[i,d] = if Y.finite != 0 and (Y.first[d] < t[i] or Y.last[d] > t[i]) then nan else Y.where[i,d]
 *
 * So each conjunct of a mask is a comparison of something that depends on reduced labels with something that does not:
 * if it fails at some point that is not finite, it does so at the first or the last of them. These are looked for only
 * if there is one, so that the usual price is one look at each factor. Of other conjuncts, the points are asked where
 * they fail, if these are few too. A mask is always finite, and so are integers. Factors are looked at one by one: an
 * intermediate product may overflow in one order and not in another (language.md).
 *
 * A sum with a NaN or an infinity is not finite. So if one result sums up all points, as the last of a running sum
 * does, that result is looked at instead. Of groups (sum[n] (if k[n] == b then 1 else 0) * X[n,d]) all results are,
 * and beside them the values that are in no group.
 *
 * What the predicates then select is up to the other passes: a gather, sums by groups, a running sum, a band. */
#include <math.h>

#include "masks.h"

#include "expr/prove/in_range.h"
#include "graph/passes/contract/contract.h"
#include "graph/passes/range.h"
#include "graph/passes/reach.h"

enum {
  FEWER = 4,                 /* how many times less work must be left */
  CONDITIONS_MOST = 16,
  TESTS_MOST = 32
};

/* Where a point fails a conjunct: at g beyond h, before it (`least`), or both; or, without g, where `fails` holds. */
typedef struct Test {
  uint32_t factor;
  bool most, least;
  const Expr *g, *h, *fails;
} Test;

typedef struct Masks {
  Rebuild b;
  Arena *scratch;
  Rules *rules;
  int64_t proofs;            /* left for the graph */
  bool some;                 /* a vertex was changed */

  const EinNode *n;          /* the current vertex */
  Masked m;
  uint32_t labels;
  const Expr *unlike[MASK_FACTORS]; /* by factor: not 0 if it makes 0 times it a NaN; NULL: it never does */
  uint32_t n_part, n_test;
  const Expr *part[CONDITIONS_MOST];
  Test test[TESTS_MOST];
} Masks;

static uint64_t out_of(const Masks *c) { return labels_below(c->n->sum->n_out); }
static uint64_t red_of(const Masks *c) { return labels_below(c->labels) & ~out_of(c); }
static const Expr *integer(const Masks *c, int64_t v) { return expr_int(c->b.old->exprs, DT_I64, v); }

static Facts facts_of(const Masks *c, const Expr **turn) {
  Facts f = {.label = c->n->bound, .n_label = c->labels};
  facts_turns(&f, c->n->region, turn);
  return f;
}

/* ---- factors that are not finite ----------------------------------------------------------------- */

/* Whether 0 times it, or by it, is always 0. */
static bool is_harmless(const MaskFactor *f) {
  const Expr *e = f->e;
  if (e->kind == EX_REAL) return isfinite(e->f) && !(f->divides && e->f == 0);
  bool wide = e->dtype == DT_F32 || e->dtype == DT_F64;
  return !dtype_is_float((DType)e->dtype) ||
      (!f->divides && wide && is_op(e, OP_CAST) && !dtype_is_float((DType)e->arg[0]->dtype));
}

/* x - x is 0 if x is finite, and else NaN. 0 / x is 0 unless x is 0 or NaN. False: a value of one mask would have to be
 * asked under another one. */
static bool factors_look(Masks *c) {
  Exprs *p = c->b.old->exprs;
  for (uint32_t i = 0; i < c->m.n_factor; i++) {
    const MaskFactor *f = &c->m.factor[i];
    DType t = f->e->dtype == DT_F64 ? DT_F64 : DT_F32;
    bool never = is_harmless(f) || f->within == c->m.n_mask;
    if (!never && f->within) return false;
    const Expr *e = never ? NULL : expr_cast(p, t, f->e), *zero = expr_real(p, t, 0);
    c->unlike[i] = !e ? NULL : f->divides ? expr_op2(p, OP_DIV, zero, e) : expr_op2(p, OP_SUB, e, e);
  }
  return true;
}

/* ---- tests --------------------------------------------------------------------------------------- */

/* Writes the conjunct as g OP h, where g has the reduced labels: as it stands, or solved for one of them. Prefers a g
 * without labels of the result that the factor lacks. */
static bool part_solved(Masks *c, const Expr *e, uint64_t factor, Op *op, const Expr **g, const Expr **h) {
  Exprs *p = c->b.old->exprs;
  const Expr *turn[GRAPH_DEPTH + 1], *by;
  Facts f = facts_of(c, turn);
  bool found = false;
  int64_t strict, way;
  for (uint32_t k = 0; k < 2 && !found; k++) {
    if (!(e->arg[k]->labels & red_of(c)) || e->arg[1 - k]->labels & red_of(c)) continue;
    *op = k ? op_swapped((Op)e->op) : (Op)e->op;
    *g = e->arg[k], *h = e->arg[1 - k], found = true;
  }
  if ((found && !((*g)->labels & out_of(c) & ~factor)) || e->arg[0]->dtype != DT_I64) return found;
  if (index_may_wrap(&f, e->arg[0]) || index_may_wrap(&f, e->arg[1])) return found;
  const Expr *less = e->op == OP_EQ ? expr_op2(p, OP_LE, e->arg[0], e->arg[1]) : e;
  for (uint32_t l = c->n->sum->n_out; l < c->labels; l++) {
    const Expr *label = expr_label(p, l);
    if (!(e->labels >> l & 1) || !(way = bound_of_label(p, less, label, &by, &strict))) continue;
    const Expr *end = expr_normal(p, expr_op2(p, way > 0 ? OP_SUB : OP_ADD, label, by));
    if (end->labels & red_of(c) || index_may_wrap(&f, end)) continue;
    *op = e->op == OP_EQ ? OP_EQ : way > 0 ? (strict ? OP_LT : OP_LE) : strict ? OP_GT : OP_GE;
    *g = label, *h = end;
    return true;
  }
  return found;
}

/* e + by, if that does not wrap around; else NULL. */
static const Expr *moved(Masks *c, const Expr *e, int64_t by) {
  const Expr *turn[GRAPH_DEPTH + 1];
  Facts f = facts_of(c, turn);
  if (e->dtype != DT_I64 || index_is_data(e)) return NULL;
  const Expr *to = expr_op2(c->b.old->exprs, OP_ADD, e, integer(c, by));
  return index_may_wrap(&f, to) ? NULL : to;
}

/* The conjunct fails where g > h (most), where g < h (least), or where either. */
static bool test_by_ends(Masks *c, const Expr *e, uint64_t factor, Test *t) {
  const Expr *to;
  Op op;
  if (e->kind != EX_OP || op_info[e->op].rule != RULE_COMPARE || e->op == OP_NE) return false;
  if (!dtype_is_int((DType)e->arg[0]->dtype) || !part_solved(c, e, factor, &op, &t->g, &t->h)) return false;
  int64_t one = op == OP_LT ? 1 : op == OP_GT ? -1 : 0;
  if (one) {
    if ((to = moved(c, t->g, one))) t->g = to;
    else if ((to = moved(c, t->h, -one))) t->h = to;
    else return false;
  }
  t->most = op == OP_LT || op == OP_LE || op == OP_EQ;
  t->least = op == OP_GT || op == OP_GE || op == OP_EQ;
  return true;
}

/* The labels over which a test's points are looked for. */
static uint64_t test_labels(const Masks *c, const Test *t) {
  const Expr *w = c->m.sum.where, *of = t->g ? t->g : t->fails;
  return c->unlike[t->factor]->labels | of->labels | (w ? w->labels : 0);
}

static bool is_total(Masks *c, const Expr *e) {
  return expr_is_total(c->scratch, c->b.old->exprs, &c->m.at, e, NULL, &c->proofs);
}

/* The vertex with another predicate and body. */
static EinSum sum_of(const Masks *c, const Expr *where, const Expr *body) {
  EinSum s = c->m.sum;
  s.where = where, s.body = body;
  return s;
}

/* The work that a test adds: almost none, unless points must be asked for each result. */
static double test_work(Masks *c, const Test *t) {
  if (t->g) return 0;
  EinSum s = sum_of(c, expr_and(c->b.old->exprs, c->m.sum.where, t->fails), c->unlike[t->factor]);
  return reach_points(c->scratch, c->b.old->exprs, &s, c->n->bound) *
      labels_points(&c->m.at, test_labels(c, t) & out_of(c));
}

/* Finds the tests of all factors; false: too many, or they cannot be made. */
static bool tests_find(Masks *c, double *work) {
  Exprs *p = c->b.old->exprs;
  c->n_test = 0;
  if (c->m.sum.where && !is_total(c, c->m.sum.where)) return false;
  for (uint32_t i = 0; i < c->m.n_factor; i++) {
    if (!c->unlike[i]) continue;
    if (!is_total(c, c->m.factor[i].e)) return false;
    for (uint32_t k = 0; k < c->n_part; k++) {
      Test t = {.factor = i};
      if (!test_by_ends(c, c->part[k], c->unlike[i]->labels, &t))
        t.g = t.h = NULL, t.fails = condition_not(p, c->part[k]);
      if (!is_total(c, c->part[k]) || c->n_test == TESTS_MOST) return false;
      *work += test_work(c, &t);
      c->test[c->n_test++] = t;
    }
  }
  return true;
}

/* ---- whether it pays ----------------------------------------------------------------------------- */

/* The predicate's conjuncts, those of masks with comparisons as bounds of labels. */
static bool parts_find(Masks *c) {
  Exprs *p = c->b.old->exprs;
  const Expr *turn[GRAPH_DEPTH + 1];
  Facts f = facts_of(c, turn);
  for (uint32_t l = c->n->sum->n_out; l < c->labels; l++) {
    c->m.where = bounds_of_label(p, &f, c->m.where, l, c->n->bound[l]);
    c->m.where = range_of_quotients(p, &f, c->m.where, l, c->n->bound[l]);
  }
  return op_parts(c->scratch, c->m.where, OP_AND, CONDITIONS_MOST, c->part, &c->n_part);
}

/* All but one point counts as what lies before it: running sums. */
static const Expr *where_guessed(Masks *c) {
  Exprs *p = c->b.old->exprs;
  const Expr *where = c->m.sum.where;
  for (uint32_t k = 0; k < c->n_part; k++) {
    const Expr *e = c->part[k];
    bool but_one = is_op(e, OP_NE) && e->arg[0]->dtype == DT_I64;
    where = expr_and(p, where, but_one ? expr_op2(p, OP_LT, e->arg[0], e->arg[1]) : e);
  }
  return where;
}

/* Whether the work falls by enough: that of the masks with their values, and with the factors that share their reduced
 * labels. Each factor and each result is looked at once. */
static bool masks_pay(Masks *c) {
  Exprs *p = c->b.old->exprs;
  uint64_t red = c->m.where->labels & red_of(c), with = c->m.where->labels;
  double left = labels_points(&c->m.at, out_of(c));
  for (uint32_t i = 0; i < c->m.n_factor; i++) {
    uint64_t labels = c->m.factor[i].e->labels;
    if (labels & red || c->m.factor[i].within) with |= labels;
    left += labels_points(&c->m.at, labels);
  }
  EinSum was = sum_of(c, c->m.sum.where, c->m.body), now = sum_of(c, where_guessed(c), c->m.body);
  double of = labels_points(&c->m.at, red_of(c)), before = labels_points(&c->m.at, with);
  before *= reach_points(c->scratch, p, &was, c->n->bound) / of;
  left += reach_points(c->scratch, p, &now, c->n->bound) * labels_points(&c->m.at, out_of(c));
  return red && left * (double)FEWER <= before && tests_find(c, &left) && left * (double)FEWER <= before;
}

static bool may_have(const EinNode *n) {
  const EinSum *s = n->sum;
  if (s->reducer != RED_SUM || !s->n_red || s->domain || s->n_out + s->n_red >= ORDER_LABELS) return false;
  for (uint32_t k = 0; k < s->n_out + s->n_red; k++)
    if (expr_is_int(n->bound[k], 0)) return false;
  return true;
}

static bool masked_find(Masks *c, const EinNode *n) {
  if (n->kind != EIN_VERTEX || n->sum->by || !may_have(n)) return false;
  c->n = n;
  c->labels = n->sum->n_out + n->sum->n_red;
  if (!masks_find(c->scratch, c->b.old->exprs, c->rules, n, &c->m) || expr_can_fail(c->m.sum.body)) return false;
  return parts_find(c) && factors_look(c) && masks_pay(c);
}

/* ---- the vertices -------------------------------------------------------------------------------- */

typedef struct Emit {
  Masks *c;
  EinRegion *region;
  VEC(EinNode *) slot;       /* the vertex's, then those made here */
  uint64_t groups;           /* the label of groups, whose results are looked at; 0: the factors are */
  const Expr *beside;        /*   where a point is in none of them */
  const Expr *value;         /* a result where all that it reduces is finite */
  const Expr *all;           /*   the one of them that reduces all points; NULL: it is not known, or there is none */
} Emit;

/* A vertex with these of the labels, some of them reduced; returns a read of it. */
static const Expr *part_make(Emit *e, EinSum s, uint64_t out, uint64_t red, const char *word, uint32_t at) {
  Masks *c = e->c;
  EinGraph *g = c->b.g;
  const Expr *to[ORDER_LABELS] = {0}, *bound[ORDER_LABELS], *own[ORDER_LABELS];
  Str label[ORDER_LABELS];
  uint32_t n = 0;
  s.n_out = s.n_red = 0;
  for (uint32_t k = 0; k < 2 * c->labels; k++) {
    uint32_t l = k % c->labels;
    bool outer = k < c->labels;
    if (!((outer ? out : red) >> l & 1)) continue;
    own[n] = expr_label(g->exprs, l);
    to[l] = expr_label(g->exprs, n);
    bound[n] = c->n->bound[l];
    label[n++] = c->n->label[l];
    if (outer) s.n_out++;
    else s.n_red++;
  }
  s.n_slot = e->slot.len;
  sum_relabel(g->exprs, &s, c->labels, to);
  uint32_t n_out = s.n_out;
  EinNode *made = rebuild_part(&c->b, e->region, c->n, &s, bound, label, e->slot.at);
  if (c->n->name) made->name = strings_printf(g->strings, at ? "%s.%s%u" : "%s.%s", c->n->name->s, word, at + 1);
  vec_push(c->b.arena, e->slot, made);
  return expr_read(g->exprs, made->dtype, e->slot.len - 1, n_out, own);
}

/* The label of the results' rows is reduced too, so that a factor is asked once for a row. */
static uint64_t row_of(const Masks *c) {
  return c->n->sum->n_out ? UINT64_C(1) << (c->n->sum->n_out - 1) : 0;
}

/* The sum of this where some condition holds (NULL: everywhere), over the labels in red. */
static const Expr *unlike_make(
    Emit *e, const Expr *unlike, const Expr *where, uint64_t red, const char *word, uint32_t at) {
  uint64_t labels = unlike->labels | (where ? where->labels : 0);
  if (!(labels & red)) return unlike;
  EinSum s = sum_of(e->c, where, unlike);
  s.acc = s.dtype = (DType)unlike->dtype;
  return part_make(e, s, labels & ~red, labels & red, word, at);
}

/* Whether the results are sums of groups of the only factor's values, `k[n] == b`, where b counts all groups. */
static void groups_find(Emit *e) {
  const Masks *c = e->c;
  Exprs *p = c->b.old->exprs;
  const Expr *where = expr_and(p, c->m.sum.where, c->m.where);
  uint32_t factor = c->test[0].factor;
  uint64_t in = c->unlike[factor]->labels, others = out_of(c) & ~in;
  for (uint32_t i = 0; i < c->m.n_factor; i++)
    if (c->unlike[i] && i != factor) return;
  if (red_of(c) & ~in || !others || others & (others - 1) || !is_op(where, OP_EQ)) return;
  for (uint32_t k = 0; k < 2 && where->arg[0]->dtype == DT_I64; k++) {
    const Expr *group = where->arg[k], *label = where->arg[1 - k];
    if (label->kind != EX_LABEL || label->labels != others || group->labels & others) continue;
    const Expr *below = expr_op2(p, OP_LT, group, integer(c, 0));
    e->groups = others;
    e->beside = expr_op2(p, OP_OR, below, expr_op2(p, OP_LE, c->n->bound[label->i], group));
  }
}

/* 0 unless some of the results may be other than finite, or some value of the factor that is in no group is. */
static const Expr *finite_of_groups(Emit *e, uint32_t factor) {
  Masks *c = e->c;
  Exprs *p = c->b.g->exprs;
  const Expr *finite =
      unlike_make(e, expr_op2(p, OP_SUB, e->value, e->value), NULL, e->groups | row_of(c), "finite", 0);
  const Expr *beside = unlike_make(e, c->unlike[factor], e->beside, red_of(c) | row_of(c), "beside", 0);
  return expr_op2(p, OP_ADD, finite, expr_cast(p, (DType)finite->dtype, beside));
}

/* 0 unless some result that reduces all points is not finite. */
static const Expr *finite_of_all(Emit *e) {
  const Expr *unlike = expr_op2(e->c->b.g->exprs, OP_SUB, e->all, e->all);
  if (unlike->labels & row_of(e->c)) return unlike_make(e, unlike, NULL, row_of(e->c), "finite", 0);
  EinSum s = sum_of(e->c, NULL, unlike);
  s.reducer = RED_NONE, s.acc = s.dtype = (DType)unlike->dtype;
  return part_make(e, s, unlike->labels, 0, "finite", 0);
}

/* 0 unless some value of the factor is not finite. */
static const Expr *finite_make(Emit *e, uint32_t factor, uint32_t at) {
  if (e->groups) return finite_of_groups(e, factor);
  if (e->all) return finite_of_all(e);
  return unlike_make(e, e->c->unlike[factor], NULL, red_of(e->c) | row_of(e->c), "finite", at);
}

/* Where the predicates hold for all points if label `out` of the result is at `at`. */
static bool reduces_all_at(const Masks *c, uint32_t out, const Expr *at) {
  Exprs *p = c->b.g->exprs;
  const Expr *to[ORDER_LABELS] = {0}, *where = expr_and(p, c->m.sum.where, c->m.where), *turn[GRAPH_DEPTH + 1];
  to[out] = at;
  for (uint32_t l = 0; l < c->labels; l++)
    if (!to[l]) to[l] = expr_label(p, l);
  Facts f = facts_of(c, turn);
  return prove(p, &f, expr_relabel(p, where, c->labels, to)).verdict == PROVED;
}

/* The result that reduces all points of the only factor that may not be finite; NULL: there is none. */
static const Expr *all_find(Emit *e) {
  const Masks *c = e->c;
  Exprs *p = c->b.g->exprs;
  const Expr *unlike = c->unlike[c->test[0].factor], *to[ORDER_LABELS];
  if (c->test[c->n_test - 1].factor != c->test[0].factor || red_of(c) & ~unlike->labels) return NULL;
  for (uint32_t l = 0; l < c->labels; l++) to[l] = expr_label(p, l);
  for (uint32_t l = 0; l < c->n->sum->n_out; l++) {
    const Expr *n = c->n->bound[l];
    if (n->kind != EX_INT || e->value->labels & ~unlike->labels & ~to[l]->labels) continue;
    for (uint32_t k = 0; k < 2; k++) {
      const Expr *at = integer(c, k ? 0 : n->i - 1);
      if (!reduces_all_at(c, l, at)) continue;
      to[l] = at;
      return expr_relabel(p, e->value, c->labels, to);
    }
  }
  return NULL;
}

/* The labels that are not looked at must have a point. */
static const Expr *with_points(const Masks *c, const Expr *test, uint64_t labels) {
  Exprs *p = c->b.g->exprs;
  for (uint32_t k = c->n->sum->n_out; k < c->labels; k++)
    if (!(labels >> k & 1) && c->n->bound[k]->kind != EX_INT)
      test = expr_and(p, expr_op2(p, OP_LE, integer(c, 1), c->n->bound[k]), test);
  return test;
}

static const Expr *compared(const Masks *c, Op op, const Expr *e) {
  return expr_op2(c->b.g->exprs, op, e, expr_real(c->b.g->exprs, (DType)e->dtype, 0));
}

/* Whether a value of the factor is not finite where the conjunct fails. */
static const Expr *test_make(Emit *e, const Test *t, const Expr *finite, uint32_t at) {
  Masks *c = e->c;
  Exprs *p = c->b.g->exprs;
  uint64_t labels = test_labels(c, t), out = labels & out_of(c), red = labels & red_of(c);
  const Expr *gate = compared(c, OP_NE, finite);
  const Expr *unlike = compared(c, OP_NE, c->unlike[t->factor]), *made = NULL, *w = c->m.sum.where;
  if (!t->g && !red) return with_points(c, expr_and(p, unlike, t->fails), labels);
  if (!t->g) {
    EinSum s = sum_of(c, expr_and(p, expr_and(p, gate, t->fails), w), unlike);
    s.reducer = RED_ANY, s.acc = s.dtype = DT_BOOL;
    return with_points(c, part_make(e, s, out, red, "fails", at), labels);
  }
  EinSum s = sum_of(c, expr_and(p, expr_and(p, gate, w), unlike), t->g);
  s.acc = s.dtype = (DType)t->g->dtype;
  if (t->least) {
    s.reducer = RED_MIN;
    made = expr_op2(p, OP_LT, part_make(e, s, out, red, "first", at), t->h);
  }
  if (t->most) {
    s.reducer = RED_MAX;
    const Expr *more = expr_op2(p, OP_GT, part_make(e, s, out, red, "last", at), t->h);
    made = made ? expr_op2(p, OP_OR, made, more) : more;
  }
  return with_points(c, made, labels);
}

/* Whether a result is NaN because of what the masks leave out; whether all is finite is asked first. */
static const Expr *tests_make(Emit *e) {
  Masks *c = e->c;
  Exprs *p = c->b.g->exprs;
  const Expr *all = NULL, *any = NULL, *finite = NULL;
  uint32_t asked = 0;
  for (uint32_t k = 0; k < c->n_test; k++) {
    const Test *t = &c->test[k];
    if (!any) finite = finite_make(e, t->factor, asked++);
    const Expr *one = test_make(e, t, finite, k);
    any = any ? expr_op2(p, OP_OR, any, one) : one;
    if (k + 1 < c->n_test && c->test[k + 1].factor == t->factor) continue;
    any = expr_op2(p, OP_AND, compared(c, OP_NE, finite), any);
    all = all ? expr_op2(p, OP_OR, all, any) : any;
    any = NULL;
  }
  return all;
}

static EinNode *masked_make(Masks *c, EinRegion *r) {
  Exprs *p = c->b.g->exprs;
  Emit e = {.c = c, .region = r};
  EinSum s = sum_of(c, expr_and(p, c->m.sum.where, c->m.where), c->m.body);
  for (uint32_t i = 0; i < c->m.sum.n_slot; i++) vec_push(c->b.arena, e.slot, rebuild_to(&c->b, c->m.at.input[i]));
  if (!c->n_test) return rebuild_vertex(&c->b, r, c->n, &s, c->n->bound, c->n->label, e.slot.at);
  s.dtype = s.acc;
  groups_find(&e);
  e.value = part_make(&e, s, out_of(c), red_of(c), "where", 0);
  e.all = all_find(&e);
  const Expr *nan = tests_make(&e);
  EinSum y = sum_of(c, NULL, expr_select(p, nan, expr_real(p, s.acc, NAN), e.value));
  y.reducer = RED_NONE, y.n_red = 0, y.n_slot = e.slot.len;
  return rebuild_vertex(&c->b, r, c->n, &y, c->n->bound, c->n->label, e.slot.at);
}

/* ---- the pass ------------------------------------------------------------------------------------ */

static EinNode *unmasked(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Masks *c = env;
  if (!masked_find(c, n)) return rebuild_copy(b, r, n);
  rebuild_note(b, "masks made predicates", n->place);
  c->some = true;
  return masked_make(c, r);
}

EinGraph *graph_masks(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = unmasked};
  Masks c = {.b = {.arena = a, .old = g, .pass = "masks", .notes = notes}, .scratch = arena_new()};
  c.rules = rules_new(c.scratch, g->exprs);
  c.proofs = 1000 + 4 * (int64_t)g->n_nodes;
  EinGraph *made = rebuild_free(&c.b, a, g, &rules, &c, c.scratch);
  return c.some ? graph_simplify(a, made, notes) : made;
}
