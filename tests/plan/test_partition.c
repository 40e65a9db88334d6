/* tests/plan/test_partition.c - partition vectors, their costs as worked out by hand, and the exact planner against
 * trying all. */
#include <math.h>

#include "base/diag.h"
#include "plan/network/network.h"
#include "plan/decomp/planners.h"
#include "random_graph.h"
#include "tap.h"

/* ---- costs ------------------------------------------------------------------------------------------- */

static const int64_t eights[] = {8, 8, 8, 8};

/* Z[i,k] = sum[j] X[i,j] * Y[j,k]: labels i, k, j. */
static PartGraph *product(Arena *a, const int64_t *extent) {
  static const int32_t x[] = {0, 2}, y[] = {2, 1};
  PartGraph *g = NEW(a, PartGraph);
  PartVertex v = {.n_label = 3, .n_out = 2, .extent = extent, .most = extent, .times = 1};
  int64_t *ex = NEW_ARRAY(a, int64_t, 2), *ey = NEW_ARRAY(a, int64_t, 2);
  g->arena = a;
  for (int k = 0; k < 2; k++) ex[k] = extent[x[k]], ey[k] = extent[y[k]];
  vec_push(a, v.reads, ((PartRead){.from = -1, .rank = 2, .extent = ex, .label = x, .call = true, .times = 1}));
  vec_push(a, v.reads, ((PartRead){.from = -1, .rank = 2, .extent = ey, .label = y, .call = true, .times = 1}));
  vec_push(a, g->vertices, v);
  return g;
}

static void costs(void) {
  Arena *a = arena_new();
  const PartVertex *v = &product(a, eights)->vertices.at[0];
  OK_INT((int64_t)part_join(v, (uint32_t[]){4, 4, 1}), 512, "join of 4 by 4 calls");
  OK_INT((int64_t)part_aggregate(v, (uint32_t[]){4, 4, 1}), 0, "nothing to bring together");
  OK_INT((int64_t)part_aggregate(v, (uint32_t[]){2, 4, 2}), 64, "two partial results a block");
  OK_INT((int64_t)part_move(2, eights, (uint32_t[]){4, 1}, (uint32_t[]){2, 4}), 320, "rows of 8 from blocks of 4 by 2");
  OK_INT((int64_t)part_move(2, eights, (uint32_t[]){1, 1}, (uint32_t[]){2, 2}), 240, "blocks to the whole");
  OK_INT((int64_t)part_move(2, eights, (uint32_t[]){2, 2}, (uint32_t[]){1, 1}), 256, "the whole to blocks");
  OK_INT((int64_t)part_move(2, eights, (uint32_t[]){2, 4}, (uint32_t[]){2, 4}), 0, "as it was");
  static const int64_t uneven[] = {14588};
  OK_INT((int64_t)part_move(1, uneven, (uint32_t[]){4}, (uint32_t[]){8}), 4 * (3647 + 1824),
      "blocks that are not quite halves, put together");
  OK_INT((int64_t)part_move(1, uneven, (uint32_t[]){8}, (uint32_t[]){4}), 3647 * 8, "uneven blocks, split");
  OK_INT((int64_t)part_move(1, uneven, (uint32_t[]){8}, (uint32_t[]){8}), 0, "uneven blocks as they were");
  arena_free(a);
}

static PartVectors viable_of(Arena *a, uint32_t n, const int64_t *most, int64_t p) {
  PartVertex v = {.n_label = n, .n_out = n, .extent = most, .most = most};
  return part_viable(a, &v, p, NULL);
}

static void viable(void) {
  Arena *a = arena_new();
  static const int64_t large[] = {4096, 4096, 4096, 4096, 4096, 4096}, small[] = {3, 2};
  OK_INT(viable_of(a, 6, large, 1024).n, 3003, "2^10 over six labels");
  OK_INT(viable_of(a, 3, eights, 8).n, 10, "8 over three labels");
  OK_INT(viable_of(a, 3, large, 12).n, 18, "12 over three labels");
  OK_INT(viable_of(a, 0, large, 8).n, 1, "no label, one call");
  PartVertex pinned = {.n_label = 3, .n_out = 3, .extent = eights, .most = eights};
  OK_INT(part_viable(a, &pinned, 8, (uint32_t[]){0, 2, 0}).n, 3, "8 with a label cut into 2");
  OK_INT(part_calls(&pinned, 8, (uint32_t[]){0, 3, 0}), 6, "with one into 3, 6 calls");
  OK_INT(part_viable(a, &pinned, 8, (uint32_t[]){0, 3, 3}).n, 0, "9 calls are too many");
  OK_INT(part_viable(a, &pinned, 16, (uint32_t[]){0, 9, 0}).n, 0, "9 blocks of 8 points are refused");
  PartVectors v = viable_of(a, 2, small, 7);
  OK(v.n == 1 && v.at[0] == 3 && v.at[1] == 2, "3 by 2 is all that there is");
  v = viable_of(a, 2, small, 5);
  OK(v.n == 1 && v.at[0] == 2 && v.at[1] == 2, "5 calls there are not, 4 there are");
  arena_free(a);
}

static void products(void) {
  static const struct { int64_t p; double least; } want[] = {{2, 192}, {4, 256}, {8, 320}, {16, 448}};
  Arena *a = arena_new();
  PartGraph *g = product(a, eights);
  for (size_t i = 0; i < COUNT(want); i++) {
    PartVectors v = part_viable(a, &g->vertices.at[0], want[i].p, NULL);
    PartChoice x;
    plan_exact(a, g, &v, 1e9, &x);
    OK(x.cost.all == want[i].least && x.bound == x.cost.all, "8 by 8 by 8 at p = %d", (int)want[i].p);
  }
  arena_free(a);
}

static int64_t small_extent(void) {
  return 1 + below(40);
}

/* ---- the exact planner, and trying all ------------------------------------------------------------------ */

typedef struct All { const PartGraph *g; const PartVectors *v; const uint32_t **d; double least; } All;

static void try_all(All *x, uint32_t vertex) {
  if (vertex == x->g->vertices.len) {
    double cost = part_cost(x->g, x->d).all;
    if (cost < x->least) x->least = cost;
    return;
  }
  for (uint32_t i = 0; i < x->v[vertex].n; i++) {
    x->d[vertex] = x->v[vertex].at + (size_t)i * x->v[vertex].n_label;
    try_all(x, vertex + 1);
  }
}

/* With little work allowed the bound is none above the least, and the choice none below. */
static void against_all(void) {
  uint32_t graphs = 0, exact = 0, bounded = 0, tight = 0, hand = 0;
  for (uint32_t round = 0; round < TRIES(4000); round++) {
    Arena *a = arena_new();
    PartGraph *g = random_graph(a, 6, small_extent);
    int64_t p = 2 + below(15);
    PartVectors *v = NEW_ARRAY(a, PartVectors, g->vertices.len);
    double ways = 1;
    for (uint32_t i = 0; i < g->vertices.len; i++) ways *= (v[i] = part_viable(a, &g->vertices.at[i], p, NULL)).n;
    All all = {g, v, NEW_ARRAY(a, const uint32_t *, g->vertices.len), INFINITY};
    PartChoice x, loose, other;
    Buf why = buf_new(a);
    if (ways > 100000) { arena_free(a); continue; }
    graphs++;
    try_all(&all, 0);
    plan_exact(a, g, v, 1e9, &x);
    plan_exact(a, g, v, 50, &loose);
    exact += x.cost.all == all.least && x.bound == all.least;
    bounded += loose.bound <= all.least && loose.cost.all >= all.least;
    tight += loose.bound == all.least;
    bool fine = true;
    for (int k = PLANNER_LINEAR; k < PLANNERS; k++)
      fine &= part_plan(a, g, v, (Planner)k, 1e9, &other, &why) && other.cost.all >= all.least;
    hand += fine;
    arena_free(a);
  }
  OK(graphs > TRIES(2000), "graphs: %u", graphs);
  OK_INT(exact, graphs, "the exact planner finds the least, and knows it");
  OK_INT(bounded, graphs, "with little work, it is between the bound and the choice");
  OK(tight < graphs, "a small budget leaves a gap somewhere");
  OK_INT(hand, graphs, "no other planner is below the least");
}

int main(void) {
  costs();
  viable();
  products();
  against_all();
  return DONE();
}
