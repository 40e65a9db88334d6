/* driver/pictures/graph_svg.h - a program's graph as a self-contained picture. */
#ifndef EIN_GRAPH_SVG_H
#define EIN_GRAPH_SVG_H

#include "graph/graph.h"

enum { GRAPH_SVG_MOST = 1000 }; /* the most boxes */
bool graph_svg(Buf *b, const EinGraph *g); /* false: there are more */

#endif
