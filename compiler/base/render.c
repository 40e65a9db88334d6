/* base/render.c - renders complaints as text for people and as JSON for tools.
 *
 *     attention.ein:12:20: error[E060]: label d is 128 in QH but 64 in KH
 *        12 | T[h,s,s'] = sum[d] QH[s,h,d] * KH[s',h,d]
 *           |                    ^^         ^^ 64, from KH
 *           |                    128, from QH
 *           = help: ...
 *
 * The spans of a complaint are grouped into blocks, one per source line, with the complaint's line first. Spans that
 * are far apart on a very long line get different blocks. A block shows a window of its line, a row of carets, and the
 * notes: the rightmost on the row of carets, each other one on a separate row under its caret, from right to left. The
 * work is bounded by the window, not by the length of the line. */
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "json.h"
#include "utf8.h"

enum {
  WINDOW = 100,  /* columns of a source line that are shown */
  CLUSTER = 76,  /* the spans of a block lie within this many columns */
  POINTS = 400,  /* the most code points examined, since some take no column */
  LINE_DIGITS = 5
};

typedef enum { INK_PLAIN, INK_FILE, INK_ERROR, INK_WARNING, INK_GUTTER, INK_HELP, INK_OTHER } Ink;

typedef struct Pen { Buf *out; Arena *arena; bool colour; } Pen;

static void ink(Pen *p, Ink i) {
  static const char *const code[] = {"\033[0m",    "\033[1m",    "\033[1;31m", "\033[1;35m",
                                     "\033[1;34m", "\033[1;36m", "\033[1;34m"};
  if (p->colour) buf_str(p->out, code[i]);
}

static void blanks(Pen *p, int n) {
  for (; n > 0; n--) buf_char(p->out, ' ');
}

/* Prints our text, which may quote the user's bytes. Each line after the first is indented by `indent`. */
static void text_shown(Pen *p, const char *s, int indent) {
  for (size_t n = strlen(s); n;) {
    int width;
    if (*s == '\n') {
      buf_char(p->out, '\n');
      if (n > 1) blanks(p, indent);
      s++, n--;
      continue;
    }
    size_t k = utf8_show(p->out, s, n, &width);
    s += k, n -= k;
  }
}

/* ---- one line, and columns on it ------------------------------------------------------------- */

typedef struct Line {
  Source *src;
  uint32_t number, at, end; /* without the newline */
} Line;

static Line line_of(Span s) {
  Line l = {.src = s.src};
  uint32_t column;
  source_place(s.src->arena, s.src, s.at, &l.number, &column);
  uint32_t own = l.number - s.src->before;
  l.at = s.src->line[own - 1];
  l.end = own < s.src->n_lines ? s.src->line[own] - 1 : s.src->len;
  if (l.end > l.at && s.src->bytes[l.end - 1] == '\r') l.end--;
  return l;
}

/* The columns that bytes from..to take, or a number above `most`. */
static int columns(const Line *l, uint32_t from, uint32_t to, int most) {
  int sum = 0, width, points = 0;
  for (uint32_t p = from; p < to && sum <= most; sum += width) {
    if (++points > POINTS) return most + 1;
    p += (uint32_t)utf8_show(NULL, l->src->bytes + p, l->end - p, &width);
  }
  return sum;
}

/* Returns a position up to `most` columns before `at`; subtracts these from *most. */
static uint32_t step_back(const Line *l, uint32_t at, int *most) {
  for (int points = 0; at > l->at && points < POINTS; points++) {
    int width;
    uint32_t p = (uint32_t)utf8_back(l->src->bytes, l->at, at);
    utf8_show(NULL, l->src->bytes + p, l->end - p, &width);
    if (width > *most) break;
    *most -= width;
    at = p;
  }
  return at;
}

static uint32_t step_forward(const Line *l, uint32_t at, int *most) {
  for (int points = 0; at < l->end && points < POINTS; points++) {
    int width;
    uint32_t k = (uint32_t)utf8_show(NULL, l->src->bytes + at, l->end - at, &width);
    if (width > *most) break;
    *most -= width;
    at += k;
  }
  return at;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

typedef struct Mark {
  uint32_t at, end; /* clipped to the line */
  const char *note; /* may be NULL */
  bool main;
  int column, width; /* set once the window is known */
} Mark;

typedef struct Block {
  Line line;
  uint32_t at, end; /* of all marks, then of the window */
  VEC(Mark) marks;
} Block;

static int mark_order(const void *a, const void *b) {
  const Mark *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  if (x->end != y->end) return x->end < y->end ? -1 : 1;
  return (int)y->main - (int)x->main;
}

static bool line_fits(const Line *l) {
  return columns(l, l->at, l->end, WINDOW) <= WINDOW;
}

/* Extends the block to the mark if a window can show both: the whole line fits, or both are close enough. */
static bool block_takes(Block *b, const Line *l, const Mark *m) {
  if (b->line.src != l->src || b->line.number != l->number) return false;
  uint32_t at = m->at < b->at ? m->at : b->at, end = m->end > b->end ? m->end : b->end;
  if (!line_fits(l) && columns(l, at, end, CLUSTER) > CLUSTER) return false;
  b->at = at;
  b->end = end;
  return true;
}

typedef VEC(Block *) Blocks;

static void blocks_add(Pen *p, Blocks *blocks, const DiagSpan *s, bool main) {
  Line l = line_of(s->span);
  Mark m = {.note = s->note && *s->note ? s->note : NULL, .main = main, .at = s->span.at < l.end ? s->span.at : l.end,
      .end = s->span.end < l.end ? s->span.end : l.end};
  if (m.end < m.at) m.end = m.at;
  Block *b = NULL;
  for (uint32_t i = 0; i < blocks->len && !b; i++)
    if (block_takes(blocks->at[i], &l, &m)) b = blocks->at[i];
  if (!b) {
    b = MAKE(p->arena, Block, .line = l, .at = m.at, .end = m.end);
    vec_push(p->arena, *blocks, b);
  }
  vec_push(p->arena, b->marks, m);
}

/* Extends at..end from the marked part to the shown part: the whole line if it fits, else the marks with as much on
 * both sides as fits. Then sets the columns of the marks. Returns the width of "..." at the left. */
static int block_window(Block *b) {
  Line *l = &b->line;
  int room = WINDOW, lead = 0;
  if (line_fits(l)) {
    b->at = l->at;
    b->end = l->end;
  } else {
    room -= columns(l, b->at, b->end, WINDOW);
    if (room < 0) {
      room = WINDOW;
      b->end = step_forward(l, b->at, &room);
      room = 0;
    }
    int left = room / 2, most = left;
    b->at = step_back(l, b->at, &left);
    room -= most - left;
    b->end = step_forward(l, b->end, &room);
    b->at = step_back(l, b->at, &room);
    lead = b->at > l->at ? 3 : 0;
  }
  vec_each(Mark, m, b->marks) {
    uint32_t end = m->end < b->end ? m->end : b->end;
    m->column = lead + columns(l, b->at, m->at, 2 * WINDOW);
    m->width = columns(l, m->at, end, 2 * WINDOW);
    if (m->width < 1) m->width = 1;
  }
  qsort(b->marks.at, b->marks.len, sizeof(Mark), mark_order);
  return lead;
}

static void gutter(Pen *p, int digits, uint32_t number) {
  ink(p, INK_GUTTER);
  if (number)
    buf_printf(p->out, "%*u |", digits, (unsigned)number);
  else
    buf_printf(p->out, "%*s |", digits, "");
  ink(p, INK_PLAIN);
}

static void block_line(Pen *p, const Block *b, int digits, int lead) {
  const Line *l = &b->line;
  gutter(p, digits, l->number);
  if (b->end > b->at) buf_char(p->out, ' ');
  if (lead) buf_str(p->out, "...");
  int width;
  for (uint32_t at = b->at; at < b->end;)
    at += (uint32_t)utf8_show(p->out, l->src->bytes + at, l->end - at, &width);
  if (b->end < l->end) buf_str(p->out, "...");
  buf_char(p->out, '\n');
}

static Ink mark_ink(const Mark *m, DiagKind kind) {
  return !m->main ? INK_OTHER : kind == DIAG_ERROR ? INK_ERROR : INK_WARNING;
}

/* Prints the row of carets, followed by the note of the last mark if no caret is to its right. Returns that mark's
 * number; marks.len if the note was not printed. */
static uint32_t block_carets(Pen *p, const Block *b, int digits, DiagKind kind) {
  uint32_t n = b->marks.len;
  const Mark *last = &b->marks.at[n - 1];
  int at = 0;
  gutter(p, digits, 0);
  buf_char(p->out, ' ');
  for (uint32_t i = 0; i < n; i++) {
    const Mark *m = &b->marks.at[i];
    ink(p, mark_ink(m, kind));
    for (; at < m->column; at++) buf_char(p->out, ' ');
    for (; at < m->column + m->width; at++) buf_char(p->out, '^');
    ink(p, INK_PLAIN);
  }
  bool here = last->note && at == last->column + last->width;
  if (here) {
    ink(p, mark_ink(last, kind));
    buf_char(p->out, ' ');
    text_shown(p, last->note, digits + 4 + at);
    ink(p, INK_PLAIN);
  }
  buf_char(p->out, '\n');
  return here ? n - 1 : n;
}

/* Prints the note of mark k on its own row, with a `|` under each mark to its left whose note is still to come. */
static void block_note(Pen *p, const Block *b, uint32_t k, int digits, DiagKind kind) {
  gutter(p, digits, 0);
  buf_char(p->out, ' ');
  int at = 0;
  for (uint32_t i = 0; i <= k; i++) {
    const Mark *m = &b->marks.at[i];
    if (!m->note || (i < k && (m->column < at || m->column >= b->marks.at[k].column))) continue;
    blanks(p, m->column - at);
    ink(p, mark_ink(m, kind));
    if (i == k)
      text_shown(p, m->note, digits + 3 + m->column);
    else
      buf_char(p->out, '|');
    ink(p, INK_PLAIN);
    at = m->column + 1;
  }
  buf_char(p->out, '\n');
}

static void block_text(Pen *p, Block *b, int digits, DiagKind kind) {
  int lead = block_window(b);
  block_line(p, b, digits, lead);
  uint32_t done = block_carets(p, b, digits, kind);
  for (uint32_t k = b->marks.len; k-- > 0;)
    if (k != done && b->marks.at[k].note) block_note(p, b, k, digits, kind);
}

/* ---- one complaint --------------------------------------------------------------------------- */

static void place_text(Pen *p, Span s) {
  uint32_t line, column;
  source_place(s.src->arena, s.src, s.at, &line, &column);
  ink(p, INK_FILE);
  text_shown(p, s.src->name, 0);
  buf_printf(p->out, ":%u:%u", (unsigned)line, (unsigned)column);
  ink(p, INK_PLAIN);
}

static void head_text(Pen *p, const Diag *g) {
  if (g->spans.at[0].span.src) {
    place_text(p, g->spans.at[0].span);
    buf_str(p->out, ": ");
  }
  ink(p, g->kind == DIAG_ERROR ? INK_ERROR : INK_WARNING);
  buf_printf(p->out, "%s[%s]", g->kind == DIAG_ERROR ? "error" : "warning", diag_info(g->code)->code);
  ink(p, INK_FILE);
  buf_str(p->out, ": ");
  text_shown(p, g->text, 0);
  ink(p, INK_PLAIN);
  buf_char(p->out, '\n');
}

static void aside_text(Pen *p, int digits, const char *word, const char *s) {
  ink(p, INK_GUTTER);
  buf_printf(p->out, "%*s = ", digits, "");
  ink(p, INK_HELP);
  buf_printf(p->out, "%s:", word);
  ink(p, INK_PLAIN);
  buf_char(p->out, ' ');
  text_shown(p, s, digits + 3 + (int)strlen(word) + 2);
  buf_char(p->out, '\n');
}

static int digits_wanted(const Blocks *blocks) {
  int most = LINE_DIGITS;
  for (uint32_t i = 0; i < blocks->len; i++) {
    int digits = 1;
    for (uint32_t x = blocks->at[i]->line.number; x >= 10; x /= 10) digits++;
    if (digits > most) most = digits;
  }
  return most;
}

static void diag_text(Pen *p, const Diag *g) {
  Blocks blocks = {0};
  for (uint32_t i = 0; i < g->spans.len; i++)
    if (g->spans.at[i].span.src) blocks_add(p, &blocks, &g->spans.at[i], i == 0);
  int digits = digits_wanted(&blocks);
  head_text(p, g);
  Source *src = g->spans.at[0].span.src;
  vec_each_of(Block, b, blocks) {
    if (b->line.src != src) {
      src = b->line.src;
      ink(p, INK_GUTTER);
      buf_printf(p->out, "%*s> ", digits, "--");
      place_text(p, (Span){src, b->marks.at[0].at, b->marks.at[0].at});
      buf_char(p->out, '\n');
    }
    block_text(p, b, digits, g->kind);
  }
  for (uint32_t i = 0; i < g->spans.len; i++)
    if (!g->spans.at[i].span.src && g->spans.at[i].note)
      aside_text(p, digits, "note", g->spans.at[i].note);
  for (uint32_t i = 0; i < g->hints.len; i++) aside_text(p, digits, "help", g->hints.at[i]);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int diag_order(const void *a, const void *b) {
  const Diag *x = *(Diag *const *)a, *y = *(Diag *const *)b;
  Span s = x->spans.at[0].span, t = y->spans.at[0].span;
  uint32_t i = s.src ? s.src->id : 0, j = t.src ? t.src->id : 0;
  if (i != j) return i < j ? -1 : 1;
  if (s.src && s.at != t.at) return s.at < t.at ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

Diag **diags_sorted(const Diags *d) {
  Diag **all = arena_copy(d->arena, d->all.at, sizeof(Diag *) * d->all.len);
  if (d->all.len) qsort(all, d->all.len, sizeof(Diag *), diag_order);
  return all;
}

void diags_text(Diags *d, Buf *out, bool colour) {
  Diag **all = diags_sorted(d);
  Pen p = {.out = out, .arena = d->arena, .colour = colour};
  for (uint32_t i = 0; i < d->all.len; i++) diag_text(&p, all[i]);
}

static void span_json(Json *j, const DiagSpan *s) {
  uint32_t line, column;
  Source *src = s->span.src;
  json_object(j, NULL);
  json_str(j, "file", src ? src->name : NULL);
  if (src) {
    source_place(src->arena, src, s->span.at, &line, &column);
    json_int(j, "line", line);
    json_int(j, "column", column);
    source_place(src->arena, src, s->span.end, &line, &column);
    json_int(j, "end_line", line);
    json_int(j, "end_column", column);
  }
  json_str(j, "note", s->note);
  json_end(j, '}');
}

void diags_json(Diags *d, Buf *out) {
  Diag **all = diags_sorted(d);
  Json j = json_new(out);
  json_each(&j, NULL, i, d->all.len) {
    const Diag *g = all[i];
    json_object(&j, NULL);
    json_str(&j, "code", diag_info(g->code)->code);
    json_str(&j, "kind", g->kind == DIAG_ERROR ? "error" : "warning");
    json_str(&j, "slug", diag_info(g->code)->slug);
    json_str(&j, "message", g->text);
    json_each(&j, "spans", k, g->spans.len) span_json(&j, &g->spans.at[k]);
    json_each(&j, "hints", k, g->hints.len) json_str(&j, NULL, g->hints.at[k]);
    json_end(&j, '}');
  }
}
