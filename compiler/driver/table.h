/* driver/table.h - building blocks of reports: tables for people, with columns as wide as needed, one of which is
 * clipped to the page; amounts; positions. */
#ifndef EIN_TABLE_H
#define EIN_TABLE_H

#include "base/json.h"
#include "expr/einsum.h"

enum { TABLE_COLUMNS = 12 };

typedef struct TableRow {
  const char *cell[TABLE_COLUMNS];
  const char *tail;          /* after the clipped column's cell, and not clipped with it; "" */
} TableRow;

typedef struct Table {
  int columns, clipped;
  unsigned left;             /* a bit per column that is left-aligned; the others are right-aligned */
  VEC(TableRow) rows;        /* the first is the header */
} Table;

void table_print(Buf *b, const Table *t); /* for the terminal's width, or 120 */

size_t text_columns(const char *s);       /* its width on a terminal, where a letter may take two columns */

/* The text made safe to show, whatever it contains. */
const char *shown(Arena *a, const char *s);
/* "999", "1.2 k", "34.5 M": at most four digits; INT64_MAX is "> 9.2 E". */
const char *amount(Arena *a, int64_t n, const char *unit);

/* "7", or "prelude.ein:7" if it is not in the file at `path`; "": no position. */
const char *line_text(Arena *a, const char *path, Place at);
/* "x.ein:3:7: ", before a complaint; otherwise, "PATH: " (NULL: ""). */
const char *place_text(Arena *a, const char *path, Place at);

#endif
