/* codegen/schedule/finish/short.c - short loops over lanes. In: a kernel's statements. Out: the same, where a vector
 * loop of at most LOOP_SHORT iterations, a known number, is `short`: gcc writes such a loop out before it looks for
 * lanes. One that adds to an array of registers, and does nothing else, is `held`: clang would write that one out. */
#include "finish.h"

enum { HELD_BYTES = 16 };    /* at least */

static bool is_held(const LoopKernel *k, const LoopStmt *s, int64_t length) {
  const LoopStmt *st = s->body.len ? s->body.at[s->body.len - 1] : NULL;
  if (!st || st->kind != LOOP_STORE || st->value->kind != EX_OP || length < 2 || length & (length - 1)) return false;
  for (uint32_t i = 0; i + 1 < s->body.len; i++)
    if (s->body.at[i]->kind != LOOP_LET) return false;
  const LoopPlace *x = &k->places.at[st->place];
  bool again = false;
  for (uint32_t i = 0; i < st->value->n; i++) again |= st->value->arg[i]->kind == EX_READ && st->value->arg[i]->i == st->place;
  return again && x->space == SPACE_REGISTER && x->rank == 1 && length * dtype_size(x->dtype) >= HELD_BYTES;
}

static void body_mark(const LoopKernel *k, LoopBody *b) {
  for (uint32_t i = 0; i < b->len; i++) {
    LoopStmt *s = b->at[i];
    int64_t length;
    bool known = s->kind == LOOP_FOR && s->bind == BIND_VECTOR && s->lo->kind == EX_INT && s->hi->kind == EX_INT;
    if (known && sub_ok(s->hi->i, s->lo->i, &length) && length <= LOOP_SHORT) s->bind = is_held(k, s, length) ? BIND_HELD : BIND_SHORT;
    body_mark(k, &s->body);
    body_mark(k, &s->other);
  }
}

void finish_short(LoopProgram *p, LoopKernel *k) {
  (void)p;
  body_mark(k, &k->body);
}
