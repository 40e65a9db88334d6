/* algebra/eval/map.c - operations on single tuples: maps and filters. */
#include "inside.h"

/* The part number of a tuple whose operation leaves parts along further axes: these give its site. */
static int64_t part_of(const Run *r, const AlgNode *n, int64_t site, int64_t part) {
  const Mesh *m = &r->program->mesh;
  int64_t out = 0;
  for (uint32_t a = 0; a < m->n; a++) {
    bool now = n->at.on[a] == PLACE_PART && operand_of(n)->at.on[a] != PLACE_PART;
    out = out * m->size[a] + site_place(r, now ? site : part)[a];
  }
  return out;
}

/* Cuts a piece out of the block; false: it is empty, though the block is not. */
static bool piece_cut(const AlgNode *n, Arena *a, const Block *b, uint32_t n_key, const int64_t *key, Block *out) {
  int64_t *low = NEW_ARRAY(a, int64_t, b->rank + 1), *high = NEW_ARRAY(a, int64_t, b->rank + 1), count;
  rel_ranges(b->rank, n->piece, n_key, key, low, high);
  for (uint32_t d = 0; d < b->rank; d++) {
    if (low[d] < b->low[d]) low[d] = b->low[d];
    if (high[d] > b->high[d]) high[d] = b->high[d];
  }
  box_count(b->rank, low, high, INT64_MAX, &count);
  if (!count && b->count) return false;
  *out = block_cut(a, b, low, high);
  return true;
}

static bool piece_map(
    Run *r, const AlgNode *n, Shelf *s, int64_t site, const Tuple *x, uint32_t n_key, const int64_t *key) {
  int64_t *new_key = NEW_ARRAY(s->arena, int64_t, n->type.n_key + 1);
  Block b;
  if (!n->n_piece) b = block_cut(s->arena, &x->block, x->block.low, x->block.high);
  else if (!piece_cut(n, s->arena, &x->block, n_key, key, &b)) return true;
  for (uint32_t k = 0; k < n->type.n_key; k++) new_key[k] = n->rekey ? rel_value(n->rekey[k], n_key, key) : key[k];
  return fns_apply(r, n, s->arena, key, &b) && tuple_put(r, n, s, site, new_key, part_of(r, n, site, x->part), b);
}

static bool tuple_map(Run *r, const AlgNode *n, Shelf *s, int64_t site, const Tuple *x) {
  uint32_t old = operand_of(n)->type.n_key;
  int64_t *key = COPY_ARRAY(s->arena, int64_t, x->key, old, old + n->n_piece + 1);
  do
    if (!piece_map(r, n, s, site, x, old + n->n_piece, key)) return false;
  while (rel_next_key(n->n_piece, n->frontier, key + old));
  return true;
}

bool map_run(Run *r, const AlgNode *n, Shelf *s) {
  const Shelf *of = held_of(r, operand_of(n))->shelf;
  for (int64_t i = 0; i < s->sites; i++)
    for (uint32_t k = 0; k < of->site[i].tuples.len; k++)
      if (!tuple_map(r, n, s, i, &of->site[i].tuples.at[k])) return false;
  return true;
}

bool filter_run(Run *r, const AlgNode *n, Shelf *s) {
  const Shelf *of = held_of(r, operand_of(n))->shelf;
  uint32_t n_key = operand_of(n)->type.n_key;
  for (int64_t i = 0; i < s->sites; i++)
    vec_each(const Tuple, x, of->site[i].tuples) {
      if (!rel_predicate(n->keep, n_key, x->key)) continue;
      if (!tuple_put(r, n, s, i, x->key, x->part, block_cut(s->arena, &x->block, x->block.low, x->block.high)))
        return false;
    }
  return true;
}
