/* plan/placing/inside.h - inside of placings: what a choice of axes means, and what it costs by other measures than bytes. */
#ifndef EIN_PLACING_INSIDE_H
#define EIN_PLACING_INSIDE_H

#include "memory.h"

/* As it comes out of the vertex's kernels. label: by axis. */
Placement made_at(const PartVertex *v, const Mesh *m, const int8_t *label);
/* As the vertex's kernels want to have it, in the maker's labels; or a state, whose labels are its dimensions. */
Placement wanted_at(const PartRead *r, const Mesh *m, const int8_t *label);
/* Where it is in parts, it is reduced to where it is to be: as seconds and memory count it. */
Placement reduced_at(const Mesh *m, const Placement *made, const Placement *home);
/* Bytes of the copies of an input that is stored once. */
double stored_copies(const PlaceTensor *t, const Mesh *m, const Placement *home);
/* A stack has what its maker made in each turn: so many times as much. */
double turns_in(const PlaceTensor *t, const PartRead *r);

/* ---- what there is to choose: choose.c --------------------------------------------------------------------- */

enum { CUT_LABELS = 127 };   /* of a tensor, more than these cannot be told apart in a placement */

/* All ways to give axes to labels (or dimensions) that have room for them: with as many calls as can be, or, idle, any. *narrow: only the longest
 * labels were looked at. */
PlaceWays ways_find(Arena *a, const Mesh *m, uint32_t n, const int64_t *most, bool idle, const PartVectors *only, bool *narrow);
PlaceWays ways_one(Arena *a, const Mesh *m, const int8_t *on);
/* Of a vertex, as g fixes or allows them. */
PlaceWays cuts_find(Arena *a, const PlaceGraph *g, const Mesh *m, uint32_t vertex, bool idle, const PartVectors *only, bool *narrow);
/* Operations of a site with the largest block, in a run. */
double cut_work(const PartVertex *v, const Mesh *m, const int8_t *label);

/* Of ways with equal counts the first; and those whose counts are left. */
PlaceWays ways_counted(Arena *a, const Mesh *m, uint32_t n, PlaceWays w);
PlaceWays ways_left(Arena *a, const Mesh *m, uint32_t n, PlaceWays w, Memo *left);

struct PlaceLeft {
  Memo **label, **home;      /* by vertex, by tensor: by counts of labels, of dimensions; those that are there have a value */
  double bound;              /* that is known */
};
void ways_keep(Memo *left, const Mesh *m, uint32_t n, const Placement *p);

/* ---- whichever axes do it: counts.c ------------------------------------------------------------------------ */

/* A placing's cost hangs on which axes cut what. Where only counts are told apart, and each pair of them costs what it costs at least, there is much less
 * to choose, and what comes out is a bound for every order of the mesh's axes: mostly a very near one. By bytes or elements, windows apart. */
typedef struct PlaceLeast {
  double bound;              /* of all on this mesh; at this price of an operation: */
  double price;
  double sum;                /* near the least, or above */
  double effort;
  bool narrow;
} PlaceLeast;

/* INFINITY: a vertex has no such cut (*which), or a site always too much to do. Where it gets to `enough`, it ends. */
PlaceLeast placing_least(const PlaceGraph *g, const Mesh *m, const PartVectors *only, double budget, double enough, uint32_t *which);
/* The counts that a placing which costs less than `enough` can have, in any order of the axes; a better bound may come of it. False: there are none. */
bool placing_left(Arena *a, const PlaceGraph *g, const Mesh *m, const PartVectors *only, double budget, double enough, PlaceLeast *known, PlaceLeft *out);

/* ---- the cost of a pair of placements: plan/placing/cost.c --------------------------------------------------- */

typedef struct PairCost {    /* a tensor goes from one placement to another: */
  const PlaceGraph *g;
  const Mesh *mesh;
  const Links *links;        /* NULL: by bytes */
  uint32_t rank;
  const int64_t *extent;
  double size, part;         /* bytes of an element, of a stack in all turns; of one in parts */
  double turns;              /* these turns */
  const int64_t *most;       /* by dimension, blocks that there may be */
  double times;              /* in a run */
  double price[3];           /* of a byte of memory: read, what is fetched; made, while parts are reduced and while it goes home */
} PairCost;

PairCost pair_read(const PlaceGraph *g, const Mesh *m, const Links *l, uint32_t vertex, uint32_t read);
PairCost pair_made(const PlaceGraph *g, const Mesh *m, const Links *l, uint32_t vertex);
/* What tells two apart. */
void pair_key(const PairCost *c, Buf *key);
double pair_seconds(const PairCost *c, const Placement *from, const Placement *to);
double pair_elements(const PairCost *c, const Placement *from, const Placement *to); /* by the TRA paper's cost */
double pair_elements_least(const PairCost *c, const PlaceCounts *from, const PlaceCounts *to); /* no less, whichever axes do it */
double pair_memory(const PairCost *c, const Placement *from, const Placement *to); /* what memory alone costs */
/* Of one choice alone: kernels, and memory of what they make; a tensor's memory at home, and copies of an input. */
double cut_cost(const PlaceGraph *g, const Mesh *m, uint32_t vertex, const int8_t *label);
double home_cost(const PlaceGraph *g, const Mesh *m, const Links *l, uint32_t tensor, const Placement *home);

/* The most sites below so many that have small primes only; 0: there is no need. */
int64_t sites_fewer(int64_t sites);

#endif
