/* codegen/emit/manifest.c - emits PREFIX.json, which describes a library to programs that build, bind or measure it.
 * Extents and amounts of work are formulas over the symbolic sizes, as text. */
#include <string.h>

#include "base/json.h"
#include "expr/prove/prove.h"
#include "task/cost.h"
#include "task/sites/site.h"
#include "c_tables.h"

/* ---- parts -------------------------------------------------------------------------------------- */

static void json_extent(Json *j, const char *key, const Expr *e) {
  if (!e) {
    json_null(j, key);
    return;
  }
  Buf b = buf_new(j->out->arena);
  c_extent_text(&b, e);
  json_strn(j, key, b.s, b.len);
}

/* The extent of the whole tensor, of which sites may have blocks. */
static const Expr *extent_of(const TaskGraph *t, const TaskBuffer *b, uint32_t k) {
  int64_t *whole = NEW_ARRAY(t->arena, int64_t, b->rank + 1);
  if (!t->mesh.n) return b->dim[k];
  task_whole(t, b, whole);
  return expr_int(t->exprs, DT_I64, whole[k]);
}

/* The bytes of a buffer. They may overflow for large sizes, but then the program cannot be planned either. */
static const Expr *bytes_of(const TaskGraph *t, const TaskBuffer *b) {
  const Expr *e = expr_int(t->exprs, DT_I64, dtype_size(b->dtype));
  for (uint32_t k = 0; k < b->rank; k++) e = expr_op2(t->exprs, OP_MUL, e, extent_of(t, b, k));
  return expr_normal(t->exprs, e);
}

static void argument(Json *j, const TaskGraph *t, const TaskArgument *x, Str member, Str *const label, bool input) {
  const TaskBuffer *b = &t->buffers.at[x->buffer];
  json_object(j, NULL);
  json_str(j, "name", x->name->s);
  json_str(j, "member", member->s);
  json_str(j, "dtype", dtype_name(b->dtype));
  json_each(j, "labels", k, b->rank) {
    if (label && label[k]) json_str(j, NULL, label[k]->s);
    else json_null(j, NULL);
  }
  json_each(j, "extents", k, b->rank) json_extent(j, NULL, extent_of(t, b, k));
  json_extent(j, "bytes", bytes_of(t, b));
  if (input) json_bool(j, "param", x->param);
  if (input) json_bool(j, "default", x->optional);
  json_end(j, '}');
}

/* Lists the C functions that it calls; files are given without their folder. */
static void externs(Json *j, const Exprs *p) {
  if (!extern_count(p)) return;
  json_each(j, "externs", k, extern_count(p)) {
    const Extern *x = extern_at(p, k);
    const char *slash = x->from ? strrchr(x->from->s, '/') : NULL;
    json_object(j, NULL);
    json_str(j, "name", x->name->s);
    json_str(j, "symbol", x->symbol->s);
    if (x->from) json_str(j, "from", slash ? slash + 1 : x->from->s);
    else json_null(j, "from");
    json_end(j, '}');
  }
}

static void arguments(Json *j, const TaskGraph *t, const EmitOptions *o) {
  CMembers m = c_members(j->out->arena, t);
  AxisLabels l = axis_labels(j->out->arena, t, &o->declared);
  json_each(j, "sizes", i, t->dims.len) {
    if (t->dims.at[i].known || i < t->mesh.n) continue;
    json_object(j, NULL);
    json_str(j, "name", t->dims.at[i].name->s);
    json_str(j, "member", m.size[i]->s);
    json_end(j, '}');
  }
  json_each(j, "inputs", i, t->inputs.len)
    argument(j, t, &t->inputs.at[i], m.input[i], l.of[t->inputs.at[i].buffer], true);
  json_each(j, "outputs", i, t->outputs.len)
    argument(j, t, &t->outputs.at[i], m.output[i], l.of[t->outputs.at[i].buffer], false);
  externs(j, t->exprs);
}

static void entry_points(Json *j, const char *prefix, bool sites) {
  static const struct { const char *name; int of;
  } entry[] = {/* 1: in a library for one site, 2: for several */
      {"create", 3}, {"create_mpi", 2}, {"destroy", 3}, {"plan", 3}, {"workspace_bytes", 3}, {"local_extent", 2},
      {"run", 3}, {"again", 3}, {"run_whole", 2}, {"last_error", 3}, {"cancel", 3}, {"model", 3}};
  json_object(j, "entry_points");
  for (size_t i = 0; i < COUNT(entry); i++)
    if (entry[i].of & (sites ? 2 : 1))
      json_str(j, entry[i].name, arena_printf(j->out->arena, "%s_%s", prefix, entry[i].name));
  json_end(j, '}');
}

static void kernels(Json *j, const LoopProgram *p) {
  const Expr **times = task_times(j->out->arena, p->tasks);
  json_array(j, "kernels");
  vec_each_of(const LoopKernel, k, p->kernels) {
    json_object(j, NULL);
    json_str(j, "name", k->name->s);
    json_each(j, "equations", n, k->note.len) json_str(j, NULL, k->note.at[n]->s);
    json_extent(j, "operations", k->work);
    json_extent(j, "times", times[k->task]);
    json_end(j, '}');
  }
  json_end(j, ']');
}

/* ---- the file ----------------------------------------------------------------------------------- */

static void head(Json *j, const EmitOptions *o, const char *target) {
  json_object(j, NULL);
  json_str(j, "format", "ein manifest 1");
  json_str(j, "name", o->prefix);
  json_str(j, "source", o->source);
  json_str(j, "hash", arena_printf(j->out->arena, "%016llx", (unsigned long long)o->hash));
  json_str(j, "compiler", arena_printf(j->out->arena, "ein %s", o->version));
  json_str(j, "target", target);
}

static void tail(Json *j) {
  json_end(j, '}');
  if (j->out->len && j->out->s[j->out->len - 1] != '\n') buf_char(j->out, '\n');
}

void emit_manifest(Buf *json, const LoopProgram *p, const EmitOptions *o) {
  Json j = json_new(json);
  head(&j, o, o->device ? "cuda" : "c");
  entry_points(&j, o->prefix, false);
  arguments(&j, p->tasks, o);
  json_extent(&j, "flops", task_flops(p->tasks));
  kernels(&j, p);
  tail(&j);
}

/* Lists the plans by sites and sizes. */
static void plans_list(Json *j, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o) {
  json_objects(j, "plans", i, n) {
    json_int(j, "sites", mesh_sites(&plans[i]->tasks->mesh));
    json_object(j, "sizes");
    for (uint32_t k = 0; k < o->n_sizes; k++) json_int(j, o->size[k]->s, o->sizes[i * o->n_sizes + k]);
    json_end(j, '}');
  }
}

void emit_whole_manifest(Buf *json, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o) {
  Json j = json_new(json);
  head(&j, o, "mpi");
  json_each(&j, "sites", i, n)
    if (!i || mesh_sites(&plans[i]->tasks->mesh) != mesh_sites(&plans[i - 1]->tasks->mesh))
      json_int(&j, NULL, mesh_sites(&plans[i]->tasks->mesh));
  if (o->n_sizes) plans_list(&j, plans, n, o);
  entry_points(&j, o->prefix, true);
  arguments(&j, emit_whole_face(json->arena, plans[0], o)->tasks, o);
  tail(&j);
}
