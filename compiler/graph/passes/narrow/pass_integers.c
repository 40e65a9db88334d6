/* graph/passes/narrow/pass_integers.c - adds products of small integers up in 32 bits, if no sum can leave those:
 *
 *     C[i,j] = sum:i64[k:512] (i64(A[i,k]) * i64(B[k,j])), of i8
 *         P[i,j] = sum:i32[k:512] (i32(A[i,k]) * i32(B[k,j])),   C[i,j] = i64(P[i,j])
 *
 * A vector holds twice as many of them, and processors multiply vectors of them in one instruction. Integers are exact,
 * so the result is the same to the bit. interval.c knows the range of a term. */
#include "graph/passes/interval.h"
#include "graph/passes/rebuild.h"

enum {
  DEPTH = 8                  /* of an expression whose range is looked for */
};

typedef struct Integers {
  Rebuild b;
  Interval *of;              /* by old id: the range of a vertex' values */
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

/* The sum in 32 bits; NULL: it has no such form. */
static const Expr *sum_narrower(const Integers *c, const EinNode *n) {
  const EinSum *s = n->sum;
  bool wide = s->reducer == RED_SUM && s->n_red && s->acc == DT_I64 && s->dtype == DT_I64 && !s->by && !s->domain;
  if (!wide || !has_product(s->body, 0) || !interval_in_32(c->of[n->id])) return NULL;
  return narrower(c, n, s->body, 0);
}

static EinNode *vertex_map(Integers *c, EinRegion *r, const EinNode *n, EinNode *part) {
  Exprs *p = c->b.g->exprs;
  const Expr **at = NEW_ARRAY(c->b.arena, const Expr *, part->rank + 1);
  for (uint32_t k = 0; k < part->rank; k++) at[k] = expr_label(p, k);
  EinSum s = {.n_out = part->rank, .n_slot = 1, .acc = DT_I64, .dtype = DT_I64};
  s.body = expr_cast(p, DT_I64, expr_read(p, DT_I32, 0, part->rank, at));
  return rebuild_vertex(&c->b, r, n, &s, n->bound, n->label, &part);
}

static EinNode *integers_vertex(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Integers *c = env;
  c->of[n->id] = interval_of_vertex(c->of, n);
  const Expr *body = sum_narrower(c, n);
  if (!body) return rebuild_copy(b, r, n);
  EinSum s = *n->sum;
  s.body = body, s.acc = s.dtype = DT_I32;
  EinNode **input = rebuild_inputs(b, n, 0);
  rebuild_note(b, "products added up in 32 bits", n->place);
  return vertex_map(c, r, n, rebuild_part(b, r, n, &s, n->bound, n->label, input));
}

EinGraph *graph_integers(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = integers_vertex};
  Integers c = {.b = {.arena = a, .old = g, .pass = "integers", .notes = notes}};
  c.of = NEW_ARRAY(a, Interval, g->n_nodes + 1);
  return rebuild(&c.b, a, g, &rules, &c);
}
