/* driver/compile/runtime_part.c - the runtime's text without the parts that a library never compiles.
 *
 * In: the text of ein_run.h, and what the library is for, hence macros that it never defines. Out: the text without
 * the conditions that these macros decide, and without the lines that they exclude. Other conditions stay as they are.
 * A condition is decided only if its parentheses are all of defined(NAME). */
#include <string.h>

#include "build.h"

typedef enum Truth { NO, YES, OPEN } Truth;

enum { DEPTH = 32 };

typedef struct Level {       /* an #if whose #endif is still to come */
  Truth is;                  /* of the branch that is being read. OPEN: the directives stay */
  bool taken;                /* a branch before was YES */
  bool outside;              /* whether the lines around the #if are printed */
} Level;

typedef struct Parts {
  Buf *out;
  const char *const *never;  /* the macros, up to NULL */
  Level level[DEPTH];
  uint32_t n;
  bool blank;                /* the last line printed is empty */
} Parts;

static bool takes(const char **at, const char *word) {
  size_t n = strlen(word);
  while (**at == ' ') ++*at;
  if (strncmp(*at, word, n) != 0) return false;
  *at += n;
  return true;
}

static Truth term(const Parts *p, const char **at) {
  bool negated = takes(at, "!");
  if (!takes(at, "defined(")) return *at += strcspn(*at, "&|/\n"), OPEN;
  const char *name = *at;
  size_t n = strcspn(name, ")");
  *at += n + 1;
  for (const char *const *m = p->never; *m; m++)
    if (strlen(*m) == n && strncmp(*m, name, n) == 0) return negated ? YES : NO;
  return OPEN;
}

static Truth both(const Parts *p, const char **at) {
  Truth all = term(p, at);
  while (takes(at, "&&")) {
    Truth x = term(p, at);
    all = all == NO || x == NO ? NO : all == YES ? x : OPEN;
  }
  return all;
}

static bool is_plain(const char *at) {
  size_t n = strcspn(at, "/\n");
  for (size_t k = 0; k < n; k++)
    if (at[k] == '\\' || (at[k] == '(' && (k < 7 || strncmp(at + k - 7, "defined", 7) != 0))) return false;
  return true;
}

/* `at` is behind #if or #elif. */
static Truth condition(const Parts *p, const char *at) {
  if (!is_plain(at)) return OPEN;
  Truth any = both(p, &at);
  while (takes(&at, "||")) {
    Truth x = both(p, &at);
    any = any == YES || x == YES ? YES : any == NO ? x : OPEN;
  }
  return any;
}

static bool printed(const Parts *p) {
  return !p->n || (p->level[p->n - 1].outside && p->level[p->n - 1].is != NO);
}

static void line_put(Parts *p, const char *line, size_t n) {
  if (!printed(p) || (n == 1 && p->blank)) return;
  buf_printf(p->out, "%.*s", (int)n, line);
  p->blank = n == 1;
}

static void if_begin(Parts *p, const char *line, size_t n, Truth is) {
  Level x = {.is = is, .taken = is == YES, .outside = printed(p)};
  if (is == OPEN) line_put(p, line, n);
  p->level[p->n++] = x;
}

/* #elif, #else and #endif of an #if that the macros decide. An #elif that they leave open becomes the #if. */
static void branch_begin(Parts *p, const char *line, size_t n) {
  const char *at = line;
  Level *x = &p->level[p->n - 1];
  if (takes(&at, "#endif")) {
    p->n--;
    return;
  }
  x->is = x->taken ? NO : takes(&at, "#elif") ? condition(p, at) : YES;
  x->taken |= x->is == YES;
  if (x->is == OPEN) line_put(p, "#if", 3), line_put(p, at, n - (size_t)(at - line));
}

static void line_read(Parts *p, const char *line, size_t n) {
  const char *at = line;
  if (takes(&at, "#if ")) if_begin(p, line, n, condition(p, at));
  else if (takes(&at, "#if")) if_begin(p, line, n, OPEN);
  else if (!p->n || (!takes(&at, "#el") && !takes(&at, "#endif"))) line_put(p, line, n);
  else if (p->level[p->n - 1].is == OPEN) {
    line_put(p, line, n);
    p->n -= takes(&(const char *){line}, "#endif");
  } else branch_begin(p, line, n);
}

void runtime_part(Buf *out, const char *text, bool device, bool sites) {
  static const char *const for_sites[] = {"EIN_SITES", "EIN_WHOLE", NULL};
  static const char *const unused[] = {
      "EIN_SITES", "EIN_WHOLE", "EIN_CUDA", "EIN_DRIVER", "__CUDACC__", "__CUDACC_RTC__", "__CUDA_ARCH__", NULL};
  Parts p = {.out = out, .never = !device ? unused + (sites ? 2 : 0) : for_sites + (sites ? 2 : 0)};
  for (const char *line = text; *line;) {
    size_t n = strcspn(line, "\n") + 1;
    line_read(&p, line, n);
    line += n;
  }
}
