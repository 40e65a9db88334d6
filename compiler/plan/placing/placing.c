/* plan/placing/placing.c - the network of a graph on a mesh: a variable for each vertex's cut and one for each tensor's home. */
#include "placing.h"

#include <math.h>
#include <string.h>

#include "plan/network/network.h"
#include "inside.h"
#include "windows.h"

#define ENTRY 100.0            /* additions that take as long as an entry of a table, about; */
#define NEXT_TO_NONE 1e-13     /* of all bytes, for all the work that there may be; */
#define NEXT_TO_NONE_LEFT 1e-10 /*  and of those that move, at most */
#define ENTRY_LEAST 10.0       /*   and as one of a table by counts */

/* ---- the graph ------------------------------------------------------------------------------------------ */

static uint32_t input_tensor(Arena *a, PlaceGraph *g, Map *seen, const PartRead *r) {
  uint32_t *k = map_find(seen, r->node);
  if (k) return *k;
  PlaceTensor t = {.node = r->node, .vertex = -1, .n = r->rank, .extent = r->extent, .bytes = dtype_size(r->node->dtype)};
  int64_t *most = NEW_ARRAY(a, int64_t, r->rank + 1);
  for (uint32_t d = 0; d < r->rank; d++) {
    most[d] = r->extent[d] > 1 ? r->extent[d] : 1;
    t.bytes *= (double)r->extent[d];
  }
  for (uint32_t d = 0; t.bytes <= 0 && d < r->rank; d++) most[d] = 1;
  t.most = most;
  k = NEW(a, uint32_t);
  *k = g->tensors.len;
  vec_push(a, g->tensors, t);
  map_put(seen, r->node, k);
  return *k;
}

static double part_size(const EinNode *n) {
  if (n->kind != EIN_VERTEX || !n->sum) return dtype_size(n->dtype);
  return dtype_size(n->sum->acc) + (n->sum->reducer == RED_ARGMAX || n->sum->reducer == RED_ARGMIN ? 8 : 0);
}

PlaceGraph *place_graph(Arena *a, const PartGraph *part) {
  PlaceGraph *g = NEW(a, PlaceGraph);
  Map seen = map_new(a);
  g->part = part;
  g->tensor = NEW_ARRAY(a, const uint32_t *, part->vertices.len + 1);
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    const PartVertex *v = &part->vertices.at[i];
    PlaceTensor t = {v->node, (int32_t)i, v->n_out, v->extent, v->most, dtype_size(v->node->dtype), part_size(v->node)};
    for (uint32_t l = 0; l < v->n_out; l++) t.bytes *= (double)v->extent[l];
    vec_push(a, g->tensors, t);
  }
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    const PartVertex *v = &part->vertices.at[i];
    uint32_t *tensor = NEW_ARRAY(a, uint32_t, v->reads.len + 1);
    for (uint32_t k = 0; k < v->reads.len; k++) {
      const PartRead *r = &v->reads.at[k];
      tensor[k] = r->from >= 0 ? (uint32_t)r->from : input_tensor(a, g, &seen, r);
    }
    g->tensor[i] = tensor;
  }
  return g;
}

/* ---- what a choice means -------------------------------------------------------------------------------- */

/* As it comes out of the vertex's kernels. */
Placement made_at(const PartVertex *v, const Mesh *m, const int8_t *label) {
  Placement p = {{0}};
  for (uint32_t a = 0; a < m->n; a++) p.on[a] = label[a] < 0 ? PLACE_ALL : label[a] < (int)v->n_out ? label[a] : PLACE_PART;
  return p;
}

/* As the vertex's kernels want to have it, in the maker's labels; or a state, whose labels are its dimensions. */
Placement wanted_at(const PartRead *r, const Mesh *m, const int8_t *label) {
  Placement p = {{0}};
  for (uint32_t a = 0; a < m->n; a++) {
    p.on[a] = PLACE_ALL;
    for (uint32_t k = r->rank; k-- > 0;) {
      int32_t d = r->from < 0 ? (int32_t)k : r->made[k];
      if (label[a] >= 0 && r->label[k] == label[a] && d >= 0) p.on[a] = (int8_t)d;
    }
  }
  return p;
}

/* Where it is in parts, it is reduced to where it is to be. */
Placement reduced_at(const Mesh *m, const Placement *made, const Placement *home) {
  Placement p = *made;
  for (uint32_t a = 0; a < m->n; a++)
    if (made->on[a] == PLACE_PART) p.on[a] = home->on[a];
  return p;
}

/* Copies of an input that is stored once. */
static double stored(const Mesh *m, const PlaceTensor *t, const Placement *home) {
  if (t->node->kind == EIN_TURNS) return 0; /* they are a state's first value, and known everywhere */
  return t->bytes * (double)(placement_copies(m, home) - 1);
}

/* ---- what moves ---------------------------------------------------------------------------------------------- */

static double moved(const PlaceTensor *t, const Mesh *m, const Placement *from, const Placement *to) {
  if (placement_equal(m, from, to)) return 0;
  if (mesh_sites(m) > PLACING_LOOKED) return t->bytes * place_share(m, from, to);
  return dtype_size(t->node->dtype) * place_move(m, t->n, t->extent, from, to);
}

static double reduced(const PlaceTensor *t, const Mesh *m, const Placement *made, const Placement *between) {
  if (mesh_sites(m) <= PLACING_LOOKED) return t->part * place_reduce(m, t->n, t->extent, made, between);
  return t->part * t->bytes / dtype_size(t->node->dtype) * place_reduce_share(m, made, between);
}

Placement placing_between(const PlaceGraph *g, const Placing *p, uint32_t i) {
  const PlaceTensor *t = &g->tensors.at[i];
  Placement made = made_at(&g->part->vertices.at[i], &p->mesh, p->label[i]);
  return place_between(&p->mesh, t->n, t->most, &made, &p->home[i]);
}

double placing_brought(const PlaceGraph *g, const Placing *p, uint32_t i) {
  const PlaceTensor *t = &g->tensors.at[i];
  if (t->vertex < 0) return stored(&p->mesh, t, &p->home[i]);
  const PartVertex *v = &g->part->vertices.at[i];
  if (v->node->kind == EIN_STATE) return 0; /* it is put there */
  Placement made = made_at(v, &p->mesh, p->label[i]), between = placing_between(g, p, i);
  return v->times * (reduced(t, &p->mesh, &made, &between) + moved(t, &p->mesh, &between, &p->home[i]));
}

/* A stack has what its maker made in each turn: so many times as much. */
double turns_in(const PlaceTensor *t, const PartRead *r) {
  double bytes = dtype_size(t->node->dtype);
  for (uint32_t k = 0; k < r->rank; k++) bytes *= (double)r->extent[k];
  return t->bytes > 0 ? bytes / t->bytes : 0;
}

Placement placing_wanted(const PlaceGraph *g, const Placing *p, uint32_t i, uint32_t k, double *times) {
  const PartRead *r = &g->part->vertices.at[i].reads.at[k];
  *times = r->times * turns_in(&g->tensors.at[g->tensor[i][k]], r);
  return wanted_at(r, &p->mesh, r->call ? p->label[i] : p->home[i].on);
}

Placement placing_made(const PlaceGraph *g, const Placing *p, uint32_t i, Placement *between) {
  Placement made = made_at(&g->part->vertices.at[i], &p->mesh, p->label[i]);
  *between = reduced_at(&p->mesh, &made, &p->home[i]);
  return made;
}

double placing_read(const PlaceGraph *g, const Placing *p, uint32_t i, uint32_t k) {
  double times;
  uint32_t t = g->tensor[i][k];
  Placement to = placing_wanted(g, p, i, k, &times);
  if (!reach_is_plain(g, i, k))
    return reach_bytes(g, &p->mesh, i, k, &p->home[t], g->part->vertices.at[i].reads.at[k].call ? p->label[i] : p->home[i].on);
  return times * moved(&g->tensors.at[t], &p->mesh, &p->home[t], &to);
}

bool placing_ways(const PlaceGraph *g, const Placing *p, uint32_t i, uint32_t k, double *whole, double *asked) {
  if (g->part->vertices.at[i].reads.at[k].asked <= 0 || (g->cost && g->cost->paper)) return false; /* the paper knows of no requests */
  reach_ways(g, &p->mesh, i, k, &p->home[g->tensor[i][k]], p->label[i], whole, asked);
  return true;
}

bool placing_fetches(const PlaceGraph *g, const Placing *p, uint32_t i, uint32_t k) {
  double whole, asked;
  return placing_ways(g, p, i, k, &whole, &asked) && asked < whole;
}

double placing_received(const PlaceGraph *g, const Placing *p, uint32_t i) {
  double bytes = 0;
  for (uint32_t k = 0; k < g->part->vertices.at[i].reads.len; k++) bytes += placing_read(g, p, i, k);
  return bytes;
}

double placing_bytes(const PlaceGraph *g, const Placing *p) {
  double bytes = 0;
  for (uint32_t i = 0; i < g->tensors.len; i++) bytes += placing_brought(g, p, i);
  for (uint32_t i = 0; i < g->part->vertices.len; i++) bytes += placing_received(g, p, i);
  return bytes;
}

const char *placing_dimension(Arena *a, const PlaceGraph *g, uint32_t tensor, uint32_t d) {
  const PlaceTensor *t = &g->tensors.at[tensor];
  if (t->vertex >= 0) return g->part->vertices.at[t->vertex].label[d]->s;
  for (uint32_t i = 0; i < g->part->vertices.len; i++) {
    const PartVertex *v = &g->part->vertices.at[i];
    for (uint32_t k = 0; k < v->reads.len; k++)
      if (g->tensor[i][k] == tensor && v->reads.at[k].label[d] >= 0) return v->label[v->reads.at[k].label[d]]->s;
  }
  return arena_printf(a, "%u", d + 1);
}

void placing_counts(const PlaceGraph *g, const Placing *p, uint32_t vertex, uint32_t *d) {
  for (uint32_t l = 0; l < g->part->vertices.at[vertex].n_label; l++) d[l] = 1;
  for (uint32_t a = 0; a < p->mesh.n; a++)
    if (p->label[vertex][a] >= 0) d[p->label[vertex][a]] *= p->mesh.size[a];
}

/* ---- the network ------------------------------------------------------------------------------------------- */

typedef struct Distinct { uint32_t n; uint32_t *of; const Placement **at; } Distinct; /* by value; by class */

typedef struct Pair { uint64_t key; double share[2]; } Pair; /* key 0: none */

enum { PAIR_BITS = 5, PAIRS_FIRST = 1024 };

typedef struct Finder {
  Arena *arena;
  const PlaceGraph *g;
  const Mesh *m;
  Network *n;
  const PartVectors *only;   /* by vertex; NULL: nothing is said */
  PlaceWays *label, *home;   /* by vertex, by tensor */
  uint32_t *cut, *stay;      /* variables of these; a state has no cut */
  bool narrow;               /* of some, not all ways are there */
  double **work;             /* by vertex, by way to cut it: of a site */
  double allowed;            /*   and so much in all; 0: any */
  Pair *pairs;               /* by two placements; their room is a power of two */
  uint32_t n_pairs, pairs_room;
  Links links;               /* by seconds */
  Memo shares;               /* by the placements on both sides: the shares of a tensor that move between them */
  Memo costs;                /* by these and bytes: 1 + the number of a cost like that */
  Memo windows;              /* the same of windows */
  double entries;            /* of tables that were made */
  bool counts;               /* placements are told apart by their counts alone */
} Finder;

static MemoEntry *distinct_entry(Arena *a, const Finder *f, Memo *seen, uint32_t rank, const Placement *p) {
  if (!f->counts) return memo_get(seen, p->on, f->m->n);
  PlaceCounts c = place_counts(a, f->m, rank, p);
  double *key = NEW_ARRAY(a, double, rank + 1);
  memcpy(key, c.count, rank * sizeof *key);
  key[rank] = c.parts;
  return memo_get(seen, key, (rank + 1) * sizeof *key);
}

/* Of a tensor with so many dimensions. */
static Distinct distinct(Arena *a, const Finder *f, uint32_t rank, uint32_t n, const Placement *all) {
  Distinct x = {0, NEW_ARRAY(a, uint32_t, n), NEW_ARRAY(a, const Placement *, n)};
  Memo seen = memo_new(a);
  for (uint32_t i = 0; i < n; i++) {
    MemoEntry *e = distinct_entry(a, f, &seen, rank, &all[i]);
    if (!e->value) x.at[x.n++] = &all[i], e->value = (void *)(uintptr_t)x.n;
    x.of[i] = (uint32_t)(uintptr_t)e->value - 1;
  }
  return x;
}

static void key_add(Buf *key, const Mesh *m, uint32_t n, const Placement *all) {
  buf_char(key, PLACE_PART - 1);
  for (uint32_t i = 0; i < n; i++) buf_add(key, (const char *)all[i].on, m->n);
}

static uint32_t pair_slot(const Pair *at, uint32_t room, uint64_t key) {
  uint32_t k = hash_mix(0, key) & (room - 1);
  while (at[k].key && at[k].key != key) k = (k + 1) & (room - 1);
  return k;
}

/* Where it is, or is to be put. */
static Pair *pair_get(Finder *f, uint64_t key) {
  if (f->n_pairs >= f->pairs_room / 2) {
    uint32_t room = f->pairs_room ? f->pairs_room * 2 : PAIRS_FIRST;
    Pair *pairs = NEW_ARRAY(f->arena, Pair, room);
    for (uint32_t i = 0; i < f->pairs_room; i++)
      if (f->pairs[i].key) pairs[pair_slot(pairs, room, f->pairs[i].key)] = f->pairs[i];
    f->pairs = pairs;
    f->pairs_room = room;
  }
  Pair *p = &f->pairs[pair_slot(f->pairs, f->pairs_room, key)];
  f->n_pairs += !p->key;
  return p;
}

/* What moves of a tensor from where it is made to its home, as shares: in parts (of which an element counts `part`) and after. Found once for
 * those that differ in their dimensions' numbers alone. between NULL: nothing is in parts. */
static double brought_like(Finder *f, double part, const Placement *made, const Placement *between, const Placement *home) {
  const Placement *at[] = {made, home, between};
  int8_t number[CUT_LABELS + 1], next = 0;
  uint64_t key = between ? 3 : 2; /* at, by axis, dimensions numbered as they come */
  uint32_t n = between ? 3 : 2;
  memset(number, -1, sizeof number);
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t a = 0; a < f->m->n; a++) {
      int8_t on = at[k]->on[a];
      if (on >= 0 && number[on] < 0) number[on] = next++;
      key = key << PAIR_BITS | (uint64_t)((on < 0 ? on : number[on]) - PLACE_FIRST);
    }
  bool fits = n * f->m->n * PAIR_BITS < 62 && next - PLACE_FIRST < 1 << PAIR_BITS;
  Pair *known = fits ? pair_get(f, key) : NULL, fresh;
  if (!known || !known->key) {
    fresh.share[0] = between ? place_reduce_share(f->m, made, between) : 0;
    fresh.share[1] = place_share(f->m, between ? between : made, home);
    fresh.key = key;
    if (known) *known = fresh;
    else known = &fresh;
  }
  return part * known->share[0] + known->share[1];
}

/* How a tensor gets from x's placements to y's: so many bytes in all, an element in parts counts `part` times. */
typedef struct Carried { double bytes, part; const PlaceTensor *tensor; } Carried; /* by value */

static bool in_parts(const Mesh *m, uint32_t n, const Placement *at) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t a = 0; a < m->n; a++)
      if (at[i].on[a] == PLACE_PART) return true;
  return false;
}

/* What room there is, as far as it counts: where parts go on the way hangs on it. */
static void room_add(Buf *key, const Mesh *m, const Carried *c) {
  int64_t sites = mesh_sites(m);
  buf_add(key, (const char *)&c->part, sizeof c->part);
  for (uint32_t d = 0; d < c->tensor->n; d++) {
    int64_t most = c->tensor->most[d] < sites ? c->tensor->most[d] : sites;
    buf_add(key, (const char *)&most, sizeof most);
  }
}

static const PlaceCounts *counts_of(Arena *a, const Mesh *m, uint32_t rank, const Distinct *x) {
  PlaceCounts *c = NEW_ARRAY(a, PlaceCounts, x->n + 1);
  for (uint32_t i = 0; i < x->n; i++) c[i] = place_counts(a, m, rank, x->at[i]);
  return c;
}

static void shares_least(Finder *f, const Distinct *p, const Distinct *q, const Carried *c, double *share) {
  Arena *a = arena_new();
  uint32_t rank = c->tensor->n;
  const PlaceCounts *from = counts_of(a, f->m, rank, p), *to = counts_of(a, f->m, rank, q);
  for (uint32_t i = 0; i < p->n; i++)
    for (uint32_t j = 0; j < q->n; j++) share[(size_t)i * q->n + j] = place_share_least(c->part, rank, &from[i], &to[j]);
  arena_free(a);
}

/* Each of p to each of q. */
static const double *shares(Finder *f, const Distinct *p, const Distinct *q, bool parts, const Carried *c) {
  Buf key = buf_new(f->arena);
  if (parts) room_add(&key, f->m, c);
  for (uint32_t i = 0; i < p->n; i++) key_add(&key, f->m, 1, p->at[i]);
  key_add(&key, f->m, 0, NULL);
  for (uint32_t j = 0; j < q->n; j++) key_add(&key, f->m, 1, q->at[j]);
  MemoEntry *e = memo_get(&f->shares, key.s, key.len);
  if (e->value) return e->value;
  double *share = NEW_ARRAY(f->arena, double, (size_t)p->n * q->n);
  if (f->counts) shares_least(f, p, q, c, share);
  for (uint32_t i = 0; !f->counts && i < p->n; i++) {
    bool some = parts && in_parts(f->m, 1, p->at[i]);
    for (uint32_t j = 0; j < q->n; j++) {
      Placement between;
      if (some) between = place_between(f->m, c->tensor->n, c->tensor->most, p->at[i], q->at[j]);
      share[(size_t)i * q->n + j] = brought_like(f, c->part, p->at[i], some ? &between : NULL, q->at[j]);
    }
  }
  return e->value = share;
}

/* A table of what it costs to bring a tensor from x's placements to y's: by value. */
static void cost_add(Finder *f, uint32_t x, uint32_t n_x, const Placement *at_x, uint32_t y, uint32_t n_y, const Placement *at_y, Carried c) {
  Arena *a = arena_new();
  Buf key = buf_new(a);
  bool parts = in_parts(f->m, n_x, at_x);
  buf_add(&key, (const char *)&c.bytes, sizeof c.bytes);
  if (parts) room_add(&key, f->m, &c);
  key_add(&key, f->m, n_x, at_x);
  key_add(&key, f->m, n_y, at_y);
  MemoEntry *e = memo_get(&f->costs, key.s, key.len);
  if (e->value) {
    network_cost2_like(f->n, (uint32_t)((uintptr_t)e->value - 1), x, y);
    arena_free(a);
    return;
  }
  Distinct p = distinct(a, f, c.tensor->n, n_x, at_x), q = distinct(a, f, c.tensor->n, n_y, at_y);
  const double *share = shares(f, &p, &q, parts, &c);
  double *cost = NEW_ARRAY(a, double, (size_t)p.n * q.n);
  for (size_t i = 0; i < (size_t)p.n * q.n; i++) cost[i] = c.bytes * share[i];
  f->entries += (double)p.n * q.n;
  e->value = (void *)((uintptr_t)network_cost2(f->n, x, p.n, p.of, y, q.n, q.of, cost) + 1);
  arena_free(a);
}

/* What a tensor's way costs: memory, and seconds or bytes. */
static double pair_cost(Finder *f, const PairCost *c, bool parts, const Placement *from, const Placement *to) {
  double cost = pair_memory(c, from, to), bytes = c->size;
  if (c->times <= 0) return cost;
  if (c->links) return cost + pair_seconds(c, from, to);
  if (f->g->cost->paper) return cost + pair_elements(c, from, to);
  Placement between;
  if (parts) between = place_between(f->m, c->rank, c->most, from, to);
  for (uint32_t d = 0; d < c->rank; d++) bytes *= (double)c->extent[d];
  if (bytes <= 0) return cost;
  return cost + c->times * bytes * brought_like(f, c->part / c->size, from, parts ? &between : NULL, to);
}

/* The same where costs are others than bytes. */
static void pair_add(Finder *f, uint32_t x, uint32_t n_x, const Placement *at_x, uint32_t y, uint32_t n_y, const Placement *at_y,
                     const PairCost *c) {
  Arena *a = arena_new();
  Buf key = buf_new(a);
  pair_key(c, &key);
  key_add(&key, f->m, n_x, at_x);
  key_add(&key, f->m, n_y, at_y);
  MemoEntry *e = memo_get(&f->costs, key.s, key.len);
  if (e->value) {
    network_cost2_like(f->n, (uint32_t)((uintptr_t)e->value - 1), x, y);
    arena_free(a);
    return;
  }
  Distinct p = distinct(a, f, c->rank, n_x, at_x), q = distinct(a, f, c->rank, n_y, at_y);
  double *cost = NEW_ARRAY(a, double, (size_t)p.n * q.n);
  const PlaceCounts *from = f->counts ? counts_of(a, f->m, c->rank, &p) : NULL, *to = f->counts ? counts_of(a, f->m, c->rank, &q) : NULL;
  for (uint32_t i = 0; f->counts && i < p.n; i++)
    for (uint32_t j = 0; j < q.n; j++) cost[(size_t)i * q.n + j] = pair_elements_least(c, &from[i], &to[j]);
  for (uint32_t i = 0; !f->counts && i < p.n; i++) {
    bool parts = in_parts(f->m, 1, p.at[i]);
    for (uint32_t j = 0; j < q.n; j++) cost[(size_t)i * q.n + j] = pair_cost(f, c, parts, p.at[i], q.at[j]);
  }
  f->entries += (double)p.n * q.n;
  e->value = (void *)((uintptr_t)network_cost2(f->n, x, p.n, p.of, y, q.n, q.of, cost) + 1);
  arena_free(a);
}

static const Links *links_of(const Finder *f) {
  return f->g->cost && f->g->cost->seconds ? &f->links : NULL;
}

static void vertex_make(Finder *f, uint32_t i) {
  const PartVertex *v = &f->g->part->vertices.at[i];
  const PlaceTensor *t = &f->g->tensors.at[i];
  const PlaceWays *w = &f->label[i];
  Placement *made = NEW_ARRAY(f->arena, Placement, w->n);
  for (uint32_t k = 0; k < w->n; k++) made[k] = made_at(v, f->m, w->at[k].on);
  if (f->g->cost) {
    PairCost c = pair_made(f->g, f->m, links_of(f), i);
    double *alone = NEW_ARRAY(f->arena, double, w->n);
    for (uint32_t k = 0; k < w->n; k++) alone[k] = cut_cost(f->g, f->m, i, w->at[k].on);
    network_cost(f->n, f->cut[i], alone);
    pair_add(f, f->cut[i], w->n, made, f->stay[i], f->home[i].n, f->home[i].at, &c);
    return;
  }
  cost_add(f, f->cut[i], w->n, made, f->stay[i], f->home[i].n, f->home[i].at,
           (Carried){v->times * t->bytes, t->part / dtype_size(t->node->dtype), t});
}

/* What windows of it cost by another measure than bytes alone. */
static void windows_price(Finder *f, uint32_t i, uint32_t k, const PairCost *c, const Distinct *home, const Distinct *on, double *cost) {
  size_t n = (size_t)home->n * on->n;
  double price = c->price[PHASE_KERNEL], *other = NEW_ARRAY(f->arena, double, n + 1);
  if (c->times <= 0)
    for (size_t x = 0; x < n; x++) cost[x] = 0;
  else if (c->links) {
    windows_costs(f->g, f->m, c->links, i, k, home->n, home->at, on->n, on->at, cost, NULL);
    for (size_t x = 0; x < n; x++) cost[x] *= c->times;
  } else reach_costs(f->g, f->m, i, k, home->n, home->at, on->n, on->at, c->g->cost->paper, cost);
  if (price <= 0) return;
  windows_costs(f->g, f->m, NULL, i, k, home->n, home->at, on->n, on->at, NULL, other);
  for (size_t x = 0; x < n; x++) cost[x] += price * other[x];
}

/* All that windows' costs hang on, where neither data nor memory's price do. */
static void windows_key(const Finder *f, uint32_t i, uint32_t k, const PlaceWays *home, const PlaceWays *w, Buf *key) {
  const PartVertex *v = &f->g->part->vertices.at[i];
  const PartRead *r = &v->reads.at[k];
  const PlaceTensor *t = &f->g->tensors.at[f->g->tensor[i][k]];
  const double numbers[] = {r->times, dtype_size(t->node->dtype), r->rank, v->n_label, t->n, r->call, r->from >= 0, t->bytes};
  buf_add(key, (const char *)numbers, sizeof numbers);
  buf_add(key, (const char *)r->index, r->rank * sizeof *r->index);
  buf_add(key, (const char *)r->extent, r->rank * sizeof *r->extent);
  buf_add(key, (const char *)r->label, r->rank * sizeof *r->label);
  buf_add(key, (const char *)r->made, r->rank * sizeof *r->made);
  buf_add(key, (const char *)t->extent, t->n * sizeof *t->extent);
  buf_add(key, (const char *)v->extent, v->n_label * sizeof *v->extent);
  key_add(key, f->m, home->n, home->at);
  key_add(key, f->m, w->n, w->at);
}

/* What windows of it cost. */
static void reach_add(Finder *f, uint32_t i, uint32_t k, const PlaceWays *w) {
  Arena *a = arena_new();
  const PartVertex *v = &f->g->part->vertices.at[i];
  const PartRead *r = &v->reads.at[k];
  uint32_t t = f->g->tensor[i][k], x = f->stay[t], y = r->call ? f->cut[i] : f->stay[i];
  MemoEntry *e = NULL;
  if (r->asked <= 0 && !(f->g->cost && f->g->cost->price)) {
    Buf key = buf_new(a);
    windows_key(f, i, k, &f->home[t], w, &key);
    e = memo_get(&f->windows, key.s, key.len);
    if (e->value) {
      network_cost2_like(f->n, (uint32_t)((uintptr_t)e->value - 1), x, y);
      arena_free(a);
      return;
    }
  }
  Placement *cut = NEW_ARRAY(a, Placement, w->n);
  for (uint32_t j = 0; j < w->n; j++) cut[j] = reach_cut(f->g, f->m, i, k, w->at[j].on);
  uint32_t rank = f->g->tensors.at[t].n;
  Distinct p = distinct(a, f, rank, f->home[t].n, f->home[t].at), q = distinct(a, f, v->n_label, w->n, cut);
  double *cost = NEW_ARRAY(a, double, (size_t)p.n * q.n);
  if (f->g->cost) {
    PairCost c = pair_read(f->g, f->m, links_of(f), i, k);
    windows_price(f, i, k, &c, &p, &q, cost);
  } else reach_costs(f->g, f->m, i, k, p.n, p.at, q.n, q.at, false, cost);
  f->entries += (double)p.n * q.n;
  uint32_t number = network_cost2(f->n, x, p.n, p.of, y, q.n, q.of, cost);
  if (e) e->value = (void *)((uintptr_t)number + 1);
  arena_free(a);
}

static void read_make(Finder *f, uint32_t i, uint32_t k) {
  const PartRead *r = &f->g->part->vertices.at[i].reads.at[k];
  uint32_t t = f->g->tensor[i][k];
  double bytes = r->times * turns_in(&f->g->tensors.at[t], r) * f->g->tensors.at[t].bytes;
  const PlaceWays *home = &f->home[t];
  const PlaceWays *w = r->call ? &f->label[i] : &f->home[i];
  if (!r->call && t == i) return; /* a state that stays as it is */
  Placement *wanted = NEW_ARRAY(f->arena, Placement, w->n);
  for (uint32_t j = 0; j < w->n; j++) wanted[j] = wanted_at(r, f->m, w->at[j].on);
  if (!reach_is_plain(f->g, i, k)) {
    if (!f->counts) reach_add(f, i, k, w); /* it is not known what windows are at least */
    return;
  }
  if (f->g->cost) {
    PairCost c = pair_read(f->g, f->m, links_of(f), i, k);
    pair_add(f, f->stay[t], home->n, home->at, r->call ? f->cut[i] : f->stay[i], w->n, wanted, &c);
    return;
  }
  cost_add(f, f->stay[t], home->n, home->at, r->call ? f->cut[i] : f->stay[i], w->n, wanted, (Carried){bytes, 1, &f->g->tensors.at[t]});
}

static void tensor_add(Finder *f, uint32_t i) {
  const PlaceTensor *t = &f->g->tensors.at[i];
  const PlaceFixed *fixed = f->g->fixed;
  if (fixed && fixed->home[i]) f->home[i] = ways_one(f->arena, f->m, fixed->home[i]->on);
  else if (f->g->home) f->home[i] = f->g->home[i];
  else f->home[i] = ways_find(f->arena, f->m, t->n, t->most, true, NULL, &f->narrow);
  if (f->counts) f->home[i] = ways_counted(f->arena, f->m, t->n, f->home[i]);
  if (f->g->left) f->home[i] = ways_left(f->arena, f->m, t->n, f->home[i], f->g->left->home[i]);
  f->stay[i] = network_variable(f->n, f->home[i].n);
  if (t->vertex >= 0 && !f->g->cost) return;
  double *cost = NEW_ARRAY(f->arena, double, f->home[i].n);
  for (uint32_t k = 0; k < f->home[i].n; k++)
    cost[k] = f->g->cost ? home_cost(f->g, f->m, links_of(f), i, &f->home[i].at[k]) : stored(f->m, t, &f->home[i].at[k]);
  network_cost(f->n, f->stay[i], cost);
}

static bool is_limited(const PlaceGraph *g) {
  return !(g->cost && g->cost->seconds) && !g->label && !g->busy;
}

/* Cuts with which a site would have too much to do, however the others are cut, are left out. */
static void cuts_drop(Finder *f, uint32_t i, double least, double room) {
  PlaceWays *w = &f->label[i];
  Placement *at = NEW_ARRAY(f->arena, Placement, w->n);
  uint32_t n = 0;
  for (uint32_t k = 0; k < w->n; k++) {
    if (f->work[i][k] > least + room) continue;
    f->work[i][n] = f->work[i][k];
    at[n++] = w->at[k];
  }
  *w = (PlaceWays){n, at};
}

static bool cuts_limit(Finder *f) {
  const PartGraph *part = f->g->part;
  double all = 0, *least = NEW_ARRAY(f->arena, double, part->vertices.len + 1);
  f->work = NEW_ARRAY(f->arena, double *, part->vertices.len + 1);
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    f->work[i] = NEW_ARRAY(f->arena, double, f->label[i].n + 1);
    for (uint32_t k = 0; k < f->label[i].n; k++) {
      f->work[i][k] = cut_work(&part->vertices.at[i], f->m, f->label[i].at[k].on);
      least[i] = k && least[i] < f->work[i][k] ? least[i] : f->work[i][k];
    }
    all += least[i];
  }
  f->allowed = f->g->work > 0 ? f->g->work : (double)WORK_TIMES * all;
  for (uint32_t i = 0; i < part->vertices.len; i++) cuts_drop(f, i, least[i], (f->allowed - all) * (1 + 1e-12));
  return all <= f->allowed * (1 + 1e-12);
}

static bool cuts_make(Finder *f, uint32_t *which) {
  const PartGraph *part = f->g->part;
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    if (part->vertices.at[i].node->kind != EIN_VERTEX) continue;
    f->label[i] = cuts_find(f->arena, f->g, f->m, i, !f->g->busy, f->only, &f->narrow);
    if (f->counts) f->label[i] = ways_counted(f->arena, f->m, part->vertices.at[i].n_label, f->label[i]);
    if (f->g->left) f->label[i] = ways_left(f->arena, f->m, part->vertices.at[i].n_label, f->label[i], f->g->left->label[i]);
    if (!f->label[i].n) return *which = i, false;
  }
  *which = 0;
  return !is_limited(f->g) || cuts_limit(f);
}

/* Variables come in the order in which a run would meet them, as what is chosen one after the other hangs together then. */
static void variables_make(Finder *f) {
  const PartGraph *part = f->g->part;
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    const PartVertex *v = &part->vertices.at[i];
    for (uint32_t k = 0; k < v->reads.len; k++) {
      uint32_t t = f->g->tensor[i][k];
      if (f->g->tensors.at[t].vertex < 0 && !f->home[t].n) tensor_add(f, t);
    }
    if (v->node->kind == EIN_VERTEX) f->cut[i] = network_variable(f->n, f->label[i].n);
    tensor_add(f, i);
  }
}

static bool network_make(Finder *f, uint32_t *which) {
  const PartGraph *part = f->g->part;
  if (!cuts_make(f, which)) return false;
  variables_make(f);
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    if (part->vertices.at[i].node->kind == EIN_VERTEX) vertex_make(f, i);
    for (uint32_t k = 0; k < part->vertices.at[i].reads.len; k++) read_make(f, i, k);
  }
  return true;
}

bool placing_is_proven(const Placing *p) {
  return !p->narrow && p->cost <= p->bound * (1 + 1e-9);
}

static NetworkAnswer solve(Finder *f, double budget, double enough, double *price) {
  if (f->g->left) network_floor(f->n, f->g->left->bound);
  if (f->allowed <= 0) return network_solve(f->n, budget, enough);
  const double **weight = NEW_ARRAY(f->arena, const double *, f->g->part->vertices.len + f->g->tensors.len + 1);
  for (uint32_t i = 0; i < f->g->part->vertices.len; i++)
    if (f->label[i].n) weight[f->cut[i]] = f->work[i];
  NetworkLimit l = {weight, f->allowed, price, f->g->left ? f->g->left->bound : 0};
  return network_solve_within(f->n, &l, budget, enough);
}

static Finder finder_new(Arena *work, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, bool counts) {
  uint32_t vertices = g->part->vertices.len, tensors = g->tensors.len;
  Finder f = {.arena = work, .g = g, .m = mesh, .n = network_new(work), .only = only, .counts = counts};
  f.shares = memo_new(work);
  f.costs = memo_new(work);
  f.windows = memo_new(work);
  f.label = NEW_ARRAY(work, PlaceWays, vertices + 1);
  f.home = NEW_ARRAY(work, PlaceWays, tensors + 1);
  f.cut = NEW_ARRAY(work, uint32_t, vertices + 1);
  f.stay = NEW_ARRAY(work, uint32_t, tensors + 1);
  if (g->cost && g->cost->seconds) f.links = seconds_links(g->cost->seconds, mesh);
  return f;
}

/* ---- whichever axes do it ------------------------------------------------------------------------------------------ */

static double price_add(Finder *f, double price) {
  for (uint32_t i = 0; i < f->g->part->vertices.len; i++) {
    double *cost = NEW_ARRAY(f->arena, double, f->label[i].n + 1);
    for (uint32_t k = 0; k < f->label[i].n; k++) cost[k] = price * f->work[i][k];
    if (f->label[i].n) network_cost(f->n, f->cut[i], cost);
  }
  return price * f->allowed;
}

static double work_of(const Finder *f, const uint32_t *value) {
  double work = 0;
  for (uint32_t i = 0; i < f->g->part->vertices.len; i++)
    if (f->label[i].n) work += f->work[i][value[f->cut[i]]];
  return work;
}

/* Mostly next to no price of work is enough: of all bytes a part that is next to nothing, once more where it is not of what moves. */
static void least_find(Finder *f, double budget, double enough, PlaceLeast *least) {
  double scale = 0, share = f->allowed > 0 ? budget / 3 : budget;
  for (uint32_t i = 0; i < f->g->tensors.len; i++) scale += f->g->tensors.at[i].bytes;
  double limit = f->allowed > 0 ? price_add(f, NEXT_TO_NONE * scale / f->allowed) : 0;
  NetworkAnswer x = network_solve(f->n, share, enough + limit);
  if (limit > NEXT_TO_NONE_LEFT * x.sum && x.bound - limit < enough) {
    limit += price_add(f, (NEXT_TO_NONE_LEFT * x.sum - limit) / f->allowed);
    x = network_solve(f->n, share, enough + limit);
  }
  least->bound = fmax(x.bound - limit, 0);
  least->sum = x.sum;
  least->effort = x.work;
  if (f->allowed <= 0 || least->bound >= enough || work_of(f, x.value) <= f->allowed * (1 + 1e-12)) return;
  x = solve(f, budget - x.work, enough, &least->price);
  least->bound = fmax(least->bound, x.bound - limit);
  if (x.value) least->sum = x.sum;
  least->effort += x.work;
}

PlaceLeast placing_least(const PlaceGraph *g, const Mesh *m, const PartVectors *only, double budget, double enough, uint32_t *which) {
  Arena *work = arena_new();
  Finder f = finder_new(work, g, m, only, true);
  PlaceLeast least = {.bound = INFINITY, .sum = INFINITY};
  if (network_make(&f, which)) {
    least_find(&f, budget, enough, &least);
  }
  least.narrow = f.narrow;
  least.effort += ENTRY_LEAST * f.entries;
  arena_free(work);
  return least;
}

/* One for all vertices that are alike: for else what is alike would have other tables because a little more is left of it here than there. */
static Memo *left_of(Arena *a, Memo *alike, const Buf *key) {
  MemoEntry *e = memo_get(alike, key->s, key->len);
  if (e->value) return e->value;
  Memo *left = NEW(a, Memo);
  *left = memo_new(a);
  return e->value = left;
}

static void vertex_key(Buf *key, const PartVertex *v) {
  const double numbers[] = {v->n_label, v->n_out, v->times, v->point, v->reads.len};
  buf_add(key, (const char *)numbers, sizeof numbers);
  buf_add(key, (const char *)v->extent, v->n_label * sizeof *v->extent);
  buf_add(key, (const char *)v->most, v->n_label * sizeof *v->most);
  for (uint32_t k = 0; k < v->reads.len; k++) buf_add(key, (const char *)v->reads.at[k].label, v->reads.at[k].rank * sizeof *v->reads.at[k].label);
}

static void tensor_key(Buf *key, const PlaceGraph *g, uint32_t tensor) {
  const PlaceTensor *t = &g->tensors.at[tensor];
  buf_char(key, t->vertex < 0 ? 'i' : 't');
  buf_add(key, (const char *)t->extent, t->n * sizeof *t->extent);
  buf_add(key, (const char *)t->most, t->n * sizeof *t->most);
  if (t->vertex >= 0) vertex_key(key, &g->part->vertices.at[t->vertex]);
}

static void left_keep(const Finder *f, Arena *a, bool **left, PlaceLeft *out) {
  const PartGraph *part = f->g->part;
  Memo alike = memo_new(f->arena);
  out->label = NEW_ARRAY(a, Memo *, part->vertices.len + 1);
  out->home = NEW_ARRAY(a, Memo *, f->g->tensors.len + 1);
  for (uint32_t i = 0; i < part->vertices.len; i++) {
    const PartVertex *v = &part->vertices.at[i];
    Buf key = buf_new(f->arena);
    vertex_key(&key, v);
    out->label[i] = left_of(a, &alike, &key);
    for (uint32_t k = 0; k < f->label[i].n; k++)
      if (left[f->cut[i]][k]) ways_keep(out->label[i], f->m, v->n_label, &f->label[i].at[k]);
  }
  for (uint32_t i = 0; i < f->g->tensors.len; i++) {
    Buf key = buf_new(f->arena);
    tensor_key(&key, f->g, i);
    out->home[i] = left_of(a, &alike, &key);
    for (uint32_t k = 0; k < f->home[i].n; k++)
      if (left[f->stay[i]][k]) ways_keep(out->home[i], f->m, f->g->tensors.at[i].n, &f->home[i].at[k]);
  }
}

/* No plan that is within the limit on work, and costs less than `enough`, has a sum of cost + price x work above that of the limit. */
bool placing_left(Arena *a, const PlaceGraph *g, const Mesh *m, const PartVectors *only, double budget, double enough, PlaceLeast *known, PlaceLeft *out) {
  Arena *work = arena_new();
  uint32_t which;
  Finder f = finder_new(work, g, m, only, true);
  bool **left = NULL, some = network_make(&f, &which);
  if (some) {
    double limit = f.allowed > 0 ? known->price * f.allowed : 0, done;
    if (limit > 0) price_add(&f, known->price);
    double bound = network_rule_out(f.n, budget, enough + limit, &left, &done) - limit;
    some = bound < enough;
    if (bound > known->bound) known->bound = bound;
    if (some) left_keep(&f, a, left, out);
    out->bound = known->bound;
    known->effort = done + ENTRY_LEAST * f.entries;
  }
  arena_free(work);
  return some;
}

/* ---- a placing ----------------------------------------------------------------------------------------------------- */

Placing *placing_find(Arena *a, const PlaceGraph *g, const Mesh *mesh, const PartVectors *only, double budget, double enough, uint32_t *which) {
  Arena *work = arena_new();
  uint32_t vertices = g->part->vertices.len, tensors = g->tensors.len;
  Finder f = finder_new(work, g, mesh, only, false);
  if (!network_make(&f, which)) {
    arena_free(work);
    return NULL;
  }
  NetworkAnswer x = solve(&f, budget, enough, NULL);
  if (!x.value) {
    arena_free(work);
    return NULL;
  }
  Placing *p = NEW(a, Placing);
  *p = (Placing){.mesh = *mesh, .label = NEW_ARRAY(a, int8_t *, vertices + 1), .home = NEW_ARRAY(a, Placement, tensors + 1), .bound = x.bound};
  for (uint32_t i = 0; i < vertices; i++) {
    p->label[i] = NEW_ARRAY(a, int8_t, MESH_AXES);
    for (uint32_t k = 0; k < MESH_AXES; k++) p->label[i][k] = PLACE_ALL;
    if (f.label[i].n)
      for (uint32_t k = 0; k < mesh->n; k++) p->label[i][k] = f.label[i].at[x.value[f.cut[i]]].on[k];
  }
  for (uint32_t i = 0; i < tensors; i++) p->home[i] = f.home[i].at[x.value[f.stay[i]]];
  placing_count(g, p);
  if (g->cost && g->cost->price) p->cost = x.sum;
  p->narrow = f.narrow;
  p->allowed = f.allowed;
  p->effort = x.work + ENTRY * f.entries;
  if (p->bound > p->cost) p->bound = p->cost; /* blocks that are not equal, or rounding */
  arena_free(work);
  return p;
}
