/* graph/passes/axes/pass_flat.c - gives maps whose axes are groups of labels an axis for each label, if all readers
 * go over whole groups, by a label or by a group of their own:
 *
 *     F[n,(y x)] = X[n,y,x]                  F[n,y,x] = X[n,y,x]
 *     Y[n] = max[p] F[n,p]                   Y[n] = max[y,x] F[n,y,x]
 *     Z[n,b,a] = F[n,(a b)]                  Z[n,b,a] = F[n,a,b]
 *     V[n,b] = F[n,3+5*b]    of x:5          V[n,b] = F[n,b,3]
 *
 * Then F may be a mere copy, or join the loops of its readers; a kernel joins labels that lie side by side
 * (schedule/merge.c), so nothing is lost by having more of them. A reader's result has a group of labels in place of
 * one, and may be such a map itself.
 *
 * A label is taken apart only if the vertex uses it for nothing else: not in a condition, not for its place, not for
 * another tensor's index. */
#include <string.h>

#include "expr/prove/prove.h"
#include "graph/passes/rebuild.h"

enum { PARTS_MOST = 8, LABELS_MOST = 60, ROUNDS_MOST = 16 };

typedef struct Group { uint32_t n; const Expr *bound[PARTS_MOST]; Str name[PARTS_MOST]; } Group;

typedef struct Flat {
  Rebuild b;
  Arena *scratch;
  const bool *shown;         /* by old id: something other than a vertex uses it, in its shape; */
  bool *apart;               /*   it has an axis for each label; */
  Group ***group;            /*   and by label: the labels that take its place; NULL: it stays */
  bool changed;
} Flat;

/* ---- which ------------------------------------------------------------------------------------ */

/* The labels of an axis of the vertex; false: there are too many. */
static bool axis_group(const Flat *c, const EinNode *n, uint32_t axis, Group *to) {
  uint32_t l = 0;
  to->n = 0;
  for (uint32_t k = 0; k < axis; k++) l += n->merge[k];
  for (uint32_t end = l + n->merge[axis]; l < end; l++) {
    const Group *own = c->group[n->id] ? c->group[n->id][l] : NULL;
    for (uint32_t i = 0; i < (own ? own->n : 1); i++) {
      if (to->n == PARTS_MOST) return false;
      to->bound[to->n] = own ? own->bound[i] : n->bound[l];
      to->name[to->n++] = own ? own->name[i] : n->label[l];
    }
  }
  return true;
}

static bool same_group(const Group *a, const Group *b) {
  bool same = a->n == b->n;
  for (uint32_t i = 0; same && i < a->n; i++) same = a->bound[i] == b->bound[i];
  return same;
}

/* Whether the vertex could have an axis for each label: a map with a group. */
static bool is_grouped(const Flat *c, const EinNode *n) {
  const EinSum *s = n->sum;
  bool grouped = false;
  uint32_t labels = 0;
  if (n->kind != EIN_VERTEX || c->shown[n->id] || s->by || s->reducer != RED_NONE) return false;
  for (uint32_t k = 0; k < n->rank; k++) {
    Group all;
    if (!axis_group(c, n, k, &all)) return false;
    grouped |= all.n > 1;
    labels += all.n;
  }
  return grouped && labels <= LABELS_MOST;
}

/* Takes the last digit, in base n, off an index that is a sum of multiples of labels: e is n * *e + *digit then. */
static bool digit_take(Exprs *p, const Expr *const *bound, uint32_t labels, int64_t n, const Expr **e,
                       const Expr **digit) {
  const Expr *rest = expr_int(p, DT_I64, 0), *last = rest, *none[LABELS_MOST];
  int64_t slope, high = 0, low;
  for (uint32_t l = 0; l < labels; l++) {
    none[l] = expr_int(p, DT_I64, 0);
    if (!expr_has_label(*e, l)) continue;
    if (!expr_slope(*e, l, &slope) || slope < 1 || slope > INT32_MAX || bound[l]->kind != EX_INT) return false;
    if (bound[l]->i < 1 || bound[l]->i > INT32_MAX) return false;
    bool whole = slope % n == 0;
    const Expr **to = whole ? &rest : &last, *step = expr_int(p, DT_I64, whole ? slope / n : slope);
    *to = expr_op2(p, OP_ADD, *to, expr_op2(p, OP_MUL, step, expr_label(p, l)));
    if (!whole && (high += slope * (bound[l]->i - 1)) >= n) return false;
  }
  const Expr *start = expr_normal(p, expr_relabel(p, *e, labels, none));
  if (start->kind != EX_INT || start->i < 0 || (low = start->i % n) + high >= n) return false;
  *digit = expr_normal(p, expr_op2(p, OP_ADD, last, expr_int(p, DT_I64, low)));
  *e = expr_normal(p, expr_op2(p, OP_ADD, rest, expr_int(p, DT_I64, start->i / n)));
  return true;
}

/* Whether the index goes through the group digit by digit: 32*a + b, or 64*(2*y + p) + 2*x + q. at: receives the
 * digits, which are in range. */
static bool is_number(Exprs *p, const Expr *const *bound, uint32_t labels, const Expr *e, const Group *all,
                      const Expr **at) {
  const Expr *rest = e, *sum = expr_int(p, DT_I64, 0);
  if ((e->kind != EX_OP && e->kind != EX_INT) || e->has & (HAS_READ | HAS_TURN | HAS_DIM)) return false;
  if (labels > LABELS_MOST) return false;
  for (uint32_t i = all->n; i-- > 0;) {
    if (all->bound[i]->kind != EX_INT || all->bound[i]->i < 1 || all->bound[i]->i > INT32_MAX) return false;
    if (!digit_take(p, bound, labels, all->bound[i]->i, &rest, &at[i])) return false;
  }
  for (uint32_t i = 0; i < all->n; i++)
    sum = expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, sum, all->bound[i]), at[i]);
  return expr_is_int(rest, 0) && expr_same_value(p, e, sum);
}

/* Has the label of n stand for the group of an axis of `of` that it reads; false: it cannot. */
static bool label_take(Flat *c, const EinNode *n, const Expr *e, const EinNode *of, const Group *all, uint32_t axis) {
  uint32_t labels = n->sum->n_out + n->sum->n_red;
  const Expr *digit[PARTS_MOST];
  if (!n->sum->by && is_number(c->b.old->exprs, n->bound, labels, e, all, digit)) return true;
  if (e->kind != EX_LABEL || n->bound[e->i] != of->dim[axis] || n->sum->by) return false;
  if (red_is_arg(n->sum) && e->i >= n->sum->n_out) return false;
  if (!c->group[n->id]) c->group[n->id] = NEW_ARRAY(c->scratch, Group *, labels + 1);
  Group **own = &c->group[n->id][e->i];
  if (*own) return same_group(*own, all);
  *own = arena_copy(c->scratch, all, sizeof *all);
  return true;
}

/* Whether e, without its reads, has the label. */
static bool uses_label(Arena *scratch, const Expr *e, int64_t label) {
  ExprNodes nodes = expr_nodes(scratch, e, HAS_LABEL);
  for (const Expr *x; (x = expr_node(&nodes));) {
    if (x->kind == EX_READ) expr_node_skip(&nodes);
    if (x->kind == EX_LABEL && x->i == label) return true;
  }
  return false;
}

/* Whether the read has the label only as an axis that is taken apart. */
static bool reads_apart(const Flat *c, const EinNode *of, const Expr *read, int64_t label) {
  for (uint32_t k = 0; k < read->n; k++) {
    Group all;
    if (!expr_has_label(read->arg[k], label)) continue;
    if (read->arg[k]->kind != EX_LABEL || !c->apart[of->id] || !axis_group(c, of, k, &all) || all.n < 2) return false;
  }
  return true;
}

static void stay(Flat *c, const EinNode *of) {
  c->changed |= c->apart[of->id];
  c->apart[of->id] = false;
}

/* Finds which labels of n stand for groups, and has those that it reads otherwise stay. */
static void vertex_look(Flat *c, const EinNode *n) {
  const EinSum *s = n->sum;
  bool some = false;
  c->group[n->id] = NULL;
  for (uint32_t i = 0; i < s->n_slot; i++) some |= c->apart[n->input[i]->id];
  if (!some) return;
  const Expr *top[] = {s->body, s->where, s->domain}, **read = NEW_ARRAY(c->scratch, const Expr *, s->n_slot + 1);
  uint32_t labels = s->n_out + s->n_red, more = 0;
  expr_slot_reads(c->scratch, COUNT(top), top, read);
  for (uint32_t i = 0; i < s->n_slot; i++) {
    const EinNode *of = n->input[i];
    if (labels > LABELS_MOST) stay(c, of);
    for (uint32_t k = 0; c->apart[of->id] && k < of->rank; k++) {
      Group all;
      if (!axis_group(c, of, k, &all) || (all.n > 1 && !label_take(c, n, read[i]->arg[k], of, &all, k))) stay(c, of);
    }
  }
  for (uint32_t l = 0; c->group[n->id] && l < labels; l++) {
    if (!c->group[n->id][l]) continue;
    bool used = false;
    more += c->group[n->id][l]->n;
    for (uint32_t t = 0; t < COUNT(top); t++) used |= top[t] && uses_label(c->scratch, top[t], l);
    for (uint32_t i = 0; i < s->n_slot; i++) used |= !reads_apart(c, n->input[i], read[i], l);
    for (uint32_t i = 0; i < s->n_slot; i++)
      if ((used || labels + more > LABELS_MOST) && expr_has_label(read[i], l)) stay(c, n->input[i]);
  }
}

static void region_look(Flat *c, const EinRegion *r, bool first) {
  vec_each_of(const EinNode, n, r->nodes) {
    if (n->kind == EIN_REPEAT) region_look(c, n->body, first);
    if (n->kind != EIN_VERTEX) continue;
    vertex_look(c, n);
    if (first) c->apart[n->id] = is_grouped(c, n);
    else if (!is_grouped(c, n)) stay(c, n);
  }
}

/* ---- the vertices ----------------------------------------------------------------------------- */

typedef struct Draft {
  const Flat *c;
  const EinNode *of;
  const Expr **to;           /* by old label: what stands for it, */
  uint32_t *first;           /*   and the first of its new labels */
  const Expr **bound;        /* of the new labels */
  uint32_t labels;           /*   of which there are so many */
} Draft;

static const Expr *leaf_apart(void *env, Exprs *p, const Expr *leaf) {
  const Draft *d = env;
  if (leaf->kind == EX_LABEL) return d->to[leaf->i];
  const EinNode *of = leaf->kind == EX_READ ? d->of->input[leaf->i] : NULL;
  if (!of || !d->c->apart[of->id]) return leaf;
  const Expr *arg[LABELS_MOST];
  uint32_t n = 0;
  for (uint32_t k = 0; k < leaf->n; k++) {
    Group all;
    const Expr *digit[PARTS_MOST];
    uint32_t l = 0, old = d->of->sum->n_out + d->of->sum->n_red;
    axis_group(d->c, of, k, &all);
    while (all.n > 1 && l < old && d->to[l] != leaf->arg[k]) l++;
    bool number = all.n > 1 && l == old;
    if (number && !is_number(p, d->bound, d->labels, leaf->arg[k], &all, digit)) bug("flat: an index is no number");
    for (uint32_t i = 0; i < all.n; i++)
      arg[n++] = all.n == 1 ? leaf->arg[k] : number ? digit[i] : expr_label(p, d->first[l] + i);
  }
  return expr_read(p, (DType)leaf->dtype, leaf->i, n, arg);
}

/* How many labels each axis of the result has. */
static const uint8_t *merges_of(const Flat *c, const EinNode *n, uint32_t *rank) {
  uint8_t *merge = NEW_ARRAY(c->b.arena, uint8_t, LABELS_MOST + 1);
  *rank = 0;
  for (uint32_t k = 0; k < n->rank; k++) {
    Group all;
    axis_group(c, n, k, &all);
    if (!c->apart[n->id]) merge[(*rank)++] = (uint8_t)all.n;
    for (uint32_t i = 0; c->apart[n->id] && i < all.n; i++) merge[(*rank)++] = 1;
  }
  return merge;
}

static EinNode *vertex_make(Flat *c, EinRegion *r, const EinNode *n) {
  Exprs *p = c->b.g->exprs;
  Arena *a = c->b.arena;
  EinSum s = *n->sum;
  uint32_t labels = s.n_out + s.n_red, count = 0, out = 0, rank;
  const Expr **bound = NEW_ARRAY(a, const Expr *, LABELS_MOST + 1);
  Str *name = NEW_ARRAY(a, Str, LABELS_MOST + 1);
  Draft d = {c, n, NEW_ARRAY(a, const Expr *, labels + 1), NEW_ARRAY(a, uint32_t, labels + 1), bound, 0};
  for (uint32_t l = 0; l < labels; l++) {
    const Group *own = c->group[n->id] ? c->group[n->id][l] : NULL;
    d.first[l] = count;
    for (uint32_t i = 0; i < (own ? own->n : 1); i++) {
      const Expr *at = expr_label(p, count);
      d.to[l] = i ? expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, d.to[l], own->bound[i]), at) : at;
      bound[count] = own ? own->bound[i] : n->bound[l];
      name[count] = str_apart(c->b.old->strings, count, name, own ? own->name[i] : n->label[l]);
      count++;
    }
    if (l < s.n_out) out = count;
  }
  d.labels = count;
  EinNode **input = NEW_ARRAY(a, EinNode *, s.n_slot + 1);
  for (uint32_t k = 0; k < s.n_slot; k++) input[k] = rebuild_to(&c->b, n->input[k]);
  sum_map(p, &s, leaf_apart, &d);
  s.n_out = out, s.n_red = count - out;
  const uint8_t *merge = merges_of(c, n, &rank);
  s.monoid = rebuild_monoid(&c->b, s.monoid);
  EinNode **slots = graph_canonical_slots(c->b.g, &s, input);
  EinNode *made = graph_vertex(c->b.g, r, &s, bound, name, rank, merge, slots);
  made->name = n->name;
  made->place = n->place;
  return made;
}

static bool reads_taken(const Flat *c, const EinNode *n) {
  for (uint32_t k = 0; k < n->sum->n_slot; k++)
    if (c->apart[n->input[k]->id]) return true;
  return false;
}

static EinNode *taken_apart(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Flat *c = env;
  if (c->apart[n->id]) rebuild_note(b, "groups taken apart", n->place);
  return c->apart[n->id] || reads_taken(c, n) ? vertex_make(c, r, n) : rebuild_copy(b, r, n);
}

EinGraph *graph_flat(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = taken_apart};
  Flat c = {.b = {.arena = a, .old = g, .pass = "flat", .notes = notes}, .scratch = arena_new()};
  c.shown = nodes_shown(a, g);
  c.apart = NEW_ARRAY(c.scratch, bool, g->n_nodes + 1);
  c.group = NEW_ARRAY(c.scratch, Group **, g->n_nodes + 1);
  c.changed = true;
  for (uint32_t round = 0; c.changed; round++) {
    c.changed = false;
    region_look(&c, g->top, !round);
    if (round == ROUNDS_MOST) memset(c.apart, 0, g->n_nodes), memset(c.group, 0, g->n_nodes * sizeof *c.group);
  }
  return rebuild_free(&c.b, a, g, &rules, &c, c.scratch);
}
