/* plan/network/raise.c - raises the lower bound of choices within a limit, once a price of weights is nearly known.
 *
 * For any price, no choice within the limit costs less than the least of (cost + price x weight), less price x limit.
 * As a function of the price this rises and falls once, so a few steps from a price that is nearly right find a better
 * one. */
#include "inside.h"

#define RISE 1e-3              /* of what is missing: less than that in some passes is not worth more passes */

enum { STEPS = 12 };

static const double factors[] = {1.2, 1.07, 1.02}; /* from one price to the next, in turn */

typedef struct Raising {
  Network *n;
  const NetworkLimit *l;
  double budget, done;       /* of one price; of all so far */
  double enough;
  uint32_t steps;
  bool cases;
} Raising;

static double bound_at(Raising *x, double price) {
  Arena *a = arena_new();
  uint32_t len = x->n->variables.len, **to = NEW_ARRAY(a, uint32_t *, len + 1);
  double **own = NEW_ARRAY(a, double *, len + 1), done;
  bool **left = NEW_ARRAY(a, bool *, len + 1);
  for (uint32_t v = 0; v < len; v++) {
    const double *weight = x->l->weight[v];
    own[v] = NEW_ARRAY(a, double, x->n->variables.at[v].n);
    left[v] = NEW_ARRAY(a, bool, x->n->variables.at[v].n);
    for (uint32_t i = 0; i < x->n->variables.at[v].n; i++) {
      own[v][i] = x->n->own_said.at[v][i] + (weight ? price * weight[i] : 0);
      left[v][i] = true;
    }
  }
  Network *m = network_left(a, x->n, left, own, to);
  double all = price * x->l->most, bound;
  if (x->cases) bound = network_branch(m, x->budget, x->enough + all, &done) - all;
  else bound = network_rule_out(m, x->budget, x->enough + all, RISE, &left, &done) - all;
  x->done += done;
  x->steps++;
  arena_free(a);
  return bound;
}

double network_bound_at(
    Network *n, const NetworkLimit *l, double price, bool cases, double budget, double enough, double *done) {
  Raising x = {.n = n, .l = l, .budget = budget, .enough = enough, .cases = cases};
  double bound = bound_at(&x, price);
  *done = x.done;
  return bound;
}

/* Goes from price to price, up or down, as long as the bound rises. */
static bool climb(Raising *x, double factor, double *price, double *best) {
  bool any = false;
  while (*best < x->enough && x->steps < STEPS) {
    double bound = bound_at(x, *price * factor);
    if (bound <= *best) break;
    *best = bound;
    *price *= factor;
    any = true;
  }
  return any;
}

double network_raise(Network *n, const NetworkLimit *l, double budget, double enough, double *done) {
  Raising x = {.n = n, .l = l, .budget = budget / (double)STEPS, .enough = enough};
  double price = *l->price, best = bound_at(&x, price);
  for (uint32_t k = 0; k < sizeof factors / sizeof *factors && price > 0; k++)
    if (!climb(&x, factors[k], &price, &best)) climb(&x, 1 / factors[k], &price, &best);
  *l->price = price;
  *done = x.done;
  return best;
}
