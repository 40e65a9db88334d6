/* codegen/schedule/comb.c - loops over the points of a label that leave certain remainders. A conjunct such as
 *
 *     (t + a) % m == e        (t - s) % m < k        t % w[s] >= k
 *
 * where all but t is known before t's loop, admits runs of equally many points at equal distances. Then one loop goes
 * from run to run, and an inner one over the run's points: neither visits the points between. */
#include "schedule.h"

enum { FEWER = 4 };          /* of a known divisor: how many times fewer points make runs better than lanes */
static const int64_t MOST = (int64_t)1 << 40, FAR = (int64_t)1 << 61; /* of a divisor; of what is beside the label */

/* Where (sign * label + beside) % by compares by `op` with `to`. */
typedef struct Found {
  Op op;
  int sign;
  const Expr *beside, *by, *to;
  bool plain;                /* nothing wraps around, and `by` is a positive number: it needs no test at each point */
} Found;

typedef struct Look { Env *e; uint32_t n_label, label; const bool *bound; } Look;

static bool is_ahead(const Look *l, const Expr *e) {
  return e->dtype == DT_I64 && where_is_ahead(l->e, e, l->n_label, l->label, l->bound);
}

/* Splits e into the label, or its opposite, and the rest, as 64-bit integers that may wrap around. */
static bool beside_find(const Look *l, const Expr *e, Found *f) {
  Sched *s = l->e->s;
  f->sign = 1, f->beside = ex_int(s, 0);
  while (e->kind == EX_OP && e->dtype == DT_I64 && e->n <= 2) {
    const Expr *a = e->arg[0], *b = e->n == 2 ? e->arg[1] : NULL;
    bool left = ex_has_label(a, l->label);
    if (b && left == ex_has_label(b, l->label)) return false;
    Op way = f->sign < 0 ? OP_SUB : OP_ADD, other = f->sign < 0 ? OP_ADD : OP_SUB;
    if (e->op == OP_ADD) f->beside = expr_op2(s->x, way, f->beside, left ? b : a);
    else if (e->op == OP_SUB && left) f->beside = expr_op2(s->x, other, f->beside, b);
    else if (e->op == OP_SUB) f->beside = expr_op2(s->x, way, f->beside, a), f->sign = -f->sign;
    else if (e->op == OP_NEG) f->sign = -f->sign;
    else return false;
    e = left ? a : b;
  }
  return e->kind == EX_LABEL && e->i == l->label && is_ahead(l, f->beside);
}

/* Sums and differences of labels and small numbers stay far below 2^61. */
static bool is_near(const Expr *e) {
  if (e->kind == EX_INT || e->kind == EX_LABEL) return e->kind == EX_LABEL || (e->i <= INT32_MAX && e->i >= -INT32_MAX);
  bool sum = e->kind == EX_OP && (e->op == OP_ADD || e->op == OP_SUB || e->op == OP_NEG);
  for (uint32_t k = 0; sum && k < e->n; k++) sum = is_near(e->arg[k]);
  return sum;
}

static bool remainder_find(const Look *l, const Expr *c, Found *f) {
  if (c->kind != EX_OP || c->n != 2 || op_info[c->op].rule != RULE_COMPARE || c->op == OP_NE) return false;
  for (uint32_t side = 0; side < 2; side++) {
    const Expr *q = c->arg[side];
    if (q->kind != EX_OP || q->op != OP_MOD || q->dtype != DT_I64 || !ex_has_label(q->arg[0], l->label)) continue;
    f->op = side ? op_swapped((Op)c->op) : (Op)c->op, f->by = q->arg[1], f->to = c->arg[1 - side];
    if (!is_ahead(l, f->by) || !is_ahead(l, f->to) || !beside_find(l, q->arg[0], f)) continue;
    f->plain = f->by->kind == EX_INT && f->by->i > 0 && f->by->i <= MOST && is_near(f->beside);
    return true;
  }
  return false;
}

/* Whether runs visit so few points that they pay. */
static bool pays(const Found *f) {
  int64_t of;
  if (f->by->kind != EX_INT) return true;
  if (f->by->i < FEWER || f->by->i > MOST) return false;
  if (f->op == OP_EQ || f->to->kind != EX_INT) return true;
  if (!sub_ok(f->by->i, f->to->i, &of)) return false;
  if (f->op == OP_LT || f->op == OP_LE) of = f->to->i;
  return of <= f->by->i / FEWER;
}

/* The first conjunct of this kind. */
static const Expr *conjunct_find(const Look *l, const Expr *c, Found *f) {
  if (!c || c->kind != EX_OP) return NULL;
  if (c->op == OP_AND) {
    const Expr *found = conjunct_find(l, c->arg[0], f);
    return found ? found : conjunct_find(l, c->arg[1], f);
  }
  return remainder_find(l, c, f) && pays(f) ? c : NULL;
}

static const Expr *kept(Sched *s, const char *name, const Expr *e) {
  return e->kind == EX_INT ? e : let_read(s, name, e);
}

static const Expr *clamped(Sched *s, const Expr *e, int64_t low, const Expr *high) {
  return ex_min(s, ex_max(s, e, ex_int(s, low)), high);
}

/* The remainders: from *from on, *length of them. `by` is at least 1. */
static void remainders(Sched *s, const Found *f, const Expr *to, const Expr *by, const Expr **from,
    const Expr **length) {
  const Expr *one = ex_int(s, 1), *last = ex_sub(s, by, one);
  bool beyond = f->op == OP_LE || f->op == OP_GT; /* the number itself is on the lower side */
  const Expr *cut = beyond ? ex_add(s, clamped(s, to, -1, last), one) : clamped(s, to, 0, by);
  *from = f->op == OP_LT || f->op == OP_LE ? ex_int(s, 0) : cut;
  *length = f->op == OP_LT || f->op == OP_LE ? cut : ex_sub(s, by, cut);
  if (f->op != OP_EQ) return;
  const Expr *is = expr_op2(s->x, OP_AND, expr_op2(s->x, OP_LE, ex_int(s, 0), to), expr_op2(s->x, OP_LT, to, by));
  *length = expr_select(s->x, is, one, ex_int(s, 0));
}

static const Expr *shared(Look *l, const Expr *e) { return ex_shared(l->e->s, ex_of(l->e, e)); }

/* Where data wrap around, or the divisor is not positive, all points are one run, and tested. */
static Comb comb_make(Look *l, const Found *f) {
  Sched *s = l->e->s;
  const Expr *one = ex_int(s, 1), *by = kept(s, "by", shared(l, f->by)), *odd = NULL;
  const Expr *beside = kept(s, "beside", shared(l, f->beside)), *to = kept(s, "to", shared(l, f->to)), *from, *length;
  if (!f->plain) {
    odd = expr_op2(s->x, OP_OR, expr_op2(s->x, OP_LT, by, one), expr_op2(s->x, OP_LT, ex_int(s, MOST), by));
    odd = expr_op2(s->x, OP_OR, odd, expr_op2(s->x, OP_LT, beside, ex_int(s, -FAR)));
    odd = kept(s, "odd", expr_op2(s->x, OP_OR, odd, expr_op2(s->x, OP_LT, ex_int(s, FAR), beside)));
    by = kept(s, "by", expr_select(s->x, odd, one, by));
    beside = kept(s, "beside", expr_select(s->x, odd, ex_int(s, 0), beside));
  }
  remainders(s, f, to, by, &from, &length);
  if (odd) length = expr_select(s->x, odd, one, length);
  length = kept(s, "length", length);
  const Expr *last = ex_sub(s, ex_add(s, from, length), one); /* the last remainder comes first if it falls */
  const Expr *first = f->sign > 0 ? ex_sub(s, from, beside) : ex_sub(s, beside, last);
  first = ex_sub(s, expr_op2(s->x, OP_MOD, first, by), by); /* the one before 0, of which a part may be wanted */
  return (Comb){kept(s, "first", first), by, length, NULL, NULL};
}

bool comb_is(Env *e, const Expr *cond, uint32_t n_label, uint32_t label) {
  Found f;
  bool *bound = NEW_ARRAY(e->s->arena, bool, n_label + 1);
  for (uint32_t l = 0; l < n_label; l++) bound[l] = l != label;
  return conjunct_find(&(Look){e, n_label, label, bound}, cond, &f) != NULL;
}

bool comb_take(Env *e, const Expr **cond, uint32_t n_label, uint32_t label, const bool *bound, const Expr **lo,
    const Expr **hi, Comb *r) {
  Sched *s = e->s;
  Look l = {e, n_label, label, bound};
  Found f;
  const Expr *c = conjunct_find(&l, *cond, &f), *one = ex_int(s, 1);
  if (!c) return false;
  *r = comb_make(&l, &f);
  r->lo = kept(s, "from", *lo), r->hi = kept(s, "to", *hi);
  if (f.plain) *cond = where_without(s, *cond, c);
  const Expr *before = ex_sub(s, ex_sub(s, r->lo, r->first), r->length);
  const Expr *end = ex_sub(s, ex_sub(s, r->hi, r->first), one);
  *lo = ex_max(s, ex_int(s, 0), ex_add(s, expr_op2(s->x, OP_IDIV, before, r->by), one));
  *hi = ex_max(s, ex_int(s, 0), ex_add(s, expr_op2(s->x, OP_IDIV, end, r->by), one));
  return true;
}

void comb_open(Sched *s, const Comb *r, int64_t step, const Expr **lo, const Expr **hi) {
  const Expr *v = for_open(s, NULL, "run", *lo, *hi, step, BIND_SEQ);
  const Expr *at = let_read(s, "at", ex_add(s, r->first, ex_mul(s, v, r->by)));
  *lo = ex_max(s, r->lo, at), *hi = ex_min(s, r->hi, ex_add(s, at, r->length));
}
