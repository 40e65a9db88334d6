/* algebra/simulate/cost.c - how long kernels take at each site. */
#include <math.h>

#include "algebra/cost.h"
#include "expr/prove/boxes.h"
#include "inside.h"

enum { PARTS = 8 * BOXES_USUAL }; /* a budget for all blocks of a kernel (let_through.h) */

uint32_t sites_at(const Mesh *m, const int32_t *at, uint32_t *out) {
  uint32_t n = 1;
  out[0] = 0;
  for (uint32_t a = 0; a < m->n; a++) {
    uint32_t size = m->size[a];
    for (uint32_t i = n; at[a] >= 0 && i-- > 0;) out[i] = out[i] * size + (uint32_t)at[a];
    if (at[a] >= 0) continue;
    for (uint32_t i = n; i-- > 0;)
      for (uint32_t k = size; k-- > 0;) out[i * size + k] = out[i] * size + k;
    n *= size;
  }
  return n;
}

double element_size(const Relation *t) {
  return dtype_size(t->dtype) + (t->places ? 8 : 0);
}

/* ---- kernels --------------------------------------------------------------------------------------------------- */

typedef struct Site { double operations, bytes; uint32_t tuples, results; } Site; /* operations: seconds of them */

/* Enumerates the tuples of a relation, with the sites that hold each. */
typedef struct Walk {
  const Sim *s;
  const Placement *at;
  Tuples tuple;
  uint32_t n, *site;
  RelTables ranges;
} Walk;

RelTables ranges_of(Arena *a, const Relation *t) {
  return rel_tables_new(a, t->rank, t->dim, t->n_key, t->frontier);
}

static Walk *walk_new(Arena *a, const Sim *s, const Relation *type, const Placement *at, const Keys *there) {
  return MAKE(a, Walk, .s = s, .at = at, .tuple = {.type = type, .keys = there},
      .site = NEW_ARRAY(a, uint32_t, s->net.sites), .ranges = ranges_of(a, type));
}

static bool walk_next(Walk *w) {
  int32_t at[MESH_AXES];
  if (!tuple_next(&w->tuple)) return false;
  alg_places(&w->s->program->mesh, w->at, w->tuple.type, w->tuple.key, at);
  w->n = sites_at(&w->s->program->mesh, at, w->site);
  return true;
}

/* All bytes that a kernel reads and writes for one key. */
static double join_bytes(
    const Sim *s, const AlgNode *n, const RelTables *made, const RelTables *read, const int64_t *key) {
  double bytes = rel_block_in(made, key) * element_size(&n->type);
  for (uint32_t i = 0; i < n->n_operand; i++) {
    const AlgOperand *o = &n->operand[i];
    const Relation *t = &o->node->type;
    int64_t its[REL_KEYS];
    for (uint32_t k = 0; k < t->n_key; k++) its[k] = o->on[k] < 0 ? 0 : key[o->on[k]];
    if (keys_have(s->cost[o->node->id].there, key_number(t->n_key, t->frontier, its)))
      bytes += rel_block_in(&read[i], its) * element_size(t);
  }
  return bytes;
}

/* The points that predicates let through. */
static Ties join_ties(Sim *s, const AlgNode *n) {
  const Expr *predicate[] = {n->sum->where, n->sum->domain};
  uint32_t labels = n->sum->n_out + n->sum->n_red;
  int64_t *extent = NEW_ARRAY(s->arena, int64_t, labels + 1);
  for (uint32_t l = 0; l < labels; l++) extent[l] = INT64_MAX; /* blocks have less */
  uint32_t *list = NEW_ARRAY(s->arena, uint32_t, n->n_operand + 1);
  for (uint32_t i = 0; i < n->n_operand; i++) list[i] = n->operand[i].node->id;
  return ties_find(labels, extent, list, COUNT(predicate), predicate);
}

typedef struct JoinBox {     /* the current block, by label; and what is known of all */
  int64_t *low, *high;
  double *values;
  RelTables ranges;
  Boxes boxes;
} JoinBox;

static double join_points(const AlgNode *n, const Ties *ties, JoinBox *x, const int64_t *key) {
  uint32_t labels = n->sum->n_out + n->sum->n_red;
  double points = 1;
  rel_tables_get(&x->ranges, key, x->low, x->high);
  for (uint32_t l = 0; l < labels; l++)
    points *= x->values[l] = x->high[l] > x->low[l] ? (double)(x->high[l] - x->low[l]) : 0;
  if (points <= 0 || (!n->sum->where && !n->sum->domain)) return points;
  if (ties->n) points = ties_points(ties, labels, x->values);
  return fmin(points, boxes_next(&x->boxes, x->low, x->high));
}

static bool join_find(Arena *a, Sim *s, const AlgNode *n, Site *site) {
  Computing c = {0};
  const Machine *m = s->seconds->machine;
  DType *read = NEW_ARRAY(s->arena, DType, n->n_operand + 1);
  for (uint32_t k = 0; k < n->n_operand; k++) read[k] = n->operand[k].node->type.dtype;
  if (!seconds_point(m, n->sum, n->type.dtype, n->n_operand, read, &c)) {
    buf_printf(s->why,
        "%s does not say how fast a %s computes %s in %s: its operations_per_second, %s, multiply_add is needed",
        m->name, m->levels.at[m->site].name, n->name ? n->name->s : "a value without a name", dtype_name(c.dtype),
        dtype_name(c.dtype));
    return false;
  }
  const Keys *kept = s->kept[n->id], *there = s->cost[n->id].there;
  Ties ties = join_ties(s, n);
  const Expr *predicate[] = {n->sum->where, n->sum->domain};
  uint32_t labels = n->sum->n_out + n->sum->n_red;
  JoinBox box = {.boxes = boxes_new(a, labels, COUNT(predicate), predicate, PARTS),
      .low = NEW_ARRAY(a, int64_t, labels + 1), .high = NEW_ARRAY(a, int64_t, labels + 1),
      .values = NEW_ARRAY(a, double, labels + 1)};
  box.ranges = rel_tables_new(a, labels, n->range, n->type.n_key, n->type.frontier);
  RelTables *of = NEW_ARRAY(a, RelTables, n->n_operand + 1);
  for (uint32_t k = 0; k < n->n_operand; k++) of[k] = ranges_of(a, &n->operand[k].node->type);
  for (Walk *w = walk_new(a, s, &n->type, &n->at, kept ? kept : there); walk_next(w);) {
    if (!keys_have(there, key_number(n->type.n_key, n->type.frontier, w->tuple.key))) continue;
    double operations = join_points(n, &ties, &box, w->tuple.key) * c.seconds;
    double bytes = join_bytes(s, n, &w->ranges, of, w->tuple.key);
    for (uint32_t i = 0; i < w->n; i++) site[w->site[i]].operations += operations, site[w->site[i]].bytes += bytes;
  }
  return true;
}

/* Reads the operand and writes the result. Where parts were brought together, the parts of others are also packed, and
 * each is added where the result is: two are read and one is written. By shares, each site has its own to combine. */
static void copy_find(Arena *a, Sim *s, const AlgNode *n, Site *site) {
  const AlgNode *of = n->operand[0].node;
  const Way *way = &s->way[n->id];
  Placement read = of->at, made = n->at;
  double share = way->sharing == SHARE_PARTS ? way->sites : 1;
  bool parts = n->kind == ALG_AGGREGATE && way->groups > 1;
  double reads = parts ? 3 + 2 * (way->groups - 1) / way->groups : 1, writes = parts ? 0 : 1;
  for (uint32_t x = 0; share > 1 && x < s->program->mesh.n; x++)
    if (way->axes >> x & 1) read.on[x] = made.on[x] = PLACE_ALL;
  for (Walk *w = walk_new(a, s, &of->type, &read, s->cost[of->id].there); walk_next(w);)
    for (uint32_t i = 0; i < w->n; i++) {
      site[w->site[i]].bytes += reads * rel_block_in(&w->ranges, w->tuple.key) * element_size(&of->type) / share;
      site[w->site[i]].tuples++;
    }
  for (Walk *w = walk_new(a, s, &n->type, &made, s->cost[n->id].there); walk_next(w);)
    for (uint32_t i = 0; i < w->n; i++) {
      site[w->site[i]].bytes += writes * rel_block_in(&w->ranges, w->tuple.key) * element_size(&n->type) / share;
      site[w->site[i]].results++;
    }
}

static bool casts(const AlgNode *n) {
  for (uint32_t k = 0; k < n->n_fn; k++)
    if (n->fn[k].kind == FN_CAST) return true;
  return false;
}

/* Where each tuple becomes one tuple, it stays where it is. */
static bool site_copies(const AlgNode *n, const Site *x) {
  if (n->kind == ALG_AGGREGATE) return x->tuples > x->results || casts(n);
  return n->kind == ALG_JOIN || (n->kind == ALG_MAP && casts(n));
}

static bool kernels_find(Sim *s, const AlgNode *n, Cost *c) {
  Arena *a = arena_new();
  Site *site = NEW_ARRAY(a, Site, s->net.sites);
  double *seconds = NEW_ARRAY(s->arena, double, s->net.sites);
  bool some = false, ok = n->kind != ALG_JOIN || join_find(a, s, n, site);
  if (n->kind != ALG_JOIN) copy_find(a, s, n, site);
  for (uint32_t i = 0; i < s->net.sites; i++) {
    double memory = site[i].bytes / s->seconds->memory;
    if (site_copies(n, &site[i])) seconds[i] = memory > site[i].operations ? memory : site[i].operations;
    some |= seconds[i] > 0;
  }
  if (some) c->seconds = seconds;
  arena_free(a);
  return ok;
}

/* ---- entry point ------------------------------------------------------------------------------------------------- */

bool cost_find(Sim *s, const AlgNode *n) {
  Cost *c = &s->cost[n->id];
  if (!keys_find(s, n)) return false;
  if (alg_moves(n) && !move_find(s, n, c)) return false;
  bool copies = n->kind == ALG_JOIN || n->kind == ALG_AGGREGATE || (n->kind == ALG_MAP && casts(n));
  return !copies || kernels_find(s, n, c);
}

static void readers_find(Sim *s, const AlgRegion *r, bool *other) {
  vec_each_of(const AlgNode, n, r->nodes) {
    if (n->kind == ALG_REPEAT) readers_find(s, n->body, other);
    for (uint32_t k = 0; k < n->n_operand; k++) {
      const AlgNode *of = n->operand[k].node;
      if (n->kind != ALG_FILTER || s->kept[of->id] || rel_keys(&of->type) > (double)SIM_BLOCKS) other[of->id] = true;
      else s->kept[of->id] = keys_filtered(s, n, NULL);
    }
  }
  for (uint32_t i = 0; alg_region_use(r, i); i++) other[alg_region_use(r, i)->id] = true;
}

void kept_find(Sim *s) {
  bool *other = NEW_ARRAY(s->arena, bool, s->program->n_nodes + 1);
  s->kept = NEW_ARRAY(s->arena, const Keys *, s->program->n_nodes + 1);
  readers_find(s, s->program->top, other);
  for (uint32_t i = 0; i < s->program->outputs.len; i++) other[s->program->outputs.at[i].node->id] = true;
  for (uint32_t i = 0; i < s->program->asserts.len; i++) other[s->program->asserts.at[i].node->id] = true;
  for (uint32_t i = 0; i < s->program->n_nodes; i++)
    if (other[i]) s->kept[i] = NULL;
}
