/* algebra/window.h - what index expressions and predicates can be over a box of labels, as expressions over the key that gives the box. */
#ifndef EIN_ALGEBRA_WINDOW_H
#define EIN_ALGEBRA_WINDOW_H

#include "relation.h"

/* The smallest and the largest value (`low`, `high` - 1) of an i64 expression over labels whose ranges are these, none empty. False where
 * it hangs on data, turns or more than `+ - max min`, products with and quotients by numbers. */
bool window_of(Exprs *p, const Expr *index, const RelDim *range, RelDim *out);

/* Over the key: false only where the predicate holds at no point of the box. NULL: it may always hold. */
const Expr *window_possible(Exprs *p, const Expr *predicate, const RelDim *range);

#endif
