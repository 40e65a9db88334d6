/* task/passes/shared.c - computes once what several stages of a kernel compute in the same way for a row. In: tasks
 * after task_rows, in which a softmax may be
 *
 *     m[i] = max[j] x[i,j]
 *     s[i] = sum[j] exp(x[i,j] - m[i])
 *     y[i,j] = exp(x[i,j] - m[i]) / s[i]
 *
 * Out: a stage more, which keeps the exponentials of a row, as if the user had named them:
 *
 *     e[i,j] = exp(x[i,j] - m[i])
 *     s[i] = sum[j] e[i,j]
 *     y[i,j] = e[i,j] / s[i]
 *
 * That is done for functions, which take longer than a store and a load. A value that a condition may leave out is not
 * shared, unless another stage makes it anyway. Values are the same to the bit. */
#include "expr/sum/law.h"
#include "task/inside.h"

enum {
  STAGES_MOST = 16,          /* of a kernel */
  ROW_MOST = 16384           /* elements of a row that a kernel keeps */
};

typedef struct Both {        /* a value, in two stages of a kernel */
  TaskGraph *t;
  Task *k;
  uint32_t a, b;             /* the stages, a before b */
  const Expr *in_a, *in_b;
  StageForm form, other;     /* of a's, and of b's */
} Both;

/* Whether it takes longer than a store and a load: a function, and no square. */
static bool is_long(const Expr *e) {
  if (e->kind != EX_OP || !dtype_is_float((DType)e->dtype) || e->drawn) return false;
  return op_info[e->op].ulp > 0 && !(e->op == OP_POW && !(e->arg[1]->has & (HAS_LABEL | HAS_READ)));
}

/* The next value on the way down that may be shared. */
static const Expr *value_next(ExprNodes *nodes) {
  for (const Expr *e; (e = expr_node(nodes));) {
    if (e->kind == EX_READ) expr_node_skip(nodes);
    if (is_long(e)) return e;
  }
  return NULL;
}

/* Whether the stage computes the value at each of its points: no condition may leave it out. */
static bool is_always(Arena *a, const TaskStage *s, const Expr *value) {
  ExprNodes nodes = expr_nodes(a, s->sum->body, HAS_LABEL);
  for (const Expr *e; (e = expr_node(&nodes));) {
    if (e == value) return true;
    if (e->kind != EX_OP || (e->op != OP_SELECT && e->op != OP_AND && e->op != OP_OR)) continue;
    expr_node_skip(&nodes);
    expr_nodes_add(&nodes, e->arg[0]);
  }
  return false;
}

static bool may_share(const TaskStage *s) { return !s->sum->by && !s->sum->monoid; }

/* Whether both are the same value. One of the stages must compute it wherever the other may; p->form.admits then says
 * where. A stage without a condition has all points. */
static bool are_same(Both *p) {
  const TaskStage *a = &p->k->stages.at[p->a], *b = &p->k->stages.at[p->b];
  StageForm *f = &p->form, *g = &p->other;
  bool same = f->value == g->value && f->own && f->own == g->own;
  for (uint32_t k = 0; same && k < f->own; k++) same = a->bound[f->label[k]] == b->bound[g->label[k]];
  if (!same) return false;
  bool by_a = is_always(p->t->arena, a, p->in_a), by_b = is_always(p->t->arena, b, p->in_b);
  if ((by_a && !f->admits) || (by_b && !g->admits)) return f->admits = NULL, true;
  return (by_a || by_b) && f->admits == g->admits && f->n == f->own && !(f->admits->has & HAS_READ);
}

static bool is_kept_row(const Both *p) {
  double n = 1;
  const TaskStage *a = &p->k->stages.at[p->a];
  for (uint32_t k = 0; k < p->form.own; k++) n *= (double)task_size_guess(p->t, a->bound[p->form.label[k]]);
  return n <= (double)ROW_MOST;
}

/* Finds a value of stage b that stage a has, too. */
static bool same_find(Both *p) {
  const TaskStage *a = &p->k->stages.at[p->a], *b = &p->k->stages.at[p->b];
  ExprNodes below = expr_nodes(p->t->arena, b->sum->body, HAS_LABEL);
  if (!may_share(a) || !may_share(b)) return false;
  while ((p->in_b = value_next(&below))) {
    if (!stage_form(p->t, b, p->in_b, p->k->n_outer, &p->other)) return false;
    ExprNodes above = expr_nodes(p->t->arena, a->sum->body, HAS_LABEL);
    while ((p->in_a = value_next(&above)))
      if (stage_form(p->t, a, p->in_a, p->k->n_outer, &p->form) && are_same(p) && is_kept_row(p)) return true;
  }
  return false;
}

/* ---- the new stage --------------------------------------------------------------------------------- */

/* Whether stage a is nothing but this value, so that the other may read it. */
static bool is_stage(const Both *p) {
  const EinSum *s = p->k->stages.at[p->a].sum;
  if (s->reducer != RED_NONE || s->body != p->in_a || s->acc != s->dtype || s->n_out != p->k->n_outer + p->form.own)
    return false;
  return p->form.admits == NULL ? !s->domain : true;
}

/* Which stage's label is axis k of what is kept. */
static uint32_t axis_label(const Both *p, const StageForm *f, uint32_t k) {
  return k < p->k->n_outer ? k : f->label[k - p->k->n_outer];
}

typedef struct Reads { const Expr *value, *read; } Reads;

static const Expr *op_read(void *env, Exprs *x, const Expr *e) {
  const Reads *r = env;
  (void)x;
  return e == r->value ? r->read : e;
}

/* Has the stage read what `kept` keeps instead of computing it; index: the labels of the read. */
static void read_instead(TaskGraph *t, TaskStage *s, const Expr *value, uint32_t kept, uint32_t n, const Expr **index) {
  EinSum sum = *s->sum;
  TaskSlot *slot = COPY_ARRAY(t->arena, TaskSlot, s->slot, sum.n_slot, sum.n_slot + 1);
  slot[sum.n_slot] = (TaskSlot){true, kept};
  Reads r = {value, expr_read(t->exprs, (DType)value->dtype, sum.n_slot, n, index)};
  sum.body = expr_map_ops(t->exprs, sum.body, op_read, &r);
  stage_canonical(t, s, &sum, slot, sum.n_slot + 1);
}

static void read_at(const Both *p, uint32_t stage, const StageForm *f, const Expr *value, uint32_t kept) {
  uint32_t n = p->k->n_outer + f->own;
  const Expr **index = NEW_ARRAY(p->t->arena, const Expr *, n + 1);
  for (uint32_t k = 0; k < n; k++) index[k] = expr_label(p->t->exprs, axis_label(p, f, k));
  read_instead(p->t, &p->k->stages.at[stage], value, kept, n, index);
}

/* The value of stage a as a stage that is kept. */
static TaskStage stage_of(const Both *p) {
  TaskGraph *t = p->t;
  const TaskStage *a = &p->k->stages.at[p->a];
  uint32_t n = p->k->n_outer + p->form.own, labels = a->sum->n_out + a->sum->n_red;
  TaskStage s = {.name = task_name_with(t, vec_last(p->k->stages).name, ".shared"), .place = a->place, .buffer = -1};
  const Expr **bound = NEW_ARRAY(t->arena, const Expr *, n + 1), **to = NEW_ARRAY(t->arena, const Expr *, labels + 1);
  s.label = NEW_ARRAY(t->arena, Str, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    uint32_t l = axis_label(p, &p->form, k);
    bound[k] = a->bound[l], s.label[k] = a->label[l], to[l] = expr_label(t->exprs, k);
  }
  s.bound = bound;
  DType d = (DType)p->in_a->dtype;
  EinSum sum = {.n_out = n, .n_slot = a->sum->n_slot, .acc = d, .dtype = d, .body = p->in_a};
  if (p->form.admits) sum.domain = expr_and(t->exprs, a->sum->domain, a->sum->where);
  sum_relabel(t->exprs, &sum, labels, to);
  stage_canonical(t, &s, &sum, a->slot, sum.n_slot);
  return s;
}

/* Puts the stage before stage a; what later stages keep has the next number. */
static void stage_put(const Both *p, TaskStage s) {
  Task *k = p->k;
  vec_push(p->t->arena, k->stages, s);
  for (uint32_t i = k->stages.len - 1; i > p->a; i--) k->stages.at[i] = k->stages.at[i - 1];
  k->stages.at[p->a] = s;
  for (uint32_t i = p->a + 1; i < k->stages.len; i++) {
    TaskStage *later = &k->stages.at[i];
    TaskSlot *slot = arena_copy(p->t->arena, later->slot, later->sum->n_slot * sizeof *slot);
    for (uint32_t j = 0; j < later->sum->n_slot; j++) slot[j].index += slot[j].kept && slot[j].index >= p->a;
    later->slot = slot;
  }
}

static void share(Both *p) {
  if (is_stage(p)) {
    StageForm f = p->other;
    uint32_t n = p->k->n_outer;
    for (uint32_t k = 0; k < f.own; k++) f.label[p->form.label[k] - n] = p->other.label[k];
    read_at(p, p->b, &f, p->in_b, p->a);
    return;
  }
  stage_put(p, stage_of(p));
  read_at(p, p->a + 1, &p->form, p->in_a, p->a);
  read_at(p, p->b + 1, &p->other, p->in_b, p->a);
}

static bool share_one(TaskGraph *t, Task *k) {
  for (uint32_t b = 1; b < k->stages.len && k->stages.len < STAGES_MOST; b++)
    for (uint32_t a = 0; a < b; a++) {
      Both p = {.t = t, .k = k, .a = a, .b = b};
      if (!same_find(&p)) continue;
      share(&p);
      return true;
    }
  return false;
}

static void list_share(TaskGraph *t, const Tasks *list) {
  vec_each_of(Task, k, *list) {
    list_share(t, &k->body);
    while (k->kind == TASK_KERNEL && share_one(t, k)) continue;
  }
}

void task_shared(TaskGraph *t) { list_share(t, &t->tasks); }
