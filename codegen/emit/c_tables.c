/* codegen/emit/c_tables.c - emits the end of PREFIX.c. In: a LoopProgram. Out: declarations as in the header, tables
 * for the runtime (described in ein_run.h), the public functions, and the model through which programs that know
 * nothing of this one can run it (ein_tensor.h). */
#include "c_tables.h"

#include <string.h>

#include "c_inside.h"
#include "loop/names.h"
#include "task/sites/site.h"

static const char *const dtype_c[DTYPES] = {
  [DT_F64] = "EIN_F64", [DT_F32] = "EIN_F32", [DT_F16] = "EIN_F16", [DT_BF16] = "EIN_BF16", [DT_I64] = "EIN_I64",
  [DT_I32] = "EIN_I32", [DT_I16] = "EIN_I16", [DT_I8] = "EIN_I8",   [DT_U8] = "EIN_U8",     [DT_BOOL] = "EIN_BOOL",
};

uint32_t *c_axes(Arena *a, const TaskGraph *t) {
  uint32_t *at = NEW_ARRAY(a, uint32_t, t->buffers.len + 1);
  for (uint32_t b = 0; b < t->buffers.len; b++) at[b + 1] = at[b] + t->buffers.at[b].rank;
  return at;
}

/* ---- helpers ------------------------------------------------------------------------------------ */

static uint32_t open_dims(const TaskGraph *t) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->dims.len; i++) n += !t->dims.at[i].known;
  return n;
}

/* The deepest nesting of repeats, which is the number of turn counters. */
static uint32_t turns_deep(const Tasks *list, uint32_t depth) {
  uint32_t most = depth;
  for (uint32_t i = 0; i < list->len; i++) {
    uint32_t in = list->at[i]->kind == TASK_REPEAT ? turns_deep(&list->at[i]->body, list->at[i]->depth + 1) : 0;
    if (in > most) most = in;
  }
  return most;
}

uint32_t c_turns(const TaskGraph *t) { return turns_deep(&t->tasks, 0); }

/* ---- tables ------------------------------------------------------------------------------------- */

static void dim_table(Buf *c, const TaskGraph *t, const char *prefix) {
  if (!open_dims(t)) return;
  buf_printf(c, "static const char *const %s_dims[] = {\n", prefix);
  vec_each(const Dim, d, t->dims)
    if (!d->known) buf_printf(c, "  %s,\n", c_text(c->arena, d->name));
  buf_str(c, "};\n");
}

static void argument_row(Buf *c, const TaskGraph *t, const TaskArgument *x) {
  const TaskBuffer *b = &t->buffers.at[x->buffer];
  buf_printf(c, "  {%s, %s, %u, %d, %d},\n", c_text(c->arena, x->name), dtype_c[b->dtype], b->rank, x->optional,
      x->param);
}

void c_argument_tables(Buf *c, const TaskGraph *t, const char *prefix) {
  if (t->inputs.len) {
    buf_printf(
        c, "static const ein_argument %s_input[] = { /* name, type, axes, has a default, is a param */\n", prefix);
    for (uint32_t i = 0; i < t->inputs.len; i++) argument_row(c, t, &t->inputs.at[i]);
    buf_str(c, "};\n");
  }
  if (!t->outputs.len) return;
  buf_printf(c, "static const ein_argument %s_output[] = {\n", prefix);
  for (uint32_t i = 0; i < t->outputs.len; i++) argument_row(c, t, &t->outputs.at[i]);
  buf_str(c, "};\n");
}

/* ---- axes, for users of the model --------------------------------------------------------------- */

/* An extent: times * size + plus. `dim` is the number of the size among those without a value; -1: none. */
typedef struct Extent {
  int dim;
  int64_t times, plus;
} Extent;

enum { EXTENT_DEPTH = 32 };

static Extent open_dim(const TaskGraph *t, Str name) {
  Extent x = {.dim = 0, .times = 1};
  for (uint32_t i = 0; i < t->dims.len; i++) {
    if (t->dims.at[i].known) continue;
    if (t->dims.at[i].name == name) return x;
    x.dim++;
  }
  return (Extent){.dim = -1};
}

static bool extent_sum(Extent a, Extent b, Extent *out) {
  if (a.dim >= 0 && b.dim >= 0 && a.dim != b.dim) return false;
  out->dim = a.dim >= 0 ? a.dim : b.dim;
  return add_ok(a.times, b.times, &out->times) && add_ok(a.plus, b.plus, &out->plus);
}

static bool extent_product(Extent a, int64_t by, Extent *out) {
  out->dim = a.dim;
  return mul_ok(a.times, by, &out->times) && mul_ok(a.plus, by, &out->plus);
}

/* Returns false if the extent depends on several sizes, or in another way. */
static bool extent_read(const TaskGraph *t, const Expr *e, int depth, Extent *out) {
  Extent a, b;
  *out = (Extent){.dim = -1, .plus = e->i};
  if (e->kind == EX_INT) return true;
  if (e->kind == EX_DIM) return *out = open_dim(t, e->name), out->dim >= 0;
  if (e->kind != EX_OP || depth == EXTENT_DEPTH || !extent_read(t, e->arg[0], depth + 1, &a)) return false;
  if (e->op == OP_NEG) return extent_product(a, -1, out);
  if (e->n != 2 || !extent_read(t, e->arg[1], depth + 1, &b)) return false;
  switch ((int)e->op) {
  case OP_ADD: return extent_sum(a, b, out);
  case OP_SUB: return extent_product(b, -1, &b) && extent_sum(a, b, out);
  case OP_MUL: return a.dim < 0 ? extent_product(b, a.plus, out) : b.dim < 0 && extent_product(a, b.plus, out);
  default: return false;
  }
}

static Extent extent_of(const TaskGraph *t, const Expr *e) {
  Extent x;
  return extent_read(t, e, 0, &x) && x.dim >= 0 && x.times ? x : (Extent){.dim = -1};
}

/* For plans with several sizes, of an axis of an input. */
static Extent plan_extent(const EmitOptions *o, const NamedAxes *said, uint32_t axis) {
  const NamedSize *x = said && said->size ? &said->size[axis] : NULL;
  for (uint32_t i = 0; x && x->size && i < o->n_sizes; i++)
    if (o->size[i] == x->size) return (Extent){(int)i, x->times, x->plus};
  return (Extent){.dim = -1};
}

/* Returns an array, by axis. */
static const Extent *extents_of(Arena *a, const TaskGraph *t, const TaskArgument *x, const EmitOptions *o) {
  const TaskBuffer *b = &t->buffers.at[x->buffer];
  const NamedAxes *said = axes_find(&o->declared, x->name, true, b->rank);
  Extent *all = NEW_ARRAY(a, Extent, b->rank + 1);
  for (uint32_t k = 0; k < b->rank; k++)
    all[k] = !t->mesh.n              ? extent_of(t, b->dim[k])
             : b->space == BUF_INPUT ? plan_extent(o, said, k)
                                     : (Extent){.dim = -1};
  return all;
}

static bool is_itself(Extent x) {
  return x.dim < 0 || (x.times == 1 && !x.plus);
}

/* Returns whether some axis is not a size itself, and so has entries in NAME_times and NAME_plus. */
static bool axes_scaled(const Extent *x, uint32_t rank) {
  bool scaled = false;
  for (uint32_t k = 0; k < rank; k++) scaled |= !is_itself(x[k]);
  return scaled;
}

static void scales_of(Buf *c, const Extent *x, uint32_t rank, const char *name) {
  if (!axes_scaled(x, rank)) return;
  for (int plus = 0; plus < 2; plus++) {
    buf_printf(c, "static const int64_t %s_%s[] = {", name, plus ? "plus" : "times");
    for (uint32_t k = 0; k < rank; k++)
      buf_printf(c, "%s%lld", k ? ", " : "", (long long)(x[k].dim < 0 ? !plus : plus ? x[k].plus : x[k].times));
    buf_str(c, "};\n");
  }
}

static void axes_of(
    Buf *c, const TaskGraph *t, const TaskBuffer *b, const Extent *x, Str *const label, const char *name) {
  if (!b->rank) return;
  buf_printf(c, "static const char *const %s_label[] = {", name);
  for (uint32_t k = 0; k < b->rank; k++)
    buf_printf(c, "%s%s", k ? ", " : "", c_text(c->arena, label ? label[k] : NULL));
  buf_printf(c, "};\nstatic const int %s_dim[] = {", name);
  for (uint32_t k = 0; k < b->rank; k++) buf_printf(c, "%s%d", k ? ", " : "", x[k].dim);
  buf_str(c, "};\n");
  scales_of(c, x, b->rank, name);
  if (!t->mesh.n) return;
  int64_t *whole = NEW_ARRAY(c->arena, int64_t, b->rank);
  task_whole(t, b, whole);
  c_ints(c, arena_printf(c->arena, "int64_t %s_whole", name), b->rank, whole);
}

static void axes_table(Buf *c, const TaskGraph *t, const TaskArgument *x, uint32_t n, const AxisLabels *labels,
    const EmitOptions *o, const char *name) {
  if (!n) return;
  const Extent **extent = NEW_ARRAY(c->arena, const Extent *, n);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t b = x[i].buffer;
    extent[i] = extents_of(c->arena, t, &x[i], o);
    axes_of(c, t, &t->buffers.at[b], extent[i], labels->of[b], arena_printf(c->arena, "%s%u", name, i));
  }
  buf_printf(c, "static const ein_axes %s[] = {\n", name);
  for (uint32_t i = 0; i < n; i++) {
    const TaskBuffer *b = &t->buffers.at[x[i].buffer];
    const char *whole = t->mesh.n ? arena_printf(c->arena, "%s%u_whole", name, i) : "NULL";
    if (!b->rank) buf_str(c, "  {NULL, NULL, NULL, NULL, NULL},\n");
    else if (axes_scaled(extent[i], b->rank))
      buf_printf(
          c, "  {%s%u_label, %s%u_dim, %s, %s%u_times, %s%u_plus},\n", name, i, name, i, whole, name, i, name, i);
    else buf_printf(c, "  {%s%u_label, %s%u_dim, %s, NULL, NULL},\n", name, i, name, i, whole);
  }
  buf_str(c, "};\n");
}

/* ---- buffers ------------------------------------------------------------------------------------ */

/* "i, j", as a literal, or NULL. */
static const char *labels_text(Arena *a, Strings *t, Str *const label, uint32_t rank) {
  Buf b = buf_new(a);
  for (uint32_t k = 0; label && k < rank; k++)
    buf_printf(&b, "%s%s", k ? ", " : "", label[k] ? label[k]->s : "_");
  return c_text(a, label && rank ? str_of(t, b.s, b.len) : NULL);
}

static void buffer_table(Buf *c, const TaskGraph *t, const NamedAxesList *declared, const char *prefix) {
  if (!t->buffers.len) return;
  const uint32_t *at = c_axes(c->arena, t);
  AxisLabels labels = axis_labels(c->arena, t, declared);
  buf_printf(c, "static const ein_buffer %s_buffer[] = {\n", prefix);
  for (uint32_t i = 0; i < t->buffers.len; i++) {
    const TaskBuffer *b = &t->buffers.at[i];
    buf_printf(c, "  {%d, %u, %s, %u, %u, %u, %u, %s, %s, %s},\n", (int)b->space, b->argument, dtype_c[b->dtype],
        b->rank, at[i], b->first, b->last, c_text(c->arena, b->name),
        labels_text(c->arena, t->strings, labels.of[i], b->rank), c_place_fields(c->arena, b->place));
  }
  buf_str(c, "};\n");
}

static void site_table(Buf *c, const LoopProgram *p, const char *prefix) {
  if (!p->sites.len) return;
  buf_printf(c, "static const ein_site %s_site[] = {\n", prefix);
  vec_each(const LoopSite, x, p->sites)
    buf_printf(c, "  {%s, %s, %d},\n", c_text(c->arena, x->text), c_place_fields(c->arena, x->place), x->asked);
  buf_str(c, "};\n");
}

const char *c_table(Arena *a, const char *prefix, const char *name, uint32_t rows) {
  return rows ? arena_printf(a, "%s_%s", prefix, name) : "NULL";
}

static void tables_of_arguments(Buf *c, const TaskGraph *t, const char *prefix) {
  buf_printf(c, "%s, %s, %s,", c_table(c->arena, prefix, "dims", open_dims(t)),
      c_table(c->arena, prefix, "input", t->inputs.len), c_table(c->arena, prefix, "output", t->outputs.len));
}

static void tables(Buf *c, const LoopProgram *p, const EmitOptions *o, const char *ready) {
  const TaskGraph *t = p->tasks;
  const uint32_t *at = c_axes(c->arena, t);
  dim_table(c, t, o->prefix);
  c_argument_tables(c, t, o->prefix);
  buffer_table(c, t, &o->declared, o->prefix);
  site_table(c, p, o->prefix);
  buf_printf(c, "static const ein_tables %s_tables = {\n  ", o->prefix);
  c_string(c, o->prefix, strlen(o->prefix));
  buf_str(c, ", ");
  c_string(c, o->source, strlen(o->source));
  buf_printf(c, ",\n  %u, %u, %u, %u, %u, %s_n_sizes, %u, %u, %u,\n  ", open_dims(t), t->inputs.len, t->outputs.len,
             t->buffers.len, at[t->buffers.len], o->prefix, c_turns(t), p->sites.len, t->n_steps);
  tables_of_arguments(c, t, o->prefix);
  buf_printf(c, " %s, %s,\n  %s_sizes_of, %s_body, EIN_WORTH_THREADS, EIN_ALL_DENSE, %s%s, %s,\n};\n\n",
      c_table(c->arena, o->prefix, "buffer", t->buffers.len), c_table(c->arena, o->prefix, "site", p->sites.len),
      o->prefix, o->prefix, t->mesh.n ? "&" : "", c_table(c->arena, o->prefix, "mesh", t->mesh.n), ready);
}

/* ---- functions ---------------------------------------------------------------------------------- */

static void make_text(Buf *c, const char *x) {
  buf_printf(c,
             "static ein_status %s_make(const ein_config *config, void **ctx) {\n"
             "  return ein_create(&%s_tables, config, ctx);\n"
             "}\n\n",
             x, x);
}

static void create_text(Buf *c, const char *x) {
  buf_printf(c,
             "ein_status %s_create(const ein_config *config, %s_ctx **ctx) {\n"
             "  void *made = NULL;\n"
             "  ein_status status = %s_make(config, ctx ? &made : NULL);\n"
             "  if (ctx) *ctx = (%s_ctx *)made;\n"
             "  return status;\n"
             "}\n\n"
             "void %s_destroy(%s_ctx *ctx) {\n"
             "  ein_destroy(ctx);\n"
             "}\n\n",
             x, x, x, x, x, x);
}

static void plan_text(Buf *c, const TaskGraph *t, const CMembers *m, const char *x) {
  buf_printf(c, "ein_status %s_plan(%s_ctx *ctx, const %s_sizes *sizes) {\n", x, x, x);
  if (!open_dims(t)) {
    buf_str(c, "  (void)sizes;\n  return ein_plan_run(ctx, NULL);\n}\n\n");
    return;
  }
  buf_printf(c, "  int64_t dim[%u];\n  if (!sizes) return ein_plan_run(ctx, NULL);\n", open_dims(t));
  for (uint32_t i = 0, k = 0; i < t->dims.len; i++)
    if (!t->dims.at[i].known) buf_printf(c, "  dim[%u] = sizes->%s;\n", k++, m->size[i]->s);
  buf_str(c, "  return ein_plan_run(ctx, dim);\n}\n\n");
}

/* Structs of views are used as arrays of views: the compiler rejects a struct with padding. */
static void size_check(Buf *c, const char *x, const char *what, uint32_t n) {
  if (n)
    buf_printf(
        c, "typedef char %s_%s_are_views[sizeof(%s_%s) == %u * sizeof(ein_tensor) ? 1 : -1];\n", x, what, x, what, n);
}

/* Prints a condition for each argument: it has changed since the last run. */
static void others_text(
    Buf *c, const TaskGraph *t, const TaskArgument *x, uint32_t n, uint32_t first, const char *array) {
  const uint32_t *at = c_axes(c->arena, t);
  for (uint32_t i = 0; i < n; i++) {
    const TaskBuffer *b = &t->buffers.at[x[i].buffer];
    buf_printf(c, " ||\n      ein_view_other(ctx, %u, &%s[%u], %s, %u, %u, %d, &moved)", first + i, array, i,
        dtype_c[b->dtype], b->rank, at[x[i].buffer], x[i].optional);
  }
}

enum { FEW_ARGUMENTS = 16 }; /* at most so many are compared one by one; more, by a loop */

static void run_few(Buf *c, const TaskGraph *t, const char *x) {
  buf_printf(c,
             "ein_status %s_run(%s_ctx *context, const %s_inputs *inputs, const %s_outputs *outputs) {\n"
             "  ein_ctx *ctx = ein_bound(context);\n"
             "  const ein_tensor *in = (const ein_tensor *)inputs, *out = (const ein_tensor *)outputs;\n"
             "  uintptr_t moved = 0;\n"
             "  if (!ctx%s%s",
             x, x, x, x, t->inputs.len ? " || !in" : "", t->outputs.len ? " || !out" : "");
  others_text(c, t, t->inputs.at, t->inputs.len, 0, "in");
  others_text(c, t, t->outputs.at, t->outputs.len, t->inputs.len, "out");
  buf_printf(
      c, ")\n    return ein_run(context, in, out);\n  return ein_run_like(ctx, in, out, moved, %s_body);\n}\n\n", x);
}

static void run_any(Buf *c, const char *x) {
  buf_printf(c,
             "ein_status %s_run(%s_ctx *ctx, const %s_inputs *inputs, const %s_outputs *outputs) {\n"
             "  return ein_run(ctx, (const ein_tensor *)inputs, (const ein_tensor *)outputs);\n"
             "}\n\n",
             x, x, x, x);
}

void c_size_checks(Buf *c, const TaskGraph *t, const char *x) {
  size_check(c, x, "inputs", t->inputs.len);
  size_check(c, x, "outputs", t->outputs.len);
}

static void run_text(Buf *c, const TaskGraph *t, const char *x) {
  c_size_checks(c, t, x);
  if (t->inputs.len + t->outputs.len <= FEW_ARGUMENTS) run_few(c, t, x);
  else run_any(c, x);
  buf_printf(c, "ein_status %s_again(%s_ctx *context) {\n", x, x);
  buf_printf(c,
      "  ein_ctx *ctx = ein_bound(context);\n  return ctx ? ein_run_bound(ctx, %s_body) : ein_again(context);\n}\n\n",
      x);
}

static void other_text(Buf *c, const char *x) {
  buf_printf(c,
             "size_t %s_workspace_bytes(const %s_ctx *ctx) {\n"
             "  return ein_workspace_bytes(ctx);\n"
             "}\n\n"
             "const char *%s_last_error(const %s_ctx *ctx) {\n"
             "  return ein_last_error(ctx);\n"
             "}\n\n"
             "void %s_cancel(%s_ctx *ctx) {\n"
             "  ein_cancel(ctx);\n"
             "}\n\n",
             x, x, x, x, x, x);
}

void c_axes_tables(Buf *c, const TaskGraph *t, const EmitOptions *o) {
  AxisLabels labels = axis_labels(c->arena, t, &o->declared);
  axes_table(c, t, t->inputs.at, t->inputs.len, &labels, o, arena_printf(c->arena, "%s_input_axes", o->prefix));
  axes_table(c, t, t->outputs.at, t->outputs.len, &labels, o, arena_printf(c->arena, "%s_output_axes", o->prefix));
}

static void model_text(Buf *c, const TaskGraph *t, const EmitOptions *o) {
  const char *x = o->prefix;
  c_axes_tables(c, t, o);
  buf_printf(c, "const ein_model %s_model = {\n  1, \"%s\", ", x, x);
  c_string(c, o->source, strlen(o->source));
  buf_printf(c, ", %u, %u, %u,\n  ", open_dims(t), t->inputs.len, t->outputs.len);
  tables_of_arguments(c, t, x);
  buf_printf(c,
             "\n  %s_make, ein_destroy, ein_plan_run, ein_workspace_bytes, ein_argument_shape,\n"
             "  ein_run, ein_last_error, ein_cancel,\n  %s, %s,",
             x, c_table(c->arena, x, "input_axes", t->inputs.len), c_table(c->arena, x, "output_axes", t->outputs.len));
  if (t->mesh.n) buf_printf(c, "\n  %lld, %s_axes, %s_block, NULL, NULL,\n};\n", (long long)mesh_sites(&t->mesh), x, x);
  else buf_str(c, "\n  0, NULL, NULL, NULL, NULL,\n};\n");
}

void c_declared(Buf *c, const LoopProgram *p, const EmitOptions *o) {
  buf_str(c, "/* ---- declarations of the header ------------------------------------------------------- */\n\n");
  buf_str(c, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  c_declarations(c, p, o, false);
  buf_str(c, "#ifdef __cplusplus\n}\n#endif\n\n");
}

/* A plan for several sites exports only its model. */
static void emit_plan(Buf *c, const LoopProgram *p, const EmitOptions *o) {
  make_text(c, o->prefix);
  buf_printf(c,
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\nextern const ein_model %s_model;\n#ifdef __cplusplus\n}\n#endif\n\n",
      o->prefix);
  model_text(c, p->tasks, o);
}

void emit_tables(Buf *c, const LoopProgram *p, const EmitOptions *o, const char *ready) {
  CMembers m = c_members(c->arena, p->tasks);
  buf_str(c, "/* ---- tables ------------------------------------------------------------------------- */\n\n");
  tables(c, p, o, ready);
  if (p->tasks->mesh.n) {
    emit_plan(c, p, o);
    return;
  }
  c_declared(c, p, o);
  make_text(c, o->prefix);
  create_text(c, o->prefix);
  plan_text(c, p->tasks, &m, o->prefix);
  run_text(c, p->tasks, o->prefix);
  other_text(c, o->prefix);
  model_text(c, p->tasks, o);
}
