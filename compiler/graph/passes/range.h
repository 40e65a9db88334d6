/* graph/passes/range.h - inside of the passes: from where to where a predicate says that a label goes, and how many points that are. */
#ifndef EIN_RANGE_H
#define EIN_RANGE_H

#include "expr/prove/prove.h"
#include "rebuild.h"

/* The predicate with what it asks of quotients of the label by a number (l // 4 == e, l // 4 < e) as bounds of the label. */
const Expr *range_of_quotients(Exprs *p, const Facts *facts, const Expr *where, uint32_t label, const Expr *size);

/* An i64 without the label, in a vertex of at most 63 labels; *rest: what the predicate asks beside it (NULL: nothing). NULL: some conjunct that looks at the
 * label is no bound of it. where NULL: all points. */
const Expr *range_points(Exprs *p, const Expr *where, uint32_t label, const Expr *size, const Expr **rest);

#endif
