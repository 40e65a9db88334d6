/* driver/options/nearest.c - finds the known name that was probably meant, in whatever case. Short names must be nearer
 * than long ones. */
#include <string.h>

#include "driver/driver.h"

enum { LONGEST = 60 };

static uint32_t lowered(char *to, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) to[i] = char_lower(s[i]);
  return (uint32_t)n;
}

Nearest nearest_to(Arena *a, const char *wanted) {
  size_t n = strlen(wanted);
  return (Nearest){a, wanted, NULL, n <= 2 ? 2 : n <= 5 ? 3 : 4}; /* one more than what is near */
}

void nearest_try(Nearest *n, const char *candidate) {
  size_t len = strlen(n->wanted), with = strlen(candidate);
  char a[LONGEST], b[LONGEST];
  if (len > LONGEST || with > LONGEST) return;
  uint32_t d = str_distance(a, lowered(a, n->wanted, len), b, lowered(b, candidate, with), n->distance);
  if (d >= n->distance || d >= with || d >= len + (d == 0)) return;
  n->distance = d;
  n->best = arena_copy(n->arena, candidate, with + 1);
}

Leave name_unknown(Session *s, const char *what, const char *name, const Words *known) {
  Nearest near = nearest_to(s->arena, name);
  Buf all = buf_new(s->arena);
  for (uint32_t i = 0; i < known->len; i++) {
    nearest_try(&near, known->at[i]);
    buf_printf(&all, "%s%s", i ? ", " : "", known->at[i]);
  }
  if (near.best) return fail(s, LEAVE_USAGE, "%s %s; did you mean %s?", what, name, near.best);
  if (known->len) return fail(s, LEAVE_USAGE, "%s %s; it has %s", what, name, all.s);
  return fail(s, LEAVE_USAGE, "%s %s, nor any other", what, name);
}
