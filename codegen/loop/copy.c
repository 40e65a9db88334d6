/* codegen/loop/copy.c */
#include "copy.h"

typedef struct Copy {
  LoopCopy *c;
  uint32_t *place, *var;     /* by number: its copy; NULL: the same */
  LoopExpr *change;
  void *env;
} Copy;

LoopCopy loop_copies(LoopProgram *p, LoopKernel *k, Arena *a) {
  LoopCopy c = {p, k, a, c_scope(a, p->tasks->strings)};
  for (uint32_t i = 0; i < k->places.len; i++) c_scope_take(&c.names, k->places.at[i].name);
  for (uint32_t i = 0; i < k->var.len; i++) c_scope_take(&c.names, k->var.at[i]);
  return c;
}

static void var_new(Copy *o, uint32_t var) {
  LoopKernel *k = o->c->k;
  Str name = c_scope_name(&o->c->names, k->var.at[var], "i");
  o->var[var] = k->var.len;
  vec_push(o->c->p->arena, k->var, name);
}

static void place_new(Copy *o, uint32_t place) {
  LoopKernel *k = o->c->k;
  LoopPlace own = k->places.at[place];
  own.name = c_scope_name(&o->c->names, own.name, "v");
  o->place[place] = k->places.len;
  vec_push(o->c->p->arena, k->places, own);
}

static void names_new(Copy *o, const LoopStmt *s) {
  if (s->kind == LOOP_FOR || s->kind == LOOP_INDEX) var_new(o, s->var);
  if (s->kind == LOOP_LET || s->kind == LOOP_LEAD || s->kind == LOOP_VAR) place_new(o, s->place);
  for (uint32_t i = 0; i < s->body.len; i++) names_new(o, s->body.at[i]);
  for (uint32_t i = 0; i < s->other.len; i++) names_new(o, s->other.at[i]);
}

static const Expr *leaf_new(void *env, Exprs *x, const Expr *leaf) {
  const Copy *o = env;
  if (leaf->kind == EX_LABEL) return expr_label(x, o->var[leaf->i]);
  return leaf->kind == EX_READ ? expr_read(x, (DType)leaf->dtype, o->place[leaf->i], leaf->n, leaf->arg) : leaf;
}

static const Expr *expr_copy(void *env, const Expr *e) {
  const Copy *o = env;
  if (o->change) e = o->change(o->env, e);
  return o->place ? expr_map(o->c->p->tasks->exprs, e, leaf_new, env) : e;
}

static LoopStmt *stmt_copy(Copy *o, const LoopStmt *from) {
  Arena *arena = o->c->p->arena;
  LoopStmt *s = arena_copy(arena, from, sizeof *s);
  if (s->n_at) s->at = arena_copy(arena, s->at, s->n_at * sizeof *s->at);
  loop_stmt_exprs(s, expr_copy, o);
  if (o->place && (s->kind == LOOP_FOR || s->kind == LOOP_INDEX)) s->var = o->var[s->var];
  else if (o->place && s->kind != LOOP_IF) s->place = o->place[s->place];
  s->body = s->other = (LoopBody){0};
  for (uint32_t i = 0; i < from->body.len; i++) vec_push(arena, s->body, stmt_copy(o, from->body.at[i]));
  for (uint32_t i = 0; i < from->other.len; i++) vec_push(arena, s->other, stmt_copy(o, from->other.at[i]));
  return s;
}

LoopStmt *loop_copy(LoopCopy *c, const LoopStmt *s, bool own, LoopExpr *change, void *env) {
  Copy o = {.c = c, .change = change, .env = env};
  if (own) {
    uint32_t places = c->k->places.len, vars = c->k->var.len;
    o.place = NEW_ARRAY(c->arena, uint32_t, places + 1), o.var = NEW_ARRAY(c->arena, uint32_t, vars + 1);
    for (uint32_t i = 0; i < places; i++) o.place[i] = i;
    for (uint32_t i = 0; i < vars; i++) o.var[i] = i;
    names_new(&o, s);
  }
  return stmt_copy(&o, s);
}
