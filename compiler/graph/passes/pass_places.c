/* graph/passes/pass_places.c - the first place of a maximum, written as the least label at which the maximum is, is an
 * argmax:
 *
 *     m[i] = max[j] X[i,j]
 *     Y[i] = min[j where X[i,j] == m[i]] j        Y[i] = if isnan(m[i]) then the greatest integer else argmax[j] X[i,j]
 *
 * and so for minima. A NaN is equal to nothing, so there is no such place; argmax would find it. If nothing else reads
 * the maximum, it is looked up at that place.
 *
 * The other way round, what is looked up at the place of a maximum that has no other use is that maximum:
 *
 *     a[i] = argmax[j] X[i,j]
 *     Y[i] = X[i,a[i]]                            Y[i] = max[j] X[i,j]
 *
 * A NaN is at the first place that has one, and it is the maximum. */
#include "rebuild.h"

typedef struct Places {
  Rebuild b;
  Arena *scratch;
  const bool *shown;         /* by old id: something other than a vertex uses it; */
  const uint32_t *uses;      /*   slots that read it */
  bool some;                 /* a value was looked up at a place */
} Places;

typedef struct Extreme {     /* what a vertex compares with its points */
  const Expr *at;            /* a read of the maximum or minimum, */
  const Expr *point;         /* and the point */
  const EinNode *of;         /* the vertex with the maximum */
} Extreme;

typedef struct MaxReader {
  const EinNode *n, *of;
  const Expr **read;         /* of n, by slot */
  const Expr *at;            /* n's read of `of` */
  const Expr *point;         /* what the reduced label is to n */
  bool fails;
} MaxReader;

/* What the maximum reads, as n reads it. */
static const Expr *leaf_as_read(void *env, Exprs *p, const Expr *leaf) {
  MaxReader *d = env;
  (void)p;
  if (leaf->kind == EX_LABEL) return leaf->i < d->of->sum->n_out ? d->at->arg[leaf->i] : d->point;
  if (leaf->kind != EX_READ) return leaf;
  for (uint32_t k = 0; k < d->n->sum->n_slot; k++) {
    const Expr *own = d->read[k];
    bool same = d->n->input[k] == d->of->input[leaf->i] && own->n == leaf->n;
    for (uint32_t i = 0; same && i < leaf->n; i++) same = own->arg[i] == leaf->arg[i];
    if (same) return own;
  }
  d->fails = true;
  return leaf;
}

/* Whether x->of is the maximum, or minimum, of x->point over n's reduced label. */
static bool is_extreme(Places *c, const EinNode *n, const Extreme *x) {
  const EinSum *s = x->of->kind == EIN_VERTEX ? x->of->sum : NULL;
  bool plain = s && (s->reducer == RED_MAX || s->reducer == RED_MIN) && s->n_red == 1 && !s->where && !s->domain &&
      !s->by && s->n_out == x->of->rank && s->dtype == s->acc && s->acc == x->point->dtype;
  if (!plain || x->of->bound[s->n_out] != n->bound[n->sum->n_out]) return false;
  const Expr *top[] = {n->sum->body, n->sum->where, n->sum->domain};
  MaxReader d = {.n = n, .of = x->of, .read = NEW_ARRAY(c->scratch, const Expr *, n->sum->n_slot + 1), .at = x->at,
      .point = expr_label(c->b.old->exprs, n->sum->n_out)};
  expr_slot_reads(c->scratch, COUNT(top), top, d.read);
  const Expr *same = expr_map(c->b.old->exprs, s->body, leaf_as_read, &d);
  return !d.fails && same == x->point;
}

/* Finds the maximum whose first place n is; false: it is something else. */
static bool place_find(Places *c, const EinNode *n, Extreme *x) {
  const EinSum *s = n->sum;
  bool least = s->reducer == RED_MIN && s->n_red == 1 && s->acc == DT_I64 && s->dtype == DT_I64 && s->n_out < 63 &&
      !s->by && !s->domain && s->where && is_op(s->where, OP_EQ);
  if (!least || s->body->kind != EX_LABEL || s->body->i != s->n_out) return false;
  const Expr *extent = n->bound[s->n_out];
  if (extent->kind != EX_INT || extent->i < 1) return false; /* argmax needs a point */
  for (uint32_t k = 0; k < 2; k++) {
    const Expr *at = s->where->arg[k], *point = s->where->arg[1 - k];
    if (at->kind != EX_READ || at->labels >> s->n_out) continue;
    *x = (Extreme){at, point, n->input[at->i]};
    if (is_extreme(c, n, x)) return true;
  }
  return false;
}

/* ---- values at places ---------------------------------------------------------------------------- */

typedef struct Found {       /* a value at the place of a maximum */
  const EinNode *of;         /* the argmax, */
  const Expr *at;            /*   its read, */
  const Expr *value;         /*   the value there, */
  const Expr *most;          /*   and what stands for it: the maximum */
} Found;

/* Whether only n reads it, and it has a place among all points. */
static bool is_place(const Places *c, const EinNode *n, const EinNode *of) {
  const EinSum *s = of->kind == EIN_VERTEX ? of->sum : NULL;
  bool plain = s && red_is_arg(s) && s->n_red == 1 && !s->where && !s->domain && !s->by && s->n_out == of->rank &&
      of->region == n->region && c->uses[of->id] == 1 && !c->shown[of->id];
  return plain && of->bound[s->n_out]->kind == EX_INT && of->bound[s->n_out]->i >= 1;
}

/* Replaces the value by the maximum, and tests whether the place is in range by true. */
static const Expr *looked_up(void *env, Exprs *p, const Expr *e) {
  const Found *f = env;
  if (e == f->value) return f->most;
  if (is_op(e, OP_LE) && e->arg[1] == f->at && e->arg[0]->kind == EX_INT && e->arg[0]->i <= 0)
    return expr_bool(p, true);
  const Expr *size = f->of->bound[f->of->sum->n_out];
  if (is_op(e, OP_LT) && e->arg[0] == f->at && e->arg[1]->kind == EX_INT && e->arg[1]->i >= size->i)
    return expr_bool(p, true);
  return e;
}

static bool has_read_of(Arena *a, const EinSum *s, const Expr *at) {
  ExprNodes reads = sum_reads(a, s);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (e == at) return true;
  return false;
}

/* Finds a value that n looks up at a place; *s is then n without the place, and with the maximum in a further slot. */
static bool value_find(Places *c, const EinNode *n, EinSum *s, Found *f) {
  Exprs *p = c->b.old->exprs;
  const Expr *top[] = {n->sum->body, n->sum->where, n->sum->domain};
  MaxReader d = {.n = n, .read = NEW_ARRAY(c->scratch, const Expr *, n->sum->n_slot + 1)};
  if (n->sum->by) return false;
  expr_slot_reads(c->scratch, COUNT(top), top, d.read);
  for (uint32_t k = 0; k < n->sum->n_slot; k++) {
    if (!is_place(c, n, n->input[k])) continue;
    *f = (Found){.of = n->input[k], .at = d.read[k]};
    d.of = f->of, d.at = d.point = f->at, d.fails = false;
    f->value = expr_map(p, f->of->sum->body, leaf_as_read, &d);
    f->most = expr_read(p, f->of->sum->acc, n->sum->n_slot, f->at->n, f->at->arg);
    *s = *n->sum;
    s->body = expr_map_ops(p, expr_map(p, s->body, looked_up, f), looked_up, f);
    if (!d.fails && !has_read_of(c->scratch, s, f->at)) return s->n_slot++, true;
  }
  return false;
}

static EinNode *value_made(Places *c, EinRegion *r, const EinNode *n, EinSum *s, const Found *f) {
  Rebuild *b = &c->b;
  const EinNode *of = f->of;
  EinSum most = *of->sum;
  EinNode **own = rebuild_inputs(b, of, 0), **input = rebuild_inputs(b, n, 1);
  most.reducer = most.reducer == RED_ARGMAX ? RED_MAX : RED_MIN;
  most.dtype = most.acc;
  input[s->n_slot - 1] = rebuild_part(b, r, of, &most, of->bound, of->label, own);
  rebuild_note(b, "extremes instead of their places", n->place);
  c->some = true;
  return rebuild_vertex(b, r, n, s, n->bound, n->label, input);
}

/* ---- the pass ------------------------------------------------------------------------------------ */

static EinNode *place_made(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Places *c = env;
  Extreme x;
  EinSum with;
  Found f;
  if (value_find(c, n, &with, &f)) return value_made(c, r, n, &with, &f);
  if (!place_find(c, n, &x)) return rebuild_copy(b, r, n);
  Exprs *p = b->g->exprs;
  const EinSum *was = n->sum;
  DType t = (DType)x.point->dtype;
  EinNode **input = rebuild_inputs(b, n, 1);
  const Expr **own = exprs_labels(b->arena, p, was->n_out);
  rebuild_note(b, "places of extremes found", n->place);
  EinSum place = {.n_out = was->n_out, .n_red = 1, .n_slot = was->n_slot, .dtype = DT_I64, .acc = t, .body = x.point,
      .reducer = x.of->sum->reducer == RED_MAX ? RED_ARGMAX : RED_ARGMIN};
  if (!dtype_is_float(t)) return rebuild_vertex(b, r, n, &place, n->bound, n->label, input);
  EinNode *made = input[was->n_slot] = rebuild_part(b, r, n, &place, n->bound, n->label, input);
  if (n->name) made->name = strings_printf(b->g->strings, "%s.1", n->name->s);
  EinSum s = {.n_out = was->n_out, .n_slot = was->n_slot + 1, .dtype = DT_I64, .acc = DT_I64};
  own[was->n_out] = expr_read(p, DT_I64, was->n_slot, was->n_out, own);
  bool alone = c->uses[x.of->id] == 1 && !c->shown[x.of->id];
  const Expr *most = alone ? expr_relabel(p, x.point, was->n_out + 1, own) : x.at;
  s.body = expr_select(p, expr_op1(p, OP_ISNAN, most), reducer_identity(p, was), own[was->n_out]);
  return rebuild_vertex(b, r, n, &s, n->bound, n->label, input);
}

EinGraph *graph_places(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = place_made};
  Places c = {.b = {.arena = a, .old = g, .pass = "places", .notes = notes}, .scratch = arena_new()};
  c.shown = nodes_shown(a, g);
  c.uses = nodes_used(a, g);
  EinGraph *made = rebuild_free(&c.b, a, g, &rules, &c, c.scratch);
  return c.some ? graph_simplify(a, graph_dead(a, made, notes), notes) : made;
}
