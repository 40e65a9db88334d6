/* front/elab/reduce.c - turns a reducer into a vertex: its labels are numbered after the output's, its predicates
 * become `where`.
 *
 * mean is a sum and a division, count a sum of ones (or a product of extents). A reducer without identity needs at
 * least one point: this is proved, or tested by a vertex for `??`. */
#include "elab.h"

bool reduce_is_one_vertex(const Core *c) {
  return c->reducer != RED_MEAN && !(c->reducer == RED_COUNT && !c->arg[1]);
}

static int widen_for(const Core *c, DType acc) {
  return reducer_accumulates(c->reducer) || c->acc >= 0 ? (int)acc : -1;
}

static const Expr *read_own(Elab *x, EinNode *n) {
  return read_node(x, n, x->vertex.out.n, exprs_labels(x->arena, x->exprs, x->vertex.out.n));
}

/* Whether the predicate holds at any reduced point. Evaluated only where the predicate itself has a value (own). */
static const Expr *any_of(Elab *x, const Expr *where, const Obligation *own, Span span) {
  EinSum any = {
      .reducer = RED_ANY, .acc = DT_BOOL, .dtype = DT_BOOL, .body = expr_bool(x->exprs, true), .where = where};
  any.domain = domain_from(x, own);
  return read_own(x, vertex_new(x, &any, NULL, 0, NULL, span));
}

/* What must hold of the body, restricted to the points where the predicate holds. */
static const Expr *some_admitted(Elab *x, const Expr *where, const Obligation *own, Span span) {
  return mentions(where, x->vertex.out.n, x->vertex.out.n + x->vertex.red.n) ? any_of(x, where, own, span) : where;
}

/* To the left of `??`, an obligation at a reduced label is tested at all points that the predicate admits
 * (language.md, section 9). In list order, since an earlier test may guard reads of the next. */
static Obligation *ask_all(
    Elab *x, Obligation *inside, const Obligation *list, Facts f, const Expr *where, const Obligation *own, Span span) {
  EinSum all = {.reducer = RED_ALL, .acc = DT_BOOL, .dtype = DT_BOOL, .where = where, .domain = domain_from(x, own)};
  for (; list; list = list->next)
    if (prove(x->exprs, &f, list->cond).verdict != PROVED) all.body = both(x, all.body, list->cond);
  const Expr *holds = read_own(x, vertex_new(x, &all, NULL, 0, NULL, span));
  for (Obligation *o = inside; o; o = o->next) {
    Proof p = prove(x->exprs, &f, o->cond);
    o->cond = o->plain = holds;
    o->asked = true, o->verdict = p.verdict, o->condition = p.condition;
  }
  return inside;
}

/* The obligations of c's predicate (where NULL) or body that its reader must meet: those `outside` of its labels are
 * returned separately. */
static Obligation *needs_left(
    Elab *x, const Core *c, Obligation *list, const Expr *where, const Obligation *own, Obligation **outside) {
  Obligation *inside = NULL;
  Facts f = facts_here(x, where);
  *outside = discharge(x, list, f, c->covered ? &inside : NULL);
  return inside ? ask_all(x, inside, list, f, where, own, c->span) : NULL;
}

/* ---- what the `if`s around say ---------------------------------------------------------------- */

enum { GUARD_DEPTH = 16 };

/* Comparisons of labels and sizes, which are free to repeat. */
static bool is_plain(const Core *c, int depth) {
  if (c->kind == CORE_CONST || c->kind == CORE_LABEL || c->kind == CORE_SIZE || c->kind == CORE_TURN) return true;
  if ((c->kind != CORE_OP && c->kind != CORE_CAST) || !depth) return false;
  for (uint32_t k = 0; k < c->n; k++)
    if (!is_plain(c->arg[k], depth - 1)) return false;
  return true;
}

static bool is_out(const Elab *x, const LabelVar *v) {
  for (uint32_t i = 0; i < x->vertex.out.n; i++)
    if (label_root(x->vertex.out.at[i]) == label_root((LabelVar *)(uintptr_t)v)) return true;
  return false;
}

/* What `cond` being true (not: false) implies for the vertex's own output labels; NULL: nothing. */
static const Expr *guard_here(Elab *x, Core *cond, bool not) {
  bool op = cond->kind == CORE_OP;
  if (op && cond->op == OP_NOT) return guard_here(x, cond->arg[0], !not);
  if (op && cond->op == (not ? OP_OR : OP_AND))
    return both(x, guard_here(x, cond->arg[0], not ), guard_here(x, cond->arg[1], not ));
  bool here = is_plain(cond, GUARD_DEPTH);
  for (uint32_t i = 0; i < cond->free.n && here; i++) here = is_out(x, cond->free.at[i]);
  if (!here) return NULL;
  Ex e = lower(x, cond, -1);
  if (e.pred || e.range || e.e->dtype != DT_BOOL) return NULL;
  return not ? expr_op1(x->exprs, OP_NOT, e.e) : e.e;
}

static const Expr *guards_here(Elab *x) {
  const Expr *all = NULL;
  for (const Guard *g = x->vertex.guard; g; g = g->outer) all = both(x, all, guard_here(x, g->cond, g->not));
  return all;
}

/* Whether an obligation at its reduced labels needs the enclosing `if`s, so that the vertex is computed only where
 * they hold. */
static bool guard_helps(Elab *x, const Obligation *list, const Expr *where, const Expr *guard) {
  Facts f = facts_here(x, where), more = facts_here(x, both(x, where, guard));
  for (; guard && list; list = list->next) {
    if (!mentions(list->cond, x->vertex.out.n, x->vertex.out.n + x->vertex.red.n) || list->gather) continue;
    if (prove(x->exprs, &f, list->cond).verdict != PROVED && prove(x->exprs, &more, list->cond).verdict == PROVED)
      return true;
  }
  return false;
}

/* p: the predicate, or nothing; b: the body. */
static Parts parts_of(Elab *x, Core *c, Ex p, Ex b) {
  Parts r = {.acc = DT_I64, .body = b.e};
  r.where = both(x, both(x, p.pred, p.e), b.pred);
  const Expr *guard = p.range || b.range ? guards_here(x) : NULL;
  if (guard && !guard_helps(x, p.range, NULL, guard) && !guard_helps(x, b.range, r.where, guard)) guard = NULL;
  Obligation *mine, *left, *asked = needs_left(x, c, p.range, guard, NULL, &mine);
  if (guard) mine = need(x, mine, guard, NEED_VALUE, c->span);
  r.own = mine = need_all(x, mine, asked);
  asked = needs_left(x, c, b.range, both(x, guard, r.where), mine, &left);
  if (left && r.where) left = need_guarded(x, some_admitted(x, r.where, mine, c->span), left);
  r.carried = need_all(x, mine, need_all(x, left, asked));
  return r;
}

/* In the numbering of the future vertex. */
static Parts parts_lower(Elab *x, Core *c) {
  DType acc = DT_I64;
  Ex p = {0}, b = {.e = expr_int(x->exprs, DT_I64, 1), .type = {DT_I64, FIRM}};
  if (c->arg[1]) p = lower(x, c->arg[1], -1);
  if (c->arg[0]) {
    acc = c->reducer == RED_MONOID ? c->type.dtype : type_acc(c->reducer, type_settle(c->arg[0]->type), c->acc);
    b = ex_convert(x, lower(x, c->arg[0], widen_for(c, acc)), acc);
  }
  Parts r = parts_of(x, c, p, b);
  r.acc = acc;
  return r;
}

/* What is not proved of the reads in a body left of `??`: over its points, while the domain is over the result's. */
static const Expr *covered_reads(Elab *x, const Core *c, const Obligation *list, const Expr *where) {
  const Expr *all = NULL;
  Facts f = facts_here(x, where);
  for (; c->covered && list; list = list->next)
    if (prove(x->exprs, &f, list->cond).verdict != PROVED) all = both(x, all, list->cond);
  return all;
}

Parts parts_of_tuple(Elab *x, Core *c, const Expr **body) {
  const Tuple *t = c->tuple;
  Ex p = {0}, b = {0};
  if (c->n > t->n) p = lower(x, c->arg[t->n], -1);
  for (uint32_t k = 0; k < t->n; k++) {
    Ex e = ex_convert(x, lower(x, c->arg[k], -1), t->dtype[k]);
    body[k] = e.e;
    b.pred = both(x, b.pred, e.pred);
    b.range = need_all(x, b.range, e.range);
  }
  Parts r = parts_of(x, c, p, b);
  r.where = both(x, r.where, covered_reads(x, c, b.range, r.where));
  return r;
}

const Expr *domain_from(Elab *x, const Obligation *o) {
  const Expr *d = NULL;
  for (; o; o = o->next) d = both(x, d, o->cond);
  return d;
}

/* The reduction must have a point: returns an obligation, or none if that is trivial. */
static Obligation *need_some(Elab *x, const Core *c, const Expr *where, const Obligation *own) {
  Exprs *p = x->exprs;
  uint32_t n = x->vertex.out.n + x->vertex.red.n;
  const Expr *cond = NULL;
  Proof proof = {.verdict = OPEN_DATA};
  if (!where) {
    for (uint32_t i = 0; i < x->vertex.red.n; i++)
      cond = expr_and(p, cond, expr_op2(p, OP_GE, label_root(x->vertex.red.at[i])->extent, expr_int(p, DT_I64, 1)));
  } else {
    bool *inner = NEW_ARRAY(x->arena, bool, n + 1);
    for (uint32_t i = x->vertex.out.n; i < n; i++) inner[i] = true;
    Facts f = facts_here(x, NULL);
    proof = prove_nonempty(p, &f, inner, where);
    if (proof.verdict == PROVED) return NULL;
    const Expr *guard = guards_here(x);
    Facts guarded = facts_here(x, guard);
    if (guard && prove_nonempty(p, &guarded, inner, where).verdict == PROVED)
      return need(x, NULL, guard, NEED_VALUE, c->span);
    cond = any_of(x, where, own, c->span);
  }
  Obligation *o = need(x, NULL, cond, NEED_NONEMPTY, c->op_span.src ? c->op_span : c->span);
  if (!o) return NULL;
  o->whole = c->span;
  o->name = str_from(x->strings, reducer_info[c->reducer].name);
  o->asked = (cond->has & HAS_READ) != 0;
  o->verdict = proof.verdict, o->condition = proof.condition;
  return o;
}

static Reducer vertex_reducer(Reducer r) { return r == RED_COUNT || r == RED_MEAN ? RED_SUM : r; }

EinNode *reduce_vertex(
    Elab *x, Core *c, LabelSet out, const uint8_t *merge, uint32_t rank, int dtype, Str name, bool total, Ex *carried) {
  Frozen f = labels_number(x, out, c->labels);
  Parts p = parts_lower(x, c);
  if (reducer_is_arg(c->reducer))
    p.carried = need_all(x, p.carried, need_some(x, c, p.where, p.own));
  EinSum s = {.reducer = vertex_reducer(c->reducer), .acc = p.acc, .body = p.body, .where = p.where};
  s.dtype = dtype >= 0 ? (DType)dtype : c->type.dtype;
  if (!total) s.domain = domain_from(x, p.carried);
  if (c->reducer == RED_MONOID) {
    const Expr *range;
    s.monoid = monoid_at(x, c->monoid, p.acc);
    if (monoid_range(x, c->monoid, &p.acc, &range)) monoid_range_check(x, c->monoid, range, &p.body, &p, c->span);
  }
  EinNode *v = vertex_new(x, &s, merge, rank, name, c->span);
  labels_restore(x, f);
  *carried = (Ex){.type = type_firm(s.dtype), .range = p.carried};
  return v;
}

static const Expr *extents_product(Elab *x, LabelSet labels) {
  const Expr *n = expr_int(x->exprs, DT_I64, 1);
  for (uint32_t i = 0; i < labels.n; i++) n = expr_op2(x->exprs, OP_MUL, n, label_root(labels.at[i])->extent);
  return expr_normal(x->exprs, n);
}

static EinNode *count_vertex(Elab *x, const Expr *where, const Obligation *carried, Span span) {
  EinSum s = {
      .reducer = RED_SUM, .acc = DT_I64, .dtype = DT_I64, .body = expr_int(x->exprs, DT_I64, 1), .where = where};
  s.domain = domain_from(x, carried);
  return vertex_new(x, &s, NULL, 0, NULL, span);
}

static Ex lower_mean(Elab *x, Core *c) {
  Exprs *e = x->exprs;
  Frozen f = labels_number(x, c->free, c->labels);
  Parts p = parts_lower(x, c);
  EinSum s = {.reducer = RED_SUM,
      .acc = p.acc,
      .dtype = p.acc,
      .body = p.body,
      .where = p.where,
      .domain = domain_from(x, p.carried)};
  EinNode *sum = vertex_new(x, &s, NULL, 0, NULL, c->span);
  EinNode *count = p.where ? count_vertex(x, p.where, p.carried, c->span) : NULL;
  p.carried = need_all(x, p.carried, need_some(x, c, p.where, p.own));
  labels_restore(x, f);

  DType t = dtype_is_float(p.acc) ? p.acc : DT_F64;
  Ex n = count ? ex_read_of(x, count, c->free, -1, c->span)
               : (Ex){.e = extents_product(x, c->labels), .type = {DT_I64, FIRM}};
  Ex q = ex_convert(x, ex_read_of(x, sum, c->free, -1, c->span), t);
  q.e = expr_op2(e, OP_DIV, q.e, ex_convert(x, n, t).e);
  q.range = needs_at_labels(x, p.carried, c->free);
  return ex_convert(x, q, c->type.dtype);
}

Ex lower_reduce(Elab *x, Core *c, int widen) {
  if (c->reducer == RED_COUNT && !c->arg[1]) return (Ex){.e = extents_product(x, c->labels), .type = {DT_I64, FIRM}};
  if (c->reducer == RED_MEAN) return lower_mean(x, c);
  Ex carried;
  EinNode *v = reduce_vertex(x, c, c->free, NULL, 0, -1, NULL, false, &carried);
  Ex r = ex_read_of(x, v, c->free, widen, c->span);
  r.range = needs_at_labels(x, carried.range, c->free);
  return r;
}
