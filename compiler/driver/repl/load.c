/* driver/repl/load.c - A = load("a.npy"): the value of an input. If no declaration was typed, one is made from the
 * file's header; otherwise its sizes must be those of the file, or have no value yet, and get it from the file. */
#include <string.h>

#include "repl.h"

/* "input A[3,4] : f64" */
static Leave declaration(Query *q, const char *name, const char *source, const ein_source_info *info, Buf *b) {
  if (!info->has_shape)
    return fail(&q->s, LEAVE_PROGRAM,
        "%s does not say how large %s is, or of which dtype: declare it first, as in input %s[i:3, j:4] : f64", source,
        name, name);
  buf_printf(b, "input %s", name);
  for (int k = 0; k < info->ndim; k++) buf_printf(b, "%s%lld", k ? "," : "[", (long long)info->shape[k]);
  buf_printf(b, "%s : %s", info->ndim ? "]" : "", ein_dtype_name(info->dtype));
  return LEAVE_OK;
}

static Leave entry_make(
    Prompt *p, Query *q, const char *name, const char *source, const ein_source_info *info, Entry **out) {
  Entry *old = sheet_find(p->sheet, name, NULL);
  Buf b = buf_new(q->s.arena);
  if (old && (old->kind == STMT_INPUT || old->kind == STMT_PARAM) && !(old->source && strcmp(old->file, "load") == 0))
    *out = entry_again(old);
  else {
    Leave l = declaration(q, name, source, info, &b);
    if (l) return l;
    *out = entry_input(name, (uint32_t)info->ndim, b.s, "load", 1);
  }
  (*out)->source = arena_printf((*out)->arena, "%s", source);
  return LEAVE_OK;
}

static const AstDecl *declared(const Query *q, const char *name) {
  vec_each_of(const AstStmt, s, q->file->stmts) {
    if ((s->kind == STMT_INPUT || s->kind == STMT_PARAM) && strcmp(s->decls.at[0].name.s->s, name) == 0)
      return &s->decls.at[0];
  }
  bug("an input that is not declared");
}

/* Binds sizes that this file is the first to determine. */
static Leave sizes_bind(Query *q, Entry *e, const ein_source_info *info) {
  uint32_t before = q->job.dims.len;
  Str name = str_from(q->s.strings, e->name[0]);
  if (info->has_shape &&
      !program_bind(&q->s.front, q->job.program, name, (uint32_t)info->ndim, info->shape, e->source, &q->job.dims))
    return query_report(q);
  e->bound = NEW_ARRAY(e->arena, Bound, q->job.dims.len - before + 1);
  for (uint32_t i = before; i < q->job.dims.len; i++)
    e->bound[e->n_bound++] = (Bound){arena_printf(e->arena, "%s", q->job.dims.at[i].name->s), q->job.dims.at[i].value};
  return LEAVE_OK;
}

static Leave value_read(Query *q, Entry *e, const EinNode *n) {
  EvalArray x;
  ein_error err = {0};
  int64_t bytes = 0;
  Session *s = &q->s;
  if (!job_shape(q->s.arena, &q->job, n, &x))
    return fail(s, LEAVE_PROGRAM, "the size of %s is not known yet: give its dims values first", e->name[0]);
  ein_status st = ein_shape_size(e->name[0], (ein_dtype)x.dtype, (int)x.rank, x.shape, &x.count, &bytes, &err);
  if (st != EIN_OK) return fail(s, status_leave(st), "%s", err.text);
  Kept *k = &e->value[0];
  *k = (Kept){.arena = arena_new(), .array = x};
  const AstDecl *d = declared(q, e->name[0]);
  const char **axis = NEW_ARRAY(k->arena, const char *, x.rank + 1);
  for (uint32_t i = 0; i < x.rank; i++)
    axis[i] = d->items.at[i].name.s ? arena_printf(k->arena, "%s", d->items.at[i].name.s->s) : "";
  k->axis = axis;
  k->array.shape = arena_copy(k->arena, x.shape, (x.rank + 1) * sizeof *x.shape);
  k->array.data = arena_alloc(k->arena, (size_t)bytes + 1);
  st = ein_source_read(e->source, (ein_dtype)x.dtype, (int)x.rank, x.shape, k->array.data, &err);
  return st == EIN_OK ? LEAVE_OK : fail(s, status_leave(st), "%s: %s", e->name[0], err.text);
}

static Leave load_try(Query *q, Entry *e, const ein_source_info *info) {
  Texts one = {&e->name[0], 1, 1};
  Leave l = query_program(q, &one, NULL);
  if (!l && q->s.diags->errors) l = query_report(q);
  if (!l) l = sizes_bind(q, e, info);
  if (!l) l = query_graph(q);
  for (uint32_t i = 0; !l && i < q->job.graph->inputs.len; i++)
    if (strcmp(q->job.graph->inputs.at[i]->name->s, e->name[0]) == 0) l = value_read(q, e, q->job.graph->inputs.at[i]);
  return l;
}

static Leave load_in(Prompt *p, Query *q, const char *name, const char *source) {
  ein_source_info info;
  ein_error err = {0};
  Entry *e = NULL;
  Sheet *old = p->sheet;
  ein_status st = ein_source_probe(source, &info, &err);
  if (st != EIN_OK) return fail(&q->s, status_leave(st), "load(\"%s\"): %s", source, err.text);
  Leave l = entry_make(p, q, name, source, &info, &e);
  if (l) return l;
  q->sheet = sheet_with(old, &e, 1);
  l = load_try(q, e, &info);
  if (l) return (void)sheet_undo(q->sheet), l;
  p->sheet = q->sheet;
  sheet_forget_replaced(p->sheet, old, e, sheet_forget);
  if (!p->talks) return LEAVE_OK;
  report_heading(p->out, name, e->value[0].axis, &e->value[0].array);
  buf_char(p->out, '\n');
  return LEAVE_OK;
}

Leave define_load(Prompt *p, const char *name, const char *source) {
  Query q;
  query_begin(&q, p->s, &p->args, p->sheet);
  Leave l = load_in(p, &q, name, source);
  query_end(&q);
  return l;
}
