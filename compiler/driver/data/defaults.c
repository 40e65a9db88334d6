/* driver/data/defaults.c - computes defaults of inputs that are not given, as if they were: for targets that need
 * all inputs before they begin. With many ranks each computes its block. The evaluator does that, unless compiled
 * code might compute other bits, as one process has them; then such code is made. */
#include <string.h>

#include "graph/passes/passes.h"
#include "driver/compile/native.h"

enum { MADE_AT_ONCE = 1 << 18 };

/* The graph whose outputs are the defaults of missing inputs; false: there are none. */
static bool defaults_graph(Session *s, const Job *j, const Eval *e, EinGraph *only) {
  const EinGraph *g = j->graph;
  if (j->past) return false;
  *only = *g;
  memset(&only->outputs, 0, sizeof only->outputs);
  memset(&only->asserts, 0, sizeof only->asserts);
  vec_each_of(const EinNode, n, g->inputs) {
    bool given = !n->fallback;
    for (uint32_t k = 0; k < e->n_input; k++) given |= e->input[k].name == n->name;
    if (!given) vec_push(s->arena, only->outputs, ((EinOutput){n->name, n->fallback}));
  }
  return only->outputs.len > 0;
}

static bool none_given(void *ctx, Str output) {
  (void)ctx, (void)output;
  return false;
}

/* Keeps only what its outputs depend on. */
static EinGraph *without_rest(Arena *a, const EinGraph *g) {
  EinGraph used = *g;
  return graph_given(a, &used, none_given, NULL);
}

/* ---- whether eval has the bits of compiled code ------------------------------------------------------------------ */

/* Operations of floats that libm has a part in, or that are a product and a sum, which may become one. */
static const Expr *op_differs(void *env, Exprs *x, const Expr *e) {
  (void)x;
  bool *differs = env, real = e->kind == EX_OP && dtype_is_float((DType)e->dtype);
  if (real && !(op_info[e->op].laws & LAW_EXACT)) *differs = true;
  if (real && (e->op == OP_ADD || e->op == OP_SUB))
    for (uint32_t k = 0; k < 2; k++)
      *differs |= e->arg[k]->kind == EX_OP && (e->arg[k]->op == OP_MUL || e->arg[k]->op == OP_NEG);
  return e;
}

static bool vertex_differs(Exprs *x, const EinNode *n) {
  const EinSum *s = n->sum;
  bool differs = n->kind != EIN_VERTEX;
  if (differs) return n->kind != EIN_INPUT;
  if (s->by) return true;
  expr_map_ops(x, s->body, op_differs, &differs);
  if (s->where) expr_map_ops(x, s->where, op_differs, &differs);
  if (s->domain) expr_map_ops(x, s->domain, op_differs, &differs);
  bool adds = s->n_red && dtype_is_float(s->acc) && !(reducer_info[s->reducer].laws & LAW_IDEMPOTENT);
  return differs || (adds && !red_is_arg(s));
}

static bool graph_differs(const EinGraph *g) {
  for (uint32_t i = 0; i < g->top->nodes.len; i++)
    if (vertex_differs(g->exprs, g->top->nodes.at[i])) return true;
  return false;
}

/* ---- all defaults, whole ----------------------------------------------------------------------------------------- */

static Leave by_c(Session *s, const Args *a, Job *job, Compiler *c, int threads, Eval *made) {
  Library lib = {0};
  ein_status status;
  Leave l = job_loops(s, job, a);
  if (!l) l = library_open(s, job, c, threads, &lib);
  if (!l) l = library_plan(s, &lib, job, made, &status);
  if (!l) l = library_run(s, &lib, made, &status);
  library_close(&lib);
  return l;
}

Leave defaults_make(Session *s, const Args *a, const Job *j, Compiler *c, int threads, Eval *e) {
  EinGraph only;
  EvalStatus status;
  Job job = {.path = j->path, .program = j->program, .graph = &only, .dims = j->dims};
  Eval made = *e;
  if (!defaults_graph(s, j, e, &only)) return LEAVE_OK;
  made.graph = &only;
  Leave l = c ? by_c(s, a, &job, c, threads, &made) : run_eval(s, &made, &status);
  EvalInput *all = COPY_ARRAY(s->arena, EvalInput, e->input, e->n_input, j->graph->inputs.len + 1);
  for (uint32_t i = 0; i < only.outputs.len && !l; i++)
    all[e->n_input++] = (EvalInput){only.outputs.at[i].name, made.output[i]};
  e->input = all;
  return l;
}

/* The compiler for defaults, and the options under which they are compiled: for this machine's processor also where
 * the program is for a device, which has the same bits. */
static Leave compiler_here(Session *s, const Args *a, Args *here, Compiler *c, int *threads) {
  *here = *a;
  if (target_device(s, a)) {
    here->given[OPT_CC] = here->given[OPT_FLAGS] = here->given[OPT_TARGET] = (Words){0};
    vec_push(s->arena, here->given[OPT_TARGET], "auto");
  }
  Leave l = threads_wanted(s, here, threads);
  if (!l) l = compiler_choose(s, here, arg_last(here, OPT_CC), arg_last(here, OPT_FLAGS), c);
  threads_sleep(s);
  return l;
}

Leave defaults_of_sites(Session *s, const Args *a, const Job *j, bool compiled, Eval *e) {
  EinGraph only;
  Args here;
  Compiler c;
  int threads;
  if (!compiled || !defaults_graph(s, j, e, &only) || !graph_differs(without_rest(s->arena, &only)))
    return defaults_make(s, a, j, NULL, 0, e);
  Leave l = compiler_here(s, a, &here, &c, &threads);
  return l ? l : defaults_make(s, &here, j, &c, threads, e);
}

/* ---- a block ----------------------------------------------------------------------------------------------------- */

/* The vertex restricted to a block of points from `low` on, where its labels now begin. */
static EinNode *vertex_block(EinGraph *g, const EinNode *n, const Expr *const *low, const Expr *const *extent) {
  EinSum x = *n->sum;
  uint32_t labels = x.n_out + x.n_red;
  const Expr **to = NEW_ARRAY(g->arena, const Expr *, labels + 1),
             **bound = NEW_ARRAY(g->arena, const Expr *, labels + 1);
  memcpy(bound, n->bound, labels * sizeof *bound);
  for (uint32_t k = 0; k < x.n_out; k++) {
    to[k] = expr_op2(g->exprs, OP_ADD, expr_label(g->exprs, k), low[k]);
    bound[k] = extent[k];
  }
  x.body = expr_relabel(g->exprs, x.body, x.n_out, to);
  x.where = x.where ? expr_relabel(g->exprs, x.where, x.n_out, to) : NULL;
  x.domain = x.domain ? expr_relabel(g->exprs, x.domain, x.n_out, to) : NULL;
  EinNode **slots = graph_canonical_slots(g, &x, n->input);
  EinNode *made = graph_vertex(g, g->top, &x, bound, n->label, n->rank, NULL, slots);
  made->name = n->name;
  made->place = n->place;
  return made;
}

/* Reads the inputs that the graph uses, which have not been read yet. */
static Leave inputs_read(Session *s, const Job *j, Eval *e) {
  const EinGraph *g = e->graph;
  EvalInput *in = NEW_ARRAY(s->arena, EvalInput, e->n_input + 1);
  Leave l = LEAVE_OK;
  for (uint32_t k = 0; k < e->n_input; k++) in[k] = e->input[k];
  e->input = in;
  for (uint32_t k = 0; k < e->n_input && !l; k++) {
    const EinNode *n = graph_input_find(g, in[k].name);
    if (n) l = given_values(s, e, n, given_of(j->given, in[k].name), &in[k].array);
  }
  return l;
}

/* The graph whose only output is the default. */
static EinGraph *default_graph(Session *s, const Job *j, const EinNode *input) {
  EinGraph only = *j->graph;
  memset(&only.outputs, 0, sizeof only.outputs);
  memset(&only.asserts, 0, sizeof only.asserts);
  vec_push(s->arena, only.outputs, ((EinOutput){input->name, input->fallback}));
  return without_rest(s->arena, &only);
}

/* ---- by code, which is made before MPI starts -------------------------------------------------------------------- */

typedef struct DefaultCode { const EinNode *input; Job job; Library lib; bool by_block; } DefaultCode;
struct Defaults { uint32_t n; DefaultCode at[]; };

static DefaultCode *code_of(const Job *j, const EinNode *input) {
  for (uint32_t i = 0; j->defaults && i < j->defaults->n; i++)
    if (j->defaults->at[i].input == input) return &j->defaults->at[i];
  return NULL;
}

Leave defaults_ready(Session *s, const Args *a, Job *j, bool compiled, const Eval *e) {
  EinGraph only;
  Args here;
  Compiler c;
  int threads;
  if (!defaults_graph(s, j, e, &only)) return LEAVE_OK;
  Leave l = externs_load_called(s, without_rest(s->arena, &only));
  if (!compiled || l) return l;
  struct Defaults *all = arena_alloc(s->arena, sizeof *all + only.outputs.len * sizeof *all->at);
  for (uint32_t i = 0; i < only.outputs.len && !l; i++) {
    DefaultCode *d = &all->at[all->n];
    d->input = graph_input_find(j->graph, only.outputs.at[i].name);
    if (!graph_differs(default_graph(s, j, d->input))) continue;
    d->job = (Job){.path = j->path, .program = j->program, .dims = j->dims};
    d->job.graph = default_program(s, j, d->input, &d->by_block);
    if (!d->by_block) d->job.graph = default_graph(s, j, d->input); /* with the defaults of others */
    if (!all->n++) l = compiler_here(s, a, &here, &c, &threads);
    if (!l) l = job_loops(s, &d->job, &here);
    if (!l) l = library_open(s, &d->job, &c, threads, &d->lib);
  }
  j->defaults = all;
  return l;
}

void defaults_end(Job *j) {
  for (uint32_t i = 0; j->defaults && i < j->defaults->n; i++) library_close(&j->defaults->at[i].lib);
  j->defaults = NULL;
}

/* Runs that code; low and extent: of a block. */
static Leave code_run(Session *s, DefaultCode *d, Eval *e, const int64_t *low, const int64_t *extent) {
  Job job = d->job;
  ein_status status;
  uint32_t rank = d->input->rank, first = d->job.graph->dims.len - 2 * rank;
  memset(&job.dims, 0, sizeof job.dims);
  for (uint32_t k = 0; k < d->job.dims.len; k++) vec_push(s->arena, job.dims, d->job.dims.at[k]);
  for (uint32_t k = 0; d->by_block && k < 2 * rank; k++) {
    DimValue x = {.name = d->job.graph->dims.at[first + k].name, .value = k < rank ? low[k] : extent[k - rank]};
    vec_push(s->arena, job.dims, x);
  }
  e->graph = d->job.graph;
  Leave l = library_plan(s, &d->lib, &job, e, &status);
  return l ? l : library_run(s, &d->lib, e, &status);
}

/* ---- rows of a block --------------------------------------------------------------------------------------------- */

static void rows_keep(const EvalArray *made, void *to) {
  memcpy(to, made->data, (size_t)(made->count * dtype_size(made->dtype)));
}

/* Computes some rows of a block in place, by eval or by code; e->graph is the default's. */
static Leave rows_by_code(
    Session *s, DefaultCode *d, const Eval *e, const int64_t *low, const int64_t *extent, void *to) {
  Arena *was = s->arena;
  Eval made = *e;
  s->arena = made.arena = arena_new();
  Leave l = code_run(s, d, &made, low, extent);
  if (!l) rows_keep(&made.output[0], to);
  arena_free(s->arena);
  s->arena = was;
  return l;
}

static Leave rows_by_eval(
    Session *s, const Job *j, const Eval *e, const int64_t *low, const int64_t *extent, void *to) {
  Arena *work = arena_new();
  EinGraph *g = without_rest(work, e->graph);
  Eval made = *e;
  EvalStatus status;
  const EinNode *n = g->outputs.at[0].node;
  const Expr **from = exprs_ints(g->arena, g->exprs, n->rank, low);
  g->outputs.at[0].node = vertex_block(g, n, from, exprs_ints(g->arena, g->exprs, n->rank, extent));
  made.arena = work;
  made.graph = without_rest(work, g);
  Leave l = inputs_read(s, j, &made);
  if (!l) l = run_eval(s, &made, &status);
  if (!l) rows_keep(&made.output[0], to);
  arena_free(work);
  return l;
}

/* A default without reads is computed in pieces: the evaluator takes several times their memory. */
static int64_t rows_at_once(const EinNode *n, const int64_t *extent) {
  int64_t row = 1;
  for (uint32_t d = 1; d < n->rank; d++) row *= extent[d];
  if (n->sum->n_slot) return extent[0];
  return row < MADE_AT_ONCE ? MADE_AT_ONCE / row : 1;
}

/* Whether its points can be computed separately: one equation over labels. */
static bool is_by_point(const EinGraph *g, const EinNode *n) {
  return n->kind == EIN_VERTEX && n->rank && n->rank == n->sum->n_out && n->region == g->top;
}

/* Adds an open size, with an unused name. */
static const Expr *dim_add(EinGraph *g, const char *name, uint32_t k) {
  const char *text = arena_printf(g->arena, "%s_%u", name, k);
  for (uint32_t i = 0; i < g->dims.len; i++)
    if (strcmp(g->dims.at[i].name->s, text) == 0) text = arena_printf(g->arena, "%s_", text), i = UINT32_MAX;
  Str s = str_of(g->strings, text, strlen(text));
  vec_push(g->arena, g->dims, ((Dim){.name = s}));
  return expr_dim(g->exprs, s);
}

EinGraph *default_program(Session *s, const Job *j, const EinNode *input, bool *by_block) {
  EinGraph *g = default_graph(s, j, input), *out = NEW(s->arena, EinGraph);
  for (uint32_t i = 0; i < g->inputs.len; i++) g->inputs.at[i]->fallback = NULL; /* which is there before */
  g = without_rest(s->arena, g);
  const EinNode *n = g->outputs.at[0].node;
  *by_block = is_by_point(g, n) && !n->sum->n_slot;
  if (!*by_block) return g;
  *out = *g;
  memset(&out->dims, 0, sizeof out->dims);
  for (uint32_t i = 0; i < g->dims.len; i++) vec_push(s->arena, out->dims, g->dims.at[i]);
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, 2 * n->rank + 1);
  for (uint32_t k = 0; k < 2 * n->rank; k++) at[k] = dim_add(out, k < n->rank ? "low" : "extent", k % n->rank);
  out->outputs.at[0].node = vertex_block(out, n, at, at + n->rank);
  return without_rest(s->arena, out);
}

/* ---- one block, of one input ------------------------------------------------------------------------------------- */

Leave default_block(Session *s, const Job *j, const Eval *e, const EinNode *input, const int64_t *low,
    const int64_t *extent, EvalArray *out, bool *whole) {
  Eval made = *e;
  EvalStatus status;
  DefaultCode *code = code_of(j, input);
  EinGraph *g = default_graph(s, j, input);
  const EinNode *n = g->outputs.at[0].node;
  made.graph = g;
  *whole = code ? !code->by_block : !is_by_point(g, n);
  if (*whole) {
    Leave l = inputs_read(s, j, &made);
    if (!l) l = code ? code_run(s, code, &made, NULL, NULL) : run_eval(s, &made, &status);
    if (!l) *out = made.output[0];
    return l;
  }
  int64_t *from = arena_copy(s->arena, low, n->rank * sizeof *low),
          *many = arena_copy(s->arena, extent, n->rank * sizeof *extent);
  int64_t rows = rows_at_once(n, extent), row = dtype_size(n->dtype);
  for (uint32_t d = 1; d < n->rank; d++) row *= extent[d];
  Leave l = LEAVE_OK;
  for (int64_t at = 0; at < extent[0] && !l; at += rows) {
    from[0] = low[0] + at;
    many[0] = extent[0] - at < rows ? extent[0] - at : rows;
    void *to = (char *)out->data + at * row;
    l = code ? rows_by_code(s, code, &made, from, many, to) : rows_by_eval(s, j, &made, from, many, to);
  }
  return l;
}
