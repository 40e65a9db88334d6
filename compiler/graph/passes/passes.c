/* graph/passes/passes.c - the pipeline: which passes run, in which order, and how they describe what they did. */
#include "passes.h"

#include <string.h>

/* First, reads that can fail are guarded. Then vertices are simplified, which makes more of them equal and more
 * products plain; masks become predicates, and predicates ranges, or parts by remainders; what is put together to
 * be taken apart is made in parts, unused labels are removed, and groups of labels get an axis for each, which
 * leaves some vertices mere copies. Then equal vertices are merged before readers are counted, and once more after
 * contraction, whose steps may be equal too. Values get their axes in the order in which they are read, which leaves
 * copies again. Nested reductions become one before contraction, which then sees whole products; sums over exponents
 * and choices are written out before it, too. Matrices that data choose are multiplied apart. What contraction leaves
 * under a predicate is separated after it. What takes long is hoisted, functions of integers with few values become
 * tables, sums of small integers get 32 bits once their points are final, and points that do not differ are made once,
 * before equal vertices are merged again. What then is a softmax becomes choices, which are made apart. At last axes
 * are put in order. */
const PassInfo pass_info[GRAPH_PASSES] = {
    {"dead", graph_dead, false},
    {"values", graph_values, false},
    {"simplify", graph_simplify, false},
    {"masks", graph_masks, false},
    {"either", graph_either, false},
    {"remainders", graph_remainders, false},
    {"parts", graph_parts, false},
    {"narrow", graph_narrow, false},
    {"picked", graph_picked, false},
    {"flat", graph_flat, false},
    {"copies", graph_copies, false},
    {"views", graph_views, true},
    {"common", graph_common, false},
    {"orders", graph_orders, true},
    {"copies", graph_copies, false},
    {"places", graph_places, false},
    {"nested", graph_nested, false},
    {"powers", graph_powers, false},
    {"wide", graph_wide, false},
    {"contract", graph_contract, false},
    {"chosen", graph_chosen, false},
    {"classes", graph_classes, false},
    {"separate", graph_separate, false},
    {"lag", graph_lag, false},
    {"window", graph_window, false},
    {"added", graph_added_few, false},
    {"hoist", graph_hoist, false},
    {"tables", graph_tables, true},
    {"integers", graph_integers, false},
    {"alike", graph_alike, true},
    {"common", graph_common, false},
    {"scores", graph_scores, true},
    {"branches", graph_branches, false},
    {"axes", graph_axes, false},
    {"dead", graph_dead, false},
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
    bool sites = how && how->sites > 1, spread = sites && pass_info[i].run == graph_contract;
    if (how && how->cut && pass_info[i].one_site) continue;
    if (how && how->device && pass_info[i].run == graph_scores) continue; /* the host would wait for the condition */
    now = spread ? graph_contract_on(a, was, notes, how->sites) : pass_info[i].run(a, was, notes);
    if (how && how->after) how->after(how->ctx, pass_info[i].name, now);
    if (!sites || pass_info[i].run != graph_window) continue;
    now = graph_added(a, now, notes);
    if (how->after) how->after(how->ctx, "added", now);
  }
  return now;
}
