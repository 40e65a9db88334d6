/* plan/placing/choose.c - the choices on a mesh: the cuts of a vertex, the homes of a tensor; and a site's work for
 * each cut. */
#include <math.h>
#include <string.h>

#include "inside.h"

enum {
  WAYS = 1300,               /* of one tensor at most: tables have the square of this; */
  WIDE = 4100,               /* of a vertex with more labels, none of whose tensors has more than that; */
  COUNTS = 1400,             /* by counts; */
  TRIED = 1 << 15            /* to go through, if few of them are left */
};

typedef VEC(Placement) PlacementList;

typedef struct Choosing {
  Arena *arena;
  const Mesh *m;
  uint32_t n;                /* labels or dimensions */
  int64_t room[CUT_LABELS];  /* by label, the rest; 0: it is not cut */
  Placement now;
  int64_t calls, best;
  const WaysWanted *wanted;
  Memo seen;                 /* counts, if only these are distinguished */
  PlacementList all;
} Choosing;

static MemoEntry *counts_entry(Memo *seen, const Mesh *m, uint32_t n, const Placement *p) {
  uint32_t count[CUT_LABELS];
  n = n < CUT_LABELS ? n : CUT_LABELS;
  for (uint32_t d = 0; d < n; d++) count[d] = 1;
  for (uint32_t a = 0; a < m->n; a++)
    if (p->on[a] >= 0 && (uint32_t)p->on[a] < n) count[p->on[a]] *= m->size[a];
  return memo_get(seen, count, n * sizeof *count);
}

/* Whether it is among what is left, and the first with its counts, as far as that is wanted. */
static bool is_wanted(const WaysWanted *w, Memo *seen, const Mesh *m, uint32_t n, const Placement *p) {
  if (w->left && !counts_entry(w->left, m, n, p)->value) return false;
  if (!w->counts) return true;
  MemoEntry *e = counts_entry(seen, m, n, p);
  if (e->value) return false;
  e->value = seen;
  return true;
}

static bool allowed(const Choosing *c) {
  const PartVectors *only = c->wanted->only;
  if (!only || !only->n) return true;
  for (uint32_t i = 0; i < only->n; i++) {
    const uint32_t *d = only->at + (size_t)i * only->n_label;
    bool same = true;
    for (uint32_t l = 0; same && l < only->n_label; l++)
      same = (l < CUT_LABELS ? placement_count(c->m, &c->now, (int8_t)l) : 1) == d[l];
    if (same) return true;
  }
  return false;
}

static void choose_end(Choosing *c) {
  bool idle = c->wanted->idle;
  if ((!idle && c->calls < c->best) || !allowed(c)) return;
  if (!idle && c->calls > c->best) c->all.len = 0;
  c->best = c->calls;
  if (is_wanted(c->wanted, &c->seen, c->m, c->n, &c->now)) vec_push(c->arena, c->all, c->now);
}

/* Whether only counts matter, and this axis could change places with the one before. */
static bool is_alike(const Choosing *c, uint32_t a) {
  return c->wanted->counts && a > 0 && c->m->size[a] == c->m->size[a - 1];
}

static void choose_axis(Choosing *c, uint32_t a) {
  if (a == c->m->n) {
    choose_end(c);
    return;
  }
  uint32_t size = c->m->size[a], first = 0;
  if (is_alike(c, a)) first = c->now.on[a - 1] < 0 ? c->n : (uint32_t)c->now.on[a - 1];
  for (uint32_t d = first; d < c->n; d++) {
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

/* In how many ways so many labels with room can be cut: where axes are alike, the sequence does not matter. */
static double ways_number(const Choosing *c, uint32_t labels) {
  double n = 1, same = 1;
  for (uint32_t a = 0; a < c->m->n; a++) {
    if (c->m->size[a] <= 1) continue;
    same = is_alike(c, a) ? same + 1 : 1;
    n *= (labels + same) / same;
  }
  return n;
}

static double ways_of_labels(const Mesh *m, uint32_t labels) {
  double n = 1;
  for (uint32_t a = 0; a < m->n; a++) n *= m->size[a] > 1 ? labels + 1 : 1;
  return n;
}

/* Considers only the longest labels, fewer than would be possible: nothing is proven so. */
static void longest_only(Choosing *c, uint32_t smallest, uint32_t usable) {
  uint32_t most = CUT_LABELS;
  while (most > 1 && ways_of_labels(c->m, most) > (double)WAYS) most--;
  for (; usable > most; usable--) {
    uint32_t least = UINT32_MAX;
    for (uint32_t d = 0; d < c->n; d++)
      if (c->room[d] >= smallest && (least == UINT32_MAX || c->room[d] <= c->room[least])) least = d;
    c->room[least] = 0;
  }
}

/* Whether there are more ways than that to go through. */
static bool are_many(Choosing *c, double most) {
  uint32_t smallest = UINT32_MAX, usable = 0;
  for (uint32_t a = 0; a < c->m->n; a++)
    if (c->m->size[a] > 1 && c->m->size[a] < smallest) smallest = c->m->size[a];
  for (uint32_t d = 0; d < c->n; d++) usable += c->room[d] >= smallest;
  bool many = ways_number(c, usable) > most;
  if (many) longest_only(c, smallest, usable);
  return many;
}

PlaceWays ways_find(
    Arena *a, const Mesh *m, uint32_t n, const int64_t *most, const WaysWanted *w, bool *narrow) {
  Choosing c = {.arena = a, .m = m, .n = n < CUT_LABELS ? n : CUT_LABELS, .calls = 1, .wanted = w};
  bool all = !w->only || !w->only->n;
  c.seen = memo_new(a);
  for (uint32_t d = 0; d < c.n; d++) c.room[d] = most[d];
  double limit = w->counts ? COUNTS : w->left ? TRIED : w->wide && !*narrow ? WIDE : WAYS;
  if (all) *narrow |= are_many(&c, limit);
  choose_axis(&c, 0);
  PlaceWays found = {c.all.len, c.all.at};
  uint32_t kept = w->wide ? WIDE : WAYS;
  if (!all || w->counts || found.n <= kept || !are_many(&c, WAYS)) return found;
  *narrow = true;
  c.all = (PlacementList){0}, c.best = 0;
  choose_axis(&c, 0);
  if (c.all.len) return (PlaceWays){c.all.len, c.all.at};
  found.n = kept; /* what is left cuts other labels */
  return found;
}

PlaceWays ways_one(Arena *a, const Mesh *m, const int8_t *on) {
  Placement *p = NEW(a, Placement);
  memcpy(p->on, on, m->n);
  return (PlaceWays){1, p};
}

PlaceWays ways_of(Arena *a, const Mesh *m, uint32_t n, PlaceWays all, const WaysWanted *w) {
  Memo seen = memo_new(a);
  Placement *at = NEW_ARRAY(a, Placement, all.n + 1);
  uint32_t k = 0;
  for (uint32_t i = 0; i < all.n; i++)
    if (is_wanted(w, &seen, m, n, &all.at[i])) at[k++] = all.at[i];
  return (PlaceWays){k, at};
}

void ways_keep(Memo *left, const Mesh *m, uint32_t n, const Placement *p) {
  counts_entry(left, m, n, p)->value = left;
}

/* ---- cuts of a vertex ------------------------------------------------------------------------------------------ */

/* Whether what a table distinguishes of its cuts is never much. */
static bool is_wide(const Mesh *m, const PartVertex *v) {
  bool few = ways_of_labels(m, v->n_out) <= (double)WAYS;
  for (uint32_t k = 0; k < v->reads.len; k++) few = few && ways_of_labels(m, v->reads.at[k].rank) <= (double)WAYS;
  return few;
}

PlaceWays cuts_find(
    Arena *a, const PlaceGraph *g, const Mesh *m, uint32_t vertex, const WaysWanted *wanted, bool *narrow) {
  const PartVertex *v = &g->part->vertices.at[vertex];
  WaysWanted its = *wanted, *w = &its;
  its.wide = is_wide(m, v);
  if (g->fixed && g->fixed->label[vertex])
    return ways_of(a, m, v->n_label, ways_one(a, m, g->fixed->label[vertex]), w);
  if (g->label) return ways_of(a, m, v->n_label, g->label[vertex], w);
  return ways_find(a, m, v->n_label, v->most, w, narrow);
}

PlaceWays stays_find(
    Arena *a, const PlaceGraph *g, const Mesh *m, uint32_t tensor, const WaysWanted *w, bool *narrow) {
  const PlaceTensor *t = &g->tensors.at[tensor];
  if (g->fixed && g->fixed->home[tensor]) return ways_of(a, m, t->n, ways_one(a, m, g->fixed->home[tensor]->on), w);
  if (g->home) return ways_of(a, m, t->n, g->home[tensor], w);
  return ways_find(a, m, t->n, t->most, w, narrow);
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
  WaysWanted w = {.idle = true, .counts = true, .only = only ? &only[vertex] : NULL};
  PlaceWays cuts = cuts_find(a, g, m, vertex, &w, &narrow);
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
