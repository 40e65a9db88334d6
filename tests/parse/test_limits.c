/* suite: ci */
/* What is too much: nesting without end, lines without end, bytes without sense. Nothing may crash,
 * and time is bounded by length: the scanner is tried with 100 MB, the parser with what it takes.
 */
#include "front/parse/scan.h"
#include "parsing.h"

#include <stdlib.h>
#include <time.h>

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* head, n times piece, tail */
static char *repeated(const char *head, const char *piece, size_t n, const char *tail,
                      size_t *len) {
  size_t h = strlen(head), k = strlen(piece), t = strlen(tail);
  char *s = malloc(h + k * n + t + 1);
  if (!s) abort();
  memcpy(s, head, h);
  for (size_t i = 0; i < n; i++) memcpy(s + h + i * k, piece, k);
  memcpy(s + h + n * k, tail, t + 1);
  *len = h + k * n + t;
  return s;
}

static bool complains(const Parsed *p, const char *code) {
  for (uint32_t i = 0; i < p->diags->all.len; i++)
    if (strcmp(diag_info(p->diags->all.at[i]->code)->code, code) == 0) return true;
  return false;
}

static void deep(void) {
  static const char *const pieces[] = {
      "(",       "a[",    "x[(",  "-",       "not ", "if ",   "if a then b else ",
      "sum[k] ", "sum[(", "a ^ ", "max(1, ", "f32(", "x - (", "a ?? -(",
      "f[j](",   "[",     "{"};
  size_t n;
  for (size_t i = 0; i < COUNT(pieces); i++) {
    size_t times = (PROGRAM_BYTES - 100) / strlen(pieces[i]);
    if (times > 1000000) times = 1000000;
    char *s = repeated("x = ", pieces[i], times, "\ny = 1\n", &n);
    Parsed p = parse_text(s, n);
    OK(p.file->broken && (complains(&p, "E007") || complains(&p, "E001")), "%zu times %s", times,
       pieces[i]);
    OK(p.diags->all.len <= 2, "one complaint or two");
    complaints_of(&p);
    arena_free(p.arena);
    free(s);
  }
  char *s = repeated("", "repeat t < 1 {\n", 1000000, "", &n);
  Parsed p = parse_text(s, n);
  OK(complains(&p, "E007"), "a million blocks");
  arena_free(p.arena);
  free(s);
}

static void fitting(const char *head, const char *piece, size_t times, const char *tail) {
  size_t n;
  char *s = repeated(head, piece, times, tail, &n);
  Parsed p = parse_text(s, n);
  OK(!p.file->broken, "%zu times %s", times, piece);
  Buf once = fmt_of(&p);
  Parsed q = parse_text(once.s, once.len);
  OK(strcmp(fmt_of(&q).s, once.s) == 0 && strcmp(tree_of(&p), tree_of(&q)) == 0, "fmt keeps the limits");
  arena_free(p.arena);
  arena_free(q.arena);
  free(s);
}

static void allowed(void) {
  fitting("x = ", "-", 999, "1");
  fitting("x = ", "a ^ ", 999, "1");
  fitting("x = ", "if a then b else ", 999, "1");
  fitting("x = 1", " + a * 2", 100000, "");
  fitting("x = 1", " ?? a", 100000, "");
  fitting("x = f(1", ", a", 100000, ")");
  fitting("x = x[1", ", a", 100000, "]");
  fitting("x = 1", "; x = 1", 100000, "");
  fitting("", "# x\n", 100000, "");
}

static void on_fault(void *env, Fault f, uint32_t at, uint32_t end) {
  (void)f, (void)at, (void)end;
  ++*(int *)env;
}

static void on_comment(void *env, uint32_t at, uint32_t end) {
  (void)env, (void)at, (void)end;
}

static bool scans(const char *s, size_t n) {
  int faults = 0;
  Scanner k = {.env = &faults, .fault = on_fault, .comment = on_comment};
  scan_start(&k, s, (uint32_t)n);
  while (scan(&k).kind != TOK_EOF) continue;
  return faults == 0;
}

static void long_line(const char *head, const char *piece, const char *tail, bool good) {
  size_t n;
  char *s = repeated(head, piece, 100000000 / strlen(piece), tail, &n);
  double t = seconds();
  bool clean = scans(s, n);
  OK(seconds() - t < 20, "100 MB of `%c...` in %.2f s", *piece == '\n' ? ' ' : *piece,
     seconds() - t);
  OK(clean == (good || *piece == '1'), "faults where they are");
  free(s);
  s = repeated(head, piece, (PROGRAM_BYTES - 100) / strlen(piece), tail, &n);
  Parsed p = parse_text(s, n);
  OK(p.file->broken == !good, "16 MB of it parse");
  complaints_of(&p);
  arena_free(p.arena);
  free(s);
}

static void long_lines(void) {
  long_line("# ", "comment", "", true);
  long_line("", "ident", " = 1", true);
  long_line("x = ", " ", "1", true);
  long_line("use \"", "path", "\"", true);
  long_line("use \"", "path", "", false);
  long_line("x = ", "1234567890", "", false);
  long_line("x = 0.", "1234567890", "", true);
  long_line("", "\n", "", true);
}

static void too_long(void) {
  size_t n;
  char *s = repeated("x = 1", " ", PROGRAM_BYTES, "", &n);
  Parsed p = parse_text(s, n);
  OK(p.file->broken && complains(&p, "E097"), "more is refused");
  arena_free(p.arena);
  free(s);
}

static void speed(void) {
  Arena *a = arena_new();
  Buf b = buf_new(a);
  for (int i = 0; i < 100000; i++)
    buf_printf(&b, "Z%d[i,k] = sum[j] A[i,j] * B%d[j,k] + 1.5\n", i, i % 7);
  double best = 1e9;
  for (int i = 0; i < 3; i++) {
    double t = seconds();
    Parsed p = parse_text(b.s, b.len);
    t = seconds() - t;
    best = t < best ? t : best;
    OK(!p.file->broken && p.file->stmts.len == 100000, "100000 equations");
    arena_free(p.arena);
  }
  printf("# in %.3f s\n", best);
  OK(best < 5, "fast"); /* 0.3 s is the aim; a sanitizer and a busy machine may take their time */
  arena_free(a);
}

static void noise(void) {
  static const char *const bits[] = {"x",
                                     "[",
                                     "]",
                                     "(",
                                     ")",
                                     "{",
                                     "}",
                                     "=",
                                     "==",
                                     "+",
                                     "-",
                                     "*",
                                     "\n",
                                     "\n  ",
                                     ";",
                                     ",",
                                     ":",
                                     "if",
                                     "then",
                                     "else",
                                     "sum",
                                     "[k]",
                                     "count",
                                     "def",
                                     "repeat",
                                     "t < 3",
                                     "until",
                                     "state",
                                     "next",
                                     "where",
                                     "not",
                                     "f32",
                                     "1",
                                     "2.5",
                                     "\"s\"",
                                     "# c\n",
                                     "use",
                                     "assert",
                                     "output",
                                     "dim",
                                     "input",
                                     "??",
                                     "&&",
                                     "+=",
                                     "monoid",
                                     "identity",
                                     "\xff",
                                     "\xE2\x80\xAE",
                                     "é",
                                     "e\xCC\x81",
                                     "\r",
                                     "'",
                                     "9223372036854775808"};
  uint64_t r = 1;
  for (int round = 0; round < 3000; round++) {
    char s[400];
    size_t n = 0;
    while (n < sizeof s - 24) {
      r = r * 6364136223846793005u + 1442695040888963407u;
      if (round % 3 == 0) {
        s[n++] = (char)(r >> 40);
      } else {
        const char *w = bits[(r >> 33) % COUNT(bits)];
        n += (size_t)snprintf(s + n, 24, "%s%s", w, round % 3 == 1 ? " " : "");
      }
    }
    Parsed p = parse_text(s, n);
    complaints_of(&p);
    tree_of(&p);
    if (p.file->broken != (p.diags->errors > 0))
      OK(false, "broken says whether there were complaints");
    arena_free(p.arena);
  }
  OK(true, "noise");
}

int main(void) {
  deep();
  allowed();
  long_lines();
  too_long();
  speed();
  noise();
  return DONE();
}
