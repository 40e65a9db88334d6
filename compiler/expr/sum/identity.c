/* expr/sum/identity.c - what a reducer gives for no points, by its row of ops.def. */
#include <math.h>

#include "expr/einsum.h"

const Expr *expr_end(Exprs *p, DType t, bool most) {
  if (dtype_is_float(t)) return expr_real(p, t, most ? (double)INFINITY : -(double)INFINITY);
  if (t == DT_BOOL || t == DT_U8) return expr_int(p, t, !most ? 0 : t == DT_U8 ? 255 : 1);
  int64_t top = (int64_t)(UINT64_MAX >> 1 >> (64 - 8 * (int)dtype_size(t)));
  return expr_int(p, t, most ? top : -top - 1);
}

const Expr *reducer_identity(Exprs *p, const EinSum *s) {
  const char *text = reducer_info[s->reducer].identity;
  if (s->reducer == RED_MONOID) return s->monoid->identity;
  if (!text) return NULL;
  if (*text == 'i' || *text == '-') return expr_end(p, s->acc, *text == 'i');
  bool one = *text == '1' || *text == 't';
  return dtype_is_float(s->acc) ? expr_real(p, s->acc, one) : expr_int(p, s->acc, one);
}
