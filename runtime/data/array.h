/* SPDX-License-Identifier: MIT-0 */
/*
 * Arrays in files. A header reader takes a byte source and reports where an array is stored and how. No length
 * in a file is trusted before it is checked against the file's size. ein_array_read then reads the elements.
 */
#ifndef EIN_ARRAY_H
#define EIN_ARRAY_H

#include "bytes.h"

typedef struct ein_array {
  ein_dtype dtype;
  int big_endian;
  int fortran; /* the first axis varies fastest */
  int ndim;
  int64_t shape[EIN_MAX_AXES];
  int64_t count;
  int64_t bytes;
  uint64_t at; /* offset of the first element; at + bytes is within the source */
} ein_array;

/* The source must be exactly one .npy file: header, elements, nothing after. */
ein_status ein_npy_header(const ein_bytes *b, ein_array *out, ein_error *err);

/*
 * The bytes of one member of a zip archive; a NULL name means the only member. The member must be stored, not
 * compressed. ein_npz_check verifies its content against its checksum.
 */
typedef struct ein_npz_member {
  ein_bytes bytes;
  uint32_t crc;
} ein_npz_member;

ein_status ein_npz_find(const ein_bytes *zip, const char *name, ein_npz_member *out,
                        ein_error *err);
ein_status ein_npz_check(const ein_npz_member *member, ein_error *err);

/* One tensor of a safetensors file; a NULL name means the only one. Checks the whole header. */
ein_status ein_safetensors_find(const ein_bytes *b, const char *name, ein_array *out,
                                ein_error *err);

/*
 * Reports all arrays of such a file, one call each, until a call does not return EIN_OK. `name` is not
 * terminated. `other` is a dtype that cannot be read (then there is no array), or NULL. Of a zip's members,
 * only those that end in .npy are arrays; their names are given without it.
 */
typedef ein_status (*ein_array_seen)(void *user, const char *name, size_t length,
                                     const ein_array *array, const char *other, ein_error *err);
ein_status ein_safetensors_each(const ein_bytes *b, ein_array_seen seen, void *user,
                                ein_error *err);
ein_status ein_npz_each(const ein_bytes *zip, ein_array_seen seen, void *user, ein_error *err);

/* A raw file of the given dtype and shape; its size must match. */
ein_status ein_raw_header(const ein_bytes *b, ein_dtype dtype, int ndim, const int64_t *shape,
                          ein_array *out, ein_error *err);

/* Reads all elements, converted to `want`, in C order. */
ein_status ein_array_read(const ein_bytes *b, const ein_array *array, ein_dtype want, void *dst,
                          ein_error *err);
/* Reads a block: `shape` elements from `low` on. No others are read, except between short rows. */
ein_status ein_array_block(const ein_bytes *b, const ein_array *array, ein_dtype want,
                           const int64_t *low, const int64_t *shape, void *dst, ein_error *err);

/* What precedes the elements. For a .npy: writes at most EIN_NPY_HEAD bytes, and returns their number. For a
 * safetensors file: a text that the caller frees, and where each tensor's elements begin. */
enum { EIN_NPY_HEAD = 2048 };
size_t ein_npy_head(char *to, ein_dtype dtype, int ndim, const int64_t *shape);
ein_status ein_safetensors_head(const char *who, size_t count, const ein_named_tensor *tensors,
                                char **text, size_t *length, uint64_t *at, ein_error *err);

/* "[2, 3]"; a long shape is truncated with "...". */
typedef struct ein_shape_text {
  char text[160];
} ein_shape_text;

ein_shape_text ein_shape_print(int ndim, const int64_t *shape);

/* Compares the expected shape with the actual one; the message has the first axis that differs, and both shapes. */
ein_status ein_shape_match(const char *who, int want_ndim, const int64_t *want, int met_ndim,
                           const int64_t *met, ein_error *err);

#endif
