/* task/sites/site_eval.h - a mesh's tasks computed on small data: each site has buffers of its own, kernels see those of their
 * site alone, and moves do what they say.
 *
 * It goes by plain loops (algebra/eval/kernel.h) and looks at nothing but what the text says. An element that is read and was
 * never written, a buffer that is used outside of its life, a place outside of a buffer, copies that differ: each is an
 * error that names the task. */
#ifndef EIN_TASK_SITE_EVAL_H
#define EIN_TASK_SITE_EVAL_H

#include "algebra/eval/eval.h"
#include "task/task.h"

typedef struct SiteRun {
  Arena *arena;
  const TaskGraph *tasks;    /* checked */
  const AlgGiven *input; uint32_t n_input; /* whole tensors, all of them: each site gets its block */
  AlgArray *output;          /* whole, put together of what the sites have */
  double moved;              /* bytes that sites received, over the run; of parts each for itself */
  int64_t *peak;             /* by site: the most bytes that it had at once */
  int64_t max_elements;      /* refuse more than this in one array; 0: 2^28 */
} SiteRun;

/* False with a line in *why and the task's place in *place. */
bool site_eval(SiteRun *r, const char **why, Place *place);

#endif
