/* graph/passes/narrow/point.c - finds vertices of which only one point of a label is wanted, by all readers:
 *
 *     Y[u,h] = sum[g] A[u,g] * W[g,h]
 *     next K[u,h] = if u == t then Y[u,h] else K[u,h]
 *
 * wants Y[t,h]. And labels of which only equal points are wanted: sum[i] C[i,i] wants C's diagonal. And lines across
 * two labels or more: `if j - i == t + 1 then best[i,j] else S[i,j]` wants best[j-t-1,j]. Users come after what they
 * read, so regions are walked backwards: what a vertex wants of its inputs depends on what is wanted of it. */
#include "point.h"

#include "graph/inside.h"

#include <string.h>

enum { VISITS = 20000 };     /* of a vertex's expressions: shared subexpressions are visited again in each different
                              * context */

typedef struct Points {
  Arena *arena;
  Exprs *p;
  const bool *shown;
  const Expr ***at;          /* by id, by label: the point; NULL: several, or unknown */
  uint64_t **like;           /* by id, by label: the labels before it that have the same value in all reads, as bits */
  const Expr ***line;        /* by id, by label: its value in all reads, in terms of the others; NULL: unknown */
  bool *seen;                /* by id: it is read */
} Points;

typedef struct Look {        /* at one vertex's expressions */
  Points *w;
  const EinNode *n;
  int visits;
} Look;

static bool is_one_point(const Expr *e) { return !(e->has & (HAS_LABEL | HAS_READ)); }

static bool has_points(const Points *w, const EinNode *n) {
  return n->kind == EIN_VERTEX && !w->shown[n->id] && n->rank == n->sum->n_out;
}

/* Notes which of the vertex' labels have the same value as an earlier one in this read, whose indices are these. */
static void like_want(Points *w, const EinNode *of, const Expr *const *at, bool first) {
  for (uint32_t i = 0; i < of->rank; i++) {
    uint64_t same = 0;
    for (uint32_t j = 0; j < i && j < 64; j++)
      if (at[j] && at[i] == at[j] && of->bound[i] == of->bound[j]) same |= (uint64_t)1 << j;
    w->like[of->id][i] = first ? same : w->like[of->id][i] & same;
  }
}

/* The index in terms of other labels of what is read, at which the reader's own labels stand alone; NULL: it cannot be
 * said so. */
static const Expr *index_in_own(Points *w, const EinNode *of, const Expr *const *at, uint32_t k, uint32_t n) {
  const Expr **own = NEW_ARRAY(w->arena, const Expr *, n + 1);
  int64_t slope;
  if (!at[k] || !(at[k]->has & HAS_LABEL) || at[k]->has & HAS_READ) return NULL;
  for (uint32_t j = of->rank; j-- > 0;)
    if (j != k && at[j] && at[j]->kind == EX_LABEL) own[at[j]->i] = expr_label(w->p, j);
  for (uint32_t l = 0; l < n; l++)
    if (expr_has_label(at[k], l) && (!own[l] || !expr_slope(at[k], l, &slope))) return NULL;
  return expr_normal(w->p, expr_relabel(w->p, at[k], n, own));
}

/* Notes which of the vertex' labels others decide in this read. n: the number of the reader's labels. */
static void line_want(Points *w, const EinNode *of, const Expr *const *at, uint32_t n, bool first) {
  const Expr **line = NEW_ARRAY(w->arena, const Expr *, of->rank + 1);
  for (uint32_t k = 0; k < of->rank; k++) {
    const Expr *e = index_in_own(w, of, at, k, n), *own = expr_label(w->p, k);
    if (!e) continue;
    line[k] = e;
    for (uint32_t j = 0; j < of->rank; j++)
      if (!line[j] && expr_has_label(e, j)) line[j] = expr_solve(w->p, own, e, j, of->rank);
  }
  for (uint32_t k = 0; k < of->rank; k++)
    w->line[of->id][k] = first || w->line[of->id][k] == line[k] ? line[k] : NULL;
}

/* Notes that a reader wants these points; to: labels with a known value. */
static void want(Look *k, const Expr *read, const Expr *const *to) {
  Points *w = k->w;
  const EinNode *of = k->n->input[read->i];
  uint32_t n = k->n->sum->n_out + k->n->sum->n_red;
  if (!has_points(w, of)) return;
  bool first = !w->seen[of->id], here = of->region == k->n->region;
  w->seen[of->id] = true;
  const Expr **at = NEW_ARRAY(w->arena, const Expr *, of->rank + 1);
  for (uint32_t i = 0; i < of->rank; i++) {
    const Expr *e = at[i] = here ? expr_normal(w->p, expr_relabel(w->p, read->arg[i], n, to)) : NULL;
    if (!e || !is_one_point(e) || (!first && w->at[of->id][i] != e)) w->at[of->id][i] = NULL;
    else w->at[of->id][i] = e;
  }
  like_want(w, of, at, first);
  line_want(w, of, at, n, first);
}

/* Adds what the conjuncts say of labels to what was known: each equation decides one label that is still open. */
static void pins_add(Look *k, const Expr *cond, const Expr **to) {
  Exprs *p = k->w->p;
  uint32_t n = k->n->sum->n_out + k->n->sum->n_red;
  if (cond->kind != EX_OP || cond->n != 2) return;
  if (cond->op == OP_AND) {
    pins_add(k, cond->arg[0], to);
    pins_add(k, cond->arg[1], to);
  }
  if (cond->op != OP_EQ || cond->arg[0]->dtype != DT_I64 || cond->has & HAS_READ) return;
  const Expr *a = expr_relabel(p, cond->arg[0], n, to), *b = expr_relabel(p, cond->arg[1], n, to), *e = NULL;
  const Expr **is = NEW_ARRAY(k->w->arena, const Expr *, n + 1);
  for (uint32_t l = 0; l < n && !e; l++)
    if (expr_has_label(a, l) || expr_has_label(b, l)) is[l] = e = expr_solve(p, a, b, l, n);
  for (uint32_t l = 0; l < n && e; l++) to[l] = expr_normal(p, expr_relabel(p, to[l], n, is));
}

static void look(Look *k, const Expr *e, const Expr *const *to) {
  if (!(e->has & HAS_READ) || --k->visits < 0) return;
  if (e->kind == EX_READ) want(k, e, to);
  const Expr *const *first = to;
  if (e->kind == EX_OP && e->op == OP_SELECT) {
    uint32_t n = k->n->sum->n_out + k->n->sum->n_red;
    const Expr **pinned = COPY_ARRAY(k->w->arena, const Expr *, to, n, n + 1);
    pins_add(k, e->arg[0], pinned);
    first = pinned;
  }
  for (uint32_t i = 0; i < e->n; i++) look(k, e->arg[i], e->kind == EX_OP && e->op == OP_SELECT && i == 1 ? first : to);
}

/* Decides a label by others that nothing decides. */
static void line_settle(Points *w, const EinNode *n) {
  const Expr **at = w->at[n->id];
  for (uint32_t i = 0; i < n->rank && !n->sum->by; i++) {
    const Expr *e = at[i] ? NULL : w->line[n->id][i];
    for (uint32_t l = 0; l < n->rank && e; l++)
      if (at[l] && expr_has_label(e, l)) e = NULL;
    if (!e) continue;
    at[i] = e;
    return;
  }
}

/* Keeps only expressions that exist wherever the enclosing loops run. */
static void settle(Points *w, const EinNode *n, const Facts *facts) {
  for (uint32_t i = 0; i < n->rank; i++) {
    const Expr *e = w->seen[n->id] ? w->at[n->id][i] : NULL;
    w->at[n->id][i] = NULL;
    if (!e || e->dtype != DT_I64) continue;
    const Expr *low = expr_op2(w->p, OP_LE, expr_int(w->p, DT_I64, 0), e),
               *high = expr_op2(w->p, OP_LT, e, n->bound[i]);
    const Expr *goal = expr_and(w->p, low, high); /* NULL: always */
    if (!goal || prove(w->p, facts, goal).verdict == PROVED) w->at[n->id][i] = e;
  }
  bool free = true;
  for (uint32_t i = 0; i < n->rank; i++) {
    uint64_t like = w->seen[n->id] && !w->at[n->id][i] ? w->like[n->id][i] : 0;
    uint32_t first = 0;
    while (like && !(like >> first & 1)) first++;
    if (like) w->at[n->id][i] = expr_label(w->p, first);
    free &= !like;
  }
  if (w->seen[n->id] && free) line_settle(w, n);
}

static void all_wanted(Points *w, const EinNode *n) {
  for (uint32_t s = 0; s < n->sum->n_slot; s++) {
    const EinNode *of = n->input[s];
    if (!has_points(w, of)) continue;
    w->seen[of->id] = true;
    memset(w->at[of->id], 0, of->rank * sizeof *w->at[of->id]);
    memset(w->like[of->id], 0, of->rank * sizeof *w->like[of->id]);
    memset(w->line[of->id], 0, of->rank * sizeof *w->line[of->id]);
  }
}

static void vertex_look(Points *w, const EinNode *n, const Facts *facts) {
  const EinSum *s = n->sum;
  uint32_t labels = s->n_out + s->n_red;
  const Expr **to = NEW_ARRAY(w->arena, const Expr *, labels + 1);
  if (has_points(w, n)) settle(w, n, facts);
  for (uint32_t l = 0; l < labels; l++) {
    const Expr *e = l < s->n_out && has_points(w, n) ? w->at[n->id][l] : NULL;
    to[l] = e ? e : expr_label(w->p, l);
  }
  Look k = {w, n, VISITS};
  look(&k, s->body, to);
  if (s->where) look(&k, s->where, to);
  if (s->domain) look(&k, s->domain, to);
  if (k.visits < 0) all_wanted(w, n);
}

static void region_look(Points *w, const EinRegion *r) {
  uint32_t depth = region_level(r);
  const Expr **turn = NEW_ARRAY(w->arena, const Expr *, depth + 1);
  for (const EinRegion *x = r; x->repeat; x = x->parent) turn[x->depth] = x->turns;
  Facts facts = {.turn = turn, .n_turn = depth};
  for (uint32_t i = r->nodes.len; i-- > 0;) {
    const EinNode *n = r->nodes.at[i];
    if (n->kind == EIN_REPEAT) region_look(w, n->body);
    else if (n->kind == EIN_VERTEX) vertex_look(w, n, &facts);
  }
}

const Expr *const *const *points_find(Arena *a, const EinGraph *g, const bool *shown) {
  Points w = {.arena = a,
      .p = g->exprs,
      .shown = shown,
      .at = NEW_ARRAY(a, const Expr **, g->n_nodes + 1),
      .like = NEW_ARRAY(a, uint64_t *, g->n_nodes + 1),
      .line = NEW_ARRAY(a, const Expr **, g->n_nodes + 1),
      .seen = NEW_ARRAY(a, bool, g->n_nodes + 1)};
  for (uint32_t i = 0; i < g->n_nodes; i++) w.at[i] = NULL;
  VEC(const EinRegion *) todo = {0};
  vec_push(a, todo, g->top);
  while (todo.len) {
    const EinRegion *r = vec_pop(todo);
    vec_each_of(const EinNode, n, r->nodes) {
      if (n->kind == EIN_REPEAT) vec_push(a, todo, n->body);
      if (n->kind != EIN_VERTEX || !has_points(&w, n)) continue;
      w.at[n->id] = NEW_ARRAY(a, const Expr *, n->rank + 1);
      w.like[n->id] = NEW_ARRAY(a, uint64_t, n->rank + 1);
      w.line[n->id] = NEW_ARRAY(a, const Expr *, n->rank + 1);
    }
  }
  region_look(&w, g->top);
  return (const Expr *const *const *)w.at;
}
