/* expr/prove/let_through.h - an upper bound of how many points predicates keep: for a band its width in each row, for
 * what a list decides a point for each entry.
 *
 * In: predicates over labels (a sum's where, and its domain). Out: *ties*. A tie says that one label has at most so
 * many values if the others are given. Sources of ties:
 *
 * - inequalities that bound the same affine form from both sides (`0 <= i - j and i - j < 64`);
 * - an equation, which ties a label to its other side, also to data (`row[z] == i`);
 * - an equation of a quotient or a remainder (`t // 8 == s // 8`, `t % 8 == 0`), which leaves more values of the label;
 * - a range from one entry of a list to the next (`p[i] <= z and z < p[i+1]`), where the list rises, which ties i.
 *
 * A predicate that is not understood keeps all points. */
#ifndef EIN_LET_THROUGH_H
#define EIN_LET_THROUGH_H

#include "expr/expr.h"

enum { TIES_MOST = 64, TIE_LABELS = 63 };

typedef struct Tie {
  uint32_t label;
  double values;             /* the most values that it has */
  uint64_t given;            /* if these labels are given: bit l for label l */
} Tie;

typedef struct Ties { uint32_t n; Tie at[TIES_MOST]; } Ties;

/* extent: by label. list: by slot, equal numbers for slots that read the same. NULL predicates keep everything. */
Ties ties_find(uint32_t n_label, const int64_t *extent, const uint32_t *list, uint32_t n, const Expr *const *predicate);
/* The points of a box with that many values of each label. */
double ties_points(const Ties *p, uint32_t n_label, const double *values);

#endif
