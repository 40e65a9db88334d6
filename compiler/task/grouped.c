/* task/grouped.c - finds grouped products. */
#include "grouped.h"

#include <string.h>

typedef struct Find {
  TaskGraph *t;
  const TaskStage *s;
  SlotDims *dims;
  const void *env;
} Find;

/* ---- labels ------------------------------------------------------------------------------------------------------ */

static double points_of(const Find *f, uint64_t labels) {
  double n = 1;
  for (uint32_t l = 0; l < f->s->sum->n_out + f->s->sum->n_red; l++)
    if (labels >> l & 1) n *= (double)task_size_guess(f->t, f->s->bound[l]);
  return n;
}

static uint64_t bits(uint32_t from, uint32_t to) { return ((uint64_t)1 << to) - ((uint64_t)1 << from); }

/* Takes the labels of the key as the rows'; false: it has too many of them, or other ones than `of`. */
static bool rows_take(const Find *f, Grouped *g, const Expr *key, uint64_t of) {
  uint32_t n = f->s->sum->n_out + f->s->sum->n_red;
  if (!key->labels || key->labels & ~of) return false;
  g->key = key;
  g->n_row = 0;
  for (uint32_t l = 0; l < n; l++) {
    if (!(key->labels >> l & 1)) continue;
    if (g->n_row == GROUPED_ROWS_MOST) return false;
    g->row[g->n_row++] = l;
  }
  g->rows = points_of(f, key->labels);
  return true;
}

/* ---- rows of the result ------------------------------------------------------------------------------------------ */

/* The only index of the read that depends on data and labels; false: there is none, or another one. */
static bool key_find(const Expr *read, uint32_t *axis) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < read->n; k++)
    if (read->arg[k]->has & HAS_READ) *axis = k, n++;
  return n == 1;
}

/* Whether this read is of a group's matrix. */
static bool matrix_is(const Find *f, const Expr *read, Grouped *g) {
  const EinSum *sum = f->s->sum;
  uint64_t out = bits(0, sum->n_out), red = bits(sum->n_out, sum->n_out + sum->n_red), other = 0;
  if (f->s->slot[read->i].kept || !key_find(read, &g->axis)) return false;
  TaskSlot slot = f->s->slot[read->i];
  const Expr *size = (f->dims ? f->dims(f->env, slot) : f->t->buffers.at[slot.index].dim)[g->axis];
  if (size->kind != EX_INT) return false;
  g->groups = size->i, g->slot = (uint32_t)read->i, g->label = -1;
  if (!rows_take(f, g, read->arg[g->axis], out)) return false;
  for (uint32_t k = 0; k < read->n; k++)
    if (k != g->axis) other |= read->arg[k]->labels;
  if (other & g->key->labels || !(other & out) || !(other & red)) return false;
  return grouped_pays(g->rows, (double)g->groups, points_of(f, other & out), points_of(f, other & red));
}

/* The predicates say which rows have something to reduce. */
static bool rows_admit(const Find *f, Grouped *g) {
  g->when = expr_and(f->t->exprs, f->s->sum->domain, f->s->sum->where);
  return !g->when || !(g->when->labels & ~g->key->labels);
}

static bool rows_of_result(const Find *f, Grouped *g) {
  ExprNodes reads = expr_nodes(f->t->arena, f->s->sum->body, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (matrix_is(f, e, g)) return rows_admit(f, g);
  return false;
}

/* ---- reduced rows ------------------------------------------------------------------------------------------------ */

/* Whether the conjunct says which group a reduced row belongs to. */
static bool belongs(const Find *f, const Expr *e, Grouped *g) {
  const EinSum *sum = f->s->sum;
  if (!is_op(e, OP_EQ) || e->arg[0]->dtype != DT_I64) return false;
  for (uint32_t k = 0; k < 2; k++) {
    const Expr *label = e->arg[k], *key = e->arg[1 - k];
    if (label->kind != EX_LABEL || label->i >= sum->n_out || !(key->has & HAS_READ)) continue;
    const Expr *size = f->s->bound[label->i];
    if (size->kind != EX_INT || expr_has_label(sum->body, label->i)) continue;
    g->groups = size->i;
    if (!rows_take(f, g, key, bits(sum->n_out, sum->n_out + sum->n_red))) continue;
    g->label = label->i;
    return true;
  }
  return false;
}

/* Takes the predicate apart: one conjunct says where a row belongs, the others which rows count. */
static bool rows_belong(const Find *f, const Expr *e, Grouped *g) {
  for (; is_op(e, OP_AND); e = e->arg[0]) {
    if (g->label < 0 && belongs(f, e->arg[1], g)) {
      g->first = g->when != NULL;
      continue;
    }
    g->when = expr_and(f->t->exprs, e->arg[1], g->when);
  }
  if (g->label < 0 && belongs(f, e, g)) g->first = g->when != NULL;
  else g->when = expr_and(f->t->exprs, e, g->when);
  return g->label >= 0 && !(g->when && g->when->labels & ~g->key->labels);
}

static bool rows_are_reduced(const Find *f, Grouped *g) {
  const EinSum *sum = f->s->sum;
  *g = (Grouped){.label = -1};
  if (!sum->where || sum->domain || sum->n_out < 3 || !rows_belong(f, sum->where, g)) return false;
  double matrix = points_of(f, bits(0, sum->n_out) & ~((uint64_t)1 << g->label));
  return grouped_pays(g->rows, (double)g->groups, matrix / 16, 16); /* panels find out which labels are whose */
}

/* ---- entry point ------------------------------------------------------------------------------------------------- */

bool stage_grouped(TaskGraph *t, const TaskStage *s, SlotDims *dims, const void *env, Grouped *g) {
  Find f = {t, s, dims, env};
  const EinSum *sum = s->sum;
  memset(g, 0, sizeof *g);
  if (!sum->n_red || sum->by || sum->n_out + sum->n_red > 60) return false;
  if (sum->reducer == RED_MONOID || sum->reducer == RED_LSE || red_is_arg(sum)) return false;
  return rows_of_result(&f, g) || rows_are_reduced(&f, g);
}
