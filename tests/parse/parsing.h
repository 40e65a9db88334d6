/* tests/parse/parsing.h - a text parsed, and what came of it as text: for the tests beside it. */
#ifndef EIN_TEST_PARSING_H
#define EIN_TEST_PARSING_H

#include "front/ast.h"
#include "tap.h"
#include "tree.h"

typedef struct Parsed { Arena *arena; Source *src; Diags *diags; AstFile *file; } Parsed;

static inline Parsed parse_text(const char *s, size_t n) {
  Parsed p = {.arena = arena_new()};
  p.src = source_new(p.arena, "x.ein", s, n);
  p.diags = diags_new(p.arena);
  p.file = parse_file(p.arena, strings_new(p.arena), p.src, p.diags);
  return p;
}

static inline const char *tree_of(const Parsed *p) {
  Buf b = buf_new(p->arena);
  ast_print(&b, p->file);
  return b.s;
}

static inline const char *complaints_of(const Parsed *p) {
  Buf b = buf_new(p->arena);
  diags_text(p->diags, &b, false);
  return b.s;
}

static inline Buf fmt_of(const Parsed *p) {
  Buf b = buf_new(p->arena);
  fmt_print(&b, p->file);
  return b;
}

#endif
