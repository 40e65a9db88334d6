/* driver/editors/grammar.c - `ein --grammar EDITOR`. */
#include <string.h>

#include "editors.h"

Leave help_grammar(Session *s, const char *editor) {
  static const struct { const char *name; void (*print)(Buf *b, const Spellings *w);
  } all[] = {{"textmate", grammar_textmate}, {"vim", grammar_vim}, {"tree-sitter", grammar_tree_sitter},
      {"tree-sitter-queries", queries_tree_sitter}};
  Spellings w = spellings_of_language(s->arena);
  Buf b = buf_new(s->arena);
  for (size_t i = 0; i < COUNT(all); i++)
    if (strcmp(editor, all[i].name) == 0) all[i].print(&b, &w);
  print(s, &b);
  return LEAVE_OK;
}
