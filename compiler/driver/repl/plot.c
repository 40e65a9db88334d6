/* driver/repl/plot.c - a value as a small picture in characters: of one dimension a line, of two shades. Long axes are taken in pieces: a
 * line shows the least and the most of each, a shade their mean. */
#include <math.h>
#include <string.h>

#include "repl.h"

enum { COLUMNS = 72, LINE_ROWS = 12, SHADE_ROWS = 24 };
static const char shades[] = " .:-=+*#%@";

/* NaN: there is none, or it is none that could be shown. */
static double value_at(const EvalArray *x, int64_t k) {
  double v = x->has && !x->has[k] ? (double)NAN : dtype_is_float(x->dtype) ? eval_real(x, k) : (double)eval_int(x, k);
  return isfinite(v) ? v : (double)NAN;
}

typedef struct Range { double least, most; } Range;

static void range_take(Range *r, double v) {
  if (v < r->least) r->least = v;
  if (v > r->most) r->most = v;
}

static const Range range_none = {(double)INFINITY, -(double)INFINITY};

/* Where piece i of `of` begins, of an axis with n points. */
static int64_t piece(int64_t n, int64_t of, int64_t i) { return n / of * i + n % of * i / of; }

/* How far up v is, of `steps` steps; the middle, where all is one value. */
static int64_t step_of(Range r, double v, int64_t steps) {
  double part = r.most > r.least ? v / 2 - r.least / 2 : 0.5, all = r.most > r.least ? r.most / 2 - r.least / 2 : 1; /* halves: no difference is infinite */
  int64_t k = (int64_t)(part / all * (double)steps);
  return k < 0 ? 0 : k < steps ? k : steps - 1;
}

/* ---- one dimension ---------------------------------------------------------------------------- */

static Leave line_plot(Buf *out, const char *axis, const EvalArray *x) {
  int64_t n = x->shape[0], columns = n < COLUMNS ? n : COLUMNS;
  Range all = range_none, column[COLUMNS];
  for (int64_t c = 0; c < columns; c++) {
    column[c] = range_none;
    for (int64_t k = piece(n, columns, c); k < piece(n, columns, c + 1); k++) {
      double v = value_at(x, k);
      if (!isnan(v)) range_take(&column[c], v), range_take(&all, v);
    }
  }
  for (int64_t r = LINE_ROWS; r-- > 0;) {
    char row[COLUMNS + 1];
    for (int64_t c = 0; c < columns; c++) {
      bool any = column[c].least <= column[c].most;
      row[c] = any && step_of(all, column[c].least, LINE_ROWS) <= r && r <= step_of(all, column[c].most, LINE_ROWS) ? '*' : ' ';
    }
    size_t len = (size_t)columns;
    while (len && row[len - 1] == ' ') len--;
    bool label = all.least <= all.most && (r == LINE_ROWS - 1 || r == 0) && all.least < all.most;
    if (all.least == all.most && r == LINE_ROWS / 2) buf_printf(out, "%11.5g |%.*s\n", all.least, (int)len, row);
    else if (label) buf_printf(out, "%11.5g |%.*s\n", r ? all.most : all.least, (int)len, row);
    else buf_printf(out, "%11s |%.*s\n", "", (int)len, row);
  }
  buf_printf(out, "%11s  %s=0 to %lld\n", "", *axis ? axis : "index", (long long)(n - 1));
  return LEAVE_OK;
}

/* ---- two -------------------------------------------------------------------------------------- */

static double block_mean(const EvalArray *x, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
  double sum = 0, n = 0;
  for (int64_t r = r0; r < r1; r++)
    for (int64_t c = c0; c < c1; c++) {
      double v = value_at(x, r * x->shape[1] + c);
      if (!isnan(v)) n++, sum += (v - sum) / n; /* the mean as it grows: a sum may be more than a double holds */
    }
  return n > 0 ? sum : (double)NAN;
}

static Leave shade_plot(Buf *out, const char *const *axis, const EvalArray *x) {
  int64_t rows = x->shape[0] < SHADE_ROWS ? x->shape[0] : SHADE_ROWS, columns = x->shape[1] < COLUMNS ? x->shape[1] : COLUMNS;
  int wide = columns * 2 <= COLUMNS ? 2 : 1; /* a character is about twice as high as it is wide */
  double mean[SHADE_ROWS][COLUMNS];
  Range all = range_none;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++) {
      mean[r][c] = block_mean(x, piece(x->shape[0], rows, r), piece(x->shape[0], rows, r + 1), piece(x->shape[1], columns, c), piece(x->shape[1], columns, c + 1));
      if (!isnan(mean[r][c])) range_take(&all, mean[r][c]);
    }
  for (int64_t r = 0; r < rows; r++) {
    buf_str(out, "  |");
    for (int64_t c = 0; c < columns; c++)
      for (int w = 0; w < wide; w++) buf_char(out, isnan(mean[r][c]) ? '?' : shades[step_of(all, mean[r][c], (int64_t)strlen(shades))]);
    buf_str(out, "|\n");
  }
  buf_printf(out, "  down %s=0 to %lld, across %s=0 to %lld", *axis[0] ? axis[0] : "index", (long long)(x->shape[0] - 1), *axis[1] ? axis[1] : "index",
             (long long)(x->shape[1] - 1));
  if (all.least <= all.most) buf_printf(out, "; \"%s\" from %.5g to %.5g", shades, all.least, all.most);
  buf_char(out, '\n');
  return LEAVE_OK;
}

Leave prompt_plot(Prompt *p, const char *name, const char *const *axis, const EvalArray *x) {
  if (x->rank < 1 || x->rank > 2)
    return fail(p->s, LEAVE_USAGE, ":plot wants one dimension or two, and here are %u: fix a label, as in X[0,i,j], or sum over it", x->rank);
  report_heading(p->out, name, axis, x);
  buf_char(p->out, '\n');
  if (!x->count) return LEAVE_OK;
  return x->rank == 1 ? line_plot(p->out, axis[0], x) : shade_plot(p->out, axis, x);
}
