/* expr/prove/nonempty.c - whether there is a value of the inner labels for every value of the others (prove.h). Each
 * case of the predicate, with the ranges of the inner labels, is a system. Eliminates those labels such that the
 * remaining rows are sufficient (the dark shadow); the `or` of the remaining conditions is a goal for prove(). */
#include "prove.h"
#include "proof.h"

enum { MOST_CASES = 8 };

typedef struct Search {
  Exprs *p;
  const Facts *f;    /* as given */
  const bool *inner;
  int cases;
  bool rough;        /* the condition found is sufficient, but perhaps not necessary */
  Facts outer;       /* over the other labels alone */
  const Expr *goal;  /* `or` of the cases so far; NULL: false */
} Search;

static bool mentions(const Search *s, const Expr *e) {
  bool used[MOST_LABELS] = {false};
  expr_labels(e, s->f->n_label, used);
  for (uint32_t k = 0; k < s->f->n_label; k++)
    if (used[k] && s->inner[k]) return true;
  return false;
}

/* Whether the variable may be eliminated like a free one: a label, or a variable that rows define. */
static bool may_go(const Expr *e) {
  if (e->kind == EX_LABEL) return true;
  if (e->kind != EX_OP) return false;
  if (e->op == OP_IDIV) return e->arg[1]->kind == EX_INT && e->arg[1]->i > 0;
  return e->op == OP_MAX || e->op == OP_MIN || e->op == OP_ABS || e->op == OP_SELECT || e->op == OP_FMAX ||
         e->op == OP_FMIN;
}

static void add_ranges(const Search *s, Linear *l) {
  const Expr *zero = expr_int(s->p, DT_I64, 0);
  for (uint32_t k = 0; k < s->f->n_label; k++) {
    if (!s->inner[k]) continue;
    const Expr *label = expr_label(s->p, k);
    linear_ineq(l, &(Ineq){zero, label, 0, T_FACT});
    linear_ineq(l, &(Ineq){label, s->f->label[k], 1, T_FACT});
  }
}

/* The remaining condition of a case without the inner labels, as an expression; NULL: no sufficient one. */
static const Expr *case_goal(Search *s, const Case *c) {
  Linear l;
  bool gone[FM_VARS];
  linear_new(&l, s->p, s->f);
  for (uint32_t i = 0; i < c->n_ineq; i++) linear_ineq(&l, &c->ineq[i]);
  add_ranges(s, &l);
  for (uint32_t v = 0; v < l.n; v++) {
    gone[v] = mentions(s, l.var[v]);
    if (gone[v] && !may_go(l.var[v])) return NULL;
    if (gone[v]) linear_define(&l, v);
  }
  l.fm.dark = true;
  fm_eliminate_all(&l.fm, gone, NULL);
  if (l.fm.none && l.fm.exact && !l.fm.lossy && !l.partial) return expr_bool(s->p, false);
  if (l.fm.none || l.fm.lossy || l.partial) return NULL;
  if (!l.fm.exact) s->rough = true;
  const Expr *goal = NULL;
  for (uint32_t i = 0; i < l.fm.n; i++) {
    const Expr *e = row_expr(&l, &l.fm.row[i], false);
    if (prove(s->p, &s->outer, e).verdict != PROVED) goal = expr_and(s->p, goal, e);
  }
  for (uint32_t i = 0; i < c->n_opaque; i++) {
    const Expr *e = c->opaque[i].e;
    if (mentions(s, e)) return NULL;
    goal = expr_and(s->p, goal, c->opaque[i].not ? expr_op1(s->p, OP_NOT, e) : e);
  }
  return goal ? goal : expr_bool(s->p, true);
}

static void search(Search *s, const Case *c) {
  if (c->none) return;
  if (c->n_split && s->cases < MOST_CASES) {
    s->cases++;
    for (int k = 0; k < 2; k++) {
      Case t;
      case_split(s->p, &t, c, k);
      search(s, &t);
    }
    return;
  }
  const Expr *goal = c->dropped || c->n_split ? NULL : case_goal(s, c);
  if (!goal)
    s->rough = true;
  else
    s->goal = s->goal ? expr_op2(s->p, OP_OR, s->goal, goal) : goal;
}

/* The facts over the other labels alone. */
static Facts outer_facts(const Search *s) {
  Arena *a = exprs_arena(s->p);
  Facts g = *s->f;
  const Expr **label = NEW_ARRAY(a, const Expr *, g.n_label), **hold = NEW_ARRAY(a, const Expr *, g.n_hold);
  uint32_t n = 0;
  for (uint32_t k = 0; k < g.n_label; k++) label[k] = s->inner[k] ? NULL : g.label[k];
  for (uint32_t i = 0; i < g.n_hold; i++)
    if (!mentions(s, g.hold[i])) hold[n++] = g.hold[i];
  g.label = label;
  g.hold = hold;
  g.n_hold = n;
  return g;
}

/* The predicate, which is to be proved, without what may wrap as far as the outer facts know. Returns whether
 * anything may. */
static bool where_exact(const Search *s, const Expr **where) {
  Facts f = s->outer;
  const Expr **hold = NEW_ARRAY(exprs_arena(s->p), const Expr *, f.n_hold);
  f.label = s->f->label;
  return without_wraps(s->p, &f, *where, false, hold, where);
}

Proof prove_nonempty(Exprs *p, const Facts *facts, const bool *inner, const Expr *where) {
  Search s = {.p = p, .f = facts, .inner = inner, .cases = 1};
  Proof unknown = {.verdict = OPEN_DATA, .part = where};
  if (facts->n_label > MOST_LABELS) return unknown;
  for (uint32_t k = 0; k < facts->n_label; k++)
    if (inner[k] && !facts->label[k]) return unknown;
  Case c;
  case_new(&c);
  s.outer = outer_facts(&s);
  const Expr *exact = where;
  bool wraps = where && where_exact(&s, &exact);
  if (where) case_add(p, &c, (Literal){.e = exact, .tag = T_FACT});
  search(&s, &c);
  Proof out = prove(p, &s.outer, s.goal ? s.goal : expr_bool(p, false));
  if (wraps) out.part = where;
  if (out.verdict == PROVED || out.verdict == OPEN_DIMS || !s.rough) return out;
  Verdict v = enumerate_nonempty(p, &s.outer, facts, inner, where, &unknown);
  unknown.verdict = v;
  return unknown;
}
