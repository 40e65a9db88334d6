/* codegen/schedule/cpu/panels/share.c - panels that all threads share. If the other side has many blocks, each would
 * fill the panel again. Instead threads fill all blocks of a side once, before the tiles, into a work buffer that
 * lives for this step only. If the reduced labels are cut into several blocks, that may go in rounds: of each, all
 * panels are filled, then all tiles added to the sums, which are then kept for the whole result. So the work buffer
 * holds one block of the reduced labels. */
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
  ROUND_OPS = 1 << 25              /* operations of a round, which are worth its two barriers */
};

static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* ---- when it applies --------------------------------------------------------------------------------------------- */

static double blocks_of(const Panel *t, const Side *x) {
  const StagePlan *p = t->p;
  double n = pack_product(p, x->n_far, x->far) * (double)up(p->size[x->tile], x->unit * x->units);
  for (uint32_t k = 0; k < x->n_part; k++) n *= (double)up(p->size[x->part[k].label], x->part[k].slots);
  return n;
}

/* The number of blocks of the reduced labels. */
static double blocks_deep(const Panel *t) {
  return pack_product(t->p, t->depth.n_outer, t->depth.outer) * (double)up(t->p->size[t->depth.cut], t->depth.deep);
}

/* Bytes of all panels of a side; infinite if they cannot be shared. */
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

static bool pays(const Panel *t, const Side *x, const Side *other, double rounds) {
  double uses = pack_near_all(t, other) * (double)(other->unit * other->units);
  return uses < (double)USED_ENOUGH && blocks_of(t, other) >= (double)FILLS &&
      side_bytes(t, x) <= rounds * (double)SHARED_BYTES;
}

static void sides_choose(Panel *t, double rounds) {
  t->u.shared = pays(t, &t->u, &t->v, rounds);
  t->v.shared = pays(t, &t->v, &t->u, rounds);
}

/* Rows and lanes of all blocks, as they are kept. */
static double results_kept(const Panel *t) {
  const Side *side[] = {&t->u, &t->v};
  double n = 1;
  for (int i = 0; i < 2; i++)
    n *= blocks_of(t, side[i]) * pack_near_all(t, side[i]) * (double)(side[i]->unit * side[i]->units);
  return n;
}

/* Whether panels are filled in rounds: they take much more memory than the sums of all results. */
static bool goes_in_rounds(const Panel *t) {
  const EinSum *sum = t->p->stage->sum;
  double rounds = blocks_deep(t), ops = results_kept(t) * pack_points(t), all = 0;
  if (!t->keep.sums || t->keep.line || t->thin || red_is_arg(sum) || !loop_lies_alike(sum->acc)) return false;
  if (t->u.shared) all += side_bytes(t, &t->u);
  if (t->v.shared) all += side_bytes(t, &t->v);
  double saved = all * (1 - 1 / rounds) - results_kept(t) * (double)dtype_size(sum->acc);
  return saved >= (double)ROUND_BYTES && saved * (double)ROUND_SHARE >= all && ops >= (double)ROUND_OPS;
}

void pack_share_choose(Panel *t, bool threads) {
  const EinSum *sum = t->p->stage->sum;
  if (!threads || t->s->body != &t->s->k->body || t->n_common || sum->where || sum->domain ||
      (pack_looks(t) && !t->guard && !t->zeros) || !all_exact(t->p))
    return;
  if (t->depth.cut_too != NO_LABEL) return;
  sides_choose(t, blocks_deep(t));
  t->rounds = goes_in_rounds(t);
  if (!t->rounds) sides_choose(t, 1);
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
  uint32_t *far = NEW_ARRAY(t->s->arena, uint32_t, x->n_far + x->n_near + 1);
  memcpy(far, x->far, x->n_far * sizeof *far);
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
                !t->keep.sums && !t->keep.line && !t->keep.held && work >= (double)BLOCK_LEAST;
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

void pack_share_at(Panel *t, Side *x) {
  Sched *s = t->s;
  const PanelDepth *d = &t->depth;
  const Expr *n = ex_int(s, 0), *const *bound = t->p->stage->bound;
  for (uint32_t k = 0; k < x->n_far; k++) count_on(s, &n, bound[x->far[k]], t->e->label[x->far[k]]);
  for (uint32_t k = 0; k < x->n_part; k++)
    count_on(s, &n, blocks_along(t, x->part[k].label, x->part[k].slots), x->part[k].number);
  count_on(s, &n, blocks_along(t, x->tile, x->unit * x->units), x->number);
  for (uint32_t k = 0; k < d->n_outer && !t->rounds; k++)
    count_on(s, &n, bound[d->outer[k]], t->e->label[d->outer[k]]);
  if (!t->rounds)
    count_on(s, &n, blocks_along(t, d->cut, d->deep), expr_op2(s->x, OP_IDIV, t->block.lo, ex_int(s, d->deep)));
  x->block = named(s, NULL, "panel", n);
}

int64_t pack_share_blocks(const Panel *t, const Side *x) {
  return (int64_t)(blocks_of(t, x) * (t->rounds ? 1 : blocks_deep(t)));
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

void pack_round_open(Panel *t) {
  Sched *s = t->s;
  const Expr *rounds = ex_int(s, (int64_t)blocks_deep(t));
  uint32_t v = var_new(s, NULL, "deep");
  into(s, &for_add(s, v, ex_int(s, 0), rounds, 1, BIND_ROUND)->body);
  t->block.round = var_read(s, v);
}

void pack_round_at(Panel *t) {
  Walk *w = NEW(t->s->arena, Walk);
  walk_deep(t, w);
  walk_count(t->s, w, w->n, t->block.round);
  deep_is(t, w->index);
}

LoopBody *pack_round_is(Panel *t, bool last) {
  const Expr *round = ex_int(t->s, last ? (int64_t)blocks_deep(t) - 1 : 0);
  return into(t->s, &if_add(t->s, expr_op2(t->s->x, OP_EQ, t->block.round, round))->body);
}

/* Opens block f, counted over the side's blocks and, without rounds, those of the reduced labels. */
static void block_open(Panel *t, Side *x, const Expr *f) {
  Sched *s = t->s;
  const Expr *const *bound = t->p->stage->bound;
  Walk *w = NEW(s->arena, Walk);
  uint32_t n = 0;
  for (uint32_t k = 0; k < x->n_far; k++) walk_add(s, w, t->p->stage->label[x->far[k]], bound[x->far[k]]);
  for (uint32_t k = 0; k < x->n_part; k++) walk_add(s, w, NULL, blocks_along(t, x->part[k].label, x->part[k].slots));
  walk_add(s, w, NULL, blocks_along(t, x->tile, x->unit * x->units));
  if (!t->rounds) walk_deep(t, w);
  walk_count(s, w, w->n, f);
  for (uint32_t k = 0; k < x->n_far; k++) pack_label_is(t, x->far[k], w->index[n++]);
  for (uint32_t k = 0; k < x->n_part; k++) pack_part_block(t, &x->part[k], w->index[n++]);
  pack_side_block(t, x, w->index[n++]);
  if (t->rounds) pack_round_at(t);
  else deep_is(t, w->index + n);
  x->block = f;
}

static void side_fill(Panel *t, Side *x, const Expr *f) {
  Sched *s = t->s;
  LoopBody *was = s->body;
  bool tested = side_tested(t) == x;
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
  uint32_t c = var_new(s, NULL, "panel");
  into(s, &for_add(s, c, ex_int(s, 0), ex_add(s, lanes, rows), 1, BIND_THREAD)->body);
  const Expr *f = var_read(s, c);
  LoopStmt *st = u->shared && v->shared ? if_add(s, expr_op2(s->x, OP_LT, f, lanes)) : NULL;
  if (st) into(s, &st->body);
  if (v->shared) side_fill(t, v, f);
  if (st) into(s, &st->other);
  if (u->shared) side_fill(t, u, named(s, NULL, "f", ex_sub(s, f, lanes)));
  into(s, was);
}
