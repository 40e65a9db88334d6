/* task/sites/peak.c - the memory of a mesh's sites, step by step: at each step the maximum over sites.
 *
 * What a buffer takes at a site depends on the site's places along a few axes; it is computed once for each of
 * these. Of sites that no such axis distinguishes, one is examined. If very many sites differ, a sample is examined:
 * along each axis its ends and its middle. A move's workspace depends on what all sites have: beyond some hundred
 * sites it is counted at some, beyond some thousand at none. */
#include "site.h"

enum { RANK = 256, EXACT = 1 << 24, FEW = 4, STAGED = 256, STAGED_LOOKS = 64 };

typedef struct Held {        /* of a buffer: */
  uint32_t axes;             /* bit a: its size depends on the place along axis a */
  size_t step[MESH_AXES];    /* in `bytes`, to the next place along the axis */
  int64_t *bytes;            /* by place along these axes */
} Held;

typedef struct Peak {
  const TaskGraph *t;
  Arena *arena;
  Held *held;                /* by buffer */
  uint32_t axes;             /* on which some buffer or a move's workspace depends */
  uint32_t few;              /* 0, or how many places along an axis are examined */
  int64_t *now;              /* by step, for the current site */
  Stagings moves;
} Peak;

static uint32_t axis_of(const TaskGraph *t, const Expr *e) {
  for (uint32_t a = 0; e->kind == EX_DIM && a < t->mesh.n; a++)
    if (task_axis(t, a) == e->name && t->mesh.size[a] > 1) return 1u << a;
  return 0;
}

static uint32_t axes_of(Peak *p, const TaskBuffer *b) {
  uint32_t axes = 0;
  ExprNodes nodes = expr_nodes(p->t->arena, b->when, HAS_DIM);
  for (uint32_t d = 0; d < b->rank; d++) expr_nodes_add(&nodes, b->dim[d]);
  for (const Expr *e; (e = expr_node(&nodes));) axes |= axis_of(p->t, e);
  p->axes |= axes;
  return axes;
}

static int64_t bytes_at(const TaskGraph *t, const TaskBuffer *b, const uint32_t *at) {
  int64_t shape[RANK], bytes;
  return mul_ok(task_shape(t, b, at, shape), dtype_size(b->dtype), &bytes) ? bytes : INT64_MAX >> 20;
}

/* Steps to the next site that differs along these axes; false after the last. */
static bool next_at(const Peak *p, uint32_t axes, uint32_t *at) {
  for (uint32_t a = 0; a < p->t->mesh.n; a++) {
    uint32_t size = p->t->mesh.size[a];
    if (!(axes >> a & 1)) continue;
    if (p->few && size > p->few && at[a] > 0 && at[a] + 1 < size) at[a] = at[a] < size / 2 ? size / 2 : size - 1;
    else at[a]++;
    if (at[a] < size) return true;
    at[a] = 0;
  }
  return false;
}

/* The number of this place among the examined places along the axis. */
static size_t place_number(const Peak *p, uint32_t a, uint32_t at) {
  uint32_t size = p->t->mesh.size[a];
  if (!p->few || size <= p->few || at < 2) return at;
  return at + 1 == size ? 3 : 2;
}

static size_t held_at(const Peak *p, const Held *h, const uint32_t *at) {
  size_t k = 0;
  for (uint32_t a = 0; a < p->t->mesh.n; a++) k += place_number(p, a, at[a]) * h->step[a];
  return k;
}

static void held_find(Peak *p, uint32_t i) {
  Held *h = &p->held[i];
  uint32_t at[MESH_AXES + 1] = {0};
  size_t n = 1;
  for (uint32_t a = 0; a < p->t->mesh.n; a++)
    if (h->axes >> a & 1) h->step[a] = n, n *= p->few && p->t->mesh.size[a] > p->few ? p->few : p->t->mesh.size[a];
  h->bytes = NEW_ARRAY(p->arena, int64_t, n);
  do h->bytes[held_at(p, h, at)] = bytes_at(p->t, &p->t->buffers.at[i], at);
  while (next_at(p, h->axes, at));
}

/* Whether workspace is counted at that site. */
static bool is_staged(const Peak *p, const uint32_t *at) {
  int64_t s = 0, sites = mesh_sites(&p->t->mesh);
  for (uint32_t a = 0; a < p->t->mesh.n; a++) s = s * p->t->mesh.size[a] + at[a];
  return sites <= STAGED || s % (sites / STAGED_LOOKS) == 0 || s + 1 == sites;
}

/* Raises `most` to the site's memory at each step. */
static void site_add(Peak *p, const uint32_t *at, int64_t *most) {
  int64_t always = 0, now = 0;
  for (uint32_t s = 0; s <= p->t->n_steps; s++) p->now[s] = 0;
  for (uint32_t i = 0; i < p->t->buffers.len; i++) {
    const TaskBuffer *b = &p->t->buffers.at[i];
    int64_t bytes = p->held[i].bytes[held_at(p, &p->held[i], at)];
    if (b->space != BUF_WORK) always += bytes;
    else p->now[b->first] += bytes, p->now[b->last + 1] -= bytes;
  }
  for (uint32_t i = 0; i < p->moves.len && is_staged(p, at); i++) {
    int64_t bytes = staging_at(p->moves.at[i], at);
    const Task *m = staging_move(p->moves.at[i]);
    p->now[m->step] += bytes, p->now[m->end + 1] -= bytes;
  }
  for (uint32_t s = 0; s < p->t->n_steps || s == 0; s++) {
    now += p->now[s];
    if (always + now > most[s]) most[s] = always + now;
  }
}

/* The axes along which a move's workspace may differ: all except those where each site has all, and gets all. */
static uint32_t axes_moved(const TaskGraph *t, const Task *m) {
  uint32_t axes = 0;
  for (uint32_t a = 0; a < t->mesh.n; a++)
    if (t->mesh.size[a] > 1 && (m->of.on[a] != PLACE_ALL || m->to.on[a] != PLACE_ALL)) axes |= 1u << a;
  return axes;
}

void task_steps_bytes(const TaskGraph *t, int64_t *most) {
  Peak p = {.t = t, .arena = arena_new()};
  uint32_t at[MESH_AXES + 1] = {0};
  double entries = 0;
  p.held = NEW_ARRAY(p.arena, Held, t->buffers.len + 1);
  p.now = NEW_ARRAY(p.arena, int64_t, t->n_steps + 3);
  for (uint32_t i = 0; i < t->buffers.len; i++) {
    double n = 1;
    p.held[i].axes = axes_of(&p, &t->buffers.at[i]);
    for (uint32_t a = 0; a < t->mesh.n; a++) n *= p.held[i].axes >> a & 1 ? t->mesh.size[a] : 1;
    entries += n;
  }
  if (entries > (double)EXACT) p.few = FEW;
  p.moves = stagings_of(p.arena, t);
  for (uint32_t i = 0; i < p.moves.len; i++) p.axes |= axes_moved(t, staging_move(p.moves.at[i]));
  for (uint32_t i = 0; i < t->buffers.len; i++) held_find(&p, i);
  for (uint32_t s = 0; s <= t->n_steps; s++) most[s] = 0;
  do site_add(&p, at, most);
  while (next_at(&p, p.axes, at));
  arena_free(p.arena);
}

int64_t task_most(const TaskGraph *t, const Expr *e) {
  Peak p = {.t = t};
  uint32_t at[MESH_AXES + 1] = {0}, axes = 0;
  ExprNodes nodes = expr_nodes(t->arena, e, HAS_DIM);
  int64_t most = INT64_MIN;
  double sites = 1;
  for (const Expr *x; (x = expr_node(&nodes));) axes |= axis_of(t, x);
  for (uint32_t a = 0; a < t->mesh.n; a++) sites *= axes >> a & 1 ? t->mesh.size[a] : 1;
  if (sites > (double)STAGED * (double)STAGED) p.few = FEW;
  do {
    int64_t now = task_at(t, e, at);
    most = now > most ? now : most;
  } while (next_at(&p, axes, at));
  return most;
}
