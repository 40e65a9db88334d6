/* algebra/from_graph.h - EinGraph and plan to Tra, and to Ia (EinDecomp, section 4.3): what each equation reads is cut as its labels are, joined
 * by a kernel on one block of each, and aggregated over reduced labels that are cut; the result is cut as its home is. It chooses nothing.
 *
 * An index that moves with labels asks for the window that its block of labels can reach (a halo); what is read at data comes whole, or, where the
 * plan says so, place by place. Around the end of a dimension the window is one of the dimension laid round and round, and so is what the kernel
 * reads.
 * Where a predicate or a domain holds at no point of a block, the block is filtered out. */
#ifndef EIN_ALGEBRA_FROM_GRAPH_H
#define EIN_ALGEBRA_FROM_GRAPH_H

#include "plan/placing/placing.h"
#include "algebra.h"

typedef struct Cutting {     /* a plan, as the doors want it */
  const PlaceGraph *places;
  const uint32_t *const *d;  /* counts by vertex, by label; */
  const uint32_t *const *home; /*  by tensor, by its dimensions there (of a vertex its output labels); */
  const uint32_t *const *stored; /* by tensor, of inputs alone: as they are stored, once. NULL: at home as they are made, inputs whole */
  const Placing *placing;    /* what axes cut, and homes; NULL: counts are all that is known */
  const Placement *stored_at; /* by tensor: an axis that finds no dimension to cut has it at its first place: PLACE_FIRST */
  int64_t memory;            /* of a site at most, in bytes; 0: not said */
} Cutting;

Cutting cutting_of_counts(const PlaceGraph *places, const uint32_t *const *d);
Cutting cutting_of_placing(Arena *a, const PlaceGraph *places, const Placing *placing);

Algebra *tra_from_graph(Arena *a, const EinGraph *g, const Cutting *c);

/* The same over a mesh, with all moves. A vertex takes three steps from Table 1 of the TRA paper (all operands but the last broadcast, shuffles by
 * what is aggregated) to the plan: its operands go where they meet (R2-6; places of what is read at data may be
 * asked for: gather by request), parts are reduced on the way home (R2-1, R1-4), and the result goes home (R2-1). So many
 * steps are done, vertex by vertex; all with UINT32_MAX. */
Algebra *ia_from_graph(Arena *a, const EinGraph *g, const Cutting *c, uint32_t steps);
uint32_t ia_steps(const Cutting *c);
/* The vertex and the rules of a step, for people. */
void ia_step_says(Arena *a, const Cutting *c, uint32_t step, const char **vertex, const char **says);

#endif
