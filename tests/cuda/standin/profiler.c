/* tests/cuda/standin/profiler.c - a stand-in for a profiler that listens by NVTX 3, named by $NVTX_INJECTION64_PATH.
 * At exit it writes the ranges to $EIN_STANDIN_RANGES, in the order in which they ended: the thread, by first range;
 * the ranges around it; how many kernels and copies the thread has asked the look-alike of the driver for meanwhile;
 * its text. A range without an end, an end without a range, and a range that ends in another thread are
 * lines that begin with "wrong". $EIN_STANDIN: no-tool: it refuses the program. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

enum { CALLBACKS = 1, VERSIONS = 3, CORE = 1, PUSH = 9, POP = 11, DEPTH = 64 };

typedef void (*Function)(void);
typedef struct Callbacks {
  size_t bytes;
  int (*table)(int module, Function ***table, unsigned *size);
} Callbacks;
typedef struct Versions { size_t bytes; uint32_t version, none; void (*is)(uint32_t); } Versions;
typedef struct Open { char text[400]; int asked[2]; } Open;

static struct { pthread_mutex_t all; FILE *out; int threads, begun; } my = {
    .all = PTHREAD_MUTEX_INITIALIZER};
static __thread struct { int number, depth; Open open[DEPTH]; } mine;

int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t));

/* Of the look-alike of the driver, which is loaded by now. */
static void asked(int n[2]) {
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), *at = driver ? dlsym(driver, "standin_asked") : NULL;
  StandinAsked *ask;
  n[0] = n[1] = 0;
  memcpy(&ask, &at, sizeof at);
  if (ask) ask(n);
  if (driver) dlclose(driver);
}

static int push(const char *text) {
  pthread_mutex_lock(&my.all);
  if (!mine.number) mine.number = ++my.threads;
  if (mine.depth < DEPTH) {
    Open *x = &mine.open[mine.depth];
    snprintf(x->text, sizeof x->text, "%s", text);
    asked(x->asked);
  } else fprintf(my.out, "wrong: more than %d ranges within each other\n", DEPTH);
  my.begun++;
  pthread_mutex_unlock(&my.all);
  return mine.depth++;
}

static int pop(void) {
  int now[2];
  pthread_mutex_lock(&my.all);
  my.begun--;
  if (mine.depth < 1) fprintf(my.out, "wrong: an end without a range\n");
  else if (--mine.depth < DEPTH) {
    const Open *x = &mine.open[mine.depth];
    asked(now);
    fprintf(my.out, "%d %d: %d kernels, %d copies: %s\n", mine.number, mine.depth, now[0] - x->asked[0],
        now[1] - x->asked[1], x->text);
  }
  pthread_mutex_unlock(&my.all);
  return mine.depth;
}

static void over(void) __attribute__((destructor));
static void over(void) {
  if (!my.out) return;
  if (my.begun) fprintf(my.out, "wrong: %d ranges have no end\n", my.begun);
  fclose(my.out);
}

int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t)) {
  const char *path = getenv("EIN_STANDIN_RANGES"), *said = getenv("EIN_STANDIN");
  const Callbacks *callbacks = export_table(CALLBACKS);
  const Versions *versions = export_table(VERSIONS);
  Function **table = NULL;
  unsigned size = 0;
  int (*const begin)(const char *) = push;
  int (*const end)(void) = pop;
  if (said && strstr(said, "no-tool")) return 0;
  if (!callbacks || callbacks->bytes < sizeof *callbacks || !versions || versions->version != 3 || export_table(2))
    return 0;
  versions->is(1);
  for (int module = 1; module < 7; module++) /* a program has all modules, and places for all functions of each */
    if (!callbacks->table(module, &table, &size) || table[0] || table[size]) return 0;
  if (callbacks->table(7, &table, &size) || !callbacks->table(CORE, &table, &size) || size != 16) return 0;
  if (!my.out) my.out = fopen(path ? path : "/dev/stderr", "w");
  memcpy(table[PUSH], &begin, sizeof begin);
  memcpy(table[POP], &end, sizeof end);
  return my.out != NULL;
}
