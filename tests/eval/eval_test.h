/* tests/eval/eval_test.h - for the tests of graph/eval: a graph from its text, arrays from doubles, and
 * what came out against what was wanted.
 *
 *     Trial t = trial();
 *     give(&t, "X", DT_F32, SHAPE(2, 2), VALUES(1, 2, 3, 4));
 *     try(&t, "input %0 X[2, 2] : f32\n" "vertex %1 Z[i:2] : f32 = sum:f32[j:2] %0[i, j]\n" "output Z = %1\n");
 *     gives(&t, 0, VALUES(3, 7), "sums of rows");
 *     trial_end(&t); */
#ifndef EIN_EVAL_TEST_H
#define EIN_EVAL_TEST_H

#include <math.h>
#include <stdlib.h>

#include "graph/eval/eval.h"
#include "../tap.h"

typedef struct Trial {
  Arena *arena;
  Strings *strings;
  EinGraph *graph;
  EvalInput input[8];
  EvalDim dim[8];
  Eval eval;
  EvalStatus status;
  const char *error;
  Place place;
} Trial;

#define SHAPE(...)  (uint32_t)COUNT(((int64_t[]){__VA_ARGS__})), (const int64_t[]){__VA_ARGS__}
#define SCALAR      0, NULL
#define VALUES(...) (int64_t)COUNT(((double[]){__VA_ARGS__})), (const double[]){__VA_ARGS__}
#define NOTHING     0, NULL

__attribute__((unused)) static Trial trial(void) {
  Trial t = {.arena = arena_new()};
  t.strings = strings_new(t.arena);
  t.eval = (Eval){.arena = t.arena};
  return t;
}

__attribute__((unused)) static void trial_end(Trial *t) { arena_free(t->arena); }

__attribute__((unused)) static void put(void *data, DType d, int64_t k, double x) {
  switch (d) {
  case DT_F64: ((double *)data)[k] = x; break;
  case DT_F32: ((float *)data)[k] = (float)x; break;
  case DT_F16: ((uint16_t *)data)[k] = ein_f64_to_f16(x); break;
  case DT_BF16: ((uint16_t *)data)[k] = ein_f64_to_bf16(x); break;
  case DT_I64: ((int64_t *)data)[k] = (int64_t)x; break;
  case DT_I32: ((int32_t *)data)[k] = (int32_t)x; break;
  case DT_I16: ((int16_t *)data)[k] = (int16_t)x; break;
  case DT_I8: ((int8_t *)data)[k] = (int8_t)x; break;
  default: ((uint8_t *)data)[k] = (uint8_t)x; break;
  }
}

/* Fewer values than elements: they are repeated. */
__attribute__((unused)) static EvalArray *give(Trial *t, const char *name, DType d, uint32_t rank, const int64_t *shape,
                                               int64_t n, const double *x) {
  EvalArray a = {.dtype = d, .rank = rank, .count = 1, .shape = NEW_ARRAY(t->arena, int64_t, rank + 1)};
  for (uint32_t k = 0; k < rank; k++) {
    a.shape[k] = shape[k];
    a.count *= shape[k];
  }
  a.data = a.count ? arena_alloc(t->arena, (size_t)a.count * 8) : NULL;
  for (int64_t k = 0; k < a.count; k++) put(a.data, d, k, x[k % n]);
  EvalInput *in = &t->input[t->eval.n_input++];
  *in = (EvalInput){str_from(t->strings, name), a};
  t->eval.input = t->input;
  return &in->array;
}

__attribute__((unused)) static void size(Trial *t, const char *name, int64_t x) {
  t->dim[t->eval.n_dim++] = (EvalDim){str_from(t->strings, name), x};
  t->eval.dim = t->dim;
}

__attribute__((unused)) static void try_graph(Trial *t, EinGraph *g) {
  Buf b = buf_new(t->arena);
  t->graph = g;
  if (!graph_check(g, &b)) {
    OK(false, "the graph is sound");
    tap_text("graph_check", b.s);
  }
  t->eval.graph = g;
  t->error = "";
  t->status = graph_eval(&t->eval, &t->error, &t->place);
}

__attribute__((unused)) static void try(Trial *t, const char *text) {
  char *s = arena_printf(t->arena, "eingraph 1\n%s", text);
  Diags *d = diags_new(t->arena);
  EinGraph *g = graph_read(t->arena, t->strings, source_new(t->arena, "test", s, strlen(s)), d);
  if (g) {
    try_graph(t, g);
    return;
  }
  Buf b = buf_new(t->arena);
  diags_text(d, &b, false);
  OK(false, "the text is a graph");
  tap_text("graph_read", b.s);
  exit(1);
}

__attribute__((unused)) static bool same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* Output k has just these elements, in order; NAN in `want` where has is 0 too. */
__attribute__((unused)) static bool gives(Trial *t, uint32_t k, int64_t n, const double *want, const char *name) {
  if (!OK(t->status == EVAL_OK, "%s: runs", name)) {
    tap_text("error", t->error);
    return false;
  }
  const EvalArray *a = &t->eval.output[k];
  bool ok = a->count == n;
  for (int64_t i = 0; ok && i < n; i++) {
    bool has = !a->has || a->has[i];
    if (has ? same(eval_real(a, i), want[i]) : isnan(want[i])) continue;
    printf(
        "# element %lld: got %.17g%s, want %.17g\n", (long long)i, eval_real(a, i), has ? "" : " (no value)", want[i]);
    ok = false;
  }
  if (a->count != n) printf("# %lld elements, want %lld\n", (long long)a->count, (long long)n);
  return OK(ok, "%s", name);
}

/* It fails so, and the message has these words (parted by '|') in it. */
__attribute__((unused)) static bool fails(Trial *t, EvalStatus s, const char *words, const char *name) {
  bool ok = t->status == s && t->error && !t->eval.output;
  const char *w = words;
  while (ok && *w) {
    size_t n = strcspn(w, "|");
    ok = strstr(t->error, arena_printf(t->arena, "%.*s", (int)n, w)) != NULL;
    w += n + (w[n] == '|');
  }
  OK(ok, "%s", name);
  if (!ok) {
    printf("# status %d, want %d\n", t->status, s);
    tap_text("error", t->error);
    tap_text("wanted", words);
  }
  return ok;
}

#endif
