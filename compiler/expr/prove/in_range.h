/* expr/prove/in_range.h - whether everything that an EinSum reads lies within what it reads from, wherever it is
 * computed.
 *
 * Elaboration proves that for every program, and passes preserve it, so checkers do not ask again. A text from
 * outside comes without a proof, and the C code tests only indices that depend on data. So a text's indices are
 * proved before it is used, under the conditions that guard them (domain, where, conditions) and what is known of its
 * sizes. */
#ifndef EIN_EXPR_IN_RANGE_H
#define EIN_EXPR_IN_RANGE_H

#include "expr/einsum.h"
#include "prove.h"

/* Whether an index depends on data or random numbers: whoever computes it tests it then. */
bool index_is_data(const Expr *e);

/* Whether it is never negative if labels and turns are not, by its form alone. */
bool expr_is_natural(const Expr *e);

/* Whether it, or a part of it, may overflow 64 bits, given its numbers and the literal extents of labels; symbolic
 * sizes count as small. */
bool index_may_wrap(const Facts *f, const Expr *e);

typedef struct InRange {
  Exprs *exprs;
  Arena *arena;
  Facts facts;               /* what holds around the EinSum: turns and sizes; the labels are the EinSum's own */
  void *ctx;
  /* The extent of dimension k of what `read` reads; NULL: its index need not be proved. */
  const Expr *(*extent)(void *ctx, const Expr *read, uint32_t k);
  /* What follows if a bool read is true, over the reader's labels; NULL: nothing is known. May be NULL. */
  const Expr *(*meaning)(void *ctx, const Expr *read);
  /* Called for `index`, dimension k of the slot `slot`, if it is not proved. */
  void (*open)(void *ctx, int64_t slot, uint32_t k, const Expr *index, const Proof *why);
} InRange;

/* Visits all reads of e, including those in an index, each with its own guard. e is computed if guard holds (NULL:
 * always). */
typedef void ReadVisit(void *ctx, const Expr *read, const Expr *guard);
void reads_guarded(Arena *a, Exprs *p, const Expr *e, const Expr *guard, ReadVisit *visit, void *ctx);
/* What follows if `read`, a read of `reader`, is true. It reads the result of `made`, a map or `all`. Labels that
 * `made` reduces correspond to those that the reader reduces, in order, if they have the same extent. NULL: nothing
 * known without data. */
typedef struct SumOf { const EinSum *sum; const Expr *const *bound; } SumOf;
const Expr *sum_meaning(Arena *a, Exprs *p, SumOf made, SumOf reader, const Expr *read);
/* Checks all reads of s; bound: the extents of its labels. */
void in_range_sum(const InRange *q, const EinSum *s, const Expr *const *bound);
/* Proves that index is at least 0 and below extent (NULL: only the former) wherever guard (NULL: everywhere) holds. */
Proof in_range_prove(const InRange *q, const Expr *guard, const Expr *index, const Expr *extent);

/* What a text's complaint appends: " where i = 4, t = 0, N = 2"; "" if no point is known. label, turn: names, by
 * number. */
const char *in_range_where(
    Arena *a, const Proof *p, uint32_t n_label, const Str *label, const Str *turn, const Expr *index);

#endif
