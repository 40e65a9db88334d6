/* algebra/recut.h - a relation brought to other keys: what was cut one way is cut another. */
#ifndef EIN_ALGEBRA_RECUT_H
#define EIN_ALGEBRA_RECUT_H

#include "algebra.h"

typedef struct CutWrap { int64_t extent, laps; } CutWrap;

typedef struct Cuts {        /* what is wanted */
  uint32_t n_key;
  const int64_t *frontier;
  const Str *key;
  const RelDim *dim;         /* over these keys, by dimension; each key occurs */
  const CutWrap *wrap;       /* by dimension: blocks are those of so many of it, one behind the other; no laps: it is as it is. NULL: all are */
} Cuts;

/* Where a dimension is cut as it is wanted, its key stays; where two such keys become one (a diagonal), those that differ are filtered
 * out. Elsewhere the blocks are cut into the pieces that wanted blocks have in them (tile), and these are laid together (concat). The
 * result's keys may stand in another order, and have other names: on[k] is the wanted key that key k is. Where a dimension
 * wraps, there is a key for its laps meanwhile, and pieces are shifted to where they are laid.
 *
 * In an Ia tuples go where `goal` says (by axis: a wanted key, or `*`), as pieces. NULL: as Table 1 of the TRA paper has it: where what is to be
 * laid together is at one site. */
AlgNode *recut(Algebra *p, AlgRegion *r, AlgNode *of, const Cuts *want, const Placement *goal, const int32_t **on);
/* The same with keys in order and named as wanted. */
AlgNode *recut_exactly(Algebra *p, AlgRegion *r, AlgNode *of, const Cuts *want, const Placement *goal);

/* Table 1's shuffle: somehow by these keys, as far as axes find one with room. */
Placement recut_anyhow(const Algebra *p, const Relation *t, uint32_t n_group, const uint32_t *group);
/* A move, unless all is there. */
AlgNode *recut_move(Algebra *p, AlgRegion *r, AlgNode *of, const Placement *to);
/* The name, or one with a dash or more, that no key of t has, and none of the others (NULL ones are none). */
Str recut_fresh(Algebra *p, const Relation *t, uint32_t n, const Str *others, Str name);
/* Whether blocks of such a relation would be laid together: then none may be missing. */
bool recut_lays(Algebra *p, const Relation *t, const Cuts *want);

#endif
