/* task/range.h - inside of cost*.c: between which values an i64 expression lies, once dims have values. */
#ifndef EIN_TASK_RANGE_H
#define EIN_TASK_RANGE_H

#include "cost.h"

/* low..high, both included, and not empty. `shifts`: by the same amount at both ends, which the turn decides. */
typedef struct Range { int64_t low, high; bool known, shifts; } Range;

typedef struct Ranges {
  Arena *arena;
  const CostDims *dims;
  const int64_t *extent;     /* of each label */
  uint32_t n_label;
  bool wrapped;              /* something did not fit 64 bits, and is not known therefore */
} Ranges;
Range range_of(Ranges *r, const Expr *e);

#endif
