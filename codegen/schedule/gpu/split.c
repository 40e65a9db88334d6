/* codegen/schedule/gpu/split.c - long sums with few outputs: one block, or thread, per output would leave most of a
 * device idle. So the sum is split, along one of its labels, into parts whose size depends on extents alone: one
 * launch computes them into a work buffer, and a second one combines those of each output, in a tree or, if they are
 * few, in a thread. No two threads add to one place, so the order is always the same. */
#include "schedule/gpu/wide.h"

#include "expr/prove/prove.h"

enum { BLOCKS = 512, WARPS = 2048, WARP = 32 }; /* blocks for rows, and warps for points, that fill a device */
enum { LEAST_ALONG = 2048, LEAST = 64 };        /* least points of a part: of a block along a row; of a thread */
enum { MOST = 256 };                            /* threads that combine a point's parts, or make a part along a row */
enum { FEW = 64 };                              /* parts that one thread combines */

typedef struct Split {
  Sched *s;
  Launch *l;
  bool along;                /* a part is computed by a block, along memory; else by a thread */
  uint32_t label;            /* the one that is split: */
  int64_t chunk, parts;      /*   points of a part, and number of parts */
  int64_t points;            /* of the result */
  int64_t threads;           /* of a block that computes a part */
  Wide w;                    /* of a thread's parts: neighbours along the result */
  /* beside: parts of neighbours lie side by side; if they are few, a thread combines those of its point. */
  bool beside;
  /* buffer: the parts, by point and part, or by part and point; places: their positions, for argmax and argmin. */
  uint32_t buffer, places;
} Split;

/* ---- when it applies ------------------------------------------------------------------------------------- */

static bool extents_known(Split *t, double *reduced) {
  const StagePlan *p = &t->l->plan;
  double points = 1;
  *reduced = 1;
  for (uint32_t k = 0; k < p->n_label; k++)
    if (!p->exact[k] || !p->size[k]) return false;
  for (uint32_t k = 0; k < p->n_order; k++) points *= (double)p->size[p->order[k]];
  for (uint32_t k = 0; k < p->n_red; k++) *reduced *= (double)p->size[p->red[k]];
  t->points = (int64_t)points;
  return points < 1e6 && *reduced < 1e15;
}

/* Whether threads with so many neighbours each keep as many elements in flight as enough threads with one each would.
 * The predicate must be the same for all neighbours. */
static bool each_fits(const Split *t, double reduced, int64_t enough) {
  const Wide *w = &t->w;
  const Expr *where = t->l->first->sum->where;
  return (double)t->points * reduced / (double)LEAST >= (double)enough && !(where && ex_has_label(where, w->label)) &&
      wide_reads(w, t->l->from);
}

static void each_found(Split *t, double reduced, int64_t enough) {
  Wide *w = &t->w;
  const StagePlan *p = &t->l->plan;
  int64_t most = LOOP_WIDEST / dtype_size(t->l->first->sum->acc), bytes = wide_most(w);
  w->each = 1;
  if (t->along || !p->n_order || red_is_arg(t->l->first->sum)) return;
  w->label = p->order[p->n_order - 1];
  for (w->each = bytes < most ? bytes : most; w->each > 1 && !each_fits(t, reduced, enough);) w->each /= 2;
  if (w->each < 1) w->each = 1;
}

/* Splits the longest label or, if a block goes along it, the innermost, at multiples of its threads; false: it does
 * not pay. */
static bool parts_found(Split *t, double reduced) {
  const StagePlan *p = &t->l->plan;
  int64_t least = t->along ? LEAST_ALONG : LEAST, enough = t->along ? BLOCKS : (int64_t)WARPS * WARP;
  double most = reduced / (double)least;
  t->label = p->red[p->n_red - 1];
  for (uint32_t k = 0; k < p->n_red; k++)
    if (p->size[p->red[k]] > p->size[t->label]) t->label = p->red[k];
  each_found(t, reduced, enough);
  int64_t wanted = up(enough, t->points / t->w.each), size = p->size[t->label];
  if ((double)wanted > most) wanted = (int64_t)most;
  if (wanted > size) wanted = size;
  if (wanted < 2) return false;
  t->chunk = up(size, wanted);
  if (t->along && t->label == p->red[p->n_red - 1]) t->chunk = up(t->chunk, t->threads) * t->threads;
  t->parts = up(size, t->chunk);
  t->beside = !t->along && (t->w.each > 1 || t->parts <= FEW);
  double each = reduced / (double)size * (double)t->chunk / (double)t->threads;
  return t->parts > 1 && each <= (double)DEVICE_BLOCK;
}

static bool is_split(Split *t) {
  const Launch *l = t->l;
  double reduced;
  if (!launch_is_one_sum(t->s, l) || l->first->sum->domain || !l->plan.n_red || !extents_known(t, &reduced))
    return false;
  t->along = rows_along(t->s, l);
  t->threads = t->along ? MOST : 1;
  return parts_found(t, reduced);
}

/* ---- parts ------------------------------------------------------------------------------------------------ */

static RowsAt part_at(Split *t, const Expr *point, const Expr *part) {
  const Expr **at = NEW_ARRAY(t->s->arena, const Expr *, 2);
  at[t->beside] = point, at[!t->beside] = part;
  return (RowsAt){t->buffer, t->places, 2, at};
}

/* Opens a block of threads for each of `blocks`. Returns the block's number, and sets the thread's. */
static const Expr *blocks_open(Split *t, int64_t blocks, int64_t threads, RowsShared *shared, const Expr **x) {
  Sched *s = t->s;
  const Expr *zero = ex_int(s, 0);
  const Expr *block = for_open(s, NULL, "block", zero, ex_int(s, blocks), 1, BIND_GRID);
  *shared = rows_shared(s, t->l->first->sum, threads);
  *x = for_open(s, NULL, "thread", zero, ex_int(s, threads), 1, BIND_BLOCK);
  return block;
}

/* One block for each part of each point. */
static void parts_along(Split *t) {
  Sched *s = t->s;
  const EinSum *sum = t->l->first->sum;
  RowsShared shared;
  const Expr *x, *block = blocks_open(t, t->points * t->parts, t->threads, &shared, &x), *parts = ex_int(s, t->parts),
                 *part = named(s, NULL, "number", expr_op2(s->x, OP_MOD, block, parts)),
                 *point = named(s, NULL, "point", expr_op2(s->x, OP_IDIV, block, parts));
  labels_set(t->l->e, points_walk(s, &t->l->plan), t->l->plan.order, point);
  const Expr *chunk = ex_int(s, t->chunk), *from = named(s, NULL, "from", ex_mul(s, part, chunk));
  RowsCut cut = {t->label, from, ex_add(s, from, chunk)};
  RowsAt own = rows_part(s, t->l, x, t->threads, &cut), all = rows_together(s, sum, shared, &own, x, t->threads),
         to = part_at(t, point, part);
  into(s, &if_add(s, expr_op2(s->x, OP_EQ, x, ex_int(s, 0)))->body);
  rows_store(s, &to, &all);
}

/* Computes a part at each of the neighbours, in an array. */
static uint32_t part_wide(Split *t, const RowsCut *cut) {
  Sched *s = t->s;
  Wide *w = &t->w;
  const Launch *l = t->l;
  const EinSum *sum = l->first->sum;
  const Expr *dim = ex_int(s, w->each);
  uint32_t acc = place_own(s, NULL, "acc", sum->acc, 1, &dim);
  LoopBody *was = s->body;
  var_add(s, acc, red_identity(s, sum));
  part_loops(s, l, ex_int(s, 0), 1, cut);
  wide_take(w, acc);
  into(s, was);
  return acc;
}

/* One thread for each part of each point, or of some neighbours; neighbouring threads have neighbouring points. */
static void parts_across(Split *t) {
  Sched *s = t->s;
  const StagePlan *p = &t->l->plan;
  Walk *w = points_walk(s, p);
  int64_t each = t->w.each, groups = t->points / each;
  const Expr *zero = ex_int(s, 0), *all = ex_int(s, groups * t->parts), *threads = ex_int(s, MOST),
             *chunk = ex_int(s, t->chunk), *n = ex_int(s, groups);
  if (each > 1) w->extent[w->n - 1] = expr_divide(s->x, w->extent[w->n - 1], ex_int(s, each));
  const Expr *block = for_open(s, NULL, "block", zero, ex_div_up(s, all, threads), 1, BIND_GRID);
  const Expr *thread = for_open(s, NULL, "thread", zero, threads, 1, BIND_BLOCK);
  const Expr *at = named(s, NULL, "at", ex_add(s, ex_mul(s, block, threads), thread));
  if (all->i % MOST) into(s, &if_add(s, expr_op2(s->x, OP_LT, at, all))->body);
  const Expr *point = named(s, NULL, "point", expr_op2(s->x, OP_MOD, at, n)),
             *part = named(s, NULL, "number", expr_op2(s->x, OP_IDIV, at, n));
  labels_set(t->l->e, w, p->order, point);
  if (each > 1) t->l->e->label[p->order[p->n_order - 1]] = ex_mul(s, w->index[p->n_order - 1], ex_int(s, each));
  const Expr *from = named(s, NULL, "from", ex_mul(s, part, chunk)), *first = ex_mul(s, point, ex_int(s, each));
  RowsCut cut = {t->label, from, ex_add(s, from, chunk)};
  RowsAt to = part_at(t, first, part);
  if (each > 1) {
    wide_store_add(s, t->buffer, 2, to.at, part_wide(t, &cut));
    return;
  }
  RowsAt own = rows_part(s, t->l, zero, 1, &cut);
  rows_store(s, &to, &own);
}

/* One thread for each point, which has few parts. */
static void parts_by_thread(Split *t) {
  Sched *s = t->s;
  const EinSum *sum = t->l->first->sum;
  const Expr *point = threads_open(s, &t->l->plan, t->l->e);
  uint32_t v = var_new(s, NULL, "number");
  RowsAt own = rows_own(s, sum), next = part_at(t, point, var_read(s, v));
  LoopBody *was = into(s, &for_add(s, v, ex_int(s, 0), ex_int(s, t->parts), 1, BIND_UNROLL)->body);
  rows_take(s, sum, &own, &next);
  into(s, was);
  launch_finish(s, t->l, rows_result(s, &own));
}

/* One block for each point, which combines its parts. */
static void parts_combined(Split *t) {
  Sched *s = t->s;
  const EinSum *sum = t->l->first->sum;
  int64_t n = WARP;
  while (n < MOST && n < t->parts) n *= 2;
  RowsShared shared;
  const Expr *x, *block = blocks_open(t, t->points, n, &shared, &x);
  uint32_t v = var_new(s, NULL, "number");
  labels_set(t->l->e, points_walk(s, &t->l->plan), t->l->plan.order, block);
  RowsAt own = rows_own(s, sum), next = part_at(t, block, var_read(s, v));
  LoopBody *was = into(s, &for_add(s, v, x, ex_int(s, t->parts), n, BIND_SEQ)->body);
  rows_take(s, sum, &own, &next);
  into(s, was);
  RowsAt all = rows_together(s, sum, shared, &own, x, n);
  into(s, &if_add(s, expr_op2(s->x, OP_EQ, x, ex_int(s, 0)))->body);
  launch_finish(s, t->l, rows_result(s, &all));
}

bool split_launch(Sched *s, Launch *l) {
  Split t = {.s = s, .l = l, .w = wide_of(s, l)};
  if (!is_split(&t)) return false;
  LoopBody *was = s->body;
  bool few = t.beside && t.parts <= FEW;
  const char *by = t.along ? "block"
      : t.w.each > 1       ? arena_printf(s->arena, "thread for %lld neighbours", (long long)t.w.each)
                           : "thread";
  how_add(s, l->first, "%lld parts of %lld %s for each point, each by a %s, %lld threads a block; then %s",
      (long long)t.parts, (long long)t.chunk, how_label(l->first, t.label), by, (long long)MOST,
      few ? "a thread for each point over its parts" : "a tree over the parts");
  const Expr *points = ex_int(s, t.points), *parts = ex_int(s, t.parts),
             *dim[] = {t.beside ? parts : points, t.beside ? points : parts};
  t.buffer = place_shared(s, "parts", l->first->sum->acc, 2, dim);
  t.places = red_is_arg(l->first->sum) ? place_shared(s, "places", DT_I64, 2, dim) : NOWHERE;
  (t.along ? parts_along : parts_across)(&t);
  into(s, was);
  (few ? parts_by_thread : parts_combined)(&t);
  return true;
}
