/* graph/passes/axes/pass_parts.c - makes the parts of a vertex vertices of their own, if they are put together
 * only to be taken apart again:
 *
 *     T[a,g:2*F] = if g < F then W[a,g] else V[a,g-F]        T.1[a,g:F] = W[a,g],  T.2[a,g:F] = V[a,g]
 *     R[b,g] = sum[a] X[b,a] * T[a,g]                        R.1[b,g:F] = sum[a] X[b,a] * W[a,g],  R.2 alike
 *     Y[b,f:F] = silu(R[b,f]) * R[b,f+F]                     Y[b,f] = silu(R.1[b,f]) * R.2[b,f]
 *
 * Then nothing is copied, and no point is computed that nobody reads. It is done along a label on which the vertex
 * puts conditions without data, if its readers read disjoint ranges of it, or single points. A reader at the whole
 * label is taken apart in the same way. */
#include <string.h>

#include "expr/prove/prove.h"
#include "graph/passes/rebuild.h"

enum { RANGES_MOST = 8, CHAIN_MOST = 64, NONE = -1 };

typedef struct Range { int64_t from, count; } Range;
typedef struct Ranges { uint32_t n; Range at[RANGES_MOST]; } Ranges;
typedef struct Use { const EinNode *by; const Expr *read; } Use;
typedef struct Uses { VEC(Use) all; } Uses;

typedef struct Parts {
  Rebuild b;
  Arena *scratch;
  const bool *shown;         /* by old id: something other than a vertex uses it, in its shape; */
  Uses *uses;                /*   who reads it; */
  Ranges ***ranges;          /*   by label: the disjoint ranges that are read; NULL: it cannot be taken apart there; */
  int64_t *label;            /*   the label along which it is taken apart; NONE; */
  EinNode ***made;           /*   and its parts, in the new graph */
  VEC(uint32_t) taken;       /* ids of those that have such a label */
} Parts;

/* ---- which ranges are read ------------------------------------------------------------------- */

/* The range that an index covers, a number and perhaps a label; label NONE: a point. Returns false if it is another. */
static bool index_range(Exprs *p, const Expr *e, const Expr *const *bound, Range *r, int64_t *label) {
  *label = NONE, *r = (Range){0, 1};
  if (e->kind == EX_OP) e = expr_normal(p, e);
  if (is_op(e, OP_ADD) && e->arg[1]->kind == EX_INT) r->from = e->arg[1]->i, e = e->arg[0];
  else if (is_op(e, OP_ADD) && e->arg[0]->kind == EX_INT) r->from = e->arg[0]->i, e = e->arg[1];
  if (e->kind == EX_INT) return r->from = e->i, r->from >= 0;
  if (e->kind != EX_LABEL || bound[e->i]->kind != EX_INT || bound[e->i]->i < 1) return false;
  *label = e->i, r->count = bound[e->i]->i;
  return r->from >= 0;
}

/* Adds the range; false: it overlaps another, or there are too many. */
static bool range_add(Ranges *to, Range r, int64_t extent) {
  if (r.from > extent - r.count) return false;
  for (uint32_t i = 0; i < to->n; i++) {
    Range o = to->at[i];
    if (o.from == r.from && o.count == r.count) return true;
    if (r.from < o.from + o.count && o.from < r.from + r.count) return false;
  }
  if (to->n == RANGES_MOST) return false;
  to->at[to->n++] = r;
  return true;
}

/* The ranges of a reader that reads a whole label at one of its own, and may be taken apart there; NULL: it is none. */
static const Ranges *inherited(const Parts *c, const EinNode *by, Range r, int64_t label, int64_t extent) {
  bool whole = label != NONE && r.count == extent && label < by->sum->n_out;
  return whole && c->ranges[by->id] ? c->ranges[by->id][label] : NULL;
}

static bool ranges_find(const Parts *c, const EinNode *n, uint32_t l, Ranges *to) {
  if (n->bound[l]->kind != EX_INT || n->bound[l]->i < 2) return false;
  vec_each(const Use, u, c->uses[n->id].all) {
    Range r;
    int64_t label, extent = n->bound[l]->i;
    if (!index_range(c->b.old->exprs, u->read->arg[l], u->by->bound, &r, &label)) return false;
    const Ranges *from = inherited(c, u->by, r, label, extent);
    if (!from && !range_add(to, r, extent)) return false;
    for (uint32_t i = 0; from && i < from->n; i++)
      if (!range_add(to, from->at[i], extent)) return false;
  }
  return to->n > 1;
}

static void uses_add(Parts *c, const EinNode *n) {
  const EinSum *s = n->sum;
  const Expr *top[] = {s->body, s->where, s->domain}, **read = NEW_ARRAY(c->scratch, const Expr *, s->n_slot + 1);
  expr_slot_reads(c->scratch, COUNT(top), top, read);
  for (uint32_t k = 0; k < s->n_slot; k++) vec_push(c->scratch, c->uses[n->input[k]->id].all, ((Use){n, read[k]}));
}

/* Readers come after what they read, so all of them are known by now, and their ranges. */
static void ranges_of_region(Parts *c, const EinRegion *r) {
  for (uint32_t i = r->nodes.len; i-- > 0;) {
    const EinNode *n = r->nodes.at[i];
    if (n->kind == EIN_REPEAT) ranges_of_region(c, n->body);
    if (n->kind != EIN_VERTEX) continue;
    uses_add(c, n);
    if (c->shown[n->id] || n->sum->by || n->rank != n->sum->n_out) continue;
    for (uint32_t l = 0; l < n->rank; l++) {
      Ranges own = {0};
      if (!ranges_find(c, n, l, &own)) continue;
      if (!c->ranges[n->id]) c->ranges[n->id] = NEW_ARRAY(c->scratch, Ranges *, n->rank + 1);
      c->ranges[n->id][l] = arena_copy(c->scratch, &own, sizeof own);
    }
  }
}

/* ---- which vertices are taken apart ---------------------------------------------------------- */

static bool has_condition(Arena *scratch, const Expr *e, uint32_t l) {
  ExprNodes nodes = expr_nodes(scratch, e, HAS_LABEL);
  for (const Expr *x; (x = expr_node(&nodes));)
    if (is_op(x, OP_SELECT) && !(x->arg[0]->has & HAS_READ) && expr_has_label(x->arg[0], l)) return true;
  return false;
}

/* Takes the vertex apart along l, and with it all that read it at whole labels. Returns false if one cannot be. */
static bool take_apart(Parts *c, const EinNode *n, uint32_t l, uint32_t depth) {
  if (c->label[n->id] == l) return true;
  if (depth == CHAIN_MOST || c->label[n->id] != NONE) return false;
  c->label[n->id] = l;
  vec_push(c->scratch, c->taken, n->id);
  vec_each(const Use, u, c->uses[n->id].all) {
    Range r;
    int64_t label;
    index_range(c->b.old->exprs, u->read->arg[l], u->by->bound, &r, &label);
    bool whole = inherited(c, u->by, r, label, n->bound[l]->i);
    if (whole && !take_apart(c, u->by, (uint32_t)label, depth + 1)) return false;
  }
  return true;
}

static void decide(Parts *c, const EinRegion *r) {
  vec_each_of(const EinNode, n, r->nodes) {
    if (n->kind == EIN_REPEAT) decide(c, n->body);
    for (uint32_t l = 0; c->ranges[n->id] && l < n->rank && c->label[n->id] == NONE; l++) {
      uint32_t had = c->taken.len;
      if (!c->ranges[n->id][l] || !has_condition(c->scratch, n->sum->body, l) || take_apart(c, n, l, 0)) continue;
      while (c->taken.len > had) c->label[vec_pop(c->taken)] = NONE;
    }
  }
}

/* ---- the parts ------------------------------------------------------------------------------- */

typedef struct Draft {
  Parts *c;
  const EinNode *of;
  const Expr **to;           /* by old label */
  const Expr **bound;        /* of the new labels */
} Draft;

/* The read's slot is that of one part of what it reads: RANGES_MOST times as many. */
static const Expr *leaf_apart(void *env, Exprs *p, const Expr *leaf) {
  const Draft *d = env;
  if (leaf->kind == EX_LABEL) return d->to[leaf->i];
  if (leaf->kind != EX_READ) return leaf;
  const EinNode *of = d->of->input[leaf->i];
  const Expr **arg = NEW_ARRAY(d->c->scratch, const Expr *, leaf->n + 1);
  int64_t along = d->c->label[of->id], label, slot = leaf->i * RANGES_MOST;
  if (along == NONE) return expr_read(p, (DType)leaf->dtype, slot, leaf->n, leaf->arg);
  Range r;
  uint32_t n = 0, part = 0;
  const Ranges *all = d->c->ranges[of->id][along];
  index_range(p, leaf->arg[along], d->bound, &r, &label);
  while (part < all->n && (all->at[part].from != r.from || all->at[part].count != r.count)) part++;
  BUG_UNLESS(part < all->n);
  for (uint32_t k = 0; k < leaf->n; k++) {
    if (k != along) arg[n++] = leaf->arg[k];
    else if (r.count > 1) arg[n++] = expr_label(p, label);
  }
  return expr_read(p, (DType)leaf->dtype, slot + part, n, arg);
}

/* The vertex at a range of its label; label NONE: all of it. What it reads may be taken apart. */
static EinNode *part_make(Parts *c, EinRegion *r, const EinNode *n, int64_t label, Range at) {
  Arena *a = c->b.arena;
  Exprs *p = c->b.g->exprs;
  EinSum s = *n->sum;
  uint32_t all = s.n_out + s.n_red, count = 0;
  Draft d = {c, n, NEW_ARRAY(a, const Expr *, all + 1), NEW_ARRAY(a, const Expr *, all + 1)};
  Str *name = NEW_ARRAY(a, Str, all + 1);
  for (uint32_t k = 0; k < all; k++) {
    const Expr *from = expr_int(p, DT_I64, at.from);
    bool along = k == label, point = along && at.count == 1;
    d.to[k] = point ? from : along ? expr_op2(p, OP_ADD, expr_label(p, count), from) : expr_label(p, count);
    if (point) continue;
    d.bound[count] = along ? expr_int(p, DT_I64, at.count) : n->bound[k];
    name[count++] = n->label[k];
  }
  EinNode **input = NEW_ARRAY(a, EinNode *, s.n_slot * RANGES_MOST + 1);
  for (uint32_t k = 0; k < s.n_slot; k++) {
    const EinNode *of = n->input[k];
    EinNode *const *parts = c->made[of->id];
    uint32_t n_part = parts ? c->ranges[of->id][c->label[of->id]]->n : 0;
    if (!parts) input[k * RANGES_MOST] = rebuild_to(&c->b, of);
    for (uint32_t i = 0; i < n_part; i++) input[k * RANGES_MOST + i] = parts[i];
  }
  sum_map(p, &s, leaf_apart, &d);
  s.n_slot *= RANGES_MOST, s.n_out -= all - count;
  if (label == NONE) return rebuild_vertex(&c->b, r, n, &s, d.bound, name, input);
  return rebuild_part(&c->b, r, n, &s, d.bound, name, input);
}

static bool reads_parts(const Parts *c, const EinNode *n) {
  for (uint32_t k = 0; k < n->sum->n_slot; k++)
    if (c->label[n->input[k]->id] != NONE) return true;
  return false;
}

static EinNode *taken_apart(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Parts *c = env;
  int64_t label = c->label[n->id];
  if (label == NONE) return reads_parts(c, n) ? part_make(c, r, n, NONE, (Range){0}) : rebuild_copy(b, r, n);
  const Ranges *all = c->ranges[n->id][label];
  c->made[n->id] = NEW_ARRAY(b->arena, EinNode *, all->n);
  for (uint32_t k = 0; k < all->n; k++) {
    EinNode *made = c->made[n->id][k] = part_make(c, r, n, label, all->at[k]);
    if (n->name) made->name = strings_printf(b->g->strings, "%s.%u", n->name->s, k + 1);
  }
  rebuild_note(b, "vertices taken apart", n->place);
  return c->made[n->id][0];
}

EinGraph *graph_parts(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = taken_apart};
  Parts c = {.b = {.arena = a, .old = g, .pass = "parts", .notes = notes}, .scratch = arena_new()};
  c.shown = nodes_shown(a, g);
  c.uses = NEW_ARRAY(c.scratch, Uses, g->n_nodes + 1);
  c.ranges = NEW_ARRAY(c.scratch, Ranges **, g->n_nodes + 1);
  c.label = NEW_ARRAY(c.scratch, int64_t, g->n_nodes + 1);
  c.made = NEW_ARRAY(c.scratch, EinNode **, g->n_nodes + 1);
  for (uint32_t i = 0; i < g->n_nodes; i++) c.label[i] = NONE;
  ranges_of_region(&c, g->top);
  decide(&c, g->top);
  EinGraph *made = rebuild_free(&c.b, a, g, &rules, &c, c.scratch);
  return c.taken.len ? graph_simplify(a, made, notes) : made;
}
