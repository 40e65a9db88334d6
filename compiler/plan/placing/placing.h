/* plan/placing/placing.h - plans by bytes or seconds: for each vertex the label that each axis of a mesh cuts, for
 * each tensor the placement in which it stays for its readers.
 *
 * A vertex's axes cut its labels or are idle; along an idle axis all sites do the same work. Axes that cut output
 * labels cut the result; axes that cut reduced labels leave it in parts. The result is reduced and moved to its
 * *home*, which has no parts. From there it moves to each reader's cut, so data that several readers need everywhere
 * is brought there once. An input is stored once, evenly cut; further copies at home count as moves. Moves are
 * counted as elements received (place.h) times the size of an element, or in seconds on a machine (seconds.h), which
 * include kernels. If kernels do not count, the work of the busiest site is limited: otherwise everything computed
 * from labels alone would be computed everywhere. */
#ifndef EIN_PLACING_H
#define EIN_PLACING_H

#include "plan/partition.h"
#include "plan/place.h"
#include "plan/seconds.h"

typedef struct Lives Lives;  /* plan/placing/memory.h */

typedef struct PlaceCost {   /* what to minimise */
  const Seconds *seconds;    /* seconds; NULL: bytes that move */
  bool paper;                /* or elements as the TRA paper counts moves (placing_elements) */
  const double *price;       /* plus this price of a byte of a site's memory, by step and phase of
                              * plan/placing/memory.h; NULL: none */
  const Lives *lives;        /* needed with prices */
  bool memory_only;          /* only these prices count */
} PlaceCost;

typedef struct PlaceTensor { /* what is read: the result of a vertex, or an input */
  const EinNode *node;
  int32_t vertex;            /* that makes it; -1: an input */
  uint32_t n;                /* its dimensions here: the output labels of its vertex; an input's own */
  const int64_t *extent, *most;
  double bytes;              /* of the whole tensor */
  double part;               /* bytes of an element in parts: the accumulator's dtype, and the position if one is
                              * tracked */
} PlaceTensor;

typedef struct PlaceFixed {  /* choices that are fixed */
  const Mesh *mesh;          /* NULL: any; then nothing else is fixed */
  const int8_t **label;      /* by vertex, by axis: the label, or PLACE_ALL; NULL: any */
  const Placement **home;    /* by tensor; NULL: any */
} PlaceFixed;

typedef struct PlacePanels { /* n slices of that label of a vertex, one after the other; n 0: all at once */
  uint32_t label, n;
  uint64_t apart;            /* reads whose next panel does not come while one is in use, as there is no room: bit k
                              * for read k, the last for all from 63 on */
} PlacePanels;

typedef struct PlaceWays { uint32_t n; const Placement *at; } PlaceWays; /* of a vertex, labels by axis; of a tensor,
                                                                          * its home */

typedef struct PlaceAlike {  /* an earlier read that needs the same where both equations are cut alike */
  uint32_t vertex, read;
  const int32_t *label;      /* by label of this one's vertex, if an index has it: the earlier one's; else -1 */
} PlaceAlike;

typedef struct PlaceAlikes { uint32_t n; const PlaceAlike *at; uint32_t kin; } PlaceAlikes; /* kin: how many there are,
                                                                                             * later ones too */

typedef struct PlaceLeft PlaceLeft; /* the counts of cuts and homes to consider: inside.h */

typedef struct PlaceGraph {
  const PartGraph *part;     /* reads of one vertex that need the same, as X[i,0] and X[i,1], move once (`again`) */
  VEC(PlaceTensor) tensors;  /* those of vertices come first, with the same numbers */
  const uint32_t **tensor;   /* by vertex, by read: which tensor */
  const PlaceAlikes *const *alike; /* by vertex, by read; NULL: each moves for itself */
  const PlaceFixed *fixed;   /* NULL: nothing; all of it has room */
  const PlaceCost *cost;     /* what plans cost; NULL: bytes */
  const PlaceWays *label, *home; /* by vertex, by tensor: the ways to consider if not fixed; NULL: all */
  double work;               /* limit of the busiest site; 0: WORK_TIMES the least on this mesh. No limit by seconds,
                              * or if `label` restricts the ways */
  bool all_sites;            /* none may be left out because their number has a large prime factor */
  bool busy;                 /* no vertex leaves axes idle for which its labels have room */
  const PlaceLeft *left;     /* only these counts; NULL: all */
  const PlacePanels *panels; /* by vertex, the panels that a plan fixes; NULL: none */
  int64_t room;              /* for parts that arrive at once, in bytes, if a plan fixes it; else 0 */
} PlaceGraph;

enum { WORK_TIMES = 2 };

typedef struct Placing {
  Mesh mesh;
  int8_t **label;            /* by vertex, by axis: the label that it cuts; -1: it is idle */
  Placement *home;           /* by tensor */
  const PlacePanels *panels; /* by vertex; they change neither bytes nor operations. NULL: none has any */
  int64_t room;              /* bytes of parts that arrive at once; 0: MOVE_ROOM */
  double bytes;              /* moved, per run */
  double seconds;            /* per run, if by seconds; with its panels */
  double elements;           /* by the TRA paper's cost */
  double cost;               /* bytes, seconds without panels, or elements, plus the cost of memory */
  double effort;             /* additions that finding it took, about */
  double allowed;            /* the limit on the busiest site's work; 0: none */
  double bound;              /* lower bound for this mesh with equal blocks */
  bool narrow;               /* there is no bound: of some tensor only cuts along its longest labels were looked at */
  double busy;               /* the bound for plans without idle axes; 0: not searched separately */
} Placing;

enum { PLACING_LOOKED = 65536 };

PlaceGraph *place_graph(Arena *a, const PartGraph *g);
/* No plan in the search costs less, to one part in 10^9: sums of seconds, and of thirds of bytes, are rounded. */
bool placing_is_proven(const Placing *p);
/* The bytes that the placing moves: exact for unequal blocks on up to PLACING_LOOKED sites; beyond that, as if all
 * blocks were equal. */
double placing_bytes(const PlaceGraph *g, const Placing *p);
/* The least cost on this mesh. only: by vertex, the vectors that its counts may be; none: any with as many calls as
 * the mesh allows. budget and enough as in network.h. Returns NULL if vertex *which has no such cut on this mesh. */
Placing *placing_find(Arena *a, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, double budget,
    double enough, uint32_t *which);
/* A good plan on this mesh, for graphs that are too large to search: with so much work for network_forests, and then
 * for network_balls, which starts from a known plan if that is better. It has no bound (0). NULL: none was met. */
Placing *placing_by_chance(Arena *a, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, double forests,
    double balls, const Placing *known);
/* placing_work: the work of the busiest site, which has the largest block of each vertex, in operations per run.
 * work_least: the least possible on this mesh, each vertex separately as `only` and g allow; INFINITY: some vertex
 * has no cut. */
double placing_work(const PlaceGraph *g, const Placing *p);
double work_least(const PlaceGraph *g, const Mesh *m, const PartVectors *only);
/* The operations of the site that has most, counted site by site (operations.c). point: by vertex, those of a point,
 * per run. most: out, by vertex, those of the site that has most of this one. */
double placing_operations(const PlaceGraph *g, const Placing *p, const double *point, double *most);
/* placing_find on every useful mesh of the sites (meshes.c): an axis for each prime factor, or four axes if there are
 * more, in every order; by seconds, the meshes of seconds_meshes. By bytes or elements, the busiest site has at most
 * WORK_TIMES the least work on any of them. By bytes, if the sites have a prime factor above 7, the mesh may have
 * fewer sites, if the moves then fall by at least eight times the share of idle sites. If that proves nothing, it also
 * searches plans without idle axes, which are fewer. Bounds hold for all plans. */
Placing *placing_best(
    Arena *a, const PlaceGraph *g, int64_t sites, const PartVectors *only, double budget, uint32_t *which);

/* By bytes or elements: the graph has too many vertices for a full search. */
bool placing_is_large(const PlaceGraph *g);

/* Gives a plan by the EinDecomp paper's cost, which has counts and no mesh, a mesh with an axis for each prime factor
 * of the sites (or g's fixed mesh), axes that multiply to its counts, and homes. It takes the best by g's cost among
 * likely ways (realise.c). d: by vertex, by label. exactly: by vertex, false if no axes multiply to its counts and it
 * got smaller ones. It has no bound (0). */
Placing *placing_realise(
    Arena *a, const PlaceGraph *g, int64_t sites, const uint32_t *const *d, double budget, bool *exactly);

/* Fills in its bytes, seconds, elements and cost, by all that g's cost counts except memory. */
void placing_count(const PlaceGraph *g, Placing *p);

/* The cost of a placing as the TRA paper counts the moves of a plan over relations (section 5.3): in all; as
 * placing_read, placing_received and placing_brought. If some site lacks something, all that sites must hold moves: f
 * elements to c sites cost f*c, where f counts all parts of a result in parts. Exact for any blocks; windows as in
 * reach.h. */
double placing_elements(const PlaceGraph *g, const Placing *p);
double placing_read_elements(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read);
double placing_received_elements(const PlaceGraph *g, const Placing *p, uint32_t vertex);
double placing_brought_elements(const PlaceGraph *g, const Placing *p, uint32_t tensor);

/* The seconds of a placing, on any mesh of that many sites: in all; of a vertex's kernels; as placing_received and
 * placing_brought. Of operands in panels, what is not hidden behind kernels (panels.c). */
double placing_seconds(const PlaceGraph *g, const Seconds *s, const Placing *p);
double placing_kernels(const PlaceGraph *g, const Seconds *s, const Placing *p, uint32_t vertex);
double placing_received_seconds(const PlaceGraph *g, const Seconds *s, const Placing *p, uint32_t vertex);
double placing_brought_seconds(const PlaceGraph *g, const Seconds *s, const Placing *p, uint32_t tensor);
/* The tensor's dimension along which the operand comes in panels; -1: it comes at once. */
int32_t placing_panelled(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read);

/* ---- for reports ------------------------------------------------------------------------------------- */
/* The name of an input's dimension is that which its first reader uses; a dimension that nobody cuts has a number,
 * from 1. */
const char *placing_dimension(Arena *a, const PlaceGraph *g, uint32_t tensor, uint32_t dimension);
/* Counts by label; of a tensor's home, by dimension. */
void placing_counts(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t *d);
double placing_received(const PlaceGraph *g, const Placing *p, uint32_t vertex); /* bytes of its operands */
double placing_read(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read); /* bytes of one
                                                                                             * operand, including
                                                                                             * windows (reach.h) */
/* The earlier read whose window this one shares, so that nothing moves for it; or NULL. */
const PlaceAlike *placing_again(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read);
/* For a read at data (else returns false): bytes per run if its whole table moves, and at most if its places are
 * requested (expr/prove/asked.h). The cheaper way is used. */
bool placing_ways(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read, double *whole, double *asked);
/* Whether its places are requested. */
bool placing_fetches(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read);
double placing_brought(const PlaceGraph *g, const Placing *p, uint32_t tensor);  /* bytes to reduce it and bring it
                                                                                  * home; of an input, of its copies */
/* placing_wanted: the placement that a read needs, and how often its tensor moves there. placing_made: the placement
 * in which a vertex's kernels leave the result; *between: where its parts are reduced, as memory and seconds count it
 * (all sites that need the result reduce all of it). By bytes, placing_between says where. */
Placement placing_wanted(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read, double *times);
Placement placing_made(const PlaceGraph *g, const Placing *p, uint32_t vertex, Placement *between);
Placement placing_between(const PlaceGraph *g, const Placing *p, uint32_t vertex);

#endif
