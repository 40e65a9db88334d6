/* driver/compile/cache.c - caches compiled code: keyed by everything that determines it, stored completely or not at
 * all. The folder is trusted only if no one else can write to it, since its contents are executed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native.h"

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

/* ---- the key -------------------------------------------------------------------------------- */

/* FNV-1a, 64 bits; two of them with different seeds. */
CacheKey cache_key_new(void) {
  return (CacheKey){0xCBF29CE484222325u, 0x6C62272E07BB0142u};
}

void cache_key_add(CacheKey *k, const char *s, size_t n) {
  for (size_t i = 0; i < n; i++) {
    k->a = (k->a ^ (unsigned char)s[i]) * 0x100000001B3u;
    k->b = (k->b ^ (unsigned char)s[i]) * 0x100000001B3u;
  }
  k->a = (k->a ^ 0xFF) * 0x100000001B3u; /* an end mark: "ab" "c" is not "a" "bc" */
  k->b = (k->b ^ 0xFE) * 0x100000001B3u;
}

void cache_key_text(CacheKey *k, const char *s) {
  cache_key_add(k, s, strlen(s));
}

void cache_key_words(CacheKey *k, const Words *w) {
  for (uint32_t i = 0; i < w->len; i++) cache_key_text(k, w->at[i]);
}

void cache_key_file(Session *s, CacheKey *k, const char *path) {
  struct stat st = {0};
  char *real = realpath(path, NULL);
  (void)!stat(real ? real : path, &st);
  cache_key_text(
      k, arena_printf(s->arena, "%s %lld %lld", real ? real : path, (long long)st.st_mtime, (long long)st.st_size));
  free(real);
}

/* Machines may share a cache. */
void cache_key_machine(CacheKey *k) {
  char line[8192];
  FILE *f = fopen("/proc/cpuinfo", "re");
  if (!f) return;
  while (fgets(line, sizeof line, f) && *line != '\n')
    if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0 || strncmp(line, "model name", 10) == 0)
      cache_key_text(k, line);
  fclose(f);
}

/* ---- entries -------------------------------------------------------------------------------- */

/* An object is followed by its length and checksum, which a loader ignores: a truncated mapping raises SIGBUS where
 * it is touched. */
enum { SEAL = 40 };

static const char *seal_of(Arena *a, const char *bytes, size_t len) {
  CacheKey k = cache_key_new();
  cache_key_add(&k, bytes, len);
  return arena_printf(a, "\nein %016llx %016llx\n", (unsigned long long)len, (unsigned long long)(k.a ^ k.b));
}

/* Syncs it to disk before renaming it: otherwise a crash could leave a name without its contents. */
bool cache_keep(Session *s, const char *path, Bytes what) {
  Buf b = buf_new(s->arena);
  bool capture = s->capture;
  uint32_t from = s->captured.len;
  buf_add(&b, what.at, what.len);
  buf_add(&b, seal_of(s->arena, what.at, what.len), SEAL);
  s->capture = true;
  Leave l = file_put(s, path, b.s, b.len, FILE_RUNS | FILE_LASTS);
  s->capture = capture;
  if (s->captured.len > from) detail(s, "%s", s->captured.at[from]);
  s->captured.len = from;
  return l == LEAVE_OK;
}

const char *cache_path(Session *s, const char *name, CacheKey k, const char *ending) {
  const char *folder = cache_folder(s, true);
  if (!folder) return NULL;
  return arena_printf(
      s->arena, "%s/%s-%016llx%016llx%s", folder, name, (unsigned long long)k.a, (unsigned long long)k.b, ending);
}

Bytes cache_read(Session *s, const char *path) {
  const char *why;
  Bytes none = {0};
  if (access(path, F_OK) != 0) return none;
  Source *src = source_read(s->arena, path, &why);
  size_t len = src && src->len >= SEAL ? src->len - SEAL : 0;
  const char *seal = len ? seal_of(s->arena, src->bytes, len) : "";
  if (strlen(seal) == SEAL - 1 && memcmp(src->bytes + len, seal, SEAL) == 0) return (Bytes){src->bytes, len};
  say(s, "%s is damaged: compiled anew", path);
  return none;
}

/* ---- ein cache ------------------------------------------------------------------------------ */

Leave cmd_cache(Session *s, Args *a) {
  const char *folder = cache_folder(s, false), *what = a->operands.len == 1 ? a->operands.at[0] : "";
  if (strcmp(what, "clear") != 0)
    return fail(s, LEAVE_USAGE, "ein cache clear empties the cache; there is nothing else");
  if (!folder) return LEAVE_OK;
  uint32_t gone = folder_empty(s->arena, folder);
  detail(s, "%s: %u file%s removed", folder, gone, gone == 1 ? "" : "s");
  return LEAVE_OK;
}
