/* tests/expr/gen.h - random numbers and random typed expressions for the tests of expr/. */
#ifndef EIN_TEST_GEN_H
#define EIN_TEST_GEN_H

#include "expr/expr.h"

typedef struct Gen {
  uint64_t state;
  Exprs *p;
  Strings *t;
  bool reads, params;
} Gen;

__attribute__((unused)) static uint64_t gen_bits(Gen *g) {
  uint64_t z = (g->state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* lo..hi, both included */
__attribute__((unused)) static int64_t gen_int(Gen *g, int64_t lo, int64_t hi) {
  return lo + (int64_t)(gen_bits(g) % (uint64_t)(hi - lo + 1));
}

__attribute__((unused)) static double gen_real(Gen *g) {
  static const double odd[] = {0, -0.0, 1, -1, 0.1, 1e300, 1e-310, 65504, 65520, 1e39, 3.5};
  switch (gen_int(g, 0, 3)) {
  case 0: return odd[gen_int(g, 0, (int64_t)COUNT(odd) - 1)];
  case 1: return (double)gen_int(g, -20, 20);
  case 2: return __builtin_inf() * (gen_bits(g) & 1 ? 1 : -1);
  default: return ((double)gen_int(g, -1000000, 1000000)) * 0x1p-13;
  }
}

__attribute__((unused)) static const Expr *gen_expr(Gen *g, DType t, int depth);

__attribute__((unused)) static const Expr *gen_leaf(Gen *g, DType t, int depth) {
  if (g->params && gen_int(g, 0, 4) == 0 && t == DT_F32) return expr_param(g->p, t, gen_int(g, 0, 1));
  if (g->reads && depth > -2 && gen_int(g, 0, 3) == 0) {
    const Expr *index[3];
    uint32_t n = (uint32_t)gen_int(g, 0, 3);
    for (uint32_t i = 0; i < n; i++) index[i] = gen_expr(g, DT_I64, depth - 2);
    return expr_read(g->p, t, 10 * (int64_t)t + gen_int(g, 0, 9), n, index); /* the slot says the dtype */
  }
  if (dtype_is_float(t)) return expr_real(g->p, t, gen_real(g));
  if (t == DT_I64) switch (gen_int(g, 0, 5)) {
    case 0: return expr_dim(g->p, strings_printf(g->t, "D%d", (int)gen_int(g, 0, 2)));
    case 1: return expr_label(g->p, gen_int(g, 0, 3));
    case 2: return expr_turn(g->p, gen_int(g, 0, 1));
    case 3: return expr_int(g->p, t, (int64_t)gen_bits(g));
    default: break;
    }
  return expr_int(g->p, t, gen_int(g, -9, 9));
}

__attribute__((unused)) static const Expr *gen_expr(Gen *g, DType t, int depth) {
  if (depth <= 0) return gen_leaf(g, t, depth);
  for (;;) {
    Op op = (Op)gen_int(g, 0, OPS - 1);
    if (op_info[op].laws & LAW_LOOP) continue; /* of the loops alone */
    DType in = (DType)gen_int(g, 0, DTYPES - 1);
    const Expr *arg[3];
    OpRule rule = op_info[op].rule;
    if (rule == RULE_CAST) return expr_cast(g->p, t, gen_expr(g, in, depth - 1));
    if (rule == RULE_SAME || rule == RULE_REAL) in = t;
    if (rule == RULE_LOGIC) in = DT_BOOL;
    if (rule == RULE_RANDOM || rule == RULE_INDEX) in = DT_I64;
    uint32_t n = (uint32_t)op_info[op].arity;
    for (uint32_t i = 0; i < n; i++)
      arg[i] = gen_expr(g, rule == RULE_SELECT ? (i ? t : DT_BOOL) : in, depth - 1 - (int)gen_int(g, 0, 1));
    DType got;
    if (op_result(op, n, arg, &got) && got == t) return expr_op(g->p, op, n, arg);
    if (gen_int(g, 0, 9) == 0) return gen_leaf(g, t, depth);
  }
}

#endif
