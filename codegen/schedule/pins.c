/* codegen/schedule/pins.c - sums over the points that belong to an output, where the points determine the output:
 * `H[b] = sum[e where bin[e] == b] w[e]`. */
#include "schedule.h"

static bool pin_is(Env *e, const Expr *cond, uint32_t label, bool first, const Expr **to) {
  if (cond->op != OP_EQ || cond->arg[0]->dtype != DT_I64) return false;
  for (uint32_t k = 0; k < 2; k++) {
    const Expr *is = cond->arg[k], *other = cond->arg[1 - k];
    if (is->kind != EX_LABEL || is->i != label || ex_has_label(other, label) || !(first || ex_is_safe(e, other)))
      continue;
    *to = other;
    return true;
  }
  return false;
}

bool pin_find(Env *e, const Expr *cond, uint32_t label, bool first, const Expr **to, const Expr **rest) {
  Exprs *x = e->s->x;
  *rest = NULL;
  if (cond->kind != EX_OP) return false;
  if (cond->op != OP_AND) return pin_is(e, cond, label, first, to);
  for (uint32_t k = 0; k < 2; k++) {
    const Expr *inside;
    if (!pin_find(e, cond->arg[k], label, first && !k, to, &inside)) continue;
    *rest = k ? expr_and(x, cond->arg[0], inside) : expr_and(x, inside, cond->arg[1]);
    return true;
  }
  return false;
}
