/* front/elab/extern.c - C functions: `extern def` and its calls, and `extern` after an equation that a C function
 * computes. The functions themselves are not examined; whether they exist is found out at load or link time. */
#include <string.h>

#include "elab.h"

static bool complain(Elab *x, Span at, const char *wrong) {
  Diag *d = diag_add(x->diags, D_E119, at, "%s", wrong);
  diag_hint(x->diags, d,
      "its form is `extern def f(x : f64) : f64 = \"name_in_c\" from \"file.c\" cost 40`; `from` and `cost` may be "
      "left out");
  return false;
}

/* The path as the compiler opens it: relative to the file that names it. */
static Str file_of(Elab *x, const AstStmt *s) {
  const char *name = s->span.src ? s->span.src->name : "", *slash = strrchr(name, '/');
  if (!s->source || s->source->s[0] == '/' || s->source->s[0] == '-' || !slash) return s->source;
  return strings_printf(x->strings, "%.*s/%s", (int)(slash - name), name, s->source->s);
}

static Span part_span(const AstStmt *s, int part) {
  return part >= 0            ? s->takes.at[part].span
      : part == EXTERN_SYMBOL ? s->text_span
      : part == EXTERN_DTYPE  ? s->dtype_span
      : part == EXTERN_FROM   ? s->source_span
                              : s->name.span;
}

/* A C symbol has only one type. Where a def calls it, whose arguments have their dimensions in the order of the call,
 * that must be the same order, too: else the function would take one dimension for another. `axes` tells it. */
static bool agrees(Elab *x, const AstStmt *s, const Extern *e, Str axes, bool in_def) {
  NamedExtern new = {e, s->text_span, axes, in_def};
  for (uint32_t k = 0; k < x->named.len; k++) {
    const NamedExtern *old = &x->named.at[k];
    bool same = extern_same_type(old->is, e) && old->is->from == e->from,
         permuted = same && (old->in_def || in_def) && old->axes != axes;
    if (old->is->symbol != e->symbol || (same && !permuted)) continue;
    Diag *d = diag_add(x->diags, D_E119, s->text_span,
        permuted ? "the C function %s gets an argument here whose dimensions are in another order"
               : "the C function %s is declared in another way here",
        e->symbol->s);
    diag_at(x->diags, d, old->at, "first so");
    if (permuted)
      diag_hint(x->diags, d, "make a tensor with the other order, and call the def with that: `T[k,j] = X[j,k]`");
    return false;
  }
  vec_push(x->arena, x->named, new);
  return true;
}

/* By argument, the numbers of the labels along which its dimensions go. */
static Str axes_of(Elab *x, const EinSum *s) {
  const Expr **read = NEW_ARRAY(x->arena, const Expr *, s->n_slot + 1);
  Buf b = buf_new(x->arena);
  expr_slot_reads(x->arena, 1, &s->body, read);
  for (uint32_t k = 0; k < s->n_slot; k++, buf_char(&b, ';'))
    for (uint32_t d = 0; d < read[k]->n; d++) buf_printf(&b, "%lld,", (long long)read[k]->arg[d]->i);
  return str_of(x->strings, b.s, b.len);
}

static bool params_differ(Elab *x, const AstStmt *s) {
  for (uint32_t i = 0; i < s->takes.len; i++)
    for (uint32_t k = 0; k < i; k++) {
      if (s->takes.at[i].name.s != s->takes.at[k].name.s) continue;
      Diag *d = diag_add(x->diags, D_E054, s->takes.at[i].name.span, "%s stands here twice", s->takes.at[i].name.s->s);
      diag_at(x->diags, d, s->takes.at[k].name.span, "first here");
      return false;
    }
  return true;
}

void elab_extern(Elab *x, const AstStmt *s) {
  Extern e = {.name = s->name.s,
      .symbol = s->text,
      .from = file_of(x, s),
      .dtype = (DType)s->dtype,
      .cost = s->cost ? s->cost->amount : -1,
      .place = place_of(x, s->name.span)};
  bool ok = true;
  if (s->takes.len > EXTERN_ARGS) {
    complain(x, s->takes.at[EXTERN_ARGS].span,
        arena_printf(x->arena, "a C function takes at most %d arguments here", EXTERN_ARGS));
    ok = false;
  }
  for (uint32_t i = 0; i < s->takes.len && ok; i++) e.arg[e.n++] = s->takes.at[i].dtype;
  int part;
  const char *wrong = ok ? extern_wrong(&e, &part) : NULL;
  if (wrong) ok = complain(x, part_span(s, part), wrong);
  const Extern *own = arena_copy(x->arena, &e, sizeof e);
  ok = ok && params_differ(x, s) && agrees(x, s, own, NULL, false);
  Symbol *y = symbol_add(x, ok ? SYM_EXTERN : SYM_TENSOR, s->name); /* uses of an invalid function are not reported */
  y->stmt = s;
  if (ok) y->external = own;
}

/* ---- an equation that a C function computes ------------------------------------------------------- */

static EinNode *by_complain(Elab *x, const AstStmt *s, const char *wrong) {
  Diag *d = diag_add(x->diags, D_E121, s->text_span, "a C function %s", wrong);
  diag_at(x->diags, d, s->e->span, "computed by %s", s->text->s);
  if (s->e->kind == AST_BINARY || s->e->kind == AST_PAREN || s->e->kind == AST_CALL)
    diag_hint(x->diags, d, "make other equations of what the function is not to do, before this one or behind it");
  return NULL;
}

EinNode *elab_by(Elab *x, const AstStmt *s, EinNode *n, bool in_def, uint32_t first) {
  if (!s->text) return n;
  EinSum sum = *n->sum;
  Extern e = {.name = s->text,
      .symbol = s->text,
      .from = file_of(x, s),
      .cost = s->cost ? s->cost->amount : -1,
      .place = place_of(x, s->text_span)};
  for (uint32_t k = 0; k < n->rank; k++)
    if (n->merge[k] != 1)
      return by_complain(x, s, "makes a tensor with one label a dimension, and labels are merged here");
  if (x->graph->n_nodes > first + 1)
    return by_complain(x, s, "computes one reduction, or none, and what is around it is another step here");
  const char *wrong = sum_by_wrong(x->arena, &sum, false);
  if (wrong) return by_complain(x, s, wrong);
  sum_by_type(x->arena, &sum, &e);
  int part;
  wrong = extern_wrong(&e, &part);
  if (wrong) {
    diag_add(x->diags, D_E119, part == EXTERN_FROM ? s->source_span : s->text_span, "%s", wrong);
    return NULL;
  }
  if (!agrees(x, s, arena_copy(x->arena, &e, sizeof e), axes_of(x, &sum), in_def)) return NULL;
  sum.by = extern_add(x->exprs, &e);
  n->sum = graph_sum(x->graph, &sum);
  return n;
}

Core *call_extern(Elab *x, Scope *s, const Symbol *y, const Ast *a) {
  const Extern *e = y->external;
  const char *form = call_form(x, y->stmt);
  x->equation.failed |= !wants_brackets(x, a, false, form) || !wants_args(x, a, e->n, form);
  if (x->equation.failed) return NULL;
  Scope in = *s;
  in.reach = NULL;
  Core **arg = NEW_ARRAY(x->arena, Core *, e->n);
  for (uint32_t i = 0; i < e->n; i++) {
    arg[i] = core_from_ast(x, &in, a->args.at[i]);
    if (!arg[i] || !type_fits(x, arg[i], (int)e->arg[i], y->stmt->takes.at[i].span, NULL))
      return x->equation.failed = true, NULL;
  }
  Core *c = core_with(x, CORE_CALL, a->span, type_firm(e->dtype), e->n, arg);
  c->external = extern_add(x->exprs, e); /* later stages only need functions that are called */
  return c;
}
