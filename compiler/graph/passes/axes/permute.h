/* graph/passes/axes/permute.h - vertices with their axes in another order. */
#ifndef EIN_PERMUTE_H
#define EIN_PERMUTE_H

#include "graph/passes/rebuild.h"

/* By slot: its read. */
const Expr **permute_reads(Arena *a, const EinSum *s);
/* The vertex, where some have other axes. order, by old id: the old axis at each new one; NULL: unchanged. */
EinNode *permute_vertex(Rebuild *b, EinRegion *r, const EinNode *n, uint32_t *const *order);

#endif
