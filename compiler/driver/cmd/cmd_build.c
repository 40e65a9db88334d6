/* driver/cmd/cmd_build.c - ein build: makes a program, a library, C, or the text of an intermediate language. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "loop/names.h"
#include "driver/compile/build.h"
#include "driver/compile/nvrtc.h"
#include "driver/plan/sites.h"
#include "driver/table.h"
#include "texts.h"

/* ---- texts ---------------------------------------------------------------------------------- */

/* The languages of plans need the number of sites, unless the input is a text in one of them. */
static Leave stop_known(Session *s, const Args *a, const char *stop, const char *path) {
  static const char *const here[] = {"graph", "optimised", "task", "loop"};
  static const char have[] = "this ein has graph, optimised, task and loop";
  for (size_t i = 0; i < COUNT(here); i++)
    if (strcmp(stop, here[i]) == 0) return LEAVE_OK;
  bool relations = strcmp(stop, "tra") == 0 || strcmp(stop, "ia") == 0;
  Language its = language_of(arena_printf(s->arena, ".%s", stop));
  if ((its != LANG_PROGRAM && its == language_of(path)) || (relations && arg_has(a, OPT_SITES))) return LEAVE_OK;
  if (strcmp(stop, "plan") == 0)
    return fail(s, LEAVE_USAGE,
        "--stop=plan: a plan is for many sites, and ein plan makes it: ein plan %s -n 4 -o x.plan",
        shown(s->arena, path));
  if (relations)
    return fail(s, LEAVE_USAGE,
        "--stop=%s: it is of a plan for many sites; -n says for how many: ein build %s -n 4 --stop=%s", stop,
        shown(s->arena, path), stop);
  if (strcmp(stop, "c") == 0 || strcmp(stop, "cuda") == 0)
    return fail(s, LEAVE_USAGE, "--stop=%s: what is compiled from is written by --emit=%s", stop, stop);
  return fail(s, LEAVE_USAGE, "--stop=%s: there is no such language; %s", stop, have);
}

static Leave build_text(Session *s, Job *j, const Args *a, const char *stop, const char *to) {
  Buf b = buf_new(s->arena);
  Leave l = LEAVE_OK;
  bool relations = strcmp(stop, "tra") == 0 || strcmp(stop, "ia") == 0;
  if (*stop != 'g' && *stop != 'o' && arg_has(a, OPT_SITES))
    l = job_sites(s, j, a, relations ? language_of(arena_printf(s->arena, ".%s", stop)) : LANG_TASK);
  if (!l && relations && !j->relations) l = fail(s, LEAVE_USAGE, "-n 1: a plan for one site has no relations");
  if (l) return l;
  if ((*stop == 'g' || *stop == 'o') && j->past) return fail(s, LEAVE_USAGE, "%s is past the graph", j->path);
  if (relations) algebra_print(&b, j->relations);
  if (*stop == 'g') graph_print(&b, j->graph);
  if (*stop == 'o' && !(l = job_optimised(s, j, a))) graph_print(&b, j->best);
  if (*stop == 't' && !relations && !(l = job_tasks(s, j, a))) task_print(&b, j->tasks);
  if (*stop == 'l' && !(l = job_loops(s, j, a))) loop_print(&b, j->loops);
  return l ? l : file_write(s, to ? to : "-", b.s, b.len);
}

/* ---- C -------------------------------------------------------------------------------------- */

static Leave prefix_choose(Session *s, const Args *a, const char *path, const char **out) {
  *out = arg_last(a, OPT_PREFIX);
  if (!*out) *out = strcmp(path, "-") == 0 ? "model" : c_prefix(s->strings, path)->s;
  else if (!c_identifier(*out))
    return fail(s, LEAVE_USAGE,
        "--prefix %s: expected letters, digits and _, a letter first, and no name that C or its library has", *out);
  return LEAVE_OK;
}

static bool is_folder(const char *path) {
  struct stat st;
  size_t n = strlen(path);
  return (n && path[n - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

static const char *folder_path(Arena *a, const char *path) {
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/') n--;
  return arena_printf(a, "%.*s", (int)n, path);
}

static Leave folder_ready(Session *s, const char *path) {
  int made = mkdir(path, 0777), why = errno;
  if (made == 0 || (why == EEXIST && is_folder(path))) return LEAVE_OK;
  if (why == EEXIST) return fail(s, LEAVE_MACHINE, "%s is there, and no folder", path);
  return fail(s, LEAVE_MACHINE, "cannot make the folder %s: %s", path, strerror(why));
}

/* Does not overwrite a file that a person wrote, even if it has the model's name. */
Leave write_ours(Session *s, const char *folder, const char *name, const Buf *b) {
  const char *path = arena_printf(s->arena, "%s/%s", folder, name);
  if (!file_begins_ours(s->arena, path))
    return fail(
        s, LEAVE_USAGE, "%s is there, and ein did not write it: take another folder, or another --prefix", path);
  return file_write(s, path, b->s, b->len);
}

Leave runtime_write(Session *s, const char *folder, const EmitOptions *o, bool sites) {
  Buf b = buf_new(s->arena);
  buf_printf(&b, "/* %s-runtime.h - the runtime that %s.c includes, by ein %s. Every function is static. */\n",
      o->prefix, o->prefix, o->version);
  runtime_part(&b, runtime_ein_run, o->device, sites);
  return write_ours(s, folder, arena_printf(s->arena, "%s-runtime.h", o->prefix), &b);
}

/* Emits the program as C; for a device, with its kernels embedded, as NVRTC compiles them. */
static Leave text_make(Session *s, const Job *j, const Args *a, const EmitOptions *o, Buf *text) {
  if (o->device) return device_text_for(s, j, o, arg_last(a, OPT_ARCH), text);
  emit_c(text, j->loops, o);
  return LEAVE_OK;
}

static Leave emit_into(Session *s, const Job *j, const EmitOptions *o, const Buf *c, const char *folder) {
  Buf h = buf_new(s->arena);
  emit_header(&h, j->loops, o);
  Leave l = write_ours(s, folder, arena_printf(s->arena, "%s.c", o->prefix), c);
  if (!l) l = write_ours(s, folder, arena_printf(s->arena, "%s.h", o->prefix), &h);
  return l ? l : runtime_write(s, folder, o, false);
}

static Leave build_emit(Session *s, Job *j, const EmitOptions *o, const char *what, const char *to) {
  Buf text = buf_new(s->arena);
  if (to && is_folder(to)) {
    if (strcmp(what, "c") != 0)
      return fail(
          s, LEAVE_USAGE, "--emit=%s is one text, and %s is a folder: into that, --emit=c writes it too", what, to);
    const char *folder = folder_path(s->arena, to);
    Leave l = folder_ready(s, folder);
    if (!l) emit_c(&text, j->loops, o);
    return l ? l : emit_into(s, j, o, &text, folder);
  }
  switch (*what) {
  case 'c': (strcmp(what, "cuda") == 0 ? emit_cuda : emit_c)(&text, j->loops, o); break;
  case 'h': emit_header(&text, j->loops, o); break;
  case 'm': emit_manifest(&text, j->loops, o); break;
  default: buf_str(&text, runtime_ein_run); break;
  }
  return file_write(s, to ? to : "-", text.s, text.len);
}

/* C has one namespace. */
static Leave prefix_free(Session *s, const Job *j, const char *prefix) {
  size_t n = strlen(prefix);
  for (uint32_t k = 0; k < extern_count(j->tasks->exprs); k++) {
    const Extern *x = extern_at(j->tasks->exprs, k);
    if (strncmp(x->symbol->s, prefix, n) != 0 || (x->symbol->s[n] != '_' && x->symbol->s[n])) continue;
    return fail(s, LEAVE_USAGE,
        "the C function %s has a name of those that are made here, which begin with %s: --prefix gives another",
        x->symbol->s, prefix);
  }
  return LEAVE_OK;
}

/* ---- a library ------------------------------------------------------------------------------ */

Leave folder_goes(Session *s, const Args *a, const char *to, const char **folder) {
  if (!to)
    return fail(s, LEAVE_USAGE, "into which folder? ein build %s --lib -o dir/", shown(s->arena, a->operands.at[0]));
  *folder = folder_path(s->arena, to);
  return folder_ready(s, *folder);
}

static Leave build_lib(Session *s, Job *j, const Args *a, const EmitOptions *o, const char *to) {
  Compiler c;
  const char *folder;
  Leave l = compiler_find(s, arg_last(a, OPT_CC), arg_last(a, OPT_FLAGS), &c);
  Buf text = buf_new(s->arena), json = buf_new(s->arena);
  c.openmp &= !o->device, c.opens = o->device;
  ExternParts externs;
  if (!l) l = externs_load(s, j->tasks->exprs, &(void *){NULL});
  if (!l) l = externs_parts(s, &c, j->tasks->exprs, &externs);
  if (!l) l = text_make(s, j, a, o, &text);
  if (!l) l = folder_goes(s, a, to, &folder);
  const NativeText own = {o->prefix, &text};
  Package p = {.o = o, .text = &own, .n_texts = 1, .manifest = &json};
  if (!l) l = package_externs(s, &p, &externs, folder);
  if (!l) l = emit_into(s, j, o, &text, folder);
  emit_manifest(&json, j->loops, o);
  return l ? l : package_write(s, &p, &c, folder, arg_has(a, OPT_SHARED));
}

/* ---- a program ------------------------------------------------------------------------------ */

static Leave program_make(
    Session *s, Compiler *c, const EmitOptions *o, Buf *text, const Exprs *pool, const char *program) {
  ExternParts externs;
  NativeSet set = {.text = &(NativeText){o->prefix, text}, .n_texts = 1, .externs = &externs};
  bool made;
  Leave l = externs_parts(s, c, pool, &externs);
  if (l) return l;
  buf_printf(text,
             "\n/* ---- the program ------------------------------------------------------------------------ */\n\n"
             "int ein_program(const ein_model *model, const char *version, int device, int argc, char **word);\n"
             "int main(int argc, char **word) {\n  return ein_program(&%s_model, \"%s\", %d, argc, word);\n}\n",
             o->prefix, o->version, o->device);
  vec_push(s->arena, set.flags, "-D_GNU_SOURCE");
  return native_write(s, c, NATIVE_PROGRAM, &set, program, &made);
}

/* A name like that of a library or a text: the user expects one. */
static Leave program_named(Session *s, const Args *a, const char *to) {
  const char *dot = strrchr(to, '.'), *program = shown(s->arena, a->operands.at[0]);
  if (!dot || strchr(dot, '/')) return LEAVE_OK;
  if (!strcmp(dot, ".c") || !strcmp(dot, ".cu"))
    return fail(s, LEAVE_USAGE, "-o %s would be a program; ein build %s --emit=%s -o %s writes its text", to, program,
        strcmp(dot, ".c") ? "cuda" : "c", to);
  if (!strcmp(dot, ".so") || !strcmp(dot, ".a") || !strcmp(dot, ".o"))
    return fail(s, LEAVE_USAGE, "-o %s would be a program; ein build %s --lib%s -o dir/ makes a library", to, program,
        strcmp(dot, ".so") ? "" : " --shared");
  return LEAVE_OK;
}

Leave program_goes(Session *s, const Args *a, const char *prefix, const char *to) {
  if (!to)
    return fail(s, LEAVE_USAGE, "where shall the program go? ein build %s -o %s; see ein help build",
        shown(s->arena, a->operands.at[0]), prefix);
  if (is_folder(to)) return fail(s, LEAVE_USAGE, "-o %s is a folder: a program is one file; --lib writes a folder", to);
  return program_named(s, a, to);
}

void names_warn(Session *s, const Job *j) {
  const AstStored *first = NULL;
  Str own = NULL;
  uint32_t n = 0;
  for (uint32_t i = 0; j->program && i < j->graph->inputs.len + j->graph->outputs.len; i++) {
    const uint32_t k = i - j->graph->inputs.len;
    Str name = i < j->graph->inputs.len ? j->graph->inputs.at[i]->name : j->graph->outputs.at[k].name;
    const AstStored *how = program_stored(j->program, name);
    if (how && !n++) first = how, own = name;
  }
  if (!n) return;
  const char *more = n > 1 ? arena_printf(s->arena, ", and %u more", n - 1) : "";
  say(s, "warning: only ein run knows names in a checkpoint: the program %s %s, not %s%s",
      first->to ? "writes" : "reads", own->s, first->text->s, more);
}

static Leave build_program(Session *s, Job *j, const Args *a, const EmitOptions *o, const char *to) {
  Compiler c;
  Leave l = program_goes(s, a, o->prefix, to);
  if (!l) l = compiler_find(s, arg_last(a, OPT_CC), arg_last(a, OPT_FLAGS), &c);
  if (l) return l;
  /* so that errors in them are reported at the program's places */
  l = externs_load(s, j->tasks->exprs, &(void *){NULL});
  if (l) return l;
  if (!file_writable(s, to)) return LEAVE_MACHINE;
  Buf text = buf_new(s->arena);
  names_warn(s, j);
  c.opens = o->device;
  l = text_make(s, j, a, o, &text);
  return l ? l : program_make(s, &c, o, &text, j->tasks->exprs, to);
}

/* ---- the command ---------------------------------------------------------------------------- */

static Leave one_goal(Session *s, const Args *a) {
  int goals = arg_has(a, OPT_STOP) + arg_has(a, OPT_EMIT) + arg_has(a, OPT_LIB);
  if (goals > 1) return fail(s, LEAVE_USAGE, "one of --stop, --emit and --lib at a time");
  if (arg_has(a, OPT_SHARED) && !arg_has(a, OPT_LIB))
    return fail(s, LEAVE_USAGE, "--shared goes with --lib: ein build x.ein --lib --shared -o dir/");
  if (data_refuse(s, a, "ein build")) return LEAVE_USAGE;
  if (a->operands.len != 1) return fail(s, LEAVE_USAGE, "one program, please: ein build x.ein -o prog");
  const char *target = arg_last(a, OPT_TARGET);
  if (target && strcmp(target, "c") != 0 && strcmp(target, "mpi") != 0 && !target_device(s, a))
    return fail(s, LEAVE_USAGE, "--target=%s is nothing that is built; c, mpi and cuda are", target);
  if (target_device(s, a) && arg_has(a, OPT_SITES) && arg_has(a, OPT_EMIT))
    return fail(s, LEAVE_USAGE, "--emit is for one site; with --target=cuda -n %s --lib writes the C into a folder",
        arg_last(a, OPT_SITES));
  const char *emit = arg_last(a, OPT_EMIT);
  if (target_device(s, a) && emit && (strcmp(emit, "c") == 0 || strcmp(emit, "runtime") == 0))
    return fail(s, LEAVE_USAGE, "--emit=%s is for one process without a device; --emit=cuda is the text for a device, "
        "and --target=cuda --lib writes C into a folder, which holds the compiled kernels", emit);
  if (arg_has(a, OPT_ARCH) && (!target_device(s, a) || arg_has(a, OPT_STOP) || arg_has(a, OPT_EMIT)))
    return fail(s, LEAVE_USAGE, "--arch goes with --target=cuda: ein build x.ein --target=cuda --arch=sm_90 -o prog");
  return arg_has(a, OPT_STOP) ? stop_known(s, a, arg_last(a, OPT_STOP), a->operands.at[0]) : LEAVE_OK;
}

Leave cmd_build(Session *s, Args *a) {
  const char *to = arg_last(a, OPT_OUTPUT), *stop = arg_last(a, OPT_STOP), *target = arg_last(a, OPT_TARGET),
             *prefix = NULL;
  Job j;
  Leave l = one_goal(s, a);
  if (!l) l = sites_said(s, a, a->operands.at[0]);
  if (!l) l = prefix_choose(s, a, a->operands.at[0], &prefix);
  if (!l && !stop && target && (strcmp(target, "mpi") == 0 || (target_device(s, a) && arg_has(a, OPT_SITES))))
    return build_sites(s, a, prefix, to);
  if (!l) l = job_compile(s, &j, a, a->operands.at[0]);
  if (l) return l;
  if (stop) return build_text(s, &j, a, stop, to);
  l = job_sites(s, &j, a, LANG_TASK);
  if (!l) l = job_tasks(s, &j, a);
  if (!l) l = job_one_site(s, &j);
  if (!l) l = job_loops(s, &j, a);
  if (l) return l;
  l = prefix_free(s, &j, prefix);
  if (l) return l;
  EmitOptions o = job_emit(s, &j, prefix);
  o.device = target_device(s, a);
  if (arg_has(a, OPT_LIB) || (to && is_folder(to))) o.beside = prefix;
  o.packs = o.device && arg_has(a, OPT_LIB);
  if (arg_has(a, OPT_EMIT)) return build_emit(s, &j, &o, arg_last(a, OPT_EMIT), to);
  return arg_has(a, OPT_LIB) ? build_lib(s, &j, a, &o, to) : build_program(s, &j, a, &o, to);
}
