/* SPDX-License-Identifier: MIT-0 */
/*
 * Writes raw files: C-order data in, its little-endian bytes out. (They are read through ein_raw_header.)
 */
#include "array.h"

ein_status ein_raw_write(const char *path, ein_dtype dtype, int ndim, const int64_t *shape,
                         const void *data, ein_error *err) {
  int64_t count;
  ein_status status = ein_shape_size(ein_short_name(path), dtype, ndim, shape, &count, NULL, err);
  if (status != EIN_OK) return status;
  ein_out out;
  status = ein_out_open(&out, path, err);
  if (status == EIN_OK) status = ein_out_elements(&out, dtype, data, count, err);
  return ein_out_finish(&out, status, err);
}
