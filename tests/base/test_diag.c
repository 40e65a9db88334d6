/* Unit tests of base: sources, places, and complaints as text and as JSON. */
#include "../tap.h"
#include "base/diag.h"

static Arena *arena;

static Source *source(const char *name, const char *text) {
  return source_new(arena, name, text, strlen(text));
}

/* The n-th place (from 0) where `what` stands in the source. */
static Span span(Source *s, const char *what, int n) {
  const char *p = s->bytes;
  while ((p = strstr(p, what)) && n-- > 0) p++;
  uint32_t at = p ? (uint32_t)(p - s->bytes) : s->len;
  return (Span){s, at, at + (uint32_t)strlen(what)};
}

static const char *text(Diags *d) {
  Buf b = buf_new(arena);
  diags_text(d, &b, false);
  return b.s;
}

static void test_places(void) {
  Source *s = source("a.ein", "ab\n\xCE\xA3x\n\n");
  static const uint32_t want[][3] = {{0, 1, 1}, {2, 1, 3}, {3, 2, 1}, {5, 2, 2},
                                     {6, 2, 3}, {7, 3, 1}, {8, 4, 1}, {99, 4, 1}};
  for (size_t k = 0; k < 2 * COUNT(want); k++) { /* forwards, then backwards */
    size_t i = k < COUNT(want) ? k : 2 * COUNT(want) - 1 - k;
    uint32_t line, column;
    source_place(arena, s, want[i][0], &line, &column);
    OK(line == want[i][1] && column == want[i][2], "byte %u is at %u:%u", want[i][0], line, column);
  }
  const char *why = "";
  OK(!source_read(arena, "/nowhere/at.ein", &why) && *why, "source_read: %s", why);
  OK(!source_read(arena, "/", &why) && strcmp(why, "is a directory") == 0, "source_read: /");
  OK(!source_read(arena, "/dev/null", &why), "source_read: %s", why);
}

static void test_infos(void) {
  OK(diag_info_find("e060") == diag_info(D_E060) && !diag_info_find("E999"), "diag_info_find");
  bool sorted = true;
  for (DiagCode c = (DiagCode)1; c < DIAG_CODES; c++)
    sorted = sorted && strcmp(diag_info((DiagCode)(c - 1))->code, diag_info(c)->code) < 0;
  OK(sorted, "diags.def is sorted");
  bool kinds = true;
  for (DiagCode c = (DiagCode)0; c < DIAG_CODES; c++)
    kinds = kinds && (diag_info(c)->code[0] == 'W') == (diag_info(c)->kind == DIAG_WARNING);
  OK(kinds, "diags.def: W is a warning, anything else an error");
}

static void test_one_line(void) {
  Diags *d = diags_new(arena);
  Source *s = source("attention.ein", "# one\nT[h,s,s'] = sum[d] QH[s,h,d] * KH[s',h,d]\n");
  Diag *g = diag_add(d, D_E060, span(s, "QH", 0), "label %s is %d in QH but 64 in KH", "d", 128);
  diag_note(d, g, "128, from QH");
  diag_at(d, g, span(s, "KH", 0), "64, from KH");
  diag_at(d, g, span(s, "d]", 0), "the label");
  diag_hint(d, g, "first\nsecond");
  OK_STR(text(d),
         "attention.ein:2:20: error[E060]: label d is 128 in QH but 64 in KH\n"
         "    2 | T[h,s,s'] = sum[d] QH[s,h,d] * KH[s',h,d]\n"
         "      |                 ^^ ^^          ^^ 64, from KH\n"
         "      |                 |  128, from QH\n"
         "      |                 the label\n"
         "      = help: first\n"
         "              second\n",
         "three spans on a line");
}

static void test_nested(void) {
  Diags *d = diags_new(arena);
  Source *s = source("n.ein", "Z[i] = f(a + b)\n");
  Diag *g = diag_add(d, D_E001, span(s, "f(a + b)", 0), "outer");
  diag_note(d, g, "all of it");
  diag_at(d, g, span(s, "a", 0), "part");
  OK_STR(text(d),
         "n.ein:1:8: error[E001]: outer\n"
         "    1 | Z[i] = f(a + b)\n"
         "      |        ^^^^^^^^\n"
         "      |        | part\n"
         "      |        all of it\n",
         "a span within another");
}

static void test_lines_and_files(void) {
  Diags *d = diags_new(arena);
  Source *s = source("b.ein", "Z = 1\r\n\r\nZ = 2\r\n"), *t = source("lib.ein", "\nZ = 3");
  Diag *g = diag_add(d, D_E050, span(s, "Z", 1), "Z is defined already");
  diag_at(d, g, span(s, "Z", 0), "here");
  diag_at(d, g, span(t, "Z", 0), "and here");
  diag_at(d, g, (Span){0}, "and on the command line");
  diag_add(d, D_W001, (Span){0}, "nowhere");
  diag_add(d, D_E001, (Span){s, s->len, s->len}, "end of file");
  OK_STR(text(d),
         "warning[W001]: nowhere\n"
         "b.ein:3:1: error[E050]: Z is defined already\n"
         "    3 | Z = 2\n"
         "      | ^\n"
         "    1 | Z = 1\n"
         "      | ^ here\n"
         "   --> lib.ein:2:1\n"
         "    2 | Z = 3\n"
         "      | ^ and here\n"
         "      = note: and on the command line\n"
         "b.ein:4:1: error[E001]: end of file\n"
         "    4 |\n"
         "      | ^\n",
         "further lines, further files, nowhere, the end");
  OK(d->errors == 2 && d->warnings == 1, "counts");
}

static void test_strange_bytes(void) {
  Diags *d = diags_new(arena);
  Source *s = source("\x1b.ein", "\xE4\xB8\xAD\xCC\x81\t\xE2\x80\xAE\xff\x1b x");
  diag_note(d, diag_add(d, D_E002, span(s, "x", 0), "not \xE2\x80\xAE this"), "here");
  OK_STR(text(d),
         "\\x1b.ein:1:8: error[E002]: not \\u{202e} this\n"
         "    1 | \xE4\xB8\xAD\xCC\x81    \\u{202e}\\xff\\x1b x\n"
         "      |                        ^ here\n",
         "wide, combining, tab, bidi, invalid, control");
}

#define ALPHA  "abcdefghijklmnopqrstuvwxyz"
#define BLANKS "                                                                                        "
#define CARETS                                                                                     \
  "^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"                                             \
  "^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"

static void test_long_line(void) {
  Diags *d = diags_new(arena);
  static char line[5000];
  for (size_t i = 0; i + 1 < sizeof line; i++) line[i] = (char)('a' + i % 26);
  Source *s = source("long.ein", line);
  Diag *g = diag_add(d, D_E001, (Span){s, 2500, 2503}, "middle");
  diag_note(d, g, "first");
  diag_at(d, g, (Span){s, 2510, 2511}, "near");
  diag_at(d, g, (Span){s, 4990, 4999}, "far");
  diag_at(d, g, (Span){s, 0, 4999}, "all");
  const char *got = text(d), *want =
         "long.ein:1:2501: error[E001]: middle\n"
         "    1 | ...mnopqrstuvwxyz" ALPHA ALPHA ALPHA "abcdefgh...\n"
         "      |                                                ^^^       ^ near\n"
         "      |                                                first\n"
         "    1 | ...lmnopqrstuvwxyz" ALPHA ALPHA ALPHA "abcdefg\n"
         "      | " BLANKS "      ^^^^^^^^^ far\n"
         "    1 | " ALPHA ALPHA ALPHA "abcdefghijklmnopqrstuv...\n"
         "      | " CARETS " all\n";
  OK_STR(got, want, "a long line in windows");
}

static void test_limits(void) {
  Diags *d = diags_new(arena);
  Source *s = source("l.ein", "x y\n");
  diag_add(d, D_E001, span(s, "y", 0), "second");
  Diag *again = diag_add(d, D_E001, span(s, "y", 0), "second again");
  diag_at(d, again, span(s, "x", 0), "harmless");
  diag_hint(d, again, "harmless");
  diag_add(d, D_E001, span(s, "x", 0), "first");
  OK(d->errors == 2 && d->all.len == 2, "the same complaint at the same place is kept once");
  OK_STR(text(d),
         "l.ein:1:1: error[E001]: first\n    1 | x y\n      | ^\n"
         "l.ein:1:3: error[E001]: second\n    1 | x y\n      |   ^\n",
         "sorted by place");
  for (int i = 0; i < 100; i++) diag_add(d, D_E002, (Span){0}, "many");
  OK(d->errors == 102 && d->all.len == 50, "the limit");
  OK_STR(text(diags_new(arena)), "", "none");
  char cut[] = "abc\303\251def";
  text_clip(cut, 9);
  OK_STR(cut, "abc\303\251def", "what fits is not cut");
  text_clip(cut, 7);
  OK_STR(cut, "abc...", "no code point is cut in two");
  const char *name = arena_printf(arena, "%0100000d", 7);
  Diag *g = diag_add(diags_new(arena), D_E001, span(s, "x", 0), "%s is unknown", name);
  OK(strlen(g->text) == 2000, "a complaint about a long name: %zu bytes", strlen(g->text));
}

static void test_json(void) {
  Diags *d = diags_new(arena);
  Source *s = source("j.ein", "x\ny\n");
  diag_hint(d, diag_add(d, D_E070, span(s, "x\ny", 0), "what is \"x\"?"), "y");
  Buf b = buf_new(arena);
  diags_json(d, &b);
  OK_STR(b.s,
         "[\n  {\n    \"code\": \"E070\",\n    \"kind\": \"error\",\n    \"slug\": \"not-defined\",\n"
         "    \"message\": \"what is \\\"x\\\"?\",\n    \"spans\": [\n      {\n        \"file\": \"j.ein\",\n"
         "        \"line\": 1,\n        \"column\": 1,\n        \"end_line\": 2,\n        \"end_column\": 2,\n"
         "        \"note\": null\n      }\n    ],\n    \"hints\": [\n      \"y\"\n    ]\n  }\n]\n",
         "json");
  Buf c = buf_new(arena);
  diags_text(d, &c, true);
  OK(strstr(c.s, "\033[1;31merror[E070]") != NULL, "colours");
}

int main(void) {
  arena = arena_new();
  test_places();
  test_infos();
  test_one_line();
  test_nested();
  test_lines_and_files();
  test_strange_bytes();
  test_long_line();
  test_limits();
  test_json();
  arena_free(arena);
  return DONE();
}
