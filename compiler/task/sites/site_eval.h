/* task/sites/site_eval.h - evaluates tasks on small data. On a mesh, each site has its own buffers, kernels see only
 * those of their site, and moves do what they say; without one there is one site.
 *
 * It runs plain loops (algebra/eval/kernel.h) and uses only what the text says. It is an error that names the task if
 * an element is read that was never written, a buffer is used outside its life, a place is outside a buffer, or
 * copies differ. */
#ifndef EIN_TASK_SITE_EVAL_H
#define EIN_TASK_SITE_EVAL_H

#include "algebra/eval/eval.h"
#include "task/task.h"

typedef struct SiteRun {
  Arena *arena;
  const TaskGraph *tasks;    /* checked; all dims have values */
  const AlgGiven *input; uint32_t n_input; /* as whole tensors: each site gets its block. On one site, those that are
                              * optional may be left out */
  AlgArray *output;          /* whole, assembled from the sites' blocks */
  double moved;              /* bytes that sites received in the run; each part counts separately */
  int64_t *peak;             /* by site: the most bytes that it had at once */
  int64_t max_elements;      /* the most elements of one array; 0: 2^28 */
} SiteRun;

/* Returns false with a line in *why and the task's position in *place. */
bool site_eval(SiteRun *r, const char **why, Place *place);

#endif
