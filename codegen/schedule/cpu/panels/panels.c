/* codegen/schedule/cpu/panels/panels.c - contractions of two sides in the style of BLIS and TBLIS. A block of each
 * side is packed into a panel: contiguous, in the order in which it is used, whatever its strides, with any operations
 * on the way (a cast, a scale, an activation). Tiles of outputs then stay in registers while the reduced labels go by.
 * One side supplies the rows of a tile, the other its lanes. Any reducer and any scalar function will do: a side is
 * whatever part of the body depends on one side's labels only.
 *
 *   for each block of rows and lanes, by threads
 *     for each block of the reduced labels
 *       fill the lanes' panel, fill the rows' panel
 *       for each tile: reduce in registers, then store it, or, if there are several blocks, add it to the sums
 *     store the sums
 *
 * or, in rounds, if that needs less memory (share.c):
 *
 *   for each lot of blocks of lanes, for each lot of blocks of rows
 *     for all of the reduced labels, or for each block of them
 *       fill the lots' panels, by threads
 *       for each block of rows and lanes, by threads
 *         compute its tiles as above, or add them to its sums; in the last round of the lots, store these
 */
#include "panels.h"

/* ---- entry points ------------------------------------------------------------------------------------------------ */

/* The corners of the current block of rows and lanes. */
static Corners corners_of_block(Panel *t) {
  Sched *s = t->s;
  const Expr *one = ex_int(s, 1);
  return (Corners){{{(uint32_t)t->u.tile, t->u.lo, ex_sub(s, ex_add(s, t->u.lo, t->u.n), one)},
                    {(uint32_t)t->v.tile, t->v.lo, ex_sub(s, ex_add(s, t->v.lo, t->v.n), one)}}};
}

/* Opens the loop over blocks of the second label that is cut. */
static void deep_too_open(Panel *t) {
  Sched *s = t->s;
  const PanelDepth *d = &t->depth;
  if (d->cut_too == NO_LABEL) return;
  const Expr *size = t->p->stage->bound[d->cut_too], *deep = ex_int(s, d->deep_too);
  t->block.too_lo = for_open(s, NULL, "block", ex_int(s, 0), size, d->deep_too, BIND_SEQ);
  t->block.too_n = size->kind == EX_INT && size->i % d->deep_too == 0
      ? deep
      : named(s, NULL, "n", ex_min(s, deep, ex_sub(s, size, t->block.too_lo)));
}

/* Opens the loop over blocks of the cut label, within the range that some row or lane wants. */
static void deep_open(Panel *t) {
  Sched *s = t->s;
  const PanelDepth *d = &t->depth;
  const Expr *where = t->p->stage->sum->where, *lo = ex_int(s, 0), *hi = t->p->stage->bound[d->cut];
  bool one = hi->kind == EX_INT && hi->i <= d->deep;
  if (where) {
    Corners c = corners_of_block(t);
    where_range(t->e, where, t->p->n_label, (uint32_t)d->cut, 2, c.of, false, &lo, &hi);
    lo = named(s, NULL, "from", lo);
    hi = named(s, NULL, "to", ex_max(s, lo, hi));
  }
  t->block.lo = lo, t->block.n = where ? named(s, NULL, "n", ex_sub(s, hi, lo)) : hi;
  if (one) return;
  t->block.lo = for_open(s, NULL, "block", lo, hi, d->deep, BIND_SEQ);
  t->block.n = named(s, NULL, "n", ex_min(s, ex_int(s, d->deep), ex_sub(s, hi, t->block.lo)));
}

/* Whether the pack has a panel of the block's own. */
static bool has_panel(const Panel *t, const Pack *k) {
  return k->place != NOWHERE && !(k->lanes ? t->v.shared : t->u.shared);
}

void pack_odd_new(Panel *t) {
  Sched *s = t->s;
  DType acc = t->p->stage->sum->acc;
  const Expr *lanes = ex_int(s, t->v.unit);
  t->test.odd = var_own(s, NULL, "odd", DT_BOOL, 0, NULL, expr_bool(s->x, false));
  bool along = false;
  for (uint32_t k = 0; k < t->n_pack; k++) {
    if ((DType)t->pack[k].of->dtype != acc) return;
    along |= t->pack[k].lanes && !t->pack[k].across;
  }
  if ((acc != DT_F32 && acc != DT_F64) || t->v.flat != NO_LABEL || !along) return;
  t->test.sums = var_own(s, NULL, "odds", acc, 1, &lanes, expr_real(s->x, acc, 0));
}

const Expr *pack_odd_read(Panel *t) {
  Sched *s = t->s;
  const Expr *l, *odd = scalar_read(s, t->test.odd);
  if (t->test.sums == NOWHERE) return odd;
  LoopBody *was = pack_lanes(t, ex_int(s, t->v.unit), &l);
  const Expr *sum = place_read(s, t->test.sums, 1, &l);
  const Expr *is_odd = expr_op2(s->x, OP_NE, sum, expr_real(s->x, (DType)sum->dtype, 0));
  store_add(s, t->test.odd, 0, NULL, expr_op2(s->x, OP_OR, odd, is_odd));
  into(s, was);
  return odd;
}

/* Fills the panels and computes the tiles. The NaN rule of max and min costs as much as the rest, so panels are
 * checked while they are filled. */
static void fill_and_tile(Panel *t) {
  Sched *s = t->s;
  bool looks = pack_looks(t), ahead = pack_looks_shared(t);
  t->test.odd = t->test.sums = NOWHERE;
  if (looks && !ahead) pack_odd_new(t);
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (has_panel(t, &t->pack[k])) pack_fill(t, &t->pack[k]);
  LoopStmt *st = looks ? if_add(s, ahead ? pack_share_odd(t) : pack_odd_read(t)) : NULL;
  LoopBody *was = st ? into(s, &st->body) : s->body;
  t->test.asks = (t->guard || t->zeros) && st;
  pack_tiles(t);
  t->test.asks = false;
  if (st) {
    into(s, &st->other);
    t->test.plain = !t->guard && !t->zeros;
    pack_tiles(t);
    t->test.plain = false;
  }
  into(s, was);
}

/* Shares the block's panels, fills them, and computes the tiles. */
static void deep_block(Panel *t) {
  if (t->v.shared) pack_share_at(t, &t->v);
  if (t->u.shared) pack_share_at(t, &t->u);
  fill_and_tile(t);
}

/* Whether one block may have all points of the reduced labels, which their extents decide when it runs. */
static const Expr *once_if(Panel *t) {
  Sched *s = t->s;
  const PanelDepth *d = &t->depth;
  const Expr *size = t->p->stage->bound[d->cut], *too = d->cut_too == NO_LABEL ? NULL : t->p->stage->bound[d->cut_too];
  if (!t->keep.sums || t->keep.line || d->n_outer || t->p->stage->sum->where || size->kind == EX_INT) return NULL;
  const Expr *when = expr_op2(s->x, OP_LE, size, ex_int(s, d->deep));
  return too ? expr_and(s->x, when, expr_op2(s->x, OP_LE, too, ex_int(s, d->deep_too))) : when;
}

/* All points in one block: tiles store their results, and no sums are kept. */
static void once(Panel *t) {
  Sched *s = t->s;
  const PanelDepth *d = &t->depth;
  t->block.lo = ex_int(s, 0), t->block.n = t->p->stage->bound[d->cut];
  if (d->cut_too != NO_LABEL) t->block.too_lo = ex_int(s, 0), t->block.too_n = t->p->stage->bound[d->cut_too];
  t->keep.once = true;
  deep_block(t);
  t->keep.once = false;
}

static void block(Panel *t) {
  Sched *s = t->s;
  const Expr *domain = t->p->stage->sum->domain, *when = once_if(t);
  LoopBody *was = s->body;
  if (domain && !s->follow.goes_on) { /* what continues is stored everywhere */
    Corners c = corners_of_block(t);
    const Expr *some = where_some(t->e, domain, t->p->n_label, 2, c.of);
    if (some) into(s, &if_add(s, some)->body);
  }
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (has_panel(t, &t->pack[k])) pack_new(t, &t->pack[k]);
  if (when) {
    LoopStmt *st = if_add(s, when);
    into(s, &st->body);
    once(t);
    into(s, &st->other);
  }
  if (t->keep.sums) pack_sums_new(t);
  LoopBody *around = s->body;
  if (!t->deep_rounds) {
    for (uint32_t k = 0; k < t->depth.n_outer; k++) pack_loop_whole(t, t->depth.outer[k]);
    deep_open(t);
    deep_too_open(t);
  }
  deep_block(t);
  into(s, around);
  if (t->keep.sums) pack_sums_store(t);
  into(s, was);
}

void pack_side_block(Panel *t, Side *x, const Expr *number) {
  Sched *s = t->s;
  const char *name = x == &t->v ? "lanes_at" : "rows_at";
  const Expr *size = t->p->stage->bound[x->tile], *wide = ex_int(s, x->unit * x->units), *unit = ex_int(s, x->unit);
  bool one = size->kind == EX_INT && size->i <= wide->i;
  x->lo = one ? ex_int(s, 0) : named(s, NULL, name, ex_mul(s, number, wide));
  if (one) x->n = size;
  else if (size->kind == EX_INT && size->i % wide->i == 0) x->n = wide;
  else x->n = named(s, NULL, "n", ex_min(s, wide, ex_sub(s, size, x->lo)));
  if (x->flat != NO_LABEL) x->tiles = named(s, NULL, "tiles", ex_div_up(s, pack_flat(t, x), unit));
  else x->tiles = x->n->kind == EX_INT ? ex_div_up(s, x->n, unit) : named(s, NULL, "tiles", ex_div_up(s, x->n, unit));
}

static bool is_transposed(const Panel *t, int64_t label) {
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (t->pack[k].transposed == label) return true;
  return false;
}

/* If squares go along the label, a panel may start before the block's own points, so that its squares are whole. */
void pack_part_block(Panel *t, Part *x, const Expr *number) {
  Sched *s = t->s;
  const Expr *size = t->p->stage->bound[x->label], *slots = ex_int(s, x->slots), *zero = ex_int(s, 0);
  Str name = t->p->stage->label[x->label];
  x->lo = named(s, name, "part", ex_mul(s, number, slots));
  if (size->kind == EX_INT && size->i % x->slots == 0) {
    x->slot_lo = x->lo, x->slot_n = slots;
    x->hi = ex_add(s, x->lo, slots);
    return;
  }
  x->hi = named(s, NULL, "part_end", ex_min(s, ex_add(s, x->lo, slots), size));
  if (!is_transposed(t, x->label)) {
    x->slot_lo = x->lo;
    x->slot_n = named(s, NULL, "n", ex_sub(s, x->hi, x->lo));
    return;
  }
  x->slot_n = size->kind == EX_INT ? slots : named(s, NULL, "n", ex_min(s, slots, size));
  x->slot_lo = named(s, NULL, "slots_at", ex_max(s, zero, ex_min(s, x->lo, ex_sub(s, size, slots))));
}

/* How blocks are walked over: by position in the walk, the label and the points per step. */
typedef struct Blocks {
  Walk w;
  uint32_t label[WALK_MOST];
  int64_t step[WALK_MOST];
} Blocks;

static void blocks_add(Panel *t, Blocks *b, uint32_t label, int64_t step) {
  b->label[b->w.n] = label, b->step[b->w.n] = step;
  walk_add(t->s, &b->w, step == 1 ? t->p->stage->label[label] : NULL, pack_cut_parts(t, label, step));
}

/* Sets the side's block to that of the walk. */
static void blocks_at(Panel *t, const Blocks *b, Side *x) {
  PackCut cut[WALK_MOST];
  const Expr *in[WALK_MOST];
  for (uint32_t k = 0, n = pack_cuts(x, cut); k < n; k++)
    for (uint32_t i = 0; i < b->w.n; i++)
      if (b->label[i] == cut[k].label) in[k] = b->w.index[i];
  pack_side_at(t, x, in);
}

/* Finds the block that follows the current one. */
static void next_find(Panel *t, const Blocks *b) {
  bool wanted[WALK_MOST] = {false};
  const Expr *next[WALK_MOST] = {NULL};
  for (uint32_t i = 0; i < t->n_pack; i++)
    for (uint32_t k = 0; k < b->w.n && pack_is_part(&t->v, t->pack[i].transposed); k++)
      wanted[k] |= !expr_is_int(b->w.extent[k], 1) && ex_has_label(t->pack[i].of, b->label[k]);
  walk_next(t->s, &b->w, wanted, next);
  for (uint32_t k = 0; k < b->w.n; k++)
    if (next[k]) t->next.label[b->label[k]] = ex_mul(t->s, next[k], ex_int(t->s, b->step[k]));
}

/* Whether the label is that of a group's rows, whose number is known once the group is. */
static bool of_group(const Panel *t, uint32_t label) { return t->s->grouped && t->s->grouped->row == label; }

static const Expr *block_work(const Panel *t) {
  const StagePlan *p = t->p;
  double points = 2 * (double)p->ops * (double)(t->u.unit * t->u.units * t->v.unit * t->v.units) *
                  pack_near_all(t, &t->u) * pack_near_all(t, &t->v);
  const Expr *work = ex_int(t->s, points < 1e15 ? (int64_t)points : 1000000000000000);
  for (uint32_t k = 0; k < p->n_red; k++) {
    uint32_t l = p->red[k];
    work = ex_mul(t->s, work, of_group(t, l) ? ex_int(t->s, p->size[l]) : p->stage->bound[l]);
  }
  return work;
}

/* Takes up the current group, and opens the loop over the blocks of its rows. */
static void group_open(Panel *t, Blocks *b) {
  Sched *s = t->s;
  grouped_at(s, t->e);
  if (s->grouped->reduced) return;
  blocks_add(t, b, (uint32_t)t->u.tile, t->u.unit * t->u.units);
  uint32_t last = b->w.n - 1;
  b->w.index[last] = for_open(s, NULL, "block", ex_int(s, 0), b->w.extent[last], 1, BIND_SEQ);
}

static void blocks_walk(Panel *t, bool threads) {
  Sched *s = t->s;
  Side *side[] = {&t->v, &t->u};
  Blocks *b = NEW(s->arena, Blocks);
  for (uint32_t k = 0; k < t->n_walk; k++) blocks_add(t, b, t->walk[k], 1);
  for (size_t i = 0; i < COUNT(side); i++)
    for (uint32_t k = 0; k < side[i]->n_part; k++) blocks_add(t, b, side[i]->part[k].label, side[i]->part[k].slots);
  for (size_t i = 0; i < COUNT(side); i++)
    if (!of_group(t, (uint32_t)side[i]->tile)) blocks_add(t, b, (uint32_t)side[i]->tile, side[i]->unit * side[i]->units);
  if (threads) walk_chunks(s, &b->w, block_work(t), BIND_SEQ);
  else walk_plain(s, &b->w, 0, BIND_SEQ);
  for (uint32_t k = 0; k < t->n_common; k++) pack_label_is(t, t->common[k], b->w.index[k]);
  if (s->grouped) group_open(t, b);
  if (t->rounds) t->block.number = walk_number(s, &b->w), pack_round_at(t);
  for (size_t i = 0; i < COUNT(side); i++) blocks_at(t, b, side[i]);
  t->next.wanted = pack_looks_ahead(t) && !t->v.few && !s->grouped;
  if (t->next.wanted) next_find(t, b);
  block(t);
}

static void how_side(const Panel *t, Buf *b, const Side *x, const char *sign) {
  const TaskStage *st = t->p->stage;
  long long n = (long long)(x->flat == NO_LABEL ? x->unit * x->units : t->p->size[x->tile]);
  buf_printf(b, "%s%lld %s", sign, n, how_label(st, x->tile));
  for (uint32_t k = 0; k < x->n_near; k++) {
    if (pack_is_part(x, x->near[k])) buf_printf(b, " %lld", (long long)pack_near_size(t, x, k));
    buf_printf(b, " %s", how_label(st, x->near[k]));
  }
}

static void how_panels(const Panel *t) {
  const TaskStage *st = t->p->stage;
  const PanelDepth *d = &t->depth;
  Buf b = buf_new(t->s->arena);
  buf_printf(&b, "tiles of %lld %s by %lld %s", (long long)t->u.unit, how_label(st, t->u.tile), (long long)t->v.unit,
             how_label(st, t->v.tile));
  if (t->v.flat != NO_LABEL) buf_printf(&b, " and %s", how_label(st, t->v.flat));
  buf_str(&b, " in lanes");
  how_side(t, &b, &t->u, "; panels of ");
  how_side(t, &b, &t->v, " by ");
  buf_printf(&b, " by %lld %s", (long long)d->deep, how_label(st, d->cut));
  for (uint32_t k = 0; k < d->n_inner; k++) {
    if (d->inner[k] == d->cut_too) buf_printf(&b, " %lld", (long long)d->deep_too);
    buf_printf(&b, " %s", how_label(st, d->inner[k]));
  }
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (t->pack[k].place == NOWHERE) buf_str(&b, ", rows where they lie");
  if (t->zeros) buf_str(&b, ", without their zeros");
  if (t->keep.held) buf_str(&b, ", streamed by tiles");
  if (t->keep.along) buf_printf(&b, ", one after the other along %s", how_label(st, t->v.tile));
  if (t->u.shared || t->v.shared)
    buf_printf(&b, ", %s filled ahead%s",
        t->u.shared && t->v.shared ? "all"
            : t->u.shared          ? "those of rows"
                                   : "those of lanes",
        t->rounds ? ", in rounds" : "");
  how_add(t->s, st, "%s", b.s);
}

void pack_make(Panel *t, bool threads) {
  if (!t->aside && !t->s->grouped && (pack_cross(t, threads) || pack_joint(t, threads))) return;
  pack_units_choose(t);
  pack_along_choose(t);
  pack_share_choose(t, threads);
  pack_walk_choose(t);
  if (!t->s->grouped) pack_comes_choose(t);
  how_panels(t);
  LoopBody *was = t->s->body;
  if (t->rounds) pack_round_open(t);
  pack_share_fill(t);
  blocks_walk(t, threads);
  into(t->s, was);
}

/* The plan for tiles in place: points of the sum are few if they are unknown. */
static StagePlan plan_few(Sched *s, const StagePlan *p) {
  StagePlan few = *p;
  few.size = arena_copy(s->arena, p->size, (p->n_label + 1) * sizeof *p->size);
  for (uint32_t k = 0; k < p->n_red; k++)
    if (!p->exact[p->red[k]]) few.size[p->red[k]] = 1, few.few = true;
  return few;
}

/* If extents tell only at run time that there are too few rows, or points of the sum, for panels: makes tiles that read
 * in place too, with the condition for them. Leaves the opposite condition for panels. */
static void few_loops(Panel *t, bool threads) {
  Sched *s = t->s;
  const Expr *few, *enough;
  LoopBody *was = s->body;
  if (!threads || s->when || !pack_few(t, &few, &enough)) return; /* two versions are enough */
  StagePlan p = plan_few(s, t->p);
  Env own = *t->e;
  own.label = arena_copy(s->arena, own.label, (p.n_label + 1) * sizeof *own.label);
  s->when = few;
  s->ahead = "few rows or points: ";
  bool made = tile_loops(s, &p, &own, true, false);
  s->ahead = NULL;
  s->when = made ? enough : NULL;
  into(s, was);
}

bool pack_loops(Sched *s, const StagePlan *p, Env *e, bool threads) {
  Panel *t = pack_choose(s, p, e);
  if (!t) return false;
  const Expr *when = s->when;
  few_loops(t, threads);
  pack_make(t, threads);
  s->when = when;
  return true;
}
