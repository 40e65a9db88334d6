/* plan/placing/fit.h - good plans for any limit of memory.
 *
 * A limit is no argument: the plans that are found are the same whatever a site may have, so a larger limit never finds
 * a worse plan, and the least memory that is found can be asked for. The caller takes the first of them that keeps its
 * limit; it measures what a plan needs, because it knows how the plan runs (the driver makes its tasks, in panels and
 * with more or less room for parts).
 *
 * The estimate of placing_memory guides the search. First only memory counts, with growing weight on the steps that
 * need most, which gives the least memory. Then the search aims at less and less of it, from the best plan's down to
 * that least. Memory has a price at the steps that were over the aim. The price rises until a plan keeps to the aim,
 * then falls as far as possible; then choices are changed one by one while the cost falls. All of this is done four
 * times: for plans without panels, and for plans whose operands, whose parts, or both come in panels. For both, prices
 * need to know of which label: they take that with which the last plan needs least. The plans found are not proven
 * optimal: only the plan without a limit gives a lower bound. So a plan may not be the best for a limit, nor the
 * smallest memory found the smallest possible.
 *
 * All meshes are searched while the allowed work permits, a share of it per plan; after that only the mesh of the plan
 * with the least memory. */
#ifndef EIN_PLACING_FIT_H
#define EIN_PLACING_FIT_H

#include "memory.h"

typedef struct PlaceFit {
  Placing *placing;          /* its cost excludes memory's */
  double bytes[PANELS_KINDS]; /* its memory, as placing_memory estimates it */
} PlaceFit;

typedef VEC(PlaceFit) PlaceFits;

/* free: the best plan without a limit. The rest is as in placing_best. Returns the plans in the order of their cost, of
 * equals the one with less memory first; `free` is among them. Each takes less memory, of some kind, than each before
 * it. */
PlaceFits placing_fits(Arena *a, const PlaceGraph *g, const Lives *l, int64_t sites, const PartVectors *only,
    double budget, Placing *free);

/* A lower bound of the memory of any placing on a mesh of that many sites: all inputs and outputs are there, each
 * stored once. Whatever else kernels need may come in panels, however small, or stay inside a kernel. */
double memory_least(const PlaceGraph *g, int64_t sites);

#endif
