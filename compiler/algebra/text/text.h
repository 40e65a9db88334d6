/* algebra/text/text.h - what print.c, read.c and the checker say alike of a program over relations. */
#ifndef EIN_ALGEBRA_TEXT_H
#define EIN_ALGEBRA_TEXT_H

#include "expr/region/region.h"
#include "algebra/algebra.h"

enum { ALG_ON = 128 }; /* a placement knows key dimensions below */

extern const RegionFace algebra_face;

/* The word that the node's line begins with. */
const char *alg_word(const Algebra *p, const AlgNode *n);
bool alg_is_tensor(const AlgNode *n); /* no repeat */
/* What is operand 0, or NULL. */
AlgNode *alg_of(const AlgNode *n);

#endif
