/* graph/passes/narrow/pass_integers.c - adds products of small integers up in 32 bits, if no sum can leave those:
 *
 *     C[i,j] = sum:i64[k:512] (i64(A[i,k]) * i64(B[k,j])), of i8
 *         P[i,j] = sum:i32[k:512] (i32(A[i,k]) * i32(B[k,j])),   C[i,j] = i64(P[i,j])
 *
 * A vector holds twice as many of them, and processors multiply vectors of them in one instruction. Integers are exact,
 * so the result is the same to the bit. The range of a term comes from the dtypes that it reads, or from what vertices
 * that it reads compute: a mask is 0 or 1 in any dtype. */
#include "graph/passes/rebuild.h"

enum {
  DEPTH = 8                  /* of an expression whose range is looked for */
};

typedef struct Interval { int64_t low, high; bool known; } Interval;

typedef struct Integers {
  Rebuild b;
  Interval *of;              /* by old id: the range of a vertex' values */
} Integers;

static const Interval unknown;

static Interval interval_of(int64_t low, int64_t high) { return (Interval){low, high, true}; }

static bool in_32(Interval r) { return r.known && r.low >= INT32_MIN && r.high <= INT32_MAX; }

static Interval dtype_interval(DType t) {
  if (t == DT_BOOL) return interval_of(0, 1);
  if (t == DT_U8) return interval_of(0, UINT8_MAX);
  if (t == DT_I8) return interval_of(INT8_MIN, INT8_MAX);
  if (t == DT_I16) return interval_of(INT16_MIN, INT16_MAX);
  return t == DT_I32 ? interval_of(INT32_MIN, INT32_MAX) : unknown;
}

static Interval either(Interval a, Interval b) {
  if (!a.known || !b.known) return unknown;
  return interval_of(a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high);
}

/* Operands are within 32 bits, so nothing here leaves 64. */
static Interval op_interval(Op op, Interval a, Interval b) {
  if (!in_32(a) || !in_32(b)) return unknown;
  if (op == OP_ADD) return interval_of(a.low + b.low, a.high + b.high);
  if (op == OP_SUB) return interval_of(a.low - b.high, a.high - b.low);
  if (op == OP_MIN || op == OP_MAX) return either(a, b);
  if (op != OP_MUL) return unknown;
  Interval low = interval_of(a.low * b.low, a.low * b.low), high = interval_of(a.high * b.high, a.high * b.high);
  Interval mixed = either(interval_of(a.low * b.high, a.low * b.high), interval_of(a.high * b.low, a.high * b.low));
  return either(either(low, high), mixed);
}

static Interval expr_interval(const Integers *c, const EinNode *n, const Expr *e, int depth) {
  Interval own = dtype_interval((DType)e->dtype);
  if (e->kind == EX_INT) return interval_of(e->i, e->i);
  if (e->kind == EX_READ && c->of[n->input[e->i]->id].known) return c->of[n->input[e->i]->id];
  if (e->kind != EX_OP || depth == DEPTH || !dtype_is_int((DType)e->dtype)) return own;
  Interval r = unknown;
  if (e->op == OP_CAST && !dtype_is_float((DType)e->arg[0]->dtype)) r = expr_interval(c, n, e->arg[0], depth + 1);
  if (e->op == OP_SELECT)
    r = either(expr_interval(c, n, e->arg[1], depth + 1), expr_interval(c, n, e->arg[2], depth + 1));
  if (e->op == OP_NEG) r = op_interval(OP_SUB, interval_of(0, 0), expr_interval(c, n, e->arg[0], depth + 1));
  if (e->n == 2)
    r = op_interval((Op)e->op, expr_interval(c, n, e->arg[0], depth + 1), expr_interval(c, n, e->arg[1], depth + 1));
  /* In a narrower dtype it may have wrapped. */
  return own.known && (!r.known || r.low < own.low || r.high > own.high) ? own : r;
}

/* The range of all sums of such terms, of which none to all may count. */
static Interval sum_interval(const EinNode *n, Interval term) {
  int64_t points = 1, low, high;
  if (!term.known) return unknown;
  for (uint32_t k = n->sum->n_out; k < n->sum->n_out + n->sum->n_red; k++)
    if (n->bound[k]->kind != EX_INT || !mul_ok(points, n->bound[k]->i, &points)) return unknown;
  if (!mul_ok(term.low, points, &low) || !mul_ok(term.high, points, &high)) return unknown;
  return either(interval_of(0, 0), interval_of(low, high));
}

static Interval vertex_interval(const Integers *c, const EinNode *n) {
  const EinSum *s = n->sum;
  if (s->by || s->domain || s->dtype != s->acc) return unknown;
  Interval term = expr_interval(c, n, s->body, 0);
  return s->reducer == RED_NONE ? term : s->reducer == RED_SUM && s->dtype == DT_I64 ? sum_interval(n, term) : unknown;
}

/* e in 32 bits; NULL: a part of it may leave them. */
static const Expr *narrower(const Integers *c, const EinNode *n, const Expr *e, int depth) {
  Exprs *p = c->b.old->exprs;
  const Expr *arg[3];
  if (!in_32(expr_interval(c, n, e, 0))) return NULL;
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
  if (!wide || !has_product(s->body, 0) || !in_32(c->of[n->id])) return NULL;
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
  c->of[n->id] = vertex_interval(c, n);
  const Expr *body = sum_narrower(c, n);
  if (!body) return rebuild_copy(b, r, n);
  EinSum s = *n->sum;
  s.body = body, s.acc = s.dtype = DT_I32;
  EinNode **input = NEW_ARRAY(b->arena, EinNode *, s.n_slot + 1);
  for (uint32_t k = 0; k < s.n_slot; k++) input[k] = rebuild_to(b, n->input[k]);
  rebuild_note(b, "products added up in 32 bits", n->place);
  return vertex_map(c, r, n, rebuild_part(b, r, n, &s, n->bound, n->label, input));
}

EinGraph *graph_integers(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = integers_vertex};
  Integers c = {.b = {.arena = a, .old = g, .pass = "integers", .notes = notes}};
  c.of = NEW_ARRAY(a, Interval, g->n_nodes + 1);
  return rebuild(&c.b, a, g, &rules, &c);
}
