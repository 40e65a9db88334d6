/* plan/placing_fit.c - prices of memory, up and down. */
#include "placing_fit.h"

#include <math.h>
#include <string.h>

enum { ROUNDS_UP = 8, ROUNDS_LEAST = 12, ROUNDS_DOWN = 6 };

typedef struct Fitting {
  Arena *arena;
  PlaceGraph g;              /* with a cost of its own */
  PlaceCost cost;
  const Lives *l;
  int64_t sites;
  const PartVectors *only;
  double budget, limit;
  size_t n;                  /* steps and phases, */
  double *weight, *price, *by; /*   and of each: what it counts; that times the price of a byte; bytes of the last plan */
  PlaceFit best;
} Fitting;

/* Looks for the best with this price of a byte, and keeps it if it is better than what there was. Gives whether it fits. */
static bool look(Fitting *x, double price) {
  uint32_t which;
  for (size_t k = 0; k < x->n; k++) x->price[k] = price * x->weight[k];
  Placing *p = placing_search(x->arena, &x->g, x->sites, x->only, x->budget, &which);
  SiteMemory m = placing_memory(&x->g, x->l, p, x->by);
  p->cost = x->cost.seconds ? p->seconds : p->bytes;
  if (m.bytes < x->best.memory.bytes) x->best.smallest = p, x->best.memory = m;
  bool fits = m.bytes <= x->limit;
  if (fits && (!x->best.placing || p->cost < x->best.placing->cost)) x->best.placing = p;
  return fits;
}

/* Steps that are over count, the more the further. */
static void weigh(Fitting *x) {
  for (size_t k = 0; k < x->n; k++)
    if (x->by[k] > x->limit) x->weight[k] += x->by[k] / x->limit;
}

/* Steps near the largest count ever more. */
static void weigh_largest(Fitting *x) {
  double most = 0, sum = 0;
  for (size_t k = 0; k < x->n; k++) most = x->by[k] > most ? x->by[k] : most;
  for (size_t k = 0; k < x->n; k++) sum += x->weight[k] *= exp(8 * (x->by[k] / most - 1));
  for (size_t k = 0; k < x->n; k++) x->weight[k] /= sum;
}

static void look_for_least(Fitting *x) {
  x->cost.memory_only = true;
  for (size_t k = 0; k < x->n; k++) x->weight[k] = 1;
  for (uint32_t round = 0; round < ROUNDS_LEAST && !x->best.placing; round++) {
    look(x, 1);
    weigh_largest(x);
  }
  x->cost.memory_only = false;
}

PlaceFit placing_fit(Arena *a, const PlaceGraph *g, const Lives *l, int64_t sites, const PartVectors *only, double budget, double limit,
                     Placing *free) {
  Fitting x = {.arena = a, .g = *g, .l = l, .sites = sites, .only = only, .budget = budget, .limit = limit, .n = (size_t)l->steps * PHASES};
  x.cost = (PlaceCost){.seconds = g->cost ? g->cost->seconds : NULL, .lives = l};
  x.g.cost = &x.cost;
  x.weight = NEW_ARRAY(a, double, x.n);
  x.price = NEW_ARRAY(a, double, x.n);
  x.by = NEW_ARRAY(a, double, x.n);
  x.cost.price = x.price;
  x.best = (PlaceFit){.smallest = free, .memory = placing_memory(g, l, free, x.by)};
  double low = 0, high = (free->cost > 0 ? free->cost : 1e-6) / x.best.memory.bytes / 8;
  bool fits = false;
  for (uint32_t round = 0; round < ROUNDS_UP && !fits; round++) {
    if (round) low = high, high *= 8;
    weigh(&x);
    fits = look(&x, high);
  }
  if (!fits) look_for_least(&x);
  for (uint32_t round = 0; round < ROUNDS_DOWN && fits; round++) {
    double middle = low > 0 ? sqrt(low * high) : high / 8;
    if (look(&x, middle)) high = middle;
    else low = middle;
  }
  return x.best;
}

/* ---- what binds --------------------------------------------------------------------------------------------- */

uint32_t memory_binds(const PlaceGraph *g, const Lives *l, const Placing *p, const SiteMemory *at, double *bytes) {
  uint32_t binds = at->step < g->part->vertices.len ? at->step : 0;
  double most = 0;
  Arena *work = arena_new();
  double *share = NEW_ARRAY(work, double, g->tensors.len + 1), times;
  for (uint32_t k = 0; k < l->all.len; k++) {
    const Life *x = &l->all.at[k];
    if (x->from <= at->step && at->step <= x->to) share[x->tensor] += x->times * placement_bytes(&g->tensors.at[x->tensor], &p->mesh, &p->home[x->tensor]);
  }
  if (at->step < g->part->vertices.len && g->part->vertices.at[at->step].node->kind == EIN_VERTEX) {
    Placement between, made = placing_made(g, p, at->step, &between);
    share[at->step] += placement_bytes(&g->tensors.at[at->step], &p->mesh, at->phase == PHASE_HOME ? &p->home[at->step] : &made);
    for (uint32_t k = 0; at->phase == PHASE_KERNEL && k < g->part->vertices.at[at->step].reads.len; k++) {
      uint32_t t = g->tensor[at->step][k];
      Placement to = placing_wanted(g, p, at->step, k, &times);
      if (!placement_within(&p->mesh, &p->home[t], &to)) share[t] += placement_bytes(&g->tensors.at[t], &p->mesh, &to);
    }
  }
  for (uint32_t t = 0; t < g->tensors.len; t++)
    if (share[t] > most) most = share[t], binds = t;
  *bytes = most;
  arena_free(work);
  return binds;
}
