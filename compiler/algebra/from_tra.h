/* algebra/from_tra.h - a program over relations without places, and a plan for it, to one with places: Tra to Ia.
 *
 * Planners see graphs: so each relation becomes a tensor whose dimensions are its keys, which can be cut into as many blocks as there are keys, and
 * behind them those of its largest block, which stay whole. What is done to blocks is opaque: a join is a vertex over its keys, an aggregation
 * reduces the keys that go, and where a key is made of others (rekey), or blocks are laid together (concat), what is read comes whole. A plan of
 * that graph then says where each tuple is; nothing is cut anew. */
#ifndef EIN_ALGEBRA_FROM_TRA_H
#define EIN_ALGEBRA_FROM_TRA_H

#include "from_graph.h"

typedef struct KeyGraph {
  const Algebra *tra;
  EinGraph *graph;
  const PartGraph *part;
  const EinNode *const *node; /* by a relation's id: what stands for it */
  const AlgNode *const *of;  /* by the id of such a node: the relation */
} KeyGraph;

/* NULL, and why: a relation has more dimensions than a tensor. */
KeyGraph *keys_graph(Arena *a, const Algebra *tra, Buf *why);
/* As place_graph: blocks of inputs stay whole, too. */
PlaceGraph *keys_places(Arena *a, const KeyGraph *k);
/* Which label of the vertex that stands for n cuts key `key` of an operand: a key of n; or one that is reduced, behind n's keys and the dimensions of
 * its array. -1: it comes whole. */
int32_t keys_label(const AlgNode *n, uint32_t operand, uint32_t key);

/* The same program with a placement for each relation, and all moves. */
Algebra *ia_from_tra(Arena *a, const KeyGraph *k, const Cutting *c);

#endif
