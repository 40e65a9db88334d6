/* task/flops.c - float operations per run, as a formula over the sizes. */
#include "cost.h"
#include "expr/prove/prove.h"

/* The expression with which a kernel computes a rank-0 buffer without data: a bound that is known once sizes are. */
static const Expr *value_of(const Tasks *list, uint32_t buffer) {
  for (uint32_t i = 0; i < list->len; i++)
    vec_each(const TaskStage, x, list->at[i]->stages) {
      if (x->buffer != (int32_t)buffer) continue;
      bool plain = x->sum->reducer == RED_NONE && !(x->sum->body->has & (HAS_READ | HAS_TURN | HAS_LABEL | HAS_CALL));
      return plain ? x->sum->body : NULL;
    }
  return NULL;
}

/* times[step]: how often the kernel of that step runs. NULL: this depends on data, or on an outer turn. */
static void times_of(const TaskGraph *t, const Tasks *list, const Expr *outer, const Expr **times) {
  vec_each_of(const Task, k, *list) {
    if (k->kind == TASK_KERNEL) times[k->step] = outer;
    if (k->kind != TASK_REPEAT) continue;
    bool known = outer && k->stop < 0; /* if it may stop early, data decide the number of turns */
    const Expr *n = known ? value_of(list, k->buffer) : NULL;
    if (!n && known) n = value_of(&t->tasks, k->buffer);
    times_of(t, &k->body, n ? expr_op2(t->exprs, OP_MUL, outer, n) : NULL, times);
  }
}

const Expr **task_times(Arena *a, const TaskGraph *t) {
  const Expr **times = NEW_ARRAY(a, const Expr *, t->n_steps + 1);
  times_of(t, &t->tasks, expr_int(t->exprs, DT_I64, 1), times);
  return times;
}

/* Counts float operations in an expression; shared subexpressions count once, casts and choices not at all. */
static int64_t float_operations(Arena *a, const Expr *e) {
  int64_t n = 0;
  ExprNodes nodes = expr_nodes(a, e, 0);
  for (const Expr *x; (x = expr_node(&nodes));) {
    bool of_floats = x->kind == EX_OP && x->n && dtype_is_float((DType)x->arg[x->n - 1]->dtype);
    if (x->kind == EX_OP && x->op == OP_EXTERN) n += extern_cost(x->by);
    else n += of_floats && x->op != OP_CAST && x->op != OP_SELECT;
  }
  return n;
}

/* NULL: a formula has a size. */
static const int64_t *extents_known(Arena *a, const TaskStage *s) {
  uint32_t n = s->sum->n_out + s->sum->n_red;
  int64_t *extent = NEW_ARRAY(a, int64_t, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    if (s->bound[k]->kind != EX_INT) return NULL;
    extent[k] = s->bound[k]->i;
  }
  return extent;
}

/* How many points of a stage predicates keep. */
static const Expr *points_of(Arena *a, Exprs *p, const TaskStage *s) {
  const Expr *predicate[] = {s->sum->where, s->sum->domain}, *all = expr_int(p, DT_I64, 1);
  const int64_t *extent = predicate[0] || predicate[1] ? extents_known(a, s) : NULL;
  bool sizes = false;
  for (uint32_t i = 0; i < COUNT(predicate); i++) sizes |= predicate[i] && predicate[i]->has & HAS_DIM;
  if (extent && !sizes) return expr_int(p, DT_I64, stage_kept(a, s, extent, predicate));
  for (uint32_t k = 0; k < s->sum->n_out + s->sum->n_red; k++) all = expr_op2(p, OP_MUL, all, s->bound[k]);
  return all;
}

/* For each point of a stage: its body's operations, plus one for the reducer. */
static const Expr *stage_flops(Arena *a, Exprs *p, const TaskStage *s) {
  int64_t n = float_operations(a, s->sum->body) + float_operations(a, s->sum->where);
  if (s->sum->reducer != RED_NONE && dtype_is_float(s->sum->acc)) n++;
  if (s->sum->by && s->sum->by->cost >= 0) n = s->sum->by->cost;
  return n ? expr_op2(p, OP_MUL, expr_int(p, DT_I64, n), points_of(a, p, s)) : expr_int(p, DT_I64, 0);
}

/* For a run that is given all inputs, so that no default is computed. NULL where a loop's turns are not known. */
static const Expr *list_flops(Arena *a, const TaskGraph *t, const Tasks *list, const Expr *const *times) {
  const Expr *sum = expr_int(t->exprs, DT_I64, 0), *inner;
  vec_each_of(const Task, k, *list) {
    if (k->unless >= 0) continue;
    for (uint32_t s = 0; s < k->stages.len; s++) {
      const Expr *one = stage_flops(a, t->exprs, &k->stages.at[s]);
      if (!times[k->step] && !expr_is_int(one, 0)) return NULL;
      if (times[k->step]) sum = expr_op2(t->exprs, OP_ADD, sum, expr_op2(t->exprs, OP_MUL, times[k->step], one));
    }
    if (k->kind != TASK_REPEAT) continue;
    inner = list_flops(a, t, &k->body, times);
    if (!inner) return NULL;
    sum = expr_op2(t->exprs, OP_ADD, sum, inner);
  }
  return sum;
}

const Expr *task_flops(const TaskGraph *t) {
  const Expr *all = list_flops(t->arena, t, &t->tasks, task_times(t->arena, t));
  return all ? expr_normal(t->exprs, all) : NULL;
}
