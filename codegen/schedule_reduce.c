/* codegen/schedule_reduce.c - a reduction at one output point. Long float sums go in lanes and blocks, never in one long
 * chain; which, depends on sizes alone. */
#include "schedule.h"

#include <math.h>

enum { BLOCK = 2048 };       /* so many points go into the lanes before the lanes are folded */

/* ---- what a reducer is ------------------------------------------------------------------------------- */

static const Expr *extreme(Sched *s, DType t, bool most) {
  static const int bits[DTYPES] = {[DT_I64] = 63, [DT_I32] = 31, [DT_I16] = 15, [DT_I8] = 7};
  if (dtype_is_float(t)) return expr_real(s->x, t, most ? INFINITY : -INFINITY);
  if (t == DT_BOOL) return expr_bool(s->x, most);
  if (t == DT_U8) return expr_int(s->x, t, most ? 255 : 0);
  int64_t top = (int64_t)(((uint64_t)1 << bits[t]) - 1);
  return expr_int(s->x, t, most ? top : -top - 1);
}

static const Expr *number(Sched *s, DType t, int v) {
  return dtype_is_float(t) ? expr_real(s->x, t, v) : expr_int(s->x, t, v);
}

const Expr *red_identity(Sched *s, const EinSum *sum) {
  switch (sum->reducer) {
  case RED_PROD: case RED_ALL: return number(s, sum->acc, 1);
  case RED_MAX: case RED_FMAX: case RED_LSE: case RED_ARGMAX: return extreme(s, sum->acc, false);
  case RED_MIN: case RED_FMIN: case RED_ARGMIN: return extreme(s, sum->acc, true);
  case RED_MONOID: return sum->monoid->identity;
  default: return number(s, sum->acc, 0);
  }
}

typedef struct Pair { const Expr *a, *b; } Pair;

static const Expr *param_of(void *env, Exprs *x, const Expr *leaf) {
  const Pair *p = env;
  (void)x;
  return leaf->kind == EX_PARAM ? leaf->i ? p->b : p->a : leaf;
}

const Expr *red_combine(Sched *s, const EinSum *sum, const Expr *a, const Expr *b) {
  Pair p = {a, b};
  if (sum->reducer == RED_MONOID) return expr_map(s->x, sum->monoid->combine, param_of, &p);
  return expr_op2(s->x, reducer_info[sum->reducer].combine, a, b);
}

/* ---- one accumulator ---------------------------------------------------------------------------------- */

static uint32_t acc_new(Sched *s, const EinSum *sum, const char *name) {
  uint32_t acc = place_own(s, NULL, name, sum->acc, 0, NULL);
  var_add(s, acc, red_identity(s, sum));
  return acc;
}

static void red_loop(Sched *s, const StagePlan *p, Env *e, uint32_t l) {
  uint32_t v = var_new(s, p->stage->label[l], "r");
  e->label[l] = var_read(s, v);
  into(s, &for_add(s, v, ex_int(s, 0), p->stage->bound[l], 1, BIND_SEQ)->body);
}

/* The innermost label in blocks, where it may be long. */
static void block_loop(Sched *s, const StagePlan *p, uint32_t l, const Expr **lo, const Expr **hi) {
  if (p->exact[l] && p->size[l] <= 2 * BLOCK) return;
  uint32_t b = var_new(s, NULL, "block");
  into(s, &for_add(s, b, *lo, *hi, BLOCK, BIND_SEQ)->body);
  *lo = var_read(s, b);
  *hi = named(s, NULL, "end", ex_min(s, *hi, ex_add(s, *lo, ex_int(s, BLOCK))));
}

void red_loops_where(Sched *s, const StagePlan *p, Env *e, uint32_t *part) {
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  const Expr *rest = p->stage->sum->where;
  for (uint32_t l = 0; l < p->stage->sum->n_out; l++) bound[l] = true;
  for (uint32_t k = 0; k < p->n_red; k++) {
    uint32_t l = p->red[k];
    const Expr *lo = ex_int(s, 0), *hi = p->stage->bound[l];
    rest = where_narrow(e, rest, p->n_label, l, bound, &lo, &hi);
    if (part && k + 1 == p->n_red) {
      block_loop(s, p, l, &lo, &hi);
      *part = acc_new(s, p->stage->sum, "part");
      s->after = s->body;
    }
    uint32_t v = var_new(s, p->stage->label[l], "r");
    e->label[l] = var_read(s, v);
    into(s, &for_add(s, v, lo, hi, 1, BIND_SEQ)->body);
    bound[l] = true;
  }
  if (rest) into(s, &if_add(s, ex_shared(s, ex_of(e, rest)))->body);
}

static void acc_step(Sched *s, const EinSum *sum, uint32_t acc, const Expr *value) {
  bool twice = sum->reducer == RED_MONOID; /* its function may use an argument twice */
  if (twice && value->kind != EX_INT && value->kind != EX_REAL) {
    uint32_t v = place_own(s, NULL, "v", sum->acc, 0, NULL);
    let_add(s, v, value);
    value = scalar_read(s, v);
  }
  const Expr *next = red_combine(s, sum, scalar_read(s, acc), value);
  store_add(s, acc, 0, NULL, twice ? ex_shared(s, next) : next);
}

static const Expr *reduce_plain(Sched *s, const StagePlan *p, Env *e) {
  const EinSum *sum = p->stage->sum;
  bool parts = sum->reducer == RED_SUM && dtype_is_float(sum->acc) && p->n_red > 0;
  double points = 1;
  for (uint32_t k = 0; k < p->n_red; k++) points *= p->exact[p->red[k]] ? (double)p->size[p->red[k]] : 1e9;
  uint32_t acc = acc_new(s, sum, "acc"), part = acc;
  LoopBody *was = s->body;
  parts &= points > 2.0 * (double)BLOCK;
  red_loops_where(s, p, e, parts ? &part : NULL);
  acc_step(s, sum, part, ex_shared(s, ex_of(e, sum->body)));
  if (parts) {
    into(s, s->after);
    store_add(s, acc, 0, NULL, red_combine(s, sum, scalar_read(s, acc), scalar_read(s, part)));
  }
  into(s, was);
  return scalar_read(s, acc);
}

/* ---- argmax -------------------------------------------------------------------------------------------- */

static const Expr *is_nan(Sched *s, const Expr *e) { return expr_op1(s->x, OP_ISNAN, e); }

/* The first NaN beats all else, the first of equals the others. */
static const Expr *beats(Sched *s, const EinSum *sum, const Expr *v, const Expr *best) {
  const Expr *more = expr_op2(s->x, sum->reducer == RED_ARGMAX ? OP_GT : OP_LT, v, best);
  if (!dtype_is_float(sum->acc)) return more;
  const Expr *either = expr_op2(s->x, OP_OR, is_nan(s, v), more);
  return expr_op2(s->x, OP_AND, expr_op1(s->x, OP_NOT, is_nan(s, best)), either);
}

static const Expr *flat_position(Sched *s, const StagePlan *p, const Env *e) {
  const Expr *at = ex_int(s, 0);
  for (uint32_t l = p->stage->sum->n_out; l < p->n_label; l++)
    at = ex_add(s, ex_mul(s, at, p->stage->bound[l]), e->label[l]);
  return at;
}

static const Expr *reduce_arg(Sched *s, const StagePlan *p, Env *e) {
  const EinSum *sum = p->stage->sum;
  uint32_t best = acc_new(s, sum, "best"), at = place_own(s, NULL, "at", DT_I64, 0, NULL);
  var_add(s, at, ex_int(s, -1));
  LoopBody *was = s->body;
  red_loops_where(s, p, e, NULL);
  uint32_t v = place_own(s, NULL, "v", sum->acc, 0, NULL);
  let_add(s, v, ex_shared(s, ex_of(e, sum->body)));
  const Expr *value = scalar_read(s, v);
  const Expr *first = expr_op2(s->x, OP_LT, scalar_read(s, at), ex_int(s, 0));
  into(s, &if_add(s, expr_op2(s->x, OP_OR, first, beats(s, sum, value, scalar_read(s, best))))->body);
  store_add(s, best, 0, NULL, value);
  store_add(s, at, 0, NULL, flat_position(s, p, e));
  into(s, was);
  return scalar_read(s, at);
}

/* ---- lanes along the innermost reduced label ------------------------------------------------------------ */

static const Expr *lane(Sched *s, uint32_t acc, const Expr *l) { return place_read(s, acc, 1, &l); }

static void lane_step(Sched *s, const EinSum *sum, uint32_t acc, const Expr *l, const Expr *value) {
  store_add(s, acc, 1, &l, red_combine(s, sum, lane(s, acc, l), value));
}

static void lane_loop(Sched *s, int64_t width, uint32_t *var, LoopBody **was) {
  *var = var_new(s, NULL, "l");
  *was = into(s, &for_add(s, *var, ex_int(s, 0), ex_int(s, width), 1, BIND_VECTOR)->body);
}

/* Lane 0 becomes the lanes taken together, in a fixed tree. */
static void lanes_fold(Sched *s, const EinSum *sum, uint32_t acc, int64_t width) {
  for (int64_t half = width / 2; half >= 1; half /= 2) {
    if (half == 1) {
      lane_step(s, sum, acc, ex_int(s, 0), lane(s, acc, ex_int(s, 1)));
      return;
    }
    uint32_t v;
    LoopBody *was;
    lane_loop(s, half, &v, &was);
    const Expr *l = var_read(s, v);
    lane_step(s, sum, acc, l, lane(s, acc, ex_add(s, l, ex_int(s, half))));
    into(s, was);
  }
}

/* From lo to hi of label r: whole widths in lanes, the rest one by one into lane 0 and on. */
static void lanes_span(Sched *s, const StagePlan *p, Env *e, uint32_t r, uint32_t acc, int64_t width, const Expr *lo,
                       const Expr *hi) {
  const EinSum *sum = p->stage->sum;
  const Expr *whole = ex_sub(s, hi, ex_int(s, width - 1));
  uint32_t v = var_new(s, p->stage->label[r], "r"), l;
  LoopBody *was = into(s, &for_add(s, v, lo, whole, width, BIND_SEQ)->body), *outside;
  lane_loop(s, width, &l, &outside);
  e->label[r] = ex_add(s, var_read(s, v), var_read(s, l));
  lane_step(s, sum, acc, var_read(s, l), ex_shared(s, ex_of(e, sum->body)));
  into(s, was);
  if (expr_is_int(lo, 0) && hi->kind == EX_INT && hi->i % width == 0) return;
  const Expr *count = ex_sub(s, hi, lo);
  const Expr *from = ex_sub(s, hi, expr_op2(s->x, OP_MOD, count, ex_int(s, width)));
  uint32_t rest = var_new(s, p->stage->label[r], "r");
  into(s, &for_add(s, rest, from, hi, 1, BIND_VECTOR)->body);
  e->label[r] = var_read(s, rest);
  lane_step(s, sum, acc, ex_sub(s, var_read(s, rest), from), ex_shared(s, ex_of(e, sum->body)));
  into(s, was);
}

/* How far the innermost reduced label goes. */
static void lanes_bounds(Sched *s, const StagePlan *p, Env *e, const Expr **lo, const Expr **hi) {
  uint32_t r = p->red[p->n_red - 1];
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  for (uint32_t l = 0; l < p->n_label; l++) bound[l] = l != r;
  *lo = ex_int(s, 0), *hi = p->stage->bound[r];
  where_narrow(e, p->stage->sum->where, p->n_label, r, bound, lo, hi);
}

static const Expr *reduce_lanes(Sched *s, const StagePlan *p, Env *e, int64_t width) {
  const EinSum *sum = p->stage->sum;
  uint32_t r = p->red[p->n_red - 1];
  uint32_t tot = acc_new(s, sum, "tot");
  LoopBody *was = s->body;
  for (uint32_t k = 0; k + 1 < p->n_red; k++) red_loop(s, p, e, p->red[k]);
  const Expr *lo, *hi;
  lanes_bounds(s, p, e, &lo, &hi);
  if (sum->where) {
    lo = named(s, NULL, "from", lo);
    hi = named(s, NULL, "to", ex_max(s, lo, hi)); /* never before it, so that what is left over is counted right */
  }
  if (!p->exact[r] || p->size[r] > BLOCK) {
    uint32_t b = var_new(s, NULL, "block");
    into(s, &for_add(s, b, lo, hi, BLOCK, BIND_SEQ)->body);
    lo = var_read(s, b);
    uint32_t end = place_own(s, NULL, "end", DT_I64, 0, NULL);
    let_add(s, end, ex_min(s, hi, ex_add(s, lo, ex_int(s, BLOCK))));
    hi = scalar_read(s, end);
  }
  const Expr *dim = ex_int(s, width);
  uint32_t acc = place_own(s, NULL, "acc", sum->acc, 1, &dim);
  var_add(s, acc, red_identity(s, sum));
  lanes_span(s, p, e, r, acc, width, lo, hi);
  lanes_fold(s, sum, acc, width);
  const Expr *first = lane(s, acc, ex_int(s, 0));
  store_add(s, tot, 0, NULL, red_combine(s, sum, scalar_read(s, tot), first));
  into(s, was);
  return scalar_read(s, tot);
}

/* Lanes are worth it where the reduced label is long and steps to the next element. */
static int64_t lanes_width(Sched *s, const StagePlan *p) {
  const EinSum *sum = p->stage->sum;
  if (!p->n_red || sum->reducer == RED_MONOID || sum->reducer == RED_LSE) return 0;
  uint32_t r = p->red[p->n_red - 1];
  if (sum->where && !where_is_range(p, r)) return 0;
  int64_t width = 4 * s->target->lanes_bytes / (dtype_size(sum->acc) < 4 && dtype_is_float(sum->acc) ? 4 : dtype_size(sum->acc));
  while (width > 8 && p->size[r] < 2 * width) width /= 2;
  return p->size[r] >= 2 * width ? width : 0;
}

const Expr *reduce_point(Sched *s, const StagePlan *p, Env *e) {
  const EinSum *sum = p->stage->sum;
  if (sum->reducer == RED_ARGMAX || sum->reducer == RED_ARGMIN) return reduce_arg(s, p, e);
  int64_t width = lanes_width(s, p);
  const Expr *v = width ? reduce_lanes(s, p, e, width) : reduce_plain(s, p, e);
  return expr_cast(s->x, sum->dtype, v);
}
