/* driver/repl/ask.c - handles the input, piece by piece: definitions go into the sheet once they elaborate;
 * expressions and names are computed as far as their values are unknown, and shown. A piece that fails leaves the
 * sheet unchanged. */
#include <string.h>

#include "repl.h"

/* ---- where a piece stands ----------------------------------------------------------------------- */

/* Prefixed with blanks for what comes before it on its line, so that columns are those of the line. */
static Source *piece_source(const Prompt *p, Query *q, const char *text, const Piece *x, uint32_t *line) {
  uint32_t from = x->at;
  while (from && text[from - 1] != '\n') from--;
  *line = p->line;
  for (uint32_t i = 0; i < x->at; i++) *line += text[i] == '\n';
  char *own = arena_copy(q->s.arena, text + from, x->end - from);
  memset(own, ' ', x->at - from);
  return query_source(q, p->file, *line, own, x->end - from);
}

/* The parser has no load: its message would be about programs in files. */
static Leave load_refused(Query *q, const Piece *x) {
  uint32_t at = q->source->len - (x->end - x->load), end = q->source->len - (x->end - x->load_end);
  Diag *g = diag_add(q->s.diags, D_E001, (Span){q->source, at, end}, "a value is loaded by a line of its own");
  diag_hint(q->s.diags, g, "`NAME = load(\"file\")` stands alone on a line; what uses NAME comes after it");
  diag_hint(
      q->s.diags, g, "labels, and a dtype other than the file's, are declared before it: `input NAME[i:4] : f32`");
  return query_report(q);
}

/* ---- answers ------------------------------------------------------------------------------------ */

enum { DATA_MOST = 1000 };   /* elements of a value that a tool gets as numbers */

static void value_json(Json *j, const char *name, const char *const *axis, const EvalArray *x) {
  json_object(j, NULL);
  json_str(j, "name", name);
  json_str(j, "dtype", dtype_name(x->dtype));
  json_ints(j, "shape", x->rank, x->shape);
  json_each(j, "labels", k, x->rank) json_str(j, NULL, axis[k]);
  if (x->count <= DATA_MOST) json_array(j, "data");
  for (int64_t k = 0; x->count <= DATA_MOST && k < x->count; k++) {
    if (x->has && !x->has[k]) json_null(j, NULL);
    else if (x->dtype == DT_BOOL) json_bool(j, NULL, eval_int(x, k) != 0);
    else if (dtype_is_float(x->dtype)) json_num(j, NULL, eval_real(x, k));
    else json_int(j, NULL, eval_int(x, k));
  }
  if (x->count <= DATA_MOST) json_end(j, ']');
  json_end(j, '}');
}

/* name "": an expression's */
static void prompt_show(Prompt *p, const char *name, const char *const *axis, const EvalArray *x) {
  report_value(p->out, name, axis, x);
  if (p->values) value_json(p->values, name, axis, x);
}

static void show_output(Prompt *p, const Query *q, const char *name) {
  const EinOutput *o = query_output(q, name);
  if (!o) return;
  const EvalArray *x = &q->eval.output[o - q->job.graph->outputs.at];
  prompt_show(p, strcmp(name, q->name) == 0 ? "" : name, report_axes(q->s.arena, o->node), x);
}

static Leave compute(Query *q) {
  Leave l = query_prepare(q);
  if (!l) l = query_compute(q);
  if (!l) query_keep(q);
  return l;
}

static Leave show_name(Prompt *p, Query *q, const char *name) {
  uint32_t which = 0;
  Entry *e = sheet_find(p->sheet, name, &which);
  Texts one = {&name, 1, 1};
  Leave l = LEAVE_OK;
  if (!e->value[which].arena) {
    l = query_elaborate(q, &one, NULL, OUTLINE_KNOWN);
    if (!l) l = compute(q);
  }
  if (l) return l;
  if (e->value[which].arena) prompt_show(p, name, e->value[which].axis, &e->value[which].array);
  else return query_lacks(q, "%s has no value yet: type %s = load(\"%s.npy\")", name, name, name);
  return LEAVE_OK;
}

Leave prompt_output(Prompt *p, const char *name) {
  Query q;
  query_begin(&q, p->s, &p->args, p->sheet);
  q.patient = true;
  Leave l = show_name(p, &q, name);
  if (l && q.lacks) {
    buf_printf(p->out, "%s is not computed yet: %s\n", name, q.lacks);
    l = LEAVE_OK;
  }
  query_end(&q);
  return l;
}

/* ---- definitions --------------------------------------------------------------------------------- */

static void tell_defined(Prompt *p, Query *q, const Entries *e) {
  for (uint32_t i = 0; p->talks && i < e->len; i++)
    for (uint32_t k = 0; e->at[i]->kind == STMT_EQUATION && k < e->at[i]->n_names; k++) {
      const EinOutput *o = query_output(q, e->at[i]->name[k]);
      if (!o) continue;
      query_heading(q, p->out, o->name->s, o->node);
      buf_char(p->out, '\n');
    }
}

/* t->sheet is the new one; p->sheet the old one, which precedes it. */
static Leave definition_try(Query *q, const AstStmt *st, const Entries *e) {
  Texts names = {0};
  for (uint32_t i = 0; i < e->len; i++)
    for (uint32_t k = 0; k < e->at[i]->n_names; k++) /* its counter may be that of another loop */
      if (sheet_shows(q->sheet, e->at[i], k)) vec_push(q->s.arena, names, e->at[i]->name[k]);
  bool asserts = st->kind == STMT_ASSERT;
  if (asserts) names = sheet_uses(q->s.arena, q->sheet, e->at[0]->used, e->at[0]->n_used);
  Leave l = query_elaborate(q, &names, NULL, asserts ? OUTLINE_KNOWN : OUTLINE_ANY);
  if (!l && asserts) l = compute(q);
  return q->lacks ? LEAVE_OK : l; /* the assert is checked as soon as possible */
}

static Leave define(Prompt *p, Query *q, const AstStmt *st, uint32_t line) {
  Entries e = entries_of(q->s.arena, st, p->file, p->folder, line);
  Sheet *old = p->sheet;
  q->sheet = sheet_with(old, e.at, e.len);
  for (uint32_t i = 0; i < e.len; i++) sheet_forget_replaced(q->sheet, old, e.at[i], sheet_forget_outlines);
  q->patient = p->loading || st->kind == STMT_ASSERT;
  Leave l = definition_try(q, st, &e);
  if (l) return (void)sheet_undo(q->sheet), q->sheet = old, l;
  p->sheet = q->sheet;
  for (uint32_t i = 0; i < e.len; i++) sheet_forget_replaced(p->sheet, old, e.at[i], sheet_forget);
  if (!st->output) return tell_defined(p, q, &e), LEAVE_OK;
  if (p->loading) return loading_output(p, e.at[0]->name[0]), LEAVE_OK;
  Query again; /* which treats it as one that was asked for */
  query_begin(&again, &q->s, q->args, p->sheet);
  l = show_name(p, &again, e.at[0]->name[0]);
  query_end(&again);
  return l;
}

static Leave output_take(Prompt *p, Query *q, const char *name) {
  Query one;
  query_begin(&one, &q->s, q->args, p->sheet);
  Leave l = show_name(p, &one, name);
  query_end(&one);
  return l;
}

/* `output Z, W`: these are shown, and become outputs of what :save writes. */
static Leave outputs_take(Prompt *p, Query *q, const AstStmt *st) {
  for (uint32_t i = 0; i < st->decls.len; i++) {
    AstName n = st->decls.at[i].name;
    uint32_t which = 0;
    Entry *e = sheet_find(p->sheet, n.s->s, &which);
    if (!e || !entry_is_tensor(e)) {
      diag_add(q->s.diags, D_E070, n.span, e ? "%s is not a tensor" : "%s is not defined", n.s->s);
      return query_report(q);
    }
    Leave l = LEAVE_OK;
    if (p->loading) loading_output(p, n.s->s);
    else l = output_take(p, q, n.s->s);
    if (l) return l;
    e->output[which] = true;
  }
  return LEAVE_OK;
}

static Leave statement_take(Prompt *p, Query *q, uint32_t line) {
  AstFile *f = parse_file(q->s.arena, q->s.strings, q->source, q->s.diags);
  if (q->s.diags->errors) return query_report(q);
  Leave l = LEAVE_OK;
  for (uint32_t i = 0; i < f->stmts.len && !l; i++)
    l = f->stmts.at[i]->behind                ? LEAVE_OK
        : f->stmts.at[i]->kind == STMT_OUTPUT ? outputs_take(p, q, f->stmts.at[i])
                                              : define(p, q, f->stmts.at[i], line);
  return l;
}

/* ---- expressions --------------------------------------------------------------------------------- */

static Leave expression_graph(Query *q, Outlines outlines) {
  AstFile *f = parse_expression(q->s.arena, q->s.strings, q->source, str_from(q->s.strings, q->name), q->s.diags);
  if (q->s.diags->errors) return query_report(q);
  uint32_t n = 0;
  const Used *used = names_used(q->s.arena, f->stmts.at[0], &n);
  Texts names = sheet_uses(q->s.arena, q->sheet, used, n);
  return query_elaborate(q, &names, f, outlines);
}

static bool is_tensor(const Prompt *p, const char *name) {
  Entry *e = sheet_find(p->sheet, name, NULL);
  return e && entry_is_tensor(e);
}

static Leave piece_take(Prompt *p, const char *text, const Piece *x) {
  Query q;
  uint32_t line;
  Leave l;
  if (x->kind == PIECE_LOAD) return define_load(p, x->name, x->source);
  query_begin(&q, p->s, &p->args, p->sheet);
  q.source = piece_source(p, &q, text, x, &line);
  if (x->load_end) l = load_refused(&q, x);
  else if (x->kind == PIECE_STATEMENT) l = statement_take(p, &q, line);
  else if (x->kind == PIECE_NAME && is_tensor(p, x->name)) l = show_name(p, &q, x->name);
  else {
    l = expression_graph(&q, OUTLINE_KNOWN);
    if (!l) l = compute(&q);
    if (!l) show_output(p, &q, q.name);
  }
  query_end(&q);
  return l;
}

Leave ask_begin(Prompt *p, Query *q, const char *text, bool anew, Outlines outlines, const char **name) {
  query_begin(q, p->s, &p->args, p->sheet);
  Cut c = cut_text(q->s.arena, text, strlen(text));
  if (c.pieces.len != 1 || c.open || c.pieces.at[0].kind == PIECE_STATEMENT || c.pieces.at[0].kind == PIECE_LOAD)
    return fail(
        &q->s, LEAVE_USAGE, "expected the name of a tensor, or an expression%s%s", *text ? ", not " : "", text);
  const Piece *x = &c.pieces.at[0];
  uint32_t line;
  q->source = piece_source(p, q, text, x, &line);
  if (x->load_end) return load_refused(q, x);
  bool tensor = x->kind == PIECE_NAME && is_tensor(p, x->name);
  *name = tensor ? x->name : q->name;
  q->anew = anew && tensor;
  Texts one = {name, 1, 1};
  return tensor ? query_elaborate(q, &one, NULL, outlines) : expression_graph(q, outlines);
}

/* ---- a text --------------------------------------------------------------------------------------- */

static bool is_command(const char *text) { return text[strspn(text, " \t")] == ':'; }

bool prompt_open(const char *text) {
  Arena *a = arena_new();
  bool open = !is_command(text) && cut_text(a, text, strlen(text)).open;
  arena_free(a);
  return open;
}

/* Nothing after a NUL would be read. */
static Leave nul_refused(Prompt *p, const char *text, size_t n) {
  Query q;
  query_begin(&q, p->s, &p->args, p->sheet);
  q.source = query_source(&q, p->file, p->line, text, n);
  uint32_t at = q.source->len - (uint32_t)n + (uint32_t)strlen(text);
  diag_add(q.s.diags, D_E002, (Span){q.source, at, at + 1}, "a NUL byte: is this a text file?");
  Leave l = query_report(&q);
  query_end(&q);
  return l;
}

Leave prompt_pieces(Prompt *p, const char *text, size_t n) {
  if (strlen(text) != n) return nul_refused(p, text, n);
  Arena *a = arena_new();
  Cut c = cut_text(a, text, n);
  Leave l = LEAVE_OK;
  for (uint32_t i = 0; i < c.pieces.len && !l; i++) l = piece_take(p, text, &c.pieces.at[i]);
  arena_free(a);
  return l;
}

/* A new user types `help`, and `exit`: these are commands if nothing has that name. NULL: the text is no such word. */
static const char *command_meant(const Prompt *p, const char *text) {
  static const char *const words[][2] = {{"help", ":help"}, {"?", ":help"}, {"quit", ":quit"}, {"exit", ":quit"}};
  size_t from = strspn(text, " \t"), n = strcspn(text + from, " \t\r\n");
  if (text[from + n + strspn(text + from + n, " \t\r\n")]) return NULL;
  for (size_t i = 0; i < COUNT(words); i++)
    if (strlen(words[i][0]) == n && memcmp(text + from, words[i][0], n) == 0 &&
        !sheet_find(p->sheet, words[i][0], NULL))
      return words[i][1];
  return NULL;
}

Leave prompt_take(Prompt *p, const char *text, size_t n) {
  const char *command = strlen(text) != n ? NULL : is_command(text) ? text : command_meant(p, text);
  return command ? prompt_command(p, command) : prompt_pieces(p, text, n);
}
