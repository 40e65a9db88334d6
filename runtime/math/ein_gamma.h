/* SPDX-License-Identifier: MIT-0 */
/*
 * The first two derivatives of lgamma: digamma and trigamma. From 10 on they are asymptotic series; below, a point goes
 * up by 10 through f(x) = f(x + 1) - 1/x and its derivative. digamma has a root near 1.46: below 10 it is computed as
 * the difference from its value there, whose terms all have one sign and the factor x - root, so no digits cancel. What
 * is negative is reflected. Included by ein_ops.h.
 */
#ifndef EIN_GAMMA_H
#define EIN_GAMMA_H

/* For x >= 0 (and -0). The coefficients of the series are Bernoulli's numbers B(2k) / 2k; those of its difference from
 * the root's are their quotients by x^2 - (root + 10)^-2. */
EIN_INLINE double EIN_FUSES(ein_digamma_right, double x) {
  double y, w, p, d, e, s;
  if (x >= 10.0) {
    w = 1.0 / (x * x);
    p = -0.4432598039215686;
    p = p * w + 0.08333333333333333;
    p = p * w - 0.021092796092796094;
    p = p * w + 0.007575757575757576;
    p = p * w - 0.004166666666666667;
    p = p * w + 0.003968253968253968;
    p = p * w - 0.008333333333333333;
    p = p * w + 0.08333333333333333;
    return ein_log_f64(x) - (0.5 / x + p * w);
  }
  d = (x - 1.4616321449683622) - 9.549995429965697e-17; /* the root, in two parts */
  y = 1.0 / (x + 10.0);
  w = y * y;
  p = -0.4432598039215686;
  p = p * w + 0.07995917531000585;
  p = p * w - 0.020484135234031097;
  p = p * w + 0.007419829362462916;
  p = p * w - 0.004110185847621985;
  p = p * w + 0.003936966636462488;
  p = p * w - 0.00830336457134213;
  p = p * w + 0.08327012691592048;
  e = y * 0.08724760900994352; /* 1 / (root + 10) */
  s = e * (0.5 + (y + 0.08724760900994352) * p);
  s += 0.0955873793059108 / (x + 9.0); /* 1 / (root + 9), and so on */
  s += 0.1056900104208547 / (x + 8.0);
  s += 0.11818050972525927 / (x + 7.0);
  s += 0.1340189358804474 / (x + 6.0);
  s += 0.15475966095945196 / (x + 5.0);
  s += 0.18309545085735404 / (x + 4.0);
  s += 0.22413322468275587 / (x + 3.0);
  s += 0.2888810705821371 / (x + 2.0);
  s += 0.40623453916297975 / (x + 1.0);
  s += 0.6841666717870696 / x;
  return ein_log1p_f64(d * 0.08724760900994352) + d * s;
}

EIN_INLINE double ein_trigamma_right(double x) {
  double y = x < 10.0 ? 1.0 / (x + 10.0) : 1.0 / x, w = y * y, p = -7.092156862745098, s;
  p = p * w + 1.1666666666666667;
  p = p * w - 0.2531135531135531;
  p = p * w + 0.07575757575757576;
  p = p * w - 0.03333333333333333;
  p = p * w + 0.023809523809523808;
  p = p * w - 0.03333333333333333;
  p = p * w + 0.16666666666666666;
  s = y + w * (0.5 + p * y);
  for (double k = 8.0; k >= 0.0 && x < 10.0; k -= 2.0) /* in pairs, for fewer roundings */
    s += 1.0 / ((x + k + 1.0) * (x + k + 1.0)) + 1.0 / ((x + k) * (x + k));
  return s;
}

/* An angle in half turns, without the whole ones. */
EIN_INLINE double ein_half_turns(double x) { return 3.141592653589793 * (x - rint(x)); }

EIN_INLINE double EIN_FUSES(ein_digamma_f64, double x) {
  if (!(x < 0.0)) return ein_digamma_right(x);
  if (x == floor(x)) return (double)NAN;
  return ein_digamma_right(1.0 - x) - 3.141592653589793 / ein_tan_f64(ein_half_turns(x));
}

EIN_INLINE double EIN_FUSES(ein_trigamma_f64, double x) {
  double s;
  if (!(x < 0.0)) return ein_trigamma_right(x);
  s = ein_sin_f64(ein_half_turns(x));
  return 9.869604401089358 / (s * s) - ein_trigamma_right(1.0 - x);
}

EIN_INLINE float EIN_FUSES(ein_digamma_f32, float x) { return (float)ein_digamma_f64((double)x); }
EIN_INLINE float EIN_FUSES(ein_trigamma_f32, float x) { return (float)ein_trigamma_f64((double)x); }

#endif
