/* plan/placing/tables.c - the costs of pairs of choices: a vertex's cut and its home, and each read; computed once
 * for all that are alike. */
#include <string.h>

#include "finder.h"
#include "windows.h"

typedef struct Distinct { uint32_t n; uint32_t *of; const Placement **at; } Distinct; /* by value; by class */

enum { PAIR_BITS = 5, PAIRS_FIRST = 1024 };

static MemoEntry *distinct_entry(Arena *a, const Finder *f, Memo *seen, uint32_t rank, const Placement *p) {
  if (!f->counts) return memo_get(seen, p->on, f->m->n);
  PlaceCounts c = place_counts(a, f->m, rank, p);
  double *key = COPY_ARRAY(a, double, c.count, rank, rank + 1);
  key[rank] = c.parts;
  return memo_get(seen, key, (rank + 1) * sizeof *key);
}

/* The distinct placements of a tensor of this rank. */
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

/* The pair's entry, or the slot for it. */
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

/* How much of a tensor moves from where it is made to its home, as shares: in parts (where an element counts `part`)
 * and after. Computed once for those that differ only in the numbers of their dimensions. between NULL: nothing is
 * in parts. */
static double brought_like(
    Finder *f, double part, const Placement *made, const Placement *between, const Placement *home) {
  const Placement *at[] = {made, home, between};
  int8_t number[CUT_LABELS + 1], next = 0;
  uint64_t key = between ? 3 : 2; /* at, by axis, dimensions numbered by first occurrence */
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

/* How a tensor gets from x's placements to y's: its total bytes; an element in parts counts `part` times. */
typedef struct Carried { double bytes, part; const PlaceTensor *tensor; } Carried; /* by value */

static bool in_parts(const Mesh *m, uint32_t n, const Placement *at) {
  for (uint32_t i = 0; i < n; i++)
    if (!placement_whole(m, &at[i])) return true;
  return false;
}

/* Adds the available room to the key, as far as it matters: it determines which way parts take. */
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
    for (uint32_t j = 0; j < q->n; j++)
      share[(size_t)i * q->n + j] = place_share_least(c->part, rank, &from[i], &to[j]);
  arena_free(a);
}

/* From each of p to each of q. */
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

/* Reuses an equal cost that was made before for x and y. */
static bool is_known(Finder *f, const MemoEntry *e, uint32_t x, uint32_t y) {
  if (e->value) network_cost2_like(f->n, (uint32_t)((uintptr_t)e->value - 1), x, y);
  return e->value;
}

/* e: the cache entry; NULL: none. */
static void make(
    Finder *f, MemoEntry *e, uint32_t x, const Distinct *of_x, uint32_t y, const Distinct *of_y, const double *cost) {
  uint32_t number = network_cost2(f->n, x, of_x->n, of_x->of, y, of_y->n, of_y->of, cost);
  f->entries += (double)of_x->n * of_y->n;
  if (e) e->value = (void *)((uintptr_t)number + 1);
}

typedef struct TableEnd { uint32_t variable, n; const Placement *at; } TableEnd; /* where a tensor is, by choice */

/* The entry of a table between two ends that `key` tells apart from others; NULL: an equal one is reused. */
static MemoEntry *costs_entry(Finder *f, Buf *key, const TableEnd *x, const TableEnd *y) {
  key_add(key, f->m, x->n, x->at);
  key_add(key, f->m, y->n, y->at);
  MemoEntry *e = memo_get(&f->costs, key->s, key->len);
  return is_known(f, e, x->variable, y->variable) ? NULL : e;
}

/* Adds a table of the cost of moving a tensor from x's placements to y's, by value. */
static void cost_add(Finder *f, const TableEnd *x, const TableEnd *y, Carried c) {
  Arena *a = arena_new();
  Buf key = buf_new(a);
  bool parts = in_parts(f->m, x->n, x->at);
  buf_add(&key, (const char *)&c.bytes, sizeof c.bytes);
  if (parts) room_add(&key, f->m, &c);
  MemoEntry *e = costs_entry(f, &key, x, y);
  if (e) {
    Distinct p = distinct(a, f, c.tensor->n, x->n, x->at), q = distinct(a, f, c.tensor->n, y->n, y->at);
    const double *share = shares(f, &p, &q, parts, &c);
    double *cost = NEW_ARRAY(a, double, (size_t)p.n * q.n);
    for (size_t i = 0; i < (size_t)p.n * q.n; i++) cost[i] = c.bytes * share[i];
    make(f, e, x->variable, &p, y->variable, &q, cost);
  }
  arena_free(a);
}

/* The cost of a tensor's way: memory, and seconds or bytes. */
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

/* From each of p to each of q, where costs are not bytes. */
static double *pair_costs(Arena *a, Finder *f, const Distinct *p, const Distinct *q, const PairCost *c) {
  double *cost = NEW_ARRAY(a, double, (size_t)p->n * q->n);
  const PlaceCounts *from = f->counts ? counts_of(a, f->m, c->rank, p) : NULL,
                    *to = f->counts ? counts_of(a, f->m, c->rank, q) : NULL;
  for (uint32_t i = 0; f->counts && i < p->n; i++)
    for (uint32_t j = 0; j < q->n; j++) cost[(size_t)i * q->n + j] = pair_elements_least(c, &from[i], &to[j]);
  for (uint32_t i = 0; !f->counts && i < p->n; i++) {
    bool parts = in_parts(f->m, 1, p->at[i]);
    for (uint32_t j = 0; j < q->n; j++) cost[(size_t)i * q->n + j] = pair_cost(f, c, parts, p->at[i], q->at[j]);
  }
  return cost;
}

/* The same as cost_add where costs are not bytes. */
static void pair_add(Finder *f, const TableEnd *x, const TableEnd *y, const PairCost *c) {
  Arena *a = arena_new();
  Buf key = buf_new(a);
  pair_key(c, &key);
  MemoEntry *e = costs_entry(f, &key, x, y);
  if (e) {
    Distinct p = distinct(a, f, c->rank, x->n, x->at), q = distinct(a, f, c->rank, y->n, y->at);
    make(f, e, x->variable, &p, y->variable, &q, pair_costs(a, f, &p, &q, c));
  }
  arena_free(a);
}

const Links *links_of(const Finder *f) {
  return f->g->cost && f->g->cost->seconds ? &f->links : NULL;
}

void tables_vertex(Finder *f, uint32_t i) {
  const PartVertex *v = &f->g->part->vertices.at[i];
  const PlaceTensor *t = &f->g->tensors.at[i];
  const PlaceWays *w = &f->label[i];
  Placement *made = NEW_ARRAY(f->arena, Placement, w->n);
  for (uint32_t k = 0; k < w->n; k++) made[k] = made_at(v, f->m, w->at[k].on);
  const TableEnd cut = {f->cut[i], w->n, made}, home = {f->stay[i], f->home[i].n, f->home[i].at};
  if (f->g->cost) {
    PairCost c = pair_made(f->g, f->m, links_of(f), i);
    double *alone = NEW_ARRAY(f->arena, double, w->n);
    for (uint32_t k = 0; k < w->n; k++) alone[k] = cut_cost(f->g, f->m, i, w->at[k].on);
    network_cost(f->n, f->cut[i], alone);
    pair_add(f, &cut, &home, &c);
    return;
  }
  cost_add(f, &cut, &home, (Carried){v->times * t->bytes, t->part / dtype_size(t->node->dtype), t});
}

/* Prices its windows where the cost is not bytes alone. */
static void windows_price(
    Finder *f, uint32_t i, uint32_t k, const PairCost *c, const Distinct *home, const Distinct *on, double *cost) {
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

/* The key of all that the cost of windows depends on, apart from data and the price of memory. */
static void windows_key(const Finder *f, uint32_t i, uint32_t k, const PlaceWays *home, const PlaceWays *w, Buf *key) {
  const PartVertex *v = &f->g->part->vertices.at[i];
  const PartRead *r = &v->reads.at[k];
  const PlaceTensor *t = &f->g->tensors.at[f->g->tensor[i][k]];
  const double numbers[] = {
      r->times, dtype_size(t->node->dtype), r->rank, v->n_label, t->n, r->call, r->from >= 0, t->bytes};
  buf_add(key, (const char *)numbers, sizeof numbers);
  buf_add(key, (const char *)r->index, r->rank * sizeof *r->index);
  buf_add(key, (const char *)r->extent, r->rank * sizeof *r->extent);
  buf_char(key, r->wide ? 'w' : '-');
  if (r->wide) buf_add(key, (const char *)r->wide, r->rank * sizeof *r->wide);
  buf_add(key, (const char *)r->label, r->rank * sizeof *r->label);
  buf_add(key, (const char *)r->made, r->rank * sizeof *r->made);
  buf_add(key, (const char *)t->extent, t->n * sizeof *t->extent);
  buf_add(key, (const char *)v->extent, v->n_label * sizeof *v->extent);
  key_add(key, f->m, home->n, home->at);
  key_add(key, f->m, w->n, w->at);
}

/* Adds the cost of its windows. */
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
    if (is_known(f, e, x, y)) {
      arena_free(a);
      return;
    }
  }
  Placement *cut = NEW_ARRAY(a, Placement, w->n);
  for (uint32_t j = 0; j < w->n; j++) cut[j] = reach_cut(f->g, f->m, i, k, w->at[j].on);
  uint32_t rank = f->g->tensors.at[t].n;
  Distinct p = distinct(a, f, rank, f->home[t].n, f->home[t].at), q = distinct(a, f, v->n_label, w->n, cut);
  double *cost = NEW_ARRAY(a, double, (size_t)p.n * q.n);
  if (f->counts)
    reach_costs_least(f->g, f->m, i, k, p.n, counts_of(a, f->m, rank, &p), q.n, q.at, f->g->cost != NULL, cost);
  else if (f->g->cost) {
    PairCost c = pair_read(f->g, f->m, links_of(f), i, k);
    windows_price(f, i, k, &c, &p, &q, cost);
  } else reach_costs(f->g, f->m, i, k, p.n, p.at, q.n, q.at, false, cost);
  make(f, e, x, &p, y, &q, cost);
  arena_free(a);
}

void tables_read(Finder *f, uint32_t i, uint32_t k) {
  const PartRead *r = &f->g->part->vertices.at[i].reads.at[k];
  uint32_t t = f->g->tensor[i][k];
  double bytes = r->times * turns_in(&f->g->tensors.at[t], r) * f->g->tensors.at[t].bytes;
  const PlaceWays *home = &f->home[t];
  const PlaceWays *w = r->call ? &f->label[i] : &f->home[i];
  if (!r->call && t == i) return; /* a state that stays as it is */
  Placement *wanted = NEW_ARRAY(f->arena, Placement, w->n);
  for (uint32_t j = 0; j < w->n; j++) wanted[j] = wanted_at(r, f->m, w->at[j].on);
  if (!reach_is_plain(f->g, i, k)) {
    reach_add(f, i, k, w);
    return;
  }
  const TableEnd there = {f->stay[t], home->n, home->at}, here = {r->call ? f->cut[i] : f->stay[i], w->n, wanted};
  if (f->g->cost) {
    PairCost c = pair_read(f->g, f->m, links_of(f), i, k);
    pair_add(f, &there, &here, &c);
    return;
  }
  cost_add(f, &there, &here, (Carried){bytes, 1, &f->g->tensors.at[t]});
}
