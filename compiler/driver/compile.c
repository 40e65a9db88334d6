/* driver/compile.c - the column: a file, its sizes, its graph; checked after every step, and
 * replaced by its reread self under --roundtrip. A graph's text joins in where it belongs. */
#include <string.h>
#include <unistd.h>

#include "driver.h"

/* ---- reading -------------------------------------------------------------------------------- */

static bool ends_in(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && strcmp(s + n - m, end) == 0;
}

/* A graph's text that was mailed to us may be wrong: that is no bug. */
static Leave graph_file(Session *s, Job *j) {
  const char *why;
  Source *src = source_read(s->arena, j->path, &why);
  if (!src) return fail(s, LEAVE_MACHINE, "cannot read %s: %s", j->path, why);
  EinGraph *g = graph_read(s->arena, s->strings, src, s->diags);
  Leave l = session_report(s);
  if (l || !g) return l ? l : LEAVE_PROGRAM;
  if (!graph_check_text(g, s->diags) || !graph_check_ranges(g, s->diags)) return session_report(s);
  j->graph = g;
  return LEAVE_OK;
}

/* The complaints about what did parse, where nothing else than the text decides them. */
static void job_rest(Session *s, Job *j, const Args *a) {
  if (!s->diags->errors || a->given[OPT_DIM].len || !program_hangs_together(&s->front, j->program)) return;
  bug_where = "graph_from_ast of a broken program";
  program_rest(&s->front, j->program);
  bug_where = NULL;
}

/* Words NAME=VALUE of the command line, from the first on: a name that is given two values. */
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

Leave job_read(Session *s, Job *j, const Args *a, const char *path) {
  *j = (Job){.path = path};
  Leave twice = words_agree(s, &a->given[OPT_DIM], 0, "-D ");
  if (!twice && (a->command == CMD_RUN || a->command == CMD_VERIFY || a->command == CMD_BENCH)) twice = words_agree(s, &a->operands, 1, "");
  if (twice) return twice;
  if (ends_in(path, ".graph") || ends_in(path, ".eing")) return graph_file(s, j);
  bool task = ends_in(path, ".task"), loop = ends_in(path, ".loop");
  if ((task || loop) && (a->command == CMD_VERIFY || a->command == CMD_GRAPH))
    return fail(s, LEAVE_USAGE, "%s is past the graph, which is what ein %s wants", path, commands[a->command].name);
  if (task || loop) return task ? task_file(s, j) : loop_file(s, j);
  if (strcmp(path, "-") == 0) {
    Source *src = stdin_read(s);
    if (!src) return LEAVE_MACHINE;
    j->program = program_from_text(&s->front, src->name, src->bytes, src->len);
  } else if (access(path, F_OK) != 0 && access(arena_printf(s->arena, "%s.ein", path), F_OK) == 0)
    return fail(s, LEAVE_USAGE, "there is no %s; did you mean %s.ein?", path, path);
  else
    j->program = program_read(&s->front, path);
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

/* ---- dims ----------------------------------------------------------------------------------- */

typedef VEC(Str) Names;

static void names_of_file(Session *s, const AstFile *f, Names *out) {
  for (uint32_t i = 0; i < f->stmts.len; i++) {
    const AstStmt *st = f->stmts.at[i];
    for (uint32_t k = 0; st->kind == STMT_DIM && k < st->decls.len; k++)
      vec_push(s->arena, *out, st->decls.at[k].name.s);
  }
}

/* The dims that -D may name. Of a graph only those still open: the others are constants by now. */
static Names dims_declared(Session *s, const Job *j) {
  Names n = {0};
  for (uint32_t i = 0; j->graph && i < j->graph->dims.len; i++)
    if (!j->graph->dims.at[i].known) vec_push(s->arena, n, j->graph->dims.at[i].name);
  if (!j->program) return n;
  names_of_file(s, j->program->file, &n);
  for (uint32_t i = 0; i < j->program->modules.len; i++)
    if (!j->program->modules.at[i].prelude) names_of_file(s, j->program->modules.at[i].file, &n);
  return n;
}

bool job_has_dim(Session *s, const Job *j, Str name) {
  Names known = dims_declared(s, j);
  for (uint32_t i = 0; i < known.len; i++)
    if (known.at[i] == name) return true;
  return false;
}

static Leave dim_unknown(Session *s, const Job *j, Str name, const Names *known) {
  Nearest near = nearest_to(s->arena, name->s);
  Buf b = buf_new(s->arena);
  for (uint32_t i = 0; i < known->len; i++) {
    nearest_try(&near, known->at[i]->s);
    buf_printf(&b, "%s%s", i ? ", " : "", known->at[i]->s);
  }
  for (uint32_t i = 0; !j->program && i < j->graph->dims.len; i++)
    if (j->graph->dims.at[i].known && j->graph->dims.at[i].name == name)
      return fail(s, LEAVE_USAGE, "-D %s: the dim is a constant by now, %lld", name->s,
                  (long long)j->graph->dims.at[i].value);
  if (near.best)
    return fail(s, LEAVE_USAGE, "%s has no dim %s; did you mean %s?", j->path, name->s, near.best);
  if (known->len) return fail(s, LEAVE_USAGE, "%s has no dim %s; it has %s", j->path, name->s, b.s);
  return fail(s, LEAVE_USAGE, "%s has no dim %s, nor any other", j->path, name->s);
}

static Leave dim_take(Session *s, Job *j, const char *word, const Names *known) {
  Str name;
  const char *rest;
  int64_t value;
  if (!word_split(s, word, &name, &rest))
    return fail(s, LEAVE_USAGE, "-D wants NAME=N, not %s", word);
  bool found = false;
  for (uint32_t i = 0; i < known->len; i++) found |= known->at[i] == name;
  if (!found) return dim_unknown(s, j, name, known);
  if (!int64_read(rest, strlen(rest), &value))
    return fail(s, LEAVE_USAGE, "-D %s: %s is no 64-bit integer", word, rest);
  if (value < 0) return fail(s, LEAVE_USAGE, "-D %s: a size is not negative", word);
  DimValue v = {name, value, {0}, arena_printf(s->arena, "-D %s", word)};
  for (uint32_t i = 0; i < j->dims.len; i++)
    if (j->dims.at[i].name == name) { /* of `# run:` and the command line, which comes later; words_agree saw to each */
      j->dims.at[i] = v;
      return LEAVE_OK;
    }
  vec_push(s->arena, j->dims, v);
  return LEAVE_OK;
}

Leave job_dims(Session *s, Job *j, const Args *a) {
  const Words *w = &a->given[OPT_DIM];
  if (!w->len) return LEAVE_OK;
  if (!j->program && a->command == CMD_BUILD)
    return fail(s, LEAVE_USAGE, "-D %s: %s has the sizes that its text says; those that are open are given when it is run",
                w->at[0], j->path);
  Names known = dims_declared(s, j);
  for (uint32_t i = 0; i < w->len; i++) {
    Leave l = dim_take(s, j, w->at[i], &known);
    if (l) return l;
  }
  return LEAVE_OK;
}

bool job_dim(const Job *j, Str name, int64_t *out) {
  for (uint32_t i = 0; i < j->dims.len; i++)
    if (j->dims.at[i].name == name) return *out = j->dims.at[i].value, true;
  for (uint32_t i = 0; j->graph && i < j->graph->dims.len; i++)
    if (j->graph->dims.at[i].known && j->graph->dims.at[i].name == name)
      return *out = j->graph->dims.at[i].value, true;
  return false;
}

/* ---- the graph ------------------------------------------------------------------------------ */

static void checked(Session *s, const EinGraph *g) {
  Buf b = buf_new(s->arena);
  if (!graph_check(g, &b)) bug("the graph is not as it should be:\n%s", b.s);
}

EinGraph *graph_reread(Session *s, EinGraph *g, const char *path) {
  bug_where = "graph_read(graph_print)";
  Buf text = buf_new(s->arena), why = buf_new(s->arena);
  graph_print(&text, g);
  Source *src = source_new(s->arena, arena_printf(s->arena, "%s.graph", path), text.s, text.len);
  Diags *d = diags_new(s->arena);
  EinGraph *again = graph_read(s->arena, s->strings, src, d);
  if (!again || d->errors) {
    diags_text(d, &why, false);
    bug("a graph's text does not read back:\n%s", why.s);
  }
  if (!graph_equal(g, again, &why)) bug("a graph's text reads back as another graph: %s", why.s);
  checked(s, again);
  return again;
}

Leave job_graph(Session *s, Job *j, const Args *a) {
  if (j->past) return LEAVE_OK;
  if (j->program) {
    bug_where = "graph_from_ast";
    EinGraph *g = graph_from_ast(&s->front, j->program, &j->dims);
    bool silent = !g && !s->diags->errors;
    Leave l = session_report(s);
    if (l) return l;
    if (silent) bug("no graph, and no complaint");
    j->graph = g;
    checked(s, g);
  }
  if (arg_has(a, OPT_ROUNDTRIP)) j->graph = graph_reread(s, j->graph, j->path);
  bug_where = NULL;
  return LEAVE_OK;
}

/* The dims that `some` leaves out are those that the program gives no value. */
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

/* NULL where the program cannot be compiled with these dims; nothing is complained about. */
static EinGraph *graph_try(Session *s, const Job *j, const DimValues *dims) {
  session_fresh(s);
  EinGraph *g = graph_from_ast(&s->front, j->program, dims);
  if (s->diags->errors) g = NULL;
  return g;
}

Leave job_graph_open(Session *s, Job *j, const Args *a) {
  const DimValues none = {0};
  if (!j->program || !j->dims.len) return job_graph(s, j, a);
  bug_where = "graph_from_ast, sizes open";
  Diags *said = s->diags; /* of the parser: kept, whatever the tries say */
  Front front = s->front;
  EinGraph *g = graph_try(s, j, &none);
  DimValues fixed = {0}, all = j->dims;
  if (g) fixed = dims_fixed(s, j, g);
  if (g && fixed.len) g = graph_try(s, j, &fixed);
  s->diags = said;
  s->front = front;
  if (!g) return job_graph(s, j, a);
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
