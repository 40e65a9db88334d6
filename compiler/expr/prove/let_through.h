/* expr/prove/let_through.h - how many points predicates let through, at most: of a band its width for each row, of what a list decides a point for each
 * entry.
 *
 * In: predicates over labels (a sum's where, and its domain). Out: *ties*: where all but one label are given, that one has no more than so many values.
 * Inequalities of labels tie one where they bound the same affine form from both sides (`0 <= i - j and i - j < 64`); an equation ties a label to
 * what stands on its other side, data too (`row[z] == i`); so does one of a quotient or a remainder (`t // 8 == s // 8`, `t %
 * 8 == 0`), which has more values of the label; and a range from one entry of a list to the next (`p[i] <= z and z < p[i+1]`), of a list that
 * rises, ties i. What is not understood lets all points through. */
#ifndef EIN_LET_THROUGH_H
#define EIN_LET_THROUGH_H

#include "expr/expr.h"

enum { TIES_MOST = 64, TIE_LABELS = 63 };

typedef struct Tie {
  uint32_t label;
  double values;             /* that it has, at most, */
  uint64_t given;            /*   where these labels are given: bit l for label l */
} Tie;

typedef struct Ties { uint32_t n; Tie at[TIES_MOST]; } Ties;

/* extent: of each label; list: by slot, a number that slots share which read the same. Predicates that are NULL let all through. */
Ties ties_find(uint32_t n_label, const int64_t *extent, const uint32_t *list, uint32_t n, const Expr *const *predicate);
/* Points of a box of so many values of each label. */
double ties_points(const Ties *p, uint32_t n_label, const double *values);

#endif
