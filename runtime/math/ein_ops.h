/* SPDX-License-Identifier: MIT-0 */
/*
 * The language's scalar operations, as emitted C calls them: those in compiler/expr/ops.def, and conversions
 * between dtypes. All are inline, without branches where that lets compilers vectorize, and without undefined
 * behaviour for any argument. f16 and bf16 are computed in float, and rounded.
 */
#ifndef EIN_OPS_H
#define EIN_OPS_H

/* A product and a sum are never contracted, whatever the compiler's flags. */
#if defined(EIN_STATIC) && defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(EIN_STATIC) && defined(__GNUC__) && !defined(__CUDACC__) /* nvcc has a flag instead: -fmad=false */
#pragma GCC optimize("fp-contract=off")
#endif

#include "ein_fused.h"
#include "ein_num.h"

#if !defined(__CUDACC_RTC__)
#include <math.h>
#include <string.h>
#endif

#if defined(EIN_INLINE) /* defined by cuda/device.h */
#elif defined(__GNUC__)
#define EIN_INLINE static inline __attribute__((always_inline, unused))
#else
#define EIN_INLINE static inline
#endif

/* Prefetch: into the nearest cache, or only into a farther one. */
#if defined(__GNUC__)
#define EIN_FETCH(at) __builtin_prefetch(at)
#define EIN_FETCH_SECOND(at) __builtin_prefetch(at, 0, 2)
#else
#define EIN_FETCH(at) ((void)(at))
#define EIN_FETCH_SECOND(at) ((void)(at))
#endif

/* ---- random numbers (ein_rng.c) that neighbours compute side by side ---- */

/* Ten rounds of Philox4x32 (Salmon, Moraes, Dror and Shaw, 2011) on a block. */
EIN_INLINE void ein_philox(uint32_t c[4], uint32_t k0, uint32_t k1) {
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = (uint64_t)0xD2511F53u * c[0];
    uint64_t p1 = (uint64_t)0xCD9E8D57u * c[2];
    c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
    c[1] = (uint32_t)p1;
    c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
    c[3] = (uint32_t)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

/* Stream 0; the bits above the low 8 fit an i32, which vectors convert. */
EIN_INLINE float ein_uniform_f32(int64_t seed, int64_t index) {
  const uint64_t s = (uint64_t)seed, i = (uint64_t)index;
  uint32_t c[4] = {(uint32_t)i, (uint32_t)(i >> 32), 0, 0};
  ein_philox(c, (uint32_t)s, (uint32_t)(s >> 32));
  return (float)(int32_t)(c[0] >> 8) * (1.0f / 16777216);
}

/* Whether the compiler knows that it is a power of two: quotients and remainders are then shifts and masks, which vectors
 * have. */
#if defined(__GNUC__) && !defined(__CUDACC__)
#define EIN_IS_POWER(b) (__builtin_constant_p(b) && (b) > 0 && ((b) & ((b) - 1)) == 0)
#define EIN_POWER_OF(b) __builtin_ctzll((unsigned long long)(b))
#else
#define EIN_IS_POWER(b) 0
#define EIN_POWER_OF(b) 0
#endif

/* ---- integers: two's complement; // floors, % has the divisor's sign; division by 0 gives 0 ----
 *
 * W is the signed type in which the operation is done, U its unsigned type, which wraps. W may be wider than T:
 * the lower bits are the same. */

#define EIN_INTEGER(n, T, W, U)                                                                    \
  EIN_INLINE T ein_add_##n(T a, T b) { return (T)((U)a + (U)b); }                                  \
  EIN_INLINE T ein_sub_##n(T a, T b) { return (T)((U)a - (U)b); }                                  \
  EIN_INLINE T ein_mul_##n(T a, T b) { return (T)((U)a * (U)b); }                                  \
  EIN_INLINE T ein_neg_##n(T a) { return (T)((U)0 - (U)a); }                                       \
  EIN_INLINE T ein_max_##n(T a, T b) { return a > b ? a : b; }                                     \
  EIN_INLINE T ein_min_##n(T a, T b) { return a < b ? a : b; }                                     \
  EIN_INLINE T ein_abs_##n(T a) {                                                                  \
    W x = a;                                                                                       \
    return (T)(x < 0 ? (U)0 - (U)x : (U)x);                                                        \
  }                                                                                                \
  EIN_INLINE T ein_sign_##n(T a) {                                                                 \
    W x = a;                                                                                       \
    return (T)((x > 0) - (x < 0));                                                                 \
  }                                                                                                \
  EIN_INLINE T ein_idiv_##n(T a, T b) {                                                            \
    W x = a, y = b, d = ((y == 0) | (y == -1)) ? 1 : y;                                            \
    if (EIN_IS_POWER(b)) return (T)(x >> EIN_POWER_OF(b));                                         \
    W q = x / d, m = x % d;                                                                        \
    q -= (m != 0) & ((m ^ d) < 0);                                                                 \
    return (T)(y == 0 ? 0 : y == -1 ? (U)0 - (U)x : (U)q);                                         \
  }                                                                                                \
  EIN_INLINE T ein_mod_##n(T a, T b) {                                                             \
    W x = a, y = b, d = ((y == 0) | (y == -1)) ? 1 : y;                                            \
    if (EIN_IS_POWER(b)) return (T)(x & (y - 1));                                                  \
    W m = x % d;                                                                                   \
    return (T)(m + (((m != 0) & ((m ^ d) < 0)) ? d : 0));                                          \
  }                                                                                                \
  EIN_INLINE T ein_pow_##n(T a, T b) {                                                             \
    W e = b;                                                                                       \
    U base = (U)a, power = 1;                                                                      \
    if (e < 0) return 0;                                                                           \
    for (; e != 0; e >>= 1, base *= base) power *= e & 1 ? base : 1;                               \
    return (T)power;                                                                               \
  }                                                                                                \
  EIN_INLINE T ein_two_to_##n(T b) { /* 2 ^ b */                                                   \
    U e = (U)b;                                                                                    \
    return (T)(e < 8 * sizeof(U) ? (U)1 << (e & (8 * sizeof(U) - 1)) : 0);                         \
  }

EIN_INTEGER(i64, int64_t, int64_t, uint64_t)
EIN_INTEGER(i32, int32_t, int32_t, uint32_t)
EIN_INTEGER(i16, int16_t, int32_t, uint32_t)
EIN_INTEGER(i8, int8_t, int32_t, uint32_t)
EIN_INTEGER(u8, uint8_t, int32_t, uint32_t)
#undef EIN_INTEGER

/* ---- for schedules ---- */

/* Returns x, opaque to the compiler. */
EIN_INLINE int64_t ein_hidden_i64(int64_t x) {
#if defined(__GNUC__) && !defined(EIN_CUDA)
  __asm__("" : "+r"(x));
#endif
  return x;
}
EIN_INLINE float ein_hidden_f32(float x) {
  volatile float y = x;
  return y;
}
EIN_INLINE double ein_hidden_f64(double x) {
  volatile double y = x;
  return y;
}
/* Maps floats to integers of the same order, for floats that are not NaN; -0 is less than 0. */
EIN_INLINE int32_t ein_order_f32(float x) {
  int32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits ^ ((bits >> 31) & INT32_MAX);
}
EIN_INLINE float ein_unorder_i32(int32_t bits) {
  float x;
  bits ^= (bits >> 31) & INT32_MAX;
  memcpy(&x, &bits, sizeof x);
  return x;
}
EIN_INLINE int64_t ein_order_f64(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits ^ ((bits >> 63) & INT64_MAX);
}
EIN_INLINE double ein_unorder_i64(int64_t bits) {
  double x;
  bits ^= (bits >> 63) & INT64_MAX;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* ---- reals ---- */

/* Fused multiply-add, in one instruction where the machine has it; else a product and a sum. Only this code and
 * kernels that call it fuse, and compilers do not fuse elsewhere (see above), so all compilers produce the same
 * bits. */
EIN_INLINE float EIN_FUSES(ein_fma_f32, float a, float b, float c) { return ein_fused ? fmaf(a, b, c) : a * b + c; }
EIN_INLINE double EIN_FUSES(ein_fma_f64, double a, double b, double c) { return ein_fused ? fma(a, b, c) : a * b + c; }

#if defined(__STRICT_ANSI__) && !defined(__cplusplus)
double lgamma_r(double x, int *sign); /* which <math.h> may not declare; lgamma writes a global */
float lgammaf_r(float x, int *sign);
#endif

/*
 * max and min return NaN if an argument is NaN, fmax and fmin the other argument; of 0 and -0, the second.
 * log(exp a + exp b): infinity minus infinity is NaN, so equal arguments are a separate case.
 */
#if defined(__CUDACC__)
#define EIN_LGAMMA(f, a, sign) ((void)(sign), f(a)) /* a device's writes no global */
#else
#define EIN_LGAMMA(f, a, sign) f##_r(a, sign)
#endif
#define EIN_REAL(n, T, f, ln2)                                                                     \
  EIN_INLINE T ein_max_##n(T a, T b) {                                                             \
    T m = b > a ? b : a; /* a if either is NaN; so only b is tested, and a chain of these is short */ \
    return b == b ? m : b;                                                                         \
  }                                                                                                \
  EIN_INLINE T ein_min_##n(T a, T b) {                                                             \
    T m = b < a ? b : a;                                                                           \
    return b == b ? m : b;                                                                         \
  }                                                                                                \
  EIN_INLINE T ein_fmax_##n(T a, T b) { return ((a > b) | (b != b)) ? a : b; }                     \
  EIN_INLINE T ein_fmin_##n(T a, T b) { return ((a < b) | (b != b)) ? a : b; }                     \
  EIN_INLINE T ein_sign_##n(T a) { return a > 0 ? 1 : a < 0 ? -1 : a; }                            \
  EIN_INLINE T ein_mod_lib_##n(T a, T b) {                                                         \
    T m = fmod##f(a, b);                                                                           \
    return ((m != 0) & ((m < 0) != (b < 0))) ? m + b : m;                                          \
  }                                                                                                \
  EIN_INLINE T ein_lse_##n(T a, T b) {                                                             \
    return a == b ? a + ln2 : ein_max_##n(a, b) + log1p##f(exp##f(-fabs##f(a - b)));               \
  }                                                                                                \
  EIN_INLINE T ein_lgamma_##n(T a) {                                                               \
    int sign = 0;                                                                                  \
    return EIN_LGAMMA(lgamma##f, a, &sign);                                                        \
  }

EIN_REAL(f64, double, , 0.69314718055994530942)
EIN_REAL(f32, float, f, 0.69314718055994530942f)
#undef EIN_REAL

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(EIN_EMULATED) /* an instruction that orders 0 above -0 */
static inline __device__ float ein_larger_f32(float a, float b) {
  float m;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b));
  return m;
}
static inline __device__ float ein_smaller_f32(float a, float b) {
  float m;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b));
  return m;
}
#define ein_max_f32(a, b) ein_larger_f32(a, b)
#define ein_min_f32(a, b) ein_smaller_f32(a, b)
#endif

/* Selects one of two floats, without a branch around computations that only one of them needs. */
#if !defined(EIN_BELOW)
#define EIN_BELOW(x, limit, below, above) ((x) < (limit) ? (below) : (above))
#endif

EIN_INLINE uint32_t ein_bits_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

EIN_INLINE float ein_f32_of_bits(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/*
 * exp and log of floats, without branches or tables, so that loops over them vectorize whatever the compiler's
 * library offers. exp: x = n ln 2 + r; a polynomial in r; then 2^n in two steps, so that overflow gives
 * infinity and underflow loses only the last bits. log: x = m 2^e with m near 1; a polynomial in m - 1. The
 * polynomials are Chebyshev fits of (exp r - 1 - r) / r^2 and (log(1 + f) - f + f^2 / 2) / f^3; with fused
 * multiply-add, exp has a minimax polynomial of the relative error with one term less. The error is below one
 * unit in the last place (tanh: below two), also for doubles: tests/runtime/test_ops.c.
 */
EIN_INLINE float ein_exp_reduced(float r) {
  float p = 0.0001989198131397769f;
  p = p * r + 0.0013934541928270264f;
  p = p * r + 0.008333310024225292f;
  p = p * r + 0.04166645680967788f;
  p = p * r + 0.16666666682534356f;
  p = p * r + 0.5000000014286223f;
  return p * r * r + r + 1.0f;
}

/* The polynomial times root: a shorter chain of operations that wait for each other. */
EIN_INLINE float ein_exp_reduced_fused(float r, float root) {
  float p = 0.0013814540105360484f;
  p = fmaf(p, r, 0.00836874519559647f);
  p = fmaf(p, r, 0.04166839079137147f);
  p = fmaf(p, r, 0.16666520398318727f);
  p = fmaf(p, r, 0.4999999343207683f);
  return fmaf(fmaf(p, r, 1.0f), r * root, root);
}

EIN_INLINE float EIN_FUSES(ein_exp_f32, float x) {
  const float shift = 12583166.0f; /* 1.5 * 2^23 + 254: adding it rounds to an integer, in the low bits */
  uint32_t bits = ein_bits_f32(ein_fma_f32(x, 1.44269504088896341f, shift)); /* n + 254 >= 104: halved as unsigned */
  bits = bits < 0x4B4000FEu + 129u ? bits : 0x4B4000FEu + 129u; /* clamped: beyond, r and the polynomial grow */
  float n = ein_f32_of_bits(bits) - shift;
  float r = ein_fma_f32(-n, 1.42860682030941723e-6f, ein_fma_f32(-n, 0.693145751953125f, x));
  uint32_t half = bits >> 1; /* 2^(n / 2), as a biased exponent (127), and the rest of 2^n */
  float root = ein_f32_of_bits(half << 23), rest = ein_f32_of_bits((bits - half) << 23);
  float y = ein_fused ? ein_exp_reduced_fused(r, root) : ein_exp_reduced(r) * root;
  y *= rest;
  return x < -104.0f ? 0.0f : y; /* last, because compilers would propagate a constant through all of it */
}

EIN_INLINE float EIN_FUSES(ein_log_f32, float x) {
  int tiny = x < 1.17549435e-38f; /* subnormal, zero or negative */
  float big = tiny ? x * 8388608.0f : x;
  uint32_t bits = ein_bits_f32(big) - 0x3F3504F3u; /* relative to sqrt(1/2) */
  float e = (float)((int32_t)bits >> 23) - (tiny ? 23.0f : 0.0f);
  float f = ein_f32_of_bits((bits & 0x7FFFFFu) + 0x3F3504F3u) - 1.0f;
  float p = 0.06971611471451178f;
  p = ein_fma_f32(p, f, -0.11479733846637635f);
  p = ein_fma_f32(p, f, 0.1168541992348674f);
  p = ein_fma_f32(p, f, -0.12425687331451106f);
  p = ein_fma_f32(p, f, 0.1424905764569748f);
  p = ein_fma_f32(p, f, -0.16667802319501254f);
  p = ein_fma_f32(p, f, 0.200007157488921f);
  p = ein_fma_f32(p, f, -0.24999996957950882f);
  p = ein_fma_f32(p, f, 0.33333331180030046f);
  float square = f * f;
  float y = ein_fma_f32(p * f, square, e * 1.42860682030941723e-6f);
  y = ein_fma_f32(e, 0.693145751953125f, ein_fma_f32(-0.5f, square, y) + f);
  y = x == 0 ? -ein_f32_of_bits(0x7F800000u) : x < 0 ? ein_f32_of_bits(0x7FC00000u) : y;
  return ((x > 3.40282347e+38f) | (x != x)) ? x : y;
}

/* Near 0, a polynomial in x^2; elsewhere 1 - 2 / (exp 2x + 1). */
EIN_INLINE float EIN_FUSES(ein_tanh_f32, float x) {
  float a = x < 0 ? -x : x, z = x * x;
  float p = -0.006094554966359008f;
  p = ein_fma_f32(p, z, 0.02099569449454424f);
  p = ein_fma_f32(p, z, -0.0538505965790701f);
  p = ein_fma_f32(p, z, 0.13332767677823823f);
  p = ein_fma_f32(p, z, -0.33333328923706584f);
  float near = ein_fma_f32(p * z, a, a), far = 1.0f - 2.0f / (ein_exp_f32(a + a) + 1.0f);
  float y = EIN_BELOW(a, 0.625f, near, far);
  return x < 0 ? -y : y;
}

/*
 * With fused multiply-add: below 0.94, x plus x times a polynomial in x^2. Beyond, 1 - exp -t, where t = -log(1 - erf a) is a plus a
 * times a polynomial: few of the digits of exp -t count, and those of t - 1 are finer. Each coefficient was
 * rounded before the next ones were determined. The exponential is that of ein_exp_f32 without range checks, as
 * t is from 0 to 17.
 */
EIN_INLINE float ein_erf_fused_f32(float x) {
  float a = fabsf(x), b = a > 4.0f ? 4.0f : a, z = x * x; /* beyond 4 the result is 1 */
  float p = 7.97622779e-5f;
  p = fmaf(p, z, -0.000804493204f);
  p = fmaf(p, z, 0.00519200508f);
  p = fmaf(p, z, -0.0268555973f);
  p = fmaf(p, z, 0.112836242f);
  p = fmaf(p, z, -0.376126289f);
  p = fmaf(p, z, 0.128379166f);
  float t = -0.000212821571f;
  t = fmaf(t, b, 0.00320539903f);
  t = fmaf(t, b, -0.0228594355f);
  t = fmaf(t, b, 0.105214417f);
  t = fmaf(t, b, 0.635754168f);
  t = fmaf(t, b, 0.128503799f);
  t = -fmaf(t, b, b - 1.0f);
  float power = fmaf(t, 1.44269504088896341f, 12583039.0f), n = power - 12583039.0f; /* 1.5 * 2^23 + 127 */
  float r = fmaf(-n, 1.42860682030941723e-6f, fmaf(-n, 0.693145751953125f, t));
  float q = 0.0013814540105360484f;
  q = fmaf(q, r, 0.00836874519559647f);
  q = fmaf(q, r, 0.04166839079137147f);
  q = fmaf(q, r, 0.16666520398318727f);
  q = fmaf(q, r, 0.4999999343207683f);
  q = fmaf(fmaf(q, r, 1.0f), r, 1.0f) * ein_f32_of_bits(ein_bits_f32(power) << 23);
  return copysignf(EIN_BELOW(a, 0.94f, fmaf(p, a, a), fmaf(q, -0.36787944f, 1.0f)), x);
}

/* x ^ n within one unit, for a constant whole n from 3 to 32: products with what each rounds off, which is added at
 * last, unless the result is not finite. Rounded products would be off by more. First one with m factors, a half of
 * them or all but one: y + lacks is squared for each bit of m but the first, and multiplied by x where that is 1. */
#define EIN_POWER(s, T, f)                                                                         \
  EIN_INLINE void ein_power_bit_##s(T *y, T *lacks, T x, int m, int bit) {                         \
    T square = *y * *y, more;                                                                      \
    if (m >= 4 * bit) *lacks = fma##f(2 * *y, *lacks, fma##f(*y, *y, -square)), *y = square;       \
    more = *y * x;                                                                                 \
    if (m >= 2 * bit && (m & bit)) *lacks = fma##f(*lacks, x, fma##f(*y, x, -more)), *y = more;    \
  }                                                                                                \
  EIN_INLINE T ein_power_fused_##s(T x, int n) {                                                   \
    int odd = n & 1, m = odd ? n - 1 : n / 2;                                                      \
    T y = x * x, lacks = fma##f(x, x, -y);                                                         \
    ein_power_bit_##s(&y, &lacks, x, m, 8);                                                        \
    ein_power_bit_##s(&y, &lacks, x, m, 4);                                                        \
    ein_power_bit_##s(&y, &lacks, x, m, 2);                                                        \
    ein_power_bit_##s(&y, &lacks, x, m, 1);                                                        \
    T by = odd ? x : y, all = y * by;                                                              \
    return all - all == 0 ? fma##f(y, by, lacks * (odd ? x : 2 * y)) : all;                        \
  }                                                                                                \
  EIN_INLINE T EIN_FUSES(ein_power_##s, T x, T n) {                                                \
    return ein_fused ? ein_power_fused_##s(x, (int)n) : pow##f(x, n);                              \
  }
EIN_POWER(f32, float, f)
EIN_POWER(f64, double, )
#undef EIN_POWER

/*
 * The same for doubles. exp: a minimax polynomial of the relative error for (exp r - 1 - r) / r^2. log: with s
 * = f / (2 + f), log(1 + f) = 2 atanh s = f - f^2 / 2 + s (f^2 / 2 + R), where R is s^2 times a polynomial in
 * s^2. Integers are converted to doubles by their bits here, since not every machine has vector instructions
 * that convert 64-bit integers to doubles.
 */
EIN_INLINE uint64_t ein_bits_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

EIN_INLINE double ein_f64_of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* exp(x - n ln 2) - 1, for differences of at most half of ln 2, as the sum of *first and the result, which is
 * smaller. n times the larger part of ln 2, of 42 bits, is exact, and so is *first. */
EIN_INLINE double EIN_FUSES(ein_exp_rest_f64, double x, double n, double *first) {
  double large = ein_fma_f64(-n, 0.6931471805598903, x), small = n * 5.497923018708371e-14, r = large - small;
  double p = 2.5000024639220488e-08;
  p = ein_fma_f64(p, r, 2.763030591718782e-07);
  p = ein_fma_f64(p, r, 2.7557586779656373e-06);
  p = ein_fma_f64(p, r, 2.480149295074183e-05);
  p = ein_fma_f64(p, r, 0.00019841269505808628);
  p = ein_fma_f64(p, r, 0.0013888888943758716);
  p = ein_fma_f64(p, r, 0.008333333333494957);
  p = ein_fma_f64(p, r, 0.04166666666652973);
  p = ein_fma_f64(p, r, 0.1666666666666641);
  p = ein_fma_f64(p, r, 0.5000000000000011);
  *first = large;
  return ein_fma_f64(p, r * r, -small);
}

EIN_INLINE double EIN_FUSES(ein_exp_f64, double x) {
  const double shift = 6755399441057790.0; /* 1.5 * 2^52 + 2046 */
  const uint64_t most = UINT64_C(0x43380000000007FE) + 1025;
  uint64_t bits = ein_bits_f64(ein_fma_f64(x, 1.4426950408889634, shift)); /* n + 2046: can be halved as unsigned */
  bits = bits < most ? bits : most;
  double first, rest = ein_exp_rest_f64(x, ein_f64_of_bits(bits) - shift, &first), p = rest + first + 1.0;
  uint64_t half = bits >> 1, other = bits - half;
  double y = p * ein_f64_of_bits(half << 52) * ein_f64_of_bits(other << 52);
  return x < -746.0 ? 0.0 : y;
}

EIN_INLINE double EIN_FUSES(ein_log_f64, double x) {
  int tiny = x < 2.2250738585072014e-308; /* subnormal, zero or negative */
  double big = tiny ? x * 18014398509481984.0 : x;
  uint64_t bits = ein_bits_f64(big) + UINT64_C(0x00095F619980C433); /* the bits of 1 less those of sqrt(1/2) */
  double e =
      ein_f64_of_bits(bits >> 52 | UINT64_C(0x4330000000000000)) - (tiny ? 4503599627371573.0 : 4503599627371519.0);
  double f = ein_f64_of_bits((bits & UINT64_C(0xFFFFFFFFFFFFF)) + UINT64_C(0x3FE6A09E667F3BCD)) - 1.0;
  double s = f / (f + 2.0), z = s * s, square = 0.5 * f * f;
  double p = 0.14792738899463334;
  p = ein_fma_f64(p, z, 0.15314404204784282);
  p = ein_fma_f64(p, z, 0.1818354892353989);
  p = ein_fma_f64(p, z, 0.22222198908588361);
  p = ein_fma_f64(p, z, 0.2857142873860257);
  p = ein_fma_f64(p, z, 0.39999999999435126);
  p = ein_fma_f64(p, z, 0.6666666666666731);
  double least = ein_fma_f64(s, ein_fma_f64(p, z, square), e * 5.497923018708371e-14);
  double y = ein_fma_f64(e, 0.6931471805598903, f - (square - least));
  y = x == 0  ? -ein_f64_of_bits(UINT64_C(0x7FF0000000000000))
      : x < 0 ? ein_f64_of_bits(UINT64_C(0x7FF8000000000000))
              : y;
  return ((x > 1.7976931348623157e308) | (x != x)) ? x : y;
}

/* Near 0 like that of floats; elsewhere 1 - 2 e / (1 + e), where e = exp -2|x|: few digits of the quotient
 * count. */
EIN_INLINE double EIN_FUSES(ein_tanh_f64, double x) {
  const double shift = 6755399441056767.0; /* 1.5 * 2^52 + 1023 */
  double a = x < 0 ? -x : x, z = x * x;
  double twice = a > 20.0 ? -40.0 : -a - a, biased = ein_fma_f64(twice, 1.4426950408889634, shift);
  double first, rest = ein_exp_rest_f64(twice, biased - shift, &first);
  double e = (rest + first + 1.0) * ein_f64_of_bits(ein_bits_f64(biased) << 52);
  double p = -1.955488624021575e-05;
  p = ein_fma_f64(p, z, 8.341872878292541e-05);
  p = ein_fma_f64(p, z, -0.0002334567804590547);
  p = ein_fma_f64(p, z, 0.0005884758308282359);
  p = ein_fma_f64(p, z, -0.0014555509847457033);
  p = ein_fma_f64(p, z, 0.003592093393901318);
  p = ein_fma_f64(p, z, -0.008863232748916428);
  p = ein_fma_f64(p, z, 0.021869488395864403);
  p = ein_fma_f64(p, z, -0.0539682539641595);
  p = ein_fma_f64(p, z, 0.13333333333327438);
  p = ein_fma_f64(p, z, -0.33333333333333304);
  double y = a < 0.55 ? ein_fma_f64(p * z, a, a) : 1.0 - (e + e) / (e + 1.0);
  return x < 0 ? -y : y;
}

#include "ein_math.h"
#include "ein_angle.h"
#include "ein_gamma.h"

/* ---- reals to integers: truncated towards 0; too large values saturate, NaN becomes 0 ---- */

/* V: the type that the machine converts to. A value is in range if low <= x < end. */
#define EIN_SATURATE(from, F, n, T, V, low, end, least, most)                                      \
  EIN_INLINE T ein_##from##_to_##n(F x) {                                                          \
    T inside = (T)(V)(((x >= (F)(low)) & (x < (F)(end))) ? x : 0);                                 \
    return x >= (F)(end) ? most : x < (F)(low) ? least : inside;                                   \
  }
#define EIN_SATURATE_ALL(from, F)                                                                  \
  EIN_SATURATE(from, F, i64, int64_t, int64_t, -9223372036854775808.0, 9223372036854775808.0,      \
               INT64_MIN, INT64_MAX)                                                               \
  EIN_SATURATE(from, F, i32, int32_t, int32_t, -2147483648.0, 2147483648.0, INT32_MIN, INT32_MAX)  \
  EIN_SATURATE(from, F, i16, int16_t, int32_t, -32768, 32768, INT16_MIN, INT16_MAX)                \
  EIN_SATURATE(from, F, i8, int8_t, int32_t, -128, 128, INT8_MIN, INT8_MAX)                        \
  EIN_SATURATE(from, F, u8, uint8_t, int32_t, 0, 256, 0, UINT8_MAX)

EIN_SATURATE_ALL(f64, double)
EIN_SATURATE_ALL(f32, float)
#undef EIN_SATURATE_ALL
#undef EIN_SATURATE

/* ---- half precision: the same bits as half.c, without its branches ---- */

/* c is 0 or 1. Not `c ? a : b`, since gcc makes a branch around the computation of a. */
EIN_INLINE uint32_t ein_pick(int c, uint32_t a, uint32_t b) {
  const uint32_t mask = 0u - (uint32_t)c;
  return (a & mask) | (b & ~mask);
}

#if defined(__CUDA_ARCH__) && !defined(EIN_EMULATED) /* in hardware, with the same rounding; NaN loses its payload */
static inline __device__ float ein_widen_f16(uint16_t half) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(half));
  return x;
}
static inline __device__ uint16_t ein_narrow_f16(float x) {
#if __CUDA_ARCH__ >= 800 /* several times as fast as one at a time */
  uint32_t halves;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(0.0f), "f"(x));
  return (uint16_t)halves;
#else
  uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
  return half;
#endif
}
#else
#if defined(__F16C__) && defined(__clang__) && __clang_major__ >= 15 /* in hardware, in lanes too; gcc 12 would convert one at a time */
EIN_INLINE float ein_widen_f16(uint16_t half) {
  _Float16 x;
  __builtin_memcpy(&x, &half, sizeof x);
  return (float)x;
}
#else
/* A subnormal is (2^-14 + x) - 2^-14, which is exact. */
EIN_INLINE float ein_widen_f16(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16, o = (uint32_t)(half & 0x7FFFu) << 13;
  const uint32_t small = ein_bits_f32(ein_f32_of_bits(o + (113u << 23)) - (1.0f / 16384));
  const uint32_t usual = o + (112u << 23);
  const uint32_t large = (o + (224u << 23)) | (uint32_t)(o > 0x0F800000u) << 22; /* a NaN becomes quiet */
  return ein_f32_of_bits(sign | ein_pick(o < 0x00800000u, small, ein_pick(o < 0x0F800000u, usual, large)));
}
#endif

/* The last bit of 0.5 is that of f16's subnormals, so adding 0.5 rounds to them. */
EIN_INLINE uint16_t ein_narrow_f16(float x) {
  const uint32_t bits = ein_bits_f32(x), sign = bits >> 16 & 0x8000u, m = bits & 0x7FFFFFFFu;
  const uint32_t small = ein_bits_f32(ein_f32_of_bits(m) + 0.5f) - 0x3F000000u;
  const uint32_t usual = (m + 0xFFFu + (m >> 13 & 1) - (112u << 23)) >> 13;
  const uint32_t large = 0x7C00u | (uint32_t)(m > 0x7F800000u) << 9;
  return (uint16_t)(sign | ein_pick(m < 0x38800000u, small, ein_pick(m < 0x47800000u, usual, large)));
}
#endif

EIN_INLINE float ein_widen_bf16(uint16_t half) {
  return ein_f32_of_bits((uint32_t)half << 16);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(EIN_EMULATED)
static inline __device__ uint16_t ein_narrow_bf16(float x) {
  uint32_t halves;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(0.0f), "f"(x));
  return (uint16_t)halves;
}
#else
EIN_INLINE uint16_t ein_narrow_bf16(float x) {
  const uint32_t bits = ein_bits_f32(x);
  const uint32_t nan = bits >> 16 | 0x40u, usual = (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16;
  return (uint16_t)((bits & 0x7FFFFFFFu) > 0x7F800000u ? nan : usual);
}
#endif

/*
 * Converts a double to float, rounding to odd: truncated, with the last bit set if something was lost. Rounding
 * that to a narrower format then equals rounding the double. Overflow is infinite in both. A NaN loses its
 * payload.
 */
EIN_INLINE float ein_f64_to_odd(double x) {
  uint64_t bits, m, part, lost;
  memcpy(&bits, &x, sizeof bits);
  m = bits & 0x7FFFFFFFFFFFFFFFu;
  const int64_t exponent = (int64_t)(m >> 52) - 896;
  const int64_t down = exponent > 0 ? 29 : exponent < -32 ? 62 : 30 - exponent;
  part = exponent > 0 ? m - ((uint64_t)896 << 52) : (m & 0xFFFFFFFFFFFFFu) | (uint64_t)1 << 52;
  lost = (part & (((uint64_t)1 << down) - 1)) != 0;
  part = part >> down | lost;
  part = m > 0x7FF0000000000000u ? 0x7FC00000u : m >= 0x47F0000000000000u ? 0x7F800000u : part;
  return ein_f32_of_bits((uint32_t)(bits >> 32 & 0x80000000u) | (uint32_t)part);
}

/* Converts a large integer to double, keeping what a double would lose as one sticky bit. */
EIN_INLINE double ein_i64_to_odd(int64_t x) {
  uint64_t u = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
  u = u >> 53 ? (u >> 11 | ((u & 2047) != 0)) << 11 : u;
  return x < 0 ? -(double)u : (double)u;
}

/* From here on, the names of half.c mean these. */
#define ein_f16_to_f32(x)  ein_widen_f16(x)
#define ein_bf16_to_f32(x) ein_widen_bf16(x)
#define ein_f32_to_f16(x)  ein_narrow_f16(x)
#define ein_f32_to_bf16(x) ein_narrow_bf16(x)
#define ein_f64_to_f16(x)  ein_narrow_f16(ein_f64_to_odd(x))
#define ein_f64_to_bf16(x) ein_narrow_bf16(ein_f64_to_odd(x))
#define ein_i64_to_f16(x)  ein_f64_to_f16(ein_i64_to_odd(x))
#define ein_i64_to_bf16(x) ein_f64_to_bf16(ein_i64_to_odd(x))

/* The value after conversion to the type and back: of a float, a double, an integer. */
EIN_INLINE float ein_round_f16(float x) { return ein_widen_f16(ein_narrow_f16(x)); }
EIN_INLINE float ein_round_bf16(float x) { return ein_widen_bf16(ein_narrow_bf16(x)); }
EIN_INLINE float ein_f64_round_f16(double x) { return ein_round_f16(ein_f64_to_odd(x)); }
EIN_INLINE float ein_f64_round_bf16(double x) { return ein_round_bf16(ein_f64_to_odd(x)); }
EIN_INLINE float ein_i64_round_f16(int64_t x) { return ein_f64_round_f16(ein_i64_to_odd(x)); }
EIN_INLINE float ein_i64_round_bf16(int64_t x) { return ein_f64_round_bf16(ein_i64_to_odd(x)); }

#endif
