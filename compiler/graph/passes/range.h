/* graph/passes/range.h - internals of the passes: the range that a predicate gives a label, and its number of
 * points. */
#ifndef EIN_RANGE_H
#define EIN_RANGE_H

#include "expr/prove/prove.h"
#include "rebuild.h"

/* Rewrites the predicate's conditions on quotients of the label by a number (l // 4 == e, l // 4 < e) as bounds of
 * the label. */
const Expr *range_of_quotients(Exprs *p, const Facts *facts, const Expr *where, uint32_t label, const Expr *size);

/* Rewrites the predicate's comparisons as bounds of the label where they have another form: distances, squares,
 * factors, maxima, quotients by an expression. bounds.c */
const Expr *bounds_of_label(Exprs *p, const Facts *facts, const Expr *where, uint32_t label, const Expr *size);

/* Joins conjuncts that say where the label begins, or ends, of which one is data, into one: so a running reduction goes
 * from or to it. The caller must prove the reads again. */
const Expr *ends_joined(Exprs *p, const Expr *where, uint32_t label, const Expr *size);

/* The number of points, an i64 without the label, in a vertex of at most 63 labels. *rest: the predicate's other
 * conditions (NULL: none). Returns NULL if some conjunct with the label is not a bound of it. where NULL: all
 * points. */
const Expr *range_points(Exprs *p, const Expr *where, uint32_t label, const Expr *size, const Expr **rest);

#endif
