/* codegen/jit/model.c - builds the tables, sizes and run of a program whose kernels are loaded functions: see model.h.
 */
#include <stddef.h>

#include "emit/c_tables.h"
#include "model.h"

typedef struct Count { int64_t known; int32_t size; } Count; /* size: its number; -1: it is constant */

typedef struct Part { ein_task *function; bool streams; Count points; uint32_t together; int64_t rounds; } Part;

typedef struct Step Step;
typedef VEC(Step) Steps;
struct Step {
  const Task *task;
  int32_t unless;            /* the input's buffer: the step runs only if that input is not given; -1: it always runs */
  const int *bound;          /* KERNEL, */
  const Part *part;
  uint32_t n_parts;
  Count work;
  int input;                 /* DEFAULT: the buffer to set */
  const char *file;          /* ASSERT: its place in the source */
  Steps body;                /* REPEAT */
};

/* An extent, shape[at]; what is NULL if it is a constant. */
typedef struct Sized { const Expr *e; const char *what, *file; int line, at; } Sized;

typedef struct Made {
  JitModel model;            /* must be first: the runtime returns a pointer to it */
  Arena *arena;
  const LoopProgram *p;
  const JitRuntime *runtime;
  uint32_t *axes;
  Map size_of;               /* Expr to 1 + its number, */
  VEC(const Expr *) sizes, scratch;
  VEC(Sized) extents;
  const char **check_file;   /* by check: its place in the source */
  Steps steps;
} Made;

static const Made *made_of(const ein_inside *in) {
  return (const Made *)(const void *)((const char *)in->tables - offsetof(Made, model.tables));
}

/* ---- sizes, when a run is planned ------------------------------------------------------------- */

typedef struct Planning { const Made *m; ein_plan *plan; const int64_t *dim; } Planning;

static int64_t dim_value(const Planning *x, Str name) {
  const TaskGraph *t = x->m->p->tasks;
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->dims.len; i++) {
    if (t->dims.at[i].name == name) return t->dims.at[i].known ? t->dims.at[i].value : x->dim[n];
    n += !t->dims.at[i].known;
  }
  bug("a dim that is none of the program's");
}

/* Computes as the emitted text does (c_checked): what overflows 64 bits is reported to the plan. */
static Value checked(const Planning *x, const Expr *e) {
  const JitRuntime *r = x->m->runtime;
  Value v[3] = {{0}};
  if (e->kind == EX_INT) return (Value){.dtype = (DType)e->dtype, .i = e->i};
  if (e->kind == EX_REAL) return (Value){.dtype = (DType)e->dtype, .f = e->f};
  if (e->kind == EX_DIM) return (Value){.dtype = DT_I64, .i = dim_value(x, e->name)};
  if (e->kind != EX_OP || e->n > COUNT(v)) bug("a size of what is no size");
  for (uint32_t k = 0; k < e->n; k++) v[k] = checked(x, e->arg[k]);
  if (e->dtype == DT_I64 && e->op == OP_ADD)
    return (Value){.dtype = DT_I64, .i = r->ein_plan_add(x->plan, v[0].i, v[1].i)};
  if (e->dtype == DT_I64 && e->op == OP_SUB)
    return (Value){.dtype = DT_I64, .i = r->ein_plan_sub(x->plan, v[0].i, v[1].i)};
  if (e->dtype == DT_I64 && e->op == OP_MUL)
    return (Value){.dtype = DT_I64, .i = r->ein_plan_mul(x->plan, v[0].i, v[1].i)};
  if (e->dtype == DT_I64 && e->op == OP_NEG) return (Value){.dtype = DT_I64, .i = r->ein_plan_neg(x->plan, v[0].i)};
  return op_value((Op)e->op, (DType)e->dtype, e->n, v);
}

static const char *file_name(Arena *a, Place p) {
  if (!p.file) return NULL;
  uint32_t at = p.file->len;
  while (at && p.file->s[at - 1] != '/') at--;
  return arena_printf(a, "%s", p.file->s + at);
}

static int file_line(Place p) { return p.file ? (int)p.line : 0; }

static void sizes_make(ein_plan *plan, const int64_t *dim) {
  const Made *m = made_of((const ein_inside *)(const void *)((const char *)plan - offsetof(ein_inside, plan)));
  const TaskGraph *t = m->p->tasks;
  const Planning x = {m, plan, dim};
  for (uint32_t i = 0; i < t->checks.len; i++) {
    const DimCheck *c = &t->checks.at[i];
    m->runtime->ein_plan_check(
        plan, checked(&x, c->cond).i != 0, c->text ? c->text->s : "", m->check_file[i], file_line(c->place));
  }
  for (uint32_t i = 0; i < m->extents.len; i++) {
    const Sized *s = &m->extents.at[i];
    plan->shape[s->at] = checked(&x, s->e).i;
    if (s->what) m->runtime->ein_plan_size(plan, plan->shape[s->at], s->what, s->file, s->line);
  }
  for (uint32_t i = 0; i < m->sizes.len; i++) plan->size[i] = checked(&x, m->sizes.at[i]).i;
  for (uint32_t i = 0; i < m->scratch.len; i++) {
    int64_t bytes = checked(&x, m->scratch.at[i]).i;
    if (bytes > plan->scratch) plan->scratch = bytes;
  }
}

static void extents_find(Made *m) {
  const TaskGraph *t = m->p->tasks;
  m->check_file = NEW_ARRAY(m->arena, const char *, t->checks.len + 1);
  for (uint32_t i = 0; i < t->checks.len; i++) m->check_file[i] = file_name(m->arena, t->checks.at[i].place);
  for (uint32_t b = 0; b < t->buffers.len; b++) {
    const TaskBuffer *x = &t->buffers.at[b];
    for (uint32_t d = 0; d < x->rank; d++) {
      Sized s = {.e = x->dim[d],
          .at = (int)(m->axes[b] + d),
          .file = file_name(m->arena, x->place),
          .line = file_line(x->place)};
      if (x->dim[d]->kind != EX_INT)
        s.what = arena_printf(m->arena, "the size of dimension %u of %s", d + 1, x->name ? x->name->s : "a tensor");
      vec_push(m->arena, m->extents, s);
    }
  }
}

static int size_number(Made *m, const Expr *e) {
  uintptr_t known = (uintptr_t)map_find(&m->size_of, e);
  if (known) return (int)(known - 1);
  vec_push(m->arena, m->sizes, e);
  map_put(&m->size_of, e, (void *)(uintptr_t)m->sizes.len);
  return (int)m->sizes.len - 1;
}

static Count count_of(Made *m, const Expr *e) {
  return e->kind == EX_INT ? (Count){e->i, -1} : (Count){0, size_number(m, e)};
}

static int64_t count(const ein_ctx *ctx, Count c) { return c.size < 0 ? c.known : ctx->size[c.size]; }

/* ---- the run ---------------------------------------------------------------------------------- */

static bool steps_do(const Made *m, ein_ctx *ctx, const Steps *steps);

/* Returns false, here and below, if the run has ended. The runtime calls loaded functions, even a part in one piece:
 * with sanitizers, a call of ours would read bytes before the function, where there may be none. */
static bool part_do(const JitRuntime *r, ein_ctx *ctx, const Step *s, const Part *x) {
  int64_t points = count(ctx, x->points);
  double work = (double)count(ctx, s->work);
  return (x->streams ? r->ein_parallel_streams(ctx, x->function, points, work)
                     : r->ein_parallel(ctx, x->function, points, work)) == EIN_OK;
}

static bool kernel_do(const JitRuntime *r, ein_ctx *ctx, const Step *s) {
  ctx->bound = s->bound;
  for (uint32_t i = 0; i < s->n_parts; i += s->part[i].together)
    for (ctx->round = 0; ctx->round < s->part[i].rounds; ctx->round++)
      for (uint32_t k = 0; k < s->part[i].together; k++)
        if (!part_do(r, ctx, s, &s->part[i + k])) return false;
  return true;
}

static bool repeat_do(const Made *m, ein_ctx *ctx, const Step *s) {
  const JitRuntime *r = m->runtime;
  const Task *k = s->task;
  int64_t *turn = &ctx->turn[k->depth], turns = r->ein_i64(ctx, (int)k->buffer);
  bool stop = false;
  const bool told = k->depth == 0 && ctx->inside->config.between;
  for (*turn = 0; !stop && (told ? r->ein_between(ctx) : *turn) < turns;) {
    if (r->ein_settle(ctx) != EIN_OK || !steps_do(m, ctx, &s->body)) return false;
    if (ctx->inside->config.watch) r->ein_step_begins(ctx, (int)k->step, 0);
    stop = k->stop >= 0 && r->ein_true(ctx, k->stop);
    for (uint32_t i = 0; i < k->exchange.len; i++)
      r->ein_exchange(ctx, (int)k->exchange.at[i].now, (int)k->exchange.at[i].next);
    ++*turn;
  }
  if (k->turns >= 0) r->ein_set_i64(ctx, k->turns, *turn);
  return true;
}

static bool assert_do(const Made *m, ein_ctx *ctx, const Step *s) {
  const Task *k = s->task;
  if (m->runtime->ein_true(ctx, (int)k->buffer)) return true;
  m->runtime->ein_failed_assert(ctx, k->name ? k->name->s : "", s->file, file_line(k->place));
  return false;
}

static bool step_do(const Made *m, ein_ctx *ctx, const Step *s) {
  if (s->unless >= 0 && m->runtime->ein_given(ctx, s->unless)) return true;
  if (ctx->inside->config.watch) m->runtime->ein_step_begins(ctx, (int)s->task->step, 0);
  switch (s->task->kind) {
  case TASK_KERNEL: return kernel_do(m->runtime, ctx, s);
  case TASK_REPEAT: return repeat_do(m, ctx, s);
  case TASK_ASSERT: return assert_do(m, ctx, s);
  case TASK_ZERO: m->runtime->ein_zero(ctx, (int)s->task->buffer); return true;
  case TASK_DEFAULT: m->runtime->ein_default(ctx, s->input, (int)s->task->buffer); return true;
  case TASK_MOVE:
  case TASK_FETCH: break;
  }
  bug("a move within a site");
}

static bool steps_do(const Made *m, ein_ctx *ctx, const Steps *steps) {
  for (uint32_t i = 0; i < steps->len; i++)
    if (!step_do(m, ctx, &steps->at[i])) return false;
  return true;
}

static ein_status run_body(ein_ctx *ctx) {
  const Made *m = made_of(ctx->inside);
  if (steps_do(m, ctx, &m->steps) && ctx->inside->config.watch) m->runtime->ein_step_begins(ctx, -1, 0);
  return m->runtime->ein_state(ctx);
}

/* ---- making the steps ------------------------------------------------------------------------- */

static const int *bound_of(Made *m, const LoopKernel *k, const EmitKernel *made) {
  uint32_t n = k->places.len;
  int *bound = NEW_ARRAY(m->arena, int, 2 * n + made->numbers.len + made->sizes.len + 1);
  for (uint32_t i = 0; i < n; i++) {
    const LoopPlace *x = &k->places.at[i];
    if (x->space != SPACE_BUFFER) continue;
    bound[2 * i] = (int)x->buffer;
    bound[2 * i + 1] = (int)m->axes[x->buffer];
  }
  for (uint32_t i = 0; i < made->numbers.len; i++) bound[2 * n + i] = (int)made->numbers.at[i].is;
  for (uint32_t i = 0; i < made->sizes.len; i++)
    bound[2 * n + made->numbers.len + i] = size_number(m, made->sizes.at[i]);
  return bound;
}

static void kernel_step(Made *m, Step *s, const LoopKernel *k, const JitKernel *x) {
  Part *part = NEW_ARRAY(m->arena, Part, x->made.parts.len + 1);
  for (uint32_t i = 0; i < x->made.parts.len; i++) {
    const EmitPart *of = &x->made.parts.at[i];
    part[i] = (Part){x->part[i], of->streams, {1, -1}, of->together, of->rounds};
    if (of->points) part[i].points = count_of(m, of->points), s->work = count_of(m, k->work);
  }
  s->part = part;
  s->n_parts = x->made.parts.len;
  s->bound = bound_of(m, k, &x->made);
  if (!expr_is_int(x->made.scratch, 0)) vec_push(m->arena, m->scratch, x->made.scratch);
}

static Steps steps_of(Made *m, const Tasks *list, const JitKernel *kernel, uint32_t *next) {
  const TaskGraph *t = m->p->tasks;
  Steps steps = {0};
  vec_each_of(const Task, k, *list) {
    Step s = {.task = k, .work = {0, -1}, .unless = k->unless < 0 ? -1 : (int32_t)t->inputs.at[k->unless].buffer};
    if (k->kind == TASK_KERNEL) kernel_step(m, &s, m->p->kernels.at[*next], &kernel[*next]), ++*next;
    if (k->kind == TASK_ASSERT) s.file = file_name(m->arena, k->place);
    if (k->kind == TASK_DEFAULT) s.input = (int)t->inputs.at[k->argument].buffer;
    if (k->kind == TASK_REPEAT) s.body = steps_of(m, &k->body, kernel, next);
    vec_push(m->arena, steps, s);
  }
  return steps;
}

/* ---- tables ----------------------------------------------------------------------------------- */

static const ein_argument *arguments(Arena *a, const TaskGraph *t, const TaskArgument *x, uint32_t n) {
  ein_argument *to = NEW_ARRAY(a, ein_argument, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    const TaskBuffer *b = &t->buffers.at[x[i].buffer];
    to[i] = (ein_argument){x[i].name->s, (ein_dtype)b->dtype, (int)b->rank, x[i].optional, x[i].param};
  }
  return to;
}

static const char *labels_text(Arena *a, Str *const label, uint32_t rank) {
  if (!label || !rank) return NULL;
  Buf b = buf_new(a);
  for (uint32_t k = 0; k < rank; k++) buf_printf(&b, "%s%s", k ? ", " : "", label[k] ? label[k]->s : "_");
  return b.s;
}

static const ein_buffer *buffers(const Made *m, const NamedAxesList *declared) {
  const TaskGraph *t = m->p->tasks;
  AxisLabels labels = axis_labels(m->arena, t, declared);
  ein_buffer *to = NEW_ARRAY(m->arena, ein_buffer, t->buffers.len + 1);
  for (uint32_t i = 0; i < t->buffers.len; i++) {
    const TaskBuffer *b = &t->buffers.at[i];
    to[i] = (ein_buffer){.space = (int)b->space,
        .argument = (int)b->argument,
        .dtype = (ein_dtype)b->dtype,
        .ndim = (int)b->rank,
        .at = (int)m->axes[i],
        .first = (int)b->first,
        .last = (int)b->last,
        .name = b->name ? b->name->s : NULL,
        .labels = labels_text(m->arena, labels.of[i], b->rank),
        .file = file_name(m->arena, b->place),
        .line = file_line(b->place)};
  }
  return to;
}

static const ein_site *sites(const Made *m) {
  ein_site *to = NEW_ARRAY(m->arena, ein_site, m->p->sites.len + 1);
  for (uint32_t i = 0; i < m->p->sites.len; i++) {
    const LoopSite *x = &m->p->sites.at[i];
    to[i] = (ein_site){x->text ? x->text->s : NULL, file_name(m->arena, x->place), file_line(x->place), x->asked};
  }
  return to;
}

static const char *const *open_dims(Arena *a, const TaskGraph *t, int *n) {
  const char **to = NEW_ARRAY(a, const char *, t->dims.len + 1);
  *n = 0;
  for (uint32_t i = 0; i < t->dims.len; i++)
    if (!t->dims.at[i].known) to[(*n)++] = t->dims.at[i].name->s;
  return to;
}

static void tables_make(Made *m, const EmitOptions *o, bool dense) {
  const TaskGraph *t = m->p->tasks;
  ein_tables *x = &m->model.tables;
  *x = (ein_tables){.name = o->prefix,
      .source = o->source,
      .n_inputs = (int)t->inputs.len,
      .n_outputs = (int)t->outputs.len,
      .n_buffers = (int)t->buffers.len,
      .n_axes = (int)m->axes[t->buffers.len],
      .n_sizes = (int)m->sizes.len,
      .n_turns = (int)c_turns(t),
      .n_sites = (int)m->p->sites.len,
      .n_steps = (int)t->n_steps,
      .input = arguments(m->arena, t, t->inputs.at, t->inputs.len),
      .output = arguments(m->arena, t, t->outputs.at, t->outputs.len),
      .buffer = buffers(m, &o->declared),
      .site = sites(m),
      .sizes = sizes_make,
      .body = run_body,
      .worth_threads = o->worth_threads,
      .dense = dense};
  x->dim = open_dims(m->arena, t, &x->n_dims);
}

static ein_model face_of(const ein_tables *t, const JitRuntime *r) {
  return (ein_model){.version = 1,
      .name = t->name,
      .source = t->source,
      .n_dims = t->n_dims,
      .n_inputs = t->n_inputs,
      .n_outputs = t->n_outputs,
      .dim = t->dim,
      .input = t->input,
      .output = t->output,
      .destroy = r->ein_destroy,
      .plan = r->ein_plan_run,
      .workspace = r->ein_workspace_bytes,
      .shape = r->ein_argument_shape,
      .run = r->ein_run,
      .last_error = r->ein_last_error,
      .cancel = r->ein_cancel};
}

const JitModel *jit_model(Arena *a, const LoopProgram *p, const EmitOptions *o, const JitKernel *kernel, bool dense,
    const JitRuntime *runtime) {
  Made *m = NEW(a, Made);
  uint32_t next = 0;
  *m = (Made){.arena = a, .p = p, .runtime = runtime, .axes = c_axes(a, p->tasks), .size_of = map_new(a)};
  extents_find(m);
  m->steps = steps_of(m, &p->tasks->tasks, kernel, &next);
  tables_make(m, o, dense);
  m->model.face = face_of(&m->model.tables, runtime);
  return &m->model;
}
