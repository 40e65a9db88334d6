/* tests/plan/random_graph.h - random graphs as planners see them. */
#ifndef RANDOM_GRAPH_H
#define RANDOM_GRAPH_H

#include "plan/partition.h"

static uint64_t random_state = 1;

static uint32_t below(uint32_t n) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(random_state >> 33) % n;
}

typedef int64_t Extent(void); /* draws one */

static void random_read(Arena *a, PartGraph *g, PartVertex *v, uint32_t vertex, Extent *extent_of) {
  PartRead r = {.from = vertex && below(4) ? (int32_t)below(vertex) : -1, .call = below(8) > 0, .times = 1 + below(3)};
  const PartVertex *m = r.from < 0 ? NULL : &g->vertices.at[r.from];
  r.rank = m ? m->n_out : below(3);
  EinNode *node = NEW(a, EinNode);
  *node = (EinNode){.kind = m ? EIN_VERTEX : EIN_INPUT, .rank = r.rank, .param = below(2)};
  r.node = node;
  int64_t *extent = NEW_ARRAY(a, int64_t, r.rank + 1);
  int32_t *label = NEW_ARRAY(a, int32_t, r.rank + 1), *made = NEW_ARRAY(a, int32_t, r.rank + 1);
  for (uint32_t k = 0; k < r.rank; k++) {
    extent[k] = m ? m->extent[k] : extent_of();
    label[k] = v->n_label && below(8) ? (int32_t)below(v->n_label) : -1;
    made[k] = m && below(8) ? (int32_t)k : -1;
  }
  r.extent = extent, r.label = label, r.made = made;
  vec_push(a, v->reads, r);
}

/* At most so many vertices, with up to four labels. */
static PartGraph *random_graph(Arena *a, uint32_t most, Extent *extent_of) {
  PartGraph *g = NEW(a, PartGraph);
  uint32_t n = 1 + below(most);
  g->arena = a;
  for (uint32_t i = 0; i < n; i++) {
    PartVertex v = {.name = "a vertex", .n_label = below(5), .times = 1 + below(3), .point = 1 + below(5)};
    int64_t *extent = NEW_ARRAY(a, int64_t, v.n_label + 1);
    for (uint32_t l = 0; l < v.n_label; l++) extent[l] = extent_of();
    v.n_out = v.n_label ? below(v.n_label + 1) : 0;
    v.extent = v.most = extent;
    for (uint32_t k = below(4); k-- > 0;) random_read(a, g, &v, i, extent_of);
    vec_push(a, g->vertices, v);
  }
  return g;
}

#endif
