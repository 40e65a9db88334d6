/* SPDX-License-Identifier: MIT-0 */
/*
 * Sines and cosines. An angle up to 2^20 is less a whole number of quarter turns, exactly as far as the result tells, then there are
 * polynomials, of the least error relative to what is asked for; without a branch or a table, so that loops over them use vectors. Angles
 * beyond, infinities and NaN are the C library's, one by one: whoever has many asks for all at once whether there is one (ein_lanes.h).
 * ein_ops.h includes this.
 */
#ifndef EIN_ANGLE_H
#define EIN_ANGLE_H

#define EIN_ANGLES 1048576.0 /* up to here */

/* a, not negative, is what is given and so many quarter turns, whose lowest bits *quarter has. */
EIN_INLINE double ein_wide_turn(double a, uint64_t *quarter) {
  const double shift = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer, in the low bits */
  double biased = a * 0.6366197723675814 + shift, n = biased - shift;
  *quarter = ein_bits_f64(biased);
  return a - n * 1.5707963267341256 - n * 6.077100506506192e-11; /* the first has 33 bits, so n of them are exact */
}

EIN_INLINE double ein_wide_sin(double r) {
  double z = r * r;
  double p = 2.7181216136726973e-06;
  p = p * z - 0.00019839312268456948;
  p = p * z + 0.008333329304839631;
  p = p * z - 0.16666666640796976;
  return p * z * r + r;
}

EIN_INLINE double ein_wide_cos(double r) {
  double z = r * r;
  double p = 2.4383566875077814e-05;
  p = p * z - 0.0013886681643728133;
  p = p * z + 0.04166662035702802;
  p = p * z - 0.49999999694476144;
  return p * z + 1.0;
}

EIN_INLINE float ein_sin_near_f32(float x) {
  uint64_t quarter;
  double r = ein_wide_turn(fabs((double)x), &quarter), y = quarter & 1 ? ein_wide_cos(r) : ein_wide_sin(r);
  return (float)ein_f64_of_bits(ein_bits_f64(y) ^ (quarter & 2) << 62 ^ (ein_bits_f64((double)x) & UINT64_C(1) << 63));
}

EIN_INLINE float ein_cos_near_f32(float x) {
  uint64_t quarter;
  double r = ein_wide_turn(fabs((double)x), &quarter), y = quarter & 1 ? ein_wide_sin(r) : ein_wide_cos(r);
  return (float)ein_f64_of_bits(ein_bits_f64(y) ^ ((quarter ^ quarter << 1) & 2) << 62);
}

EIN_INLINE float ein_tan_near_f32(float x) {
  uint64_t quarter;
  double r = ein_wide_turn(fabs((double)x), &quarter), s = ein_wide_sin(r), c = ein_wide_cos(r);
  double y = (quarter & 1 ? -c : s) / (quarter & 1 ? s : c);
  return (float)(x < 0 ? -y : x == 0 ? (double)x : y);
}

/* ---- of doubles ---- */

/* The rest in two parts, *low far smaller. The quarter turn's first part is rounded once with what it is taken from, and leaves nothing
 * out; n of the second, of 32 bits, are exact. */
#if defined(EIN_FMA)
EIN_INLINE double ein_pair_turn(double a, double *low, uint64_t *quarter) {
  const double shift = 6755399441055744.0;
  double biased = a * 0.6366197723675814 + shift, n = biased - shift;
  double t = fma(-n, 1.5707963267948966, a), h = n * 6.12323399409214e-17, r = t - h, back = r - t;
  *low = fma(-n, 1.6446256936324258e-26, t - (r - back) - (h + back));
  *quarter = ein_bits_f64(biased);
  return r;
}

EIN_INLINE double ein_pair_sin(double r, double low) {
  double z = r * r, v = z * r;
  double p = 1.5896230247014639e-10;
  p = p * z - 2.505074776559758e-08;
  p = p * z + 2.7557313621413387e-06;
  p = p * z - 0.0001984126982958966;
  p = p * z + 0.008333333333322118;
  p = p * z - 0.1666666666666663;
  return r + fma(p, v, low - low * (0.5 * z));
}

EIN_INLINE double ein_pair_cos(double r, double low) {
  double z = r * r, half = 0.5 * z, w = 1.0 - half;
  double p = -1.1358536426112617e-11;
  p = p * z + 2.087570083995415e-09;
  p = p * z - 2.7557314179279985e-07;
  p = p * z + 2.4801587288851636e-05;
  p = p * z - 0.0013888888888873056;
  p = p * z + 0.041666666666666595;
  return w + (1.0 - w - half + fma(p * z, z, -r * low));
}

EIN_INLINE double ein_sin_near_f64(double x) {
  uint64_t quarter;
  double low, r = ein_pair_turn(fabs(x), &low, &quarter), y = quarter & 1 ? ein_pair_cos(r, low) : ein_pair_sin(r, low);
  return ein_f64_of_bits(ein_bits_f64(y) ^ (quarter & 2) << 62 ^ (ein_bits_f64(x) & UINT64_C(1) << 63));
}

EIN_INLINE double ein_cos_near_f64(double x) {
  uint64_t quarter;
  double low, r = ein_pair_turn(fabs(x), &low, &quarter), y = quarter & 1 ? ein_pair_sin(r, low) : ein_pair_cos(r, low);
  return ein_f64_of_bits(ein_bits_f64(y) ^ ((quarter ^ quarter << 1) & 2) << 62);
}
#else
EIN_INLINE double ein_sin_near_f64(double x) { return sin(x); }
EIN_INLINE double ein_cos_near_f64(double x) { return cos(x); }
#endif

/* ---- of any angle ---- */

EIN_INLINE float ein_sin_f32(float x) { return fabsf(x) <= (float)EIN_ANGLES ? ein_sin_near_f32(x) : sinf(x); }
EIN_INLINE float ein_cos_f32(float x) { return fabsf(x) <= (float)EIN_ANGLES ? ein_cos_near_f32(x) : cosf(x); }
EIN_INLINE float ein_tan_f32(float x) { return fabsf(x) <= (float)EIN_ANGLES ? ein_tan_near_f32(x) : (float)tan((double)x); }
EIN_INLINE double ein_sin_f64(double x) { return fabs(x) <= EIN_ANGLES ? ein_sin_near_f64(x) : sin(x); }
EIN_INLINE double ein_cos_f64(double x) { return fabs(x) <= EIN_ANGLES ? ein_cos_near_f64(x) : cos(x); }

#endif
