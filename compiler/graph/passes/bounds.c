/* graph/passes/bounds.c - writes what a comparison says of a label as bounds of it, `e <= label` and `label <= e`:
 *
 *     2 * t <= s                        t <= s // 2
 *     abs(t - k[s]) <= w                k[s] - w <= t and t <= k[s] + w
 *     (t - s) ^ 2 <= w * w              t - s <= w and s - t <= w
 *     max(t, s) - min(t, s) <= w        the same
 *     s // 4 - t // 4 <= 1              s // 4 - 1 <= t // 4, which range_of_quotients takes
 *     t // W == s // W                  W * (s // W) <= t and t < W * (s // W) + W, unless W is 0
 *
 * The bounds say the same as the comparison, also where 64-bit integers wrap around. Where that has no short form, the
 * comparison stays beside bounds that follow from it. */
#include "expr/prove/in_range.h"
#include "range.h"

typedef struct Sides {
  Exprs *p;
  const Facts *facts;
  const Expr *label, *size;  /* and its extent */
} Sides;

static const int64_t FAR = (int64_t)1 << 61; /* no index, sum or difference of two reaches it */

static const Expr *integer(const Sides *s, int64_t v) { return expr_int(s->p, DT_I64, v); }
static bool knows(const Sides *s, const Expr *e) { return (e->labels & s->label->labels) != 0; }
static const Expr *add(const Sides *s, const Expr *a, const Expr *b) { return expr_op2(s->p, OP_ADD, a, b); }
static const Expr *sub(const Sides *s, const Expr *a, const Expr *b) { return expr_op2(s->p, OP_SUB, a, b); }
static const Expr *at_most(const Sides *s, const Expr *a, const Expr *b) { return expr_op2(s->p, OP_LE, a, b); }

static const Expr *within(const Sides *s, const Expr *e, int64_t low, int64_t high) {
  return expr_op2(s->p, OP_MIN, expr_op2(s->p, OP_MAX, e, integer(s, low)), integer(s, high));
}

/* ---- distances ----------------------------------------------------------------------------------- */

/* The label's value at which e is 0, where e changes by one from point to point; NULL: it does not. As 64-bit
 * integers, e is then the label minus this value, or the opposite. */
static const Expr *zero_of(const Sides *s, const Expr *e) {
  Exprs *p = s->p;
  const Expr *zero = integer(s, 0);
  while (e->kind == EX_OP && e->dtype == DT_I64) {
    const Expr *a = e->arg[0], *b = e->n == 2 ? e->arg[1] : NULL;
    bool left = knows(s, a);
    if (b && left == knows(s, b)) return NULL;
    if (e->op == OP_ADD) zero = expr_op2(p, OP_SUB, zero, left ? b : a);
    else if (e->op == OP_SUB) zero = left ? expr_op2(p, OP_ADD, zero, b) : expr_op2(p, OP_SUB, a, zero);
    else if (e->op == OP_NEG) zero = expr_op1(p, OP_NEG, zero);
    else return NULL;
    e = left ? a : b;
  }
  return e == s->label ? expr_normal(p, zero) : NULL;
}

/* |label - zero| <= most, where one of the two is data. The distance from a number near -2^63 may be -2^63, which is
 * no more than any number: there the one point at that distance is let through. */
static const Expr *near_data(const Sides *s, const Expr *zero, const Expr *most, bool *exact) {
  Exprs *p = s->p;
  bool data = index_is_data(zero);
  *exact = !data || !index_is_data(most);
  const Expr *by = index_is_data(most) ? within(s, most, -1, FAR) : most;
  if (!data) return expr_and(p, at_most(s, sub(s, zero, by), s->label), at_most(s, s->label, add(s, zero, by)));
  const Expr *in = within(s, zero, -FAR, FAR), *low = sub(s, in, by), *high = add(s, in, by);
  const Expr *odd = expr_op2(p, OP_LT, zero, integer(s, -FAR)), *at = add(s, zero, integer(s, INT64_MIN));
  if (!*exact) { /* both are data, and may be far: nothing follows then */
    const Expr *far = expr_op2(p, OP_OR, odd, expr_op2(p, OP_LT, integer(s, FAR), zero));
    low = expr_select(p, far, integer(s, 0), low), high = expr_select(p, far, s->size, high);
  } else {
    low = expr_select(p, odd, at, low), high = expr_select(p, odd, at, high);
  }
  return expr_and(p, at_most(s, low, s->label), at_most(s, s->label, high));
}

/* Whether numbers in e may be so large that sums with FAR wrap around. */
static bool is_far(const Sides *s, const Expr *e) { return index_may_wrap(s->facts, add(s, e, integer(s, FAR / 4))); }

/* abs(e) <= most */
static const Expr *distance_bounds(const Sides *s, const Expr *e, const Expr *most, const Expr *whole) {
  Exprs *p = s->p;
  bool exact;
  if (!knows(s, e) || knows(s, most)) return NULL;
  if (!index_is_data(e) && !index_is_data(most)) {
    if (index_may_wrap(s->facts, e)) return NULL;
    return expr_and(p, at_most(s, e, most), at_most(s, expr_op1(p, OP_NEG, e), most));
  }
  const Expr *zero = zero_of(s, e);
  if (!zero || expr_can_fail(zero) || expr_can_fail(most)) return NULL;
  if ((!index_is_data(zero) && is_far(s, zero)) || (!index_is_data(most) && is_far(s, most))) return NULL;
  const Expr *made = near_data(s, zero, most, &exact);
  return exact ? made : expr_and(p, made, whole);
}

/* ---- squares ------------------------------------------------------------------------------------- */

static const Expr *squared(const Expr *e) {
  if (is_op(e, OP_MUL) && e->arg[0] == e->arg[1]) return e->arg[0];
  return is_op(e, OP_POW) && expr_is_int(e->arg[1], 2) ? e->arg[0] : NULL;
}

static int64_t root_of(int64_t v) {
  int64_t low = -1, high = INT32_MAX;
  while (low < high) { /* low * low <= v, or low is -1 */
    int64_t mid = low + (high - low + 1) / 2;
    if (mid * mid <= v) low = mid;
    else high = mid - 1;
  }
  return low;
}

/* The largest number with a square of at most e, or below e (then *strict stays); exact: no larger one is given. */
static const Expr *root(const Sides *s, const Expr *e, bool *strict, bool *exact) {
  Exprs *p = s->p;
  const Expr *of = squared(e);
  *exact = true;
  if (e->kind == EX_INT) {
    int64_t v = *strict && e->i > INT64_MIN ? e->i - 1 : e->i;
    return *strict = false, integer(s, root_of(v));
  }
  if (of && !index_is_data(e) && !index_may_wrap(s->facts, e))
    return expr_is_natural(of) ? of : expr_op1(p, OP_ABS, of);
  *exact = *strict = false;
  const Expr *real = expr_op1(p, OP_SQRT, expr_cast(p, DT_F64, expr_op2(p, OP_MAX, e, integer(s, 0))));
  return add(s, expr_cast(p, DT_I64, real), integer(s, 1));
}

/* The term of a sum of squares that has the label; NULL: none, or it is something else. *alone: it is the only one. */
static const Expr *square_find(const Sides *s, const Expr *e, bool *alone) {
  const Expr *of = squared(e), *found;
  if (of) return knows(s, of) ? of : NULL;
  if (!is_op(e, OP_ADD)) return NULL;
  *alone = false;
  for (const Expr *rest = e; rest; rest = is_op(rest, OP_ADD) ? rest->arg[0] : NULL) {
    const Expr *term = is_op(rest, OP_ADD) ? rest->arg[1] : rest;
    if (!squared(term) && !(expr_is_natural(term))) return NULL;
  }
  for (const Expr *rest = e; rest; rest = is_op(rest, OP_ADD) ? rest->arg[0] : NULL)
    if ((found = squared(is_op(rest, OP_ADD) ? rest->arg[1] : rest)) && knows(s, found)) return found;
  return NULL;
}

/* e * e <= most, or that of a sum of such */
static const Expr *square_bounds(const Sides *s, const Expr *a, const Expr *most, bool strict, const Expr *whole) {
  Exprs *p = s->p;
  bool alone = true, exact;
  const Expr *e = square_find(s, a, &alone);
  if (!e || knows(s, most) || index_is_data(a) || index_may_wrap(s->facts, a) || expr_can_fail(most)) return NULL;
  if (!alone) strict = false;
  const Expr *by = root(s, most, &strict, &exact), *other = expr_op1(p, OP_NEG, e);
  Op op = strict ? OP_LT : OP_LE;
  if (index_is_data(by)) { /* no distance is FAR */
    by = within(s, by, -1, FAR);
    const Expr *zero = zero_of(s, e);
    if (!zero) return NULL;
    return expr_and(p, near_data(s, zero, by, &exact), whole);
  }
  const Expr *made = expr_and(p, expr_op2(p, op, e, by), expr_op2(p, op, other, by));
  return alone && exact ? made : expr_and(p, made, whole);
}

/* ---- factors ------------------------------------------------------------------------------------- */

/* c * label + rest <= 0, with c beyond 1 and -1 */
static const Expr *factor_bounds(const Sides *s, const Expr *a, const Expr *b, bool strict) {
  Exprs *p = s->p;
  int64_t x, y, c;
  if (index_is_data(a) || index_is_data(b) || !expr_slope(a, s->label->i, &x) || !expr_slope(b, s->label->i, &y))
    return NULL;
  if (!sub_ok(x, y, &c) || (c >= -1 && c <= 1) || c > INT32_MAX || c < -INT32_MAX) return NULL;
  const Expr *all = sub(s, a, b), *to[64] = {0};
  to[s->label->i] = integer(s, 0);
  if (strict) all = add(s, all, integer(s, 1));
  if (index_may_wrap(s->facts, all)) return NULL;
  const Expr *rest = expr_normal(p, expr_relabel(p, all, 64, to));
  if (knows(s, rest)) return NULL;
  if (c > 0) return at_most(s, s->label, expr_op2(p, OP_IDIV, expr_op1(p, OP_NEG, rest), integer(s, c)));
  const Expr *up = expr_normal(p, add(s, rest, integer(s, -c - 1)));
  return at_most(s, expr_op2(p, OP_IDIV, up, integer(s, -c)), s->label);
}

/* ---- quotients ----------------------------------------------------------------------------------- */

/* The only term of a sum that has the label; NULL: there are several. */
static const Expr *term_find(const Sides *s, const Expr *e) {
  while (knows(s, e) && e->kind == EX_OP && (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_NEG)) {
    bool left = knows(s, e->arg[0]);
    if (e->n == 2 && left == knows(s, e->arg[1])) return NULL;
    e = e->arg[left ? 0 : 1];
  }
  return knows(s, e) ? e : NULL;
}

/* The only quotient in a sum with the label; NULL: none, or the label is elsewhere too. */
static const Expr *quotient_find(const Sides *s, const Expr *e) {
  e = term_find(s, e);
  return e && is_op(e, OP_IDIV) && knows(s, e->arg[0]) && !knows(s, e->arg[1]) ? e : NULL;
}

/* What else is in the sum, with the term at 0; *minus: it is subtracted. */
static const Expr *beside(const Sides *s, const Expr *e, const Expr *term, bool *minus) {
  Exprs *p = s->p;
  if (e == term) return integer(s, 0);
  bool left = knows(s, e->arg[0]);
  const Expr *in = beside(s, e->arg[left ? 0 : 1], term, minus);
  if (e->op == OP_NEG) return *minus = !*minus, expr_op1(p, OP_NEG, in);
  if (e->op == OP_ADD) return add(s, in, e->arg[left ? 1 : 0]);
  if (left) return sub(s, in, e->arg[1]);
  return *minus = !*minus, sub(s, e->arg[0], in);
}

/* A term among others: it gets a side to itself. */
static const Expr *term_apart(const Sides *s, Op op, const Expr *a, const Expr *b, const Expr *q) {
  bool minus = false;
  if (a == q || index_is_data(a) || index_is_data(b) || index_may_wrap(s->facts, sub(s, a, b))) return NULL;
  const Expr *rest = beside(s, a, q, &minus);
  const Expr *to = expr_normal(s->p, minus ? sub(s, rest, b) : sub(s, b, rest));
  return expr_op2(s->p, minus ? op_swapped(op) : op, q, to);
}

/* a // k OP e, where k is an expression that may be 0. A quotient by 0 is 0, for all points or none. */
static const Expr *quotient_bounds(const Sides *s, Op op, const Expr *q, const Expr *e, const Expr *whole) {
  Exprs *p = s->p;
  const Expr *k = q->arg[1], *more = expr_normal(p, sub(s, q->arg[0], s->label)), *zero = integer(s, 0);
  if (k->kind == EX_INT || q->dtype != DT_I64 || op == OP_NE || knows(s, more) || knows(s, e) ||
      index_is_data(more) || index_may_wrap(s->facts, q->arg[0]) || expr_can_fail(k) || expr_can_fail(e))
    return NULL;
  bool data = index_is_data(k) || index_is_data(e) || !expr_is_natural(k);
  if (!data && index_may_wrap(s->facts, add(s, expr_op2(p, OP_MUL, k, e), k))) return NULL;
  const Expr *some = at_most(s, integer(s, 1), k), *lo = expr_op2(p, OP_MUL, k, e), *hi = add(s, lo, k);
  if (data) { /* otherwise nothing follows, and the comparison is tested */
    const Expr *near = expr_and(p, at_most(s, integer(s, -INT32_MAX), e), at_most(s, e, integer(s, INT32_MAX)));
    some = expr_and(p, expr_and(p, some, at_most(s, k, integer(s, INT32_MAX))), near);
  } else if (prove(p, s->facts, some).verdict == PROVED) {
    some = expr_bool(p, true);
  }
  if (op == OP_LT || op == OP_GE) hi = lo;
  if (op == OP_LE || op == OP_GT) lo = hi;
  const Expr *all = data ? expr_bool(p, true) : expr_op2(p, op, zero, e);
  const Expr *from = op == OP_LT || op == OP_LE ? NULL : sub(s, lo, more),
             *to = op == OP_GT || op == OP_GE ? NULL : sub(s, hi, more), *made = NULL;
  if (some->kind != EX_INT) {
    if (from) from = expr_select(p, some, from, expr_select(p, all, zero, s->size));
    if (to) to = expr_select(p, some, to, expr_select(p, all, s->size, zero));
  }
  if (from) made = at_most(s, some->kind == EX_INT ? expr_normal(p, from) : from, s->label);
  if (to) made = expr_and(p, made, expr_op2(p, OP_LT, s->label, some->kind == EX_INT ? expr_normal(p, to) : to));
  return data ? expr_and(p, made, whole) : made;
}

/* ---- ends of one kind ---------------------------------------------------------------------------- */

/* Writes the comparison as e <= label, or (*upper) as label < e, for a label with an index; NULL: it is neither. */
static const Expr *end_of(const Sides *s, const Expr *c, bool *upper) {
  if (c->kind != EX_OP || c->op < OP_LT || c->op > OP_GE || c->arg[0]->dtype != DT_I64) return NULL;
  bool first = c->arg[0] == s->label, less = c->op == OP_LT || c->op == OP_LE;
  const Expr *e = c->arg[first];
  if (c->arg[!first] != s->label || knows(s, e) || expr_can_fail(e)) return NULL;
  *upper = first == less;
  bool itself = *upper == (c->op == OP_LT || c->op == OP_GT);
  return itself ? e : add(s, expr_op2(s->p, OP_MIN, e, s->size), integer(s, 1));
}

const Expr *ends_joined(Exprs *p, const Expr *where, uint32_t label, const Expr *size) {
  enum { MOST = 32 };
  const Sides *s = &(Sides){p, NULL, expr_label(p, label), size};
  const Expr *part[MOST], *made = NULL;
  Arena *a = arena_new();
  uint32_t n;
  bool upper, same, any = false;
  if (op_parts(a, where, OP_AND, MOST, part, &n))
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t k = i + 1; part[i] && k < n; k++) {
        const Expr *x = end_of(s, part[i], &upper), *y = part[k] && x ? end_of(s, part[k], &same) : NULL;
        if (!y || upper != same || !(index_is_data(x) || index_is_data(y))) continue;
        const Expr *e = expr_op2(p, upper ? OP_MIN : OP_MAX, x, y);
        part[k] = upper ? expr_op2(p, OP_LT, s->label, e) : at_most(s, e, s->label);
        part[i] = NULL, any = true;
      }
  for (uint32_t i = 0; any && i < n; i++) made = part[i] ? expr_and(p, made, part[i]) : made;
  arena_free(a);
  return any ? made : where;
}

/* ---- comparisons --------------------------------------------------------------------------------- */

static const Expr *of_condition(const Sides *s, const Expr *c, int depth);

static const Expr *two(const Sides *s, Op join, const Expr *a, const Expr *b, int depth) {
  return expr_op2(s->p, join, of_condition(s, a, depth + 1), of_condition(s, b, depth + 1));
}

/* N - abs(t - s) <= w: N - w <= abs(t - s). NULL: there is no distance, maximum or minimum beside other terms. */
static const Expr *of_term(const Sides *s, Op op, const Expr *a, const Expr *b) {
  for (int side = 0; side < 2; side++) {
    const Expr *x = side ? b : a, *y = side ? a : b, *term = knows(s, y) ? NULL : term_find(s, x);
    if (term && term != x && (is_op(term, OP_ABS) || is_op(term, OP_MAX) || is_op(term, OP_MIN)))
      return term_apart(s, side ? op_swapped(op) : op, x, y, term);
  }
  return NULL;
}

/* a <= abs(e), or a < abs(e): one of two ranges. */
static const Expr *beyond(const Sides *s, Op op, const Expr *a, const Expr *e, int depth) {
  if (knows(s, a) || index_is_data(a) || index_is_data(e) || index_may_wrap(s->facts, e)) return NULL;
  const Expr *one = expr_op2(s->p, op, a, e), *other = expr_op2(s->p, op, a, expr_op1(s->p, OP_NEG, e));
  return two(s, OP_OR, one, other, depth);
}

/* a <= b, or a < b; NULL: nothing new. */
static const Expr *of_less(const Sides *s, const Expr *a, const Expr *b, bool strict, const Expr *whole, int depth) {
  Exprs *p = s->p;
  Op op = strict ? OP_LT : OP_LE;
  bool of_a = knows(s, a), of_b = knows(s, b);
  const Expr *apart = of_term(s, op, a, b);
  if (apart) return of_condition(s, apart, depth + 1);
  if (of_b && is_op(b, OP_ABS)) return beyond(s, op, a, b->arg[0], depth);
  if (of_a && (is_op(a, OP_MAX) || is_op(a, OP_MIN))) { /* max(x, y) <= b: both are */
    const Expr *x = expr_op2(p, op, a->arg[0], b), *y = expr_op2(p, op, a->arg[1], b);
    return two(s, is_op(a, OP_MAX) ? OP_AND : OP_OR, x, y, depth);
  }
  if (of_b && (is_op(b, OP_MAX) || is_op(b, OP_MIN))) {
    const Expr *x = expr_op2(p, op, a, b->arg[0]), *y = expr_op2(p, op, a, b->arg[1]);
    return two(s, is_op(b, OP_MIN) ? OP_AND : OP_OR, x, y, depth);
  }
  if (is_op(a, OP_SUB) && is_op(a->arg[0], OP_MAX) && is_op(a->arg[1], OP_MIN)) {
    const Expr *most = a->arg[0], *least = a->arg[1];
    bool same = (most->arg[0] == least->arg[0] && most->arg[1] == least->arg[1]) ||
        (most->arg[0] == least->arg[1] && most->arg[1] == least->arg[0]);
    if (same) a = expr_op1(p, OP_ABS, sub(s, most->arg[0], most->arg[1]));
  }
  if (is_op(a, OP_ABS) && (!strict || !index_may_wrap(s->facts, b))) {
    const Expr *most = !strict ? b : index_is_data(b) ? NULL : expr_normal(p, sub(s, b, integer(s, 1)));
    return most ? distance_bounds(s, a->arg[0], most, whole) : NULL;
  }
  const Expr *made = square_bounds(s, a, b, strict, whole);
  return made ? made : factor_bounds(s, a, b, strict);
}

static const Expr *of_comparison(const Sides *s, const Expr *c, int depth) {
  const Expr *a = c->arg[0], *b = c->arg[1], *made = NULL;
  Op op = (Op)c->op;
  if (a->dtype != DT_I64) return c;
  if (op == OP_LT || op == OP_LE) made = of_less(s, a, b, op == OP_LT, c, depth);
  if (op == OP_GT || op == OP_GE) made = of_less(s, b, a, op == OP_GT, c, depth);
  if (op == OP_EQ && a != s->label && b != s->label && knows(s, a) != knows(s, b)) {
    const Expr *zero = zero_of(s, expr_op2(s->p, OP_SUB, a, b));
    made = zero ? expr_op2(s->p, OP_EQ, s->label, zero) : NULL;
  }
  for (int side = 0; side < 2 && !made; side++) {
    const Expr *x = side ? b : a, *y = side ? a : b, *q = quotient_find(s, x);
    Op way = side ? op_swapped(op) : op;
    if (!q || knows(s, y)) continue;
    const Expr *apart = term_apart(s, way, x, y, q);
    if (apart && apart->kind == EX_OP && apart->arg[0] == q) x = q, y = apart->arg[1], way = (Op)apart->op;
    made = x == q ? quotient_bounds(s, way, q, y, c) : NULL;
    if (!made) made = apart;
  }
  return made ? made : c;
}

static const Expr *of_condition(const Sides *s, const Expr *c, int depth) {
  if (c->kind != EX_OP || !knows(s, c) || depth > 40) return c;
  if (c->op == OP_AND || c->op == OP_OR) {
    const Expr *a = of_condition(s, c->arg[0], depth + 1), *b = of_condition(s, c->arg[1], depth + 1);
    return a == c->arg[0] && b == c->arg[1] ? c : expr_op2(s->p, (Op)c->op, a, b);
  }
  return op_info[c->op].rule == RULE_COMPARE ? of_comparison(s, c, depth) : c;
}

const Expr *bounds_of_label(Exprs *p, const Facts *facts, const Expr *where, uint32_t label, const Expr *size) {
  return of_condition(&(Sides){p, facts, expr_label(p, label), size}, where, 0);
}
