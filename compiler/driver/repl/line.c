/* driver/repl/line.c - lines of a pipe, or of a terminal without libedit; otherwise edit.c reads them. See line.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

#include "driver/compile/native.h"
#include "line.h"

struct Lines {
  Arena *arena;
  bool terminal;
  void *edit;                /* NULL: plainly */
  char *text;                /* getline's */
  size_t room;
};

bool lines_edited(void) {
#ifdef EIN_LIBEDIT
  return true;
#else
  return false;
#endif
}

Lines *lines_open(Prompt *p, bool terminal) {
  Arena *a = arena_new();
  Lines *l = MAKE(a, Lines, .arena = a, .terminal = terminal);
#ifdef EIN_LIBEDIT
  const char *term = getenv("TERM");
  if (terminal && term && *term && strcmp(term, "dumb") != 0) l->edit = edit_open(p);
#else
  (void)p;
#endif
  return l;
}

/* Waits for a line from a terminal; false: Ctrl-C was typed, and the terminal dropped its line. No signal is lost
 * from the prompt on: it arrives while we wait, and only then. */
static bool line_comes(const char *prompt) {
  sigset_t interrupts, before;
  fd_set in;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupts, &before);
  interrupt_clear();
  fputs(prompt, stdout);
  fflush(stdout);
  do {
    FD_ZERO(&in);
    FD_SET(STDIN_FILENO, &in);
  } while (pselect(STDIN_FILENO + 1, &in, NULL, NULL, NULL, &before) < 0 && errno == EINTR && !interrupted());
  sigprocmask(SIG_SETMASK, &before, NULL);
  return !interrupted();
}

const char *lines_next(Lines *l, const char *prompt, bool *dropped, size_t *n) {
  *dropped = false;
  *n = 0;
#ifdef EIN_LIBEDIT
  if (l->edit) {
    const char *line = edit_next(l->edit, prompt, dropped);
    if (line) *n = strlen(line);
    return line;
  }
#endif
  if (l->terminal && !line_comes(prompt)) return *dropped = true, fputs("\n", stdout), "";
  ssize_t got = getline(&l->text, &l->room, stdin);
  if (got < 0) {
    if (l->terminal) clearerr(stdin); /* Ctrl-D ends what is being typed, and perhaps no more */
    return NULL;
  }
  while (got > 0 && (l->text[got - 1] == '\n' || l->text[got - 1] == '\r')) l->text[--got] = 0;
  *n = (size_t)got;
  return l->text;
}

void lines_close(Lines *l) {
#ifdef EIN_LIBEDIT
  if (l->edit) edit_close(l->edit);
#endif
  free(l->text);
  arena_free(l->arena);
}
