/* front/elab/tuple.c - a user's monoid over tuples at the dtypes of its use. */
#include "elab.h"

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

/* ---- a use ------------------------------------------------------------------------------------ */

static Str dtypes_key(Elab *x, const DType *t, uint32_t n) {
  Buf b = buf_new(x->arena);
  for (uint32_t k = 0; k < n; k++) buf_printf(&b, "%s ", dtype_name(t[k]));
  return str_from(x->strings, b.s);
}

const Tuple *tuple_at(Elab *x, const MonoidDef *m, Core *const *body, Span use) {
  uint32_t n = m->stmt->parts;
  Tuple *t = MAKE(x->arena, Tuple, .def = m, .n = n, .dtype = NEW_ARRAY(x->arena, DType, n),
      .combine = NEW_ARRAY(x->arena, const Expr *, n), .identity = NEW_ARRAY(x->arena, const Expr *, n));
  for (uint32_t k = 0; k < n; k++) t->dtype[k] = type_settle(body[k]->type).dtype;
  if (!parts_settle(x, m, t->dtype, use)) return NULL;
  Str key = dtypes_key(x, t->dtype, n);
  const Tuple *made = map_find(&m->made, key);
  if (made) return made;
  if (!tuple_draft(x, t)) return NULL;
  if (!x->equation.failed) monoid_laws(x, t);
  map_put((Map *)&m->made, key, t);
  return x->equation.failed ? NULL : t;
}
