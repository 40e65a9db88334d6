/* codegen/schedule/finish/finish.c - the passes in their order. `fma` is first: what is the same everywhere in a loop
 * is rounded the same in all of its ranges. A range of one element is no loop; what is dead is asked for when no loop
 * hides it behind a variable; and compilers are told about the loops that are left. */
#include "finish.h"

void finish_kernel(LoopProgram *p, LoopKernel *k, bool apart) {
  static FinishPass *const passes[] = {finish_border, finish_ask, finish_once, finish_dead, finish_maybe, finish_short, finish_poll, finish_dense};
  if (!apart) finish_fuse(p, k);
  for (size_t i = 0; i < COUNT(passes); i++) passes[i](p, k);
}

void finish_device(LoopProgram *p, LoopKernel *k, bool apart) {
  if (!apart) finish_fuse(p, k);
  finish_dead(p, k);
}
