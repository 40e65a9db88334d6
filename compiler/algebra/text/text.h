/* algebra/text/text.h - shared by print.c, read.c and the checker of programs over relations. */
#ifndef EIN_ALGEBRA_TEXT_H
#define EIN_ALGEBRA_TEXT_H

#include "expr/region/region.h"
#include "algebra/algebra.h"

enum { ALG_ON = 128 }; /* a placement can name key dimensions below this */

extern const RegionFace algebra_face;

/* The first word of the node's line. */
const char *alg_word(const Algebra *p, const AlgNode *n);
bool alg_is_tensor(const AlgNode *n); /* not a repeat */
/* Operand 0, or NULL. */
AlgNode *alg_of(const AlgNode *n);

#endif
