/* plan/network/limit.c - finds the least sum of costs where another sum, of weights, has a limit.
 *
 * A price p is put on the weights. No choice within the limit has a smaller cost than the least of (cost + p x
 * weight), less p x limit: a lower bound, for any p. With a negligible price the best choice is usually within the
 * limit, and then it is the answer, the lightest of equal cost. Otherwise the price rises until the bounds stop
 * rising. If the best choice found within the limit costs more than the bound, the values of a variable are split
 * into lighter and heavier ones, and both halves are solved in the same way. */
#include <math.h>
#include <string.h>

#include "inside.h"

#define AS_MUCH 1e-9           /* relative differences below this count as none */
#define NEXT_TO_NONE 1e-11     /* the share of the sum that all weights together may add */

#define LOOK_WORK 2e4           /* the cost of a look in additions, for each variable, besides those that it makes */

enum { PRICES = 24, NODES = 400 };

typedef struct Node { bool **left; double lower; } Node; /* no choice of these costs less than `lower` */

typedef struct Found { uint32_t *value; double cost, weight; } Found;

typedef struct Limiting {
  Arena *arena;
  Network *n;
  const NetworkLimit *l;
  double budget, done, enough;
  Found best;                /* within the limit; value NULL: there is none yet */
  VEC(Node) nodes;
} Limiting;

double limit_sum(const Network *n, const NetworkLimit *l, const uint32_t *value) {
  double sum = 0;
  for (uint32_t x = 0; l && x < n->variables.len; x++) sum += limit_weight(l, x, value[x]);
  return sum;
}

/* ---- one price ------------------------------------------------------------------------------------------ */

/* Starts from the best choice within the limit, if its values are left. */
static void start(const Limiting *x, Network *m, uint32_t **to) {
  uint32_t len = x->n->variables.len, *value = NEW_ARRAY(m->arena, uint32_t, len + 1);
  for (uint32_t v = 0; v < len; v++) {
    while (value[v] < m->variables.at[v].n && to[v][value[v]] != x->best.value[v]) value[v]++;
    if (value[v] == m->variables.at[v].n) return;
  }
  network_start(m, value);
}

/* The costs of values, including the price of their weights. */
static double **priced(Arena *a, const Limiting *x, double price) {
  uint32_t len = x->n->variables.len;
  double **own = NEW_ARRAY(a, double *, len + 1);
  for (uint32_t v = 0; v < len; v++) {
    own[v] = NEW_ARRAY(a, double, x->n->variables.at[v].n);
    for (uint32_t i = 0; i < x->n->variables.at[v].n; i++)
      own[v][i] = x->n->own_said.at[v][i] + price * limit_weight(x->l, v, i);
  }
  return own;
}

/* Searches for the least of cost + price x weight among what is left. Returns a lower bound of it. */
static double look(Limiting *x, bool **left, double price, double budget, Found *out) {
  Arena *work = arena_new();
  uint32_t len = x->n->variables.len, **to = NEW_ARRAY(work, uint32_t *, len + 1);
  Network *m = network_left(work, x->n, left, priced(work, x, price), to);
  if (x->best.value) start(x, m, to);
  if (x->l->floor > 0) network_floor(m, x->l->floor);
  NetworkAnswer r = network_solve(m, budget, x->enough + price * x->l->most);
  x->done += r.work + LOOK_WORK * (double)len;
  out->value = NEW_ARRAY(x->arena, uint32_t, len + 1);
  for (uint32_t v = 0; v < len; v++) out->value[v] = to[v][r.value[v]];
  out->cost = network_sum(x->n, out->value);
  out->weight = limit_sum(x->n, x->l, out->value);
  if (limit_holds(x->l, out->weight) && (!x->best.value || out->cost < x->best.cost)) x->best = *out;
  arena_free(work);
  return r.bound;
}

/* ---- the rest ------------------------------------------------------------------------------------------- */

/* Drops values that leave no room for the other variables. False: there is no choice within the limit. */
static bool fit(const Limiting *x, bool **left) {
  uint32_t len = x->n->variables.len;
  Arena *work = arena_new();
  double all = 0, *least = NEW_ARRAY(work, double, len + 1);
  for (uint32_t v = 0; v < len; v++) {
    least[v] = INFINITY;
    for (uint32_t i = 0; i < x->n->variables.at[v].n; i++)
      if (left[v][i]) least[v] = fmin(least[v], limit_weight(x->l, v, i));
    all += least[v];
  }
  for (uint32_t v = 0; v < len; v++)
    for (uint32_t i = 0; i < x->n->variables.at[v].n; i++)
      if (left[v][i] && limit_weight(x->l, v, i) > least[v])
        left[v][i] = limit_holds(x->l, all - least[v] + limit_weight(x->l, v, i));
  arena_free(work);
  return limit_holds(x->l, all);
}

static bool **left_copy(Limiting *x, bool **left) {
  uint32_t len = x->n->variables.len;
  bool **copy = NEW_ARRAY(x->arena, bool *, len + 1);
  for (uint32_t v = 0; v < len; v++) {
    copy[v] = NEW_ARRAY(x->arena, bool, x->n->variables.at[v].n);
    for (uint32_t i = 0; i < x->n->variables.at[v].n; i++) copy[v][i] = !left || left[v][i];
  }
  return copy;
}

/* Looks only at the lightest value of each variable, which is within the limit. */
static void look_lightest(Limiting *x, bool **left, double budget, Found *out) {
  bool **few = left_copy(x, left);
  for (uint32_t v = 0; v < x->n->variables.len; v++) {
    double least = INFINITY;
    for (uint32_t i = 0; i < x->n->variables.at[v].n; i++)
      if (few[v][i]) least = fmin(least, limit_weight(x->l, v, i));
    for (uint32_t i = 0; i < x->n->variables.at[v].n; i++) few[v][i] = few[v][i] && limit_weight(x->l, v, i) <= least;
  }
  look(x, few, 0, budget, out);
}

/* ---- a node --------------------------------------------------------------------------------------------- */

static bool node_is_over(const Limiting *x, const Node *n) {
  if (n->lower >= x->enough) return true;
  return x->best.value && n->lower >= x->best.cost - AS_MUCH * fabs(x->best.cost);
}

/* Splits the values of the variable in which two choices differ most: lighter than the middle between them, and
 * heavier. */
static void split(Limiting *x, const Node *n, const Found *light, const Found *heavy) {
  uint32_t at = 0, len = x->n->variables.len;
  double most = -1;
  for (uint32_t v = 0; v < len; v++) {
    double d = fabs(limit_weight(x->l, v, heavy->value[v]) - limit_weight(x->l, v, light->value[v]));
    if (d > most) most = d, at = v;
  }
  if (most <= 0) return;
  double middle = (limit_weight(x->l, at, heavy->value[at]) + limit_weight(x->l, at, light->value[at])) / 2;
  for (int side = 0; side < 2; side++) {
    Node half = {left_copy(x, n->left), n->lower};
    for (uint32_t i = 0; i < x->n->variables.at[at].n; i++)
      half.left[at][i] = half.left[at][i] && (limit_weight(x->l, at, i) > middle) == side;
    vec_push(x->arena, x->nodes, half);
  }
}

/* ---- between two choices ---------------------------------------------------------------------------------- */

/* The change of a sum when one variable gets another value. */
static double change_of(const Network *n, uint32_t *value, uint32_t variable, uint32_t to) {
  uint32_t was = value[variable];
  double before = network_around(n, value, variable), after;
  value[variable] = to;
  after = network_around(n, value, variable);
  value[variable] = was;
  return after - before;
}

/* Combines a choice within the limit with one that is too heavy: values up to some variable from the one, the others
 * from the other. Where many similar vertices in a row weigh too much together, half of them may not. */
static void cross(Limiting *x, const Found *light, const Found *heavy) {
  uint32_t len = x->n->variables.len, *value = NEW_ARRAY(x->arena, uint32_t, len + 1);
  for (int back = 0; back < 2; back++) {
    double cost = light->cost, weight = light->weight, best = x->best.cost;
    uint32_t until = 0;
    memcpy(value, light->value, len * sizeof *value);
    for (uint32_t i = 0; i < len; i++) {
      uint32_t v = back ? len - 1 - i : i, to = heavy->value[v];
      if (to == value[v]) continue;
      cost += change_of(x->n, value, v, to);
      weight += limit_weight(x->l, v, to) - limit_weight(x->l, v, value[v]);
      value[v] = to;
      if (limit_holds(x->l, weight) && cost < best - AS_MUCH * fabs(best)) best = cost, until = i + 1;
    }
    if (!until) continue;
    memcpy(value, light->value, len * sizeof *value);
    for (uint32_t i = 0; i < until; i++) value[back ? len - 1 - i : i] = heavy->value[back ? len - 1 - i : i];
    NetworkAnswer r = network_descend(x->n, x->l, value);
    x->done += r.work;
    if (r.value && r.sum < x->best.cost)
      x->best = (Found){arena_copy(x->arena, r.value, len * sizeof *value), r.sum, limit_sum(x->n, x->l, r.value)};
  }
}

/* The next price is where a choice that is too heavy and one that is not have equal sums, as long as some choice has
 * a smaller sum there. */
static void node_solve(Limiting *x, Node *n) {
  Found light, heavy, now;
  double share = (x->budget - x->done) / 6;
  if (!fit(x, n->left)) {
    n->lower = INFINITY;
    return;
  }
  n->lower = fmax(n->lower, look(x, n->left, 0, share, &heavy));
  if (limit_holds(x->l, heavy.weight) || node_is_over(x, n)) return;
  look_lightest(x, n->left, share, &light);
  for (uint32_t k = 0; k < PRICES && x->done < x->budget && light.cost > heavy.cost && heavy.weight > light.weight;
       k++) {
    double price = (light.cost - heavy.cost) / (heavy.weight - light.weight), both = light.cost + price * light.weight;
    double lower = look(x, n->left, price, share, &now) - price * x->l->most;
    if (x->l->price && lower > n->lower) *x->l->price = price;
    n->lower = fmax(n->lower, lower);
    if (node_is_over(x, n)) return;
    if (now.cost + price * now.weight >= both - AS_MUCH * both) break;
    if (limit_holds(x->l, now.weight)) light = now;
    else heavy = now;
  }
  if (limit_holds(x->l, light.weight)) cross(x, &light, &heavy);
  if (!node_is_over(x, n)) split(x, n, &light, &heavy);
}

/* ---- everything together -------------------------------------------------------------------------------- */

/* Returns the node with the least bound. */
static Node node_next(Limiting *x) {
  uint32_t best = 0;
  for (uint32_t k = 1; k < x->nodes.len; k++)
    if (x->nodes.at[k].lower < x->nodes.at[best].lower) best = k;
  Node n = x->nodes.at[best];
  x->nodes.at[best] = vec_pop(x->nodes);
  return n;
}

/* Branches and bounds, where x has a choice within the limit already. lower: no choice costs less. */
static NetworkAnswer limited(Limiting *x, double lower) {
  double open = INFINITY; /* the least bound of abandoned nodes */
  vec_push(x->arena, x->nodes, ((Node){left_copy(x, NULL), lower}));
  for (uint32_t k = 0; x->nodes.len; k++) {
    Node node = node_next(x);
    uint32_t halves = x->nodes.len;
    if (node_is_over(x, &node)) {
      open = fmin(open, node.lower);
      continue;
    }
    if (k < NODES && x->done < x->budget) node_solve(x, &node);
    if (x->nodes.len == halves) open = fmin(open, node.lower);
  }
  double sum = x->best.cost;
  return (NetworkAnswer){x->best.value, sum, open >= sum - AS_MUCH * sum ? sum : fmax(open, 0), x->done};
}

/* A price that was right for a similar network often shows at once that nothing here is good enough. With a small
 * budget, only this is tried. */
static bool known_price(Limiting *x, bool **left, NetworkAnswer *out) {
  double price = x->l->price ? *x->l->price : 0;
  Found now;
  if (price <= 0 || isinf(x->enough)) return false;
  double bound = look(x, left, price, x->budget / 2, &now) - price * x->l->most;
  *out = (NetworkAnswer){.bound = fmax(bound, 0), .work = x->done};
  if (bound >= x->enough) return true;
  if (x->done < x->budget / 4) return false;
  if (!x->best.value) look_lightest(x, left, x->budget / 2, &now);
  out->value = x->best.value;
  out->sum = x->best.cost;
  out->work = x->done;
  return true;
}

/* Starts from the lightest choice, and sets the negligible price to a small share of its costs. */
NetworkAnswer network_solve_within(Network *n, const NetworkLimit *l, double budget, double enough) {
  Limiting x = {.arena = n->arena, .n = n, .l = l, .budget = budget, .enough = INFINITY};
  bool **left = left_copy(&x, NULL);
  Found now = {0};
  if (!fit(&x, left)) return (NetworkAnswer){.value = NULL};
  x.enough = enough;
  NetworkAnswer known;
  if (known_price(&x, left, &known)) return known;
  x.enough = INFINITY;
  look_lightest(&x, left, budget / 8, &now);
  if (now.cost <= l->floor * (1 + AS_MUCH)) return (NetworkAnswer){now.value, now.cost, now.cost, x.done};
  x.enough = enough;
  double price = l->most > 0 ? NEXT_TO_NONE * now.cost / l->most : 0, bound = -INFINITY;
  for (int k = 0; k < 2; k++, price = NEXT_TO_NONE * now.cost / l->most) { /* again, if that was no small share */
    bound = look(&x, left, price, (budget - x.done) / 2, &now) - price * l->most; /* the rest is for prices */
    if (bound >= now.cost - AS_MUCH * now.cost || price * l->most <= AS_MUCH * now.cost || now.cost <= 0 ||
        x.done >= budget)
      break;
  }
  if (!limit_holds(l, now.weight) && bound < enough) return limited(&x, bound);
  NetworkAnswer r = {
      .sum = now.cost, .bound = bound > now.cost - AS_MUCH * now.cost ? now.cost : fmax(bound, 0), .work = x.done};
  r.value = limit_holds(l, now.weight) ? now.value : NULL;
  return r;
}
