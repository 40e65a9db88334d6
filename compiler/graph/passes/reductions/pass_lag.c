/* graph/passes/reductions/pass_lag.c - a reduction that counts its points by their distance from the result, such as
 * sum[k] x[i-k] ?? 0, counts them by where they lie: sum[t where t <= i] x[t], which is a running sum. That is done if
 * it goes to the tensor's end, so that only one bound is left, and if nothing but the bound depends on i then, or only
 * in other axes: sum[k] (A[i,i-k] * x[i-k]) ?? 0 is sum[t where t <= i] A[i,t] * x[t], a product with a triangle.
 *
 * It is also done with two bounds for a product of matrices with a wide band: of sum[k:65] (A[i,i+k-32] * B[i+k-32,j])
 * ?? 0, tiles then have several results along i that read the same rows of B. pass_window.c makes windows of narrow
 * bands. */
#include "graph/passes/contract/contract.h"

enum { CONJUNCTS_MOST = 32, SYMBOLS_MOST = 64 };

typedef struct Lags { Rebuild b; Arena *scratch; } Lags;

/* Whether c holds at all points of these extents at which `hold` (NULL: no condition) does. */
static bool follows(Exprs *p, const EinSum *s, const Expr *const *bound, const Expr *hold, const Expr *c) {
  const Expr *all[2];
  uint32_t n = 0;
  if (s->domain) all[n++] = s->domain;
  if (hold) all[n++] = hold;
  Facts f = {.label = bound, .n_label = s->n_out + s->n_red, .hold = all, .n_hold = n};
  return prove(p, &f, c).verdict == PROVED;
}

static const Expr *sum_of(Exprs *p, Op op, const Expr *a, const Expr *b) {
  return expr_normal(p, expr_op2(p, op, a, b));
}

/* The m of a condition `point < m`, over dims only; NULL: there is none. */
static const Expr *end_of(Exprs *p, const Expr *const *part, uint32_t n, const Expr *point) {
  for (uint32_t i = 0; i < n; i++) {
    const Expr *e = part[i];
    if (e->kind != EX_OP || (e->op != OP_LT && e->op != OP_GT) || e->arg[0]->dtype != DT_I64) continue;
    const Expr *low = e->arg[e->op == OP_GT], *high = e->arg[e->op == OP_LT], *far = sum_of(p, OP_SUB, low, point);
    if (!far->labels && expr_is_dims(far) && expr_is_dims(high)) return sum_of(p, OP_SUB, high, far);
  }
  return NULL;
}

/* Whether all these conditions hold anyway when they stand for the new label. */
static bool all_follow(
    Exprs *p, const EinSum *s, const Expr *const *bound, const Expr *const *part, uint32_t n, const Expr *const *to) {
  for (uint32_t i = 0; i < n; i++)
    if (!follows(p, s, bound, s->where, expr_relabel(p, part[i], s->n_out + s->n_red, to))) return false;
  return true;
}

/* The conditions with the label under which a point is reduced, of `where` or around the body. *rest: those without it.
 * Returns false if there are too many. */
static bool conditions(Lags *w, const EinSum *s, uint64_t label, const Expr **part, uint32_t *n, const Expr **rest) {
  Exprs *p = w->b.old->exprs;
  const Expr *body = s->body, *all = s->where, *each[CONJUNCTS_MOST];
  bool around = body->kind == EX_OP && body->op == OP_SELECT && body->arg[2] == reducer_identity(p, s);
  uint32_t parts = 0;
  if (around) all = all ? expr_and(p, all, body->arg[0]) : body->arg[0];
  if (all && !op_parts(w->scratch, all, OP_AND, CONJUNCTS_MOST, each, &parts)) return false;
  for (uint32_t i = 0; i < parts; i++) {
    if (each[i]->labels & label) part[(*n)++] = each[i];
    else *rest = expr_and(p, *rest, each[i]);
  }
  return true;
}

/* Whether label `out` is in nothing but reads there, and in no index with label `red`. */
static bool is_apart(const Expr *e, uint64_t out, uint64_t red) {
  bool apart = e->kind != EX_LABEL || !(e->labels & out);
  for (uint32_t k = 0; apart && k < e->n; k++)
    apart = e->kind == EX_READ ? !(e->arg[k]->labels & out && e->arg[k]->labels & red) : is_apart(e->arg[k], out, red);
  return apart;
}

/* Counts the points of label `red` by t = i - k (back) or t = i + k, for the output label i; or returns false. */
static bool lag_put(Lags *w, EinSum *s, const Expr **bound, uint32_t red, uint32_t out, bool back) {
  Exprs *p = w->b.old->exprs;
  uint32_t labels = s->n_out + s->n_red, parts = 0;
  const Expr *i = expr_label(p, out), *k = expr_label(p, red), *one = expr_int(p, DT_I64, 1), *end = bound[out],
             *point = sum_of(p, back ? OP_SUB : OP_ADD, i, k), *part[CONJUNCTS_MOST], *rest = NULL, *inside = NULL;
  if (!conditions(w, s, k->labels, part, &parts, &rest)) return false;
  for (uint32_t x = 0; x < parts; x++) inside = expr_and(p, inside, part[x]);
  if (!back) end = end_of(p, part, parts, point);
  else if (!follows(p, s, bound, inside, expr_op2(p, OP_LE, expr_int(p, DT_I64, 0), point))) return false;
  const Expr *far = end ? (back ? expr_op2(p, OP_ADD, i, one) : expr_op2(p, OP_SUB, end, i)) : NULL;
  if (!far || !follows(p, s, bound, NULL, expr_op2(p, OP_LE, far, bound[red]))) return false;
  const Expr **to = NEW_ARRAY(w->scratch, const Expr *, labels), *was = bound[red];
  to[red] = expr_op2(p, OP_SUB, back ? i : k, back ? k : i);
  EinSum made = *s;
  if (made.body->kind == EX_OP && made.body->op == OP_SELECT && made.body->arg[2] == reducer_identity(p, s))
    made.body = made.body->arg[1];
  made.body = expr_reads_normal(w->scratch, p, expr_relabel(p, made.body, labels, to));
  made.where = expr_and(p, rest, expr_op2(p, OP_LE, back ? k : i, back ? i : k));
  bound[red] = end;
  int32_t room = SYMBOLS_MOST;
  bool apart = !(made.body->labels & i->labels) ||
      (expr_is_short(made.body, &room) && is_apart(made.body, i->labels, k->labels));
  bool all = apart && all_follow(p, &made, bound, part, parts, to);
  if (all) *s = made;
  else bound[red] = was;
  return all;
}

/* ---- bands --------------------------------------------------------------------------------------- */

/* The only index, but for its axis and tensor, in which the label is: label `out` plus or minus it, plus a number.
 * *size: the extent there. NULL: there are others. */
static const Expr *index_of(Lags *w, const EinNode *n, const Expr *body, uint32_t red, const Expr **size) {
  Exprs *p = w->b.old->exprs;
  const Expr *k = expr_label(p, red), *only = NULL;
  ExprNodes nodes = expr_nodes(w->scratch, body, HAS_LABEL);
  for (const Expr *e; (e = expr_node(&nodes));) {
    if (e == k) return NULL;
    for (uint32_t a = 0; e->kind == EX_READ && a < e->n; a++) {
      if (!(e->arg[a]->labels & k->labels)) continue;
      const Expr *index = expr_normal(p, e->arg[a]), *dim = n->input[e->i]->dim[a];
      if (index->has & HAS_READ || (only && (index != only || dim != *size))) return NULL;
      only = index, *size = dim;
    }
    if (e->kind == EX_READ) expr_node_skip(&nodes);
  }
  return only;
}

/* Counts the points of label `red`, of which there are many, by where they lie, if the body is a product of matrices
 * over them; or returns false. */
static bool band_put(Lags *w, const EinNode *n, EinSum *s, const Expr **bound, uint32_t red, uint32_t out) {
  Exprs *p = w->b.old->exprs;
  uint32_t labels = s->n_out + s->n_red, parts = 0;
  const Expr *k = expr_label(p, red), *was = bound[red], *body = s->body, *size, *part[CONJUNCTS_MOST], *rest = NULL;
  int64_t way, step;
  if (was->kind != EX_INT || was->i < BAND_WIDE || !conditions(w, s, k->labels, part, &parts, &rest)) return false;
  if (is_op(body, OP_SELECT) && body->arg[2] == reducer_identity(p, s)) body = body->arg[1];
  const Expr *index = index_of(w, n, body, red, &size);
  if (!index || !expr_slope(index, red, &way) || !expr_slope(index, out, &step) || step != 1 || way * way != 1)
    return false;
  const Expr **to = NEW_ARRAY(w->scratch, const Expr *, labels), *zero = expr_int(p, DT_I64, 0);
  to[red] = zero;
  const Expr *low = expr_normal(p, expr_relabel(p, index, labels, to)); /* the index of the first, or last, point */
  to[red] = way > 0 ? sum_of(p, OP_SUB, k, low) : sum_of(p, OP_SUB, low, k);
  EinSum made = *s;
  made.body = expr_reads_normal(w->scratch, p, expr_relabel(p, body, labels, to));
  const Expr *first = expr_op2(p, OP_LE, zero, to[red]), *last = expr_op2(p, OP_LT, to[red], was);
  made.where = expr_and(p, expr_and(p, rest, first), last);
  bound[red] = size;
  uint64_t along = expr_label(p, out)->labels;
  bool all = is_apart(made.body, along, k->labels) && band_is_product(w->scratch, &made, k->labels, along) &&
      all_follow(p, &made, bound, part, parts, to);
  if (all) *s = made;
  else bound[red] = was;
  return all;
}

/* ---- the pass ------------------------------------------------------------------------------------ */

static bool reads_both(Arena *scratch, const Expr *body, uint64_t labels) {
  ExprNodes reads = expr_nodes(scratch, body, HAS_READ);
  for (const Expr *x; (x = expr_next_read(&reads));)
    for (uint32_t k = 0; k < x->n; k++)
      if ((x->arg[k]->labels & labels) == labels) return true;
  return false;
}

static EinNode *lagged(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Lags *w = env;
  EinSum s = *n->sum;
  uint32_t labels = s.n_out + s.n_red;
  bool made = false;
  if (!s.n_red || labels > ORDER_LABELS || reducer_is_arg(s.reducer) || s.by) return rebuild_copy(b, r, n);
  const Expr **bound = COPY_ARRAY(b->arena, const Expr *, n->bound, labels, labels + 1);
  for (uint32_t k = s.n_out; k < labels; k++)
    for (uint32_t i = 0; i < s.n_out; i++) {
      uint64_t both = expr_label(b->old->exprs, k)->labels | expr_label(b->old->exprs, i)->labels;
      if (!reads_both(w->scratch, s.body, both)) continue;
      if (!lag_put(w, &s, bound, k, i, true) && !lag_put(w, &s, bound, k, i, false) &&
          !band_put(w, n, &s, bound, k, i))
        continue;
      made = true;
      break;
    }
  if (!made) return rebuild_copy(b, r, n);
  EinNode **input = rebuild_inputs(b, n, 0);
  rebuild_note(b, "lags as places", n->place);
  return rebuild_vertex(b, r, n, &s, bound, n->label, input);
}

EinGraph *graph_lag(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = lagged};
  Lags w = {.b = {.arena = a, .old = g, .pass = "lag", .notes = notes}, .scratch = arena_new()};
  return rebuild_free(&w.b, a, g, &rules, &w, w.scratch);
}
