/* driver/repl/line.c - lines of a pipe, or of a terminal without libedit; else edit.c has them. See line.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/native.h"
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
  Lines *l = NEW(a, Lines);
  *l = (Lines){.arena = a, .terminal = terminal};
#ifdef EIN_LIBEDIT
  const char *term = getenv("TERM");
  if (terminal && term && strcmp(term, "dumb") != 0) l->edit = edit_open(p);
#else
  (void)p;
#endif
  return l;
}

/* A terminal gives lines; false: Ctrl-C was typed, with which the terminal drops what stands on its line. */
static bool line_comes(void) {
  struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
  interrupt_clear();
  while (poll(&in, 1, -1) < 0 && errno == EINTR)
    if (interrupted()) return false;
  return true;
}

const char *lines_next(Lines *l, const char *prompt, bool *dropped) {
  *dropped = false;
#ifdef EIN_LIBEDIT
  if (l->edit) return edit_next(l->edit, prompt, dropped);
#endif
  if (l->terminal) fputs(prompt, stdout), fflush(stdout);
  if (l->terminal && !line_comes()) return *dropped = true, fputs("\n", stdout), "";
  ssize_t n = getline(&l->text, &l->room, stdin);
  if (n < 0) return NULL;
  while (n > 0 && (l->text[n - 1] == '\n' || l->text[n - 1] == '\r')) l->text[--n] = 0;
  return l->text;
}

void lines_close(Lines *l) {
#ifdef EIN_LIBEDIT
  if (l->edit) edit_close(l->edit);
#endif
  free(l->text);
  arena_free(l->arena);
}
