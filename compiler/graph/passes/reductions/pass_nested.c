/* graph/passes/reductions/pass_nested.c - makes a reduction of a reduction by the same reducer one: Y[a] = sum[b]
 * Z[a,b], of Z[a,b] = sum[c] X[a,b,c], becomes Y[a] = sum[b,c] X[a,b,c]. Then it makes no difference whether the user
 * wrote sum[b] sum[c], named the inner sum, or wrote one sum over both. Between sums there may be numbers as factors:
 * the mean of a mean is one, too.
 *
 * Only Y may use Z, at each of its own output labels and with nothing beside it, so that no point is computed again. No
 * domain of Z, and no rounding, lies in between; and no predicate, unless data choose the result that a point goes to:
 * sum[f] sum[z where k[z] == a] X[z,f] (pass_chosen.c takes it apart again, the other way round). */
#include "graph/passes/rebuild.h"

enum { LABELS_MOST = 60 };

typedef struct Nested {
  Rebuild b;
  const bool *shown;         /* by old id: something other than a vertex uses it, in its shape */
  const uint32_t *uses;      /* by old id: slots that read it; */
  const EinNode **inner;     /*   the reduction that it takes in, or a multiple of one; NULL: none; */
  uint32_t *red;             /*   its reduced labels, with those of that; */
  bool *taken;               /*   it has become a part of its reader */
} Nested;

static bool may_nest(Reducer r) {
  return r == RED_SUM || r == RED_PROD || r == RED_MAX || r == RED_MIN || r == RED_ANY || r == RED_ALL;
}

/* Whether the read has distinct labels of whole dimensions as indices, and all output labels of n are among them. */
static bool reads_each(const EinNode *n, const Expr *read, const EinNode *of) {
  uint64_t seen = 0, out = labels_below(n->sum->n_out);
  for (uint32_t k = 0; k < read->n; k++) {
    const Expr *e = read->arg[k];
    if (e->kind != EX_LABEL || seen & e->labels || n->bound[e->i] != of->bound[k]) return false;
    seen |= e->labels;
  }
  return (seen & out) == out;
}

static bool has_read(const Expr *e) { return e && e->has & HAS_READ; }

static bool is_number(const Expr *e) { return e->kind == EX_INT || e->kind == EX_REAL; }

/* Whether e is a product with a number, or a float divided by one; *of: what is. */
static bool is_scaled(const Expr *e, const Expr **of) {
  bool mul = is_op(e, OP_MUL), div = is_op(e, OP_DIV) && dtype_is_float((DType)e->dtype);
  if ((!mul && !div) || (!is_number(e->arg[1]) && !(mul && is_number(e->arg[0])))) return false;
  *of = e->arg[!is_number(e->arg[1])];
  return true;
}

/* What numbers are factors of. */
static const Expr *unscaled(const Expr *e) {
  while (is_scaled(e, &e)) {}
  return e;
}

/* Whether it multiplies another tensor by numbers. */
static bool is_multiple(const EinNode *n) {
  const Expr *of;
  return n->sum->reducer == RED_NONE && n->sum->body->dtype == n->dtype && is_scaled(n->sum->body, &of);
}

/* The reduction that n reduces further, or multiplies; NULL: none. A predicate may read it, too. */
static const EinNode *inner_of(const Nested *c, const EinNode *n) {
  const EinSum *s = n->sum;
  if (n->kind != EIN_VERTEX) return NULL;
  bool sums = s->reducer == RED_SUM || is_multiple(n);
  const Expr *e = sums ? unscaled(s->body) : s->body;
  if (e->kind != EX_READ || s->by || s->n_slot != 1 || (!sums && !may_nest(s->reducer))) return NULL;
  const EinNode *of = n->input[e->i];
  if (has_read(s->where) || has_read(s->domain) || of->kind != EIN_VERTEX || of->region != n->region) return NULL;
  if (c->shown[of->id] || c->uses[of->id] != 1) return NULL;
  const EinSum *in = of->sum;
  bool plain = !in->by && (!in->where || sum_labels_put(in->where, in->n_out)) && !in->domain && of->rank == in->n_out;
  bool multiple = in->reducer == RED_NONE && c->inner[of->id];
  bool alike = sums ? in->reducer == RED_SUM || multiple : in->reducer == s->reducer;
  if (!plain || !alike || in->acc != s->acc || in->dtype != s->acc) return NULL;
  if (s->n_out + s->n_red + c->red[of->id] > LABELS_MOST) return NULL;
  return reads_each(n, e, of) ? of : NULL;
}

static void inner_find(Nested *c, const EinRegion *r) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const EinNode *n = r->nodes.at[i], *of = inner_of(c, n);
    if (n->kind == EIN_VERTEX) c->red[n->id] = n->sum->n_red + (of ? c->red[of->id] : 0);
    c->inner[n->id] = of;
    if (n->kind == EIN_VERTEX && n->sum->reducer == RED_NONE) continue;
    for (; of; of = of->sum->reducer == RED_NONE ? c->inner[of->id] : NULL) c->taken[of->id] = true;
    if (n->kind == EIN_REPEAT) inner_find(c, n->body);
  }
}

static const Expr *leaf_inner(void *env, Exprs *x, const Expr *leaf) {
  (void)x;
  return leaf->kind == EX_READ ? env : leaf;
}

/* Reduces the inner vertex' labels behind those of s. */
static void inner_put(Nested *c, EinSum *s, const EinNode *of, const Expr **bound, Str *label) {
  Exprs *x = c->b.old->exprs;
  const Expr *read = unscaled(s->body), *to[LABELS_MOST + 1];
  uint32_t n = s->n_out + s->n_red;
  for (uint32_t k = 0; k < read->n; k++) to[k] = read->arg[k];
  for (uint32_t k = 0; k < of->sum->n_red; k++) {
    to[read->n + k] = expr_label(x, n + k);
    bound[n + k] = of->bound[read->n + k];
    label[n + k] = str_apart(c->b.old->strings, n + k, label, of->label[read->n + k]);
  }
  const Expr *body = expr_relabel(x, of->sum->body, read->n + of->sum->n_red, to);
  s->body = expr_map(x, s->body, leaf_inner, (void *)(uintptr_t)body);
  if (of->sum->where)
    s->where = expr_and(x, s->where, expr_relabel(x, of->sum->where, read->n + of->sum->n_red, to));
  s->n_red += of->sum->n_red;
  s->n_slot = of->sum->n_slot;
}

static EinNode *nested(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Nested *c = env;
  const EinNode *of = c->inner[n->id], *last = NULL;
  if (!of || n->sum->reducer == RED_NONE) return rebuild_copy(b, r, n);
  EinSum s = *n->sum;
  const Expr **bound = NEW_ARRAY(b->arena, const Expr *, LABELS_MOST + 1);
  Str *label = NEW_ARRAY(b->arena, Str, LABELS_MOST + 1);
  for (uint32_t k = 0; k < s.n_out + s.n_red; k++) bound[k] = n->bound[k], label[k] = n->label[k];
  for (; of; last = of, of = c->inner[of->id]) {
    inner_put(c, &s, of, bound, label);
    rebuild_note(b, "reductions joined with those around them", of->place);
  }
  EinNode **input = rebuild_inputs(b, last, 0);
  return rebuild_vertex(b, r, n, &s, bound, label, input);
}

static bool not_taken(void *env, const EinNode *n) { return !((const Nested *)env)->taken[n->id]; }

EinGraph *graph_nested(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.keep = not_taken, .vertex = nested};
  Nested c = {.b = {.arena = a, .old = g, .pass = "nested", .notes = notes}, .shown = nodes_shown(a, g)};
  c.uses = nodes_used(a, g);
  c.inner = NEW_ARRAY(a, const EinNode *, g->n_nodes + 1);
  c.red = NEW_ARRAY(a, uint32_t, g->n_nodes + 1);
  c.taken = NEW_ARRAY(a, bool, g->n_nodes + 1);
  inner_find(&c, g->top);
  return rebuild(&c.b, a, g, &rules, &c);
}
