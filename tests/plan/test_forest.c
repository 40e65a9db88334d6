/* tests/plan/test_forest.c - choices forest by forest: beside trying all, beside one that is known in a network too
 * large for that, and the same each time; and, of many that are alike, as many heavy ones as a limit allows. Bounds by
 * prices and by cases are below the best choice. */
#include <math.h>
#include <string.h>

#include "plan/network/inside.h"
#include "tap.h"

enum { FEW = 6, VALUES = 4, SIDE = 24 };

static uint64_t random_state = 11;

static uint32_t below(uint32_t n) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 33) % n;
}

static const uint32_t all[] = {0, 1, 2, 3};

static void pair(Network *n, uint32_t x, uint32_t y) {
  double cost[VALUES * VALUES];
  for (uint32_t k = 0; k < VALUES * VALUES; k++) cost[k] = (double)below(50);
  network_cost2(n, x, VALUES, all, y, VALUES, all, cost);
}

static Network *network_small(Arena *a) {
  Network *n = network_new(a);
  for (uint32_t x = 0; x < FEW; x++) {
    double own[VALUES];
    for (uint32_t v = 0; v < VALUES; v++) own[v] = (double)below(50);
    network_cost(n, network_variable(n, VALUES), own);
  }
  for (uint32_t x = 0; x < FEW; x++)
    for (uint32_t y = x + 1; y < FEW; y++)
      if (below(3)) pair(n, x, y);
  return n;
}

/* Each pair wants to be different, or alike; values are as good as each other, but for a little. Bounds by shared costs
 * see no conflict. */
static Network *network_alike(Arena *a) {
  Network *n = network_new(a);
  for (uint32_t x = 0; x < FEW; x++) {
    double own[VALUES];
    for (uint32_t v = 0; v < VALUES; v++) own[v] = (double)below(3);
    network_cost(n, network_variable(n, VALUES), own);
  }
  for (uint32_t x = 0; x < FEW; x++)
    for (uint32_t y = x + 1; y < FEW; y++) {
      uint32_t alike = below(2), other = below(VALUES);
      double cost[VALUES * VALUES], weight = 1 + (double)below(20);
      for (uint32_t c = 0; c < VALUES * VALUES; c++)
        cost[c] = ((c / VALUES + other) % VALUES == c % VALUES) == alike ? weight : 0;
      network_cost2(n, x, VALUES, all, y, VALUES, all, cost);
    }
  return n;
}

static double weight_of(const double *const *weight, uint32_t len, const uint32_t *value) {
  double sum = 0;
  for (uint32_t x = 0; x < len; x++) sum += weight[x] ? weight[x][value[x]] : 0;
  return sum;
}

static double least_of_all(const Network *n, const NetworkLimit *l) {
  double least = INFINITY;
  for (uint32_t k = 0, most = 1 << (2 * FEW); k < most; k++) {
    uint32_t value[FEW + 1] = {0};
    for (uint32_t x = 0; x < FEW; x++) value[x] = k >> (2 * x) & 3;
    if (!l || weight_of(l->weight, FEW, value) <= l->most) least = fmin(least, network_sum(n, value));
  }
  return least;
}

/* Weights: half of the variables have none. The limit is between the lightest choice and the heaviest. */
static NetworkLimit limit_of(Arena *a, uint32_t len, double share) {
  const double **weight = NEW_ARRAY(a, const double *, len);
  double light = 0, heavy = 0;
  for (uint32_t x = 0; x < len; x += 2) {
    double *w = NEW_ARRAY(a, double, VALUES);
    for (uint32_t v = 0; v < VALUES; v++) w[v] = 1 + (double)below(20);
    weight[x] = w;
    light += fmin(fmin(w[0], w[1]), fmin(w[2], w[3]));
    heavy += fmax(fmax(w[0], w[1]), fmax(w[2], w[3]));
  }
  return (NetworkLimit){.weight = weight, .most = light + share * (heavy - light)};
}

/* A square in which each is beside four others; the choice that is planted costs nothing, and any pair that is none of
 * it costs something. */
static Network *network_planted(Arena *a, uint32_t *planted) {
  Network *n = network_new(a);
  for (uint32_t x = 0; x < SIDE * SIDE; x++) planted[network_variable(n, VALUES)] = below(VALUES);
  for (uint32_t x = 0; x < SIDE * SIDE; x++)
    for (uint32_t k = 0; k < 2; k++) {
      uint32_t y = k ? x + SIDE : x + 1;
      double cost[VALUES * VALUES];
      if (k ? y >= SIDE * SIDE : y % SIDE == 0) continue;
      for (uint32_t c = 0; c < VALUES * VALUES; c++) cost[c] = 20 + (double)below(80);
      cost[planted[x] * VALUES + planted[y]] = 0;
      network_cost2(n, x, VALUES, all, y, VALUES, all, cost);
    }
  return n;
}

static void beside_all(bool limited) {
  uint32_t rounds = 200, best = 0, holds = 0, within = 0;
  for (uint32_t round = 0; round < rounds; round++) {
    Arena *a = arena_new();
    Network *n = network_small(a);
    NetworkLimit l = limit_of(a, FEW, 0.3), *most = limited ? &l : NULL;
    double least = least_of_all(n, most);
    NetworkAnswer r = network_forests(n, most, 1e5);
    if (r.value) {
      double sum = network_sum(n, r.value);
      holds += fabs(sum - r.sum) < 1e-9 && sum >= least - 1e-9;
      within += !limited || weight_of(l.weight, FEW, r.value) <= l.most;
      best += sum <= least + 1e-9;
    }
    arena_free(a);
  }
  const char *what = limited ? "within a limit" : "of all";
  OK_INT(holds, rounds, "%s: its sum is that of its choice", what);
  OK_INT(within, rounds, "%s: and none is heavier", what);
  OK(best >= rounds * 9 / 10, "%s: mostly it is the best: %u of %u", what, best, rounds);
}

/* Balls of a network smaller than a ball have all of it: what is found is the best at some price, and without a limit
 * the best. From any choice within the limit they lead to one that costs no more. */
static void balls(bool limited) {
  uint32_t rounds = 200, best = 0, holds = 0, within = 0, better = 0;
  for (uint32_t round = 0; round < rounds; round++) {
    Arena *a = arena_new();
    Network *n = network_small(a);
    NetworkLimit l = limit_of(a, FEW, 0.3), *most = limited ? &l : NULL;
    uint32_t from[FEW + 1] = {0};
    do
      for (uint32_t x = 0; x < FEW; x++) from[x] = below(VALUES);
    while (limited && weight_of(l.weight, FEW, from) > l.most);
    double least = least_of_all(n, most), before = network_sum(n, from);
    NetworkAnswer r = network_balls(n, most, from, 1e8);
    double sum = network_sum(n, r.value);
    holds += fabs(sum - r.sum) < 1e-9;
    within += !limited || weight_of(l.weight, FEW, r.value) <= l.most;
    better += sum <= before + 1e-9 && sum >= least - 1e-9;
    best += sum <= least + 1e-9;
    arena_free(a);
  }
  const char *what = limited ? "balls within a limit" : "balls";
  OK_INT(holds, rounds, "%s: its sum is that of its choice", what);
  OK_INT(within, rounds, "%s: and none is heavier", what);
  OK_INT(better, rounds, "%s: none is worse than before, or better than all", what);
  if (limited) OK(best >= rounds / 2, "%s: mostly it is the best: %u of %u", what, best, rounds);
  else OK_INT(best, rounds, "%s: it is the best", what);
}

/* Bounds by prices are below the best choice within the limit; also where only cheaper ones than some cost count. */
static void bounds(void) {
  uint32_t rounds = 200, below_all = 0, below_some = 0, risen = 0, near = 0;
  for (uint32_t round = 0; round < rounds; round++) {
    Arena *a = arena_new();
    Network *n = network_small(a);
    NetworkLimit l = limit_of(a, FEW, 0.3);
    double price = 0.5, done, least = least_of_all(n, &l), some = least * (0.5 + 0.1 * below(10));
    l.price = &price;
    double first = network_bound_at(n, &l, price, false, 1e6, 1e9, &done);
    double by_cases = network_bound_at(n, &l, price, true, 1e6, 1e9, &done);
    double bound = network_raise(n, &l, 1e6, 1e9, &done);
    below_all += bound <= least + 1e-9 && first <= least + 1e-9 && by_cases <= least + 1e-6;
    risen += bound >= first - 1e-9;
    near += bound >= 0.9 * least;
    below_some += fmin(network_raise(n, &l, 1e6, some, &done), some) <= least + 1e-9;
    arena_free(a);
  }
  OK_INT(below_all, rounds, "no bound is above the best choice");
  OK_INT(below_some, rounds, "no bound of choices that cost less than some cost is above the best of them");
  OK_INT(risen, rounds, "raising prices lowers no bound");
  OK(near >= rounds / 2, "most are near it: %u of %u", near, rounds);
}

/* Bounds by cases are below the best choice, whatever costs count and whatever work there is; and with enough work they
 * are the best choice's cost, which bounds by shared costs are not. */
static void cases(void) {
  uint32_t rounds = 400, sound = 0, sound_some = 0, sound_little = 0, exact = 0, shared = 0, least_twice = 0;
  for (uint32_t round = 0; round < rounds; round++) {
    Arena *a = arena_new();
    Network *n = round % 2 ? network_alike(a) : network_small(a);
    double done, least = least_of_all(n, NULL), some = least * (0.5 + 0.1 * below(10));
    bool **left;
    double first = network_rule_out(n, 1e6, 1e9, 1e-3, &left, &done);
    double bound = network_branch(n, 1e6, 2 * least, &done);
    sound += bound <= least + 1e-6;
    exact += bound >= least - 1e-6;
    shared += first >= least - 1e-6;
    sound_some += network_branch(n, 1e6, some, &done) <= fmin(some, least) + 1e-6;
    sound_little += network_branch(n, 50.0 * below(100), 2 * least, &done) <= least + 1e-6;
    least_twice += network_branch(n, 1e6, least, &done) >= least - 1e-6;
    arena_free(a);
  }
  OK_INT(sound, rounds, "no bound by cases is above the best choice");
  OK_INT(sound_some, rounds, "nor is one of choices below some cost");
  OK_INT(sound_little, rounds, "nor is one with little work");
  OK_INT(exact, rounds, "with enough work it is the best choice");
  OK_INT(least_twice, rounds, "and no choice is below that");
  OK(shared < rounds * 3 / 4, "bounds by shared costs often are not: %u of %u", shared, rounds);
}

/* A row of ROW variables, each light at cost 1 or heavy at none, where neighbours want to be alike; a third of them may
 * be heavy. That none is costs ROW, and of all, which is too heavy, nothing. */
static void row(void) {
  enum { ROW = 300, APART = 10 };
  const double own[] = {1, 0}, heavy[] = {1, 4}, apart[] = {0, APART, APART, 0};
  Arena *a = arena_new();
  Network *n = network_new(a);
  const double **weight = NEW_ARRAY(a, const double *, ROW);
  for (uint32_t x = 0; x < ROW; x++) {
    network_cost(n, network_variable(n, 2), own);
    weight[x] = heavy;
    if (x > 0) network_cost2(n, x - 1, 2, all, x, 2, all, apart);
  }
  NetworkLimit l = {.weight = weight, .most = 2 * ROW};
  NetworkAnswer r = network_solve_within(n, &l, 1e9, INFINITY);
  OK(r.value && r.sum <= ROW - ROW / 3 + APART, "a third of a row is heavy: %g", r.sum);
  OK(r.value && network_sum(n, r.value) == r.sum && weight_of(weight, ROW, r.value) <= l.most, "the answer has the sum that it says, and keeps the limit");
  OK(r.bound <= r.sum && r.bound >= ROW - ROW / 3, "none costs less than %g", r.bound);
  arena_free(a);
}

int main(void) {
  row();
  beside_all(false);
  beside_all(true);
  balls(false);
  balls(true);
  bounds();
  cases();
  Arena *a = arena_new();
  uint32_t *planted = NEW_ARRAY(a, uint32_t, SIDE * SIDE);
  Network *n = network_planted(a, planted);
  NetworkAnswer r = network_forests(n, NULL, 1e8), again = network_forests(n, NULL, 1e8);
  OK(network_sum(n, planted) == 0 && r.value && r.sum <= 20.0 * (double)SIDE,
      "near a choice that costs nothing: %g, where by lot it would be %d", r.sum, 60 * 2 * SIDE * SIDE);
  OK(r.value && again.value && memcmp(r.value, again.value, SIDE * SIDE * sizeof *r.value) == 0, "the same each time");
  OK(!network_forests(n, NULL, 10).value, "none with too little work");
  NetworkAnswer b = network_balls(n, NULL, r.value, 1e8), twice = network_balls(n, NULL, r.value, 1e8);
  OK(b.sum <= r.sum && b.sum == network_sum(n, b.value), "balls: no worse, %g", b.sum);
  OK(memcmp(b.value, twice.value, SIDE * SIDE * sizeof *b.value) == 0, "and the same each time");
  arena_free(a);
  return DONE();
}
