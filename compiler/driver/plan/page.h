/* driver/plan/page.h - a plan for many sites as one HTML page that needs nothing else, and as a picture for Graphviz.
 *
 * The page is whole without its script, which only sorts the table and marks what hangs together. Whatever comes from the program is
 * escaped. Nothing in it depends on anything but the plan. */
#ifndef EIN_PLAN_PAGE_H
#define EIN_PLAN_PAGE_H

#include "facts.h"

enum {
  PICTURE_MOST = 300,        /* tensors of a graph that is drawn */
  MESH_MOST = 256,           /* sites of a mesh that is drawn */
  PAGE_COLOURS = 6           /* of axes; further ones begin again */
};

void page_html(const Facts *f, Buf *b);
void picture_dot(const Facts *f, Buf *b);
bool picture_svg(const Facts *f, Buf *b); /* that needs nothing else; false: there are more than PICTURE_MOST tensors */

/* ---- shared by the page's files ------------------------------------------------------------------------ */
void html_text(Buf *b, const char *s);                                   /* escaped */
const char *text_short(Arena *a, const char *s, size_t most);             /* so many characters, the last three dots if there are more */
const char *times_text(Arena *a, const Mesh *m, const char *times);      /* "2 x 2 x 3" */

/* What an axis does: to a vertex's labels as it is computed, or to a tensor at home. A name, "*" (all have the same), or "-" (idle). */
typedef struct AxisUse { const char *name; bool parts; } AxisUse;
AxisUse axis_cuts(const Facts *f, uint32_t vertex, uint32_t axis);
AxisUse axis_home(const Facts *f, uint32_t tensor, uint32_t axis);

void page_graph(const Facts *f, Buf *b);                                 /* driver/plan/svg.c */
void page_mesh(const Facts *f, Buf *b);                                  /* driver/plan/charts.c */
void page_traffic(const Facts *f, Buf *b);
void page_memory(const Facts *f, Buf *b);
extern const char *const page_style[], *const page_script[];             /* driver/plan/style.c; lines, to NULL */

#endif
