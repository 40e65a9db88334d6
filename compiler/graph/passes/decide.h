/* graph/passes/decide.h - internals of the passes: uses the prover to decide conditions in an expression, from the
 * extents of labels, the bounds of loops and the conditions around (domain pruning); and those on data, from what the
 * data may be. */
#ifndef EIN_DECIDE_H
#define EIN_DECIDE_H

#include "expr/prove/prove.h"
#include "interval.h"
#include "rebuild.h"

enum { DECIDE_HOLD = 24, DECIDE_DEPTH = 100 };

typedef struct Decide {
  Arena *arena;
  Exprs *p;
  Facts facts;               /* of the current vertex; hold points to the array below */
  const Expr *hold[DECIDE_HOLD];
  const EinNode *n;          /* it, for reads; NULL: its slots are others now */
  const Interval *of;        /* by id: the range of a vertex' values */
  Map conditions;            /* expressions, to whether they contain something to decide */
  int64_t proofs;            /* left for the whole graph */
  int vertex_proofs, visits; /* left for the current vertex */
  uint32_t decided;          /* in the current vertex */
} Decide;

/* Starts another vertex; forgets what held before except the first `keep` conditions (the graph's checks). */
void decide_start(Decide *d, const Expr *const *bound, uint32_t n_label, uint32_t keep);
void decide_hold(Decide *d, const Expr *e); /* a condition over labels, turns and dims; others are ignored */
/* Returns e with everything decided in it replaced; NULL for NULL. */
const Expr *decide(Decide *d, const Expr *e);

#endif
