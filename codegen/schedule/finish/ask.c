/* codegen/schedule/finish/ask.c - hoists checks of indices from data out of loops. In: a kernel's statements. Out: the
 * same, where a loop over lanes, or around such a loop, that reads
 *
 *     E[within(i, N, site), v]
 *
 * and does not change i becomes `if 0 <= i and i < N` with an unchecked loop inside; the other branch is the original
 * loop, in order, for a run that fails. A loop that may call something at each turn is not vectorised unless the
 * compiler hoists the check itself (Clang does from -O3 on). The outermost loop that does not change i and is short
 * enough to duplicate is rewritten. */
#include "finish.h"
#include "loop/copy.h"

enum { BODY_MOST = 12 };     /* statements that may be duplicated */

typedef struct Asked { const Expr *index, *extent; } Asked;

typedef struct Ask {
  LoopProgram *p;
  LoopKernel *k;
  Exprs *x;
  Arena *arena;              /* the pass' own */
  LoopCopy copy;
  bool *place, *var;         /* by number: what the current loop stores to or makes */
  uint32_t n;                /* number of its statements */
  VEC(Asked) asked;          /* the checked indices that it does not change */
} Ask;

/* ---- checks of a loop ----------------------------------------------------------------------------------- */

static void made_note(Ask *a, const LoopStmt *s) {
  a->n++;
  if (s->kind == LOOP_FOR || s->kind == LOOP_INDEX) a->var[s->var] = true;
  else if (s->kind != LOOP_IF && s->kind != LOOP_FETCH) a->place[s->place] = true;
  for (uint32_t i = 0; i < s->body.len; i++) made_note(a, s->body.at[i]);
  for (uint32_t i = 0; i < s->other.len; i++) made_note(a, s->other.at[i]);
}

/* Whether e is the same at each turn: it consists of names, numbers, and registers that the loop does not change. */
static bool is_fixed(const Ask *a, const Expr *e) {
  if (e->kind == EX_LABEL) return !a->var[e->i];
  if (e->kind == EX_READ) return !e->n && a->k->places.at[e->i].space == SPACE_REGISTER && !a->place[e->i];
  for (uint32_t k = 0; k < e->n; k++)
    if (!is_fixed(a, e->arg[k])) return false;
  return true;
}

static bool is_asked(const Ask *a, const Expr *e) {
  if (e->kind != EX_OP || e->op != OP_WITHIN) return false;
  for (uint32_t i = 0; i < a->asked.len; i++)
    if (a->asked.at[i].index == e->arg[0] && a->asked.at[i].extent == e->arg[1]) return true;
  return false;
}

static void asked_find(Ask *a, const LoopBody *b) {
  ExprNodes nodes = loop_nodes(a->arena, b, HAS_READ);
  for (const Expr *e; (e = expr_node(&nodes));)
    if (is_op(e, OP_WITHIN) && !is_asked(a, e) && is_fixed(a, e->arg[0]) && is_fixed(a, e->arg[1]))
      vec_push(a->arena, a->asked, ((Asked){e->arg[0], e->arg[1]}));
}

/* Whether it, or a loop in it, goes over lanes. */
static bool has_lanes(const LoopStmt *s) {
  if (s->kind == LOOP_FOR && (s->bind == BIND_VECTOR || s->bind == BIND_SHORT || s->bind == BIND_HELD)) return true;
  for (uint32_t i = 0; i < s->body.len; i++)
    if (has_lanes(s->body.at[i])) return true;
  for (uint32_t i = 0; i < s->other.len; i++)
    if (has_lanes(s->other.at[i])) return true;
  return false;
}

static bool loop_look(Ask *a, LoopStmt *s) {
  if (s->kind != LOOP_FOR || s->bind == BIND_THREAD || s->bind == BIND_ROUND || !has_lanes(s)) return false;
  a->place = NEW_ARRAY(a->arena, bool, a->k->places.len + 1);
  a->var = NEW_ARRAY(a->arena, bool, a->k->var.len + 1);
  a->n = a->asked.len = 0;
  made_note(a, s);
  if (a->n <= BODY_MOST) asked_find(a, &s->body);
  return a->asked.len > 0;
}

/* ---- the second loop ------------------------------------------------------------------------------------ */

/* All loops in order: speed does not matter there. */
static void body_in_order(LoopBody *b) {
  for (uint32_t i = 0; i < b->len; i++) {
    if (b->at[i]->kind == LOOP_FOR) b->at[i]->bind = BIND_SEQ;
    body_in_order(&b->at[i]->body);
    body_in_order(&b->at[i]->other);
  }
}

static const Expr *op_bare(void *env, Exprs *x, const Expr *e) {
  (void)x;
  return is_asked(env, e) ? e->arg[0] : e;
}

static const Expr *bare(void *env, const Expr *e) { return expr_map_ops(((const Ask *)env)->x, e, op_bare, env); }

static LoopStmt *loop_split(Ask *a, LoopStmt *s) {
  LoopStmt *choice = NEW(a->p->arena, LoopStmt);
  const Expr *cond = NULL;
  for (uint32_t i = 0; i < a->asked.len; i++) {
    const Expr *e = a->asked.at[i].index;
    cond = expr_and(a->x, cond, expr_op2(a->x, OP_LE, expr_int(a->x, DT_I64, 0), e));
    cond = expr_and(a->x, cond, expr_op2(a->x, OP_LT, e, a->asked.at[i].extent));
  }
  *choice = (LoopStmt){.kind = LOOP_IF, .cond = cond};
  vec_push(a->p->arena, choice->other, loop_copy(&a->copy, s, true, NULL, NULL));
  body_in_order(&choice->other);
  loop_exprs(&s->body, bare, a);
  vec_push(a->p->arena, choice->body, s);
  return choice;
}

static void body_ask(Ask *a, LoopBody *b) {
  for (uint32_t i = 0; i < b->len; i++) {
    LoopStmt *s = b->at[i];
    if (loop_look(a, s)) b->at[i] = loop_split(a, s);
    body_ask(a, &s->body);
    body_ask(a, &s->other);
  }
}

void finish_ask(LoopProgram *p, LoopKernel *k) {
  Arena *arena = arena_new();
  Ask a = {.p = p, .k = k, .x = p->tasks->exprs, .arena = arena, .copy = loop_copies(p, k, arena)};
  body_ask(&a, &k->body);
  arena_free(arena);
}
