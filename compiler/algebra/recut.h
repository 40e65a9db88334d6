/* algebra/recut.h - converts a relation to other keys: from one way of cutting to another. */
#ifndef EIN_ALGEBRA_RECUT_H
#define EIN_ALGEBRA_RECUT_H

#include "algebra.h"

typedef struct CutWrap { int64_t extent, laps; } CutWrap;

typedef struct Cuts {        /* the required cuts */
  uint32_t n_key;
  const int64_t *frontier;
  const Str *key;
  const RelDim *dim;         /* over these keys, by dimension; each key occurs */
  const CutWrap *wrap;       /* by dimension: blocks lie in `laps` copies of it, one after the other; no laps: as it
                              * is. NULL: all as they are */
} Cuts;

/* If a dimension is already cut as required, its key stays. If two such keys become one (a diagonal), keys that
 * differ are filtered out. Otherwise blocks are cut into the pieces that the required blocks contain (tile), and
 * these are put together (concat). The result's keys may have another order and other names: on[k] is the required
 * key for key k. If a dimension wraps, there is a temporary key for its laps, and pieces are shifted into place.
 *
 * In an Ia, tuples move as pieces to `goal` (by axis: a required key, or `*`). NULL: as in Table 1 of the TRA paper,
 * to where the pieces that are put together are at one site. */
AlgNode *recut(Algebra *p, AlgRegion *r, AlgNode *of, const Cuts *want, const Placement *goal, const int32_t **on);
/* The same, with keys ordered and named as required. */
AlgNode *recut_exactly(Algebra *p, AlgRegion *r, AlgNode *of, const Cuts *want, const Placement *goal);

/* Table 1's shuffle: some placement by these keys, as far as axes find a key with room. */
Placement recut_anyhow(const Algebra *p, const Relation *t, uint32_t n_group, const uint32_t *group);
/* A move, unless all tuples are there already. */
AlgNode *recut_move(Algebra *p, AlgRegion *r, AlgNode *of, const Placement *to);
/* Returns the name, with as many dashes added as needed so that neither a key of t nor one of the others has it (NULL
 * ones are ignored). */
Str recut_fresh(Algebra *p, const Relation *t, uint32_t n, const Str *others, Str name);
/* Whether blocks of such a relation would be put together: then none may be missing. */
bool recut_lays(Algebra *p, const Relation *t, const Cuts *want);

#endif
