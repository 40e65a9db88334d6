/* plan/network/network.h - the least sum of a network of costs.
 *
 * There are variables with finitely many values each, and costs: of one variable, or of two. Looked for is a value of each
 * variable with the least sum. Variables are eliminated one by one, each into a cost of its neighbours (the least over its
 * values); what is left of the network gets smaller until nothing is, and the values are found on the way back. That is exact,
 * and its work is the size of the tables: where the next one would be too large, the costs of a variable are eliminated in
 * parts, each as if it could have its own value. Then the sum found is a bound from below, and the values, improved one by one,
 * give one from above.
 *
 * A cost of two variables is said over classes of their values, as few as tell values apart that it tells apart: values of one
 * variable that no remaining cost tells apart become one. Parts of the network that are alike are eliminated once. */
#ifndef EIN_NETWORK_H
#define EIN_NETWORK_H

#include "base/base.h"

typedef struct Network Network;

Network *network_new(Arena *a);
uint32_t network_variable(Network *n, uint32_t values);                     /* at least 1; gives its number */
void network_cost(Network *n, uint32_t x, const double *cost);              /* by value; costs of one variable add up */
/* Of x != y: cost[class_x[value of x] * classes_y + class_y[value of y]]. Gives its number. */
uint32_t network_cost2(Network *n, uint32_t x, uint32_t classes_x, const uint32_t *class_x, uint32_t y, uint32_t classes_y,
                   const uint32_t *class_y, const double *cost);
/* The same cost once more, of other variables with as many values. */
void network_cost2_like(Network *n, uint32_t cost, uint32_t x, uint32_t y);

typedef struct NetworkAnswer {
  uint32_t *value;           /* by variable */
  double sum;                /* of the costs there */
  double bound;              /* no values have a smaller sum; the same as sum: there are no better ones */
  double work;               /* additions done */
} NetworkAnswer;

/* A choice from which to begin: the answer is no worse. */
void network_start(Network *n, const uint32_t *value);
/* A bound that is known already: where a choice gets there, it ends. */
void network_floor(Network *n, double bound);
/* budget: of additions. enough: where the bound gets there, it ends, as nobody wants such a sum; INFINITY: never. */
NetworkAnswer network_solve(Network *n, double budget, double enough);
/* Values that may be in a choice with a sum below `enough`, by variable; others are in none. Gives a bound of all sums: where it gets to `enough`, there
 * is no such choice, and nothing is said of values. done: additions. */
double network_rule_out(Network *n, double budget, double enough, bool ***left, double *done);
/* Beside costs, values have weights, which may sum up to `most`: of all choices within that. value NULL: there is none, or none that costs less than
 * `enough`. Bounds are right to a part in 10^9. network_limit.c */
typedef struct NetworkLimit {
  const double *const *weight; /* by variable, by value; NULL: they have none */
  double most;
  double *price;             /* of a weight: near what a network like this one came to, 0 where none did; and what this one came to. May be NULL */
  double floor;              /* as network_floor, of choices within the limit; 0: nothing is known */
} NetworkLimit;
NetworkAnswer network_solve_within(Network *n, const NetworkLimit *l, double budget, double enough);
/* A good choice by chance, within the limit if l is not NULL: it proves nothing, and has no bound. value NULL: the budget is too small, or none within
 * the limit was met. network_anneal.c */
NetworkAnswer network_anneal(const Network *n, const NetworkLimit *l, double budget);
/* From a choice within the limit to one that is better, a variable at a time, until none has a better value within it. */
NetworkAnswer network_descend(const Network *n, const NetworkLimit *l, const uint32_t *from);
/* The sum for given values. */
double network_sum(const Network *n, const uint32_t *value);

#endif
