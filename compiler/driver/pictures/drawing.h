/* driver/pictures/drawing.h - what pictures of graphs share: boxes in layers (driver/plan/layout.h), and arrows between them as paths of an SVG. */
#ifndef EIN_DRAWING_H
#define EIN_DRAWING_H

#include "driver/plan/layout.h"

typedef struct Drawing {
  Arena *arena;
  Buf *b;
  Layout l;                  /* boxes and edges are put in before drawing_place */
  double *start, *end;       /* by edge: where on a box it begins and ends */
} Drawing;

void drawing_place(Drawing *d);
void drawing_way(Drawing *d, uint32_t edge);                       /* the path's data */
/* Where words at an edge can stand, in the gap above its end; neighbours at other heights, so that they can be read. */
LayoutPoint drawing_word_place(const Drawing *d, uint32_t edge);
extern const char drawing_heads[];                                 /* markers `a` and `am`, for the ends of arrows */

#endif
