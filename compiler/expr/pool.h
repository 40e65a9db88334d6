/* expr/pool.h - inside of the pool, for the files of expr/ alone: the intern table, and what a walk over
 * an expression borrows so that shared parts are visited once and no depth of nesting is a recursion. */
#ifndef EIN_POOL_H
#define EIN_POOL_H

#include "expr.h"

/* A result for each expression by its id, valid where stamp == now; and a stack. A walk takes one and
 * gives it back, so that walks may nest (a leaf function may itself map) and memory is used again. */
typedef struct Walk Walk;
struct Walk {
  Walk *next;
  uint32_t now, room;
  struct Seen { uint32_t stamp; const Expr *to; } *seen;
  VEC(const Expr *) stack;
};
Walk *walk_take(Exprs *p);
void walk_give(Exprs *p, Walk *w);
const Expr *walk_find(const Walk *w, const Expr *e); /* NULL: not yet */
void walk_put(Exprs *p, Walk *w, const Expr *e, const Expr *to);
/* Pushes e's arguments without result, the first uppermost; false if there is none. Only those with a bit
 * of `has` in them are asked for. */
bool walk_args(Exprs *p, Walk *w, const Expr *e, unsigned has);

/* A polynomial: a sum of c*m, m a product of atoms in normal form, NULL for 1. */
typedef struct Term { int64_t c; const Expr *m; } Term;
typedef VEC(Term) Terms;

struct Exprs {
  Arena *arena;
  const Expr **slot;
  uint32_t len, room;    /* room is a power of two */
  Walk *walks;           /* free ones */
  VEC(Extern *) externs;
  const Expr **normal;   /* by id: the normal form, NULL not yet known */
  uint32_t n_normal;
  Terms sum, a, b;       /* normal.c's: kept for their room */
  VEC(const Expr *) region;
  VEC(int64_t) weight;
  uint64_t unfit;        /* nodes of sums that had no normal form: a coefficient past 64 bits */
  int64_t looked;        /* operations computed at points, by the prover */
  int64_t fuel;          /* terms that products may still make in this call */
};

/* The terms of an expression in normal form, one after the other: start with *rest = e, until it is NULL.
 * (They come last term first.) */
Term term_next(const Expr **rest);
enum { MOST_DEGREE = 16 };
/* The factors of a monomial, at most MOST_DEGREE; their number, or 0 if there are more. */
uint32_t monomial_atoms(const Expr *m, const Expr **atom);
/* The product of two monomials (NULL: 1); NULL too where the degree is too high. */
const Expr *monomial_product(Exprs *p, const Expr *a, const Expr *b, bool *ok);

/* e with other arguments (the same number). */
const Expr *expr_with(Exprs *p, const Expr *e, const Expr *const *arg);

/* expr_value that takes what it does off *work, and fails where nothing is left. */
bool expr_value_within(const Expr *e, const ExprEnv *env, Value *out, int64_t *work);

#endif
