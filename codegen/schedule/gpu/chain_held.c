/* codegen/schedule/gpu/chain_held.c - a chain's products and results on matrix units, if each warp has whole rows of
 * the block. Then what a row's product becomes, its pieces, is what the threads that need it for the result hold
 * already, and so is the side of the product with the rows, which is read once. Only the sides that all rows share
 * are in shared memory: the product's is loaded ahead while the result grows, the result's while the product is
 * made, with two barriers for a piece. */
#include "schedule/gpu/chain.h"

enum { DEEPEST = 128 }; /* points of the product's sum */

static Tiles *tiles_at(const Chain *c, uint32_t i) {
  return &c->link[i].tiles;
}

static bool product_fits(const Tiles *t) {
  uint32_t row = tiles_slot(t, OF_ROW), lane = tiles_slot(t, OF_LANE);
  int64_t deep = t->plan.size[t->red];
  return row != NOWHERE && lane != NOWHERE && t->plan.n_red == 1 && t->plan.exact[t->red] && deep <= DEEPEST &&
      deep % 16 == 0 && tiles_along(t, row) && bring_wide(t, row, t->red) > 1 && bring_fits(t, lane);
}

static bool result_fits(const Chain *c, uint32_t i) {
  const Tiles *t = tiles_at(c, i);
  const Expr *where = t->st->sum->where;
  uint32_t lane = tiles_slot(t, OF_LANE);
  if (where && (where->has & HAS_READ || ex_has_label(where, c->n_outer))) return false;
  return lane != NOWHERE && chain_piece_of(c, i) != NOWHERE && bring_fits(t, lane);
}

bool chain_held_fits(const Chain *c) {
  uint32_t products = 0, results = 0;
  bool fits = true;
  for (uint32_t i = c->from; i < c->to && fits; i++) {
    if (dtype_size(stage_at(c, i)->sum->acc) > 4) return false;
    if (c->link[i].is == LINK_ROW || !chain_is_sum(c, i)) continue;
    bool piece = c->link[i].is == LINK_PIECE;
    fits = piece ? product_fits(tiles_at(c, i)) : result_fits(c, i);
    products += piece, results += !piece;
  }
  return fits && products == 1 && results <= 1;
}

/* ---- the rows of the product --------------------------------------------------------------------------------- */

/* A thread's elements of its rows: two neighbours at a time. */
static void rows_read(Chain *c, Tiles *t) {
  Sched *s = c->s;
  uint32_t slot = tiles_slot(t, OF_ROW), k = var_new(s, NULL, "c");
  DType type = (DType)tiles_read(t, slot)->dtype;
  const Expr *n = ex_int(s, c->shape.each * t->shape.part / 4);
  t->kept.held = place_own(s, NULL, "held", type, 1, &n);
  s->k->places.at[t->kept.held].small = true;
  var_add(s, t->kept.held, tiles_nothing(s, type));
  LoopBody *was = s->body;
  const Expr *there = chain_rows_open(c);
  if (there) into(s, &if_add(s, there)->body);
  into(s, &for_add(s, k, ex_int(s, 0), ex_int(s, t->shape.part / 8), 1, BIND_UNROLL)->body);
  const Expr *two = ex_mul(s, expr_op2(s->x, OP_MOD, c->thread.lane, ex_int(s, 4)), ex_int(s, 2)),
             *at =
                 ex_add(s, ex_mul(s, c->now.r, ex_int(s, t->shape.part / 4)), ex_mul(s, var_read(s, k), ex_int(s, 2)));
  t->env->label[c->row] = c->now.outer[c->row];
  t->env->label[t->red] = ex_add(s, ex_mul(s, var_read(s, k), ex_int(s, 8)), two);
  store_add(s, t->kept.held, 1, &at, ex_of(t->env, tiles_read(t, slot)))->wide = 2;
  into(s, was);
}

void chain_held_rows(Chain *c) {
  for (uint32_t i = c->from; i < c->to; i++)
    if (c->link[i].is == LINK_PIECE && chain_is_sum(c, i)) rows_read(c, tiles_at(c, i));
}

/* ---- a sweep ------------------------------------------------------------------------------------------------- */

/* Loads the product's shared side of the piece at `at`, if there is one. */
static void product_load(Chain *c, const Expr *at) {
  Sched *s = c->s;
  if (c->sweep.product == NOWHERE) return;
  Tiles *t = tiles_at(c, c->sweep.product);
  LoopBody *was = into(s, &if_add(s, expr_op2(s->x, OP_LT, at, c->sweep.end))->body);
  t->now.lane0 = at, t->now.red0 = ex_int(s, 0);
  bring_load(t);
  into(s, was);
}

static void next_load(Chain *c) {
  product_load(c, ex_add(c->s, c->now.along0, ex_int(c->s, c->shape.piece)));
}

static void result_load(Chain *c) {
  Tiles *t = tiles_at(c, c->sweep.sums);
  t->now.red0 = c->now.along0;
  bring_load(t);
}

void chain_held_begin(Chain *c, uint32_t sweep, const Expr *lo, const Expr *hi) {
  c->sweep.end = hi, c->sweep.product = c->sweep.sums = NOWHERE;
  for (uint32_t i = c->from; i < c->to; i++) {
    const Link *k = &c->link[i];
    if (!chain_is_sum(c, i)) continue;
    if (k->is == LINK_PIECE && k->wanted) c->sweep.product = i;
    if (k->is == LINK_RESULT && chain_is_in(c, i, sweep)) c->sweep.sums = i;
  }
  if (c->sweep.product != NOWHERE) bring_ready(tiles_at(c, c->sweep.product));
  if (c->sweep.sums != NOWHERE) bring_ready(tiles_at(c, c->sweep.sums));
  product_load(c, lo);
}

void chain_held_product(Chain *c) {
  Sched *s = c->s;
  Tiles *t = tiles_at(c, c->sweep.product);
  t->now.lane0 = c->now.along0, t->now.red0 = ex_int(s, 0);
  bring_put(t);
  if (c->sweep.sums != NOWHERE) result_load(c);
  barrier_add(s);
  if (c->sweep.sums == NOWHERE) next_load(c);
  t->now.lane0 = c->now.along0;
  tiles_step(t, c->link[c->sweep.product].own);
  if (c->sweep.sums == NOWHERE) barrier_add(s);
}

/* Shares the piece if threads may have to test points of it. */
static void edges_shared(Chain *c, Tiles *t, uint32_t piece) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  into(s, &if_add(s, expr_op1(s->x, OP_NOT, tiles_all(t)))->body);
  chain_piece_shared(c, piece);
  into(s, was);
}

/* to[n] = of[n], plus[n] or 0, for the thread's n results. */
static void results_set(Chain *c, uint32_t to, uint32_t of) {
  Sched *s = c->s;
  const EinSum *sum = stage_at(c, c->sweep.sums)->sum;
  LoopBody *was = s->body;
  const Expr *at = each_open(s, "n", c->shape.each * c->shape.results), *value = red_identity(s, sum);
  if (of != NOWHERE)
    value = red_combine(s, sum, place_read(s, to, 1, &at), let_read(s, "v", place_read(s, of, 1, &at)));
  store_add(s, to, 1, &at, ex_shared(s, value));
  into(s, was);
}

/* The piece with 0 at points that the predicate excludes. */
static uint32_t piece_masked(Chain *c, uint32_t piece) {
  Sched *s = c->s;
  const TaskStage *st = stage_at(c, c->sweep.sums);
  DType t = stage_at(c, piece)->sum->dtype;
  uint32_t masked = chain_own(c, NULL, "masked", t, c->shape.each * c->shape.points, tiles_nothing(s, t));
  LoopBody *was = s->body;
  const Expr *along = chain_points_open(c);
  Env e = chain_env(c, c->sweep.sums);
  e.label[st->sum->n_out] = along;
  into(s, &if_add(s, ex_of(&e, st->sum->where))->body);
  const Expr *value = place_read(s, c->link[piece].own, 1, &c->now.at);
  store_add(s, masked, 1, &c->now.at, value);
  into(s, was);
  return masked;
}

/* Adds a piece of which a predicate excludes some points. They count as 0 first; if a factor beyond them was no finite
 * number, so are sums, and then threads test each point. */
static void edge_grows(Chain *c, Tiles *t, uint32_t piece, uint32_t to) {
  Sched *s = c->s;
  const EinSum *sum = stage_at(c, c->sweep.sums)->sum;
  int64_t n = c->shape.each * c->shape.results;
  uint32_t k = var_new(s, NULL, "n"), part = chain_own(c, NULL, "part", sum->acc, n, red_identity(s, sum)),
           odd = place_own(s, NULL, "odd", sum->acc, 0, NULL);
  const Expr *zero = tiles_nothing(s, sum->acc);
  t->kept.held = piece_masked(c, piece);
  tiles_matrix(t, part);
  var_add(s, odd, zero);
  LoopBody *was = into(s, &for_add(s, k, ex_int(s, 0), ex_int(s, n), 1, BIND_UNROLL)->body);
  const Expr *at = var_read(s, k), *nothing = expr_op2(s->x, OP_MUL, place_read(s, part, 1, &at), zero);
  store_add(s, odd, 0, NULL, expr_op2(s->x, OP_ADD, scalar_read(s, odd), nothing));
  into(s, was);
  into(s, &if_add(s, expr_op2(s->x, OP_NE, scalar_read(s, odd), zero))->body);
  results_set(c, part, NOWHERE);
  c->now.in = t;
  tiles_asked(t, part);
  c->now.in = NULL;
  into(s, was);
  results_set(c, to, part);
}

void chain_held_result(Chain *c) {
  Sched *s = c->s;
  Link *k = &c->link[c->sweep.sums];
  Tiles *t = &k->tiles;
  const EinSum *sum = stage_at(c, c->sweep.sums)->sum;
  uint32_t piece = chain_piece_of(c, c->sweep.sums), grown = k->acc;
  LoopBody *was = s->body;
  if (c->sweep.product == NOWHERE) result_load(c), barrier_add(s);
  if (!c->shape.direct)
    grown = chain_own(c, NULL, "grown", sum->acc, c->shape.each * c->shape.results, red_identity(s, sum));
  t->now.red0 = c->now.along0;
  c->now.step = ex_int(s, 0);
  if (c->shape.edges) edges_shared(c, t, piece);
  bring_put(t);
  next_load(c);
  barrier_add(s);
  t->now.red0 = c->now.along0;
  t->kept.held = c->link[piece].own;
  const Expr *all = c->shape.edges ? tiles_all(t) : expr_bool(s->x, true);
  LoopStmt *edge = all->kind == EX_INT ? NULL : if_add(s, all);
  if (edge) into(s, &edge->body);
  tiles_matrix(t, grown);
  if (edge) into(s, &edge->other), edge_grows(c, t, piece, grown);
  into(s, was);
  if (!c->shape.direct) results_set(c, k->acc, grown);
}
