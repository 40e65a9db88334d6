/* task/passes/quotient.c - makes quotients of exponentials less the logarithm of their sum. In: tasks after task_rows,
 * in which a softmax may be
 *
 *     s[i] = sum[j] exp(x[i,j] - m[i])
 *     z[i] = m[i] + log(s[i])
 *     y[i,j] = exp(x[i,j] - z[i])
 *
 * Out:
 *
 *     y[i,j] = exp(x[i,j] - m[i]) / s[i]
 *
 * whose exponentials shared.c makes once. The same is true of exp((x - m) - log(s)), as the exponential of logsoftmax
 * is. The quotient rounds less, as the logarithm is rounded to its own places. No exponential exceeds the sum, so
 * nothing overflows that did not before; an infinite maximum is finite in m (lse.c). */
#include "expr/sum/law.h"
#include "task/inside.h"

typedef struct Quotient {
  TaskGraph *t;
  Task *k;
  uint32_t stage;            /* the one that is changed, */
  EinSum sum;                /*   with further slots */
  TaskSlot *slot;
  const Expr *value;         /* the exponential in it, */
  const Expr *over;          /*   what it becomes the exponential of, */
  uint32_t by;               /*   and the stage of the sum */
} Quotient;

static const TaskStage *kept_stage(const Quotient *q, const TaskSlot *slot, const Expr *e) {
  return e->kind == EX_READ && slot[e->i].kept ? &q->k->stages.at[slot[e->i].index] : NULL;
}

/* Whether e is the logarithm of a row's sum; sets q->by. */
static bool is_log_of_sum(Quotient *q, const TaskSlot *slot, const Expr *e) {
  const TaskStage *s = is_op(e, OP_LOG) ? kept_stage(q, slot, e->arg[0]) : NULL;
  if (!s || s->sum->reducer != RED_SUM || !is_op(s->sum->body, OP_EXP) || s->sum->n_out != q->k->n_outer) return false;
  if (s->sum->acc != s->sum->dtype || s->sum->domain) return false;
  q->by = slot[e->arg[0]->i].index;
  return exprs_are_labels(e->arg[0]->n, e->arg[0]->arg);
}

static const Expr *leaf_later(void *env, Exprs *x, const Expr *leaf) {
  const Quotient *q = env;
  if (leaf->kind != EX_READ) return leaf;
  return expr_read(x, (DType)leaf->dtype, q->sum.n_slot + leaf->i, leaf->n, leaf->arg);
}

/* The same with the slots of another stage, which has only labels of rows, behind the stage's own. */
static const Expr *of_stage(Quotient *q, const TaskStage *s, const Expr *e) {
  uint32_t n = q->sum.n_slot, m = s->sum->n_slot;
  TaskSlot *slot = COPY_ARRAY(q->t->arena, TaskSlot, q->slot, n, n + m + 1);
  for (uint32_t j = 0; j < m; j++) slot[n + j] = s->slot[j];
  e = expr_map(q->t->exprs, e, leaf_later, q);
  q->slot = slot, q->sum.n_slot += m;
  return e;
}

/* Finds what is over the sum in exp(a - log(s)) and exp(a - (m + log(s))), whose parenthesis may be a stage. */
static bool over_find(Quotient *q, const Expr *e) {
  Exprs *x = q->t->exprs;
  if (!is_op(e, OP_EXP) || !is_op(e->arg[0], OP_SUB)) return false;
  const Expr *a = e->arg[0]->arg[0], *z = e->arg[0]->arg[1], *most;
  const TaskStage *of = kept_stage(q, q->slot, z);
  q->value = e, q->over = a;
  if (is_log_of_sum(q, q->slot, z)) return true;
  if (!of) return is_op(z, OP_ADD) && is_log_of_sum(q, q->slot, z->arg[1]) &&
      (q->over = expr_op2(x, OP_SUB, a, z->arg[0]));
  const EinSum *s = of->sum;
  bool plain = s->reducer == RED_NONE && !s->domain && s->n_out == q->k->n_outer && s->acc == s->dtype && !s->by;
  if (!plain || !is_op(s->body, OP_ADD) || !is_log_of_sum(q, of->slot, s->body->arg[1])) return false;
  if (!exprs_are_labels(z->n, z->arg)) return false;
  most = of_stage(q, of, s->body->arg[0]);
  q->over = expr_op2(x, OP_SUB, a, most);
  return true;
}

/* Whether the sum has the exponential of what is over it, for each of the stage's points. */
static bool is_summed(Quotient *q) {
  StageForm f, g;
  TaskStage *s = &q->k->stages.at[q->by], now = q->k->stages.at[q->stage];
  now.sum = &q->sum, now.slot = q->slot;
  if (q->over->dtype != s->sum->acc || !stage_form(q->t, s, s->sum->body->arg[0], q->k->n_outer, &f)) return false;
  if (!stage_form(q->t, &now, q->over, q->k->n_outer, &g) || f.value != g.value || f.own != g.own) return false;
  if (f.admits && (f.admits != g.admits || f.n != f.own || f.admits->has & HAS_READ)) return false;
  for (uint32_t k = 0; k < f.own; k++)
    if (s->bound[f.label[k]] != now.bound[g.label[k]]) return false;
  return true;
}

typedef struct Change { const Expr *from, *to; } Change;

static const Expr *op_changed(void *env, Exprs *x, const Expr *e) {
  const Change *c = env;
  (void)x;
  return e == c->from ? c->to : e;
}

static void quotient_put(Quotient *q) {
  Exprs *x = q->t->exprs;
  uint32_t n = q->sum.n_slot, rows = q->k->n_outer;
  TaskSlot *slot = COPY_ARRAY(q->t->arena, TaskSlot, q->slot, n, n + 1);
  slot[n] = (TaskSlot){true, q->by};
  const Expr *by = expr_read(x, (DType)q->over->dtype, n, rows, exprs_labels(q->t->arena, x, rows));
  Change c = {q->value, expr_op2(x, OP_DIV, expr_op1(x, OP_EXP, q->over), by)};
  q->sum.body = expr_map_ops(x, q->sum.body, op_changed, &c);
  stage_canonical(q->t, &q->k->stages.at[q->stage], &q->sum, slot, n + 1);
}

static bool quotient_find(Quotient *q) {
  const TaskStage *s = &q->k->stages.at[q->stage];
  ExprNodes nodes = expr_nodes(q->t->arena, s->sum->body, HAS_READ);
  if (s->sum->by) return false;
  for (const Expr *e; (e = expr_node(&nodes));) {
    q->sum = *s->sum, q->slot = s->slot;
    if (over_find(q, e) && is_summed(q)) return true;
  }
  return false;
}

/* Drops the stage if nothing needs it any more. */
static void drop_unread(TaskGraph *t, Task *k, uint32_t stage) {
  if (k->stages.at[stage].buffer >= 0 || task_reads_stage(k, stage, stage + 1, k->stages.len)) return;
  for (uint32_t i = stage; i + 1 < k->stages.len; i++) {
    TaskStage *s = &k->stages.at[i];
    *s = k->stages.at[i + 1];
    TaskSlot *slot = arena_copy(t->arena, s->slot, s->sum->n_slot * sizeof *slot);
    for (uint32_t j = 0; j < s->sum->n_slot; j++) slot[j].index -= slot[j].kept && slot[j].index > stage;
    s->slot = slot;
  }
  k->stages.len--;
}

static void kernel_quotients(TaskGraph *t, Task *k) {
  bool any = false;
  for (uint32_t i = 1; i < k->stages.len; i++) {
    Quotient q = {.t = t, .k = k, .stage = i};
    while (quotient_find(&q)) quotient_put(&q), any = true;
  }
  for (uint32_t i = k->stages.len; any && i-- > 0;) drop_unread(t, k, i);
}

static void list_quotients(TaskGraph *t, const Tasks *list) {
  vec_each_of(Task, k, *list) {
    list_quotients(t, &k->body);
    if (k->kind == TASK_KERNEL) kernel_quotients(t, k);
  }
}

void task_quotients(TaskGraph *t) { list_quotients(t, &t->tasks); }
