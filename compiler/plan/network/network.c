/* plan/network/network.c - the order of elimination, and the choice of values on the way back. */
#include "network.h"

#include <math.h>
#include <string.h>

#include "inside.h"

#define QUICK 3e7              /* additions to try before looking for bounds */
#define FEWER 0.98             /* elimination is tried again with this share of the values */

static const double table_most = 1 << 25; /* entries of one table */

Network *network_new(Arena *a) {
  Network *n = NEW(a, Network);
  n->arena = a;
  n->classes = memo_new(a);
  n->tables = memo_new(a);
  n->done = memo_new(a);
  n->floor = -INFINITY;
  return n;
}

void network_floor(Network *n, double bound) {
  n->floor = bound;
}

uint32_t network_variable(Network *n, uint32_t values) {
  BUG_UNLESS(values > 0);
  Variable v = {.n = values, .own = NEW_ARRAY(n->arena, double, values), .price = -1};
  vec_push(n->arena, n->variables, v);
  vec_push(n->arena, n->own_said, NEW_ARRAY(n->arena, double, values));
  return n->variables.len - 1;
}

void network_cost(Network *n, uint32_t x, const double *cost) {
  for (uint32_t v = 0; v < n->variables.at[x].n; v++) {
    n->variables.at[x].own[v] += cost[v];
    n->own_said.at[x][v] += cost[v];
  }
}

static uint32_t cost2_add(
    Network *n, uint32_t x, const Classes *by_x, uint32_t y, const Classes *by_y, const Table *table, double low) {
  Factor f = {.n = 2, .side = NEW_ARRAY(n->arena, Side, 2), .table = table};
  BUG_UNLESS(x != y && by_x->values == n->variables.at[x].n && by_y->values == n->variables.at[y].n);
  f.side[0] = (Side){x, by_x, by_y->n};
  f.side[1] = (Side){y, by_y, 1};
  n->constant += low;
  vec_push(n->arena, n->low, low);
  vec_push(n->arena, n->variables.at[x].factors, n->factors.len);
  vec_push(n->arena, n->variables.at[y].factors, n->factors.len);
  vec_push(n->arena, n->factors, f);
  n->said = n->factors.len;
  return n->said - 1;
}

void network_cost2_like(Network *n, uint32_t cost, uint32_t x, uint32_t y) {
  const Factor *f = &n->factors.at[cost];
  cost2_add(n, x, f->side[0].by, y, f->side[1].by, f->table, n->low.at[cost]);
}

/* Renumbers classes by first occurrence; drops classes without a value. */
uint32_t network_cost2(Network *n, uint32_t x, uint32_t classes_x, const uint32_t *class_x, uint32_t y,
    uint32_t classes_y, const uint32_t *class_y, const double *cost) {
  Arena *work = arena_new();
  BUG_UNLESS(classes_x && classes_y);
  const Classes *a = classes_of(n, n->variables.at[x].n, class_x), *b = classes_of(n, n->variables.at[y].n, class_y);
  double *at = NEW_ARRAY(work, double, (size_t)a->n * b->n), low;
  for (uint32_t i = 0; i < a->n; i++)
    for (uint32_t j = 0; j < b->n; j++)
      at[(size_t)i * b->n + j] = cost[(size_t)class_x[a->first[i]] * classes_y + class_y[b->first[j]]];
  const Table *table = table_of(n, (size_t)a->n * b->n, at, &low);
  arena_free(work);
  return cost2_add(n, x, a, y, b, table, low);
}

/* ---- sums -------------------------------------------------------------------------------------------- */

static double factor_value(const Factor *f, const uint32_t *value) {
  size_t at = 0;
  for (uint32_t k = 0; k < f->n; k++) at += f->side[k].stride * f->side[k].by->of[value[f->side[k].variable]];
  return f->table->at[at];
}

double network_sum(const Network *n, const uint32_t *value) {
  double sum = 0;
  for (uint32_t x = 0; x < n->variables.len; x++) sum += n->own_said.at[x][value[x]];
  for (uint32_t i = 0; i < n->said; i++) sum += n->low.at[i] + factor_value(&n->factors.at[i], value);
  return sum;
}

double network_around(const Network *n, const uint32_t *value, uint32_t x) {
  const Variable *v = &n->variables.at[x];
  double sum = n->own_said.at[x][value[x]];
  for (uint32_t i = 0; i < v->factors.len; i++)
    if (v->factors.at[i] < n->said) sum += factor_value(&n->factors.at[v->factors.at[i]], value);
  return sum;
}

uint32_t variable_beside(const Network *n, uint32_t x, uint32_t i) {
  const Factor *f = &n->factors.at[n->variables.at[x].factors.at[i]];
  return f->side[f->side[0].variable == x].variable;
}

/* Returns the value of x with the least sum of its own costs and those of some factors, given the values of the
 * others. */
static uint32_t value_best(
    const Network *n, uint32_t x, const double *own, uint32_t len, const uint32_t *factor, uint32_t *value) {
  uint32_t best = value[x];
  double least = 0;
  for (uint32_t v = 0; v < n->variables.at[x].n; v++) {
    double sum = own[v];
    value[x] = v;
    for (uint32_t i = 0; i < len; i++) sum += factor_value(&n->factors.at[factor[i]], value);
    if (v == 0 || sum < least) best = v, least = sum;
  }
  return value[x] = best;
}

/* ---- the order --------------------------------------------------------------------------------------- */

/* A tournament: each place holds the cheaper of the two below it, the first of equals, so that equal layers are
 * treated equally. Leaves are variables, from place `room` on; eliminated ones cost more than any other. */
typedef struct Order { Network *n; uint32_t room, *at; } Order;

static double order_price(const Order *o, uint32_t x) {
  return x < o->n->variables.len && !o->n->variables.at[x].gone ? o->n->variables.at[x].price : INFINITY;
}

static void order_meet(Order *o, uint32_t k) {
  uint32_t x = o->at[2 * k], y = o->at[2 * k + 1];
  o->at[k] = order_price(o, y) < order_price(o, x) ? y : x;
}

static void order_renew(Order *o, uint32_t x) {
  Variable *v = &o->n->variables.at[x];
  if (!v->gone) v->price = step_price(o->n, x);
  for (uint32_t k = (o->room + x) / 2; k > 0; k /= 2) order_meet(o, k);
}

static Order order_new(Network *n) {
  Order o = {.n = n, .room = 1};
  while (o.room < n->variables.len) o.room *= 2;
  o.at = NEW_ARRAY(n->arena, uint32_t, 2 * (size_t)o.room);
  for (uint32_t x = 0; x < o.room; x++) o.at[o.room + x] = x;
  n->place = NEW_ARRAY(n->arena, uint32_t, n->variables.len + 1);
  for (uint32_t x = 0; x < n->variables.len; x++) n->variables.at[x].price = step_price(n, x);
  for (uint32_t k = o.room; k-- > 1;) order_meet(&o, k);
  return o;
}

/* Returns the variable that is cheapest to eliminate. */
static uint32_t cheapest(Order *o) {
  while (o->n->stale.len) order_renew(o, vec_pop(o->n->stale));
  return o->room > 1 ? o->at[1] : 0;
}

static double pair_price(const Network *n, uint32_t len, const uint32_t *factor) {
  double price = 1;
  for (uint32_t i = 0; i < len; i++) price *= (double)n->factors.at[factor[i]].table->n;
  return price;
}

/* Combines factors while the resulting factor is small enough; the others are eliminated separately. */
static void eliminate_in_parts(Network *n, uint32_t x, double most) {
  const Variable *v = &n->variables.at[x];
  uint32_t start = 0, len = v->last.len, *all = v->last.at;
  while (start < len) {
    uint32_t k = 1;
    while (start + k < len && pair_price(n, k + 1, all + start) <= most) k++;
    n->loose |= k < len;
    step_eliminate(n, x, k, all + start, start == 0);
    start += k;
  }
}

static void eliminate(Network *n, uint32_t x) {
  Variable *v = &n->variables.at[x];
  double left = n->budget - n->work, most = left / 4 < table_most ? left / 4 : table_most;
  for (uint32_t i = 0; i < v->factors.len; i++)
    if (!n->factors.at[v->factors.at[i]].gone) vec_push(n->arena, v->last, v->factors.at[i]);
  v->gone = true;
  if (v->price <= most || v->last.len < 2) step_eliminate(n, x, v->last.len, v->last.at, true);
  else eliminate_in_parts(n, x, most);
}

void network_improve(const Network *n, uint32_t *value) {
  Arena *a = arena_new();
  bool any = true;
  for (uint32_t round = 0; any && round < 100; round++) {
    any = false;
    for (uint32_t x = 0; x < n->variables.len; x++) {
      const Variable *v = &n->variables.at[x];
      uint32_t len = 0, was = value[x], *said = NEW_ARRAY(a, uint32_t, v->factors.len + 1);
      for (uint32_t i = 0; i < v->factors.len; i++)
        if (v->factors.at[i] < n->said) said[len++] = v->factors.at[i];
      double before = n->own_said.at[x][was], after;
      for (uint32_t i = 0; i < len; i++) before += factor_value(&n->factors.at[said[i]], value);
      after = n->own_said.at[x][value_best(n, x, n->own_said.at[x], len, said, value)];
      for (uint32_t i = 0; i < len; i++) after += factor_value(&n->factors.at[said[i]], value);
      if (after < before) any = true;
      else value[x] = was;
    }
  }
  arena_free(a);
}

static NetworkAnswer eliminate_all(Network *n, double budget) {
  uint32_t len = n->variables.len, *order = NEW_ARRAY(n->arena, uint32_t, len + 1);
  NetworkAnswer r = {.value = NEW_ARRAY(n->arena, uint32_t, len + 1)};
  n->budget = budget;
  Order by_price = order_new(n);
  for (uint32_t i = 0; i < len; i++) {
    eliminate(n, order[i] = cheapest(&by_price));
    order_renew(&by_price, order[i]);
  }
  for (uint32_t i = len; i-- > 0;) {
    const Variable *v = &n->variables.at[order[i]];
    value_best(n, order[i], v->own, v->last.len, v->last.at, r.value);
  }
  if (n->loose) network_improve(n, r.value);
  r.sum = network_sum(n, r.value);
  r.bound = n->loose && n->constant < r.sum ? n->constant : r.sum;
  return r;
}

/* ---- the whole ------------------------------------------------------------------------------------------- */

/* Restricts a cost to the values that are left; does so once for equal costs whose variables have the same values
 * left. */
static void factor_copy(
    Arena *a, const Network *n, uint32_t number, bool **left, uint32_t **to, Network *m, Memo *seen, Memo *patterns) {
  const Factor *f = &n->factors.at[number];
  uint64_t key[6] = {f->table->id};
  uint32_t *of[2], x[2];
  for (uint32_t k = 0; k < 2; k++) {
    x[k] = f->side[k].variable;
    MemoEntry *e = memo_get(patterns, left[x[k]], n->variables.at[x[k]].n * sizeof *left[x[k]]);
    if (!e->value) e->value = (void *)(uintptr_t)patterns->len;
    key[1 + 2 * k] = f->side[k].by->id;
    key[2 + 2 * k] = (uintptr_t)e->value;
  }
  memcpy(&key[5], &n->low.at[number], sizeof key[5]);
  MemoEntry *e = memo_get(seen, key, sizeof key);
  if (e->value) {
    network_cost2_like(m, (uint32_t)((uintptr_t)e->value - 1), x[0], x[1]);
    return;
  }
  for (uint32_t k = 0; k < 2; k++) {
    of[k] = NEW_ARRAY(a, uint32_t, m->variables.at[x[k]].n);
    for (uint32_t v = 0; v < m->variables.at[x[k]].n; v++) of[k][v] = f->side[k].by->of[to[x[k]][v]];
  }
  e->value =
      (void *)((uintptr_t)network_cost2(m, x[0], f->side[0].by->n, of[0], x[1], f->side[1].by->n, of[1], f->table->at) +
          1);
  m->constant += n->low.at[number]; /* which its table no longer has */
  vec_last(m->low) += n->low.at[number];
}

static bool is_all_left(const Network *n, bool **left) {
  for (uint32_t x = 0; x < n->variables.len; x++)
    for (uint32_t v = 0; v < n->variables.at[x].n; v++)
      if (!left[x][v]) return false;
  return true;
}

/* Shares n's classes and tables. */
static void factors_share(Network *m, const Network *n) {
  m->first_id = n->first_id + n->classes.len + n->tables.len;
  for (uint32_t i = 0; i < n->said; i++) {
    const Factor *f = &n->factors.at[i];
    cost2_add(m, f->side[0].variable, f->side[0].by, f->side[1].variable, f->side[1].by, f->table, n->low.at[i]);
  }
}

Network *network_left(Arena *a, const Network *n, bool **left, double **own_costs, uint32_t **to) {
  Network *m = network_new(a);
  for (uint32_t x = 0; x < n->variables.len; x++) {
    uint32_t k = 0;
    to[x] = NEW_ARRAY(a, uint32_t, n->variables.at[x].n);
    for (uint32_t v = 0; v < n->variables.at[x].n; v++)
      if (left[x][v]) to[x][k++] = v;
    double *own = NEW_ARRAY(a, double, k);
    for (uint32_t v = 0; v < k; v++) own[v] = (own_costs ? own_costs : n->own_said.at)[x][to[x][v]];
    network_cost(m, network_variable(m, k), own);
  }
  if (is_all_left(n, left)) {
    factors_share(m, n);
    return m;
  }
  Memo seen = memo_new(a), patterns = memo_new(a);
  for (uint32_t i = 0; i < n->said; i++) factor_copy(a, n, i, left, to, m, &seen, &patterns);
  return m;
}

Network *network_part(Arena *a, const Network *n, uint32_t len, const uint32_t *x, double *const *own) {
  Arena *work = arena_new();
  Network *m = network_new(a);
  uint32_t *number = NEW_ARRAY(work, uint32_t, n->variables.len + 1); /* by variable: 1 + that here; 0: none */
  m->first_id = n->first_id + n->classes.len + n->tables.len;
  for (uint32_t i = 0; i < len; i++) {
    number[x[i]] = i + 1;
    network_cost(m, network_variable(m, n->variables.at[x[i]].n), own[i]);
  }
  for (uint32_t i = 0; i < len; i++) {
    const Variable *v = &n->variables.at[x[i]];
    for (uint32_t k = 0; k < v->factors.len; k++) {
      uint32_t at = v->factors.at[k];
      const Factor *f = at < n->said ? &n->factors.at[at] : NULL;
      if (!f || f->side[0].variable != x[i] || !number[f->side[1].variable]) continue;
      cost2_add(m, i, f->side[0].by, number[f->side[1].variable] - 1, f->side[1].by, f->table, n->low.at[at]);
    }
  }
  arena_free(work);
  return m;
}

typedef struct Solving {
  Network *n;                /* with the values that were left when it was made; */
  uint32_t **to;             /* their numbers in the whole network; */
  double values;             /*   their number */
  bool **left;               /* by variable, by value: it may occur in a better choice than `best` */
  Tighten *t;
  double budget, done;
  double tried, with;        /* at the last elimination: how many values were left, and its work */
  NetworkAnswer best;        /* of the whole network */
} Solving;

static void better(Solving *x, double sum, const uint32_t *value) {
  if (sum >= x->best.sum) return;
  x->best.sum = sum;
  for (uint32_t v = 0; v < x->n->variables.len; v++) x->best.value[v] = x->to[v][value[v]];
}

/* Tries to eliminate with the values that are left. */
static void try_left(Solving *x, double budget) {
  Arena *work = arena_new();
  uint32_t len = x->n->variables.len, **to = NEW_ARRAY(work, uint32_t *, len + 1),
           *value = NEW_ARRAY(work, uint32_t, len + 1);
  Network *m = network_left(work, x->n, x->left, NULL, to);
  NetworkAnswer r = eliminate_all(m, budget);
  for (uint32_t v = 0; v < len; v++) value[v] = to[v][r.value[v]];
  x->done += m->work;
  better(x, network_sum(x->n, value), value);
  if (r.bound > x->best.bound) x->best.bound = r.bound;
  arena_free(work);
}

static bool solved(Solving *x) {
  if (x->best.bound > x->best.sum) x->best.bound = x->best.sum; /* no choice among what is left is as good */
  return x->best.bound >= x->best.sum;
}

static double work_of(const Solving *x) {
  return x->done + x->n->work;
}

static double values_left(const Solving *x) {
  double n = 0;
  for (uint32_t v = 0; v < x->n->variables.len; v++)
    for (uint32_t i = 0; i < x->n->variables.at[v].n; i++) n += x->left[v][i];
  return n;
}

static void all_left(Solving *x) {
  x->left = values_all(x->n->arena, x->n);
  x->values = values_left(x);
}

/* Restricts the network to what is left. */
static void shrink(Solving *x) {
  Arena *a = x->n->arena;
  uint32_t len = x->n->variables.len, **to = NEW_ARRAY(a, uint32_t *, len + 1);
  Network *m = network_left(a, x->n, x->left, NULL, to);
  x->t = tighten_move(x->t, m, to);
  for (uint32_t v = 0; v < len; v++)
    for (uint32_t i = 0; i < m->variables.at[v].n; i++) to[v][i] = x->to[v][to[v][i]];
  x->done += x->n->work;
  x->to = to;
  x->n = m;
  all_left(x);
}

/* Gives the best choice found, numbered as in what is left; false: it is not among that. */
static bool value_now(const Solving *x, uint32_t *value) {
  for (uint32_t v = 0; v < x->n->variables.len; v++) {
    while (value[v] < x->n->variables.at[v].n && x->to[v][value[v]] != x->best.value[v]) value[v]++;
    if (value[v] == x->n->variables.at[v].n) return false;
  }
  return true;
}

/* Returns whether it stopped because few values are left. */
static bool tighten(Solving *x, double enough) {
  Arena *work = arena_new();
  uint32_t *value = NEW_ARRAY(work, uint32_t, x->n->variables.len + 1);
  double sum = x->best.sum, left = x->budget - work_of(x);
  if (!value_now(x, value)) memset(value, 0, x->n->variables.len * sizeof *value);
  double bound = network_tighten(x->t, x->n->work + left / 2, enough, &sum, value, x->left);
  better(x, sum, value);
  if (bound > x->best.bound) x->best.bound = bound;
  arena_free(work);
  return values_left(x) < NETWORK_SHRINK * x->values;
}

static Solving solving_new(Network *n, double budget) {
  uint32_t len = n->variables.len;
  Solving x = {.n = n, .budget = budget, .to = NEW_ARRAY(n->arena, uint32_t *, len + 1)};
  x.best = (NetworkAnswer){.value = NEW_ARRAY(n->arena, uint32_t, len + 1), .sum = INFINITY, .bound = n->floor};
  for (uint32_t v = 0; v < len; v++) {
    x.to[v] = NEW_ARRAY(n->arena, uint32_t, n->variables.at[v].n);
    for (uint32_t i = 0; i < n->variables.at[v].n; i++) x.to[v][i] = i;
  }
  if (n->start) better(&x, network_sum(n, n->start), n->start);
  all_left(&x);
  x.t = tighten_new(n, n->arena, x.left);
  return x;
}

void network_start(Network *n, const uint32_t *value) {
  n->start = arena_copy(n->arena, value, (n->variables.len + 1) * sizeof *value);
}

/* The work of going over all costs once. */
static double pass_work(const Network *n) {
  double work = 0;
  for (uint32_t i = 0; i < n->said; i++) work += 2.0 * n->factors.at[i].side[0].by->n * n->factors.at[i].side[1].by->n;
  return work;
}

/* Tries a small amount of work first. If that proves nothing, tightens bounds, which leaves fewer values, and so on
 * in turn, with more work where a turn brings little. */
NetworkAnswer network_solve(Network *n, double budget, double enough) {
  Solving x = solving_new(n, budget);
  bool large = 2 * pass_work(n) > QUICK;
  for (double most = QUICK;; large = false) {
    double gap = x.best.sum - x.best.bound, left = budget - work_of(&x);
    double values = values_left(&x);
    if (!large && (most > x.with || values < FEWER * x.tried)) { /* otherwise the result would be the same */
      try_left(&x, most < left ? most : left);
      x.with = most, x.tried = values;
    }
    if (solved(&x) || x.best.bound >= enough || work_of(&x) >= budget) break;
    bool few = tighten(&x, enough);
    if (solved(&x) || x.best.bound >= enough || work_of(&x) >= budget) break;
    if (few) shrink(&x);
    else if (x.best.sum - x.best.bound > gap / 2) most *= 4;
  }
  x.best.work = work_of(&x);
  return x.best;
}

double network_rule_out(Network *n, double budget, double enough, double rise, bool ***left, double *done) {
  Solving x = solving_new(n, budget);
  double bound = -INFINITY;
  for (bool on = true; on;) {
    double before = bound;
    bound = network_tighten(x.t, x.n->work + budget - work_of(&x), enough, NULL, NULL, x.left);
    bool open = bound < enough && work_of(&x) < budget, few = values_left(&x) < NETWORK_SHRINK * x.values;
    if (open && few) shrink(&x);
    on = open && (few || bound - before > rise * (enough - bound));
  }
  *left = NEW_ARRAY(n->arena, bool *, n->variables.len + 1);
  for (uint32_t v = 0; v < n->variables.len; v++) {
    (*left)[v] = NEW_ARRAY(n->arena, bool, n->variables.at[v].n);
    for (uint32_t i = 0; i < x.n->variables.at[v].n; i++) (*left)[v][x.to[v][i]] = x.left[v][i];
  }
  *done = work_of(&x);
  return bound;
}
