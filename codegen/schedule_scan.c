/* codegen/schedule_scan.c - reductions that go a little further at each point than at the one before it:
 * C[s] = sum[t where t <= s] X[t]. One label, q, moves one bound of the reduced label r, always the same way, and what is
 * reduced does not look at q: so q goes step by step, only the points that are new are taken, and the loops are as long
 * as Q + R, not Q times R. */
#include "schedule.h"

enum {
  BLOCK = 1024,              /* long float sums: so many points go into `part` before it is added to `tot` */
  NO_LABEL = -1
};

typedef struct Scan {
  Sched *s;
  const StagePlan *p;
  Env *e;
  const Expr *lo, *hi;       /* bounds of r, over the stage's own labels */
  uint32_t q, r;
  bool end_moves;            /* q moves hi; else lo */
  bool backwards;            /* there are more points for smaller q, so q counts down */
  bool blocked;
  int64_t v, lanes;          /* a label in lanes, each of which has its own sum; may be NO_LABEL */
  const Expr *v0, *count;    /* its first index here, and how many lanes there are */
  uint32_t at;               /* how far r has come: [lo, at) is taken, or [at, hi) */
  uint32_t part, tot;        /* not blocked: part is all */
} Scan;

/* ---- whether, and along what ----------------------------------------------------------------------------- */

static bool fits(const StagePlan *p) {
  const EinSum *sum = p->stage->sum;
  if (sum->reducer == RED_NONE || sum->reducer == RED_ARGMAX || sum->reducer == RED_ARGMIN) return false;
  return p->n_red == 1 && p->n_order && sum->where && !sum->domain;
}

/* Which ways e moves with a label; false if that is not known. */
static bool ways(const Expr *e, uint32_t label, bool *up, bool *down) {
  int64_t slope;
  if (e->kind == EX_OP && (e->op == OP_MIN || e->op == OP_MAX))
    return ways(e->arg[0], label, up, down) && ways(e->arg[1], label, up, down);
  if (!ex_slope(e, label, &slope)) return false;
  *up |= slope > 0;
  *down |= slope < 0;
  return true;
}

/* The bounds of r, if they are all that the predicate says. Labels stand for themselves here. */
static bool bounds_find(Scan *c) {
  Sched *s = c->s;
  const TaskStage *st = c->p->stage;
  Env own = {.s = s, .stage = st, .label = NEW_ARRAY(s->arena, const Expr *, c->p->n_label + 1)};
  bool *bound = NEW_ARRAY(s->arena, bool, c->p->n_label + 1);
  for (uint32_t l = 0; l < c->p->n_label; l++) {
    own.label[l] = expr_label(s->x, l);
    bound[l] = l != c->r;
  }
  c->lo = ex_int(s, 0), c->hi = st->bound[c->r];
  return !where_narrow(&own, st->sum->where, c->p->n_label, c->r, bound, &c->lo, &c->hi);
}

/* q moves one bound of r, one way. Points may be taken in any order: reducers commute. */
static bool goes_along(Scan *c, uint32_t q) {
  bool low = ex_has_label(c->lo, q), up = false, down = false;
  if (low == ex_has_label(c->hi, q) || ex_has_label(c->p->stage->sum->body, q)) return false;
  if (!ways(low ? c->lo : c->hi, q, &up, &down) || up == down) return false;
  c->q = q;
  c->end_moves = !low;
  c->backwards = low ? up : down;
  return true;
}

static bool label_find(Scan *c) {
  for (uint32_t k = c->p->n_order; k-- > 0;)
    if (goes_along(c, c->p->order[k])) return true;
  return false;
}

/* ---- lanes ----------------------------------------------------------------------------------------------- */

static int64_t lanes_of(const Scan *c, uint32_t v) {
  DType t = c->p->stage->sum->acc;
  int64_t size = (dtype_is_float(t) && dtype_size(t) < 4) || t == DT_BOOL ? 4 : dtype_size(t);
  int64_t one = c->s->target->lanes_bytes / size, want = 4 * one, n = c->p->size[v];
  if (!c->p->exact[v]) return want;
  if (n <= want) return n;
  for (int64_t d = want; d >= one; d -= one)
    if (n % d == 0) return d;
  return want;
}

/* Another output label along which a read steps to the next element; the points are the same for all of it. */
static void lanes_choose(Scan *c) {
  const StagePlan *p = c->p;
  c->v = NO_LABEL;
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t l = p->order[k];
    bool along = false;
    for (uint32_t a = 0; a + 1 < p->n_access; a++) along |= plan_move(p, a, l) == MOVE_UNIT;
    if (l == c->q || !along || p->size[l] < 4 || ex_has_label(c->lo, l) || ex_has_label(c->hi, l)) continue;
    if (plan_score(p, l) <= red_score(p)) continue;
    c->v = l;
    c->lanes = lanes_of(c, l);
  }
}

/* What follows is done for each lane, l; or once, l being NULL. */
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
  uint32_t place = place_own(s, NULL, name, sum->acc, dim ? 1 : 0, &dim);
  var_add(s, place, red_identity(s, sum));
  return place;
}

static const Expr *cell(Scan *c, uint32_t place, const Expr *l) { return place_read(c->s, place, l ? 1 : 0, &l); }

static void cell_set(Scan *c, uint32_t place, const Expr *l, const Expr *value) {
  store_add(c->s, place, l ? 1 : 0, &l, value);
}

/* ---- a point --------------------------------------------------------------------------------------------- */

/* What part has goes to tot where a block begins. */
static void part_end(Scan *c) {
  Sched *s = c->s;
  const EinSum *sum = c->p->stage->sum;
  const Expr *l, *in_block = expr_op2(s->x, OP_MOD, c->e->label[c->r], ex_int(s, BLOCK));
  LoopBody *was = into(s, &if_add(s, expr_op2(s->x, OP_EQ, in_block, ex_int(s, 0)))->body);
  lanes_open(c, &l);
  cell_set(c, c->tot, l, red_combine(s, sum, cell(c, c->tot, l), cell(c, c->part, l)));
  cell_set(c, c->part, l, red_identity(s, sum));
  into(s, was);
}

static void point_take(Scan *c) {
  Sched *s = c->s;
  const EinSum *sum = c->p->stage->sum;
  const Expr *l;
  LoopBody *was = lanes_open(c, &l);
  const Expr *value = ex_shared(s, ex_of(c->e, sum->body));
  bool twice = sum->reducer == RED_MONOID; /* its function may use an argument twice */
  if (twice) {
    uint32_t v = place_own(s, NULL, "v", sum->acc, 0, NULL);
    let_add(s, v, value);
    value = scalar_read(s, v);
  }
  const Expr *next = red_combine(s, sum, cell(c, c->part, l), value);
  cell_set(c, c->part, l, twice ? ex_shared(s, next) : next);
  into(s, was);
}

/* The points that this q has and the one before it had not. */
static void points_take(Scan *c) {
  Sched *s = c->s;
  const TaskStage *st = c->p->stage;
  const Expr *at = scalar_read(s, c->at), *to = ex_of(c->e, c->end_moves ? c->hi : c->lo);
  uint32_t end = place_own(s, NULL, "end", DT_I64, 0, NULL);
  let_add(s, end, c->end_moves ? ex_max(s, at, to) : ex_min(s, at, to));
  to = scalar_read(s, end);
  uint32_t v = var_new(s, st->label[c->r], "r");
  LoopBody *was = s->body;
  into(s, &for_add(s, v, c->end_moves ? at : to, c->end_moves ? to : at, 1, BIND_SEQ)->body);
  c->e->label[c->r] = var_read(s, v);
  if (c->blocked) part_end(c);
  point_take(c);
  into(s, was);
  store_add(s, c->at, 0, NULL, to);
}

static void value_give(Scan *c) {
  Sched *s = c->s;
  const EinSum *sum = c->p->stage->sum;
  const Expr *l;
  LoopBody *was = lanes_open(c, &l);
  const Expr *value = cell(c, c->part, l);
  if (c->blocked) value = red_combine(s, sum, cell(c, c->tot, l), value);
  result_store(s, c->p->stage, c->e, expr_cast(s->x, sum->dtype, value));
  into(s, was);
}

/* ---- all of them ----------------------------------------------------------------------------------------- */

static void scan(Scan *c) {
  Sched *s = c->s;
  const TaskStage *st = c->p->stage;
  LoopBody *was = s->body;
  if (c->blocked) c->tot = cells_new(c, "tot");
  c->part = cells_new(c, c->blocked ? "part" : "acc");
  c->at = place_own(s, NULL, "at", DT_I64, 0, NULL);
  var_add(s, c->at, ex_of(c->e, c->end_moves ? c->lo : c->hi));
  uint32_t i = var_new(s, c->backwards ? NULL : st->label[c->q], "i");
  const Expr *q = var_read(s, i), *size = st->bound[c->q];
  into(s, &for_add(s, i, ex_int(s, 0), size, 1, BIND_SEQ)->body);
  if (c->backwards) q = named(s, st->label[c->q], "i", ex_sub(s, ex_sub(s, size, ex_int(s, 1)), q));
  c->e->label[c->q] = q;
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
    if (l == c->q || (int64_t)l == c->v) continue;
    label[w->n] = l;
    walk_add(s, w, st->label[l], st->bound[l]);
  }
  uint32_t others = w->n;
  if (c->v != NO_LABEL) walk_add(s, w, NULL, ex_div_up(s, st->bound[c->v], ex_int(s, c->lanes)));
  int64_t ops = (int64_t)p->ops * (c->v == NO_LABEL ? 1 : c->lanes);
  const Expr *work = ex_mul(s, ex_int(s, ops), ex_add(s, st->bound[c->q], st->bound[c->r]));
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
  if (!fits(p)) return false;
  Scan c = {.s = s, .p = p, .e = e, .r = p->red[0]};
  const EinSum *sum = p->stage->sum;
  if (!bounds_find(&c) || !label_find(&c)) return false;
  c.blocked = dtype_is_float(sum->acc) && sum->reducer == RED_SUM && (!p->exact[c.r] || p->size[c.r] > 2 * BLOCK);
  lanes_choose(&c);
  scans_walk(&c, threads);
  return true;
}
