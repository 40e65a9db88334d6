/*
 * Functions of floats that are computed in doubles, and powers: against the library's functions of doubles, and those
 * of long doubles.
 */
#define EIN_FMA 1 /* by a call of the library, where this is compiled for a machine without the instruction */
#include "math/ein_lanes.h"
#include "../tap.h"
#include "units.h"

#include <float.h>
#include <math.h>

/* ---- of one argument ---- */

#define ONE(name, f)                                                                               \
  static float name##_of(float x) { return ein_##f##_f32(x); }
ONE(exp2, exp2)
ONE(expm1, expm1)
ONE(log2, log2)
ONE(log10, log10)
ONE(log1p, log1p)
ONE(cbrt, cbrt)
ONE(asin, asin)
ONE(acos, acos)
ONE(atan, atan)
ONE(sinh, sinh)
ONE(cosh, cosh)
ONE(erf, wide_erf)
ONE(fused_erf, erf)
ONE(sin, sin)
ONE(cos, cos)
ONE(tan, tan)

#define ONE_F64(name)                                                                              \
  static double name##_of_f64(double x) { return ein_##name##_f64(x); }
ONE_F64(exp2)
ONE_F64(expm1)
ONE_F64(log2)
ONE_F64(log10)
ONE_F64(log1p)
ONE_F64(cbrt)
ONE_F64(sinh)
ONE_F64(cosh)
ONE_F64(sin)
ONE_F64(atan)
ONE_F64(erf)
ONE_F64(tan)
ONE_F64(asin)
ONE_F64(acos)
ONE_F64(cos)

static void test_functions_f64(void) {
  double more = LDBL_MANT_DIG > DBL_MANT_DIG ? 0 : 1; /* what the reference is off itself */
  within_units_f64("exp2", exp2_of_f64, exp2l, 1 + more);
  within_units_f64("expm1", expm1_of_f64, expm1l, 1 + more);
  within_units_f64("log2", log2_of_f64, log2l, 1 + more);
  within_units_f64("log10", log10_of_f64, log10l, 1 + more);
  within_units_f64("log1p", log1p_of_f64, log1pl, 1 + more);
  within_units_f64("cbrt", cbrt_of_f64, cbrtl, 1 + more);
  within_units_f64("sinh", sinh_of_f64, sinhl, 2 + more);
  within_units_f64("cosh", cosh_of_f64, coshl, 2 + more);
  within_units_f64("asin", asin_of_f64, asinl, 1 + more);
  within_units_f64("acos", acos_of_f64, acosl, 1 + more);
  within_units_f64("erf", erf_of_f64, erfl, 1.1 + more);
  within_units_f64("atan", atan_of_f64, atanl, 1 + more);
  within_units_f64("sin", sin_of_f64, sinl, 1 + more);
  within_units_f64("tan", tan_of_f64, tanl, 1 + more);
  within_units_f64("cos", cos_of_f64, cosl, 1 + more);
}

/* Close to whole numbers of quarter turns, where most of an angle cancels. */
static void test_quarters(void) {
  double worst = 0, worst_f32 = 0, more = LDBL_MANT_DIG > DBL_MANT_DIG ? 0 : 1;
  for (int n = 1; n < TRIES(667544); n++) {
    double x = (double)(n * 1.5707963267948966192313216916397514L);
    float y = (float)x;
    worst = fmax(worst,
        fmax(units_off_f64(ein_sin_near_f64(x), sinl((long double)x)),
            units_off_f64(ein_cos_near_f64(x), cosl((long double)x))));
    worst = fmax(worst, units_off_f64(ein_tan_near_f64(x), tanl((long double)x)));
    worst_f32 = fmax(worst_f32,
        fmax(units_off(ein_sin_near_f32(y), sin((double)y)), units_off(ein_cos_near_f32(y), cos((double)y))));
  }
  OK(worst <= 1 + more, "sines and tangents of doubles close to quarter turns are within a unit: %.3f", worst);
  OK(worst_f32 <= 0.51, "of floats within 0.51: %.3f", worst_f32);
}

static void test_functions(void) {
  within_units("exp2", exp2_of, exp2, 0.51);
  within_units("expm1", expm1_of, expm1, 0.51);
  within_units("log2", log2_of, log2, 0.51);
  within_units("log10", log10_of, log10, 0.51);
  within_units("log1p", log1p_of, log1p, 0.51);
  within_units("cbrt", cbrt_of, cbrt, 0.51);
  within_units("asin", asin_of, asin, 0.51);
  within_units("acos", acos_of, acos, 0.51);
  within_units("atan", atan_of, atan, 0.51);
  within_units("sinh", sinh_of, sinh, 0.51);
  within_units("cosh", cosh_of, cosh, 0.51);
  within_units("erf", erf_of, erf, 0.55);
  within_units("erf in floats", fused_erf_of, erf, 1);
  within_units("sin", sin_of, sin, 0.57); /* beyond 2^20, by the library's; below, 0.51 */
  within_units("cos", cos_of, cos, 0.57);
  within_units("tan", tan_of, tan, 0.51);
}

/* ---- powers of constants ---- */

#define POWERS(P) P(3, 3) P(32, 32) P(m3, -3) P(half, 0.5) P(m3h, -1.5)
#define FLOATS(n, y)                                                                               \
  static float power_##n(float x) { return ein_pow_f32(x, (float)(y)); }                           \
  static double truth_##n(double x) { return pow(x, y); }
#define DOUBLES(n, y)                                                                              \
  static double power_f64_##n(double x) { return ein_pow_f64(x, y); }                              \
  static long double truth_f64_##n(long double x) { return powl(x, y); }
POWERS(FLOATS)
POWERS(DOUBLES)

static void test_powers(void) {
  double most = LDBL_MANT_DIG > DBL_MANT_DIG ? 0.76 : 2; /* what the reference is off itself */
#define TRY_FLOATS(n, y)  within_units("x^" #y, power_##n, truth_##n, 0.51);
#define TRY_DOUBLES(n, y) within_units_f64("x^" #y, power_f64_##n, truth_f64_##n, most);
  POWERS(TRY_FLOATS)
  POWERS(TRY_DOUBLES)
}

/* ---- of two arguments ---- */

static const double some[] = {0.0, -0.0, 1, -1, 0.5, 2, -2, 3, -3, 1.5, -1.5, 0x1p-149, 0x1p-126, 1e-30, 0.999, 1.001,
    1e3, -1e3, 7e8, 16777217.0, 3e38, -3e38, 0.1, -0.1, 31, 33, (double)INFINITY, -(double)INFINITY, (double)NAN};
enum { SOME = sizeof some / sizeof *some };

static uint64_t state = 88172645463325252u;
static double random_of(double lo, double hi) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return lo + (hi - lo) * (double)(state >> 11) * 0x1p-53;
}

typedef struct Two { const char *name; float (*f)(float, float); double (*truth)(double, double); } Two;

static float pow_of(float x, float y) { return ein_pow_f32(x, y); }
static float atan2_of(float x, float y) { return ein_atan2_f32(x, y); }
static float hypot_of(float x, float y) { return ein_hypot_f32(x, y); }

/* The sign of a zero, and what follows from it, is no part of an answer. */
static int zero_tells(float x, float y, double want) {
  return (x == 0 || y == 0) && (isinf(want) || want == 0 || y == 0);
}

static double off_of_two(const Two *t, float x, float y) {
  float got = t->f(x, y);
  double want = t->truth((double)x, (double)y);
  if (fabs((double)got) == fabs(want) && zero_tells(x, y, want)) return 0;
  return units_off(got, want);
}

static void test_two(const Two *t) {
  double worst = 0;
  for (int i = 0; i < SOME * SOME; i++) {
    double off = off_of_two(t, (float)some[i / SOME], (float)some[i % SOME]);
    if (off > 0.51) printf("# %s of %a, %a: %g units off\n", t->name, some[i / SOME], some[i % SOME], off);
    if (off > worst) worst = off;
  }
  for (int k = 0; k < TRIES(300000); k++) {
    float x = (float)exp2(random_of(-20, 20)), y = (float)random_of(-30, 30);
    double off = off_of_two(t, k & 1 ? x : 1 + y / 1000, k & 2 ? y : y * 100);
    if (off > worst) worst = off;
  }
  OK(worst <= 0.51, "%s is at most half a unit off: %.3f", t->name, worst);
}

static double off_of_power(double x, volatile double y) {
  double got = ein_pow_f64(x, y);
  if (x == 0 && fabs(got) == pow(fabs(x), y)) return 0;
  return units_off_f64(got, powl((long double)x, (long double)y));
}

static void test_atan2_f64(void) {
  static const double some[] = {0.0, -0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN, 5e-324, -5e-324, 1.7e308, -1.7e308,
      2.5e-308, 1e-200, 3e200, 0.4142135623730951};
  enum { SOME = sizeof some / sizeof *some };
  double worst = 0, worst_x = 0, worst_y = 0;
  for (int k = 0; k < TRIES(1000000); k++) {
    double x = random_of(-1, 1) * exp2(random_of(-1000, 1000)),
           y = k % 2 ? x * random_of(-3, 3) : random_of(-1, 1) * exp2(random_of(-1000, 1000));
    if (k < SOME * SOME) x = some[k / SOME], y = some[k % SOME];
    double off = units_off_f64(ein_atan2_f64(y, x), atan2l((long double)y, (long double)x));
    if (off > worst) worst = off, worst_x = x, worst_y = y;
  }
  OK(worst <= (LDBL_MANT_DIG > DBL_MANT_DIG ? 1 : 2), "atan2 of doubles is at most a unit off: %.3f, at %a, %a", worst,
      worst_y, worst_x);
}

static void test_pow_f64(void) {
  double worst = 0;
  for (int i = 0; i < SOME * SOME; i++) {
    double off = off_of_power(some[i / SOME], some[i % SOME]);
    if (off > 0.9) printf("# %a ^ %a: %g units off\n", some[i / SOME], some[i % SOME], off);
    if (off > worst) worst = off;
  }
  for (int k = 0; k < TRIES(100000); k++) {
    double near = exp2(random_of(-0.5, 0.5)), far = exp2(random_of(-1070, 1020)), whole = floor(random_of(-40, 40));
    double one = off_of_power(near, random_of(-2000, 2000)), two = off_of_power(far, random_of(-1, 1));
    double three = off_of_power(random_of(-20, 20), whole);
    if (one > worst) worst = one;
    if (two > worst) worst = two;
    if (three > worst) worst = three;
  }
  OK(worst <= (LDBL_MANT_DIG > DBL_MANT_DIG ? 1 : 2), "pow of doubles is less than a unit off: %.3f", worst);
}

/* Remainders are exact. */
static void test_mod(void) {
  int wrong = 0;
  for (int k = 0; k < TRIES(500000); k++) {
    uint32_t bits = (uint32_t)(random_of(0, 1) * 4294967296.0);
    float x = ein_f32_of_bits((uint32_t)(random_of(0, 1) * 4294967296.0)), y = ein_f32_of_bits(bits);
    if (k % 4 == 1) x = (float)(k % 5000) - 2500, y = (float)(k % 77) / 7 - 3;
    if (k % 4 == 2) y = ein_f32_of_bits(bits & 0x80007FFF);
    if (k % 4 == 3) y = x * (float)(k % 1000) / 3;
    float got = ein_mod_f32(x, y), want = ein_mod_lib_f32(x, y);
    if (!(got != got && want != want) && ein_bits_f32(got) != ein_bits_f32(want) && wrong++ < 3)
      printf("# %a %% %a: %a, want %a\n", (double)x, (double)y, (double)got, (double)want);
  }
  OK_INT(wrong, 0, "remainders of floats are the library's");
}

static void test_hypot_f64(void) {
  double worst = 0;
  for (int i = 0; i < SOME * SOME; i++) {
    double x = some[i / SOME], y = some[i % SOME],
           off = units_off_f64(ein_hypot_f64(x, y), hypotl((long double)x, (long double)y));
    if (off > worst) worst = off;
  }
  for (int k = 0; k < TRIES(500000); k++) {
    double x = random_of(-1, 1) * exp2(random_of(-1000, 1000)), y = x * random_of(-3, 3);
    double off = units_off_f64(ein_hypot_f64(x, y), hypotl((long double)x, (long double)y));
    if (off > worst) worst = off;
  }
  OK(worst <= (LDBL_MANT_DIG > DBL_MANT_DIG ? 1 : 2), "hypot of doubles is at most a unit off: %.3f", worst);
}

/* lgamma's derivatives of x > 0: up to 40 in steps, then five terms of their series. Near digamma's root, where that
 * has no digits, the powers of the distance. */
static long double digamma_slow(long double x) {
  long double sum = 0, d = x - (long double)1.4616321449683622 - 9.549995429965697e-17L;
  if (fabsl(d) < 0.0005L)
    return d * (0.967672245447621170427445L - d * (0.442763168983592106092865L - d * (0.258499760955651010624401L -
        d * (0.163942705442406527504251L - d * 0.107824050691262365757183L))));
  for (; x < 40; x++) sum -= 1 / x;
  long double w = 1 / (x * x);
  return sum + logl(x) - 0.5L / x - w * (1.0L / 12 - w * (1.0L / 120 - w * (1.0L / 252 - w / 240)));
}
static long double trigamma_slow(long double x) {
  long double sum = 0;
  for (; x < 40; x++) sum += 1 / (x * x);
  long double w = 1 / (x * x);
  return sum + 1 / x + w / 2 + w / x * (1.0L / 6 - w * (1.0L / 30 - w * (1.0L / 42 - w / 30)));
}

/* Within 4 units to the right of 0, also close to digamma's root. */
static void test_gamma(void) {
  double worst[2] = {0, 0}, more = LDBL_MANT_DIG > DBL_MANT_DIG ? 0 : 4, root = 1.4616321449683622;
  for (int k = 0; k < TRIES(300000); k++) {
    double at = k % 3 == 0 ? random_of(0.01, 12) : exp2(random_of(-300, 300)), near = exp2(random_of(-40, -11));
    double x = k % 3 < 2 ? at : k % 2 ? root + near : root - near;
    if (fabs(x - root) > 0.0005 && fabs(x - root) < 0.1) continue; /* the reference has too few digits */
    worst[0] = fmax(worst[0], units_off_f64(ein_digamma_f64(x), digamma_slow(x)));
    worst[1] = fmax(worst[1], units_off_f64(ein_trigamma_f64(x), trigamma_slow(x)));
  }
  OK(worst[0] <= 4 + more, "digamma of doubles is within 4 units: %.3f", worst[0]);
  OK(worst[1] <= 4 + more, "trigamma of doubles is within 4 units: %.3f", worst[1]);
  double off = 0;
  for (double x = 0.0625; x < 30; x += 0.0625) { /* the reflection, by the recurrence to the right */
    double want = ein_digamma_f64(1 - x) - 1 / -x, got = ein_digamma_f64(-x);
    if (x != floor(x)) off = fmax(off, fabs(got - want) / fmax(1, fabs(want)));
  }
  OK(off < 1e-13, "digamma steps over 0: %.3g", off);
  OK(isnan(ein_digamma_f64(-2)) && ein_digamma_f64(0.0) < -DBL_MAX && ein_trigamma_f64(-2) > DBL_MAX, "their poles");
  OK(ein_digamma_f32(2.5f) == (float)ein_digamma_f64(2.5), "digamma of floats is that of doubles");
}

/* ---- many at a time ---- */

static int same_f32(float a, float b) { return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0; }
static int same_f64(double a, double b) { return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0; }

/* To the bit: near angles, far ones, and both. each: from one of 12.8 million numbers to the next. */
#define LANES_AGREE(name, n, T, U, same, from, each)                                               \
  do {                                                                                             \
    int wrong = 0;                                                                                 \
    const uint64_t rows = TRIES(200000), step = (each) * (200000 / rows);                          \
    for (uint64_t at = 0; at < rows; at++) {                                                       \
      T x[64];                                                                                     \
      for (uint64_t k = 0; k < 64; k++) x[k] = from((U)((at * 64 + k) * step));                    \
      ein_##name##_lanes_##n(x, 64);                                                               \
      for (uint64_t k = 0; k < 64; k++) wrong += !same(x[k], ein_##name##_##n(from((U)((at * 64 + k) * step)))); \
    }                                                                                              \
    OK_INT(wrong, 0, #name " of 64 " #n " is that of each");                                       \
  } while (0)

static void test_lanes(void) {
  LANES_AGREE(sin, f32, float, uint32_t, same_f32, ein_f32_of_bits, 331);
  LANES_AGREE(cos, f32, float, uint32_t, same_f32, ein_f32_of_bits, 331);
  LANES_AGREE(tan, f32, float, uint32_t, same_f32, ein_f32_of_bits, 331);
  LANES_AGREE(sin, f64, double, uint64_t, same_f64, ein_f64_of_bits, UINT64_C(1441151880758));
  LANES_AGREE(tan, f64, double, uint64_t, same_f64, ein_f64_of_bits, UINT64_C(1441151880758));
  LANES_AGREE(cos, f64, double, uint64_t, same_f64, ein_f64_of_bits, UINT64_C(1441151880758));
}

int main(void) {
  test_functions();
  test_quarters();
  test_functions_f64();
  test_powers();
  test_two(&(Two){"pow", pow_of, pow});
  test_two(&(Two){"atan2", atan2_of, atan2});
  test_two(&(Two){"hypot", hypot_of, hypot});
  test_hypot_f64();
  test_gamma();
  test_atan2_f64();
  test_pow_f64();
  test_mod();
  test_lanes();
  return DONE();
}
