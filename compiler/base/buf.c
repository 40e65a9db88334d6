/* base/buf.c - text buffers. */
#include "base.h"

#include <stdio.h>
#include <string.h>

Buf buf_new(Arena *a) {
  return (Buf){.arena = a, .s = arena_alloc(a, 64), .cap = 64};
}

/* Makes room for n more bytes and the NUL. */
static char *buf_room(Buf *b, size_t n) {
  if (n >= b->cap - b->len) {
    BUG_UNLESS(n < SIZE_MAX / 4);
    size_t cap = b->cap * 2;
    while (cap <= b->len + n) cap *= 2;
    char *s = arena_alloc(b->arena, cap);
    memcpy(s, b->s, b->len);
    b->s = s;
    b->cap = cap;
  }
  return b->s + b->len;
}

void buf_add(Buf *b, const char *s, size_t n) {
  if (!n) return;
  char *p = buf_room(b, n);
  memcpy(p, s, n);
  p[n] = 0;
  b->len += n;
}

void buf_str(Buf *b, const char *zs) {
  buf_add(b, zs, strlen(zs));
}

void buf_char(Buf *b, char c) {
  char *p = buf_room(b, 1);
  p[0] = c;
  p[1] = 0;
  b->len++;
}

void buf_vprintf(Buf *b, const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  size_t room = b->cap - b->len;
  int n = vsnprintf(b->s + b->len, room, fmt, ap);
  BUG_UNLESS(n >= 0);
  if ((size_t)n >= room) {
    b->s[b->len] = 0;
    vsnprintf(buf_room(b, (size_t)n), (size_t)n + 1, fmt, again);
  }
  b->len += (size_t)n;
  va_end(again);
}

void buf_printf(Buf *b, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  buf_vprintf(b, fmt, ap);
  va_end(ap);
}
