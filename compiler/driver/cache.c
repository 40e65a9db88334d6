/* driver/cache.c - shared objects that were compiled before: found by all that decides what is in them. The folder is
 * trusted only if it is ours alone, since what lies there is run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "native.h"

double seconds_now(void) {
  struct timespec t = {0};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the folder ----------------------------------------------------------------------------- */

static bool ours_alone(const char *folder) {
  struct stat st;
  return lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022) &&
         access(folder, R_OK | W_OK | X_OK) == 0;
}

const char *cache_folder(Session *s, bool make) {
  const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *base;
  if (xdg && *xdg == '/') base = xdg;
  else if (home && *home == '/') base = arena_printf(s->arena, "%s/.cache", home);
  else return NULL;
  const char *folder = arena_printf(s->arena, "%s/ein", base);
  if (make) {
    mkdir(base, 0700);
    mkdir(folder, 0700);
  }
  return ours_alone(folder) ? folder : NULL;
}

/* What a text is compiled with. */
typedef struct Making {
  const char *runtime;       /* the folder of its sources */
  const char *object;        /* it, compiled; NULL: its sources are compiled with the text */
  Words needed;              /* the files of that folder that the text includes */
} Making;

static Leave making_find(Session *s, const Compiler *c, const Buf *text, Making *m) {
  *m = (Making){.runtime = runtime_find(s)};
  if (!m->runtime) return LEAVE_MACHINE;
  Leave l = runtime_needed(s, m->runtime, text->s, &m->needed);
  if (!l && compiler_plain(c)) m->object = runtime_object(s, m->runtime, &m->needed);
  return l;
}

/* ---- the key -------------------------------------------------------------------------------- */

/* FNV-1a, 64 bits; two of them from different beginnings. */
typedef struct Key { uint64_t a, b; } Key;

static void key_add(Key *k, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    k->a = (k->a ^ (unsigned char)s[i]) * 0x100000001B3u;
    k->b = (k->b ^ (unsigned char)s[i]) * 0x100000001B3u;
  }
  k->a = (k->a ^ 0xFF) * 0x100000001B3u; /* an end: "ab" "c" is not "a" "bc" */
  k->b = (k->b ^ 0xFE) * 0x100000001B3u;
}

static void key_text(Key *k, const char *s) {
  key_add(k, s, strlen(s));
}

/* Another version of the compiler is another file. */
static void key_program(Session *s, Key *k, const char *path) {
  struct stat st = {0};
  char *real = realpath(path, NULL);
  (void)!stat(real ? real : path, &st);
  key_text(k, arena_printf(s->arena, "%s %lld %lld", real ? real : path, (long long)st.st_mtime, (long long)st.st_size));
  free(real);
}

/* What -march=native means here: a cache may be shared by machines. */
static void key_machine(Key *k) {
  char line[8192];
  FILE *f = fopen("/proc/cpuinfo", "re");
  if (!f) return;
  while (fgets(line, sizeof line, f) && *line != '\n')
    if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0 || strncmp(line, "model name", 10) == 0)
      key_text(k, line);
  fclose(f);
}

/* Of the runtime what is compiled with the text: all that it includes, but for sources that are compiled already, which are one file. */
static Leave key_make(Session *s, const Compiler *c, const Making *m, const Buf *text, Key *k) {
  *k = (Key){0xCBF29CE484222325u, 0x6C62272E07BB0142u};
  key_text(k, EIN_VERSION);
  key_add(k, text->s, text->len);
  for (uint32_t i = 0; i < c->command.len; i++) key_text(k, c->command.at[i]);
  for (uint32_t i = 0; i < c->flags.len; i++) key_text(k, c->flags.at[i]);
  key_program(s, k, c->command.at[0]);
  key_machine(k);
  if (m->object) key_program(s, k, m->object);
  if (c->dense) key_text(k, "dense");
  Leave l = LEAVE_OK;
  for (uint32_t i = 0; i < m->needed.len && !l; i++) {
    const char *bytes;
    size_t len;
    l = runtime_read(s, m->runtime, m->needed.at[i], &bytes, &len);
    if (!l) key_add(k, bytes, len);
  }
  return l;
}

/* ---- making --------------------------------------------------------------------------------- */

/* Behind an object stand its length and sum, which a loader does not look at: mapped, a cut one is SIGBUS wherever it is touched. */
enum { SEAL = 40 };

static const char *seal_of(Arena *a, const char *bytes, size_t len) {
  Key k = {0xCBF29CE484222325u, 0x6C62272E07BB0142u};
  key_add(&k, bytes, len);
  return arena_printf(a, "\nein %016llx %016llx\n", (unsigned long long)len, (unsigned long long)(k.a ^ k.b));
}

static bool is_whole(Session *s, const char *path) {
  const char *why;
  Source *src = source_read(s->arena, path, &why);
  if (!src || src->len < SEAL) return false;
  size_t len = src->len - SEAL;
  const char *seal = seal_of(s->arena, src->bytes, len);
  return strlen(seal) == SEAL - 1 && memcmp(src->bytes + len, seal, SEAL) == 0;
}

/* On the disk before it has its name: else a machine that stops leaves a name without what it stands for. */
static Leave object_keep(Session *s, const char *so, const char *path) {
  const char *why;
  Buf b = buf_new(s->arena);
  Source *src = source_read(s->arena, so, &why);
  if (!src) return fail(s, LEAVE_MACHINE, "cannot read %s: %s", so, why);
  buf_add(&b, src->bytes, src->len);
  buf_add(&b, seal_of(s->arena, src->bytes, src->len), SEAL);
  return file_put(s, path, b.s, b.len, FILE_RUNS | FILE_LASTS);
}

/* Compiles in a private folder, of which `work` is the path. */
static Leave make(Session *s, Compiler *c, const Making *m, const char *work, const char *name, const Buf *text) {
  Words sources = {0}, more = {0};
  const char *source = arena_printf(s->arena, "%s/%s.c", work, name);
  vec_push(s->arena, sources, source);
  if (m->object) vec_push(s->arena, sources, m->object);
  vec_push(s->arena, more, "-I");
  vec_push(s->arena, more, m->runtime);
  if (c->dense) vec_push(s->arena, more, "-DEIN_DENSE");
  Leave l = file_write(s, source, text->s, text->len);
  return l ? l : compiler_run(s, c, m->object ? MAKE_APART : MAKE_SHARED, &sources, &more, arena_printf(s->arena, "%s/%s.so", work, name));
}

static Leave made_anew(Session *s, Compiler *c, const Making *m, const char *folder, const char *name,
                       const Buf *text, Shared *out) {
  const char *work = folder_work(s);
  if (!work) return LEAVE_MACHINE;
  double before = seconds_now();
  Leave l = make(s, c, m, work, name, text);
  out->seconds = seconds_now() - before;
  const char *so = arena_printf(s->arena, "%s/%s.so", work, name);
  if (!l && folder) l = object_keep(s, so, out->path);
  if (l || folder) folder_remove(s->arena, work);
  else out->path = so, out->temporary = work;
  return l;
}

Leave shared_get(Session *s, Compiler *c, const char *name, const Buf *text, bool again, Shared *out) {
  const char *folder = cache_folder(s, true);
  Making m;
  Key k;
  *out = (Shared){0};
  Leave l = making_find(s, c, text, &m);
  if (l) return l;
  if (!folder) return made_anew(s, c, &m, NULL, name, text, out);
  l = key_make(s, c, &m, text, &k);
  if (l) return l;
  out->path = arena_printf(s->arena, "%s/%s-%016llx%016llx.so", folder, name, (unsigned long long)k.a,
                           (unsigned long long)k.b);
  bool there = access(out->path, F_OK) == 0;
  out->old = !again && there && is_whole(s, out->path);
  if (there && !out->old) say(s, "%s is damaged: compiled anew", out->path);
  if (!out->old) return made_anew(s, c, &m, folder, name, text, out);
  detail(s, "compiled before: %s", out->path);
  return LEAVE_OK;
}

/* ---- ein cache ------------------------------------------------------------------------------ */

Leave cmd_cache(Session *s, Args *a) {
  const char *folder = cache_folder(s, false), *what = a->operands.len == 1 ? a->operands.at[0] : "";
  if (strcmp(what, "clear") != 0) return fail(s, LEAVE_USAGE, "ein cache clear empties the cache; there is nothing else");
  if (!folder) return LEAVE_OK;
  uint32_t gone = folder_empty(s->arena, folder);
  detail(s, "%s: %u file%s removed", folder, gone, gone == 1 ? "" : "s");
  return LEAVE_OK;
}
