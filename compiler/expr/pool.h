/* expr/pool.h - internals of the pool, for the files of expr/ only: the intern table, and the scratch of a walk over
 * an expression, which visits shared parts once and needs no recursion. */
#ifndef EIN_POOL_H
#define EIN_POOL_H

#include "expr.h"

/* A result for each expression by its id, valid if stamp == now; and a stack. A walk takes one and returns it, so
 * that walks may nest (a leaf function may itself map) and memory is reused. */
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

/* A polynomial: a sum of c*m, m a product of atoms in normal form, NULL for 1. */
typedef struct Term { int64_t c; const Expr *m; } Term;
typedef VEC(Term) Terms;

struct Exprs {
  Arena *arena;
  const Expr **slot;
  uint32_t len, room;    /* room is a power of two */
  Walk *walks;           /* free list */
  VEC(Extern *) externs;
  const Expr **normal;   /* by id: the normal form, NULL not yet known */
  uint32_t n_normal;
  Terms sum, a, b;       /* scratch of normal.c, kept for its capacity */
  VEC(const Expr *) region;
  VEC(int64_t) weight;
  uint64_t unfit;        /* sum nodes that had no normal form: a coefficient exceeds 64 bits */
  int64_t looked;        /* operations computed at points, by the prover */
  int64_t fuel;          /* terms that products may still make in this call */
};

/* Enumerates the terms of an expression in normal form: start with *rest = e, until it is NULL. (The last term comes
 * first.) */
Term term_next(const Expr **rest);
enum { MOST_DEGREE = 16 };
/* The factors of a monomial, at most MOST_DEGREE. Returns their number, or 0 if there are more. */
uint32_t monomial_atoms(const Expr *m, const Expr **atom);
/* The product of two monomials (NULL: 1). Clears *ok if the degree is too high. */
const Expr *monomial_product(Exprs *p, const Expr *a, const Expr *b, bool *ok);

/* expr_value that subtracts its work from *work, and fails if none is left. */
bool expr_value_within(const Expr *e, const ExprEnv *env, Value *out, int64_t *work);

static inline bool is_i64_op(const Expr *e, Op op) { return is_op(e, op) && e->dtype == DT_I64; }

#endif
