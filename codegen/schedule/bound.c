/* codegen/schedule/bound.c - derives one label's range from a predicate, given all other labels. A comparison that
 * moves with the label gives the range directly; quotients (t // w == s // w) and alternatives (t <= s or t < p) are
 * solved here. Whatever else the predicate says is still tested at each point. */
#include "schedule.h"

typedef struct Bound {
  Sched *s;
  uint32_t n_label;
  int64_t label;
} Bound;

/* The predicate implies from <= label < to; NULL: no bound. exact: it implies nothing else. */
typedef struct Ends { const Expr *from, *to; bool exact; } Ends;

/* Whether e is the label's quotient by a positive number, rounded down. */
static bool is_quotient(const Bound *b, const Expr *e) {
  return is_op(e, OP_IDIV) && e->arg[1]->kind == EX_INT && e->arg[1]->i > 0 && ex_has_label(e, b->label);
}

/* e with the label at 0. */
static const Expr *at_zero(const Bound *b, const Expr *e) {
  const Expr **to = NEW_ARRAY(b->s->arena, const Expr *, b->n_label + 1);
  to[b->label] = ex_int(b->s, 0);
  return expr_relabel(b->s->x, e, b->n_label, to);
}

/* The range from x <= y, for i64. */
static Ends at_most(const Bound *b, const Expr *x, const Expr *y) {
  Sched *s = b->s;
  Ends none = {NULL, NULL, false};
  int64_t left, right;
  const Expr *one = ex_int(s, 1);
  while (is_quotient(b, x)) { /* x // w <= y: x < (y + 1) * w */
    y = ex_sub(s, ex_mul(s, ex_add(s, y, one), x->arg[1]), one);
    x = x->arg[0];
  }
  while (is_quotient(b, y)) { /* x <= y // w: x * w <= y */
    x = ex_mul(s, x, y->arg[1]);
    y = y->arg[0];
  }
  if (!ex_slope(x, b->label, &left) || !ex_slope(y, b->label, &right)) return none;
  const Expr *free_x = at_zero(b, x), *free_y = at_zero(b, y);
  if (left - right == 1) return (Ends){NULL, ex_add(s, ex_sub(s, free_y, free_x), one), true};
  if (left - right == -1) return (Ends){ex_sub(s, free_x, free_y), NULL, true};
  return none;
}

static Ends less(const Bound *b, const Expr *x, const Expr *y) {
  return at_most(b, ex_add(b->s, x, ex_int(b->s, 1)), y);
}

static Ends both(const Bound *b, Ends x, Ends y) {
  Sched *s = b->s;
  Ends made = {x.from ? x.from : y.from, x.to ? x.to : y.to, x.exact && y.exact};
  if (x.from && y.from) made.from = ex_max(s, x.from, y.from);
  if (x.to && y.to) made.to = ex_min(s, x.to, y.to);
  return made;
}

/* The range from an alternative. It is exact only if both are unbounded on the same side. */
static Ends either(const Bound *b, Ends x, Ends y) {
  Sched *s = b->s;
  Ends made = {NULL, NULL, x.exact && y.exact && ((!x.from && !y.from) || (!x.to && !y.to))};
  if (x.from && y.from) made.from = ex_min(s, x.from, y.from);
  if (x.to && y.to) made.to = ex_max(s, x.to, y.to);
  return made;
}

static Ends ends_of(const Bound *b, const Expr *c) {
  if (c->kind != EX_OP || c->n != 2) return (Ends){NULL, NULL, false};
  if (c->op == OP_AND) return both(b, ends_of(b, c->arg[0]), ends_of(b, c->arg[1]));
  if (c->op == OP_OR) return either(b, ends_of(b, c->arg[0]), ends_of(b, c->arg[1]));
  if (c->arg[0]->dtype != DT_I64 || c->has & HAS_READ || !has_small_numbers(c)) return (Ends){NULL, NULL, false};
  switch ((Op)c->op) {
  case OP_LT: return less(b, c->arg[0], c->arg[1]);
  case OP_LE: return at_most(b, c->arg[0], c->arg[1]);
  case OP_GT: return less(b, c->arg[1], c->arg[0]);
  case OP_GE: return at_most(b, c->arg[1], c->arg[0]);
  case OP_EQ: return both(b, at_most(b, c->arg[0], c->arg[1]), at_most(b, c->arg[1], c->arg[0]));
  default: return (Ends){NULL, NULL, false};
  }
}

/* The bounds as comparisons that loops can use; clears *all if some are not. */
static const Expr *compared(const Bound *b, Ends x, bool *all) {
  Exprs *p = b->s->x;
  const Expr *label = expr_label(p, b->label), *made = NULL;
  const Expr *said[2] = {
      x.from ? expr_op2(p, OP_LE, x.from, label) : NULL, x.to ? expr_op2(p, OP_LT, label, x.to) : NULL};
  for (int k = 0; k < 2; k++) {
    if (!said[k]) continue;
    if (where_bounds(said[k], b->n_label, (uint32_t)b->label)) made = expr_and(p, made, said[k]);
    else *all = false;
  }
  return made;
}

const Expr *where_split(Sched *s, const Expr *cond, uint32_t n_label, uint32_t label, const Expr **rest) {
  if (cond->kind == EX_OP && cond->op == OP_AND) {
    const Expr *a = where_split(s, cond->arg[0], n_label, label, rest);
    return expr_and(s->x, a, where_split(s, cond->arg[1], n_label, label, rest));
  }
  if (where_bounds(cond, n_label, label)) return cond;
  Bound b = {s, n_label, label};
  Ends ends = ends_of(&b, cond);
  bool all = ends.exact;
  const Expr *made = compared(&b, ends, &all);
  if (!all) *rest = expr_and(s->x, *rest, cond);
  return made;
}
