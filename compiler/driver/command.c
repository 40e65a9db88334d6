/* driver/command.c - the entry point of commands: from words to Args, from Args to a command. */
#include <unistd.h>

#include "ein.h"
#include "driver.h"

static Leave without_command(Session *s, Args *a) {
  Buf b = buf_new(s->arena);
  if (arg_has(a, OPT_VERSION)) return cmd_version(s, a);
  if (arg_has(a, OPT_COMPLETIONS)) return help_completions(s, arg_last(a, OPT_COMPLETIONS));
  if (arg_has(a, OPT_GRAMMAR)) return help_grammar(s, arg_last(a, OPT_GRAMMAR));
  if (arg_has(a, OPT_MAN))
    help_man(&b);
  else if (arg_has(a, OPT_HELP))
    help_all(&b);
  else if (!s->guest && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
    a->command = CMD_REPL;
    return cmd_repl(s, a);
  } else
    return fail(s, LEAVE_USAGE, "no command given; ein --help lists them");
  print(s, &b);
  return LEAVE_OK;
}

static Leave command_help(Session *s, CommandId c) {
  Buf b = buf_new(s->arena);
  help_command(&b, c);
  print(s, &b);
  return LEAVE_OK;
}

/* Refuses what reads standard input, or execs another program. */
static Leave guest_may(Session *s, const Args *a) {
  const char *what = a->command == CMD_REPL ? "ein repl"
      : a->command == CMD_JUPYTER           ? "ein jupyter"
      : arg_has(a, OPT_NP)                  ? "--np"
      : arg_has(a, OPT_PEERS)               ? "--peers"
                                            : NULL;
  return s->guest && what ? fail(s, LEAVE_USAGE, "%s wants a process of its own, and here ein is a library", what)
                          : LEAVE_OK;
}

/* Refuses -o with the program that the command reads. ein fmt may replace it, and later languages their text. */
static Leave program_kept(Session *s, const Args *a) {
  const Words *to = &a->given[OPT_OUTPUT];
  for (uint32_t i = 0; a->command != CMD_FMT && i < to->len; i++) {
    Str name;
    const char *path = to->at[i];
    word_split(s, path, &name, &path);
    for (uint32_t k = 0; k < a->operands.len; k++)
      if (ein_ends_in(a->operands.at[k], ".ein") && file_same(a->operands.at[k], path))
        return fail(s, LEAVE_USAGE, "-o %s would replace the program; give it another name", to->at[i]);
  }
  return LEAVE_OK;
}

Leave command_do(Session *s, uint32_t n, const char *const *word) {
  Args a = {.command = COMMANDS};
  s->words = word;
  Leave l = n ? args_read(s, &a, n, word) : LEAVE_OK;
  if (l) return l;
  if (a.command == COMMANDS) return without_command(s, &a);
  if (arg_has(&a, OPT_HELP)) return command_help(s, a.command);
  l = guest_may(s, &a);
  if (!l) l = program_kept(s, &a);
  return l ? l : commands[a.command].run(s, &a);
}
