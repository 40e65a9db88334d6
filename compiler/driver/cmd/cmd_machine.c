/* driver/cmd/cmd_machine.c - ein machine: measures how much this machine computes and moves per second, and prints
 * text for people or the machine file that the rest of ein reads. */
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "driver/measure/measure.h"

/* ---- as text -------------------------------------------------------------------------------- */

static void figure_text(Buf *b, double x, const char *unit, double scale) {
  buf_printf(b, "%10.4g %s", x / scale, unit);
}

static void line_text(Buf *b, const char *what, const Measure *x, const char *unit, double scale) {
  if (!(x->value > 0)) return;
  buf_printf(b, "  %-20s", what);
  figure_text(b, x->value, unit, scale);
  buf_printf(b, "   median %.4g, worst %.4g\n", x->median / scale, x->worst / scale);
}

static void size_text(Buf *b, int64_t bytes) {
  if (bytes >= 1 << 30) buf_printf(b, "%.4g GB", (double)bytes / (1 << 30));
  else if (bytes >= 1 << 20) buf_printf(b, "%.4g MB", (double)bytes / (1 << 20));
  else buf_printf(b, "%.4g KB", (double)bytes / (1 << 10));
}

static void memory_text(Buf *b, const MachineMemory *x) {
  buf_printf(b, "  %s", x->name);
  if (x->bytes) buf_str(b, ", "), size_text(b, x->bytes);
  buf_char(b, '\n');
  line_text(b, "  latency", &x->latency, "ns", 1e-9);
  line_text(b, "  read", &x->read, "GB/s", 1e9);
  line_text(b, "  copy", &x->copy, "GB/s", 1e9);
}

static void level_text(Buf *b, const MachineLevel *l) {
  buf_printf(b, "%s", l->name);
  if (l->parts > 1) buf_printf(b, ", of %lld", (long long)l->parts);
  buf_char(b, '\n');
  for (int t = 0; t < DTYPES; t++)
    for (int r = 0; r < RATES; r++)
      line_text(
          b, arena_printf(b->arena, "%s %s", dtype_name((DType)t), machine_rate_name[r]), &l->rate[t][r], "Gop/s", 1e9);
  for (uint32_t i = 0; i < l->memories.len; i++) memory_text(b, &l->memories.at[i]);
  line_text(b, "a message", &l->link_latency, "us", 1e-6);
  line_text(b, "link", &l->link, "GB/s", 1e9);
}

static void machine_text(Buf *b, const Machine *m) {
  buf_printf(b, "%s\n%s\n\n", m->name, m->made);
  for (uint32_t i = 0; i < m->levels.len; i++) level_text(b, &m->levels.at[i]);
  buf_str(b, "prices\n");
  line_text(b, "a run", &m->run, "ns", 1e-9);
  line_text(b, "a kernel in it", &m->kernel, "ns", 1e-9);
  line_text(b, "one for all threads", &m->parallel, "us", 1e-6);
  line_text(b, "  where they sleep", &m->wake, "us", 1e-6);
  if (m->worth_threads > 0) buf_printf(b, "  a second thread pays from about %.0f operations on\n", m->worth_threads);
}

/* ---- the command ---------------------------------------------------------------------------- */

static int processors(void) {
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) == 0 && CPU_COUNT(&mine) > 0) return CPU_COUNT(&mine);
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 && n <= THREADS_MOST ? (int)n : 1;
}

static void sound(Session *s, const Machine *m, const Buf *json) {
  Diags *d = diags_new(s->arena);
  Buf why = buf_new(s->arena);
  Machine *again = machine_read(s->arena, source_new(s->arena, "machine", json->s, json->len), d);
  if (again && machine_check(m, d) && machine_equal(m, again, &why)) return;
  diags_text(d, &why, false);
  bug("the machine that was measured is none: %s\n%s", why.s, json->s);
}

static Leave processor_measure(Session *s, Args *a, Machine **out) {
  Compiler c;
  int cores;
  Leave l = threads_wanted(s, a, &cores);
  if (!l) l = compiler_find(s, arg_last(a, OPT_CC), arg_last(a, OPT_FLAGS), &c);
  return l ? l : machine_measure(s, a, &c, cores ? cores : processors(), out);
}

Leave cmd_machine(Session *s, Args *a) {
  const char *to = arg_last(a, OPT_OUTPUT), *format = arg_last(a, OPT_FORMAT);
  bool json = format ? strcmp(format, "json") == 0 : to != NULL;
  Buf file = buf_new(s->arena), text = buf_new(s->arena);
  Machine *m;
  if (a->operands.len) return fail(s, LEAVE_USAGE, "ein machine takes no words after it");
  if (arg_has(a, OPT_CUDA) && arg_has(a, OPT_THREADS))
    return fail(s, LEAVE_USAGE, "--threads are a processor's: not with --cuda");
  if (to && !file_writable(s, to)) return LEAVE_MACHINE;
  Leave l = arg_has(a, OPT_CUDA) ? device_measure(s, a, &m) : processor_measure(s, a, &m);
  if (l) return l;
  machine_print(&file, m);
  sound(s, m, &file);
  machine_text(&text, m);
  return file_write(s, to ? to : "-", json ? file.s : text.s, json ? file.len : text.len);
}
