/* graph/passes/narrow/pass_narrow.c - removes labels that a vertex does not use; its readers read one dimension less: a
 * count beside a sum over rows is computed once per group, not once per column too. A label of which only one point
 * is wanted (point.h) becomes that point. One that others decide becomes what they say, where that is in range.
 *
 * Only vertices that are read by vertices alone can change their shape: outputs, a state's values, a stack's and
 * asserted ones stay. Where the label has no point, nothing was computed; so what can fail keeps a label that may be
 * empty, and so does a read that is in range only because the label has a point: X[0], with the same number of
 * elements. */
#include "expr/prove/in_range.h"
#include "graph/inside.h"
#include "point.h"

typedef struct Narrow {
  Rebuild b;
  const bool *shown;         /* by old id: something other than a vertex uses it, in its shape */
  const bool **kept;         /* by old id: the dimensions that are left; NULL: all */
  const Expr *const *const *point;
  uint64_t *tested;          /* by old id: axes at which it is read at data, which are tested, as bits */
} Narrow;

typedef struct Draft {
  EinSum sum;
  const EinNode *of;
  const Narrow *narrow;
  bool open;                 /* a read was not proved to be in range */
} Draft;

/* ---- what reads a narrower one --------------------------------------------------------------- */

static const Expr *read_narrow(void *env, Exprs *p, const Expr *leaf) {
  const Draft *d = env;
  if (leaf->kind != EX_READ) return leaf;
  const bool *kept = d->narrow->kept[d->of->input[leaf->i]->id];
  if (!kept) return leaf;
  const Expr **index = NEW_ARRAY(d->narrow->b.arena, const Expr *, leaf->n + 1);
  uint32_t n = 0;
  for (uint32_t k = 0; k < leaf->n; k++)
    if (kept[k]) index[n++] = leaf->arg[k];
  return expr_read(p, (DType)leaf->dtype, leaf->i, n, index);
}

static bool reads_narrow(const Narrow *w, const EinNode *n) {
  for (uint32_t k = 0; k < n->sum->n_slot; k++)
    if (w->kept[n->input[k]->id]) return true;
  return false;
}

/* ---- narrower vertices ----------------------------------------------------------------------- */

/* Whether it may stop the program: by an index, or as the place of a maximum of nothing. */
static bool can_fail(const EinSum *s) {
  return red_is_arg(s) || expr_can_fail(s->body) || (s->where && expr_can_fail(s->where)) ||
         (s->domain && expr_can_fail(s->domain));
}

static const Expr *extent_read(void *ctx, const Expr *read, uint32_t k) {
  const Draft *d = ctx;
  const EinNode *of = d->of->input[read->i];
  const bool *kept = d->narrow->kept[of->id];
  uint32_t dim = k;
  for (uint32_t i = 0; kept && i <= dim; i++) dim += !kept[i];
  return of->dim[dim];
}

static void not_proved(void *ctx, int64_t slot, uint32_t k, const Expr *index, const Proof *why) {
  (void)slot, (void)k, (void)index, (void)why;
  ((Draft *)ctx)->open = true;
}

static bool has_points(const Expr *extent) { return extent->kind == EX_INT && extent->i > 0; }

/* Whether some read is in range only if a label that is unused and may be empty has a point. */
static bool leans_on_point(Narrow *w, Draft *d, const bool *used) {
  const EinSum *s = &d->sum;
  uint32_t all = s->n_out + s->n_red, depth = region_level(d->of->region);
  const Expr **bound = NEW_ARRAY(w->b.arena, const Expr *, all + 1),
             **turn = NEW_ARRAY(w->b.arena, const Expr *, depth + 1);
  bool asked = false;
  for (uint32_t k = 0; k < all; k++) {
    bool goes = k < s->n_out && !used[k] && !has_points(d->of->bound[k]);
    asked |= goes;
    if (!goes) bound[k] = d->of->bound[k];
  }
  if (!asked) return false;
  for (const EinRegion *r = d->of->region; r->repeat; r = r->parent) turn[r->depth] = r->turns;
  InRange q = {.exprs = w->b.old->exprs, .arena = w->b.arena, .facts = {.turn = turn, .n_turn = depth}, .ctx = d,
               .extent = extent_read, .open = not_proved};
  d->open = false;
  in_range_sum(&q, s, bound);
  return d->open;
}

/* The labels that stay; NULL: all. */
static const bool *labels_kept(Narrow *w, Draft *d) {
  const EinSum *s = &d->sum;
  const EinNode *n = d->of;
  if (w->shown[n->id] || n->rank != s->n_out) return NULL;
  bool *used = NEW_ARRAY(w->b.arena, bool, s->n_out + 1), fails = can_fail(s), all = true;
  expr_labels(s->body, s->n_out, used);
  if (s->where) expr_labels(s->where, s->n_out, used);
  if (s->domain) expr_labels(s->domain, s->n_out, used);
  for (uint32_t k = 0; k < s->n_out; k++) used[k] |= w->tested[n->id] >> (k < 63 ? k : 63) & 1;
  fails = fails || leans_on_point(w, d, used);
  for (uint32_t k = 0; k < s->n_out; k++) {
    if (fails && !has_points(n->bound[k])) used[k] = true;
    all &= used[k];
  }
  return all ? NULL : used;
}

static const Expr *label_moved(void *env, Exprs *p, const Expr *leaf) {
  const int64_t *to = env;
  return leaf->kind == EX_LABEL ? expr_label(p, to[leaf->i]) : leaf;
}

static EinNode *narrow_vertex(Narrow *w, EinRegion *r, Draft *d, EinNode *const *input) {
  const EinNode *n = d->of;
  Arena *a = w->b.arena;
  const bool *kept = w->kept[n->id];
  uint32_t all = d->sum.n_out + d->sum.n_red, count = 0;
  const Expr **bound = NEW_ARRAY(a, const Expr *, all + 1);
  Str *label = NEW_ARRAY(a, Str, all + 1);
  int64_t *to = NEW_ARRAY(a, int64_t, all + 1);
  for (uint32_t k = 0; k < all; k++) {
    if (k < d->sum.n_out && !kept[k]) continue;
    bound[count] = n->bound[k];
    label[count] = n->label[k];
    to[k] = count++;
  }
  sum_map(w->b.g->exprs, &d->sum, label_moved, to);
  d->sum.n_out = count - d->sum.n_red;
  EinNode *made = rebuild_part(&w->b, r, n, &d->sum, bound, label, input);
  made->name = n->name;
  rebuild_note(&w->b, "labels not looked at dropped", n->place);
  return made;
}

static const Expr *label_pointed(void *env, Exprs *p, const Expr *leaf) {
  const Draft *d = env;
  (void)p;
  const Expr *point = leaf->kind == EX_LABEL && leaf->i < d->sum.n_out ? d->narrow->point[d->of->id][leaf->i] : NULL;
  return point ? point : leaf;
}

static bool has_point(const Narrow *w, const EinNode *n) {
  const Expr *const *point = w->point[n->id];
  bool any = false;
  for (uint32_t k = 0; point && k < n->sum->n_out; k++) any |= point[k] != NULL;
  return any;
}

/* Where labels that others decide are in range, as far as that is not proved; NULL: everywhere. */
static const Expr *within(const Narrow *w, const EinNode *n) {
  Exprs *p = w->b.old->exprs;
  uint32_t depth = region_level(n->region);
  const Expr *const *point = w->point[n->id], *all = NULL, **turn = NEW_ARRAY(w->b.arena, const Expr *, depth + 1);
  for (const EinRegion *r = n->region; r->repeat; r = r->parent) turn[r->depth] = r->turns;
  Facts facts = {.label = n->bound, .n_label = n->sum->n_out, .turn = turn, .n_turn = depth};
  for (uint32_t k = 0; point && k < n->sum->n_out; k++) {
    if (!point[k] || !(point[k]->has & HAS_LABEL)) continue;
    const Expr *end[] = {expr_op2(p, OP_LE, expr_int(p, DT_I64, 0), point[k]),
                         expr_op2(p, OP_LT, point[k], n->bound[k])};
    for (size_t i = 0; i < COUNT(end); i++)
      if (prove(p, &facts, end[i]).verdict != PROVED) all = expr_and(p, all, end[i]);
  }
  return all;
}

static EinNode *narrowed(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Narrow *w = env;
  Draft d = {.sum = *n->sum, .of = n, .narrow = w};
  bool changed = reads_narrow(w, n);
  if (changed) sum_map(b->g->exprs, &d.sum, read_narrow, &d);
  if (has_point(w, n)) {
    sum_map(b->g->exprs, &d.sum, label_pointed, &d), changed = true;
    d.sum.domain = expr_and(b->g->exprs, within(w, n), d.sum.domain);
  }
  w->kept[n->id] = labels_kept(w, &d);
  if (!changed && !w->kept[n->id]) return rebuild_copy(b, r, n);
  EinNode **input = rebuild_inputs(b, n, 0);
  if (!w->kept[n->id]) return rebuild_vertex(b, r, n, &d.sum, n->bound, n->label, input);
  return narrow_vertex(w, r, &d, input);
}

/* Notes the axes at which a vertex is read at data: whether an index is in range is tested there. */
static void tested_find(Arena *a, const EinRegion *r, uint64_t *tested) {
  vec_each_of(const EinNode, n, r->nodes) {
    if (n->kind == EIN_REPEAT) tested_find(a, n->body, tested);
    if (n->kind != EIN_VERTEX) continue;
    ExprNodes reads = sum_reads(a, n->sum);
    for (const Expr *e; (e = expr_next_read(&reads));)
      for (uint32_t k = 0; k < e->n; k++)
        if (index_is_data(e->arg[k])) tested[n->input[e->i]->id] |= (uint64_t)1 << (k < 63 ? k : 63);
  }
}

EinGraph *graph_narrow(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = narrowed};
  Narrow w = {.b = {.arena = a, .pass = "narrow", .notes = notes}, .shown = nodes_shown(a, g),
      .kept = NEW_ARRAY(a, const bool *, g->n_nodes + 1)};
  w.point = points_find(a, g, w.shown);
  w.tested = NEW_ARRAY(a, uint64_t, g->n_nodes + 1);
  tested_find(a, g->top, w.tested);
  return rebuild(&w.b, a, g, &rules, &w);
}
