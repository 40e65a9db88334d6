/* driver/cmd/cmd_params.c - ein params. In: a program and a checkpoint; out: which tensors each param consists of,
 * what is missing or of another shape, and what is unused. Computes nothing, and reads no elements. */
#include <string.h>

#include "driver/data/checkpoint.h"
#include "driver/table.h"

typedef enum { PARAM_LIES, PARAM_BOUND, PARAM_MISSING, PARAM_OTHER, PARAM_OPEN } ParamState;
static const char *const state_text[] = {"as it lies", "bound", "missing", "does not fit", "size not known"};

typedef struct ParamRow {
  Bound *bound;
  const char *declared;      /* "wq[l:L, d:D]" */
  DType dtype;
  int64_t *shape;            /* -1 where a size is unknown */
  const Stored *first;       /* NULL: there is none */
  int64_t tensors;
  ParamState state;
  const char *why;           /* what is wrong; "" */
} ParamRow;
typedef VEC(ParamRow) ParamRows;

/* ---- finding ----------------------------------------------------------------------------------------------------- */

static void rows_declare(Session *s, const Job *j, const Checkpoint *c, ParamRows *rows) {
  const AstFile *f = j->program->file;
  vec_each_of(const AstStmt, st, f->stmts) {
    for (uint32_t k = 0; st->kind == STMT_PARAM && k < st->decls.len; k++) {
      const AstDecl *d = &st->decls.at[k];
      ParamRow r = {.bound = bound_new(s, j, c, d->name.s, d->items.len),
          .dtype = st->dtype < 0 ? DT_F32 : (DType)st->dtype, .why = "",
          .declared = arena_printf(s->arena, "%.*s", (int)(d->span.end - d->span.at), d->span.src->bytes + d->span.at),
          .shape = NEW_ARRAY(s->arena, int64_t, d->items.len + 1)};
      vec_push(s->arena, *rows, r);
    }
  }
}

static bool row_open(const ParamRow *r) {
  for (uint32_t k = 0; k < r->bound->rank; k++)
    if (r->shape[k] < 0) return true;
  return false;
}

static void row_find(Session *s, const Job *j, ParamRow *r) {
  Bound *b = r->bound;
  Buf why = buf_new(s->arena);
  ein_error err = {0};
  program_sizes(&s->front, j->program, b->param, &j->dims, r->shape);
  r->first = bound_claim(b, false);
  r->tensors = 1;
  for (uint32_t k = 0; k < b->rank; k++)
    if (bound_counts(b, k)) r->tensors *= r->shape[k] < 0 ? 0 : r->shape[k];
  if (!r->first && (r->tensors || row_open(r))) {
    r->state = PARAM_MISSING;
    bound_missing(s, b, b->how->text, &why);
  } else if (row_open(r)) {
    r->state = PARAM_OPEN;
    buf_str(&why, "neither the program nor the checkpoint tells all its sizes; -D gives one");
  } else if (bound_resolve(s, b, r->shape, &why)) {
    r->state = bound_map(b, r->dtype, r->shape, &err) ? PARAM_LIES : PARAM_BOUND;
  } else {
    r->state = b->missing ? PARAM_MISSING : PARAM_OTHER;
    bound_claim(b, true);
  }
  r->why = why.s;
}

/* ---- reports ----------------------------------------------------------------------------------------------------- */

static const char *shape_text(Arena *a, const ParamRow *r) {
  Buf b = buf_new(a);
  for (uint32_t k = 0; k < r->bound->rank; k++) {
    buf_str(&b, k ? ", " : "");
    if (r->shape[k] < 0) buf_char(&b, '?');
    else buf_printf(&b, "%lld", (long long)r->shape[k]);
  }
  return arena_printf(a, "[%s] %s", b.s, dtype_name(r->dtype));
}

static const char *stored_text(Arena *a, const ParamRow *r) {
  const Stored *x = r->first;
  if (!x) return "";
  return arena_printf(a, "%s %s", stored_shape(a, x), x->other ? shown(a, x->other) : ein_dtype_name(x->at.dtype));
}

static void rows_print(Session *s, const ParamRows *rows, const Checkpoint *c, Buf *b) {
  Table t = {.columns = 6, .clipped = 2, .left = 0x2f};
  TableRow head = {.cell = {"param", "is", "stored as", "of shape", "tensors", "state"}, .tail = ""};
  uint32_t left = 0;
  vec_push(s->arena, t.rows, head);
  vec_each(const ParamRow, r, *rows) {
    TableRow row = {
        .cell = {r->bound->param->s, shape_text(s->arena, r), shown(s->arena, r->bound->how->text->s),
            stored_text(s->arena, r), arena_printf(s->arena, "%lld", (long long)r->tensors), state_text[r->state]},
        .tail = ""};
    vec_push(s->arena, t.rows, row);
  }
  table_print(b, &t);
  for (uint32_t i = 0; i < rows->len; i++)
    if (*rows->at[i].why) buf_printf(b, "%s: %s\n", rows->at[i].bound->param->s, rows->at[i].why);
  for (uint32_t i = 0; i < c->all.len; i++) left += !c->all.at[i]->used;
  if (left)
    buf_printf(
        b, "%u of the %u tensors of %s %s read by no param:\n", left, c->all.len, c->path, left == 1 ? "is" : "are");
  for (uint32_t i = 0, n = 0; i < c->all.len && n < 20; i++)
    if (!c->all.at[i]->used && ++n)
      buf_printf(b, "  %s %s\n", shown(s->arena, c->all.at[i]->name->s), stored_shape(s->arena, c->all.at[i]));
  if (left > 20) buf_printf(b, "  and %u more\n", left - 20);
}

static void row_json(Session *s, Json *j, const ParamRow *r) {
  json_object(j, NULL);
  json_str(j, "name", r->bound->param->s);
  json_str(j, "declared", r->declared);
  json_str(j, "dtype", dtype_name(r->dtype));
  json_each(j, "shape", k, r->bound->rank) {
    if (r->shape[k] < 0) json_null(j, NULL);
    else json_int(j, NULL, r->shape[k]);
  }
  json_str(j, "stored", r->bound->how->text->s);
  json_int(j, "tensors", r->tensors);
  if (r->first) {
    json_str(j, "stored_shape", stored_shape(s->arena, r->first));
    json_str(j, "stored_dtype", r->first->other ? r->first->other : ein_dtype_name(r->first->at.dtype));
    json_str(j, "file", r->first->file);
  }
  json_str(j, "state", state_text[r->state]);
  if (*r->why) json_str(j, "why", r->why);
  json_end(j, '}');
}

static void rows_json(Session *s, const ParamRows *rows, const Checkpoint *c, Buf *b) {
  Json j = json_new(b);
  json_object(&j, NULL);
  json_str(&j, "format", "ein params 1");
  json_str(&j, "checkpoint", c->path);
  json_each(&j, "params", i, rows->len) row_json(s, &j, &rows->at[i]);
  json_each(&j, "unread", i, c->all.len)
    if (!c->all.at[i]->used) json_str(&j, NULL, c->all.at[i]->name->s);
  json_end(&j, '}');
}

Leave cmd_params(Session *s, Args *a) {
  const char *path = arg_last(a, OPT_PARAMS), *format = arg_last(a, OPT_FORMAT);
  Job j;
  Checkpoint c;
  ParamRows rows = {0};
  Buf b = buf_new(s->arena);
  if (a->operands.len != 1) return fail(s, LEAVE_USAGE, "which program? ein params x.ein --params model/");
  if (!path) return fail(s, LEAVE_USAGE, "which checkpoint? ein params %s --params model/", a->operands.at[0]);
  Leave l = job_read(s, &j, a, a->operands.at[0]);
  if (!l && !j.program) return fail(s, LEAVE_USAGE, "%s is no program: only these say where params lie", j.path);
  if (!l) l = job_dims(s, &j, a);
  if (!l) l = checkpoint_open(s, path, &c);
  if (l) return l;
  rows_declare(s, &j, &c, &rows);
  Bound **all = NEW_ARRAY(s->arena, Bound *, rows.len + 1);
  for (uint32_t i = 0; i < rows.len; i++) all[i] = rows.at[i].bound;
  l = bound_sizes(s, &j, all, rows.len);
  if (l) return l;
  for (uint32_t i = 0; i < rows.len; i++) {
    row_find(s, &j, &rows.at[i]);
    if (rows.at[i].state > PARAM_BOUND) l = LEAVE_PROGRAM;
  }
  if (format && strcmp(format, "json") == 0) rows_json(s, &rows, &c, &b);
  else rows_print(s, &rows, &c, &b);
  print(s, &b);
  return l;
}
