/* algebra/window.h - bounds of index expressions and predicates over a box of labels, as expressions over the box's
 * key. */
#ifndef EIN_ALGEBRA_WINDOW_H
#define EIN_ALGEBRA_WINDOW_H

#include "relation.h"

/* The smallest and the largest value (`low`, `high` - 1) of an i64 expression over labels with these ranges, none
 * empty. Returns false if it depends on data, on turns, or on operations other than `+ - max min` and products with
 * and quotients by numbers. */
bool window_of(Exprs *p, const Expr *index, const RelDim *range, RelDim *out);

/* A bool over the key, false only if the predicate holds at no point of the box. NULL: it may always hold. */
const Expr *window_possible(Exprs *p, const Expr *predicate, const RelDim *range);

#endif
