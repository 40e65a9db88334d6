/* plan/placing/finder.h - the network of a graph on a mesh: one variable for each vertex's cut and one for each
 * tensor's home. */
#ifndef EIN_PLACING_FINDER_H
#define EIN_PLACING_FINDER_H

#include "plan/network/network.h"
#include "inside.h"

typedef struct Pair { uint64_t key; double share[2]; } Pair; /* key 0: empty */

typedef struct Finder {
  Arena *arena;
  const PlaceGraph *g;
  const Mesh *m;
  Network *n;
  const PartVectors *only;   /* by vertex; NULL: no restriction */
  PlaceWays *label, *home;   /* by vertex, by tensor */
  uint32_t *cut, *stay;      /* their variables; a state has no cut */
  bool narrow;               /* for some of them not all ways are considered */
  double **work;             /* by vertex, by cut: the work of a site */
  double allowed;            /* the most work in all; 0: any */
  Pair *pairs;               /* hash table by two placements; its size is a power of two */
  uint32_t n_pairs, pairs_room;
  Links links;               /* if the cost is in seconds */
  Memo shares;               /* by the placements on both sides: the shares of a tensor that move between them */
  Memo costs;                /* by these and bytes: 1 + the number of an equal cost */
  Memo windows;              /* the same for windows */
  double entries;            /* entries of all tables made */
  bool counts;               /* placements are distinguished only by their counts */
} Finder;

/* counts: placements are distinguished only by their counts. */
Finder finder_new(Arena *work, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, bool counts);
/* Builds the network. Returns false if vertex *which has no cut, or always gives a site too much work. */
bool finder_make(Finder *f, uint32_t *which);
bool is_limited(const PlaceGraph *g); /* is there a limit on work? */
const double **finder_weights(const Finder *f); /* the work of cuts, by variable: where there is a limit */
/* The best choice, within the limit on work if there is one. price: as in NetworkLimit. */
NetworkAnswer finder_solve(Finder *f, double budget, double enough, double *price);

/* ---- costs of pairs: tables.c ------------------------------------------------------------------------------- */

const Links *links_of(const Finder *f); /* NULL: by bytes */
void tables_vertex(Finder *f, uint32_t vertex);
void tables_read(Finder *f, uint32_t vertex, uint32_t read);

#endif
