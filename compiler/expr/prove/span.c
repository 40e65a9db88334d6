/* expr/prove/span.c - the range of an index over a block of labels, as an interval of numbers, and of expressions. */
#include "span.h"

enum { FAR = 1 << 30 };      /* from 0, at most, of numbers that are told apart from an index */
enum { DEEP = 200, STEPS = 4000 }; /* STEPS: parts looked at; one that is shared is looked at each time */

typedef struct Spans {
  const SpanBlock *label;    /* NULL: labels and turns have the extents that facts tell */
  const Facts *facts;
  bool moves;
  uint32_t steps;
} Spans;

static bool span_scaled(Reached a, int64_t by, Reached *out) {
  int64_t x, y;
  if (!mul_ok(a.least, by, &x) || !mul_ok(a.most, by, &y)) return false;
  *out = by < 0 ? (Reached){y, x} : (Reached){x, y};
  return true;
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

static bool span_extent(const Expr *const *extent, uint32_t n, int64_t i, Reached *out) {
  const Expr *e = i >= 0 && i < n ? extent[i] : NULL;
  if (!e || e->kind != EX_INT || e->i < 1) return false;
  *out = (Reached){0, e->i - 1};
  return true;
}

static bool span_leaf(Spans *q, const Expr *e, Reached *out) {
  if (e->kind == EX_INT) return *out = (Reached){e->i, e->i}, true;
  if (e->kind == EX_TURN) return q->facts && span_extent(q->facts->turn, q->facts->n_turn, e->i, out);
  if (e->kind != EX_LABEL) return false;
  if (!q->label) return span_extent(q->facts->label, q->facts->n_label, e->i, out);
  q->moves |= q->label[e->i].cut;
  *out = (Reached){q->label[e->i].low, q->label[e->i].high - 1};
  return true;
}

static bool span_of(Spans *q, const Expr *e, int depth, Reached *out);

/* Of a remainder something is known whatever it is of. But blocks of it are not asked for: costs of plans take what is
 * read around an end as whole. */
static bool span_remainder(Spans *q, const Expr *e, int depth, Reached *out) {
  int64_t by = e->arg[1]->kind == EX_INT ? e->arg[1]->i : 0;
  Reached a;
  if (by <= 0 || q->label) return false;
  bool known = span_of(q, e->arg[0], depth + 1, &a) && floor_div(a.least, by) == floor_div(a.most, by);
  *out = known ? (Reached){floor_mod(a.least, by), floor_mod(a.most, by)} : (Reached){0, by - 1};
  return true;
}

static bool span_of(Spans *q, const Expr *e, int depth, Reached *out) {
  Reached a, b;
  if ((e->has & (HAS_READ | HAS_DIM | HAS_PARAM)) || e->dtype != DT_I64 || depth > DEEP || q->steps++ > STEPS)
    return false;
  if (e->kind != EX_OP) return span_leaf(q, e, out);
  if (e->op == OP_MOD) return span_remainder(q, e, depth, out);
  if (e->op == OP_NEG) return span_of(q, e->arg[0], depth + 1, &a) && span_scaled(a, -1, out);
  return e->n == 2 && span_of(q, e->arg[0], depth + 1, &a) && span_of(q, e->arg[1], depth + 1, &b) &&
      span_op(e, a, b, out);
}

bool span_find(const Expr *e, const SpanBlock *label, bool *moves, Reached *out) {
  Spans q = {.label = label};
  bool found = span_of(&q, e, 0, out);
  *moves |= q.moves;
  return found;
}

bool span_by_facts(const Expr *e, const Facts *facts, Reached *out) {
  return span_of(&(Spans){.facts = facts}, e, 0, out);
}

SpanBase span_base(const Expr *index) {
  SpanBase b = {index, 0, 0};
  if (index->kind == EX_OP && index->op == OP_MOD && index->arg[1]->kind == EX_INT)
    b = (SpanBase){index->arg[0], 0, index->arg[1]->i};
  const Expr *e = b.of;
  if (e->kind == EX_OP && (e->op == OP_ADD || e->op == OP_SUB) && e->arg[1]->kind == EX_INT && e->arg[1]->i > -FAR &&
      e->arg[1]->i < FAR)
    b.of = e->arg[0], b.by = e->op == OP_ADD ? e->arg[1]->i : -e->arg[1]->i;
  return b;
}

/* ---- as expressions ---------------------------------------------------------------------------- */

typedef struct Labels { SpanLabel *of; void *ctx; } Labels;

static bool ends_op(Exprs *p, const Expr *e, SpanEnds a, SpanEnds b, SpanEnds *out) {
  Op op = (Op)e->op;
  const Expr *x = e->arg[0], *y = e->arg[1];
  if (op == OP_MUL && x->kind == EX_INT && y->kind != EX_INT) {
    SpanEnds c = a;
    a = b, b = c, y = x;
  }
  bool number = y->kind == EX_INT && (op == OP_MUL || (op == OP_IDIV && y->i > 0));
  if (!number && op != OP_ADD && op != OP_SUB && op != OP_MAX && op != OP_MIN) return false;
  if (op == OP_SUB) b = (SpanEnds){b.most, b.least};
  if (op == OP_MUL && y->i < 0) a = (SpanEnds){a.most, a.least};
  *out = (SpanEnds){expr_op2(p, op, a.least, b.least), expr_op2(p, op, a.most, b.most)};
  return true;
}

static bool ends_of(Exprs *p, const Expr *e, const Labels *label, int depth, SpanEnds *out) {
  SpanEnds a, b;
  if ((e->has & (HAS_READ | HAS_TURN | HAS_PARAM)) || e->dtype != DT_I64 || depth > DEEP) return false;
  if (!(e->has & HAS_LABEL)) return *out = (SpanEnds){e, e}, true;
  if (e->kind == EX_LABEL) return *out = label->of(label->ctx, p, e->i), true;
  if (e->kind != EX_OP || e->n > 2 || !ends_of(p, e->arg[0], label, depth + 1, &a)) return false;
  if (e->op == OP_NEG)
    return *out = (SpanEnds){expr_op1(p, OP_NEG, a.most), expr_op1(p, OP_NEG, a.least)}, true;
  return e->n == 2 && ends_of(p, e->arg[1], label, depth + 1, &b) && ends_op(p, e, a, b, out);
}

bool span_ends(Exprs *p, const Expr *e, SpanLabel *label, void *ctx, SpanEnds *out) {
  return ends_of(p, e, &(Labels){label, ctx}, 0, out);
}
