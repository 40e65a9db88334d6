/* algebra/eval/eval.h - programs over relations computed on small data: a store for each site, and an operation sees its own site's store
 * alone. Of a Tra there is one site.
 *
 * It goes by plain loops and looks at nothing but what the text says. A kernel that reads an element that is not in the block it
 * was given, tuples that do not meet, arrays that do not abut, a key that is there twice or, without `holes`, not at all:
 * each is an error that names the node. */
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
  const AlgGiven *input; uint32_t n_input; /* whole tensors: their blocks are put where the program says they are */
  AlgArray *output;          /* whole, one for each of program->outputs */
  double *moved;             /* by node id: bytes that sites received in it, over the run */
  double *calls;             /* by node id: tuples that came out, over sites and the run */
  int64_t most_live;         /* the largest store that a site had after some operation, in bytes; nothing is dropped before its last user */
  int64_t max_elements;      /* refuse more than this in one array; 0: 2^28 */
} AlgRun;

/* False with a line in *why and the node's place in *place. */
bool algebra_eval(AlgRun *r, const char **why, Place *place);

#endif
