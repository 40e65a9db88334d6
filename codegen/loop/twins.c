/* codegen/loop/twins.c - which kernels of a program do the same on other buffers: in comes a LoopProgram, out goes for each kernel the
 * first one like it. Names, equations and where they stand do not count; expressions, sizes and the order of statements do, and which
 * places are one buffer. */
#include "loop.h"

static bool expr_lists_same(const Expr *const *a, const Expr *const *b, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (a[i] != b[i]) return false;
  return true;
}

static bool buffers_same(const TaskGraph *t, uint32_t a, uint32_t b) {
  const TaskBuffer *x = &t->buffers.at[a], *y = &t->buffers.at[b];
  return x->dtype == y->dtype && x->rank == y->rank && (x->space == BUF_WORK) == (y->space == BUF_WORK) &&
         expr_lists_same(x->dim, y->dim, x->rank);
}

static bool places_same(const TaskGraph *t, const LoopPlace *a, const LoopPlace *b) {
  if (a->space != b->space || a->dtype != b->dtype || a->rank != b->rank || a->written != b->written) return false;
  if (!expr_lists_same(a->dim, b->dim, a->rank) || !a->axes != !b->axes) return false;
  for (uint32_t k = 0; a->axes && k < a->rank; k++)
    if (a->axes[k] != b->axes[k]) return false;
  return a->space != SPACE_BUFFER || buffers_same(t, a->buffer, b->buffer);
}

/* Places that are one buffer are so in both: pointers to others may not meet. */
static bool aliases_same(const LoopKernel *a, const LoopKernel *b) {
  for (uint32_t i = 0; i < a->places.len; i++)
    for (uint32_t k = 0; k < i; k++) {
      const LoopPlace *x = &a->places.at[i], *y = &a->places.at[k];
      if (x->space != SPACE_BUFFER || y->space != SPACE_BUFFER) continue;
      if ((x->buffer == y->buffer) != (b->places.at[i].buffer == b->places.at[k].buffer)) return false;
    }
  return true;
}

/* Expressions are interned, and name places and variables by their numbers. */
static bool bodies_same(const LoopBody *a, const LoopBody *b) {
  if (a->len != b->len) return false;
  for (uint32_t i = 0; i < a->len; i++) {
    const LoopStmt *x = a->at[i], *y = b->at[i];
    if (x->kind != y->kind || x->bind != y->bind || x->var != y->var || x->lo != y->lo || x->hi != y->hi || x->step != y->step ||
        x->cond != y->cond || x->maybe != y->maybe || x->place != y->place || x->op != y->op || x->n_at != y->n_at || x->value != y->value || !expr_lists_same(x->at, y->at, x->n_at) ||
        !bodies_same(&x->body, &y->body) || !bodies_same(&x->other, &y->other))
      return false;
  }
  return true;
}

static bool kernels_same(const TaskGraph *t, const LoopKernel *a, const LoopKernel *b) {
  if (a->dense != b->dense || a->places.len != b->places.len || a->var.len != b->var.len || !bodies_same(&a->body, &b->body)) return false;
  for (uint32_t i = 0; i < a->places.len; i++)
    if (!places_same(t, &a->places.at[i], &b->places.at[i])) return false;
  return aliases_same(a, b);
}

uint32_t *loop_twins(Arena *a, const LoopProgram *p) {
  uint32_t *first = NEW_ARRAY(a, uint32_t, p->kernels.len + 1);
  for (uint32_t i = 0; i < p->kernels.len; i++) {
    first[i] = i;
    for (uint32_t k = 0; k < i && first[i] == i; k++)
      if (first[k] == k && kernels_same(p->tasks, p->kernels.at[k], p->kernels.at[i])) first[i] = k;
  }
  return first;
}
