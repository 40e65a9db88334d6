/* tests/harness/cuts.h - plans at random, and what programs over relations are given and give back. */
#ifndef HARNESS_CUTS_H
#define HARNESS_CUTS_H

#include "algebra/eval/eval.h"
#include "algebra/from_graph.h"
#include "chance.h"
#include "graph/eval/eval.h"

/* What each axis of a mesh cuts, and homes: any label or dimension that has room, or none. */
Placing *placing_chance(Arena *a, const PlaceGraph *g, int64_t sites, Rng *r);
/* By vertex, one of all legal vectors with so many calls. */
const uint32_t *const *counts_chance(Arena *a, const PartGraph *g, int64_t calls, Rng *r);

EvalArray eval_array_of(const AlgArray *x);
AlgArray alg_array_of(const EvalArray *x);
/* All inputs: as `e` has them, else their defaults. False: one has none, or it cannot be computed. */
bool inputs_find(Arena *a, const Eval *e, AlgGiven *out);

#endif
