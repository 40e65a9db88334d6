/* plan/network/network.h - the least sum of a network of costs.
 *
 * There are variables with finitely many values each, and costs that depend on one or two variables. The solver looks
 * for the values with the least sum. It eliminates variables one by one, each into a cost of its neighbours (the
 * minimum over its values). The rest of the network shrinks until nothing is left, and the values are found on the
 * way back. That is exact, and the work is the size of the tables. If the next table would be too large, the costs of
 * a variable are eliminated in parts, each as if it could choose its own value. Then the resulting sum is a lower
 * bound, and the values, improved one by one, give an upper bound.
 *
 * A cost of two variables is stored over classes of their values, as few as it distinguishes. Values of a variable
 * that no remaining cost distinguishes become one. Equal parts of the network are eliminated once. */
#ifndef EIN_NETWORK_H
#define EIN_NETWORK_H

#include "base/base.h"

typedef struct Network Network;

Network *network_new(Arena *a);
uint32_t network_variable(Network *n, uint32_t values);                     /* values: at least 1; returns its number */
void network_cost(Network *n, uint32_t x, const double *cost);              /* by value; costs of one variable add up */
/* For x != y: cost[class_x[value of x] * classes_y + class_y[value of y]]. Returns its number. */
uint32_t network_cost2(Network *n, uint32_t x, uint32_t classes_x, const uint32_t *class_x, uint32_t y,
    uint32_t classes_y, const uint32_t *class_y, const double *cost);
/* The same cost again, for other variables with as many values. */
void network_cost2_like(Network *n, uint32_t cost, uint32_t x, uint32_t y);

typedef struct NetworkAnswer {
  uint32_t *value;           /* by variable */
  double sum;                /* of the costs of these values */
  double bound;              /* no choice has a smaller sum; equal to sum: the choice is optimal */
  double work;               /* additions done */
} NetworkAnswer;

/* A choice to start from: the answer is no worse. */
void network_start(Network *n, const uint32_t *value);
/* A known lower bound: the search stops when a choice reaches it. */
void network_floor(Network *n, double bound);
/* budget: additions. enough: the search stops when the bound reaches it, because such a sum is of no use; INFINITY:
 * never. */
NetworkAnswer network_solve(Network *n, double budget, double enough);
/* By variable, the values that may be in a choice with a sum below `enough`; the others are in none. Returns a lower
 * bound of all sums; if it reaches `enough`, there is no such choice, and `left` says nothing. rise: it goes on while
 * some passes raise the bound by this share of what is missing. done: additions. */
double network_rule_out(Network *n, double budget, double enough, double rise, bool ***left, double *done);
/* Values also have weights whose sum may be at most `most`; only choices within that count. value NULL: there is
 * none, or none that costs less than `enough`. Bounds are correct to one part in 10^9. network_limit.c */
typedef struct NetworkLimit {
  const double *const *weight; /* by variable, by value; NULL: no weights */
  double most;
  double *price;             /* of a weight. In: near the price of a similar network, 0 if not known. Out: the price
                              * found. May be NULL */
  double floor;              /* as network_floor, for choices within the limit; 0: not known */
} NetworkLimit;
NetworkAnswer network_solve_within(Network *n, const NetworkLimit *l, double budget, double enough);
/* A lower bound of choices within the limit that cost less than `enough`, by prices near a known one, which is replaced
 * by the best of them. done: additions. raise.c */
double network_raise(Network *n, const NetworkLimit *l, double budget, double enough, double *done);
/* The same, by one price. cases: and by cases of values, with the budget that is left. */
double network_bound_at(
    Network *n, const NetworkLimit *l, double price, bool cases, double budget, double enough, double *done);
/* A lower bound of all sums, at most `enough`, by cases: groups of values of one variable after the other. done:
 * additions, about. branch.c */
double network_branch(Network *n, double budget, double enough, double *done);
/* A good choice of a large network, within the limit if l is not NULL. It proves nothing and has no bound. value
 * NULL: the budget is too small, or no choice within the limit was met. forest.c */
NetworkAnswer network_forests(const Network *n, const NetworkLimit *l, double budget);
/* Improves a choice within the limit, some hundred variables at a time, each time exactly; it is the same if nothing
 * is found. value NULL: it is not within the limit. balls.c */
NetworkAnswer network_balls(const Network *n, const NetworkLimit *l, const uint32_t *from, double budget);
/* Improves a choice within the limit one variable at a time, until no variable has a better value within it. */
NetworkAnswer network_descend(const Network *n, const NetworkLimit *l, const uint32_t *from);
/* The sum for the given values. */
double network_sum(const Network *n, const uint32_t *value);

#endif
