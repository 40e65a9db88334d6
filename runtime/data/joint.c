/* SPDX-License-Identifier: MIT-0 */
/*
 * Files written by several processes: from names and shapes, makes a header and room for all elements under a
 * temporary name; then writes blocks to their places. See ein_rt.h.
 */
#define _XOPEN_SOURCE     700 /* pwrite, ftruncate */
#define _FILE_OFFSET_BITS 64
#include "array.h"
#include "rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ein_joint {
  ein_out out;
  char *path;
};

ein_dtype ein_joint_dtype(const char *path, ein_dtype dtype) {
  return dtype == EIN_BF16 && ein_ends_in(path, ".npy") ? EIN_F32 : dtype;
}

/* ---- beginning ---- */

/* Makes the header's text, which the caller frees, and the offset of each tensor's elements after it. */
static ein_status joint_head(const char *path, size_t count, const ein_named_tensor *tensors,
                             char **text, size_t *length, uint64_t *at, ein_error *err) {
  const ein_tensor *t = &tensors->tensor;
  if (ein_ends_in(path, ".safetensors"))
    return ein_safetensors_head(ein_short_name(path), count, tensors, text, length, at, err);
  if (count != 1) return ein_error_set(err, EIN_ERR_ARG, "%s: it holds one tensor", ein_short_name(path));
  *length = 0;
  *text = malloc(EIN_NPY_HEAD);
  if (!*text) return ein_error_set(err, EIN_ERR_MEMORY, "%s: out of memory", ein_short_name(path));
  if (ein_ends_in(path, ".npy"))
    *length = ein_npy_head(*text, ein_joint_dtype(path, t->dtype), t->ndim, t->shape);
  *at = *length;
  return EIN_OK;
}

/* The end of the last element. */
static ein_status joint_size(const char *path, size_t count, const ein_named_tensor *tensors,
                             uint64_t length, const uint64_t *at, int64_t *size, ein_error *err) {
  *size = (int64_t)length;
  for (size_t i = 0; i < count; i++) {
    const ein_tensor *t = &tensors[i].tensor;
    int64_t bytes = 0;
    ein_status status = ein_shape_size(ein_short_name(path), ein_joint_dtype(path, t->dtype), t->ndim,
                                       t->shape, NULL, &bytes, err);
    if (status != EIN_OK) return status;
    if (bytes > INT64_MAX - (int64_t)at[i])
      return ein_error_set(err, EIN_ERR_SHAPE, "%s: it would pass 2^63 bytes", ein_short_name(path));
    if ((int64_t)at[i] + bytes > *size) *size = (int64_t)at[i] + bytes;
  }
  return EIN_OK;
}

static ein_status joint_open(ein_joint *j, const char *head, size_t length, int64_t size,
                             ein_error *err) {
  ein_status status = ein_out_open(&j->out, j->path, err);
  if (status != EIN_OK) return status;
  if (!j->out.temporary)
    status = ein_error_set(err, EIN_ERR_ARG, "%s: a device is not written by several", j->out.name);
  if (status == EIN_OK) status = ein_out_write(&j->out, head, length, err);
  if (status == EIN_OK && ftruncate(j->out.fd, (off_t)size) != 0)
    status = ein_out_failed(j->out.name, "writing failed", errno, err);
  return status == EIN_OK ? EIN_OK : ein_out_finish(&j->out, status, err);
}

ein_status ein_joint_begin(const char *path, size_t count, const ein_named_tensor *tensors,
                           ein_joint **out, uint64_t *at, ein_error *err) {
  ein_joint *j = calloc(1, sizeof *j);
  char *head = NULL;
  size_t length = 0;
  int64_t size = 0;
  *out = NULL;
  if (j) j->path = malloc(strlen(path) + 1);
  ein_status status = EIN_OK;
  if (!j || !j->path) status = ein_error_set(err, EIN_ERR_MEMORY, "%s: out of memory", ein_short_name(path));
  if (status == EIN_OK) {
    strcpy(j->path, path);
    status = joint_head(path, count, tensors, &head, &length, at, err);
  }
  if (status == EIN_OK) status = joint_size(path, count, tensors, length, at, &size, err);
  if (status == EIN_OK) status = joint_open(j, head, length, size, err);
  free(head);
  if (status == EIN_OK) {
    *out = j;
    return EIN_OK;
  }
  if (j) free(j->path);
  free(j);
  return status;
}

const char *ein_joint_name(const ein_joint *j) {
  return j->out.temporary;
}

ein_status ein_joint_end(ein_joint *j, ein_status status, ein_error *err) {
  if (!j) return status;
  status = ein_out_finish(&j->out, status, err);
  free(j->path);
  free(j);
  return status;
}

/* ---- writing ---- */

static ein_status write_at(int fd, const char *who, const void *data, size_t n, uint64_t at,
                           ein_error *err) {
  for (const unsigned char *from = data; n > 0;) {
    ssize_t put = pwrite(fd, from, n < (size_t)1 << 30 ? n : (size_t)1 << 30, (off_t)at);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ein_out_failed(who, "writing failed", errno, err);
    from += put;
    at += (uint64_t)put;
    n -= (size_t)put;
  }
  return EIN_OK;
}

/* Writes adjacent elements, as little-endian bytes of the file's type. */
static ein_status write_row(int fd, const char *who, const ein_block *b, const unsigned char *from,
                            int64_t n, uint64_t at, ein_error *err) {
  enum { MOST = 2048 };
  unsigned char room[8 * MOST];
  const size_t size = ein_dtype_size(b->file_dtype), own = ein_dtype_size(b->dtype);
  if (b->dtype == b->file_dtype && (!EIN_BIG_ENDIAN || size == 1))
    return write_at(fd, who, from, (size_t)n * size, at, err);
  ein_status status = EIN_OK;
  for (int64_t k = 0, part; k < n && status == EIN_OK; k += part) {
    part = n - k < MOST ? n - k : MOST;
    status = ein_convert(who, b->dtype, from + (size_t)k * own, b->file_dtype, room, part, k, err);
    if (EIN_BIG_ENDIAN) ein_swap(room, size, part);
    if (status == EIN_OK)
      status = write_at(fd, who, room, (size_t)part * size, at + (uint64_t)k * size, err);
  }
  return status;
}

ein_status ein_joint_write(const char *name, const char *who, uint64_t at, const ein_block *b,
                           ein_error *err) {
  ein_rows r;
  ein_status status = EIN_OK;
  ein_rows_begin(&r, b->ndim, b->whole, 0, b->low, b->shape);
  int some = ein_rows_next(&r);
  if (!some) return EIN_OK;
  int fd = open(name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return ein_out_failed(who, "its folder is not shared by all who write", errno, err);
  for (; some && status == EIN_OK; some = ein_rows_next(&r))
    status = write_row(fd, who, b, (const unsigned char *)b->data + (size_t)r.to * ein_dtype_size(b->dtype),
                       r.length, at + (uint64_t)r.from * ein_dtype_size(b->file_dtype), err);
  if (close(fd) != 0 && errno != EINTR && status == EIN_OK)
    status = ein_out_failed(who, "writing failed", errno, err);
  return status;
}
