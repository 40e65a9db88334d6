/* SPDX-License-Identifier: MIT-0 */
/*
 * Output files: bytes in, a complete file out or none. A character device, such as /dev/null, is written
 * directly. See bytes.h.
 */
#define _XOPEN_SOURCE     700 /* realpath */
#define _FILE_OFFSET_BITS 64
#include "bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

ein_status ein_out_failed(const char *name, const char *what, int code, ein_error *err) {
  char buffer[32];
  return ein_error_set(err, code == ENOMEM ? EIN_ERR_MEMORY : EIN_ERR_IO, "%s: %s: %s", name, what,
                       ein_errno_text(code, buffer));
}

static ein_status open_device(ein_out *out, ein_error *err) {
  out->fd = open(out->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
  return out->fd >= 0 ? EIN_OK : ein_out_failed(out->name, "cannot write it", errno, err);
}

char *ein_link_end(const char *path) {
  enum { LINKS = 40, LONG = 4096 };
  char to[LONG], *at = strdup(path);
  for (int i = 0; at && i < LINKS; i++) {
    const ssize_t n = readlink(at, to, sizeof to - 1);
    if (n < 0) return at;
    to[n] = 0;
    const char *slash = strrchr(at, '/');
    const size_t folder = *to == '/' || !slash ? 0 : (size_t)(slash - at) + 1;
    char *next = malloc(folder + (size_t)n + 1);
    if (next) {
      memcpy(next, at, folder);
      memcpy(next + folder, to, (size_t)n + 1);
    }
    free(at);
    at = next;
  }
  if (at) errno = ELOOP;
  free(at);
  return NULL;
}

/* The file to replace, with links resolved: renaming over a link would replace the link. */
static ein_status find_target(ein_out *out, const char *path, ein_error *err) {
  struct stat st;
  if (lstat(path, &st) == 0) {
    out->path = realpath(path, NULL);
    if (!out->path && errno == ENOENT) {
      out->path = ein_link_end(path);
      return out->path ? EIN_OK : ein_out_failed(out->name, "cannot write it", errno, err);
    }
    if (!out->path || stat(out->path, &st) != 0)
      return ein_out_failed(out->name, "cannot write it", errno, err);
    if (S_ISCHR(st.st_mode)) return open_device(out, err);
    if (!S_ISREG(st.st_mode))
      return ein_error_set(err, EIN_ERR_IO, "%s: cannot write it: it is there and no regular file",
                           out->name);
    if (access(out->path, W_OK) != 0) return ein_out_failed(out->name, "cannot write it", errno, err);
    out->mode = st.st_mode & 07777;
    return EIN_OK;
  }
  if (errno != ENOENT) return ein_out_failed(out->name, "cannot write it", errno, err);
  out->path = strdup(path);
  return out->path ? EIN_OK : ein_error_set(err, EIN_ERR_MEMORY, "%s: out of memory", out->name);
}

/* A name that other processes, threads and attempts do not choose: a hash of time, process and address. */
static void temporary_name(char *to, size_t room, const ein_out *out, uint32_t attempt) {
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  const uint32_t key[2] = {(uint32_t)now.tv_sec, (uint32_t)getpid()};
  const uint32_t ctr[4] = {(uint32_t)now.tv_nsec, attempt, (uint32_t)(uintptr_t)out,
                           (uint32_t)((uint64_t)(uintptr_t)out >> 32)};
  uint32_t word[4];
  ein_philox4x32_10(ctr, key, word);
  snprintf(to, room, ".ein-%08lx%08lx.tmp", (unsigned long)word[0], (unsigned long)word[1]);
}

static ein_status open_temporary(ein_out *out, ein_error *err) {
  const char *slash = strrchr(out->path, '/');
  size_t folder = slash ? (size_t)(slash - out->path) + 1 : 0;
  const size_t room = 40;
  out->temporary = malloc(folder + room);
  if (!out->temporary) return ein_error_set(err, EIN_ERR_MEMORY, "%s: out of memory", out->name);
  memcpy(out->temporary, out->path, folder);
  for (uint32_t attempt = 0; attempt < 100; attempt++) {
    temporary_name(out->temporary + folder, room, out, attempt);
    out->fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (out->fd >= 0) return EIN_OK;
    if (errno != EEXIST && errno != EINTR) break;
  }
  return ein_out_failed(out->name, "cannot create a file in its folder", errno, err);
}

static void out_free(ein_out *out) {
  free(out->path);
  free(out->temporary);
  *out = (ein_out){.fd = -1};
}

ein_status ein_out_open(ein_out *out, const char *path, ein_error *err) {
  *out = (ein_out){.name = ein_short_name(path), .fd = -1};
  ein_status status = find_target(out, path, err);
  if (status == EIN_OK && out->fd < 0) status = open_temporary(out, err);
  if (status != EIN_OK) out_free(out);
  return status;
}

ein_status ein_out_write(ein_out *out, const void *data, uint64_t n, ein_error *err) {
  for (const unsigned char *from = data; n > 0;) {
    size_t piece = n < (uint64_t)1 << 30 ? (size_t)n : (size_t)1 << 30;
    ssize_t put = write(out->fd, from, piece);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ein_out_failed(out->name, "writing failed", errno, err);
    from += put;
    n -= (uint64_t)put;
  }
  return EIN_OK;
}

ein_status ein_out_elements(ein_out *out, ein_dtype dtype, const void *data, int64_t count,
                            ein_error *err) {
  const size_t size = ein_dtype_size(dtype);
  if (!EIN_BIG_ENDIAN || size == 1) return ein_out_write(out, data, (uint64_t)count * size, err);
  unsigned char chunk[8192];
  const int64_t most = (int64_t)(sizeof chunk / size);
  const unsigned char *from = data;
  ein_status status = EIN_OK;
  for (int64_t k = 0; k < count && status == EIN_OK; k += most) {
    int64_t n = count - k < most ? count - k : most;
    memcpy(chunk, from + (size_t)k * size, (size_t)n * size);
    ein_swap(chunk, size, n);
    status = ein_out_write(out, chunk, (uint64_t)n * size, err);
  }
  return status;
}

ein_status ein_out_finish(ein_out *out, ein_status status, ein_error *err) {
  if (out->fd < 0) return status;
  if (close(out->fd) != 0 && errno != EINTR && status == EIN_OK)
    status = ein_out_failed(out->name, "writing failed", errno, err);
  if (status == EIN_OK && out->temporary && out->mode && chmod(out->temporary, (mode_t)out->mode) != 0)
    status = ein_out_failed(out->name, "cannot give it the mode that it had", errno, err);
  if (status == EIN_OK && out->temporary && rename(out->temporary, out->path) != 0)
    status = ein_out_failed(out->name, "cannot put the finished file in place", errno, err);
  if (status != EIN_OK && out->temporary) unlink(out->temporary);
  out_free(out);
  return status;
}
