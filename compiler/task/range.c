/* task/range.c - intervals of integer expressions, with checked arithmetic. What it does not understand is unknown.
 * It visits each shared subexpression once, and does not recurse. */
#include "range.h"

static Range point(int64_t v) {
  return (Range){v, v, true, false};
}

static bool is_point(const Range *x) {
  return x->known && x->low == x->high && !x->shifts;
}

static Range range_leaf(const Ranges *r, const Expr *e) {
  int64_t v;
  switch ((ExprKind)e->kind) {
  case EX_INT: return point(e->i);
  case EX_DIM: return r->dims->dim(r->dims->ctx, e->name, &v) ? point(v) : (Range){0};
  case EX_TURN: return (Range){0, 0, true, true};
  case EX_LABEL:
    if (e->i < 0 || e->i >= (int64_t)r->n_label || r->extent[e->i] < 1) return (Range){0};
    return (Range){0, r->extent[e->i] - 1, true, false};
  default: return (Range){0};
  }
}

/* ---- arithmetic --------------------------------------------------------------------------------- */

static Range range_add(Ranges *r, const Range *a, const Range *b) {
  Range out = {.known = true, .shifts = a->shifts || b->shifts};
  if (add_ok(a->low, b->low, &out.low) && add_ok(a->high, b->high, &out.high)) return out;
  r->wrapped = true;
  return (Range){0};
}

static Range range_sub(Ranges *r, const Range *a, const Range *b) {
  Range out = {.known = true, .shifts = a->shifts || b->shifts};
  if (sub_ok(a->low, b->high, &out.low) && sub_ok(a->high, b->low, &out.high)) return out;
  r->wrapped = true;
  return (Range){0};
}

static Range range_mul(Ranges *r, const Range *a, const Range *b) {
  if ((a->shifts && !is_point(b)) || (b->shifts && !is_point(a))) return (Range){0};
  Range out = {.known = true, .shifts = a->shifts || b->shifts};
  int64_t x[4];
  bool ok = mul_ok(a->low, b->low, &x[0]) && mul_ok(a->low, b->high, &x[1]) && mul_ok(a->high, b->low, &x[2]) &&
            mul_ok(a->high, b->high, &x[3]);
  r->wrapped |= !ok;
  if (!ok) return (Range){0};
  out.low = out.high = x[0];
  for (int i = 1; i < 4; i++) {
    if (x[i] < out.low) out.low = x[i];
    if (x[i] > out.high) out.high = x[i];
  }
  return out;
}

/* Both are monotone in their first argument where the divisor is positive. */
static Range range_divide(Op op, const Range *a, const Range *b) {
  if (a->shifts || !is_point(b) || b->low < 1) return (Range){0};
  Range quotient = {floor_div(a->low, b->low), floor_div(a->high, b->low), true, false};
  if (op == OP_IDIV) return quotient;
  if (quotient.low != quotient.high) return (Range){0, b->low - 1, true, false};
  return (Range){floor_mod(a->low, b->low), floor_mod(a->high, b->low), true, false};
}

static Range range_extreme(Op op, const Range *a, const Range *b) {
  if (a->shifts || b->shifts) return (Range){0};
  bool most = op == OP_MAX;
  int64_t low = (a->low > b->low) == most ? a->low : b->low, high = (a->high > b->high) == most ? a->high : b->high;
  return (Range){low, high, true, false};
}

/* ---- operations --------------------------------------------------------------------------------- */

/* Uses the language's own arithmetic where all arguments are known numbers. */
static Range range_points(const Expr *e, const Range *arg) {
  Value v[3];
  OpRule rule = op_info[e->op].rule;
  if (rule == RULE_RANDOM || rule == RULE_INDEX || dtype_is_float((DType)e->dtype)) return (Range){0};
  for (uint32_t i = 0; i < e->n; i++) {
    if (!is_point(&arg[i])) return (Range){0};
    v[i] = (Value){(DType)e->arg[i]->dtype, {.i = arg[i].low}};
  }
  return point(op_value((Op)e->op, (DType)e->dtype, e->n, v).i);
}

static Range range_op(Ranges *r, const Expr *e, const Range *arg) {
  bool known = e->dtype == DT_I64;
  for (uint32_t i = 0; i < e->n; i++) known = known && arg[i].known;
  switch (known ? (Op)e->op : OPS) {
  case OP_ADD: return range_add(r, &arg[0], &arg[1]);
  case OP_SUB: return range_sub(r, &arg[0], &arg[1]);
  case OP_NEG: return range_sub(r, &(Range){0, 0, true, false}, &arg[0]);
  case OP_MUL: return range_mul(r, &arg[0], &arg[1]);
  case OP_MAX:
  case OP_MIN: return range_extreme((Op)e->op, &arg[0], &arg[1]);
  case OP_IDIV:
  case OP_MOD:
    if (!is_point(&arg[0]) || !is_point(&arg[1])) return range_divide((Op)e->op, &arg[0], &arg[1]);
    return range_points(e, arg);
  default: return range_points(e, arg);
  }
}

Range range_of(Ranges *r, const Expr *e) {
  VEC(const Expr *) todo = {0};
  Map seen = map_new(r->arena);
  vec_push(r->arena, todo, e);
  while (todo.len) {
    const Expr *x = vec_last(todo);
    uint32_t before = todo.len;
    for (uint32_t k = 0; x->kind == EX_OP && k < x->n; k++)
      if (!map_find(&seen, x->arg[k])) vec_push(r->arena, todo, x->arg[k]);
    if (todo.len > before) continue;
    Range arg[3] = {{0}}, *out = NEW(r->arena, Range);
    BUG_UNLESS(x->kind != EX_OP || x->n <= COUNT(arg));
    for (uint32_t k = 0; x->kind == EX_OP && k < x->n; k++) arg[k] = *(const Range *)map_find(&seen, x->arg[k]);
    *out = x->kind == EX_OP ? range_op(r, x, arg) : range_leaf(r, x);
    map_put(&seen, x, out);
    todo.len = before - 1;
  }
  return *(const Range *)map_find(&seen, e);
}
