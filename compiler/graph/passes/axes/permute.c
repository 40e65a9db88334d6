/* graph/passes/axes/permute.c - vertices with their axes in another order. */
#include "permute.h"

const Expr **permute_reads(Arena *a, const EinSum *s) {
  const Expr *top[] = {s->body, s->where, s->domain};
  const Expr **read = NEW_ARRAY(a, const Expr *, s->n_slot + 1);
  expr_slot_reads(a, COUNT(top), top, read);
  return read;
}

typedef struct Permuting {
  Arena *arena;
  const EinNode *n;
  uint32_t *const *order;
  uint32_t *to;              /* by old label; NULL: unchanged */
} Permuting;

static const Expr *permuted(void *env, Exprs *p, const Expr *e) {
  Permuting *t = env;
  if (e->kind == EX_LABEL && t->to) return expr_label(p, t->to[e->i]);
  const uint32_t *order = e->kind == EX_READ ? t->order[t->n->input[e->i]->id] : NULL;
  if (!order) return e;
  const Expr **at = NEW_ARRAY(t->arena, const Expr *, e->n + 1);
  for (uint32_t k = 0; k < e->n; k++) at[k] = e->arg[order[k]];
  return expr_read(p, (DType)e->dtype, e->i, e->n, at);
}

static bool reads_changed(const EinNode *n, uint32_t *const *order) {
  for (uint32_t i = 0; i < n->sum->n_slot; i++)
    if (order[n->input[i]->id]) return true;
  return false;
}

EinNode *permute_vertex(Rebuild *b, EinRegion *r, const EinNode *n, uint32_t *const *order) {
  const uint32_t *own = order[n->id], all = n->sum->n_out + n->sum->n_red;
  if (!own && !reads_changed(n, order)) return rebuild_copy(b, r, n);
  Permuting t = {b->arena, n, order, own ? NEW_ARRAY(b->arena, uint32_t, all + 1) : NULL};
  const Expr **bound = NEW_ARRAY(b->arena, const Expr *, all + 1);
  Str *label = NEW_ARRAY(b->arena, Str, all + 1);
  for (uint32_t l = 0; l < all; l++) {
    uint32_t was = own && l < n->rank ? own[l] : l;
    bound[l] = n->bound[was], label[l] = n->label[was];
    if (own) t.to[was] = l;
  }
  EinNode **input = rebuild_inputs(b, n, 0);
  EinSum s = *n->sum;
  sum_map(b->g->exprs, &s, permuted, &t);
  if (own) rebuild_note(b, "values with their axes in another order", n->place);
  return rebuild_vertex(b, r, n, &s, bound, label, input);
}
