/* graph/passes/reductions/pass_either.c - splits a reduction over one range or another into one reduction per range:
 *
 *     sum[t where t == s or t == k[s]] x[t]       sum[t where t == s] x[t] + sum[t where t == k[s] and t != s] x[t]
 *     max[t where not (s <= t and t < s + 9)] x[t]  the larger one of max[t where t < s] x[t] and the one beyond
 *     sum[t where abs(t - k[s]) > 3] x[t]         the sums below k[s] - 3 and above k[s] + 3
 *
 * and a choice within what is reduced, by ranges of its label, into one reduction per range:
 *
 *     sum[j] (h[j - i] ?? x[j]) * x[j]            sum[j where 0 <= j - i and j - i < K] h[j - i] * x[j], and the sums
 *                                                 of x[j] * x[j] where j < i, and where j >= i + K
 *     sum[j] a[(i - j) % 9] * b[j]                sum[j where 0 <= i - j] a[i - j] * b[j], and beyond it the sum of
 *                                                 a[i - j + 9] * b[j]
 *
 * Each alternative then bounds its own loop, is a single point, or a running sum, while the whole tests all points for
 * each result. A point that several admit belongs to the first of them; the widest ones come first, since what is left
 * out is tested at each point. This is done where the ranges together have few of the points, or no more of them than
 * a choice has, whose test costs more than the point and whose excluded reads may lie beyond memory; and not if what is
 * reduced is computed for these labels together, as it is read: its kernel has loops of its own. */
#include "graph/passes/contract/contract.h"
#include "graph/passes/range.h"
#include "graph/passes/reach.h"

enum {
  PARTS_MOST = 32,           /* conjuncts */
  ALTERNATIVES_MOST = 8,
  POINTS_LEAST = 64,         /* that make a split worthwhile */
  FEWER = 4                  /* and how many times fewer the ranges have */
};

typedef struct Alternative {
  const Expr *own, *where;   /* its part of the condition, and the whole with it; */
  const Expr *body;          /*   what is then reduced; NULL: the vertex's. Points of other bodies are others */
  double points;             /* about how many it has per result */
} Alternative;

typedef struct Either {
  Rebuild b;
  Arena *scratch;
  int64_t proofs;            /* left for the graph */
  VEC(const Expr *) checks;

  const EinNode *n;          /* the current vertex, */
  EinSum sum;                /* with a condition of its body as part of its predicate, */
  uint32_t labels;           /* and its number of labels */
  const Expr *part[PARTS_MOST];
  uint32_t n_part, n_alternative;
  Alternative alternative[ALTERNATIVES_MOST];
} Either;

static uint64_t out_of(const Either *c) { return labels_below(c->sum.n_out); }
static uint64_t red_of(const Either *c) { return labels_below(c->labels) & ~out_of(c); }
static const Expr *integer(const Either *c, int64_t v) { return expr_int(c->b.old->exprs, DT_I64, v); }
/* ---- alternatives ------------------------------------------------------------------------------ */

static const Expr *not(Exprs *p, const Expr *e) {
  const Expr *to = expr_opposite(p, e);
  return to ? to : is_op(e, OP_NOT) ? e->arg[0] : expr_op1(p, OP_NOT, e);
}

static Facts facts_of(const Either *c, const Expr **turn) {
  Facts f = {.label = c->n->bound, .n_label = c->labels, .hold = c->checks.at, .n_hold = c->checks.len};
  facts_turns(&f, c->n->region, turn);
  return f;
}

/* A comparison whose opposite bounds a label from both sides: abs(t - k[s]) > 3, t // 4 != s // 4. NULL: another. */
static const Expr *outside(Either *c, const Expr *e) {
  Exprs *p = c->b.old->exprs;
  const Expr *in = expr_opposite(p, e), *turn[GRAPH_DEPTH + 1];
  Facts f = facts_of(c, turn);
  if (!in || e->arg[0]->dtype != DT_I64 || e->op == OP_EQ) return NULL;
  for (uint32_t l = c->sum.n_out; l < c->labels; l++) {
    if (!(in->labels >> l & 1)) continue;
    const Expr *made = bounds_of_label(p, &f, in, l, c->n->bound[l]), *label = expr_label(p, l), *way;
    made = range_of_quotients(p, &f, made, l, c->n->bound[l]);
    if (made == in || !is_op(made, OP_AND)) continue;
    const Expr *a = made->arg[0], *b = made->arg[1];
    int64_t strict;
    bool plain = compares_label(a, label) || bound_of_label(p, a, label, &way, &strict);
    plain &= compares_label(b, label) || bound_of_label(p, b, label, &way, &strict);
    if (plain && (a = expr_opposite(p, a)) && (b = expr_opposite(p, b))) return expr_op2(p, OP_OR, a, b);
  }
  return NULL;
}

/* abs(e) == w, of labels. */
static const Expr *both_signs(Exprs *p, const Expr *e) {
  for (uint32_t k = 0; k < 2 && e->op == OP_EQ; k++) {
    const Expr *x = e->arg[k], *w = e->arg[1 - k];
    if (!is_op(x, OP_ABS) || x->dtype != DT_I64 || x->has & HAS_READ || (x->labels & w->labels)) continue;
    const Expr *one = expr_op2(p, OP_EQ, x->arg[0], w), *other = expr_op2(p, OP_EQ, expr_op1(p, OP_NEG, x->arg[0]), w);
    return expr_and(p, expr_op2(p, OP_LE, expr_int(p, DT_I64, 0), w), expr_op2(p, OP_OR, one, other));
  }
  return NULL;
}

/* The condition as an `or`, or as an `and` around some; NULL: it is neither. */
static const Expr *opened(Either *c, const Expr *e, bool unequal) {
  Exprs *p = c->b.old->exprs;
  if (e->kind != EX_OP) return NULL;
  const Expr *a = e->arg[0], *made;
  if (is_op(e, OP_NOT) && (is_op(a, OP_AND) || is_op(a, OP_OR)))
    return expr_op2(p, a->op == OP_AND ? OP_OR : OP_AND, not(p, a->arg[0]), not(p, a->arg[1]));
  if (is_op(e, OP_SELECT) && e->dtype == DT_BOOL)
    return expr_op2(p, OP_OR, expr_and(p, a, e->arg[1]), expr_and(p, not(p, a), e->arg[2]));
  if (op_info[e->op].rule != RULE_COMPARE) return NULL;
  if ((made = both_signs(p, e)) || (made = outside(c, e))) return made;
  if (!unequal || e->op != OP_NE || a->dtype != DT_I64) return NULL;
  return expr_op2(p, OP_OR, expr_op2(p, OP_LT, a, e->arg[1]), expr_op2(p, OP_GT, a, e->arg[1]));
}

/* Puts into *to what alternatives c has as `and`s without `or` over reduced labels; false: too many. */
typedef struct Terms { uint32_t n; const Expr *at[ALTERNATIVES_MOST]; } Terms;

static bool terms_of(Either *c, const Expr *e, bool unequal, int depth, Terms *to) {
  Exprs *p = c->b.old->exprs;
  Terms a, b;
  const Expr *other = e->labels & red_of(c) && depth < 20 ? opened(c, e, unequal) : NULL;
  if (other) return terms_of(c, other, unequal, depth + 1, to);
  if (!(e->labels & red_of(c)) || (!is_op(e, OP_OR) && !is_op(e, OP_AND)) || depth >= 20)
    return *to = (Terms){1, {e}}, true;
  if (!terms_of(c, e->arg[0], unequal, depth + 1, &a) || !terms_of(c, e->arg[1], unequal, depth + 1, &b)) return false;
  *to = (Terms){0};
  if (e->op == OP_OR) {
    if (a.n + b.n > ALTERNATIVES_MOST) return false;
    for (uint32_t i = 0; i < a.n + b.n; i++) to->at[to->n++] = i < a.n ? a.at[i] : b.at[i - a.n];
    return true;
  }
  if (a.n * b.n > ALTERNATIVES_MOST) return false;
  for (uint32_t i = 0; i < a.n; i++)
    for (uint32_t k = 0; k < b.n; k++) to->at[to->n++] = expr_and(p, a.at[i], b.at[k]);
  return true;
}

/* ---- finding them -------------------------------------------------------------------------------- */

/* Whether no vertex is read at reduced labels and at others at once, in the body. */
static bool reads_apart(Either *c) {
  ExprNodes nodes = expr_nodes(c->scratch, c->sum.body, HAS_READ);
  for (const Expr *x; (x = expr_node(&nodes));) {
    uint64_t in = 0;
    for (uint32_t k = 0; k < x->n; k++) in |= x->arg[k]->labels;
    bool both = in & red_of(c) && in & out_of(c);
    if (x->kind == EX_READ && both && c->n->input[x->i]->kind == EIN_VERTEX) return false;
  }
  return true;
}

/* About how many points the vertex reduces per result under that predicate. */
static double points_of(Either *c, const Expr *where) {
  EinSum s = c->sum;
  s.where = where;
  return reach_points(c->scratch, c->b.old->exprs, &s, c->n->bound);
}

/* Conditions that may be tested where they were not before. */
static bool is_total(Either *c, const Expr *e) {
  return !(e->has & HAS_READ) || expr_is_total(c->scratch, c->b.old->exprs, c->n, e, NULL, &c->proofs);
}

/* Makes the alternatives of the predicate, in the order of its conjuncts. */
static bool alternatives_make(Either *c, bool unequal, double *whole) {
  Exprs *p = c->b.old->exprs;
  Terms terms[PARTS_MOST];
  uint32_t n = 1;
  for (uint32_t i = 0; i < c->n_part; i++) {
    if (!terms_of(c, c->part[i], unequal, 0, &terms[i]) || n * terms[i].n > ALTERNATIVES_MOST) return false;
    n *= terms[i].n;
  }
  *whole = points_of(c, c->sum.where);
  c->n_alternative = n;
  for (uint32_t k = 0; k < n && n > 1; k++) {
    Alternative *a = &c->alternative[k];
    *a = (Alternative){0};
    for (uint32_t i = 0, at = k; i < c->n_part; i++) {
      const Expr *e = terms[i].at[at % terms[i].n];
      if (terms[i].n > 1) a->own = expr_and(p, a->own, e);
      a->where = expr_and(p, a->where, e);
      at /= terms[i].n;
    }
    a->points = points_of(c, a->where);
  }
  return n > 1;
}

static bool alternatives_pay(Either *c, bool unequal) {
  double whole, split = 0;
  if (!alternatives_make(c, unequal, &whole)) return false;
  for (uint32_t k = 0; k < c->n_alternative; k++) split += c->alternative[k].points;
  if (whole < (double)POINTS_LEAST || split * (double)FEWER > whole) return false;
  for (uint32_t k = 0; k < c->n_alternative; k++)
    if (!is_total(c, c->alternative[k].own)) return false;
  return true;
}

/* The widest first; of equal ones, the first. */
static void alternatives_sort(Either *c) {
  for (uint32_t i = 1; i < c->n_alternative; i++)
    for (uint32_t k = i; k > 0 && c->alternative[k].points > c->alternative[k - 1].points; k--) {
      Alternative a = c->alternative[k];
      c->alternative[k] = c->alternative[k - 1], c->alternative[k - 1] = a;
    }
}

/* Without the points of those before it. */
static const Expr *alternative_where(Either *c, uint32_t at) {
  Exprs *p = c->b.old->exprs;
  const Expr *where = c->alternative[at].where, *part[PARTS_MOST];
  for (uint32_t k = 0; k < at; k++) {
    const Expr *other = NULL;
    uint32_t n = 0;
    if (c->alternative[k].body != c->alternative[at].body) continue;
    if (!op_parts(c->scratch, c->alternative[k].own, OP_AND, PARTS_MOST, part, &n)) n = 0;
    for (uint32_t i = 0; i < n; i++) other = other ? expr_op2(p, OP_OR, other, not(p, part[i])) : not(p, part[i]);
    where = expr_and(p, where, other ? other : not(p, c->alternative[k].own));
  }
  return where;
}

static bool is_identity(const Expr *e, const Expr *none) {
  return e == none || (e->kind == EX_REAL && none->kind == EX_REAL && e->f == none->f);
}

/* A choice of the identity counts as a predicate. */
static void choice_take(Either *c) {
  Exprs *p = c->b.old->exprs;
  const Expr *none = reducer_identity(p, &c->sum), *e = c->sum.body;
  if (!none || !is_op(e, OP_SELECT)) return;
  bool otherwise = !is_identity(e->arg[2], none);
  if (otherwise && !is_identity(e->arg[1], none)) return;
  c->sum.where = expr_and(p, c->sum.where, otherwise ? not(p, e->arg[0]) : e->arg[0]);
  c->sum.body = e->arg[otherwise ? 2 : 1];
}

/* ---- a choice within what is reduced --------------------------------------------------------------- */

/* Whether a vertex is an index or a condition of labels alone, such as a def's argument that is used several times. */
static bool is_index(const EinNode *n) {
  const EinSum *s = n->sum;
  if (n->kind != EIN_VERTEX || s->by || s->reducer != RED_NONE || s->domain || s->n_out != n->rank) return false;
  for (uint32_t k = 0; n->merge && k < n->rank; k++)
    if (n->merge[k] != 1) return false;
  return (n->dtype == DT_I64 || n->dtype == DT_BOOL) && !(s->body->has & (HAS_READ | HAS_TURN));
}

static const Expr *leaf_index(void *env, Exprs *p, const Expr *leaf) {
  const EinNode *n = env, *of = leaf->kind == EX_READ ? n->input[leaf->i] : NULL;
  return of && is_index(of) ? expr_relabel(p, of->sum->body, leaf->n, leaf->arg) : leaf;
}

/* A choice: all those with one condition, or an index that wraps around at most once. */
typedef struct Chosen {
  const Expr *of;            /* the condition, or the remainder */
  uint32_t n, at;            /* the ways, and the current one: */
  const Expr *cond[3];       /*   when it is taken, */
  const Expr *wrapped[3];    /*   and what the remainder then is */
} Chosen;

static void way_add(Chosen *to, const Expr *cond, const Expr *wrapped) {
  to->cond[to->n] = cond;
  to->wrapped[to->n++] = wrapped;
}

static bool is_proved(Either *c, const Expr *a, Op op, const Expr *b) {
  const Expr *turn[GRAPH_DEPTH + 1];
  Facts f = facts_of(c, turn);
  return prove(c->b.old->exprs, &f, expr_op2(c->b.old->exprs, op, a, b)).verdict == PROVED;
}

/* (i - j) % n is i - j where that is from 0 to below n; else i - j + n, or i - j - n. */
static bool wrap_take(Either *c, const Expr *e, Chosen *to) {
  Exprs *p = c->b.old->exprs;
  const Expr *at = e->arg[0], *n = e->arg[1], *zero = integer(c, 0);
  if (e->dtype != DT_I64 || n->kind != EX_INT || n->i < 1 || n->i > INT32_MAX) return false;
  bool low = is_proved(c, zero, OP_LE, at), high = is_proved(c, at, OP_LT, n);
  if (!low && !is_proved(c, integer(c, -n->i), OP_LE, at)) return false;
  if (!high && !is_proved(c, at, OP_LT, integer(c, 2 * n->i))) return false;
  const Expr *from = low ? NULL : expr_op2(p, OP_LE, zero, at), *below = high ? NULL : expr_op2(p, OP_LT, at, n);
  way_add(to, expr_and(p, from, below), at);
  if (!low) way_add(to, expr_op2(p, OP_LT, at, zero), expr_op2(p, OP_ADD, at, n));
  if (!high) way_add(to, expr_op2(p, OP_LE, n, at), expr_op2(p, OP_SUB, at, n));
  return to->n > 1;
}

/* Finds a choice in the body by labels of which one is reduced. */
static bool choice_find(Either *c, Chosen *to) {
  ExprNodes nodes = expr_nodes(c->scratch, c->sum.body, HAS_LABEL);
  for (const Expr *e; (e = expr_node(&nodes));) {
    bool choice = is_op(e, OP_SELECT);
    if (!choice && !is_op(e, OP_MOD)) continue;
    uint64_t red = e->arg[0]->labels & red_of(c);
    if (!red || red & (red - 1) || e->arg[0]->has & HAS_READ) continue;
    *to = (Chosen){.of = choice ? e->arg[0] : e};
    if (choice) way_add(to, e->arg[0], NULL), way_add(to, not(c->b.old->exprs, e->arg[0]), NULL);
    if (choice || wrap_take(c, e, to)) return true;
  }
  return false;
}

static const Expr *op_chosen(void *env, Exprs *p, const Expr *e) {
  const Chosen *k = env;
  (void)p;
  if (e == k->of && k->wrapped[k->at]) return k->wrapped[k->at];
  return is_op(e, OP_SELECT) && e->arg[0] == k->of ? e->arg[1 + k->at] : e;
}

/* Whether loops over its reduced label begin or end with each conjunct. */
static bool is_range(Either *c, const Expr *own) {
  const Expr *part[PARTS_MOST];
  uint32_t n = 0, l = c->sum.n_out;
  if (!op_parts(c->scratch, own, OP_AND, PARTS_MOST, part, &n)) return false;
  while (!(own->labels >> l & 1)) l++;
  for (uint32_t i = 0; i < n; i++)
    if (part[i]->labels & red_of(c) && !reach_ends(c->b.old->exprs, &c->sum, c->n->bound, part[i], l)) return false;
  return true;
}

/* Adds the alternatives of the choice's current way; false: too many, or not all are ranges. */
static bool way_take(Either *c, Chosen *chosen) {
  Exprs *p = c->b.old->exprs;
  Terms terms;
  if (!terms_of(c, chosen->cond[chosen->at], false, 0, &terms)) return false;
  if (c->n_alternative + terms.n > ALTERNATIVES_MOST) return false;
  const Expr *body = expr_map_ops(p, c->sum.body, op_chosen, chosen);
  for (uint32_t i = 0; i < terms.n; i++) {
    const Expr *own = terms.at[i];
    if (!(own->labels & red_of(c)) || !is_range(c, own)) return false;
    c->alternative[c->n_alternative++] = (Alternative){own, expr_and(p, c->sum.where, own), body, 0};
  }
  return true;
}

/* Makes the alternatives of a choice; false: there is none, or they have more points than the whole. */
static bool choice_pays(Either *c) {
  const Expr *body = c->sum.body;
  Chosen chosen = {0};
  double whole = points_of(c, c->sum.where), split = 0;
  c->n_alternative = 0;
  if (red_is_arg(&c->sum) || whole < (double)POINTS_LEAST || !choice_find(c, &chosen)) return false;
  for (; chosen.at < chosen.n; chosen.at++)
    if (!way_take(c, &chosen)) return false;
  for (uint32_t k = 0; k < c->n_alternative; k++) {
    c->sum.body = c->alternative[k].body;
    split += c->alternative[k].points = points_of(c, c->alternative[k].where);
  }
  c->sum.body = body;
  return split <= whole + (double)c->n_alternative; /* ends are counted twice */
}

static bool may_split(const EinNode *n) {
  const EinSum *s = n->sum;
  if (!s->n_red || !s->n_out || s->n_out + s->n_red >= ORDER_LABELS || (s->domain && !red_is_arg(s))) return false;
  for (uint32_t k = 0; k < s->n_out + s->n_red; k++)
    if (expr_is_int(n->bound[k], 0)) return false;
  if (red_is_arg(s)) return s->n_red == 1 && s->where;
  return reducer_info[s->reducer].combine != OPS;
}

static bool split_find(Either *c, const EinNode *n) {
  if (n->kind != EIN_VERTEX || n->sum->by || !may_split(n)) return false;
  c->n = n;
  c->sum = *n->sum;
  c->labels = c->sum.n_out + c->sum.n_red;
  c->sum.body = expr_map(c->b.old->exprs, n->sum->body, leaf_index, (void *)(uintptr_t)n);
  if (reads_apart(c) && choice_pays(c)) return true;
  c->sum.body = n->sum->body;
  if (!reads_apart(c)) return false;
  choice_take(c);
  if (!c->sum.where || !(c->sum.where->labels & red_of(c))) return false;
  if (!op_parts(c->scratch, c->sum.where, OP_AND, PARTS_MOST, c->part, &c->n_part)) return false;
  if (red_is_arg(&c->sum) && !is_total(c, c->sum.body)) return false;
  uint32_t unequal = 0; /* a single one is left to graph_classes, except for a place */
  for (uint32_t i = 0; i < c->n_part; i++) unequal += is_op(c->part[i], OP_NE);
  return alternatives_pay(c, false) || (unequal > (red_is_arg(&c->sum) ? 0 : 1) && alternatives_pay(c, true));
}

/* ---- the vertices -------------------------------------------------------------------------------- */

typedef struct Made {
  Either *c;
  EinRegion *region;
  VEC(EinNode *) slot;       /* the vertex's, then those made here */
} Made;

/* A vertex over all labels; there: where it has a value; NULL: everywhere. Returns the slot that reads it. */
static uint32_t part_make(Made *m, EinSum s, EinNode *there, const char *word, uint32_t at) {
  Either *c = m->c;
  EinGraph *g = c->b.g;
  const Expr **own = exprs_labels(c->scratch, g->exprs, s.n_out);
  EinNode **slot = COPY_ARRAY(c->b.arena, EinNode *, m->slot.at, c->n->sum->n_slot, c->n->sum->n_slot + 1);
  slot[c->n->sum->n_slot] = there;
  s.n_slot = c->n->sum->n_slot + (there ? 1 : 0);
  s.domain = there ? expr_read(g->exprs, DT_BOOL, c->n->sum->n_slot, s.n_out, own) : NULL;
  EinNode *made = rebuild_part(&c->b, m->region, c->n, &s, c->n->bound, c->n->label, slot);
  if (c->n->name) made->name = strings_printf(g->strings, "%s.%s%u", c->n->name->s, word, at + 1);
  vec_push(c->b.arena, m->slot, made);
  return m->slot.len - 1;
}

static const Expr *part_read(Made *m, uint32_t slot) {
  Exprs *p = m->c->b.g->exprs;
  uint32_t n = m->c->sum.n_out;
  return expr_read(p, m->slot.at[slot]->dtype, slot, n, exprs_labels(m->c->scratch, p, n));
}

static const Expr *values_joined(Made *m) {
  Either *c = m->c;
  const Expr *all = NULL;
  for (uint32_t k = 0; k < c->n_alternative; k++) {
    EinSum s = c->sum;
    s.dtype = s.acc;
    s.where = alternative_where(c, k);
    if (c->alternative[k].body) s.body = c->alternative[k].body;
    const Expr *one = part_read(m, part_make(m, s, NULL, "", k));
    all = all ? expr_op2(c->b.g->exprs, (Op)reducer_info[s.reducer].combine, all, one) : one;
  }
  return all;
}

/* Whether value v at place i comes before w at k: a NaN does, then the larger (smaller) one, then the first. */
static const Expr *beats(const Either *c, const Expr *v, const Expr *i, const Expr *w, const Expr *k) {
  Exprs *p = c->b.g->exprs;
  const Expr *more = expr_op2(p, c->sum.reducer == RED_ARGMAX ? OP_GT : OP_LT, v, w),
             *even = expr_op2(p, OP_EQ, v, w), *first = expr_op2(p, OP_LT, i, k);
  if (dtype_is_float((DType)v->dtype)) {
    const Expr *v_nan = expr_op1(p, OP_ISNAN, v), *w_nan = expr_op1(p, OP_ISNAN, w);
    more = expr_op2(p, OP_OR, more, expr_op2(p, OP_AND, v_nan, expr_op1(p, OP_NOT, w_nan)));
    even = expr_op2(p, OP_OR, even, expr_op2(p, OP_AND, v_nan, w_nan));
  }
  return expr_op2(p, OP_OR, more, expr_op2(p, OP_AND, even, first));
}

/* Of argmax and argmin: the place in each range that has one, and the best of their values. */
static const Expr *places_joined(Made *m) {
  Either *c = m->c;
  Exprs *p = c->b.g->exprs;
  const Expr *place = NULL, *value = NULL, *some = NULL, *to[64] = {0};
  for (uint32_t k = 0; k < c->n_alternative; k++) {
    EinSum s = c->sum, any = s;
    s.where = any.where = alternative_where(c, k);
    any.reducer = RED_ANY, any.dtype = any.acc = DT_BOOL, any.body = expr_bool(p, true);
    uint32_t there = part_make(m, any, NULL, "is", k), at = part_make(m, s, m->slot.at[there], "", k);
    const Expr *is = part_read(m, there), *i = part_read(m, at);
    to[c->sum.n_out] = i;
    const Expr *v = expr_relabel(p, c->sum.body, c->labels, to);
    if (!place) {
      place = i, value = v, some = is;
      continue;
    }
    const Expr *wins = expr_op2(p, OP_OR, expr_op1(p, OP_NOT, some), beats(c, v, i, value, place));
    wins = expr_op2(p, OP_AND, is, wins);
    place = expr_select(p, wins, i, place), value = expr_select(p, wins, v, value);
    some = expr_op2(p, OP_OR, some, is);
  }
  return place;
}

static EinNode *split_make(Either *c, EinRegion *r) {
  Made m = {.c = c, .region = r};
  for (uint32_t i = 0; i < c->n->sum->n_slot; i++) vec_push(c->b.arena, m.slot, rebuild_to(&c->b, c->n->input[i]));
  alternatives_sort(c);
  EinSum s = *c->n->sum;
  s.body = red_is_arg(&s) ? places_joined(&m) : values_joined(&m);
  if (red_is_arg(&s)) s.acc = s.dtype;
  s.where = NULL, s.monoid = NULL, s.reducer = RED_NONE, s.n_red = 0;
  s.n_slot = m.slot.len;
  return rebuild_vertex(&c->b, r, c->n, &s, c->n->bound, c->n->label, m.slot.at);
}

/* ---- the pass ------------------------------------------------------------------------------------ */

static EinNode *split(void *env, Rebuild *b, EinRegion *r, const EinNode *n) {
  Either *c = env;
  if (!split_find(c, n)) return rebuild_copy(b, r, n);
  rebuild_note(b, "one range after the other", n->place);
  return split_make(c, r);
}

static bool some_split(Either *c, const EinRegion *r) {
  for (uint32_t i = 0; i < r->nodes.len; i++)
    if (split_find(c, r->nodes.at[i]) || (r->nodes.at[i]->kind == EIN_REPEAT && some_split(c, r->nodes.at[i]->body)))
      return true;
  return false;
}

EinGraph *graph_either(Arena *a, const EinGraph *g, PassNotes *notes) {
  static const RebuildRules rules = {.vertex = split};
  Either c = {.b = {.arena = a, .old = g, .pass = "either", .notes = notes}, .scratch = arena_new()};
  c.proofs = 1000 + 4 * (int64_t)g->n_nodes;
  for (uint32_t i = 0; i < g->checks.len && i < 16; i++) vec_push(c.scratch, c.checks, g->checks.at[i].cond);
  bool some = some_split(&c, g->top);
  EinGraph *made = rebuild_free(&c.b, a, g, &rules, &c, c.scratch);
  return some ? graph_simplify(a, made, notes) : made;
}
