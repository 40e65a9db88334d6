/* tests/fuzz/fuzz_plan.c - any bytes as a plan, and as a pin: read or refused with a complaint; what is read prints and
 * comes back equal, and leaves a choice, or complaints, beside a small program. */
#include <string.h>

#include "plan/placing/as_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Z[i,k] of 8 by 6 from 4 terms, and Y of it. */
static PartGraph *small_graph(Arena *a, Strings *t) {
  static const char text[] =
      "eingraph 1\ninput %0 A[8, 4] : f32\ninput %1 B[4, 6] : f32\n"
      "vertex %2 Z[i:8, k:6] : f32 = sum:f32[j:4] (%0[i, j] * %1[j, k])\nvertex %3 [i:8, k:6] : f32 = exp(%2[i, k])\n"
      "output Y = %3\n";
  Buf why = buf_new(a);
  EinGraph *g = graph_read(a, t, source_new(a, "small", text, strlen(text)), diags_new(a));
  return part_from_graph(a, g, &why);
}

/* What it fixes is kept by the plan that is found, which says all of it. */
static void placed(Arena *a, Strings *t, PlaceGraph *g, const Plan *p) {
  Diags *d = diags_new(a);
  Buf why = buf_new(a);
  uint32_t which;
  g->fixed = plan_fixed(a, g, p, d);
  BUG_UNLESS((g->fixed == NULL) == (d->errors > 0));
  const Placing *x = g->fixed ? placing_best(a, g, p->sites, NULL, 1e6, &which) : NULL;
  if (!x) return;
  const Plan *all = plan_of_placing(a, t, g, p->sites, x);
  const Placing *again = placing_from_plan(a, g, all, d);
  BUG_UNLESS(again && again->bytes == x->bytes);
  BUG_UNLESS(plan_equal(all, plan_of_placing(a, t, g, p->sites, again), &why));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *a = arena_new();
  Strings *t = strings_new(a);
  Diags *d = diags_new(a), *pins = diags_new(a);
  Buf out = buf_new(a), text = buf_new(a), why = buf_new(a);
  Source *src = source_new(a, "fuzz.plan", (const char *)data, size);
  Plan *p = plan_read(a, t, src, d);
  BUG_UNLESS((p == NULL) == (d->errors > 0));
  Plan *pinned = p ? p : NEW(a, Plan);
  plan_read_pin(a, t, src, pinned, pins);
  if (p) {
    plan_print(&text, p);
    Plan *again = plan_read(a, t, source_new(a, "again.plan", text.s, text.len), d);
    if (!again || !plan_equal(p, again, &why)) bug("%s\n%s", why.s, text.s);
  }
  if (p && p->sites <= 16) placed(a, t, place_graph(a, small_graph(a, t)), p);
  bool narrow;
  PartVectors *left = plan_vectors(
      a, small_graph(a, t), pinned->sites > 0 && pinned->sites < 100 ? pinned->sites : 12, pinned, &narrow, d);
  BUG_UNLESS((left == NULL) == (d->errors > 0) || !p);
  diags_text(d, &out, false);
  diags_text(pins, &out, false);
  arena_free(a);
  return 0;
}
