/* codegen/schedule/cpu/sums/scan.c - reductions whose range grows from point to point: C[s] = sum[t where t <= s]
 * X[t]. One label, q, moves one bound of the reduced label r, always in the same direction, and the body does not
 * depend on q. So q goes step by step and takes only the new points: Q + R steps, not Q times R.
 *
 * If the bound moves by one with q, the steps that take exactly one new point each are known in advance, and their
 * loop has no inner loop. Float sums then take points in groups with their own running sums, so that only one addition
 * per group waits for the group before. */
#include "expr/prove/prove.h"
#include "schedule/schedule.h"

enum {
  FILL = 64,                 /* points that are computed in lanes before they are added up, */
  FILL_OPS = 6,              /*   if one takes more than so many operations */
  NO_LABEL = -1
};

typedef struct Scan {
  Sched *s;
  const StagePlan *p;
  Env *e;
  Running run;
  bool blocked;
  int64_t v, lanes;          /* a label in lanes, each with its own sum; may be NO_LABEL */
  const Expr *v0, *count;    /* its first index here, and the number of lanes */
  uint32_t at;               /* how far r has come: [lo, at) is reduced, or [at, hi) */
  uint32_t part, tot;        /* not blocked: part holds everything */
  uint32_t place;            /* position of the best, for argmax and argmin; -1: none */
} Scan;

/* ---- lanes ----------------------------------------------------------------------------------------------- */

static int64_t lanes_of(const Scan *c, uint32_t v) {
  DType t = c->p->stage->sum->acc;
  int64_t size = dtype_is_float(t) && dtype_size(t) < 4 ? 4 : dtype_size(t);
  int64_t one = c->s->target->lanes_bytes / size, want = 4 * one, n = c->p->size[v];
  if (!c->p->exact[v]) return want;
  if (n <= want) return n;
  for (int64_t d = want; d >= one; d -= one)
    if (n % d == 0) return d;
  return want;
}

/* Chooses another output label along which a read is contiguous, and on which the range of points does not depend. */
static void lanes_choose(Scan *c) {
  const StagePlan *p = c->p;
  c->v = NO_LABEL;
  if (red_is_arg(p->stage->sum)) return;
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t l = p->order[k];
    bool along = false;
    for (uint32_t a = 0; a + 1 < p->n_access; a++) along |= plan_move(p, a, l) == MOVE_UNIT;
    if (l == c->run.q || !along || p->size[l] < 4 || ex_has_label(c->run.lo, l) || ex_has_label(c->run.hi, l)) continue;
    if (plan_score(p, l) <= red_score(p)) continue;
    c->v = l;
    c->lanes = lanes_of(c, l);
  }
}

/* Opens a loop over the lanes, l; without lanes, l is NULL. */
static LoopBody *lanes_open(Scan *c, const Expr **l) {
  Sched *s = c->s;
  *l = NULL;
  if (c->v == NO_LABEL) return s->body;
  uint32_t v = var_new(s, NULL, "l");
  *l = var_read(s, v);
  c->e->label[c->v] = ex_add(s, c->v0, *l);
  return into(s, &for_add(s, v, ex_int(s, 0), c->count, 1, BIND_VECTOR)->body);
}

static uint32_t cells_new(Scan *c, const char *name) {
  Sched *s = c->s;
  const EinSum *sum = c->p->stage->sum;
  const Expr *dim = c->v == NO_LABEL ? NULL : ex_int(s, c->lanes);
  return var_own(s, NULL, name, sum->acc, dim ? 1 : 0, &dim, red_identity(s, sum));
}

static const Expr *cell(Scan *c, uint32_t place, const Expr *l) { return place_read(c->s, place, l ? 1 : 0, &l); }

static void cell_set(Scan *c, uint32_t place, const Expr *l, const Expr *value) {
  store_add(c->s, place, l ? 1 : 0, &l, value);
}

/* ---- a point --------------------------------------------------------------------------------------------- */

/* Adds part to tot and resets it. */
static void part_flush(Scan *c) {
  Sched *s = c->s;
  const EinSum *sum = c->p->stage->sum;
  const Expr *l;
  LoopBody *was = lanes_open(c, &l);
  cell_set(c, c->tot, l, red_combine(s, sum, cell(c, c->tot, l), cell(c, c->part, l)));
  cell_set(c, c->part, l, red_identity(s, sum));
  into(s, was);
}

static void part_end(Scan *c) { /* at the start of a block */
  Sched *s = c->s;
  const Expr *in_block = expr_op2(s->x, OP_MOD, c->e->label[c->run.r], ex_int(s, SCAN_BLOCK));
  LoopBody *was = into(s, &if_add(s, expr_op2(s->x, OP_EQ, in_block, ex_int(s, 0)))->body);
  part_flush(c);
  into(s, was);
}

/* The test whether the value replaces the best. The first of equals wins, and points come either forwards or
 * backwards. */
static const Expr *is_better(Scan *c, const Expr *value) {
  const EinSum *sum = c->p->stage->sum;
  const Expr *best = scalar_read(c->s, c->part);
  return c->run.end_moves ? red_beats(c->s, sum, value, best)
                          : expr_op1(c->s->x, OP_NOT, red_beats(c->s, sum, best, value));
}

/* Takes one more value of argmax or argmin, with its position. */
static void best_take(Scan *c, const Expr *value) {
  Sched *s = c->s;
  uint32_t v = place_own(s, NULL, "v", c->p->stage->sum->acc, 0, NULL);
  let_add(s, v, value);
  value = scalar_read(s, v);
  const Expr *first = expr_op2(s->x, OP_LT, scalar_read(s, c->place), ex_int(s, 0));
  const Expr *better = expr_op2(s->x, OP_OR, first, is_better(c, value));
  LoopBody *was = into(s, &if_add(s, better)->body);
  store_add(s, c->part, 0, NULL, value);
  store_add(s, c->place, 0, NULL, red_position(s, c->p, c->e));
  into(s, was);
}

/* Adds a value to lane l. */
static void value_take(Scan *c, const Expr *l, const Expr *value) {
  Sched *s = c->s;
  const EinSum *sum = c->p->stage->sum;
  bool twice = sum->reducer == RED_MONOID; /* its function may use an argument twice */
  if (red_is_arg(sum)) {
    best_take(c, value);
    return;
  }
  if (twice) {
    uint32_t v = place_own(s, NULL, "v", sum->acc, 0, NULL);
    let_add(s, v, value);
    value = scalar_read(s, v);
  }
  const Expr *next = red_combine(s, sum, cell(c, c->part, l), value);
  cell_set(c, c->part, l, twice ? ex_shared(s, next) : next);
}

/* The sum of lane l so far. */
static const Expr *lane_sum(Scan *c, const Expr *l) {
  const Expr *part = cell(c, red_is_arg(c->p->stage->sum) ? c->place : c->part, l);
  return c->blocked ? red_combine(c->s, c->p->stage->sum, cell(c, c->tot, l), part) : part;
}

/* Opens a test: for a result, of its domain; for a point, of the predicate beyond its bounds. */
static void asked_open(Scan *c, const Expr *cond) {
  if (cond) into(c->s, &if_add(c->s, ex_shared(c->s, ex_of(c->e, cond)))->body);
}

static void value_give(Scan *c) {
  const Expr *l;
  LoopBody *was = lanes_open(c, &l);
  asked_open(c, c->p->stage->sum->domain);
  result_store(c->s, c->p->stage, c->e, expr_cast(c->s->x, c->p->stage->sum->dtype, lane_sum(c, l)));
  into(c->s, was);
}

static void point_take(Scan *c) {
  const Expr *l;
  LoopBody *was = lanes_open(c, &l);
  asked_open(c, c->run.rest);
  value_take(c, l, ex_shared(c->s, ex_of(c->e, c->run.body)));
  into(c->s, was);
}

/* Takes the points from lo to hi. */
static void points_loop(Scan *c, const Expr *lo, const Expr *hi) {
  Sched *s = c->s;
  uint32_t v = var_new(s, c->p->stage->label[c->run.r], "r");
  LoopBody *was = into(s, &for_add(s, v, lo, hi, 1, BIND_SEQ)->body);
  bool back = red_is_arg(c->p->stage->sum) && !c->run.end_moves;
  c->e->label[c->run.r] = back
      ? named(s, NULL, "r", ex_sub(s, ex_sub(s, ex_add(s, lo, hi), ex_int(s, 1)), var_read(s, v)))
      : var_read(s, v);
  if (c->blocked) part_end(c);
  point_take(c);
  into(s, was);
}

/* Takes the points that this q adds. */
static void points_take(Scan *c) {
  Sched *s = c->s;
  const Expr *at = scalar_read(s, c->at), *to = ex_of(c->e, c->run.end_moves ? c->run.hi : c->run.lo);
  uint32_t end = place_own(s, NULL, "end", DT_I64, 0, NULL);
  let_add(s, end, c->run.end_moves ? ex_max(s, at, to) : ex_min(s, at, to));
  to = scalar_read(s, end);
  points_loop(c, c->run.end_moves ? at : to, c->run.end_moves ? to : at);
  store_add(s, c->at, 0, NULL, to);
}

/* ---- one new point per step --------------------------------------------------------------------------------- */

typedef struct Run {
  Scan *c;
  const Expr *first;         /* the point at step 0, if it existed; the next ones follow, upwards or downwards */
  const Expr *from, *to;     /* the steps that take a point */
  uint32_t fill;             /* the computed points of a block; NOWHERE: each is computed when it is taken */
} Run;

/* Clamps e to lo..hi, where lo <= hi. */
static const Expr *between(Sched *s, const Expr *lo, const Expr *e, const Expr *hi) {
  e = expr_normal(s->x, e);
  if (ex_at_most(s, e, lo)) return lo;
  if (ex_at_most(s, hi, e)) return hi;
  return ex_min(s, hi, ex_at_most(s, lo, e) ? e : ex_max(s, lo, e));
}

static const Expr *limit(Sched *s, const char *name, const Expr *e) {
  return e->kind == EX_DIM ? e : named(s, NULL, name, e);
}

static void step_set(Scan *c, const Expr *i) {
  Sched *s = c->s;
  const Expr *last = ex_sub(s, c->p->stage->bound[c->run.q], ex_int(s, 1));
  c->e->label[c->run.q] = c->run.backwards ? ex_sub(s, last, i) : i;
}

static void point_set(const Run *r, const Expr *i) {
  Scan *c = r->c;
  step_set(c, i);
  c->e->label[c->run.r] = c->run.end_moves ? ex_add(c->s, r->first, i) : ex_sub(c->s, r->first, i);
}

static LoopBody *steps_open(Scan *c, const Expr *lo, const Expr *hi, int64_t by, const Expr **i) {
  uint32_t v = var_new(c->s, c->run.backwards ? NULL : c->p->stage->label[c->run.q], "i");
  *i = var_read(c->s, v);
  return into(c->s, &for_add(c->s, v, lo, hi, by, BIND_SEQ)->body);
}

/* Stores the results of steps without a new point. */
static void steps_give(Scan *c, const Expr *lo, const Expr *hi) {
  const Expr *i;
  if (ex_at_most(c->s, hi, lo)) return;
  LoopBody *was = steps_open(c, lo, hi, 1, &i);
  step_set(c, i);
  value_give(c);
  into(c->s, was);
}

static const Expr *run_value(const Run *r, const Expr *i, const Expr *block) {
  Scan *c = r->c;
  const Expr *at = ex_sub(c->s, i, block);
  point_set(r, i);
  return r->fill != NOWHERE ? place_read(c->s, r->fill, 1, &at) : ex_shared(c->s, ex_of(c->e, c->run.body));
}

/* Stores the result of step i; the value has the accumulator's dtype. */
static void run_give(const Run *r, const Expr *i, const Expr *block, const Expr *value) {
  Scan *c = r->c;
  const Expr *at = ex_sub(c->s, i, block);
  point_set(r, i);
  if (r->fill != NOWHERE) store_add(c->s, r->fill, 1, &at, value);
  else result_store(c->s, c->p->stage, c->e, expr_cast(c->s->x, c->p->stage->sum->dtype, value));
}

static void run_step(Run *r, const Expr *i, const Expr *block) {
  Scan *c = r->c;
  const Expr *l;
  LoopBody *was = lanes_open(c, &l), *here = c->s->body;
  point_set(r, i);
  asked_open(c, c->run.rest);
  value_take(c, l, run_value(r, i, block));
  into(c->s, here);
  run_give(r, i, block, lane_sum(c, l));
  into(c->s, was);
}

static const Expr *letted(Scan *c, const char *name, const Expr *value) {
  uint32_t place = place_own(c->s, NULL, name, c->p->stage->sum->acc, 0, NULL);
  let_add(c->s, place, value);
  return scalar_read(c->s, place);
}

/* SCAN_GROUP steps from i on: running sums of SCAN_CHAIN points each, then the sums before them. */
static void group_step(Run *r, const Expr *i, const Expr *block) {
  Scan *c = r->c;
  Sched *s = c->s;
  const EinSum *sum = c->p->stage->sum;
  const Expr *own[SCAN_GROUP], *before = scalar_read(s, c->part), *whole = NULL;
  for (int64_t k = 0; k < SCAN_GROUP; k++) {
    const Expr *value = run_value(r, ex_add(s, i, ex_int(s, k)), block);
    own[k] = letted(c, "p", k % SCAN_CHAIN ? red_combine(s, sum, own[k - 1], value) : value);
  }
  if (c->blocked) before = red_combine(s, sum, scalar_read(s, c->tot), before);
  for (int64_t k = 0; k < SCAN_GROUP; k++) {
    if (k % SCAN_CHAIN == 0) {
      const Expr *chain = own[k + SCAN_CHAIN - 1];
      before = letted(c, "before", k ? red_combine(s, sum, before, own[k - 1]) : before);
      whole = whole ? red_combine(s, sum, whole, chain) : chain;
    }
    run_give(r, ex_add(s, i, ex_int(s, k)), block, red_combine(s, sum, before, own[k]));
  }
  store_add(s, c->part, 0, NULL, red_combine(s, sum, scalar_read(s, c->part), whole));
}

/* Takes the steps from lo to hi, in groups if that is faster: a float addition has the latency of several operations.
 */
static void run_span(Run *r, const Expr *lo, const Expr *hi, const Expr *block) {
  Scan *c = r->c;
  Sched *s = c->s;
  const EinSum *sum = c->p->stage->sum;
  const Expr *i;
  LoopBody *was = s->body;
  if (c->v == NO_LABEL && dtype_is_float(sum->acc) && (sum->reducer == RED_SUM || sum->reducer == RED_PROD)) {
    const Expr *n = ex_sub(s, hi, lo);
    steps_open(c, lo, ex_sub(s, hi, ex_int(s, SCAN_GROUP - 1)), SCAN_GROUP, &i);
    group_step(r, i, block);
    into(s, was);
    n = expr_normal(s->x, n);
    if (n->kind == EX_INT && n->i % SCAN_GROUP == 0) return;
    lo = ex_sub(s, hi, expr_op2(s->x, OP_MOD, ex_sub(s, hi, lo), ex_int(s, SCAN_GROUP)));
  }
  steps_open(c, lo, hi, 1, &i);
  run_step(r, i, block);
  into(s, was);
}

/* Fills a block from its points, in lanes, or stores its results. */
static void run_lanes(const Run *r, const Expr *lo, const Expr *hi, bool in) {
  Scan *c = r->c;
  Sched *s = c->s;
  const EinSum *sum = c->p->stage->sum;
  LoopBody *was = s->body;
  const Expr *l = for_open(s, NULL, "l", ex_int(s, 0), expr_normal(s->x, ex_sub(s, hi, lo)), 1, BIND_VECTOR);
  point_set(r, ex_add(s, lo, l));
  if (in) store_add(s, r->fill, 1, &l, ex_shared(s, ex_of(c->e, c->run.body)));
  else result_store(s, c->p->stage, c->e, expr_cast(s->x, sum->dtype, place_read(s, r->fill, 1, &l)));
  into(s, was);
}


/* Whether lanes save more than an array of points costs to write and read. */
static bool fills(const Scan *c) {
  const TaskStage *st = c->p->stage;
  bool pays = c->p->ops > (double)FILL_OPS || c->s->follow.goes_on || dtype_is_half(st->sum->dtype);
  for (uint32_t k = 0; k < st->sum->n_slot; k++)
    pays |= !st->slot[k].kept && dtype_is_half(buffer_seen(c->s, st->slot[k].index)->dtype);
  return pays && c->v == NO_LABEL && !red_is_arg(st->sum);
}

static void run_steps(Run *r) {
  Scan *c = r->c;
  Sched *s = c->s;
  bool fill = fills(c);
  const Expr *block = r->from, *end = r->to, *dim = ex_int(s, fill ? FILL : SCAN_BLOCK);
  LoopBody *was = s->body;
  if (c->blocked || fill) {
    const Expr *n = expr_normal(s->x, ex_sub(s, r->to, r->from));
    steps_open(c, r->from, r->to, dim->i, &block);
    end = ex_add(s, block, dim);
    if (n->kind != EX_INT || n->i % dim->i) end = named(s, NULL, "end", ex_min(s, r->to, end));
  }
  if (fill) {
    r->fill = var_own(s, NULL, "points", c->p->stage->sum->acc, 1, &dim, NULL);
    run_lanes(r, block, end, true);
  }
  run_span(r, block, end, block);
  if (fill) run_lanes(r, block, end, false);
  if (c->blocked) part_flush(c);
  into(s, was);
}

/* Takes all steps, if the bound moves by one at each; false: it does not. */
static bool run(Scan *c) {
  Sched *s = c->s;
  const Expr *still = NULL, *moves = NULL, *none = ex_int(s, 0), *one = ex_int(s, 1),
             *size = c->p->stage->bound[c->run.q];
  if (!running_steps(s, &c->run, &still, &moves)) return false;
  step_set(c, none);
  still = ex_of(c->e, still);
  moves = ex_of(c->e, moves);
  const Expr *other = ex_of(c->e, c->run.end_moves ? c->run.lo : c->run.hi);
  Run r = {.c = c, .first = c->run.end_moves ? ex_sub(s, moves, one) : moves, .fill = NOWHERE};
  const Expr *from = c->run.end_moves ? ex_sub(s, other, r.first) : ex_sub(s, ex_add(s, moves, one), other);
  const Expr *to = c->run.end_moves ? ex_sub(s, still, r.first) : ex_sub(s, ex_add(s, moves, one), still);
  r.from = limit(s, "from", between(s, none, from, size));
  r.to = limit(s, "to", between(s, r.from, to, size));
  const Expr *lo = c->run.end_moves ? other : ex_max(s, still, ex_add(s, moves, one));
  const Expr *hi = c->run.end_moves ? ex_min(s, still, r.first) : other;
  if (!ex_at_most(s, c->run.end_moves ? r.first : other, c->run.end_moves ? other : ex_add(s, moves, one)))
    points_loop(c, lo, hi);
  steps_give(c, none, r.from);
  run_steps(&r);
  steps_give(c, r.to, size);
  return true;
}

/* ---- entry points ---------------------------------------------------------------------------------------- */

static void scan(Scan *c) {
  Sched *s = c->s;
  const TaskStage *st = c->p->stage;
  LoopBody *was = s->body;
  if (c->blocked) c->tot = cells_new(c, "tot");
  c->part = cells_new(c, c->blocked ? "part" : "acc");
  if (red_is_arg(st->sum)) var_add(s, c->place = place_own(s, NULL, "place", DT_I64, 0, NULL), ex_int(s, -1));
  if (run(c)) {
    into(s, was);
    return;
  }
  c->at = place_own(s, NULL, "at", DT_I64, 0, NULL);
  var_add(s, c->at, ex_of(c->e, c->run.end_moves ? c->run.lo : c->run.hi));
  uint32_t i = var_new(s, c->run.backwards ? NULL : st->label[c->run.q], "i");
  const Expr *q = var_read(s, i), *size = st->bound[c->run.q];
  into(s, &for_add(s, i, ex_int(s, 0), size, 1, BIND_SEQ)->body);
  if (c->run.backwards) q = named(s, st->label[c->run.q], "i", ex_sub(s, ex_sub(s, size, ex_int(s, 1)), q));
  c->e->label[c->run.q] = q;
  points_take(c);
  value_give(c);
  into(s, was);
}

static void lanes_do(Scan *c) {
  Sched *s = c->s;
  const Expr *size = c->p->stage->bound[c->v], *lanes = ex_int(s, c->lanes);
  c->count = lanes;
  if (size->kind == EX_INT && size->i % c->lanes == 0) {
    scan(c);
    return;
  }
  LoopStmt *whole = if_add(s, expr_op2(s->x, OP_LE, ex_add(s, c->v0, lanes), size));
  LoopBody *was = into(s, &whole->body);
  scan(c);
  into(s, &whole->other);
  c->count = ex_sub(s, size, c->v0);
  scan(c);
  into(s, was);
}

static void scans_walk(Scan *c, bool threads) {
  Sched *s = c->s;
  const StagePlan *p = c->p;
  const TaskStage *st = p->stage;
  Walk *w = NEW(s->arena, Walk);
  uint32_t *label = NEW_ARRAY(s->arena, uint32_t, p->n_order + 1);
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t l = p->order[k];
    if (l == c->run.q || (int64_t)l == c->v) continue;
    label[w->n] = l;
    walk_add(s, w, st->label[l], st->bound[l]);
  }
  uint32_t others = w->n;
  if (c->v != NO_LABEL) walk_add(s, w, NULL, ex_div_up(s, st->bound[c->v], ex_int(s, c->lanes)));
  int64_t ops = (int64_t)p->ops * (c->v == NO_LABEL ? 1 : c->lanes);
  const Expr *work = ex_mul(s, ex_int(s, ops), ex_add(s, st->bound[c->run.q], st->bound[c->run.r]));
  if (threads) walk_chunks(s, w, work, BIND_SEQ);
  else walk_plain(s, w, 0, BIND_SEQ);
  for (uint32_t k = 0; k < others; k++) c->e->label[label[k]] = w->index[k];
  if (c->v == NO_LABEL) {
    scan(c);
    return;
  }
  c->v0 = named(s, st->label[c->v], "v", ex_mul(s, w->index[others], ex_int(s, c->lanes)));
  lanes_do(c);
}

bool scan_loops(Sched *s, const StagePlan *p, Env *e, bool threads) {
  Scan c = {.s = s, .p = p, .e = e};
  const EinSum *sum = p->stage->sum;
  if (!running_find(s, p, &c.run)) return false;
  c.blocked =
      dtype_is_float(sum->acc) && sum->reducer == RED_SUM && (!p->exact[c.run.r] || p->size[c.run.r] > 2 * SCAN_BLOCK);
  lanes_choose(&c);
  how_add(s, p->stage, "a running %s along %s", reducer_info[sum->reducer].name, how_label(p->stage, c.run.r));
  scans_walk(&c, threads);
  return true;
}
