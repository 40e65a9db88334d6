/* expr/prove/prove.h - proofs about integer expressions before anything runs (language.md, rule 10).
 *
 * In: a goal (a bool expression over labels, turns and dims, perhaps with reads) and the facts under which it must
 * hold. Out: proved, refuted with a point, or open; if only dims keep it open, also the condition over dims that
 * decides it. Method: linear forms over monomials, quotients and remainders by a constant as fresh variables,
 * Fourier-Motzkin with integer tightening on at most 64 inequalities. */
#ifndef EIN_PROVE_H
#define EIN_PROVE_H

#include "expr/expr.h"

/* Exact normal form of integer polynomials over dims, labels, turns and other atoms (reads, x // c, x % c with
 * normalised insides): equal polynomials become equal pointers. If a coefficient overflows 64 bits, it returns e. */
const Expr *expr_normal(Exprs *p, const Expr *e);
static inline bool expr_same_value(Exprs *p, const Expr *a, const Expr *b) { /* for certain */
  return a == b || expr_normal(p, a) == expr_normal(p, b);
}
/* e / d if it divides exactly as a polynomial (d is a product of atoms and a constant), else NULL. */
const Expr *expr_divide(Exprs *p, const Expr *e, const Expr *d);
/* Solves a == b, in which the label, one of n, has the coefficient 1 or -1, for it. NULL: it is no such equation, or
 * has reads. */
const Expr *expr_solve(Exprs *p, const Expr *a, const Expr *b, uint32_t label, uint32_t n);

typedef enum { PROVED, REFUTED, OPEN_DIMS, OPEN_DATA } Verdict;

typedef struct Facts {
  const Expr *const *label; uint32_t n_label; /* extents: 0 <= label k < label[k]; NULL: nothing known */
  const Expr *const *turn;  uint32_t n_turn;  /* extents of the turn counters (0 <= t always); NULL: no bound known */
  const Expr *const *hold;  uint32_t n_hold;  /* bool expressions that hold: predicates, conditions, asserts on dims */
} Facts; /* every dim is known to be >= 0 */

typedef struct Proof {
  Verdict verdict;
  bool wraps;             /* not proved, and the facts mention sums of data that may overflow 64 bits */
  const Expr *part;       /* the conjunct of the goal that failed (refuted or open) */
  /* REFUTED: a point at which the facts hold and the goal does not */
  VEC(int64_t) label;     /* value of each label (0 where it does not matter) */
  VEC(int64_t) turn;
  VEC(struct { Str name; int64_t value; }) dim;
  /* OPEN_DIMS: if it is true, the rest of the goal holds (sufficient, perhaps not necessary) */
  const Expr *condition;
} Proof;

/* Splits the goal: `and` into its parts, a comparison of affine integer expressions into inequalities, `or`, `!=` and
 * select into cases (at most 8, else OPEN), with `not` pushed inside. A part that equals one of the facts or their
 * conjuncts, up to normal form, is proved. Facts that are not understood are dropped; but a refuting point must
 * satisfy all facts, so a dropped one turns "refuted" into "open". OPEN_DATA: reads (or float values) decide.
 * Integers have 64 bits: of a sum of data that may wrap around, only what is said of the whole sum is known. REFUTED
 * with symbolic dims means that the goal fails for *every* value of the dims that admits a point; if it fails only
 * for some dims for which the facts hold, the verdict is OPEN_DIMS. */
Proof prove(Exprs *p, const Facts *facts, const Expr *goal);

/* Whether, for every value of the other labels (under the facts that do not mention inner labels), the labels marked
 * in `inner` have at least one value such that `where` holds. mean and argmax need that. */
Proof prove_nonempty(Exprs *p, const Facts *facts, const bool *inner, const Expr *where);

#endif
