/* graph/passes/interval.h - internals of the passes: between which integers a value lies, whatever the data are. */
#ifndef EIN_INTERVAL_H
#define EIN_INTERVAL_H

#include "graph/graph.h"

typedef struct Interval { int64_t low, high; } Interval; /* both included; of a value that may be any: all of i64 */

/* Of an expression of n. of: by id, that of each vertex before it. */
Interval interval_of_expr(const Interval *of, const EinNode *n, const Expr *e);
Interval interval_of_vertex(const Interval *of, const EinNode *n);
static inline bool interval_in_32(Interval r) { return r.low >= INT32_MIN && r.high <= INT32_MAX; }
Interval interval_of_dtype(DType t);

#endif
