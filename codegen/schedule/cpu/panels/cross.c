/* codegen/schedule/cpu/panels/cross.c - contractions of a large side X and a small one whose result lies across the
 * large side: Z[.., a] with X[.., a, .., x]. X is read in place, in its order, and the result is transposed by squares
 * as it is stored: that moves less than a panel of X, and nothing of X is copied, unless several tiles read points of
 * it whose lines the cache cannot hold together. If X is contiguous along an output label, that label is in lanes; if
 * along a reduced one, the small side is in lanes, and each point of X is broadcast to all of them.
 *
 *   for each block of points of a, and of other labels of X, by threads
 *     fill the small side's panel
 *     for each of the block's points of X, in memory order: for each tile: reduce in registers, then keep
 *     for each square of what is kept, in the result's order: transpose it, then store
 */
#include <string.h>

#include "cross.h"

enum { LINE = PACK_LINE };

/* ---- panels and kept results ------------------------------------------------------------------------------------- */

const Expr *cross_loop(Cross *c, const char *name, int64_t n, int64_t step, LoopBind bind) {
  Sched *s = c->t->s;
  if (n <= step) return ex_int(s, 0);
  return for_open(s, NULL, name, ex_int(s, 0), ex_int(s, n), step, bind);
}

/* Sets the label to its offset in the block. */
void cross_label_in(Cross *c, uint32_t label, const Expr *in) {
  c->t->block.at[label] = in;
  c->t->e->label[label] = ex_add(c->t->s, c->lo[label], in);
}

void cross_label_loop(Cross *c, uint32_t label) {
  Sched *s = c->t->s;
  const Expr *in = ex_int(s, 0);
  if (c->slots[label] != 1) {
    in = for_open(s, c->t->p->stage->label[label], "i", in, ex_int(s, c->slots[label]), 1, BIND_SEQ);
  }
  cross_label_in(c, label, in);
}

/* Loops over n in steps of `unit`; the last step starts early enough to be whole. Returns where a step starts. */
const Expr *cross_loop_whole(Cross *c, const char *name, int64_t n, int64_t unit) {
  Sched *s = c->t->s;
  const Expr *at = cross_loop(c, name, n, unit, BIND_SEQ);
  return n > unit && n % unit ? named(s, NULL, name, ex_min(s, at, ex_int(s, n - unit))) : at;
}

static uint32_t place_of(Cross *c, const char *name, uint32_t n, const uint32_t *label) {
  Sched *s = c->t->s;
  const Expr *dim[CROSS_LABELS_MOST];
  for (uint32_t k = 0; k < n; k++) dim[k] = ex_int(s, c->slots[label[k]]);
  return var_own(s, NULL, name, c->t->p->stage->sum->acc, n, dim, NULL);
}

/* [the small side's other labels.., reduced ones.., the one in tiles] */
static uint32_t panel_labels(const Cross *c, uint32_t *label) {
  const StagePlan *p = c->t->p;
  uint32_t n = 0;
  for (uint32_t k = 0; k < c->n_rest; k++) label[n++] = c->rest[k];
  for (uint32_t k = 0; k < p->n_red; k++) label[n++] = p->red[k];
  label[n++] = c->other;
  return n;
}

/* [other labels of both sides.., the rows' label, a, the lanes' label] */
uint32_t cross_kept_labels(const Cross *c, uint32_t *label) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < c->n_group; k++)
    if (c->group[k] != c->a) label[n++] = c->group[k];
  for (uint32_t k = 0; k < c->n_rest; k++) label[n++] = c->rest[k];
  label[n++] = c->row, label[n++] = c->a, label[n++] = c->lane;
  return n;
}

const Expr *cross_read_at(Cross *c, uint32_t place, uint32_t n, const uint32_t *label) {
  const Expr *at[CROSS_LABELS_MOST];
  for (uint32_t k = 0; k < n; k++) at[k] = c->t->block.at[label[k]];
  return place_read(c->t->s, place, n, at);
}

static void store_at(Cross *c, uint32_t place, uint32_t n, const uint32_t *label, const Expr *value) {
  const Expr *at[CROSS_LABELS_MOST];
  for (uint32_t k = 0; k < n; k++) at[k] = c->t->block.at[label[k]];
  store_add(c->t->s, place, n, at, value);
}

static void panel_fill(Cross *c) {
  Panel *t = c->t;
  Sched *s = t->s;
  uint32_t label[CROSS_LABELS_MOST], n = panel_labels(c, label);
  LoopBody *was = s->body;
  c->panel = place_of(c, "panel", n, label);
  for (uint32_t k = 0; k + 1 < n; k++) cross_label_loop(c, label[k]);
  cross_label_in(c, c->other, cross_loop(c, "l", c->slots[c->other], 1, BIND_VECTOR));
  store_at(c, c->panel, n, label, ex_shared(s, ex_of(t->e, c->small->of)));
  into(s, was);
}

/* X's labels of which a point has several, in storage order. */
static uint32_t point_labels(const Cross *c, uint32_t *label) {
  const Expr *of = c->big->of;
  uint32_t n = 0;
  for (uint32_t k = 0; k < of->n; k++) {
    uint32_t own = (uint32_t)of->arg[k]->i;
    if (own == c->own || number_among(c->t->p->n_red, c->t->p->red, own)) label[n++] = own;
  }
  return n;
}

/* Copies X's current point. */
static void point_fill(Cross *c) {
  Panel *t = c->t;
  Sched *s = t->s;
  uint32_t label[CROSS_LABELS_MOST], n = point_labels(c, label);
  LoopBody *was = s->body;
  for (uint32_t k = 0; k + 1 < n; k++) cross_label_loop(c, label[k]);
  cross_label_in(c, label[n - 1], cross_loop(c, "l", c->slots[label[n - 1]], 1, BIND_VECTOR));
  store_at(c, c->point, n, label, ex_shared(s, ex_of(t->e, c->big->of)));
  into(s, was);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

typedef struct Tile {
  const Expr *row0, *lane0;  /* offsets in the block where the tile begins */
  uint32_t acc[ROWS_MOST][CROSS_VECTORS_MOST];
} Tile;

/* A side's value at the current point. */
static const Expr *value_of(Cross *c, uint32_t label) {
  bool big = label == c->own;
  uint32_t at[CROSS_LABELS_MOST], n = big ? point_labels(c, at) : panel_labels(c, at);
  if (big && c->point == NOWHERE) return let_read(c->t->s, "have", ex_of(c->t->e, c->big->of));
  return let_read(c->t->s, "have", cross_read_at(c, big ? c->point : c->panel, n, at));
}

/* Opens a loop for the vectors from `from` on that have the same width. Returns the first vector behind them. */
static uint32_t vectors_open(Cross *c, uint32_t from, const Expr **l) {
  uint32_t to = from + 1;
  while (to < c->shape.n && c->shape.width[to] == c->shape.width[from]) to++;
  *l = cross_loop(c, "l", c->shape.width[from], 1, BIND_VECTOR);
  return to;
}

static void lane_is(Cross *c, const Tile *x, uint32_t vector, const Expr *l) {
  Sched *s = c->t->s;
  cross_label_in(c, c->lane, ex_add(s, x->lane0, ex_add(s, ex_int(s, c->shape.at[vector]), l)));
}

/* Adds the current point of the reduced labels to the sums of one row. Each row has its own loop: with one loop for
 * all, gcc keeps all rows in registers at once, and has no room for the sums. */
static void row_step(Cross *c, const Tile *x, int64_t r) {
  Panel *t = c->t;
  Sched *s = t->s;
  const Expr *row = NULL, *packed[PACKS_MOST] = {NULL}, *l;
  cross_label_in(c, c->row, ex_add(s, x->row0, ex_int(s, r)));
  row = value_of(c, c->row);
  for (uint32_t k = 0, to; k < c->shape.n; k = to) {
    LoopBody *was = s->body;
    to = vectors_open(c, k, &l);
    for (uint32_t i = k; i < to; i++) {
      lane_is(c, x, i, l);
      const Expr *lane = value_of(c, c->lane);
      packed[c->big - t->pack] = c->lane == c->own ? lane : row;
      packed[c->small - t->pack] = c->lane == c->own ? row : lane;
      t->e->packed = packed;
      const Expr *value = ex_shared(s, ex_of(t->e, t->body));
      t->e->packed = NULL;
      const Expr *acc = place_read(s, x->acc[r][i], 1, &l);
      store_add(s, x->acc[r][i], 1, &l, red_combine_terms(s, t->p->stage->sum, acc, value));
    }
    into(s, was);
  }
}

static void tile_reduce(Cross *c, Tile *x) {
  Panel *t = c->t;
  Sched *s = t->s;
  const Expr *none = red_identity(s, t->p->stage->sum);
  for (int64_t r = 0; r < c->shape.rows; r++)
    for (uint32_t k = 0; k < c->shape.n; k++) {
      const Expr *dim = ex_int(s, c->shape.width[k]);
      x->acc[r][k] = var_own(s, NULL, "acc", t->p->stage->sum->acc, 1, &dim, none);
    }
  LoopBody *was = s->body;
  for (uint32_t k = 0; k < t->p->n_red; k++) cross_label_loop(c, t->p->red[k]);
  for (int64_t r = 0; r < c->shape.rows; r++) row_step(c, x, r);
  into(s, was);
}

static void tile_keep(Cross *c, const Tile *x) {
  Sched *s = c->t->s;
  uint32_t label[CROSS_LABELS_MOST], n = cross_kept_labels(c, label);
  const Expr *l;
  for (int64_t r = 0; r < c->shape.rows; r++) {
    cross_label_in(c, c->row, ex_add(s, x->row0, ex_int(s, r)));
    for (uint32_t k = 0, to; k < c->shape.n; k = to) {
      LoopBody *was = s->body;
      to = vectors_open(c, k, &l);
      for (uint32_t i = k; i < to; i++) {
        lane_is(c, x, i, l);
        store_at(c, c->kept, n, label, place_read(s, x->acc[r][i], 1, &l));
      }
      into(s, was);
    }
  }
}

/* ---- prefetch of X's next point ---------------------------------------------------------------------------------- */

/* Moves the labels of X one turn ahead; at a block's end that may leave the block, but not X. */
static void point_next(Cross *c) {
  Panel *t = c->t;
  Sched *s = t->s;
  const Expr *f = ex_int(s, 0);
  for (uint32_t k = 0; k < c->n_group; k++)
    f = ex_add(s, ex_mul(s, f, ex_int(s, c->slots[c->group[k]])), t->block.at[c->group[k]]);
  f = ex_add(s, f, ex_int(s, 1));
  for (uint32_t k = c->n_group; k-- > 0;) {
    uint32_t label = c->group[k];
    const Expr *size = ex_int(s, c->slots[label]), *in = k ? expr_op2(s->x, OP_MOD, f, size) : f;
    t->e->label[label] = ex_min(s, ex_add(s, c->lo[label], in), ex_sub(s, t->p->stage->bound[label], ex_int(s, 1)));
    if (k) f = expr_op2(s->x, OP_IDIV, f, size);
  }
}

/* Prefetches X's next point for the current tile: each of the tiles that use it fetches its share of the first reduced
 * label. */
static void tile_fetch(Cross *c, const Tile *x, const Expr *tile, int64_t tiles) {
  Panel *t = c->t;
  Sched *s = t->s;
  const StagePlan *p = t->p;
  const Expr *of = c->big->of, **was = arena_copy(s->arena, t->e->label, p->n_label * sizeof *was);
  LoopBody *around = s->body;
  int64_t line = LINE / cross_element(c), points = c->own == c->lane ? cross_up(c->shape.lanes, line) : c->shape.rows;
  uint32_t first = p->red[0], last = (uint32_t)of->arg[of->n - 1]->i;
  int64_t share = first == last ? cross_size(c, first) : cross_up(cross_size(c, first), tiles);
  if (first == last && tiles > 1) into(s, &if_add(s, expr_op2(s->x, OP_EQ, tile, ex_int(s, 0)))->body);
  point_next(c);
  for (uint32_t k = 0; k < p->n_red; k++) {
    uint32_t label = p->red[k];
    const Expr *at = cross_loop(c, "r", k ? cross_size(c, label) : share, label == last ? line : 1, BIND_SEQ);
    if (!k && first != last) at = ex_add(s, ex_mul(s, tile, ex_int(s, share)), at);
    t->e->label[label] =
        !k && share * tiles > cross_size(c, label) ? ex_min(s, at, ex_int(s, cross_size(c, label) - 1)) : at;
  }
  for (int64_t k = 0; k < points; k++) {
    int64_t in = c->own == c->lane ? k * line : k;
    const Expr *at = ex_add(s, c->own == c->lane ? x->lane0 : x->row0, ex_int(s, in));
    t->e->label[c->own] = ex_add(s, c->lo[c->own], at);
    LoopStmt *st = read_fetch(s, p, of, t->e);
    if (st) st->step = FETCH_SECOND; /* a point may not fit the first-level cache */
  }
  memcpy(t->e->label, was, p->n_label * sizeof *was);
  into(s, around);
}

/* ---- tiles of a block -------------------------------------------------------------------------------------------- */

/* Tiles that share points of X follow each other. */
static void tiles(Cross *c) {
  Sched *s = c->t->s;
  uint32_t label[CROSS_LABELS_MOST], n = cross_kept_labels(c, label);
  int64_t inner = c->own == c->lane ? c->slots[c->row] : c->slots[c->lane],
          unit = c->own == c->lane ? c->shape.rows : c->shape.lanes;
  Tile x = {0};
  LoopBody *was = s->body;
  c->kept = place_of(c, "kept", n, label);
  c->point = NOWHERE;
  if (cross_copies(c)) {
    uint32_t at[CROSS_LABELS_MOST], rank = point_labels(c, at);
    c->point = place_of(c, "point", rank, at);
  }
  for (uint32_t k = 0; k < c->n_group; k++) cross_label_loop(c, c->group[k]);
  if (c->point != NOWHERE) point_fill(c);
  for (uint32_t k = 0; k < c->n_rest; k++) cross_label_loop(c, c->rest[k]);
  if (c->own == c->lane) x.lane0 = cross_loop_whole(c, "v", c->slots[c->lane], c->shape.lanes);
  else x.row0 = cross_loop_whole(c, "u", c->slots[c->row], c->shape.rows);
  const Expr *tile = cross_loop(c, "tile", cross_up(inner, unit), 1, BIND_SEQ),
             *first = ex_mul(s, tile, ex_int(s, unit));
  if (inner % unit) first = named(s, NULL, "first", ex_min(s, first, ex_int(s, inner - unit)));
  if (c->own == c->lane) x.row0 = first;
  else x.lane0 = first;
  if (!c->n_rest) tile_fetch(c, &x, tile, cross_up(inner, unit));
  tile_reduce(c, &x);
  tile_keep(c, &x);
  into(s, was);
}

/* ---- entry points ------------------------------------------------------------------------------------------------ */

static bool is_group(const Cross *c, uint32_t label) {
  return label == c->a || (c->slots[label] > 1 && number_among(c->n_far, c->far, label));
}

static void how(const Cross *c) {
  const TaskStage *st = c->t->p->stage;
  Buf b = buf_new(c->t->s->arena);
  uint32_t label[CROSS_LABELS_MOST], n = cross_kept_labels(c, label);
  buf_printf(&b, "tiles of %lld %s by %lld %s in lanes, %s where they lie; results of", (long long)c->shape.rows,
      how_label(st, c->row), (long long)c->shape.lanes, how_label(st, c->lane), c->own == c->lane ? "lanes" : "rows");
  for (uint32_t k = 0; k < n; k++)
    buf_printf(&b, "%s %lld %s", k ? " by" : "", (long long)c->slots[label[k]], how_label(st, label[k]));
  how_add(c->t->s, st, "%s, transposed", b.s);
}

/* The number of scalar operations of a block. */
static const Expr *block_work(const Cross *c) {
  const StagePlan *p = c->t->p;
  uint32_t label[CROSS_LABELS_MOST], n = cross_kept_labels(c, label);
  double work = 2 * p->ops * pack_product(p, p->n_red, p->red);
  for (uint32_t k = 0; k < n; k++) work *= (double)c->slots[label[k]];
  return ex_int(c->t->s, (int64_t)work);
}

/* Loops over the blocks; sets labels to where they begin. */
static void blocks_walk(Cross *c, bool threads) {
  Panel *t = c->t;
  Sched *s = t->s;
  const StagePlan *p = t->p;
  const Expr *of = c->big->of, *zero = ex_int(s, 0);
  Walk *w = NEW(s->arena, Walk);
  for (uint32_t k = 0; k < t->n_common; k++)
    walk_add(s, w, p->stage->label[t->common[k]], p->stage->bound[t->common[k]]);
  for (uint32_t k = 0; k < of->n; k++) {
    uint32_t label = (uint32_t)of->arg[k]->i;
    bool far = number_among(c->n_far, c->far, label);
    if (!far && label != c->a && label != c->own) continue;
    bool one = c->slots[label] == 1;
    const Expr *blocks = one ? p->stage->bound[label] : ex_int(s, cross_size(c, label) / c->slots[label]);
    walk_add(s, w, one ? p->stage->label[label] : NULL, blocks);
  }
  if (threads) walk_chunks(s, w, block_work(c), BIND_SEQ);
  else walk_plain(s, w, 0, BIND_SEQ);
  for (uint32_t l = 0; l < p->n_label; l++) c->lo[l] = zero;
  uint32_t i = 0;
  for (; i < t->n_common; i++) pack_label_is(t, t->common[i], w->index[i]);
  for (uint32_t k = 0; k < of->n; k++) {
    uint32_t label = (uint32_t)of->arg[k]->i;
    bool far = number_among(c->n_far, c->far, label);
    if (!far && label != c->a && label != c->own) continue;
    c->lo[label] = named(s, NULL, "from", ex_mul(s, w->index[i++], ex_int(s, c->slots[label])));
    cross_label_in(c, label, zero);
  }
}

bool pack_cross(Panel *t, bool threads) {
  Sched *s = t->s;
  Cross *c = MAKE(s->arena, Cross, .t = t);
  if (!cross_find(c)) return false;
  cross_shape_choose(c);
  c->lo = NEW_ARRAY(s->arena, const Expr *, t->p->n_label + 1);
  c->group = NEW_ARRAY(s->arena, uint32_t, t->p->n_label + 1);
  for (uint32_t k = 0; k < c->big->of->n; k++)
    if (is_group(c, (uint32_t)c->big->of->arg[k]->i)) c->group[c->n_group++] = (uint32_t)c->big->of->arg[k]->i;
  how(c);
  blocks_walk(c, threads);
  panel_fill(c);
  tiles(c);
  cross_results_store(c, threads);
  return true;
}
