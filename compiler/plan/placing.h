/* plan/placing.h - plans by bytes: for each vertex the label that each axis of a mesh cuts, for each tensor the placement in which
 * it stays for its readers.
 *
 * A vertex's axes cut its labels, as many as there are (an axis that finds no label with room is idle: its sites all do the
 * same). What comes out is cut along axes of its own labels, and in parts along those of reduced ones. It is reduced and moved to its *home*, which has no
 * parts; from there it goes to each reader's cut. So what several readers want everywhere is brought there once. An input is stored once, evenly
 * cut; further copies at home are moves too. Moves are counted as elements received (place.h), times the size of an element. */
#ifndef EIN_PLACING_H
#define EIN_PLACING_H

#include "partition.h"
#include "place.h"

typedef struct PlaceTensor { /* what is read: the result of a vertex, or an input */
  const EinNode *node;
  int32_t vertex;            /* that makes it; -1: an input */
  uint32_t n;                /* its dimensions here: the output labels of its vertex; an input's own */
  const int64_t *extent, *most;
  double bytes;              /* of all of it */
} PlaceTensor;

typedef struct PlaceFixed {  /* what is not looked for */
  const Mesh *mesh;          /* NULL: any; then nothing else is fixed */
  const int8_t **label;      /* by vertex, by axis: the label, or PLACE_ALL; NULL: any */
  const Placement **home;    /* by tensor; NULL: any */
} PlaceFixed;

typedef struct PlaceGraph {
  const PartGraph *part;
  VEC(PlaceTensor) tensors;  /* those of vertices come first, with their numbers */
  const uint32_t **tensor;   /* by vertex, by read: which tensor */
  const PlaceFixed *fixed;   /* NULL: nothing is; all of it has room */
} PlaceGraph;

typedef struct Placing {
  Mesh mesh;
  int8_t **label;            /* by vertex, by axis: the label that it cuts; -1: it is idle */
  Placement *home;           /* by tensor */
  double bytes;              /* moved, in a run */
  double bound;              /* with equal blocks nothing on this mesh moves less, */
  bool narrow;               /*   with cuts along the labels that were looked at: of some tensor only the longest were */
} Placing;

PlaceGraph *place_graph(Arena *a, const PartGraph *g);
/* What the placing moves: exact, with blocks as large as they are, on up to 65536 sites; on more as if all blocks were equal. */
double placing_bytes(const PlaceGraph *g, const Placing *p);
/* The least bytes on this mesh. only: by vertex, the vectors that its counts may be; none: any with as many calls as the mesh allows.
 * budget and enough as in network.h. NULL: a vertex has no such cut on this mesh, *which. */
Placing *placing_find(Arena *a, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, double budget, double enough, uint32_t *which);
/* The same on every mesh of the sites that is worth it (meshes.c): an axis for each prime factor, or four axes where there are more.
 * Where the sites have a prime factor above 7, the mesh may have fewer, if what moves falls by eight times the share of those that are
 * idle then, or more. */
Placing *placing_search(Arena *a, const PlaceGraph *g, int64_t sites, const PartVectors *only, double budget, uint32_t *which);

/* ---- for reports ------------------------------------------------------------------------------------- */
/* An input's dimension is called as its first reader calls it; one that nobody cuts has a number, from 1. */
const char *placing_dimension(Arena *a, const PlaceGraph *g, uint32_t tensor, uint32_t dimension);
/* Counts by label; of a tensor's home, by dimension. */
void placing_counts(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t *d);
double placing_received(const PlaceGraph *g, const Placing *p, uint32_t vertex); /* bytes of its operands */
double placing_brought(const PlaceGraph *g, const Placing *p, uint32_t tensor);  /* bytes to reduce it and bring it home; of an input, its copies */

#endif
