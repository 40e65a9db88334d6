/* expr/prove/asked.h - a read at data, X[T[s], d]: what of X a site asks others for, if it does not take all of it.
 *
 * Dimensions are of two sorts. Those whose index hangs on data, and those whose index shares a label with such a one, say the *place* that is asked
 * for; a site asks for each place once, of each block that has something of it and is not its own, with 8 bytes an index. Of the other
 * dimensions it gets what its labels reach, the *slice*. Before a run nobody knows which places these are; what is counted then is
 * what comes if they are as many as there can be, and lie where it costs most. */
#ifndef EIN_ASKED_H
#define EIN_ASKED_H

#include "expr/expr.h"

enum {
  ASKED_INDEX = 8,           /* bytes of an index in a request */
  ASKED_MOST = 60,           /* labels of what is asked for */
  ASKED_RANK = 256
};

typedef struct Asked {
  uint32_t n_label, rank, n_place;
  const Expr *const *index;  /* by dimension */
  const bool *place;         /*   whether it says the place */
  const bool *label;         /* by label: whether places hang on it */
} Asked;

/* False: no index hangs on data. */
bool asked_of(Arena *a, uint32_t n_label, uint32_t rank, const Expr *const *index, Asked *out);
/* For a block of labels, from low to below high: how many points ask; and the box in which lies what they can ask for. */
double asked_points(const Asked *q, const int64_t *low, const int64_t *high);
void asked_box(const Asked *q, const int64_t *low, const int64_t *high, const int64_t *extent, int64_t *from, int64_t *to);
/* Of what from..to and low..high have in common: places, and elements of a slice. */
double asked_common(const Asked *q, bool place, const int64_t *from, const int64_t *to, const int64_t *low, const int64_t *high);

/* The blocks of a table: those that have the same places make a column. */
typedef struct AskedTable {
  uint32_t n, columns;
  const int64_t *low, *high; /* by block and dimension */
  uint32_t *column;          /* by block */
  int64_t *extent;           /* of all of it */
} AskedTable;
AskedTable asked_table(Arena *a, const Asked *q, uint32_t n, const int64_t *low, const int64_t *high);
/* What comes at most to a site that has the blocks `here`, for a block of labels. size: of an element. */
double asked_most(Arena *a, const Asked *q, const AskedTable *t, const int64_t *low, const int64_t *high, const bool *here, double size);

typedef struct AskedPlaces { /* that have the same cost */
  double n;
  double each;               /* bytes that come for one: requests and answers */
} AskedPlaces;
/* Bytes for so many points, each at another place while there are some. Changes the list. */
double asked_bytes(double points, uint32_t n, AskedPlaces *all);

#endif
