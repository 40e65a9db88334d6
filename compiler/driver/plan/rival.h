/* driver/plan/rival.h - the runner-up of a plan by bytes: what another decision would have cost.
 *
 * Of the tensors that most bytes hang on (those of their operands, of their result, and of its readers) two are cut otherwise,
 * one at a time: it may have any cut but its own; those that it reads and that read it any; all others keep theirs, and homes
 * follow. Of the plans found so, on the same mesh, the one that moves least is the runner-up; one that moves as much as the plan
 * itself only where all do. So it is the second best among plans that differ around one of these tensors, and no more.
 *
 * That takes less time than the plan itself, as most is given. Of more than RIVAL_SMALL tensors one is tried, and of more than RIVAL_MOST
 * none: nobody looks then, and it is said. */
#ifndef EIN_PLAN_RIVAL_H
#define EIN_PLAN_RIVAL_H

#include "sites.h"

enum { RIVAL_SMALL = 100, RIVAL_MOST = 2000, RIVAL_WAYS = 2000 };

typedef struct RunnerUp {
  const char *why;           /* there is none */
  uint32_t vertex;           /* that is cut otherwise, */
  const uint32_t *d;         /*   so: by label */
  Placing *placing;
  uint32_t tensor;           /* what moves most more than in the plan: */
  bool operands;             /*   for a vertex, to it; else the tensor, to its home */
  double more;               /* so many bytes; 0: nothing does */
  struct RunnerUp *other;    /* of the other tensor that was tried, what is best for it; NULL: nothing, or none was */
} RunnerUp;

RunnerUp *rival_find(const Sites *p);
void rival_cost_text(const Sites *p, double its, Buf *b); /* "41.0 kB a site, 1.07 times as much" */
void rival_text(const Sites *p, const RunnerUp *r, Buf *b); /* "41.0 kB a site, 1.07 times as much: ..." */

#endif
