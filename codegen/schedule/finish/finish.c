/* codegen/schedule/finish/finish.c - the passes, in order. `fma` comes first, so that an expression is rounded the
 * same in all ranges of a loop; then ranges, so that functions which are computed in one of them only can be taken out
 * of its loop. A range of one element is no loop, and is unrolled before dead code is removed,
 * because a loop's variable would hide it. Hints for compilers come last, for the loops that remain. */
#include "finish.h"

void finish_ranges(LoopProgram *p, LoopKernel *k, bool apart) {
  if (!apart) finish_fuse(p, k);
  finish_border(p, k);
  finish_blocks(p, k);
}

void finish_kernel(LoopProgram *p, LoopKernel *k) {
  static FinishPass *const passes[] = {
      finish_ask, finish_once, finish_dead, finish_maybe, finish_short, finish_poll, finish_dense};
  for (size_t i = 0; i < COUNT(passes); i++) passes[i](p, k);
}

void finish_device(LoopProgram *p, LoopKernel *k, bool apart) {
  if (!apart) finish_fuse(p, k);
  finish_dead(p, k);
}
