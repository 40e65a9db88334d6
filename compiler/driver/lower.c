/* driver/lower.c - the rest of the column: graph to tasks to loops, checked after every step, and replaced by its
 * reread self under --roundtrip; and the texts of these languages, where a compilation may begin. */
#include <string.h>

#include "task/from_graph.h"
#include "graph/passes.h"
#include "emit/c_tables.h"
#include "driver.h"

/* ---- graph to graph, tasks ------------------------------------------------------------------ */

static void tasks_sound(Session *s, const TaskGraph *t) {
  Buf b = buf_new(s->arena);
  if (!task_check(t, &b)) bug("the tasks are not as they should be:\n%s", b.s);
}

static Source *text_source(Session *s, const Job *j, const char *ending, const Buf *text) {
  return source_new(s->arena, arena_printf(s->arena, "%s.%s", j->path, ending), text->s, text->len);
}

static void unread(Session *s, const char *what, Diags *d) {
  Buf why = buf_new(s->arena);
  diags_text(d, &why, false);
  bug("the text of %s does not read back:\n%s", what, why.s);
}

static TaskGraph *tasks_reread(Session *s, const Job *j) {
  Buf text = buf_new(s->arena), why = buf_new(s->arena);
  Diags *d = diags_new(s->arena);
  task_print(&text, j->tasks);
  TaskGraph *again = task_read(s->arena, s->strings, text_source(s, j, "task", &text), d);
  if (!again || d->errors) unread(s, "the tasks", d);
  if (!task_equal(j->tasks, again, &why)) bug("the tasks' text reads back as other tasks: %s", why.s);
  tasks_sound(s, again);
  return again;
}

/* After each pass on the graph. */
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

Leave job_optimised(Session *s, Job *j, const Args *a) {
  if (j->best) return LEAVE_OK;
  bug_where = "graph_optimise";
  j->notes = NEW(s->arena, PassNotes);
  *j->notes = pass_notes(s->arena);
  Optimise how = {.notes = j->notes, .after = pass_sound, .ctx = s};
  j->best = graph_optimise(s->arena, j->graph, &how);
  if (arg_has(a, OPT_ROUNDTRIP)) j->best = graph_reread(s, j->best, j->path);
  bug_where = NULL;
  return job_narrow(s, j, j->best);
}

Leave job_tasks(Session *s, Job *j, const Args *a) {
  if (j->tasks) return LEAVE_OK;
  Leave l = job_optimised(s, j, a);
  if (l) return l;
  bug_where = "task_from_graph";
  j->tasks = task_from_graph(s->arena, j->best);
  tasks_sound(s, j->tasks);
  bug_where = "task_read(task_print)";
  if (arg_has(a, OPT_ROUNDTRIP)) j->tasks = tasks_reread(s, j);
  bug_where = NULL;
  return LEAVE_OK;
}

/* ---- loops ---------------------------------------------------------------------------------- */

static void loops_sound(Session *s, const LoopProgram *p) {
  Buf b = buf_new(s->arena);
  if (!loop_check(p, &b)) bug("the loops are not as they should be:\n%s", b.s);
}

static LoopProgram *loops_reread(Session *s, const Job *j) {
  Buf text = buf_new(s->arena), why = buf_new(s->arena);
  Diags *d = diags_new(s->arena);
  loop_print(&text, j->loops);
  LoopProgram *again = loop_read(s->arena, s->strings, text_source(s, j, "loop", &text), d);
  if (!again || d->errors) unread(s, "the loops", d);
  if (!loop_equal(j->loops, again, &why)) bug("the loops' text reads back as other loops: %s", why.s);
  loops_sound(s, again);
  return again;
}

/* The same on every machine, so that the same program gives the same bits: as AVX-512 has it. Where registers are narrower
 * or fewer, the C compiler takes several for one; tiles are made to fit them. A machine file may say more. */
Leave job_loops(Session *s, Job *j, const Args *a) {
  LoopTarget target = {.lanes_bytes = 64, .registers = 32};
  Leave l = tuning_find(s, a, &target, &j->worth_threads);
  if (l || j->loops) return l;
  l = job_tasks(s, j, a);
  if (l) return l;
  if (j->tasks->mesh.n) return fail(s, LEAVE_USAGE, "%s is for a mesh of sites, and what is built is for one", j->path);
  target_ask(s, a, j->tasks, &target);
  bug_where = "loop_from_task";
  j->loops = loop_from_task(j->tasks, &target);
  loops_sound(s, j->loops);
  bug_where = "loop_read(loop_print)";
  if (arg_has(a, OPT_ROUNDTRIP)) j->loops = loops_reread(s, j);
  bug_where = NULL;
  return LEAVE_OK;
}

/* ---- texts of tasks and loops ---------------------------------------------------------------- */

static Source *text_read(Session *s, const Job *j) {
  const char *why;
  Source *src = source_read(s->arena, j->path, &why);
  if (!src) fail(s, LEAVE_MACHINE, "cannot read %s: %s", j->path, why);
  return src;
}

/* A tensor as far as its name, type and shape go; labels are NULL where none are known. */
static EinNode *argument_vertex(EinGraph *g, const TaskBuffer *b, Str *label) {
  Exprs *x = g->exprs;
  if (!label) label = NEW_ARRAY(g->arena, Str, b->rank + 1);
  const Expr *zero = dtype_is_float(b->dtype) ? expr_real(x, b->dtype, 0) : expr_int(x, b->dtype, 0);
  EinSum sum = {.n_out = b->rank, .acc = b->dtype, .dtype = b->dtype, .body = zero};
  EinNode *n = graph_vertex(g, g->top, &sum, b->dim, label, b->rank, NULL, NULL);
  n->place = b->place;
  return n;
}

/* What asks for the names, types and shapes of inputs and outputs asks a graph: here is one, with nothing in between. */
static EinGraph *graph_of_arguments(Session *s, const TaskGraph *t) {
  EinGraph *g = graph_new(s->arena, s->strings, t->exprs);
  AxisLabels labels = axis_labels(s->arena, t, NULL);
  for (uint32_t i = 0; i < t->dims.len; i++)
    vec_push(s->arena, g->dims, ((EinDim){t->dims.at[i].name, t->dims.at[i].known, t->dims.at[i].value}));
  for (uint32_t i = 0; i < t->inputs.len; i++) {
    const TaskArgument *x = &t->inputs.at[i];
    const TaskBuffer *b = &t->buffers.at[x->buffer];
    EinNode *fallback = x->optional ? argument_vertex(g, b, labels.of[b->id]) : NULL;
    EinNode *n = graph_input(g, x->name, b->dtype, b->rank, b->dim, x->param);
    n->fallback = fallback;
    n->place = b->place;
  }
  for (uint32_t i = 0; i < t->outputs.len; i++) {
    const TaskBuffer *b = &t->buffers.at[t->outputs.at[i].buffer];
    EinNode *n = argument_vertex(g, b, labels.of[b->id]);
    vec_push(s->arena, g->outputs, ((EinOutput){t->outputs.at[i].name, n}));
  }
  return g;
}

static void tasks_begin(Session *s, Job *j) {
  j->past = true;
  j->graph = graph_of_arguments(s, j->tasks);
}

Leave task_file(Session *s, Job *j) {
  Source *src = text_read(s, j);
  if (!src) return LEAVE_MACHINE;
  j->tasks = task_read(s->arena, s->strings, src, s->diags);
  Leave l = session_report(s);
  if (l || !j->tasks) return l ? l : LEAVE_PROGRAM;
  if (!task_check_text(j->tasks, s->diags) || !task_check_ranges(j->tasks, s->diags)) return session_report(s);
  tasks_begin(s, j);
  return LEAVE_OK;
}

static Leave loop_source(Session *s, Job *j, Source *src) {
  j->loops = loop_read(s->arena, s->strings, src, s->diags);
  Leave l = session_report(s);
  if (l || !j->loops) return l ? l : LEAVE_PROGRAM;
  Buf why = buf_new(s->arena);
  j->tasks = j->loops->tasks;
  if (!loop_check(j->loops, &why)) return fail(s, LEAVE_PROGRAM, "%s is no correct text of loops:\n%s", j->path, why.s);
  tasks_begin(s, j);
  return LEAVE_OK;
}

/* What is not proved of its loops is looked at from here on. */
static Leave loops_guarded(Session *s, Job *j) {
  Buf open = buf_new(s->arena);
  if (!task_check_ranges(j->tasks, s->diags)) return session_report(s);
  loop_guard(j->loops, &open);
  if (open.len) say(s, "%s: not proved to be in range, and looked at while it runs:\n%s", j->path, open.s);
  loops_sound(s, j->loops);
  return LEAVE_OK;
}

Leave loop_file(Session *s, Job *j) {
  Source *src = text_read(s, j);
  Leave l = src ? loop_source(s, j, src) : LEAVE_MACHINE;
  return l ? l : loops_guarded(s, j);
}

Leave job_from_loops(Session *s, Job *j, const char *name, const char *text) {
  *j = (Job){.path = name};
  return loop_source(s, j, source_new(s->arena, name, text, strlen(text)));
}

/* ---- what emitted text says about its origin ------------------------------------------------ */

static uint64_t hash_text(uint64_t h, const char *s, size_t n) { /* FNV-1a */
  for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 0x100000001B3u;
  return h;
}

/* The program's bytes and its modules'; of a text, what it means. */
static uint64_t hash_of(Session *s, const Job *j) {
  uint64_t h = 0xCBF29CE484222325u;
  if (j->program) {
    for (uint32_t i = 0; i < j->program->modules.len; i++) {
      const Module *m = &j->program->modules.at[i];
      if (!m->prelude) h = hash_text(h, m->file->src->bytes, m->file->src->len);
    }
    return hash_text(h, j->program->file->src->bytes, j->program->file->src->len);
  }
  Buf b = buf_new(s->arena);
  if (j->past) task_print(&b, j->tasks);
  else graph_print(&b, j->graph);
  return hash_text(h, b.s, b.len);
}

/* The file's name alone, fit for a line of any text. */
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
                       .worth_threads = j->worth_threads,
                       .declared = axes_declared(s, j)};
}
