/* codegen/schedule/gpu/bins.c - sums over the points that belong to an output, where the points determine the output:
 * `h[b] = sum[i where bin[i] == b] w[i]`. A block visits a part of the points once; each of its threads has its own
 * bins in shared memory, and adds its points there in order. The threads' bins are added up at the end of the block
 * and, if there are several parts, those of the parts in a second launch. No two threads add to the same place, so the
 * order depends on extents alone.
 *
 * If a label of the result is contiguous in memory and the choice of bins does not depend on it (the features of a
 * segment sum), threads go along it. If there are more bins than a block can hold, they are split into ranges, by
 * blocks that each visit all points. */
#include "schedule/gpu/gpu.h"

enum { PINS = 4 };
enum { LANES = 32, LEAST_LANES = 8 };       /* threads along a label of the result */
/* THREADS: threads of a block that go through points, at most; FEW: so many, before bins are split into ranges. */
enum { THREADS = 256, FEW = 8 };
enum { EACH = 16 };                         /* points that a thread keeps in flight */
enum { LEAST_BINS = 8, LEAST_POINTS = 512 }; /* smaller problems are better off elsewhere */
enum { RANGES = 128 };                      /* with more, the points would be read too often */
enum { ENOUGH = 1024 };                     /* blocks that fill a device */
enum { SPLIT = 16 };                        /* threads that add up the parts of a result, at most */

typedef struct Bins {
  Sched *s;
  const Launch *l;
  uint32_t n, pin[PINS];     /* labels that points determine, */
  const Expr *to[PINS];      /*   their values, over the stage's labels, */
  const Expr *rest;          /*   and the rest of the predicate; NULL: none */
  int64_t bins, points, others; /* bins of a result; points of a sum; results side by side */
  uint32_t lane;             /* the label along which threads go, the last of the others; NOWHERE: none */
  int64_t lanes, threads;    /* of a block: along that label, and along the points */
  int64_t range, ranges;     /* bins of a block; number of ranges */
  int64_t chunk, parts;      /* points of a block; number of parts */
  bool ahead;                /* values may be read before their bin is known */
  /* Walks over all labels of the result, the last one contiguous in memory; over those of the sum; over those of the
   * result that points do not determine; and over those that they do. */
  Walk *results, *reduced, *other, *chosen;
  const uint32_t *result_label, *other_label;
  uint32_t work;             /* buffer of the parts' results, by part and result */
  uint32_t cells, bin_of, value_of; /* shared: by bin, thread and lane; registers: of the points in flight */
  const Expr *lane_at, *thread, *lo, *hi; /* current: the threads; the block's bins */
} Bins;

static const EinSum *sum_of(const Bins *c) { return c->l->first->sum; }
static bool is_pinned(const Bins *c, uint32_t label) {
  for (uint32_t k = 0; k < c->n; k++)
    if (c->pin[k] == label) return true;
  return false;
}
static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* ---- when it applies -------------------------------------------------------------------------------------- */

static bool pins_find(Bins *c) {
  const StagePlan *p = &c->l->plan;
  c->rest = sum_of(c)->where;
  for (uint32_t k = 0; k < p->n_order && c->n < PINS && c->rest; k++) {
    const Expr *rest;
    uint32_t label = p->order[k];
    bool free = p->size[label] > 1 && pin_find(c->l->e, c->rest, label, !c->n, &c->to[c->n], &rest);
    for (uint32_t i = 0; i < c->n && free; i++)
      free = !ex_has_label(c->to[c->n], c->pin[i]) && !ex_has_label(c->to[i], label);
    if (!free) continue;
    c->pin[c->n++] = label;
    c->rest = rest;
  }
  return c->n > 0;
}

static bool sizes_find(Bins *c) {
  const StagePlan *p = &c->l->plan;
  c->bins = c->points = c->others = 1;
  for (uint32_t k = 0; k < p->n_label; k++)
    if (!p->exact[k] || !p->size[k]) return false;
  for (uint32_t k = 0; k < p->n_order; k++) {
    int64_t *n = is_pinned(c, p->order[k]) ? &c->bins : &c->others;
    if (!mul_ok(*n, p->size[p->order[k]], n) || *n > INT32_MAX) return false;
  }
  for (uint32_t k = 0; k < p->n_red; k++)
    if (!mul_ok(c->points, p->size[p->red[k]], &c->points)) return false;
  return c->bins >= LEAST_BINS && c->points >= LEAST_POINTS && c->points < (int64_t)1 << 40;
}

/* Whether reads are contiguous along the label, and the choice of bins does not depend on it. */
static bool is_lane(const Bins *c, uint32_t label) {
  const StagePlan *p = &c->l->plan;
  bool along = p->size[label] >= LEAST_LANES && !is_pinned(c, label) && !(c->rest && ex_has_label(c->rest, label)),
       any = false;
  for (uint32_t k = 0; k < c->n; k++) along &= !ex_has_label(c->to[k], label);
  for (uint32_t a = 0; a + 1 < p->n_access; a++) any |= plan_move(p, a, label) == MOVE_UNIT;
  return along && any;
}

static bool is_bins(Bins *c) {
  const Launch *l = c->l;
  const EinSum *sum = sum_of(c);
  if (sum->reducer == RED_NONE || red_is_arg(sum) || !sum->where || sum->domain || !l->plan.n_red) return false;
  for (uint32_t i = l->from + 1; i < l->to; i++)
    if (c->s->task->stages.at[i].sum->reducer != RED_NONE) return false;
  if (!pins_find(c) || !sizes_find(c)) return false;
  c->lane = NOWHERE;
  for (uint32_t k = 0; k < l->plan.n_order; k++)
    if (is_lane(c, l->plan.order[k])) c->lane = l->plan.order[k];
  c->ahead = !c->rest && ex_is_safe(l->e, sum->body);
  for (uint32_t k = 0; k < c->n; k++) c->ahead &= !ex_has_label(sum->body, c->pin[k]);
  return true;
}

/* ---- choices ---------------------------------------------------------------------------------------------- */

static int64_t cell_size(const Bins *c) { return dtype_size(sum_of(c)->acc) > 4 ? 8 : 4; }

static bool threads_choose(Bins *c) {
  int64_t cells = LOOP_SHARED / cell_size(c);
  for (c->lanes = 1; c->lane != NOWHERE && c->lanes < LANES && c->lanes < c->l->plan.size[c->lane];) c->lanes *= 2;
  int64_t few = c->lanes < FEW ? FEW / c->lanes : 1;
  for (c->threads = few; c->threads * c->lanes < THREADS && 2 * c->threads * c->lanes * c->bins <= cells &&
       2 * c->threads * EACH <= c->points;)
    c->threads *= 2;
  c->range = cells / (c->threads * c->lanes);
  if (c->range > c->bins) c->range = c->bins;
  c->ranges = up(c->bins, c->range);
  c->range = up(c->bins, c->ranges);
  return c->ranges <= RANGES;
}

/* Chooses parts so that a thread has at least as many points as there are bins. */
static void parts_choose(Bins *c) {
  int64_t blocks = up(c->others, c->lanes) * c->ranges, wanted = up(ENOUGH, blocks), turn = c->threads * EACH,
          least = c->range * c->threads;
  int64_t chunk = up(c->points, wanted);
  if (chunk < least) chunk = least;
  c->chunk = up(chunk, turn) * turn;
  c->parts = up(c->points, c->chunk);
}

/* Orders results along the label that threads go along; else along bins. */
static void walks_make(Bins *c) {
  Sched *s = c->s;
  const StagePlan *p = &c->l->plan;
  const TaskStage *st = p->stage;
  uint32_t *result = NEW_ARRAY(s->arena, uint32_t, p->n_order + 1),
           *other = NEW_ARRAY(s->arena, uint32_t, p->n_order + 1), n_other = 0, n = 0;
  c->results = NEW(s->arena, Walk), c->reduced = NEW(s->arena, Walk), c->other = NEW(s->arena, Walk),
  c->chosen = NEW(s->arena, Walk);
  for (uint32_t k = 0; k < p->n_order; k++)
    if (!is_pinned(c, p->order[k]) && p->order[k] != c->lane) other[n_other++] = p->order[k];
  if (c->lane != NOWHERE) other[n_other++] = c->lane;
  for (uint32_t k = 0; k < n_other && c->lane == NOWHERE; k++) result[n++] = other[k];
  for (uint32_t k = 0; k < c->n; k++) result[n++] = c->pin[k];
  for (uint32_t k = 0; k < n_other && c->lane != NOWHERE; k++) result[n++] = other[k];
  for (uint32_t k = 0; k < n; k++) walk_add(s, c->results, st->label[result[k]], st->bound[result[k]]);
  for (uint32_t k = 0; k < n_other; k++) walk_add(s, c->other, st->label[other[k]], st->bound[other[k]]);
  for (uint32_t k = 0; k < c->n; k++) walk_add(s, c->chosen, st->label[c->pin[k]], st->bound[c->pin[k]]);
  for (uint32_t k = 0; k < p->n_red; k++) walk_add(s, c->reduced, st->label[p->red[k]], st->bound[p->red[k]]);
  c->result_label = result, c->other_label = other;
}

static void choice_report(const Bins *c) {
  Buf b = buf_new(c->s->arena);
  const TaskStage *st = c->l->first;
  for (uint32_t k = 0; k < c->n; k++) buf_printf(&b, "%s%s", k ? " and " : "", how_label(st, c->pin[k]));
  how_add(c->s, st,
      "each point put to its %s: %lld parts of %lld points, by %lld threads, each with %lld results of its own%s%s",
      b.s, (long long)c->parts, (long long)c->chunk, (long long)(c->threads * c->lanes), (long long)c->range,
      c->lane == NOWHERE ? "" : ", along ", c->lane == NOWHERE ? "" : how_label(st, c->lane));
}

/* ---- parts ------------------------------------------------------------------------------------------------ */

static void labels_say(Bins *c, Walk *w, const uint32_t *label, const Expr *number) {
  walk_count(c->s, w, w->n, number);
  for (uint32_t k = 0; k < w->n; k++) c->l->e->label[label[k]] = w->index[k];
}

static const Expr *turns_open(Bins *c, const char *name, int64_t n) {
  uint32_t v = var_new(c->s, NULL, name);
  into(c->s, &for_add(c->s, v, ex_int(c->s, 0), ex_int(c->s, n), 1, BIND_UNROLL)->body);
  return var_read(c->s, v);
}

static const Expr *cell_at(Bins *c, const Expr *bin, const Expr *thread) {
  Sched *s = c->s;
  return ex_add(
      s, ex_mul(s, ex_add(s, ex_mul(s, bin, ex_int(s, c->threads)), thread), ex_int(s, c->lanes)), c->lane_at);
}

/* The bin of the current point; -1 if one of several labels is out of range. */
static const Expr *bin_chosen(Bins *c) {
  Sched *s = c->s;
  const Expr *number = NULL, *inside = NULL, *zero = ex_int(s, 0);
  for (uint32_t k = 0; k < c->n; k++) c->l->e->label[c->pin[k]] = zero; /* nothing depends on them */
  for (uint32_t k = 0; k < c->n; k++) {
    const Expr *to = ex_shared(s, ex_of(c->l->e, c->to[k])), *size = c->l->first->bound[c->pin[k]];
    if (c->n > 1) to = let_read(s, "to", to);
    const Expr *there = expr_and(s->x, expr_op2(s->x, OP_LE, zero, to), expr_op2(s->x, OP_LT, to, size));
    inside = inside ? expr_and(s->x, inside, there) : there;
    number = number ? ex_add(s, ex_mul(s, number, size), to) : to;
  }
  return c->n > 1 ? expr_select(s->x, inside, number, ex_int(s, -1)) : number;
}

/* Loads points: their bins, and their values, if those may be read already. */
static void points_bring(Bins *c, const Expr *at, const Expr *end) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  const Expr *e = turns_open(c, "e", EACH),
             *point = named(s, NULL, "point", ex_add(s, at, ex_mul(s, e, ex_int(s, c->threads))));
  LoopStmt *cond = c->points % c->chunk ? if_add(s, expr_op2(s->x, OP_LT, point, end)) : NULL;
  if (cond) into(s, &cond->body);
  labels_say(c, c->reduced, c->l->plan.red, point);
  store_add(s, c->bin_of, 1, &e, bin_chosen(c));
  if (c->ahead) store_add(s, c->value_of, 1, &e, ex_shared(s, ex_of(c->l->e, sum_of(c)->body)));
  if (cond) {
    into(s, &cond->other);
    store_add(s, c->bin_of, 1, &e, ex_int(s, -1));
  }
  into(s, was);
}

/* Adds each point to its bin, if that is one of the block's. */
static void points_put(Bins *c, const Expr *at) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  const Expr *e = turns_open(c, "e", EACH), *bin = let_read(s, "bin", place_read(s, c->bin_of, 1, &e));
  into(s, &if_add(s, expr_and(s->x, expr_op2(s->x, OP_LE, c->lo, bin), expr_op2(s->x, OP_LT, bin, c->hi)))->body);
  uint32_t v = var_new(s, NULL, "c");
  index_add(s, v, ex_sub(s, bin, c->lo));
  if (!c->ahead) {
    const Expr *point = named(s, NULL, "point", ex_add(s, at, ex_mul(s, e, ex_int(s, c->threads))));
    if (c->points % c->chunk) into(s, &if_add(s, expr_op2(s->x, OP_LT, point, ex_int(s, c->points)))->body);
    labels_say(c, c->reduced, c->l->plan.red, point);
    labels_say(c, c->chosen, c->pin, named(s, NULL, "b", ex_add(s, c->lo, var_read(s, v))));
    if (c->rest) into(s, &if_add(s, ex_shared(s, ex_of(c->l->e, c->rest)))->body);
  }
  const Expr *cell = cell_at(c, var_read(s, v), c->thread);
  const Expr *value =
      let_read(s, "v", c->ahead ? place_read(s, c->value_of, 1, &e) : ex_shared(s, ex_of(c->l->e, sum_of(c)->body)));
  const Expr *old = let_read(s, "old", place_read(s, c->cells, 1, &cell));
  store_add(s, c->cells, 1, &cell, ex_shared(s, red_combine(s, sum_of(c), old, value)));
  into(s, was);
}

static void cells_begin(Bins *c) {
  Sched *s = c->s;
  uint32_t v = var_new(s, NULL, "c");
  LoopBody *was = into(s, &for_add(s, v, ex_int(s, 0), ex_int(s, c->range), 1, BIND_SEQ)->body);
  const Expr *cell = cell_at(c, var_read(s, v), c->thread);
  store_add(s, c->cells, 1, &cell, red_identity(s, sum_of(c)));
  into(s, was);
  barrier_add(s);
}

/* Adds up the threads' values of each bin. */
static void cells_end(Bins *c, const Expr *part, const Expr *other, const Expr *inside) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  barrier_add(s);
  if (inside) into(s, &if_add(s, inside)->body);
  const Expr *count = c->ranges == 1 ? c->hi : ex_sub(s, c->hi, c->lo);
  uint32_t v = var_new(s, NULL, "c"), acc = place_own(s, NULL, "acc", sum_of(c)->acc, 0, NULL);
  into(s, &for_add(s, v, c->thread, count, c->threads, BIND_SEQ)->body);
  var_add(s, acc, red_identity(s, sum_of(c)));
  LoopBody *around = s->body;
  uint32_t k = var_new(s, NULL, "k");
  into(s, &for_add(s, k, ex_int(s, 0), ex_int(s, c->threads), 1, BIND_SEQ)->body);
  /* turned: each thread in another bank. */
  const Expr *turned = expr_op2(s->x, OP_MOD, ex_add(s, var_read(s, k), c->thread), ex_int(s, c->threads));
  const Expr *cell = cell_at(c, var_read(s, v), c->threads > 1 ? turned : ex_int(s, 0)),
             *x = let_read(s, "v", place_read(s, c->cells, 1, &cell));
  store_add(s, acc, 0, NULL, ex_shared(s, red_combine(s, sum_of(c), scalar_read(s, acc), x)));
  into(s, around);
  const Expr *bin = ex_add(s, c->lo, var_read(s, v)), *bins = ex_int(s, c->bins), *others = ex_int(s, c->others);
  const Expr *result =
      c->lane == NOWHERE ? ex_add(s, ex_mul(s, other, bins), bin) : ex_add(s, ex_mul(s, bin, others), other);
  if (c->parts > 1) store_add(s, c->work, 2, (const Expr *[]){part, result}, scalar_read(s, acc));
  else
    labels_say(c, c->results, c->result_label, named(s, NULL, "result", result)),
        launch_finish(s, c->l, scalar_read(s, acc));
  into(s, was);
}

static const Expr *axis_open(Bins *c, const char *name, int64_t n, uint8_t axis) {
  Sched *s = c->s;
  uint32_t v = var_new(s, NULL, name);
  LoopStmt *loop = for_add(s, v, ex_int(s, 0), ex_int(s, n), 1, BIND_BLOCK);
  loop->axis = axis;
  into(s, &loop->body);
  return n > 1 ? var_read(s, v) : ex_int(s, 0);
}

static void parts_launch(Bins *c) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  const Expr *zero = ex_int(s, 0), *parts = ex_int(s, c->parts), *chunk = ex_int(s, c->chunk), *each = ex_int(s, EACH),
             *all = ex_int(s, c->points);
  uint32_t v = var_new(s, NULL, "block");
  into(s, &for_add(s, v, zero, ex_int(s, up(c->others, c->lanes) * c->ranges * c->parts), 1, BIND_GRID)->body);
  c->cells = place_block(s, "cells", sum_of(c)->acc, c->range * c->threads * c->lanes);
  c->lane_at = zero;
  if (c->lanes > 1) c->lane_at = axis_open(c, "lane", c->lanes, 0);
  c->thread = axis_open(c, "thread", c->threads, c->lanes > 1);
  Walk w = {.n = 0};
  walk_add(s, &w, NULL, ex_int(s, up(c->others, c->lanes))), walk_add(s, &w, NULL, ex_int(s, c->ranges)),
      walk_add(s, &w, NULL, parts);
  walk_count(s, &w, 3, var_read(s, v));
  const Expr *other = named(s, NULL, "other", ex_add(s, ex_mul(s, w.index[0], ex_int(s, c->lanes)), c->lane_at));
  const Expr *inside = c->others % c->lanes ? expr_op2(s->x, OP_LT, other, ex_int(s, c->others)) : NULL;
  c->lo = named(s, NULL, "lo", ex_mul(s, w.index[1], ex_int(s, c->range)));
  c->hi = c->ranges == 1 ? ex_int(s, c->bins)
                         : named(s, NULL, "hi", ex_min(s, ex_int(s, c->bins), ex_add(s, c->lo, ex_int(s, c->range))));
  const Expr *from = named(s, NULL, "from", ex_mul(s, w.index[2], chunk)),
             *to = named(s, NULL, "to", ex_min(s, all, ex_add(s, from, chunk)));
  cells_begin(c);
  LoopBody *thread = s->body;
  if (inside) into(s, &if_add(s, inside)->body);
  labels_say(c, c->other, c->other_label, other);
  uint32_t turn = var_new(s, NULL, "turn");
  into(s, &for_add(s, turn, from, to, c->threads * EACH, BIND_SEQ)->body);
  c->bin_of = place_own(s, NULL, "bins", DT_I64, 1, &each);
  var_add(s, c->bin_of, NULL);
  if (c->ahead) var_add(s, c->value_of = place_own(s, NULL, "values", sum_of(c)->acc, 1, &each), NULL);
  const Expr *at = named(s, NULL, "at", ex_add(s, var_read(s, turn), c->thread));
  points_bring(c, at, all);
  points_put(c, at);
  into(s, thread);
  cells_end(c, w.index[2], other, inside);
  into(s, was);
}

/* ---- results of parts ------------------------------------------------------------------------------------- */

/* One thread for each result or, if results are few, several, each with every n-th part. */
static void results_launch(Bins *c) {
  Sched *s = c->s;
  const EinSum *sum = sum_of(c);
  int64_t split = 1, all = c->bins * c->others;
  while (split < SPLIT && 2 * split <= c->parts && all < 65536) split *= 2;
  int64_t beside = split > 1 ? LANES : THREADS;
  const Expr *zero = ex_int(s, 0), *n = ex_int(s, beside), *parts = ex_int(s, c->parts);
  uint32_t block = var_new(s, NULL, "block"), shared = NOWHERE, v = var_new(s, NULL, "part"),
           acc = place_own(s, NULL, "acc", sum->acc, 0, NULL);
  into(s, &for_add(s, block, zero, ex_int(s, up(all, beside)), 1, BIND_GRID)->body);
  if (split > 1) shared = place_block(s, "part", sum->acc, split * beside);
  const Expr *x = axis_open(c, "lane", beside, 0), *y = split > 1 ? axis_open(c, "thread", split, 1) : zero;
  const Expr *result = named(s, NULL, "result", ex_add(s, ex_mul(s, var_read(s, block), n), x));
  const Expr *inside = all % beside ? expr_op2(s->x, OP_LT, result, ex_int(s, all)) : NULL;
  var_add(s, acc, red_identity(s, sum));
  LoopBody *was = s->body;
  if (inside) into(s, &if_add(s, inside)->body);
  LoopBody *there = s->body;
  into(s, &for_add(s, v, y, parts, split, BIND_SEQ)->body);
  const Expr *value = let_read(s, "v", place_read(s, c->work, 2, (const Expr *[]){var_read(s, v), result}));
  store_add(s, acc, 0, NULL, ex_shared(s, red_combine(s, sum, scalar_read(s, acc), value)));
  into(s, there);
  if (split > 1) {
    into(s, was);
    const Expr *mine = ex_add(s, ex_mul(s, y, n), x);
    store_add(s, shared, 1, &mine, scalar_read(s, acc));
    barrier_add(s);
    const Expr *first = expr_op2(s->x, OP_EQ, y, zero);
    into(s, &if_add(s, inside ? expr_and(s->x, first, inside) : first)->body);
    there = s->body;
    uint32_t k = var_new(s, NULL, "k");
    store_add(s, acc, 0, NULL, red_identity(s, sum));
    into(s, &for_add(s, k, zero, ex_int(s, split), 1, BIND_UNROLL)->body);
    const Expr *at = ex_add(s, ex_mul(s, var_read(s, k), n), x),
               *other = let_read(s, "v", place_read(s, shared, 1, &at));
    store_add(s, acc, 0, NULL, ex_shared(s, red_combine(s, sum, scalar_read(s, acc), other)));
    into(s, there);
  }
  labels_say(c, c->results, c->result_label, result);
  launch_finish(s, c->l, scalar_read(s, acc));
}

bool bins_launch(Sched *s, Launch *l) {
  Bins c = {.s = s, .l = l};
  if (!is_bins(&c) || !threads_choose(&c)) return false;
  LoopBody *was = s->body;
  parts_choose(&c);
  walks_make(&c);
  choice_report(&c);
  if (c.parts > 1)
    c.work = place_shared(
        s, "parts", sum_of(&c)->acc, 2, (const Expr *[]){ex_int(s, c.parts), ex_int(s, c.bins * c.others)});
  parts_launch(&c);
  into(s, was);
  if (c.parts > 1) results_launch(&c);
  return true;
}
