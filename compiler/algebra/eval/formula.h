/* algebra/eval/formula.h - for kernels alone: an expression as a list of steps, arguments first, done at a row of points: so many values of the last
 * label, one after the other, while the other labels stay. A step that does not hang on that label is done once for a row, and not again
 * until a label changes that it does hang on.
 *
 * Every step is done at every point, for arithmetic cannot fail. A read can: then its value is a fault, which goes on through what is
 * computed of it, and is dropped by `and`, `or` and select where they do not need it. So laziness costs no jumps. */
#ifndef EIN_ALGEBRA_FORMULA_H
#define EIN_ALGEBRA_FORMULA_H

#include "block.h"

enum { ROW = 32 };           /* points of a row at most */

typedef struct Formula Formula;

/* *why: it has what only a schedule makes, or an open size. Of a monoid's two arguments there are no labels. */
Formula *formula_new(Arena *a, const Expr *e, DType want, uint32_t n_label, uint32_t n_turn, const char **why);
/* Whether all reads of a slot are of this dtype and rank. */
bool formula_reads(const Formula *p, uint32_t slot, DType t, uint32_t rank);

/* Nothing that was computed counts any longer. asked: NULL, or by element of what is in the slot, which is set to 1 where it is read. */
void formula_start(Formula *p, const int64_t *turn, uint8_t *asked, uint32_t slot);
void formula_labels(Formula *p, uint32_t k, const int64_t *at); /* labels from k on have new values */
void formula_row(Formula *p, int64_t from, uint32_t n);         /* the last label goes from here through n values */
void formula_params(Formula *p, Value a, Value b);              /* of a monoid */
/* active: NULL, or by point: the others are computed too, and not asked for. */
void formula_run(Formula *p, const Block *const *operand, uint32_t n, const uint8_t *active);
void formula_values(const Formula *p, uint32_t n, Value *to);
bool formula_fails(const Formula *p);                           /* at some point */
/* The read that failed at a point, with the place that it asked for; NULL: none did. */
typedef struct Fault { uint32_t slot, rank; const int64_t *index; } Fault;
bool formula_failed(const Formula *p, uint32_t point);
Fault formula_fault(const Formula *p, uint32_t point, Arena *a);

#endif
