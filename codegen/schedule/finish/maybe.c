/* codegen/schedule/finish/maybe.c - conditions around loops. In: a kernel's statements. Out: the same, where such
 * conditions are marked `maybe`: either branch may be taken. Compilers do not vectorise loops that they take to be
 * cold (seen with gcc 12.2). */
#include "finish.h"

/* Marks conditions. Returns whether the body has loops. */
static bool body_mark(LoopBody *b) {
  bool any = false;
  vec_each_of(LoopStmt, s, *b) {
    bool body = body_mark(&s->body), other = body_mark(&s->other);
    if (s->kind == LOOP_IF) s->maybe = body || other;
    any |= s->kind == LOOP_FOR || body || other;
  }
  return any;
}

void finish_maybe(LoopProgram *p, LoopKernel *k) {
  (void)p;
  body_mark(&k->body);
}
