/* tests/algebra/test_programs.c - the programs in tests/algebra, as they stand: each reads, is sound, comes back equal
 * in all fields, and prints as it is written, but for its remarks. */
#include <dirent.h>
#include <stdlib.h>

#include "algebra/algebra.h"
#include "tap.h"

static const char *const programs[] = {
    "bmm.ia",
    "causal.tra",
    "cmm.ia",
    "diagonal.tra",
    "diagonal_below.ia",
    "halo.tra",
    "powers.tra",
    "recut.tra",
    "rmm.ia",
    "square.tra",
};

static bool file_read(Buf *out, const char *path) {
  FILE *f = fopen(path, "rb");
  char s[4096];
  if (!f) return false;
  for (size_t n; (n = fread(s, 1, sizeof s, f)) > 0;) buf_add(out, s, n);
  return fclose(f) == 0;
}

/* Without lines that begin with #. */
static void without_remarks(Buf *out, const char *s) {
  while (*s) {
    const char *end = strchr(s, '\n');
    size_t n = end ? (size_t)(end - s) + 1 : strlen(s);
    if (*s != '#') buf_add(out, s, n);
    s += n;
  }
}

static Algebra *read_text(Arena *a, const char *name, const Buf *text) {
  Diags *d = diags_new(a);
  Buf b = buf_new(a);
  Algebra *p = algebra_read(a, strings_new(a), source_new(a, name, text->s, text->len), d);
  diags_text(d, &b, false);
  if (!p) tap_text("complaints", b.s);
  return p;
}

static void check_program(const char *name) {
  Arena *a = arena_new();
  Buf text = buf_new(a), plain = buf_new(a), out = buf_new(a), why = buf_new(a);
  if (!OK(file_read(&text, arena_printf(a, "tests/algebra/%s", name)), "%s is there", name)) return;
  without_remarks(&plain, text.s);
  Algebra *p = read_text(a, name, &text);
  if (OK(p, "%s reads", name)) {
    if (!OK(algebra_check(p, &why), "%s is sound", name)) tap_text("check", why.s);
    algebra_print(&out, p);
    OK_STR(out.s, plain.s, "%s prints as it is written", name);
    Algebra *q = read_text(a, name, &out);
    why = buf_new(a);
    if (!OK(q && algebra_equal(p, q, &why) && algebra_equal(q, p, &why), "%s comes back", name)) tap_text("why", why.s);
  }
  arena_free(a);
}

/* None is forgotten. */
static void check_list(void) {
  DIR *d = opendir("tests/algebra");
  uint32_t n = 0;
  for (const struct dirent *e; d && (e = readdir(d));) {
    const char *dot = strrchr(e->d_name, '.');
    n += dot && (strcmp(dot, ".tra") == 0 || strcmp(dot, ".ia") == 0);
  }
  if (d) closedir(d);
  OK_INT(n, COUNT(programs), "all programs of the folder are in the list");
}

int main(void) {
  for (size_t i = 0; i < COUNT(programs); i++) check_program(programs[i]);
  check_list();
  return DONE();
}
