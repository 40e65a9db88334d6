/* expr/lines.h - maps what was read from a text to its position there, so that a checker's complaint can point to
 * it. */
#ifndef EIN_EXPR_LINES_H
#define EIN_EXPR_LINES_H

#include "base/json.h"
#include "expr.h"

typedef struct TextLines {
  Arena *arena;
  Span head;                 /* the first line */
  Map at;                    /* to Spans */
} TextLines;

/* Keys for things that have no address of their own, or one that changes. */
typedef enum { LINE_INPUT = 1, LINE_OUTPUT, LINE_ASSERT, LINE_NEXT, LINE_UNTIL, LINE_BUFFER } LineKind;
const void *line_key(LineKind kind, uint32_t number);

TextLines *lines_new(Arena *a, Span head);
void lines_put(TextLines *t, const void *key, Span at);
/* The position of the first key that has one, else the text's first line; t NULL: nowhere. */
Span lines_find(const TextLines *t, uint32_t n, const void *const *key);

void json_place(Json *j, Place at); /* "place": null, or { "file", "line", "column" } */

#endif
