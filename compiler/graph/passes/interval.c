/* graph/passes/interval.c - between which integers a value lies: from the dtypes that it reads, or from what the
 * vertices that it reads compute. A mask is 0 or 1 in any dtype; the place that argmax finds is in its label's range. */
#include "interval.h"

enum {
  DEPTH = 8                  /* of an expression that is looked through */
};

static Interval between(int64_t low, int64_t high) { return (Interval){low, high}; }

static const Interval any = {INT64_MIN, INT64_MAX};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static Interval either(Interval a, Interval b) { return between(least(a.low, b.low), most(a.high, b.high)); }

Interval interval_of_dtype(DType t) {
  if (t == DT_BOOL) return between(0, 1);
  if (t == DT_U8) return between(0, UINT8_MAX);
  if (t == DT_I8) return between(INT8_MIN, INT8_MAX);
  if (t == DT_I16) return between(INT16_MIN, INT16_MAX);
  return t == DT_I32 ? between(INT32_MIN, INT32_MAX) : any;
}

/* Of operands within 32 bits, so nothing here leaves 64. */
static Interval sum_or_product(Op op, Interval a, Interval b) {
  if (!interval_in_32(a) || !interval_in_32(b)) return any;
  if (op == OP_ADD) return between(a.low + b.low, a.high + b.high);
  if (op == OP_SUB) return between(a.low - b.high, a.high - b.low);
  int64_t low = a.low * b.low, high = a.high * b.high, up = a.low * b.high, down = a.high * b.low;
  return between(least(least(low, high), least(up, down)), most(most(low, high), most(up, down)));
}

static Interval of_two(Op op, Interval a, Interval b) {
  switch (op) {
  case OP_ADD: case OP_SUB: case OP_MUL: return sum_or_product(op, a, b);
  case OP_MIN: return between(least(a.low, b.low), least(a.high, b.high));
  case OP_MAX: return between(most(a.low, b.low), most(a.high, b.high));
  case OP_MOD: return b.low == b.high && b.low > 0 ? between(0, b.low - 1) : any;
  default: return any;
  }
}

static Interval of_expr(const Interval *of, const EinNode *n, const Expr *e, int depth) {
  Interval own = interval_of_dtype((DType)e->dtype), r = any;
  if (e->kind == EX_INT) return between(e->i, e->i);
  if (e->kind == EX_READ && n->input[e->i]->kind == EIN_VERTEX) return of[n->input[e->i]->id];
  if (e->kind == EX_LABEL && n->bound[e->i]->kind == EX_INT) return between(0, most(0, n->bound[e->i]->i - 1));
  if (e->kind != EX_OP || depth == DEPTH || !dtype_is_int((DType)e->dtype)) return own;
  if (e->op == OP_CAST && !dtype_is_float((DType)e->arg[0]->dtype)) r = of_expr(of, n, e->arg[0], depth + 1);
  if (e->op == OP_SELECT) r = either(of_expr(of, n, e->arg[1], depth + 1), of_expr(of, n, e->arg[2], depth + 1));
  if (e->op == OP_NEG) r = of_two(OP_SUB, between(0, 0), of_expr(of, n, e->arg[0], depth + 1));
  if (e->n == 2) r = of_two((Op)e->op, of_expr(of, n, e->arg[0], depth + 1), of_expr(of, n, e->arg[1], depth + 1));
  return r.low < own.low || r.high > own.high ? own : r; /* in a narrower dtype it may have wrapped */
}

Interval interval_of_expr(const Interval *of, const EinNode *n, const Expr *e) { return of_expr(of, n, e, 0); }

/* Of all sums of such terms, of which none to all may count. */
static Interval of_sum(const EinNode *n, Interval term) {
  int64_t points = 1, low, high;
  for (uint32_t k = n->sum->n_out; k < n->sum->n_out + n->sum->n_red; k++)
    if (n->bound[k]->kind != EX_INT || !mul_ok(points, n->bound[k]->i, &points)) return any;
  if (!mul_ok(term.low, points, &low) || !mul_ok(term.high, points, &high)) return any;
  return either(between(0, 0), between(low, high));
}

Interval interval_of_vertex(const Interval *of, const EinNode *n) {
  const EinSum *s = n->sum;
  Interval own = interval_of_dtype(s->dtype);
  if (s->by || s->domain) return own;
  if (red_is_arg(s)) { /* it has points */
    const Expr *size = s->n_red == 1 ? n->bound[s->n_out] : NULL;
    return size && size->kind == EX_INT && size->i > 0 ? between(0, size->i - 1) : own;
  }
  if (s->dtype != s->acc) return own;
  if (s->reducer == RED_NONE) return interval_of_expr(of, n, s->body);
  return s->reducer == RED_SUM && s->dtype == DT_I64 ? of_sum(n, interval_of_expr(of, n, s->body)) : own;
}
