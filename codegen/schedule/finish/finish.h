/* codegen/schedule/finish/finish.h - what is decided about a kernel once its loops stand. Each pass goes from Loop to
 * Loop: it takes any sound kernel and leaves a sound one that computes the same to the bit, but for `finish_fuse`,
 * which says how sums of products are rounded. What they decide stands in the text, so printers decide nothing. */
#ifndef EIN_FINISH_H
#define EIN_FINISH_H

#include "loop/loop.h"

typedef void FinishPass(LoopProgram *p, LoopKernel *k);

FinishPass finish_fuse;      /* which products and sums are one operation, `fma` */
FinishPass finish_border;    /* an innermost loop that asks about its border has ranges in which nothing is asked */
FinishPass finish_ask;       /* an index from data that is the same for all of a loop is looked at ahead of it */
FinishPass finish_once;      /* a loop of one iteration, no thread loop, is its body behind an `index`, or in place of a number for it */
FinishPass finish_dead;      /* what nobody reads and cannot fail goes: `let`, `lead`, `index`; so do places and variables that no statement has */
FinishPass finish_maybe;     /* a condition around loops is `maybe` */
FinishPass finish_short;     /* a vector loop of LOOP_SHORT iterations at most is `short` */
FinishPass finish_poll;      /* where one call would go on for long, a loop looks whether the run is to end: it is `polled` */
FinishPass finish_dense;     /* a kernel that is given tensors by a caller gets a version for dense ones: it is `dense` */

/* All of them, in this order; apart: without finish_fuse. */
void finish_kernel(LoopProgram *p, LoopKernel *k, bool apart);
/* Those that a device's kernel wants. */
void finish_device(LoopProgram *p, LoopKernel *k, bool apart);

#endif
