/* codegen/schedule/gpu/chain_loops.c - the launch of a chain (chain.h): a block for some rows at each point of the
 * other labels. Each sweep computes pieces, products as tiles and everything else at the thread's points; it then
 * extends the sums of rows, and those of results, for which threads share the piece. At the end of a sweep, the
 * threads' parts of row sums are combined in order. */
#include "schedule/gpu/chain.h"

static const Expr *number(Sched *s, DType t, double v) {
  return dtype_is_float(t) ? expr_real(s->x, t, v)
      : t == DT_BOOL       ? expr_bool(s->x, v > 0)
                           : expr_int(s->x, t, (int64_t)v);
}

uint32_t chain_own(Chain *c, Str name, const char *otherwise, DType t, int64_t n, const Expr *value) {
  const Expr *dim = ex_int(c->s, n);
  return var_own(c->s, name, otherwise, t, 1, &dim, value);
}

static const Expr *at_row(const Chain *c, uint32_t place) { return place_read(c->s, place, 1, &c->now.r); }

/* ---- values of stages at the current point ---------------------------------------------------------------- */

static const Expr *kept(Chain *c, uint32_t stage) {
  const Link *k = &c->link[stage];
  Sched *s = c->s;
  DType t = stage_at(c, stage)->sum->dtype;
  const Expr *r = c->now.in ? c->now.in->now.r : c->now.r, *at = k->is == LINK_ROW ? r : c->now.at;
  uint32_t place = k->own;
  if (c->now.in && k->is == LINK_PIECE) {
    place = c->shared.tile[t];
    at = ex_add(s, ex_mul(s, ex_add(s, c->now.in->now.at_row, c->now.in->now.row_near), ex_int(s, c->shape.tile_wide)),
        ex_add(s, c->now.step, c->now.in->now.deep));
  }
  return expr_cast(s->x, t, place_read(s, place, 1, &at));
}

typedef struct LinkEnv { Chain *c; Env *e; } LinkEnv;

static const Expr *leaf_link(void *env, Exprs *x, const Expr *leaf) {
  LinkEnv *f = env;
  (void)x;
  if (leaf->kind == EX_LABEL) return f->e->label[leaf->i];
  if (leaf->kind != EX_READ) return leaf;
  TaskSlot slot = f->e->stage->slot[leaf->i];
  return slot.kept ? kept(f->c, slot.index) : ex_slot(f->e, leaf);
}

static const Expr *link_of(Chain *c, Env *e, const Expr *of) {
  return expr_map(c->s->x, of, leaf_link, &(LinkEnv){c, e});
}

/* The value of another stage, in the inner loop of a tile. */
static const Expr *other_link(void *owner, const Expr *leaf) {
  Chain *c = owner;
  return kept(c, c->now.in->st->slot[leaf->i].index);
}

Env chain_env(const Chain *c, uint32_t stage) {
  const TaskStage *st = stage_at(c, stage);
  Env e = {.s = c->s, .stage = st, .label = NEW_ARRAY(c->s->arena, const Expr *, st->sum->n_out + st->sum->n_red + 1)};
  for (uint32_t k = 0; k < c->n_outer; k++) e.label[k] = c->now.outer[k];
  return e;
}

/* ---- loops over a thread's points ------------------------------------------------------------------------- */

/* The current row, in the block. */
static const Expr *row_now(const Chain *c) {
  const ChainShape *shape = &c->shape;
  Sched *s = c->s;
  if (shape->matrix) {
    const Expr *warp = quotient(s, c->thread.warp, shape->sharing / 4),
               *first = ex_mul(s, warp, ex_int(s, 8 * shape->each));
    return ex_add(s, ex_add(s, first, ex_mul(s, c->now.r, ex_int(s, 8))), quotient(s, c->thread.lane, 4));
  }
  if (shape->packed) return ex_add(s, ex_mul(s, var_read(s, c->thread.y), ex_int(s, shape->each)), c->now.r);
  return ex_add(s, var_read(s, c->thread.y), ex_mul(s, c->now.r, ex_int(s, TILE_SIDE)));
}

/* The k-th of the thread's n points along a piece, or along a result's row. */
static const Expr *lane_at(const Chain *c, const Expr *k, int64_t n) {
  const ChainShape *shape = &c->shape;
  Sched *s = c->s;
  const Expr *pack = ex_int(s, ALONG_EACH), *x = var_read(s, c->thread.x);
  if (shape->matrix) {
    const Expr *warp = ex_mul(s, rest(s, c->thread.warp, shape->sharing / 4), ex_int(s, 4 * n)),
               *two = ex_mul(s, rest(s, c->thread.lane, 4), ex_int(s, 2));
    return ex_add(s, ex_add(s, ex_add(s, warp, ex_mul(s, quotient(s, k, 2), ex_int(s, 8))), two), rest(s, k, 2));
  }
  if (!shape->packed) return ex_add(s, x, ex_mul(s, k, ex_int(s, TILE_SIDE)));
  if (n == ALONG_EACH) return ex_add(s, ex_mul(s, x, pack), k);
  const Expr *far = ex_mul(s, quotient(s, k, ALONG_EACH), ex_int(s, ALONG_EACH * TILE_SIDE));
  return ex_add(s, ex_add(s, ex_mul(s, x, pack), rest(s, k, ALONG_EACH)), far);
}

/* Loops over its rows. Returns the test that a row exists; NULL: all do. */
const Expr *chain_rows_open(Chain *c) {
  Sched *s = c->s;
  c->now.r = each_open(s, "r", c->shape.each);
  c->now.outer[c->row] = named(s, c->along->label[c->row], "i", ex_add(s, c->now.row0, row_now(c)));
  return c->shape.rows_whole ? NULL : ex_below(s, c->now.outer[c->row], c->along->bound[c->row]);
}

/* Loops over its n points in the current row, of a piece or of a result. Returns the current one's place there. */
static const Expr *lanes_open(Chain *c, int64_t n) {
  const Expr *k = each_open(c->s, "c", n);
  c->now.at = ex_add(c->s, ex_mul(c->s, c->now.r, ex_int(c->s, n)), k);
  return lane_at(c, k, n);
}

/* Loops over its points of a piece that exist. Returns the current one's index along rows. */
const Expr *chain_points_open(Chain *c) {
  Sched *s = c->s;
  const Expr *row = chain_rows_open(c), *column = lanes_open(c, c->shape.points);
  const Expr *along = named(s, c->along->label[c->n_outer], "at", ex_add(s, c->now.along0, column));
  const Expr *inside = c->shape.along_whole ? NULL : ex_below(s, along, c->along->bound[c->n_outer]),
             *there = expr_and(s->x, row, inside);
  if (there) into(s, &if_add(s, there)->body);
  return along;
}

/* ---- pieces ------------------------------------------------------------------------------------------------ */

/* u for the maximum so far; 0 while that has seen no points, or only -inf. */
static const Expr *over_u(Chain *c, uint32_t stage, Env *e, const Expr *max) {
  Sched *s = c->s;
  DType t = (DType)max->dtype;
  const Expr *none = expr_op2(s->x, OP_EQ, max, red_identity(s, stage_at(c, c->link[stage].over)->sum));
  return expr_select(s->x, none, number(s, t, 0), link_of(c, e, c->link[stage].u));
}

static const Expr *body_of(Chain *c, uint32_t stage, Env *e, uint32_t sweep) {
  const Link *k = &c->link[stage];
  Sched *s = c->s;
  if (!chain_is_over(c, stage, sweep)) return link_of(c, e, stage_at(c, stage)->sum->body);
  const Expr *u = over_u(c, stage, e, kept(c, k->over));
  return expr_op1(s->x, OP_EXP, expr_op2(s->x, OP_SUB, link_of(c, e, k->a), u));
}

static bool is_stored_in(const Chain *c, uint32_t stage, uint32_t sweep) {
  const Link *k = &c->link[stage];
  return k->is == LINK_PIECE && stage_at(c, stage)->buffer >= 0 && k->sweep + (k->over != NOWHERE) == sweep;
}

static void piece_made(Chain *c, uint32_t stage, const Expr *along, uint32_t sweep) {
  Sched *s = c->s;
  const TaskStage *st = stage_at(c, stage);
  Env e = chain_env(c, stage);
  LoopBody *was = s->body;
  e.label[c->n_outer] = along;
  if (st->sum->domain) into(s, &if_add(s, ex_shared(s, link_of(c, &e, st->sum->domain)))->body);
  if (!chain_is_sum(c, stage)) {
    const Expr *value = let_read(s, "v", ex_shared(s, expr_cast(s->x, st->sum->dtype, body_of(c, stage, &e, sweep))));
    store_add(s, c->link[stage].own, 1, &c->now.at, value);
  }
  if (is_stored_in(c, stage, sweep)) value_store(s, st, &e, kept(c, stage));
  into(s, was);
}

/* Adds the point to a row's sum. */
static void row_grows(Chain *c, uint32_t stage, const Expr *along, uint32_t sweep) {
  Sched *s = c->s;
  const EinSum *sum = stage_at(c, stage)->sum;
  Link *k = &c->link[stage];
  Env e = chain_env(c, stage);
  LoopBody *was = s->body;
  e.label[c->n_outer] = along;
  if (sum->where) into(s, &if_add(s, ex_shared(s, link_of(c, &e, sum->where)))->body);
  const Expr *value = let_read(s, "v", ex_shared(s, expr_cast(s->x, sum->acc, body_of(c, stage, &e, sweep))));
  store_add(s, k->acc, 1, &c->now.r, ex_shared(s, red_combine(s, sum, at_row(c, k->acc), value)));
  if (k->grows)
    store_add(s, k->count, 1, &c->now.r, expr_op2(s->x, OP_ADD, at_row(c, k->count), number(s, sum->acc, 1)));
  into(s, was);
}

/* ---- sums of rows ------------------------------------------------------------------------------------------ */

/* Combines values that the threads of a row hold, within their warp: in a tree, whose sides are the same to each
 * thread. */
static void parts_across(Chain *c, const EinSum *sum, uint32_t from, uint32_t to) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  chain_rows_open(c);
  const Expr *all = let_read(s, "all", at_row(c, from));
  for (int64_t bit = 1; bit < c->shape.sharing; bit *= 2) {
    uint32_t other = place_own(s, NULL, "v", sum->acc, 0, NULL);
    let_add(s, other, all)->step = bit;
    all = let_read(s, "all", ex_shared(s, red_combine(s, sum, all, scalar_read(s, other))));
  }
  store_add(s, to, 1, &c->now.r, all);
  into(s, was);
}

/* Combines the threads' parts in `from` along a row; each thread gets the result. */
static void parts_fold(Chain *c, const EinSum *sum, uint32_t from, uint32_t to) {
  Sched *s = c->s;
  if (chain_in_warp(c, sum)) {
    parts_across(c, sum, from, to);
    return;
  }
  uint32_t part = c->shared.part[sum->acc], k = var_new(s, NULL, "k");
  LoopBody *was = s->body;
  chain_rows_open(c);
  const Expr *base = ex_mul(s, row_now(c), ex_int(s, c->shape.sharing)), *at = ex_add(s, base, c->thread.place);
  store_add(s, part, 1, &at, at_row(c, from));
  into(s, was);
  barrier_add(s);
  chain_rows_open(c);
  base = ex_mul(s, row_now(c), ex_int(s, c->shape.sharing));
  uint32_t all = place_own(s, NULL, "all", sum->acc, 0, NULL);
  var_add(s, all, place_read(s, part, 1, &base));
  LoopBody *row = into(s, &for_add(s, k, ex_int(s, 1), ex_int(s, c->shape.sharing), 1, BIND_UNROLL)->body);
  at = ex_add(s, base, var_read(s, k));
  const Expr *next = let_read(s, "v", place_read(s, part, 1, &at));
  acc_take(s, sum, all, next);
  into(s, row);
  store_add(s, to, 1, &c->now.r, scalar_read(s, all));
  into(s, was);
  barrier_add(s);
}

/* Stores a value per row, if it is wanted. */
static void row_stored(Chain *c, uint32_t stage) {
  Sched *s = c->s;
  const TaskStage *st = stage_at(c, stage);
  if (st->buffer < 0 && s->of_stage[stage] == NOWHERE) return;
  LoopBody *was = s->body;
  const Expr *there = chain_rows_open(c);
  into(s, &if_add(s, expr_and(s->x, there, expr_op2(s->x, OP_EQ, c->thread.place, ex_int(s, 0))))->body);
  Env e = chain_env(c, stage);
  value_store(s, st, &e, kept(c, stage));
  into(s, was);
}

static void row_ended(Chain *c, uint32_t stage) {
  Link *k = &c->link[stage];
  if (!k->grows) {
    parts_fold(c, stage_at(c, stage)->sum, k->acc, k->acc);
    k->own = k->acc; /* read as the stage's dtype */
  }
  row_stored(c, stage);
}

static void row_mapped(Chain *c, uint32_t stage) {
  Sched *s = c->s;
  const TaskStage *st = stage_at(c, stage);
  LoopBody *was = s->body;
  c->link[stage].own = chain_own(c, st->name, "row", st->sum->dtype, c->shape.each, number(s, st->sum->dtype, 0));
  const Expr *there = chain_rows_open(c);
  if (there) into(s, &if_add(s, there)->body);
  Env e = chain_env(c, stage);
  store_add(s, c->link[stage].own, 1, &c->now.r,
      ex_shared(s, expr_cast(s->x, st->sum->dtype, link_of(c, &e, st->sum->body))));
  into(s, was);
  row_stored(c, stage);
}

/* ---- sums relative to the maximum so far -------------------------------------------------------------------- */

/* Scales the current sum of a row, or of a result's row, by `by`. */
static void sum_scaled(Chain *c, uint32_t stage, const Expr *by) {
  Sched *s = c->s;
  const Link *k = &c->link[stage];
  const Expr *at = c->now.r;
  LoopBody *was = s->body;
  if (k->is == LINK_RESULT)
    at = ex_add(s, ex_mul(s, c->now.r, ex_int(s, c->shape.results)), each_open(s, "c", c->shape.results));
  store_add(s, k->acc, 1, &at, expr_op2(s->x, OP_MUL, place_read(s, k->acc, 1, &at), by));
  into(s, was);
}

static void sums_scaled(Chain *c, uint32_t over, const Expr *by) {
  for (uint32_t i = c->from; i < c->to; i++)
    if (chain_is_sum(c, i) && c->link[i].is != LINK_PIECE && c->link[i].base == over) sum_scaled(c, i, by);
}

/* Updates the maximum after a piece, and rescales the sums that depend on it. */
static void grows_on(Chain *c, uint32_t max, uint32_t sweep) {
  Sched *s = c->s;
  Link *m = &c->link[max];
  const EinSum *sum = stage_at(c, max)->sum;
  uint32_t of = chain_own(c, NULL, "piece", sum->acc, c->shape.each, NULL);
  parts_fold(c, sum, m->acc, of);
  LoopBody *was = s->body;
  chain_rows_open(c);
  const Expr *before = let_read(s, "before", at_row(c, m->own));
  const Expr *now = let_read(s, "now", ex_shared(s, red_combine(s, sum, before, at_row(c, of))));
  const Expr *none = expr_op2(s->x, OP_EQ, before, red_identity(s, sum));
  for (uint32_t i = c->from; i < c->to; i++) {
    if (c->link[i].over != max || c->link[i].sweep != sweep) continue;
    Env e = chain_env(c, i);
    const Expr *u = let_read(s, "u", ex_shared(s, over_u(c, i, &e, before)));
    store_add(s, m->own, 1, &c->now.r, now);
    const Expr *change = expr_op1(s->x, OP_EXP, expr_op2(s->x, OP_SUB, u, over_u(c, i, &e, now)));
    sums_scaled(c, i, let_read(s, "by", ex_shared(s, expr_select(s->x, none, number(s, sum->acc, 1), change))));
    store_add(s, m->own, 1, &c->now.r, before);
  }
  store_add(s, m->own, 1, &c->now.r, now);
  into(s, was);
}

/* After the sweep: for a row that has points, but only -inf, uses u as it is defined after all. */
static void grows_ended(Chain *c, uint32_t max, uint32_t sweep) {
  Sched *s = c->s;
  Link *m = &c->link[max];
  const EinSum *sum = stage_at(c, max)->sum;
  EinSum add = *sum;
  add.reducer = RED_SUM;
  parts_fold(c, &add, m->count, m->count);
  LoopBody *was = s->body;
  chain_rows_open(c);
  const Expr *none = expr_op2(s->x, OP_EQ, at_row(c, m->own), red_identity(s, sum));
  into(s, &if_add(s, expr_and(s->x, none, expr_op2(s->x, OP_GT, at_row(c, m->count), number(s, sum->acc, 0))))->body);
  for (uint32_t i = c->from; i < c->to; i++) {
    if (c->link[i].over != max || c->link[i].sweep != sweep) continue;
    Env e = chain_env(c, i);
    const Expr *u = expr_op1(s->x, OP_NEG, link_of(c, &e, c->link[i].u));
    sums_scaled(c, i, let_read(s, "by", ex_shared(s, expr_op1(s->x, OP_EXP, u))));
  }
  into(s, was);
}

/* ---- sums of results ---------------------------------------------------------------------------------------- */

uint32_t chain_piece_of(const Chain *c, uint32_t stage) {
  const TaskStage *st = stage_at(c, stage);
  for (uint32_t k = 0; k < st->sum->n_slot; k++)
    if (st->slot[k].kept && c->link[st->slot[k].index].is == LINK_PIECE) return st->slot[k].index;
  return NOWHERE;
}

void chain_piece_shared(Chain *c, uint32_t stage) {
  Sched *s = c->s;
  DType t = stage_at(c, stage)->sum->dtype;
  LoopBody *was = s->body;
  chain_rows_open(c);
  const Expr *column = lanes_open(c, c->shape.points);
  const Expr *at = ex_add(s, ex_mul(s, row_now(c), ex_int(s, c->shape.tile_wide)), column);
  store_add(s, c->shared.tile[t], 1, &at, kept(c, stage));
  into(s, was);
}

/* Computes a part of the piece while the next one is loaded. */
static void result_part(Chain *c, Tiles *t, uint32_t grown, const Expr *points) {
  Sched *s = c->s;
  const Expr *at = ex_add(s, c->now.along0, c->now.step), *next = ex_add(s, c->now.step, ex_int(s, t->shape.part));
  t->now.red0 = at;
  c->now.in = t;
  (t->shape.brought ? bring_put : tiles_fill)(t);
  barrier_add(s);
  if (t->shape.brought) {
    LoopBody *was = into(s, &if_add(s, ex_below(s, next, points))->body);
    t->now.red0 = ex_add(s, c->now.along0, next);
    bring_load(t);
    into(s, was);
  }
  t->now.red0 = at;
  t->kept.at = c->now.step;
  tiles_step(t, grown);
  barrier_add(s);
}

/* Extends a result in parts of the piece, of which all threads read what rows share. Another result, or sweep, may
 * have used the piece's array before. */
static void result_grows(Chain *c, uint32_t stage) {
  Sched *s = c->s;
  Link *k = &c->link[stage];
  const EinSum *sum = stage_at(c, stage)->sum;
  uint32_t piece = chain_piece_of(c, stage), v = var_new(s, NULL, "part");
  LoopBody *was = s->body;
  barrier_add(s);
  if (piece != NOWHERE) chain_piece_shared(c, piece);
  uint32_t grown = chain_own(c, NULL, "grown", sum->acc, c->shape.each * c->shape.results, red_identity(s, sum));
  const Expr *all = ex_int(s, c->shape.piece), *left = ex_sub(s, c->along->bound[c->n_outer], c->now.along0);
  /* matrix: beyond the end, both sides of a matrix are 0. */
  bool whole = c->shape.matrix || tiles_whole(&k->tiles, c->shape.piece);
  const Expr *points = whole ? all : ex_min(s, all, left);
  k->tiles.now.red0 = c->now.along0;
  if (piece != NOWHERE)
    k->tiles.kept.place = c->shared.tile[stage_at(c, piece)->sum->dtype], k->tiles.kept.wide = c->shape.tile_wide;
  if (k->tiles.shape.brought) bring_ready(&k->tiles), bring_load(&k->tiles);
  into(s, &for_add(s, v, ex_int(s, 0), points, k->tiles.shape.part, BIND_SEQ)->body);
  c->now.step = var_read(s, v);
  result_part(c, &k->tiles, grown, points);
  c->now.in = NULL;
  into(s, was);
  const Expr *at = each_open(s, "n", c->shape.each * c->shape.results),
             *next = let_read(s, "v", place_read(s, grown, 1, &at));
  store_add(s, k->acc, 1, &at, ex_shared(s, red_combine(s, sum, place_read(s, k->acc, 1, &at), next)));
  into(s, was);
}

static void results_made(Chain *c) {
  Sched *s = c->s;
  for (uint32_t i = c->from; i < c->to; i++) {
    const TaskStage *st = stage_at(c, i);
    LoopBody *was = s->body;
    if (c->link[i].is != LINK_RESULT) continue;
    bool sums = chain_is_sum(c, i);
    if (!sums)
      c->link[i].own = chain_own(
          c, st->name, "result", st->sum->dtype, c->shape.each * c->shape.results, number(s, st->sum->dtype, 0));
    else if (st->buffer < 0 && s->of_stage[i] == NOWHERE) continue;
    const Expr *row = chain_rows_open(c);
    const Expr *lane = named(s, st->label[c->n_outer], "i", lanes_open(c, c->shape.results));
    Env e = chain_env(c, i);
    e.label[c->n_outer] = lane;
    into(s, &if_add(s, expr_and(s->x, row, ex_below(s, lane, st->bound[c->n_outer])))->body);
    if (!sums && st->sum->domain) into(s, &if_add(s, ex_shared(s, link_of(c, &e, st->sum->domain)))->body);
    const Expr *value = sums ? NULL : ex_shared(s, expr_cast(s->x, st->sum->dtype, link_of(c, &e, st->sum->body)));
    if (!sums) store_add(s, c->link[i].own, 1, &c->now.at, let_read(s, "v", value));
    value_store(s, st, &e, kept(c, i));
    into(s, was);
  }
}

/* ---- a sweep ------------------------------------------------------------------------------------------------- */

bool chain_is_in(const Chain *c, uint32_t i, uint32_t sweep) {
  return c->link[i].is != LINK_PIECE && chain_is_sum(c, i) && c->link[i].sweep == sweep;
}

/* Marks pieces that the sweep's sums depend on, and those that are stored in it. */
static void wanted_mark(Chain *c, uint32_t sweep) {
  for (uint32_t i = c->from; i < c->to; i++) c->link[i].wanted = is_stored_in(c, i, sweep);
  for (uint32_t i = c->to; i-- > c->from;) {
    const TaskStage *st = stage_at(c, i);
    if (!chain_is_in(c, i, sweep) && !c->link[i].wanted) continue;
    for (uint32_t k = 0; k < st->sum->n_slot; k++)
      if (st->slot[k].kept && c->link[st->slot[k].index].is == LINK_PIECE) c->link[st->slot[k].index].wanted = true;
  }
}

/* Computes the range of the sweep's sums for any row of the block. */
static void sweep_bounds(Chain *c, uint32_t sweep, const Expr **lo, const Expr **hi) {
  Sched *s = c->s;
  const Expr *all = c->along->bound[c->n_outer], *from = NULL, *to = NULL;
  *lo = ex_int(s, 0), *hi = all;
  for (uint32_t i = c->from; i < c->to; i++) {
    const TaskStage *st = stage_at(c, i);
    if (is_stored_in(c, i, sweep)) return;
    if (!chain_is_in(c, i, sweep)) continue;
    Env e = chain_env(c, i);
    uint32_t label = c->link[i].is == LINK_RESULT ? st->sum->n_out : c->n_outer;
    const Expr *a = ex_int(s, 0), *b = all, *last = ex_sub(s, st->bound[c->row], ex_int(s, 1));
    e.label[c->row] = c->now.row0;
    Reach rows = {c->row, c->now.row0, ex_min(s, last, ex_add(s, c->now.row0, ex_int(s, c->shape.rows - 1)))};
    if (st->sum->where) sides_narrow(&e, st->sum->n_out + 1, st->sum->where, label, 1, &rows, &a, &b);
    from = from ? ex_min(s, from, a) : a, to = to ? ex_max(s, to, b) : b;
  }
  if (from) *lo = sides_begin(s, from), *hi = to;
}

static void accs_new(Chain *c, uint32_t sweep) {
  Sched *s = c->s;
  for (uint32_t i = c->from; i < c->to; i++) {
    const TaskStage *st = stage_at(c, i);
    Link *k = &c->link[i];
    if (!chain_is_in(c, i, sweep)) continue;
    const Expr *none = red_identity(s, st->sum);
    if (k->is == LINK_RESULT)
      k->own = k->acc = chain_own(c, NULL, "acc", st->sum->acc, c->shape.each * c->shape.results, none);
    else if (k->grows) {
      k->own = chain_own(c, st->name, "most", st->sum->acc, c->shape.each, none);
      k->count = chain_own(c, NULL, "count", st->sum->acc, c->shape.each, number(s, st->sum->acc, 0));
    } else
      k->acc = chain_own(c, NULL, "acc", st->sum->acc, c->shape.each, none);
  }
}

/* Computes pieces and sums of rows; late: after the maximum has grown, the pieces that depend on it, and the sums
 * other than it. */
static void points_made(Chain *c, uint32_t sweep, bool late, bool grows) {
  LoopBody *was = c->s->body;
  const Expr *along = chain_points_open(c);
  for (uint32_t i = c->from; i < c->to; i++) {
    const Link *k = &c->link[i];
    if (k->is == LINK_PIECE && k->wanted && chain_is_over(c, i, sweep) == late) {
      if (!chain_is_sum(c, i) || is_stored_in(c, i, sweep)) piece_made(c, i, along, sweep);
    } else if (k->is == LINK_ROW && chain_is_in(c, i, sweep) && (grows && !k->grows) == late) {
      row_grows(c, i, along, sweep);
    }
  }
  into(c->s, was);
}

static void pieces_new(Chain *c) {
  Sched *s = c->s;
  for (uint32_t i = c->from; i < c->to; i++) {
    Link *k = &c->link[i];
    const TaskStage *st = stage_at(c, i);
    if (k->is != LINK_PIECE || !k->wanted) continue;
    if (!chain_is_sum(c, i)) {
      k->own = chain_own(
          c, st->name, "piece", st->sum->dtype, c->shape.each * c->shape.points, number(s, st->sum->dtype, 0));
      continue;
    }
    k->own = chain_own(c, st->name, "product", st->sum->acc, c->shape.each * c->shape.points, red_identity(s, st->sum));
    if (c->shape.held) {
      chain_held_product(c);
      continue;
    }
    k->tiles.now.lane0 = c->now.along0;
    c->now.in = &k->tiles;
    tiles_sum(&k->tiles, k->own);
    c->now.in = NULL;
  }
}

static void piece_swept(Chain *c, uint32_t sweep) {
  Sched *s = c->s;
  bool grows = false;
  pieces_new(c);
  for (uint32_t i = c->from; i < c->to; i++) {
    Link *k = &c->link[i];
    if (!chain_is_in(c, i, sweep) || k->is != LINK_ROW || !k->grows) continue;
    grows = true;
    k->acc = chain_own(c, NULL, "acc", stage_at(c, i)->sum->acc, c->shape.each, red_identity(s, stage_at(c, i)->sum));
  }
  points_made(c, sweep, false, grows);
  for (uint32_t i = c->from; i < c->to; i++)
    if (chain_is_in(c, i, sweep) && c->link[i].is == LINK_ROW && c->link[i].grows) grows_on(c, i, sweep);
  if (grows) points_made(c, sweep, true, true);
  for (uint32_t i = c->from; i < c->to; i++)
    if (chain_is_in(c, i, sweep) && c->link[i].is == LINK_RESULT)
      c->shape.held ? chain_held_result(c) : result_grows(c, i);
}

static void sweep_made(Chain *c, uint32_t sweep) {
  Sched *s = c->s;
  const Expr *lo, *hi;
  LoopBody *was = s->body;
  wanted_mark(c, sweep);
  accs_new(c, sweep);
  sweep_bounds(c, sweep, &lo, &hi);
  if (c->shape.held) chain_held_begin(c, sweep, lo, hi);
  c->now.along0 = for_open(s, c->along->label[c->n_outer], "at", lo, hi, c->shape.piece, BIND_SEQ);
  piece_swept(c, sweep);
  into(s, was);
  for (uint32_t i = c->from; i < c->to; i++)
    if (chain_is_in(c, i, sweep) && c->link[i].is == LINK_ROW && c->link[i].grows) grows_ended(c, i, sweep);
  for (uint32_t i = c->from; i < c->to; i++)
    if (chain_is_in(c, i, sweep) && c->link[i].is == LINK_ROW) row_ended(c, i);
}

/* ---- the launch ----------------------------------------------------------------------------------------------- */

static uint32_t tile_place(Chain *c, DType t) {
  uint32_t place = place_block(c->s, "piece", t, c->shape.rows * c->shape.tile_wide);
  c->s->k->places.at[place].small = c->shape.matrix;
  return place;
}

static void arrays_new(Chain *c) {
  Sched *s = c->s;
  bool part[DTYPES] = {0}, tile[DTYPES] = {0};
  chain_shares(c, part, tile);
  for (uint32_t t = 0; t < DTYPES; t++) {
    if (part[t]) c->shared.part[t] = place_block(s, "parts", (DType)t, c->shape.rows * c->shape.sharing);
    if (tile[t]) c->shared.tile[t] = tile_place(c, (DType)t);
  }
  for (uint32_t i = c->from; i < c->to; i++)
    if (c->link[i].is != LINK_ROW && chain_is_sum(c, i)) tiles_shared(&c->link[i].tiles);
}

static void blocks_open(Chain *c) {
  Sched *s = c->s;
  const TaskStage *st = c->along;
  Walk *w = NEW(s->arena, Walk);
  const Expr *all = ex_int(s, 1), *rows = ex_int(s, c->shape.rows);
  for (uint32_t k = 0; k < c->n_outer; k++) {
    const Expr *n = k == c->row ? ex_div_up(s, st->bound[k], rows) : st->bound[k];
    walk_add(s, w, k == c->row ? NULL : st->label[k], n);
    all = ex_mul(s, all, n);
  }
  TileGrid grid = grid_open(s, all, c->shape.beside);
  c->thread.x = grid.x, c->thread.y = grid.y;
  arrays_new(c);
  grid_threads(s, &grid);
  walk_count(s, w, c->n_outer, var_read(s, grid.block));
  c->now.outer = NEW_ARRAY(s->arena, const Expr *, c->n_outer + 1);
  for (uint32_t k = 0; k < c->n_outer; k++) c->now.outer[k] = w->index[k];
  c->now.row0 = named(s, NULL, "row", ex_mul(s, w->index[c->row], rows));
}

static void threads_named(Chain *c) {
  Sched *s = c->s;
  c->thread.place = var_read(s, c->thread.x);
  if (!c->shape.matrix) return;
  const Expr *thread = ex_add(s, ex_mul(s, var_read(s, c->thread.y), ex_int(s, TILE_SIDE)), var_read(s, c->thread.x));
  c->thread.warp = named(s, NULL, "warp", quotient(s, thread, 32)),
  c->thread.lane = named(s, NULL, "lane", rest(s, thread, 32));
  c->thread.place = named(s, NULL, "place",
      ex_add(s, ex_mul(s, rest(s, c->thread.warp, c->shape.sharing / 4), ex_int(s, 4)), rest(s, c->thread.lane, 4)));
}

/* Sets up the tiles that compute products and results of the block's rows. */
static void tiles_ready(Chain *c) {
  for (uint32_t i = c->from; i < c->to; i++) {
    Link *k = &c->link[i];
    if (k->is == LINK_ROW || !chain_is_sum(c, i)) continue;
    k->env = chain_env(c, i);
    k->tiles.env = &k->env, k->tiles.kept.other = other_link, k->tiles.kept.owner = c;
    k->tiles.thread.x = c->thread.x, k->tiles.thread.y = c->thread.y;
    if (k->tiles.shape.brought) tiles_warps(&k->tiles);
    k->tiles.now.row0 = c->now.row0, k->tiles.now.lane0 = ex_int(c->s, 0);
  }
}

void chain_loops(Chain *c) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  for (uint32_t i = c->from; i < c->to; i++) {
    const TaskStage *st = stage_at(c, i);
    bool later = false;
    for (uint32_t k = c->to; k < s->task->stages.len; k++) later |= chain_reads(c, k, i);
    if (later)
      s->of_stage[i] = place_shared(s, st->name ? st->name->s : "kept", st->sum->dtype, st->sum->n_out, st->bound);
  }
  blocks_open(c);
  threads_named(c);
  tiles_ready(c);
  if (c->shape.held) chain_held_rows(c);
  for (uint32_t sweep = 0; sweep <= c->sweeps; sweep++) {
    for (uint32_t i = c->from; i < c->to; i++)
      if (c->link[i].is == LINK_ROW && !chain_is_sum(c, i) && c->link[i].sweep == sweep) row_mapped(c, i);
    if (sweep < c->sweeps) sweep_made(c, sweep);
  }
  results_made(c);
  into(s, was);
}
