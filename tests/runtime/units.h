/*
 * How far a function of the runtime's own is from the truth, in units in the last place: over each 997th of all floats,
 * and over doubles of each exponent.
 */
#ifndef UNITS_H
#define UNITS_H

#include "math/ein_ops.h"
#include "../tap.h"

static double units_off(float got, double want) {
  int exponent;
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : 1e9;
  if (isinf((float)want) || isinf(got)) return (float)want == got ? 0 : 1e9;
  frexp(want, &exponent);
  double unit = ldexp(1, exponent - 24);
  return fabs((double)got - want) / (unit < 0x1p-149 ? 0x1p-149 : unit);
}

/* Each 997th of all floats (under AddressSanitizer each 9973rd), both zeros, infinities and NaN among them. */
static void within_units(const char *name, float (*f)(float), double (*truth)(double), double most) {
  const uint64_t step = TRIES(10) < 10 ? 9973 : 997;
  double worst = 0;
  float at = 0;
  for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += bits % 0x800000 ? step : 1) {
    float x = ein_f32_of_bits((uint32_t)bits);
    double off = units_off(f(x), truth((double)x));
    if (off > worst) worst = off, at = x;
  }
  OK(worst <= most, "%s is at most %g units off: %.3f, at %a", name, most, worst, (double)at);
}

/* Units in the last place of a double; long doubles have more places on some machines only. */
static double units_off_f64(double got, long double want) {
  int exponent;
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : 1e9;
  if (isinf((double)want) || isinf(got)) return (double)want == got ? 0 : 1e9;
  frexpl(want, &exponent);
  long double unit = ldexpl(1, exponent - 53);
  return (double)(fabsl((long double)got - want) / (unit < 0x1p-1074L ? 0x1p-1074L : unit));
}

static const double edge_f64[] = {0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 0x1.6A09E667F3BCCp-1, 0x1.6A09E667F3BCDp-1,
    0x1.6A09E667F3BCCp0, 0x1.6A09E667F3BCDp0, 0x1p-1074, -0x1p-1074, 0x1.FFFFFFFFFFFFFp-1023, 0x1p-1022, -0x1p-1022,
    0x1.FFFFFFFFFFFFFp1023, -0x1.FFFFFFFFFFFFFp1023, 0x1.62E42FEFA39EFp9, 0x1.62E42FEFA39F0p9, -0x1.74910D52D3051p9,
    -0x1.74910D52D3052p9, -0x1.6232BDD7ABCD2p9, -746.0, -745.9, -1e300, 1e300, 20.0, 20.5, 0.55, 0.5499999999999999,
    1 + 0x1p-52, 1 - 0x1p-53};

/* Edges, infinities and NaN; and of each exponent, of both signs, some: most where there is something between 0 and 1.
 */
static void within_units_f64(const char *name, double (*f)(double), long double (*truth)(long double), double most) {
  double worst = 0, at = 0;
  uint64_t u = 1;
#define TRY(value)                                                                                 \
  do {                                                                                             \
    double x = (value), off = units_off_f64(f(x), truth((long double)x));                          \
    if (off > worst) worst = off, at = x;                                                          \
  } while (0)
  for (size_t k = 0; k < sizeof edge_f64 / sizeof *edge_f64; k++) TRY(edge_f64[k]);
  TRY((double)INFINITY);
  TRY(-(double)INFINITY);
  TRY((double)NAN);
  TRY(-(double)NAN);
  for (uint64_t exponent = 0; exponent < 2048; exponent++)
    for (int k = 0; k < (exponent > 1003 && exponent < 1034 ? TRIES(40000) : TRIES(100)); k++) {
      u = u * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      TRY(ein_f64_of_bits(u >> 12 | exponent << 52 | (uint64_t)(k & 1) << 63));
    }
#undef TRY
  OK(worst <= most, "%s of doubles is at most %g units off: %.3f, at %a", name, most, worst, at);
}

#endif
