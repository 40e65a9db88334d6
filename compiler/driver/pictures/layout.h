/* driver/pictures/layout.h - places the boxes of a graph in a picture: in layers, makers above readers (after
 * Sugiyama).
 *
 * In: the boxes' sizes, and edges that form no cycle except through back edges. Out: positions in the plane, y
 * downwards. Deterministic. */
#ifndef EIN_LAYOUT_H
#define EIN_LAYOUT_H

#include "base/base.h"

typedef struct LayoutPoint { double x, y; } LayoutPoint;

typedef struct LayoutBox {
  double width, height;
  double x, y;               /* out: its centre, its top */
  uint32_t layer;            /* out */
} LayoutBox;

typedef struct LayoutEdge {
  uint32_t from, to;
  bool back;                 /* ignored by the layout: the caller routes it */
  VEC(LayoutPoint) bends;    /* out: its points in the layers between the two */
} LayoutEdge;

typedef struct Layout {
  VEC(LayoutBox) boxes;
  VEC(LayoutEdge) edges;
  double width, height;      /* out: of the whole; boxes begin at 0 */
} Layout;

void layout_make(Arena *a, Layout *l);

#endif
