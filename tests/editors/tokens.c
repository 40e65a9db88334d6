/* tests/editors/tokens.c - the scanner's tokens of standard input, a line of them for each line: KIND:FROM:TO, in
 * bytes. No token of the language goes beyond its line, so each is scanned by itself. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/parse/scan.h"

/* A number that is none is scanned as one, so that one mistake is told of once. */
static void fault(void *env, Fault f, uint32_t at, uint32_t end) {
  (void)at, (void)end;
  if (f == FAULT_NUMBER) *(bool *)env = true;
}

static void comment(void *env, uint32_t at, uint32_t end) {
  (void)env;
  printf("COMMENT:%u:%u ", at, end);
}

static const char *kind_name(int kind) {
  switch (kind) {
#define TOKEN(id, name, facts) \
  case TOK_##id: return #id;
    TOKENS(TOKEN)
#undef TOKEN
  case TOK_SEMI: return "SEMI";
  case TOK_SLIP: return "SLIP";
  default: return "BAD";
  }
}

int main(void) {
  char *line = NULL;
  size_t room = 0;
  ssize_t n;
  while ((n = getline(&line, &room, stdin)) > 0) {
    if (line[n - 1] == '\n') line[--n] = 0;
    bool bad = false;
    Scanner s = {.env = &bad, .fault = fault, .comment = comment};
    scan_start(&s, line, (uint32_t)n);
    for (Token t; (t = scan(&s)).kind != TOK_EOF; bad = false)
      printf("%s:%u:%u ", bad ? "BAD" : kind_name(t.kind), t.at, t.end);
    putchar('\n');
  }
  free(line);
  return 0;
}
