/* codegen/schedule/cpu/sums/strip.c - contractions without reuse: each row is added to a strip of sums; argmax and
 * argmin keep a strip of the best values and one of their positions. */
#include "tile.h"

enum {
  STRIP = 1024,              /* outputs of a strip: their sums stay in the first-level cache */
  DEEP = 4,                  /* rows that are added together, so that sums are loaded less often; */
  HELD = 16,                 /*   sums of so many vectors stay in registers, and rows are added one at a time */
  SPAN = 64,                 /* lanes between prefetches: for each row, the lines of as many halves */
  LINE = 32                  /* halves of a cache line */
};

typedef struct Strip {
  Tile *t;
  const Expr *v0, *count;
  uint32_t acc, at;          /* at: positions, for argmax and argmin */
  int64_t deep;
} Strip;

/* The type of positions: 32 bits if they fit, because a vector then has as many lanes as for most values. */
static DType place_dtype(const Tile *t) {
  int64_t all = 1;
  for (uint32_t k = 0; k < t->p->n_red; k++) {
    const Expr *n = t->p->stage->bound[t->p->red[k]];
    if (n->kind != EX_INT || !mul_ok(all, n->i, &all) || all > INT32_MAX) return DT_I64;
  }
  return dtype_size(t->p->stage->sum->acc) <= 4 ? DT_I32 : DT_I64;
}

/* Takes a value of argmax or argmin. The first NaN stays, and the first of equals: at the start, when all are the
 * identity, that is the first point. */
static void strip_arg(Strip *x, const Expr *l, const Expr *value) {
  Tile *t = x->t;
  Sched *s = t->s;
  const EinSum *sum = t->p->stage->sum;
  const Expr *v = tile_let(s, value), *best = tile_let(s, tile_cell(t, x->acc, l)), *at = ex_int(s, 0);
  for (uint32_t k = sum->n_out; k < t->p->n_label; k++)
    at = ex_add(s, ex_mul(s, at, t->p->stage->bound[k]), t->e->label[k]);
  const Expr *hot = tile_let(s, red_beats_lanes(s, sum, v, best));
  store_add(s, x->acc, 1, &l, expr_select(s->x, hot, v, best));
  const Expr *was = tile_let(s, tile_cell(t, x->at, l));
  store_add(s, x->at, 1, &l, expr_select(s->x, hot, expr_cast(s->x, place_dtype(t), at), was));
}

/* The position; -1 if there are no points. */
static const Expr *strip_place(Strip *x, const Expr *l) {
  Sched *s = x->t->s;
  const StagePlan *p = x->t->p;
  const Expr *at = expr_cast(s->x, DT_I64, tile_cell(x->t, x->at, l)), *some = red_some(s, p->stage, p->n_red, p->red);
  return some ? expr_select(s->x, some, at, ex_int(s, -1)) : at;
}

/* Whether the read comes from memory, in rows of halves along the strip: short rows, that end before the hardware's
 * prefetcher has run far ahead. */
static bool strip_is_far(const Strip *x, uint32_t label, uint32_t access, const Expr *read) {
  const StagePlan *p = x->t->p;
  if (!read || !dtype_is_float((DType)read->dtype) || dtype_size((DType)read->dtype) != 2) return false;
  if (plan_move(p, access, (uint32_t)x->t->v) != MOVE_UNIT || plan_move(p, access, label) == MOVE_NONE) return false;
  return x->t->lanes >= SPAN && p->exact[label] && p->size[label] >= 3 * (int64_t)x->deep &&
      read_is_far(x->t->s, p, read);
}

static bool strip_wanted(const Strip *x, uint32_t label) {
  const EinSum *sum = x->t->p->stage->sum;
  const Expr **read = body_reads(x->t->s, sum);
  bool some = false;
  for (uint32_t a = 0; a < sum->n_slot; a++) some |= strip_is_far(x, label, a, read[a]);
  return some && x->deep > 1;
}

/* Prefetches the lines of the next rows at the lanes from l0 on. */
static void strip_fetch(Strip *x, uint32_t label, const Expr *at, const Expr *l0) {
  Sched *s = x->t->s;
  const StagePlan *p = x->t->p;
  const Expr **read = body_reads(s, p->stage->sum), *last = ex_sub(s, p->stage->bound[label], ex_int(s, 1));
  for (uint32_t a = 0; a < p->stage->sum->n_slot; a++)
    for (int64_t k = 0; k < x->deep && strip_is_far(x, label, a, read[a]); k++)
      for (int64_t l = 0; l < SPAN; l += LINE) {
        x->t->e->label[label] = ex_min(s, ex_add(s, at, ex_int(s, x->deep + k)), last);
        x->t->e->label[x->t->v] = ex_add(s, x->v0, ex_add(s, l0, ex_int(s, l)));
        read_fetch(s, p, read[a], x->t->e);
      }
}

/* sums[l] = sums[l] combined with f(l), for `count` lanes from l0 on. */
static void strip_lanes(Strip *x, uint32_t label, const Expr *at, int64_t deep, const Expr *l0, const Expr *count) {
  Tile *t = x->t;
  Sched *s = t->s;
  const EinSum *sum = t->p->stage->sum;
  const Expr *var, *value[DEEP];
  LoopBody *was = tile_lanes_open(t, count, &var);
  const Expr *l = ex_add(s, l0, var);
  t->e->label[t->v] = ex_add(s, x->v0, l);
  for (int64_t k = 0; k < deep; k++) {
    t->e->label[label] = ex_add(s, at, ex_int(s, k));
    value[k] = ex_shared(s, ex_ahead(s, ex_of(t->e, sum->body), was, var));
  }
  for (int64_t n = deep; n > 1; n /= 2)
    for (int64_t k = 0; k < n / 2; k++) value[k] = tile_combined(s, sum, value[2 * k], value[2 * k + 1]);
  if (red_is_arg(sum)) strip_arg(x, l, value[0]);
  else store_add(s, x->acc, 1, &l, tile_combined(s, sum, tile_cell(t, x->acc, l), value[0]));
  into(s, was);
}

/* The same for the whole strip. */
static void strip_step(Strip *x, uint32_t label, const Expr *at, int64_t deep) {
  Sched *s = x->t->s;
  if (deep == 1 || !strip_wanted(x, label)) {
    strip_lanes(x, label, at, deep, ex_int(s, 0), x->count);
    return;
  }
  const Expr *span = ex_int(s, SPAN), *rest = expr_op2(s->x, OP_MOD, x->count, span);
  uint32_t v = var_new(s, NULL, "l");
  LoopBody *was =
      into(s, &for_add(s, v, ex_int(s, 0), ex_sub(s, x->count, ex_int(s, SPAN - 1)), SPAN, BIND_SEQ)->body);
  strip_fetch(x, label, at, var_read(s, v));
  strip_lanes(x, label, at, deep, var_read(s, v), span);
  into(s, was);
  if (!expr_is_int(rest, 0)) strip_lanes(x, label, at, deep, ex_sub(s, x->count, rest), rest);
}

static uint32_t strip_new(Strip *x, const char *name, DType dtype, const Expr *identity) {
  Sched *s = x->t->s;
  const Expr *dim = ex_int(s, x->t->lanes), *l;
  uint32_t place = var_own(s, NULL, name, dtype, 1, &dim, NULL);
  LoopBody *was = tile_lanes_open(x->t, x->count, &l);
  store_add(s, place, 1, &l, identity);
  into(s, was);
  return place;
}

/* Row by row, along the part of the strip that the predicate allows; if it gives no range of lanes, each lane is
 * tested. */
static void strip_rows_cut(Strip *x, uint32_t label, const Expr *lo, const Expr *hi) {
  Tile *t = x->t;
  Sched *s = t->s;
  const StagePlan *p = t->p;
  uint32_t r = var_new(s, p->stage->label[label], "r"), v = var_new(s, NULL, "l");
  LoopBody *was = into(s, &for_add(s, r, lo, hi, 1, BIND_SEQ)->body);
  t->e->label[label] = var_read(s, r);
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  for (uint32_t l = 0; l < p->n_label; l++) bound[l] = l != (uint32_t)t->v;
  const Expr *first = x->v0, *last = ex_add(s, x->v0, x->count), *where = p->stage->sum->where;
  bool asks = !where_is_range(p, (uint32_t)t->v);
  if (!asks) where_narrow(t->e, where, p->n_label, (uint32_t)t->v, bound, &first, &last);
  into(s, &for_add(s, v, ex_sub(s, first, x->v0), ex_sub(s, last, x->v0), 1, BIND_VECTOR)->body);
  const Expr *l = var_read(s, v);
  t->e->label[t->v] = ex_add(s, x->v0, l);
  const Expr *value = ex_of(t->e, p->stage->sum->body);
  if (asks) value = expr_select(s->x, ex_of(t->e, where), value, red_identity(s, p->stage->sum));
  store_add(s, x->acc, 1, &l, tile_combined(s, p->stage->sum, tile_cell(t, x->acc, l), ex_shared(s, value)));
  into(s, was);
}

static void strip_rows_all(Strip *x, uint32_t label, const Expr *lo, const Expr *hi) {
  Sched *s = x->t->s;
  uint32_t v = var_new(s, x->t->p->stage->label[label], "r");
  LoopBody *was = into(s, &for_add(s, v, lo, ex_sub(s, hi, ex_int(s, x->deep - 1)), x->deep, BIND_SEQ)->body);
  strip_step(x, label, var_read(s, v), x->deep);
  into(s, was);
  if (x->deep == 1 || (expr_is_int(lo, 0) && hi->kind == EX_INT && hi->i % x->deep == 0)) return;
  const Expr *n = x->t->p->stage->sum->where ? ex_max(s, ex_sub(s, hi, lo), ex_int(s, 0)) : ex_sub(s, hi, lo);
  const Expr *rest = ex_sub(s, ex_add(s, lo, n), expr_op2(s->x, OP_MOD, n, ex_int(s, x->deep)));
  const Expr *w = for_open(s, x->t->p->stage->label[label], "r", rest, hi, 1, BIND_SEQ);
  strip_step(x, label, w, 1);
  into(s, was);
}

static Reach strip_reach(const Strip *x) {
  return (Reach){(uint32_t)x->t->v, x->v0, ex_sub(x->t->s, ex_add(x->t->s, x->v0, x->count), ex_int(x->t->s, 1))};
}

/* Splits rows under a predicate: those that have part of the strip, and between them those that have all of it. */
static void strip_rows(Strip *x, uint32_t label, const Expr *lo, const Expr *hi) {
  const Tile *t = x->t;
  Sched *s = t->s;
  LoopBody *was = s->body;
  if (!tile_decides(t->p, (uint32_t)t->v)) {
    strip_rows_all(x, label, lo, hi);
    return;
  }
  if (!where_is_range(t->p, label) || red_is_arg(t->p->stage->sum)) {
    strip_rows_cut(x, label, lo, hi);
    return;
  }
  Reach reach = strip_reach(x);
  const Expr *from = lo, *to = hi;
  where_range(t->e, t->p->stage->sum->where, t->p->n_label, label, 1, &reach, true, &from, &to);
  bool low = from != lo, high = to != hi;
  from = low ? named(s, NULL, "all_from", ex_min(s, hi, ex_max(s, from, lo))) : lo;
  to = high ? named(s, NULL, "all_to", ex_max(s, from, ex_min(s, to, hi))) : hi;
  if (low) strip_rows_cut(x, label, lo, from);
  strip_rows_all(x, label, from, to);
  if (high) strip_rows_cut(x, label, to, hi);
  into(s, was);
}

static void strip_bounds(Tile *t, const Strip *x, uint32_t last, const Expr **lo, const Expr **hi) {
  const StagePlan *p = t->p;
  Reach reach = strip_reach(x);
  if (!p->stage->sum->where) return;
  if (tile_decides(p, (uint32_t)t->v)) {
    if (!where_is_range(p, last)) return;
    where_range(t->e, p->stage->sum->where, p->n_label, last, 1, &reach, false, lo, hi);
    *lo = named(t->s, NULL, "from", *lo);
    *hi = named(t->s, NULL, "to", *hi);
    return;
  }
  bool *bound = NEW_ARRAY(t->s->arena, bool, p->n_label + 1);
  for (uint32_t l = 0; l < p->n_label; l++) bound[l] = l != last;
  where_narrow(t->e, p->stage->sum->where, p->n_label, last, bound, lo, hi);
  *lo = named(t->s, NULL, "from", *lo);
  *hi = named(t->s, NULL, "to", *hi);
}

static void strip_size(Tile *t) {
  const StagePlan *p = t->p;
  uint32_t v = (uint32_t)t->v, last = p->red[p->n_red - 1];
  /* row: there are never more of them than in a block. */
  bool row = t->s->rows.block && v + 1 == p->stage->sum->n_out;
  t->lanes = (p->exact[v] || row) && p->size[v] < STRIP ? p->size[v] : STRIP;
  t->blocked &= !p->exact[last] || p->size[last] > 2 * STRIP_BLOCK;
  how_add(t->s, p->stage, "strips of %lld %s", (long long)t->lanes, how_label(p->stage, v));
}

void strip_loops(Tile *t, bool threads) {
  Sched *s = t->s;
  const StagePlan *p = t->p;
  strip_size(t);
  Walk *w = NEW(s->arena, Walk);
  uint32_t last = p->red[p->n_red - 1];
  const Expr *work = ex_int(s, (int64_t)p->ops * STRIP), *l;
  for (uint32_t k = 0; k < p->n_order; k++)
    if (p->order[k] != t->v) walk_add(s, w, p->stage->label[p->order[k]], p->stage->bound[p->order[k]]);
  uint32_t others = w->n;
  walk_add(s, w, NULL, ex_div_up(s, p->stage->bound[t->v], ex_int(s, t->lanes)));
  for (uint32_t k = 0; k < p->n_red; k++) work = ex_mul(s, work, p->stage->bound[p->red[k]]);
  if (threads) walk_chunks(s, w, work, BIND_SEQ);
  else walk_plain(s, w, 0, BIND_SEQ);
  for (uint32_t k = 0, i = 0; k < p->n_order; k++)
    if (p->order[k] != t->v) t->e->label[p->order[k]] = w->index[i++];
  Strip x = {.t = t, .v0 = named(s, p->stage->label[t->v], "v", ex_mul(s, w->index[others], ex_int(s, t->lanes)))};
  const Expr *size = p->stage->bound[t->v], *whole = ex_int(s, t->lanes);
  bool even = size->kind == EX_INT && size->i % t->lanes == 0;
  int64_t one = vector_lanes(s, p->stage->sum->acc);
  x.deep = even && p->exact[t->v] && t->lanes % one == 0 && t->lanes <= HELD * one ? 1 : DEEP;
  x.count = even ? whole : named(s, NULL, "n", ex_min(s, whole, ex_sub(s, size, x.v0)));
  const Expr *identity = red_identity(s, p->stage->sum);
  bool arg = red_is_arg(p->stage->sum);
  if (arg || p->stage->sum->reducer == RED_MONOID) x.deep = 1;
  uint32_t tot = x.acc = strip_new(&x, "sums", p->stage->sum->acc, identity);
  if (arg) x.at = strip_new(&x, "places", place_dtype(t), expr_int(s->x, place_dtype(t), 0));
  LoopBody *was = s->body;
  for (uint32_t k = 0; k + 1 < p->n_red; k++)
    tile_red_open(t, p->red[k], ex_int(s, 0), p->stage->bound[p->red[k]], BIND_SEQ);
  const Expr *lo = ex_int(s, 0), *hi = p->stage->bound[last];
  strip_bounds(t, &x, last, &lo, &hi);
  LoopBody *block = s->body;
  if (t->blocked) {
    lo = for_open(s, NULL, "block", lo, hi, STRIP_BLOCK, BIND_SEQ);
    hi = named(s, NULL, "end", ex_min(s, hi, ex_add(s, lo, ex_int(s, STRIP_BLOCK))));
    block = s->body;
    x.acc = strip_new(&x, "part", p->stage->sum->acc, identity);
  }
  strip_rows(&x, last, lo, hi);
  into(s, block);
  if (t->blocked) {
    tile_lanes_open(t, x.count, &l);
    store_add(s, tot, 1, &l, red_combine(s, p->stage->sum, tile_cell(t, tot, l), tile_cell(t, x.acc, l)));
  }
  into(s, was);
  tile_lanes_open(t, x.count, &l);
  t->e->label[t->v] = ex_add(s, x.v0, l);
  const Expr *value = tile_cell(t, tot, l);
  s->best = arg ? value : NULL;
  result_store(s, p->stage, t->e, expr_cast(s->x, p->stage->sum->dtype, arg ? strip_place(&x, l) : value));
  s->best = NULL;
  into(s, was);
}
