/* graph/passes/floats.c - comparisons of a float that is made of one integer with a number, as comparisons of the
 * integer:
 *
 *     abs(f32(t - s)) <= 2.5            t - s <= 2 and t - s >= -2
 *     f32(t) * 0.5 < 3.0                t <= 5
 *     sqrt(f64((t - s) ^ 2)) < 4.0      (t - s) ^ 2 <= 15, if it is at least 0
 *
 * Each operation taken here is monotone, and so is rounding its result; so the integers for which the comparison holds
 * are a range. Its end is found by bisection, with the language's own evaluator: the truth is the same for each
 * integer. */
#include "rebuild.h"

enum { DEPTH = 16 };

typedef struct Made {
  Exprs *p;
  const Expr *of;            /* the integer; NULL: none yet */
  int sign;                  /* what replaces abs(x): x or -x */
  bool has_abs;
  int around;                /* 1: what is around abs rises with it, -1: it falls */
} Made;

static bool is_number(const Expr *e) { return e->kind == EX_REAL && e->f - e->f == 0; }

static void falls(Made *m) {
  if (!m->has_abs) m->around = -m->around;
}

static const Expr *in_label(Made *m, const Expr *e, int depth);

static const Expr *in_label_two(Made *m, const Expr *e, int depth) {
  bool left = is_number(e->arg[1]);
  const Expr *c = e->arg[left], *x;
  if (!is_number(c) || (e->op == OP_DIV && !left)) return NULL;
  if ((e->op == OP_MUL || e->op == OP_DIV) && c->f == 0) return NULL;
  if (e->op != OP_ADD && e->op != OP_SUB && e->op != OP_MUL && e->op != OP_DIV) return NULL;
  if ((e->op == OP_SUB && !left) || ((e->op == OP_MUL || e->op == OP_DIV) && c->f < 0)) falls(m);
  x = in_label(m, e->arg[!left], depth + 1);
  return x ? expr_op2(m->p, (Op)e->op, left ? x : c, left ? c : x) : NULL;
}

/* e with label 0 for its integer; NULL: it has another form. */
static const Expr *in_label(Made *m, const Expr *e, int depth) {
  const Expr *x;
  if (e->kind != EX_OP || depth > DEPTH || !dtype_is_float((DType)e->dtype)) return NULL;
  if (e->op == OP_CAST && dtype_is_int((DType)e->arg[0]->dtype)) {
    m->of = e->arg[0];
    return expr_cast(m->p, (DType)e->dtype, expr_cast(m->p, (DType)m->of->dtype, expr_label(m->p, 0)));
  }
  if (e->n == 2) return in_label_two(m, e, depth);
  bool abs = e->op == OP_ABS, step = e->op == OP_FLOOR || e->op == OP_CEIL || e->op == OP_TRUNC || e->op == OP_ROUND;
  if (!abs && !step && e->op != OP_NEG && e->op != OP_CAST && e->op != OP_SQRT) return NULL;
  if (e->op == OP_NEG) falls(m);
  if (abs && m->has_abs) return NULL;
  m->has_abs |= abs;
  if (!(x = in_label(m, e->arg[0], depth + 1))) return NULL;
  if (abs) return m->sign < 0 ? expr_op1(m->p, OP_NEG, x) : x;
  return e->op == OP_CAST ? expr_cast(m->p, (DType)e->dtype, x) : expr_op1(m->p, (Op)e->op, x);
}

static bool holds(const Expr *c, int64_t at) {
  ExprEnv env = {.label = &at, .n_label = 1};
  Value v;
  return expr_value(c, &env, &v) && v.i;
}

/* The first integer in low..high, of which the last is one, where c holds. */
static int64_t first_of(const Expr *c, int64_t low, int64_t high) {
  while (low < high) {
    int64_t mid = low + (int64_t)(((uint64_t)high - (uint64_t)low) / 2);
    if (holds(c, mid)) high = mid;
    else low = mid + 1;
  }
  return low;
}

typedef struct Ends { int64_t low, high; bool none; } Ends;

/* Limits the ends to where c holds, which is up to some integer, or from some on. */
static void limit(Exprs *p, const Expr *c, Ends *of) {
  const Expr *not = expr_op1(p, OP_NOT, c);
  bool low = holds(c, of->low), high = holds(c, of->high);
  if (low && !high) of->high = first_of(not, of->low, of->high) - 1;
  else if (high && !low) of->low = first_of(c, of->low, of->high);
  else of->none |= !low;
}

static Ends all_of(DType t) {
  if (t == DT_U8) return (Ends){0, 255, false};
  int64_t most = INT64_MAX >> (64 - 8 * (int)dtype_size(t));
  return (Ends){-most - 1, most, false};
}

/* The comparison of a float that only rises, or only falls, with its integer. */
static const Expr *compared(Exprs *p, const Made *m, Op op, const Expr *x, const Expr *to) {
  DType t = (DType)m->of->dtype;
  Ends all = all_of(t), in = all;
  const Expr *nan = expr_op1(p, OP_ISNAN, x), *made = NULL;
  limit(p, expr_op1(p, OP_NOT, nan), &in); /* below 0, a square root is none */
  if (op != OP_EQ && !in.none) limit(p, expr_op2(p, op, x, to), &in);
  if (op == OP_EQ && !in.none) limit(p, expr_op2(p, OP_LE, x, to), &in);
  if (op == OP_EQ && !in.none) limit(p, expr_op2(p, OP_GE, x, to), &in);
  if (in.none || in.low > in.high) return expr_bool(p, false);
  if (in.low > all.low) made = expr_op2(p, OP_GE, m->of, expr_int(p, t, in.low));
  if (in.high < all.high) made = expr_and(p, made, expr_op2(p, OP_LE, m->of, expr_int(p, t, in.high)));
  return made ? made : expr_bool(p, true);
}

const Expr *float_compared(Exprs *p, const Expr *c) {
  if (c->kind != EX_OP || op_info[c->op].rule != RULE_COMPARE || c->op == OP_NE || !c->labels) return NULL;
  bool first = c->arg[0]->kind == EX_REAL;
  const Expr *e = c->arg[first], *to = c->arg[!first];
  Op op = first ? op_swapped((Op)c->op) : (Op)c->op;
  Made m = {.p = p, .sign = 1, .around = 1}, other = {.p = p, .sign = -1, .around = 1};
  if (!dtype_is_float((DType)e->dtype) || !is_number(to) || expr_can_fail(e)) return NULL;
  const Expr *x = in_label(&m, e, 0);
  if (!x) return NULL;
  const Expr *one = compared(p, &m, op, x, to);
  if (!m.has_abs) return one;
  if (op == OP_EQ) return NULL;
  const Expr *y = in_label(&other, e, 0), *two = compared(p, &other, op, y, to);
  bool both = (op == OP_LT || op == OP_LE) == (m.around > 0); /* the larger one of x and -x decides, or either */
  return expr_op2(p, both ? OP_AND : OP_OR, one, two);
}
