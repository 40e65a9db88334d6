/* SPDX-License-Identifier: MIT-0 */
/*
 * A block of a tensor as rows: runs of elements that are adjacent in the whole tensor, with their places in the
 * block. Code that reads, generates and writes blocks iterates over these.
 */
#ifndef EIN_ROWS_H
#define EIN_ROWS_H

#include "ein_num.h"

typedef struct ein_rows {
  int64_t from, to;     /* the row's first element: its number in the whole, and in the block */
  int64_t length, step; /* the row's length; its step in the block */
  int64_t apart;        /* the usual distance between rows in the whole; 0: there is one row */
  /* internal */
  int n, begun, empty;
  int64_t extent[EIN_MAX_AXES], whole[EIN_MAX_AXES], block[EIN_MAX_AXES], at[EIN_MAX_AXES];
} ein_rows;

/* Begins. The whole's elements are numbered row-major or, if `fortran`, with the first axis fastest; the
 * block's row-major. low + shape must be within `whole`. */
void ein_rows_begin(ein_rows *r, int ndim, const int64_t *whole, int fortran, const int64_t *low,
                    const int64_t *shape);
/* Advances to the first or next row, in the whole's order; 0: there is none. */
int ein_rows_next(ein_rows *r);

#endif
