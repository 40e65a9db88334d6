/* SPDX-License-Identifier: MIT-0 */
/*
 * The public interface of Ein's runtime: what generated programs and the driver call. In come file names,
 * source specs, shapes and borrowed buffers; out come filled buffers, written files, random numbers and status
 * codes. Nothing here prints, exits, has writable global state or reads the locale. Valid C99 and C++.
 */
#ifndef EIN_RT_H
#define EIN_RT_H

#include "ein_num.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- element types, errors, shapes, half precision, random numbers: ein_num.h ---- */

/* Whether the type is one of EIN_F64 to EIN_BF16. */
static inline int ein_is_float(ein_dtype dtype) {
  return dtype <= EIN_BF16;
}

/*
 * Converts `n` elements. Integers and bool convert to any float (rounding to nearest) and to any integer or
 * bool that holds the value (else EIN_ERR_RANGE, with the index counted from `first`); floats convert to floats
 * only. `src` and `dst` need no alignment and must not overlap. `who` begins the messages.
 */
ein_status ein_convert(const char *who, ein_dtype from, const void *src, ein_dtype to, void *dst,
                       int64_t n, int64_t first, ein_error *err);

/* ---- sources: one interface for every kind of input ----
 *
 * A source spec is one of
 *   path.npy                       versions 1, 2, 3; C and Fortran order; either byte order
 *   path.npz:name                  a stored member, its name with or without .npy
 *   path.safetensors:name          (the name follows the first ".npz:" or ".safetensors:"; it may be
 *                                  omitted if the file holds only one array)
 *   path.raw  path.bin             bare little-endian elements in C order, of the requested dtype
 *   zeros  ones  iota              iota: element k is k
 *   const:2.5                      also inf, -inf, nan; an integer if it has no '.', 'e' or name
 *   uniform:seed=7  randn:seed=7   f32 values of ein_uniform, ein_normal at row-major index k; seed 0
 *                                  if not given
 *   randint:lo=-5:hi=5:seed=7      ein_randint; lo and hi are required
 *   2.5                            a number alone: const:2.5
 *   [[1,2],[3,4]]                  values: numbers, true, false
 *   fill:t=3                       element k is ((7k + 3t) mod 11) - 5; t 0 if not given
 * A file whose path begins with a generator's name and ':' can be written with "./" before it.
 */

typedef struct ein_source_info {
  int has_dtype; /* the source determines its dtype: .npy, .npz, .safetensors */
  int has_shape; /* and its shape: the same three, and values; raw files and generators fit any shape */
  ein_dtype dtype; /* of values, although they take any: what literals have, i64 or f32 */
  int ndim;
  int64_t shape[EIN_MAX_AXES];
  int64_t bytes; /* data bytes in the file; -1: it is none */
} ein_source_info;

/* Whether the name has this ending and something before it: "x.npy". */
int ein_ends_in(const char *name, const char *ending);
/* Whether the name is that of a file which does not take all outputs, as "x.npz", and no folder is called so. */
int ein_takes_no_all(const char *name);
/* The path that links lead to where nothing is yet, in memory of malloc; NULL, with errno: they lead in a circle. */
char *ein_link_end(const char *path);

/* Reports what is known without reading the data; for a file, its header. */
ein_status ein_source_probe(const char *spec, ein_source_info *out, ein_error *err);

/*
 * Fills the C-order buffer `dst` of the given dtype and shape, converting like ein_convert. A file's shape must
 * equal `shape`. On failure, `dst` may be partly written.
 */
ein_status ein_source_read(const char *spec, ein_dtype want, int ndim, const int64_t *shape,
                           void *dst, ein_error *err);
/*
 * Reads a block of the tensor: `shape` elements from `low` on, where `whole` is the tensor's shape. Of a file,
 * only the header, the block, and gaps between short rows are read. So a checksum over all elements is not
 * verified; ein_source_check does that by reading the whole file.
 */
ein_status ein_source_block(const char *spec, ein_dtype want, int ndim, const int64_t *whole,
                            const int64_t *low, const int64_t *shape, void *dst, ein_error *err);
ein_status ein_source_check(const char *spec, ein_error *err);

/* ---- files of several tensors ---- */

/* Where and how a tensor is stored in its file. Others may give it another shape with as many elements. */
typedef struct ein_stored {
  ein_dtype dtype;
  int big_endian, fortran, ndim;
  int64_t shape[EIN_MAX_AXES];
  uint64_t at;
  int64_t bytes;
} ein_stored;

/*
 * Called for each tensor of a .safetensors or .npz file, until a call does not return EIN_OK. `name` is not
 * terminated; `other` is the name of a dtype that cannot be read, or NULL. Checksums are not verified.
 */
typedef ein_status (*ein_stored_seen)(void *user, const char *name, size_t length,
                                      const ein_stored *stored, const char *other, ein_error *err);
ein_status ein_stored_each(const char *path, ein_stored_seen seen, void *user, ein_error *err);
/* Reads a block of one into a C-order buffer, like ein_source_block. */
ein_status ein_stored_block(const char *path, const ein_stored *stored, ein_dtype want,
                            const int64_t *low, const int64_t *shape, void *dst, ein_error *err);
/*
 * Maps its elements, read-only, until the process ends. *out is NULL if the file's form differs from memory's
 * (another byte order, Fortran order, misaligned, bools).
 */
ein_status ein_stored_map(const char *path, const ein_stored *stored, const void **out, ein_error *err);

/* ---- writers: C-order data in, a file out ----
 *
 * The file is written under a temporary name in the same folder and renamed when complete, so a reader
 * sees the old file or the new one. On failure the temporary file is removed and the old file stays. A
 * path that exists but is no regular file (a folder, a device, a FIFO) is refused; a symbolic link is
 * followed.
 */

/* .npy has no bf16 type, so bf16 is written as f4, which holds every bf16 value exactly. */
ein_status ein_npy_write(const char *path, ein_dtype dtype, int ndim, const int64_t *shape,
                         const void *data, ein_error *err);

/* Bare little-endian elements. */
ein_status ein_raw_write(const char *path, ein_dtype dtype, int ndim, const int64_t *shape,
                         const void *data, ein_error *err);

typedef struct ein_named_tensor {
  const char *name;  /* UTF-8, unique in its file */
  ein_tensor tensor; /* on the CPU, in C order */
} ein_named_tensor;

/* Tensors are stored by decreasing element size (so each is aligned), otherwise in the given order. */
ein_status ein_safetensors_write(const char *path, size_t count, const ein_named_tensor *tensors,
                                 ein_error *err);

/* ---- files that several processes write ----
 *
 * One process begins the file, under a temporary name, with its header and room for all elements. Then
 * all write blocks of its tensors, in any order. When they have finished, the first process ends the
 * file: as with the writers above, it appears complete or not at all. No process needs more of a tensor
 * than the blocks that it writes.
 */

typedef struct ein_joint ein_joint;

/* The name's ending determines the format: .npy and raw files hold one tensor, .safetensors any number. The
 * tensors' data are not read. at[i] is set to where tensor i's elements begin. */
ein_status ein_joint_begin(const char *path, size_t count, const ein_named_tensor *tensors,
                           ein_joint **out, uint64_t *at, ein_error *err);
/* The name under which others write it. */
const char *ein_joint_name(const ein_joint *j);
/* Renames the file if `status` is EIN_OK, else removes it; frees j. Returns the final status. */
ein_status ein_joint_end(ein_joint *j, ein_status status, ein_error *err);
/* The type of elements in the file: bf16 becomes f32 in a .npy. */
ein_dtype ein_joint_dtype(const char *path, ein_dtype dtype);

typedef struct ein_block {
  ein_dtype dtype, file_dtype;
  int ndim;
  const int64_t *whole, *low, *shape; /* the tensor's extents; where the block begins; the block's extents */
  const void *data;                   /* in C order */
} ein_block;

/* Writes a block into the file of that name; the tensor's elements begin at `at`. `who` begins messages. */
ein_status ein_joint_write(const char *name, const char *who, uint64_t at, const ein_block *block,
                           ein_error *err);

/* ---- tensors as text (data/show.c) ---- */

typedef struct ein_shown {
  const char *name;            /* "": none */
  ein_dtype dtype;
  int ndim;
  const char *const *label;    /* by axis, NULL or "": none; NULL: no axis has one */
  const int64_t *shape;
  int64_t count;
  const void *data;            /* in C order */
  const unsigned char *has;    /* by element, whether it has a value; NULL: all have */
} ein_shown;

typedef struct ein_shown_text { char s[40]; } ein_shown_text;
typedef void ein_show_put(void *to, const char *text);

/* Element k: six digits of a float, and something that distinguishes it from an integer; "-": it has no value. */
ein_shown_text ein_show_element(const ein_shown *a, int64_t k);
/* "X[i:3, 4] : f32" */
void ein_show_heading(const ein_shown *a, ein_show_put *put, void *to);
/* That, and the elements: all, or of more than 100 the corners and a summary. */
void ein_show(const ein_shown *a, ein_show_put *put, void *to);

#ifdef __cplusplus
}
#endif

#endif
