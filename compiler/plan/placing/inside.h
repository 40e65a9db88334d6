/* plan/placing/inside.h - internals of placings: what a choice of axes means, and what it costs by measures other
 * than bytes. */
#ifndef EIN_PLACING_INSIDE_H
#define EIN_PLACING_INSIDE_H

#include "memory.h"

/* Finds windows that are alike; a copy of the graph in which each of those costs its part of one, and whether there are
 * any: alike.c. */
void alikes_find(Arena *a, PlaceGraph *g);
bool alikes_shared(Arena *a, const PlaceGraph *g, PlaceGraph *out);
/* plan/placing/once.c: the same graph, in which reads of a vertex that need the same, or windows that overlap, move
 * once. */
const PartGraph *reads_once(Arena *a, const PartGraph *part);
/* As the vertex's kernels make it. label: by axis. */
Placement made_at(const PartVertex *v, const Mesh *m, const int8_t *label);
/* As the vertex's kernels need the operand, in the maker's labels; for a state, in its dimensions. */
Placement wanted_at(const PartRead *r, const Mesh *m, const int8_t *label);
/* Where parts are reduced, as seconds and memory count it: at home. */
Placement reduced_at(const Mesh *m, const Placement *made, const Placement *home);
/* Bytes of the further copies of an input that is stored once. */
double stored_copies(const PlaceTensor *t, const Mesh *m, const Placement *home);
/* The number of turns whose results a stack holds; 1 for others. */
double turns_in(const PlaceTensor *t, const PartRead *r);

/* ---- what can be chosen: choose.c ------------------------------------------------------------------------ */

enum { CUT_LABELS = 127 };   /* a placement can distinguish at most this many labels of a tensor */

typedef struct WaysWanted {
  bool idle;                 /* any number of calls; else as many as possible */
  bool counts;               /* the first of each group with equal counts */
  const PartVectors *only;   /* the allowed counts; NULL or none: all are */
  Memo *left;                /* only the counts that this has (ways_keep); NULL: all */
  bool wide;                 /* there may be more ways than usual */
} WaysWanted;

/* The wanted ways to assign axes to labels (or dimensions) that have room for them. Sets *narrow if it considered only
 * the longest labels; if it is set before, that needs fewer. */
PlaceWays ways_find(
    Arena *a, const Mesh *m, uint32_t n, const int64_t *most, const WaysWanted *w, bool *narrow);
PlaceWays ways_one(Arena *a, const Mesh *m, const int8_t *on);
/* Those of all that are left, and the first of each group if only counts matter. */
PlaceWays ways_of(Arena *a, const Mesh *m, uint32_t n, PlaceWays all, const WaysWanted *w);
/* The wanted ways to cut a vertex, or for a tensor's home, that g fixes or allows. */
PlaceWays cuts_find(
    Arena *a, const PlaceGraph *g, const Mesh *m, uint32_t vertex, const WaysWanted *w, bool *narrow);
PlaceWays stays_find(
    Arena *a, const PlaceGraph *g, const Mesh *m, uint32_t tensor, const WaysWanted *w, bool *narrow);
/* Operations per run of the site with the largest block. */
double cut_work(const PartVertex *v, const Mesh *m, const int8_t *label);

struct PlaceLeft {
  Memo **label, **home;      /* by vertex, by tensor: a map with the counts of labels, of dimensions, that remain */
  double bound;              /* a known lower bound */
  bool narrow;               /* not all counts were looked at */
};
void ways_keep(Memo *left, const Mesh *m, uint32_t n, const Placement *p);

/* ---- a search on one mesh: find.c ------------------------------------------------------------------------ */

/* As placing_find. *narrow: it considered only some ways; then there is no bound, and NULL proves nothing. */
Placing *placing_look(Arena *a, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, double budget,
    double enough, uint32_t *which, bool *narrow);

/* ---- counts alone, whichever axes cut: counts.c --------------------------------------------------------- */

/* A placing's cost depends on which axes cut what. If only counts are distinguished, and each pair of counts gets its
 * least cost, there is much less to choose from, and the result is a lower bound for every order of the mesh's axes,
 * usually a very close one. By bytes or elements. */
typedef struct PlaceLeast {
  double bound;              /* for all placings on this mesh, at this price of an operation; 0: none is known */
  double price;
  double sum;                /* the least sum, or slightly above */
  double effort;
  bool narrow;
} PlaceLeast;

/* Returns a bound of INFINITY if a vertex has no such cut (*which) or a site always has too much work. Stops when the
 * bound reaches `enough`. */
PlaceLeast placing_least(
    const PlaceGraph *g, const Mesh *m, const PartVectors *only, double budget, double enough, uint32_t *which);
/* Raises a known bound of placings cheaper than `enough`, with more work: of all orders, or of this one alone. */
void placing_raise(
    const PlaceGraph *g, const Mesh *m, const PartVectors *only, double budget, double enough, PlaceLeast *known);
void placing_raise_order(
    const PlaceGraph *g, const Mesh *m, const PartVectors *only, double budget, double enough, PlaceLeast *known);
/* The counts that a placing cheaper than `enough` can have, in any order of the axes. May improve the bound. Returns
 * false if there are none. */
bool placing_left(Arena *a, const PlaceGraph *g, const Mesh *m, const PartVectors *only, double budget, double enough,
    PlaceLeast *known, PlaceLeft *out);

/* ---- the cost of a pair of placements: plan/placing/cost.c --------------------------------------------------- */

typedef struct PairCost {    /* a tensor goes from one placement to another */
  const PlaceGraph *g;
  const Mesh *mesh;
  const Links *links;        /* NULL: by bytes */
  uint32_t rank;
  const int64_t *extent;
  double size, part;         /* bytes of an element, for a stack in all turns; of an element in parts */
  double turns;              /* the number of these turns */
  const int64_t *most;       /* by dimension, the most blocks */
  double times;              /* per run */
  bool alone;                /* it is an input without other readers: its copies at home are there for this one */
  bool sliced;               /* parts of it come in panels, so they take nothing */
  double price[3];           /* of a byte of memory: fetched for a read; made, while parts are reduced; made, while it
                              * goes home */
} PairCost;

PairCost pair_read(const PlaceGraph *g, const Mesh *m, const Links *l, uint32_t vertex, uint32_t read);
PairCost pair_made(const PlaceGraph *g, const Mesh *m, const Links *l, uint32_t vertex);
/* Appends what distinguishes this cost from others. */
void pair_key(const PairCost *c, Buf *key);
double pair_seconds(const PairCost *c, const Placement *from, const Placement *to);
double pair_elements(const PairCost *c, const Placement *from, const Placement *to); /* by the TRA paper's cost */
/* A lower bound for any axes with these counts, by the same cost. */
double pair_elements_least(const PairCost *c, const PlaceCounts *from, const PlaceCounts *to);
double pair_memory(const PairCost *c, const Placement *from, const Placement *to); /* the cost of memory alone */
/* Costs of one choice: of a cut, its kernels and the memory of what they make; of a home, the tensor's memory and the
 * copies of an input. */
double cut_cost(const PlaceGraph *g, const Mesh *m, uint32_t vertex, const int8_t *label);
double home_cost(const PlaceGraph *g, const Mesh *m, const Links *l, uint32_t tensor, const Placement *home);
/* The tensor's dimension along which panels of that label bring the operand, if it moves for this vertex alone; -1:
 * none, it comes whole. panels.c. */
int32_t panels_along(const PlaceGraph *g, uint32_t vertex, uint32_t read, uint32_t label);
/* Seconds of operands in panels, as far as nothing hides them: panels.c. */
double panels_seconds(const PlaceGraph *g, const Seconds *s, const Links *l, const Placing *p, uint32_t vertex);

#endif
