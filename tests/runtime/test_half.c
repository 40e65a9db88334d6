/*
 * Half precision against two independent judges: a search in the table of all the format's values,
 * in which every midpoint is an exact double, and the compiler's own _Float16 where it has one.
 */
#include "ein_rt.h"
#include "../tap.h"

#include <math.h>

/* The value of a 16-bit pattern by its definition; infinity counts as the power of two it stands
 * for. */
static double defined_value(unsigned pattern, int mantissa_bits) {
  int exponent_bits = 15 - mantissa_bits;
  int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = (int)(pattern & 0x7FFF) >> mantissa_bits;
  int mantissa = (int)pattern & ((1 << mantissa_bits) - 1);
  double significand = mantissa + (exponent ? ldexp(1.0, mantissa_bits) : 0.0);
  return ldexp(significand, (exponent ? exponent : 1) - bias - mantissa_bits);
}

static double table[2][0x8000]; /* values of the non-negative patterns, rising up to infinity's */
static const int bits_of[2] = {10, 7};
static const unsigned top_of[2] = {0x7C00, 0x7F80};

static void make_tables(void) {
  for (int f = 0; f < 2; f++) {
    for (unsigned p = 0; p <= top_of[f]; p++) table[f][p] = defined_value(p, bits_of[f]);
  }
}

/* Nearest pattern, ties to the even one. */
static unsigned nearest(int f, double x) {
  unsigned sign = signbit(x) ? 0x8000 : 0;
  x = fabs(x);
  unsigned low = 0, high = top_of[f];
  if (x >= table[f][high]) return sign | high;
  while (high - low > 1) {
    unsigned middle = (low + high) / 2;
    if (table[f][middle] <= x)
      low = middle;
    else
      high = middle;
  }
  double half = (table[f][low] + table[f][high]) / 2;
  return sign | (x > half || (x == half && (low & 1)) ? high : low);
}

static int widen_all(int f) {
  for (unsigned p = 0; p < 0x10000; p++) {
    float x = f ? ein_bf16_to_f32((uint16_t)p) : ein_f16_to_f32((uint16_t)p);
    unsigned magnitude = p & 0x7FFF;
    if (!signbit(x) != !(p & 0x8000)) return 0;
    if (magnitude > top_of[f]    ? !isnan(x)
        : magnitude == top_of[f] ? !isinf(x)
                                 : fabs((double)x) != table[f][magnitude])
      return 0;
  }
  return 1;
}

static int round_trip_all(int f) {
  for (unsigned p = 0; p < 0x10000; p++) {
    float x = f ? ein_bf16_to_f32((uint16_t)p) : ein_f16_to_f32((uint16_t)p);
    unsigned a = f ? ein_f32_to_bf16(x) : ein_f32_to_f16(x);
    unsigned b = f ? ein_f64_to_bf16((double)x) : ein_f64_to_f16((double)x);
    int nan = (p & 0x7FFF) > top_of[f];
    if (nan ? (a & 0x7FFF) <= top_of[f] || (b & 0x7FFF) <= top_of[f] : a != p || b != p) return 0;
  }
  return 1;
}

static int same_f64(int f, double x) {
  unsigned met = f ? ein_f64_to_bf16(x) : ein_f64_to_f16(x);
  return met == nearest(f, x) && (f ? ein_f64_to_bf16(-x) : ein_f64_to_f16(-x)) == nearest(f, -x);
}

static int same_f32(int f, float x) {
  return (f ? ein_f32_to_bf16(x) : ein_f32_to_f16(x)) == nearest(f, (double)x);
}

/* Between each two neighbours: the middle, and the doubles and floats just beside it. */
static int midpoints(int f) {
  for (unsigned p = 0; p < top_of[f]; p++) {
    double middle = (table[f][p] + table[f][p + 1]) / 2;
    if (!same_f64(f, middle) || !same_f64(f, nextafter(middle, 0)) ||
        !same_f64(f, nextafter(middle, INFINITY)))
      return 0;
    float as_float = (float)middle; /* past the last finite one it may be infinite for bf16 */
    if (isfinite(as_float) &&
        !(same_f32(f, as_float) && same_f32(f, nextafterf(as_float, 0)) &&
          (isinf(nextafterf(as_float, INFINITY)) || same_f32(f, nextafterf(as_float, INFINITY)))))
      return 0;
  }
  return 1;
}

static int float_sweep(int f, uint32_t step) {
  for (uint64_t bits = 0; bits < 0x7F800000u; bits += step) {
    uint32_t b = (uint32_t)bits;
    float x;
    memcpy(&x, &b, sizeof x);
    if (!same_f32(f, x) || !same_f32(f, -x)) return 0;
  }
  return 1;
}

static int double_sweep(int f, uint64_t step) {
  for (uint64_t bits = 0; bits < 0x7FF0000000000000u; bits += step) {
    double x;
    memcpy(&x, &bits, sizeof x);
    if (!same_f64(f, x)) return 0;
  }
  return 1;
}

#ifdef __FLT16_MAX__
static int compiler_agrees(uint32_t step) {
  for (uint64_t bits = 0; bits <= 0xFFFFFFFFu; bits += step) {
    uint32_t b = (uint32_t)bits;
    float x;
    memcpy(&x, &b, sizeof x);
    _Float16 h = (_Float16)x;
    uint16_t want;
    memcpy(&want, &h, sizeof want);
    uint16_t met = ein_f32_to_f16(x);
    if (isnan(x) ? (met & 0x7FFF) <= 0x7C00 : met != want) return 0;
  }
  return 1;
}
#endif

int main(void) {
  static const char *names[2][6] = {
      {"f16: all widened", "f16: all back again", "f16: midpoints and beside", "f16: floats",
       "f16: doubles", "f16: NaN"},
      {"bf16: all widened", "bf16: all back again", "bf16: midpoints and beside", "bf16: floats",
       "bf16: doubles", "bf16: NaN"}};
  make_tables();
  for (int f = 0; f < 2; f++) {
    OK(widen_all(f), "%s", names[f][0]);
    OK(round_trip_all(f), "%s", names[f][1]);
    OK(midpoints(f), "%s", names[f][2]);
    OK(float_sweep(f, 4093), "%s", names[f][3]);
    OK(double_sweep(f, 0x1fffffff12347u), "%s", names[f][4]);
    double nan = (double)NAN;
    unsigned a = f ? ein_f64_to_bf16(nan) : ein_f64_to_f16(nan);
    unsigned b = f ? ein_f32_to_bf16(-(float)NAN) : ein_f32_to_f16(-(float)NAN);
    OK((a & 0x7FFF) > top_of[f] && (b & 0x7FFF) > top_of[f], "%s", names[f][5]);
  }
  uint32_t low_payload = 0x7F800001u;
  float signalling;
  memcpy(&signalling, &low_payload, sizeof signalling);
  OK((ein_f32_to_bf16(signalling) & 0x7FFF) > 0x7F80, "bf16: a NaN whose payload is cut off");
  /* 1 + 2^-11 is a tie; a little more in f64 must go up, and would not through f32. */
  OK(ein_f64_to_f16(1 + 0x1p-11 + 0x1p-40) == 0x3C01, "f64 to f16 rounds once");
  OK(ein_f64_to_bf16(1 + 0x1p-8 + 0x1p-40) == 0x3F81, "f64 to bf16 rounds once");
#ifdef __FLT16_MAX__
  OK(compiler_agrees(1021), "f16: the compiler's _Float16 agrees");
#else
  SKIP("this compiler has none", "f16: the compiler's _Float16 agrees");
#endif
  return DONE();
}
