/* tests/fuzz/fuzz_graph.c - any bytes as an EinGraph: read or refused with a complaint; and what is
 * sound prints, comes back equal, and has its pictures. */
#include <string.h>

#include "graph/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static EinGraph *read_bytes(Arena *a, const char *s, size_t n, Diags *d) {
  return graph_read(a, strings_new(a), source_new(a, "fuzz.eingraph", s, n), d);
}

static void comes_back(Arena *a, const EinGraph *g) {
  Buf text = buf_new(a), again = buf_new(a), why = buf_new(a);
  Diags *d = diags_new(a);
  graph_print(&text, g);
  EinGraph *h = read_bytes(a, text.s, text.len, d);
  if (!h) diags_text(d, &why, false);
  if (!h || !graph_check(h, &why) || !graph_equal(g, h, &why)) bug("%s\n%s", why.s, text.s);
  graph_print(&again, h);
  BUG_UNLESS(strcmp(text.s, again.s) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  Buf out = buf_new(a);
  EinGraph *g = read_bytes(a, (const char *)data, size, d);
  BUG_UNLESS((g == NULL) == (d->errors > 0));
  diags_text(d, &out, false);
  if (g && graph_check(g, &out)) {
    comes_back(a, g);
    graph_dot(&out, g);
    graph_json(&out, g);
  }
  arena_free(a);
  return 0;
}
