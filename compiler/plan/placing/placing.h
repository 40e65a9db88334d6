/* plan/placing/placing.h - plans by bytes or seconds: for each vertex the label that each axis of a mesh cuts, for each tensor the placement in which
 * it stays for its readers.
 *
 * A vertex's axes cut its labels, or are idle: their sites all do the same. What comes out is cut along axes of its own labels, and in parts along those of reduced ones. It is reduced and
 * moved to its *home*, which has no parts; from there it goes to each reader's cut. So what several readers want
 * everywhere is brought there once. An input is stored once, evenly cut; further copies at home are moves too. Moves are
 * counted as elements received (place.h), times the size of an element; or in seconds on a machine (seconds.h), kernels
 * too. Where these do not count, the work of the busiest site has a limit: else all that is made of labels alone would be
 * made everywhere. */
#ifndef EIN_PLACING_H
#define EIN_PLACING_H

#include "plan/partition.h"
#include "plan/place.h"
#include "plan/seconds.h"

typedef struct Lives Lives;  /* plan/placing/memory.h */

typedef struct PlaceCost {   /* what is to be least */
  const Seconds *seconds;    /* seconds; NULL: bytes that move, */
  bool paper;                /*   or elements as the TRA paper counts moves (placing_elements) */
  const double *price;       /*   and so much for a byte of a site's memory, by step and phase of plan/placing/memory.h; NULL: nothing */
  const Lives *lives;        /*   with prices */
  bool memory_only;          /* nothing but these prices */
} PlaceCost;

typedef struct PlaceTensor { /* what is read: the result of a vertex, or an input */
  const EinNode *node;
  int32_t vertex;            /* that makes it; -1: an input */
  uint32_t n;                /* its dimensions here: the output labels of its vertex; an input's own */
  const int64_t *extent, *most;
  double bytes;              /* of all of it */
  double part;               /* of an element while it is in parts: of the accumulator's dtype, and of a place that is looked for */
} PlaceTensor;

typedef struct PlaceFixed {  /* what is not looked for */
  const Mesh *mesh;          /* NULL: any; then nothing else is fixed */
  const int8_t **label;      /* by vertex, by axis: the label, or PLACE_ALL; NULL: any */
  const Placement **home;    /* by tensor; NULL: any */
} PlaceFixed;

typedef struct PlacePanels { uint32_t label, n; } PlacePanels; /* of a vertex: in n slices of that label, one after the other; n 0: at once */

typedef struct PlaceWays { uint32_t n; const Placement *at; } PlaceWays; /* of a vertex, labels by axis; of a tensor, its home */

typedef struct PlaceLeft PlaceLeft; /* counts of cuts and homes that are looked at: inside.h */

typedef struct PlaceGraph {
  const PartGraph *part;
  VEC(PlaceTensor) tensors;  /* those of vertices come first, with their numbers */
  const uint32_t **tensor;   /* by vertex, by read: which tensor */
  const PlaceFixed *fixed;   /* NULL: nothing is; all of it has room */
  const PlaceCost *cost;     /* of its plans; NULL: bytes */
  const PlaceWays *label, *home; /* by vertex, by tensor: what is looked at, where it is not fixed; NULL: all */
  double work;               /* of the busiest site, at most; 0: WORK_TIMES the least on the mesh at hand. By seconds, and where `label` says what is
                              * looked at, nobody asks */
  bool busy;                 /* no vertex leaves axes idle for which its labels have room */
  const PlaceLeft *left;     /* of these alone; NULL: of all */
  const PlacePanels *panels; /* by vertex, what its plans are said to have; NULL: nothing */
} PlaceGraph;

enum { WORK_TIMES = 2 };

typedef struct Placing {
  Mesh mesh;
  int8_t **label;            /* by vertex, by axis: the label that it cuts; -1: it is idle */
  Placement *home;           /* by tensor */
  const PlacePanels *panels; /* by vertex; they change no bytes and no operations. NULL: none has any */
  double bytes;              /* moved, in a run */
  double seconds;            /* by seconds */
  double elements;           /* by the TRA paper's cost */
  double cost;               /* bytes, seconds or elements, with what memory costs */
  double effort;             /* additions that finding it took, about */
  double allowed;            /* the busiest site was to have no more work than that; 0: nobody asked */
  double bound;              /* with equal blocks nothing on this mesh costs less, */
  bool narrow;               /*   with cuts along the labels that were looked at: of some tensor only the longest were */
  double busy;               /* the same of plans without idle axes; 0: it was not looked for apart */
} Placing;

enum { PLACING_LOOKED = 65536 };

PlaceGraph *place_graph(Arena *a, const PartGraph *g);
/* No plan of those that were looked for costs less: to a part in 10^9, as sums of seconds, and of thirds of bytes, are rounded. */
bool placing_is_proven(const Placing *p);
/* What the placing moves: exact, with blocks as large as they are, on up to PLACING_LOOKED sites; on more as if all blocks were equal. */
double placing_bytes(const PlaceGraph *g, const Placing *p);
/* The least cost on this mesh. only: by vertex, the vectors that its counts may be; none: any with as many calls as the mesh allows.
 * budget and enough as in network.h. NULL: a vertex has no such cut on this mesh, *which. */
Placing *placing_find(Arena *a, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, double budget, double enough, uint32_t *which);
/* A good plan on this mesh by chance, for graphs that are too large to be searched (network_anneal); it has no bound (0). NULL: none was met. */
Placing *placing_anneal(Arena *a, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, double budget);
/* The work of the busiest site, as one that has the largest block of each vertex: operations in a run. And on this mesh the least there is: each
 * vertex for itself as `only` and g allow it; INFINITY: one has no cut. */
double placing_work(const PlaceGraph *g, const Placing *p);
double work_least(const PlaceGraph *g, const Mesh *m, const PartVectors *only);
/* The same on every mesh of the sites that is worth it (meshes.c): an axis for each prime factor, or four axes where there are more, in every
 * order; by seconds, those of seconds_meshes. By bytes or elements the busiest site has at most WORK_TIMES the least work that one has on any of them. By bytes, where the sites have a prime factor above 7, the mesh may have fewer, if what moves falls
 * by eight times the share of those that are idle then, or more. */
Placing *placing_search(Arena *a, const PlaceGraph *g, int64_t sites, const PartVectors *only, double budget, uint32_t *which);

/* The same; where that proves nothing, plans without idle axes are searched too, which are fewer. Bounds are those of all. */
Placing *placing_best(Arena *a, const PlaceGraph *g, int64_t sites, const PartVectors *only, double budget, uint32_t *which);

/* By bytes or elements, a graph of so many vertices that not all is looked for. */
bool placing_is_large(const PlaceGraph *g);

/* A plan by the EinDecomp paper's cost has counts and no mesh. Here it gets one, with an axis for each prime factor of the sites (or g's fixed
 * one), axes that multiply to its counts, and homes; as g's cost has it, among ways that are likely (realise.c). d: by vertex, by
 * label; exactly: by vertex, false where no axes multiply to its counts and those that it has are smaller. It has no bound (0). */
Placing *placing_realise(Arena *a, const PlaceGraph *g, int64_t sites, const uint32_t *const *d, double budget, bool *exactly);

/* What it costs by all that g's cost counts, memory apart: its bytes, seconds, elements, and cost. */
void placing_count(const PlaceGraph *g, Placing *p);

/* The cost of a placing as the TRA paper counts the moves of a plan over relations (section 5.3): in all; as placing_read, placing_received and
 * placing_brought. Where some site lacks something, all that sites are to hold is moved: f elements to c sites each cost f*c, and of a
 * result in parts f are those of all parts. Exact whatever blocks are; windows as in reach.h. */
double placing_elements(const PlaceGraph *g, const Placing *p);
double placing_read_elements(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read);
double placing_received_elements(const PlaceGraph *g, const Placing *p, uint32_t vertex);
double placing_brought_elements(const PlaceGraph *g, const Placing *p, uint32_t tensor);

/* The seconds of a placing, on any mesh of as many sites: in all; of a vertex's kernels; as placing_received and placing_brought. */
double placing_seconds(const PlaceGraph *g, const Seconds *s, const Placing *p);
double placing_kernels(const PlaceGraph *g, const Seconds *s, const Placing *p, uint32_t vertex);
double placing_received_seconds(const PlaceGraph *g, const Seconds *s, const Placing *p, uint32_t vertex);
double placing_brought_seconds(const PlaceGraph *g, const Seconds *s, const Placing *p, uint32_t tensor);

/* ---- for reports ------------------------------------------------------------------------------------- */
/* An input's dimension is called as its first reader calls it; one that nobody cuts has a number, from 1. */
const char *placing_dimension(Arena *a, const PlaceGraph *g, uint32_t tensor, uint32_t dimension);
/* Counts by label; of a tensor's home, by dimension. */
void placing_counts(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t *d);
double placing_received(const PlaceGraph *g, const Placing *p, uint32_t vertex); /* bytes of its operands */
double placing_read(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read); /* of one of them: windows too (reach.h) */
/* A read at data (else false): bytes in a run if all of its table comes, and at most if its places are asked for
 * (expr/prove/asked.h). What moves less is done. */
bool placing_ways(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read, double *whole, double *asked);
/* Whether its places are asked for. */
bool placing_fetches(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read);
double placing_brought(const PlaceGraph *g, const Placing *p, uint32_t tensor);  /* bytes to reduce it and bring it home; of an input, its copies */
/* How a read is wanted, and how often its tensor comes so; how a vertex's kernels make it, and how it is once parts are reduced: `between` as
 * memory and seconds count it, where sites that are all to have it have all of it then; by bytes it is placing_between. */
Placement placing_wanted(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read, double *times);
Placement placing_made(const PlaceGraph *g, const Placing *p, uint32_t vertex, Placement *between);
Placement placing_between(const PlaceGraph *g, const Placing *p, uint32_t vertex);

#endif
