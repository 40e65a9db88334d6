/* driver/measure/peers.c - ein bench --peers: the benchmark against other libraries (bench/peers.py), which this
 * process execs. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "driver/compile/native.h"

/* Refuses options for a single program. */
static Leave options_check(Session *s, const Args *a) {
  static const OptionId alone[] = {OPT_DIM, OPT_FLAGS, OPT_FORMAT, OPT_COMPARE, OPT_PARAMS};
  for (size_t k = 0; k < COUNT(alone); k++)
    if (arg_has(a, alone[k]))
      return fail(s, LEAVE_USAGE, "--%s is for a program, not for --peers", options[alone[k]].name);
  return LEAVE_OK;
}

static void word_give(Session *s, Words *w, const char *word) { vec_push(s->arena, *w, word); }

static void option_give(Session *s, Words *w, const char *name, const char *value) {
  if (!value) return;
  word_give(s, w, name);
  word_give(s, w, value);
}

Leave bench_peers(Session *s, const Args *a) {
  Leave l = options_check(s, a);
  if (l) return l;
  const char *folder = folder_beside(s, "EIN_BENCH", "bench", "peers.py"), *self = program_folder(s);
  if (!folder) return fail(s, LEAVE_MACHINE, "the benchmark is not found; set EIN_BENCH to the folder of peers.py");
  if (!self) return fail(s, LEAVE_MACHINE, "where this program lies is not known; run %s/peers.py", folder);
  Words w = {0};
  word_give(s, &w, "python3");
  word_give(s, &w, arena_printf(s->arena, "%s/peers.py", folder));
  word_give(s, &w, arena_printf(s->arena, "%sein", self));
  option_give(s, &w, "--threads", arg_last(a, OPT_THREADS));
  option_give(s, &w, "--rounds", arg_last(a, OPT_REPS));
  option_give(s, &w, "--cc", arg_last(a, OPT_CC));
  option_give(s, &w, "--machine", arg_last(a, OPT_MACHINE));
  option_give(s, &w, "--json", arg_last(a, OPT_OUTPUT));
  if (a->operands.len) word_give(s, &w, "--group");
  for (uint32_t i = 0; i < a->operands.len; i++) word_give(s, &w, a->operands.at[i]);
  word_give(s, &w, NULL);
  execvp(w.at[0], (char *const *)(uintptr_t)w.at);
  return fail(s, LEAVE_MACHINE, "cannot run python3: %s", strerror(errno));
}
