/*
 * The scalar operations of emitted C against the evaluator's own (graph/eval/eval_cell.c) and against half.c. In
 * eight bits all pairs are tried; elsewhere all pairs of values at which something happens.
 */
#include "graph/eval/eval_inside.h"
#include "math/ein_lanes.h"
#include "math/ein_ops.h"
#include "../tap.h"
#include "units.h"

#include <float.h>
#include <math.h>

/* ---- integers ---- */

static const int64_t edge[] = {0, 1, -1, 2, -2, 3, -3, 5, 7, -7, 10, 31, 32, 33, 62, 63, 64, 65, 100, 127, 128, -127,
    -128, -129, 255, 256, 257, 32767, 32768, -32768, -32769, 65535, 65536, 46341, -46341, INT32_MAX,
    (int64_t)INT32_MAX + 1, INT32_MIN, (int64_t)INT32_MIN - 1, UINT32_MAX, (int64_t)UINT32_MAX + 1, 3037000500,
    (int64_t)1 << 53, ((int64_t)1 << 53) + 1, ((int64_t)1 << 53) - 1, -((int64_t)1 << 53) - 1,
    ((int64_t)1 << 60) + ((int64_t)1 << 52) + 1, INT64_MAX, INT64_MAX - 1, INT64_MIN, INT64_MIN + 1, 0x0123456789ABCDEF,
    -0x0123456789ABCDEF};
enum { EDGES = sizeof edge / sizeof edge[0] };

static int64_t of_pair(DType t, int k) { /* 8 bits: all values; else an edge */
  return int_wrap(t, cell_size(t) == 1 ? k : edge[k]);
}

static int64_t plus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static int64_t minus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static int64_t times(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

#define WANT(op, x, value)                                                                        \
  if ((x) != int_wrap(t, value) && wrong++ < 3)                                                   \
  printf("# %s of %lld, %lld: %lld, want %lld\n", op, (long long)a, (long long)b, (long long)(x), \
      (long long)int_wrap(t, value))
#define INTEGERS(n, T)                                                                             \
  static int wrong_##n(DType t) {                                                                  \
    int wrong = 0, values = cell_size(t) == 1 ? 256 : EDGES;                                       \
    for (int i = 0; i < values * values; i++) {                                                    \
      int64_t a = of_pair(t, i / values), b = of_pair(t, i % values);                              \
      T x = (T)a, y = (T)b;                                                                        \
      WANT("add", ein_add_##n(x, y), plus(a, b));                                                  \
      WANT("sub", ein_sub_##n(x, y), minus(a, b));                                                 \
      WANT("mul", ein_mul_##n(x, y), times(a, b));                                                 \
      WANT("idiv", ein_idiv_##n(x, y), int_idiv(a, b));                                            \
      WANT("mod", ein_mod_##n(x, y), int_mod(a, b));                                               \
      WANT("pow", ein_pow_##n(x, y), int_pow(a, b));                                               \
      WANT("power of two", ein_two_to_##n(y), int_pow(2, b));                                      \
      WANT("max", ein_max_##n(x, y), a > b ? a : b);                                               \
      WANT("min", ein_min_##n(x, y), a < b ? a : b);                                               \
      WANT("neg", ein_neg_##n(x), minus(0, a));                                                    \
      WANT("abs", ein_abs_##n(x), a < 0 ? minus(0, a) : a);                                        \
      WANT("sign", ein_sign_##n(x), a > 0 ? 1 : a < 0 ? -1 : a);                                   \
    }                                                                                              \
    return wrong;                                                                                  \
  }
INTEGERS(i64, int64_t)
INTEGERS(i32, int32_t)
INTEGERS(i16, int16_t)
INTEGERS(i8, int8_t)
INTEGERS(u8, uint8_t)

static void test_integers(void) {
  OK_INT(wrong_i64(DT_I64), 0, "i64 is the evaluator's");
  OK_INT(wrong_i32(DT_I32), 0, "i32 is the evaluator's");
  OK_INT(wrong_i16(DT_I16), 0, "i16 is the evaluator's");
  OK_INT(wrong_i8(DT_I8), 0, "i8 is the evaluator's, all pairs");
  OK_INT(wrong_u8(DT_U8), 0, "u8 is the evaluator's, all pairs");
  OK(ein_idiv_i64(-7, 2) == -4 && ein_mod_i64(-7, 2) == 1 && ein_mod_i64(7, -2) == -1, "floors");
  OK(ein_idiv_i32(5, 0) == 0 && ein_mod_i32(5, 0) == 0 && ein_pow_i8(2, -1) == 0, "by 0 it is 0");
}

/* ---- reals ---- */

static const double real[] = {0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2, -2, 3, -3, 0.1, -0.1, 7.25, 100, 127, 127.5, 127.99,
    128, -128, -128.5, -129, 255, 255.5, 256, -0.99, 32767.5, 32768, -32768.9, -32769, 65504, 65519.9, 65520, 65536,
    2147483647, 2147483647.5, 2147483648.0, -2147483648.0, -2147483648.5, -2147483649.0, 4294967296.0,
    9007199254740993.0, 9223372036854774784.0, 9223372036854775808.0, -9223372036854775808.0, -9223372036854777856.0,
    1e19, -1e19, 1e30, -1e30, 3.4e38, 1e39, 1e300, -1e300, 1e-3, 6.1e-5, 5.96e-8, 2.98e-8, 2.99e-8, 1e-10, 1e-38,
    1.2e-38, 1e-40, 1e-45, 7e-46, 1e-50, 5e-324, (double)INFINITY, -(double)INFINITY, (double)NAN};
enum { REALS = sizeof real / sizeof real[0] };

static int same_d(double a, double b) { return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0; }
/* of two zeros either: which is no part of an answer */
static int equal_d(double a, double b) { return a == b || same_d(a, b); }
static int same_s(float a, float b) { return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0; }
static int equal_s(float a, float b) { return a == b || same_s(a, b); }

#define WANT_REAL(same, op, x, value) \
  if (!same(x, value) && wrong++ < 3) \
  printf("# %s of %a, %a: %a, want %a\n", op, (double)a, (double)b, (double)(x), (double)(value))

static int wrong_f64(void) {
  int wrong = 0;
  for (int i = 0; i < REALS * REALS; i++) {
    double a = real[i / REALS], b = real[i % REALS];
    WANT_REAL(equal_d, "max", ein_max_f64(a, b), max_d(a, b));
    WANT_REAL(equal_d, "min", ein_min_f64(a, b), min_d(a, b));
    WANT_REAL(same_d, "mod", ein_mod_f64(a, b), mod_d(a, b));
    WANT_REAL(same_d, "lse", ein_lse_f64(a, b), lse_d(a, b));
    WANT_REAL(same_d, "sign", ein_sign_f64(a), a > 0 ? 1 : a < 0 ? -1 : a);
    if (a == 0 && b == 0) continue; /* fmax(0, -0) may be either */
    WANT_REAL(same_d, "fmax", ein_fmax_f64(a, b), fmax(a, b));
    WANT_REAL(same_d, "fmin", ein_fmin_f64(a, b), fmin(a, b));
  }
  return wrong;
}

static int wrong_f32(void) {
  int wrong = 0;
  for (int i = 0; i < REALS * REALS; i++) {
    float a = (float)real[i / REALS], b = (float)real[i % REALS];
    WANT_REAL(equal_s, "max", ein_max_f32(a, b), max_s(a, b));
    WANT_REAL(equal_s, "min", ein_min_f32(a, b), min_s(a, b));
    WANT_REAL(same_s, "mod", ein_mod_f32(a, b), mod_s(a, b));
    WANT_REAL(same_s, "lse", ein_lse_f32(a, b), lse_s(a, b));
    WANT_REAL(same_s, "sign", ein_sign_f32(a), a > 0 ? 1 : a < 0 ? -1 : a);
    if (a == 0 && b == 0) continue;
    WANT_REAL(same_s, "fmax", ein_fmax_f32(a, b), fmaxf(a, b));
    WANT_REAL(same_s, "fmin", ein_fmin_f32(a, b), fminf(a, b));
  }
  return wrong;
}

static void test_reals(void) {
  OK_INT(wrong_f64(), 0, "f64 is the evaluator's");
  OK_INT(wrong_f32(), 0, "f32 is the evaluator's");
  signgam = 7;
  int sign;
  OK(same_d(ein_lgamma_f64(-0.5), lgamma_r(-0.5, &sign)) && same_s(ein_lgamma_f32(-0.5f), lgammaf_r(-0.5f, &sign)) &&
         signgam == 7,
     "lgamma leaves signgam alone");
  OK(isnan(ein_max_f32(1, NAN)) && isnan(ein_max_f32(NAN, 1)) && isnan(ein_min_f64(1, (double)NAN)),
      "max and min pass NaN on");
  OK(ein_fmax_f32(NAN, 1) == 1 && ein_fmax_f32(1, NAN) == 1 && isnan(ein_fmin_f64((double)NAN, (double)NAN)),
      "fmax does not");
}

/* ---- to integers ---- */

#define SATURATED(n, D)                                                                            \
  {                                                                                                \
    int64_t from_f64 = ein_f64_to_##n(x), from_f32 = ein_f32_to_##n(s);                            \
    if (from_f64 != cell_cast((Cell){.f = x}, DT_F64, D).i && wrong++ < 3)                         \
      printf("# %a to " #n ": %lld\n", x, (long long)from_f64);                                    \
    if (from_f32 != cell_cast((Cell){.s = s}, DT_F32, D).i && wrong++ < 3)                         \
      printf("# %a to " #n ": %lld\n", (double)s, (long long)from_f32);                            \
  }

static void test_saturating(void) {
  int wrong = 0;
  for (int i = 0; i < REALS; i++) {
    double x = real[i];
    float s = (float)x;
    SATURATED(i64, DT_I64)
    SATURATED(i32, DT_I32)
    SATURATED(i16, DT_I16)
    SATURATED(i8, DT_I8)
    SATURATED(u8, DT_U8)
  }
  OK_INT(wrong, 0, "conversions to integers saturate, and NaN is 0");
}

/* ---- half precision. In parentheses the names are functions of half.c. ---- */

static uint32_t bits_s(float x) { uint32_t u; memcpy(&u, &x, sizeof u); return u; }
static float float_of(uint32_t u) { float x; memcpy(&x, &u, sizeof x); return x; }
static double double_of(uint64_t u) { double x; memcpy(&x, &u, sizeof x); return x; }

static void test_widen(void) {
  int wrong = 0;
  for (uint32_t h = 0; h < 65536; h++) {
    wrong += bits_s(ein_f16_to_f32((uint16_t)h)) != bits_s((ein_f16_to_f32)((uint16_t)h));
    wrong += bits_s(ein_bf16_to_f32((uint16_t)h)) != bits_s((ein_bf16_to_f32)((uint16_t)h));
  }
  OK_INT(wrong, 0, "all halves widen to half.c's bits, NaN too");
}

static int wrong_narrow_f32(uint32_t u) {
  float x = float_of(u);
  return (ein_f32_to_f16(x) != (ein_f32_to_f16)(x)) + (ein_f32_to_bf16(x) != (ein_f32_to_bf16)(x)) +
         (bits_s(ein_round_f16(x)) != bits_s(real_narrow(DT_F16, x))) +
         (bits_s(ein_round_bf16(x)) != bits_s(real_narrow(DT_BF16, x)));
}

static int wrong_narrow_f64(uint64_t u) {
  double x = double_of(u);
  return (ein_f64_to_f16(x) != (ein_f64_to_f16)(x)) + (ein_f64_to_bf16(x) != (ein_f64_to_bf16)(x)) +
         !same_s(ein_f64_round_f16(x), cell_cast((Cell){.f = x}, DT_F64, DT_F16).s) +
         !same_s(ein_f64_round_bf16(x), cell_cast((Cell){.f = x}, DT_F64, DT_BF16).s);
}

static void test_narrow(void) {
  int wrong = 0;
  for (uint64_t u = 0; u < UINT64_C(1) << 32; u += 1031) wrong += wrong_narrow_f32((uint32_t)u);
  for (uint32_t top = 0; top < 65536; top++) /* around each value, each tie, and each bit below */
    for (int low = 0; low < 16; low++) {
      uint32_t tie = top << 16 | UINT32_C(1) << low;
      wrong += wrong_narrow_f32(tie) + wrong_narrow_f32(tie - 1) + wrong_narrow_f32(tie + 1);
    }
  OK_INT(wrong, 0, "floats narrow to half.c's bits");
  wrong = 0;
  uint64_t u = 88172645463325252u;
  for (int k = 0; k < 2000000; k++) {
    u ^= u << 13, u ^= u >> 7, u ^= u << 17; /* xorshift */
    uint64_t exponent = 1023 - 160 + u % 320;
    wrong += wrong_narrow_f64((u & 0x800FFFFFFFFFFFFFu) | exponent << 52) + wrong_narrow_f64(u);
  }
  for (uint64_t exponent = 0; exponent < 2048; exponent++)
    for (int bit = 0; bit < 52; bit++)
      for (int by = -1; by < 2; by++) {
        uint64_t m = (exponent << 52 | UINT64_C(1) << bit) + (uint64_t)by;
        wrong += wrong_narrow_f64(m) + wrong_narrow_f64(m | UINT64_C(1) << 63) +
                 wrong_narrow_f64(m | UINT64_C(1) << 42) + wrong_narrow_f64(m | UINT64_C(1) << 45);
      }
  OK_INT(wrong, 0, "doubles narrow to half.c's bits, rounded once");
}

static void test_integers_to_half(void) {
  int wrong = 0;
  for (int i = 0; i < EDGES; i++)
    for (int bit = 0; bit < 63; bit++)
      for (int by = -1; by < 2; by++) {
        int64_t x = plus(times(edge[i], (int64_t)1 << bit), by);
        wrong += !same_s(ein_i64_round_f16(x), cell_cast((Cell){.i = x}, DT_I64, DT_F16).s);
        wrong += !same_s(ein_i64_round_bf16(x), cell_cast((Cell){.i = x}, DT_I64, DT_BF16).s);
      }
  OK_INT(wrong, 0, "integers become halves with one rounding");
}

/* ---- functions of the runtime's own ---- */

static float exp_of(float x) { return ein_exp_f32(x); }
static float log_of(float x) { return ein_log_f32(x); }
static float tanh_of(float x) { return ein_tanh_f32(x); }
static float erf_of(float x) { return ein_erf_f32(x); }

#define POWERS(F) F(3) F(4) F(7) F(31)
#define POWER_OF(n)                                                                                                    \
  static float power_##n(float x) { return ein_power_f32(x, n); }                                                      \
  static double power_of_##n(double x) { return pow(x, n); }                                                           \
  static double power_##n##_f64(double x) { return ein_power_f64(x, n); }                                              \
  static long double power_of_##n##_f64(long double x) { return powl(x, n); }
POWERS(POWER_OF)

/* Many at a time, to the bit. */
static void test_lanes(void) {
  int wrong = 0;
  for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 64 * 499) {
    float x[64];
    for (uint32_t k = 0; k < 64; k++) x[k] = ein_f32_of_bits((uint32_t)bits + k * 499);
    ein_exp_lanes_f32(x, 64);
    for (uint32_t k = 0; k < 64; k++) wrong += !same_s(x[k], ein_exp_f32(ein_f32_of_bits((uint32_t)bits + k * 499)));
  }
  OK_INT(wrong, 0, "exp of 64 floats is that of each");
}

static double exp_of_f64(double x) { return ein_exp_f64(x); }
static double log_of_f64(double x) { return ein_log_f64(x); }
static double tanh_of_f64(double x) { return ein_tanh_f64(x); }

static void test_functions(void) {
  double more = LDBL_MANT_DIG > DBL_MANT_DIG ? 0 : 1; /* what the reference is off itself */
  within_units_f64("exp", exp_of_f64, expl, 1 + more);
  within_units_f64("log", log_of_f64, logl, 1 + more);
  within_units_f64("tanh", tanh_of_f64, tanhl, 2 + more);
#define POWER_WITHIN(n) within_units_f64("power " #n, power_##n##_f64, power_of_##n##_f64, 1 + more);
  POWERS(POWER_WITHIN)
  within_units("exp", exp_of, exp, 1);
  within_units("log", log_of, log, 1);
  within_units("tanh", tanh_of, tanh, 2);
  within_units("erf", erf_of, erf, 1);
#define POWER_WITHIN_F32(n) within_units("power " #n, power_##n, power_of_##n, 1);
  POWERS(POWER_WITHIN_F32)
}

int main(void) {
  test_functions();
  test_lanes();
  test_integers();
  test_reals();
  test_saturating();
  test_widen();
  test_narrow();
  test_integers_to_half();
  return DONE();
}
