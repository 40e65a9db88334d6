/* tests/random/make_call.c - random calls of defs, and what stands only inside of one. */
#include <string.h>

#include "make.h"

/* ---- calls of defs ----------------------------------------------------------------------------- */

/* Something firm of dtype t in which a read says the size of l. */
static Node *argument_with(Ctx *c, Label *l, DType t) {
  Gen *g = c->g;
  for (int k = 0; k < 8 && g->seen.len; k++) {
    Tensor *x = g->seen.at[below(&g->rng, g->seen.len)];
    if ((x->dtype == DT_BOOL) != (t == DT_BOOL) || (dtype_is_float(x->dtype) && x->num.noise > 0) ||
        (dtype_is_float(t) && (x->num.noise > 0 || x->num.wild || !x->num.grid || x->num.mag > 16)))
      continue;
    for (uint32_t d = 0; d < x->rank; d++) {
      if (!ext_same(g, x->dim[d], l->ext)) continue;
      bool partial = false;
      Node *r = node_read(c, x, false, &partial);
      if (partial) break;
      r->kid[d] = node_label(g, l);
      return x->dtype == t ? r : node_cast(g, t, r);
    }
  }
  return NULL;
}

static Label *call_label(Ctx *c, const Def *d, uint32_t k, const Node *n) {
  for (int tries = 0; tries < 4; tries++) {
    Label *l = label_any(c);
    if (!l || (!d->free[k] && chance(&c->g->rng, 40) && c->points <= 60)) {
      if (d->free[k]) return NULL;
      l = label_make(c, extent_any(c->g));
    }
    if (l != n->lab[0] || !k) return l->whole = true, l;
  }
  return NULL;
}

/* In a def, a parameter that has the label; else with no labels but those around and this one. */
static Node *argument_labelled(const Ctx *out, Label *l, const Param *p) {
  Ctx c = *out;
  if (!l->param) {
    bool there = false;
    for (uint32_t i = 0; i < c.n; i++) there |= c.lab[i] == l;
    if (!there) c.lab[c.n++] = l;
    return argument_with(&c, l, p->dtype);
  }
  for (uint32_t k = 0; k < c.def->n_param; k++) {
    Param *q = &c.def->param[k];
    if (q->plain || q->label != l || q->dtype != p->dtype) continue;
    Node *n = node_new(c.g, E_LOCAL, (Ty){q->dtype, HELD});
    n->word = q->name;
    return n;
  }
  return NULL;
}

static Node *call_argument(Ctx *c, const Param *p, const Node *call, const Def *d, int depth) {
  Gen *g = c->g;
  if (p->plain) return node_int(g, below(&g->rng, 4));
  for (uint32_t k = 0; k < d->n_label && p->label && p->used; k++)
    if (p->label == d->label[k]) return argument_labelled(c, call->lab[k], p);
  return make_typed(c, p->dtype, true, depth - 1);
}

/* Which of two labels it restricts is said by the labels in it: here, one. */
static Node *call_where(Ctx *out, const Node *n) {
  if (n->n_lab < 2) return make_expr(out, WANT_BOOL, 0);
  Ctx c = *out;
  c.n = 0;
  Node *at_most =
      node_binary(c.g, OP_LE, node_label(c.g, n->lab[below(&c.g->rng, 2)]), node_int(c.g, below(&c.g->rng, 3)));
  return node_binary(c.g, OP_AND, at_most, make_expr(&c, WANT_BOOL, 0));
}

Node *make_call(Ctx *out, Want w, int depth) {
  Gen *g = out->g;
  if (!g->defs.len || out->points > 60 || out->no_reads) return NULL;
  Def *d = g->defs.at[below(&g->rng, g->defs.len)];
  if (!of_class(d->e->ty.t, w)) return NULL;
  Ctx c = *out;
  Node *n = node_new(g, E_CALL, d->e->ty);
  n->def = d, n->num = d->e->num;
  for (uint32_t k = 0; k < d->n_label; k++) {
    Label *l = call_label(&c, d, k, n);
    if (!l) return NULL;
    n->lab[n->n_lab++] = l;
  }
  for (uint32_t k = 0; k < d->n_param; k++)
    if (!(n->kid[n->n++] = call_argument(out, &d->param[k], n, d, depth))) return NULL;
  if (d->n_label && !c.def && c.n == out->n && chance(&g->rng, 60)) n->where = true, n->kid[n->n++] = call_where(&c, n);
  bool zero = false;
  for (uint32_t k = 0; k < n->n_lab; k++) zero |= n->lab[k]->param || n->lab[k]->ext->value == 0;
  return n->where || (d->some && zero) ? node_else(g, n, node_default(g, n->ty)) : n;
}

/* ---- inside a def ------------------------------------------------------------------------------ */

static Node *local_index(Ctx *c, Label *j, bool *partial) {
  Gen *g = c->g;
  Node *l = node_label(g, j), *s = node_size(g, j), *one = node_int(g, 1);
  switch (below(&g->rng, 7)) {
    case 0: return node_binary(g, OP_SUB, node_binary(g, OP_SUB, s, one), l);
    case 1: return node_binary(g, OP_MOD, node_binary(g, OP_ADD, l, one), s);
    case 2: return node_binary(g, OP_IDIV, l, node_int(g, 2));
    case 3: return index_fun(g, "min", node_binary(g, OP_ADD, l, one), node_binary(g, OP_SUB, s, one));
    case 4: *partial = true; return node_binary(g, OP_SUB, l, one);
    case 5: *partial = true; return node_binary(g, OP_ADD, l, index_atom(c));
    default: *partial = true; return node_int(g, below(&g->rng, 2));
  }
}

static bool in_scope(const Ctx *c, const Label *l) {
  for (uint32_t i = 0; i < c->n; i++)
    if (c->lab[i] == l) return true;
  return false;
}

/* A parameter or local equation, as it stands or substituted. */
Node *make_local(Ctx *c, Want w) {
  Gen *g = c->g;
  Def *d = c->def;
  if (!d || !(d->n_param + d->n_local)) return NULL;
  uint32_t k = below(&g->rng, d->n_param + d->n_local);
  Param *p = k < d->n_param ? &d->param[k] : &d->local[k - d->n_param];
  if (p->plain ? w != WANT_INT : !of_class(p->dtype, w)) return NULL;
  Ty t = p->plain ? (Ty){DT_I64, LITERAL} : p->value ? (Ty){p->dtype, HELD} : (Ty){p->dtype, HELD};
  Node *n = node_new(g, E_LOCAL, t);
  n->word = p->name;
  n->num = p->value         ? p->value->num
      : dtype_is_float(t.t) ? (Num){.mag = 16, .grid = true}
                            : num_int(p->plain ? 4 : int_most(t.t), t.t);
  if (p->plain) return node_binary(g, OP_ADD, node_cast(g, DT_I64, n), node_int(g, 0));
  if (!p->label || !in_scope(c, p->label) || chance(&g->rng, 50)) return n;
  bool partial = false;
  n->lab[n->n_lab++] = p->label;
  n->kid[n->n++] = local_index(c, p->label, &partial);
  return partial ? node_else(g, n, node_default(g, t)) : n;
}

/* (e)[j = i]: e is an equation of its own. */
Node *make_subst(Ctx *out, Want w, int depth) {
  Gen *g = out->g;
  if (out->def || out->no_reads) return NULL;
  Ctx c = *out;
  Label *l = label_any(&c);
  if (!l || chance(&g->rng, 40)) l = label_make(&c, extent_any(g));
  l->whole = true;
  DType t = w == WANT_INT ? DT_I64 : w == WANT_BOOL ? DT_BOOL : DT_F64;
  Node *e = argument_with(&c, l, t);
  if (!e) return NULL;
  c.apart = true;
  if (depth > 0 && w != WANT_BOOL && !c.reduced) e = node_binary(g, OP_ADD, e, make_expr(&c, w, depth - 1));
  if (!has_bare(e, l)) return NULL;
  bool partial = false;
  Ctx at = *out;
  Node *i = NULL;
  for (int k = 0; k < 5 && !i; k++) {
    Node *f = index_form(&at, l->ext);
    Range r = index_range(&at, f);
    if (!r.known) continue;
    partial = r.any && (r.low < 0 || r.high >= l->ext->value);
    if (!partial || chance(&g->rng, 40)) i = f;
  }
  if (!i) return NULL;
  Node *n = with_kids(node_new(g, E_SUBST, e->ty), 2, (Node *[]){e, i});
  n->lab[n->n_lab++] = l;
  n->num = e->num;
  if (n->ty.weak) return NULL;
  return partial ? node_else(g, n, node_default(g, n->ty)) : n;
}
