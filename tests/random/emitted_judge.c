/* tests/random/emitted_judge.c - one program: with its defaults, with inputs given, with integers of any size where there
 * are no floats, and with other sizes where those are open. graph_eval says what each trial gives; three contexts
 * (one thread, two, and calls backwards by the caller) must give it for dense views and for odd ones, bit by bit
 * the same among themselves. Each context is planned again for each trial. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../compiler/graph/passes.h"
#include "emitted.h"

enum { CONTEXTS = 3, MOST_DIMS = 16 };

typedef struct Trial {
  const char *word;
  bool given, wild, resized, large;
  int64_t dim[MOST_DIMS];
  EvalArray *input; int *flat; bool *left_out; /* in the model's order; flat: an axis along which all is equal, or -1 */
  Eval e;
  EvalStatus status;
  const char *error;
  Eval low; bool low_known;  /* the graph as it went to tasks, where that is asked for */
} Trial;

typedef struct Judge {
  Subject *s;
  const ein_model *m;
  Count *n;
  Rng rng;
  void *ctx[CONTEXTS];
  Trial *t;
  EvalArray *seen[2];        /* what the first context gave, dense and not */
} Judge;

/* ---- contexts ------------------------------------------------------------------------------------ */

static void *memory_get(void *user, size_t bytes, size_t alignment) {
  void *p = NULL;
  (void)user;
  if (posix_memalign(&p, alignment, bytes)) return NULL;
  memset(p, 0xA5, bytes); /* nothing may count on zeros */
  return p;
}

static void memory_drop(void *user, void *p, size_t bytes) {
  (void)user, (void)bytes;
  free(p);
}

static void backwards(void *user, int threads, ein_task *task, void *env, int64_t n) {
  (void)user;
  for (int64_t i = n; i-- > 0;) task(env, i, (int)(i % threads));
}

static bool contexts_make(Judge *j) {
  ein_config c[CONTEXTS] = {{.size = sizeof *c, .threads = 1},
                            {.size = sizeof *c, .threads = 2, .alloc = memory_get, .release = memory_drop},
                            {.size = sizeof *c, .threads = 3, .parallel = backwards}};
  for (int k = 0; k < CONTEXTS; k++)
    if (j->m->create(&c[k], &j->ctx[k]) != EIN_OK) return say(&j->s->v, "create fails", "");
  return true;
}

/* ---- inputs --------------------------------------------------------------------------------------- */

static const Tensor *tensor_named(const Made *m, const char *name) {
  for (uint32_t i = 0; i < m->tensors.len; i++)
    if (strcmp(m->tensors.at[i]->name, name) == 0) return m->tensors.at[i];
  return NULL;
}

static int64_t any_integer(Rng *r, DType t, bool wild) {
  static const int64_t odd[] = {INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, -128, 127, -32768, 255, -1, 0, 1, 2};
  if (t == DT_BOOL) return below(r, 2);
  if (!wild || chance(r, 40)) return t == DT_U8 ? below(r, 8) : (int64_t)below(r, 11) - 3;
  if (chance(r, 40)) return odd[below(r, COUNT(odd))];
  return (int64_t)((uint64_t)below(r, 1u << 16) << 48 ^ (uint64_t)below(r, 1u << 24) << 24 ^ below(r, 1u << 24));
}

/* As the defaults are: of small integers, quarters where those are not, and infinities where they are there. */
static double any_real(Rng *r, const Tensor *t) {
  double x = (double)below(r, 11) - 3;
  if (t && t->num.wild && chance(r, 20)) return chance(r, 50) ? NAN : x > 0 ? INFINITY : -INFINITY;
  return t && !t->num.grid ? x / 4 : x;
}

static void element_put(EvalArray *x, int64_t k, int64_t i, double f) {
  switch (x->dtype) {
    case DT_F64: ((double *)x->data)[k] = f; return;
    case DT_F32: ((float *)x->data)[k] = (float)f; return;
    case DT_F16: ((uint16_t *)x->data)[k] = ein_f32_to_f16((float)f); return;
    case DT_BF16: ((uint16_t *)x->data)[k] = ein_f32_to_bf16((float)f); return;
    case DT_I64: ((int64_t *)x->data)[k] = i; return;
    case DT_I32: ((int32_t *)x->data)[k] = (int32_t)i; return;
    case DT_I16: ((int16_t *)x->data)[k] = (int16_t)i; return;
    case DT_I8: ((int8_t *)x->data)[k] = (int8_t)i; return;
    case DT_U8: case DT_BOOL: ((uint8_t *)x->data)[k] = (uint8_t)i; return;
    default: return;
  }
}

static DType dtype_of(ein_dtype t) {
  for (int k = 0; k < DTYPES; k++)
    if (ein_of_dtype[k] == t) return (DType)k;
  return DTYPES;
}

/* Where in the row-major array the element stands that gives k its value: the first along the flat axis. */
static int64_t element_source(const EvalArray *x, int flat, int64_t k) {
  int64_t step = 1;
  if (flat < 0) return k;
  for (uint32_t a = x->rank; a-- > (uint32_t)flat + 1;) step *= x->shape[a];
  return k - k / step % x->shape[flat] * step;
}

static void input_make(Judge *j, int i) {
  Trial *t = j->t;
  const ein_argument *g = &j->m->input[i];
  const Tensor *of = tensor_named(j->s->made, g->name);
  EvalArray x = {.dtype = dtype_of(g->dtype), .rank = (uint32_t)g->ndim, .count = 1};
  x.shape = NEW_ARRAY(j->s->arena, int64_t, g->ndim + 1);
  j->m->shape(j->ctx[0], 0, i, x.shape);
  for (uint32_t k = 0; k < x.rank; k++) x.count *= x.shape[k];
  x.data = arena_alloc(j->s->arena, (size_t)x.count * 8 + 8);
  t->flat[i] = x.rank && chance(&j->rng, 20) ? (int)below(&j->rng, x.rank) : -1;
  size_t size = (size_t)dtype_size(x.dtype);
  for (int64_t k = 0; k < x.count; k++) {
    int64_t from = element_source(&x, t->flat[i], k);
    if (from == k) element_put(&x, k, any_integer(&j->rng, x.dtype, t->wild), any_real(&j->rng, of));
    else memcpy((char *)x.data + (size_t)k * size, (char *)x.data + (size_t)from * size, size);
  }
  t->left_out[i] = !t->given || chance(&j->rng, 10);
  t->input[i] = x;
}

static void inputs_make(Judge *j) {
  Trial *t = j->t;
  size_t n = (size_t)j->m->n_inputs + 1;
  t->input = NEW_ARRAY(j->s->arena, EvalArray, n);
  t->flat = NEW_ARRAY(j->s->arena, int, n);
  t->left_out = NEW_ARRAY(j->s->arena, bool, n);
  for (int i = 0; i < j->m->n_inputs; i++) input_make(j, i);
}

/* ---- what graph_eval says ------------------------------------------------------------------------- */

static bool some_time(void *ctx) {
  return ++*(int *)ctx < 20000;
}

static EvalStatus compute(Judge *j, const EinGraph *g, Eval *e) {
  Trial *t = j->t;
  Arena *a = j->s->arena;
  Place place;
  int polls = 0;
  EvalDim *dim = NEW_ARRAY(a, EvalDim, MOST_DIMS);
  EvalInput *input = NEW_ARRAY(a, EvalInput, j->m->n_inputs + 1);
  *e = (Eval){.arena = a, .graph = g, .dim = dim, .input = input, .max_bytes = 1 << 22, .keep_going = some_time, .ctx = &polls};
  for (int k = 0; k < j->m->n_dims; k++) dim[e->n_dim++] = (EvalDim){str_from(j->s->f.strings, j->m->dim[k]), t->dim[k]};
  for (int i = 0; t->input && i < j->m->n_inputs; i++)
    if (!t->left_out[i]) input[e->n_input++] = (EvalInput){str_from(j->s->f.strings, j->m->input[i].name), t->input[i]};
  t->error = "";
  bug_where = "graph_eval";
  EvalStatus st = graph_eval(e, &t->error, &place);
  bug_where = NULL;
  return st;
}

/* What no answer needs may fail in eval alone. */
static void trial_compute(Judge *j) {
  Trial *t = j->t;
  t->status = compute(j, j->s->g, &t->e);
  if (t->status == EVAL_RANGE || t->status == EVAL_ASSERT)
    t->status = compute(j, graph_dead(j->s->arena, j->s->low, NULL), &t->e);
  if (t->status != EVAL_OK) j->n->failed++;
}

/* A factor taken out of a sum: inf * (1 - 2) is -inf, inf * 1 - inf * 2 is no number. So where there are infinities,
 * what the graph says that is optimised is right too. */
static const EvalArray *other_answer(Judge *j, int k) {
  Trial *t = j->t;
  if (j->s->low == j->s->g) return NULL;
  if (!t->low_known && compute(j, j->s->low, &t->low) != EVAL_OK) return NULL;
  t->low_known = true;
  return &t->low.output[k];
}

/* ---- comparing ------------------------------------------------------------------------------------ */

static double largest(const EvalArray *x) {
  double most = 0;
  for (int64_t k = 0; k < x->count; k++)
    if (isfinite(eval_real(x, k))) most = fmax(most, fabs(eval_real(x, k)));
  return most;
}

static double allowed(const Judge *j, const EvalArray *x, const char *name) {
  static const double step[DTYPES] = {[DT_F64] = 1e-10, [DT_F32] = 1e-4, [DT_F16] = 1.0 / 1024, [DT_BF16] = 1.0 / 128};
  const Tensor *t = tensor_named(j->s->made, name);
  bool other = j->t->resized || j->t->large || j->s->large; /* sizes for which the noise is not known: what was exact may be rounded, */
  double most = largest(x), noise = t ? t->num.noise : 0;
  if (other && noise > 0) noise = fmax(noise, noise / t->num.mag * most);
  return fmax(fmax(step[x->dtype], other ? step[DT_F32] : 0) * most, noise * (other ? 64 : 16)); /* in f32 on the way */
}

static bool near(double x, double y, double most) {
  if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
  return x == y || fabs(x - y) <= most;
}

static bool differs(Judge *j, const char *where, const char *name, int64_t k, const EvalArray *x, const EvalArray *y) {
  Arena *a = j->s->arena;
  bool real = dtype_is_float(x->dtype);
  Buf b = buf_new(a);
  buf_printf(&b, "%s: %s, element %lld: ", where, name, (long long)k);
  if (real) buf_printf(&b, "eval %.17g, C %.17g", eval_real(x, k), eval_real(y, k));
  else buf_printf(&b, "eval %lld, C %lld", (long long)eval_int(x, k), (long long)eval_int(y, k));
  return say(&j->s->v, real ? "floats differ" : "integers differ", b.s);
}

static bool answer_right(Judge *j, const char *where, int at, const EvalArray *x, const EvalArray *y) {
  const char *name = j->m->output[at].name;
  bool real = dtype_is_float(x->dtype);
  double most = real ? allowed(j, x, name) : 0;
  if (x->dtype != y->dtype || x->rank != y->rank || x->count != y->count) return say(&j->s->v, "an output of another type", name);
  for (uint32_t d = 0; d < x->rank; d++)
    if (x->shape[d] != y->shape[d]) return say(&j->s->v, "an output of another shape", name);
  for (int64_t k = 0; k < x->count; k++) {
    bool ok = real ? near(eval_real(x, k), eval_real(y, k), most) : eval_int(x, k) == eval_int(y, k);
    if (!ok && real && !isfinite(eval_real(x, k) + eval_real(y, k))) {
      const EvalArray *z = other_answer(j, at);
      ok = z && z->count == x->count && near(eval_real(z, k), eval_real(y, k), most);
    }
    if (!ok) return differs(j, where, name, k, x, y);
  }
  j->n->elements += (uint64_t)x->count;
  return true;
}

static bool bits_same(Judge *j, const char *where, const char *name, const EvalArray *x, const EvalArray *y) {
  if (x->count == y->count && memcmp(x->data, y->data, (size_t)x->count * (size_t)dtype_size(x->dtype)) == 0) return true;
  return say(&j->s->v, "the bits depend on the threads", arena_printf(j->s->arena, "%s: %s", where, name));
}

static bool outputs_right(Judge *j, const char *where, int c, int odd, const View *out) {
  Arena *a = j->s->arena;
  EvalArray *got = NEW_ARRAY(a, EvalArray, j->m->n_outputs + 1);
  for (int k = 0; k < j->m->n_outputs; k++) {
    const char *name = j->m->output[k].name;
    if (strcmp(name, j->s->g->outputs.at[k].name->s) != 0) return say(&j->s->v, "outputs in another order", name);
    got[k] = view_get(&out[k], a);
    if (!view_gaps_kept(&out[k], a)) return say(&j->s->v, "something is written between the elements", name);
    if (!answer_right(j, where, k, &j->t->e.output[k], &got[k])) return false;
    if (c && !bits_same(j, where, name, &j->seen[odd][k], &got[k])) return false;
  }
  if (!c) j->seen[odd] = got;
  return true;
}

/* ---- running -------------------------------------------------------------------------------------- */

static bool expected(EvalStatus e, ein_status s) {
  switch (e) {
    case EVAL_OK: return s == EIN_OK;
    case EVAL_RANGE: return s == EIN_ERR_INDEX;
    case EVAL_ASSERT: return s == EIN_ERR_ASSERT;
    case EVAL_SHAPE: return s == EIN_ERR_ASSERT || s == EIN_ERR_SHAPE;
    default: return false;
  }
}

static bool other_end(Judge *j, const char *where, int c, ein_status st) {
  Arena *a = j->s->arena;
  return say(&j->s->v, arena_printf(a, "eval ends with %d, C with %d", (int)j->t->status, (int)st),
             arena_printf(a, "%s: eval: %s; C: %s", where, j->t->status ? j->t->error : "well", j->m->last_error(j->ctx[c])));
}

static void views_of_inputs(Judge *j, View *in, bool dense) {
  for (int i = 0; i < j->m->n_inputs; i++) {
    const EvalArray *x = &j->t->input[i];
    view_make(&in[i], x->dtype, x->rank, x->shape, dense, j->t->flat[i], &j->rng);
    view_put(&in[i], x);
  }
}

static void views_of_outputs(Judge *j, int c, View *out, bool dense) {
  int64_t shape[EIN_MAX_AXES] = {0};
  for (int k = 0; k < j->m->n_outputs; k++) {
    j->m->shape(j->ctx[c], 1, k, shape);
    view_make(&out[k], dtype_of(j->m->output[k].dtype), (uint32_t)j->m->output[k].ndim, shape, dense, -1, &j->rng);
  }
}

static bool run(Judge *j, int c, bool odd, View *in, View *out) {
  Arena *a = j->s->arena;
  ein_tensor *x = NEW_ARRAY(a, ein_tensor, j->m->n_inputs + 1), *y = NEW_ARRAY(a, ein_tensor, j->m->n_outputs + 1);
  const char *where = arena_printf(a, "%s, context %d, %s", j->t->word, c, odd ? "odd views" : "dense views");
  for (int i = 0; i < j->m->n_inputs; i++) {
    x[i] = in[i].t;
    if (j->t->left_out[i]) x[i].data = NULL;
  }
  for (int k = 0; k < j->m->n_outputs; k++) y[k] = out[k].t;
  ein_status st = j->m->run(j->ctx[c], x, y);
  j->n->runs++;
  if (!expected(j->t->status, st)) return other_end(j, where, c, st);
  return st != EIN_OK || outputs_right(j, where, c, odd, out);
}

static bool run_with_views(Judge *j, int c, bool odd) {
  View *in = NEW_ARRAY(j->s->arena, View, j->m->n_inputs + 1), *out = NEW_ARRAY(j->s->arena, View, j->m->n_outputs + 1);
  views_of_inputs(j, in, !odd);
  views_of_outputs(j, c, out, !odd);
  bool ok = run(j, c, odd, in, out);
  if (ok && c == 2 && j->t->given && !j->t->wild)
    ok = wrong_calls(j->s, j->m, j->t->dim, in, out, &j->rng, j->n);
  for (int i = 0; i < j->m->n_inputs; i++) view_drop(&in[i]);
  for (int k = 0; k < j->m->n_outputs; k++) view_drop(&out[k]);
  return ok;
}

static bool trial(Judge *j, Trial *t) {
  j->t = t;
  for (int c = 0; c < CONTEXTS; c++) {
    ein_status st = j->m->plan(j->ctx[c], t->dim);
    if (!c && st == EIN_OK) inputs_make(j);
    if (!c) trial_compute(j);
    if (t->status == EVAL_STOPPED || t->status == EVAL_MEMORY) return j->n->skipped++, true;
    bool refused = t->status == EVAL_SHAPE;
    if ((st != EIN_OK) != refused || (refused && !expected(t->status, st))) return other_end(j, t->word, c, st);
    if (st == EIN_OK && (!run_with_views(j, c, false) || !run_with_views(j, c, true))) return false;
  }
  return true;
}

/* ---- the trials ----------------------------------------------------------------------------------- */

static void dims_of(Judge *j, Trial *t) {
  for (int k = 0; k < j->m->n_dims && k < MOST_DIMS; k++) {
    for (uint32_t i = 0; i < j->s->made->extents.len; i++)
      if (strcmp(j->s->made->extents.at[i]->text, j->m->dim[k]) == 0) t->dim[k] = j->s->made->extents.at[i]->value;
    if (t->resized) t->dim[k] += (int64_t)below(&j->rng, 4) - 1;
    if (t->large) t->dim[k] = 5 + below(&j->rng, chance(&j->rng, 20) ? 40 : 15);
    if (t->dim[k] < 0) t->dim[k] = 0;
  }
}

static bool trials(Judge *j) {
  static const Trial kinds[] = {{.word = "defaults"}, {.word = "given", .given = true},
                                {.word = "any integers", .given = true, .wild = true},
                                {.word = "other sizes", .given = true, .resized = true},
                                {.word = "large sizes", .given = true, .large = true}};
  for (size_t k = 0; k < COUNT(kinds); k++) {
    Trial *t = arena_copy(j->s->arena, &kinds[k], sizeof kinds[k]);
    if ((t->wild && !j->s->whole) || ((t->resized || t->large) && !j->m->n_dims)) continue;
    dims_of(j, t);
    if (!trial(j, t)) return false;
  }
  return true;
}

bool subject_judge(Subject *s, const ein_model *m, Count *n) {
  Judge j = {.s = s, .m = m, .n = n, .rng = {s->seed * 31 + 7}};
  if (!m) return say(&s->v, "there is no model", "");
  if (m->n_dims > MOST_DIMS || (uint32_t)m->n_outputs != s->g->outputs.len) return say(&s->v, "another number of outputs", "");
  bool ok = contexts_make(&j) && trials(&j);
  for (int c = 0; c < CONTEXTS; c++)
    if (j.ctx[c]) m->destroy(j.ctx[c]);
  n->symbolic += m->n_dims > 0;
  return ok;
}
