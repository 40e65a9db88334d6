/* tests/plan/test_realise.c - counts of the EinDecomp paper's planners on meshes: they come out as they are, and what
 * moves is next to what the best axes and homes move. */
#include <math.h>
#include <string.h>

#include "plan/placing/placing.h"
#include "random_graph.h"
#include "tap.h"

static PlaceGraph *graph_draw(Arena *a, uint32_t most, Extent *extent_of) {
  PartGraph *part = random_graph(a, most, extent_of);
  EinNode *node = NEW(a, EinNode);
  node->kind = EIN_VERTEX;
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    part->vertices.at[i].node = node;
    for (uint32_t k = 0; k < part->vertices.at[i].reads.len; k++) part->vertices.at[i].reads.at[k].call = true;
  }
  return place_graph(a, part);
}

/* A vector of each vertex; by vertex, alone, for a search among them. */
static const uint32_t **vectors_draw(Arena *a, const PartGraph *g, int64_t sites, PartVectors *only) {
  const uint32_t **d = NEW_ARRAY(a, const uint32_t *, g->vertices.len + 1);
  for (uint32_t i = 0; i < g->vertices.len; i++) {
    PartVectors all = part_viable(a, &g->vertices.at[i], sites, NULL);
    d[i] = all.at + (size_t)below(all.n) * all.n_label;
    only[i] = (PartVectors){1, all.n_label, d[i]};
  }
  return d;
}

/* As often as they say, or where that is not so, less. */
static bool counts_held(
    Arena *a, const PlaceGraph *g, const Placing *p, const uint32_t *const *d, const bool *exactly) {
  for (uint32_t i = 0; i < g->part->vertices.len; i++) {
    uint32_t n = g->part->vertices.at[i].n_label, *count = NEW_ARRAY(a, uint32_t, n + 1);
    bool same = true;
    placing_counts(g, p, i, count);
    for (uint32_t l = 0; l < n; l++) {
      if (count[l] > d[i][l]) return false;
      same &= count[l] == d[i][l];
    }
    if (same != exactly[i]) return false;
  }
  return true;
}

static bool homes_have_room(const PlaceGraph *g, const Placing *p) {
  for (uint32_t t = 0; t < g->tensors.len; t++)
    for (uint32_t k = 0; k < g->tensors.at[t].n; k++)
      if (placement_count(&p->mesh, &p->home[t], (int8_t)k) > g->tensors.at[t].most[k]) return false;
  return true;
}

/* Powers of two, on so many sites: all counts can be had. */
static int64_t large(void) { return below(4) ? 64 << below(3) : 1; }
static int64_t any(void) { return 1 + below(40); }

static void against_best(int64_t sites, uint32_t rounds) {
  uint32_t held = 0, exact = 0, best = 0, worse = 0;
  double ours = 0, least = 0;
  for (uint32_t round = 0; round < rounds; round++) {
    Arena *a = arena_new();
    uint32_t which;
    PlaceGraph *g = graph_draw(a, 6, large);
    PartVectors *only = NEW_ARRAY(a, PartVectors, g->part->vertices.len + 1);
    bool *exactly = NEW_ARRAY(a, bool, g->part->vertices.len + 1);
    const uint32_t **d = vectors_draw(a, g->part, sites, only);
    Placing *p = placing_realise(a, g, sites, d, 1e9, exactly);
    Placing *q = placing_find(a, g, &p->mesh, only, 1e9, INFINITY, &which);
    bool all = true;
    for (uint32_t i = 0; i < g->part->vertices.len; i++) all &= exactly[i];
    held += counts_held(a, g, p, d, exactly) && homes_have_room(g, p);
    exact += all;
    best += p->bytes <= q->bytes;
    worse += p->bytes < q->bytes * (1 - 1e-9);
    ours += p->bytes;
    least += q->bytes;
    arena_free(a);
  }
  OK_INT(held, rounds, "on %d sites counts are as they were", (int)sites);
  OK_INT(exact, rounds, "all of them, and homes have room");
  OK_INT(worse, 0, "nothing moves less than the best");
  OK(best >= rounds * 85 / 100 && ours <= 1.002 * least, "the best in %u of %u, %.4f of it in all", best, rounds,
      ours / least);
}

/* Any sizes and sites: what cannot be had is less. */
static void any_counts(void) {
  static const int64_t sites[] = {1, 7, 12, 30, 97, 360, 4096, 65536, 2147483647};
  uint32_t held = 0, all = 0;
  for (uint32_t round = 0; round < 20 * COUNT(sites); round++, all++) {
    Arena *a = arena_new();
    int64_t n = sites[round % COUNT(sites)];
    PlaceGraph *g = graph_draw(a, 4, any);
    PartVectors *only = NEW_ARRAY(a, PartVectors, g->part->vertices.len + 1);
    bool *exactly = NEW_ARRAY(a, bool, g->part->vertices.len + 1);
    const uint32_t **d = vectors_draw(a, g->part, n, only);
    Placing *p = placing_realise(a, g, n, d, 1e8, exactly);
    held += mesh_sites(&p->mesh) == n && counts_held(a, g, p, d, exactly) && homes_have_room(g, p);
    arena_free(a);
  }
  OK_INT(held, all, "on 1 to 2147483647 sites no count is larger, and it is said which are smaller");
}

int main(void) {
  against_best(8, 300);
  against_best(16, 100);
  any_counts();
  return DONE();
}
