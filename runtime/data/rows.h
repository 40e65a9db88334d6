/* SPDX-License-Identifier: MIT-0 */
/*
 * A block of a tensor as rows: runs of elements that stand one behind the other in the whole
 * tensor, whose place in the block follows. What reads, makes and writes blocks walks along these.
 */
#ifndef EIN_ROWS_H
#define EIN_ROWS_H

#include "ein_num.h"

typedef struct ein_rows {
  int64_t from, to;     /* the row's first element: its number in the whole, and in the block */
  int64_t length, step; /* so many; in the block they are `step` apart */
  int64_t apart;        /* from row to next row in the whole, mostly; 0: there is one row */
  /* inside */
  int n, begun, empty;
  int64_t extent[EIN_MAX_AXES], whole[EIN_MAX_AXES], block[EIN_MAX_AXES], at[EIN_MAX_AXES];
} ein_rows;

/* The whole's elements are numbered row-major, or, `fortran`, with the first axis fastest; the
 * block's row-major. low + shape is within `whole`. */
void ein_rows_begin(ein_rows *r, int ndim, const int64_t *whole, int fortran, const int64_t *low,
                    const int64_t *shape);
/* On to the first row, then the next one, in the whole's order; 0: there is none. */
int ein_rows_next(ein_rows *r);

#endif
