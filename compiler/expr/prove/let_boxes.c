/* expr/prove/let_boxes.c - counts the points of a box where predicates hold. A part of the box in which their truth is
 * the same everywhere counts at once; others are cut in half, the largest first, until they are points or too many are
 * left. Those, and points where data decide, count as if they were kept.
 *
 * Where a conjunct says that a remainder of a label is known, `(t - s) % 7 == 3`, the box has a side for the label's
 * quotient instead: only every 7th point is looked at. */
#include "boxes.h"

enum { SIDES = 6, SIZE = 400 }; /* most labels of the predicates, and nodes in them */

typedef enum { NEVER, ALWAYS, DATA, OPEN } Truth; /* OPEN: it is not the same everywhere, or not known to be */

typedef struct Reach { int64_t low, high; bool open, data; } Reach; /* of an integer; data: any number */

typedef struct Part { int64_t low[SIDES], high[SIDES]; } Part; /* with both ends */

typedef struct Comb {        /* (sign * label + rest) % by == to; of == the remainder's argument */
  const Expr *conjunct, *of, *to;
  int64_t by, sign;
  uint32_t label;
} Comb;

typedef struct Counting {
  uint32_t n, n_predicate;
  Comb comb;                 /* conjunct NULL: none */
  int64_t low, high;         /* its label's ends, with both */
  bool at_zero;              /* its label is 0, for what is beside it */
  int side[TIE_LABELS];      /* by label; -1: the predicates do not have it */
  const Expr *const *predicate;
  const Part *at;
} Counting;

static const Reach unknown = {0, 0, true, false}, of_data = {0, 0, false, true};

static Truth truth_of(const Counting *c, const Expr *e);
static Reach reach_of(const Counting *c, const Expr *e);

/* ---- integers ---------------------------------------------------------------------------------------------- */

static int64_t floored(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static Reach product(Reach a, Reach b) {
  int64_t x[4];
  if (!mul_ok(a.low, b.low, &x[0]) || !mul_ok(a.low, b.high, &x[1]) || !mul_ok(a.high, b.low, &x[2]) ||
      !mul_ok(a.high, b.high, &x[3]))
    return unknown;
  int64_t low = smaller(smaller(x[0], x[1]), smaller(x[2], x[3]));
  int64_t high = larger(larger(x[0], x[1]), larger(x[2], x[3]));
  return (Reach){low, high, false, false};
}

static Reach absolute(Reach a) {
  if (a.low == INT64_MIN) return unknown;
  if (a.low >= 0) return a;
  return (Reach){a.high <= 0 ? -a.high : 0, larger(-a.low, a.high), false, false};
}

static Reach squared(Reach a) {
  a = absolute(a);
  return a.open ? a : product(a, a);
}

static Reach quotient(Reach a, Reach b) {
  if (b.low < 1) return b.low || b.high ? unknown : (Reach){0};
  int64_t low = a.low < 0 ? floored(a.low, b.low) : a.low / b.high;
  return (Reach){low, a.high < 0 ? floored(a.high, b.high) : a.high / b.low, false, false};
}

static Reach remainder_of(Reach a, Reach b) {
  if (!b.low && !b.high) return (Reach){0};
  if (b.low < 1) return unknown;
  int64_t turn = floored(a.low, b.low);
  if (b.low == b.high && turn == floored(a.high, b.low))
    return (Reach){a.low - turn * b.low, a.high - turn * b.low, false, false};
  return (Reach){0, b.high - 1, false, false};
}

static Reach binary(Op op, Reach a, Reach b) {
  Reach x = {0};
  switch (op) {
  case OP_ADD: return add_ok(a.low, b.low, &x.low) && add_ok(a.high, b.high, &x.high) ? x : unknown;
  case OP_SUB: return sub_ok(a.low, b.high, &x.low) && sub_ok(a.high, b.low, &x.high) ? x : unknown;
  case OP_MUL: return product(a, b);
  case OP_MIN: return (Reach){smaller(a.low, b.low), smaller(a.high, b.high), false, false};
  case OP_MAX: return (Reach){larger(a.low, b.low), larger(a.high, b.high), false, false};
  case OP_IDIV: return quotient(a, b);
  case OP_MOD: return remainder_of(a, b);
  case OP_POW: return b.low == 2 && b.high == 2 ? squared(a) : unknown;
  default: return unknown;
  }
}

static Reach chosen(const Counting *c, const Expr *e) {
  Truth t = truth_of(c, e->arg[0]);
  if (t == ALWAYS || t == NEVER) return reach_of(c, e->arg[t == ALWAYS ? 1 : 2]);
  Reach a = reach_of(c, e->arg[1]), b = reach_of(c, e->arg[2]);
  if (t == DATA || a.data || b.data) return of_data;
  if (a.open || b.open) return unknown;
  return (Reach){smaller(a.low, b.low), larger(a.high, b.high), false, false};
}

/* The label that has a quotient as a side. */
static Reach comb_label(const Counting *c) {
  Counting zero = *c;
  if (c->at_zero) return (Reach){0};
  zero.at_zero = true;
  Reach rest = reach_of(&zero, c->comb.of), to = reach_of(&zero, c->comb.to);
  Reach by = {c->comb.by, c->comb.by, false, false};
  if (rest.open || rest.data || to.open || to.data) return unknown;
  Reach left = c->comb.sign > 0 ? binary(OP_SUB, to, rest) : binary(OP_SUB, rest, to);
  int side = c->side[c->comb.label];
  Reach turn = product((Reach){c->at->low[side], c->at->high[side], false, false}, by);
  if (left.open || turn.open) return unknown;
  return binary(OP_ADD, turn, remainder_of(left, by));
}

static Reach reach_of(const Counting *c, const Expr *e) {
  if (e->kind == EX_LABEL && c->comb.conjunct && e->i == c->comb.label) return comb_label(c);
  if (e->kind == EX_INT) return (Reach){e->i, e->i, false, false};
  if (e->kind == EX_READ) return of_data;
  if (e->kind == EX_LABEL && e->dtype == DT_I64 && e->i < TIE_LABELS && c->side[e->i] >= 0)
    return (Reach){c->at->low[c->side[e->i]], c->at->high[c->side[e->i]], false, false};
  if (e->kind != EX_OP || e->dtype != DT_I64) return e->has & HAS_READ ? of_data : unknown;
  if (e->op == OP_SELECT) return chosen(c, e);
  Reach a = reach_of(c, e->arg[0]), b = e->n == 2 ? reach_of(c, e->arg[1]) : (Reach){0};
  if (a.data || b.data) return of_data;
  if (a.open || b.open || e->n > 2) return unknown;
  if (e->n == 2) return e->op == OP_MUL && e->arg[0] == e->arg[1] ? squared(a) : binary((Op)e->op, a, b);
  if (e->op == OP_ABS) return absolute(a);
  return e->op == OP_NEG ? binary(OP_SUB, (Reach){0}, a) : unknown;
}

/* ---- conditions -------------------------------------------------------------------------------------------- */

static Truth opposite(Truth t) { return t == NEVER ? ALWAYS : t == ALWAYS ? NEVER : t; }

static Truth if_less(int64_t a_high, int64_t b_low, int64_t a_low, int64_t b_high) { /* a < b */
  return a_high < b_low ? ALWAYS : a_low >= b_high ? NEVER : OPEN;
}

static Truth comparison(const Counting *c, const Expr *e) {
  Reach a = reach_of(c, e->arg[0]), b = reach_of(c, e->arg[1]);
  if (a.data || b.data) return DATA;
  if (a.open || b.open) return OPEN;
  bool same = a.low == a.high && b.low == b.high && a.low == b.low, apart = a.high < b.low || b.high < a.low;
  switch ((Op)e->op) {
  case OP_EQ: return same ? ALWAYS : apart ? NEVER : OPEN;
  case OP_NE: return same ? NEVER : apart ? ALWAYS : OPEN;
  case OP_LT: return if_less(a.high, b.low, a.low, b.high);
  case OP_GE: return opposite(if_less(a.high, b.low, a.low, b.high));
  case OP_GT: return if_less(b.high, a.low, b.low, a.high);
  case OP_LE: return opposite(if_less(b.high, a.low, b.low, a.high));
  default: return OPEN;
  }
}

/* What decides an `and` is a side that never holds. */
static Truth both(Truth a, Truth b) {
  if (a == NEVER || b == NEVER) return NEVER;
  return a == OPEN || b == OPEN ? OPEN : a == DATA || b == DATA ? DATA : ALWAYS;
}

static Truth is_between(Reach x, int64_t low, int64_t high) { /* with both */
  if (x.data) return DATA;
  if (x.open) return OPEN;
  return x.low >= low && x.high <= high ? ALWAYS : x.high < low || x.low > high ? NEVER : OPEN;
}

static Truth truth_of(const Counting *c, const Expr *e) {
  if (e == c->comb.conjunct) return is_between(reach_of(c, c->comb.to), 0, c->comb.by - 1);
  if (e->kind == EX_INT) return e->i ? ALWAYS : NEVER;
  if (e->kind != EX_OP) return e->has & HAS_READ ? DATA : OPEN;
  if (e->op == OP_NOT) return opposite(truth_of(c, e->arg[0]));
  if (e->op == OP_AND) return both(truth_of(c, e->arg[0]), truth_of(c, e->arg[1]));
  if (e->op == OP_OR) return opposite(both(opposite(truth_of(c, e->arg[0])), opposite(truth_of(c, e->arg[1]))));
  if (e->op == OP_SELECT) {
    Truth t = truth_of(c, e->arg[0]);
    if (t == ALWAYS || t == NEVER) return truth_of(c, e->arg[t == ALWAYS ? 1 : 2]);
    Truth a = truth_of(c, e->arg[1]), b = truth_of(c, e->arg[2]);
    return a == b ? a : t == DATA && a != OPEN && b != OPEN ? DATA : OPEN;
  }
  if (op_info[e->op].rule == RULE_COMPARE && e->arg[0]->dtype == DT_I64) return comparison(c, e);
  return e->has & HAS_READ ? DATA : OPEN;
}

static Truth all_of(const Counting *c) {
  Truth t = c->comb.conjunct ? is_between(comb_label(c), c->low, c->high) : ALWAYS;
  for (uint32_t i = 0; i < c->n_predicate; i++)
    if (c->predicate[i]) t = both(t, truth_of(c, c->predicate[i]));
  return t;
}

/* ---- parts -------------------------------------------------------------------------------------------------- */

static double part_points(const Part *p, uint32_t n) {
  double all = 1;
  for (uint32_t k = 0; k < n; k++) all *= (double)(p->high[k] - p->low[k] + 1);
  return all;
}

/* At a single point the language's evaluator decides what intervals leave open. */
static Truth point_truth(const Counting *c, const Part *p) {
  int64_t at[TIE_LABELS] = {0};
  ExprEnv env = {.label = at, .n_label = TIE_LABELS};
  Value v;
  for (uint32_t l = 0; l < TIE_LABELS; l++) at[l] = c->side[l] < 0 ? 0 : p->low[c->side[l]];
  if (c->comb.conjunct) {
    Value rest, to;
    at[c->comb.label] = 0;
    if (!expr_value(c->comb.of, &env, &rest) || !expr_value(c->comb.to, &env, &to)) return ALWAYS;
    uint64_t left = c->comb.sign > 0 ? (uint64_t)to.i - (uint64_t)rest.i : (uint64_t)rest.i - (uint64_t)to.i;
    int64_t by = c->comb.by, turn = p->low[c->side[c->comb.label]] * by;
    at[c->comb.label] = turn + (int64_t)left - floored((int64_t)left, by) * by;
    if (at[c->comb.label] < c->low || at[c->comb.label] > c->high) return NEVER;
  }
  for (uint32_t i = 0; i < c->n_predicate; i++)
    if (c->predicate[i] && expr_value(c->predicate[i], &env, &v) && !v.i) return NEVER;
  return ALWAYS;
}

static void cut(const Part *p, uint32_t n, Part *a, Part *b) {
  uint32_t k = 0;
  for (uint32_t i = 1; i < n; i++)
    if (p->high[i] - p->low[i] > p->high[k] - p->low[k]) k = i;
  *a = *b = *p;
  a->high[k] = p->low[k] + (p->high[k] - p->low[k]) / 2;
  b->low[k] = a->high[k] + 1;
}

/* Halves the open parts again and again. Returns the points that are kept, and those of parts that stay open. */
static double parts_count(Counting *c, const Part *whole, uint32_t *budget) {
  Arena *a = arena_new();
  VEC(Part) now = {0}, next = {0};
  double kept = 0;
  vec_push(a, now, *whole);
  for (bool more = true; more && now.len; ) {
    next.len = 0;
    more = now.len <= *budget;
    *budget -= more ? now.len : *budget;
    for (uint32_t i = 0; i < now.len; i++) {
      const Part *p = c->at = &now.at[i];
      Part x, y;
      double points = part_points(p, c->n);
      Truth t = more ? all_of(c) : DATA;
      if (t == OPEN && points == 1) t = point_truth(c, p);
      if (t == ALWAYS || t == DATA) kept += points;
      if (t != OPEN) continue;
      cut(p, c->n, &x, &y);
      vec_push(a, next, x);
      vec_push(a, next, y);
    }
    now.len = 0;
    for (uint32_t i = 0; i < next.len; i++) vec_push(a, now, next.at[i]);
  }
  arena_free(a);
  return kept;
}

/* ---- remainders ---------------------------------------------------------------------------------------------- */

/* Whether the conjunct says of a label what its remainder is, by labels and numbers. */
static bool comb_take(const Expr *e, Comb *to) {
  for (uint32_t k = 0; k < 2; k++) {
    const Expr *q = e->arg[k];
    if (q->kind != EX_OP || q->op != OP_MOD || q->dtype != DT_I64 || q->arg[1]->kind != EX_INT) continue;
    if (q->arg[1]->i <= to->by || q->arg[1]->i > INT32_MAX || (q->has | e->arg[1 - k]->has) & HAS_READ) continue;
    for (uint32_t l = 0; l < TIE_LABELS; l++) {
      bool only = (q->arg[0]->labels >> l & 1) && !(e->arg[1 - k]->labels >> l & 1);
      int64_t slope;
      if (!only || !expr_slope(q->arg[0], l, &slope) || (slope != 1 && slope != -1)) continue;
      *to = (Comb){e, q->arg[0], e->arg[1 - k], q->arg[1]->i, slope, l};
      return true;
    }
  }
  return false;
}

/* The one with the largest divisor. */
static void comb_find(const Expr *e, Comb *to) {
  if (!e || e->kind != EX_OP) return;
  if (e->op == OP_AND) {
    comb_find(e->arg[0], to);
    comb_find(e->arg[1], to);
  } else if (e->op == OP_EQ) {
    comb_take(e, to);
  }
}

/* The label's side gets its quotients. */
static void comb_use(Counting *c, Part *whole) {
  int side = c->comb.conjunct ? c->side[c->comb.label] : -1;
  if (side < 0) {
    c->comb.conjunct = NULL;
    return;
  }
  c->low = whole->low[side], c->high = whole->high[side];
  whole->low[side] = floored(c->low, c->comb.by), whole->high[side] = floored(c->high, c->comb.by);
}

double boxes_points(uint32_t n_label, const int64_t *low, const int64_t *high, uint32_t n,
    const Expr *const *predicate, uint32_t *budget) {
  Counting c = {.predicate = predicate, .n_predicate = n};
  Part whole = {{0}, {0}};
  double beside = 1, all = 1;
  int32_t size = SIZE;
  uint64_t labels = 0;
  bool any = false, fits = true;
  for (uint32_t i = 0; i < n; i++)
    if (predicate[i]) any = true, labels |= predicate[i]->labels, fits &= expr_is_short(predicate[i], &size);
  for (uint32_t l = 0; l < TIE_LABELS; l++) c.side[l] = -1;
  for (uint32_t l = 0; l < n_label; l++) {
    double points = high[l] > low[l] ? (double)high[l] - (double)low[l] : 0;
    bool used = l < TIE_LABELS && labels >> l & 1;
    all *= points;
    if (!used) beside *= points;
    if (!used || !(fits &= c.n < SIDES && points < 9e15)) continue;
    whole.low[c.n] = low[l], whole.high[c.n] = high[l] - 1, c.side[l] = (int)c.n++;
  }
  if (!any || !fits || all == 0 || labels >> TIE_LABELS) return all;
  for (uint32_t i = 0; i < n; i++) comb_find(predicate[i], &c.comb);
  comb_use(&c, &whole);
  return beside * parts_count(&c, &whole, budget);
}

/* ---- many boxes --------------------------------------------------------------------------------------------- */

Boxes boxes_new(Arena *a, uint32_t n_label, uint32_t n, const Expr *const *predicate, uint32_t budget) {
  return (Boxes){a, n_label, n, budget, predicate, memo_new(a)};
}

/* Of labels that the predicates do not have, the box that is counted has one value. */
double boxes_next(Boxes *x, const int64_t *low, const int64_t *high) {
  Arena *work = arena_new();
  int64_t *from = NEW_ARRAY(work, int64_t, 2 * x->n_label + 1), *to = from + x->n_label;
  uint64_t labels = 0;
  double beside = 1;
  for (uint32_t i = 0; i < x->n; i++)
    if (x->predicate[i]) labels |= x->predicate[i]->labels;
  for (uint32_t l = 0; l < x->n_label; l++) {
    bool used = l >= TIE_LABELS || labels >> l & 1;
    from[l] = used ? low[l] : 0, to[l] = used ? high[l] : 1;
    if (!used) beside *= high[l] > low[l] ? (double)(high[l] - low[l]) : 0;
  }
  MemoEntry *e = memo_get(&x->seen, from, 2 * x->n_label * sizeof *from);
  if (!e->value) {
    double *points = NEW(x->arena, double);
    *points = boxes_points(x->n_label, from, to, x->n, x->predicate, &x->budget);
    e->value = points;
  }
  double points = *(const double *)e->value * beside;
  arena_free(work);
  return points;
}
