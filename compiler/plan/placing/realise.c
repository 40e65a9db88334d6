/* plan/placing/realise.c - realises on a mesh the counts that were chosen without one: which axes cut which label,
 * and homes, such that little moves.
 *
 * In: by vertex how often each label is cut. Out: a placing with these counts on a mesh with an axis for each prime
 * factor of the sites. Such meshes have many axes, and there are far too many assignments of axes to labels, and
 * homes, to try all. So only a few are looked at: for a vertex all ways if there are not many, else those in which
 * labels take their axes one after the other, in each order; for a tensor the placements in which some way of its
 * maker leaves it or some way of a reader wants it. The network picks the best of these. */
#include <math.h>
#include <string.h>

#include "inside.h"

enum {
  WAYS = 64,                 /* of a vertex */
  HOMES = 160,               /* of a tensor */
  PARTS = 32,                /* labels that are cut, plus the idle part */
  STEPS = 100000             /* before giving up on all ways */
};

typedef VEC(Placement) Placements;

typedef struct Realise {
  Arena *arena;
  const PlaceGraph *g;
  Mesh mesh;
  PlaceWays *label, *home;   /* by vertex, by tensor */
} Realise;

/* ---- a vertex -------------------------------------------------------------------------------------------- */

typedef struct Giving {      /* assigns axes to parts: labels that are cut, and the idle part */
  Realise *x;
  uint32_t n;
  int8_t label[PARTS];       /* by part; PLACE_ALL: idle */
  int64_t left[PARTS];       /* the factor that is still to be cut */
  uint32_t order[PARTS];
  Placement now;
  uint32_t steps;
  Placements all;
} Giving;

/* False: no axes multiply to these counts, or there are too many. */
static bool giving_start(Giving *v, Realise *x, const PartVertex *of, const uint32_t *d) {
  int64_t idle = mesh_sites(&x->mesh);
  *v = (Giving){.x = x};
  for (uint32_t l = 0; l < of->n_label; l++) {
    if (d[l] <= 1) continue;
    if (v->n + 1 == PARTS || l >= INT8_MAX || idle % d[l]) return false;
    idle /= d[l];
    v->label[v->n] = (int8_t)l;
    v->left[v->n++] = d[l];
  }
  if (idle > 1) v->label[v->n] = PLACE_ALL, v->left[v->n++] = idle;
  for (uint32_t a = 0; a < MESH_AXES; a++) v->now.on[a] = PLACE_ALL;
  return true;
}

/* Tries all ways, from axis a on; false: there are more than WAYS, or they are not found soon. Where axes are
 * primes, each finds a part, since the rest of both is the same number. */
static bool give_all(Giving *v, uint32_t a) {
  if (v->steps++ == STEPS) return false;
  if (a == v->x->mesh.n) {
    if (v->all.len == WAYS) return false;
    for (uint32_t k = 0; k < v->n; k++)
      if (v->left[k] > 1) return true;
    vec_push(v->x->arena, v->all, v->now);
    return true;
  }
  bool all = true;
  uint32_t size = v->x->mesh.size[a];
  for (uint32_t k = 0; all && k < v->n; k++) {
    if (v->left[k] % size || v->left[k] < size) continue;
    v->left[k] /= size;
    v->now.on[a] = v->label[k];
    all = give_all(v, a + 1);
    v->left[k] *= size;
  }
  return all;
}

/* Parts take axes in this order; of axes of equal size, the first ones. */
static void give_in_order(Giving *v) {
  int64_t left[PARTS];
  memcpy(left, v->left, sizeof left);
  for (uint32_t a = 0; a < v->x->mesh.n; a++) {
    uint32_t size = v->x->mesh.size[a];
    for (uint32_t i = 0; i < v->n; i++) {
      uint32_t k = v->order[i];
      if (left[k] < size || left[k] % size) continue;
      left[k] /= size;
      v->now.on[a] = v->label[k];
      break;
    }
  }
  for (uint32_t k = 0; k < v->n; k++)
    if (left[k] > 1) return;
  vec_push(v->x->arena, v->all, v->now);
}

/* Tries the first WAYS orders, from part i on; fewer where the first ones tried fit no axes. */
static void give_orders(Giving *v, uint32_t i) {
  if (i == v->n) give_in_order(v), v->steps++;
  for (uint32_t k = i; k < v->n && v->all.len < WAYS && v->steps < STEPS; k++) {
    uint32_t was = v->order[i];
    v->order[i] = v->order[k], v->order[k] = was;
    give_orders(v, i + 1);
    was = v->order[i];
    v->order[i] = v->order[k], v->order[k] = was;
  }
}

/* Finds counts that axes can have, none larger: each axis, the largest first, goes where most is still to be cut. */
static void counts_below(const Realise *x, const PartVertex *v, const uint32_t *d, uint32_t *count) {
  for (uint32_t l = 0; l < v->n_label; l++) count[l] = 1;
  for (uint32_t a = 0; a < x->mesh.n; a++) {
    uint32_t best = v->n_label;
    for (uint32_t l = 0; l < v->n_label && l < INT8_MAX; l++)
      if (d[l] / count[l] >= x->mesh.size[a] && (best == v->n_label || d[l] / count[l] > d[best] / count[best]))
        best = l;
    if (best < v->n_label) count[best] *= x->mesh.size[a];
  }
}

static PlaceWays vertex_ways(Realise *x, const PartVertex *of, const uint32_t *d) {
  Giving v;
  if (!giving_start(&v, x, of, d)) return (PlaceWays){0, NULL};
  if (!give_all(&v, 0)) {
    v.all.len = v.steps = 0;
    for (uint32_t k = 0; k < v.n; k++) v.order[k] = k;
    give_orders(&v, 0);
  }
  return (PlaceWays){v.all.len, v.all.at};
}

/* Returns whether it has the wanted counts. */
static bool label_find(Realise *x, uint32_t i, const uint32_t *d) {
  const PartVertex *v = &x->g->part->vertices.at[i];
  uint32_t *count = NEW_ARRAY(x->arena, uint32_t, v->n_label + 1);
  x->label[i] = vertex_ways(x, v, d);
  if (x->label[i].n) return true;
  counts_below(x, v, d, count);
  x->label[i] = vertex_ways(x, v, count);
  if (x->label[i].n) return false;
  for (uint32_t l = 0; l < v->n_label; l++) count[l] = 1; /* more labels than anyone distinguishes */
  x->label[i] = vertex_ways(x, v, count);
  return false;
}

/* ---- a tensor -------------------------------------------------------------------------------------------- */

/* Axes without room, or that cut no dimension (parts), have copies. */
static Placement home_like(const Realise *x, uint32_t tensor, const Placement *p) {
  const PlaceTensor *t = &x->g->tensors.at[tensor];
  Placement at = *p;
  for (uint32_t a = 0; a < x->mesh.n; a++) {
    int8_t d = at.on[a];
    at.on[a] = PLACE_ALL;
    if (d < 0 || d >= (int)t->n) continue;
    int64_t cut = 1;
    for (uint32_t b = 0; b < a; b++) cut *= at.on[b] == d ? x->mesh.size[b] : 1;
    if (cut * x->mesh.size[a] <= t->most[d]) at.on[a] = d;
  }
  return at;
}

static void home_add(Realise *x, Placements *of, uint32_t tensor, const Placement *p) {
  Placement at = home_like(x, tensor, p);
  for (uint32_t k = 0; k < of[tensor].len; k++)
    if (placement_equal(&x->mesh, &of[tensor].at[k], &at)) return;
  if (of[tensor].len < HOMES) vec_push(x->arena, of[tensor], at);
}

/* As it is made: parts are reduced to every site, or to one share per site. */
static void homes_made(Realise *x, Placements *of, uint32_t i) {
  const PlaceTensor *t = &x->g->tensors.at[i];
  for (uint32_t k = 0; k < x->label[i].n; k++) {
    Placement made = made_at(&x->g->part->vertices.at[i], &x->mesh, x->label[i].at[k].on), all = home_like(x, i, &made);
    Placement shared = place_between(&x->mesh, t->n, t->most, &made, &all);
    home_add(x, of, i, &shared);
    home_add(x, of, i, &all);
  }
}

static void homes_wanted(Realise *x, Placements *of, uint32_t i) {
  const PartVertex *v = &x->g->part->vertices.at[i];
  for (uint32_t r = 0; r < v->reads.len; r++)
    for (uint32_t k = 0; v->reads.at[r].call && k < x->label[i].n; k++) {
      Placement to = wanted_at(&v->reads.at[r], &x->mesh, x->label[i].at[k].on);
      home_add(x, of, x->g->tensor[i][r], &to);
    }
}

/* A state may lie as its values do, and its values as it does. */
static void homes_of_state(Realise *x, Placements *of, uint32_t i) {
  const PartVertex *v = &x->g->part->vertices.at[i];
  for (uint32_t k = 0; k < v->reads.len; k++) {
    const PartRead *r = &v->reads.at[k];
    uint32_t t = x->g->tensor[i][k], n = of[t].len;
    for (uint32_t j = 0; j < n; j++) {
      Placement at = of[t].at[j];
      for (uint32_t a = 0; a < x->mesh.n; a++) {
        int8_t on = at.on[a];
        at.on[a] = PLACE_ALL;
        for (uint32_t d = 0; on >= 0 && d < r->rank; d++)
          if ((r->from < 0 ? (int32_t)d : r->made[d]) == on && r->label[d] >= 0) at.on[a] = (int8_t)r->label[d];
      }
      home_add(x, of, i, &at);
    }
    for (uint32_t j = 0; j < of[i].len; j++) {
      Placement to = wanted_at(r, &x->mesh, of[i].at[j].on);
      home_add(x, of, t, &to);
    }
  }
}

static void homes_find(Realise *x) {
  const PartGraph *part = x->g->part;
  Placements *of = NEW_ARRAY(x->arena, Placements, x->g->tensors.len + 1);
  Placement all;
  memset(all.on, PLACE_ALL, sizeof all.on);
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    if (part->vertices.at[i].node->kind == EIN_VERTEX) homes_made(x, of, i);
    homes_wanted(x, of, i);
  }
  for (uint32_t i = 0; i < part->vertices.len; i++)
    if (part->vertices.at[i].node->kind != EIN_VERTEX) homes_of_state(x, of, i);
  for (uint32_t t = 0; t < x->g->tensors.len; t++) {
    home_add(x, of, t, &all);
    x->home[t] = (PlaceWays){of[t].len, of[t].at};
  }
}

/* ---- entry point ------------------------------------------------------------------------------------------ */

Placing *placing_realise(
    Arena *a, const PlaceGraph *g, int64_t sites, const uint32_t *const *d, double budget, bool *exactly) {
  Arena *work = arena_new();
  PlaceGraph few = *g;
  uint32_t which;
  Realise x = {.arena = work, .g = g, .mesh = g->fixed && g->fixed->mesh ? *g->fixed->mesh : mesh_of_primes(sites)};
  x.label = NEW_ARRAY(work, PlaceWays, g->part->vertices.len + 1);
  x.home = NEW_ARRAY(work, PlaceWays, g->tensors.len + 1);
  for (uint32_t i = 0; i < g->part->vertices.len; i++)
    if (g->part->vertices.at[i].node->kind == EIN_VERTEX) exactly[i] = label_find(&x, i, d[i]);
  homes_find(&x);
  few.label = x.label;
  few.home = x.home;
  Placing *p = placing_find(a, &few, &x.mesh, NULL, budget, INFINITY, &which);
  arena_free(work);
  if (p) p->bound = 0;
  return p;
}
