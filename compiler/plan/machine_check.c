/* plan/machine_check.c - checks that a machine makes sense. */
#include <math.h>
#include <string.h>

#include "machine.h"

typedef struct Check { Diags *d; bool ok; } Check;

static void wrong(Check *c, Span at, const char *where, const char *what) {
  c->ok = false;
  diag_add(c->d, D_E922, at, "%s: %s", where, what);
}

/* The best of a rate is its largest value, of a time its smallest; the other values follow in order. */
static void measure_check(Check *c, Span at, const char *where, const char *what, const Measure *x, bool rate) {
  const char *full = arena_printf(c->d->arena, "%s: %s", where, what);
  double v = x->value, m = x->median, w = x->worst;
  if (!(v >= 0) || isinf(v)) wrong(c, at, full, "this is no positive number");
  else if (v > 0 && m != 0 && (rate ? !(v >= m && m >= w && w > 0) : !(v <= m && m <= w)))
    wrong(c, at, full, rate ? "expected value >= median >= worst" : "expected value <= median <= worst");
}

static void memory_check(Check *c, const MachineLevel *l, uint32_t k) {
  const MachineMemory *x = &l->memories.at[k];
  const char *where = arena_printf(c->d->arena, "%s, %s", l->name, x->name);
  measure_check(c, x->span, where, "latency_seconds", &x->latency, false);
  measure_check(c, x->span, where, "read_bytes_per_second", &x->read, true);
  measure_check(c, x->span, where, "copy_bytes_per_second", &x->copy, true);
  for (uint32_t i = 0; i < k; i++)
    if (strcmp(l->memories.at[i].name, x->name) == 0)
      wrong(c, x->span, where, "another memory of the level has this name");
  if (k && x->bytes && x->bytes <= l->memories.at[k - 1].bytes)
    wrong(c, x->span, where, "it is no larger than the one before it: memories stand from the nearest to the farthest");
}

static void level_check(Check *c, const Machine *m, uint32_t k) {
  const MachineLevel *l = &m->levels.at[k];
  if (l->parts < 1) wrong(c, l->span, l->name, "parts: there is at least 1");
  if (k == 0 && l->parts != 1) wrong(c, l->span, l->name, "parts: the first level has no parts, so 1 is expected");
  for (uint32_t i = 0; i < k; i++)
    if (strcmp(m->levels.at[i].name, l->name) == 0) wrong(c, l->span, l->name, "another level has this name");
  for (uint32_t i = 0; i < l->memories.len; i++) memory_check(c, l, i);
  for (int t = 0; t < DTYPES; t++)
    for (int r = 0; r < RATES; r++)
      measure_check(c, l->span, l->name, arena_printf(c->d->arena, "%s %s", dtype_name((DType)t), machine_rate_name[r]),
          &l->rate[t][r], true);
  measure_check(c, l->span, l->name, "link, latency_seconds", &l->link_latency, false);
  measure_check(c, l->span, l->name, "link, bytes_per_second", &l->link, true);
  if (k > m->site && !(l->link.value > 0))
    wrong(c, l->span, l->name, "link: sites reach each other by one, and there is none");
}

bool machine_check(const Machine *m, Diags *d) {
  Check c = {d, true};
  Span top = m->levels.len ? m->levels.at[0].span : (Span){0};
  top.end = top.at;
  if (!m->levels.len || m->site >= m->levels.len) {
    wrong(&c, top, "site", "there is no such level");
    return false;
  }
  for (uint32_t k = 0; k < m->levels.len; k++) level_check(&c, m, k);
  const struct { const char *name; const Measure *of;
  } price[] = {{"run_seconds", &m->run}, {"kernel_seconds", &m->kernel}, {"parallel_seconds", &m->parallel},
      {"wake_seconds", &m->wake}};
  for (size_t i = 0; i < COUNT(price); i++) measure_check(&c, top, "prices", price[i].name, price[i].of, false);
  if (!(m->worth_threads >= 0) || isinf(m->worth_threads))
    wrong(&c, top, "prices: worth_threads_operations", "this is no positive number");
  return c.ok;
}
