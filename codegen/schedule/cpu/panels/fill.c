/* codegen/schedule/cpu/panels/fill.c - fills panels: copies a block of one side of a contraction into the order in
 * which tiles read it. */
#include "panels.h"

enum {
  LINE = 64,                 /* bytes of the longest vector */
  ROW_LONG = 1024,           /* bytes of a row of lanes that several tiles share */
  SETS = 64, WAYS = 8        /* of the usual first-level cache */
};

/* ---- current labels ---------------------------------------------------------------------------------------- */

void pack_label_is(Panel *t, uint32_t label, const Expr *value) { t->e->label[label] = t->block.at[label] = value; }

void pack_loop_whole(Panel *t, uint32_t label) {
  Sched *s = t->s;
  const Expr *v = for_open(s, t->p->stage->label[label], "i", ex_int(s, 0), t->p->stage->bound[label], 1, BIND_SEQ);
  pack_label_is(t, label, v);
}

static void loop_part(Panel *t, const Part *x) {
  Sched *s = t->s;
  uint32_t label = x->label, v = var_new(s, t->p->stage->label[label], "i");
  into(s, &for_add(s, v, x->lo, x->hi, 1, BIND_SEQ)->body);
  t->e->label[label] = var_read(s, v);
  t->block.at[label] = ex_sub(s, var_read(s, v), x->slot_lo);
}

void pack_loop_near(Panel *t, Side *x, uint32_t label) {
  const Part *part = pack_part(x, label);
  if (part) loop_part(t, part);
  else pack_loop_whole(t, label);
}

/* k: those that its squares go along too; NULL: none. */
static void loops_near_but(Panel *t, Side *x, int64_t but, const Pack *k) {
  for (uint32_t i = 0; i < x->n_near; i++)
    if (x->near[i] != but && !(k && number_among(k->n_run, k->run, x->near[i]))) pack_loop_near(t, x, x->near[i]);
}

void pack_loops_near(Panel *t, Side *x) { loops_near_but(t, x, x->flat, NULL); }

const Expr *pack_range(Panel *t, uint32_t label, const Expr **lo) {
  if (label == t->depth.cut) return *lo = t->block.lo, t->block.n;
  if (label == t->depth.cut_too) return *lo = t->block.too_lo, t->block.too_n;
  return *lo = ex_int(t->s, 0), t->p->stage->bound[label];
}

/* Loops over the points of a reduced label in the block. */
void pack_loop_red(Panel *t, uint32_t label, LoopBind bind) {
  Sched *s = t->s;
  uint32_t v = var_new(s, t->p->stage->label[label], "r");
  const Expr *lo, *n = pack_range(t, label, &lo);
  into(s, &for_add(s, v, ex_int(s, 0), n, 1, bind)->body);
  t->block.at[label] = var_read(s, v);
  t->e->label[label] = ex_add(s, lo, var_read(s, v));
}

static int64_t up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

bool pack_even(const Panel *t, const Side *x) {
  return t->p->exact[x->tile] && t->p->size[x->tile] % x->unit == 0;
}

static const Expr *loop_tiles(Panel *t, Side *x, const char *name, const Expr *from, const Expr *to) {
  Sched *s = t->s;
  if (from->kind == EX_INT && to->kind == EX_INT && from->i + 1 == to->i) {
    x->at = from;
  } else {
    x->at = for_open(s, NULL, name, from, to, 1, BIND_SEQ);
  }
  return named(s, t->p->stage->label[x->tile], name, ex_add(s, x->lo, ex_mul(s, x->at, ex_int(s, x->unit))));
}

/* Loops over a side's tiles in the block; x->at is the number of the current one. */
const Expr *pack_loop_tiles(Panel *t, Side *x, const char *name) {
  return loop_tiles(t, x, name, ex_int(t->s, 0), x->tiles);
}

/* ---- panels --------------------------------------------------------------------------------------------------- */

/* The length of a row of lanes of all tiles, in elements: an odd number of lines, because a tile goes down such rows,
 * and the first-level cache keeps few lines that are a power of two apart. */
static int64_t row_length(const Panel *t, const Pack *k) {
  int64_t size = dtype_size(pack_units_type(t, k)), n = up(pack_flat_size(t, &t->v), t->v.unit);
  return n * size >= ROW_LONG && n * size % (2 * LINE) == 0 ? n + LINE / size : n;
}

/* Points more of the last reduced label than a panel of rows has. It is filled tile by tile for each point, and the
 * first-level cache must keep each tile's line for the next points: it keeps SETS lines per distance of SETS lines. Of
 * rows whose length is not known, only the first lines may be in use. */
static int64_t depth_more(const Panel *t, const Pack *k) {
  const Side *x = &t->u;
  int64_t size = dtype_size(pack_units_type(t, k)), point = x->unit * size, tile = point, apart = SETS * LINE;
  if (!k->lanes && !k->across && k->n_red && !t->p->exact[k->red[k->n_red - 1]]) return LINE / size;
  if (k->lanes || !k->across || x->flat != NO_LABEL || !k->n_red || point % LINE == 0) return 0;
  for (uint32_t i = 0; i < k->n_red; i++) tile *= pack_depth(t, k->red[i]);
  while (tile % apart) apart /= 2; /* tiles lie in sets that are so far apart */
  return x->units > SETS * LINE / apart * WAYS ? (LINE + point - 1) / point : 0;
}

void pack_new(Panel *t, Pack *k) {
  Sched *s = t->s;
  const Side *x = k->lanes ? &t->v : &t->u;
  const StagePlan *p = t->p;
  const Expr **dim = NEW_ARRAY(s->arena, const Expr *, p->n_label + 4);
  uint32_t n = 0;
  if (x->shared) dim[n++] = ex_int(s, pack_share_blocks(t, x));
  for (uint32_t i = 0; i < x->n_near; i++)
    if (x->near[i] != x->flat) dim[n++] = ex_int(s, pack_near_size(t, x, i));
  bool tiled = k->lanes || k->across, flat = x->flat != NO_LABEL;
  if (!flat) dim[n++] = ex_int(s, tiled ? x->units : x->units * x->unit);
  for (uint32_t i = 0; i < k->n_red; i++)
    dim[n++] = ex_int(s, pack_depth(t, k->red[i]) + (i + 1 == k->n_red ? depth_more(t, k) : 0));
  if (tiled) dim[n++] = ex_int(s, flat ? row_length(t, k) : x->unit);
  const char *name = k->lanes ? "lanes" : "rows";
  if (x->shared) {
    k->place = place_shared(s, name, pack_units_type(t, k), n, dim);
    return;
  }
  k->place = var_own(s, NULL, name, pack_units_type(t, k), n, dim, NULL);
}

/* tile: the tile's number; in: its row or lane in the tile, or among all if tiles go over two labels. */
uint32_t pack_at(Panel *t, const Pack *k, const Expr *tile, const Expr *in, const Expr **at) {
  Sched *s = t->s;
  const Side *x = k->lanes ? &t->v : &t->u;
  bool tiled = k->lanes || k->across;
  uint32_t n = 0;
  if (x->shared) at[n++] = x->block;
  for (uint32_t i = 0; i < x->n_near; i++)
    if (x->near[i] != x->flat) at[n++] = t->block.at[x->near[i]];
  if (x->flat == NO_LABEL) at[n++] = tiled ? tile : ex_add(s, ex_mul(s, tile, ex_int(s, x->unit)), in);
  for (uint32_t i = 0; i < k->n_red; i++) at[n++] = t->block.at[k->red[i]];
  if (tiled) at[n++] = in;
  return n;
}

/* Notes whether the value is odd. sum: of v - v, by lane, at `lane`; NULL: as a bool, which each loop of lanes reduces
 * at its end. */
static void odd_note(Panel *t, const Expr *value, const Expr *lane) {
  Sched *s = t->s;
  const Expr *zero = expr_op2(s->x, OP_SUB, value, value), *odd = scalar_read(s, t->test.odd);
  if (lane) {
    const Expr *sum = place_read(s, t->test.sums, 1, &lane);
    store_add(s, t->test.sums, 1, &lane, expr_op2(s->x, OP_ADD, sum, zero));
  } else {
    const Expr *is_odd = expr_op2(s->x, OP_NE, zero, expr_real(s->x, (DType)value->dtype, 0));
    store_add(s, t->test.odd, 0, NULL, expr_op2(s->x, OP_OR, odd, is_odd));
  }
}

/* lane: where a sum of each lane tells of odd values; else NULL. */
static void pack_store(Panel *t, const Pack *k, const Expr *in, const Expr *value, const Expr *lane) {
  const Expr **at = NEW_ARRAY(t->s->arena, const Expr *, t->p->n_label + 4);
  Sched *s = t->s;
  const Side *x = k->lanes ? &t->v : &t->u;
  if (x->flat != NO_LABEL) in = ex_add(s, ex_mul(s, t->block.at[x->flat], t->p->stage->bound[x->tile]), in);
  uint32_t n = pack_at(t, k, x->at, in, at);
  if (t->test.odd != NOWHERE && !pack_guards(t, k)) {
    value = let_read(s, "v", value);
    odd_note(t, value, lane);
  }
  store_add(s, k->place, n, at, pack_units_put(t, value));
}

static const Expr *pack_value(Panel *t, const Pack *k) {
  if (k->line == NOWHERE) return ex_shared(t->s, ex_of(t->e, k->of));
  const Expr *at = ex_sub(t->s, t->e->label[t->u.tile], t->u.lo);
  return place_read(t->s, k->line, 1, &at);
}

/* Where the last vector of n lanes begins, overlapping whole ones before it, because compilers handle a remainder one
 * by one; n: there is no remainder. */
static int64_t last_vector(int64_t n, DType type) {
  int64_t wide = LINE / dtype_size(type);
  while (wide > n) wide /= 2;
  return wide < 4 || n % wide == 0 ? n : n - wide;
}

/* Fills lanes lo to hi of the tile from index `at` of the tile's label; NULL: each from its own. */
static void fill_lanes(Panel *t, Pack *k, Side *x, const Expr *first, const Expr *lo, const Expr *hi, const Expr *at) {
  Sched *s = t->s;
  if (!at && k->of->kind == EX_READ && expr_is_int(lo, 0) && hi->kind == EX_INT) {
    int64_t last = last_vector(hi->i, (DType)k->of->dtype), wide = hi->i - last;
    if (wide) {
      fill_lanes(t, k, x, first, lo, ex_int(s, hi->i / wide * wide), NULL);
      lo = ex_int(s, last);
    }
  }
  LoopBody *was = s->body;
  const Expr *l = for_open(s, NULL, "l", lo, hi, 1, BIND_VECTOR);
  t->e->label[x->tile] = at ? at : ex_add(s, first, l);
  pack_store(t, k, l, pack_value(t, k), t->test.sums != NOWHERE && x == &t->v && hi->kind == EX_INT ? l : NULL);
  into(s, was);
}

/* Fills the tile for one point of the reduced labels, its own label innermost. whole: the tile is not cut off; else
 * its last valid lane is repeated. */
static void fill_one(Panel *t, Pack *k, Side *x, const Expr *first, bool whole) {
  Sched *s = t->s;
  const Expr *size = t->p->stage->bound[x->tile], *unit = x->flat == NO_LABEL ? ex_int(s, x->unit) : size;
  if (whole) {
    if (k->transposed == NO_LABEL && unit->kind == EX_INT && pack_moves(k->of, x->tile) > 0)
      pack_ahead_across(t, k, x, first, unit->i);
    fill_lanes(t, k, x, first, ex_int(s, 0), unit, NULL);
    return;
  }
  LoopBody *was = s->body;
  const Expr *n =
      t->p->exact[x->tile] ? ex_int(s, t->p->size[x->tile] % x->unit) : named(s, NULL, "n", ex_sub(s, size, first));
  fill_lanes(t, k, x, first, ex_int(s, 0), n, NULL);
  fill_lanes(t, k, x, first, n, unit, ex_sub(s, size, ex_int(s, 1)));
  into(s, was);
}

static const Expr *span(Sched *s, const char *name, int64_t n, LoopBind bind) {
  return for_open(s, NULL, name, ex_int(s, 0), ex_int(s, n), 1, bind);
}

/* The transposed label's first value, and how many there are. */
static const Expr *transposed_range(Panel *t, const Pack *k, Side *x, const Expr **lo) {
  const Part *part = pack_part(x, k->transposed);
  return part ? (*lo = part->slot_lo, part->slot_n) : pack_range(t, (uint32_t)k->transposed, lo);
}

/* ---- squares along several labels, which are contiguous together in the source ---- */

/* The points of the labels behind the first, together. */
static int64_t run_points(const Panel *t, const Pack *k) {
  int64_t n = 1;
  for (uint32_t i = 0; i < k->n_run; i++) n *= t->p->size[k->run[i]];
  return n;
}

/* Sets the transposed labels to point `from` of the block, which begins at `lo` of the first label. */
static void transposed_at(Panel *t, const Pack *k, const Expr *lo, const Expr *from) {
  Sched *s = t->s;
  for (uint32_t i = k->n_run; i-- > 0;) {
    const Expr *size = ex_int(s, t->p->size[k->run[i]]);
    pack_label_is(t, k->run[i], expr_op2(s->x, OP_MOD, from, size));
    from = expr_op2(s->x, OP_IDIV, from, size);
  }
  t->block.at[k->transposed] = from;
  t->e->label[k->transposed] = ex_add(s, lo, from);
}

/* The element at point `from` of the block: of the source with its transposed axes joined, where such points are
 * neighbours. */
static const Expr *run_value(Panel *t, const Pack *k, const Expr *lo, const Expr *from) {
  Sched *s = t->s;
  const Expr *of = k->of, **at = NEW_ARRAY(s->arena, const Expr *, of->n);
  uint32_t first = of->n - 1 - k->n_run, memory = t->p->stage->slot[of->i].index;
  for (uint32_t i = 0; i < k->n_run; i++) memory = view_joined(s, memory, first);
  for (uint32_t i = 0; i < first; i++) at[i] = ex_of(t->e, of->arg[i]);
  at[first] = ex_add(s, ex_mul(s, lo, ex_int(s, run_points(t, k))), from);
  return place_read(s, place_of_buffer(s, memory, false), first + 1, at);
}

/* A point of the tile that begins at `first`; beyond the end it is the last valid one. */
static const Expr *lane_of(Panel *t, const Side *x, const Expr *first, const Expr *lane, bool whole) {
  Sched *s = t->s;
  const Expr *at = ex_add(s, first, lane);
  return whole ? at : ex_min(s, at, ex_sub(s, t->p->stage->bound[x->tile], ex_int(s, 1)));
}

/* Transposes `wide` lanes from `lane` on by as many points of the transposed label, from `from` on in a block that
 * begins at `lo`. */
static void fill_square(Panel *t, Pack *k, Side *x, const Expr *first, const Expr *lane, const Expr *lo,
    const Expr *from, int64_t wide, bool whole) {
  Sched *s = t->s;
  const Expr *side = ex_int(s, wide), *dim[2] = {side, side}, *at[2];
  uint32_t square = place_own(s, NULL, "square", (DType)k->of->dtype, 2, dim);
  LoopBody *was = s->body;
  var_add(s, square, NULL);
  at[0] = span(s, "a", wide, BIND_SEQ);
  const Expr *row = lane_of(t, x, first, ex_add(s, lane, at[0]), whole);
  t->e->label[x->tile] = whole ? row : named(s, NULL, "row", row);
  transposed_at(t, k, lo, from);
  const Expr *in = ex_add(s, lane, at[0]);
  if (x->flat == NO_LABEL) in = ex_add(s, ex_mul(s, x->at, ex_int(s, x->unit)), in);
  pack_fetch_line(t, k, x, in, from);
  at[1] = span(s, "b", wide, BIND_VECTOR);
  const Expr *point = ex_add(s, from, at[1]);
  if (!k->n_run) t->e->label[k->transposed] = ex_add(s, lo, point);
  store_add(s, square, 2, at, k->n_run ? run_value(t, k, lo, point) : pack_value(t, k));
  into(s, was);
  transpose_add(s, square);
  at[0] = span(s, "b", wide, BIND_SEQ);
  if (k->n_run) transposed_at(t, k, lo, named(s, NULL, "point", ex_add(s, from, at[0])));
  else t->block.at[k->transposed] = ex_add(s, from, at[0]);
  at[1] = span(s, "a", wide, BIND_VECTOR);
  pack_store(t, k, ex_add(s, lane, at[1]), place_read(s, square, 2, at), NULL);
  into(s, was);
}

/* Fills point by point, if there are too few for a square. */
static void fill_points(Panel *t, Pack *k, Side *x, const Expr *first, const Expr *lo, const Expr *n, bool whole) {
  Sched *s = t->s;
  uint32_t v = var_new(s, t->p->stage->label[k->transposed], "r");
  LoopBody *was = into(s, &for_add(s, v, ex_int(s, 0), n, 1, BIND_SEQ)->body);
  t->block.at[k->transposed] = var_read(s, v);
  t->e->label[k->transposed] = ex_add(s, lo, var_read(s, v));
  fill_one(t, k, x, first, whole);
  into(s, was);
}

/* Loops over the reduced labels but those that are transposed; run: those behind the first are not. */
static void loops_but_transposed(Panel *t, const Pack *k, bool run) {
  for (uint32_t i = 0; i < k->n_red; i++)
    if (k->lies[i] != k->transposed && !number_among(k->n_run, k->run, k->lies[i]))
      pack_loop_red(t, k->lies[i], BIND_SEQ);
  for (uint32_t i = 0; i < k->n_run && run; i++) {
    if (number_among(k->n_red, k->lies, k->run[i])) pack_loop_red(t, k->run[i], BIND_SEQ);
    else pack_loop_whole(t, k->run[i]);
  }
}

/* Loops over squares of `wide` lanes; the last one overlaps the one before if they do not divide the lanes. */
static const Expr *loop_squares(Panel *t, int64_t lanes, int64_t wide) {
  Sched *s = t->s;
  const Expr *lane = for_open(s, NULL, "l", ex_int(s, 0), ex_int(s, lanes), wide, BIND_SEQ);
  return lanes % wide ? named(s, NULL, "lane", ex_min(s, lane, ex_int(s, lanes - wide))) : lane;
}

/* Fills a tile's lanes by transposed squares, if the source is contiguous along another label. The last square
 * overlaps the one before if too little is left. A predicate's range may be smaller than a square. */
static void fill_transposed(Panel *t, Pack *k, Side *x, const Expr *first, bool whole) {
  Sched *s = t->s;
  const Expr *lo, *points = transposed_range(t, k, x, &lo), *n = ex_mul(s, points, ex_int(s, run_points(t, k)));
  bool flat = x->flat != NO_LABEL;
  int64_t lanes = flat ? t->p->size[x->tile] : x->unit;
  bool small = (flat ? lanes < SQUARE : lanes % SQUARE) || (n->kind == EX_INT && n->i < SQUARE);
  int64_t wide = small ? SQUARE / 2 : SQUARE;
  LoopBody *was = s->body;
  const Expr *side = ex_int(s, wide);
  if (n->kind == EX_INT && n->i < wide) { /* a predicate may leave that few */
    loops_but_transposed(t, k, true);
    fill_points(t, k, x, first, lo, points, whole);
    into(s, was);
    return;
  }
  LoopStmt *some = n->kind == EX_INT ? NULL : if_add(s, expr_op2(s->x, OP_GE, n, side));
  if (some) {
    LoopBody *around = into(s, &some->other);
    loops_but_transposed(t, k, true);
    fill_points(t, k, x, first, lo, points, whole);
    into(s, around);
    into(s, &some->body);
  }
  const Expr *lane = NULL;
  if (!pack_is_part(x, k->transposed)) lane = loop_squares(t, lanes, wide); /* read no more rows at once than that */
  loops_but_transposed(t, k, false);
  const Expr *from = for_open(s, t->p->stage->label[k->transposed], "r", ex_int(s, 0), n, wide, BIND_SEQ);
  if (n->kind != EX_INT || n->i % wide) from = named(s, NULL, "from", ex_min(s, from, ex_sub(s, n, side)));
  if (!lane) lane = loop_squares(t, lanes, wide);
  fill_square(t, k, x, first, lane, lo, from, wide, whole);
  into(s, was);
}

typedef void FillTile(Panel *t, Pack *k, Side *x, const Expr *first, bool whole);

/* Fills whole tiles, then the one that is cut off, in separate loops: gcc takes a branch that only the first turns
 * take for cold, and does not vectorise it. */
static void fill_tiles(Panel *t, Pack *k, Side *x, FillTile *f) {
  Sched *s = t->s;
  const Expr *size = t->p->stage->bound[x->tile], *all = x->tiles, *whole = all;
  LoopBody *was = s->body;
  if (x->flat != NO_LABEL) {
    f(t, k, x, x->lo, true);
    return;
  }
  if (!pack_even(t, x))
    whole =
        named(s, NULL, "whole", ex_min(s, all, expr_op2(s->x, OP_IDIV, ex_sub(s, size, x->lo), ex_int(s, x->unit))));
  LoopBody *around = s->body;
  if (!expr_is_int(whole, 0)) f(t, k, x, loop_tiles(t, x, k->lanes ? "v" : "u", ex_int(s, 0), whole), true);
  into(s, around);
  if (whole != all) f(t, k, x, loop_tiles(t, x, k->lanes ? "v" : "u", whole, all), false);
  into(s, was);
}

/* Computes the values of a block's rows at one point, as whole vectors. A tile has too few rows for them, and one by
 * one a value with a condition takes a branch. */
static void line_compute(Panel *t, Pack *k, Side *x) {
  Sched *s = t->s;
  const Expr *rows = ex_mul(s, ex_int(s, x->units), ex_int(s, x->unit)), *size = t->p->stage->bound[x->tile];
  uint32_t line = place_own(s, NULL, "line", (DType)k->of->dtype, 1, &rows), v = var_new(s, NULL, "l");
  var_add(s, line, NULL);
  const Expr *n = ex_min(s, ex_mul(s, x->tiles, ex_int(s, x->unit)), ex_sub(s, size, x->lo)), *l = var_read(s, v);
  LoopBody *was = into(s, &for_add(s, v, ex_int(s, 0), n, 1, BIND_VECTOR)->body);
  t->e->label[x->tile] = ex_add(s, x->lo, l);
  store_add(s, line, 1, &l, pack_value(t, k));
  into(s, was);
  k->line = line;
}

/* The near label along which the source is contiguous; NO_LABEL: none. */
static int64_t near_in_line(const Pack *k, const Side *x) {
  for (uint32_t i = 0; i < x->n_near; i++)
    if (pack_moves(k->of, x->near[i]) > 0) return x->near[i];
  return NO_LABEL;
}

/* Tile by tile along a line, for each point of the reduced labels. Of a source that is contiguous along a near label,
 * all near points come with each point of the reduced ones, so that its lines are read once. */
static void fill_across(Panel *t, Pack *k, Side *x) {
  Sched *s = t->s;
  LoopBody *was = s->body;
  int64_t last = near_in_line(k, x);
  if (last == NO_LABEL) loops_near_but(t, x, NO_LABEL, NULL);
  for (uint32_t i = 0; i < k->n_red; i++) pack_loop_red(t, k->lies[i], BIND_SEQ);
  if (last != NO_LABEL) loops_near_but(t, x, last, NULL), pack_loop_near(t, x, (uint32_t)last);
  if (!k->lanes && x->flat == NO_LABEL && k->of->kind != EX_READ) line_compute(t, k, x);
  fill_tiles(t, k, x, fill_one);
  k->line = NOWHERE;
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
  t->e->label[x->tile] =
      named(s, t->p->stage->label[x->tile], "u", pack_even(t, x) ? row : ex_min(s, row, ex_sub(s, size, ex_int(s, 1))));
  for (uint32_t i = 0; i < k->n_red; i++) {
    bool last = i + 1 == k->n_red;
    if (last && pack_moves(k->of, k->red[i]) > 0) pack_ahead_along(t, k);
    pack_loop_red(t, k->red[i], last ? BIND_VECTOR : BIND_SEQ);
  }
  x->at = ex_int(s, 0);
  pack_store(t, k, var_read(s, v), pack_value(t, k), NULL);
  into(s, was);
}

/* Pads the lanes behind the last with its value. */
static void fill_end(Panel *t, Pack *k, Side *x) {
  Sched *s = t->s;
  const Expr *n = pack_flat(t, x), *all = ex_mul(s, x->tiles, ex_int(s, x->unit));
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, t->p->n_label + 4), *l;
  if (n->kind == EX_INT && expr_is_int(all, n->i)) return;
  LoopBody *was = s->body;
  pack_loops_near(t, x);
  for (uint32_t i = 0; i < k->n_red; i++) pack_loop_red(t, k->red[i], BIND_SEQ);
  uint32_t v = var_new(s, NULL, "l"), rank = pack_at(t, k, NULL, ex_sub(s, n, ex_int(s, 1)), at);
  into(s, &for_add(s, v, n, all, 1, BIND_VECTOR)->body);
  l = place_read(s, k->place, rank, at);
  at[rank - 1] = var_read(s, v);
  store_add(s, k->place, rank, at, l);
  into(s, was);
}

void pack_fill(Panel *t, Pack *k) {
  LoopBody *was = t->s->body;
  Side *x = k->lanes ? &t->v : &t->u;
  bool across = k->transposed == NO_LABEL && (k->lanes || k->across);
  if (!across) loops_near_but(t, x, k->transposed, k);
  if (k->transposed != NO_LABEL) fill_tiles(t, k, x, fill_transposed);
  else if (across) fill_across(t, k, x);
  else fill_along(t, k, x);
  into(t->s, was);
  if (x->flat != NO_LABEL) fill_end(t, k, x);
}
