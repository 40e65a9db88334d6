/* plan/network/anneal.c - finds a good choice by simulated annealing, for networks that are far too large to solve.
 *
 * Variables are visited in turn, and each draws a value: the cheaper a value is, given the values of the other
 * variables, the more likely it is drawn. How much more likely depends on the heat, which falls from where nearly
 * any value is drawn to where nearly always the cheapest is. Weights have a price, which rises while the choice
 * weighs more than the limit, and falls while it weighs less. Random numbers have a fixed seed, and probabilities
 * are computed by products, not by a library's exp: the answer is the same on every machine. */
#include <math.h>
#include <string.h>

#include "inside.h"

#define HOT 0.15               /* the first heat, as a share of a variable's average cost at the start; */
#define COOLING 4.2            /*   the last one is e^-4.2 of it */
#define FOLLOW 0.3             /* how far the price moves from sweep to sweep at first; it falls with the heat, */
#define FOLLOW_COLD 0.02       /*   to that */
#define VISIT 4.0              /* the cost of a draw in additions, about */
#define ROUNDED 1e-12          /* of the limit */

enum {
  SWEEPS = 3000,             /* at most, */
  SWEEPS_FEW = 50,           /*   and at least, else there are none */
  SWEEPS_LIGHTER = 200,      /* in the cold, until the choice is within the limit */
  POWER = 4                  /* (1 - x / 2^POWER)^(2^POWER) is near exp(-x) */
};

typedef struct Annealing {
  const Network *n;
  const NetworkLimit *l;     /* NULL: there is none */
  uint32_t *value;
  double weight, price;
  double heat, hot;          /* now; at first */
  double **field;            /* by variable, by value: its cost, given the values of the other variables */
  double *chance;            /* of the current variable, by value */
  uint32_t *best;            /* within the limit, */
  double least;              /* and its cost; infinite: there is none yet */
  double work;
  uint64_t random;
} Annealing;

/* ---- one variable ------------------------------------------------------------------------------------ */

static double weight_at(const Annealing *x, uint32_t variable, uint32_t value) {
  return x->l && x->l->weight[variable] ? x->l->weight[variable][value] : 0;
}

static bool within(const Annealing *x, double weight) {
  return !x->l || weight <= x->l->most * (1 + ROUNDED);
}

/* A number in [0, 1). */
static double draw(Annealing *x) {
  x->random = x->random * 6364136223846793005u + 1442695040888963407u;
  return (double)(x->random >> 11) * 0x1p-53;
}

/* Sets a value and updates the fields of its neighbours. */
static void value_set(Annealing *x, uint32_t variable, uint32_t to) {
  const Variable *v = &x->n->variables.at[variable];
  uint32_t was = x->value[variable];
  x->weight += weight_at(x, variable, to) - weight_at(x, variable, was);
  x->value[variable] = to;
  for (uint32_t i = 0; i < v->factors.len; i++) {
    const Factor *f = &x->n->factors.at[v->factors.at[i]];
    const Side *own = &f->side[f->side[1].variable == variable], *other = &f->side[f->side[0].variable == variable];
    const double *before = f->table->at + own->by->of[was] * own->stride,
                 *after = f->table->at + own->by->of[to] * own->stride;
    double *field = x->field[other->variable];
    const uint32_t *of = other->by->of;
    if (before == after) continue;
    for (uint32_t j = 0; j < other->by->values; j++)
      field[j] += after[of[j] * other->stride] - before[of[j] * other->stride];
    x->work += other->by->values;
  }
}

/* Finds the cost of each value, with the price of weights. Returns the least. */
static double costs_find(Annealing *x, uint32_t variable) {
  uint32_t n = x->n->variables.at[variable].n;
  const double *field = x->field[variable], *weight = x->l ? x->l->weight[variable] : NULL;
  double least = INFINITY;
  for (uint32_t j = 0; j < n; j++) {
    double cost = field[j] + (weight ? x->price * weight[j] : 0);
    x->chance[j] = cost;
    least = cost < least ? cost : least;
  }
  x->work += n;
  return least;
}

static void visit(Annealing *x, uint32_t variable) {
  uint32_t n = x->n->variables.at[variable].n, to = 0;
  double least = costs_find(x, variable), reach = 1 / (x->heat * (1 << POWER)), all = 0;
  for (uint32_t j = 0; j < n; j++) {
    double c = 1 - (x->chance[j] - least) * reach;
    if (c < 0) c = 0;
    for (int k = 0; k < POWER; k++) c *= c;
    x->chance[j] = c;
    all += c;
  }
  for (double left = draw(x) * all - x->chance[0]; left >= 0 && to + 1 < n; left -= x->chance[to]) to++;
  if (x->chance[to] > 0 && to != x->value[variable]) value_set(x, variable, to);
}

/* Chooses the cheapest value that keeps the total within the limit. Returns whether it is another value, which costs
 * less. */
static bool visit_cold(Annealing *x, uint32_t variable) {
  const double *field = x->field[variable];
  uint32_t best = x->value[variable];
  double rest = x->weight - weight_at(x, variable, best), enough = field[best] - 1e-9 * fabs(field[best]);
  for (uint32_t j = 0; j < x->n->variables.at[variable].n; j++)
    if (field[j] < enough && within(x, rest + weight_at(x, variable, j))) best = j, enough = field[j];
  x->work += x->n->variables.at[variable].n;
  if (best == x->value[variable]) return false;
  value_set(x, variable, best);
  return true;
}

/* ---- everything together ------------------------------------------------------------------------------ */

static void keep(Annealing *x) {
  if (!within(x, x->weight)) return;
  double sum = network_sum(x->n, x->value);
  if (sum >= x->least) return;
  x->least = sum;
  memcpy(x->best, x->value, x->n->variables.len * sizeof *x->best);
}

static void sweep(Annealing *x) {
  for (uint32_t v = 0; v < x->n->variables.len; v++) visit(x, v);
  keep(x);
  if (!x->l) return;
  double over = x->weight / x->l->most - 1;
  x->price *= 1 + (FOLLOW_COLD + FOLLOW * x->heat / x->hot) * fmax(-1, fmin(1, over));
}

static void cool(Annealing *x, uint32_t sweeps) {
  for (uint32_t k = 0; k < sweeps; k++, x->heat *= 1 - COOLING / sweeps) sweep(x);
  for (uint32_t k = 0; k < SWEEPS_LIGHTER && !within(x, x->weight); k++) sweep(x);
}

static void improve(Annealing *x) {
  bool any = within(x, x->weight);
  for (uint32_t k = 0; any && k < 100; k++) {
    any = false;
    for (uint32_t v = 0; v < x->n->variables.len; v++) any |= visit_cold(x, v);
  }
  keep(x);
}

/* Starts with the lightest value of each variable; of equals, the cheapest by itself. */
static void start(Annealing *x) {
  for (uint32_t v = 0; v < x->n->variables.len; v++) {
    const double *own = x->n->own_said.at[v];
    uint32_t to = 0;
    for (uint32_t j = 1; j < x->n->variables.at[v].n; j++) {
      double less = weight_at(x, v, to) - weight_at(x, v, j);
      if (less > 0 || (less == 0 && own[j] < own[to])) to = j;
    }
    x->value[v] = to;
    x->weight += weight_at(x, v, to);
  }
}

static void fields_make(Annealing *x, Arena *a) {
  uint32_t most = 1;
  for (uint32_t v = 0; v < x->n->variables.len; v++) {
    uint32_t n = x->n->variables.at[v].n;
    x->field[v] = arena_copy(a, x->n->own_said.at[v], n * sizeof *x->field[v]);
    most = n > most ? n : most;
  }
  for (uint32_t i = 0; i < x->n->said; i++)
    for (int k = 0; k < 2; k++) {
      const Factor *f = &x->n->factors.at[i];
      const Side *own = &f->side[k], *other = &f->side[1 - k];
      const double *at = f->table->at + other->by->of[x->value[other->variable]] * other->stride;
      for (uint32_t j = 0; j < own->by->values; j++) x->field[own->variable][j] += at[own->by->of[j] * own->stride];
    }
  x->chance = NEW_ARRAY(a, double, most);
}

/* The work of a sweep: a visit takes about this many additions per value. */
static double sweep_work(const Network *n) {
  double work = 0;
  for (uint32_t v = 0; v < n->variables.len; v++) work += VISIT * n->variables.at[v].n;
  return work;
}

NetworkAnswer network_descend(const Network *n, const NetworkLimit *l, const uint32_t *from) {
  Arena *a = arena_new();
  uint32_t len = n->variables.len;
  NetworkAnswer r = {.bound = -INFINITY, .sum = INFINITY};
  Annealing x = {.n = n, .l = l && l->most > 0 ? l : NULL, .least = INFINITY};
  x.value = arena_copy(a, from, (len + 1) * sizeof *from);
  x.best = NEW_ARRAY(n->arena, uint32_t, len + 1);
  x.field = NEW_ARRAY(a, double *, len + 1);
  for (uint32_t v = 0; v < len; v++) x.weight += weight_at(&x, v, from[v]);
  fields_make(&x, a);
  improve(&x);
  if (!isinf(x.least)) r.value = x.best, r.sum = x.least;
  r.work = x.work;
  arena_free(a);
  return r;
}

NetworkAnswer network_anneal(const Network *n, const NetworkLimit *l, double budget) {
  Arena *a = arena_new();
  uint32_t len = n->variables.len;
  double sweeps = fmin(SWEEPS, budget / (sweep_work(n) + 1));
  NetworkAnswer r = {.bound = -INFINITY, .sum = INFINITY};
  Annealing x = {.n = n, .l = l && l->most > 0 ? l : NULL, .least = INFINITY, .random = 1};
  x.value = NEW_ARRAY(a, uint32_t, len + 1);
  x.best = NEW_ARRAY(n->arena, uint32_t, len + 1);
  x.field = NEW_ARRAY(a, double *, len + 1);
  start(&x);
  fields_make(&x, a);
  double sum = network_sum(n, x.value);
  x.heat = x.hot = HOT * sum / len;
  x.price = x.l ? sum / l->most : 0;
  if (sweeps >= (double)SWEEPS_FEW && x.heat > 0) {
    cool(&x, (uint32_t)sweeps);
    improve(&x);
    if (!isinf(x.least)) r.value = x.best, r.sum = x.least;
  }
  r.work = x.work * VISIT;
  arena_free(a);
  return r;
}
