/* expr/prove/prove.c - the prover (prove.h). Splits a goal at its `and`s and proves each part by contradiction: the
 * facts and the negation of the part, without what may wrap (wrap.c), become cases (cases.c), and each case a linear
 * system (linear.c); if all systems are empty the part holds. If one is not, its shadow on the dims says for which
 * sizes: the negation of that shadow is the condition. The prover refutes a part only with a point at which the
 * language's evaluator finds that the facts hold and the part does not. */
#include "prove.h"

#include "expr/pool.h"
#include "proof.h"
#include "span.h"

enum { MOST_CASES = 8, QUICK_FACTS = 16 };

typedef struct Job { /* one part of a goal */
  Exprs *p;
  const Facts *f;
  const Expr *part;
  Proof *out;
  int cases;
  bool refuted, data, count; /* count: a system without dims that elimination cannot decide */
  const Expr *condition;     /* of the cases so far; NULL: true */
} Job;

/* ---- what needs no system -------------------------------------------------------------------- */

static const Expr *extent_of(const Facts *f, const Expr *e) {
  uint64_t k = (uint64_t)e->i;
  if (e->kind == EX_LABEL) return k < f->n_label ? f->label[k] : NULL;
  return e->kind == EX_TURN && k < f->n_turn ? f->turn[k] : NULL;
}

static bool quick_low(const Facts *f, const Expr *zero, const Expr *e) {
  return zero->kind == EX_INT && zero->i <= 0 && (e->kind == EX_TURN || extent_of(f, e));
}

static bool quick_high(Exprs *p, const Facts *f, const Expr *e, const Expr *most) {
  const Expr *extent = extent_of(f, e);
  if (!extent) return false;
  if (extent == most) return true;
  if (extent->kind == EX_INT && most->kind == EX_INT) return extent->i <= most->i;
  return expr_normal(p, extent) == expr_normal(p, most);
}

/* A comparison that holds by the ranges of both sides, each for itself. */
static bool quick_apart(const Facts *f, const Expr *low, const Expr *high, bool or_equal) {
  Reached a, b;
  if (!span_by_facts(low, f, &a) || !span_by_facts(high, f, &b)) return false;
  return or_equal ? a.most <= b.least : a.most < b.least;
}

/* 0 <= l, l < extent, true, anything that is literally a fact, and what ranges tell. */
static bool quick(Exprs *p, const Facts *f, const Expr *e) {
  if (e->kind == EX_INT) return e->i != 0;
  for (uint32_t i = 0; i < f->n_hold && i < QUICK_FACTS; i++)
    if (f->hold[i] == e) return true;
  if (e->kind != EX_OP || e->n != 2 || e->arg[0]->dtype != DT_I64) return false;
  switch (e->op) {
  case OP_LE: return quick_low(f, e->arg[0], e->arg[1]) || quick_apart(f, e->arg[0], e->arg[1], true);
  case OP_GE: return quick_low(f, e->arg[1], e->arg[0]) || quick_apart(f, e->arg[1], e->arg[0], true);
  case OP_LT: return quick_high(p, f, e->arg[0], e->arg[1]) || quick_apart(f, e->arg[0], e->arg[1], false);
  case OP_GT: return quick_high(p, f, e->arg[1], e->arg[0]) || quick_apart(f, e->arg[1], e->arg[0], false);
  default: return false;
  }
}

/* Whether a label has no values, so that there is nothing to prove. */
static bool vacuous(const Facts *f) {
  for (uint32_t k = 0; k < f->n_label; k++)
    if (f->label[k] && f->label[k]->kind == EX_INT && f->label[k]->i <= 0) return true;
  return false;
}

/* ---- a case that is not empty ---------------------------------------------------------------- */

static bool set_point(Point *at, const Linear *l, const int64_t *x) {
  for (uint32_t v = 0; v < l->n; v++) {
    const Expr *e = l->var[v];
    if (e->kind == EX_LABEL) {
      if (e->i >= MOST_LABELS) return false;
      at->label[e->i] = x[v];
    } else if (e->kind == EX_TURN) {
      if (e->i >= MOST_TURNS) return false;
      at->turn[e->i] = x[v];
    } else if (e->kind == EX_DIM) {
      at->dim[at->n_dim].name = e->name;
      at->dim[at->n_dim++].value = x[v];
    }
  }
  return true;
}

static bool refute_in(Job *j, const Linear *l, Fm *all, const bool *gone) {
  FmPast past = {.n_row = 0, .n_step = 0};
  Point at = {.p = j->p};
  int64_t x[FM_VARS];
  fm_eliminate_all(all, gone, &past);
  fm_eliminate_all(all, NULL, &past);
  if (all->none || !fm_point(&past, l->n, x) || !set_point(&at, l, x)) return false;
  if (!point_refutes(j->f, &at, j->part)) return false;
  point_give(j->p, j->f, &at, j->out);
  return j->refuted = true;
}

static bool same_size(void *ctx, Str name, int64_t *out) {
  (void)name;
  *out = *(int64_t *)ctx;
  return true;
}

/* Fixes variables without labels at their values where every dim is `size`: products of dims are not free. */
static void fix_sizes(const Linear *l, Fm *s, int64_t size) {
  ExprEnv env = {.dim = same_size, .ctx = &size};
  for (uint32_t v = 0; v < l->n; v++) {
    Value x;
    FmRow r;
    if (!expr_is_dims(l->var[v]) || !expr_value(l->var[v], &env, &x) || x.i < 0 || x.i > INT32_MAX) continue;
    for (int sign = -1; sign <= 1; sign += 2) {
      fm_row(&r, s->n_var);
      r.c[v] = sign;
      r.k = -sign * x.i;
      fm_add(s, &r);
    }
  }
}

/* Finds a point of the system at which the part fails: first with free sizes, then with all sizes equal. */
static bool refute(Job *j, const Linear *l, const bool *gone) {
  static const int64_t sizes[] = {1, 2, 3, 4, 6, 8, 12};
  Fm all;
  if (!facts_small(j->f)) return false;
  fm_copy(&all, &l->fm);
  if (refute_in(j, l, &all, gone)) return true;
  for (uint32_t i = 0; i < COUNT(sizes); i++) {
    fm_copy(&all, &l->fm);
    fix_sizes(l, &all, sizes[i]);
    if (refute_in(j, l, &all, gone)) return true;
  }
  return false;
}

/* The rows of `from` that have no tag in `not`. */
static void rows_without(Fm *to, const Fm *from, uint32_t not) {
  fm_new(to, from->n_var);
  to->lossy = from->lossy;
  for (uint32_t i = 0; i < from->n; i++)
    if (!(from->row[i].tag & not)) fm_add(to, &from->row[i]);
}

/* Whether the shadow contains every point: each row follows from facts that hold in all cases. */
static bool shadow_is_all(const Linear *l, const Fm *shadow) {
  Fm facts;
  rows_without(&facts, &l->fm, T_GOAL | T_SPLIT);
  for (uint32_t i = 0; i < shadow->n; i++) {
    const FmRow *r = &shadow->row[i];
    if ((r->tag & (T_GOAL | T_SPLIT)) && !fm_implies(&facts, r)) return false;
  }
  return true;
}

/* Marks the rows that are connected with the goal's; all of them if none is the goal's. */
static void mark_related(const Fm *s, bool *related) {
  bool grew = false;
  for (uint32_t i = 0; i < s->n; i++) grew |= related[i] = (s->row[i].tag & T_GOAL) != 0;
  for (uint32_t i = 0; !grew && i < s->n; i++) related[i] = true;
  while (grew) {
    grew = false;
    for (uint32_t i = 0; i < s->n; i++)
      for (uint32_t o = 0; !related[i] && o < s->n; o++)
        for (uint32_t v = 0; related[o] && !related[i] && v < s->n_var; v++)
          if (s->row[i].c[v] && s->row[o].c[v]) related[i] = grew = true;
  }
}

/* The negation of the shadow: an `or` over its rows, without those that always hold or follow from others. */
static const Expr *shadow_contrary(const Linear *l, const Fm *shadow) {
  bool keep[FM_ROWS];
  const Expr *e = NULL;
  mark_related(shadow, keep);
  for (uint32_t i = 0; i < shadow->n; i++) {
    Fm rest;
    if (!keep[i]) continue;
    fm_new(&rest, shadow->n_var);
    for (uint32_t o = 0; o < shadow->n; o++)
      if (o != i && (keep[o] || shadow->row[o].tag == T_BASE)) fm_add(&rest, &shadow->row[o]);
    keep[i] = shadow->row[i].tag != T_BASE && !fm_implies(&rest, &shadow->row[i]);
  }
  for (int goal = 1; goal >= 0; goal--)
    for (uint32_t i = 0; i < shadow->n; i++) {
      if (!keep[i] || ((shadow->row[i].tag & T_GOAL) != 0) != goal) continue;
      const Expr *not = row_expr(l, &shadow->row[i], true);
      e = e ? expr_op2(l->p, OP_OR, e, not) : not;
    }
  return e ? e : expr_bool(l->p, false);
}

/* Whether sizes matter, beyond being nonnegative. */
static bool has_dims(const Linear *l) {
  for (uint32_t i = 0; i < l->fm.n; i++) {
    const FmRow *r = &l->fm.row[i];
    bool dims = false, others = false;
    for (uint32_t v = 0; v < l->n; v++)
      if (r->c[v]) *(expr_is_dims(l->var[v]) ? &dims : &others) = true;
    if (dims && !(r->tag & T_OUT) && (others || r->tag != T_BASE)) return true;
  }
  return false;
}

/* Whether dims occur anywhere, so that an opaque part may hide one. */
static bool mentions_dims(const Job *j) {
  const Facts *f = j->f;
  unsigned has = j->part->has;
  for (uint32_t i = 0; i < f->n_hold; i++) has |= f->hold[i]->has;
  for (uint32_t i = 0; i < f->n_label; i++) has |= f->label[i] ? f->label[i]->has : 0;
  for (uint32_t i = 0; i < f->n_turn; i++) has |= f->turn[i] ? f->turn[i]->has : 0;
  return (has & HAS_DIM) != 0;
}

static void open_case(Job *j, const Case *s, const Linear *l) {
  bool gone[FM_VARS], whole = !l->partial && !s->dropped && !s->n_opaque && !s->n_split;
  Fm shadow;
  for (uint32_t v = 0; v < l->n; v++) gone[v] = !expr_is_dims(l->var[v]);
  if (!has_dims(l) && (whole || !mentions_dims(j))) {
    if (!refute(j, l, gone)) j->count = true;
    return;
  }
  rows_without(&shadow, &l->fm, T_OUT);
  fm_eliminate_all(&shadow, gone, NULL);
  if (shadow_is_all(l, &shadow)) {
    bool exact = whole && shadow.exact && !shadow.lossy;
    if (!exact || !refute(j, l, gone)) j->data = true;
    return;
  }
  const Expr *c = shadow_contrary(l, &shadow);
  if (c->kind == EX_INT)
    j->data = true;
  else if (c != j->condition)
    j->condition = expr_and(j->p, j->condition, c);
}

static void solve(Job *j, const Case *s) {
  if (s->none || j->refuted) return;
  Linear l;
  linear_new(&l, j->p, j->f);
  for (uint32_t i = 0; i < s->n_ineq; i++) linear_ineq(&l, &s->ineq[i]);
  linear_close(&l);
  if (fm_none(&l.fm)) return;
  if (s->n_split == 0 || j->cases == MOST_CASES) {
    open_case(j, s, &l);
    return;
  }
  j->cases++;
  for (int k = 0; k < 2; k++) {
    Case t;
    case_split(j->p, &t, s, k);
    solve(j, &t);
  }
}

/* ---- goals ----------------------------------------------------------------------------------- */

static Verdict prove_part(Exprs *p, const Facts *f, const Expr *part, Proof *out, const Expr **condition) {
  Job j = {.p = p, .f = f, .part = part, .out = out, .cases = 1};
  Case s;
  const Expr *few[8], **hold = f->n_hold <= COUNT(few) ? few : NEW_ARRAY(exprs_arena(p), const Expr *, f->n_hold),
                      *goal;
  bool wraps = without_wraps(p, f, part, true, hold, &goal);
  case_new(&s);
  case_add(p, &s, (Literal){.e = goal, .not = true, .tag = T_GOAL});
  for (uint32_t i = 0; i < f->n_hold; i++) case_add(p, &s, (Literal){.e = hold[i], .tag = T_FACT});
  solve(&j, &s);
  *condition = j.condition;
  out->wraps = out->wraps || (wraps && (j.data || j.count));
  if (j.refuted) return REFUTED;
  if (j.count) return enumerate(p, f, part, out);
  if (j.data) return OPEN_DATA;
  return j.condition ? OPEN_DIMS : PROVED;
}

static void take_part(Exprs *p, const Facts *f, const Expr *part, Proof *out) {
  const Expr *condition = NULL;
  if (quick(p, f, part)) return;
  Verdict v = prove_part(p, f, part, out, &condition);
  if (v == PROVED || (v == OPEN_DIMS && out->verdict == OPEN_DATA)) return;
  if (v == OPEN_DIMS) out->condition = expr_and(p, out->condition, condition);
  if (v == out->verdict) return; /* the first such part is kept */
  out->verdict = v;
  out->part = part;
}

Proof prove(Exprs *p, const Facts *facts, const Expr *goal) {
  Proof out = {.verdict = PROVED};
  if (vacuous(facts)) return out;
  if (goal->kind != EX_OP || goal->op != OP_AND) {
    take_part(p, facts, goal, &out);
  } else {
    Walk *w = walk_take(p);
    vec_push(p->arena, w->stack, goal);
    while (w->stack.len && out.verdict != REFUTED) {
      const Expr *e = vec_pop(w->stack);
      if (e->kind == EX_OP && e->op == OP_AND) {
        vec_push(p->arena, w->stack, e->arg[1]);
        vec_push(p->arena, w->stack, e->arg[0]);
      } else {
        take_part(p, facts, e, &out);
      }
    }
    walk_give(p, w);
  }
  if (out.verdict != OPEN_DIMS) out.condition = NULL;
  return out;
}
