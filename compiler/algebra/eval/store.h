/* algebra/eval/store.h - for the evaluator alone: what sites hold of one relation. */
#ifndef EIN_ALGEBRA_STORE_H
#define EIN_ALGEBRA_STORE_H

#include "block.h"

/* `part` tells tuples of one key apart that are parts of one sum: the number of the site where it was made, of whose coordinates those count
 * along whose axes there are parts. Copies have one key and one part. */
typedef struct Tuple {
  const int64_t *key;
  int64_t part;
  Block block;
} Tuple;

typedef struct Store {       /* of one site; by key and part once it is sorted */
  VEC(Tuple) tuples;
  int64_t bytes;
} Store;

typedef struct Shelf {       /* the stores of all sites for one relation; several nodes may stand for it, and it goes with the last */
  Arena *arena;
  uint32_t users;
  int64_t sites;
  Store *site;
} Shelf;

Shelf *shelf_new(int64_t sites);
int key_order(uint32_t n, const int64_t *a, const int64_t *b);
/* Stable. */
void tuples_sort(Arena *scratch, uint32_t n_key, Tuple *t, uint32_t n);
/* In a sorted store: the first tuple with this key; *n: how many there are. NULL: none. */
const Tuple *store_find(const Store *s, uint32_t n_key, const int64_t *key, uint32_t *n);
const Tuple *store_part(const Store *s, uint32_t n_key, const int64_t *key, int64_t part);

#endif
