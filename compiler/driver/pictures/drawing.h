/* driver/pictures/drawing.h - shared by pictures of graphs: boxes in layers (layout.h), and arrows
 * between them as SVG paths. */
#ifndef EIN_DRAWING_H
#define EIN_DRAWING_H

#include "layout.h"

typedef struct Drawing {
  Arena *arena;
  Buf *b;
  Layout l;                  /* fill in boxes and edges before drawing_place */
  double *start, *end;       /* by edge: its positions on the boxes where it begins and ends */
} Drawing;

void drawing_place(Drawing *d);
void drawing_way(Drawing *d, uint32_t edge);                       /* the path's data */
/* A place for the words of an edge, in the gap above its end; neighbours get different heights, so that they stay
 * readable. */
LayoutPoint drawing_word_place(const Drawing *d, uint32_t edge);
extern const char drawing_heads[];                                 /* markers `a` and `am`, for the heads of arrows */

#endif
