/* SPDX-License-Identifier: MIT-0 */
/*
 * Functions of many floats at a time, in place. Emitted C calls them where the compiler's own vectors are
 * poorer than the machine's. The results equal those of ein_ops.h to the bit.
 */
#ifndef EIN_LANES_H
#define EIN_LANES_H

#include "ein_ops.h"

#if defined(__AVX512F__) && defined(__GNUC__)
typedef float ein_v16 __attribute__((vector_size(64)));
#define EIN_V16(c) ((ein_v16){0} + (c))
#if defined(__clang__)
#define EIN_V16_MIN(a, b) ((ein_v16)__builtin_ia32_minps512(a, b, 4))
#define EIN_V16_MAX(a, b) ((ein_v16)__builtin_ia32_maxps512(a, b, 4))
#else
#define EIN_V16_MIN(a, b) __builtin_ia32_minps512_mask(a, b, a, (uint16_t)-1, 4)
#define EIN_V16_MAX(a, b) __builtin_ia32_maxps512_mask(a, b, a, (uint16_t)-1, 4)
#endif
#define EIN_V16_FMA(a, b, c) ((ein_v16)__builtin_ia32_vfmaddps512_mask(a, b, c, (uint16_t)-1, 4))

/* Like ein_exp_f32, but one instruction multiplies by the power of two, which also rounds once. Arguments
 * outside -104..89 are clamped, with the same results. NaN is the second operand of each comparison, and so is
 * kept. */
EIN_INLINE ein_v16 ein_exp_v16(ein_v16 x) {
  const ein_v16 shift = EIN_V16(12582912.0f);
  x = EIN_V16_MAX(EIN_V16(-104.0f), EIN_V16_MIN(EIN_V16(89.0f), x));
  ein_v16 n = EIN_V16_FMA(x, EIN_V16(1.44269504088896341f), shift) - shift;
  ein_v16 r = EIN_V16_FMA(n, EIN_V16(-1.42860682030941723e-6f), EIN_V16_FMA(n, EIN_V16(-0.693145751953125f), x));
  ein_v16 p = EIN_V16(0.0013814540105360484f);
  p = EIN_V16_FMA(p, r, EIN_V16(0.00836874519559647f));
  p = EIN_V16_FMA(p, r, EIN_V16(0.04166839079137147f));
  p = EIN_V16_FMA(p, r, EIN_V16(0.16666520398318727f));
  p = EIN_V16_FMA(p, r, EIN_V16(0.4999999343207683f));
  p = EIN_V16_FMA(p, r, EIN_V16(1.0f));
  p = EIN_V16_FMA(p, r, EIN_V16(1.0f));
  return (ein_v16)__builtin_ia32_scalefps512_mask(p, n, p, (uint16_t)-1, 4);
}
#endif

/* ---- n values, n constant: 64 bytes or a multiple ---- */

/* Hides values in registers from the compiler, so that it copies a register that it still needs, and an
 * operation may overwrite its operand. */
#if defined(EIN_V16)
#define EIN_HIDDEN_LANES(n, T)                                    \
  EIN_INLINE void ein_hidden_lanes_##n(T *x, int count) {         \
    typedef T v __attribute__((vector_size(64)));                 \
    for (int k = 0; k < count; k += 64 / (int)sizeof(T)) {        \
      v y;                                                        \
      memcpy(&y, x + k, sizeof y);                                \
      __asm__ volatile("" : "+v"(y));                             \
      memcpy(x + k, &y, sizeof y);                                \
    }                                                             \
  }
#else
#define EIN_HIDDEN_LANES(n, T) \
  EIN_INLINE void ein_hidden_lanes_##n(T *x, int count) { (void)x, (void)count; }
#endif
EIN_HIDDEN_LANES(f32, float)
EIN_HIDDEN_LANES(f64, double)
#undef EIN_HIDDEN_LANES

EIN_INLINE void EIN_FUSES(ein_exp_lanes_f32, float *x, int n) {
#if defined(EIN_V16)
#if !defined(__clang__)
  _Pragma("GCC unroll 8")
#endif
  for (int k = 0; k < n; k += 16) {
    ein_v16 v;
    memcpy(&v, x + k, sizeof v);
    v = ein_exp_v16(v);
    memcpy(x + k, &v, sizeof v);
  }
#else
#if defined(__GNUC__) && !defined(__clang__)
  _Pragma("GCC unroll 1") /* gcc would fully unroll short loops */
#endif
  for (int k = 0; k < n; k++) x[k] = ein_exp_f32(x[k]);
#endif
}

/* Treats all angles as near, then corrects those that are not, which are few. */
#define EIN_ANGLE_LANES(name, n, T, abs)                                                           \
  EIN_INLINE void EIN_FUSES(ein_##name##_lanes_##n, T *x, int count) {                             \
    T y[64];                                                                                       \
    int far = 0;                                                                                   \
    for (int k = 0; k < count; k++) far |= !(abs(x[k]) <= (T)EIN_ANGLES);                          \
    for (int k = 0; k < count; k++) y[k] = ein_##name##_near_##n(x[k]);                            \
    if (far)                                                                                       \
      for (int k = 0; k < count; k++)                                                              \
        if (!(abs(x[k]) <= (T)EIN_ANGLES)) y[k] = ein_##name##_##n(x[k]);                          \
    memcpy(x, y, (size_t)count * sizeof *x);                                                       \
  }
EIN_ANGLE_LANES(sin, f32, float, fabsf)
EIN_ANGLE_LANES(cos, f32, float, fabsf)
EIN_ANGLE_LANES(tan, f32, float, fabsf)
EIN_ANGLE_LANES(sin, f64, double, fabs)
EIN_ANGLE_LANES(cos, f64, double, fabs)
EIN_ANGLE_LANES(tan, f64, double, fabs)
#undef EIN_ANGLE_LANES

#endif
