/* front/elab/extern.c - C functions: `extern def` and its calls. What one does is not looked at; that there is such a function is found out
 * where it is loaded or linked. */
#include <string.h>

#include "elab.h"

static bool complain(Elab *x, Span at, const char *wrong) {
  Diag *d = diag_add(x->diags, D_E119, at, "%s", wrong);
  diag_hint(x->diags, d, "its form is `extern def f(x : f64) : f64 = \"name_in_c\" from \"file.c\" cost 40`; `from` and `cost` may be left out");
  return false;
}

/* As the compiler opens it: beside the file that says so. */
static Str file_of(Elab *x, const AstStmt *s) {
  const char *name = s->span.src ? s->span.src->name : "", *slash = strrchr(name, '/');
  if (!s->source || s->source->s[0] == '/' || s->source->s[0] == '-' || !slash) return s->source;
  return strings_printf(x->strings, "%.*s/%s", (int)(slash - name), name, s->source->s);
}

static Span part_span(const AstStmt *s, int part) {
  return part >= 0 ? s->takes.at[part].span : part == EXTERN_SYMBOL ? s->text_span : part == EXTERN_DTYPE ? s->dtype_span : part == EXTERN_FROM ? s->source_span : s->name.span;
}

/* One symbol of C has one type. */
static bool agrees(Elab *x, const AstStmt *s, const Extern *e) {
  for (uint32_t k = 0; k < x->top.all.len; k++) {
    const Extern *old = x->top.all.at[k]->external;
    if (!old || old->symbol != e->symbol) continue;
    bool same = old->n == e->n && old->dtype == e->dtype && memcmp(old->arg, e->arg, e->n * sizeof e->arg[0]) == 0;
    if (same && (old->from == e->from)) continue;
    Diag *d = diag_add(x->diags, D_E119, s->text_span, "the C function %s is declared in another way here", e->symbol->s);
    diag_at(x->diags, d, x->top.all.at[k]->stmt->text_span, "first so");
    return false;
  }
  return true;
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
  Extern e = {.name = s->name.s, .symbol = s->text, .from = file_of(x, s), .dtype = (DType)s->dtype, .cost = s->cost ? s->cost->amount : -1,
              .place = place_of(x, s->name.span)};
  bool ok = true;
  if (s->takes.len > EXTERN_ARGS) {
    complain(x, s->takes.at[EXTERN_ARGS].span, arena_printf(x->arena, "a C function takes at most %d arguments here", EXTERN_ARGS));
    ok = false;
  }
  for (uint32_t i = 0; i < s->takes.len && ok; i++) e.arg[e.n++] = s->takes.at[i].dtype;
  int part;
  const char *wrong = ok ? extern_wrong(&e, &part) : NULL;
  if (wrong) ok = complain(x, part_span(s, part), wrong);
  ok = ok && params_differ(x, s) && agrees(x, s, &e);
  Symbol *y = symbol_add(x, ok ? SYM_EXTERN : SYM_TENSOR, s->name); /* uses of what is no such function stay silent */
  y->stmt = s;
  if (ok) y->external = arena_copy(x->arena, &e, sizeof e);
}

Core *call_extern(Elab *x, Scope *s, const Symbol *y, const Ast *a) {
  const Extern *e = y->external;
  const char *form = call_form(x, y->stmt);
  x->failed |= !wants_brackets(x, a, false, form) || !wants_args(x, a, e->n, form);
  if (x->failed) return NULL;
  Scope in = *s;
  in.reach = NULL;
  Core **arg = NEW_ARRAY(x->arena, Core *, e->n);
  for (uint32_t i = 0; i < e->n; i++) {
    arg[i] = core_from_ast(x, &in, a->args.at[i]);
    if (!arg[i] || !type_fits(x, arg[i], (int)e->arg[i], y->stmt->takes.at[i].span, NULL)) return x->failed = true, NULL;
  }
  Core *c = core_with(x, CORE_CALL, a->span, type_firm(e->dtype), e->n, arg);
  c->external = extern_add(x->exprs, e); /* only what is called is any business of what comes after */
  return c;
}
