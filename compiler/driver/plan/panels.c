/* driver/plan/panels.c - ein plan for many sites: puts equations in panels if a site would otherwise exceed its
 * memory. In: a plan and the limit. Out: the same plan, with panels; the same amount moves.
 *
 * Greedy: for each equation that affects the peak step, tries each label, in the largest possible number of panels,
 * and takes the one that leaves least above the limit; repeats this until the limit is kept or nothing helps. Then
 * it halves the numbers of panels as far as the limit allows. Similar equations, such as those of layers, change
 * together. Panels for as little memory as possible do not depend on a limit: the largest equations count most. */
#include <math.h>
#include <string.h>

#include "sites.h"

enum { SHARP = 16 };

typedef struct Fit {
  const Sites *p;
  double limit;              /* how little is wanted; 0: as little as possible */
  Placing x;                 /* the plan, with its own panels: */
  PlacePanels *panels;
  double over;               /* bytes over the limit, summed over equations; if there is none, SHARP powers of them */
  SitesMemory peak;
  double *work;              /* left */
} Fit;

static double largest(const Fit *f, const SitesMemory *m) {
  double sum = 1;
  for (uint32_t i = 0; i < f->p->g->vertices.len; i++) sum += pow(m->by[i] / m->bytes, (double)SHARP);
  return m->bytes * pow(sum, 1.0 / (double)SHARP);
}

static double over_limit(const Fit *f, const SitesMemory *m) {
  if (f->limit <= 0) return largest(f, m);
  double over = fmax(0, m->bytes - f->limit);
  for (uint32_t i = 0; i < f->p->g->vertices.len; i++) over += fmax(0, m->by[i] - f->limit);
  return over;
}

/* Whether it can be done in panels, and no plan's file states how many. */
static bool may(const Fit *f, uint32_t i) {
  const PartVertex *v = &f->p->g->vertices.at[i];
  bool said = f->p->places->panels && f->p->places->panels[i].n;
  return !said && v->node->kind == EIN_VERTEX && sum_panels(v->node->sum);
}

/* The same equation apart from names, cut in the same way. */
static bool alike(const Fit *f, uint32_t i, uint32_t j) {
  const PartVertex *v = &f->p->g->vertices.at[i], *w = &f->p->g->vertices.at[j];
  if (v->n_label != w->n_label || v->n_out != w->n_out || v->reads.len != w->reads.len) return false;
  return v->node->sum->reducer == w->node->sum->reducer &&
      memcmp(v->extent, w->extent, v->n_label * sizeof *v->extent) == 0 &&
      memcmp(f->x.label[i], f->x.label[j], f->x.mesh.n) == 0;
}

/* The largest number: a panel has at least one point of each site's block. */
static uint32_t panels_most(const Fit *f, uint32_t i, uint32_t label) {
  int64_t block = f->p->g->vertices.at[i].extent[label];
  for (uint32_t a = 0; a < f->x.mesh.n; a++) block /= f->x.label[i][a] == (int8_t)label ? f->x.mesh.size[a] : 1;
  return (uint32_t)(block < PANELS_USUAL ? block : PANELS_USUAL);
}

/* The plan with vertex i, and similar ones, in these panels. */
static Fit changed(const Fit *f, uint32_t i, PlacePanels x) {
  uint32_t n = f->p->g->vertices.len;
  Fit now = *f;
  now.panels = arena_copy(f->p->s->arena, f->panels, (n + 1) * sizeof *f->panels);
  for (uint32_t j = 0; j < n; j++)
    if (may(f, j) && alike(f, i, j)) now.panels[j] = x;
  for (uint32_t j = 0; j < n; j++) *f->work -= 1 + now.panels[j].n;
  now.x.panels = now.panels;
  now.peak = memory_of(f->p, &now.x);
  now.over = over_limit(f, &now.peak);
  return now;
}

/* Whether the vertex makes the tensor or reads it. */
static bool concerns(const Fit *f, uint32_t i, int32_t tensor) {
  bool its = tensor < 0 || f->p->places->tensors.at[tensor].vertex == (int32_t)i;
  for (uint32_t k = 0; !its && k < f->p->g->vertices.at[i].reads.len; k++)
    its = f->p->places->tensor[i][k] == (uint32_t)tensor;
  return its;
}

/* False: nothing reduces the excess. */
static bool step_try(Fit *f) {
  Fit best = *f;
  const PartGraph *g = f->p->g;
  for (uint32_t i = 0; i < g->vertices.len; i++) {
    bool first = may(f, i) && concerns(f, i, f->peak.at);
    for (uint32_t j = 0; first && j < i; j++) first = !(may(f, j) && concerns(f, j, f->peak.at) && alike(f, i, j));
    for (uint32_t l = 0; first && l < g->vertices.at[i].n_label && *f->work > 0; l++) {
      PlacePanels x = {.label = l, .n = panels_most(f, i, l)};
      if (x.n < 2 || (f->panels[i].n == x.n && f->panels[i].label == l)) continue;
      Fit now = changed(f, i, x);
      if (now.over < best.over ||
          (now.over == best.over && best.panels != f->panels && now.peak.bytes < best.peak.bytes))
        best = now;
    }
  }
  bool better = best.over < f->over;
  if (better) *f = best;
  return better;
}

/* Reduces panels as far as the plan's limit allows. */
static void thin(Fit *f) {
  for (uint32_t i = 0; i < f->p->g->vertices.len; i++)
    while (f->panels[i].n > 3 && may(f, i) && *f->work > 0) {
      Fit now = changed(f, i, (PlacePanels){.label = f->panels[i].label, .n = f->panels[i].n / 2});
      if (now.peak.bytes > f->p->asked.memory) break;
      *f = now;
    }
}

void panels_fit(const Sites *p, Placing *x, double limit, double enough, double *work, SitesMemory *peak) {
  uint32_t n = p->g->vertices.len;
  Fit f = {.p = p,
      .limit = limit,
      .x = *x,
      .panels = NEW_ARRAY(p->s->arena, PlacePanels, n + 1),
      .peak = *peak,
      .work = work};
  f.over = over_limit(&f, peak);
  if (x->panels) memcpy(f.panels, x->panels, n * sizeof *f.panels);
  while (f.peak.bytes > enough && !peak->guessed && *work > 0 && step_try(&f)) {
    if (f.peak.bytes >= peak->bytes) continue;
    x->panels = f.panels;
    *peak = f.peak;
  }
}

void panels_thin(const Sites *p, Placing *x, double *work, SitesMemory *peak) {
  Fit f = {.p = p,
      .limit = p->asked.memory,
      .x = *x,
      .panels = (PlacePanels *)(uintptr_t)x->panels,
      .peak = *peak,
      .work = work};
  if (x->panels) thin(&f);
  x->panels = f.panels;
  *peak = f.peak;
}
