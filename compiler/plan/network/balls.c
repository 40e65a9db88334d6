/* plan/network/balls.c - improves a choice of a large network, ball by ball.
 *
 * A ball is some hundred variables, grown from a random one: next comes a variable most of whose neighbours are in
 * already, so that few costs join the ball with the rest. Beside the values of all others, its best values are found
 * exactly (network_solve): what the choice pays in the ball rules out most values there. Forests (forest.c) change most
 * variables at once, but only where no ring of costs joins them; a ball has its rings within.
 *
 * Weights have a price, which rises while the choice weighs more than the limit, and falls while it weighs less. Balls
 * grow while they are solved within their part of the budget. Random numbers have a fixed seed, and work is counted,
 * not timed: the answer is the same each time. */
#include <math.h>
#include <string.h>

#include "inside.h"

#define PRICE 0.1              /* if no price is known: all weights cost this share of the first choice */
#define FOLLOW 0.005           /* how far the price moves from ball to ball, at most, */
#define FOLLOW_ALL 0.01        /*   if the weight is this share of the limit or more away from it */
#define SMALLER 1e-9           /* a smaller share of the costs is no improvement */
#define SLICE 4e8              /* additions of a ball, at most */
#define VARIABLE 2e4           /* the work of a variable besides */
#define BY_LOT 0.5             /* a variable comes first with so many more neighbours in the ball, by lot */
#define GROW 1.2               /* the next ball, if this one was solved, */
#define SHRINK 0.8             /*   and if it was not */

enum {
  FIRST = 100, MOST = 400,   /* variables of a ball */
  LOTS = 8,                  /* centres to choose from */
  COVERED = 4                /* each variable was in about so many balls since the last that was of use: it ends */
};

typedef struct Balls {
  const Network *n;
  const NetworkLimit *l;     /* NULL: there is none */
  double price;
  uint32_t *value, *best;    /* the choice; and the best within the limit, */
  double least;              /*   with its cost */
  uint32_t len, *ball;       /* its variables, in order; */
  bool *in;                  /*   by variable; */
  uint32_t *near;            /*   by variable: how many of its costs join it with the ball */
  uint32_t *times;           /* by variable: how many balls had it */
  double size;               /* of the next ball */
  double work;
  uint64_t random;
} Balls;

/* ---- a ball ------------------------------------------------------------------------------------------------------ */

/* Of a few by lot, the variable that was in the fewest balls. */
static uint32_t centre(Balls *b) {
  uint32_t best = lot_below(&b->random, b->n->variables.len);
  for (uint32_t k = 1; k < LOTS; k++) {
    uint32_t x = lot_below(&b->random, b->n->variables.len);
    if (b->times[x] < b->times[best]) best = x;
  }
  while (b->in[best]) best = (best + 1) % b->n->variables.len;
  return best;
}

/* The variable that comes next; another centre, if no cost joins the ball with others. */
static uint32_t ball_next(Balls *b) {
  uint32_t all = b->n->variables.len, best = all;
  double most = 0;
  for (uint32_t x = 0; x < all; x++) {
    if (b->in[x] || !b->near[x]) continue;
    double share = (double)b->near[x] / b->n->variables.at[x].factors.len * (1 + BY_LOT * lot_draw(&b->random));
    if (share > most) most = share, best = x;
  }
  return best < all ? best : centre(b);
}

static void ball_draw(Balls *b) {
  uint32_t all = b->n->variables.len, size = b->size < all ? (uint32_t)b->size : all;
  memset(b->in, 0, all * sizeof *b->in);
  memset(b->near, 0, all * sizeof *b->near);
  for (b->len = 0; b->len < size; b->len++) {
    uint32_t x = ball_next(b);
    b->in[x] = true;
    b->times[x]++;
    for (uint32_t i = 0; i < b->n->variables.at[x].factors.len; i++) b->near[variable_beside(b->n, x, i)]++;
  }
  for (uint32_t x = 0, k = 0; x < all; x++)
    if (b->in[x]) b->ball[k++] = x;
}

/* The costs of x by itself and beside variables outside the ball. */
static double *cost_beside(Balls *b, Arena *a, uint32_t x) {
  const Variable *v = &b->n->variables.at[x];
  double *cost = arena_copy(a, b->n->own_said.at[x], v->n * sizeof *cost);
  for (uint32_t j = 0; j < v->n; j++) cost[j] += b->price * limit_weight(b->l, x, j);
  for (uint32_t i = 0; i < v->factors.len; i++) {
    const Factor *f = &b->n->factors.at[v->factors.at[i]];
    const Side *own = &f->side[f->side[1].variable == x], *other = &f->side[f->side[0].variable == x];
    if (b->in[other->variable]) continue;
    const double *at = f->table->at + other->by->of[b->value[other->variable]] * other->stride;
    for (uint32_t j = 0; j < v->n; j++) cost[j] += at[own->by->of[j] * own->stride];
    b->work += v->n;
  }
  return cost;
}

typedef struct Solved { bool best, better; } Solved; /* its values are the best; they cost less than before */

static Solved ball_solve(Balls *b, double budget) {
  Arena *a = arena_new();
  uint32_t *now = NEW_ARRAY(a, uint32_t, b->len + 1);
  double **own = NEW_ARRAY(a, double *, b->len + 1);
  for (uint32_t i = 0; i < b->len; i++) {
    own[i] = cost_beside(b, a, b->ball[i]);
    now[i] = b->value[b->ball[i]];
  }
  Network *m = network_part(a, b->n, b->len, b->ball, own);
  network_start(m, now);
  double before = network_sum(m, now), small;
  NetworkAnswer r = network_solve(m, budget, INFINITY);
  for (uint32_t i = 0; i < b->len; i++) b->value[b->ball[i]] = r.value[i];
  b->work += r.work + VARIABLE * b->len;
  small = SMALLER * fabs(before);
  arena_free(a);
  return (Solved){r.bound >= r.sum - small, r.sum < before - small};
}

/* ---- ball by ball ------------------------------------------------------------------------------------------------ */

/* Keeps the choice if it is the best within the limit, and lets the price follow the weight. */
static void keep(Balls *b) {
  double weight = limit_sum(b->n, b->l, b->value), sum = network_sum(b->n, b->value);
  if (b->l) b->price *= 1 + FOLLOW * fmax(-1, fmin(1, (weight / b->l->most - 1) / FOLLOW_ALL));
  if (!limit_holds(b->l, weight) || sum >= b->least) return;
  b->least = sum;
  memcpy(b->best, b->value, b->n->variables.len * sizeof *b->best);
}

static Balls balls_new(Arena *a, const Network *n, const NetworkLimit *l, const uint32_t *from) {
  uint32_t len = n->variables.len;
  Balls b = {.n = n, .l = l && l->most > 0 ? l : NULL, .size = FIRST, .random = 1};
  b.value = arena_copy(a, from, (len + 1) * sizeof *from);
  b.best = arena_copy(a, from, (len + 1) * sizeof *from);
  b.ball = NEW_ARRAY(a, uint32_t, len + 1);
  b.in = NEW_ARRAY(a, bool, len + 1);
  b.near = NEW_ARRAY(a, uint32_t, len + 1);
  b.times = NEW_ARRAY(a, uint32_t, len + 1);
  b.least = network_sum(n, from);
  if (b.l) b.price = l->price && *l->price > 0 ? *l->price : PRICE * b.least / l->most;
  return b;
}

/* What is left of the limit is filled one variable at a time. */
static void fill(Balls *b) {
  NetworkAnswer r = network_descend(b->n, b->l, b->value);
  b->work += r.work;
  if (!r.value || r.sum >= b->least) return;
  b->least = r.sum;
  memcpy(b->best, r.value, b->n->variables.len * sizeof *b->best);
}

NetworkAnswer network_balls(const Network *n, const NetworkLimit *l, const uint32_t *from, double budget) {
  Arena *a = arena_new();
  Balls b = balls_new(a, n, l, from);
  double covered = 0;
  while (b.work < budget && covered < (double)COVERED * n->variables.len) {
    ball_draw(&b);
    Solved s = ball_solve(&b, fmin(SLICE, budget - b.work));
    covered = s.better ? 0 : covered + b.len;
    if (s.better && b.l) fill(&b);
    keep(&b);
    b.size = fmin(b.size * (s.best ? GROW : SHRINK), MOST);
  }
  NetworkAnswer r = network_descend(n, l, b.best);
  r.work += b.work;
  arena_free(a);
  return r;
}
