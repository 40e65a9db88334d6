/* tests/harness/judge.c - one program: graph_eval says what a trial gives; one thread, two, and calls backwards by
 * three of the caller's must give it for dense views and for odd ones, bit by bit the same whatever the threads, and
 * touch nothing else. */
#include <math.h>
#include <string.h>

#include "harness.h"

/* ---- contexts ------------------------------------------------------------------------------------ */

static void *memory_get(void *user, size_t bytes, size_t alignment) {
  Memory *m = user;
  for (int k = 0; k < BLOCKS_MOST; k++) {
    if (m->block[k].base) continue;
    pages_make(&m->block[k], bytes, alignment, chance(&m->rng, 30));
    return m->block[k].at;
  }
  return NULL;
}

static void memory_drop(void *user, void *p, size_t bytes) {
  Memory *m = user;
  (void)bytes;
  for (int k = 0; k < BLOCKS_MOST; k++)
    if (m->block[k].base && m->block[k].at == p) {
      pages_drop(&m->block[k]);
      return;
    }
}

static bool memory_kept(const Memory *m) {
  for (int k = 0; k < BLOCKS_MOST; k++)
    if (m->block[k].base && !pages_kept(&m->block[k])) return false;
  return true;
}

static void backwards(void *user, int threads, ein_task *task, void *env, int64_t n) {
  (void)user;
  for (int64_t i = n; i-- > 0;) task(env, i, (int)(i % threads));
}

static bool contexts_make(Judge *j) {
  ein_config c[CONTEXTS] = {{.size = sizeof *c, .threads = 1},
      {.size = sizeof *c, .threads = 2, .alloc = memory_get, .release = memory_drop, .user = &j->memory},
      {.size = sizeof *c, .threads = 3, .parallel = backwards}};
  for (int k = 0; k < CONTEXTS; k++)
    if (j->m->create(&c[k], &j->ctx[k]) != EIN_OK) return say(&j->s->v, "create fails", "");
  return true;
}

/* ---- inputs --------------------------------------------------------------------------------------- */

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

/* Where in the row-major array the element stands that gives k its value: the first along the flat axis. */
static int64_t element_source(const EvalArray *x, int flat, int64_t k) {
  int64_t step = 1;
  if (flat < 0) return k;
  for (uint32_t a = x->rank; a-- > (uint32_t)flat + 1;) step *= x->shape[a];
  return k - k / step % x->shape[flat] * step;
}

void input_fill(Judge *j, int i, const void *of, DType t, uint32_t rank, const int64_t *shape, uint32_t flat) {
  const Test *test = j->s->w->test;
  EvalArray x = {.dtype = t, .rank = rank, .count = 1, .shape = arena_copy(j->s->arena, shape, rank * sizeof *shape)};
  for (uint32_t k = 0; k < rank; k++) x.count *= shape[k];
  x.data = arena_alloc(j->s->arena, (size_t)x.count * 8 + 8);
  j->t->flat[i] = rank && chance(&j->rng, flat) ? (int)below(&j->rng, rank) : -1;
  size_t size = (size_t)dtype_size(t);
  for (int64_t k = 0; k < x.count; k++) {
    int64_t from = element_source(&x, j->t->flat[i], k);
    if (from != k) memcpy((char *)x.data + (size_t)k * size, (char *)x.data + (size_t)from * size, size);
    else if (dtype_is_float(t)) element_put(&x, k, 0, test->real(j, of));
    else element_put(&x, k, test->integer(j, of, t), 0);
  }
  j->t->input[i] = x;
}

/* ---- what graph_eval says ------------------------------------------------------------------------- */

typedef struct Polls { int now, most; } Polls;

static bool some_time(void *ctx) {
  Polls *p = ctx;
  return ++p->now < p->most;
}

EvalStatus trial_eval(Judge *j, const EinGraph *g, Eval *e) {
  const Test *test = j->s->w->test;
  Trial *t = j->t;
  Arena *a = j->s->arena;
  Place place;
  Polls polls = {0, test->eval_polls};
  EvalDim *dim = NEW_ARRAY(a, EvalDim, DIMS_MOST);
  EvalInput *input = NEW_ARRAY(a, EvalInput, j->m->n_inputs + 1);
  *e = (Eval){.arena = a, .graph = g, .dim = dim, .input = input, .max_bytes = test->eval_bytes, .ctx = &polls};
  e->keep_going = polls.most ? some_time : NULL;
  for (int k = 0; k < j->m->n_dims; k++)
    dim[e->n_dim++] = (EvalDim){str_from(j->s->f.strings, j->m->dim[k]), t->dim[k]};
  for (int i = 0; i < j->m->n_inputs; i++)
    if (!t->left_out[i]) input[e->n_input++] = (EvalInput){str_from(j->s->f.strings, j->m->input[i].name), t->input[i]};
  t->error = "";
  bug_where = "graph_eval";
  EvalStatus st = graph_eval(e, &t->error, &place);
  bug_where = NULL;
  return st;
}

/* ---- comparing ------------------------------------------------------------------------------------ */

double largest(const EvalArray *x) {
  double most = 0;
  for (int64_t k = 0; k < x->count; k++)
    if (isfinite(eval_real(x, k))) most = fmax(most, fabs(eval_real(x, k)));
  return most;
}

static bool near(double x, double y, double most) {
  if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
  return x == y || fabs(x - y) <= most;
}

static bool element_near(const EvalArray *x, const EvalArray *y, int64_t k, double most) {
  return dtype_is_float(x->dtype) ? near(eval_real(x, k), eval_real(y, k), most) : eval_int(x, k) == eval_int(y, k);
}

static bool differs(Judge *j, const char *where, const char *name, int64_t k, const EvalArray *x, const EvalArray *y) {
  bool real = dtype_is_float(x->dtype);
  int64_t wrong = 0, step = x->count, at = k;
  for (int64_t i = 0; i < x->count; i++) wrong += !element_near(x, y, i, 0);
  Buf b = buf_new(j->s->arena);
  buf_printf(&b, "%s: %s, element %lld of %lld, [", where, name, (long long)k, (long long)x->count);
  for (uint32_t d = 0; d < x->rank; d++) {
    step /= x->shape[d];
    buf_printf(&b, "%s%lld", d ? "," : "", (long long)(at / step));
    at %= step;
  }
  if (real) buf_printf(&b, "]: eval %.17g, C %.17g", eval_real(x, k), eval_real(y, k));
  else buf_printf(&b, "]: eval %lld, C %lld", (long long)eval_int(x, k), (long long)eval_int(y, k));
  buf_printf(&b, "; %lld differ", (long long)wrong);
  return say(&j->s->v, real ? "floats differ" : "integers differ", b.s);
}

/* A factor taken out of a sum: inf * (1 - 2) is -inf, inf * 1 - inf * 2 is no number. */
static bool also_right(Judge *j, int at, const EvalArray *x, const EvalArray *y, int64_t k, double most) {
  const Test *test = j->s->w->test;
  if (!test->other || !dtype_is_float(x->dtype) || isfinite(eval_real(x, k) + eval_real(y, k))) return false;
  const EvalArray *z = test->other(j, at);
  return z && z->count == x->count && element_near(z, y, k, most);
}

static bool answer_right(Judge *j, const char *where, int at, const EvalArray *x, const EvalArray *y) {
  const char *name = j->m->output[at].name;
  if (strcmp(name, j->s->g->outputs.at[at].name->s) != 0) return say(&j->s->v, "outputs in another order", name);
  if (x->dtype != y->dtype || x->rank != y->rank || x->count != y->count)
    return say(&j->s->v, "an output of another type", name);
  for (uint32_t d = 0; d < x->rank; d++)
    if (x->shape[d] != y->shape[d]) return say(&j->s->v, "an output of another shape", name);
  double most = j->s->w->test->allowed(j, at, x);
  if (most < 0) return true;
  for (int64_t k = 0; k < x->count; k++)
    if (!element_near(x, y, k, most) && !also_right(j, at, x, y, k, most)) return differs(j, where, name, k, x, y);
  j->n->elements += (uint64_t)x->count;
  j->n->exact += most > 0 ? 0 : (uint64_t)x->count;
  return true;
}

static bool outputs_right(Judge *j, const char *where, bool dense, const View *out) {
  Arena *a = j->s->arena;
  EvalArray *got = NEW_ARRAY(a, EvalArray, j->m->n_outputs + 1);
  for (int k = 0; k < j->m->n_outputs; k++) {
    const char *name = j->m->output[k].name;
    if (!view_kept(&out[k], a))
      return say(&j->s->v, "something is written beside the elements", arena_printf(a, "%s: %s", where, name));
    got[k] = view_get(&out[k], a);
    if (!answer_right(j, where, k, &j->t->want[k], &got[k])) return false;
    size_t bytes = (size_t)got[k].count * (size_t)dtype_size(got[k].dtype);
    if (j->seen[dense] && memcmp(j->seen[dense][k].data, got[k].data, bytes) != 0)
      return say(&j->s->v, "the bits depend on the threads", arena_printf(a, "%s: %s", where, name));
  }
  j->seen[dense] = got;
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

static bool run(Judge *j, int c, bool dense, View *in, View *out) {
  Arena *a = j->s->arena;
  ein_tensor *x = NEW_ARRAY(a, ein_tensor, j->m->n_inputs + 1), *y = NEW_ARRAY(a, ein_tensor, j->m->n_outputs + 1);
  char **was = NEW_ARRAY(a, char *, j->m->n_inputs + 1);
  const char *where = arena_printf(a, "%s, context %d, %s", j->t->word, c, dense ? "dense views" : "odd views");
  for (int i = 0; i < j->m->n_inputs; i++) {
    x[i] = in[i].t;
    if (j->t->left_out[i]) x[i].data = NULL;
    was[i] = arena_copy(a, in[i].memory.at, in[i].memory.bytes);
  }
  for (int k = 0; k < j->m->n_outputs; k++) y[k] = out[k].t;
  ein_status st = j->m->run(j->ctx[c], x, y);
  j->n->runs++;
  if (!expected(j->t->status, st)) return other_end(j, where, c, st);
  for (int i = 0; i < j->m->n_inputs; i++)
    if (memcmp(was[i], in[i].memory.at, in[i].memory.bytes) != 0 || !pages_kept(&in[i].memory))
      return say(&j->s->v, "an input is written to", arena_printf(a, "%s: %s", where, j->m->input[i].name));
  if (!memory_kept(&j->memory)) return say(&j->s->v, "something is written beside the workspace", where);
  return st != EIN_OK || outputs_right(j, where, dense, out);
}

static void views_make(Judge *j, int c, bool dense, View *in, View *out) {
  int64_t shape[EIN_MAX_AXES] = {0};
  for (int i = 0; i < j->m->n_inputs; i++) {
    const EvalArray *x = &j->t->input[i];
    view_make(&in[i], x->dtype, x->rank, x->shape, dense, j->t->flat[i], &j->rng);
    view_put(&in[i], x);
  }
  for (int k = 0; k < j->m->n_outputs; k++) {
    j->m->shape(j->ctx[c], 1, k, shape);
    view_make(&out[k], dtype_from(j->m->output[k].dtype), (uint32_t)j->m->output[k].ndim, shape, dense, -1, &j->rng);
  }
}

static bool run_with_views(Judge *j, int c, bool dense) {
  const Test *test = j->s->w->test;
  View *in = NEW_ARRAY(j->s->arena, View, j->m->n_inputs + 1), *out = NEW_ARRAY(j->s->arena, View, j->m->n_outputs + 1);
  views_make(j, c, dense, in, out);
  bool ok = run(j, c, dense, in, out) && (!test->after || test->after(j, c, in, out));
  for (int i = 0; i < j->m->n_inputs; i++) pages_drop(&in[i].memory);
  for (int k = 0; k < j->m->n_outputs; k++) pages_drop(&out[k].memory);
  return ok;
}

static bool runs(Judge *j, int c) {
  if (c && !j->s->w->test->both) return run_with_views(j, c, chance(&j->rng, 40));
  return run_with_views(j, c, true) && run_with_views(j, c, false);
}

/* Each context is planned again for each trial. */
bool trial(Judge *j, Trial *t) {
  const Test *test = j->s->w->test;
  size_t n = (size_t)j->m->n_inputs + 1;
  j->t = t;
  j->seen[0] = j->seen[1] = NULL;
  t->input = NEW_ARRAY(j->s->arena, EvalArray, n);
  t->flat = NEW_ARRAY(j->s->arena, int, n);
  t->left_out = NEW_ARRAY(j->s->arena, bool, n);
  for (int c = 0; c < CONTEXTS; c++) {
    ein_status st = j->m->plan(j->ctx[c], t->dim);
    for (int i = 0; !c && i < j->m->n_inputs; i++) test->input(j, i, st == EIN_OK);
    if (!c && !test->answer(j)) return false;
    if (t->status == EVAL_STOPPED || t->status == EVAL_MEMORY) return j->n->skipped++, true;
    bool refused = t->status == EVAL_SHAPE;
    if ((st != EIN_OK) != refused || (refused && !expected(t->status, st))) return other_end(j, t->word, c, st);
    if (refused) j->n->refused++;
    else if (!runs(j, c)) return false;
  }
  return true;
}

bool subject_judge(Subject *s, const ein_model *m, Count *n) {
  Judge j = {.s = s, .m = m, .n = n, .rng = {s->seed * 31 + 7}};
  if (!m) return say(&s->v, "there is no model", "");
  if (m->n_dims > DIMS_MOST || (uint32_t)m->n_outputs != s->g->outputs.len)
    return say(&s->v, "another number of outputs", "");
  j.memory.rng = j.rng;
  bool ok = contexts_make(&j) && s->w->test->trials(&j);
  for (int c = 0; c < CONTEXTS; c++)
    if (j.ctx[c]) m->destroy(j.ctx[c]);
  n->open += m->n_dims > 0;
  return ok;
}
