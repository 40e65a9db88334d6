/* driver/column.c - the pipeline: what every command does with a program, in order. After each language its result
 * is checked, and under --roundtrip replaced by what its text reads back as (language.c).
 *
 *     parse -> graph -> optimised -> tasks -> loops                   for one site
 *                    -> (a plan) -> relations -> tasks                for many
 *
 * A text enters at its own stage (texts.c); reports look at results and make none. */
#include <string.h>
#include <unistd.h>

#include "graph/passes/passes.h"
#include "task/from_graph.h"
#include "task/sites/from_ia.h"
#include "driver.h"
#include "driver/compile/native.h"
#include "driver/table.h"
#include "texts.h"

/* ---- parse -------------------------------------------------------------------------------------------- */

/* Reports complaints about the parts that parsed, if they depend only on the text. */
static void job_rest(Session *s, Job *j, const Args *a) {
  if (!s->diags->errors || a->given[OPT_DIM].len || !program_hangs_together(&s->front, j->program)) return;
  bug_where = "graph_from_ast of a broken program";
  program_rest(&s->front, j->program);
  bug_where = NULL;
}

/* Words NAME=VALUE of the command line, from `first` on: complains about a name with two values. */
static Leave words_agree(Session *s, const Words *w, uint32_t first, const char *option) {
  Map seen = map_new(s->arena);
  Str name;
  const char *rest;
  for (uint32_t i = first; i < w->len; i++) {
    if (!word_split(s, w->at[i], &name, &rest)) continue;
    const char *old = map_find(&seen, name);
    if (old && strcmp(old, w->at[i]) != 0)
      return fail(s, LEAVE_USAGE, "%s is given twice: %s%s and %s%s", name->s, option, old, option, w->at[i]);
    map_put(&seen, name, (void *)(uintptr_t)w->at[i]);
  }
  return LEAVE_OK;
}

static Leave program_parse(Session *s, Job *j) {
  if (strcmp(j->path, "-") == 0 || file_stands_in(s, j->path)) {
    Source *src = file_stands_in(s, j->path) ? file_read(s, j->path) : stdin_read(s);
    if (!src) return LEAVE_MACHINE;
    j->program = program_from_text(&s->front, src->name, src->bytes, src->len);
  } else if (access(j->path, F_OK) != 0 && access(arena_printf(s->arena, "%s.ein", j->path), F_OK) == 0)
    return fail(s, LEAVE_USAGE, "there is no %s; did you mean %s.ein?", j->path, j->path);
  else
    j->program = program_read(&s->front, j->path);
  return LEAVE_OK;
}

Leave job_read(Session *s, Job *j, const Args *a, const char *path) {
  *j = (Job){.path = path, .from = language_of(path)};
  Leave l = words_agree(s, &a->given[OPT_DIM], 0, "-D ");
  if (!l && (a->command == CMD_RUN || a->command == CMD_VERIFY || a->command == CMD_BENCH || a->command == CMD_PLAN))
    l = words_agree(s, &a->operands, 1, "");
  if (l) return l;
  if (j->from != LANG_PROGRAM) return text_begin(s, j, a);
  l = program_parse(s, j);
  if (l) return l;
  job_rest(s, j, a);
  return s->diags->errors ? session_report(s) : LEAVE_OK;
}

Leave job_from_text(Session *s, Job *j, const char *name, const char *text) {
  *j = (Job){.path = name};
  j->program = program_from_text(&s->front, name, text, strlen(text));
  return s->diags->errors ? session_report(s) : LEAVE_OK;
}

AstFile *job_file(const Job *j) {
  return j->program ? j->program->file : NULL;
}

/* ---- graph -------------------------------------------------------------------------------------------- */

static EinGraph *graph_elaborate(Session *s, Job *j, const DimValues *dims) {
  s->front.keep = j->keep;
  EinGraph *g = graph_from_ast(&s->front, j->program, dims);
  j->lower = s->front.lower;
  return g;
}

Leave job_graph(Session *s, Job *j, const Args *a) {
  if (j->past) return LEAVE_OK;
  bool limited = arg_has(a, OPT_MEMORY) && !target_device(s, a);
  if (limited && !j->keep) j->keep = INT64_MAX; /* the limit decides */
  Leave fits = memory_of_run(s, j, a) ? memory_of_run_keep(s, j, a) : LEAVE_OK;
  if (fits) return fits;
  if (j->program) {
    bug_where = "graph_from_ast";
    EinGraph *g = graph_elaborate(s, j, &j->dims);
    bool silent = !g && !s->diags->errors;
    Leave l = session_report(s);
    if (l) return l;
    if (silent) bug("no graph, and no complaint");
    j->graph = g;
  }
  j->graph = language_made(s, LANG_GRAPH, j->path, j->graph, arg_has(a, OPT_ROUNDTRIP));
  bug_where = NULL;
  return LEAVE_OK;
}

/* The dims that `some` lacks are those that the program leaves without a value. */
static DimValues dims_fixed(Session *s, const Job *j, const EinGraph *some) {
  DimValues fixed = {0};
  for (uint32_t i = 0; i < j->dims.len; i++) {
    bool open = false;
    for (uint32_t k = 0; k < some->dims.len; k++)
      open |= !some->dims.at[k].known && some->dims.at[k].name == j->dims.at[i].name;
    if (!open) vec_push(s->arena, fixed, j->dims.at[i]);
  }
  return fixed;
}

/* NULL if the program cannot be compiled with these dims; reports no complaints. */
static EinGraph *graph_try(Session *s, Job *j, const DimValues *dims) {
  session_fresh(s);
  EinGraph *g = graph_elaborate(s, j, dims);
  if (s->diags->errors) g = NULL;
  return g;
}

bool job_graph_silent(Session *s, Job *j) {
  Diags *said = s->diags; /* the parser's: kept */
  Front front = s->front;
  j->graph = graph_try(s, j, &j->dims);
  s->diags = said;
  s->front = front;
  return j->graph != NULL;
}

Leave job_graph_open(Session *s, Job *j, const Args *a) {
  const DimValues none = {0};
  if (!j->program || !j->dims.len || memory_of_run(s, j, a)) return job_graph(s, j, a);
  bug_where = "graph_from_ast, sizes open";
  Diags *said = s->diags; /* the parser's: kept, whatever the attempts report */
  Front front = s->front;
  EinGraph *g = graph_try(s, j, &none);
  DimValues fixed = {0}, all = j->dims;
  if (g) fixed = dims_fixed(s, j, g);
  if (g && fixed.len) g = graph_try(s, j, &fixed);
  bool unsized = g && s->front.unsized;
  s->diags = said;
  s->front = front;
  if (!g || unsized) return job_graph(s, j, a);
  j->dims = fixed;
  Leave l = job_graph(s, j, a);
  j->dims = all;
  return l;
}

Leave job_compile(Session *s, Job *j, const Args *a, const char *path) {
  Leave l = job_read(s, j, a, path);
  if (l == LEAVE_OK) l = job_dims(s, j, a);
  return l == LEAVE_OK ? job_graph(s, j, a) : l;
}

Leave job_sizes(Session *s, Job *j, const Args *a) {
  Words words = {0};
  Givens given = {0};
  for (uint32_t i = 1; i < a->operands.len; i++) vec_push(s->arena, words, a->operands.at[i]);
  Leave l = job_dims(s, j, a);
  return l ? l : given_find(s, j, a, &words, &given);
}

/* ---- graph to graph ----------------------------------------------------------------------------------- */

/* Runs after each pass on the graph. */
static void pass_sound(void *ctx, const char *pass, const EinGraph *g) {
  Session *s = ctx;
  Buf b = buf_new(s->arena);
  if (!graph_check(g, &b)) bug("after the pass %s the graph is not as it should be:\n%s", pass, b.s);
}

Leave job_narrow(Session *s, const Job *j, const EinGraph *g) {
  const EinNode *n = graph_too_wide(g);
  if (!n) return LEAVE_OK;
  return fail(s, LEAVE_PROGRAM, "%s has %u labels, and is no product that can be computed by steps over fewer (%s:%u)",
              n->name ? n->name->s : "an equation",
              n->sum->n_out + n->sum->n_red, n->place.file ? n->place.file->s : j->path, n->place.line);
}

static void optimise(Session *s, Job *j, const Args *a, int64_t sites, bool cut) {
  bug_where = "graph_optimise";
  j->notes = NEW(s->arena, PassNotes);
  *j->notes = pass_notes(s->arena);
  bool fixed = arg_has(a, OPT_DETERMINISTIC);
  Optimise how = {.notes = j->notes, .after = pass_sound, .ctx = s, .sites = fixed ? 1 : sites, .cut = cut,
      .device = target_device(s, a)};
  EinGraph *g = graph_optimise(s->arena, j->graph, &how);
  if (fixed) pass_sound(s, "exact", g = graph_exact(s->arena, g, j->notes));
  j->best = language_made(s, LANG_GRAPH, j->path, g, arg_has(a, OPT_ROUNDTRIP));
  bug_where = NULL;
}

const EinNode *job_widest(Session *s, Job *j, const Args *a) {
  if (!j->best) optimise(s, j, a, 1, false);
  return graph_too_wide(j->best);
}

/* Makes floats combine in one fixed order, and so with fixed bits. */
static Leave job_one_order(Session *s, const Job *j, const Args *a) {
  const EinNode *n = arg_has(a, OPT_DETERMINISTIC) ? graph_inexact(j->best) : NULL;
  if (!n) return LEAVE_OK;
  const char *place = place_text(s->arena, j->path, n->place);
  if (n->sum->by)
    return fail(s, LEAVE_PROGRAM,
        "%sthe bits of what the C function %s reduces depend on its order, which --deterministic cannot fix", place,
        n->sum->by->symbol->s);
  return fail(s, LEAVE_PROGRAM,
      "%sthe bits of this %s of floats depend on its order; with --deterministic, floats are reduced by sums, max and "
      "min",
      place, n->sum->reducer == RED_MONOID ? n->sum->monoid->name->s : reducer_info[n->sum->reducer].name);
}

Leave job_optimised(Session *s, Job *j, const Args *a) {
  return job_widest(s, j, a) ? job_narrow(s, j, j->best) : job_one_order(s, j, a);
}

Leave job_optimised_on(Session *s, Job *j, const Args *a, int64_t sites) {
  optimise(s, j, a, sites, true);
  Leave l = job_narrow(s, j, j->best);
  return l ? l : job_one_order(s, j, a);
}

/* ---- relations, of a graph that is planned ------------------------------------------------------------- */

Algebra *relations_made(Session *s, const Job *j, const KeyGraph *keys, const Cutting *c, bool ia, bool again) {
  Algebra *g;
  bug_where = keys ? "ia_from_tra" : ia ? "ia_from_graph" : "tra_from_graph";
  if (keys) g = ia ? ia_from_tra(s->arena, keys, c) : j->relations;
  else g = ia ? ia_from_graph(s->arena, j->graph, c) : tra_from_graph(s->arena, j->graph, c);
  g = language_made(s, ia ? LANG_IA : LANG_TRA, j->path, g, again);
  if (c) g->memory = c->memory;
  bug_where = NULL;
  return g;
}

/* ---- tasks -------------------------------------------------------------------------------------------- */

TaskGraph *tasks_of_sites(Session *s, const char *path, const Algebra *ia, bool again, Buf *why) {
  bug_where = "task_from_ia";
  TaskGraph *t = task_from_ia(s->arena, ia, why);
  if (t) t = language_made(s, LANG_TASK, path, t, again);
  bug_where = NULL;
  return t;
}

static Leave tasks_from_relations(Session *s, Job *j, bool again) {
  Buf why = buf_new(s->arena);
  if (!j->relations->placed)
    return fail(
        s, LEAVE_USAGE, "%s does not say where its relations are, which tasks have to know: a .ia does", j->path);
  j->tasks = tasks_of_sites(s, j->path, j->relations, again, &why);
  return j->tasks ? LEAVE_OK : fail(s, LEAVE_PROGRAM, "%s cannot be one list of tasks yet: %s", j->path, why.s);
}

Leave job_tasks(Session *s, Job *j, const Args *a) {
  bool again = arg_has(a, OPT_ROUNDTRIP);
  if (j->tasks) return LEAVE_OK;
  if (j->relations) return tasks_from_relations(s, j, again);
  Leave l = job_optimised(s, j, a);
  if (l) return l;
  bug_where = "task_from_graph";
  j->tasks = language_made(s, LANG_TASK, j->path, task_from_graph(s->arena, j->best, target_device(s, a)), again);
  bug_where = NULL;
  return LEAVE_OK;
}

bool job_unplaced(const Job *j) {
  return j->relations && !j->relations->placed;
}

bool job_of_sites(const Job *j) {
  return j->relations || (j->tasks && j->tasks->mesh.n);
}

/* ---- loops -------------------------------------------------------------------------------------------- */

Leave job_one_site(Session *s, const Job *j) {
  if (!j->tasks->mesh.n) return LEAVE_OK;
  return fail(s, LEAVE_USAGE,
      "%s is for %lld sites: --target=mpi builds it, for as many processes; ein run runs it, under mpirun or with "
      "--target=c in one process",
      j->path, (long long)mesh_sites(&j->tasks->mesh));
}

bool loops_device(const Job *j) {
  for (uint32_t i = 0; i < j->loops->kernels.len; i++)
    if (loop_is_device(j->loops->kernels.at[i])) return true;
  return false;
}

/* For a text of loops, which states its target. */
static Leave loops_run_here(Session *s, const Job *j, const Args *a) {
  bool device = loops_device(j), wanted = target_device(s, a);
  if (device == wanted || !j->loops->kernels.len || arg_has(a, OPT_STOP)) return LEAVE_OK;
  return fail(s, LEAVE_USAGE,
      device ? "%s has loops for a device, of which no C is made; --emit=cuda makes CUDA"
             : "%s has loops for a processor, and none for a device",
      j->path);
}

/* Loops may run over several dimensions at once, and count their elements. Open sizes are checked when they are
 * bound. */
static Leave buffer_fits(Session *s, const Job *j, const TaskBuffer *b) {
  int64_t n = 1;
  Value v;
  for (uint32_t k = 0; k < b->rank && n; k++)
    if (!expr_value(b->dim[k], &(ExprEnv){0}, &v) || v.i <= 0) n = 0;
  for (uint32_t k = 0; k < b->rank && n; k++) {
    expr_value(b->dim[k], &(ExprEnv){0}, &v);
    if (mul_ok(n, v.i, &n)) continue;
    return fail(s, LEAVE_PROGRAM, "%s%s has more elements than 64 bits can count",
        place_text(s->arena, j->path, b->place), b->name ? b->name->s : "an equation");
  }
  return LEAVE_OK;
}

/* The same on every machine, so that the same program gives the same bits: sized for AVX-512. Where registers are
 * narrower or fewer, the C compiler uses several for one; tiles are sized to fit. A machine file may state more. */
Leave loop_target(Session *s, const Args *a, LoopTarget *target, double *worth_threads) {
  *target = (LoopTarget){.lanes_bytes = 64, .registers = 32};
  Leave l = tuning_find(s, a, target, worth_threads);
  target->device = target_device(s, a);
  target->apart = arg_has(a, OPT_DETERMINISTIC);
  return l;
}

Leave job_loops(Session *s, Job *j, const Args *a) {
  LoopTarget target;
  Leave l = loop_target(s, a, &target, &j->worth_threads);
  if (!l) l = job_tasks(s, j, a);
  if (l) return l;
  if (j->loops) return loops_run_here(s, j, a);
  for (uint32_t i = 0; i < j->tasks->buffers.len && !l; i++) l = buffer_fits(s, j, &j->tasks->buffers.at[i]);
  if (l) return l;
  if (target.device && extern_count(j->tasks->exprs)) {
    const Extern *x = extern_at(j->tasks->exprs, 0);
    return fail(s, LEAVE_PROGRAM, "%s%s is a C function, and a device cannot call it: CUDA does without `extern`",
        place_text(s->arena, NULL, x->place), x->name->s);
  }
  if (!target.device) target_ask(s, a, j->tasks, &target);
  bug_where = "loop_from_task";
  j->loops = language_made(s, LANG_LOOP, j->path, loop_from_task(j->tasks, &target), arg_has(a, OPT_ROUNDTRIP));
  bug_where = NULL;
  return LEAVE_OK;
}

/* ---- what emitted text says about its origin ------------------------------------------------ */

static uint64_t hash_text(uint64_t h, const char *s, size_t n) { /* FNV-1a */
  for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 0x100000001B3u;
  return h;
}

/* Hashes the program's bytes and its modules'; for a text, its meaning. */
static uint64_t hash_of(Session *s, const Job *j) {
  uint64_t h = 0xCBF29CE484222325u;
  if (j->program) {
    vec_each(const Module, m, j->program->modules)
      if (!m->prelude) h = hash_text(h, m->file->src->bytes, m->file->src->len);
    return hash_text(h, j->program->file->src->bytes, j->program->file->src->len);
  }
  Buf b = buf_new(s->arena);
  if (j->past) task_print(&b, j->tasks);
  else graph_print(&b, j->graph);
  return hash_text(h, b.s, b.len);
}

/* The file's name without its folder, fit for a line of any text. */
static const char *source_name(Session *s, const char *path) {
  const char *slash = strrchr(path, '/');
  char *name = arena_printf(s->arena, "%s", slash ? slash + 1 : path);
  for (char *c = name; *c; c++)
    if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
  return name;
}

EmitOptions job_emit(Session *s, const Job *j, const char *prefix) {
  return (EmitOptions){.prefix = prefix,
                       .source = source_name(s, j->path),
                       .version = EIN_VERSION,
                       .hash = hash_of(s, j),
                       .runtime = runtime_is,
                       .tensor = runtime_ein_tensor,
                       .steps = s->profile != NULL,
                       .worth_threads = j->worth_threads,
                       .declared = axes_declared(s, j)};
}
