/* driver/plan/keep.c - with --memory on one site: how much gradients save of the states of a repeat. In: a program and
 * a limit. Out: job->keep, under which a run fits. A graph's text stays as it is, and is checked. */
#include "sites.h"
#include "driver/compile/native.h"
#include "driver/driver.h"

bool memory_of_run(Session *s, const Job *j, const Args *a) {
  bool runs = a->command == CMD_RUN || a->command == CMD_BUILD || a->command == CMD_PLAN || a->command == CMD_VERIFY ||
      a->command == CMD_BENCH;
  return runs && arg_has(a, OPT_MEMORY) && !arg_has(a, OPT_SITES) && !arg_has(a, OPT_PLAN_FILE) && !s->ranks &&
      !job_of_sites(j) && !target_device(s, a);
}

/* From what saves most to what saves least: each attempt lowers the repeat that saves most. */
Leave memory_of_run_keep(Session *s, Job *j, const Args *a) {
  double most = 0, peak, least = 0;
  Leave l = memory_said(s, a, &most);
  Job t = *j;
  for (t.keep = INT64_MAX; !l; t.keep = t.lower > 2 ? (int64_t)t.lower - 1 : 1) {
    if (t.program && !job_graph_silent(s, &t)) return LEAVE_OK; /* job_graph reports why */
    Job tried = t;
    l = plan_peak(s, &tried, a, &peak);
    if (!l && (least <= 0 || peak < least)) least = peak, j->keep = t.keep;
    if (peak <= most || t.lower <= 0) break;
  }
  if (l || least <= most) return l;
  return fail(s, LEAVE_PROGRAM, "a run takes %s (%.0f bytes) at least, and --memory is %s", bytes_of(s->arena, least),
      least, bytes_of(s->arena, most));
}
