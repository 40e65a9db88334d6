/* codegen/schedule/cpu/rows/lanes.c - sweeps: stages over the same points that run in one loop, lanes along the
 * innermost label. In: reductions over the points of one output, and maps between them. Each lane reduces its points;
 * at the end lanes are combined by halves, for all reductions side by side, so that none waits for another. Long float
 * sums do so for each block, and never form one long chain; the block size depends on sizes alone. */
#include "schedule/schedule.h"

#include <math.h>

enum {
  VECTORS_MOST = 16,         /*   and those of all reductions of a sweep */
  LINE = 64,                 /* bytes of a cache line */
  ROW_LEAST = 2048,          /* bytes of a row that is prefetched */
  ROW_MOST = 32768,
  ROWS_AHEAD = 8192,         /*   bytes of rows to prefetch ahead, to cover the latency */
  ROWS_BYTES = 1 << 20,      /* and of all rows */
  NOT_YET = -1               /* the position in a lane that has no point yet */
};

/* ---- properties of a part --------------------------------------------------------------------------------- */

static const EinSum *sum_of(const SweepPart *q) { return q->p->stage->sum; }
static bool reduces(const SweepPart *q) { return sum_of(q)->reducer != RED_NONE; }
static bool red_is_extreme(const EinSum *sum) {
  Op op = red_op(sum);
  return op == OP_MAX || op == OP_MIN || op == OP_FMAX || op == OP_FMIN;
}

/* For max and min: whether it is a max. */
static bool red_most(const EinSum *sum) { return red_op(sum) == OP_MAX || red_op(sum) == OP_FMAX; }

/* The type of a lane. Halves that are only compared are as exact as floats, and need no rounding. */
static DType lane_dtype(const EinSum *sum) {
  return dtype_is_half(sum->acc) ? DT_F32 : sum->acc;
}

static const Expr *lane_identity(Sched *s, const EinSum *sum) {
  return expr_cast(s->x, lane_dtype(sum), red_identity(s, sum));
}

int64_t lanes_width(Sched *s, const StagePlan *p) {
  const EinSum *sum = p->stage->sum;
  if (!p->n_red || sum->reducer == RED_NONE || sum->reducer == RED_MONOID || sum->reducer == RED_LSE) return 0;
  uint32_t r = p->red[p->n_red - 1];
  if (sum->where && comb_is(&(Env){.s = s, .stage = p->stage}, sum->where, p->n_label, r)) return 0;
  if (sum->where && (red_is_arg(sum) || !where_is_walk(s, p, r)) && !where_is_mask(s, p, r)) return 0;
  int64_t width = LANE_CHAINS * vector_lanes(s, red_is_arg(sum) && dtype_size(sum->acc) < 4 ? DT_I32 : sum->acc);
  int64_t most = where_most(s, p, r);
  while (width > 8 && most < 2 * width) width /= 2;
  return most >= 2 * width ? width : 0;
}

/* The type of positions: 32 bits if they fit, so that their vectors have as many lanes as the values'. */
static DType place_dtype(const Sweep *w, const SweepPart *q) {
  int64_t all = 1;
  bool small = dtype_size(lane_dtype(sum_of(q))) <= 4;
  for (uint32_t k = 0; small && k < w->n_loop; k++) {
    const Expr *n = q->p->stage->bound[w->loop[k]];
    small = n->kind == EX_INT && mul_ok(all, n->i, &all) && all < INT32_MAX / 2;
  }
  return small ? DT_I32 : DT_I64;
}

static int64_t vectors(const Sweep *w, const SweepPart *q, int64_t width) {
  int64_t n = width / vector_lanes(w->s, lane_dtype(sum_of(q)));
  if (red_is_arg(sum_of(q))) n += width / vector_lanes(w->s, place_dtype(w, q));
  return n ? n : 1;
}

static int64_t width_of(const Sweep *w) {
  int64_t width = 0, all;
  for (uint32_t i = 0; i < w->n; i++) {
    int64_t mine = reduces(&w->part[i]) ? lanes_width(w->s, w->part[i].p) : 0;
    if (mine && (!width || mine < width)) width = mine;
  }
  for (;; width /= 2) {
    all = 0;
    for (uint32_t i = 0; i < w->n; i++) all += reduces(&w->part[i]) ? vectors(w, &w->part[i], width) : 0;
    if (all <= VECTORS_MOST || width <= 8) return width;
  }
}

/* ---- lanes -------------------------------------------------------------------------------------------------- */

static const Expr *lane(Sched *s, uint32_t place, const Expr *l) { return place_read(s, place, 1, &l); }
static void lane_store(Sched *s, uint32_t place, const Expr *l, const Expr *value) {
  store_add(s, place, 1, &l, value);
}

static uint32_t lanes_new(Sched *s, const char *name, DType t, int64_t width, const Expr *value) {
  const Expr *dim = ex_int(s, width);
  return var_own(s, NULL, name, t, 1, &dim, value);
}

/* Opens a loop over lanes. Returns the lane's number. */
static const Expr *lanes_open(Sched *s, const Expr *count) {
  return for_open(s, NULL, "l", ex_int(s, 0), count, 1, BIND_VECTOR);
}

static void accs_open(Sweep *w, bool blocked) {
  Sched *s = w->s;
  for (uint32_t i = 0; i < w->n; i++) {
    SweepPart *q = &w->part[i];
    if (!reduces(q) || q->blocked != blocked) continue;
    q->acc = lanes_new(s, "acc", lane_dtype(sum_of(q)), w->width, lane_identity(s, sum_of(q)));
    /* A position, minus the number of its lane; initially that of the lane's first point, or none if a predicate may
     * leave that out. */
    if (red_is_arg(sum_of(q))) {
      DType t = place_dtype(w, q);
      q->at = lanes_new(s, "place", t, w->width, expr_int(s->x, t, sum_of(q)->where ? NOT_YET : 0));
    }
  }
}

/* Whether lanes never hold NaN. */
static bool passes_nan(const EinSum *sum) {
  return dtype_is_float(sum->acc) && (sum->reducer == RED_FMAX || sum->reducer == RED_FMIN);
}

/* The better of the two; a if b is NaN. */
static const Expr *extreme_of(Sched *s, const EinSum *sum, const Expr *a, const Expr *b) {
  return expr_select(s->x, expr_op2(s->x, red_most(sum) ? OP_GT : OP_LT, b, a), b, a);
}

/* ---- at a point ---------------------------------------------------------------------------------------------- */

/* The position of the point whose innermost label is `base`. */
static const Expr *place_of(Sweep *w, const SweepPart *q, const Expr *base) {
  Sched *s = w->s;
  const Expr *at = ex_int(s, 0);
  for (uint32_t k = 0; k < w->n_loop; k++)
    at = ex_add(s, ex_mul(s, at, q->p->stage->bound[w->loop[k]]), k + 1 < w->n_loop ? w->label[w->loop[k]] : base);
  return expr_cast(s->x, place_dtype(w, q), at);
}

static const Expr *is_placed(Sched *s, const Expr *at) {
  return expr_op2(s->x, OP_LE, expr_int(s->x, (DType)at->dtype, 0), at);
}

/* Takes a value of argmax or argmin, where `has` holds (NULL: everywhere). The first NaN of a lane stays, and the first
 * of equals. */
static void arg_step(
    Sweep *w, const SweepPart *q, const Expr *base, const Expr *l, const Expr *value, const Expr *has) {
  Sched *s = w->s;
  const EinSum *sum = sum_of(q);
  const Expr *v = let_read(s, "v", value), *best = let_read(s, "best", lane(s, q->acc, l)),
             *at = let_read(s, "was", lane(s, q->at, l));
  const Expr *hot = red_beats_lanes(s, sum, v, best);
  if (has) { /* all operands exist, so that `and` and `or` do not branch */
    const Expr *placed = let_read(s, "placed", is_placed(s, at)), *beats = let_read(s, "beats", hot);
    hot = expr_op2(s->x, OP_AND, has, expr_op2(s->x, OP_OR, expr_op1(s->x, OP_NOT, placed), beats));
  }
  hot = let_read(s, "hot", hot);
  lane_store(s, q->acc, l, expr_select(s->x, hot, v, best));
  lane_store(s, q->at, l, expr_select(s->x, hot, place_of(w, q, base), at));
}

static void lane_step(Sweep *w, const SweepPart *q, const Expr *base, const Expr *l) {
  Sched *s = w->s;
  const EinSum *sum = sum_of(q);
  const Expr *body = ex_of(q->e, sum->body), *value, *has = NULL;
  if (sum->where && where_is_mask(s, q->p, w->loop[w->n_loop - 1]))
    has = let_read(s, "has", ex_shared(s, ex_of(q->e, sum->where)));
  if (has && !red_is_arg(sum))
    body = expr_select(s->x, has, let_read(s, "v", ex_shared(s, body)), red_identity(s, sum));
  value = expr_cast(s->x, lane_dtype(sum), ex_shared(s, body));
  if (red_is_arg(sum)) {
    arg_step(w, q, base, l, value, has);
    return;
  }
  /* both operands exist, so that `and` and `or` do not branch */
  if (sum->acc == DT_BOOL) value = let_read(s, "v", value);
  const Expr *acc = lane(s, q->acc, l);
  if (passes_nan(sum)) lane_store(s, q->acc, l, extreme_of(s, sum, acc, let_read(s, "v", value)));
  else lane_store(s, q->acc, l, red_combine(s, sum, acc, value));
}

/* Computes all parts at base + l of the innermost label. */
static void point(Sweep *w, const Expr *base, const Expr *l) {
  w->label[w->loop[w->n_loop - 1]] = ex_add(w->s, base, l);
  for (uint32_t i = 0; i < w->n; i++) {
    if (!reduces(&w->part[i])) {
      w->map(w, i);
      continue;
    }
    if (w->before) w->before(w, i);
    lane_step(w, &w->part[i], base, l);
  }
  if (w->after) w->after(w);
}

/* ---- prefetch of later rows ------------------------------------------------------------------------------------ */

static double row_bytes(const Sweep *w, const StagePlan *p, DType t) {
  double row = (double)dtype_size(t);
  for (uint32_t k = 0; k < w->n_loop; k++) row *= (double)p->size[w->loop[k]];
  return row;
}

/* Whether a row is worth a prefetch: not so short that the last row's prefetch covered it, nor so long that its start
 * is evicted before its use; and the rows do not fit a cache anyway. A row of unknown length is. */
static bool row_fits(const Sweep *w, const StagePlan *p, const TaskBuffer *b) {
  double row = row_bytes(w, p, b->dtype), all = (double)dtype_size(b->dtype);
  bool known = true;
  for (uint32_t k = 0; k < w->n_loop; k++) known &= p->exact[w->loop[k]];
  for (uint32_t k = 0; k < b->rank; k++) all *= b->dim[k]->kind == EX_INT ? (double)b->dim[k]->i : 1e6;
  return (!known || (row >= (double)ROW_LEAST && row <= (double)ROW_MOST)) && all >= (double)ROWS_BYTES;
}

void sweep_fetches(Sweep *w, const StagePlan *p, Env *e, const bool *elsewhere) {
  Sched *s = w->s;
  const EinSum *sum = p->stage->sum;
  if (w->row == NOWHERE || sum->where || sum->domain) return;
  const Expr **read = body_reads(s, sum);
  SweepFetch *was = w->fetch;
  w->fetch = NEW_ARRAY(s->arena, SweepFetch, w->n_fetch + sum->n_slot + 1);
  for (uint32_t k = 0; k < w->n_fetch; k++) w->fetch[k] = was[k];
  for (uint32_t a = 0; a < sum->n_slot; a++) {
    TaskSlot slot = p->stage->slot[a];
    if (!read[a] || slot.kept || (elsewhere && elsewhere[a])) continue;
    if (!ex_has_label(read[a], w->row) || plan_move(p, a, w->loop[w->n_loop - 1]) != MOVE_UNIT) continue;
    if (row_fits(w, p, buffer_seen(s, slot.index))) w->fetch[w->n_fetch++] = (SweepFetch){e, read[a]};
  }
}

/* The prefetch distance in rows. */
static int64_t rows_ahead(const Sweep *w) {
  double most = (double)ROW_LEAST;
  for (uint32_t k = 0; k < w->n_fetch; k++) {
    double bytes = row_bytes(w, w->part[0].p, (DType)w->fetch[k].read->dtype);
    if (bytes > most) most = bytes;
  }
  int64_t rows = most > (double)ROWS_AHEAD ? 1 : (int64_t)((double)ROWS_AHEAD / most);
  return rows < w->s->rows.together ? w->s->rows.together : rows;
}

/* Prefetches the same place in a later row, one cache line after the other. */
static void row_fetch(Sweep *w, const Expr *base) {
  Sched *s = w->s;
  uint32_t last = w->loop[w->n_loop - 1];
  if (!w->n_fetch) return;
  const Expr *row = w->label[w->row], *end = ex_sub(s, w->part[0].p->stage->bound[w->row], ex_int(s, 1));
  VEC(const Expr *) met = {0};
  w->label[w->row] = ex_min(s, ex_add(s, row, ex_int(s, rows_ahead(w))), end);
  for (uint32_t k = 0; k < w->n_fetch; k++)
    for (int64_t l = 0; l < w->width; l += LINE / dtype_size((DType)w->fetch[k].read->dtype)) {
      w->label[last] = ex_add(s, base, ex_int(s, l));
      const Expr *read = ex_of(w->fetch[k].e, w->fetch[k].read);
      bool known = !map_find(&s->safe, read);
      for (uint32_t i = 0; i < met.len; i++) known |= met.at[i] == read;
      if (known) continue;
      vec_push(s->arena, met, read);
      fetch_add(s, read);
    }
  w->label[w->row] = row;
}

/* Whether every reduction is idempotent, so that the last lanes may overlap those before them. */
static bool meets_again(const Sweep *w) {
  for (uint32_t i = 0; i < w->n; i++) {
    const EinSum *sum = sum_of(&w->part[i]);
    if (!reduces(&w->part[i]) || red_is_arg(sum) || !(reducer_info[sum->reducer].laws & LAW_IDEMPOTENT)) return false;
  }
  return !w->before && !w->after;
}

/* Whether the remainder of one short row joins the lanes while they are folded, as soon as few enough are left: lanes
 * that are partly used are not in registers. */
static bool left_to_fold(const Sweep *w, int64_t points) {
  const SweepPart *q = &w->part[0];
  return w->n == 1 && w->n_loop == 1 && points < SUM_BLOCK && !q->blocked && !sum_of(q)->where &&
      !red_is_arg(sum_of(q)) &&
         !red_is_extreme(sum_of(q)) && !w->before && !w->after;
}

/* Reduces lo to hi of the innermost label: whole widths, then the remainder in as many lanes as are left. */
static void span(Sweep *w, const Expr *lo, const Expr *hi) {
  Sched *s = w->s;
  const Expr *width = ex_int(s, w->width);
  uint32_t v = var_new(s, w->part[0].p->stage->label[w->loop[w->n_loop - 1]], "r");
  LoopBody *was = into(s, &for_add(s, v, lo, ex_sub(s, hi, ex_int(s, w->width - 1)), w->width, BIND_SEQ)->body);
  row_fetch(w, var_read(s, v));
  point(w, var_read(s, v), lanes_open(s, width));
  into(s, was);
  int64_t points = expr_is_int(lo, 0) && hi->kind == EX_INT ? hi->i : 0;
  if (points && points % w->width == 0) return;
  if (points > w->width && meets_again(w)) {
    point(w, ex_int(s, points - w->width), lanes_open(s, width));
    into(s, was);
    return;
  }
  if (points > w->width && left_to_fold(w, points)) {
    w->left = points % w->width, w->end = points;
    return;
  }
  const Expr *rest = named(s, NULL, "rest", expr_op2(s->x, OP_MOD, ex_sub(s, hi, lo), width));
  const Expr *from = named(s, NULL, "from", ex_sub(s, hi, rest));
  point(w, from, lanes_open(s, rest));
  into(s, was);
}

/* ---- folding -------------------------------------------------------------------------------------------------- */

/* Stands behind all positions. */
static const Expr *place_none(Sched *s, DType t) { return expr_int(s->x, t, t == DT_I32 ? INT32_MAX : INT64_MAX); }

/* Finds the first position that has the best value of all lanes, which is known. NaN beats everything. */
static void places_fold(Sweep *w, const SweepPart *q, uint32_t top) {
  Sched *s = w->s;
  DType t = place_dtype(w, q);
  const Expr *best = let_read(s, "best", lane(s, top, ex_int(s, 0))), *none = place_none(s, t);
  LoopBody *was = s->body;
  const Expr *l = lanes_open(s, ex_int(s, w->width));
  const Expr *v = let_read(s, "v", lane(s, q->acc, l)), *has = expr_op2(s->x, OP_EQ, v, best);
  if (dtype_is_float((DType)v->dtype)) has = expr_op2(s->x, OP_OR, has, expr_op1(s->x, OP_ISNAN, v));
  const Expr *at = let_read(s, "was", lane(s, q->at, l));
  if (sum_of(q)->where) has = expr_op2(s->x, OP_AND, has, is_placed(s, at));
  const Expr *flag = let_read(s, "has", has);
  lane_store(s, q->at, l, expr_select(s->x, flag, expr_op2(s->x, OP_ADD, at, expr_cast(s->x, t, l)), none));
  into(s, was);
  for (int64_t half = w->width / 2; half >= 1; half /= 2) {
    l = half > 1 ? lanes_open(s, ex_int(s, half)) : ex_int(s, 0);
    const Expr *other = lane(s, q->at, ex_add(s, l, ex_int(s, half)));
    lane_store(s, q->at, l, expr_op2(s->x, OP_MIN, lane(s, q->at, l), other));
    into(s, was);
  }
}

typedef struct Fold { uint32_t from, to, bad; } Fold; /* lanes to fold, where results go, and where NaN is noted */

/* Combines lanes l and `far` of one part. NaN is tested once and then passed on as a number: that keeps the dependence
 * from half to half short. */
static void half_fold(Sched *s, const SweepPart *q, const Fold *f, bool first, const Expr *l, const Expr *far) {
  uint32_t from = first ? f->from : f->to;
  const Expr *a = lane(s, from, l), *b = lane(s, from, far);
  if (f->bad != NOWHERE) {
    const Expr *x = first ? expr_cast(s->x, DT_I32, expr_op1(s->x, OP_ISNAN, a)) : lane(s, f->bad, l);
    const Expr *y = first ? expr_cast(s->x, DT_I32, expr_op1(s->x, OP_ISNAN, b)) : lane(s, f->bad, far);
    lane_store(s, f->bad, l, expr_op2(s->x, OP_MAX, x, y));
  }
  bool extreme = dtype_is_float(sum_of(q)->acc) && red_is_extreme(sum_of(q));
  lane_store(s, f->to, l, extreme ? extreme_of(s, sum_of(q), a, b) : red_combine(s, sum_of(q), a, b));
}

static Fold fold_begin(Sweep *w, const SweepPart *q) {
  Sched *s = w->s;
  const EinSum *sum = sum_of(q);
  Fold f = {q->acc, q->acc, NOWHERE};
  if (red_is_arg(sum)) f.to = lanes_new(s, "top", lane_dtype(sum), w->width / 2, NULL);
  if (red_is_extreme(sum) && dtype_is_float(sum->acc) && !passes_nan(sum))
    f.bad = lanes_new(s, "bad", DT_I32, w->width / 2, NULL);
  return f;
}

static void fold_end(Sweep *w, const SweepPart *q, const Fold *f) {
  Sched *s = w->s;
  const Expr *zero = ex_int(s, 0);
  if (f->bad != NOWHERE) {
    const Expr *any = expr_op2(s->x, OP_NE, lane(s, f->bad, zero), expr_int(s->x, DT_I32, 0)),
               *value = lane(s, f->to, zero);
    lane_store(s, f->to, zero, expr_select(s->x, any, expr_real(s->x, (DType)value->dtype, NAN), value));
  }
  if (red_is_arg(sum_of(q))) places_fold(w, q, f->to);
}

/* Combines the lanes of each part into lane 0, in a fixed tree. */
static void fold(Sweep *w, bool blocked) {
  Sched *s = w->s;
  Fold *f = NEW_ARRAY(s->arena, Fold, w->n);
  bool any = false;
  for (uint32_t i = 0; i < w->n; i++) {
    if (!reduces(&w->part[i]) || w->part[i].blocked != blocked) continue;
    f[i] = fold_begin(w, &w->part[i]);
    any = true;
  }
  if (!any) return;
  LoopBody *was = s->body;
  for (int64_t half = w->width / 2; half >= 1; half /= 2) {
    const Expr *l = half > 1 ? lanes_open(s, ex_int(s, half)) : ex_int(s, 0), *far = ex_add(s, l, ex_int(s, half));
    for (uint32_t i = 0; i < w->n; i++)
      if (reduces(&w->part[i]) && w->part[i].blocked == blocked)
        half_fold(s, &w->part[i], &f[i], half == w->width / 2, l, far);
    into(s, was);
    if (!(w->left & half)) continue;
    point(w, ex_int(s, w->end - (w->left & (2 * half - 1))), half > 1 ? lanes_open(s, ex_int(s, half)) : ex_int(s, 0));
    into(s, was);
  }
  for (uint32_t i = 0; i < w->n; i++)
    if (reduces(&w->part[i]) && w->part[i].blocked == blocked) fold_end(w, &w->part[i], &f[i]);
}

/* ---- the loops -------------------------------------------------------------------------------------------------- */

/* The loop that is split into blocks for long float sums, and its step; n_loop: none. */
static uint32_t cut_find(const Sweep *w, int64_t *step) {
  bool any = false;
  int64_t inside = 1;
  uint32_t k = w->n_loop;
  for (uint32_t i = 0; i < w->n; i++)
    any |= sum_of(&w->part[i])->reducer == RED_SUM && dtype_is_float(sum_of(&w->part[i])->acc);
  if (!any) return w->n_loop;
  for (; k > 0; k--) {
    const StagePlan *p = w->part[0].p;
    uint32_t l = w->loop[k - 1];
    *step = SUM_BLOCK / inside;
    if (!p->exact[l] || p->size[l] > *step) return k - 1;
    inside *= p->size[l] ? p->size[l] : 1;
  }
  return w->n_loop;
}

/* Computes the range of the innermost label. */
static void bounds_of(Sweep *w, const Expr **lo, const Expr **hi) {
  Sched *s = w->s;
  const StagePlan *p = w->part[0].p;
  uint32_t last = w->loop[w->n_loop - 1];
  *lo = ex_int(s, 0), *hi = p->stage->bound[last];
  if (!p->stage->sum->where) return;
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  for (uint32_t l = 0; l < p->n_label; l++) bound[l] = l != last;
  const Expr *rest = where_narrow(w->part[0].e, p->stage->sum->where, p->n_label, last, bound, lo, hi);
  where_narrow_data(w->part[0].e, rest, p->n_label, last, bound, lo, hi);
  *lo = named(s, NULL, "from", *lo);
  *hi = named(s, NULL, "to", ex_max(s, *lo, *hi)); /* not less than *lo, so that the remainder is counted right */
}

static void block_open(Sweep *w, int64_t step, const Expr **lo, const Expr **hi) {
  Sched *s = w->s;
  *lo = for_open(s, NULL, "block", *lo, *hi, step, BIND_SEQ);
  *hi = named(s, NULL, "end", ex_min(s, *hi, ex_add(s, *lo, ex_int(s, step))));
  accs_open(w, true);
}

/* Opens the loops. Returns the body of a block; NULL: there are no blocks. */
static LoopBody *loops_open(Sweep *w, uint32_t cut, int64_t step, const Expr **lo, const Expr **hi) {
  Sched *s = w->s;
  LoopBody *block = NULL;
  for (uint32_t k = 0; k < w->n_loop; k++) {
    uint32_t l = w->loop[k];
    bool last = k + 1 == w->n_loop;
    *lo = ex_int(s, 0), *hi = w->part[0].p->stage->bound[l];
    if (last) bounds_of(w, lo, hi);
    if (k == cut) {
      block_open(w, step, lo, hi);
      block = s->body;
    }
    if (last) continue;
    w->label[l] = for_open(s, w->part[0].p->stage->label[l], "r", *lo, *hi, 1, BIND_SEQ);
  }
  return block;
}

/* The position; -1 if there are no points. */
static const Expr *place_result(Sweep *w, const SweepPart *q) {
  Sched *s = w->s;
  const Expr *own = lane(s, q->at, ex_int(s, 0)), *at = expr_cast(s->x, DT_I64, own);
  const Expr *some = red_some(s, q->p->stage, w->n_loop, w->loop);
  if (sum_of(q)->where) some = expr_op2(s->x, OP_NE, own, place_none(s, (DType)own->dtype));
  return some ? expr_select(s->x, some, at, ex_int(s, -1)) : at;
}

static void results(Sweep *w) {
  Sched *s = w->s;
  for (uint32_t i = 0; i < w->n; i++) {
    SweepPart *q = &w->part[i];
    if (!reduces(q)) continue;
    const Expr *value = q->blocked ? scalar_read(s, q->tot) : lane(s, q->acc, ex_int(s, 0));
    q->result = red_is_arg(sum_of(q)) ? place_result(w, q) : expr_cast(s->x, sum_of(q)->dtype, value);
  }
}

static void reductions(Sweep *w) {
  Sched *s = w->s;
  const Expr *lo, *hi;
  int64_t step = 0;
  uint32_t cut = cut_find(w, &step);
  LoopBody *was = s->body, *block;
  for (uint32_t i = 0; i < w->n; i++) {
    SweepPart *q = &w->part[i];
    q->blocked = cut < w->n_loop && sum_of(q)->reducer == RED_SUM && dtype_is_float(sum_of(q)->acc);
    if (!q->blocked) continue;
    q->tot = var_own(s, NULL, "tot", sum_of(q)->acc, 0, NULL, lane_identity(s, sum_of(q)));
  }
  accs_open(w, false);
  block = loops_open(w, cut, step, &lo, &hi);
  span(w, lo, hi);
  if (block) {
    into(s, block);
    fold(w, true);
    for (uint32_t i = 0; i < w->n; i++) {
      const SweepPart *q = &w->part[i];
      if (!q->blocked) continue;
      store_add(s, q->tot, 0, NULL, red_combine(s, sum_of(q), scalar_read(s, q->tot), lane(s, q->acc, ex_int(s, 0))));
    }
  }
  into(s, was);
  fold(w, false);
  results(w);
}

/* Computes `count` points of the innermost label from lo on; streamed values go to arrays of `most` elements, unless
 * that is NULL. */
static void maps_row(Sweep *w, const Expr *lo, const Expr *count, const Expr *most) {
  Sched *s = w->s;
  LoopBody *was = s->body, *outside = s->outside;
  uint32_t l = w->loop[w->n_loop - 1], v = var_new(s, w->part[0].p->stage->label[l], "i");
  if (!outside) s->outside = s->body;
  s->inner = v;
  into(s, &for_add(s, v, ex_int(s, 0), count, 1, BIND_VECTOR)->body);
  w->at = most ? var_read(s, v) : NULL;
  point(w, lo, var_read(s, v));
  w->at = NULL;
  s->outside = outside;
  into(s, was);
}

static void maps_make(void *env, const Expr *lo, const Expr *count, const Expr *most) {
  Sweep *w = env;
  Sched *s = w->s;
  const Expr *zero = ex_int(s, 0);
  for (uint32_t i = 0; i < w->n && most; i++) {
    SweepPart *q = &w->part[i];
    if (!q->when) continue;
    q->line = var_own(s, NULL, "line", sum_of(q)->dtype, 1, &most, NULL);
  }
  maps_row(w, lo, count, most);
  w->label[w->loop[w->n_loop - 1]] = lo;
  for (uint32_t i = 0; i < w->n && most; i++) {
    SweepPart *q = &w->part[i];
    if (q->when) stream_from(s, q->p->stage, q->e, place_read(s, q->line, 1, &zero), count, 1);
  }
}

/* Computes maps in streamed pieces; the part with the narrowest elements determines where lines begin. */
static void maps_stream(Sweep *w) {
  const SweepPart *q = NULL;
  uint32_t l = w->loop[w->n_loop - 1];
  for (uint32_t i = 0; i < w->n; i++) {
    const SweepPart *x = &w->part[i];
    if (x->when && (!q || dtype_size(sum_of(x)->dtype) < dtype_size(sum_of(q)->dtype))) q = x;
  }
  const Expr *extent = q->p->stage->bound[l];
  stream_row(
      w->s, &(StreamRow){q->p->stage, q->e, l, maps_make, w}, ex_int(w->s, 0), extent, q->p->exact[l] ? extent : NULL);
}

/* Computes a sweep of maps alone. It is streamed if all results that may be are large enough. */
static void maps(Sweep *w) {
  Sched *s = w->s;
  LoopBody *was = s->body, *other = s->body;
  const Expr *when = NULL;
  for (uint32_t k = 0; k + 1 < w->n_loop; k++) {
    const TaskStage *st = w->part[0].p->stage;
    uint32_t l = w->loop[k], v = var_new(s, st->label[l], "i");
    w->label[l] = var_read(s, v);
    into(s, &for_add(s, v, ex_int(s, 0), st->bound[l], 1, BIND_SEQ)->body);
  }
  for (uint32_t i = 0; i < w->n; i++)
    if (w->part[i].when) when = when ? expr_op2(s->x, OP_AND, when, w->part[i].when) : w->part[i].when;
  other = s->body;
  if (when) {
    into(s, stream_when(s, when, &other));
    maps_stream(w);
  }
  if (other) {
    into(s, other);
    maps_row(w, ex_int(s, 0), w->part[0].p->stage->bound[w->loop[w->n_loop - 1]], NULL);
  }
  into(s, was);
}

void sweep_loops(Sweep *w) {
  bool any = false;
  for (uint32_t i = 0; i < w->n; i++) any |= reduces(&w->part[i]);
  w->width = any ? width_of(w) : 0;
  if (any) reductions(w);
  else maps(w);
}
