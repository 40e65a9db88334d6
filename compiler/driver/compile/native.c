/* driver/compile/native.c - the entry point from texts to machine code. In: C texts, a compiler and flags; out: an
 * object that is loaded, or a file. Loaded code is linked against the runtime that was compiled with us, if the
 * flags only affect speed; else the runtime is compiled with it. */
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "native.h"
#include "texts.h"

double seconds_now(void) {
  struct timespec t = {0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the key ---------------------------------------------------------------------------------- */

/* apart: the runtime that it is linked against; NULL: the runtime is included. */
static CacheKey key_make(Session *s, const Compiler *c, const NativeSet *set, const char *apart) {
  CacheKey key = cache_key_new(), *k = &key;
  cache_key_text(k, EIN_VERSION);
  cache_key_text(k, runtime_mark);
  for (uint32_t i = 0; i < set->n_texts; i++) cache_key_add(k, set->text[i].text->s, set->text[i].text->len);
  cache_key_words(k, &c->command);
  cache_key_words(k, &c->flags);
  cache_key_words(k, &set->flags);
  for (uint32_t i = 0; set->externs && !c->in_process && i < set->externs->sources.len; i++)
    cache_key_add(k, set->externs->sources.at[i].text.s, set->externs->sources.at[i].text.len);
  if (set->externs) cache_key_words(k, &set->externs->link);
  for (uint32_t i = 0; set->externs && i < set->externs->files.len; i++)
    cache_key_file(s, k, set->externs->files.at[i]);
  cache_key_file(s, k, c->command.at[0]);
  cache_key_machine(k);
  if (apart) cache_key_file(s, k, apart);
  return key;
}

/* ---- compiling, in a folder of our own ------------------------------------------------------- */

static Leave text_write(Session *s, const char *work, const char *name, const char *text, size_t len, Words *sources) {
  const char *path = arena_printf(s->arena, "%s/%s", work, name);
  if (sources) vec_push(s->arena, *sources, path);
  return file_write(s, path, text, len);
}

static Leave compile(
    Session *s, Compiler *c, MakeKind kind, const NativeSet *set, const char *apart, const char *work, const char *to) {
  Words sources = {0};
  Leave l = LEAVE_OK;
  if (!set->folder) l = text_write(s, work, "ein_run.h", runtime_ein_run, strlen(runtime_ein_run), NULL);
  for (uint32_t i = 0; i < set->n_texts && !l; i++) {
    const char *name = arena_printf(s->arena, "%s.c", set->text[i].name);
    if (set->folder) vec_push(s->arena, sources, arena_printf(s->arena, "%s/%s", set->folder, name));
    else l = text_write(s, work, name, set->text[i].text->s, set->text[i].text->len, &sources);
  }
  for (uint32_t i = 0; set->externs && i < set->externs->sources.len && !set->folder && !l; i++) {
    const ExternSource *x = &set->externs->sources.at[i];
    l = text_write(s, work, arena_printf(s->arena, "%s.c", x->name), x->text.s, x->text.len, &sources);
  }
  if (set->externs && kind != MAKE_OBJECT)
    words_add(s->arena, &sources, set->externs->link.len, set->externs->link.at);
  if (apart) vec_push(s->arena, sources, apart);
  else if (kind == MAKE_PROGRAM && !l)
    l = text_write(s, work, "ein_program.c", runtime_ein_program, strlen(runtime_ein_program), &sources);
  return l ? l : compiler_run(s, c, kind, &sources, &set->flags, to);
}

/* An object for each text. */
static Leave archive_write(
    Session *s, Compiler *c, const NativeSet *set, const char *work, const char *to, bool *made) {
  Words objects = {0};
  Leave l = LEAVE_OK;
  for (uint32_t i = 0; i < set->n_texts && !l; i++) {
    NativeSet one = *set;
    one.text = &set->text[i];
    one.n_texts = 1;
    const char *object = arena_printf(s->arena, "%s/%s.o", work, one.text->name);
    l = compile(s, c, MAKE_OBJECT, &one, NULL, work, object);
    vec_push(s->arena, objects, object);
  }
  return l ? l : archive_make(s, &objects, to, made);
}

Leave native_write(Session *s, Compiler *c, NativeKind kind, const NativeSet *set, const char *to, bool *made) {
  const char *apart = kind == NATIVE_PROGRAM && compiler_plain(c) ? runtime_apart(s, APART_PROGRAM) : NULL,
             *work = folder_work(s);
  if (!work) return LEAVE_MACHINE;
  *made = true;
  const char *binary = arena_printf(s->arena, "%s/binary", work);
  Leave l = kind == NATIVE_ARCHIVE
      ? archive_write(s, c, set, work, binary, made)
      : compile(s, c, kind == NATIVE_SHARED ? MAKE_SHARED : MAKE_PROGRAM, set, apart, work, binary);
  if (!l && *made) l = file_copy(s, binary, to, kind == NATIVE_ARCHIVE ? 0 : FILE_RUNS);
  folder_remove(s->arena, work);
  return l;
}

/* ---- loading --------------------------------------------------------------------------------- */

void *native_find(const Native *n, const char *symbol) {
  return n->handle ? dlsym(n->handle, symbol) : n->objects.len ? object_find(&n->objects.at[0], symbol) : NULL;
}

void native_close(Native *n) {
  for (uint32_t i = 0; i < n->objects.len && !n->stays; i++) object_unload(&n->objects.at[i]);
  *n = (Native){0};
}

/* Returns NULL, or why it failed. */
static const char *shared_open(const char *path, const char *symbol, Native *out) {
  out->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (out->handle && dlsym(out->handle, symbol)) return NULL;
  const char *why = dlerror();
  if (out->handle) dlclose(out->handle); /* nothing of it has run */
  out->handle = NULL;
  return why ? why : "there is no model in it";
}

/* What code in memory needs: the runtime's functions, libc's, and those that compilers call. */
typedef struct World { void *runtime, *symbols; } World;

static void *world_find(void *ctx, const char *name) {
  const World *w = ctx;
  void *runtime = w->runtime, *at = w->symbols ? dlsym(w->symbols, name) : NULL;
  if (!at) at = runtime ? dlsym(runtime, name) : NULL;
  if (!at) at = dlsym(RTLD_DEFAULT, name);
  if (at) return at;
  void *helpers = dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
  return helpers ? dlsym(helpers, name) : NULL;
}

static const char *object_open(Session *s, World w, Bytes bytes, const char *symbol, Object *out) {
  const char *why = object_load(s->arena, bytes.at, bytes.len, (ObjectWorld){world_find, &w}, out);
  if (why || object_find(out, symbol)) return why;
  object_unload(out);
  return "it lacks what is needed";
}

static void *runtime_open(const char *apart) { return dlopen(apart, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); }

static const char *memory_open(
    Session *s, const NativeSet *set, const char *apart, Bytes bytes, const char *symbol, Native *out) {
  void *runtime = apart ? runtime_open(apart) : NULL;
  const char *why = apart && !runtime ? dlerror() : NULL;
  Object one;
  if (!why) why = object_open(s, (World){runtime, set->symbols}, bytes, symbol, &one);
  if (!why) vec_push(s->arena, out->objects, one);
  out->stays = !runtime;
  return why;
}

static Leave no_object(Session *s, const char *why) {
  return fail(s, LEAVE_MACHINE, "what the C compiler made cannot be loaded: %s", why);
}

/* path NULL: there is no cache, and it is loaded from where it was made. */
static Leave shared_made(Session *s, Compiler *c, const NativeSet *set, const char *apart, const char *path,
    const char *symbol, Native *out) {
  const char *work = folder_work(s), *why = NULL;
  if (!work) return LEAVE_MACHINE;
  const char *object = arena_printf(s->arena, "%s/%s.so", work, set->text[0].name);
  Leave l = compile(s, c, apart ? MAKE_APART : MAKE_SHARED, set, apart, work, object);
  Source *made = l ? NULL : source_read(s->arena, object, &why);
  if (made) out->made = (Bytes){made->bytes, made->len};
  else if (!l) l = fail(s, LEAVE_MACHINE, "cannot read %s: %s", object, why);
  bool kept = !l && path && cache_keep(s, path, out->made);
  if (!l) why = shared_open(kept ? path : object, symbol, out);
  folder_remove(s->arena, work);
  return l || !why ? l : no_object(s, why);
}

static Leave memory_made(Session *s, const Compiler *c, const NativeSet *set, const char *apart, const char *path,
    const char *symbol, Native *out, bool *there) {
  Words words = {0};
  Bytes made = {0};
  vec_push(s->arena, words, apart ? "-DEIN_APART" : "-DEIN_PTHREADS");
  words_add(s->arena, &words, set->flags.len, set->flags.at);
  const NativeText *text[] = {&set->text[0]};
  Leave l = jit_compile(s, c, text, 1, &words, JIT_OBJECT, &made, there);
  if (l || !*there) return l;
  const char *why = memory_open(s, set, apart, made, symbol, out);
  out->made = made;
  if (why) return no_object(s, why);
  if (path) cache_keep(s, path, made);
  return LEAVE_OK;
}

static bool kept_open(Session *s, const Compiler *c, const NativeSet *set, const char *apart, const char *path,
    const char *symbol, Native *out) {
  out->made = path ? cache_read(s, path) : (Bytes){0};
  return out->made.at &&
      !(c->in_process ? memory_open(s, set, apart, out->made, symbol, out) : shared_open(path, symbol, out));
}

Leave native_load(Session *s, Compiler *c, const char *name, const NativeSet *set, const char *symbol, Native *out) {
  const char *apart = compiler_plain(c) ? runtime_apart(s, APART_LOADED) : NULL;
  const char *path = cache_path(s, name, key_make(s, c, set, apart), c->in_process ? ".o" : ".so");
  bool there = true;
  *out = (Native){0};
  out->old = kept_open(s, c, set, apart, path, symbol, out);
  if (out->old) {
    detail(s, "compiled before: %s", path);
    return LEAVE_OK;
  }
  double before = seconds_now();
  Leave l = c->in_process ? memory_made(s, c, set, apart, path, symbol, out, &there)
                          : shared_made(s, c, set, apart, path, symbol, out);
  out->seconds = seconds_now() - before;
  if (l || there) return l;
  l = jit_instead(s, "its Clang cannot be opened", c);
  return l ? l : native_load(s, c, name, set, symbol, out);
}

/* ---- one by one ------------------------------------------------------------------------------- */

typedef struct Each {
  Session *s;
  const Compiler *c;
  const NativeSet *set;
  const char *symbol;
  void *runtime;
  const char **path;         /* by text; NULL: there is no cache */
  Object *object;            /* by text; without memory: not there yet */
  VEC(uint32_t) missing;
} Each;

static void each_find(Each *x, const char *name, const char *apart) {
  for (uint32_t i = 0; i < x->set->n_texts; i++) {
    NativeSet one = *x->set;
    one.text = &x->set->text[i];
    one.n_texts = 1;
    x->path[i] = cache_path(x->s, name, key_make(x->s, x->c, &one, apart), ".o");
    Bytes kept = x->path[i] ? cache_read(x->s, x->path[i]) : (Bytes){0};
    if (!kept.at || object_open(x->s, (World){x->runtime, x->set->symbols}, kept, x->symbol, &x->object[i]))
      vec_push(x->s->arena, x->missing, i);
  }
}

static Leave each_make(Each *x, bool *there) {
  Session *s = x->s;
  uint32_t n = x->missing.len;
  Words words = {0};
  const NativeText **text = NEW_ARRAY(s->arena, const NativeText *, n + 1);
  Bytes *made = NEW_ARRAY(s->arena, Bytes, n + 1);
  vec_push(s->arena, words, "-DEIN_APART");
  words_add(s->arena, &words, x->set->flags.len, x->set->flags.at);
  for (uint32_t i = 0; i < n; i++) text[i] = &x->set->text[x->missing.at[i]];
  Leave l = jit_compile(s, x->c, text, n, &words, JIT_OBJECT, made, there);
  for (uint32_t i = 0; i < n && *there; i++) {
    uint32_t k = x->missing.at[i];
    if (!made[i].at) continue; /* if interrupted, finished texts stay */
    if (x->path[k]) cache_keep(s, x->path[k], made[i]);
    const char *why =
        l ? NULL : object_open(s, (World){x->runtime, x->set->symbols}, made[i], x->symbol, &x->object[k]);
    if (why) l = no_object(s, why);
  }
  return l;
}

Leave native_load_each(Session *s, const Compiler *c, const char *name, const NativeSet *set, const char *symbol,
    Native *out, void **runtime, bool *there) {
  const char *apart = compiler_plain(c) ? runtime_apart(s, APART_LOADED) : NULL;
  double before = seconds_now();
  *out = (Native){.old = true};
  *runtime = apart ? runtime_open(apart) : NULL;
  *there = *runtime != NULL;
  if (!*there) return LEAVE_OK;
  Each x = {.s = s, .c = c, .set = set, .symbol = symbol, .runtime = *runtime};
  x.path = NEW_ARRAY(s->arena, const char *, set->n_texts + 1);
  x.object = NEW_ARRAY(s->arena, Object, set->n_texts + 1);
  each_find(&x, name, apart);
  out->fresh = x.missing.len;
  out->old = !out->fresh;
  Leave l = out->old ? LEAVE_OK : each_make(&x, there);
  for (uint32_t i = 0; i < set->n_texts; i++)
    if (x.object[i].memory) vec_push(s->arena, out->objects, x.object[i]);
  out->seconds = out->old ? 0 : seconds_now() - before;
  if (l || !*there) native_close(out);
  return l;
}

/* ---- from another process --------------------------------------------------------------------- */

/* A file in memory, which nobody has to remove. It stays open: the loader identifies objects by name, and the next
 * must have another. */
Leave native_adopt(Session *s, Bytes object, const char *symbol, Native *out) {
  *out = (Native){.old = true, .made = object};
  int fd = memfd_create("ein", MFD_CLOEXEC);
  const char *why = fd < 0 ? "no memory for a file" : NULL;
  for (size_t at = 0; !why && at < object.len;) {
    ssize_t n = write(fd, object.at + at, object.len - at);
    if (n <= 0) why = "no memory for a file";
    else at += (size_t)n;
  }
  if (!why) why = shared_open(arena_printf(s->arena, "/proc/self/fd/%d", fd), symbol, out);
  if (why && fd >= 0) close(fd);
  return why ? no_object(s, why) : LEAVE_OK;
}
