/* codegen/schedule/gpu/transpose.c - maps whose operands are contiguous along another label than the result:
 * transposes, permutations, and maps around them. A block has a square of the two labels. It reads the operands along
 * the one label into shared memory, and computes the result along the other from there; rows of the square are padded
 * by one element, so that a warp neither stores to nor reads from a single bank. */
#include "schedule/gpu/wide.h"

enum { WARP = 32, WARPS = 8, THREADS = WARP * WARPS };
enum { SMALL = 32, LARGE = 64, ENOUGH = 128 };  /* points of a square's side; large squares, if there are so many */
enum { LEAST = 16, POINTS = 2048 };             /* of either label, and in all, at least */

typedef struct Transpose {
  Wide w;                    /* its label is the one along which the result is contiguous */
  uint32_t other;            /* the one along which transposed reads are contiguous */
  int64_t side;              /* of the square */
  const Expr *x;             /* the thread */
  const Expr *other0, *label0; /* where the square begins */
} Transpose;

/* ---- when it applies ------------------------------------------------------------------------------------- */

/* Finds the label along which the last stage's result is contiguous; false: there is none. */
static bool label_found(Transpose *t) {
  const StagePlan *p = &t->w.plan;
  for (uint32_t k = 0; k < p->n_order; k++) {
    t->w.label = p->order[k];
    if (plan_move(p, p->n_access - 1, t->w.label) == MOVE_UNIT) return true;
  }
  return false;
}

static bool lies_along(const Transpose *t, const StagePlan *p, uint32_t slot, uint32_t other) {
  return plan_move(p, slot, other) == MOVE_UNIT && plan_move(p, slot, t->w.label) == MOVE_FAR;
}

/* Finds the reads that are contiguous along another label, which the first of them determines; false: there are none,
 * or they do not fit. */
static bool transposed_found(Transpose *t) {
  Sched *s = t->w.s;
  const Launch *l = t->w.l;
  t->w.transposed = NEW_ARRAY(s->arena, uint32_t *, l->to - l->from);
  t->other = NOWHERE;
  t->w.each = 1;
  for (uint32_t i = l->from; i < l->to; i++) {
    const TaskStage *st = &s->task->stages.at[i];
    StagePlan p = stage_plan(s, st);
    uint32_t *transposed = t->w.transposed[i - l->from] = NEW_ARRAY(s->arena, uint32_t, st->sum->n_slot + 1);
    for (uint32_t k = 0; k < st->sum->n_slot; k++) {
      transposed[k] = NOWHERE;
      if (!wide_read(&t->w, i, k) || wide_own(&t->w, st->slot[k]) || !wide_slot(&t->w, i, k)) continue;
      for (uint32_t other = 0; other < st->sum->n_out && t->other == NOWHERE; other++)
        if (lies_along(t, &p, k, other)) t->other = other;
      if (t->other != NOWHERE && lies_along(t, &p, k, t->other)) transposed[k] = 0;
    }
  }
  return t->other != NOWHERE;
}

static int64_t shared_bytes(const Transpose *t, int64_t side) {
  const Launch *l = t->w.l;
  int64_t bytes = 0;
  for (uint32_t i = l->from; i < l->to; i++) {
    const TaskStage *st = &t->w.s->task->stages.at[i];
    for (uint32_t k = 0; k < st->sum->n_slot; k++) {
      if (t->w.transposed[i - l->from][k] == NOWHERE) continue;
      DType d = wide_dtype(t->w.s, st->slot[k]);
      bytes += side * (side + 1) * (dtype_is_float(d) && dtype_size(d) < 4 ? 4 : dtype_size(d));
    }
  }
  return bytes;
}

static bool side_found(Transpose *t) {
  int64_t a = t->w.plan.size[t->w.label], b = t->w.plan.size[t->other], points = wide_points(&t->w);
  if (a < LEAST || b < LEAST || points < POINTS) return false;
  t->side = a >= LARGE && b >= LARGE && points / (LARGE * LARGE) >= ENOUGH ? LARGE : SMALL;
  if (shared_bytes(t, t->side) > LOOP_SHARED_PLAIN) t->side = SMALL;
  return shared_bytes(t, t->side) <= LOOP_SHARED_PLAIN;
}

/* The widest group, up to `each`, that leaves every warp a share of the square. */
static int64_t most_of(const Transpose *t, int64_t each) { return each * WARPS > t->side ? t->side / WARPS : each; }

/* ---- threads in the square ---------------------------------------------------------------------------------- */

/* The thread's place in the square, for groups of neighbours: a warp has 32 points along, and as many beside each
 * other as a group has; then it moves on. */
typedef struct Spot { const Expr *along, *beside; } Spot;

static Spot spot_open(Transpose *t, int64_t each) {
  Sched *s = t->w.s;
  const Expr *n = ex_int(s, each), *warp = ex_int(s, WARP), *i = each_open(s, "i", t->side / WARP),
             *k = each_open(s, "k", t->side / WARPS / each);
  const Expr *lane = expr_op2(s->x, OP_MOD, t->x, warp), *number = expr_op2(s->x, OP_IDIV, t->x, warp);
  const Expr *along = each > 1 ? ex_mul(s, expr_op2(s->x, OP_IDIV, lane, n), n) : lane;
  const Expr *beside = each > 1 ? ex_add(s, expr_op2(s->x, OP_MOD, t->x, n), ex_mul(s, number, n)) : number;
  return (Spot){named(s, NULL, "along", ex_add(s, along, ex_mul(s, i, warp))),
                named(s, NULL, "beside", ex_add(s, beside, ex_mul(s, k, ex_int(s, WARPS * each))))};
}

/* Sets the labels to a point of the square, and tests it if squares go beyond the end. */
static void point_open(Transpose *t, const Expr *at_other, const Expr *at_label) {
  Sched *s = t->w.s;
  const StagePlan *p = &t->w.plan;
  const uint32_t label[] = {t->other, t->w.label};
  const Expr *at[] = {ex_add(s, t->other0, at_other), ex_add(s, t->label0, at_label)}, *inside = NULL;
  for (uint32_t k = 0; k < 2; k++) {
    t->w.l->e->label[label[k]] = at[k];
    if (!p->exact[label[k]] || p->size[label[k]] % t->side)
      inside = expr_and(s->x, inside, expr_op2(s->x, OP_LT, at[k], p->stage->bound[label[k]]));
  }
  if (inside) into(s, &if_add(s, inside)->body);
}

static const Expr *flat_of(const Transpose *t, const Expr *at_other, const Expr *at_label) {
  Sched *s = t->w.s;
  return ex_add(s, ex_mul(s, at_other, ex_int(s, t->side + 1)), at_label);
}

/* ---- its statements ------------------------------------------------------------------------------------------ */

/* The number of elements that can be read at once along the other label. */
static int64_t group_of(const Transpose *t, uint32_t stage, uint32_t slot) {
  Wide w = t->w;
  w.label = t->other;
  const TaskStage *st = &w.s->task->stages.at[stage];
  w.each = most_of(t, LOOP_WIDEST / dtype_size(wide_dtype(w.s, st->slot[slot])));
  while (w.each > 1 && !wide_slot(&w, stage, slot)) w.each /= 2;
  return w.each;
}

static void square_fill(Transpose *t, uint32_t stage, uint32_t slot) {
  Sched *s = t->w.s;
  const TaskStage *st = &s->task->stages.at[stage];
  uint32_t shared = t->w.transposed[stage - t->w.l->from][slot];
  int64_t each = group_of(t, stage, slot);
  LoopBody *was = s->body;
  Spot p = spot_open(t, each);
  point_open(t, p.along, p.beside);
  Env e = {.s = s, .stage = st, .label = t->w.l->e->label};
  const Expr *read = ex_shared(s, ex_of(&e, wide_read(&t->w, stage, slot))), *at = flat_of(t, p.along, p.beside);
  if (each > 1) {
    uint32_t array = wide_load_add(s, read, each);
    const Expr *lane = unrolled_open(s, "lane", each);
    read = place_read(s, array, 1, &lane);
    at = ex_add(s, at, ex_mul(s, lane, ex_int(s, t->side + 1)));
  }
  store_add(s, shared, 1, &at, read);
  into(s, was);
}

/* Calls `f` for each transposed read. */
static void each_transposed(Transpose *t, void (*f)(Transpose *t, uint32_t stage, uint32_t slot)) {
  const Launch *l = t->w.l;
  for (uint32_t i = l->from; i < l->to; i++)
    for (uint32_t k = 0; k < t->w.s->task->stages.at[i].sum->n_slot; k++)
      if (t->w.transposed[i - l->from][k] != NOWHERE) f(t, i, k);
}

static void square_new(Transpose *t, uint32_t stage, uint32_t slot) {
  DType d = wide_dtype(t->w.s, t->w.s->task->stages.at[stage].slot[slot]);
  t->w.transposed[stage - t->w.l->from][slot] = place_block(t->w.s, "transposed", d, t->side * (t->side + 1));
}

/* Opens a block for each square, those along the result next to each other. */
static void square_open(Transpose *t) {
  Sched *s = t->w.s;
  const StagePlan *p = &t->w.plan;
  const TaskStage *st = p->stage;
  const Expr *side = ex_int(s, t->side);
  const uint32_t last[] = {t->other, t->w.label};
  uint32_t block = var_new(s, NULL, "block"), thread = var_new(s, NULL, "thread"),
           *label = NEW_ARRAY(s->arena, uint32_t, p->n_order + 2);
  Walk *w = NEW(s->arena, Walk);
  for (uint32_t k = 0; k < p->n_order; k++)
    if (p->order[k] != t->other && p->order[k] != t->w.label)
      label[w->n] = p->order[k], walk_add(s, w, st->label[p->order[k]], st->bound[p->order[k]]);
  for (uint32_t k = 0; k < 2; k++) walk_add(s, w, st->label[last[k]], ex_div_up(s, st->bound[last[k]], side));
  into(s, &for_add(s, block, ex_int(s, 0), walk_points(s, w), 1, BIND_GRID)->body);
  each_transposed(t, square_new);
  into(s, &for_add(s, thread, ex_int(s, 0), ex_int(s, THREADS), 1, BIND_BLOCK)->body);
  walk_count(s, w, w->n, var_read(s, block));
  for (uint32_t k = 0; k + 2 < w->n; k++) t->w.l->e->label[label[k]] = w->index[k];
  t->x = var_read(s, thread);
  t->other0 = ex_mul(s, w->index[w->n - 2], side);
  t->label0 = ex_mul(s, w->index[w->n - 1], side);
}

bool transpose_launch(Sched *s, Launch *l) {
  Transpose t = {.w = wide_of(s, l)};
  Wide *w = &t.w;
  if (!wide_is_map(w) || !label_found(&t) || !transposed_found(&t) || !side_found(&t) || !wide_fits(w)) return false;
  for (w->each = most_of(&t, wide_most(w)); w->each > 1 && !wide_fits(w);) w->each /= 2;
  how_add(s, w->plan.stage, "squares of %lld %s by %lld %s through shared memory, %lld neighbour%s a thread",
      (long long)t.side, how_label(w->plan.stage, t.other), (long long)t.side, how_label(w->plan.stage, w->label),
      (long long)w->each, w->each == 1 ? "" : "s");
  square_open(&t);
  LoopBody *was = s->body;
  each_transposed(&t, square_fill);
  barrier_add(s);
  Spot p = spot_open(&t, w->each);
  point_open(&t, p.beside, p.along);
  w->flat = flat_of(&t, p.beside, p.along);
  wide_make(w);
  into(s, was);
  return true;
}
