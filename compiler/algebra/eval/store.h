/* algebra/eval/store.h - for the evaluator only: what sites hold of one relation. */
#ifndef EIN_ALGEBRA_STORE_H
#define EIN_ALGEBRA_STORE_H

#include "block.h"

/* `part` distinguishes tuples with one key that are parts of one sum: it is the number of the site where the part was
 * made, counting only coordinates along axes with parts. Copies have one key and one part. */
typedef struct Tuple {
  const int64_t *key;
  int64_t part;
  Block block;
} Tuple;

typedef struct Store {       /* of one site; sorted by key and part when complete */
  VEC(Tuple) tuples;
  int64_t bytes;
} Store;

typedef struct Shelf {       /* the stores of all sites for one relation; several nodes may share it, and the last one
                              * frees it */
  Arena *arena;
  uint32_t users;
  int64_t sites;
  Store *site;
} Shelf;

Shelf *shelf_new(int64_t sites);
int key_order(uint32_t n, const int64_t *a, const int64_t *b);
/* Stable. */
void tuples_sort(Arena *scratch, uint32_t n_key, Tuple *t, uint32_t n);
/* In a sorted store, the first tuple with this key; *n: how many there are. NULL: none. */
const Tuple *store_find(const Store *s, uint32_t n_key, const int64_t *key, uint32_t *n);
const Tuple *store_part(const Store *s, uint32_t n_key, const int64_t *key, int64_t part);

#endif
