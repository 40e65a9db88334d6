/* expr/prove/let_through.c - turns predicates into rows of inequalities, and rows into ties. */
#include "let_through.h"

#include <math.h>

enum { ROWS = 128, RANGES = 8, EITHERS = 3, ATOMS = 8 };

typedef struct Row {         /* c[0]*l0 + c[1]*l1 + ... + k >= 0; k is small enough that sums do not overflow */
  int64_t k, c[TIE_LABELS];
} Row;

typedef struct Range { const Expr *label, *list; } Range; /* the list's entry is a bound of the label */
typedef struct End { const Expr *label, *at; int64_t more; } End; /* label >= at + more, or label <= at + more */
typedef struct Comb { uint32_t label; int64_t by, length; uint64_t given; } Comb; /* of `by` values, `length` */

typedef struct Taking {
  uint32_t n_label, n, n_low, n_high;
  Row row[ROWS];
  Range low[RANGES], high[RANGES]; /* list[i] <= label, label < list[j] */
  uint32_t n_from, n_to, n_comb, n_either, n_known;
  End from[RANGES], to[RANGES];    /* of data */
  Comb comb[RANGES];
  const Expr *either[EITHERS];     /* conjuncts that are an `or`, or the opposite of an `and` */
  const Expr *const *known;        /* those of them of which one side is among the predicates already */
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

/* How many of w remainders compare with `to`; the upper ones or the lower ones, `beyond` those from `to` + 1 on. */
static int64_t remainders(Op op, const Expr *to, int64_t w) {
  if (op == OP_EQ) return 1;
  if (to->kind != EX_INT) return w;
  int64_t below = to->i < 0 ? 0 : to->i > w ? w : to->i, upto = to->i < -1 ? 0 : to->i >= w ? w : to->i + 1;
  return op == OP_LT ? below : op == OP_LE ? upto : op == OP_GT ? w - upto : w - below;
}

/* A quotient of a label has, for each of its values, w values of the label; a remainder has one value of the label
 * in that many, or as many as an order admits. The other side determines them. */
static void digit_take(Taking *t, Op op, const Expr *e, const Expr *to) {
  if (e->kind != EX_OP || (e->op != OP_IDIV && e->op != OP_MOD) || e->arg[1]->kind != EX_INT || e->arg[1]->i < 1)
    return;
  Row r = {0};
  if (to->labels >> TIE_LABELS || !affine(e->arg[0], 1, &r) || (e->op == OP_IDIV && op != OP_EQ)) return;
  uint64_t with = 0;
  for (uint32_t l = 0; l < t->n_label && l < TIE_LABELS; l++) with |= r.c[l] ? (uint64_t)1 << l : 0;
  for (uint32_t l = 0; l < t->n_label && l < TIE_LABELS; l++) {
    uint64_t given = (with & ~((uint64_t)1 << l)) | to->labels;
    if ((r.c[l] != 1 && r.c[l] != -1) || given >> l & 1) continue;
    int64_t w = e->arg[1]->i;
    if (e->op == OP_IDIV) tie_add(t, (Tie){l, (double)w, given});
    else if (t->n_comb < RANGES) t->comb[t->n_comb++] = (Comb){l, w, remainders(op, to, w), given};
  }
}

static double comb_values(const Comb *c, double values) {
  double by = (double)c->by, whole = floor(values / by), rest = values - whole * by;
  return whole * (double)c->length + (rest < (double)c->length ? rest : (double)c->length);
}

/* Within a run of a label's values, and in all of its extent. */
static void combs_take(Taking *t) {
  uint32_t runs = t->ties->n;
  for (uint32_t k = 0; k < t->n_comb; k++) {
    const Comb *c = &t->comb[k];
    tie_add(t, (Tie){c->label, comb_values(c, (double)t->extent[c->label]), c->given});
    for (uint32_t i = 0; i < runs; i++) {
      Tie x = t->ties->at[i];
      bool run = x.label == c->label && x.values < (double)t->extent[c->label];
      if (run) tie_add(t, (Tie){c->label, comb_values(c, x.values), x.given | c->given});
    }
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

/* label >= e + more, or label <= e + more, where e is data. */
static void end_take(Taking *t, const Expr *label, const Expr *e, int64_t more, bool upper) {
  uint32_t *n = upper ? &t->n_to : &t->n_from;
  bool known = label->kind == EX_LABEL && label->i < TIE_LABELS && !(e->labels >> TIE_LABELS);
  if (!known || !(e->has & HAS_READ) || (e->labels >> label->i & 1) || *n == RANGES) return;
  (upper ? t->to : t->from)[(*n)++] = (End){label, e, more};
}

/* x <= y + k */
static void less_take(Taking *t, const Expr *x, const Expr *y, int64_t k) {
  order_take(t, x, y, k);
  range_take(t, x, y, k < 0);
  end_take(t, x, y, k, true);
  end_take(t, y, x, -k, false);
}

static void comparison_take(Taking *t, Op op, const Expr *a, const Expr *b) {
  if (!dtype_is_int(a->dtype) || op == OP_NE) return;
  digit_take(t, op, a, b);
  digit_take(t, op_swapped(op), b, a);
  switch (op) {
  case OP_LE: less_take(t, a, b, 0); break;
  case OP_LT: less_take(t, a, b, -1); break;
  case OP_GE: less_take(t, b, a, 0); break;
  case OP_GT: less_take(t, b, a, -1); break;
  default:
    equation_take(t, a, b);
    equation_take(t, b, a);
    row_add(t, a, b, 0);
    row_add(t, b, a, 0);
  }
}

static void either_note(Taking *t, const Expr *e) {
  for (uint32_t i = 0; i < t->n_known; i++)
    if (t->known[i] == e) return;
  if (t->n_either < EITHERS) t->either[t->n_either++] = e;
}

/* e holds, or (not) it doesn't. */
static void predicate_take(Taking *t, const Expr *e, bool not) {
  if (!e || e->kind != EX_OP) return;
  if (e->op == OP_NOT) {
    predicate_take(t, e->arg[0], !not);
  } else if (e->op == OP_AND || e->op == OP_OR) {
    if ((e->op == OP_AND) == not) {
      either_note(t, e);
      return;
    }
    predicate_take(t, e->arg[0], not);
    predicate_take(t, e->arg[1], not);
  } else if (op_info[e->op].rule == RULE_COMPARE) {
    comparison_take(t, not ? op_contrary((Op)e->op) : (Op)e->op, e->arg[0], e->arg[1]);
  }
}

/* ---- data on both sides ------------------------------------------------------------------------------------------ */

/* A sum, and a number, which wraps around as those of programs do: where only one end does, there is no point. */
typedef struct Atoms { uint32_t n; const Expr *at[ATOMS]; int64_t c[ATOMS]; uint64_t k; } Atoms;

static bool atoms_add(Atoms *s, const Expr *e, int64_t by) {
  if (e->kind == EX_INT) return s->k += (uint64_t)by * (uint64_t)e->i, true;
  bool sum = e->kind == EX_OP && (e->op == OP_ADD || e->op == OP_SUB);
  if (sum) return atoms_add(s, e->arg[0], by) && atoms_add(s, e->arg[1], e->op == OP_ADD ? by : -by);
  for (uint32_t i = 0; i < s->n; i++)
    if (s->at[i] == e) return add_ok(s->c[i], by, &s->c[i]);
  if (s->n == ATOMS) return false;
  s->at[s->n] = e, s->c[s->n++] = by;
  return true;
}

static bool is_choice(const Expr *e) { return e->kind == EX_OP && e->op == OP_SELECT; }

/* The most that `high` is above `low`; false: unknown. */
static bool span_of(const Expr *low, const Expr *high, int64_t *most, int depth) {
  int64_t other;
  if (is_choice(low) && is_choice(high) && low->arg[0] == high->arg[0] && depth < 8) {
    if (!span_of(low->arg[1], high->arg[1], most, depth + 1) || !span_of(low->arg[2], high->arg[2], &other, depth + 1))
      return false;
    if (other > *most) *most = other;
    return true;
  }
  Atoms s = {0};
  if (!atoms_add(&s, high, 1) || !atoms_add(&s, low, -1)) return false;
  for (uint32_t i = 0; i < s.n; i++)
    if (s.c[i]) return false;
  return *most = (int64_t)s.k, true;
}

static void ends_take(Taking *t) {
  for (uint32_t i = 0; i < t->n_from; i++)
    for (uint32_t k = 0; k < t->n_to; k++) {
      const End *from = &t->from[i], *to = &t->to[k];
      int64_t n;
      if (from->label != to->label || !span_of(from->at, to->at, &n, 0)) continue;
      if (n > INT32_MAX || n < -INT32_MAX) continue;
      n += to->more - from->more + 1;
      tie_add(t, (Tie){(uint32_t)from->label->i, n < 0 ? 0 : (double)n, from->at->labels | to->at->labels});
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

/* 0 <= l < extent */
static void extents_take(Taking *t) {
  for (uint32_t l = 0; l < t->n_label && l < TIE_LABELS && t->n + 2 <= ROWS; l++) {
    t->row[t->n] = t->row[t->n + 1] = (Row){0};
    t->row[t->n].c[l] = 1, t->row[t->n + 1].c[l] = -1;
    t->row[t->n + 1].k = t->extent[l] < INT64_MAX / 4 ? t->extent[l] - 1 : INT64_MAX / 4;
    t->n += 2;
  }
}

typedef struct Asked {
  uint32_t n_label, n, n_known;
  const int64_t *extent;
  const uint32_t *list;
  const Expr *predicate[EITHERS + 4];
  bool not[EITHERS + 4];     /* it does not hold */
  const Expr *known[EITHERS];
} Asked;

static Ties ties_of(const Asked *q);

/* Where one or the other holds, a label has the values that it has under each. */
static void either_take(Taking *t, const Asked *q, const Expr *e) {
  Asked one = *q;
  Ties of[2];
  if (q->n_known == EITHERS) return;
  one.known[one.n_known++] = e;
  for (uint32_t side = 0; side < 2; side++) {
    one.predicate[q->n] = e->arg[side], one.not[q->n] = e->op == OP_AND;
    one.n = q->n + 1;
    of[side] = ties_of(&one);
  }
  for (uint32_t i = 0; i < of[0].n; i++)
    for (uint32_t k = 0; k < of[1].n; k++) {
      Tie a = of[0].at[i], b = of[1].at[k];
      double values = a.values + b.values;
      if (a.label == b.label && values < (double)t->extent[a.label])
        tie_add(t, (Tie){a.label, values, a.given | b.given});
    }
}

static Ties ties_of(const Asked *q) {
  Ties ties = {0};
  Taking t = {.n_label = q->n_label, .list = q->list, .extent = q->extent, .ties = &ties, .known = q->known,
              .n_known = q->n_known};
  for (uint32_t i = 0; i < q->n; i++) predicate_take(&t, q->predicate[i], q->not[i]);
  for (uint32_t i = 0; i < t.n_low; i++)
    for (uint32_t k = 0; k < t.n_high; k++) range_ties(&t, &t.low[i], &t.high[k]);
  ends_take(&t);
  uint32_t said = t.n;
  extents_take(&t);
  for (uint32_t i = 0; i < said; i++)
    for (uint32_t k = i + 1; k < t.n; k++)
      if (faces(&t, &t.row[i], &t.row[k])) between(&t, &t.row[i], &t.row[k]);
  combs_take(&t);
  for (uint32_t i = 0; i < t.n_either; i++) either_take(&t, q, t.either[i]);
  return ties;
}

Ties ties_find(
    uint32_t n_label, const int64_t *extent, const uint32_t *list, uint32_t n, const Expr *const *predicate) {
  Asked q = {.n_label = n_label, .extent = extent, .list = list};
  for (uint32_t i = 0; i < n && q.n < 4; i++)
    if (predicate[i]) q.predicate[q.n++] = predicate[i];
  return q.n ? ties_of(&q) : (Ties){0};
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
