/* plan/placing/meshes.c - the meshes of so many sites on which plans are looked for, and the best plan on any of them.
 *
 * A mesh comes in each order of its axes, for where several cut one dimension the first of them cuts it and the next its blocks. What no order of it
 * goes below is found first, as if each move could have an order of its own (PlaceGraph's any_order). Where that is no less than what was found on
 * other meshes, or as soon as an order has it, the others need not be looked at. */
#include <math.h>
#include <string.h>

#include "inside.h"

enum {
  AXES = 4,
  MESHES = 64,               /* at most, orders apart; of more, those whose largest axes are the smallest: they cut the finest */
  IDLE = 8,                  /* a share of the sites is idle where what moves falls by so many times this share */
  LARGE = 48,                /* a graph of more vertices */
  SMOOTH = 7                 /* a number with no larger prime is cut well in many ways */
};

typedef struct Meshes {
  Arena *arena;
  VEC(int64_t) divisor;      /* from 2 on, in order */
  Mesh now;
  VEC(Mesh) all;
  bool orders;               /* each in any order */
} Meshes;

static void divisors_find(Meshes *x, int64_t sites) {
  VEC(int64_t) large = {0};
  for (int64_t d = 1; d * d <= sites; d++) {
    if (sites % d) continue;
    if (d > 1) vec_push(x->arena, x->divisor, d);
    if (d * d != sites) vec_push(x->arena, large, sites / d);
  }
  while (large.len) vec_push(x->arena, x->divisor, vec_pop(large));
}

static int64_t power(int64_t x, uint32_t n) {
  int64_t all = 1;
  while (n-- > 0)
    if (!mul_ok(all, x, &all)) return INT64_MAX;
  return all;
}

/* All ways to have `left` as a product of what axes a and on have: none more than the axis before. Smaller ones come first. */
static void meshes_share(Meshes *x, uint32_t a, int64_t left) {
  if (x->all.len == MESHES) return;
  if (a == AXES) {
    vec_push(x->arena, x->all, x->now);
    return;
  }
  for (uint32_t i = 0; i < x->divisor.len; i++) {
    int64_t d = x->divisor.at[i], rest = power(2, AXES - 1 - a);
    if ((a > 0 && d > x->now.size[a - 1]) || d > left / rest) return;
    if (left % d || power(d, AXES - a) < left) continue;
    x->now.size[a] = (uint32_t)d;
    meshes_share(x, a + 1, left / d);
  }
}

/* The next order of these axes, the largest number comes first; false after the last. */
static bool order_next(Mesh *m) {
  uint32_t i = m->n, j = m->n;
  while (i > 1 && m->size[i - 2] <= m->size[i - 1]) i--;
  if (i < 2) return false;
  while (m->size[j - 1] >= m->size[i - 2]) j--;
  uint32_t was = m->size[i - 2];
  m->size[i - 2] = m->size[j - 1], m->size[j - 1] = was;
  for (uint32_t k = m->n; i < k; i++, k--) was = m->size[i - 1], m->size[i - 1] = m->size[k - 1], m->size[k - 1] = was;
  return true;
}

/* An axis for each prime factor, or four axes where there are more: a mesh with an axis more has all plans of one with fewer. */
static Meshes meshes_of(Arena *a, int64_t sites) {
  Meshes x = {.arena = a, .now = {AXES, {1, 1, 1, 1}}};
  Mesh prime = mesh_of_primes(sites);
  divisors_find(&x, sites);
  if (prime.n <= AXES) vec_push(a, x.all, prime);
  else meshes_share(&x, 0, sites);
  x.orders = true;
  return x;
}

/* Each level's axes in all orders, the largest first before others. */
static Meshes meshes_by_seconds(Arena *a, const Seconds *s) {
  Meshes x = {.arena = a};
  const Mesh *all;
  uint32_t kinds = seconds_meshes(a, s, false, &all);
  for (uint32_t i = 0; i < kinds; i++) vec_push(a, x.all, all[i]);
  for (uint32_t n = seconds_meshes(a, s, true, &all), i = 0; i < n; i++) {
    bool seen = false;
    for (uint32_t k = 0; !seen && k < kinds; k++) seen = memcmp(&x.all.at[k], &all[i], sizeof *all) == 0;
    if (!seen) vec_push(a, x.all, all[i]);
  }
  return x;
}

/* ---- the search ------------------------------------------------------------------------------------------------- */

typedef struct Search {
  Arena *arena;
  const PlaceGraph *g;
  const PartVectors *only;
  double enough;             /* nobody wants what costs more */
  Placing *best;             /* NULL: none yet */
  double bound, effort;      /* of all that was looked at */
  bool narrow;
  uint32_t *which;
} Search;

static bool is_as_much(double cost, double bound) {
  return cost <= bound * (1 + 1e-9);
}

/* Gives a bound of this mesh. */
static double look(Search *x, const PlaceGraph *g, const Mesh *m, double budget) {
  Placing *p = placing_find(x->arena, g, m, x->only, budget, x->enough, x->which);
  if (!p) return x->enough;
  x->effort += p->effort;
  x->narrow |= p->narrow;
  if (!x->best || p->cost < x->best->cost) x->best = p;
  if (p->cost < x->enough) x->enough = p->cost;
  return p->bound;
}

/* By seconds, and where memory has a price, nobody knows what no order goes below. */
static bool has_bound(const PlaceGraph *g) {
  return !g->cost || (g->cost->paper && !g->cost->price);
}

bool placing_is_large(const PlaceGraph *g) {
  return has_bound(g) && !(g->fixed && g->fixed->mesh) && g->part->vertices.len > LARGE;
}

static uint32_t orders_of(Mesh m) {
  uint32_t n = 1;
  while (order_next(&m)) n++;
  return n;
}

static void look_orders(Search *x, Mesh m, double budget) {
  uint32_t orders = orders_of(m);
  double least = 0, bound = INFINITY;
  if (x->g->busy && placing_is_large(x->g)) { /* of these nobody asks for a bound */
    x->bound = 0;
    look(x, x->g, &m, budget);
    return;
  }
  if (orders > 1 && has_bound(x->g)) {
    PlaceGraph any = *x->g;
    any.any_order = true;
    least = look(x, &any, &m, budget);
  }
  bool first = true;
  do {
    if (orders > 1 && is_as_much(x->enough, least)) break;
    bound = fmin(bound, look(x, x->g, &m, first ? budget : budget / orders));
    first = false;
  } while (order_next(&m));
  x->bound = fmin(x->bound, is_as_much(x->enough, least) ? least : fmax(least, bound));
}

/* enough: nobody wants one that costs more. */
static Placing *best_of(Arena *a, const PlaceGraph *g, const Meshes *x, const PartVectors *only, double budget, double enough, uint32_t *which) {
  Search s = {.arena = a, .g = g, .only = only, .enough = enough, .bound = INFINITY, .which = which};
  for (uint32_t i = 0; i < x->all.len; i++) {
    if (x->orders) look_orders(&s, x->all.at[i], budget / x->all.len);
    else s.bound = fmin(s.bound, look(&s, g, &x->all.at[i], budget / x->all.len));
  }
  if (s.best) s.best->bound = fmin(s.bound, s.best->cost), s.best->narrow = s.narrow, s.best->effort = s.effort;
  return s.best;
}

/* All orders of a mesh, of which none goes below `least`; while there is something to spend. */
static double look_spending(Search *x, Mesh m, double least, double budget) {
  double bound = INFINITY;
  uint32_t orders = orders_of(m);
  if (orders == 1) return least;
  do {
    if (is_as_much(x->enough, least) || x->effort >= budget) return least;
    bound = fmin(bound, look(x, x->g, &m, budget / orders));
  } while (order_next(&m));
  return fmax(least, bound);
}

/* In a large graph a search among all that the limit on work lets through takes long, and nearly all of what is best has no idle axes. So a plan
 * without idle axes comes first, of one order of each mesh; then each mesh gets a bound; then orders are looked at where that is below, by what is
 * left to spend. NULL: there is none without idle axes that keeps to the limit. */
static Placing *best_of_large(Arena *a, const PlaceGraph *g, const Meshes *x, const PartVectors *only, double budget, uint32_t *which) {
  PlaceGraph busy = *g, all = *g, any;
  double price = 0, in_use = INFINITY, *least = NEW_ARRAY(a, double, x->all.len);
  uint32_t n = x->all.len;
  busy.busy = true;
  all.price = &price;
  any = all;
  any.any_order = true;
  Search s = {.arena = a, .g = &all, .only = only, .enough = INFINITY, .bound = INFINITY, .which = which};
  for (uint32_t i = 0; i < n; i++) in_use = fmin(in_use, look(&s, &busy, &x->all.at[i], budget / n));
  if (!s.best || placing_work(g, s.best) > g->work) return NULL;
  for (uint32_t i = 0; i < n; i++) least[i] = look(&s, &any, &x->all.at[i], budget / n);
  for (uint32_t i = 0; i < n; i++) s.bound = fmin(s.bound, look_spending(&s, x->all.at[i], least[i], budget));
  s.best->bound = fmin(s.bound, s.best->cost), s.best->narrow = s.narrow, s.best->effort = s.effort, s.best->allowed = g->work;
  s.best->busy = in_use;
  return s.best;
}

/* What a site may have to do on any of them. */
static double work_allowed(const PlaceGraph *g, const Meshes *x, const PartVectors *only) {
  double least = INFINITY;
  for (uint32_t i = 0; i < x->all.len; i++) least = fmin(least, work_least(g, &x->all.at[i], only));
  return isinf(least) ? 0 : (double)WORK_TIMES * least;
}

int64_t sites_fewer(int64_t sites) {
  int64_t best = 0;
  Mesh prime = mesh_of_primes(sites);
  if (!prime.n || prime.size[0] <= SMOOTH) return 0;
  for (int64_t a = 1; a < sites; a *= 2)
    for (int64_t b = a; b < sites; b *= 3)
      for (int64_t c = b; c < sites; c *= 5)
        for (int64_t d = c; d < sites; d *= 7) best = d > best ? d : best;
  return best;
}

Placing *placing_search(Arena *a, const PlaceGraph *free, int64_t sites, const PartVectors *only, double budget, uint32_t *which) {
  PlaceGraph limited = *free, *g = &limited;
  if (g->fixed && g->fixed->mesh) return placing_find(a, g, g->fixed->mesh, only, budget, INFINITY, which);
  bool bytes = !g->cost || !g->cost->seconds;
  Meshes x = bytes ? meshes_of(a, sites) : meshes_by_seconds(a, g->cost->seconds);
  if (bytes && g->work <= 0) g->work = work_allowed(g, &x, only);
  Placing *best = !g->busy && placing_is_large(g) && g->work > 0 ? best_of_large(a, g, &x, only, budget, which) : NULL;
  if (!best) best = best_of(a, g, &x, only, budget, INFINITY, which);
  int64_t fewer = bytes && best && best->cost > 0 ? sites_fewer(sites) : 0;
  double most = best ? best->cost * (1 - (double)IDLE * (double)(sites - fewer) / (double)sites) : 0;
  if (!fewer || most <= 0) return best;
  uint32_t nobody;
  x = meshes_of(a, fewer);
  Placing *p = best_of(a, g, &x, only, budget, most, &nobody);
  double effort = best->effort + (p ? p->effort : 0);
  if (p && p->cost <= most) best = p;
  best->effort = effort;
  return best;
}
