/* driver/plan/page/traffic.c - which site receives how much from which other. */
#include "traffic.h"

#include <math.h>

#include "plan/placing/reach.h"

enum { RANK = INT8_MAX + 1 };

typedef struct Looking {
  Arena *arena;
  const PlaceGraph *g;
  const Mesh *m;
  uint32_t sites;
  uint32_t (*place)[MESH_AXES + 1]; /* by site */
  Traffic *out;
} Looking;

typedef struct Box { bool none; int64_t elements, from[RANK], to[RANK], wrap[RANK]; } Box; /* wrap: see reach.h */

/* Sites other than the first place, if only that has it, have none. */
static void box_find(const Looking *w, const PlaceTensor *t, const Placement *p, uint32_t site, Box *b) {
  b->elements = placement_box(w->m, p, t->n, t->extent, w->place[site], b->from, b->to);
  for (uint32_t a = 0; a < w->m->n; a++)
    if (p->on[a] == PLACE_FIRST && w->place[site][a]) b->none = true;
}

static double shared(uint32_t rank, const Box *has, const Box *wants) {
  double n = has->none || wants->none ? 0 : 1;
  for (uint32_t d = 0; d < rank; d++)
    n *= (double)wrap_shared(wants->from[d], wants->to[d], wants->wrap[d], has->from[d], has->to[d]);
  return n;
}

static void receive(Looking *w, uint32_t to, uint32_t from, double bytes) {
  if (bytes > 0) w->out->at[(size_t)(to / w->out->each) * w->out->n + from / w->out->each] += bytes;
}

/* ---- moves ------------------------------------------------------------------------------------------------ */

/* The number of its block: places along the axes that cut, or along which there are parts. */
static uint32_t block_of(const Looking *w, const Placement *p, uint32_t site) {
  uint32_t k = 0;
  for (uint32_t a = 0; a < w->m->n; a++)
    if (p->on[a] != PLACE_ALL) k = k * w->m->size[a] + w->place[site][a];
  return k;
}

/* The i-th nearest: itself, then alternately below and above, while possible. */
static uint32_t nearest(uint32_t site, uint32_t sites, uint32_t i) {
  uint32_t below = site, above = sites - 1 - site, both = below < above ? below : above;
  if (i <= 2 * both) return i % 2 ? site - (i + 1) / 2 : site + i / 2;
  return below > above ? site - (i - both) : site + (i - both);
}

/* Each site gets what it wants and lacks, each block (and each part) from the nearest that has it. By site: what it
 * has, what it wants. */
static void boxes_move(
    Looking *w, uint32_t rank, const Placement *from, const Box *have, const Box *want, double times) {
  uint32_t *seen = NEW_ARRAY(w->arena, uint32_t, w->sites + 1), *block = NEW_ARRAY(w->arena, uint32_t, w->sites);
  uint32_t blocks = w->sites / (uint32_t)placement_copies(w->m, from);
  for (uint32_t s = 0; s < w->sites; s++) block[s] = block_of(w, from, s);
  for (uint32_t s = 0; s < w->sites; s++)
    for (uint32_t i = 0, left = blocks; left; i++) {
      uint32_t other = nearest(s, w->sites, i);
      if (seen[block[other]] == s + 1) continue;
      seen[block[other]] = s + 1;
      left--;
      if (other != s) receive(w, s, other, times * shared(rank, &have[other], &want[s]));
    }
}

static void move(Looking *w, const PlaceTensor *t, const Placement *from, const Placement *to, double times) {
  if (placement_equal(w->m, from, to)) return;
  Box *have = NEW_ARRAY(w->arena, Box, w->sites), *want = NEW_ARRAY(w->arena, Box, w->sites);
  for (uint32_t s = 0; s < w->sites; s++) {
    box_find(w, t, from, s, &have[s]);
    box_find(w, t, to, s, &want[s]);
  }
  boxes_move(w, t->n, from, have, want, times);
}

/* Requests at indices from data, assuming evenly spread places; for blocks at several sites, from the nearest. */
static void ask(Looking *w, const Placing *x, uint32_t i, uint32_t k) {
  uint32_t rank = w->g->part->vertices.at[i].reads.at[k].rank;
  const Placement *home = &x->home[w->g->tensor[i][k]];
  Box *have = NEW_ARRAY(w->arena, Box, w->sites), *want = NEW_ARRAY(w->arena, Box, w->sites);
  double *share = NEW_ARRAY(w->arena, double, w->sites);
  uint32_t *seen = NEW_ARRAY(w->arena, uint32_t, w->sites + 1);
  for (uint32_t s = 0; s < w->sites; s++) reach_home(w->g, w->m, i, k, home, w->place[s], have[s].from, have[s].to);
  for (uint32_t s = 0; s < w->sites; s++) {
    double bytes = reach_asked(w->g, w->m, i, k, home, x->label[i], w->place[s], want[s].from, want[s].to), all = 0;
    for (uint32_t n = 0; n < w->sites; n++) { /* the nearest first */
      uint32_t other = nearest(s, w->sites, n), b = block_of(w, home, other);
      share[n] = seen[b] == s + 1 || other == s ? 0 : shared(rank, &have[other], &want[s]);
      seen[b] = s + 1;
      all += share[n];
    }
    double given = 0, so_far = 0; /* whole bytes, which add up */
    for (uint32_t n = 0; all > 0 && n < w->sites; n++) {
      double upto = floor(bytes * (so_far += share[n]) / all + 0.5);
      receive(w, s, nearest(s, w->sites, n), upto - given);
      given = upto;
    }
  }
}

/* Windows of what is read. */
static void reach(Looking *w, const Placing *x, uint32_t i, uint32_t k) {
  const PartRead *r = &w->g->part->vertices.at[i].reads.at[k];
  uint32_t t = w->g->tensor[i][k];
  Box *have = NEW_ARRAY(w->arena, Box, w->sites), *want = NEW_ARRAY(w->arena, Box, w->sites);
  for (uint32_t s = 0; s < w->sites; s++) {
    reach_home(w->g, w->m, i, k, &x->home[t], w->place[s], have[s].from, have[s].to);
    reach_wanted(
        w->g, w->m, i, k, r->call ? x->label[i] : x->home[i].on, w->place[s], want[s].from, want[s].to, want[s].wrap);
  }
  boxes_move(w, r->rank, &x->home[t], have, want, r->times * dtype_size(w->g->tensors.at[t].node->dtype));
}

/* ---- groups --------------------------------------------------------------------------------------------------- */

/* Whether two sites differ only along axes in `on`, a bit mask. */
static bool same_but(const Looking *w, uint32_t s, uint32_t t, uint32_t on) {
  for (uint32_t a = 0; a < w->m->n; a++)
    if (!(on >> a & 1) && w->place[s][a] != w->place[t][a]) return false;
  return true;
}

/* What all sites of a group have is shared evenly: this site's share, in elements. */
static double share_of(const Looking *w, int64_t elements, uint32_t site, uint32_t on) {
  int64_t k = 0, n = 1;
  for (uint32_t a = 0; a < w->m->n; a++)
    if (on >> a & 1) k = k * w->m->size[a] + w->place[site][a], n *= w->m->size[a];
  int64_t even = elements / n, rest = elements % n;
  return (double)(even * (k + 1) + rest * (k + 1) / n - even * k - rest * k / n);
}

static void group_receives(Looking *w, uint32_t s, uint32_t on, bool to_it, double bytes) {
  for (uint32_t t = 0; t < w->sites; t++)
    if (t != s && same_but(w, s, t, on)) receive(w, to_it ? s : t, to_it ? t : s, bytes);
}

static uint32_t axes_on(const Mesh *m, const Placement *p, int8_t what) {
  uint32_t on = 0;
  for (uint32_t a = 0; a < m->n; a++)
    if (p->on[a] == what) on |= 1u << a;
  return on;
}

static void copy(Looking *w, const PlaceTensor *t, const Placement *home, double times) {
  uint32_t all = axes_on(w->m, home, PLACE_ALL);
  Box b;
  for (uint32_t s = 0; s < w->sites; s++) {
    box_find(w, t, home, s, &b);
    group_receives(w, s, all, false, times * share_of(w, b.elements, s, all));
  }
}

/* ---- everything together ----------------------------------------------------------------------------------------- */

static void tensor_look(Looking *w, const Placing *x, uint32_t i) {
  const PlaceTensor *t = &w->g->tensors.at[i];
  double bytes = dtype_size(t->node->dtype);
  if (t->vertex < 0) {
    copy(w, t, &x->home[i], bytes);
    return;
  }
  const PartVertex *v = &w->g->part->vertices.at[i];
  Placement whole, made = placing_made(w->g, x, i, &whole), between = placing_between(w->g, x, i);
  if (v->node->kind == EIN_STATE) return;
  move(w, t, &made, &between, v->times * t->part);
  move(w, t, &between, &x->home[i], v->times * bytes);
}

static void read_look(Looking *w, const Placing *x, uint32_t i, uint32_t k) {
  double times;
  uint32_t n = w->g->tensor[i][k];
  if (placing_again(w->g, x, i, k)) return;
  if (!reach_is_plain(w->g, i, k)) {
    if (placing_fetches(w->g, x, i, k)) ask(w, x, i, k);
    else reach(w, x, i, k);
    return;
  }
  const PlaceTensor *t = &w->g->tensors.at[n];
  Placement to = placing_wanted(w->g, x, i, k, &times);
  move(w, t, &x->home[n], &to, times * dtype_size(t->node->dtype));
}

static void all_look(Looking *w, const Placing *x) {
  Arena *kept = w->arena;
  for (uint32_t i = 0; i < w->g->tensors.len; i++) {
    w->arena = arena_new();
    tensor_look(w, x, i);
    for (uint32_t k = 0; w->g->tensors.at[i].vertex >= 0 && k < w->g->part->vertices.at[i].reads.len; k++)
      read_look(w, x, i, k);
    arena_free(w->arena);
  }
  w->arena = kept;
}

Traffic traffic_find(const Sites *p) {
  Arena *a = p->s->arena;
  int64_t sites = mesh_sites(&p->placing->mesh);
  Traffic x = {0};
  if (sites > TRAFFIC_LOOKED) return x;
  Looking w = {.arena = a, .g = p->places, .m = &p->placing->mesh, .sites = (uint32_t)sites, .out = &x};
  x.each = (w.sites + TRAFFIC_SITES - 1) / TRAFFIC_SITES;
  x.n = (w.sites + x.each - 1) / x.each;
  x.at = NEW_ARRAY(a, double, (size_t)x.n * x.n);
  w.place = arena_alloc(a, arena_array_size(sizeof *w.place, w.sites));
  for (uint32_t s = 0; s < w.sites; s++) mesh_place(w.m, s, w.place[s]);
  all_look(&w, p->placing);
  for (size_t i = 0; i < (size_t)x.n * x.n; i++)
    if (x.at[i] > x.most) x.most = x.at[i];
  return x;
}
