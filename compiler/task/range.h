/* task/range.h - internals of cost*.c: the range of an i64 expression, given values of the dims. */
#ifndef EIN_TASK_RANGE_H
#define EIN_TASK_RANGE_H

#include "cost.h"

/* low..high, both included, and not empty. shifts: the turn moves both ends by the same amount. */
typedef struct Range { int64_t low, high; bool known, shifts; } Range;

typedef struct Ranges {
  Arena *arena;
  const CostDims *dims;
  const int64_t *extent;     /* by label */
  uint32_t n_label;
  bool wrapped;              /* something overflowed 64 bits and is therefore unknown */
} Ranges;
Range range_of(Ranges *r, const Expr *e);

#endif
