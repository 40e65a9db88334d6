/* plan/placing/fit.h - the best plan found whose sites stay within a memory limit.
 *
 * The caller measures what a plan needs, because it knows how the plan runs (the driver makes its tasks). The
 * estimate of placing_memory guides the search. Memory gets a price at the steps that were over the limit, and the
 * search runs again. The price rises until a plan fits, then falls as far as possible. The best plan that fits is not
 * proven optimal: only the plan without a limit gives a lower bound. If none fits, only memory counts, with growing
 * weight on the steps that need most. At the end, if the program is not too long, choices are changed one by one
 * while that helps. So the plan found may not be the best, nor the smallest memory found the smallest possible.
 *
 * All meshes are searched while the allowed work permits, a share of it per plan; after that only the mesh of the
 * best plan so far. If memory_least exceeds the limit, only the smallest plan is looked for, with part of that work. */
#ifndef EIN_PLACING_FIT_H
#define EIN_PLACING_FIT_H

#include "memory.h"

typedef struct PlaceFit {
  Placing *placing;          /* its cost excludes memory's; NULL: none found that fits */
  Placing *smallest;         /* the placing with the least memory that was found */
  double memory;
  double least;              /* proven: no placing needs less memory */
} PlaceFit;

typedef struct PlaceMeasure { double (*bytes)(void *ctx, const Placing *p); void *ctx; } PlaceMeasure; /* of the
                                                                                                        * site that
                                                                                                        * needs
                                                                                                        * most */

/* free: the best plan without a limit, which is over the limit. measure NULL: use placing_memory. The rest is as in
 * placing_best. */
PlaceFit placing_fit(Arena *a, const PlaceGraph *g, const Lives *l, int64_t sites, const PartVectors *only,
    double budget, double limit, Placing *free, const PlaceMeasure *measure);

/* A lower bound of the memory of any placing on a mesh of that many sites: all inputs and outputs are there, each
 * stored once. Whatever else kernels need may come in panels, however small, or stay inside a kernel. */
double memory_least(const PlaceGraph *g, int64_t sites);

#endif
