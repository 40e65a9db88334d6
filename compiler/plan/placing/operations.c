/* plan/placing/operations.c - counts the operations of each site: of blocks that predicates cut, and of unequal blocks,
 * each block by itself.
 *
 * Equations that are alike, as those of equal layers, are counted once. On more than PLACING_LOOKED sites, each site
 * counts as if it had the largest block of every equation. */
#include <math.h>
#include <string.h>

#include "expr/prove/boxes.h"
#include "inside.h"

enum { PARTS = 8 * BOXES_USUAL }; /* a budget for all blocks of a vertex (let_through.h) */

typedef struct Counted {     /* vertices with equal extents, predicates and cuts */
  double *points;            /* by site */
  double most;               /*   and the most of them */
} Counted;

static bool even(const PartVertex *v, const uint32_t *count) {
  for (uint32_t l = 0; l < v->n_label; l++)
    if (v->extent[l] % count[l]) return false;
  return !v->ties;
}

/* Predicates decide by labels; where data decide, ties still say how many points of a label are left. */
static double points_of(const PartVertex *v, const int64_t *low, const int64_t *high, Boxes *boxes) {
  double values[GRAPH_LABELS + 1];
  for (uint32_t l = 0; l < v->n_label; l++) values[l] = (double)(high[l] - low[l]);
  double points = part_points_of(v, values);
  if (!v->ties || points <= 0) return points;
  return fmin(points, boxes_next(boxes, low, high));
}

/* The number of a site's block among those of the vertex. */
static uint32_t block_at(const Mesh *m, const int8_t *label, const uint32_t *at) {
  uint32_t k = 0;
  for (uint32_t a = 0; a < m->n; a++)
    if (label[a] >= 0) k = k * m->size[a] + at[a];
  return k;
}

static void points_find(Arena *a, const PartVertex *v, const Mesh *m, const int8_t *label, Counted *c) {
  int64_t low[GRAPH_LABELS + 1], high[GRAPH_LABELS + 1];
  uint32_t at[MESH_AXES], sites = (uint32_t)mesh_sites(m);
  const Expr *predicate[] = {v->node->sum->where, v->node->sum->domain};
  Boxes boxes = boxes_new(a, v->n_label, COUNT(predicate), predicate, PARTS);
  double *known = NEW_ARRAY(a, double, sites); /* by block: its points + 1; 0: not counted yet */
  Placement p;
  memcpy(p.on, label, m->n);
  c->points = NEW_ARRAY(a, double, sites);
  for (uint32_t i = 0; i < sites; i++) {
    mesh_place(m, i, at);
    uint32_t k = block_at(m, label, at);
    if (known[k] <= 0) {
      placement_box(m, &p, v->n_label, v->extent, at, low, high);
      known[k] = points_of(v, low, high, &boxes) + 1;
    }
    c->points[i] = known[k] - 1;
    c->most = fmax(c->most, c->points[i]);
  }
}

static Counted *counted_get(Arena *a, Memo *seen, const PartVertex *v, const Mesh *m, const int8_t *label) {
  Buf key = buf_new(a);
  const Expr *predicate[] = {v->node->sum->where, v->node->sum->domain};
  buf_add(&key, (const char *)predicate, sizeof predicate);
  buf_add(&key, (const char *)v->extent, v->n_label * sizeof *v->extent);
  buf_add(&key, (const char *)label, m->n);
  MemoEntry *e = memo_get(seen, key.s, key.len);
  if (!e->value) points_find(a, v, m, label, e->value = NEW(a, Counted));
  return e->value;
}

double placing_operations(const PlaceGraph *g, const Placing *p, const double *point, double *most) {
  Arena *a = arena_new();
  const Mesh *m = &p->mesh;
  int64_t sites = mesh_sites(m);
  bool each = sites <= PLACING_LOOKED;
  double equal = 0, busiest = 0, *site = NEW_ARRAY(a, double, each ? sites : 1);
  Memo seen = memo_new(a);
  for (uint32_t i = 0; i < g->part->vertices.len; i++) {
    const PartVertex *v = &g->part->vertices.at[i];
    uint32_t *count = NEW_ARRAY(a, uint32_t, v->n_label + 1);
    if (v->node->kind != EIN_VERTEX) continue;
    placing_counts(g, p, i, count);
    if (!each || even(v, count)) {
      equal += most[i] = point[i] * part_points(v, count);
      continue;
    }
    const Counted *c = counted_get(a, &seen, v, m, p->label[i]);
    most[i] = point[i] * c->most;
    for (int64_t k = 0; k < sites; k++) site[k] += point[i] * c->points[k];
  }
  for (int64_t k = 0; each && k < sites; k++) busiest = fmax(busiest, site[k]);
  arena_free(a);
  return equal + busiest;
}
