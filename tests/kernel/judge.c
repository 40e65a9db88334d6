/* tests/kernel/judge.c - what is asked of one program: its sizes and inputs, and how near its answers must be. */
#include <math.h>
#include <string.h>

#include "kernels.h"

enum { FIRST_SIZES, OTHER_SIZES };

static const Tensor *tensor_named(const Judge *j, const char *name) {
  const Case *c = j->s->program;
  for (uint32_t i = 0; i < c->tensors.len; i++)
    if (strcmp(c->tensors.at[i]->name, name) == 0) return c->tensors.at[i];
  return NULL;
}

/* ---- inputs --------------------------------------------------------------------------------------- */

int64_t case_integer(Judge *j, const void *of, DType type) {
  const Tensor *t = of;
  Rng *r = &j->rng;
  if (type == DT_BOOL) return below(r, 2);
  if (t->values == POINTERS) return below(r, (uint32_t)axis_value(&t->range, j->t->kind == OTHER_SIZES));
  if (t->values == SIGNS) return type == DT_U8 || chance(r, 50) ? 1 : -1;
  if (t->values == WIDE) return integer_wide(r);
  return type == DT_U8 ? below(r, 4) : (int64_t)below(r, 7) - 3;
}

double case_real(Judge *j, const void *of) {
  const Tensor *t = of;
  double x = (double)case_integer(j, t, t->dtype);
  bool odd = t->values == ODD || t->values == VAST;
  if (t->values == VAST && chance(&j->rng, 8))
    return (t->dtype == DT_F64 ? 1.5e308 : 3e38) * (chance(&j->rng, 50) ? 1 : -1);
  if (odd && chance(&j->rng, t->values == ODD ? 10 : 1))
    return chance(&j->rng, 30) ? NAN : x > 0 ? INFINITY : -INFINITY;
  return x;
}

void case_input(Judge *j, int i, bool planned) {
  const Tensor *t = tensor_named(j, j->m->input[i].name);
  int64_t shape[AXES_MOST];
  (void)planned;
  for (uint32_t k = 0; k < t->rank; k++) shape[k] = axis_value(&t->axis[k], j->t->kind == OTHER_SIZES);
  input_fill(j, i, t, t->dtype, t->rank, shape, 7);
}

/* ---- answers -------------------------------------------------------------------------------------- */

bool case_answer(Judge *j) {
  const Case *c = j->s->program;
  Eval e;
  j->t->status = trial_eval(j, j->s->g, &e);
  j->t->want = e.output;
  if (j->t->status == EVAL_SHAPE) return true;
  if (j->t->status != EVAL_OK)
    return say(&j->s->v, arena_printf(j->s->arena, "eval ends with %d", (int)j->t->status), j->t->error);
  for (int k = 0; k < j->m->n_outputs; k++)
    if (!c->loose && e.output[k].dtype != tensor_named(j, j->m->output[k].name)->dtype)
      return say(&j->s->v, "an output of another type", j->m->output[k].name);
  return true;
}

/* As far apart as `ein verify` lets them be, of what is rounded; all of it, if something coarse came into it. */
double case_allowed(Judge *j, int output, const EvalArray *x) {
  const Tensor *t = tensor_named(j, j->m->output[output].name);
  const Case *c = j->s->program;
  double most;
  if (!dtype_is_float(x->dtype)) return t->exact ? 0 : -1; /* a rounded value may have decided it */
  if (t->exact && !c->loose) return 0;
  most = largest(x);
  return fmax(dtype_grain(x->dtype), c->grain) * (most > 0 ? most : 1);
}

static void dims_find(Judge *j, Trial *t) {
  const Case *c = j->s->program;
  for (int k = 0; k < j->m->n_dims; k++)
    for (uint32_t i = 0; i < c->sizes.len; i++) {
      const Size *z = c->sizes.at[i];
      if (strcmp(z->name, j->m->dim[k]) == 0) t->dim[k] = t->kind == OTHER_SIZES ? z->other : z->value;
    }
}

bool case_trials(Judge *j) {
  static const char *const words[] = {"first sizes", "other sizes"};
  for (uint32_t kind = FIRST_SIZES; kind <= (j->m->n_dims ? OTHER_SIZES : FIRST_SIZES); kind++) {
    Trial *t = NEW(j->s->arena, Trial);
    t->word = words[kind], t->kind = kind;
    dims_find(j, t);
    if (!trial(j, t)) return false;
  }
  return true;
}
