/* codegen/schedule_pack.c - contractions of two sides, as BLIS and TBLIS do them: a block of each side is copied next to
 * each other in the order in which it is used, whatever its strides, and computed with on the way (a cast, a scale, an
 * activation); then tiles of outputs are held in registers while the reduced labels go by. One side has the rows of
 * a tile, the other its lanes. Any reducer and any scalar function will do: a side is whatever part of the body looks
 * at one side's labels only.
 *
 *   for each block of rows and lanes, by threads
 *     for each block of the reduced labels
 *       fill the lanes' panel, fill the rows' panel
 *       for each tile: reduce in registers, then store it; or, where there are several blocks, add it to the sums
 *     store the sums
 */
#include "schedule.h"

enum {
  PACKS_MOST = 8,
  SQUARE = 16,               /* side of the squares by which a panel is turned */
  DEEP_BYTES = 2048,         /* of a panel's row: so many reduced points make a block */
  WIDE = 512,                /* rows or lanes of a block, at most, */
  NARROW = 64,               /*   and at least, where there are so many */
  BLOCK_OPS = 4000000,       /* the square root of how often this is done is how many blocks are wanted */
  NO_LABEL = -1
};

/* The labels that one side has alone: one is in the tile, some are whole in a block, the rest is walked over. */
typedef struct Side {
  int64_t tile;              /* label */
  uint32_t n_near, n_far;
  uint32_t *near, *far;
  int64_t unit;              /* so many of `tile` in a tile, */
  int64_t units;             /*   and so many tiles in a block */
  const Expr *lo, *n, *tiles;/* the block at hand: where it begins, how long it is, in how many tiles */
  const Expr *at;            /* the number of the tile at hand */
} Side;

typedef struct Pack {
  const Expr *of;            /* part of the body */
  bool lanes;                /* whose side it is */
  bool across;               /* rows: a tile's lie next to each other; lanes: they are fetched along a reduced label, and turned */
  uint32_t place, n_red, *red; /* its reduced labels, in order */
} Pack;

typedef struct Panel {
  Sched *s;
  const StagePlan *p;
  Env *e;
  Side u, v;                 /* rows, lanes */
  uint32_t n_common, *common;/* output labels that both sides have, or none */
  uint32_t n_outer, *outer;  /* reduced labels: walked over around the panels, */
  int64_t cut;               /*   taken in blocks of */
  int64_t deep;              /*   so many points, */
  uint32_t n_inner, *inner;  /*   whole in a block */
  const Expr *deep_lo, *deep_n; /* of the label that is cut, in the block at hand */
  const Expr **in_block;     /* of a label: how far it is in the block */
  uint32_t n_pack;
  Pack pack[PACKS_MOST];
  const Expr *body;          /* with reads of slots behind the last for the packs */
  bool sums;                 /* several blocks of reduced labels: a block's sums are kept */
  uint32_t sum_place;
} Panel;

/* ---- whose label is it ------------------------------------------------------------------------------ */

static bool has(const StagePlan *p, uint32_t access, uint32_t label) { return plan_move(p, access, label) != MOVE_NONE; }

/* Some read has both. */
static bool together(const StagePlan *p, uint32_t x, uint32_t y) {
  for (uint32_t a = 0; a + 1 < p->n_access; a++)
    if (has(p, a, x) && has(p, a, y)) return true;
  return false;
}

static bool reduces_with(const StagePlan *p, uint32_t label) {
  for (uint32_t k = 0; k < p->n_red; k++)
    if (together(p, label, p->red[k])) return true;
  return false;
}

/* Read without `other`. */
static bool apart(const StagePlan *p, uint32_t label, uint32_t other) {
  for (uint32_t a = 0; a + 1 < p->n_access; a++)
    if (has(p, a, label) && !has(p, a, other)) return true;
  return false;
}

/* The lanes go along the label by whose steps the result is stored most often to the next element. */
static int64_t lanes_label(const StagePlan *p) {
  uint32_t store = p->n_access - 1;
  for (uint32_t k = p->n_order; k-- > 0;)
    if (plan_move(p, store, p->order[k]) == MOVE_UNIT && p->size[p->order[k]] > 1) return p->order[k];
  return p->n_order ? (int64_t)p->order[p->n_order - 1] : NO_LABEL;
}

static int64_t rows_label(const StagePlan *p, uint32_t v) {
  int64_t best = NO_LABEL;
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t l = p->order[k];
    if (l == v || together(p, l, v) || !reduces_with(p, l)) continue;
    if (best == NO_LABEL || p->size[l] > p->size[best]) best = l;
  }
  return best;
}

/* Output labels by side. */
static void labels_sort(Panel *t) {
  const StagePlan *p = t->p;
  Arena *a = t->s->arena;
  uint32_t u = (uint32_t)t->u.tile, v = (uint32_t)t->v.tile;
  t->u.far = NEW_ARRAY(a, uint32_t, p->n_order + 1), t->u.near = NEW_ARRAY(a, uint32_t, p->n_order + 1);
  t->v.far = NEW_ARRAY(a, uint32_t, p->n_order + 1), t->v.near = NEW_ARRAY(a, uint32_t, p->n_order + 1);
  t->common = NEW_ARRAY(a, uint32_t, p->n_order + 1);
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t l = p->order[k];
    if (l == u || l == v) continue;
    bool with_u = together(p, l, u) || !apart(p, l, v), with_v = together(p, l, v);
    if (with_u && !with_v && reduces_with(p, l)) t->u.far[t->u.n_far++] = l;
    else if (with_v && !together(p, l, u) && reduces_with(p, l)) t->v.far[t->v.n_far++] = l;
    else t->common[t->n_common++] = l;
  }
}

/* ---- parts of the body --------------------------------------------------------------------------------- */

typedef enum { PART_PLAIN, PART_ROWS, PART_LANES, PART_BOTH } PartSide;

static bool side_has(const Side *x, const Expr *e) {
  if (ex_has_label(e, x->tile)) return true;
  for (uint32_t k = 0; k < x->n_near; k++)
    if (ex_has_label(e, x->near[k])) return true;
  for (uint32_t k = 0; k < x->n_far; k++)
    if (ex_has_label(e, x->far[k])) return true;
  return false;
}

static PartSide side_of(const Panel *t, const Expr *e) {
  bool u = side_has(&t->u, e), v = side_has(&t->v, e);
  return u && v ? PART_BOTH : u ? PART_ROWS : v ? PART_LANES : PART_PLAIN;
}

static bool is_reduced(const Panel *t, const Expr *e) {
  for (uint32_t k = 0; k < t->p->n_red; k++)
    if (ex_has_label(e, t->p->red[k])) return true;
  return false;
}

/* Rows that no reduced label moves are fetched once a tile: they need no panel. */
static bool wants_pack(const Panel *t, const Expr *e, PartSide side) {
  return e->kind == EX_OP || e->kind == EX_READ ? side == PART_LANES || is_reduced(t, e) : false;
}

static bool pack_add(Panel *t, const Expr *e, bool lanes) {
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (t->pack[k].of == e) return true;
  if (t->n_pack == PACKS_MOST) return false;
  t->pack[t->n_pack++] = (Pack){.of = e, .lanes = lanes};
  return true;
}

/* The largest parts that belong to one side. false: something looks at both at once, or is computed only where a
 * condition on both holds. */
static bool parts_find(Panel *t, const Expr *e) {
  PartSide side = side_of(t, e);
  if (side == PART_PLAIN) return true;
  if (side != PART_BOTH) return !wants_pack(t, e, side) || pack_add(t, e, side == PART_LANES);
  if (e->kind != EX_OP || (op_info[e->op].laws & LAW_LAZY)) return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (!parts_find(t, e->arg[k])) return false;
  return true;
}

static const Expr *body_swap(Panel *t, Map *done, const Expr *e) {
  const Expr *made = map_find(done, e);
  if (made) return made;
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (t->pack[k].of == e && t->pack[k].place != NOWHERE)
      return expr_read(t->s->x, (DType)e->dtype, t->p->stage->sum->n_slot + k, 0, NULL);
  if (e->kind != EX_OP) return e;
  const Expr **arg = NEW_ARRAY(t->s->arena, const Expr *, e->n + 1);
  for (uint32_t k = 0; k < e->n; k++) arg[k] = body_swap(t, done, e->arg[k]);
  made = e->op == OP_CAST ? expr_cast(t->s->x, (DType)e->dtype, arg[0]) : expr_op(t->s->x, (Op)e->op, e->n, arg);
  map_put(done, e, (void *)(uintptr_t)made);
  return made;
}

/* How the reads inside e move along a label: steps to the next element less steps elsewhere. */
static int moves(const Expr *e, int64_t label) {
  int n = 0;
  if (!ex_has_label(e, label)) return 0;
  if (e->kind == EX_READ) {
    for (uint32_t k = 0; k < e->n; k++) {
      int64_t slope;
      if (!ex_has_label(e->arg[k], label)) continue;
      n += k + 1 == e->n && ex_slope(e->arg[k], label, &slope) && slope == 1 ? 1 : -2;
    }
    return n;
  }
  for (uint32_t k = 0; k < e->n; k++) n += moves(e->arg[k], label);
  return n;
}

/* An index that two labels move: neighbouring rows share what they read, and a panel would hold it many times. */
static bool overlaps(const StagePlan *p, const Expr *e) {
  uint32_t n = 0;
  if (e->kind != EX_READ) return false;
  for (uint32_t k = 0; k < e->n; k++, n = 0)
    for (uint32_t l = 0; l < p->n_label; l++)
      if ((n += ex_has_label(e->arg[k], l)) > 1) return true;
  return false;
}

/* ---- how large ------------------------------------------------------------------------------------------- */

static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }
static double product(const StagePlan *p, uint32_t n, const uint32_t *label) {
  double x = 1;
  for (uint32_t k = 0; k < n; k++) x *= (double)p->size[label[k]];
  return x;
}

/* Lanes and rows that fit the registers, and waste least of what is cut off at the end. */
static void tile_size(Panel *t) {
  static const struct { int64_t vectors, rows; double worth; } shape[] = {{2, 8, 1}, {3, 6, 0.96}, {1, 12, 0.88}};
  const StagePlan *p = t->p;
  int64_t one = vector_lanes(t->s, p->stage->sum->acc), nu = p->size[t->u.tile], nv = p->size[t->v.tile];
  double best = 0;
  for (size_t k = 0; k < COUNT(shape); k++) {
    int64_t lanes = shape[k].vectors * one, rows = shape[k].rows;
    if (p->exact[t->u.tile] && nu < rows) rows = nu;
    double worth = shape[k].worth * (double)rows / (double)shape[k].rows;
    if (p->exact[t->v.tile]) worth *= (double)nv / (double)(up(nv, lanes) * lanes);
    if (p->exact[t->u.tile]) rows = up(nu, up(nu, rows)), worth *= (double)nu / (double)(up(nu, rows) * rows);
    if (worth <= best) continue;
    best = worth;
    t->v.unit = lanes, t->u.unit = rows;
  }
}

/* Labels of constant size go whole into the block while there is room. */
static double near_take(Panel *t, Side *x, double room) {
  const StagePlan *p = t->p;
  uint32_t kept = 0;
  double taken = 1;
  for (uint32_t k = 0; k < x->n_far; k++) {
    uint32_t l = x->far[k];
    if (p->exact[l] && taken * (double)p->size[l] <= room) taken *= (double)p->size[l], x->near[x->n_near++] = l;
    else x->far[kept++] = l;
  }
  x->n_far = kept;
  return taken;
}

static int64_t balanced(int64_t size, int64_t most, int64_t unit) {
  return up(up(size, up(size, most)), unit);
}

static void block_size(Panel *t) {
  const StagePlan *p = t->p;
  int64_t nu = p->size[t->u.tile], nv = p->size[t->v.tile];
  double near_u = near_take(t, &t->u, nu < WIDE / 2 ? (double)WIDE / 2 / (double)nu : 1);
  double near_v = near_take(t, &t->v, nv < WIDE / 2 ? (double)WIDE / 2 / (double)nv : 1);
  double all = product(p, t->n_common, t->common) * product(p, t->u.n_far, t->u.far) * product(p, t->v.n_far, t->v.far);
  double work = all * (double)nu * near_u * (double)nv * near_v * product(p, p->n_red, p->red) * 2;
  int64_t wide_u = WIDE, wide_v = WIDE;
  while (wide_u > nu) wide_u /= 2;
  while (wide_v > nv) wide_v /= 2;
  for (;;) {
    double blocks = all * (double)up(nu, wide_u) * (double)up(nv, wide_v);
    double u = (double)wide_u * near_u, v = (double)wide_v * near_v;
    if (blocks * blocks * BLOCK_OPS >= work || (u <= NARROW && v <= NARROW)) break;
    if (u > v && wide_u > t->u.unit) wide_u /= 2;
    else if (wide_v > t->v.unit) wide_v /= 2;
    else break;
  }
  t->u.units = p->exact[t->u.tile] ? balanced(nu, wide_u, t->u.unit) : up(wide_u, t->u.unit);
  t->v.units = p->exact[t->v.tile] ? balanced(nv, wide_v, t->v.unit) : up(wide_v, t->v.unit);
}

/* Reduced labels: from the last on, whole while there is room; the first that has none is cut. */
static void depth_size(Panel *t) {
  const StagePlan *p = t->p;
  int64_t bytes = dtype_size(p->stage->sum->acc), room = DEEP_BYTES / (bytes < 4 ? 4 : bytes), k = p->n_red;
  t->inner = p->red + p->n_red;
  t->outer = p->red;
  while (k-- > 0 && p->exact[p->red[k]] && p->size[p->red[k]] <= room && k > 0) {
    t->inner--, t->n_inner++;
    room /= p->size[p->red[k]] ? p->size[p->red[k]] : 1;
  }
  t->cut = p->red[k];
  t->n_outer = (uint32_t)k;
  int64_t n = p->size[t->cut];
  bool whole = p->exact[t->cut] && n <= 2 * room;
  t->deep = whole ? (n ? n : 1) : p->exact[t->cut] ? up(n, up(n, room)) : room;
  t->sums = !whole || t->n_outer;
}

/* ---- labels at hand ---------------------------------------------------------------------------------------- */

static void label_is(Panel *t, uint32_t label, const Expr *value) { t->e->label[label] = t->in_block[label] = value; }

static void loop_whole(Panel *t, uint32_t label) {
  Sched *s = t->s;
  uint32_t v = var_new(s, t->p->stage->label[label], "i");
  into(s, &for_add(s, v, ex_int(s, 0), t->p->stage->bound[label], 1, BIND_SEQ)->body);
  label_is(t, label, var_read(s, v));
}

static void loops_near(Panel *t, const Side *x) {
  for (uint32_t k = 0; k < x->n_near; k++) loop_whole(t, x->near[k]);
}

/* Over the points of a reduced label in the block. */
static void loop_red(Panel *t, uint32_t label, LoopBind bind) {
  Sched *s = t->s;
  uint32_t v = var_new(s, t->p->stage->label[label], "r");
  bool is_cut = label == t->cut;
  into(s, &for_add(s, v, ex_int(s, 0), is_cut ? t->deep_n : t->p->stage->bound[label], 1, bind)->body);
  t->in_block[label] = var_read(s, v);
  t->e->label[label] = is_cut ? ex_add(s, t->deep_lo, var_read(s, v)) : var_read(s, v);
}

static bool side_even(const Panel *t, const Side *x) {
  return t->p->exact[x->tile] && t->p->size[x->tile] % x->unit == 0;
}

/* The tiles of a side in the block; x->at is the number of the one at hand. */
static const Expr *loop_tiles(Panel *t, Side *x, const char *name) {
  Sched *s = t->s;
  uint32_t v = var_new(s, NULL, name);
  into(s, &for_add(s, v, ex_int(s, 0), x->tiles, 1, BIND_SEQ)->body);
  x->at = var_read(s, v);
  return named(s, t->p->stage->label[x->tile], name, ex_add(s, x->lo, ex_mul(s, x->at, ex_int(s, x->unit))));
}

/* ---- panels --------------------------------------------------------------------------------------------------- */

static void pack_new(Panel *t, Pack *k) {
  Sched *s = t->s;
  const Side *x = k->lanes ? &t->v : &t->u;
  const StagePlan *p = t->p;
  const Expr **dim = NEW_ARRAY(s->arena, const Expr *, p->n_label + 3);
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->n_near; i++) dim[n++] = ex_int(s, p->size[x->near[i]]);
  bool tiled = k->lanes || k->across;
  dim[n++] = ex_int(s, tiled ? x->units : x->units * x->unit);
  for (uint32_t i = 0; i < k->n_red; i++) dim[n++] = ex_int(s, k->red[i] == t->cut ? t->deep : p->size[k->red[i]]);
  if (tiled) dim[n++] = ex_int(s, x->unit);
  k->place = place_own(s, NULL, k->lanes ? "lanes" : "rows", (DType)k->of->dtype, n, dim);
  var_add(s, k->place, NULL);
}

/* tile: the number of the tile, in: which of its rows or lanes. */
static uint32_t pack_at(Panel *t, const Pack *k, const Expr *tile, const Expr *in, const Expr **at) {
  Sched *s = t->s;
  const Side *x = k->lanes ? &t->v : &t->u;
  bool tiled = k->lanes || k->across;
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->n_near; i++) at[n++] = t->in_block[x->near[i]];
  at[n++] = tiled ? tile : ex_add(s, ex_mul(s, tile, ex_int(s, x->unit)), in);
  for (uint32_t i = 0; i < k->n_red; i++) at[n++] = t->in_block[k->red[i]];
  if (tiled) at[n++] = in;
  return n;
}

static void pack_store(Panel *t, const Pack *k, const Expr *in, const Expr *value) {
  const Expr **at = NEW_ARRAY(t->s->arena, const Expr *, t->p->n_label + 3);
  uint32_t n = pack_at(t, k, (k->lanes ? &t->v : &t->u)->at, in, at);
  store_add(t->s, k->place, n, at, value);
}

static const Expr *pack_value(Panel *t, const Pack *k) { return ex_shared(t->s, ex_of(t->e, k->of)); }

/* The tile's own label innermost, for one point of the reduced labels. whole: none is cut off. */
static void fill_one(Panel *t, Pack *k, Side *x, const Expr *first, bool whole) {
  Sched *s = t->s;
  uint32_t v = var_new(s, NULL, "l");
  LoopBody *was = into(s, &for_add(s, v, ex_int(s, 0), ex_int(s, x->unit), 1, whole ? BIND_VECTOR : BIND_SEQ)->body);
  const Expr *l = var_read(s, v), *at = ex_add(s, first, l);
  t->e->label[x->tile] = whole ? at : ex_min(s, at, ex_sub(s, t->p->stage->bound[x->tile], ex_int(s, 1)));
  pack_store(t, k, l, pack_value(t, k));
  into(s, was);
}

static const Expr *span(Sched *s, const char *name, int64_t n, LoopBind bind) {
  uint32_t v = var_new(s, NULL, name);
  into(s, &for_add(s, v, ex_int(s, 0), ex_int(s, n), 1, bind)->body);
  return var_read(s, v);
}

/* The same, whole, where the last reduced label is the one that steps to the next element: by squares, which are turned. */
static void fill_turned(Panel *t, Pack *k, Side *x, const Expr *first) {
  Sched *s = t->s;
  LoopBody *was = s->body;
  uint32_t r = k->red[k->n_red - 1];
  for (uint32_t i = 0; i + 1 < k->n_red; i++) loop_red(t, k->red[i], BIND_SEQ);
  bool is_cut = r == t->cut;
  const Expr *n = is_cut ? t->deep_n : t->p->stage->bound[r], *lo = is_cut ? t->deep_lo : ex_int(s, 0), *side = ex_int(s, SQUARE);
  LoopBody *around = s->body;
  uint32_t v = var_new(s, t->p->stage->label[r], "r"), w = var_new(s, NULL, "l");
  into(s, &for_add(s, v, ex_int(s, 0), ex_sub(s, n, ex_int(s, SQUARE - 1)), SQUARE, BIND_SEQ)->body);
  into(s, &for_add(s, w, ex_int(s, 0), ex_int(s, x->unit), SQUARE, BIND_SEQ)->body);
  const Expr *dim[2] = {side, side}, *at[2];
  uint32_t square = place_own(s, NULL, "square", (DType)k->of->dtype, 2, dim);
  var_add(s, square, NULL);
  LoopBody *inside = s->body;
  at[0] = span(s, "a", SQUARE, BIND_SEQ);
  at[1] = span(s, "b", SQUARE, BIND_VECTOR);
  t->e->label[x->tile] = ex_add(s, first, ex_add(s, var_read(s, w), at[0]));
  t->e->label[r] = ex_add(s, lo, ex_add(s, var_read(s, v), at[1]));
  store_add(s, square, 2, at, pack_value(t, k));
  into(s, inside);
  turn_add(s, square);
  at[0] = span(s, "b", SQUARE, BIND_SEQ);
  at[1] = span(s, "a", SQUARE, BIND_VECTOR);
  t->in_block[r] = ex_add(s, var_read(s, v), at[0]);
  pack_store(t, k, ex_add(s, var_read(s, w), at[1]), place_read(s, square, 2, at));
  into(s, around);
  if (n->kind != EX_INT || n->i % SQUARE) { /* what is left over, point by point */
    uint32_t rest = var_new(s, t->p->stage->label[r], "r");
    into(s, &for_add(s, rest, ex_sub(s, n, expr_op2(s->x, OP_MOD, n, side)), n, 1, BIND_SEQ)->body);
    t->in_block[r] = var_read(s, rest);
    t->e->label[r] = ex_add(s, lo, var_read(s, rest));
    const Expr *l = span(s, "l", x->unit, BIND_SEQ);
    t->e->label[x->tile] = ex_add(s, first, l);
    pack_store(t, k, l, pack_value(t, k));
  }
  into(s, was);
}

/* Whether the tile that begins at `first` is there as a whole; NULL: they all are. */
static LoopStmt *if_whole(Panel *t, const Side *x, const Expr *first) {
  Sched *s = t->s;
  if (side_even(t, x)) return NULL;
  return if_add(s, expr_op2(s->x, OP_LE, ex_add(s, first, ex_int(s, x->unit)), t->p->stage->bound[x->tile]));
}

/* Tile by tile along a line, for each point of the reduced labels. */
static void fill_across(Panel *t, Pack *k, Side *x) {
  Sched *s = t->s;
  LoopBody *was = s->body;
  for (uint32_t i = 0; i < k->n_red; i++) loop_red(t, k->red[i], BIND_SEQ);
  const Expr *first = loop_tiles(t, x, k->lanes ? "v" : "u");
  LoopStmt *whole = if_whole(t, x, first);
  if (whole) into(s, &whole->body);
  fill_one(t, k, x, first, true);
  if (whole) {
    into(s, &whole->other);
    fill_one(t, k, x, first, false);
  }
  into(s, was);
}

static void fill_turned_all(Panel *t, Pack *k, Side *x) {
  Sched *s = t->s;
  LoopBody *was = s->body;
  const Expr *first = loop_tiles(t, x, "v");
  LoopStmt *whole = if_whole(t, x, first);
  if (whole) into(s, &whole->body);
  fill_turned(t, k, x, first);
  if (whole) {
    into(s, &whole->other);
    for (uint32_t i = 0; i < k->n_red; i++) loop_red(t, k->red[i], BIND_SEQ);
    fill_one(t, k, x, first, false);
  }
  into(s, was);
}

/* Row by row, along the reduced labels. */
static void fill_along(Panel *t, Pack *k, Side *x) {
  Sched *s = t->s;
  LoopBody *was = s->body;
  uint32_t v = var_new(s, NULL, "row");
  const Expr *size = t->p->stage->bound[x->tile];
  into(s, &for_add(s, v, ex_int(s, 0), ex_mul(s, x->tiles, ex_int(s, x->unit)), 1, BIND_SEQ)->body);
  const Expr *row = ex_add(s, x->lo, var_read(s, v));
  t->e->label[x->tile] = named(s, t->p->stage->label[x->tile], "u", side_even(t, x) ? row : ex_min(s, row, ex_sub(s, size, ex_int(s, 1))));
  for (uint32_t i = 0; i < k->n_red; i++) loop_red(t, k->red[i], i + 1 == k->n_red ? BIND_VECTOR : BIND_SEQ);
  x->at = ex_int(s, 0);
  pack_store(t, k, var_read(s, v), pack_value(t, k));
  into(s, was);
}

static void pack_fill(Panel *t, Pack *k) {
  LoopBody *was = t->s->body;
  Side *x = k->lanes ? &t->v : &t->u;
  loops_near(t, x);
  if (k->lanes && k->across && k->n_red) fill_turned_all(t, k, x);
  else if (k->lanes || k->across) fill_across(t, k, x);
  else fill_along(t, k, x);
  into(t->s, was);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

enum { ROWS_MOST = 16 };

static LoopBody *lanes_open(Panel *t, const Expr *count, const Expr **l) {
  Sched *s = t->s;
  uint32_t v = var_new(s, NULL, "l");
  *l = var_read(s, v);
  return into(s, &for_add(s, v, ex_int(s, 0), count, 1, BIND_VECTOR)->body);
}

static const Expr *row_of(Panel *t, const Expr *u0, int64_t r, bool inside) {
  Sched *s = t->s;
  const Expr *u = ex_add(s, u0, ex_int(s, r));
  return inside || side_even(t, &t->u) ? u : ex_min(s, u, ex_sub(s, t->p->stage->bound[t->u.tile], ex_int(s, 1)));
}

/* acc[r][l] = acc[r][l] with the body, for the point at hand of the reduced labels. */
static void step(Panel *t, const uint32_t *acc, const Expr *u0) {
  Sched *s = t->s;
  const EinSum *sum = t->p->stage->sum;
  const Expr *l, **at = NEW_ARRAY(s->arena, const Expr *, t->p->n_label + 3);
  const Expr **packed = NEW_ARRAY(s->arena, const Expr *, PACKS_MOST);
  LoopBody *was = lanes_open(t, ex_int(s, t->v.unit), &l);
  t->e->packed = packed;
  for (int64_t r = 0; r < t->u.unit; r++) {
    t->e->label[t->u.tile] = row_of(t, u0, r, false);
    for (uint32_t k = 0; k < t->n_pack; k++) {
      const Pack *x = &t->pack[k];
      if (x->place == NOWHERE) continue;
      uint32_t n = pack_at(t, x, (x->lanes ? &t->v : &t->u)->at, x->lanes ? l : ex_int(s, r), at);
      packed[k] = place_read(s, x->place, n, at);
    }
    const Expr *value = ex_shared(s, ex_of(t->e, t->body)), *have = place_read(s, acc[r], 1, &l);
    store_add(s, acc[r], 1, &l, red_combine(s, sum, have, value));
  }
  t->e->packed = NULL;
  into(s, was);
}

/* f for each row of the tile that is there, and the lanes that are there. */
typedef void RowDo(Panel *t, uint32_t acc, int64_t r, const Expr *u, const Expr *v0, const Expr *l);

static void rows_do(Panel *t, const uint32_t *acc, const Expr *u0, const Expr *v0, RowDo *f) {
  Sched *s = t->s;
  const Expr *lanes = ex_int(s, t->v.unit), *size = t->p->stage->bound[t->v.tile], *l;
  LoopBody *around = s->body;
  LoopStmt *whole = side_even(t, &t->v) ? NULL : if_add(s, expr_op2(s->x, OP_LE, ex_add(s, v0, lanes), size));
  for (int part = 0; part < (whole ? 2 : 1); part++) {
    const Expr *count = part ? ex_sub(s, size, v0) : lanes;
    if (whole) into(s, part ? &whole->other : &whole->body);
    for (int64_t r = 0; r < t->u.unit; r++) {
      LoopBody *was = s->body;
      const Expr *u = row_of(t, u0, r, true);
      if (r && !side_even(t, &t->u)) into(s, &if_add(s, expr_op2(s->x, OP_LT, u, t->p->stage->bound[t->u.tile]))->body);
      lanes_open(t, count, &l);
      f(t, acc[r], r, u, v0, l);
      into(s, was);
    }
  }
  into(s, around);
}

static void row_store(Panel *t, uint32_t acc, int64_t r, const Expr *u, const Expr *v0, const Expr *l) {
  Sched *s = t->s;
  (void)r;
  t->e->label[t->u.tile] = u;
  t->e->label[t->v.tile] = ex_add(s, v0, l);
  result_store(s, t->p->stage, t->e, expr_cast(s->x, t->p->stage->sum->dtype, place_read(s, acc, 1, &l)));
}

/* Where a tile's sums are kept between blocks: [tiles of rows, tiles of lanes, near labels.., rows, lanes]. */
static uint32_t sum_at(Panel *t, int64_t r, const Expr *l, const Expr **at) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < t->u.n_near; k++) at[n++] = t->in_block[t->u.near[k]];
  for (uint32_t k = 0; k < t->v.n_near; k++) at[n++] = t->in_block[t->v.near[k]];
  at[n++] = t->v.at;
  at[n++] = t->u.at;
  at[n++] = ex_int(t->s, r);
  at[n++] = l;
  return n;
}

static void sums_new(Panel *t) {
  Sched *s = t->s;
  const Expr **dim = NEW_ARRAY(s->arena, const Expr *, t->p->n_label + 4);
  uint32_t n = 0;
  for (uint32_t k = 0; k < t->u.n_near; k++) dim[n++] = ex_int(s, t->p->size[t->u.near[k]]);
  for (uint32_t k = 0; k < t->v.n_near; k++) dim[n++] = ex_int(s, t->p->size[t->v.near[k]]);
  dim[n++] = ex_int(s, t->v.units);
  dim[n++] = ex_int(s, t->u.units);
  dim[n++] = ex_int(s, t->u.unit);
  dim[n++] = ex_int(s, t->v.unit);
  t->sum_place = place_own(s, NULL, "sums", t->p->stage->sum->acc, n, dim);
  var_add(s, t->sum_place, NULL);
}

/* For each tile of the block; gives where it begins. */
static void tiles_open(Panel *t, const Expr **u0, const Expr **v0) {
  loops_near(t, &t->v);
  *v0 = loop_tiles(t, &t->v, "v");
  loops_near(t, &t->u);
  *u0 = loop_tiles(t, &t->u, "u");
}

/* sums = f(sums, acc); acc NULL: the identity. */
static void sums_step(Panel *t, const uint32_t *acc) {
  Sched *s = t->s;
  const EinSum *sum = t->p->stage->sum;
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, t->p->n_label + 4), *l;
  for (int64_t r = 0; r < t->u.unit; r++) {
    LoopBody *was = lanes_open(t, ex_int(s, t->v.unit), &l);
    uint32_t n = sum_at(t, r, l, at);
    const Expr *have = place_read(s, t->sum_place, n, at);
    store_add(s, t->sum_place, n, at, acc ? red_combine(s, sum, have, place_read(s, acc[r], 1, &l)) : red_identity(s, sum));
    into(s, was);
  }
}

static void accs_new(Panel *t, uint32_t *acc, const Expr *value) {
  Sched *s = t->s;
  const Expr *dim = ex_int(s, t->v.unit);
  for (int64_t r = 0; r < t->u.unit; r++) {
    acc[r] = place_own(s, NULL, "acc", t->p->stage->sum->acc, 1, &dim);
    var_add(s, acc[r], value);
  }
}

static void tile_wanted(Panel *t, const Expr *u0, const Expr *v0) {
  Sched *s = t->s;
  Reach span[2] = {{(uint32_t)t->u.tile, u0, ex_add(s, u0, ex_int(s, t->u.unit - 1))},
                  {(uint32_t)t->v.tile, v0, ex_add(s, v0, ex_int(s, t->v.unit - 1))}};
  wanted_open(t->e, t->p->n_label, 2, span);
}

static void tiles(Panel *t) {
  Sched *s = t->s;
  uint32_t acc[ROWS_MOST];
  const Expr *u0, *v0;
  LoopBody *was = s->body;
  tiles_open(t, &u0, &v0);
  accs_new(t, acc, red_identity(s, t->p->stage->sum));
  LoopBody *inside = s->body;
  tile_wanted(t, u0, v0);
  loop_red(t, (uint32_t)t->cut, BIND_SEQ);
  for (uint32_t k = 0; k < t->n_inner; k++) loop_red(t, t->inner[k], BIND_SEQ);
  step(t, acc, u0);
  into(s, inside);
  if (t->sums) sums_step(t, acc);
  else rows_do(t, acc, u0, v0, row_store);
  into(s, was);
}

static void sum_load(Panel *t, uint32_t acc, int64_t r, const Expr *u, const Expr *v0, const Expr *l) {
  const Expr **at = NEW_ARRAY(t->s->arena, const Expr *, t->p->n_label + 4);
  uint32_t n = sum_at(t, r, l, at);
  (void)acc;
  t->e->label[t->u.tile] = u;
  t->e->label[t->v.tile] = ex_add(t->s, v0, l);
  result_store(t->s, t->p->stage, t->e, expr_cast(t->s->x, t->p->stage->sum->dtype, place_read(t->s, t->sum_place, n, at)));
}

/* ---- all of it ------------------------------------------------------------------------------------------------------ */

static void block(Panel *t) {
  Sched *s = t->s;
  const Expr *u0, *v0, *size = t->p->stage->bound[t->cut];
  uint32_t none[ROWS_MOST] = {0};
  LoopBody *was = s->body;
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (t->pack[k].place != NOWHERE) pack_new(t, &t->pack[k]);
  if (t->sums) {
    sums_new(t);
    LoopBody *around = s->body;
    tiles_open(t, &u0, &v0);
    sums_step(t, NULL);
    into(s, around);
  }
  LoopBody *around = s->body;
  for (uint32_t k = 0; k < t->n_outer; k++) loop_whole(t, t->outer[k]);
  t->deep_lo = ex_int(s, 0), t->deep_n = size;
  if (!(size->kind == EX_INT && size->i <= t->deep)) {
    uint32_t v = var_new(s, NULL, "block");
    into(s, &for_add(s, v, ex_int(s, 0), size, t->deep, BIND_SEQ)->body);
    t->deep_lo = var_read(s, v);
    t->deep_n = named(s, NULL, "n", ex_min(s, ex_int(s, t->deep), ex_sub(s, size, t->deep_lo)));
  }
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (t->pack[k].place != NOWHERE) pack_fill(t, &t->pack[k]);
  tiles(t);
  into(s, around);
  if (t->sums) {
    tiles_open(t, &u0, &v0);
    rows_do(t, none, u0, v0, sum_load);
  }
  into(s, was);
}

static void side_block(Panel *t, Side *x, const Expr *number, const char *name) {
  Sched *s = t->s;
  const Expr *size = t->p->stage->bound[x->tile], *wide = ex_int(s, x->unit * x->units), *unit = ex_int(s, x->unit);
  bool one = size->kind == EX_INT && size->i <= wide->i;
  x->lo = one ? ex_int(s, 0) : named(s, NULL, name, ex_mul(s, number, wide));
  if (one) x->n = size;
  else if (size->kind == EX_INT && size->i % wide->i == 0) x->n = wide;
  else x->n = named(s, NULL, "n", ex_min(s, wide, ex_sub(s, size, x->lo)));
  x->tiles = x->n->kind == EX_INT ? ex_div_up(s, x->n, unit) : named(s, NULL, "tiles", ex_div_up(s, x->n, unit));
}

static void blocks_walk(Panel *t, bool threads) {
  Sched *s = t->s;
  const StagePlan *p = t->p;
  Walk *w = NEW(s->arena, Walk);
  double points = 2 * (double)p->ops * (double)(t->u.unit * t->u.units * t->v.unit * t->v.units) *
                  product(p, t->u.n_near, t->u.near) * product(p, t->v.n_near, t->v.near);
  const Expr *work = ex_int(s, points < 1e15 ? (int64_t)points : 1000000000000000);
  for (uint32_t k = 0; k < p->n_red; k++) work = ex_mul(s, work, p->stage->bound[p->red[k]]);
  struct { uint32_t n; const uint32_t *label; } outer[] = {{t->n_common, t->common}, {t->v.n_far, t->v.far}, {t->u.n_far, t->u.far}};
  for (size_t i = 0; i < COUNT(outer); i++)
    for (uint32_t k = 0; k < outer[i].n; k++) walk_add(s, w, p->stage->label[outer[i].label[k]], p->stage->bound[outer[i].label[k]]);
  uint32_t others = w->n;
  walk_add(s, w, NULL, ex_div_up(s, p->stage->bound[t->v.tile], ex_int(s, t->v.unit * t->v.units)));
  walk_add(s, w, NULL, ex_div_up(s, p->stage->bound[t->u.tile], ex_int(s, t->u.unit * t->u.units)));
  if (threads) walk_chunks(s, w, work, BIND_SEQ);
  else walk_plain(s, w, 0, BIND_SEQ);
  for (size_t i = 0, n = 0; i < COUNT(outer); i++)
    for (uint32_t k = 0; k < outer[i].n; k++) label_is(t, outer[i].label[k], w->index[n++]);
  side_block(t, &t->v, w->index[others], "lanes_at");
  side_block(t, &t->u, w->index[others + 1], "rows_at");
  block(t);
}

/* What a part's panel looks like, or that it is fetched where it lies. */
static void packs_choose(Panel *t) {
  const StagePlan *p = t->p;
  double panels = (double)t->v.units * product(p, t->v.n_near, t->v.near);
  for (uint32_t i = 0; i < t->n_pack; i++) {
    Pack *k = &t->pack[i];
    const Side *x = k->lanes ? &t->v : &t->u;
    k->red = NEW_ARRAY(t->s->arena, uint32_t, p->n_red + 1);
    for (uint32_t r = t->n_outer; r < p->n_red; r++)
      if (ex_has_label(k->of, p->red[r])) k->red[k->n_red++] = p->red[r];
    int along = k->n_red ? moves(k->of, k->red[k->n_red - 1]) : -1, tile = moves(k->of, x->tile);
    k->across = k->lanes ? along > tile && p->size[k->red[k->n_red - 1]] >= SQUARE : tile > along;
    bool plain = k->of->kind == EX_READ;
    if (!k->lanes && (plain ? panels < 4 || overlaps(p, k->of) : panels < 2)) k->place = NOWHERE;
  }
}

static bool fits(const StagePlan *p) {
  const EinSum *sum = p->stage->sum;
  if (sum->reducer == RED_NONE || sum->reducer == RED_ARGMAX || sum->reducer == RED_ARGMIN) return false;
  if (sum->reducer == RED_MONOID || sum->reducer == RED_LSE) return false;
  return p->n_red && p->n_order > 1 && !sum->domain && !sum->where;
}

/* Copying is paid back by what is used again and again. */
static bool pays(const Panel *t) {
  const StagePlan *p = t->p;
  double rows = (double)p->size[t->u.tile] * product(p, t->u.n_near, t->u.near);
  double lanes = (double)p->size[t->v.tile] * product(p, t->v.n_near, t->v.near), deep = product(p, p->n_red, p->red);
  return rows >= 32 && lanes >= 16 && deep >= 16;
}

bool pack_loops(Sched *s, const StagePlan *p, Env *e, bool threads) {
  if (!fits(p)) return false;
  Panel *t = NEW(s->arena, Panel);
  *t = (Panel){.s = s, .p = p, .e = e, .in_block = NEW_ARRAY(s->arena, const Expr *, p->n_label + 1)};
  t->v.tile = lanes_label(p);
  t->u.tile = t->v.tile == NO_LABEL ? NO_LABEL : rows_label(p, (uint32_t)t->v.tile);
  if (t->u.tile == NO_LABEL) return false;
  labels_sort(t);
  if (!parts_find(t, p->stage->sum->body)) return false;
  bool lanes = false;
  for (uint32_t k = 0; k < t->n_pack; k++) lanes |= t->pack[k].lanes;
  if (!lanes) return false;
  tile_size(t);
  block_size(t);
  depth_size(t);
  if (!pays(t)) return false;
  packs_choose(t);
  Map done = map_new(s->arena);
  t->body = body_swap(t, &done, p->stage->sum->body);
  blocks_walk(t, threads);
  return true;
}
