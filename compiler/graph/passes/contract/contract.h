/* graph/passes/contract/contract.h - internals of graph_contract: a vertex seen as a product under a reducer,
 * together with products of the same kind that only it uses; what it costs, and the plan that may replace it. */
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
  VEC(const Expr *) bound;   /* of the labels: the root's, then those of joined vertices */
  VEC(Str) label;
  VEC(const EinNode *) input; /* old nodes, one per slot */
  VEC(const Expr *) factor;  /* over these labels and slots */
  VEC(const Expr *) divisor; /* over output labels only */
  VEC(const EinNode *) joined;
  double ops, held;          /* of the current graph: operations, and elements of joined vertices */
  bool divides;
  bool reads_anywhere;       /* each factor may be computed at all points of its labels */
} Product;

typedef struct Steps {
  Product *product;
  uint32_t n;                /* factors of the core */
  const Expr *core[ORDER_OPERANDS];
  VEC(const Expr *) free;    /* factors that are applied to its result */
  bool whole;                /* the core is one step: there is no tree */
  bool tested;               /* divides where some point satisfies the predicate */
  OrderProblem problem;
  OrderTree tree;
  double ops, held;
  const struct Steps *other; /* in another order, for other sizes; NULL: none */
} Steps;

typedef struct Contract {
  Rebuild b;
  Arena *scratch;            /* of products that are not used */
  uint32_t *uses;            /* by id of the old node */
  bool *taken;               /* joined into another vertex */
  Map steps;                 /* old node to Steps */
  int64_t budget, proofs;
  int64_t sites;             /* minimise moves on that many sites; 1: minimise time on one */
  VEC(const Expr *) checks;  /* what is tested of sizes before anything runs */
} Contract;

/* Whether the reducer distributes over the body, a product of `op`. */
bool product_op(const EinSum *s, Op *op);
bool is_partial(const EinNode *n); /* some elements have no value */
double extent_guess(const Expr *e); /* at least 1; 256 if unknown */
double labels_points(const EinNode *n, uint64_t labels); /* the product over these labels of a vertex */

/* Whether e, over the vertex's labels and slots, can be computed wherever `where` holds (NULL: everywhere), even if
 * labels that neither has have no values. Uses up *proofs. pass_separate.c */
bool expr_is_total(Arena *scratch, Exprs *p, const EinNode *n, const Expr *e, const Expr *where, int64_t *proofs);

/* The vertex as a product, or NULL if it is none. join: include vertices that only it uses. divides: a divisor over
 * output labels becomes one of the product; else x / y is a factor. In c->scratch. */
Product *product_of(Contract *c, const EinNode *n, bool join, bool divides);
/* Adds what is known of the counters of the repeats around a vertex. The caller provides turn, with room for all. */
void facts_turns(Facts *f, const EinRegion *r, const Expr **turn);
/* What is known at the product: the extents of these labels. The caller provides bound and turn, with room for all. */
Facts product_facts(const Contract *c, const Product *x, uint64_t labels, const Expr **bound, const Expr **turn);
double product_points(const Product *x, uint64_t labels);
/* Whether each read in it is in range for all values of its labels, even where other labels have none. */
bool factor_total(Contract *c, const Product *x, const Expr *factor);
/* Steps that are cheaper, or NULL. */
Steps *steps_of(Contract *c, Product *x);
EinNode *steps_emit(Contract *c, EinRegion *r, const Steps *p);

/* Adds other orders, if sizes that are not known decide which is cheapest. The vertex that chooses by sizes, between
 * the result of this order and what is chosen of the others. sizes.c */
void sizes_guess(const Product *x, OrderProblem *o); /* of labels: 256 if unknown, or less where operands have many */
void steps_for_sizes(Contract *c, Steps *p);
EinNode *steps_choose(Contract *c, EinRegion *r, const Steps *p, EinNode *first, EinNode *others);

#endif
