/* graph/range.c - how many points of a label a predicate lets through, where its conjuncts say from where to where the label goes:
 *
 *     count[t where t <= s]                            min(N, s + 1)
 *     sum[z where p[r] <= z and z < p[r+1]] 1          from one of the data to the other, as far as z goes
 */
#include "range.h"

typedef struct Range {
  Exprs *p;
  const Expr *label, *size;  /* and its extent */
  const Expr *from, *to;     /* from <= label < to, each at least 0 and at most the extent */
} Range;

static const Expr *integer(const Range *r, int64_t v) { return expr_int(r->p, DT_I64, v); }

static bool knows(const Range *r, const Expr *e) { return e->labels & r->label->labels; }

/* e + add, as far as that is at least 0 and at most the extent: e may be any number of 64 bits. */
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

static bool take(Range *r, const Expr *c) {
  if (c->kind != EX_OP || c->n != 2 || c->arg[0]->dtype != DT_I64 || expr_can_fail(c)) return false;
  switch ((Op)c->op) {
  case OP_LT: return take_less(r, c->arg[0], c->arg[1], true);
  case OP_LE: return take_less(r, c->arg[0], c->arg[1], false);
  case OP_GT: return take_less(r, c->arg[1], c->arg[0], true);
  case OP_GE: return take_less(r, c->arg[1], c->arg[0], false);
  default: return false;
  }
}

/* Conjuncts without the label are left. */
static bool take_all(Range *r, const Expr *c, const Expr **rest) {
  if (!knows(r, c)) return *rest = expr_and(r->p, *rest, c), true;
  if (c->kind == EX_OP && c->op == OP_AND) return take_all(r, c->arg[0], rest) && take_all(r, c->arg[1], rest);
  return take(r, c);
}

const Expr *range_points(Exprs *p, const Expr *where, uint32_t label, const Expr *size, const Expr **rest) {
  Range r = {.p = p, .label = expr_label(p, label), .size = size};
  *rest = NULL;
  if (where && !take_all(&r, where, rest)) return NULL;
  const Expr *to = r.to ? r.to : size;
  return r.from ? expr_op2(p, OP_MAX, integer(&r, 0), expr_op2(p, OP_SUB, to, r.from)) : to;
}
