/* codegen/schedule/cpu/panels/guard.c - sums of products in which a condition on one side excludes terms: if m[u, k]
 * then a[u, k] * b[k, v] else 0, or the same with m[u, k] as the sum's predicate. The panel of a[u, k] holds 0 for
 * excluded terms, so tiles need no test. But 0 times a value that is not finite is not 0: the other side's panel is
 * checked while it is filled, and if it holds such a value, the tiles of that block test at each point.
 *
 * And of sums of products of which a side is 0 beyond a range, whether written so, (if k <= u then a[u, k] else 0) *
 * b[k, v], or kept so by an earlier stage, as the weights of causal attention are. These zeros are part of the sum; but
 * if the other side's panel is finite, tiles leave them out. */
#include <math.h>

#include "expr/prove/let_through.h"
#include "panels.h"

enum {
  KEPT_LEAST = 4,            /* a predicate that leaves fewer than one in so many points is better kept out of loops */
  FACTOR_MOST = 1 << 20      /* of a quotient that is compared by products */
};

static bool is_zero(const Expr *e) {
  return (e->kind == EX_INT && e->i == 0) || (e->kind == EX_REAL && e->f == 0 && !signbit(e->f));
}

static bool side_has(const Side *x, const Expr *e) {
  bool has = ex_has_label(e, x->tile);
  for (uint32_t k = 0; k < x->n_near; k++) has |= ex_has_label(e, x->near[k]);
  for (uint32_t k = 0; k < x->n_far; k++) has |= ex_has_label(e, x->far[k]);
  return has;
}

typedef struct Sizes { const StagePlan *p; bool all; } Sizes; /* all: each is the extent of a label */

static const Expr *leaf_guess(void *env, Exprs *x, const Expr *leaf) {
  Sizes *z = env;
  if (leaf->kind != EX_DIM) return leaf;
  for (uint32_t l = 0; l < z->p->n_label; l++)
    if (z->p->stage->bound[l] == leaf) return expr_int(x, DT_I64, z->p->size[l]);
  z->all = false;
  return leaf;
}

/* Whether the predicate leaves so many points that those it excludes may as well be added as 0. That is not known if
 * it has a size that is no label's. Loops without panels would then narrow a range, which costs nothing, or test each
 * element of the lanes, which costs more than most of what could be left out. */
bool pack_leaves_most(Sched *s, const StagePlan *p) {
  Sizes z = {p, true};
  const Expr *when[] = {expr_map(s->x, p->stage->sum->where, leaf_guess, &z)};
  int64_t *zero = NEW_ARRAY(s->arena, int64_t, p->n_label + 1);
  uint32_t budget = BOXES_USUAL;
  double points = 1;
  for (uint32_t l = 0; l < p->n_label; l++) points *= (double)p->size[l];
  if (!z.all) return ex_has_label(p->stage->sum->where, pack_lanes_label(p));
  return boxes_points(p->n_label, zero, p->size, 1, when, &budget) * (double)KEPT_LEAST >= points;
}

/* A comparison of a quotient without the division, which lanes would make for each element: (7 - x) // 4 <= r is
 * 7 - x <= 4 * r + 3. Factors are small beside the greatest integer, and so are labels. */
static const Expr *op_undivided(void *env, Exprs *x, const Expr *e) {
  bool less = is_op(e, OP_LT) || is_op(e, OP_LE), more = is_op(e, OP_GT) || is_op(e, OP_GE);
  (void)env;
  if (!less && !more) return e;
  const Expr *low = e->arg[more], *high = e->arg[less];
  bool left = is_op(low, OP_IDIV), strict = is_op(e, OP_LT) || is_op(e, OP_GT);
  const Expr *q = left ? low : high, *b = left ? high : low;
  if (!is_op(q, OP_IDIV) || q->dtype != DT_I64 || q->arg[1]->kind != EX_INT) return e;
  if (q->arg[1]->i < 1 || q->arg[1]->i > FACTOR_MOST) return e;
  int64_t c = q->arg[1]->i, more_by = left ? (strict ? -1 : c - 1) : (strict ? c : 0);
  const Expr *end = expr_op2(x, OP_ADD, expr_op2(x, OP_MUL, q->arg[1], b), expr_int(x, DT_I64, more_by));
  return left ? expr_op2(x, OP_LE, q->arg[0], end) : expr_op2(x, OP_LE, end, q->arg[0]);
}

/* A border, as of a convolution, is such a predicate. */
const EinSum *pack_guarded(Sched *s, const StagePlan *p) {
  const EinSum *sum = p->stage->sum;
  const Expr *e = sum->body, *when = sum->where;
  if (sum->reducer != RED_SUM || !when || !where_is_affine(p, when)) return NULL;
  if (p->n_red == 1 && where_is_range(p, p->red[0])) return NULL;
  if (is_op(e, OP_SELECT) && is_zero(e->arg[2])) when = expr_and(s->x, when, e->arg[0]), e = e->arg[1];
  if (!is_op(e, OP_MUL) || !pack_leaves_most(s, p)) return NULL;
  EinSum *made = arena_copy(s->arena, sum, sizeof *sum);
  when = expr_map_ops(s->x, when, op_undivided, NULL);
  made->where = NULL;
  made->body = expr_select(s->x, when, e, reducer_identity(s->x, sum));
  return made;
}

void pack_guard_find(Panel *t) {
  const EinSum *sum = t->p->stage->sum;
  Exprs *x = t->s->x;
  const Expr *e = sum->body;
  t->of = e;
  if (sum->reducer != RED_SUM || !is_op(e, OP_SELECT) || !is_zero(e->arg[2]) || !is_op(e->arg[1], OP_MUL)) return;
  const Expr *when = e->arg[0], *side[2] = {e->arg[1]->arg[0], e->arg[1]->arg[1]};
  bool rows = side_has(&t->u, when), lanes = side_has(&t->v, when);
  for (int k = 0; k < 2; k++) {
    if ((rows && !side_has(&t->u, side[k])) || (lanes && !side_has(&t->v, side[k])) || (rows && lanes)) continue;
    if (!side_has(&t->u, side[k]) && !side_has(&t->v, side[k])) continue;
    t->guard = e;
    side[k] = expr_select(x, when, side[k], e->arg[2]);
    t->of = expr_op(x, OP_MUL, 2, side);
    return;
  }
}

/* What excluded points read is read only where the condition holds; the other side is read everywhere. */
bool pack_guard_is_safe(const Panel *t) {
  const Expr *when = t->guard ? t->guard->arg[0] : NULL;
  if (when && !ex_is_safe(t->e, when)) return false;
  for (uint32_t k = 0; when && k < 2; k++) {
    const Expr *side = t->of->arg[k];
    if (!(is_op(side, OP_SELECT) && side->arg[0] == when) && !ex_is_safe(t->e, side)) return false;
  }
  return true;
}

bool pack_guard_fits(const Panel *t) {
  if (!t->guard) return true;
  uint32_t n_slot = t->p->stage->sum->n_slot;
  const Expr *a = t->body->arg[0], *b = t->body->arg[1];
  return a->kind == EX_READ && a->i >= n_slot && b->kind == EX_READ && b->i >= n_slot;
}

/* ---- zeros ------------------------------------------------------------------------------------------------------- */

static const Expr *float_of(const Expr *e) {
  while (is_op(e, OP_CAST) && dtype_is_float((DType)e->arg[0]->dtype)) e = e->arg[0];
  return e;
}

/* The condition outside of which e is 0; NULL: it is no such choice. */
static const Expr *else_zero(const Expr *e) {
  bool zero = is_op(e, OP_SELECT) && is_zero(e->arg[2]) && !(e->arg[0]->has & HAS_READ);
  return zero ? e->arg[0] : NULL;
}

/* The same of a part of the body, if it is such a choice, or the kept value of a map that is one; NULL: it is not. */
static const Expr *part_else_zero(const Panel *t, const Expr *e) {
  const Sched *s = t->s;
  uint32_t n = t->p->n_label;
  e = float_of(e);
  if (e->kind != EX_READ || !t->p->stage->slot[e->i].kept) return else_zero(e);
  const EinSum *from = s->task->stages.at[t->p->stage->slot[e->i].index].sum;
  const Expr *when = from->reducer == RED_NONE && !from->domain ? else_zero(float_of(from->body)) : NULL;
  for (uint32_t k = 0; when && k < e->n; k++)
    if (e->arg[k]->kind != EX_LABEL || e->arg[k]->i >= (int64_t)n) return NULL;
  return when ? expr_relabel(s->x, when, e->n, e->arg) : NULL;
}

void pack_zeros_find(Panel *t) {
  const StagePlan *p = t->p;
  const EinSum *sum = p->stage->sum;
  if (t->guard || sum->where || sum->reducer != RED_SUM || p->n_red != 1 || !is_op(t->of, OP_MUL) || t->n_pack != 2)
    return;
  for (uint32_t k = 0; k < t->n_pack; k++) {
    const Pack *x = &t->pack[k];
    const Expr *when = x->lanes || (x->of != t->of->arg[0] && x->of != t->of->arg[1]) ? NULL : part_else_zero(t, x->of);
    if (when && ex_has_label(when, t->u.tile) && where_bounds(when, p->n_label, p->red[0]) &&
        t->pack[1 - k].lanes && t->pack[1 - k].place != NOWHERE)
      t->zeros = when;
  }
}

bool pack_guards(const Panel *t, const Pack *k) {
  if (t->zeros) return !k->lanes;
  return t->guard && k->of->kind == EX_OP && k->of->op == OP_SELECT && k->of->arg[0] == t->guard->arg[0];
}
