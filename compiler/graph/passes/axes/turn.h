/* graph/passes/axes/turn.h - vertices with their axes in another order. */
#ifndef EIN_TURN_H
#define EIN_TURN_H

#include "graph/passes/rebuild.h"

/* By slot: its read. */
const Expr **turn_reads(Arena *a, const EinSum *s);
/* The vertex, where some have other axes. order, by old id: the old axis at each new one; NULL: unchanged. */
EinNode *turn_vertex(Rebuild *b, EinRegion *r, const EinNode *n, uint32_t *const *order);

#endif
