/* front/elab/stated.c - adjoints stated by defs: `def f(x) = e adjoint(y: dy) = e'`. Where the program asks for
 * gradients, the result of such a call is a vertex of its own, and so are its arguments; the stated adjoints become
 * separate vertices, of which graph/grad/ takes those that it needs. Elsewhere adjoints are ignored. */
#include "elab.h"

/* ---- what is written ------------------------------------------------------------------------------- */

static void count_text(Buf *b, uint32_t n, const char *what) { buf_printf(b, "%u %s%s", n, what, n == 1 ? "" : "s"); }

static bool complain_count(Elab *x, const AstStmt *def, Span at, const char *what, uint32_t given, const char *of,
    uint32_t wanted, const char *hint) {
  Buf t = buf_new(x->arena);
  count_text(&t, given, what);
  buf_printf(&t, given == 1 ? " stands here, and %s has " : " stand here, and %s has ", def->name.s->s);
  count_text(&t, wanted, of);
  Diag *d = diag_add(x->diags, D_E120, at, "%s", t.s);
  diag_at(x->diags, d, def->name.span, "defined here");
  diag_hint(x->diags, d, "%s", hint);
  return false;
}

/* Whether a name that the adjoint defines has a meaning in the def already. */
static bool name_taken(Elab *x, const AstStmt *def, AstName n) {
  Span first = {0};
  for (uint32_t i = 0; i < def->params.len; i++)
    if (def->params.at[i].s == n.s) first = def->params.at[i].span;
  for (uint32_t i = 0; i < def->items.len; i++)
    if (def->items.at[i].e && def->items.at[i].e->name.s == n.s) first = def->items.at[i].span;
  for (uint32_t i = 0; i < def->body.len; i++)
    if (def->body.at[i]->name.s == n.s) first = def->body.at[i]->name.span;
  for (uint32_t i = 0; i < def->adjoint->items.len; i++) {
    AstName own[2] = {ast_above(def->adjoint, i), ast_result_name(def->adjoint, i)};
    for (int k = 0; k < 2; k++)
      if (own[k].s == n.s && own[k].span.at < n.span.at) first = own[k].span;
  }
  if (!first.src) return false;
  diag_at(x->diags, diag_add(x->diags, D_E054, n.span, "%s means something in %s already", n.s->s, def->name.s->s),
      first, "here");
  return true;
}

bool stated_fits(Elab *x, const AstStmt *def) {
  const AstStmt *s = def->adjoint;
  uint32_t results = ast_results(def), n = s->e->kind == AST_RESULTS ? s->e->args.len : 1;
  if (s->items.len != results)
    return complain_count(x, def, s->span, "adjoint", s->items.len, "result", results,
        "`adjoint(y: dy, z: dz)` names the adjoint of each result, and the result before it");
  if (n != def->params.len)
    return complain_count(x, def, s->e->span, "expression", n, "parameter", def->params.len,
        "a stated adjoint says for each parameter, in their order, what is left to it");
  bool ok = true;
  for (uint32_t i = 0; i < s->items.len; i++) {
    AstName own[2] = {ast_result_name(s, i), ast_above(s, i)};
    for (int k = 0; k < 2; k++) ok &= !own[k].s || !name_taken(x, def, own[k]);
  }
  return ok;
}

/* ---- a call ------------------------------------------------------------------------------------------- */

bool is_stated(const Elab *x, const Frame *f, const Core *c) {
  return x->asks_gradients && f->def->adjoint && f->def->name.s != x->front->unstated &&
      dtype_is_float(c->type.dtype) && !c->type.weak;
}

static Bind *name_bound(Elab *x, Frame *f, AstName n, Bind *b) {
  if (n.s) vec_push(x->arena, f->locals, ((Local){.name = n.s, .span = n.span, .bind = b, .used = true}));
  return b;
}

static Bind *bind_whole(Elab *x, Str name, Span span, Core *c, LabelSet labels) {
  Bind *b = bind_new(x, name, span, c, labels, labels.at);
  b->in_line = 0;
  return b;
}

/* The adjoint of a result with these labels, before it is known. */
static Bind *above_new(Elab *x, AstName n, Core *of) {
  Type t = dtype_is_float(of->type.dtype) ? of->type : (Type){DT_F64, WEAK_REAL};
  Bind *b = bind_whole(x, n.s, n.span, core_const(x, expr_real(x->exprs, t.dtype, 0), t, n.span), of->free);
  b->role = BIND_ABOVE;
  return b;
}

static bool result_named(Elab *x, Scope *in, Stated *s, uint32_t k) {
  const AstStmt *adjoint = s->def->adjoint;
  AstName above = ast_above(adjoint, k), own = ast_result_name(adjoint, k);
  Frame *f = in->frame;
  bool several = s->def->e->kind == AST_RESULTS;
  const Ast *e = several ? s->def->e->args.at[k] : s->def->e;
  if (e == f->result) {
    name_bound(x, f, own, s->result);
    s->above = name_bound(x, f, above, above_new(x, above, s->result->body));
    return true;
  }
  Core *c = core_restrict(x, in, core_from_ast(x, in, e));
  if (!c) return false;
  name_bound(x, f, own, bind_whole(x, own.s ? own.s : s->def->name.s, e->span, c, c->free));
  name_bound(x, f, above, above_new(x, above, c))->role = BIND_NOTHING;
  return true;
}

/* ---- the rest of an expression when a result is not taken: its adjoint is 0, and so is every product with it ---- */

static Core *taken(Elab *x, const Stated *s, Core *c);

static Core *zero(Elab *x, const Core *like) {
  return core_const(x, expr_real(x->exprs, DT_F64, 0), (Type){DT_F64, WEAK_REAL}, like->span);
}

static Core *taken_op(Elab *x, const Stated *s, Core *c) {
  Core *a = taken(x, s, c->arg[0]), *b = c->n > 1 ? taken(x, s, c->arg[1]) : NULL;
  if (a == c->arg[0] && (c->n < 2 || b == c->arg[1])) return c;
  switch (c->op) {
    case OP_NEG: if (!a) return NULL; break;
    case OP_MUL: if (!a || !b) return NULL; break;
    case OP_DIV: if (!a) return NULL; break;
    case OP_ADD: if (!a || !b) return a ? a : b; break;
    case OP_SUB:
      if (!b) return a;
      if (!a) return core_op(x, OP_NEG, c->span, 1, &b);
      break;
    default: break;
  }
  Core *arg[2] = {a ? a : zero(x, c), b ? b : zero(x, c)};
  return core_op(x, c->op, c->span, c->n, arg);
}

static Core *with_args(Elab *x, Core *c, Core *const *arg) {
  Core *to = arena_copy(x->arena, c, sizeof *c);
  to->arg = arena_copy(x->arena, arg, c->n * sizeof *arg);
  return to;
}

static Core *taken_use(Elab *x, const Stated *s, Core *c) {
  Bind *b = c->bind;
  if (b->role == BIND_NOTHING) return NULL;
  if (b->stated != s || b->role != BIND_VALUE) return c;
  Core *body = taken(x, s, b->body);
  if (body) b->body = body;
  else b->role = BIND_NOTHING, b->used = false;
  return body ? c : NULL;
}

static Core *taken(Elab *x, const Stated *s, Core *c) {
  Core *arg[3] = {0};
  switch (c->kind) {
    case CORE_USE: return taken_use(x, s, c);
    case CORE_OP: return c->n < 3 ? taken_op(x, s, c) : c;
    case CORE_CAST: case CORE_RESTRICT: case CORE_REDUCE:
      if (c->kind == CORE_REDUCE && c->reducer != RED_SUM && c->reducer != RED_MEAN) return c;
      arg[0] = taken(x, s, c->arg[0]);
      if (!arg[0] || arg[0] == c->arg[0]) return arg[0] ? c : NULL;
      if (c->n > 1) arg[1] = c->arg[1];
      return with_args(x, c, arg);
    case CORE_OR_ELSE: case CORE_SELECT: {
      uint32_t from = c->kind == CORE_SELECT;
      arg[0] = c->arg[0];
      for (uint32_t k = from; k < c->n; k++) arg[k] = taken(x, s, c->arg[k]);
      const Core *last = arg[c->n - 1];
      bool last_zero = !last ||
          (last->kind == CORE_CONST &&
              ((last->e->kind == EX_INT && !last->e->i) || (last->e->kind == EX_REAL && last->e->f == 0)));
      if (!arg[from] && last_zero) return NULL;
      for (uint32_t k = from; k < c->n; k++)
        if (!arg[k]) arg[k] = zero(x, c);
      return with_args(x, c, arg);
    }
    default: return c;
  }
}

/* ---- contributions to a parameter --------------------------------------------------------------------- */

static bool is_float_like(Elab *x, const Bind *b, AstName param) {
  if (b->body->type.dtype != DT_BOOL) return true;
  Diag *d = diag_add(x->diags, D_E120, b->span, "what is left to %s is a number, and this is bool", param.s->s);
  diag_at(x->diags, d, param.span, "a parameter that is %s here", "a float");
  return false;
}

/* The labels that it leaves free and that the parameter has are the argument's own. */
static void labels_joined(Elab *x, Scope *in, Bind *b, const Bind *param) {
  for (uint32_t k = 0; k < param->labels.n; k++)
    for (uint32_t i = 0; i < b->labels.n; i++)
      if (b->outer[i] == label_here(x, in->labels, param->outer[k]))
        label_unify(b->labels.at[i], param->labels.at[k], x->arena);
  for (uint32_t i = 0; i < b->labels.n; i++)
    if (!label_root(b->labels.at[i])->facts.len) label_sized_outside(x, b->outer[i], b->labels.at[i]);
}

static bool parameter_left(Elab *x, Scope *in, Stated *s, uint32_t k, uint32_t n_labels) {
  const Ast *all = s->def->adjoint->e, *e = s->def->params.len == 1 ? all : all->args.at[k];
  Frame *f = in->frame;
  Bind *param = f->locals.at[k].bind;
  if (!param || !is_stated(x, f, param->body)) return true;
  Bind *b = bind_apart(x, in, e, strings_printf(x->strings, "grad.%s", param->name->s));
  if (!b || !is_float_like(x, b, s->def->params.at[k])) return false;
  const Core outer = {.kind = CORE_CONST, .span = b->span, .free = {b->outer, b->labels.n}};
  if (!check_closed(x, &outer, f, in->labels, n_labels)) return false;
  labels_joined(x, in, b, param);
  Core *body = s->def->e->kind == AST_RESULTS ? taken(x, s, b->body) : b->body;
  if (body) b->body = body;
  b->role = body ? BIND_ADJOINT : BIND_NOTHING;
  b->in_line = 0, b->used = body != NULL;
  param->used |= body != NULL; /* also where the body does not use it */
  s->param[s->n] = param;      /* without a body it gets nothing from this result */
  s->adjoint[s->n++] = b;
  return true;
}

static bool stated_made(Elab *x, Scope *in, Stated *s, uint32_t n_labels) {
  const AstStmt *adjoint = s->def->adjoint;
  for (uint32_t k = 0; k < adjoint->items.len; k++)
    if (!result_named(x, in, s, k)) return false;
  for (uint32_t k = 0; k < adjoint->body.len; k++)
    if (!frame_equation(x, in, adjoint->body.at[k], in->frame)) return false;
  for (uint32_t k = 0; k < s->def->params.len; k++)
    if (!parameter_left(x, in, s, k, n_labels)) return false;
  return true;
}

static EinRegion *region_apart(Elab *x) {
  const EinRegion *like = x->equation.stating ? x->equation.stating->region : x->around.region;
  return MAKE(x->arena, EinRegion, .parent = like->parent, .repeat = like->repeat, .depth = like->depth,
      .turn = like->turn);
}

Core *stated_result(Elab *x, Scope *in, Core *c, uint32_t n_labels) {
  Frame *f = in->frame;
  Stated *s = NEW(x->arena, Stated), *around = x->equation.stating;
  uint32_t names = f->locals.len, n = f->def->params.len;
  *s = (Stated){.def = f->def,
      .region = region_apart(x),
      .param = NEW_ARRAY(x->arena, Bind *, n + 1),
      .adjoint = NEW_ARRAY(x->arena, Bind *, n + 1)};
  s->result = bind_whole(x, f->def->name.s, f->call, c, c->free);
  x->equation.stating = s;
  bool ok = stated_made(x, in, s, n_labels);
  x->equation.stating = around;
  f->locals.len = names;
  if (!ok) return x->equation.failed = true, NULL;
  vec_push(x->arena, x->equation.stated, s);
  return core_use(x, in, s->result, f->call);
}

/* ---- vertices --------------------------------------------------------------------------------------------- */

void stated_above(Elab *x, Bind *b) {
  Frozen f = labels_number(x, b->labels, (LabelSet){0});
  DType t = b->body->type.dtype;
  EinSum s = {.reducer = RED_NONE, .acc = t, .dtype = t, .body = expr_real(x->exprs, t, 0)};
  b->node = vertex_new(x, &s, NULL, 0, b->name, b->span);
  labels_restore(x, f);
}

static const Bind *param_of(const Bind *adjoint) {
  for (uint32_t k = 0; k < adjoint->stated->n; k++)
    if (adjoint->stated->adjoint[k] == adjoint) return adjoint->stated->param[k];
  bug("an adjoint of no parameter");
}

/* Over the parameter's labels; sums over any others. */
static Frozen labels_of_param(Elab *x, Bind *b, const Bind *param) {
  LabelSet out = {NEW_ARRAY(x->arena, LabelVar *, param->labels.n + 1), param->labels.n}, red = b->labels;
  for (uint32_t k = 0; k < out.n; k++) {
    out.at[k] = param->labels.at[k];
    for (uint32_t i = 0; i < b->labels.n; i++)
      if (label_root(b->labels.at[i]) == label_root(out.at[k]) && b->labels.at[i]->name == out.at[k]->name)
        out.at[k] = b->labels.at[i];
  }
  return labels_number(x, out, set_minus(x, red, out));
}

void stated_adjoint(Elab *x, Bind *b) {
  const Bind *param = param_of(b);
  Frozen f = labels_of_param(x, b, param);
  bool sums = x->vertex.red.n > 0;
  DType t = param->node->dtype, acc = sums ? dtype_sum(type_join(b->body->type, type_firm(t)).dtype) : t;
  const Expr *here = total(
      x, at_labels(x, param->pred, x->vertex.out), needs_at_labels(x, param->range, x->vertex.out));
  Obligation *needs = NULL;
  Core *c = b->body;
  for (; c->kind == CORE_RESTRICT; c = c->arg[0]) { /* nothing is contributed outside it */
    Ex p = lower(x, c->arg[1], -1);
    here = both(x, both(x, here, p.pred), restriction(x, p));
    needs = need_all(x, needs, p.range);
  }
  Ex e = ex_convert(x, lower(x, c, sums ? (int)acc : -1), acc);
  needs = need_all(x, needs, e.range);
  if (both(x, here, e.pred) != here) needs = need(x, needs, e.pred, NEED_VALUE, b->span);
  discharge_all(x, needs, facts_here(x, here), b->name->s);
  EinSum s = {.n_out = x->vertex.out.n, .reducer = sums ? RED_SUM : RED_NONE, .acc = acc, .dtype = t, .body = e.e};
  if (sums) s.where = here;
  else if (here) s.body = expr_select(x->exprs, here, e.e, expr_real(x->exprs, t, 0));
  b->node = vertex_new(x, &s, NULL, 0, b->name, b->span);
  labels_restore(x, f);
}

void stated_rules(Elab *x) {
  for (uint32_t i = 0; i < x->equation.stated.len && !x->equation.failed; i++) {
    const Stated *s = x->equation.stated.at[i];
    if (!s->result->node) continue;
    GradRule r = {.result = s->result->node, .name = s->def->name.s, .n = 0, .region = s->region};
    r.by = NEW_ARRAY(x->arena, EinNode *, s->n + 1), r.adjoint = NEW_ARRAY(x->arena, EinNode *, s->n + 1);
    r.above = s->above->node;
    for (uint32_t k = 0; k < s->n; k++) {
      if (!s->param[k]->node) continue;
      r.by[r.n] = s->param[k]->node;
      r.adjoint[r.n++] = s->adjoint[k]->node;
    }
    if (!x->gradients) x->gradients = gradients_new(x->arena, x->graph, x->front->keep);
    gradient_rule(x->gradients, &r);
  }
}
