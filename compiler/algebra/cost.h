/* algebra/cost.h - the cost of an Ia's moves, from types and placements alone. Uniqueness and continuity make it
 * exact (TRA paper, section 5.3), except for what domains and conditions remove, and for numbers of turns that depend
 * on data. */
#ifndef EIN_ALGEBRA_COST_H
#define EIN_ALGEBRA_COST_H

#include "algebra.h"

typedef struct AlgCost {
  double paper;              /* elements as the paper counts them: for a relation of f elements, a shuffle costs f, a
                              * broadcast to s sites f*s. Data needed at c sites along some axes costs f*c, as in the
                              * paper's plan that shuffles c copies of each block. A move costs nothing if every site
                              * already has what it needs; in the paper it is then no move */
  double bytes;              /* that sites receive, summed over sites, without what they already have */
  bool known;                /* false: there were too many tuples to enumerate, and bytes is invalid */
} AlgCost;

/* The cost of one execution. For a fetch, an upper bound: every point requests a different place, where it costs
 * most. The paper has no fetch; its elements count as a shuffle of its result. */
AlgCost alg_move_cost(const Algebra *p, const AlgNode *move);
/* An upper bound of what a fetch brings to the site at `at`; and, if `by` is not NULL, by tuple of its table, in
 * order of keys. alg_fetch_begin returns NULL if there are too many tuples. */
typedef struct AlgFetch AlgFetch;
AlgFetch *alg_fetch_begin(Arena *a, const Algebra *p, const AlgNode *fetch);
double alg_fetch_at(const AlgFetch *f, const uint32_t *at, double *by);
AlgCost algebra_cost(const Algebra *p);                       /* of a run; an unknown number of turns counts as one */
/* How often the nodes of the region are computed. */
double alg_times(const AlgRegion *r);
/* The number of elements in the block with this key, from tables of its ranges. */
double rel_block_in(const RelTables *t, const int64_t *key);
/* By axis, the place where tuples with this key are; -1: at every place, the same or (`+`) different parts. */
void alg_places(const Mesh *m, const Placement *p, const Relation *r, const int64_t *key, int32_t *at);
/* The number of elements of a relation, over its keys; -1: too many keys. */
double rel_elements(const Relation *r);

#endif
