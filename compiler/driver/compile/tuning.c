/* driver/compile/tuning.c - decisions based on a machine file: the size of chunks and blocks, and when to use
 * threads; without one, for code that is run here and then discarded, on this machine's caches; and those based on
 * the C compiler: the size of tiles. Only decisions that keep the order of every sum may depend on these, so the
 * answers have the same bits on any machine. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "plan/machine.h"
#include "driver/measure/measure.h"
#include "native.h"

enum {
  CHUNK_LEAST = 1 << 14, CHUNK_MOST = 1 << 20,
  WIDE_LEAST = 128, WIDE_MOST = 2048,
  THREADS_OF_A_CORE = 2,
  PANEL_BYTES = 2048         /* of a row of a packed panel: codegen/schedule/cpu/panels/size.c */
};

/* The largest power of two that is at most x, within bounds. */
static int64_t power_below(double x, int64_t least, int64_t most) {
  int64_t p = least;
  while (p < most && (double)(2 * p) <= x) p *= 2;
  return p;
}

static int64_t wide_of(int64_t second_bytes) {
  return power_below((double)(second_bytes / PANEL_BYTES), WIDE_LEAST, WIDE_MOST);
}

/* A chunk must be worth a thread; the lanes' panel of a block must fit in the second cache. */
static void machine_apply(const Machine *m, LoopTarget *target, double *worth_threads) {
  const MachineMemory *second = machine_memory_find(&m->levels.at[0], "L2");
  *worth_threads = m->worth_threads;
  if (m->worth_threads > 0) target->chunk = power_below(m->worth_threads, CHUNK_LEAST, CHUNK_MOST);
  if (second && second->bytes) target->wide = wide_of(second->bytes);
}

/* Files that are kept are the same wherever they are made; code that `run`, `bench` and `verify` compile is only
 * used here. A second cache belongs to one core if at most its threads share it. */
static void machine_here(Session *s, const Args *a, LoopTarget *target) {
  CacheHere cache[CACHES_MOST];
  if (a->command != CMD_RUN && a->command != CMD_BENCH && a->command != CMD_VERIFY) return;
  uint32_t n = caches_here(s, INT_MAX, cache);
  if (n < 2 || cache[1].shared > THREADS_OF_A_CORE) return;
  target->wide = wide_of(cache[1].bytes);
  detail(s, "this machine's second cache has %lld KB", (long long)(cache[1].bytes / 1024));
}

Leave machine_file(Session *s, const char *path, const Machine **out) {
  Source *src = file_read(s, path);
  if (!src) return LEAVE_MACHINE;
  *out = machine_read(s->arena, src, s->diags);
  if (!*out || !machine_check(*out, s->diags)) return session_report(s);
  detail(s, "%s: %s", path, (*out)->name);
  return LEAVE_OK;
}

Leave machine_said(Session *s, const Args *a, const Machine **out) {
  const char *said = arg_last(a, OPT_MACHINE), *env = getenv("EIN_MACHINE");
  *out = NULL;
  if (!said && env && *env) said = env;
  return said ? machine_file(s, said, out) : LEAVE_OK;
}

Leave tuning_find(Session *s, const Args *a, LoopTarget *target, double *worth_threads) {
  const Machine *m;
  if (!(options[OPT_MACHINE].in & 1u << a->command)) return LEAVE_OK;
  Leave l = machine_said(s, a, &m);
  if (l) return l;
  if (m) machine_apply(m, target, worth_threads);
  else machine_here(s, a, target);
  return LEAVE_OK;
}

/* ---- what the C compiler compiles for ------------------------------------------------------- */

/* The target's macros; the first one that is defined counts. */
static const struct { const char *macro; int vector_bytes, vectors; } targets[] = {
    {"__AVX512F__", 0, 0}, {"__AVX2__", 32, 16}, {"__aarch64__", 16, 32}};

static bool have_tiles(const Tasks *tasks) {
  for (uint32_t i = 0; i < tasks->len; i++)
    if (loop_has_tiles(tasks->at[i]) || have_tiles(&tasks->at[i]->body)) return true;
  return false;
}

/* A text that is kept is the same wherever it is made, unless a compiler is named for it. */
static bool is_compiled(const Args *a) {
  if (!(options[OPT_CC].in & 1u << a->command) || arg_has(a, OPT_STOP) || arg_has(a, OPT_EMIT)) return false;
  return !arg_has(a, OPT_LIB) || arg_has(a, OPT_CC) || arg_has(a, OPT_FLAGS);
}

static bool has_macro(Session *s, const char *defined, const char *macro) {
  return strstr(defined, arena_printf(s->arena, "#define %s ", macro)) != NULL;
}

/* Returns false if the macros say nothing of its registers: the text is for any x86-64, say. */
static bool target_take(Session *s, const char *said, const char *defined, LoopTarget *target) {
  for (size_t i = 0; i < COUNT(targets); i++)
    if (has_macro(s, defined, targets[i].macro)) {
      target->vector_bytes = targets[i].vector_bytes, target->vectors = targets[i].vectors;
      /* All of AMD's have SSE4a, all of Intel's with AVX-512 have AES, and what is compiled for both has neither. */
      target->units_alike = i == 0 && has_macro(s, defined, "__AES__") && !has_macro(s, defined, "__SSE4A__");
      if (target->vector_bytes)
        detail(s, "%s has %d registers of %d bytes", said, target->vectors, target->vector_bytes);
      return true;
    }
  return false;
}

/* Of several compilers and sets of flags, asks the first. A compiler that cannot be asked will fail when it
 * compiles. Text that is kept, or compiled for any machine, has tiles for both kinds of registers. */
void target_ask(Session *s, const Args *a, const TaskGraph *t, LoopTarget *target) {
  Words flags = a->given[OPT_FLAGS];
  const char *cc = arg_last(a, OPT_CC), *first = flags.len ? flags.at[0] : NULL;
  Compiler c;
  Buf said = buf_new(s->arena);
  if (!have_tiles(&t->tasks)) return;
  target->both = a->command == CMD_BUILD;
  if (!is_compiled(a)) return;
  target->both = true;
  if (target_jit(s, a) && jit_find(s, first, &c)) {
    target_take(s, c.said, jit_macros(&c), target);
    target->both = false;
    return;
  }
  if (cc) cc = arena_printf(s->arena, "%.*s", (int)strcspn(cc, ","), cc);
  if (compiler_macros(s, cc && *cc ? cc : NULL, first, &c, &said))
    target->both = !target_take(s, c.said, said.s, target);
}
