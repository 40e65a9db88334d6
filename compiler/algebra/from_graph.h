/* algebra/from_graph.h - EinGraph to Tra, for a plan's counts (EinDecomp, section 4.3): what each equation reads is cut as its labels are, joined
 * by a kernel on one block of each, and aggregated over reduced labels that are cut; the result is cut as its home is. It chooses nothing.
 *
 * An index that moves with labels asks for the window that its block of labels can reach (a halo); what is read at data comes whole.
 * Where a predicate or a domain holds at no point of a block, the block is filtered out. */
#ifndef EIN_ALGEBRA_FROM_GRAPH_H
#define EIN_ALGEBRA_FROM_GRAPH_H

#include "../plan/placing.h"
#include "algebra.h"

/* d: counts by vertex, by label. home: by tensor, by its dimensions there (of a vertex its output labels); NULL: as d has them, inputs whole. */
Algebra *tra_from_graph(Arena *a, const EinGraph *g, const PlaceGraph *places, const uint32_t *const *d, const uint32_t *const *home);

#endif
