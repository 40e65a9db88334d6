/* SPDX-License-Identifier: MIT-0 */
/*
 * The tensors of a file that holds several: a path in; names and places, blocks of elements, or the mapped file
 * out. The header is read once for all tensors (ein_rt.h).
 */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "array.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct listing {
  ein_stored_seen seen;
  void *user;
} listing;

static ein_status array_seen(void *user, const char *name, size_t length, const ein_array *a,
                             const char *other, ein_error *err) {
  const listing *l = user;
  ein_stored s = {a->dtype, a->big_endian, a->fortran, a->ndim, {0}, a->at, a->bytes};
  memcpy(s.shape, a->shape, sizeof s.shape);
  return l->seen(l->user, name, length, &s, other, err);
}

ein_status ein_stored_each(const char *path, ein_stored_seen seen, void *user, ein_error *err) {
  listing l = {seen, user};
  ein_bytes file;
  ein_status status = ein_bytes_open(&file, path, err);
  if (status != EIN_OK) return status;
  status = ein_ends_in(path, ".npz") ? ein_npz_each(&file, array_seen, &l, err)
                                     : ein_safetensors_each(&file, array_seen, &l, err);
  ein_bytes_close(&file);
  return status;
}

ein_status ein_stored_block(const char *path, const ein_stored *stored, ein_dtype want,
                            const int64_t *low, const int64_t *shape, void *dst, ein_error *err) {
  ein_array a = {.dtype = stored->dtype, .big_endian = stored->big_endian, .fortran = stored->fortran,
                 .ndim = stored->ndim, .at = stored->at, .bytes = stored->bytes};
  ein_bytes file;
  memcpy(a.shape, stored->shape, sizeof a.shape);
  ein_status status = ein_shape_size(ein_short_name(path), a.dtype, a.ndim, a.shape, &a.count, NULL, err);
  if (status == EIN_OK) status = ein_bytes_open(&file, path, err);
  if (status != EIN_OK) return status;
  status = ein_array_block(&file, &a, want, low, shape, dst, err);
  ein_bytes_close(&file);
  return status;
}

ein_status ein_stored_map(const char *path, const ein_stored *stored, const void **out, ein_error *err) {
  const size_t size = ein_dtype_size(stored->dtype);
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), before = stored->at % page;
  ein_bytes file;
  *out = NULL;
  if (stored->dtype == EIN_BOOL || (stored->fortran && stored->ndim > 1) || stored->at % size || stored->bytes == 0 ||
      (stored->big_endian != EIN_BIG_ENDIAN && size > 1))
    return EIN_OK;
  ein_status status = ein_bytes_open(&file, path, err);
  if (status != EIN_OK) return status;
  if (stored->at > file.size || (uint64_t)stored->bytes > file.size - stored->at)
    status = ein_error_set(err, EIN_ERR_FORMAT, "%s: the file ends too early (%llu bytes)", file.name,
                           (unsigned long long)file.size);
  void *at = MAP_FAILED;
  if (status == EIN_OK)
    at = mmap(NULL, (size_t)(before + (uint64_t)stored->bytes), PROT_READ, MAP_PRIVATE, file.fd,
        (off_t)(stored->at - before));
  ein_bytes_close(&file);
  if (at != MAP_FAILED) *out = (const unsigned char *)at + before; /* if it fails, the elements are read instead */
  return status;
}
