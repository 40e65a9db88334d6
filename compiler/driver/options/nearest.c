/* driver/options/nearest.c - finds the known name that was probably meant, by the number of edits of one letter and
 * swaps of neighbours (the optimal string alignment distance). Short names must be nearer than long ones. */
#include <string.h>

#include "driver/driver.h"

enum { LONGEST = 60 };

static uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/* Keeps three rows of the table; ignores case. */
static uint32_t distance(const char *a, size_t n, const char *b, size_t m) {
  uint32_t row[3][LONGEST + 1];
  for (size_t j = 0; j <= m; j++) row[0][j] = (uint32_t)j;
  for (size_t i = 1; i <= n; i++) {
    uint32_t *now = row[i % 3], *up = row[(i + 2) % 3], *upper = row[(i + 1) % 3];
    now[0] = (uint32_t)i;
    for (size_t j = 1; j <= m; j++) {
      uint32_t change = char_lower(a[i - 1]) != char_lower(b[j - 1]);
      now[j] = least(least(up[j], now[j - 1]) + 1, up[j - 1] + change);
      if (i > 1 && j > 1 && char_lower(a[i - 1]) == char_lower(b[j - 2]) &&
          char_lower(a[i - 2]) == char_lower(b[j - 1]))
        now[j] = least(now[j], upper[j - 2] + 1);
    }
  }
  return row[n % 3][m];
}

Nearest nearest_to(Arena *a, const char *wanted) {
  size_t n = strlen(wanted);
  return (Nearest){a, wanted, NULL, n <= 2 ? 2 : n <= 5 ? 3 : 4}; /* one more than what is near */
}

void nearest_try(Nearest *n, const char *candidate) {
  size_t len = strlen(n->wanted), with = strlen(candidate);
  if (len > LONGEST || with > LONGEST) return;
  uint32_t d = distance(n->wanted, len, candidate, with);
  if (d >= n->distance || d >= with || d >= len + (d == 0)) return;
  n->distance = d;
  n->best = arena_copy(n->arena, candidate, with + 1);
}
