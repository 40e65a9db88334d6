/* codegen/schedule/cpu/panels/joint.c - contractions whose result is contiguous along a label of each side: Z[.., y,
 * x, b, a] with a of the lanes' side and b of the rows'. Lanes are a whole cache line of b and a together, so that
 * tiles consist of lines that are streamed straight from registers; in each line the first lanes have one point of b,
 * and the others the next one.
 *
 * Otherwise a row of a would be stored in pieces of lines. So it pays where rows begin inside half lines, and not
 * where they begin at half lines, where panels are used a few times only, or for products of i32. Time over that of
 * other panels, one thread of a Zen 5 (AVX-512), results of 70 to 200 MB: Z[e,g,y,x,b,a] = sum[k] X[e,x,k,a] *
 * W[g,k,y,b] with a of 20 or 28 in f32 0.65 to 0.70, with a of 14 in f64 0.69, in i64 0.68; two contractions of
 * the TCCG benchmark, 0.66; with a of 24 in f32 1.3, of 12 or 20 in f64 1.24 to 1.44; in i32 1.15 to 1.28.
 *
 *   for each point of the lanes' other labels, by threads
 *     fill the lanes' panel: for each line that begins at another point of a, a vector
 *     for each point of the rows' other labels
 *       fill the rows' panel
 *       for each line, for each tile of x and y: reduce in registers, then stream
 */
#include <math.h>

#include "panels.h"

enum {
  LINE = 64, HALF = 32,      /* bytes of a cache line, and of a half */
  STARTS_MOST = 8,            /* at most: each is separate code */
  TILE_X = 4, TILE_Y = 6,    /* sums of a tile; with the vectors of x they fit the registers */
  TILE_LEAST = 3,
  USES = 384,                /* points of the rows' side that pay for a panel which holds lanes several times */
  NEAREST = 32 * 1024,       /* bytes that a line reads of either side, */
  NEAR = 384 * 1024,         /*   and bytes of the lanes' panel */
  PARTS = 4
};

typedef struct Joint {
  Panel *t;
  Pack *u, *v;               /* packs of the rows' side and of the lanes' */
  uint32_t a, b, x, y;       /* labels: a and x of the lanes' side, b and y of the rows' */
  int64_t wide, starts;      /* elements of a line; how many different starts in a row of a lines have */
  int64_t nx, ny;            /* size of a tile */
  uint32_t n_v, n_u, *rest_v, *rest_u; /* the sides' other labels */
  uint32_t base, lanes, rows;
} Joint;

/* ---- when it applies --------------------------------------------------------------------------------------------- */

static int64_t size_of(const Joint *j, uint32_t label) { return j->t->p->size[label]; }

/* The label that the result's axis, counted from the last, is the whole of; NO_LABEL: there is none. */
static int64_t axis_label(const Panel *t, uint32_t back) {
  const TaskStage *st = t->p->stage;
  if (st->n_at <= back) return NO_LABEL;
  uint32_t k = st->n_at - 1 - back;
  if (st->at[k]->kind != EX_LABEL || !t->p->exact[st->at[k]->i]) return NO_LABEL;
  return expr_is_int(buffer_seen(t->s, (uint32_t)st->buffer)->dim[k], t->p->size[st->at[k]->i]) ? st->at[k]->i
                                                                                                : NO_LABEL;
}

/* Whether it has more points, or lies further back in the result. */
static bool is_better(const Joint *j, uint32_t label, uint32_t than) {
  const TaskStage *st = j->t->p->stage;
  if (size_of(j, label) != size_of(j, than)) return size_of(j, label) > size_of(j, than);
  for (uint32_t k = st->n_at; k-- > 0;)
    if (ex_has_label(st->at[k], label) || ex_has_label(st->at[k], than)) return ex_has_label(st->at[k], label);
  return false;
}

/* Puts a side's longest label, apart from the one in lanes, in tiles. Returns false if `lane` is not the side's, or
 * all are short. */
static bool side_sort(
    const Joint *j, const Side *side, uint32_t lane, uint32_t *tile, uint32_t *n_rest, uint32_t *rest) {
  uint32_t *label = NEW_ARRAY(j->t->s->arena, uint32_t, j->t->p->n_label + 1), n = side_labels(side, label),
           best = NOWHERE;
  bool met = false;
  for (uint32_t k = 0; k < n; k++) {
    met |= label[k] == lane;
    if (label[k] != lane && j->t->p->exact[label[k]] && (best == NOWHERE || is_better(j, label[k], best)))
      best = label[k];
  }
  if (!met || best == NOWHERE || size_of(j, best) < TILE_LEAST) return false;
  *tile = best;
  for (uint32_t k = 0; k < n; k++)
    if (label[k] != lane && label[k] != best) rest[(*n_rest)++] = label[k];
  return true;
}

/* Whether each side has one pack, and the body nothing else. */
static bool packs_find(Joint *j) {
  Panel *t = j->t;
  if (!pack_is_two(t) || !pack_body_alone(t)) return false;
  j->v = &t->pack[t->pack[0].lanes ? 0 : 1], j->u = &t->pack[t->pack[0].lanes ? 1 : 0];
  return true;
}

static bool streams(const Panel *t) {
  const EinSum *sum = t->p->stage->sum;
  bool wide = !t->s->target->vector_bytes || t->s->target->vector_bytes >= LINE;
  if (t->keep.held || t->keep.sums || t->s->follow.goes_on || !wide) return false;
  if (sum->where || sum->domain || sum->acc != sum->dtype || sum->acc == DT_I32) return false;
  const Expr *when = stream_if(t->s, t->p->stage);
  for (uint32_t k = 0; k < t->p->n_red; k++)
    if (!t->p->exact[t->p->red[k]]) return false;
  return when && when->kind == EX_INT && !pack_looks(t);
}

static int64_t common_divisor(int64_t a, int64_t b) { return b ? common_divisor(b, a % b) : a; }

/* Computes the length of a line, and how many different starts lines have; false: rows of a begin at half lines, or
 * lines do not come out even. */
static bool ends_meet(Joint *j) {
  int64_t a = size_of(j, j->a), bytes = dtype_size(j->t->p->stage->sum->dtype), begins;
  j->wide = LINE / bytes;
  begins = common_divisor(a, j->wide);
  j->starts = a / begins;
  return a >= j->wide && begins * bytes < HALF && j->starts <= STARTS_MOST &&
      a * size_of(j, j->b) % (j->starts * j->wide) == 0;
}

static bool fits(const Joint *j) {
  const StagePlan *p = j->t->p;
  double deep = pack_product(p, p->n_red, p->red), line = deep * (double)(LINE * size_of(j, j->x));
  double rows = deep * (double)(size_of(j, j->y) * size_of(j, j->b) * dtype_size(p->stage->sum->acc));
  double uses = (double)(size_of(j, j->y) * size_of(j, j->b)) * pack_product(p, j->n_u, j->rest_u);
  return fmax(line, rows) <= (double)NEAREST && line * (double)j->starts <= (double)NEAR && uses >= (double)USES;
}

/* The largest tile, up to `most`, that divides the size; if there is none, as large as allowed. */
static int64_t tile_of(int64_t size, int64_t most) {
  for (int64_t n = most; n >= TILE_LEAST; n--)
    if (size % n == 0) return n;
  return size < most ? size : most;
}

static bool joint_find(Joint *j) {
  Panel *t = j->t;
  int64_t a = axis_label(t, 0), b = axis_label(t, 1);
  if (a == NO_LABEL || b == NO_LABEL || a != t->v.tile) return false;
  j->a = (uint32_t)a, j->b = (uint32_t)b;
  j->rest_v = NEW_ARRAY(t->s->arena, uint32_t, t->p->n_label + 1),
  j->rest_u = NEW_ARRAY(t->s->arena, uint32_t, t->p->n_label + 1);
  if (!ends_meet(j) || !side_sort(j, &t->v, j->a, &j->x, &j->n_v, j->rest_v)) return false;
  if (!side_sort(j, &t->u, j->b, &j->y, &j->n_u, j->rest_u)) return false;
  j->nx = tile_of(size_of(j, j->x), TILE_X), j->ny = tile_of(size_of(j, j->y), TILE_Y);
  return fits(j) && packs_find(j);
}

/* ---- panels ------------------------------------------------------------------------------------------------------ */

static uint32_t place_of(Joint *j, const char *name, uint32_t n, const int64_t *size) {
  Sched *s = j->t->s;
  const Expr **dim = NEW_ARRAY(s->arena, const Expr *, n + 1);
  for (uint32_t k = 0; k < n; k++) dim[k] = ex_int(s, size[k]);
  return var_own(s, NULL, name, j->t->p->stage->sum->acc, n, dim, NULL);
}

static const Expr *loop(Joint *j, const char *name, int64_t n, LoopBind bind) {
  Sched *s = j->t->s;
  if (n == 1) return ex_int(s, 0);
  return for_open(s, NULL, name, ex_int(s, 0), ex_int(s, n), 1, bind);
}

static bool steps(const Joint *j, const Pack *k, uint32_t label) {
  return k->of->kind == EX_READ && plan_move(j->t->p, (uint32_t)k->of->i, label) == MOVE_UNIT;
}

/* The labels of a side's panel, as it is laid out: the reduced ones, then two of its own; for rows, the label along
 * which the side is contiguous is last. */
static uint32_t panel_labels(const Joint *j, const Pack *k, uint32_t *label) {
  const StagePlan *p = j->t->p;
  uint32_t n = 0;
  for (uint32_t r = 0; r < p->n_red; r++) label[n++] = p->red[r];
  label[n++] = k->lanes ? j->x : j->b, label[n++] = k->lanes ? j->a : j->y;
  for (uint32_t i = 0; i + 1 < n && !k->lanes; i++)
    if (steps(j, k, label[i])) {
      uint32_t last = label[i];
      for (uint32_t m = i; m + 1 < n; m++) label[m] = label[m + 1];
      label[n - 1] = last;
      break;
    }
  return n;
}

/* A panel with an element for each point of its labels. The lanes' wraps around behind the last. */
static uint32_t panel_new(Joint *j, const Pack *k, const char *name) {
  uint32_t *label = NEW_ARRAY(j->t->s->arena, uint32_t, j->t->p->n_label + 2), n = panel_labels(j, k, label);
  int64_t *size = NEW_ARRAY(j->t->s->arena, int64_t, n + 1);
  for (uint32_t i = 0; i < n; i++) size[i] = size_of(j, label[i]);
  if (k->lanes) size[n - 1] += j->wide;
  return place_of(j, name, n, size);
}

static void panel_fill(Joint *j, const Pack *k, uint32_t place) {
  Panel *t = j->t;
  Sched *s = t->s;
  uint32_t *label = NEW_ARRAY(s->arena, uint32_t, t->p->n_label + 2), n = panel_labels(j, k, label), unit = n - 1;
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, n + 1);
  LoopBody *was = s->body;
  for (uint32_t i = 0; i < n; i++)
    if (steps(j, k, label[i])) unit = i;
  for (uint32_t i = 0; i < n; i++)
    if (i != unit) t->e->label[label[i]] = at[i] = loop(j, "i", size_of(j, label[i]), BIND_SEQ);
  t->e->label[label[unit]] = at[unit] = loop(j, "l", size_of(j, label[unit]), unit + 1 == n ? BIND_VECTOR : BIND_SEQ);
  store_add(s, place, n, at, ex_shared(s, ex_of(t->e, k->of)));
  into(s, was);
}

/* Fills [starts, reduced labels.., x, lanes] from what is read in place: [reduced labels.., x, a]. */
static void lanes_fill(Joint *j) {
  Sched *s = j->t->s;
  const StagePlan *p = j->t->p;
  uint32_t n = p->n_red + 2;
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, n + 2), **from = NEW_ARRAY(s->arena, const Expr *, n + 2);
  LoopBody *was = s->body, *inside;
  panel_fill(j, j->v, j->base);
  for (uint32_t k = 0; k < p->n_red; k++) from[k] = at[k + 1] = loop(j, "r", size_of(j, p->red[k]), BIND_SEQ);
  from[n - 2] = at[n - 1] = loop(j, "x", size_of(j, j->x), BIND_SEQ);
  inside = s->body;
  const Expr *l = loop(j, "l", j->wide, BIND_VECTOR), *a = ex_int(s, size_of(j, j->a));
  from[n - 1] = l;
  const Expr *first = place_read(s, j->base, n, from);
  from[n - 1] = ex_add(s, a, l);
  store_add(s, j->base, n, from, first);
  into(s, inside);
  at[0] = loop(j, "start", j->starts, BIND_SEQ);
  at[n] = loop(j, "l", j->wide, BIND_VECTOR);
  from[n - 1] = ex_add(s, expr_op2(s->x, OP_MOD, ex_mul(s, at[0], ex_int(s, j->wide)), a), at[n]);
  store_add(s, j->lanes, n + 1, at, place_read(s, j->base, n, from));
  into(s, was);
}

static void lanes_new(Joint *j) {
  const StagePlan *p = j->t->p;
  int64_t *size = NEW_ARRAY(j->t->s->arena, int64_t, p->n_red + 4);
  uint32_t n = 0;
  j->base = panel_new(j, j->v, "lie");
  size[n++] = j->starts;
  for (uint32_t k = 0; k < p->n_red; k++) size[n++] = size_of(j, p->red[k]);
  size[n++] = size_of(j, j->x), size[n++] = j->wide;
  j->lanes = place_of(j, "lanes", n, size);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

typedef struct Tile {
  const Expr *x0, *y0, *b0;  /* the first points of the tile */
  int64_t start, cut;        /* the first `cut` lanes have the point b0, the others the next one */
  uint32_t acc[TILE_Y][TILE_X];
} Tile;

static const Expr *row_at(Joint *j, const Expr *y, const Expr *b) {
  Panel *t = j->t;
  uint32_t *label = NEW_ARRAY(t->s->arena, uint32_t, t->p->n_label + 2), n = panel_labels(j, j->u, label);
  const Expr **at = NEW_ARRAY(t->s->arena, const Expr *, n + 1);
  for (uint32_t k = 0; k < n; k++) at[k] = label[k] == j->y ? y : label[k] == j->b ? b : t->block.at[label[k]];
  return let_read(j->t->s, "have", place_read(t->s, j->rows, n, at));
}

/* Adds the current point of the reduced labels to the sums of one row. */
static void row_step(Joint *j, const Tile *tile, int64_t k) {
  Panel *t = j->t;
  Sched *s = t->s;
  const EinSum *sum = t->p->stage->sum;
  bool two = tile->cut < j->wide;
  const Expr *y = ex_add(s, tile->y0, ex_int(s, k)), *row = row_at(j, y, tile->b0), *x[TILE_X],
             *packed[PACKS_MOST] = {NULL};
  const Expr *next = two ? row_at(j, y, ex_add(s, tile->b0, ex_int(s, 1))) : NULL,
             **at = NEW_ARRAY(s->arena, const Expr *, t->p->n_red + 4);
  uint32_t n = t->p->n_red + 3;
  LoopBody *was = s->body;
  const Expr *l = loop(j, "l", j->wide, BIND_VECTOR);
  at[0] = ex_int(s, tile->start), at[n - 1] = l;
  for (uint32_t r = 0; r < t->p->n_red; r++) at[r + 1] = t->block.at[t->p->red[r]];
  for (int64_t i = 0; i < j->nx; i++) {
    at[n - 2] = ex_add(s, tile->x0, ex_int(s, i));
    x[i] = let_read(j->t->s, "have", place_read(s, j->lanes, n, at));
  }
  if (two) row = expr_select(s->x, expr_op2(s->x, OP_LT, l, ex_int(s, tile->cut)), row, next);
  for (int64_t i = 0; i < j->nx; i++) {
    packed[j->v - t->pack] = x[i], packed[j->u - t->pack] = row;
    t->e->packed = packed;
    const Expr *value = ex_shared(s, ex_of(t->e, t->body));
    t->e->packed = NULL;
    store_add(s, tile->acc[k][i], 1, &l, red_combine_terms(s, sum, place_read(s, tile->acc[k][i], 1, &l), value));
  }
  into(s, was);
}

/* Steps all rows. Each row has its own loop: with one loop for all, gcc keeps all rows in registers at once, and has
 * no room for the sums. */
static void step(Joint *j, const Tile *tile) {
  for (int64_t k = 0; k < j->ny; k++) row_step(j, tile, k);
}

static void tile_reduce(Joint *j, Tile *tile) {
  Panel *t = j->t;
  Sched *s = t->s;
  const Expr *dim = ex_int(s, j->wide), *none = red_identity(s, t->p->stage->sum);
  for (int64_t k = 0; k < j->ny; k++)
    for (int64_t i = 0; i < j->nx; i++) {
      tile->acc[k][i] = var_own(s, NULL, "acc", t->p->stage->sum->acc, 1, &dim, none);
    }
  LoopBody *was = s->body;
  for (uint32_t k = 0; k < t->p->n_red; k++)
    t->block.at[t->p->red[k]] = loop(j, "r", size_of(j, t->p->red[k]), BIND_SEQ);
  step(j, tile);
  into(s, was);
}

static void tile_stream(Joint *j, const Tile *tile, const Expr *line) {
  Panel *t = j->t;
  Sched *s = t->s;
  const Expr *zero = ex_int(s, 0), *wide = ex_int(s, j->wide);
  t->e->label[j->b] = zero;
  t->e->label[j->a] = ex_mul(s, line, wide);
  for (int64_t k = 0; k < j->ny; k++)
    for (int64_t i = 0; i < j->nx; i++) {
      t->e->label[j->y] = ex_add(s, tile->y0, ex_int(s, k));
      t->e->label[j->x] = ex_add(s, tile->x0, ex_int(s, i));
      stream_from(s, t->p->stage, t->e, place_read(s, tile->acc[k][i], 1, &zero), wide, 2);
    }
}

/* Loops over tiles of a label; the last starts early enough to be whole. */
static const Expr *loop_tiles(Joint *j, const char *name, uint32_t label, int64_t unit) {
  Sched *s = j->t->s;
  int64_t size = size_of(j, label), n = (size + unit - 1) / unit;
  const Expr *first = ex_mul(s, loop(j, name, n, BIND_SEQ), ex_int(s, unit));
  return size % unit ? named(s, NULL, "first", ex_min(s, first, ex_int(s, size - unit))) : first;
}

/* Computes the lines that start at the same point of a. */
static void tiles(Joint *j, int64_t start) {
  Sched *s = j->t->s;
  int64_t a = size_of(j, j->a), lines = a * size_of(j, j->b) / j->wide, points = j->starts * j->wide / a;
  Tile tile = {.start = start, .cut = a - start * j->wide % a};
  LoopBody *was = s->body;
  const Expr *group = loop(j, "lines", lines / j->starts, BIND_SEQ);
  tile.b0 = ex_add(s, ex_mul(s, group, ex_int(s, points)), ex_int(s, start * j->wide / a));
  tile.y0 = loop_tiles(j, "y", j->y, j->ny);
  tile.x0 = loop_tiles(j, "x", j->x, j->nx);
  tile_reduce(j, &tile);
  tile_stream(j, &tile, ex_add(s, ex_mul(s, group, ex_int(s, j->starts)), ex_int(s, start)));
  into(s, was);
}

/* ---- entry points ------------------------------------------------------------------------------------------------ */

static void how(const Joint *j) {
  const TaskStage *st = j->t->p->stage;
  how_add(j->t->s, st,
      "tiles of %lld %s by %lld %s by lines of %s and %s, streamed by tiles; panels of %lld %s by %lld %s %lld %s",
      (long long)j->ny, how_label(st, j->y), (long long)j->nx, how_label(st, j->x), how_label(st, j->b),
      how_label(st, j->a), (long long)size_of(j, j->x), how_label(st, j->x), (long long)size_of(j, j->y),
      how_label(st, j->y), (long long)size_of(j, j->b), how_label(st, j->b));
}

static void walk_labels(Joint *j, Walk *w, uint32_t n, const uint32_t *label) {
  const TaskStage *st = j->t->p->stage;
  for (uint32_t k = 0; k < n; k++) walk_add(j->t->s, w, st->label[label[k]], st->bound[label[k]]);
}

static void walk_labels_are(Joint *j, const Walk *w, uint32_t from, uint32_t n, const uint32_t *label) {
  for (uint32_t k = 0; k < n; k++) pack_label_is(j->t, label[k], w->index[from + k]);
}

/* Loops over the blocks. The rows' other labels are walked over inside, unless the rest would give threads too little
 * to share. */
static void blocks(Joint *j, bool threads) {
  Panel *t = j->t;
  Sched *s = t->s;
  const StagePlan *p = t->p;
  Walk *w = NEW(s->arena, Walk);
  bool all = pack_product(p, t->n_common, t->common) * pack_product(p, j->n_v, j->rest_v) < (double)PARTS;
  double tile = 2 * (double)(size_of(j, j->a) * size_of(j, j->b) * size_of(j, j->x) * size_of(j, j->y)) *
      pack_product(p, p->n_red, p->red);
  const Expr *work = ex_int(s, (int64_t)tile);
  walk_labels(j, w, t->n_common, t->common);
  walk_labels(j, w, j->n_v, j->rest_v);
  if (all) walk_labels(j, w, j->n_u, j->rest_u);
  for (uint32_t k = 0; k < j->n_u && !all; k++) work = ex_mul(s, work, p->stage->bound[j->rest_u[k]]);
  if (threads) walk_chunks(s, w, work, BIND_SEQ);
  else walk_plain(s, w, 0, BIND_SEQ);
  walk_labels_are(j, w, 0, t->n_common, t->common);
  walk_labels_are(j, w, t->n_common, j->n_v, j->rest_v);
  if (all) walk_labels_are(j, w, t->n_common + j->n_v, j->n_u, j->rest_u);
  lanes_new(j);
  j->rows = panel_new(j, j->u, "rows");
  lanes_fill(j);
  for (uint32_t k = 0; k < j->n_u && !all; k++) pack_loop_whole(t, j->rest_u[k]);
  panel_fill(j, j->u, j->rows);
  for (int64_t start = 0; start < j->starts; start++) tiles(j, start);
}

bool pack_joint(Panel *t, bool threads) {
  Joint *j = NEW(t->s->arena, Joint);
  j->t = t;
  if (!streams(t) || !joint_find(j)) return false;
  how(j);
  blocks(j, threads);
  return true;
}
