/* expr/prove/asked.h - a read at data, X[T[s], d], or at a turn, X[t, d]: what a site requests from others, if it does
 * not take all of X.
 *
 * Dimensions are of two kinds. Those whose index depends on data or turns, and those whose index shares a label with
 * such an index, give the *place* that is requested. A site requests each place once, from each block that has part of
 * it and is not its own, with 8 bytes per index. Of the other dimensions it gets what its labels reach, the *slice*.
 * The places are unknown before a run, so an upper bound counts: as many different places as possible, where they cost
 * most. */
#ifndef EIN_ASKED_H
#define EIN_ASKED_H

#include "expr/expr.h"

enum {
  ASKED_INDEX = 8,           /* bytes of an index in a request */
  ASKED_MOST = 60,           /* the most labels of a request */
  ASKED_RANK = 256
};

typedef struct Asked {
  uint32_t n_label, rank, n_place;
  const Expr *const *index;  /* by dimension */
  const bool *place;         /* by dimension: whether it gives the place */
  const bool *label;         /* by label: whether places depend on it */
} Asked;

/* If no index depends on data or turns, those that are numbers give the place. Returns false if there are none. */
bool asked_of(Arena *a, uint32_t n_label, uint32_t rank, const Expr *const *index, Asked *out);
/* For a block of labels, from low to below high: how many points make a request; and the box that contains all they
 * can request. */
double asked_points(const Asked *q, const int64_t *low, const int64_t *high);
void asked_box(
    const Asked *q, const int64_t *low, const int64_t *high, const int64_t *extent, int64_t *from, int64_t *to);
/* What from..to and low..high have in common: places, and elements of a slice. */
double asked_common(
    const Asked *q, bool place, const int64_t *from, const int64_t *to, const int64_t *low, const int64_t *high);

/* The blocks of a table; those with the same places form a column. */
typedef struct AskedTable {
  uint32_t n, columns;
  const int64_t *low, *high; /* by block and dimension */
  uint32_t *column;          /* by block */
  int64_t *extent;           /* of the whole table */
} AskedTable;
AskedTable asked_table(Arena *a, const Asked *q, uint32_t n, const int64_t *low, const int64_t *high);
/* The most bytes that a site with the blocks `here` receives, for a block of labels. size: bytes of an element. */
double asked_most(Arena *a, const Asked *q, const AskedTable *t, const int64_t *low, const int64_t *high,
    const bool *here, double size);

typedef struct AskedPlaces { /* places that have the same cost */
  double n;
  double each;               /* bytes received for one place: requests and answers */
} AskedPlaces;
/* The bytes of that many points, each at a different place as long as there are some. Changes the list. */
double asked_bytes(double points, uint32_t n, AskedPlaces *all);

#endif
