/* codegen/schedule/finish/short.c - short loops over lanes. In: a kernel's statements. Out: the same, where a vector
 * loop of at most LOOP_SHORT iterations, a known number, is `short`: gcc writes such a loop out before it looks for
 * lanes. */
#include "finish.h"

static void body_mark(LoopBody *b) {
  for (uint32_t i = 0; i < b->len; i++) {
    LoopStmt *s = b->at[i];
    int64_t length;
    bool known = s->kind == LOOP_FOR && s->bind == BIND_VECTOR && s->lo->kind == EX_INT && s->hi->kind == EX_INT;
    if (known && sub_ok(s->hi->i, s->lo->i, &length) && length <= LOOP_SHORT) s->bind = BIND_SHORT;
    body_mark(&s->body);
    body_mark(&s->other);
  }
}

void finish_short(LoopProgram *p, LoopKernel *k) {
  (void)p;
  body_mark(&k->body);
}
