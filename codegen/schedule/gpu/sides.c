/* codegen/schedule/gpu/sides.c - computes a tile of a result from two sides, whatever is multiplied and however it is
 * reduced. The tile's operands for a few points of the sum are loaded into shared memory, once; then each thread
 * computes its points of the tile in registers. Nothing is read beyond the end of a label. A predicate is tested at
 * each point of a part that is only partly in it; if it bounds the sum's label, parts outside of it are skipped. */
#include "schedule/gpu/gpu.h"

enum { BANKS = 32, DEEP_STEP = 4 };
enum { WARPS_DOWN = 2, WARPS_ACROSS = 4 }; /* of a block that uses matrix units */

Tiles tiles_of(Sched *s, const TaskStage *st, Env *e, int64_t rows, int64_t lanes) {
  uint32_t n = st->sum->n_slot;
  Tiles t = {.s = s,
      .st = st,
      .plan = stage_plan(s, st),
      .env = e,
      .shape = {.rows = rows,
          .lanes = lanes,
          .row_pack = 1,
          .lane_pack = 1,
          .part = TILE_DEEP,
          .down = WARPS_DOWN,
          .across = WARPS_ACROSS},
      .slot = {.read = NEW_ARRAY(s->arena, const Expr *, n + 1),
          .of = NEW_ARRAY(s->arena, SideOf, n + 1),
          .shared = NEW_ARRAY(s->arena, uint32_t, n + 1),
          .wide = NEW_ARRAY(s->arena, int64_t, n + 1),
          .next = NEW_ARRAY(s->arena, uint32_t, n + 1)},
      .kept = {.held = NOWHERE}};
  expr_slot_reads(s->arena, 1, &st->sum->body, t.slot.read);
  for (uint32_t k = 0; k < n; k++) t.slot.next[k] = NOWHERE;
  return t;
}

/* ---- sides ----------------------------------------------------------------------------------------------- */

Side side_new(const Tiles *t, uint32_t n, const uint32_t *label) {
  Side x = {.n = n,
      .label = arena_copy(t->s->arena, label, n * sizeof *label),
      .all = ex_int(t->s, 1),
      .exact = true,
      .size = 1};
  for (uint32_t k = 0; k < n; k++) {
    x.all = ex_mul(t->s, x.all, t->st->bound[label[k]]);
    x.exact &= t->plan.exact[label[k]];
    x.size *= t->plan.size[label[k]];
  }
  return x;
}

bool side_whole(const Side *x, int64_t n) { return x->exact && x->size % n == 0; }

void side_say(Tiles *t, const Side *x, const Expr *point, const Expr *near, int64_t n) {
  Walk w = {0};
  uint32_t last = x->label[x->n - 1];
  if (x->n == 1) {
    t->env->label[last] = ex_add(t->s, point, near);
    return;
  }
  /* apart: only the last digit changes, so its multiples of n are counted. */
  bool apart = n > 1 && t->plan.exact[last] && t->plan.size[last] % n == 0;
  point = apart ? expr_op2(t->s->x, OP_IDIV, point, ex_int(t->s, n)) : ex_add(t->s, point, near);
  for (uint32_t k = 0; k < x->n; k++) {
    const Expr *extent = t->st->bound[x->label[k]];
    walk_add(
        t->s, &w, t->st->label[x->label[k]], apart && k + 1 == x->n ? ex_int(t->s, t->plan.size[last] / n) : extent);
  }
  walk_count(t->s, &w, x->n, named(t->s, NULL, "point", point));
  for (uint32_t k = 0; k < x->n; k++) t->env->label[x->label[k]] = w.index[k];
  if (apart) t->env->label[last] = ex_add(t->s, ex_mul(t->s, w.index[x->n - 1], ex_int(t->s, n)), near);
}

static bool side_has(const Side *x, const Expr *e) {
  for (uint32_t k = 0; k < x->n; k++)
    if (ex_has_label(e, x->label[k])) return true;
  return false;
}

/* ---- assignment to sides ------------------------------------------------------------------------------- */

static bool labels_read(const Tiles *t, const Expr *e) {
  if (e->kind == EX_READ) {
    bool row = side_has(&t->row, e), lane = side_has(&t->lane, e), kept = t->st->slot[e->i].kept;
    if (kept && t->kept.other) return t->slot.of[e->i] = OF_OTHER, true;
    if (row && lane) return false;
    for (uint32_t k = 0; k < e->n; k++)
      if (e->arg[k]->has & HAS_READ) return false;
    t->slot.of[e->i] = row ? OF_ROW : lane ? OF_LANE : OF_NONE;
    return t->slot.of[e->i] == OF_NONE || ex_is_safe(t->env, e); /* what is shared is read unconditionally */
  }
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->has & HAS_READ && !labels_read(t, e->arg[k])) return false;
  return true;
}

bool tiles_sides(Tiles *t, bool both) {
  const EinSum *sum = t->st->sum;
  bool row = !both, lane = false;
  if (!labels_read(t, sum->body)) return false;
  for (uint32_t k = 0; k < sum->n_slot; k++) row |= t->slot.of[k] == OF_ROW, lane |= t->slot.of[k] == OF_LANE;
  return row && lane;
}

bool tiles_take(Tiles *t) {
  const EinSum *sum = t->st->sum;
  if (sum->reducer == RED_NONE || red_is_arg(sum) || sum->domain || !t->plan.n_red) return false;
  return !sum->where || !t->kept.other || !(sum->where->has & HAS_READ);
}

/* ---- shared memory ------------------------------------------------------------------------------------- */

const Expr *tiles_read(const Tiles *t, uint32_t slot) { return t->slot.read[slot]; }

const Expr *tiles_nothing(Sched *s, DType t) {
  return dtype_is_float(t) ? expr_real(s->x, t, 0) : t == DT_BOOL ? expr_bool(s->x, false) : expr_int(s->x, t, 0);
}

bool tiles_are_shared(const Tiles *t, uint32_t slot) {
  return t->slot.of[slot] == OF_LANE || (t->slot.of[slot] == OF_ROW && t->kept.held == NOWHERE);
}
static int64_t side_points(const Tiles *t, uint32_t slot) {
  return t->slot.of[slot] == OF_ROW ? t->shape.rows : t->shape.lanes;
}
bool tiles_along(const Tiles *t, uint32_t slot) { return plan_move(&t->plan, slot, t->red) == MOVE_UNIT; }

bool tiles_small(const Tiles *t, uint32_t slot) {
  return t->shape.matrix && dtype_size((DType)tiles_read(t, slot)->dtype) == 2;
}
bool tiles_deep(const Tiles *t, uint32_t slot) { return tiles_small(t, slot) && tiles_along(t, slot); }

/* The row length in shared memory: from a point of the sum to the next or, if those are contiguous, from a point of
 * the side to the next. A warp is two rows of threads, and its stores should go to different banks of 4 bytes: if
 * threads x go along the sum, two banks apart; else half the banks from one row of threads to the next. Elements of 8
 * bytes go half a warp at a time. Packed elements are read four at a time, and loaded as bring.c says; matrix units
 * read 16 bytes of small ones at once, and eight of these. Threads take small ones as if a row's length were a power of
 * two (bring.c), and rows have room for that. */
static int64_t wide_for(const Tiles *t, uint32_t slot, DType type) {
  bool along = tiles_along(t, slot);
  int64_t points = TILE_SIDE * side_points(t, slot), whole = (points + BANKS - 1) / BANKS * BANKS;
  if (tiles_small(t, slot)) return two_power(along ? t->shape.part : points) + 8;
  if (t->shape.brought) return points + 4;
  if (dtype_size(type) == 8) return along ? points + 1 : points;
  return along ? whole + 2 : points % BANKS ? points : points + BANKS / 2;
}

static int64_t shared_count(const Tiles *t, uint32_t slot, DType type) {
  return wide_for(t, slot, type) * (tiles_deep(t, slot) ? TILE_SIDE * side_points(t, slot) : t->shape.part);
}

int64_t tiles_part(const Tiles *t, uint32_t slot) { return shared_count(t, slot, (DType)tiles_read(t, slot)->dtype); }

int64_t tiles_bytes(const Tiles *t) {
  int64_t bytes = 0;
  for (uint32_t k = 0; k < t->st->sum->n_slot; k++) {
    if (!tiles_are_shared(t, k)) continue;
    DType type = (DType)tiles_read(t, k)->dtype;
    int64_t one = !tiles_small(t, k) && dtype_is_float(type) && dtype_size(type) < 4 ? 4 : dtype_size(type);
    bytes += shared_count(t, k, type) * one * (t->shape.ring ? t->shape.ring : 1);
  }
  return bytes;
}

void tiles_shared(Tiles *t) {
  for (uint32_t k = 0; k < t->st->sum->n_slot; k++) {
    if (!tiles_are_shared(t, k)) continue;
    DType type = (DType)tiles_read(t, k)->dtype;
    t->slot.wide[k] = wide_for(t, k, type);
    t->slot.shared[k] = place_block(t->s, t->slot.of[k] == OF_ROW ? "rows" : "lanes", type,
        tiles_part(t, k) * (t->shape.ring ? t->shape.ring : 1));
    t->s->k->places.at[t->slot.shared[k]].small = tiles_small(t, k);
  }
}

/* Loads a side's part: neighbouring threads load neighbours in memory. An element is at deep * wide + point. */
static void side_fill(Tiles *t, uint32_t slot) {
  Sched *s = t->s;
  bool row = t->slot.of[slot] == OF_ROW, along = tiles_along(t, slot);
  const Side *side = row ? &t->row : &t->lane;
  LoopBody *was = s->body;
  const Expr *x = var_read(s, t->thread.x), *y = var_read(s, t->thread.y),
             *far = ex_mul(s, unrolled_open(s, "i", side_points(t, slot)), ex_int(s, TILE_SIDE));
  const Expr *point = ex_add(s, along ? y : x, far), *deep = along ? x : y;
  const Expr *number = named(s, NULL, "point", ex_add(s, row ? t->now.row0 : t->now.lane0, point));
  side_say(t, side, number, ex_int(s, 0), 1);
  t->env->label[t->red] = named(s, NULL, "deep", ex_add(s, t->now.red0, deep));
  const Expr *there = ex_below(s, number, side->all);
  there = expr_and(s->x, there, ex_below(s, t->env->label[t->red], t->st->bound[t->red]));
  const Expr *value = ex_of(t->env, tiles_read(t, slot)),
             *at = ex_add(s, ex_mul(s, deep, ex_int(s, t->slot.wide[slot])), point);
  store_add(s, t->slot.shared[slot], 1, &at,
      expr_select(s->x, there, value, tiles_nothing(s, (DType)value->dtype)));
  into(s, was);
}

void tiles_fill(Tiles *t) {
  for (uint32_t k = 0; k < t->st->sum->n_slot; k++)
    if (tiles_are_shared(t, k)) side_fill(t, k);
}

/* ---- the inner loops ----------------------------------------------------------------------------------- */

static const Expr *leaf_tile(void *env, Exprs *x, const Expr *leaf) {
  Tiles *t = env;
  (void)x;
  if (leaf->kind == EX_LABEL) return t->env->label[leaf->i];
  if (leaf->kind != EX_READ) return leaf;
  if (t->slot.of[leaf->i] == OF_OTHER) return t->kept.other(t->kept.owner, leaf);
  if (t->slot.of[leaf->i] == OF_NONE) return ex_slot(t->env, leaf);
  bool row = t->slot.of[leaf->i] == OF_ROW, deep = tiles_deep(t, (uint32_t)leaf->i);
  const Expr *wide = ex_int(t->s, t->slot.wide[leaf->i]),
             *point = ex_add(t->s, row ? t->now.at_row : t->now.at_lane, row ? t->now.row_near : t->now.lane_near);
  const Expr *at = ex_add(t->s, ex_mul(t->s, deep ? point : t->now.deep, wide), deep ? t->now.deep : point);
  return place_read(t->s, t->slot.shared[leaf->i], 1, &at);
}

/* Loops over n points, the last `pack` of them neighbours. Returns the current one's number, and its place in the
 * tile. */
static const Expr *point_open(
    Tiles *t, const char *name, uint32_t thread, int64_t n, int64_t pack, const Expr **at, const Expr **near) {
  Sched *s = t->s;
  const Expr *far = unrolled_open(s, name, n / pack);
  *near = unrolled_open(s, name, pack);
  *at = ex_add(s, ex_mul(s, var_read(s, thread), ex_int(s, pack)), ex_mul(s, far, ex_int(s, TILE_SIDE * pack)));
  return ex_add(s, ex_mul(s, far, ex_int(s, pack)), *near);
}

/* Opens loops over the thread's points of a warp's matrix; LoopMatrix says which these are. */
static void matrix_points(Tiles *t) {
  const TileShape *shape = &t->shape;
  Sched *s = t->s;
  int64_t lanes = TILE_SIDE * shape->lanes / shape->across / 4;
  t->now.r = each_open(s, "r", TILE_SIDE * shape->rows / shape->down / 8);
  const Expr *far = each_open(s, "c", lanes / 2), *near = each_open(s, "c", 2);
  const Expr *lane = expr_op2(s->x, OP_MOD, t->thread.number, ex_int(s, 32)), *four = ex_int(s, 4);
  t->now.at_row =
      ex_add(s, ex_add(s, t->thread.warp_row, ex_mul(s, t->now.r, ex_int(s, 8))), expr_op2(s->x, OP_IDIV, lane, four));
  t->now.at_lane = ex_add(s, ex_add(s, t->thread.warp_lane, ex_mul(s, far, ex_int(s, 8))),
      ex_mul(s, expr_op2(s->x, OP_MOD, lane, four), ex_int(s, 2)));
  t->now.row_near = ex_int(s, 0), t->now.lane_near = near;
  t->now.at = ex_add(s, ex_mul(s, t->now.r, ex_int(s, lanes)), ex_add(s, ex_mul(s, far, ex_int(s, 2)), near));
}

void tiles_warps(Tiles *t) {
  const TileShape *shape = &t->shape;
  Sched *s = t->s;
  t->thread.number = named(s, NULL, "thread",
      ex_add(s, ex_mul(s, var_read(s, t->thread.y), ex_int(s, TILE_SIDE)), var_read(s, t->thread.x)));
  if (!shape->matrix) return;
  const Expr *warp = named(s, NULL, "warp", expr_op2(s->x, OP_IDIV, t->thread.number, ex_int(s, 32))),
             *rows = ex_int(s, TILE_SIDE * shape->rows / shape->down), *across = ex_int(s, shape->across);
  t->thread.warp_lane = ex_int(s, 0);
  t->thread.warp_row =
      named(s, NULL, "row", ex_mul(s, shape->across > 1 ? expr_op2(s->x, OP_IDIV, warp, across) : warp, rows));
  if (shape->across > 1)
    t->thread.warp_lane = named(s, NULL, "lane",
        ex_mul(s, expr_op2(s->x, OP_MOD, warp, across), ex_int(s, TILE_SIDE * shape->lanes / shape->across)));
}

uint32_t tiles_slot(const Tiles *t, SideOf side) {
  for (uint32_t k = 0; k < t->st->sum->n_slot; k++)
    if (t->slot.of[k] == side) return k;
  return NOWHERE;
}

static const Expr *matrix_held(const Tiles *t, LoopMatrix *m) {
  const Expr *first = ex_int(t->s, 0);
  m->row_step = m->row_deep = 0;
  return place_read(t->s, t->kept.held, 1, &first);
}

static const Expr *matrix_side(Tiles *t, uint32_t slot, const Expr *point, int64_t *step, int64_t *deep) {
  bool next = slot == NOWHERE || tiles_deep(t, slot);
  int64_t wide = slot == NOWHERE ? t->kept.wide : t->slot.wide[slot];
  *step = next ? wide : 1, *deep = next ? 1 : wide;
  const Expr *at = ex_mul(t->s, point, ex_int(t->s, *step));
  if (slot == NOWHERE) at = ex_add(t->s, at, t->kept.at);
  else if (t->shape.ring) at = ex_add(t->s, at, ex_mul(t->s, t->now.turn, ex_int(t->s, tiles_part(t, slot))));
  return place_read(t->s, slot == NOWHERE ? t->kept.place : t->slot.shared[slot], 1, &at);
}

void tiles_matrix(Tiles *t, uint32_t acc) {
  const TileShape *shape = &t->shape;
  LoopMatrix *m = MAKE(t->s->arena, LoopMatrix, .rows = TILE_SIDE * shape->rows / shape->down,
      .lanes = TILE_SIDE * shape->lanes / shape->across,
      .deep = shape->part);
  const Expr *a = t->kept.held != NOWHERE
      ? matrix_held(t, m)
      : matrix_side(t, tiles_slot(t, OF_ROW), t->thread.warp_row, &m->row_step, &m->row_deep);
  const Expr *b = matrix_side(t, tiles_slot(t, OF_LANE), t->thread.warp_lane, &m->lane_step, &m->lane_deep);
  matrix_add(t->s, acc, m, a, b);
}

/* Whether the sum is of products that matrix units compute, exact in the accumulator's dtype. */
bool tiles_are_matrix(const Tiles *t) {
  const EinSum *sum = t->st->sum;
  const Expr *e = sum->body, *read[2];
  if (sum->reducer != RED_SUM || (sum->where && (!t->kept.other || sum->where->has & HAS_READ)) || sum->n_slot != 2 ||
      e->kind != EX_OP || e->op != OP_MUL || e->dtype != (uint8_t)sum->acc)
    return false;
  for (int k = 0; k < 2; k++) {
    read[k] = tiles_read(t, (uint32_t)k);
    if (e->arg[0] != expr_cast(t->s->x, sum->acc, read[k]) && e->arg[1] != expr_cast(t->s->x, sum->acc, read[k]))
      return false;
  }
  if (e->arg[0] == e->arg[1] || read[0]->dtype != read[1]->dtype || t->slot.of[0] == t->slot.of[1]) return false;
  for (uint32_t k = 0; k < 2; k++)
    if (t->slot.of[k] == OF_NONE) return false;
  bool halves = dtype_is_half(read[0]->dtype);
  return sum->acc == DT_F32 ? halves : sum->acc == DT_F64 && read[0]->dtype == DT_F64;
}

void tiles_points(Tiles *t) {
  Sched *s = t->s;
  if (t->shape.matrix) {
    matrix_points(t);
    return;
  }
  t->now.r = point_open(t, "r", t->thread.y, t->shape.rows, t->shape.row_pack, &t->now.at_row, &t->now.row_near);
  const Expr *c =
      point_open(t, "c", t->thread.x, t->shape.lanes, t->shape.lane_pack, &t->now.at_lane, &t->now.lane_near);
  t->now.at = ex_add(s, ex_mul(s, t->now.r, ex_int(s, t->shape.lanes)), c);
}

void tiles_labels(Tiles *t) {
  side_say(t, &t->row, ex_add(t->s, t->now.row0, t->now.at_row), t->now.row_near, t->shape.row_pack);
  side_say(t, &t->lane, ex_add(t->s, t->now.lane0, t->now.at_lane), t->now.lane_near, t->shape.lane_pack);
}

bool tiles_whole(const Tiles *t, int64_t n) { return t->plan.exact[t->red] && t->plan.size[t->red] % n == 0; }

const Expr *tiles_inside(const Tiles *t) {
  const Expr *row = ex_below(t->s, ex_add(t->s, ex_add(t->s, t->now.row0, t->now.at_row), t->now.row_near), t->row.all);
  const Expr *lane =
      ex_below(t->s, ex_add(t->s, ex_add(t->s, t->now.lane0, t->now.at_lane), t->now.lane_near), t->lane.all);
  if (side_whole(&t->row, TILE_SIDE * t->shape.rows)) row = NULL;
  return side_whole(&t->lane, TILE_SIDE * t->shape.lanes) ? row : expr_and(t->s->x, row, lane);
}

/* Whether e depends on labels of the tile other than through shared memory. */
static bool labels_wanted(const Tiles *t, const Expr *e) {
  if (e->kind == EX_LABEL) return true;
  if (e->kind == EX_READ && (t->slot.of[e->i] == OF_ROW || t->slot.of[e->i] == OF_LANE)) return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (labels_wanted(t, e->arg[k])) return true;
  return false;
}

/* How many points of the sum a turn of its loop takes. Two halve the turns, but both points' operands are in registers:
 * where one instruction takes a pair of them, there is room. A sum and a maximum need another one for what is between
 * them; then one point a turn, which is less than 1 % more instructions, keeps kernels from spilling. */
static int64_t step_points(const Tiles *t) {
  const EinSum *sum = t->st->sum;
  return sum->reducer == RED_SUM && sum->body->kind == EX_OP && sum->body->op == OP_MUL ? DEEP_STEP / 2 : 1;
}

static void step_made(Tiles *t, uint32_t acc, bool asked) {
  Sched *s = t->s;
  const EinSum *sum = t->st->sum;
  uint32_t k = var_new(s, t->st->label[t->red], "k");
  const Expr *left = ex_sub(s, t->st->bound[t->red], t->now.red0), *deep = ex_int(s, t->shape.part);
  bool whole = tiles_whole(t, t->shape.part);
  int64_t step = !whole || !t->shape.brought ? 1 : !t->kept.other ? step_points(t) : asked ? DEEP_STEP : TILE_DEEP;
  LoopBody *was = into(s, &for_add(s, k, ex_int(s, 0), whole ? deep : ex_min(s, deep, left), step, BIND_SEQ)->body);
  t->now.deep = ex_add(s, var_read(s, k), unrolled_open(s, "e", step)); /* what is along the sum is read at once */
  tiles_points(t);
  if (asked || t->row.n + t->lane.n == 2 || labels_wanted(t, sum->body)) tiles_labels(t);
  t->env->label[t->red] = ex_add(s, t->now.red0, t->now.deep);
  if (asked) {
    const Expr *cond = ex_of(t->env, sum->where);
    into(s, &if_add(s, sum->where->has & HAS_READ ? expr_and(s->x, tiles_inside(t), cond) : cond)->body);
  }
  const Expr *value = ex_shared(s, expr_map(s->x, sum->body, leaf_tile, t));
  if (sum->reducer == RED_MONOID) value = let_read(s, "v", value); /* its function may use an argument twice */
  store_add(s, acc, 1, &t->now.at, ex_shared(s, red_combine_terms(s, sum, place_read(s, acc, 1, &t->now.at), value)));
  into(s, was);
}

void tiles_asked(Tiles *t, uint32_t acc) {
  step_made(t, acc, true);
}

static Reach reach_of(Tiles *t, uint32_t label, const Expr *from, int64_t n) {
  Sched *s = t->s;
  const Expr *last = ex_sub(s, t->st->bound[label], ex_int(s, 1));
  return (Reach){label, from, ex_min(s, last, ex_add(s, from, ex_int(s, n - 1)))};
}

static void step_whole(Tiles *t, uint32_t acc) {
  if (t->shape.matrix)
    tiles_matrix(t, acc);
  else step_made(t, acc, false);
}

const Expr *tiles_all(Tiles *t) {
  const Expr *cond = t->st->sum->where;
  if (!cond) return expr_bool(t->s->x, true);
  Reach reach[] = {reach_of(t, t->row.label[0], t->now.row0, TILE_SIDE * t->shape.rows),
      reach_of(t, t->lane.label[0], t->now.lane0, TILE_SIDE * t->shape.lanes),
      reach_of(t, t->red, t->now.red0, t->shape.part)};
  return cond->has & HAS_READ ? NULL : where_all(t->env, cond, t->plan.n_label, COUNT(reach), reach);
}

void tiles_step(Tiles *t, uint32_t acc) {
  Sched *s = t->s;
  const Expr *all = tiles_all(t);
  if (all && all->kind == EX_INT && all->i) {
    step_whole(t, acc);
    return;
  }
  if (!all || all->kind == EX_INT) {
    tiles_asked(t, acc);
    return;
  }
  LoopStmt *st = if_add(s, all);
  LoopBody *was = into(s, &st->body);
  step_whole(t, acc);
  into(s, &st->other);
  tiles_asked(t, acc);
  into(s, was);
}

void sides_narrow(Env *e, uint32_t n_label, const Expr *cond, uint32_t label, uint32_t n, const Reach *reach,
    const Expr **lo, const Expr **hi) {
  if (cond->kind == EX_OP && cond->op == OP_AND) {
    sides_narrow(e, n_label, cond->arg[0], label, n, reach, lo, hi);
    sides_narrow(e, n_label, cond->arg[1], label, n, reach, lo, hi);
  } else if (where_bounds(cond, n_label, label)) {
    for (uint32_t k = 0; k < n_label; k++)
      if (k != label && !e->label[k] && ex_has_label(cond, k)) return;
    where_range(e, cond, n_label, label, n, reach, false, lo, hi);
  }
}

const Expr *sides_begin(Sched *s, const Expr *lo) {
  if (expr_is_int(lo, 0)) return lo;
  return ex_mul(s, expr_op2(s->x, OP_IDIV, lo, ex_int(s, TILE_DEEP)), ex_int(s, TILE_DEEP));
}

static void tiles_narrow(Tiles *t, uint32_t label, const Expr **lo, const Expr **hi) {
  const Expr *cond = t->st->sum->where;
  if (!cond) return;
  t->env->label[t->row.label[0]] = t->now.row0, t->env->label[t->lane.label[0]] = t->now.lane0;
  Reach reach[] = {reach_of(t, t->row.label[0], t->now.row0, TILE_SIDE * t->shape.rows),
      reach_of(t, t->lane.label[0], t->now.lane0, TILE_SIDE * t->shape.lanes)};
  sides_narrow(t->env, t->plan.n_label, cond, label, COUNT(reach), reach, lo, hi);
  *lo = sides_begin(t->s, *lo);
}

static void next_load(Tiles *t, const Expr *red0, const Expr *there) {
  LoopBody *was = t->s->body;
  t->now.red0 = red0;
  into(t->s, &if_add(t->s, there)->body);
  bring_load(t);
  into(t->s, was);
}

static void first_load(Tiles *t, const Expr *lo, const Expr *hi) {
  bring_ready(t);
  next_load(t, lo, ex_below(t->s, lo, hi));
}

/* Loops over the labels of the sum, the innermost part by part. */
static void parts_nested(Tiles *t, uint32_t acc) {
  Sched *s = t->s;
  const StagePlan *p = &t->plan;
  const Expr *end = NULL;
  for (uint32_t k = 0; k < p->n_red; k++) {
    uint32_t label = p->red[k], v = var_new(s, t->st->label[label], "r");
    const Expr *lo = ex_int(s, 0), *hi = t->st->bound[label];
    if (label == t->red) tiles_narrow(t, label, &lo, &hi);
    if (label == t->red && t->shape.brought) first_load(t, lo, hi);
    into(s, &for_add(s, v, lo, hi, label == t->red ? t->shape.part : 1, BIND_SEQ)->body);
    t->env->label[label] = var_read(s, v);
    end = hi;
  }
  t->now.red0 = t->env->label[t->red];
  (t->shape.brought ? bring_put : tiles_fill)(t);
  barrier_add(s);
  const Expr *at = t->now.red0, *next = ex_add(s, at, ex_int(s, t->shape.part));
  if (t->shape.brought) next_load(t, next, ex_below(s, next, end));
  t->now.red0 = t->env->label[t->red] = at;
  tiles_step(t, acc);
  barrier_add(s);
}

/* Sets all labels of the sum to part f. */
static void part_at(Tiles *t, Walk w, const Expr *f) {
  const StagePlan *p = &t->plan;
  if (expr_is_int(f, 0)) {
    for (uint32_t k = 0; k < p->n_red; k++) t->env->label[p->red[k]] = f;
    t->now.red0 = f;
    return;
  }
  walk_count(t->s, &w, p->n_red, f);
  for (uint32_t k = 0; k < p->n_red; k++) t->env->label[p->red[k]] = w.index[k];
  t->now.red0 = t->env->label[t->red] =
      named(t->s, NULL, "part", ex_mul(t->s, t->env->label[t->red], ex_int(t->s, t->shape.part)));
}

static Walk parts_walk(const Tiles *t) {
  const StagePlan *p = &t->plan;
  Walk w = {0};
  for (uint32_t k = 0; k < p->n_red; k++) {
    const Expr *n = t->st->bound[p->red[k]];
    if (p->red[k] == t->red) n = ex_div_up(t->s, n, ex_int(t->s, t->shape.part));
    walk_add(t->s, &w, t->st->label[p->red[k]], n);
  }
  return w;
}

const Expr *tiles_parts(const Tiles *t) {
  Walk w = parts_walk(t);
  return walk_points(t->s, &w);
}

/* Copies a part of the sum to the ring in each turn, and computes the one of ring - 1 turns before. At the barrier that
 * one is there, and threads are through with the one whose place in the ring is taken next. */
static void copied_some(Tiles *t, uint32_t acc, const Expr *from, const Expr *to) {
  Sched *s = t->s;
  Walk w = parts_walk(t);
  LoopBody *was = s->body;
  const Expr *n = ex_sub(s, to, from), *ahead = ex_int(s, t->shape.ring - 1);
  bring_ready(t);
  uint32_t v = var_new(s, NULL, "f");
  LoopBody *loop = &for_add(s, v, ex_int(s, 0), ex_add(s, n, ahead), 1, BIND_SEQ)->body;
  into(s, loop);
  await_add(s, t->shape.ring - 2);
  barrier_add(s);
  const Expr *f = var_read(s, v), *next = ex_add(s, from, f);
  into(s, &if_add(s, ex_below(s, f, n))->body);
  part_at(t, w, expr_is_int(from, 0) ? next : named(s, NULL, "next", next));
  t->now.turn = rest(s, f, t->shape.ring);
  bring_copy(t);
  into(s, loop);
  commit_add(s);
  into(s, &if_add(s, expr_op2(s->x, OP_LE, ahead, f))->body);
  part_at(t, w, ex_sub(s, next, ahead));
  t->now.turn = rest(s, ex_add(s, f, ex_int(s, 1)), t->shape.ring);
  tiles_step(t, acc);
  into(s, was);
}

/* Loads the next part while threads compute the current one. */
void tiles_some(Tiles *t, uint32_t acc, const Expr *from, const Expr *to) {
  Sched *s = t->s;
  Walk w = parts_walk(t);
  LoopBody *was = s->body;
  if (t->shape.ring) {
    copied_some(t, acc, from, to);
    return;
  }
  bring_ready(t);
  if (from->kind != EX_INT || to->kind != EX_INT || from->i >= to->i) into(s, &if_add(s, ex_below(s, from, to))->body);
  part_at(t, w, from);
  bring_load(t);
  into(s, was);
  uint32_t v = var_new(s, NULL, "f");
  LoopBody *loop = &for_add(s, v, from, to, 1, BIND_SEQ)->body;
  into(s, loop);
  bring_put(t);
  barrier_add(s);
  const Expr *next = ex_add(s, var_read(s, v), ex_int(s, 1));
  into(s, &if_add(s, ex_below(s, next, to))->body);
  part_at(t, w, named(s, NULL, "next", next));
  bring_load(t);
  into(s, loop);
  part_at(t, w, var_read(s, v));
  tiles_step(t, acc);
  barrier_add(s);
  into(s, was);
}

void tiles_sum(Tiles *t, uint32_t acc) {
  LoopBody *was = t->s->body;
  for (uint32_t k = 0; k < t->plan.n_red; k++) t->env->label[t->plan.red[k]] = NULL;
  if (t->shape.brought && !t->st->sum->where) tiles_some(t, acc, ex_int(t->s, 0), tiles_parts(t));
  else parts_nested(t, acc);
  into(t->s, was);
}
