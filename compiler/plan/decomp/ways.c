/* plan/decomp/ways.c - limits the number of partition vectors of tensors with many labels. In: a PartGraph, the
 * number of sites, and fixed counts (0: free). Out: more counts fixed at 1, for the shortest labels, until the cost
 * tables between readers and makers have a size that fits. Where they fit anyway, nothing changes. */
#include "plan/plan.h"

static const double WAYS_LEAST = 50, TABLES_MOST = 1e8; /* vectors of a tensor, at least; table entries, at most */

typedef struct Pair { double reader, maker; uint32_t rank; } Pair; /* distinguishable ways of a read's two sides */

/* In how many ways the vertex's vectors cut these labels, with one more label that takes the rest of the calls. */
static double ways_seen(Arena *a, const PartVertex *v, int64_t sites, uint32_t rank, const int32_t *label) {
  int64_t *most = NEW_ARRAY(a, int64_t, rank + 1);
  bool *seen = NEW_ARRAY(a, bool, v->n_label + 1);
  PartVertex part = {.n_label = 1, .most = most};
  most[0] = sites;
  for (uint32_t k = 0; k < rank; k++) {
    if (label[k] < 0 || seen[label[k]]) continue;
    seen[label[k]] = true;
    most[part.n_label++] = v->most[label[k]];
  }
  return part_ways(&part, sites, NULL);
}

static double least(double x, double y) { return x < y ? x : y; }

/* Reads with the same key share a table. */
static MemoEntry *read_find(Arena *a, Memo *seen, const PartRead *r, double reader, double maker) {
  int64_t *key = NEW_ARRAY(a, int64_t, 3 * (size_t)r->rank + 2), *at = key;
  *at++ = (int64_t)reader;
  *at++ = (int64_t)maker;
  for (uint32_t k = 0; k < r->rank; k++) *at++ = r->extent[k], *at++ = r->label[k], *at++ = r->made[k];
  return memo_get(seen, key, (size_t)(at - key) * sizeof *key);
}

static Pair *pairs_find(Arena *a, const PartGraph *g, int64_t sites, const double *ways, uint32_t *n) {
  VEC(Pair) all = {0};
  Memo seen = memo_new(a);
  for (uint32_t i = 0; i < g->vertices.len; i++) {
    const PartVertex *v = &g->vertices.at[i];
    vec_each(const PartRead, r, v->reads) {
      if (r->from < 0) continue;
      MemoEntry *e = read_find(a, &seen, r, least(ways[i], 1e18), least(ways[r->from], 1e18));
      if (e->value) continue;
      Pair p = {least(ways[i], ways_seen(a, v, sites, r->rank, r->label)),
                  least(ways[r->from], ways_seen(a, &g->vertices.at[r->from], sites, r->rank, r->made)), r->rank + 1};
      e->value = g->arena;
      vec_push(a, all, p);
    }
  }
  *n = all.len;
  return all.at;
}

static double tables(const Pair *p, uint32_t n, double most) {
  double all = 0;
  for (uint32_t i = 0; i < n; i++) all += least(p[i].reader, most) * least(p[i].maker, most) * p[i].rank;
  return all;
}

/* Fixes the shortest free label (the last of equals) at 1 until at most `most` ways are left. */
static void hold_short(const PartVertex *v, int64_t sites, double most, uint32_t *count) {
  while (part_ways(v, sites, count) > most) {
    uint32_t shortest = UINT32_MAX;
    for (uint32_t l = 0; l < v->n_label; l++)
      if (!count[l] && v->most[l] > 1 && (shortest == UINT32_MAX || v->most[l] <= v->most[shortest])) shortest = l;
    if (shortest == UINT32_MAX) return;
    count[shortest] = 1;
    if (part_ways(v, sites, count) > 0) continue;
    count[shortest] = 0; /* what is fixed already leaves it no choice */
    return;
  }
}

bool part_narrow(Arena *a, const PartGraph *g, int64_t sites, double most, uint32_t **count) {
  uint32_t len = g->vertices.len, n;
  double *ways = NEW_ARRAY(a, double, len + 1);
  bool narrow = false;
  for (uint32_t i = 0; i < len; i++) ways[i] = part_ways(&g->vertices.at[i], sites, count[i]);
  const Pair *pairs = pairs_find(a, g, sites, ways, &n);
  while (most > WAYS_LEAST && tables(pairs, n, most) > TABLES_MOST) most = most / 2;
  for (uint32_t i = 0; i < len; i++) {
    if (ways[i] <= most) continue;
    if (!count[i]) count[i] = NEW_ARRAY(a, uint32_t, g->vertices.at[i].n_label + 1);
    hold_short(&g->vertices.at[i], sites, most, count[i]);
    narrow = true;
  }
  return narrow;
}
