/* algebra/simulate_cost.c - which tuples there are, and how long kernels take at each site. */
#include "cost.h"
#include "simulate_inside.h"

uint64_t key_number(uint32_t n, const int64_t *frontier, const int64_t *key) {
  uint64_t k = 0;
  for (uint32_t d = 0; d < n; d++) k = k * (uint64_t)frontier[d] + (uint64_t)key[d];
  return k;
}

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

/* ---- which tuples there are -------------------------------------------------------------------------------- */

static bool *room(Sim *s, const Relation *t) {
  return NEW_ARRAY(s->arena, bool, (size_t)rel_keys(t));
}

static const bool *filtered(Sim *s, const AlgNode *n, const bool *of) {
  bool *there = room(s, &n->type);
  int64_t key[REL_KEYS] = {0};
  uint64_t k = 0;
  do {
    there[k] = (!of || of[k]) && rel_predicate(n->keep, n->type.n_key, key);
    k++;
  } while (rel_next_key(n->type.n_key, n->type.frontier, key));
  return there;
}

/* Whether a piece has elements of the block, or the block has none. */
static bool piece_is(const AlgNode *n, const int64_t *key) {
  const Relation *of = &n->operand[0].node->type;
  bool some = true, block = true;
  for (uint32_t d = 0; n->n_piece && d < of->rank; d++) {
    int64_t low, high, from, to;
    rel_ranges(1, &of->dim[d], of->n_key, key, &low, &high);
    rel_ranges(1, &n->piece[d], of->n_key + n->n_piece, key, &from, &to);
    block &= high > low;
    some &= (high < to ? high : to) > (low > from ? low : from);
  }
  return some || !block;
}

static const bool *mapped(Sim *s, const AlgNode *n, const bool *of) {
  bool *there = room(s, &n->type);
  uint32_t old = n->operand[0].node->type.n_key, all = old + n->n_piece;
  int64_t key[2 * REL_KEYS] = {0}, frontier[2 * REL_KEYS], new_key[REL_KEYS];
  for (uint32_t k = 0; k < all; k++) frontier[k] = k < old ? n->operand[0].node->type.frontier[k] : n->frontier[k - old];
  do {
    if ((of && !of[key_number(old, frontier, key)]) || !piece_is(n, key)) continue;
    for (uint32_t k = 0; k < n->type.n_key; k++) new_key[k] = n->rekey ? rel_value(n->rekey[k], all, key) : key[k];
    there[key_number(n->type.n_key, n->type.frontier, new_key)] = true;
  } while (rel_next_key(all, frontier, key));
  return there;
}

static const bool *grouped(Sim *s, const AlgNode *n, const bool *of) {
  const Relation *t = &n->operand[0].node->type;
  bool *there = room(s, &n->type);
  int64_t key[REL_KEYS] = {0}, its[REL_KEYS];
  uint64_t k = 0;
  do {
    for (uint32_t d = 0; d < n->n_group; d++) its[d] = key[n->group[d]];
    if (!of || of[k]) there[key_number(n->n_group, n->type.frontier, its)] = true;
    k++;
  } while (rel_next_key(t->n_key, t->frontier, key));
  return there;
}

static const bool *there_find(Sim *s, const AlgNode *n) {
  const AlgNode *of = n->n_operand ? n->operand[0].node : NULL;
  const bool *its = of ? s->cost[of->id].there : NULL;
  if (!n->type.holes) return NULL;
  if (n->kind == ALG_FILTER) return filtered(s, n, its);
  if (n->kind == ALG_MAP) return mapped(s, n, its);
  if (n->kind == ALG_AGGREGATE) return grouped(s, n, its);
  return n->kind == ALG_MOVE ? its : NULL;
}

/* ---- kernels --------------------------------------------------------------------------------------------------- */

typedef struct Site { double operations, bytes; uint32_t tuples, results; } Site; /* operations: seconds of them */

/* Goes through the tuples of a relation, with the sites that have each. */
typedef struct Walk {
  const Sim *s;
  const Relation *type;
  const Placement *at;
  const bool *there;
  uint64_t number;
  bool begun;
  int64_t key[REL_KEYS];
  uint32_t n, *site;
} Walk;

static Walk *walk_new(const Sim *s, const Relation *type, const Placement *at, const bool *there) {
  Walk *w = NEW(s->arena, Walk);
  w->s = s, w->type = type, w->at = at, w->there = there;
  w->site = NEW_ARRAY(s->arena, uint32_t, s->net.sites);
  return w;
}

static bool walk_next(Walk *w) {
  int32_t at[MESH_AXES];
  do {
    if (w->begun && !rel_next_key(w->type->n_key, w->type->frontier, w->key)) return false;
    w->number += w->begun;
    w->begun = true;
  } while (w->there && !w->there[w->number]);
  alg_places(&w->s->program->mesh, w->at, w->type, w->key, at);
  w->n = sites_at(&w->s->program->mesh, at, w->site);
  return true;
}

/* All that a kernel reads and writes for one key. */
static double join_bytes(const Sim *s, const AlgNode *n, const int64_t *key) {
  double bytes = rel_block(&n->type, key) * element_size(&n->type);
  for (uint32_t i = 0; i < n->n_operand; i++) {
    const AlgOperand *o = &n->operand[i];
    const Relation *t = &o->node->type;
    const bool *there = s->cost[o->node->id].there;
    int64_t its[REL_KEYS];
    for (uint32_t k = 0; k < t->n_key; k++) its[k] = o->on[k] < 0 ? 0 : key[o->on[k]];
    if (!there || there[key_number(t->n_key, t->frontier, its)]) bytes += rel_block(t, its) * element_size(t);
  }
  return bytes;
}

static double join_points(const AlgNode *n, const int64_t *key) {
  double points = 1;
  for (uint32_t l = 0; l < n->sum->n_out + n->sum->n_red; l++) {
    int64_t low, high;
    rel_ranges(1, &n->range[l], n->type.n_key, key, &low, &high);
    points *= high > low ? (double)(high - low) : 0;
  }
  return points;
}

static bool join_find(Sim *s, const AlgNode *n, Site *site) {
  Computing c = {0};
  const Machine *m = s->seconds->machine;
  DType *read = NEW_ARRAY(s->arena, DType, n->n_operand + 1);
  for (uint32_t k = 0; k < n->n_operand; k++) read[k] = n->operand[k].node->type.dtype;
  if (!seconds_point(s->arena, m, n->sum, n->type.dtype, n->n_operand, read, &c)) {
    buf_printf(s->why, "%s does not say how fast a %s computes %s in %s: its operations_per_second, %s, multiply_add is wanted", m->name,
               m->levels.at[m->site].name, n->name ? n->name->s : "a value without a name", dtype_name(c.dtype), dtype_name(c.dtype));
    return false;
  }
  for (Walk *w = walk_new(s, &n->type, &n->at, s->kept[n->id]); walk_next(w);) {
    double operations = join_points(n, w->key) * c.seconds, bytes = join_bytes(s, n, w->key);
    for (uint32_t i = 0; i < w->n; i++) site[w->site[i]].operations += operations, site[w->site[i]].bytes += bytes;
  }
  return true;
}

/* Reads what there is and writes what comes out. */
static void copy_find(Sim *s, const AlgNode *n, Site *site) {
  const AlgNode *of = n->operand[0].node;
  for (Walk *w = walk_new(s, &of->type, &of->at, s->cost[of->id].there); walk_next(w);)
    for (uint32_t i = 0; i < w->n; i++) {
      site[w->site[i]].bytes += rel_block(&of->type, w->key) * element_size(&of->type);
      site[w->site[i]].tuples++;
    }
  for (Walk *w = walk_new(s, &n->type, &n->at, s->cost[n->id].there); walk_next(w);)
    for (uint32_t i = 0; i < w->n; i++) {
      site[w->site[i]].bytes += rel_block(&n->type, w->key) * element_size(&n->type);
      site[w->site[i]].results++;
    }
}

static bool casts(const AlgNode *n) {
  for (uint32_t k = 0; k < n->n_fn; k++)
    if (n->fn[k].kind == FN_CAST) return true;
  return false;
}

/* Where each tuple becomes one, it stays where it is. */
static bool site_copies(const AlgNode *n, const Site *x) {
  if (n->kind == ALG_AGGREGATE) return x->tuples > x->results || casts(n);
  return n->kind == ALG_JOIN || (n->kind == ALG_MAP && casts(n));
}

static bool kernels_find(Sim *s, const AlgNode *n, Cost *c) {
  Site *site = NEW_ARRAY(s->arena, Site, s->net.sites);
  double *seconds = NEW_ARRAY(s->arena, double, s->net.sites);
  bool some = false;
  if (n->kind == ALG_JOIN && !join_find(s, n, site)) return false;
  if (n->kind != ALG_JOIN) copy_find(s, n, site);
  for (uint32_t i = 0; i < s->net.sites; i++) {
    double memory = site[i].bytes / s->seconds->memory;
    if (site_copies(n, &site[i])) seconds[i] = memory > site[i].operations ? memory : site[i].operations;
    some |= seconds[i] > 0;
  }
  if (some) c->seconds = seconds;
  return true;
}

/* ---- the door ---------------------------------------------------------------------------------------------------- */

bool cost_find(Sim *s, const AlgNode *n) {
  Cost *c = &s->cost[n->id];
  if (rel_keys(&n->type) > (double)ALG_KEYS_TOLD) {
    buf_printf(s->why, "%s has more than %d blocks, which are too many to simulate", n->name ? n->name->s : "a value without a name", ALG_KEYS_TOLD);
    return false;
  }
  c->there = there_find(s, n);
  if (n->kind == ALG_MOVE) move_find(s, n, c);
  bool copies = n->kind == ALG_JOIN || n->kind == ALG_AGGREGATE || (n->kind == ALG_MAP && casts(n));
  return !copies || kernels_find(s, n, c);
}

static void readers_find(Sim *s, const AlgRegion *r, bool *other) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const AlgNode *n = r->nodes.at[i];
    if (n->kind == ALG_REPEAT) readers_find(s, n->body, other);
    for (uint32_t k = 0; k < n->n_operand; k++) {
      const AlgNode *of = n->operand[k].node;
      if (n->kind != ALG_FILTER || s->kept[of->id] || rel_keys(&of->type) > (double)ALG_KEYS_TOLD) other[of->id] = true;
      else s->kept[of->id] = filtered(s, n, NULL);
    }
  }
  if (r->bound) other[r->bound->id] = true;
  if (r->stop) other[r->stop->id] = true;
  for (uint32_t i = 0; i < r->states.len; i++) other[r->states.at[i].init->id] = other[r->states.at[i].next->id] = true;
  for (uint32_t i = 0; i < r->stacks.len; i++) other[r->stacks.at[i].node->id] = true;
}

void kept_find(Sim *s) {
  bool *other = NEW_ARRAY(s->arena, bool, s->program->n_nodes + 1);
  s->kept = NEW_ARRAY(s->arena, const bool *, s->program->n_nodes + 1);
  readers_find(s, s->program->top, other);
  for (uint32_t i = 0; i < s->program->outputs.len; i++) other[s->program->outputs.at[i].node->id] = true;
  for (uint32_t i = 0; i < s->program->asserts.len; i++) other[s->program->asserts.at[i].node->id] = true;
  for (uint32_t i = 0; i < s->program->n_nodes; i++)
    if (other[i]) s->kept[i] = NULL;
}
