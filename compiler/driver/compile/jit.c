/* driver/compile/jit.c - Clang in this process, as an alternative to compilers that are programs: its plugin is
 * found, and opened when there is something to compile, or ahead of that in a thread of its own. If it is missing the
 * C compiler is used instead, and this is reported. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native.h"
#include "texts.h"

static const char usual[] = "-O2 -march=native";

/* No warnings, and no debug information. Vectors are as wide as the machine's: kernels are made for that, while some
 * processors' tuning prefers narrower ones. */
static const char *const always[] = {"-w", "-fPIC", "-fno-asynchronous-unwind-tables", "-DEIN_ONE_VERSION"};

const char *jit_plugin(Session *s) {
  const char *off = getenv("EIN_JIT");
  return off && strcmp(off, "off") == 0 ? NULL : plugin_find(s, "codegen/jit/", "ein_jit.so");
}

bool jit_find(Session *s, const char *flags, Compiler *out) {
  const char *plugin = jit_plugin(s);
  *out = (Compiler){.said = "jit", .flags = words_of(s->arena, flags ? flags : usual), .in_process = true};
  if (plugin) vec_push(s->arena, out->command, plugin);
  return plugin != NULL;
}

/* This machine's macros, unless flags name another one. */
const char *jit_macros(const Compiler *c) {
  bool native = false;
  for (uint32_t i = 0; i < c->flags.len; i++) {
    if (strcmp(c->flags.at[i], "-march=native") == 0) native = true;
    else if (strncmp(c->flags.at[i], "-m", 2) == 0) return "";
  }
  if (!native) return "";
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f")
      ? __builtin_cpu_is("intel") ? "#define __AVX512F__ 1\n#define __AES__ 1\n" : "#define __AVX512F__ 1\n"
      : __builtin_cpu_supports("avx2")     ? "#define __AVX2__ 1\n"
                                           : "";
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

static Words command_line(Session *s, const Compiler *c, const Words *more) {
  Words w = {0};
  const char *width = vector_width();
  words_add(s->arena, &w, COMPILER_LANGUAGE, compiler_language);
  words_add(s->arena, &w, COUNT(always), always);
  if (width) vec_push(s->arena, w, width);
  words_add(s->arena, &w, c->flags.len, c->flags.at);
  vec_push(s->arena, w, compiler_fuses);
  words_add(s->arena, &w, more->len, more->at);
  return w;
}

typedef struct Plugin { JitCompile *compile; JitParse *head; JitFree *done; } Plugin;

static bool plugin_open(const Compiler *c, Plugin *out) {
  void *at = dlopen(c->command.at[0], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  *out = (Plugin){0};
  if (!at) return false;
  out->compile = (JitCompile *)dlsym(at, "ein_jit_compile");
  out->head = (JitParse *)dlsym(at, "ein_jit_head");
  out->done = (JitFree *)dlsym(at, "ein_jit_free");
  return out->compile && out->head && out->done;
}

static void plugin_tell(Session *s) {
  const char *why = dlerror();
  if (why) detail(s, "%s", why);
}

/* The lines for the preprocessor up to the runtime's header: the same for most texts. Empty: there is no such
 * header. */
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

/* Parses it now, and caches it, unless Clang cannot. */
static void head_make(Session *s, const Plugin *clang, const Words *words, const char *path, JitHead *head) {
  JitMade made = {0};
  clang->head(head, words->at, words->len, &made);
  if (made.object) {
    head->parsed = arena_copy(s->arena, made.object, made.len), head->parsed_len = made.len;
    cache_keep(s, path, (Bytes){head->parsed, head->parsed_len});
  }
  clang->done(&made);
}

/* The cached file; NULL: there is none. */
static const char *head_find(
    Session *s, const Compiler *c, const Plugin *clang, const Buf *text, const Words *words, JitHead *head) {
  CacheKey k = cache_key_new();
  Buf lines = head_lines(s, text);
  *head = (JitHead){
      .text = lines.s, .len = lines.len, .runtime = {"/ein/ein_run.h", runtime_ein_run, strlen(runtime_ein_run)}};
  if (!lines.len) return NULL;
  cache_key_text(&k, runtime_mark);
  cache_key_add(&k, lines.s, lines.len);
  cache_key_file(s, &k, c->command.at[0]);
  cache_key_machine(&k);
  cache_key_words(&k, words);
  const char *path = cache_path(s, "head", k, ".pch");
  Bytes kept = path ? cache_read(s, path) : (Bytes){0};
  head->parsed = kept.at, head->parsed_len = kept.len;
  if (path && !kept.at) head_make(s, clang, words, path, head);
  return path;
}

/* Texts that wait for a thread. */
typedef struct Compiling {
  const Plugin *clang;
  const JitText *source;
  const JitHead *head;
  const Words *words;
  JitForm form;
  JitMade *made;
  uint32_t n;
  atomic_uint next;
} Compiling;

static void *texts_take(void *env) {
  Compiling *x = env;
  for (uint32_t i; (i = atomic_fetch_add(&x->next, 1)) < x->n && !interrupted();)
    if (!x->made[i].object)
      x->clang->compile(&x->source[i], x->head, x->words->at, x->words->len, x->form, &x->made[i]);
  return NULL;
}

enum { THREADS = 16, STACK = 8 << 20 }; /* Clang goes deep */

static bool thread_begin(pthread_t *thread, void *(*does)(void *), void *env) {
  pthread_attr_t how;
  if (pthread_attr_init(&how) != 0) return false;
  pthread_attr_setstacksize(&how, STACK);
  bool begun = pthread_create(thread, &how, does, env) == 0;
  pthread_attr_destroy(&how);
  return begun;
}

/* Uses as many threads as there are processors; this is one of them. */
static void texts_compile(Compiling *x) {
  pthread_t thread[THREADS];
  long wanted = sysconf(_SC_NPROCESSORS_ONLN);
  uint32_t n = 0;
  atomic_store(&x->next, 0);
  while (n < THREADS && n + 1 < x->n && n + 1 < wanted && thread_begin(&thread[n], texts_take, x)) n++;
  texts_take(x);
  for (uint32_t i = 0; i < n; i++) pthread_join(thread[i], NULL);
}

/* The first text that was refused; n: none was. */
static uint32_t text_refused(const Compiling *x) {
  uint32_t i = 0;
  while (i < x->n && x->made[i].object) i++;
  return i;
}

static Leave objects_keep(Session *s, const Compiler *c, Compiling *x, Bytes *out) {
  Leave l = LEAVE_OK;
  for (uint32_t i = 0; i < x->n; i++) {
    JitMade *m = &x->made[i];
    if (m->object) out[i] = (Bytes){arena_copy(s->arena, m->object, m->len), m->len};
    else if (!l && interrupted()) l = fail(s, LEAVE_PROGRAM, "interrupted");
    else if (!l)
      l = fail(s, LEAVE_MACHINE, "Clang did not take what ein wrote: %s\n%s", compiler_words(s->arena, c),
          m->said ? m->said : "");
    if (m->object && m->said) detail(s, "Clang says:\n%s", m->said);
    x->clang->done(m);
  }
  return l;
}

/* If Clang rejects a head, its headers have changed: the system's, which are in no key. */
Leave jit_compile(Session *s, const Compiler *c, const NativeText *const *text, uint32_t n, const Words *more,
    JitForm form, Bytes *out, bool *there) {
  Plugin clang;
  JitHead head;
  *there = plugin_open(c, &clang);
  if (!*there) return plugin_tell(s), LEAVE_OK;
  JitText *source = NEW_ARRAY(s->arena, JitText, n + 1);
  for (uint32_t i = 0; i < n; i++)
    source[i] = (JitText){arena_printf(s->arena, "/ein/%s.c", text[i]->name), text[i]->text->s, text[i]->text->len};
  Words words = command_line(s, c, more);
  const char *kept = head_find(s, c, &clang, text[0]->text, &words, &head);
  Compiling x = {.clang = &clang,
      .source = source,
      .head = &head,
      .words = &words,
      .form = form,
      .made = NEW_ARRAY(s->arena, JitMade, n + 1),
      .n = n};
  texts_compile(&x);
  uint32_t refused = text_refused(&x);
  if (refused < n && head.parsed && !interrupted()) {
    unlink(kept);
    head.parsed = NULL;
    for (uint32_t i = refused; i < n; i++)
      if (!x.made[i].object) clang.done(&x.made[i]);
    texts_compile(&x);
  }
  return objects_keep(s, c, &x, out);
}

/* ---- ahead ------------------------------------------------------------------------------------ */

struct JitAhead { pthread_t thread; Compiler compiler; Words words; atomic_bool done; };

/* It stays open. Whoever opens it meanwhile waits for this. The few lines make Clang read and build what it needs for
 * any text. */
static void few_compile(const JitAhead *x) {
  static const char lines[] = "void few(float *x, int n) {\n  for (int i = 0; i < n; i++) x[i] += 1;\n}\n";
  const JitText few = {"/ein/few.c", lines, sizeof lines - 1};
  const JitHead none = {.text = "", .runtime = {"/ein/none.h", "", 0}};
  Plugin clang;
  JitMade made;
  if (!plugin_open(&x->compiler, &clang)) return;
  clang.compile(&few, &none, x->words.at, x->words.len, JIT_OBJECT, &made);
  clang.done(&made);
}

static void *plugin_begin(void *env) {
  JitAhead *x = env;
  few_compile(x);
  atomic_store(&x->done, true);
  return NULL;
}

/* Signals are for the session's own thread. */
JitAhead *jit_ahead(Session *s, const Args *a) {
  const char *said = target_said(s, a);
  bool wanted = target_jit(s, a) && !(said && strcmp(said, "eval") == 0);
  JitAhead *x = NEW(s->arena, JitAhead);
  sigset_t all, before;
  if (!wanted || !jit_find(s, arg_last(a, OPT_FLAGS), &x->compiler)) return NULL;
  x->words = command_line(s, &x->compiler, &(Words){0});
  if (sigfillset(&all) != 0 || pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return NULL;
  bool begun = thread_begin(&x->thread, plugin_begin, x);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return begun ? x : NULL;
}

/* Whoever leaves at once does not wait for it. Clang must not be taken down beside a thread that is within it. */
void jit_ahead_end(Session *s, JitAhead *x) {
  if (!x) return;
  if (atomic_load(&x->done)) pthread_join(x->thread, NULL);
  else s->aside = true;
}
