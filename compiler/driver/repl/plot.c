/* driver/repl/plot.c - a value as a small picture in characters: a line for one dimension, shades for two. Long axes
 * are divided into pieces: a line shows the minimum and maximum of each, a shade the mean. */
#include <math.h>
#include <string.h>

#include "repl.h"

enum { COLUMNS = 72, LINE_ROWS = 12, SHADE_ROWS = 24, SVG_COLUMNS = 600, SVG_SHADES = 64 };
static const char shades[] = " .:-=+*#%@";

/* NaN: there is none, or it cannot be shown. */
static double value_at(const EvalArray *x, int64_t k) {
  double v = x->has && !x->has[k] ? (double)NAN : dtype_is_float(x->dtype) ? eval_real(x, k) : (double)eval_int(x, k);
  return isfinite(v) ? v : (double)NAN;
}

static void range_take(PlotRange *r, double v) {
  if (v < r->least) r->least = v;
  if (v > r->most) r->most = v;
}

static const PlotRange range_none = {(double)INFINITY, -(double)INFINITY};

/* Where piece i of `of` begins, on an axis with n points. */
static int64_t piece(int64_t n, int64_t of, int64_t i) { return n / of * i + n % of * i / of; }

/* How far up v is, in `steps` steps; the middle, if all values are equal. */
static int64_t step_of(PlotRange r, double v, int64_t steps) {
  /* halves, so that no difference is infinite */
  double part = r.most > r.least ? v / 2 - r.least / 2 : 0.5, all = r.most > r.least ? r.most / 2 - r.least / 2 : 1;
  int64_t k = (int64_t)(part / all * (double)steps);
  return k < 0 ? 0 : k < steps ? k : steps - 1;
}

/* ---- one dimension ---------------------------------------------------------------------------- */

/* The minimum and maximum of each column, and of all. */
static PlotRange columns_find(const EvalArray *x, PlotRange *column, int64_t columns) {
  PlotRange all = range_none;
  int64_t n = x->shape[0];
  for (int64_t c = 0; c < columns; c++) {
    column[c] = range_none;
    for (int64_t k = piece(n, columns, c); k < piece(n, columns, c + 1); k++) {
      double v = value_at(x, k);
      if (!isnan(v)) range_take(&column[c], v), range_take(&all, v);
    }
  }
  return all;
}

static void line_picture(Buf *svg, const char *axis, const EvalArray *x) {
  PlotRange column[SVG_COLUMNS];
  int64_t n = x->shape[0], columns = n < SVG_COLUMNS ? n : SVG_COLUMNS;
  PlotRange all = columns_find(x, column, columns);
  plot_line_svg(svg, axis, n, column, columns, all);
}

static Leave line_plot(Buf *out, const char *axis, const EvalArray *x) {
  int64_t n = x->shape[0], columns = n < COLUMNS ? n : COLUMNS;
  PlotRange column[COLUMNS], all = columns_find(x, column, columns);
  for (int64_t r = LINE_ROWS; r-- > 0;) {
    char row[COLUMNS + 1];
    for (int64_t c = 0; c < columns; c++) {
      bool any = column[c].least <= column[c].most;
      row[c] = any && step_of(all, column[c].least, LINE_ROWS) <= r && r <= step_of(all, column[c].most, LINE_ROWS)
          ? '*'
          : ' ';
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
      if (!isnan(v)) n++, sum += (v - sum) / n; /* a running mean: a sum may overflow a double */
    }
  return n > 0 ? sum : (double)NAN;
}

/* The mean of each block of rows and columns, row by row; and their minimum and maximum. */
static PlotRange shades_find(const EvalArray *x, int64_t rows, int64_t columns, double *mean) {
  PlotRange all = range_none;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < columns; c++) {
      double *m = &mean[r * columns + c];
      *m = block_mean(x, piece(x->shape[0], rows, r), piece(x->shape[0], rows, r + 1), piece(x->shape[1], columns, c),
                      piece(x->shape[1], columns, c + 1));
      if (!isnan(*m)) range_take(&all, *m);
    }
  return all;
}

static void shade_picture(Buf *svg, const char *const *axis, const EvalArray *x) {
  int64_t rows = x->shape[0] < SVG_SHADES ? x->shape[0] : SVG_SHADES,
          columns = x->shape[1] < SVG_SHADES ? x->shape[1] : SVG_SHADES;
  double mean[SVG_SHADES * SVG_SHADES];
  PlotRange all = shades_find(x, rows, columns, mean);
  plot_shade_svg(svg, axis, x->shape, mean, rows, columns, all);
}

static Leave shade_plot(Buf *out, const char *const *axis, const EvalArray *x) {
  int64_t rows = x->shape[0] < SHADE_ROWS ? x->shape[0] : SHADE_ROWS,
          columns = x->shape[1] < COLUMNS ? x->shape[1] : COLUMNS;
  int wide = columns * 2 <= COLUMNS ? 2 : 1; /* a character is about twice as high as it is wide */
  double mean[SHADE_ROWS * COLUMNS];
  PlotRange all = shades_find(x, rows, columns, mean);
  for (int64_t r = 0; r < rows; r++) {
    buf_str(out, "  |");
    for (int64_t c = 0; c < columns; c++)
      for (int w = 0; w < wide; w++)
        buf_char(out,
            isnan(mean[r * columns + c]) ? '?' : shades[step_of(all, mean[r * columns + c], (int64_t)strlen(shades))]);
    buf_str(out, "|\n");
  }
  buf_printf(out, "  down %s=0 to %lld, across %s=0 to %lld", *axis[0] ? axis[0] : "index",
      (long long)(x->shape[0] - 1), *axis[1] ? axis[1] : "index", (long long)(x->shape[1] - 1));
  if (all.least <= all.most) buf_printf(out, "; \"%s\" from %.5g to %.5g", shades, all.least, all.most);
  buf_char(out, '\n');
  return LEAVE_OK;
}

static bool has_number(const EvalArray *x) {
  for (int64_t k = 0; k < x->count; k++)
    if (!isnan(value_at(x, k))) return true;
  return false;
}

Leave prompt_plot(Prompt *p, const char *name, const char *const *axis, const EvalArray *x) {
  if (x->rank < 1 || x->rank > 2)
    return fail(p->s, LEAVE_USAGE,
        ":plot wants one dimension or two, and here are %u: fix a label, as in X[0,i,j], or sum over it", x->rank);
  report_heading(p->out, name, axis, x);
  buf_char(p->out, '\n');
  if (!x->count) return LEAVE_OK;
  if (p->svg && x->rank == 1) line_picture(p->svg, axis[0], x);
  if (p->svg && x->rank == 2) shade_picture(p->svg, axis, x);
  if (x->rank == 2) return shade_plot(p->out, axis, x);
  if (has_number(x)) return line_plot(p->out, axis[0], x);
  buf_str(p->out, "  none of its elements is a finite number\n");
  return LEAVE_OK;
}
