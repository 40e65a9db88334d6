/* front/elab/tuple_lower.c - a reduction by a monoid over tuples, as maps over ever fewer points.
 *
 * A vertex has one value and one accumulator, so a reduction of tuples is no vertex. It becomes maps with a vertex for
 * each component: a label of many points is read in runs of RUN points, whose tuples one expression combines, and what
 * remains is reduced in the same way. The first level takes its points LANES apart, so that neighbours along memory
 * are independent and its loops run in vectors. Everything after elaboration sees maps alone: they are differentiated,
 * planned, cut over sites and compiled like any others, and the order of combination depends on sizes alone.
 *
 * A component that depends on no other and is combined by a built-in reducer becomes that reducer. */
#include "elab.h"

#include <math.h>

enum { RUN = 8, LANES = 16, FEW = 128, LONG = 4000 };
#define MOST_POINTS (INT64_C(1) << 32) /* of a label whose size is not known: each level takes code */

/* What is reduced: for each wanted component its value, over `labels`, numbered in this order. */
typedef struct Points {
  LabelSet labels;
  const Expr *value[TUPLE_PARTS];
  const Expr *where;         /* over the same; NULL: everywhere */
} Points;

typedef struct Reduced {
  Elab *x;
  Core *c;
  const Tuple *m;
  bool wanted[TUPLE_PARTS];  /* the components from which the result is made */
  const Expr *domain;        /* of all vertices, over c's free labels, whose numbers are lowest; NULL: everywhere */
} Reduced;

/* ---- components ------------------------------------------------------------------------------- */

static const Expr *leaf_wanted(void *env, Exprs *p, const Expr *leaf) {
  Reduced *r = env;
  (void)p;
  if (leaf->kind == EX_PARAM) r->wanted[leaf->i % r->m->n] = true;
  return leaf;
}

/* The component itself, and those from which the function makes a wanted one. */
static void wanted_find(Reduced *r) {
  bool done[TUPLE_PARTS] = {0};
  r->wanted[r->c->i] = true;
  for (uint32_t k = 0; k < r->m->n; k++) {
    if (!r->wanted[k] || done[k]) continue;
    (void)expr_map(r->x->exprs, r->m->combine[k], leaf_wanted, r);
    done[k] = true;
    k = UINT32_MAX; /* an earlier one may be wanted now */
  }
}

static bool is_infinity(const Expr *e, bool positive) {
  return e->kind == EX_REAL && isinf(e->f) && (e->f > 0) == positive;
}

/* The built-in reducer that combines this component; RED_NONE: none does. */
static Reducer reducer_of(const Tuple *m, uint32_t k) {
  const Expr *e = m->combine[k], *id = m->identity[k];
  DType t = m->dtype[k];
  if (e->kind != EX_OP || e->n != 2 || e->arg[0]->kind != EX_PARAM || e->arg[1]->kind != EX_PARAM) return RED_NONE;
  if (e->arg[0]->i + e->arg[1]->i != 2 * (int64_t)k + m->n || e->arg[0]->i % m->n != k) return RED_NONE;
  bool wide = t == DT_F64 || t == DT_F32 || t == DT_I64; /* it accumulates in its own dtype */
  bool zero = id->kind == EX_REAL ? id->f == 0 : expr_is_int(id, 0);
  bool one = id->kind == EX_REAL ? id->f == 1 : expr_is_int(id, 1);
  switch (e->op) {
    case OP_ADD: return wide && zero ? RED_SUM : RED_NONE;
    case OP_MUL: return wide && one ? RED_PROD : RED_NONE;
    case OP_MAX: return is_infinity(id, false) ? RED_MAX : RED_NONE;
    case OP_MIN: return is_infinity(id, true) ? RED_MIN : RED_NONE;
    case OP_AND: return one ? RED_ALL : RED_NONE;
    case OP_OR: return zero ? RED_ANY : RED_NONE;
    default: return RED_NONE;
  }
}

/* ---- vertices --------------------------------------------------------------------------------- */

static const Expr *number(const Reduced *r, int64_t i) { return expr_int(r->x->exprs, DT_I64, i); }
static const Expr *op(const Reduced *r, Op o, const Expr *a, const Expr *b) { return expr_op2(r->x->exprs, o, a, b); }

/* The points as stored in vertices over their labels. */
static Points stored(const Reduced *r, Points p) {
  Elab *x = r->x;
  Frozen f = labels_number(x, p.labels, (LabelSet){0});
  const Expr **index = NEW_ARRAY(x->arena, const Expr *, p.labels.n + 1);
  for (uint32_t i = 0; i < p.labels.n; i++) index[i] = expr_label(x->exprs, i);
  for (uint32_t k = 0; k < r->m->n; k++) {
    if (!r->wanted[k]) continue;
    DType t = r->m->dtype[k];
    EinSum s = {.reducer = RED_NONE, .acc = t, .dtype = t, .body = p.value[k], .domain = r->domain};
    Str name = strings_printf(x->strings, "%s.%s", r->m->def->stmt->name.s->s, r->m->def->stmt->params.at[k].s->s);
    p.value[k] = read_node(x, vertex_new(x, &s, NULL, 0, name, r->c->span), p.labels.n, index);
  }
  labels_restore(x, f);
  return p;
}

/* ---- combining -------------------------------------------------------------------------------- */

typedef struct Operands { const Expr *const *a, *const *b; uint32_t n; } Operands;

static const Expr *leaf_operand(void *env, Exprs *p, const Expr *leaf) {
  const Operands *o = env;
  (void)p;
  if (leaf->kind != EX_PARAM) return leaf;
  return leaf->i < o->n ? o->a[leaf->i] : o->b[leaf->i - o->n];
}

/* a and b combined. An expression uses its operands several times, so what becomes long is stored first. */
static Points pair(const Reduced *r, const Points *a, const Points *b) {
  Points to = {.labels = a->labels};
  Operands o = {a->value, b->value, r->m->n};
  bool shorts = true;
  for (uint32_t k = 0; k < r->m->n; k++) {
    int32_t room = LONG;
    if (!r->wanted[k]) continue;
    to.value[k] = expr_map(r->x->exprs, r->m->combine[k], leaf_operand, &o);
    shorts &= expr_is_short(to.value[k], &room);
  }
  return shorts ? to : stored(r, to);
}

/* The label at `place` as `to`, over labels of which `more` follow it in its stead. */
static const Expr *moved(
    const Reduced *r, const Points *p, uint32_t place, uint32_t more, const Expr *to, const Expr *e) {
  if (!e) return NULL;
  const Expr **all = NEW_ARRAY(r->x->arena, const Expr *, p->labels.n);
  for (uint32_t i = 0; i < p->labels.n; i++)
    all[i] = i < place ? NULL : i == place ? to : expr_label(r->x->exprs, i + more - 1);
  return expr_relabel(r->x->exprs, e, p->labels.n, all);
}

/* Points of one label, in the numbering of the vertex that combines them; when NULL: always. */
typedef struct Run { uint32_t place, more, n; const Expr *at[RUN], *when[RUN]; } Run;

static Points point_at(const Reduced *r, const Points *p, const Run *run, uint32_t i, LabelSet labels) {
  Points to = {.labels = labels};
  const Expr *when = both(r->x, run->when[i], moved(r, p, run->place, run->more, run->at[i], p->where));
  for (uint32_t k = 0; k < r->m->n; k++) {
    if (!r->wanted[k]) continue;
    to.value[k] = moved(r, p, run->place, run->more, run->at[i], p->value[k]);
    if (when) to.value[k] = expr_select(r->x->exprs, when, to.value[k], r->m->identity[k]);
  }
  return to;
}

static Points combined(const Reduced *r, const Points *p, const Run *run, LabelSet labels) {
  Points to[RUN] = {{.labels = labels}};
  for (uint32_t k = 0; k < r->m->n; k++) to[0].value[k] = r->m->identity[k];
  for (uint32_t i = 0; i < run->n; i++) to[i] = point_at(r, p, run, i, labels);
  for (uint32_t n = run->n; n > 1; n = (n + 1) / 2)
    for (uint32_t i = 0; i < n; i += 2) to[i / 2] = i + 1 < n ? pair(r, &to[i], &to[i + 1]) : to[i];
  return stored(r, to[0]);
}

/* ---- one label -------------------------------------------------------------------------------- */

/* The labels with the one at `place` replaced by new ones, of these extents; NULL: without it. */
static LabelSet labels_with(const Reduced *r, LabelSet s, uint32_t place, const Expr *first, const Expr *second) {
  const Expr *extent[2] = {first, second};
  LabelSet to = {NEW_ARRAY(r->x->arena, LabelVar *, s.n + 2), 0};
  for (uint32_t i = 0; i < place; i++) to.at[to.n++] = s.at[i];
  for (uint32_t i = 0; i < 2; i++) {
    if (!extent[i]) continue;
    LabelVar *v = label_new(r->x, s.at[place]->name, r->c->span);
    v->extent = extent[i];
    to.at[to.n++] = v;
  }
  for (uint32_t i = place + 1; i < s.n; i++) to.at[to.n++] = s.at[i];
  return to;
}

static const Expr *extent_at(const Points *p, uint32_t place) { return label_root(p->labels.at[place])->extent; }
static const Expr *normal(const Reduced *r, const Expr *e) { return expr_normal(r->x->exprs, e); }

/* A few points: all of them at once. */
static Points label_few(const Reduced *r, const Points *p, uint32_t place, uint32_t n) {
  Run run = {.place = place, .n = n};
  for (uint32_t i = 0; i < n; i++) run.at[i] = number(r, i);
  return combined(r, p, &run, labels_with(r, p->labels, place, NULL, NULL));
}

/* The same of a label that has one point at most. */
static Points label_one(const Reduced *r, const Points *p, uint32_t place) {
  Run run = {.place = place, .n = 1};
  run.at[0] = number(r, 0);
  run.when[0] = op(r, OP_LT, number(r, 0), extent_at(p, place));
  return combined(r, p, &run, labels_with(r, p->labels, place, NULL, NULL));
}

/* Neighbours: a run of them becomes one point. */
static Points label_runs(const Reduced *r, const Points *p, uint32_t place) {
  const Expr *n = extent_at(p, place), *run_n = number(r, RUN);
  const Expr *runs = normal(r, op(r, OP_IDIV, op(r, OP_ADD, n, number(r, RUN - 1)), run_n));
  const Expr *from = op(r, OP_MUL, expr_label(r->x->exprs, place), run_n);
  Run run = {.place = place, .more = 1, .n = RUN};
  for (uint32_t i = 0; i < RUN; i++) {
    run.at[i] = op(r, OP_ADD, from, number(r, i));
    bool full = n->kind == EX_INT && (n->i - 1) / RUN * RUN + i < n->i;
    run.when[i] = full ? NULL : op(r, OP_LT, run.at[i], n);
  }
  return combined(r, p, &run, labels_with(r, p->labels, place, runs, NULL));
}

static Points label_reduced(const Reduced *r, Points p, uint32_t place) {
  const Expr *n = extent_at(&p, place);
  if (n->kind == EX_INT) {
    for (; extent_at(&p, place)->i > RUN;) p = label_runs(r, &p, place);
    return label_few(r, &p, place, (uint32_t)extent_at(&p, place)->i);
  }
  for (int64_t left = MOST_POINTS / (RUN * LANES); left > 1; left /= RUN) p = label_runs(r, &p, place);
  return label_one(r, &p, place);
}

/* Runs of points that are LANES apart: as many as are full, each with its lanes; then those that are left over, for
 * each lane. */
static Points lanes_full(const Reduced *r, const Points *p, uint32_t place, const Expr *runs) {
  Exprs *x = r->x->exprs;
  Run run = {.place = place, .more = 2, .n = RUN};
  const Expr *from = op(r, OP_MUL, expr_label(x, place), number(r, RUN));
  for (uint32_t i = 0; i < RUN; i++)
    run.at[i] = op(r, OP_ADD, op(r, OP_MUL, op(r, OP_ADD, from, number(r, i)), number(r, LANES)),
        expr_label(x, place + 1));
  return combined(r, p, &run, labels_with(r, p->labels, place, runs, number(r, LANES)));
}

static Points lanes_rest(const Reduced *r, const Points *p, uint32_t place, const Expr *runs) {
  const Expr *n = extent_at(p, place), *from = op(r, OP_MUL, runs, number(r, RUN * LANES));
  int64_t left = n->kind == EX_INT ? n->i % (RUN * LANES) : RUN * LANES;
  Run run = {.place = place, .more = 1};
  for (; run.n < RUN && (int64_t)run.n * LANES < left; run.n++) {
    const Expr *at = op(r, OP_ADD, op(r, OP_ADD, from, number(r, run.n * LANES)), expr_label(r->x->exprs, place));
    run.at[run.n] = at;
    run.when[run.n] = n->kind == EX_INT && (run.n + 1) * LANES <= left ? NULL : op(r, OP_LT, at, n);
  }
  return combined(r, p, &run, labels_with(r, p->labels, place, number(r, LANES), NULL));
}

static bool is_full(const Reduced *r, const Expr *n) {
  return expr_is_int(normal(r, op(r, OP_MOD, n, number(r, RUN * LANES))), 0);
}

static Points label_lanes(const Reduced *r, const Points *p, uint32_t place) {
  const Expr *n = extent_at(p, place), *runs = normal(r, op(r, OP_IDIV, n, number(r, RUN * LANES)));
  Points full = label_reduced(r, lanes_full(r, p, place, runs), place);
  if (!is_full(r, n)) {
    Points rest = lanes_rest(r, p, place, runs);
    full = stored(r, pair(r, &full, &rest));
  }
  return label_reduced(r, full, place);
}

static void size_check(Reduced *r, const Expr *n) {
  if (n->kind == EX_INT) return;
  Str text = str_from(r->x->strings, "a reduction of tuples is over less than 2^32 points of a label");
  DimCheck check = {op(r, OP_LT, n, number(r, MOST_POINTS)), text, place_of(r->x, r->c->span)};
  vec_push(r->x->arena, r->x->graph->checks, check);
}

/* The last of the labels, which is reduced. */
static Points last_reduced(Reduced *r, Points p) {
  uint32_t place = p.labels.n - 1;
  const Expr *n = extent_at(&p, place);
  size_check(r, n);
  if (n->kind == EX_INT && n->i < FEW) return label_reduced(r, p, place);
  return label_lanes(r, &p, place);
}

/* ---- the reduction ---------------------------------------------------------------------------- */

static Points by_reducer(Reduced *r, Points p, Reducer red) {
  Elab *x = r->x;
  DType t = r->m->dtype[r->c->i];
  Frozen f = labels_number(x, r->c->free, r->c->labels);
  EinSum s = {.reducer = red, .acc = t, .dtype = t, .body = p.value[r->c->i], .where = p.where, .domain = r->domain};
  EinNode *v = vertex_new(x, &s, NULL, 0, NULL, r->c->span);
  const Expr **index = NEW_ARRAY(x->arena, const Expr *, r->c->free.n + 1);
  for (uint32_t i = 0; i < r->c->free.n; i++) index[i] = expr_label(x->exprs, i);
  p.labels = r->c->free;
  p.value[r->c->i] = read_node(x, v, r->c->free.n, index);
  labels_restore(x, f);
  return p;
}

Ex lower_tuple(Elab *x, Core *c) {
  Reduced r = {.x = x, .c = c, .m = c->tuple};
  Frozen f = labels_number(x, c->free, c->labels);
  Points p = {.labels = set_joined(x, c->free, c->labels)};
  Parts parts = parts_of_tuple(x, c, p.value);
  p.where = parts.where;
  r.domain = domain_from(x, parts.carried);
  monoid_range_check(x, r.m->def, r.m->range, p.value, &parts, c->span);
  labels_restore(x, f);
  wanted_find(&r);
  Reducer red = reducer_of(r.m, (uint32_t)c->i);
  if (red != RED_NONE) p = by_reducer(&r, p, red);
  while (p.labels.n > c->free.n) p = last_reduced(&r, p);
  Ex e = {.e = at_labels(x, p.value[c->i], c->free), .type = c->type};
  e.range = needs_at_labels(x, parts.carried, c->free);
  return e;
}
