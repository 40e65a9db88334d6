/* codegen/schedule/cpu/panels/tile.c - tiles: rows and lanes of outputs that stay in registers while the reduced
 * labels go by. */
#include "panels.h"

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

static LoopBody *lanes_between(Panel *t, const Expr *lo, const Expr *hi, const Expr **l) {
  Sched *s = t->s;
  uint32_t v = var_new(s, NULL, "l");
  *l = var_read(s, v);
  return into(s, &for_add(s, v, lo, hi, 1, BIND_VECTOR)->body);
}

LoopBody *pack_lanes(Panel *t, const Expr *count, const Expr **l) {
  return lanes_between(t, ex_int(t->s, 0), count, l);
}

static const Expr *row_of(Panel *t, const Expr *u0, int64_t r, bool inside) {
  Sched *s = t->s;
  const Expr *u = ex_add(s, u0, ex_int(s, r));
  return inside || pack_even(t, &t->u) ? u : ex_min(s, u, ex_sub(s, t->p->stage->bound[t->u.tile], ex_int(s, 1)));
}

/* The lane's label; beyond the end it is the last valid one. */
static const Expr *lane_of(Panel *t, const Expr *v0, const Expr *l) {
  Sched *s = t->s;
  const Expr *v = ex_add(s, v0, l);
  return pack_even(t, &t->v) ? v : ex_min(s, v, ex_sub(s, t->p->stage->bound[t->v.tile], ex_int(s, 1)));
}

/* max(a, b) if neither is NaN: b > a ? b : a. min is alike. */
static const Expr *compared(Exprs *x, Op op, const Expr *a, const Expr *b) {
  return expr_select(x, expr_op2(x, op == OP_MAX ? OP_GT : OP_LT, b, a), b, a);
}

static const Expr *plain(Exprs *x, const Expr *e) {
  if (e->kind != EX_OP) return e;
  const Expr **arg = NEW_ARRAY(exprs_arena(x), const Expr *, e->n + 1);
  for (uint32_t k = 0; k < e->n; k++) arg[k] = plain(x, e->arg[k]);
  if (e->op == OP_MAX || e->op == OP_MIN) return compared(x, (Op)e->op, arg[0], arg[1]);
  return expr_op_like(x, e, arg);
}

/* Names what `and` and `or` read, so that C does not branch. */
static const Expr *truths_read(Sched *s, const Expr *e) {
  if (e->kind == EX_READ && e->n && e->dtype == DT_BOOL) return let_read(s, "v", e);
  if (e->kind != EX_OP || op_info[e->op].rule != RULE_LOGIC) return e;
  const Expr *arg[2] = {NULL, NULL};
  for (uint32_t k = 0; k < e->n; k++) arg[k] = truths_read(s, e->arg[k]);
  return expr_op(s->x, (Op)e->op, e->n, arg);
}

static const Expr *truth_named(Sched *s, const Expr *e) {
  e = ex_shared(s, truths_read(s, e));
  return e->kind == EX_OP ? let_read(s, "v", e) : e;
}

/* acc combined with a term of the body in row r, lane l, where l is at or behind `lane`. */
static const Expr *taken_in(Panel *t, const RedTerm *term, uint32_t acc, const Expr *u0, int64_t r, int64_t lane,
    const Expr *l, LoopBody *around) {
  Sched *s = t->s;
  const Expr **at = NEW_ARRAY(s->arena, const Expr *, t->p->n_label + 4), *packed[PACKS_MOST];
  t->e->label[t->u.tile] = row_of(t, u0, r, false);
  for (uint32_t k = 0; k < t->n_pack; k++) {
    const Pack *x = &t->pack[k];
    if (x->place == NOWHERE) continue;
    const Side *side = x->lanes ? &t->v : &t->u;
    const Expr *in = !x->lanes ? ex_int(s, r) : t->v.flat == NO_LABEL ? l : pack_lane(t, l);
    uint32_t n = pack_at(t, x, side->at, in, at);
    if (!x->lanes) at[n - 1] = pack_units_index(t, lane, at[n - 1]);
    packed[k] = pack_units_get(t, place_read(s, x->place, n, at));
  }
  t->e->packed = packed;
  const EinSum *sum = t->p->stage->sum;
  const Expr *body = term->value;
  if (t->guard && t->test.asks) body = expr_select(s->x, t->guard->arg[0], body, t->guard->arg[2]);
  const Expr *value = ex_ahead(s, ex_of(t->e, body), around, l), *have = place_read(s, acc, 1, &l);
  value = pack_units_value(t, packed, r, lane, l, value);
  t->e->packed = NULL;
  if (t->test.plain) return ex_shared(s, compared(s->x, reducer_info[sum->reducer].combine, have, plain(s->x, value)));
  value = sum->acc == DT_BOOL ? truth_named(s, value) : ex_shared(s, value);
  return red_add(s, sum, have, (RedTerm){value, term->less});
}

/* Whether rows come one after the other, because registers are few: beside the sums only the lanes and one row's value
 * are then live, for which gcc and clang have room; lanes shared by all rows would need a value of each row. */
static bool by_rows(const Panel *t) { return t->s->target->vector_bytes && !t->units.apart && !t->test.asks; }

/* Adds the current point of the reduced labels to rows `from` up to `to`, exclusive. */
static void rows_step(Panel *t, const RedTerm *term, const uint32_t *acc, const Expr *u0, const Expr *v0, int64_t from,
    int64_t to) {
  Sched *s = t->s;
  const Expr *l;
  for (int64_t lane = 0, wide = t->units.vector; lane < t->v.unit; lane += wide) {
    pack_units_copy(t, from, to);
    LoopBody *was = lanes_between(t, ex_int(s, lane), ex_int(s, lane + wide), &l);
    if (t->test.asks) t->e->label[t->v.tile] = lane_of(t, v0, l);
    for (int64_t r = from; r < to; r++) store_add(s, acc[r], 1, &l, taken_in(t, term, acc[r], u0, r, lane, l, was));
    into(s, was);
  }
}

static void step(Panel *t, const RedTerm *term, const uint32_t *acc, const Expr *u0, const Expr *v0) {
  int64_t rows = by_rows(t) ? 1 : t->u.unit;
  for (int64_t r = 0; r < t->u.unit; r += rows) rows_step(t, term, acc, u0, v0, r, r + rows);
}

/* Adds the current point to the rows and lanes whose range has it. Its loops go over all lanes of a row, for which
 * there are no copies of the ones; sums that stay sums give the same bits. */
static void step_masked(Panel *t, const RedTerm *term, const uint32_t *acc, const Expr *u0, const Expr *v0) {
  Sched *s = t->s;
  const Expr *where = t->p->stage->sum->where, *l;
  bool by_lane = ex_has_label(where, t->v.tile);
  Units units = t->units;
  if (units.copies) t->units.ones = NOWHERE, t->units.apart = NULL;
  for (int64_t r = 0; r < t->u.unit; r++) {
    LoopBody *was = s->body;
    t->e->label[t->u.tile] = ex_add(s, u0, ex_int(s, r));
    if (!by_lane) into(s, &if_add(s, ex_of(t->e, where))->body);
    LoopBody *around = pack_lanes(t, ex_int(s, t->v.unit), &l);
    t->e->label[t->v.tile] = ex_add(s, v0, l);
    const Expr *mine = by_lane ? ex_of(t->e, where) : NULL;
    if (t->test.asks) t->e->label[t->v.tile] = lane_of(t, v0, l);
    const Expr *next = taken_in(t, term, acc[r], u0, r, 0, l, around);
    if (mine) next = expr_select(s->x, mine, next, place_read(s, acc[r], 1, &l));
    store_add(s, acc[r], 1, &l, next);
    into(s, was);
  }
  t->units = units;
}

static Reach reach_of(Panel *t, const Side *x, const Expr *first, int64_t n) {
  return (Reach){(uint32_t)x->tile, first, ex_add(t->s, first, ex_int(t->s, n - 1))};
}

/* The corners of a tile, as if it were not cut off at the end. */
static Corners corners_of(Panel *t, const Expr *u0, const Expr *v0) {
  return (Corners){{reach_of(t, &t->u, u0, t->u.unit), reach_of(t, &t->v, v0, t->v.unit)}};
}

/* Nothing outside of the domain is stored where others may see it. */
static void rows_part(
    Panel *t, const uint32_t *acc, const Expr *u0, const Expr *v0, const Expr *count, bool masked, PackDo *f) {
  Sched *s = t->s;
  const Expr *l;
  for (int64_t r = 0; r < t->u.unit; r++) {
    LoopBody *was = s->body;
    const Expr *u = row_of(t, u0, r, true);
    if (r && !pack_even(t, &t->u)) into(s, &if_add(s, expr_op2(s->x, OP_LT, u, t->p->stage->bound[t->u.tile]))->body);
    pack_lanes(t, count, &l);
    t->e->label[t->u.tile] = u;
    t->e->label[t->v.tile] = ex_add(s, v0, l);
    if (masked) into(s, &if_add(s, ex_of(t->e, t->p->stage->sum->domain))->body);
    f(t, acc[r], r, l);
    into(s, was);
  }
}

/* The lanes of a tile that is cut off; masked: of one that may be. Clang takes an unknown number of them one by one. */
static const Expr *lanes_left(Panel *t, const Expr *v0, bool masked) {
  Sched *s = t->s;
  const Expr *lanes = ex_int(s, t->v.unit);
  if (pack_even(t, &t->v)) return lanes;
  if (!masked && t->p->exact[t->v.tile] && t->v.flat == NO_LABEL) return ex_int(s, t->p->size[t->v.tile] % t->v.unit);
  return named(s, NULL, "n", ex_min(s, lanes, ex_sub(s, t->p->stage->bound[t->v.tile], v0)));
}

void pack_rows_do(Panel *t, const uint32_t *acc, const Expr *u0, const Expr *v0, PackDo *f) {
  Sched *s = t->s;
  const Expr *lanes = ex_int(s, t->v.unit), *size = t->p->stage->bound[t->v.tile], *whole = NULL;
  bool masked = t->p->stage->sum->domain && t->p->stage->buffer >= 0;
  Corners c = corners_of(t, u0, v0);
  if (!pack_even(t, &t->v)) whole = expr_op2(s->x, OP_LE, ex_add(s, v0, lanes), size);
  if (masked) whole = expr_and(s->x, whole, where_all(t->e, t->p->stage->sum->domain, t->p->n_label, 2, c.of));
  LoopBody *around = s->body;
  LoopStmt *st = whole ? if_add(s, whole) : NULL;
  if (st) into(s, &st->body);
  rows_part(t, acc, u0, v0, lanes, false, f);
  if (st) {
    into(s, &st->other);
    rows_part(t, acc, u0, v0, lanes_left(t, v0, masked), masked, f);
  }
  into(s, around);
}

static void row_store(Panel *t, uint32_t acc, int64_t r, const Expr *l) {
  Sched *s = t->s;
  (void)r;
  result_store(s, t->p->stage, t->e, expr_cast(s->x, t->p->stage->sum->dtype, place_read(s, acc, 1, &l)));
}

static void accs_new(Panel *t, uint32_t *acc, const Expr *value) {
  Sched *s = t->s;
  const Expr *dim = ex_int(s, t->v.unit);
  for (int64_t r = 0; r < t->u.unit; r++) {
    acc[r] = var_own(s, NULL, "acc", (DType)(value ? value->dtype : t->p->stage->sum->acc), 1, &dim, value);
  }
}

/* Converts sums that were compared as integers back to floats. */
static void accs_floats(Panel *t, uint32_t *acc) {
  Sched *s = t->s;
  uint32_t made[ROWS_MOST];
  const Expr *l;
  accs_new(t, made, NULL);
  for (int64_t r = 0; r < t->u.unit; r++) {
    LoopBody *was = pack_lanes(t, ex_int(s, t->v.unit), &l);
    store_add(s, made[r], 1, &l, expr_op1(s->x, OP_UNORDER, place_read(s, acc[r], 1, &l)));
    into(s, was);
    acc[r] = made[r];
  }
}

/* Wraps what follows in a test whether anything in the tile is wanted. */
static void tile_wanted(Panel *t, const Expr *u0, const Expr *v0) {
  Corners c = corners_of(t, u0, v0);
  const Expr *domain = t->p->stage->sum->domain,
             *some = domain ? where_some(t->e, domain, t->p->n_label, 2, c.of) : NULL;
  if (some) into(t->s, &if_add(t->s, some)->body);
  wanted_open(t->e, t->p->n_label, 2, c.of);
}

/* ---- prefetch ---------------------------------------------------------------------------------------------------- */

/* The rows to prefetch, read in place; lo to hi: the range of the cut label. */
static FetchRows rows_ahead(Panel *t, const Expr *u0, const Expr *lo, const Expr *hi) {
  Sched *s = t->s;
  const Expr *first = expr_is_int(t->v.tiles, 1) ? NULL : expr_op2(s->x, OP_EQ, t->v.at, ex_int(s, 0));
  return (FetchRows){t->p, (uint32_t)t->u.tile, (uint32_t)t->v.tile, t->u.unit, u0, first, lo, hi};
}

/* Prefetches one of `parts` shares during the current tile. */
static void part_fetch(Panel *t, const FetchRows *rows, const Expr *part, int64_t parts) {
  LoopBody *was = t->s->body;
  if (pack_fetches_rows(t, rows)) rows_fetch(t->s, rows, t->e);
  into(t->s, was);
  pack_fetch_block(t, part, parts);
}

/* Whether the points are split into parts, each of which prefetches a little. */
static bool has_parts(Panel *t) {
  const Expr *n = t->p->stage->bound[t->depth.cut];
  FetchRows rows = rows_ahead(t, NULL, NULL, NULL);
  if (t->s->grouped || t->depth.n_inner || t->keep.sums || t->p->stage->sum->where || t->zeros) return false;
  if (n->kind != EX_INT || !fetch_points(n->i)) return false;
  return pack_fetches_block(t) || pack_fetches_rows(t, &rows);
}

static void parts_open(Panel *t, const Expr *u0, const Expr **lo, const Expr **hi) {
  Sched *s = t->s;
  int64_t points = fetch_points((*hi)->i), parts = (*hi)->i / points;
  const Expr *v = for_open(s, NULL, "part", ex_int(s, 0), ex_int(s, parts), 1, BIND_SEQ);
  *lo = ex_mul(s, v, ex_int(s, points));
  *hi = ex_add(s, *lo, ex_int(s, points));
  FetchRows rows = rows_ahead(t, u0, *lo, *hi);
  part_fetch(t, &rows, v, parts);
}

/* Opens the other reduced labels at point `of` of the cut one. If `first`, it prefetches for each of these points or,
 * if there is only one label, for each of its parts. */
static void inner_open(Panel *t, const Expr *of, bool first) {
  Sched *s = t->s;
  const PanelDepth *d = &t->depth;
  uint32_t label = d->n_inner ? d->inner[0] : NOWHERE;
  int64_t n = d->n_inner == 1 ? t->p->size[label] : 0, points = n && d->cut_too == NO_LABEL ? fetch_points(n) : 0;
  bool fetches = first && d->n_inner && pack_fetches_block(t);
  if (!fetches || !points) {
    if (fetches) pack_fetch_block(t, of, d->deep);
    for (uint32_t k = 0; k < d->n_inner; k++) pack_loop_red(t, d->inner[k], BIND_SEQ);
    return;
  }
  uint32_t part = var_new(s, NULL, "part"), v = var_new(s, t->p->stage->label[label], "r");
  const Expr *parts = ex_int(s, n / points), *run = ex_int(s, points);
  into(s, &for_add(s, part, ex_int(s, 0), parts, 1, BIND_SEQ)->body);
  pack_fetch_block(t, ex_add(s, ex_mul(s, of, parts), var_read(s, part)), d->deep * (n / points));
  const Expr *lo = ex_mul(s, var_read(s, part), run);
  into(s, &for_add(s, v, lo, ex_add(s, lo, run), 1, BIND_SEQ)->body);
  t->block.at[label] = t->e->label[label] = var_read(s, v);
}

/* Prefetches before the tile: where its results go, and whatever is not prefetched in parts or with each point of the
 * cut label. */
static void tile_fetch(Panel *t, const Expr *u0, const Expr *v0) {
  if (t->s->grouped) return; /* an address of a row is read from its list */
  FetchRows rows = rows_ahead(t, u0, NULL, NULL);
  if ((t->keep.once || !t->keep.sums) && !t->keep.line && !t->keep.held) result_fetch(t->s, &rows, t->e, v0, t->v.unit);
  if (t->depth.n_inner && pack_fetches_rows(t, &rows)) rows_fetch(t->s, &rows, t->e);
  else if (!t->depth.n_inner && !has_parts(t)) part_fetch(t, &rows, ex_int(t->s, 0), 1);
}

/* ---- points of the reduced labels -------------------------------------------------------------------------------- */

/* A guarded body may be taken as a whole where panels are odd, so it is everywhere: its bits do not depend on that. */
static uint32_t panel_terms(Panel *t, const RedTerm **term) {
  if (!t->guard) return red_terms(t->s, t->p->stage->sum, t->body, term);
  RedTerm *whole = MAKE(t->s->arena, RedTerm, t->body, false);
  *term = whole;
  return 1;
}

/* Steps the cut label's points from lo up to hi; masked: each row tests whether the point is in its range. If the body
 * is a sum of products, the tile takes all points of one after those of another: as with one product, registers hold
 * the lanes of one operand and a row's value. */
static void span_step(
    Panel *t, const uint32_t *acc, const Expr *u0, const Expr *v0, const Expr *lo, const Expr *hi, bool masked) {
  Sched *s = t->s;
  uint32_t label = (uint32_t)t->depth.cut;
  LoopBody *was = s->body;
  const RedTerm *term;
  if (lo == hi) return;
  if (has_parts(t)) parts_open(t, u0, &lo, &hi);
  LoopBody *around = s->body;
  for (uint32_t k = 0, n = panel_terms(t, &term); k < n; k++) {
    uint32_t v = var_new(s, t->p->stage->label[label], "r");
    into(s, around);
    into(s, &for_add(s, v, lo, hi, 1, BIND_SEQ)->body);
    t->block.at[label] = var_read(s, v);
    t->e->label[label] = ex_add(s, t->block.lo, var_read(s, v));
    inner_open(t, var_read(s, v), k == 0);
    if (masked) step_masked(t, &term[k], acc, u0, v0);
    else step(t, &term[k], acc, u0, v0);
  }
  into(s, was);
}

/* Computes the cut label's range in the block, for some point of the tile or for all. */
static void tile_range(Panel *t, const Corners *c, const Expr *where, bool all, const Expr **lo, const Expr **hi) {
  Sched *s = t->s;
  *lo = t->block.lo, *hi = ex_add(s, t->block.lo, t->block.n);
  where_range(t->e, where, t->p->n_label, (uint32_t)t->depth.cut, 2, c->of, all, lo, hi);
  *lo = ex_sub(s, *lo, t->block.lo);
  *hi = ex_sub(s, *hi, t->block.lo);
}

bool pack_is_gate(const StagePlan *p) {
  const Expr *where = p->stage->sum->where;
  for (uint32_t k = 0; where && k < p->n_red; k++)
    if (ex_has_label(where, p->red[k])) return false;
  return where != NULL;
}

/* Where the predicate leaves out results of the tile, they become what nothing is reduced to. */
static void accs_gate(Panel *t, const uint32_t *acc, const Expr *u0, const Expr *v0, const Expr *none) {
  Sched *s = t->s;
  const Expr *where = t->p->stage->sum->where, *l;
  Corners c = corners_of(t, u0, v0);
  LoopBody *around = s->body;
  into(s, &if_add(s, expr_op1(s->x, OP_NOT, where_all(t->e, where, t->p->n_label, 2, c.of)))->body);
  for (int64_t r = 0; r < t->u.unit; r++) {
    LoopBody *was = pack_lanes(t, ex_int(s, t->v.unit), &l);
    t->e->label[t->u.tile] = ex_add(s, u0, ex_int(s, r));
    t->e->label[t->v.tile] = ex_add(s, v0, l);
    store_add(s, acc[r], 1, &l, expr_select(s->x, ex_of(t->e, where), place_read(s, acc[r], 1, &l), none));
    into(s, was);
  }
  into(s, around);
}

/* Splits a range bounded by a predicate in three: where some rows have the points, where all have, where some have. */
static void spans(Panel *t, const uint32_t *acc, const Expr *u0, const Expr *v0) {
  Sched *s = t->s;
  const Expr *zeros = t->test.asks ? NULL : t->zeros, *where = zeros ? zeros : t->p->stage->sum->where;
  if (!where) {
    span_step(t, acc, u0, v0, ex_int(s, 0), t->block.n, false);
    return;
  }
  Corners c = corners_of(t, u0, v0);
  const Expr *lo, *hi, *from, *to;
  tile_range(t, &c, where, false, &lo, &hi);
  tile_range(t, &c, where, true, &from, &to);
  bool low = from != lo, high = to != hi;
  lo = named(s, NULL, "from", lo);
  hi = named(s, NULL, "to", ex_max(s, lo, hi));
  if (zeros || pack_is_gate(t->p)) {
    span_step(t, acc, u0, v0, lo, hi, false);
    return;
  }
  from = low ? named(s, NULL, "all_from", ex_min(s, hi, ex_max(s, from, lo))) : lo;
  to = high ? named(s, NULL, "all_to", ex_max(s, from, ex_min(s, to, hi))) : hi;
  if (low) span_step(t, acc, u0, v0, lo, from, true);
  span_step(t, acc, u0, v0, from, to, false);
  if (high) span_step(t, acc, u0, v0, to, hi, true);
}

/* Reduces the current tile into acc. */
static void tile_reduce(Panel *t, uint32_t *acc, const Expr *u0, const Expr *v0) {
  Sched *s = t->s;
  bool order = t->units.order && t->test.plain;
  const Expr *none = red_identity(s, t->p->stage->sum);
  if (order) none = expr_op1(s->x, OP_ORDER, none);
  tile_fetch(t, u0, v0);
  accs_new(t, acc, none);
  LoopBody *inside = s->body;
  tile_wanted(t, u0, v0);
  spans(t, acc, u0, v0);
  if (pack_is_gate(t->p)) accs_gate(t, acc, u0, v0, none);
  into(s, inside);
  if (order) accs_floats(t, acc);
}

void pack_tiles(Panel *t) {
  Sched *s = t->s;
  uint32_t acc[ROWS_MOST];
  const Expr *u0, *v0;
  LoopBody *was = s->body, *around;
  pack_units_open(t);
  if (t->keep.line && !t->keep.sums) {
    around = pack_line_open(t, &u0, &v0);
    tile_reduce(t, acc, u0, v0);
    pack_sums_step(t, acc);
    into(s, around);
    pack_line_store(t);
  } else {
    pack_tiles_open(t, &u0, &v0);
    tile_reduce(t, acc, u0, v0);
    if (t->keep.sums && !t->keep.once) pack_sums_step(t, acc);
    else if (t->keep.held) pack_held_store(t, acc, u0, v0);
    else pack_rows_do(t, acc, u0, v0, row_store);
  }
  into(s, was);
}
