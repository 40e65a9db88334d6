/* codegen/schedule/cpu/panels/cross_store.c - contractions whose result is transposed: stores the kept results of a
 * block, by squares, in the result's memory order. */
#include "cross.h"

enum { LINE = PACK_LINE };

/* ---- results ----------------------------------------------------------------------------------------------------- */

static uint32_t axis_of(const Cross *c, uint32_t label) {
  const TaskStage *st = c->t->p->stage;
  for (uint32_t k = 0; st->buffer >= 0 && k < st->n_at; k++)
    if (ex_has_label(st->at[k], label)) return k;
  return label;
}

/* All labels of the kept results except a and the run's, in the result's memory order. */
static uint32_t labels_stored(const Cross *c, uint32_t *label) {
  uint32_t all[CROSS_LABELS_MOST], n = 0, m = cross_kept_labels(c, all);
  for (uint32_t k = 0; k < m; k++) {
    uint32_t at = n;
    if (all[k] == c->a || all[k] == c->run) continue;
    for (; at && axis_of(c, label[at - 1]) > axis_of(c, all[k]); at--) label[at] = label[at - 1];
    label[at] = all[k], n++;
  }
  return n;
}

/* Whether the result's axis, counted from the last, is the whole label. */
static bool is_axis(const Cross *c, uint32_t back, uint32_t label) {
  const TaskStage *st = c->t->p->stage;
  if (st->n_at <= back) return false;
  uint32_t k = st->n_at - 1 - back;
  const Expr *dim = buffer_seen(c->t->s, (uint32_t)st->buffer)->dim[k];
  return st->at[k]->kind == EX_LABEL && st->at[k]->i == label && expr_is_int(dim, cross_size(c, label));
}

/* Decides whether to stream: whether contiguous lines of a square, or of a few points of the label before a, make
 * whole lines of a result that bypasses the cache. */
static void run_choose(Cross *c, bool threads) {
  const TaskStage *st = c->t->p->stage;
  int64_t na = c->slots[c->a], size = dtype_size(st->sum->dtype);
  uint32_t all[CROSS_LABELS_MOST], n = cross_kept_labels(c, all);
  c->run = NOWHERE, c->points = 1;
  if (!threads || c->t->s->follow.goes_on || !stream_if(c->t->s, st) || !is_axis(c, 0, c->a)) return;
  c->streams = na * size % LINE == 0 && cross_size(c, c->a) * size % LINE == 0;
  for (uint32_t k = 0; k < n && !c->streams && na == cross_size(c, c->a); k++) {
    if (all[k] == c->a || all[k] == c->lane || !is_axis(c, 1, all[k])) continue;
    c->points = cross_points_whole(c->slots[all[k]], na * size, c->slots[all[k]]);
    c->streams = c->points > 1 && cross_size(c, all[k]) % c->points == 0;
    if (c->streams) c->run = all[k];
  }
}

/* Transposes the square of `side` points of a and `side` lanes that starts at a0 and lane0. */
static uint32_t square_transposed(Cross *c, int64_t side, const Expr *a0, const Expr *lane0) {
  Sched *s = c->t->s;
  uint32_t label[CROSS_LABELS_MOST], n = cross_kept_labels(c, label);
  const Expr *dim[2] = {ex_int(s, side), ex_int(s, side)}, *at[2];
  uint32_t square = place_own(s, NULL, "square", c->t->p->stage->sum->acc, 2, dim);
  LoopBody *was = s->body;
  var_add(s, square, NULL);
  at[0] = cross_loop(c, "i", side, 1, BIND_UNROLL);
  at[1] = cross_loop(c, "l", side, 1, BIND_VECTOR);
  cross_label_in(c, c->a, ex_add(s, a0, at[0]));
  cross_label_in(c, c->lane, ex_add(s, lane0, at[1]));
  store_add(s, square, 2, at, cross_read_at(c, c->kept, n, label));
  into(s, was);
  transpose_add(s, square);
  return square;
}

/* Stores each line of a square to its place in the result or, in a run, in an array. */
static void square_put(
    Cross *c, int64_t side, uint32_t square, const Expr *a0, const Expr *lane0, uint32_t lines, const Expr *point) {
  Panel *t = c->t;
  Sched *s = t->s;
  const EinSum *sum = t->p->stage->sum;
  LoopBody *was = s->body;
  const Expr *at[2] = {cross_loop(c, "i", side, 1, BIND_UNROLL), NULL}, *to[2] = {at[0], NULL};
  at[1] = cross_loop(c, "l", side, 1, BIND_VECTOR);
  cross_label_in(c, c->lane, ex_add(s, lane0, at[0]));
  cross_label_in(c, c->a, ex_add(s, a0, at[1]));
  const Expr *value = expr_cast(s->x, sum->dtype, place_read(s, square, 2, at));
  if (lines == NOWHERE) {
    result_store(s, t->p->stage, t->e, value);
  } else {
    to[1] = ex_add(s, ex_mul(s, point, ex_int(s, c->slots[c->a])), ex_add(s, a0, at[1]));
    store_add(s, lines, 2, to, value);
  }
  into(s, was);
}

static void squares_store(Cross *c, int64_t side, const Expr *lane0, uint32_t lines, const Expr *point) {
  Sched *s = c->t->s;
  LoopBody *was = s->body;
  const Expr *a0 = cross_loop_whole(c, "at", c->slots[c->a], side);
  square_put(c, side, square_transposed(c, side, a0, lane0), a0, lane0, lines, point);
  into(s, was);
}

/* Collects runs for all lanes of the squares, and streams those from `first` on; earlier ones were streamed before. */
static void runs_stream(Cross *c, int64_t side, const Expr *lane0, const Expr *first) {
  Panel *t = c->t;
  Sched *s = t->s;
  const TaskStage *st = t->p->stage;
  const Expr *zero = ex_int(s, 0), *count = ex_int(s, c->points * c->slots[c->a]), *dim[2] = {ex_int(s, side), count},
             *run = zero, *at[2];
  LoopBody *was = s->body, *around;
  if (c->run != NOWHERE) run = cross_loop(c, "run", c->slots[c->run], c->points, BIND_SEQ);
  around = s->body;
  uint32_t lines = var_own(s, NULL, "lines", st->sum->dtype, 2, dim, NULL);
  const Expr *point = cross_loop(c, "point", c->points, 1, BIND_SEQ);
  if (c->run != NOWHERE) cross_label_in(c, c->run, ex_add(s, run, point));
  squares_store(c, side, lane0, lines, point);
  into(s, around);
  at[0] = for_open(s, NULL, "line", ex_sub(s, first, lane0), ex_int(s, side), 1, BIND_SEQ), at[1] = zero;
  cross_label_in(c, c->lane, ex_add(s, lane0, at[0]));
  cross_label_in(c, c->a, zero);
  if (c->run != NOWHERE) cross_label_in(c, c->run, run);
  stream_from(s, st, t->e, place_read(s, lines, 2, at), count, c->run == NOWHERE ? 1 : 2);
  into(s, was);
}

/* Stores results as streamed runs, or square by square. */
static void results_put(Cross *c, int64_t side, bool streams) {
  Sched *s = c->t->s;
  uint32_t label[CROSS_LABELS_MOST], run = c->run, n;
  const Expr *lane0 = NULL, *first = NULL;
  LoopBody *was = s->body;
  if (!streams) c->run = NOWHERE;
  n = labels_stored(c, label);
  for (uint32_t k = 0; k < n; k++) {
    if (label[k] != c->lane) {
      cross_label_loop(c, label[k]);
      continue;
    }
    int64_t lanes = c->slots[c->lane];
    first = lane0 = cross_loop(c, "lane", lanes, side, BIND_SEQ);
    if (lanes > side && lanes % side) lane0 = named(s, NULL, "lane", ex_min(s, lane0, ex_int(s, lanes - side)));
  }
  if (streams) runs_stream(c, side, lane0, first);
  else squares_store(c, side, lane0, NOWHERE, NULL);
  c->run = run;
  into(s, was);
}

void cross_results_store(Cross *c, bool threads) {
  Sched *s = c->t->s;
  int64_t side = c->slots[c->a] < SQUARE || c->slots[c->lane] < SQUARE ? SQUARE / 2 : SQUARE;
  LoopBody *was = s->body, *other;
  run_choose(c, threads);
  if (!c->streams) {
    results_put(c, side, false);
    return;
  }
  into(s, stream_when(s, stream_if(s, c->t->p->stage), &other));
  results_put(c, side, true);
  if (other) {
    into(s, other);
    results_put(c, side, false);
  }
  into(s, was);
}
