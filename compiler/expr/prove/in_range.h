/* expr/prove/in_range.h - whether what an EinSum reads lies inside of what it is read from, wherever it is computed.
 *
 * Elaboration proves that of every program, and passes keep it true; so checkers do not ask again. A text that comes from
 * outside proves nothing by being one, and C looks at no index but those that data decide: so a text's indices are
 * proved before it goes anywhere, under what guards them (domain, where, conditions) and what holds of its sizes. */
#ifndef EIN_EXPR_IN_RANGE_H
#define EIN_EXPR_IN_RANGE_H

#include "expr/einsum.h"
#include "prove.h"

/* An index that data or chance decides: whoever computes it looks at it then. */
bool index_is_data(const Expr *e);

/* Never negative where labels and turns are not, by what it is made of alone. */
bool expr_is_natural(const Expr *e);

/* It, or a part of it, may leave 64 bits by its numbers and by labels of literal extents; symbolic sizes are taken to be small. */
bool index_may_wrap(const Facts *f, const Expr *e);

typedef struct InRange {
  Exprs *exprs;
  Arena *arena;
  Facts facts;               /* what holds around the EinSum: turns, and of sizes; labels are its own */
  void *ctx;
  /* How large dimension k of what `read` reads is; NULL: nothing is to be shown of its index. */
  const Expr *(*extent)(void *ctx, const Expr *read, uint32_t k);
  /* What follows where a bool read is true, over the labels of the reader; NULL: nothing is known. May be NULL. */
  const Expr *(*meaning)(void *ctx, const Expr *read);
  /* Not proved: `index` is one of the slot `slot`, dimension k. */
  void (*open)(void *ctx, int64_t slot, uint32_t k, const Expr *index, const Proof *why);
} InRange;

/* All reads of e, which is computed where guard (NULL: always) holds; those in an index too: each with its own guard. */
typedef void ReadVisit(void *ctx, const Expr *read, const Expr *guard);
void reads_guarded(Arena *a, Exprs *p, const Expr *e, const Expr *guard, ReadVisit *visit, void *ctx);
/* What follows where `read`, which `reader` has, is true: it is of what `made` makes, a map or `all`. Labels that `made` reduces are those
 * that the reader reduces, in order, if they have one extent. NULL: nothing that is known without data. */
typedef struct SumOf { const EinSum *sum; const Expr *const *bound; } SumOf;
const Expr *sum_meaning(Arena *a, Exprs *p, SumOf made, SumOf reader, const Expr *read);
/* All reads of s; bound: the extents of its labels. */
void in_range_sum(const InRange *q, const EinSum *s, const Expr *const *bound);
/* index is at least 0 and below extent (NULL: that is not asked) wherever guard (NULL: everywhere) holds. */
Proof in_range_prove(const InRange *q, const Expr *guard, const Expr *index, const Expr *extent);

/* What a text's complaint adds: " where i = 4, t = 0, N = 2"; "" where no point is known. label, turn: names, by number. */
const char *in_range_where(Arena *a, const Proof *p, uint32_t n_label, const Str *label, const Str *turn, const Expr *index);

#endif
