/* graph/passes/wide/wide.h - inside of the passes: the order of contraction of a wide product, a network of tensors with more labels or
 * operands than order.h takes.
 *
 * In come operands as lists of labels, and the labels' sizes; out comes a binary tree. It costs its operations, and WIDE_STORE
 * for each element of an intermediate. A chain, whose operands stand in a row and share labels with their neighbours alone, gets the
 * best of all trees along the chain (the textbook's dynamic program). Else it is the best of some greedy trees with noise
 * from a fixed seed, of which parts of up to WIDE_PART operands are put into their best order again and again. All of it is
 * bounded by a budget. */
#ifndef EIN_WIDE_H
#define EIN_WIDE_H

#include "base/base.h"

enum { WIDE_OPERANDS = 8192, WIDE_STORE = 8, WIDE_PART = 12 };

typedef struct WideLabel { uint32_t label, below; } WideLabel; /* below: how many operands under a node have it */
typedef VEC(WideLabel) WideLabels;                             /* in order of labels */

typedef struct WideProblem {
  uint32_t n, n_label;       /* operands, 2 to WIDE_OPERANDS */
  const WideLabels *operand; /* below is 1 */
  const double *size;        /* by label, */
  const uint32_t *users;     /*   in how many operands it is, */
  const bool *keep;          /*   and whether it is of the result */
} WideProblem;

typedef struct WideNode {    /* 0..n-1 are the operands; the others are steps */
  uint32_t left, right;
  WideLabels out;            /* labels of what comes out; an operand's own labels are reduced at once */
  double points;             /*   of these */
  double space;              /* points over which a step runs; an operand: the points of all its labels */
} WideNode;

typedef struct WideTree {
  uint32_t n, root;          /* nodes: 2 * operands - 1 */
  WideNode *node;
  double ops;                /* a step that reduces takes two a point, another one, as does an operand alone */
  double cost;               /*   and the elements of intermediates, by their weight */
} WideTree;

/* budget: in steps looked at, lessened by what was used; a first tree is found without it too. In the arena. */
WideTree wide_best(Arena *a, const WideProblem *p, int64_t *budget);
/* The steps, each after its parts: n - 1 of them, the root last. */
void wide_steps(Arena *scratch, const WideProblem *p, const WideTree *t, uint32_t *steps);
double wide_step_ops(const WideNode *x);

/* ---- its parts ------------------------------------------------------------------------------- */
WideTree wide_leaves(Arena *a, const WideProblem *p);                 /* operands alone: as yet no steps */
/* What two nodes make, and the points of the space. `out` NULL: only its points are asked for. */
double wide_join(Arena *a, const WideProblem *p, const WideNode *x, const WideNode *y, WideLabels *out, double *space);
void wide_step(Arena *a, const WideProblem *p, WideTree *t, uint32_t i, uint32_t left, uint32_t right);
void wide_count(const WideProblem *p, WideTree *t);                   /* ops and cost */
bool wide_chain(Arena *a, const WideProblem *p, int64_t *budget, WideTree *out); /* false: it is no chain */
/* Once over all steps: the operands of each and of the dearest below it, up to `part`, in their best order. True: the tree got better. */
bool wide_mend(Arena *a, const WideProblem *p, uint32_t part, int64_t *budget, WideTree *t);

#endif
