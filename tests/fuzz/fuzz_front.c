/* tests/fuzz/fuzz_front.c - any bytes through the whole front end: parse, elaborate, check, print, read back, run.
 *
 * What must hold: no crash, no bug(), a clean graph_check, the law of the text, and an evaluation that either
 * succeeds or says why - within a bound on tensors and on time. */
#include <stdlib.h>

#include "../../compiler/ein.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool some_time(void *ctx) { return ++*(int *)ctx < 40; }

static void must_hold(const char *law, bool holds, const Buf *text) {
  if (!holds) bug("fuzz_front: %s\n%s", law, text->s ? text->s : "");
}

static void run(Arena *a, const EinGraph *g) {
  int polls = 0;
  EvalDim dims[16];
  Eval e = {.arena = a, .graph = g, .dim = dims, .max_bytes = 1 << 20, .keep_going = some_time, .ctx = &polls};
  for (uint32_t i = 0; i < g->dims.len; i++)
    if (!g->dims.at[i].known && e.n_dim < COUNT(dims)) dims[e.n_dim++] = (EvalDim){g->dims.at[i].name, 3};
  const char *error = NULL;
  Place place;
  if (graph_eval(&e, &error, &place) != EVAL_OK && !error) bug("fuzz_front: a failure that says nothing");
}

static void through(Arena *a, Strings *t, const EinGraph *g) {
  Buf text = buf_new(a), why = buf_new(a);
  graph_print(&text, g);
  must_hold("graph_check", graph_check(g, &why), &why);
  Diags *d = diags_new(a);
  EinGraph *again = graph_read(a, t, source_new(a, "printed", text.s, text.len), d);
  must_hold("the text cannot be read back", again != NULL, &text);
  must_hold("what is read back is not the same", graph_equal(g, again, &why), &why);
  run(a, g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 1 << 14) return 0;
  Arena *a = arena_new();
  Strings *t = strings_new(a);
  Front f = {.arena = a, .strings = t, .exprs = exprs_new(a), .diags = diags_new(a)};
  Program p = {.file = parse_file(a, t, source_new(a, "fuzz.ein", (const char *)data, size), f.diags)};
  DimValues none = {0};
  EinGraph *g = p.file->broken ? NULL : graph_from_ast(&f, &p, &none);
  if (g) through(a, t, g);
  Buf out = buf_new(a);
  diags_text(f.diags, &out, false);
  arena_free(a);
  return 0;
}
