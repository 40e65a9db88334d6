/* graph/passes/contract/contract.h - inside of graph_contract: a vertex seen as a product under a reducer, together with the vertices that
 * it alone uses and that are products of the same kind; what it costs, and the plan that may take its place. */
#ifndef EIN_CONTRACT_H
#define EIN_CONTRACT_H

#include "expr/prove/prove.h"
#include "order.h"
#include "graph/passes/rebuild.h"

typedef struct Product {
  const EinNode *root;
  Op op;
  uint64_t out, where_labels; /* masks of labels */
  const Expr *where;
  VEC(const Expr *) bound;   /* of the labels: the root's, then those of what was joined */
  VEC(Str) label;
  VEC(const EinNode *) input; /* old nodes, one a slot */
  VEC(const Expr *) factor;  /* over these labels and slots */
  VEC(const Expr *) divisor; /* over output labels alone */
  VEC(const EinNode *) joined;
  double ops, held;          /* of the graph as it is: operations, and elements of what was joined */
  bool divides;
  bool reads_anywhere;       /* each factor may be computed at all points of its labels */
} Product;

typedef struct Steps {
  Product *product;
  uint32_t n;                /* factors of the core; */
  const Expr *core[ORDER_OPERANDS];
  VEC(const Expr *) free;    /* and those that are applied to its result */
  bool whole;                /* the core is one step: there is no tree */
  OrderProblem problem;
  OrderTree tree;
  double ops, held;
} Steps;

typedef struct Contract {
  Rebuild b;
  Arena *scratch;            /* of products that come to nothing */
  uint32_t *uses;            /* by id of the old node */
  bool *taken;               /* joined into another vertex */
  Map steps;                 /* old node to Steps */
  int64_t budget, proofs;
  int64_t sites;             /* on which least is to move; 1: it is to take least on one */
} Contract;

/* Does the reducer distribute over what the body is, a product of `op`? */
bool product_op(const EinSum *s, Op *op);
bool is_partial(const EinNode *n); /* some elements have no value */
double extent_guess(const Expr *e); /* at least 1; what no one knows is taken to be 256 */

/* Can e, over the vertex's labels and slots, be computed wherever `where` holds (NULL: wherever)? Takes from *proofs. pass_separate.c */
bool expr_is_total(Arena *scratch, Exprs *p, const EinNode *n, const Expr *e, const Expr *where, int64_t *proofs);

/* The vertex as a product, or NULL where it is none; join: with what it alone uses; divides: a divisor over output labels
 * is one of the product, else x / y is a factor. In c->scratch. */
Product *product_of(Contract *c, const EinNode *n, bool join, bool divides);
/* What is known of the counters of the repeats around a vertex; turn is the caller's, for all there can be. */
void facts_turns(Facts *f, const EinRegion *r, const Expr **turn);
/* What is known where it stands; of the labels, the extents of these. bound and turn are the caller's, for all there can be. */
Facts product_facts(const Product *x, uint64_t labels, const Expr **bound, const Expr **turn);
double product_points(const Product *x, uint64_t labels);
/* Steps that save something, or NULL. */
Steps *steps_of(Contract *c, Product *x);
EinNode *steps_emit(Contract *c, EinRegion *r, const Steps *p);

#endif
