/* tests/fuzz/fuzz_algebra.c - any bytes as a program over relations: read or refused with a complaint; and what is
 * sound prints and comes back equal. */
#include <string.h>

#include "algebra/algebra.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Algebra *read_bytes(Arena *a, const char *s, size_t n, Diags *d) {
  return algebra_read(a, strings_new(a), source_new(a, "fuzz.tra", s, n), d);
}

static void comes_back(Arena *a, const Algebra *p) {
  Buf text = buf_new(a), again = buf_new(a), why = buf_new(a);
  Diags *d = diags_new(a);
  algebra_print(&text, p);
  Algebra *q = read_bytes(a, text.s, text.len, d);
  if (!q) diags_text(d, &why, false);
  if (!q || !algebra_check(q, &why) || !algebra_equal(p, q, &why)) bug("%s\n%s", why.s, text.s);
  algebra_print(&again, q);
  BUG_UNLESS(strcmp(text.s, again.s) == 0);
}

static void equations(const AlgRegion *r, Buf *out) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    alg_equation(out, r->nodes.at[i]);
    if (r->nodes.at[i]->body) equations(r->nodes.at[i]->body, out);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  Buf out = buf_new(a);
  Algebra *p = read_bytes(a, (const char *)data, size, d);
  BUG_UNLESS((p == NULL) == (d->errors > 0));
  diags_text(d, &out, false);
  if (p && algebra_check(p, &out)) comes_back(a, p);
  if (p) algebra_print(&out, p);
  if (p) equations(p->top, &out);
  arena_free(a);
  return 0;
}
