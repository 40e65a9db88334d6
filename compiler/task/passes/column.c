/* task/passes/column.c - copies a column that a kernel would read with a stride, element by element, for each of many
 * rows. In: tasks after fusion, with lanes along j here:
 *
 *     y[i] = sum[j] A[i,j] * V[j,3]
 *
 * Out: a kernel more, and operands that lie side by side:
 *
 *     V.column[j] = V[j,3]
 *     y[i] = sum[j] A[i,j] * V.column[j] */
#include "task/inside.h"

enum {
  ROWS_LEAST = 8,            /* uses of an element that pay for the copy */
  COLUMN_LEAST = 16,         /* elements */
  POINTS_LEAST = 2048        /* of the stage, which pay for a kernel */
};

typedef struct Columns {
  TaskGraph *t;
  Tasks made;                /* the new list */
  const Task *task;          /* the current kernel */
} Columns;

/* ---- what is read with a stride ---------------------------------------------------------------------- */

/* Whether turns and sizes alone say it. */
static bool is_settled(const Expr *e) {
  return !(e->has & ~(unsigned)(HAS_DIM | HAS_TURN)) && !expr_by_chance(e);
}

/* Whether lanes go along the label: the stage's result or another operand lies along it. */
static bool has_lanes(const TaskStage *s, const Expr *const *read, uint32_t label) {
  int64_t slope;
  const Expr *last = s->n_at ? s->at[s->n_at - 1] : NULL;
  if (last && last->kind == EX_LABEL && last->i == label) return true;
  for (uint32_t j = 0; j < s->sum->n_slot; j++) {
    last = read[j] && read[j]->n ? read[j]->arg[read[j]->n - 1] : NULL;
    if (last && expr_has_label(last, label) && expr_slope(last, label, &slope) && slope == 1) return true;
  }
  return false;
}

/* Whether a buffer's dimension has an element for each value of the label. */
static bool fits(const Expr *bound, const Expr *dim) {
  return bound == dim || (bound->kind == EX_INT && dim->kind == EX_INT && bound->i <= dim->i);
}

/* Whether the slot reads a column: labels alone, one of which has lanes, and behind them a settled place. */
static bool is_column(const Columns *c, const TaskStage *s, const Expr *const *read, uint32_t slot) {
  const Expr *r = read[slot];
  if (!r || r->n < 2 || s->slot[slot].kept || !is_settled(r->arg[r->n - 1])) return false;
  const TaskBuffer *b = &c->t->buffers.at[s->slot[slot].index];
  double size = 1, points = stage_points(c->t, s, 0, s->sum->n_out + s->sum->n_red);
  bool lanes = false;
  for (uint32_t d = 0; d < r->n; d++) {
    const Expr *e = r->arg[d];
    if (is_settled(e)) continue;
    if (e->kind != EX_LABEL || !fits(s->bound[e->i], b->dim[d])) return false;
    for (uint32_t k = 0; k < d; k++)
      if (r->arg[k] == e) return false;
    double n = (double)task_size_guess(c->t, s->bound[e->i]);
    size *= n;
    lanes |= n >= (double)COLUMN_LEAST && has_lanes(s, read, (uint32_t)e->i);
  }
  return lanes && points >= (double)ROWS_LEAST * size && points >= (double)POINTS_LEAST;
}

/* ---- the copy ---------------------------------------------------------------------------------------- */

/* Adds a kernel that copies what the slot reads, without its settled places. Returns the copy's buffer. */
static uint32_t copy_add(Columns *c, const TaskStage *s, const Expr *read, uint32_t buffer) {
  TaskGraph *t = c->t;
  Exprs *x = t->exprs;
  uint32_t n = 0;
  const Expr **bound = NEW_ARRAY(t->arena, const Expr *, read->n), **label = NEW_ARRAY(t->arena, const Expr *, read->n),
             **at = NEW_ARRAY(t->arena, const Expr *, read->n), *there = NULL;
  Str *name = NEW_ARRAY(t->arena, Str, read->n);
  TaskBuffer b = t->buffers.at[buffer];
  for (uint32_t d = 0; d < read->n; d++) {
    const Expr *e = read->arg[d], *zero = expr_int(x, DT_I64, 0);
    if (e->kind == EX_LABEL) {
      bound[n] = s->bound[e->i], name[n] = s->label[e->i];
      at[d] = label[n] = expr_label(x, n), n++;
      continue;
    }
    at[d] = e;
    if (e->kind == EX_INT && b.dim[d]->kind == EX_INT && 0 <= e->i && e->i < b.dim[d]->i) continue;
    there = expr_and(x, there, expr_and(x, expr_op2(x, OP_LE, zero, e), expr_op2(x, OP_LT, e, b.dim[d])));
  }
  b.id = t->buffers.len, b.space = BUF_WORK, b.rank = n, b.dim = bound, b.argument = 0;
  b.name = task_name_with(t, b.name, ".column");
  vec_push(t->arena, t->buffers, b);
  TaskStage made = {.name = b.name, .place = s->place, .bound = bound, .label = name, .buffer = (int32_t)b.id,
      .n_at = n, .at = label};
  EinSum sum = {.n_out = n, .acc = b.dtype, .dtype = b.dtype, .domain = there};
  sum.body = expr_read(x, b.dtype, 0, read->n, at);
  stage_canonical(t, &made, &sum, &(TaskSlot){false, buffer}, 1);
  Task *k = MAKE(t->arena, Task, .kind = TASK_KERNEL, .place = c->task->place, .name = b.name,
      .unless = c->task->unless, .stop = -1,
      .turns = -1);
  vec_push(t->arena, k->stages, made);
  vec_push(t->arena, c->made, k);
  return b.id;
}

typedef struct Renewed { uint32_t n_slot; const bool *column; } Renewed;

/* Slot n_slot + j reads the copy of what slot j reads. */
static const Expr *leaf_column(void *env, Exprs *x, const Expr *leaf) {
  const Renewed *r = env;
  const Expr *at[64];
  uint32_t n = 0;
  if (leaf->kind != EX_READ || leaf->i >= r->n_slot || !r->column[leaf->i]) return leaf;
  for (uint32_t d = 0; d < leaf->n; d++)
    if (leaf->arg[d]->kind == EX_LABEL) at[n++] = leaf->arg[d];
  return expr_read(x, (DType)leaf->dtype, leaf->i + r->n_slot, n, at);
}

static void stage_change(Columns *c, TaskStage *s) {
  TaskGraph *t = c->t;
  EinSum sum = *s->sum;
  uint32_t n = sum.n_slot;
  const Expr **read = NEW_ARRAY(t->arena, const Expr *, n + 1);
  TaskSlot *slot = NEW_ARRAY(t->arena, TaskSlot, 2 * n + 1);
  bool *column = NEW_ARRAY(t->arena, bool, n + 1), any = false;
  expr_slot_reads(t->arena, 3, (const Expr *const[]){sum.body, sum.where, sum.domain}, read);
  for (uint32_t j = 0; j < n; j++) {
    slot[j] = slot[n + j] = s->slot[j];
    any |= column[j] = is_column(c, s, read, j);
    if (column[j]) slot[n + j].index = copy_add(c, s, read[j], s->slot[j].index);
  }
  if (!any) return;
  sum_map(t->exprs, &sum, leaf_column, &(Renewed){n, column});
  stage_canonical(t, s, &sum, slot, 2 * n);
}

/* Whether its loops copy what they read with a stride, or a C function reads it. */
static bool packs_by_itself(TaskGraph *t, const TaskStage *s) {
  return s->sum->by || (s->sum->reducer != RED_NONE && stage_is_product(t, s));
}

static void list_change(TaskGraph *t, Tasks *list) {
  Columns c = {.t = t};
  vec_each_of(Task, k, *list) {
    c.task = k;
    if (k->kind == TASK_REPEAT) list_change(t, &k->body);
    for (uint32_t i = 0; k->kind == TASK_KERNEL && i < k->stages.len; i++)
      if (!packs_by_itself(t, &k->stages.at[i])) stage_change(&c, &k->stages.at[i]);
    vec_push(t->arena, c.made, k);
  }
  *list = c.made;
}

void task_columns(TaskGraph *t) { list_change(t, &t->tasks); }
