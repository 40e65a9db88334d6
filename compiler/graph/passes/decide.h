/* graph/passes/decide.h - inside of the passes: what the extents of labels, the bounds of loops and the conditions around decide
 * in an expression (domain pruning), by the prover. */
#ifndef EIN_DECIDE_H
#define EIN_DECIDE_H

#include "expr/prove/prove.h"
#include "rebuild.h"

enum { DECIDE_HOLD = 24, DECIDE_DEPTH = 100 };

typedef struct Decide {
  Arena *arena;
  Exprs *p;
  Facts facts;               /* of the vertex at hand; hold points below */
  const Expr *hold[DECIDE_HOLD];
  Map conditions;            /* expressions, to whether there is something to be decided in them */
  int64_t proofs;            /* left for the whole graph */
  int vertex_proofs, visits; /* left for the vertex at hand */
  uint32_t decided;          /* in the vertex at hand */
} Decide;

/* Facts of another vertex; what held before is forgotten but for the first `keep` (the graph's checks). */
void decide_start(Decide *d, const Expr *const *bound, uint32_t n_label, uint32_t keep);
void decide_hold(Decide *d, const Expr *e); /* a condition over labels, turns and dims; others are passed over */
/* e with all that is decided in it replaced; e NULL is NULL. */
const Expr *decide(Decide *d, const Expr *e);

#endif
