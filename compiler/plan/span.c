/* plan/span.c - indices that wrap around the end of a dimension. */
#include "span.h"

#include "expr/prove/prove.h"

enum { LAPS = 64 };          /* of an index around its dimension, at most */

const Expr *span_index(Exprs *p, const Expr *index) {
  bool rest = index->kind == EX_OP && index->op == OP_MOD && index->dtype == DT_I64 && index->arg[1]->kind == EX_INT;
  return rest ? expr_op2(p, OP_MOD, expr_normal(p, index->arg[0]), index->arg[1]) : expr_normal(p, index);
}

/* The largest distance between values over blocks of labels of these lengths, if all have a span. False: too large. */
static bool width_of(const Expr *e, const int64_t *len, int64_t *out) {
  int64_t a = 0, b = 0, by;
  if (e->kind == EX_INT) return *out = 0, true;
  if (e->kind == EX_LABEL) return *out = len[e->i] - 1, true;
  if (!width_of(e->arg[0], len, &a) || (e->n > 1 && !width_of(e->arg[1], len, &b))) return false;
  switch ((Op)e->op) {
  case OP_MAX: case OP_MIN: *out = a > b ? a : b; return true;
  case OP_MUL:
    by = e->arg[0]->kind == EX_INT ? e->arg[0]->i : e->arg[1]->i;
    return by != INT64_MIN && mul_ok(a > b ? a : b, by < 0 ? -by : by, out);
  case OP_IDIV: *out = -floor_div(-a, e->arg[1]->i); return true;
  default: return add_ok(a, b, out); /* sums and differences; -x, where b is 0 */
  }
}

bool span_wrap(const Expr *index, uint32_t n_label, const int64_t *extent, const uint32_t *count, int64_t size,
    PartWide wide, SpanWrap *out) {
  SpanBlock whole[GRAPH_LABELS + 1];
  int64_t len[GRAPH_LABELS + 1], width, lap;
  Reached all;
  bool moves = false;
  if (index->kind != EX_OP || index->op != OP_MOD || index->arg[1]->kind != EX_INT || index->arg[1]->i != size ||
      size < 1)
    return false;
  for (uint32_t l = 0; l < n_label; l++) {
    whole[l] = (SpanBlock){0, extent[l], count[l] > 1};
    len[l] = -floor_div(-extent[l], count[l]);
  }
  if (!span_find(index->arg[0], whole, &moves, &all) || !moves || all.least > all.most) return false;
  if (!width_of(index->arg[0], len, &width) || width >= size - wide.below - wide.above) return false;
  lap = floor_div(all.least - wide.below, size);
  *out = (SpanWrap){index->arg[0], -lap * size, floor_div(all.most + wide.above, size) - lap + 1};
  return out->laps <= LAPS && all.least > INT64_MIN / 2 && all.most < INT64_MAX / 2;
}
