/* codegen/schedule/finish/turn.c - solves comparisons of integers for a loop's variable. */
#include <math.h>
#include "expr/prove/prove.h"
#include "turn.h"

static bool is_fixed(const Along *a, const Expr *e) { return a->is_fixed(a->env, e); }

int along_slope(const Along *a, const Expr *e) {
  if (e->kind == EX_LABEL) return e->i == (int64_t)a->var;
  if (is_op(e, OP_NEG)) return -along_slope(a, e->arg[0]);
  if (!is_op(e, OP_ADD) && !is_op(e, OP_SUB)) return 0;
  bool first = is_fixed(a, e->arg[0]), second = is_fixed(a, e->arg[1]);
  if (first == second) return 0;
  return first ? (is_op(e, OP_SUB) ? -1 : 1) * along_slope(a, e->arg[1]) : along_slope(a, e->arg[0]);
}

static const Expr *leaf_nought(void *env, Exprs *x, const Expr *leaf) {
  const Along *a = env;
  return leaf->kind == EX_LABEL && leaf->i == (int64_t)a->var ? expr_int(x, DT_I64, 0) : leaf;
}

/* Data, as far as it matters what slope * v + rest is compared with: less rest or one more, it would wrap around. */
static const Expr *clamped(const Along *a, const Expr *data, int slope, const Expr *rest) {
  Exprs *x = a->x;
  const Expr *one = expr_int(x, DT_I64, 1);
  const Expr *least = slope > 0 ? expr_op2(x, OP_ADD, a->lo, rest) : expr_op2(x, OP_SUB, rest, a->hi);
  const Expr *most = slope > 0 ? expr_op2(x, OP_ADD, a->hi, rest) : expr_op2(x, OP_SUB, rest, a->lo);
  least = expr_normal(x, expr_op2(x, OP_SUB, least, one));
  most = expr_normal(x, expr_op2(x, OP_ADD, most, one));
  return expr_op2(x, OP_MIN, expr_op2(x, OP_MAX, data, least), most);
}

bool turn_find(const Along *a, const Expr *e, bool truth, Turn *t) {
  Exprs *x = a->x;
  Op op = e->kind == EX_OP ? (Op)e->op : OPS;
  bool equal = op == OP_EQ || op == OP_NE;
  if ((op != OP_LT && op != OP_LE && op != OP_GT && op != OP_GE && !equal) || e->arg[0]->dtype != DT_I64) return false;
  if (equal && truth != (op == OP_NE)) return false;
  bool back = op == OP_GT || op == OP_GE, strict = op == OP_LT || op == OP_GT;
  if (!equal && !truth) back = !back, strict = !strict; /* not l < r: r <= l */
  const Expr *l = e->arg[back], *r = e->arg[!back];
  if (is_fixed(a, l) == is_fixed(a, r)) return false;
  const Expr *v = is_fixed(a, l) ? r : l, *other = v == l ? r : l;
  int slope = along_slope(a, v);
  if (!slope) return false;
  const Expr *rest = expr_map(x, v, leaf_nought, (void *)(uintptr_t)a); /* v is slope * v + rest */
  if (rest->has & HAS_READ) return false; /* their sum may wrap around */
  if (other->has & HAS_READ) other = clamped(a, other, slope, rest);
  const Expr *end = slope > 0 ? expr_op2(x, OP_SUB, other, rest) : expr_op2(x, OP_SUB, rest, other);
  *t = (Turn){.below = (v == l) == (slope > 0), .equal = equal}; /* v < end, or v <= end; else v above it */
  bool past = !equal && t->below != strict;
  t->at = expr_normal(x, past ? expr_op2(x, OP_ADD, end, expr_int(x, DT_I64, 1)) : end);
  return true;
}

/* ---- known values ----------------------------------------------------------------------------------------- */

static bool is_truth(const Expr *e, bool v) { return e->kind == EX_INT && e->dtype == DT_BOOL && (e->i != 0) == v; }

bool is_lowest(const Expr *e) {
  if (e->kind == EX_REAL) return isinf(e->f) && e->f < 0;
  if (is_op(e, OP_SUB)) return is_lowest(e->arg[0]);
  return is_op(e, OP_ADD) && (is_lowest(e->arg[0]) || is_lowest(e->arg[1]));
}

static const Expr *op_known(void *env, Exprs *x, const Expr *e) {
  const Known *n = env;
  const Expr *known = map_find(n->is, e);
  if (known) return known;
  bool both = is_op(e, OP_AND), either = is_op(e, OP_OR);
  if (is_op(e, OP_SELECT) && e->arg[0]->kind == EX_INT) return e->arg[e->arg[0]->i ? 1 : 2];
  if (is_op(e, OP_NOT) && e->arg[0]->kind == EX_INT) return expr_bool(x, !e->arg[0]->i);
  if (is_op(e, OP_EXP) && is_lowest(e->arg[0]))
    return expr_select(x, expr_op1(x, OP_ISNAN, e->arg[0]), e->arg[0], expr_real(x, (DType)e->dtype, 0));
  for (uint32_t k = 0; (both || either) && k < 2; k++) {
    if (is_truth(e->arg[k], both)) return e->arg[1 - k];
    if (is_truth(e->arg[k], either) && !(e->arg[1 - k]->has & HAS_READ)) return e->arg[k];
  }
  return e;
}

const Expr *with_known(void *known, const Expr *e) { return expr_map_ops(((Known *)known)->x, e, op_known, known); }

/* ---- names ------------------------------------------------------------------------------------------------- */

static const Expr *leaf_named(void *env, Exprs *x, const Expr *leaf) {
  const Named *n = env;
  (void)x;
  return leaf->kind == EX_READ && !leaf->n && n->is[leaf->i] ? n->is[leaf->i] : leaf;
}

const Expr *with_named(void *named, const Expr *e) { return expr_map(((Named *)named)->x, e, leaf_named, named); }

bool reads_memory(const Expr *e) {
  if (e->kind == EX_READ && e->n) return true;
  for (uint32_t k = 0; k < e->n && e->has & HAS_READ; k++)
    if (reads_memory(e->arg[k])) return true;
  return false;
}
