/* codegen/schedule/gpu/tile.c - products of two sides, whatever is multiplied and however it is reduced: a block
 * computes a tile of the result, over two of its labels, as sides.c does. Points beyond the end of a label are not
 * stored. */
#include <math.h>

#include "schedule/gpu/gpu.h"

enum { LESS = 4, MORE = 8, WIDEST = 16 }; /* points of each thread along a side, */
enum { BLOCKS = 256 };       /*   more if that leaves so many blocks: a device has about 100 processors for them, */
enum { ALONE = 120 };        /*   or so many, if a block has a processor alone */
enum { RING = 4 };           /* parts of the sum that are in shared memory or on their way to it, at most */
enum { BESIDE_BYTES = 98 << 10 }; /* of shared memory, for blocks that share a multiprocessor: all since 8.0 have it */
enum { PARTS_LEAST = 16, PARTS_MOST = 128 }; /* of the sum: least number per block if it is split; and the most */
static const double cut_bytes = 1e9;         /* memory of a split sum, at most */

/* ---- when it applies ----------------------------------------------------------------------------------- */

static bool side_reads(const Tiles *t, uint32_t slot, const Side *x) {
  const Expr *e = tiles_read(t, slot);
  for (uint32_t k = 0; k < x->n; k++)
    if (ex_has_label(e, x->label[k])) return true;
  return false;
}

/* Whether the label is read by that side, and by nothing of the other; what both sides read, or neither, is constant
 * in a tile. */
static bool is_of_side(const Tiles *t, uint32_t label, const Side *side, const Side *other) {
  bool in = false;
  for (uint32_t k = 0; k < t->st->sum->n_slot; k++) {
    if (!ex_has_label(tiles_read(t, k), label)) continue;
    if (side_reads(t, k, other)) return false;
    in |= side_reads(t, k, side);
  }
  return in;
}

/* The side with all of its labels, in the result's order, `last` at the end. With a predicate it keeps one label. */
static Side side_grown(const Tiles *t, const Side *side, const Side *other, uint32_t last) {
  uint32_t *label = NEW_ARRAY(t->s->arena, uint32_t, t->plan.n_order + 1), n = 0;
  if (t->st->sum->where) return *side;
  for (uint32_t k = 0; k < t->plan.n_order; k++)
    if (t->plan.order[k] != last && is_of_side(t, t->plan.order[k], side, other)) label[n++] = t->plan.order[k];
  label[n++] = last;
  return side_new(t, n, label);
}

/* The score of a label as the rows'. */
static int row_score(const Tiles *t, uint32_t label) {
  bool unit = false, far = false;
  for (uint32_t k = 0; k < t->st->sum->n_slot; k++) {
    if (!ex_has_label(tiles_read(t, k), label)) continue;
    bool near = plan_move(&t->plan, k, label) == MOVE_UNIT || plan_move(&t->plan, k, t->red) == MOVE_UNIT;
    unit |= near, far |= !near;
  }
  return unit && !far ? 2 : !far;
}

/* The best row label beside that lane: one that gives two sides, and is read contiguously. NOWHERE: none. */
static uint32_t row_found(Tiles *t, uint32_t lane) {
  const StagePlan *p = &t->plan;
  uint32_t best = NOWHERE;
  t->lane = side_new(t, 1, &lane);
  for (uint32_t k = p->n_order; k-- > 0;) {
    uint32_t row = p->order[k];
    if (row == lane || p->size[row] < (t->st->sum->where ? TILE_SIDE : 2)) continue;
    t->row = side_new(t, 1, &row);
    if (tiles_sides(t, true) && (best == NOWHERE || row_score(t, row) > row_score(t, best))) best = row;
  }
  return best;
}

/* The label along which the result is contiguous. */
static uint32_t stored_along(const StagePlan *p) {
  for (uint32_t k = 0; k < p->n_order; k++)
    if (plan_move(p, p->n_access - 1, p->order[k]) == MOVE_UNIT) return p->order[k];
  return p->order[p->n_order - 1];
}

/* Chooses the lane: the label along which the result is contiguous, or else most reads. Each side then takes all
 * labels that belong to it. Returns false if there are no two sides. */
static bool sides_found(Tiles *t) {
  const StagePlan *p = &t->plan;
  uint32_t lane = stored_along(p), best = row_found(t, lane);
  if (best == NOWHERE || (t->st->sum->where && p->size[lane] < TILE_SIDE))
    lane = p->order[p->n_order - 1], best = row_found(t, lane);
  if (best == NOWHERE) return false;
  Side row = side_new(t, 1, &best), one = t->lane;
  t->row = side_grown(t, &row, &one, best);
  t->lane = side_grown(t, &one, &row, lane);
  return tiles_sides(t, true);
}

static double sum_points(const Tiles *t) {
  double points = 1;
  for (uint32_t k = 0; k < t->plan.n_red; k++) points *= (double)t->plan.size[t->plan.red[k]];
  return points;
}

static bool is_product(Tiles *t, const Launch *l) {
  const EinSum *sum = t->st->sum;
  const StagePlan *p = &t->plan;
  if (!launch_is_one_sum(t->s, l) || !tiles_take(t) || p->n_order < 2 ||
      (sum->where && !ex_is_safe(t->env, sum->where)))
    return false;
  t->red = p->red[p->n_red - 1];
  if (p->size[t->red] < TILE_DEEP / 2 || !sides_found(t)) return false;
  return t->row.size >= TILE_SIDE && t->lane.size >= TILE_SIDE && tiles_bytes(t) <= LOOP_SHARED_PLAIN;
}

/* ---- choices -------------------------------------------------------------------------------------------- */

static bool is_of(const Side *x, uint32_t label) {
  for (uint32_t k = 0; k < x->n; k++)
    if (x->label[k] == label) return true;
  return false;
}

static double side_blocks(const Side *x, int64_t each) {
  return (double)((x->size + TILE_SIDE * each - 1) / (TILE_SIDE * each));
}

static double blocks_for(const Tiles *t, int64_t rows, int64_t lanes) {
  double n = side_blocks(&t->row, rows) * side_blocks(&t->lane, lanes);
  for (uint32_t k = 0; k < t->plan.n_order; k++)
    if (!is_of(&t->row, t->plan.order[k]) && !is_of(&t->lane, t->plan.order[k]))
      n *= (double)t->plan.size[t->plan.order[k]];
  return n;
}

static bool is_enough(const Tiles *t, int64_t rows, int64_t lanes, double blocks) {
  /* Into how many parts the sum can be split. */
  double long_enough = sum_points(t) / (TILE_DEEP * PARTS_LEAST * 4);
  if (t->st->sum->where || long_enough < 1) long_enough = 1;
  return blocks_for(t, rows, lanes) * long_enough >= blocks;
}

/* Chooses the points per thread: as many as registers hold sums, if enough blocks are left and the label has enough
 * points. Matrix units are so fast that a block's operands have to serve more points: one block then has all registers
 * of a processor. */
static void tile_shape(Tiles *t) {
  TileShape *shape = &t->shape;
  int64_t most = dtype_size(t->st->sum->acc) > 4 && !shape->matrix ? LESS : MORE,
          widest = dtype_size(t->st->sum->acc) > 4 ? MORE : WIDEST;
  shape->rows = shape->lanes = LESS;
  if (shape->matrix && t->row.size > TILE_SIDE * LESS && t->lane.size > TILE_SIDE * LESS &&
      is_enough(t, MORE, widest, ALONE)) {
    shape->rows = MORE, shape->lanes = widest, shape->beside = 1;
    return;
  }
  if (t->lane.size > TILE_SIDE * LESS && is_enough(t, LESS, most, BLOCKS)) shape->lanes = most;
  if (shape->matrix && t->st->sum->acc == DT_F64) shape->lanes = LESS;
  if (t->row.size > TILE_SIDE * LESS && is_enough(t, most, shape->lanes, BLOCKS)) shape->rows = most;
}

/* Copies in the background go to a ring of as many parts as there is room for, so that a copy has that much time, and
 * so that blocks still share a multiprocessor. */
static void copies_choose(Tiles *t) {
  t->shape.ring = 0;
  for (int64_t ring = RING; ring > 1 && !t->shape.ring && bring_copies(t); ring--) {
    t->shape.ring = ring;
    if (tiles_bytes(t) > LOOP_SHARED || t->shape.beside * tiles_bytes(t) > BESIDE_BYTES) t->shape.ring = 0;
  }
}

/* How many parts the sum is split into: for lack of blocks, or if one register would accumulate too long a float sum;
 * 0: too much. */
static int64_t parts_for(const Tiles *t) {
  const EinSum *sum = t->st->sum;
  const Expr *all = tiles_parts(t);
  double points = sum_points(t), blocks = blocks_for(t, t->shape.rows, t->shape.lanes), n = 1, result = 1;
  bool is_long = sum->reducer == RED_SUM && dtype_is_float(sum->acc) && points > (double)DEVICE_BLOCK,
       exact = all->kind == EX_INT;
  for (uint32_t k = 0; k < t->plan.n_order; k++)
    exact &= t->plan.exact[t->plan.order[k]], result *= (double)t->plan.size[t->plan.order[k]];
  if (sum->where || !exact) return is_long ? 0 : 1;
  if (blocks < BLOCKS / 2) n = floor((double)BLOCKS / blocks);
  if (n > (double)all->i / (double)PARTS_LEAST) n = floor((double)all->i / (double)PARTS_LEAST);
  if (is_long && n < ceil(points / (double)DEVICE_BLOCK)) n = ceil(points / (double)DEVICE_BLOCK);
  if (n < 2) return 1;
  return n > (double)PARTS_MOST || n * result * dtype_size(sum->acc) > cut_bytes ? !is_long : (int64_t)n;
}

/* How many neighbours a thread stores at once: none begins at a multiple of more than divide a row of the result. What
 * it has of them beyond that it would store one by one, each time with gaps between it and the next thread's. Pairs are
 * read from shared memory as fast as fours: half a warp's are in all of the banks. */
static int64_t lane_pack(const Tiles *t, int64_t most) {
  uint32_t last = t->lane.label[t->lane.n - 1];
  return t->plan.exact[last] && t->plan.size[last] % most ? 2 : most;
}

static int64_t tile_choose(Tiles *t, const Launch *l) {
  TileShape *shape = &t->shape;
  shape->row_pack = dtype_size(t->st->sum->acc) > 4 ? 2 : 4;
  shape->brought = true;
  shape->beside = 2;
  if (!is_product(t, l)) return 0;
  shape->lane_pack = lane_pack(t, shape->row_pack);
  shape->matrix = tiles_are_matrix(t);
  if (shape->matrix)
    shape->row_pack = 1, shape->lane_pack = 2, shape->part = t->st->sum->acc == DT_F32 ? 2 * TILE_DEEP : TILE_DEEP / 2;
  tile_shape(t);
  copies_choose(t);
  return parts_for(t);
}

/* ---- a launch ------------------------------------------------------------------------------------------ */

TileGrid grid_open(Sched *s, const Expr *blocks, int64_t beside) {
  TileGrid g = {.block = var_new(s, NULL, "block")};
  g.x = var_new(s, NULL, "x");
  g.y = var_new(s, NULL, "y");
  LoopStmt *grid = for_add(s, g.block, ex_int(s, 0), blocks, 1, BIND_GRID);
  grid->beside = beside;
  into(s, &grid->body);
  return g;
}

void grid_threads(Sched *s, const TileGrid *g) {
  const Expr *side = ex_int(s, TILE_SIDE);
  into(s, &for_add(s, g->x, ex_int(s, 0), side, 1, BIND_BLOCK)->body);
  LoopStmt *y = for_add(s, g->y, ex_int(s, 0), side, 1, BIND_BLOCK);
  y->axis = 1;
  into(s, &y->body);
}

/* Opens a block for each tile at each point of the other labels, and for each part of the sum. Returns the part. */
static const Expr *blocks_open(Tiles *t, int64_t parts) {
  Sched *s = t->s;
  const StagePlan *p = &t->plan;
  const TaskStage *st = t->st;
  Walk *w = NEW(s->arena, Walk);
  const Expr *rows = ex_int(s, TILE_SIDE * t->shape.rows), *lanes = ex_int(s, TILE_SIDE * t->shape.lanes);
  if (parts > 1) walk_add(s, w, NULL, ex_int(s, parts));
  uint32_t first = w->n;
  for (uint32_t k = 0; k < p->n_order; k++)
    if (!is_of(&t->row, p->order[k]) && !is_of(&t->lane, p->order[k]))
      walk_add(s, w, st->label[p->order[k]], st->bound[p->order[k]]);
  walk_add(s, w, NULL, ex_div_up(s, t->row.all, rows));
  walk_add(s, w, NULL, ex_div_up(s, t->lane.all, lanes));
  TileGrid grid = grid_open(s, walk_points(s, w), t->shape.beside);
  t->thread.x = grid.x, t->thread.y = grid.y;
  tiles_shared(t);
  grid_threads(s, &grid);
  walk_count(s, w, w->n, var_read(s, grid.block));
  for (uint32_t k = 0, at = first; k < p->n_order; k++)
    if (!is_of(&t->row, p->order[k]) && !is_of(&t->lane, p->order[k])) t->env->label[p->order[k]] = w->index[at++];
  tiles_warps(t);
  t->now.row0 = named(s, NULL, "row", ex_mul(s, w->index[w->n - 2], rows));
  t->now.lane0 = named(s, NULL, "lane", ex_mul(s, w->index[w->n - 1], lanes));
  return parts > 1 ? w->index[0] : NULL;
}

bool tile_fits(Sched *s, Launch *l) {
  Tiles t = tiles_of(s, l->first, l->e, MORE, MORE);
  return tile_choose(&t, l) > 0;
}

static const char *side_name(const Tiles *t, const Side *x) {
  Buf b = buf_new(t->s->arena);
  for (uint32_t k = 0; k < x->n; k++) buf_printf(&b, "%s%s", k ? " " : "", how_label(t->st, x->label[k]));
  return x->n > 1 ? arena_printf(t->s->arena, "(%s)", b.s) : b.s;
}

static void choice_report(const Tiles *t, int64_t parts) {
  const TileShape *shape = &t->shape;
  int64_t rows = TILE_SIDE * shape->rows, lanes = TILE_SIDE * shape->lanes;
  how_add(t->s, t->st, "tiles of %lld %s by %lld %s, %lld %s of each side shared at once, %lld by %lld threads",
      (long long)rows, side_name(t, &t->row), (long long)lanes, side_name(t, &t->lane), (long long)shape->part,
      how_label(t->st, t->red), (long long)TILE_SIDE, (long long)TILE_SIDE);
  if (shape->matrix)
    how_add(t->s, t->st, "products by matrix units, %lld by %lld a warp", (long long)rows / 2, (long long)lanes / 4);
  if (shape->ring == 2) how_add(t->s, t->st, "the next part is copied to shared memory meanwhile");
  else if (shape->ring)
    how_add(t->s, t->st, "the next %lld parts are copied to shared memory meanwhile", (long long)shape->ring - 1);
  if (parts > 1) how_add(t->s, t->st, "the sum is cut into %lld, which another launch adds", (long long)parts);
  if (t->st->sum->where)
    how_add(t->s, t->st,
        "points are asked for the predicate in parts of the sum of which not all is in it; where it bounds %s, "
        "others are skipped",
        how_label(t->st, t->red));
}

/* Loops over the thread's points of the result. */
static void results_open(Tiles *t) {
  Sched *s = t->s;
  tiles_points(t);
  const Expr *inside = tiles_inside(t);
  if (inside) into(s, &if_add(s, inside)->body);
  tiles_labels(t);
  for (uint32_t k = 0; k < t->plan.n_order; k++) {
    uint32_t label = t->plan.order[k];
    t->env->label[label] = named(s, t->st->label[label], "i", t->env->label[label]);
  }
}

/* Stores the parts' sums, by the number of the point; a thread for each point then adds them, in order. */
static void parts_launch(Tiles *t, const Launch *l, int64_t parts) {
  Sched *s = t->s;
  const EinSum *sum = t->st->sum;
  const StagePlan *p = &t->plan;
  LoopBody *was = s->body;
  const Expr *points = ex_int(s, 1), *each = ex_int(s, t->shape.rows * t->shape.lanes), *point = ex_int(s, 0);
  for (uint32_t k = 0; k < p->n_order; k++) points = ex_mul(s, points, t->st->bound[p->order[k]]);
  uint32_t buffer = place_shared(s, "parts", sum->acc, 2, (const Expr *[]){ex_int(s, parts), points});
  const Expr *part = blocks_open(t, parts), *all = tiles_parts(t), *chunk = ex_div_up(s, all, ex_int(s, parts));
  uint32_t acc = var_own(s, NULL, "acc", sum->acc, 1, &each, red_identity(s, sum));
  const Expr *from = named(s, NULL, "from", ex_mul(s, part, chunk)),
             *to = named(s, NULL, "to", ex_min(s, all, ex_add(s, from, chunk)));
  tiles_some(t, acc, from, to);
  results_open(t);
  for (uint32_t k = 0; k < p->n_order; k++)
    point = ex_add(s, ex_mul(s, point, t->st->bound[p->order[k]]), t->env->label[p->order[k]]);
  store_add(s, buffer, 2, (const Expr *[]){part, point}, place_read(s, acc, 1, &t->now.at));
  into(s, was);
  const Expr *at = threads_open(s, p, l->e);
  uint32_t all_acc = place_own(s, NULL, "acc", sum->acc, 0, NULL), v = var_new(s, NULL, "part");
  var_add(s, all_acc, red_identity(s, sum));
  LoopBody *thread = into(s, &for_add(s, v, ex_int(s, 0), ex_int(s, parts), 1, BIND_SEQ)->body);
  const Expr *next = let_read(s, "v", place_read(s, buffer, 2, (const Expr *[]){var_read(s, v), at}));
  acc_take(s, sum, all_acc, next);
  into(s, thread);
  launch_finish(s, l, scalar_read(s, all_acc));
  into(s, was);
}

bool tile_launch(Sched *s, Launch *l) {
  Tiles t = tiles_of(s, l->first, l->e, MORE, MORE);
  int64_t parts = tile_choose(&t, l);
  if (!parts) return false;
  choice_report(&t, parts);
  if (parts > 1) {
    parts_launch(&t, l, parts);
    return true;
  }
  const Expr *each = ex_int(s, t.shape.rows * t.shape.lanes);
  blocks_open(&t, 1);
  uint32_t acc = var_own(s, NULL, "acc", l->first->sum->acc, 1, &each, red_identity(s, l->first->sum));
  tiles_sum(&t, acc);
  results_open(&t);
  launch_finish(s, l, place_read(s, acc, 1, &t.now.at));
  return true;
}
