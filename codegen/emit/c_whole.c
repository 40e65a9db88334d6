/* codegen/emit/c_whole.c - emits PREFIX.c for several plans of one program, each for a number of sites or for sizes.
 * In: their LoopPrograms, which have the same arguments. Out: the public functions, which use
 * runtime/sites/ein_whole.h, and PREFIX_mpi.c, which passes them a communicator. */
#include <string.h>

#include "c_inside.h"
#include "c_tables.h"
#include "expr/word.h"

const char *emit_plan_prefix(Arena *a, const EmitOptions *o, uint32_t i, int64_t sites) {
  const char *x = arena_printf(a, "%s_%lld", o->prefix, (long long)sites);
  for (uint32_t k = 0; k < o->n_sizes; k++) x = arena_printf(a, "%s_%lld", x, (long long)o->sizes[i * o->n_sizes + k]);
  return x;
}

static int64_t sites_of(const LoopProgram *p) {
  return mesh_sites(&p->tasks->mesh);
}

/* "for 4, 8 sites" */
static void head_print(Buf *c, const LoopProgram *const *plans, uint32_t n, const char *name, const EmitOptions *o) {
  buf_printf(c, "/* %s - from ", name);
  c_comment_text(c, o->source);
  buf_str(c, " for ");
  for (uint32_t i = 0; i < n; i++) {
    if (i && sites_of(plans[i]) == sites_of(plans[i - 1])) continue; /* other sizes */
    buf_printf(c, "%s%lld", i ? ", " : "", (long long)sites_of(plans[i]));
  }
  buf_printf(c, " sites, by ein %s.", o->version);
}

/* "N = 1024, M = 3; N = 4096, M = 3": for the plans with as many sites as the first. */
static void sizes_say(Buf *c, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o) {
  for (uint32_t i = 0; i < n && sites_of(plans[i]) == sites_of(plans[0]); i++)
    for (uint32_t k = 0; k < o->n_sizes; k++)
      buf_printf(c, "%s%s = %lld", k ? ", " : i ? "; " : "", o->size[k]->s, (long long)o->sizes[i * o->n_sizes + k]);
}

/* Makes a size that callers set a dim without a value, behind those of the mesh. */
static void size_open(Arena *a, TaskGraph *t, Str name) {
  for (uint32_t i = t->mesh.n; i < t->dims.len; i++)
    if (t->dims.at[i].name == name) {
      t->dims.at[i].known = false;
      return;
    }
  vec_push(a, t->dims, ((Dim){name, false, 0}));
}

/* The first plan with its arguments as callers see them: those with a default are optional, and sizes in which plans
 * differ are symbolic. */
LoopProgram *emit_whole_face(Arena *a, const LoopProgram *first, const EmitOptions *o) {
  LoopProgram *p = arena_copy(a, first, sizeof *first);
  p->tasks = arena_copy(a, first->tasks, sizeof *first->tasks);
  p->tasks->inputs.at =
      arena_copy(a, first->tasks->inputs.at, first->tasks->inputs.len * sizeof *first->tasks->inputs.at);
  for (uint32_t i = 0; i < o->n_defaults; i++) p->tasks->inputs.at[o->defaults[i].input].optional = true;
  for (uint32_t i = o->n_read; i < p->tasks->inputs.len; i++) p->tasks->inputs.at[i].optional = true;
  p->tasks->dims.at = arena_copy(a, first->tasks->dims.at, first->tasks->dims.len * sizeof *first->tasks->dims.at);
  p->tasks->dims.cap = first->tasks->dims.len;
  for (uint32_t i = 0; i < o->n_sizes; i++) size_open(a, p->tasks, o->size[i]);
  return p;
}

/* ---- the plans ------------------------------------------------------------------------------------ */

/* By plan. */
static void defaults_print(Buf *c, uint32_t n, const EmitOptions *o) {
  if (!o->n_defaults) return;
  for (uint32_t i = 0; i < o->n_choices * o->n_defaults; i++) {
    const EmitDefault *d = &o->defaults[i];
    if (d->n_from) c_ints(c, arena_printf(c->arena, "int %s_from_%u", o->prefix, i), d->n_from, d->from);
  }
  buf_printf(c, "static const ein_whole_default %s_defaults[] = {\n", o->prefix);
  for (uint32_t i = 0; i < n * o->n_defaults; i++) {
    const uint32_t k = i % (o->n_choices * o->n_defaults);
    const EmitDefault *d = &o->defaults[k];
    buf_printf(c, "  {%u, &%s_model, %d, %u, %s},\n", d->input, d->prefix, d->by_block, d->n_from,
        c_table(c->arena, o->prefix, arena_printf(c->arena, "from_%u", k), d->n_from));
  }
  buf_str(c, "};\n");
}

static void sizes_print(Buf *c, uint32_t n, const EmitOptions *o) {
  if (!o->n_sizes) return;
  buf_printf(c, "static const char *const %s_dims[] = {", o->prefix);
  for (uint32_t k = 0; k < o->n_sizes; k++) buf_printf(c, "%s%s", k ? ", " : "", c_text(c->arena, o->size[k]));
  buf_str(c, "};\n");
  c_ints(c, arena_printf(c->arena, "int64_t %s_sizes_of_plans", o->prefix), n * o->n_sizes, o->sizes);
}

/* By which sites know that they have the same plans, from files that may lie elsewhere on other machines. */
static int64_t plans_mark(Arena *a, const LoopProgram *const *plans, uint32_t n) {
  Buf text = buf_new(a), bare = buf_new(a);
  for (uint32_t i = 0; i < n; i++) task_print(&text, plans[i]->tasks);
  places_omit(&bare, text.s);
  uint64_t mark = (uint64_t)hash_bytes(bare.s, bare.len, 1) << 32 | hash_bytes(bare.s, bare.len, 2);
  return (int64_t)(mark >> 1) | 1;
}

static void plans_print(Buf *c, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o) {
  buf_str(c, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
  for (uint32_t i = 0; i < n; i++)
    buf_printf(c, "extern const ein_model %s_model;\n", emit_plan_prefix(c->arena, o, i, sites_of(plans[i])));
  for (uint32_t i = 0; i < o->n_defaults * o->n_choices; i++)
    buf_printf(c, "extern const ein_model %s_model;\n", o->defaults[i].prefix);
  buf_printf(c, "#ifdef __cplusplus\n}\n#endif\n\nstatic const ein_model *const %s_plans[] = {\n", o->prefix);
  for (uint32_t i = 0; i < n; i++)
    buf_printf(c, "  &%s_model,\n", emit_plan_prefix(c->arena, o, i, sites_of(plans[i])));
  buf_str(c, "};\n");
  defaults_print(c, n, o);
  sizes_print(c, n, o);
  buf_printf(c, "static const ein_whole_made %s_made = {%s_plans, %u, %s, %u, %u, %u, %s, %s, INT64_C(%lld)};\n\n",
      o->prefix, o->prefix, n, c_table(c->arena, o->prefix, "defaults", o->n_defaults), o->n_defaults, o->n_read,
      o->n_sizes, c_table(c->arena, o->prefix, "dims", o->n_sizes),
      c_table(c->arena, o->prefix, "sizes_of_plans", o->n_sizes), (long long)plans_mark(c->arena, plans, n));
}

/* $_plan passes sizes in the order of the tables. */
static void plan_print(Buf *c, const TaskGraph *t, const EmitOptions *o) {
  CMembers m = c_members(c->arena, t);
  buf_printf(c, "ein_status %s_plan(%s_ctx *ctx, const %s_sizes *sizes) {\n", o->prefix, o->prefix, o->prefix);
  if (!o->n_sizes) buf_str(c, "  (void)sizes;\n  return ein_whole_plan(ctx, NULL);\n}\n\n");
  if (!o->n_sizes) return;
  buf_printf(c, "  int64_t dim[%u];\n", o->n_sizes);
  for (uint32_t k = 0; k < o->n_sizes; k++)
    for (uint32_t i = t->mesh.n; i < t->dims.len; i++)
      if (t->dims.at[i].name == o->size[k]) buf_printf(c, "  dim[%u] = sizes ? sizes->%s : 0;\n", k, m.size[i]->s);
  buf_str(c, "  return ein_whole_plan(ctx, sizes ? dim : NULL);\n}\n\n");
}

/* ---- functions ------------------------------------------------------------------------------------ */

static const char functions[] =
  "ein_status $_create(const ein_config *config, $_ctx **ctx) {\n"
  "  void *made = NULL;\n"
  "  ein_status status = $_make(config, ctx ? &made : NULL);\n"
  "  if (ctx) *ctx = ($_ctx *)made;\n"
  "  return status;\n"
  "}\n\n"
  "void $_destroy($_ctx *ctx) {\n"
  "  ein_whole_destroy(ctx);\n"
  "}\n\n"
  "size_t $_workspace_bytes(const $_ctx *ctx) {\n"
  "  return ein_whole_workspace(ctx);\n"
  "}\n\n"
  "ein_status $_local_extent(const $_ctx *ctx, int output, int argument, int site, int64_t *low, int64_t *extent) {\n"
  "  return ein_whole_block(ctx, output, argument, site, low, extent);\n"
  "}\n\n"
  "ein_status $_run($_ctx *ctx, const $_inputs *inputs, const $_outputs *outputs) {\n"
  "  return ein_whole_run_blocks(ctx, (const ein_tensor *)inputs, (const ein_tensor *)outputs);\n"
  "}\n\n"
  "ein_status $_run_whole($_ctx *ctx, const $_inputs *inputs, const $_outputs *outputs) {\n"
  "  return ein_whole_run(ctx, (const ein_tensor *)inputs, (const ein_tensor *)outputs);\n"
  "}\n\n"
  "ein_status $_again($_ctx *ctx) {\n"
  "  return ein_whole_again(ctx);\n"
  "}\n\n"
  "const char *$_last_error(const $_ctx *ctx) {\n"
  "  return ein_whole_last_error(ctx);\n"
  "}\n\n"
  "void $_cancel($_ctx *ctx) {\n"
  "  ein_whole_cancel(ctx);\n"
  "}\n\n";

static void model_print(Buf *c, const TaskGraph *t, const EmitOptions *o) {
  const char *x = o->prefix;
  c_argument_tables(c, t, x);
  c_axes_tables(c, t, o);
  buf_printf(c, "const ein_model %s_model = {\n  1, \"%s\", ", x, x);
  c_string(c, o->source, strlen(o->source));
  buf_printf(c,
      ", %u, %u, %u,\n  %s, %s, %s,\n"
      "  %s_make, ein_whole_destroy, ein_whole_plan, ein_whole_workspace, ein_whole_shape,\n"
      "  ein_whole_run, ein_whole_last_error, ein_whole_cancel,\n  %s, %s,\n"
      "  0, NULL, ein_whole_block, ein_whole_run_blocks, ein_whole_collect,\n};\n",
      o->n_sizes, t->inputs.len, t->outputs.len, c_table(c->arena, x, "dims", o->n_sizes),
      c_table(c->arena, x, "input", t->inputs.len), c_table(c->arena, x, "output", t->outputs.len), x,
      c_table(c->arena, x, "input_axes", t->inputs.len), c_table(c->arena, x, "output_axes", t->outputs.len));
}

void emit_whole_c(Buf *c, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o) {
  const LoopProgram *face = emit_whole_face(c->arena, plans[0], o);
  const TaskGraph *t = face->tasks;
  head_print(c, plans, n, arena_printf(c->arena, "%s.c", o->prefix), o);
  buf_str(c, " It is yours; SPDX-License-Identifier: MIT-0 */\n#define EIN_STATIC\n#define EIN_WHOLE\n");
  c_runtime(c, o);
  plans_print(c, plans, n, o);
  c_declared(c, face, o);
  c_size_checks(c, t, o->prefix);
  buf_printf(c,
      "\nstatic ein_status %s_make(const ein_config *config, void **ctx) {\n"
      "  return ein_whole_create(&%s_made, config, ctx);\n}\n\n",
      o->prefix, o->prefix);
  c_with_prefix(c, functions, o->prefix);
  plan_print(c, t, o);
  model_print(c, t, o);
}

/* ---- the header ------------------------------------------------------------------------------------- */

void emit_whole_header(Buf *h, const LoopProgram *const *plans, uint32_t n, const EmitOptions *o) {
  head_print(h, plans, n, arena_printf(h->arena, "%s.h", o->prefix), o);
  if (o->n_sizes)
    buf_str(h, "\n * Built for "), sizes_say(h, plans, n, o),
        buf_str(h, ". The extents below are those of the first of these.");
  buf_printf(h,
      "\n * Create a context with a wire, or with an MPI communicator (%s_mpi.h), plan, run; see below.\n"
      " * All sites make the same calls in the same order; only local_extent, workspace_bytes, last_error\n"
      " * and cancel may be called at one site alone. */\n"
      "#ifndef %s_H\n#define %s_H\n\n%s\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
      o->prefix, o->prefix, o->prefix, o->tensor ? o->tensor : "#include \"ein_tensor.h\"\n");
  c_declarations(h, emit_whole_face(h->arena, plans[0], o), o, true);
  buf_str(h, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

/* ---- MPI ------------------------------------------------------------------------------------------------ */

static const char mpi_header[] =
    "#ifndef $_mpi_H\n#define $_mpi_H\n\n#include <mpi.h>\n\n#include \"$.h\"\n\n"
    "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
    "/* $_create for the processes of a communicator: each is a site, by its rank.\n"
    " * Duplicates the communicator once; $_destroy frees the duplicate. Both calls are\n"
    " * collective, and this one returns the same status at all processes. A config of NULL means the\n"
    " * defaults; its wire is ignored. Requires MPI_THREAD_FUNNELED; this thread must make all later\n"
    " * calls with the context. */\n"
    "ein_status $_create_mpi(MPI_Comm comm, const ein_config *config, $_ctx **ctx);\n\n"
    "/* The same for a communicator that is a number, as in Fortran, with at most `threads` threads; 0\n"
    " * means the default. */\n"
    "ein_status $_create_mpi_f(MPI_Fint comm, int threads, $_ctx **ctx);\n\n"
    "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";

static const char mpi_source[] =
  "\n#include \"$_mpi.h\"\n\n"
  "static ein_status $_over(const ein_config *config, void **ctx) {\n"
  "  $_ctx *made = NULL;\n"
  "  ein_status status = $_create(config, &made);\n"
  "  *ctx = made;\n"
  "  return status;\n"
  "}\n\n"
  "static void $_drop(void *ctx) {\n"
  "  $_destroy(($_ctx *)ctx);\n"
  "}\n\n"
  "ein_status $_create_mpi(MPI_Comm comm, const ein_config *config, $_ctx **ctx) {\n"
  "  void *made = NULL;\n"
  "  ein_status status = ein_mpi_create(comm, \"$\", config, $_over, $_drop, ctx ? &made : NULL);\n"
  "  if (ctx) *ctx = ($_ctx *)made;\n"
  "  return status;\n"
  "}\n\n"
  "ein_status $_create_mpi_f(MPI_Fint comm, int threads, $_ctx **ctx) {\n"
  "  ein_config config;\n"
  "  memset(&config, 0, sizeof config);\n"
  "  config.size = sizeof config;\n"
  "  config.threads = threads;\n"
  "  return $_create_mpi(MPI_Comm_f2c(comm), &config, ctx);\n"
  "}\n";

void emit_mpi_header(Buf *h, const EmitOptions *o) {
  buf_printf(h, "/* %s_mpi.h - %s over MPI, by ein %s. */\n", o->prefix, o->prefix, o->version);
  c_with_prefix(h, mpi_header, o->prefix);
}

void emit_mpi_c(Buf *c, const EmitOptions *o, const char *wire) {
  buf_printf(c,
      "/* %s_mpi.c - the only part of %s that calls MPI, by ein %s. It is yours; SPDX-License-Identifier: MIT-0 */\n"
      "#define EIN_STATIC\n",
      o->prefix, o->prefix, o->version);
  c_runtime(c, o);
  buf_str(c, wire);
  c_with_prefix(c, mpi_source, o->prefix);
}
