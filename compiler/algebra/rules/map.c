/* algebra/rules/map.c - builds the maps in results of rules: composed, split, and moved through aggregations. */
#include "fns.h"

#include "expr/prove/prove.h"

static const Expr *label(RuleMatch *m, int64_t k) {
  return expr_label(m->p->exprs, k);
}

static bool reshapes(const AlgNode *map) {
  for (uint32_t k = 0; k < map->n_fn; k++)
    if (map->fn[k].kind != FN_CAST) return true;
  return false;
}

/* Substitutes labels in boxes. NULL: a label without a substitute occurs. */
static RelDim *dims_with(RuleMatch *m, uint32_t rank, const RelDim *dim, uint32_t n, const Expr *const *to) {
  RelDim *out = NEW_ARRAY(m->p->arena, RelDim, rank + 1);
  for (uint32_t d = 0; d < rank; d++) {
    const Expr *low = expr_over(m->p->exprs, dim[d].low, n, to), *high = expr_over(m->p->exprs, dim[d].high, n, to);
    if (!low || !high) return NULL;
    out[d] = (RelDim){expr_normal(m->p->exprs, low), expr_normal(m->p->exprs, high)};
  }
  return out;
}

/* ---- composing ----------------------------------------------------------------------------------------------- */

/* The outer map's labels over the inner one's: its keys, and new ones after all others. */
static const Expr **outer_labels(RuleMatch *m, const AlgNode *outer, const AlgNode *inner, uint32_t *n) {
  uint32_t keys = inner->type.n_key;
  int64_t all = map_keys(inner) + inner->n_piece;
  const Expr **to = NEW_ARRAY(m->p->arena, const Expr *, keys + outer->n_piece + 1);
  for (uint32_t k = 0; k < keys; k++) to[k] = inner->rekey ? inner->rekey[k] : label(m, k);
  for (uint32_t k = 0; k < outer->n_piece; k++) to[keys + k] = label(m, all + k);
  *n = keys + outer->n_piece;
  return to;
}

static void tiles_join(RuleMatch *m, AlgNode *x, const AlgNode *outer, const AlgNode *inner) {
  Arena *a = m->p->arena;
  uint32_t n = inner->n_piece + outer->n_piece;
  int64_t *frontier = NEW_ARRAY(a, int64_t, n + 1);
  Str *key = NEW_ARRAY(a, Str, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    bool in = k < inner->n_piece;
    frontier[k] = in ? inner->frontier[k] : outer->frontier[k - inner->n_piece];
    key[k] = in ? inner->key[k] : outer->key[k - inner->n_piece];
  }
  x->n_piece = n;
  x->frontier = frontier;
  x->key = key;
}

static bool pieces_join(
    RuleMatch *m, AlgNode *x, const AlgNode *outer, const AlgNode *inner, uint32_t n, const Expr *const *to) {
  uint32_t rank = inner->operand[0].node->type.rank;
  x->piece = inner->piece;
  if (!outer->n_piece) return true;
  RelDim *own = dims_with(m, rank, outer->piece, n, to);
  if (!own) return false;
  for (uint32_t d = 0; inner->n_piece && d < rank; d++) {
    own[d].low = expr_op2(m->p->exprs, OP_MAX, own[d].low, inner->piece[d].low);
    own[d].high = expr_op2(m->p->exprs, OP_MIN, own[d].high, inner->piece[d].high);
  }
  x->piece = own;
  return true;
}

static void keys_join(
    RuleMatch *m, AlgNode *x, const AlgNode *outer, const AlgNode *inner, uint32_t n, const Expr *const *to) {
  const Expr **rekey = NEW_ARRAY(m->p->arena, const Expr *, outer->type.n_key + 1);
  if (!outer->rekey && !inner->rekey) return;
  for (uint32_t k = 0; k < outer->type.n_key; k++)
    rekey[k] = outer->rekey ? expr_relabel(m->p->exprs, outer->rekey[k], n, to) : to[k];
  x->rekey = rekey;
}

/* A tile of a function's result is a tile of its operand only if the function keeps the shape. */
bool map_compose(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  const AlgNode *outer = v[0].node, *inner = v[1].node;
  uint32_t n;
  const Expr **to = outer_labels(m, outer, inner, &n);
  AlgNode *x = out->node = with_functions(m, inner, outer);
  if ((outer->n_piece && reshapes(inner)) || map_shifts(outer) || map_shifts(inner)) return false;
  tiles_join(m, x, outer, inner);
  keys_join(m, x, outer, inner, n, to);
  x->type = outer->type;
  x->at = outer->at;
  return pieces_join(m, x, outer, inner, n, to);
}

bool map_keys_of(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  const AlgNode *f = v[0].node;
  out->node = rule_draft(m, f);
  out->node->n_fn = 0;
  return f->n_fn && (f->rekey || f->n_piece) && !(f->rekey && reshapes(f));
}

bool map_functions(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  AlgNode *x = out->node = rule_draft(m, v[0].node);
  x->n_piece = 0;
  x->rekey = NULL;
  return x->n_fn;
}

/* ---- through aggregations -------------------------------------------------------------------------------------- */

/* The tile's boxes over the keys of `of`, where key k of the group is key group[k]. */
static bool tile_lowered(RuleMatch *m, const AlgNode *f, const RuleValue *g, AlgNode **out) {
  uint32_t n = g->n + f->n_piece;
  const Expr **to = NEW_ARRAY(m->p->arena, const Expr *, n + 1);
  for (uint32_t k = 0; k < g->n; k++) to[k] = label(m, g->group[k]);
  for (uint32_t k = 0; k < f->n_piece; k++) to[g->n + k] = label(m, (int64_t)g->node->type.n_key + k);
  if (!f->n_piece || f->rekey || f->operand[0].node->type.rank != g->node->type.rank) return false;
  *out = rule_draft(m, f);
  (*out)->piece = dims_with(m, f->operand[0].node->type.rank, f->piece, n, to);
  (*out)->operand[0].node = g->node;
  return (*out)->piece;
}

bool map_below(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  return tile_lowered(m, v[0].node, &v[1], &out->node);
}

bool map_across(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  if (v[0].node->n_fn || !tile_lowered(m, v[0].node, &v[1], &out->node)) return false;
  out->node->type.holes = true; /* most blocks are empty in most pieces */
  return true;
}

bool map_above(RuleMatch *m, const RuleValue *v, RuleValue *out) {
  const AlgNode *f = v[0].node;
  const RuleValue *g = &v[1];
  uint32_t old = (uint32_t)map_keys(f), all = old + f->n_piece;
  const Expr **to = NEW_ARRAY(m->p->arena, const Expr *, all + 1);
  if (!f->n_piece || f->rekey || g->n < f->n_piece) return false;
  for (uint32_t k = 0; k < g->n; k++) to[g->group[k]] = label(m, k);
  out->node = rule_draft(m, f);
  out->node->piece = dims_with(m, f->operand[0].node->type.rank, f->piece, all, to);
  return out->node->piece;
}
