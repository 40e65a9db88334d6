/* front/elab/calls.c - calls: built-in functions, random numbers, monoids, and defs expanded over labels
 * (language.md, "Functions are over labels").
 *
 * A def is expanded hygienically: its label parameters are the call's labels, its other labels are new ones, and
 * each argument is a Bind - an equation of its own whose labels are linked to the call's wherever the body uses the
 * parameter unchanged. */
#include "elab.h"
#include "front/foreign.h"

#include <string.h>

enum { DEF_DEPTH = 150, MAX_EXPANSIONS = 100000 };

/* ---- binds ------------------------------------------------------------------------------------ */

static bool is_plain(const Core *c) {
  switch (c->kind) {
    case CORE_CONST: case CORE_LABEL: case CORE_TURN: case CORE_GROUP: case CORE_SIZE: return true;
    case CORE_OP:
      for (uint32_t i = 0; i < c->n; i++)
        if (c->arg[i]->kind == CORE_OP ? c->arg[i]->n > 1 && !is_plain(c->arg[i]) : !is_plain(c->arg[i])) return false;
      return true;
    default: return false;
  }
}

/* How many levels of binds are inlined wherever this one is used: a read by plain indices, a use of such a bind, a
 * constant. 0: it becomes a vertex. */
static uint32_t in_line_depth(const Core *c) {
  enum { MOST = 50 };
  if (c->kind == CORE_CONST || c->kind == CORE_LABEL || c->kind == CORE_TURN) return 1;
  if (c->kind == CORE_RESTRICT && c->arg[1]->kind == CORE_USE && c->arg[1]->bind->in_line)
    return in_line_depth(c->arg[0]);
  if (c->kind != CORE_READ && c->kind != CORE_USE) return 0;
  for (uint32_t i = 0; i < c->n; i++)
    if (!is_plain(c->arg[i])) return 0;
  uint32_t below = c->kind == CORE_USE ? c->bind->in_line : 0;
  return below < MOST ? below + 1 : 0;
}

Bind *bind_new(Elab *x, Str name, Span span, Core *body, LabelSet labels, LabelVar **outer) {
  Bind *b = MAKE(x->arena, Bind, .name = name, .span = span, .body = body, .labels = labels, .outer = outer,
      .in_line = in_line_depth(body), .stated = x->equation.stating,
      .region = x->equation.stating ? x->equation.stating->region : x->around.region);
  vec_push(x->arena, x->equation.binds, b);
  return b;
}

/* Makes an expression an equation of its own, with its labels linked to those at its position. */
Bind *bind_apart(Elab *x, Scope *s, const Ast *a, Str name) {
  Labels *own = MAKE(x->arena, Labels, .outer = s->labels, .link = map_new(x->arena));
  Scope in = {.labels = own, .frame = s->frame, .depth = s->depth, .outside = s};
  Core *body = core_from_ast(x, &in, a);
  if (body && s->frame && !in_line_depth(body)) body = core_restrict(x, &in, body);
  if (!body) return NULL;
  LabelVar **outer = NEW_ARRAY(x->arena, LabelVar *, body->free.n + 1);
  for (uint32_t k = 0; k < body->free.n; k++)
    for (uint32_t i = 0; i < own->fresh.len; i++)
      if (own->fresh.at[i] == body->free.at[k]) outer[k] = own->origin.at[i];
  for (uint32_t i = 0; i < own->fresh.len; i++) /* size(j) without j: the label's at its position */
    if (!set_has(body->free, own->fresh.at[i])) label_sized_outside(x, own->origin.at[i], own->fresh.at[i]);
  return bind_new(x, name, a->span, body, body->free, outer);
}

static Core *use_new(Elab *x, Bind *b, Span span, Core **arg) {
  LabelSet free = {0};
  for (uint32_t k = 0; k < b->labels.n; k++) free = set_union(x, free, arg[k]->free);
  Core *c = core_new(x, CORE_USE, span, b->body->type, free);
  b->used = true;
  c->bind = b;
  c->n = b->labels.n;
  c->arg = arg;
  return c;
}

static Core *use_label(Elab *x, Scope *s, const Bind *b, uint32_t k, Span span) {
  LabelVar *v = label_here(x, s->labels, b->outer[k]);
  label_unify(v, b->labels.at[k], x->arena);
  return core_label(x, v, span);
}

Core *core_use(Elab *x, Scope *s, Bind *b, Span span) {
  Core **arg = NEW_ARRAY(x->arena, Core *, b->labels.n + 1);
  for (uint32_t k = 0; k < b->labels.n; k++) arg[k] = use_label(x, s, b, k, span);
  return use_new(x, b, span, arg);
}

/* ---- substitution: x[j = e, ...] -------------------------------------------------------------- */

static const char *bind_labels_text(Elab *x, const Bind *b) {
  Buf t = buf_new(x->arena);
  for (uint32_t k = 0; k < b->labels.n; k++) buf_printf(&t, "%s%s", k ? ", " : "", b->labels.at[k]->name->s);
  return b->labels.n ? t.s : "none";
}

static void complain_by_label(Elab *x, const Ast *a, const Symbol *y) {
  Diag *d = diag_add(x->diags, D_E055, a->span, "a tensor is read by position, not by label");
  diag_at(x->diags, d, y->span, "defined here");
  if (a->items.len == 1 && y->node->rank == 1 && a->items.at[0].e)
    diag_hint(x->diags, d, "write `%s[%s]`", y->name->s, source_text(x, a->items.at[0].e->span));
  else diag_hint(x->diags, d, "write `%s`, with an index in each place", shape_form(x, y));
}

static Bind *subst_bind(Elab *x, Scope *s, const Ast *a) {
  static const char what[] = "substitution `[j = ...]` works on a def's parameter or a parenthesised expression";
  if (a->kind == AST_SUBST) return bind_apart(x, s, a->a, x->equation.name);
  Local *l = frame_find(s->frame, a->name.s);
  if (l) l->used = true;
  if (l && l->bind) return l->bind;
  const Symbol *y = l ? NULL : symbol_find(x, a->name.s, s->frame ? s->frame->order : UINT32_MAX);
  if (y && y->kind == SYM_TENSOR && y->node) return complain_by_label(x, a, y), NULL;
  Diag *d = diag_add(x->diags, D_E055, a->span, "%s", what);
  if (l) diag_at(x->diags, d, l->span, "a number, without labels");
  else if (y) diag_at(x->diags, d, y->span, "defined here");
  else diag_unknown(x, d, a->name, s->frame);
  return NULL;
}

static void complain_no_label(Elab *x, Scope *s, const AstItem *it, const Bind *b) {
  const char *label = it->name.s->s, *dot = strrchr(b->name->s, '.');
  Diag *d = diag_add(
      x->diags, D_E066, it->span, "%s has no label %s to substitute", dot ? dot + 1 : "this expression", label);
  diag_at(x->diags, d, b->span, "its labels: %s", bind_labels_text(x, b));
  if (!s->frame) return;
  for (uint32_t k = 0; k < b->labels.n; k++)
    if (b->labels.at[k]->name == it->name.s)
      diag_hint(x->diags, d, "that %s is the call's: make it a label of the def, `def %s[%s](...)`", label,
                s->frame->def->name.s->s, label);
}

static bool subst_item(Elab *x, Scope *s, const AstItem *it, Bind *b, Core **arg) {
  if (it->kind != ITEM_BIND) {
    diag_add(x->diags, D_E055, it->span, "a substitution gives each label by name: `j = ...`");
    return false;
  }
  LabelVar *v = label_get(x, s->labels, it->name.s, it->name.span);
  for (uint32_t k = 0; k < b->labels.n; k++) {
    if (label_here(x, s->labels, b->outer[k]) != v) continue;
    if (arg[k]) {
      Diag *d = diag_add(x->diags, D_E054, it->span, "label %s is substituted twice", it->name.s->s);
      diag_at(x->diags, d, arg[k]->span, "first by this");
      return false;
    }
    Scope in = *s;
    in.index = true, in.reach = NULL;
    arg[k] = core_from_ast(x, &in, it->e);
    return arg[k] && want_integer(x, arg[k], "an index");
  }
  complain_no_label(x, s, it, b);
  return false;
}

Core *core_from_subst(Elab *x, Scope *s, const Ast *a) {
  Bind *b = subst_bind(x, s, a);
  if (!b) return core_failed(x);
  Core **arg = NEW_ARRAY(x->arena, Core *, b->labels.n + 1);
  for (uint32_t i = 0; i < a->items.len; i++)
    if (!subst_item(x, s, &a->items.at[i], b, arg)) return core_failed(x);
  for (uint32_t k = 0; k < b->labels.n; k++)
    if (!arg[k]) arg[k] = use_label(x, s, b, k, a->span);
  return use_new(x, b, a->span, arg);
}

/* ---- a def's label predicate ------------------------------------------------------------------ */

/* f[t where p]: p holds for t throughout f's body, including the defs called there. Each use of p has the labels
 * that replace its own at that point. */
static bool restricts(Elab *x, Scope *s, const Frame *f, LabelSet labels) {
  if (!f->restricted.pred) return false;
  for (uint32_t i = 0; i < f->restricted.labels.n; i++)
    if (set_has(labels, label_here(x, s->labels, f->restricted.labels.at[i]))) return true;
  return false;
}

Core *core_restrict(Elab *x, Scope *s, Core *c) {
  if (!c) return c;
  for (const Frame *f = s->frame; f; f = f->parent) {
    if (!restricts(x, s, f, c->free)) continue;
    Core *p = core_use(x, s, f->restricted.pred, c->span);
    Core *r = core_new(x, CORE_RESTRICT, c->span, c->type, set_union(x, c->free, p->free));
    r->n = 2;
    r->arg = NEW_ARRAY(x->arena, Core *, 2);
    r->arg[0] = c;
    r->arg[1] = p;
    c = r;
  }
  return c;
}

Core *reduce_restrict(Elab *x, Scope *s, LabelSet labels, Core *where, Span span) {
  for (const Frame *f = s->frame; f; f = f->parent) {
    if (!restricts(x, s, f, labels)) continue;
    Core *arg[2] = {core_use(x, s, f->restricted.pred, span), where};
    where = where ? core_op(x, OP_AND, span, 2, arg) : arg[0];
  }
  return where;
}

static bool is_reducer(const Core *c) { return c->kind == CORE_REDUCE || c->kind == CORE_TUPLE; }

static bool has_reducer(const Core *c) {
  if (is_reducer(c)) return true;
  for (; c->n; c = c->arg[0]) {
    if (is_reducer(c)) return true;
    for (uint32_t i = 1; i < c->n; i++)
      if (c->arg[i] && has_reducer(c->arg[i])) return true;
  }
  return is_reducer(c);
}

/* ---- expanding a def -------------------------------------------------------------------------- */

const char *call_form(Elab *x, const AstStmt *d) {
  Buf b = buf_new(x->arena);
  if (d->kind == STMT_MONOID && d->parts == 1) return arena_printf(x->arena, "%s[k](x)", d->name.s->s);
  buf_str(&b, d->name.s->s);
  if (d->kind == STMT_MONOID) {
    for (uint32_t i = 0; i < d->parts; i++) buf_printf(&b, "%s%s", i ? ", " : "[k](", d->params.at[i].s->s);
    return buf_str(&b, ")"), b.s;
  }
  for (uint32_t i = 0; i < d->items.len; i++)
    if (d->items.at[i].e) buf_printf(&b, "%s%s", i ? "," : "[", d->items.at[i].e->name.s->s);
  buf_str(&b, d->items.len ? "](" : "(");
  for (uint32_t i = 0; i < d->takes.len; i++) buf_printf(&b, "%s%s", i ? ", " : "", d->takes.at[i].name.s->s);
  for (uint32_t i = 0; i < d->params.len; i++) buf_printf(&b, "%s%s", i ? ", " : "", d->params.at[i].s->s);
  buf_str(&b, ")");
  return b.s;
}

static Diag *complain_count(Elab *x, const Ast *a, const char *what, uint32_t wanted, uint32_t given) {
  const char *number = given ? arena_printf(x->arena, "%u", given) : "none";
  return diag_add(x->diags, D_E091, a->span, "%s takes %u %s%s, and %s %s given", a->name.s->s, wanted, what,
      wanted == 1 ? "" : "s", number, given < 2 ? "is" : "are");
}

/* `softmax(X[i,j])`, `softmax(X[i,j], 1)`: suggests the label that was probably meant, in its place. */
static void hint_label(Elab *x, Diag *g, const AstStmt *d, const Ast *a) {
  uint32_t n = a->args.len;
  const Ast *in = n ? a->args.at[0] : NULL, *axis = n == d->params.len + 1 ? a->args.at[n - 1] : NULL;
  if (d->items.len != 1 || a->items.len || !in || in->kind != AST_INDEX ||
      (n != d->params.len && !(axis && axis->kind == AST_INT)))
    return;
  int64_t k = axis ? axis->i : (int64_t)in->items.len - 1;
  Str label = k >= 0 && k < in->items.len ? ast_item_label(&in->items.at[k]) : NULL;
  if (!label) return;
  Buf b = buf_new(x->arena);
  buf_printf(&b, "%s[%s](", a->name.s->s, label->s);
  for (uint32_t i = 0; i < d->params.len; i++)
    buf_printf(&b, "%s%s", i ? ", " : "", source_text(x, a->args.at[i]->span));
  diag_hint(x->diags, g, "over %s it is `%s)`", label->s, b.s);
}

static bool call_fits(Elab *x, const AstStmt *d, const Ast *a) {
  uint32_t labels = a->items.len, args = a->args.len;
  bool l = !ast_labels_fit(d, a);
  if (!l && args == d->params.len) return true;
  Diag *g =
      l ? complain_count(x, a, "label", d->items.len, labels) : complain_count(x, a, "argument", d->params.len, args);
  diag_at(x->diags, g, d->name.span, "defined here");
  diag_hint(x->diags, g, "its form is `%s`", call_form(x, d));
  hint_label(x, g, d, a);
  if (d->items.len && labels > d->items.len)
    diag_hint(x->diags, g, "several labels for one of its own are a group, such as `(%s %s)`",
        source_text(x, a->items.at[0].span), source_text(x, a->items.at[1].span));
  return false;
}

static void count_text(Buf *b, uint32_t n) { n == 1 ? buf_str(b, "one result") : buf_printf(b, "%u results", n); }

/* The number of results taken must be the number that the def returns. */
static bool results_fit(Elab *x, const AstStmt *d, const Ast *a) {
  uint32_t gives = ast_results(d), taken = a->result ? a->results : 1;
  if (gives == taken) return true;
  Buf b = buf_new(x->arena);
  count_text(&b, gives);
  Diag *g = diag_add(x->diags, D_E098, a->span, "%s gives %s, and %s taken here", a->name.s->s, b.s,
                     taken == 1 ? "one is" : arena_printf(x->arena, "%u are", taken));
  diag_at(x->diags, g, d->name.span, "defined here");
  if (gives == 1) return diag_hint(x->diags, g, "it defines one name: `y = %s`", call_form(x, d)), false;
  Buf names = buf_new(x->arena);
  for (uint32_t i = 0; i < gives; i++) {
    const Ast *r = d->e->args.at[i];
    if (r->kind == AST_NAME) buf_printf(&names, "%s%s", i ? ", " : "", r->name.s->s);
    else buf_printf(&names, "%sy%u", i ? ", " : "", i + 1);
  }
  diag_hint(
      x->diags, g, "an equation of its own takes them all, each with its labels: `%s = %s`", names.s, call_form(x, d));
  return false;
}

static bool frame_labels(Elab *x, Scope *s, const Ast *a, Frame *f, Labels *own) {
  LabelSet set = {0};
  if (!labels_from_items(x, s, &a->items, &set, "a call", false) || set.n != a->items.len) return false;
  for (uint32_t i = 0; i < set.n; i++) map_put(&own->map, f->def->items.at[i].e->name.s, set.at[i]);
  if (!a->where) return true;
  Scope in = *s;
  in.reach = NULL, in.index = false;
  Core *p = core_from_ast(x, &in, a->where);
  if (!p || !want_bool(x, p, (Span){0}, "where")) return false;
  LabelSet inside = {0};
  for (uint32_t i = 0; i < set.n; i++)
    if (set_has(p->free, set.at[i])) inside = set_union(x, inside, set_one(x, set.at[i]));
  f->restricted.pred = bind_new(x, f->def->name.s, p->span, p, p->free, p->free.at);
  if (!has_reducer(p)) f->restricted.pred->in_line = 1; /* so that it can be used in proofs */
  f->restricted.labels = inside.n ? inside : set;
  return true;
}

/* Whether it consists of literals and dims alone. */
static bool is_constant(Elab *x, Scope *s, const Ast *a) {
  switch (a->kind) {
  case AST_INT: case AST_REAL: case AST_BOOL: case AST_CONST: return true;
  case AST_PAREN: case AST_NEG: return is_constant(x, s, a->a);
  case AST_BINARY:
    for (; a->kind == AST_BINARY; a = a->a)
      if (!is_constant(x, s, a->b)) return false;
    return is_constant(x, s, a);
  case AST_CALL: {
    Op op;
    if (!name_is_builtin(a->name.s) || !op_find(a->name.s->s, a->name.s->len, &op) ||
        !(op_info[op].laws & LAW_FUNCTION))
      return false;
    for (uint32_t i = 0; i < a->args.len; i++)
      if (!is_constant(x, s, a->args.at[i])) return false;
    return a->args.len == (uint32_t)op_info[op].arity && !a->items.len;
  }
  default: return item_is_size(x, s, a);
  }
}

/* A constant or a label is inlined: its type adapts to its context, and an index made with it stays affine. */
static bool passed_unchanged(Elab *x, Scope *s, const Ast *a, Core **out) {
  bool size = is_constant(x, s, a);
  if (!size && a->kind != AST_NAME) return false;
  if (!size) {
    const Local *l = frame_find(s->frame, a->name.s);
    if (l && !l->direct) return false;
    const Symbol *y = symbol_find(x, a->name.s, s->frame ? s->frame->order : UINT32_MAX);
    if (!l && y && y->kind != SYM_TURN && !(y->kind != SYM_DIM && label_known(s->labels, a->name.s))) return false;
  }
  Scope in = *s;
  in.reach = NULL;
  *out = core_from_ast(x, &in, a);
  return true;
}

/* Whether it is a tensor at labels, each along one dimension. */
static bool is_at_labels(const Core *c) {
  if (c->kind != CORE_READ && c->kind != CORE_USE) return false;
  for (uint32_t i = 0; i < c->n; i++) {
    if (c->arg[i]->kind != CORE_LABEL) return false;
    for (uint32_t k = 0; k < i; k++)
      if (label_root(c->arg[k]->label) == label_root(c->arg[i]->label)) return false;
  }
  return c->kind == CORE_READ || !c->bind->in_line || is_at_labels(c->bind->body);
}

/* Whether a C function computes an equation of the def: then all else that its equations read are tensors at labels. */
static bool has_by(const AstStmt *def) {
  for (uint32_t i = 0; i < def->body.len; i++)
    if (def->body.at[i]->text) return true;
  return false;
}

static bool frame_argument(Elab *x, Scope *s, const Ast *a, AstName param, Frame *f) {
  Local l = {.name = param.s, .span = param.span};
  if (!passed_unchanged(x, s, a, &l.direct))
    l.bind = bind_apart(x, s, a, strings_printf(x->strings, "%s.%s", f->def->name.s->s, param.s->s));
  if (!l.direct && !l.bind) return false;
  if (l.bind && is_stated(x, f, l.bind->body)) l.bind->in_line = 0;
  if (l.bind && has_by(f->def) && !is_at_labels(l.bind->body)) l.bind->in_line = 0;
  vec_push(x->arena, f->locals, l);
  return true;
}

bool frame_equation(Elab *x, Scope *s, const AstStmt *e, Frame *f) {
  Local *old = frame_find(f, e->name.s);
  if (old) {
    Diag *d = diag_add(x->diags, D_E050, e->name.span, "%s is defined twice", e->name.s->s);
    diag_at(x->diags, d, old->span, "first defined here");
    return false;
  }
  Core *c = core_restrict(x, s, core_from_ast(x, s, e->e));
  if (!c) return false;
  Str name = strings_printf(x->strings, "%s.%s", f->def->name.s->s, e->name.s->s);
  Bind *b = bind_new(x, name, e->name.span, c, c->free, c->free.at);
  if (e->text) b->by = e;
  if (e->text || (has_by(f->def) && !is_at_labels(c))) b->in_line = 0;
  vec_push(x->arena, f->locals, ((Local){.name = e->name.s, .span = e->name.span, .bind = b}));
  return true;
}

/* Labels that the expansion itself made must not remain free. */
bool check_closed(Elab *x, const Core *c, const Frame *f, const Labels *own, uint32_t n_labels) {
  for (uint32_t i = n_labels; i < own->map.len; i++) {
    const LabelVar *v = own->map.at[i].val;
    if (!set_has(c->free, v)) continue;
    const char *def = f->def->name.s->s;
    bool label = v->facts.len || v->same || v->reduced;
    if (!label && complain_function(x, (AstName){v->name, v->span})) return false;
    Diag *d = label ? diag_add(x->diags, D_E075, free_place(c, v), "%s is neither a label parameter of %s nor reduced",
                          v->name->s, def)
                    : diag_add(x->diags, D_E075, v->span, "%s is not known in %s", v->name->s, def);
    if (!diag_unknown(x, d, (AstName){v->name, v->span}, f) || !label)
      diag_hint(x->diags, d, "a def sees its labels, its parameters and what is defined before it");
    return false;
  }
  return true;
}

/* Whether the def has other results: one is checked here, and another may use the name. */
static bool other_names(const AstStmt *def, Str name) {
  bool met = def->e->kind == AST_RESULTS && ast_names(def->e, name);
  for (uint32_t i = 0; i < def->body.len && def->e->kind == AST_RESULTS; i++)
    met |= ast_names(def->body.at[i]->e, name);
  return met;
}

static void warn_unused_locals(Elab *x, const Frame *f) {
  if (f->def->span.src != x->program->file->src) return;
  vec_each(const Local, l, f->locals) {
    if (l->used || l->name->s[0] == '_' || other_names(f->def, l->name) || adjoint_names(f->def, l->name)) continue;
    diag_add(x->diags, D_W001, l->span, "%s is never used in %s", l->name->s, f->def->name.s->s);
  }
}

static Core *expansion(Elab *x, Frame *f, Labels *own, uint32_t depth) {
  uint32_t n_labels = own->map.len;
  Scope in = {.labels = own, .frame = f, .depth = depth};
  for (uint32_t i = 0; i < f->def->body.len; i++)
    if (!frame_equation(x, &in, f->def->body.at[i], f)) return core_failed(x);
  Core *c = core_from_ast(x, &in, f->result);
  if (!c || !check_closed(x, c, f, own, n_labels)) return core_failed(x);
  warn_unused_locals(x, f);
  c = core_restrict(x, &in, c);
  if (c->kind == CORE_RESTRICT) c->span = f->call;
  return is_stated(x, f, c) ? stated_result(x, &in, c, n_labels) : c;
}

static Core *expand_body(Elab *x, Frame *f, Labels *own, uint32_t depth) {
  const Frame *around = x->frame;
  uint32_t before = x->diags->all.len;
  x->frame = f;
  Core *c = expansion(x, f, own, depth);
  x->frame = around;
  for (uint32_t i = before; !f->parent && i < x->diags->all.len; i++)
    if (x->diags->all.at[i]->kind == DIAG_ERROR) diag_called(x, x->diags->all.at[i], f);
  return c;
}

/* The labels of an argument that the body does not use exist all the same. */
static void argument_unused(Elab *x, Scope *s, const Bind *b) {
  for (uint32_t k = 0; b && !b->used && k < b->labels.n; k++)
    label_sized_outside(x, label_here(x, s->labels, b->outer[k]), b->labels.at[k]);
}

/* Rewrites f's def for a call with groups; `call` becomes the call without groups. */
static bool frame_groups(Elab *x, Frame *f, const Ast *a, const Ast **call) {
  const AstStmt *def = f->def;
  AstOfGroups g = ast_of_groups(x->arena, x->strings, def, a);
  f->def = g.def;
  f->result = ast_result(g.def, a);
  *call = g.call;
  if (!g.wrong.s) return true;
  bool list = a->items.len > def->items.len;
  Diag *d = list ? complain_count(x, a, "label", 1, a->items.len)
                 : diag_add(x->diags, D_E053, a->span, "%s %s its label %s, which is a group here",
                       def->name.s->s, def->e->kind == AST_LIST ? "lists values along" : "substitutes for",
                       g.wrong.s->s);
  diag_at(x->diags, d, g.wrong.span, list ? "substitutes for its label" : "wants a label");
  if (list) diag_hint(x->diags, d, "its form is `%s`", call_form(x, def));
  diag_hint(x->diags, d, "%s where a def reduces over its label, or counts by it",
      list ? "several labels stand for one" : "a group stands");
  return false;
}

static Core *expand(Elab *x, Scope *s, const Symbol *y, const Ast *a) {
  const AstStmt *d = y->stmt;
  Frame *f = MAKE(x->arena, Frame, .parent = s->frame, .def = d, .order = y->order, .call = a->span,
      .depth = s->frame ? s->frame->depth + 1 : 1);
  if (f->depth > DEF_DEPTH || ++x->expansions > MAX_EXPANSIONS) {
    if (x->expansions <= MAX_EXPANSIONS + 1)
      diag_add(x->diags, D_E090, a->span, "defs are expanded more than %d %s here",
          f->depth > DEF_DEPTH ? DEF_DEPTH : MAX_EXPANSIONS, f->depth > DEF_DEPTH ? "deep" : "times");
    return core_failed(x);
  }
  Labels *own = MAKE(x->arena, Labels, .map = map_new(x->arena),
      .level = s->labels->outer ? s->labels : s->labels->level);
  const Ast *call;
  if (!call_fits(x, d, a) || !results_fit(x, d, a) || !frame_groups(x, f, a, &call) ||
      !frame_labels(x, s, call, f, own))
    return core_failed(x);
  bool ok = true;
  for (uint32_t i = 0; i < a->args.len; i++) ok &= frame_argument(x, s, a->args.at[i], d->params.at[i], f);
  Core *c = ok ? expand_body(x, f, own, s->depth) : core_failed(x);
  for (uint32_t i = 0; c && i < a->args.len; i++) argument_unused(x, s, f->locals.at[i].bind);
  return c;
}

/* ---- the other calls -------------------------------------------------------------------------- */

bool wants_brackets(Elab *x, const Ast *a, bool wanted, const char *form) {
  if (a->bracketed == wanted && !(a->where && !wanted)) return true;
  Diag *d = diag_add(
      x->diags, D_E092, a->span, wanted ? "%s needs its labels in brackets" : "%s takes no labels", a->name.s->s);
  diag_hint(x->diags, d, "its form is `%s`", form);
  return false;
}

bool wants_args(Elab *x, const Ast *a, uint32_t n, const char *form) {
  if (a->args.len == n) return true;
  Diag *d = complain_count(x, a, "argument", n, a->args.len);
  diag_hint(x->diags, d, "its form is `%s`", form);
  return false;
}

/* "exp(x)"; NULL: the language has no such function */
static const char *function_form(Elab *x, Str name) {
  static const char *const args[] = {"", "x", "a, b", "a, b, c"};
  Op op;
  if (!name_is_builtin(name) || !op_find(name->s, name->len, &op)) return NULL;
  if (op_info[op].laws & LAW_FUNCTION) return arena_printf(x->arena, "%s(%s)", name->s, args[op_info[op].arity]);
  return arena_printf(x->arena, op_info[op].rule == RULE_INDEX ? "%s[h:H](seed)" : "%s[i,j](seed)", name->s);
}

bool complain_function(Elab *x, AstName n) {
  const char *form = function_form(x, n.s);
  if (!form) return false;
  Diag *d = diag_add(x->diags, D_E072, n.span, "%s is a function and must be called", n.s->s);
  diag_hint(x->diags, d, "its form is `%s`", form);
  return true;
}

static Core *call_function(Elab *x, Scope *s, const Ast *a, Op op) {
  const char *form = function_form(x, a->name.s);
  if (!wants_brackets(x, a, false, form) || !wants_args(x, a, (uint32_t)op_info[op].arity, form)) return core_failed(x);
  Scope in = *s;
  in.reach = NULL;
  Core *arg[3] = {0};
  for (uint32_t i = 0; i < a->args.len; i++)
    if (!(arg[i] = core_from_ast(x, &in, a->args.at[i]))) return core_failed(x);
  return core_op(x, op, a->span, a->args.len, arg);
}

static Core *call_random(Elab *x, Scope *s, const Ast *a, Op op) {
  bool perm = op_info[op].rule == RULE_INDEX;
  const char *form = function_form(x, a->name.s);
  LabelSet labels = {0};
  if (!wants_brackets(x, a, true, form) || !wants_args(x, a, 1, form)) return core_failed(x);
  if (a->where || (perm && a->items.len != 1)) {
    Diag *d =
        diag_add(x->diags, D_E092, a->span, a->where ? "%s takes no predicate" : "%s takes one label", a->name.s->s);
    diag_hint(x->diags, d, "its form is `%s`", form);
    return core_failed(x);
  }
  if (!labels_from_items(x, s, &a->items, &labels, "a call", false)) return core_failed(x);
  for (uint32_t i = 0; i < labels.n; i++) labels.at[i]->used = true;
  Scope in = *s;
  in.reach = NULL;
  Core *seed = core_from_ast(x, &in, a->args.at[0]);
  if (!seed || !want_integer(x, seed, "a seed")) return core_failed(x);
  Core *c = core_new(x, CORE_RANDOM, a->span, type_firm(perm ? DT_I64 : DT_F32), set_union(x, labels, seed->free));
  c->op = op;
  c->labels = labels;
  c->n = 1;
  c->arg = NEW_ARRAY(x->arena, Core *, 1);
  c->arg[0] = seed;
  return c;
}

/* Component a->result of the tuple; arg: its components, then the predicate or NULL. */
static Core *call_tuple(Elab *x, const MonoidDef *m, const Ast *a, LabelSet labels, LabelSet free, Core **arg) {
  uint32_t n = m->stmt->parts;
  const Tuple *t = tuple_at(x, m, arg, a->span);
  if (!t) return core_failed(x);
  Core *c = core_new(x, CORE_TUPLE, a->span, type_firm(t->dtype[a->result - 1]), set_minus(x, free, labels));
  c->i = a->result - 1;
  c->tuple = t;
  c->labels = labels;
  c->op_span = a->name.span;
  c->n = n + (arg[n] != NULL);
  c->arg = arg;
  return c;
}

static Core *call_monoid(Elab *x, Scope *s, Symbol *y, const Ast *a) {
  uint32_t n = y->stmt->parts;
  const char *form = call_form(x, y->stmt);
  LabelSet labels = {0};
  if (!wants_brackets(x, a, true, form) || !wants_args(x, a, n, form)) return core_failed(x);
  if (n > 1 && !results_fit(x, y->stmt, a)) return core_failed(x);
  if (!labels_from_items(x, s, &a->items, &labels, "a reducer", true)) return core_failed(x);
  for (uint32_t i = 0; i < labels.n; i++) labels.at[i]->used = true;
  Scope in = *s;
  in.reach = NULL;
  in.reduced = set_union(x, s->reduced, labels);
  Core *where = a->where ? core_from_ast(x, &in, a->where) : NULL;
  Core **arg = NEW_ARRAY(x->arena, Core *, n + 1);
  for (uint32_t i = 0; i < n; i++)
    if (!(arg[i] = core_from_ast(x, &in, a->args.at[i]))) return core_failed(x);
  if (a->where && !where) return core_failed(x);
  if (where && !want_bool(x, where, (Span){0}, "where")) return core_failed(x);
  arg[n] = where = reduce_restrict(x, s, labels, where, a->span);
  LabelSet free = where ? where->free : (LabelSet){0};
  for (uint32_t i = n; i-- > 0;) free = set_union(x, arg[i]->free, free);
  if (n > 1) return call_tuple(x, y->monoid, a, labels, free, arg);
  DType t;
  if (!monoid_type(x, y->monoid, arg[0]->type, a->span, &t)) return core_failed(x);
  Core *c = core_new(x, CORE_REDUCE, a->span, type_firm(t), set_minus(x, free, labels));
  c->reducer = RED_MONOID;
  c->labels = labels;
  c->op_span = a->name.span;
  c->n = 2;
  c->arg = arg;
  c->monoid = y->monoid;
  return c;
}

static Core *call_unknown(Elab *x, Scope *s, const Ast *a) {
  const Local *l = frame_find(s->frame, a->name.s);
  const Symbol *y = l ? NULL : symbol_find(x, a->name.s, UINT32_MAX);
  if (y && y->kind == SYM_TENSOR && !y->node) return core_failed(x); /* an error in its own definition was reported */
  bool later = y && (y->kind == SYM_DEF || y->kind == SYM_MONOID || y->kind == SYM_EXTERN), known = l || (y && !later);
  const char *dtype = foreign_dtype(a->name.s->s, a->name.s->len);
  const char *what = known ? "is not a function" : later ? "is not known here" : "is known here";
  Diag *d =
      diag_add(x->diags, D_E070, a->name.span, "%s%s %s", known || later ? "" : "no function ", a->name.s->s, what);
  if (known) diag_at(x->diags, d, l ? l->span : y->span, "defined here");
  else if (!later && hint_call(x, d, a)) return core_failed(x);
  else if (dtype && !later) diag_hint(x->diags, d, "a conversion is named by its dtype: %s", dtype);
  else diag_unknown(x, d, a->name, s->frame);
  if (known && y && y->kind == SYM_TENSOR && a->args.len == y->node->rank && a->args.len == 1)
    diag_hint(
        x->diags, d, "a tensor is read with brackets: `%s[%s]`", a->name.s->s, source_text(x, a->args.at[0]->span));
  else if (known && y && y->kind == SYM_TENSOR)
    diag_hint(x->diags, d, "a tensor is read with brackets: `%s`", shape_form(x, y));
  return core_failed(x);
}

/* A single result cannot be unpacked. */
static bool one_result(Elab *x, const Ast *a) {
  if (a->result < 2 && a->results < 2) return true;
  if (a->result == 1)
    diag_hint(x->diags,
        diag_add(x->diags, D_E098, a->span, "%s gives one result, and %u are taken here", a->name.s->s, a->results),
        "a def that ends with `(a, b)` gives several");
  return x->equation.failed = true, false;
}

Core *core_from_call(Elab *x, Scope *s, const Ast *a) {
  Op op;
  Symbol *y =
      frame_find(s->frame, a->name.s) ? NULL : symbol_find(x, a->name.s, s->frame ? s->frame->order : UINT32_MAX);
  bool def = y && y->kind == SYM_DEF, monoid = y && y->kind == SYM_MONOID, external = y && y->kind == SYM_EXTERN;
  bool one = monoid ? y->stmt->parts == 1 : external || name_is_builtin(a->name.s);
  if (!def && one && !one_result(x, a)) return NULL;
  if (def || monoid) {
    y->used = true;
    return y->kind == SYM_DEF ? expand(x, s, y, a) : call_monoid(x, s, y, a);
  }
  if (external) {
    y->used = true;
    return call_extern(x, s, y, a);
  }
  if (name_is_builtin(a->name.s) && op_find(a->name.s->s, a->name.s->len, &op))
    return op_info[op].laws & LAW_FUNCTION ? call_function(x, s, a, op) : call_random(x, s, a, op);
  return call_unknown(x, s, a);
}
