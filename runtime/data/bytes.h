/* SPDX-License-Identifier: MIT-0 */
/*
 * The source of the readers' bytes and the destination of the writers'. A byte source is a file or a piece of
 * memory (for tests and fuzzers) with a known size; every read is checked against it. An output is a temporary
 * file that replaces the target when complete, or a character device.
 */
#ifndef EIN_BYTES_H
#define EIN_BYTES_H

#include "ein_rt.h"

typedef struct ein_bytes {
  const char *name;            /* for messages; borrowed */
  const unsigned char *memory; /* or NULL; then `fd` is used */
  int fd;
  uint64_t start; /* offset of byte 0 in the memory or the file */
  uint64_t size;
} ein_bytes;

/* Opens a regular file; refuses anything else without blocking. Close it after success. */
ein_status ein_bytes_open(ein_bytes *b, const char *path, ein_error *err);
void ein_bytes_close(ein_bytes *b);
void ein_bytes_from_memory(ein_bytes *b, const char *name, const void *data, size_t size);

/* Reads exactly n bytes from offset `at`, or fails. */
ein_status ein_bytes_read(const ein_bytes *b, uint64_t at, void *dst, uint64_t n, ein_error *err);
/* Narrows the source to n bytes from `at`, which the caller has checked to exist. */
ein_bytes ein_bytes_window(const ein_bytes *b, uint64_t at, uint64_t n);

/* Reads a little-endian number. */
uint64_t ein_le(const unsigned char *p, int bytes);
void ein_le_put(unsigned char *p, int bytes, uint64_t value);

/* The last part of a long path, so that the rest of a message stays readable. */
const char *ein_short_name(const char *path);
/* The cause of an errno in plain English; not the C library's text, which depends on the locale. */
const char *ein_errno_text(int code, char buffer[32]);

typedef struct ein_out {
  const char *name; /* borrowed */
  char *path;       /* the target, with links resolved */
  char *temporary;  /* NULL for a character device */
  unsigned mode;    /* of the file that is replaced; 0: there is none */
  int fd;
} ein_out;

/* Sets the message "NAME: WHAT: the cause of the errno"; returns its status. */
ein_status ein_out_failed(const char *name, const char *what, int code, ein_error *err);
ein_status ein_out_open(ein_out *out, const char *path, ein_error *err);
ein_status ein_out_write(ein_out *out, const void *data, uint64_t n, ein_error *err);
/* Writes elements as little-endian bytes. */
ein_status ein_out_elements(ein_out *out, ein_dtype dtype, const void *data, int64_t count,
                            ein_error *err);
/* Renames the temporary file if `status` is EIN_OK, else removes it; frees. Returns the final status. */
ein_status ein_out_finish(ein_out *out, ein_status status, ein_error *err);

/* Reverses the bytes of each of `count` elements of `size` bytes. */
void ein_swap(void *data, size_t size, int64_t count);

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define EIN_BIG_ENDIAN 1
#else
#define EIN_BIG_ENDIAN 0
#endif

#endif
