/* codegen/schedule/reduce.c - reducers, and the reduction for one output point: value by value, if lanes
 * (schedule/cpu/rows/lanes.c) do not pay. Long float sums go in blocks, never in one long chain; which ones depends on
 * sizes alone. */
#include "schedule.h"

enum { SEGMENT_FEW = 24 };   /* points that are added up before lanes are folded */

/* ---- reducers ---------------------------------------------------------------------------------------- */

const Expr *red_identity(Sched *s, const EinSum *sum) {
  if (red_is_arg(sum)) return expr_end(s->x, sum->acc, sum->reducer == RED_ARGMIN);
  const Expr *e = reducer_identity(s->x, sum);
  if (e) return e;
  return dtype_is_float(sum->acc) ? expr_real(s->x, sum->acc, 0) : expr_int(s->x, sum->acc, 0);
}

typedef struct Pair { const Expr *a, *b; } Pair;

static const Expr *param_of(void *env, Exprs *x, const Expr *leaf) {
  const Pair *p = env;
  (void)x;
  return leaf->kind == EX_PARAM ? leaf->i ? p->b : p->a : leaf;
}

Op red_op(const EinSum *sum) {
  if (sum->reducer == RED_ARGMAX) return OP_MAX;
  return sum->reducer == RED_ARGMIN ? OP_MIN : (Op)reducer_info[sum->reducer].combine;
}

const Expr *red_combine(Sched *s, const EinSum *sum, const Expr *a, const Expr *b) {
  Pair p = {a, b};
  if (sum->reducer == RED_MONOID) return expr_map(s->x, sum->monoid->combine, param_of, &p);
  return expr_op2(s->x, red_op(sum), a, b);
}

static bool is_sum(const Expr *e) { return e->kind == EX_OP && (e->op == OP_ADD || e->op == OP_SUB); }

static bool is_sum_of_products(const Expr *e) {
  if (is_sum(e)) return is_sum_of_products(e->arg[0]) && is_sum_of_products(e->arg[1]);
  return e->kind == EX_OP && e->op == OP_MUL && (e->dtype == DT_F32 || e->dtype == DT_F64);
}

static uint32_t terms_list(const Expr *e, bool less, RedTerm *term) {
  if (!is_sum(e)) {
    if (term) *term = (RedTerm){e, less};
    return 1;
  }
  uint32_t n = terms_list(e->arg[0], less, term);
  return n + terms_list(e->arg[1], less != (e->op == OP_SUB), term ? term + n : NULL);
}

uint32_t red_terms(Sched *s, const EinSum *sum, const Expr *value, const RedTerm **term) {
  bool apart = sum->reducer == RED_SUM && value->dtype == sum->acc && is_sum_of_products(value);
  RedTerm *of = NEW_ARRAY(s->arena, RedTerm, apart ? terms_list(value, false, NULL) : 1);
  *term = of;
  if (apart) return terms_list(value, false, of);
  *of = (RedTerm){value, false};
  return 1;
}

const Expr *red_add(Sched *s, const EinSum *sum, const Expr *have, RedTerm term) {
  return term.less ? expr_op2(s->x, OP_SUB, have, term.value) : red_combine(s, sum, have, term.value);
}

const Expr *red_combine_terms(Sched *s, const EinSum *sum, const Expr *have, const Expr *value) {
  const RedTerm *term;
  uint32_t n = red_terms(s, sum, value, &term);
  for (uint32_t k = 0; k < n; k++) have = red_add(s, sum, have, term[k]);
  return have;
}

/* ---- one accumulator ---------------------------------------------------------------------------------- */

static uint32_t acc_new(Sched *s, const EinSum *sum, const char *name) {
  return var_own(s, NULL, name, sum->acc, 0, NULL, red_identity(s, sum));
}

/* Splits the innermost label into blocks, if it may be long. */
static void block_loop(Sched *s, const StagePlan *p, uint32_t l, const Expr **lo, const Expr **hi) {
  if (p->exact[l] && p->size[l] <= 2 * SUM_BLOCK) return;
  *lo = for_open(s, NULL, "block", *lo, *hi, SUM_BLOCK, BIND_SEQ);
  *hi = named(s, NULL, "end", ex_min(s, *hi, ex_add(s, *lo, ex_int(s, SUM_BLOCK))));
}

void red_loops_where(Sched *s, const StagePlan *p, Env *e, uint32_t *part) {
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  const Expr *rest = p->stage->sum->where;
  for (uint32_t l = 0; l < p->stage->sum->n_out; l++) bound[l] = true;
  for (uint32_t k = 0; k < p->n_red; k++) {
    uint32_t l = p->red[k];
    const Expr *lo = ex_int(s, 0), *hi = p->stage->bound[l];
    rest = where_narrow(e, rest, p->n_label, l, bound, &lo, &hi);
    rest = where_narrow_data(e, rest, p->n_label, l, bound, &lo, &hi);
    Comb comb;
    bool is_comb = comb_take(e, &rest, p->n_label, l, bound, &lo, &hi, &comb);
    if (part && k + 1 == p->n_red) {
      block_loop(s, p, l, &lo, &hi);
      *part = acc_new(s, p->stage->sum, "part");
      s->after = s->body;
    }
    if (is_comb) comb_open(s, &comb, 1, &lo, &hi);
    e->label[l] = for_open(s, p->stage->label[l], "r", lo, hi, 1, BIND_SEQ);
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
  parts &= points > 2.0 * (double)SUM_BLOCK;
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

const Expr *red_beats(Sched *s, const EinSum *sum, const Expr *v, const Expr *best) {
  const Expr *more = expr_op2(s->x, sum->reducer == RED_ARGMAX ? OP_GT : OP_LT, v, best);
  if (!dtype_is_float(sum->acc)) return more;
  const Expr *either = expr_op2(s->x, OP_OR, is_nan(s, v), more);
  return expr_op2(s->x, OP_AND, expr_op1(s->x, OP_NOT, is_nan(s, best)), either);
}

const Expr *red_beats_lanes(Sched *s, const EinSum *sum, const Expr *v, const Expr *best) {
  bool most = sum->reducer == RED_ARGMAX;
  if (!dtype_is_float(sum->acc)) return expr_op2(s->x, most ? OP_GT : OP_LT, v, best);
  const Expr *not_less = expr_op1(s->x, OP_NOT, expr_op2(s->x, most ? OP_LE : OP_GE, v, best));
  return expr_and(s->x, not_less, expr_op1(s->x, OP_NOT, expr_op1(s->x, OP_ISNAN, best)));
}

const Expr *red_some(Sched *s, const TaskStage *st, uint32_t n, const uint32_t *label) {
  const Expr *some = NULL;
  for (uint32_t k = 0; k < n; k++) {
    const Expr *size = st->bound[label[k]];
    if (size->kind != EX_INT || size->i < 1) some = expr_and(s->x, some, expr_op2(s->x, OP_GT, size, ex_int(s, 0)));
  }
  return some;
}

const Expr *red_position(Sched *s, const StagePlan *p, const Env *e) {
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
  into(s, &if_add(s, expr_op2(s->x, OP_OR, first, red_beats(s, sum, value, scalar_read(s, best))))->body);
  store_add(s, best, 0, NULL, value);
  store_add(s, at, 0, NULL, red_position(s, p, e));
  into(s, was);
  return scalar_read(s, at);
}

/* ---- a point ----------------------------------------------------------------------------------------- */

/* Lanes along the innermost reduced label. */
static const Expr *reduce_lanes(Sched *s, const StagePlan *p, Env *e) {
  SweepPart part = {.p = p, .e = e};
  Sweep w = {.s = s, .n = 1, .part = &part, .n_loop = p->n_red, .loop = p->red, .label = e->label, .row = NOWHERE};
  if (p->n_order) w.row = p->order[p->n_order - 1];
  sweep_fetches(&w, p, e, NULL);
  sweep_loops(&w);
  return part.result;
}

/* Whether data say where the points begin and end, as those of a row in compressed rows. */
static bool is_segment(Sched *s, const StagePlan *p) {
  return p->n_red == 1 && p->stage->sum->where && where_is_walk(s, p, p->red[0]) && !where_is_range(p, p->red[0]);
}

const Expr *red_points(Sched *s, const StagePlan *p) {
  const Expr *points = ex_int(s, 1), *results = ex_int(s, 1), *where = p->stage->sum->where;
  bool narrow = false; /* for one label: it may bound the others */
  for (uint32_t k = p->n_red; k-- > 0;) {
    uint32_t l = p->red[k];
    int64_t most = where && !narrow ? where_most(s, p, l) : p->size[l];
    narrow |= most < p->size[l];
    points = ex_mul(s, most < p->size[l] ? ex_int(s, most) : p->stage->bound[l], points);
  }
  if (!is_segment(s, p)) return points;
  for (uint32_t l = 0; l < p->stage->sum->n_out; l++)
    if (ex_has_label(where, l)) results = ex_mul(s, results, p->stage->bound[l]);
  return ex_div_up(s, points, ex_max(s, results, ex_int(s, 1)));
}

/* The points of a segment one after the other if they are few, for which lanes would be emptied and folded; else in
 * lanes. */
static const Expr *reduce_segment(Sched *s, const StagePlan *p, Env *e) {
  const EinSum *sum = p->stage->sum;
  uint32_t l = p->red[0], acc = acc_new(s, sum, "acc");
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  for (uint32_t k = 0; k < p->n_label; k++) bound[k] = k != l;
  const Expr *lo = ex_int(s, 0), *hi = p->stage->bound[l];
  const Expr *rest = where_narrow(e, sum->where, p->n_label, l, bound, &lo, &hi);
  where_narrow_data(e, rest, p->n_label, l, bound, &lo, &hi);
  uint32_t points = place_own(s, NULL, "points", DT_I64, 0, NULL);
  var_add(s, points, ex_sub(s, hi, lo)); /* a variable: of a value, proofs would follow all cases of hi and lo */
  LoopStmt *few = if_add(s, expr_op2(s->x, OP_LE, scalar_read(s, points), ex_int(s, SEGMENT_FEW)));
  LoopBody *was = into(s, &few->body);
  red_loops_where(s, p, e, NULL);
  acc_step(s, sum, acc, ex_shared(s, ex_of(e, sum->body)));
  into(s, &few->other);
  store_add(s, acc, 0, NULL, expr_cast(s->x, sum->acc, reduce_lanes(s, p, e)));
  into(s, was);
  return expr_cast(s->x, sum->dtype, scalar_read(s, acc));
}

const Expr *reduce_point(Sched *s, const StagePlan *p, Env *e) {
  const EinSum *sum = p->stage->sum;
  bool lanes = !s->target->device && lanes_width(s, p);
  if (lanes && is_segment(s, p)) return reduce_segment(s, p, e);
  if (lanes) return reduce_lanes(s, p, e);
  if (reducer_is_arg(sum->reducer)) return reduce_arg(s, p, e);
  return expr_cast(s->x, sum->dtype, reduce_plain(s, p, e));
}
