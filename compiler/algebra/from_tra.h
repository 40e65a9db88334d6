/* algebra/from_tra.h - Tra to Ia: adds placements to a program over relations, from a plan.
 *
 * Planners work on graphs, so each relation becomes a tensor. Its first dimensions are the keys, which can be cut
 * into as many blocks as there are keys; the others are those of its largest block, which stay whole. Operations on
 * blocks are opaque: a join is a vertex over its keys, and an aggregation reduces the dropped keys. If a key is
 * computed from others (rekey), or blocks are put together (concat), the operand is read whole. A plan of that graph
 * then says where each tuple is; nothing is cut again. */
#ifndef EIN_ALGEBRA_FROM_TRA_H
#define EIN_ALGEBRA_FROM_TRA_H

#include "from_graph.h"

typedef struct KeyGraph {
  const Algebra *tra;
  EinGraph *graph;
  const PartGraph *part;
  const EinNode *const *node; /* by the relation's id: the node for it */
  const AlgNode *const *of;  /* by the id of such a node: the relation */
} KeyGraph;

/* Returns NULL and says why if a relation has more dimensions than a tensor may have. */
KeyGraph *keys_graph(Arena *a, const Algebra *tra, Buf *why);
/* As place_graph, but blocks of inputs stay whole too. */
PlaceGraph *keys_places(Arena *a, const KeyGraph *k);
/* The label of the vertex for n that cuts key `key` of an operand: a key of n, or a reduced label, which come after
 * n's keys and the dimensions of its array. -1: the key is read whole. */
int32_t keys_label(const AlgNode *n, uint32_t operand, uint32_t key);

/* The same program with a placement for each relation, and all moves. */
Algebra *ia_from_tra(Arena *a, const KeyGraph *k, const Cutting *c);

#endif
