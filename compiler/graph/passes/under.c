/* graph/passes/under.c - resolves conditions that an enclosing one answers: `if c then (if c then a else b) else d`.
 * Walks an expression from the top, with the conditions known to be true or false at that point. Only identical
 * expressions match, which is safe for data and for floats (which may be NaN); for integers, also the opposite
 * comparison. Indices of reads stay as they are: a condition in one is what keeps it in range. The number of visits is
 * bounded; beyond that, expressions stay unchanged. */
#include "rebuild.h"

enum { KNOWN_MOST = 32, UNDER_DEPTH = 100, UNDER_VISITS = 2000 };

typedef struct Known { const Expr *cond; bool holds; } Known;

typedef struct Under {
  Arena *arena;
  Exprs *p;
  Known known[KNOWN_MOST];
  uint32_t n, visits, answered;
} Under;

/* Adds what follows from e being true, or false. */
static void learn(Under *u, const Expr *e, bool holds, int depth) {
  for (; is_op(e, OP_NOT); e = e->arg[0]) holds = !holds;
  if (is_op(e, holds ? OP_AND : OP_OR) && depth < UNDER_DEPTH) {
    learn(u, e->arg[0], holds, depth + 1);
    learn(u, e->arg[1], holds, depth + 1);
  } else if (e->kind != EX_INT && u->n < KNOWN_MOST) {
    u->known[u->n++] = (Known){e, holds};
  }
}

const Expr *expr_opposite(Exprs *p, const Expr *e) {
  if (e->kind != EX_OP || op_info[e->op].rule != RULE_COMPARE || !dtype_is_int((DType)e->arg[0]->dtype)) return NULL;
  return expr_op2(p, op_contrary((Op)e->op), e->arg[0], e->arg[1]);
}

/* Returns true or false if e is known, else e. */
static const Expr *answer(Under *u, const Expr *e) {
  if (e->dtype != DT_BOOL || e->kind == EX_INT || !u->n) return e;
  const Expr *against = expr_opposite(u->p, e);
  for (uint32_t i = 0; i < u->n; i++) {
    if (u->known[i].cond != e && u->known[i].cond != against) continue;
    u->answered++;
    return expr_bool(u->p, (u->known[i].cond == e) == u->known[i].holds);
  }
  return e;
}

static const Expr *walk(Under *u, Map *seen, const Expr *e, int depth);

/* e where c is true, or false. Results found there are not valid elsewhere, so they have their own cache. */
static const Expr *walk_under(Under *u, const Expr *c, bool holds, const Expr *e, int depth) {
  uint32_t before = u->n;
  Map seen = map_new(u->arena);
  if (!e->n) return answer(u, e);
  learn(u, c, holds, 0);
  e = walk(u, &seen, e, depth + 1);
  u->n = before;
  return e;
}

static const Expr *walk_lazy(Under *u, Map *seen, const Expr *e, int depth) {
  const Expr *c = walk(u, seen, e->arg[0], depth + 1);
  if (e->op == OP_SELECT) {
    if (c->kind == EX_INT) return walk(u, seen, e->arg[c->i ? 1 : 2], depth + 1);
    return expr_select(u->p, c, walk_under(u, c, true, e->arg[1], depth), walk_under(u, c, false, e->arg[2], depth));
  }
  if (c->kind == EX_INT) return (e->op == OP_AND) == (c->i != 0) ? walk(u, seen, e->arg[1], depth + 1) : c;
  return expr_op2(u->p, (Op)e->op, c, walk_under(u, c, e->op == OP_AND, e->arg[1], depth));
}

static const Expr *walk_args(Under *u, Map *seen, const Expr *e, int depth) {
  const Expr *few[8], **arg = e->n <= COUNT(few) ? few : NEW_ARRAY(u->arena, const Expr *, e->n);
  for (uint32_t i = 0; i < e->n; i++) arg[i] = walk(u, seen, e->arg[i], depth + 1);
  return expr_with(u->p, e, arg);
}

static const Expr *walk(Under *u, Map *seen, const Expr *e, int depth) {
  const Expr *to = answer(u, e);
  if (to != e || !e->n || e->kind == EX_READ || depth > UNDER_DEPTH || !u->visits) return to;
  if ((to = map_find(seen, e)) != NULL) return to;
  u->visits--;
  to = e->kind == EX_OP && (op_info[e->op].laws & LAW_LAZY) ? walk_lazy(u, seen, e, depth)
                                                            : walk_args(u, seen, e, depth);
  map_put(seen, e, (void *)(uintptr_t)to);
  return to;
}

const Expr *expr_under(Arena *a, Exprs *p, const Expr *e, const Expr *const *holds, uint32_t n, uint32_t *count) {
  Under u = {.arena = a, .p = p, .visits = UNDER_VISITS};
  Map seen = map_new(a);
  for (uint32_t i = 0; i < n; i++)
    if (holds[i]) learn(&u, holds[i], true, 0);
  const Expr *to = walk(&u, &seen, e, 0);
  *count += u.answered;
  return u.answered ? to : e;
}
