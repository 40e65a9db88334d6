/* plan/placing/find.c - finds the best placing on a mesh, by solving its network. */
#include <math.h>
#include <string.h>

#include "finder.h"

#define ENTRY 100.0            /* the cost of a table entry in additions, about */

/* ---- the network ------------------------------------------------------------------------------------------------- */

static void tensor_add(Finder *f, uint32_t i) {
  const PlaceTensor *t = &f->g->tensors.at[i];
  WaysWanted w = {.idle = true, .counts = f->counts, .left = f->g->left ? f->g->left->home[i] : NULL};
  f->home[i] = stays_find(f->arena, f->g, f->m, i, &w, &f->narrow);
  f->stay[i] = network_variable(f->n, f->home[i].n);
  if (t->vertex >= 0 && !f->g->cost) return;
  double *cost = NEW_ARRAY(f->arena, double, f->home[i].n);
  for (uint32_t k = 0; k < f->home[i].n; k++)
    cost[k] = f->g->cost ? home_cost(f->g, f->m, links_of(f), i, &f->home[i].at[k])
                         : stored_copies(t, f->m, &f->home[i].at[k]);
  network_cost(f->n, f->stay[i], cost);
}

bool is_limited(const PlaceGraph *g) {
  return !(g->cost && g->cost->seconds) && !g->label && !g->busy;
}

/* Drops cuts with which a site would have too much to do, however the other vertices are cut. */
static void cuts_drop(Finder *f, uint32_t i, double least, double room) {
  PlaceWays *w = &f->label[i];
  Placement *at = NEW_ARRAY(f->arena, Placement, w->n);
  uint32_t n = 0;
  for (uint32_t k = 0; k < w->n; k++) {
    if (f->work[i][k] > least + room) continue;
    f->work[i][n] = f->work[i][k];
    at[n++] = w->at[k];
  }
  *w = (PlaceWays){n, at};
}

static bool cuts_limit(Finder *f) {
  const PartGraph *part = f->g->part;
  double all = 0, *least = NEW_ARRAY(f->arena, double, part->vertices.len + 1);
  f->work = NEW_ARRAY(f->arena, double *, part->vertices.len + 1);
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    f->work[i] = NEW_ARRAY(f->arena, double, f->label[i].n + 1);
    for (uint32_t k = 0; k < f->label[i].n; k++) {
      f->work[i][k] = cut_work(&part->vertices.at[i], f->m, f->label[i].at[k].on);
      least[i] = k && least[i] < f->work[i][k] ? least[i] : f->work[i][k];
    }
    all += least[i];
  }
  f->allowed = f->g->work > 0 ? f->g->work : (double)WORK_TIMES * all;
  for (uint32_t i = 0; i < part->vertices.len; i++) cuts_drop(f, i, least[i], (f->allowed - all) * (1 + 1e-12));
  return all <= f->allowed * (1 + 1e-12);
}

static bool cuts_make(Finder *f, uint32_t *which) {
  const PartGraph *part = f->g->part;
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    if (part->vertices.at[i].node->kind != EIN_VERTEX) continue;
    WaysWanted w = {.idle = !f->g->busy,
        .counts = f->counts,
        .only = f->only ? &f->only[i] : NULL,
        .left = f->g->left ? f->g->left->label[i] : NULL};
    f->label[i] = cuts_find(f->arena, f->g, f->m, i, &w, &f->narrow);
    if (!f->label[i].n) return *which = i, false;
  }
  *which = 0;
  return !is_limited(f->g) || cuts_limit(f);
}

/* Variables come in the order in which a run meets them, since neighbouring choices then depend on each other. */
static void variables_make(Finder *f) {
  const PartGraph *part = f->g->part;
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    const PartVertex *v = &part->vertices.at[i];
    for (uint32_t k = 0; k < v->reads.len; k++) {
      uint32_t t = f->g->tensor[i][k];
      if (f->g->tensors.at[t].vertex < 0 && !f->home[t].n) tensor_add(f, t);
    }
    if (v->node->kind == EIN_VERTEX) f->cut[i] = network_variable(f->n, f->label[i].n);
    tensor_add(f, i);
  }
}

bool finder_make(Finder *f, uint32_t *which) {
  const PartGraph *part = f->g->part;
  if (!cuts_make(f, which)) return false;
  variables_make(f);
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    if (part->vertices.at[i].node->kind == EIN_VERTEX) tables_vertex(f, i);
    for (uint32_t k = 0; k < part->vertices.at[i].reads.len; k++) tables_read(f, i, k);
  }
  return true;
}

const double **finder_weights(const Finder *f) {
  const double **weight = NEW_ARRAY(f->arena, const double *, f->g->part->vertices.len + f->g->tensors.len + 1);
  for (uint32_t i = 0; i < f->g->part->vertices.len; i++)
    if (f->label[i].n) weight[f->cut[i]] = f->work[i];
  return weight;
}

NetworkAnswer finder_solve(Finder *f, double budget, double enough, double *price) {
  if (f->g->left) network_floor(f->n, f->g->left->bound);
  if (f->allowed <= 0) return network_solve(f->n, budget, enough);
  NetworkLimit l = {finder_weights(f), f->allowed, price, f->g->left ? f->g->left->bound : 0};
  return network_solve_within(f->n, &l, budget, enough);
}

Finder finder_new(Arena *work, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, bool counts) {
  uint32_t vertices = g->part->vertices.len, tensors = g->tensors.len;
  Finder f = {.arena = work, .g = g, .m = mesh, .n = network_new(work), .only = only, .counts = counts};
  f.shares = memo_new(work);
  f.costs = memo_new(work);
  f.windows = memo_new(work);
  f.label = NEW_ARRAY(work, PlaceWays, vertices + 1);
  f.home = NEW_ARRAY(work, PlaceWays, tensors + 1);
  f.cut = NEW_ARRAY(work, uint32_t, vertices + 1);
  f.stay = NEW_ARRAY(work, uint32_t, tensors + 1);
  f.narrow = g->left && g->left->narrow;
  if (g->cost && g->cost->seconds) f.links = seconds_links(g->cost->seconds, mesh, g->room);
  return f;
}

/* ---- a placing --------------------------------------------------------------------------------------------------- */

static Placing *placing_of(Arena *a, const Finder *f, const NetworkAnswer *x) {
  const PlaceGraph *g = f->g;
  uint32_t vertices = g->part->vertices.len, tensors = g->tensors.len;
  Placing *p = MAKE(a, Placing, .mesh = *f->m,
      .label = NEW_ARRAY(a, int8_t *, vertices + 1),
      .home = NEW_ARRAY(a, Placement, tensors + 1),
      .panels = g->panels,
      .room = g->room);
  for (uint32_t i = 0; i < vertices; i++) {
    p->label[i] = NEW_ARRAY(a, int8_t, MESH_AXES);
    for (uint32_t k = 0; k < MESH_AXES; k++) p->label[i][k] = PLACE_ALL;
    if (f->label[i].n)
      for (uint32_t k = 0; k < f->m->n; k++) p->label[i][k] = f->label[i].at[x->value[f->cut[i]]].on[k];
  }
  for (uint32_t i = 0; i < tensors; i++) p->home[i] = f->home[i].at[x->value[f->stay[i]]];
  placing_count(g, p);
  if (g->cost && g->cost->price) p->cost = x->sum;
  p->narrow = f->narrow;
  p->allowed = f->allowed;
  p->effort = x->work + ENTRY * f->entries;
  p->bound = f->narrow ? 0 : fmin(fmax(x->bound, 0), p->cost); /* due to unequal blocks, or rounding */
  return p;
}

Placing *placing_look(Arena *a, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, double budget,
    double enough, uint32_t *which, bool *narrow) {
  Arena *work = arena_new();
  Finder f = finder_new(work, g, mesh, only, false);
  Placing *p = NULL;
  if (finder_make(&f, which)) {
    NetworkAnswer x = finder_solve(&f, budget, enough, NULL);
    if (x.value) p = placing_of(a, &f, &x);
  }
  *narrow = f.narrow;
  arena_free(work);
  return p;
}

Placing *placing_find(Arena *a, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, double budget,
    double enough, uint32_t *which) {
  bool narrow;
  return placing_look(a, g, mesh, only, budget, enough, which, &narrow);
}

/* The numbers of a placing's cuts and homes. NULL: it has some that are not considered. */
static uint32_t *values_of(const Finder *f, const Placing *p) {
  uint32_t vertices = f->g->part->vertices.len, tensors = f->g->tensors.len;
  uint32_t *value = NEW_ARRAY(f->arena, uint32_t, vertices + tensors + 1);
  for (uint32_t i = 0; i < vertices; i++) {
    uint32_t *k = &value[f->cut[i]];
    if (!f->label[i].n) continue;
    while (*k < f->label[i].n && memcmp(f->label[i].at[*k].on, p->label[i], f->m->n) != 0) ++*k;
    if (*k == f->label[i].n) return NULL;
  }
  for (uint32_t i = 0; i < tensors; i++) {
    uint32_t *k = &value[f->stay[i]];
    while (*k < f->home[i].n && !placement_equal(f->m, &f->home[i].at[*k], &p->home[i])) ++*k;
    if (*k == f->home[i].n) return NULL;
  }
  return value;
}

Placing *placing_by_chance(Arena *a, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, double forests,
    double balls, const Placing *known) {
  Arena *work = arena_new();
  Finder f = finder_new(work, g, mesh, only, false);
  Placing *p = NULL;
  uint32_t which;
  if (finder_make(&f, &which)) {
    double price = 0;
    NetworkLimit within = {f.allowed > 0 ? finder_weights(&f) : NULL, f.allowed, &price, 0};
    const NetworkLimit *l = f.allowed > 0 ? &within : NULL;
    NetworkAnswer x = network_forests(f.n, l, forests), y = {0};
    const uint32_t *from = known && known->cost < x.sum ? values_of(&f, known) : x.value;
    if (from && balls > 0) y = network_balls(f.n, l, from, balls);
    if (y.value && y.sum < x.sum) x.value = y.value, x.sum = y.sum;
    x.work += y.work;
    if (x.value) p = placing_of(a, &f, &x);
  }
  arena_free(work);
  return p;
}
