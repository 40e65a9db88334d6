/* graph/passes/point.h - inside of the passes: which one point of a label is wanted of a vertex. */
#ifndef EIN_POINT_H
#define EIN_POINT_H

#include "expr/prove/prove.h"
#include "rebuild.h"

/* By id, of each of a vertex's output labels: the one point that is read, without labels and in range wherever the loops around the vertex come
 * to; NULL: there is no such. Vertices that are shown to others than vertices, or whose labels are no dimensions, have NULL for all. */
const Expr *const *const *points_find(Arena *a, const EinGraph *g, const bool *shown);

#endif
