/* algebra/eval/block.h - for the evaluator alone: the array of one tuple, which knows the box of places that it holds. */
#ifndef EIN_ALGEBRA_BLOCK_H
#define EIN_ALGEBRA_BLOCK_H

#include "algebra/relation.h"

/* Of an element: outside of the domain; a value; a part of argmax or argmin over no point, which may still get one; asked for where nothing
 * is (a fetch), which is an error of whoever reads it. */
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

/* Elements of a box, empty where a high is below its low; false: more than `most`. */
bool box_count(uint32_t rank, const int64_t *low, const int64_t *high, int64_t most, int64_t *out);

/* All zero, with values everywhere. The bounds are copied, and highs lifted to their lows. */
Block block_make(Arena *a, DType t, bool places, uint32_t rank, const int64_t *low, const int64_t *high);
void block_mask(Arena *a, Block *b);                        /* gives it `has`, all HAS_VALUE, where it has none */
/* What it has of a box that lies within it. */
Block block_cut(Arena *a, const Block *b, const int64_t *low, const int64_t *high);
/* Puts a part where it lies in b. `there`, perhaps NULL, has a byte an element of b, and counts how often it was put. False: it does not
 * lie within. */
bool block_paste(Arena *a, Block *b, const Block *part, uint8_t *there);
/* A request is for a place, and is answered with all of a slice: where an element is asked for, so is all that has its place and lies in the box. */
void block_ask_slices(Arena *a, const Block *b, uint8_t *asked, const bool *place, const int64_t *from, const int64_t *to);
/* Bytes that come for elements of b that are asked for (a byte each) and lie in the box: these, and 8 for each index of each place (expr/prove/asked.h). */
double block_asked(Arena *a, const Block *b, const uint8_t *asked, const int64_t *low, const int64_t *high, const bool *place);
bool block_box_is(const Block *b, uint32_t rank, const int64_t *low, const int64_t *high); /* blocks without elements: of that rank */
double block_bytes(const Block *b);                         /* elements, and 8 for each place; no mask */
static inline bool block_has(const Block *b, int64_t k) { return !b->has || b->has[k] == HAS_VALUE; }

#endif
