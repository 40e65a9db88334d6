/* codegen/loop/call.c - the single statement of a kernel that a C function of blocks computes. In: its stage. Out: the
 * call, which is the kernel's whole body. A schedule builds it, and the checker compares against it. */
#include "loop.h"

static bool place_of(const LoopKernel *k, uint32_t buffer, uint32_t *place) {
  for (*place = 0; *place < k->places.len; ++*place)
    if (k->places.at[*place].space == SPACE_BUFFER && k->places.at[*place].buffer == buffer &&
        !k->places.at[*place].axes)
      return true;
  return false;
}

LoopStmt *loop_call(const LoopProgram *p, const LoopKernel *k, const TaskStage *s) {
  Exprs *x = p->tasks->exprs;
  uint32_t n = s->sum->n_out + s->sum->n_red;
  const Expr **read = NEW_ARRAY(p->arena, const Expr *, s->sum->n_slot + 1);
  LoopStmt *call = NEW(p->arena, LoopStmt);
  call->kind = LOOP_CALL;
  if (k->var.len != n || !place_of(k, (uint32_t)s->buffer, &call->place)) return NULL;
  call->n_at = s->n_at;
  call->at = arena_copy(p->arena, s->at, s->n_at * sizeof *s->at);
  call->n_over = n;
  call->over = NEW_ARRAY(p->arena, LoopOver, n + 1);
  for (uint32_t l = 0; l < n; l++) call->over[l] = (LoopOver){l, s->bound[l]};
  expr_slot_reads(p->arena, 1, &s->sum->body, read);
  for (uint32_t i = 0; i < s->sum->n_slot; i++) {
    uint32_t place;
    if (!place_of(k, s->slot[i].index, &place)) return NULL;
    read[i] = expr_read(x, (DType)read[i]->dtype, place, read[i]->n, read[i]->arg);
  }
  call->value = expr_call(x, s->sum->by, read);
  return call;
}
