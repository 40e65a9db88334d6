/* SPDX-License-Identifier: MIT-0 */
/*
 * What the runtime and generated code share: facts about element types, the error that keeps its first cause,
 * sizes of shapes, half precision and random numbers.
 *
 * A file that defines EIN_STATIC before it includes any header of the runtime gets all of this as static
 * functions, without global symbols. Otherwise, or with EIN_APART as well (a flag; no generated text sets it),
 * the functions are in the runtime's library. Valid C99 and C++.
 */
#ifndef EIN_NUM_H
#define EIN_NUM_H

#include "ein_tensor.h"

#if defined(__GNUC__)
#define EIN_UNUSED __attribute__((unused))
#else
#define EIN_UNUSED
#endif
#if defined(EIN_STATIC) && !defined(EIN_APART) && !defined(EIN_API)
#define EIN_API static EIN_UNUSED
#elif !defined(EIN_API)
#define EIN_API
#endif

#if !defined(EIN_BOTH)
#define EIN_BOTH /* code for CUDA calls this on the host and on the device */
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if !defined(__CUDACC_RTC__)

/* ---- element types ---- */

/* Returns the bytes of one element, or 0 for a value outside the enum. */
EIN_API size_t ein_dtype_size(ein_dtype dtype);
/* The language's name: "f64", "bf16", "bool" ...; "?" for a value outside the enum. */
EIN_API const char *ein_dtype_name(ein_dtype dtype);
/* Converts a dtype to DLPack's type code and bits (lanes are always 1), and back. Both return 0 if there is no
 * equivalent. */
EIN_API int ein_dtype_to_dlpack(ein_dtype dtype, uint8_t *code, uint8_t *bits);
EIN_API int ein_dtype_from_dlpack(uint8_t code, uint8_t bits, ein_dtype *dtype);

/* ---- errors ---- */

/*
 * Records an error unless there already is one, and returns `status`. `err` may be NULL. The text is truncated
 * to fit, and control characters (a file's name or content may contain them) become '?'. Never use a
 * floating-point conversion: that would read the locale.
 */
EIN_API ein_status ein_error_set(ein_error *err, ein_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* ---- shapes ---- */

/*
 * Computes the elements and bytes of a C-order array. Fails for more than EIN_MAX_AXES axes, for negative
 * extents and for products that do not fit int64 (an extent of 0 counts as 1, so that strides fit too). `who`
 * begins the message; `count` and `bytes` may be NULL.
 */
EIN_API ein_status ein_shape_size(const char *who, ein_dtype dtype, int ndim, const int64_t *shape,
                                  int64_t *count, int64_t *bytes, ein_error *err);

#endif

/* ---- half precision: rounded once, to nearest even; NaN stays NaN; subnormals as in IEEE 754 ----
 *
 * With EIN_STATIC these are the functions of ein_ops.h. */

#ifndef EIN_STATIC
EIN_API float ein_f16_to_f32(uint16_t half);
EIN_API uint16_t ein_f32_to_f16(float x);
EIN_API uint16_t ein_f64_to_f16(double x);
EIN_API float ein_bf16_to_f32(uint16_t half);
EIN_API uint16_t ein_f32_to_bf16(float x);
EIN_API uint16_t ein_f64_to_bf16(double x);
#endif

/* ---- random numbers: each value depends on its arguments only, and has the same bits on every target ---- */

EIN_BOTH EIN_API void ein_philox4x32_10(const uint32_t ctr[4], const uint32_t key[2], uint32_t out[4]);
/* Uniform in [0, 1), a multiple of 2^-24. */
EIN_BOTH EIN_API float ein_uniform(int64_t seed, int64_t index);
/* Standard normal; the magnitude is below 8.6. */
EIN_BOTH EIN_API float ein_normal(int64_t seed, int64_t index);
/* Uniform in lo..hi, both included; lo if hi < lo. */
EIN_BOTH EIN_API int64_t ein_randint(int64_t seed, int64_t index, int64_t lo, int64_t hi);
/* Entry h of the seed's permutation of 0..H-1, and of its inverse. -1 unless 0 <= h < H <= 2^62. */
EIN_BOTH EIN_API int64_t ein_permutation(int64_t seed, int64_t h, int64_t H);
EIN_BOTH EIN_API int64_t ein_inverse_permutation(int64_t seed, int64_t h, int64_t H);

#ifdef __cplusplus
}
#endif

#endif
