/* plan/span.c - intervals of indices over blocks of labels. */
#include "span.h"

#include "expr/prove/prove.h"

enum {
  DEEP = 200,
  LAPS = 64                  /* of an index around its dimension, at most */
};

static bool span_scaled(Reached a, int64_t by, Reached *out) {
  int64_t x, y;
  if (!mul_ok(a.least, by, &x) || !mul_ok(a.most, by, &y)) return false;
  *out = by < 0 ? (Reached){y, x} : (Reached){x, y};
  return true;
}

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static bool span_op(const Expr *e, Reached a, Reached b, Reached *out) {
  switch ((Op)e->op) {
  case OP_ADD: return add_ok(a.least, b.least, &out->least) && add_ok(a.most, b.most, &out->most);
  case OP_SUB: return sub_ok(a.least, b.most, &out->least) && sub_ok(a.most, b.least, &out->most);
  case OP_MAX: *out = (Reached){larger(a.least, b.least), larger(a.most, b.most)}; return true;
  case OP_MIN: *out = (Reached){smaller(a.least, b.least), smaller(a.most, b.most)}; return true;
  case OP_MUL:
    if (e->arg[1]->kind == EX_INT) return span_scaled(a, e->arg[1]->i, out);
    return e->arg[0]->kind == EX_INT && span_scaled(b, e->arg[0]->i, out);
  case OP_IDIV:
    if (e->arg[1]->kind != EX_INT || e->arg[1]->i <= 0) return false;
    *out = (Reached){floor_div(a.least, e->arg[1]->i), floor_div(a.most, e->arg[1]->i)};
    return true;
  default: return false;
  }
}

/* The same as algebra/window.h computes with expressions. */
static bool span_of(const Expr *e, const SpanBlock *label, int depth, bool *moves, Reached *out) {
  Reached a, b;
  if ((e->has & (HAS_READ | HAS_TURN | HAS_DIM | HAS_PARAM)) || e->dtype != DT_I64 || depth > DEEP) return false;
  if (e->kind == EX_INT) return *out = (Reached){e->i, e->i}, true;
  if (e->kind == EX_LABEL) {
    *moves |= label[e->i].cut;
    *out = (Reached){label[e->i].low, label[e->i].high - 1};
    return true;
  }
  if (e->kind != EX_OP) return false;
  if (e->op == OP_NEG) return span_of(e->arg[0], label, depth + 1, moves, &a) && span_scaled(a, -1, out);
  return e->n == 2 && span_of(e->arg[0], label, depth + 1, moves, &a) &&
      span_of(e->arg[1], label, depth + 1, moves, &b) && span_op(e, a, b, out);
}

bool span_find(const Expr *e, const SpanBlock *label, bool *moves, Reached *out) {
  return span_of(e, label, 0, moves, out);
}

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
  case OP_MAX: case OP_MIN: *out = larger(a, b); return true;
  case OP_MUL:
    by = e->arg[0]->kind == EX_INT ? e->arg[0]->i : e->arg[1]->i;
    return by != INT64_MIN && mul_ok(larger(a, b), by < 0 ? -by : by, out);
  case OP_IDIV: *out = -floor_div(-a, e->arg[1]->i); return true;
  default: return add_ok(a, b, out); /* sums and differences; -x, where b is 0 */
  }
}

bool span_wrap(
    const Expr *index, uint32_t n_label, const int64_t *extent, const uint32_t *count, int64_t size, SpanWrap *out) {
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
  if (!span_of(index->arg[0], whole, 0, &moves, &all) || !moves || all.least > all.most) return false;
  if (!width_of(index->arg[0], len, &width) || width >= size) return false;
  lap = floor_div(all.least, size);
  *out = (SpanWrap){index->arg[0], -lap * size, floor_div(all.most, size) - lap + 1};
  return out->laps <= LAPS && all.least > INT64_MIN / 2 && all.most < INT64_MAX / 2;
}
