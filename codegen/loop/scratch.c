/* codegen/loop/scratch.c - the memory that a thread keeps for a program's kernels: arrays whose size is known when a
 * run is planned. */
#include "loop.h"

enum { LINE = 64 };

const Expr *loop_scratch_place(Exprs *e, const LoopPlace *x) {
  int64_t size = dtype_size(x->dtype) < 4 && dtype_is_float(x->dtype) ? 4 : dtype_size(x->dtype);
  const Expr *n = expr_int(e, DT_I64, size);
  for (uint32_t k = 0; k < x->rank; k++) n = expr_op2(e, OP_MUL, n, x->dim[k]);
  n = expr_op2(e, OP_IDIV, expr_op2(e, OP_ADD, n, expr_int(e, DT_I64, LINE - 1)), expr_int(e, DT_I64, LINE));
  return expr_op2(e, OP_MUL, n, expr_int(e, DT_I64, LINE));
}

const Expr *loop_scratch(Exprs *e, const LoopKernel *k) {
  const Expr *all = expr_int(e, DT_I64, 0);
  vec_each(const LoopPlace, x, k->places)
    if (x->space == SPACE_SCRATCH) all = expr_op2(e, OP_ADD, all, loop_scratch_place(e, x));
  return all;
}

static void sizes_add(const LoopProgram *p, const LoopKernel *k, Map *seen, LoopSizes *out) {
  const Expr *e = k ? loop_scratch(p->tasks->exprs, k) : NULL;
  if (!e || expr_is_int(e, 0) || map_find(seen, e)) return;
  map_put(seen, e, out);
  vec_push(p->arena, *out, e);
}

LoopSizes loop_scratches(const LoopProgram *p) {
  LoopSizes out = {0};
  Map seen = map_new(p->arena);
  vec_each_of(const LoopKernel, k, p->kernels) {
    sizes_add(p, k, &seen, &out);
    sizes_add(p, k->narrow, &seen, &out);
  }
  return out;
}
