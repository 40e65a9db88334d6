/* SPDX-License-Identifier: MIT-0 */
/*
 * The Ein runtime's public face: what generated programs and the driver call. In come file names,
 * source specs, shapes and borrowed buffers; out come filled buffers, written files, random numbers
 * and status codes. Nothing here prints, exits, keeps a writable global or looks at the locale. C99
 * and C++ clean.
 */
#ifndef EIN_RT_H
#define EIN_RT_H

#include "ein_num.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- element types, errors, shapes, half precision, random numbers: ein_num.h ---- */

/* Of EIN_F64 to EIN_BF16. */
static inline int ein_is_float(ein_dtype dtype) {
  return dtype <= EIN_BF16;
}

/*
 * Converts `n` elements. Integers and bool go to any float (rounding to nearest) and to any integer
 * or bool that holds the value (else EIN_ERR_RANGE, naming the index counted from `first`); floats
 * go to floats only. `src` and `dst` need no alignment and must not overlap. `who` opens the
 * messages.
 */
ein_status ein_convert(const char *who, ein_dtype from, const void *src, ein_dtype to, void *dst,
                       int64_t n, int64_t first, ein_error *err);

/* ---- sources: one door to every kind of input ----
 *
 * A source spec is one of
 *   path.npy                       versions 1, 2, 3; C and Fortran order; either byte order
 *   path.npz:name                  a stored member, its name with or without .npy
 *   path.safetensors:name          (the name is what follows the first ".npz:" or ".safetensors:";
 * it may be left out where the file holds one array only) path.raw  path.bin             bare
 * little-endian elements in C order, of the dtype wanted zeros  ones  iota              iota:
 * element k is k const:2.5                      also inf, -inf, nan; without '.', 'e' or a name it
 * is an integer uniform:seed=7  randn:seed=7   f32 values of ein_uniform, ein_normal at row-major
 * index k; seed 0 if not given randint:lo=-5:hi=5:seed=7      ein_randint; lo and hi must be given
 *   2.5                            a number alone: const:2.5
 *   fill:t=3                       element k is ((7k + 3t) mod 11) - 5; t 0 if not given
 * A file whose path begins with a generator's name and ':' can be written with "./" before it.
 */

typedef struct ein_source_info {
  int has_dtype; /* the source fixes its dtype: .npy, .npz, .safetensors */
  int has_shape; /* and its shape: the same three; raw files and generators take any */
  ein_dtype dtype;
  int ndim;
  int64_t shape[EIN_MAX_AXES];
  int64_t bytes; /* data bytes in the file; -1 for a generator */
} ein_source_info;

/* A name that is more than its ending: "x.npy". */
int ein_ends_in(const char *name, const char *ending);

/* What is known before anything is read: for a file, its header. */
ein_status ein_source_probe(const char *spec, ein_source_info *out, ein_error *err);

/*
 * Fills the C-order buffer `dst` of the given dtype and shape, converting as ein_convert does. A
 * file's shape must be the one wanted. When it fails, `dst` may be partly written.
 */
ein_status ein_source_read(const char *spec, ein_dtype want, int ndim, const int64_t *shape,
                           void *dst, ein_error *err);
/*
 * The same of a block of the tensor, `shape` from `low` on: `whole` is the tensor's shape. Of a file
 * no more is read than that, its header, and what lies between short rows; so a checksum over all
 * elements is not looked at, for which ein_source_check goes through the file.
 */
ein_status ein_source_block(const char *spec, ein_dtype want, int ndim, const int64_t *whole,
                            const int64_t *low, const int64_t *shape, void *dst, ein_error *err);
ein_status ein_source_check(const char *spec, ein_error *err);

/* ---- files of several tensors ---- */

/* Where a tensor lies in its file, and how. Others may say its shape otherwise, of as many elements. */
typedef struct ein_stored {
  ein_dtype dtype;
  int big_endian, fortran, ndim;
  int64_t shape[EIN_MAX_AXES];
  uint64_t at;
  int64_t bytes;
} ein_stored;

/*
 * All tensors of a .safetensors or .npz file, one call each, until one is not EIN_OK. `name` has no end
 * of its own; `other` is the name of a dtype that cannot be read, or NULL. Checksums are not looked at.
 */
typedef ein_status (*ein_stored_seen)(void *user, const char *name, size_t length,
                                      const ein_stored *stored, const char *other, ein_error *err);
ein_status ein_stored_each(const char *path, ein_stored_seen seen, void *user, ein_error *err);
/* A block of one into a C-order buffer, as ein_source_block does. */
ein_status ein_stored_block(const char *path, const ein_stored *stored, ein_dtype want,
                            const int64_t *low, const int64_t *shape, void *dst, ein_error *err);
/*
 * Its elements where they lie, read-only, as long as the process lives: *out is NULL where they are not
 * as memory has them (another byte order, the first axis fastest, a place that is not aligned, bools).
 */
ein_status ein_stored_map(const char *path, const ein_stored *stored, const void **out, ein_error *err);

/* ---- writers: C-order data in, a file out ----
 *
 * The file is written under a temporary name in the same folder and renamed when whole, so a reader
 * sees the old file or the new one. On failure the temporary is removed and the old file stays. A
 * path that is there and no regular file (a folder, a device, a FIFO) is refused; a symbolic link
 * is followed.
 */

/* bf16 has no .npy type: it is written as f4, which holds every bf16 value exactly. */
ein_status ein_npy_write(const char *path, ein_dtype dtype, int ndim, const int64_t *shape,
                         const void *data, ein_error *err);

/* Bare little-endian elements. */
ein_status ein_raw_write(const char *path, ein_dtype dtype, int ndim, const int64_t *shape,
                         const void *data, ein_error *err);

typedef struct ein_named_tensor {
  const char *name;  /* UTF-8, unique in its file */
  ein_tensor tensor; /* on the CPU, in C order */
} ein_named_tensor;

/* The tensors lie in the file by falling element size (so each is aligned), otherwise as given. */
ein_status ein_safetensors_write(const char *path, size_t count, const ein_named_tensor *tensors,
                                 ein_error *err);

/* ---- files that several processes write ----
 *
 * One of them begins a file, under a temporary name, with its header and room for all elements. Then
 * all write blocks of its tensors, in any order. When they have, the one ends it: as with the writers
 * above, it is there as a whole, or not at all. Nobody has more of a tensor than he writes.
 */

typedef struct ein_joint ein_joint;

/* The name's ending says what file it is: .npy and bare elements hold one tensor, .safetensors any
 * number. The tensors' data are not looked at. at[i] is where tensor i's elements begin. */
ein_status ein_joint_begin(const char *path, size_t count, const ein_named_tensor *tensors,
                           ein_joint **out, uint64_t *at, ein_error *err);
/* By which name others write it. */
const char *ein_joint_name(const ein_joint *j);
/* Renames it if `status` is EIN_OK, else removes it; frees. Gives the final status. */
ein_status ein_joint_end(ein_joint *j, ein_status status, ein_error *err);
/* The type that elements have in the file: bf16 is f32 in a .npy. */
ein_dtype ein_joint_dtype(const char *path, ein_dtype dtype);

typedef struct ein_block {
  ein_dtype dtype, file_dtype;
  int ndim;
  const int64_t *whole, *low, *shape; /* the tensor's extents; of the block the first place, and its own */
  const void *data;                   /* in C order */
} ein_block;

/* Into the file of that name, whose tensor begins there; `who` opens messages. */
ein_status ein_joint_write(const char *name, const char *who, uint64_t at, const ein_block *block,
                           ein_error *err);

#ifdef __cplusplus
}
#endif

#endif
