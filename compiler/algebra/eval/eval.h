/* algebra/eval/eval.h - evaluates programs over relations on small data. Each site has a store, and an operation sees
 * only its own site's store. A Tra has one site.
 *
 * It runs plain loops and uses only what the text says. It is an error that names the node if a kernel reads an
 * element outside the block it was given, tuples do not meet, arrays do not abut, or a key occurs twice or, without
 * `holes`, not at all. */
#ifndef EIN_ALGEBRA_EVAL_H
#define EIN_ALGEBRA_EVAL_H

#include "algebra/algebra.h"

typedef struct AlgArray {    /* C order, packed */
  DType dtype;
  uint32_t rank;
  int64_t *shape;
  int64_t count;
  void *data;                /* elements of the dtype's own size (bool: a byte) */
  uint8_t *has;              /* NULL: every element has a value; else one byte an element */
} AlgArray;

typedef struct AlgGiven { Str name; AlgArray array; } AlgGiven;

typedef struct AlgRun {
  Arena *arena;
  const Algebra *program;
  const AlgGiven *input; uint32_t n_input; /* whole tensors; their blocks are put where the program places them */
  AlgArray *output;          /* whole, one for each of program->outputs */
  double *moved;             /* by node id: bytes that its moves brought to sites in the run */
  double *calls;             /* by node id: tuples that it made, over all sites and the run */
  int64_t most_live;         /* the largest store of a site after any operation, in bytes; nothing is dropped before
                              * its last user */
  int64_t max_elements;      /* the most elements of one array; 0: 2^28 */
} AlgRun;

/* Returns false with a line in *why and the node's position in *place. */
bool algebra_eval(AlgRun *r, const char **why, Place *place);

#endif
