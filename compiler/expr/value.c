/* expr/value.c - the language's arithmetic on single values, and evaluation of expressions without reads in an
 * environment. f32 is computed in float, f16 and bf16 in f32 and rounded after each operation, integers wrap in
 * two's complement at their dtype's width. Results of libm functions are the host's. */
#include <math.h>

#include "expr.h"
#include "pool.h"

/* ---- rounding and conversion ----------------------------------------------------------------- */

/* To nearest, ties to even, for `bits` of significand and a least quantum 2^least; infinite from `over` on. */
static double round_to(double v, int bits, int least, double over) {
  if (!isfinite(v) || v == 0) return v;
  int e;
  (void)frexp(v, &e); /* 2^(e-1) <= |v| < 2^e */
  int quantum = e - bits > least ? e - bits : least;
  if (fabs(v) >= over) return v < 0 ? -(double)INFINITY : (double)INFINITY;
  return ldexp(nearbyint(ldexp(v, -quantum)), quantum);
}

double real_round(DType t, double v) {
  switch (t) {
  case DT_F32: return (double)(float)v;
  case DT_F16: return round_to(v, 11, -24, 0x1.ffep15);
  case DT_BF16: return round_to(v, 8, -133, 0x1.ffp127);
  default: return v;
  }
}

/* Rounds i once to the nearest value of t: bits beyond a double's are kept as one sticky bit. */
static double real_of_int(DType t, int64_t i) {
  if (t == DT_F64) return (double)i;
  if (t == DT_F32) return (double)(float)i;
  uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
  double v = u >> 53 ? ldexp((double)((u >> 11) | ((u & 2047) != 0)), 11) : (double)u;
  return real_round(t, i < 0 ? -v : v);
}

static int64_t int_wrap(DType t, uint64_t u) {
  switch (t) {
  case DT_I32: return (int64_t)((u & 0xffffffff) ^ 0x80000000) - (int64_t)0x80000000;
  case DT_I16: return (int64_t)((u & 0xffff) ^ 0x8000) - 0x8000;
  case DT_I8: return (int64_t)((u & 0xff) ^ 0x80) - 0x80;
  case DT_U8: return (int64_t)(u & 0xff);
  default: return (int64_t)u;
  }
}

static int64_t int_least(DType t) {
  return t == DT_U8 ? 0 : -1 - (INT64_MAX >> (64 - 8 * dtype_size(t)));
}

static int64_t int_most(DType t) {
  return t == DT_U8 ? UINT8_MAX : INT64_MAX >> (64 - 8 * dtype_size(t));
}

static int64_t int_of_real(DType t, double v) {
  if (isnan(v)) return 0;
  v = trunc(v);
  if (v <= (double)int_least(t)) return int_least(t);
  if (v >= (double)int_most(t)) return int_most(t); /* 2^63 - 1 is 2^63 here, which is right too */
  return (int64_t)v;
}

Value value_cast(Value v, DType t) {
  bool real = dtype_is_float(v.dtype);
  Value r = {.dtype = t};
  if (dtype_is_float(t))
    r.f = real ? real_round(t, v.f) : real_of_int(t, v.i);
  else if (t == DT_BOOL)
    r.i = real ? v.f != 0 : v.i != 0;
  else
    r.i = real ? int_of_real(t, v.f) : int_wrap(t, (uint64_t)v.i);
  return r;
}

/* ---- integers -------------------------------------------------------------------------------- */

static uint64_t int_pow(uint64_t a, int64_t n) {
  if (n < 0) return 0;
  uint64_t r = 1;
  for (; n; n >>= 1, a *= a)
    if (n & 1) r *= a;
  return r;
}

static int64_t op_int(Op op, DType t, int64_t a, int64_t b) {
  uint64_t x = (uint64_t)a, y = (uint64_t)b;
  switch (op) {
  case OP_ADD: return int_wrap(t, x + y);
  case OP_SUB: return int_wrap(t, x - y);
  case OP_MUL: return int_wrap(t, x * y);
  case OP_IDIV: return int_wrap(t, (uint64_t)floor_div(a, b));
  case OP_MOD: return int_wrap(t, (uint64_t)floor_mod(a, b));
  case OP_POW: return int_wrap(t, int_pow(x, b));
  case OP_NEG: return int_wrap(t, 0 - x);
  case OP_ABS: return int_wrap(t, a < 0 ? 0 - x : x);
  case OP_SIGN: return (a > 0) - (a < 0);
  case OP_STOP: return a;
  case OP_MAX:
  case OP_FMAX: return a >= b ? a : b;
  case OP_MIN:
  case OP_FMIN: return a <= b ? a : b;
  default: bug("op_value: %s of integers", op_info[op].name);
  }
}

/* ---- reals ----------------------------------------------------------------------------------- */

/* The functions that ops.def defines by their text. */
#define FUNCTION(id, name, arity, laws, f64, f32, ...)                                             \
  static inline double id##_double(double $0, double $1) { return (void)$1, f64; }                 \
  static inline float id##_float(float $0, float $1) { return (void)$1, f32; }
#include "ops.def"

static double function_double(Op op, double a, double b) {
  switch (op) {
#define FUNCTION(id, ...) case OP_##id: return id##_double(a, b);
#include "ops.def"
  default: bug("op_value: %s of reals", op_info[op].name);
  }
}

static float function_float(Op op, float a, float b) {
  switch (op) {
#define FUNCTION(id, ...) case OP_##id: return id##_float(a, b);
#include "ops.def"
  default: bug("op_value: %s of reals", op_info[op].name);
  }
}

/* The derivatives of lgamma: from 20 on by their series, below by steps of 1, on the left by reflection. */
double value_digamma(double of) {
  const long double turn = 3.14159265358979323846264338327950288L;
  long double x = of, sum = 0;
  if (of < 0 && of == floor(of)) return (double)NAN;
  if (of < 0) sum = -turn / tanl(turn * (x - rintl(x))), x = 1 - x;
  for (; x < 20; x++) sum -= 1 / x;
  long double w = 1 / (x * x), p = 1.0L / 132;
  p = 1.0L / 252 - w * (1.0L / 240 - w * (p - w * (691.0L / 32760 - w / 12)));
  return (double)(sum + logl(x) - 1 / (2 * x) - w * (1.0L / 12 - w * (1.0L / 120 - w * p)));
}

double value_trigamma(double of) {
  const long double turn = 3.14159265358979323846264338327950288L;
  long double x = of, sum = 0, sign = 1;
  if (of < 0) {
    long double s = sinl(turn * (x - rintl(x)));
    sum = turn * turn / (s * s), x = 1 - x, sign = -1;
  }
  for (; x < 20; x++) sum += sign / (x * x);
  long double w = 1 / (x * x), p = 1.0L / 30 - w * (5.0L / 66 - w * (691.0L / 2730 - w * (7.0L / 6)));
  return (double)(sum + sign * (1 / x + w / 2 + w / x * (1.0L / 6 - w * (1.0L / 30 - w * (1.0L / 42 - w * p)))));
}

/* One flat switch over the operations, once for double and once for float. */
#define REAL_OPS(T, F)                                                                             \
  static T mod_##T(T a, T b) { /* b's sign */                                                      \
    T m = F(fmod)(a, b);                                                                           \
    return m != 0 && (m < 0) != (b < 0) ? m + b : m;                                               \
  }                                                                                                \
  static T max_##T(T a, T b) { /* a NaN goes through */                                            \
    return isnan(a) || isnan(b) ? (T)NAN : a >= b ? a : b;                                         \
  }                                                                                                \
  static T min_##T(T a, T b) {                                                                     \
    return isnan(a) || isnan(b) ? (T)NAN : a <= b ? a : b;                                         \
  }                                                                                                \
  static T lse_##T(T a, T b) { /* log(e^a + e^b); the difference of equal infinities is undefined */           \
    if (a == b) return a + F(log)(2);                                                              \
    T m = max_##T(a, b);                                                                           \
    return m + F(log1p)(F(exp)(min_##T(a, b) - m));                                                \
  }                                                                                                \
  static T op_##T(Op op, T a, T b) {                                                               \
    int sign;                                                                                      \
    switch (op) {                                                                                  \
    case OP_ADD: return a + b;                                                                     \
    case OP_SUB: return a - b;                                                                     \
    case OP_MUL: return a * b;                                                                     \
    case OP_DIV: return a / b;                                                                     \
    case OP_IDIV: return F(floor)(a / b);                                                          \
    case OP_MOD: return mod_##T(a, b);                                                             \
    case OP_POW: return F(pow)(a, b);                                                              \
    case OP_NEG: return -a;                                                                        \
    case OP_ABS: return F(fabs)(a);                                                                \
    case OP_SIGN: return a > 0 ? (T)1 : a < 0 ? (T)-1 : a;                                               \
    case OP_STOP: return a;                                                                              \
    case OP_MAX: return max_##T(a, b);                                                             \
    case OP_MIN: return min_##T(a, b);                                                             \
    case OP_FMAX: return F(fmax)(a, b);                                                            \
    case OP_FMIN: return F(fmin)(a, b);                                                            \
    case OP_EXP: return F(exp)(a);                                                                 \
    case OP_EXP2: return F(exp2)(a);                                                               \
    case OP_EXPM1: return F(expm1)(a);                                                             \
    case OP_LOG: return F(log)(a);                                                                 \
    case OP_LOG2: return F(log2)(a);                                                               \
    case OP_LOG10: return F(log10)(a);                                                             \
    case OP_LOG1P: return F(log1p)(a);                                                             \
    case OP_CBRT: return F(cbrt)(a);                                                               \
    case OP_SIN: return F(sin)(a);                                                                 \
    case OP_COS: return F(cos)(a);                                                                 \
    case OP_TAN: return F(tan)(a);                                                                 \
    case OP_ASIN: return F(asin)(a);                                                               \
    case OP_ACOS: return F(acos)(a);                                                               \
    case OP_ATAN: return F(atan)(a);                                                               \
    case OP_ATAN2: return F(atan2)(a, b);                                                          \
    case OP_SINH: return F(sinh)(a);                                                               \
    case OP_COSH: return F(cosh)(a);                                                               \
    case OP_TANH: return F(tanh)(a);                                                               \
    case OP_ERF: return F(erf)(a);                                                                 \
    case OP_LGAMMA: return LGAMMA_##T(a, &sign); /* not lgamma, which writes a global */           \
    case OP_DIGAMMA: return (T)value_digamma(a);                                                   \
    case OP_TRIGAMMA: return (T)value_trigamma(a);                                                 \
    case OP_HYPOT: return F(hypot)(a, b);                                                          \
    case OP_LSE: return lse_##T(a, b);                                                             \
    default: return function_##T(op, a, b);                                                        \
    }                                                                                              \
  }
#define AS_DOUBLE(name)    name
#define AS_FLOAT(name)     name##f
#define LGAMMA_double      lgamma_r
#define LGAMMA_float       lgammaf_r
REAL_OPS(double, AS_DOUBLE)
REAL_OPS(float, AS_FLOAT)

static double op_real(Op op, DType t, double a, double b) {
  if (t == DT_F64) return op_double(op, a, b);
  return real_round(t, (double)op_float(op, (float)a, (float)b));
}

/* ---- one operation --------------------------------------------------------------------------- */

static bool compare(Op op, int order, bool unordered) {
  if (unordered) return op == OP_NE;
  switch (op) {
  case OP_EQ: return order == 0;
  case OP_NE: return order != 0;
  case OP_LT: return order < 0;
  case OP_LE: return order <= 0;
  case OP_GT: return order > 0;
  case OP_GE: return order >= 0;
  default: bug("op_value: %s is no comparison", op_info[op].name);
  }
}

static bool op_compare(Op op, Value a, Value b) {
  if (!dtype_is_float(a.dtype)) return compare(op, (a.i > b.i) - (a.i < b.i), false);
  return compare(op, (a.f > b.f) - (a.f < b.f), isnan(a.f) || isnan(b.f));
}

static bool op_logic(Op op, const Value *arg) {
  if (op == OP_NOT) return !arg[0].i;
  return op == OP_AND ? arg[0].i && arg[1].i : arg[0].i || arg[1].i;
}

Value op_value(Op op, DType result, uint32_t n, const Value *arg) {
  Value r = {.dtype = result}, b = n > 1 ? arg[1] : arg[0];
  BUG_UNLESS(op < OPS && n == (uint32_t)op_info[op].arity);
  switch (op_info[op].rule) {
  case RULE_COMPARE: r.i = op_compare(op, arg[0], b); return r;
  case RULE_LOGIC: r.i = op_logic(op, arg); return r;
  case RULE_TEST: r.i = op == OP_ISNAN ? isnan(arg[0].f) != 0 : isinf(arg[0].f) != 0; return r;
  case RULE_SELECT: return arg[0].i ? arg[1] : arg[2];
  case RULE_CAST: return value_cast(arg[0], result);
  case RULE_SAME:
  case RULE_REAL:
  case RULE_INT:
    if (dtype_is_float(result))
      r.f = op_real(op, result, arg[0].f, b.f);
    else
      r.i = op_int(op, result, arg[0].i, b.i);
    return r;
  case RULE_RANDOM:
  case RULE_BITS:
  case RULE_EXTERN:
  case RULE_INDEX: break;
  }
  bug("op_value: %s is the runtime's", op_info[op].name);
}

/* ---- expressions ----------------------------------------------------------------------------- */

enum { VALUE_FUEL = 512, STEP_WORK = 16 }; /* STEP_WORK: how much slower a step of value_many is */

static bool value_leaf(const Expr *e, const ExprEnv *env, Value *out) {
  uint64_t k = (uint64_t)e->i;
  *out = (Value){.dtype = (DType)e->dtype};
  switch ((ExprKind)e->kind) {
  case EX_INT: out->i = e->i; return true;
  case EX_REAL: out->f = e->f; return true;
  case EX_DIM: return env->dim && env->dim(env->ctx, e->name, &out->i);
  case EX_LABEL:
    if (k >= env->n_label) return false;
    out->i = env->label[k];
    return true;
  case EX_TURN:
    if (k >= env->n_turn) return false;
    out->i = env->turn[k];
    return true;
  case EX_PARAM:
    if (k >= env->n_param) return false;
    *out = env->param[k];
    return out->dtype == (DType)e->dtype;
  case EX_READ:
  case EX_OP: break;
  }
  return false;
}

static bool has_value(const Expr *e) {
  if (e->kind != EX_OP) return true;
  const OpInfo *o = &op_info[e->op];
  return !(o->laws & LAW_LOOP) && o->rule != RULE_RANDOM && o->rule != RULE_INDEX && o->rule != RULE_EXTERN;
}

/* Returns the argument of `e` to evaluate next, when the first `done` requested ones are known; e->n: none. `and`,
 * `or` and select request no more than they need, so others may be missing. */
static uint32_t wanted(const Expr *e, uint32_t done, const Value *v) {
  if (!(op_info[e->op].laws & LAW_LAZY) || done == 0) return done;
  if (e->op == OP_SELECT) return done == 1 ? (v[0].i ? 1 : 2) : e->n;
  return done == 1 && (e->op == OP_AND) == (v[0].i != 0) ? 1 : e->n;
}

/* v[0..done) are the requested values, in order. */
static Value finish(const Expr *e, uint32_t done, const Value *v) {
  if (!(op_info[e->op].laws & LAW_LAZY)) return op_value((Op)e->op, (DType)e->dtype, e->n, v);
  return v[done - 1];
}

/* Recursive, with fuel that bounds depth and work; *fuel < 0 on return: not finished. */
static bool value_few(const Expr *e, const ExprEnv *env, Value *out, int *fuel) {
  if (e->kind != EX_OP) return value_leaf(e, env, out);
  if (--*fuel < 0 || !has_value(e)) return false;
  Value v[3];
  uint32_t done = 0;
  for (uint32_t k; (k = wanted(e, done, v)) < e->n; done++)
    if (!value_few(e->arg[k], env, &v[done], fuel)) return false;
  *out = finish(e, done, v);
  return true;
}

/* The same with an explicit stack, visiting each shared part once. */
typedef struct Frame {
  const Expr *e;
  uint32_t done;
  Value v[3];
} Frame;

static bool value_known(const Expr *e, const ExprEnv *env, const Map *seen, Value *out, bool *ok) {
  *ok = true;
  if (e->kind != EX_OP) return *ok = value_leaf(e, env, out), true;
  const Value *v = map_find(seen, e);
  if (v) *out = *v;
  return v != NULL;
}

static bool value_many(Arena *a, const Expr *top, const ExprEnv *env, Value *out, int64_t *work) {
  Map seen = map_new(a);
  VEC(Frame) stack = {0};
  vec_push(a, stack, ((Frame){.e = top}));
  for (;;) {
    Frame *f = &vec_last(stack);
    if (--*work < 0 || !has_value(f->e)) return false;
    uint32_t k = wanted(f->e, f->done, f->v);
    bool ok;
    if (k < f->e->n && value_known(f->e->arg[k], env, &seen, &f->v[f->done], &ok)) {
      if (!ok) return false;
      f->done++;
    } else if (k < f->e->n) {
      const Expr *next = f->e->arg[k];
      vec_push(a, stack, ((Frame){.e = next}));
    } else {
      *out = finish(f->e, f->done, f->v);
      map_put(&seen, f->e, arena_copy(a, out, sizeof *out));
      if (--stack.len == 0) return true;
      f = &vec_last(stack);
      f->v[f->done++] = *out;
    }
  }
}

bool expr_value_within(const Expr *e, const ExprEnv *env, Value *out, int64_t *work) {
  int fuel = VALUE_FUEL;
  if (*work <= 0) return false;
  bool ok = value_few(e, env, out, &fuel);
  *work -= VALUE_FUEL - fuel;
  if (fuel >= 0) return ok;
  Arena *a = arena_new();
  int64_t steps = *work / STEP_WORK, before = steps;
  ok = value_many(a, e, env, out, &steps);
  *work -= (before - steps) * STEP_WORK;
  arena_free(a);
  return ok;
}

bool expr_value(const Expr *e, const ExprEnv *env, Value *out) {
  int64_t work = INT64_MAX;
  return expr_value_within(e, env, out, &work);
}
