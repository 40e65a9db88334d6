/* plan/placing/windows.c - windows along each dimension separately, computed once for all homes and cuts that are
 * alike there. */
#include "windows.h"

static const double looked = 256; /* up to this many places are all looked at */

typedef struct Windows {
  Arena *arena;
  const PlaceGraph *g;
  const Mesh *m;
  const Links *l;            /* NULL: only what a site holds */
  uint32_t vertex, read, levels; /* the levels: those of the links, and sites */
  const PartRead *r;
} Windows;

typedef struct Along {       /* a dimension, with one home and one cut: */
  double *wants, *lacks;     /* by level: the longest window, and the most that is missing */
} Along;

/* ---- places ------------------------------------------------------------------------------------------------- */

static double places_of(const Mesh *m, const bool *used) {
  double n = 1;
  for (uint32_t a = 0; a < m->n; a++) n *= used[a] ? m->size[a] : 1;
  return n;
}

/* Of many places, only the first two, one in the middle, and the last. */
static uint32_t place_after(uint32_t at, uint32_t size, bool few) {
  if (!few || size <= 4 || at == 0) return at + 1;
  return at == 1 ? size / 2 : at == size / 2 ? size - 1 : size;
}

static bool next_place(const Mesh *m, const bool *used, bool few, uint32_t *at) {
  for (uint32_t a = m->n; a-- > 0;) {
    if (!used[a]) continue;
    at[a] = place_after(at[a], m->size[a], few);
    if (at[a] < m->size[a]) return true;
    at[a] = 0;
  }
  return false;
}

/* ---- one dimension -------------------------------------------------------------------------------------------- */

/* The part of a home, or of a cut, that matters for dimension k. */
static Placement home_along(const Windows *w, uint32_t k, const Placement *home) {
  Placement p;
  int32_t d = w->r->from < 0 ? (int32_t)k : w->r->made[k];
  for (uint32_t a = 0; a < MESH_AXES; a++)
    p.on[a] = a < w->m->n && d >= 0 && home->on[a] == d ? home->on[a] : PLACE_ALL;
  return p;
}

static Placement cut_along(const Windows *w, uint32_t k, const Placement *on) {
  Placement p;
  bool used[GRAPH_LABELS + 1] = {0};
  if (reach_is_told(w->g, w->vertex, w->read, k, w->m, on->on))
    expr_labels(w->r->index[k], w->g->part->vertices.at[w->vertex].n_label, used);
  for (uint32_t a = 0; a < MESH_AXES; a++)
    p.on[a] = a < w->m->n && on->on[a] >= 0 && used[on->on[a]] ? on->on[a] : PLACE_ALL;
  return p;
}

/* One level: all of a part's sites are one place of a mesh without the axes inside it. */
static void level_find(
    const Windows *w, uint32_t k, uint32_t level, const Placement *home, const Placement *on, Along *x) {
  Mesh m = *w->m;
  bool sites = level + 1 == w->levels, used[MESH_AXES] = {0};
  int64_t from[REACH_RANK], to[REACH_RANK], has[REACH_RANK], end[REACH_RANK], wrap[REACH_RANK];
  uint32_t at[MESH_AXES] = {0};
  if (!sites) m.n = w->l->link[level].axes;
  for (uint32_t a = 0; a < m.n; a++) used[a] = home->on[a] >= 0 || on->on[a] >= 0;
  bool few = places_of(&m, used) > looked;
  do {
    reach_together(w->g, w->m, m.n, w->vertex, w->read, on->on, at, from, to, wrap);
    reach_home(w->g, &m, w->vertex, w->read, home, at, has, end);
    double wants = (double)(to[k] - from[k]),
           lacks = wants - (double)wrap_shared(from[k], to[k], wrap[k], has[k], end[k]);
    if (wants > x->wants[level]) x->wants[level] = wants;
    if (lacks > x->lacks[level]) x->lacks[level] = lacks;
  } while (next_place(&m, used, few, at));
}

static Along along(const Windows *w, uint32_t k, const Placement *home, const Placement *on) {
  double *all = NEW_ARRAY(w->arena, double, 2 * (size_t)w->levels);
  Along x = {all, all + w->levels};
  for (uint32_t i = 0; i < w->levels; i++) level_find(w, k, i, home, on, &x);
  return x;
}

/* ---- everything together ---------------------------------------------------------------------------------------- */

static double bytes_lacking(const Windows *w, const Along *const *dimension, uint32_t level, double *wanted) {
  double there = dtype_size(w->g->tensors.at[w->g->tensor[w->vertex][w->read]].node->dtype);
  *wanted = there;
  for (uint32_t k = 0; k < w->r->rank; k++) {
    *wanted *= dimension[k]->wants[level];
    there *= dimension[k]->wants[level] - dimension[k]->lacks[level];
  }
  return *wanted - there;
}

/* link: out, the levels whose parts lack something. */
static double seconds_of(const Windows *w, const Along *const *dimension, bool *link) {
  double most = 0, wanted;
  for (uint32_t i = 0; i + 1 < w->levels; i++) {
    double seconds = bytes_lacking(w, dimension, i, &wanted) / w->l->link[i].rate;
    link[i] = seconds > 0;
    most = seconds > most ? seconds : most;
  }
  return most > 0 ? most + links_exchange(w->l, link) : 0;
}

/* Of places that are requested, per time that the whole would move. asked: bytes of all sites per run. */
static double asked_seconds(const Windows *w, const bool *link, double asked) {
  double each = asked / w->r->asked / (double)mesh_sites(w->m);
  return asked > 0 ? w->r->asked / w->r->times * links_fetch(w->l, link, each) : 0;
}

typedef struct Kinds { uint32_t n, *of; const Placement **at; } Kinds; /* by value; by kind */

static Kinds kinds_of(const Windows *w, uint32_t k, uint32_t n, const Placement *const *all, bool home) {
  Kinds x = {0, NEW_ARRAY(w->arena, uint32_t, n + 1), NEW_ARRAY(w->arena, const Placement *, n + 1)};
  Memo seen = memo_new(w->arena);
  for (uint32_t i = 0; i < n; i++) {
    Placement p = home ? home_along(w, k, all[i]) : cut_along(w, k, all[i]);
    MemoEntry *e = memo_get(&seen, p.on, w->m->n);
    if (!e->value) x.at[x.n++] = arena_copy(w->arena, &p, sizeof p), e->value = (void *)(uintptr_t)x.n;
    x.of[i] = (uint32_t)(uintptr_t)e->value - 1;
  }
  return x;
}

void windows_costs(const PlaceGraph *g, const Mesh *m, const Links *l, uint32_t vertex, uint32_t read, uint32_t n_home,
    const Placement *const *home, uint32_t n_on, const Placement *const *on, double *seconds, double *fetched) {
  Arena *a = arena_new();
  Windows w = {.arena = a,
      .g = g,
      .m = m,
      .l = l,
      .vertex = vertex,
      .read = read,
      .r = &g->part->vertices.at[vertex].reads.at[read]};
  w.levels = (l ? l->n : 0) + 1;
  uint32_t rank = w.r->rank;
  Kinds *homes = NEW_ARRAY(a, Kinds, rank + 1), *cuts = NEW_ARRAY(a, Kinds, rank + 1);
  Along **all = NEW_ARRAY(a, Along *, rank + 1);
  const Along **dimension = NEW_ARRAY(a, const Along *, rank + 1);
  double *whole = NULL, *asked = NULL;
  if (seconds && w.r->asked > 0 && w.r->times > 0) {
    whole = NEW_ARRAY(a, double, 2 * (size_t)n_home * n_on + 1);
    asked = whole + (size_t)n_home * n_on;
    reach_costs_ways(g, m, vertex, read, n_home, home, n_on, on, whole, asked);
  }
  for (uint32_t k = 0; k < rank; k++) {
    homes[k] = kinds_of(&w, k, n_home, home, true);
    cuts[k] = kinds_of(&w, k, n_on, on, false);
    all[k] = NEW_ARRAY(a, Along, (size_t)homes[k].n * cuts[k].n);
    for (uint32_t i = 0; i < homes[k].n; i++)
      for (uint32_t j = 0; j < cuts[k].n; j++) all[k][i * cuts[k].n + j] = along(&w, k, homes[k].at[i], cuts[k].at[j]);
  }
  for (uint32_t i = 0; i < n_home; i++)
    for (uint32_t j = 0; j < n_on; j++) {
      double wanted;
      for (uint32_t k = 0; k < rank; k++) dimension[k] = &all[k][homes[k].of[i] * cuts[k].n + cuts[k].of[j]];
      size_t x = (size_t)i * n_on + j;
      bool link[MESH_AXES] = {0};
      if (seconds) seconds[x] = seconds_of(&w, dimension, link);
      if (asked && asked[x] < whole[x]) seconds[x] = asked_seconds(&w, link, asked[x]);
      if (fetched) fetched[x] = bytes_lacking(&w, dimension, w.levels - 1, &wanted) > 0 ? wanted : 0;
    }
  arena_free(a);
}

static double one(const PlaceGraph *g, const Links *l, const Placing *p, uint32_t vertex, uint32_t read) {
  const PartVertex *v = &g->part->vertices.at[vertex];
  const Placement *home = &p->home[g->tensor[vertex][read]];
  Placement cut = reach_cut(g, &p->mesh, vertex, read, v->reads.at[read].call ? p->label[vertex] : p->home[vertex].on);
  const Placement *on = &cut;
  double out;
  windows_costs(g, &p->mesh, l, vertex, read, 1, &home, 1, &on, l ? &out : NULL, l ? NULL : &out);
  return out;
}

double windows_seconds(const PlaceGraph *g, const Links *l, const Placing *p, uint32_t vertex, uint32_t read) {
  return one(g, l, p, vertex, read);
}

double windows_fetched(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t read) {
  return one(g, NULL, p, vertex, read);
}
