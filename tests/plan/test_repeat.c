/* tests/plan/test_repeat.c - networks that repeat: where they do, and that bounds which begin with it hold, beside the
 * least by elimination. */
#include <math.h>

#include "plan/network/inside.h"
#include "tap.h"

enum { VALUES = 4, EACH = 3, LAYERS = 40 };

static uint32_t below(uint32_t n) {
  static uint64_t state = 7;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % n;
}

/* x: of a layer; y: of this layer or, from EACH on, the next */
typedef struct Shape { uint32_t x, y; double cost[VALUES * VALUES]; } Shape;

static const Shape *shapes(Arena *a, uint32_t *n) {
  Shape *s = NEW_ARRAY(a, Shape, 2 * EACH + 1);
  *n = 0;
  for (uint32_t x = 0; x < EACH; x++)
    for (uint32_t k = 0; k < 2; k++) {
      uint32_t y = x + 1 + (uint32_t)below(EACH - 1);
      if (k && below(3) == 0) continue;
      s[*n].x = x, s[*n].y = k ? y : x + 1;
      for (uint32_t c = 0; c < VALUES * VALUES; c++) s[*n].cost[c] = (double)below(50);
      ++*n;
    }
  return s;
}

/* Equal layers; `odd`: a layer with a cost of its own, LAYERS: none. The first variable is in no layer. */
static Network *network_of(Arena *a, const double *own, uint32_t n, const Shape *s, uint32_t odd) {
  static const uint32_t all[] = {0, 1, 2, 3};
  static const double more[] = {7, 0, 3, 1};
  Network *w = network_new(a);
  network_variable(w, 2);
  for (uint32_t l = 0; l < LAYERS; l++)
    for (uint32_t x = 0; x < EACH; x++) {
      network_cost(w, network_variable(w, VALUES), own + VALUES * x);
      if (l == odd) network_cost(w, w->variables.len - 1, more);
    }
  for (uint32_t l = 0; l < LAYERS; l++)
    for (uint32_t i = 0; i < n; i++) {
      uint32_t x = 1 + l * EACH + s[i].x, y = 1 + l * EACH + s[i].y;
      if (y < w->variables.len) network_cost2(w, x, VALUES, all, y, VALUES, all, s[i].cost);
    }
  return w;
}

/* The bound that so much work gives. */
static double bound_of(Arena *a, Network *n, double budget) {
  bool **left = NEW_ARRAY(a, bool *, n->variables.len);
  uint32_t *value = NEW_ARRAY(a, uint32_t, n->variables.len);
  for (uint32_t x = 0; x < n->variables.len; x++) {
    left[x] = NEW_ARRAY(a, bool, n->variables.at[x].n);
    for (uint32_t v = 0; v < n->variables.at[x].n; v++) left[x][v] = true;
  }
  double best = network_sum(n, value);
  return network_tighten(tighten_new(n, a, left), budget, INFINITY, &best, value, left);
}

/* A loop and, behind it, one of other variables, each of which has a cost with one of the first. */
static Network *two_loops(Arena *a, uint32_t values) {
  static const uint32_t all[] = {0, 1, 2, 3};
  double cost[VALUES * VALUES] = {3, 1, 4, 1, 5, 9, 2, 6};
  Network *w = network_new(a);
  for (uint32_t x = 0; x < LAYERS; x++) network_variable(w, VALUES);
  for (uint32_t x = 0; x < LAYERS; x++) network_variable(w, values);
  for (uint32_t x = 0; x < LAYERS; x++) {
    network_cost2(w, x, VALUES, all, LAYERS + (x + 1) % LAYERS, values, all, cost);
    if (x + 1 < LAYERS) network_cost2(w, x, VALUES, all, x + 1, VALUES, all, cost);
  }
  return w;
}

static void loops_apart(void) {
  Arena *a = arena_new();
  for (uint32_t values = VALUES; values >= VALUES / 2; values -= VALUES / 2) {
    Network *w = two_loops(a, values);
    Repeat r = {.period = 2, .start = 0, .len = LAYERS - 2, .hub = UINT32_MAX};
    OK(!repeat_ring(a, w, &r) == (values != VALUES), "a ring of variables that have as many values: %u", values);
    OK(bound_of(a, w, 1e9) <= network_solve(two_loops(a, values), 1e12, INFINITY).sum + 1e-6, "and a bound: %u", values);
  }
  arena_free(a);
}

/* A hub, and two variables behind it: one has a cost with the hub, the other with a variable as far before it as the
 * hub's number says. */
static void hub_apart(void) {
  enum { HUB = 16, COSTS = 9, FAR = 9 };
  static const uint32_t both[] = {0, 1};
  static const double cost[4] = {3, 1, 4, 1};
  Arena *a = arena_new();
  Network *w = network_new(a);
  for (uint32_t x = 0; x < HUB + 3; x++) network_cost(w, network_variable(w, 2), (double[]){x < HUB ? x : 0, 1});
  for (uint32_t x = 0; x < COSTS; x++) network_cost2(w, x, 2, both, HUB, 2, both, (double[]){x, 1, 2 * x, 4});
  network_cost2(w, HUB, 2, both, HUB + 1, 2, both, cost);
  network_cost2(w, FAR, 2, both, HUB + 2, 2, both, cost);
  OK_INT(repeat_find(w).len, 0, "a hub is not a variable at some distance");
  arena_free(a);
}

int main(void) {
  uint32_t rounds = TRIES(300), found = 0, holds = 0, partly = 0;
  double first = 0, all = 0;
  for (uint32_t round = 0; round < rounds; round++) {
    Arena *a = arena_new();
    uint32_t n, odd = round % 3 ? LAYERS : LAYERS - 1;
    double own[VALUES * EACH];
    for (uint32_t i = 0; i < VALUES * EACH; i++) own[i] = (double)below(50);
    const Shape *s = shapes(a, &n);
    Repeat r = repeat_find(network_of(a, own, n, s, odd));
    found += r.period == EACH && r.start <= 2 * EACH + 1 && r.len >= (LAYERS - 4) * EACH;
    double least = network_solve(network_of(a, own, n, s, odd), 1e12, INFINITY).sum;
    double some = bound_of(a, network_of(a, own, n, s, odd), 5000),
           most = bound_of(a, network_of(a, own, n, s, odd), 1e9);
    holds += some <= least + 1e-6 && most <= least + 1e-6;
    partly += some <= most + 1e-6;
    first += some, all += least;
    arena_free(a);
  }
  OK_INT(found, rounds, "layers that are alike are found");
  OK_INT(holds, rounds, "no bound is above the least");
  OK(first > 0.95 * all, "with little work they are near: %g of %g", first, all);
  OK(partly > rounds / 2, "with more not farther: %u", partly);
  loops_apart();
  hub_apart();
  return DONE();
}
