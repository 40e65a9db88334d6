/* SPDX-License-Identifier: MIT-0 */
/*
 * Ranges for profilers (EIN_DRIVER): what a run asks of a device for one row of the program, or to copy one tensor,
 * with the equation's name and place. Profilers listen by NVTX: they name a library in $NVTX_INJECTION64_PATH, which
 * each user of NVTX opens and hands a function that returns tables; the library fills these with functions of its own.
 * The tables are declared here by that ABI (of NVTX 3), so no NVIDIA header is needed. If the variable is not set,
 * nothing is opened, and a run has no ranges.
 *
 * Ranges follow one another in the thread that runs: none is within another one. What is asked of the run's stream in
 * a range is sent before the range ends, because a profiler shows a kernel in the range in which it was launched.
 */
#ifndef EIN_CUDA_RANGES_H
#define EIN_CUDA_RANGES_H

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
  EIN_NVTX_CALLBACKS = 1, EIN_NVTX_VERSIONS = 3,               /* tables that a tool may ask for */
  EIN_NVTX_CORE = 1, EIN_NVTX_MODULES = 7, EIN_NVTX_MOST = 17, /* modules; a module's most functions, and an end */
  EIN_NVTX_PUSH = 9, EIN_NVTX_POP = 11,                        /* functions of the core: nvtxRangePushA, nvtxRangePop */
  EIN_NVTX_VERSION = 3
};
enum { EIN_NVTX_NEW, EIN_NVTX_OPENING, EIN_NVTX_NONE, EIN_NVTX_LISTENS };

typedef void (*ein_nvtx_function)(void);
typedef struct ein_nvtx_callbacks {
  size_t bytes;
  int (*table)(int module, ein_nvtx_function ***table, unsigned *size);
} ein_nvtx_callbacks;
typedef struct ein_nvtx_versions {
  size_t bytes;
  uint32_t version, none;
  void (*is)(uint32_t version); /* a tool may tell its own */
} ein_nvtx_versions;

/* One for all contexts: the tool asks for its tables without saying for whom, and may keep their addresses. */
static struct {
  int state;
  ein_nvtx_function function[EIN_NVTX_MODULES][EIN_NVTX_MOST], *table[EIN_NVTX_MODULES][EIN_NVTX_MOST];
} ein_nvtx;

/* A table has a place for each function of the module, from number 1 on. We only call functions of the core, but a
 * tool may refuse a program without the others. */
static int ein_nvtx_table(int module, ein_nvtx_function ***table, unsigned *size) {
  static const unsigned char sizes[EIN_NVTX_MODULES] = {0, 16, 9, 15, 7, 16, 7};
  if (module < 1 || module >= EIN_NVTX_MODULES) return 0;
  for (int k = 1; k < sizes[module]; k++) ein_nvtx.table[module][k] = &ein_nvtx.function[module][k];
  if (table) *table = ein_nvtx.table[module];
  if (size) *size = sizes[module];
  return 1;
}

static void ein_nvtx_is(uint32_t version) { (void)version; }

static const void *ein_nvtx_export(uint32_t which) {
  static const ein_nvtx_callbacks callbacks = {sizeof callbacks, ein_nvtx_table};
  static const ein_nvtx_versions versions = {sizeof versions, EIN_NVTX_VERSION, 0, ein_nvtx_is};
  return which == EIN_NVTX_CALLBACKS ? (const void *)&callbacks
      : which == EIN_NVTX_VERSIONS   ? (const void *)&versions
                                     : NULL;
}

static int ein_nvtx_begin(const char *path) {
  void *tool = dlopen(path, RTLD_LAZY | RTLD_LOCAL), *at = tool ? dlsym(tool, "InitializeInjectionNvtx2") : NULL;
  int (*begin)(const void *(*export_table)(uint32_t)) = NULL;
  memcpy(&begin, &at, sizeof at);
  if (begin && begin(ein_nvtx_export)) return 1;
  if (tool) dlclose(tool);
  return 0;
}

/* Opens the tool that the environment names, if it has not been opened. Returns whether it listens. */
static int ein_nvtx_open(void) {
  const char *path = getenv("NVTX_INJECTION64_PATH");
  int is = EIN_NVTX_NEW;
  if (!path || !*path) return 0;
  if (__atomic_compare_exchange_n(&ein_nvtx.state, &is, EIN_NVTX_OPENING, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    is = ein_nvtx_begin(path) ? EIN_NVTX_LISTENS : EIN_NVTX_NONE;
    __atomic_store_n(&ein_nvtx.state, is, __ATOMIC_RELEASE);
  }
  while (is == EIN_NVTX_OPENING) sched_yield(), is = __atomic_load_n(&ein_nvtx.state, __ATOMIC_ACQUIRE);
  return is == EIN_NVTX_LISTENS;
}

/* ---- of a run ---- */

/* Ends the range, if there is one. */
static void ein_gpu_range_end(ein_ctx *ctx, ein_gpu *g) {
  int (*pop)(void);
  if (!g->ranged) return;
  if (ein_state(ctx) == EIN_OK) ein_gpu_send(ctx, g);
  g->ranged = 0;
  memcpy(&pop, &ein_nvtx.function[EIN_NVTX_CORE][EIN_NVTX_POP], sizeof pop);
  if (pop) pop();
}

/* Begins one, after the last: "T (x.ein:4)". what: what happens to the tensor; "": an equation is computed. */
static void ein_gpu_range(ein_ctx *ctx, ein_gpu *g, const char *name, const char *file, int line, const char *what) {
  int (*push)(const char *text);
  char text[300];
  if (!g->ranges) return;
  ein_gpu_range_end(ctx, g);
  snprintf(text, sizeof text, "%.100s%s%s", name ? name : "a step", ein_where_of(file, line).text, what);
  memcpy(&push, &ein_nvtx.function[EIN_NVTX_CORE][EIN_NVTX_PUSH], sizeof push);
  if (push) push(text);
  g->ranged = 1, g->counts->ranges++;
}

#endif
