/* driver/compile/target.c - chooses what runs a program if the command line does not: Clang in this process, else
 * the C compiler, else the reference evaluator, which is reported, as its floats differ in the last digits. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

static bool runs(const Args *a) { return a->command == CMD_RUN || a->command == CMD_EINSUM || a->command == CMD_REPL; }

/* The usual default does not apply to ranks, which run a plan. */
const char *target_said(Session *s, const Args *a) {
  const char *said = arg_last(a, OPT_TARGET), *env = runs(a) && !s->ranks ? getenv("EIN_TARGET") : NULL;
  if (!said && env && *env) said = env;
  return said && strcmp(said, "auto") != 0 ? said : NULL;
}

bool target_device(Session *s, const Args *a) {
  const char *said = target_said(s, a), *emit = arg_last(a, OPT_EMIT);
  return (said && strcmp(said, "cuda") == 0) || (emit && strcmp(emit, "cuda") == 0);
}

/* An environment that selects eval says nothing about how to compile texts that eval cannot run. */
const char *target_compiler(Session *s, const Args *a) {
  const char *said = target_said(s, a);
  return said && !arg_has(a, OPT_TARGET) && strcmp(said, "eval") == 0 ? NULL : said;
}

bool target_jit(Session *s, const Args *a) {
  const char *said = target_compiler(s, a);
  if (arg_has(a, OPT_CC)) return false;
  if (said) return strcmp(said, "jit") == 0;
  return runs(a) && !s->ranks && !arg_has(a, OPT_FLAGS) && jit_plugin(s);
}

/* Texts for several sites have their own evaluator, which runs them by default. */
bool target_compiles(Session *s, const Job *j, const Args *a) {
  bool text = job_of_sites(j);
  const char *said = j->past && !text ? target_compiler(s, a) : target_said(s, a);
  if (said) return strcmp(said, "c") == 0 || strcmp(said, "jit") == 0 || strcmp(said, "cuda") == 0;
  if (text) return false;
  if (j->past || target_jit(s, a) || compiler_there(s, arg_last(a, OPT_CC))) return true;
  say(s,
      "there is no Clang in this ein, and no C compiler: the reference evaluator runs it, slowly; ein doctor says "
      "how to get them");
  return false;
}

/* For targets that are compiled by default. */
bool target_too_wide(Session *s, Job *j, const Args *a) {
  if (target_said(s, a) || j->past || job_of_sites(j)) return false;
  const EinNode *n = job_widest(s, j, a);
  if (n)
    say(s, "%s has %u labels, more than what is compiled may have: the reference evaluator runs it",
        n->name ? n->name->s : "an equation", n->sum->n_out + n->sum->n_red);
  return n != NULL;
}
