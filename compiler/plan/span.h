/* plan/span.h - whether an index wraps around the end of a dimension, within a block of labels. */
#ifndef EIN_PLAN_SPAN_H
#define EIN_PLAN_SPAN_H

#include "expr/prove/span.h"
#include "plan/partition.h"

/* Returns the index in normal form, but keeps the coefficients of a dividend: (i - k) % 8 does not become (i + 7*k) %
 * 8. */
const Expr *span_index(Exprs *p, const Expr *index);

/* An index that wraps around a dimension of `size` places: the value of `of` stands at place (of + add) % size, and
 * of + add is at least 0 and less than size * laps. */
typedef struct SpanWrap { const Expr *of; int64_t add, laps; } SpanWrap;
/* Whether blocks of labels, each cut into `count`, need windows around the dimension's end, none longer than the
 * dimension. The windows are wider than the index by `wide`, and of + add is at least wide.below and less than size *
 * laps - wide.above. */
bool span_wrap(const Expr *index, uint32_t n_label, const int64_t *extent, const uint32_t *count, int64_t size,
    PartWide wide, SpanWrap *out);

#endif
