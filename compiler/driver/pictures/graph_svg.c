/* driver/pictures/graph_svg.c - an EinGraph as a standalone SVG: its boxes and arrows (graph/dot.c decides which) in
 * layers. The contents of a repeat have a bar on their left; its turns' results go into the repeat's box. */
#include "drawing.h"
#include "graph_svg.h"
#include "driver/plan/page/page.h"
#include "driver/table.h"

enum { TEXT_MOST = 60 };      /* columns of a box */
static const double PAD = 9, LINE = 17, CHAR = 7.3, MARGIN = 24, SIDE = 60; /* pixels */

typedef struct Picture {
  Drawing d;
  const GraphPicture *p;
  uint32_t *inside;           /* by box: in how many repeats */
} Picture;

static bool is_repeat(const GraphBox *b) {
  return b->node && b->node->kind == EIN_REPEAT;
}

static const char *second_line(const GraphBox *b) {
  return b->node && !is_repeat(b) ? dtype_name(b->node->dtype) : NULL;
}

static void boxes_size(Picture *w) {
  const GraphPicture *p = w->p;
  w->inside = NEW_ARRAY(w->d.arena, uint32_t, p->boxes.len + 1);
  for (uint32_t i = 0; i < p->boxes.len; i++) {
    const GraphBox *b = &p->boxes.at[i];
    size_t n = text_columns(text_short(w->d.arena, b->text, TEXT_MOST));
    LayoutBox x = {.width = 2 * PAD + CHAR * (double)(n < 3 ? 3 : n), .height = LINE + 8 + (second_line(b) ? LINE : 0)};
    vec_push(w->d.arena, w->d.l.boxes, x);
    for (uint32_t k = i + 1; k < b->end; k++) w->inside[k]++;
  }
}

/* Makes the arrows, and invisible edges that keep a repeat below its whole body. */
static void edges_make(Picture *w) {
  const GraphPicture *p = w->p;
  bool *read = NEW_ARRAY(w->d.arena, bool, p->boxes.len + 1);
  vec_each(const GraphArrow, a, p->arrows) {
    LayoutEdge e = {.from = a->from, .to = a->to, .back = a->dashed && !is_repeat(&p->boxes.at[a->to])};
    read[a->from] |= !e.back;
    vec_push(w->d.arena, w->d.l.edges, e);
  }
  for (uint32_t i = 0; i < p->boxes.len; i++)
    for (uint32_t k = i + 1; k < p->boxes.at[i].end; k = p->boxes.at[k].end) {
      LayoutEdge e = {.from = k, .to = i};
      if (!read[k]) vec_push(w->d.arena, w->d.l.edges, e);
    }
}

static void arrow(Picture *w, uint32_t i) {
  const GraphArrow *a = &w->p->arrows.at[i];
  buf_printf(w->d.b, "<path class=\"e%s\" marker-end=\"url(#a)\" d=\"", a->dashed ? " back" : "");
  drawing_way(&w->d, i);
  buf_str(w->d.b, "\"/>\n");
}

static void arrow_word(Picture *w, uint32_t i) {
  const GraphArrow *a = &w->p->arrows.at[i];
  if (!*a->label || w->d.l.edges.at[i].back) return;
  LayoutPoint at = drawing_word_place(&w->d, i);
  buf_printf(w->d.b, "<text class=\"w\" x=\"%.0f\" y=\"%.0f\">%s</text>\n", at.x + 4, at.y,
      html(w->d.arena, text_short(w->d.arena, a->label, TEXT_MOST / 2)));
}

static void box(Picture *w, uint32_t i) {
  static const char *const kind[] = {[EIN_INPUT] = "in",
      [EIN_VERTEX] = "v",
      [EIN_REPEAT] = "repeat",
      [EIN_STATE] = "state",
      [EIN_FINAL] = "v",
      [EIN_STACK] = "v",
      [EIN_TURNS] = "v"};
  const GraphBox *b = &w->p->boxes.at[i];
  const LayoutBox *at = &w->d.l.boxes.at[i];
  Buf *out = w->d.b;
  double x = at->x - at->width / 2, y = at->y;
  buf_printf(
      out, "<g class=\"%s\"><title>%s</title>", b->node ? kind[b->node->kind] : "out", html(out->arena, b->text));
  buf_printf(out, "<rect class=\"box\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" rx=\"%d\"/>", x, y,
      at->width, at->height, !b->node || b->node->kind == EIN_INPUT ? 12 : 4);
  for (uint32_t k = 0; k < w->inside[i]; k++)
    buf_printf(
        out, "<rect class=\"bar\" x=\"%.0f\" y=\"%.0f\" width=\"3\" height=\"%.0f\"/>", x - 7 - 6 * k, y, at->height);
  buf_printf(out, "<text x=\"%.0f\" y=\"%.0f\">%s</text>", x + PAD, y + LINE,
      html(out->arena, text_short(w->d.arena, b->text, TEXT_MOST)));
  if (second_line(b))
    buf_printf(out, "<text class=\"s\" x=\"%.0f\" y=\"%.0f\">%s</text>", x + PAD, y + 2 * LINE, second_line(b));
  buf_str(out, "</g>\n");
}

/* Plain colours first: not every viewer supports variables. */
static const char style[] =
    "<style>svg{background:#fff;font:12px ui-monospace,'SF "
    "Mono',Menlo,Consolas,monospace}text{fill:#1c2127;white-space:pre}"
    ".box{fill:#fff;stroke:#59636e;stroke-width:1.2}.in .box{fill:#eaf2fb}.state .box,.repeat "
    ".box,.bar{fill:#fff4d6}.out .box{fill:#e9f6ec;"
    "stroke-width:2}.bar{stroke:#59636e;stroke-width:.6}.s,.w{fill:#59636e;font-size:11px}.e{fill:none;stroke:#59636e}"
    ".back{stroke-dasharray:5 "
    "4}#a{fill:#59636e}@media(prefers-color-scheme:dark){svg{background:#14181d}text{fill:#e4e8ec}"
    ".box{fill:#14181d;stroke:#9aa5b1}.in .box{fill:#1a2736}.state .box,.repeat .box,.bar{fill:#332b14}.out "
    ".box{fill:#16291c}"
    ".bar,.e{stroke:#9aa5b1}.s,.w,#a{fill:#9aa5b1}}</style>\n";

bool graph_svg(Buf *b, const EinGraph *g) {
  Picture w = {.d = {.arena = b->arena, .b = b}, .p = graph_picture(b->arena, g)};
  if (w.p->boxes.len > GRAPH_SVG_MOST) return false;
  boxes_size(&w);
  edges_make(&w);
  drawing_place(&w.d);
  double width = w.d.l.width + 2 * MARGIN + SIDE, height = w.d.l.height + 2 * MARGIN;
  buf_printf(b,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%.0f\" height=\"%.0f\" viewBox=\"%.0f %.0f "
      "%.0f %.0f\">\n",
      width, height, -MARGIN, -MARGIN, width, height);
  buf_str(b, "<title>A program's graph: each tensor above those that read it</title>\n");
  buf_str(b, style);
  buf_str(b, drawing_heads);
  for (uint32_t i = 0; i < w.p->arrows.len; i++) arrow(&w, i);
  for (uint32_t i = 0; i < w.p->boxes.len; i++) box(&w, i);
  for (uint32_t i = 0; i < w.p->arrows.len; i++) arrow_word(&w, i);
  buf_str(b, "</svg>\n");
  return true;
}
