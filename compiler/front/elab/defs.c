/* front/elab/defs.c - names in what is not expanded: the body of a def that nobody calls (one in a module, or one being
 * written), where they are checked, and a stated adjoint in a program without gradients, where they count as used. What
 * depends on the arguments - labels, extents, dtypes - is checked where a def is expanded, and so are names there. */
#include "elab.h"

typedef struct Body {
  Elab *x;
  const AstStmt *def;
  uint32_t order;            /* symbols from here on are not visible */
  Map known;                 /* parameters, label parameters, local names so far, labels bound anywhere in the body */
} Body;

static void know(Body *b, Str name) { map_put(&b->known, name, b); }

static bool visible(const Body *b, Str name) { return symbol_find(b->x, name, b->order) != NULL; }

/* Called for every node below a; loops walk chains of operators. */
typedef void Visit(Body *b, const Ast *a);
static void walk(Body *b, const Ast *a, Visit *visit) {
  for (; a && ast_is_chain(a); a = a->a) walk(b, a->b, visit);
  if (!a) return;
  visit(b, a);
  walk(b, a->a, visit);
  walk(b, a->b, visit);
  walk(b, a->c, visit);
  walk(b, a->where, visit);
  for (uint32_t i = 0; i < a->items.len; i++) walk(b, a->items.at[i].e, visit);
  for (uint32_t i = 0; i < a->args.len; i++) walk(b, a->args.at[i], visit);
}

/* ---- labels that something in the body binds --------------------------------------------------- */

static void know_labels(Body *b, const AstItems *items) {
  vec_each(const AstItem, it, *items) {
    if (it->name.s) know(b, it->name.s);
    if (it->kind == ITEM_EXPR && it->e->kind == AST_NAME) know(b, it->e->name.s);
    know_labels(b, &it->part);
  }
}

static void labels_bound(Body *b, const Ast *a) {
  if (a->kind == AST_REDUCE || a->kind == AST_CALL || a->kind == AST_SUBST) know_labels(b, &a->items);
}

/* ---- undefined names --------------------------------------------------------------------------- */

static void complain(Body *b, const Ast *a, DiagCode code) {
  Frame f = {.def = b->def, .order = b->order};
  if (a->kind != AST_CALL && complain_function(b->x, a->name)) return;
  Diag *d = diag_add(b->x->diags, code, a->name.span, "%s is not known in %s", a->name.s->s, b->def->name.s->s);
  if (!diag_unknown(b->x, d, a->name, &f))
    diag_hint(b->x->diags, d, "a def sees its labels, its parameters and what is defined before it");
}

static void name_known(Body *b, const Ast *a) {
  Str s = a->name.s;
  if (!s || map_find(&b->known, s) || visible(b, s)) return;
  if (a->kind == AST_NAME) complain(b, a, D_E075);
  else if (a->kind == AST_INDEX || (a->kind == AST_CALL && !name_is_builtin(s))) complain(b, a, D_E070);
}

void def_locals_check(Elab *x, const AstStmt *s) {
  vec_each_of(const AstStmt, local, s->body) {
    if (!local->items.len) continue;
    Span at = local->items.at[0].span;
    at.end = local->items.at[local->items.len - 1].span.end;
    Diag *d = diag_add(x->diags, D_E020, at, "an equation in a def has no labels on its left");
    diag_hint(
        x->diags, d, "they are those of its expression: `%s = %s`", local->name.s->s, source_text(x, local->e->span));
  }
  if (s->adjoint) def_locals_check(x, s->adjoint);
}

/* Visits a block of equations and its expression, each with the names that it sees. */
static void block_walk(Body *b, const AstStmt *s, Visit *visit) {
  for (uint32_t i = 0; i < s->body.len; i++) walk(b, s->body.at[i]->e, labels_bound);
  walk(b, s->e, labels_bound);
  for (uint32_t i = 0; i < s->body.len; i++) {
    walk(b, s->body.at[i]->e, visit);
    know(b, s->body.at[i]->name.s);
  }
  walk(b, s->e, visit);
}

static void adjoint_walk(Body *b, const AstStmt *s, Visit *visit) {
  for (uint32_t i = 0; i < s->items.len; i++) {
    know(b, ast_above(s, i).s);
    if (ast_result_name(s, i).s) know(b, ast_result_name(s, i).s);
  }
  block_walk(b, s, visit);
}

static Body body_new(Elab *x, const Symbol *y) {
  Body b = {.x = x, .def = y->stmt, .order = y->order, .known = map_new(x->arena)};
  know_labels(&b, &y->stmt->items);
  for (uint32_t i = 0; i < y->stmt->params.len; i++) know(&b, y->stmt->params.at[i].s);
  return b;
}

void def_names_check(Elab *x, const Symbol *y) {
  if (y->stmt->span.src != x->program->file->src) return;
  Body b = body_new(x, y);
  block_walk(&b, y->stmt, name_known);
  if (y->stmt->adjoint) adjoint_walk(&b, y->stmt->adjoint, name_known);
}

static void nothing(Body *b, const Ast *a) { (void)b, (void)a; }

static void name_use(Body *b, const Ast *a) {
  Symbol *y = !a->name.s || map_find(&b->known, a->name.s) ? NULL : symbol_find(b->x, a->name.s, b->order);
  if (y) y->used = true;
}

void adjoint_names_use(Elab *x, const Symbol *y) {
  Body b = body_new(x, y);
  block_walk(&b, y->stmt, nothing);
  adjoint_walk(&b, y->stmt->adjoint, name_use);
}
