/* codegen/loop/text.h - what the texts and the checker of Loop share. */
#ifndef EIN_LOOP_TEXT_H
#define EIN_LOOP_TEXT_H

#include "expr/sum/law.h"
#include "loop.h"

extern const char loop_axis[LOOP_AXES + 1]; /* "xyz" */

enum { LOOP_NESTING = 1000 }; /* blocks in one another: what the text and the checker allow */

/* Of a kernel that is sound in all else: what must hold of grids, blocks, shared arrays and barriers (check_device.c). */
void loop_check_device(SumCheck *c, const LoopKernel *k);
/* Of a launch whose structure is sound, and what a thread does in it: no element of a shared array is touched by two threads, once by a store, with
 * no barrier between (shared.c). */
void loop_check_shared(SumCheck *c, const LoopKernel *k, const LoopBody *launch, const LoopBody *threads);
/* Whether a barrier stands among the statements, or in a block of theirs. */
bool loop_has_barrier(const LoopBody *b);

#endif
