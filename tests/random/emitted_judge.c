/* tests/random/emitted_judge.c - one program: with its defaults, with inputs given, with integers of any size where
 * there are no floats, and with other sizes where those are open. */
#include <math.h>
#include <string.h>

#include "emitted.h"

static const double terms_most = 20000; /* of a sum of floats */
enum { GIVEN = 1, WILD = 2, RESIZED = 4, LARGE = 8 }; /* Trial.kind */

/* ---- inputs --------------------------------------------------------------------------------------- */

static const Tensor *tensor_named(const Judge *j, const char *name) {
  const Made *m = ((const Emitted *)j->s->program)->made;
  for (uint32_t i = 0; i < m->tensors.len; i++)
    if (strcmp(m->tensors.at[i]->name, name) == 0) return m->tensors.at[i];
  return NULL;
}

int64_t emitted_integer(Judge *j, const void *of, DType t) {
  Rng *r = &j->rng;
  (void)of;
  if (t == DT_BOOL) return below(r, 2);
  if (!(j->t->kind & WILD) || chance(r, 40)) return t == DT_U8 ? below(r, 8) : (int64_t)below(r, 11) - 3;
  return integer_wide(r);
}

/* As the defaults are: of small integers, quarters where those are not, and infinities where they are there. */
double emitted_real(Judge *j, const void *of) {
  const Tensor *t = of;
  Rng *r = &j->rng;
  double x = (double)below(r, 11) - 3;
  if (t && t->num.wild && chance(r, 20)) return chance(r, 50) ? NAN : x > 0 ? INFINITY : -INFINITY;
  return t && !t->num.grid ? x / 4 : x;
}

void emitted_input(Judge *j, int i, bool planned) {
  const ein_argument *g = &j->m->input[i];
  int64_t shape[EIN_MAX_AXES];
  j->t->left_out[i] = true;
  if (!planned) return;
  j->m->shape(j->ctx[0], 0, i, shape);
  input_fill(j, i, tensor_named(j, g->name), dtype_from(g->dtype), (uint32_t)g->ndim, shape, 20);
  j->t->left_out[i] = !(j->t->kind & GIVEN) || chance(&j->rng, 10);
}

/* ---- answers -------------------------------------------------------------------------------------- */

/* What no answer needs may fail in eval alone. */
bool emitted_answer(Judge *j) {
  Emitted *p = j->s->program;
  Trial *t = j->t;
  Eval e;
  p->low_known = false;
  t->status = trial_eval(j, j->s->g, &e);
  if (t->status == EVAL_RANGE || t->status == EVAL_ASSERT)
    t->status = trial_eval(j, graph_dead(j->s->arena, j->s->low, NULL), &e);
  if (t->status != EVAL_OK) j->n->failed++;
  t->want = e.output;
  return true;
}

/* What the graph says that is optimised. */
const EvalArray *emitted_other(Judge *j, int output) {
  Emitted *p = j->s->program;
  if (!j->s->optimise) return NULL;
  if (!p->low_known && trial_eval(j, j->s->low, &p->low) != EVAL_OK) return NULL;
  p->low_known = true;
  return &p->low.output[output];
}

double emitted_allowed(Judge *j, int output, const EvalArray *x) {
  static const double step[DTYPES] = {[DT_F64] = 1e-10, [DT_F32] = 1e-4, [DT_F16] = 1.0 / 1024, [DT_BF16] = 1.0 / 128};
  const Emitted *p = j->s->program;
  const Tensor *t = tensor_named(j, j->m->output[output].name);
  bool other = j->t->kind & (RESIZED | LARGE) || p->large; /* sizes for which the noise is not known: what was exact
                                                            * may be rounded, */
  if (!dtype_is_float(x->dtype)) return 0;
  double most = largest(x), noise = t ? t->num.noise : 0;
  if (other && noise > 0) noise = fmax(noise, noise / t->num.mag * most);
  return fmax(fmax(step[x->dtype], other ? step[DT_F32] : 0) * most, noise * (other ? 64 : 16)); /* in f32 on the way */
}

/* ---- the trials ----------------------------------------------------------------------------------- */

typedef struct Sized { const ein_model *m; const Trial *t; Exprs *p; } Sized;

static const Expr *leaf_sized(void *env, Exprs *p, const Expr *leaf) {
  const Sized *z = env;
  for (int k = 0; leaf->kind == EX_DIM && k < z->m->n_dims; k++)
    if (strcmp(leaf->name->s, z->m->dim[k]) == 0) return expr_int(p, DT_I64, z->t->dim[k]);
  return leaf;
}

/* The longest sum of floats in the region and inside of it: so many terms. */
static double longest_sum(Sized *z, const EinRegion *r) {
  double most = 0;
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const EinNode *n = r->nodes.at[i];
    double terms =
        n->kind == EIN_REPEAT ? longest_sum(z, n->body) : n->kind == EIN_VERTEX && dtype_is_float(n->sum->acc);
    for (uint32_t l = 0; terms > 0 && n->kind == EIN_VERTEX && l < n->sum->n_red; l++) {
      const Expr *bound = expr_map(z->p, n->bound[n->sum->n_out + l], leaf_sized, z);
      terms *= bound->kind == EX_INT ? (double)bound->i : 1;
    }
    most = fmax(most, terms);
  }
  return most;
}

/* Term after term, as eval adds them, many floats are no longer near what is right: then large is not as large. */
static void dims_bound(Judge *j, Trial *t) {
  Sized z = {j->m, t, j->s->f.exprs};
  for (bool more = true; more && longest_sum(&z, j->s->g->top) > terms_most;) {
    more = false;
    for (int k = 0; k < j->m->n_dims; k++) {
      more |= t->dim[k] > 1;
      t->dim[k] = (t->dim[k] + 1) / 2;
    }
  }
}

static void dims_of(Judge *j, Trial *t) {
  const Made *m = ((const Emitted *)j->s->program)->made;
  for (int k = 0; k < j->m->n_dims; k++) {
    for (uint32_t i = 0; i < m->extents.len; i++)
      if (strcmp(m->extents.at[i]->text, j->m->dim[k]) == 0) t->dim[k] = m->extents.at[i]->value;
    if (t->kind & RESIZED) t->dim[k] += (int64_t)below(&j->rng, 4) - 1;
    if (t->kind & LARGE) t->dim[k] = 5 + below(&j->rng, chance(&j->rng, 20) ? 40 : 15);
    if (t->dim[k] < 0) t->dim[k] = 0;
  }
  if (t->kind & LARGE) dims_bound(j, t);
}

bool emitted_trials(Judge *j) {
  static const struct { const char *word; uint32_t kind;
  } kinds[] = {{"defaults", 0}, {"given", GIVEN}, {"any integers", GIVEN | WILD}, {"other sizes", GIVEN | RESIZED},
      {"large sizes", GIVEN | LARGE}};
  const Emitted *p = j->s->program;
  for (size_t k = 0; k < COUNT(kinds); k++) {
    Trial *t = NEW(j->s->arena, Trial);
    t->word = kinds[k].word, t->kind = kinds[k].kind;
    if ((t->kind & WILD && !p->whole) || (t->kind & (RESIZED | LARGE) && !j->m->n_dims) ||
        (t->kind & LARGE && p->small))
      continue;
    dims_of(j, t);
    if (!trial(j, t)) return false;
  }
  return true;
}

bool emitted_after(Judge *j, int context, View *in, View *out) {
  bool wrong = context == 2 && j->t->kind & GIVEN && !(j->t->kind & WILD);
  return !wrong || wrong_calls(j, in, out);
}
