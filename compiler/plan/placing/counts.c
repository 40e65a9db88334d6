/* plan/placing/counts.c - lower bounds by counts alone, whichever axes cut, and the counts that are left below a
 * cost (inside.h). */
#include <math.h>

#include "finder.h"

#define NEXT_TO_NONE 1e-13     /* a share of all bytes, for all the work there may be; */
#define NEXT_TO_NONE_LEFT 1e-10 /* and a share of the bytes that move, at most */
#define ENTRY_LEAST 10.0       /* the cost of an entry of a table by counts, in additions, about */

static double price_add(Finder *f, double price) {
  for (uint32_t i = 0; i < f->g->part->vertices.len; i++) {
    double *cost = NEW_ARRAY(f->arena, double, f->label[i].n + 1);
    for (uint32_t k = 0; k < f->label[i].n; k++) cost[k] = price * f->work[i][k];
    if (f->label[i].n) network_cost(f->n, f->cut[i], cost);
  }
  return price * f->allowed;
}

static double work_of(const Finder *f, const uint32_t *value) {
  double work = 0;
  for (uint32_t i = 0; i < f->g->part->vertices.len; i++)
    if (f->label[i].n) work += f->work[i][value[f->cut[i]]];
  return work;
}

/* A negligible price of work is usually enough: a tiny share of all bytes. It is repeated where that is not a tiny
 * share of what moves. */
static void least_find(Finder *f, double budget, double enough, PlaceLeast *least) {
  double scale = 0, share = f->allowed > 0 ? budget / 3 : budget;
  for (uint32_t i = 0; i < f->g->tensors.len; i++) scale += f->g->tensors.at[i].bytes;
  double limit = f->allowed > 0 ? price_add(f, NEXT_TO_NONE * scale / f->allowed) : 0;
  NetworkAnswer x = network_solve(f->n, share, enough + limit);
  if (limit > NEXT_TO_NONE_LEFT * x.sum && x.bound - limit < enough) {
    limit += price_add(f, (NEXT_TO_NONE_LEFT * x.sum - limit) / f->allowed);
    x = network_solve(f->n, share, enough + limit);
  }
  least->bound = fmax(x.bound - limit, 0);
  least->sum = x.sum;
  least->effort = x.work;
  if (f->allowed <= 0 || least->bound >= enough || work_of(f, x.value) <= f->allowed * (1 + 1e-12)) return;
  x = finder_solve(f, budget - x.work, enough, &least->price);
  least->bound = fmax(least->bound, x.bound - limit);
  if (x.value) least->sum = x.sum;
  least->effort += x.work;
}

PlaceLeast placing_least(
    const PlaceGraph *g, const Mesh *m, const PartVectors *only, double budget, double enough, uint32_t *which) {
  Arena *work = arena_new();
  Finder f = finder_new(work, g, m, only, true);
  PlaceLeast least = {.bound = INFINITY, .sum = INFINITY};
  if (finder_make(&f, which)) {
    least_find(&f, budget, enough, &least);
  }
  if (f.narrow) least.bound = 0;
  least.narrow = f.narrow;
  least.effort += ENTRY_LEAST * f.entries;
  arena_free(work);
  return least;
}

/* counts: by counts alone, which finds the price; else by axes, with that price. */
static void bound_raise(const PlaceGraph *g, const Mesh *m, const PartVectors *only, bool counts, double budget,
    double enough, PlaceLeast *known) {
  Arena *work = arena_new();
  uint32_t which;
  Finder f = finder_new(work, g, m, only, counts);
  if (finder_make(&f, &which)) {
    NetworkLimit l = {.weight = finder_weights(&f), .most = f.allowed, .price = &known->price};
    double done, bound = counts ? network_raise(f.n, &l, budget, enough, &done)
                                : network_bound_at(f.n, &l, known->price, true, budget, enough, &done);
    if (!f.narrow) known->bound = fmax(known->bound, fmin(bound, enough));
    known->effort += done + ENTRY_LEAST * f.entries;
  }
  arena_free(work);
}

void placing_raise(
    const PlaceGraph *g, const Mesh *m, const PartVectors *only, double budget, double enough, PlaceLeast *known) {
  known->effort = 0;
  if (is_limited(g)) bound_raise(g, m, only, true, budget, enough, known);
}

void placing_raise_order(
    const PlaceGraph *g, const Mesh *m, const PartVectors *only, double budget, double enough, PlaceLeast *known) {
  known->effort = 0;
  if (is_limited(g)) bound_raise(g, m, only, false, budget, enough, known);
}

/* Shared by all similar vertices: otherwise similar ones would have different tables because slightly more is left
 * of one. */
static Memo *left_of(Arena *a, Memo *alike, const Buf *key) {
  MemoEntry *e = memo_get(alike, key->s, key->len);
  if (e->value) return e->value;
  Memo *left = NEW(a, Memo);
  *left = memo_new(a);
  return e->value = left;
}

static void vertex_key(Buf *key, const PartVertex *v) {
  const double numbers[] = {v->n_label, v->n_out, v->times, v->point, v->reads.len};
  buf_add(key, (const char *)numbers, sizeof numbers);
  buf_add(key, (const char *)v->extent, v->n_label * sizeof *v->extent);
  buf_add(key, (const char *)v->most, v->n_label * sizeof *v->most);
  for (uint32_t k = 0; k < v->reads.len; k++)
    buf_add(key, (const char *)v->reads.at[k].label, v->reads.at[k].rank * sizeof *v->reads.at[k].label);
}

static void tensor_key(Buf *key, const PlaceGraph *g, uint32_t tensor) {
  const PlaceTensor *t = &g->tensors.at[tensor];
  buf_char(key, t->vertex < 0 ? 'i' : 't');
  buf_add(key, (const char *)t->extent, t->n * sizeof *t->extent);
  buf_add(key, (const char *)t->most, t->n * sizeof *t->most);
  if (t->vertex >= 0) vertex_key(key, &g->part->vertices.at[t->vertex]);
}

static void left_keep(const Finder *f, Arena *a, bool **left, PlaceLeft *out) {
  const PartGraph *part = f->g->part;
  Memo alike = memo_new(f->arena);
  out->label = NEW_ARRAY(a, Memo *, part->vertices.len + 1);
  out->home = NEW_ARRAY(a, Memo *, f->g->tensors.len + 1);
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    const PartVertex *v = &part->vertices.at[i];
    Buf key = buf_new(f->arena);
    vertex_key(&key, v);
    out->label[i] = left_of(a, &alike, &key);
    for (uint32_t k = 0; k < f->label[i].n; k++)
      if (left[f->cut[i]][k]) ways_keep(out->label[i], f->m, v->n_label, &f->label[i].at[k]);
  }
  for (uint32_t i = 0; i < f->g->tensors.len; i++) {
    Buf key = buf_new(f->arena);
    tensor_key(&key, f->g, i);
    out->home[i] = left_of(a, &alike, &key);
    for (uint32_t k = 0; k < f->home[i].n; k++)
      if (left[f->stay[i]][k]) ways_keep(out->home[i], f->m, f->g->tensors.at[i].n, &f->home[i].at[k]);
  }
}

/* No plan within the limit on work that costs less than `enough` has a sum of cost + price x work above that of the
 * limit. */
bool placing_left(Arena *a, const PlaceGraph *g, const Mesh *m, const PartVectors *only, double budget, double enough,
    PlaceLeast *known, PlaceLeft *out) {
  Arena *work = arena_new();
  uint32_t which;
  Finder f = finder_new(work, g, m, only, true);
  bool **left = NULL, some = finder_make(&f, &which);
  if (some) {
    double limit = f.allowed > 0 ? known->price * f.allowed : 0, done;
    if (limit > 0) price_add(&f, known->price);
    double bound = network_rule_out(f.n, budget, enough + limit, 1, &left, &done) - limit;
    some = bound < enough;
    if (!f.narrow && bound > known->bound) known->bound = bound;
    if (some) left_keep(&f, a, left, out);
    out->bound = known->bound;
    out->narrow = f.narrow;
    known->effort = done + ENTRY_LEAST * f.entries;
  }
  arena_free(work);
  return some;
}
