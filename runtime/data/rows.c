/* SPDX-License-Identifier: MIT-0 */
/*
 * Splits a block into rows that are as long as possible: axes that the block covers fully are merged with the
 * next outer axis. See rows.h.
 */
#include "rows.h"

#include <string.h>

/* Adds an axis inside the existing ones. */
static void rows_axis(ein_rows *r, int64_t extent, int64_t whole, int64_t block) {
  int k = r->n - 1;
  if (extent == 1) return;
  if (r->n && r->whole[k] == extent * whole && r->block[k] == extent * block) {
    r->extent[k] *= extent;
  } else {
    k = r->n++;
    r->extent[k] = extent;
  }
  r->whole[k] = whole;
  r->block[k] = block;
}

void ein_rows_begin(ein_rows *r, int ndim, const int64_t *whole, int fortran, const int64_t *low,
                    const int64_t *shape) {
  int64_t of_whole[EIN_MAX_AXES], of_block[EIN_MAX_AXES], step = 1, own = 1;
  memset(r, 0, sizeof *r);
  for (int d = 0; d < ndim; d++) r->empty |= shape[d] == 0;
  if (r->empty) return;
  for (int i = 0; i < ndim; i++) {
    int d = fortran ? i : ndim - 1 - i, e = ndim - 1 - i;
    of_whole[d] = step;
    of_block[e] = own;
    step *= whole[d];
    own *= shape[e];
  }
  for (int i = 0; i < ndim; i++) { /* from the slowest axis on */
    int d = fortran ? ndim - 1 - i : i;
    rows_axis(r, shape[d], of_whole[d], of_block[d]);
    r->from += low[d] * of_whole[d];
  }
  int one = r->n && r->whole[r->n - 1] == 1; /* else rows are single elements */
  r->length = one ? r->extent[r->n - 1] : 1;
  r->step = one ? r->block[r->n - 1] : 1;
  r->n -= one;
  r->apart = r->n ? r->whole[r->n - 1] : 0;
}

int ein_rows_next(ein_rows *r) {
  if (!r->begun || r->empty) {
    r->begun = 1;
    return !r->empty;
  }
  for (int k = r->n; k-- > 0;) {
    r->from += r->whole[k];
    r->to += r->block[k];
    if (++r->at[k] < r->extent[k]) return 1;
    r->from -= r->whole[k] * r->extent[k];
    r->to -= r->block[k] * r->extent[k];
    r->at[k] = 0;
  }
  r->empty = 1;
  return 0;
}
