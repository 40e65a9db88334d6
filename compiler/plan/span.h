/* plan/span.h - how far the values of an index lie over a block of labels, and whether they go around the end of a dimension. */
#ifndef EIN_PLAN_SPAN_H
#define EIN_PLAN_SPAN_H

#include "plan/partition.h"

/* Ends included. */
typedef struct Reached { int64_t least, most; } Reached;
/* A block of a label: from low to high - 1. */
typedef struct SpanBlock { int64_t low, high; bool cut; } SpanBlock;

/* False: nothing is told of it. *moves is set where a label that is cut stands in it. */
bool span_find(const Expr *e, const SpanBlock *label, bool *moves, Reached *out);

/* An index in normal form, but that what it is the remainder of keeps its coefficients as they are: (i - k) % 8 is not (i + 7*k) % 8. */
const Expr *span_index(Exprs *p, const Expr *index);

/* `index`, so, of a dimension with `size` places: value `of` + `add` stands at place (of + add) % size, is not below 0, and below size * laps. */
typedef struct SpanWrap { const Expr *of; int64_t add, laps; } SpanWrap;
/* Whether blocks of labels, each cut into `count`, reach windows around its end that are no longer than it is. */
bool span_wrap(const Expr *index, uint32_t n_label, const int64_t *extent, const uint32_t *count, int64_t size, SpanWrap *out);

#endif
