/* plan/machine.c - prints a machine as JSON, and compares two machines. */
#include "machine.h"

#include <string.h>

#include "base/json.h"

const char *const machine_rate_name[RATES] = {"multiply_add", "add_max"};

const MachineMemory *machine_memory_find(const MachineLevel *l, const char *name) {
  for (uint32_t i = 0; i < l->memories.len; i++)
    if (strcmp(l->memories.at[i].name, name) == 0) return &l->memories.at[i];
  return NULL;
}

/* Where a point after i takes less time, the time at i was noise. */
static double least_from(uint32_t n, const double *seconds, uint32_t i) {
  double x = seconds[i];
  for (; i < n; i++)
    if (seconds[i] < x) x = seconds[i];
  return x;
}

/* A rise by half marks the end of a cache. A climb that continues after it leads to the next level. */
uint32_t machine_caches_guess(uint32_t n, const int64_t *bytes, const double *seconds, uint32_t most, int64_t *out) {
  uint32_t found = 0;
  double flat = n ? least_from(n, seconds, 0) : 0;
  for (uint32_t i = 1; i < n && found < most; i++) {
    if (least_from(n, seconds, i) < 1.5 * flat) continue;
    out[found++] = bytes[i - 1];
    while (i + 1 < n && least_from(n, seconds, i + 1) > 1.2 * least_from(n, seconds, i)) i++;
    flat = least_from(n, seconds, i);
  }
  return found;
}

/* ---- print ---------------------------------------------------------------------------------- */

static void measure_print(Json *j, const char *name, const Measure *x) {
  if (x->value <= 0) return;
  if (x->median <= 0) {
    json_num(j, name, x->value);
    return;
  }
  json_object(j, name);
  json_num(j, "value", x->value);
  json_num(j, "median", x->median);
  json_num(j, "worst", x->worst);
  json_end(j, '}');
}

static void int_print(Json *j, const char *name, int64_t x) {
  if (x > 0) json_int(j, name, x);
}

static void memory_print(Json *j, const MachineMemory *x) {
  json_object(j, NULL);
  json_str(j, "name", x->name);
  int_print(j, "bytes", x->bytes);
  measure_print(j, "latency_seconds", &x->latency);
  measure_print(j, "read_bytes_per_second", &x->read);
  measure_print(j, "copy_bytes_per_second", &x->copy);
  json_end(j, '}');
}

static bool rated(const Measure rate[RATES]) {
  for (int r = 0; r < RATES; r++)
    if (rate[r].value > 0) return true;
  return false;
}

static void rates_print(Json *j, const MachineLevel *l) {
  json_object(j, "operations_per_second");
  for (int t = 0; t < DTYPES; t++) {
    if (!rated(l->rate[t])) continue;
    json_object(j, dtype_name((DType)t));
    for (int r = 0; r < RATES; r++) measure_print(j, machine_rate_name[r], &l->rate[t][r]);
    json_end(j, '}');
  }
  json_end(j, '}');
}

static void level_print(Json *j, const MachineLevel *l) {
  json_object(j, NULL);
  json_str(j, "name", l->name);
  json_int(j, "parts", l->parts);
  json_each(j, "memories", i, l->memories.len) memory_print(j, &l->memories.at[i]);
  rates_print(j, l);
  if (l->link.value > 0 || l->link_latency.value > 0) {
    json_object(j, "link");
    measure_print(j, "latency_seconds", &l->link_latency);
    measure_print(j, "bytes_per_second", &l->link);
    json_end(j, '}');
  }
  json_end(j, '}');
}

static void prices_print(Json *j, const Machine *m) {
  json_object(j, "prices");
  measure_print(j, "run_seconds", &m->run);
  measure_print(j, "kernel_seconds", &m->kernel);
  measure_print(j, "parallel_seconds", &m->parallel);
  measure_print(j, "wake_seconds", &m->wake);
  if (m->worth_threads > 0) json_num(j, "worth_threads_operations", m->worth_threads);
  json_end(j, '}');
}

void machine_print(Buf *out, const Machine *m) {
  Json j = json_new(out);
  json_object(&j, NULL);
  json_str(&j, "format", "ein machine 1");
  json_str(&j, "name", m->name);
  if (m->made) json_str(&j, "made", m->made);
  json_object(&j, "site");
  json_str(&j, "level", m->levels.at[m->site].name);
  int_print(&j, "bytes", m->site_bytes);
  json_end(&j, '}');
  int_print(&j, "line_bytes", m->line_bytes);
  json_each(&j, "levels", i, m->levels.len) level_print(&j, &m->levels.at[i]);
  prices_print(&j, m);
  json_end(&j, '}');
}

/* ---- equal ---------------------------------------------------------------------------------- */

static bool differ(Buf *why, const char *where, const char *what) {
  buf_printf(why, "%s: %s differs", where, what);
  return false;
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same(const Measure *a, const Measure *b) {
  return a->value == b->value && a->median == b->median && a->worst == b->worst;
}

static bool level_equal(const MachineLevel *a, const MachineLevel *b, Buf *why) {
  if (!same_text(a->name, b->name)) return differ(why, a->name, "name");
  if (a->parts != b->parts) return differ(why, a->name, "parts");
  if (!same(&a->link, &b->link) || !same(&a->link_latency, &b->link_latency)) return differ(why, a->name, "link");
  for (int t = 0; t < DTYPES; t++)
    for (int r = 0; r < RATES; r++)
      if (!same(&a->rate[t][r], &b->rate[t][r])) return differ(why, a->name, dtype_name((DType)t));
  if (a->memories.len != b->memories.len) return differ(why, a->name, "number of memories");
  for (uint32_t i = 0; i < a->memories.len; i++) {
    const MachineMemory *x = &a->memories.at[i], *y = &b->memories.at[i];
    if (!same_text(x->name, y->name) || x->bytes != y->bytes || !same(&x->latency, &y->latency) ||
        !same(&x->read, &y->read) || !same(&x->copy, &y->copy))
      return differ(why, a->name, x->name);
  }
  return true;
}

bool machine_equal(const Machine *a, const Machine *b, Buf *why) {
  if (!same_text(a->name, b->name) || !same_text(a->made, b->made)) return differ(why, "the machine", "name or made");
  if (a->site != b->site || a->site_bytes != b->site_bytes || a->line_bytes != b->line_bytes)
    return differ(why, "the machine", "site or line");
  if (!same(&a->run, &b->run) || !same(&a->kernel, &b->kernel) || !same(&a->parallel, &b->parallel) ||
      !same(&a->wake, &b->wake) || a->worth_threads != b->worth_threads)
    return differ(why, "the machine", "prices");
  if (a->levels.len != b->levels.len) return differ(why, "the machine", "number of levels");
  for (uint32_t i = 0; i < a->levels.len; i++)
    if (!level_equal(&a->levels.at[i], &b->levels.at[i], why)) return false;
  return true;
}
