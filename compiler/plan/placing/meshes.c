/* plan/placing/meshes.c - the meshes of a number of sites on which to look for plans, and the best plan on any of
 * them.
 *
 * A mesh comes in each order of its axes, since where several axes cut one dimension the first cuts it and the next
 * cuts its blocks. First each mesh gets a lower bound over all its orders, by counts alone (inside.h). Then a search
 * looks for plans that cost next to no more than the least of these bounds: this leaves few choices, on few meshes.
 * If there is none, the next round allows slightly more, and so on, until no mesh's bound is below the best plan. */
#include <math.h>
#include <string.h>

#include "inside.h"

enum {
  AXES = 4,
  MESHES = 64,               /* at most, orders aside: those whose largest axes are smallest, as they cut finest */
  IDLE = 8,                  /* idling a share of the sites must save this many times that share of the bytes moved */
  LARGE = 48,                /* a graph with more vertices */
  HUGE_GRAPH = 8192,         /* or with this many */
  MESHES_FEW = 3,            /* on which plans are searched by chance */
  ORDERS_FEW = 4,            /* each of which can have a bound of its own */
  SMOOTH = 7                 /* a number without a larger prime is cut well in many ways */
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

/* All factorisations of `left` into the axes from a on, none larger than the axis before. Smaller ones come first. */
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

/* Steps to the next order of these axes, the largest number first; false after the last. */
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

/* One axis for each prime factor, or four axes where there are more: a mesh with one more axis has all plans of one
 * with fewer. */
static Meshes meshes_of(Arena *a, int64_t sites) {
  Meshes x = {.arena = a, .now = {AXES, {1, 1, 1, 1}}};
  Mesh prime = mesh_of_primes(sites);
  divisors_find(&x, sites);
  if (prime.n <= AXES) vec_push(a, x.all, prime);
  else meshes_share(&x, 0, sites);
  x.orders = true;
  return x;
}

/* The axes of each level in all orders, the largest first. */
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

#define NEAR 0.02              /* for a large graph: a plan this close to the bound ends the search; else a few */
#define CHANCE 0.25            /* are found by chance, with this share of the budget */
#define BALLS 2.0              /* the best is improved ball by ball, with this share, which comes on top of it; */
#define BALLS_ALL 500.0        /*   of fewer vertices with less, in proportion */

typedef struct Search {
  Arena *arena;
  const PlaceGraph *g;
  const PartVectors *only;
  double enough;             /* plans that cost more are useless */
  Placing *best;             /* NULL: none yet */
  double bound, effort;      /* of all that was looked at; */
  double apart;              /*   of which this much is not part of the budget */
  bool narrow;
  uint32_t *which;
} Search;

static bool is_as_much(double cost, double bound) {
  return cost <= bound * (1 + 1e-9);
}

/* Returns a lower bound for plans on this mesh below the wanted cost. */
static double look(Search *x, const PlaceGraph *g, const Mesh *m, double budget, double below) {
  double enough = fmin(x->enough, below);
  bool narrow;
  Placing *p = placing_look(x->arena, g, m, x->only, budget, enough, x->which, &narrow);
  x->narrow |= narrow;
  if (!p) return narrow ? 0 : enough;
  x->effort += p->effort;
  if (!x->best || p->cost < x->best->cost) x->best = p;
  if (p->cost < x->enough) x->enough = p->cost;
  return p->bound;
}

/* There are no bounds by counts for seconds, or where memory has a price. */
static bool has_bound(const PlaceGraph *g) {
  return !g->label && (!g->cost || (g->cost->paper && !g->cost->price));
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
  bool first = true;
  do {
    x->bound = fmin(x->bound, look(x, x->g, &m, first ? budget : budget / orders, INFINITY));
    first = false;
  } while (order_next(&m));
}

/* ---- by chance --------------------------------------------------------------------------------------------------- */

static bool is_far(const Search *x, double bound) {
  return !x->best || x->best->cost > bound * (1 + NEAR);
}

/* In all orders of a mesh, or in one. */
static void chance(Search *x, Mesh m, bool orders, double forests, double balls) {
  uint32_t n = orders ? orders_of(m) : 1;
  do {
    const Placing *known = x->best && mesh_equal(&x->best->mesh, &m) ? x->best : NULL;
    Placing *p = placing_by_chance(x->arena, x->g, &m, x->only, forests / n, balls, known);
    if (!p) return;
    x->effort += p->effort;
    x->apart += balls > 0 ? p->effort : 0;
    if (!x->best || p->cost < x->best->cost) x->best = p;
    x->enough = fmin(x->enough, p->cost);
  } while (orders && order_next(&m));
}

/* ---- one mesh after the other ------------------------------------------------------------------------------------ */

static Placing *best_plainly(Search *s, const Meshes *x, double budget) {
  for (uint32_t i = 0; i < x->all.len; i++) {
    if (x->orders) look_orders(s, x->all.at[i], budget / x->all.len);
    else s->bound = fmin(s->bound, look(s, s->g, &x->all.at[i], budget / x->all.len, INFINITY));
  }
  if (s->best && is_far(s, s->bound)) chance(s, s->best->mesh, false, budget * CHANCE, 0);
  return s->best;
}

/* ---- by rounds --------------------------------------------------------------------------------------------------- */

/* A round accepts plans that cost this share more than the apparent minimum; the last accepts all. */
static const double rounds[] = {1e-7, 3e-3, 0.02, 0.2, INFINITY};
enum { ROUNDS = sizeof rounds / sizeof *rounds };

#define AHEAD 1.3              /* times the least bound so far: a mesh whose bound gets there needs no better one */
#define NEAR_BUSY 0.001        /* for plans without idle axes, this close is also close enough; */
#define PROOF 0.1              /* but for a proof: with this share of the budget, on meshes whose bound is this near: */
#define PROOF_NEAR 1e-3

/* Searches for plans of lower cost, in all orders of a mesh or in one; or as long as that improves the bound. */
typedef struct Below { double cost, budget; bool one, proof; } Below;

static bool has_orders(const Meshes *all, uint32_t i) {
  return all->orders && orders_of(all->all.at[i]) > 1;
}

static void look_below(Search *x, const Meshes *all, uint32_t i, PlaceLeast *known, Below b) {
  Arena *a = arena_new();
  PlaceGraph g = *x->g;
  PlaceLeft left;
  Mesh m = all->all.at[i];
  bool orders = has_orders(all, i) && !b.one, whole = orders || !has_orders(all, i);
  double enough = fmin(b.cost, x->enough), bound = enough, share = orders ? b.budget / orders_of(m) : b.budget;
  bool some = isinf(enough) || placing_left(a, x->g, &m, x->only, b.budget, enough, known, &left);
  if (!isinf(enough)) g.left = &left, x->effort += known->effort;
  if (some) do {
    if (is_as_much(x->enough, known->bound)) break;
    bound = fmin(bound, look(x, &g, &m, share, enough));
    if (b.proof && bound <= known->bound) break;
    share = b.budget / orders_of(m);
  } while (orders && order_next(&m));
  bool proves = !known->narrow && (!some || whole);
  if (proves && !is_as_much(x->enough, known->bound)) known->bound = fmax(known->bound, bound);
  arena_free(a);
}

/* Returns the mesh with the least bound below `most` that was not looked at in this round. */
static uint32_t mesh_next(const Search *x, uint32_t n, const PlaceLeast *known, const bool *seen, double most) {
  uint32_t best = n;
  for (uint32_t i = 0; i < n; i++)
    if (!seen[i] && known[i].bound < most && !is_as_much(x->enough, known[i].bound) &&
        (best == n || known[i].bound < known[best].bound))
      best = i;
  return best;
}

static double bound_of(uint32_t n, const PlaceLeast *known) {
  double least = INFINITY;
  for (uint32_t i = 0; i < n; i++) least = fmin(least, known[i].bound);
  return least;
}

/* Looks for plans below `most`; or, for a large graph, in one order of each mesh, for plans that cost at most a
 * share more than the mesh's bound. */
static void round_look(
    Search *s, const Meshes *x, PlaceLeast *known, double *tried, double most, double share, double budget) {
  uint32_t n = x->all.len;
  bool *seen = NEW_ARRAY(s->arena, bool, n + 1), one = !isinf(share), large = placing_is_large(s->g);
  for (uint32_t i; (i = mesh_next(s, n, known, seen, most)) < n && (s->effort < budget || !s->best); seen[i] = true) {
    double left = fmax(budget - s->effort, budget / 16) / (one ? 2 : n < 4 ? n : 4);
    double cost = one ? known[i].bound * (1 + share) + rounds[0] : most;
    if (one && s->enough <= bound_of(n, known) * (1 + (s->g->busy ? NEAR_BUSY : NEAR))) break;
    if (one && fmin(cost, s->enough) <= tried[i]) continue;
    if (one) tried[i] = fmin(cost, s->enough);
    if (large && !one && known[i].sum > known[i].bound * (1 + PROOF_NEAR) && s->best) continue;
    look_below(s, x, i, &known[i], (Below){cost, left, one, large});
  }
}

/* First a little on the most promising meshes, then more on the best of them; where there is only one, all on that. */
static void chance_meshes(Search *s, const Meshes *x, const PlaceLeast *known, double budget) {
  uint32_t n = x->all.len, most = n < MESHES_FEW ? n : MESHES_FEW;
  bool *seen = NEW_ARRAY(s->arena, bool, n + 1), one = n == 1 && !has_orders(x, 0);
  double part = fmin(1, s->g->part->vertices.len / BALLS_ALL);
  double balls = placing_is_large(s->g) && !s->g->busy ? part * BALLS * budget : 0;
  for (uint32_t k = 0; k < most && !one; k++) {
    uint32_t best = n;
    for (uint32_t i = 0; i < n; i++)
      if (!seen[i] && !isinf(known[i].bound) && (best == n || known[i].bound < known[best].bound)) best = i;
    if (best == n) break;
    seen[best] = true;
    chance(s, x->all.at[best], x->orders, budget * CHANCE / (2 * most), 0);
  }
  if (s->best || one) chance(s, one ? x->all.at[0] : s->best->mesh, false, budget * CHANCE / 2, balls);
}

/* Raises a mesh's bound by counts, and then those of its orders, if it has few. */
static void bound_raise(Search *s, Mesh m, bool orders, PlaceLeast *known, double budget) {
  uint32_t n = orders ? orders_of(m) : 1;
  placing_raise(s->g, &m, s->only, budget / 8, s->enough, known);
  s->effort += known->effort;
  if (n > ORDERS_FEW || known->bound >= s->enough) return;
  double least = s->enough;
  do {
    PlaceLeast one = *known;
    placing_raise_order(s->g, &m, s->only, budget / n, least, &one); /* more than the least of all is of no use */
    least = fmin(least, one.bound);
    s->effort += one.effort;
  } while (orders && order_next(&m));
  known->bound = fmax(known->bound, least);
}

/* Raises the least bound, as long as it is that of a mesh that was not raised yet. */
static void bounds_raise(Search *s, const Meshes *x, PlaceLeast *known, double budget) {
  uint32_t n = x->all.len, k = 0;
  bool *seen = NEW_ARRAY(s->arena, bool, n + 1);
  for (; s->best && is_far(s, bound_of(n, known)); seen[k] = true) {
    for (uint32_t i = k = 0; i < n; i++)
      if (known[i].bound < known[k].bound) k = i;
    if (seen[k]) return;
    bound_raise(s, x->all.at[k], has_orders(x, k), &known[k], budget);
  }
}

static Placing *best_by_rounds(Search *s, const Meshes *x, double budget) {
  uint32_t n = x->all.len, nobody;
  PlaceLeast *known = NEW_ARRAY(s->arena, PlaceLeast, n + 1);
  double first = INFINITY, sum = INFINITY, *tried = NEW_ARRAY(s->arena, double, n + 1);
  bool large = placing_is_large(s->g);
  bool spare = large && n < 2 && s->g->part->vertices.len < HUGE_GRAPH; /* leaves budget for plans */
  for (uint32_t i = 0; i < n; i++) {
    known[i] = placing_least(s->g, &x->all.at[i], s->only,
        budget /
            (spare          ? 2
                    : n > 4 ? 4
                            : n),
        fmin(s->enough, AHEAD * first), s->which);
    s->effort += known[i].effort;
    s->narrow |= known[i].narrow;
    first = fmin(first, known[i].bound);
    sum = fmin(sum, known[i].sum);
  }
  if (isinf(first)) return NULL;
  s->which = &nobody;
  for (uint32_t r = 0; r + 1 < ROUNDS && large; r++) round_look(s, x, known, tried, INFINITY, rounds[r], budget);
  if (large && is_far(s, bound_of(n, known))) chance_meshes(s, x, known, budget);
  double proof = large && s->best ? s->effort + PROOF * budget : budget;
  for (uint32_t r = 0; r < ROUNDS && !(large && s->g->busy && s->best); r++)
    round_look(s, x, known, tried, sum * (1 + rounds[r]) + rounds[0], INFINITY, fmin(proof, budget + s->apart));
  if (!large && s->best && is_far(s, bound_of(n, known))) chance_meshes(s, x, known, budget);
  if (!s->g->busy) bounds_raise(s, x, known, budget);
  s->bound = bound_of(n, known);
  if (s->best && is_as_much(s->best->cost, s->bound)) s->bound = fmax(s->bound, s->best->cost);
  return s->best;
}

/* enough: plans that cost more are useless; this is the cost of `best`, if it is not NULL. */
static Placing *best_of(Arena *a, const PlaceGraph *g, const Meshes *x, const PartVectors *only, double budget,
    double enough, Placing *best, uint32_t *which) {
  Search s = {.arena = a, .g = g, .only = only, .enough = enough, .best = best, .bound = INFINITY, .which = which};
  Placing *p = has_bound(g) ? best_by_rounds(&s, x, budget) : best_plainly(&s, x, budget);
  if (p) p->bound = fmin(s.bound, p->cost), p->narrow = s.narrow && p->bound <= 0, p->effort = s.effort;
  return p;
}

/* The most work that a site may have on any of them. */
static double work_allowed(const PlaceGraph *g, const Meshes *x, const PartVectors *only) {
  double least = INFINITY;
  for (uint32_t i = 0; i < x->all.len; i++) least = fmin(least, work_least(g, &x->all.at[i], only));
  return isinf(least) ? 0 : (double)WORK_TIMES * least;
}

/* The largest smaller number of sites that has only small prime factors; 0: not needed. */
static int64_t sites_fewer(int64_t sites) {
  int64_t best = 0;
  Mesh prime = mesh_of_primes(sites);
  if (!prime.n || prime.size[0] <= SMOOTH) return 0;
  for (int64_t a = 1; a < sites; a *= 2)
    for (int64_t b = a; b < sites; b *= 3)
      for (int64_t c = b; c < sites; c *= 5)
        for (int64_t d = c; d < sites; d *= 7) best = d > best ? d : best;
  return best;
}

/* known: a plan to start from, or NULL. */
static Placing *search(Arena *a, const PlaceGraph *free, int64_t sites, const PartVectors *only, double budget,
    Placing *known, uint32_t *which) {
  PlaceGraph limited = *free, *g = &limited;
  if (g->fixed && g->fixed->mesh) {
    Meshes one = {.arena = a};
    vec_push(a, one.all, *g->fixed->mesh);
    return best_of(a, g, &one, only, budget, INFINITY, NULL, which);
  }
  bool bytes = !g->cost || !g->cost->seconds;
  Meshes x = bytes ? meshes_of(a, sites) : meshes_by_seconds(a, g->cost->seconds);
  if (bytes && g->work <= 0) g->work = work_allowed(g, &x, only);
  Placing *best = known && mesh_sites(&known->mesh) == sites && placing_work(g, known) <= g->work ? known : NULL;
  best = best_of(a, g, &x, only, budget, best ? best->cost : INFINITY, best, which);
  if (best) best->allowed = bytes && !g->busy ? g->work : 0;
  int64_t fewer = bytes && best && best->cost > 0 && !g->all_sites ? sites_fewer(sites) : 0;
  double most = best ? best->cost * (1 - (double)IDLE * (double)(sites - fewer) / (double)sites) : 0;
  if (!fewer || most <= 0) return best;
  uint32_t nobody;
  x = meshes_of(a, fewer);
  Placing *p = best_of(a, g, &x, only, budget, most, NULL, &nobody);
  double effort = best->effort + (p ? p->effort : 0);
  if (p && p->cost <= most) best = p;
  best->effort = effort;
  return best;
}

/* Searches a large graph for plans without idle axes first: there are fewer, and one is nearly always close to the
 * best. */
static Placing *best_large(
    Arena *a, const PlaceGraph *g, int64_t sites, const PartVectors *only, double budget, uint32_t *which) {
  PlaceGraph fewer = *g;
  fewer.busy = true;
  Placing *q = search(a, &fewer, sites, only, budget, NULL, which);
  double in_use = q ? q->bound : 0, effort = q ? q->effort : 0;
  Placing *p = search(a, g, sites, only, budget, q, which);
  if (p) p->effort += effort, p->busy = in_use;
  return p;
}

static Placing *best_once(
    Arena *a, const PlaceGraph *g, int64_t sites, const PartVectors *only, double budget, uint32_t *which) {
  if (placing_is_large(g) && !g->busy) return best_large(a, g, sites, only, budget, which);
  Placing *p = search(a, g, sites, only, budget, NULL, which);
  if (!p || p->cost <= p->bound * (1 + 1e-9) || g->busy) return p;
  PlaceGraph fewer = *g;
  fewer.busy = true;
  Placing *q = search(a, &fewer, sites, only, budget, NULL, which);
  if (q) p->effort = q->effort += p->effort;
  if (!q || q->cost >= p->cost || (p->allowed > 0 && placing_work(g, q) > p->allowed)) return p;
  q->bound = p->bound;
  q->allowed = p->allowed;
  q->narrow = p->narrow;
  return q;
}

/* Searches with alike windows at their part of one, which gives the bound; and if what is found costs more than that,
 * each by itself too. */
Placing *placing_best(
    Arena *a, const PlaceGraph *g, int64_t sites, const PartVectors *only, double budget, uint32_t *which) {
  PlaceGraph shared;
  if ((g->cost && g->cost->price) || !alikes_shared(a, g, &shared)) return best_once(a, g, sites, only, budget, which);
  Placing *p = best_once(a, &shared, sites, only, budget, which);
  if (!p) return NULL;
  double bound = p->bound, counted = p->cost, busy = p->busy;
  bool narrow = p->narrow;
  placing_count(g, p);
  if (p->cost > counted * (1 + 1e-9)) {
    Placing *q = best_once(a, g, sites, only, budget, which);
    if (q && q->cost < p->cost) q->effort += p->effort, p = q;
  }
  p->bound = fmin(bound, p->cost);
  p->busy = fmin(busy, p->cost);
  p->narrow = narrow;
  return p;
}
