/* driver/editors/tree_sitter.c - writes a grammar.js, from which `tree-sitter generate` makes a parser, and the
 * queries that colour its nodes: the words of the language, and nested brackets. That is enough for highlighting,
 * folding and jumps between brackets. */
#include <string.h>

#include "editors.h"

static const char *const node[SORTS] = {
    [SORT_KEYWORD] = "keyword",
    [SORT_REDUCER] = "reducer",
    [SORT_DTYPE] = "type",
    [SORT_CONSTANT] = "constant",
    [SORT_OPERATOR] = "operator",
};

static const char *const capture[SORTS] = {
    [SORT_KEYWORD] = "keyword",
    [SORT_REDUCER] = "function.builtin",
    [SORT_DTYPE] = "type.builtin",
    [SORT_CONSTANT] = "constant.builtin",
    [SORT_OPERATOR] = "operator",
};

static void choice(Buf *b, const Spellings *w, Sort s) {
  Buf words = buf_new(b->arena), signs = buf_new(b->arena);
  words_join(&words, &w->word[s], "', '");
  signs_join(&signs, &w->sign[s], 0, "\\'", "', '");
  buf_printf(b, "    %s: $ => choice(", node[s]);
  if (words.len) buf_printf(b, "'%s'", words.s);
  if (signs.len) buf_printf(b, "%s'%s'", words.len ? ", " : "", signs.s);
  buf_str(b, "),\n");
}

static bool is_bracket(const char *text) {
  return strlen(text) == 1 && strchr("()[]{}", *text);
}

/* Separators without a name: commas and the like. */
static void points(Buf *b, const Spellings *w, const char *quote, const char *between) {
  bool any = false;
  vec_each_of(const char, text, w->sign[SORT_POINT]) {
    if (is_bracket(text)) continue;
    buf_printf(b, "%s%s%s%s", any ? between : "", quote, text, quote);
    any = true;
  }
}

void grammar_tree_sitter(Buf *b, const Spellings *w) {
  buf_str(b, "// tree-sitter grammar of Ein: its words, and brackets; made by ein --grammar tree-sitter\n"
             "module.exports = grammar({\n"
             "  name: 'ein',\n"
             "  extras: $ => [/[ \\t\\r\\n]/, $.comment],\n"
             "  word: $ => $.name,\n"
             "  rules: {\n"
             "    source_file: $ => repeat($._item),\n"
             "    _item: $ => choice($.round, $.square, $.curly, $.string, $.number, $.name");
  for (Sort s = 0; s < SORTS; s++)
    if (node[s]) buf_printf(b, ", $.%s", node[s]);
  buf_str(b, ", ");
  points(b, w, "'", ", ");
  buf_str(b, "),\n"
             "    round: $ => seq('(', repeat($._item), ')'),\n"
             "    square: $ => seq('[', repeat($._item), ']'),\n"
             "    curly: $ => seq('{', repeat($._item), '}'),\n"
             "    comment: $ => token(/#[^\\n]*/),\n"
             "    string: $ => token(/\"[^\"\\n]*\"/),\n"
             "    number: $ => token(/[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?/),\n"
             "    name: $ => /[\\p{L}\\p{Nl}_][\\p{L}\\p{Nl}_\\p{Nd}\\p{Mn}\\p{Mc}]*'*/,\n");
  for (Sort s = 0; s < SORTS; s++)
    if (node[s]) choice(b, w, s);
  buf_str(b, "  },\n});\n");
}

void queries_tree_sitter(Buf *b, const Spellings *w) {
  buf_str(b, "; highlights of Ein; made by ein --grammar tree-sitter-queries\n"
             "(comment) @comment\n(string) @string\n(number) @number\n(name) @variable\n"
             "((name) @function . (round))\n((name) @function . (square) . (round))\n"
             "((name) @keyword . (string) (#any-of? @keyword \"");
  words_join(b, &w->before_string, "\" \"");
  buf_str(b, "\"))\n");
  for (Sort s = 0; s < SORTS; s++)
    if (node[s]) buf_printf(b, "(%s) @%s\n", node[s], capture[s]);
  buf_str(b, "[\"(\" \")\" \"[\" \"]\" \"{\" \"}\"] @punctuation.bracket\n[");
  points(b, w, "\"", " ");
  buf_str(b, "] @punctuation.delimiter\n");
}
