/* SPDX-License-Identifier: MIT-0 */
/*
 * Values in the text of a source: `[[1, 2], [3, 4]]`. Lists nest to the tensor's rank, and all lists of one depth
 * are equally long. Values are numbers, `true` or `false`; if one of them is no integer, all are f64.
 */
#ifndef EIN_LIST_H
#define EIN_LIST_H

#include "ein_rt.h"

typedef struct ein_list {
  int ndim;
  int64_t shape[EIN_MAX_AXES];
  int64_t count;
  int64_t *whole; /* in row-major order; NULL: the values are real */
  double *real;
} ein_list;

/* `who` begins the messages. What it allocates is freed by ein_list_end, after a failure too. */
ein_status ein_list_read(const char *who, const char *text, ein_list *out, ein_error *err);
void ein_list_end(ein_list *list);

#endif
