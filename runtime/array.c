/* SPDX-License-Identifier: MIT-0 */
/*
 * From a described array in a byte source to a C-order buffer: byte order, element type and axis
 * order are put right on the way, one chunk after another. See array.h.
 */
#include "array.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK = 4096 /* elements */ };

/* Eight bytes an element at most, aligned for any. */
typedef union chunk {
  unsigned char bytes[8 * CHUNK];
  uint64_t align;
} chunk;

/* Walks the places of a Fortran-ordered file in a C-ordered buffer: the file's next element, first
 * axis fastest. */
typedef struct fortran_walk {
  int ndim;
  int64_t extent[EIN_MAX_AXES];
  int64_t stride[EIN_MAX_AXES];
  int64_t index[EIN_MAX_AXES];
  int64_t place;
} fortran_walk;

static void walk_start(fortran_walk *w, const ein_array *a) {
  memset(w, 0, sizeof *w);
  w->ndim = a->ndim;
  int64_t stride = 1;
  for (int axis = a->ndim; axis-- > 0;) {
    w->extent[axis] = a->shape[axis];
    w->stride[axis] = stride;
    stride *= a->shape[axis] ? a->shape[axis] : 1;
  }
}

static void walk_next(fortran_walk *w) {
  for (int axis = 0; axis < w->ndim; axis++) {
    w->place += w->stride[axis];
    if (++w->index[axis] < w->extent[axis]) return;
    w->place -= w->stride[axis] * w->extent[axis];
    w->index[axis] = 0;
  }
}

static void scatter(fortran_walk *w, const unsigned char *from, size_t size, int64_t n,
                    unsigned char *dst) {
  for (int64_t k = 0; k < n; k++) {
    memcpy(dst + (size_t)w->place * size, from + (size_t)k * size, size);
    walk_next(w);
  }
}

static ein_status read_chunks(const ein_bytes *b, const ein_array *a, ein_dtype want,
                              unsigned char *dst, ein_error *err) {
  const size_t from_size = ein_dtype_size(a->dtype), to_size = ein_dtype_size(want);
  const int in_order = !a->fortran || a->ndim < 2;
  fortran_walk walk;
  walk_start(&walk, a);
  chunk in, out;
  ein_status status = EIN_OK;
  for (int64_t k = 0; k < a->count && status == EIN_OK; k += CHUNK) {
    int64_t n = a->count - k < CHUNK ? a->count - k : CHUNK;
    status =
        ein_bytes_read(b, a->at + (uint64_t)k * from_size, in.bytes, (uint64_t)n * from_size, err);
    if (status != EIN_OK) break;
    if (a->big_endian != EIN_BIG_ENDIAN) ein_swap(in.bytes, from_size, n);
    unsigned char *to = in_order ? dst + (size_t)k * to_size : out.bytes;
    status = ein_convert(b->name, a->dtype, in.bytes, want, to, n, k, err);
    if (status == EIN_OK && !in_order) scatter(&walk, out.bytes, to_size, n, dst);
  }
  return status;
}

ein_status ein_array_read(const ein_bytes *b, const ein_array *a, ein_dtype want, void *dst,
                          ein_error *err) {
  const int same_order = a->big_endian == EIN_BIG_ENDIAN || ein_dtype_size(want) == 1;
  if (a->dtype == want && want != EIN_BOOL && same_order && (!a->fortran || a->ndim < 2))
    return ein_bytes_read(b, a->at, dst, (uint64_t)a->bytes, err);
  ein_status status =
      ein_convert(b->name, a->dtype, NULL, want, NULL, 0, 0, err); /* refuses first */
  return status == EIN_OK ? read_chunks(b, a, want, dst, err) : status;
}

ein_status ein_raw_header(const ein_bytes *b, ein_dtype dtype, int ndim, const int64_t *shape,
                          ein_array *out, ein_error *err) {
  *out = (ein_array){.dtype = dtype, .ndim = ndim};
  ein_status status = ein_shape_size(b->name, dtype, ndim, shape, &out->count, &out->bytes, err);
  if (status != EIN_OK) return status;
  if (ndim > 0) memcpy(out->shape, shape, (size_t)ndim * sizeof *shape);
  if ((uint64_t)out->bytes != b->size)
    return ein_error_set(err, EIN_ERR_SHAPE, "%s: wanted %lld bytes for %s %s, met %llu", b->name,
                         (long long)out->bytes, ein_dtype_name(dtype),
                         ein_shape_print(ndim, shape).text, (unsigned long long)b->size);
  return EIN_OK;
}

ein_shape_text ein_shape_print(int ndim, const int64_t *shape) {
  ein_shape_text out = {"["};
  size_t at = 1;
  for (int axis = 0; axis < ndim; axis++) {
    if (at > sizeof out.text - 40) {
      at += (size_t)snprintf(out.text + at, sizeof out.text - at, ", ...");
      break;
    }
    at += (size_t)snprintf(out.text + at, sizeof out.text - at, axis ? ", %lld" : "%lld",
                           (long long)shape[axis]);
  }
  snprintf(out.text + at, sizeof out.text - at, "]");
  return out;
}

ein_status ein_shape_match(const char *who, int want_ndim, const int64_t *want, int met_ndim,
                           const int64_t *met, ein_error *err) {
  ein_shape_text wanted = ein_shape_print(want_ndim, want), got = ein_shape_print(met_ndim, met);
  if (want_ndim != met_ndim)
    return ein_error_set(err, EIN_ERR_SHAPE, "%s: wanted %d %s, met %d: shape wanted %s, met %s",
                         who, want_ndim, want_ndim == 1 ? "axis" : "axes", met_ndim, wanted.text,
                         got.text);
  for (int axis = 0; axis < want_ndim; axis++) {
    if (want[axis] != met[axis])
      return ein_error_set(
          err, EIN_ERR_SHAPE, "%s: axis %d: wanted extent %lld, met %lld: shape wanted %s, met %s",
          who, axis, (long long)want[axis], (long long)met[axis], wanted.text, got.text);
  }
  return EIN_OK;
}
