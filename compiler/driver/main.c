/* driver/main.c - the command's door: words to Args, Args to a command, its answer to an exit code. */
#include <unistd.h>

#include "ein.h"
#include "driver.h"

static Leave without_command(Session *s, Args *a) {
  Buf b = buf_new(s->arena);
  if (arg_has(a, OPT_VERSION)) return cmd_version(s, a);
  if (arg_has(a, OPT_COMPLETIONS)) return help_completions(s, arg_last(a, OPT_COMPLETIONS));
  if (arg_has(a, OPT_MAN))
    help_man(&b);
  else if (arg_has(a, OPT_HELP))
    help_all(&b);
  else if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
    a->command = CMD_REPL;
    return cmd_repl(s, a);
  } else
    return fail(s, LEAVE_USAGE, "no command given; ein --help lists them");
  print(&b);
  return LEAVE_OK;
}

static Leave command_help(Session *s, CommandId c) {
  Buf b = buf_new(s->arena);
  help_command(&b, c);
  print(&b);
  return LEAVE_OK;
}

int main(int argc, char **argv) {
  Session *s = session_new();
  Args a = {.command = COMMANDS};
  s->words = (const char *const *)argv + (argc > 0);
  Leave l =
      argc > 1 ? args_read(s, &a, (uint32_t)argc - 1, (const char *const *)argv + 1) : LEAVE_OK;
  if (l == LEAVE_OK) {
    if (a.command == COMMANDS)
      l = without_command(s, &a);
    else if (arg_has(&a, OPT_HELP))
      l = command_help(s, a.command);
    else
      l = commands[a.command].run(s, &a);
  }
  return (int)session_end(s, l);
}
