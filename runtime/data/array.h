/* SPDX-License-Identifier: MIT-0 */
/*
 * Arrays in files. Each header reader takes a byte source and says where one array lies and how; no
 * length in a file is believed before it is checked against the bytes that are there.
 * ein_array_read then brings the elements in.
 */
#ifndef EIN_ARRAY_H
#define EIN_ARRAY_H

#include "bytes.h"

typedef struct ein_array {
  ein_dtype dtype;
  int big_endian;
  int fortran; /* first axis fastest */
  int ndim;
  int64_t shape[EIN_MAX_AXES];
  int64_t count;
  int64_t bytes;
  uint64_t at; /* offset of the first element; at + bytes lies inside the source */
} ein_array;

/* The whole source is one .npy file: header, elements, nothing after. */
ein_status ein_npy_header(const ein_bytes *b, ein_array *out, ein_error *err);

/*
 * The bytes of one member of a zip archive; a NULL name means the only one. The member must be
 * stored, not compressed. ein_npz_check compares its content with the checksum that was found.
 */
typedef struct ein_npz_member {
  ein_bytes bytes;
  uint32_t crc;
} ein_npz_member;

ein_status ein_npz_find(const ein_bytes *zip, const char *name, ein_npz_member *out,
                        ein_error *err);
ein_status ein_npz_check(const ein_npz_member *member, ein_error *err);

/* One tensor of a safetensors file; a NULL name means the only one. The whole header is checked. */
ein_status ein_safetensors_find(const ein_bytes *b, const char *name, ein_array *out,
                                ein_error *err);

/*
 * All arrays of such a file, one call each, until one is not EIN_OK: `name` has no end of its own, and `other` is a dtype
 * that cannot be read (then the array's is not told), or NULL. Of a zip's members only what ends in .npy is an array, and is
 * called without that ending.
 */
typedef ein_status (*ein_array_seen)(void *user, const char *name, size_t length,
                                     const ein_array *array, const char *other, ein_error *err);
ein_status ein_safetensors_each(const ein_bytes *b, ein_array_seen seen, void *user,
                                ein_error *err);
ein_status ein_npz_each(const ein_bytes *zip, ein_array_seen seen, void *user, ein_error *err);

/* A bare file of the dtype and shape given: its size must be theirs. */
ein_status ein_raw_header(const ein_bytes *b, ein_dtype dtype, int ndim, const int64_t *shape,
                          ein_array *out, ein_error *err);

/* All elements, converted to `want`, in C order. */
ein_status ein_array_read(const ein_bytes *b, const ein_array *array, ein_dtype want, void *dst,
                          ein_error *err);
/* Those of a block: so many as `shape` says, from `low` on. No others are read, but between short
 * rows. */
ein_status ein_array_block(const ein_bytes *b, const ein_array *array, ein_dtype want,
                           const int64_t *low, const int64_t *shape, void *dst, ein_error *err);

/* What stands before the elements: of a .npy, room for EIN_NPY_HEAD, gives its length; of a
 * safetensors file, a text that the caller frees, and from where on each tensor's elements go. */
enum { EIN_NPY_HEAD = 2048 };
size_t ein_npy_head(char *to, ein_dtype dtype, int ndim, const int64_t *shape);
ein_status ein_safetensors_head(const char *who, size_t count, const ein_named_tensor *tensors,
                                char **text, size_t *length, uint64_t *at, ein_error *err);

/* "[2, 3]"; a long one is cut with "...". */
typedef struct ein_shape_text {
  char text[160];
} ein_shape_text;

ein_shape_text ein_shape_print(int ndim, const int64_t *shape);

/* The shape wanted against the one met; the message says the first axis that differs, and both
 * shapes. */
ein_status ein_shape_match(const char *who, int want_ndim, const int64_t *want, int met_ndim,
                           const int64_t *met, ein_error *err);

#endif
