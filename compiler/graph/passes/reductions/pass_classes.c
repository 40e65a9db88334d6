/* graph/passes/reductions/pass_classes.c - rewrites reductions in which the result's labels determine one number that
 * points are compared with. In: a vertex that tests each point for each result. Out: one that visits each point once,
 * and reads from it:
 *
 *     S[s] = sum[t where t % 100 == k[s]] x[t]
 *         T[r:100] = sum[t where t % 100 == r] x[t],  S[s] = T[k[s]] if 0 <= k[s] < 100, else 0
 *     S[s] = sum[z where row[z] == k[s]] x[z]
 *         T[r:M] = sum[z where row[z] == r] x[z],     S[s] = T[k[s]] if 0 <= k[s] < M, else as it was
 *     S[s] = sum[t where t < k[s]] x[t]
 *         T[r:N+1] = sum[t where t < r] x[t],         S[s] = T[k[s]], with k clamped to 0..N
 *     S[b] = sum[t where v[t] <= b] x[t]
 *         T[r:B] = sum[t where max(v[t], 0) == r] x[t],  U[r:B] = sum[q where q <= r] T[q],  S[b] = U[b]
 *     S[s] = sum[t where t != s] x[t]
 *         sum[t where t < s] x[t] + sum[t where t > s] x[t]
 *
 * Of these, T is a scatter where numbers are compared by ==, and the others are running sums. Where nothing bounds
 * the numbers, M is the number of points plus that of results, which exceeds most indices; for larger numbers, each
 * point is tested as before. No float sum becomes a difference: the same terms are added. Nothing else is computed,
 * except at points that no result asked for: so all reads there must be proved to be in range. */
#include "graph/passes/contract/contract.h"

enum {
  PARTS_MOST = 32,           /* conjuncts */
  STORE = 8,                 /* the cost of storing an element and reading it again, in operations */
  WALK = 16,                 /* and of a point that is scattered, or added to a running sum, while tests run in
                              * vectors */
  LEAST = 64,                /* points of a label that make two running sums worthwhile */
  ROOM = 4,                  /* times as large as a result or a tensor read */
  CLASSES_MOST = 1 << 20,
  PASSES_MOST = 4
};

typedef struct Classes {
  Rebuild b;
  Arena *scratch;
  int64_t proofs;            /* left for the graph */
  bool again;                /* what has been made may have such a form, too */

  const EinNode *n;          /* the current vertex, */
  uint32_t labels;           /* and the number of labels; the new one is next, until vertices are made */
  const Expr *part[PARTS_MOST];
  uint32_t n_part, which;    /* the number of conjuncts, and the current one */
  const Expr *is, *count;    /* its replacement, with the new label, and the new label's extent */
  const Expr *some, *at;     /* where there are points at all (NULL: everywhere), and the value of the new label to
                              * read */
  bool beyond;               /* there may be points elsewhere, too */
  Op up_to;                  /* a result takes the numbers up to its own, OP_LE, or from it on, OP_GE; OP_EQ: that */
  const Expr *inner, *outer; /* the other conjuncts: over reduced labels, and over others alone */
  uint64_t kept;             /* the labels of the result that T has too */
} Classes;

static uint64_t out_of(const Classes *c) { return labels_below(c->n->sum->n_out); }
static uint64_t red_of(const Classes *c) { return labels_below(c->labels) & ~out_of(c); }
static const Expr *integer(const Classes *c, int64_t v) { return expr_int(c->b.old->exprs, DT_I64, v); }

/* ---- which number ------------------------------------------------------------------------------ */

/* `count` numbers from `low` on. */
typedef struct Among { int64_t low; const Expr *count; } Among;

static bool among_dtype(const Classes *c, DType t, Among *a) {
  int64_t count = t == DT_BOOL ? 2 : t == DT_U8 || t == DT_I8 ? 256 : t == DT_I16 ? 65536 : 0;
  *a = (Among){t == DT_I8 || t == DT_I16 ? -count / 2 : 0, integer(c, count)};
  return count > 0;
}

/* The extent of n values, each repeated `by` times: from the first one's first to the last one's last. */
static const Expr *count_times(const Classes *c, const Expr *n, const Expr *by) {
  Exprs *p = c->b.old->exprs;
  return expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, expr_op2(p, OP_SUB, n, integer(c, 1)), by), integer(c, 1));
}

/* The interval of e's values, as far as its operands bound it. */
static bool among(const Classes *c, const Expr *e, Among *a) {
  Exprs *p = c->b.old->exprs;
  Among b;
  if (e->kind == EX_LABEL) return *a = (Among){0, c->n->bound[e->i]}, true;
  if (e->kind == EX_INT && e->i <= INT32_MAX && e->i >= -INT32_MAX) return *a = (Among){e->i, integer(c, 1)}, true;
  if (e->kind != EX_OP || e->dtype != DT_I64) return false;
  if (e->op == OP_CAST) return among_dtype(c, (DType)e->arg[0]->dtype, a);
  if (e->n != 2) return false;
  bool swapped = e->op == OP_MUL && e->arg[0]->kind == EX_INT;
  const Expr *of = e->arg[swapped], *by = e->arg[!swapped];
  bool number = by->kind == EX_INT && by->i >= 1 && by->i <= CLASSES_MOST;
  if (e->op == OP_MOD && number) return *a = (Among){0, by}, true;
  if (!among(c, of, a)) return false;
  if (e->op == OP_ADD && among(c, by, &b))
    a->count = expr_op2(p, OP_SUB, expr_op2(p, OP_ADD, a->count, b.count), integer(c, 1));
  else if (e->op == OP_SUB && by->kind == EX_INT && among(c, by, &b)) b.low = -b.low;
  else if (e->op == OP_MUL && number && mul_ok(a->low, by->i, &b.low))
    a->count = count_times(c, a->count, by), a->low = 0;
  else if (e->op == OP_IDIV && number && !a->low)
    a->count = expr_op2(p, OP_ADD, expr_op2(p, OP_IDIV, a->count, by), integer(c, 1)), b.low = 0;
  else return false;
  a->count = expr_normal(p, a->count);
  return add_ok(a->low, b.low, &a->low) && a->low <= INT32_MAX && a->low >= -INT32_MAX;
}

/* The same, with an extent that is not negative where labels have no points. */
static bool among_least(const Classes *c, const Expr *e, Among *a) {
  Exprs *p = c->b.old->exprs;
  if (!among(c, e, a)) return false;
  if (a->count->kind != EX_INT && e->kind == EX_OP && e->op != OP_CAST && e->op != OP_MOD)
    a->count = expr_op2(p, OP_MAX, a->count, integer(c, 0));
  return true;
}

/* The number of points plus that of results with a number. */
static const Expr *numbers_guess(const Classes *c, const Expr *e, const Expr *number) {
  Exprs *p = c->b.old->exprs;
  const Expr *made[2] = {integer(c, 1), integer(c, 1)};
  for (uint32_t k = 0; k < c->labels; k++)
    for (uint32_t i = 0; i < 2; i++)
      if ((i ? number : e)->labels >> k & 1) made[i] = expr_op2(p, OP_MUL, made[i], c->n->bound[k]);
  return expr_normal(p, expr_op2(p, OP_ADD, made[0], made[1]));
}

/* Takes a number of the points that equals one of the result's labels: e == number. */
static bool take_equal(Classes *c, const Expr *e, const Expr *number) {
  Exprs *p = c->b.old->exprs;
  if (!(e->labels & red_of(c)) || e->labels & out_of(c) || number->labels & red_of(c) || !(number->labels & out_of(c)))
    return false;
  if (e->kind == EX_LABEL || number->kind == EX_LABEL) return false; /* that is a place already */
  Among a, b;
  e = expr_cast(p, DT_I64, e), number = expr_cast(p, DT_I64, number);
  c->some = NULL;
  bool by_results = among_least(c, number, &a), by_points = among_least(c, e, &b);
  if (by_points && (!by_results || extent_guess(b.count) < extent_guess(a.count))) a = b, by_results = false;
  if (!by_results) {
    c->beyond = !by_points;
    if (c->beyond && !(e->has & HAS_READ)) return false;
    if (c->beyond) a = (Among){-1, numbers_guess(c, e, number)}; /* -1 often means that there is none */
    const Expr *end = expr_op2(p, OP_ADD, integer(c, a.low), a.count);
    c->some = expr_and(p, expr_op2(p, OP_LE, integer(c, a.low), number), expr_op2(p, OP_LT, number, end));
  }
  c->count = a.count;
  c->is = expr_op2(p, OP_EQ, expr_label(p, c->labels), a.low ? expr_op2(p, OP_ADD, e, integer(c, -a.low)) : e);
  c->at = a.low ? expr_op2(p, OP_ADD, number, integer(c, -a.low)) : number;
  return true;
}

/* e with 0 for each reduced label. */
static const Expr *at_zero(const Classes *c, const Expr *e) {
  const Expr *to[ORDER_LABELS] = {0};
  for (uint32_t k = c->n->sum->n_out; k < c->labels; k++) to[k] = integer(c, 0);
  return expr_relabel(c->b.old->exprs, e, c->labels, to);
}

/* A divisor that is a number, or a size: a remainder by 0 is 0, as is one by 1. NULL: it is something else. */
static const Expr *divisor(Classes *c, const Expr *by) {
  Exprs *p = c->b.old->exprs;
  if (by->kind == EX_INT) return by->i >= 1 && by->i <= CLASSES_MOST ? by : NULL;
  return by->kind == EX_DIM ? expr_op2(p, OP_MAX, by, integer(c, 1)) : NULL;
}

/* (points + more) % by == number: points % by is number - more, if the number is a remainder. */
static bool take_remainder(Classes *c, const Expr *q, const Expr *number) {
  Exprs *p = c->b.old->exprs;
  if (q->kind != EX_OP || q->op != OP_MOD || (q->has & HAS_READ) || number->labels & red_of(c)) return false;
  const Expr *by = divisor(c, q->arg[1]), *more = expr_normal(p, at_zero(c, q->arg[0])),
             *own = expr_normal(p, expr_op2(p, OP_SUB, q->arg[0], more));
  if (!by || !(own->labels & red_of(c)) || own->labels & out_of(c)) return false;
  if ((more->kind == EX_INT && (more->i > INT32_MAX || more->i < -INT32_MAX)) ||
      !((number->labels | more->labels) & out_of(c)))
    return false;
  c->is = expr_op2(p, OP_EQ, expr_label(p, c->labels), expr_op2(p, OP_MOD, own, by));
  c->count = by;
  c->at = expr_is_int(more, 0) ? number
                               : expr_op2(p, OP_MOD, expr_op2(p, OP_SUB, number, expr_op2(p, OP_MOD, more, by)), by);
  c->some = expr_and(p, expr_op2(p, OP_LE, integer(c, 0), number), expr_op2(p, OP_LT, number, by));
  return true;
}

/* Whether it changes with the labels in even steps, so that as a bound it is that of a running sum already. */
static bool is_straight(const Classes *c, const Expr *e) {
  int64_t slope;
  if (e->has & HAS_READ) return false;
  if (e->kind == EX_OP && (e->op == OP_MIN || e->op == OP_MAX))
    return is_straight(c, e->arg[0]) && is_straight(c, e->arg[1]);
  for (uint32_t k = 0; k < c->n->sum->n_out; k++)
    if (!expr_slope(e, k, &slope)) return false;
  return true;
}

/* `label op number`, where the number is data, or depends on labels in uneven steps. */
static bool take_bound(Classes *c, const Expr *label, Op op, const Expr *number) {
  Exprs *p = c->b.old->exprs;
  if (label->kind != EX_LABEL || !(label->labels & red_of(c)) || number->labels & red_of(c)) return false;
  if (is_straight(c, number) || !(number->labels & out_of(c))) return false;
  c->up_to = OP_EQ;
  bool from = op == OP_GE || op == OP_GT, next = op == OP_LE || op == OP_GT; /* it begins, or ends, after the number */
  const Expr *size = c->n->bound[label->i], *most = next ? expr_op2(p, OP_SUB, size, integer(c, 1)) : size;
  const Expr *in = expr_op2(p, OP_MIN, expr_op2(p, OP_MAX, number, integer(c, next ? -1 : 0)), most);
  c->at = next ? expr_op2(p, OP_ADD, in, integer(c, 1)) : in;
  c->is = expr_op2(p, from ? OP_GE : OP_LT, label, expr_label(p, c->labels));
  c->count = expr_normal(p, expr_op2(p, OP_ADD, size, integer(c, 1)));
  c->some = NULL;
  return true;
}

/* A value that is at least `low` and at most `high`. */
static const Expr *clamped(const Classes *c, const Expr *e, const Expr *low, const Expr *high) {
  Exprs *p = c->b.old->exprs;
  return expr_op2(p, OP_MIN, expr_op2(p, OP_MAX, e, low), high);
}

/* Takes `e op number`, where e is data of the points, and the numbers of the results, or else of the points, lie in an
 * interval. Of the results' numbers, all are classes, and points beyond go to the nearest one, or to none. Of the
 * points' numbers, there is a class before the first one, or after the last, for results that have none or all. */
static bool take_order(Classes *c, const Expr *e, Op op, const Expr *number) {
  Exprs *p = c->b.old->exprs;
  bool from = op == OP_GE || op == OP_GT, strict = op == OP_LT || op == OP_GT;
  Among a, b;
  if (!(e->has & HAS_READ) || !(e->labels & red_of(c)) || e->labels & out_of(c)) return false;
  if (number->labels & red_of(c) || !(number->labels & out_of(c))) return false;
  e = expr_cast(p, DT_I64, e), number = expr_cast(p, DT_I64, number);
  bool by_results = among_least(c, number, &a), by_points = among_least(c, e, &b);
  if (by_points && (!by_results || extent_guess(b.count) < extent_guess(a.count))) by_results = false;
  if (!by_results && !by_points) return false;
  int64_t low = by_results ? a.low + (strict ? from ? 1 : -1 : 0) : b.low - !from;
  c->count = by_results ? a.count : expr_normal(p, expr_op2(p, OP_ADD, b.count, integer(c, 1)));
  const Expr *base = integer(c, low), *most = expr_op2(p, OP_ADD, integer(c, low - 1), c->count), *at = number;
  if (by_results) {
    e = expr_op2(p, from ? OP_MIN : OP_MAX, e, from ? most : base);
    base = integer(c, a.low);
  } else {
    base = integer(c, b.low - (from == strict));
    at = clamped(c, number, base, expr_op2(p, OP_ADD, base, b.count));
  }
  c->at = expr_op2(p, OP_SUB, at, base);
  c->is = expr_op2(p, OP_EQ, expr_label(p, c->labels), expr_op2(p, OP_SUB, e, integer(c, low)));
  c->some = NULL;
  c->up_to = from ? OP_GE : OP_LE;
  return true;
}

static bool take(Classes *c, const Expr *e) {
  c->beyond = false;
  c->up_to = OP_EQ;
  if (e->kind != EX_OP || e->n != 2 || expr_can_fail(e)) return false;
  if (e->op == OP_EQ && dtype_is_int((DType)e->arg[0]->dtype) &&
      (take_equal(c, e->arg[0], e->arg[1]) || take_equal(c, e->arg[1], e->arg[0])))
    return true;
  c->beyond = false;
  if (!dtype_is_int((DType)e->arg[0]->dtype)) return false;
  bool ordered = e->op == OP_LT || e->op == OP_LE || e->op == OP_GT || e->op == OP_GE;
  if (ordered && !red_is_arg(c->n->sum) &&
      (take_order(c, e->arg[0], (Op)e->op, e->arg[1]) || take_order(c, e->arg[1], op_swapped((Op)e->op), e->arg[0])))
    return true;
  if (e->arg[0]->dtype != DT_I64) return false;
  if (e->op == OP_EQ) return take_remainder(c, e->arg[0], e->arg[1]) || take_remainder(c, e->arg[1], e->arg[0]);
  if (!ordered) return false;
  return take_bound(c, e->arg[0], (Op)e->op, e->arg[1]) || take_bound(c, e->arg[1], op_swapped((Op)e->op), e->arg[0]);
}

/* Sorts the other conjuncts. */
static void others_sort(Classes *c) {
  Exprs *p = c->b.old->exprs;
  c->inner = c->outer = NULL;
  for (uint32_t i = 0; i < c->n_part; i++) {
    if (i == c->which) continue;
    const Expr **to = c->part[i]->labels & red_of(c) ? &c->inner : &c->outer;
    *to = expr_and(p, *to, c->part[i]);
  }
  c->kept = (c->n->sum->body->labels | (c->inner ? c->inner->labels : 0)) & out_of(c);
}

/* Elements of the largest tensor that is read at the points, as far as e reads it. */
static double points_read(const Classes *c, const Expr *e) {
  double most = 0;
  ExprNodes nodes = expr_nodes(c->scratch, e, HAS_READ);
  for (const Expr *x; (x = expr_node(&nodes));) {
    if (x->kind != EX_READ || !(x->labels & red_of(c))) continue;
    double n = labels_points(c->n, x->labels);
    if (n > most) most = n;
  }
  return most;
}

/* Whether the new tensor is at most a few times as large as one that there is. */
static bool is_small(const Classes *c, double made, double all) {
  double body = points_read(c, c->n->sum->body), part = points_read(c, c->part[c->which]), least = made / (double)ROOM;
  return least <= all || least <= body || least <= part;
}

/* Whether the rewrite costs less, and its reads are in range. */
static bool pays(Classes *c) {
  double classes = extent_guess(c->count), kept = labels_points(c->n, c->kept), all = labels_points(c->n, out_of(c)),
         red = labels_points(c->n, red_of(c));
  double made = kept * classes * (c->up_to == OP_EQ ? 1 : 2);
  double cost = kept * red * (double)WALK + made * (double)(1 + STORE) + all * (double)STORE;
  if (cost * 2 > all * red || !is_small(c, kept * classes, all)) return false;
  if (c->outer && !expr_is_total(c->scratch, c->b.old->exprs, c->n, c->outer, NULL, &c->proofs)) return false;
  if (c->inner && !expr_is_total(c->scratch, c->b.old->exprs, c->n, c->inner, NULL, &c->proofs)) return false;
  return expr_is_total(c->scratch, c->b.old->exprs, c->n, c->n->sum->body, NULL, &c->proofs) &&
         expr_is_total(c->scratch, c->b.old->exprs, c->n, c->part[c->which], NULL, &c->proofs) &&
         expr_is_total(c->scratch, c->b.old->exprs, c->n, c->at, NULL, &c->proofs);
}

static bool classes_find(Classes *c) {
  for (c->which = 0; c->which < c->n_part; c->which++) {
    if (!take(c, c->part[c->which])) continue;
    others_sort(c);
    if (pays(c)) return true;
  }
  return false;
}

/* ---- the vertices ------------------------------------------------------------------------------ */

static EinNode **slots_of(const Classes *c, EinNode *more, EinNode *and_more) {
  EinNode **slot = NEW_ARRAY(c->b.arena, EinNode *, c->n->sum->n_slot + 2);
  for (uint32_t i = 0; i < c->n->sum->n_slot; i++) slot[i] = rebuild_to(&c->b, c->n->input[i]);
  slot[c->n->sum->n_slot] = more, slot[c->n->sum->n_slot + 1] = and_more;
  return slot;
}

/* A name that no label of the vertex has. */
static Str label_apart(const Classes *c, const char *name) {
  Strings *t = c->b.g->strings;
  Str made = strings_printf(t, "%s", name);
  for (uint32_t k = 0, n = 2; k < c->labels; k++)
    if (c->n->label[k] == made) made = strings_printf(t, "%s~%u", name, n++), k = UINT32_MAX;
  return made;
}

/* Makes a vertex that reduces by s, where `where` holds, over labels out[n_out].. and all reduced ones; there: for
 * which of its labels it has a value; NULL: for all. */
static EinNode *part_reduce(Classes *c, EinRegion *r, EinSum s, const Expr *where, uint32_t n_out, const uint32_t *out,
    EinNode *there, const char *name) {
  EinGraph *g = c->b.g;
  const Expr *to[ORDER_LABELS + 1] = {0}, *bound[ORDER_LABELS + 1], *own[ORDER_LABELS + 1];
  Str label[ORDER_LABELS + 1];
  uint32_t n = 0;
  for (uint32_t i = 0; i < n_out + s.n_red; i++, n++) {
    uint32_t l = i < n_out ? out[i] : s.n_out + i - n_out;
    to[l] = own[n] = expr_label(g->exprs, n);
    bound[n] = l < c->labels ? c->n->bound[l] : c->count;
    label[n] = l < c->labels ? c->n->label[l] : label_apart(c, "class");
  }
  s.body = expr_relabel(g->exprs, s.body, c->labels + 1, to);
  s.where = expr_relabel(g->exprs, where, c->labels + 1, to);
  s.domain = there ? expr_read(g->exprs, DT_BOOL, s.n_slot, n_out, own) : NULL;
  s.n_out = n_out;
  s.n_slot += there ? 1 : 0;
  EinNode *made = rebuild_part(&c->b, r, c->n, &s, bound, label, slots_of(c, there, NULL));
  if (c->n->name) made->name = strings_printf(g->strings, "%s.%s", c->n->name->s, name);
  return made;
}

/* Argmax and argmin have a value only where there are points. */
static EinNode *part_make(
    Classes *c, EinRegion *r, const Expr *where, uint32_t n_out, const uint32_t *out, const char *name) {
  EinSum s = *c->n->sum, any = s;
  if (!red_is_arg(&s)) {
    s.dtype = s.acc;
    return part_reduce(c, r, s, where, n_out, out, NULL, name);
  }
  any.reducer = RED_ANY;
  any.dtype = any.acc = DT_BOOL;
  any.body = expr_bool(c->b.g->exprs, true);
  EinNode *there = part_reduce(c, r, any, where, n_out, out, NULL, "is");
  return part_reduce(c, r, s, where, n_out, out, there, name);
}

/* The vertex itself, as a map. */
static EinNode *whole_make(Classes *c, EinRegion *r, const Expr *body, EinNode *a, EinNode *b) {
  EinSum s = *c->n->sum;
  if (red_is_arg(&s)) s.acc = s.dtype;
  s.body = body;
  s.where = NULL;
  s.monoid = NULL;
  s.reducer = RED_NONE;
  s.n_red = 0;
  s.n_slot += b ? 2 : 1;
  return rebuild_vertex(&c->b, r, c->n, &s, c->n->bound, c->n->label, slots_of(c, a, b));
}

/* The value without points: for argmax undefined, so any value will do. */
static const Expr *none_of(const Classes *c) {
  return red_is_arg(c->n->sum) ? integer(c, -1) : reducer_identity(c->b.g->exprs, c->n->sum);
}

/* From what each number has, what those up to each, or from each on, have together. out: the first is the new label. */
static EinNode *order_make(Classes *c, EinRegion *r, EinNode *of, uint32_t n_out, const uint32_t *out) {
  Exprs *p = c->b.g->exprs;
  const EinSum *own = c->n->sum;
  const Expr *bound[ORDER_LABELS + 2], *at[ORDER_LABELS + 2];
  Str label[ORDER_LABELS + 2];
  EinNode **slot = NEW(c->b.arena, EinNode *);
  *slot = of;
  for (uint32_t k = 0; k <= n_out; k++) {
    bool is_class = k == 0 || k == n_out;
    bound[k] = is_class ? c->count : c->n->bound[out[k]];
    label[k] = is_class ? label_apart(c, k ? "to" : "class") : c->n->label[out[k]];
    at[k] = expr_label(p, k ? k : n_out);
  }
  EinSum s = {.n_out = n_out, .n_red = 1, .n_slot = 1, .reducer = own->reducer, .dtype = own->acc, .acc = own->acc};
  s.body = expr_read(p, own->acc, 0, n_out, at);
  s.where = expr_op2(p, c->up_to, expr_label(p, n_out), expr_label(p, 0));
  return rebuild_part(&c->b, r, c->n, &s, bound, label, slot);
}

/* Makes the reduction for each value of the new label, and reads it at the one that the result needs. */
static const Expr *class_read(Classes *c, EinRegion *r, uint32_t slot, const char *name, EinNode **made) {
  Exprs *p = c->b.g->exprs;
  uint32_t out[ORDER_LABELS + 1] = {c->labels}, n = 1;
  const Expr *index[ORDER_LABELS + 1] = {c->at};
  for (uint32_t k = 0; k < c->n->sum->n_out; k++)
    if (c->kept >> k & 1) index[n] = expr_label(p, k), out[n++] = k;
  *made = part_make(c, r, expr_and(p, c->is, c->inner), n, out, name);
  if (c->up_to != OP_EQ) *made = order_make(c, r, *made, n, out);
  return expr_read(p, (*made)->dtype, slot, n, index);
}

/* The reduction where `where` holds too, at the result's labels. */
static const Expr *result_read(
    Classes *c, EinRegion *r, const Expr *where, uint32_t slot, const char *name, EinNode **made) {
  Exprs *p = c->b.g->exprs;
  uint32_t out[ORDER_LABELS], n = c->n->sum->n_out;
  const Expr *index[ORDER_LABELS];
  for (uint32_t k = 0; k < n; k++) out[k] = k, index[k] = expr_label(p, k);
  *made = part_make(c, r, where, n, out, name);
  return expr_read(p, (*made)->dtype, slot, n, index);
}

static EinNode *classes_make(Classes *c, EinRegion *r) {
  Exprs *p = c->b.g->exprs;
  uint32_t slot = c->n->sum->n_slot;
  EinNode *made, *others = NULL;
  const Expr *read = class_read(c, r, slot, "1", &made), *none = none_of(c);
  if (c->beyond)
    none = result_read(c, r, expr_and(p, expr_op1(p, OP_NOT, c->some), c->n->sum->where), slot + 1, "2", &others);
  if (c->some) read = expr_select(p, c->some, read, none);
  if (c->outer) read = expr_select(p, c->outer, read, none_of(c));
  return whole_make(c, r, read, made, others);
}

/* ---- all but one point --------------------------------------------------------------------------- */

/* A conjunct `label != e`, for a label with this many points, where e changes with the result's labels, and what is
 * reduced does not. */
static bool is_but_one(Classes *c, const Expr *label, const Expr *e) {
  if (label->kind != EX_LABEL || !(label->labels & red_of(c)) || e->labels & red_of(c)) return false;
  uint64_t along = e->labels & out_of(c);
  if (!along || along & c->kept || extent_guess(c->n->bound[label->i]) < (double)LEAST) return false;
  return is_straight(c, e) || (take_bound(c, label, OP_LT, e) && pays(c));
}

static bool but_one_find(Classes *c) {
  if (red_is_arg(c->n->sum)) return false;
  for (c->which = 0; c->which < c->n_part; c->which++) {
    const Expr *e = c->part[c->which];
    if (e->kind != EX_OP || e->op != OP_NE || e->arg[0]->dtype != DT_I64 || expr_can_fail(e)) continue;
    others_sort(c);
    if (is_but_one(c, e->arg[0], e->arg[1]) || is_but_one(c, e->arg[1], e->arg[0])) return true;
  }
  return false;
}

/* The points on one side of e. */
static const Expr *side_read(Classes *c, EinRegion *r, const Expr *e, bool behind, EinNode **made) {
  Exprs *p = c->b.g->exprs;
  uint32_t slot = c->n->sum->n_slot + behind;
  const char *name = behind ? "2" : "1";
  const Expr *side = expr_op2(p, behind ? OP_GT : OP_LT, e->arg[0], e->arg[1]);
  if (take(c, side)) return class_read(c, r, slot, name, made);
  return result_read(c, r, expr_and(p, expr_and(p, c->outer, side), c->inner), slot, name, made);
}

static EinNode *but_one_make(Classes *c, EinRegion *r) {
  Exprs *p = c->b.g->exprs;
  const Expr *e = c->part[c->which];
  EinNode *made[2];
  const Expr *a = side_read(c, r, e, false, &made[0]), *b = side_read(c, r, e, true, &made[1]);
  const Expr *all = expr_op2(p, (Op)reducer_info[c->n->sum->reducer].combine, a, b);
  if (c->outer) all = expr_select(p, c->outer, all, none_of(c));
  return whole_make(c, r, all, made[0], made[1]);
}

/* ---- the pass ------------------------------------------------------------------------------------ */

static bool may_have(const EinNode *n) {
  const EinSum *s = n->sum;
  if (!s->where || (s->domain && !red_is_arg(s)) || !s->n_red || !s->n_out || s->n_out + s->n_red + 1 >= ORDER_LABELS)
    return false;
  for (uint32_t k = 0; k < s->n_out + s->n_red; k++)
    if (expr_is_int(n->bound[k], 0)) return false;
  return reducer_info[s->reducer].combine != OPS || red_is_arg(s);
}

static EinNode *classed(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Classes *c = env;
  c->n = n;
  c->labels = n->sum->n_out + n->sum->n_red;
  if (!may_have(n) || !op_parts(c->scratch, n->sum->where, OP_AND, PARTS_MOST, c->part, &c->n_part))
    return rebuild_copy(b, r, n);
  if (classes_find(c)) {
    rebuild_note(b, "points reduced by a number of theirs", n->place);
    c->again |= c->up_to != OP_EQ && c->inner;
    return classes_make(c, r);
  }
  if (!but_one_find(c)) return rebuild_copy(b, r, n);
  rebuild_note(b, "all points but one", n->place);
  return but_one_make(c, r);
}

/* Of conditions on several numbers, `v[t] <= a and w[t] <= b`, each pass takes one. */
EinGraph *graph_classes(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = classed};
  EinGraph *made;
  uint32_t passes = 0;
  bool again;
  do {
    Classes c = {.b = {.arena = a, .old = g, .pass = "classes", .notes = notes}, .scratch = arena_new()};
    c.proofs = 1000 + 4 * (int64_t)g->n_nodes;
    g = made = rebuild_free(&c.b, a, g, &rules, &c, c.scratch);
    again = c.again && ++passes < PASSES_MOST;
  } while (again);
  return made;
}
