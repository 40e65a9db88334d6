/* plan/decomp/planners.c - the planners that search: the exact one and the paper's. */
#include "planners.h"

#include <math.h>
#include <string.h>

#include "plan/network/network.h"

const PlannerInfo planner_info[PLANNERS] = {
#define PLANNER(id, name, what) {name, what},
#include "planners.def"
};

bool planner_find(const char *name, Planner *out) {
  for (int k = 0; k < PLANNERS; k++)
    if (strcmp(planner_info[k].name, name) == 0) return *out = (Planner)k, true;
  return false;
}

/* ---- the network of a graph ---------------------------------------------------------------------------- */

typedef struct Cuts {        /* the different ways in which the vectors of a vertex cut a tensor */
  uint32_t n;
  uint32_t *of;              /* by vector */
  const uint32_t **example;  /* by way: a vector that cuts it in this way */
} Cuts;

/* Numbers a pair; `seen` has room for twice the number of pairs. */
static uint32_t pair_number(uint32_t (*seen)[3], uint32_t room, uint32_t a, uint32_t b, uint32_t *n) {
  uint32_t i = hash_mix(hash_mix(3, a), b) & (room - 1);
  while (seen[i][2] && (seen[i][0] != a || seen[i][1] != b)) i = (i + 1) & (room - 1);
  if (!seen[i][2]) seen[i][0] = a, seen[i][1] = b, seen[i][2] = ++*n;
  return seen[i][2] - 1;
}

static Cuts cuts_of(Arena *a, const PartVectors *v, uint32_t rank, const int32_t *label) {
  Cuts c = {1, NEW_ARRAY(a, uint32_t, v->n), NEW_ARRAY(a, const uint32_t *, v->n)};
  uint32_t room = 16;
  while (room < 2 * v->n) room *= 2;
  for (uint32_t k = 0; k < rank; k++) {
    if (label[k] < 0) continue;
    uint32_t (*seen)[3] = arena_alloc(a, sizeof *seen * room);
    c.n = 0;
    for (uint32_t i = 0; i < v->n; i++)
      c.of[i] = pair_number(seen, room, c.of[i], v->at[i * v->n_label + (uint32_t)label[k]], &c.n);
  }
  for (uint32_t i = v->n; i-- > 0;) c.example[c.of[i]] = v->at + (size_t)i * v->n_label;
  return c;
}

/* The cost of a read depends only on this: the same vectors of reader and maker, the same dimensions. */
typedef struct ReadKey {
  const uint32_t *reader, *maker;
  double times;
  uint64_t rank;
  struct { int64_t extent, label, made; } dimension[GRAPH_OUT];
} ReadKey;

typedef struct Builder {
  Arena *arena;
  Network *n;
  const PartVectors *vectors;
  uint32_t *variable;        /* by vertex */
  Memo reads;                /* of a ReadKey: 1 + its cost's number */
} Builder;

static MemoEntry *read_find(Builder *b, const PartRead *r, uint32_t reader) {
  ReadKey *k = MAKE(b->arena, ReadKey, b->vectors[reader].at, b->vectors[r->from].at, r->times, r->rank, {{0, 0, 0}});
  for (uint32_t i = 0; i < r->rank; i++) {
    k->dimension[i].extent = r->extent[i];
    k->dimension[i].label = r->label[i];
    k->dimension[i].made = r->made[i];
  }
  return memo_get(&b->reads, k, offsetof(ReadKey, dimension) + r->rank * sizeof k->dimension[0]);
}

static uint32_t cost_add(const Builder *b, const PartRead *r, uint32_t reader) {
  uint32_t maker = (uint32_t)r->from;
  Arena *a = arena_new();
  Cuts x = cuts_of(a, &b->vectors[reader], r->rank, r->label), y = cuts_of(a, &b->vectors[maker], r->rank, r->made);
  double *cost = NEW_ARRAY(a, double, (size_t)x.n * y.n);
  for (uint32_t i = 0; i < x.n; i++)
    for (uint32_t j = 0; j < y.n; j++)
      cost[(size_t)i * y.n + j] = r->times * part_repartition(r, x.example[i], y.example[j]);
  uint32_t number = network_cost2(b->n, b->variable[reader], x.n, x.of, b->variable[maker], y.n, y.of, cost);
  arena_free(a);
  return number;
}

static void read_add(Builder *b, const PartRead *r, uint32_t reader) {
  MemoEntry *e = read_find(b, r, reader);
  if (e->value)
    network_cost2_like(b->n, (uint32_t)((uintptr_t)e->value - 1), b->variable[reader], b->variable[r->from]);
  else e->value = (void *)((uintptr_t)cost_add(b, r, reader) + 1);
}

static void vertex_add(Builder *b, const PartGraph *g, uint32_t vertex) {
  const PartVertex *v = &g->vertices.at[vertex];
  const PartVectors *vectors = &b->vectors[vertex];
  double *cost = NEW_ARRAY(b->arena, double, vectors->n);
  b->variable[vertex] = network_variable(b->n, vectors->n);
  for (uint32_t i = 0; i < vectors->n; i++) {
    const uint32_t *d = vectors->at + (size_t)i * vectors->n_label;
    cost[i] = v->times * (part_join(v, d) + part_aggregate(v, d));
  }
  network_cost(b->n, b->variable[vertex], cost);
}

static Builder builder_new(Arena *work, const PartGraph *g, const PartVectors *vectors) {
  return (Builder){work, network_new(work), vectors, NEW_ARRAY(work, uint32_t, g->vertices.len + 1), memo_new(work)};
}

static void choice_end(const PartGraph *g, PartChoice *out) {
  out->cost = part_cost(g, out->d);
}

void plan_exact(Arena *a, const PartGraph *g, const PartVectors *vectors, double budget, PartChoice *out) {
  Arena *work = arena_new();
  Builder b = builder_new(work, g, vectors);
  uint32_t len = g->vertices.len;
  for (uint32_t i = 0; i < len; i++) vertex_add(&b, g, i);
  for (uint32_t i = 0; i < len; i++)
    vec_each(const PartRead, r, g->vertices.at[i].reads) {
      if (r->from >= 0) read_add(&b, r, i);
    }
  NetworkAnswer x = network_solve(b.n, budget, INFINITY);
  *out = (PartChoice){.d = NEW_ARRAY(a, const uint32_t *, len + 1), .bound = x.bound};
  for (uint32_t i = 0; i < len; i++) out->d[i] = vectors[i].at + (size_t)x.value[i] * vectors[i].n_label;
  choice_end(g, out);
  arena_free(work);
}

/* ---- path by path ---------------------------------------------------------------------------------------- */

typedef struct Paths {
  const PartGraph *g;
  const PartVectors *vectors;
  PartChoice *out;
  uint32_t *length, *before; /* by vertex: the longest path that ends there: length; predecessor (itself: none) */
} Paths;

static uint32_t path_end(Paths *p) {
  uint32_t best = UINT32_MAX;
  for (uint32_t i = 0; i < p->g->vertices.len; i++) {
    const PartVertex *v = &p->g->vertices.at[i];
    if (p->out->d[i]) continue;
    p->length[i] = 1;
    p->before[i] = i;
    for (uint32_t k = 0; k < v->reads.len; k++) {
      int32_t from = v->reads.at[k].from;
      if (from < 0 || from >= (int32_t)i || p->out->d[from] || p->length[from] < p->length[i]) continue;
      p->length[i] = p->length[from] + 1;
      p->before[i] = (uint32_t)from;
    }
    if (best == UINT32_MAX || p->length[i] > p->length[best]) best = i;
  }
  return best;
}

static void path_plan(Paths *p, uint32_t end) {
  Arena *a = arena_new();
  Builder b = builder_new(a, p->g, p->vectors);
  for (uint32_t i = end;; i = p->before[i]) {
    vertex_add(&b, p->g, i);
    if (p->before[i] == i) break;
  }
  for (uint32_t i = end; p->before[i] != i; i = p->before[i])
    vec_each(const PartRead, r, p->g->vertices.at[i].reads) {
      if (r->from == (int32_t)p->before[i]) read_add(&b, r, i);
    }
  NetworkAnswer x = network_solve(b.n, 1e18, INFINITY);
  for (uint32_t i = end;; i = p->before[i]) {
    p->out->d[i] = p->vectors[i].at + (size_t)x.value[b.variable[i]] * p->vectors[i].n_label;
    if (p->before[i] == i) break;
  }
  arena_free(a);
}

/* Section 8.4: plans the longest path of vertices without a vector by itself, then the next; it ignores reads
 * between paths. */
static void plan_linear(Arena *a, const PartGraph *g, const PartVectors *vectors, PartChoice *out) {
  uint32_t len = g->vertices.len;
  *out = (PartChoice){.d = NEW_ARRAY(a, const uint32_t *, len + 1)};
  Paths p = {g, vectors, out, NEW_ARRAY(a, uint32_t, len + 1), NEW_ARRAY(a, uint32_t, len + 1)};
  for (uint32_t end; (end = path_end(&p)) != UINT32_MAX;) path_plan(&p, end);
  choice_end(g, out);
}

/* ---- everything together --------------------------------------------------------------------------------- */

static bool is_forest(const PartGraph *g, Buf *why) {
  Arena *a = arena_new();
  bool *read = NEW_ARRAY(a, bool, g->vertices.len + 1), ok = true;
  for (uint32_t i = 0; ok && i < g->vertices.len; i++)
    for (uint32_t k = 0; ok && k < g->vertices.at[i].reads.len; k++) {
      int32_t from = g->vertices.at[i].reads.at[k].from;
      if (from < 0) continue;
      if (read[from]) {
        buf_printf(why, "%s is read more than once, and eindecomp-tree is for forests; try eindecomp-linear",
                   g->vertices.at[from].name);
        ok = false;
      }
      read[from] = true;
    }
  arena_free(a);
  return ok;
}

bool part_plan(
    Arena *a, const PartGraph *g, const PartVectors *vectors, Planner who, double budget, PartChoice *out, Buf *why) {
  switch (who) {
  case PLANNER_TREE:
    if (!is_forest(g, why)) return false;
    plan_exact(a, g, vectors, 1e18, out); /* on a forest, elimination is that dynamic program */
    return true;
  case PLANNER_EXACT: plan_exact(a, g, vectors, budget, out); return true;
  case PLANNER_LINEAR: plan_linear(a, g, vectors, out); return true;
  default: plan_by_hand(a, g, vectors, who, out); return true;
  }
}
