/* codegen/schedule/finish/finish.c - the passes, in order. `fma` comes first, so that an expression is rounded the
 * same in all ranges of a loop. A range of one element is no loop, and is unrolled before dead code is removed,
 * because a loop's variable would hide it. Hints for compilers come last, for the loops that remain. */
#include "finish.h"

void finish_kernel(LoopProgram *p, LoopKernel *k, bool apart) {
  static FinishPass *const passes[] = {
      finish_border, finish_ask, finish_once, finish_dead, finish_maybe, finish_short, finish_poll, finish_dense};
  if (!apart) finish_fuse(p, k);
  for (size_t i = 0; i < COUNT(passes); i++) passes[i](p, k);
}

void finish_device(LoopProgram *p, LoopKernel *k, bool apart) {
  if (!apart) finish_fuse(p, k);
  finish_dead(p, k);
}
