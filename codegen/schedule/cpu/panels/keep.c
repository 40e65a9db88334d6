/* codegen/schedule/cpu/panels/keep.c - results of tiles that are kept before they are stored: sums, if the reduced
 * labels are split into several blocks; and rows with all their lanes, if tiles go over two labels or the result
 * bypasses the cache. Kept results are stored in the result's memory order. */
#include "panels.h"

enum {
  LINE = PACK_LINE,
  LINE_MOST = 16 * 1024,     /* bytes that are streamed at once, at most, */
  LINE_LEAST = 256,          /*   and at least: with fewer, most lines would be written in halves */
  LINE_ENOUGH = 512,
  LINES_BYTES = 64 * 1024,   /* of kept rows: more would leave the second-level cache */
  ALONG_DEEP = 64,           /* points of a sum: with more, tiles side by side wait longer for lanes than for stores */
  ALONG_LEAST = 512 * 1024,  /* bytes of a result: a smaller one fits the second-level cache */
  KEPT_DEEP = 128            /* points of a sum: with this many, one more copy of the result costs next to nothing */
};

const Expr *pack_lane(Panel *t, const Expr *l) {
  return ex_add(t->s, ex_mul(t->s, t->v.at, ex_int(t->s, t->v.unit)), l);
}

static int64_t lanes_all(const Panel *t) {
  int64_t n = t->v.flat == NO_LABEL ? t->p->size[t->v.tile] : pack_flat_size(t, &t->v);
  return (n + t->v.unit - 1) / t->v.unit * t->v.unit;
}

/* ---- layout of kept results -------------------------------------------------------------------------------------- */

/* Whether a near label is kept: a block's sums keep all of them; rows, the one along which the result continues. */
static bool has_near(const Panel *t, uint32_t label) {
  return label != t->v.flat && (t->keep.sums || label == t->keep.near);
}

/* The near labels of both sides that are kept. */
static uint32_t near_kept(const Panel *t, uint32_t *label) {
  uint32_t n = 0;
  const Side *side[2] = {&t->u, &t->v};
  for (int i = 0; i < 2; i++)
    for (uint32_t k = 0; k < side[i]->n_near; k++)
      if (has_near(t, side[i]->near[k])) label[n++] = side[i]->near[k];
  return n;
}

/* [near labels.., tiles of lanes, tiles of rows, rows, lanes], or [near labels.., rows, lanes] if a row's lanes are
 * contiguous. In rounds of the reduced labels, the block's number comes first. */
static uint32_t sum_at(Panel *t, int64_t r, const Expr *l, const Expr **at) {
  Sched *s = t->s;
  uint32_t *near = NEW_ARRAY(s->arena, uint32_t, t->p->n_label + 1), n_near = near_kept(t, near), n = 0;
  if (t->deep_rounds) at[n++] = t->block.number;
  for (uint32_t k = 0; k < n_near; k++) at[n++] = t->block.at[near[k]];
  if (t->keep.line) {
    at[n++] = t->keep.by_tile ? ex_int(s, r) : ex_add(s, ex_mul(s, t->u.at, ex_int(s, t->u.unit)), ex_int(s, r));
    at[n++] = pack_lane(t, l);
    return n;
  }
  at[n++] = t->v.at;
  at[n++] = t->u.at;
  at[n++] = ex_int(s, r);
  at[n++] = l;
  return n;
}

static int64_t near_size(const Panel *t, uint32_t label) {
  for (uint32_t k = 0; k < t->u.n_near; k++)
    if (t->u.near[k] == label) return pack_near_size(t, &t->u, k);
  for (uint32_t k = 0; k < t->v.n_near; k++)
    if (t->v.near[k] == label) return pack_near_size(t, &t->v, k);
  return t->p->size[label];
}

static void sums_place(Panel *t) {
  Sched *s = t->s;
  const Expr **dim = NEW_ARRAY(s->arena, const Expr *, t->p->n_label + 5);
  uint32_t *near = NEW_ARRAY(s->arena, uint32_t, t->p->n_label + 1), n_near = near_kept(t, near), n = 0;
  if (t->deep_rounds) dim[n++] = ex_int(s, pack_blocks(t));
  for (uint32_t k = 0; k < n_near; k++) dim[n++] = ex_int(s, near_size(t, near[k]));
  if (t->keep.line) {
    dim[n++] = ex_int(s, t->keep.by_tile ? t->u.unit : t->u.units * t->u.unit);
    dim[n++] = ex_int(s, lanes_all(t));
  } else {
    dim[n++] = ex_int(s, t->v.units);
    dim[n++] = ex_int(s, t->u.units);
    dim[n++] = ex_int(s, t->u.unit);
    dim[n++] = ex_int(s, t->v.unit);
  }
  DType acc = t->p->stage->sum->acc;
  t->block.kept = t->deep_rounds ? place_shared(s, "sums", acc, n, dim) : place_own(s, NULL, "sums", acc, n, dim);
  if (!t->deep_rounds) var_add(s, t->block.kept, NULL);
}

static void rows_open(Panel *t, const Expr **u0) {
  pack_loops_near(t, &t->u);
  *u0 = pack_loop_tiles(t, &t->u, "u");
}

void pack_tiles_open(Panel *t, const Expr **u0, const Expr **v0) {
  if (t->keep.along) rows_open(t, u0);
  pack_loops_near(t, &t->v);
  *v0 = pack_loop_tiles(t, &t->v, "v");
  if (!t->keep.along) rows_open(t, u0);
}

void pack_sums_step(Panel *t, const uint32_t *acc) {
  Sched *s = t->s;
  const EinSum *sum = t->p->stage->sum;
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, t->p->n_label + 5), *l;
  for (int64_t r = 0; r < t->u.unit; r++) {
    LoopBody *was = pack_lanes(t, ex_int(s, t->v.unit), &l);
    uint32_t n = sum_at(t, r, l, at);
    const Expr *have = place_read(s, t->block.kept, n, at),
               *mine = acc ? place_read(s, acc[r], 1, &l) : red_identity(s, sum);
    store_add(s, t->block.kept, n, at, acc && t->keep.sums ? red_combine(s, sum, have, mine) : mine);
    into(s, was);
  }
}

static void sum_load(Panel *t, uint32_t acc, int64_t r, const Expr *l) {
  const Expr **at = NEW_ARRAY(t->s->arena, const Expr *, t->p->n_label + 5);
  uint32_t n = sum_at(t, r, l, at);
  (void)acc;
  result_store(
      t->s, t->p->stage, t->e, expr_cast(t->s->x, t->p->stage->sum->dtype, place_read(t->s, t->block.kept, n, at)));
}

void pack_sums_new(Panel *t) {
  const Expr *u0, *v0;
  sums_place(t);
  LoopBody *was = t->s->body;
  if (t->deep_rounds) pack_round_is(t, false);
  pack_tiles_open(t, &u0, &v0);
  pack_sums_step(t, NULL);
  into(t->s, was);
}

void pack_sums_store(Panel *t) {
  uint32_t none[ROWS_MOST] = {0};
  const Expr *u0 = NULL, *v0;
  if (t->keep.line) {
    pack_line_store(t);
    return;
  }
  LoopBody *was = t->s->body;
  if (t->deep_rounds) pack_round_is(t, true);
  pack_tiles_open(t, &u0, &v0);
  pack_rows_do(t, none, u0, v0, sum_load);
  into(t->s, was);
}

/* ---- rows with all their lanes ----------------------------------------------------------------------------------- */

static bool is_whole(const Panel *t, const Side *x) {
  return t->p->exact[x->tile] && x->unit * x->units >= t->p->size[x->tile];
}

static bool is_near(const Side *x, uint32_t label) {
  for (uint32_t k = 0; k < x->n_near; k++)
    if (x->near[k] == label) return true;
  return false;
}

static bool is_part(const Panel *t, int64_t label) { return pack_is_part(&t->v, label) || pack_is_part(&t->u, label); }

/* The near label along which the result continues behind its lanes, if streams would be short without it. */
static int64_t near_choose(const Panel *t) {
  const TaskStage *st = t->p->stage;
  uint32_t n = st->n_at;
  if (st->buffer < 0 || n < 2 || st->at[n - 1]->kind != EX_LABEL || st->at[n - 1]->i != t->v.tile ||
      st->at[n - 2]->kind != EX_LABEL)
    return NO_LABEL;
  uint32_t label = (uint32_t)st->at[n - 2]->i;
  if (label == t->v.flat || is_part(t, label) || t->p->size[t->v.tile] * dtype_size(st->sum->dtype) > LINE_ENOUGH)
    return NO_LABEL;
  return is_near(&t->u, label) || is_near(&t->v, label) ? (int64_t)label : NO_LABEL;
}

/* The last axes of the result that are kept whole; *n: the number of their elements. 0: the layout differs. */
static uint32_t axes_whole(const Panel *t, int64_t *n) {
  const TaskStage *st = t->p->stage;
  const TaskBuffer *b = buffer_seen(t->s, (uint32_t)st->buffer);
  uint32_t axes = 0;
  *n = 1;
  for (uint32_t k = st->n_at; k-- > 0; axes++) {
    if (st->at[k]->kind != EX_LABEL || !expr_is_int(b->dim[k], t->p->size[st->at[k]->i])) break;
    int64_t label = st->at[k]->i;
    bool lanes = label == t->v.tile, flat = label == t->v.flat && !is_part(t, label);
    bool rows = label == t->u.tile && !t->keep.by_tile && is_whole(t, &t->u),
         near = label == t->keep.near && !is_part(t, label);
    if (k + 1 == st->n_at ? !lanes : !flat && !rows && !near) break;
    if (*n * t->p->size[label] * dtype_size(st->sum->dtype) > LINE_MOST) break;
    *n *= t->p->size[label];
  }
  return axes;
}

/* The last axes that are streamed at once; *n: the number of their elements. 0: none. */
static uint32_t axes_streamed(Panel *t, int64_t *n) {
  const EinSum *sum = t->p->stage->sum;
  if (t->s->follow.goes_on || !is_whole(t, &t->v) || sum->where || sum->domain || !stream_if(t->s, t->p->stage))
    return 0;
  uint32_t axes = axes_whole(t, n);
  return *n * dtype_size(sum->dtype) < LINE_LEAST ? 0 : axes;
}

static int64_t lanes_stored(const Panel *t) {
  return t->v.flat == NO_LABEL ? t->p->size[t->v.tile] : pack_flat_size(t, &t->v);
}

/* Whether the result's axis, counted from the last, is the whole label. */
static bool is_axis(const Panel *t, uint32_t back, int64_t label) {
  const TaskStage *st = t->p->stage;
  if (st->n_at <= back || label == NO_LABEL) return false;
  uint32_t k = st->n_at - 1 - back;
  return st->at[k]->kind == EX_LABEL && st->at[k]->i == label &&
      expr_is_int(buffer_seen(t->s, (uint32_t)st->buffer)->dim[k], t->p->size[label]);
}

static bool whole_lines(const Panel *t, int64_t lanes) {
  return lanes * dtype_size(t->p->stage->sum->dtype) % LINE == 0;
}

bool pack_may_hold(const Panel *t) {
  const EinSum *sum = t->p->stage->sum;
  /* wide: tile_cut leaves whole lines. */
  bool wide = !t->s->target->vector_bytes || t->s->target->vector_bytes >= LINE / 2;
  if (t->keep.sums || t->s->follow.goes_on || sum->where || sum->domain || sum->acc != sum->dtype || !wide ||
      !t->p->exact[t->v.tile])
    return false;
  const Expr *when = stream_if(t->s, t->p->stage);
  return when && when->kind == EX_INT;
}

/* Whether tiles hold whole lines of the result, which need not be kept: the processor stores them while it computes
 * the next tile. */
static bool is_held(const Panel *t) {
  if (!pack_may_hold(t) || !whole_lines(t, t->v.unit) || !whole_lines(t, lanes_stored(t)) || !is_axis(t, 0, t->v.tile))
    return false;
  if (t->v.flat == NO_LABEL) return true;
  return is_axis(t, 1, t->v.flat) && t->p->size[t->v.flat] * t->p->size[t->v.tile] % pack_flat_size(t, &t->v) == 0;
}

/* Chooses the order of tiles. Tiles below each other find their lanes in the first-level cache, but each stores a line
 * or two of rows that lie far apart. If sums are short, that costs more than loading the lanes again: tiles side by
 * side store along rows, which the hardware prefetcher follows. */
void pack_along_choose(Panel *t) {
  const StagePlan *p = t->p;
  double bytes = (double)dtype_size(p->stage->sum->dtype);
  for (uint32_t k = 0; k < p->n_order; k++) bytes *= (double)p->size[p->order[k]];
  t->keep.along = !t->keep.sums && !t->keep.line && !t->keep.held && p->stage->buffer >= 0 &&
      is_axis(t, 0, t->v.tile) && pack_points(t) <= (double)ALONG_DEEP && !t->u.n_near && !t->v.n_near &&
      bytes > (double)ALONG_LEAST;
}

static void held_rows(Panel *t, const uint32_t *acc, const Expr *u0, const Expr *v0, int64_t lanes) {
  Sched *s = t->s;
  const Expr *zero = ex_int(s, 0), *size = t->p->stage->bound[t->u.tile];
  const Part *part = pack_part(&t->v, t->v.flat);
  for (int64_t r = 0; r < t->u.unit; r++) {
    const Expr *u = ex_add(s, u0, ex_int(s, r));
    LoopBody *was = s->body;
    if (r && !pack_even(t, &t->u)) into(s, &if_add(s, expr_op2(s->x, OP_LT, u, size))->body);
    t->e->label[t->u.tile] = u;
    t->e->label[t->v.tile] = v0;
    if (t->v.flat != NO_LABEL) t->e->label[t->v.flat] = part ? part->lo : zero;
    stream_from(s, t->p->stage, t->e, place_read(s, acc[r], 1, &zero), ex_int(s, lanes), t->v.flat == NO_LABEL ? 1 : 2);
    into(s, was);
  }
}

void pack_held_store(Panel *t, const uint32_t *acc, const Expr *u0, const Expr *v0) {
  Sched *s = t->s;
  int64_t unit = t->v.unit, all = lanes_stored(t);
  LoopBody *was = s->body;
  LoopStmt *st = all % unit ? if_add(s, expr_op2(s->x, OP_LE, ex_add(s, v0, ex_int(s, unit)), ex_int(s, all))) : NULL;
  if (st) into(s, &st->body);
  held_rows(t, acc, u0, v0, unit);
  if (st) {
    into(s, &st->other);
    held_rows(t, acc, u0, v0, all % unit);
  }
  into(s, was);
}

bool pack_line_choose(Panel *t) {
  int64_t n;
  t->keep.line = false;
  t->keep.held = is_held(t);
  if (t->keep.held) return true;
  t->keep.near = t->keep.sums ? NO_LABEL : near_choose(t);
  int64_t bytes = t->u.unit * t->u.units * lanes_all(t) * dtype_size(t->p->stage->sum->acc);
  if (t->keep.near != NO_LABEL) bytes *= t->p->size[t->keep.near];
  t->keep.by_tile = !t->keep.sums && bytes > LINES_BYTES;
  bool deep = pack_product(t->p, t->p->n_red, t->p->red) >= (double)KEPT_DEEP;
  t->keep.line = t->v.flat != NO_LABEL && (t->keep.sums || deep || axes_streamed(t, &n));
  return t->keep.line;
}

/* Loops over the near labels that are kept, or over the others. */
static void loops_near(Panel *t, bool those) {
  Side *side[2] = {&t->v, &t->u};
  for (int i = 0; i < 2; i++)
    for (uint32_t k = 0; k < side[i]->n_near; k++)
      if (side[i]->near[k] != side[i]->flat && has_near(t, side[i]->near[k]) == those)
        pack_loop_near(t, side[i], side[i]->near[k]);
}

LoopBody *pack_line_open(Panel *t, const Expr **u0, const Expr **v0) {
  loops_near(t, false);
  if (t->keep.by_tile) *u0 = pack_loop_tiles(t, &t->u, "u");
  sums_place(t);
  LoopBody *around = t->s->body;
  loops_near(t, true);
  *v0 = pack_loop_tiles(t, &t->v, "v");
  if (!t->keep.by_tile) *u0 = pack_loop_tiles(t, &t->u, "u");
  return around;
}

static bool is_run(const Panel *t, uint32_t axes, int64_t label) {
  const TaskStage *st = t->p->stage;
  for (uint32_t k = st->n_at - axes; k < st->n_at; k++)
    if (st->at[k]->i == label) return true;
  return false;
}

/* Loops over the rows that are kept. Returns the current one's number. */
static const Expr *loop_rows(Panel *t) {
  Sched *s = t->s;
  const Expr *n = t->keep.by_tile ? ex_int(s, t->u.unit) : t->u.n, *first = t->u.lo;
  if (t->keep.by_tile) first = ex_add(s, first, ex_mul(s, t->u.at, ex_int(s, t->u.unit)));
  if (t->keep.by_tile && !pack_even(t, &t->u))
    n = named(s, NULL, "n", ex_min(s, n, ex_sub(s, t->p->stage->bound[t->u.tile], first)));
  const Expr *v = for_open(s, t->p->stage->label[t->u.tile], "u", ex_int(s, 0), n, 1, BIND_SEQ);
  t->e->label[t->u.tile] = ex_add(s, first, v);
  return v;
}

/* Loops over what is kept, except for lanes: over labels among the last axes, or over the others. */
static void loops_kept(Panel *t, uint32_t axes, bool run, const Expr **row) {
  for (uint32_t label = 0; label < t->p->n_label; label++) {
    if (is_run(t, axes, label) != run) continue;
    if (label == t->u.tile) *row = loop_rows(t);
    else if (is_near(&t->u, label) && has_near(t, label)) pack_loop_near(t, &t->u, label);
    else if (is_near(&t->v, label) && (label == t->v.flat || has_near(t, label))) pack_loop_near(t, &t->v, label);
  }
}

static const Expr *kept(Panel *t, const Expr *row, const Expr *l) {
  Sched *s = t->s;
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, t->p->n_label + 4);
  uint32_t *near = NEW_ARRAY(s->arena, uint32_t, t->p->n_label + 1), n = near_kept(t, near);
  for (uint32_t k = 0; k < n; k++) at[k] = t->block.at[near[k]];
  at[n++] = row;
  at[n++] = t->v.flat == NO_LABEL ? l : ex_add(s, ex_mul(s, t->block.at[t->v.flat], t->p->stage->bound[t->v.tile]), l);
  return expr_cast(s->x, t->p->stage->sum->dtype, place_read(s, t->block.kept, n, at));
}

static void line_plain(Panel *t) {
  Sched *s = t->s;
  const Expr *row = NULL, *l;
  LoopBody *was = s->body;
  loops_kept(t, 0, false, &row);
  pack_lanes(t, t->p->stage->bound[t->v.tile], &l);
  t->e->label[t->v.tile] = l;
  result_store(s, t->p->stage, t->e, kept(t, row, l));
  into(s, was);
}

/* Collects n elements along the last axes in a line, and streams it. */
static void line_stream(Panel *t, uint32_t axes, int64_t n) {
  Sched *s = t->s;
  const TaskStage *st = t->p->stage;
  const Expr *row = NULL, *l, *count = ex_int(s, n), *zero = ex_int(s, 0), *at = zero;
  LoopBody *was = s->body;
  loops_kept(t, axes, false, &row);
  LoopBody *around = s->body;
  uint32_t line = var_own(s, NULL, "line", st->sum->dtype, 1, &count, NULL);
  loops_kept(t, axes, true, &row);
  pack_lanes(t, st->bound[t->v.tile], &l);
  t->e->label[t->v.tile] = l;
  for (uint32_t k = st->n_at - axes; k < st->n_at; k++) {
    uint32_t label = (uint32_t)st->at[k]->i;
    at = ex_add(s, ex_mul(s, at, st->bound[label]), t->e->label[label]);
  }
  store_add(s, line, 1, &at, kept(t, row, l));
  into(s, around);
  for (uint32_t k = st->n_at - axes; k < st->n_at; k++) t->e->label[st->at[k]->i] = zero;
  stream_from(s, st, t->e, place_read(s, line, 1, &zero), count, axes);
  into(s, was);
}

/* Stores in the result's memory order. */
void pack_line_store(Panel *t) {
  Sched *s = t->s;
  const TaskStage *st = t->p->stage;
  int64_t n = 0;
  uint32_t axes = axes_streamed(t, &n);
  if (!axes) {
    line_plain(t);
    return;
  }
  LoopBody *was = s->body, *other, *here = stream_when(s, stream_if(s, st), &other);
  into(s, here);
  line_stream(t, axes, n);
  if (other) {
    into(s, other);
    line_plain(t);
  }
  into(s, was);
}
