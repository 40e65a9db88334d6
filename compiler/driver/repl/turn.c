/* driver/repl/turn.c - from a sheet and a question to values: see turn.h. */
#include <stdarg.h>
#include <string.h>

#include "expr/equation.h"
#include "graph/passes/passes.h"
#include "driver/compile/native.h"
#include "turn.h"
#include "worker.h"

void turn_begin(Turn *t, Session *home, const Args *args, Sheet *sheet) {
  *t = (Turn){.s = *home, .home = home, .args = args, .sheet = sheet};
  Arena *a = arena_new();
  t->s.arena = a;
  t->s.strings = strings_new(a);
  t->s.exprs = exprs_new(a);
  t->s.captured = (Words){0};
  t->s.refused = NULL;
  session_fresh(&t->s);
  for (t->query = "it"; sheet_find(sheet, t->query, NULL);) t->query = arena_printf(a, "%s'", t->query);
}

void turn_end(Turn *t) {
  Session *s = &t->s;
  Buf b = buf_new(t->home->arena);
  if (s->refused) {
    diags_text(s->refused, &b, false);
    count_text(&b, s->refused->errors, s->refused->warnings);
  }
  for (uint32_t i = 0; !s->refused && i < s->captured.len; i++)
    buf_printf(&b, "%s%s", i ? "\n" : "", s->captured.at[i]);
  if (b.len) vec_push(t->home->arena, t->home->captured, b.s);
  t->home->without_jit = s->without_jit;
  arena_free(t->s.arena);
}

Source *turn_source(Turn *t, const char *file, uint32_t line, const char *text, size_t n) {
  Buf b = buf_new(t->s.arena);
  for (uint32_t i = 1; i < line; i++) buf_char(&b, '\n');
  buf_add(&b, text, n);
  return source_new(t->s.arena, file, b.s, b.len);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Turns an input's default into an equation, so that its value is kept. Axes without a label get one. */
static void default_equation(Turn *t, AstStmt *s) {
  AstDecl *d = &s->decls.at[0];
  s->kind = STMT_EQUATION;
  s->name = d->name;
  s->bracketed = d->bracketed;
  s->items = d->items;
  if (s->dtype < 0) s->dtype = DT_F32;
  for (uint32_t k = 0; k < s->items.len; k++) {
    AstItem *i = &s->items.at[k];
    if (i->kind != ITEM_EXPR) continue;
    i->kind = ITEM_SIZED;
    i->name = (AstName){strings_printf(t->s.strings, "axis_%u", k + 1), i->span};
  }
}

static void stmt_add(Turn *t, AstStmt *s, const char *folder) {
  vec_push(t->s.arena, t->file->stmts, s);
  vec_push(t->s.arena, t->folders, folder);
}

static void entry_add(Turn *t, const Entry *e) {
  Source *src = turn_source(t, e->file, e->line, e->text, strlen(e->text));
  AstFile *f = parse_file(t->s.arena, t->s.strings, src, t->s.diags);
  for (uint32_t i = 0; i < f->stmts.len; i++) {
    AstStmt *s = f->stmts.at[i];
    s->output = false;
    if (s->kind == STMT_LIMITS || s->kind == STMT_OUTPUT) continue;
    if (e->has_default && !e->source) default_equation(t, s);
    stmt_add(t, s, e->folder);
  }
}

static void dims_add(Turn *t, const Entry *e) {
  for (uint32_t i = 0; i < e->n_bound; i++) {
    Str name = str_from(t->s.strings, e->bound[i].dim);
    Entry *d = sheet_find(t->sheet, e->bound[i].dim, NULL);
    int64_t value;
    if (!d || !d->open_size || job_dim(&t->job, name, &value)) continue;
    DimValue v = {name, e->bound[i].value, {0}, arena_printf(t->s.arena, "%s, which is %s", e->name[0], e->source)};
    vec_push(t->s.arena, t->job.dims, v);
  }
}

static bool is_among(const Texts *names, const char *name) {
  for (uint32_t i = 0; i < names->len; i++)
    if (strcmp(names->at[i], name) == 0) return true;
  return false;
}

static bool is_asked(const Turn *t, const Texts *names, const char *name) {
  if (is_among(names, name)) return true;
  for (uint32_t i = 0; i < t->needs.len; i++)
    for (uint32_t k = 0; k < t->needs.at[i]->n_used; k++)
      if (strcmp(t->needs.at[i]->used[k].name, name) == 0) return true;
  return false;
}

/* Adds the results of loops that something reads. */
static void outputs_add(Turn *t, const Texts *names) {
  for (uint32_t i = 0; i < t->needs.len; i++) {
    const Entry *e = t->needs.at[i];
    bool is_open = (e->kind == STMT_INPUT || e->kind == STMT_PARAM) && (e->source || !e->has_default);
    if (!entry_is_tensor(e) || is_open) continue;
    for (uint32_t k = 0; k < e->n_names; k++) {
      if (e->value[k].arena && !(t->anew && is_among(names, e->name[k]))) vec_push(t->s.arena, t->known, e->name[k]);
      else if (e->kind != STMT_REPEAT || is_asked(t, names, e->name[k])) vec_push(t->s.arena, t->wanted, e->name[k]);
    }
  }
}

static void outputs_say(Turn *t, const Texts *names) {
  Session *s = &t->s;
  AstStmt *o = NEW(s->arena, AstStmt);
  Span at = {t->file->src, 0, 0};
  *o = (AstStmt){.kind = STMT_OUTPUT, .span = at, .dtype = -1};
  for (uint32_t i = 0; i < names->len; i++) {
    AstDecl d = {.name = {str_from(s->strings, names->at[i]), at}, .span = at};
    vec_push(s->arena, o->decls, d);
  }
  if (names->len) stmt_add(t, o, ".");
}

Leave turn_program(Turn *t, const Texts *names, AstFile *expression) {
  Session *s = &t->s;
  const char *circle;
  t->needs = sheet_needs(s->arena, t->sheet, names, t->outlines, &circle);
  t->wanted.len = t->known.len = 0;
  if (circle && strchr(circle, ','))
    return fail(s, LEAVE_PROGRAM, "a name that depends on itself has no value: %s", circle);
  if (circle)
    return fail(s, LEAVE_PROGRAM,
        "a name that depends on itself has no value: %s; give what you make of it another name, such as %s'", circle,
        circle);
  t->file = NEW(s->arena, AstFile);
  t->folders.len = 0;
  t->file->src = expression ? expression->src : t->source ? t->source : source_new(s->arena, "<prompt>", "", 0);
  t->job = (Job){.path = t->file->src->name};
  for (uint32_t i = 0; i < t->needs.len; i++) entry_add(t, t->needs.at[i]);
  for (uint32_t i = 0; i < t->sheet->n; i++) dims_add(t, t->sheet->at[i]);
  outputs_add(t, names);
  if (expression) vec_push(s->arena, t->wanted, t->query);
  for (uint32_t i = 0; expression && i < expression->stmts.len; i++) stmt_add(t, expression->stmts.at[i], ".");
  outputs_say(t, &t->wanted);
  outputs_say(t, &t->known);
  t->job.program = program_from_file(&s->front, t->file, t->folders.at);
  return LEAVE_OK;
}

/* ---- the graph ------------------------------------------------------------------------------- */

/* At a prompt everything is unused at first. */
static bool is_news(const Turn *t, const Diag *d) {
  return d->kind == DIAG_ERROR ||
      (d->code != D_W001 && d->code != D_W005 && t->source && d->spans.at[0].span.src == t->source);
}

static void warnings_trim(Turn *t) {
  Diags *d = t->s.diags;
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->all.len; i++)
    if (is_news(t, d->all.at[i])) d->all.at[n++] = d->all.at[i];
    else d->warnings--;
  d->all.len = n;
}

Leave turn_report(Turn *t) {
  warnings_trim(t);
  return session_report(&t->s);
}

/* "input A[N,8] : f32" */
static void outline_make(Turn *t, Entry *e, uint32_t which, const EinNode *n) {
  Buf b = buf_new(t->s.arena);
  Writer w = equation_writer(&b, (ExprNames){0});
  Texts dims = {0};
  buf_printf(&b, "input %s", n->name->s);
  for (uint32_t k = 0; k < n->rank; k++) {
    ExprNodes nodes = expr_nodes(t->s.arena, n->dim[k], HAS_DIM);
    for (const Expr *x; (x = expr_node(&nodes));)
      if (x->kind == EX_DIM) vec_push(t->s.arena, dims, x->name->s);
    buf_str(&b, k ? ", " : "[");
    write_expr(&w, n->dim[k]);
  }
  buf_printf(&b, "%s : %s", n->rank ? "]" : "", dtype_name(n->dtype));
  entry_outline(e, which, b.s, &dims);
}

static void outlines_make(Turn *t) {
  for (uint32_t i = 0; i < t->needs.len; i++) {
    Entry *e = t->needs.at[i];
    for (uint32_t k = 0; e->kind == STMT_EQUATION && k < e->n_names; k++) {
      const EinOutput *o = e->outline[k] ? NULL : turn_output(t, e->name[k]);
      if (o) outline_make(t, e, k, o->node);
    }
  }
}

static EinGraph *graph_try(Turn *t) {
  bug_where = "graph_from_ast";
  EinGraph *g = graph_from_ast(&t->s.front, t->job.program, &t->job.dims);
  bug_where = NULL;
  return g;
}

static void graph_take(Turn *t, EinGraph *g) {
  if (!g) bug("no graph, and no complaint");
  t->job.graph = language_made(&t->s, LANG_GRAPH, t->job.path, g, false);
  outlines_make(t);
}

/* Like job_graph, but reports only new complaints. */
Leave turn_graph(Turn *t) {
  if (t->s.diags->errors) return turn_report(t);
  EinGraph *g = graph_try(t);
  Leave l = turn_report(t);
  if (!l) graph_take(t, g);
  return l;
}

Leave turn_elaborate(Turn *t, const Texts *names, AstFile *expression, Outlines outlines) {
  Diags *d = t->s.diags;
  uint32_t all = d->all.len, errors = d->errors, warnings = d->warnings;
  t->outlines = outlines;
  Leave l = turn_program(t, names, expression);
  if (l || outlines == WHOLE) return l ? l : turn_graph(t);
  EinGraph *g = d->errors || program_asks_gradients(t->job.program) ? NULL : graph_try(t);
  warnings_trim(t);
  if (g && d->all.len == all) return graph_take(t, g), LEAVE_OK;
  d->all.len = all;
  d->errors = errors;
  d->warnings = warnings;
  t->outlines = WHOLE;
  l = turn_program(t, names, expression);
  return l ? l : turn_graph(t);
}

const EinOutput *turn_output(const Turn *t, const char *name) {
  for (uint32_t i = 0; i < t->job.graph->outputs.len; i++)
    if (strcmp(t->job.graph->outputs.at[i].name->s, name) == 0) return &t->job.graph->outputs.at[i];
  return NULL;
}

bool turn_shape(Turn *t, const EinNode *n, EvalArray *x) {
  ExprEnv env = {.dim = dim_of_job, .ctx = &t->job};
  *x =
      (EvalArray){.dtype = n->dtype, .rank = n->rank, .shape = NEW_ARRAY(t->s.arena, int64_t, n->rank + 1), .count = 1};
  for (uint32_t k = 0; k < n->rank; k++) {
    Value v;
    if (!expr_value(n->dim[k], &env, &v)) return false;
    x->shape[k] = v.i;
  }
  return true;
}

void turn_heading(Turn *t, Buf *b, const char *name, const EinNode *n) {
  EvalArray x;
  const char *const *axis = report_axes(t->s.arena, n);
  Writer w = equation_writer(b, (ExprNames){0});
  w.tight = true;
  if (turn_shape(t, n, &x)) {
    report_heading(b, name, axis, &x);
    return;
  }
  buf_str(b, name);
  for (uint32_t k = 0; k < n->rank; k++) {
    buf_printf(b, "%s%s%s", k ? ", " : "[", axis[k], *axis[k] ? ":" : "");
    write_expr(&w, n->dim[k]);
  }
  buf_printf(b, "%s : %s", n->rank ? "]" : "", dtype_name(n->dtype));
}

/* ---- computing ------------------------------------------------------------------------------- */

static bool is_known(void *ctx, Str output) {
  return is_among(&((const Turn *)ctx)->known, output->s);
}

Leave turn_lacks(Turn *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(t->s.arena, fmt, ap);
  va_end(ap);
  if (!t->patient) return fail(&t->s, LEAVE_PROGRAM, "%s", text);
  t->lacks = text;
  return LEAVE_PROGRAM;
}

static Leave size_open(Turn *t) {
  const EinGraph *g = t->job.graph;
  for (uint32_t i = 0; i < g->dims.len; i++)
    if (!g->dims.at[i].known)
      return turn_lacks(t, "dim %s has no value yet: type dim %s = 8, or load an input that has it",
          g->dims.at[i].name->s, g->dims.at[i].name->s);
  return LEAVE_OK;
}

/* A size may have changed since it was loaded. */
static Leave input_fits(Turn *t, const EinNode *n, const Kept *k) {
  EvalArray x;
  bool same = turn_shape(t, n, &x) && x.rank == k->array.rank && x.dtype == k->array.dtype;
  for (uint32_t i = 0; same && i < x.rank; i++) same = x.shape[i] == k->array.shape[i];
  if (same) return LEAVE_OK;
  Buf is = buf_new(t->s.arena), was = buf_new(t->s.arena);
  turn_heading(t, &is, n->name->s, n);
  report_heading(&was, n->name->s, k->axis, &k->array);
  return fail(&t->s, LEAVE_PROGRAM, "%s is needed, but loaded was %s: load it again", is.s, was.s);
}

static Leave inputs_give(Turn *t) {
  const EinGraph *g = t->job.graph;
  EvalInput *in = NEW_ARRAY(t->s.arena, EvalInput, g->inputs.len + 1);
  t->eval.input = in;
  for (uint32_t i = 0; i < g->inputs.len; i++) {
    const EinNode *n = g->inputs.at[i];
    uint32_t which = 0;
    Entry *e = sheet_find(t->sheet, n->name->s, &which);
    if (!e || !e->value[which].arena)
      return turn_lacks(t, "%s has no value yet: type %s = load(\"%s.npy\")", n->name->s, n->name->s, n->name->s);
    Leave l = input_fits(t, n, &e->value[which]);
    if (l) return l;
    in[t->eval.n_input++] = (EvalInput){n->name, e->value[which].array};
  }
  return LEAVE_OK;
}

Leave turn_prepare(Turn *t) {
  Leave l = size_open(t);
  if (l) return l;
  t->job.graph =
      language_made(&t->s, LANG_GRAPH, t->job.path, graph_given(t->s.arena, t->job.graph, is_known, t), false);
  run_begin(&t->s, &t->job, &t->eval);
  l = inputs_give(t);
  int64_t room = memory_free(); /* without the session's values, which the limit counts */
  for (uint32_t i = 0; room && i < t->eval.n_input; i++)
    room += t->eval.input[i].array.count * dtype_size(t->eval.input[i].array.dtype);
  if (room && room < t->eval.max_live) t->eval.max_live = room;
  return l;
}

static Leave compute_here(Turn *t) {
  bool c;
  Leave l = run_target(&t->s, &t->job, t->args, &c);
  double before = seconds_now();
  if (!l && (t->job.graph->outputs.len || t->job.graph->asserts.len))
    l = run_compute(&t->s, &t->job, t->args, c, &t->eval);
  t->seconds = seconds_now() - (t->job.ready > 0 ? t->job.ready : before);
  return l;
}

Leave turn_compute(Turn *t) {
  return arg_has(t->args, OPT_ISOLATE) ? worker_compute(t, compute_here) : compute_here(t);
}

static void keep(Kept *k, const EinNode *n, const EvalArray *x) {
  Arena *a = arena_new();
  const char *const *axis = report_axes(a, n);
  int64_t bytes = x->count * dtype_size(x->dtype);
  EvalArray own = *x;
  own.shape = arena_copy(a, x->shape, x->rank * sizeof *x->shape);
  own.data = arena_copy(a, x->data, (size_t)bytes);
  if (x->has) own.has = arena_copy(a, x->has, (size_t)x->count);
  *k = (Kept){.arena = a, .array = own, .axis = axis}; /* at the end: memory may have run out on the way */
}

void turn_keep(Turn *t) {
  for (uint32_t i = 0; i < t->job.graph->outputs.len; i++) {
    const EinOutput *o = &t->job.graph->outputs.at[i];
    uint32_t which;
    Entry *e = sheet_find(t->sheet, o->name->s, &which);
    if (e && strcmp(o->name->s, t->query) != 0 && !e->value[which].arena)
      keep(&e->value[which], o->node, &t->eval.output[i]);
  }
}
