/* graph/passes/reductions/pass_added.c - adds products up under one sum. Y = X + Z, of
 *
 *     X[i,j] = sum[k] A[i,k] * B[k,j]        Z[i,j] = sum[l] C[i,l] * W[l,j]       as many k as l
 *
 * becomes Y[i,j] = sum[k] (A[i,k] * B[k,j] + C[i,k] * W[k,j]). On many sites the parts of such a sum are added where
 * they are made, and reduced once. So this is for graphs that are to move little (Optimise.sites), which the planner
 * compares with those that are fastest on one site.
 *
 * On one site little is gained for products, which have loops of their own. But a convolution that is written row by
 * row of its filter, or tap by tap, is one loop over its output if all its terms are in one sum. So sums of a few
 * points, all terms together, that read around the result's points are added up there, too.
 *
 * Nothing else reads the sums. They have no conditions, and the dtype in which they are added up. */
#include "graph/passes/rebuild.h"

enum {
  TERMS_MOST = 32,
  TERMS_MOVED = 8,           /* on many sites */
  POINTS_MOST = 32           /* on one, of all terms together: they are written out (task/passes/terms.c) */
};

typedef struct Added {
  Rebuild b;
  bool *shown;               /* by old id: something other than an equation uses it */
  uint32_t *n_read;          /* by old id: by how many slots it is read */
  bool few;                  /* on one site */
} Added;

static bool is_plain(const EinNode *n) {
  const EinSum *s = n->sum;
  bool plain = n->kind == EIN_VERTEX && !s->by && !s->where && !s->domain && n->rank == s->n_out;
  for (uint32_t k = 0; plain && n->merge && k < n->rank; k++) plain = n->merge[k] == 1;
  return plain;
}

/* Whether the term reads a sum of y's points, at each of y's labels once. */
static bool is_sum_of(const Added *c, const EinNode *y, const Expr *term) {
  if (term->kind != EX_READ || term->n != y->rank) return false;
  const EinNode *n = y->input[term->i];
  uint64_t at = 0;
  if (n->kind != EIN_VERTEX || n->region != y->region || c->shown[n->id] || c->n_read[n->id] != 1 || !is_plain(n))
    return false;
  for (uint32_t d = 0; d < term->n; d++) {
    const Expr *e = term->arg[d];
    if (e->kind != EX_LABEL || n->bound[d] != y->bound[e->i]) return false;
    at |= UINT64_C(1) << e->i;
  }
  return at == labels_below(y->rank) && n->sum->reducer == RED_SUM && n->sum->n_red && n->sum->acc == y->dtype &&
      n->dtype == y->dtype;
}

static bool same_points(const EinNode *a, const EinNode *b) {
  bool same = a->sum->n_red == b->sum->n_red;
  for (uint32_t k = 0; same && k < a->sum->n_red; k++) same = a->bound[a->rank + k] == b->bound[b->rank + k];
  return same;
}

/* Whether all terms together have few points. */
static bool are_few(const EinNode *y, uint32_t n, const Expr *const *term) {
  const EinNode *of = y->input[term[0]->i];
  int64_t points = n;
  for (uint32_t k = of->rank; k < of->rank + of->sum->n_red; k++) {
    if (of->bound[k]->kind != EX_INT || of->bound[k]->i < 1 || of->bound[k]->i > POINTS_MOST) return false;
    points *= of->bound[k]->i;
    if (points > POINTS_MOST) return false;
  }
  return true;
}

/* Whether the term's vertex reads a tensor at a sum of the label of y's rows and something else. */
static bool reads_around(Arena *a, const EinNode *y, const Expr *term) {
  const EinNode *of = y->input[term->i];
  uint32_t own = 0; /* that label there: terms have all of y's */
  while (term->arg[own]->i != (int64_t)y->rank - 1) own++;
  ExprNodes nodes = expr_nodes(a, of->sum->body, HAS_READ);
  for (const Expr *e; (e = expr_node(&nodes));) {
    const Expr *last = e->kind == EX_READ && e->n ? e->arg[e->n - 1] : NULL;
    if (last && last->kind == EX_OP && last->labels >> own & 1) return true;
  }
  return false;
}

/* Finds the terms of y; 0: they are not all sums over as many points. */
static uint32_t terms_find(const Added *c, const EinNode *y, const Expr **term) {
  uint32_t n;
  if (!is_plain(y) || y->sum->reducer != RED_NONE || y->rank == 0 || y->rank > 32 || y->sum->acc != y->dtype) return 0;
  uint32_t most = c->few ? TERMS_MOST : TERMS_MOVED;
  if (!op_parts(c->b.arena, y->sum->body, OP_ADD, most, term, &n) || n < 2) return 0;
  bool around = false;
  for (uint32_t k = 0; k < n; k++) {
    if (!is_sum_of(c, y, term[k]) || !same_points(y->input[term[0]->i], y->input[term[k]->i])) return 0;
    around |= c->few && reads_around(c->b.arena, y, term[k]);
  }
  return !c->few || (around && are_few(y, n, term)) ? n : 0;
}

static const Expr *leaf_shifted(void *env, Exprs *x, const Expr *leaf) {
  const uint32_t *by = env;
  return leaf->kind == EX_READ ? expr_read(x, (DType)leaf->dtype, leaf->i + *by, leaf->n, leaf->arg) : leaf;
}

/* The term's body, by the labels of y and then the reduced ones; its slots come after the first `slots`. */
static const Expr *body_of(Added *c, const EinNode *y, const Expr *term, uint32_t slots) {
  Exprs *x = c->b.g->exprs;
  const EinNode *n = y->input[term->i];
  const Expr **to = COPY_ARRAY(c->b.arena, const Expr *, term->arg, n->rank, n->rank + n->sum->n_red + 1);
  for (uint32_t k = 0; k < n->sum->n_red; k++) to[n->rank + k] = expr_label(x, y->rank + k);
  return expr_map(x, expr_relabel(x, n->sum->body, n->rank + n->sum->n_red, to), leaf_shifted, &slots);
}

static EinNode *add_up(void *env, Rebuild *b, EinRegion *r, const EinNode *y) {
  Added *c = env;
  const Expr *term[TERMS_MOST];
  uint32_t n = terms_find(c, y, term), slots = 0;
  if (!n) return rebuild_copy(b, r, y);
  const EinNode *first = y->input[term[0]->i];
  uint32_t labels = y->rank + first->sum->n_red;
  EinSum s = {.n_out = y->rank, .n_red = first->sum->n_red, .reducer = RED_SUM, .acc = y->dtype, .dtype = y->dtype};
  for (uint32_t k = 0; k < n; k++) s.n_slot += y->input[term[k]->i]->sum->n_slot;
  EinNode **input = NEW_ARRAY(b->arena, EinNode *, s.n_slot + 1);
  const Expr **bound = NEW_ARRAY(b->arena, const Expr *, labels + 1);
  Str *label = NEW_ARRAY(b->arena, Str, labels + 1);
  for (uint32_t k = 0; k < n; k++) {
    const EinNode *x = y->input[term[k]->i];
    const Expr *body = body_of(c, y, term[k], slots);
    s.body = s.body ? expr_op2(b->g->exprs, OP_ADD, s.body, body) : body;
    for (uint32_t q = 0; q < x->sum->n_slot; q++) input[slots++] = rebuild_to(b, x->input[q]);
  }
  for (uint32_t l = 0; l < labels; l++) {
    bound[l] = l < y->rank ? y->bound[l] : first->bound[first->rank + l - y->rank];
    label[l] = l < y->rank ? y->label[l] : str_apart(b->g->strings, l, label, first->label[first->rank + l - y->rank]);
  }
  rebuild_note(b, "sums added up under one", y->place);
  return rebuild_vertex(b, r, y, &s, bound, label, input);
}

static EinGraph *added(Arena *a, const EinGraph *g, PassNotes *notes, bool few) {
  static const RebuildRules rules = {.vertex = add_up};
  Added c = {.b = {.arena = a, .pass = "added", .notes = notes}, .shown = nodes_shown(a, g), .few = few};
  c.n_read = nodes_used(a, g);
  return rebuild(&c.b, a, g, &rules, &c);
}

EinGraph *graph_added(Arena *a, const EinGraph *g, PassNotes *notes) { return added(a, g, notes, false); }
EinGraph *graph_added_few(Arena *a, const EinGraph *g, PassNotes *notes) { return added(a, g, notes, true); }
