/* driver/editors/editors.h - highlighting for editors, made of what the scanner knows: `ein --grammar vim`. words.c asks it which words and
 * signs there are; textmate.c, vim.c and tree_sitter.c say it as each editor wants it. No word of the language lies on several lines, so
 * these need no more than a line at a time. tests/editors holds them to the scanner, token by token. */
#ifndef EIN_EDITORS_H
#define EIN_EDITORS_H

#include "driver/driver.h"

typedef enum { SORT_KEYWORD, SORT_REDUCER, SORT_DTYPE, SORT_CONSTANT, SORT_OPERATOR, SORT_POINT, SORT_SLIP, SORTS, SORT_NONE = SORTS } Sort;

typedef struct Spellings {
  Words word[SORTS];    /* what a further letter would make another word of */
  Words sign[SORTS];    /* other ones; long ones first */
  Words before_string;  /* words where a string stands behind them; else names */
  Words primed;         /* signs that can have no primes */
} Spellings;

enum { SIGN_LONGEST = 3 };

Spellings spellings_of_language(Arena *a);
void words_join(Buf *b, const Words *w, const char *between);
/* As a regular expression, each byte of `special` with a backslash before it; only those of `len` bytes if that is not 0. False: there is none. */
bool signs_join(Buf *b, const Words *w, size_t len, const char *special, const char *between);

void grammar_textmate(Buf *b, const Spellings *w);
void grammar_vim(Buf *b, const Spellings *w);
void grammar_tree_sitter(Buf *b, const Spellings *w);
void queries_tree_sitter(Buf *b, const Spellings *w);

#endif
