/* codegen/schedule/finish/finish.c - the passes in their order. `fma` is first, so that a value that was read twice is one; what is dead is
 * asked for when no loop hides it behind a variable; and what compilers are told about loops, of those that are left. */
#include "finish.h"

void finish_kernel(LoopProgram *p, LoopKernel *k) {
  static FinishPass *const passes[] = {finish_fuse, finish_once, finish_dead, finish_maybe, finish_short, finish_dense};
  for (size_t i = 0; i < COUNT(passes); i++) passes[i](p, k);
}
