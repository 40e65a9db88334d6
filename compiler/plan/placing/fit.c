/* plan/placing/fit.c - plans that take less and less memory: puts a price on memory, and raises it while the memory
 * that is aimed at falls. */
#include "fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reach.h"

enum { ROUNDS_LEAST = 12, ROUNDS_UP = 6, ROUNDS_DOWN = 3, AIMS_MOST = 40, AIMS_LEAST = 4 };
enum { LOOKS = 8 };            /* each look gets this part of the budget */

/* Shares of the budget, by what is in panels: to find the least memory, and to come down to it. */
static const double fit_least[] = {0.1, 0.05, 0.05, 0.05}, fit_down[] = {0.2, 0.1, 0.1, 0.1};

typedef struct Fitting {
  Arena *arena;
  PlaceGraph g;              /* with a cost of its own */
  PlaceCost cost;
  Lives lives;
  const Lives *l;            /* these */
  int64_t sites;
  const PartVectors *only;
  double budget;
  double aim;                /* the memory that a plan is wanted to keep to */
  size_t n;                  /* steps and phases, */
  double *weight, *price, *by; /* by step: its weight; that times the price of a byte; bytes of the last plan */
  double dear;               /* the price of a byte, before weights */
  const Placing *last;
  double bytes;              /* its memory */
  PlaceFits found;
  uint32_t smallest;         /* of these, the one with the least memory, by what is in panels now */
  double work, stop;         /* the cost of changing one choice after the other, in additions; when to stop */
  double windows;            /* of these, for windows, each time that memory is counted */
  PlaceFixed one;            /* the mesh of the smallest plan, */
  double wide, spent, most;  /* additions: of a search on all meshes; so far; the limit */
} Fitting;

/* Searches on all meshes, or on that of the smallest plan. */
static Placing *search(Fitting *x) {
  PlaceGraph g = x->g;
  uint32_t which;
  bool wide = x->spent + x->wide <= x->most || (g.fixed && g.fixed->mesh);
  x->one.mesh = &x->found.at[x->smallest].placing->mesh;
  if (!wide) g.fixed = &x->one;
  Placing *p = placing_best(x->arena, &g, x->sites, x->only, x->budget / (double)LOOKS, &which);
  if (wide && p->effort > x->wide) x->wide = p->effort;
  x->spent += p->effort;
  return p;
}

static bool placing_same(const PlaceGraph *g, const Placing *p, const Placing *q) {
  bool same = mesh_equal(&p->mesh, &q->mesh);
  for (uint32_t i = 0; same && i < g->part->vertices.len; i++)
    same = memcmp(p->label[i], q->label[i], p->mesh.n) == 0;
  for (uint32_t i = 0; same && i < g->tensors.len; i++) same = placement_equal(&p->mesh, &p->home[i], &q->home[i]);
  return same;
}

/* Keeps a plan that has not been found yet. */
static double found_bytes(const Fitting *x, uint32_t i) { return x->found.at[i].bytes[x->l->panels]; }

static void found_add(Fitting *x, Placing *p) {
  PlaceFit f = {.placing = p};
  Lives l = x->lives;
  for (uint32_t i = 0; i < x->found.len; i++)
    if (placing_same(&x->g, x->found.at[i].placing, p)) return;
  for (int k = 0; k < PANELS_KINDS; k++) {
    l.panels = (PanelsKind)k;
    f.bytes[k] = placing_memory(&x->g, &l, p, NULL).bytes;
  }
  vec_push(x->arena, x->found, f);
  if (found_bytes(x, x->found.len - 1) < found_bytes(x, x->smallest)) x->smallest = x->found.len - 1;
}

static void panels_take(Fitting *x, PanelsKind kind) {
  x->lives.panels = kind;
  for (uint32_t i = 0; i < x->found.len; i++)
    if (found_bytes(x, i) < found_bytes(x, x->smallest)) x->smallest = i;
  panels_choose(&x->g, &x->lives, x->found.at[x->smallest].placing);
}

/* The plan of least cost among those found that keep to the aim. */
static uint32_t found_best(const Fitting *x) {
  uint32_t best = x->smallest;
  for (uint32_t i = 0; i < x->found.len; i++)
    if (found_bytes(x, i) <= x->aim && x->found.at[i].placing->cost < x->found.at[best].placing->cost) best = i;
  return best;
}

/* Searches with this price of a byte. Returns whether the plan keeps to the aim. */
static bool look(Fitting *x, double price) {
  for (size_t k = 0; k < x->n; k++) x->price[k] = price * x->weight[k];
  Placing *p = search(x);
  x->last = p;
  x->bytes = placing_memory(&x->g, x->l, p, x->by).bytes;
  p->cost = x->cost.seconds ? p->seconds : x->cost.paper ? p->elements : p->bytes;
  found_add(x, p);
  panels_choose(&x->g, &x->lives, p);
  return x->bytes <= x->aim;
}

/* Steps over the aim gain weight, the more the further they are over it. */
static void weigh(Fitting *x) {
  for (size_t k = 0; k < x->n; k++)
    if (x->by[k] > x->aim) x->weight[k] += x->by[k] / x->aim;
}

/* Steps near the largest gain weight. */
static void weigh_largest(Fitting *x) {
  double most = 0, sum = 0;
  for (size_t k = 0; k < x->n; k++) most = x->by[k] > most ? x->by[k] : most;
  for (size_t k = 0; k < x->n; k++) sum += x->weight[k] *= exp(8 * (x->by[k] / most - 1));
  for (size_t k = 0; k < x->n; k++) x->weight[k] /= sum;
}

/* ---- one choice after the other ---------------------------------------------------------------------------- */

#define DESCENT_WORK 2e7       /* additions for an aim: more than programs of a few dozen tensors need */
#define OVER_THE_AIM 1e200     /* for each byte: more than any cost */
#define WINDOW_WORK 5e3        /* about what a window takes */

/* Reduces the largest memory, then what is near it; or the cost within the aim; or so that a cut over the aim comes
 * within it by other homes. These two often end with different plans. */
typedef enum { BY_MEMORY, BY_COST, BY_COST_FROM_OVER } DescentBy;

typedef struct Descent {
  Fitting *x;
  Placing *p;
  DescentBy by;
  double score;
} Descent;

static double score_of(Descent *d) {
  Fitting *x = d->x;
  double sum = 0;
  SiteMemory m = placing_memory(&x->g, x->l, d->p, x->by);
  x->work += (double)x->n * (x->l->all.len + 8) + x->windows;
  if (d->by == BY_COST && m.bytes > x->aim) return INFINITY;
  if (d->by == BY_COST_FROM_OVER && m.bytes > x->aim) return OVER_THE_AIM * m.bytes;
  if (d->by != BY_MEMORY) x->work += 20.0 * (x->cost.seconds ? 1 : (double)x->sites) * (x->g.tensors.len + 8);
  if (d->by != BY_MEMORY && x->cost.seconds) return placing_seconds(&x->g, x->cost.seconds, d->p);
  if (d->by != BY_MEMORY) return x->cost.paper ? placing_elements(&x->g, d->p) : placing_bytes(&x->g, d->p);
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

/* Tries all homes of a tensor. */
static bool change_home(Descent *d, uint32_t tensor) {
  const PlaceTensor *t = &d->x->g.tensors.at[tensor];
  Placement *home = &d->p->home[tensor], best = *home;
  bool better = false;
  first_on(home->on);
  do {
    double score = calls_on(&d->p->mesh, t->n, t->most, home->on) ? score_of(d) : INFINITY;
    if (score >= d->score * (1 - 1e-12)) continue;
    best = *home;
    d->score = score;
    better = true;
  } while (next_on(&d->p->mesh, t->n, home->on) && d->x->work < d->x->stop);
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
    bool any = true;
    for (int round = 0; any && round < (d->by == BY_COST_FROM_OVER ? 2 : 1); round++) {
      any = false;
      for (uint32_t k = 0; k < v->reads.len; k++) any |= change_home(d, g->tensor[vertex][k]);
      any |= change_home(d, vertex);
    }
    if (d->score < score * (1 - 1e-12)) better = true;
    else *d->p = *was, d->score = score;
  } while (next_on(m, v->n_label, on) && d->x->work < d->x->stop);
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

/* Changes a copy of the plan, and keeps it. */
static void descend_from(Fitting *x, const Placing *from, DescentBy by) {
  Descent d = {.x = x, .p = placing_copy(x->arena, &x->g, from), .by = by};
  x->stop = x->work + DESCENT_WORK;
  descend(&d);
  placing_count(&x->g, d.p);
  found_add(x, d.p);
}

/* ---- prices ---------------------------------------------------------------------------------------------------- */

static void look_for_least(Fitting *x) {
  x->cost.memory_only = true;
  x->most = x->spent + fit_least[x->l->panels] * x->budget;
  for (size_t k = 0; k < x->n; k++) x->weight[k] = 1;
  for (uint32_t round = 0; round < ROUNDS_LEAST && (round == 0 || x->spent < x->most); round++) {
    look(x, 1);
    weigh_largest(x);
    descend_from(x, x->last, BY_MEMORY);
  }
  x->cost.memory_only = false;
}

/* Raises the price until a plan keeps to the aim, then lowers it as far as one does; and changes the best one found. */
static void look_for_aim(Fitting *x) {
  bool fits = x->bytes <= x->aim;
  double low = x->dear / 8;
  for (uint32_t round = 0; round < ROUNDS_UP && !fits && x->spent < x->most; round++) {
    weigh(x);
    fits = look(x, x->dear);
    if (!fits) low = x->dear, x->dear *= 8;
  }
  for (uint32_t round = 0; round < ROUNDS_DOWN && fits && x->spent < x->most; round++) {
    double middle = sqrt(low * x->dear);
    if (look(x, middle)) x->dear = middle;
    else low = middle;
  }
  uint32_t best = found_best(x);
  uint32_t smallest = x->smallest;
  descend_from(x, x->found.at[best].placing, BY_COST);
  descend_from(x, x->found.at[best].placing, BY_COST_FROM_OVER);
  if (best == smallest) return;
  descend_from(x, x->found.at[smallest].placing, BY_COST);
  descend_from(x, x->found.at[smallest].placing, BY_COST_FROM_OVER);
}

/* From the memory of the best plan down to the least: past each plan that is found, but not in too many steps. */
static void look_down(Fitting *x) {
  const Placing *free = x->found.at[0].placing;
  double least = found_bytes(x, x->smallest), all = found_bytes(x, 0), share = fit_down[x->l->panels] * x->budget;
  double aims = fmin((double)AIMS_MOST, fmax((double)AIMS_LEAST, share / ((double)ROUNDS_UP * x->wide + 1)));
  double step = pow(least / all, 1 / aims);
  x->most = x->spent + share;
  x->dear = (free->cost > 0 ? free->cost : 1e-6) / all / 8;
  x->bytes = placing_memory(&x->g, x->l, free, x->by).bytes;
  for (size_t k = 0; k < x->n; k++) x->weight[k] = 0;
  for (x->aim = all; x->aim > least;) {
    double past = fmin(found_bytes(x, found_best(x)) - 1, x->aim * step);
    x->aim = past > least ? past : least;
    look_for_aim(x);
    least = found_bytes(x, x->smallest);
  }
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

static int by_cost(const void *a, const void *b) {
  const PlaceFit *x = a, *y = b;
  double p = x->placing->cost, q = y->placing->cost;
  if (p != q) return p < q ? -1 : 1;
  return x->bytes[0] < y->bytes[0] ? -1 : x->bytes[0] > y->bytes[0];
}

static bool takes_less(const PlaceFit *x, const PlaceFit *than) {
  bool less = false;
  for (int k = 0; k < PANELS_KINDS; k++) less |= x->bytes[k] < than->bytes[k];
  return less;
}

/* In the order of cost; leaves out what takes no less memory than a plan before it. */
static void found_sort(Fitting *x) {
  PlaceFits *f = &x->found;
  uint32_t kept = 0;
  qsort(f->at, f->len, sizeof *f->at, by_cost);
  for (uint32_t i = 0; i < f->len; i++) {
    bool less = true;
    for (uint32_t j = 0; j < kept && less; j++) less = takes_less(&f->at[i], &f->at[j]);
    if (less) f->at[kept++] = f->at[i];
  }
  f->len = kept;
}

PlaceFits placing_fits(Arena *a, const PlaceGraph *g, const Lives *l, int64_t sites, const PartVectors *only,
    double budget, Placing *free) {
  Fitting x = {.arena = a, .g = *g, .lives = *l, .sites = sites, .only = only, .budget = budget};
  x.lives.along = NEW_ARRAY(a, int32_t, l->steps);
  x.l = &x.lives;
  x.n = (size_t)l->steps * PHASES;
  x.one = one_mesh(a, g);
  x.wide = free->effort;
  x.cost = (PlaceCost){.seconds = g->cost ? g->cost->seconds : NULL, .paper = g->cost && g->cost->paper};
  x.cost.lives = x.l;
  x.g.cost = &x.cost;
  x.g.work = free->allowed;
  x.weight = NEW_ARRAY(a, double, x.n);
  x.price = NEW_ARRAY(a, double, x.n);
  x.by = NEW_ARRAY(a, double, x.n);
  x.cost.price = x.price;
  x.windows = windows_work(g);
  found_add(&x, free);
  for (int k = 0; k < PANELS_KINDS; k++) {
    panels_take(&x, (PanelsKind)k);
    look_for_least(&x);
    look_down(&x);
  }
  found_sort(&x);
  return x.found;
}
