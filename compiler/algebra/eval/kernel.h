/* algebra/eval/kernel.h - for the evaluator alone: an EinSum over a box of its labels, on blocks. Its expressions are Formulas (formula.h). */
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
static inline bool reducer_is_arg(Reducer r) { return r == RED_ARGMAX || r == RED_ARGMIN; }
/* argmax and argmin: whether x is to be preferred to the best so far: the first NaN to all else, the first of equals. */
bool fold_beats(const Fold *f, Value x, Value best);

/* ---- kernels --------------------------------------------------------------------------------------------- */

typedef struct Kernel Kernel;
/* n_turn: turn counters around. NULL: it has what only a schedule makes, or an open size (said in *why). */
Kernel *kernel_new(Arena *a, const EinSum *sum, uint32_t n_turn, const char **why);
/* Whether all reads of a slot are of this dtype and rank. */
bool kernel_reads(const Kernel *k, uint32_t slot, DType t, uint32_t rank);

typedef struct KernelCall {
  const int64_t *low, *high;  /* of each label */
  const int64_t *whole;       /* argmax and argmin: by reduced label, its extent in the whole tensor */
  const int64_t *turn;
  const Block *const *operand; /* one a slot; NULL: there is no tuple. Rank and dtype are as the reads say */
  Block *out;                 /* of dtype acc, over the output labels' box; gets a mask where elements are without value */
  Arena *arena;               /* for the mask and a fault's index */
  bool gaps;                  /* a map: where it fails the element is HAS_MISSED */
  uint8_t *asked;             /* NULL, or by element of operand `slot`: set to 1 where it is read */
  uint32_t slot, rank, dim;   /* of a fault: which read, and the index that is outside; rank: there is no value */
  const int64_t *index;       /*   the place that was asked for */
  const int64_t *at;          /*   and the labels' */
} KernelCall;
bool kernel_run(Kernel *k, KernelCall *c); /* false: a fault */

#endif
