/* front/elab/core.c - from the AST of one expression to Core: resolves names, finds types, gathers labels.
 *
 * Every function here returns NULL after a complaint, and sets x->equation.failed. Reducers are in core_reduce.c, calls
 * in calls.c, sizes in size.c. Loops walk left-deep chains of operators; any other depth is bounded by the parser. */
#include "elab.h"

#include <math.h>
#include <string.h>

enum { CORE_DEPTH = 3000 };

Core *core_failed(Elab *x) {
  x->equation.failed = true;
  return NULL;
}

Core *core_new(Elab *x, CoreKind k, Span span, Type t, LabelSet free) {
  if (free.n > GRAPH_LABELS / 2 && !x->equation.failed) {
    diag_add(x->diags, D_E095, span, "more than %d labels in one expression", GRAPH_LABELS / 2);
    x->equation.failed = true;
  }
  return MAKE(x->arena, Core, .kind = k, .span = span, .type = t, .free = free, .acc = -1, .frame = x->frame);
}

Core *core_with(Elab *x, CoreKind k, Span span, Type t, uint32_t n, Core **arg) {
  LabelSet free = {0};
  Core **own = n ? NEW_ARRAY(x->arena, Core *, n) : NULL;
  for (uint32_t i = 0; i < n; i++) {
    own[i] = arg[i];
    if (arg[i]) free = set_union(x, free, arg[i]->free);
  }
  Core *c = core_new(x, k, span, t, free);
  c->n = n;
  c->arg = own;
  return c;
}

Core *core_const(Elab *x, const Expr *e, Type t, Span span) {
  Core *c = core_new(x, CORE_CONST, span, t, (LabelSet){0});
  c->e = e;
  return c;
}

Core *core_label(Elab *x, LabelVar *v, Span span) {
  Core *c = core_new(x, CORE_LABEL, span, (Type){DT_I64, WEAK_INDEX}, set_one(x, v));
  c->label = v;
  v->used = true;
  return c;
}

Span free_place(const Core *c, const LabelVar *v) {
  for (;;) {
    const Core *in = NULL;
    for (uint32_t i = 0; i < c->n && !in; i++)
      if (c->arg[i] && set_has(c->arg[i]->free, v)) in = c->arg[i];
    if (!in) return c->span;
    c = in;
  }
}

Local *frame_find(Frame *f, Str name) {
  for (uint32_t i = f ? f->locals.len : 0; i-- > 0;)
    if (f->locals.at[i].name == name) return &f->locals.at[i];
  return NULL;
}

Symbol *scope_symbol(Elab *x, const Scope *s, Str name) {
  return symbol_find(x, name, s->frame ? s->frame->order : UINT32_MAX);
}

/* Whether a bare name in an index, between [ ], is a label (rule 4). After its loop, a loop variable is one only where
 * the equation has a label of that name. */
static bool name_is_label(Elab *x, Scope *s, Str name) {
  if (frame_find(s->frame, name)) return false;
  Symbol *y = scope_symbol(x, s, name);
  if (y && y->turns) return label_known(s->labels, name);
  if (!y || y->kind == SYM_DEF || y->kind == SYM_MONOID || y->kind == SYM_EXTERN || y->kind == SYM_STACK) return true;
  return y->kind == SYM_TENSOR && y->node && y->node->rank > 0;
}

/* ---- operations ------------------------------------------------------------------------------- */

const char *type_name(Type t) {
  return t.weak == WEAK_REAL ? "a float" : t.weak ? "an integer" : dtype_name(t.dtype);
}

static bool of_conditions(const Core *c) {
  if (c->kind != CORE_OP) return false;
  for (uint32_t i = 0; i < c->n; i++)
    if (c->arg[i]->type.dtype != DT_BOOL) return false;
  return true;
}

bool want_bool(Elab *x, const Core *c, Span op, const char *what) {
  if (c->type.dtype == DT_BOOL) return true;
  Diag *d = diag_add(x->diags, D_E080, c->span, "%s wants a condition, and this is %s", what, type_name(c->type));
  if (op.src && op.at != c->span.at) diag_at(x->diags, d, op, "wants a bool");
  if (of_conditions(c)) diag_hint(x->diags, d, "conditions are joined by `and` and `or`");
  else diag_hint(x->diags, d, "a number is not a condition: compare it, `%s != 0`", source_text(x, c->span));
  x->equation.failed = true;
  return false;
}

bool want_integer(Elab *x, const Core *c, const char *what) {
  if (c->type.dtype != DT_BOOL && !dtype_is_float(c->type.dtype)) return true;
  Diag *d = diag_add(x->diags, D_E085, c->span, "%s must be an integer, and this is %s", what, type_name(c->type));
  if (c->type.dtype == DT_BOOL) diag_hint(x->diags, d, "a condition chooses by `if`, or by `where` in a reducer");
  else diag_hint(x->diags, d, "`//` divides integers and floors; `i64(%s)` truncates", source_text(x, c->span));
  x->equation.failed = true;
  return false;
}

static DType narrowest(int64_t i) {
  return dtype_holds(DT_I16, i) ? DT_I16 : dtype_holds(DT_I32, i) ? DT_I32 : DT_I64;
}

/* Complains if it does not. */
static bool literal_fits(Elab *x, const Core *c, Type with, Span beside) {
  if (c->kind != CORE_CONST || c->type.weak != WEAK_LITERAL || c->e->kind != EX_INT) return true;
  if (with.weak || !dtype_is_int(with.dtype) || dtype_holds(with.dtype, c->e->i)) return true;
  const char *t = dtype_name(with.dtype);
  Diag *d = diag_add(x->diags, D_E082, c->span, "%lld does not fit into %s", (long long)c->e->i, t);
  diag_at(x->diags, d, beside, "%s", t);
  diag_hint(
      x->diags, d, "widen what stands beside it: `%s(%s)`", dtype_name(narrowest(c->e->i)), source_text(x, beside));
  x->equation.failed = true;
  return false;
}

static bool fold_overflows(Op op, int64_t a, int64_t b) {
  int64_t r;
  if (op == OP_ADD) return !add_ok(a, b, &r);
  if (op == OP_SUB) return !sub_ok(a, b, &r);
  if (op == OP_MUL) return !mul_ok(a, b, &r);
  if (op != OP_POW || b < 0) return false;
  r = 1;
  for (int64_t k = 0; k < b && (a > 1 || a < -1); k++)
    if (!mul_ok(r, a, &r)) return true;
  return false;
}

/* Constants of the index kind are folded to one expression, so that 2*N - 1 is a size. */
static Core *op_fold(Elab *x, Op op, Span span, Type t, uint32_t n, Core **arg) {
  if (t.weak != WEAK_LITERAL && t.weak != WEAK_INDEX) return NULL;
  if (op_info[op].rule != RULE_SAME) return NULL;
  for (uint32_t i = 0; i < n; i++)
    if (arg[i]->kind != CORE_CONST) return NULL;
  const Expr *e[3];
  for (uint32_t i = 0; i < n; i++) e[i] = arg[i]->e;
  if (n == 2 && e[0]->kind == EX_INT && e[1]->kind == EX_INT && fold_overflows(op, e[0]->i, e[1]->i)) {
    Diag *d = diag_add(x->diags, D_E083, span, "this does not fit into 64 bits");
    if (t.weak == WEAK_LITERAL)
      diag_hint(x->diags, d, "a float holds about 16 digits of it: write `%lld.0` for `%lld`", (long long)e[0]->i,
          (long long)e[0]->i);
    return core_failed(x);
  }
  return core_const(x, expr_op(x->exprs, op, n, e), t, span);
}

static bool op_type(Elab *x, Op op, uint32_t n, Core **arg, Type *t) {
  Type types[3] = {{DT_F64, FIRM}}, operand;
  for (uint32_t i = 0; i < n; i++) {
    types[i] = arg[i]->type;
    if (op_info[op].rule == RULE_LOGIC && !want_bool(x, arg[i], arg[i]->span, op_info[op].name)) return false;
  }
  *t = type_op(op, n, types, &operand);
  for (uint32_t i = 0; i < n && n == 2; i++)
    if (!literal_fits(x, arg[i], arg[1 - i]->type, arg[1 - i]->span)) return false;
  if (op == OP_POW && !dtype_is_float(t->dtype) && arg[1]->kind == CORE_CONST && arg[1]->e->kind == EX_INT &&
      arg[1]->e->i < 0) {
    Diag *d = diag_add(x->diags, D_E084, arg[1]->span, "a negative power of an integer");
    const char *base = source_text(x, arg[0]->span);
    diag_hint(x->diags, d, "convert it: `f64(%s) ^ %lld`", base, (long long)arg[1]->e->i);
    return false;
  }
  return true;
}

Core *core_op(Elab *x, Op op, Span span, uint32_t n, Core **arg) {
  Type t;
  if (!op_type(x, op, n, arg, &t)) return core_failed(x);
  Core *c = op_fold(x, op, span, t, n, arg);
  if (c || x->equation.failed) return c;
  c = core_with(x, CORE_OP, span, t, n, arg);
  c->op = op;
  return c;
}

static void hint_kinds(Elab *x, Diag *d, const Core *a, const Core *b) {
  diag_note(x->diags, d, "%s", type_name(b->type));
  diag_at(x->diags, d, a->span, "%s", type_name(a->type));
  const Core *p = a->type.dtype == DT_BOOL ? a : b;
  if (p->kind != CORE_CONST)
    diag_hint(x->diags, d, "`i64(%s)` makes a number of a condition, 1 or 0", source_text(x, p->span));
}

static Core *core_or_else(Elab *x, Span span, Core *a, Core *b, bool in_def) {
  Core *arg[2] = {a, b};
  if ((a->type.dtype == DT_BOOL) != (b->type.dtype == DT_BOOL)) {
    Diag *d = diag_add(x->diags, D_E081, b->span,
        "the sides of `?"
        "?` are %s and %s",
        type_name(a->type), type_name(b->type));
    hint_kinds(x, d, a, b);
    return core_failed(x);
  }
  if (!literal_fits(x, b, a->type, a->span)) return core_failed(x);
  Core *c = core_with(x, CORE_OR_ELSE, span, type_join(a->type, b->type), 2, arg);
  c->in_def = in_def;
  return c;
}

static void warn_divided_reach(Elab *x, const Ast *div) {
  const Ast *r = div->b;
  if (div->op != OP_DIV || r->kind != AST_REDUCE || r->call_form || !r->a || r->a->kind != AST_BINARY) return;
  if (r->a->op != OP_MUL && r->a->op != OP_DIV && r->a->op != OP_IDIV && r->a->op != OP_MOD) return;
  Diag *d = diag_add(x->diags, D_W003, r->op_span, "this reducer right of `/` takes in all of the product after it");
  diag_at(x->diags, d, r->a->op_span, "inside its reach");
  const Ast *first = r->a;
  while (first->kind == AST_BINARY) first = first->a;
  Span num = div->a->span, all = r->span, head = {all.src, all.at, first->span.end},
       rest = {all.src, head.end, all.end};
  const char *a = source_text(x, num);
  diag_hint(x->diags, d, "write `%s / (%s)`, which is what it means, or `%s / (%s)%s`", a, source_text(x, all), a,
      source_text(x, head), source_text(x, rest));
}

static bool is_nan(const Ast *a) {
  while (a->kind == AST_PAREN) a = a->a;
  return a->kind == AST_CONST && isnan(a->f);
}

/* `x == nan` */
static void warn_nan_compared(Elab *x, const Ast *a) {
  bool left = is_nan(a->a), equal = a->op == OP_EQ || a->op == OP_NE, is = a->op == OP_NE;
  if (op_info[a->op].rule != RULE_COMPARE || !(left || is_nan(a->b))) return;
  Diag *d = diag_add(x->diags, D_W011, a->span, "this is always %s: %s", is ? "true" : "false",
      equal ? "nothing equals nan, not even nan itself" : "nan is neither less nor greater than anything");
  if (equal)
    diag_hint(x->diags, d, "write `%sisnan(%s)`", is ? "not " : "", source_text(x, left ? a->b->span : a->a->span));
}

/* a + b + c + ... : walks the left spine with a loop. */
static Core *core_chain(Elab *x, Scope *s, const Ast *a) {
  VEC(const Ast *) spine = {0};
  for (; ast_is_chain(a); a = a->a) vec_push(x->arena, spine, a);
  Core *c = core_from_ast(x, s, a);
  bool ok = c != NULL;
  while (spine.len) {
    const Ast *up = vec_pop(spine);
    if (up->kind == AST_BINARY) warn_divided_reach(x, up), warn_nan_compared(x, up);
    Core *b = core_from_ast(x, s, up->b);
    if (!b) ok = false;
    if (!ok) continue;
    Core *arg[2] = {c, b};
    c = up->kind == AST_OR_ELSE ? core_or_else(x, up->span, c, b, s->frame != NULL)
                                : core_op(x, (Op)up->op, up->span, 2, arg);
    ok = c != NULL;
  }
  return ok ? c : core_failed(x);
}

/* ---- names ------------------------------------------------------------------------------------ */

static Core *core_read(Elab *x, const Symbol *y, Span span, uint32_t n, Core **index) {
  Core *c = core_with(x, CORE_READ, span, type_firm(y->node->dtype), n, index);
  c->tensor = y->node;
  c->name = y->name;
  return c;
}

/* The label of dimension k where the tensor is defined; NULL: none. */
static Str axis_label(const Symbol *y, uint32_t k) {
  const AstItem *it = y->axes && k < y->axes->len ? &y->axes->at[k] : NULL;
  if (it && it->kind == ITEM_SIZED) return it->name.s;
  bool equation = it && y->node->kind != EIN_INPUT; /* in a declaration a bare name is a size */
  return equation && it->kind == ITEM_EXPR && it->e->kind == AST_NAME ? it->e->name.s : NULL;
}

/* The next letter from *from on that is not the label of a dimension. */
static char free_letter(const Symbol *y, uint32_t *from) {
  static const char letters[] = "ijklmnopqr";
  for (;;) {
    char c = letters[(*from)++ % 10];
    bool taken = false;
    for (uint32_t k = 0; k < y->node->rank && *from <= 10; k++) {
      Str s = axis_label(y, k);
      taken |= s && s->len == 1 && s->s[0] == c;
    }
    if (!taken) return c;
  }
}

const char *shape_form(Elab *x, const Symbol *y) {
  Buf b = buf_new(x->arena);
  buf_printf(&b, "%s[", y->name->s);
  for (uint32_t i = 0, from = 0; i < y->node->rank; i++) {
    Str s = axis_label(y, i);
    if (s) buf_printf(&b, "%s%s", i ? ", " : "", s->s);
    else buf_printf(&b, "%s%c", i ? ", " : "", free_letter(y, &from));
  }
  buf_str(&b, "]");
  return b.s;
}

void complain_unread(Elab *x, const Symbol *y, Span span) {
  Diag *d = diag_add(x->diags, D_E071, span, "%s has %u dimension%s and needs its labels", y->name->s, y->node->rank,
      y->node->rank == 1 ? "" : "s");
  diag_at(x->diags, d, y->span, "defined here");
  if (!hint_matrix_power(x, d, y, span)) diag_hint(x->diags, d, "write `%s`", shape_form(x, y));
}

static Core *core_symbol(Elab *x, Symbol *y, Span span) {
  y->used = true;
  switch (y->kind) {
    case SYM_DIM: return y->size ? core_const(x, y->size, (Type){DT_I64, WEAK_INDEX}, span) : core_failed(x);
    case SYM_TURN: {
      Core *c = core_new(x, CORE_TURN, span, (Type){DT_I64, WEAK_INDEX}, (LabelSet){0});
      c->i = y->depth;
      return c;
    }
    case SYM_TENSOR:
      if (!y->node) return core_failed(x); /* an error in its own definition was reported */
      if (!y->node->rank) return core_read(x, y, span, 0, NULL);
      complain_unread(x, y, span);
      return core_failed(x);
    case SYM_STACK: {
      Diag *g = diag_add(x->diags, D_E101, span, "%s is known after its repeat block, not inside it", y->name->s);
      diag_at(x->diags, g, y->span, "stacked here");
      diag_hint(x->diags, g, "name the value that is stacked, and read that; what an earlier turn had is a `state`");
      return core_failed(x);
    }
    case SYM_DEF: case SYM_MONOID: case SYM_EXTERN: {
      Diag *g = diag_add(x->diags, D_E072, span, "%s is a %s and must be called", y->name->s,
          y->kind == SYM_DEF          ? "def"
              : y->kind == SYM_EXTERN ? "C function"
                                      : "monoid");
      diag_at(x->diags, g, y->span, "defined here");
      diag_hint(x->diags, g, "its form is `%s`", call_form(x, y->stmt));
      return core_failed(x);
    }
  }
  return core_failed(x);
}

static Core *core_name(Elab *x, Scope *s, const Ast *a) {
  Local *l = frame_find(s->frame, a->name.s);
  if (l) {
    l->used = true;
    if (l->direct) {
      Core *c = l->direct;
      return c->kind == CORE_LABEL ? core_label(x, label_here(x, s->labels, c->label), a->span) : c;
    }
    return l->bind ? core_use(x, s, l->bind, a->span) : core_failed(x);
  }
  Symbol *y = scope_symbol(x, s, a->name.s);
  bool over = y && y->turns && label_known(s->labels, a->name.s);
  bool other = y &&
      ((y->kind == SYM_TENSOR && y->node && y->node->rank) || y->kind == SYM_DEF || y->kind == SYM_MONOID ||
          y->kind == SYM_EXTERN || y->kind == SYM_STACK);
  if (y && !over && !(other && (s->index || label_known(s->labels, a->name.s)))) return core_symbol(x, y, a->span);
  if (!y && !label_known(s->labels, a->name.s) && complain_truth(x, a->name)) return core_failed(x);
  return core_label(x, label_get(x, s->labels, a->name.s, a->span), a->span);
}

static void complain_unknown_tensor(Elab *x, Scope *s, const Ast *a) {
  if (complain_function(x, a->name)) return;
  Diag *d = diag_add(x->diags, D_E070, a->name.span, "%s is not defined", a->name.s->s);
  Ast call = {.kind = AST_CALL, .name = a->name}; /* a function in other languages, `delta[i,j]` */
  for (uint32_t i = 0; i < a->items.len; i++)
    if (a->items.at[i].e) vec_push(x->arena, call.args, a->items.at[i].e);
  if (!diag_unknown(x, d, a->name, s->frame)) hint_foreign(x, d, &call);
}

/* ---- reads ------------------------------------------------------------------------------------ */

static bool label_clashes(Elab *x, Scope *s, AstName n) {
  if (name_is_label(x, s, n.s)) return false;
  Local *l = frame_find(s->frame, n.s);
  Symbol *y = scope_symbol(x, s, n.s);
  if (!l && y->turns) return false; /* here it becomes one */
  if (!l && y->kind == SYM_TENSOR && !y->node) return x->equation.failed = true; /* who knows what it is */
  const char *what = l ? "a parameter or local name of the def" : y->kind == SYM_DIM ? "a dim"
                     : y->kind == SYM_TURN ? "a loop variable" : "a tensor without dimensions";
  Diag *d = diag_add(x->diags, D_E052, n.span, "%s cannot be a label here: it is %s", n.s->s, what);
  diag_at(x->diags, d, l ? l->span : y->span, "defined here");
  if (y && !l && y->kind == SYM_DIM && n.s->s[0] >= 'A' && n.s->s[0] <= 'Z' && n.s->len == 1)
    diag_hint(x->diags, d, "in brackets %s means the dim; a label needs a name of its own: `%c:%s`", n.s->s,
        n.s->s[0] + 'a' - 'A', n.s->s);
  else
    diag_hint(x->diags, d, "in brackets the name means the %s; choose another label",
        l                        ? "parameter"
            : y->kind == SYM_DIM ? "dim"
                                 : "value");
  return true;
}

/* `next z[k] = e`, where k is no label: one element changes. */
void hint_element(Elab *x, Diag *d, const AstStmt *s, const Symbol *y, Labels *labels) {
  Buf left = buf_new(x->arena), at = buf_new(x->arena);
  Scope in = {.labels = labels};
  if (s->items.len != y->node->rank) return;
  for (uint32_t k = 0, from = 0; k < s->items.len; k++) {
    const AstItem *it = &s->items.at[k];
    Str own = ast_item_label(it), axis = axis_label(y, k);
    bool label = own && name_is_label(x, &in, own);
    if (!label && it->kind != ITEM_EXPR) return;
    const char *name = label ? own->s : axis ? axis->s : arena_printf(x->arena, "%c", free_letter(y, &from));
    buf_printf(&left, "%s%s", k ? "," : "", name);
    if (!label) buf_printf(&at, "%s%s == %s", at.len ? " and " : "", name, source_text(x, it->span));
  }
  if (at.len)
    diag_hint(x->diags, d, "a next is of all elements; to change one, write `next %s[%s] = if %s then %s else %s[%s]`",
        y->name->s, left.s, at.s, source_text(x, s->e->span), y->name->s, left.s);
}

/* Appends to `out` an item that binds or names a label, perhaps with a size. */
static bool label_from_item(Elab *x, Scope *s, const AstItems *all, const AstItem *it, LabelSet *out, const char *who) {
  AstName n = it->name;
  if (it->kind == ITEM_EXPR && it->e->kind == AST_NAME) n = it->e->name;
  else if (it->kind != ITEM_SIZED) {
    Diag *d = diag_add(x->diags, D_E053, it->span, "%s wants a label here", who);
    diag_hint(x->diags, d, "a label is a name, as `k`, or a name with a size, as `k:64`");
    return false;
  }
  if (label_clashes(x, s, n)) return false;
  LabelVar *v = label_get(x, s->labels, n.s, n.span);
  v->listed = true;
  if (set_has(*out, v)) {
    Diag *d = diag_add(x->diags, D_E054, it->span, "label %s stands twice in %s", n.s->s, who);
    for (const AstItem *o = all->at; o < it; o++)
      if (ast_item_label(o) == n.s) diag_at(x->diags, d, o->span, "first here");
    diag_hint(x->diags, d, "write it once; along a diagonal, that is `[%s] A[%s,%s]`", n.s->s, n.s->s, n.s->s);
    return false;
  }
  if (it->kind == ITEM_SIZED && it->e->kind == AST_SIZE) { /* j:size(i) */
    Core *c = core_from_ast(x, s, it->e);
    if (!c) return false;
    label_unify(v, c->label, x->arena);
  } else if (it->kind == ITEM_SIZED) {
    const Expr *e = size_from_ast(x, s, it->e);
    if (!e) return false;
    label_fact(x, v, e, it->span, "its size");
  }
  *out = set_union(x, *out, set_one(x, v));
  return true;
}

bool labels_from_items(Elab *x, Scope *s, const AstItems *items, LabelSet *out, const char *who, bool groups) {
  bool ok = true;
  vec_each(const AstItem, it, *items) {
    if (it->kind == ITEM_GROUP && groups) ok &= labels_from_items(x, s, &it->part, out, who, false);
    else ok &= label_from_item(x, s, items, it, out, who);
  }
  if (!ok) x->equation.failed = true;
  return ok;
}

static Core *index_group(Elab *x, Scope *s, const AstItem *it, const Expr *extent, Str tensor) {
  LabelSet parts = {0};
  if (!labels_from_items(x, s, &it->part, &parts, "a group", false)) return NULL;
  group_fact(x, parts, extent, it->span, tensor->s);
  for (uint32_t i = 0; i < parts.n; i++) parts.at[i]->used = true;
  Core *c = core_new(x, CORE_GROUP, it->span, (Type){DT_I64, WEAK_INDEX}, parts);
  c->labels = parts;
  return c;
}

static Core *index_checked(Elab *x, Core *c) {
  if (!c) return NULL;
  return want_integer(x, c, "an index") ? c : core_failed(x);
}

static Core *index_from_item(Elab *x, Scope *s, const AstItem *it, const Expr *extent, Str tensor) {
  if (it->kind == ITEM_GROUP) return index_group(x, s, it, extent, tensor);
  if (it->kind == ITEM_BIND || it->kind == ITEM_SIZED) {
    Diag *d = diag_add(x->diags, D_E055, it->span,
        it->kind == ITEM_BIND ? "a tensor is read by position, not by label"
                              : "a size cannot be given where a tensor is read");
    diag_hint(x->diags, d, it->kind == ITEM_BIND
              ? "`x[j = ...]` substitutes in a def's parameter or in a parenthesised expression"
              : "sizes are given on the left, in a reducer, in a call's brackets or in a group");
    if (it->kind == ITEM_SIZED)
      diag_hint(x->diags, d, "a part of a dimension is read by an expression: `%s + 0`", it->name.s->s);
    return core_failed(x);
  }
  if (it->e->kind == AST_NAME && name_is_label(x, s, it->e->name.s)) {
    LabelVar *v = label_get(x, s->labels, it->e->name.s, it->span);
    label_fact(x, v, extent, it->span, tensor->s);
    return core_label(x, v, it->span);
  }
  Scope in = *s;
  in.index = true, in.reach = NULL;
  return index_checked(x, core_from_ast(x, &in, it->e));
}

/* "X[0, d]" for `X[0]`: the labels of the dimensions that have no index, behind the indices that are there; or the form
 * alone, if an index is such a label. */
static const char *read_completed(Elab *x, const Symbol *y, const AstItems *items) {
  Buf b = buf_new(x->arena);
  for (uint32_t i = 0; i < items->len; i++)
    for (uint32_t k = items->len; k < y->node->rank; k++)
      if (ast_item_label(&items->at[i]) && ast_item_label(&items->at[i]) == axis_label(y, k)) return shape_form(x, y);
  buf_printf(&b, "%s[", y->name->s);
  for (uint32_t i = 0, from = 0; i < y->node->rank; i++) {
    Str s = i < items->len ? NULL : axis_label(y, i);
    if (i) buf_str(&b, ", ");
    if (i < items->len) buf_str(&b, source_text(x, items->at[i].span));
    else if (s) buf_str(&b, s->s);
    else buf_char(&b, free_letter(y, &from));
  }
  buf_str(&b, "]");
  return b.s;
}

Core *complain_rank(Elab *x, const Symbol *y, const Ast *a) {
  Diag *d = diag_add(x->diags, D_E073, a->span, "%s has %u dimension%s but is read with %u", y->name->s, y->node->rank,
                     y->node->rank == 1 ? "" : "s", a->items.len);
  diag_at(x->diags, d, y->span, "defined here");
  const char *form = a->items.len < y->node->rank ? read_completed(x, y, &a->items) : shape_form(x, y);
  diag_hint(x->diags, d, "write `%s`", y->node->rank ? form : y->name->s);
  return core_failed(x);
}

/* Whether the indices are only labels of the def. */
static bool indexed_by_own(const AstItems *head, const Ast *a) {
  for (uint32_t i = 0; i < a->items.len; i++) {
    Str label = ast_item_label(&a->items.at[i]);
    bool own = false;
    for (uint32_t k = 0; label && k < head->len; k++) own |= ast_item_label(&head->at[k]) == label;
    if (!own) return false;
  }
  return true;
}

/* The parameter without its brackets, with the enclosing reducer if nothing else comes between them. */
static const char *parameter_bare(Elab *x, const Scope *s, const Ast *a) {
  if (!s->reach || s->reach->src != a->span.src || s->reach->at >= a->span.at) return a->name.s->s;
  const char *text = source_text(x, (Span){a->span.src, s->reach->at, a->name.span.end});
  const char *close = strrchr(text, ']'), *open = strchr(text, '[');
  bool alone = open && close && !strchr(open + 1, '[') && strspn(close + 1, " ") + a->name.s->len == strlen(close + 1);
  return alone ? text : a->name.s->s;
}

static const char *params_text(Elab *x, const AstStmt *def) {
  Buf b = buf_new(x->arena);
  for (uint32_t i = 0; i < def->params.len; i++) buf_printf(&b, "%s%s", i ? ", " : "", def->params.at[i].s->s);
  return b.s;
}

static void hint_parameter(Elab *x, Scope *s, const Ast *a, Diag *d) {
  const AstItems *head = &s->frame->def->items;
  const char *name = a->name.s->s, *def = s->frame->def->name.s->s;
  bool one = a->items.len == 1 && a->items.at[0].kind == ITEM_EXPR;
  if (indexed_by_own(head, a))
    diag_hint(x->diags, d, "%s is an expression already: write `%s`", name, parameter_bare(x, s, a));
  else if (one && head->len == 1)
    diag_hint(x->diags, d, "substitute by label: `%s[%s = %s]`", name, ast_item_label(&head->at[0])->s,
        source_text(x, a->items.at[0].span));
  else if (one && !head->len && ast_item_label(&a->items.at[0]))
    diag_hint(x->diags, d, "make %s a label of the def, `def %s[%s](%s)`, and write `%s`",
        ast_item_label(&a->items.at[0])->s, def, ast_item_label(&a->items.at[0])->s, params_text(x, s->frame->def),
        parameter_bare(x, s, a));
  else diag_hint(x->diags, d, "use it as it stands, or substitute by label: `%s[j = ...]`", name);
}

Core *core_tensor(Elab *x, Scope *s, const Symbol *y, const Ast *a) {
  if (!y->node) return core_failed(x);
  if (y->node->rank != a->items.len) return complain_rank(x, y, a);
  Core **index = NEW_ARRAY(x->arena, Core *, a->items.len + 1);
  bool ok = true;
  for (uint32_t i = 0; i < a->items.len; i++) {
    index[i] = index_from_item(x, s, &a->items.at[i], y->node->dim[i], y->name);
    ok &= index[i] != NULL;
  }
  return ok ? core_read(x, y, a->span, a->items.len, index) : core_failed(x);
}

static Core *core_index(Elab *x, Scope *s, const Ast *a) {
  Local *l = frame_find(s->frame, a->name.s);
  if ((a->items.len && a->items.at[0].kind == ITEM_BIND)) return core_from_subst(x, s, a);
  if (l) {
    Diag *d = diag_add(x->diags, D_E056, a->span, "%s is a parameter: it has labels, not positions", a->name.s->s);
    diag_at(x->diags, d, l->span, "%s", l->bind ? "defined here" : "a number");
    hint_parameter(x, s, a, d);
    return core_failed(x);
  }
  Symbol *y = scope_symbol(x, s, a->name.s);
  if (!y) return complain_unknown_tensor(x, s, a), core_failed(x);
  y->used = true;
  if (y->kind != SYM_TENSOR) {
    if (y->kind == SYM_DEF || y->kind == SYM_MONOID || y->kind == SYM_EXTERN || y->kind == SYM_STACK)
      return core_symbol(x, y, a->name.span);
    Diag *d = diag_add(x->diags, D_E074, a->span, "%s is %s, not a tensor", y->name->s,
        y->kind == SYM_DIM ? "a dim" : "a loop variable");
    diag_at(x->diags, d, y->span, "defined here");
    diag_hint(x->diags, d, "it is one number: write `%s`", y->name->s);
    return core_failed(x);
  }
  return core_tensor(x, s, y, a);
}

/* ---- the switch ------------------------------------------------------------------------------- */

static Core *core_neg(Elab *x, Scope *s, const Ast *a) {
  if (a->a->kind == AST_INT && a->a->big)
    return core_const(x, expr_int(x->exprs, DT_I64, INT64_MIN), (Type){DT_I64, WEAK_LITERAL}, a->span);
  Core *c = core_from_ast(x, s, a->a);
  if (!c) return NULL;
  if (c->kind == CORE_CONST && c->type.weak == WEAK_REAL)
    return core_const(x, expr_real(x->exprs, DT_F64, -c->e->f), c->type, a->span);
  return core_op(x, OP_NEG, a->span, 1, &c);
}

Core *core_chosen(Elab *x, Span span, const char *what, Core **arg) {
  if ((arg[1]->type.dtype == DT_BOOL) != (arg[2]->type.dtype == DT_BOOL)) {
    Diag *d = diag_add(x->diags, D_E081, arg[2]->span, "the %s are %s and %s", what, type_name(arg[1]->type),
        type_name(arg[2]->type));
    hint_kinds(x, d, arg[1], arg[2]);
    return core_failed(x);
  }
  if (!literal_fits(x, arg[1], arg[2]->type, arg[2]->span) || !literal_fits(x, arg[2], arg[1]->type, arg[1]->span))
    return core_failed(x);
  return core_with(x, CORE_SELECT, span, type_join(arg[1]->type, arg[2]->type), 3, arg);
}

static Core *core_if(Elab *x, Scope *s, const Ast *a) {
  Scope in = *s;
  in.reach = NULL;
  Core *arg[3] = {core_from_ast(x, &in, a->a), core_from_ast(x, &in, a->b), core_from_ast(x, &in, a->c)};
  if (!arg[0] || !arg[1] || !arg[2] || !want_bool(x, arg[0], a->op_span, "if")) return core_failed(x);
  return core_chosen(x, a->span, "branches", arg);
}

static Core *core_cast(Elab *x, Scope *s, const Ast *a) {
  Scope in = *s;
  in.reach = NULL;
  Core *c = core_from_ast(x, &in, a->a);
  return c ? core_with(x, CORE_CAST, a->span, type_firm(a->dtype), 1, &c) : NULL;
}

static bool size_of_dim(Elab *x, Scope *s, const Ast *a) {
  const Symbol *y = frame_find(s->frame, a->name.s) ? NULL : scope_symbol(x, s, a->name.s);
  if (!y || y->kind != SYM_DIM) return false;
  Diag *d = diag_add(x->diags, D_E052, a->name.span, "`size` is of a label, and %s is a dim", y->name->s);
  diag_at(x->diags, d, y->span, "defined here");
  diag_hint(x->diags, d, "a dim is a size itself: write `%s`", y->name->s);
  return true;
}

static Core *core_size(Elab *x, Scope *s, const Ast *a) {
  Local *l = frame_find(s->frame, a->name.s);
  LabelVar *v = NULL;
  if (l && l->direct && l->direct->kind == CORE_LABEL) v = label_here(x, s->labels, l->direct->label), l->used = true;
  else if (size_of_dim(x, s, a) || label_clashes(x, s, a->name)) return core_failed(x);
  else v = label_get(x, s->labels, a->name.s, a->span);
  v->used = true;
  Core *c = core_new(x, CORE_SIZE, a->span, (Type){DT_I64, WEAK_INDEX}, (LabelSet){0});
  c->label = v;
  return c;
}

static Core *core_number(Elab *x, const Ast *a) {
  if (a->kind == AST_BOOL) return core_const(x, expr_bool(x->exprs, a->i != 0), type_firm(DT_BOOL), a->span);
  if (a->kind != AST_INT) return core_const(x, expr_real(x->exprs, DT_F64, a->f), (Type){DT_F64, WEAK_REAL}, a->span);
  if (!a->big) return core_const(x, expr_int(x->exprs, DT_I64, a->i), (Type){DT_I64, WEAK_LITERAL}, a->span);
  diag_add(x->diags, D_E083, a->span, "this does not fit into 64 bits");
  return core_failed(x);
}

static Core *core_inner(Elab *x, Scope *s, const Ast *a) {
  Scope in = *s;
  switch (a->kind) {
    case AST_INT: case AST_REAL: case AST_BOOL: case AST_CONST: return core_number(x, a);
    case AST_NAME: return core_name(x, s, a);
    case AST_INDEX: return core_index(x, s, a);
    case AST_SUBST: return core_from_subst(x, s, a);
    case AST_NEG: return core_neg(x, s, a);
    case AST_NOT: {
      Core *c = core_from_ast(x, s, a->a);
      return c ? core_op(x, OP_NOT, a->span, 1, &c) : NULL;
    }
    case AST_BINARY: case AST_OR_ELSE: return core_chain(x, s, a);
    case AST_IF: return core_if(x, s, a);
    case AST_REDUCE: return core_reduce(x, s, a);
    case AST_CALL: return core_from_call(x, s, a);
    case AST_CAST: return core_cast(x, s, a);
    case AST_SIZE: return core_size(x, s, a);
    case AST_GRAD: return core_grad(x, s, a);
    case AST_LIST: return core_list(x, s, a);
    case AST_RESULTS: bug("several results, and none is taken");
    case AST_PAREN: in.reach = NULL; return core_from_ast(x, &in, a->a);
  }
  return core_failed(x);
}

Core *core_from_ast(Elab *x, Scope *s, const Ast *a) {
  if (s->depth > CORE_DEPTH) {
    diag_add(x->diags, D_E090, a->span, "this expression, with its defs expanded, is nested too deeply");
    return core_failed(x);
  }
  s->depth++;
  Core *c = core_inner(x, s, a);
  s->depth--;
  if (!c) x->equation.failed = true;
  return c;
}
