/* front/elab/tuple.c - a user's monoid over tuples at the dtypes of its use, with a sampled test of its laws.
 *
 * As for a monoid over values (monoid.c), the laws are tested and not proved. A tuple has parts that belong together
 * (a count is not negative), so only tuples in the monoid's stated range are tried, and only finite ones. */
#include "elab.h"

#include <math.h>

/* ---- dtypes ----------------------------------------------------------------------------------- */

static const Ast *part(const Ast *e, uint32_t k) { return e->kind == AST_RESULTS ? e->args.at[k] : e; }

static bool complain_kind(Elab *x, const MonoidDef *m, uint32_t k, DType takes, DType gives, Span use) {
  const char *name = m->stmt->params.at[k].s->s;
  Diag *d = diag_add(x->diags, D_E081, use, "component %s of monoid %s is %s, and its function makes it %s", name,
      m->stmt->name.s->s, dtype_name(takes), dtype_name(gives));
  diag_at(x->diags, d, part(m->stmt->e, k)->span, "%s", dtype_name(gives));
  diag_hint(x->diags, d, "each component of the function must have the dtype of its operands' component");
  return false;
}

/* The dtypes of the function's components over operands of dtypes t. */
static bool parts_made(Elab *x, const MonoidDef *m, const DType *t, DType *made, Span use) {
  uint32_t before = x->diags->all.len;
  bool ok = true;
  for (uint32_t k = 0; k < m->stmt->parts && ok; k++) {
    Core *c = monoid_side(x, m, part(m->stmt->e, k), t), *id = monoid_side(x, m, part(m->stmt->until, k), NULL);
    ok = c && id;
    if (!ok) break;
    made[k] = type_settle(c->type).dtype;
    if ((made[k] == DT_BOOL) != (t[k] == DT_BOOL)) return complain_kind(x, m, k, t[k], made[k], use);
    if ((id->type.dtype == DT_BOOL) != (t[k] == DT_BOOL)) {
      Diag *d = diag_add(x->diags, D_E081, id->span, "component %s of monoid %s is %s, and its identity is %s",
          m->stmt->params.at[k].s->s, m->stmt->name.s->s, dtype_name(t[k]), type_name(id->type));
      diag_at(x->diags, d, use, "used here");
      return false;
    }
  }
  for (uint32_t i = before; i < x->diags->all.len; i++)
    diag_at(x->diags, x->diags->all.at[i], use, "used here");
  return ok;
}

/* A reduction over t returns t, so the function must, too: a component that it turns into floats is a float from the
 * beginning. Each turn changes a component, and only to a wider dtype. */
static bool parts_settle(Elab *x, const MonoidDef *m, DType *t, Span use) {
  uint32_t n = m->stmt->parts;
  DType *made = NEW_ARRAY(x->arena, DType, n);
  for (uint32_t turn = 0; turn < 2 * n + 2; turn++) {
    bool same = true;
    if (!parts_made(x, m, t, made, use)) return false;
    for (uint32_t k = 0; k < n; k++) same &= made[k] == t[k];
    if (same) return true;
    for (uint32_t k = 0; k < n; k++) t[k] = made[k];
  }
  for (uint32_t k = 0; k < n; k++)
    if (made[k] != t[k]) return complain_kind(x, m, k, t[k], made[k], use);
  return true;
}

/* ---- at these dtypes -------------------------------------------------------------------------- */

static const Expr *part_lower(Elab *x, const MonoidDef *m, const Ast *e, const DType *t, DType own) {
  Core *c = monoid_side(x, m, e, t);
  if (!c) return NULL;
  const Expr *made = ex_convert(x, lower(x, c, -1), own).e;
  if (!(made->has & (HAS_READ | HAS_TURN))) return made;
  monoid_complain_reads(x, m);
  return NULL;
}

static bool tuple_draft(Elab *x, Tuple *m) {
  const AstStmt *s = m->def->stmt;
  Frozen f = labels_number(x, (LabelSet){0}, (LabelSet){0});
  bool ok = true;
  for (uint32_t k = 0; k < m->n && ok; k++) {
    m->combine[k] = part_lower(x, m->def, part(s->e, k), m->dtype, m->dtype[k]);
    m->identity[k] = part_lower(x, m->def, part(s->until, k), NULL, m->dtype[k]);
    ok = m->combine[k] && m->identity[k];
  }
  labels_restore(x, f);
  return ok && monoid_range(x, m->def, m->dtype, &m->range);
}

/* ---- the laws --------------------------------------------------------------------------------- */

enum { MAX_TRIED = 10, CANDIDATES = 200 };

typedef struct Laws { Elab *x; const Tuple *m; Value *at[MAX_TRIED]; uint32_t n; } Laws;

static bool value_of(const Tuple *m, const Expr *e, const Value *a, const Value *b, Value *out) {
  Value p[2 * TUPLE_PARTS];
  for (uint32_t k = 0; k < m->n; k++) p[k] = a[k], p[m->n + k] = b[k];
  ExprEnv env = {.param = p, .n_param = 2 * m->n};
  return expr_value(e, &env, out);
}

static bool combined(const Tuple *m, const Value *a, const Value *b, Value *out) {
  Value made[TUPLE_PARTS];
  for (uint32_t k = 0; k < m->n; k++)
    if (!value_of(m, m->combine[k], a, b, &made[k])) return false;
  for (uint32_t k = 0; k < m->n; k++) out[k] = made[k];
  return true;
}

static bool in_range(const Tuple *m, const Value *a) { return monoid_in_range(m->range, a, m->n); }

static bool near_all(const Tuple *m, const Value *a, const Value *b) {
  for (uint32_t k = 0; k < m->n; k++)
    if (!monoid_near(a[k], b[k])) return false;
  return true;
}

/* Of each component a different value, in another order each time. */
static Value candidate(DType t, uint32_t i, uint32_t k) {
  static const double reals[] = {1, 0, 2, -1, 0.5, 3, -2.5, 4};
  static const int64_t ints[] = {1, 0, 2, 3, -1, 7, 5, -4};
  uint32_t at = (i * (2 * k + 1) + 3 * k + i / 8 * (k + 1)) % 8;
  if (t == DT_BOOL) return (Value){.dtype = t, .i = ints[at] & 1};
  if (dtype_is_float(t)) return (Value){.dtype = t, .f = reals[at]};
  return (Value){.dtype = t, .i = dtype_holds(t, ints[at]) ? ints[at] : -ints[at]};
}

/* The identity, then others in the range. False: the identity is not known before the program runs. */
static bool tuples_tried(Laws *l) {
  const Tuple *m = l->m;
  ExprEnv none = {0};
  for (uint32_t i = 0; i < CANDIDATES && l->n < MAX_TRIED; i++) {
    Value *v = NEW_ARRAY(l->x->arena, Value, m->n);
    for (uint32_t k = 0; k < m->n; k++) {
      if (i) v[k] = candidate(m->dtype[k], i - 1, k);
      else if (!expr_value(m->identity[k], &none, &v[k])) return false;
    }
    if (!i || in_range(m, v)) l->at[l->n++] = v;
  }
  return true;
}

static const char *tuple_text(Elab *x, const Tuple *m, const Value *v) {
  Buf b = buf_new(x->arena);
  for (uint32_t k = 0; k < m->n; k++) {
    buf_str(&b, k ? ", " : "(");
    if (dtype_is_float(v[k].dtype)) double_print(&b, v[k].f);
    else if (v[k].dtype == DT_BOOL) buf_str(&b, v[k].i ? "true" : "false");
    else buf_printf(&b, "%lld", (long long)v[k].i);
  }
  return buf_str(&b, ")"), b.s;
}

static Diag *broken(Laws *l, const char *fmt) {
  const AstName name = l->m->def->stmt->name;
  l->x->equation.failed = true;
  return diag_add(l->x->diags, D_E093, name.span, fmt, name.s->s);
}

static bool identity_holds(Laws *l, const Value *v) {
  Value made[TUPLE_PARTS];
  const char *s = l->m->def->stmt->name.s->s;
  if (!combined(l->m, v, l->at[0], made) || near_all(l->m, made, v)) return true;
  Diag *d = broken(l, "monoid %s has a wrong identity");
  diag_hint(l->x->diags, d, "%s(%s, %s) is %s, but should be %s", s, tuple_text(l->x, l->m, v),
      tuple_text(l->x, l->m, l->at[0]), tuple_text(l->x, l->m, made), tuple_text(l->x, l->m, v));
  diag_at(l->x->diags, d, l->m->def->stmt->until->span, "the identity");
  return false;
}

static bool pair_holds(Laws *l, const Value *a, const Value *b) {
  const Tuple *m = l->m;
  Value ab[TUPLE_PARTS], ba[TUPLE_PARTS];
  if (!combined(m, a, b, ab) || !combined(m, b, a, ba)) return true;
  const char *s = m->def->stmt->name.s->s, *ta = tuple_text(l->x, m, a), *tb = tuple_text(l->x, m, b);
  if (!near_all(m, ab, ba)) {
    diag_hint(l->x->diags, broken(l, "monoid %s is not commutative"), "%s(%s, %s) is %s, but %s(%s, %s) is %s", s, ta,
        tb, tuple_text(l->x, m, ab), s, tb, ta, tuple_text(l->x, m, ba));
    return false;
  }
  if (in_range(m, ab)) return true;
  Diag *d = broken(l, "monoid %s leaves its range");
  diag_at(l->x->diags, d, m->def->stmt->range->span, "what holds of its operands");
  diag_hint(l->x->diags, d, "%s(%s, %s) is %s", s, ta, tb, tuple_text(l->x, m, ab));
  return false;
}

static bool triple_holds(Laws *l, const Value *a, const Value *b, const Value *c) {
  const Tuple *m = l->m;
  Value left[TUPLE_PARTS], right[TUPLE_PARTS];
  if (!combined(m, a, b, left) || !combined(m, left, c, left)) return true;
  if (!combined(m, b, c, right) || !combined(m, a, right, right) || near_all(m, left, right)) return true;
  const char *s = m->def->stmt->name.s->s, *ta = tuple_text(l->x, m, a), *tb = tuple_text(l->x, m, b);
  const char *tc = tuple_text(l->x, m, c);
  diag_hint(l->x->diags, broken(l, "monoid %s is not associative"),
      "%s(%s(%s, %s), %s) is %s, but %s(%s, %s(%s, %s)) is %s", s, s, ta, tb, tc, tuple_text(l->x, m, left), s, ta, s,
      tb, tc, tuple_text(l->x, m, right));
  return false;
}

static void laws_try(Elab *x, const Tuple *m) {
  Laws l = {.x = x, .m = m};
  if (!tuples_tried(&l)) return;
  if (!in_range(m, l.at[0])) {
    monoid_complain_identity(x, m->def);
    return;
  }
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

/* ---- a use ------------------------------------------------------------------------------------ */

static Str dtypes_key(Elab *x, const DType *t, uint32_t n) {
  Buf b = buf_new(x->arena);
  for (uint32_t k = 0; k < n; k++) buf_printf(&b, "%s ", dtype_name(t[k]));
  return str_from(x->strings, b.s);
}

const Tuple *tuple_at(Elab *x, const MonoidDef *m, Core *const *body, Span use) {
  uint32_t n = m->stmt->parts;
  Tuple *t = NEW(x->arena, Tuple);
  *t = (Tuple){.def = m, .n = n, .dtype = NEW_ARRAY(x->arena, DType, n),
      .combine = NEW_ARRAY(x->arena, const Expr *, n), .identity = NEW_ARRAY(x->arena, const Expr *, n)};
  for (uint32_t k = 0; k < n; k++) t->dtype[k] = type_settle(body[k]->type).dtype;
  if (!parts_settle(x, m, t->dtype, use)) return NULL;
  Str key = dtypes_key(x, t->dtype, n);
  const Tuple *made = map_find(&m->made, key);
  if (made) return made;
  if (!tuple_draft(x, t)) return NULL;
  if (!x->equation.failed) laws_try(x, t);
  map_put((Map *)&m->made, key, t);
  return x->equation.failed ? NULL : t;
}
