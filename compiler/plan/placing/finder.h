/* plan/placing/finder.h - the network of a graph on a mesh: a variable for each vertex's cut and one for each tensor's home. */
#ifndef EIN_PLACING_FINDER_H
#define EIN_PLACING_FINDER_H

#include "plan/network/network.h"
#include "inside.h"

typedef struct Pair { uint64_t key; double share[2]; } Pair; /* key 0: none */

typedef struct Finder {
  Arena *arena;
  const PlaceGraph *g;
  const Mesh *m;
  Network *n;
  const PartVectors *only;   /* by vertex; NULL: nothing is said */
  PlaceWays *label, *home;   /* by vertex, by tensor */
  uint32_t *cut, *stay;      /* variables of these; a state has no cut */
  bool narrow;               /* of some, not all ways are there */
  double **work;             /* by vertex, by way to cut it: of a site */
  double allowed;            /*   and so much in all; 0: any */
  Pair *pairs;               /* by two placements; their room is a power of two */
  uint32_t n_pairs, pairs_room;
  Links links;               /* by seconds */
  Memo shares;               /* by the placements on both sides: the shares of a tensor that move between them */
  Memo costs;                /* by these and bytes: 1 + the number of a cost like that */
  Memo windows;              /* the same of windows */
  double entries;            /* of tables that were made */
  bool counts;               /* placements are told apart by their counts alone */
} Finder;

/* counts: placements are told apart by their counts alone. */
Finder finder_new(Arena *work, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, bool counts);
/* Its network; false: *which vertex has no cut, or a site always too much to do. */
bool finder_make(Finder *f, uint32_t *which);
/* The best choice, within the limit on work where there is one. price: as NetworkLimit's. */
NetworkAnswer finder_solve(Finder *f, double budget, double enough, double *price);

/* ---- costs of pairs: tables.c ------------------------------------------------------------------------------- */

const Links *links_of(const Finder *f); /* NULL: by bytes */
void tables_vertex(Finder *f, uint32_t vertex);
void tables_read(Finder *f, uint32_t vertex, uint32_t read);

#endif
