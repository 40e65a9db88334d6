/* SPDX-License-Identifier: MIT-0 */
/*
 * The basis of every runtime file: the table of element types, the error that keeps its first cause, and the
 * size of a shape. In come enums and shapes; out come sizes, names and statuses.
 */
#include "ein_num.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct ein_dtype_facts {
  const char *name;
  uint8_t size;
  uint8_t dlpack_code; /* 0 int, 1 uint, 2 float, 4 bfloat, 6 bool */
} ein_dtype_facts;

static const ein_dtype_facts ein_dtype_table[EIN_DTYPE_COUNT] = {
    {"f64", 8, 2}, {"f32", 4, 2}, {"f16", 2, 2}, {"bf16", 2, 4}, {"i64", 8, 0},
    {"i32", 4, 0}, {"i16", 2, 0}, {"i8", 1, 0},  {"u8", 1, 1},   {"bool", 1, 6},
};

static int ein_dtype_known(ein_dtype dtype) {
  return (unsigned)dtype < EIN_DTYPE_COUNT;
}

EIN_API size_t ein_dtype_size(ein_dtype dtype) {
  return ein_dtype_known(dtype) ? ein_dtype_table[dtype].size : 0;
}

EIN_API const char *ein_dtype_name(ein_dtype dtype) {
  return ein_dtype_known(dtype) ? ein_dtype_table[dtype].name : "?";
}

EIN_API int ein_dtype_to_dlpack(ein_dtype dtype, uint8_t *code, uint8_t *bits) {
  if (!ein_dtype_known(dtype)) return 0;
  *code = ein_dtype_table[dtype].dlpack_code;
  *bits = (uint8_t)(8 * ein_dtype_table[dtype].size);
  return 1;
}

EIN_API int ein_dtype_from_dlpack(uint8_t code, uint8_t bits, ein_dtype *dtype) {
  for (int d = 0; d < EIN_DTYPE_COUNT; d++) {
    if (ein_dtype_table[d].dlpack_code == code && 8 * ein_dtype_table[d].size == bits) {
      *dtype = (ein_dtype)d;
      return 1;
    }
  }
  return 0;
}

/* If the text was truncated inside a UTF-8 sequence, drops the incomplete sequence. */
static void ein_drop_torn_utf8(char *text, size_t length) {
  size_t lead = length;
  while (lead > 0 && length - lead < 3 && ((unsigned char)text[lead - 1] & 0xC0) == 0x80) lead--;
  if (lead == 0) return;
  unsigned char byte = (unsigned char)text[lead - 1];
  size_t need = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
  if (need > length - lead + 1) text[lead - 1] = '\0';
}

EIN_API ein_status ein_error_set(ein_error *err, ein_status status, const char *format, ...) {
  if (!err || err->status != EIN_OK) return status;
  err->status = status;
  va_list args;
  va_start(args, format);
  int length = vsnprintf(err->text, sizeof err->text, format, args);
  va_end(args);
  if (length < 0) err->text[0] = '\0';
  if (length >= (int)sizeof err->text) ein_drop_torn_utf8(err->text, strlen(err->text));
  for (char *c = err->text; *c; c++) {
    if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
  }
  return status;
}

EIN_API ein_status ein_shape_size(const char *who, ein_dtype dtype, int ndim, const int64_t *shape,
                          int64_t *count, int64_t *bytes, ein_error *err) {
  if (!ein_dtype_known(dtype))
    return ein_error_set(err, EIN_ERR_ARG, "%s: %d is no dtype", who, (int)dtype);
  if (ndim < 0 || ndim > EIN_MAX_AXES)
    return ein_error_set(err, EIN_ERR_SHAPE, "%s: %d axes; at most %d are possible", who, ndim,
                         EIN_MAX_AXES);
  int64_t room = INT64_MAX / ein_dtype_table[dtype].size;
  int64_t product = 1;
  int empty = 0;
  for (int axis = 0; axis < ndim; axis++) {
    int64_t extent = shape[axis];
    if (extent < 0)
      return ein_error_set(err, EIN_ERR_SHAPE, "%s: axis %d has the negative extent %lld", who,
                           axis + 1, (long long)extent);
    if (extent == 0) {
      empty = 1;
      continue;
    }
    if (product > room / extent)
      return ein_error_set(
          err, EIN_ERR_SHAPE,
          "%s: the shape is too large: its extents up to axis %d (%lld) need more than "
          "2^63 bytes of %s",
          who, axis + 1, (long long)extent, ein_dtype_table[dtype].name);
    product *= extent;
  }
  int64_t elements = empty ? 0 : product;
  if (count) *count = elements;
  if (bytes) *bytes = elements * ein_dtype_table[dtype].size;
  return EIN_OK;
}
