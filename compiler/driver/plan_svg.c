/* driver/plan_svg.c - the graph of a plan as an inline SVG: a box a tensor, with a chip for what each axis cuts; an arrow a read, as
 * wide as what it moves. */
#include <math.h>
#include <string.h>

#include "plan_layout.h"
#include "plan_page.h"

enum { CHIP_MOST = 7, NAME_MOST = 22 }; /* characters */
static const double PAD = 9, TITLE = 21, ROW = 20, NOTE = 15, WORD = 38, CHAR = 7, MARGIN = 24; /* pixels */

typedef struct Picture {
  const Facts *f;
  Buf *b;
  Arena *arena;
  Layout l;
  uint32_t axes;
  double chip;               /* its width */
  double most;               /* that moves along an arrow */
  double *start, *end;       /* by edge: where on a box it begins and ends */
} Picture;

static uint32_t axes_of(const Facts *f) {
  return f->p->by_bytes ? f->p->placing->mesh.n : 0;
}

static bool has_cuts(const FactTensor *t) {
  return t->vertex >= 0 && !t->state;
}

/* ---- sizes ------------------------------------------------------------------------------------------------ */

static size_t chars(const char *s) {
  size_t n = 0;
  for (; *s; s++) n += ((unsigned char)*s & 0xc0) != 0x80;
  return n;
}

static void chip_size(Picture *p) {
  size_t most = 2;
  for (uint32_t i = 0; i < p->f->tensors.len; i++)
    for (uint32_t a = 0; a < p->axes; a++) {
      size_t home = chars(axis_home(p->f, i, a).name), cut = has_cuts(&p->f->tensors.at[i]) ? chars(axis_cuts(p->f, i, a).name) : 0;
      if (home > most) most = home;
      if (cut > most) most = cut;
    }
  p->chip = 8 + CHAR * (double)(most < CHIP_MOST ? most : CHIP_MOST);
}

static const char *note_of(Picture *p, const FactTensor *t) {
  if (t->brought <= 0) return NULL;
  const char *what = !p->f->p->by_bytes ? "to be reduced" : t->vertex < 0 ? "for copies" : "to bring it home";
  return arena_printf(p->arena, "%s %s", facts_moved(p->arena, p->f, t->brought), what);
}

static const char *size_of(Picture *p, const FactTensor *t) {
  return bytes_of(p->arena, t->size);
}

static double larger(double a, double b) {
  return a > b ? a : b;
}

static LayoutBox box_size(Picture *p, const FactTensor *t) {
  const char *note = note_of(p, t), *name = text_short(p->arena, t->name, NAME_MOST);
  double words = CHAR * (double)(chars(name) + 2 + strlen(size_of(p, t)));
  double chips = p->axes ? WORD + (p->chip + 3) * p->axes : CHAR * (double)chars(text_short(p->arena, t->cut, NAME_MOST));
  LayoutBox x = {.width = 2 * PAD + larger(words, chips), .height = TITLE + 6};
  if (note) x.width = larger(x.width, 2 * PAD + 6.8 * (double)strlen(note));
  x.width = ceil(x.width);
  x.height += note ? NOTE : 0;
  if (p->axes) x.height += has_cuts(t) ? 2 * ROW : ROW;
  else if (*t->cut) x.height += ROW;
  return x;
}

/* ---- ends of arrows ------------------------------------------------------------------------------------------ */

/* Where it comes from, or goes to, next to a box. */
static double neighbour_x(const Picture *p, uint32_t edge, bool at_end) {
  const LayoutEdge *e = &p->l.edges.at[edge];
  if (e->bends.len) return at_end ? vec_last(e->bends).x : e->bends.at[0].x;
  return p->l.boxes.at[at_end ? e->from : e->to].x;
}

/* Those of one box side by side, in the order of what they come from. */
static void ends_spread(Picture *p, uint32_t box, bool at_end, double *out) {
  VEC(uint32_t) here = {0};
  for (uint32_t i = 0; i < p->l.edges.len; i++) {
    const LayoutEdge *e = &p->l.edges.at[i];
    if (e->back || (at_end ? e->to : e->from) != box) continue;
    vec_push(p->arena, here, i);
    for (uint32_t k = here.len - 1; k > 0 && neighbour_x(p, here.at[k], at_end) < neighbour_x(p, here.at[k - 1], at_end); k--) {
      uint32_t swap = here.at[k];
      here.at[k] = here.at[k - 1];
      here.at[k - 1] = swap;
    }
  }
  double room = p->l.boxes.at[box].width - 24, step = here.len > 1 ? room / (here.len - 1) : 0;
  if (step > 34) step = 34;
  for (uint32_t k = 0; k < here.len; k++) out[here.at[k]] = p->l.boxes.at[box].x + step * (k - (here.len - 1) / 2.0);
}

/* ---- arrows ----------------------------------------------------------------------------------------------------- */

static double width_of(const Picture *p, double moved) {
  return p->most > 0 && moved > 0 ? 1.6 + 5 * sqrt(moved / p->most) : 1;
}

static void curve(Buf *b, double x, double y, double x2, double y2) {
  double mid = (y + y2) / 2;
  buf_printf(b, " C%.0f %.0f %.0f %.0f %.0f %.0f", x, mid, x2, mid, x2, y2);
}

static void way(Picture *p, uint32_t i) {
  const LayoutEdge *e = &p->l.edges.at[i];
  const LayoutBox *from = &p->l.boxes.at[e->from], *to = &p->l.boxes.at[e->to];
  double x = p->start[i], y = from->y + from->height;
  buf_printf(p->b, "M%.0f %.0f", x, y);
  for (uint32_t k = 0; k < e->bends.len; k++) {
    LayoutPoint at = e->bends.at[k];
    curve(p->b, x, y, at.x, at.y);
    x = at.x;
    y = at.y;
  }
  curve(p->b, x, y, p->end[i], to->y - 5);
}

/* From turn to turn: up at the right side. */
static void way_back(Picture *p, const LayoutEdge *e) {
  const LayoutBox *from = &p->l.boxes.at[e->from], *to = &p->l.boxes.at[e->to];
  double x = from->x + from->width / 2, y = from->y + from->height / 2, x2 = to->x + to->width / 2, y2 = to->y + to->height / 2;
  double out = larger(x, x2) + 40;
  buf_printf(p->b, "M%.0f %.0f C%.0f %.0f %.0f %.0f %.0f %.0f", x, y, out, y, out, y2, x2 + 5, y2);
}

static const char *read_title(Picture *p, const FactRead *r) {
  const char *from = p->f->tensors.at[r->tensor].name, *to = p->f->tensors.at[r->vertex].name;
  if (r->moved <= 0) return arena_printf(p->arena, "%s reads %s: nothing moves", to, from);
  return arena_printf(p->arena, "%s reads %s: %s", to, from, facts_moved(p->arena, p->f, r->moved));
}

static void arrow(Picture *p, uint32_t i) {
  const FactRead *r = &p->f->reads.at[i];
  const LayoutEdge *e = &p->l.edges.at[i];
  buf_printf(p->b, "<path class=\"e%s%s\" data-f=\"%u\" data-t=\"%u\" stroke-width=\"%.1f\" marker-end=\"url(#%s)\" d=\"",
             r->moved > 0 ? " m" : "",
             e->back ? " back" : "", r->tensor, r->vertex, width_of(p, r->moved), r->moved > 0 ? "am" : "a");
  if (e->back) way_back(p, e);
  else way(p, i);
  buf_str(p->b, "\"><title>");
  html_text(p->b, read_title(p, r));
  buf_str(p->b, "</title></path>\n");
}

/* What moves stands in the gap above the reader; neighbours at other heights, so that they can be read. */
static void arrow_word(Picture *p, uint32_t i) {
  const FactRead *r = &p->f->reads.at[i];
  const LayoutEdge *e = &p->l.edges.at[i];
  if (r->moved <= 0 || e->back) return;
  const LayoutBox *from = &p->l.boxes.at[e->from], *to = &p->l.boxes.at[e->to];
  static const double heights[] = {0.55, 0.78, 0.32};
  uint32_t turn = 0;
  for (uint32_t k = 0; k < p->l.edges.len; k++) turn += p->l.edges.at[k].to == e->to && p->end[k] < p->end[i];
  double t = heights[turn % 3], x0 = e->bends.len ? vec_last(e->bends).x : p->start[i];
  double y0 = e->bends.len ? vec_last(e->bends).y : from->y + from->height, y = to->y - 46 + 42 * t;
  double u = (y - y0) / (to->y - 5 - y0), s = u * u * (3 - 2 * u);
  if (u < 0) u = s = 0;
  buf_printf(p->b, "<text class=\"w\" x=\"%.0f\" y=\"%.0f\">", x0 + (p->end[i] - x0) * s + width_of(p, r->moved) / 2 + 4, y);
  html_text(p->b, facts_moved(p->arena, p->f, r->moved));
  buf_str(p->b, "</text>\n");
}

/* ---- boxes --------------------------------------------------------------------------------------------------------- */

static void chip(Picture *p, double x, double y, uint32_t axis, AxisUse use) {
  bool cuts = strcmp(use.name, "*") != 0 && strcmp(use.name, "-") != 0;
  const char *colour = cuts ? arena_printf(p->arena, "x%u%s", axis % PAGE_COLOURS, use.parts ? " parts" : "") : "none";
  buf_printf(p->b, "<rect class=\"chip %s\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"15\" rx=\"3\"/><text class=\"c "
             "%s\" x=\"%.1f\" y=\"%.0f\">", colour, x,
             y, p->chip, colour, x + p->chip / 2, y + 11);
  html_text(p->b, text_short(p->arena, use.name, CHIP_MOST));
  buf_str(p->b, "</text>");
}

static void chips(Picture *p, uint32_t i, double x, double y, bool home) {
  buf_printf(p->b, "<text class=\"k\" x=\"%.0f\" y=\"%.0f\">%s</text>", x, y + 11, home ? "home" : "cut");
  for (uint32_t a = 0; a < p->axes; a++) chip(p, x + WORD + a * (p->chip + 3), y, a,
                                              home ? axis_home(p->f, i, a) : axis_cuts(p->f, i, a));
}

static void box(Picture *p, uint32_t i) {
  const FactTensor *t = &p->f->tensors.at[i];
  const LayoutBox *at = &p->l.boxes.at[i];
  const char *kind = t->vertex < 0 ? "in" : t->state ? "state" : t->output ? "out" : "v", *note = note_of(p, t);
  double x = at->x - at->width / 2, y = at->y;
  buf_printf(p->b, "<a href=\"#t%u\" id=\"n%u\" class=\"n %s\" data-n=\"%u\"><title>", i, i, kind, i);
  html_text(p->b, t->equation);
  buf_printf(p->b, "</title><rect class=\"box\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" rx=\"%d\"/>", x, y,
             at->width, at->height, t->vertex < 0 ? 12 : 4);
  buf_printf(p->b, "<text class=\"name\" x=\"%.0f\" y=\"%.0f\">", x + PAD, y + 16);
  html_text(p->b, text_short(p->arena, t->name, NAME_MOST));
  buf_printf(p->b, "</text><text class=\"s\" x=\"%.0f\" y=\"%.0f\">%s</text>", x + at->width - PAD, y + 16, size_of(p, t));
  y += TITLE + 3;
  if (p->axes && has_cuts(t)) chips(p, i, x + PAD, y, false), y += ROW;
  if (p->axes) chips(p, i, x + PAD, y, true), y += ROW;
  else if (*t->cut) {
    buf_printf(p->b, "<text class=\"k\" x=\"%.0f\" y=\"%.0f\">", x + PAD, y + 11);
    html_text(p->b, text_short(p->arena, t->cut, NAME_MOST));
    buf_str(p->b, "</text>");
    y += ROW;
  }
  if (note) buf_printf(p->b, "<text class=\"m\" x=\"%.0f\" y=\"%.0f\">%s</text>", x + PAD, y + 10, note);
  buf_str(p->b, "</a>\n");
}

/* ---- the picture ------------------------------------------------------------------------------------------------------ */

static void picture_plan(Picture *p) {
  const Facts *f = p->f;
  chip_size(p);
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    LayoutBox x = box_size(p, &f->tensors.at[i]);
    vec_push(p->arena, p->l.boxes, x);
  }
  for (uint32_t i = 0; i < f->reads.len; i++) {
    const FactRead *r = &f->reads.at[i];
    vec_push(p->arena, p->l.edges, ((LayoutEdge){.from = r->tensor, .to = r->vertex, .back = r->back}));
    if (r->moved > p->most) p->most = r->moved;
  }
  layout_make(p->arena, &p->l);
  p->start = NEW_ARRAY(p->arena, double, p->l.edges.len + 1);
  p->end = NEW_ARRAY(p->arena, double, p->l.edges.len + 1);
  for (uint32_t i = 0; i < p->l.boxes.len; i++) {
    ends_spread(p, i, false, p->start);
    ends_spread(p, i, true, p->end);
  }
}

void page_graph(const Facts *f, Buf *b) {
  Picture p = {.f = f, .b = b, .arena = b->arena, .axes = axes_of(f)};
  if (f->tensors.len > PICTURE_MOST) {
    buf_printf(b, "<p>The picture is left out, as there are more than %d tensors.</p>\n", PICTURE_MOST);
    return;
  }
  picture_plan(&p);
  double w = p.l.width + 2 * MARGIN + 40, h = p.l.height + 2 * MARGIN;
  buf_printf(b, "<div class=\"scroll\"><svg class=\"dag\" role=\"img\" aria-labelledby=\"dag-t\" width=\"%.0f\" "
             "height=\"%.0f\" viewBox=\"%.0f %.0f %.0f %.0f\">\n", w, h,
             -MARGIN, -MARGIN, w, h);
  buf_str(b, "<title id=\"dag-t\">The tensors of the program as boxes, each above those that read it; the table below says "
          "the same in words</title>\n"
          "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"4\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
          "markerUnits=\"userSpaceOnUse\" "
          "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker><marker id=\"am\" viewBox=\"0 0 8 8\" refX=\"4\" "
          "refY=\"4\" markerWidth=\"11\" "
          "markerHeight=\"11\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n");
  for (uint32_t i = 0; i < f->reads.len; i++) arrow(&p, i);
  for (uint32_t i = 0; i < f->tensors.len; i++) box(&p, i);
  for (uint32_t i = 0; i < f->reads.len; i++) arrow_word(&p, i);
  buf_str(b, "</svg></div>\n");
}
