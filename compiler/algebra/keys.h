/* algebra/keys.h - which keys a relation has, as far as that can be determined, and what boxes make up together. For
 * the checker. */
#ifndef EIN_ALGEBRA_KEYS_H
#define EIN_ALGEBRA_KEYS_H

#include "algebra.h"

/* A subset of the keys below a relation's frontier. */
typedef struct KeySet {
  const Relation *of;
  bool known;                /* false: there are too many to enumerate, and perhaps some are missing */
  bool all;                  /* every key is there; then there is no list */
  uint32_t n;
  const int64_t *at;         /* numbers of keys, row-major, ascending */
} KeySet;

KeySet keys_all(const Relation *of);
KeySet keys_unknown(const Relation *of);

/* keys_next enumerates the keys, from i = 0 and key = all 0, and returns false after the last. Only if keys_told. */
bool keys_told(const KeySet *s);
bool keys_next(const KeySet *s, uint64_t *i, int64_t *key);

bool keys_has(const KeySet *s, const int64_t *key); /* only if known */

typedef enum { KEYS_WELL, KEYS_OUTSIDE, KEYS_TWICE } KeysWrong;

/* The keys for which `keep` holds. */
KeySet keys_kept(Arena *a, const KeySet *s, const Expr *keep);
/* Each key extended by a new one for each piece that has elements, or whose block has none; `of` has the extended
 * keys. */
KeySet keys_pieces(Arena *a, const KeySet *s, const Relation *of, uint32_t n_piece, const RelDim *piece);
/* The keys of `of` at which each of n sets has its own key: key k of set i is their key on[i][k], or 0. */
KeySet keys_joined(Arena *a, const Relation *of, uint32_t n, const KeySet *set, const int32_t *const *on);
/* The new keys computed from each key. Each must occur once, below the new frontier; otherwise *wrong says how, and
 * `at` is such a key. once false: several keys may map to one. */
KeySet keys_mapped(Arena *a, Exprs *p, const KeySet *s, const Relation *of, const Expr *const *to, bool once,
    KeysWrong *wrong, int64_t *at);

/* Whether ranges `a` of each key equal ranges `b` of the key that `to` computes from it (NULL: of the key itself). If
 * not, returns dim and key. */
bool ranges_agree(Exprs *p, const KeySet *s, uint32_t n, const RelDim *a, const RelDim *b, uint32_t n_to,
    const Expr *const *to, uint32_t *dim, int64_t *key);
/* Whether no range is negative at any key. */
bool ranges_well(Exprs *p, const KeySet *s, uint32_t n, const RelDim *dim, uint32_t *which, int64_t *key);

/* Whether the boxes of keys that agree in `group` cover the box `whole`, which is over all keys, each place once. If
 * not, returns how, and a key of such a group. */
typedef enum { FILL_WELL, FILL_OUTSIDE, FILL_GAP, FILL_TWICE } Filling;
Filling boxes_fill(Arena *a, const KeySet *s, const RelDim *dim, const bool *group, const RelDim *whole, int64_t *key);

#endif
