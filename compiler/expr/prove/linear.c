/* expr/prove/linear.c - turns inequalities between i64 expressions into rows over monomials. Each monomial of a
 * normal form is a variable. Then adds what is known of each variable: ranges of labels and turns, dims >= 0, e =
 * c*q + r for // and % by a constant, and for a product of such variables the products of their bounds (i < H times
 * D >= 0 gives i*D <= H*D - D). */
#include "proof.h"

#include "expr/pool.h"

enum { SIGN_FUEL = 4000 }; /* atoms whose sign is examined, at most */

/* x // c or x % c with a literal c > 0. */
static bool by_literal(const Expr *e) {
  return (is_i64_op(e, OP_IDIV) || is_i64_op(e, OP_MOD)) && e->arg[1]->kind == EX_INT && e->arg[1]->i > 0;
}

void linear_new(Linear *l, Exprs *p, const Facts *facts) {
  l->p = p;
  l->facts = facts;
  l->n = 0;
  l->partial = false;
  l->fuel = SIGN_FUEL;
  fm_new(&l->fm, 0);
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct Build { /* a row under construction: its variables may be new */
  Linear *l;
  bool ok;
  FmRow r;
} Build;

static Build build_new(Linear *l, uint32_t tag, int64_t k) {
  Build b = {.l = l, .ok = true, .r = {.k = k, .tag = tag}};
  return b;
}

/* A new variable is in no row so far. */
static bool var_get(Linear *l, const Expr *m, uint32_t *v) {
  for (*v = 0; *v < l->n; (*v)++)
    if (l->var[*v] == m) return true;
  if (l->n == FM_VARS) return false;
  for (uint32_t i = 0; i < l->fm.n; i++) l->fm.row[i].c[l->n] = 0;
  l->var[l->n++] = m;
  l->fm.n_var = l->n;
  return true;
}

static void build_var(Build *b, int64_t c, const Expr *m) {
  uint32_t v;
  b->ok = b->ok && (m ? var_get(b->l, m, &v) && add_ok(b->r.c[v], c, &b->r.c[v]) : add_ok(b->r.k, c, &b->r.k));
}

enum { MOST_NESTED = 32 }; /* remainders in remainders */

/* Adds c*e, where e is in normal form; x % c is written as x - c*(x // c), as is every remainder in x. */
static void build_nested(Build *b, int64_t c, const Expr *normal, int depth) {
  Exprs *p = b->l->p;
  for (const Expr *rest = normal; rest && b->ok;) {
    Term t = term_next(&rest);
    int64_t minus;
    if (!mul_ok(t.c, c, &t.c)) b->ok = false;
    if (!b->ok || !t.m || !by_literal(t.m) || !is_i64_op(t.m, OP_MOD)) {
      build_var(b, t.c, t.m);
      continue;
    }
    const Expr *x = t.m->arg[0], *q = expr_normal(p, expr_op2(p, OP_IDIV, x, t.m->arg[1]));
    b->ok = mul_ok(t.c, -t.m->arg[1]->i, &minus) && depth < MOST_NESTED;
    build_nested(b, t.c, x, depth + 1);
    build_nested(b, minus, q, depth + 1);
  }
}

static void build_add(Build *b, int64_t c, const Expr *normal) {
  build_nested(b, c, normal, 0);
}

static void build_end(Build *b) {
  Linear *l = b->l;
  if (!b->ok) {
    l->partial = true;
    return;
  }
  fm_add(&l->fm, &b->r);
}

void linear_ineq(Linear *l, const Ineq *q) {
  int64_t k;
  Build b = build_new(l, q->tag, 0);
  b.ok = sub_ok(0, q->k, &k);
  b.r.k = k;
  build_add(&b, 1, expr_normal(l->p, q->b));
  build_add(&b, -1, expr_normal(l->p, q->a));
  build_end(&b);
}

/* c*e + d*m + k >= 0 */
static void know(Linear *l, uint32_t tag, int64_t c, const Expr *e, int64_t d, const Expr *m, int64_t k) {
  Build b = build_new(l, tag, k);
  if (e) build_add(&b, c, e);
  if (m) build_var(&b, d, m);
  build_end(&b);
}

/* ---- what is known of a variable ------------------------------------------------------------- */

static const Expr *extent_of(const Linear *l, const Expr *e) {
  const Facts *f = l->facts;
  uint64_t k = (uint64_t)e->i;
  if (e->kind == EX_LABEL && k < f->n_label && f->label[k]) return expr_normal(l->p, f->label[k]);
  if (e->kind == EX_TURN && k < f->n_turn && f->turn[k]) return expr_normal(l->p, f->turn[k]);
  return NULL;
}

static bool atom_least_zero(Linear *l, const Expr *e, int depth);

static bool sum_least_zero(Linear *l, const Expr *e, int depth) {
  for (const Expr *rest = e; rest;) {
    Term t = term_next(&rest);
    const Expr *atom[MOST_DEGREE];
    uint32_t n = t.m ? monomial_atoms(t.m, atom) : 0;
    if (t.c < 0 || (t.m && !n)) return false;
    for (uint32_t i = 0; i < n; i++)
      if (!atom_least_zero(l, atom[i], depth)) return false;
  }
  return true;
}

/* Whether it is provably >= 0 wherever the facts hold. */
static bool atom_least_zero(Linear *l, const Expr *e, int depth) {
  if (e->kind == EX_DIM || e->kind == EX_TURN) return true;
  if (e->kind == EX_LABEL) return extent_of(l, e) != NULL;
  if (e->kind != EX_OP || e->dtype != DT_I64 || depth > 8 || --l->fuel < 0) return false;
  if (e->op == OP_MOD && expr_is_dims(e->arg[1])) return sum_least_zero(l, e->arg[1], depth + 1);
  if (e->op == OP_IDIV) return sum_least_zero(l, e->arg[0], depth + 1) && sum_least_zero(l, e->arg[1], depth + 1);
  return false;
}

/* Some label's extent is a multiple of d, so d is not 0 where that label has a value. */
static bool surely_positive(Linear *l, const Expr *d) {
  const Facts *f = l->facts;
  if (!expr_is_dims(d) || !sum_least_zero(l, d, 0)) return false;
  for (uint32_t k = 0; k < f->n_label; k++)
    if (f->label[k] && expr_divide(l->p, f->label[k], d)) return true;
  return false;
}

/* The extent of a label that has a value: if it is a product, none of its dims is 0. */
static void know_factors(Linear *l, uint32_t tag, const Expr *extent) {
  const Expr *rest = extent, *atom[MOST_DEGREE];
  Term t = term_next(&rest);
  uint32_t n = t.m && !rest ? monomial_atoms(t.m, atom) : 0;
  for (uint32_t i = 0; n > 1 && i < n; i++)
    if (atom[i]->kind == EX_DIM) know(l, tag, 0, NULL, 1, atom[i], -1);
}

/* 0 <= e < extent */
static void know_range(Linear *l, const Expr *e, const Expr *extent) {
  know(l, T_FACT, 0, NULL, 1, e, 0);
  know(l, T_FACT, 1, extent, -1, e, -1);
  know_factors(l, T_FACT, extent);
}

static void know_quotient(Linear *l, const Expr *q) {
  const Expr *x = q->arg[0], *c = q->arg[1];
  if (by_literal(q)) { /* 0 <= x - c*q <= c - 1 */
    know(l, T_BASE, 1, x, -c->i, q, 0);
    know(l, T_BASE, -1, x, c->i, q, c->i - 1);
    return;
  }
  if (sum_least_zero(l, x, 0) && sum_least_zero(l, c, 0)) know(l, T_FACT, 0, NULL, 1, q, 0);
  if (!surely_positive(l, c)) return;
  const Expr *dq = expr_normal(l->p, expr_op2(l->p, OP_MUL, c, q)), *extent = extent_of(l, x);
  Build low = build_new(l, T_FACT, 0), high = build_new(l, T_FACT, -1);
  build_add(&low, 1, x), build_add(&low, -1, dq);
  build_add(&high, -1, x), build_add(&high, 1, dq), build_add(&high, 1, c);
  build_end(&low), build_end(&high);
  const Expr *turns = extent ? expr_divide(l->p, extent, c) : NULL;
  if (turns) know(l, T_FACT, 1, turns, -1, q, -1);
}

static void know_remainder(Linear *l, const Expr *r) {
  const Expr *c = r->arg[1];
  if (!sum_least_zero(l, c, 0)) return;
  know(l, T_FACT, 0, NULL, 1, r, 0);
  if (by_literal(r) || surely_positive(l, c)) know(l, T_FACT, 1, c, -1, r, -1);
}

/* ---- what the rows say of a quotient ----------------------------------------------------------- */

enum { T_ROWS = T_FACT | T_GOAL | T_SPLIT };

/* Whether the rows imply e + k >= 0. */
static bool rows_imply(Linear *l, const Expr *e, int64_t k) {
  Build b = build_new(l, T_ROWS, k);
  build_add(&b, 1, e);
  return b.ok && fm_implies(&l->fm, &b.r);
}

/* Whether the rows imply that some product of dims with the factor `atom` is not 0. */
static bool rows_need(Linear *l, const Expr *atom) {
  const Expr *of[MOST_DEGREE];
  for (uint32_t v = 0; v < l->n; v++) {
    bool has = false;
    if (!expr_is_dims(l->var[v])) continue;
    for (uint32_t k = monomial_atoms(l->var[v], of); k-- > 0;) has |= of[k] == atom;
    if (has && rows_imply(l, l->var[v], -1)) return true;
  }
  return false;
}

/* Whether the rows imply that d, a product of dims, is not 0. */
static bool rows_positive(Linear *l, const Expr *d) {
  const Expr *rest = d, *atom[MOST_DEGREE];
  Term t = term_next(&rest);
  uint32_t n = t.m && !rest && t.c > 0 ? monomial_atoms(t.m, atom) : 0;
  for (uint32_t k = 0; k < n; k++)
    if (atom[k]->kind != EX_DIM || !rows_need(l, atom[k])) return false;
  return n > 0;
}

/* The goal's rows with q times c >= 0: `q >= N` becomes `c*q >= c*N`. */
static void know_times(Linear *l, uint32_t q, const Expr *c) {
  for (uint32_t i = 0, n = l->fm.n; i < n; i++) {
    const FmRow r = l->fm.row[i];
    if (!(r.tag & T_GOAL) || !r.c[q]) continue;
    Build b = build_new(l, r.tag, 0);
    build_add(&b, r.k, c);
    for (uint32_t v = 0, vars = l->n; v < vars && b.ok; v++)
      if (r.c[v]) build_add(&b, r.c[v], expr_normal(l->p, expr_op2(l->p, OP_MUL, c, l->var[v])));
    build_end(&b);
  }
}

/* x // c and x % c by dims: 0 <= x gives 0 <= c * (x // c) <= x, even for c = 0; c > 0 gives x < c * (x // c) + c, and
 * x % c < c. */
static void know_by_rows(Linear *l, uint32_t v) {
  const Expr *e = l->var[v], *x = e->arg[0], *c = e->arg[1];
  if (!expr_is_dims(c) || !sum_least_zero(l, c, 0)) return;
  bool least = rows_imply(l, x, 0), positive = rows_positive(l, c);
  if (positive) know(l, T_ROWS, 1, c, 0, NULL, -1);
  if (e->op == OP_MOD) {
    if (positive) know(l, T_ROWS, 1, c, -1, e, -1);
    return;
  }
  const Expr *whole = expr_normal(l->p, expr_op2(l->p, OP_MUL, c, e));
  Build low = build_new(l, T_ROWS, 0), high = build_new(l, T_ROWS, -1);
  build_add(&low, 1, x), build_add(&low, -1, whole);
  build_add(&high, -1, x), build_add(&high, 1, whole), build_add(&high, 1, c);
  if (least) know(l, T_ROWS, 0, NULL, 1, e, 0);
  if (least || positive) build_end(&low);
  if (positive) build_end(&high);
  if (least || positive) know_times(l, v, c);
}

static void know_cast(Linear *l, const Expr *e) {
  DType t = (DType)e->arg[0]->dtype;
  if (t == DT_I64 || dtype_is_float(t)) return;
  int64_t least = t == DT_BOOL || t == DT_U8 ? 0 : -((int64_t)1 << (8 * dtype_size(t) - 1));
  int64_t most = t == DT_BOOL ? 1 : t == DT_U8 ? UINT8_MAX : -1 - least;
  know(l, T_BASE, 0, NULL, 1, e, -least);
  know(l, T_BASE, 0, NULL, -1, e, most);
}

static void know_extreme(Linear *l, const Expr *e) {
  int64_t sign = e->op == OP_MAX || e->op == OP_FMAX ? 1 : -1;
  for (uint32_t i = 0; i < 2; i++) know(l, T_BASE, -sign, e->arg[i], sign, e, 0);
}

/* m = a * others, all >= 0, and a <= most: most*others - m >= 0. */
static void know_factor(Linear *l, const Expr *m, const Expr *a, const Expr *others) {
  const Expr *most = extent_of(l, a);
  if (!most && is_i64_op(a, OP_MOD) && by_literal(a)) most = a->arg[1];
  if (!most) return;
  Build b = build_new(l, T_FACT, 0);
  for (const Expr *rest = most; rest && b.ok;) {
    Term t = term_next(&rest);
    bool ok;
    const Expr *product = monomial_product(l->p, t.m, others, &ok);
    b.ok = b.ok && ok;
    build_var(&b, t.c, product);
  }
  build_var(&b, -1, others);
  build_var(&b, -1, m);
  build_end(&b);
}

static void know_product(Linear *l, const Expr *m) {
  const Expr *atom[MOST_DEGREE];
  uint32_t n = monomial_atoms(m, atom);
  bool dims = expr_is_dims(m);
  if (!dims) l->partial = true; /* not free, though a variable */
  for (uint32_t i = 0; i < n; i++)
    if (!atom_least_zero(l, atom[i], 0)) return;
  if (!n) return;
  know(l, dims ? T_BASE : T_FACT, 0, NULL, 1, m, 0);
  for (uint32_t i = 0; i < n; i++) {
    if (i && atom[i] == atom[i - 1]) continue;
    const Expr *others = NULL;
    bool ok = true;
    for (uint32_t j = 0; j < n && ok; j++)
      if (j != i) others = monomial_product(l->p, others, atom[j], &ok);
    if (ok) know_factor(l, m, atom[i], others);
  }
}

static void know_var(Linear *l, const Expr *e) {
  const Expr *extent = extent_of(l, e);
  if (extent)
    know_range(l, e, extent);
  else if (e->kind == EX_DIM)
    know(l, T_BASE, 0, NULL, 1, e, 0);
  else if (e->kind == EX_TURN)
    know(l, T_FACT, 0, NULL, 1, e, 0);
  else if (is_i64_op(e, OP_MUL))
    know_product(l, e);
  else if (is_i64_op(e, OP_IDIV))
    know_quotient(l, e);
  else if (is_i64_op(e, OP_MOD))
    know_remainder(l, e);
  else if (is_i64_op(e, OP_CAST))
    know_cast(l, e);
  else if (e->kind == EX_OP && (e->op == OP_MAX || e->op == OP_MIN || e->op == OP_FMAX || e->op == OP_FMIN))
    know_extreme(l, e);
  bool free_one = e->kind == EX_LABEL || e->kind == EX_TURN || e->kind == EX_DIM ||
      is_i64_op(e, OP_MUL) || by_literal(e);
  if (!free_one) l->partial = true;
}

void linear_define(Linear *l, uint32_t v) {
  if (by_literal(l->var[v]) && is_i64_op(l->var[v], OP_IDIV)) know_quotient(l, l->var[v]);
}

void linear_close(Linear *l) {
  bool seen[MOST_LABELS] = {false};
  uint32_t v = 0;
  for (; v < l->n; v++) {
    if (l->var[v]->kind == EX_LABEL && l->var[v]->i < MOST_LABELS) seen[l->var[v]->i] = true;
    know_var(l, l->var[v]);
  }
  for (uint32_t k = 0; k < l->facts->n_label && k < MOST_LABELS; k++) {
    const Expr *e = l->facts->label[k];
    if (!e || seen[k] || !(e->has & HAS_DIM)) continue;
    e = expr_normal(l->p, e);
    know(l, T_OUT | T_FACT, 1, e, 0, NULL, -1);
    know_factors(l, T_OUT | T_FACT, e);
  }
  for (; v < l->n; v++) know_var(l, l->var[v]);
  for (uint32_t k = 0, n = l->n; k < n; k++)
    if ((is_i64_op(l->var[k], OP_IDIV) || is_i64_op(l->var[k], OP_MOD)) && !by_literal(l->var[k])) know_by_rows(l, k);
  for (; v < l->n; v++) know_var(l, l->var[v]);
  if (l->fm.lossy) l->partial = true;
}

/* ---- back to expressions --------------------------------------------------------------------- */

/* The terms of r whose coefficient has the sign, as a positive sum, plus k >= 0. */
static const Expr *side(const Linear *l, const FmRow *r, int64_t sign, int64_t k) {
  Exprs *p = l->p;
  const Expr *e = expr_int(p, DT_I64, k);
  for (uint32_t v = 0; v < l->n; v++) {
    int64_t c = r->c[v] * sign;
    if (c > 0) e = expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, expr_int(p, DT_I64, c), l->var[v]), e);
  }
  return expr_normal(p, e);
}

/* plus + k >= minus, or its negation plus + k + 1 <= minus, with the constant on the side where it is positive. */
const Expr *row_expr(const Linear *l, const FmRow *r, bool not) {
  int64_t k = not ? r->k + 1 : r->k;
  const Expr *plus = side(l, r, 1, k > 0 ? k : 0), *minus = side(l, r, -1, k < 0 ? -k : 0);
  return expr_op2(l->p, OP_LE, not ? plus : minus, not ? minus : plus);
}
