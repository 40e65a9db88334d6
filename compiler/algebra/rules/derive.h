/* algebra/rules/derive.h - derives one Ia of a program from another of the same program by the rules of the algebra:
 * from Table 1's plan to the one that was found (TRA paper, section 4). Both come from the same graph and the same
 * cuts, so they have the same joins in the same order; where these are, what moves and how parts are reduced may
 * differ. */
#ifndef EIN_ALGEBRA_DERIVE_H
#define EIN_ALGEBRA_DERIVE_H

#include "rules.h"

typedef struct Derivation {
  const Rules *rules;
  /* After each rule: the program is sound and computes the same. `at` is the node to which the rule was applied. */
  void (*applied)(void *ctx, const Rule *rule, const AlgNode *at);
  void *ctx;
} Derivation;

/* Rewrites p, rule by rule, until it is the goal. Returns false if the rules do not lead there: then p is as near as
 * they went. */
bool algebra_derive(Algebra *p, const Algebra *goal, const Derivation *how);

#endif
