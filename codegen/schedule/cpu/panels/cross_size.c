/* codegen/schedule/cpu/panels/cross_size.c - contractions whose result is transposed: whether one qualifies, and the
 * sizes of its blocks and tiles. */
#include "cross.h"

enum {
  LINE = PACK_LINE,
  NEAREST = 32 * 1024,       /* bytes of the first-level cache, which holds the small side, */
  KEPT = 384 * 1024,         /*   and of the kept results in the second, beside the points of X that come next */
  LEAST = 16 * 1024,         /* bytes of X: a smaller X is in cache in any order */
  RUN = 1024,                /* bytes of X that suffice as a contiguous run; */
  RESULT_MOST = 2,           /* elements of the result for one of X, at most */
  DEEP_MOST = 1024,          /* points of a sum, at most */
  PARTS = 4,                 /* least number of blocks for threads */
  WAY = 4096,                /* bytes: addresses this far apart map to the same set of the first-level cache, */
  WAYS = 8                   /*   which holds so many lines of them */
};

#define LOAD 0.25            /* cost of a tile's load, in multiply-adds of a vector: from the first-level cache, */
#define LOAD_FAR 0.75        /*   and from the second */

/* ---- when it applies --------------------------------------------------------------------------------------------- */

static bool all_exact(const StagePlan *p, uint32_t n, const uint32_t *label) {
  for (uint32_t k = 0; k < n; k++)
    if (!p->exact[label[k]]) return false;
  return true;
}

/* Whether e is a read of a tensor in which each index is a different label. */
static bool is_read_plainly(const Panel *t, const Expr *e) {
  if (e->kind != EX_READ || !e->n || t->p->stage->slot[e->i].kept) return false;
  for (uint32_t k = 0; k < e->n; k++)
    for (uint32_t i = 0; i <= k; i++)
      if (e->arg[i]->kind != EX_LABEL || (i < k && e->arg[i] == e->arg[k])) return false;
  return true;
}

/* Finds X and the small side; false: there are none. */
static bool packs_find(Cross *c) {
  Panel *t = c->t;
  if (!pack_is_two(t)) return false;
  c->big = &t->pack[t->pack[0].lanes ? 0 : 1], c->small = &t->pack[t->pack[0].lanes ? 1 : 0];
  return is_read_plainly(t, c->big->of);
}

/* Finds X's label in tiles, the small side's, and which of them is in lanes; false: labels do not fit. */
static bool labels_find(Cross *c) {
  Panel *t = c->t;
  const StagePlan *p = t->p;
  const Expr *of = c->big->of;
  uint32_t *side = NEW_ARRAY(t->s->arena, uint32_t, p->n_label + 1), n = side_labels(&t->v, side),
           last = (uint32_t)of->arg[of->n - 1]->i;
  c->a = (uint32_t)t->v.tile, c->own = NOWHERE;
  if (last == c->a || pack_moves(of, c->a) >= 0) return false;
  bool lanes = number_among(n, side, last);
  if (!lanes && !number_among(p->n_red, p->red, last)) return false;
  for (uint32_t k = of->n; k-- > 0 && c->own == NOWHERE;)
    if (of->arg[k]->i != c->a && number_among(n, side, of->arg[k]->i)) c->own = (uint32_t)of->arg[k]->i;
  if (c->own == NOWHERE) return false;
  c->far = NEW_ARRAY(t->s->arena, uint32_t, p->n_label + 1);
  for (uint32_t k = 0; k < of->n; k++) {
    uint32_t label = (uint32_t)of->arg[k]->i;
    if (label != c->a && label != c->own && number_among(n, side, label)) c->far[c->n_far++] = label;
  }
  if (c->n_far + 2 != n) return false;
  c->rest = NEW_ARRAY(t->s->arena, uint32_t, p->n_label + 1);
  n = side_labels(&t->u, side), c->other = side[0];
  for (uint32_t k = 1; k < n; k++)
    if (cross_size(c, side[k]) > cross_size(c, c->other)) c->other = side[k];
  for (uint32_t k = 0; k < n; k++)
    if (side[k] != c->other) c->rest[c->n_rest++] = side[k];
  c->lane = lanes ? c->own : c->other, c->row = lanes ? c->other : c->own;
  return all_exact(p, n, side) && all_exact(p, p->n_red, p->red) && p->exact[c->a] && p->exact[c->own];
}

/* Whether the small side fits the cache, and the result is not so much larger than X that transposing it costs more. */
static bool is_worth(const Cross *c) {
  const StagePlan *p = c->t->p;
  double deep = pack_product(p, p->n_red, p->red),
         small = (double)cross_size(c, c->other) * pack_product(p, c->n_rest, c->rest);
  double bytes = (double)cross_element(c);
  if (cross_size(c, c->a) < SQUARE / 2 || cross_size(c, c->own) < SQUARE / 2 || cross_size(c, c->other) < SQUARE / 2)
    return false;
  if (deep > (double)DEEP_MOST || small < 1 || small > deep * (double)RESULT_MOST ||
      small * deep * bytes > (double)NEAREST)
    return false;
  for (uint32_t k = 0; k < c->big->of->n; k++) bytes *= (double)cross_size(c, (uint32_t)c->big->of->arg[k]->i);
  return bytes >= (double)LEAST;
}

static bool fits(const Panel *t) {
  const TaskStage *st = t->p->stage;
  /* twice: results may be stored twice, as overlapping tiles do. */
  bool stored = st->buffer >= 0 || t->s->follow.goes_on, twice = !t->s->follow.goes_on || !tile_in_place(t->s);
  return !st->sum->where && !st->sum->domain && !t->keep.sums && stored && twice && !pack_is_tame(t) &&
      t->p->n_label + 4 <= CROSS_LABELS_MOST;
}

/* ---- sizes ------------------------------------------------------------------------------------------------------- */

/* The largest part, up to `most`, that divides the size, as threads must not store to the same place twice; a multiple
 * of SQUARE if it is not much smaller. 0: there is no such part. */
static int64_t part_of(int64_t size, int64_t most) {
  int64_t best = 0;
  if (size <= most) return size;
  for (int64_t n = most; n >= SQUARE / 2 && (!best || 2 * n >= best); n--) {
    if (size % n) continue;
    if (n % SQUARE == 0) return n;
    best = best ? best : n;
  }
  return best;
}

/* The axis before that of `inner`, if it is one of the labels of X that are walked over. */
static uint32_t before(const Cross *c, uint32_t n, const Expr *const *at, uint32_t inner) {
  for (uint32_t k = 1; k < n; k++)
    if (at[k]->kind == EX_LABEL && at[k]->i == inner && at[k - 1]->kind == EX_LABEL &&
        number_among(c->n_far, c->far, at[k - 1]->i)) {
      uint32_t label = (uint32_t)at[k - 1]->i;
      return c->t->p->exact[label] && cross_size(c, label) ? label : NOWHERE;
    }
  return NOWHERE;
}

/* The fewest points that fill whole lines of the result, at `line` bytes each. */
int64_t cross_points_whole(int64_t size, int64_t line, int64_t room) {
  for (int64_t n = 1; n <= size && n <= room; n++)
    if (size % n == 0 && n * line % LINE == 0) return n;
  return 1;
}

/* As many points as fit. */
static int64_t points_most(int64_t size, int64_t line, int64_t room) {
  int64_t best = 1;
  for (int64_t n = 1; n <= size && n <= room && best * line < RUN; n++)
    if (size % n == 0) best = n;
  return best;
}

/* Chooses the points of each label in a block, of `room` points in all; false: they do not fit. */
static bool slots_choose(Cross *c, int64_t room) {
  const TaskStage *st = c->t->p->stage;
  int64_t na = cross_size(c, c->a), nx = cross_size(c, c->own), bytes = cross_element(c);
  for (uint32_t l = 0; l < c->t->p->n_label; l++)
    c->slots[l] = number_among(c->n_far, c->far, l) ? 1 : cross_size(c, l);
  if (na * nx > room && room / nx < SQUARE) nx = room / SQUARE < SQUARE ? 0 : part_of(nx, room / SQUARE);
  if (!nx) return false;
  c->slots[c->own] = nx;
  c->slots[c->a] = na = part_of(na, room / nx < SQUARE ? SQUARE : room / nx);
  if (!na) return false;
  room /= na * nx;
  uint32_t label = na == cross_size(c, c->a) && st->buffer >= 0 ? before(c, st->n_at, st->at, c->a) : NOWHERE;
  if (label != NOWHERE) room /= c->slots[label] = cross_points_whole(cross_size(c, label), na * bytes, room);
  label = c->lane == c->own ? before(c, c->big->of->n, c->big->of->arg, c->own) : NOWHERE;
  if (label != NOWHERE && c->slots[label] == 1) c->slots[label] = points_most(cross_size(c, label), nx * bytes, room);
  return true;
}

static double blocks_of(const Cross *c) {
  const Panel *t = c->t;
  double n = pack_product(t->p, t->n_common, t->common);
  for (uint32_t k = 0; k < c->n_far; k++) n *= (double)cross_up(cross_size(c, c->far[k]), c->slots[c->far[k]]);
  return n * (double)cross_up(cross_size(c, c->a), c->slots[c->a]) *
      (double)cross_up(cross_size(c, c->own), c->slots[c->own]);
}

/* Chooses the block; it shrinks until there are enough for the threads. Returns false if none fits. */
static bool block_choose(Cross *c) {
  const StagePlan *p = c->t->p;
  int64_t room = (int64_t)((double)KEPT /
      ((double)(cross_element(c) * cross_size(c, c->other)) * pack_product(p, c->n_rest, c->rest)));
  c->slots = NEW_ARRAY(c->t->s->arena, int64_t, p->n_label + 1);
  if (!slots_choose(c, room)) return false;
  while (blocks_of(c) < (double)PARTS && slots_choose(c, room / 2)) room /= 2;
  return slots_choose(c, room);
}

bool cross_find(Cross *c) {
  return fits(c->t) && packs_find(c) && labels_find(c) && is_worth(c) && block_choose(c) && pack_body_alone(c->t);
}

/* Cuts n lanes into vectors of `wide`, at most `most` of them in a tile. */
static Shape lanes_cut(int64_t n, int64_t wide, int64_t most) {
  Shape x = {.lanes = n < most * wide ? n : most * wide};
  int64_t rest = x.lanes % wide;
  for (int64_t at = 0; at + wide <= x.lanes; at += wide) x.width[x.n] = wide, x.at[x.n++] = at;
  if (rest) x.width[x.n] = wide > 4 && 2 * rest <= wide ? wide / 2 : wide, x.at[x.n] = x.lanes - x.width[x.n], x.n++;
  return x;
}

/* The cost of all tiles of a block for one point of the sum. */
static double shape_cost(const Cross *c, const Shape *x, int64_t wide) {
  double tiles = (double)(cross_up(c->slots[c->lane], x->lanes) * cross_up(c->slots[c->row], x->rows)), adds = 0;
  double deep = pack_product(c->t->p, c->t->p->n_red, c->t->p->red) * (double)cross_element(c);
  bool far = deep * (double)(x->lanes + cross_size(c, c->other)) > (double)NEAREST && c->lane == c->own;
  for (uint32_t k = 0; k < x->n; k++) adds += (double)(x->width[k] * x->rows) / (double)wide;
  if (adds < 8) adds = 8; /* latency: each sum waits for the one before */
  return tiles * (adds + LOAD * (double)x->rows + (far ? LOAD_FAR : LOAD) * (double)x->n);
}

/* Chooses the cheapest tile that fits the registers: its sums, the lanes' vectors and one row value. */
void cross_shape_choose(Cross *c) {
  Sched *s = c->t->s;
  int64_t wide = tile_vector(s, c->t->p->stage->sum->acc), n = c->slots[c->lane];
  double least = 0;
  while (wide > n) wide /= 2;
  for (int64_t most = 1; most <= CROSS_VECTORS_MOST; most++)
    for (int64_t rows = 1; rows <= ROWS_MOST && rows <= c->slots[c->row]; rows++) {
      Shape x = lanes_cut(n, wide, most);
      x.rows = rows;
      double cost = shape_cost(c, &x, wide);
      if (x.n > CROSS_VECTORS_MOST || (int64_t)x.n * (rows + 1) + 1 >= tile_vectors(s) || (least > 0 && cost >= least))
        continue;
      least = cost, c->shape = x;
    }
}

/* The lines of a point of X that share a set of the first-level cache with its first one. */
static double lines_crowded(const Cross *c) {
  const Expr *of = c->big->of;
  const StagePlan *p = c->t->p;
  int64_t stride = cross_element(c);
  double lines = 1;
  for (uint32_t k = of->n; k-- > 0;) {
    uint32_t label = (uint32_t)of->arg[k]->i;
    if (stride == 0 && (label == c->own || number_among(p->n_red, p->red, label))) lines *= (double)c->slots[label];
    stride = stride * cross_size(c, label) % WAY;
  }
  return lines;
}

/* Its lines would leave the cache between two tiles, and often within one, if more of them share a set than that has
 * room for. */
bool cross_copies(const Cross *c) {
  const StagePlan *p = c->t->p;
  double point = pack_product(p, p->n_red, p->red) * (double)(c->slots[c->own] * cross_element(c));
  return pack_product(p, c->n_rest, c->rest) >= 2 && lines_crowded(c) > (double)WAYS && point <= 4 * (double)NEAREST;
}
