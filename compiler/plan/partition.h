/* plan/partition.h - what can be cut, and what cutting moves: partition vectors and their cost (EinDecomp, sections 4
 * to 7).
 *
 * A PartGraph is the EinGraph as a planner sees it. Its vertices are the computed tensors and the states of repeats;
 * each has labels with extents. A partition vector d gives each label of a vertex a count, the number of blocks into
 * which its extent is cut. The vertex then becomes N(d) kernel calls, where N(d) is the product of the counts. Each
 * call takes one block of each operand. Inputs of the graph are available in any cut, separately for each reader, at
 * no cost, so they are not vertices.
 *
 * Costs are in elements and count what the paper counts: the graph as it is written, one vertex per reducer, each
 * read separately. Inside a repeat a cost counts once per turn; if the number of turns is not known, once. */
#ifndef EIN_PARTITION_H
#define EIN_PARTITION_H

#include "base/base.h"
#include "expr/prove/let_through.h"
#include "graph/graph.h"

/* So many places before and after those of an index. */
typedef struct PartWide { int64_t below, above; } PartWide;

typedef struct PartRead {    /* a vertex reads a tensor */
  const EinNode *node;
  int32_t from;              /* the vertex that makes it; -1: an input of the graph */
  uint32_t rank;
  const int64_t *extent;     /* by dimension */
  const int32_t *label;      /* by dimension: the reader's label that cuts it; -1: none does */
  const int32_t *made;       /* by dimension: the maker's label that cuts it; -1: none does */
  bool call;                 /* it is an operand of kernel calls; else it is only stored there: a state's initial or
                              * next value */
  double times;              /* how often it is computed in a run */
  const Expr *const *index;  /* by dimension: the index, if labels alone do not say what a block of them reads
                              * (reach.h), or places may be requested; else NULL */
  const PartWide *wide;      /* in a PlaceGraph, by dimension: what it brings besides, for other reads; NULL: nothing */
  double asked;              /* read at data or a turn: how often per run its places would be requested
                              * (expr/prove/asked.h); 0: it always comes whole */
  uint32_t again;            /* in a PlaceGraph: 1 + an earlier read of the vertex that brings all that this one needs,
                              * which then moves nothing (times 0); 0: none */
} PartRead;

typedef struct PartVertex {
  const EinNode *node;       /* EIN_VERTEX or EIN_STATE */
  const char *name;          /* the tensor's name for people; "%7" if it has none or shares it (after graph_names none
                              * does) */
  uint32_t n_label, n_out;
  const int64_t *extent;
  const int64_t *most;       /* by label: the largest number of blocks, at least 1 */
  const Str *label;          /* names, for people; NULL: it has none */
  const char *equation;      /* as people read it; NULL: take the node's */
  const EinSum *sum;         /* the work of a point: the node's sum, once, or for an opaque kernel `inner` points of
                              * it. NULL: a state */
  double inner;
  VEC(PartRead) reads;
  double times;
  double point;              /* operations per point; fewer than 1 count as 1 */
  const Ties *ties;          /* which of its points the predicates keep; NULL: all */
  double kept;               /* with ties: how many those are in all of it, at most */
} PartVertex;

typedef struct PartKept {    /* an output */
  const EinNode *node;
  int32_t vertex;            /* that makes it; -1: none */
  const int64_t *extent;
} PartKept;

typedef struct PartGraph {
  Arena *arena;
  VEC(PartVertex) vertices;  /* makers before readers, except the next value of a state */
  const bool *needed;        /* by node id: some result depends on it */
  VEC(PartKept) kept;
} PartGraph;

/* Builds the PartGraph. The number of turns that a repeat made is known everywhere and is no read. Sizes are numbers
 * in g. A dimension is read whole if its index depends on data, is a constant, or wraps around a `%` more than once.
 * A dimension with an affine index (also with max and min) is cut with the label that goes furthest. Of a group (h d)
 * only the outer label is cut. Returns NULL and says why if an extent is not a number, or an equation contains a dim
 * without a value. */
PartGraph *part_from_graph(Arena *a, const EinGraph *g, Buf *why);

/* The most points that predicates keep in one block of v. d NULL: in all of v. */
double part_points(const PartVertex *v, const uint32_t *d);
/* The same in a block with so many values of each label. */
double part_points_of(const PartVertex *v, const double *values);
double part_block(int64_t extent, uint32_t count); /* the largest of so many blocks */
bool part_read_has(const PartRead *r, uint32_t label); /* the label cuts it */

/* ---- partition vectors --------------------------------------------------------------------------- */

typedef struct PartVectors { uint32_t n, n_label; const uint32_t *at; } PartVectors; /* n vectors of n_label counts
                                                                                      * each */

/* All d with N(d) = p and each count at most `most`; if there is none, those with the largest N(d) <= p. If pin[l] is
 * not 0, the count of l is pin[l]; pin may be NULL. They are in order of counts, the first label's slowest. There are
 * none if the pins ask for more than p or more than `most`. */
PartVectors part_viable(Arena *a, const PartVertex *v, int64_t p, const uint32_t *pin);
/* How many vectors part_viable would return. */
double part_ways(const PartVertex *v, int64_t p, const uint32_t *pin);
/* The largest possible N(d) <= p; 0: none. */
int64_t part_calls(const PartVertex *v, int64_t p, const uint32_t *pin);

/* ---- costs: d, dz are counts by label -------------------------------------------------------------- */

/* Elements that kernel calls read: N(d) times one block of each operand. */
double part_join(const PartVertex *v, const uint32_t *d);
/* Elements that move to be reduced: for each block of the result, all partial results but one. */
double part_aggregate(const PartVertex *v, const uint32_t *d);
/* Elements that move when a tensor cut one way is cut another way. By dimension: extents, the reader's counts, the
 * maker's. */
double part_move(uint32_t rank, const int64_t *extent, const uint32_t *reader, const uint32_t *maker);
double part_repartition(const PartRead *r, const uint32_t *d, const uint32_t *dz);

typedef struct PartCost { double join, aggregate, repartition, all; } PartCost; /* per run: each cost times how often
                                                                                 * it occurs */
PartCost part_cost_vertex(const PartGraph *g, uint32_t vertex, const uint32_t *const *d); /* includes moves for its
                                                                                           * reads */
PartCost part_cost(const PartGraph *g, const uint32_t *const *d);                          /* d: by vertex, by label */

#endif
