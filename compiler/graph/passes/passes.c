/* graph/passes/passes.c - the pipeline: which passes run, in which order, and how they describe what they did. */
#include "passes.h"

#include <string.h>

/* First, reads that can fail are guarded. Then vertices are simplified, which makes more of them equal and more
 * products plain; masks become predicates, and predicates ranges; what is put together to be taken apart is made in
 * parts, unused labels are removed, and groups of labels get an axis for each, which leaves some vertices mere copies.
 * Then equal vertices are merged before readers are counted, and once more after contraction, whose steps may be equal
 * too. Nested reductions become one before contraction, which then sees whole products; sums over exponents
 * are written out before it, too. What contraction leaves under a predicate is separated after it. What takes long is
 * hoisted before equal vertices are merged again. At last axes are put in order. */
const PassInfo pass_info[GRAPH_PASSES] = {
    {"dead", graph_dead},
    {"values", graph_values},
    {"simplify", graph_simplify},
    {"masks", graph_masks},
    {"either", graph_either},
    {"parts", graph_parts},
    {"narrow", graph_narrow},
    {"flat", graph_flat},
    {"copies", graph_copies},
    {"common", graph_common},
    {"places", graph_places},
    {"nested", graph_nested},
    {"powers", graph_powers},
    {"wide", graph_wide},
    {"contract", graph_contract},
    {"classes", graph_classes},
    {"separate", graph_separate},
    {"lag", graph_lag},
    {"window", graph_window},
    {"added", graph_added_few},
    {"hoist", graph_hoist},
    {"common", graph_common},
    {"axes", graph_axes},
    {"dead", graph_dead},
};

PassNotes pass_notes(Arena *a) {
  return (PassNotes){.arena = a};
}

uint32_t pass_count(const PassNotes *n, const char *pass, const char *what) {
  uint32_t count = 0;
  vec_each(const PassNote, p, n->all)
    if ((!pass || strcmp(p->pass, pass) == 0) && (!what || strcmp(p->what, what) == 0)) count += p->count;
  return count;
}

EinGraph *graph_optimise(Arena *a, const EinGraph *g, const Optimise *how) {
  EinGraph *now = NULL;
  for (uint32_t i = 0; i < GRAPH_PASSES; i++) {
    const EinGraph *was = now ? now : g;
    PassNotes *notes = how ? how->notes : NULL;
    bool spread = how && how->sites > 1 && pass_info[i].run == graph_contract;
    now = spread ? graph_contract_on(a, was, notes, how->sites) : pass_info[i].run(a, was, notes);
    if (how && how->after) how->after(how->ctx, pass_info[i].name, now);
    if (!how || how->sites < 2 || pass_info[i].run != graph_window) continue;
    now = graph_added(a, now, notes);
    if (how->after) how->after(how->ctx, "added", now);
  }
  return now;
}
