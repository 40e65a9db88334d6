/* tests/plan/test_placing.c - plans by bytes and seconds: small graphs move, last and take as little memory as trying
 * all finds. */
#include <math.h>

#include "base/diag.h"
#include "plan/placing/fit.h"
#include "plan/placing/reach.h"
#include "choices.h"
#include "random_graph.h"
#include "tap.h"

/* ---- trying all ------------------------------------------------------------------------------------------ */

/* Such that all counts of at most two axes of 2 or 3 divide them. */
static int64_t even_extent(void) {
  return below(4) ? 36 * (1 + below(2)) : 1;
}

static int64_t any_extent(void) {
  return 1 + below(9);
}

typedef struct Try {
  const PlaceGraph *g;
  Placing p;
  double work;               /* of the busiest site, at most */
  const Seconds *seconds;    /* NULL: bytes */
  const Lives *lives;        /* memory is looked at, */
  double limit;              /*   and no more of it is allowed */
  double least, least_memory;
} Try;

/* work: of the vertices before. */
static void try_all(Try *x, uint32_t k, double work) {
  uint32_t vertices = x->g->part->vertices.len;
  if (k == vertices + x->g->tensors.len) {
    double cost = x->seconds ? placing_seconds(x->g, x->seconds, &x->p) : placing_bytes(x->g, &x->p);
    double memory = x->lives ? placing_memory(x->g, x->lives, &x->p, NULL).bytes : 0;
    x->least_memory = memory < x->least_memory ? memory : x->least_memory;
    if (memory <= x->limit) x->least = cost < x->least ? cost : x->least;
    return;
  }
  int8_t *on = k < vertices ? x->p.label[k] : x->p.home[k - vertices].on;
  for (uint32_t a = 0; a < MESH_AXES; a++) on[a] = -1;
  do {
    double with = work + (k < vertices ? work_of(x->g, &x->p.mesh, k, on) : 0);
    if (calls_of(x->g, &x->p.mesh, k, on) && with <= x->work) try_all(x, k + 1, with);
  } while (next_on(x->g, &x->p.mesh, k, on));
}

static double ways_of(Try *x) {
  double ways = 1;
  for (uint32_t k = 0; k < x->g->part->vertices.len + x->g->tensors.len; k++)
    ways *= pow(labels_of(x->g, k) + 1, x->p.mesh.n);
  return ways;
}

static Try try_of(Arena *a, PartGraph *part) {
  EinNode *node = NEW(a, EinNode);
  node->kind = EIN_VERTEX;
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    part->vertices.at[i].node = node;
    for (uint32_t k = 0; k < part->vertices.at[i].reads.len; k++) part->vertices.at[i].reads.at[k].call = true;
  }
  Try x = {.g = place_graph(a, part),
      .p.mesh.n = 1 + below(2),
      .limit = INFINITY,
      .least = INFINITY,
      .least_memory = INFINITY};
  for (uint32_t k = 0; k < x.p.mesh.n; k++) x.p.mesh.size[k] = 2 + below(2);
  x.p.label = NEW_ARRAY(a, int8_t *, part->vertices.len);
  for (uint32_t i = 0; i < part->vertices.len; i++) x.p.label[i] = NEW_ARRAY(a, int8_t, MESH_AXES);
  x.p.home = NEW_ARRAY(a, Placement, x.g->tensors.len);
  x.work = work_most(x.g, &x.p.mesh);
  return x;
}

static void against_all(void) {
  uint32_t graphs = 0, exact = 0, idle = 0;
  for (uint32_t round = 0; round < 20000 && graphs < TRIES(1500); round++) {
    Arena *a = arena_new();
    PartGraph *part = random_graph(a, 3, even_extent);
    Try x = try_of(a, part);
    uint32_t which;
    if (ways_of(&x) < 30000) {
      graphs++;
      try_all(&x, 0, 0);
      Placing *p = placing_find(a, x.g, &x.p.mesh, NULL, 1e9, INFINITY, &which);
      bool same = p && p->bytes == x.least && p->bound <= x.least && x.least - p->bound <= 1e-9 * (x.least + 1);
      if (!same)
        printf("#   round %u: %.17g, bound %.17g, least %.17g\n", round, p ? p->bytes : -1, p ? p->bound : -1, x.least);
      exact += same;
      for (uint32_t i = 0; i < part->vertices.len; i++)
        idle += p && work_of(x.g, &x.p.mesh, i, p->label[i]) > least_work(x.g, &x.p.mesh, i);
    }
    arena_free(a);
  }
  OK(graphs >= TRIES(1000) && idle >= TRIES(100), "graphs: %u, vertices that leave axes idle: %u", graphs, idle);
  OK_INT(exact, graphs, "the least of all, and known to be it");
}

/* Some reads reach further than their block: by a label and another, or a number more; by twice a label; or from the
 * other end. Or their places depend on the turn, so that sites may request them. */
static void with_windows(Arena *a, PartGraph *part, bool asked) {
  Exprs *pool = exprs_new(a);
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    const PartVertex *v = &part->vertices.at[i];
    for (uint32_t k = 0; k < v->reads.len; k++) {
      PartRead *r = &v->reads.at[k];
      const Expr **index = NEW_ARRAY(a, const Expr *, r->rank + 1);
      if (!v->n_label || below(3)) continue;
      for (uint32_t d = 0; d < r->rank; d++) {
        const Expr *l = r->label[d] < 0 ? expr_int(pool, DT_I64, 0) : expr_label(pool, r->label[d]),
                   *by = expr_int(pool, DT_I64, 1 + below(2));
        static const Op op[] = {OP_ADD, OP_SUB, OP_MUL};
        index[d] = expr_op2(pool, op[below(3)], l, below(3) ? by : expr_label(pool, below(v->n_label)));
        if (!asked || below(3)) continue;
        index[d] = expr_op2(pool, OP_ADD, below(2) ? index[d] : l, expr_turn(pool, 0));
        r->asked = r->times;
      }
      r->index = index;
    }
  }
}

/* ---- windows by counts ------------------------------------------------------------------------------------------ */

typedef struct Windows { uint32_t pairs, above, met, nothing; } Windows;

/* One read, for all homes and cuts on the mesh. */
static void windows_try(Arena *a, const Try *x, uint32_t vertex, uint32_t read, Windows *w) {
  const PlaceGraph *g = x->g;
  const Mesh *m = &x->p.mesh;
  uint32_t tensor = g->tensor[vertex][read], k = g->part->vertices.len + tensor;
  Placement home, on;
  const Placement *cut = &on;
  for (uint32_t i = 0; i < MESH_AXES; i++) home.on[i] = PLACE_ALL;
  do {
    PlaceCounts counts = place_counts(a, m, g->tensors.at[tensor].n, &home);
    for (uint32_t i = 0; i < MESH_AXES; i++) on.on[i] = PLACE_ALL;
    if (calls_of(g, m, k, home.on)) do {
      double least;
      if (!calls_of(g, m, vertex, on.on)) continue;
      double bytes = reach_bytes(g, m, vertex, read, &home, on.on);
      reach_costs_least(g, m, vertex, read, 1, &counts, 1, &cut, false, &least);
      w->pairs++;
      w->above += least > bytes * (1 + 1e-9);
      w->met += least > 0 && least >= bytes * (1 - 1e-9);
      w->nothing += bytes <= 0;
    } while (next_on(g, m, vertex, on.on));
  } while (next_on(g, m, k, home.on));
}

/* Whatever axes cut, a read's windows move no less than their counts say; and nearly always no more. */
static void windows_by_counts(Extent *extent, const char *what, bool asked, uint32_t percent) {
  Windows w = {0};
  for (uint32_t round = 0; round < 3000 && w.pairs < 15 * TRIES(2000); round++) {
    Arena *a = arena_new();
    PartGraph *part = random_graph(a, 2, extent);
    with_windows(a, part, asked);
    Try x = try_of(a, part);
    for (uint32_t i = 0; ways_of(&x) < 1e6 && i < part->vertices.len; i++)
      for (uint32_t k = 0; k < part->vertices.at[i].reads.len; k++)
        if (part->vertices.at[i].reads.at[k].index) windows_try(a, &x, i, k, &w);
    arena_free(a);
  }
  OK(w.pairs >= 15 * TRIES(2000), "%s: windows of %u homes and cuts", what, w.pairs);
  OK_INT(w.above, 0, "none moves less than its counts say");
  OK(w.met * 100 >= (w.pairs - w.nothing) * percent, "of %u that move, %u are met", w.pairs - w.nothing, w.met);
}

/* ---- seconds -------------------------------------------------------------------------------------------------- */

/* A machine with a level an axis, the outer one slower; latencies, rates and work such that each counts in some graphs.
 */
static Seconds *random_seconds(Arena *a, const PartGraph *part, const Mesh *mesh) {
  Machine *m = NEW(a, Machine);
  int64_t *used = NEW_ARRAY(a, int64_t, 3);
  Computing *computing = NEW_ARRAY(a, Computing, part->vertices.len);
  Seconds *s = NEW(a, Seconds);
  used[0] = 1;
  vec_push(a, m->levels, ((MachineLevel){.name = "site", .parts = 1}));
  for (uint32_t k = mesh->n; k-- > 0;) {
    MachineLevel l = {.name = k ? "node" : "rack", .parts = mesh->size[k]};
    l.link_latency.value = 1e-6 * (1 + below(20));
    l.link.value = 1e7 / (1 + below(4)) / (1 + below(4));
    used[m->levels.len] = l.parts;
    vec_push(a, m->levels, l);
  }
  for (uint32_t i = 0; i < part->vertices.len; i++) computing[i].seconds = 1e-7 * below(9);
  *s = (Seconds){.machine = m, .sites = mesh_sites(mesh), .used = used, .memory = 1e8, .computing = computing};
  return s;
}

static void seconds_against_all(void) {
  uint32_t graphs = 0, exact = 0, idle = 0;
  for (uint32_t round = 0; round < 4000 && graphs < TRIES(400); round++) {
    Arena *a = arena_new();
    PartGraph *part = random_graph(a, 3, any_extent);
    if (round % 2) with_windows(a, part, round % 4 == 3);
    Try x = try_of(a, part);
    PlaceGraph g = *x.g;
    PlaceCost cost = {.seconds = random_seconds(a, part, &x.p.mesh)};
    uint32_t which;
    g.cost = &cost;
    x.g = &g, x.seconds = cost.seconds, x.work = INFINITY;
    if (ways_of(&x) < 4000) {
      graphs++;
      try_all(&x, 0, 0);
      Placing *p = placing_find(a, &g, &x.p.mesh, NULL, 1e9, INFINITY, &which);
      bool same = p && fabs(p->seconds - x.least) <= 1e-12 * x.least && p->bound <= p->seconds &&
          p->seconds - p->bound <= 1e-9 * p->seconds;
      if (!same)
        printf(
            "#   round %u: %.17g, bound %.17g, least %.17g\n", round, p ? p->seconds : -1, p ? p->bound : -1, x.least);
      exact += same;
      for (uint32_t i = 0; i < part->vertices.len; i++)
        idle += p && work_of(x.g, &x.p.mesh, i, p->label[i]) > least_work(x.g, &x.p.mesh, i);
    }
    arena_free(a);
  }
  OK(graphs == TRIES(400) && idle >= TRIES(20), "graphs: %u, vertices that leave axes idle: %u", graphs, idle);
  OK_INT(exact, graphs, "the least seconds of all, and known to be it");
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* On a mesh of two axes in both orders, as the search does. */
static void try_orders(Try *x) {
  Mesh other = x->p.mesh;
  bool both = other.n == 2 && other.size[0] != other.size[1];
  if (both) other.size[0] = x->p.mesh.size[1], other.size[1] = x->p.mesh.size[0];
  x->work = fmin(work_most(x->g, &x->p.mesh), work_most(x->g, &other));
  try_all(x, 0, 0);
  if (!both) return;
  Mesh was = x->p.mesh;
  x->p.mesh = other;
  try_all(x, 0, 0);
  x->p.mesh = was;
}

static double smallest_of(const PlaceFits *all) {
  double bytes = INFINITY;
  for (uint32_t i = 0; i < all->len; i++) bytes = fmin(bytes, all->at[i].bytes[PANELS_NONE]);
  return bytes;
}

static const Placing *first_under(const PlaceFits *all, double limit) {
  for (uint32_t i = 0; i < all->len; i++)
    if (all->at[i].bytes[PANELS_NONE] <= limit) return all->at[i].placing;
  return NULL;
}

/* No plan is found with less memory than there is one; and whether the least is found: prices on memory find it in all
 * but one graph of a thousand, and prove nothing. */
static void memory_against_all(void) {
  uint32_t graphs = 0, sound = 0, least = 0, fits = 0, best = 0, half = 0, under = 0;
  random_state = 1; /* the same graphs, however many there were before */
  for (uint32_t round = 0; round < 8000 && graphs < 120 + TRIES(180); round++) {
    Arena *a = arena_new();
    PartGraph *part = random_graph(a, 3, even_extent);
    if (round % 2) with_windows(a, part, round % 4 == 3);
    Try x = try_of(a, part);
    Mesh primes = mesh_of_primes(mesh_sites(&x.p.mesh));
    uint32_t which;
    x.p.mesh = primes;
    x.lives = lives_find(a, x.g);
    if (ways_of(&x) < 4000) {
      graphs++;
      try_orders(&x);
      Placing *p = placing_best(a, x.g, mesh_sites(&primes), NULL, 1e9, &which);
      PlaceFits all = placing_fits(a, x.g, x.lives, mesh_sites(&primes), NULL, 1e9, p);
      double smallest = smallest_of(&all);
      sound += smallest >= x.least_memory;
      least += smallest <= x.least_memory;
      under += memory_least(x.g, mesh_sites(&primes)) <= x.least_memory;
      x.limit = x.least_memory, x.least = INFINITY;
      try_orders(&x);
      const Placing *one = first_under(&all, x.limit);
      fits += one != NULL;
      best += one && one->bytes == x.least;
      x.limit = (x.least_memory + placing_memory(x.g, x.lives, p, NULL).bytes) / 2, x.least = INFINITY;
      try_orders(&x);
      one = first_under(&all, x.limit);
      half += one && one->bytes == x.least;
    }
    arena_free(a);
  }
  OK_INT(sound, graphs, "none takes less than can be");
  OK(least * 1000 >= graphs * 999, "the least memory, as good as always: %u", least);
  OK_INT(under, graphs, "no plan costs less than the bound");
  OK(fits * 1000 >= graphs * 999, "under a limit that allows one, a plan is found: %u", fits);
  /* prices find good plans and prove nothing */
  OK(best * 100 >= graphs * 99, "nearly always it is the best: %u", best);
  OK(half * 100 >= graphs * 99, "it also is where half of the excess is allowed: %u", half);
}

int main(void) {
  against_all();
  windows_by_counts(even_extent, "equal blocks", false, 50);
  windows_by_counts(any_extent, "any blocks", false, 40);
  windows_by_counts(even_extent, "equal blocks, places of a turn", true, 50);
  windows_by_counts(any_extent, "any blocks, places of a turn", true, 40);
  seconds_against_all();
  memory_against_all();
  return DONE();
}
