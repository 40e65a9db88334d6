/* tests/random/shrink.c - what may be left out of a failing program: statements go, parts take the place of the whole,
 * literals that of parts, sizes shrink. */
#include <stdio.h>

#include "random.h"

typedef struct Shrinking { Shrink *s; Gen gen; } Shrinking;

static void shrink_stmts(Shrinking *s, Stmt ***at, uint32_t *len) {
  for (uint32_t i = *len; i-- > 0;) {
    Stmt *was = (*at)[i];
    for (uint32_t k = i; k + 1 < *len; k++) (*at)[k] = (*at)[k + 1];
    --*len;
    if (still(s->s)) continue;
    for (uint32_t k = (*len)++; k > i; k--) (*at)[k] = (*at)[k - 1];
    (*at)[i] = was;
  }
}

static bool literal(const Node *n) {
  return n->kind == E_INT || n->kind == E_REAL || n->kind == E_TRUTH || (n->kind == E_CAST && n->kid[0]->kind == E_INT);
}

static bool put_instead(Shrinking *s, Node **slot, Node *n) {
  Node *was = *slot;
  *slot = n;
  if (still(s->s)) return true;
  *slot = was;
  return false;
}

static void shrink_node(Shrinking *s, Node **slot) {
  Node *n = *slot;
  if (literal(n) || n->kind == E_LABEL) return;
  if (n->kind != E_GROUP && put_instead(s, slot, node_default(&s->gen, n->ty))) return;
  for (uint32_t i = 0; i < n->n && n->kind != E_READ; i++) {
    Node *k = n->kid[i];
    if ((k->ty.t == DT_BOOL) != (n->ty.t == DT_BOOL) || dtype_is_float(k->ty.t) != dtype_is_float(n->ty.t)) continue;
    if (put_instead(s, slot, k)) return shrink_node(s, slot);
  }
  if (n->where && n->kind == E_REDUCE && n->n > 1) {
    n->where = false, n->n--;
    if (!still(s->s)) n->where = true, n->n++;
  }
  /* which labels a call restricts depends on its predicate */
  uint32_t most = n->kind == E_CALL && n->where ? n->n - 1u : n->n;
  for (uint32_t i = 0; i < most; i++) shrink_node(s, &n->kid[i]);
}

static void shrink_parts(Shrinking *s, Stmt *t) {
  if (t->type == S_EQUATION && t->output) {
    t->output = false;
    if (!still(s->s)) t->output = true;
  }
  if (t->typed && t->type == S_EQUATION) {
    t->typed = false;
    if (!still(s->s)) t->typed = true;
  }
  if (t->until) {
    Node *was = t->until;
    t->until = NULL;
    if (!still(s->s)) t->until = was;
  }
  if (t->def) {
    shrink_node(s, &t->def->e);
    for (uint32_t k = 0; k < t->def->n_local; k++) shrink_node(s, &t->def->local[k].value);
  }
  if (t->e && t->type != S_REPEAT && t->type != S_INPUT) shrink_node(s, &t->e);
  if (t->type == S_INPUT && !literal(t->e)) put_instead(s, &t->e, node_default(&s->gen, (Ty){t->ten->dtype, HELD}));
  shrink_stmts(s, &t->body.at, &t->body.len);
  for (uint32_t i = 0; i < t->body.len; i++) shrink_parts(s, t->body.at[i]);
}

static void shrink_extent(Shrinking *s, Extent *e) {
  Extent was = *e;
  for (int64_t v = 1; v < was.value; v++) {
    e->value = v;
    if (e->define) e->define = arena_printf(s->gen.arena, "%lld", (long long)v);
    else snprintf(e->text, sizeof e->text, "%lld", (long long)v);
    if (still(s->s)) return;
  }
  *e = was;
}

void made_shrink(Shrink *all, Made *m) {
  Shrinking s = {.s = all, .gen = {.arena = m->arena, .made = m, .rng = {1}}};
  shrink_stmts(&s, &m->stmts.at, &m->stmts.len);
  for (uint32_t i = 0; i < m->stmts.len; i++) shrink_parts(&s, m->stmts.at[i]);
  for (uint32_t i = 0; i < m->extents.len; i++) shrink_extent(&s, m->extents.at[i]);
}
