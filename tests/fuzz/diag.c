/* Fuzzes the rendering of complaints: any bytes as a source, any spans in it, as text and as JSON; and the
 * number readers on the same bytes, whose answers must come back after printing. */
#include <stdint.h>
#include <string.h>

#include "base/diag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t next(const uint8_t **data, size_t *size) {
  uint32_t x = 0;
  for (int i = 0; i < 2 && *size; i++, (*data)++, (*size)--) x = x << 8 | **data;
  return x;
}

static void numbers(Arena *a, const char *s, size_t n) {
  double x, y;
  int64_t i, j;
  Buf b = buf_new(a);
  if (double_read(s, n, &x)) {
    double_print(&b, x);
    BUG_UNLESS(double_read(b.s, b.len, &y) && (x != x ? y != y : memcmp(&x, &y, sizeof x) == 0));
  }
  b.len = 0;
  if (int64_read(s, n, &i)) {
    buf_printf(&b, "%lld", (long long)i);
    BUG_UNLESS(int64_read(b.s, b.len, &j) && i == j);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *a = arena_new();
  numbers(a, (const char *)data, size);
  uint32_t spans[12], n = 1 + next(&data, &size) % (uint32_t)(COUNT(spans) / 2);
  for (uint32_t i = 0; i < 2 * n; i++) spans[i] = next(&data, &size);
  Source *s = source_new(a, "a\tb.ein", (const char *)data, size);
  Diags *d = diags_new(a);
  Diag *g = NULL;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t at = spans[2 * i] % (s->len + 1), end = at + spans[2 * i + 1] % (s->len - at + 1);
    Span here = {s, at, end};
    if (i % 3 == 0)
      g = diag_add(d, D_E001, here, "%.*s", (int)(size < 20 ? size : 20), s->bytes);
    else
      diag_at(d, g, here, "%u", (unsigned)i);
  }
  Buf b = buf_new(a);
  diags_text(d, &b, true);
  diags_json(d, &b);
  arena_free(a);
  return 0;
}
