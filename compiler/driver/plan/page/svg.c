/* driver/plan/page/svg.c - the graph of a plan as an inline SVG: a box per tensor, with a chip for what each axis cuts;
 * an arrow per read, as wide as what it moves. */
#include <math.h>
#include <string.h>

#include "driver/pictures/drawing.h"
#include "page.h"
#include "driver/table.h"

enum { CHIP_MOST = 7, NAME_MOST = 22 }; /* characters */
static const double PAD = 9, TITLE = 21, ROW = 20, NOTE = 15, WORD = 38, CHAR = 7, MARGIN = 24; /* pixels */

typedef struct Picture {
  const Facts *f;
  Buf *b;
  Arena *arena;
  Drawing d;
  uint32_t axes;
  double chip;               /* its width */
  double most;               /* that moves along an arrow */
} Picture;

static uint32_t axes_of(const Facts *f) {
  return f->p->asked.by_bytes ? f->p->placing->mesh.n : 0;
}

static bool has_cuts(const FactTensor *t) {
  return t->vertex >= 0 && !t->state;
}

/* ---- sizes ------------------------------------------------------------------------------------------------ */

static void chip_size(Picture *p) {
  size_t most = 2;
  for (uint32_t i = 0; i < p->f->tensors.len; i++)
    for (uint32_t a = 0; a < p->axes; a++) {
      size_t home = text_columns(axis_home(p->f, i, a).name),
             cut = has_cuts(&p->f->tensors.at[i]) ? text_columns(axis_cuts(p->f, i, a).name) : 0;
      if (home > most) most = home;
      if (cut > most) most = cut;
    }
  p->chip = 8 + CHAR * (double)(most < CHIP_MOST ? most : CHIP_MOST);
}

static const char *note_of(Picture *p, const FactTensor *t) {
  if (t->brought <= 0) return NULL;
  const char *what = !p->f->p->asked.by_bytes ? "to be reduced" : t->vertex < 0 ? "for copies" : "to bring it home";
  return arena_printf(p->arena, "%s %s", facts_moved(p->arena, p->f, t->brought), what);
}

static const char *size_of(Picture *p, const FactTensor *t) {
  return bytes_of(p->arena, t->size);
}

static LayoutBox box_size(Picture *p, const FactTensor *t) {
  const char *note = note_of(p, t), *name = text_short(p->arena, t->name, NAME_MOST);
  double words = CHAR * (double)(text_columns(name) + 2 + strlen(size_of(p, t)));
  double chips =
      p->axes ? WORD + (p->chip + 3) * p->axes : CHAR * (double)text_columns(text_short(p->arena, t->cut, NAME_MOST));
  LayoutBox x = {.width = 2 * PAD + fmax(words, chips), .height = TITLE + 6};
  if (note) x.width = fmax(x.width, 2 * PAD + 6.8 * (double)strlen(note));
  x.width = ceil(x.width);
  x.height += note ? NOTE : 0;
  if (p->axes) x.height += has_cuts(t) ? 2 * ROW : ROW;
  else if (*t->cut) x.height += ROW;
  return x;
}

/* ---- arrows ----------------------------------------------------------------------------------------------------- */

static double width_of(const Picture *p, double moved) {
  return p->most > 0 && moved > 0 ? 1.6 + 5 * sqrt(moved / p->most) : 1;
}

static const char *read_title(Picture *p, const FactRead *r) {
  const char *from = p->f->tensors.at[r->tensor].name, *to = p->f->tensors.at[r->vertex].name;
  if (r->moved <= 0) return arena_printf(p->arena, "%s reads %s: nothing moves", to, from);
  return arena_printf(p->arena, "%s reads %s: %s", to, from, facts_moved(p->arena, p->f, r->moved));
}

static void arrow(Picture *p, uint32_t i) {
  const FactRead *r = &p->f->reads.at[i];
  const LayoutEdge *e = &p->d.l.edges.at[i];
  buf_printf(p->b,
      "<path class=\"e%s%s\" data-f=\"%u\" data-t=\"%u\" stroke-width=\"%.1f\" marker-end=\"url(#%s)\" d=\"",
      r->moved > 0 ? " m" : "", e->back ? " back" : "", r->tensor, r->vertex, width_of(p, r->moved),
      r->moved > 0 ? "am" : "a");
  drawing_way(&p->d, i);
  buf_printf(p->b, "\"><title>%s</title></path>\n", html(p->arena, read_title(p, r)));
}

static void arrow_word(Picture *p, uint32_t i) {
  const FactRead *r = &p->f->reads.at[i];
  if (r->moved <= 0 || p->d.l.edges.at[i].back) return;
  LayoutPoint at = drawing_word_place(&p->d, i);
  buf_printf(p->b, "<text class=\"w\" x=\"%.0f\" y=\"%.0f\">%s</text>\n", at.x + width_of(p, r->moved) / 2 + 4, at.y,
      facts_moved(p->arena, p->f, r->moved));
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

static void chip(Picture *p, double x, double y, uint32_t axis, AxisUse use) {
  bool cuts = strcmp(use.name, "*") != 0 && strcmp(use.name, "-") != 0;
  const char *colour = cuts ? arena_printf(p->arena, "x%u%s", axis % PAGE_COLOURS, use.parts ? " parts" : "") : "none";
  buf_printf(p->b,
      "<rect class=\"chip %s\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"15\" rx=\"3\"/><text class=\"c "
      "%s\" x=\"%.1f\" y=\"%.0f\">%s</text>",
      colour, x, y, p->chip, colour, x + p->chip / 2, y + 11,
      html(p->arena, text_short(p->arena, use.name, CHIP_MOST)));
}

static void chips(Picture *p, uint32_t i, double x, double y, bool home) {
  buf_printf(p->b, "<text class=\"k\" x=\"%.0f\" y=\"%.0f\">%s</text>", x, y + 11, home ? "home" : "cut");
  for (uint32_t a = 0; a < p->axes; a++) chip(p, x + WORD + a * (p->chip + 3), y, a,
                                              home ? axis_home(p->f, i, a) : axis_cuts(p->f, i, a));
}

static void box(Picture *p, uint32_t i) {
  const FactTensor *t = &p->f->tensors.at[i];
  const LayoutBox *at = &p->d.l.boxes.at[i];
  const char *kind = t->vertex < 0 ? "in" : t->state ? "state" : t->output ? "out" : "v", *note = note_of(p, t);
  double x = at->x - at->width / 2, y = at->y;
  buf_printf(p->b, "<a href=\"#t%u\" id=\"n%u\" class=\"n %s\" data-n=\"%u\"><title>%s</title>", i, i, kind, i,
      html(p->arena, t->equation));
  buf_printf(p->b, "<rect class=\"box\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" rx=\"%d\"/>", x, y,
             at->width, at->height, t->vertex < 0 ? 12 : 4);
  buf_printf(p->b, "<text class=\"name\" x=\"%.0f\" y=\"%.0f\">%s</text>", x + PAD, y + 16,
      html(p->arena, text_short(p->arena, t->name, NAME_MOST)));
  buf_printf(p->b, "<text class=\"s\" x=\"%.0f\" y=\"%.0f\">%s</text>", x + at->width - PAD, y + 16, size_of(p, t));
  y += TITLE + 3;
  if (p->axes && has_cuts(t)) chips(p, i, x + PAD, y, false), y += ROW;
  if (p->axes) chips(p, i, x + PAD, y, true), y += ROW;
  else if (*t->cut) {
    buf_printf(p->b, "<text class=\"k\" x=\"%.0f\" y=\"%.0f\">%s</text>", x + PAD, y + 11,
        html(p->arena, text_short(p->arena, t->cut, NAME_MOST)));
    y += ROW;
  }
  if (note) buf_printf(p->b, "<text class=\"m\" x=\"%.0f\" y=\"%.0f\">%s</text>", x + PAD, y + 10, note);
  buf_str(p->b, "</a>\n");
}

/* ---- the picture ------------------------------------------------------------------------------------------------- */

static void picture_plan(Picture *p) {
  const Facts *f = p->f;
  chip_size(p);
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    LayoutBox x = box_size(p, &f->tensors.at[i]);
    vec_push(p->arena, p->d.l.boxes, x);
  }
  vec_each(const FactRead, r, f->reads) {
    vec_push(p->arena, p->d.l.edges, ((LayoutEdge){.from = r->tensor, .to = r->vertex, .back = r->back}));
    if (r->moved > p->most) p->most = r->moved;
  }
  drawing_place(&p->d);
}

/* alone: as a separate file, with the page's style. */
static void picture(const Facts *f, Buf *b, bool alone) {
  Picture p = {.f = f, .b = b, .arena = b->arena, .d = {.arena = b->arena, .b = b}, .axes = axes_of(f)};
  picture_plan(&p);
  double w = p.d.l.width + 2 * MARGIN + 40, h = p.d.l.height + 2 * MARGIN;
  buf_printf(b,
      "<svg%s class=\"dag\" role=\"img\" aria-labelledby=\"dag-t\" width=\"%.0f\" height=\"%.0f\" viewBox=\"%.0f "
      "%.0f %.0f %.0f\">\n",
      alone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", w, h, -MARGIN, -MARGIN, w, h);
  buf_printf(b, "<title id=\"dag-t\">The tensors of the program as boxes, each above those that read it%s</title>\n",
             alone ? "" : "; the table below says the same in words");
  if (alone) {
    buf_str(b, "<style>svg{background:var(--bg)}\n");
    for (uint32_t i = 0; page_style[i]; i++) buf_printf(b, "%s\n", page_style[i]);
    buf_str(b, "</style>\n");
  }
  buf_str(b, drawing_heads);
  for (uint32_t i = 0; i < f->reads.len; i++) arrow(&p, i);
  for (uint32_t i = 0; i < f->tensors.len; i++) box(&p, i);
  for (uint32_t i = 0; i < f->reads.len; i++) arrow_word(&p, i);
  buf_str(b, "</svg>");
}

void page_graph(const Facts *f, Buf *b) {
  if (f->tensors.len > PICTURE_MOST) {
    buf_printf(b, "<p>The picture is left out, as there are more than %d tensors.</p>\n", PICTURE_MOST);
    return;
  }
  buf_str(b, "<div class=\"scroll\">");
  picture(f, b, false);
  buf_str(b, "</div>\n");
}

bool picture_svg(const Facts *f, Buf *b) {
  if (f->tensors.len > PICTURE_MOST) return false;
  picture(f, b, true);
  buf_char(b, '\n');
  return true;
}
