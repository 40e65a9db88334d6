/* graph/eval/eval_run.c - runs a program at one point: one flat switch over the instructions.
 *
 * In: the registers (labels, turns and constants are set) and the tensors; out: the result's register. Only a read
 * can fail. Only this file and eval_cell.c define what each operation means in a dtype: f16 and bf16 are computed as
 * f32 and narrow integers as i64, followed by an I_NARROW or I_WRAP. */
#include <math.h>

#include "eval_inside.h"

/* Finds the offset of a read's element. */
static inline bool locate(const Code *c, Frame *f, const Inst *in, uint64_t *out) {
  const Tensor *t = &f->tensor[in->a];
  const uint32_t *index = c->extra + in->b;
  uint64_t at = 0;
  for (uint32_t d = 0; d < in->c; d++) {
    uint64_t i = (uint64_t)f->reg[index[d]].i, extent = (uint64_t)t->shape[d];
    if (i >= extent) {
      f->fault = in;
      f->dim = d;
      return false;
    }
    at = at * extent + i;
  }
  *out = at;
  if (!t->has || t->has[at]) return true;
  f->fault = in;
  f->dim = in->c;
  return false;
}

static double lgamma_d(double x) { int sign; return lgamma_r(x, &sign); }
static float lgamma_s(float x) { int sign; return lgammaf_r(x, &sign); }
static float digamma_s(float x) { return (float)value_digamma(x); }
static float trigamma_s(float x) { return (float)value_trigamma(x); }

#define D1(id, x) case CODE(OP_##id, CL_D): { double a = R[in->a].f; R[in->dst].f = (x); break; }
#define S1(id, x) case CODE(OP_##id, CL_S): { float a = R[in->a].s; R[in->dst].s = (x); break; }
#define I1(id, x) case CODE(OP_##id, CL_I): { int64_t a = R[in->a].i; R[in->dst].i = (x); break; }
#define D2(id, x) case CODE(OP_##id, CL_D): { double a = R[in->a].f, b = R[in->b].f; R[in->dst].f = (x); break; }
#define S2(id, x) case CODE(OP_##id, CL_S): { float a = R[in->a].s, b = R[in->b].s; R[in->dst].s = (x); break; }
#define I2(id, x) case CODE(OP_##id, CL_I): { int64_t a = R[in->a].i, b = R[in->b].i; R[in->dst].i = (x); break; }
#define REAL1(id, f64, f32) D1(id, f64(a)) S1(id, f32(a))
#define REAL2(id, f64, f32) D2(id, f64(a, b)) S2(id, f32(a, b))
#define TEST(id, x) \
  case CODE(OP_##id, CL_D): { double a = R[in->a].f; R[in->dst].i = (x); break; } \
  case CODE(OP_##id, CL_S): { float a = R[in->a].s; R[in->dst].i = (x); break; }
#define COMPARE(id, x) \
  case CODE(OP_##id, CL_D): { double a = R[in->a].f, b = R[in->b].f; R[in->dst].i = (x); break; } \
  case CODE(OP_##id, CL_S): { float a = R[in->a].s, b = R[in->b].s; R[in->dst].i = (x); break; } \
  I2(id, x)
#define WRAPPING(id, builtin) \
  case CODE(OP_##id, CL_I): f->wrapped |= builtin(R[in->a].i, R[in->b].i, &R[in->dst].i); break;
#define READ(t, type, member, x) \
  case I_READ + t: { \
    uint64_t at; \
    if (!locate(c, f, in, &at)) return false; \
    type e = ((const type *)f->tensor[in->a].data)[at]; \
    R[in->dst].member = (x); \
    break; \
  }

/* The functions that ops.def defines by their text. */
#define FUNCTION(id, name, arity, laws, f64, f32, ...) \
  static inline double id##_d(double $0, double $1) { return (void)$1, f64; } \
  static inline float id##_s(float $0, float $1) { return (void)$1, f32; }
#include "expr/ops.def"

/* The sign of a NaN is NaN. */
#define SIGN(a) ((a) > 0 ? 1 : (a) < 0 ? -1 : (a))

static void call_run(const Extern *x, const uint32_t *from, Cell *R, Cell *to) {
  CallCell arg[EXTERN_ARGS], r;
  for (uint32_t k = 0; k < x->n; k++) {
    Cell v = R[from[k]];
    Class c = class_of(x->arg[k]);
    if (c == CL_I) arg[k].i = v.i;
    else arg[k].f = c == CL_S ? (double)v.s : v.f;
  }
  x->call(arg, &r);
  if (x->dtype == DT_F32) to->s = (float)r.f;
  else to->f = r.f;
}

bool code_run(Code *c, Frame *f) {
  Cell *R = f->reg;
  uint32_t calls = 0;
  c->now++;
  for (const Inst *in = c->at;; in++) {
    switch (in->op) {
    case I_END: return true;
    case I_MOVE: R[in->dst] = R[in->a]; break;
    case I_JUMP: in = c->at + in->dst - 1; break;
    case I_JUMP_IF: if (R[in->a].i) in = c->at + in->dst - 1; break;
    case I_JUMP_UNLESS: if (!R[in->a].i) in = c->at + in->dst - 1; break;
    case I_ONCE:
      if (c->ran[in->dst] == c->now) break;
      c->ran[in->dst] = c->now;
      c->calls[calls++] = (uint32_t)(in - c->at);
      in = c->at + c->part[in->dst] - 1;
      break;
    case I_RETURN: in = c->at + c->calls[--calls]; break;
    case I_CAST: R[in->dst] = cell_cast(R[in->a], (DType)in->b, (DType)in->c); break;
    case I_CALL: call_run(c->call[in->a], c->extra + in->b, R, &R[in->dst]); break;
    case I_WRAP: R[in->dst].i = int_wrap((DType)in->b, R[in->dst].i); break;
    case I_SHAKE: R[in->dst] = cell_shake((DType)in->b, R[in->dst], c->shake); break;
    case I_NARROW: R[in->dst].s = real_narrow((DType)in->b, R[in->dst].s); break;

    READ(DT_F64, double, f, e)
    READ(DT_F32, float, s, e)
    READ(DT_F16, uint16_t, s, ein_f16_to_f32(e))
    READ(DT_BF16, uint16_t, s, ein_bf16_to_f32(e))
    READ(DT_I64, int64_t, i, e)
    READ(DT_I32, int32_t, i, e)
    READ(DT_I16, int16_t, i, e)
    READ(DT_I8, int8_t, i, e)
    READ(DT_U8, uint8_t, i, e)
    READ(DT_BOOL, uint8_t, i, e != 0)

    D2(ADD, a + b) S2(ADD, a + b) WRAPPING(ADD, __builtin_add_overflow)
    D2(SUB, a - b) S2(SUB, a - b) WRAPPING(SUB, __builtin_sub_overflow)
    D2(MUL, a * b) S2(MUL, a * b) WRAPPING(MUL, __builtin_mul_overflow)
    D2(DIV, a / b) S2(DIV, a / b)
    D2(IDIV, floor(a / b)) S2(IDIV, floorf(a / b)) I2(IDIV, int_idiv(a, b))
    REAL2(MOD, mod_d, mod_s) I2(MOD, int_mod(a, b))
    REAL2(POW, pow, powf) I2(POW, int_pow(a, b))
    D1(NEG, -a) S1(NEG, -a) I1(NEG, (int64_t)(0 - (uint64_t)a))
    D1(STOP, a) S1(STOP, a) I1(STOP, a)
    REAL1(ABS, fabs, fabsf) I1(ABS, a < 0 ? (int64_t)(0 - (uint64_t)a) : a)
    D1(SIGN, SIGN(a)) S1(SIGN, SIGN(a)) I1(SIGN, SIGN(a))
    REAL2(MAX, max_d, max_s) I2(MAX, a > b ? a : b)
    REAL2(MIN, min_d, min_s) I2(MIN, a < b ? a : b)
    REAL2(FMAX, fmax, fmaxf) I2(FMAX, a > b ? a : b)
    REAL2(FMIN, fmin, fminf) I2(FMIN, a < b ? a : b)

    COMPARE(EQ, a == b) COMPARE(NE, a != b) COMPARE(LT, a < b)
    COMPARE(LE, a <= b) COMPARE(GT, a > b) COMPARE(GE, a >= b)
    I1(NOT, !a)
    TEST(ISNAN, isnan(a) != 0) TEST(ISINF, isinf(a) != 0)

    REAL1(EXP, exp, expf) REAL1(EXP2, exp2, exp2f) REAL1(EXPM1, expm1, expm1f)
    REAL1(LOG, log, logf) REAL1(LOG2, log2, log2f) REAL1(LOG10, log10, log10f) REAL1(LOG1P, log1p, log1pf)
    REAL1(CBRT, cbrt, cbrtf)
    REAL1(SIN, sin, sinf) REAL1(COS, cos, cosf) REAL1(TAN, tan, tanf)
    REAL1(ASIN, asin, asinf) REAL1(ACOS, acos, acosf) REAL1(ATAN, atan, atanf) REAL2(ATAN2, atan2, atan2f)
    REAL1(SINH, sinh, sinhf) REAL1(COSH, cosh, coshf) REAL1(TANH, tanh, tanhf)
    REAL1(ERF, erf, erff) REAL1(LGAMMA, lgamma_d, lgamma_s) REAL2(HYPOT, hypot, hypotf)
    REAL1(DIGAMMA, value_digamma, digamma_s) REAL1(TRIGAMMA, value_trigamma, trigamma_s)
    REAL2(LSE, lse_d, lse_s)
#define FUNCTION(id, name, arity, ...) \
  case CODE(OP_##id, CL_D): R[in->dst].f = id##_d(R[in->a].f, R[arity > 1 ? in->b : in->a].f); break; \
  case CODE(OP_##id, CL_S): R[in->dst].s = id##_s(R[in->a].s, R[arity > 1 ? in->b : in->a].s); break;
#include "expr/ops.def"

    case CODE(OP_UNIFORM, CL_I): R[in->dst].s = ein_uniform(R[in->a].i, R[in->b].i); break;
    case CODE(OP_NORMAL, CL_I): R[in->dst].s = ein_normal(R[in->a].i, R[in->b].i); break;
    case CODE(OP_PERMUTE, CL_I): R[in->dst].i = ein_permutation(R[in->a].i, R[in->b].i, R[in->c].i); break;
    case CODE(OP_UNPERMUTE, CL_I): R[in->dst].i = ein_inverse_permutation(R[in->a].i, R[in->b].i, R[in->c].i); break;
    default: bug("eval: no instruction %u (%s)", in->op, in->op < I_END ? op_info[in->op / CLASSES].name : "?");
    }
  }
}
