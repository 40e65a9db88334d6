/* algebra/simulate/keys.c - finds which tuples exist: for relations with holes a list of key numbers, since there
 * are many more keys than tuples. */
#include <stdlib.h>

#include "inside.h"

typedef VEC(uint64_t) Numbers;

uint64_t key_number(uint32_t n, const int64_t *frontier, const int64_t *key) {
  uint64_t k = 0;
  for (uint32_t d = 0; d < n; d++) k = k * (uint64_t)frontier[d] + (uint64_t)key[d];
  return k;
}

bool keys_have(const Keys *k, uint64_t number) {
  uint32_t low = 0, high = k ? k->n : 0;
  if (!k) return true;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (k->number[middle] == number) return true;
    if (k->number[middle] < number) low = middle + 1;
    else high = middle;
  }
  return false;
}

bool tuple_next(Tuples *t) {
  const Relation *r = t->type;
  if (!t->keys) {
    if (t->next++) return rel_next_key(r->n_key, r->frontier, t->key);
    for (uint32_t d = 0; d < r->n_key; d++) t->key[d] = 0;
    return true;
  }
  if (t->next == t->keys->n) return false;
  uint64_t number = t->keys->number[t->next++];
  for (uint32_t d = r->n_key; d-- > 0; number /= (uint64_t)r->frontier[d])
    t->key[d] = (int64_t)(number % (uint64_t)r->frontier[d]);
  return true;
}

static int by_number(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return (a > b) - (a < b);
}

/* Sorted, without duplicates. */
static const Keys *keys_of(Sim *s, Numbers *x) {
  Keys *k = NEW(s->arena, Keys);
  if (x->len) qsort(x->at, x->len, sizeof *x->at, by_number);
  for (uint32_t i = 0; i < x->len; i++)
    if (!k->n || x->at[k->n - 1] != x->at[i]) x->at[k->n++] = x->at[i];
  k->number = x->at;
  return k;
}

const Keys *keys_filtered(Sim *s, const AlgNode *n, const Keys *of) {
  Numbers x = {0};
  for (Tuples t = {.type = &n->type, .keys = of}; tuple_next(&t);)
    if (rel_predicate(n->keep, n->type.n_key, t.key))
      vec_push(s->arena, x, key_number(n->type.n_key, n->type.frontier, t.key));
  return keys_of(s, &x);
}

static const Keys *grouped(Sim *s, const AlgNode *n, const Keys *of) {
  Numbers x = {0};
  int64_t its[REL_KEYS];
  for (Tuples t = {.type = &n->operand[0].node->type, .keys = of}; tuple_next(&t);) {
    for (uint32_t d = 0; d < n->n_group; d++) its[d] = t.key[n->group[d]];
    vec_push(s->arena, x, key_number(n->n_group, n->type.frontier, its));
  }
  return keys_of(s, &x);
}

/* The keys at which all wanted operands have a tuple. */
static bool wanted_there(const Sim *s, const AlgNode *n, const int64_t *key) {
  int64_t its[REL_KEYS];
  for (uint32_t i = 0; i < n->n_operand; i++) {
    const AlgOperand *o = &n->operand[i];
    const Relation *t = &o->node->type;
    if (!o->wanted) continue;
    for (uint32_t k = 0; k < t->n_key; k++) its[k] = o->on[k] < 0 ? 0 : key[o->on[k]];
    if (!keys_have(s->cost[o->node->id].there, key_number(t->n_key, t->frontier, its))) return false;
  }
  return true;
}

static const Keys *joined(Sim *s, const AlgNode *n) {
  Numbers x = {0};
  for (Tuples t = {.type = &n->type}; tuple_next(&t);)
    if (wanted_there(s, n, t.key)) vec_push(s->arena, x, key_number(n->type.n_key, n->type.frontier, t.key));
  return keys_of(s, &x);
}

/* ---- pieces ---------------------------------------------------------------------------------------------------- */

typedef struct Pieces {
  Sim *s;
  const AlgNode *n;
  uint32_t old, all;         /* the operand's keys; these and the pieces' */
  uint32_t *known;           /* by dimension: how many keys determine its range */
  RelTables has, piece;      /* the ranges of blocks and of pieces */
  bool block;                /* the block has elements, so empty pieces do not exist */
  int64_t key[2 * REL_KEYS];
  Numbers out;
} Pieces;

/* Whether the dimensions whose ranges this key completes intersect the block. */
static bool piece_may(const Pieces *p, uint32_t keys) {
  const Relation *of = &p->n->operand[0].node->type;
  for (uint32_t d = 0; p->block && p->n->n_piece && d < of->rank; d++) {
    int64_t low, high, from, to;
    if (p->known[d] != keys) continue;
    rel_table_get(&p->has, d, p->key, &low, &high);
    rel_table_get(&p->piece, d, p->key, &from, &to);
    if ((high < to ? high : to) <= (low > from ? low : from)) return false;
  }
  return true;
}

static void pieces_add(Pieces *p, uint32_t keys) {
  const AlgNode *n = p->n;
  int64_t new_key[REL_KEYS];
  if (!piece_may(p, keys)) return;
  if (keys == p->all) {
    for (uint32_t k = 0; k < n->type.n_key; k++)
      new_key[k] = n->rekey ? rel_value(n->rekey[k], p->all, p->key) : p->key[k];
    vec_push(p->s->arena, p->out, key_number(n->type.n_key, n->type.frontier, new_key));
    return;
  }
  for (int64_t k = 0; k < n->frontier[keys - p->old]; k++) {
    p->key[keys] = k;
    pieces_add(p, keys + 1);
  }
  p->key[keys] = 0;
}

static uint32_t known_from(const Pieces *p, const RelDim *dim) {
  bool used[2 * REL_KEYS] = {false};
  uint32_t keys = p->all;
  expr_labels(dim->low, p->all, used);
  expr_labels(dim->high, p->all, used);
  while (keys > p->old && !used[keys - 1]) keys--;
  return keys;
}

static bool block_some(const Relation *t, const RelTables *ranges, const int64_t *key) {
  for (uint32_t d = 0; d < t->rank; d++) {
    int64_t low, high;
    rel_table_get(ranges, d, key, &low, &high);
    if (high <= low) return false;
  }
  return true;
}

static const Keys *mapped(Sim *s, const AlgNode *n, const Keys *of) {
  const Relation *type = &n->operand[0].node->type;
  Pieces *p = NEW(s->arena, Pieces);
  p->s = s, p->n = n, p->old = type->n_key, p->all = type->n_key + n->n_piece;
  p->known = NEW_ARRAY(s->arena, uint32_t, type->rank + 1);
  p->has = ranges_of(s->arena, type);
  if (n->n_piece) {
    int64_t *frontier = NEW_ARRAY(s->arena, int64_t, p->all + 1);
    for (uint32_t k = 0; k < p->all; k++) frontier[k] = k < p->old ? type->frontier[k] : n->frontier[k - p->old];
    p->piece = rel_tables_new(s->arena, type->rank, n->piece, p->all, frontier);
  }
  for (uint32_t d = 0; n->n_piece && d < type->rank; d++) p->known[d] = known_from(p, &n->piece[d]);
  for (Tuples t = {.type = type, .keys = of}; tuple_next(&t);) {
    for (uint32_t k = 0; k < p->old; k++) p->key[k] = t.key[k];
    p->block = block_some(type, &p->has, t.key);
    pieces_add(p, p->old);
  }
  return keys_of(s, &p->out);
}

/* ---- entry point ------------------------------------------------------------------------------------------------- */

bool keys_find(Sim *s, const AlgNode *n) {
  const AlgNode *of = n->n_operand ? n->operand[0].node : NULL;
  const Keys *its = of ? s->cost[of->id].there : NULL, *k = NULL;
  static const double LARGEST = 9e18, MOST = SIM_BLOCKS;
  double all = rel_keys(&n->type);
  if (n->type.holes && all < LARGEST) {
    if (n->kind == ALG_FILTER) k = keys_filtered(s, n, its);
    else if (n->kind == ALG_MAP) k = mapped(s, n, its);
    else if (n->kind == ALG_AGGREGATE) k = grouped(s, n, its);
    else if (n->kind == ALG_MOVE) k = its;
    else if (n->kind == ALG_JOIN && all <= MOST) k = joined(s, n);
  }
  s->cost[n->id].there = k;
  if ((k ? (double)k->n : all) <= MOST && all < LARGEST) return true;
  buf_printf(s->why, "%s has more than %d blocks, which are too many to simulate",
      n->name ? n->name->s : "a value without a name", SIM_BLOCKS);
  return false;
}
