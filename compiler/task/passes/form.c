/* task/passes/form.c - the form of a value that a stage computes: the same for what two stages compute in the same way,
 * whatever the numbers of their labels and slots. */
#include "task/inside.h"

typedef struct Forming {
  const TaskStage *s;
  uint32_t n_outer;
  StageForm *f;
} Forming;

static const Expr *leaf_formed(void *env, Exprs *x, const Expr *leaf) {
  Forming *g = env;
  if (leaf->kind == EX_READ) {
    TaskSlot slot = g->s->slot[leaf->i];
    return expr_read(x, (DType)leaf->dtype, 2 * (int64_t)slot.index + slot.kept, leaf->n, leaf->arg);
  }
  if (leaf->kind != EX_LABEL || leaf->i < g->n_outer) return leaf;
  uint32_t k = 0;
  while (k < g->f->n && g->f->label[k] != (uint32_t)leaf->i) k++;
  if (k == g->f->n) g->f->label[g->f->n++] = (uint32_t)leaf->i;
  return expr_label(x, g->n_outer + k);
}

bool stage_form(TaskGraph *t, const TaskStage *s, const Expr *e, uint32_t n_outer, StageForm *f) {
  Forming g = {s, n_outer, f};
  const Expr *admits = expr_and(t->exprs, s->sum->domain, s->sum->where);
  *f = (StageForm){.n = 0};
  if (s->sum->n_out + s->sum->n_red > FORM_LABELS || e->has & HAS_CALL) return false;
  f->value = expr_map(t->exprs, e, leaf_formed, &g);
  f->own = f->n;
  if (admits) f->admits = expr_map(t->exprs, admits, leaf_formed, &g);
  return true;
}
