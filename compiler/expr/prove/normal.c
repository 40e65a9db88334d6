/* expr/prove/normal.c - the normal form of integer polynomials.
 *
 * In: any expression. Out: the same with each i64 part written as a sum of c*m in a fixed order, m a product of
 * atoms in a fixed order; atoms are dims, labels, turns, reads and whatever else is not a polynomial, with
 * normalised arguments. So equal polynomials are one pointer. Results are cached in the pool, by id.
 *
 * The text of a normal form: terms joined by + and -, a positive one first, a constant last; a term is m or c*m; m
 * is a left-deep product. A product that would be too large is an atom. */
#include <stdlib.h>
#include <string.h>

#include "expr/expr.h"
#include "expr/pool.h"
#include "prove.h"

enum {
  MOST_TERMS = 256,
  MOST_TREE = 8192,
  MOST_POWER = 8,
  PRODUCT_FUEL = 100000,
  UNFIT_MOST = 1 << 22,
  UNFIT_SUM = 256
};

/* ---- atoms and monomials --------------------------------------------------------------------- */

static int atom_rank(const Expr *e) {
  static const int rank[] = {[EX_INT] = 6, [EX_REAL] = 7, [EX_DIM] = 2,  [EX_LABEL] = 0,
                             [EX_TURN] = 1, [EX_PARAM] = 3, [EX_READ] = 4, [EX_OP] = 5};
  return rank[e->kind];
}

/* Labels, turns and dims by kind; others by age. */
enum { ORDER_DEPTH = 24 };

/* By structure, so that the order is the same in every pool; below this depth, which nobody writes, by age. */
static int atom_order_at(const Expr *a, const Expr *b, int depth) {
  if (a == b) return 0;
  int ra = atom_rank(a), rb = atom_rank(b);
  if (ra != rb) return ra < rb ? -1 : 1;
  if (a->kind == EX_DIM) {
    size_t n = a->name->len < b->name->len ? a->name->len : b->name->len;
    int c = memcmp(a->name->s, b->name->s, n);
    return c ? c : a->name->len < b->name->len ? -1 : 1;
  }
  if (a->kind <= EX_TURN) return a->i < b->i ? -1 : 1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->kind == EX_OP && a->op != b->op) return a->op < b->op ? -1 : 1;
  if (a->kind != EX_OP && a->i != b->i) return a->i < b->i ? -1 : 1;
  if (a->n != b->n || a->dtype != b->dtype) return a->n * 16u + a->dtype < b->n * 16u + b->dtype ? -1 : 1;
  for (uint32_t k = 0; k < a->n && depth < ORDER_DEPTH; k++)
    if (a->arg[k] != b->arg[k]) return atom_order_at(a->arg[k], b->arg[k], depth + 1);
  return a->id < b->id ? -1 : 1;
}

static int atom_order(const Expr *a, const Expr *b) { return atom_order_at(a, b, 0); }

uint32_t monomial_atoms(const Expr *m, const Expr **atom) {
  uint32_t n = 0;
  for (const Expr *e = m;; e = e->arg[0]) {
    if (n == MOST_DEGREE) return 0;
    if (!is_i64_op(e, OP_MUL)) {
      atom[n++] = e;
      break;
    }
    atom[n++] = e->arg[1];
  }
  for (uint32_t i = 0; i < n / 2; i++) {
    const Expr *x = atom[i];
    atom[i] = atom[n - 1 - i];
    atom[n - 1 - i] = x;
  }
  return n;
}

const Expr *monomial_product(Exprs *p, const Expr *a, const Expr *b, bool *ok) {
  *ok = true;
  if (!a || !b) return a ? a : b;
  const Expr *x[MOST_DEGREE], *y[MOST_DEGREE], *m = NULL;
  uint32_t n = monomial_atoms(a, x), k = monomial_atoms(b, y);
  if (!n || !k || n + k > MOST_DEGREE) return *ok = false, NULL;
  for (uint32_t i = 0, j = 0; i < n || j < k;) {
    const Expr *next = j == k || (i < n && atom_order(x[i], y[j]) <= 0) ? x[i++] : y[j++];
    m = m ? expr_op2(p, OP_MUL, m, next) : next;
  }
  return m;
}

/* Higher degree first, then by atoms; 1 comes last. */
static int monomial_order(const Expr *a, const Expr *b) {
  if (a == b) return 0;
  if (!a || !b) return a ? -1 : 1;
  if (!is_i64_op(a, OP_MUL) && !is_i64_op(b, OP_MUL)) return atom_order(a, b);
  const Expr *x[MOST_DEGREE], *y[MOST_DEGREE];
  uint32_t n = monomial_atoms(a, x), k = monomial_atoms(b, y);
  if (n != k) return n == 0 ? -1 : k == 0 ? 1 : n > k ? -1 : 1;
  for (uint32_t i = 0; i < n; i++)
    if (x[i] != y[i]) return atom_order(x[i], y[i]);
  return a->id < b->id ? -1 : 1;
}

static int term_order(const void *a, const void *b) {
  return monomial_order(((const Term *)a)->m, ((const Term *)b)->m);
}

/* ---- polynomials ----------------------------------------------------------------------------- */

static Term term_of(const Expr *e) {
  if (e->kind == EX_INT) return (Term){e->i, NULL};
  if (is_i64_op(e, OP_MUL) && e->arg[0]->kind == EX_INT) return (Term){e->arg[0]->i, e->arg[1]};
  return (Term){1, e};
}

/* In a normal form the term after a '-' has a positive coefficient, so that the negation never wraps. */
Term term_next(const Expr **rest) {
  const Expr *e = *rest;
  bool add = is_i64_op(e, OP_ADD), sub = is_i64_op(e, OP_SUB);
  *rest = add || sub ? e->arg[0] : NULL;
  Term t = term_of(add || sub ? e->arg[1] : e);
  if (sub) t.c = (int64_t)(0 - (uint64_t)t.c);
  return t;
}

static void terms_read(Exprs *p, Terms *t, const Expr *normal) {
  t->len = 0;
  for (const Expr *rest = normal; rest;) {
    Term next = term_next(&rest);
    vec_push(p->arena, *t, next);
  }
}

/* Sorts and joins like terms; false if a coefficient overflows. */
static bool terms_join(Terms *t) {
  if (t->len > 1) qsort(t->at, t->len, sizeof t->at[0], term_order);
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->len;) {
    Term x = t->at[i++];
    for (; i < t->len && t->at[i].m == x.m; i++)
      if (!add_ok(x.c, t->at[i].c, &x.c)) return false;
    if (x.c) t->at[n++] = x;
  }
  t->len = n;
  return true;
}

static const Expr *term_expr(Exprs *p, int64_t c, const Expr *m) {
  const Expr *k = expr_int(p, DT_I64, c);
  return !m ? k : expr_op2(p, OP_MUL, k, m);
}

/* The normal form of joined terms. */
static const Expr *terms_expr(Exprs *p, const Terms *t) {
  if (t->len == 0) return expr_int(p, DT_I64, 0);
  uint32_t lead = 0;
  while (lead < t->len && (t->at[lead].c < 0 || !t->at[lead].m)) lead++;
  if (lead == t->len) lead = 0;
  const Expr *e = term_expr(p, t->at[lead].c, t->at[lead].m);
  for (uint32_t i = 0; i < t->len; i++) {
    Term x = t->at[i];
    if (i == lead) continue;
    bool sub = x.c < 0 && x.c != INT64_MIN;
    e = expr_op2(p, sub ? OP_SUB : OP_ADD, e, term_expr(p, sub ? -x.c : x.c, x.m));
  }
  return e;
}

/* ---- sums: a region of + - and products with a literal -------------------------------------- */

static bool in_region(const Expr *e) {
  if (e->kind != EX_OP || e->dtype != DT_I64) return false;
  if (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_NEG) return true;
  return e->op == OP_MUL && (e->arg[0]->kind == EX_INT || e->arg[1]->kind == EX_INT);
}

static const Expr *normal_find(const Exprs *p, const Expr *e) {
  return e->id < p->n_normal ? p->normal[e->id] : NULL;
}

static void normal_put(Exprs *p, const Expr *e, const Expr *to) {
  if (e->id >= p->n_normal) {
    uint32_t n = p->len + p->len / 2 + 64;
    const Expr **at = NEW_ARRAY(p->arena, const Expr *, n);
    if (p->n_normal) memcpy(at, p->normal, p->n_normal * sizeof at[0]);
    p->normal = at;
    p->n_normal = n;
  }
  p->normal[e->id] = to;
}

static int later_first(const void *a, const void *b) {
  uint32_t x = (*(const Expr *const *)a)->id, y = (*(const Expr *const *)b)->id;
  return (x < y) - (x > y);
}

/* Collects in p->region e and all below it down to the first expression outside a region, latest first: each before
 * its arguments. Leaves it empty where the region is large and many before it did not fit: each expression that
 * contains such a sum would search it again. */
static void region_collect(Exprs *p, const Expr *e) {
  Walk *w = walk_take(p);
  p->region.len = 0;
  vec_push(p->arena, w->stack, e);
  while (w->stack.len) {
    const Expr *x = vec_pop(w->stack);
    if (walk_find(w, x)) continue;
    walk_put(p, w, x, x);
    vec_push(p->arena, p->region, x);
    if (p->unfit > UNFIT_MOST && p->region.len > UNFIT_SUM) {
      p->region.len = 0;
      w->stack.len = 0;
      break;
    }
    for (uint32_t i = 0; in_region(x) && i < x->n; i++) vec_push(p->arena, w->stack, x->arg[i]);
  }
  walk_give(p, w);
  qsort(p->region.at, p->region.len, sizeof p->region.at[0], later_first);
}

/* Adds c to the weight of x, which comes after `from` in the region. */
static bool weigh(Exprs *p, uint32_t from, const Expr *x, int64_t c) {
  uint32_t lo = from, hi = p->region.len;
  while (hi - lo > 1) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (p->region.at[mid]->id >= x->id)
      lo = mid;
    else
      hi = mid;
  }
  return add_ok(p->weight.at[lo], c, &p->weight.at[lo]);
}

static bool weigh_args(Exprs *p, uint32_t at) {
  const Expr *x = p->region.at[at];
  int64_t c = p->weight.at[at], minus;
  switch (x->op) {
  case OP_ADD: return weigh(p, at, x->arg[0], c) && weigh(p, at, x->arg[1], c);
  case OP_SUB: return sub_ok(0, c, &minus) && weigh(p, at, x->arg[0], c) && weigh(p, at, x->arg[1], minus);
  case OP_NEG: return sub_ok(0, c, &minus) && weigh(p, at, x->arg[0], minus);
  default: {
    uint32_t k = x->arg[0]->kind == EX_INT ? 0 : 1;
    return mul_ok(c, x->arg[k]->i, &c) && weigh(p, at, x->arg[1 - k], c);
  }
  }
}

static bool terms_add(Exprs *p, Terms *t, int64_t c, const Expr *normal) {
  for (const Expr *rest = normal; rest && c;) {
    Term x = term_next(&rest);
    if (!mul_ok(x.c, c, &x.c)) return false;
    vec_push(p->arena, *t, x);
  }
  return true;
}

/* A node's weight in the whole is known once all nodes above it are done; so shared parts cost nothing. */
static bool region_sum(Exprs *p) {
  p->weight.len = p->sum.len = 0;
  for (uint32_t i = 0; i < p->region.len; i++) vec_push(p->arena, p->weight, i == 0);
  for (uint32_t i = 0; i < p->region.len; i++) {
    const Expr *x = p->region.at[i];
    if (in_region(x) ? !weigh_args(p, i) : !terms_add(p, &p->sum, p->weight.at[i], normal_find(p, x))) return false;
  }
  return terms_join(&p->sum);
}

static const Expr *sum_normal(Exprs *p, const Expr *e) {
  if (!p->region.len) return e;
  if (region_sum(p)) return terms_expr(p, &p->sum);
  p->unfit += p->region.len;
  return e;
}

/* ---- products, quotients --------------------------------------------------------------------- */

/* Adds the size of e as a printed tree, up to `most`. */
static void tree_measure(const Expr *e, uint32_t most, uint32_t *size) {
  if (++*size >= most) return;
  for (uint32_t k = 0; k < e->n && *size < most; k++) tree_measure(e->arg[k], most, size);
}

/* Whether a factor is large itself, and would be repeated in each term of the other. */
static bool is_large_product(const Terms *a, const Terms *b) {
  uint32_t size = 0;
  for (uint32_t i = 0; i < a->len; i++)
    for (uint32_t j = 0; j < b->len && size < MOST_TREE; j++) {
      if (a->at[i].m) tree_measure(a->at[i].m, MOST_TREE, &size);
      if (b->at[j].m) tree_measure(b->at[j].m, MOST_TREE, &size);
    }
  return size >= MOST_TREE;
}

/* NULL where it is too large; both are in normal form. */
static const Expr *product_normal(Exprs *p, const Expr *a, const Expr *b) {
  terms_read(p, &p->a, a);
  terms_read(p, &p->b, b);
  if ((uint64_t)p->a.len * p->b.len > MOST_TERMS || p->fuel < 0 || is_large_product(&p->a, &p->b)) return NULL;
  p->fuel -= (int64_t)p->a.len * p->b.len;
  p->sum.len = 0;
  for (uint32_t i = 0; i < p->a.len; i++)
    for (uint32_t j = 0; j < p->b.len; j++) {
      bool ok;
      Term t = {.m = monomial_product(p, p->a.at[i].m, p->b.at[j].m, &ok)};
      if (!ok || !mul_ok(p->a.at[i].c, p->b.at[j].c, &t.c)) return NULL;
      vec_push(p->arena, p->sum, t);
    }
  return terms_join(&p->sum) ? terms_expr(p, &p->sum) : NULL;
}

static const Expr *power_normal(Exprs *p, const Expr *a, int64_t n) {
  const Expr *r = expr_int(p, DT_I64, 1);
  for (int64_t i = 0; i < n && r; i++) r = product_normal(p, r, a);
  return r;
}

/* With a = c*q + r by terms, r's coefficients in [0, c): a//c is q + r//c and a%c is r%c. Only for indices, which do
 * not wrap; data might. */
static const Expr *quotient_normal(Exprs *p, const Expr *e, const Expr *a) {
  int64_t c = e->arg[1]->i;
  terms_read(p, &p->a, a);
  p->sum.len = p->b.len = 0;
  for (uint32_t i = p->a.len; i-- > 0;) {
    Term t = p->a.at[i], q = {floor_div(t.c, c), t.m};
    t.c = floor_mod(t.c, c);
    if (q.c) vec_push(p->arena, p->sum, q);
    if (t.c) vec_push(p->arena, p->b, t);
  }
  bool ok = terms_join(&p->b);
  BUG_UNLESS(ok);
  const Expr *r = expr_op2(p, (Op)e->op, terms_expr(p, &p->b), e->arg[1]);
  if (p->b.len == 1 && !p->b.at[0].m) r = expr_int(p, DT_I64, e->op == OP_MOD ? p->b.at[0].c : 0);
  normal_put(p, r, r);
  if (e->op == OP_MOD) return r;
  return terms_add(p, &p->sum, 1, r) && terms_join(&p->sum) ? terms_expr(p, &p->sum) : e;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const Expr *with_normal_args(Exprs *p, const Expr *e) {
  const Expr *few[8], **arg = e->n <= COUNT(few) ? few : NEW_ARRAY(p->arena, const Expr *, e->n);
  for (uint32_t i = 0; i < e->n; i++) arg[i] = normal_find(p, e->arg[i]);
  return expr_with(p, e, arg);
}

/* All of e's arguments are in normal form. */
static const Expr *op_normal(Exprs *p, const Expr *e) {
  const Expr *r = NULL, *a = normal_find(p, e->arg[0]);
  bool i64 = e->kind == EX_OP && e->dtype == DT_I64, by = i64 && e->n == 2 && e->arg[1]->kind == EX_INT;
  int64_t c = by ? e->arg[1]->i : 0;
  if (i64 && e->op == OP_MUL) r = product_normal(p, a, normal_find(p, e->arg[1]));
  if (by && e->op == OP_POW && c >= 0 && c <= MOST_POWER) r = power_normal(p, a, c);
  if (by && (e->op == OP_IDIV || e->op == OP_MOD) && c > 0 && !(e->has & (HAS_READ | HAS_PARAM)))
    r = quotient_normal(p, e, a);
  return r ? r : with_normal_args(p, e);
}

/* Pushes what must be in normal form before e can be; false if nothing. */
static bool push_missing(Exprs *p, Walk *w, const Expr *e) {
  uint32_t before = w->stack.len;
  if (in_region(e)) {
    region_collect(p, e);
    vec_each_of(const Expr, x, p->region)
      if (!in_region(x) && !normal_find(p, x)) vec_push(p->arena, w->stack, x);
  } else {
    for (uint32_t i = e->n; i-- > 0;)
      if (!normal_find(p, e->arg[i])) vec_push(p->arena, w->stack, e->arg[i]);
  }
  return w->stack.len > before;
}

const Expr *expr_normal(Exprs *p, const Expr *e) {
  const Expr *known = normal_find(p, e);
  if (known || e->n == 0) return known ? known : e;
  Walk *w = walk_take(p);
  p->fuel = PRODUCT_FUEL;
  vec_push(p->arena, w->stack, e);
  while (w->stack.len) {
    const Expr *x = vec_last(w->stack), *r = x;
    if (x->n && !normal_find(p, x)) {
      if (push_missing(p, w, x)) continue;
      r = in_region(x) ? sum_normal(p, x) : op_normal(p, x);
    }
    if (!normal_find(p, x)) normal_put(p, x, r);
    if (!normal_find(p, r)) normal_put(p, r, r);
    w->stack.len--;
  }
  walk_give(p, w);
  return normal_find(p, e);
}

/* ---- division -------------------------------------------------------------------------------- */

/* m without the factors of d (both monomials, d not 1); false if it lacks one. */
static bool monomial_divide(Exprs *p, const Expr *m, const Expr *d, const Expr **out) {
  const Expr *x[MOST_DEGREE], *y[MOST_DEGREE];
  uint32_t n = m ? monomial_atoms(m, x) : 0, k = monomial_atoms(d, y), j = 0;
  *out = NULL;
  for (uint32_t i = 0; i < n; i++) {
    if (j < k && x[i] == y[j]) {
      j++;
      continue;
    }
    *out = *out ? expr_op2(p, OP_MUL, *out, x[i]) : x[i];
  }
  return k && j == k;
}

const Expr *expr_divide(Exprs *p, const Expr *e, const Expr *d) {
  const Expr *rest = expr_normal(p, d);
  e = expr_normal(p, e);
  if (expr_is_int(rest, 0)) return NULL;
  if (e == rest) return expr_int(p, DT_I64, 1);
  Term by = term_next(&rest);
  if (rest) return NULL;
  Terms t = {0};
  terms_read(p, &p->a, e);
  for (uint32_t i = p->a.len; i-- > 0;) {
    Term x = p->a.at[i], q = {.m = x.m};
    if (floor_mod(x.c, by.c) != 0 || (by.m && x.c && !monomial_divide(p, x.m, by.m, &q.m))) return NULL;
    if (x.c == INT64_MIN && by.c == -1) return NULL;
    q.c = x.c / by.c;
    vec_push(p->arena, t, q);
  }
  return terms_join(&t) ? terms_expr(p, &t) : NULL;
}

const Expr *expr_solve(Exprs *p, const Expr *a, const Expr *b, uint32_t label, uint32_t n) {
  const Expr *form = expr_normal(p, expr_op2(p, OP_SUB, a, b)), **to = NEW_ARRAY(exprs_arena(p), const Expr *, n + 1);
  const Expr *own = expr_label(p, label);
  if (form->has & HAS_READ || !(form->has & HAS_LABEL)) return NULL;
  for (uint32_t l = 0; l < n; l++) to[l] = l == label ? expr_int(p, DT_I64, 0) : expr_label(p, l);
  const Expr *rest = expr_normal(p, expr_relabel(p, form, n, to)),
             *part = expr_normal(p, expr_op2(p, OP_SUB, form, rest));
  if (part == own) return expr_normal(p, expr_op1(p, OP_NEG, rest));
  return part == expr_normal(p, expr_op1(p, OP_NEG, own)) ? rest : NULL;
}
