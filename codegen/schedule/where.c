/* codegen/schedule/where.c - turns predicates into bounds of loops. A conjunct that compares a label with what is
 * known outside of its loop (t <= s) needs no test at each point: the loop begins or ends there. */
#include "schedule.h"

#include "expr/prove/prove.h"

/* The least and the most that e changes from one point of the label to the next; false: unknown. */
typedef struct Lean { int64_t least, most; } Lean;

static bool lean(const Expr *e, int64_t label, Lean *of) {
  Lean a, b;
  *of = (Lean){0, 0};
  if (!ex_has_label(e, label)) return true;
  if (e->kind == EX_LABEL) return *of = (Lean){1, 1}, true;
  if (e->kind != EX_OP || e->dtype != DT_I64 || e->n > 2) return false;
  if (!lean(e->arg[0], label, &a) || (e->n > 1 && !lean(e->arg[1], label, &b))) return false;
  switch ((Op)e->op) {
  case OP_NEG: return sub_ok(0, a.most, &of->least) && sub_ok(0, a.least, &of->most);
  case OP_ADD: return add_ok(a.least, b.least, &of->least) && add_ok(a.most, b.most, &of->most);
  case OP_SUB: return sub_ok(a.least, b.most, &of->least) && sub_ok(a.most, b.least, &of->most);
  case OP_MIN: case OP_MAX:
    return *of = (Lean){a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most}, true;
  case OP_MUL: {
    const Expr *by = e->arg[1]->kind == EX_INT ? e->arg[1] : e->arg[0];
    if (by->kind != EX_INT) return false;
    if (by == e->arg[0]) a = b;
    return mul_ok(by->i < 0 ? a.most : a.least, by->i, &of->least) &&
        mul_ok(by->i < 0 ? a.least : a.most, by->i, &of->most);
  }
  case OP_IDIV:
    if (e->arg[1]->kind != EX_INT || e->arg[1]->i < 1) return false;
    return *of = (Lean){a.least < 0 ? a.least : 0, a.most > 0 ? a.most : 0}, true;
  default: return false;
  }
}

/* The same for a - b; false: unknown. */
static bool lean_between(const Expr *a, const Expr *b, int64_t label, Lean *of) {
  Lean x, y;
  return lean(a, label, &x) && lean(b, label, &y) && sub_ok(x.least, y.most, &of->least) &&
      sub_ok(x.most, y.least, &of->most);
}

/* Whether a - b only rises, or only falls, with each label, by bounded constant steps, and reads nothing: no value of
 * it overflows 64 bits for labels that are indices. */
static bool is_monotone(const Expr *a, const Expr *b, uint32_t n_label) {
  Lean x;
  if (a->dtype != DT_I64 || (a->has | b->has) & HAS_READ) return false;
  for (uint32_t l = 0; l < n_label; l++)
    if (!lean_between(a, b, l, &x) || x.most > INT32_MAX || x.least < INT32_MIN || (x.least < 0 && x.most > 0))
      return false;
  return true;
}

typedef struct Narrow {
  Env *e;
  uint32_t label, n_label;
  const bool *bound;         /* labels that already have a value */
  const Expr *lo, *hi;
  bool data;                 /* comparisons with data; else with labels */
} Narrow;

/* Takes a < b, or a <= b, into the bounds; false: it is no bound. */
static bool less(Narrow *n, const Expr *a, const Expr *b, bool strict) {
  Sched *s = n->e->s;
  int64_t x, y;
  if (!is_monotone(a, b, n->n_label)) return false;
  for (uint32_t l = 0; l < n->n_label; l++)
    if (l != n->label && !n->bound[l] && (ex_has_label(a, l) || ex_has_label(b, l))) return false;
  if (!ex_slope(a, n->label, &x) || !ex_slope(b, n->label, &y) || (x - y != 1 && x - y != -1)) return false;
  const Expr *was = n->e->label[n->label];
  n->e->label[n->label] = ex_int(s, 0);
  const Expr *left = ex_of(n->e, a), *right = ex_of(n->e, b);
  n->e->label[n->label] = was;
  if (x - y == 1) { /* label < right - left */
    const Expr *end = ex_sub(s, right, left);
    n->hi = ex_min(s, n->hi, strict ? end : ex_add(s, end, ex_int(s, 1)));
  } else { /* label > left - right */
    const Expr *from = ex_sub(s, left, right);
    n->lo = ex_max(s, n->lo, strict ? ex_add(s, from, ex_int(s, 1)) : from);
  }
  return true;
}

static bool is_comparison(const Expr *c, uint32_t n_label) {
  if (c->kind != EX_OP || (c->op != OP_LT && c->op != OP_LE && c->op != OP_GT && c->op != OP_GE)) return false;
  return is_monotone(c->arg[0], c->arg[1], n_label);
}

bool where_bounds(const Expr *c, uint32_t n_label, uint32_t label) {
  int64_t x, y;
  if (c->kind == EX_OP && c->op == OP_AND)
    return where_bounds(c->arg[0], n_label, label) && where_bounds(c->arg[1], n_label, label);
  if (!is_comparison(c, n_label)) return false;
  return ex_slope(c->arg[0], label, &x) && ex_slope(c->arg[1], label, &y) && (x - y == 1 || x - y == -1);
}

/* ---- data as bounds ------------------------------------------------------------------------------- */

/* Whether e is known before the label's loop, and may be read there even if the loop has no points. */
static bool is_known_ahead(const Narrow *n, const Expr *e) {
  if (!ex_is_safe(n->e, e)) return false;
  for (uint32_t l = 0; l < n->n_label; l++)
    if (ex_has_label(e, l) && (l == n->label || !n->bound[l])) return false;
  return true;
}

bool where_is_ahead(Env *e, const Expr *x, uint32_t n_label, uint32_t label, const bool *bound) {
  return is_known_ahead(&(Narrow){.e = e, .label = label, .n_label = n_label, .bound = bound}, x);
}

static bool is_ahead(const Narrow *n, const Expr *e) {
  return e->dtype == DT_I64 && is_known_ahead(n, e);
}

static const Expr *bound_let(Narrow *n, const Expr *value) {
  uint32_t v = place_own(n->e->s, NULL, "bound", DT_I64, 0, NULL);
  let_add(n->e->s, v, value);
  return scalar_read(n->e->s, v);
}

/* Its value, minus `rest`, clamped to `by` times the label's extent: beyond that it makes no difference. */
static const Expr *clamped(Narrow *n, const Expr *e, int64_t by, const Expr *rest) {
  Sched *s = n->e->s;
  const Expr *value = ex_shared(s, ex_of(n->e, e)),
             *end = ex_add(s, rest, ex_mul(s, ex_int(s, by), n->e->stage->bound[n->label]));
  return bound_let(n, ex_sub(s, ex_min(s, ex_max(s, value, ex_sub(s, rest, ex_int(s, 1))), end), rest));
}

bool has_small_numbers(const Expr *e) {
  if (e->kind == EX_INT) return e->i >= -INT32_MAX && e->i <= INT32_MAX;
  for (uint32_t k = 0; k < e->n; k++)
    if (!has_small_numbers(e->arg[k])) return false;
  return true;
}

/* The factor of the label in e, if the rest of e is known before its loop; 0: it is not of this form. */
static int64_t goes_with_label(const Narrow *n, const Expr *e) {
  int64_t slope;
  if (e->dtype != DT_I64 || e->has & HAS_READ || !has_small_numbers(e) || !ex_slope(e, n->label, &slope)) return 0;
  if (slope < 1 || slope > INT32_MAX) return 0;
  for (uint32_t l = 0; l < n->n_label; l++)
    if (l != n->label && !n->bound[l] && ex_has_label(e, l)) return 0;
  return slope;
}

static const Expr *beside_label(Narrow *n, const Expr *e) {
  const Expr *was = n->e->label[n->label];
  n->e->label[n->label] = ex_int(n->e->s, 0);
  const Expr *rest = ex_of(n->e, e);
  n->e->label[n->label] = was;
  return rest;
}

/* The first index i for which `by` * i exceeds `end`. */
static const Expr *behind(Sched *s, const Expr *end, int64_t by) {
  if (by > 1) end = expr_op2(s->x, OP_IDIV, end, ex_int(s, by));
  return ex_add(s, end, ex_int(s, 1));
}

static bool less_data(Narrow *n, const Expr *a, const Expr *b, bool strict) {
  Sched *s = n->e->s;
  int64_t by = goes_with_label(n, a);
  if (by && is_ahead(n, b)) {
    const Expr *end = clamped(n, b, by, beside_label(n, a));
    n->hi = ex_min(s, n->hi, strict ? behind(s, ex_sub(s, end, ex_int(s, 1)), by) : behind(s, end, by));
    return true;
  }
  by = goes_with_label(n, b);
  if (!by || !is_ahead(n, a)) return false;
  const Expr *from = clamped(n, a, by, beside_label(n, b));
  n->lo = ex_max(s, n->lo, behind(s, strict ? from : ex_sub(s, from, ex_int(s, 1)), by));
  return true;
}

/* ---- bounds from differences to data ---------------------------------------------------------------- */

/* z - p[s] >= 0 differs from z >= p[s] if the difference wraps around. 64-bit integers form a circle, and the
 * difference is non-negative on one half of it, which intersects the label's indices in a range. */
typedef struct Apart {
  const Expr *label, *data;  /* the operands of a difference: one moves with the label, the other is data */
  bool falls;                /* data - label; else label - data */
  const Expr *number;        /* what the difference is compared with, */
  bool less;                 /*   whether it is less; else at least as much */
} Apart;

static bool apart_sides(const Narrow *n, const Expr *difference, const Expr *number, Apart *a) {
  if (difference->kind != EX_OP || difference->op != OP_SUB || number->kind != EX_INT || !has_small_numbers(number))
    return false;
  a->falls = goes_with_label(n, difference->arg[0]) != 1;
  a->label = difference->arg[a->falls], a->data = difference->arg[!a->falls], a->number = number;
  return goes_with_label(n, a->label) == 1 && is_ahead(n, a->data);
}

/* Finds a comparison of a difference with a number; false: it is none. */
static bool apart_find(const Narrow *n, const Expr *c, Apart *a) {
  if (c->kind != EX_OP || c->n != 2 || c->arg[0]->dtype != DT_I64) return false;
  bool first = apart_sides(n, c->arg[0], c->arg[1], a);
  if (!first && !apart_sides(n, c->arg[1], c->arg[0], a)) return false;
  bool strict = c->op == OP_LT || c->op == OP_GT;
  if (!strict && c->op != OP_LE && c->op != OP_GE) return false;
  a->less = (c->op == OP_LT || c->op == OP_LE) == first;
  if (a->less != strict) a->number = expr_int(n->e->s->x, DT_I64, a->number->i + 1); /* D <= 3: D < 4; D > 3: D >= 4 */
  return true;
}

/* Limits the label to the half circle that begins at `from`, without the last `less` points; or to all others. */
static void half_take(Narrow *n, const Expr *from, int64_t less, bool others) {
  Sched *s = n->e->s;
  const Expr *zero = ex_int(s, 0), *size = n->e->stage->bound[n->label];
  /* end: the last one, for `from` below 0. */
  const Expr *end = expr_op2(s->x, OP_ADD, from, expr_int(s->x, DT_I64, INT64_MAX - less));
  const Expr *early = expr_op2(s->x, OP_LT, from, zero);
  const Expr *begin = ex_min(s, ex_max(s, from, zero), size),
             *stop = ex_add(s, ex_min(s, ex_max(s, end, ex_int(s, -1)), ex_sub(s, size, ex_int(s, 1))), ex_int(s, 1));
  const Expr *lo = others ? expr_select(s->x, early, stop, zero) : begin;
  const Expr *hi = others ? expr_select(s->x, early, size, begin) : expr_select(s->x, early, stop, size);
  n->lo = ex_max(s, n->lo, bound_let(n, lo));
  n->hi = ex_min(s, n->hi, bound_let(n, hi));
}

static bool apart_take(Narrow *n, const Expr *c) {
  Sched *s = n->e->s;
  Exprs *x = s->x;
  Apart a;
  if (!n->data || !apart_find(n, c, &a)) return false;
  /* from `number` up to the maximum, or from the minimum up to it: the one that is at most half the circle */
  int64_t number = a.number->i;
  bool low = number <= 0 && (a.less || number < 0), others = low != a.less;
  const Expr *first = expr_int(x, DT_I64, low ? INT64_MIN : number),
             *last = expr_int(x, DT_I64, low ? number - 1 : INT64_MAX);
  const Expr *data = expr_op2(x, OP_SUB, ex_shared(s, ex_of(n->e, a.data)), beside_label(n, a.label));
  const Expr *from = a.falls ? expr_op2(x, OP_SUB, data, last) : expr_op2(x, OP_ADD, data, first);
  half_take(n, bound_let(n, from), low ? -number : number, others);
  return true;
}

/* Takes a condition that is the same for all points: the range is all of them, or none. Returns false if it is not
 * such a condition. */
static bool gate_take(Narrow *n, const Expr *c) {
  Sched *s = n->e->s;
  if (!n->data || !is_known_ahead(n, c)) return false;
  n->hi = ex_min(s, n->hi,
      bound_let(n, expr_select(s->x, ex_shared(s, ex_of(n->e, c)), n->e->stage->bound[n->label], ex_int(s, 0))));
  return true;
}

/* Takes a condition into the bounds; false: it is no bound. */
static bool take(Narrow *n, const Expr *c) {
  if (gate_take(n, c)) return true;
  if (c->kind != EX_OP) return false;
  if (apart_take(n, c)) return true;
  bool (*lower)(Narrow *, const Expr *, const Expr *, bool) = n->data ? less_data : less;
  switch ((Op)c->op) {
  case OP_LT: return lower(n, c->arg[0], c->arg[1], true);
  case OP_LE: return lower(n, c->arg[0], c->arg[1], false);
  case OP_GT: return lower(n, c->arg[1], c->arg[0], true);
  case OP_GE: return lower(n, c->arg[1], c->arg[0], false);
  case OP_EQ: return n->data && lower(n, c->arg[0], c->arg[1], false) && lower(n, c->arg[1], c->arg[0], false);
  default: return false;
  }
}

static const Expr *narrow(Narrow *n, const Expr *cond) {
  if (cond->kind == EX_OP && cond->op == OP_AND) {
    const Expr *a = narrow(n, cond->arg[0]), *b = narrow(n, cond->arg[1]);
    return a && b ? expr_and(n->e->s->x, a, b) : a ? a : b;
  }
  return take(n, cond) ? NULL : cond;
}

const Expr *where_without(Sched *s, const Expr *c, const Expr *part) {
  if (c == part) return NULL;
  if (c->kind != EX_OP || c->op != OP_AND) return c;
  return expr_and(s->x, where_without(s, c->arg[0], part), where_without(s, c->arg[1], part));
}

/* ---- wanted points -------------------------------------------------------------------------------- */

static bool looks(const TaskStage *st, const Expr *e) {
  if (e->kind == EX_READ) return st->slot[e->i].kept;
  for (uint32_t k = 0; k < e->n && e->has & HAS_READ; k++)
    if (looks(st, e->arg[k])) return true;
  return false;
}

static const Expr *peel_casts(const Expr *e) {
  while (e->kind == EX_OP && e->op == OP_CAST) e = e->arg[0];
  return e;
}

/* If stages continue from a reduction: the condition under which they read its value; NULL: they always do. */
static const Expr *wanted(const Sched *s) {
  if (!s->follow.goes_on || s->task->stages.len != s->follow.then + 1) return NULL;
  if (s->task->stages.at[s->follow.from].buffer >= 0) return NULL;
  const TaskStage *next = &s->task->stages.at[s->follow.then];
  const Expr *e = peel_casts(next->sum->body);
  if (e->kind != EX_OP || e->op != OP_SELECT || e->arg[0]->has & HAS_READ || looks(next, e->arg[2])) return NULL;
  return e->arg[0];
}

/* ---- boxes ---------------------------------------------------------------------------------------- */

typedef struct Box { Env *e; uint32_t n_label, n; const Reach *reach; bool all; } Box;

/* Sets the labels to the corner where a < b holds first or, for `all`, last; saves their values in `was`. */
static void corner_take(Box *x, const Expr *a, const Expr *b, const Expr **was) {
  for (uint32_t k = 0; k < x->n; k++) {
    Lean of;
    lean_between(a, b, x->reach[k].label, &of);
    was[k] = x->e->label[x->reach[k].label];
    x->e->label[x->reach[k].label] = (of.most > 0) == x->all ? x->reach[k].last : x->reach[k].first;
  }
}

static void corner_leave(Box *x, const Expr *const *was) {
  for (uint32_t k = 0; k < x->n; k++) x->e->label[x->reach[k].label] = was[k];
}

/* a < b (or a <= b) at the corner where it holds first or, for `all`, last; NULL: unknown. */
static const Expr *corner(Box *x, const Expr *a, const Expr *b, Op op) {
  const Expr *was[REACHES_MOST];
  if (!is_monotone(a, b, x->n_label)) return NULL;
  corner_take(x, a, b, was);
  const Expr *made = expr_op2(x->e->s->x, op, ex_of(x->e, a), ex_of(x->e, b));
  corner_leave(x, was);
  return made;
}

static const Expr *box(Box *x, const Expr *cond) {
  Exprs *p = x->e->s->x;
  const Expr *made = NULL;
  if (cond->kind == EX_OP && cond->op == OP_AND) return expr_and(p, box(x, cond->arg[0]), box(x, cond->arg[1]));
  if (cond->kind == EX_OP && (cond->op == OP_LT || cond->op == OP_LE))
    made = corner(x, cond->arg[0], cond->arg[1], (Op)cond->op);
  if (cond->kind == EX_OP && cond->op == OP_GT) made = corner(x, cond->arg[1], cond->arg[0], OP_LT);
  if (cond->kind == EX_OP && cond->op == OP_GE) made = corner(x, cond->arg[1], cond->arg[0], OP_LE);
  return made ? made : x->all ? expr_bool(p, false) : NULL;
}

static void range(Box *x, const Expr *cond, Narrow *n) {
  Sched *s = n->e->s;
  if (cond->op == OP_AND) {
    range(x, cond->arg[0], n);
    range(x, cond->arg[1], n);
    return;
  }
  if (!ex_has_label(cond, n->label)) { /* all of the range, or none */
    n->hi = ex_min(s, n->hi, expr_select(s->x, box(x, cond), n->e->stage->bound[n->label], ex_int(s, 0)));
    return;
  }
  bool less_than = cond->op == OP_LT || cond->op == OP_LE;
  const Expr *was[REACHES_MOST];
  corner_take(x, cond->arg[less_than ? 0 : 1], cond->arg[less_than ? 1 : 0], was);
  take(n, cond);
  corner_leave(x, was);
}

void where_range(Env *e, const Expr *cond, uint32_t n_label, uint32_t label, uint32_t n, const Reach *reach, bool all,
                 const Expr **lo, const Expr **hi) {
  bool *bound = NEW_ARRAY(e->s->arena, bool, n_label + 1);
  for (uint32_t l = 0; l < n_label; l++) bound[l] = l != label;
  Narrow to = {e, label, n_label, bound, *lo, *hi, false};
  range(&(Box){e, n_label, n, reach, all}, cond, &to);
  *lo = to.lo;
  *hi = to.hi;
}

const Expr *where_some(Env *e, const Expr *cond, uint32_t n_label, uint32_t n, const Reach *reach) {
  return box(&(Box){e, n_label, n, reach, false}, cond);
}

const Expr *where_all(Env *e, const Expr *cond, uint32_t n_label, uint32_t n, const Reach *reach) {
  return box(&(Box){e, n_label, n, reach, true}, cond);
}

void wanted_open(Env *e, uint32_t n_label, uint32_t n, const Reach *reach) {
  const Expr *cond = wanted(e->s), *some = cond ? where_some(e, cond, n_label, n, reach) : NULL;
  if (some) into(e->s, &if_add(e->s, some)->body);
}

bool where_is_affine(const StagePlan *p, const Expr *c) {
  if (c->kind == EX_OP && c->op == OP_AND) return where_is_affine(p, c->arg[0]) && where_is_affine(p, c->arg[1]);
  return is_comparison(c, p->n_label);
}

/* Whether the comparison bounds the label, by labels or by data. */
static bool is_bound(Narrow *n, const StagePlan *p, const Expr *c) {
  if (where_bounds(c, p->n_label, n->label)) return true;
  if (c->op != OP_LT && c->op != OP_LE && c->op != OP_GT && c->op != OP_GE) return false;
  Apart apart;
  if (apart_find(n, c, &apart)) return true;
  return (goes_with_label(n, c->arg[0]) && is_ahead(n, c->arg[1])) ||
      (goes_with_label(n, c->arg[1]) && is_ahead(n, c->arg[0]));
}

/* Whether each conjunct bounds the label, or is the same for all its points. */
static bool is_walk(Narrow *n, const StagePlan *p, const Expr *c) {
  if (c->kind != EX_OP) return false;
  if (c->op == OP_AND) return is_walk(n, p, c->arg[0]) && is_walk(n, p, c->arg[1]);
  return is_known_ahead(n, c) || is_bound(n, p, c);
}

/* Whether some conjunct bounds the label and depends on no other. */
static bool is_piece(Narrow *n, const StagePlan *p, const Expr *c) {
  if (c->kind != EX_OP) return false;
  if (c->op == OP_AND) return is_piece(n, p, c->arg[0]) || is_piece(n, p, c->arg[1]);
  for (uint32_t l = 0; l < p->n_label; l++)
    if (ex_has_label(c, l) != (l == n->label)) return false;
  return is_bound(n, p, c);
}

bool where_is_piece(Sched *s, const StagePlan *p, const Expr *cond, uint32_t label) {
  Env own = {.s = s, .stage = p->stage};
  Narrow n = {&own, label, p->n_label, NEW_ARRAY(s->arena, bool, p->n_label + 1), NULL, NULL, true};
  return is_piece(&n, p, cond);
}

bool where_is_walk(Sched *s, const StagePlan *p, uint32_t label) {
  Env own = {.s = s, .stage = p->stage};
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  for (uint32_t l = 0; l < p->n_label; l++) bound[l] = l != label;
  Narrow n = {&own, label, p->n_label, bound, NULL, NULL, true};
  return is_walk(&n, p, p->stage->sum->where);
}

static bool is_the_label(const Narrow *n, const Expr *e) { return e->kind == EX_LABEL && e->i == n->label; }

/* Whether the condition admits a single point of the label. */
static bool is_point(const Narrow *n, const Expr *c) {
  if (c->kind != EX_OP) return false;
  if (c->op == OP_AND) return is_point(n, c->arg[0]) || is_point(n, c->arg[1]);
  return c->op == OP_EQ && (is_the_label(n, c->arg[0]) || is_the_label(n, c->arg[1]));
}

bool where_is_mask(Sched *s, const StagePlan *p, uint32_t label) {
  Env own = {.s = s, .stage = p->stage};
  Narrow n = {&own, label, p->n_label, NULL, NULL, NULL, true};
  return p->n_red == 1 && !is_point(&n, p->stage->sum->where) && !where_is_walk(s, p, label) && ex_safe(&own);
}

bool where_is_range(const StagePlan *p, uint32_t label) {
  return where_bounds(p->stage->sum->where, p->n_label, label);
}

static bool bounds_or_gates(const Expr *c, uint32_t n_label, uint32_t label) {
  if (c->kind == EX_OP && c->op == OP_AND)
    return bounds_or_gates(c->arg[0], n_label, label) && bounds_or_gates(c->arg[1], n_label, label);
  return ex_has_label(c, label) ? where_bounds(c, n_label, label) : is_comparison(c, n_label);
}

bool where_is_gated(const StagePlan *p, uint32_t label) {
  return bounds_or_gates(p->stage->sum->where, p->n_label, label);
}

static const Expr *narrow_by(Narrow n, const Expr *cond, const Expr **lo, const Expr **hi) {
  if (!cond) return NULL;
  const Expr *rest = narrow(&n, cond);
  *lo = n.lo;
  *hi = n.hi;
  return rest;
}

const Expr *where_narrow(Env *e, const Expr *cond, uint32_t n_label, uint32_t label, const bool *bound, const Expr **lo,
                         const Expr **hi) {
  return narrow_by((Narrow){e, label, n_label, bound, *lo, *hi, false}, cond, lo, hi);
}

const Expr *where_narrow_data(
    Env *e, const Expr *cond, uint32_t n_label, uint32_t label, const bool *bound, const Expr **lo, const Expr **hi) {
  return narrow_by((Narrow){e, label, n_label, bound, *lo, *hi, true}, cond, lo, hi);
}

/* An upper bound of hi - lo; INT64_MAX: none is known. */
static int64_t most_apart(Sched *s, const Expr *hi, const Expr *lo) {
  bool less = is_op(hi, OP_MIN);
  if (less || is_op(lo, OP_MAX)) {
    const Expr *ends = less ? hi : lo;
    int64_t least = INT64_MAX;
    for (uint32_t k = 0; k < 2; k++) {
      int64_t one = most_apart(s, less ? ends->arg[k] : hi, less ? lo : ends->arg[k]);
      if (one < least) least = one;
    }
    return least;
  }
  const Expr *d = expr_normal(s->x, expr_op2(s->x, OP_SUB, hi, lo));
  return d->kind == EX_INT ? d->i : INT64_MAX;
}

int64_t where_most(Sched *s, const StagePlan *p, uint32_t label) {
  const Expr *lo = ex_int(s, 0), *hi = p->stage->bound[label];
  const Expr **labels = NEW_ARRAY(s->arena, const Expr *, p->n_label + 1);
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  for (uint32_t l = 0; l < p->n_label; l++) labels[l] = expr_label(s->x, l), bound[l] = l != label;
  Env e = {.s = s, .stage = p->stage, .label = labels};
  where_narrow(&e, p->stage->sum->where, p->n_label, label, bound, &lo, &hi);
  int64_t most = most_apart(s, hi, lo);
  return most < 0 ? 0 : most < p->size[label] ? most : p->size[label];
}
