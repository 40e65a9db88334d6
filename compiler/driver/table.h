/* driver/table.h - what reports are made of: tables for people, whose columns are as wide as they must be, one of them clipped to the
 * page; amounts; places. */
#ifndef EIN_TABLE_H
#define EIN_TABLE_H

#include "base/json.h"
#include "expr/einsum.h"

enum { TABLE_COLUMNS = 12 };

typedef struct TableRow {
  const char *cell[TABLE_COLUMNS];
  const char *tail;          /* behind the clipped column's cell, and not clipped with it; "" */
} TableRow;

typedef struct Table {
  int columns, clipped;
  unsigned left;             /* a bit a column that begins at its left; the others end at their right */
  VEC(TableRow) rows;        /* the first has the heads */
} Table;

void table_print(Buf *b, const Table *t); /* for the terminal's width, or 120 */

size_t text_columns(const char *s);       /* how wide it is on a terminal, where a letter may take two */

/* As it is fit to be shown, whatever is in it. */
const char *shown(Arena *a, const char *s);
/* "999", "1.2 k", "34.5 M": four digits at most; INT64_MAX is "> 9.2 E". */
const char *amount(Arena *a, int64_t n, const char *unit);

/* "7", or "prelude.ein:7" where it is not in the file at `path`; "": nowhere. */
const char *line_text(Arena *a, const char *path, Place at);
void put_place(Json *j, Place at); /* "place": null, or { "file", "line", "column" } */

#endif
