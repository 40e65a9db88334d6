/* expr/prove/span.h - the range of an index over a block of labels. */
#ifndef EIN_SPAN_H
#define EIN_SPAN_H

#include "prove.h"

/* Inclusive. */
typedef struct Reached { int64_t least, most; } Reached;
/* A block of a label: from low to high - 1. */
typedef struct SpanBlock { int64_t low, high; bool cut; } SpanBlock;

/* Finds the range of e. Returns false if it cannot be told. Sets *moves if e contains a label that is cut. */
bool span_find(const Expr *e, const SpanBlock *label, bool *moves, Reached *out);

/* The same where labels and turns have the extents that the facts tell as numbers. */
bool span_by_facts(const Expr *e, const Facts *facts, Reached *out);

/* An index without the number that is added to it: of + by, or (of + by) % around, if around is not 0. */
typedef struct SpanBase { const Expr *of; int64_t by, around; } SpanBase;
SpanBase span_base(const Expr *index);

/* The range with expressions, for ranges of labels that `label` gives, none of them empty. Returns false, and leaves
 * *out, if e depends on data or turns, or on labels by operations other than `+ - max min` and products with and
 * quotients by numbers. */
typedef struct SpanEnds { const Expr *least, *most; } SpanEnds;
typedef SpanEnds SpanLabel(void *ctx, Exprs *p, int64_t label);
bool span_ends(Exprs *p, const Expr *e, SpanLabel *label, void *ctx, SpanEnds *out);

#endif
