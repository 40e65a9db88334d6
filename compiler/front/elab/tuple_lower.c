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
  const Expr *where;         /* over the same: the other points do not count; NULL: all do */
  const Expr *full;          /* over the same: elsewhere there is no point, but the identity; NULL: all are points */
} Points;

typedef struct Reduced {
  Elab *x;
  Core *c;
  const Tuple *m;
  bool wanted[TUPLE_PARTS];  /* the components from which the result is made */
  const Expr *domain;        /* of all vertices, over c's free labels, whose numbers are lowest; NULL: everywhere */
} Reduced;

/* ---- components ------------------------------------------------------------------------------- */

/* The component itself, and those from which the function makes a wanted one. */
static void wanted_find(Reduced *r) {
  bool done[TUPLE_PARTS] = {0};
  r->wanted[r->c->i] = true;
  for (uint32_t k = 0; k < r->m->n; k++) {
    if (!r->wanted[k] || done[k]) continue;
    ExprNodes nodes = expr_nodes(exprs_arena(r->x->exprs), r->m->combine[k], HAS_PARAM);
    for (const Expr *e; (e = expr_node(&nodes));)
      if (e->kind == EX_PARAM) r->wanted[e->i % r->m->n] = true;
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
  const Expr **index = exprs_labels(x->arena, x->exprs, p.labels.n);
  for (uint32_t k = 0; k < r->m->n; k++) {
    if (!r->wanted[k]) continue;
    DType t = r->m->dtype[k];
    const Expr *e = p.full ? expr_select(x->exprs, p.full, p.value[k], r->m->identity[k]) : p.value[k];
    EinSum s = {.reducer = RED_NONE, .acc = t, .dtype = t, .body = e, .domain = r->domain};
    Str name = strings_printf(x->strings, "%s.%s", r->m->def->stmt->name.s->s, r->m->def->stmt->params.at[k].s->s);
    p.value[k] = read_node(x, vertex_new(x, &s, NULL, 0, name, r->c->span), p.labels.n, index);
  }
  labels_restore(x, f);
  p.full = NULL;
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
  Points to = {.labels = a->labels, .full = a->full};
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

/* Points of one label, in the numbering of the vertex that combines them, for which `more` labels take its place.
 * when NULL: always; full: where the vertex has such points at all. */
typedef struct Run { uint32_t place, more, n; const Expr *at[RUN], *when[RUN], *full; } Run;

static Points point_at(const Reduced *r, const Points *p, const Run *run, uint32_t i, LabelSet labels) {
  Points to = {.labels = labels, .full = run->full};
  const Expr *when = both(r->x, run->when[i], moved(r, p, run->place, run->more, run->at[i], p->where));
  for (uint32_t k = 0; k < r->m->n; k++) {
    if (!r->wanted[k]) continue;
    to.value[k] = moved(r, p, run->place, run->more, run->at[i], p->value[k]);
    if (when) to.value[k] = expr_select(r->x->exprs, when, to.value[k], r->m->identity[k]);
  }
  return to;
}

static Points combined(const Reduced *r, const Points *p, const Run *run, LabelSet labels) {
  Points to[RUN] = {{.labels = labels, .full = run->full}};
  for (uint32_t k = 0; k < r->m->n; k++) to[0].value[k] = r->m->identity[k];
  for (uint32_t i = 0; i < run->n; i++) to[i] = point_at(r, p, run, i, labels);
  for (uint32_t n = run->n; n > 1; n = (n + 1) / 2)
    for (uint32_t i = 0; i < n; i += 2) to[i / 2] = i + 1 < n ? pair(r, &to[i], &to[i + 1]) : to[i];
  return stored(r, to[0]);
}

/* ---- one label -------------------------------------------------------------------------------- */

/* The labels with the one at `place` replaced by new ones, of these extents. */
static LabelSet labels_with(const Reduced *r, LabelSet s, uint32_t place, uint32_t n, const Expr *const *extent) {
  LabelSet to = {NEW_ARRAY(r->x->arena, LabelVar *, s.n + n), 0};
  for (uint32_t i = 0; i < place; i++) to.at[to.n++] = s.at[i];
  for (uint32_t i = 0; i < n; i++) {
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
  return combined(r, p, &run, labels_with(r, p->labels, place, 0, NULL));
}

/* The same of a label that has `most` points at most. */
static Points label_some(const Reduced *r, const Points *p, uint32_t place, uint32_t most) {
  const Expr *n = extent_at(p, place);
  Run run = {.place = place, .n = n->kind == EX_INT ? (uint32_t)n->i : most};
  for (uint32_t i = 0; i < run.n; i++) {
    run.at[i] = number(r, i);
    if (n->kind != EX_INT) run.when[i] = op(r, OP_LT, run.at[i], n);
  }
  return combined(r, p, &run, labels_with(r, p->labels, place, 0, NULL));
}

/* Runs, in the numbering of the vertex that combines them: the number of a run by its label, or, of more than RUN, by
 * two labels, its group of RUN and its place there. Their combination reads whole groups (group_reduced), so both go
 * over the same part of memory, and one kernel may do both. */
typedef struct Groups {
  uint32_t more;             /* labels */
  const Expr *extent[2];     /* of these */
  const Expr *run, *full;    /* the run's number; whether there is such a run, NULL: always */
} Groups;

static Groups groups_of(const Reduced *r, uint32_t place, const Expr *runs) {
  Exprs *x = r->x->exprs;
  Groups g = {.more = 1, .extent = {runs}, .run = expr_label(x, place)};
  if (runs->kind == EX_INT && runs->i <= RUN) return g;
  const Expr *n = number(r, RUN);
  g.more = 2, g.extent[0] = normal(r, op(r, OP_IDIV, op(r, OP_ADD, runs, number(r, RUN - 1)), n)), g.extent[1] = n;
  g.run = op(r, OP_ADD, op(r, OP_MUL, g.run, n), expr_label(x, place + 1));
  if (!expr_is_int(normal(r, op(r, OP_MOD, runs, n)), 0)) g.full = op(r, OP_LT, g.run, runs);
  return g;
}

/* Each group becomes one point. */
static Points group_reduced(const Reduced *r, const Groups *g, Points p, uint32_t place) {
  return g->more == 2 ? label_few(r, &p, place + 1, RUN) : p;
}

/* Neighbours: a run of them becomes one point, and then a group of runs. */
static Points label_runs(const Reduced *r, const Points *p, uint32_t place) {
  const Expr *n = extent_at(p, place), *run_n = number(r, RUN);
  Groups g = groups_of(r, place, normal(r, op(r, OP_IDIV, op(r, OP_ADD, n, number(r, RUN - 1)), run_n)));
  const Expr *from = op(r, OP_MUL, g.run, run_n);
  Run run = {.place = place, .more = g.more, .n = RUN, .full = g.full};
  for (uint32_t i = 0; i < RUN; i++) {
    run.at[i] = op(r, OP_ADD, from, number(r, i));
    bool full = n->kind == EX_INT && (n->i - 1) / RUN * RUN + i < n->i;
    run.when[i] = full ? NULL : op(r, OP_LT, run.at[i], n);
  }
  Points to = combined(r, p, &run, labels_with(r, p->labels, place, g.more, g.extent));
  return group_reduced(r, &g, to, place);
}

static Points label_reduced(const Reduced *r, Points p, uint32_t place) {
  const Expr *n = extent_at(&p, place);
  if (n->kind == EX_INT) {
    for (; extent_at(&p, place)->i > RUN;) p = label_runs(r, &p, place);
    return label_few(r, &p, place, (uint32_t)extent_at(&p, place)->i);
  }
  for (int64_t left = MOST_POINTS / (RUN * LANES); left > 1; left = (left + RUN * RUN - 1) / (RUN * RUN))
    p = label_runs(r, &p, place);
  return label_some(r, &p, place, 1);
}

/* Runs of points that are LANES apart: those of whole groups, each with its lanes; then those that are left over; and
 * then the points that are left over, for each lane. */
static Points lanes_run(const Reduced *r, const Points *p, uint32_t place, const Expr *number_of, LabelSet labels) {
  uint32_t more = labels.n - p->labels.n + 1;
  Run run = {.place = place, .more = more, .n = RUN};
  const Expr *from = op(r, OP_MUL, number_of, number(r, RUN)), *lane = expr_label(r->x->exprs, place + more - 1);
  for (uint32_t i = 0; i < RUN; i++)
    run.at[i] = op(r, OP_ADD, op(r, OP_MUL, op(r, OP_ADD, from, number(r, i)), number(r, LANES)), lane);
  return combined(r, p, &run, labels);
}

static Points lanes_groups(const Reduced *r, const Points *p, uint32_t place, const Expr *groups) {
  const Expr *extent[] = {groups, number(r, RUN), number(r, LANES)};
  const Expr *at = op(r, OP_ADD, op(r, OP_MUL, expr_label(r->x->exprs, place), number(r, RUN)),
      expr_label(r->x->exprs, place + 1));
  Points to = lanes_run(r, p, place, at, labels_with(r, p->labels, place, 3, extent));
  return label_reduced(r, label_few(r, &to, place + 1, RUN), place);
}

/* The runs from `from` on, less than RUN of them. */
static Points lanes_runs(const Reduced *r, const Points *p, uint32_t place, const Expr *from, const Expr *runs) {
  const Expr *extent[] = {runs, number(r, LANES)};
  const Expr *at = op(r, OP_ADD, from, expr_label(r->x->exprs, place));
  Points to = lanes_run(r, p, place, at, labels_with(r, p->labels, place, 2, extent));
  return label_some(r, &to, place, RUN - 1);
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
  const Expr *lanes = number(r, LANES);
  return combined(r, p, &run, labels_with(r, p->labels, place, 1, &lanes));
}

static const Expr *quotient(const Reduced *r, const Expr *n, int64_t by) {
  return normal(r, op(r, OP_IDIV, n, number(r, by)));
}

static const Expr *remainder_of(const Reduced *r, const Expr *n, int64_t by) {
  return normal(r, op(r, OP_MOD, n, number(r, by)));
}

/* a, if there is any, and then b. */
static Points followed(const Reduced *r, const Points *a, Points b) {
  return a->labels.n ? stored(r, pair(r, a, &b)) : b;
}

static Points label_lanes(const Reduced *r, const Points *p, uint32_t place) {
  const Expr *n = extent_at(p, place), *runs = quotient(r, n, RUN * LANES), *groups = quotient(r, runs, RUN);
  const Expr *from = normal(r, op(r, OP_MUL, groups, number(r, RUN))), *over = remainder_of(r, runs, RUN);
  Points to = {0};
  if (!expr_is_int(groups, 0)) to = lanes_groups(r, p, place, groups);
  if (!expr_is_int(over, 0)) to = followed(r, &to, lanes_runs(r, p, place, from, over));
  if (!expr_is_int(remainder_of(r, n, RUN * LANES), 0)) to = followed(r, &to, lanes_rest(r, p, place, runs));
  return label_reduced(r, to, place);
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
  const Expr **index = exprs_labels(x->arena, x->exprs, r->c->free.n);
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
