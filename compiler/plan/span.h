/* plan/span.h - the range of an index over a block of labels, and whether it wraps around the end of a dimension. */
#ifndef EIN_PLAN_SPAN_H
#define EIN_PLAN_SPAN_H

#include "plan/partition.h"

/* Inclusive. */
typedef struct Reached { int64_t least, most; } Reached;
/* A block of a label: from low to high - 1. */
typedef struct SpanBlock { int64_t low, high; bool cut; } SpanBlock;

/* Finds the range of e. Returns false if it cannot be told. Sets *moves if e contains a label that is cut. */
bool span_find(const Expr *e, const SpanBlock *label, bool *moves, Reached *out);

/* Returns the index in normal form, but keeps the coefficients of a dividend: (i - k) % 8 does not become (i + 7*k) %
 * 8. */
const Expr *span_index(Exprs *p, const Expr *index);

/* An index that wraps around a dimension of `size` places: the value of `of` stands at place (of + add) % size, and
 * of + add is at least 0 and less than size * laps. */
typedef struct SpanWrap { const Expr *of; int64_t add, laps; } SpanWrap;
/* Whether blocks of labels, each cut into `count`, need windows around the dimension's end, none longer than the
 * dimension. */
bool span_wrap(
    const Expr *index, uint32_t n_label, const int64_t *extent, const uint32_t *count, int64_t size, SpanWrap *out);

#endif
