/* driver/repl/query.c - from a sheet and a question to values: see query.h. */
#include <stdarg.h>
#include <string.h>

#include "expr/equation.h"
#include "graph/passes/passes.h"
#include "driver/compile/native.h"
#include "query.h"
#include "worker.h"

void query_begin(Query *q, Session *home, const Args *args, Sheet *sheet) {
  *q = (Query){.s = *home, .home = home, .args = args, .sheet = sheet};
  Arena *a = arena_new();
  q->s.arena = a;
  q->s.strings = strings_new(a);
  q->s.exprs = exprs_new(a);
  q->s.captured = (Words){0};
  q->s.refused = NULL;
  session_fresh(&q->s);
  for (q->name = "it"; sheet_find(sheet, q->name, NULL);) q->name = arena_printf(a, "%s'", q->name);
}

void query_said(const Query *q, uint32_t from, Buf *b) {
  const Session *s = &q->s;
  if (s->refused) {
    diags_text(s->refused, b, false);
    count_text(b, s->refused->errors, s->refused->warnings);
  }
  for (uint32_t i = from; !s->refused && i < s->captured.len; i++)
    buf_printf(b, "%s%s", b->len ? "\n" : "", s->captured.at[i]);
}

void query_end(Query *q) {
  Buf b = buf_new(q->home->arena);
  query_said(q, 0, &b);
  if (b.len) vec_push(q->home->arena, q->home->captured, b.s);
  q->home->without_jit = q->s.without_jit;
  arena_free(q->s.arena);
}

Source *query_source(Query *q, const char *file, uint32_t line, const char *text, size_t n) {
  Source *s = source_new(q->s.arena, file, text, n);
  s->before = line ? line - 1 : 0;
  return s;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Turns an input's default into an equation, so that its value is kept. Axes without a label get one. */
static void default_equation(Query *q, AstStmt *s) {
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
    i->name = (AstName){strings_printf(q->s.strings, "axis_%u", k + 1), i->span};
  }
}

static void stmt_add(Query *q, AstStmt *s, const char *folder) {
  vec_push(q->s.arena, q->file->stmts, s);
  vec_push(q->s.arena, q->folders, folder);
}

static void entry_add(Query *q, const Entry *e) {
  Source *src = query_source(q, e->file, e->line, e->text, strlen(e->text));
  AstFile *f = parse_file(q->s.arena, q->s.strings, src, q->s.diags);
  vec_each_of(AstStmt, s, f->stmts) {
    s->output = false;
    if (s->kind == STMT_LIMITS || s->kind == STMT_OUTPUT) continue;
    if (e->has_default && !e->source) default_equation(q, s);
    stmt_add(q, s, e->folder);
  }
}

static void dims_add(Query *q, const Entry *e) {
  for (uint32_t i = 0; i < e->n_bound; i++) {
    Str name = str_from(q->s.strings, e->bound[i].dim);
    Entry *d = sheet_find(q->sheet, e->bound[i].dim, NULL);
    int64_t value;
    if (!d || !d->open_size || job_dim(&q->job, name, &value)) continue;
    DimValue v = {name, e->bound[i].value, {0}, arena_printf(q->s.arena, "%s, which is %s", e->name[0], e->source)};
    vec_push(q->s.arena, q->job.dims, v);
  }
}

static bool is_among(const Texts *names, const char *name) {
  for (uint32_t i = 0; i < names->len; i++)
    if (strcmp(names->at[i], name) == 0) return true;
  return false;
}

static bool is_asked(const Query *q, const Texts *names, const char *name) {
  if (is_among(names, name)) return true;
  for (uint32_t i = 0; i < q->needs.len; i++)
    for (uint32_t k = 0; k < q->needs.at[i]->n_used; k++)
      if (strcmp(q->needs.at[i]->used[k].name, name) == 0) return true;
  return false;
}

/* Adds the results of loops that something reads. */
static void outputs_add(Query *q, const Texts *names) {
  vec_each_of(const Entry, e, q->needs) {
    bool is_open = (e->kind == STMT_INPUT || e->kind == STMT_PARAM) && (e->source || !e->has_default);
    if (!entry_is_tensor(e) || is_open) continue;
    for (uint32_t k = 0; k < e->n_names; k++) {
      if (!sheet_shows(q->sheet, e, k)) continue;
      if (e->value[k].arena && !(q->anew && is_among(names, e->name[k]))) vec_push(q->s.arena, q->known, e->name[k]);
      else if (e->kind != STMT_REPEAT || is_asked(q, names, e->name[k])) vec_push(q->s.arena, q->wanted, e->name[k]);
    }
  }
}

static void outputs_say(Query *q, const Texts *names) {
  Session *s = &q->s;
  AstStmt *o = NEW(s->arena, AstStmt);
  Span at = {q->file->src, 0, 0};
  *o = (AstStmt){.kind = STMT_OUTPUT, .span = at, .dtype = -1};
  for (uint32_t i = 0; i < names->len; i++) {
    AstDecl d = {.name = {str_from(s->strings, names->at[i]), at}, .span = at};
    vec_push(s->arena, o->decls, d);
  }
  if (names->len) stmt_add(q, o, ".");
}

Leave query_program(Query *q, const Texts *names, AstFile *expression) {
  Session *s = &q->s;
  const char *circle;
  q->needs = sheet_needs(s->arena, q->sheet, names, q->outlines, &circle);
  q->wanted.len = q->known.len = 0;
  if (circle && strchr(circle, ','))
    return fail(s, LEAVE_PROGRAM, "a name that depends on itself has no value: %s", circle);
  if (circle)
    return fail(s, LEAVE_PROGRAM,
        "a name that depends on itself has no value: %s; give what you make of it another name, such as %s'", circle,
        circle);
  q->file = NEW(s->arena, AstFile);
  q->folders.len = 0;
  q->file->src = expression ? expression->src : q->source ? q->source : source_new(s->arena, "<prompt>", "", 0);
  q->job = (Job){.path = q->file->src->name};
  for (uint32_t i = 0; i < q->needs.len; i++) entry_add(q, q->needs.at[i]);
  for (uint32_t i = 0; i < q->sheet->n; i++) dims_add(q, q->sheet->at[i]);
  outputs_add(q, names);
  if (expression) vec_push(s->arena, q->wanted, q->name);
  for (uint32_t i = 0; expression && i < expression->stmts.len; i++) stmt_add(q, expression->stmts.at[i], ".");
  outputs_say(q, &q->wanted);
  outputs_say(q, &q->known);
  q->job.program = program_from_file(&s->front, q->file, q->folders.at);
  return LEAVE_OK;
}

/* ---- the graph ------------------------------------------------------------------------------- */

/* At a prompt everything is unused at first. */
static bool is_news(const Query *q, const Diag *d) {
  return d->kind == DIAG_ERROR ||
      (d->code != D_W001 && d->code != D_W005 && q->source && d->spans.at[0].span.src == q->source);
}

static void warnings_trim(Query *q) {
  Diags *d = q->s.diags;
  uint32_t n = 0;
  for (uint32_t i = 0; i < d->all.len; i++)
    if (is_news(q, d->all.at[i])) d->all.at[n++] = d->all.at[i];
    else d->warnings--;
  d->all.len = n;
}

Leave query_report(Query *q) {
  warnings_trim(q);
  return session_report(&q->s);
}

/* "input A[N,8] : f32" */
static void outline_make(Query *q, Entry *e, uint32_t which, const EinNode *n) {
  Buf b = buf_new(q->s.arena);
  Writer w = equation_writer(&b, (ExprNames){0});
  Texts dims = {0};
  buf_printf(&b, "input %s", n->name->s);
  for (uint32_t k = 0; k < n->rank; k++) {
    ExprNodes nodes = expr_nodes(q->s.arena, n->dim[k], HAS_DIM);
    for (const Expr *x; (x = expr_node(&nodes));)
      if (x->kind == EX_DIM) vec_push(q->s.arena, dims, x->name->s);
    buf_str(&b, k ? ", " : "[");
    write_expr(&w, n->dim[k]);
  }
  buf_printf(&b, "%s : %s", n->rank ? "]" : "", dtype_name(n->dtype));
  entry_outline(e, which, b.s, &dims);
}

static void outlines_make(Query *q) {
  vec_each_of(Entry, e, q->needs) {
    for (uint32_t k = 0; e->kind == STMT_EQUATION && k < e->n_names; k++) {
      const EinOutput *o = e->outline[k] ? NULL : query_output(q, e->name[k]);
      if (o) outline_make(q, e, k, o->node);
    }
  }
}

static EinGraph *graph_try(Query *q) {
  bug_where = "graph_from_ast";
  EinGraph *g = graph_from_ast(&q->s.front, q->job.program, &q->job.dims);
  bug_where = NULL;
  return g;
}

static void graph_take(Query *q, EinGraph *g) {
  if (!g) bug("no graph, and no complaint");
  q->job.graph = language_made(&q->s, LANG_GRAPH, q->job.path, g, false);
  outlines_make(q);
}

/* Like job_graph, but reports only new complaints. */
Leave query_graph(Query *q) {
  if (q->s.diags->errors) return query_report(q);
  EinGraph *g = graph_try(q);
  Leave l = query_report(q);
  if (!l) graph_take(q, g);
  return l;
}

Leave query_elaborate(Query *q, const Texts *names, AstFile *expression, Outlines outlines) {
  Diags *d = q->s.diags;
  uint32_t all = d->all.len, errors = d->errors, warnings = d->warnings;
  q->outlines = outlines;
  Leave l = query_program(q, names, expression);
  if (l || outlines == WHOLE) return l ? l : query_graph(q);
  EinGraph *g = d->errors || program_asks_gradients(q->job.program) ? NULL : graph_try(q);
  warnings_trim(q);
  if (g && d->all.len == all) return graph_take(q, g), LEAVE_OK;
  d->all.len = all;
  d->errors = errors;
  d->warnings = warnings;
  q->outlines = WHOLE;
  l = query_program(q, names, expression);
  return l ? l : query_graph(q);
}

const EinOutput *query_output(const Query *q, const char *name) {
  return graph_output_find(q->job.graph, str_from(q->s.strings, name));
}

void query_heading(Query *q, Buf *b, const char *name, const EinNode *n) {
  EvalArray x;
  const char *const *axis = report_axes(q->s.arena, n);
  Writer w = equation_writer(b, (ExprNames){0});
  w.tight = true;
  if (job_shape(q->s.arena, &q->job, n, &x)) {
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
  return is_among(&((const Query *)ctx)->known, output->s);
}

Leave query_lacks(Query *q, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  const char *text = arena_vprintf(q->s.arena, fmt, ap);
  va_end(ap);
  if (!q->patient) return fail(&q->s, LEAVE_PROGRAM, "%s", text);
  q->lacks = text;
  return LEAVE_PROGRAM;
}

static Leave size_open(Query *q) {
  const EinGraph *g = q->job.graph;
  for (uint32_t i = 0; i < g->dims.len; i++)
    if (!g->dims.at[i].known)
      return query_lacks(q, "dim %s has no value yet: type dim %s = 8, or load an input that has it",
          g->dims.at[i].name->s, g->dims.at[i].name->s);
  return LEAVE_OK;
}

/* A size may have changed since it was loaded. */
static Leave input_fits(Query *q, const EinNode *n, const Kept *k) {
  EvalArray x;
  bool same = job_shape(q->s.arena, &q->job, n, &x) && x.rank == k->array.rank && x.dtype == k->array.dtype;
  for (uint32_t i = 0; same && i < x.rank; i++) same = x.shape[i] == k->array.shape[i];
  if (same) return LEAVE_OK;
  Buf is = buf_new(q->s.arena), was = buf_new(q->s.arena);
  query_heading(q, &is, n->name->s, n);
  report_heading(&was, n->name->s, k->axis, &k->array);
  return fail(&q->s, LEAVE_PROGRAM, "%s is needed, but loaded was %s: load it again", is.s, was.s);
}

static Leave inputs_give(Query *q) {
  const EinGraph *g = q->job.graph;
  EvalInput *in = NEW_ARRAY(q->s.arena, EvalInput, g->inputs.len + 1);
  q->eval.input = in;
  vec_each_of(const EinNode, n, g->inputs) {
    uint32_t which = 0;
    Entry *e = sheet_find(q->sheet, n->name->s, &which);
    if (!e || !e->value[which].arena)
      return query_lacks(q, "%s has no value yet: type %s = load(\"%s.npy\")", n->name->s, n->name->s, n->name->s);
    Leave l = input_fits(q, n, &e->value[which]);
    if (l) return l;
    in[q->eval.n_input++] = (EvalInput){n->name, e->value[which].array};
  }
  return LEAVE_OK;
}

Leave query_prepare(Query *q) {
  Leave l = size_open(q);
  if (l) return l;
  q->job.graph =
      language_made(&q->s, LANG_GRAPH, q->job.path, graph_given(q->s.arena, q->job.graph, is_known, q), false);
  run_begin(&q->s, &q->job, &q->eval);
  l = inputs_give(q);
  int64_t room = memory_free(); /* without the session's values, which the limit counts */
  for (uint32_t i = 0; room && i < q->eval.n_input; i++)
    room += q->eval.input[i].array.count * dtype_size(q->eval.input[i].array.dtype);
  if (room && room < q->eval.max_live) q->eval.max_live = room;
  return l;
}

static Leave compute_here(Query *q) {
  bool c;
  Leave l = run_target(&q->s, &q->job, q->args, &c);
  double before = seconds_now();
  if (!l && (q->job.graph->outputs.len || q->job.graph->asserts.len))
    l = run_compute(&q->s, &q->job, q->args, c, &q->eval);
  q->seconds = seconds_now() - (q->job.ready > 0 ? q->job.ready : before);
  return l;
}

Leave query_compute(Query *q) {
  return arg_has(q->args, OPT_ISOLATE) ? worker_compute(q, compute_here) : compute_here(q);
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

void query_keep(Query *q) {
  for (uint32_t i = 0; i < q->job.graph->outputs.len; i++) {
    const EinOutput *o = &q->job.graph->outputs.at[i];
    uint32_t which;
    Entry *e = sheet_find(q->sheet, o->name->s, &which);
    if (e && strcmp(o->name->s, q->name) != 0 && !e->value[which].arena)
      keep(&e->value[which], o->node, &q->eval.output[i]);
  }
}
