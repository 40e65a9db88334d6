/* codegen/loop/walk.c - visits the expressions of statements: rewrites them, or collects their reads. */
#include "walk.h"

void loop_stmt_exprs(LoopStmt *s, LoopExpr *f, void *env) {
  const Expr **const part[] = {&s->lo, &s->hi, &s->cond, &s->value, &s->other_side};
  for (size_t k = 0; k < COUNT(part); k++)
    if (*part[k]) *part[k] = f(env, *part[k]);
  for (uint32_t k = 0; k < s->n_at; k++) s->at[k] = f(env, s->at[k]);
  for (uint32_t k = 0; k < s->n_over; k++) s->over[k].extent = f(env, s->over[k].extent);
}

void loop_exprs(LoopBody *b, LoopExpr *f, void *env) {
  for (uint32_t i = 0; i < b->len; i++) {
    loop_stmt_exprs(b->at[i], f, env);
    loop_exprs(&b->at[i]->body, f, env);
    loop_exprs(&b->at[i]->other, f, env);
  }
}

static const Expr *node_add(void *env, const Expr *e) {
  expr_nodes_add(env, e);
  return e;
}

ExprNodes loop_nodes(Arena *a, const LoopBody *b, unsigned has) {
  ExprNodes nodes = expr_nodes(a, NULL, has);
  LoopBody body = *b;
  loop_exprs(&body, node_add, &nodes);
  for (uint32_t i = 0, k = nodes.todo.len; i + 1 < k--; i++) { /* the last one is visited first */
    const Expr *last = nodes.todo.at[k];
    nodes.todo.at[k] = nodes.todo.at[i], nodes.todo.at[i] = last;
  }
  return nodes;
}

LoopUses loop_uses(Arena *a, const LoopKernel *k) {
  return (LoopUses){a, NEW_ARRAY(a, bool, k->places.len + 1), NEW_ARRAY(a, bool, k->var.len + 1),
      expr_nodes(a, NULL, HAS_READ | HAS_LABEL)};
}

/* top may be NULL. */
static void loop_uses_expr(LoopUses *u, const Expr *top) {
  expr_nodes_add(&u->nodes, top);
  for (const Expr *e; (e = expr_node(&u->nodes));) {
    if (e->kind == EX_READ) u->place[e->i] = true;
    if (e->kind == EX_LABEL) u->var[e->i] = true;
  }
}

static const Expr *expr_used(void *env, const Expr *e) {
  loop_uses_expr(env, e);
  return e;
}

void loop_uses_stmt(LoopUses *u, LoopStmt *s) { loop_stmt_exprs(s, expr_used, u); }
