/* task/flat.c - reduced labels that go over whole rows, one row after the other, become one label. In: kernels. Out: the same, where
 *
 *     Y[n,c] = sum[h:7,w:7] X[n,c,h,w]       goes over    sum[h_w:49] X[n, c, h_w//7, h_w%7]
 *
 * Rows that are shorter than what lanes take, or end with a part of that, cost much; one long row does not. Where memory is dense the
 * C compiler finds that quotient times 7 and rest are the label itself (codegen/schedule_plan.c takes such a read as one that steps to the
 * next element). Only what is one sum for each output is made so: where several tensors with other outputs meet, a product of
 * matrices has its own ways. Floats are added in another order, which hangs on sizes alone. */
#include "../expr/prove.h"
#include "../expr/sum_law.h"
#include "inside.h"

enum { ROW_MOST = 256 };     /* points: of longer rows what is left at the end is little */

typedef struct Flat {
  TaskGraph *t;
  const TaskStage *st;
  uint32_t outer, inner;     /* the two labels, */
  const Expr *both;          /*   and the one that is both; NULL: it is looked whether they are read so at all */
  uint64_t outputs;          /* labels of the output that such reads have */
  bool some, other;          /* there are such reads; others too, or with other outputs */
} Flat;

static bool has_label(const Expr *e, uint32_t label) { return e->labels >> label & 1; }

static bool is_label(const Expr *e, uint32_t label) { return e->kind == EX_LABEL && e->i == (int64_t)label; }

/* A read of all rows; what is left of it has none of the labels. */
static const Expr *leaf_flat(void *env, Exprs *x, const Expr *leaf) {
  Flat *f = env;
  if (leaf->kind != EX_READ || (!has_label(leaf, f->outer) && !has_label(leaf, f->inner))) return leaf;
  uint32_t n = leaf->n;
  TaskSlot slot = f->st->slot[leaf->i];
  if (n < 2 || slot.kept || !is_label(leaf->arg[n - 2], f->outer) || !is_label(leaf->arg[n - 1], f->inner)) return leaf;
  const TaskBuffer *b = &f->t->buffers.at[slot.index];
  if (b->dim[n - 2] != f->st->bound[f->outer] || b->dim[n - 1] != f->st->bound[f->inner]) return leaf;
  uint64_t outputs = leaf->labels & (((uint64_t)1 << f->st->sum->n_out) - 1);
  f->other |= f->some && outputs != f->outputs;
  f->some = true, f->outputs = outputs;
  const Expr **arg = NEW_ARRAY(f->t->arena, const Expr *, n), *zero = expr_int(x, DT_I64, 0);
  for (uint32_t k = 0; k < n; k++) arg[k] = leaf->arg[k];
  arg[n - 2] = f->both ? expr_op2(x, OP_IDIV, f->both, f->st->bound[f->inner]) : zero;
  arg[n - 1] = f->both ? expr_op2(x, OP_MOD, f->both, f->st->bound[f->inner]) : zero;
  return expr_read(x, (DType)leaf->dtype, leaf->i, n, arg);
}

static bool is_flat(Flat *f) {
  const Expr *rows = f->st->bound[f->outer], *row = f->st->bound[f->inner];
  if (rows->kind != EX_INT || row->kind != EX_INT || rows->i < 2 || row->i < 2 || row->i > ROW_MOST) return false;
  const Expr *left = expr_map(f->t->exprs, f->st->sum->body, leaf_flat, f);
  return f->some && !f->other && !has_label(left, f->outer) && !has_label(left, f->inner);
}

/* The stage with one label, where the outer one stood, for both. */
static void stage_flat(Flat *f, TaskStage *st, EinSum *sum) {
  Exprs *x = f->t->exprs;
  uint32_t n = sum->n_out + sum->n_red;
  const Expr **bound = NEW_ARRAY(f->t->arena, const Expr *, n), **to = NEW_ARRAY(f->t->arena, const Expr *, n + 1);
  Str *label = NEW_ARRAY(f->t->arena, Str, n);
  f->both = expr_label(x, f->outer);
  sum->body = expr_map(x, sum->body, leaf_flat, f);
  for (uint32_t k = 0, at = 0; k < n; k++) {
    if (k == f->inner) continue;
    bound[at] = st->bound[k], label[at] = st->label[k];
    to[k] = expr_label(x, at++);
  }
  sum->body = expr_relabel(x, sum->body, n, to);
  uint32_t both = f->outer - (f->inner < f->outer);
  bound[both] = expr_op2(x, OP_MUL, st->bound[f->outer], st->bound[f->inner]);
  if (st->label[f->outer] && st->label[f->inner])
    label[both] = strings_printf(f->t->strings, "%s_%s", st->label[f->outer]->s, st->label[f->inner]->s);
  sum->n_red--;
  st->bound = bound, st->label = label;
}

static bool flat_once(TaskGraph *t, TaskStage *st) {
  EinSum sum = *st->sum;
  uint32_t n = sum.n_out + sum.n_red;
  for (uint32_t a = sum.n_out; a < n; a++)
    for (uint32_t b = sum.n_out; b < n; b++) {
      Flat f = {.t = t, .st = st, .outer = a, .inner = b};
      if (a == b || !is_flat(&f)) continue;
      TaskStage made = *st;
      stage_flat(&f, &made, &sum);
      stage_canonical(t, &made, &sum, made.slot, sum.n_slot);
      *st = made;
      return true;
    }
  return false;
}

static bool may_be_flat(const EinSum *s) {
  bool simple = s->reducer != RED_NONE && s->reducer != RED_ARGMAX && s->reducer != RED_ARGMIN && s->reducer != RED_MONOID;
  return simple && s->n_red > 1 && s->n_out + s->n_red < 60 && !s->where && !s->domain;
}

static void list_flat(TaskGraph *t, const Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    Task *k = list->at[i];
    list_flat(t, &k->body);
    if (k->kind == TASK_KERNEL)
      for (uint32_t j = 0; j < k->stages.len; j++)
        while (may_be_flat(k->stages.at[j].sum) && flat_once(t, &k->stages.at[j])) {}
  }
}

void task_flat(TaskGraph *t) { list_flat(t, &t->tasks); }
