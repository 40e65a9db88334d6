/* driver/plan/layout.h - where the boxes of a graph go in a picture: in layers, makers above readers (after Sugiyama).
 *
 * In: the boxes' sizes, and edges that have no cycle but through those that go back. Out: places in one plane, y downwards. The same
 * for the same input. */
#ifndef EIN_PLAN_LAYOUT_H
#define EIN_PLAN_LAYOUT_H

#include "base/base.h"

typedef struct LayoutPoint { double x, y; } LayoutPoint;

typedef struct LayoutBox {
  double width, height;
  double x, y;               /* out: its middle, its top */
  uint32_t layer;            /* out */
} LayoutBox;

typedef struct LayoutEdge {
  uint32_t from, to;
  bool back;                 /* it takes no part: who draws it finds a way */
  VEC(LayoutPoint) bends;    /* out: where it passes layers between the two */
} LayoutEdge;

typedef struct Layout {
  VEC(LayoutBox) boxes;
  VEC(LayoutEdge) edges;
  double width, height;      /* out: of all; boxes begin at 0 */
} Layout;

void layout_make(Arena *a, Layout *l);

#endif
