/* codegen/schedule_pack_fill.c - panels: a block of one side of a contraction, copied in the order in which tiles use it. */
#include "schedule_pack.h"

/* ---- labels at hand ---------------------------------------------------------------------------------------- */

void pack_label_is(Panel *t, uint32_t label, const Expr *value) { t->e->label[label] = t->in_block[label] = value; }

void pack_loop_whole(Panel *t, uint32_t label) {
  Sched *s = t->s;
  uint32_t v = var_new(s, t->p->stage->label[label], "i");
  into(s, &for_add(s, v, ex_int(s, 0), t->p->stage->bound[label], 1, BIND_SEQ)->body);
  pack_label_is(t, label, var_read(s, v));
}

void pack_loops_near(Panel *t, const Side *x) {
  for (uint32_t k = 0; k < x->n_near; k++) pack_loop_whole(t, x->near[k]);
}

/* Over the points of a reduced label in the block. */
void pack_loop_red(Panel *t, uint32_t label, LoopBind bind) {
  Sched *s = t->s;
  uint32_t v = var_new(s, t->p->stage->label[label], "r");
  bool is_cut = label == t->cut;
  into(s, &for_add(s, v, ex_int(s, 0), is_cut ? t->deep_n : t->p->stage->bound[label], 1, bind)->body);
  t->in_block[label] = var_read(s, v);
  t->e->label[label] = is_cut ? ex_add(s, t->deep_lo, var_read(s, v)) : var_read(s, v);
}

bool pack_even(const Panel *t, const Side *x) {
  return t->p->exact[x->tile] && t->p->size[x->tile] % x->unit == 0;
}

/* The tiles of a side in the block; x->at is the number of the one at hand. */
const Expr *pack_loop_tiles(Panel *t, Side *x, const char *name) {
  Sched *s = t->s;
  uint32_t v = var_new(s, NULL, name);
  into(s, &for_add(s, v, ex_int(s, 0), x->tiles, 1, BIND_SEQ)->body);
  x->at = var_read(s, v);
  return named(s, t->p->stage->label[x->tile], name, ex_add(s, x->lo, ex_mul(s, x->at, ex_int(s, x->unit))));
}

/* ---- panels --------------------------------------------------------------------------------------------------- */

void pack_new(Panel *t, Pack *k) {
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
uint32_t pack_at(Panel *t, const Pack *k, const Expr *tile, const Expr *in, const Expr **at) {
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
  Sched *s = t->s;
  uint32_t n = pack_at(t, k, (k->lanes ? &t->v : &t->u)->at, in, at);
  if (t->odd != NOWHERE) {
    uint32_t v = place_own(s, NULL, "v", (DType)value->dtype, 0, NULL);
    let_add(s, v, value);
    value = scalar_read(s, v);
    const Expr *zero = expr_real(s->x, (DType)value->dtype, 0), *odd = scalar_read(s, t->odd);
    const Expr *is_odd = expr_op2(s->x, OP_NE, expr_op2(s->x, OP_SUB, value, value), zero);
    store_add(s, t->odd, 0, NULL, expr_op2(s->x, OP_OR, odd, is_odd));
  }
  store_add(s, k->place, n, at, value);
}

static const Expr *pack_value(Panel *t, const Pack *k) { return ex_shared(t->s, ex_of(t->e, k->of)); }

/* From lo to hi of the tile: what is at `at` of its own label, NULL: at its own. */
static void fill_lanes(Panel *t, Pack *k, Side *x, const Expr *first, const Expr *lo, const Expr *hi, const Expr *at) {
  Sched *s = t->s;
  uint32_t v = var_new(s, NULL, "l");
  LoopBody *was = into(s, &for_add(s, v, lo, hi, 1, BIND_VECTOR)->body);
  const Expr *l = var_read(s, v);
  t->e->label[x->tile] = at ? at : ex_add(s, first, l);
  pack_store(t, k, l, pack_value(t, k));
  into(s, was);
}

/* The tile's own label innermost, for one point of the reduced labels. whole: none is cut off; else the last one that is
 * there stands for those that are not. */
static void fill_one(Panel *t, Pack *k, Side *x, const Expr *first, bool whole) {
  Sched *s = t->s;
  const Expr *unit = ex_int(s, x->unit), *size = t->p->stage->bound[x->tile];
  if (whole) {
    fill_lanes(t, k, x, first, ex_int(s, 0), unit, NULL);
    return;
  }
  LoopBody *was = s->body;
  const Expr *n = t->p->exact[x->tile] ? ex_int(s, t->p->size[x->tile] % x->unit) : named(s, NULL, "n", ex_sub(s, size, first));
  fill_lanes(t, k, x, first, ex_int(s, 0), n, NULL);
  fill_lanes(t, k, x, first, n, unit, ex_sub(s, size, ex_int(s, 1)));
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
  int64_t wide = x->unit % SQUARE ? SQUARE / 2 : SQUARE;
  LoopBody *was = s->body;
  uint32_t r = k->red[k->n_red - 1];
  for (uint32_t i = 0; i + 1 < k->n_red; i++) pack_loop_red(t, k->red[i], BIND_SEQ);
  bool is_cut = r == t->cut;
  const Expr *n = is_cut ? t->deep_n : t->p->stage->bound[r], *lo = is_cut ? t->deep_lo : ex_int(s, 0), *side = ex_int(s, wide);
  LoopBody *around = s->body;
  uint32_t v = var_new(s, t->p->stage->label[r], "r"), w = var_new(s, NULL, "l");
  into(s, &for_add(s, v, ex_int(s, 0), ex_sub(s, n, ex_int(s, wide - 1)), wide, BIND_SEQ)->body);
  into(s, &for_add(s, w, ex_int(s, 0), ex_int(s, x->unit), wide, BIND_SEQ)->body);
  const Expr *dim[2] = {side, side}, *at[2];
  uint32_t square = place_own(s, NULL, "square", (DType)k->of->dtype, 2, dim);
  var_add(s, square, NULL);
  LoopBody *inside = s->body;
  at[0] = span(s, "a", wide, BIND_SEQ);
  at[1] = span(s, "b", wide, BIND_VECTOR);
  t->e->label[x->tile] = ex_add(s, first, ex_add(s, var_read(s, w), at[0]));
  t->e->label[r] = ex_add(s, lo, ex_add(s, var_read(s, v), at[1]));
  store_add(s, square, 2, at, pack_value(t, k));
  into(s, inside);
  turn_add(s, square);
  at[0] = span(s, "b", wide, BIND_SEQ);
  at[1] = span(s, "a", wide, BIND_VECTOR);
  t->in_block[r] = ex_add(s, var_read(s, v), at[0]);
  pack_store(t, k, ex_add(s, var_read(s, w), at[1]), place_read(s, square, 2, at));
  into(s, around);
  if (n->kind != EX_INT || n->i % wide) { /* what is left over, point by point */
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
  if (pack_even(t, x)) return NULL;
  return if_add(s, expr_op2(s->x, OP_LE, ex_add(s, first, ex_int(s, x->unit)), t->p->stage->bound[x->tile]));
}

/* Tile by tile along a line, for each point of the reduced labels. */
static void fill_across(Panel *t, Pack *k, Side *x) {
  Sched *s = t->s;
  LoopBody *was = s->body;
  for (uint32_t i = 0; i < k->n_red; i++) pack_loop_red(t, k->red[i], BIND_SEQ);
  const Expr *first = pack_loop_tiles(t, x, k->lanes ? "v" : "u");
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
  const Expr *first = pack_loop_tiles(t, x, "v");
  LoopStmt *whole = if_whole(t, x, first);
  if (whole) into(s, &whole->body);
  fill_turned(t, k, x, first);
  if (whole) {
    into(s, &whole->other);
    for (uint32_t i = 0; i < k->n_red; i++) pack_loop_red(t, k->red[i], BIND_SEQ);
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
  t->e->label[x->tile] = named(s, t->p->stage->label[x->tile], "u", pack_even(t, x) ? row : ex_min(s, row, ex_sub(s, size, ex_int(s, 1))));
  for (uint32_t i = 0; i < k->n_red; i++) pack_loop_red(t, k->red[i], i + 1 == k->n_red ? BIND_VECTOR : BIND_SEQ);
  x->at = ex_int(s, 0);
  pack_store(t, k, var_read(s, v), pack_value(t, k));
  into(s, was);
}

void pack_fill(Panel *t, Pack *k) {
  LoopBody *was = t->s->body;
  Side *x = k->lanes ? &t->v : &t->u;
  pack_loops_near(t, x);
  if (k->lanes && k->across && k->n_red) fill_turned_all(t, k, x);
  else if (k->lanes || k->across) fill_across(t, k, x);
  else fill_along(t, k, x);
  into(t->s, was);
}
