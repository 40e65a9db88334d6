/* graph/passes/wide/wide.h - internals of the passes: the contraction order of a wide product, a network of tensors
 * with more labels or operands than order.h takes.
 *
 * In: operands as lists of labels, and the labels' sizes. Out: a binary tree. It costs its operations, plus
 * WIDE_STORE for each element of an intermediate. A chain, whose operands share labels only with their neighbours,
 * gets the best of all trees along the chain (the textbook's dynamic program). Otherwise it is the best of some
 * greedy trees with noise from a fixed seed; parts of up to WIDE_PART operands are repeatedly put into their best
 * order. A budget bounds all of it. */
#ifndef EIN_WIDE_H
#define EIN_WIDE_H

#include "base/base.h"

enum { WIDE_OPERANDS = 8192, WIDE_STORE = 8, WIDE_PART = 12 };

typedef struct WideLabel { uint32_t label, below; } WideLabel; /* below: how many operands under a node have it */
typedef VEC(WideLabel) WideLabels;                             /* in order of labels */

typedef struct WideProblem {
  uint32_t n, n_label;       /* operands, 2 to WIDE_OPERANDS */
  const WideLabels *operand; /* below is 1 */
  const double *size;        /* by label */
  const uint32_t *users;     /* by label: in how many operands it is */
  const bool *keep;          /* by label: whether the result has it */
} WideProblem;

typedef struct WideNode {    /* 0..n-1 are the operands; the others are steps */
  uint32_t left, right;
  WideLabels out;            /* labels of the result; an operand's own labels are reduced at once */
  double points;             /* the product of their sizes */
  double space;              /* points over which a step runs; an operand: the points of all its labels */
} WideNode;

typedef struct WideTree {
  uint32_t n, root;          /* nodes: 2 * operands - 1 */
  WideNode *node;
  double ops;                /* a step or a single operand that reduces takes two per point, else one */
  double cost;               /* ops plus the elements of intermediates, weighted */
} WideTree;

/* budget: in steps considered; it is reduced by what was used. A first tree is found without it too. Allocates in a. */
WideTree wide_best(Arena *a, const WideProblem *p, int64_t *budget);
/* The steps, each after its parts: n - 1 of them, the root last. */
void wide_steps(Arena *scratch, const WideProblem *p, const WideTree *t, uint32_t *steps);
double wide_step_ops(const WideNode *x);

/* ---- its parts ------------------------------------------------------------------------------- */
WideTree wide_leaves(Arena *a, const WideProblem *p);                 /* only operands, no steps yet */
void wide_step(Arena *a, const WideProblem *p, WideTree *t, uint32_t i, uint32_t left, uint32_t right);
void wide_count(const WideProblem *p, WideTree *t);                   /* ops and cost */
bool wide_chain(Arena *a, const WideProblem *p, int64_t *budget, WideTree *out); /* false: it is no chain */
/* One pass over all steps: puts the operands of each and of the most expensive ones below it, up to `part`, into
 * their best order. Returns whether the tree improved. */
bool wide_mend(Arena *a, const WideProblem *p, uint32_t part, int64_t *budget, WideTree *t);

#endif
