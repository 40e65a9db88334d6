/* graph/passes/pass_hoist.c - a map computes what takes long once for each of the labels on which it depends:
 *
 *     Y[i,j] = D[i,j] / sqrt(1 + b[j])       becomes       Y.once[j] = sqrt(1 + b[j])
 *                                                          Y[i,j] = D[i,j] / Y.once[j]
 *
 * Then it makes no difference whether the user named the norm, the cosine of an angle or the inverse of a deviation, or
 * wrote it where it is used. Loops alone hoist what depends on the outermost labels, so that stays if there is nothing
 * else to hoist: with it, either may become the outermost. Values are the same to the bit. */
#include "graph/passes/contract/contract.h"
#include "rebuild.h"

enum {
  FEWER = 4,                 /* a value serves at least so many points, */
  FEWER_CHOSEN = 8,          /*   if a condition may leave it out */
  POINTS_LEAST = 1 << 12,    /* of the map: else it is not worth another tensor, */
  ALONE_LEAST = 1 << 6,      /*   or another number; */
  HOISTED_MOST = 8,          /* values of a map */
  ROUNDS_MOST = 3            /* what is hoisted may have such values itself */
};

typedef struct Hoist {
  Rebuild b;
  Arena *scratch;
  int64_t proofs;            /* left for the graph */
  bool some;                 /* a vertex was changed */
} Hoist;

/* A vertex, and what is hoisted from it. */
typedef struct Draft {
  Hoist *c;
  const EinNode *n;
  bool outermost;            /* values of the outermost labels too */
  uint32_t n_value;
  const Expr *value[HOISTED_MOST], *read[HOISTED_MOST];
} Draft;

/* ---- what ------------------------------------------------------------------------------------------------ */

static bool is_long(const Expr *e) {
  if (e->kind != EX_OP || !e->labels || !dtype_is_float((DType)e->dtype)) return false;
  return e->op == OP_DIV || e->op == OP_SQRT || op_info[e->op].ulp > 0;
}

/* A function of one value alone, such as 0.9^(t + 1). Compilers seldom move it out of loops that have their own
 * functions for vectors; a quotient or a root they do. */
static bool is_long_alone(const Expr *e) { return e->kind == EX_OP && !e->labels && op_info[e->op].ulp > 0; }

static bool takes_long(const Hoist *c, const Expr *of) {
  ExprNodes nodes = expr_nodes(c->scratch, of, of->labels ? HAS_LABEL : HAS_TURN | HAS_READ);
  for (const Expr *e; (e = expr_node(&nodes));) {
    if (of->labels ? is_long(e) : is_long_alone(e)) return true;
    if (e->kind == EX_READ) expr_node_skip(&nodes);
  }
  return false;
}

/* Whether the labels are the first ones of all: then loops over the others are inside. */
static bool are_outermost(uint64_t labels) { return (labels & (labels + 1)) == 0; }

/* Whether it depends on so few labels that a value serves many points. */
static bool serves_many(const Draft *d, const Expr *e, int fewer) {
  const EinNode *n = d->n;
  double points = labels_points(n, labels_below(n->sum->n_out));
  if (!e->labels) return e->kind == EX_OP && e->has & (HAS_TURN | HAS_READ) && points >= (double)ALONE_LEAST;
  if (points < (double)POINTS_LEAST || (are_outermost(e->labels) && !d->outermost)) return false;
  return labels_points(n, e->labels) * (double)fewer <= points;
}

static bool may_hoist(Draft *d, const Expr *e) {
  if (e->kind != EX_OP || e->has & (HAS_CALL | HAS_PARAM)) return false;
  return takes_long(d->c, e) && !expr_can_fail(e) &&
         expr_is_total(d->c->scratch, d->c->b.old->exprs, d->n, e, NULL, &d->c->proofs);
}

static void value_add(Draft *d, const Expr *e) {
  for (uint32_t k = 0; k < d->n_value; k++)
    if (d->value[k] == e) return;
  if (d->n_value < HOISTED_MOST) d->value[d->n_value++] = e;
}

/* Finds the largest such parts. chosen: also those that a condition may leave out. */
static void values_find(Draft *d, bool chosen) {
  ExprNodes nodes = expr_nodes(d->c->scratch, d->n->sum->body, HAS_LABEL | HAS_TURN | HAS_READ);
  for (const Expr *e; (e = expr_node(&nodes));) {
    bool many = dtype_is_float((DType)e->dtype) && serves_many(d, e, chosen ? FEWER_CHOSEN : FEWER);
    bool lazy = !chosen && !many && e->kind == EX_OP && op_info[e->op].laws & LAW_LAZY;
    if (many && may_hoist(d, e)) value_add(d, e);
    if (many || lazy || e->kind == EX_READ) expr_node_skip(&nodes);
    if (lazy) expr_nodes_add(&nodes, e->arg[0]);
  }
}

static void draft_find(Draft *d) {
  d->n_value = 0;
  values_find(d, false);
  values_find(d, true);
}

/* ---- the vertices ---------------------------------------------------------------------------------------- */

static const Expr *value_read(void *env, Exprs *p, const Expr *e) {
  const Draft *d = env;
  (void)p;
  for (uint32_t k = 0; k < d->n_value; k++)
    if (d->value[k] == e) return d->read[k];
  return e;
}

/* Makes a vertex for value k, whose read has that slot. */
static EinNode *value_make(Draft *d, EinRegion *r, uint32_t k, EinNode *const *input, uint32_t slot) {
  Exprs *p = d->c->b.g->exprs;
  const EinNode *n = d->n;
  const Expr *to[64] = {0}, *bound[64], *own[64];
  Str label[64];
  EinSum s = {.acc = (DType)d->value[k]->dtype, .dtype = (DType)d->value[k]->dtype, .n_slot = n->sum->n_slot};
  for (uint32_t l = 0; l < n->sum->n_out; l++) {
    if (!expr_has_label(d->value[k], l)) continue;
    to[l] = expr_label(p, s.n_out);
    own[s.n_out] = expr_label(p, l);
    bound[s.n_out] = n->bound[l];
    label[s.n_out++] = n->label[l];
  }
  s.body = expr_relabel(p, d->value[k], n->sum->n_out, to);
  uint32_t n_out = s.n_out;
  EinNode *made = rebuild_part(&d->c->b, r, n, &s, bound, label, input);
  if (n->name) made->name = strings_printf(d->c->b.old->strings, k ? "%s.once%u" : "%s.once", n->name->s, k + 1);
  d->read[k] = expr_read(p, made->dtype, slot, n_out, own);
  return made;
}

static EinNode *hoisted(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Draft d = {.c = env, .n = n};
  bool map = n->kind == EIN_VERTEX && !n->sum->by && !n->sum->domain && n->sum->reducer == RED_NONE;
  if (map && n->sum->n_out < 64) draft_find(&d);
  d.outermost = d.n_value > 0;
  if (d.n_value) draft_find(&d);
  if (!d.n_value) return rebuild_copy(b, r, n);
  EinSum s = *n->sum;
  EinNode **input = rebuild_inputs(b, n, HOISTED_MOST);
  for (uint32_t k = 0; k < d.n_value; k++) input[s.n_slot + k] = value_make(&d, r, k, input, s.n_slot + k);
  s.body = expr_map_ops(b->g->exprs, s.body, value_read, &d);
  s.n_slot += d.n_value;
  rebuild_note(b, "values hoisted", n->place);
  d.c->some = true;
  return rebuild_vertex(b, r, n, &s, n->bound, n->label, input);
}

EinGraph *graph_hoist(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = hoisted};
  EinGraph *made = NULL;
  for (uint32_t round = 0; round < ROUNDS_MOST; round++) {
    Hoist c = {.b = {.arena = a, .old = made ? made : g, .pass = "hoist", .notes = notes}, .scratch = arena_new()};
    c.proofs = 1000 + 4 * (int64_t)g->n_nodes;
    made = rebuild_free(&c.b, a, c.b.old, &rules, &c, c.scratch);
    if (!c.some) break;
  }
  return made;
}
