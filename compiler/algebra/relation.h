/* algebra/relation.h - tensor relations: keys and arrays (TRA paper, section 3).
 *
 * A relation of type (k, r) maps keys, each of k integers from 0 to below the *frontier*, to arrays of rank r. An
 * array holds the elements of a tensor that lie in a box. The box depends on the key, and its places are those of the
 * whole tensor: `low <= j < high`, both expressions over the key. So blocks need not be equal, may overlap (halos),
 * and what is computed from places (predicates, argmax, random numbers) is the same in a block as in the whole.
 *
 * Every key occurs at most once (uniqueness). Unless the type has `holes`, every key below the frontier occurs
 * (continuity).
 *
 * text: `{i:4, k:2} [64/i, 10*k..(10*k + 12), 8] : f32`: keys with their frontier; for each dimension its whole
 * extent if it is not cut, extent/key if it is cut as evenly as possible into as many blocks as that key has, or
 * low..high. Then perhaps `places`, `holes`. */
#ifndef EIN_ALGEBRA_RELATION_H
#define EIN_ALGEBRA_RELATION_H

#include "expr/einsum.h"

enum { REL_KEYS = 600 };     /* the most key dimensions of a relation */

typedef struct RelDim { const Expr *low, *high; } RelDim; /* i64, over the key: dimension k is EX_LABEL k */

typedef struct Relation {
  DType dtype;
  bool places;               /* each element has the place where it was found (i64): parts of argmax and argmin */
  bool holes;                /* keys below the frontier may be missing */
  uint32_t n_key;
  const int64_t *frontier;   /* by key dimension, each at least 1 */
  const Str *key;            /* names, for people, all different */
  uint32_t rank;
  const RelDim *dim;
} Relation;

/* Block `block` of `count` of an extent, as even as possible: from floor(block*extent/count). */
RelDim rel_cut(Exprs *p, int64_t extent, const Expr *block, int64_t count);
/* Piece `piece` of `count` of a block, as even as possible. */
RelDim rel_cut_inside(Exprs *p, RelDim block, const Expr *piece, int64_t count);
RelDim rel_whole(Exprs *p, int64_t extent);
bool rel_is_whole(const RelDim *d, int64_t *extent);                      /* from 0 to a number */
bool rel_is_cut(Exprs *p, const Relation *r, uint32_t dim, uint32_t *key, int64_t *extent); /* by one key, evenly */

/* The low and high of each dimension at a key. */
void rel_box(const Relation *r, const int64_t *key, int64_t *low, int64_t *high);
/* The same for ranges that do not belong to a relation. */
void rel_ranges(uint32_t n, const RelDim *dim, uint32_t n_key, const int64_t *key, int64_t *low, int64_t *high);
/* The same for many keys: a range is evaluated once for each place along the dimensions of the key that it depends on,
 * when it is first asked for. */
typedef struct RelTable {
  const RelDim *dim;
  uint32_t n;                /* on so many dimensions it depends: */
  const uint32_t *key;       /*   these, */
  const int64_t *step;       /*   with the next place so far away */
  bool *known;               /* by place; NULL: there are too many, and it is evaluated from dim */
  int64_t *low, *high;
} RelTable;
typedef struct RelTables { uint32_t n, n_key; const RelTable *at; } RelTables;
RelTables rel_tables_new(Arena *a, uint32_t n, const RelDim *dim, uint32_t n_key, const int64_t *frontier);
void rel_tables_get(const RelTables *t, const int64_t *key, int64_t *low, int64_t *high);
void rel_table_get(const RelTables *t, uint32_t dim, const int64_t *key, int64_t *low, int64_t *high);
bool rel_predicate(const Expr *e, uint32_t n_key, const int64_t *key);    /* over the key alone */
int64_t rel_value(const Expr *e, uint32_t n_key, const int64_t *key);

/* Enumerates keys below the frontier, the last dimension fastest, from key = all 0. Returns false after the last. */
bool rel_next_key(uint32_t n_key, const int64_t *frontier, int64_t *key);
int64_t rel_key_number(const Relation *r, const int64_t *key);            /* in this order, from 0 */
double rel_keys(const Relation *r);                                       /* the number of keys below the frontier */

/* The extents of the tensor from which the blocks are cut: where the last of them ends, along each dimension. */
void rel_extents(Arena *a, const Relation *r, int64_t *extent);

#endif
