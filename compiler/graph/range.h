/* graph/range.h - inside of the passes: how many points of a label a predicate lets through. */
#ifndef EIN_RANGE_H
#define EIN_RANGE_H

#include "expr/prove.h"
#include "rebuild.h"

/* An i64 without the label, in a vertex of at most 63 labels; *rest: what the predicate asks beside it (NULL: nothing). NULL: some conjunct that looks at the
 * label is no bound of it. where NULL: all points. */
const Expr *range_points(Exprs *p, const Expr *where, uint32_t label, const Expr *size, const Expr **rest);

#endif
