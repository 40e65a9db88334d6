/* plan/placing/fit.h - the best plan that is found in which a site has no more memory than it may.
 *
 * What a plan takes is measured, by whoever knows how it runs (the driver makes its tasks); what placing_memory says of it guides the
 * search. Memory gets a price, at those steps that were over; what is best then is looked for again, and the price rises until a plan fits; then it
 * falls as far as that goes. The best of those that fit is not proven to be it: only the plan without a limit says what none goes below.
 * Where none fits, nothing but memory counts, the steps that need most more and more. At the end, in programs that are not too long for it, one
 * choice after the other is changed while that helps. So what is found may not be the best there is, nor the least the least.
 *
 * All meshes are searched while there is room for it in the work that is allowed, a share of that for a plan; then only the one of the best plan so
 * far. Where memory_least is over the limit, only the least is looked for, with a part of that work. */
#ifndef EIN_PLACING_FIT_H
#define EIN_PLACING_FIT_H

#include "memory.h"

typedef struct PlaceFit {
  Placing *placing;          /* its cost is without memory's; NULL: none was found that fits */
  Placing *smallest;         /* the one with the least memory that was found; and that, in bytes: */
  double memory;
  double least;              /* no placing has less: proven */
} PlaceFit;

typedef struct PlaceMeasure { double (*bytes)(void *ctx, const Placing *p); void *ctx; } PlaceMeasure; /* of a site that has most */

/* free: the best plan without a limit, which needs more. measure NULL: as placing_memory has it. The rest is as in placing_best. */
PlaceFit placing_fit(Arena *a, const PlaceGraph *g, const Lives *l, int64_t sites, const PartVectors *only, double budget, double limit,
                     Placing *free, const PlaceMeasure *measure);

/* No placing on a mesh of so many sites takes less memory: all inputs and outputs are there, each stored once. What else kernels want may come in
 * panels, however small, or be kept inside of a kernel. */
double memory_least(const PlaceGraph *g, int64_t sites);

#endif
