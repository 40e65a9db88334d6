/* graph/passes/narrow/point.h - internals of the passes: finds labels of a vertex of which only one point is read. */
#ifndef EIN_POINT_H
#define EIN_POINT_H

#include "expr/prove/prove.h"
#include "graph/passes/rebuild.h"

/* By node id, for each of a vertex's output labels: the only point that is read, without labels and in range for all
 * turns of the loops around the vertex; or an earlier label with the same value in all reads; or, for one label, an
 * affine expression of others that it equals in all reads, which where none reads may be out of range; NULL: none.
 * Vertices that others than vertices read, or whose labels are not dimensions, have NULL for all. */
const Expr *const *const *points_find(Arena *a, const EinGraph *g, const bool *shown);

#endif
