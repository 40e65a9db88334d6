/* algebra/keys.h - which keys a relation has, as far as that can be told, and what boxes make up together. For the checker. */
#ifndef EIN_ALGEBRA_KEYS_H
#define EIN_ALGEBRA_KEYS_H

#include "algebra.h"

/* Some of the keys below a relation's frontier. */
typedef struct KeySet {
  const Relation *of;
  bool known;                /* false: too many to be told, and perhaps not all */
  bool all;                  /* every one; then there is no list */
  uint32_t n;
  const int64_t *at;         /* numbers of keys, row-major; rising */
} KeySet;

KeySet keys_all(const Relation *of);
KeySet keys_unknown(const Relation *of);

/* From i = 0 and key = all 0; false behind the last. Only where keys_told. */
bool keys_told(const KeySet *s);
bool keys_next(const KeySet *s, uint64_t *i, int64_t *key);

bool keys_has(const KeySet *s, const int64_t *key); /* where known */

typedef enum { KEYS_WELL, KEYS_OUTSIDE, KEYS_TWICE } KeysWrong;

/* Those of which `keep` holds. */
KeySet keys_kept(Arena *a, const KeySet *s, const Expr *keep);
/* The key and a further one for each piece that has elements, or whose block has none; `of`: keys of both. */
KeySet keys_pieces(Arena *a, const KeySet *s, const Relation *of, uint32_t n_piece, const RelDim *piece);
/* Keys of `of` at which each of n sets has its own: key k of set i is key on[i][k] of them, or 0. */
KeySet keys_joined(Arena *a, const Relation *of, uint32_t n, const KeySet *set, const int32_t *const *on);
/* What new keys become of them: each once, below the new frontier; else a key of which that is not so is in `at`. `once` false: several may
 * become one. */
KeySet keys_mapped(Arena *a, Exprs *p, const KeySet *s, const Relation *of, const Expr *const *to, bool once, KeysWrong *wrong, int64_t *at);

/* Whether ranges `a` of each key are the ranges `b` of what `to` makes of it (NULL: of itself). If not, dim and key. */
bool ranges_agree(Exprs *p, const KeySet *s, uint32_t n, const RelDim *a, const RelDim *b, uint32_t n_to, const Expr *const *to, uint32_t *dim,
                  int64_t *key);
/* Whether no range is negative, at any key. */
bool ranges_well(Exprs *p, const KeySet *s, uint32_t n, const RelDim *dim, uint32_t *which, int64_t *key);

/* Whether the boxes of the keys that agree in `group` make up, each place once, the box `whole`, which is over all keys. If not, a key of
 * such a group, and how. */
typedef enum { FILL_WELL, FILL_OUTSIDE, FILL_GAP, FILL_TWICE } Filling;
Filling boxes_fill(Arena *a, const KeySet *s, const RelDim *dim, const bool *group, const RelDim *whole, int64_t *key);

#endif
