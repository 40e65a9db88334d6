/* expr/ops.c - ops.def as two tables, and the dtype rules for an operation's arguments. */
#include <string.h>

#include "expr.h"

const OpInfo op_info[OPS] = {
#define OP(id, name, sign, arity, rule, laws, f64, f32, integer, derivative, ulp) \
  [OP_##id] = {name, sign, arity, rule, laws, f64, f32, integer, derivative, ulp},
#include "ops.def"
};

const ReducerInfo reducer_info[REDUCERS] = {
#define REDUCER(id, name, combine, identity, laws, types) \
  [RED_##id] = {name, combine, identity, laws, types},
#include "ops.def"
};

static bool same(const char *name, const char *s, size_t len) {
  return strlen(name) == len && memcmp(name, s, len) == 0;
}

bool op_find(const char *name, size_t len, Op *out) {
  for (int i = 0; i < OPS; i++) {
    if (!same(op_info[i].name, name, len)) continue;
    *out = (Op)i;
    return true;
  }
  return false;
}

bool reducer_find(const char *name, size_t len, Reducer *out) {
  for (int i = 0; i < REDUCERS; i++) {
    if (!same(reducer_info[i].name, name, len)) continue;
    *out = (Reducer)i;
    return true;
  }
  return false;
}

Op op_swapped(Op op) {
  static const Op to[] = {[OP_EQ - OP_EQ] = OP_EQ, [OP_NE - OP_EQ] = OP_NE, [OP_LT - OP_EQ] = OP_GT,
                          [OP_LE - OP_EQ] = OP_GE, [OP_GT - OP_EQ] = OP_LT, [OP_GE - OP_EQ] = OP_LE};
  return to[op - OP_EQ];
}

Op op_contrary(Op op) {
  static const Op to[] = {[OP_EQ - OP_EQ] = OP_NE, [OP_NE - OP_EQ] = OP_EQ, [OP_LT - OP_EQ] = OP_GE,
                          [OP_LE - OP_EQ] = OP_GT, [OP_GT - OP_EQ] = OP_LE, [OP_GE - OP_EQ] = OP_LT};
  return to[op - OP_EQ];
}

static bool all_of(DType t, uint32_t n, const Expr *const *arg) {
  for (uint32_t i = 0; i < n; i++)
    if (arg[i]->dtype != t) return false;
  return true;
}

/* A switch over the rules; RULE_CAST is missing, since its result does not depend on its arguments. */
bool op_result(Op op, uint32_t n, const Expr *const *arg, DType *out) {
  if (op == OP_EXTERN) return false;
  if (op >= OPS || n != (uint32_t)op_info[op].arity) return false;
  DType t = (DType)arg[0]->dtype;
  OpRule rule = op_info[op].rule;
  bool alike = all_of(t, n, arg);
  *out = rule == RULE_COMPARE || rule == RULE_TEST ? DT_BOOL : t;
  switch (rule) {
  case RULE_SAME: return alike && t != DT_BOOL;
  case RULE_REAL:
  case RULE_TEST: return alike && dtype_is_float(t);
  case RULE_COMPARE: return alike;
  case RULE_LOGIC: return alike && t == DT_BOOL;
  case RULE_INT: return alike && dtype_is_int(t);
  case RULE_SELECT:
    *out = (DType)arg[1]->dtype;
    return t == DT_BOOL && arg[1]->dtype == arg[2]->dtype;
  case RULE_RANDOM:
    *out = DT_F32;
    return alike && t == DT_I64;
  case RULE_INDEX: return alike && t == DT_I64;
  case RULE_BITS:
    *out = t == DT_F32 ? DT_I32 : t == DT_I32 ? DT_F32 : t == DT_F64 ? DT_I64 : DT_F64;
    return (t == DT_F32 || t == DT_F64) == (op_info[op].c_f32 != NULL) &&
        (dtype_is_float(t) || t == DT_I32 || t == DT_I64);
  case RULE_EXTERN:
  case RULE_CAST: break;
  }
  return false;
}
