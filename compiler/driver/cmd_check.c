/* driver/cmd_check.c - ein check: the complaints about programs, as text on stderr or as JSON on
 * stdout. */
#include <string.h>

#include "driver.h"

static Leave worse(Leave a, Leave b) {
  return a > b ? a : b;
}

Leave cmd_check(Session *s, Args *a) {
  const char *format = arg_last(a, OPT_DIAGNOSTICS);
  if (!a->operands.len) return fail(s, LEAVE_USAGE, "which programs? ein check x.ein");
  Diags *all = diags_new(s->arena);
  if (format && strcmp(format, "json") == 0) s->collect = all;
  Leave l = LEAVE_OK;
  for (uint32_t i = 0; i < a->operands.len; i++) {
    Job j;
    l = worse(l, job_compile(s, &j, a, a->operands.at[i]));
    session_fresh(s);
  }
  if (!s->collect) return l;
  Buf b = buf_new(s->arena);
  diags_json(all, &b);
  print(&b);
  return l;
}
