/* algebra/from_graph.h - converts EinGraph and plan to Tra, and to Ia (EinDecomp, section 4.3). The operands of each
 * equation are cut as its labels are, joined by a kernel on one block of each, and aggregated over reduced labels
 * that are cut. Then the result is cut as its home is. The conversion chooses nothing.
 *
 * If labels move an index, a block needs the window that its labels can reach (a halo). A read at data takes the
 * whole tensor, or, if the plan says so, requests single places. Around the end of a dimension, the window and the
 * kernel's reads lie in the dimension unrolled. A block is filtered out if a predicate or a domain holds at none of
 * its points. */
#ifndef EIN_ALGEBRA_FROM_GRAPH_H
#define EIN_ALGEBRA_FROM_GRAPH_H

#include "plan/placing/placing.h"
#include "algebra.h"

typedef struct Cutting {     /* a plan in the form that the conversions take */
  const PlaceGraph *places;
  const uint32_t *const *d;  /* counts by vertex, by label */
  const uint32_t *const *home; /* counts by tensor, by its dimensions there (for a vertex, its output labels) */
  const uint32_t *const *stored; /* by tensor, only for inputs: counts as stored, once. NULL: tensors stay as they are
                                  * made, inputs whole */
  const Placing *placing;    /* what axes cut, and homes; NULL: only counts are known */
  const Placement *stored_at; /* by tensor: place_stored */
  int64_t memory;            /* of a site at most, in bytes; 0: not given */
} Cutting;

Cutting cutting_of_counts(const PlaceGraph *places, const uint32_t *const *d);
Cutting cutting_of_placing(Arena *a, const PlaceGraph *places, const Placing *placing);

Algebra *tra_from_graph(Arena *a, const EinGraph *g, const Cutting *c);

/* The same over a mesh, with all moves. */
Algebra *ia_from_graph(Arena *a, const EinGraph *g, const Cutting *c);
/* The same blocks as in Table 1 of the TRA paper: all operands of a join but the last are broadcast, and what is
 * aggregated or concatenated is shuffled. algebra/rules/derive.h goes from there to the plan. */
Algebra *ia_plain_from_graph(Arena *a, const EinGraph *g, const Cutting *c);

#endif
