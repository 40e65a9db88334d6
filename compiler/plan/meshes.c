/* plan/meshes.c - the meshes of so many sites on which plans are looked for, and the best plan on any of them. */
#include <math.h>

#include "placing_inside.h"

enum {
  AXES = 4,
  MESHES = 64,               /* at most; of more, those whose largest axes are the smallest: they cut the finest */
  IDLE = 8,                  /* a share of the sites is idle where what moves falls by so many times this share */
  SMOOTH = 7                 /* a number with no larger prime is cut well in many ways */
};

typedef struct Meshes {
  Arena *arena;
  VEC(int64_t) divisor;      /* from 2 on, in order */
  Mesh now;
  VEC(Mesh) all;
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

/* An axis for each prime factor, or four axes where there are more: a mesh with an axis more has all plans of one with fewer. */
static Meshes meshes_of(Arena *a, int64_t sites) {
  Meshes x = {.arena = a, .now = {AXES, {1, 1, 1, 1}}};
  Mesh prime = mesh_of_primes(sites);
  divisors_find(&x, sites);
  if (prime.n <= AXES) vec_push(a, x.all, prime);
  else meshes_share(&x, 0, sites);
  return x;
}

static Meshes meshes_by_seconds(Arena *a, const Seconds *s) {
  Meshes x = {.arena = a};
  const Mesh *all;
  uint32_t n = seconds_meshes(a, s, &all);
  for (uint32_t i = 0; i < n; i++) vec_push(a, x.all, all[i]);
  return x;
}

/* enough: nobody wants one that costs more. */
static Placing *best_of(Arena *a, const PlaceGraph *g, const Meshes *x, const PartVectors *only, double budget, double enough, uint32_t *which) {
  Placing *best = NULL;
  double bound = INFINITY, work = 0;
  bool narrow = false;
  for (uint32_t i = 0; i < x->all.len; i++) {
    Placing *p = placing_find(a, g, &x->all.at[i], only, budget / x->all.len, enough, which);
    if (!p) continue;
    work += p->work;
    if (p->bound < bound) bound = p->bound;
    narrow |= p->narrow;
    if (!best || p->cost < best->cost) best = p;
    if (p->cost < enough) enough = p->cost;
  }
  if (best) best->bound = bound, best->narrow = narrow, best->work = work;
  return best;
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

Placing *placing_search(Arena *a, const PlaceGraph *g, int64_t sites, const PartVectors *only, double budget, uint32_t *which) {
  if (g->fixed && g->fixed->mesh) return placing_find(a, g, g->fixed->mesh, only, budget, INFINITY, which);
  bool bytes = !g->cost || !g->cost->seconds;
  Meshes x = bytes ? meshes_of(a, sites) : meshes_by_seconds(a, g->cost->seconds);
  Placing *best = best_of(a, g, &x, only, budget, INFINITY, which);
  int64_t fewer = bytes && best && best->cost > 0 ? sites_fewer(sites) : 0;
  double most = best ? best->cost * (1 - (double)IDLE * (double)(sites - fewer) / (double)sites) : 0;
  if (!fewer || most <= 0) return best;
  uint32_t nobody;
  x = meshes_of(a, fewer);
  Placing *p = best_of(a, g, &x, only, budget, most, &nobody);
  double work = best->work + (p ? p->work : 0);
  if (p && p->cost <= most) best = p;
  best->work = work;
  return best;
}
