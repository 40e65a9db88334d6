/* driver/pictures/graph_svg.h - a program's graph as a picture that needs nothing else. */
#ifndef EIN_GRAPH_SVG_H
#define EIN_GRAPH_SVG_H

#include "graph/graph.h"

enum { GRAPH_SVG_MOST = 1000 }; /* boxes */
bool graph_svg(Buf *b, const EinGraph *g); /* false: there are more */

#endif
