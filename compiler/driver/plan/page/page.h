/* driver/plan/page/page.h - a plan for many sites as a self-contained HTML page, and as a picture for Graphviz.
 *
 * The page is complete without its script, which only sorts the table and highlights related parts. Everything that
 * comes from the program is escaped. The page depends only on the plan. */
#ifndef EIN_PLAN_PAGE_H
#define EIN_PLAN_PAGE_H

#include "driver/plan/facts.h"

enum {
  PICTURE_MOST = 300,        /* the most tensors of a graph that is drawn */
  MESH_MOST = 256,           /* the most sites of a mesh that is drawn */
  PAGE_COLOURS = 6           /* of axes; further axes reuse them */
};

void page_html(const Facts *f, Buf *b);
void picture_dot(const Facts *f, Buf *b);
bool picture_svg(const Facts *f, Buf *b); /* self-contained; false: there are more than PICTURE_MOST tensors */

/* ---- shared by the page's files ------------------------------------------------------------------------ */
const char *html(Arena *a, const char *s);                               /* escaped */
/* Up to the sentences after the title, "PATH on 8 sites"; from the end of the main part. */
void page_begin(Buf *b, const char *path, const char *on);
void page_end(Buf *b);
const char *text_short(Arena *a, const char *s, size_t most);             /* at most that many characters, the last
                                                                           * three dots if it is cut */
const char *times_text(Arena *a, const Mesh *m, const char *times);      /* "2 x 2 x 3" */

/* What an axis cuts, of a vertex's labels or of a tensor at home: a name, "*" (all have the same), or "-" (idle). */
typedef struct AxisUse { const char *name; bool parts; } AxisUse;
AxisUse axis_cuts(const Facts *f, uint32_t vertex, uint32_t axis);
AxisUse axis_home(const Facts *f, uint32_t tensor, uint32_t axis);

void page_graph(const Facts *f, Buf *b);                                 /* svg.c */
void page_mesh(const Facts *f, Buf *b);                                  /* charts.c */
void page_traffic(const Facts *f, Buf *b);
void page_memory(const Facts *f, Buf *b);
extern const char *const page_style[], *const page_script[];             /* style.c; lines, followed by NULL */

#endif
