/* algebra/door.h - the door's two halves among themselves: from_graph_read.c has what a vertex reads, from_graph.c all else. */
#ifndef EIN_ALGEBRA_DOOR_H
#define EIN_ALGEBRA_DOOR_H

#include "from_graph.h"
#include "recut.h"

typedef struct Door {
  Algebra *p;
  Arena *arena;
  Exprs *exprs;
  const EinGraph *graph;
  const Cutting *cut;
  const PlaceGraph *places;
  const Placing *placing;    /* NULL: a Tra */
  uint32_t steps;            /* that are done; */
  uint32_t step;             /*   so many have been met */
  int32_t *tensor;           /* by id of a graph's node: its number among tensors; -1: none */
  bool *full;                /* by id: no block of it may be filtered out: it goes from turn to turn, or out */
  AlgNode **is;              /* by id: the relation that it is, at home */
} Door;

typedef struct Vertex {
  const EinNode *node;
  const EinSum *sum;
  uint32_t n_label;
  const uint32_t *d;
  uint32_t n_key;            /* labels that are cut, in order */
  int64_t *frontier;
  Str *key;
  int32_t *key_of;           /* by label; -1: it is not cut */
  RelDim *range;             /* by label, over these keys */
  const Expr **read;         /* by slot: the read that stands for it */
  Placement at;              /* Ia: by axis the key that it cuts */
} Vertex;

/* The vertex with its counts; nothing is made yet. */
Vertex door_vertex(const Door *x, const EinNode *n);
/* What a dimension of a tensor in blocks has in all. */
int64_t door_extent(const RelDim *d, const Relation *t);
/* The cuts that the vertex wants of what a slot reads, by those of its keys that cut it; which: these. */
Cuts door_cuts(Door *x, const Vertex *v, uint32_t slot, const Relation *home, int32_t *which);
/* The vertex's operands, where they meet or as Table 1 has them, *n of them, and its kernel over them. */
const EinSum *door_operands(Door *x, const Vertex *v, AlgRegion *r, bool meet, uint32_t *n, AlgOperand *operand);

#endif
