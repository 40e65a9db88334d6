/* codegen/schedule/finish/dead.c - removes dead code. In: a kernel's statements. Out: those that have an effect or may
 * fail the run, without branches that are never taken, and the places and loop variables that they use, renumbered. */
#include "finish.h"
#include "loop/walk.h"

/* ---- branches -------------------------------------------------------------------------------------------- */

static bool is_bool(Exprs *x, const Expr *e) { return e == expr_bool(x, true) || e == expr_bool(x, false); }

/* Replaces an `if` whose condition is a constant by the statements that it always runs. */
static void body_decide(Exprs *x, Arena *a, LoopBody *b) {
  bool decided = false;
  vec_each_of(LoopStmt, s, *b) {
    body_decide(x, a, &s->body);
    body_decide(x, a, &s->other);
    decided |= s->kind == LOOP_IF && is_bool(x, s->cond);
  }
  if (!decided) return;
  LoopBody of = {0};
  vec_each_of(LoopStmt, s, *b) {
    if (s->kind != LOOP_IF || !is_bool(x, s->cond)) {
      vec_push(a, of, s);
      continue;
    }
    const LoopBody *taken = s->cond == expr_bool(x, true) ? &s->body : &s->other;
    for (uint32_t k = 0; k < taken->len; k++) vec_push(a, of, taken->at[k]);
  }
  *b = of;
}

/* ---- statements ----------------------------------------------------------------------------------------- */

/* Whether it checks an index, and so may fail the run. */
static bool may_fail(Arena *a, const Expr *top) {
  ExprNodes nodes = expr_nodes(a, top, 0);
  for (const Expr *e; (e = expr_node(&nodes));)
    if (e->kind == EX_OP && e->op == OP_WITHIN) return true;
  return false;
}

/* x[i] = x[i], as where a condition leaves nothing to add to a sum. */
static bool stores_itself(const LoopStmt *s) {
  const Expr *e = s->value;
  return e->kind == EX_READ && e->i == s->place && e->n == s->n_at && exprs_same(e->n, e->arg, s->at);
}

static bool is_dead(const LoopUses *u, const LoopStmt *s) {
  switch (s->kind) {
  case LOOP_STORE: return stores_itself(s) && !may_fail(u->arena, s->value);
  case LOOP_LET: return !u->place[s->place] && !may_fail(u->arena, s->value);
  case LOOP_LEAD: return !u->place[s->place] && !may_fail(u->arena, s->value);
  case LOOP_INDEX: return !u->var[s->var] && !may_fail(u->arena, s->lo);
  case LOOP_IF: return !s->body.len && !s->other.len && !may_fail(u->arena, s->cond);
  case LOOP_FOR:
    if (s->bind == BIND_THREAD || s->bind == BIND_ROUND) return false;
    return !s->body.len && !may_fail(u->arena, s->lo) && !may_fail(u->arena, s->hi);
  default: return false;
  }
}

static bool has_place(LoopKind kind) { return kind != LOOP_FOR && kind != LOOP_IF && kind != LOOP_INDEX; }

/* From the last statement to the first, because uses follow definitions. */
static void body_keep(LoopUses *u, LoopBody *b) {
  uint32_t to = b->len;
  for (uint32_t i = b->len; i-- > 0;) {
    LoopStmt *s = b->at[i];
    body_keep(u, &s->body);
    body_keep(u, &s->other);
    if (is_dead(u, s)) continue;
    if (has_place(s->kind)) u->place[s->place] = true;
    if (s->kind == LOOP_FOR || s->kind == LOOP_INDEX) u->var[s->var] = true;
    for (uint32_t k = 0; k < s->n_over; k++) u->var[s->over[k].var] = true;
    loop_uses_stmt(u, s);
    b->at[--to] = s;
  }
  if (to) b->at += to, b->len -= to, b->cap -= to; /* an empty body has no `at` */
}

/* ---- numbers -------------------------------------------------------------------------------------------- */

typedef struct Numbers { Exprs *x; int64_t *place, *var; } Numbers; /* new numbers */

static const Expr *leaf_numbered(void *env, Exprs *x, const Expr *leaf) {
  const Numbers *n = env;
  if (leaf->kind == EX_LABEL) return expr_label(x, n->var[leaf->i]);
  return leaf->kind == EX_READ ? expr_read(x, (DType)leaf->dtype, n->place[leaf->i], leaf->n, leaf->arg) : leaf;
}

static const Expr *numbered(void *env, const Expr *e) { return expr_map(((Numbers *)env)->x, e, leaf_numbered, env); }

static void body_number(const Numbers *n, LoopBody *b) {
  vec_each_of(LoopStmt, s, *b) {
    if (has_place(s->kind)) s->place = (uint32_t)n->place[s->place];
    if (s->kind == LOOP_FOR || s->kind == LOOP_INDEX) s->var = (uint32_t)n->var[s->var];
    for (uint32_t k = 0; k < s->n_over; k++) s->over[k].var = (uint32_t)n->var[s->over[k].var];
    body_number(n, &s->body);
    body_number(n, &s->other);
  }
}

void finish_dead(LoopProgram *p, LoopKernel *k) {
  body_decide(p->tasks->exprs, p->arena, &k->body);
  LoopUses u = loop_uses(p->arena, k);
  Numbers n = {
      p->tasks->exprs, NEW_ARRAY(p->arena, int64_t, k->places.len + 1), NEW_ARRAY(p->arena, int64_t, k->var.len + 1)};
  uint32_t places = 0, vars = 0;
  body_keep(&u, &k->body);
  for (uint32_t i = 0; i < k->places.len; i++) {
    n.place[i] = places;
    if (u.place[i]) k->places.at[places++] = k->places.at[i];
  }
  for (uint32_t i = 0; i < k->var.len; i++) {
    n.var[i] = vars;
    if (u.var[i]) k->var.at[vars++] = k->var.at[i];
  }
  if (places == k->places.len && vars == k->var.len) return;
  k->places.len = places, k->var.len = vars;
  loop_exprs(&k->body, numbered, &n);
  body_number(&n, &k->body);
}
