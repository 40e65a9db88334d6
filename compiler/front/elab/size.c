/* front/elab/size.c - what a size is: an expression of numbers, dims and such parameters; and what is said of one that
 * is none. */
#include "elab.h"

#include <string.h>

bool item_is_size(Elab *x, Scope *s, const Ast *a) {
  switch (a->kind) {
    case AST_INT: return true;
    case AST_PAREN: case AST_NEG: return item_is_size(x, s, a->a);
    case AST_BINARY:
      for (; a->kind == AST_BINARY; a = a->a)
        if (a->op > OP_POW || a->op == OP_DIV || !item_is_size(x, s, a->b)) return false;
      return item_is_size(x, s, a);
    case AST_NAME: {
      const Local *l = frame_find(s->frame, a->name.s);
      if (l) return l->direct && l->direct->kind == CORE_CONST && l->direct->type.dtype == DT_I64;
      const Symbol *y = scope_symbol(x, s, a->name.s);
      return y && y->kind == SYM_DIM;
    }
    default: return false;
  }
}

/* The first part that prevents it from being a size. */
static const Ast *size_culprit(Elab *x, Scope *s, const Ast *a) {
  for (;;) {
    if (a->kind == AST_PAREN || a->kind == AST_NEG) a = a->a;
    else if (a->kind != AST_BINARY || a->op > OP_POW || a->op == OP_DIV) return a;
    else a = item_is_size(x, s, a->b) ? a->a : a->b;
  }
}

/* `input X[i]`: a label without a size. */
static bool label_forgotten(const Ast *a) {
  const char *s = a->span.src->bytes;
  uint32_t at = a->span.at;
  while (at && strchr(" \t", s[at - 1])) at--;
  return at && strchr("[,", s[at - 1]) && *a->name.s->s >= 'a' && *a->name.s->s <= 'z';
}

/* `sum[j:i] x[j]`, where i is a label: j would have a different size for each i. */
static bool complain_size_label(Elab *x, Scope *s, const Ast *a) {
  const LabelVar *v = s->frame || !s->labels ? NULL : map_find(&s->labels->map, a->name.s);
  if (!v || !(v->left || v->reduced)) return false;
  const char *name = a->name.s->s;
  Diag *d = diag_add(x->diags, D_E064, a->span, "%s is a label, and a size is the same everywhere", name);
  const char *other = strcmp(name, "k") ? "k" : "j";
  diag_hint(x->diags, d,
      "give the largest size; what is beyond is left out by a predicate, `sum[%s:8 where %s < %s] ...`, or by an `if`",
      other, other, name);
  return true;
}

/* `y[i:8-r+1]`, `y[i:8-size(r)+1]` */
static void hint_size_of(Elab *x, Diag *d, Str label) {
  const char *size = size_elsewhere(x, label);
  if (size) diag_hint(x->diags, d, "elsewhere the label %s has size %s: write `%s`", label->s, size, size);
  else diag_hint(x->diags, d, "declare a `dim` for the size of %s, and write that", label->s);
}

static void complain_size_name(Elab *x, Scope *s, const Ast *a) {
  const char *name = a->name.s->s;
  const Local *l = frame_find(s->frame, a->name.s);
  const Symbol *y = l ? NULL : scope_symbol(x, s, a->name.s);
  if (y && y->kind == SYM_TENSOR && !y->node) { x->equation.failed = true; return; }
  if (!l && !y && complain_size_label(x, s, a)) return;
  Diag *d = diag_add(x->diags, D_E064, a->span,
      l || y ? "%s is not a dim, so it is no size" : "%s is not defined, so it is no size", name);
  if (l || y) {
    diag_at(x->diags, d, l ? l->span : y->span, "defined here");
    diag_hint(x->diags, d, "declare a `dim` for it; one without a value takes it from the data");
  } else if (a->span.src && label_forgotten(a)) {
    diag_hint(x->diags, d, "a label comes with its size: `%s:8`, or `%s:N` with a `dim N` before", name, name);
  } else if (a->span.src && size_elsewhere(x, a->name.s)) {
    hint_size_of(x, d, a->name.s);
  } else if (!diag_unknown(x, d, a->name, s->frame)) {
    diag_hint(x->diags, d, "declare it before: `dim %s`, or with a value `dim %s = 8`", name, name);
  }
}

static void complain_size(Elab *x, Scope *s, const Ast *a) {
  a = size_culprit(x, s, a);
  if (a->kind == AST_NAME) {
    complain_size_name(x, s, a);
  } else if (a->kind == AST_BINARY && a->op == OP_DIV) {
    Diag *d = diag_add(x->diags, D_E064, a->op_span, "`/` makes a float, and a size is an integer");
    diag_hint(x->diags, d, "divide by `//`: `%s // %s`", source_text(x, a->a->span), source_text(x, a->b->span));
  } else {
    Diag *d = diag_add(
        x->diags, D_E064, a->span, a->kind == AST_REAL ? "a size is an integer" : "a size is made of numbers and dims");
    if (a->kind == AST_BINARY && op_info[a->op].rule == RULE_COMPARE)
      diag_hint(x->diags, d, "a condition stands behind `where`: `sum[i where %s]`", source_text(x, a->span));
    if (a->kind == AST_SIZE) hint_size_of(x, d, a->name.s);
    if (a->kind == AST_CALL)
      diag_hint(
          x->diags, d, "a dim takes its size from the data where it stands: `dim N`, and then `input X[i:N] : f32`");
  }
}

/* `N // 0` would be 0, as everywhere, but nobody means that in a size. */
static bool size_divides(Elab *x, Scope *s, const Ast *a) {
  for (; a->kind == AST_BINARY || a->kind == AST_PAREN || a->kind == AST_NEG; a = a->a) {
    if (a->kind != AST_BINARY) continue;
    if (!size_divides(x, s, a->b)) return false;
    if (a->op != OP_IDIV && a->op != OP_MOD) continue;
    Core *c = core_from_ast(x, s, a->b);
    const Expr *by = c && c->kind == CORE_CONST ? expr_normal(x->exprs, c->e) : NULL;
    if (!by || by->kind != EX_INT || by->i) continue;
    Diag *d = diag_add(x->diags, D_E064, a->b->span, "a size is divided by 0");
    if (a->b->kind != AST_INT) diag_note(x->diags, d, "is 0");
    return false;
  }
  return true;
}

const Expr *size_from_ast(Elab *x, Scope *s, const Ast *a) {
  bool size = item_is_size(x, s, a);
  if (!size) complain_size(x, s, a);
  if (!size || !size_divides(x, s, a)) {
    x->equation.failed = true;
    return NULL;
  }
  Core *c = core_from_ast(x, s, a);
  if (!c || c->kind != CORE_CONST) return NULL;
  const Expr *e = expr_normal(x->exprs, c->e);
  if (e->kind == EX_INT && e->i < 0) {
    diag_add(x->diags, D_E065, a->span, "a size cannot be negative: this is %lld", (long long)e->i);
    x->equation.failed = true;
    return NULL;
  }
  return e;
}
