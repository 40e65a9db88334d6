/* driver/cmd_build.c - ein build: so far up to the EinGraph, printed. */
#include <string.h>

#include "driver.h"

static Leave stop_known(Session *s, const char *stop) {
  static const char *const later[] = {"plan", "tra", "ia", "task", "loop"};
  if (!stop)
    return fail(
        s, LEAVE_USAGE,
        "executables and libraries come with a later step; this ein has ein build --stop=graph");
  if (strcmp(stop, "graph") == 0) return LEAVE_OK;
  for (size_t i = 0; i < COUNT(later); i++)
    if (strcmp(stop, later[i]) == 0)
      return fail(s, LEAVE_USAGE, "--stop=%s comes with a later step; this ein has --stop=graph",
                  stop);
  return fail(s, LEAVE_USAGE, "--stop=%s: there is no such language; this ein has --stop=graph",
              stop);
}

Leave cmd_build(Session *s, Args *a) {
  const char *to = arg_last(a, OPT_OUTPUT);
  Leave l = stop_known(s, arg_last(a, OPT_STOP));
  if (l) return l;
  if (a->operands.len != 1)
    return fail(s, LEAVE_USAGE, "one program, please: ein build x.ein --stop=graph");
  Job j;
  l = job_compile(s, &j, a, a->operands.at[0]);
  if (l) return l;
  Buf b = buf_new(s->arena);
  graph_print(&b, j.graph);
  return file_write(s, to ? to : "-", b.s, b.len);
}
