/* codegen/schedule/cpu/sums/scatter.c - scatters. A reduction over the points where an output label equals a value
 * computed from the point, `H[b] = sum[e where bin[e] == b] w[e]`, visits the points once and adds each to its output,
 * instead of testing every point for every output. Points of outputs outside of the domain are left out. Sums of rows,
 * as in the adjoint of a gather, are made where the result lies; others in an array of the kernel's own, which is then
 * stored. Where they update few rows of a state, as in a training step's `E - rate * grad`, only rows that some point
 * goes to are touched. */
#include "schedule/schedule.h"

#include <math.h>
#include <string.h>

enum {
  PINS_MOST = 4,
  LANES = 64,                /* points of a contiguous label to add together, */
  LINE = 64,                 /*   or at least so many bytes: a memory access fetches a whole line */
  SUMS_MOST = 1 << 20,       /* bytes of all sums at once, if they have more than one label, */
  LINES_MOST = 1 << 23,      /*   and if each output has only a line; */
  WALKS = 8,                 /*   more replace so many walks over the points, as one for each of a label's */
  PARTS = 8,                 /* rows of results are cut for so many threads, */
  PART_LEAST = 256,          /*   into parts of at least so many bytes */
  FEW = PUT_FEW,             /* outputs for each point, at least, where only those of points are touched */
  UPDATE_DEPTH = 8,          /* of an update's expression */
  RATES_MOST = 4             /* of its factors that are not known before the program runs */
};

typedef struct Scatter {
  Sched *s;
  const StagePlan *p;
  Env *e;
  uint32_t n;
  uint32_t b[PINS_MOST + 1]; /* the output labels, */
  const Expr *to[PINS_MOST]; /*   the stage's expressions that they equal, */
  const Expr *ahead;         /*   what is tested before these are computed, */
  const Expr *rest;          /*   and the rest of the predicate (NULL: none) */
  bool gated;                /* the domain is the same for all outputs of a walk */
  const Expr *asked;         /* of `ahead` and `rest`, what the loops over the points do not bound: by point, */
  const Expr *last;          /*   before and behind its output */
  bool lanes;                /* one more label follows, whose points are added together: */
  int64_t width;             /*   so many at a time, */
  const Expr *lo, *count;    /*   `count` of them from `lo` on */
  bool in_place;             /* sums are made where the result lies */
  bool few;                  /* outputs without a point are left alone: there is a sum for each point, of which the */
  uint32_t whose;            /*   last of an output has its sum; by output: that point */
  uint32_t n_rate;           /* this holds only if such factors are positive and finite: */
  const Expr *rate[RATES_MOST]; /* the expressions of the stage that continues, and */
  const Expr *only;          /*   the condition, once it is computed; else all outputs are made. NULL: there are none */
  uint32_t place;            /* position of each output's value, for argmax and argmin; -1: none */
} Scatter;

static bool is_pinned(const Scatter *c, uint32_t label) {
  for (uint32_t k = 0; k < c->n; k++)
    if (c->b[k] == label) return true;
  return false;
}

/* Whether the sums with n points of one more label fit in `most` bytes. */
static bool sums_fit(const Scatter *c, uint32_t label, int64_t n, int64_t most) {
  double bytes = (double)dtype_size(c->p->stage->sum->acc) * (double)n;
  for (uint32_t k = 0; k < c->n; k++) {
    if (!c->p->exact[c->b[k]]) return false;
    bytes *= (double)c->p->size[c->b[k]];
  }
  return c->p->exact[label] && bytes <= (double)most;
}

/* Whether points are contiguous along the label, and go to the same output for all of it. */
static bool is_along(const Scatter *c, uint32_t label) {
  const StagePlan *p = c->p;
  bool along = false;
  for (uint32_t a = 0; a + 1 < p->n_access; a++) along |= plan_move(p, a, label) == MOVE_UNIT;
  for (uint32_t k = 0; k < c->n; k++) along &= !ex_has_label(c->to[k], label);
  const Expr *domain = p->stage->sum->domain;
  return along && !(c->rest && ex_has_label(c->rest, label)) && !(domain && ex_has_label(domain, label));
}

/* Whether sums can be made where the result lies: it is stored as it is summed, and is read by nobody before. */
static bool is_in_place(const Scatter *c, uint32_t label) {
  const Sched *s = c->s;
  const TaskStage *st = c->p->stage;
  const EinSum *sum = st->sum;
  if (st->buffer < 0 || s->follow.goes_on || s->of_stage[st - s->task->stages.at] != NOWHERE) return false;
  const TaskBuffer *to = buffer_seen(s, (uint32_t)st->buffer);
  if (sum->domain || to->dtype != sum->acc || sum->dtype != sum->acc) return false;
  for (uint32_t i = 0; i < s->task->stages.len; i++)
    for (uint32_t j = 0; j < s->task->stages.at[i].sum->n_slot; j++) {
      TaskSlot slot = s->task->stages.at[i].slot[j];
      if (!slot.kept && buffer_seen(s, slot.index)->id == to->id) return false;
    }
  return plan_move(c->p, c->p->n_access - 1, label) == MOVE_UNIT;
}

/* The lanes of a part of a row of results. */
static int64_t part_lanes(const StagePlan *p, uint32_t label) {
  int64_t least = PART_LEAST / dtype_size(p->stage->sum->acc), n = p->size[label] / PARTS / least * least;
  if (n < least) n = least;
  return p->exact[label] && p->size[label] < n ? p->size[label] : n;
}

/* The stage that continues from the sums, and what its expressions are at the current point. */
static Env next_env(const Scatter *c) {
  return (Env){.s = c->s, .stage = &c->s->task->stages.at[c->s->follow.then], .label = c->e->label};
}

/* Takes a factor that is the same for all outputs and known before the points are walked over, such as a rate that is a
 * state. 0 times it is 0 if it is positive and finite. */
static bool rate_take(Scatter *c, const Expr *e) {
  Sched *s = c->s;
  Env next = next_env(c);
  uint32_t to = buffer_seen(s, (uint32_t)next.stage->buffer)->id;
  if (e->kind == EX_REAL || e->labels || e->has & HAS_CALL || c->n_rate == RATES_MOST || !ex_is_safe(&next, e))
    return false;
  ExprNodes reads = expr_nodes(s->arena, e, HAS_READ);
  for (const Expr *x; (x = expr_next_read(&reads));) {
    TaskSlot slot = next.stage->slot[x->i];
    if (slot.kept || buffer_seen(s, slot.index)->id == to) return false;
  }
  c->rate[c->n_rate++] = e;
  return true;
}

static bool is_zero(const Expr *e, bool minus) {
  return e->kind == EX_REAL && e->f == 0 && (signbit(e->f) != 0) == minus;
}

/* The expression of the stage that continues, where nothing is summed. */
static const Expr *of_nothing(Scatter *c, const Expr *e, uint32_t depth) {
  Exprs *x = c->s->x;
  const TaskStage *next = &c->s->task->stages.at[c->s->follow.then];
  if (e->kind == EX_READ && next->slot[e->i].kept) return red_identity(c->s, c->p->stage->sum);
  if (is_op(e, OP_CAST) && depth) return expr_cast(x, (DType)e->dtype, of_nothing(c, e->arg[0], depth - 1));
  if (e->kind != EX_OP || e->op == OP_EXTERN || e->n != 2 || !depth) return e;
  const Expr *arg[2] = {of_nothing(c, e->arg[0], depth - 1), of_nothing(c, e->arg[1], depth - 1)};
  bool scales = e->op == OP_MUL || e->op == OP_DIV;
  if (scales && arg[0]->kind == EX_REAL && arg[1]->kind == EX_REAL)
    return expr_real(x, (DType)e->dtype, e->op == OP_MUL ? arg[0]->f * arg[1]->f : arg[0]->f / arg[1]->f);
  if (scales && is_zero(arg[0], false) && rate_take(c, arg[1])) return arg[0];
  if (e->op == OP_MUL && is_zero(arg[1], false) && rate_take(c, arg[0])) return arg[1];
  for (uint32_t k = 0; k < 2; k++) /* what may be left out: x - 0, x + -0, -0 + x */
    if (e->op == OP_ADD ? is_zero(arg[k], true) : k && e->op == OP_SUB && is_zero(arg[k], false)) return arg[1 - k];
  return expr_with(x, e, arg);
}

/* Whether the sums only update a state, each element by its own sum, and one of nothing leaves the element as it is, to
 * the bit: -0 too, so `E - 0.1 * sum` does and `E + 0.1 * sum` does not. And whether most elements have no point. */
static bool is_few(Scatter *c) {
  const Sched *s = c->s;
  const StagePlan *p = c->p;
  double points = FEW, outputs = 1;
  if (!s->follow.goes_on || s->task->stages.len != s->follow.then + 1 || p->stage->sum->domain) return false;
  if (!dtype_is_float(p->stage->sum->acc) || p->stage->buffer >= 0 || s->of_stage[s->follow.from] != NOWHERE)
    return false;
  const TaskStage *next = &s->task->stages.at[s->follow.then];
  if (next->buffer < 0 || next->sum->domain) return false;
  for (uint32_t k = 0; k < p->n_red; k++) {
    if (!p->exact[p->red[k]]) return false;
    points *= (double)p->size[p->red[k]];
  }
  for (uint32_t k = 0; k < c->n; k++) {
    if (!p->exact[c->b[k]]) return false;
    outputs *= (double)p->size[c->b[k]];
  }
  if (points > outputs || outputs * dtype_size(DT_I32) > (double)PUT_ROWS) return false;
  const Expr *e = of_nothing(c, next->sum->body, UPDATE_DEPTH);
  if (e->kind != EX_READ || next->slot[e->i].kept) return false;
  const TaskBuffer *to = buffer_seen(s, (uint32_t)next->buffer);
  return buffer_seen(s, next->slot[e->i].index)->id == to->id && e->dtype == to->dtype && e->n == next->n_at &&
         exprs_same(e->n, e->arg, next->at);
}

static int64_t points_count(const Scatter *c) {
  int64_t n = 1;
  for (uint32_t k = 0; k < c->p->n_red; k++) n *= c->p->size[c->p->red[k]];
  return n;
}

/* How many points of a label to add together; 0: not even a line's worth fits. With fewer than a line, each line would
 * be read several times. */
static int64_t lanes_count(const Scatter *c, uint32_t label) {
  const StagePlan *p = c->p;
  if (is_in_place(c, label)) return part_lanes(p, label);
  int64_t n = p->size[label] < LANES ? p->size[label] : LANES, line = LINE / dtype_size(p->stage->sum->acc);
  if (c->few) {
    while (n / 2 >= line && points_count(c) * n * dtype_size(p->stage->sum->acc) > SUMS_MOST) n /= 2;
    return p->exact[label] ? n : 0;
  }
  while (n / 2 >= line && !sums_fit(c, label, n, SUMS_MOST)) n /= 2;
  return sums_fit(c, label, n, n <= line ? LINES_MOST : SUMS_MOST) ? n : 0;
}

static void lanes_find(Scatter *c) {
  const StagePlan *p = c->p;
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t l = p->order[k];
    if (is_pinned(c, l) || p->size[l] < 4 || !is_along(c, l)) continue;
    int64_t n = lanes_count(c, l);
    if (!n) continue;
    c->b[c->n] = l;
    c->lanes = true;
    c->width = n;
    c->in_place = is_in_place(c, l);
  }
}

/* Tests ahead what the predicate tests before all else, if it depends on no label of the result. An index may be in
 * range only because the output exists, or is in the domain. */
static void ahead_take(Scatter *c) {
  for (const Expr *all = c->rest, *first; all; all = c->rest) {
    for (first = all; is_op(first, OP_AND); first = first->arg[0]) continue;
    for (uint32_t k = 0; k < c->p->n_order; k++)
      if (ex_has_label(first, c->p->order[k])) return;
    if ((c->n || c->p->stage->sum->domain) && !ex_is_safe(c->e, first)) return;
    c->ahead = expr_and(c->s->x, c->ahead, first);
    c->rest = where_without(c->s, all, first);
  }
}

static bool scatter_find(Scatter *c) {
  const StagePlan *p = c->p;
  const EinSum *sum = p->stage->sum;
  if (!sum->where || !p->n_red || sum->reducer == RED_NONE) return false;
  c->rest = sum->where;
  ahead_take(c);
  for (uint32_t k = 0; k < p->n_order && c->n < PINS_MOST && c->rest; k++) {
    const Expr *rest;
    uint32_t l = p->order[k];
    bool free = true;
    if (p->size[l] <= 2 || (c->n && p->size[l] < WALKS && !sums_fit(c, l, p->size[l], SUMS_MOST)) ||
        !pin_find(c->e, c->rest, l, !sum->domain, &c->to[c->n], &rest))
      continue;
    for (uint32_t i = 0; i < c->n; i++) free &= !ex_has_label(c->to[c->n], c->b[i]) && !ex_has_label(c->to[i], l);
    if (!free) continue;
    c->b[c->n++] = l;
    c->rest = rest;
    ahead_take(c);
  }
  if (c->n && !red_is_arg(sum)) {
    c->few = is_few(c);
    lanes_find(c);
    c->few &= c->lanes;
  }
  return c->n > 0;
}

static const Expr *sum_read(Scatter *c, uint32_t acc, const Expr *const *at) {
  return place_read(c->s, acc, c->n + c->lanes, at);
}

/* Computes the output of a point, by pinned label, and opens a test that it exists, and that the rest of the predicate
 * holds where that is wanted. */
static void pins_open(Scatter *c, const Expr **at, bool rest) {
  Sched *s = c->s;
  const StagePlan *p = c->p;
  const Expr *inside = NULL;
  for (uint32_t k = 0; k < c->n; k++) c->e->label[c->b[k]] = ex_int(s, 0); /* no `to` depends on them */
  if (c->asked) into(s, &if_add(s, ex_shared(s, ex_of(c->e, c->asked)))->body);
  for (uint32_t k = 0; k < c->n; k++) {
    uint32_t place = place_own(s, p->stage->label[c->b[k]], "at", DT_I64, 0, NULL);
    let_add(s, place, ex_shared(s, ex_of(c->e, c->to[k])));
    at[k] = scalar_read(s, place);
    inside = expr_and(s->x, inside, expr_op2(s->x, OP_LE, ex_int(s, 0), at[k]));
    inside = expr_and(s->x, inside, expr_op2(s->x, OP_LT, at[k], p->stage->bound[c->b[k]]));
    if (k + 1 < c->n && (c->to[k + 1]->has & HAS_READ)) {
      into(s, &if_add(s, inside)->body);
      inside = NULL;
    }
  }
  if (inside) into(s, &if_add(s, inside)->body);
  for (uint32_t k = 0; k < c->n; k++) at[k] = c->e->label[c->b[k]] = named(s, p->stage->label[c->b[k]], "b", at[k]);
  const Expr *domain = c->gated ? NULL : p->stage->sum->domain;
  if (domain) into(s, &if_add(s, ex_shared(s, ex_of(c->e, domain)))->body);
  if (rest && c->last) into(s, &if_add(s, ex_shared(s, ex_of(c->e, c->last)))->body);
}

/* Opens the lanes over the label that is added together. Returns the enclosing body. */
static LoopBody *lanes_open(Scatter *c, const Expr **at) {
  Sched *s = c->s;
  uint32_t l = c->b[c->n], v;
  if (!c->lanes) return s->body;
  v = var_new(s, c->p->stage->label[l], "l");
  LoopBody *was = into(s, &for_add(s, v, ex_int(s, 0), c->count, 1, BIND_VECTOR)->body);
  at[c->n] = var_read(s, v);
  c->e->label[l] = ex_add(s, c->lo, at[c->n]);
  return was;
}

/* Keeps the value and its position if it beats its output's, or is the first one. */
static void best_take(Scatter *c, uint32_t acc, const Expr *const *at) {
  Sched *s = c->s;
  const EinSum *sum = c->p->stage->sum;
  uint32_t v = place_own(s, NULL, "v", sum->acc, 0, NULL);
  let_add(s, v, ex_shared(s, ex_of(c->e, sum->body)));
  const Expr *value = scalar_read(s, v), *first = expr_op2(s->x, OP_LT, sum_read(c, c->place, at), ex_int(s, 0));
  into(s, &if_add(s, expr_op2(s->x, OP_OR, first, red_beats(s, sum, value, sum_read(c, acc, at))))->body);
  store_add(s, acc, c->n, at, value);
  store_add(s, c->place, c->n, at, red_position(s, c->p, c->e));
}

/* The current point's place in the result. */
static const Expr *const *result_at(const Scatter *c, uint32_t *n) {
  *n = c->p->stage->n_at;
  return ex_store_at(c->e, c->p->stage);
}

/* Whether the domain may be tested before the points are walked over. */
static bool is_gated(const Scatter *c) {
  const Expr *domain = c->p->stage->sum->domain;
  for (uint32_t k = 0; domain && k < c->n + c->lanes; k++)
    if (ex_has_label(domain, c->b[k])) return false;
  return domain;
}

/* Opens loops over the points, as far as the predicate bounds them: over a segment, in start[i] <= e
 * and e < start[i+1]. Returns the enclosing body. */
static LoopBody *points_open(Scatter *c) {
  Sched *s = c->s;
  const StagePlan *p = c->p;
  LoopBody *was = s->body;
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  c->asked = c->ahead, c->last = c->rest;
  c->gated = is_gated(c);
  if (c->gated) into(s, &if_add(s, ex_shared(s, ex_of(c->e, p->stage->sum->domain)))->body);
  if (c->gated) env_hold(c->e, p->stage->sum->domain);
  for (uint32_t l = 0; l < p->stage->sum->n_out; l++) bound[l] = !is_pinned(c, l) && !(c->lanes && l == c->b[c->n]);
  for (uint32_t k = 0; k < p->n_red; k++) {
    uint32_t l = p->red[k], v = var_new(s, p->stage->label[l], "r");
    const Expr *lo = ex_int(s, 0), *hi = p->stage->bound[l], **part[] = {&c->asked, &c->last};
    for (uint32_t i = 0; i < COUNT(part); i++) {
      *part[i] = where_narrow(c->e, *part[i], p->n_label, l, bound, &lo, &hi);
      *part[i] = where_narrow_data(c->e, *part[i], p->n_label, l, bound, &lo, &hi);
    }
    c->e->label[l] = var_read(s, v);
    into(s, &for_add(s, v, lo, hi, 1, BIND_SEQ)->body);
    bound[l] = true;
  }
  if (c->gated) env_hold(c->e, NULL);
  return was;
}

/* The point that has the sum of this output. */
static const Expr *whose(Scatter *c, const Expr *const *at) {
  return named(c->s, NULL, "whose", expr_cast(c->s->x, DT_I64, place_read(c->s, c->whose, c->n, at)));
}

/* Opens loops over the outputs, the innermost of this kind. */
static void outputs_open(Scatter *c, const Expr **at, LoopBind innermost) {
  Sched *s = c->s;
  for (uint32_t k = 0; k < c->n; k++) {
    LoopBind bind = k + 1 < c->n ? BIND_SEQ : innermost;
    const Expr *v = for_open(s, c->p->stage->label[c->b[k]], "b", ex_int(s, 0), c->p->stage->bound[c->b[k]], 1, bind);
    at[k] = c->e->label[c->b[k]] = v;
  }
}

/* Computes whether outputs without a point stay as they are, and if not so, says of all that they have none. */
static void only_begin(Scatter *c) {
  Sched *s = c->s;
  Env next = next_env(c);
  const Expr *at[PINS_MOST + 1], *all = NULL;
  LoopBody *was = s->body;
  for (uint32_t k = 0; k < c->n_rate; k++) {
    const Expr *e = ex_shared(s, ex_of(&next, c->rate[k]));
    DType t = (DType)e->dtype;
    all = expr_and(s->x, all, expr_op2(s->x, OP_LT, expr_real(s->x, t, 0), e));
    all = expr_and(s->x, all, expr_op2(s->x, OP_LT, e, expr_real(s->x, t, (double)INFINITY)));
  }
  if (!all) return;
  uint32_t only = place_own(s, NULL, "only", DT_BOOL, 0, NULL);
  let_add(s, only, all);
  c->only = scalar_read(s, only);
  into(s, &if_add(s, expr_op1(s->x, OP_NOT, c->only))->body);
  outputs_open(c, at, BIND_VECTOR);
  store_add(s, c->whose, c->n, at, expr_int(s->x, DT_I32, -1));
  into(s, was);
}

/* Stores the outputs without a point, if they do not stay as they are. */
static void only_end(Scatter *c) {
  Sched *s = c->s;
  const TaskStage *st = c->p->stage;
  const Expr *at[PINS_MOST + 1];
  LoopBody *was = s->body;
  if (!c->only) return;
  into(s, &if_add(s, expr_op1(s->x, OP_NOT, c->only))->body);
  outputs_open(c, at, BIND_SEQ);
  into(s, &if_add(s, expr_op2(s->x, OP_LT, whose(c, at), ex_int(s, 0)))->body);
  lanes_open(c, at);
  result_store(s, st, c->e, expr_cast(s->x, st->sum->dtype, red_identity(s, st->sum)));
  into(s, was);
}

/* Before sums of few outputs: says whose sum each is, and sets all to their initial value. Outputs without a point are
 * not looked at. */
static void few_begin(Scatter *c, uint32_t acc) {
  Sched *s = c->s;
  const Expr *at[PINS_MOST + 1], *to[2], *points = ex_int(s, points_count(c));
  only_begin(c);
  LoopBody *was = points_open(c);
  pins_open(c, at, false);
  store_add(s, c->whose, c->n, at, expr_cast(s->x, DT_I32, red_position(s, c->p, c->e)));
  into(s, was);
  const Expr *v = for_open(s, NULL, "r", ex_int(s, 0), points, 1, BIND_SEQ);
  lanes_open(c, at);
  to[0] = v, to[1] = at[c->n];
  store_add(s, acc, 2, to, red_identity(s, c->p->stage->sum));
  into(s, was);
}

/* After them: the point that has an output's sum stores it. */
static void few_end(Scatter *c, uint32_t acc) {
  Sched *s = c->s;
  const TaskStage *st = c->p->stage;
  const Expr *at[PINS_MOST + 1], *to[2];
  LoopBody *was = points_open(c);
  pins_open(c, at, false);
  to[0] = named(s, NULL, "point", red_position(s, c->p, c->e));
  into(s, &if_add(s, expr_op2(s->x, OP_EQ, whose(c, at), to[0]))->body);
  lanes_open(c, at);
  to[1] = at[c->n];
  result_store(s, st, c->e, expr_cast(s->x, st->sum->dtype, place_read(s, acc, 2, to)));
  into(s, was);
  only_end(c);
}

/* Adds each point to its output, if there is one. Long float sums need no lanes here: each output gets only a part of
 * the points. */
static void points_walk(Scatter *c, uint32_t acc) {
  Sched *s = c->s;
  const StagePlan *p = c->p;
  const EinSum *sum = p->stage->sum;
  const Expr *at[PINS_MOST + 1], *few[2];
  LoopBody *was = points_open(c);
  pins_open(c, at, true);
  if (red_is_arg(sum)) {
    best_take(c, acc, at);
    into(s, was);
    return;
  }
  if (c->few) {
    few[0] = whose(c, at);
    const Expr *low = expr_op2(s->x, OP_LE, ex_int(s, 0), few[0]);
    into(s, &if_add(s, expr_and(s->x, low, expr_op2(s->x, OP_LT, few[0], ex_int(s, points_count(c)))))->body);
  }
  LoopBody *around = lanes_open(c, at);
  few[1] = at[c->n];
  const Expr *of = ex_of(c->e, sum->body), *value = ex_shared(s, c->lanes ? ex_ahead(s, of, around, at[c->n]) : of);
  uint32_t n = c->few ? 2 : c->n + c->lanes;
  const Expr *const *to = c->in_place ? result_at(c, &n) : c->few ? few : at;
  store_add(s, acc, n, to, ex_shared(s, red_combine(s, sum, place_read(s, acc, n, to), value)));
  into(s, was);
}

/* Loops over the sums: sets each to its initial value, or stores its result. */
static void sums_walk(Scatter *c, uint32_t acc, bool begin) {
  Sched *s = c->s;
  const TaskStage *st = c->p->stage;
  bool arg = red_is_arg(st->sum);
  const Expr *at[PINS_MOST + 1];
  LoopBody *was = s->body;
  outputs_open(c, at, c->lanes ? BIND_SEQ : BIND_VECTOR);
  lanes_open(c, at);
  if (!begin && st->sum->domain) into(s, &if_add(s, ex_shared(s, ex_of(c->e, st->sum->domain)))->body);
  if (begin) store_add(s, acc, c->n + c->lanes, at, red_identity(s, st->sum));
  else result_store(s, st, c->e, expr_cast(s->x, st->sum->dtype, sum_read(c, arg ? c->place : acc, at)));
  if (begin && arg) store_add(s, c->place, c->n, at, ex_int(s, -1));
  into(s, was);
}

static void how_scatter(const Scatter *c) {
  Buf b = buf_new(c->s->arena);
  const TaskStage *st = c->p->stage;
  for (uint32_t k = 0; k < c->n; k++) buf_printf(&b, "%s%s", k ? " and " : "", how_label(st, c->b[k]));
  if (c->lanes) buf_printf(&b, ", %lld %s together", (long long)c->width, how_label(st, c->b[c->n]));
  if (c->in_place) buf_printf(&b, ", where the result lies");
  if (c->few) buf_printf(&b, ", and no others are touched%s", c->n_rate ? " if the rate is positive" : "");
  how_add(c->s, st, "one walk over the points, each put to its %s", b.s);
}

/* Sets the whole result to the reducer's identity, in loops of their own: those of a map, which writes it from its
 * first to its last byte. */
static void result_begin(const Scatter *c, bool threads) {
  Sched *s = c->s;
  const TaskStage *st = c->p->stage;
  TaskStage *own = &s->task->stages.at[st - s->task->stages.at];
  const EinSum *was = own->sum;
  EinSum *sum = MAKE(s->arena, EinSum, .n_out = was->n_out, .dtype = was->dtype, .acc = was->acc,
      .body = red_identity(s, was));
  Env e = {.s = s, .stage = st, .label = NEW_ARRAY(s->arena, const Expr *, was->n_out + 1)};
  memcpy(e.label, c->e->label, s->outer * sizeof *e.label);
  own->sum = sum;
  stage_loops(s, st, &e, threads);
  own->sum = was;
}

bool scatter_loops(Sched *s, const StagePlan *p, Env *e, bool threads) {
  Scatter c = {.s = s, .p = p, .e = e};
  if (!scatter_find(&c)) return false;
  const TaskStage *st = p->stage;
  if (c.in_place) result_begin(&c, threads);
  how_scatter(&c);
  Walk *w = NEW(s->arena, Walk);
  uint32_t all = c.n + c.lanes, *other = NEW_ARRAY(s->arena, uint32_t, p->n_order + 1);
  const Expr *work = ex_int(s, (int64_t)p->ops * (c.lanes ? c.width : 1)), *dim[PINS_MOST + 1];
  for (uint32_t k = 0; k < p->n_order; k++) {
    if (is_pinned(&c, p->order[k]) || (c.lanes && p->order[k] == c.b[c.n])) continue;
    other[w->n] = p->order[k];
    walk_add(s, w, st->label[p->order[k]], st->bound[p->order[k]]);
  }
  uint32_t n = w->n;
  if (c.lanes) walk_add(s, w, NULL, ex_div_up(s, st->bound[c.b[c.n]], ex_int(s, c.width)));
  for (uint32_t k = 0; k < p->n_red; k++) work = ex_mul(s, work, st->bound[p->red[k]]);
  if (threads && w->n) walk_chunks(s, w, work, BIND_SEQ);
  else walk_plain(s, w, 0, BIND_SEQ);
  for (uint32_t k = 0; k < n; k++) e->label[other[k]] = w->index[k];
  for (uint32_t k = 0; k < all; k++) dim[k] = k < c.n ? st->bound[c.b[k]] : ex_int(s, c.width);
  if (c.few) {
    var_add(s, c.whose = place_own(s, NULL, "whose", DT_I32, c.n, dim), NULL);
    dim[0] = ex_int(s, points_count(&c)), dim[1] = ex_int(s, c.width), all = 2;
  }
  if (c.lanes) {
    c.lo = named(s, NULL, "lo", ex_mul(s, w->index[n], ex_int(s, c.width)));
    bool even = p->exact[c.b[c.n]] && p->size[c.b[c.n]] % c.width == 0;
    c.count = even ? ex_int(s, c.width)
                   : named(s, NULL, "n", ex_min(s, ex_int(s, c.width), ex_sub(s, st->bound[c.b[c.n]], c.lo)));
  }
  uint32_t acc = c.in_place ? place_of_buffer(s, (uint32_t)st->buffer, true)
                            : place_own(s, st->name, "sums", st->sum->acc, all, dim);
  if (!c.in_place) var_add(s, acc, NULL);
  if (red_is_arg(st->sum)) var_add(s, c.place = place_own(s, NULL, "places", DT_I64, all, dim), NULL);
  if (c.few) few_begin(&c, acc);
  else if (!c.in_place) sums_walk(&c, acc, true);
  points_walk(&c, acc);
  if (c.few) few_end(&c, acc);
  else if (!c.in_place) sums_walk(&c, acc, false);
  return true;
}
