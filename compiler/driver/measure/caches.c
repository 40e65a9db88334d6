/* driver/measure/caches.c - what the system reports about this machine's processor: Linux' /sys and /proc, else
 * sysconf. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"

static const char caches[] = "/sys/devices/system/cpu/cpu0/cache";

/* The first line of a small file; false if there is none. */
static bool line_of(const char *path, char *line, int size) {
  FILE *f = fopen(path, "re");
  bool ok = f && fgets(line, size, f);
  if (f) fclose(f);
  if (ok) line[strcspn(line, "\n")] = '\0';
  return ok;
}

/* "48K", "32M" */
static int64_t size_read(const char *text) {
  size_t n = strlen(text);
  int64_t v = 0, unit = 1;
  if (n && text[n - 1] == 'K') unit = 1024, n--;
  else if (n && text[n - 1] == 'M') unit = 1024 * 1024, n--;
  return int64_read(text, n, &v) && v > 0 && mul_ok(v, unit, &v) ? v : 0;
}

/* "0-3,8" is five. */
static int list_count(const char *text) {
  int n = 0, used, from, to;
  for (; sscanf(text, "%d%n", &from, &used) == 1; text += *text == ',') {
    text += used;
    to = from;
    if (*text == '-' && sscanf(text + 1, "%d%n", &to, &used) == 1) text += 1 + used;
    n += to - from + 1;
  }
  return n;
}

static bool cache_said(Arena *a, int index, CacheHere *out) {
  char line[256];
  const char *at = arena_printf(a, "%s/index%d", caches, index);
  *out = (CacheHere){.shared = 1};
  if (!line_of(arena_printf(a, "%s/type", at), line, sizeof line)) return false;
  if (strcmp(line, "Instruction") == 0) return true;
  if (line_of(arena_printf(a, "%s/size", at), line, sizeof line)) out->bytes = size_read(line);
  if (line_of(arena_printf(a, "%s/coherency_line_size", at), line, sizeof line)) out->line = size_read(line);
  if (line_of(arena_printf(a, "%s/shared_cpu_list", at), line, sizeof line)) out->shared = list_count(line);
  return true;
}

/* The C library knows less: the outermost cache is assumed to be shared by all. */
static uint32_t caches_asked(int cores, CacheHere *out) {
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  static const int name[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  long line = sysconf(_SC_LEVEL1_DCACHE_LINESIZE), bytes;
  uint32_t n = 0;
  for (size_t k = 0; k < COUNT(name); k++)
    if ((bytes = sysconf(name[k])) > 0) out[n++] = (CacheHere){bytes, line > 0 ? line : 0, k == 2 ? cores : 1};
  return n;
#else
  (void)cores, (void)out;
  return 0;
#endif
}

uint32_t caches_here(Session *s, int cores, CacheHere *out) {
  uint32_t n = 0;
  CacheHere one;
  for (int i = 0; n < CACHES_MOST && cache_said(s->arena, i, &one); i++) {
    if (!one.bytes || (n && one.bytes <= out[n - 1].bytes)) continue;
    if (one.shared < 1) one.shared = 1;
    if (one.shared > cores) one.shared = cores;
    out[n++] = one;
  }
  return n ? n : caches_asked(cores, out);
}

const char *processor_name(Arena *a) {
  char line[1024];
  const char *name = NULL;
  FILE *f = fopen("/proc/cpuinfo", "re");
  while (f && !name && fgets(line, sizeof line, f)) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !colon) continue;
    line[strcspn(line, "\n")] = '\0';
    name = arena_printf(a, "%s", colon + 1 + strspn(colon + 1, " \t"));
  }
  if (f) fclose(f);
  return name && *name ? name : NULL;
}
