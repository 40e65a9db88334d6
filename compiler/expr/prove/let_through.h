/* expr/prove/let_through.h - an upper bound of how many points predicates keep: for a band its width in each row, for
 * what a list decides a point for each entry.
 *
 * In: predicates over labels (a sum's where, and its domain). Out: *ties*. A tie says that one label has at most so
 * many values if the others are given. Sources of ties:
 *
 * - inequalities that bound the same affine form from both sides (`0 <= i - j and i - j < 64`);
 * - an equation, which ties a label to its other side, also to data (`row[z] == i`);
 * - an equation of a quotient (`t // 8 == s // 8`), which leaves more values of the label, and a limit of a remainder
 *   (`t % 8 == 0`, `(t - s) % 8 < 2`), which leaves a part of those that other ties leave;
 * - data that bound a label from both sides (`k[s] - w <= t and t <= k[s] + w`);
 * - one predicate or another: a label has the values that it has under each;
 * - a range from one entry of a list to the next (`p[i] <= z and z < p[i+1]`), where the list rises, which ties i.
 *
 * A predicate that is not understood keeps all points. */
#ifndef EIN_LET_THROUGH_H
#define EIN_LET_THROUGH_H

#include "expr/expr.h"

enum { TIES_MOST = 64, TIE_LABELS = 63 };
enum { BOXES_USUAL = 1 << 19 }; /* a budget: a triangle over 65,536 needs half of it */

typedef struct Tie {
  uint32_t label;
  double values;             /* the most values that it has */
  uint64_t given;            /* if these labels are given: bit l for label l */
} Tie;

typedef struct Ties { uint32_t n; Tie at[TIES_MOST]; } Ties;

/* extent: by label. list: by slot, equal numbers for slots that read the same. NULL predicates keep everything. */
Ties ties_find(uint32_t n_label, const int64_t *extent, const uint32_t *list, uint32_t n, const Expr *const *predicate);
/* The points from low[l] on and below high[l], for each label l, where all predicates hold: exactly, unless data decide
 * (where they may, points count) or more than *budget parts of the box would have to be looked at (the rest counts);
 * those that were are taken off it. Sizes are numbers by now. let_boxes.c */
double boxes_points(uint32_t n_label, const int64_t *low, const int64_t *high, uint32_t n,
    const Expr *const *predicate, uint32_t *budget);
/* The points of a box with that many values of each label. */
double ties_points(const Ties *p, uint32_t n_label, const double *values);

#endif
