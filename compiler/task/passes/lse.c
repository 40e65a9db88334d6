/* task/passes/lse.c - splits logsumexp. In: a TaskGraph in which each kernel has one stage. Out: a kernel that
 * reduces by logsumexp becomes three, in its place:
 *
 *     m[out] = max[red where p] body
 *     s[out] = sum[red where p] exp(body - f(m[out]))
 *     Z[out] = f(m[out]) + log(s[out])                    f(m) = min(max(m, -most), most)
 *
 * Element by element logsumexp costs an exp and a log1p, each of which waits for the one before; split, it costs a
 * comparison and an independent exp, and fuse.c makes one kernel of rows of the three. f makes the maximum finite, as
 * `most` is the greatest number, and so avoids inf - inf: an empty reduction, and one of -inf only, give -most +
 * log(0); an inf among the values gives most + log(inf); a NaN passes. All is computed in the accumulator's dtype, and
 * rounded once, at the end. A running logsumexp is not split: the sum would need the maximum of each result. */
#include <float.h>

#include "task/inside.h"

typedef struct Split {
  TaskGraph *t;
  const Task *old;
  const TaskStage *stage;    /* its only stage */
  Tasks *list;               /* where the new kernels go */
} Split;

/* A buffer for one value of the accumulator's dtype per point of the output's labels. */
static uint32_t work_new(const Split *p, const char *behind) {
  TaskGraph *t = p->t;
  const TaskStage *o = p->stage;
  TaskBuffer b = {.id = t->buffers.len, .space = BUF_WORK, .name = task_name_with(t, o->name, behind),
      .place = o->place, .dtype = o->sum->acc, .rank = o->sum->n_out, .dim = o->bound};
  vec_push(t->arena, t->buffers, b);
  return b.id;
}

/* The old slots, followed by `one` and `two`. */
static TaskSlot *slots_with(const Split *p, uint32_t one, uint32_t two) {
  uint32_t n = p->stage->sum->n_slot;
  TaskSlot *slot = COPY_ARRAY(p->t->arena, TaskSlot, p->stage->slot, n, n + 2);
  slot[n].index = one;
  slot[n + 1].index = two;
  return slot;
}

/* A read of slot n_slot + k of such slots, at the output's labels. */
static const Expr *read_at_labels(const Split *p, uint32_t k) {
  const EinSum *o = p->stage->sum;
  return expr_read(p->t->exprs, o->acc, o->n_slot + k, o->n_out, exprs_labels(p->t->arena, p->t->exprs, o->n_out));
}

static const Expr *finite(const Split *p, const Expr *m) {
  Exprs *x = p->t->exprs;
  DType d = (DType)m->dtype;
  double most = d == DT_F64 ? DBL_MAX : (double)FLT_MAX;
  return expr_op2(x, OP_MIN, expr_op2(x, OP_MAX, m, expr_real(x, d, -most)), expr_real(x, d, most));
}

static void kernel_add(const Split *p, TaskStage s, EinSum *sum, const TaskSlot *slot, const char *behind) {
  TaskGraph *t = p->t;
  s.name = task_name_with(t, s.name, behind);
  stage_canonical(t, &s, sum, slot, p->stage->sum->n_slot + 2);
  Task *k = arena_copy(t->arena, p->old, sizeof *k);
  k->name = task_name_with(t, k->name, behind);
  k->stages.at = NULL;
  k->stages.len = k->stages.cap = 0;
  vec_push(t->arena, k->stages, s);
  vec_push(t->arena, *p->list, k);
}

/* Reduces the same points by another reducer, into a work buffer. */
static void reduction_add(const Split *p, Reducer r, const Expr *body, uint32_t m, uint32_t to, const char *behind) {
  EinSum sum = *p->stage->sum;
  sum.reducer = r;
  sum.dtype = sum.acc;
  sum.body = body;
  TaskStage s = *p->stage;
  s.buffer = (int32_t)to;
  s.n_at = sum.n_out;
  s.at = exprs_labels(p->t->arena, p->t->exprs, sum.n_out);
  kernel_add(p, s, &sum, slots_with(p, m, to), behind);
}

/* The result, stored where the old one was. */
static void result_add(const Split *p, uint32_t m, uint32_t s) {
  Exprs *x = p->t->exprs;
  EinSum sum = *p->stage->sum;
  sum.reducer = RED_NONE;
  sum.n_red = 0;
  sum.where = NULL;
  sum.body = expr_op2(x, OP_ADD, finite(p, read_at_labels(p, 0)), expr_op1(x, OP_LOG, read_at_labels(p, 1)));
  kernel_add(p, *p->stage, &sum, slots_with(p, m, s), "");
}

static void split(const Split *p) {
  Exprs *x = p->t->exprs;
  const Expr *body = p->stage->sum->body;
  uint32_t m = work_new(p, ".m"), s = work_new(p, ".s");
  reduction_add(p, RED_MAX, body, m, m, ".m");
  const Expr *below = expr_op2(x, OP_SUB, body, finite(p, read_at_labels(p, 0)));
  reduction_add(p, RED_SUM, expr_op1(x, OP_EXP, below), m, s, ".s");
  result_add(p, m, s);
}

static void list_split(TaskGraph *t, Tasks *list) {
  Tasks to = {0};
  vec_each_of(Task, k, *list) {
    list_split(t, &k->body);
    const TaskStage *s = k->kind == TASK_KERNEL && k->stages.len == 1 ? &k->stages.at[0] : NULL;
    if (s && s->sum->reducer == RED_LSE && !s->sum->by && !stage_runs(s, s->sum->n_out))
      split(&(Split){t, k, &k->stages.at[0], &to});
    else vec_push(t->arena, to, k);
  }
  *list = to;
}

void task_logsumexp(TaskGraph *t) { list_split(t, &t->tasks); }
