/* driver/compile/compiler.c - the C compiler: found by name, run without a shell. A failure is the machine's or
 * ours, never the user's, and the compiler's output is shown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

/* Flags for the language; the usual optimisation flags are in compiler_find. Nothing computed reads errno or
 * floating-point flags. */
const char *const compiler_language[COMPILER_LANGUAGE] = {"-std=gnu99", "-fno-math-errno", "-fno-trapping-math"};
const char compiler_fuses[] = "-ffp-contract=off";
static const char usual[] = "-O3 -march=native";

/* ---- finding it ----------------------------------------------------------------------------- */

Words words_of(Arena *a, const char *text) {
  Words w = {0};
  for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
    size_t n = strcspn(text, " \t");
    vec_push(a, w, arena_printf(a, "%.*s", (int)n, text));
    text += n;
  }
  return w;
}

void words_add(Arena *a, Words *to, uint32_t n, const char *const *w) {
  for (uint32_t i = 0; i < n; i++) vec_push(a, *to, w[i]);
}

static bool command_take(Session *s, const char *said, Compiler *out) {
  out->said = said;
  out->command = words_of(s->arena, said);
  if (!out->command.len) return false;
  const char *first = out->command.at[0];
  if (!strchr(first, '/')) first = program_on_path(s->arena, first);
  out->command.at[0] = first;
  return first != NULL;
}

static const char *asked_for(const char *said) {
  const char *env = getenv("CC");
  return said ? said : env && *env ? env : NULL;
}

static bool compiler_named(Session *s, const char *said, const char *flags, Compiler *out) {
  static const char *const names[] = {"cc", "gcc", "clang"};
  const char *asked = asked_for(said);
  *out = (Compiler){.flags = words_of(s->arena, flags ? flags : usual), .openmp = true};
  if (asked) return command_take(s, asked, out);
  for (size_t i = 0; i < COUNT(names); i++)
    if (command_take(s, names[i], out)) return true;
  return false;
}

Leave compiler_find(Session *s, const char *said, const char *flags, Compiler *out) {
  const char *asked = asked_for(said);
  if (compiler_named(s, said, flags, out)) return LEAVE_OK;
  if (asked) return fail(s, LEAVE_MACHINE, "there is no C compiler %s", asked);
  return fail(s, LEAVE_MACHINE, "no C compiler was found (cc, gcc, clang); set CC, or see ein doctor");
}

bool compiler_there(Session *s, const char *said) {
  Compiler c;
  return compiler_named(s, said, NULL, &c);
}

/* A compiler that was named takes the whole text, as nvcc does. */
static Leave device_choose(Session *s, const Args *a, const char *cc, const char *flags, Compiler *out) {
  double memory = 0;
  if (cc && arg_has(a, OPT_MEMORY))
    return fail(s, LEAVE_USAGE, "--memory is for kernels compiled by NVRTC: what %s compiles takes what it needs", cc);
  if (cc) return compiler_find(s, cc, flags, out);
  Leave l = !flags && jit_find(s, NULL, out) ? LEAVE_OK : compiler_find(s, NULL, flags, out);
  if (!l) l = memory_said(s, a, &memory);
  out->memory = (uint64_t)memory;
  out->nvrtc = true;
  return l;
}

Leave compiler_choose(Session *s, const Args *a, const char *cc, const char *flags, Compiler *out) {
  const char *target = target_compiler(s, a);
  if (target_device(s, a)) return device_choose(s, a, cc, flags, out);
  if (target && strcmp(target, "c") != 0 && strcmp(target, "jit") != 0)
    return fail(s, LEAVE_USAGE, "--target=%s is nothing that compiles; c and jit are", target);
  if (cc || !target_jit(s, a)) return compiler_find(s, cc, flags, out);
  return jit_find(s, flags, out) ? LEAVE_OK : jit_instead(s, "Clang is not in this ein, or switched off", out);
}

const char *compiler_words(Arena *a, const Compiler *c) {
  Buf b = buf_new(a);
  buf_printf(&b, "%s%s", c->nvrtc ? "NVRTC, and around the kernels " : "", c->said);
  for (uint32_t i = 0; i < c->flags.len; i++) buf_printf(&b, " %s", c->flags.at[i]);
  return b.s;
}

/* Whether a flag only affects speed. Flags that change memory layout, threads, instrumentation or the text are not in
 * the list: the runtime must be compiled with them too. */
static bool word_plain(const char *word) {
  static const char *const plain[] = {"-O", "-g", "-W",
      "-march=", "-mtune=", "-mcpu=", "-mprefer-vector-width=", "-mavx", "-mno-avx", "-mfma", "-mno-fma", "-msse",
      "-mno-sse", "-ffp-contract=", "-ftree-", "-fno-tree-", "-funroll-", "-fno-unroll-", "-fvectorize",
      "-fno-vectorize", "-DEIN_ONE_VERSION", "-DEIN_WIDE="};
  if (word[0] != '-') return true; /* "ccache gcc" */
  if (strlen(word) > 3 && word[1] == 'W' && word[3] == ',') return false;
  for (size_t k = 0; k < COUNT(plain); k++)
    if (strncmp(word, plain[k], strlen(plain[k])) == 0) return true;
  return false;
}

bool compiler_plain(const Compiler *c) {
  for (uint32_t i = 0; i < c->command.len; i++)
    if (!word_plain(c->command.at[i])) return false;
  for (uint32_t i = 0; i < c->flags.len; i++)
    if (!word_plain(c->flags.at[i])) return false;
  return true;
}

/* ---- running it ----------------------------------------------------------------------------- */

/* A library uses the threads that its caller would consider its own. A program is a separate process and does not
 * know who else uses its processors: its threads sleep where OpenMP's would spin. */
static void threads_words(Arena *a, const Compiler *c, MakeKind kind, Words *w) {
  bool said = false;
  for (uint32_t i = 0; i < c->flags.len; i++) said |= strncmp(c->flags.at[i], "-fopenmp", 8) == 0;
  if (kind == MAKE_PROGRAM && !said) {
    vec_push(a, *w, "-DEIN_PTHREADS");
    vec_push(a, *w, "-pthread");
  } else if (c->openmp)
    vec_push(a, *w, "-fopenmp");
}

static Words command_line(Session *s, const Compiler *c, MakeKind kind, const Words *sources, const Words *more,
                          const char *to) {
  Words w = {0};
  words_add(s->arena, &w, c->command.len, c->command.at);
  words_add(s->arena, &w, COMPILER_LANGUAGE, compiler_language);
  words_add(s->arena, &w, c->flags.len, c->flags.at);
  vec_push(s->arena, w, compiler_fuses);
  if (kind != MAKE_APART) threads_words(s->arena, c, kind, &w);
  if (kind == MAKE_APART || kind == MAKE_PROGRAM) vec_push(s->arena, w, "-DEIN_APART");
  if (kind == MAKE_SHARED || kind == MAKE_APART) vec_push(s->arena, w, "-shared");
  if (kind != MAKE_PROGRAM) vec_push(s->arena, w, "-fPIC");
  if (kind == MAKE_OBJECT) vec_push(s->arena, w, "-c");
  words_add(s->arena, &w, more->len, more->at);
  vec_push(s->arena, w, "-o");
  vec_push(s->arena, w, to);
  words_add(s->arena, &w, sources->len, sources->at);
  if (kind != MAKE_OBJECT) vec_push(s->arena, w, "-lm");
  if (kind != MAKE_OBJECT && c->opens) vec_push(s->arena, w, "-ldl"); /* a separate library in older C libraries */
  vec_push(s->arena, w, NULL);
  return w;
}

static bool has_no_room(const Buf *said) {
  static const int codes[] = {ENOSPC, EDQUOT, EFBIG};
  for (size_t i = 0; said->s && i < COUNT(codes); i++)
    if (strstr(said->s, strerror(codes[i]))) return true;
  return false;
}

/* Compiles an empty input: if this fails, a linker is missing, or a flag is unknown, and ein's text is not the
 * cause. */
static bool makes_nothing(Session *s, const Compiler *c, const char *to) {
  const char *const nothing[] = {"-o", to, "-shared", "-fPIC", "-x", "c", "/dev/null", NULL};
  const char *why;
  Buf said = buf_new(s->arena);
  Words w = {0};
  words_add(s->arena, &w, c->command.len, c->command.at);
  words_add(s->arena, &w, c->flags.len, c->flags.at);
  words_add(s->arena, &w, COUNT(nothing), nothing);
  return program_ask(s->arena, w.at, &said, &why);
}

static Leave failed(Session *s, const Compiler *c, const Words *w, const char *to, const char *why, const Buf *said) {
  Buf b = buf_new(s->arena);
  if (interrupted()) return fail(s, LEAVE_PROGRAM, "interrupted"); /* the terminal has signalled it too */
  for (uint32_t i = 0; i + 1 < w->len; i++) buf_printf(&b, "%s%s", i ? " " : "", w->at[i]);
  const char *what = has_no_room(said)          ? "there is no room for what the C compiler makes"
                     : strstr(why, "by signal") ? "the C compiler did not come to an end"
                     : !makes_nothing(s, c, to) ? "the C compiler does not work here, on an empty file either"
                                                : "the C compiler did not take what ein wrote";
  return fail(s, LEAVE_MACHINE, "%s: %s\n  %s%s%s", what, why, b.s, said->len ? "\n" : "", said->s ? said->s : "");
}

/* A clang without its OpenMP library works without it; if that was not the problem, the first failure is shown. */
Leave compiler_run(Session *s, Compiler *c, MakeKind kind, const Words *sources, const Words *more, const char *to) {
  const char *why, *again;
  Buf said = buf_new(s->arena), other = buf_new(s->arena);
  Words w = command_line(s, c, kind, sources, more, to);
  if (program_ask(s->arena, w.at, &said, &why)) {
    if (said.len) detail(s, "%s says:\n%s", c->said, said.s);
    return LEAVE_OK;
  }
  if (!c->openmp || kind == MAKE_APART || interrupted()) return failed(s, c, &w, to, why, &said);
  c->openmp = false;
  Words plain = command_line(s, c, kind, sources, more, to);
  if (program_ask(s->arena, plain.at, &other, &again)) {
    detail(s, "%s has no OpenMP: one thread", c->said);
    return LEAVE_OK;
  }
  c->openmp = true;
  return failed(s, c, &w, to, why, &said);
}

/* The file for its answer: keyed by all that it is asked with, and by the machine. */
static const char *macros_kept(Session *s, const Words *question) {
  CacheKey k = cache_key_new();
  cache_key_text(&k, EIN_VERSION);
  for (uint32_t i = 0; i + 1 < question->len; i++) cache_key_text(&k, question->at[i]);
  cache_key_file(s, &k, question->at[0]);
  cache_key_machine(&k);
  return cache_path(s, "macros", k, ".txt");
}

/* Asking takes most of the time of a run that finds everything else in the cache; so the answer is cached too. An
 * answer that cannot be cached is asked for again. */
bool compiler_macros(Session *s, const char *said, const char *flags, Compiler *c, Buf *macros) {
  static const char *const ask[] = {"-dM", "-E", "-x", "c", "/dev/null", NULL};
  const char *why;
  Words w = {0};
  if (!compiler_named(s, said, flags, c)) return false;
  words_add(s->arena, &w, c->command.len, c->command.at);
  words_add(s->arena, &w, c->flags.len, c->flags.at);
  words_add(s->arena, &w, COUNT(ask), ask);
  const char *path = macros_kept(s, &w);
  Bytes kept = path ? cache_read(s, path) : (Bytes){0};
  if (kept.at) return buf_add(macros, kept.at, kept.len), true;
  if (!program_ask(s->arena, w.at, macros, &why)) return false;
  if (path && macros->len) cache_keep(s, path, (Bytes){macros->s, macros->len});
  return true;
}

Leave archive_make(Session *s, const Words *objects, const char *to, bool *made) {
  const char *env = getenv("AR"), *ar = program_on_path(s->arena, env && *env ? env : "ar"), *why;
  *made = ar != NULL;
  if (!ar) return LEAVE_OK;
  const char *const begin[] = {ar, "rcsD", to};
  Words w = {0};
  words_add(s->arena, &w, COUNT(begin), begin);
  words_add(s->arena, &w, objects->len, objects->at);
  vec_push(s->arena, w, NULL);
  Buf said = buf_new(s->arena);
  if (program_ask(s->arena, w.at, &said, &why)) return LEAVE_OK;
  return fail(s, LEAVE_MACHINE, "%s could not make %s: %s\n%s", ar, to, why, said.s);
}
