/* front/elab/elab.c - the statements of a program, one after the other, and the entry point from AST to EinGraph. */
#include "elab.h"

#include "front/limits.h"

void equation_begin(Elab *x, Str name) {
  ElabEquation *e = &x->equation;
  e->name = name;
  e->first_node = x->graph->n_nodes;
  e->vars.len = e->groups.len = e->binds.len = e->stated.len = 0;
  e->failed = false;
}

/* ---- the left side ---------------------------------------------------------------------------- */

static bool left_turn(Elab *x, const AstItem *it, Left *l, bool stacks, uint32_t axis) {
  if (!stacks || it->kind != ITEM_EXPR || it->e->kind != AST_NAME) return false;
  Symbol *y = symbol_find(x, it->e->name.s, UINT32_MAX);
  if (!y || y->kind != SYM_TURN || !x->around.block || l->turn || y != x->around.block->turn) return false;
  l->turn = y;
  l->turn_axis = axis;
  return true;
}

static bool left_repeated(Elab *x, const LabelVar *v, Span span) {
  Diag *d = diag_add(x->diags, D_E076, span, "label %s stands twice on the left", v->name->s);
  diag_at(x->diags, d, v->span, "first here");
  diag_hint(x->diags, d, "a diagonal is written out: `D[i,j] = if i == j then x[i] else 0`");
  return false;
}

static bool has_letter(LabelSet s, char c) {
  for (uint32_t i = 0; i < s.n; i++)
    if (s.at[i]->name->len == 1 && s.at[i]->name->s[0] == c) return true;
  return false;
}

/* `input X[i:3, i:3]` */
static bool declared_repeated(Elab *x, const LabelVar *v, const AstItem *it, LabelSet taken) {
  const char *other = "ijklmnopqr", *size = source_text(x, it->e->span);
  while (other[1] && has_letter(taken, *other)) other++;
  Diag *d = diag_add(x->diags, D_E076, it->span, "label %s stands twice in a declaration", v->name->s);
  diag_at(x->diags, d, v->span, "first here");
  diag_hint(x->diags, d, "give the dimensions different labels, as in `%s:%s, %c:%s`", v->name->s, size, *other, size);
  return false;
}

static bool left_label(Elab *x, Scope *s, const AstItem *it, Left *l) {
  LabelSet one = {0};
  AstItems items = {(AstItem *)it, 1, 1};
  if (it->kind == ITEM_EXPR && it->e->kind != AST_NAME) {
    Diag *d = diag_add(x->diags, D_E077, it->span, "the left side takes labels, not expressions");
    diag_hint(
        x->diags, d, "put the arithmetic on the right: `Y[i] = X[i + 1]`; a scatter is `sum[i where f[i] == b] ...`");
    return false;
  }
  if (!labels_from_items(x, s, &items, &one, "the left side", false)) return false;
  if (set_has(l->out, one.at[0])) return left_repeated(x, one.at[0], it->span);
  one.at[0]->left = true;
  l->out = set_union(x, l->out, one);
  return true;
}

bool left_from_items(Elab *x, const AstItems *items, Left *l, bool stacks) {
  *l = (Left){.labels = {.map = map_new(x->arena)}, .merge = NEW_ARRAY(x->arena, uint8_t, items->len + 1)};
  Scope s = {.labels = &l->labels};
  bool ok = true;
  for (uint32_t i = 0; i < items->len && ok; i++) {
    const AstItem *it = &items->at[i];
    if (left_turn(x, it, l, stacks, i)) continue;
    uint32_t before = l->out.n, n = it->kind == ITEM_GROUP ? it->part.len : 1;
    for (uint32_t k = 0; k < n; k++) ok &= left_label(x, &s, it->kind == ITEM_GROUP ? &it->part.at[k] : it, l);
    l->merge[l->rank++] = (uint8_t)(l->out.n - before);
    if (l->out.n <= GRAPH_OUT / 2 && l->rank <= GRAPH_RANK) continue;
    if (l->rank > GRAPH_RANK) diag_add(x->diags, D_E095, it->span, "more than %d dimensions", GRAPH_RANK);
    else diag_add(x->diags, D_E095, it->span, "more than %d labels of one output", GRAPH_OUT / 2);
    ok = false;
  }
  if (!ok) x->equation.failed = true;
  return ok;
}

/* ---- bodies ----------------------------------------------------------------------------------- */

static bool is_label(const LabelVar *v) { return v->facts.len || v->same || v->reduced || v->listed; }

/* The tensor with dimensions of that name, if a bare name in an index may stand for it. */
static const Symbol *tensor_meant(Elab *x, Str name) {
  const Symbol *y = symbol_find(x, name, UINT32_MAX);
  bool read = y && y->kind == SYM_TENSOR && y->node && y->node->rank;
  return read && dtype_is_int(y->node->dtype) ? y : NULL;
}

static void complain_unknown(Elab *x, const LabelVar *v) {
  const Symbol *y = tensor_meant(x, v->name);
  if (y) {
    complain_unread(x, y, v->span);
    return;
  }
  if (complain_function(x, (AstName){v->name, v->span})) return;
  Diag *d = diag_add(x->diags, D_E070, v->span, "%s is not defined", v->name->s);
  if (hint_turn(x, d, v->name, v->span)) return;
  if (!diag_unknown(x, d, (AstName){v->name, v->span}, NULL))
    diag_hint(x->diags, d, "if it is a label, it must stand on the left or in a reducer");
}

static const Ast *child_with(const Ast *a, Span s) {
  const Ast *in[3] = {a->a, a->b, a->c};
  for (int i = 0; i < 3; i++)
    if (in[i] && in[i]->span.at <= s.at && s.end <= in[i]->span.end) return in[i];
  for (uint32_t i = 0; i < a->args.len; i++)
    if (a->args.at[i]->span.at <= s.at && s.end <= a->args.at[i]->span.end) return a->args.at[i];
  return NULL;
}

/* The last place where v is used and not bound. */
static Span free_last(const Core *c, const LabelVar *v) {
  for (uint32_t i = c->n; i-- > 0;) {
    if (!c->arg[i] || !set_has(c->arg[i]->free, v)) continue;
    c = c->arg[i];
    i = c->n;
  }
  return c->span;
}

/* Whether the chain e is a sum that continues from r, so that r may take in the rest. */
static bool chain_goes_on(const Ast *e, const Ast *r) {
  if (e->kind == AST_BINARY && e->span.at == r->span.at) return true;
  for (; e->kind == AST_BINARY && (e->op == OP_ADD || e->op == OP_SUB); e = e->a)
    if (e->b == r) return e->op == OP_ADD;
  return false;
}

/* `sum[i] x[i] - y[i]` leaves the second i free: suggests parentheses around what the reducer may have been meant to
 * cover. */
static const char *reach_fix(Elab *x, const Ast *e, const Ast *r, Span at) {
  for (const Ast *in; (in = child_with(e, at)) && in == child_with(e, r->span);) e = in;
  if (!chain_goes_on(e, r) || e->span.src != at.src || !r->a) return NULL;
  Span head = {at.src, r->span.at, r->a->span.at}, body = {at.src, r->a->span.at, e->span.end};
  return arena_printf(x->arena, "%s(%s)", source_text(x, head), source_text(x, body));
}

static void hint_reduce(
    Elab *x, Diag *d, const Ast *e, const LabelVar *v, Span last, const char *all, bool left, bool is_bool) {
  const char *fix = v->reduced && !v->reduced->call_form ? reach_fix(x, e, v->reduced, last) : NULL;
  if (v->reduced) diag_at(x->diags, d, v->reduced->op_span, "the reach of this ends before it");
  if (!left && is_bool) diag_hint(x->diags, d, "for all of them, write `all[%s] (%s)`", all, source_text(x, e->span));
  else if (fix) diag_hint(x->diags, d, "a reducer reaches over `*` and `/` only; to take in all, write `%s`", fix);
  else
    diag_hint(x->diags, d, left ? "add it on the left, or reduce it: `sum[%s] ...`" : "reduce it: `sum[%s] ...`", all);
}

/* `L[i] = sum[i] x[i]`: only the reducer's own label determines the length of L. */
static void warn_bound_left(Elab *x, const Core *c, const Ast *e, LabelSet out) {
  for (uint32_t i = 0; i < out.n; i++) {
    const LabelVar *v = out.at[i], *root = label_root(out.at[i]);
    bool sized = false;
    for (uint32_t k = 0; k < root->facts.len; k++)
      sized |= root->facts.at[k].span.src != e->span.src || root->facts.at[k].span.at < e->span.at;
    if (!v->left || !v->reduced || sized || set_has(c->free, v)) continue;
    Diag *d = diag_add(x->diags, D_W007, v->span, "every %s gets the same value", v->name->s);
    diag_at(x->diags, d, v->reduced->op_span, "binds a label %s of its own", v->name->s);
    diag_hint(x->diags, d, "leave %s out on the left; if this is meant, say its size there: `%s:SIZE`", v->name->s,
        v->name->s);
  }
}

/* The place of the label, or, if that is in a def that e calls, the call. */
static Span free_shown(const Core *c, const LabelVar *v, const Ast *e) {
  Span at = free_place(c, v);
  return span_holds(e->span, at) ? at : span_holds(e->span, v->span) ? v->span : e->span;
}

/* All remaining free labels are one mistake. name: of the left side, or NULL if there is none. */
static void complain_free(Elab *x, const Core *c, const Ast *e, const LabelSet over, const char *name) {
  Buf all = buf_new(x->arena), listed = buf_new(x->arena);
  for (uint32_t i = 0; i < over.n; i++) {
    buf_printf(&all, "%s%s", i ? "," : "", over.at[i]->name->s);
    buf_printf(&listed, "%s%s", i == 0 ? "" : i + 1 == over.n ? " and " : ", ", over.at[i]->name->s);
  }
  Span at = free_shown(c, over.at[0], e);
  const char *left = name ? arena_printf(x->arena, "neither on the left of %s nor ", name) : "not ";
  Diag *d = diag_add(x->diags, D_E078, at, "label%s %s %s %sreduced", over.n > 1 ? "s" : "", listed.s,
      over.n > 1 ? "are" : "is", left);
  for (uint32_t i = 1; i < over.n; i++) diag_at(x->diags, d, free_shown(c, over.at[i], e), "%s", over.at[i]->name->s);
  if (over.n > 1) diag_note(x->diags, d, "%s", over.at[0]->name->s);
  Span inside = free_place(c, over.at[0]);
  if (!span_holds(e->span, inside)) diag_at(x->diags, d, inside, "left over here, in the def");
  Str first = over.at[0]->name;
  if (hint_turn(x, d, first, at)) return;
  if (first->len > 1 && hint_constant(x, d, first)) return; /* `x[end]`; a single letter is a label */
  const Symbol *y = tensor_meant(x, over.at[0]->name);
  if (y)
    diag_hint(x->diags, d, "an element of the tensor %s is read with its labels: `%s`", y->name->s, shape_form(x, y));
  hint_reduce(x, d, e, over.at[0], free_last(c, over.at[0]), all.s, name != NULL, c->type.dtype == DT_BOOL);
}

bool core_closed(Elab *x, const Core *c, const Ast *e, LabelSet out, const char *name) {
  LabelSet over = set_minus(x, c->free, out), labels = {0};
  for (uint32_t i = 0; i < over.n; i++)
    if (is_label(over.at[i])) labels = set_union(x, labels, set_one(x, over.at[i]));
    else complain_unknown(x, over.at[i]);
  if (labels.n) complain_free(x, c, e, labels, name);
  return !over.n;
}

/* A literal that c is, or may choose, and that does not fit; NULL: there is none. */
static const Core *literal_beyond(const Core *c, DType to) {
  if (c->kind == CORE_SELECT) {
    const Core *in = literal_beyond(c->arg[1], to);
    return in ? in : literal_beyond(c->arg[2], to);
  }
  bool literal = c->kind == CORE_CONST && c->type.weak == WEAK_LITERAL && c->e->kind == EX_INT;
  return literal && dtype_is_int(to) && !dtype_holds(to, c->e->i) ? c : NULL;
}

bool type_fits(Elab *x, const Core *c, int dtype, Span typed, Str state) {
  if (dtype < 0) return true;
  Type t = c->type;
  DType to = (DType)dtype;
  bool ok = t.dtype == to || dtype_is_float(to) || (t.weak && t.weak != WEAK_REAL && to != DT_BOOL);
  if (t.dtype == DT_BOOL && to != DT_BOOL) ok = false;
  if (!ok && dtype_is_int(t.dtype) && dtype_is_int(to)) ok = dtype_join(t.dtype, to) == to;
  const Core *beyond = ok ? literal_beyond(c, to) : NULL;
  if (beyond) {
    Diag *g = diag_add(
        x->diags, D_E082, beyond->span, "%lld does not fit into %s", (long long)beyond->e->i, dtype_name(to));
    if (typed.src) diag_at(x->diags, g, typed, "%s", dtype_name(to));
    diag_hint(x->diags, g, "write a wider dtype, such as `i64`, or a smaller number");
    return false;
  }
  if (ok) return true;
  Diag *d =
      diag_add(x->diags, D_E089, c->span, "this is %s and does not become %s by itself", type_name(t), dtype_name(to));
  if (typed.src) diag_at(x->diags, d, typed, "%s", dtype_name(to));
  if (to == DT_BOOL) diag_hint(x->diags, d, "compare it: `%s != 0`", source_text(x, c->span));
  else if (state)
    diag_hint(x->diags, d, "declare the state as %s, or convert this: `%s(%s)`", type_name(t), dtype_name(to),
        source_text(x, c->span));
  else diag_hint(x->diags, d, "convert it: `%s(%s)`", dtype_name(to), source_text(x, c->span));
  return false;
}

/* The labels that c leaves free, in order of occurrence. */
static void left_from_body(Elab *x, const Core *c, const Ast *e, Left *l) {
  for (uint32_t i = 0; i < c->free.n; i++)
    if (is_label(c->free.at[i])) l->out = set_union(x, l->out, set_one(x, c->free.at[i]));
  l->rank = l->out.n;
  l->merge = NEW_ARRAY(x->arena, uint8_t, l->rank + 1);
  for (uint32_t i = 0; i < l->rank; i++) l->merge[i] = 1, l->out.at[i]->left = true;
  if (l->rank <= GRAPH_RANK) return;
  diag_add(x->diags, D_E095, e->span, "more than %d dimensions", GRAPH_RANK);
  x->equation.failed = true;
}

static Core *body_core(Elab *x, Left *l, const Ast *e, const char *name) {
  Scope s = {.labels = &l->labels};
  Core *c = core_from_ast(x, &s, e);
  if (c && l->open) left_from_body(x, c, e, l);
  if (!c || x->equation.failed || !core_closed(x, c, e, l->out, name)) return NULL;
  if (!extents_solve(x)) return NULL;
  if (name) warn_bound_left(x, c, e, l->out);
  return c;
}

EinNode *elab_body(Elab *x, Str name, Left *l, const Ast *e, int dtype, Span span) {
  Core *c = body_core(x, l, e, name ? name->s : NULL);
  if (!c || !type_fits(x, c, dtype, l->typed, l->state)) return NULL;
  EinNode *n = lower_equation(x, name, c, l->out, l->merge, l->rank, dtype, span);
  return x->equation.failed ? NULL : n;
}

/* ---- equations and outputs -------------------------------------------------------------------- */

static void add_output(Elab *x, Symbol *y, Span span) {
  if (y->output) {
    diag_at(x->diags, diag_add(x->diags, D_E096, span, "%s is an output already", y->name->s), y->outputs, "by this");
    return;
  }
  y->output = y->used = true;
  y->outputs = span;
  if (y->node) vec_push(x->arena, x->graph->outputs, ((EinOutput){y->name, y->node}));
}

static void add_stack(Elab *x, const AstStmt *s, Left *l, EinNode *n) {
  Symbol *y = symbol_add(x, SYM_STACK, s->name);
  y->quiet = true;
  vec_push(x->arena, x->around.block->stacks, y);
  EinStack k = {s->name.s, n, l->turn_axis};
  if (n) vec_push(x->arena, x->around.block->region->stacks, k);
  vec_push(x->arena, x->around.block->stack_nodes, n);
}

bool elab_spoiled(Elab *x, const AstStmt *s) {
  if (x->spoiled != s) return false;
  x->spoiled = s->also;
  return true;
}

void elab_done(Elab *x, const AstStmt *s, uint32_t errors_before) {
  if (x->diags->errors > errors_before) x->spoiled = s->also;
}

static void equation_made(Elab *x, const AstStmt *s) {
  equation_begin(x, s->name.s);
  Left l;
  EinNode *n = NULL;
  bool ok = left_from_items(x, &s->items, &l, true);
  l.typed = s->dtype_span;
  l.open = s->open;
  if (ok) n = elab_body(x, s->name.s, &l, s->e, s->dtype, s->name.span);
  if (n) n = elab_by(x, s, n, false, x->equation.first_node);
  if (l.turn) return add_stack(x, s, &l, n);
  Symbol *y = symbol_add(x, SYM_TENSOR, s->name);
  y->node = n;
  y->axes = &s->items;
  if (s->output) add_output(x, y, s->name.span);
}

void elab_equation(Elab *x, const AstStmt *s) {
  uint32_t before = x->diags->errors;
  if (elab_spoiled(x, s)) symbol_add(x, SYM_TENSOR, s->name); /* uses of it are not reported */
  else equation_made(x, s);
  elab_done(x, s, before);
}

EinNode *scalar_made(Elab *x, const Ast *e) {
  Left l = {.labels = {.map = map_new(x->arena)}, .merge = NEW_ARRAY(x->arena, uint8_t, 1)};
  return elab_body(x, NULL, &l, e, -1, e->span);
}

static void elab_output(Elab *x, const AstStmt *s) {
  for (uint32_t i = 0; i < s->decls.len; i++) {
    AstName n = s->decls.at[i].name;
    Symbol *y = symbol_find(x, n.s, UINT32_MAX);
    if (y && y->kind == SYM_TENSOR) {
      add_output(x, y, n.span);
      continue;
    }
    Diag *d = diag_add(x->diags, D_E070, n.span, y ? "%s is not a tensor" : "%s is not defined", n.s->s);
    diag_unknown(x, d, n, NULL);
    if (y && y->kind == SYM_DIM) diag_hint(x->diags, d, "an equation makes a tensor of it: `output n = %s`", n.s->s);
  }
}

/* ---- dims, inputs ----------------------------------------------------------------------------- */

static const DimValue *dim_given(const Elab *x, Str name) {
  for (uint32_t i = x->dims ? x->dims->len : 0; i-- > 0;)
    if (x->dims->at[i].name == name) return &x->dims->at[i];
  return NULL;
}

static void elab_dim(Elab *x, const AstDecl *d) {
  equation_begin(x, d->name.s);
  Labels none = {.map = map_new(x->arena)};
  Scope s = {.labels = &none};
  const DimValue *given = dim_given(x, d->name.s);
  const Expr *e = d->e ? size_from_ast(x, &s, d->e) : expr_dim(x->exprs, d->name.s);
  if (given) e = expr_int(x->exprs, DT_I64, given->value);
  Symbol *y = symbol_add(x, SYM_DIM, d->name);
  y->size = e;
  if (!e || (e->kind != EX_INT && d->e)) return;
  Dim dim = {d->name.s, e->kind == EX_INT, e->kind == EX_INT ? e->i : 0};
  vec_push(x->arena, x->graph->dims, dim);
}

typedef struct Declared { const Expr **dim; LabelSet labels; uint8_t *merge; bool ok; } Declared;

static void declare_item(Elab *x, Scope *s, const AstItem *it, Declared *r, uint32_t k) {
  LabelSet one = {0};
  const Expr *e = NULL;
  r->merge[k] = 1;
  if (it->kind == ITEM_SIZED) {
    AstItems items = {(AstItem *)it, 1, 1};
    e = size_from_ast(x, s, it->e);
    if (!e || !labels_from_items(x, s, &items, &one, "a declaration", false)) r->ok = false;
    else if (set_has(r->labels, one.at[0])) r->ok = declared_repeated(x, one.at[0], it, r->labels);
  } else if (it->kind == ITEM_EXPR) {
    e = size_from_ast(x, s, it->e);
    if (!e) r->ok = false;
    else {
      LabelVar *v = label_new(x, strings_printf(x->strings, "axis~%u", k + 1), it->span);
      label_fact(x, v, e, it->span, "its size");
      one = set_one(x, v);
    }
  } else {
    diag_add(x->diags, D_E053, it->span, "a declaration takes sizes, or labels with sizes: `n:N`");
    r->ok = false;
  }
  r->dim[k] = e;
  if (!r->ok) return;
  one.at[0]->left = true;
  r->labels = set_union(x, r->labels, one);
}

static EinNode *declare_default(Elab *x, const AstStmt *s, const AstDecl *d, Left *l) {
  EinNode *n = elab_body(x, d->name.s, l, s->e, s->dtype >= 0 ? s->dtype : DT_F32, d->name.span);
  return n;
}

static void elab_input(Elab *x, const AstStmt *s, const AstDecl *d) {
  equation_begin(x, d->name.s);
  Left l = {.labels = {.map = map_new(x->arena)},
      .rank = d->items.len,
      .merge = NEW_ARRAY(x->arena, uint8_t, d->items.len + 1),
      .typed = s->dtype_span};
  Scope sc = {.labels = &l.labels};
  Declared r = {
      .dim = NEW_ARRAY(x->arena, const Expr *, d->items.len + 1), .merge = l.merge, .ok = d->items.len <= GRAPH_RANK};
  if (!r.ok) diag_add(x->diags, D_E095, d->span, "more than %d dimensions", GRAPH_RANK);
  for (uint32_t i = 0; i < d->items.len && r.ok; i++) declare_item(x, &sc, &d->items.at[i], &r, i);
  l.out = r.labels;
  EinNode *fallback = r.ok && s->e ? declare_default(x, s, d, &l) : NULL;
  EinNode *n = NULL;
  if (r.ok && (!s->e || fallback)) {
    n = graph_input(
        x->graph, d->name.s, s->dtype >= 0 ? (DType)s->dtype : DT_F32, d->items.len, r.dim, s->kind == STMT_PARAM);
    n->place = place_of(x, d->name.span);
    n->fallback = fallback;
  }
  Symbol *y = symbol_add(x, SYM_TENSOR, d->name);
  y->node = n;
  y->axes = &d->items;
}

/* ---- defs, monoids, asserts ------------------------------------------------------------------- */

static bool twice(Elab *x, AstName a, AstName b) {
  if (a.s != b.s) return false;
  Diag *d = diag_add(x->diags, D_E054, b.span, "%s stands twice among the labels and parameters", b.s->s);
  diag_at(x->diags, d, a.span, "first here");
  return true;
}

static bool def_label(Elab *x, const AstStmt *s, uint32_t i) {
  const AstItem *it = &s->items.at[i];
  if (it->kind != ITEM_EXPR || it->e->kind != AST_NAME) {
    Diag *d = diag_add(x->diags, D_E053, it->span, "a def's label parameter is a name");
    diag_hint(x->diags, d, "sizes are given where it is called: `%s[j:8](...)`", s->name.s->s);
    return false;
  }
  for (uint32_t k = 0; k < i; k++)
    if (twice(x, s->items.at[k].e->name, it->e->name)) return false;
  for (uint32_t k = 0; k < s->params.len; k++)
    if (twice(x, it->e->name, s->params.at[k])) return false;
  Symbol *y = symbol_find(x, it->e->name.s, UINT32_MAX);
  if (!y || y->turns || (y->kind != SYM_DIM && !(y->kind == SYM_TENSOR && y->node && !y->node->rank))) return true;
  Diag *d = diag_add(x->diags, D_E052, it->span, "%s cannot be a label here: it is a %s", y->name->s,
                     y->kind == SYM_DIM ? "dim" : "tensor without dimensions");
  diag_at(x->diags, d, y->span, "defined here");
  diag_hint(x->diags, d, "choose another label");
  return false;
}


static bool items_name(const AstItems *items, Str name) {
  vec_each(const AstItem, it, *items)
    if (it->name.s == name || ast_names(it->e, name) || items_name(&it->part, name)) return true;
  return false;
}

bool ast_names(const Ast *a, Str name) {
  for (; a; a = a->a) {
    if (a->name.s == name || items_name(&a->items, name) || ast_names(a->b, name) || ast_names(a->c, name) ||
        ast_names(a->where, name))
      return true;
    for (uint32_t i = 0; i < a->args.len; i++)
      if (ast_names(a->args.at[i], name)) return true;
  }
  return false;
}

bool adjoint_names(const AstStmt *def, Str name) {
  const AstStmt *s = def->adjoint;
  for (uint32_t k = 0; s && k < s->body.len; k++)
    if (ast_names(s->body.at[k]->e, name)) return true;
  return s && ast_names(s->e, name);
}

static void warn_unused_labels(Elab *x, const AstStmt *s) {
  for (uint32_t i = 0; i < s->items.len; i++) {
    AstName label = s->items.at[i].e->name;
    bool used = label.s->s[0] == '_' || ast_names(s->e, label.s) || adjoint_names(s, label.s);
    for (uint32_t k = 0; k < s->body.len; k++) used = used || ast_names(s->body.at[k]->e, label.s);
    if (!used) diag_add(x->diags, D_W001, label.span, "label %s is never used in %s", label.s->s, s->name.s->s);
  }
}

static void elab_def(Elab *x, const AstStmt *s) {
  bool ok = true;
  for (uint32_t i = 0; i < s->items.len && ok; i++) ok = def_label(x, s, i);
  for (uint32_t i = 0; i < s->params.len && ok; i++)
    for (uint32_t k = 0; k < i && ok; k++) ok = !twice(x, s->params.at[k], s->params.at[i]);
  ok = ok && (!s->adjoint || stated_fits(x, s));
  def_locals_check(x, s);
  Symbol *y = symbol_add(x, SYM_DEF, s->name);
  y->stmt = s;
  if (!ok) y->kind = SYM_TENSOR; /* uses of it are not reported */
  else if (!x->module) warn_unused_labels(x, s);
}

static uint32_t parts_of(const Ast *e) { return e->kind == AST_RESULTS ? e->args.len : 1; }

static const char *parts_text(Elab *x, uint32_t n) {
  return n == 1 ? "one value" : arena_printf(x->arena, "%u components", n);
}

/* Both operands, the function and the identity have the same number of components. */
static bool monoid_parts_fit(Elab *x, const AstStmt *s) {
  uint32_t n = s->parts, other = s->params.len - n, e = parts_of(s->e), identity = parts_of(s->until);
  if (n > TUPLE_PARTS) {
    diag_add(x->diags, D_E091, s->name.span, "a monoid's operand has at most %d components", TUPLE_PARTS);
    return false;
  }
  if (other == n && e == n && identity == n) return true;
  const char *what = other != n ? "its second" : e != n ? "its function gives" : "its identity has";
  uint32_t met = other != n ? other : e != n ? e : identity;
  Diag *d = diag_add(x->diags, D_E091, other != n ? s->name.span : e != n ? s->e->span : s->until->span,
      "the first operand of monoid %s has %s, and %s %s", s->name.s->s, parts_text(x, n), what, parts_text(x, met));
  diag_hint(x->diags, d, n == 1 && e == 1 && other == 1 ? "`monoid add(a, b) = a + b identity 0`" :
      "`monoid both((a, b), (c, d)) = (a + c, max(b, d)) identity (0, -inf)`");
  return false;
}

static void elab_monoid(Elab *x, const AstStmt *s) {
  MonoidDef *m = MAKE(x->arena, MonoidDef, s, map_new(x->arena));
  Symbol *y = symbol_add(x, SYM_MONOID, s->name);
  y->stmt = s;
  y->monoid = m;
  bool ok = monoid_parts_fit(x, s);
  for (uint32_t i = 0; i < s->params.len && ok; i++)
    for (uint32_t k = 0; k < i && ok; k++) ok = !twice(x, s->params.at[k], s->params.at[i]);
  if (!ok) y->kind = SYM_TENSOR; /* uses of it are not reported */
}

static void elab_assert(Elab *x, const AstStmt *s) {
  equation_begin(x, str_from(x->strings, "assert"));
  Left l = {.labels = {.map = map_new(x->arena)}, .merge = NEW_ARRAY(x->arena, uint8_t, 1)};
  Core *c = body_core(x, &l, s->e, NULL);
  if (!c || !want_bool(x, c, (Span){0}, "assert")) return;
  Str text = s->text ? s->text : str_from(x->strings, "assertion failed");
  if (c->kind != CORE_REDUCE) { /* over sizes alone: known now, or when sizes are bound */
    Ex e = lower(x, c, -1);
    if (!x->equation.failed && !(e.e->has & (HAS_READ | HAS_CALL)) && !e.range && !e.pred) {
      if (e.e->kind == EX_INT && !e.e->i) diag_add(x->diags, D_E113, c->span, "this assert fails: %s", text->s);
      if (e.e->kind == EX_INT) return;
      vec_push(x->arena, x->hold, e.e);
      vec_push(x->arena, x->graph->checks, ((DimCheck){e.e, text, place_of(x, c->span)}));
      return;
    }
  }
  EinNode *n = lower_equation(x, NULL, c, (LabelSet){0}, l.merge, 0, DT_BOOL, c->span);
  if (!x->equation.failed) vec_push(x->arena, x->graph->asserts, ((EinAssert){n, text, place_of(x, c->span)}));
}

/* Limits of a plan: only checks that the words are known, since plans are not made here. */
static void elab_limits(Elab *x, const AstStmt *s) {
  equation_begin(x, str_from(x->strings, "assert"));
  Labels none = {.map = map_new(x->arena)};
  Scope scope = {.labels = &none};
  Limits limits = {0};
  const Expr *e = size_from_ast(x, &scope, s->e);
  if (e && e->kind == EX_INT && e->i < 1) diag_add(x->diags, D_E114, s->e->span, "a plan has at least one site");
  limits_of(x->arena, s, x->diags, &limits);
}

/* ---- the program ------------------------------------------------------------------------------ */

static void elab_stmt(Elab *x, const AstStmt *s) {
  if (s->broken) return;
  switch (s->kind) {
    case STMT_DIM:
      for (uint32_t i = 0; i < s->decls.len; i++) elab_dim(x, &s->decls.at[i]);
      return;
    case STMT_INPUT: case STMT_PARAM:
      for (uint32_t i = 0; i < s->decls.len; i++) elab_input(x, s, &s->decls.at[i]);
      return;
    case STMT_EQUATION: elab_equation(x, s); return;
    case STMT_OUTPUT: elab_output(x, s); return;
    case STMT_REPEAT: elab_repeat(x, s); return;
    case STMT_DEF: elab_def(x, s); return;
    case STMT_MONOID: elab_monoid(x, s); return;
    case STMT_EXTERN: elab_extern(x, s); return;
    case STMT_ASSERT: elab_assert(x, s); return;
    case STMT_LIMITS: elab_limits(x, s); return;
    case STMT_USE: return;
    case STMT_ADJOINT: case STMT_STATE: case STMT_NEXT: bug("a state outside of a repeat"); /* the grammar has none */
  }
}

static Elab *elab_new(Front *f, const Program *p, const DimValues *dims) {
  Elab *x = MAKE(f->arena, Elab, .front = f, .program = p, .arena = f->arena, .strings = f->strings, .exprs = f->exprs,
      .diags = f->diags, .dims = dims, .graph = graph_new(f->arena, f->strings, f->exprs));
  x->around.region = x->graph->top;
  x->top.map = map_new(f->arena);
  x->around.syms = &x->top;
  x->lost = map_new(f->arena);
  return x;
}

static void names_lose(Elab *x, const AstFile *f) {
  for (uint32_t i = 0; i < f->lost.len; i++) {
    Symbol *y = MAKE(x->arena, Symbol, .kind = SYM_TENSOR, .name = f->lost.at[i], .state = -1, .quiet = true);
    map_put(&x->lost, y->name, y);
  }
}

/* A file that contains only definitions is a module, whoever checks it: nothing in it has to be used or output. */
static bool holds_definitions_only(const AstFile *f) {
  for (uint32_t i = 0; i < f->stmts.len; i++) {
    StmtKind k = f->stmts.at[i]->kind;
    if (k != STMT_DEF && k != STMT_MONOID && k != STMT_EXTERN && k != STMT_DIM && k != STMT_USE) return false;
  }
  return f->stmts.len > 0;
}

bool program_hangs_together(const Front *f, const Program *p) {
  bool lost = p->file->lost_all;
  for (uint32_t i = 0; i < p->modules.len; i++) lost = lost || p->modules.at[i].file->lost_all;
  for (uint32_t i = 0; i < f->diags->all.len; i++)
    lost = lost || (f->diags->all.at[i]->code >= D_E040 || f->diags->all.at[i]->code == D_E009);
  return !lost && f->diags->errors < f->diags->limit;
}

/* Where a name itself is broken, an undefined name may be that one. */
void program_rest(Front *f, const Program *p) {
  DimValues none = {0};
  uint32_t before = f->diags->all.len, n = before;
  (void)graph_from_ast(f, p, &none);
  for (uint32_t i = before; p->file->lost_head && i < f->diags->all.len; i++) {
    Diag *g = f->diags->all.at[i];
    if (g->code == D_E064 || g->code == D_E070 || g->code == D_E075 || g->code == D_E078) f->diags->errors--;
    else f->diags->all.at[n++] = g;
  }
  if (p->file->lost_head) f->diags->all.len = n;
}

/* ---- stop_gradient, once all gradients are there ----------------------------------------------------- */

static const Expr *leaf_unstopped(void *env, Exprs *p, const Expr *e) {
  (void)env, (void)p;
  return e->kind == EX_OP && e->op == OP_STOP ? e->arg[0] : e;
}

static const Expr *unstopped(Exprs *p, const Expr *e) { return e ? expr_map_ops(p, e, leaf_unstopped, NULL) : NULL; }

static void region_unstop(EinGraph *g, EinRegion *r) {
  vec_each_of(EinNode, n, r->nodes) {
    if (n->kind == EIN_REPEAT) region_unstop(g, n->body);
    if (n->kind != EIN_VERTEX) continue;
    EinSum s = *n->sum;
    s.body = unstopped(g->exprs, s.body);
    s.where = unstopped(g->exprs, s.where);
    s.domain = unstopped(g->exprs, s.domain);
    n->sum = graph_sum(g, &s);
  }
}

/* ---- whether there is a gradient; without one, stated adjoints are ignored ---------------------------------- */

static bool ast_asks(const Ast *a);

static bool items_ask(const AstItems *items) {
  for (uint32_t i = 0; i < items->len; i++)
    if (ast_asks(items->at[i].e) || items_ask(&items->at[i].part)) return true;
  return false;
}

static bool ast_asks(const Ast *a) {
  for (; a; a = a->a) {
    if (a->kind == AST_GRAD || items_ask(&a->items) || ast_asks(a->b) || ast_asks(a->c) || ast_asks(a->where))
      return true;
    for (uint32_t i = 0; i < a->args.len; i++)
      if (ast_asks(a->args.at[i])) return true;
  }
  return false;
}

static bool asks_gradients(AstStmt *const *s, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (ast_asks(s[i]->e) || ast_asks(s[i]->until) || asks_gradients(s[i]->body.at, s[i]->body.len)) return true;
  return false;
}

bool program_asks_gradients(const Program *p) {
  bool asks = asks_gradients(p->file->stmts.at, p->file->stmts.len);
  for (uint32_t i = 0; i < p->modules.len && !asks; i++)
    asks = asks_gradients(p->modules.at[i].file->stmts.at, p->modules.at[i].file->stmts.len);
  return asks;
}

EinGraph *graph_from_ast(Front *f, const Program *p, const DimValues *dims) {
  Elab *x = elab_new(f, p, dims);
  for (uint32_t i = 0; i < p->modules.len; i++) names_lose(x, p->modules.at[i].file);
  names_lose(x, p->file);
  x->asks_gradients = program_asks_gradients(p);
  x->module = true;
  for (uint32_t i = 0; i < p->modules.len; i++)
    for (uint32_t k = 0; k < p->modules.at[i].file->stmts.len; k++) elab_stmt(x, p->modules.at[i].file->stmts.at[k]);
  x->module = holds_definitions_only(p->file);
  for (uint32_t k = 0; k < p->file->stmts.len; k++) elab_stmt(x, p->file->stmts.at[k]);
  vec_each_of(const Symbol, y, x->top.all) {
    if (y->kind != SYM_DEF) continue;
    if (!y->used) def_names_check(x, y);
    if (y->used && y->stmt->adjoint && !x->asks_gradients) adjoint_names_use(x, y);
  }
  if (f->diags->errors) return NULL;
  region_unstop(x->graph, x->graph->top);
  if (x->gradients) gradient_rules_settle(x->gradients);
  f->lower = x->gradients ? gradients_lower(x->gradients) : 0;
  f->unsized = x->gradients && gradients_unsized(x->gradients);
  if (!x->module && !x->graph->outputs.len && !x->graph->asserts.len) {
    uint32_t n = p->file->stmts.len;
    Span end = n ? p->file->stmts.at[n - 1]->span : (Span){p->file->src, 0, 0};
    Diag *d = diag_add(f->diags, D_W005, end, "nothing is an output, so running this shows nothing");
    diag_hint(f->diags, d, "write `output` before an equation, or `output Z` after it");
    return x->graph; /* so nothing is used, which need not be reported name by name */
  }
  warn_unused(x, &x->top);
  warn_narrow(x);
  return x->graph;
}
