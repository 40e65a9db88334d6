/* expr/prove/let_through.c - turns predicates into rows of inequalities, and rows into ties. */
#include "let_through.h"

#include <string.h>

enum { ROWS = 128, RANGES = 8 };

typedef struct Row {         /* c[0]*l0 + c[1]*l1 + ... + k >= 0; k is small enough that sums do not overflow */
  int64_t k, c[TIE_LABELS];
} Row;

typedef struct Range { const Expr *label, *list; } Range; /* the list's entry is a bound of the label */

typedef struct Taking {
  uint32_t n_label, n, n_low, n_high;
  Row row[ROWS];
  Range low[RANGES], high[RANGES]; /* list[i] <= label, label < list[j] */
  const uint32_t *list;
  const int64_t *extent;
  Ties *ties;
} Taking;

/* ---- affine forms ---------------------------------------------------------------------------------------- */

static bool scaled(int64_t by, int64_t x, int64_t *to) {
  int64_t y;
  return mul_ok(by, x, &y) && add_ok(*to, y, to) && *to < INT64_MAX / 4 && *to > -(INT64_MAX / 4);
}

/* Adds e, `by` times; false: it is not affine, or too large. */
static bool affine(const Expr *e, int64_t by, Row *r) {
  const Expr *a = e->n ? e->arg[0] : NULL, *b = e->n > 1 ? e->arg[1] : NULL;
  int64_t product;
  if (e->kind == EX_INT) return scaled(by, e->i, &r->k);
  if (e->kind == EX_LABEL) return e->i < TIE_LABELS && scaled(by, 1, &r->c[e->i]);
  if (e->kind != EX_OP || e->dtype != DT_I64) return false;
  switch ((Op)e->op) {
  case OP_NEG: return affine(a, -by, r);
  case OP_ADD: return affine(a, by, r) && affine(b, by, r);
  case OP_SUB: return affine(a, by, r) && affine(b, -by, r);
  case OP_MUL:
    if (a->kind == EX_INT) return mul_ok(by, a->i, &product) && affine(b, product, r);
    return b->kind == EX_INT && mul_ok(by, b->i, &product) && affine(a, product, r);
  default: return false;
  }
}

/* more - less + k >= 0 */
static void row_add(Taking *t, const Expr *more, const Expr *less, int64_t k) {
  Row *r = &t->row[t->n];
  if (t->n == ROWS) return;
  *r = (Row){.k = k};
  t->n += (!more || affine(more, 1, r)) && (!less || affine(less, -1, r));
}

/* ---- predicates ------------------------------------------------------------------------------------------- */

static void tie_add(Taking *t, Tie p) {
  if (t->ties->n < TIES_MOST) t->ties->at[t->ties->n++] = p;
}

/* A label alone on one side: the other side determines it. */
static void equation_take(Taking *t, const Expr *label, const Expr *to) {
  bool known = !(to->labels >> TIE_LABELS);
  if (label->kind != EX_LABEL || label->i >= TIE_LABELS || !known || (to->labels >> label->i & 1)) return;
  tie_add(t, (Tie){(uint32_t)label->i, 1, to->labels});
}

/* A quotient of a label has, for each of its values, w values of the label; a remainder has one value of the label
 * in that many. The other side determines it. */
static void digit_take(Taking *t, const Expr *e, const Expr *to) {
  if (e->kind != EX_OP || (e->op != OP_IDIV && e->op != OP_MOD) || e->arg[1]->kind != EX_INT || e->arg[1]->i < 1)
    return;
  Row r = {0};
  if (to->labels >> TIE_LABELS || !affine(e->arg[0], 1, &r)) return;
  uint64_t with = 0;
  for (uint32_t l = 0; l < t->n_label && l < TIE_LABELS; l++) with |= r.c[l] ? (uint64_t)1 << l : 0;
  for (uint32_t l = 0; l < t->n_label && l < TIE_LABELS; l++) {
    uint64_t given = (with & ~((uint64_t)1 << l)) | to->labels;
    if ((r.c[l] != 1 && r.c[l] != -1) || given >> l & 1) continue;
    int64_t w = e->arg[1]->i;
    tie_add(t, (Tie){l, e->op == OP_IDIV ? (double)w : (double)(t->extent[l] / w + (t->extent[l] % w != 0)), given});
  }
}

/* x <= y + k; also for |x|. */
static void order_take(Taking *t, const Expr *x, const Expr *y, int64_t k) {
  bool of_abs = x->kind == EX_OP && x->op == OP_ABS;
  row_add(t, y, of_abs ? x->arg[0] : x, k);
  if (!of_abs || t->n == ROWS) return;
  Row *r = &t->row[t->n];
  *r = (Row){.k = k};
  t->n += affine(y, 1, r) && affine(x->arg[0], 1, r);
}

static bool is_bound(const Expr *label, const Expr *list) {
  return label->kind == EX_LABEL && label->i < TIE_LABELS && list->kind == EX_READ && list->n == 1 &&
      !(list->labels >> TIE_LABELS);
}

static bool is_difference(const Expr *e, const Expr *zero) {
  return e->kind == EX_OP && e->op == OP_SUB && expr_is_int(zero, 0);
}

/* x <= y, or x < y; also for a difference compared with 0. */
static void range_take(Taking *t, const Expr *x, const Expr *y, bool less) {
  if (is_difference(x, y)) y = x->arg[1], x = x->arg[0];
  else if (is_difference(y, x)) x = y->arg[1], y = y->arg[0];
  if (!less && is_bound(y, x) && t->n_low < RANGES) t->low[t->n_low++] = (Range){y, x};
  if (less && is_bound(x, y) && t->n_high < RANGES) t->high[t->n_high++] = (Range){x, y};
}

/* A tie of i where one list's entries at i and at i + 1 are the bounds of a label: since the list increases, the
 * label lies between only two of them. */
static void range_ties(Taking *t, const Range *low, const Range *high) {
  const Expr *from = low->list->arg[0], *to = high->list->arg[0];
  Row r = {0};
  if (low->label != high->label || t->list[low->list->i] != t->list[high->list->i] || !affine(to, 1, &r) ||
      !affine(from, -1, &r) || r.k != 1)
    return;
  for (uint32_t l = 0; l < TIE_LABELS; l++)
    if (r.c[l]) return;
  Row at = {0};
  affine(from, 1, &at);
  for (uint32_t l = 0; l < t->n_label && l < TIE_LABELS; l++)
    if ((at.c[l] == 1 || at.c[l] == -1) && (int64_t)l != low->label->i) {
      uint64_t given = (uint64_t)1 << low->label->i;
      for (uint32_t m = 0; m < t->n_label && m < TIE_LABELS; m++) given |= at.c[m] && m != l ? (uint64_t)1 << m : 0;
      tie_add(t, (Tie){l, 1, given});
    }
}

static void predicate_take(Taking *t, const Expr *e) {
  if (!e || e->kind != EX_OP || e->n != 2) return;
  const Expr *a = e->arg[0], *b = e->arg[1];
  if (e->op == OP_AND) {
    predicate_take(t, a);
    predicate_take(t, b);
    return;
  }
  if (!dtype_is_int(a->dtype)) return;
  switch ((Op)e->op) {
  case OP_LE: order_take(t, a, b, 0), range_take(t, a, b, false); break;
  case OP_LT: order_take(t, a, b, -1), range_take(t, a, b, true); break;
  case OP_GE: order_take(t, b, a, 0), range_take(t, b, a, false); break;
  case OP_GT: order_take(t, b, a, -1), range_take(t, b, a, true); break;
  case OP_EQ:
    equation_take(t, a, b);
    equation_take(t, b, a);
    digit_take(t, a, b);
    digit_take(t, b, a);
    row_add(t, a, b, 0);
    row_add(t, b, a, 0);
    break;
  default: break;
  }
}

/* ---- rows that face each other --------------------------------------------------------------------------------- */

static bool faces(const Taking *t, const Row *a, const Row *b) {
  for (uint32_t l = 0; l < t->n_label && l < TIE_LABELS; l++)
    if (a->c[l] != -b->c[l]) return false;
  return true;
}

/* The form lies between -a.k and b.k. */
static void between(Taking *t, const Row *a, const Row *b) {
  uint64_t all = 0;
  int64_t span = a->k + b->k;
  for (uint32_t l = 0; l < t->n_label && l < TIE_LABELS; l++) all |= a->c[l] ? (uint64_t)1 << l : 0;
  for (uint32_t l = 0; l < t->n_label && l < TIE_LABELS; l++) {
    int64_t step = a->c[l] < 0 ? -a->c[l] : a->c[l];
    if (step) tie_add(t, (Tie){l, span < 0 ? 0 : (double)(span / step + 1), all & ~((uint64_t)1 << l)});
  }
}

Ties ties_find(
    uint32_t n_label, const int64_t *extent, const uint32_t *list, uint32_t n, const Expr *const *predicate) {
  Ties ties = {0};
  Taking t = {.n_label = n_label, .list = list, .extent = extent, .ties = &ties};
  bool any = false;
  for (uint32_t i = 0; i < n; i++) any |= predicate[i] != NULL;
  if (!any) return ties;
  for (uint32_t i = 0; i < n; i++) predicate_take(&t, predicate[i]);
  for (uint32_t i = 0; i < t.n_low; i++)
    for (uint32_t k = 0; k < t.n_high; k++) range_ties(&t, &t.low[i], &t.high[k]);
  uint32_t said = t.n;
  for (uint32_t l = 0; l < n_label && l < TIE_LABELS && t.n + 2 <= ROWS; l++) { /* 0 <= l < extent */
    t.row[t.n] = t.row[t.n + 1] = (Row){0};
    t.row[t.n].c[l] = 1, t.row[t.n + 1].c[l] = -1;
    t.row[t.n + 1].k = extent[l] < INT64_MAX / 4 ? extent[l] - 1 : INT64_MAX / 4;
    t.n += 2;
  }
  for (uint32_t i = 0; i < said; i++)
    for (uint32_t k = i + 1; k < t.n; k++)
      if (faces(&t, &t.row[i], &t.row[k])) between(&t, &t.row[i], &t.row[k]);
  return ties;
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* Ties must not depend on each other in a cycle: those that remove most come first. */
double ties_points(const Ties *p, uint32_t n_label, const double *values) {
  uint64_t depends[TIE_LABELS] = {0}, tied = 0; /* by label: on which it does */
  double points = 1, has[TIE_LABELS];
  for (uint32_t l = 0; l < n_label && l < TIE_LABELS; l++) has[l] = values[l];
  for (;;) {
    uint32_t best = p->n;
    uint64_t on = 0;
    double share = 1;
    for (uint32_t i = 0; i < p->n; i++) {
      const Tie *x = &p->at[i];
      uint64_t all = x->given;
      for (uint32_t l = 0; l < TIE_LABELS; l++) all |= x->given >> l & 1 ? depends[l] : 0;
      bool free = x->label < n_label && !(tied >> x->label & 1) && !(all >> x->label & 1);
      if (free && x->values < share * has[x->label]) share = x->values / has[x->label], best = i, on = all;
    }
    if (best == p->n) break;
    uint32_t label = p->at[best].label;
    has[label] = p->at[best].values;
    depends[label] = on;
    tied |= (uint64_t)1 << label;
    for (uint32_t l = 0; l < TIE_LABELS; l++) depends[l] |= depends[l] >> label & 1 ? on : 0;
  }
  for (uint32_t l = 0; l < n_label; l++) points *= l < TIE_LABELS ? has[l] : values[l];
  return points;
}
