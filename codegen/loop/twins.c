/* codegen/loop/twins.c - whether the kernel for narrow registers does what the other one does, which buffers one of the
 * two has for itself, and the numbers in which kernels with the same functions may differ. Names, equations, places in
 * the source, messages about indices and seeds do not count; other expressions, sizes, the order of statements, and
 * which places share a buffer do. */
#include <string.h>

#include "loop.h"
#include "walk.h"

static bool buffers_same(const TaskGraph *t, uint32_t a, uint32_t b) {
  const TaskBuffer *x = &t->buffers.at[a], *y = &t->buffers.at[b];
  return x->dtype == y->dtype && x->rank == y->rank && (x->space == BUF_WORK) == (y->space == BUF_WORK) &&
         exprs_same(x->rank, x->dim, y->dim);
}

static bool places_same(const TaskGraph *t, const LoopPlace *a, const LoopPlace *b) {
  if (a->space != b->space || a->dtype != b->dtype || a->rank != b->rank || a->written != b->written ||
      a->small != b->small)
    return false;
  if (!exprs_same(a->rank, a->dim, b->dim) || !a->axes != !b->axes) return false;
  for (uint32_t k = 0; a->axes && k < a->rank; k++)
    if (a->axes[k] != b->axes[k]) return false;
  return a->space != SPACE_BUFFER || buffers_same(t, a->buffer, b->buffer);
}

/* Whether the same places share a buffer in both: compilers may assume that pointers do not alias. */
static bool aliases_same(const LoopKernel *a, const LoopKernel *b) {
  for (uint32_t i = 0; i < a->places.len; i++)
    for (uint32_t k = 0; k < i; k++) {
      const LoopPlace *x = &a->places.at[i], *y = &a->places.at[k];
      if (x->space != SPACE_BUFFER || y->space != SPACE_BUFFER) continue;
      if ((x->buffer == y->buffer) != (b->places.at[i].buffer == b->places.at[k].buffer)) return false;
    }
  return true;
}

static bool matrices_same(const LoopMatrix *a, const LoopMatrix *b) {
  return a == b || (a && b && memcmp(a, b, sizeof *a) == 0);
}

static bool overs_same(const LoopStmt *a, const LoopStmt *b) {
  if (a->n_over != b->n_over) return false;
  for (uint32_t i = 0; i < a->n_over; i++)
    if (a->over[i].var != b->over[i].var || a->over[i].extent != b->over[i].extent) return false;
  return true;
}

/* Whether the statements are the same. Expressions are interned, and refer to places and variables by number. */
static bool bodies_same(const LoopBody *a, const LoopBody *b) {
  if (a->len != b->len) return false;
  for (uint32_t i = 0; i < a->len; i++) {
    const LoopStmt *x = a->at[i], *y = b->at[i];
    if (x->kind != y->kind || x->bind != y->bind || x->axis != y->axis || x->var != y->var || x->lo != y->lo ||
        x->hi != y->hi || x->step != y->step || x->beside != y->beside || x->wide != y->wide ||
        x->polled != y->polled || x->cond != y->cond || x->maybe != y->maybe || x->place != y->place ||
        x->op != y->op || x->n_at != y->n_at || x->value != y->value || x->other_side != y->other_side ||
        !matrices_same(x->matrix, y->matrix) || !exprs_same(x->n_at, x->at, y->at) || !overs_same(x, y) ||
        !bodies_same(&x->body, &y->body) || !bodies_same(&x->other, &y->other))
      return false;
  }
  return true;
}

static bool kernels_same(const TaskGraph *t, const LoopKernel *a, const LoopKernel *b) {
  if (a->dense != b->dense || a->places.len != b->places.len || a->var.len != b->var.len ||
      !bodies_same(&a->body, &b->body))
    return false;
  for (uint32_t i = 0; i < a->places.len; i++)
    if (!places_same(t, &a->places.at[i], &b->places.at[i])) return false;
  return aliases_same(a, b);
}

static bool has_buffer(const LoopKernel *k, uint32_t b) {
  for (uint32_t i = 0; i < k->places.len; i++)
    if (k->places.at[i].space == SPACE_BUFFER && k->places.at[i].buffer == b) return true;
  return false;
}

static void halves_of(const TaskGraph *t, const LoopKernel *k, const LoopKernel *other, LoopHalf half, LoopHalf *of) {
  vec_each(const LoopPlace, x, k->places) {
    if (x->space != SPACE_BUFFER) continue;
    const TaskBuffer *b = &t->buffers.at[x->buffer];
    if (b->space == BUF_WORK && b->first == k->task && b->last == k->task && !has_buffer(other, x->buffer))
      of[x->buffer] = half;
  }
}

LoopHalf *loop_halves(Arena *a, const LoopProgram *p) {
  LoopHalf *of = NEW_ARRAY(a, LoopHalf, p->tasks->buffers.len + 1);
  vec_each_of(const LoopKernel, k, p->kernels) {
    if (!k->narrow) continue;
    halves_of(p->tasks, k, k->narrow, HALF_WIDE, of);
    halves_of(p->tasks, k->narrow, k, HALF_NARROW, of);
  }
  return of;
}

/* ---- numbers ---------------------------------------------------------------------------------------------- */

int loop_number(const Expr *e, LoopNumber *out) {
  if (e->kind != EX_OP) return -1;
  bool site = e->op == OP_WITHIN, random = !site && (op_info[e->op].rule == RULE_RANDOM ||
      op_info[e->op].rule == RULE_INDEX);
  if (!site && (!random || e->arg[0]->kind != EX_INT || e->arg[0]->i != (int)e->arg[0]->i)) return -1;
  int operand = site ? 2 : 0;
  *out = (LoopNumber){random, e->arg[operand]->i};
  return operand;
}

static uint32_t number_at(const LoopNumbers *s, LoopNumber x) {
  uint32_t i = 0;
  while (i < s->len && (s->at[i].seed != x.seed || s->at[i].is != x.is)) i++;
  return i;
}

/* By the expression's shape alone. */
LoopNumbers loop_numbers(Arena *a, const LoopKernel *k) {
  LoopNumbers all = {0};
  LoopNumber x;
  ExprNodes nodes = loop_nodes(a, &k->body, 0);
  for (const Expr *e; (e = expr_node(&nodes));)
    if (loop_number(e, &x) >= 0 && number_at(&all, x) == all.len) vec_push(a, all, x);
  return all;
}

typedef struct Numbered { Exprs *x; LoopNumbers numbers; } Numbered;

static const Expr *op_numbered(void *env, Exprs *x, const Expr *e) {
  const Numbered *n = env;
  LoopNumber own;
  int operand = loop_number(e, &own);
  if (operand < 0) return e;
  const Expr *arg[3];
  for (int i = 0; i < (int)e->n; i++)
    arg[i] = i == operand ? expr_int(x, DT_I64, number_at(&n->numbers, own)) : e->arg[i];
  return expr_op(x, (Op)e->op, e->n, arg);
}

static const Expr *numbered(void *env, const Expr *e) {
  return expr_map_ops(((Numbered *)env)->x, e, op_numbered, env);
}

static LoopBody body_copy(Arena *a, const LoopBody *b) {
  LoopBody made = {0};
  for (uint32_t i = 0; i < b->len; i++) {
    LoopStmt *s = arena_copy(a, b->at[i], sizeof *s);
    if (s->n_at) s->at = arena_copy(a, s->at, s->n_at * sizeof *s->at);
    if (s->n_over) s->over = arena_copy(a, s->over, s->n_over * sizeof *s->over);
    s->body = body_copy(a, &s->body), s->other = body_copy(a, &s->other);
    vec_push(a, made, s);
  }
  return made;
}

/* The kernel, with places in this list instead of its numbers. */
static LoopKernel *kernel_numbered(Arena *a, const LoopProgram *p, LoopKernel *k) {
  Numbered n = {p->tasks->exprs, loop_numbers(a, k)};
  if (!n.numbers.len) return k;
  LoopKernel *own = arena_copy(a, k, sizeof *own);
  own->body = body_copy(a, &k->body);
  loop_exprs(&own->body, numbered, &n);
  return own;
}

bool loop_is_twin(const LoopProgram *p, LoopKernel *k, LoopKernel *other) {
  Arena *a = arena_new();
  bool same = kernels_same(p->tasks, kernel_numbered(a, p, k), kernel_numbered(a, p, other));
  arena_free(a);
  return same;
}
