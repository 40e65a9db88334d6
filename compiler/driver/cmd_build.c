/* driver/cmd_build.c - ein build: a program, a library, C, or the text of a language on the way. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../../codegen/names.h"
#include "native.h"

/* ---- texts ---------------------------------------------------------------------------------- */

static Leave stop_known(Session *s, const char *stop) {
  static const char *const here[] = {"graph", "task", "loop"}, *const later[] = {"plan", "tra", "ia"};
  for (size_t i = 0; i < COUNT(here); i++)
    if (strcmp(stop, here[i]) == 0) return LEAVE_OK;
  for (size_t i = 0; i < COUNT(later); i++)
    if (strcmp(stop, later[i]) == 0)
      return fail(s, LEAVE_USAGE, "--stop=%s comes with a later step; this ein has graph, task and loop", stop);
  return fail(s, LEAVE_USAGE, "--stop=%s: there is no such language; this ein has graph, task and loop", stop);
}

static Leave build_text(Session *s, Job *j, const Args *a, const char *stop, const char *to) {
  Buf b = buf_new(s->arena);
  Leave l = LEAVE_OK;
  if (*stop == 'g' && !j->graph)
    return fail(s, LEAVE_USAGE, "%s is past the graph", j->path);
  if (*stop == 'g') graph_print(&b, j->graph);
  if (*stop == 't' && !(l = job_tasks(s, j, a))) task_print(&b, j->tasks);
  if (*stop == 'l' && !(l = job_loops(s, j, a))) loop_print(&b, j->loops);
  return l ? l : file_write(s, to ? to : "-", b.s, b.len);
}

/* ---- C -------------------------------------------------------------------------------------- */

static Leave prefix_choose(Session *s, const Args *a, const char *path, const char **out) {
  *out = arg_last(a, OPT_PREFIX);
  if (!*out) *out = strcmp(path, "-") == 0 ? "model" : c_prefix(s->strings, path)->s;
  else if (!c_identifier(*out))
    return fail(s, LEAVE_USAGE, "--prefix %s: wanted are letters, digits and _, a letter first, and no word of C's", *out);
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
  if (mkdir(path, 0777) == 0 || errno == EEXIST) return LEAVE_OK;
  return fail(s, LEAVE_MACHINE, "cannot make the folder %s: %s", path, strerror(errno));
}

static Leave write_in(Session *s, const char *folder, const char *name, const Buf *b) {
  return file_write(s, arena_printf(s->arena, "%s/%s", folder, name), b->s, b->len);
}

static Leave emit_into(Session *s, const Job *j, const EmitOptions *o, const char *folder) {
  Buf c = buf_new(s->arena), h = buf_new(s->arena);
  emit_c(&c, j->loops, o);
  emit_header(&h, j->loops, o);
  Leave l = write_in(s, folder, arena_printf(s->arena, "%s.c", o->prefix), &c);
  return l ? l : write_in(s, folder, arena_printf(s->arena, "%s.h", o->prefix), &h);
}

static Leave build_emit(Session *s, Job *j, const EmitOptions *o, const char *to) {
  if (to && is_folder(to)) {
    const char *folder = folder_path(s->arena, to);
    Leave l = folder_ready(s, folder);
    return l ? l : emit_into(s, j, o, folder);
  }
  Buf c = buf_new(s->arena);
  emit_c(&c, j->loops, o);
  return file_write(s, to ? to : "-", c.s, c.len);
}

/* ---- a library ------------------------------------------------------------------------------ */

static void pc_text(Buf *b, const EmitOptions *o, bool openmp) {
  buf_printf(b,
             "prefix=${pcfiledir}\n\n"
             "Name: %s\n"
             "Description: %s, compiled by ein %s\n"
             "Version: %s\n"
             "Cflags: \"-I${prefix}\"\n"
             "Libs: \"-L${prefix}\" -l%s%s -lm\n",
             o->prefix, o->source, o->version, o->version, o->prefix, openmp ? " -fopenmp" : "");
}

/* A string of Meson's. No prefix begins with ein_, so those are names that are free there. */
static void meson_string(Buf *b, const char *s) {
  buf_char(b, '\'');
  for (; *s; s++) {
    if (*s == '\'' || *s == '\\') buf_char(b, '\\');
    buf_char(b, *s);
  }
  buf_char(b, '\'');
}

static void meson_text(Buf *b, const EmitOptions *o, const Compiler *c) {
  const char *x = o->prefix;
  buf_printf(b, "project('%s', 'c', version: '%s', meson_version: '>=1.0.0',\n", x, o->version);
  buf_str(b, "  default_options: ['c_std=gnu99', 'buildtype=plain', 'warning_level=0'])\n\n"
             "ein_cc = meson.get_compiler('c')\n"
             "ein_needs = [dependency('openmp', required: false), ein_cc.find_library('m', required: false)]\n"
             "ein_flags = ein_cc.get_supported_arguments('-fno-math-errno', '-fno-trapping-math'");
  for (uint32_t i = 0; i < c->flags.len; i++) {
    buf_str(b, ", ");
    meson_string(b, c->flags.at[i]);
  }
  buf_printf(b,
             ")\n\n"
             "ein_lib = static_library('lib%s', '%s.c', name_prefix: '', c_args: ein_flags, dependencies: ein_needs,\n"
             "  install: true)\n"
             "%s_dep = declare_dependency(link_with: ein_lib, include_directories: '.', dependencies: ein_needs)\n"
             "install_headers('%s.h', 'ein_tensor.h')\n",
             x, x, x, x);
}

static Leave runtime_copy(Session *s, const char *folder, const char *text) {
  const char *from = runtime_find(s);
  Words needed;
  Leave l = from ? runtime_needed(s, from, text, &needed) : LEAVE_MACHINE;
  for (uint32_t i = 0; !l && i < needed.len; i++) {
    const char *bytes;
    size_t len;
    l = runtime_read(s, from, needed.at[i], &bytes, &len);
    if (!l) l = file_write(s, arena_printf(s->arena, "%s/%s", folder, needed.at[i]), bytes, len);
  }
  return l;
}

/* Compiled where it stands, from what was written there: nothing else is needed later. */
static Leave archive_in(Session *s, Compiler *c, const char *folder, const char *prefix) {
  Words sources = {0};
  bool made;
  const char *work = folder_new(s, folder);
  if (!work) return LEAVE_MACHINE;
  const char *object = arena_printf(s->arena, "%s/%s.o", work, prefix);
  const char *archive = arena_printf(s->arena, "%s/lib%s.a", work, prefix);
  const char *source = arena_printf(s->arena, "%s/%s.c", folder, prefix);
  vec_push(s->arena, sources, source);
  Leave l = compiler_run(s, c, MAKE_OBJECT, &sources, NULL, object);
  if (!l) l = archive_make(s, object, archive, &made);
  if (!l && !made) say(s, "there is no `ar`: lib%s.a is not made; Meson can build it from what was written", prefix);
  else if (!l && rename(archive, arena_printf(s->arena, "%s/lib%s.a", folder, prefix)) != 0)
    l = fail(s, LEAVE_MACHINE, "cannot write %s/lib%s.a: %s", folder, prefix, strerror(errno));
  folder_remove(s->arena, work);
  return l;
}

static Leave build_lib(Session *s, Job *j, const Args *a, const EmitOptions *o, const char *to) {
  if (!to) return fail(s, LEAVE_USAGE, "into which folder? ein build %s --lib -o dir/", j->path);
  Compiler c;
  Leave l = compiler_find(s, arg_last(a, OPT_CC), arg_last(a, OPT_FLAGS), &c);
  if (l) return l;
  const char *folder = folder_path(s->arena, to);
  Buf text = buf_new(s->arena), json = buf_new(s->arena), pc = buf_new(s->arena), meson = buf_new(s->arena);
  emit_c(&text, j->loops, o);
  emit_manifest(&json, j->loops, o);
  meson_text(&meson, o, &c);
  l = folder_ready(s, folder);
  if (!l) l = emit_into(s, j, o, folder);
  if (!l) l = runtime_copy(s, folder, text.s);
  if (!l) l = write_in(s, folder, arena_printf(s->arena, "%s.json", o->prefix), &json);
  if (!l) l = write_in(s, folder, "meson.build", &meson);
  if (!l) l = archive_in(s, &c, folder, o->prefix);
  pc_text(&pc, o, c.openmp);
  return l ? l : write_in(s, folder, arena_printf(s->arena, "%s.pc", o->prefix), &pc);
}

/* ---- a program ------------------------------------------------------------------------------ */

static Leave program_make(Session *s, Compiler *c, const EmitOptions *o, const char *work, const Buf *text,
                          const char *program) {
  const char *runtime = runtime_find(s);
  if (!runtime) return LEAVE_MACHINE;
  Words sources = {0}, more = {0};
  const char *source = arena_printf(s->arena, "%s/%s.c", work, o->prefix);
  vec_push(s->arena, sources, source);
  for (size_t i = 0; runtime_program[i]; i++) {
    const char *one = arena_printf(s->arena, "%s/%s", runtime, runtime_program[i]);
    vec_push(s->arena, sources, one);
  }
  const char *words[] = {"-I", runtime, "-D_GNU_SOURCE", arena_printf(s->arena, "-DEIN_MODEL=%s_model", o->prefix),
                         "-DEIN_VERSION=\"" EIN_VERSION "\""};
  for (size_t i = 0; i < COUNT(words); i++) vec_push(s->arena, more, words[i]);
  Leave l = file_write(s, source, text->s, text->len);
  return l ? l : compiler_run(s, c, MAKE_PROGRAM, &sources, &more, program);
}

static Leave build_program(Session *s, Job *j, const Args *a, const EmitOptions *o, const char *to) {
  Compiler c;
  if (!to)
    return fail(s, LEAVE_USAGE, "where shall the program go? ein build %s -o %s; see ein help build", j->path,
                o->prefix);
  if (is_folder(to)) return fail(s, LEAVE_USAGE, "-o %s is a folder: a program is one file; --lib writes a folder", to);
  Leave l = compiler_find(s, arg_last(a, OPT_CC), arg_last(a, OPT_FLAGS), &c);
  if (l) return l;
  if (!file_writable(s, to)) return LEAVE_MACHINE;
  const char *work = folder_new(s, folder_of(s->arena, to));
  if (!work) return LEAVE_MACHINE;
  const char *program = arena_printf(s->arena, "%s/%s", work, o->prefix);
  Buf text = buf_new(s->arena);
  emit_c(&text, j->loops, o);
  l = program_make(s, &c, o, work, &text, program);
  if (!l && rename(program, to) != 0) l = fail(s, LEAVE_MACHINE, "cannot write %s: %s", to, strerror(errno));
  folder_remove(s->arena, work);
  return l;
}

/* ---- the command ---------------------------------------------------------------------------- */

static Leave one_goal(Session *s, const Args *a) {
  int goals = arg_has(a, OPT_STOP) + arg_has(a, OPT_EMIT) + arg_has(a, OPT_LIB);
  if (goals > 1) return fail(s, LEAVE_USAGE, "one of --stop, --emit and --lib at a time");
  if (a->operands.len != 1) return fail(s, LEAVE_USAGE, "one program, please: ein build x.ein -o prog");
  return arg_has(a, OPT_STOP) ? stop_known(s, arg_last(a, OPT_STOP)) : LEAVE_OK;
}

Leave cmd_build(Session *s, Args *a) {
  const char *to = arg_last(a, OPT_OUTPUT), *stop = arg_last(a, OPT_STOP), *prefix = NULL;
  Job j;
  Leave l = one_goal(s, a);
  if (!l) l = prefix_choose(s, a, a->operands.at[0], &prefix);
  if (!l) l = job_compile(s, &j, a, a->operands.at[0]);
  if (l) return l;
  if (stop) return build_text(s, &j, a, stop, to);
  l = job_loops(s, &j, a);
  if (l) return l;
  EmitOptions o = job_emit(s, &j, prefix);
  if (arg_has(a, OPT_EMIT)) return build_emit(s, &j, &o, to);
  return arg_has(a, OPT_LIB) ? build_lib(s, &j, a, &o, to) : build_program(s, &j, a, &o, to);
}
