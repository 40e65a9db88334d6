/* codegen/schedule/finish/finish.h - passes over a kernel after its loops are made, from Loop to Loop. Each takes any
 * sound kernel and leaves a sound one that computes the same to the bit, except `finish_fuse`, which determines the
 * rounding of sums of products. Their decisions are in the text, so printers decide nothing. */
#ifndef EIN_FINISH_H
#define EIN_FINISH_H

#include "loop/loop.h"

typedef void FinishPass(LoopProgram *p, LoopKernel *k);

FinishPass finish_fuse;      /* fuses products and sums into one operation, `fma` */
FinishPass finish_border;    /* splits an innermost loop that tests its border into ranges without tests */
FinishPass finish_blocks;    /* splits a loop over blocks of lanes in which a condition turns */
FinishPass finish_ask;       /* hoists the test of a data-dependent index that is the same for a whole loop */
FinishPass finish_once;      /* replaces a loop of one iteration, except a thread loop, by its body, after an `index`
                              * or with the number substituted */
FinishPass finish_dead;      /* removes unused `let`, `lead`, `index` that cannot fail; and unused places and
                              * variables */
FinishPass finish_maybe;     /* makes a condition around loops `maybe` */
FinishPass finish_short;     /* makes a vector loop of at most LOOP_SHORT iterations `short` */
FinishPass finish_poll;      /* makes a loop `polled`, which tests whether the run must end, if one call would take
                              * long */
FinishPass finish_dense;     /* makes a kernel with tensors of the caller `dense`: it gets a version for dense ones */

/* The first three, after which functions may be taken out of loops (apart_loops); apart: without finish_fuse. */
void finish_ranges(LoopProgram *p, LoopKernel *k, bool apart);
/* The others, in this order. */
void finish_kernel(LoopProgram *p, LoopKernel *k);
/* Those that a device's kernel needs. */
void finish_device(LoopProgram *p, LoopKernel *k, bool apart);

#endif
