/* tests/rule/sites.h - what each site holds of each relation: a second and smaller evaluator for programs of integers
 * without repeats, which keeps all tuples of all nodes to be looked at. It shares no code with algebra/eval/eval.c. */
#ifndef EIN_TEST_SITES_H
#define EIN_TEST_SITES_H

#include <string.h>

#include "algebra/rules/inside.h"

enum { S_KEYS = 16, S_RANK = 8, S_SITES = 8 };

typedef struct Tup {
  int64_t key[S_KEYS], low[S_RANK], high[S_RANK];
  int64_t n, *data;
  uint32_t part;             /* the site where it was made, as far as parts are concerned */
} Tup;

typedef struct Held { VEC(Tup) at[S_SITES]; } Held;

typedef struct Sites {
  Arena *arena;
  const Algebra *p;
  uint32_t n;
  Map held;                  /* node to Held */
  const char *error;
} Sites;

static int64_t wrapped(DType t, int64_t v) {
  if (t == DT_I32) return (int32_t)v;
  if (t == DT_I16) return (int16_t)v;
  if (t == DT_I8) return (int8_t)v;
  return v;
}

static int64_t box_of(uint32_t rank, const int64_t *low, const int64_t *high) {
  int64_t n = 1;
  for (uint32_t d = 0; d < rank; d++) n *= high[d] > low[d] ? high[d] - low[d] : 0;
  return n;
}

static Tup *tup_new(Sites *s, Held *h, uint32_t site, const int64_t *key, uint32_t n_key, uint32_t rank,
    const int64_t *low, const int64_t *high) {
  Tup t = {.n = box_of(rank, low, high)};
  t.data = NEW_ARRAY(s->arena, int64_t, t.n + 1);
  memcpy(t.key, key, n_key * sizeof *key);
  memcpy(t.low, low, rank * sizeof *low);
  memcpy(t.high, high, rank * sizeof *high);
  vec_push(s->arena, h->at[site], t);
  return &vec_last(h->at[site]);
}

/* Places of a box one after the other; false behind the last. */
static bool place_next(uint32_t rank, const int64_t *low, const int64_t *high, int64_t *at) {
  while (rank-- > 0) {
    if (++at[rank] < high[rank]) return true;
    at[rank] = low[rank];
  }
  return false;
}

/* -1: outside. */
static int64_t place_in(const Tup *t, uint32_t rank, const int64_t *at) {
  int64_t k = 0;
  for (uint32_t d = 0; d < rank; d++) {
    if (at[d] < t->low[d] || at[d] >= t->high[d]) return -1;
    k = k * (t->high[d] - t->low[d]) + at[d] - t->low[d];
  }
  return k;
}

static void site_at(const Sites *s, uint32_t site, uint32_t *at) {
  mesh_place(&s->p->mesh, site, at);
}

static bool same_part(const Sites *s, const Placement *p, uint32_t a, uint32_t b) {
  uint32_t x[MESH_AXES + 1], y[MESH_AXES + 1];
  site_at(s, a, x), site_at(s, b, y);
  for (uint32_t i = 0; i < s->p->mesh.n; i++)
    if (p->on[i] == PLACE_PART && x[i] != y[i]) return false;
  return true;
}

/* The first site that differs only along axes without parts. */
static uint32_t part_of(const Sites *s, const Placement *p, uint32_t site) {
  for (uint32_t k = 0; k < site; k++)
    if (same_part(s, p, k, site)) return k;
  return site;
}

static int64_t hash_at(uint64_t h, uint32_t rank, const int64_t *at) {
  for (uint32_t d = 0; d < rank; d++) h = (h ^ (uint64_t)at[d]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
  h *= 0xbf58476d1ce4e5b9u;
  return (int64_t)(h ^ h >> 31) >> 20; /* 44 bits with a sign: casts lose some, sums do not overflow */
}

static const Held *held_get(Sites *s, const AlgNode *n);

static void eval_input(Sites *s, const AlgNode *n, Held *h) {
  int64_t key[S_KEYS] = {0}, low[S_RANK], high[S_RANK], at[S_RANK];
  uint32_t where[MESH_AXES + 1];
  do {
    rel_box(&n->type, key, low, high);
    for (uint32_t i = 0; i < s->n; i++) {
      site_at(s, i, where);
      if (!alg_holds(&s->p->mesh, &n->at, &n->type, key, where)) continue;
      Tup *t = tup_new(s, h, i, key, n->type.n_key, n->type.rank, low, high);
      memcpy(at, low, sizeof at);
      uint64_t seed = n->name->hash;
      /* blocks that overlap may differ: no reader minds */
      for (uint32_t k = 0; k < n->type.n_key; k++) seed = seed * 31 + (uint64_t)key[k];
      for (int64_t k = 0; k < t->n; k++) {
        t->data[k] = wrapped(n->type.dtype, hash_at(seed, n->type.rank, at));
        place_next(n->type.rank, low, high, at);
      }
    }
  } while (rel_next_key(n->type.n_key, n->type.frontier, key));
}

/* ---- functions ------------------------------------------------------------------------------------------- */

static void fns_run(const AlgNode *n, Tup *t) {
  for (uint32_t f = 0; f < n->n_fn; f++) {
    const AlgFn *fn = &n->fn[f];
    if (fn->kind == FN_CAST)
      for (int64_t k = 0; k < t->n; k++) t->data[k] = wrapped(fn->to, t->data[k]);
    if (fn->kind == FN_SHIFT) t->low[fn->n] += fn->by * t->key[fn->key], t->high[fn->n] += fn->by * t->key[fn->key];
    if (fn->kind != FN_MERGE) continue;
    uint32_t d = 0;
    for (uint32_t k = 0; k < fn->n; k++) {
      int64_t low = 0, high = 1;
      for (uint32_t i = 0; i < fn->merge[k]; i++, d++) {
        int64_t e = t->high[d];
        if (low == 0 && high == 1) low = t->low[d], high = t->high[d];
        else low *= e, high *= e;
      }
      t->low[k] = low, t->high[k] = high;
    }
  }
}

/* ---- filter, map, move -------------------------------------------------------------------------------------- */

static Tup *tup_put(Sites *s, Held *h, uint32_t site, const Tup *t) {
  Tup x = *t;
  x.data = arena_copy(s->arena, t->data, (size_t)(t->n + 1) * sizeof *t->data);
  vec_push(s->arena, h->at[site], x);
  return &vec_last(h->at[site]);
}

static void map_tup(Sites *s, const AlgNode *n, const Tup *t, uint32_t site, Held *h) {
  const AlgNode *of = n->operand[0].node;
  uint32_t old = of->type.n_key, all = old + n->n_piece, rank = of->type.rank;
  int64_t key[S_KEYS], piece[S_KEYS] = {0}, at[S_RANK], low[S_RANK], high[S_RANK], as[S_KEYS];
  do {
    memcpy(key, t->key, sizeof key);
    for (uint32_t k = 0; k < n->n_piece; k++) key[old + k] = piece[k];
    rel_ranges(rank, n->n_piece ? n->piece : of->type.dim, n->n_piece ? all : old, key, low, high);
    for (uint32_t d = 0; d < rank; d++) {
      if (low[d] < t->low[d]) low[d] = t->low[d];
      if (high[d] > t->high[d]) high[d] = t->high[d];
      if (high[d] < low[d]) high[d] = low[d];
    }
    if (!box_of(rank, low, high) && t->n) continue;
    for (uint32_t k = 0; k < n->type.n_key; k++) as[k] = n->rekey ? rel_value(n->rekey[k], all, key) : key[k];
    Tup *x = tup_new(s, h, site, as, n->type.n_key, rank, low, high);
    x->part = t->part;
    memcpy(at, low, sizeof at);
    for (int64_t k = 0; k < x->n; k++, place_next(rank, low, high, at)) x->data[k] = t->data[place_in(t, rank, at)];
    fns_run(n, x);
  } while (rel_next_key(n->n_piece, n->frontier, piece));
}

static void eval_each(Sites *s, const AlgNode *n, Held *h) {
  const Held *of = held_get(s, n->operand[0].node);
  for (uint32_t i = 0; i < s->n; i++)
    for (uint32_t k = 0; k < of->at[i].len; k++) {
      const Tup *t = &of->at[i].at[k];
      if (n->kind == ALG_MAP) map_tup(s, n, t, i, h);
      else if (rel_predicate(n->keep, n->type.n_key, t->key)) tup_put(s, h, i, t);
    }
}

static bool has_tup(const Held *h, uint32_t site, const Tup *t, uint32_t n_key) {
  for (uint32_t k = 0; k < h->at[site].len; k++)
    if (!memcmp(h->at[site].at[k].key, t->key, n_key * sizeof *t->key) && h->at[site].at[k].part == t->part)
      return true;
  return false;
}

static void eval_move(Sites *s, const AlgNode *n, Held *h) {
  const AlgNode *from = n->operand[0].node;
  const Held *of = held_get(s, from);
  uint32_t where[MESH_AXES + 1];
  for (uint32_t a = 0; a < s->p->mesh.n; a++)
    if (n->at.on[a] == PLACE_PART && from->at.on[a] != PLACE_PART) s->error = "a move makes parts";
  for (uint32_t to = 0; to < s->n; to++) {
    site_at(s, to, where);
    for (uint32_t i = 0; i < s->n; i++)
      for (uint32_t k = 0; k < of->at[i].len; k++) {
        const Tup *t = &of->at[i].at[k];
        if (!alg_holds(&s->p->mesh, &n->at, &n->type, t->key, where) || has_tup(h, to, t, n->type.n_key)) continue;
        if (!same_part(s, &n->at, to, t->part)) continue; /* parts that stay parts stay in their places */
        tup_put(s, h, to, t);
      }
  }
}

/* ---- aggregate -------------------------------------------------------------------------------------------------- */

static int64_t combined(Reducer r, DType t, int64_t a, int64_t b) {
  uint64_t x = (uint64_t)a, y = (uint64_t)b;
  if (r == RED_MAX) return a > b ? a : b;
  if (r == RED_MIN) return a < b ? a : b;
  return wrapped(t, (int64_t)(r == RED_PROD ? x * y : x + y));
}

static void tup_fold(Sites *s, const AlgNode *n, Tup *to, const Tup *t) {
  uint32_t rank = n->operand[0].node->type.rank;
  if (memcmp(to->low, t->low, rank * sizeof *t->low) || memcmp(to->high, t->high, rank * sizeof *t->high)) {
    if (to->n || t->n) s->error = "an aggregation of different boxes";
    return;
  }
  for (int64_t k = 0; k < t->n; k++)
    to->data[k] = combined(n->reducer, n->operand[0].node->type.dtype, to->data[k], t->data[k]);
}

typedef struct Laid { uint32_t n; bool *there; } Laid;

/* A block among those that are laid side by side: the box is that of all that came, which the node's type must then say
 * too. */
static void laid_all(Sites *s, const AlgNode *n, Held *h, uint32_t site, const Held *of, Tup *to) {
  uint32_t rank = n->operand[0].node->type.rank;
  int64_t covered = 0, at[S_RANK];
  bool *there = NEW_ARRAY(s->arena, bool, to->n + 1);
  (void)h;
  for (uint32_t k = 0; k < of->at[site].len; k++) {
    const Tup *t = &of->at[site].at[k];
    bool ours = true;
    for (uint32_t g = 0; g < n->n_group; g++) ours = ours && t->key[n->group[g]] == to->key[g];
    memcpy(at, t->low, sizeof at);
    for (int64_t i = 0; ours && i < t->n; i++, place_next(rank, t->low, t->high, at)) {
      int64_t in = place_in(to, rank, at);
      if (in < 0 || there[in]) { s->error = "a concat of blocks that do not fit"; return; }
      there[in] = true, covered++;
      to->data[in] = t->data[i];
    }
  }
  if (covered != to->n) s->error = "a concat with gaps";
}

static Tup *group_find(Held *h, uint32_t site, const int64_t *key, uint32_t n_key) {
  for (uint32_t k = 0; k < h->at[site].len; k++)
    if (!memcmp(h->at[site].at[k].key, key, n_key * sizeof *key)) return &h->at[site].at[k];
  return NULL;
}

/* The least box that has all that comes. */
static void group_box(const AlgNode *n, const Tup *t, uint32_t count, const int64_t *key, int64_t *low, int64_t *high) {
  bool first = true;
  for (; count--; t++) {
    bool ours = true;
    for (uint32_t g = 0; g < n->n_group; g++) ours = ours && t->key[n->group[g]] == key[g];
    for (uint32_t d = 0; ours && d < n->operand[0].node->type.rank; d++) {
      if (first || t->low[d] < low[d]) low[d] = t->low[d];
      if (first || t->high[d] > high[d]) high[d] = t->high[d];
    }
    first = first && !ours;
  }
}

static void eval_aggregate(Sites *s, const AlgNode *n, Held *h) {
  const AlgNode *operand = n->operand[0].node;
  const Held *of = held_get(s, operand);
  int64_t key[S_KEYS] = {0}, low[S_RANK], high[S_RANK];
  for (uint32_t i = 0; i < s->n; i++) {
    for (uint32_t k = 0; k < of->at[i].len; k++) {
      const Tup *t = &of->at[i].at[k];
      for (uint32_t g = 0; g < n->n_group; g++) key[g] = t->key[n->group[g]];
      Tup *to = group_find(h, i, key, n->n_group);
      if (to && n->reducer == RED_NONE) continue;
      if (to) { tup_fold(s, n, to, t); continue; }
      if (n->reducer == RED_NONE) group_box(n, &of->at[i].at[0], of->at[i].len, key, low, high);
      to = n->reducer == RED_NONE ? tup_new(s, h, i, key, n->n_group, operand->type.rank, low, high)
                                  : tup_put(s, h, i, t);
      memset(to->key, 0, sizeof to->key);
      memcpy(to->key, key, n->n_group * sizeof *key);
      to->part = part_of(s, &n->at, i);
      if (n->reducer == RED_NONE) laid_all(s, n, h, i, of, to);
    }
    for (uint32_t k = 0; k < h->at[i].len; k++) fns_run(n, &h->at[i].at[k]);
  }
}

/* ---- fetch ----------------------------------------------------------------------------------------------------------
 */

/* All blocks of a table, wherever they are. */
static Tup *table_laid(Sites *s, const AlgNode *table) {
  const Held *of = held_get(s, table);
  Held *h = NEW(s->arena, Held);
  uint32_t rank = table->type.rank;
  int64_t none[S_KEYS] = {0}, low[S_RANK] = {0}, high[S_RANK] = {0}, at[S_RANK];
  for (uint32_t i = 0; i < s->n; i++)
    for (uint32_t k = 0; k < of->at[i].len; k++)
      for (uint32_t d = 0; d < rank; d++)
        if (of->at[i].at[k].high[d] > high[d]) high[d] = of->at[i].at[k].high[d];
  Tup *to = tup_new(s, h, 0, none, 0, rank, low, high);
  for (uint32_t i = 0; i < s->n; i++)
    for (uint32_t k = 0; k < of->at[i].len; k++) {
      const Tup *t = &of->at[i].at[k];
      memcpy(at, t->low, sizeof at);
      for (int64_t e = 0; e < t->n; e++, place_next(rank, t->low, t->high, at))
        to->data[place_in(to, rank, at)] = t->data[e];
    }
  return to;
}

/* ---- join ----------------------------------------------------------------------------------------------------------
 */

typedef struct Point { const AlgNode *n; const Tup **operand; const int64_t *label; bool bad; } Point;

static int64_t point_value(Point *p, const Expr *e) {
  int64_t a[3] = {0}, at[S_RANK];
  if (e->kind == EX_INT) return e->i;
  if (e->kind == EX_LABEL) return p->label[e->i];
  if (e->kind == EX_READ) {
    const Tup *t = p->operand[e->i];
    for (uint32_t k = 0; k < e->n; k++) at[k] = point_value(p, e->arg[k]);
    int64_t in = t ? place_in(t, e->n, at) : -1;
    p->bad |= in < 0;
    return in < 0 ? 0 : t->data[in];
  }
  if (e->op == OP_SELECT) return point_value(p, e->arg[point_value(p, e->arg[0]) ? 1 : 2]);
  for (uint32_t k = 0; k < e->n; k++) a[k] = point_value(p, e->arg[k]);
  uint64_t x = (uint64_t)a[0], y = (uint64_t)a[1];
  switch ((int)e->op) {
    case OP_ADD: return wrapped((DType)e->dtype, (int64_t)(x + y));
    case OP_SUB: return wrapped((DType)e->dtype, (int64_t)(x - y));
    case OP_MUL: return wrapped((DType)e->dtype, (int64_t)(x * y));
    case OP_NEG: return wrapped((DType)e->dtype, (int64_t)(0 - x));
    case OP_MAX: return a[0] > a[1] ? a[0] : a[1];
    case OP_MOD: return floor_mod(a[0], a[1]);
    case OP_EQ: return a[0] == a[1];
    case OP_AND: return a[0] && a[1];
    case OP_LT: return a[0] < a[1];
    default: return p->bad = true, 0;
  }
}

static void join_tup(Sites *s, const AlgNode *n, uint32_t site, const int64_t *key, const Tup **operand, Held *h) {
  const EinSum *e = n->sum;
  int64_t low[2 * S_RANK], high[2 * S_RANK], at[2 * S_RANK];
  rel_ranges(e->n_out + e->n_red, n->range, n->type.n_key, key, low, high);
  Tup *t = tup_new(s, h, site, key, n->type.n_key, e->n_out, low, high);
  memcpy(at, low, sizeof at);
  for (int64_t k = 0; k < t->n; k++, place_next(e->n_out, low, high, at)) {
    int64_t total = 0;
    bool first = true, some = box_of(e->n_red, low + e->n_out, high + e->n_out) > 0;
    Point p = {n, operand, at, false};
    memcpy(at + e->n_out, low + e->n_out, e->n_red * sizeof *at);
    if (some) do {
        int64_t v = point_value(&p, e->body);
        total = first ? v : combined(e->reducer, e->acc, total, v);
        first = false;
      } while (place_next(e->n_red, low + e->n_out, high + e->n_out, at + e->n_out));
    if (p.bad) s->error = "a kernel reads what is not there";
    t->data[k] = total;
  }
  fns_run(n, t);
}

static void eval_join(Sites *s, const AlgNode *n, Held *h) {
  const Tup *operand[S_KEYS];
  int64_t key[S_KEYS] = {0}, its[S_KEYS];
  uint32_t where[MESH_AXES + 1];
  const Tup *table = n->kind == ALG_FETCH ? table_laid(s, alg_table(n)) : NULL;
  for (uint32_t i = 0; i < s->n; i++) {
    site_at(s, i, where);
    memset(key, 0, sizeof key);
    do {
      bool missing = false;
      if (!alg_holds(&s->p->mesh, &n->at, &n->type, key, where)) continue;
      for (uint32_t o = 0; o < n->n_operand; o++) {
        if (alg_is_table(n, o)) { operand[o] = table; continue; }
        const AlgNode *of = n->operand[o].node;
        Held *x = (Held *)(uintptr_t)held_get(s, of);
        for (uint32_t k = 0; k < of->type.n_key; k++) its[k] = n->operand[o].on[k] < 0 ? 0 : key[n->operand[o].on[k]];
        operand[o] = group_find(x, i, its, of->type.n_key);
        missing |= !operand[o] && (n->operand[o].wanted || !of->type.holes);
      }
      if (!missing) join_tup(s, n, i, key, operand, h);
    } while (rel_next_key(n->type.n_key, n->type.frontier, key));
  }
}

/* ---- all
 * ------------------------------------------------------------------------------------------------------------- */

static const Held *held_get(Sites *s, const AlgNode *n) {
  Held *h = map_find(&s->held, n);
  if (h) return h;
  h = NEW(s->arena, Held);
  switch ((int)n->kind) {
    case ALG_INPUT: eval_input(s, n, h); break;
    case ALG_AGGREGATE: eval_aggregate(s, n, h); break;
    case ALG_JOIN:
    case ALG_FETCH: eval_join(s, n, h); break;
    case ALG_MOVE: eval_move(s, n, h); break;
    default: eval_each(s, n, h);
  }
  map_put(&s->held, n, h);
  return h;
}

static Sites sites_of(const Algebra *p) {
  return (Sites){.arena = p->arena, .p = p, .n = (uint32_t)mesh_sites(&p->mesh), .held = map_new(p->arena)};
}

/* Where its placement says that it is to be, and nowhere else; below the frontier; in the box of its type. */
static const char *node_told(Sites *s, const AlgNode *n) {
  const Held *h = held_get(s, n);
  uint32_t where[MESH_AXES + 1];
  int64_t low[S_RANK], high[S_RANK];
  if (s->error) return s->error;
  for (uint32_t i = 0; i < s->n; i++)
    for (uint32_t k = 0; k < h->at[i].len; k++) {
      const Tup *t = &h->at[i].at[k];
      for (uint32_t d = 0; d < n->type.n_key; d++)
        if (t->key[d] < 0 || t->key[d] >= n->type.frontier[d]) return "a key is not below the frontier";
      site_at(s, i, where);
      if (!alg_holds(&s->p->mesh, &n->at, &n->type, t->key, where)) return "a tuple is where it should not be";
      rel_box(&n->type, t->key, low, high);
      if (t->n &&
          (memcmp(low, t->low, n->type.rank * sizeof *low) || memcmp(high, t->high, n->type.rank * sizeof *high)))
        return "a tuple has another box than its type";
      for (uint32_t to = 0; to < s->n; to++) {
        site_at(s, to, where);
        if (alg_holds(&s->p->mesh, &n->at, &n->type, t->key, where) && same_part(s, &n->at, to, i) &&
            !has_tup(h, to, t, n->type.n_key))
          return "a tuple is not at all sites where it should be";
      }
    }
  return NULL;
}

/* The relation with sites projected away, parts combined, in order of keys. */
typedef struct Bag { uint32_t n; Tup *at; bool parts, clash; } Bag;

static int tup_order(const Tup *a, const Tup *b, uint32_t n_key) {
  for (uint32_t k = 0; k < n_key; k++)
    if (a->key[k] != b->key[k]) return a->key[k] < b->key[k] ? -1 : 1;
  return a->part < b->part ? -1 : a->part > b->part;
}

static const AlgNode *pending_of(const AlgNode *n) {
  while (n->kind == ALG_MOVE || n->kind == ALG_FILTER || n->kind == ALG_MAP) n = n->operand[0].node;
  return n->kind == ALG_AGGREGATE ? n : NULL;
}

static Bag bag_of(Sites *s, const AlgNode *n) {
  const Held *h = held_get(s, n);
  VEC(Tup) all = {0};
  const AlgNode *by = pending_of(n);
  Bag out = {.parts = alg_in_parts(s->p, n)};
  for (uint32_t i = 0; i < s->n; i++)
    for (uint32_t k = 0; k < h->at[i].len; k++) {
      uint32_t at = all.len;
      vec_push(s->arena, all, h->at[i].at[k]);
      for (; at && tup_order(&all.at[at - 1], &h->at[i].at[k], n->type.n_key) > 0; at--) all.at[at] = all.at[at - 1];
      all.at[at] = h->at[i].at[k];
    }
  Tup was = {.n = 0};
  for (uint32_t k = 0; k < all.len; k++) {
    Tup one = all.at[k], *t = &one, *last = out.n ? &all.at[out.n - 1] : NULL;
    bool key = last && !memcmp(last->key, t->key, n->type.n_key * sizeof *t->key), copy = key && was.part == t->part;
    if (copy) out.clash |= was.n != t->n || memcmp(was.data, t->data, (size_t)t->n * sizeof *t->data);
    was = one;
    if (copy) continue;
    if (key) {
      out.clash |= !out.parts || !by || by->reducer == RED_NONE || last->n != t->n;
      if (out.clash) continue;
      for (int64_t i = 0; i < t->n; i++)
        last->data[i] = combined(by->reducer, n->type.dtype, last->data[i], t->data[i]);
    } else {
      all.at[out.n++] = one;
      all.at[out.n - 1].data = arena_copy(s->arena, t->data, (size_t)(t->n + 1) * sizeof *t->data);
    }
  }
  out.at = all.at;
  return out;
}

static bool bags_equal(const Bag *a, const Bag *b, uint32_t n_key, uint32_t rank) {
  if (a->n != b->n || a->clash || b->clash) return false;
  for (uint32_t k = 0; k < a->n; k++) {
    const Tup *x = &a->at[k], *y = &b->at[k];
    if (memcmp(x->key, y->key, n_key * sizeof *x->key) || x->n != y->n) return false;
    if (x->n && (memcmp(x->low, y->low, rank * sizeof *x->low) || memcmp(x->high, y->high, rank * sizeof *x->high)))
      return false;
    if (memcmp(x->data, y->data, (size_t)x->n * sizeof *x->data)) return false;
  }
  return true;
}

#endif
