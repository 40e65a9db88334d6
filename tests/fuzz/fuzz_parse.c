/* Any bytes as a program: complaints, or a tree that the formatter keeps and settles at once. */
#include "front/ast.h"
#include "parse/tree.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static AstFile *parse(Arena *a, Diags *d, const char *s, size_t n) {
  return parse_file(a, strings_new(a), source_new(a, "fuzz.ein", s, n), d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Arena *a = arena_new();
  Diags *d = diags_new(a);
  AstFile *f = parse(a, d, (const char *)data, size);
  Buf text = buf_new(a), tree = buf_new(a), once = buf_new(a), twice = buf_new(a), again = buf_new(a);
  diags_text(d, &text, false);
  ast_print(&tree, f);
  if (f->broken != (d->errors > 0)) abort();
  if (!f->broken) {
    fmt_print(&once, f);
    AstFile *g = parse(a, d, once.s, once.len);
    if (g->broken || g->comments.len != f->comments.len) abort();
    fmt_print(&twice, g);
    ast_print(&again, g);
    if (once.len != twice.len || memcmp(once.s, twice.s, once.len) != 0) abort();
    if (tree.len != again.len || memcmp(tree.s, again.s, tree.len) != 0) abort();
  }
  arena_free(a);
  return 0;
}
