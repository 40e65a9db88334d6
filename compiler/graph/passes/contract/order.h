/* graph/passes/contract/order.h - inside of the passes: in which order a product under a reducer is contracted.
 *
 * In come operands as sets of labels (bit k: label k), with the order of their axes, and the labels' sizes; out comes a
 * binary tree, with the operations that it takes and the axes of what its steps make. A tree costs its operations, and what
 * goes through memory beside them, in operations too: `store` for each element of an intermediate, `copy` for each of a large
 * operand that is not read as it lies. Up to ORDER_EXACT operands it is the best of all trees, found by dynamic programming
 * over subsets (first the least cost, then the smallest largest intermediate), where a part's axes are those of its own best
 * order; above, or where the budget is spent, the best of some greedy ones, mended in parts, always the same ones.
 *
 * An intermediate has the axes of the larger operand of its step, and in the place of what is reduced those of the other:
 * so the labels that went to the next element still do, or the new ones do. */
#ifndef EIN_ORDER_H
#define EIN_ORDER_H

#include "base/base.h"

enum { ORDER_SMALL = 6, ORDER_EXACT = 12, ORDER_OPERANDS = 64, ORDER_LABELS = 63 };

typedef struct OrderProblem {
  uint32_t n;                /* operands, 2 to ORDER_OPERANDS */
  uint64_t operand[ORDER_OPERANDS];
  uint8_t axis[ORDER_OPERANDS][ORDER_LABELS]; /* the labels of each, outermost first; asked where there are weights */
  uint64_t made;             /* operands that are intermediates already */
  uint64_t keep;             /* labels that must live until the last step: the output's, a predicate's */
  uint64_t last;             /* labels of the last step that no operand needs to have */
  uint64_t out;              /* labels of the result; keep has them */
  double size[ORDER_LABELS];
  double store, copy;        /* weights; 0: operations are all that counts */
} OrderProblem;

typedef struct OrderNode {   /* 0..n-1 are the operands, then each step after its two parts; the root is last */
  uint32_t left, right;
  uint64_t space;            /* labels over which the step runs; an operand: its labels */
  uint64_t labels;           /* of what comes out: space without what is reduced here */
  uint8_t axis[ORDER_LABELS];/*   outermost first; the root's are its user's own */
} OrderNode;

typedef struct OrderTree {
  uint32_t n;                /* nodes: 2 * operands - 1 */
  OrderNode node[2 * ORDER_OPERANDS];
  double ops;                /* all operations; a step that reduces takes two a point, another one, as does an operand alone */
  double cost;               /*   and what goes through memory, by the weights */
  double largest;            /* elements of the largest intermediate */
} OrderTree;

/* budget: in steps looked at, lessened by what was used. Up to ORDER_SMALL operands it is not asked; greedy orders are found
 * without it too, but not mended. */
void order_best(const OrderProblem *p, int64_t *budget, OrderTree *out);
/* The tree's labels, axes and costs; left and right are given. */
void order_finish(const OrderProblem *p, OrderTree *t);
/* t, an order that is best on one site: instead one that is estimated to move least on so many, for somewhat more work. False: none was looked for, and t
 * is as it was. order_sites.c */
bool order_on_sites(const OrderProblem *p, int64_t sites, OrderTree *t);
double order_points(const OrderProblem *p, uint64_t labels); /* the product of their sizes */

#endif
