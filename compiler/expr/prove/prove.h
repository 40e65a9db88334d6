/* expr/prove/prove.h - what can be said about integer expressions before anything runs (language.md, rule 10).
 *
 * In: a goal (a bool expression over labels, turns and dims, perhaps with reads in it) and the facts under
 * which it must hold. Out: proved, refuted with a point, or open; and, where it is open on dims alone, the
 * condition over dims that decides it. Method: linear forms over monomials, quotients and remainders by a
 * constant as fresh variables, Fourier-Motzkin with integer tightening on at most 64 inequalities. */
#ifndef EIN_PROVE_H
#define EIN_PROVE_H

#include "expr/expr.h"

/* Exact normal form of integer polynomials over dims, labels, turns and other atoms (reads, x // c, x % c with
 * normalised insides): equal polynomials become equal pointers. 64-bit wrap-around inside gives e itself back. */
const Expr *expr_normal(Exprs *p, const Expr *e);
/* e / d where it divides exactly as a polynomial (d a product of atoms and a constant), else NULL. */
const Expr *expr_divide(Exprs *p, const Expr *e, const Expr *d);

typedef enum { PROVED, REFUTED, OPEN_DIMS, OPEN_DATA } Verdict;

typedef struct Facts {
  const Expr *const *label; uint32_t n_label; /* extents: 0 <= label k < label[k]; NULL: nothing known */
  const Expr *const *turn;  uint32_t n_turn;  /* extents of the turn counters (0 <= t always); NULL: no bound known */
  const Expr *const *hold;  uint32_t n_hold;  /* bool expressions that hold: predicates, conditions, asserts on dims */
} Facts; /* every dim is known to be >= 0 */

typedef struct Proof {
  Verdict verdict;
  bool wraps;             /* not proved, and facts say something of sums of data that may leave 64 bits */
  const Expr *part;       /* the conjunct of the goal that failed (refuted or open) */
  /* REFUTED: a point where the facts hold and the goal does not */
  VEC(int64_t) label;     /* value of each label (0 where it does not matter) */
  VEC(int64_t) turn;
  VEC(struct { Str name; int64_t value; }) dim;
  /* OPEN_DIMS: true exactly where what is left to prove holds (sufficient, perhaps not necessary) */
  const Expr *condition;
} Proof;

/* The goal is taken apart: `and` into its parts, a comparison of affine integer expressions to inequalities,
 * `or`, `!=` and select by cases (at most 8, else OPEN), `not` pushed inside; a part that is (up to normal form)
 * one of the facts or of their conjuncts is proved. Facts that are not understood are dropped, but a refuting
 * point must satisfy all facts, so a dropped one turns "refuted" into "open". OPEN_DATA: reads (or float
 * values) decide. Integers are 64 bits: of a sum of data that may wrap around only what is said of all of it is known. A REFUTED with symbolic dims says that the goal fails for some dims for which the facts
 * hold: it is only given if it fails for *every* value of the dims that admits a point; otherwise OPEN_DIMS. */
Proof prove(Exprs *p, const Facts *facts, const Expr *goal);

/* Is there at least one value of the labels marked in `inner` for every value of the others (under the facts
 * that do not mention inner labels) such that `where` holds? What mean and argmax need. */
Proof prove_nonempty(Exprs *p, const Facts *facts, const bool *inner, const Expr *where);

#endif
