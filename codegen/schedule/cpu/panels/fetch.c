/* codegen/schedule/cpu/panels/fetch.c - prefetches what the next block reads while the current one is computed: the
 * hardware prefetcher sees many short streams, and cannot guess where they continue. */
#include <string.h>

#include "panels.h"

enum {
  LINE = PACK_LINE,
  RUN_MOST = 8,              /* points that are prefetched together: their address is computed once */
  AHEAD = 4096,              /* bytes of squares to keep in flight */
  BLOCK_MOST = 384 * 1024,   /* bytes prefetched for the next block: the second-level cache holds both */
  WAY = 4096                 /* bytes: addresses this far apart map to the same set of the first-level cache */
};

/* The stride between rows of a read, in bytes modulo WAY; -1: unknown. */
static int64_t rows_apart(const Panel *t, const Pack *k, const Side *x) {
  if (k->of->kind != EX_READ) return -1;
  const Expr *const *dim = slot_dims(t->s, t->p->stage->slot[k->of->i]);
  int64_t bytes = dtype_size((DType)k->of->dtype);
  for (uint32_t i = k->of->n; i-- > 0 && !ex_has_label(k->of->arg[i], x->tile);) {
    if (dim[i]->kind != EX_INT) return -1;
    bytes = bytes * dim[i]->i % WAY;
  }
  return bytes;
}

/* Whether rows map to the same cache set, so that there is no room for another block of them. */
static bool rows_crowd(const Panel *t, const Pack *k, const Side *x) { return rows_apart(t, k, x) == 0; }

/* Points from one prefetch to the next along a label: a line's worth, if the read is contiguous along it. */
static int64_t line_step(const Pack *k, uint32_t label) {
  return pack_moves(k->of, label) > 0 ? LINE / dtype_size((DType)k->of->dtype) : 1;
}

/* The label that changes from block to block, if consecutive blocks are neighbours along one; NOWHERE: they are not. */
static uint32_t walked_last(const Panel *t) {
  const StagePlan *p = t->p;
  uint32_t last = t->u.n_far ? t->u.far[t->u.n_far - 1] : t->v.n_far ? t->v.far[t->v.n_far - 1] :
                  t->n_common ? t->common[t->n_common - 1] : NOWHERE;
  if (last == NOWHERE || p->size[last] < 2 || t->keep.sums || t->u.n_part || t->v.n_part) return NOWHERE;
  if (!p->exact[t->u.tile] || t->u.unit * t->u.units < p->size[t->u.tile]) return NOWHERE;
  if (!p->exact[t->v.tile] || t->v.unit * t->v.units < p->size[t->v.tile]) return NOWHERE;
  return last;
}

/* The label along which the same line of a square is read next: a reduced one, or, if all of those are read at once,
 * the innermost one that is walked over around the panels. */
static uint32_t line_next(const Panel *t, const Pack *k, const Side *x) {
  uint32_t r = NOWHERE, last = walked_last(t);
  bool part = pack_is_part(x, k->transposed);
  for (uint32_t i = 0; part && i < k->n_red; i++) r = k->lies[i];
  if (part) return r;
  if (!t->keep.sums && x->n_far && ex_has_label(k->of, x->far[x->n_far - 1])) return x->far[x->n_far - 1];
  return last != NOWHERE && ex_has_label(k->of, last) && !rows_crowd(t, k, x) ? last : NOWHERE;
}

/* The label's next value; the last one, if there is none. */
static const Expr *after(Panel *t, uint32_t label) {
  Sched *s = t->s;
  return ex_min(s, ex_add(s, t->e->label[label], ex_int(s, 1)), ex_sub(s, t->p->stage->bound[label], ex_int(s, 1)));
}

/* Sets labels to what the next block has at row `in` of this one, `from` points into the transposed label. */
static void labels_ahead(Panel *t, const Pack *k, const Side *x, const Expr *in, const Expr *from) {
  Sched *s = t->s;
  for (uint32_t l = 0; l < t->p->n_label; l++) {
    if (!t->next.label[l] || !ex_has_label(k->of, l)) continue;
    const Expr *at = l == x->tile ? in : l == k->transposed ? from : pack_is_part(x, l) ? t->block.at[l] : NULL;
    const Expr *last = ex_sub(s, t->p->stage->bound[l], ex_int(s, 1));
    t->e->label[l] = at ? ex_min(s, last, ex_add(s, t->next.label[l], at)) : t->next.label[l];
  }
}

bool pack_looks_ahead(const Panel *t) {
  const Side *x = &t->v;
  bool part = false;
  for (uint32_t k = 0; k < t->n_pack; k++) part |= t->pack[k].lanes && pack_is_part(x, t->pack[k].transposed);
  double lanes = (double)(x->flat == NO_LABEL ? x->unit * x->units : t->p->size[x->tile]);
  return part && !t->keep.sums && pack_lane_bytes(t) * lanes * pack_near_all(t, x) <= (double)PACK_AHEAD;
}

/* With several sums: the label along which squares follow each other, if their lines lie apart; NOWHERE: there is
 * none. */
static uint32_t square_next(const Panel *t, const Pack *k, const Side *x) {
  uint32_t next = NOWHERE;
  if (!t->keep.sums || pack_is_part(x, k->transposed) || !read_is_far(t->s, t->p, k->of)) return NOWHERE;
  for (uint32_t i = 0; i < k->n_red; i++) {
    bool run = k->n_run && pack_axis(k->of, k->red[i]) > pack_axis(k->of, (uint32_t)k->transposed);
    if (k->red[i] != k->transposed && !run) next = k->red[i];
  }
  return next;
}

/* Prefetches the current line of the square that is AHEAD bytes on: its start and, if cache lines may end inside it,
 * its end. */
static void fetch_square(Panel *t, const Pack *k, const Side *x, uint32_t next) {
  Sched *s = t->s;
  const Expr *was = t->e->label[next], *from = t->e->label[k->transposed];
  int64_t one = dtype_size((DType)k->of->dtype), bytes = (int64_t)SQUARE * one * pack_depth(t, (uint32_t)k->transposed);
  const Expr *at = ex_add(s, was, ex_int(s, bytes < AHEAD ? AHEAD / bytes : 1));
  t->e->label[next] = ex_min(s, at, ex_sub(s, t->p->stage->bound[next], ex_int(s, 1)));
  read_fetch(s, t->p, k->of, t->e);
  if (rows_apart(t, k, x) % LINE) {
    const Expr *end = ex_add(s, from, ex_int(s, LINE / one - 1));
    t->e->label[k->transposed] = ex_min(s, end, ex_sub(s, t->p->stage->bound[k->transposed], ex_int(s, 1)));
    read_fetch(s, t->p, k->of, t->e);
  }
  t->e->label[next] = was, t->e->label[k->transposed] = from;
}

/* If squares go along a part and two blocks fit the cache: prefetches what the next block has in this place. Otherwise
 * prefetches what comes next in this block, which is late. */
void pack_fetch_line(Panel *t, const Pack *k, const Side *x, const Expr *in, const Expr *from) {
  uint32_t n = t->p->n_label, r = line_next(t, k, x), square = square_next(t, k, x);
  if (square != NOWHERE) {
    fetch_square(t, k, x, square);
    return;
  }
  bool ahead = t->next.wanted && pack_is_part(x, k->transposed);
  if ((!ahead && r == NOWHERE) || k->comes) return;
  const Expr **was = COPY_ARRAY(t->s->arena, const Expr *, t->e->label, n, n + 1);
  if (ahead) labels_ahead(t, k, x, in, from);
  else t->e->label[r] = after(t, r);
  read_fetch(t->s, t->p, k->of, t->e);
  memcpy(t->e->label, was, n * sizeof *was);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* The number of prefetch steps along a label in a block. */
static int64_t steps(const Panel *t, const Pack *k, const Side *x, uint32_t label) {
  int64_t n = label == x->tile ? x->unit * x->units : pack_depth(t, label), step = line_step(k, label);
  return (n + step - 1) / step;
}

/* Where a label begins in the next block; *last: its last point there. */
static const Expr *next_range(Panel *t, const Side *x, uint32_t label, uint32_t next, const Expr **last) {
  Sched *s = t->s;
  const Expr *lo = x->lo, *n = x->n, *end = t->p->stage->bound[label];
  if (label != x->tile) n = pack_range(t, label, &lo);
  if (label == next) {
    lo = ex_add(s, lo, ex_int(s, pack_depth(t, label)));
    *last = ex_sub(s, end, ex_int(s, 1));
  } else {
    *last = ex_sub(s, ex_add(s, lo, n), ex_int(s, 1));
  }
  return lo;
}

/* The largest divisor of n up to RUN_MOST. */
static int64_t run_of(int64_t n) {
  int64_t run = RUN_MOST;
  while (n % run) run--;
  return run;
}

/* Prefetches the current tile's share of the next block of a part. Runs of points are numbered, those of the tile's
 * label innermost, and one short loop covers the runs of a share. */
static void fetch_share(Panel *t, const Pack *k, const Side *x, uint32_t next, const Expr *of, int64_t shares) {
  Sched *s = t->s;
  int64_t tile = steps(t, k, x, (uint32_t)x->tile), run = run_of(tile), all = tile / run, each = 1,
          tiles = t->u.units * t->v.units;
  for (uint32_t i = 0; i < k->n_red; i++) all *= steps(t, k, x, k->lies[i]);
  int64_t share = (all + shares * tiles - 1) / (shares * tiles);
  const Expr *no = ex_add(s, ex_mul(s, t->v.at, ex_int(s, t->u.units)), t->u.at), *last = NULL, *first = NULL;
  no = ex_add(s, ex_mul(s, no, ex_int(s, shares)), of);
  const Expr *from = named(s, NULL, "from", ex_mul(s, no, ex_int(s, share)));
  uint32_t v = var_new(s, NULL, "ahead");
  into(s, &for_add(s, v, from, ex_min(s, ex_add(s, from, ex_int(s, share)), ex_int(s, all)), 1, BIND_SEQ)->body);
  for (uint32_t i = k->n_red + 1; i-- > 0;) {
    bool is_tile = i == k->n_red;
    uint32_t label = is_tile ? (uint32_t)x->tile : k->lies[i];
    int64_t n = is_tile ? tile / run : steps(t, k, x, label), step = line_step(k, label) * (is_tile ? run : 1);
    const Expr *end, *lo = next_range(t, x, label, next, &end),
                     *at = expr_op2(s->x, OP_IDIV, var_read(s, v), ex_int(s, each));
    if (i) at = expr_op2(s->x, OP_MOD, at, ex_int(s, n));
    at = ex_add(s, lo, ex_mul(s, at, ex_int(s, step)));
    if (is_tile) first = named(s, NULL, "first", at), last = end;
    else t->e->label[label] = named(s, NULL, "next", ex_min(s, at, end));
    each *= n;
  }
  for (int64_t q = 0; q < run; q++) {
    t->e->label[x->tile] = ex_min(s, ex_add(s, first, ex_int(s, q * line_step(k, (uint32_t)x->tile))), last);
    read_fetch(s, t->p, k->of, t->e);
  }
}

/* Whether the next block reads other points of a part, which are strided and far, and there is room for them. */
static bool is_wanted(const Panel *t, const Pack *k, uint32_t next) {
  const Side *x = k->lanes ? &t->v : &t->u, *y = k->lanes ? &t->u : &t->v;
  double bytes = (double)(x->unit * x->units * dtype_size((DType)k->of->dtype)) * pack_points(t);
  if (next == NOWHERE || y->n_near || (k->lanes && x->n_near) || !k->n_red || bytes > (double)BLOCK_MOST) return false;
  if (!read_is_far(t->s, t->p, k->of) || !ex_has_label(k->of, next) || rows_crowd(t, k, x)) return false;
  return !pack_overlaps(t, k->of);
}

/* The reduced label along which the next block reads other points, if little is done with them. With two cut labels,
 * or no other label, it was slower when tried. */
static uint32_t summed_next(const Panel *t) {
  const PanelDepth *d = &t->depth;
  return d->n_outer || !t->thin || !d->n_inner || d->cut_too != NO_LABEL ? NOWHERE : (uint32_t)d->cut;
}

/* Chooses packs to prefetch along the label that changes from block to block, except rows that tiles prefetch. */
void pack_comes_choose(Panel *t) {
  uint32_t next = walked_last(t);
  FetchRows f = {.p = t->p, .u = (uint32_t)t->u.tile, .v = (uint32_t)t->v.tile, .rows = t->u.unit};
  bool rows = pack_fetches_rows(t, &f);
  for (uint32_t i = 0; i < t->n_pack; i++) {
    Pack *k = &t->pack[i];
    bool shared = k->lanes ? t->v.shared : t->u.shared, by_rows = rows && !k->lanes && k->place == NOWHERE;
    k->comes = !shared && !by_rows && is_wanted(t, k, next);
  }
}

bool pack_fetches_block(const Panel *t) {
  bool some = false;
  for (uint32_t k = 0; k < t->n_pack; k++) some |= t->pack[k].comes || is_wanted(t, &t->pack[k], summed_next(t));
  return some;
}

void pack_fetch_block(Panel *t, const Expr *of, int64_t shares) {
  Sched *s = t->s;
  uint32_t n = t->p->n_label, summed = summed_next(t), walked = walked_last(t);
  const Expr **was = COPY_ARRAY(s->arena, const Expr *, t->e->label, n, n + 1);
  for (uint32_t i = 0; i < t->n_pack; i++) {
    const Pack *k = &t->pack[i];
    if (!k->comes && !is_wanted(t, k, summed)) continue;
    LoopBody *around = s->body;
    if (k->comes) t->e->label[walked] = after(t, walked);
    fetch_share(t, k, k->lanes ? &t->v : &t->u, k->comes ? NOWHERE : summed, of, shares);
    memcpy(t->e->label, was, n * sizeof *was);
    into(s, around);
  }
}

bool pack_fetches_rows(Panel *t, const FetchRows *f) {
  bool some = false;
  for (uint32_t i = 0; i < t->n_pack; i++) {
    const Pack *k = &t->pack[i];
    if (k->lanes || k->place != NOWHERE) continue;
    if (rows_crowd(t, k, &t->u)) return false;
    some = true;
  }
  return some && !t->keep.sums && !t->v.n_near && rows_wanted(t->s, f);
}
