/* driver/cmd/cmd_check.c - ein check: reports the complaints about programs, as text on stderr or as JSON on stdout. */
#include <string.h>

#include "driver/driver.h"

static Leave worse(Leave a, Leave b) {
  return a > b ? a : b;
}

/* Uses its own arena, unless its complaints are needed later: there may be thousands of programs. */
static Leave check_one(Session *s, const Args *a, const char *path) {
  Job j;
  Session own = *s;
  if (s->collect || s->guest) {
    Leave l = job_compile(s, &j, a, path);
    if (!l) l = limits_check(s, a, &j);
    session_fresh(s);
    return l;
  }
  own.arena = arena_new();
  own.strings = strings_new(own.arena);
  own.exprs = exprs_new(own.arena);
  session_fresh(&own);
  Leave l = job_compile(&own, &j, a, path);
  if (!l) l = limits_check(&own, a, &j);
  arena_free(own.arena);
  return l;
}

Leave cmd_check(Session *s, Args *a) {
  const char *format = arg_last(a, OPT_DIAGNOSTICS);
  if (!a->operands.len) return fail(s, LEAVE_USAGE, "which programs? ein check x.ein");
  Diags *all = diags_new(s->arena);
  if (format && strcmp(format, "json") == 0) s->collect = all;
  Leave l = data_refuse(s, a, "ein check");
  for (uint32_t i = 0; !l && i < a->operands.len; i++) l = worse(l, check_one(s, a, a->operands.at[i]));
  if (!s->collect) return l;
  Buf b = buf_new(s->arena);
  diags_json(all, &b);
  print(s, &b);
  return l;
}
