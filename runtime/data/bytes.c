/* SPDX-License-Identifier: MIT-0 */
/*
 * Byte sources: a path or memory in, checked reads out. See bytes.h.
 */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *ein_short_name(const char *path) {
  const size_t most = 160;
  size_t length = strlen(path);
  if (length <= most) return path;
  path += length - most;
  while (((unsigned char)*path & 0xC0) == 0x80) path++;
  return path;
}

const char *ein_errno_text(int code, char buffer[32]) {
  switch (code) {
  case ENOENT: return "there is no such file or folder";
  case EACCES: return "permission denied";
  case EPERM: return "operation not permitted";
  case EISDIR: return "it is a folder";
  case ENOTDIR: return "a part of the path is not a folder";
  case ENAMETOOLONG: return "the name is too long";
  case ELOOP: return "too many symbolic links";
  case ENOSPC: return "the disk is full";
  case EDQUOT: return "the disk quota is used up";
  case EFBIG: return "the file is larger than the system allows";
  case EROFS: return "the file system is read-only";
  case EMFILE:
  case ENFILE: return "too many open files";
  case ENOMEM: return "out of memory";
  case EIO: return "the device reports an input/output error";
  case ESTALE: return "the network file system lost the file";
  case EOVERFLOW: return "the file is too large for this system";
  default: snprintf(buffer, 32, "system error %d", code); return buffer;
  }
}

static ein_status open_failed(const char *path, int code, ein_error *err) {
  char buffer[32];
  return ein_error_set(err, code == ENOMEM ? EIN_ERR_MEMORY : EIN_ERR_IO, "%s: cannot open it: %s",
                       ein_short_name(path), ein_errno_text(code, buffer));
}

static ein_status check_regular(const char *path, const struct stat *st, ein_error *err) {
  if (S_ISREG(st->st_mode)) return EIN_OK;
  const char *kind = S_ISDIR(st->st_mode)                           ? "a folder"
                     : S_ISFIFO(st->st_mode)                        ? "a FIFO"
                     : S_ISSOCK(st->st_mode)                        ? "a socket"
                     : S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode) ? "a device"
                                                                    : "something else";
  return ein_error_set(err, EIN_ERR_IO, "%s: expected a regular file, found %s", ein_short_name(path),
                       kind);
}

/* Checked before it is opened, because opening a FIFO or a device has effects; and after, because it may have
 * been replaced. */
ein_status ein_bytes_open(ein_bytes *b, const char *path, ein_error *err) {
  *b = (ein_bytes){.name = ein_short_name(path), .fd = -1};
  struct stat st;
  if (stat(path, &st) != 0) return open_failed(path, errno, err);
  ein_status status = check_regular(path, &st, err);
  if (status != EIN_OK) return status;
  b->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (b->fd < 0 || fstat(b->fd, &st) != 0)
    status = open_failed(path, errno, err);
  else
    status = check_regular(path, &st, err);
  if (status != EIN_OK)
    ein_bytes_close(b);
  else
    b->size = (uint64_t)st.st_size;
  return status;
}

void ein_bytes_close(ein_bytes *b) {
  if (b->fd >= 0) close(b->fd);
  b->fd = -1;
}

void ein_bytes_from_memory(ein_bytes *b, const char *name, const void *data, size_t size) {
  *b = (ein_bytes){.name = name, .memory = data, .fd = -1, .size = size};
}

static ein_status too_short(const ein_bytes *b, ein_error *err) {
  return ein_error_set(err, EIN_ERR_FORMAT, "%s: the file ends too early (%llu bytes)", b->name,
                       (unsigned long long)b->size);
}

ein_status ein_bytes_read(const ein_bytes *b, uint64_t at, void *dst, uint64_t n, ein_error *err) {
  if (at > b->size || n > b->size - at) return too_short(b, err);
  at += b->start;
  if (b->memory) {
    if (n > 0) memcpy(dst, b->memory + at, (size_t)n);
    return EIN_OK;
  }
  for (unsigned char *to = dst; n > 0;) {
    size_t piece = n < (uint64_t)1 << 30 ? (size_t)n : (size_t)1 << 30;
    ssize_t got = pread(b->fd, to, piece, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      char buffer[32];
      return ein_error_set(err, EIN_ERR_IO, "%s: reading failed: %s", b->name,
                           ein_errno_text(errno, buffer));
    }
    if (got == 0) /* the file was truncated meanwhile */
      return too_short(b, err);
    to += got;
    at += (uint64_t)got;
    n -= (uint64_t)got;
  }
  return EIN_OK;
}

ein_bytes ein_bytes_window(const ein_bytes *b, uint64_t at, uint64_t n) {
  ein_bytes window = *b;
  window.start += at;
  window.size = n;
  return window;
}

uint64_t ein_le(const unsigned char *p, int bytes) {
  uint64_t value = 0;
  for (int i = bytes; i-- > 0;) value = value << 8 | p[i];
  return value;
}

void ein_le_put(unsigned char *p, int bytes, uint64_t value) {
  for (int i = 0; i < bytes; i++) {
    p[i] = (unsigned char)value;
    value >>= 8;
  }
}

void ein_swap(void *data, size_t size, int64_t count) {
  unsigned char *p = data;
  for (int64_t k = 0; k < count; k++, p += size) {
    for (size_t i = 0; i < size / 2; i++) {
      unsigned char byte = p[i];
      p[i] = p[size - 1 - i];
      p[size - 1 - i] = byte;
    }
  }
}
