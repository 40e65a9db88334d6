/* codegen/schedule/gpu/tile.c - a product of two sides, whatever is multiplied and however it is summed: a block makes a tile of the result, of two of
 * its labels, as sides.c does. What would be made of points beyond the end of a label is not stored. */
#include "schedule/gpu/gpu.h"

enum { LESS = 4, MORE = 8 };  /* points of each thread along a side, */
enum { BLOCKS = 256 };       /*   more where so many blocks are left: a device has about 100 of its parts to give them to */
enum { LONG = 8192 };        /* points of a float sum that one register takes */

/* ---- whether it is one --------------------------------------------------------------------------------- */

static bool is_wide(const StagePlan *p, uint32_t label, int64_t least) { return p->size[label] >= least; }

/* The lane is the label by whose steps the result is stored in order; the row, the first other one with which there are two sides. */
static bool is_product(Tiles *t, const Launch *l) {
  const EinSum *sum = t->st->sum;
  const StagePlan *p = &t->plan;
  if (!tiles_take(t) || p->n_order < 2 || (sum->where && !ex_is_safe(t->env, sum->where))) return false;
  double points = 1;
  for (uint32_t k = 0; k < p->n_red; k++) points *= (double)p->size[p->red[k]];
  if (sum->reducer == RED_SUM && dtype_is_float(sum->acc) && points > (double)LONG) return false;
  for (uint32_t i = l->from + 1; i < l->to; i++)
    if (t->s->task->stages.at[i].sum->reducer != RED_NONE) return false;
  t->lane = p->order[p->n_order - 1], t->red = p->red[p->n_red - 1];
  if (!is_wide(p, t->lane, TILE_SIDE) || !is_wide(p, t->red, TILE_DEEP / 2)) return false;
  for (uint32_t k = p->n_order - 1; k-- > 0;) {
    t->row = p->order[k];
    if (is_wide(p, t->row, TILE_SIDE) && tiles_sides(t, true) && tiles_bytes(t) <= LOOP_SHARED) return true;
  }
  return false;
}

static double blocks_for(const Tiles *t, int64_t rows, int64_t lanes) {
  double n = 1;
  for (uint32_t k = 0; k < t->plan.n_order; k++) {
    uint32_t label = t->plan.order[k];
    int64_t side = label == t->row ? TILE_SIDE * rows : label == t->lane ? TILE_SIDE * lanes : 1;
    n *= (double)((t->plan.size[label] + side - 1) / side);
  }
  return n;
}

/* As many points as registers hold sums of, where enough blocks are left and the label has so many. */
static void tile_shape(Tiles *t) {
  int64_t most = dtype_size(t->st->sum->acc) > 4 ? LESS : MORE;
  t->rows = t->lanes = LESS;
  if (t->plan.size[t->lane] > TILE_SIDE * LESS && blocks_for(t, LESS, most) >= BLOCKS) t->lanes = most;
  if (t->plan.size[t->row] > TILE_SIDE * LESS && blocks_for(t, most, t->lanes) >= BLOCKS) t->rows = most;
}

static bool tile_choose(Tiles *t, const Launch *l) {
  t->row_pack = t->lane_pack = dtype_size(t->st->sum->acc) > 4 ? 2 : 4;
  t->brought = true;
  if (!is_product(t, l)) return false;
  tile_shape(t);
  return true;
}

/* ---- a launch ------------------------------------------------------------------------------------------ */

/* A block for each tile at each point of the other labels. */
static void blocks_open(Tiles *t) {
  Sched *s = t->s;
  const StagePlan *p = &t->plan;
  const TaskStage *st = t->st;
  Walk *w = NEW(s->arena, Walk);
  const Expr *all = ex_int(s, 1), *side = ex_int(s, TILE_SIDE), *rows = ex_int(s, TILE_SIDE * t->rows), *lanes = ex_int(s, TILE_SIDE * t->lanes);
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t label = p->order[k];
    bool cut = label == t->row || label == t->lane;
    const Expr *n = cut ? ex_div_up(s, st->bound[label], label == t->row ? rows : lanes) : st->bound[label];
    walk_add(s, w, cut ? NULL : st->label[label], n);
    all = ex_mul(s, all, n);
  }
  uint32_t block = var_new(s, NULL, "block");
  t->x = var_new(s, NULL, "x"), t->y = var_new(s, NULL, "y");
  LoopStmt *grid = for_add(s, block, ex_int(s, 0), all, 1, BIND_GRID);
  grid->beside = 2;
  into(s, &grid->body);
  tiles_shared(t);
  into(s, &for_add(s, t->x, ex_int(s, 0), side, 1, BIND_BLOCK)->body);
  LoopStmt *y = for_add(s, t->y, ex_int(s, 0), side, 1, BIND_BLOCK);
  y->axis = 1;
  into(s, &y->body);
  walk_count(s, w, p->n_order, var_read(s, block));
  for (uint32_t k = 0; k < p->n_order; k++) t->env->label[p->order[k]] = w->index[k];
  t->row0 = named(s, NULL, "row", ex_mul(s, t->env->label[t->row], rows));
  t->lane0 = named(s, NULL, "lane", ex_mul(s, t->env->label[t->lane], lanes));
}

bool tile_fits(Sched *s, Launch *l) {
  Tiles t = tiles_of(s, l->first, l->e, MORE, MORE);
  return tile_choose(&t, l);
}

bool tile_launch(Sched *s, Launch *l) {
  Tiles t = tiles_of(s, l->first, l->e, MORE, MORE);
  if (!tile_choose(&t, l)) return false;
  Choice c = {.threads = TILE_SIDE, .rows = TILE_SIDE * t.rows, .tile = TILE_SIDE * t.lanes, .deep = TILE_DEEP};
  const Expr *each = ex_int(s, t.rows * t.lanes);
  how_add(s, l->first, "tiles of %lld %s by %lld %s, %lld %s of each side shared at once, %lld by %lld threads", (long long)c.tile, how_label(l->first, t.row),
          (long long)c.tile, how_label(l->first, t.lane), (long long)c.deep, how_label(l->first, t.red), (long long)c.threads, (long long)c.threads);
  if (t.st->sum->where)
    how_add(s, l->first, "points are asked for the predicate in parts of the sum of which not all is in it; where it bounds %s, others are skipped",
            how_label(l->first, t.red));
  blocks_open(&t);
  uint32_t acc = place_own(s, NULL, "acc", l->first->sum->acc, 1, &each);
  var_add(s, acc, red_identity(s, l->first->sum));
  tiles_sum(&t, acc);
  tiles_points(&t);
  const Expr *inside = tiles_inside(&t);
  t.env->label[t.row] = named(s, l->first->label[t.row], "i", t.env->label[t.row]);
  t.env->label[t.lane] = named(s, l->first->label[t.lane], "i", t.env->label[t.lane]);
  if (inside) into(s, &if_add(s, inside)->body);
  launch_finish(s, l, place_read(s, acc, 1, &t.at));
  return true;
}
