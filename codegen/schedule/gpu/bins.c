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

/* The labels of the result that points determine. */
typedef struct BinPins {
  uint32_t n, label[PINS];
  const Expr *to[PINS];      /* their values, over the stage's labels */
  const Expr *rest;          /* the rest of the predicate; NULL: none */
} BinPins;

/* The size of the problem, and the choice: what a block and a thread have of it. */
typedef struct BinSizes {
  int64_t bins, points, others; /* bins of a result; points of a sum; results side by side */
  int64_t lanes, threads;    /* of a block: along the lane, and along the points */
  int64_t range, ranges;     /* bins of a block; number of ranges */
  int64_t chunk, parts;      /* points of a block; number of parts */
} BinSizes;

/* Walks over all labels of the result, the last one contiguous in memory; over those of the sum; over those of the
 * result that points do not determine; and over those that they do. */
typedef struct BinWalks {
  Walk *results, *reduced, *other, *chosen;
  const uint32_t *result_label, *other_label;
} BinWalks;

/* Where values are kept. */
typedef struct BinPlaces {
  uint32_t parts;            /* buffer of the parts' results, by part and result; without it there is one part */
  uint32_t cells;            /* shared, by bin, thread and lane */
  uint32_t bin_of, value_of; /* registers, of the points in flight */
} BinPlaces;

/* What a thread of the parts' launch knows of its place. */
typedef struct BinThread {
  const Expr *lane, *thread; /* along the lane, and along the points */
  const Expr *lo, *hi;       /* the block's bins */
} BinThread;

typedef struct Bins {
  Sched *s;
  const Launch *l;
  uint32_t lane;             /* the label along which threads go, the last of the others; NOWHERE: none */
  bool ahead;                /* values may be read before their bin is known */
  BinPins pins;
  BinSizes size;
  BinWalks walk;
  BinPlaces place;
  BinThread at;
} Bins;

static const EinSum *sum_of(const Bins *c) { return c->l->first->sum; }
static bool is_pinned(const Bins *c, uint32_t label) {
  for (uint32_t k = 0; k < c->pins.n; k++)
    if (c->pins.label[k] == label) return true;
  return false;
}
/* ---- when it applies -------------------------------------------------------------------------------------- */

static bool pins_find(Bins *c) {
  const StagePlan *p = &c->l->plan;
  c->pins.rest = sum_of(c)->where;
  for (uint32_t k = 0; k < p->n_order && c->pins.n < PINS && c->pins.rest; k++) {
    const Expr *rest;
    uint32_t label = p->order[k];
    bool free = p->size[label] > 1 && pin_find(c->l->e, c->pins.rest, label, !c->pins.n, &c->pins.to[c->pins.n], &rest);
    for (uint32_t i = 0; i < c->pins.n && free; i++)
      free = !ex_has_label(c->pins.to[c->pins.n], c->pins.label[i]) && !ex_has_label(c->pins.to[i], label);
    if (!free) continue;
    c->pins.label[c->pins.n++] = label;
    c->pins.rest = rest;
  }
  return c->pins.n > 0;
}

static bool sizes_find(Bins *c) {
  const StagePlan *p = &c->l->plan;
  c->size.bins = c->size.points = c->size.others = 1;
  for (uint32_t k = 0; k < p->n_label; k++)
    if (!p->exact[k] || !p->size[k]) return false;
  for (uint32_t k = 0; k < p->n_order; k++) {
    int64_t *n = is_pinned(c, p->order[k]) ? &c->size.bins : &c->size.others;
    if (!mul_ok(*n, p->size[p->order[k]], n) || *n > INT32_MAX) return false;
  }
  for (uint32_t k = 0; k < p->n_red; k++)
    if (!mul_ok(c->size.points, p->size[p->red[k]], &c->size.points)) return false;
  return c->size.bins >= LEAST_BINS && c->size.points >= LEAST_POINTS && c->size.points < (int64_t)1 << 40;
}

/* Whether reads are contiguous along the label, and the choice of bins does not depend on it. */
static bool is_lane(const Bins *c, uint32_t label) {
  const StagePlan *p = &c->l->plan;
  bool along = p->size[label] >= LEAST_LANES && !is_pinned(c, label) &&
      !(c->pins.rest && ex_has_label(c->pins.rest, label)),
       any = false;
  for (uint32_t k = 0; k < c->pins.n; k++) along &= !ex_has_label(c->pins.to[k], label);
  for (uint32_t a = 0; a + 1 < p->n_access; a++) any |= plan_move(p, a, label) == MOVE_UNIT;
  return along && any;
}

static bool is_bins(Bins *c) {
  const Launch *l = c->l;
  const EinSum *sum = sum_of(c);
  if (!launch_is_one_sum(c->s, l) || red_is_arg(sum) || !sum->where || sum->domain || !l->plan.n_red) return false;
  if (!pins_find(c) || !sizes_find(c)) return false;
  c->lane = NOWHERE;
  for (uint32_t k = 0; k < l->plan.n_order; k++)
    if (is_lane(c, l->plan.order[k])) c->lane = l->plan.order[k];
  c->ahead = !c->pins.rest && ex_is_safe(l->e, sum->body);
  for (uint32_t k = 0; k < c->pins.n; k++) c->ahead &= !ex_has_label(sum->body, c->pins.label[k]);
  return true;
}

/* ---- choices ---------------------------------------------------------------------------------------------- */

static int64_t cell_size(const Bins *c) { return dtype_size(sum_of(c)->acc) > 4 ? 8 : 4; }

static bool threads_choose(Bins *c) {
  BinSizes *n = &c->size;
  int64_t cells = LOOP_SHARED_PLAIN / cell_size(c);
  for (n->lanes = 1; c->lane != NOWHERE && n->lanes < LANES && n->lanes < c->l->plan.size[c->lane];) n->lanes *= 2;
  int64_t few = n->lanes < FEW ? FEW / n->lanes : 1;
  for (n->threads = few; n->threads * n->lanes < THREADS && 2 * n->threads * n->lanes * n->bins <= cells &&
       2 * n->threads * EACH <= n->points;)
    n->threads *= 2;
  n->range = cells / (n->threads * n->lanes);
  if (n->range > n->bins) n->range = n->bins;
  n->ranges = up(n->bins, n->range);
  n->range = up(n->bins, n->ranges);
  return n->ranges <= RANGES;
}

/* Chooses parts so that a thread has at least as many points as there are bins. */
static void parts_choose(Bins *c) {
  BinSizes *n = &c->size;
  int64_t blocks = up(n->others, n->lanes) * n->ranges, wanted = up(ENOUGH, blocks), turn = n->threads * EACH,
          least = n->range * n->threads;
  int64_t chunk = up(n->points, wanted);
  if (chunk < least) chunk = least;
  n->chunk = up(chunk, turn) * turn;
  n->parts = up(n->points, n->chunk);
}

/* Orders results along the label that threads go along; else along bins. */
static void walks_make(Bins *c) {
  Sched *s = c->s;
  const StagePlan *p = &c->l->plan;
  const TaskStage *st = p->stage;
  uint32_t *result = NEW_ARRAY(s->arena, uint32_t, p->n_order + 1),
           *other = NEW_ARRAY(s->arena, uint32_t, p->n_order + 1), n_other = 0, n = 0;
  c->walk.results = NEW(s->arena, Walk), c->walk.reduced = NEW(s->arena, Walk), c->walk.other = NEW(s->arena, Walk),
  c->walk.chosen = NEW(s->arena, Walk);
  for (uint32_t k = 0; k < p->n_order; k++)
    if (!is_pinned(c, p->order[k]) && p->order[k] != c->lane) other[n_other++] = p->order[k];
  if (c->lane != NOWHERE) other[n_other++] = c->lane;
  for (uint32_t k = 0; k < n_other && c->lane == NOWHERE; k++) result[n++] = other[k];
  for (uint32_t k = 0; k < c->pins.n; k++) result[n++] = c->pins.label[k];
  for (uint32_t k = 0; k < n_other && c->lane != NOWHERE; k++) result[n++] = other[k];
  for (uint32_t k = 0; k < n; k++) walk_add(s, c->walk.results, st->label[result[k]], st->bound[result[k]]);
  for (uint32_t k = 0; k < n_other; k++) walk_add(s, c->walk.other, st->label[other[k]], st->bound[other[k]]);
  for (uint32_t k = 0; k < c->pins.n; k++)
    walk_add(s, c->walk.chosen, st->label[c->pins.label[k]], st->bound[c->pins.label[k]]);
  for (uint32_t k = 0; k < p->n_red; k++) walk_add(s, c->walk.reduced, st->label[p->red[k]], st->bound[p->red[k]]);
  c->walk.result_label = result, c->walk.other_label = other;
}

static void choice_report(const Bins *c) {
  const BinSizes *n = &c->size;
  Buf b = buf_new(c->s->arena);
  const TaskStage *st = c->l->first;
  for (uint32_t k = 0; k < c->pins.n; k++) buf_printf(&b, "%s%s", k ? " and " : "", how_label(st, c->pins.label[k]));
  how_add(c->s, st,
      "each point put to its %s: %lld parts of %lld points, by %lld threads, each with %lld results of its own%s%s",
      b.s, (long long)n->parts, (long long)n->chunk, (long long)(n->threads * n->lanes), (long long)n->range,
      c->lane == NOWHERE ? "" : ", along ", c->lane == NOWHERE ? "" : how_label(st, c->lane));
}

/* ---- parts ------------------------------------------------------------------------------------------------ */

static const Expr *cell_at(Bins *c, const Expr *bin, const Expr *thread) {
  Sched *s = c->s;
  return ex_add(s, ex_mul(s, ex_add(s, ex_mul(s, bin, ex_int(s, c->size.threads)), thread), ex_int(s, c->size.lanes)),
      c->at.lane);
}

/* The bin of the current point; -1 if one of several labels is out of range. */
static const Expr *bin_chosen(Bins *c) {
  Sched *s = c->s;
  const Expr *number = NULL, *inside = NULL, *zero = ex_int(s, 0);
  for (uint32_t k = 0; k < c->pins.n; k++) c->l->e->label[c->pins.label[k]] = zero; /* nothing depends on them */
  for (uint32_t k = 0; k < c->pins.n; k++) {
    const Expr *to = ex_shared(s, ex_of(c->l->e, c->pins.to[k])), *size = c->l->first->bound[c->pins.label[k]];
    if (c->pins.n > 1) to = let_read(s, "to", to);
    const Expr *there = expr_and(s->x, expr_op2(s->x, OP_LE, zero, to), expr_op2(s->x, OP_LT, to, size));
    inside = inside ? expr_and(s->x, inside, there) : there;
    number = number ? ex_add(s, ex_mul(s, number, size), to) : to;
  }
  return c->pins.n > 1 ? expr_select(s->x, inside, number, ex_int(s, -1)) : number;
}

/* Loads points: their bins, and their values, if those may be read already. */
static void points_bring(Bins *c, const Expr *at, const Expr *end) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  const Expr *e = unrolled_open(s, "e", EACH),
             *point = named(s, NULL, "point", ex_add(s, at, ex_mul(s, e, ex_int(s, c->size.threads))));
  LoopStmt *cond = c->size.points % c->size.chunk ? if_add(s, expr_op2(s->x, OP_LT, point, end)) : NULL;
  if (cond) into(s, &cond->body);
  labels_set(c->l->e, c->walk.reduced, c->l->plan.red, point);
  store_add(s, c->place.bin_of, 1, &e, bin_chosen(c));
  if (c->ahead) store_add(s, c->place.value_of, 1, &e, ex_shared(s, ex_of(c->l->e, sum_of(c)->body)));
  if (cond) {
    into(s, &cond->other);
    store_add(s, c->place.bin_of, 1, &e, ex_int(s, -1));
  }
  into(s, was);
}

/* Adds each point to its bin, if that is one of the block's. */
static void points_put(Bins *c, const Expr *at) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  const Expr *e = unrolled_open(s, "e", EACH), *bin = let_read(s, "bin", place_read(s, c->place.bin_of, 1, &e));
  into(s, &if_add(s, expr_and(s->x, expr_op2(s->x, OP_LE, c->at.lo, bin), expr_op2(s->x, OP_LT, bin, c->at.hi)))->body);
  uint32_t v = var_new(s, NULL, "c");
  index_add(s, v, ex_sub(s, bin, c->at.lo));
  if (!c->ahead) {
    const Expr *point = named(s, NULL, "point", ex_add(s, at, ex_mul(s, e, ex_int(s, c->size.threads))));
    if (c->size.points % c->size.chunk)
      into(s, &if_add(s, expr_op2(s->x, OP_LT, point, ex_int(s, c->size.points)))->body);
    labels_set(c->l->e, c->walk.reduced, c->l->plan.red, point);
    labels_set(c->l->e, c->walk.chosen, c->pins.label, named(s, NULL, "b", ex_add(s, c->at.lo, var_read(s, v))));
    if (c->pins.rest) into(s, &if_add(s, ex_shared(s, ex_of(c->l->e, c->pins.rest)))->body);
  }
  const Expr *cell = cell_at(c, var_read(s, v), c->at.thread);
  const Expr *value = let_read(
      s, "v", c->ahead ? place_read(s, c->place.value_of, 1, &e) : ex_shared(s, ex_of(c->l->e, sum_of(c)->body)));
  const Expr *old = let_read(s, "old", place_read(s, c->place.cells, 1, &cell));
  store_add(s, c->place.cells, 1, &cell, ex_shared(s, red_combine(s, sum_of(c), old, value)));
  into(s, was);
}

static void cells_begin(Bins *c) {
  Sched *s = c->s;
  uint32_t v = var_new(s, NULL, "c");
  LoopBody *was = into(s, &for_add(s, v, ex_int(s, 0), ex_int(s, c->size.range), 1, BIND_SEQ)->body);
  const Expr *cell = cell_at(c, var_read(s, v), c->at.thread);
  store_add(s, c->place.cells, 1, &cell, red_identity(s, sum_of(c)));
  into(s, was);
  barrier_add(s);
}

/* Adds up the threads' values of each bin. */
static void cells_end(Bins *c, const Expr *part, const Expr *other, const Expr *inside) {
  const BinSizes *n = &c->size;
  Sched *s = c->s;
  LoopBody *was = s->body;
  barrier_add(s);
  if (inside) into(s, &if_add(s, inside)->body);
  const Expr *count = n->ranges == 1 ? c->at.hi : ex_sub(s, c->at.hi, c->at.lo);
  uint32_t v = var_new(s, NULL, "c"), acc = place_own(s, NULL, "acc", sum_of(c)->acc, 0, NULL);
  into(s, &for_add(s, v, c->at.thread, count, n->threads, BIND_SEQ)->body);
  var_add(s, acc, red_identity(s, sum_of(c)));
  LoopBody *around = s->body;
  const Expr *k = for_open(s, NULL, "k", ex_int(s, 0), ex_int(s, n->threads), 1, BIND_SEQ);
  /* rotated: each thread in another bank. */
  const Expr *rotated = expr_op2(s->x, OP_MOD, ex_add(s, k, c->at.thread), ex_int(s, n->threads));
  const Expr *cell = cell_at(c, var_read(s, v), n->threads > 1 ? rotated : ex_int(s, 0)),
             *x = let_read(s, "v", place_read(s, c->place.cells, 1, &cell));
  acc_take(s, sum_of(c), acc, x);
  into(s, around);
  const Expr *bin = ex_add(s, c->at.lo, var_read(s, v)), *bins = ex_int(s, n->bins), *others = ex_int(s, n->others);
  const Expr *result =
      c->lane == NOWHERE ? ex_add(s, ex_mul(s, other, bins), bin) : ex_add(s, ex_mul(s, bin, others), other);
  if (n->parts > 1)
    store_add(s, c->place.parts, 2, (const Expr *[]){part, result}, scalar_read(s, acc));
  else
    labels_set(c->l->e, c->walk.results, c->walk.result_label, named(s, NULL, "result", result)),
        launch_finish(s, c->l, scalar_read(s, acc));
  into(s, was);
}

static void parts_launch(Bins *c) {
  const BinSizes *n = &c->size;
  Sched *s = c->s;
  LoopBody *was = s->body;
  const Expr *zero = ex_int(s, 0), *parts = ex_int(s, n->parts), *chunk = ex_int(s, n->chunk), *each = ex_int(s, EACH),
             *all = ex_int(s, n->points);
  uint32_t v = var_new(s, NULL, "block");
  into(s, &for_add(s, v, zero, ex_int(s, up(n->others, n->lanes) * n->ranges * n->parts), 1, BIND_GRID)->body);
  c->place.cells = place_block(s, "cells", sum_of(c)->acc, n->range * n->threads * n->lanes);
  c->at.lane = zero;
  if (n->lanes > 1) c->at.lane = axis_open(c->s, "lane", n->lanes, 0);
  c->at.thread = axis_open(c->s, "thread", n->threads, n->lanes > 1);
  Walk w = {.n = 0};
  walk_add(s, &w, NULL, ex_int(s, up(n->others, n->lanes))), walk_add(s, &w, NULL, ex_int(s, n->ranges)),
      walk_add(s, &w, NULL, parts);
  walk_count(s, &w, 3, var_read(s, v));
  const Expr *other = named(s, NULL, "other", ex_add(s, ex_mul(s, w.index[0], ex_int(s, n->lanes)), c->at.lane));
  const Expr *inside = n->others % n->lanes ? expr_op2(s->x, OP_LT, other, ex_int(s, n->others)) : NULL;
  c->at.lo = named(s, NULL, "lo", ex_mul(s, w.index[1], ex_int(s, n->range)));
  c->at.hi = n->ranges == 1
      ? ex_int(s, n->bins)
      : named(s, NULL, "hi", ex_min(s, ex_int(s, n->bins), ex_add(s, c->at.lo, ex_int(s, n->range))));
  const Expr *from = named(s, NULL, "from", ex_mul(s, w.index[2], chunk)),
             *to = named(s, NULL, "to", ex_min(s, all, ex_add(s, from, chunk)));
  cells_begin(c);
  LoopBody *thread = s->body;
  if (inside) into(s, &if_add(s, inside)->body);
  labels_set(c->l->e, c->walk.other, c->walk.other_label, other);
  const Expr *turn = for_open(s, NULL, "turn", from, to, n->threads * EACH, BIND_SEQ);
  c->place.bin_of = var_own(s, NULL, "bins", DT_I64, 1, &each, NULL);
  if (c->ahead) var_add(s, c->place.value_of = place_own(s, NULL, "values", sum_of(c)->acc, 1, &each), NULL);
  const Expr *at = named(s, NULL, "at", ex_add(s, turn, c->at.thread));
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
  int64_t split = 1, all = c->size.bins * c->size.others;
  while (split < SPLIT && 2 * split <= c->size.parts && all < 65536) split *= 2;
  int64_t beside = split > 1 ? LANES : THREADS;
  const Expr *zero = ex_int(s, 0), *n = ex_int(s, beside), *parts = ex_int(s, c->size.parts);
  uint32_t block = var_new(s, NULL, "block"), shared = NOWHERE, v = var_new(s, NULL, "part"),
           acc = place_own(s, NULL, "acc", sum->acc, 0, NULL);
  into(s, &for_add(s, block, zero, ex_int(s, up(all, beside)), 1, BIND_GRID)->body);
  if (split > 1) shared = place_block(s, "part", sum->acc, split * beside);
  const Expr *x = axis_open(c->s, "lane", beside, 0), *y = split > 1 ? axis_open(c->s, "thread", split, 1) : zero;
  const Expr *result = named(s, NULL, "result", ex_add(s, ex_mul(s, var_read(s, block), n), x));
  const Expr *inside = all % beside ? expr_op2(s->x, OP_LT, result, ex_int(s, all)) : NULL;
  var_add(s, acc, red_identity(s, sum));
  LoopBody *was = s->body;
  if (inside) into(s, &if_add(s, inside)->body);
  LoopBody *there = s->body;
  into(s, &for_add(s, v, y, parts, split, BIND_SEQ)->body);
  const Expr *value = let_read(s, "v", place_read(s, c->place.parts, 2, (const Expr *[]){var_read(s, v), result}));
  acc_take(s, sum, acc, value);
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
    acc_take(s, sum, acc, other);
    into(s, there);
  }
  labels_set(c->l->e, c->walk.results, c->walk.result_label, result);
  launch_finish(s, c->l, scalar_read(s, acc));
}

bool bins_launch(Sched *s, Launch *l) {
  Bins c = {.s = s, .l = l};
  if (!is_bins(&c) || !threads_choose(&c)) return false;
  LoopBody *was = s->body;
  parts_choose(&c);
  walks_make(&c);
  choice_report(&c);
  if (c.size.parts > 1)
    c.place.parts = place_shared(s, "parts", sum_of(&c)->acc, 2,
        (const Expr *[]){ex_int(s, c.size.parts), ex_int(s, c.size.bins * c.size.others)});
  parts_launch(&c);
  into(s, was);
  if (c.size.parts > 1) results_launch(&c);
  return true;
}
