/* codegen/schedule/cpu/panels/share.c - panels that all threads share. If the other side has many blocks, each would
 * fill the panel again. Instead threads fill all blocks of a side once, before the tiles, into a work buffer that
 * lives for this step only.
 *
 * So that it does not hold copies of both factors, that goes in rounds. A side's blocks are cut into lots of about 1024
 * rows or lanes. For each pair of lots their panels are filled, then their tiles computed: a panel is filled once for
 * each lot of the other side, which costs little. If the reduced labels are cut into several blocks, a round may have
 * one of these: its tiles are added to the sums of all results of the two lots. */
#include <math.h>
#include <string.h>

#include "panels.h"

enum {
  FILLS = 3,                       /* least number of fills that it saves: shared panels come from further away */
  USED_ENOUGH = 512,               /* rows or lanes of a block that make refilling for each cost next to nothing */
  SHARED_BYTES = 16 * 1024 * 1024, /* of a side, at most: half of the last-level cache */
  BLOCK_LEAST = 1 << 15,           /* operations of a block that are worth its loops */
  ROUND_BYTES = 1 << 20,           /* that rounds save at least, */
  ROUND_SHARE = 4,                 /*   and one part of so many, */
  ROUND_OPS = 1 << 25,             /* operations of a round, which are worth its two barriers */
  LOT = 1024,                      /* rows or lanes of a lot, */
  LOT_BYTES = 512 * 1024,          /*   or bytes of its panels if that is more; */
  LOT_ROWS = 64, LOT_LANES = 128   /*   of its blocks, at most */
};

static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* ---- when it applies --------------------------------------------------------------------------------------------- */

uint32_t pack_cuts(const Side *x, PackCut *cut) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < x->n_far; k++) cut[n++] = (PackCut){x->far[k], 1};
  for (uint32_t k = 0; k < x->n_part; k++) cut[n++] = (PackCut){x->part[k].label, x->part[k].slots};
  cut[n++] = (PackCut){(uint32_t)x->tile, x->unit * x->units};
  return n;
}

static int64_t parts_all(const Panel *t, PackCut c) { return up(t->p->size[c.label], c.step); }

/* The parts of cut label k in a lot. */
static int64_t parts_of(const Panel *t, const Side *x, const PackCut *cut, uint32_t k) {
  return !x->few || k > x->lot ? parts_all(t, cut[k]) : k < x->lot ? 1 : x->few;
}

/* The blocks of a lot. */
static double blocks_of(const Panel *t, const Side *x) {
  PackCut cut[WALK_MOST];
  double n = 1;
  for (uint32_t k = 0, all = pack_cuts(x, cut); k < all; k++) n *= (double)parts_of(t, x, cut, k);
  return n;
}

static int64_t lots_of(const Panel *t, const Side *x) {
  PackCut cut[WALK_MOST];
  int64_t n = 1;
  pack_cuts(x, cut);
  for (uint32_t k = 0; x->few && k <= x->lot; k++) n *= up(parts_all(t, cut[k]), parts_of(t, x, cut, k));
  return n;
}

static bool has_lots(const Panel *t) { return t->u.few || t->v.few; }

/* The number of blocks of the reduced labels. */
static double blocks_deep(const Panel *t) {
  return pack_product(t->p, t->depth.n_outer, t->depth.outer) * (double)up(t->p->size[t->depth.cut], t->depth.deep);
}

/* Bytes of all panels of a side in a lot; infinite if they cannot be shared. */
static double side_bytes(const Panel *t, const Side *x) {
  double bytes = 0;
  for (uint32_t i = 0; i < t->n_pack; i++) {
    const Pack *k = &t->pack[i];
    if (k->lanes != (x == &t->v)) continue;
    if (k->place == NOWHERE || !loop_lies_alike((DType)k->of->dtype)) return INFINITY;
    double n = (double)dtype_size((DType)k->of->dtype) * pack_near_all(t, x) * (double)(x->unit * x->units);
    for (uint32_t r = 0; r < k->n_red; r++)
      n *= k->red[r] == t->depth.cut ? (double)t->depth.deep : (double)t->p->size[k->red[r]];
    bytes += n * blocks_of(t, x) * blocks_deep(t);
  }
  return bytes > 0 ? bytes : INFINITY;
}

static bool all_exact(const StagePlan *p) {
  for (uint32_t l = 0; l < p->n_label; l++)
    if (!p->exact[l]) return false;
  return true;
}

/* Whether panels of the side serve enough blocks of the other one, and fit. */
static bool pays(const Panel *t, const Side *x, const Side *other, double rounds) {
  double uses = pack_near_all(t, other) * (double)(other->unit * other->units);
  return uses < (double)USED_ENOUGH && blocks_of(t, other) >= (double)FILLS &&
      side_bytes(t, x) <= rounds * (double)SHARED_BYTES;
}

static void sides_choose(Panel *t, double rounds) {
  t->u.shared = pays(t, &t->u, &t->v, rounds);
  t->v.shared = pays(t, &t->v, &t->u, rounds);
}

/* Rows and lanes of a pair of lots, as they are kept. */
static double results_kept(const Panel *t) {
  const Side *side[] = {&t->u, &t->v};
  double n = 1;
  for (int i = 0; i < 2; i++)
    n *= blocks_of(t, side[i]) * pack_near_all(t, side[i]) * (double)(side[i]->unit * side[i]->units);
  return n;
}

static double sums_bytes(const Panel *t) { return results_kept(t) * (double)dtype_size(t->p->stage->sum->acc); }

static double panels_bytes(const Panel *t) {
  return (t->u.shared ? side_bytes(t, &t->u) : 0) + (t->v.shared ? side_bytes(t, &t->v) : 0);
}

/* Bytes that threads share. */
static double shared_bytes(const Panel *t) {
  return t->deep_rounds ? panels_bytes(t) / blocks_deep(t) + sums_bytes(t) : panels_bytes(t);
}

static bool saves(double was, double now) {
  return was - now >= (double)ROUND_BYTES && (was - now) * (double)ROUND_SHARE >= was;
}

/* Whether a round has one block of the reduced labels: all of them together take much more memory than the sums. */
static bool is_deep(const Panel *t) {
  const EinSum *sum = t->p->stage->sum;
  if (!t->keep.sums || t->keep.line || t->thin || red_is_arg(sum) || !loop_lies_alike(sum->acc)) return false;
  double all = panels_bytes(t);
  return saves(all, all / blocks_deep(t) + sums_bytes(t)) &&
      results_kept(t) * pack_points(t) >= (double)ROUND_OPS;
}

/* Panels that all threads share serve blocks of any size: with smaller ones, a lot has enough for the threads. */
static void blocks_shrink(const Panel *t, Side *x, int64_t most) {
  int64_t size = t->p->size[x->tile];
  if (!x->n_near && !x->n_part && x->flat == NO_LABEL && x->unit * x->units > most)
    x->units = up(up(size, up(size, most)), x->unit);
}

/* Cuts a side into lots of about LOT rows or lanes, or of LOT_BYTES. */
static void lot_choose(const Panel *t, Side *x) {
  PackCut cut[WALK_MOST];
  double points = pack_near_all(t, x) * (double)(x->unit * x->units), all = points * blocks_of(t, x),
         bytes = side_bytes(t, x) / blocks_deep(t), want = fmax((double)LOT, (double)LOT_BYTES / bytes * all);
  for (uint32_t k = pack_cuts(x, cut); k-- > 0;) {
    int64_t parts = parts_all(t, cut[k]), lots = (int64_t)(points * (double)parts / want + 0.5);
    if (lots > 1) {
      x->lot = k, x->few = up(parts, lots < parts ? lots : parts);
      return;
    }
    points *= (double)parts;
  }
}

/* Cuts both sides into lots if that saves memory. With as many rows and lanes, filling each panel again for each lot of
 * the other side costs little. */
static void lots_choose(Panel *t) {
  Side *side[] = {&t->u, &t->v}, was[] = {t->u, t->v};
  bool deep = t->deep_rounds;
  double bytes = shared_bytes(t);
  if (t->thin) return;
  blocks_shrink(t, &t->u, LOT_ROWS);
  blocks_shrink(t, &t->v, LOT_LANES);
  for (size_t i = 0; i < COUNT(side); i++) {
    side[i]->shared = isfinite(side_bytes(t, side[i]));
    if (side[i]->shared) lot_choose(t, side[i]);
  }
  t->deep_rounds = is_deep(t);
  double ops = results_kept(t) * (t->deep_rounds ? 1 : blocks_deep(t)) * pack_points(t);
  if (has_lots(t) && saves(bytes, shared_bytes(t)) && ops >= (double)ROUND_OPS) return;
  t->u = was[0], t->v = was[1], t->deep_rounds = deep;
}

void pack_share_choose(Panel *t, bool threads) {
  const EinSum *sum = t->p->stage->sum;
  if (!threads || t->s->body != &t->s->k->body || t->n_common || sum->where || sum->domain ||
      (pack_looks(t) && !t->guard && !t->zeros) || !all_exact(t->p))
    return;
  if (t->depth.cut_too != NO_LABEL) return;
  sides_choose(t, blocks_deep(t));
  t->deep_rounds = is_deep(t);
  if (!t->deep_rounds) sides_choose(t, 1);
  if (t->u.shared || t->v.shared) lots_choose(t);
  t->rounds = t->deep_rounds || has_lots(t);
}

/* ---- in which order ---------------------------------------------------------------------------------------------- */

/* Where the result has the label among its indices; outside of all: it has none. */
static uint32_t place_of(const TaskStage *st, uint32_t label) {
  uint32_t k = 0;
  while (k < st->n_at && (st->at[k]->kind != EX_LABEL || st->at[k]->i != label)) k++;
  return k < st->n_at ? k + 1 : 0;
}

/* Whether the lanes end within a line of the result, which the rows' side goes on with outside of the block. */
static bool leaves_lines(const Panel *t) {
  const TaskStage *st = t->p->stage;
  if (st->n_at < 2 || st->buffer < 0) return false;
  if (st->at[st->n_at - 1]->kind != EX_LABEL || st->at[st->n_at - 2]->kind != EX_LABEL) return false;
  return st->at[st->n_at - 1]->i == t->v.tile && t->p->size[t->v.tile] * dtype_size(st->sum->dtype) % PACK_LINE != 0 &&
         number_among(t->u.n_far, t->u.far, st->at[st->n_at - 2]->i);
}

static void near_to_far(Panel *t, Side *x) {
  uint32_t *far = COPY_ARRAY(t->s->arena, uint32_t, x->far, x->n_far, x->n_far + x->n_near + 1);
  memcpy(far + x->n_far, x->near, x->n_near * sizeof *far);
  x->far = far, x->n_far += x->n_near, x->n_near = 0;
}

static void walk_by_result(Panel *t) {
  for (uint32_t k = 1; k < t->n_walk; k++) {
    uint32_t label = t->walk[k], at = k, place = place_of(t->p->stage, label);
    for (; at && place_of(t->p->stage, t->walk[at - 1]) > place; at--) t->walk[at] = t->walk[at - 1];
    t->walk[at] = label;
  }
}

/* Usually blocks that read the same panels follow one another. Where all panels are filled ahead, reading them again
 * costs little; then blocks follow one another as they lie in the result, so that those that share its lines do. */
void pack_walk_choose(Panel *t) {
  Side *u = &t->u, *v = &t->v;
  double work = 2 * (double)t->p->ops * (double)(u->unit * u->units * v->unit * v->units) * pack_points(t);
  bool stores = u->shared && v->shared && leaves_lines(t) && !u->n_part && !v->n_part && v->flat == NO_LABEL &&
                !t->keep.sums && !t->keep.line && !t->keep.held && !has_lots(t) && work >= (double)BLOCK_LEAST;
  if (stores) near_to_far(t, u), near_to_far(t, v);
  t->walk = NEW_ARRAY(t->s->arena, uint32_t, t->n_common + v->n_far + u->n_far + 1);
  for (uint32_t k = 0; k < t->n_common; k++) t->walk[t->n_walk++] = t->common[k];
  for (uint32_t k = 0; k < v->n_far; k++) t->walk[t->n_walk++] = v->far[k];
  for (uint32_t k = 0; k < u->n_far; k++) t->walk[t->n_walk++] = u->far[k];
  if (stores) walk_by_result(t);
}

/* ---- which block ------------------------------------------------------------------------------------------------- */

static const Expr *blocks_along(Panel *t, int64_t label, int64_t n) {
  return ex_div_up(t->s, t->p->stage->bound[label], ex_int(t->s, n));
}

static void count_on(Sched *s, const Expr **n, const Expr *extent, const Expr *at) {
  if (!expr_is_int(extent, 1)) *n = ex_add(s, ex_mul(s, *n, extent), at);
}

const Expr *pack_cut_parts(Panel *t, uint32_t label, int64_t step) {
  const Side *side[] = {&t->u, &t->v};
  PackCut cut[WALK_MOST];
  for (size_t i = 0; i < COUNT(side); i++)
    for (uint32_t k = 0, n = pack_cuts(side[i], cut); side[i]->few && k < n && k <= side[i]->lot; k++)
      if (cut[k].label == label) return ex_int(t->s, parts_of(t, side[i], cut, k));
  return step == 1 ? t->p->stage->bound[label] : blocks_along(t, label, step);
}

/* The part's number in the whole; opens `if` it exists, where the last lot has fewer. */
static const Expr *part_at(Panel *t, const Side *x, const PackCut *cut, uint32_t k, const Expr *in) {
  Sched *s = t->s;
  if (!x->few || k > x->lot) return in;
  int64_t all = parts_all(t, cut[k]);
  const Expr *at = named(s, NULL, "block", ex_add(s, x->first[k], in));
  if (all % parts_of(t, x, cut, k)) into(s, &if_add(s, expr_op2(s->x, OP_LT, at, ex_int(s, all)))->body);
  return at;
}

void pack_side_at(Panel *t, Side *x, const Expr *const *in) {
  PackCut cut[WALK_MOST];
  uint32_t n = pack_cuts(x, cut);
  x->in = arena_copy(t->s->arena, in, n * sizeof *in);
  for (uint32_t k = 0; k < n; k++) {
    const Expr *at = part_at(t, x, cut, k, in[k]);
    if (k + 1 == n) pack_side_block(t, x, at);
    else if (k >= x->n_far) pack_part_block(t, &x->part[k - x->n_far], at);
    else pack_label_is(t, cut[k].label, at);
  }
}

void pack_share_at(Panel *t, Side *x) {
  Sched *s = t->s;
  const PanelDepth *d = &t->depth;
  const Expr *n = ex_int(s, 0), *const *bound = t->p->stage->bound;
  PackCut cut[WALK_MOST];
  for (uint32_t k = 0, all = pack_cuts(x, cut); k < all; k++)
    count_on(s, &n, pack_cut_parts(t, cut[k].label, cut[k].step), x->in[k]);
  for (uint32_t k = 0; k < d->n_outer && !t->deep_rounds; k++)
    count_on(s, &n, bound[d->outer[k]], t->e->label[d->outer[k]]);
  if (!t->deep_rounds)
    count_on(s, &n, blocks_along(t, d->cut, d->deep), expr_op2(s->x, OP_IDIV, t->block.lo, ex_int(s, d->deep)));
  x->block = named(s, NULL, "panel", n);
}

int64_t pack_share_blocks(const Panel *t, const Side *x) {
  return (int64_t)(blocks_of(t, x) * (t->deep_rounds ? 1 : blocks_deep(t)));
}

int64_t pack_blocks(const Panel *t) { return (int64_t)(blocks_of(t, &t->u) * blocks_of(t, &t->v)); }

/* ---- odd elements ------------------------------------------------------------------------------------------------ */

/* The side that a guard does not exclude from the test. */
static const Side *side_tested(const Panel *t) {
  for (uint32_t k = 0; pack_looks(t) && (t->guard || t->zeros) && k < t->n_pack; k++)
    if (!pack_guards(t, &t->pack[k])) return t->pack[k].lanes ? &t->v : &t->u;
  return NULL;
}

bool pack_looks_shared(const Panel *t) {
  const Side *x = side_tested(t);
  return x && x->shared;
}

const Expr *pack_share_odd(Panel *t) {
  return place_read(t->s, t->test.ahead, 1, &side_tested(t)->block);
}

/* ---- a whole side ------------------------------------------------------------------------------------------------ */

static void walk_deep(Panel *t, Walk *w) {
  const PanelDepth *d = &t->depth;
  const Expr *const *bound = t->p->stage->bound;
  for (uint32_t k = 0; k < d->n_outer; k++) walk_add(t->s, w, t->p->stage->label[d->outer[k]], bound[d->outer[k]]);
  walk_add(t->s, w, NULL, blocks_along(t, d->cut, d->deep));
}

/* Sets the block of the reduced labels whose position is at index[0] and behind. */
static void deep_is(Panel *t, const Expr *const *index) {
  Sched *s = t->s;
  const PanelDepth *d = &t->depth;
  uint32_t n = 0;
  for (uint32_t k = 0; k < d->n_outer; k++) pack_label_is(t, d->outer[k], index[n++]);
  const Expr *hi = t->p->stage->bound[d->cut], *deep = ex_int(s, d->deep);
  bool one = hi->i <= d->deep;
  t->block.lo = one ? ex_int(s, 0) : named(s, NULL, "block", ex_mul(s, index[n], deep));
  t->block.n = one ? hi : named(s, NULL, "n", ex_min(s, deep, ex_sub(s, hi, t->block.lo)));
}

/* The number of rounds in which a pair of lots is computed. */
static int64_t rounds_deep(const Panel *t) { return t->deep_rounds ? (int64_t)blocks_deep(t) : 1; }

void pack_round_open(Panel *t) {
  Sched *s = t->s;
  const Expr *rounds = ex_int(s, lots_of(t, &t->u) * lots_of(t, &t->v) * rounds_deep(t));
  t->block.round = for_open(s, NULL, has_lots(t) ? "round" : "deep", ex_int(s, 0), rounds, 1, BIND_ROUND);
}

/* Sets the current lots, those of rows counting fastest. */
static void lots_at(Panel *t) {
  Sched *s = t->s;
  Side *side[] = {&t->v, &t->u};
  Walk *w = NEW(s->arena, Walk);
  PackCut cut[WALK_MOST];
  for (size_t i = 0; i < COUNT(side); i++) {
    const Side *x = side[i];
    pack_cuts(x, cut);
    for (uint32_t k = 0; x->few && k <= x->lot; k++)
      walk_add(s, w, NULL, ex_int(s, up(parts_all(t, cut[k]), parts_of(t, x, cut, k))));
  }
  walk_count(s, w, w->n, t->block.lots);
  for (size_t i = 0, n = 0; i < COUNT(side); i++) {
    Side *x = side[i];
    x->first = NEW_ARRAY(s->arena, const Expr *, x->lot + 1);
    for (uint32_t k = 0; x->few && k <= x->lot; k++)
      x->first[k] = ex_mul(s, w->index[n++], ex_int(s, k == x->lot ? x->few : 1));
  }
}

void pack_round_at(Panel *t) {
  Sched *s = t->s;
  Walk *w = NEW(s->arena, Walk);
  const Expr *deep = ex_int(s, rounds_deep(t)), *round = t->block.round;
  bool lots = has_lots(t);
  t->block.deep = !lots ? round : named(s, NULL, "deep", expr_op2(s->x, OP_MOD, round, deep));
  t->block.lots = expr_is_int(deep, 1) ? round : named(s, NULL, "lots", expr_op2(s->x, OP_IDIV, round, deep));
  if (lots) lots_at(t);
  if (!t->deep_rounds) return;
  walk_deep(t, w);
  walk_count(s, w, w->n, t->block.deep);
  deep_is(t, w->index);
}

LoopBody *pack_round_is(Panel *t, bool last) {
  const Expr *deep = ex_int(t->s, last ? (int64_t)blocks_deep(t) - 1 : 0);
  return into(t->s, &if_add(t->s, expr_op2(t->s->x, OP_EQ, t->block.deep, deep))->body);
}

/* Opens block f, counted over the side's blocks and, unless those of the reduced labels are in rounds, over these. */
static void block_open(Panel *t, Side *x, const Expr *f) {
  Sched *s = t->s;
  Walk *w = NEW(s->arena, Walk);
  PackCut cut[WALK_MOST];
  uint32_t n = pack_cuts(x, cut);
  for (uint32_t k = 0; k < n; k++)
    walk_add(s, w, k < x->n_far ? t->p->stage->label[x->far[k]] : NULL, pack_cut_parts(t, cut[k].label, cut[k].step));
  if (!t->deep_rounds) walk_deep(t, w);
  walk_count(s, w, w->n, f);
  if (t->rounds) pack_round_at(t);
  pack_side_at(t, x, w->index);
  if (!t->deep_rounds) deep_is(t, w->index + n);
  x->block = f;
}

/* Opens `if` the side's panels are not those of the round before, which stay where the reduced labels are not in
 * rounds: those of lanes while the lot of rows changes, those of rows if there is one lot. */
static void changed_open(Panel *t, const Side *x) {
  Sched *s = t->s;
  int64_t lots = lots_of(t, &t->u);
  if (!t->rounds || t->deep_rounds || (x == &t->v) == (lots == 1)) return;
  const Expr *lot = lots == 1 ? t->block.round : expr_op2(s->x, OP_MOD, t->block.round, ex_int(s, lots));
  into(s, &if_add(s, expr_op2(s->x, OP_EQ, lot, ex_int(s, 0)))->body);
}

static void side_fill(Panel *t, Side *x, const Expr *f) {
  Sched *s = t->s;
  LoopBody *was = s->body;
  bool tested = side_tested(t) == x;
  changed_open(t, x);
  block_open(t, x, f);
  if (tested) pack_odd_new(t);
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (t->pack[k].lanes == (x == &t->v)) pack_fill(t, &t->pack[k]);
  if (tested) store_add(s, t->test.ahead, 1, &x->block, pack_odd_read(t));
  t->test.odd = t->test.sums = NOWHERE;
  into(s, was);
}

static void side_new(Panel *t, const Side *x) {
  const Expr *panels = x->shared && side_tested(t) == x ? ex_int(t->s, pack_share_blocks(t, x)) : NULL;
  if (panels) t->test.ahead = place_shared(t->s, "odd", DT_BOOL, 1, &panels);
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (x->shared && t->pack[k].lanes == (x == &t->v)) pack_new(t, &t->pack[k]);
}

/* Fills both sides in one loop, so that there is one barrier. */
void pack_share_fill(Panel *t) {
  Sched *s = t->s;
  Side *u = &t->u, *v = &t->v;
  if (!u->shared && !v->shared) return;
  LoopBody *was = s->body;
  t->test.odd = t->test.sums = NOWHERE;
  side_new(t, v);
  side_new(t, u);
  const Expr *lanes = ex_int(s, v->shared ? pack_share_blocks(t, v) : 0),
             *rows = ex_int(s, u->shared ? pack_share_blocks(t, u) : 0);
  const Expr *f = for_open(s, NULL, "panel", ex_int(s, 0), ex_add(s, lanes, rows), 1, BIND_THREAD);
  LoopStmt *st = u->shared && v->shared ? if_add(s, expr_op2(s->x, OP_LT, f, lanes)) : NULL;
  if (st) into(s, &st->body);
  if (v->shared) side_fill(t, v, f);
  if (st) into(s, &st->other);
  if (u->shared) side_fill(t, u, named(s, NULL, "f", ex_sub(s, f, lanes)));
  into(s, was);
}
