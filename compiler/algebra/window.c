/* algebra/window.c - intervals whose bounds are expressions. */
#include "window.h"

#include "expr/prove/prove.h"

enum { DEEP = 200 };

static const Expr *plus(Exprs *p, const Expr *e, int64_t n) {
  return expr_op2(p, OP_ADD, e, expr_int(p, DT_I64, n));
}

/* Bounds included. */
typedef struct Span { const Expr *least, *most; } Span;

static bool span_of(Exprs *p, const Expr *e, const RelDim *range, int depth, Span *out);

static bool span_scaled(Exprs *p, Span a, int64_t by, Span *out) {
  const Expr *n = expr_int(p, DT_I64, by), *x = expr_op2(p, OP_MUL, a.least, n), *y = expr_op2(p, OP_MUL, a.most, n);
  *out = by < 0 ? (Span){y, x} : (Span){x, y};
  return true;
}

static bool span_op(Exprs *p, const Expr *e, Span a, Span b, Span *out) {
  Op op = (Op)e->op;
  switch (op) {
  case OP_ADD: case OP_MAX: case OP_MIN:
    *out = (Span){expr_op2(p, op, a.least, b.least), expr_op2(p, op, a.most, b.most)};
    return true;
  case OP_SUB: *out = (Span){expr_op2(p, OP_SUB, a.least, b.most), expr_op2(p, OP_SUB, a.most, b.least)}; return true;
  case OP_MUL:
    if (e->arg[1]->kind == EX_INT) return span_scaled(p, a, e->arg[1]->i, out);
    return e->arg[0]->kind == EX_INT && span_scaled(p, b, e->arg[0]->i, out);
  case OP_IDIV:
    if (e->arg[1]->kind != EX_INT || e->arg[1]->i <= 0) return false;
    *out = (Span){expr_op2(p, OP_IDIV, a.least, e->arg[1]), expr_op2(p, OP_IDIV, a.most, e->arg[1])};
    return true;
  default: return false;
  }
}

static bool span_of(Exprs *p, const Expr *e, const RelDim *range, int depth, Span *out) {
  Span a, b;
  if ((e->has & (HAS_READ | HAS_TURN | HAS_DIM | HAS_PARAM)) || e->dtype != DT_I64 || depth > DEEP) return false;
  if (e->kind == EX_INT) return *out = (Span){e, e}, true;
  if (e->kind == EX_LABEL) return *out = (Span){range[e->i].low, plus(p, range[e->i].high, -1)}, true;
  if (e->kind != EX_OP) return false;
  if (e->op == OP_NEG) return span_of(p, e->arg[0], range, depth + 1, &a) && span_scaled(p, a, -1, out);
  return e->n == 2 && span_of(p, e->arg[0], range, depth + 1, &a) && span_of(p, e->arg[1], range, depth + 1, &b) &&
      span_op(p, e, a, b, out);
}

bool window_of(Exprs *p, const Expr *index, const RelDim *range, RelDim *out) {
  Span s;
  if (!span_of(p, expr_normal(p, index), range, 0, &s)) return false;
  *out = (RelDim){expr_normal(p, s.least), expr_normal(p, plus(p, s.most, 1))};
  return true;
}

/* ---- predicates ---------------------------------------------------------------------------------------- */

/* a <= b somewhere, where a - b can be at most 0. */
static const Expr *not_above(Exprs *p, const Expr *a, const Expr *b, int64_t by, const RelDim *range) {
  Span s;
  if (a->dtype != DT_I64) return NULL;
  const Expr *apart = expr_normal(p, plus(p, expr_op2(p, OP_SUB, a, b), by));
  if (!span_of(p, apart, range, 0, &s)) return NULL;
  return expr_op2(p, OP_LE, expr_normal(p, s.least), expr_int(p, DT_I64, 0));
}

static const Expr *possible(Exprs *p, const Expr *e, const RelDim *range, int depth) {
  if (e->kind == EX_INT && e->dtype == DT_BOOL) return e->i ? NULL : e;
  if (e->kind != EX_OP || depth > DEEP) return NULL;
  const Expr *a = e->arg[0], *b = e->n > 1 ? e->arg[1] : NULL, *x, *y;
  switch ((Op)e->op) {
  case OP_AND: return expr_and(p, possible(p, a, range, depth + 1), possible(p, b, range, depth + 1));
  case OP_OR:
    x = possible(p, a, range, depth + 1);
    y = possible(p, b, range, depth + 1);
    return x && y ? expr_op2(p, OP_OR, x, y) : NULL;
  case OP_LE: return not_above(p, a, b, 0, range);
  case OP_LT: return not_above(p, a, b, 1, range);
  case OP_GE: return not_above(p, b, a, 0, range);
  case OP_GT: return not_above(p, b, a, 1, range);
  case OP_EQ: return expr_and(p, not_above(p, a, b, 0, range), not_above(p, b, a, 0, range));
  default: return NULL;
  }
}

const Expr *window_possible(Exprs *p, const Expr *predicate, const RelDim *range) {
  return predicate ? possible(p, predicate, range, 0) : NULL;
}
