/* SPDX-License-Identifier: MIT-0 */
/*
 * The Ein runtime's public face: what generated programs and the driver call. In come file names,
 * source specs, shapes and borrowed buffers; out come filled buffers, written files, random numbers
 * and status codes. Nothing here prints, exits, keeps a writable global or looks at the locale. C99
 * and C++ clean.
 */
#ifndef EIN_RT_H
#define EIN_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EIN_MAX_AXES 64

/* ---- element types ---- */

typedef enum ein_dtype {
  EIN_F64,
  EIN_F32,
  EIN_F16,
  EIN_BF16,
  EIN_I64,
  EIN_I32,
  EIN_I16,
  EIN_I8,
  EIN_U8,
  EIN_BOOL
} ein_dtype;

#define EIN_DTYPE_COUNT 10

/* Bytes of one element, or 0 for a value outside the enum. */
size_t ein_dtype_size(ein_dtype dtype);
/* "f64", "bf16", "bool" ... as the language writes them; "?" for a value outside the enum. */
const char *ein_dtype_name(ein_dtype dtype);
/* DLPack's type code and bits of a dtype (lanes are always 1), and back; both give 0 where there is
 * none. */
int ein_dtype_to_dlpack(ein_dtype dtype, uint8_t *code, uint8_t *bits);
int ein_dtype_from_dlpack(uint8_t code, uint8_t bits, ein_dtype *dtype);

/* ---- what goes wrong ---- */

typedef enum ein_status {
  EIN_OK = 0,
  EIN_ERR_IO,     /* the system refused: no such file, no permission, disk full */
  EIN_ERR_FORMAT, /* a file or a spec is not written as its format demands */
  EIN_ERR_SHAPE,  /* the shape met is not the shape wanted, or is no shape at all */
  EIN_ERR_DTYPE,  /* the element type met cannot become the one wanted */
  EIN_ERR_MEMORY, /* no memory */
  EIN_ERR_ARG,    /* the caller's argument makes no sense */
  EIN_ERR_RANGE   /* a number does not fit the type that shall hold it */
} ein_status;

/* Start it as {0}. The first error stays; later ones are dropped. */
typedef struct ein_error {
  ein_status status;
  char text[512];
} ein_error;

/*
 * Records an error unless one is there already, and returns `status`. `err` may be NULL. The text
 * is cut to fit, and control characters (a file's name or content may hold them) become '?'. Never
 * give it a floating-point conversion: that would read the locale.
 */
ein_status ein_error_set(ein_error *err, ein_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* ---- tensors ---- */

/*
 * A borrowed view. Each field is DLPack's DLTensor field of the same name (`dtype` through
 * ein_dtype_to_dlpack). `strides` are in elements; NULL means C order. The first element lies at
 * (char *)data + byte_offset. Device type 1 is the CPU.
 */
typedef struct ein_tensor {
  void *data;
  int32_t device_type;
  int32_t device_id;
  int32_t ndim;
  ein_dtype dtype;
  const int64_t *shape;
  const int64_t *strides;
  uint64_t byte_offset;
} ein_tensor;

/*
 * Elements and bytes of a C-order array, refusing more than EIN_MAX_AXES axes, negative extents and
 * products that do not fit int64 (counting an extent 0 as 1, so strides fit too). `who` opens the
 * message; `count` and `bytes` may be NULL.
 */
ein_status ein_shape_size(const char *who, ein_dtype dtype, int ndim, const int64_t *shape,
                          int64_t *count, int64_t *bytes, ein_error *err);

/* ---- half precision: one rounding, to nearest even; NaN stays NaN; subnormals as IEEE says ----
 */

float ein_f16_to_f32(uint16_t half);
uint16_t ein_f32_to_f16(float x);
uint16_t ein_f64_to_f16(double x);
float ein_bf16_to_f32(uint16_t half);
uint16_t ein_f32_to_bf16(float x);
uint16_t ein_f64_to_bf16(double x);

/*
 * Converts `n` elements. Integers and bool go to any float (rounding to nearest) and to any integer
 * or bool that holds the value (else EIN_ERR_RANGE, naming the index counted from `first`); floats
 * go to floats only. `src` and `dst` need no alignment and must not overlap. `who` opens the
 * messages.
 */
ein_status ein_convert(const char *who, ein_dtype from, const void *src, ein_dtype to, void *dst,
                       int64_t n, int64_t first, ein_error *err);

/* ---- random numbers: each value depends on its arguments only, with the same bits on every target
 * ---- */

void ein_philox4x32_10(const uint32_t ctr[4], const uint32_t key[2], uint32_t out[4]);
/* In [0, 1), a multiple of 2^-24. */
float ein_uniform(int64_t seed, int64_t index);
/* Standard normal; magnitude below 8.6. */
float ein_normal(int64_t seed, int64_t index);
/* In lo..hi, both included; lo when hi < lo. */
int64_t ein_randint(int64_t seed, int64_t index, int64_t lo, int64_t hi);
/* Entry h of the seed's permutation of 0..H-1, and of its inverse. -1 unless 0 <= h < H <= 2^62. */
int64_t ein_permutation(int64_t seed, int64_t h, int64_t H);
int64_t ein_inverse_permutation(int64_t seed, int64_t h, int64_t H);

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

/* What is known before anything is read: for a file, its header. */
ein_status ein_source_probe(const char *spec, ein_source_info *out, ein_error *err);

/*
 * Fills the C-order buffer `dst` of the given dtype and shape, converting as ein_convert does. A
 * file's shape must be the one wanted. When it fails, `dst` may be partly written.
 */
ein_status ein_source_read(const char *spec, ein_dtype want, int ndim, const int64_t *shape,
                           void *dst, ein_error *err);

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

#ifdef __cplusplus
}
#endif

#endif
