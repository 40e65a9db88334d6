/* driver/repl/load.c - A = load("a.npy"): the value of an input. If no declaration was typed, one is made from the
 * file's header; otherwise its sizes must be those of the file, or have no value yet, and get it from the file. */
#include <string.h>

#include "repl.h"

/* "input A[3,4] : f64" */
static Leave declaration(Turn *t, const char *name, const char *source, const ein_source_info *info, Buf *b) {
  if (!info->has_shape)
    return fail(&t->s, LEAVE_PROGRAM,
        "%s does not say how large %s is, or of which dtype: declare it first, as in input %s[i:3, j:4] : f64", source,
        name, name);
  buf_printf(b, "input %s", name);
  for (int k = 0; k < info->ndim; k++) buf_printf(b, "%s%lld", k ? "," : "[", (long long)info->shape[k]);
  buf_printf(b, "%s : %s", info->ndim ? "]" : "", ein_dtype_name(info->dtype));
  return LEAVE_OK;
}

static Leave entry_make(
    Prompt *p, Turn *t, const char *name, const char *source, const ein_source_info *info, Entry **out) {
  Entry *old = sheet_find(p->sheet, name, NULL);
  Buf b = buf_new(t->s.arena);
  if (old && (old->kind == STMT_INPUT || old->kind == STMT_PARAM) && !(old->source && strcmp(old->file, "load") == 0))
    *out = entry_again(old);
  else {
    Leave l = declaration(t, name, source, info, &b);
    if (l) return l;
    *out = entry_input(name, (uint32_t)info->ndim, b.s, "load", 1);
  }
  (*out)->source = arena_printf((*out)->arena, "%s", source);
  return LEAVE_OK;
}

static const AstDecl *declared(const Turn *t, const char *name) {
  for (uint32_t i = 0; i < t->file->stmts.len; i++) {
    const AstStmt *s = t->file->stmts.at[i];
    if ((s->kind == STMT_INPUT || s->kind == STMT_PARAM) && strcmp(s->decls.at[0].name.s->s, name) == 0)
      return &s->decls.at[0];
  }
  bug("an input that is not declared");
}

/* Binds sizes that this file is the first to determine. */
static Leave sizes_bind(Turn *t, Entry *e, const ein_source_info *info) {
  uint32_t before = t->job.dims.len;
  Str name = str_from(t->s.strings, e->name[0]);
  if (info->has_shape &&
      !program_bind(&t->s.front, t->job.program, name, (uint32_t)info->ndim, info->shape, e->source, &t->job.dims))
    return turn_report(t);
  e->bound = NEW_ARRAY(e->arena, Bound, t->job.dims.len - before + 1);
  for (uint32_t i = before; i < t->job.dims.len; i++)
    e->bound[e->n_bound++] = (Bound){arena_printf(e->arena, "%s", t->job.dims.at[i].name->s), t->job.dims.at[i].value};
  return LEAVE_OK;
}

static Leave value_read(Turn *t, Entry *e, const EinNode *n) {
  EvalArray x;
  ein_error err = {0};
  int64_t bytes = 0;
  Session *s = &t->s;
  if (!turn_shape(t, n, &x))
    return fail(s, LEAVE_PROGRAM, "the size of %s is not known yet: give its dims values first", e->name[0]);
  ein_status st = ein_shape_size(e->name[0], (ein_dtype)x.dtype, (int)x.rank, x.shape, &x.count, &bytes, &err);
  if (st != EIN_OK) return fail(s, status_leave(st), "%s", err.text);
  Kept *k = &e->value[0];
  *k = (Kept){.arena = arena_new(), .array = x};
  const AstDecl *d = declared(t, e->name[0]);
  const char **axis = NEW_ARRAY(k->arena, const char *, x.rank + 1);
  for (uint32_t i = 0; i < x.rank; i++)
    axis[i] = d->items.at[i].name.s ? arena_printf(k->arena, "%s", d->items.at[i].name.s->s) : "";
  k->axis = axis;
  k->array.shape = arena_copy(k->arena, x.shape, (x.rank + 1) * sizeof *x.shape);
  k->array.data = arena_alloc(k->arena, (size_t)bytes + 1);
  st = ein_source_read(e->source, (ein_dtype)x.dtype, (int)x.rank, x.shape, k->array.data, &err);
  return st == EIN_OK ? LEAVE_OK : fail(s, status_leave(st), "%s: %s", e->name[0], err.text);
}

static Leave load_try(Turn *t, Entry *e, const ein_source_info *info) {
  Texts one = {&e->name[0], 1, 1};
  Leave l = turn_program(t, &one, NULL);
  if (!l && t->s.diags->errors) l = turn_report(t);
  if (!l) l = sizes_bind(t, e, info);
  if (!l) l = turn_graph(t);
  for (uint32_t i = 0; !l && i < t->job.graph->inputs.len; i++)
    if (strcmp(t->job.graph->inputs.at[i]->name->s, e->name[0]) == 0) l = value_read(t, e, t->job.graph->inputs.at[i]);
  return l;
}

static Leave load_in(Prompt *p, Turn *t, const char *name, const char *source) {
  ein_source_info info;
  ein_error err = {0};
  Entry *e = NULL;
  Sheet *old = p->sheet;
  ein_status st = ein_source_probe(source, &info, &err);
  if (st != EIN_OK) return fail(&t->s, status_leave(st), "load(\"%s\"): %s", source, err.text);
  Leave l = entry_make(p, t, name, source, &info, &e);
  if (l) return l;
  t->sheet = sheet_with(old, &e, 1);
  l = load_try(t, e, &info);
  if (l) return (void)sheet_undo(t->sheet), l;
  p->sheet = t->sheet;
  sheet_forget(p->sheet, name);
  const Entry *was = sheet_find(old, name, NULL);
  for (uint32_t i = 0; i < e->n_bound; i++) sheet_forget(p->sheet, e->bound[i].dim);
  for (uint32_t i = 0; was && i < was->n_bound; i++) sheet_forget(p->sheet, was->bound[i].dim);
  if (!p->talks) return LEAVE_OK;
  report_heading(p->out, name, e->value[0].axis, &e->value[0].array);
  buf_char(p->out, '\n');
  return LEAVE_OK;
}

Leave define_load(Prompt *p, const char *name, const char *source) {
  Turn t;
  turn_begin(&t, p->s, &p->args, p->sheet);
  Leave l = load_in(p, &t, name, source);
  turn_end(&t);
  return l;
}
