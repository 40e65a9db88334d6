/* graph/passes/reductions/pass_remainders.c - divides a reduction by the remainders that its predicate asks for:
 *
 *     Y[y:112] = sum[p:4 where (y + 1 - p) % 2 == 0] X[(y + 1 - p) // 2] * W[p]
 *         Y.0[y:56] = sum[p:2] X[y - p] * W[2 * p + 1]         Y.1[y:56] = sum[p:2] X[y + 1 - p] * W[2 * p]
 *         Y[y:112] = if y % 2 == 0 then Y.0[y // 2] else Y.1[y // 2]
 *
 * This is a transposed convolution, or what arrives at a place in the gradient of a strided one. Each part is an
 * ordinary convolution, and no point is visited to be left out. The same terms are added. */
#include "expr/prove/prove.h"
#include "graph/passes/rebuild.h"

enum {
  PARTS_MOST = 32,           /* conjuncts */
  PAIRS_MOST = 3,
  CLASSES_MOST = 16,         /* parts of one vertex */
  BY_MOST = 8,
  POINTS_LEAST = 1024        /* of the result: a part is a kernel of its own */
};

/* A label of the result and one that is reduced, of which (out + .. - red ..) % by is a number. */
typedef struct Pair {
  uint32_t out, red;
  int64_t by, part[BY_MOST]; /* part: the reduced label's remainder by that of the other */
} Pair;

typedef struct Remainders {
  Rebuild b;
  Arena *scratch;
  bool some;
  const EinNode *n;          /* the current vertex, */
  const Expr *rest;          /* its other conditions; NULL: none, */
  uint32_t n_pair;
  Pair pair[PAIRS_MOST];     /* and the pairs */
} Remainders;

static const Expr *integer(Exprs *p, int64_t v) { return expr_int(p, DT_I64, v); }
static int64_t modulo(int64_t a, int64_t m) { return (a % m + m) % m; }
static bool in_range(const Expr *n, int64_t least) { return n->kind == EX_INT && n->i >= least && n->i <= INT32_MAX; }

/* e's value where all its labels are 0; false: it has something other than labels and numbers. */
static bool at_zero(Exprs *p, const Expr *e, uint32_t n, int64_t *value) {
  const Expr *to[64];
  if (e->has & (HAS_READ | HAS_DIM | HAS_TURN) || n > 64) return false;
  for (uint32_t k = 0; k < n; k++) to[k] = integer(p, 0);
  const Expr *c = expr_normal(p, expr_relabel(p, e, n, to));
  *value = c->i;
  return c->kind == EX_INT;
}

/* ---- which conditions ------------------------------------------------------------------------------------------ */

static bool is_taken(const Remainders *c, uint32_t out, uint32_t red) {
  for (uint32_t i = 0; i < c->n_pair; i++)
    if (c->pair[i].out == out || c->pair[i].red == red) return true;
  return false;
}

/* For each remainder of the result's label, the one of the reduced label; false: there is none, or several. */
static bool pair_solve(Pair *to, int64_t of_out, int64_t of_red, int64_t zero, int64_t is) {
  for (int64_t a = 0; a < to->by; a++) {
    int n = 0;
    for (int64_t s = 0; s < to->by; s++)
      if (modulo(of_out * a + of_red * s + zero, to->by) == is) to->part[a] = s, n++;
    if (n != 1) return false;
  }
  return true;
}

/* Takes the condition `e % by == is`. */
static bool pair_take(Remainders *c, const Expr *cond) {
  Exprs *p = c->b.old->exprs;
  const EinSum *s = c->n->sum;
  if (!is_op(cond, OP_EQ) || cond->arg[1]->kind != EX_INT || !is_op(cond->arg[0], OP_MOD)) return false;
  const Expr *e = cond->arg[0]->arg[0], *by = cond->arg[0]->arg[1];
  if (by->kind != EX_INT || by->i < 2 || by->i > BY_MOST || e->dtype != DT_I64 || c->n_pair == PAIRS_MOST) return false;
  Pair pair = {.by = by->i};
  int64_t slope, of_out = 0, of_red = 0, zero;
  for (uint32_t l = 0; l < s->n_out + s->n_red; l++) {
    if (!expr_has_label(e, l)) continue;
    int64_t *of = l < s->n_out ? &of_out : &of_red;
    if (*of || !expr_slope(e, l, &slope) || !slope) return false;
    *of = slope, *(l < s->n_out ? &pair.out : &pair.red) = l;
  }
  if (!of_out || !of_red || is_taken(c, pair.out, pair.red) || !at_zero(p, e, s->n_out + s->n_red, &zero)) return false;
  if (!in_range(c->n->bound[pair.out], by->i) || !in_range(c->n->bound[pair.red], 1)) return false;
  if (!pair_solve(&pair, modulo(of_out, by->i), modulo(of_red, by->i), modulo(zero, by->i), cond->arg[1]->i))
    return false;
  c->pair[c->n_pair++] = pair;
  return true;
}

static bool is_plain(const EinNode *n) {
  const EinSum *s = n->sum;
  bool plain = n->rank == s->n_out && s->n_out + s->n_red < 63 && s->n_red && s->where && !s->domain && !s->by;
  for (uint32_t k = 0; plain && n->merge && k < n->rank; k++) plain = n->merge[k] == 1;
  return plain && !s->monoid && reducer_info[s->reducer].combine != OPS && !red_is_arg(s);
}

static bool pairs_find(Remainders *c, const EinNode *n) {
  Exprs *p = c->b.old->exprs;
  const Expr *part[PARTS_MOST];
  uint32_t n_part = 0;
  int64_t points = 1, classes = 1;
  c->n = n, c->n_pair = 0, c->rest = NULL;
  if (!is_plain(n) || !op_parts(c->scratch, n->sum->where, OP_AND, PARTS_MOST, part, &n_part)) return false;
  for (uint32_t k = 0; k < n->rank; k++)
    if (n->bound[k]->kind != EX_INT || !mul_ok(points, n->bound[k]->i, &points)) return false;
  for (uint32_t i = 0; i < n_part; i++)
    if (!pair_take(c, part[i])) c->rest = expr_and(p, c->rest, part[i]);
  for (uint32_t i = 0; i < c->n_pair; i++) classes *= c->pair[i].by;
  return c->n_pair && points >= POINTS_LEAST && classes <= CLASSES_MOST;
}

/* ---- the parts ------------------------------------------------------------------------------------------------- */

/* e // by and e % by of an e whose labels count in steps of by. */
static const Expr *op_divided(void *env, Exprs *p, const Expr *e) {
  const Remainders *c = env;
  uint32_t n = c->n->sum->n_out + c->n->sum->n_red;
  if ((!is_op(e, OP_IDIV) && !is_op(e, OP_MOD)) || e->dtype != DT_I64 || e->arg[1]->kind != EX_INT) return e;
  int64_t by = e->arg[1]->i, zero, slope;
  if (by < 2 || by > BY_MOST || !at_zero(p, e->arg[0], n, &zero)) return e;
  const Expr *all = integer(p, (zero - modulo(zero, by)) / by);
  for (uint32_t l = 0; l < n; l++) {
    if (!expr_has_label(e->arg[0], l)) continue;
    if (!expr_slope(e->arg[0], l, &slope) || slope % by) return e;
    all = expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, expr_label(p, l), integer(p, slope / by)), all);
  }
  return e->op == OP_MOD ? integer(p, modulo(zero, by)) : expr_normal(p, all);
}

static const Expr *part_expr(Remainders *c, const Expr *e, const Expr *const *to) {
  Exprs *p = c->b.old->exprs;
  return e ? expr_map_ops(p, expr_relabel(p, e, c->n->sum->n_out + c->n->sum->n_red, to), op_divided, c) : NULL;
}

/* at: the remainder of each pair's label of the result. */
static EinNode *part_make(Remainders *c, EinRegion *r, const int64_t *at) {
  Exprs *p = c->b.old->exprs;
  const EinNode *n = c->n;
  EinSum s = *n->sum;
  uint32_t labels = s.n_out + s.n_red;
  const Expr *to[64] = {0}, **bound = NEW_ARRAY(c->b.arena, const Expr *, labels + 1);
  for (uint32_t l = 0; l < labels; l++) bound[l] = n->bound[l];
  for (uint32_t i = 0; i < c->n_pair; i++) {
    const Pair *q = &c->pair[i];
    uint32_t label[2] = {q->out, q->red};
    int64_t first[2] = {at[i], q->part[at[i]]};
    for (int k = 0; k < 2; k++) {
      int64_t more = n->bound[label[k]]->i - first[k];
      bound[label[k]] = integer(p, more > 0 ? (more + q->by - 1) / q->by : 0);
      to[label[k]] = expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, integer(p, q->by), expr_label(p, label[k])),
          integer(p, first[k]));
    }
  }
  s.body = part_expr(c, n->sum->body, to), s.where = part_expr(c, c->rest, to);
  EinNode **input = NEW_ARRAY(c->b.arena, EinNode *, s.n_slot + 1);
  for (uint32_t k = 0; k < s.n_slot; k++) input[k] = rebuild_to(&c->b, n->input[k]);
  return rebuild_part(&c->b, r, n, &s, bound, n->label, input);
}

typedef struct Made { EinNode *slot[CLASSES_MOST]; uint32_t n; } Made;

/* The value of the result where the pairs before `pair` have the remainders in `at`. */
static const Expr *parts_chosen(Remainders *c, EinRegion *r, Made *to, uint32_t pair, int64_t *at) {
  Exprs *p = c->b.old->exprs;
  const EinNode *n = c->n;
  if (pair == PAIRS_MOST || pair == c->n_pair) {
    const Expr **index = exprs_labels(c->scratch, p, n->rank);
    for (uint32_t i = 0; i < c->n_pair; i++)
      index[c->pair[i].out] = expr_op2(p, OP_IDIV, expr_label(p, c->pair[i].out), integer(p, c->pair[i].by));
    to->slot[to->n] = part_make(c, r, at);
    return expr_read(p, n->sum->dtype, to->n++, n->rank, index);
  }
  const Pair *q = &c->pair[pair];
  const Expr *left = expr_op2(p, OP_MOD, expr_label(p, q->out), integer(p, q->by)), *all = NULL;
  for (int64_t a = q->by; a-- > 0;) {
    at[pair] = a;
    const Expr *one = parts_chosen(c, r, to, pair + 1, at);
    all = all ? expr_select(p, expr_op2(p, OP_EQ, left, integer(p, a)), one, all) : one;
  }
  return all;
}

static EinNode *divided(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Remainders *c = env;
  if (!pairs_find(c, n)) return rebuild_copy(b, r, n);
  Made made = {.n = 0};
  int64_t at[PAIRS_MOST] = {0};
  EinSum s = {.n_out = n->rank, .acc = n->sum->dtype, .dtype = n->sum->dtype};
  s.body = parts_chosen(c, r, &made, 0, at);
  s.n_slot = made.n;
  c->some = true;
  rebuild_note(b, "divided by remainders", n->place);
  return rebuild_vertex(b, r, n, &s, n->bound, n->label, made.slot);
}

EinGraph *graph_remainders(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = divided};
  Remainders c = {.b = {.arena = a, .old = g, .pass = "remainders", .notes = notes}, .scratch = arena_new()};
  EinGraph *made = rebuild_free(&c.b, a, g, &rules, &c, c.scratch);
  return c.some ? graph_simplify(a, made, notes) : made;
}
