/* front/elab/types.c - the dtype rules of the language (docs/language.md, Types), and nothing else.
 *
 * Literals, labels and sizes have a weak type: it adapts to its context. A declared type is firm. */
#include "elab.h"

Type type_firm(DType t) { return (Type){t, FIRM}; }

Type type_settle(Type t) { return type_firm(t.dtype); }

Type type_arith(Type t) {
  return t.dtype == DT_BOOL ? type_firm(DT_I64) : t;
}

static Weak weaker_of(Weak a, Weak b) { return a > b ? a : b; }

static Type join_weak_firm(Type weak, Type firm) {
  if (dtype_is_float(firm.dtype)) return firm;
  if (weak.weak == WEAK_REAL) return type_firm(DT_F64);
  if (weak.weak == WEAK_INDEX) return type_firm(DT_I64);
  return firm;
}

/* Both numbers, or both bool. */
Type type_join(Type a, Type b) {
  if (a.dtype == DT_BOOL && b.dtype == DT_BOOL) return type_firm(DT_BOOL);
  a = type_arith(a), b = type_arith(b);
  if (a.weak && b.weak) {
    Weak w = weaker_of(a.weak, b.weak);
    return (Type){w == WEAK_REAL ? DT_F64 : DT_I64, w};
  }
  if (a.weak) return join_weak_firm(a, b);
  if (b.weak) return join_weak_firm(b, a);
  return type_firm(dtype_join(a.dtype, b.dtype));
}

/* Argument and result of a real function. */
static Type type_real(Type t) {
  if (t.weak) return (Type){DT_F64, WEAK_REAL};
  return dtype_is_float(t.dtype) ? t : type_firm(DT_F64);
}

DType type_acc(Reducer r, Type body, int acc) {
  if (acc >= 0) return (DType)acc;
  switch (reducer_info[r].types) {
    case REDUCES_SUM: case REDUCES_MEAN: return dtype_sum(body.dtype);
    case REDUCES_REAL: return dtype_sum(type_real(body).dtype);
    case REDUCES_COUNT: return DT_I64;
    default: return body.dtype;
  }
}

Type type_reduced(Reducer r, Type body, int acc) {
  bool given = acc >= 0, is_float = dtype_is_float(given ? (DType)acc : body.dtype);
  switch (reducer_info[r].types) {
    case REDUCES_PLACE: case REDUCES_COUNT: return type_firm(DT_I64);
    case REDUCES_TEST: return type_firm(DT_BOOL);
    case REDUCES_MEAN: case REDUCES_REAL:
      return type_firm(!given ? type_real(body).dtype : is_float ? (DType)acc : DT_F64);
    case REDUCES_SUM: return type_firm(given ? (DType)acc : is_float ? body.dtype : DT_I64);
    default: return type_firm(body.dtype);
  }
}

Type type_op(Op op, uint32_t n, const Type *arg, Type *operand) {
  Type j = n == 2 ? type_join(arg[0], arg[1]) : arg[0];
  switch (op_info[op].rule) {
    case RULE_LOGIC: *operand = type_firm(DT_BOOL); return *operand;
    case RULE_COMPARE: *operand = type_settle(j); return type_firm(DT_BOOL);
    case RULE_TEST: *operand = type_real(type_arith(j)); return type_firm(DT_BOOL);
    case RULE_REAL: *operand = type_real(type_arith(j)); return *operand;
    default: *operand = type_arith(j); return *operand;
  }
}
