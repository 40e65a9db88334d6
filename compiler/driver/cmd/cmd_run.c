/* driver/cmd/cmd_run.c - ein run: takes sizes and inputs, and writes outputs to files or to the terminal; under
 * --expect it compares them with the program's own comments. */
#include <string.h>
#include <unistd.h>

#include "algebra/eval/eval.h"
#include "graph/passes/passes.h"
#include "task/sites/site_eval.h"
#include "driver/plan/sites.h"
#include "driver/ranks/ranks.h"
#include "driver/keeping.h"
#include "driver/profile/profile.h"
#include "driver/progress.h"

/* ---- computing ------------------------------------------------------------------------------ */

static Leave eval_leave(EvalStatus st) {
  switch (st) {
  case EVAL_OK: return LEAVE_OK;
  case EVAL_MISSING: return LEAVE_USAGE;
  case EVAL_MEMORY:
  case EVAL_STOPPED: return LEAVE_MACHINE;
  default: return LEAVE_PROGRAM;
  }
}

/* The place comes first, as in every other message. */
static Leave eval_failed(Session *s, EvalStatus st, const char *error, Place at) {
  if (!at.file) return fail(s, eval_leave(st), "%s", error);
  const char *tail = arena_printf(s->arena, " (%s:%u:%u)", at.file->s, at.line, at.column);
  size_t n = strlen(error), m = strlen(tail);
  if (n > m && strcmp(error + n - m, tail) == 0) n -= m;
  return fail(s, eval_leave(st), "%s:%u:%u: %.*s", at.file->s, at.line, at.column, (int)n, error);
}

/* A tensor may take half of the available memory, and 16 GiB at most; all together may take three quarters: it is
 * better to refuse than to swap, or be killed. */
static void limits_set(Eval *e) {
  int64_t all = memory_here(), most = (int64_t)1 << 34;
  e->max_bytes = all && all / 2 < most ? all / 2 : most;
  e->max_live = all / 4 * 3;
}

void run_begin(Session *s, const Job *j, Eval *e) {
  *e = (Eval){.arena = s->arena, .graph = graph_stepwise(s->arena, j->graph)};
  limits_set(e);
}

Leave run_inputs(Session *s, const Job *j, const Givens *given, Eval *e) {
  run_begin(s, j, e);
  return given_read(s, j, given, e);
}

typedef struct Going { const Session *s; const Eval *e; } Going;

static bool goes_on(void *ctx) {
  const Going *g = ctx;
  if (g->s->progress) progress_eval(g->s->progress, g->e);
  return !stop_wanted(g->s);
}

static bool turn_over(void *ctx, EvalBetween *at, const char **why) {
  const Going *g = ctx;
  return keeping_eval(g->s->keeping, at, why);
}

Leave run_eval(Session *s, Eval *e, EvalStatus *status) {
  const char *error = NULL;
  Place at = {0};
  Going going = {s, e};
  e->keep_going = goes_on;
  e->ctx = &going;
  e->watch = s->progress ? s->progress->watch : NULL;
  e->between = s->keeping ? turn_over : NULL;
  Leave l = externs_load_called(s, e->graph);
  *status = l ? EVAL_MISSING : graph_eval(e, &error, &at);
  e->keep_going = NULL;
  e->between = NULL;
  if (l) return l;
  if (s->keeping && s->keeping->failed) return fail(s, s->keeping->failed, "%s", error);
  if (*status == EVAL_STOPPED && stop_wanted(s)) return fail(s, LEAVE_PROGRAM, "interrupted");
  return *status == EVAL_OK ? LEAVE_OK
                            : eval_failed(s, *status, error ? error : "the computation failed", at);
}

/* ---- which target --------------------------------------------------------------------------- */

/* Several processes run one site each over MPI, on a processor or a device; other targets are for a single process. */
static Leave target_of_ranks(Session *s, const char *target, bool any, bool *c) {
  *c = true;
  if (s->ranks && (any || strcmp(target, "mpi") == 0 || strcmp(target, "cuda") == 0)) return LEAVE_OK;
  if (s->ranks)
    return fail(s, LEAVE_USAGE, "--target=%s runs in one process, and mpirun has started %d", target, s->ranks->ranks);
  return fail(s, LEAVE_USAGE, "--target=mpi runs in several processes: ein run --np 4, or mpirun -n 4 ein run");
}

/* On one site, a limit chooses what the graph of a compiled program saves. */
static bool memory_idle(Session *s, const Job *j, const Args *a) {
  return memory_of_run(s, j, a) && (j->past || !target_compiles(s, j, a));
}

Leave run_target(Session *s, const Job *j, const Args *a, bool *c) {
  const char *target = target_said(s, a);
  bool any = !target;
  if (memory_idle(s, j, a))
    return fail(s, LEAVE_USAGE, "--memory is for programs that are compiled, and for plans for many sites, by -n");
  if (s->ranks || (target && strcmp(target, "mpi") == 0)) return target_of_ranks(s, target, any, c);
  *c = target_compiles(s, j, a);
  if (!*c && arg_has(a, OPT_DETERMINISTIC))
    return fail(s, LEAVE_USAGE,
        "--deterministic is of what is compiled; the evaluator has one order, and sums otherwise: --target=c or jit");
  if (any || *c || strcmp(target, "eval") == 0) return LEAVE_OK;
  return fail(s, LEAVE_USAGE, "there is no target %s; this ein has eval, c, jit and cuda", target);
}

Leave threads_wanted(Session *s, const Args *a, int *out) {
  const char *said = arg_last(a, OPT_THREADS);
  int64_t n = 0;
  *out = 0;
  if (!said) return LEAVE_OK;
  if (!int64_read(said, strlen(said), &n) || n < 1 || n > THREADS_MOST)
    return fail(s, LEAVE_USAGE, "--threads %s: expected a number from 1 to %d", said, THREADS_MOST);
  *out = (int)n;
  return LEAVE_OK;
}

/* Compiled code leaves sizes open. If these do not fit, elaboration with them reports the error better, and its
 * place. */
static Leave run_plan(Session *s, const Job *j, const Args *a, Library *lib, Eval *e) {
  ein_status status;
  bool capture = s->capture;
  uint32_t from = s->captured.len;
  s->capture = true;
  Leave l = library_plan(s, lib, j, e, &status);
  s->capture = capture;
  if (!l || capture) return l;
  Job sized = *j;
  const char *why = s->captured.len > from ? s->captured.at[from] : "";
  s->captured.len = from;
  Leave better = j->program ? job_graph(s, &sized, a) : LEAVE_OK;
  return better ? better : fail(s, l, "%s", why);
}

static Leave run_c(Session *s, Job *j, const Args *a, Eval *e) {
  Compiler c;
  Library lib = {0};
  int threads;
  ein_status status;
  EvalStatus how;
  if (target_too_wide(s, j, a)) return run_eval(s, e, &how);
  Leave l = threads_wanted(s, a, &threads);
  if (!l) l = compiler_choose(s, a, arg_last(a, OPT_CC), arg_last(a, OPT_FLAGS), &c);
  if (!l) l = job_loops(s, j, a);
  threads_sleep(s);
  c.dense = true; /* an Eval's arrays are */
  if (!l) l = library_open(s, j, &c, threads, &lib);
  j->ready = seconds_now();
  if (!l && j->tasks->mesh.n) {
    l = sites_run(s, &lib, j, e, threads);
    return library_close(&lib), l;
  }
  if (!l) l = run_plan(s, j, a, &lib, e);
  if (!l) patience_c(s, j, threads);
  if (!l && s->progress) progress_begin(s->progress, j, lib.ctx);
  if (!l) l = library_run(s, &lib, e, &status);
  if (s->progress) progress_end(s->progress);
  if (!l) library_counts(s, &lib);
  library_close(&lib);
  return l;
}

static uint32_t output_number(const Job *j, Str name) {
  for (uint32_t i = 0; j->relations && i < j->relations->outputs.len; i++)
    if (j->relations->outputs.at[i].name == name) return i;
  for (uint32_t i = 0; !j->relations && i < j->tasks->outputs.len; i++)
    if (j->tasks->outputs.at[i].name == name) return i;
  bug("an output that nobody makes");
}

/* The tasks with the values that the run's dims have. */
static TaskGraph sized_tasks(Session *s, const TaskGraph *t, const Eval *e) {
  TaskGraph own = *t;
  own.dims.at = arena_copy(s->arena, t->dims.at, t->dims.len * sizeof *t->dims.at);
  vec_each(Dim, d, own.dims) {
    for (uint32_t k = 0; !d->known && k < e->n_dim; k++)
      if (e->dim[k].name == d->name) d->known = true, d->value = e->dim[k].value;
  }
  return own;
}

Leave run_text(Session *s, const Job *j, Eval *e, EvalStatus *status) {
  const char *why = NULL;
  Place at = {0};
  uint32_t n = e->n_input;
  AlgGiven *given = NEW_ARRAY(s->arena, AlgGiven, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    const EvalArray *x = &e->input[i].array;
    given[i] = (AlgGiven){e->input[i].name, {x->dtype, x->rank, x->shape, x->count, x->data, x->has}};
  }
  AlgRun r = {.arena = s->arena, .program = j->relations, .input = given, .n_input = n};
  TaskGraph own = {0};
  if (j->tasks) own = sized_tasks(s, j->tasks, e);
  SiteRun t = {.arena = s->arena, .tasks = &own, .input = given, .n_input = n};
  Leave l = externs_load(s, j->relations ? j->relations->exprs : j->tasks->exprs, NULL);
  if (l) return l;
  bool ok = j->relations ? algebra_eval(&r, &why, &at) : site_eval(&t, &why, &at);
  *status = ok ? EVAL_OK : EVAL_RANGE;
  if (!ok) return eval_failed(s, EVAL_RANGE, why, at);
  for (uint32_t i = 0; j->relations && i < j->relations->n_nodes; i++) t.moved += r.moved[i];
  if (job_of_sites(j)) detail(s, "%s: %lld sites received %.0f bytes", j->path,
      (long long)mesh_sites(j->relations ? &j->relations->mesh : &j->tasks->mesh), t.moved);
  const AlgArray *out = j->relations ? r.output : t.output;
  e->output = NEW_ARRAY(s->arena, EvalArray, e->graph->outputs.len + 1);
  for (uint32_t i = 0; i < e->graph->outputs.len; i++) {
    const AlgArray *x = &out[output_number(j, e->graph->outputs.at[i].name)];
    e->output[i] = (EvalArray){x->dtype, x->rank, x->shape, x->count, x->data, x->has};
  }
  return LEAVE_OK;
}

/* Does everything that needs other programs, such as the C compiler: with many ranks the first one does it, before
 * MPI starts. Only the C functions that a default calls each rank makes itself. */
static Leave compute_begin(Session *s, Job *j, const Args *a, bool c, Eval *e, Library *lib) {
  Leave l = LEAVE_OK;
  *lib = (Library){0};
  if (ranks_first(s) && arg_has(a, OPT_SITES)) l = job_sites(s, j, a, LANG_TASK);
  if (!l && !s->ranks && job_of_sites(j)) l = defaults_of_sites(s, a, j, c, e);
  if (!l && s->ranks) l = defaults_ready(s, a, j, c, e);
  if (!l && s->ranks) threads_sleep(s);
  return !l && s->ranks ? ranks_prepare(s, j, a, lib) : l;
}

static Leave compute_end(Session *s, Leave begun, Job *j, const Args *a, bool c, Eval *e, Library *lib) {
  EvalStatus status;
  if (s->ranks) {
    Leave l = ranks_run(s, begun, j, a, lib, e);
    library_close(lib);
    defaults_end(j);
    return l;
  }
  if (begun) return begun;
  if ((j->past || job_of_sites(j)) && !c) return run_text(s, j, e, &status);
  if (!c) patience_eval(s, j, e->graph, "; without --target=eval it is faster");
  return c ? run_c(s, j, a, e) : run_eval(s, e, &status);
}

/* The same, with progress reports and checkpoints, possibly resuming from one. */
static Leave compute_and_report(Session *s, Leave begun, Job *j, const Args *a, bool c, Eval *e, Library *lib) {
  Progress p;
  Keeping k;
  bool keep = keeping_wanted(a);
  if (!begun && keep) begun = keeping_new(s, j, a, c, &k);
  if (!begun) begun = progress_new(s, j, a, &p);
  if (!begun) s->progress = &p;
  if (!begun && keep) s->keeping = &k;
  Leave l = compute_end(s, begun, j, a, c, e, lib);
  if (s->progress) progress_end(s->progress);
  s->progress = NULL;
  s->keeping = NULL;
  return l;
}

Leave run_compute(Session *s, Job *j, const Args *a, bool c, Eval *e) {
  Library lib;
  Leave l = compute_begin(s, j, a, c, e, &lib);
  return compute_and_report(s, l, j, a, c, e, &lib);
}

static Leave outputs_show(Session *s, const Eval *e, const Targets *t) {
  Buf b = buf_new(s->arena);
  for (uint32_t i = 0; i < e->graph->outputs.len; i++) {
    const EinOutput *o = &e->graph->outputs.at[i];
    if (!targets_have(t, o->name)) report_output(&b, o, &e->output[i]);
  }
  print(s, &b);
  return LEAVE_OK;
}

/* Finds its sources, and makes its graph as the target needs it. */
static Leave job_given(Session *s, Job *j, const Args *a, const Words *inputs, bool *c, Givens *given) {
  Leave l = run_target(s, j, a, c);
  if (!l) l = job_dims(s, j, a);
  if (!l) l = given_find(s, j, a, inputs, given);
  if (!l) l = *c && !arg_has(a, OPT_SITES) ? job_graph_open(s, j, a) : job_graph(s, j, a);
  j->given = arena_copy(s->arena, given, sizeof *given);
  return l;
}

Leave run_profiled(Session *s, Job *j, const Args *a, const Words *inputs) {
  Givens given = {0};
  Eval e;
  bool c;
  Leave l = job_given(s, j, a, inputs, &c, &given);
  if (!l) given_fill(s, j, &given);
  j->given = arena_copy(s->arena, &given, sizeof given);
  if (!l) l = run_inputs(s, j, &given, &e);
  if (!l) l = profile_new(s, a, j, c);
  if (!l) s->profile->again = true;
  return l ? l : run_compute(s, j, a, c, &e);
}

Leave run_job(Session *s, Job *j, const Args *a, const Words *inputs) {
  Givens given = {0};
  Targets targets = {0};
  Library lib = {0};
  Eval e;
  bool c;
  Leave l = job_given(s, j, a, inputs, &c, &given);
  if (!l && ranks_first(s)) l = targets_find(s, j->graph, a, &targets);
  if (!l) targets_stored(j, &targets);
  j->targets = &targets;
  if (!l) l = run_inputs(s, j, &given, &e);
  if (!l) l = profile_new(s, a, j, c);
  if (!l) l = compute_begin(s, j, a, c, &e, &lib);
  l = compute_and_report(s, l, j, a, c, &e, &lib);
  if (l || !ranks_first(s)) return l;
  l = targets_write(s, &e, &targets);
  if (!l) l = outputs_show(s, &e, &targets);
  return l ? l : profile_say(s, a, j);
}

/* ---- --expect ------------------------------------------------------------------------------- */

/* Words of `# run:` are read first, so that those of the command line come later and win. Their file names are
 * relative to the program's folder. */
Leave comment_words(Session *s, const Expects *x, const char *path, const Args *said,
                           Args *all, Words *inputs) {
  *all = (Args){.command = CMD_RUN};
  Leave l = args_read(s, all, x->run.len, x->run.at);
  const char *slash = strrchr(path, '/');
  for (uint32_t i = 0; i < all->operands.len && !l; i++) {
    const char *word = all->operands.at[i], *spec;
    Str name;
    ein_source_info info;
    if (slash && word_split(s, word, &name, &spec) && *spec != '/') {
      const char *beside = arena_printf(s->arena, "%.*s%s", (int)(slash - path) + 1, path, spec);
      if (ein_source_probe(beside, &info, NULL) == EIN_OK)
        word = arena_printf(s->arena, "%s=%s", name->s, beside);
    }
    vec_push(s->arena, *inputs, word);
  }
  for (OptionId o = 0; o < OPTIONS; o++)
    for (uint32_t i = 0; i < said->given[o].len; i++)
      vec_push(s->arena, all->given[o], said->given[o].at[i]);
  for (uint32_t i = 1; i < said->operands.len; i++)
    vec_push(s->arena, *inputs, said->operands.at[i]);
  all->command = said->command;
  return l;
}

static Leave expected_error(Session *s, const Expects *x, const char *path, Leave l) {
  s->capture = false;
  const uint32_t line = span_line(s->arena, x->error_span);
  if (!l)
    return fail(s, LEAVE_PROGRAM, "%s:%u: the run succeeds, but must fail: %s", path, line,
                x->error);
  bool said = false;
  for (uint32_t i = 0; i < s->captured.len; i++) said |= strstr(s->captured.at[i], x->error) != NULL;
  if (s->ranks) said = ranks_any(s, said);
  if (said) return LEAVE_OK;
  for (uint32_t i = 0; i < s->captured.len; i++) say(s, "it said: %s", s->captured.at[i]);
  return fail(s, LEAVE_PROGRAM, "%s:%u: the run fails, but does not say: %s", path, line, x->error);
}

/* A program of --expect, between what is done before MPI starts and after. */
typedef struct Expected {
  Job j;
  Expects x;
  Args all;
  Words said;                /* what was captured */
  Eval e;
  Library lib;
  Leave begun;
  bool c;
} Expected;

static Leave expect_compute(Session *s, Expected *r, const Words *inputs) {
  Job *j = &r->j;
  Givens given = {0};
  Leave l = job_given(s, j, &r->all, inputs, &r->c, &given);
  if (!l) l = run_inputs(s, j, &given, &r->e);
  return l ? l : compute_begin(s, j, &r->all, r->c, &r->e, &r->lib);
}

/* false: there is nothing to run, which has been reported. */
static bool expect_begin(Session *s, Expected *r, const Args *said) {
  Words inputs = {0};
  *r = (Expected){0};
  r->begun = job_read(s, &r->j, said, said->operands.at[0]);
  const AstFile *file = r->begun ? NULL : job_file(&r->j);
  if (!r->begun && !file)
    r->begun = fail(s, LEAVE_USAGE, "--expect is about comments of a program, and %s is none", r->j.path);
  if (!r->begun) r->begun = expects_read(s, file, r->j.path, &r->x);
  if (!r->begun) r->begun = expects_any(s, r->j.path, &r->x);
  if (!r->begun) r->begun = comment_words(s, &r->x, r->j.path, said, &r->all, &inputs);
  if (!r->begun) r->begun = sites_said(s, &r->all, r->j.path);
  if (r->begun) return false;
  s->capture = r->x.error != NULL;
  r->begun = expect_compute(s, r, &inputs);
  s->capture = false;
  r->said = s->captured;
  s->captured = (Words){0};
  return true;
}

static Leave expect_judge(Session *s, Expected *r) {
  const Job *j = &r->j;
  if (!ranks_first(s)) return LEAVE_OK;
  Leave l = expects_check(s, &r->x, j->path, j->graph, r->e.output);
  /* A graph that had to be split into steps has too many points for an evaluator of the original; and from the AST
   * no language is reread. */
  bool ask = !l && j->program && !r->c && r->e.graph == j->graph && !arg_has(&r->all, OPT_ROUNDTRIP);
  return ask ? opinion_check(s, j, &r->e) : l;
}

static Leave expect_end(Session *s, Expected *r) {
  s->capture = r->x.error != NULL;
  s->captured = r->said;
  Leave l = compute_end(s, r->begun, &r->j, &r->all, r->c, &r->e, &r->lib);
  if (s->ranks && r->x.error) l = ranks_agree(s, l);
  if (r->x.error) return expected_error(s, &r->x, r->j.path, l);
  if (!l) l = expect_judge(s, r);
  if (!l) detail(s, "%s: %u expectation%s met", r->j.path, r->x.all.len, r->x.all.len == 1 ? "" : "s");
  return l;
}

/* Several programs: with ranks all are prepared before the first one runs, as nothing may be compiled after that. */
static Leave expect_all(Session *s, const Args *a) {
  Expected *r = NEW_ARRAY(s->arena, Expected, a->operands.len);
  bool *ready = NEW_ARRAY(s->arena, bool, a->operands.len);
  Leave worst = LEAVE_OK;
  for (uint32_t i = 0; i < a->operands.len; i++) {
    Args one = *a;
    one.operands = (Words){0};
    vec_push(s->arena, one.operands, a->operands.at[i]);
    ready[i] = expect_begin(s, &r[i], &one);
    if (ready[i] && !s->ranks) r[i].begun = expect_end(s, &r[i]);
  }
  for (uint32_t i = 0; i < a->operands.len; i++) {
    Leave l = s->ranks && ready[i] ? expect_end(s, &r[i]) : r[i].begun;
    if (s->ranks) l = ranks_settle(s, l);
    if (l > worst) worst = l;
  }
  return worst;
}

/* ---- the command ---------------------------------------------------------------------------- */

/* The first word other than NAME=SOURCE is the program; moves it to the front. */
bool program_first(Session *s, Args *a) {
  Str name;
  const char *rest;
  for (uint32_t i = 0; i < a->operands.len; i++) {
    const char *word = a->operands.at[i];
    if (word_split(s, word, &name, &rest)) continue;
    memmove(a->operands.at + 1, a->operands.at, i * sizeof word);
    a->operands.at[0] = word;
    return true;
  }
  return false;
}

/* No operand is a program: perhaps an option has taken it, as in `ein run -o x.ein`. */
Leave program_missing(Session *s, const Args *a, const char *form) {
  for (OptionId o = 0; o < OPTIONS; o++) {
    const char *taken = options[o].argument ? arg_last(a, o) : NULL;
    size_t n = taken ? strlen(taken) : 0;
    if (n > 4 && strcmp(taken + n - 4, ".ein") == 0)
      return fail(
          s, LEAVE_USAGE, "which program? --%s takes the word after it, here %s: %s", options[o].name, taken, form);
  }
  return fail(s, LEAVE_USAGE, "which program? %s", form);
}

Leave data_refuse(Session *s, const Args *a, const char *command) {
  Str name;
  const char *rest;
  vec_each_of(const char, word, a->operands) {
    if (word_split(s, word, &name, &rest) && access(word, F_OK) != 0)
      return fail(s, LEAVE_USAGE, "%s: %s reads programs and no data; sizes are given by -D NAME=N", word, command);
  }
  return LEAVE_OK;
}

static bool only_programs(Session *s, const Args *a) {
  Str name;
  const char *rest;
  for (uint32_t i = 0; i < a->operands.len; i++)
    if (word_split(s, a->operands.at[i], &name, &rest)) return false;
  return true;
}

static Leave run_one(Session *s, Args *a) {
  Expected r;
  if (!program_first(s, a)) return program_missing(s, a, "ein run x.ein");
  if (arg_has(a, OPT_EXPECT) && keeping_wanted(a))
    return fail(s, LEAVE_USAGE, "--expect looks at whole runs, and --checkpoint and --resume are about parts of one");
  if (arg_has(a, OPT_EXPECT) && (arg_has(a, OPT_PROFILE) || arg_has(a, OPT_TRACE)))
    return fail(s, LEAVE_USAGE, "--expect looks at answers, and --profile and --trace at times: one of them");
  if (arg_has(a, OPT_EXPECT) && a->operands.len > 1 && only_programs(s, a)) return expect_all(s, a);
  if (arg_has(a, OPT_EXPECT)) return expect_begin(s, &r, a) ? expect_end(s, &r) : r.begun;
  Job j;
  Leave l = sites_said(s, a, a->operands.at[0]);
  if (!l) l = job_read(s, &j, a, a->operands.at[0]);
  if (l) return l;
  Words inputs = {0};
  for (uint32_t i = 1; i < a->operands.len; i++) vec_push(s->arena, inputs, a->operands.at[i]);
  return run_job(s, &j, a, &inputs);
}

/* -n defaults to the number of processes that the launcher started. A text of what is placed states it itself. */
static void sites_of_ranks(Session *s, Args *a) {
  const char *n = arena_printf(s->arena, "%d", s->ranks->ranks);
  bool past = a->operands.len && program_first(s, a) && language_of(a->operands.at[0]) >= LANG_IA;
  if (!past && !arg_has(a, OPT_SITES)) vec_push(s->arena, a->given[OPT_SITES], n);
}

/* Before --np starts processes: they would report a mistake in the program too, but with mpirun's comments. */
static Leave program_sound(Session *s, Args *a) {
  if (!program_first(s, a)) return program_missing(s, a, "ein run --np 4 x.ein");
  const char *path = a->operands.at[0];
  if (strcmp(path, "-") == 0)
    return fail(s, LEAVE_USAGE, "--np: standard input reaches the first process only; write the program to a file");
  if (language_of(path) != LANG_PROGRAM) return LEAVE_OK;
  Job j;
  Session own = *s;
  own.arena = arena_new();
  own.strings = strings_new(own.arena);
  own.exprs = exprs_new(own.arena);
  own.silent = true; /* the first process will print warnings */
  own.unsaid = (Words){0};
  session_fresh(&own);
  Leave l = job_compile(&own, &j, a, path);
  for (uint32_t i = 0; l && i < own.unsaid.len; i++)
    print_aside(s, &(Buf){.s = (char *)(uintptr_t)own.unsaid.at[i], .len = strlen(own.unsaid.at[i])});
  arena_free(own.arena);
  return l;
}

Leave cmd_run(Session *s, Args *a) {
  if (!s->guest) ranks_find(s);
  if (arg_has(a, OPT_NP)) {
    Leave l = s->ranks ? LEAVE_OK : program_sound(s, a);
    if (!l) l = ranks_launch(s, a);
    if (l) return l;
  }
  if (!s->ranks) return run_one(s, a);
  Leave l = ranks_ready(s);
  if (l) return l;
  sites_of_ranks(s, a);
  return ranks_end(s, run_one(s, a));
}
