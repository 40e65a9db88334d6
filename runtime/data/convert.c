/* SPDX-License-Identifier: MIT-0 */
/*
 * Converts elements of one type to another. Each value passes through int64 (integers and bool) or double
 * (floats), which hold every value exactly, so there is at most one rounding.
 */
#include "ein_rt.h"

#include <string.h>

enum { RUN = 512 };

/* LOAD and STORE walk unaligned elements of one C type; `value` is the element in hand. */
#define LOAD(type, expression)                                     \
  for (int64_t k = 0; k < n; k++) {                                \
    type value;                                                    \
    memcpy(&value, from + (size_t)k * sizeof value, sizeof value); \
    to[k] = expression;                                            \
  }                                                                \
  break

#define STORE(type, expression)                                  \
  for (int64_t k = 0; k < n; k++) {                              \
    type value = expression;                                     \
    memcpy(to + (size_t)k * sizeof value, &value, sizeof value); \
  }                                                              \
  break

static void load_ints(ein_dtype dtype, const unsigned char *from, int64_t *to, int64_t n) {
  switch (dtype) {
  case EIN_I64: LOAD(int64_t, value);
  case EIN_I32: LOAD(int32_t, value);
  case EIN_I16: LOAD(int16_t, value);
  case EIN_I8: LOAD(int8_t, value);
  case EIN_U8: LOAD(uint8_t, value);
  default: LOAD(uint8_t, value != 0);
  }
}

static void load_floats(ein_dtype dtype, const unsigned char *from, double *to, int64_t n) {
  switch (dtype) {
  case EIN_F64: LOAD(double, value);
  case EIN_F32: LOAD(float, (double)value);
  case EIN_F16: LOAD(uint16_t, (double)ein_f16_to_f32(value));
  default: LOAD(uint16_t, (double)ein_bf16_to_f32(value));
  }
}

/*
 * Converts an integer to double, for a format of at most 50 significant bits: beyond 2^53, the lost bits are
 * ORed into the last bit kept, so the following rounding sees them and is the only one.
 */
static double int_to_odd(int64_t v) {
  uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  if (magnitude >> 53) magnitude = (magnitude >> 12 | ((magnitude & 0xFFF) != 0)) << 12;
  double x = (double)magnitude;
  return v < 0 ? -x : x;
}

static void store_ints_as_floats(ein_dtype dtype, const int64_t *v, unsigned char *to, int64_t n) {
  switch (dtype) {
  case EIN_F64: STORE(double, (double)v[k]);
  case EIN_F32: STORE(float, (float)v[k]);
  case EIN_F16: STORE(uint16_t, ein_f64_to_f16(int_to_odd(v[k])));
  default: STORE(uint16_t, ein_f64_to_bf16(int_to_odd(v[k])));
  }
}

static void store_ints(ein_dtype dtype, const int64_t *v, unsigned char *to, int64_t n) {
  switch (dtype) {
  case EIN_I64: STORE(int64_t, v[k]);
  case EIN_I32: STORE(int32_t, (int32_t)v[k]);
  case EIN_I16: STORE(int16_t, (int16_t)v[k]);
  case EIN_I8: STORE(int8_t, (int8_t)v[k]);
  default: STORE(uint8_t, (uint8_t)v[k]);
  }
}

static void store_floats(ein_dtype dtype, const double *v, unsigned char *to, int64_t n) {
  switch (dtype) {
  case EIN_F64: STORE(double, v[k]);
  case EIN_F32: STORE(float, (float)v[k]);
  case EIN_F16: STORE(uint16_t, ein_f64_to_f16(v[k]));
  default: STORE(uint16_t, ein_f64_to_bf16(v[k]));
  }
}

static void int_bounds(ein_dtype dtype, int64_t *lo, int64_t *hi) {
  switch (dtype) {
  case EIN_I32:
    *lo = INT32_MIN;
    *hi = INT32_MAX;
    break;
  case EIN_I16:
    *lo = INT16_MIN;
    *hi = INT16_MAX;
    break;
  case EIN_I8:
    *lo = INT8_MIN;
    *hi = INT8_MAX;
    break;
  case EIN_U8:
    *lo = 0;
    *hi = UINT8_MAX;
    break;
  case EIN_BOOL:
    *lo = 0;
    *hi = 1;
    break;
  default:
    *lo = INT64_MIN;
    *hi = INT64_MAX;
    break;
  }
}

static ein_status check_range(const char *who, ein_dtype to, const int64_t *v, int64_t n,
                              int64_t first, ein_error *err) {
  int64_t lo, hi;
  int_bounds(to, &lo, &hi);
  for (int64_t k = 0; k < n; k++) {
    if (v[k] < lo || v[k] > hi)
      return ein_error_set(err, EIN_ERR_RANGE,
                           "%s: element %lld is %lld, which does not fit %s (%lld..%lld)", who,
                           (long long)(first + k), (long long)v[k], ein_dtype_name(to),
                           (long long)lo, (long long)hi);
  }
  return EIN_OK;
}

static ein_status convert_ints(const char *who, ein_dtype from, const unsigned char *src,
                               ein_dtype to, unsigned char *dst, int64_t n, int64_t first,
                               ein_error *err) {
  int64_t run[RUN];
  load_ints(from, src, run, n);
  if (ein_is_float(to)) {
    store_ints_as_floats(to, run, dst, n);
    return EIN_OK;
  }
  ein_status status = check_range(who, to, run, n, first, err);
  if (status == EIN_OK) store_ints(to, run, dst, n);
  return status;
}

static void convert_floats(ein_dtype from, const unsigned char *src, ein_dtype to,
                           unsigned char *dst, int64_t n) {
  double run[RUN];
  load_floats(from, src, run, n);
  store_floats(to, run, dst, n);
}

ein_status ein_convert(const char *who, ein_dtype from, const void *src, ein_dtype to, void *dst,
                       int64_t n, int64_t first, ein_error *err) {
  const size_t from_size = ein_dtype_size(from), to_size = ein_dtype_size(to);
  if (from_size == 0 || to_size == 0)
    return ein_error_set(err, EIN_ERR_ARG, "%s: %d to %d is no pair of dtypes", who, (int)from,
                         (int)to);
  if (ein_is_float(from) && !ein_is_float(to))
    return ein_error_set(err, EIN_ERR_DTYPE,
                         "%s: expected %s, found %s: floats are not turned into integers silently", who,
                         ein_dtype_name(to), ein_dtype_name(from));
  if (from == to && from != EIN_BOOL) {
    if (n > 0) memcpy(dst, src, (size_t)n * from_size);
    return EIN_OK;
  }
  ein_status status = EIN_OK;
  for (int64_t k = 0; k < n && status == EIN_OK; k += RUN) {
    int64_t piece = n - k < RUN ? n - k : RUN;
    const unsigned char *in = (const unsigned char *)src + (size_t)k * from_size;
    unsigned char *out = (unsigned char *)dst + (size_t)k * to_size;
    if (ein_is_float(from))
      convert_floats(from, in, to, out, piece);
    else
      status = convert_ints(who, from, in, to, out, piece, first + k, err);
  }
  return status;
}
