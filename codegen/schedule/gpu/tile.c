/* codegen/schedule/gpu/tile.c - a product of two sides, whatever is multiplied and however it is summed: a block makes a tile of the result, of two of
 * its labels. What of each side the tile wants of a few points of the sum is put into shared memory, once; then each thread makes 16 points of
 * the tile in registers. Beyond the end of a label lies nothing: it is not read, and what would be made of it is not stored. */
#include "schedule/gpu/gpu.h"

enum { SIDE = 16, EACH = 4, TILE = SIDE * EACH, DEEP = 16 }; /* threads a side; points of each along a side; of a tile; of the sum at once */
enum { LONG = 8192 };        /* points of a float sum that one register takes */
enum { WIDEST = TILE + SIDE }; /* from one point of the sum to the next in a shared array, at most */

typedef enum { OF_NONE, OF_ROW, OF_LANE } SideOf;

typedef struct Tiles {
  Sched *s;
  Launch *l;
  uint32_t row, lane, red;   /* labels: of the tile, and the innermost one of the sum */
  SideOf *of;                /* by slot: whose side it is */
  uint32_t *shared;          /* by slot: its place, */
  int64_t *wide;             /*   and how far it is there from one point of the sum to the next */
  uint32_t x, y;             /* variables of the threads */
  const Expr *row0, *lane0, *red0; /* where the tile begins, and this part of the sum */
  const Expr *deep, *at_row, *at_lane; /* in the inner loops: the point of the sum, the row and the lane within the tile */
  Env *env;
} Tiles;

/* ---- whether it is one --------------------------------------------------------------------------------- */

static bool labels_read(const Tiles *t, const Expr *e, SideOf *of) {
  if (e->kind == EX_READ) {
    bool row = ex_has_label(e, t->row), lane = ex_has_label(e, t->lane);
    if (row && lane) return false;
    for (uint32_t k = 0; k < e->n; k++)
      if (e->arg[k]->has & HAS_READ) return false;
    of[e->i] = row ? OF_ROW : lane ? OF_LANE : OF_NONE;
    return of[e->i] == OF_NONE || ex_is_safe(t->env, e); /* what is shared is read, whatever is asked for it at a point */
  }
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->has & HAS_READ && !labels_read(t, e->arg[k], of)) return false;
  return true;
}

static bool is_wide(const StagePlan *p, uint32_t label, int64_t least) { return p->size[label] >= least; }

static bool sides_found(Tiles *t, const Launch *l) {
  const EinSum *sum = l->first->sum;
  int64_t bytes = 0;
  bool row = false, lane = false;
  if (!labels_read(t, sum->body, t->of)) return false;
  for (uint32_t k = 0; k < sum->n_slot; k++) {
    row |= t->of[k] == OF_ROW, lane |= t->of[k] == OF_LANE;
    bytes += t->of[k] == OF_NONE ? 0 : WIDEST * DEEP * 8;
  }
  return row && lane && bytes <= LOOP_SHARED;
}

/* The lane is the label by whose steps the result is stored in order; the row, the first other one with which there are two sides. */
static bool is_product(Tiles *t) {
  const Launch *l = t->l;
  const EinSum *sum = l->first->sum;
  const StagePlan *p = &l->plan;
  if (sum->reducer == RED_NONE || red_is_arg(sum) || sum->reducer == RED_MONOID || sum->domain || sum->where || !p->n_red || p->n_order < 2) return false;
  double points = 1;
  for (uint32_t k = 0; k < p->n_red; k++) points *= (double)p->size[p->red[k]];
  if (sum->reducer == RED_SUM && dtype_is_float(sum->acc) && points > (double)LONG) return false;
  for (uint32_t i = l->from + 1; i < l->to; i++)
    if (t->s->task->stages.at[i].sum->reducer != RED_NONE) return false;
  t->lane = p->order[p->n_order - 1], t->red = p->red[p->n_red - 1];
  if (!is_wide(p, t->lane, SIDE) || !is_wide(p, t->red, DEEP / 2)) return false;
  for (uint32_t k = p->n_order - 1; k-- > 0;) {
    t->row = p->order[k];
    if (is_wide(p, t->row, SIDE) && sides_found(t, l)) return true;
  }
  return false;
}

/* ---- what is shared ------------------------------------------------------------------------------------ */

typedef struct OneSlot { int64_t slot; const Expr *found; } OneSlot;

static const Expr *leaf_slot(void *env, Exprs *x, const Expr *leaf) {
  OneSlot *o = env;
  (void)x;
  if (leaf->kind == EX_READ && leaf->i == o->slot) o->found = leaf;
  return leaf;
}

/* What stands in the slot. */
static const Expr *slot_read(const Tiles *t, uint32_t slot) {
  OneSlot one = {.slot = slot};
  expr_map(t->s->x, t->l->first->sum->body, leaf_slot, &one);
  return one.found;
}

static const Expr *nothing(Sched *s, DType t) { return dtype_is_float(t) ? expr_real(s->x, t, 0) : t == DT_BOOL ? expr_bool(s->x, false) : expr_int(s->x, t, 0); }
static const Expr *ex_below(Sched *s, const Expr *a, const Expr *b) { return expr_op2(s->x, OP_LT, a, b); }

/* A warp is two rows of SIDE threads. Its elements in the order in which it stores them are to lie in 32 different banks of 4 bytes: where threads x go along
 * the sum, two banks from one to the next; else SIDE banks from one row of threads to the next. Elements of 8 bytes go half a warp at a time. */
static int64_t wide_for(const Tiles *t, uint32_t slot, DType type) {
  bool along = plan_move(&t->l->plan, slot, t->red) == MOVE_UNIT;
  if (dtype_size(type) == 8) return along ? TILE + 1 : TILE;
  return along ? TILE + 2 : WIDEST;
}

/* A side's part for DEEP points of the sum: neighbours in memory by neighbours among threads. An element is at red * wide + point. */
static void side_share(Tiles *t, uint32_t slot) {
  Sched *s = t->s;
  const StagePlan *p = &t->l->plan;
  bool row = t->of[slot] == OF_ROW, along = plan_move(p, slot, t->red) == MOVE_UNIT;
  uint32_t i = var_new(s, NULL, "i"), label = row ? t->row : t->lane;
  LoopBody *was = into(s, &for_add(s, i, ex_int(s, 0), ex_int(s, EACH), 1, BIND_UNROLL)->body);
  const Expr *far = ex_mul(s, var_read(s, i), ex_int(s, SIDE)), *x = var_read(s, t->x), *y = var_read(s, t->y);
  const Expr *point = ex_add(s, along ? y : x, far), *deep = along ? x : y;
  t->env->label[label] = named(s, NULL, "point", ex_add(s, row ? t->row0 : t->lane0, point));
  t->env->label[t->red] = named(s, NULL, "deep", ex_add(s, t->red0, deep));
  const Expr *there = expr_and(s->x, ex_below(s, t->env->label[label], t->l->first->bound[label]), ex_below(s, t->env->label[t->red], t->l->first->bound[t->red]));
  const Expr *value = ex_of(t->env, slot_read(t, slot)), *at = ex_add(s, ex_mul(s, deep, ex_int(s, t->wide[slot])), point);
  store_add(s, t->shared[slot], 1, &at, expr_op(s->x, OP_SELECT, 3, (const Expr *[]){there, value, nothing(s, (DType)value->dtype)}));
  into(s, was);
}

/* ---- the inner loops ----------------------------------------------------------------------------------- */

static const Expr *leaf_tile(void *env, Exprs *x, const Expr *leaf) {
  Tiles *t = env;
  (void)x;
  if (leaf->kind == EX_LABEL) return t->env->label[leaf->i];
  if (leaf->kind != EX_READ) return leaf;
  if (t->of[leaf->i] == OF_NONE) return ex_slot(t->env, leaf);
  const Expr *base = ex_mul(t->s, t->deep, ex_int(t->s, t->wide[leaf->i])), *at = ex_add(t->s, base, t->of[leaf->i] == OF_ROW ? t->at_row : t->at_lane);
  return place_read(t->s, t->shared[leaf->i], 1, &at);
}

/* Two loops over the thread's points; gives where a point's sum is. */
static const Expr *points_open(Tiles *t) {
  Sched *s = t->s;
  uint32_t r = var_new(s, NULL, "r"), c = var_new(s, NULL, "c");
  into(s, &for_add(s, r, ex_int(s, 0), ex_int(s, EACH), 1, BIND_UNROLL)->body);
  into(s, &for_add(s, c, ex_int(s, 0), ex_int(s, EACH), 1, BIND_UNROLL)->body);
  t->at_row = ex_add(s, var_read(s, t->y), ex_mul(s, var_read(s, r), ex_int(s, SIDE)));
  t->at_lane = ex_add(s, var_read(s, t->x), ex_mul(s, var_read(s, c), ex_int(s, SIDE)));
  t->env->label[t->row] = ex_add(s, t->row0, t->at_row);
  t->env->label[t->lane] = ex_add(s, t->lane0, t->at_lane);
  return ex_add(s, ex_mul(s, var_read(s, r), ex_int(s, EACH)), var_read(s, c));
}

static void tile_step(Tiles *t, uint32_t acc) {
  Sched *s = t->s;
  const EinSum *sum = t->l->first->sum;
  uint32_t k = var_new(s, t->l->first->label[t->red], "k");
  const Expr *left = ex_sub(s, t->l->first->bound[t->red], t->red0), *deep = ex_int(s, DEEP);
  bool whole = t->l->plan.exact[t->red] && t->l->plan.size[t->red] % DEEP == 0;
  LoopBody *was = into(s, &for_add(s, k, ex_int(s, 0), whole ? deep : ex_min(s, deep, left), 1, BIND_SEQ)->body);
  const Expr *at = points_open(t);
  t->env->label[t->red] = ex_add(s, t->red0, var_read(s, k));
  t->deep = var_read(s, k);
  const Expr *value = ex_shared(s, expr_map(s->x, sum->body, leaf_tile, t));
  store_add(s, acc, 1, &at, red_combine(s, sum, place_read(s, acc, 1, &at), value));
  into(s, was);
}

/* All of the sum, DEEP points of its innermost label at once. */
static void tile_sum(Tiles *t, uint32_t acc) {
  Sched *s = t->s;
  const StagePlan *p = &t->l->plan;
  LoopBody *was = s->body;
  for (uint32_t k = 0; k < p->n_red; k++) {
    uint32_t label = p->red[k], v = var_new(s, t->l->first->label[label], "r");
    into(s, &for_add(s, v, ex_int(s, 0), t->l->first->bound[label], label == t->red ? DEEP : 1, BIND_SEQ)->body);
    t->env->label[label] = var_read(s, v);
  }
  t->red0 = t->env->label[t->red];
  for (uint32_t k = 0; k < t->l->first->sum->n_slot; k++)
    if (t->of[k] != OF_NONE) side_share(t, k);
  barrier_add(s);
  tile_step(t, acc);
  barrier_add(s);
  into(s, was);
}

/* ---- a launch ------------------------------------------------------------------------------------------ */

/* A block for each tile at each point of the other labels. */
static void blocks_open(Tiles *t) {
  Sched *s = t->s;
  const StagePlan *p = &t->l->plan;
  const TaskStage *st = t->l->first;
  Walk *w = NEW(s->arena, Walk);
  const Expr *all = ex_int(s, 1), *side = ex_int(s, SIDE), *tile = ex_int(s, TILE);
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t label = p->order[k];
    bool cut = label == t->row || label == t->lane;
    const Expr *n = cut ? ex_div_up(s, st->bound[label], tile) : st->bound[label];
    walk_add(s, w, cut ? NULL : st->label[label], n);
    all = ex_mul(s, all, n);
  }
  uint32_t block = var_new(s, NULL, "block");
  t->x = var_new(s, NULL, "x"), t->y = var_new(s, NULL, "y");
  into(s, &for_add(s, block, ex_int(s, 0), all, 1, BIND_GRID)->body);
  for (uint32_t k = 0; k < st->sum->n_slot; k++)
    if (t->of[k] != OF_NONE) {
      DType type = (DType)slot_read(t, k)->dtype;
      t->wide[k] = wide_for(t, k, type);
      t->shared[k] = place_block(s, t->of[k] == OF_ROW ? "rows" : "lanes", type, t->wide[k] * DEEP);
    }
  into(s, &for_add(s, t->x, ex_int(s, 0), side, 1, BIND_BLOCK)->body);
  LoopStmt *y = for_add(s, t->y, ex_int(s, 0), side, 1, BIND_BLOCK);
  y->axis = 1;
  into(s, &y->body);
  walk_count(s, w, p->n_order, var_read(s, block));
  for (uint32_t k = 0; k < p->n_order; k++) t->env->label[p->order[k]] = w->index[k];
  t->row0 = named(s, NULL, "row", ex_mul(s, t->env->label[t->row], tile));
  t->lane0 = named(s, NULL, "lane", ex_mul(s, t->env->label[t->lane], tile));
}

static Tiles tiles_of(Sched *s, Launch *l) {
  uint32_t n = l->first->sum->n_slot;
  return (Tiles){.s = s, .l = l, .env = l->e, .of = NEW_ARRAY(s->arena, SideOf, n + 1), .shared = NEW_ARRAY(s->arena, uint32_t, n + 1),
                 .wide = NEW_ARRAY(s->arena, int64_t, n + 1)};
}

bool tile_fits(Sched *s, Launch *l) {
  Tiles t = tiles_of(s, l);
  return is_product(&t);
}

bool tile_launch(Sched *s, Launch *l) {
  Tiles t = tiles_of(s, l);
  if (!is_product(&t)) return false;
  Choice c = {.threads = SIDE, .tile = TILE, .deep = DEEP};
  const Expr *each = ex_int(s, EACH * EACH);
  how_add(s, l->first, "tiles of %lld %s by %lld %s, %lld %s of each side shared at once, %lld by %lld threads", (long long)c.tile, how_label(l->first, t.row),
          (long long)c.tile, how_label(l->first, t.lane), (long long)c.deep, how_label(l->first, t.red), (long long)c.threads, (long long)c.threads);
  blocks_open(&t);
  uint32_t acc = place_own(s, NULL, "acc", l->first->sum->acc, 1, &each);
  var_add(s, acc, red_identity(s, l->first->sum));
  tile_sum(&t, acc);
  const Expr *at = points_open(&t);
  t.env->label[t.row] = named(s, l->first->label[t.row], "i", t.env->label[t.row]);
  t.env->label[t.lane] = named(s, l->first->label[t.lane], "i", t.env->label[t.lane]);
  const Expr *inside = expr_and(s->x, ex_below(s, t.env->label[t.row], l->first->bound[t.row]), ex_below(s, t.env->label[t.lane], l->first->bound[t.lane]));
  into(s, &if_add(s, inside)->body);
  launch_finish(s, l, place_read(s, acc, 1, &at));
  return true;
}
