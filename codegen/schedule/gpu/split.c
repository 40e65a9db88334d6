/* codegen/schedule/gpu/split.c - a long sum to few points: a block for each point, or a thread, would leave most of a device idle. So the sum is cut, along
 * one of its labels, into parts of a size that hangs on extents alone: one launch makes them, into a work buffer, and a second one combines those
 * of each point in a tree. No two threads add to one place, so the order is always the same. */
#include "schedule/gpu/gpu.h"

enum { BLOCKS = 512, WARPS = 2048, WARP = 32 }; /* blocks of rows, and warps of points, that a device has enough of */
enum { LEAST_ALONG = 2048, LEAST = 64 };        /* points of a part, at least: of a block along a row; of a thread */
enum { MOST = 256 };                            /* threads that combine the parts of a point, or make a part along a row */
enum { LONG = 8192 };                           /* points of a float sum that one register takes */

typedef struct Split {
  Sched *s;
  Launch *l;
  bool along;                /* a part is a block's, which goes along memory; else a thread's */
  uint32_t label;            /* that is cut: */
  int64_t chunk, parts;      /*   into so many points, and so many parts */
  int64_t points;            /* of the result */
  int64_t threads;           /* of a block that makes a part */
  uint32_t buffer, places;   /* places of the parts: by point and part; and of theirs, of argmax and argmin */
} Split;

/* ---- whether --------------------------------------------------------------------------------------------- */

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

static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* The longest label is cut; the innermost one, if a block goes along it, at multiples of its threads. */
static bool parts_found(Split *t, double reduced) {
  const StagePlan *p = &t->l->plan;
  int64_t least = t->along ? LEAST_ALONG : LEAST, enough = t->along ? BLOCKS : (int64_t)WARPS * WARP;
  double most = reduced / (double)least;
  t->label = p->red[p->n_red - 1];
  for (uint32_t k = 0; k < p->n_red; k++)
    if (p->size[p->red[k]] > p->size[t->label]) t->label = p->red[k];
  int64_t wanted = up(enough, t->points), size = p->size[t->label];
  if ((double)wanted > most) wanted = (int64_t)most;
  if (wanted > size) wanted = size;
  if (wanted < 2) return false;
  t->chunk = up(size, wanted);
  if (t->along && t->label == p->red[p->n_red - 1]) t->chunk = up(t->chunk, t->threads) * t->threads;
  t->parts = up(size, t->chunk);
  double each = reduced / (double)size * (double)t->chunk / (double)t->threads;
  return t->parts > 1 && each <= (double)LONG;
}

static bool is_split(Split *t) {
  const Launch *l = t->l;
  const EinSum *sum = l->first->sum;
  double reduced;
  if (sum->reducer == RED_NONE || sum->domain || !l->plan.n_red || !extents_known(t, &reduced)) return false;
  for (uint32_t i = l->from + 1; i < l->to; i++)
    if (t->s->task->stages.at[i].sum->reducer != RED_NONE) return false;
  t->along = rows_along(t->s, l);
  t->threads = t->along ? MOST : 1;
  return parts_found(t, reduced);
}

/* ---- parts ------------------------------------------------------------------------------------------------ */

static void walk_outer(Split *t, Walk *w) {
  const StagePlan *p = &t->l->plan;
  for (uint32_t k = 0; k < p->n_order; k++) walk_add(t->s, w, t->l->first->label[p->order[k]], t->l->first->bound[p->order[k]]);
}

static void point_is(Split *t, Walk *w, const Expr *point) {
  const StagePlan *p = &t->l->plan;
  walk_count(t->s, w, p->n_order, point);
  for (uint32_t k = 0; k < p->n_order; k++) t->l->e->label[p->order[k]] = w->index[k];
}

static RowsAt part_at(Split *t, const Expr *point, const Expr *part) {
  const Expr **at = NEW_ARRAY(t->s->arena, const Expr *, 2);
  at[0] = point, at[1] = part;
  return (RowsAt){t->buffer, t->places, 2, at};
}

/* A block for each part of each point. */
static void parts_along(Split *t) {
  Sched *s = t->s;
  Walk *w = NEW(s->arena, Walk);
  const EinSum *sum = t->l->first->sum;
  const Expr *zero = ex_int(s, 0), *parts = ex_int(s, t->parts), *chunk = ex_int(s, t->chunk);
  uint32_t block = var_new(s, NULL, "block"), thread = var_new(s, NULL, "thread");
  walk_outer(t, w);
  into(s, &for_add(s, block, zero, ex_int(s, t->points * t->parts), 1, BIND_GRID)->body);
  RowsShared shared = rows_shared(s, sum, t->threads);
  into(s, &for_add(s, thread, zero, ex_int(s, t->threads), 1, BIND_BLOCK)->body);
  const Expr *x = var_read(s, thread), *part = named(s, NULL, "number", expr_op2(s->x, OP_MOD, var_read(s, block), parts));
  const Expr *point = named(s, NULL, "point", expr_op2(s->x, OP_IDIV, var_read(s, block), parts));
  point_is(t, w, point);
  const Expr *from = named(s, NULL, "from", ex_mul(s, part, chunk));
  RowsCut cut = {t->label, from, ex_add(s, from, chunk)};
  RowsAt own = rows_part(s, t->l, x, t->threads, &cut), all = rows_together(s, sum, shared, &own, x, t->threads), to = part_at(t, point, part);
  into(s, &if_add(s, expr_op2(s->x, OP_EQ, x, zero))->body);
  rows_store(s, &to, &all);
}

/* A thread for each part of each point; neighbours among threads are those among points. */
static void parts_across(Split *t) {
  Sched *s = t->s;
  Walk *w = NEW(s->arena, Walk);
  const Expr *zero = ex_int(s, 0), *all = ex_int(s, t->points * t->parts), *threads = ex_int(s, MOST), *chunk = ex_int(s, t->chunk);
  uint32_t block = var_new(s, NULL, "block"), thread = var_new(s, NULL, "thread");
  walk_outer(t, w);
  into(s, &for_add(s, block, zero, ex_div_up(s, all, threads), 1, BIND_GRID)->body);
  into(s, &for_add(s, thread, zero, threads, 1, BIND_BLOCK)->body);
  const Expr *at = named(s, NULL, "at", ex_add(s, ex_mul(s, var_read(s, block), threads), var_read(s, thread)));
  if (t->points * t->parts % MOST) into(s, &if_add(s, expr_op2(s->x, OP_LT, at, all))->body);
  const Expr *point = named(s, NULL, "point", expr_op2(s->x, OP_MOD, at, ex_int(s, t->points)));
  const Expr *part = named(s, NULL, "number", expr_op2(s->x, OP_IDIV, at, ex_int(s, t->points)));
  point_is(t, w, point);
  const Expr *from = named(s, NULL, "from", ex_mul(s, part, chunk));
  RowsCut cut = {t->label, from, ex_add(s, from, chunk)};
  RowsAt own = rows_part(s, t->l, zero, 1, &cut), to = part_at(t, point, part);
  rows_store(s, &to, &own);
}

/* A block for each point, which has its parts. */
static void parts_combined(Split *t) {
  Sched *s = t->s;
  Walk *w = NEW(s->arena, Walk);
  const EinSum *sum = t->l->first->sum;
  int64_t n = WARP;
  while (n < MOST && n < t->parts) n *= 2;
  const Expr *zero = ex_int(s, 0), *parts = ex_int(s, t->parts);
  uint32_t block = var_new(s, NULL, "block"), thread = var_new(s, NULL, "thread"), v = var_new(s, NULL, "number");
  walk_outer(t, w);
  into(s, &for_add(s, block, zero, ex_int(s, t->points), 1, BIND_GRID)->body);
  RowsShared shared = rows_shared(s, sum, n);
  into(s, &for_add(s, thread, zero, ex_int(s, n), 1, BIND_BLOCK)->body);
  const Expr *x = var_read(s, thread);
  point_is(t, w, var_read(s, block));
  RowsAt own = rows_own(s, sum), next = part_at(t, var_read(s, block), var_read(s, v));
  LoopBody *was = into(s, &for_add(s, v, x, parts, n, BIND_SEQ)->body);
  rows_take(s, sum, &own, &next);
  into(s, was);
  RowsAt all = rows_together(s, sum, shared, &own, x, n);
  into(s, &if_add(s, expr_op2(s->x, OP_EQ, x, zero))->body);
  launch_finish(s, t->l, rows_result(s, &all));
}

bool split_launch(Sched *s, Launch *l) {
  Split t = {.s = s, .l = l};
  if (!is_split(&t)) return false;
  LoopBody *was = s->body;
  Choice c = {.threads = MOST, .parts = t.parts};
  how_add(s, l->first, "%lld parts of %lld %s for each point, each by a %s, %lld threads a block; then a tree over the parts", (long long)c.parts,
          (long long)t.chunk, how_label(l->first, t.label), t.along ? "block" : "thread", (long long)c.threads);
  const Expr *dim[] = {ex_int(s, t.points), ex_int(s, t.parts)};
  t.buffer = place_shared(s, "parts", l->first->sum->acc, 2, dim);
  t.places = red_is_arg(l->first->sum) ? place_shared(s, "places", DT_I64, 2, dim) : NOWHERE;
  (t.along ? parts_along : parts_across)(&t);
  into(s, was);
  parts_combined(&t);
  return true;
}
