/* plan/placing/choose.c - the choices on a mesh: the cuts of a vertex, the homes of a tensor; and a site's work for
 * each cut. */
#include <math.h>
#include <string.h>

#include "inside.h"

enum { WAYS = 1300 };        /* of one tensor at most: tables have the square of this */

typedef struct Choosing {
  Arena *arena;
  const Mesh *m;
  uint32_t n;                /* labels or dimensions */
  int64_t room[CUT_LABELS];  /* by label, the rest; 0: it is not cut */
  Placement now;
  int64_t calls, best;
  bool idle;                 /* axes may stay without label */
  const PartVectors *only;   /* the allowed counts; none: all are */
  VEC(Placement) all;
} Choosing;

static bool allowed(const Choosing *c) {
  if (!c->only || !c->only->n) return true;
  for (uint32_t i = 0; i < c->only->n; i++) {
    const uint32_t *d = c->only->at + (size_t)i * c->only->n_label;
    bool same = true;
    for (uint32_t l = 0; same && l < c->only->n_label; l++)
      same = (l < CUT_LABELS ? placement_count(c->m, &c->now, (int8_t)l) : 1) == d[l];
    if (same) return true;
  }
  return false;
}

static void choose_axis(Choosing *c, uint32_t a) {
  if (a == c->m->n) {
    if ((!c->idle && c->calls < c->best) || !allowed(c)) return;
    if (!c->idle && c->calls > c->best) c->all.len = 0;
    c->best = c->calls;
    vec_push(c->arena, c->all, c->now);
    return;
  }
  uint32_t size = c->m->size[a];
  for (uint32_t d = 0; d < c->n; d++) {
    if (c->room[d] < size) continue;
    int64_t room = c->room[d];
    c->room[d] = room / size;
    c->calls *= size;
    c->now.on[a] = (int8_t)d;
    choose_axis(c, a + 1);
    c->calls /= size;
    c->room[d] = room;
  }
  c->now.on[a] = PLACE_ALL;
  choose_axis(c, a + 1);
}

/* Restricts the search to the longest labels where all labels have too many ways. */
static bool longest_only(Choosing *c) {
  uint32_t smallest = UINT32_MAX, axes = 0, usable = 0, most = CUT_LABELS;
  for (uint32_t a = 0; a < c->m->n; a++) {
    axes += c->m->size[a] > 1;
    if (c->m->size[a] > 1 && c->m->size[a] < smallest) smallest = c->m->size[a];
  }
  while (most > 1 && pow(most + 1, axes) > (double)WAYS) most--;
  for (uint32_t d = 0; d < c->n; d++) usable += c->room[d] >= smallest;
  bool narrow = usable > most;
  for (; usable > most; usable--) {
    uint32_t least = UINT32_MAX;
    for (uint32_t d = 0; d < c->n; d++)
      if (c->room[d] >= smallest && (least == UINT32_MAX || c->room[d] <= c->room[least])) least = d;
    c->room[least] = 0;
  }
  return narrow;
}

PlaceWays ways_find(
    Arena *a, const Mesh *m, uint32_t n, const int64_t *most, bool idle, const PartVectors *only, bool *narrow) {
  Choosing c = {.arena = a, .m = m, .n = n < CUT_LABELS ? n : CUT_LABELS, .calls = 1, .idle = idle, .only = only};
  for (uint32_t d = 0; d < c.n; d++) c.room[d] = most[d];
  if (!only || !only->n) *narrow |= longest_only(&c);
  choose_axis(&c, 0);
  return (PlaceWays){c.all.len, c.all.at};
}

PlaceWays ways_one(Arena *a, const Mesh *m, const int8_t *on) {
  Placement *p = NEW(a, Placement);
  memcpy(p->on, on, m->n);
  return (PlaceWays){1, p};
}

/* ---- distinguished by counts --------------------------------------------------------------------------------- */

static MemoEntry *counts_entry(Memo *seen, const Mesh *m, uint32_t n, const Placement *p) {
  uint32_t count[CUT_LABELS];
  n = n < CUT_LABELS ? n : CUT_LABELS;
  for (uint32_t d = 0; d < n; d++) count[d] = 1;
  for (uint32_t a = 0; a < m->n; a++)
    if (p->on[a] >= 0 && (uint32_t)p->on[a] < n) count[p->on[a]] *= m->size[a];
  return memo_get(seen, count, n * sizeof *count);
}

PlaceWays ways_counted(Arena *a, const Mesh *m, uint32_t n, PlaceWays w) {
  Memo seen = memo_new(a);
  Placement *at = NEW_ARRAY(a, Placement, w.n + 1);
  uint32_t k = 0;
  for (uint32_t i = 0; i < w.n; i++) {
    MemoEntry *e = counts_entry(&seen, m, n, &w.at[i]);
    if (e->value) continue;
    e->value = at;
    at[k++] = w.at[i];
  }
  return (PlaceWays){k, at};
}

void ways_keep(Memo *left, const Mesh *m, uint32_t n, const Placement *p) {
  counts_entry(left, m, n, p)->value = left;
}

PlaceWays ways_left(Arena *a, const Mesh *m, uint32_t n, PlaceWays w, Memo *left) {
  Placement *at = NEW_ARRAY(a, Placement, w.n + 1);
  uint32_t k = 0;
  for (uint32_t i = 0; i < w.n; i++)
    if (counts_entry(left, m, n, &w.at[i])->value) at[k++] = w.at[i];
  return (PlaceWays){k, at};
}

/* ---- cuts of a vertex ------------------------------------------------------------------------------------------ */

PlaceWays cuts_find(
    Arena *a, const PlaceGraph *g, const Mesh *m, uint32_t vertex, bool idle, const PartVectors *only, bool *narrow) {
  const PartVertex *v = &g->part->vertices.at[vertex];
  if (g->fixed && g->fixed->label[vertex]) return ways_one(a, m, g->fixed->label[vertex]);
  if (g->label) return g->label[vertex];
  return ways_find(a, m, v->n_label, v->most, idle, only ? &only[vertex] : NULL, narrow);
}

/* ---- the work of a site ----------------------------------------------------------------------------------- */

/* Points of the largest block that predicates let through. */
static double block_points(const PartVertex *v, const Mesh *m, const int8_t *label) {
  Arena *a = arena_new();
  Placement p;
  uint32_t *count = NEW_ARRAY(a, uint32_t, v->n_label + 1);
  memcpy(p.on, label, m->n);
  for (uint32_t l = 0; l < v->n_label; l++) count[l] = l < CUT_LABELS ? placement_count(m, &p, (int8_t)l) : 1;
  double points = part_points(v, count);
  arena_free(a);
  return points;
}

double cut_work(const PartVertex *v, const Mesh *m, const int8_t *label) {
  return v->times * (v->point > 1 ? v->point : 1) * block_points(v, m, label);
}

double placing_work(const PlaceGraph *g, const Placing *p) {
  double work = 0;
  for (uint32_t i = 0; i < g->part->vertices.len; i++)
    if (g->part->vertices.at[i].node->kind == EIN_VERTEX)
      work += cut_work(&g->part->vertices.at[i], &p->mesh, p->label[i]);
  return work;
}

/* The key of vertices that are alike here, apart from how often they run and what a point costs. */
static MemoEntry *alike(Arena *a, Memo *seen, const PartVertex *v) {
  Buf key = buf_new(a);
  buf_add(&key, (const char *)v->extent, v->n_label * sizeof *v->extent);
  buf_add(&key, (const char *)v->most, v->n_label * sizeof *v->most);
  return memo_get(seen, key.s, key.len);
}

static bool is_free(const PlaceGraph *g, uint32_t vertex, const PartVectors *only) {
  return !(g->fixed && g->fixed->label[vertex]) && !g->label && !(only && only[vertex].n);
}

/* Points of the largest block under the best cut; INFINITY: there is no cut. */
static double least_points(const PlaceGraph *g, const Mesh *m, uint32_t vertex, const PartVectors *only) {
  Arena *a = arena_new();
  bool narrow = false;
  PlaceWays cuts = cuts_find(a, g, m, vertex, true, only, &narrow);
  double least = INFINITY;
  for (uint32_t k = 0; k < cuts.n; k++)
    least = fmin(least, block_points(&g->part->vertices.at[vertex], m, cuts.at[k].on));
  arena_free(a);
  return least;
}

double work_least(const PlaceGraph *g, const Mesh *m, const PartVectors *only) {
  Arena *a = arena_new();
  Memo seen = memo_new(a);
  double all = 0;
  for (uint32_t i = 0; i < g->part->vertices.len; i++) {
    const PartVertex *v = &g->part->vertices.at[i];
    if (v->node->kind != EIN_VERTEX) continue;
    MemoEntry *e = is_free(g, i, only) && !v->ties ? alike(a, &seen, v) : NULL;
    double points = e && e->value ? *(double *)e->value : least_points(g, m, i, only);
    if (e && !e->value) e->value = arena_copy(a, &points, sizeof points);
    if (isinf(points)) all = INFINITY;
    else all += v->times * (v->point > 1 ? v->point : 1) * points;
  }
  arena_free(a);
  return all;
}
