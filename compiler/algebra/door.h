/* algebra/door.h - shared by the two halves of from_graph: from_graph_read.c finds what a vertex reads, from_graph.c
 * does the rest. */
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
  bool plain;                /* as in Table 1 of the TRA paper; only of an Ia */
  int32_t *tensor;           /* by node id of the graph: its tensor's number; -1: none */
  bool *full;                /* by node id: no block of it may be filtered out, because it is carried from turn to
                              * turn, or is an output */
  AlgNode **is;              /* by node id: the relation for it, at home */
  AlgOperand **operand;      /* by vertex, by read: what it reads, for those that share it; NULL: not made yet */
} Door;

typedef struct Vertex {
  const EinNode *node;
  const EinSum *sum;
  uint32_t n_label;
  const uint32_t *d;
  uint32_t n_key;            /* the labels that are cut, in order */
  int64_t *frontier;
  Str *key;
  int32_t *key_of;           /* by label; -1: it is not cut */
  RelDim *range;             /* by label, over these keys */
  const Expr **read;         /* by slot: the read that represents it */
  Placement at;              /* Ia: by axis, the key that it cuts */
} Vertex;

/* The vertex with its counts. Builds no nodes. */
Vertex door_vertex(const Door *x, const EinNode *n);
/* The total extent of a dimension of a tensor in blocks. */
int64_t door_extent(const RelDim *d, const Relation *t);
/* The cuts that the vertex needs of what a slot reads, by those of its keys that cut it. which: these keys. */
Cuts door_cuts(Door *x, const Vertex *v, uint32_t slot, const Relation *home, int32_t *which);
/* Builds the vertex's *n operands, where they meet or as in Table 1, and returns its kernel over them. */
const EinSum *door_operands(Door *x, const Vertex *v, AlgRegion *r, uint32_t *n, AlgOperand *operand);

#endif
