/* graph/passes/contract/order.h - internals of the passes: the order in which a product under a reducer is
 * contracted.
 *
 * In: operands as sets of labels (bit k: label k), with the order of their axes, and the labels' sizes. Out: a binary
 * tree, with its operations and the axes of its intermediates. A tree costs its operations plus memory traffic,
 * counted in operations: `store` for each element of an intermediate, `copy` for each element of a large operand that
 * is not read in storage order. Up to ORDER_EXACT operands it is the best of all trees, found by dynamic programming
 * over subsets (least cost first, then the smallest largest intermediate), where the axes of a part are those of its
 * own best order. Above that, or if the budget is spent, it is the best of some greedy trees, improved in parts; the
 * result is deterministic.
 *
 * An intermediate has the axes of the larger operand of its step, with the reduced ones replaced by those of the
 * other operand. So the labels that were contiguous stay so, or the new ones are. */
#ifndef EIN_ORDER_H
#define EIN_ORDER_H

#include "base/base.h"

enum { ORDER_SMALL = 6, ORDER_EXACT = 12, ORDER_OPERANDS = 64, ORDER_LABELS = 63 };

typedef struct OrderProblem {
  uint32_t n;                /* operands, 2 to ORDER_OPERANDS */
  uint64_t operand[ORDER_OPERANDS];
  uint8_t axis[ORDER_OPERANDS][ORDER_LABELS]; /* the labels of each, outermost first; used only if there are weights */
  uint64_t made;             /* operands that are already intermediates */
  uint64_t keep;             /* labels that must stay until the last step: the output's, a predicate's */
  uint64_t last;             /* labels of the last step that no operand needs to have */
  uint64_t out;              /* labels of the result; a subset of keep */
  double size[ORDER_LABELS];
  double store, copy;        /* weights; 0: only operations count */
} OrderProblem;

typedef struct OrderNode {   /* 0..n-1 are the operands, then each step after its two parts; the root is last */
  uint32_t left, right;
  uint64_t space;            /* labels over which the step runs; an operand: its labels */
  uint64_t labels;           /* of the result: space without what is reduced here */
  uint8_t axis[ORDER_LABELS];/* outermost first; the root's are up to its user */
} OrderNode;

typedef struct OrderTree {
  uint32_t n;                /* nodes: 2 * operands - 1 */
  OrderNode node[2 * ORDER_OPERANDS];
  double ops;                /* all operations; a step or a single operand that reduces takes two per point, else one */
  double cost;               /* operations plus memory traffic, weighted */
  double largest;            /* elements of the largest intermediate */
} OrderTree;

/* A part of a tree's cost: the weight times the points over some labels; if there is a block, times 1/2 and 1/2 of
 * what the points of the block are of ORDER_NEAR, at most 1/2; and only if the points of `beyond`, if any, exceed
 * ORDER_NEAR. */
typedef struct OrderTerm { double weight; uint64_t points, block, beyond; } OrderTerm;
enum { ORDER_NEAR = 16384 }; /* elements of an operand that stays in a near cache while a large one is read */

static inline uint32_t labels_count(uint64_t labels) {
  uint32_t n = 0;
  for (; labels; labels &= labels - 1) n++;
  return n;
}

/* budget: in steps considered; it is reduced by what was used. Up to ORDER_SMALL operands it does not matter. Greedy
 * orders are found without it too, but not improved. */
void order_best(const OrderProblem *p, int64_t *budget, OrderTree *out);
/* Fills in the tree's labels, axes and costs; left and right are given. */
void order_finish(const OrderProblem *p, OrderTree *t);
/* The same; and lists what the cost consists of, at most ORDER_TERMS for each node. Returns the number of terms. */
enum { ORDER_TERMS = 5 };
uint32_t order_terms(const OrderProblem *p, OrderTree *t, OrderTerm *to);
/* t is the best order for one site. Replaces it by one that is estimated to move least on that many sites, for
 * somewhat more work. Returns false if it did not look for one; t is then unchanged. order_sites.c */
bool order_on_sites(const OrderProblem *p, int64_t sites, OrderTree *t);
uint64_t order_union(const OrderProblem *p, uint32_t set);   /* labels of these operands */
double order_points(const OrderProblem *p, uint64_t labels); /* the product of their sizes */

#endif
