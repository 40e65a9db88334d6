/* graph/passes/masks/masks.h - a sum of products in which some factors are masks: a value where a condition holds, and
 * 0 elsewhere. */
#ifndef EIN_MASKS_H
#define EIN_MASKS_H

#include "graph/passes/rebuild.h"

enum { MASK_FACTORS = 16 };

typedef struct MaskFactor {
  const Expr *e;
  bool divides;
  uint32_t within;           /* it is part of the value of so many masks, outside of which it does not matter */
} MaskFactor;

typedef struct Masked {
  EinSum sum;                /* the vertex's, with the masks that it reads written into its body */
  EinNode at;                /* the vertex, with this sum and its inputs, which are nodes of the old graph */
  const Expr *where;         /* where all masks have their values; NULL: there is no mask */
  const Expr *body;          /* the product without masks, but with these values */
  uint32_t n_mask, n_factor;
  MaskFactor factor[MASK_FACTORS]; /* what is multiplied, or divided by */
} Masked;

/* Takes the sum apart. Returns false if it is no product with a mask. */
bool masks_find(Arena *scratch, Exprs *p, Rules *rules, const EinNode *n, Masked *to);
/* The opposite of a condition. */
const Expr *condition_not(Exprs *p, const Expr *e);

#endif
