/* driver/compile/package.c - writes a library as a folder: the C, its header and the runtime, the archive or shared
 * library, the manifest, and files for pkg-config, CMake and Meson. Several libraries may share a folder. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expr/word.h"
#include "build.h"
#include "driver/table.h"

static Leave write_in(Session *s, const char *folder, const char *name, const Buf *b) {
  return file_write(s, arena_printf(s->arena, "%s/%s", folder, name), b->s, b->len);
}

/* ---- linker flags --------------------------------------------------------------------------- */

/* Libraries that compilers link by themselves: with our folder on the search path, -lm would find a model's libm.a. */
static const char *const brought[] = {"atomic", "c", "dl", "gcc", "gcc_s", "gfortran", "gomp", "iomp5", "m", "mvec",
    "omp", "pthread", "quadmath", "rt", "util"};

/* The name after -l. No prefix has a hyphen, so no two models of a folder have the same name. */
static const char *link_name(Arena *a, const char *prefix) {
  for (size_t i = 0; i < COUNT(brought); i++)
    if (strcmp(brought[i], prefix) == 0) return arena_printf(a, "%s-model", prefix);
  return prefix;
}

const char *library_file(Arena *a, const char *prefix, bool shared) {
  return arena_printf(a, "lib%s.%s", link_name(a, prefix), shared ? "so" : "a");
}

/* The names of the libraries, with a prefix before the list and before each name. */
static const char *libraries_text(Session *s, const Package *p, const char *before, const char *word) {
  Buf b = buf_new(s->arena);
  buf_str(&b, "");
  for (uint32_t i = 0; p->link && i < p->link->len; i++) buf_printf(&b, "%s%s%s", before, word, p->link->at[i] + 2);
  return b.len ? b.s : "";
}

/* CMake only takes names after -l as libraries, and links them after their callers. pkgconf escapes blanks itself. */
static void pc_text(Session *s, Buf *b, const Package *p, bool shared, bool openmp) {
  const EmitOptions *o = p->o;
  buf_printf(b,
      "prefix=${pcfiledir}\n\n"
      "Name: %s\n"
      "Description: %s%s%s%s, compiled by ein %s\n"
      "Version: %s\n"
      "Cflags: -I${prefix}\n"
      "Libs: -L${prefix} -l%s%s%s%s -lm%s\n",
      o->prefix, o->source, p->mpi ? " for " : "", p->mpi ? p->mpi : "",
      p->mpi ? " MPI processes (link with mpicc)" : "", o->version, o->version, link_name(s->arena, o->prefix),
      shared ? " -Wl,-rpath,${prefix}" : "", openmp ? " -fopenmp" : "", libraries_text(s, p, " ", "-l"),
      o->device ? " -ldl" : "");
}

/* The file that find_package(x) looks for: with capitals, exactly that name; in lower case, also found by
 * find_package(X). */
static const char *cmake_file(Arena *a, const char *x) {
  for (const char *c = x; *c; c++)
    if (*c >= 'A' && *c <= 'Z') return arena_printf(a, "%sConfig.cmake", x);
  return arena_printf(a, "%s-config.cmake", x);
}

/* find_package(x), with this folder in CMAKE_PREFIX_PATH, or as x_DIR: defines the target x::x. */
static void cmake_text(Session *s, Buf *b, const Package *p, bool shared, bool openmp) {
  const EmitOptions *o = p->o;
  const char *x = o->prefix;
  buf_printf(b,
      "# %s, by ein %s: find_package(%s), then target_link_libraries(... %s::%s)\n"
      "%sif(NOT TARGET %s::%s)\n"
      "  add_library(%s::%s %s IMPORTED)\n"
      "  set_target_properties(%s::%s PROPERTIES\n"
      "    IMPORTED_LOCATION \"${CMAKE_CURRENT_LIST_DIR}/%s\"\n"
      "    INTERFACE_INCLUDE_DIRECTORIES \"${CMAKE_CURRENT_LIST_DIR}\"\n",
      cmake_file(s->arena, x), o->version, x, x, x,
      p->mpi ? "include(CMakeFindDependencyMacro)\nfind_dependency(MPI COMPONENTS C)\n" : "", x, x, x, x,
      shared ? "SHARED" : "STATIC", x, x, library_file(s->arena, x, shared));
  const char *libraries = arena_printf(s->arena, "\"%sm%s%s\"", p->mpi ? "MPI::MPI_C;" : "",
      o->device ? ";${CMAKE_DL_LIBS}" : "", libraries_text(s, p, ";", ""));
  if (shared)
    buf_printf(b, "%s    IMPORTED_NO_SONAME TRUE)\n", p->mpi ? "    INTERFACE_LINK_LIBRARIES MPI::MPI_C\n" : "");
  else {
    if (openmp) buf_str(b, "    INTERFACE_LINK_OPTIONS -fopenmp\n");
    buf_printf(b, "    IMPORTED_LINK_INTERFACE_LANGUAGES C\n    INTERFACE_LINK_LIBRARIES %s)\n", libraries);
  }
  buf_str(b, "endif()\n");
}

/* ---- Meson: a block for each library of the folder ------------------------------------------- */

static const char meson_first[] = "# meson.build for libraries compiled by ein";
static const char meson_block[] = "\n# ---- ";

typedef struct Block { const char *name, *text; } Block;
typedef VEC(Block) Blocks;

static void meson_string(Buf *b, const char *s) {
  buf_char(b, '\'');
  for (; *s; s++) {
    if (*s == '\'' || *s == '\\') buf_char(b, '\\');
    buf_char(b, *s);
  }
  buf_char(b, '\'');
}

static const char *block_text(Session *s, const Package *p, const Compiler *c) {
  const char *x = p->o->prefix;
  Buf needs = buf_new(s->arena);
  buf_printf(&needs, "[ein_needs%s%s", p->mpi ? ", dependency('mpi', language: 'c')" : "",
      p->o->device ? ", ein_cc.find_library('dl', required: false)" : "");
  for (uint32_t i = 0; p->link && i < p->link->len; i++)
    buf_printf(&needs, ", ein_cc.find_library('%s')", p->link->at[i] + 2);
  buf_char(&needs, ']');
  Buf b = buf_new(s->arena);
  buf_printf(&b, "%s%s\n%s_lib = static_library('lib%s', ", meson_block, x, x, x);
  for (uint32_t i = 0; i < p->n_texts; i++) buf_printf(&b, "'%s.c', ", p->text[i].name);
  buf_printf(&b, "name_prefix: '', dependencies: %s, install: true,\n", needs.s);
  buf_str(&b, "  c_args: ein_cc.get_supported_arguments('-fno-math-errno', '-fno-trapping-math', '-ffp-contract=off'");
  for (uint32_t i = 0; i < c->flags.len; i++) {
    buf_str(&b, ", ");
    meson_string(&b, c->flags.at[i]);
  }
  buf_printf(&b,
             "))\n"
             "%s_dep = declare_dependency(link_with: %s_lib, include_directories: '.', dependencies: %s)\n"
             "install_headers('%s.h'%s)\n",
             x, x, needs.s, x, p->mpi ? arena_printf(s->arena, ", '%s_mpi.h'", x) : "");
  return b.s;
}

/* Keeps the existing blocks, except this library's, and those of libraries that are gone. */
static void blocks_read(Session *s, const char *folder, const char *text, const char *but, Blocks *out) {
  Words files = folder_files(s->arena, folder);
  for (const char *at = strstr(text, meson_block), *next; at; at = next) {
    const char *name = at + strlen(meson_block);
    size_t n = strcspn(name, "\n");
    next = strstr(name, meson_block);
    Block one = {arena_printf(s->arena, "%.*s", (int)n, name),
                 next ? arena_printf(s->arena, "%.*s", (int)(next - at), at) : at};
    const char *source = arena_printf(s->arena, "%s.c", one.name);
    bool there = false;
    for (uint32_t i = 0; i < files.len; i++) there |= strcmp(files.at[i], source) == 0;
    if (there && strcmp(one.name, but) != 0) vec_push(s->arena, *out, one);
  }
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const Block *)a)->name, ((const Block *)b)->name);
}

static void meson_text(Buf *b, const EmitOptions *o, const Blocks *all) {
  buf_printf(b,
             "%s %s\n"
             "project('%s', 'c', version: '%s', meson_version: '>=1.0.0',\n"
             "  default_options: ['c_std=gnu99', 'buildtype=plain', 'warning_level=0'])\n\n"
             "ein_cc = meson.get_compiler('c')\n"
             "ein_needs = [dependency('openmp', required: false), ein_cc.find_library('m', required: false)]\n",
             meson_first, o->version, all->at[0].name, o->version);
  for (uint32_t i = 0; i < all->len; i++) buf_str(b, all->at[i].text);
}

static Leave meson_write(Session *s, const Package *p, const Compiler *c, const char *folder) {
  const EmitOptions *o = p->o;
  const char *path = arena_printf(s->arena, "%s/meson.build", folder), *why;
  Source *old = source_read(s->arena, path, &why);
  Blocks all = {0};
  Buf b = buf_new(s->arena);
  if (old && strncmp(old->bytes, meson_first, strlen(meson_first)) != 0) {
    say(s, "%s is left as it is, for ein did not write it: Meson will not find %s there", path, o->prefix);
    return LEAVE_OK;
  }
  vec_push(s->arena, all, ((Block){o->prefix, block_text(s, p, c)}));
  if (old) blocks_read(s, folder, old->bytes, o->prefix, &all);
  qsort(all.at, all.len, sizeof *all.at, by_name);
  meson_text(&b, o, &all);
  return file_write(s, path, b.s, b.len);
}

/* ---- what is compiled ------------------------------------------------------------------------ */

/* Compiled in place, from what was written there: nothing else is needed later. Removes the other kind from an
 * earlier build, since -l would find that. */
static Leave binary_in(Session *s, Compiler *c, const char *folder, const Package *p, bool shared) {
  ExternParts link = {.link = p->link ? *p->link : (Words){0}};
  NativeSet set = {.text = p->text, .n_texts = p->n_texts, .folder = folder, .externs = &link};
  const char *prefix = p->o->prefix, *name = library_file(s->arena, prefix, shared);
  bool made;
  Leave l = native_write(
      s, c, shared ? NATIVE_SHARED : NATIVE_ARCHIVE, &set, arena_printf(s->arena, "%s/%s", folder, name), &made);
  if (!l && !made) say(s, "there is no `ar`: %s is not made; Meson can build it from what was written", name);
  if (!l) unlink(arena_printf(s->arena, "%s/%s", folder, library_file(s->arena, prefix, !shared)));
  return l;
}

/* ---- C functions ----------------------------------------------------------------------------- */

/* Copies it as written, so that a reader recognises it; the user's own headers that it includes are not copied. */
static Leave source_copy(Session *s, const EmitOptions *o, const ExternSource *x, const char *folder, NativeText *out) {
  const char *path = x->path, *why, *slash = strrchr(path, '/');
  Source *src = source_read(s->arena, path, &why);
  if (!src) return fail(s, LEAVE_MACHINE, "cannot read %s: %s", path, why);
  if (x->includes)
    return fail(s, LEAVE_PROGRAM, "%s includes %s: what goes into a library is one file", path, x->includes);
  Buf *b = NEW(s->arena, Buf);
  *b = buf_new(s->arena);
  *out = (NativeText){arena_printf(s->arena, "%s_%s", o->prefix, x->name), b};
  buf_printf(b, "/* %s.c, from %s, copied by ein %s */\n#line 1 ", out->name, slash ? slash + 1 : path, o->version);
  string_print(b, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path));
  buf_char(b, '\n');
  buf_add(b, src->bytes, src->len);
  return write_ours(s, folder, arena_printf(s->arena, "%s.c", out->name), b);
}

Leave package_externs(Session *s, Package *p, const ExternParts *externs, const char *folder) {
  NativeText *all = NEW_ARRAY(s->arena, NativeText, p->n_texts + externs->sources.len + 1);
  if (externs->binary)
    return fail(s, LEAVE_PROGRAM,
        "%sa library takes C functions from C sources and from libraries (\"-lgsl\"), not from %s",
        place_text(s->arena, NULL, externs->binary->place), externs->binary->from->s);
  memcpy(all, p->text, p->n_texts * sizeof *all);
  p->text = all;
  p->link = &externs->link;
  for (uint32_t i = 0; i < externs->sources.len; i++) {
    Leave l = source_copy(s, p->o, &externs->sources.at[i], folder, &all[p->n_texts]);
    if (l) return l;
    p->n_texts++;
  }
  return LEAVE_OK;
}

/* ---- the folder ------------------------------------------------------------------------------ */

Leave package_write(Session *s, const Package *p, Compiler *c, const char *folder, bool shared) {
  const char *x = p->o->prefix;
  Buf pc = buf_new(s->arena), cmake = buf_new(s->arena);
  Leave l = write_in(s, folder, arena_printf(s->arena, "%s.json", x), p->manifest);
  if (!l) l = meson_write(s, p, c, folder);
  if (!l) l = binary_in(s, c, folder, p, shared);
  pc_text(s, &pc, p, shared, c->openmp); /* which is known by now */
  cmake_text(s, &cmake, p, shared, c->openmp);
  if (!l) l = write_in(s, folder, arena_printf(s->arena, "%s.pc", x), &pc);
  return l ? l : write_in(s, folder, cmake_file(s->arena, x), &cmake);
}
