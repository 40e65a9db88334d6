/* graph/inside.h - shared by the files of graph/ only. */
#ifndef EIN_GRAPH_INSIDE_H
#define EIN_GRAPH_INSIDE_H

#include "expr/region/region.h"
#include "expr/sum/law.h"
#include "expr/word.h"
#include "graph.h"

/* ---- face.c */
extern const RegionFace graph_face;

/* ---- graph.c */
const EinSum *sum_find(const EinGraph *g,
                       const EinSum *s);   /* the interned one with these fields, or NULL */
uint32_t region_level(const EinRegion *r); /* the number of repeats around it: 0 for the program */

/* ---- word.c */
ExprNames
node_names(const EinNode *n); /* its own labels, loop variables and operands; NULL: none */

/* The first word of the node's line. */
const char *node_word(const EinNode *n);

#endif
