/* plan/placing/fit.c - fits a plan into a limit of memory: puts a price on memory, raises it until a plan fits, and
 * lowers it again. */
#include "fit.h"

#include <math.h>
#include <string.h>

#include "inside.h"
#include "reach.h"

enum { ROUNDS_UP = 8, ROUNDS_LEAST = 12, ROUNDS_DOWN = 6, LOOKS = 8 /* each look gets this part of the budget */ };

/* Shares of the budget: by when the rising prices, the least-memory search and everything must end; and by when the
 * least-memory search must where nothing can fit. */
static const double fit_up = 0.1, fit_least = 0.2, fit_all = 0.3, fit_none = 0.05;

typedef struct Fitting {
  Arena *arena;
  PlaceGraph g;              /* with a cost of its own */
  PlaceCost cost;
  const Lives *l;
  int64_t sites;
  const PartVectors *only;
  const PlaceMeasure *measure;
  double budget, limit;
  double scale;              /* for the last plan: the measured memory over what placing_memory says */
  size_t n;                  /* steps and phases, */
  double *weight, *price, *by; /* by step: its weight; that times the price of a byte; bytes of the last plan */
  Placing *last;
  PlaceFit best;
  double work;               /* the cost of changing one choice after the other, in additions */
  double windows;            /* of these, for windows, each time that memory is counted */
  PlaceFixed one;            /* the mesh of the best plan so far, */
  double wide, spent, most;  /* additions: of a search on all meshes; so far; the limit */
} Fitting;

/* Searches on all meshes, or on that of the best plan. */
static Placing *search(Fitting *x) {
  PlaceGraph g = x->g;
  uint32_t which;
  bool wide = x->spent + x->wide <= x->most || (g.fixed && g.fixed->mesh);
  const Placing *best = x->best.placing ? x->best.placing : x->best.smallest;
  x->one.mesh = &best->mesh;
  if (!wide) g.fixed = &x->one;
  Placing *p = placing_best(x->arena, &g, x->sites, x->only, x->budget / (double)LOOKS, &which);
  if (wide && p->effort > x->wide) x->wide = p->effort;
  x->spent += p->effort;
  return p;
}

static double measured(Fitting *x, const Placing *p, const SiteMemory *said) {
  double bytes = x->measure ? x->measure->bytes(x->measure->ctx, p) : said->bytes;
  x->scale = said->bytes > 0 ? bytes / said->bytes : 1;
  return bytes;
}

/* Searches with this price of a byte, and keeps the result if it is better. Returns whether it fits. */
static bool look(Fitting *x, double price) {
  for (size_t k = 0; k < x->n; k++) x->price[k] = price * x->weight[k];
  Placing *p = search(x);
  SiteMemory said = placing_memory(&x->g, x->l, p, x->by);
  double bytes = measured(x, p, &said);
  x->last = p;
  p->cost = x->cost.seconds ? p->seconds : x->cost.paper ? p->elements : p->bytes;
  if (bytes < x->best.memory) x->best.smallest = p, x->best.memory = bytes;
  bool fits = bytes <= x->limit;
  if (fits && (!x->best.placing || p->cost < x->best.placing->cost)) x->best.placing = p;
  return fits;
}

/* Steps over the limit gain weight, the more the further they are over it. */
static void weigh(Fitting *x) {
  for (size_t k = 0; k < x->n; k++)
    if (x->by[k] * x->scale > x->limit) x->weight[k] += x->by[k] * x->scale / x->limit;
}

/* Steps near the largest gain weight. */
static void weigh_largest(Fitting *x) {
  double most = 0, sum = 0;
  for (size_t k = 0; k < x->n; k++) most = x->by[k] > most ? x->by[k] : most;
  for (size_t k = 0; k < x->n; k++) sum += x->weight[k] *= exp(8 * (x->by[k] / most - 1));
  for (size_t k = 0; k < x->n; k++) x->weight[k] /= sum;
}

/* ---- one choice after the other ---------------------------------------------------------------------------- */

#define DESCENT_WORK 1e8       /* additions: more than programs of a few dozen tensors need */
#define WINDOW_WORK 5e3        /* about what a window takes */

typedef struct Descent {
  Fitting *x;
  Placing *p;
  bool by_cost;              /* reduces the cost, if the plan fits; else the largest memory, then what is near it */
  double score;
} Descent;

static double score_of(Descent *d) {
  Fitting *x = d->x;
  double sum = 0;
  SiteMemory m = placing_memory(&x->g, x->l, d->p, x->by);
  x->work += (double)x->n * (x->l->all.len + 8) + x->windows;
  if (d->by_cost && m.bytes * x->scale > x->limit) return INFINITY;
  if (d->by_cost) x->work += 20.0 * (x->cost.seconds ? 1 : (double)x->sites) * (x->g.tensors.len + 8);
  if (d->by_cost && x->cost.seconds) return placing_seconds(&x->g, x->cost.seconds, d->p);
  if (d->by_cost) return x->cost.paper ? placing_elements(&x->g, d->p) : placing_bytes(&x->g, d->p);
  for (size_t k = 0; k < x->n; k++) sum += pow(x->by[k] / m.bytes, 32);
  return m.bytes * (1 + 1e-10 * sum / (double)x->n);
}

/* The product of the counts; 0: some label is cut into more blocks than it has room for. */
static int64_t calls_on(const Mesh *m, uint32_t n, const int64_t *most, const int8_t *on) {
  int64_t calls = 1;
  for (uint32_t d = 0; d < n && d < 127; d++) {
    int64_t count = 1;
    for (uint32_t a = 0; a < m->n; a++) count *= on[a] == (int8_t)d ? m->size[a] : 1;
    if (count > most[d]) return 0;
    calls *= count;
  }
  return calls;
}

static void first_on(int8_t *on) {
  for (uint32_t a = 0; a < MESH_AXES; a++) on[a] = PLACE_ALL;
}

/* Steps to the next assignment of axes to labels; false after the last. */
static bool next_on(const Mesh *m, uint32_t n, int8_t *on) {
  for (uint32_t a = 0; a < m->n; a++) {
    if (++on[a] < (int8_t)(n < 127 ? n : 127)) return true;
    on[a] = PLACE_ALL;
  }
  return false;
}

/* A plan that costs less is accepted only if measuring confirms that it keeps the limit. */
static bool holds(const Descent *d) {
  const PlaceMeasure *m = d->x->measure;
  return !d->by_cost || !m || m->bytes(m->ctx, d->p) <= d->x->limit;
}

/* Tries all homes of a tensor. */
static bool change_home(Descent *d, uint32_t tensor) {
  const PlaceTensor *t = &d->x->g.tensors.at[tensor];
  Placement *home = &d->p->home[tensor], best = *home;
  bool better = false;
  first_on(home->on);
  do {
    double score = calls_on(&d->p->mesh, t->n, t->most, home->on) ? score_of(d) : INFINITY;
    if (score >= d->score * (1 - 1e-12) || !holds(d)) continue;
    best = *home;
    d->score = score;
    better = true;
  } while (next_on(&d->p->mesh, t->n, home->on) && d->x->work < DESCENT_WORK);
  *home = best;
  return better;
}

static Placing *placing_copy(Arena *a, const PlaceGraph *g, const Placing *p) {
  Placing *x = arena_copy(a, p, sizeof *p);
  x->label = NEW_ARRAY(a, int8_t *, g->part->vertices.len + 1);
  for (uint32_t i = 0; i < g->part->vertices.len; i++) x->label[i] = arena_copy(a, p->label[i], MESH_AXES);
  x->home = arena_copy(a, p->home, g->tensors.len * sizeof *p->home);
  return x;
}

static bool works(const Descent *d) {
  return d->x->g.work <= 0 || placing_work(&d->x->g, d->p) <= d->x->g.work * (1 + 1e-12);
}

/* Tries all cuts of a vertex that give no site too much to do, each with the best homes of its operands and its
 * result. */
static bool change_cut(Descent *d, uint32_t vertex) {
  const PlaceGraph *g = &d->x->g;
  const PartVertex *v = &g->part->vertices.at[vertex];
  const Mesh *m = &d->p->mesh;
  int8_t on[MESH_AXES];
  bool better = false;
  first_on(on);
  do {
    int8_t now[MESH_AXES];
    if (!calls_on(m, v->n_label, v->most, on)) continue;
    memcpy(now, d->p->label[vertex], sizeof now);
    memcpy(d->p->label[vertex], on, sizeof on);
    if (!works(d)) {
      memcpy(d->p->label[vertex], now, sizeof now);
      continue;
    }
    memcpy(d->p->label[vertex], now, sizeof now);
    Placing *was = placing_copy(d->x->arena, g, d->p);
    double score = d->score;
    memcpy(d->p->label[vertex], on, sizeof on);
    d->score = score_of(d);
    for (uint32_t k = 0; k < v->reads.len; k++) change_home(d, g->tensor[vertex][k]);
    change_home(d, vertex);
    if (d->score < score * (1 - 1e-12) && holds(d)) better = true;
    else *d->p = *was, d->score = score;
  } while (next_on(m, v->n_label, on) && d->x->work < DESCENT_WORK);
  return better;
}

static void descend(Descent *d) {
  const PlaceGraph *g = &d->x->g;
  bool any = true;
  d->score = score_of(d);
  for (uint32_t round = 0; any && round < 20; round++) {
    any = false;
    for (uint32_t t = 0; t < g->tensors.len; t++) any |= change_home(d, t);
    for (uint32_t i = 0; i < g->part->vertices.len; i++) {
      bool held = d->x->only && d->x->only[i].n;
      if (g->part->vertices.at[i].node->kind == EIN_VERTEX && !held) any |= change_cut(d, i);
    }
  }
}

/* Reduces the memory of the last plan. */
static void descend_memory(Fitting *x) {
  Descent d = {.x = x, .p = placing_copy(x->arena, &x->g, x->last)};
  descend(&d);
  SiteMemory said = placing_memory(&x->g, x->l, d.p, NULL);
  double bytes = measured(x, d.p, &said);
  placing_count(&x->g, d.p);
  if (bytes < x->best.memory) x->best.smallest = d.p, x->best.memory = bytes;
  if (bytes <= x->limit) x->best.placing = d.p;
}

/* Reduces the cost of a plan that fits. */
static void descend_cost(Fitting *x) {
  Descent d = {.x = x, .p = placing_copy(x->arena, &x->g, x->best.placing), .by_cost = true};
  SiteMemory said = placing_memory(&x->g, x->l, d.p, NULL);
  measured(x, d.p, &said);
  descend(&d);
  placing_count(&x->g, d.p);
  if (d.p->cost < x->best.placing->cost) x->best.placing = d.p;
}

/* ---- prices ---------------------------------------------------------------------------------------------------- */

static void look_for_least(Fitting *x) {
  x->cost.memory_only = true;
  for (size_t k = 0; k < x->n; k++) x->weight[k] = 1;
  for (uint32_t round = 0; round < ROUNDS_LEAST && !x->best.placing && (round == 0 || x->spent < x->most); round++) {
    look(x, 1);
    weigh_largest(x);
    if (!x->best.placing) descend_memory(x);
  }
  x->cost.memory_only = false;
}

/* Raises prices until a plan fits, then lowers them. */
static void look_all(Fitting *x, const Placing *free) {
  double low = 0, high = (free->cost > 0 ? free->cost : 1e-6) / x->best.memory / 8;
  bool none = x->best.least > x->limit, fits = false;
  x->most = fit_up * x->budget;
  for (uint32_t round = 0; round < ROUNDS_UP && !fits && !none && (round == 0 || x->spent < x->most); round++) {
    if (round) low = high, high *= 8;
    weigh(x);
    fits = look(x, high);
  }
  x->most = (none ? fit_none : fit_least) * x->budget;
  if (!fits) look_for_least(x);
  x->most = fit_all * x->budget;
  for (uint32_t round = 0; round < ROUNDS_DOWN && fits && x->spent < x->most; round++) {
    double middle = low > 0 ? sqrt(low * high) : high / 8;
    if (look(x, middle)) high = middle;
    else low = middle;
  }
}

/* On as many sites as a plan may use. */
static double least_of(const PlaceGraph *g, int64_t sites) {
  return memory_least(g, g->fixed && g->fixed->mesh ? mesh_sites(g->fixed->mesh) : sites);
}

static double windows_work(const PlaceGraph *g) {
  double work = 0;
  for (uint32_t i = 0; i < g->part->vertices.len; i++)
    for (uint32_t k = 0; k < g->part->vertices.at[i].reads.len; k++) work += reach_is_plain(g, i, k) ? 0 : WINDOW_WORK;
  return work;
}

static PlaceFixed one_mesh(Arena *a, const PlaceGraph *g) {
  PlaceFixed f = {.label = NEW_ARRAY(a, const int8_t *, g->part->vertices.len + 1),
      .home = NEW_ARRAY(a, const Placement *, g->tensors.len + 1)};
  return f;
}

PlaceFit placing_fit(Arena *a, const PlaceGraph *g, const Lives *l, int64_t sites, const PartVectors *only,
    double budget, double limit, Placing *free, const PlaceMeasure *measure) {
  Fitting x = {
      .arena = a, .g = *g, .l = l, .sites = sites, .only = only, .measure = measure, .budget = budget, .limit = limit};
  x.n = (size_t)l->steps * PHASES;
  x.one = one_mesh(a, g);
  x.wide = free->effort;
  x.cost = (PlaceCost){.seconds = g->cost ? g->cost->seconds : NULL, .paper = g->cost && g->cost->paper, .lives = l};
  x.g.cost = &x.cost;
  x.g.work = free->allowed;
  x.weight = NEW_ARRAY(a, double, x.n);
  x.price = NEW_ARRAY(a, double, x.n);
  x.by = NEW_ARRAY(a, double, x.n);
  x.cost.price = x.price;
  SiteMemory said = placing_memory(g, l, free, x.by);
  x.best = (PlaceFit){.smallest = free, .memory = measured(&x, free, &said)};
  x.best.least = least_of(g, sites);
  x.windows = windows_work(g);
  look_all(&x, free);
  if (x.best.placing) descend_cost(&x);
  return x.best;
}
