/* driver/compile/build_sites.c - ein build --target=mpi, and --target=cuda -n: plans the program for each number of
 * sites in -n and each combination of sizes in -D, and compiles all plans into one program, which picks the one that
 * fits. Sites compute on their processors, or each on a device. */
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "driver/compile/nvrtc.h"
#include "driver/table.h"
#include "task/sites/site.h"
#include "texts.h"

enum { PLANS_MOST = 64, SIZES_MOST = 8 };

typedef struct Plans {
  uint32_t n;
  const LoopProgram *loops[PLANS_MOST];
  Job job[PLANS_MOST];
  uint32_t n_read;           /* inputs that plans read; those after them are read by defaults alone */
  VEC(EmitDefault) defaults; /* of inputs; */
  VEC(const LoopProgram *) made; /*   their programs */
  uint32_t n_sizes;          /* sizes that -D gives several values: */
  Str size[SIZES_MOST];      /*   their names, */
  Words value[SIZES_MOST];   /* all of their values, as typed, */
  VEC(int64_t) sizes;        /*   and by plan what they are */
} Plans;

/* ---- plans -------------------------------------------------------------------------------------------------- */

static Str size_name(Session *s, const char *word) {
  return str_from(s->strings, arena_printf(s->arena, "%.*s", (int)strcspn(word, "="), word));
}

/* The index of the size with several values that a word of -D is for; n_sizes: none. */
static uint32_t size_find(Session *s, const Plans *p, const char *word) {
  uint32_t k = 0;
  while (k < p->n_sizes && p->size[k] != size_name(s, word)) k++;
  return k;
}

static bool is_among(const Words *w, const char *word) {
  for (uint32_t i = 0; i < w->len; i++)
    if (strcmp(w->at[i], word) == 0) return true;
  return false;
}

/* Finds which sizes have several values, and which values. */
static Leave sizes_find(Session *s, const Args *a, Plans *p) {
  const Words *w = &a->given[OPT_DIM];
  for (uint32_t i = 0; i < w->len; i++) {
    Words all = {0};
    if (size_find(s, p, w->at[i]) < p->n_sizes) continue;
    for (uint32_t j = i; j < w->len; j++)
      if (size_name(s, w->at[j]) == size_name(s, w->at[i]) && !is_among(&all, w->at[j]))
        vec_push(s->arena, all, w->at[j]);
    if (all.len < 2) continue;
    if (p->n_sizes == SIZES_MOST)
      return fail(s, LEAVE_USAGE, "-D: %d sizes are the most that may have several values", SIZES_MOST);
    p->size[p->n_sizes] = size_name(s, w->at[i]);
    p->value[p->n_sizes++] = all;
  }
  return LEAVE_OK;
}

/* The program's input with that number among the tasks'; NULL: the job began after its graph. */
static const EinNode *input_find(const Job *j, uint32_t number) {
  return j->past ? NULL : graph_input_find(j->graph, j->tasks->inputs.at[number].name);
}

static int64_t input_number(const Job *j, Str name) {
  for (uint32_t k = 0; k < j->tasks->inputs.len; k++)
    if (j->tasks->inputs.at[k].name == name) return k;
  return -1;
}

static EinGraph *default_of(Session *s, const Job *j, uint32_t input, bool *by_block) {
  const EinNode *n = input_find(j, input);
  return n && n->fallback ? default_program(s, j, n, by_block) : NULL;
}

/* Inputs that only defaults use: plans have dropped them. They have defaults too. */
static void inputs_behind(Session *s, const Job *j) {
  for (uint32_t k = 0; k < j->tasks->inputs.len; k++) {
    bool by_block;
    const EinGraph *g = default_of(s, j, k, &by_block);
    for (uint32_t i = 0; g && i < g->inputs.len; i++) {
      const EinNode *n = g->inputs.at[i];
      if (input_number(j, n->name) < 0) task_input_add(j->tasks, n->name, n->dtype, n->rank, n->dim, n->place);
    }
  }
}

static bool same_arguments(const TaskGraph *a, const TaskGraph *b, bool output) {
  uint32_t n = output ? a->outputs.len : a->inputs.len;
  bool same = n == (output ? b->outputs.len : b->inputs.len);
  for (uint32_t k = 0; k < n && same; k++) {
    const TaskArgument *x = &(output ? a->outputs.at : a->inputs.at)[k],
                       *y = &(output ? b->outputs.at : b->inputs.at)[k];
    const TaskBuffer *p = &a->buffers.at[x->buffer], *q = &b->buffers.at[y->buffer];
    same = x->name == y->name && p->dtype == q->dtype && p->rank == q->rank;
  }
  return same;
}

/* Checks that all plans have the same arguments. */
static Leave arguments_agree(Session *s, const Plans *all, const Job *j) {
  const TaskGraph *first = all->n ? all->loops[0]->tasks : j->tasks;
  if (same_arguments(first, j->tasks, false) && same_arguments(first, j->tasks, true)) return LEAVE_OK;
  return fail(s, LEAVE_PROGRAM,
      "%s: with these sizes it has other inputs and outputs than with those before; build them one by one", j->path);
}

/* Marks params, which relations do not record. */
static void params_mark(const Job *j) {
  for (uint32_t k = 0; k < j->tasks->inputs.len; k++) {
    const EinNode *n = input_find(j, k);
    if (n) j->tasks->inputs.at[k].param = n->param;
  }
}

/* Adds a plan: for `sites` of them, or, if NULL, as the text itself states; plans from `first` on are for the same
 * number, with other sizes. */
static Leave plan_add(Session *s, const Args *a, const char *sites, uint32_t first, Plans *all) {
  Args one = *a;
  Job *j = &all->job[all->n];
  if (all->n == PLANS_MOST)
    return fail(s, LEAVE_USAGE, "-n: %d plans are the most, for numbers of sites and sizes together", PLANS_MOST);
  one.given[OPT_SITES] = (Words){0};
  if (sites) vec_push(s->arena, one.given[OPT_SITES], sites);
  Leave l = job_compile(s, j, &one, one.operands.at[0]);
  if (!l) l = job_sites(s, j, &one, LANG_TASK);
  if (!l) l = job_tasks(s, j, &one);
  if (!l && !j->tasks->mesh.n)
    l = fail(s, LEAVE_USAGE,
        target_device(s, a)
            ? "-n is for several sites; ein build %s --target=cuda -o prog makes a program for one device"
            : "--target=mpi is for several sites; ein build %s -o prog makes a program for one",
        shown(s->arena, j->path));
  for (uint32_t i = 0; i < first && !l; i++)
    if (mesh_sites(&all->loops[i]->tasks->mesh) == mesh_sites(&j->tasks->mesh))
      l = fail(s, LEAVE_USAGE, "-n: %s is there twice", sites);
  if (!l && !all->n) all->n_read = j->tasks->inputs.len;
  if (!l) inputs_behind(s, j);
  if (!l) params_mark(j);
  if (!l) l = arguments_agree(s, all, j);
  if (!l) l = job_loops(s, j, &one);
  if (!l) all->loops[all->n++] = j->loops;
  return l;
}

/* Adds a plan for each combination of sizes, for one number of sites. The last size varies fastest. */
static Leave plans_by_size(Session *s, const Args *a, const char *sites, Plans *all) {
  uint32_t at[SIZES_MOST] = {0}, first = all->n, k;
  Leave l;
  do {
    Args one = *a;
    one.given[OPT_DIM] = (Words){0};
    for (uint32_t i = 0; i < a->given[OPT_DIM].len; i++)
      if (size_find(s, all, a->given[OPT_DIM].at[i]) == all->n_sizes)
        vec_push(s->arena, one.given[OPT_DIM], a->given[OPT_DIM].at[i]);
    for (k = 0; k < all->n_sizes; k++) vec_push(s->arena, one.given[OPT_DIM], all->value[k].at[at[k]]);
    l = plan_add(s, all->n_sizes ? &one : a, sites, first, all);
    for (uint32_t i = 0; i < all->n_sizes && !l; i++) {
      int64_t value = 0;
      job_dim(&all->job[all->n - 1], all->size[i], &value);
      vec_push(s->arena, all->sizes, value);
    }
    for (k = all->n_sizes; k > 0 && ++at[k - 1] == all->value[k - 1].len; k--) at[k - 1] = 0;
  } while (!l && k > 0);
  return l;
}

static Leave plans_make(Session *s, const Args *a, Plans *all) {
  const char *said = arg_last(a, OPT_SITES);
  Leave l = sizes_find(s, a, all);
  if (l || !said) return l ? l : plans_by_size(s, a, NULL, all);
  const Words words = commas_of(s->arena, said);
  for (uint32_t i = 0; i < words.len && !l; i++) l = plans_by_size(s, a, words.at[i], all);
  return l;
}

/* The number of plans for each number of sites. */
static uint32_t choices_of(const Plans *p) {
  uint32_t n = 1;
  for (uint32_t k = 0; k < p->n_sizes; k++) n *= p->value[k].len;
  return n;
}

static const char *default_prefix(Session *s, const Plans *p, const char *prefix, uint32_t input, uint32_t choice) {
  const char *x = arena_printf(s->arena, "%s_default_%u", prefix, input);
  for (uint32_t k = 0; k < p->n_sizes; k++)
    x = arena_printf(s->arena, "%s_%lld", x, (long long)p->sizes.at[choice * p->n_sizes + k]);
  return x;
}

static Leave default_add(Session *s, const Args *a, const char *prefix, uint32_t input, uint32_t choice, Plans *p) {
  const Job *j = &p->job[choice];
  Job *made = NEW(s->arena, Job);
  Args one = *a;
  bool by_block = false;
  one.given[OPT_SITES] = (Words){0};
  one.given[OPT_TARGET] = (Words){0}; /* they are made on the host */
  *made = (Job){.path = j->path, .program = j->program, .graph = default_of(s, j, input, &by_block), .dims = j->dims};
  Leave l = job_loops(s, made, &one);
  if (l) return l;
  EmitDefault d = {input, by_block, default_prefix(s, p, prefix, input, choice), made->tasks->inputs.len, NULL};
  d.from = NEW_ARRAY(s->arena, uint32_t, d.n_from + 1);
  for (uint32_t i = 0; i < d.n_from; i++) d.from[i] = (uint32_t)input_number(j, made->tasks->inputs.at[i].name);
  vec_push(s->arena, p->made, made->loops);
  vec_push(s->arena, p->defaults, d);
  return LEAVE_OK;
}

/* Orders inputs with defaults such that each comes after those that its default uses, as in a graph. Returns their
 * number. */
static uint32_t defaults_order(const Job *j, uint32_t *input) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < j->tasks->inputs.len; k++) {
    const EinNode *x = input_find(j, k);
    if (!x || !x->fallback) continue;
    uint32_t at = n++;
    for (; at && input_find(j, input[at - 1])->id > x->id; at--) input[at] = input[at - 1];
    input[at] = k;
  }
  return n;
}

/* Makes programs that compute the defaults of missing inputs: one for one site for each combination of sizes. */
static Leave defaults_find(Session *s, const Args *a, const char *prefix, Plans *p) {
  uint32_t *input = NEW_ARRAY(s->arena, uint32_t, p->job[0].tasks->inputs.len + 1),
           n = defaults_order(&p->job[0], input);
  Leave l = LEAVE_OK;
  for (uint32_t c = 0; c < choices_of(p); c++)
    for (uint32_t k = 0; k < n && !l; k++) l = default_add(s, a, prefix, input[k], c, p);
  return l;
}

/* What shapes of files tell: on which of the sizes with several values the axes of inputs depend. */
static void sizes_declare(Session *s, const Plans *p, EmitOptions *o) {
  const Job *j = &p->job[0];
  DimValues fixed = {0};
  for (uint32_t i = 0; i < j->dims.len; i++) {
    uint32_t k = 0;
    while (k < p->n_sizes && p->size[k] != j->dims.at[i].name) k++;
    if (k == p->n_sizes) vec_push(s->arena, fixed, j->dims.at[i]);
  }
  for (uint32_t i = 0; i < o->declared.len && j->program; i++) {
    NamedAxes *d = &o->declared.at[i];
    if (!d->input) continue;
    InputAxis *x = NEW_ARRAY(s->arena, InputAxis, d->rank + 1);
    program_axes(s->arena, j->program, d->name, &fixed, p->size, p->n_sizes, x);
    d->size = NEW_ARRAY(s->arena, NamedSize, d->rank + 1);
    for (uint32_t k = 0; k < d->rank; k++) d->size[k] = (NamedSize){x[k].size, x[k].times, x[k].plus};
  }
}

/* ---- texts --------------------------------------------------------------------------------------------------- */

static uint32_t texts_count(const Plans *p) {
  return p->n + p->made.len + 1;
}

/* Makes the texts: the file over all plans, then one for each, then defaults. */
static Leave texts_make(Session *s, const Args *a, const Plans *p, const EmitOptions *o, NativeText *text) {
  Buf *of = NEW_ARRAY(s->arena, Buf, texts_count(p));
  Leave l = LEAVE_OK;
  of[0] = buf_new(s->arena);
  emit_whole_c(&of[0], p->loops, p->n, o);
  text[0] = (NativeText){o->prefix, &of[0]};
  for (uint32_t i = 0; i + 1 < texts_count(p) && !l; i++) {
    EmitOptions one = *o;
    one.n_sizes = 0; /* of one choice of them */
    one.prefix = i < p->n ? emit_plan_prefix(s->arena, o, i, mesh_sites(&p->loops[i]->tasks->mesh))
                          : p->defaults.at[i - p->n].prefix;
    of[i + 1] = buf_new(s->arena);
    if (i < p->n && o->device) l = device_text_for(s, &p->job[i], &one, arg_last(a, OPT_ARCH), &of[i + 1]);
    else emit_c(&of[i + 1], i < p->n ? p->loops[i] : p->made.at[i - p->n], &one);
    text[i + 1] = (NativeText){one.prefix, &of[i + 1]};
  }
  return l;
}

/* ---- the compiler that knows MPI -------------------------------------------------------------------------------- */

/* Wrappers take the underlying compiler from the environment; each MPI has its own variable. */
static Leave wrapper_find(Session *s, const Args *a, Compiler *c) {
  static const char *const variables[] = {"OMPI_CC", "MPICH_CC", "I_MPI_CC"};
  const char *said = getenv("MPICC"), *wrapper = program_on_path(s->arena, said && *said ? said : "mpicc");
  Leave l = compiler_find(s, arg_last(a, OPT_CC), arg_last(a, OPT_FLAGS), c);
  if (l) return l;
  if (!wrapper)
    return fail(s, LEAVE_MACHINE,
        "--target=mpi: there is no %s, which compiles what calls MPI (Debian: libopenmpi-dev); set MPICC",
        said && *said ? said : "mpicc");
  Buf words = buf_new(s->arena);
  for (uint32_t i = 0; i < c->command.len; i++) buf_printf(&words, "%s%s", i ? " " : "", c->command.at[i]);
  for (size_t i = 0; i < COUNT(variables); i++) setenv(variables[i], words.s, 0);
  c->command = (Words){0};
  vec_push(s->arena, c->command, wrapper);
  return LEAVE_OK;
}

/* ---- a program -------------------------------------------------------------------------------------------------- */

/* Writes main, and what it needs. */
static void main_text(Buf *b, const EmitOptions *o) {
  buf_printf(b, "#define EIN_STATIC\n#include \"ein_run.h\"\n%s%s\nextern const ein_model %s_model;\n\n"
                "int main(int argc, char **word) {\n  return ein_program_mpi(&%s_model, \"%s\", %d, argc, word);\n}\n",
             runtime_ein_mpi, runtime_ein_program_mpi, o->prefix, o->prefix, o->version, o->device);
}

/* All plans are of one program, so they use the same C functions. */
static Leave externs_ready(Session *s, const Compiler *c, const Plans *p, ExternParts *out) {
  Leave l = externs_load(s, p->loops[0]->tasks->exprs, &(void *){NULL});
  return l ? l : externs_parts(s, c, p->loops[0]->tasks->exprs, out);
}

static Leave program_make(
    Session *s, const Args *a, Compiler *c, const Plans *p, const EmitOptions *o, const char *to) {
  Buf own = buf_new(s->arena);
  uint32_t n = texts_count(p);
  NativeText *text = NEW_ARRAY(s->arena, NativeText, n + 1);
  Leave l = texts_make(s, a, p, o, text);
  main_text(&own, o);
  text[n] = (NativeText){arena_printf(s->arena, "%s_mpi", o->prefix), &own};
  ExternParts externs;
  NativeSet set = {.text = text, .n_texts = n + 1, .externs = &externs};
  bool made;
  if (!l) l = externs_ready(s, c, p, &externs);
  if (l) return l;
  vec_push(s->arena, set.flags, "-D_GNU_SOURCE");
  return native_write(s, c, NATIVE_PROGRAM, &set, to, &made);
}

/* ---- a library -------------------------------------------------------------------------------------------------- */

/* The same texts, and the part that passes a communicator to it. */
static Leave texts_of_library(Session *s, const Args *a, const Plans *p, const EmitOptions *o, NativeText *all) {
  Buf *mpi = NEW(s->arena, Buf);
  *mpi = buf_new(s->arena);
  emit_mpi_c(mpi, o, runtime_ein_mpi);
  all[texts_count(p)] = (NativeText){arena_printf(s->arena, "%s_mpi", o->prefix), mpi};
  return texts_make(s, a, p, o, all);
}

/* Writes wrappers for callers in Fortran, and in Python, which opens a shared library. */
static Leave callers_write(Session *s, const Plans *p, const EmitOptions *o, const char *folder, bool shared) {
  if (p->n_sizes) return LEAVE_OK; /* they plan when they are created */
  const LoopProgram *face = emit_whole_face(s->arena, p->loops[0], o);
  Buf fortran = buf_new(s->arena), python = buf_new(s->arena);
  Leave l = LEAVE_OK;
  if (emit_fortran_can(o)) {
    emit_fortran(&fortran, face, o);
    l = write_ours(s, folder, arena_printf(s->arena, "%s_mpi.f90", o->prefix), &fortran);
  }
  if (!shared || l) return l;
  emit_python(&python, face, o, library_file(s->arena, o->prefix, true), runtime_ein_callers);
  return write_ours(s, folder, arena_printf(s->arena, "%s.py", o->prefix), &python);
}

static Leave texts_write(Session *s, const Plans *p, const EmitOptions *o, const NativeText *text, const char *folder) {
  Buf h = buf_new(s->arena), mpi = buf_new(s->arena);
  emit_whole_header(&h, p->loops, p->n, o);
  emit_mpi_header(&mpi, o);
  Leave l = write_ours(s, folder, arena_printf(s->arena, "%s.h", o->prefix), &h);
  if (!l) l = write_ours(s, folder, arena_printf(s->arena, "%s_mpi.h", o->prefix), &mpi);
  if (!l) l = runtime_write(s, folder, o, true);
  for (uint32_t i = 0; i <= texts_count(p) && !l; i++)
    l = write_ours(s, folder, arena_printf(s->arena, "%s.c", text[i].name), text[i].text);
  return l;
}

static const char *sites_text(Session *s, const Plans *p) {
  Buf b = buf_new(s->arena);
  for (uint32_t i = 0; i < p->n; i++)
    if (!i || mesh_sites(&p->loops[i]->tasks->mesh) != mesh_sites(&p->loops[i - 1]->tasks->mesh))
      buf_printf(&b, "%s%lld", i ? ", " : "", (long long)mesh_sites(&p->loops[i]->tasks->mesh));
  return b.s;
}

static Leave library_make(
    Session *s, const Args *a, Compiler *c, const Plans *p, const EmitOptions *o, const char *folder) {
  bool shared = arg_has(a, OPT_SHARED);
  NativeText *text = NEW_ARRAY(s->arena, NativeText, texts_count(p) + 1);
  Buf json = buf_new(s->arena);
  emit_whole_manifest(&json, p->loops, p->n, o);
  Package one = {.o = o, .text = text, .n_texts = texts_count(p) + 1, .manifest = &json, .mpi = sites_text(s, p)};
  ExternParts externs;
  Leave l = texts_of_library(s, a, p, o, text);
  if (!l) l = externs_ready(s, c, p, &externs);
  if (!l) l = package_externs(s, &one, &externs, folder);
  if (!l) l = texts_write(s, p, o, text, folder);
  if (!l) l = callers_write(s, p, o, folder, shared);
  return l ? l : package_write(s, &one, c, folder, shared);
}

Leave build_sites(Session *s, const Args *a, const char *prefix, const char *to) {
  Compiler c;
  bool lib = arg_has(a, OPT_LIB);
  const char *folder = NULL;
  Plans *p = NEW(s->arena, Plans);
  if (arg_has(a, OPT_EMIT))
    return fail(s, LEAVE_USAGE, "--emit is for one site; with --target=mpi --lib writes the C into a folder");
  Leave l = lib ? LEAVE_OK : program_goes(s, a, prefix, to);
  if (!l) l = wrapper_find(s, a, &c);
  if (!l) l = plans_make(s, a, p);
  if (!l) l = defaults_find(s, a, prefix, p);
  if (!l && lib) l = folder_goes(s, a, to, &folder);
  if (l) return l;
  if (!lib && !file_writable(s, to)) return LEAVE_MACHINE;
  if (!lib) names_warn(s, &p->job[0]);
  EmitOptions o = job_emit(s, &p->job[0], prefix);
  o.device = c.opens = target_device(s, a);
  c.openmp &= !o.device;
  if (lib) o.beside = prefix;
  o.n_choices = choices_of(p);
  o.n_read = p->n_read;
  o.defaults = p->defaults.at, o.n_defaults = p->defaults.len / o.n_choices;
  o.n_sizes = p->n_sizes, o.size = p->size, o.sizes = p->sizes.at;
  sizes_declare(s, p, &o);
  return lib ? library_make(s, a, &c, p, &o, folder) : program_make(s, a, &c, p, &o, to);
}
