/* front/elab/monoid.c - a user's monoid at the dtype of its use, with a sampled test of the laws that it promises.
 *
 * The optimiser splits and reorders a reduction only because its function is associative and commutative with that
 * identity. This cannot be proved in general, so every pair and triple of a dozen well-chosen values is tested. */
#include "elab.h"

#include <math.h>

Core *monoid_side(Elab *x, const MonoidDef *m, const Ast *a, const DType *t) {
  Frame *f = NEW(x->arena, Frame);
  *f = (Frame){.def = m->stmt, .order = UINT32_MAX, .depth = 1};
  const Symbol *own = symbol_find(x, m->stmt->name.s, UINT32_MAX);
  if (own) f->order = own->order;
  uint32_t known = !t ? 0 : a == m->stmt->range ? m->stmt->parts : m->stmt->params.len;
  for (uint32_t k = 0; k < known; k++) {
    DType one = t[k % m->stmt->parts];
    Core *c = core_const(x, expr_param(x->exprs, one, k), type_firm(one), m->stmt->params.at[k].span);
    vec_push(x->arena, f->locals, ((Local){.name = m->stmt->params.at[k].s, .span = c->span, .direct = c}));
  }
  Labels labels = {.map = map_new(x->arena)};
  Scope s = {.labels = &labels, .frame = f};
  Core *c = core_from_ast(x, &s, a);
  if (!c || (!c->free.n && !labels.map.len)) return c;
  const LabelVar *v = labels.map.len ? labels.map.at[0].val : c->free.at[0];
  Diag *d = diag_add(x->diags, D_E075, v->span, "%s is not known in monoid %s", v->name->s, m->stmt->name.s->s);
  bool hinted = diag_unknown(x, d, (AstName){v->name, v->span}, f), range = a == m->stmt->range;
  const char *first = m->stmt->params.at[0].s->s;
  if (!hinted && range) diag_hint(x->diags, d, "a range is about one operand, in the names of the first: `%s`", first);
  else if (!hinted) diag_hint(x->diags, d, "a monoid's function sees its arguments, numbers and dims");
  x->equation.failed = true;
  return NULL;
}

static bool complain_identity(Elab *x, const MonoidDef *m, DType made, const Core *id) {
  Diag *d =
      diag_add(x->diags, D_E081, m->stmt->until->span, "the function of monoid %s gives %s, and its identity is %s",
          m->stmt->name.s->s, dtype_name(made), type_name(id->type));
  diag_at(x->diags, d, m->stmt->e->span, "%s", dtype_name(made));
  return false;
}

/* A reduction over t returns t, so the function must, too: if it turns integers into floats, the reduction is over
 * f64. */
bool monoid_type(Elab *x, const MonoidDef *m, Type body, Span use, DType *out) {
  DType t = type_settle(body).dtype, made = t;
  for (int k = 0; k < 3; k++) {
    uint32_t before = x->diags->all.len;
    Core *c = monoid_side(x, m, m->stmt->e, &t), *id = monoid_side(x, m, m->stmt->until, NULL);
    for (uint32_t i = before; i < x->diags->all.len; i++)
      diag_at(x->diags, x->diags->all.at[i], use, "used here, over %s", dtype_name(t));
    if (!c || !id) return false;
    made = type_settle(c->type).dtype;
    if ((id->type.dtype == DT_BOOL) != (made == DT_BOOL)) return complain_identity(x, m, made, id);
    if ((made == DT_BOOL) != (t == DT_BOOL)) break;
    *out = t;
    if (made == t) return true;
    t = made;
  }
  Diag *d = diag_add(
      x->diags, D_E081, use, "monoid %s over %s gives %s", m->stmt->name.s->s, dtype_name(t), dtype_name(made));
  diag_at(x->diags, d, m->stmt->e->span, "its function must give what it takes");
  return false;
}

/* ---- the range -------------------------------------------------------------------------------- */

bool monoid_range(Elab *x, const MonoidDef *m, const DType *t, const Expr **out) {
  *out = NULL;
  if (!m->stmt->range) return true;
  Frozen f = labels_number(x, (LabelSet){0}, (LabelSet){0});
  Core *c = monoid_side(x, m, m->stmt->range, t);
  bool ok = c && want_bool(x, c, (Span){0}, "where");
  if (ok) *out = lower(x, c, -1).e;
  if (ok && ((*out)->has & (HAS_READ | HAS_TURN))) monoid_complain_reads(x, m), ok = false;
  labels_restore(x, f);
  return ok;
}

bool monoid_in_range(const Expr *range, const Value *v, uint32_t n) {
  ExprEnv env = {.param = v, .n_param = n};
  Value holds;
  return !range || !expr_value(range, &env, &holds) || holds.i;
}

void monoid_complain_identity(Elab *x, const MonoidDef *m) {
  AstName name = m->stmt->name;
  Diag *d = diag_add(x->diags, D_E093, name.span, "the identity of monoid %s is outside of its range", name.s->s);
  diag_at(x->diags, d, m->stmt->until->span, "the identity");
  diag_at(x->diags, d, m->stmt->range->span, "what holds of its operands");
  x->equation.failed = true;
}

static const Expr *leaf_body(void *env, Exprs *p, const Expr *leaf) {
  const Expr *const *body = env;
  (void)p;
  return leaf->kind == EX_PARAM ? body[leaf->i] : leaf;
}

/* Constants decide it, or the prover. */
static bool is_known(Elab *x, const Facts *f, const Expr *e) {
  Value v;
  ExprEnv none = {0};
  if (e->kind == EX_OP && e->op == OP_OR) return is_known(x, f, e->arg[0]) || is_known(x, f, e->arg[1]);
  if (e->kind == EX_OP && e->op == OP_AND) return is_known(x, f, e->arg[0]) && is_known(x, f, e->arg[1]);
  if (!e->has && expr_value(e, &none, &v)) return v.i;
  return prove(x->exprs, f, e).verdict == PROVED;
}

static bool same_assert(const EinNode *a, const EinNode *b) {
  if (a->sum != b->sum) return false;
  for (uint32_t i = 0; i < a->sum->n_slot; i++)
    if (a->input[i] != b->input[i]) return false;
  for (uint32_t i = 0; i < a->sum->n_red; i++)
    if (a->bound[i] != b->bound[i]) return false;
  return true;
}

void monoid_range_check(
    Elab *x, const MonoidDef *m, const Expr *range, const Expr *const *body, const Parts *p, Span use) {
  if (!range || x->around.region != x->graph->top) return;
  const Expr *holds = expr_map(x->exprs, range, leaf_body, (void *)(uintptr_t)body);
  const Expr *where = both(x, domain_from(x, p->carried), p->where);
  Facts facts = facts_here(x, where);
  if (is_known(x, &facts, holds)) return;
  EinSum all = {.reducer = RED_ALL, .acc = DT_BOOL, .dtype = DT_BOOL, .body = holds, .where = where};
  Frozen f = labels_number(x, (LabelSet){0}, set_joined(x, x->vertex.out, x->vertex.red));
  EinNode *n = vertex_new(x, &all, NULL, 0, NULL, use);
  labels_restore(x, f);
  for (uint32_t i = 0; i < x->graph->asserts.len; i++)
    if (same_assert(x->graph->asserts.at[i].node, n)) return; /* of another component */
  Str text = strings_printf(x->strings, "an operand of monoid %s is outside of its range", m->stmt->name.s->s);
  vec_push(x->arena, x->graph->asserts, ((EinAssert){n, text, place_of(x, use)}));
}

/* ---- the laws --------------------------------------------------------------------------------- */

static bool combine(const Monoid *m, Value a, Value b, Value *out) {
  Value p[2] = {a, b};
  ExprEnv env = {.param = p, .n_param = 2};
  return expr_value(m->combine, &env, out);
}

bool monoid_near(Value a, Value b) {
  if (!dtype_is_float(a.dtype)) return a.i == b.i;
  if (isnan(a.f) || isnan(b.f)) return isnan(a.f) && isnan(b.f);
  if (isinf(a.f) || isinf(b.f)) return a.f == b.f;
  double eps = a.dtype == DT_F64 ? 1e-12 : a.dtype == DT_F32 ? 1e-5 : 2e-2, scale = fmax(1, fmax(fabs(a.f), fabs(b.f)));
  return fabs(a.f - b.f) <= eps * scale;
}

enum { MAX_SAMPLES = 12 };
static uint32_t samples(DType t, Value identity, Value *v) {
  static const double reals[] = {0, 1, -1, 0.5, 2, -2.5, 3, INFINITY, -INFINITY, NAN};
  static const int64_t ints[] = {0, 1, -1, 2, 3, -5, 7, 100};
  uint32_t n = 0;
  v[n++] = identity;
  if (t == DT_BOOL) {
    for (int i = 0; i < 2; i++) v[n++] = (Value){.dtype = t, .i = i};
  } else if (dtype_is_float(t)) {
    for (uint32_t i = 0; i < COUNT(reals); i++) v[n++] = (Value){.dtype = t, .f = reals[i]};
  } else {
    for (uint32_t i = 0; i < COUNT(ints); i++)
      if (dtype_holds(t, ints[i])) v[n++] = (Value){.dtype = t, .i = ints[i]};
  }
  return n;
}

static const char *value_text(Elab *x, Value v) {
  Buf b = buf_new(x->arena);
  if (dtype_is_float(v.dtype)) double_print(&b, v.f);
  else buf_printf(&b, "%lld", (long long)v.i);
  return b.s;
}

static bool is_nan(Value v) { return dtype_is_float(v.dtype) && isnan(v.f); }

static bool broken(Elab *x, const MonoidDef *m, const char *law, Value a, Value b, Value *c, Value left, Value right) {
  bool nan = is_nan(a) || is_nan(b) || (c && is_nan(*c));
  Str name = m->stmt->name.s;
  const char *where = nan ? " where NaN is met" : "";
  Diag *d = diag_add(x->diags, nan ? D_W006 : D_E093, m->stmt->name.span,
      law ? "monoid %s is not %s%s" : "monoid %s has a wrong identity%s", name->s, law ? law : where, where);
  const char *s = name->s, *va = value_text(x, a), *vb = value_text(x, b), *vc = c ? value_text(x, *c) : NULL;
  const char *l = value_text(x, left), *r = value_text(x, right);
  if (c)
    diag_hint(x->diags, d, "%s(%s(%s, %s), %s) is %s, but %s(%s, %s(%s, %s)) is %s", s, s, va, vb, vc, l, s, va, s, vb,
        vc, r);
  else if (law) diag_hint(x->diags, d, "%s(%s, %s) is %s, but %s(%s, %s) is %s", s, va, vb, l, s, vb, va, r);
  else diag_hint(x->diags, d, "%s(%s, %s) is %s, but should be %s", s, va, vb, l, r);
  if (!law) diag_at(x->diags, d, m->stmt->until->span, "the identity");
  if (!nan) x->equation.failed = true;
  return false;
}

static bool pairs_hold(Elab *x, const MonoidDef *def, const Monoid *m, const Value *v, uint32_t n) {
  Value l, r;
  for (uint32_t i = 0; i < n; i++) {
    if (!combine(m, v[i], v[0], &l)) return false;
    if (!monoid_near(l, v[i])) return broken(x, def, NULL, v[i], v[0], NULL, l, v[i]);
    for (uint32_t j = 0; j < i; j++) {
      if (!combine(m, v[i], v[j], &l) || !combine(m, v[j], v[i], &r)) return false;
      if (!monoid_near(l, r)) return broken(x, def, "commutative", v[i], v[j], NULL, l, r);
    }
  }
  return true;
}

static bool triples_hold(Elab *x, const MonoidDef *def, const Monoid *m, Value *v, uint32_t n) {
  Value l, r;
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < n; j++)
      for (uint32_t k = 0; k < n; k++) {
        if (!combine(m, v[i], v[j], &l) || !combine(m, l, v[k], &l)) return false;
        if (!combine(m, v[j], v[k], &r) || !combine(m, v[i], r, &r)) return false;
        if (!monoid_near(l, r)) return broken(x, def, "associative", v[i], v[j], &v[k], l, r);
      }
  return true;
}

static bool range_kept(Elab *x, const MonoidDef *def, const Monoid *m, const Expr *range, const Value *v, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k <= i; k++) {
      Value made;
      if (!combine(m, v[i], v[k], &made) || monoid_in_range(range, &made, 1)) continue;
      const char *s = def->stmt->name.s->s;
      Diag *d = diag_add(x->diags, D_E093, def->stmt->name.span, "monoid %s leaves its range", s);
      diag_at(x->diags, d, def->stmt->range->span, "what holds of its operands");
      diag_hint(x->diags, d, "%s(%s, %s) is %s", s, value_text(x, v[i]), value_text(x, v[k]), value_text(x, made));
      x->equation.failed = true;
      return false;
    }
  return true;
}

static void laws_sample(Elab *x, const MonoidDef *def, const Monoid *m) {
  Value v[MAX_SAMPLES + 1], identity;
  ExprEnv none = {0};
  const Expr *range;
  if (!monoid_range(x, def, &m->dtype, &range) || !expr_value(m->identity, &none, &identity)) return;
  if (!monoid_in_range(range, &identity, 1)) return monoid_complain_identity(x, def);
  uint32_t all = samples(m->dtype, identity, v), n = 0;
  for (uint32_t i = 0; i < all; i++)
    if (monoid_in_range(range, &v[i], 1)) v[n++] = v[i];
  if (!range_kept(x, def, m, range, v, n)) return;
  if (pairs_hold(x, def, m, v, n)) triples_hold(x, def, m, v, n);
}

void monoid_complain_reads(Elab *x, const MonoidDef *m) {
  Diag *d = diag_add(x->diags, D_E094, m->stmt->e->span, "a monoid's function must not read tensors");
  diag_hint(x->diags, d, "it is made of its arguments, numbers and dims: what it reads is best put into `%s[k](...)`",
      m->stmt->name.s->s);
  x->equation.failed = true;
}

static Monoid monoid_draft(Elab *x, const MonoidDef *m, DType t) {
  Frozen f = labels_number(x, (LabelSet){0}, (LabelSet){0});
  Core *c = monoid_side(x, m, m->stmt->e, &t), *id = monoid_side(x, m, m->stmt->until, NULL);
  Monoid draft = {.name = m->stmt->name.s, .dtype = t, .combine = expr_param(x->exprs, t, 0)};
  draft.identity = expr_cast(x->exprs, t, expr_int(x->exprs, DT_I64, 0));
  if (c && id) {
    const Expr *combine = ex_convert(x, lower(x, c, -1), t).e, *identity = ex_convert(x, lower(x, id, -1), t).e;
    if (!((combine->has | identity->has) & (HAS_READ | HAS_TURN))) draft.combine = combine, draft.identity = identity;
    else monoid_complain_reads(x, m);
  }
  labels_restore(x, f);
  return draft;
}

const Monoid *monoid_at(Elab *x, const MonoidDef *m, DType t) {
  Str key = str_from(x->strings, dtype_name(t));
  const Monoid *made = map_find(&m->made, key);
  if (made) return made;
  Monoid draft = monoid_draft(x, m, t);
  if (!x->equation.failed) laws_sample(x, m, &draft);
  made = graph_monoid(x->graph, &draft);
  map_put((Map *)&m->made, key, (void *)made);
  return made;
}
