/* driver/plan/rival.h - the runner-up of a plan by bytes: what another decision would have cost.
 *
 * It takes the two tensors that involve most bytes (of their operands, their result and its readers), and cuts them
 * differently, one at a time. The tensor may have any cut but its own, those that it reads and that read it any cut;
 * all others keep theirs, and homes follow. Of the plans found so, on the same mesh, the cheapest is the runner-up;
 * one that moves as much as the plan itself counts only if all do. So it is the second best among plans that differ
 * around one of these tensors, and no more.
 *
 * That takes less time than the plan itself, because most is fixed. Above RIVAL_SMALL tensors it tries one, above
 * RIVAL_MOST none, which the report says. */
#ifndef EIN_PLAN_RIVAL_H
#define EIN_PLAN_RIVAL_H

#include "sites.h"

enum { RIVAL_SMALL = 100, RIVAL_MOST = 2000, RIVAL_WAYS = 2000 };

typedef struct RunnerUp {
  const char *why;           /* why there is none */
  uint32_t vertex;           /* the vertex that is cut differently */
  const uint32_t *d;         /* its cut, by label */
  Placing *placing;
  uint32_t tensor;           /* the move that grew most compared to the plan: */
  bool operands;             /* to a vertex's kernels; else of the tensor to its home */
  double more;               /* by how many bytes; 0: none grew */
  struct RunnerUp *other;    /* the best found for the other tensor; NULL: none */
} RunnerUp;

RunnerUp *rival_find(const Sites *p);
void rival_cost_text(const Sites *p, double its, Buf *b); /* "41.0 kB a site, 1.07 times as much" */
/* A line of the head; from `lost` on, words get their own line if both do not fit on one. */
void rival_line(const char *head, const Buf *words, const char *lost, Buf *b);
void rival_text(const Sites *p, const RunnerUp *r, Buf *b); /* "41.0 kB a site, 1.07 times as much: ..." */

#endif
