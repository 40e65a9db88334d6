/* front/elab/monoid.c - a user's monoid at the dtype of its use. */
#include "elab.h"

Core *monoid_side(Elab *x, const MonoidDef *m, const Ast *a, const DType *t) {
  Frame *f = MAKE(x->arena, Frame, .def = m->stmt, .order = UINT32_MAX, .depth = 1);
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
  return exprs_same(a->sum->n_red, a->bound, b->bound);
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

/* ---- at a dtype ------------------------------------------------------------------------------- */

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
  Tuple one = {.def = m, .n = 1, .dtype = &t, .combine = &draft.combine, .identity = &draft.identity};
  if (!x->equation.failed && monoid_range(x, m, &t, &one.range)) monoid_laws(x, &one);
  made = graph_monoid(x->graph, &draft);
  map_put((Map *)&m->made, key, (void *)made);
  return made;
}
