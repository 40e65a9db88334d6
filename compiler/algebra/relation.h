/* algebra/relation.h - tensor relations: keys and arrays (TRA paper, section 3).
 *
 * A relation of type (k, r) maps keys, each of k integers from 0 to below the *frontier*, to arrays of rank r. An array holds the
 * elements of a tensor that lie in a box; the box hangs on the key, and its places are those of the whole tensor: `low <= j < high`,
 * both expressions over the key. So blocks need not be equal, may overlap (halos), and what is computed of places
 * (predicates, argmax, random numbers) is the same in a block as in the whole.
 *
 * Every key is there once (uniqueness), and, where `holes` is not said, every key below the frontier is (continuity).
 *
 * text: `{i:4, k:2} [64/i, 10*k..(10*k + 12), 8] : f32`: keys with their frontier; of each dimension its whole extent where it is not
 * cut, extent/key where it is cut into as many blocks as that key has, as even as can be, or low..high. Then perhaps `places`, `holes`. */
#ifndef EIN_ALGEBRA_RELATION_H
#define EIN_ALGEBRA_RELATION_H

#include "expr/einsum.h"

enum { REL_KEYS = 600 };     /* key dimensions of one relation, at most */

typedef struct RelDim { const Expr *low, *high; } RelDim; /* i64, over the key: dimension k is EX_LABEL k */

typedef struct Relation {
  DType dtype;
  bool places;               /* beside each element there is the place where it was met (i64): parts of argmax and argmin */
  bool holes;                /* keys below the frontier may be missing */
  uint32_t n_key;
  const int64_t *frontier;   /* by key dimension, each at least 1 */
  const Str *key;            /* names, for people, all different */
  uint32_t rank;
  const RelDim *dim;
} Relation;

/* Block `block` of `count` of an extent, which are as even as can be: from floor(block*extent/count). */
RelDim rel_cut(Exprs *p, int64_t extent, const Expr *block, int64_t count);
RelDim rel_whole(Exprs *p, int64_t extent);
bool rel_is_whole(const RelDim *d, int64_t *extent);                      /* from 0 to a number */
bool rel_is_cut(Exprs *p, const Relation *r, uint32_t dim, uint32_t *key, int64_t *extent); /* by one key, evenly */

/* low and high of each dimension at a key. */
void rel_box(const Relation *r, const int64_t *key, int64_t *low, int64_t *high);
/* The same of ranges that are not a relation's. */
void rel_ranges(uint32_t n, const RelDim *dim, uint32_t n_key, const int64_t *key, int64_t *low, int64_t *high);
bool rel_predicate(const Expr *e, uint32_t n_key, const int64_t *key);    /* over the key alone */
int64_t rel_value(const Expr *e, uint32_t n_key, const int64_t *key);

/* Keys below the frontier in order, the last dimension fastest: from key = all 0, false behind the last. */
bool rel_next_key(uint32_t n_key, const int64_t *frontier, int64_t *key);
double rel_keys(const Relation *r);                                       /* below the frontier */

/* Of the whole that its blocks are cut from: where the last of them ends, along each dimension. */
void rel_extents(Arena *a, const Relation *r, int64_t *extent);

#endif
