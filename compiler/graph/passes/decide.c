/* graph/passes/decide.c - domain pruning: replaces comparisons of integers that provably always hold, or never.
 * Walks an expression from the top, with the conditions of `select`, `and` and `or` as facts for what they guard.
 * Proofs are expensive, so each vertex and each graph has a budget; once that is spent, expressions stay as they
 * are. */
#include "decide.h"

enum { VERTEX_PROOFS = 32, VERTEX_VISITS = 2000 };

void decide_start(Decide *d, const Expr *const *bound, uint32_t n_label, uint32_t keep) {
  d->facts.label = bound;
  d->facts.n_label = n_label;
  d->facts.hold = d->hold;
  d->facts.n_hold = keep;
  d->vertex_proofs = VERTEX_PROOFS;
  d->visits = VERTEX_VISITS;
  d->decided = 0;
}

void decide_hold(Decide *d, const Expr *e) {
  if (!e || (e->has & HAS_READ) || e->kind == EX_INT || d->facts.n_hold == DECIDE_HOLD) return;
  d->hold[d->facts.n_hold++] = e;
}

/* Whether it is a comparison that a proof may decide. */
static bool is_condition(const Expr *e) {
  return e->kind == EX_OP && op_info[e->op].rule == RULE_COMPARE && e->arg[0]->dtype == DT_I64 &&
         !(e->has & HAS_PARAM) && (e->has & (HAS_LABEL | HAS_TURN | HAS_DIM | HAS_READ));
}

/* Whether e contains one. Computed once for each expression of the graph. */
static bool has_condition(Decide *d, const Expr *top) {
  static const char yes, no;
  VEC(const Expr *) stack = {0};
  const void *known = map_find(&d->conditions, top);
  if (known) return known == &yes;
  vec_push(d->arena, stack, top);
  while (stack.len) {
    const Expr *e = vec_last(stack);
    bool any = is_condition(e);
    uint32_t before = stack.len;
    for (uint32_t i = 0; i < e->n && !any; i++) {
      known = map_find(&d->conditions, e->arg[i]);
      any = known == &yes;
      if (!known) vec_push(d->arena, stack, e->arg[i]);
    }
    if (!any && stack.len > before) continue;
    stack.len = before - 1;
    map_put(&d->conditions, e, (void *)(uintptr_t)(any ? &yes : &no));
  }
  return map_find(&d->conditions, top) == &yes;
}

static bool holds(Decide *d, const Expr *e) {
  if (d->vertex_proofs <= 0 || d->proofs <= 0) return false;
  d->vertex_proofs--;
  d->proofs--;
  return prove(d->p, &d->facts, e).verdict == PROVED;
}

/* Compares what the two sides may be. Returns whether that decides; *is: how. */
static bool compared(const Decide *d, const Expr *e, bool *is) {
  Interval a = interval_of_expr(d->of, d->n, e->arg[0]), b = interval_of_expr(d->of, d->n, e->arg[1]);
  bool less = a.high < b.low, most = a.high <= b.low, more = a.low > b.high, least = a.low >= b.high;
  bool same = most && least; /* both are one number */
  switch ((Op)e->op) {
  case OP_LT: return *is = less, less || least;
  case OP_LE: return *is = most, most || more;
  case OP_GT: return *is = more, more || most;
  case OP_GE: return *is = least, least || less;
  case OP_EQ: return *is = same, same || less || more;
  case OP_NE: return *is = !same, same || less || more;
  default: return false;
  }
}

static const Expr *condition(Decide *d, const Expr *e) {
  const Expr *to = NULL;
  bool is;
  if (e->has & HAS_READ) to = d->n && !expr_can_fail(e) && compared(d, e, &is) ? expr_bool(d->p, is) : NULL;
  else if (holds(d, e)) to = expr_bool(d->p, true);
  else if (holds(d, expr_op1(d->p, OP_NOT, e))) to = expr_bool(d->p, false);
  if (to) d->decided++;
  return to ? to : e;
}

static const Expr *walk(Decide *d, Map *seen, const Expr *e, int depth);

/* Walks e where `c` holds too: results are not valid elsewhere, so it has its own memo table. */
static const Expr *walk_where(Decide *d, const Expr *c, const Expr *e, int depth) {
  uint32_t before = d->facts.n_hold;
  if (!has_condition(d, e)) return e;
  Map seen = map_new(d->arena);
  decide_hold(d, c);
  const Expr *to = walk(d, &seen, e, depth + 1);
  d->facts.n_hold = before;
  return to;
}

static const Expr *walk_lazy(Decide *d, Map *seen, const Expr *e, int depth) {
  const Expr *c = walk(d, seen, e->arg[0], depth + 1), *not = expr_op1(d->p, OP_NOT, c);
  if (e->op == OP_SELECT) {
    if (c->kind == EX_INT) return walk(d, seen, e->arg[c->i ? 1 : 2], depth + 1);
    return expr_select(d->p, c, walk_where(d, c, e->arg[1], depth), walk_where(d, not, e->arg[2], depth));
  }
  if (c->kind == EX_INT) return (e->op == OP_AND) == (c->i != 0) ? walk(d, seen, e->arg[1], depth + 1) : c;
  return expr_op2(d->p, (Op)e->op, c, walk_where(d, e->op == OP_AND ? c : not, e->arg[1], depth));
}

static const Expr *walk_args(Decide *d, Map *seen, const Expr *e, int depth) {
  const Expr *few[8], **arg = e->n <= COUNT(few) ? few : NEW_ARRAY(d->arena, const Expr *, e->n);
  for (uint32_t i = 0; i < e->n; i++) arg[i] = walk(d, seen, e->arg[i], depth + 1);
  return expr_with(d->p, e, arg);
}

static const Expr *walk(Decide *d, Map *seen, const Expr *e, int depth) {
  if (depth > DECIDE_DEPTH || d->visits <= 0 || !has_condition(d, e)) return e;
  const Expr *to = map_find(seen, e);
  if (to) return to;
  d->visits--;
  if (is_condition(e)) to = condition(d, e);
  else if (e->kind == EX_OP && (op_info[e->op].laws & LAW_LAZY)) to = walk_lazy(d, seen, e, depth);
  else to = walk_args(d, seen, e, depth);
  map_put(seen, e, (void *)(uintptr_t)to);
  return to;
}

const Expr *decide(Decide *d, const Expr *e) {
  if (!e || !has_condition(d, e)) return e;
  Map seen = map_new(d->arena);
  return walk(d, &seen, e, 0);
}
