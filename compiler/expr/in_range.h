/* expr/in_range.h - whether what an EinSum reads lies inside of what it is read from, wherever it is computed.
 *
 * Elaboration proves that of every program, and passes keep it true; so checkers do not ask again. A text that comes from
 * outside proves nothing by being one, and C looks at no index but those that data decide: so a text's indices are
 * proved before it goes anywhere, under what guards them (domain, where, conditions) and what holds of its sizes. */
#ifndef EIN_EXPR_IN_RANGE_H
#define EIN_EXPR_IN_RANGE_H

#include "einsum.h"
#include "prove.h"

/* An index that data or chance decides: whoever computes it looks at it then. */
bool index_is_data(const Expr *e);

typedef struct InRange {
  Exprs *exprs;
  Arena *arena;
  Facts facts;               /* what holds around the EinSum: turns, and of sizes; labels are its own */
  void *ctx;
  /* How large dimension k of what `read` reads is; NULL: nothing is to be shown of its index. */
  const Expr *(*extent)(void *ctx, const Expr *read, uint32_t k);
  /* Not proved: `index` is one of the slot `slot`, dimension k. */
  void (*open)(void *ctx, int64_t slot, uint32_t k, const Expr *index, const Proof *why);
} InRange;

/* All reads of s; bound: the extents of its labels. */
void in_range_sum(const InRange *q, const EinSum *s, const Expr *const *bound);
/* index is at least 0 and below extent wherever guard (NULL: everywhere) holds. */
Proof in_range_prove(const InRange *q, const Expr *guard, const Expr *index, const Expr *extent);

/* What a text's complaint adds: " where i = 4, t = 0, N = 2"; "" where no point is known. label, turn: names, by number. */
const char *in_range_where(Arena *a, const Proof *p, uint32_t n_label, const Str *label, const Str *turn, const Expr *index);

#endif
