/* codegen/schedule/cpu/panels/guard.c - sums of products in which a condition on one side excludes terms: if m[u, k]
 * then a[u, k] * b[k, v] else 0. The panel of a[u, k] holds 0 for excluded terms, so tiles need no test. But 0 times a
 * value that is not finite is not 0: the other side's panel is checked while it is filled, and if it holds such a
 * value, the tiles of that block test at each point. */
#include <math.h>

#include "panels.h"

static bool is_zero(const Expr *e) {
  return (e->kind == EX_INT && e->i == 0) || (e->kind == EX_REAL && e->f == 0 && !signbit(e->f));
}

static bool side_has(const Side *x, const Expr *e) {
  bool has = ex_has_label(e, x->tile);
  for (uint32_t k = 0; k < x->n_near; k++) has |= ex_has_label(e, x->near[k]);
  for (uint32_t k = 0; k < x->n_far; k++) has |= ex_has_label(e, x->far[k]);
  return has;
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

bool pack_guard_fits(const Panel *t) {
  if (!t->guard) return true;
  uint32_t n_slot = t->p->stage->sum->n_slot;
  const Expr *a = t->body->arg[0], *b = t->body->arg[1];
  return a->kind == EX_READ && a->i >= n_slot && b->kind == EX_READ && b->i >= n_slot;
}

bool pack_guards(const Panel *t, const Pack *k) {
  return t->guard && k->of->kind == EX_OP && k->of->op == OP_SELECT && k->of->arg[0] == t->guard->arg[0];
}
