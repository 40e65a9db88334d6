/* codegen/schedule/finish/short.c - short loops over lanes. In: a kernel's statements. Out: the same, where a vector
 * loop of a known number of iterations, at most LOOP_SHORT, is `short`: gcc unrolls such a loop before it vectorises.
 * If all of the loop certainly becomes vectors of contiguous elements, it is `held`: clang would unroll it and
 * vectorise what it then finds piecemeal, or vectorise the turns of the loop around it. So is a longer one of a few
 * vectors, and one that does nothing but bring sums in registers up to date: clang may unroll the loop around it
 * first, and then leaves the sums in memory. */
#include "finish.h"

enum {
  HELD_BYTES = 16,           /* at least */
  HELD_MOST = 256            /* bytes of what a longer loop stores to one place */
};

/* How far it moves with each turn: 0 or 1; else 2. */
static int step_of(const Expr *e, uint32_t var) {
  if (e->kind == EX_LABEL) return e->i == (int64_t)var;
  int steps = 0;
  for (uint32_t k = 0; k < e->n && e->has & HAS_LABEL; k++) steps += step_of(e->arg[k], var);
  return !steps || (steps == 1 && e->kind == EX_OP && (e->op == OP_ADD || (e->op == OP_SUB && step_of(e->arg[0], var))))
      ? steps
      : 2;
}

/* Whether its elements are contiguous, or one for all turns. */
static bool is_beside(const LoopPlace *x, uint32_t n, const Expr *const *at, uint32_t var) {
  for (uint32_t k = 0; k < n; k++)
    if (step_of(at[k], var) > (k + 1 == n)) return false;
  return loop_lies_alike(x->dtype);
}

/* Whether vectors have an instruction for it. */
static bool is_vector_op(Op op) {
  switch (op) {
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_FMA:
  case OP_NEG:
  case OP_CAST: return true;
  default: return false;
  }
}

static bool is_vectors(const LoopKernel *k, const Expr *e, uint32_t var) {
  if (e->kind == EX_READ) return is_beside(&k->places.at[e->i], e->n, e->arg, var);
  if (e->kind == EX_OP && !is_vector_op((Op)e->op)) return false;
  for (uint32_t i = 0; i < e->n; i++)
    if (!is_vectors(k, e->arg[i], var)) return false;
  return e->kind != EX_LABEL;
}

/* Whether what is read is added to, or taken as it is. */
static bool is_held(const LoopKernel *k, const LoopStmt *s, int64_t length) {
  const LoopStmt *st = s->body.len ? s->body.at[s->body.len - 1] : NULL;
  if (!st || st->kind != LOOP_STORE || length < 2 || length & (length - 1)) return false;
  bool all = true, again = false;
  vec_each_of(const LoopStmt, in, s->body) {
    bool store = in->kind == LOOP_STORE;
    if (in->kind != LOOP_LET && (!store || in != st)) return false;
    all = all && is_vectors(k, in->value, s->var) &&
        (!store || is_beside(&k->places.at[in->place], in->n_at, in->at, s->var));
  }
  const LoopPlace *x = &k->places.at[st->place];
  for (uint32_t i = 0; i < st->value->n && st->value->kind == EX_OP; i++)
    again |= st->value->arg[i]->kind == EX_READ && st->value->arg[i]->i == st->place;
  again = again && x->space == SPACE_REGISTER && x->rank == 1;
  return (all || again) && length * dtype_size(x->dtype) >= HELD_BYTES;
}

static bool reads_place(const Expr *e, uint32_t place) {
  if (e->kind == EX_READ && e->i == place) return true;
  for (uint32_t i = 0; i < e->n; i++)
    if (reads_place(e->arg[i], place)) return true;
  return false;
}

/* Whether a store of the loop, or a name that it uses, reads the place. */
static bool is_read_in(const LoopStmt *s, uint32_t place) {
  for (uint32_t i = 0; i < s->body.len; i++)
    if (reads_place(s->body.at[i]->value, place)) return true;
  return false;
}

/* Whether all its stores bring arrays in registers up to date. */
static bool is_sums(const LoopKernel *k, const LoopStmt *s, int64_t length) {
  if (!s->body.len || s->body.at[s->body.len - 1]->kind != LOOP_STORE || length & (length - 1)) return false;
  vec_each_of(const LoopStmt, in, s->body) {
    if (in->kind == LOOP_LET) continue;
    const LoopPlace *x = &k->places.at[in->place];
    if (in->kind != LOOP_STORE || x->space != SPACE_REGISTER || x->rank != 1 || !is_read_in(s, in->place) ||
        length * dtype_size(x->dtype) > HELD_MOST)
      return false;
  }
  return true;
}

/* Whether it brings several vectors of sums up to date. */
static bool is_tile(const LoopKernel *k, const LoopStmt *s, int64_t length) {
  return length > 1 && is_sums(k, s, length) &&
      length * dtype_size(k->places.at[s->body.at[s->body.len - 1]->place].dtype) >= HELD_BYTES;
}

static bool is_wide(const LoopKernel *k, const LoopStmt *s, int64_t length) {
  return is_held(k, s, length) &&
      length * dtype_size(k->places.at[s->body.at[s->body.len - 1]->place].dtype) <= HELD_MOST;
}

static void body_mark(const LoopKernel *k, LoopBody *b) {
  for (uint32_t i = 0; i < b->len; i++) {
    LoopStmt *s = b->at[i];
    int64_t length;
    bool known = s->kind == LOOP_FOR && s->bind == BIND_VECTOR && s->lo->kind == EX_INT && s->hi->kind == EX_INT;
    known = known && sub_ok(s->hi->i, s->lo->i, &length);
    if (known && length <= LOOP_SHORT)
      s->bind = is_held(k, s, length) || is_tile(k, s, length) ? BIND_HELD : BIND_SHORT;
    else if (known && (is_sums(k, s, length) || is_wide(k, s, length))) s->bind = BIND_HELD;
    body_mark(k, &s->body);
    body_mark(k, &s->other);
  }
}

void finish_short(LoopProgram *p, LoopKernel *k) {
  (void)p;
  body_mark(k, &k->body);
}
