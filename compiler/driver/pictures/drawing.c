/* driver/pictures/drawing.c - the ends and paths of arrows in a picture. */
#include "drawing.h"

#include <math.h>

/* ---- ends of arrows ------------------------------------------------------------------------------------------ */

/* The x position of its source, or target, next to a box. */
static double neighbour_x(const Drawing *d, uint32_t edge, bool at_end) {
  const LayoutEdge *e = &d->l.edges.at[edge];
  if (e->bends.len) return at_end ? vec_last(e->bends).x : e->bends.at[0].x;
  return d->l.boxes.at[at_end ? e->from : e->to].x;
}

/* Spreads the arrows of a box side by side, in the order of their other ends. */
static void ends_spread(Drawing *d, uint32_t box, bool at_end, double *out) {
  VEC(uint32_t) here = {0};
  for (uint32_t i = 0; i < d->l.edges.len; i++) {
    const LayoutEdge *e = &d->l.edges.at[i];
    if (e->back || (at_end ? e->to : e->from) != box) continue;
    vec_push(d->arena, here, i);
    for (uint32_t k = here.len - 1;
         k > 0 && neighbour_x(d, here.at[k], at_end) < neighbour_x(d, here.at[k - 1], at_end); k--) {
      uint32_t swap = here.at[k];
      here.at[k] = here.at[k - 1];
      here.at[k - 1] = swap;
    }
  }
  double room = d->l.boxes.at[box].width - 24, step = here.len > 1 ? room / (here.len - 1) : 0;
  if (step > 34) step = 34;
  for (uint32_t k = 0; k < here.len; k++) out[here.at[k]] = d->l.boxes.at[box].x + step * (k - (here.len - 1) / 2.0);
}

/* ---- ways -------------------------------------------------------------------------------------------------------- */

static void curve(Buf *b, double x, double y, double x2, double y2) {
  double mid = (y + y2) / 2;
  buf_printf(b, " C%.0f %.0f %.0f %.0f %.0f %.0f", x, mid, x2, mid, x2, y2);
}

static void way(Drawing *d, uint32_t i) {
  const LayoutEdge *e = &d->l.edges.at[i];
  const LayoutBox *from = &d->l.boxes.at[e->from], *to = &d->l.boxes.at[e->to];
  double x = d->start[i], y = from->y + from->height;
  buf_printf(d->b, "M%.0f %.0f", x, y);
  for (uint32_t k = 0; k < e->bends.len; k++) {
    LayoutPoint at = e->bends.at[k];
    curve(d->b, x, y, at.x, at.y);
    x = at.x;
    y = at.y;
  }
  curve(d->b, x, y, d->end[i], to->y - 5);
}

/* From turn to turn: upwards on the right side. */
static void way_back(Drawing *d, const LayoutEdge *e) {
  const LayoutBox *from = &d->l.boxes.at[e->from], *to = &d->l.boxes.at[e->to];
  double x = from->x + from->width / 2, y = from->y + from->height / 2, x2 = to->x + to->width / 2,
         y2 = to->y + to->height / 2;
  double out = fmax(x, x2) + 40;
  buf_printf(d->b, "M%.0f %.0f C%.0f %.0f %.0f %.0f %.0f %.0f", x, y, out, y, out, y2, x2 + 5, y2);
}

void drawing_way(Drawing *d, uint32_t edge) {
  if (d->l.edges.at[edge].back) way_back(d, &d->l.edges.at[edge]);
  else way(d, edge);
}

LayoutPoint drawing_word_place(const Drawing *d, uint32_t i) {
  const LayoutEdge *e = &d->l.edges.at[i];
  const LayoutBox *from = &d->l.boxes.at[e->from], *to = &d->l.boxes.at[e->to];
  static const double heights[] = {0.55, 0.78, 0.32};
  uint32_t turn = 0;
  for (uint32_t k = 0; k < d->l.edges.len; k++) turn += d->l.edges.at[k].to == e->to && d->end[k] < d->end[i];
  double t = heights[turn % 3], x0 = e->bends.len ? vec_last(e->bends).x : d->start[i];
  double y0 = e->bends.len ? vec_last(e->bends).y : from->y + from->height, y = to->y - 46 + 42 * t;
  double u = (y - y0) / (to->y - 5 - y0), s = u * u * (3 - 2 * u);
  if (u < 0) u = s = 0;
  return (LayoutPoint){x0 + (d->end[i] - x0) * s, y};
}

void drawing_place(Drawing *d) {
  layout_make(d->arena, &d->l);
  d->start = NEW_ARRAY(d->arena, double, d->l.edges.len + 1);
  d->end = NEW_ARRAY(d->arena, double, d->l.edges.len + 1);
  for (uint32_t i = 0; i < d->l.boxes.len; i++) {
    ends_spread(d, i, false, d->start);
    ends_spread(d, i, true, d->end);
  }
}

const char drawing_heads[] =
    "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"4\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
    "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker><marker id=\"am\" "
    "viewBox=\"0 0 8 8\" "
    "refX=\"4\" refY=\"4\" markerWidth=\"11\" markerHeight=\"11\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
    "<path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n";
