/* tests/shape/passes_random.c - random programs before and after the passes on the EinGraph: after each pass the graph
 * is sound and obeys the law of its text, and in the end the answers are the same, exactly for integers and within the
 * generator's own bound on noise for floats.
 *
 *   passes_random SEED COUNT        SEED, SEED+1, ...: stops at the first failure and prints the program */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/passes/passes.h"
#include "../random/random.h"

typedef struct Run {
  Arena *arena;
  Front f;
  Program p;
  const Made *made;
  EinGraph *g, *then;
  PassNotes notes;
  Buf why;
} Run;

static bool compile(Run *r, const char *text) {
  r->g = front_read(&r->f, &r->p, r->arena, "random.ein", text);
  return r->g;
}

static void after(void *ctx, const char *pass, const EinGraph *g) {
  Run *r = ctx;
  Buf text = buf_new(r->arena);
  if (r->why.len) return;
  if (!graph_check(g, &r->why)) {
    buf_printf(&r->why, "(graph_check after %s)\n", pass);
    return;
  }
  graph_print(&text, g);
  Diags *d = diags_new(r->arena);
  const EinGraph *again = graph_read(r->arena, r->f.strings, source_new(r->arena, pass, text.s, text.len), d);
  if (!again || d->errors) diags_text(d, &r->why, false);
  else graph_equal(g, again, &r->why);
  if (r->why.len) buf_printf(&r->why, "(the text after %s)\n", pass);
}

static EvalStatus compute(const Run *r, const EinGraph *g, Eval *e, const char **error) {
  Place place;
  *e = (Eval){.arena = r->arena, .graph = g, .max_bytes = 1 << 22};
  return graph_eval(e, error, &place);
}

static double noise_of(const Made *m, const char *name) {
  for (uint32_t i = 0; i < m->tensors.len; i++)
    if (strcmp(m->tensors.at[i]->name, name) == 0) return m->tensors.at[i]->num.noise;
  return 0;
}

static bool same(Run *r, const EvalArray *a, const EvalArray *b, const char *name) {
  double noise = noise_of(r->made, name) * 16;
  for (int64_t k = 0; k < a->count; k++) {
    if (!dtype_is_float(a->dtype) && eval_int(a, k) == eval_int(b, k)) continue;
    double x = eval_real(a, k), y = eval_real(b, k);
    bool wild = !isfinite(x) && !isfinite(y); /* in another order inf - inf may be, or not be */
    if (dtype_is_float(a->dtype) && (x == y || wild || fabs(x - y) <= noise)) continue;
    buf_printf(&r->why, "%s, element %lld: %.17g and %.17g (may differ by %g)\n", name, (long long)k, x, y, noise);
    return false;
  }
  return true;
}

static bool agrees(Run *r) {
  Eval a, b;
  const char *error = "";
  if (compute(r, r->g, &a, &error) != EVAL_OK) return true; /* tests/random says so itself */
  if (compute(r, r->then, &b, &error) != EVAL_OK) {
    buf_printf(&r->why, "now it fails: %s\n", error);
    return false;
  }
  for (uint32_t i = 0; i < r->g->outputs.len; i++)
    if (!same(r, &a.output[i], &b.output[i], r->g->outputs.at[i].name->s)) return false;
  return true;
}

static bool one(uint64_t seed, uint64_t *done) {
  Run r = {.arena = arena_new()};
  r.why = buf_new(r.arena);
  r.notes = pass_notes(r.arena);
  r.made = program_make(r.arena, seed);
  const char *text = program_text(r.arena, r.made, (Style){0});
  bool ok = true;
  if (compile(&r, text)) {
    r.then = graph_optimise(
        r.arena, r.g, &(Optimise){.notes = &r.notes, .after = after, .ctx = &r, .sites = seed % 3 == 0 ? 8 : 1});
    ok = !r.why.len && agrees(&r);
    *done += pass_count(&r.notes, NULL, NULL);
  }
  if (!ok) {
    Buf graphs = buf_new(r.arena);
    graph_print(&graphs, r.g);
    buf_str(&graphs, "--- then\n");
    graph_print(&graphs, r.then);
    printf("seed %llu: %s--- program\n%s\n--- graph\n%s", (unsigned long long)seed, r.why.s, text, graphs.s);
  }
  arena_free(r.arena);
  return ok;
}

int main(int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 400,
           done = 0;
  for (uint64_t i = 0; i < count; i++)
    if (!one(seed + i, &done)) return 1;
  printf("%llu programs, %llu things done to them\n", (unsigned long long)count, (unsigned long long)done);
  return 0;
}
