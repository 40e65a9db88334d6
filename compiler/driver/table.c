/* driver/table.c - tables and texts for reports. */
#include "table.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"

enum { WIDTH_USUAL = 120, WIDTH_LEAST = 60, CLIPPED_LEAST = 16 };

/* ---- texts and numbers ------------------------------------------------------------------------------ */

/* Its width in terminal columns; the text may contain anything. */
size_t text_columns(const char *s) {
  size_t columns = 0;
  for (size_t n = strlen(s); n;) {
    int width;
    size_t k = utf8_show(NULL, s, n, &width);
    columns += (size_t)width;
    s += k;
    n -= k;
  }
  return columns;
}

/* Appends at most this many columns of it, the last three as dots if there is more. Returns the columns used. */
static size_t text_clipped(Buf *b, const char *s, size_t most) {
  bool whole = text_columns(s) <= most;
  size_t columns = 0, room = whole ? most : most - 3;
  for (size_t n = strlen(s); n;) {
    int width;
    size_t k = utf8_show(NULL, s, n, &width);
    if (columns + (size_t)width > room) break;
    utf8_show(b, s, n, &width);
    columns += (size_t)width;
    s += k;
    n -= k;
  }
  if (!whole) buf_str(b, "...");
  return whole ? columns : columns + 3;
}

const char *shown(Arena *a, const char *s) {
  Buf b = buf_new(a);
  text_clipped(&b, s, SIZE_MAX);
  return b.s;
}

const char *amount(Arena *a, int64_t n, const char *unit) {
  static const char *const prefix[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t k = 0;
  double x = (double)n;
  const char *more = n == INT64_MAX ? "> " : "";
  for (; k + 1 < COUNT(prefix) && (k ? x >= 999.95 : x >= 1000); k++) x /= 1000;
  const char *blank = *prefix[k] || *unit ? " " : "";
  if (!k) return arena_printf(a, "%lld%s%s", (long long)n, blank, unit);
  return arena_printf(a, "%s%.1f%s%s%s", more, x, blank, prefix[k], unit);
}

/* ---- the table -------------------------------------------------------------------------------------- */

static size_t width_of_page(void) {
  struct winsize w;
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || !w.ws_col) return WIDTH_USUAL;
  return w.ws_col < WIDTH_LEAST ? WIDTH_LEAST : w.ws_col;
}

static void row_print(Buf *b, const Table *t, const TableRow *r, const size_t *width) {
  for (int c = 0; c < t->columns; c++) {
    size_t n = text_columns(r->cell[c]), tail = text_columns(r->tail);
    if (c) buf_str(b, "  ");
    if (c == t->clipped) {
      n = text_clipped(b, r->cell[c], width[c] - tail);
      buf_str(b, r->tail);
      buf_printf(b, "%*s", (int)(width[c] - n - tail), "");
    } else if (t->left >> c & 1) buf_printf(b, "%s%*s", r->cell[c], (int)(width[c] - n), "");
    else buf_printf(b, "%*s%s", (int)(width[c] - n), "", r->cell[c]);
  }
  while (b->len && b->s[b->len - 1] == ' ') b->s[--b->len] = 0;
  buf_char(b, '\n');
}

void table_print(Buf *b, const Table *t) {
  size_t width[TABLE_COLUMNS] = {0}, others = 2 * ((size_t)t->columns - 1), page = width_of_page(), tail = 0;
  for (uint32_t i = 0; i < t->rows.len; i++)
    for (int c = 0; c < t->columns; c++) {
      size_t n = text_columns(t->rows.at[i].cell[c]), more = text_columns(t->rows.at[i].tail);
      if (c == t->clipped) n += more;
      if (more > tail) tail = more;
      if (n > width[c]) width[c] = n;
    }
  for (int c = 0; c < t->columns; c++) others += c == t->clipped ? 0 : width[c];
  size_t room = page > others + tail + CLIPPED_LEAST ? page - others : tail + CLIPPED_LEAST;
  if (width[t->clipped] > room) width[t->clipped] = room;
  for (uint32_t i = 0; i < t->rows.len; i++) row_print(b, t, &t->rows.at[i], width);
}

/* ---- places ------------------------------------------------------------------------------------------ */

const char *line_text(Arena *a, const char *path, Place at) {
  if (!at.file) return "";
  if (strcmp(at.file->s, path) == 0) return arena_printf(a, "%u", at.line);
  const char *slash = strrchr(at.file->s, '/');
  return arena_printf(a, "%s:%u", shown(a, slash ? slash + 1 : at.file->s), at.line);
}

const char *place_text(Arena *a, const char *path, Place at) {
  if (at.file) return arena_printf(a, "%s:%u:%u: ", at.file->s, at.line, at.column);
  return path ? arena_printf(a, "%s: ", path) : "";
}
