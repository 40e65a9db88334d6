/* plan/network/forest.c - finds a good choice of a network that is far too large to solve, forest by forest.
 *
 * A forest is a random set of variables, as large as possible, that are joined by no ring of costs. Beside given values
 * of the other variables, its best values are found exactly: from the leaves on, each variable tells the one above it
 * how much it costs, with all below it, for each class of that one's values. A forest has four of five variables of a
 * network where most variables have three neighbours, so choices change where it takes many variables at once.
 *
 * Weights have a price, which rises while the choice weighs more than the limit, and falls while it weighs less.
 * Several starts give a pool of choices. They are fused: a network in which each variable has only the values that it
 * has in the pool is small, and takes many forests. Then noise, which falls to none, makes new choices of the best one,
 * these are fused with the pool, and so on. Random numbers have a fixed seed: the answer is the same each time. */
#include <math.h>
#include <string.h>

#include "inside.h"

#define PRICE 0.1              /* the first price: all weights cost this share of the first choice; */
#define FOLLOW 0.15            /* how far it moves at first, and at last, from forest to forest */
#define FOLLOW_LAST 0.02
#define NOISE 1.0              /* at first, as a share of a variable's average cost; */
#define COOLING 4.0            /*   at last e^-4 of it, */
#define QUIET 0.9              /*   and none after this share of the forests */
#define VISIT 4.0              /* the work of a value in additions, about; */
#define VARIABLE 100.0         /* that of a variable besides */
#define FAST 8.0               /* additions here, in the time of one elsewhere */
#define FORGOTTEN 1e-9         /* a smaller share of the costs is no improvement */

enum {
  START = 80,                /* forests of a start; */
  FEWEST = 10,               /*   with less, there is no choice */
  STARTS = 8,
  POOL = 10,
  RENEW = 50,                /* forests from the best choice, with noise; */
  RENEWED = 3,               /*   that often in a generation; */
  FUSE = 1500,               /* small forests of the pool's values, */
  SETTLE = 20,               /*   and large ones after that */
  STALE = 4                  /* generations without a better choice: it ends */
};

#define NONE UINT32_MAX

typedef struct Forest {
  uint32_t len, *order;      /* its variables; each after the one above it */
  uint32_t *above, *by;      /* by variable: the one above it, or NONE; and their factor */
  bool *in;                  /* by variable */
  uint32_t *root, *seen;     /* by variable, while it grows: the root of its tree, about; who saw that root last */
} Forest;

typedef struct Walk {
  const Network *n;
  const NetworkLimit *l;     /* NULL: there is none */
  uint32_t *value;
  double price, noise;
  Forest f;
  double **cost;             /* by variable of the forest, by value: with the least costs of those below it */
  double *told, *heard;      /* of a factor, by class of its lower and of its upper variable */
  uint32_t *best;            /* within the limit, */
  double least;              /*   and its cost; infinite: there is none yet */
  double work, budget;
  uint64_t *random;
} Walk;

/* ---- a forest ---------------------------------------------------------------------------------------------------- */

static uint32_t root_of(const Forest *f, uint32_t x) {
  while (f->root[x] != x) x = f->root[x] = f->root[f->root[x]];
  return x;
}

/* Takes x if it has at most one cost with each tree. */
static void grow(Forest *f, const Network *n, uint32_t x) {
  uint32_t len = n->variables.at[x].factors.len;
  for (uint32_t i = 0; i < len; i++) {
    uint32_t y = variable_beside(n, x, i);
    if (!f->in[y]) continue;
    y = root_of(f, y);
    if (f->seen[y] == x) return;
    f->seen[y] = x;
  }
  for (uint32_t i = 0; i < len; i++)
    if (f->in[variable_beside(n, x, i)]) f->root[root_of(f, variable_beside(n, x, i))] = x;
  f->in[x] = true;
}

/* Puts a tree in order, from x on. */
static void tree_order(Forest *f, const Network *n, uint32_t x) {
  uint32_t next = f->len;
  f->above[x] = f->by[x] = NONE;
  f->seen[x] = 1;
  for (f->order[f->len++] = x; next < f->len; next++) {
    x = f->order[next];
    for (uint32_t i = 0; i < n->variables.at[x].factors.len; i++) {
      uint32_t y = variable_beside(n, x, i);
      if (!f->in[y] || f->seen[y]) continue;
      f->above[y] = x;
      f->by[y] = n->variables.at[x].factors.at[i];
      f->seen[y] = 1;
      f->order[f->len++] = y;
    }
  }
}

static void forest_make(Walk *w, uint32_t *lot) {
  Forest *f = &w->f;
  uint32_t len = w->n->variables.len;
  for (uint32_t x = 0; x < len; x++) lot[x] = f->root[x] = x, f->seen[x] = NONE, f->in[x] = false;
  lot_shuffle(w->random, len, lot);
  for (uint32_t i = 0; i < len; i++) grow(f, w->n, lot[i]);
  memset(f->seen, 0, len * sizeof *f->seen);
  f->len = 0;
  for (uint32_t i = 0; i < len; i++)
    if (f->in[lot[i]] && !f->seen[lot[i]]) tree_order(f, w->n, lot[i]);
}

/* ---- its best values --------------------------------------------------------------------------------------------- */

/* The costs of x by itself and beside variables outside the forest. */
static void cost_alone(Walk *w, uint32_t x) {
  const Variable *v = &w->n->variables.at[x];
  const double *weight = w->l ? w->l->weight[x] : NULL;
  double *cost = w->cost[x];
  memcpy(cost, w->n->own_said.at[x], v->n * sizeof *cost);
  for (uint32_t j = 0; weight && j < v->n; j++) cost[j] += w->price * weight[j];
  for (uint32_t j = 0; w->noise > 0 && j < v->n; j++)
    cost[j] -= w->noise * (lot_draw(w->random) + lot_draw(w->random));
  for (uint32_t i = 0; i < v->factors.len; i++) {
    const Factor *f = &w->n->factors.at[v->factors.at[i]];
    const Side *own = &f->side[f->side[1].variable == x], *other = &f->side[f->side[0].variable == x];
    if (w->f.in[other->variable]) continue;
    const double *at = f->table->at + other->by->of[w->value[other->variable]] * other->stride;
    for (uint32_t j = 0; j < v->n; j++) cost[j] += at[own->by->of[j] * own->stride];
  }
  w->work += VARIABLE + VISIT * v->n;
}

/* Adds the least costs of x, with all below it, to the costs of the variable above it. */
static void tell(Walk *w, uint32_t x) {
  const Factor *f = &w->n->factors.at[w->f.by[x]];
  uint32_t above = w->f.above[x], side = f->side[1].variable == x;
  const Classes *own = f->side[side].by, *other = f->side[1 - side].by;
  for (uint32_t c = 0; c < own->n; c++) w->told[c] = -INFINITY;
  for (uint32_t j = 0; j < own->values; j++) w->told[own->of[j]] = fmax(w->told[own->of[j]], -w->cost[x][j]);
  factor_pull(f, 1 - side, w->told, w->heard);
  for (uint32_t j = 0; j < other->values; j++) w->cost[above][j] += w->heard[other->of[j]];
  w->work += (double)f->table->n;
}

/* Chooses the best value, beside the one chosen above. */
static void decide(Walk *w, uint32_t x) {
  const double *cost = w->cost[x], *at = NULL;
  const Side *own = NULL;
  double least = INFINITY;
  if (w->f.above[x] != NONE) {
    const Factor *f = &w->n->factors.at[w->f.by[x]];
    const Side *other = &f->side[f->side[0].variable == x];
    own = &f->side[f->side[1].variable == x];
    at = f->table->at + other->by->of[w->value[other->variable]] * other->stride;
  }
  for (uint32_t j = 0; j < w->n->variables.at[x].n; j++) {
    double sum = cost[j] + (at ? at[own->by->of[j] * own->stride] : 0);
    if (sum < least) least = sum, w->value[x] = j;
  }
}

/* ---- forest by forest -------------------------------------------------------------------------------------------- */

/* Keeps the choice if it is the best within the limit. Returns its weight as a share of the limit, less 1. */
static double keep(Walk *w) {
  double weight = limit_sum(w->n, w->l, w->value), sum = network_sum(w->n, w->value);
  double over = w->l ? weight / w->l->most - 1 : 0;
  if (!limit_holds(w->l, weight) || sum >= w->least) return over;
  w->least = sum;
  memcpy(w->best, w->value, w->n->variables.len * sizeof *w->best);
  return over;
}

static void step(Walk *w, uint32_t *lot, double follow) {
  Forest *f = &w->f;
  forest_make(w, lot);
  for (uint32_t i = 0; i < f->len; i++) cost_alone(w, f->order[i]);
  for (uint32_t i = f->len; i-- > 0;)
    if (f->above[f->order[i]] != NONE) tell(w, f->order[i]);
  for (uint32_t i = 0; i < f->len; i++) decide(w, f->order[i]);
  w->price *= 1 + follow * fmax(-1, fmin(1, 2 * keep(w)));
}

static void walk(Walk *w, uint32_t forests, double noise) {
  Arena *a = arena_new();
  uint32_t *lot = NEW_ARRAY(a, uint32_t, w->n->variables.len + 1);
  double follow = FOLLOW;
  w->noise = noise;
  for (uint32_t k = 0; k < forests && w->work < w->budget; k++) {
    if (k > forests * QUIET) w->noise = 0;
    step(w, lot, follow);
    w->noise *= 1 - COOLING / forests;
    follow = FOLLOW_LAST + (follow - FOLLOW_LAST) * (1 - COOLING / forests);
  }
  arena_free(a);
}

static Walk walk_new(Arena *a, const Network *n, const NetworkLimit *l, uint64_t *random) {
  uint32_t len = n->variables.len, most = 1;
  Walk w = {.n = n, .l = l && l->most > 0 ? l : NULL, .least = INFINITY, .budget = INFINITY, .random = random};
  w.f = (Forest){.order = NEW_ARRAY(a, uint32_t, len + 1), .above = NEW_ARRAY(a, uint32_t, len + 1),
      .by = NEW_ARRAY(a, uint32_t, len + 1), .in = NEW_ARRAY(a, bool, len + 1),
      .root = NEW_ARRAY(a, uint32_t, len + 1), .seen = NEW_ARRAY(a, uint32_t, len + 1)};
  w.value = NEW_ARRAY(a, uint32_t, len + 1);
  w.best = NEW_ARRAY(a, uint32_t, len + 1);
  w.cost = NEW_ARRAY(a, double *, len + 1);
  for (uint32_t x = 0; x < len; x++) {
    w.cost[x] = NEW_ARRAY(a, double, n->variables.at[x].n);
    most = n->variables.at[x].n > most ? n->variables.at[x].n : most;
  }
  w.told = NEW_ARRAY(a, double, most);
  w.heard = NEW_ARRAY(a, double, most);
  return w;
}

/* ---- the pool ---------------------------------------------------------------------------------------------------- */

typedef struct Pool {        /* choices */
  uint32_t len, oldest;
  uint32_t *at[POOL];
} Pool;

static void pool_keep(Arena *a, Pool *p, const Network *n, const uint32_t *value) {
  uint32_t k = p->len < POOL ? p->len++ : p->oldest++ % POOL;
  if (!p->at[k]) p->at[k] = NEW_ARRAY(a, uint32_t, n->variables.len + 1);
  memcpy(p->at[k], value, n->variables.len * sizeof *value);
}

/* Of the values in the pool. */
static NetworkLimit limit_left(Arena *a, const NetworkLimit *l, const Network *m, uint32_t **to) {
  const double **weight = NEW_ARRAY(a, const double *, m->variables.len + 1);
  for (uint32_t x = 0; x < m->variables.len; x++) {
    if (!l->weight[x]) continue;
    double *of = NEW_ARRAY(a, double, m->variables.at[x].n);
    for (uint32_t j = 0; j < m->variables.at[x].n; j++) of[j] = l->weight[x][to[x][j]];
    weight[x] = of;
  }
  return (NetworkLimit){.weight = weight, .most = l->most};
}

/* Continues from the best choice of the pool's values. */
static void fuse(Walk *w, const Pool *p) {
  Arena *a = arena_new();
  uint32_t len = w->n->variables.len, **to = NEW_ARRAY(a, uint32_t *, len + 1);
  bool **left = NEW_ARRAY(a, bool *, len + 1);
  for (uint32_t x = 0; x < len; x++) {
    left[x] = NEW_ARRAY(a, bool, w->n->variables.at[x].n);
    for (uint32_t k = 0; k < p->len; k++) left[x][p->at[k][x]] = true;
  }
  Network *m = network_left(a, w->n, left, NULL, to);
  NetworkLimit l = w->l ? limit_left(a, w->l, m, to) : (NetworkLimit){0};
  Walk v = walk_new(a, m, w->l ? &l : NULL, w->random);
  for (uint32_t x = 0; x < len; x++)
    while (to[x][v.value[x]] != w->best[x]) v.value[x]++;
  v.price = w->price;
  v.budget = w->budget - w->work;
  keep(&v);
  walk(&v, FUSE, NOISE * w->least / (len + 1));
  for (uint32_t x = 0; x < len; x++) w->value[x] = to[x][v.best[x]];
  w->price = v.price;
  w->work += v.work;
  keep(w);
  arena_free(a);
  walk(w, SETTLE, 0);
}

static void renew(Walk *w, Arena *a, Pool *p) {
  Walk v = *w;
  v.least = INFINITY;
  v.best = NEW_ARRAY(a, uint32_t, w->n->variables.len + 1);
  memcpy(w->value, w->best, w->n->variables.len * sizeof *w->best);
  walk(&v, RENEW, NOISE * w->least / (w->n->variables.len + 1));
  w->work = v.work;
  w->price = v.price;
  pool_keep(a, p, w->n, isinf(v.least) ? v.value : v.best);
  if (v.least >= w->least) return;
  w->least = v.least;
  memcpy(w->best, v.best, w->n->variables.len * sizeof *w->best);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* The first start has the lightest value of each variable, and of equals the cheapest by itself; the others any. */
static void start(Walk *w, bool first) {
  for (uint32_t x = 0; x < w->n->variables.len; x++) {
    const double *own = w->n->own_said.at[x], *weight = w->l ? w->l->weight[x] : NULL;
    uint32_t to = 0, len = w->n->variables.at[x].n;
    for (uint32_t j = 1; j < len && first; j++) {
      double less = weight ? weight[to] - weight[j] : 0;
      if (less > 0 || (less == 0 && own[j] < own[to])) to = j;
    }
    w->value[x] = first ? to : (uint32_t)(lot_draw(w->random) * len);
  }
  if (first && w->l) w->price = PRICE * network_sum(w->n, w->value) / w->l->most;
  keep(w);
}

static void starts(Walk *w, Arena *a, Pool *p, double forests) {
  double n = fmax(1, fmin((double)STARTS, forests / ((double)(2 * START))));
  uint32_t *best = NEW_ARRAY(a, uint32_t, w->n->variables.len + 1);
  double least = INFINITY;
  for (uint32_t k = 0; k < (uint32_t)n && w->work < w->budget; k++) {
    w->least = INFINITY;
    start(w, k == 0);
    walk(w, START, 0);
    pool_keep(a, p, w->n, isinf(w->least) ? w->value : w->best);
    if (w->least >= least) continue;
    least = w->least;
    memcpy(best, w->best, w->n->variables.len * sizeof *best);
  }
  w->least = least;
  w->best = best;
}

static double forest_work(const Network *n) {
  double work = 0;
  for (uint32_t x = 0; x < n->variables.len; x++) work += VARIABLE + VISIT * n->variables.at[x].n;
  for (uint32_t i = 0; i < n->said; i++) work += (double)n->factors.at[i].table->n;
  return work;
}

NetworkAnswer network_forests(const Network *n, const NetworkLimit *l, double budget) {
  Arena *a = arena_new();
  NetworkAnswer r = {.bound = -INFINITY, .sum = INFINITY};
  uint64_t random = 1;
  double forests = FAST * budget / forest_work(n);
  Pool p = {0};
  if (forests >= (double)FEWEST) {
    Walk w = walk_new(a, n, l, &random);
    w.budget = FAST * budget;
    starts(&w, a, &p, forests);
    for (uint32_t stale = 0; w.work < w.budget && stale < STALE && !isinf(w.least);) {
      double before = w.least;
      for (uint32_t i = 0; i < RENEWED; i++) renew(&w, a, &p);
      pool_keep(a, &p, n, w.best);
      fuse(&w, &p);
      stale = w.least < before * (1 - FORGOTTEN) ? 0 : stale + 1;
    }
    if (!isinf(w.least)) r = network_descend(n, l, w.best);
    if (w.l && l->price) *l->price = w.price;
    r.work += w.work / FAST;
  }
  arena_free(a);
  return r;
}
