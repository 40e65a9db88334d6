/* expr/prove/proof.h - internals of the prover: what may wrap (wrap.c), cases of literals (cases.c), their linear
 * systems (linear.c), and concrete points that decide when these do not (points.c). Everything here lives on the
 * stack of one prove(). */
#ifndef EIN_PROOF_H
#define EIN_PROOF_H

#include "fm.h"
#include "prove.h"

/* ---- what may wrap ---------------------------------------------------------------------------- */

/* Replaces sums of data that may overflow 64 bits in the facts and the goal by unknowns; `hold` has room for all
 * facts. The range of data comes from the facts and, if it `fails`, from the negated goal. Returns false if it
 * introduced no unknown. */
bool without_wraps(Exprs *p, const Facts *f, const Expr *goal, bool fails, const Expr **hold, const Expr **goal_out);

/* ---- cases ----------------------------------------------------------------------------------- */

enum { /* the origin of an inequality; a row of a system has the union of its ancestors' */
  T_BASE = 1,  /* always true: the definition of `//`, dims are not negative */
  T_FACT = 2, T_GOAL = 4, /* the negated goal */
  T_SPLIT = 8, /* holds in this case only */
  T_OUT = 16   /* says that a label unrelated to the goal has at least one value */
};

typedef struct Ineq { const Expr *a, *b; int64_t k; uint32_t tag; } Ineq; /* a + k <= b */

/* A formula, or its negation. With `meaning`: what the value e (i64) of max, min, abs or select stands for. */
typedef struct Literal { const Expr *e; bool not, meaning; uint32_t tag; } Literal;

enum { MOST_INEQS = 64, MOST_OPAQUE = 32, MOST_SPLITS = 16 };

typedef struct Case { /* a conjunction */
  bool none;     /* contradictory */
  bool dropped;  /* part of it was left out */
  uint32_t n_ineq, n_opaque, n_split;
  Ineq ineq[MOST_INEQS];
  Literal opaque[MOST_OPAQUE]; /* not understood: floats, bool reads */
  Literal split[MOST_SPLITS];  /* disjunctions that are not split yet */
} Case;

void case_new(Case *s);
void case_add(Exprs *p, Case *s, Literal l);
/* Case k (0 or 1) of splitting s->split[0]. */
void case_split(Exprs *p, Case *to, const Case *s, int k);

/* ---- linear systems -------------------------------------------------------------------------- */

typedef struct Linear {
  Exprs *p;
  const Facts *facts;
  uint32_t n;
  const Expr *var[FM_VARS]; /* monomials in normal form */
  bool partial;  /* something was left out, or a variable stands for an expression that is not free: shadows are no
                  * longer exact */
  int fuel;      /* bounds the search for signs */
  Fm fm;
} Linear;

void linear_new(Linear *l, Exprs *p, const Facts *facts);
void linear_ineq(Linear *l, const Ineq *q);
/* Adds what is known of the variables, and of the labels that do not occur. */
void linear_close(Linear *l);
/* Adds only the definition of variable v, if it is a quotient by a literal. */
void linear_define(Linear *l, uint32_t v);
/* The row, or its negation, as an expression. */
const Expr *row_expr(const Linear *l, const FmRow *r, bool not);

/* ---- points ---------------------------------------------------------------------------------- */

enum { MOST_LABELS = 64, MOST_TURNS = 16, MOST_DIMS = FM_VARS, MOST_POINTS = 100000 };

enum { LOOKED_MOST = 1 << 28 }; /* operations computed at points, in all; beyond that, goals stay open */

typedef struct Point {
  Exprs *p;
  int64_t label[MOST_LABELS], turn[MOST_TURNS];
  uint32_t n_dim;
  struct { Str name; int64_t value; } dim[MOST_DIMS]; /* any other dim is 1 */
} Point;

typedef enum { TRUTH_NO, TRUTH_YES, TRUTH_UNKNOWN } Truth;
bool facts_small(const Facts *f); /* labels and turns fit a Point */
/* Whether the facts hold at the point and the goal does not, all of it known. */
bool point_refutes(const Facts *f, const Point *at, const Expr *goal);
void point_give(Exprs *p, const Facts *f, const Point *at, Proof *out);

/* Boxes: labels and turns of literal extent, enumerated. */
typedef struct Box {
  uint32_t n;
  struct { int64_t *at, extent; } side[MOST_LABELS + MOST_TURNS];
} Box;
/* Tests all points of the labels that occur in goal and facts: PROVED, REFUTED (with the point) or OPEN_DATA. */
Verdict enumerate(Exprs *p, const Facts *f, const Expr *goal, Proof *out);
/* The same for the question whether, for each point of the other labels, those in `inner` have a value such that
 * `where` holds. The facts do not mention the inner labels and have no extent for them; `extents` does. */
Verdict enumerate_nonempty(Exprs *p, const Facts *f, const Facts *extents, const bool *inner, const Expr *where,
                           Proof *out);

#endif
