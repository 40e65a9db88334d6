/* front/elab/laws.c - a sampled test of the laws that a user's monoid promises.
 *
 * The optimiser splits and reorders a reduction only because its function is associative and commutative with that
 * identity. This cannot be proved in general, so every pair and triple of about ten well-chosen operands is tested. The
 * parts of a tuple belong together (a count is not negative), so only operands in the monoid's stated range are tried,
 * and only finite tuples. */
#include "elab.h"

#include <math.h>
#include <string.h>

enum { MAX_TRIED = 11, CANDIDATES = 200 };

typedef struct Laws { Elab *x; const Tuple *m; const char *name; Value *at[MAX_TRIED]; uint32_t n; } Laws;

/* ---- operands --------------------------------------------------------------------------------- */

static Value value_as(DType t, double real, int64_t whole) {
  if (t == DT_BOOL) return (Value){.dtype = t, .i = whole & 1};
  if (dtype_is_float(t)) return (Value){.dtype = t, .f = real};
  return (Value){.dtype = t, .i = dtype_holds(t, whole) ? whole : -whole};
}

/* The i-th operand of one part; false: there is no more. */
static bool value_candidate(DType t, uint32_t i, Value *v) {
  static const double reals[] = {0, 1, -1, 0.5, 2, -2.5, 3, INFINITY, -INFINITY, NAN};
  static const int64_t ints[COUNT(reals)] = {0, 1, -1, 2, 3, -5, 7, 100};
  if (i >= (t == DT_BOOL ? 2 : dtype_is_float(t) ? COUNT(reals) : 8)) return false;
  *v = value_as(t, reals[i], ints[i]);
  return true;
}

/* The i-th operand of several: of each part a different value, in another order each time. */
static void tuple_candidate(const Tuple *m, uint32_t i, Value *v) {
  static const double reals[] = {1, 0, 2, -1, 0.5, 3, -2.5, 4};
  static const int64_t ints[] = {1, 0, 2, 3, -1, 7, 5, -4};
  for (uint32_t k = 0; k < m->n; k++) {
    uint32_t at = (i * (2 * k + 1) + 3 * k + i / 8 * (k + 1)) % 8;
    v[k] = value_as(m->dtype[k], reals[at], ints[at]);
  }
}

static bool in_range(const Tuple *m, const Value *v) {
  ExprEnv env = {.param = v, .n_param = m->n};
  Value holds;
  return !m->range || !expr_value(m->range, &env, &holds) || holds.i;
}

/* The identity, then others in the range. False: the identity is not known before the program runs. */
static bool operands_tried(Laws *l) {
  const Tuple *m = l->m;
  ExprEnv none = {0};
  for (uint32_t k = 0; k < m->n; k++)
    if (!expr_value(m->identity[k], &none, &l->at[0][k])) return false;
  l->n = 1;
  for (uint32_t i = 0; i < CANDIDATES && l->n < MAX_TRIED; i++) {
    if (m->n > 1) tuple_candidate(m, i, l->at[l->n]);
    else if (!value_candidate(m->dtype[0], i, l->at[l->n])) return true;
    l->n += in_range(m, l->at[l->n]);
  }
  return true;
}

static bool combine(const Tuple *m, const Value *a, const Value *b, Value *out) {
  Value p[2 * TUPLE_PARTS], made[TUPLE_PARTS];
  for (uint32_t k = 0; k < m->n; k++) p[k] = a[k], p[m->n + k] = b[k];
  ExprEnv env = {.param = p, .n_param = 2 * m->n};
  for (uint32_t k = 0; k < m->n; k++)
    if (!expr_value(m->combine[k], &env, &made[k])) return false;
  memcpy(out, made, m->n * sizeof *out);
  return true;
}

/* Equal but for rounding. */
static bool value_near(Value a, Value b) {
  if (!dtype_is_float(a.dtype)) return a.i == b.i;
  if (isnan(a.f) || isnan(b.f)) return isnan(a.f) && isnan(b.f);
  if (isinf(a.f) || isinf(b.f)) return a.f == b.f;
  double eps = a.dtype == DT_F64 ? 1e-12 : a.dtype == DT_F32 ? 1e-5 : 2e-2, scale = fmax(1, fmax(fabs(a.f), fabs(b.f)));
  return fabs(a.f - b.f) <= eps * scale;
}

static bool near(const Tuple *m, const Value *a, const Value *b) {
  for (uint32_t k = 0; k < m->n; k++)
    if (!value_near(a[k], b[k])) return false;
  return true;
}

/* ---- complaints ------------------------------------------------------------------------------- */

static const char *text(const Laws *l, const Value *v) {
  Buf b = buf_new(l->x->arena);
  if (l->m->n > 1) buf_str(&b, "(");
  for (uint32_t k = 0; k < l->m->n; k++) {
    if (k) buf_str(&b, ", ");
    if (dtype_is_float(v[k].dtype)) double_print(&b, v[k].f);
    else if (v[k].dtype == DT_BOOL) buf_str(&b, v[k].i ? "true" : "false");
    else buf_printf(&b, "%lld", (long long)v[k].i);
  }
  if (l->m->n > 1) buf_str(&b, ")");
  return b.s;
}

static bool has_nan(const Laws *l, const Value *v) {
  return l->m->n == 1 && dtype_is_float(v->dtype) && isnan(v->f);
}

/* A warning if the operands have a NaN. */
static Diag *broken(const Laws *l, bool nan, const char *how) {
  const AstName name = l->m->def->stmt->name;
  l->x->equation.failed |= !nan;
  return diag_add(l->x->diags, nan ? D_W006 : D_E093, name.span, "monoid %s %s%s", name.s->s, how,
      nan ? " where NaN is met" : "");
}

static void complain_identity(const Laws *l) {
  const AstStmt *m = l->m->def->stmt;
  Diag *d = diag_add(l->x->diags, D_E093, m->name.span, "the identity of monoid %s is outside of its range", l->name);
  diag_at(l->x->diags, d, m->until->span, "the identity");
  diag_at(l->x->diags, d, m->range->span, "what holds of its operands");
  l->x->equation.failed = true;
}

/* ---- the laws --------------------------------------------------------------------------------- */

static bool range_holds(const Laws *l, const Value *a, const Value *b) {
  Value made[TUPLE_PARTS];
  if (!combine(l->m, a, b, made) || in_range(l->m, made)) return true;
  Diag *d = broken(l, false, "leaves its range");
  diag_at(l->x->diags, d, l->m->def->stmt->range->span, "what holds of its operands");
  diag_hint(l->x->diags, d, "%s(%s, %s) is %s", l->name, text(l, a), text(l, b), text(l, made));
  return false;
}

static bool identity_holds(const Laws *l, const Value *v) {
  Value made[TUPLE_PARTS];
  if (!combine(l->m, v, l->at[0], made) || near(l->m, made, v)) return true;
  Diag *d = broken(l, has_nan(l, v) || has_nan(l, l->at[0]), "has a wrong identity");
  diag_hint(l->x->diags, d, "%s(%s, %s) is %s, but should be %s", l->name, text(l, v), text(l, l->at[0]), text(l, made),
      text(l, v));
  diag_at(l->x->diags, d, l->m->def->stmt->until->span, "the identity");
  return false;
}

static bool pair_holds(const Laws *l, const Value *a, const Value *b) {
  Value ab[TUPLE_PARTS], ba[TUPLE_PARTS];
  if (!combine(l->m, a, b, ab) || !combine(l->m, b, a, ba) || near(l->m, ab, ba)) return true;
  const char *s = l->name, *ta = text(l, a), *tb = text(l, b);
  diag_hint(l->x->diags, broken(l, has_nan(l, a) || has_nan(l, b), "is not commutative"),
      "%s(%s, %s) is %s, but %s(%s, %s) is %s", s, ta, tb, text(l, ab), s, tb, ta, text(l, ba));
  return false;
}

static bool triple_holds(const Laws *l, const Value *a, const Value *b, const Value *c) {
  Value left[TUPLE_PARTS], right[TUPLE_PARTS];
  if (!combine(l->m, a, b, left) || !combine(l->m, left, c, left)) return true;
  if (!combine(l->m, b, c, right) || !combine(l->m, a, right, right) || near(l->m, left, right)) return true;
  const char *s = l->name, *ta = text(l, a), *tb = text(l, b), *tc = text(l, c);
  diag_hint(l->x->diags, broken(l, has_nan(l, a) || has_nan(l, b) || has_nan(l, c), "is not associative"),
      "%s(%s(%s, %s), %s) is %s, but %s(%s, %s(%s, %s)) is %s", s, s, ta, tb, tc, text(l, left), s, ta, s, tb, tc,
      text(l, right));
  return false;
}

void monoid_laws(Elab *x, const Tuple *m) {
  Laws l = {.x = x, .m = m, .name = m->def->stmt->name.s->s};
  for (uint32_t i = 0; i < MAX_TRIED; i++) l.at[i] = NEW_ARRAY(x->arena, Value, m->n);
  if (!operands_tried(&l)) return;
  if (!in_range(m, l.at[0])) {
    complain_identity(&l);
    return;
  }
  for (uint32_t i = 0; i < l.n; i++)
    for (uint32_t k = 0; k <= i; k++)
      if (!range_holds(&l, l.at[i], l.at[k])) return;
  for (uint32_t i = 0; i < l.n; i++) {
    if (!identity_holds(&l, l.at[i])) return;
    for (uint32_t k = 0; k < i; k++)
      if (!pair_holds(&l, l.at[i], l.at[k])) return;
  }
  for (uint32_t i = 1; i < l.n; i++)
    for (uint32_t k = 1; k < l.n; k++)
      for (uint32_t h = 1; h < l.n; h++)
        if (!triple_holds(&l, l.at[i], l.at[k], l.at[h])) return;
}
