/* algebra/eval/block.h - for the evaluator only: the array of one tuple, with the box of places that it holds. */
#ifndef EIN_ALGEBRA_BLOCK_H
#define EIN_ALGEBRA_BLOCK_H

#include "algebra/relation.h"

/* The state of an element: outside the domain; has a value; a part of argmax or argmin over no point, which may still
 * get one; requested by a fetch where nothing is, which is an error of its reader. */
enum { HAS_NONE, HAS_VALUE, HAS_EMPTY, HAS_MISSED };

typedef struct Block {       /* C order, packed */
  DType dtype;
  uint32_t rank;
  const int64_t *low, *high; /* low <= high */
  int64_t count;
  void *data;
  int64_t *place;            /* beside each element; NULL: none */
  uint8_t *has;              /* NULL: every element has a value */
} Block;

Value element_load(const void *data, DType t, int64_t k);
void element_store(void *data, DType t, int64_t k, Value v);

/* Counts the elements of a box, 0 if some high is below its low. Returns false if there are more than `most`. */
bool box_count(uint32_t rank, const int64_t *low, const int64_t *high, int64_t most, int64_t *out);

/* All zero, with values everywhere. Copies the bounds and raises a high that is below its low. */
Block block_make(Arena *a, DType t, bool places, uint32_t rank, const int64_t *low, const int64_t *high);
void block_mask(Arena *a, Block *b);                        /* gives it a `has`, all HAS_VALUE, if it has none */
/* The elements in a box that lies within it. */
Block block_cut(Arena *a, const Block *b, const int64_t *low, const int64_t *high);
/* Copies a part to its place in b. `there`, which may be NULL, has a byte per element of b and counts how often it
 * was written. Returns false if the part does not lie within b. */
bool block_paste(Arena *a, Block *b, const Block *part, uint8_t *there);
/* A request names a place and returns the whole slice there: marks as asked every element in the box that shares its
 * place with an asked one. */
void block_ask_slices(
    Arena *a, const Block *b, uint8_t *asked, const bool *place, const int64_t *from, const int64_t *to);
/* Bytes received for the asked elements of b (a byte each) in the box: the elements, and 8 for each index of each
 * place (expr/prove/asked.h). */
double block_asked(
    Arena *a, const Block *b, const uint8_t *asked, const int64_t *low, const int64_t *high, const bool *place);
/* Blocks without elements are equal if their ranks are. */
bool block_box_is(const Block *b, uint32_t rank, const int64_t *low, const int64_t *high);
double block_bytes(const Block *b);                         /* elements, and 8 for each place; no mask */
static inline bool block_has(const Block *b, int64_t k) { return !b->has || b->has[k] == HAS_VALUE; }

#endif
