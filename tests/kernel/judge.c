/* tests/kernel/judge.c - one program: graph_eval says what its inputs give; one thread, two, and calls backwards by three of
 * the caller's must give it for dense views and for odd ones, bit by bit the same whatever the threads, and touch nothing else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

enum { CONTEXTS = 3, MOST_DIMS = 32, MOST_BLOCKS = 16 };

typedef struct Memory { Pages block[MOST_BLOCKS]; Rng rng; } Memory; /* what a context asked for */

typedef struct Judge {
  Subject *s;
  const ein_model *m;
  Count *n;
  Rng rng;
  void *ctx[CONTEXTS];
  Memory memory;
  bool other;                /* open sizes have their other value */
  int64_t dim[MOST_DIMS];
  EvalArray *input;
  int *flat;                 /* an axis along which all is equal, or -1 */
  EvalArray *want;           /* eval's */
  EvalArray *seen[2];        /* what the first run gave, with odd views and with dense ones: those are compiled apart */
} Judge;

/* ---- contexts ------------------------------------------------------------------------------------ */

static void *memory_get(void *user, size_t bytes, size_t alignment) {
  Memory *m = user;
  for (int k = 0; k < MOST_BLOCKS; k++) {
    if (m->block[k].base) continue;
    pages_make(&m->block[k], bytes, alignment, chance(&m->rng, 30));
    return m->block[k].at;
  }
  return NULL;
}

static void memory_drop(void *user, void *p, size_t bytes) {
  Memory *m = user;
  (void)bytes;
  for (int k = 0; k < MOST_BLOCKS; k++)
    if (m->block[k].base && m->block[k].at == p) {
      pages_drop(&m->block[k]);
      return;
    }
}

static bool memory_kept(const Memory *m) {
  for (int k = 0; k < MOST_BLOCKS; k++)
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

static const Tensor *tensor_named(const Case *c, const char *name) {
  for (uint32_t i = 0; i < c->tensors.len; i++)
    if (strcmp(c->tensors.at[i]->name, name) == 0) return c->tensors.at[i];
  return NULL;
}

static int64_t any_integer(Judge *j, const Tensor *t) {
  static const int64_t odd[] = {INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, -128, 127, -32768, 255, -1, 0, 1, 2};
  Rng *r = &j->rng;
  if (t->dtype == DT_BOOL) return below(r, 2);
  if (t->values == POINTERS) return below(r, (uint32_t)axis_value(&t->range, j->other));
  if (t->values == SIGNS) return t->dtype == DT_U8 || chance(r, 50) ? 1 : -1;
  if (t->values == WIDE && chance(r, 40)) return odd[below(r, COUNT(odd))];
  if (t->values == WIDE) return (int64_t)((uint64_t)below(r, 1u << 16) << 48 ^ (uint64_t)below(r, 1u << 24) << 24 ^ below(r, 1u << 24));
  return t->dtype == DT_U8 ? below(r, 4) : (int64_t)below(r, 7) - 3;
}

static double any_real(Judge *j, const Tensor *t) {
  double x = (double)any_integer(j, t);
  bool odd = t->values == ODD || t->values == VAST;
  if (t->values == VAST && chance(&j->rng, 8)) return (t->dtype == DT_F64 ? 1.5e308 : 3e38) * (chance(&j->rng, 50) ? 1 : -1);
  if (odd && chance(&j->rng, t->values == ODD ? 10 : 1)) return chance(&j->rng, 30) ? NAN : x > 0 ? INFINITY : -INFINITY;
  return x;
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

/* Where in the row-major array the element stands that gives k its value: the first along the flat axis. */
static int64_t element_source(const EvalArray *x, int flat, int64_t k) {
  int64_t step = 1;
  if (flat < 0) return k;
  for (uint32_t a = x->rank; a-- > (uint32_t)flat + 1;) step *= x->shape[a];
  return k - k / step % x->shape[flat] * step;
}

static void input_make(Judge *j, int i) {
  const Tensor *t = tensor_named(j->s->c, j->m->input[i].name);
  EvalArray x = {.dtype = t->dtype, .rank = t->rank, .count = 1};
  x.shape = NEW_ARRAY(j->s->arena, int64_t, t->rank + 1);
  for (uint32_t k = 0; k < t->rank; k++) x.count *= x.shape[k] = axis_value(&t->axis[k], j->other);
  x.data = arena_alloc(j->s->arena, (size_t)x.count * 8 + 8);
  j->flat[i] = x.rank && chance(&j->rng, 7) ? (int)below(&j->rng, x.rank) : -1;
  size_t size = (size_t)dtype_size(x.dtype);
  for (int64_t k = 0; k < x.count; k++) {
    int64_t from = element_source(&x, j->flat[i], k);
    if (from != k) memcpy((char *)x.data + (size_t)k * size, (char *)x.data + (size_t)from * size, size);
    else if (dtype_is_float(x.dtype)) element_put(&x, k, 0, any_real(j, t));
    else element_put(&x, k, any_integer(j, t), 0);
  }
  j->input[i] = x;
}

/* ---- comparing ------------------------------------------------------------------------------------ */

static double largest(const EvalArray *x) {
  double most = 0;
  for (int64_t k = 0; k < x->count; k++)
    if (isfinite(eval_real(x, k))) most = fmax(most, fabs(eval_real(x, k)));
  return most > 0 ? most : 1;
}

/* As far apart as `ein verify` lets them be, of what is rounded; all of it, if something coarse came into it. */
static double allowed(const Judge *j, const EvalArray *x, const Tensor *t) {
  return t->exact && !j->s->c->loose ? 0 : fmax(dtype_grain(x->dtype), j->s->c->grain) * largest(x);
}

static bool near(double x, double y, double most) {
  if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
  return x == y || fabs(x - y) <= most;
}

static bool differs(Judge *j, const char *where, const char *name, int64_t k, const EvalArray *x, const EvalArray *y) {
  bool real = dtype_is_float(x->dtype);
  int64_t wrong = 0;
  for (int64_t i = 0; i < x->count; i++) wrong += real ? !near(eval_real(x, i), eval_real(y, i), 0) : eval_int(x, i) != eval_int(y, i);
  Buf b = buf_new(j->s->arena);
  buf_printf(&b, "%s: %s, element %lld of %lld, [", where, name, (long long)k, (long long)x->count);
  int64_t step = x->count, at = k;
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

static bool answer_right(Judge *j, const char *where, const char *name, const EvalArray *x, const EvalArray *y) {
  const Tensor *t = tensor_named(j->s->c, name);
  bool real = dtype_is_float(x->dtype);
  if (x->dtype != y->dtype || (x->dtype != t->dtype && !j->s->c->loose) || x->rank != y->rank || x->count != y->count)
    return say(&j->s->v, "an output of another type", name);
  for (uint32_t d = 0; d < x->rank; d++)
    if (x->shape[d] != y->shape[d]) return say(&j->s->v, "an output of another shape", name);
  if (!real && !t->exact) return true; /* a rounded value decided it */
  double most = real ? allowed(j, x, t) : 0;
  for (int64_t k = 0; k < x->count; k++)
    if (!(real ? near(eval_real(x, k), eval_real(y, k), most) : eval_int(x, k) == eval_int(y, k))) return differs(j, where, name, k, x, y);
  j->n->elements += (uint64_t)x->count;
  j->n->exact += t->exact ? (uint64_t)x->count : 0;
  return true;
}

static bool outputs_right(Judge *j, const char *where, bool dense, const View *out) {
  Arena *a = j->s->arena;
  EvalArray *got = NEW_ARRAY(a, EvalArray, j->m->n_outputs + 1);
  for (int k = 0; k < j->m->n_outputs; k++) {
    const char *name = j->m->output[k].name;
    if (!view_kept(&out[k], a)) return say(&j->s->v, "something is written beside the elements", arena_printf(a, "%s: %s", where, name));
    got[k] = view_get(&out[k], a);
    if (!answer_right(j, where, name, &j->want[k], &got[k])) return false;
    size_t bytes = (size_t)got[k].count * (size_t)dtype_size(got[k].dtype);
    if (j->seen[dense] && memcmp(j->seen[dense][k].data, got[k].data, bytes) != 0)
      return say(&j->s->v, "the bits depend on the threads", arena_printf(a, "%s: %s", where, name));
  }
  j->seen[dense] = got;
  return true;
}

/* ---- running -------------------------------------------------------------------------------------- */

static bool run(Judge *j, int c, bool dense, View *in, View *out) {
  Arena *a = j->s->arena;
  ein_tensor *x = NEW_ARRAY(a, ein_tensor, j->m->n_inputs + 1), *y = NEW_ARRAY(a, ein_tensor, j->m->n_outputs + 1);
  char **was = NEW_ARRAY(a, char *, j->m->n_inputs + 1);
  const char *where = arena_printf(a, "%s, context %d, %s", j->other ? "other sizes" : "first sizes", c, dense ? "dense views" : "odd views");
  for (int i = 0; i < j->m->n_inputs; i++) {
    x[i] = in[i].t;
    was[i] = arena_copy(a, in[i].memory.at, in[i].memory.bytes);
  }
  for (int k = 0; k < j->m->n_outputs; k++) y[k] = out[k].t;
  ein_status st = j->m->run(j->ctx[c], x, y);
  j->n->runs++;
  if (st != EIN_OK) return say(&j->s->v, arena_printf(a, "C ends with %d", (int)st), arena_printf(a, "%s: %s", where, j->m->last_error(j->ctx[c])));
  for (int i = 0; i < j->m->n_inputs; i++)
    if (memcmp(was[i], in[i].memory.at, in[i].memory.bytes) != 0 || !pages_kept(&in[i].memory))
      return say(&j->s->v, "an input is written to", arena_printf(a, "%s: %s", where, j->m->input[i].name));
  if (!memory_kept(&j->memory)) return say(&j->s->v, "something is written beside the workspace", where);
  return outputs_right(j, where, dense, out);
}

static bool run_with_views(Judge *j, int c, bool dense) {
  View *in = NEW_ARRAY(j->s->arena, View, j->m->n_inputs + 1), *out = NEW_ARRAY(j->s->arena, View, j->m->n_outputs + 1);
  for (int i = 0; i < j->m->n_inputs; i++) {
    const EvalArray *x = &j->input[i];
    view_make(&in[i], x->dtype, x->rank, x->shape, dense, j->flat[i], &j->rng);
    view_put(&in[i], x);
  }
  for (int k = 0; k < j->m->n_outputs; k++) {
    const EvalArray *x = &j->want[k];
    view_make(&out[k], x->dtype, x->rank, x->shape, dense, -1, &j->rng);
  }
  bool ok = run(j, c, dense, in, out);
  for (int i = 0; i < j->m->n_inputs; i++) pages_drop(&in[i].memory);
  for (int k = 0; k < j->m->n_outputs; k++) pages_drop(&out[k].memory);
  return ok;
}

static EvalStatus compute(Judge *j, const char **error) {
  Arena *a = j->s->arena;
  Place place;
  EvalDim *dim = NEW_ARRAY(a, EvalDim, MOST_DIMS);
  EvalInput *input = NEW_ARRAY(a, EvalInput, j->m->n_inputs + 1);
  Eval e = {.arena = a, .graph = j->s->g, .dim = dim, .input = input};
  for (int k = 0; k < j->m->n_dims; k++) dim[e.n_dim++] = (EvalDim){str_from(j->s->f.strings, j->m->dim[k]), j->dim[k]};
  for (int i = 0; i < j->m->n_inputs; i++) input[e.n_input++] = (EvalInput){str_from(j->s->f.strings, j->m->input[i].name), j->input[i]};
  *error = "";
  bug_where = "graph_eval";
  EvalStatus st = graph_eval(&e, error, &place);
  bug_where = NULL;
  j->want = e.output;
  return st;
}

static void dims_find(Judge *j) {
  for (int k = 0; k < j->m->n_dims; k++)
    for (uint32_t i = 0; i < j->s->c->sizes.len; i++) {
      const Size *z = j->s->c->sizes.at[i];
      if (strcmp(z->name, j->m->dim[k]) == 0) j->dim[k] = j->other ? z->other : z->value;
    }
}

static bool trial(Judge *j) {
  const char *error;
  j->seen[0] = j->seen[1] = NULL;
  dims_find(j);
  for (int i = 0; i < j->m->n_inputs; i++) input_make(j, i);
  EvalStatus st = compute(j, &error);
  for (int c = 0; c < CONTEXTS; c++) {
    ein_status planned = j->m->plan(j->ctx[c], j->dim);
    if ((planned == EIN_OK) != (st != EVAL_SHAPE) || (st != EVAL_OK && st != EVAL_SHAPE))
      return say(&j->s->v, arena_printf(j->s->arena, "eval ends with %d, C is planned with %d", (int)st, (int)planned),
                 st ? error : j->m->last_error(j->ctx[c]));
    if (planned != EIN_OK) j->n->refused++;
    else if (!c && (!run_with_views(j, c, true) || !run_with_views(j, c, false))) return false;
    else if (c && !run_with_views(j, c, chance(&j->rng, 40))) return false;
  }
  return true;
}

bool subject_judge(Subject *s, const ein_model *m, Count *n) {
  Judge j = {.s = s, .m = m, .n = n, .rng = {s->c->seed * 31 + 7}};
  if (!m) return say(&s->v, "there is no model", "");
  if (m->n_dims > MOST_DIMS || (uint32_t)m->n_outputs != s->g->outputs.len) return say(&s->v, "another number of outputs", "");
  j.input = NEW_ARRAY(s->arena, EvalArray, m->n_inputs + 1);
  j.flat = NEW_ARRAY(s->arena, int, m->n_inputs + 1);
  j.memory.rng = j.rng;
  bool ok = contexts_make(&j) && trial(&j);
  if (ok && m->n_dims) {
    j.other = true;
    ok = trial(&j);
    n->open++;
  }
  for (int c = 0; c < CONTEXTS; c++)
    if (j.ctx[c]) m->destroy(j.ctx[c]);
  return ok;
}

void judge_alone(const Case *c, const How *how, Judgement *v, Count *n) {
  Arena *a = arena_new();
  Subject *s = NEW(a, Subject);
  Buf why = buf_new(a);
  void *library = subject_make(s, a, c) ? library_make(&s, 1, how, &why) : NULL;
  if (library && subject_judge(s, library_model(library, s), n)) s->v.what[0] = 0;
  else if (!library && !s->v.what[0]) say(&s->v, "the C compiler refuses", why.s);
  *v = s->v;
  arena_free(a);
}
