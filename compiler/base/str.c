/* base/str.c - hashes, and interned strings in an open-addressed table of pointers, at most half full. */
#include "base.h"

#include <string.h>

struct Strings {
  Arena *arena;
  Str *slot;
  uint32_t len, room; /* room is a power of two */
};

uint32_t hash_mix(uint32_t h, uint64_t x) {
  uint64_t z = (x ^ h) + 0x9e3779b97f4a7c15u * ((uint64_t)h + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (uint32_t)(z ^ (z >> 31));
}

uint32_t hash_bytes(const void *p, size_t n, uint32_t seed) {
  const unsigned char *s = p;
  uint32_t h = hash_mix(seed, n);
  for (; n >= 8; n -= 8, s += 8) {
    uint64_t x;
    memcpy(&x, s, 8);
    h = hash_mix(h, x);
  }
  if (n) {
    uint64_t x = 0;
    memcpy(&x, s, n);
    h = hash_mix(h, x);
  }
  return h;
}

Strings *strings_new(Arena *a) {
  Strings *t = MAKE(a, Strings, .arena = a, .room = 256);
  t->slot = NEW_ARRAY(a, Str, t->room);
  return t;
}

static void strings_widen(Strings *t) {
  uint32_t room = t->room * 2;
  BUG_UNLESS(room);
  Str *slot = NEW_ARRAY(t->arena, Str, room);
  for (uint32_t i = 0; i < t->room; i++) {
    if (!t->slot[i]) continue;
    uint32_t k = t->slot[i]->hash & (room - 1);
    while (slot[k]) k = (k + 1) & (room - 1);
    slot[k] = t->slot[i];
  }
  t->slot = slot;
  t->room = room;
}

Str str_of(Strings *t, const char *s, size_t len) {
  BUG_UNLESS(len < UINT32_MAX);
  uint32_t hash = hash_bytes(s, len, 0), k = hash & (t->room - 1);
  for (; t->slot[k]; k = (k + 1) & (t->room - 1)) {
    Str x = t->slot[k];
    if (x->hash == hash && x->len == len && (len == 0 || memcmp(x->s, s, len) == 0)) return x;
  }
  StrData *x = arena_alloc(t->arena, sizeof(StrData) + len + 1);
  x->len = (uint32_t)len;
  x->hash = hash;
  if (len) memcpy(x->s, s, len);
  t->slot[k] = x;
  if (++t->len > t->room / 2) strings_widen(t);
  return x;
}

Str str_from(Strings *t, const char *zs) {
  return str_of(t, zs, strlen(zs));
}

Str strings_printf(Strings *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *s = arena_vprintf(t->arena, fmt, ap);
  va_end(ap);
  return str_from(t, s);
}

Str str_apart(Strings *t, uint32_t n, const Str *taken, Str s) {
  for (uint32_t k = 0; s && k < n; k++)
    if (taken[k] == s) s = strings_printf(t, "%s'", s->s), k = UINT32_MAX;
  return s;
}

uint32_t str_distance(const char *a, uint32_t n, const char *b, uint32_t m, uint32_t limit) {
  enum { LONG = 60 };
  uint32_t row[3][LONG + 1];
  if (n > LONG || m > LONG || (n > m ? n - m : m - n) >= limit) return limit;
  for (uint32_t j = 0; j <= m; j++) row[0][j] = j;
  for (uint32_t i = 1; i <= n; i++) {
    uint32_t *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
    now[0] = i;
    for (uint32_t j = 1; j <= m; j++) {
      uint32_t best = up[j - 1] + (a[i - 1] != b[j - 1]);
      if (up[j] + 1 < best) best = up[j] + 1;
      if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
        best = up2[j - 2] + 1;
      now[j] = best;
    }
  }
  return row[n % 3][m] < limit ? row[n % 3][m] : limit;
}

bool str_same(Str a, Str b) {
  return a == b || (a && b && a->len == b->len && memcmp(a->s, b->s, a->len) == 0);
}
