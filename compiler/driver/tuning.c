/* driver/tuning.c - what is decided by a machine file: how large chunks and blocks are, and from when on there are threads.
 * Only what leaves every sum in its order may hang on it, so the answers are the same bits for any machine. */
#include <math.h>
#include <stdlib.h>

#include "../plan/machine.h"
#include "driver.h"

enum {
  CHUNK_LEAST = 1 << 14, CHUNK_MOST = 1 << 20,
  WIDE_LEAST = 128, WIDE_MOST = 2048,
  PANEL_BYTES = 2048         /* of a row of a packed panel: codegen/schedule_pack_size.c */
};

/* The largest power of two that is not above x, in bounds. */
static int64_t power_below(double x, int64_t least, int64_t most) {
  int64_t p = least;
  while (p < most && (double)(2 * p) <= x) p *= 2;
  return p;
}

/* A chunk is worth handing to a thread; the lanes' panel of a block fits the second cache. */
static void machine_apply(const Machine *m, LoopTarget *target, double *worth_threads) {
  const MachineMemory *second = machine_memory_find(&m->levels.at[0], "L2");
  *worth_threads = m->worth_threads;
  if (m->worth_threads > 0) target->chunk = power_below(m->worth_threads, CHUNK_LEAST, CHUNK_MOST);
  if (second && second->bytes) target->wide = power_below((double)(second->bytes / PANEL_BYTES), WIDE_LEAST, WIDE_MOST);
}

Leave tuning_find(Session *s, const Args *a, LoopTarget *target, double *worth_threads) {
  const char *said = arg_last(a, OPT_MACHINE), *env = getenv("EIN_MACHINE"), *why;
  if (!(options[OPT_MACHINE].in & 1u << a->command)) return LEAVE_OK;
  if (!said && env && *env) said = env;
  if (!said) return LEAVE_OK;
  Source *src = source_read(s->arena, said, &why);
  if (!src) return fail(s, LEAVE_MACHINE, "cannot read %s: %s", said, why);
  const Machine *m = machine_read(s->arena, src, s->diags);
  if (!m || !machine_check(m, s->diags)) return session_report(s);
  machine_apply(m, target, worth_threads);
  detail(s, "%s: %s", said, m->name);
  return LEAVE_OK;
}
