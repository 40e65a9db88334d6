/* task/grouped.h - grouped products: data choose one of a few matrices for each row.
 *
 *     Y[t,f] = sum[c] x[t,c] * W[g[t],c,f]                  rows: t, an expert for each token
 *     D[e,c,f] = sum[t where g[t] == e] x[t,c] * y[t,f]     rows: t, reduced: the gradient of W
 *
 * Row by row, each would read or change a whole matrix. Sorted by what they choose, rows share it. */
#ifndef EIN_TASK_GROUPED_H
#define EIN_TASK_GROUPED_H

#include "task.h"

enum { GROUPED_ROWS_MOST = 8 };

typedef struct Grouped {
  const Expr *key;           /* the number of the row's group, over its labels; other indices of that number, and */
  int64_t groups;            /*   numbers from this one on, have no group */
  uint32_t n_row, row[GROUPED_ROWS_MOST]; /* the rows' labels, outermost first: all output labels, or all reduced */
  double rows;               /* how many there are, about */
  uint32_t slot, axis;       /* the axis of the tensor that the key is an index of: any other number there fails. */
  int64_t label;             /* reduced rows: the output label that the key equals; -1: rows of the result */
  const Expr *when;          /* over the rows' labels: which rows have something to reduce; NULL: all. It is tested
                              * before the key: */
  bool first;                /*   the predicate asks for the key before some of it */
} Grouped;

/* The extents of what a slot reads, if not of the graph's buffer of that number. */
typedef const Expr *const *SlotDims(const void *env, TaskSlot slot);
/* false: the stage is no such product, or has few rows for each group. dims NULL: slots read the graph's buffers. */
bool stage_grouped(TaskGraph *t, const TaskStage *s, SlotDims *dims, const void *env, Grouped *g);

#endif
