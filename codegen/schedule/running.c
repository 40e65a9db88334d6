/* codegen/schedule/running.c - finds reductions whose range grows from point to point: C[s] = sum[t where t <= s]
 * X[t]. One label, q, moves one bound of the reduced label r, always in the same direction, and the body does not
 * depend on q. A loop along q then takes only the new points at each step. */
#include "expr/prove/prove.h"
#include "schedule.h"

static bool fits(const StagePlan *p) {
  const EinSum *sum = p->stage->sum;
  if (sum->reducer == RED_NONE || (sum->domain && !red_is_arg(sum))) return false;
  return p->n_red == 1 && p->n_order && sum->where;
}

/* In which directions e moves with the label; false: unknown. */
static bool ways(const Expr *e, uint32_t label, bool *up, bool *down) {
  int64_t slope;
  if (e->kind == EX_OP && (e->op == OP_MIN || e->op == OP_MAX))
    return ways(e->arg[0], label, up, down) && ways(e->arg[1], label, up, down);
  if (!ex_slope(e, label, &slope)) return false;
  *up |= slope > 0;
  *down |= slope < 0;
  return true;
}

/* Finds the bounds of r. The rest of the predicate goes into the body or, because argmax has no value for "no point",
 * is tested. Labels stand for themselves here. */
static bool bounds_find(Sched *s, const StagePlan *p, Running *c) {
  const TaskStage *st = p->stage;
  Env own = {.s = s, .stage = st, .label = NEW_ARRAY(s->arena, const Expr *, p->n_label + 1)};
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  for (uint32_t l = 0; l < p->n_label; l++) {
    own.label[l] = expr_label(s->x, l);
    bound[l] = l != c->r;
  }
  c->lo = ex_int(s, 0), c->hi = st->bound[c->r];
  const Expr *rest = where_narrow(&own, st->sum->where, p->n_label, c->r, bound, &c->lo, &c->hi);
  c->body = st->sum->body;
  if (!rest) return true;
  if (red_is_arg(st->sum)) return c->rest = rest, true;
  const Expr *none = red_identity(s, st->sum);
  if (none->dtype != c->body->dtype) return false;
  c->body = expr_select(s->x, rest, c->body, none);
  return true;
}

/* Whether q moves one bound of r in one direction. Points may be taken in any order, because reducers commute. */
static bool goes_along(Running *c, uint32_t q) {
  bool low = ex_has_label(c->lo, q), up = false, down = false;
  if (low == ex_has_label(c->hi, q) || ex_has_label(c->body, q) || (c->rest && ex_has_label(c->rest, q))) return false;
  if (!ways(low ? c->lo : c->hi, q, &up, &down) || up == down) return false;
  c->q = q;
  c->end_moves = !low;
  c->backwards = low ? up : down;
  return true;
}

bool running_find(Sched *s, const StagePlan *p, Running *c) {
  if (!fits(p)) return false;
  c->r = p->red[0];
  c->rest = NULL;
  if (!bounds_find(s, p, c)) return false;
  for (uint32_t k = p->n_order; k-- > 0;)
    if (goes_along(c, p->order[k])) return true;
  return false;
}

static bool bound_split(Sched *s, const Running *c, const Expr *e, const Expr **still, const Expr **moves) {
  int64_t slope;
  Op op = c->end_moves ? OP_MIN : OP_MAX;
  if (e->kind == EX_OP && e->op == op)
    return bound_split(s, c, e->arg[0], still, moves) && bound_split(s, c, e->arg[1], still, moves);
  if (!ex_slope(e, c->q, &slope) || slope > 1 || slope < -1) return false;
  const Expr **to = slope ? moves : still;
  *to = *to ? expr_op2(s->x, op, *to, e) : e;
  return true;
}

bool running_steps(Sched *s, const Running *c, const Expr **still, const Expr **moves) {
  *still = *moves = NULL;
  return bound_split(s, c, c->end_moves ? c->hi : c->lo, still, moves) && *still && *moves;
}

bool ex_at_most(Sched *s, const Expr *a, const Expr *b) {
  const Expr *d = expr_normal(s->x, ex_sub(s, b, a));
  return d->kind == EX_INT && d->i >= 0;
}
