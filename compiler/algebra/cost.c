/* algebra/cost.c - the cost of moves, tuple by tuple: where each tuple is, and where it is wanted. */
#include "cost.h"

#include "expr/prove/asked.h"

static double elements(uint32_t rank, const int64_t *low, const int64_t *high) {
  double n = 1;
  for (uint32_t d = 0; d < rank; d++) n *= high[d] > low[d] ? (double)(high[d] - low[d]) : 0;
  return n;
}

/* The number of elements in the block with this key. */
static double rel_block(const Relation *r, const int64_t *key) {
  int64_t low[64], high[64];
  rel_box(r, key, low, high);
  return elements(r->rank, low, high);
}

double rel_block_in(const RelTables *t, const int64_t *key) {
  int64_t low[64], high[64];
  rel_tables_get(t, key, low, high);
  return elements(t->n, low, high);
}

double rel_elements(const Relation *r) {
  int64_t key[REL_KEYS] = {0};
  double n = 0;
  if (rel_keys(r) > (double)ALG_KEYS_TOLD) return -1;
  do n += rel_block(r, key);
  while (rel_next_key(r->n_key, r->frontier, key));
  return n;
}

void alg_places(const Mesh *m, const Placement *p, const Relation *r, const int64_t *key, int32_t *at) {
  for (uint32_t a = 0; a < m->n; a++) {
    int8_t on = p->on[a];
    at[a] = -1;
    if (on < 0) continue;
    int64_t sites = placement_count(m, p, on), site = key[on] * sites / r->frontier[on];
    for (uint32_t b = m->n; b-- > a + 1;)
      if (p->on[b] == on) site /= m->size[b];
    at[a] = (int32_t)(site % m->size[a]);
  }
}

/* The number of sites that want the tuple and lack it; for parts, each separately. */
static double receivers(const Mesh *m, const Placement *from, const int32_t *is, const int32_t *to) {
  double wanted = 1, there = 1, parts = 1;
  for (uint32_t a = 0; a < m->n; a++) {
    double size = m->size[a];
    bool part = from->on[a] == PLACE_PART;
    parts *= part ? size : 1;
    wanted *= to[a] < 0 ? size : 1;
    if (part) there *= to[a] < 0 ? 1 : 1 / size; /* of `size` parts a single place has one */
    else if (is[a] >= 0 && to[a] >= 0) there *= is[a] == to[a];
    else there *= is[a] < 0 && to[a] < 0 ? size : 1;
  }
  return parts * (wanted - there);
}

/* Keys that are equal, as on a diagonal. What remains of domains and conditions compares numbers. */
static bool keys_equal(const Expr *e) {
  for (; e->kind == EX_OP && e->op == OP_AND; e = e->arg[0])
    if (!keys_equal(e->arg[1])) return false;
  return e->kind == EX_OP && e->op == OP_EQ && e->arg[0]->kind == EX_LABEL && e->arg[1]->kind == EX_LABEL;
}

/* ---- fetches ------------------------------------------------------------------------------------------ */

enum { LOOKED_AT = 1 << 26 };

static AskedTable table_of(Arena *a, const Relation *t, const Asked *q) {
  uint32_t n = (uint32_t)rel_keys(t);
  int64_t key[REL_KEYS] = {0}, *low = NEW_ARRAY(a, int64_t, (size_t)n * t->rank + 1),
          *high = NEW_ARRAY(a, int64_t, (size_t)n * t->rank + 1);
  size_t i = 0;
  do {
    rel_box(t, key, low + i * t->rank, high + i * t->rank);
    i++;
  } while (rel_next_key(t->n_key, t->frontier, key));
  return asked_table(a, q, n, low, high);
}

struct AlgFetch {
  const Algebra *p;
  const AlgNode *n;
  Asked asked;
  AskedTable table;
};

AlgFetch *alg_fetch_begin(Arena *a, const Algebra *p, const AlgNode *n) {
  const AlgNode *table = alg_table(n);
  const Expr *read = n->sum->body;
  double sites = (double)mesh_sites(&p->mesh), keys = rel_keys(&n->type), tuples = rel_keys(&table->type);
  bool few =
      keys * sites <= (double)LOOKED_AT && sites * tuples <= (double)LOOKED_AT && tuples <= (double)ALG_KEYS_TOLD;
  if (!few || read->n >= ASKED_RANK) return NULL;
  AlgFetch *f = MAKE(a, AlgFetch, .p = p, .n = n);
  asked_of(a, n->sum->n_out, read->n, read->arg, &f->asked);
  f->table = table_of(a, &table->type, &f->asked);
  return f;
}

/* By tuple of the table, whether the site has it. */
static void here_find(const AlgFetch *f, const uint32_t *at, bool *here) {
  const AlgNode *table = alg_table(f->n);
  int64_t key[REL_KEYS] = {0};
  do *here++ = alg_holds(&f->p->mesh, &table->at, &table->type, key, at);
  while (rel_next_key(table->type.n_key, table->type.frontier, key));
}

/* Spreads the bytes in proportion to what can be requested. */
static void bytes_spread(
    Arena *a, const AlgFetch *f, const int64_t *low, const int64_t *high, const bool *here, double bytes, double *by) {
  const AskedTable *t = &f->table;
  uint32_t rank = f->asked.rank;
  int64_t from[ASKED_RANK], to[ASKED_RANK];
  double *weight = NEW_ARRAY(a, double, t->n + 1), all = 0;
  asked_box(&f->asked, low, high, t->extent, from, to);
  for (uint32_t i = 0; i < t->n; i++) {
    const int64_t *l = t->low + (size_t)i * rank, *h = t->high + (size_t)i * rank;
    weight[i] =
        here[i] ? 0 : asked_common(&f->asked, true, from, to, l, h) * asked_common(&f->asked, false, from, to, l, h);
    all += weight[i];
  }
  for (uint32_t i = 0; all > 0 && i < t->n; i++) by[i] += bytes * weight[i] / all;
}

double alg_fetch_at(const AlgFetch *f, const uint32_t *at, double *by) {
  const AlgNode *n = f->n;
  uint32_t labels = n->sum->n_out;
  Arena *a = arena_new();
  int64_t key[REL_KEYS] = {0}, *low = NEW_ARRAY(a, int64_t, labels + 1), *high = NEW_ARRAY(a, int64_t, labels + 1);
  bool *here = NEW_ARRAY(a, bool, f->table.n + 1);
  double bytes = 0;
  here_find(f, at, here);
  do {
    if (!alg_holds(&f->p->mesh, &n->at, &n->type, key, at)) continue;
    rel_ranges(labels, n->range, n->type.n_key, key, low, high);
    double more = asked_most(a, &f->asked, &f->table, low, high, here, dtype_size(n->type.dtype));
    bytes += more;
    if (by) bytes_spread(a, f, low, high, here, more, by);
  } while (rel_next_key(n->type.n_key, n->type.frontier, key));
  arena_free(a);
  return bytes;
}

static AlgCost fetch_cost(const Algebra *p, const AlgNode *n) {
  Arena *a = arena_new();
  uint32_t at[MESH_AXES + 1];
  AlgFetch *f = alg_fetch_begin(a, p, n);
  AlgCost c = {.known = f != NULL};
  for (int64_t s = 0; f && s < mesh_sites(&p->mesh); s++) {
    mesh_place(&p->mesh, s, at);
    c.bytes += alg_fetch_at(f, at, NULL);
  }
  if (c.bytes > 0) c.paper = rel_elements(&n->type) * (double)placement_copies(&p->mesh, &n->at);
  arena_free(a);
  return c;
}

/* ---- moves ---------------------------------------------------------------------------------------------- */

AlgCost alg_move_cost(const Algebra *p, const AlgNode *move) {
  if (move->kind == ALG_FETCH) return fetch_cost(p, move);
  const AlgNode *of = move->operand[0].node;
  const Relation *t = &of->type;
  const Expr *keep = of->kind == ALG_FILTER && keys_equal(of->keep) ? of->keep : NULL;
  int64_t key[REL_KEYS] = {0};
  int32_t is[MESH_AXES + 1], to[MESH_AXES + 1];
  double size = dtype_size(t->dtype) + (t->places ? 8 : 0);
  AlgCost c = {.known = rel_keys(t) <= (double)ALG_KEYS_TOLD};
  if (!c.known) return c;
  do {
    double n = rel_block(t, key);
    if (n == 0 || (keep && !rel_predicate(keep, t->n_key, key))) continue;
    alg_places(&p->mesh, &of->at, t, key, is);
    alg_places(&p->mesh, &move->at, t, key, to);
    c.bytes += n * size * receivers(&p->mesh, &of->at, is, to);
    c.paper += n;
  } while (rel_next_key(t->n_key, t->frontier, key));
  c.paper = c.bytes > 0 ? c.paper * (double)placement_copies(&p->mesh, &move->at) : 0;
  return c;
}

double alg_times(const AlgRegion *r) {
  double times = 1;
  for (; r->parent; r = r->parent)
    if (r->turns >= 0) times *= (double)r->turns;
  return times;
}

static void region_cost(const Algebra *p, const AlgRegion *r, AlgCost *c) {
  vec_each_of(const AlgNode, n, r->nodes) {
    if (n->kind == ALG_REPEAT) region_cost(p, n->body, c);
    if (!alg_moves(n)) continue;
    AlgCost one = alg_move_cost(p, n);
    c->known &= one.known;
    c->bytes += one.bytes * alg_times(r);
    c->paper += one.paper * alg_times(r);
  }
}

AlgCost algebra_cost(const Algebra *p) {
  AlgCost c = {.known = true};
  region_cost(p, p->top, &c);
  return c;
}
