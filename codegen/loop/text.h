/* codegen/loop/text.h - shared by the texts and the checker of Loop. */
#ifndef EIN_LOOP_TEXT_H
#define EIN_LOOP_TEXT_H

#include "expr/sum/law.h"
#include "loop.h"

extern const char loop_axis[LOOP_AXES + 1]; /* "xyz" */

enum { LOOP_NESTING = 1000 }; /* the deepest nesting of blocks that the text and the checker allow */

/* For a kernel that is otherwise sound: the rules of grids, blocks, shared arrays and barriers (check_device.c). */
void loop_check_device(SumCheck *c, const LoopKernel *k);
/* For a launch with a sound structure, and its threads' statements: no two threads access one element of a shared
 * array, one of them with a store, without a barrier between (shared.c). */
void loop_check_shared(SumCheck *c, const LoopKernel *k, const LoopBody *launch, const LoopBody *threads);
/* Whether it contains a barrier, in any block. */
bool loop_has_barrier(const LoopBody *b);

#endif
