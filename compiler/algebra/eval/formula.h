/* algebra/eval/formula.h - for kernels only: an expression as a list of steps, arguments first, evaluated for a row
 * of points: consecutive values of the last label, with the other labels fixed. A step that does not depend on the
 * last label runs once per row, and again only when a label changes on which it depends.
 *
 * Every step runs at every point, because arithmetic cannot fail. A read can. Then its value is a fault, which
 * propagates through later steps, and which `and`, `or` and select drop if they do not need it. So lazy evaluation
 * needs no jumps. */
#ifndef EIN_ALGEBRA_FORMULA_H
#define EIN_ALGEBRA_FORMULA_H

#include "block.h"

enum { ROW = 32 };           /* the most points of a row */

typedef struct Formula Formula;

/* Returns NULL and *why if the expression contains what only a schedule makes, or an open size. A monoid has two
 * arguments and no labels. */
Formula *formula_new(Arena *a, const Expr *e, DType want, uint32_t n_label, uint32_t n_turn, const char **why);
/* Whether all reads of a slot have this dtype and rank. */
bool formula_reads(const Formula *p, uint32_t slot, DType t, uint32_t rank);

/* Discards all computed values. asked: NULL, or by element of the tensor in the slot, set to 1 if it is read. */
void formula_start(Formula *p, const int64_t *turn, uint8_t *asked, uint32_t slot);
void formula_labels(Formula *p, uint32_t k, const int64_t *at); /* labels from k on have new values */
void formula_row(Formula *p, int64_t from, uint32_t n);         /* the last label takes n values from here */
void formula_params(Formula *p, Value a, Value b);              /* of a monoid */
/* active: NULL, or by point: inactive points are computed too, but request nothing. */
void formula_run(Formula *p, const Block *const *operand, uint32_t n, const uint8_t *active);
void formula_values(const Formula *p, uint32_t n, Value *to);
bool formula_fails(const Formula *p);                           /* at some point */
/* formula_fault: the read that failed at a point, with the place that it requested; only if formula_failed. */
typedef struct Fault { uint32_t slot, rank; const int64_t *index; } Fault;
bool formula_failed(const Formula *p, uint32_t point);
Fault formula_fault(const Formula *p, uint32_t point, Arena *a);

#endif
