/* expr/prove/cases.c - splits formulas into cases. In: bool expressions that hold, or whose negation does. Out: a
 * conjunction of inequalities a + k <= b between i64 expressions, of opaque literals, and of disjunctions, which the
 * caller may split one by one. What does not fit is dropped, and `dropped` is set. */
#include <math.h>
#include <string.h>

#include "proof.h"

enum { MOST_WORK = 64, MOST_LITERALS = 1000, MEANING_FUEL = 256 };

void case_new(Case *s) {
  s->none = s->dropped = false;
  s->n_ineq = s->n_opaque = s->n_split = 0;
}

static void add_split(Case *s, Literal l) {
  for (uint32_t i = 0; i < s->n_split; i++)
    if (s->split[i].e == l.e && s->split[i].not == l.not && s->split[i].meaning == l.meaning) return;
  if (s->n_split == MOST_SPLITS)
    s->dropped = true;
  else
    s->split[s->n_split++] = l;
}

/* max, min, abs and select inside an index are split into cases. */
static void add_meanings(Exprs *p, Case *s, const Expr *e, int *fuel) {
  while (e->kind == EX_OP && e->dtype == DT_I64 && --*fuel > 0) {
    bool mine = e->op == OP_MAX || e->op == OP_MIN || e->op == OP_ABS || e->op == OP_SELECT || e->op == OP_FMAX ||
                e->op == OP_FMIN;
    if (mine) add_split(s, (Literal){.e = expr_normal(p, e), .meaning = true, .tag = T_BASE});
    for (uint32_t i = 1; i < e->n; i++) add_meanings(p, s, e->arg[i], fuel);
    e = e->arg[e->op == OP_SELECT ? 1 : 0];
  }
}

static void add_ineq(Exprs *p, Case *s, const Expr *a, int64_t k, const Expr *b, uint32_t tag) {
  if (s->n_ineq == MOST_INEQS) {
    s->dropped = true;
    return;
  }
  s->ineq[s->n_ineq++] = (Ineq){a, b, k, tag};
  int fuel = MEANING_FUEL;
  add_meanings(p, s, a, &fuel);
  add_meanings(p, s, b, &fuel);
  if (fuel <= 0) s->dropped = true;
}

static void add_opaque(Exprs *p, Case *s, Literal l) {
  l.e = expr_normal(p, l.e);
  if (l.e->kind == EX_INT) { /* it folded */
    if ((l.e->i != 0) == l.not) s->none = true;
    return;
  }
  for (uint32_t i = 0; i < s->n_opaque; i++) {
    if (s->opaque[i].e != l.e) continue;
    if (s->opaque[i].not != l.not) s->none = true;
    return;
  }
  if (s->n_opaque == MOST_OPAQUE)
    s->dropped = true;
  else
    s->opaque[s->n_opaque++] = l;
}

/* Integers of any width compare as i64 does. */
static void add_comparison(Exprs *p, Case *s, Literal l) {
  const Expr *a = expr_cast(p, DT_I64, l.e->arg[0]), *b = expr_cast(p, DT_I64, l.e->arg[1]);
  switch (l.not ? op_contrary((Op)l.e->op) : (Op)l.e->op) {
  case OP_LT: add_ineq(p, s, a, 1, b, l.tag); break;
  case OP_LE: add_ineq(p, s, a, 0, b, l.tag); break;
  case OP_GT: add_ineq(p, s, b, 1, a, l.tag); break;
  case OP_GE: add_ineq(p, s, b, 0, a, l.tag); break;
  case OP_EQ:
    add_ineq(p, s, a, 0, b, l.tag);
    add_ineq(p, s, b, 0, a, l.tag);
    break;
  default: add_split(s, l);
  }
}

/* A comparison with NaN, which is false, except for `!=`. */
static bool is_unordered(const Expr *e) {
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->kind == EX_REAL && isnan(e->arg[k]->f)) return true;
  return false;
}

/* For floats `x > y` is `y < x`, and `x != y` the negation of `x == y`, even for NaN. */
static Literal in_one_way(Exprs *p, Literal l) {
  const Expr *e = l.e;
  if (e->op == OP_NE) l.e = expr_op2(p, OP_EQ, e->arg[0], e->arg[1]), l.not = !l.not;
  if (e->op == OP_GT) l.e = expr_op2(p, OP_LT, e->arg[1], e->arg[0]);
  if (e->op == OP_GE) l.e = expr_op2(p, OP_LE, e->arg[1], e->arg[0]);
  return l;
}

void case_add(Exprs *p, Case *s, Literal first) {
  Literal work[MOST_WORK];
  uint32_t n = 0, steps = 0;
  work[n++] = first;
  while (n && !s->none) {
    if (++steps > MOST_LITERALS) { /* a case has no room for more anyway */
      s->dropped = true;
      return;
    }
    Literal l = work[--n];
    const Expr *e = l.e;
    bool op = e->kind == EX_OP;
    if (e->kind == EX_INT) {
      s->none = (e->i != 0) == l.not;
    } else if (op && e->op == OP_NOT) {
      work[n++] = (Literal){.e = e->arg[0], .not = !l.not, .tag = l.tag};
    } else if (op && e->op == (l.not ? OP_OR : OP_AND)) { /* the second on top: chains are left-deep */
      if (n + 2 > MOST_WORK) {
        s->dropped = true;
        continue;
      }
      for (int i = 0; i < 2; i++) work[n++] = (Literal){.e = e->arg[i], .not = l.not, .tag = l.tag};
    } else if (op && (e->op == OP_AND || e->op == OP_OR || e->op == OP_SELECT)) {
      add_split(s, l);
    } else if (op && op_info[e->op].rule == RULE_COMPARE && dtype_is_int((DType)e->arg[0]->dtype)) {
      add_comparison(p, s, l);
    } else if (op && op_info[e->op].rule == RULE_COMPARE && is_unordered(e)) {
      s->none = (e->op == OP_NE) == l.not;
    } else {
      add_opaque(p, s, op && op_info[e->op].rule == RULE_COMPARE ? in_one_way(p, l) : l);
    }
  }
}

/* e is the larger (smaller, ...) of its arguments: in case k, its argument k. */
static void add_meaning(Exprs *p, Case *s, const Expr *e, int k, uint32_t tag) {
  if (e->kind != EX_OP) return; /* its normal form folded */
  const Expr *zero = expr_int(p, DT_I64, 0), *x = e->arg[0], *y = zero, *is;
  if (e->op == OP_SELECT) {
    case_add(p, s, (Literal){.e = x, .not = k == 1, .tag = tag});
    is = e->arg[k + 1];
  } else {
    bool least = e->op == OP_MIN || e->op == OP_FMIN;
    if (e->op != OP_ABS) y = e->arg[1];
    is = k == 0 ? x : e->op == OP_ABS ? expr_op1(p, OP_NEG, x) : y;
    add_ineq(p, s, (k == 0) == least ? x : y, 0, (k == 0) == least ? y : x, tag);
  }
  add_ineq(p, s, e, 0, is, tag);
  add_ineq(p, s, is, 0, e, tag);
}

static void case_copy(Case *to, const Case *s) {
  case_new(to);
  to->none = s->none;
  to->dropped = s->dropped;
  to->n_ineq = s->n_ineq;
  to->n_opaque = s->n_opaque;
  memcpy(to->ineq, s->ineq, s->n_ineq * sizeof s->ineq[0]);
  memcpy(to->opaque, s->opaque, s->n_opaque * sizeof s->opaque[0]);
}

void case_split(Exprs *p, Case *to, const Case *s, int k) {
  Literal l = s->split[0];
  case_copy(to, s);
  to->n_split = s->n_split - 1;
  memcpy(to->split, s->split + 1, to->n_split * sizeof s->split[0]);
  uint32_t tag = l.tag | T_SPLIT;
  const Expr *e = l.e;
  if (l.meaning) {
    add_meaning(p, to, e, k, tag);
  } else if (e->op == OP_SELECT) {
    case_add(p, to, (Literal){.e = e->arg[0], .not = k == 1, .tag = tag});
    case_add(p, to, (Literal){.e = e->arg[k + 1], .not = l.not, .tag = tag});
  } else if (e->op == OP_AND || e->op == OP_OR) { /* the second and not the first, or the first */
    case_add(p, to, (Literal){.e = e->arg[k], .not = l.not, .tag = tag});
    if (k == 1) case_add(p, to, (Literal){.e = e->arg[0], .not = !l.not, .tag = tag});
  } else { /* two integers differ */
    const Expr *a = expr_cast(p, DT_I64, e->arg[k]), *b = expr_cast(p, DT_I64, e->arg[1 - k]);
    add_ineq(p, to, a, 1, b, tag);
  }
}
