/* graph/grad/adjoint.c - differentiates one vertex: from its adjoint to its contribution to each tensor that it
 * reads. Every term of the scalar derivative becomes a sum over the points that read an element, found by inverting
 * the index map. */
#include <math.h>

#include "expr/prove/prove.h"
#include "inside.h"

typedef struct From {        /* the current vertex */
  Gradients *all;
  EinRegion *r;
  EinNode *m;
  EinSum s;                  /* its sum, whose slots are ids */
  uint32_t labels;
  const Expr **at;           /* its output, over its labels: one index per dimension */
  const Expr *some;          /* where its adjoint may be nonzero, as far as labels tell (NULL: anywhere) */
} From;

static Exprs *pool(const From *f) { return f->all->g->exprs; }

const Expr *id_read(Gradients *all, EinNode *n, uint32_t rank, const Expr *const *index) {
  while (all->by_id.len <= n->id) vec_push(all->arena, all->by_id, NULL);
  all->by_id.at[n->id] = n;
  return expr_read(all->g->exprs, n->dtype, n->id, rank, index);
}

EinNode *adjoint_new(
    Gradients *all, EinRegion *r, EinSum *s, const Expr *const *bound, const Str *label, Str name, Place place) {
  EinNode **input = graph_canonical_slots(all->g, s, all->by_id.at);
  EinNode *n = graph_vertex(all->g, r, graph_sum(all->g, s), bound, label, 0, NULL, input);
  n->name = name;
  n->place = place;
  return n;
}

/* ---- the vertex as it is ------------------------------------------------------------------------------- */

static const Expr *leaf_by_id(void *env, Exprs *p, const Expr *e) {
  const From *f = env;
  (void)p;
  return e->kind == EX_READ ? id_read(f->all, f->m->input[e->i], e->n, e->arg) : e;
}

static void output_places(From *f) {
  const EinNode *m = f->m;
  f->at = NEW_ARRAY(f->all->arena, const Expr *, m->rank + 1);
  for (uint32_t k = 0, l = 0; k < m->rank; l += m->merge[k], k++) {
    f->at[k] = expr_label(pool(f), l);
    for (uint32_t j = 1; j < m->merge[k]; j++)
      f->at[k] =
          expr_op2(pool(f), OP_ADD, expr_op2(pool(f), OP_MUL, f->at[k], m->bound[l + j]), expr_label(pool(f), l + j));
  }
}

static From from_vertex(Gradients *all, EinRegion *r, EinNode *m) {
  From f = {.all = all, .r = r, .m = m, .s = *m->sum, .labels = m->sum->n_out + m->sum->n_red};
  f.s.by = NULL; /* a C function makes the result, but not its contributions */
  sum_map(pool(&f), &f.s, leaf_by_id, &f);
  output_places(&f);
  return f;
}

enum { SOME_DEEP = 16, SOME_RANK = 62 };

/* Of a conjunction, the parts that tell by the first n_out labels alone whether there is a result. */
static const Expr *where_outer(Exprs *p, const Expr *where, uint32_t n_out) {
  if (!where) return NULL;
  if (where->kind == EX_OP && where->op == OP_AND)
    return expr_and(p, where_outer(p, where->arg[0], n_out), where_outer(p, where->arg[1], n_out));
  return (where->has & HAS_READ) || where->labels >> n_out ? NULL : where;
}

static bool is_zero(const Expr *e) {
  return e->kind == EX_REAL && !(e->f < 0) && !(e->f > 0) && !isnan(e->f);
}

static const Expr *some_of(Exprs *p, const EinNode *n, const Expr *e, uint32_t deep);

/* The same for a vertex, over its output labels. A sum is 0 where its predicate admits no point. */
static const Expr *some_value(Exprs *p, const EinNode *n, uint32_t deep) {
  if (n->kind != EIN_VERTEX || n->rank != n->sum->n_out || n->rank > SOME_RANK) return NULL;
  if (n->sum->reducer == RED_SUM) return where_outer(p, n->sum->where, n->rank);
  return n->sum->reducer == RED_NONE ? some_of(p, n, n->sum->body, deep) : NULL;
}

/* The same for what a map reads at its own labels. */
static const Expr *some_read(Exprs *p, const EinNode *n, const Expr *e, uint32_t deep) {
  return exprs_are_labels(e->n, e->arg) ? some_value(p, n->input[e->i], deep) : NULL;
}

/* Where e may be nonzero, as far as conditions on labels tell, over the labels of map n, of whose body it is a part;
 * NULL: anywhere. An adjoint that is chosen is 0 elsewhere, and so is a product with it as a factor. */
static const Expr *some_of(Exprs *p, const EinNode *n, const Expr *e, uint32_t deep) {
  if (!deep--) return NULL;
  if (e->kind == EX_READ) return some_read(p, n, e, deep);
  if (e->kind != EX_OP) return NULL;
  if (e->op == OP_NEG || e->op == OP_CAST || e->op == OP_DIV) return some_of(p, n, e->arg[0], deep);
  if (e->op != OP_SELECT && e->op != OP_MUL && e->op != OP_ADD && e->op != OP_SUB) return NULL;
  const Expr *none = e->arg[e->n - 1], *inner = some_of(p, n, e->arg[e->op == OP_SELECT], deep), *own = NULL;
  if (e->op == OP_ADD || e->op == OP_SUB) return inner && inner == some_of(p, n, none, deep) ? inner : NULL;
  if (e->op == OP_MUL) own = some_of(p, n, none, deep);
  else if (is_zero(e->arg[1])) return some_of(p, n, none, deep);
  else if (!is_zero(none)) return NULL;
  else own = where_outer(p, e->arg[0], n->sum->n_out);
  return own == inner ? own : expr_and(p, own, inner);
}

/* The same for its adjoint, over the labels of the current vertex. */
static const Expr *where_some(From *f, const EinNode *adjoint) {
  const Expr *some = adjoint ? some_value(pool(f), adjoint, SOME_DEEP) : NULL;
  return some ? expr_relabel(pool(f), some, adjoint->rank, f->at) : NULL;
}

static const Expr *read_result(From *f, EinNode *of) { return id_read(f->all, of, f->m->rank, f->at); }

/* ---- reducers ------------------------------------------------------------------------------------------ */

/* A vertex over the same labels, output and reduced. */
static EinNode *beside(From *f, EinSum *s) {
  s->n_out = f->s.n_out, s->n_red = f->s.n_red;
  return adjoint_new(f->all, f->r, s, f->m->bound, f->m->label, NULL, f->m->place);
}

static const Expr *own_labels(From *f, EinNode *of, uint32_t n) {
  return id_read(f->all, of, n, exprs_labels(f->all->arena, pool(f), n));
}

/* Whether the predicate admits a point, over the labels from n_out on, wherever `holds` does. */
static bool admits_some(
    From *f, const Expr *where, const Expr *holds, uint32_t n_out, uint32_t labels, const Expr *const *bound) {
  bool inner[64] = {0};
  if (where == holds) return true;
  if (labels > 62) return false;
  for (uint32_t k = n_out; k < labels; k++) inner[k] = true;
  Facts facts = {.label = bound, .n_label = labels, .hold = &holds, .n_hold = holds != NULL};
  return prove_nonempty(pool(f), &facts, inner, where).verdict == PROVED;
}

/* The condition that there is a point at all, and so a first best one. */
static const Expr *some_admitted(From *f, const Expr *where) {
  Exprs *p = pool(f);
  const Expr *some = f->s.domain;
  if (where && admits_some(f, where, some, f->s.n_out, f->labels, f->m->bound)) return some;
  if (where) {
    EinSum any = {.reducer = RED_ANY,
        .acc = DT_BOOL,
        .dtype = DT_BOOL,
        .body = expr_bool(p, true),
        .where = where,
        .domain = f->s.domain};
    return expr_and(p, some, own_labels(f, beside(f, &any), f->s.n_out));
  }
  for (uint32_t k = f->s.n_out; k < f->labels; k++) {
    const Expr *is = expr_op2(p, OP_LE, expr_int(p, DT_I64, 1), f->m->bound[k]);
    if (!expr_is_int(is, 1)) some = expr_and(p, some, is);
  }
  return some;
}

/* For max and min: whether this is the first point that attains it. */
static const Expr *is_best(From *f) {
  Exprs *p = pool(f);
  Reducer r = f->s.reducer;
  bool skips = r == RED_FMAX || r == RED_FMIN;
  const Expr *number = skips ? expr_op1(p, OP_NOT, expr_op1(p, OP_ISNAN, f->s.body)) : NULL;
  if (number) f->s.where = expr_and(p, f->s.where, number);
  EinSum arg = {.reducer = r == RED_MAX || r == RED_FMAX ? RED_ARGMAX : RED_ARGMIN,
      .acc = f->s.acc,
      .dtype = DT_I64,
      .body = f->s.body,
      .where = f->s.where,
      .domain = some_admitted(f, f->s.where)};
  const Expr *best = own_labels(f, beside(f, &arg), f->s.n_out), *here = expr_int(p, DT_I64, 0);
  for (uint32_t k = f->s.n_out; k < f->labels; k++)
    here = expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, here, f->m->bound[k]), expr_label(p, k));
  return expr_op2(p, OP_EQ, here, best);
}

/* What the reducer makes of all points except this one that `op` admits: OP_LT those before it, OP_GT those after it,
 * OP_NE all others. */
static const Expr *others(From *f, Op op) {
  Exprs *p = pool(f);
  uint32_t n = f->labels, red = f->s.n_red;
  const Expr **to = NEW_ARRAY(f->all->arena, const Expr *, n + 1),
             **bound = NEW_ARRAY(f->all->arena, const Expr *, n + red + 1), *differs = NULL, *same = NULL;
  Str *label = NEW_ARRAY(f->all->arena, Str, n + red + 1);
  for (uint32_t k = 0; k < n + red; k++) {
    uint32_t of = k < n ? k : k - red;
    bound[k] = f->m->bound[of];
    label[k] = k < n ? f->m->label[of] : strings_printf(f->all->g->strings, "%s~other", f->m->label[of]->s);
    if (k < n) continue;
    to[of] = expr_label(p, k);
    const Expr *one = expr_and(p, same, expr_op2(p, op, to[of], expr_label(p, of)));
    differs = differs ? expr_op2(p, OP_OR, differs, one) : one;
    if (op != OP_NE) same = expr_and(p, same, expr_op2(p, OP_EQ, to[of], expr_label(p, of)));
  }
  EinSum s = {.n_out = n, .n_red = red, .reducer = f->s.reducer, .monoid = f->s.monoid};
  s.acc = s.dtype = f->s.acc;
  s.domain = f->s.domain;
  s.body = expr_relabel(p, f->s.body, n, to);
  s.where = expr_and(p, differs, f->s.where ? expr_relabel(p, f->s.where, n, to) : NULL);
  return own_labels(f, adjoint_new(f->all, f->r, &s, bound, label, NULL, f->m->place), n);
}

/* ---- a user's monoid */

static const Expr *leaf_operand(void *env, Exprs *p, const Expr *e) {
  const Expr *const *operand = env;
  (void)p;
  return e->kind == EX_PARAM || e->kind == EX_READ ? operand[e->i] : e;
}

/* Of combine(combine(before, body), after), the adjoint of the body. While it is taken, reads of no node stand for
 * these and for the adjoint above. */
static Adjoint monoid_adjoint(From *f, const Expr *above, Op *stuck) {
  enum { BODY, BEFORE, AFTER, ABOVE, ALL };
  Exprs *p = pool(f);
  const Expr *combine = f->s.monoid->combine, *is[ALL], *of[ALL] = {[BODY] = f->s.body, [ABOVE] = above}, *value = NULL;
  for (uint32_t i = 0; i < ALL; i++) is[i] = expr_read(p, f->s.acc, i, 0, NULL);
  const Expr *inner = expr_map(p, combine, leaf_operand, (const Expr *[]){is[BEFORE], is[BODY]});
  const Expr *outer = expr_map(p, combine, leaf_operand, (const Expr *[]){inner, is[AFTER]});
  const bool active[ALL] = {[BODY] = true};
  Terms terms = {0};
  *stuck = expr_adjoint(f->all->arena, p, outer, NULL, (Adjoint){NULL, is[ABOVE]}, active, &terms);
  if (*stuck != OPS) return (Adjoint){0};
  of[BEFORE] = others(f, OP_LT), of[AFTER] = others(f, OP_GT);
  for (uint32_t i = 0; i < terms.len; i++) {
    const Expr *term = expr_cast(p, f->s.acc, adjoint_value(p, terms.at[i].adjoint));
    value = value ? expr_op2(p, OP_ADD, value, term) : term;
  }
  return (Adjoint){NULL, value ? expr_map(p, value, leaf_operand, of) : expr_real(p, f->s.acc, 0)};
}

/* The adjoint of the body, given that of the result; value NULL: the reducer has none, for the operation `stuck`. */
static Adjoint body_adjoint(From *f, const Expr *above, Op *stuck) {
  Exprs *p = pool(f);
  switch (f->s.reducer) {
    case RED_NONE: case RED_SUM: return (Adjoint){NULL, above};
    case RED_MAX: case RED_MIN: case RED_FMAX: case RED_FMIN: return (Adjoint){is_best(f), above};
    case RED_LSE: {
      const Expr *z = expr_cast(p, f->s.acc, read_result(f, f->m));
      const Expr *some = expr_op2(p, OP_NE, z, expr_op1(p, OP_NEG, expr_real(p, f->s.acc, HUGE_VAL)));
      return (Adjoint){some, expr_op2(p, OP_MUL, above, expr_op1(p, OP_EXP, expr_op2(p, OP_SUB, f->s.body, z)))};
    }
    case RED_PROD:
      if (f->s.n_red != 1) return (Adjoint){NULL, expr_op2(p, OP_MUL, above, others(f, OP_NE))};
      return (Adjoint){NULL, expr_op2(p, OP_MUL, expr_op2(p, OP_MUL, above, others(f, OP_LT)), others(f, OP_GT))};
    case RED_MONOID: return monoid_adjoint(f, above, stuck);
    default: return (Adjoint){0};
  }
}

/* ---- what a term comes to -------------------------------------------------------------------------------- */

static Str label_fresh(Gradients *all, const Str *names, uint32_t n, Str name) {
  Str s = name;
  for (uint32_t k = 2, i = 0; i < n; i++)
    if (names[i] == s) s = strings_printf(all->g->strings, "%s~%u", name->s, k++), i = UINT32_MAX;
  return s;
}

/* The reader's name for it, if it has a label there. */
static Str label_of(const From *f, const EinNode *n, const Expr *index, uint32_t d) {
  if (index->kind == EX_LABEL) return f->m->label[index->i];
  bool same = n->kind == EIN_VERTEX && n->rank == n->sum->n_out;
  return same ? n->label[d] : str_from(f->all->g->strings, "x");
}

/* ---- a window's edge ------------------------------------------------------------------------------------- */

typedef struct Edge { Exprs *p; const Inverse *t; const Expr *within, *beside; } Edge;

static bool is_inside(const Inverse *t, const Expr *e) {
  if (e->kind == EX_LABEL && !t->inside[e->i]) return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (!is_inside(t, e->arg[k])) return false;
  return true;
}

static bool is_read(const Expr *e) {
  return e->kind == EX_READ || (e->kind == EX_OP && e->op == OP_CAST && e->arg[0]->kind == EX_READ);
}

static const Expr *times(Exprs *p, const Expr *a, const Expr *b) { return a ? expr_op2(p, OP_MUL, a, b) : b; }

static void factors_part(Edge *e, const Expr *v) {
  if (v->kind == EX_OP && v->op == OP_MUL) {
    factors_part(e, v->arg[0]);
    factors_part(e, v->arg[1]);
    return;
  }
  const Expr **to = is_read(v) && is_inside(e->t, v) ? &e->beside : &e->within;
  *to = times(e->p, *to, v);
}

enum { STEP_MOST = 4, STEPS_MOST = 2 }; /* sixteen parts */

static bool is_step(const Expr *e) {
  return is_op(e, OP_EQ) && is_op(e->arg[0], OP_MOD) && e->arg[0]->arg[1]->kind == EX_INT &&
      e->arg[0]->arg[1]->i <= STEP_MOST;
}

/* The conditions without those on remainders, which go to *steps: only every second point of a strided window, say, has
 * read x. As a predicate they divide the sum (pass_remainders.c). */
static const Expr *steps_apart(Exprs *p, const Expr *where, const Expr **steps) {
  const Expr *others = NULL;
  int n = 0;
  for (const Expr *e = where, *last; e; e = e == last ? NULL : e->arg[0]) {
    last = is_op(e, OP_AND) ? e->arg[1] : e;
    bool step = is_step(last) && n++ < STEPS_MOST;
    const Expr **to = step ? steps : &others;
    *to = *to ? expr_and(p, last, *to) : last;
  }
  return others;
}

/* Whether all sizes are numbers, as those of a sum that is divided must be. */
static bool are_numbers(uint32_t n, const Expr *const *bound) {
  for (uint32_t k = 0; k < n; k++)
    if (bound[k]->kind != EX_INT) return false;
  return true;
}

/* For a product with some factors that exist at the window's edge and beyond, such as a convolution's kernel:
 * chooses the other factors, and reads those unconditionally, as in (G[x-j] ?? 0) * K[j]. So it is an ordinary
 * contraction, without a condition on each point. NULL: it has no such form, or data tell for each of its points which
 * element has been read, so that each is put to that. */
static const Expr *product_chosen(From *f, const Inverse *t, bool divides, const Expr *value, const Expr **steps) {
  Edge e = {.p = pool(f), .t = t};
  factors_part(&e, value);
  const Expr *where = expr_and(e.p, divides ? steps_apart(e.p, t->where, steps) : t->where, t->match);
  if (!e.within || !e.beside || (!where && !*steps)) return NULL;
  const Expr *beside = expr_relabel(e.p, e.beside, f->labels, t->to);
  if (t->match && t->match->has & HAS_READ && beside->labels & t->match->labels) return NULL;
  const Expr *within = expr_relabel(e.p, e.within, f->labels, t->to), *none = expr_real(e.p, (DType)within->dtype, 0);
  const Expr *chosen = where ? expr_select(e.p, where, within, none) : within;
  return times(e.p, chosen, beside);
}

/* ---- factors before a sum ---------------------------------------------------------------------------------- */

/* Whether it is 0 wherever the one tensor in it is. */
static bool is_scaled(const Expr *e) {
  if (e->kind == EX_OP && e->op == OP_MUL)
    return !(e->arg[0]->has & HAS_READ) ? is_scaled(e->arg[1]) : !(e->arg[1]->has & HAS_READ) && is_scaled(e->arg[0]);
  return is_read(e) || (e->kind == EX_OP && e->op == OP_NEG && is_scaled(e->arg[0]));
}

static bool is_factor(const Expr *e) {
  if (e->kind == EX_OP && e->op == OP_MUL) return is_factor(e->arg[0]) && is_factor(e->arg[1]);
  return is_read(e) || e->kind == EX_INT || e->kind == EX_REAL;
}

/* The common factor of e that depends on labels from `first` on: of G*W*f(x) + G*W*g(x), G*W; e itself, if there is
 * none. */
static const Expr *multiple_of(const Expr *e, uint32_t first) {
  if (e->kind != EX_OP || !e->n) return e;
  bool a = e->arg[0]->labels >> first, b = e->n > 1 && e->arg[1]->labels >> first;
  if (e->op == OP_NEG || (e->op == OP_DIV && !b) || (e->op == OP_MUL && a && !b)) return multiple_of(e->arg[0], first);
  if (e->op == OP_MUL && b && !a) return multiple_of(e->arg[1], first);
  if ((e->op != OP_ADD && e->op != OP_SUB) || !a || !b) return e;
  const Expr *left = multiple_of(e->arg[0], first), *right = multiple_of(e->arg[1], first);
  return left == right ? left : e;
}

static const Expr *multiple_put(Exprs *p, const Expr *e, const Expr *what, const Expr *by, uint32_t first) {
  if (e == what) return by;
  if (!(e->labels >> first)) return e;
  const Expr *left = multiple_put(p, e->arg[0], what, by, first);
  return e->n == 1 ? expr_op1(p, e->op, left) : expr_op2(p, e->op, left, multiple_put(p, e->arg[1], what, by, first));
}

/* A sum of multiples is a multiple of the sum: so the slope of what was inside a sum, such as gelu in sum[f]
 * gelu(x[s,f]) * W[f,a], is computed once per element and not per point. Makes the sum, and leaves a map in s. If
 * there may be no point, the sum is 0, and 0 has no multiples. */
static void multiple_out(From *f, EinSum *s, uint32_t labels, const Expr *const *bound, const Str *label) {
  Exprs *p = pool(f);
  if (labels > 62 || !(s->body->labels >> s->n_out)) return;
  const Expr *outer = where_outer(p, s->where, s->n_out);
  if (!admits_some(f, s->where, outer, s->n_out, labels, bound)) return;
  const Expr *what = multiple_of(s->body, s->n_out);
  if (what == s->body || is_factor(s->body)) return;
  EinSum sum = *s;
  sum.body = what;
  sum.dtype = sum.acc;
  const Expr *by = own_labels(f, adjoint_new(f->all, f->r, &sum, bound, label, NULL, f->m->place), s->n_out);
  const Expr *value = expr_cast(p, s->dtype, multiple_put(p, s->body, what, by, s->n_out)), *some = outer;
  for (uint32_t k = s->n_out; k < labels; k++) {
    const Expr *is = expr_op2(p, OP_LE, expr_int(p, DT_I64, 1), bound[k]);
    if (!expr_is_int(is, 1)) some = expr_and(p, some, is);
  }
  s->body = adjoint_value(p, (Adjoint){some, value});
  s->n_red = 0;
  s->reducer = RED_NONE;
  s->acc = s->dtype;
  s->where = NULL;
}

/* ---- conditions around a product ---------------------------------------------------------------------------- */

typedef struct Factor { const Expr *read, *where; } Factor; /* 0 elsewhere; NULL: it is the read everywhere */

/* Adds the factors of a product of reads, some of them `x ?? 0`, and numbers; false: it is no such product of two. */
static bool factors_read(const Expr *e, Factor *factor, uint32_t *n) {
  if (is_op(e, OP_MUL)) return factors_read(e->arg[0], factor, n) && factors_read(e->arg[1], factor, n);
  bool chosen = is_op(e, OP_SELECT) && is_zero(e->arg[2]) && !(e->arg[0]->has & HAS_READ);
  const Expr *of = chosen ? e->arg[1] : e;
  if (!is_read(of)) return !chosen && (e->kind == EX_INT || e->kind == EX_REAL);
  if (*n == 2) return false;
  factor[(*n)++] = (Factor){of->kind == EX_READ ? of : of->arg[0], chosen ? e->arg[0] : NULL};
  return true;
}

/* Whether what it reads exists wherever `hold` (NULL: everywhere) holds. */
static bool read_is_there(From *f, const Expr *hold, const Expr *read, uint32_t labels, const Expr *const *bound) {
  const EinNode *n = f->all->by_id.at[read->i];
  Facts facts = {.label = bound, .n_label = labels, .hold = &hold, .n_hold = hold != NULL};
  Exprs *p = pool(f);
  if (n->kind == EIN_VERTEX && n->sum->domain) return false;
  for (uint32_t k = 0; k < read->n; k++) {
    const Expr *at = read->arg[k], *low = expr_op2(p, OP_LE, expr_int(p, DT_I64, 0), at);
    if (at->has & HAS_READ || prove(p, &facts, low).verdict != PROVED) return false;
    if (prove(p, &facts, expr_op2(p, OP_LT, at, n->dim[k])).verdict != PROVED) return false;
  }
  return true;
}

/* Where a sum of products of matrices is wanted at all: the parts of its conditions that may be asked after it. */
typedef struct Outer {
  From *f;
  uint32_t n_out, labels;
  const Expr *const *bound;
  const Expr *value;         /* what is summed */
  uint64_t used;             /* labels on which it, or a condition of the vertex or of the term, depends */
  const Expr *where;         /* the result; NULL: everywhere */
} Outer;

/* Whether the sum over labels from n_out on is one of products of matrices, and may be made at all points. */
static bool is_matrices(const Outer *o, const Expr *hold) {
  Factor factor[2];
  uint64_t has[2], own = ((uint64_t)1 << o->n_out) - 1;
  uint32_t n = 0;
  if (!factors_read(o->value, factor, &n) || n < 2) return false;
  for (uint32_t k = 0; k < 2; k++) {
    const Expr *there = factor[k].where ? expr_and(pool(o->f), hold, factor[k].where) : hold;
    has[k] = factor[k].read->labels;
    if (!(has[k] >> o->n_out) || !read_is_there(o->f, there, factor[k].read, o->labels, o->bound)) return false;
  }
  return has[0] & ~has[1] & own && has[1] & ~has[0] & own;
}

static Outer outer_new(
    From *f, const Inverse *t, uint32_t n_out, uint32_t labels, const Expr *const *bound, Adjoint a) {
  const Expr *said[] = {f->s.domain, f->s.where, a.guard, f->some};
  Outer o = {f, n_out, labels, bound, expr_relabel(pool(f), a.value, f->labels, t->to), 0, NULL};
  o.used = o.value->labels;
  for (uint32_t i = 0; i < COUNT(said); i++)
    if (said[i]) o.used |= expr_relabel(pool(f), said[i], f->labels, t->to)->labels;
  return o;
}

/* Whether a condition, over the sum's labels, may be asked at all of its results: by data that are there, or by labels
 * on which nothing else depends. */
static bool is_outer(const Outer *o, const Expr *cond) {
  if (cond->labels >> o->n_out) return false;
  if (!(cond->has & HAS_READ)) return !(cond->labels & o->used);
  ExprNodes reads = expr_nodes(o->f->all->arena, cond, HAS_READ);
  for (const Expr *e; (e = expr_next_read(&reads));)
    if (!read_is_there(o->f, NULL, e, o->labels, o->bound)) return false;
  return true;
}

/* Takes such parts of a condition; returns the others. to: its labels, over those of the sum; NULL: the same. */
static const Expr *outer_take(Outer *o, const Expr *cond, const Expr *const *to) {
  Exprs *p = pool(o->f);
  if (!cond) return NULL;
  if (is_op(cond, OP_AND)) {
    const Expr *first = outer_take(o, cond->arg[0], to);
    return expr_and(p, first, outer_take(o, cond->arg[1], to));
  }
  const Expr *here = to ? expr_relabel(p, cond, o->f->labels, to) : cond;
  if (!is_outer(o, here)) return cond;
  o->where = expr_and(p, o->where, here);
  return NULL;
}

/* Makes the sum at all points, and leaves a map in s that is 0 where o->where does not hold. So the slope of a relu in
 * sum[f] relu(x[s,f]) * W[f,a], or the gradient of one matrix of a stack, is a product with loops of its own. */
static void outer_put(const Outer *o, EinSum *s, const Str *label) {
  From *f = o->f;
  EinSum sum = *s;
  sum.dtype = sum.acc;
  const Expr *all = own_labels(f, adjoint_new(f->all, f->r, &sum, o->bound, label, NULL, f->m->place), s->n_out);
  s->body = adjoint_value(pool(f), (Adjoint){o->where, expr_cast(pool(f), s->dtype, all)});
  s->n_red = 0;
  s->reducer = RED_NONE;
  s->acc = s->dtype;
  s->where = NULL;
}

/* The vertex's conditions on its points that t->where does not imply. */
static const Expr *where_said(
    From *f, const Inverse *t, uint32_t labels, const Expr *const *bound, const Expr *guard, const Expr *some) {
  const Expr *said[] = {f->s.domain, f->s.where, guard, some}, *all = NULL;
  Facts facts = {.label = bound, .n_label = labels, .hold = &t->where, .n_hold = t->where != NULL};
  for (uint32_t i = 0; i < COUNT(said); i++) {
    if (!said[i]) continue;
    const Expr *here = expr_relabel(pool(f), said[i], f->labels, t->to);
    if (prove(pool(f), &facts, here).verdict != PROVED) all = expr_and(pool(f), all, here);
  }
  return all;
}

static EinNode *term_vertex(From *f, EinNode *n, const Term *term) {
  Gradients *all = f->all;
  Exprs *p = pool(f);
  const Expr *const *index = term->read->arg, *holds[] = {f->s.domain, f->s.where, term->adjoint.guard};
  Inverse t = index_inverse(
      all->arena, p, n->rank, index, n->dim, f->labels, f->s.n_out, f->m->bound, holds, COUNT(holds));
  uint32_t labels = n->rank + t.n_left;
  const Expr **bound = NEW_ARRAY(all->arena, const Expr *, labels + 1);
  Str *label = NEW_ARRAY(all->arena, Str, labels + 1);
  for (uint32_t k = 0; k < labels; k++) {
    bound[k] = k < n->rank ? n->dim[k] : f->m->bound[t.left[k - n->rank]];
    label[k] = label_fresh(all, label, k, k < n->rank ? label_of(f, n, index[k], k) : f->m->label[t.left[k - n->rank]]);
  }
  const Expr *guard = term->adjoint.guard;
  Outer outer = outer_new(f, &t, n->rank, labels, bound, term->adjoint);
  if (t.n_left && labels <= SOME_RANK && (guard || t.where) && is_matrices(&outer, t.where))
    t.where = outer_take(&outer, t.where, NULL), guard = outer_take(&outer, guard, t.to);
  const Expr *where = where_said(f, &t, labels, bound, guard, NULL);
  const Expr *steps = NULL, *chosen = NULL;
  if (t.n_left && !where) chosen = product_chosen(f, &t, are_numbers(labels, bound), term->adjoint.value, &steps);
  const Expr *value = chosen ? chosen : outer.value;
  if (!chosen && t.n_left && f->some) where = where_said(f, &t, labels, bound, guard, f->some);
  where = chosen ? steps : expr_and(p, expr_and(p, t.where, where), t.match); /* tested where earlier ones hold */
  EinSum s = {.n_out = n->rank, .n_red = t.n_left, .reducer = t.n_left ? RED_SUM : RED_NONE, .dtype = n->dtype};
  s.acc = t.n_left ? dtype_sum((DType)value->dtype) : n->dtype;
  s.body = expr_cast(p, s.acc, value);
  if (!t.n_left && !where && f->some && !is_scaled(value)) where = expr_relabel(p, f->some, f->labels, t.to);
  if (t.n_left) s.where = where;
  else s.body = adjoint_value(p, (Adjoint){where, s.body});
  if (outer.where) outer_put(&outer, &s, label);
  else if (t.n_left && !chosen) multiple_out(f, &s, labels, bound, label);
  Str name = n->name ? strings_printf(all->g->strings, "grad.%s", n->name->s) : NULL;
  return adjoint_new(all, f->r, &s, bound, label, name, f->m->place);
}

bool vertex_adjoint(
    Gradients *all, EinRegion *r, EinNode *m, EinNode *adjoint, const bool *active, Shares *out, GradTrouble *t) {
  const GradRule *rule = rule_of(all, m);
  if (rule) return rule_adjoint(all, r, rule, adjoint, active, out, t);
  From f = from_vertex(all, r, m);
  const Expr *one = expr_real(pool(&f), f.s.acc, 1),
             *above = adjoint ? expr_cast(pool(&f), f.s.acc, read_result(&f, adjoint)) : one;
  Op stuck = OPS;
  Adjoint seed = body_adjoint(&f, above, &stuck);
  f.some = where_some(&f, adjoint);
  Terms terms = {0};
  const Expr *result = f.s.reducer == RED_NONE && f.s.dtype == f.s.acc ? read_result(&f, m) : NULL;
  if (seed.value) stuck = expr_adjoint(all->arena, pool(&f), f.s.body, result, seed, active, &terms);
  if (!seed.value || stuck != OPS) {
    const char *what = stuck == OPS   ? reducer_info[f.s.reducer].name
        : stuck == OP_EXTERN ? "a C function"
                             : op_info[stuck].name;
    *t = (GradTrouble){.at = m, .why = arena_printf(all->arena, "%s has no derivative here", what)};
    if (stuck != OPS) t->hint = "call it in a def that states one: `def g(x) = ... adjoint(dy) = dy * ...`";
    return false;
  }
  for (uint32_t i = 0; i < terms.len; i++) {
    EinNode *n = all->by_id.at[terms.at[i].read->i];
    vec_push(all->arena, *out, ((Share){n, term_vertex(&f, n, &terms.at[i])}));
  }
  return true;
}
