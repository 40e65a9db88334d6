/* graph/passes/narrow/pass_integers.c - adds products of small integers up in 32 bits, if no sum can leave those:
 *
 *     C[i,j] = sum:i64[k:512] (i64(A[i,k]) * i64(B[k,j])), of i8
 *         P[i,j] = sum:i32[k:512] (i32(A[i,k]) * i32(B[k,j])),   C[i,j] = i64(P[i,j])
 *
 *     C[i,j] = sum:i64[k where A[i,k] and B[k,j]] 1, a count
 *         as above, with 0 for what does not hold and 1 for what does
 *
 * A vector holds twice as many of them, and processors multiply vectors of them in one instruction. Integers are exact,
 * so the result is the same to the bit. interval.c knows the range of a term. */
#include "graph/passes/contract/contract.h"
#include "graph/passes/interval.h"

enum {
  PARTS_MOST = 8,            /* conditions of a count */
  DEPTH = 8                  /* of an expression whose range is looked for */
};

typedef struct Integers {
  Rebuild b;
  Interval *of;              /* by old id: the range of a vertex' values */
  Arena *scratch;
  int64_t proofs;            /* left for the graph */
} Integers;

/* e in 32 bits; NULL: a part of it may leave them. */
static const Expr *narrower(const Integers *c, const EinNode *n, const Expr *e, int depth) {
  Exprs *p = c->b.old->exprs;
  const Expr *arg[3];
  if (!interval_in_32(interval_of_expr(c->of, n, e))) return NULL;
  if (e->kind == EX_INT) return expr_int(p, DT_I32, e->i);
  if (e->kind == EX_READ) return expr_cast(p, DT_I32, e);
  if (e->kind != EX_OP || e->n > 3 || depth == DEPTH) return NULL;
  if (e->op == OP_CAST) return expr_cast(p, DT_I32, e->arg[0]);
  bool choice = e->op == OP_SELECT;
  if (choice) arg[0] = e->arg[0];
  for (uint32_t k = choice; k < e->n; k++)
    if (!(arg[k] = narrower(c, n, e->arg[k], depth + 1))) return NULL;
  return expr_op(p, (Op)e->op, e->n, arg);
}

/* Whether the term multiplies data: only that takes longer in 64 bits. */
static bool has_product(const Expr *e, int depth) {
  if (e->kind != EX_OP || depth == DEPTH) return false;
  if (e->op == OP_MUL && e->arg[0]->has & HAS_READ && e->arg[1]->has & HAS_READ) return true;
  for (uint32_t k = 0; k < e->n; k++)
    if (has_product(e->arg[k], depth + 1)) return true;
  return false;
}

static bool is_wide(const EinSum *s) {
  return s->reducer == RED_SUM && s->n_red && s->acc == DT_I64 && s->dtype == DT_I64 && !s->by && !s->domain;
}

/* The sum in 32 bits, if it is that of a product; NULL: it has no such form. */
static const Expr *sum_narrower(const Integers *c, const EinNode *n, const Expr *body) {
  if (!has_product(body, 0) || !interval_in_32(c->of[n->id])) return NULL;
  return narrower(c, n, body, 0);
}

/* Whether a condition is on one element, and there is one for all of the vertex's points. */
static bool is_mask(Integers *c, const EinNode *n, const Expr *e) {
  ExprNodes nodes = expr_nodes(c->scratch, e, HAS_READ);
  for (const Expr *x; (x = expr_node(&nodes));)
    if (x->kind == EX_READ && x->labels != e->labels) return false;
  return e->has & HAS_READ && expr_is_total(c->scratch, c->b.old->exprs, n, e, NULL, &c->proofs);
}

/* What a count adds, as a product of two conditions that have labels of the result of their own, and a label that is
 * reduced in common: with the others, which have labels of one of these. NULL: it has no such form. */
static const Expr *count_product(Integers *c, const EinNode *n) {
  Exprs *p = c->b.old->exprs;
  const EinSum *s = n->sum;
  const Expr *part[PARTS_MOST], *side[2];
  uint64_t own = labels_below(s->n_out);
  uint32_t n_part;
  const Expr *where = s->where, *body = s->body;
  if (is_op(body, OP_CAST) && body->arg[0]->dtype == DT_BOOL)
    where = expr_and(p, where, body->arg[0]), body = expr_int(p, DT_I64, 1);
  if (!where || body->kind != EX_INT || !op_parts(c->scratch, where, OP_AND, PARTS_MOST, part, &n_part)) return NULL;
  side[0] = part[0], side[1] = NULL;
  for (uint32_t k = 0; k < n_part; k++) {
    uint64_t a = part[0]->labels, b = part[k]->labels;
    if (!is_mask(c, n, part[k])) return NULL;
    if (!side[1] && a & ~b & own && b & ~a & own && a & b & ~own) side[1] = part[k];
  }
  if (!side[1]) return NULL;
  const uint64_t has[2] = {side[0]->labels, side[1]->labels};
  for (uint32_t k = 1; k < n_part; k++) {
    uint32_t to = !!(part[k]->labels & ~has[0]);
    if (part[k]->labels & ~has[to]) return NULL;
    if (part[k] != side[to]) side[to] = expr_and(p, side[to], part[k]);
  }
  const Expr *both = expr_op2(p, OP_MUL, expr_cast(p, DT_I64, side[0]), expr_cast(p, DT_I64, side[1]));
  return expr_is_int(body, 1) ? both : expr_op2(p, OP_MUL, both, body);
}

static EinNode *vertex_map(Integers *c, EinRegion *r, const EinNode *n, EinNode *part) {
  Exprs *p = c->b.g->exprs;
  const Expr **at = exprs_labels(c->b.arena, p, part->rank);
  EinSum s = {.n_out = part->rank, .n_slot = 1, .acc = DT_I64, .dtype = DT_I64};
  s.body = expr_cast(p, DT_I64, expr_read(p, DT_I32, 0, part->rank, at));
  return rebuild_vertex(&c->b, r, n, &s, n->bound, n->label, &part);
}

static EinNode *integers_vertex(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Integers *c = env;
  c->of[n->id] = interval_of_vertex(c->of, n);
  if (!is_wide(n->sum)) return rebuild_copy(b, r, n);
  const Expr *product = count_product(c, n), *body = sum_narrower(c, n, product ? product : n->sum->body);
  if (!product && !body) return rebuild_copy(b, r, n);
  EinSum s = *n->sum;
  if (product) s.body = product, s.where = NULL;
  EinNode **input = rebuild_inputs(b, n, 0);
  if (product) rebuild_note(b, "counts made sums of products", n->place);
  if (!body) return rebuild_vertex(b, r, n, &s, n->bound, n->label, input);
  s.body = body, s.acc = s.dtype = DT_I32;
  rebuild_note(b, "products added up in 32 bits", n->place);
  return vertex_map(c, r, n, rebuild_part(b, r, n, &s, n->bound, n->label, input));
}

EinGraph *graph_integers(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = integers_vertex};
  Integers c = {.b = {.arena = a, .old = g, .pass = "integers", .notes = notes}, .scratch = arena_new()};
  c.of = NEW_ARRAY(a, Interval, g->n_nodes + 1);
  c.proofs = 1000 + 4 * (int64_t)g->n_nodes;
  EinGraph *made = rebuild(&c.b, a, g, &rules, &c);
  arena_free(c.scratch);
  return made;
}
