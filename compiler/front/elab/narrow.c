/* front/elab/narrow.c - warns of an input without a written dtype, which is therefore f32, if f32 cannot represent
 * its default and it meets f64 data: `input dt = 0.2` in a program of f64. */
#include "elab.h"

static bool exact(double v) { return !((double)(float)v < v) && !((double)(float)v > v); }

/* Whether e contains a number that f32 rounds. Divisions, and constants such as pi, count. */
static bool rounds(const Ast *a) {
  for (; a; a = a->a) {
    if (a->kind == AST_REAL && !exact(a->f)) return true;
    if (a->kind == AST_CONST && !exact(a->f) && a->f < 1e300 && a->f > -1e300) return true;
    if (a->kind == AST_BINARY && a->op == OP_DIV && a->a->kind == AST_INT && a->b->kind == AST_INT &&
        a->b->i && !exact((double)a->a->i / (double)a->b->i)) return true;
    if (rounds(a->b) || rounds(a->c)) return true;
  }
  return false;
}

static void warn_input(Elab *x, const AstStmt *s, const AstDecl *d) {
  const EinNode *n = graph_input_find(x->graph, d->name.s), *at = n ? input_meets_f64(x->arena, x->graph, n) : NULL;
  if (!at) return;
  const char *where = at->name ? arena_printf(x->arena, " in %s", at->name->s) : "";
  Diag *g = diag_add(x->diags, D_W009, d->name.span,
      "%s is f32, as no dtype is written, and meets f64%s: its default is rounded to f32", d->name.s->s, where);
  diag_hint(x->diags, g, "write `%s %s : f64 = %s`", s->kind == STMT_PARAM ? "param" : "input", source_text(x, d->span),
      source_text(x, s->e->span));
}

void warn_narrow(Elab *x) {
  const AstFile *file = x->program->file;
  vec_each_of(const AstStmt, s, file->stmts) {
    bool input = s->kind == STMT_INPUT || s->kind == STMT_PARAM;
    for (uint32_t k = 0; input && s->dtype < 0 && s->e && rounds(s->e) && k < s->decls.len; k++)
      warn_input(x, s, &s->decls.at[k]);
  }
}
