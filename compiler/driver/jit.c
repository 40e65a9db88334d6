/* driver/jit.c - Clang in this process, as a compiler beside those that are programs: its plugin is found, and opened when there is
 * something to compile. Where it is not there the C compiler does what it would have done, and that is said. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/jit.h"
#include "native.h"

static const char usual[] = "-O2 -march=native";

/* No warnings, and nothing that only debuggers read. Vectors as wide as the machine has them: kernels are made for that, and some processors'
 * tuning prefers less. */
static const char *const always[] = {"-w", "-fPIC", "-fno-asynchronous-unwind-tables", "-DEIN_ONE_VERSION"};

const char *jit_plugin(Session *s) {
  static const char *const folders[] = {"codegen/jit/", "../lib/ein/"};
  const char *self = program_folder(s->arena), *off = getenv("EIN_JIT");
  if (!self || (off && strcmp(off, "off") == 0)) return NULL;
  for (size_t i = 0; i < COUNT(folders); i++) {
    const char *at = arena_printf(s->arena, "%s%sein_jit.so", self, folders[i]);
    if (access(at, R_OK) == 0) return at;
  }
  return NULL;
}

bool jit_find(Session *s, const char *flags, Compiler *out) {
  const char *plugin = jit_plugin(s);
  *out = (Compiler){.said = "jit", .flags = words_of(s->arena, flags ? flags : usual), .in_process = true};
  if (plugin) vec_push(s->arena, out->command, plugin);
  return plugin != NULL;
}

/* This machine's, unless flags name another one. */
const char *jit_macros(const Compiler *c) {
  bool native = false;
  for (uint32_t i = 0; i < c->flags.len; i++) {
    if (strcmp(c->flags.at[i], "-march=native") == 0) native = true;
    else if (strncmp(c->flags.at[i], "-m", 2) == 0) return "";
  }
  if (!native) return "";
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") ? "#define __AVX512F__ 1\n" : __builtin_cpu_supports("avx2") ? "#define __AVX2__ 1\n" : "";
#elif defined(__aarch64__)
  return "#define __aarch64__ 1\n";
#else
  return "";
#endif
}

Leave jit_instead(Session *s, const char *why, Compiler *out) {
  bool dense = out->dense;
  Leave l = compiler_find(s, NULL, NULL, out);
  out->dense = dense;
  if (!l && !s->without_jit) say(s, "%s; %s compiles instead", why, out->said);
  s->without_jit = true;
  return l;
}

/* ---- compiling -------------------------------------------------------------------------------- */

static const char *vector_width(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "-mprefer-vector-width=512";
#endif
  return NULL;
}

static void words_add(Session *s, Words *to, const char *const *w, size_t n) {
  for (size_t i = 0; i < n && w[i]; i++) vec_push(s->arena, *to, w[i]);
}

static Words command_line(Session *s, const Compiler *c, const Words *more) {
  Words w = {0};
  const char *width = vector_width();
  words_add(s, &w, compiler_language, SIZE_MAX);
  words_add(s, &w, always, COUNT(always));
  words_add(s, &w, &width, 1);
  words_add(s, &w, c->flags.at, c->flags.len);
  words_add(s, &w, more->at, more->len);
  return w;
}

Leave jit_compile(Session *s, const Compiler *c, const char *name, const Buf *text, const Words *more, Bytes *out, bool *there) {
  void *plugin = dlopen(c->command.at[0], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  JitCompile *make = plugin ? (JitCompile *)dlsym(plugin, "ein_jit_compile") : NULL;
  JitFree *done = make ? (JitFree *)dlsym(plugin, "ein_jit_free") : NULL;
  *there = done != NULL;
  if (!done) return detail(s, "%s", dlerror()), LEAVE_OK;
  const JitText source = {arena_printf(s->arena, "/ein/%s.c", name), text->s, text->len};
  Words words = command_line(s, c, more);
  JitMade made = {0};
  make(&source, words.at, words.len, &made);
  const char *said = made.said ? arena_printf(s->arena, "%s", made.said) : "";
  if (made.object) *out = (Bytes){arena_copy(s->arena, made.object, made.len), made.len};
  done(&made);
  if (!out->at) return fail(s, LEAVE_MACHINE, "Clang did not take what ein wrote: %s\n%s", compiler_words(s->arena, c), said);
  if (*said) detail(s, "Clang says:\n%s", said);
  return LEAVE_OK;
}
