/* SPDX-License-Identifier: MIT-0 */
/*
 * Powers, and functions of floats that are computed in double and rounded once. There are no branches or
 * tables, so loops over these functions vectorize whatever the compiler's library offers. The polynomials are
 * Chebyshev fits. The functions of floats have an error of little more than half a unit in the last place:
 * tests/runtime/test_math.c. Included by ein_ops.h.
 */
#ifndef EIN_MATH_H
#define EIN_MATH_H

/* ---- doubles as precise as floats need ---- */

/* 2^x is *scale * (result + 1), for x from -1000 to 1000. */
EIN_INLINE double EIN_FUSES(ein_wide_exp2m1, double x, double *scale) {
  const double shift = 6755399441056767.0; /* 1.5 * 2^52 + 1023: adding it rounds to an integer, in the low bits */
  double biased = x + shift, r = x - (biased - shift);
  double p = 1.325080551750225e-06;
  p = ein_fma_f64(p, r, 1.5303700711365693e-05);
  p = ein_fma_f64(p, r, 0.00015403475186530786);
  p = ein_fma_f64(p, r, 0.0013333478473685416);
  p = ein_fma_f64(p, r, 0.00961812913523614);
  p = ein_fma_f64(p, r, 0.055504109063258665);
  p = ein_fma_f64(p, r, 0.24022650695888503);
  p = ein_fma_f64(p, r, 0.6931471805568324);
  *scale = ein_f64_of_bits(ein_bits_f64(biased) << 52);
  return p * r;
}

/* x, clamped to the range in which powers of 2 matter to floats; NaN stays. */
EIN_INLINE double ein_wide_clamp(double x) {
  x = x < -300.0 ? -300.0 : x;
  return x > 300.0 ? 300.0 : x;
}

EIN_INLINE double EIN_FUSES(ein_wide_exp2, double x) {
  double scale, y = ein_wide_exp2m1(ein_wide_clamp(x), &scale);
  return ein_fma_f64(scale, y, scale);
}

/* log(1 + f), for 1 + f from sqrt(1/2) to sqrt(2). */
EIN_INLINE double EIN_FUSES(ein_wide_log1p, double f) {
  double s = f / (f + 2.0), z = s * s;
  double p = 0.196082353787879;
  p = ein_fma_f64(p, z, 0.2217424066085398);
  p = ein_fma_f64(p, z, 0.28572166357462264);
  p = ein_fma_f64(p, z, 0.39999994889888124);
  p = ein_fma_f64(p, z, 0.6666666667958537);
  p = ein_fma_f64(p, z, 1.9999999999999472);
  return p * s;
}

/* Splits a normal number: x is (1 + result) * 2^*e. */
EIN_INLINE double ein_wide_split(double x, double *e) {
  uint64_t bits = ein_bits_f64(x) + UINT64_C(0x00095F619980C433); /* the bits of 1 less those of sqrt(1/2) */
  *e = ein_f64_of_bits(bits >> 52 | UINT64_C(0x4330000000000000)) - 4503599627371519.0;
  return ein_f64_of_bits((bits & UINT64_C(0xFFFFFFFFFFFFF)) + UINT64_C(0x3FE6A09E667F3BCD)) - 1.0;
}

EIN_INLINE double EIN_FUSES(ein_wide_log2, double x) {
  double e, f = ein_wide_split(x, &e);
  return ein_fma_f64(ein_wide_log1p(f), 1.4426950408889634, e);
}

/* Returns y, the logarithm of x, corrected where x has none. */
EIN_INLINE float ein_log_ends(double x, double y) {
  y = x > 0 ? y : x == 0 ? -(double)INFINITY : (double)NAN;
  return (float)(x > 3.5e38 ? x : y);
}

/* ---- exponentials and logarithms ---- */

EIN_INLINE float EIN_FUSES(ein_exp2_f32, float x) { return (float)ein_wide_exp2((double)x); }

EIN_INLINE float EIN_FUSES(ein_expm1_f32, float x) {
  double scale, y = ein_wide_exp2m1(ein_wide_clamp((double)x * 1.4426950408889634), &scale);
  return (float)(ein_fma_f64(scale, y, scale - 1.0));
}

EIN_INLINE float EIN_FUSES(ein_log2_f32, float x) { return ein_log_ends((double)x, ein_wide_log2((double)x)); }

EIN_INLINE float EIN_FUSES(ein_log10_f32, float x) {
  double e, y = ein_wide_log1p(ein_wide_split((double)x, &e));
  return ein_log_ends((double)x, ein_fma_f64(y, 0.4342944819032518, e * 0.3010299956639812));
}

/* Near 0, where 1 + x loses digits of x, the polynomial takes x itself. */
EIN_INLINE float EIN_FUSES(ein_log1p_f32, float x) {
  double e, one = 1.0 + (double)x, f = ein_wide_split(one, &e);
  double y = ein_fma_f64(e, 0.6931471805599453, ein_wide_log1p(e == 0 ? (double)x : f));
  return ein_log_ends(one, y);
}

EIN_INLINE float EIN_FUSES(ein_sinh_f32, float x) {
  double scale, y = ein_wide_exp2m1(ein_wide_clamp(fabs((double)x) * 1.4426950408889634), &scale);
  double less = ein_fma_f64(scale, y, scale - 1.0); /* exp |x| - 1 */
  less = 0.5 * (less + less / (less + 1.0));
  return (float)(x < 0 ? -less : less);
}

EIN_INLINE float EIN_FUSES(ein_cosh_f32, float x) {
  double y = ein_wide_exp2((double)x * 1.4426950408889634);
  return (float)(0.5 * (y + 1.0 / y));
}

EIN_INLINE float EIN_FUSES(ein_cbrt_f32, float x) {
  double a = fabs((double)x), y = ein_wide_exp2(ein_wide_log2(a) * 0.3333333333333333);
  y = ((a > 0) & (a < 3.5e38)) ? y : a;
  return (float)(x < 0 ? -y : y);
}

/* Near 0, a polynomial in x^2; elsewhere 1 - 2^-p. */
EIN_INLINE float EIN_FUSES(ein_wide_erf_f32, float x) {
  double a = fabs((double)x), z = a * a;
  a = a > 4.0 ? 4.0 : a;
  double p = -9.667044571486996e-06;
  p = ein_fma_f64(p, z, 0.00011265959025606609);
  p = ein_fma_f64(p, z, -0.0008484080405535107);
  p = ein_fma_f64(p, z, 0.005221031807858023);
  p = ein_fma_f64(p, z, -0.026865430727670243);
  p = ein_fma_f64(p, z, 0.11283782495236845);
  p = ein_fma_f64(p, z, -0.3761263846802871);
  p = ein_fma_f64(p, z, 1.1283791670615435);
  double q = 1.093949767436081e-07;
  q = ein_fma_f64(q, a, -4.792177886445941e-06);
  q = ein_fma_f64(q, a, 8.987752529165308e-05);
  q = ein_fma_f64(q, a, -0.0009894531814404325);
  q = ein_fma_f64(q, a, 0.007307173804162151);
  q = ein_fma_f64(q, a, -0.03909634786669486);
  q = ein_fma_f64(q, a, 0.16021852282824903);
  q = ein_fma_f64(q, a, 0.910272807150235);
  q = ein_fma_f64(q, a, 1.6312194233675206);
  q = ein_fma_f64(q, a, -0.0006006360977670374);
  double y = a < 1.0 ? p * a : 1.0 - ein_wide_exp2(-q);
  return (float)(x < 0 ? -y : y);
}
EIN_INLINE float EIN_FUSES(ein_erf_f32, float x) { return ein_fused ? ein_erf_fused_f32(x) : ein_wide_erf_f32(x); }

/* Up to 1.05, x plus x times a polynomial in x^2; beyond, 1 - exp(-x^2) times a polynomial in 1 / (1 + x). Both
 * polynomials are expanded around the middle of their range. */
EIN_INLINE double EIN_FUSES(ein_erf_fused_f64, double x) {
  double a = fabs(x), b = a > 6.0 ? 6.0 : a, square = b * b, z = square - 0.25, t = 1.0 / (1.0 + b) - 0.25;
  double p = 5.672930088123989e-11;
  p = fma(p, z, -9.49827067980679e-10);
  p = fma(p, z, 1.1767859672798779e-08);
  p = fma(p, z, -1.3055345428583621e-07);
  p = fma(p, z, 1.3166315565912192e-06);
  p = fma(p, z, -1.1975210725425266e-05);
  p = fma(p, z, 9.711112271101146e-05);
  p = fma(p, z, -0.0006922292295469991);
  p = fma(p, z, 0.004260723762541205);
  p = fma(p, z, -0.022140744383002064);
  p = fma(p, z, 0.09452048120844507);
  p = fma(p, z, -0.32443435338129656);
  p = fma(p, z, 0.04099975562609307);
  double q = 0.43185536971584965;
  q = fma(q, t, -3.4519292227047065);
  q = fma(q, t, 6.945397715753006);
  q = fma(q, t, -6.768224531827152);
  q = fma(q, t, 3.157547635641483);
  q = fma(q, t, 0.3193420863136002);
  q = fma(q, t, -1.3637657828603418);
  q = fma(q, t, 0.49013406028268947);
  q = fma(q, t, 0.5154591342745357);
  q = fma(q, t, -0.5099477630821923);
  q = fma(q, t, -0.2641441256437893);
  q = fma(q, t, 0.5865743767097685);
  q = fma(q, t, 0.8699561601113622);
  q = fma(q, t, 0.17900115118139695);
  q = fma(-q, fma(b, b, -square), q); /* minus the rounding error of the square */
  double y = a > 1.05 ? fma(-q, ein_exp_f64(-square), 1.0) : fma(a, p, a);
  return copysign(y, x);
}

EIN_INLINE double EIN_FUSES(ein_erf_f64, double x) { return ein_fused ? ein_erf_fused_f64(x) : erf(x); }

/* ---- angles ---- */

/* asin for 0 to 0.5. */
EIN_INLINE double EIN_FUSES(ein_wide_asin, double x) {
  double z = x * x;
  double p = 0.03295759470084881;
  p = ein_fma_f64(p, z, 0.0019156113431105127);
  p = ein_fma_f64(p, z, 0.02068132717169167);
  p = ein_fma_f64(p, z, 0.02185574259984348);
  p = ein_fma_f64(p, z, 0.03042811901907943);
  p = ein_fma_f64(p, z, 0.04464056469220037);
  p = ein_fma_f64(p, z, 0.07500005655821883);
  p = ein_fma_f64(p, z, 0.16666666613278705);
  p = ein_fma_f64(p, z, 1.000000000000825);
  return p * x;
}

EIN_INLINE float EIN_FUSES(ein_asin_f32, float x) {
  double a = fabs((double)x), far = sqrt(ein_fma_f64(-0.5, a, 0.5)), y = ein_wide_asin(a > 0.5 ? far : a);
  y = a > 0.5 ? 1.5707963267948966 - (y + y) : y;
  return (float)(x < 0 ? -y : y);
}

EIN_INLINE float EIN_FUSES(ein_acos_f32, float x) {
  double a = fabs((double)x), far = sqrt(ein_fma_f64(-0.5, a, 0.5)), y = ein_wide_asin(a > 0.5 ? far : a);
  double near = x < 0 ? 1.5707963267948966 + y : 1.5707963267948966 - y, twice = y + y;
  twice = x < 0 ? 3.141592653589793 - twice : twice;
  return (float)(a > 0.5 ? twice : near);
}

/* atan for numbers up to sqrt(2) - 1. */
EIN_INLINE double EIN_FUSES(ein_wide_atan, double q) {
  double z = q * q;
  double p = 0.04707257411522469;
  p = ein_fma_f64(p, z, -0.08456149941251835);
  p = ein_fma_f64(p, z, 0.11040481662468073);
  p = ein_fma_f64(p, z, -0.1428158816410649);
  p = ein_fma_f64(p, z, 0.19999883834670074);
  p = ein_fma_f64(p, z, -0.3333333209732565);
  p = ein_fma_f64(p, z, 0.999999999978393);
  return p * q;
}

/* The angle of a point: with q = small / large, atan q, or an eighth of a turn more if the point is near the
 * diagonal. */
EIN_INLINE double EIN_FUSES(ein_wide_atan2, double y, double x) {
  double a = fabs(x), b = fabs(y), small = a < b ? a : b, large = a < b ? b : a;
  int diagonal = (small > large * 0.4142135623730951) | (small == (double)INFINITY);
  double q = (diagonal ? small - large : small) / (diagonal ? small + large : large);
  q = large == 0 ? 0 : small == (double)INFINITY ? 0 : q; /* two infinities lie on the diagonal */
  double p = ein_wide_atan(q) + (diagonal ? 0.7853981633974483 : 0.0);
  p = a < b ? 1.5707963267948966 - p : p;
  p = copysign(1.0, x) < 0 ? 3.141592653589793 - p : p;
  return ((a != a) | (b != b)) ? (double)NAN : copysign(p, y);
}

EIN_INLINE float EIN_FUSES(ein_atan_f32, float x) {
  double a = fabs((double)x), over = a > 0.4142135623730951 ? a - 1.0 : a,
         under = a > 0.4142135623730951 ? a + 1.0 : 1.0;
  double from = a > 0.4142135623730951 ? 0.7853981633974483 : 0.0;
  over = a > 2.414213562373095 ? -1.0 : over;
  under = a > 2.414213562373095 ? a : under;
  from = a > 2.414213562373095 ? 1.5707963267948966 : from;
  double y = ein_wide_atan(over / under) + from;
  return (float)(x < 0 ? -y : y);
}
EIN_INLINE float EIN_FUSES(ein_atan2_f32, float y, float x) { return (float)ein_wide_atan2((double)y, (double)x); }

EIN_INLINE float EIN_FUSES(ein_hypot_f32, float x, float y) {
  double a = fabs((double)x), b = fabs((double)y), far = (double)INFINITY;
  return (float)(((a == far) | (b == far)) ? far : sqrt(ein_fma_f64(a, a, b * b)));
}

/*
 * The remainder with the divisor's sign, exact. Each step subtracts b as many times as a double can express,
 * out of up to 2^277 times. What remains has at most one or two bits more than b, so it is exact, and some 2^52
 * times smaller.
 */
EIN_INLINE float ein_mod_fused_f32(float a, float b) {
  double x = (double)a, r = x, d = (double)b, one = 1.0 / d;
  r = fma(-trunc(r * one), d, r);
  r = fma(-trunc(r * one), d, r);
  r = fma(-trunc(r * one), d, r);
  r = fma(-trunc(r * one), d, r);
  r = fma(-trunc(r * one), d, r);
  r = fma(-trunc(r * one), d, r);
  r = fma(-trunc(r * one), d, r);
  r = fabs(r) >= fabs(d) ? r - copysign(d, r) : r;
  double m = ((r < 0) & (d > 0)) ? r + d : r;
  m = ((r > 0) & (d < 0)) ? r + d : m;
  m = r == 0 ? copysign(0.0, x) : m;
  m = fabs(d) > 3.5e38 ? ((x < 0) & (d > 0)) | ((x > 0) & (d < 0)) ? d : x : m;
  m = ((fabs(x) > 3.5e38) | (d == 0)) ? (double)NAN : m;
  return (float)(d != d ? d : m);
}

EIN_INLINE float EIN_FUSES(ein_mod_f32, float a, float b) { return ein_fused ? ein_mod_fused_f32(a, b) : ein_mod_lib_f32(a, b); }

EIN_INLINE double ein_mod_f64(double a, double b) { return ein_mod_lib_f64(a, b); }

/* ---- powers ---- */

/* Floats, to any power. */
EIN_INLINE float EIN_FUSES(ein_pow_any_f32, float x, float y) {
  double a = fabs((double)x), b = (double)y, r = ein_wide_exp2(b * ein_wide_log2(a));
  int whole = floor(b) == b, odd = whole & (b - 2.0 * floor(b * 0.5) == 1.0);
  double end = b < 0 ? (double)INFINITY : 0.0;
  r = a == 0 ? end : a == (double)INFINITY ? 1.0 / end : a == 1.0 ? 1.0 : r;
  r = odd ? copysign(r, (double)x) : r;
  r = ((x < 0) & (a < (double)INFINITY) & !whole) ? (double)NAN : r;
  r = ((x != x) | (y != y)) ? (double)NAN : r;
  return (float)(((y == 0) | (x == 1.0f)) ? 1.0 : r);
}

/* Whether y is a constant multiple of 1/2 that is not too large. */
#if defined(__GNUC__)
#define EIN_IS_HALVES(y) (__builtin_constant_p(y) && (y) >= -32 && (y) <= 32 && (double)(int)((y)*2) == (double)(y)*2)
#else
#define EIN_IS_HALVES(y) 0
#endif

/* x^(twice / 2) for a constant `twice`, or its inverse if `under`: products, and perhaps a square root. */
EIN_INLINE double ein_wide_halves(double x, int twice, int under) {
  double base = !(twice & 1)   ? x
      : x == -(double)INFINITY ? (double)INFINITY
                               : x + 0.0,
         p = twice & 1 ? sqrt(base) : 1.0;
  if (twice & 2) p *= base;
  base *= base;
  if (twice & 4) p *= base;
  base *= base;
  if (twice & 8) p *= base;
  base *= base;
  if (twice & 16) p *= base;
  base *= base;
  if (twice & 32) p *= base;
  base *= base;
  if (twice & 64) p *= base;
  return under ? 1.0 / p : p;
}

EIN_INLINE float EIN_FUSES(ein_pow_f32, float x, float y) {
  return EIN_IS_HALVES(y) ? (float)ein_wide_halves((double)x, (int)(y < 0 ? -y * 2 : y * 2), y < 0)
                          : ein_pow_any_f32(x, y);
}

/* For doubles, each factor carries its rounding error, so the result is rounded about once: p *= b. */
EIN_INLINE void ein_pair_mul(double *p, double *rest, double b, double b_rest) {
  double q = *p * b;
  *rest = fma(*p, b, -q) + (*p * b_rest + *rest * b);
  *p = q;
}

EIN_INLINE double ein_pow_halves(double x, int twice, int under) {
  uint64_t bits = ein_bits_f64(x), field = bits >> 52 & 2047;
  field = (field - 1 + (field == 0)) | 1; /* an even exponent, biased by 1023; without it, x is from 1 to 4, or
                                           * subnormal */
  double e = ein_f64_of_bits(field | UINT64_C(0x4330000000000000)) - 4503599627371519.0;
  double base = x * ein_f64_of_bits((2046 - field) << 52), base_rest = 0.0, p = 1.0, rest = 0.0;
  if (twice & 1) {
    p = sqrt(base);
    rest = fma(-p, p, base) * (0.5 / p);
  }
  if (twice & 2) ein_pair_mul(&p, &rest, base, base_rest);
  ein_pair_mul(&base, &base_rest, base, base_rest);
  if (twice & 4) ein_pair_mul(&p, &rest, base, base_rest);
  ein_pair_mul(&base, &base_rest, base, base_rest);
  if (twice & 8) ein_pair_mul(&p, &rest, base, base_rest);
  ein_pair_mul(&base, &base_rest, base, base_rest);
  if (twice & 16) ein_pair_mul(&p, &rest, base, base_rest);
  ein_pair_mul(&base, &base_rest, base, base_rest);
  if (twice & 32) ein_pair_mul(&p, &rest, base, base_rest);
  ein_pair_mul(&base, &base_rest, base, base_rest);
  if (twice & 64) ein_pair_mul(&p, &rest, base, base_rest);
  double y = p + rest, to = e * 0.5 * (under ? -twice : twice);
  if (under) { /* the inverse and its rounding error */
    y = 1.0 / p;
    y -= y * (fma(y, p, -1.0) + y * rest);
  }
  to = to > 2044.0 ? 2044.0 : to < -2044.0 ? -2044.0 : to;
  const double shift = 6755399441056767.0; /* 1.5 * 2^52 + 1023 */
  double half = to * 0.5 + shift, other = to - (half - shift) + shift;
  y = y * ein_f64_of_bits(ein_bits_f64(half) << 52) * ein_f64_of_bits(ein_bits_f64(other) << 52);
  const double least = twice > 2 ? 2.2250738585072014e-308 : 5e-324; /* below it, such a power is 0 or infinite */
  return ((fabs(x) < least) | (x - x != 0)) ? ein_wide_halves(x, twice, under) : y; /* also for infinities and NaN */
}

/* log(1 + f) and its rounding error: 2 atanh s, as s (2 + 2 z / 3 + z^2 q), where z = s^2 and s = f / (2 + f). */
EIN_INLINE double ein_pair_log1p(double f, double *rest) {
  double t = f + 2.0, one = 1.0 / t, s = f * one, s_rest = (fma(-s, t, f) - s * (f - (t - 2.0))) * one;
  double z = s * s, z_rest = fma(s, s, -z) + 2.0 * s * s_rest;
  double q = 0.11723170160799075;
  q = fma(q, z, 0.11706237148816372);
  q = fma(q, z, 0.13334804663624336);
  q = fma(q, z, 0.15384594963074136);
  q = fma(q, z, 0.181818183353876);
  q = fma(q, z, 0.22222222221655907);
  q = fma(q, z, 0.28571428571429364);
  q = q * z;
  double d = q + 0.4, d_rest = 0.4 - d + q - 2.2204460492503132e-17, w = z * d, w_rest = fma(z, d, -w) + z * d_rest;
  double c = w + 0.6666666666666666, c_rest = 0.6666666666666666 - c + w + (w_rest + 3.700743415417188e-17);
  double u = z * c, u_rest = fma(z, c, -u) + (z * c_rest + z_rest * c), v = u + 2.0, y = s * v;
  *rest = fma(s, v, -y) + (s * (2.0 - v + u + u_rest) + s_rest * v);
  return y;
}

/* log x, for finite x > 0. */
EIN_INLINE double ein_pair_log(double x, double *rest) {
  int tiny = x < 2.2250738585072014e-308;
  double e, l_rest, f = ein_wide_split(tiny ? x * 18014398509481984.0 : x, &e), l = ein_pair_log1p(f, &l_rest);
  e = tiny ? e - 54.0 : e;
  double large = e * 0.6931471805598903, h = large + l;
  *rest = large - h + l + (l_rest + e * 5.497923018708371e-14);
  return h;
}

/* exp(p + p_rest) - 1 is (result + *rest) * *half * *other, plus *half * *other - 1. *half and *other are
 * powers of 2. */
EIN_INLINE double ein_pair_expm1(double p, double p_rest, double *rest, double *half, double *other) {
  const double shift = 6755399441057790.0; /* 1.5 * 2^52 + 2046 */
  p_rest = fabs(p) < 800.0 ? p_rest : 0.0;
  p = p > 800.0 ? 800.0 : p < -800.0 ? -800.0 : p;
  double biased = fma(p, 1.4426950408889634, shift), n = biased - shift;
  double first = fma(-n, 0.6931471805598903, p), less = n * 5.497923018708371e-14, r = first - less;
  double q = 2.09147553258932e-09;
  q = fma(q, r, 2.5105312729622103e-08);
  q = fma(q, r, 2.755727347871858e-07);
  q = fma(q, r, 2.755725517000089e-06);
  q = fma(q, r, 2.480158732567746e-05);
  q = fma(q, r, 0.0001984126987500228);
  q = fma(q, r, 0.0013888888888883711);
  q = fma(q, r, 0.008333333333326084);
  q = fma(q, r, 0.04166666666666667);
  q = fma(q, r, 0.1666666666666667);
  q = fma(q, r, 0.5);
  q = q * (r * r) - less;
  uint64_t bits = ein_bits_f64(biased), down = bits >> 1;
  *half = ein_f64_of_bits(down << 52);
  *other = ein_f64_of_bits((bits - down) << 52);
  *rest = q + p_rest * (q + first + 1.0);
  return first;
}

EIN_INLINE double ein_pair_exp(double p, double p_rest, double *half, double *other) {
  double rest, first = ein_pair_expm1(p, p_rest, &rest, half, other), one = first + 1.0;
  return one + (rest + (1.0 - one + first));
}

/* Any power: the logarithm in double-double, times y, then exp. */
EIN_INLINE double ein_pow_any_f64(double x, double y) {
  double a = fabs(x), far = (double)INFINITY;
  double h_rest, h = ein_pair_log(a, &h_rest);
  double p = y * h, p_rest = fma(y, h, -p) + y * h_rest;
  double half, other, r = ein_pair_exp(p, p_rest, &half, &other) * half * other;
  int whole = floor(y) == y, odd = whole & (y - 2.0 * floor(y * 0.5) == 1.0);
  double end = y < 0 ? far : 0.0, no_end = y < 0 ? 0.0 : far;
  r = a == 0 ? end : a == far ? no_end : a == 1.0 ? 1.0 : r;
  r = odd ? copysign(r, x) : r;
  r = ((x < 0) & (x > -far) & !whole) ? (double)NAN : r;
  r = ((x != x) | (y != y)) ? (double)NAN : r;
  return ((y == 0) | (x == 1.0)) ? 1.0 : r;
}

EIN_INLINE double ein_pow_fused_f64(double x, double y) {
  return EIN_IS_HALVES(y) ? ein_pow_halves(x, (int)(y < 0 ? -y * 2 : y * 2), y < 0) : ein_pow_any_f64(x, y);
}

/* Returns y, a logarithm of x, corrected where x has none. */
EIN_INLINE double ein_log_ends_f64(double x, double y) {
  y = x > 0 ? y : x == 0 ? -(double)INFINITY : (double)NAN;
  return x == (double)INFINITY ? x : y;
}

/* (h + h_rest) (c + c_rest) */
EIN_INLINE double ein_pair_times(double h, double h_rest, double c, double c_rest) {
  double p = h * c;
  return p + (fma(h, c, -p) + (h * c_rest + h_rest * c));
}

EIN_INLINE double ein_log2_fused_f64(double x) {
  double rest, h = ein_pair_log(x, &rest);
  return ein_log_ends_f64(x, ein_pair_times(h, rest, 1.4426950408889634, 2.0355273740931033e-17));
}

EIN_INLINE double ein_log10_fused_f64(double x) {
  double rest, h = ein_pair_log(x, &rest);
  return ein_log_ends_f64(x, ein_pair_times(h, rest, 0.4342944819032518, 1.098319650216765e-17));
}

EIN_INLINE double ein_log1p_fused_f64(double x) {
  double one = 1.0 + x, most = one - 1.0, lost = (1.0 - (one - most)) + (x - most); /* x's digits that the sum loses */
  double rest, h = ein_pair_log(one, &rest);
  return ein_log_ends_f64(one, h + (rest + lost / one));
}

EIN_INLINE double ein_exp2_fused_f64(double x) {
  x = x > 1100.0 ? 1100.0 : x < -1100.0 ? -1100.0 : x;
  double half, other, p = x * 0.6931471805599453, rest = fma(x, 0.6931471805599453, -p) + x * 2.3190468138462996e-17;
  return ein_pair_exp(p, rest, &half, &other) * half * other;
}

/* 2^n (1 + y) - 1 as (2^half y + (2^half - 2^-other)) 2^other. */
EIN_INLINE double ein_expm1_fused_f64(double x) {
  double half, other, rest, first = ein_pair_expm1(x, 0.0, &rest, &half, &other);
  double one = ein_f64_of_bits((UINT64_C(2046) << 52) - ein_bits_f64(other)), less = half - one, more = half * first;
  double sum = less + more, b = sum - less, part = half - less - one,
         lost = (less - (sum - b)) + (more - b) + (less < 0 ? 0.0 : part);
  return (sum + (lost + half * rest)) * other;
}

EIN_INLINE double ein_cosh_fused_f64(double x) {
  double half, other, m = ein_pair_exp(fabs(x), 0.0, &half, &other), inverse = 0.5 / (m * half * other);
  return m * (0.5 * half) * other + inverse;
}

EIN_INLINE double ein_sinh_fused_f64(double x) {
  double half, other, a = fabs(x), m = ein_pair_exp(a, 0.0, &half, &other), inverse = 0.5 / (m * half * other);
  double less = ein_expm1_fused_f64(a), near = less - 0.5 * less * (less / (less + 1.0));
  double y = a > 1.0 ? m * (0.5 * half) * other - inverse : near;
  return x < 0 ? -y : y;
}

EIN_INLINE double ein_cbrt_fused_f64(double x) {
  double a = fabs(x), h_rest, h = ein_pair_log(a, &h_rest), p = h * 0.3333333333333333;
  double half, other, rest = fma(h, 0.3333333333333333, -p) + (h * 1.850371707708594e-17 + h_rest * 0.3333333333333333);
  double y = ein_pair_exp(p, rest, &half, &other) * half * other;
  y = ((a > 0) & (a < (double)INFINITY)) ? y : a;
  return x < 0 ? -y : y;
}

/* The square root, corrected by the rounding error of its square. Very large or small arguments are scaled by
 * powers of 2 to avoid overflow and underflow. */
EIN_INLINE double ein_hypot_fused_f64(double x, double y) {
  double a = fabs(x), b = fabs(y), far = (double)INFINITY, large = a < b ? b : a, small = a < b ? a : b;
  double scale = large > 1e150 ? 2.409919865102884e-181 : large < 1e-120 ? 4.149515568880993e+180 : 1.0;
  double u = large * scale, v = small * scale, uu = u * u, vv = v * v, h = sqrt(uu + vv), hh = h * h;
  double lacks = (uu - hh + vv) + (fma(u, u, -uu) + fma(v, v, -vv) - fma(h, h, -hh));
  h = h > 0 ? h + lacks / (h + h) : h;
  h = h * (large > 1e150 ? 4.149515568880993e+180 : large < 1e-120 ? 2.409919865102884e-181 : 1.0);
  h = ((a != a) | (b != b)) ? (double)NAN : h;
  return ((a == far) | (b == far)) ? far : h;
}

EIN_INLINE double EIN_FUSES(ein_exp2_f64, double x) { return ein_fused ? ein_exp2_fused_f64(x) : exp2(x); }
EIN_INLINE double EIN_FUSES(ein_expm1_f64, double x) { return ein_fused ? ein_expm1_fused_f64(x) : expm1(x); }
EIN_INLINE double EIN_FUSES(ein_log2_f64, double x) { return ein_fused ? ein_log2_fused_f64(x) : log2(x); }
EIN_INLINE double EIN_FUSES(ein_log10_f64, double x) { return ein_fused ? ein_log10_fused_f64(x) : log10(x); }
EIN_INLINE double EIN_FUSES(ein_log1p_f64, double x) { return ein_fused ? ein_log1p_fused_f64(x) : log1p(x); }
EIN_INLINE double EIN_FUSES(ein_cbrt_f64, double x) { return ein_fused ? ein_cbrt_fused_f64(x) : cbrt(x); }
EIN_INLINE double EIN_FUSES(ein_sinh_f64, double x) { return ein_fused ? ein_sinh_fused_f64(x) : sinh(x); }
EIN_INLINE double EIN_FUSES(ein_cosh_f64, double x) { return ein_fused ? ein_cosh_fused_f64(x) : cosh(x); }
EIN_INLINE double EIN_FUSES(ein_pow_f64, double x, double y) { return ein_fused ? ein_pow_fused_f64(x, y) : pow(x, y); }
EIN_INLINE double EIN_FUSES(ein_hypot_f64, double x, double y) { return ein_fused ? ein_hypot_fused_f64(x, y) : hypot(x, y); }

#endif
