/* driver/jit.c - Clang in this process, as a compiler beside those that are programs: its plugin is found, and opened when there is
 * something to compile. Where it is not there the C compiler does what it would have done, and that is said. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/jit.h"
#include "native.h"
#include "texts.h"

static const char usual[] = "-O2 -march=native";

/* No warnings, and nothing that only debuggers read. Vectors as wide as the machine has them: kernels are made for that, and some processors'
 * tuning prefers less. */
static const char *const always[] = {"-w", "-fPIC", "-fno-asynchronous-unwind-tables", "-DEIN_ONE_VERSION"};

const char *jit_plugin(Session *s) {
  static const char *const folders[] = {"codegen/jit/", "../lib/ein/"};
  const char *self = program_folder(s), *off = getenv("EIN_JIT");
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

typedef struct Plugin { JitCompile *compile; JitParse *head; JitFree *done; } Plugin;

static bool plugin_open(Session *s, const Compiler *c, Plugin *out) {
  void *at = dlopen(c->command.at[0], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  *out = (Plugin){0};
  if (!at) return detail(s, "%s", dlerror()), false;
  out->compile = (JitCompile *)dlsym(at, "ein_jit_compile");
  out->head = (JitParse *)dlsym(at, "ein_jit_head");
  out->done = (JitFree *)dlsym(at, "ein_jit_free");
  return out->compile && out->head && out->done;
}

/* What a text tells the preprocessor, up to the runtime's header: the same for most texts. Empty: it has no such header. */
static Buf head_lines(Session *s, const Buf *text) {
  Buf b = buf_new(s->arena);
  for (const char *at = text->s; *at;) {
    size_t n = strcspn(at, "\n") + 1;
    if (*at == '#') buf_add(&b, at, n);
    if (strncmp(at, "#include \"ein_run.h\"", 20) == 0) return b;
    at += n - (at[n - 1] == 0);
  }
  return buf_new(s->arena);
}

/* Parsed now, and kept; or not, where Clang cannot. */
static void head_make(Session *s, const Plugin *clang, const Words *words, const char *path, JitHead *head) {
  JitMade made = {0};
  clang->head(head, words->at, words->len, &made);
  if (made.object) {
    head->parsed = arena_copy(s->arena, made.object, made.len), head->parsed_len = made.len;
    cache_keep(s, path, (Bytes){head->parsed, head->parsed_len});
  }
  clang->done(&made);
}

/* Where it is kept; NULL: there is none. */
static const char *head_find(Session *s, const Compiler *c, const Plugin *clang, const Buf *text, const Words *words, JitHead *head) {
  CacheKey k = cache_key_new();
  Buf lines = head_lines(s, text);
  *head = (JitHead){.text = lines.s, .len = lines.len, .runtime = {"/ein/ein_run.h", runtime_ein_run, strlen(runtime_ein_run)}};
  if (!lines.len) return NULL;
  cache_key_text(&k, runtime_mark);
  cache_key_add(&k, lines.s, lines.len);
  cache_key_file(s, &k, c->command.at[0]);
  cache_key_machine(&k);
  for (uint32_t i = 0; i < words->len; i++) cache_key_text(&k, words->at[i]);
  const char *path = cache_path(s, "head", k, ".pch");
  Bytes kept = path ? cache_read(s, path) : (Bytes){0};
  head->parsed = kept.at, head->parsed_len = kept.len;
  if (path && !kept.at) head_make(s, clang, words, path, head);
  return path;
}

static Bytes text_compile(Session *s, const Plugin *clang, const NativeText *text, const JitHead *head, const Words *words, const char **said) {
  const JitText source = {arena_printf(s->arena, "/ein/%s.c", text->name), text->text->s, text->text->len};
  JitMade made = {0};
  Bytes out = {0};
  clang->compile(&source, head, words->at, words->len, &made);
  *said = made.said ? arena_printf(s->arena, "%s", made.said) : "";
  if (made.object) out = (Bytes){arena_copy(s->arena, made.object, made.len), made.len};
  clang->done(&made);
  return out;
}

/* A head that Clang does not take is of headers that are others now: the system's, which are in no key. */
Leave jit_compile(Session *s, const Compiler *c, const NativeText *text, const Words *more, Bytes *out, bool *there) {
  Plugin clang;
  JitHead head;
  const char *said;
  *there = plugin_open(s, c, &clang);
  if (!*there) return LEAVE_OK;
  Words words = command_line(s, c, more);
  const char *kept = head_find(s, c, &clang, text->text, &words, &head);
  *out = text_compile(s, &clang, text, &head, &words, &said);
  if (!out->at && head.parsed) {
    unlink(kept);
    head.parsed = NULL;
    *out = text_compile(s, &clang, text, &head, &words, &said);
  }
  if (!out->at) return fail(s, LEAVE_MACHINE, "Clang did not take what ein wrote: %s\n%s", compiler_words(s->arena, c), said);
  if (*said) detail(s, "Clang says:\n%s", said);
  return LEAVE_OK;
}
