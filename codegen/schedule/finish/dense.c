/* codegen/schedule/finish/dense.c - tensors that a caller gives may have any strides. In: a kernel. Out: the same,
 * marked `dense` if it takes such tensors: nearly all are in row-major order, and compilers vectorise if strides are
 * constants. */
#include "finish.h"

void finish_dense(LoopProgram *p, LoopKernel *k) {
  for (uint32_t i = 0; i < k->places.len; i++)
    k->dense |= loop_is_argument(p->tasks, &k->places.at[i]) && k->places.at[i].rank;
}
