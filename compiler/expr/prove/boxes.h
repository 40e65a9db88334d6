/* expr/prove/boxes.h - counts the points of many boxes under the same predicates (let_through.h). Boxes that differ
 * only in labels that the predicates do not have are counted once. */
#ifndef EIN_BOXES_H
#define EIN_BOXES_H

#include "expr/prove/let_through.h"

typedef struct Boxes {
  Arena *arena;
  uint32_t n_label, n, budget; /* budget: of all boxes, what is left */
  const Expr *const *predicate;
  Memo seen;                 /* by the ends of the predicates' labels: a double */
} Boxes;

Boxes boxes_new(Arena *a, uint32_t n_label, uint32_t n, const Expr *const *predicate, uint32_t budget);
/* As boxes_points. */
double boxes_next(Boxes *x, const int64_t *low, const int64_t *high);

#endif
