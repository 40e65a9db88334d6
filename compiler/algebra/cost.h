/* algebra/cost.h - what the moves of an Ia cost, counted from types and placements alone: uniqueness and continuity make it exact (TRA paper,
 * section 5.3), apart from what domains and conditions take out and turns that data decide. */
#ifndef EIN_ALGEBRA_COST_H
#define EIN_ALGEBRA_COST_H

#include "algebra.h"

typedef struct AlgCost {
  double paper;              /* elements as the paper counts them: of a relation of f elements a shuffle f, a broadcast to s sites f*s. What is
                                to be at c sites along some axes costs f*c, as in the paper's plan that shuffles c copies of each block;
                                and nothing where every site has what it is to have, which in the paper is no move */
  double bytes;              /* that sites receive, added over sites: what a site has already does not move */
  bool known;                /* else there were too many tuples to go through, and bytes are none */
} AlgCost;

/* Once. Of a fetch, what comes if all points ask for places of their own that lie where it costs most; the paper has none,
 * its elements count as those of a shuffle of its result. */
AlgCost alg_move_cost(const Algebra *p, const AlgNode *move);
/* What a fetch brings to the site at `at`, at most; and (not NULL) by tuple of its table, in order of keys. NULL: there are too many. */
typedef struct AlgFetch AlgFetch;
AlgFetch *alg_fetch_begin(Arena *a, const Algebra *p, const AlgNode *fetch);
double alg_fetch_at(const AlgFetch *f, const uint32_t *at, double *by);
AlgCost algebra_cost(const Algebra *p);                       /* of a run; turns that are not known count as one */
/* How often what stands in the region comes into being. */
double alg_times(const AlgRegion *r);
/* Elements of the block with this key. */
double rel_block(const Relation *r, const int64_t *key);
/* By axis the place where tuples with this key are; -1: at every one, or (`+`) at each another. */
void alg_places(const Mesh *m, const Placement *p, const Relation *r, const int64_t *key, int32_t *at);
/* Elements of a relation, over its keys; -1: too many keys. */
double rel_elements(const Relation *r);

#endif
