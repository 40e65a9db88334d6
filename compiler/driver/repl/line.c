/* driver/repl/line.c - lines, plainly: see line.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "line.h"

struct Lines {
  Arena *arena;
  bool terminal;
  char *text;                /* getline's */
  size_t room;
};

Lines *lines_open(Prompt *p, bool terminal) {
  (void)p;
  Arena *a = arena_new();
  Lines *l = NEW(a, Lines);
  *l = (Lines){.arena = a, .terminal = terminal};
  return l;
}

const char *lines_next(Lines *l, const char *prompt) {
  if (l->terminal) fputs(prompt, stdout), fflush(stdout);
  ssize_t n = getline(&l->text, &l->room, stdin);
  if (n < 0) return NULL;
  while (n > 0 && (l->text[n - 1] == '\n' || l->text[n - 1] == '\r')) l->text[--n] = 0;
  return l->text;
}

void lines_close(Lines *l) {
  free(l->text);
  arena_free(l->arena);
}
