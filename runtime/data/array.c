/* SPDX-License-Identifier: MIT-0 */
/*
 * Reads a block of a described array from a byte source into a C-order buffer, row by row. See array.h.
 */
#include "array.h"
#include "rows.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK = 4096 /* elements */ };

/* At most eight bytes per element, aligned for any type. */
typedef union chunk {
  unsigned char bytes[8 * CHUNK];
  uint64_t align;
} chunk;

/* A buffered part of the source: short rows that are close together are read at once. */
typedef struct window {
  unsigned char bytes[1 << 16];
  uint64_t at, held;
} window;

typedef struct reading {
  const ein_bytes *b;
  const ein_array *array;
  ein_dtype want;
  unsigned char *dst;
  ein_rows rows;
  window near;
  ein_error *err;
} reading;

/* Reads n bytes from element k on. */
static ein_status read_near(reading *r, int64_t k, unsigned char *to, uint64_t n) {
  const uint64_t size = ein_dtype_size(r->array->dtype), at = r->array->at + (uint64_t)k * size;
  const uint64_t end = r->array->at + (uint64_t)r->array->bytes;
  window *w = &r->near;
  if (r->rows.apart == 0 || (uint64_t)r->rows.apart > sizeof w->bytes / 4 / size)
    return ein_bytes_read(r->b, at, to, n, r->err);
  if (at < w->at || at + n > w->at + w->held) {
    uint64_t held = end - at < sizeof w->bytes ? end - at : sizeof w->bytes;
    ein_status status = ein_bytes_read(r->b, at, w->bytes, held, r->err);
    if (status != EIN_OK) return status;
    w->at = at;
    w->held = held;
  }
  memcpy(to, w->bytes + (at - w->at), (size_t)n);
  return EIN_OK;
}

static void spread(const unsigned char *from, size_t size, int64_t n, unsigned char *to, int64_t step) {
  for (int64_t k = 0; k < n; k++) memcpy(to + (size_t)(k * step) * size, from + (size_t)k * size, size);
}

/* Corrects the byte order and converts the type, chunk by chunk. */
static ein_status read_chunks(reading *r, chunk *in, chunk *out) {
  const ein_array *a = r->array;
  const size_t from_size = ein_dtype_size(a->dtype), to_size = ein_dtype_size(r->want);
  ein_status status = EIN_OK;
  for (int64_t k = 0; k < r->rows.length && status == EIN_OK; k += CHUNK) {
    int64_t n = r->rows.length - k < CHUNK ? r->rows.length - k : CHUNK, from = r->rows.from + k;
    unsigned char *dst = r->dst + (size_t)(r->rows.to + k * r->rows.step) * to_size;
    unsigned char *to = r->rows.step == 1 ? dst : out->bytes;
    status = read_near(r, from, in->bytes, (uint64_t)n * from_size);
    if (status != EIN_OK) break;
    if (a->big_endian != EIN_BIG_ENDIAN) ein_swap(in->bytes, from_size, n);
    status = ein_convert(r->b->name, a->dtype, in->bytes, r->want, to, n, from, r->err);
    if (status == EIN_OK && r->rows.step != 1) spread(to, to_size, n, dst, r->rows.step);
  }
  return status;
}

ein_status ein_array_block(const ein_bytes *b, const ein_array *a, ein_dtype want,
                           const int64_t *low, const int64_t *shape, void *dst, ein_error *err) {
  const size_t size = ein_dtype_size(want);
  const int as_it_is =
      a->dtype == want && want != EIN_BOOL && (a->big_endian == EIN_BIG_ENDIAN || size == 1);
  chunk in, out;
  reading r;
  r.b = b;
  r.array = a;
  r.want = want;
  r.dst = dst;
  r.err = err;
  r.near.at = r.near.held = 0;
  ein_rows_begin(&r.rows, a->ndim, a->shape, a->fortran, low, shape);
  ein_status status =
      ein_convert(b->name, a->dtype, NULL, want, NULL, 0, 0, err); /* refuses before any read */
  while (status == EIN_OK && ein_rows_next(&r.rows))
    status = as_it_is && r.rows.step == 1
                 ? read_near(&r, r.rows.from, r.dst + (size_t)r.rows.to * size,
                             (uint64_t)r.rows.length * size)
                 : read_chunks(&r, &in, &out);
  return status;
}

ein_status ein_array_read(const ein_bytes *b, const ein_array *a, ein_dtype want, void *dst,
                          ein_error *err) {
  const int64_t low[EIN_MAX_AXES] = {0};
  return ein_array_block(b, a, want, low, a->shape, dst, err);
}

ein_status ein_raw_header(const ein_bytes *b, ein_dtype dtype, int ndim, const int64_t *shape,
                          ein_array *out, ein_error *err) {
  *out = (ein_array){.dtype = dtype, .ndim = ndim};
  ein_status status = ein_shape_size(b->name, dtype, ndim, shape, &out->count, &out->bytes, err);
  if (status != EIN_OK) return status;
  if (ndim > 0) memcpy(out->shape, shape, (size_t)ndim * sizeof *shape);
  if ((uint64_t)out->bytes != b->size)
    return ein_error_set(err, EIN_ERR_SHAPE, "%s: expected %lld bytes for %s %s, found %llu", b->name,
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
    return ein_error_set(err, EIN_ERR_SHAPE, "%s: expected %d %s, found %d: expected shape %s, found %s",
                         who, want_ndim, want_ndim == 1 ? "axis" : "axes", met_ndim, wanted.text,
                         got.text);
  for (int axis = 0; axis < want_ndim; axis++) {
    if (want[axis] != met[axis])
      return ein_error_set(
          err, EIN_ERR_SHAPE, "%s: axis %d: expected extent %lld, found %lld: expected shape %s, found %s",
          who, axis + 1, (long long)want[axis], (long long)met[axis], wanted.text, got.text);
  }
  return EIN_OK;
}
