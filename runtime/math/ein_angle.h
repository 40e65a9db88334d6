/* SPDX-License-Identifier: MIT-0 */
/*
 * Sines, cosines and tangents, and the angles of doubles. An angle up to 2^20 is reduced by a whole number of
 * quarter turns, exactly as far as the result can show, and then evaluated by minimax polynomials of the
 * relative error. There are no branches or tables, so loops over these functions vectorize. Larger angles,
 * infinities and NaN go to the C library one by one; callers with many angles check all of them at once
 * (ein_lanes.h). Included by ein_ops.h.
 */
#ifndef EIN_ANGLE_H
#define EIN_ANGLE_H

#define EIN_ANGLES 1048576.0 /* the largest angle reduced here */

/* y, negated if the second bit of quarter is set, and again if x is negative. */
EIN_INLINE double ein_signed(double y, uint64_t quarter, double x) {
  return ein_f64_of_bits(ein_bits_f64(y) ^ (quarter & 2) << 62 ^ (ein_bits_f64(x) & UINT64_C(1) << 63));
}

/* Reduces a >= 0: a is the result plus a number of quarter turns, whose lowest bits are set in *quarter. */
EIN_INLINE double EIN_FUSES(ein_wide_turn, double a, uint64_t *quarter) {
  const double shift = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer, in the low bits */
  double biased = ein_fma_f64(a, 0.6366197723675814, shift), n = biased - shift;
  *quarter = ein_bits_f64(biased);
  /* the first has 33 bits, so its product with n is exact */
  return ein_fma_f64(-n, 6.077100506506192e-11, ein_fma_f64(-n, 1.5707963267341256, a));
}

EIN_INLINE double EIN_FUSES(ein_wide_sin, double r) {
  double z = r * r;
  double p = 2.7181216136726973e-06;
  p = ein_fma_f64(p, z, -0.00019839312268456948);
  p = ein_fma_f64(p, z, 0.008333329304839631);
  p = ein_fma_f64(p, z, -0.16666666640796976);
  return ein_fma_f64(p * z, r, r);
}

EIN_INLINE double EIN_FUSES(ein_wide_cos, double r) {
  double z = r * r;
  double p = 2.4383566875077814e-05;
  p = ein_fma_f64(p, z, -0.0013886681643728133);
  p = ein_fma_f64(p, z, 0.04166662035702802);
  p = ein_fma_f64(p, z, -0.49999999694476144);
  return ein_fma_f64(p, z, 1.0);
}

/* The sine of a >= 0 plus `ahead` quarter turns, with the sign of x applied. */
EIN_INLINE double EIN_FUSES(ein_wide_wave, double a, uint64_t ahead, double x) {
  uint64_t quarter;
  double r = ein_wide_turn(a, &quarter);
  quarter += ahead;
  return ein_signed(quarter & 1 ? ein_wide_cos(r) : ein_wide_sin(r), quarter, x);
}

EIN_INLINE float EIN_FUSES(ein_sin_near_f32, float x) { return (float)ein_wide_wave(fabs((double)x), 0, (double)x); }
EIN_INLINE float EIN_FUSES(ein_cos_near_f32, float x) { return (float)ein_wide_wave(fabs((double)x), 1, 1.0); }

EIN_INLINE float EIN_FUSES(ein_tan_near_f32, float x) {
  uint64_t quarter;
  double r = ein_wide_turn(fabs((double)x), &quarter), s = ein_wide_sin(r), c = ein_wide_cos(r);
  double y = (quarter & 1 ? -c : s) / (quarter & 1 ? s : c);
  return (float)(x < 0 ? -y : x == 0 ? (double)x : y);
}

/* ---- doubles ---- */

/* The reduced angle in two parts, of which *low is far smaller. The first part of the quarter turn is
 * subtracted with one rounding and loses nothing; n times the second part, of 32 bits, is exact. */
EIN_INLINE double ein_pair_turn(double a, double *low, uint64_t *quarter) {
  const double shift = 6755399441055744.0;
  double biased = fma(a, 0.6366197723675814, shift), n = biased - shift;
  double t = fma(-n, 1.5707963267948966, a), h = n * 6.12323399409214e-17, r = t - h, back = r - t;
  *low = fma(-n, 1.6446256936324258e-26, t - (r - back) - (h + back));
  *quarter = ein_bits_f64(biased);
  return r;
}

/* Sine and cosine of a pair. *rest is the result's rounding error. */
EIN_INLINE double ein_pair_sin(double r, double low, double *rest) {
  double z = r * r, v = z * r;
  double p = 1.5896230247014639e-10;
  p = fma(p, z, -2.505074776559758e-08);
  p = fma(p, z, 2.7557313621413387e-06);
  p = fma(p, z, -0.0001984126982958966);
  p = fma(p, z, 0.008333333333322118);
  p = fma(p, z, -0.1666666666666663);
  double t = fma(p, v, low - low * (0.5 * z)), y = r + t;
  *rest = t - (y - r);
  return y;
}

EIN_INLINE double ein_pair_cos(double r, double low, double *rest) {
  double z = r * r, half = 0.5 * z, w = 1.0 - half;
  double p = -1.1358536426112617e-11;
  p = fma(p, z, 2.087570083995415e-09);
  p = fma(p, z, -2.7557314179279985e-07);
  p = fma(p, z, 2.4801587288851636e-05);
  p = fma(p, z, -0.0013888888888873056);
  p = fma(p, z, 0.041666666666666595);
  double t = 1.0 - w - half + fma(p * z, z, -r * low), y = w + t;
  *rest = t - (y - w);
  return y;
}

EIN_INLINE double ein_pair_wave(double a, uint64_t ahead, double x) {
  uint64_t quarter;
  double low, rest, r = ein_pair_turn(a, &low, &quarter);
  quarter += ahead;
  return ein_signed(quarter & 1 ? ein_pair_cos(r, low, &rest) : ein_pair_sin(r, low, &rest), quarter, x);
}

EIN_INLINE double ein_sin_near_fused_f64(double x) { return ein_pair_wave(fabs(x), 0, x); }
EIN_INLINE double ein_cos_near_fused_f64(double x) { return ein_pair_wave(fabs(x), 1, 1.0); }

EIN_INLINE double ein_tan_near_fused_f64(double x) {
  uint64_t quarter;
  double low, s_rest, c_rest, r = ein_pair_turn(fabs(x), &low, &quarter);
  double s = ein_pair_sin(r, low, &s_rest), c = ein_pair_cos(r, low, &c_rest);
  double over = quarter & 1 ? -c : s, over_rest = quarter & 1 ? -c_rest : s_rest;
  double under = quarter & 1 ? s : c, under_rest = quarter & 1 ? s_rest : c_rest;
  double inverse = 1.0 / under, q = over * inverse;
  q += (fma(-q, under, over) + (over_rest - q * under_rest)) * inverse;
  return x < 0 ? -q : x == 0 ? x : q;
}

EIN_INLINE double EIN_FUSES(ein_sin_near_f64, double x) { return ein_fused ? ein_sin_near_fused_f64(x) : sin(x); }
EIN_INLINE double EIN_FUSES(ein_cos_near_f64, double x) { return ein_fused ? ein_cos_near_fused_f64(x) : cos(x); }
EIN_INLINE double EIN_FUSES(ein_tan_near_f64, double x) { return ein_fused ? ein_tan_near_fused_f64(x) : tan(x); }

/* ---- inverse functions ---- */

/* `eighths` eighths of a turn plus atan(over / under), for ratios up to sqrt(2) - 1. Each _rest is the rounding
 * error of its value. */
EIN_INLINE double ein_pair_atan(double eighths, double over, double over_rest, double under, double under_rest) {
  double from = eighths * 0.7853981633974483,
         from_rest = fma(eighths, 0.7853981633974483, -from) + eighths * 3.061616997868383e-17;
  double inverse = 1.0 / under, q = over * inverse,
         q_rest = (fma(-q, under, over) + (over_rest - q * under_rest)) * inverse;
  double z = q * q;
  double p = -0.017905003966270414;
  p = fma(p, z, 0.038062107318348914);
  p = fma(p, z, -0.05039189143725384);
  p = fma(p, z, 0.0584785899061083);
  p = fma(p, z, -0.06663099165597017);
  p = fma(p, z, 0.07692059714198725);
  p = fma(p, z, -0.09090897725084505);
  p = fma(p, z, 0.11111110782150234);
  p = fma(p, z, -0.14285714280166512);
  p = fma(p, z, 0.19999999999953247);
  p = fma(p, z, -0.333333333333332);
  double sum = from + q, lost = eighths == 0 ? 0.0 : q - (sum - from);
  return sum + (lost + from_rest + fma(p * z, q, q_rest - q_rest * z));
}

/* Selects by a bit mask. Given a condition, compilers would try to vectorize all that depends on it, and give
 * up. */
EIN_INLINE uint64_t ein_mask(int yes) { return (uint64_t)0 - (uint64_t)yes; }
EIN_INLINE double ein_either(uint64_t mask, double a, double b) {
  return ein_f64_of_bits((ein_bits_f64(a) & mask) | (ein_bits_f64(b) & ~mask));
}

/* The angle of the point (a, b), or of (-a, b) if the sign bit of `back` is set. Neither a nor b is so small or
 * large that its inverse is infinite. */
EIN_INLINE double ein_pair_angle(double b, double b_rest, double a, double a_rest, uint64_t back) {
  uint64_t steep = ein_mask(a < b);
  double s = ein_either(steep, a, b), s_rest = ein_either(steep, a_rest, b_rest), l = ein_either(steep, b, a),
         l_rest = ein_either(steep, b_rest, a_rest);
  double less = s - l, less_rest = s - (less + l) + (s_rest - l_rest), more = s + l,
         more_rest = s - (more - l) + (s_rest + l_rest);
  uint64_t diagonal = ein_mask(s > l * 0.4142135623730951), opposite = (steep ^ back) & UINT64_C(1) << 63;
  double over = ein_either(diagonal, less, s), over_rest = ein_either(diagonal, less_rest, s_rest);
  double under = ein_either(diagonal, more, l), under_rest = ein_either(diagonal, more_rest, l_rest);
  double eighths = ein_either(diagonal, 1.0, 0.0);
  eighths = ein_either(steep, 2.0 - eighths, eighths);
  eighths = ein_either(back, 4.0 - eighths, eighths);
  over = ein_f64_of_bits(ein_bits_f64(over) ^ opposite);
  over_rest = ein_f64_of_bits(ein_bits_f64(over_rest) ^ opposite);
  return ein_pair_atan(eighths, over, over_rest, under, under_rest);
}

EIN_INLINE double ein_atan_fused_f64(double x) {
  double a = fabs(x), b = a > 1e18 ? 1e18 : a; /* beyond, the result is the same */
  return copysign(ein_pair_angle(b, 0.0, 1.0, 0.0, 0), x);
}

EIN_INLINE double ein_atan2_fused_f64(double y, double x) {
  double a = fabs(x), b = fabs(y), large = a < b ? b : a, end = (double)INFINITY;
  /* powers of 2 */
  double up = large < 1e-270 ? 1.2676506002282294e+30 : 1.0, scale = large > 1e298 ? 7.888609052210118e-31 : up;
  uint64_t far = ein_mask(large == end);
  double a_near = ein_either(ein_mask(large == 0), 1.0, a * scale), a_far = ein_either(ein_mask(a == end), 1.0, 0.0);
  double b_far = ein_either(ein_mask(b == end), 1.0, 0.0);
  a = ein_either(far, a_far, a_near);
  b = ein_either(far, b_far, b * scale);
  double angle = ein_pair_angle(b, 0.0, a, 0.0, ein_mask((int)(ein_bits_f64(x) >> 63)));
  return ein_either(ein_mask((x != x) | (y != y)), (double)NAN, copysign(angle, y));
}

/* The other leg of a right triangle with leg a and hypotenuse 1. */
EIN_INLINE double ein_pair_beside(double a, double *rest) {
  double u = 1.0 - a, u_rest = 1.0 - u - a, v = 1.0 + a, v_rest = a - (v - 1.0);
  double w = u * v, w_rest = fma(u, v, -w) + (u * v_rest + u_rest * v), c = sqrt(w);
  *rest = w > 0 ? (fma(-c, c, w) + w_rest) * (0.5 / c) : 0.0;
  return c;
}

EIN_INLINE double ein_asin_fused_f64(double x) {
  double a = fabs(x), rest, c = ein_pair_beside(a, &rest);
  return copysign(ein_pair_angle(a, 0.0, c, rest, 0), x);
}

EIN_INLINE double ein_acos_fused_f64(double x) {
  double a = fabs(x), rest, c = ein_pair_beside(a, &rest);
  return ein_pair_angle(c, rest, a, 0.0, ein_mask(x < 0));
}

EIN_INLINE double EIN_FUSES(ein_atan_f64, double x) { return ein_fused ? ein_atan_fused_f64(x) : atan(x); }
EIN_INLINE double EIN_FUSES(ein_atan2_f64, double y, double x) { return ein_fused ? ein_atan2_fused_f64(y, x) : atan2(y, x); }
EIN_INLINE double EIN_FUSES(ein_asin_f64, double x) { return ein_fused ? ein_asin_fused_f64(x) : asin(x); }
EIN_INLINE double EIN_FUSES(ein_acos_f64, double x) { return ein_fused ? ein_acos_fused_f64(x) : acos(x); }

/* ---- for any angle ---- */

EIN_INLINE float EIN_FUSES(ein_sin_f32, float x) { return fabsf(x) <= (float)EIN_ANGLES ? ein_sin_near_f32(x) : sinf(x); }
EIN_INLINE float EIN_FUSES(ein_cos_f32, float x) { return fabsf(x) <= (float)EIN_ANGLES ? ein_cos_near_f32(x) : cosf(x); }
EIN_INLINE float EIN_FUSES(ein_tan_f32, float x) {
  return fabsf(x) <= (float)EIN_ANGLES ? ein_tan_near_f32(x) : (float)tan((double)x);
}
EIN_INLINE double EIN_FUSES(ein_sin_f64, double x) { return fabs(x) <= EIN_ANGLES ? ein_sin_near_f64(x) : sin(x); }
EIN_INLINE double EIN_FUSES(ein_cos_f64, double x) { return fabs(x) <= EIN_ANGLES ? ein_cos_near_f64(x) : cos(x); }
EIN_INLINE double EIN_FUSES(ein_tan_f64, double x) { return fabs(x) <= EIN_ANGLES ? ein_tan_near_f64(x) : tan(x); }

#endif
