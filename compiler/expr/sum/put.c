/* expr/sum/put.c - which output labels of a sum data decide: `H[b] = sum[e where bin[e] == b] w[e]` puts each point
 * where it belongs. */
#include "expr/einsum.h"

uint64_t sum_labels_put(const Expr *where, uint32_t n) {
  if (!where || where->kind != EX_OP) return 0;
  if (where->op == OP_AND) return sum_labels_put(where->arg[0], n) | sum_labels_put(where->arg[1], n);
  for (uint32_t k = 0; where->op == OP_EQ && k < 2; k++) {
    const Expr *label = where->arg[k], *to = where->arg[1 - k];
    bool is = label->kind == EX_LABEL && label->i < (int64_t)n && label->i < 63;
    if (is && to->has & HAS_READ && !(to->labels >> label->i & 1)) return (uint64_t)1 << label->i;
  }
  return 0;
}
