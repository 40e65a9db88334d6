/* algebra/eval/kernel.h - for the evaluator only: an EinSum over a box of its labels, on blocks. Its expressions are
 * Formulas (formula.h). */
#ifndef EIN_ALGEBRA_KERNEL_H
#define EIN_ALGEBRA_KERNEL_H

#include "block.h"

/* ---- combining values ---------------------------------------------------------------------------------- */

typedef struct Formula Formula;
typedef struct Fold {        /* a reducer on an accumulator */
  Reducer reducer;
  DType acc;
  Value identity;
  Formula *monoid;
} Fold;
Fold fold_of(Arena *a, Reducer reducer, const Monoid *monoid, DType acc);
Value fold_pair(const Fold *f, Value a, Value b);
/* argmax and argmin: whether x beats the best so far. The first NaN beats everything, the first of equals wins. */
bool fold_beats(const Fold *f, Value x, Value best);

/* ---- kernels --------------------------------------------------------------------------------------------- */

typedef struct Kernel Kernel;
/* n_turn: turn counters of the repeats around. Returns NULL and *why if it contains what only a schedule makes, or an
 * open size. */
Kernel *kernel_new(Arena *a, const EinSum *sum, uint32_t n_turn, const char **why);
/* Whether all reads of a slot have this dtype and rank. */
bool kernel_reads(const Kernel *k, uint32_t slot, DType t, uint32_t rank);

typedef struct KernelCall {
  const int64_t *low, *high;  /* by label */
  const int64_t *whole;       /* argmax and argmin: by reduced label, its extent in the whole tensor */
  const int64_t *turn;
  const Block *const *operand; /* one per slot; NULL: there is no tuple. Rank and dtype are those of the reads */
  Block *out;                 /* of dtype acc, over the output labels' box; gets a mask if elements are without value */
  Arena *arena;               /* for the mask and a fault's index */
  bool gaps;                  /* a map: an element whose evaluation fails is HAS_MISSED */
  uint8_t *asked;             /* NULL, or by element of operand `slot`: set to 1 if it is read */
  uint32_t slot, rank, dim;   /* of a fault: which read, and which index is out of range; rank: there is no value */
  const int64_t *index;       /* the place that it requested */
  const int64_t *at;          /* the labels' values */
} KernelCall;
bool kernel_run(Kernel *k, KernelCall *c); /* false: a fault */

#endif
