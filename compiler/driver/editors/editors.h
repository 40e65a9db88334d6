/* driver/editors/editors.h - syntax highlighting for editors, generated from the scanner: `ein --grammar vim`.
 * words.c asks the scanner for its words and signs; textmate.c, vim.c and tree_sitter.c write them for each editor.
 * No token of the language spans lines, so one line at a time is enough. tests/editors compares them with the
 * scanner, token by token. */
#ifndef EIN_EDITORS_H
#define EIN_EDITORS_H

#include "driver/driver.h"

typedef enum {
  SORT_KEYWORD,
  SORT_REDUCER,
  SORT_DTYPE,
  SORT_CONSTANT,
  SORT_OPERATOR,
  SORT_POINT,
  SORT_SLIP,
  SORTS,
  SORT_NONE = SORTS
} Sort;

typedef struct Spellings {
  Words word[SORTS];    /* words that end where a further letter would make another word */
  Words sign[SORTS];    /* the others; long ones first */
  Words before_string;  /* words only before a string; else names */
  Words primed;         /* signs that cannot have primes */
} Spellings;

enum { SIGN_LONGEST = 3 };

Spellings spellings_of_language(Arena *a);
void words_join(Buf *b, const Words *w, const char *between);
/* As a regular expression, with a backslash before each byte of `special`; only those of `len` bytes if that is not
 * 0. Returns false if there is none. */
bool signs_join(Buf *b, const Words *w, size_t len, const char *special, const char *between);

void grammar_textmate(Buf *b, const Spellings *w);
void grammar_vim(Buf *b, const Spellings *w);
void grammar_tree_sitter(Buf *b, const Spellings *w);
void queries_tree_sitter(Buf *b, const Spellings *w);

#endif
