/* driver/repl/plot_svg.c - the picture of :plot for a notebook: for one dimension a band from the minimum to the
 * maximum of each column, for two rectangles from light to dark. */
#include <math.h>

#include "repl.h"

enum { WIDTH = 600, HEIGHT = 220, LEFT = 70, TOP = 12, BELOW = 26 };

static void head(Buf *b, int width, int height) {
  buf_printf(b,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
      "font-family=\"sans-serif\" font-size=\"11\" fill=\"#555\">\n",
      width, height, width, height);
}

/* Names of labels contain no characters that are special in XML, except the prime. */
static void axis_text(Buf *b, const char *axis, int64_t n, int x, int y) {
  buf_printf(b, "<text x=\"%d\" y=\"%d\">%s=0 to %lld</text>\n", x, y, *axis ? axis : "index", (long long)(n - 1));
}

/* How far up a value is, from 0 to 1; the middle, if all are equal. Halves, so that no difference is infinite. */
static double part_of(PlotRange all, double v) {
  if (!(all.most > all.least)) return 0.5;
  return (v / 2 - all.least / 2) / (all.most / 2 - all.least / 2);
}

static double height_of(PlotRange all, double v) {
  const double top = TOP, height = HEIGHT;
  return top + (1 - part_of(all, v)) * height;
}

static double across(int64_t c, int64_t columns) {
  const double left = LEFT, width = WIDTH;
  return left + (columns > 1 ? (double)c / (double)(columns - 1) * width : width / 2);
}

static bool column_there(const PlotRange *c) {
  return c->least <= c->most;
}

/* Columns from..end, all of which have numbers: forward along the maxima, back along the minima. */
static void band(Buf *b, const PlotRange *column, int64_t from, int64_t end, int64_t columns, PlotRange all) {
  if (end - from == 1) {
    double x = across(from, columns), top = height_of(all, column[from].most),
           bottom = height_of(all, column[from].least);
    buf_printf(b, "<rect x=\"%.1f\" y=\"%.1f\" width=\"2\" height=\"%.1f\"/>\n", x - 1, top - 1, bottom - top + 2);
    return;
  }
  buf_str(b, "<polygon points=\"");
  for (int64_t c = from; c < end; c++) buf_printf(b, "%.1f,%.1f ", across(c, columns), height_of(all, column[c].most));
  for (int64_t c = end; c-- > from;) buf_printf(b, "%.1f,%.1f ", across(c, columns), height_of(all, column[c].least));
  buf_str(b, "\"/>\n");
}

void plot_line_svg(Buf *b, const char *axis, int64_t n, const PlotRange *column, int64_t columns, PlotRange all) {
  head(b, LEFT + WIDTH + 10, TOP + HEIGHT + BELOW);
  buf_printf(b, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#bbb\"/>\n", LEFT, TOP, TOP + HEIGHT, LEFT + WIDTH);
  buf_str(b, "<g fill=\"#1f6fb4\" stroke=\"#1f6fb4\">\n");
  for (int64_t c = 0; c < columns;) {
    int64_t from = c;
    while (c < columns && column_there(&column[c])) c++;
    if (c > from) band(b, column, from, c, columns, all);
    else c++;
  }
  buf_str(b, "</g>\n");
  if (all.least <= all.most)
    buf_printf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.5g</text>\n", LEFT - 6, TOP + 8, all.most);
  if (all.least < all.most)
    buf_printf(b, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.5g</text>\n", LEFT - 6, TOP + HEIGHT, all.least);
  axis_text(b, axis, n, LEFT, TOP + HEIGHT + 18);
  buf_str(b, "</svg>\n");
}

/* From light to dark blue. */
static void shade(Buf *b, PlotRange all, double v) {
  double p = part_of(all, v);
  int r = (int)(247 - 239 * p), g = (int)(251 - 203 * p), l = (int)(255 - 148 * p);
  buf_printf(b, "fill=\"#%02x%02x%02x\"/>\n", (unsigned)r, (unsigned)g, (unsigned)l);
}

void plot_shade_svg(Buf *b, const char *const *axis, const int64_t *shape, const double *mean, int64_t rows,
    int64_t columns, PlotRange all) {
  int64_t most = rows > columns ? rows : columns;
  int side = most <= 20 ? 16 : most <= 40 ? 10 : 6, width = (int)columns * side, height = (int)rows * side;
  head(b, (width > 330 ? width : 330) + 20, height + TOP + 44);
  buf_printf(b,
      "<g shape-rendering=\"crispEdges\">\n<rect x=\"10\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#eee\"/>\n", TOP,
      width, height);
  for (int64_t k = 0; k < rows * columns; k++) {
    if (isnan(mean[k])) continue;
    buf_printf(b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" ", 10 + (int)(k % columns) * side,
        TOP + (int)(k / columns) * side, side, side);
    shade(b, all, mean[k]);
  }
  buf_printf(b, "</g>\n<text x=\"10\" y=\"%d\">down %s=0 to %lld, across %s=0 to %lld</text>\n", height + TOP + 18,
      *axis[0] ? axis[0] : "index", (long long)(shape[0] - 1), *axis[1] ? axis[1] : "index", (long long)(shape[1] - 1));
  if (all.least <= all.most)
    buf_printf(b, "<text x=\"10\" y=\"%d\">light %.5g, dark %.5g</text>\n", height + TOP + 36, all.least, all.most);
  buf_str(b, "</svg>\n");
}
