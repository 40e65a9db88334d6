/* plan/partition.h - what can be cut, and what cutting moves: partition vectors and their cost (EinDecomp, sections 4 to 7).
 *
 * A PartGraph is the EinGraph as a planner sees it. Its vertices are the tensors that are computed and the states of repeats;
 * each has labels with extents. A partition vector d gives each label of a vertex a count: its extent is cut into so many
 * blocks, and the vertex becomes N(d) = the product of the counts calls of a kernel, each on one block of each operand.
 * Inputs of the graph come in any cut, each reader its own, and cost nothing; so they are no vertices.
 *
 * Costs are in elements, and what is counted is as in the paper: the graph as it is written, one vertex a reducer, every read
 * for itself. Inside of a repeat a cost counts once a turn, and where the turns are not known, once. */
#ifndef EIN_PARTITION_H
#define EIN_PARTITION_H

#include "base/base.h"
#include "expr/prove/let_through.h"
#include "graph/graph.h"

typedef struct PartRead {    /* a vertex reads a tensor: */
  const EinNode *node;
  int32_t from;              /* the vertex that makes it; -1: an input of the graph */
  uint32_t rank;
  const int64_t *extent;     /* of each dimension, */
  const int32_t *label;      /*   the reader's label that cuts it; -1: it comes whole */
  const int32_t *made;       /*   the maker's label that cuts it; -1: it is made whole */
  bool call;                 /* it goes to calls of a kernel; else it is only put there: a state's first or next value */
  double times;              /* how often it comes into being in a run */
  const Expr *const *index;  /* by dimension, where labels alone do not tell what a block of them reads (reach.h), or data do; else NULL */
  double asked;              /* read at data: how often in a run its places would be asked for (expr/prove/asked.h); 0: it comes whole in any case */
} PartRead;

typedef struct PartVertex {
  const EinNode *node;       /* EIN_VERTEX or EIN_STATE */
  const char *name;          /* what people call it: the tensor's name; "%7" where it has none, or others have it too (graph_names leaves none such) */
  uint32_t n_label, n_out;
  const int64_t *extent;
  const int64_t *most;       /* into how many blocks a label can be cut: at least 1 */
  const Str *label;          /* names, for people; NULL: it has none */
  const char *equation;      /* how people read it; NULL: as its node says it */
  const EinSum *sum;         /* what a point of it takes: its node's, once; or so many points of a kernel that is opaque otherwise. NULL: a state */
  double inner;
  VEC(PartRead) reads;
  double times;
  double point;              /* operations that one point takes; fewer than 1 count as 1 */
  const Ties *ties;          /* what its predicates leave of its points; NULL: all */
} PartVertex;

typedef struct PartKept {    /* an output: */
  const EinNode *node;
  int32_t vertex;            /* that makes it; -1: none does */
  const int64_t *extent;
} PartKept;

typedef struct PartGraph {
  Arena *arena;
  VEC(PartVertex) vertices;  /* makers before readers, but for the next value of a state */
  const bool *needed;        /* by node id: some answer hangs on it */
  VEC(PartKept) kept;
} PartGraph;

/* The number of turns that a repeat made is known everywhere, and no read. Sizes are numbers in g: what is read at (or
 * from) data, at a constant, or past a `%` that its label goes around more than once comes whole; at an affine index (with
 * max and min) it is cut with the label that goes furthest; of a group (h d) only the outer label
 * is cut. NULL: some extent is no number, or an equation knows of a dim without value (said in `why`). */
PartGraph *part_from_graph(Arena *a, const EinGraph *g, Buf *why);

/* Points of its largest block that predicates let through, at most; d NULL: of all of it. */
double part_points(const PartVertex *v, const uint32_t *d);

/* ---- partition vectors --------------------------------------------------------------------------- */

typedef struct PartVectors { uint32_t n, n_label; const uint32_t *at; } PartVectors; /* n_label counts a vector */

/* All d with N(d) = p and each count at most `most`; where there is none, those with the largest N(d) <= p. Where pin[l] is not 0,
 * the count of l is that; pin may be NULL. In order of counts, those of the first label growing slowest. None: the pins ask for more
 * than p, or for more than there is. */
PartVectors part_viable(Arena *a, const PartVertex *v, int64_t p, const uint32_t *pin);
/* How many part_viable would give. */
double part_ways(const PartVertex *v, int64_t p, const uint32_t *pin);
/* The largest N(d) <= p that there is; 0: none. */
int64_t part_calls(const PartVertex *v, int64_t p, const uint32_t *pin);

/* ---- costs: d, dz are counts by label -------------------------------------------------------------- */

/* Elements that go to the calls: N(d) times one block of each operand. */
double part_join(const PartVertex *v, const uint32_t *d);
/* Elements that are brought together: for each block of the result, all but one of the partial ones. */
double part_aggregate(const PartVertex *v, const uint32_t *d);
/* Elements that move so that what is cut one way is cut another. By dimension: extents, the reader's counts, the maker's. */
double part_move(uint32_t rank, const int64_t *extent, const uint32_t *reader, const uint32_t *maker);
double part_repartition(const PartRead *r, const uint32_t *d, const uint32_t *dz);

typedef struct PartCost { double join, aggregate, repartition, all; } PartCost; /* in a run: times as often as it is done */
PartCost part_cost_vertex(const PartGraph *g, uint32_t vertex, const uint32_t *const *d); /* with what its reads move */
PartCost part_cost(const PartGraph *g, const uint32_t *const *d);                          /* d: by vertex, by label */

#endif
