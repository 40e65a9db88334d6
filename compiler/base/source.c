/* base/source.c - source files: bytes, and lines, which are counted only when needed. Columns are counted from the
 * previous query's place if that is earlier on the same line, because a line may be megabytes long. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diag.h"
#include "utf8.h"

enum { FILE_MOST = 256 << 20, TEXT_MOST = INT32_MAX };

const char *path_real(Arena *a, const char *path) {
  char *real = realpath(path, NULL);
  if (!real) return NULL;
  const char *copy = arena_copy(a, real, strlen(real) + 1);
  free(real);
  return copy;
}

static Source *source_over(Arena *a, const char *name, const char *bytes, size_t len) {
  static _Atomic uint32_t ids; /* orders complaints about several files; nothing else reads it */
  Source *s = MAKE(a, Source, .name = arena_copy(a, name, strlen(name) + 1), .bytes = bytes, .arena = a,
      .len = (uint32_t)len);
  s->id = atomic_fetch_add(&ids, 1) + 1;
  return s;
}

Source *source_new(Arena *a, const char *name, const char *bytes, size_t len) {
  BUG_UNLESS(len <= TEXT_MOST);
  char *copy = arena_alloc(a, len + 1);
  if (len) memcpy(copy, bytes, len);
  return source_over(a, name, copy, len);
}

static const char *read_all(Arena *a, int fd, char **bytes, size_t *len) {
  struct stat st;
  if (fstat(fd, &st) != 0) return strerror(errno);
  if (S_ISDIR(st.st_mode)) return "is a directory";
  if (!S_ISREG(st.st_mode)) return "is not a regular file";
  if (st.st_size > FILE_MOST) return "is larger than 256 MiB";
  size_t size = (size_t)st.st_size, n = 0;
  *bytes = arena_alloc(a, size + 1);
  while (n < size) {
    ssize_t k = read(fd, *bytes + n, size - n);
    if (k < 0 && errno == EINTR) continue;
    if (k < 0) return strerror(errno);
    if (k == 0) break;
    n += (size_t)k;
  }
  *len = n;
  return NULL;
}

Source *source_read(Arena *a, const char *path, const char **why) {
  char *bytes = NULL;
  size_t len = 0;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not make us wait */
  const char *no = fd < 0 ? strerror(errno) : read_all(a, fd, &bytes, &len);
  if (fd >= 0) close(fd);
  if (no) {
    if (why) *why = arena_printf(a, "%s", no);
    return NULL;
  }
  return source_over(a, path, bytes, len);
}

static void lines_count(Arena *a, Source *s) {
  const char *end = s->bytes + s->len;
  uint32_t n = 1;
  for (const char *p = s->bytes; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++) n++;
  uint32_t *line = NEW_ARRAY(a, uint32_t, n), i = 1;
  for (const char *p = s->bytes; (p = memchr(p, '\n', (size_t)(end - p))) != NULL;)
    line[i++] = (uint32_t)(++p - s->bytes);
  s->line = line;
  s->n_lines = n;
}

void source_place(Arena *a, Source *s, uint32_t at, uint32_t *line, uint32_t *column) {
  if (!s->line) lines_count(a, s);
  if (at > s->len) at = s->len;
  uint32_t lo = 0, hi = s->n_lines; /* line[lo] <= at, and line[hi] > at */
  while (hi - lo > 1) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (s->line[mid] <= at)
      lo = mid;
    else
      hi = mid;
  }
  uint32_t p = s->line[lo], k = 1;
  if (s->last_at > p && s->last_at <= at) p = s->last_at, k = s->last_column;
  for (uint32_t c; p < at; k++) {
    size_t n = utf8_read(s->bytes + p, s->len - p, &c);
    p += n ? (uint32_t)n : 1;
  }
  if (p == at) s->last_at = at, s->last_column = k;
  *line = s->before + lo + 1;
  *column = k;
}

uint32_t span_line(Arena *a, Span s) {
  uint32_t line, column;
  source_place(a, s.src, s.at, &line, &column);
  return line;
}

const char *span_text(Arena *a, Span s) {
  return arena_printf(a, "%.*s", (int)(s.end - s.at), s.src->bytes + s.at);
}
