/* face/function.c - a program as a function of its caller's tensors: read and compiled once, called with views.
 *
 * What a call makes lies in an arena of its own, which the next call frees. Compiled code is given the views as they
 * are; evaluators want tensors in C order, so what lies otherwise is copied for them. */
#include <stdlib.h>
#include <string.h>

#include "driver/compile/native.h"
#include "driver/plan/sites.h"
#include "inside.h"

/* What is for several sites goes by a plan, and a plan is for sizes that are numbers. */
typedef struct Planned { Job job; Exprs *exprs; } Planned;

struct ein_function {
  Session *s;                /* in s->arena lies all that lasts */
  Args a;
  Job job;
  bool compiled;             /* lib is open; else each call goes by run_compute */
  bool c;                    /*   with C, of several sites */
  Library lib;
  const int64_t *dim;        /* the sizes that lib is planned for; NULL: not yet */
  bool late;                 /* of several sites, with sizes that inputs say: planned by a call, */
  Args planning;             /*   with these words */
  const Planned *planned;    /*   for job.dims; NULL: not yet */
  Arena *kept;               /* holds these sizes and that plan */
  int n_in, n_out;
  ein_argument *in, *out;
  Arena *call;               /* of the last one; NULL: there was none, or it left nothing, or that is kept */
  Held said;
  GuestStop stop;
};

struct ein_kept { Arena *arena; };

/* ---- opening --------------------------------------------------------------------------------- */

static ein_argument argument(const char *name, DType t, uint32_t rank, bool optional, bool param) {
  return (ein_argument){name, (ein_dtype)t, (int)rank, optional, param};
}

static void arguments_find(ein_function *f) {
  const EinGraph *g = f->job.graph;
  f->in = NEW_ARRAY(f->s->arena, ein_argument, g->inputs.len + 1);
  f->out = NEW_ARRAY(f->s->arena, ein_argument, g->outputs.len + 1);
  vec_each_of(const EinNode, n, g->inputs)
    f->in[f->n_in++] = argument(n->name->s, n->dtype, n->rank, n->fallback != NULL, n->param);
  vec_each(const EinOutput, o, g->outputs)
    f->out[f->n_out++] = argument(o->name->s, o->node->dtype, o->node->rank, false, false);
}

static Leave words_take(ein_function *f, size_t n, const char *const *word) {
  static const OptionId others[] = {OPT_OUTPUT, OPT_EXPECT, OPT_NP, OPT_PARAMS};
  Session *s = f->s;
  f->a = (Args){.command = CMD_RUN};
  Leave l = args_read(s, &f->a, (uint32_t)n, word);
  for (size_t i = 0; i < COUNT(others) && !l; i++)
    if (arg_has(&f->a, others[i]))
      l = fail(s, LEAVE_USAGE, "--%s: what a function is given and gives are tensors of its caller",
          options[others[i]].name);
  if (!l && f->a.operands.len != 1)
    l = fail(s, LEAVE_USAGE, "one program, please; its inputs are given when it is called");
  return l;
}

static Leave function_compile(ein_function *f) {
  Compiler c;
  int threads;
  f->c = !target_too_wide(f->s, &f->job, &f->a);
  if (!f->c) return LEAVE_OK;
  Leave l = threads_wanted(f->s, &f->a, &threads);
  if (!l) l = compiler_choose(f->s, &f->a, arg_last(&f->a, OPT_CC), arg_last(&f->a, OPT_FLAGS), &c);
  if (!l) l = job_loops(f->s, &f->job, &f->a);
  if (!l) l = library_open(f->s, &f->job, &c, threads, &f->lib);
  f->compiled = !l;
  return l;
}

/* A graph's text has its sizes in it, so inputs cannot say them. */
static bool sizes_open(const Job *j) {
  bool open = false;
  for (uint32_t i = 0; i < j->graph->dims.len; i++) open |= !j->graph->dims.at[i].known;
  return open && j->program;
}

static Leave function_make(ein_function *f, size_t n, const char *const *word) {
  Session *s = f->s;
  Job *j = &f->job;
  Leave l = words_take(f, n, word);
  if (!l) l = job_read(s, j, &f->a, f->a.operands.at[0]);
  if (!l) l = run_target(s, j, &f->a, &f->c);
  if (!l) l = job_dims(s, j, &f->a);
  bool sites = arg_has(&f->a, OPT_SITES);
  int64_t n_sites = 1;
  if (!l) l = sites ? job_graph(s, j, &f->a) : job_graph_open(s, j, &f->a);
  if (!l) arguments_find(f);
  if (!l) l = sites_read(s, &f->a, &n_sites);
  f->late = !l && n_sites > 1 && sizes_open(j);
  f->planning = f->a;
  if (!l && sites && !f->late) l = job_sites(s, j, &f->a, LANG_TASK);
  f->a.given[OPT_SITES].len = 0; /* that is done, or f->planning has it */
  return l || !f->c || f->late || job_of_sites(j) ? l : function_compile(f);
}

typedef struct Opening {
  const ein_session *s;
  const ein_file *file;
  size_t n_files, n_words;
  const char *const *word;
  ein_function *f;           /* with f->s set once the function is there */
  Held *held;
} Opening;

static void function_begin(void *env) {
  Opening *o = env;
  Arena *a = arena_new();
  o->f->s = guest_session(a, o->s, o->file, o->n_files);
  o->f->s->guest->stop = &o->f->stop;
  Leave l = function_make(o->f, o->n_words, words_copy(a, o->word, o->n_words));
  answer_fill(o->f->s, l, &o->held->answer);
}

ein_answer *ein_function_open(
    ein_session *s, const ein_file *file, size_t n_files, const char *const *word, size_t n_words, ein_function **out) {
  Held *h = calloc(1, sizeof *h);
  ein_function *f = h ? calloc(1, sizeof *f) : NULL;
  *out = NULL;
  if (!f) return free(h), answer_none();
  pthread_mutex_init(&f->stop.lock, NULL);
  Opening o = {s, file, n_files, n_words, word, f, h};
  Went went = guarded(function_begin, &o, true, h->why, sizeof h->why);
  if (went) held_fail(h, went);
  if (h->answer.outcome == EIN_DONE) { /* the answer points into what stays as long as the function */
    *out = f;
    h->answer.n_complaints = 0;
    return &h->answer;
  }
  if (!went) h->arena = f->s->arena;
  pthread_mutex_destroy(&f->stop.lock);
  free(f);
  return &h->answer;
}

void ein_function_close(ein_function *f) {
  if (!f) return;
  if (f->compiled) library_close(&f->lib);
  arena_free(f->call);
  arena_free(f->kept);
  arena_free(f->s->arena);
  pthread_mutex_destroy(&f->stop.lock);
  free(f);
}

const ein_argument *ein_function_inputs(const ein_function *f, int *n) {
  *n = f->n_in;
  return f->in;
}

const ein_argument *ein_function_outputs(const ein_function *f, int *n) {
  *n = f->n_out;
  return f->out;
}

static bool reads(const Expr *e, unsigned has) { return e && e->has & has; }

static bool region_steady(const EinRegion *r) {
  vec_each_of(const EinNode, n, r->nodes) {
    if (n->kind == EIN_REPEAT && (n->body->stop || !n->body->turns || !region_steady(n->body))) return false;
    if (n->kind != EIN_VERTEX) continue;
    const EinSum *s = n->sum;
    if (s->by || reads(s->body, HAS_CALL) || reads(s->where, HAS_READ | HAS_CALL) ||
        reads(s->domain, HAS_READ | HAS_CALL))
      return false;
  }
  return true;
}

int ein_function_steady(const ein_function *f) {
  return region_steady(f->job.graph->top);
}

const ein_answer *ein_function_answer(const ein_function *f) {
  return &f->said.answer;
}

/* ---- views ----------------------------------------------------------------------------------- */

typedef struct Call {
  ein_function *f;
  Session *s;
  Job j;
  const ein_tensor *in;
  ein_tensor *out;
  bool keeps;                /* f->kept is of this call: should it not come to its end, the guard frees it */
} Call;

static void kept_forget(ein_function *f) {
  f->dim = NULL;
  f->planned = NULL;
  f->kept = NULL;
}

/* Instead of what was kept. */
static Arena *kept_new(Call *x) {
  Arena *old = x->f->kept;
  kept_forget(x->f);
  arena_free(old);
  x->keeps = true;
  return x->f->kept = arena_new();
}

static bool view_dense(const ein_tensor *t) {
  int64_t step = 1;
  size_t size = (size_t)dtype_size((DType)t->dtype);
  if (((uintptr_t)t->data + t->byte_offset) % size) return false;
  for (int k = t->ndim; t->strides && k-- > 0; step *= t->shape[k])
    if (t->shape[k] != 1 && t->strides[k] != step) return false;
  return true;
}

static char *view_first(const ein_tensor *t) {
  return (char *)t->data + t->byte_offset;
}

/* Between a view and its elements in C order. */
static void view_copy(Arena *a, const ein_tensor *t, int64_t count, char *dense, bool to_view) {
  size_t size = (size_t)dtype_size((DType)t->dtype);
  int64_t *at = NEW_ARRAY(a, int64_t, t->ndim + 1), *stride = NEW_ARRAY(a, int64_t, t->ndim + 1), step = 1;
  for (int k = t->ndim; k-- > 0; step *= t->shape[k]) stride[k] = t->strides ? t->strides[k] : step;
  int64_t place = 0;
  for (int64_t i = 0; i < count; i++) {
    char *x = view_first(t) + place * (int64_t)size, *y = dense + (size_t)i * size;
    memcpy(to_view ? x : y, to_view ? y : x, size);
    for (int k = t->ndim; k-- > 0;) {
      place += stride[k];
      if (++at[k] < t->shape[k]) break;
      place -= at[k] * stride[k];
      at[k] = 0;
    }
  }
}

static Leave view_fits(Session *s, const char *what, const ein_argument *a, const ein_tensor *t) {
  if (t->device_type > 1)
    return fail(s, LEAVE_USAGE, "%s %s: its data are on device %d, and a function takes those of the CPU", what,
        a->name, t->device_type);
  if (t->dtype != a->dtype)
    return fail(s, LEAVE_USAGE, "%s %s: expected %s, found %s", what, a->name, ein_dtype_name(a->dtype),
        ein_dtype_name(t->dtype));
  if (t->ndim != a->ndim)
    return fail(s, LEAVE_USAGE, "%s %s: expected %d axes, found %d", what, a->name, a->ndim, t->ndim);
  return LEAVE_OK;
}

/* Sizes that stand alone in an input's shape. Others are looked at by what computes. */
static Leave sizes_bind(Call *x, const EinNode *n, const ein_tensor *t) {
  for (uint32_t k = 0; k < n->rank; k++) {
    int64_t value;
    if (n->dim[k]->kind != EX_DIM) continue;
    Str name = n->dim[k]->name;
    if (!job_dim(&x->j, name, &value)) {
      DimValue v = {name, t->shape[k], {0}, "an input"};
      vec_push(x->s->arena, x->j.dims, v);
    } else if (value != t->shape[k])
      return fail(x->s, LEAVE_USAGE, "input %s: its axis %u has %lld elements, and %s is %lld", n->name->s, k,
          (long long)t->shape[k], name->s, (long long)value);
  }
  return LEAVE_OK;
}

/* An axis of N + 1 elements tells N, if none of N elements does. */
static void sizes_solve(Call *x) {
  const EinGraph *g = x->j.graph;
  for (uint32_t i = 0; i < g->inputs.len; i++) {
    const ein_tensor *t = &x->in[i];
    const char **why = NEW_ARRAY(x->s->arena, const char *, t->ndim + 1);
    if (!t->data && x->f->in[i].optional) continue;
    for (int k = 0; k < t->ndim; k++) why[k] = "an input";
    program_bind_some(&x->s->front, x->j.program, g->inputs.at[i]->name, t->shape, why, &x->j.dims);
  }
}

static bool sizes_known(const Call *x) {
  int64_t value;
  vec_each(const Dim, d, x->j.graph->dims)
    if (!d->known && !job_dim(&x->j, d->name, &value)) return false;
  return true;
}

static Leave inputs_look(Call *x) {
  const EinGraph *g = x->j.graph;
  Leave l = LEAVE_OK;
  for (uint32_t i = 0; i < g->inputs.len && !l; i++) {
    const ein_tensor *t = &x->in[i];
    if (!t->data && x->f->in[i].optional) continue;
    l = view_fits(x->s, "input", &x->f->in[i], t);
    if (!l) l = sizes_bind(x, g->inputs.at[i], t);
  }
  if (!l && x->j.program && !sizes_known(x)) sizes_solve(x);
  return l;
}

/* ---- by an evaluator, or for several sites ------------------------------------------------------ */

static Leave array_of(Session *s, const ein_argument *a, const ein_tensor *t, EvalArray *out) {
  ein_error err = {0};
  int64_t bytes;
  *out = (EvalArray){.dtype = (DType)t->dtype, .rank = (uint32_t)t->ndim};
  out->shape = NEW_ARRAY(s->arena, int64_t, t->ndim + 1);
  for (int k = 0; k < t->ndim; k++) out->shape[k] = t->shape[k];
  ein_status st = ein_shape_size(a->name, t->dtype, t->ndim, out->shape, &out->count, &bytes, &err);
  if (st != EIN_OK) return fail(s, status_leave(st), "input %s: %s", a->name, err.text);
  if (out->count && !t->data) return fail(s, LEAVE_USAGE, "input %s is not given, and has no default", a->name);
  out->data = out->count && view_dense(t) ? view_first(t) : arena_alloc(s->arena, (size_t)bytes + 1);
  if (out->count && !view_dense(t)) view_copy(s->arena, t, out->count, out->data, false);
  return LEAVE_OK;
}

/* The axis along which elements of a view overlap, or -1: each stride must be larger than the reach of the smaller
 * ones. */
static int view_overlaps(const ein_tensor *t, int64_t count) {
  for (int k = 0; k < t->ndim && t->strides && count; k++) {
    int64_t stride = llabs(t->strides[k]), reach = 0;
    if (t->shape[k] <= 1) continue;
    for (int i = 0; i < t->ndim; i++) {
      int64_t other = llabs(t->strides[i]);
      if (other < stride || (other == stride && i < k)) reach += other * (t->shape[i] - 1);
    }
    if (stride <= reach) return k;
  }
  return -1;
}

/* e->output to the caller's view; or as one. */
static Leave output_give(Call *x, const EvalArray *y, int k) {
  ein_tensor *t = &x->out[k];
  if (!t->data) {
    *t = (ein_tensor){
        .data = y->data, .device_type = 1, .ndim = (int32_t)y->rank, .dtype = (ein_dtype)y->dtype, .shape = y->shape};
    return LEAVE_OK;
  }
  Leave l = view_fits(x->s, "output", &x->f->out[k], t);
  for (uint32_t i = 0; i < y->rank && !l; i++)
    if (t->shape[i] != y->shape[i])
      l = fail(x->s, LEAVE_USAGE, "output %s: its axis %u has %lld elements, expected %lld", x->f->out[k].name, i,
          (long long)t->shape[i], (long long)y->shape[i]);
  int axis = l ? -1 : view_overlaps(t, y->count);
  if (axis >= 0)
    l = fail(x->s, LEAVE_USAGE, "output %s: its elements overlap each other: axis %d has the stride %lld",
        x->f->out[k].name, axis, (long long)t->strides[axis]);
  if (!l) view_copy(x->s->arena, t, y->count, y->data, true);
  return l;
}

/* Sites take their blocks of an input without looking at its size. */
static Leave sizes_fit(const Call *x, int i) {
  const EinNode *n = x->j.graph->inputs.at[i];
  const ein_tensor *t = &x->in[i];
  Value v;
  for (uint32_t k = 0; k < n->rank; k++)
    if (expr_value(n->dim[k], &(ExprEnv){0}, &v) && v.i != t->shape[k])
      return fail(x->s, LEAVE_USAGE, "input %s: its axis %u has %lld elements, expected %lld", x->f->in[i].name, k,
          (long long)t->shape[k], (long long)v.i);
  return LEAVE_OK;
}

static Leave call_evaluated(Call *x) {
  Session *s = x->s;
  Eval e;
  run_begin(s, &x->j, &e);
  EvalInput *in = NEW_ARRAY(s->arena, EvalInput, x->f->n_in + 1);
  Leave l = dims_of_job(s, &x->j, &e);
  for (int i = 0; i < x->f->n_in && !l; i++) {
    if (!x->in[i].data && x->f->in[i].optional) continue;
    if (job_of_sites(&x->j) && (l = sizes_fit(x, i))) break;
    in[e.n_input].name = x->j.graph->inputs.at[i]->name;
    l = array_of(s, &x->f->in[i], &x->in[i], &in[e.n_input++].array);
  }
  e.input = in;
  if (!l) l = run_compute(s, &x->j, &x->f->a, x->f->c, &e);
  for (int i = 0; i < x->f->n_out && !l; i++) l = output_give(x, &e.output[i], i);
  return l;
}

/* ---- planned as sizes come ---------------------------------------------------------------------- */

static bool dims_same(const DimValues *a, const DimValues *b) {
  bool same = a->len == b->len;
  for (uint32_t i = 0; same && i < a->len; i++)
    same = a->at[i].name == b->at[i].name && a->at[i].value == b->at[i].value;
  return same;
}

/* By what is kept of a session: its graph, its plan and their expressions go when other sizes come. */
static Leave plan_make(Call *x) {
  ein_function *f = x->f;
  Arena *a = kept_new(x);
  Session *s = NEW(a, Session);
  Planned *p = NEW(a, Planned);
  *s = *x->s;
  s->arena = a;
  s->exprs = exprs_new(a);
  session_fresh(s);
  *p = (Planned){x->j, s->exprs};
  p->job.dims = (DimValues){0};
  for (uint32_t i = 0; i < x->j.dims.len; i++) vec_push(a, p->job.dims, x->j.dims.at[i]);
  Leave l = job_graph(s, &p->job, &f->planning);
  if (!l) l = job_sites(s, &p->job, &f->planning, LANG_TASK);
  if (!l) f->planned = p;
  return l;
}

/* As long as sizes stay, so does the plan. */
static Leave plan_as_wanted(Call *x) {
  const Planned *p = x->f->planned;
  Leave l = p && dims_same(&p->job.dims, &x->j.dims) ? LEAVE_OK : plan_make(x);
  if (l) return l;
  x->j = x->f->planned->job;
  x->s->exprs = x->f->planned->exprs;
  session_fresh(x->s);
  BUG_UNLESS(x->j.graph->inputs.len == (uint32_t)x->f->n_in && x->j.graph->outputs.len == (uint32_t)x->f->n_out);
  return LEAVE_OK;
}

/* ---- compiled -------------------------------------------------------------------------------- */

static int number_of(const ein_argument *a, int n, const char *name) {
  int i = 0;
  while (i < n && strcmp(a[i].name, name) != 0) i++;
  BUG_UNLESS(i < n);
  return i;
}

static Leave model_failed(const Call *x, ein_status st) {
  const char *why = x->f->lib.model->last_error(x->f->lib.ctx);
  if (st == EIN_ERR_CANCEL) why = "interrupted";
  return fail(x->s, status_leave(st), "%s", *why ? why : "the computation failed");
}

/* As long as sizes stay, so does the plan. */
static Leave model_plan(Call *x) {
  ein_function *f = x->f;
  const ein_model *m = f->lib.model;
  size_t n = (size_t)m->n_dims;
  int64_t *dim = NEW_ARRAY(x->s->arena, int64_t, n + 1);
  for (size_t i = 0; i < n; i++)
    if (!job_dim(&x->j, str_from(x->s->strings, m->dim[i]), &dim[i]))
      return fail(x->s, LEAVE_USAGE,
          "no value for dim %s: no axis of an input tells it; give -D %s=64 when the function is opened", m->dim[i],
          m->dim[i]);
  if (f->dim && memcmp(f->dim, dim, n * sizeof *dim) == 0) return LEAVE_OK;
  f->dim = NULL;
  ein_status st = m->plan(f->lib.ctx, dim);
  if (st != EIN_OK) return model_failed(x, st);
  f->dim = arena_copy(kept_new(x), dim, (n + 1) * sizeof *dim);
  return LEAVE_OK;
}

static Leave room_make(Call *x, int output, ein_tensor *t) {
  const ein_model *m = x->f->lib.model;
  const ein_argument *a = &m->output[output];
  ein_error err = {0};
  int64_t count, bytes, *shape = NEW_ARRAY(x->s->arena, int64_t, a->ndim + 1);
  ein_status st = m->shape(x->f->lib.ctx, 1, output, shape);
  if (st != EIN_OK) return model_failed(x, st);
  st = ein_shape_size(a->name, a->dtype, a->ndim, shape, &count, &bytes, &err);
  if (st != EIN_OK) return fail(x->s, status_leave(st), "output %s: %s", a->name, err.text);
  *t = (ein_tensor){.data = arena_alloc(x->s->arena, (size_t)bytes + 1),
      .device_type = 1,
      .ndim = a->ndim,
      .dtype = a->dtype,
      .shape = shape};
  return LEAVE_OK;
}

static Leave call_compiled(Call *x) {
  ein_function *f = x->f;
  const ein_model *m = f->lib.model;
  ein_tensor *in = NEW_ARRAY(x->s->arena, ein_tensor, m->n_inputs + 1),
             *out = NEW_ARRAY(x->s->arena, ein_tensor, m->n_outputs + 1);
  Leave l = model_plan(x);
  for (int i = 0; i < m->n_inputs && !l; i++) in[i] = x->in[number_of(f->in, f->n_in, m->input[i].name)];
  for (int i = 0; i < m->n_outputs && !l; i++) {
    ein_tensor *t = &x->out[number_of(f->out, f->n_out, m->output[i].name)];
    if (!t->data) l = room_make(x, i, t);
    out[i] = *t;
  }
  if (l) return l;
  const InterruptRun going = {m->cancel, &f->lib.ctx, 1};
  ein_status st = interrupt_begin(x->s, &going) ? m->run(f->lib.ctx, in, out) : EIN_ERR_CANCEL;
  interrupt_end(x->s);
  return st == EIN_OK ? LEAVE_OK : model_failed(x, st);
}

/* ---- calling --------------------------------------------------------------------------------- */

static void call_do(void *env) {
  Call *x = env;
  ein_function *f = x->f;
  Arena *a = arena_new();
  Guest *g = NEW(a, Guest);
  x->s = NEW(a, Session);
  *x->s = *f->s;
  *g = *f->s->guest;
  x->s->arena = g->arena = a;
  x->s->guest = g;
  g->out = buf_new(a);
  g->err = buf_new(a);
  memset(&g->heard, 0, sizeof g->heard);
  session_fresh(x->s);
  x->j = f->job;
  x->j.dims = (DimValues){0}; /* ours, to be added to */
  for (uint32_t i = 0; i < f->job.dims.len; i++) vec_push(a, x->j.dims, f->job.dims.at[i]);
  Leave l = inputs_look(x);
  if (!l && f->late) l = plan_as_wanted(x);
  if (!l) l = f->compiled ? call_compiled(x) : call_evaluated(x);
  answer_fill(x->s, l, &f->said.answer);
  f->call = a;
}

ein_outcome ein_function_call(ein_function *f, const ein_tensor *inputs, ein_tensor *outputs) {
  Call x = {.f = f, .in = inputs, .out = outputs};
  arena_free(f->call);
  f->call = NULL;
  f->said = (Held){0};
  f->stop.wanted = 0;
  Went went = guarded(call_do, &x, true, f->said.why, sizeof f->said.why);
  if (went) {
    if (x.keeps) kept_forget(f);
    interrupt_end(f->s); /* of what was left in the midst of it */
    held_fail(&f->said, went);
  }
  return f->said.answer.outcome;
}

void ein_function_cancel(ein_function *f) {
  guest_stop(&f->stop);
}

ein_kept *ein_function_keep(ein_function *f) {
  ein_kept *k = f->call ? calloc(1, sizeof *k) : NULL;
  if (!k) return NULL;
  k->arena = f->call;
  f->call = NULL;
  f->said = (Held){0};
  return k;
}

void ein_kept_free(ein_kept *k) {
  if (k) arena_free(k->arena);
  free(k);
}
