/* driver/data/transpose.h - copies a block of elements into another order of its axes. */
#ifndef EIN_DRIVER_TRANSPOSE_H
#define EIN_DRIVER_TRANSPOSE_H

#include "driver/driver.h"

typedef struct Transpose { /* by axis, the strides of the source and of the destination */
  uint32_t n;
  const int64_t *shape;
  int64_t from[EIN_MAX_AXES], to[EIN_MAX_AXES];
  size_t size;               /* of an element: 1, 2, 4 or 8 */
} Transpose;

void block_transpose(const Transpose *t, const void *src, void *dst); /* no axis is empty */
/* For a dense block. */
void strides_dense(uint32_t rank, const int64_t *shape, int64_t *stride);

#endif
