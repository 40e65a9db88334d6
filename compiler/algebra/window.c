/* algebra/window.c - intervals whose bounds are expressions. */
#include "window.h"

#include "expr/prove/prove.h"
#include "expr/prove/span.h"

enum { DEEP = 200 };

static const Expr *plus(Exprs *p, const Expr *e, int64_t n) {
  return expr_op2(p, OP_ADD, e, expr_int(p, DT_I64, n));
}

static SpanEnds range_ends(void *range, Exprs *p, int64_t label) {
  const RelDim *d = (const RelDim *)range + label;
  return (SpanEnds){d->low, plus(p, d->high, -1)};
}

static bool ends_of(Exprs *p, const Expr *e, const RelDim *range, SpanEnds *out) {
  return !(e->has & HAS_DIM) && span_ends(p, e, range_ends, (void *)(uintptr_t)range, out);
}

bool window_of(Exprs *p, const Expr *index, const RelDim *range, RelDim *out) {
  SpanEnds s;
  if (!ends_of(p, expr_normal(p, index), range, &s)) return false;
  *out = (RelDim){expr_normal(p, s.least), expr_normal(p, plus(p, s.most, 1))};
  return true;
}

/* ---- predicates ---------------------------------------------------------------------------------------- */

/* a <= b somewhere, where a - b can be at most 0. */
static const Expr *not_above(Exprs *p, const Expr *a, const Expr *b, int64_t by, const RelDim *range) {
  SpanEnds s;
  if (a->dtype != DT_I64) return NULL;
  const Expr *apart = expr_normal(p, plus(p, expr_op2(p, OP_SUB, a, b), by));
  if (!ends_of(p, apart, range, &s)) return NULL;
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
