/* graph/grad/index.c - inverts an index map: from x, the place that is read, to the points that read it. An index
 * that is linear in a label is solved for the label, so that a convolution's adjoint is a sum over its window and no
 * search; digits ((h d) merged, or j // D and j % D) are all solved; what remains, mainly data, becomes a condition. */
#include "expr/prove/prove.h"
#include "inside.h"

enum { DIGITS = 16 };

typedef struct Inversion {
  Arena *a;
  Exprs *p;
  uint32_t n, n_label, n_out;
  const Expr *const *bound;
  const Expr **to;           /* label k: itself, numbered n + k, until it is solved */
  bool *known, *inside;
  const Expr *const *holds;  /* what holds at the vertex's points that count, over its labels; NULL: nothing */
  uint32_t n_holds;
  VEC(const Expr *) where;
} Inversion;

static const Expr *own(const Inversion *t, uint32_t k) { return expr_label(t->p, t->n + k); }

static const Expr *put(const Inversion *t, const Expr *e, uint32_t k, const Expr *value) {
  const Expr **to = NEW_ARRAY(t->a, const Expr *, t->n + t->n_label + 1);
  to[t->n + k] = value;
  return expr_relabel(t->p, e, t->n + t->n_label, to);
}

static void know(Inversion *t, uint32_t k, const Expr *value) {
  for (uint32_t j = 0; j < t->n_label; j++) t->to[j] = j == k ? value : put(t, t->to[j], k, value);
  for (uint32_t i = 0; i < t->where.len; i++) t->where.at[i] = put(t, t->where.at[i], k, value);
  t->known[k] = true;
}

static void demand(Inversion *t, Op op, const Expr *a, const Expr *b) {
  const Expr *c = expr_op2(t->p, op, a, b);
  if (!expr_is_int(c, 1)) vec_push(t->a, t->where, c);
}

static const Expr *normal(const Inversion *t, Op op, const Expr *a, const Expr *b) {
  return expr_normal(t->p, expr_op2(t->p, op, a, b));
}

/* ---- one label ----------------------------------------------------------------------------------------- */

/* e is c * label k + rest, with a constant c other than 0. */
static int64_t coefficient(const Inversion *t, const Expr *e, uint32_t k, const Expr **rest) {
  *rest = expr_normal(t->p, put(t, e, k, expr_int(t->p, DT_I64, 0)));
  const Expr *c = normal(t, OP_SUB, expr_normal(t->p, put(t, e, k, expr_int(t->p, DT_I64, 1))), *rest);
  if (c->kind != EX_INT || !c->i) return 0;
  return normal(t, OP_ADD, *rest, expr_op2(t->p, OP_MUL, c, own(t, k))) == expr_normal(t->p, e) ? c->i : 0;
}

static double weight(const Inversion *t, uint32_t k) {
  double points = t->bound[k]->kind == EX_INT ? (double)t->bound[k]->i : 1e6;
  return k < t->n_out ? points + 0.5 : points;
}

/* Solves for the label with the largest extent; the others are iterated. */
static bool invert_linear(Inversion *t, const Expr *e, const Expr *x) {
  const Expr *rest = NULL, *r;
  int64_t c = 0, one;
  uint32_t best = 0;
  for (uint32_t k = 0; k < t->n_label; k++) {
    if (t->known[k] || (c && weight(t, k) <= weight(t, best))) continue;
    if ((one = coefficient(t, e, k, &r))) c = one, best = k, rest = r;
  }
  if (!c || c == INT64_MIN) return false;
  const Expr *far = c > 0 ? normal(t, OP_SUB, x, rest) : normal(t, OP_SUB, rest, x),
             *by = expr_int(t->p, DT_I64, c > 0 ? c : -c);
  if (by->i != 1) demand(t, OP_EQ, expr_op2(t->p, OP_MOD, far, by), expr_int(t->p, DT_I64, 0));
  const Expr *value = by->i == 1 ? far : expr_op2(t->p, OP_IDIV, far, by);
  know(t, best, value);
  t->inside[best] = false;
  demand(t, OP_LE, expr_int(t->p, DT_I64, 0), value);
  demand(t, OP_LT, value, t->bound[best]);
  return true;
}

/* ---- digits -------------------------------------------------------------------------------------------- */

/* Lists the unsolved labels, from left to right; false: too many, or one in something that is no sum of products. */
static bool digits_find(const Inversion *t, const Expr *e, uint32_t *digit, uint32_t *n) {
  if (e->kind == EX_LABEL && e->i >= t->n) {
    if (*n == DIGITS) return false;
    digit[(*n)++] = (uint32_t)e->i - t->n;
    return true;
  }
  if (e->kind != EX_OP) return e->kind != EX_READ;
  if (e->op != OP_ADD && e->op != OP_MUL) return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (!digits_find(t, e->arg[k], digit, n)) return false;
  return true;
}

/* e is (h * D + d) * F + f and so on, each label below its extent. */
static bool invert_digits(Inversion *t, const Expr *e, const Expr *x, const Expr *dim) {
  uint32_t digit[DIGITS], n = 0;
  if (!digits_find(t, e, digit, &n) || n < 2) return false;
  const Expr *all = own(t, digit[0]), *count = t->bound[digit[0]];
  for (uint32_t i = 1; i < n; i++) {
    const Expr *by = t->bound[digit[i]];
    all = expr_op2(t->p, OP_ADD, expr_op2(t->p, OP_MUL, all, by), own(t, digit[i]));
    count = expr_op2(t->p, OP_MUL, count, by);
  }
  if (expr_normal(t->p, all) != expr_normal(t->p, e)) return false;
  if (expr_normal(t->p, count) != expr_normal(t->p, dim)) {
    demand(t, OP_LT, x, count);
    t->inside[digit[0]] = false;
  }
  for (uint32_t i = n; i-- > 1;) {
    know(t, digit[i], expr_op2(t->p, OP_MOD, x, t->bound[digit[i]]));
    x = expr_op2(t->p, OP_IDIV, x, t->bound[digit[i]]);
  }
  know(t, digit[0], x);
  return true;
}

/* ---- everything together -------------------------------------------------------------------------------- */

static void invert_labels(Inversion *t, const Expr *const *index, const Expr *const *dim) {
  for (uint32_t d = 0; d < t->n; d++) {
    uint32_t k = (uint32_t)index[d]->i;
    if (index[d]->kind != EX_LABEL || t->known[k]) continue;
    know(t, k, expr_label(t->p, d));
    t->inside[k] = t->bound[k] == dim[d];
    if (!t->inside[k]) demand(t, OP_LT, expr_label(t->p, d), t->bound[k]);
  }
}

/* Whether the condition says that a % c is 0, a being in normal form. */
static bool says_multiple(const Inversion *t, const Expr *cond, const Expr *a, const Expr *c) {
  for (const Expr *last; cond; cond = cond == last ? NULL : cond->arg[0]) {
    last = is_op(cond, OP_AND) ? cond->arg[1] : cond;
    if (!is_op(last, OP_EQ) || !expr_is_int(last->arg[1], 0) || !is_op(last->arg[0], OP_MOD)) continue;
    if (last->arg[0]->arg[1] != c) continue;
    if (expr_normal(t->p, expr_relabel(t->p, last->arg[0]->arg[0], t->n_label, t->to)) == a) return true;
  }
  return false;
}

/* e is a // c where a is a multiple of c, as in a transposed convolution: then a is c * x. */
static bool invert_multiple(Inversion *t, const Expr *e, const Expr *x) {
  if (!is_op(e, OP_IDIV) || e->arg[1]->kind != EX_INT || e->arg[1]->i < 1) return false;
  const Expr *a = expr_normal(t->p, e->arg[0]), *c = e->arg[1];
  for (uint32_t k = 0; k < t->n_holds; k++)
    if (says_multiple(t, t->holds[k], a, c)) return invert_linear(t, a, normal(t, OP_MUL, c, x));
  return false;
}

/* Indices d and o are a // c and a % c, as in F[j // D, j % D]: then a is c * x + y. */
static bool invert_pair(Inversion *t, const Expr *const *index, const Expr *const *dim, uint32_t d, uint32_t o) {
  const Expr *high = index[d], *low = index[o], *x = expr_label(t->p, d), *y = expr_label(t->p, o);
  if (!is_op(high, OP_IDIV) || !is_op(low, OP_MOD) || high->arg[0] != low->arg[0] || high->arg[1] != low->arg[1])
    return false;
  const Expr *c = high->arg[1], *a = expr_normal(t->p, expr_relabel(t->p, high->arg[0], t->n_label, t->to));
  if (!(c->kind == EX_INT ? c->i > 0 : c == dim[o])) return false;
  if (!invert_linear(t, a, normal(t, OP_ADD, expr_op2(t->p, OP_MUL, c, x), y))) return false;
  if (c != dim[o]) demand(t, OP_LT, y, c);
  return true;
}

static void invert_pairs(Inversion *t, const Expr *const *index, const Expr *const *dim, bool *done) {
  for (uint32_t d = 0; d < t->n; d++)
    for (uint32_t o = 0; o < t->n; o++)
      if (!done[d] && !done[o] && invert_pair(t, index, dim, d, o)) done[d] = done[o] = true;
}

static void invert_rest(Inversion *t, const Expr *const *index, const Expr *const *dim) {
  bool *done = NEW_ARRAY(t->a, bool, t->n + 1);
  invert_pairs(t, index, dim, done);
  for (uint32_t d = 0; d < t->n; d++) {
    const Expr *x = expr_label(t->p, d), *e = expr_relabel(t->p, index[d], t->n_label, t->to);
    if (done[d] || e == x || invert_digits(t, e, x, dim[d]) || invert_multiple(t, e, x)) continue;
    const Expr *plain = expr_normal(t->p, e);
    if (!invert_linear(t, plain, x)) demand(t, OP_EQ, plain, x);
  }
}

Inverse index_inverse(
    Arena *a, Exprs *p, uint32_t n, const Expr *const *index, const Expr *const *dim, uint32_t n_label, uint32_t n_out,
    const Expr *const *bound, const Expr *const *holds, uint32_t n_holds) {
  Inversion t = {.a = a, .p = p, .n = n, .n_label = n_label, .n_out = n_out, .bound = bound, .holds = holds,
      .n_holds = n_holds,
      .to = NEW_ARRAY(a, const Expr *, n_label + 1), .known = NEW_ARRAY(a, bool, n_label + 1),
      .inside = NEW_ARRAY(a, bool, n_label + 1)};
  for (uint32_t k = 0; k < n_label; k++) t.to[k] = own(&t, k), t.inside[k] = true;
  invert_labels(&t, index, dim);
  invert_rest(&t, index, dim);
  Inverse r = {.to = t.to, .inside = t.inside, .left = NEW_ARRAY(a, uint32_t, n_label + 1)};
  const Expr **again = NEW_ARRAY(a, const Expr *, n + n_label + 1);
  for (uint32_t k = 0; k < n_label; k++) {
    if (t.known[k]) continue;
    again[n + k] = expr_label(p, n + r.n_left);
    r.left[r.n_left++] = k;
  }
  for (uint32_t k = 0; k < n_label; k++) r.to[k] = expr_relabel(p, r.to[k], n + n_label, again);
  for (uint32_t i = 0; i < t.where.len; i++) {
    const Expr *c = expr_relabel(p, t.where.at[i], n + n_label, again), **to = c->has & HAS_READ ? &r.match : &r.where;
    *to = expr_and(p, *to, c);
  }
  return r;
}
