/* graph/passes/range.c - counts the points of a label that a predicate admits, if its conjuncts bound the label:
 *
 *     count[t where t <= s]                            min(N, s + 1)
 *     sum[z where p[r] <= z and z < p[r+1]] 1          the distance between the data, clamped to z's extent
 *     count[t where t < a or b <= t]                   those of each, less those of both
 *     count[t where t % 100 == k[s]]                   every hundredth, if k[s] is a remainder
 *
 * and turns quotients of a label into bounds: t // 4 == s // 4 is 4 * (s // 4) <= t and t < 4 * (s // 4) + 4; so is
 * t - t % 4 == s - s % 4. */
#include "range.h"

#include "expr/prove/in_range.h"

typedef struct Range {
  Exprs *p;
  const Expr *label, *size;  /* and its extent */
  const Expr *from, *to;     /* from <= label < to, each at least 0 and at most the extent */
  const Expr *by, *left;     /* label % by is `left`; NULL: unconstrained */
  const Expr *some;          /* otherwise there is no point; NULL: no such condition */
} Range;

static const Expr *integer(const Range *r, int64_t v) { return expr_int(r->p, DT_I64, v); }

static bool knows(const Range *r, const Expr *e) { return e->labels & r->label->labels; }

/* e + add, clamped to 0..extent: e may be any 64-bit number. */
static const Expr *clamped(const Range *r, const Expr *e, int64_t add) {
  const Expr *most = add ? expr_op2(r->p, OP_SUB, r->size, integer(r, add)) : r->size;
  const Expr *in = expr_op2(r->p, OP_MIN, expr_op2(r->p, OP_MAX, e, integer(r, -add)), most);
  return add ? expr_op2(r->p, OP_ADD, in, integer(r, add)) : in;
}

/* label < e + add, e + add <= label */
static void end_at(Range *r, const Expr *e, int64_t add) {
  e = clamped(r, e, add);
  r->to = r->to ? expr_op2(r->p, OP_MIN, r->to, e) : e;
}

static void begin_at(Range *r, const Expr *e, int64_t add) {
  e = clamped(r, e, add);
  r->from = r->from ? expr_op2(r->p, OP_MAX, r->from, e) : e;
}

/* c * label + rest <= 0, of labels, turns and sizes. */
static bool take_linear(Range *r, const Expr *by) {
  Exprs *p = r->p;
  const Expr *to[64] = {0};
  to[r->label->i] = integer(r, 1);
  const Expr *one = expr_relabel(p, by, 64, to);
  to[r->label->i] = integer(r, 0);
  const Expr *rest = expr_normal(p, expr_relabel(p, by, 64, to)), *c = expr_normal(p, expr_op2(p, OP_SUB, one, rest));
  if (c->kind != EX_INT || !c->i || c->i > INT32_MAX || c->i < -INT32_MAX) return false;
  const Expr *line = expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, c, r->label), rest);
  if (!expr_is_int(expr_normal(p, expr_op2(p, OP_SUB, by, line)), 0)) return false;
  const Expr *low = expr_normal(p, expr_op1(p, OP_NEG, rest)); /* c * label <= low */
  if (c->i > 0) end_at(r, expr_op2(p, OP_IDIV, low, c), 1);
  else begin_at(r, expr_op1(p, OP_NEG, expr_op2(p, OP_IDIV, low, integer(r, -c->i))), 0);
  return true;
}

/* a < b, or a <= b. */
static bool take_less(Range *r, const Expr *a, const Expr *b, bool strict) {
  if (!((a->has | b->has) & HAS_READ)) {
    const Expr *by = expr_op2(r->p, OP_SUB, a, b);
    return take_linear(r, expr_normal(r->p, strict ? expr_op2(r->p, OP_ADD, by, integer(r, 1)) : by));
  }
  if (a == r->label && !knows(r, b)) return end_at(r, b, !strict), true;
  if (b == r->label && !knows(r, a)) return begin_at(r, a, strict), true;
  return false;
}

/* (label + more) % by == left, where `by` is a number: label % by is known, if `left` is a remainder. */
static bool take_remainder(Range *r, const Expr *q, const Expr *left) {
  Exprs *p = r->p;
  if (r->by || q->kind != EX_OP || q->op != OP_MOD || knows(r, left) || q->arg[0]->has & HAS_READ) return false;
  const Expr *by = q->arg[1], *more = expr_normal(p, expr_op2(p, OP_SUB, q->arg[0], r->label));
  if (by->kind != EX_INT || by->i < 1 || by->i > INT32_MAX || knows(r, more) ||
      (more->kind == EX_INT && (more->i > INT32_MAX || more->i < -INT32_MAX)))
    return false;
  r->by = by;
  r->left =
      expr_is_int(more, 0) ? left : expr_op2(p, OP_MOD, expr_op2(p, OP_SUB, left, expr_op2(p, OP_MOD, more, by)), by);
  r->some = expr_op2(p, OP_AND, expr_op2(p, OP_LE, integer(r, 0), left), expr_op2(p, OP_LT, left, by));
  return true;
}

static bool take(Range *r, const Expr *c) {
  bool not = c->kind == EX_OP && c->op == OP_NOT;
  if (not) c = c->arg[0];
  if (c->kind != EX_OP || c->n != 2 || c->arg[0]->dtype != DT_I64 || expr_can_fail(c)) return false;
  const Expr *a = c->arg[0], *b = c->arg[1];
  switch ((Op)c->op) {
  case OP_LT: return not ? take_less(r, b, a, false) : take_less(r, a, b, true);
  case OP_LE: return not ? take_less(r, b, a, true) : take_less(r, a, b, false);
  case OP_GT: return not ? take_less(r, a, b, false) : take_less(r, b, a, true);
  case OP_GE: return not ? take_less(r, a, b, true) : take_less(r, b, a, false);
  case OP_EQ:
    if (not) return false;
    return take_remainder(r, a, b) || take_remainder(r, b, a) ||
        (take_less(r, a, b, false) && take_less(r, b, a, false));
  default: return false;
  }
}

/* Leaves conjuncts without the label in *rest. */
static bool take_all(Range *r, const Expr *c, const Expr **rest) {
  if (!knows(r, c)) return *rest = expr_and(r->p, *rest, c), true;
  if (c->kind == EX_OP && c->op == OP_AND) return take_all(r, c->arg[0], rest) && take_all(r, c->arg[1], rest);
  return take(r, c);
}

/* Of the points that leave `left`: the number below the end, less those below the beginning. */
static const Expr *points_left(Range *r, const Expr *to) {
  Exprs *p = r->p;
  const Expr *before = expr_op2(p, OP_SUB, r->by, expr_op2(p, OP_ADD, r->left, integer(r, 1)));
  const Expr *end = expr_op2(p, OP_IDIV, expr_op2(p, OP_ADD, to, before), r->by);
  if (!r->from) return end;
  const Expr *begin = expr_op2(p, OP_IDIV, expr_op2(p, OP_ADD, r->from, before), r->by);
  return expr_op2(p, OP_MAX, integer(r, 0), expr_op2(p, OP_SUB, end, begin));
}

/* For conjuncts that bound the label; NULL: they don't. */
static const Expr *points_between(Exprs *p, const Expr *where, uint32_t label, const Expr *size, const Expr **rest) {
  Range r = {.p = p, .label = expr_label(p, label), .size = size};
  *rest = NULL;
  if (where && !take_all(&r, where, rest)) return NULL;
  const Expr *to = r.to ? r.to : size;
  if (r.by) return expr_select(p, r.some, points_left(&r, to), integer(&r, 0));
  return r.from ? expr_op2(p, OP_MAX, integer(&r, 0), expr_op2(p, OP_SUB, to, r.from)) : to;
}

/* ---- one or the other ------------------------------------------------------------------------ */

enum { EITHER_MOST = 3 }; /* each doubles the size of the expression, and more */

/* The first conjunct that is an `or` over the label, and the others; NULL: there is none. */
static const Expr *either_find(Exprs *p, const Expr *where, uint32_t label, const Expr **others) {
  if (!where || where->kind != EX_OP || !(where->labels >> label & 1)) return NULL;
  if (where->op == OP_OR) return *others = NULL, where;
  if (where->op == OP_NE && where->arg[0]->dtype == DT_I64) {
    const Expr *a = where->arg[0], *b = where->arg[1];
    return *others = NULL, expr_op2(p, OP_OR, expr_op2(p, OP_LT, a, b), expr_op2(p, OP_GT, a, b));
  }
  if (where->op != OP_AND) return NULL;
  for (uint32_t k = 0; k < 2; k++) {
    const Expr *in = NULL, *found = either_find(p, where->arg[k], label, &in);
    if (!found) continue;
    *others = k ? expr_and(p, where->arg[0], in) : expr_and(p, in, where->arg[1]);
    return found;
  }
  return NULL;
}

static const Expr *points_of(Exprs *p, const Expr *where, uint32_t label, const Expr *size, int most);

static const Expr *points_either(
    Exprs *p, const Expr *either, const Expr *others, uint32_t label, const Expr *size, int most) {
  const Expr *one = points_of(p, expr_and(p, others, either->arg[0]), label, size, most);
  const Expr *other = one ? points_of(p, expr_and(p, others, either->arg[1]), label, size, most) : NULL;
  const Expr *both =
      other ? points_of(p, expr_and(p, expr_and(p, others, either->arg[0]), either->arg[1]), label, size, most) : NULL;
  return both ? expr_op2(p, OP_SUB, expr_op2(p, OP_ADD, one, other), both) : NULL;
}

/* Includes conditions without the label. */
static const Expr *points_of(Exprs *p, const Expr *where, uint32_t label, const Expr *size, int most) {
  const Expr *others, *either = either_find(p, where, label, &others), *rest;
  if (either) return most ? points_either(p, either, others, label, size, most - 1) : NULL;
  const Expr *n = points_between(p, where, label, size, &rest);
  return n && rest ? expr_select(p, rest, n, expr_int(p, DT_I64, 0)) : n;
}

const Expr *range_points(Exprs *p, const Expr *where, uint32_t label, const Expr *size, const Expr **rest) {
  const Expr *others, *either = either_find(p, where, label, &others);
  if (!either) return points_between(p, where, label, size, rest);
  *rest = NULL;
  return points_of(p, where, label, size, EITHER_MOST);
}

/* ---- quotients ------------------------------------------------------------------------------- */

/* Writes e as a multiple of k: k * (a // k), or a - a % k, is a // k times k. NULL: it has no such form. */
static const Expr *times_of(Exprs *p, const Expr *e, const Expr **k) {
  if (e->kind != EX_OP || e->n != 2 || e->dtype != DT_I64) return NULL;
  for (uint32_t i = 0; i < 2 && e->op == OP_MUL; i++) {
    const Expr *q = e->arg[1 - i];
    *k = e->arg[i];
    if (q->kind == EX_OP && q->op == OP_IDIV && q->arg[1] == *k && (*k)->kind == EX_INT && (*k)->i > 0) return q;
  }
  if (e->op != OP_SUB || e->arg[1]->kind != EX_OP || e->arg[1]->op != OP_MOD || e->arg[1]->arg[0] != e->arg[0])
    return NULL;
  *k = e->arg[1]->arg[1];
  return (*k)->kind == EX_INT && (*k)->i > 0 ? expr_op2(p, OP_IDIV, e->arg[0], *k) : NULL;
}

static const Expr *quotient_bounds(
    Exprs *p, const Facts *f, Op op, const Expr *q, const Expr *e, uint32_t label, const Expr *size);

/* k * (a // k) OP e, where e is an expression of labels: compares a // k with the multiple of k in e. */
static const Expr *times_bounds(
    Exprs *p, const Facts *f, Op op, const Expr *q, const Expr *e, uint32_t label, const Expr *size) {
  const Expr *k, *by, *times = times_of(p, q, &k), *one = expr_int(p, DT_I64, 1);
  if (!times || e->has & HAS_READ || expr_can_fail(e) || index_may_wrap(f, expr_op2(p, OP_SUB, e, one)) ||
      index_may_wrap(f, times->arg[0]))
    return NULL;
  const Expr *whole = times_of(p, e, &by), *is = NULL;
  if (!whole || by != k) {
    bool next = op == OP_LT || op == OP_GE; /* less than e: at most e - 1 */
    if (next) op = op == OP_LT ? OP_LE : OP_GT;
    if (op == OP_EQ) is = expr_op2(p, OP_EQ, expr_op2(p, OP_MOD, e, k), expr_int(p, DT_I64, 0));
    whole = expr_op2(p, OP_IDIV, next ? expr_op2(p, OP_SUB, e, one) : e, k);
  }
  const Expr *made = quotient_bounds(p, f, op, times, whole, label, size);
  return made ? expr_and(p, is, made) : NULL;
}

/* a // k OP e, as bounds of a; NULL: it is something else. Data are first clamped to the label's range, since they
 * may be any number. */
static const Expr *quotient_bounds(
    Exprs *p, const Facts *f, Op op, const Expr *q, const Expr *e, uint32_t label, const Expr *size) {
  const Expr *as_times = times_bounds(p, f, op, q, e, label, size);
  if (as_times) return as_times;
  if (q->kind != EX_OP || q->op != OP_IDIV || q->dtype != DT_I64 || q->arg[1]->kind != EX_INT || q->arg[1]->i < 1 ||
      q->arg[1]->i > INT32_MAX)
    return NULL;
  const Expr *a = q->arg[0], *k = q->arg[1], *one = expr_int(p, DT_I64, 1);
  if (!(a->labels >> label & 1) || (e->labels >> label & 1) || expr_can_fail(e) || (a->has & HAS_READ)) return NULL;
  if (index_is_data(e)) {
    if (a->kind != EX_LABEL) return NULL;
    const Expr *end = expr_op2(p, OP_ADD, expr_op2(p, OP_IDIV, size, k), one);
    e = expr_op2(p, OP_MIN, expr_op2(p, OP_MAX, e, expr_int(p, DT_I64, -1)), end);
  } else if (index_may_wrap(f, expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, k, e), k)) || index_may_wrap(f, a))
    return NULL;
  const Expr *lo = expr_op2(p, OP_MUL, k, e), *hi = expr_op2(p, OP_ADD, lo, k);
  switch (op) {
  case OP_EQ: return expr_and(p, expr_op2(p, OP_LE, lo, a), expr_op2(p, OP_LT, a, hi));
  case OP_LT: return expr_op2(p, OP_LT, a, lo);
  case OP_LE: return expr_op2(p, OP_LT, a, hi);
  case OP_GT: return expr_op2(p, OP_LE, hi, a);
  case OP_GE: return expr_op2(p, OP_LE, lo, a);
  default: return NULL;
  }
}

const Expr *range_of_quotients(Exprs *p, const Facts *facts, const Expr *where, uint32_t label, const Expr *size) {
  if (where->kind != EX_OP || !(where->labels >> label & 1)) return where;
  if (where->op == OP_AND || where->op == OP_OR) {
    const Expr *a = range_of_quotients(p, facts, where->arg[0], label, size),
               *b = range_of_quotients(p, facts, where->arg[1], label, size);
    return a == where->arg[0] && b == where->arg[1] ? where : expr_op2(p, (Op)where->op, a, b);
  }
  if (op_info[where->op].rule != RULE_COMPARE || where->arg[0]->dtype != DT_I64) return where;
  const Expr *made = quotient_bounds(p, facts, (Op)where->op, where->arg[0], where->arg[1], label, size);
  if (!made) made = quotient_bounds(p, facts, op_swapped((Op)where->op), where->arg[1], where->arg[0], label, size);
  return made ? made : where;
}
