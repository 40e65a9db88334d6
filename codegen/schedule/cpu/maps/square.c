/* codegen/schedule/cpu/maps/square.c - maps that are contiguous along one label here and along another there, above
 * all transposes. They go by squares, which are read along the one label, transposed, and used along the other. If
 * much is read, squares are grouped in tiles, so that reads are pieces of rows; while one tile is computed, the next
 * one's rows are prefetched. */
#include "schedule/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  SQUARE = 16,               /* elements along each side of a square; more for short elements, to fill a line */
  LINE = 64,                 /* bytes */
  BLOCK_BYTES = 256,         /* bytes of a result's row to write together: line by line takes twice as long; */
  BLOCK_MOST = 128,          /*   at most so many short elements, because each has a row of the source */
  TILE_ROWS = 64,            /* rows of a tile, each of which has */
  TILE_BYTES = 1024,         /*   about so many bytes */
  TILED_PART = 32,           /* what is read in tiles has at least this fraction of the last-level cache */
  WAY = 4096                 /* bytes: addresses this far apart map to the same set of the first-level cache */
};

/* A label along which an access is contiguous that is strided along the innermost label; NOWHERE: none. */
static uint32_t crossing(const StagePlan *p) {
  uint32_t last = p->order[p->n_order - 1];
  for (uint32_t k = p->n_order - 1; k-- > 0;)
    for (uint32_t a = 0; a < p->n_access; a++)
      if (plan_move(p, a, last) == MOVE_FAR && plan_move(p, a, p->order[k]) == MOVE_UNIT && p->size[p->order[k]] >= 8 &&
          p->size[last] >= 8)
        return p->order[k];
  return NOWHERE;
}

/* Unrolls the rows of a whole square: hardware prefetchers track a load by its place in the code, and rows lie far
 * from each other. */
static LoopBind rows_bind(const Expr *const *count) {
  return count[0]->kind == EX_INT && count[1]->kind == EX_INT ? BIND_UNROLL : BIND_SEQ;
}

enum { TOGETHER = 16 };      /* rows that are unrolled together: gcc takes six times as long for 64 */

/* Opens a loop over one side of a square. Returns the offset in the square. */
static const Expr *side_loop(
    Sched *s, const TaskStage *st, Env *e, uint32_t label, const Expr *lo, const Expr *count, LoopBind bind) {
  const Expr *at = NULL;
  if (bind == BIND_UNROLL && count->i > TOGETHER && count->i % TOGETHER == 0) {
    at = for_open(s, NULL, "rows", ex_int(s, 0), count, TOGETHER, BIND_SEQ);
    count = ex_int(s, TOGETHER);
  }
  const Expr *v = for_open(s, st->label[label], "i", ex_int(s, 0), count, 1, bind);
  at = at ? ex_add(s, at, v) : v;
  e->label[label] = ex_add(s, lo, at);
  return at;
}

enum { TRANSPOSED_MOST = 4 };

/* The reads that are contiguous along one side of the squares and strided along the other: they are loaded along the
 * one and used along the other. */
typedef struct Transposed {
  uint32_t n, slot[TRANSPOSED_MOST], place[TRANSPOSED_MOST];
  const Expr *of[TRANSPOSED_MOST];
  uint32_t n_slot;           /* the stage's own */
} Transposed;

static const Expr *leaf_transposed(void *env, Exprs *x, const Expr *leaf) {
  Transposed *t = env;
  if (leaf->kind != EX_READ) return leaf;
  for (uint32_t k = 0; k < t->n; k++)
    if (t->slot[k] == (uint32_t)leaf->i) {
      t->of[k] = leaf;
      return expr_read(x, (DType)leaf->dtype, t->n_slot + k, 0, NULL);
    }
  return leaf;
}

/* Finds the reads to transpose; false: there are none or too many, or the stage may not read unconditionally. */
static bool transposed_find(const StagePlan *p, Env *e, uint32_t lanes, uint32_t other, Transposed *t) {
  *t = (Transposed){.n_slot = p->stage->sum->n_slot};
  for (uint32_t a = 0; a + 1 < p->n_access; a++) {
    if (plan_move(p, a, other) != MOVE_UNIT || plan_move(p, a, lanes) != MOVE_FAR) continue;
    if (t->n == TRANSPOSED_MOST) return false;
    t->slot[t->n++] = a;
  }
  return t->n > 0 && ex_safe(e);
}

/* Loads one square of each such read, [lanes, other], and transposes it. */
static void transposed_fetch(Sched *s, const TaskStage *st, Env *e, Transposed *t, uint32_t lanes, uint32_t other,
    const Expr *const *lo, const Expr *const *count, int64_t square) {
  const Expr *dim[2] = {ex_int(s, square), ex_int(s, square)}, *at[2];
  for (uint32_t k = 0; k < t->n; k++) {
    t->place[k] = var_own(s, NULL, "square", (DType)t->of[k]->dtype, 2, dim, NULL);
    LoopBody *was = s->body;
    at[0] = side_loop(s, st, e, lanes, lo[0], count[0], rows_bind(count));
    at[1] = side_loop(s, st, e, other, lo[1], count[1], BIND_VECTOR);
    store_add(s, t->place[k], 2, at, ex_shared(s, ex_of(e, t->of[k])));
    into(s, was);
    transpose_add(s, t->place[k]);
  }
}

enum { LANES, OTHER };       /* the sides of a square: the result is contiguous along LANES */

/* The current tile, or all there is. */
typedef struct SquaresTile {
  const Expr *first[2], *from; /* where it begins along each side, and along the group; */
  const Expr *until[2];      /*   and where it ends along each side; */
  const Expr *span[2];       /*   if lined, it has the lesser of these numbers of lanes */
  const Expr *lead;          /* if lined: elements before the result's rows reach a line and the first tile begins; */
  const Expr *last;          /*   whether it is the last one, which gets those too; */
  bool whole;                /*   and it has all its lanes */
  const Expr *when;          /* the condition for streaming its rows; NULL: they are not streamed; */
  bool kept;                 /*   its squares are kept first: */
  uint32_t block;            /*   in this place, [2, OTHER, LANES]: one half is streamed while the other is filled */
} SquaresTile;

/* The tile after it. */
typedef struct SquaresNext {
  const Expr **at;           /* the labels around its squares, */
  const Expr *first[2];      /*   and where it begins */
} SquaresNext;

/* The current square. */
typedef struct SquaresNow {
  const Expr *lo[2], *count[2];
  const Expr *in[2];         /* where it begins in its tile */
  const Expr *half;          /* kept: the half of the block that it fills */
} SquaresNow;

/* A map in squares over the label along which the result is contiguous and the one that crosses it. It is chosen before
 * loops are made, except for the last three fields. */
typedef struct Squares {
  Sched *s;
  const StagePlan *p;
  Env *e;
  uint32_t side_of[2];       /* their labels */
  int out;                   /* the side whose loop is the outer one */
  Transposed t;
  const Expr *body;          /* the stage's body, over transposed reads */
  const Expr *when;          /* condition for streaming the result: see stream_if */
  int64_t square;            /* elements along each side */
  bool tiled;
  bool asks;                 /* a condition at run time tells what is large */
  bool lined;                /* tiles begin where lines of the result do; one that has all its lanes streams them, */
  bool kept;                 /*   after squares beside each other were kept, by rows of several lines */
  int64_t side[2];           /* of tiles, which are walked one after the other; a square's: there are no tiles */
  uint32_t n, *label;        /* the labels around the squares; */
  uint32_t group;            /*   position of the one along which a tile's whole rows go on: a tile has `many` of its */
  int64_t many;              /*   points; NOWHERE: there is none */
  SquaresTile tile;
  SquaresNext next;
  SquaresNow now;
} Squares;

static bool squares_find(Squares *q) {
  const StagePlan *p = q->p;
  const EinSum *sum = p->stage->sum;
  uint32_t cross = sum->reducer == RED_NONE && !sum->domain && p->n_order > 1 ? crossing(p) : NOWHERE;
  if (cross == NOWHERE) return false;
  q->out = plan_move(p, p->n_access - 1, cross) == MOVE_UNIT ? LANES : OTHER;
  q->side_of[q->out] = cross, q->side_of[!q->out] = p->order[p->n_order - 1];
  if (!transposed_find(p, q->e, q->side_of[LANES], q->side_of[OTHER], &q->t)) return false;
  q->body = expr_map(q->s->x, sum->body, leaf_transposed, &q->t);
  q->label = NEW_ARRAY(q->s->arena, uint32_t, p->n_order);
  for (uint32_t k = 0; k < p->n_order; k++)
    if (p->order[k] != q->side_of[LANES] && p->order[k] != q->side_of[OTHER]) q->label[q->n++] = p->order[k];
  return true;
}

/* Elements along each side of a square: at least a line, if there are that many. */
static int64_t square_side(const Squares *q) {
  const StagePlan *p = q->p;
  int64_t side = LINE / dtype_size(p->stage->sum->dtype);
  for (uint32_t k = 0; k < q->t.n; k++)
    if (dtype_size((DType)q->t.of[k]->dtype) != dtype_size(p->stage->sum->dtype)) return SQUARE;
  return side <= SQUARE || p->size[q->side_of[LANES]] < side || p->size[q->side_of[OTHER]] < side ? SQUARE : side;
}

/* The condition, and that rows of the result are whole lines: else squares write mostly partial lines. */
static const Expr *whole_lines(Sched *s, const TaskStage *st, const Expr *when) {
  const TaskBuffer *b = buffer_seen(s, (uint32_t)st->buffer);
  const Expr *rest = expr_op2(s->x, OP_MOD, b->dim[b->rank - 1], ex_int(s, LINE / dtype_size(b->dtype)));
  if (rest->kind == EX_INT) return rest->i ? expr_bool(s->x, false) : when;
  return expr_op2(s->x, OP_AND, when, expr_op2(s->x, OP_EQ, rest, ex_int(s, 0)));
}

/* ---- tiles -------------------------------------------------------------------------------------------- */

/* About `want` elements, in whole squares, that leave no short tile at the end if the extent is known. */
static int64_t tile_side(const StagePlan *p, uint32_t label, int64_t want, int64_t square) {
  if (want < square) want = square;
  if (!p->exact[label]) return want;
  int64_t size = p->size[label], tiles = (size + want / 2 - 1) / want,
          side = tiles > 1 ? (size + tiles - 1) / tiles : size;
  return (side + square - 1) / square * square;
}

/* Lanes of a lined tile: about `want`, and such that few are left over at the end. A tile longer than half of the rows
 * does not fit in those that begin within a line. */
static int64_t lined_side(const StagePlan *p, uint32_t label, int64_t want, int64_t square) {
  int64_t size = p->size[label], best = want;
  double least = INFINITY;
  if (!p->exact[label] || size >= 16 * want) return want;
  for (int64_t side = want / 4 > square ? want / 4 : square; side <= 2 * want && side <= size; side += square) {
    double lost = (double)(size % side) / (double)size + (2 * side > size ? 0.25 : 0) + (side < want / 2 ? 0.5 : 0);
    if (lost < least || (lost == least && llabs(side - want) < llabs(best - want))) best = side, least = lost;
  }
  return best;
}

/* Finds the label of the preceding axis along which a source with short, whole rows continues: a tile has some of its
 * points. */
static void group_find(Squares *q) {
  const StagePlan *p = q->p;
  const Expr *read = q->t.of[0];
  int64_t bytes = q->side[OTHER] * dtype_size((DType)read->dtype), most = bytes ? TILE_BYTES / bytes : 0;
  if (most < 2 || read->n < 2 || read->arg[read->n - 2]->kind != EX_LABEL || !p->exact[q->side_of[OTHER]]) return;
  if (q->side[OTHER] < p->size[q->side_of[OTHER]]) return;
  for (uint32_t k = 0; k < q->n; k++) {
    int64_t size = p->size[q->label[k]];
    if ((int64_t)q->label[k] != read->arg[read->n - 2]->i || !p->exact[q->label[k]] || size < 2) continue;
    q->group = k;
    q->many = most < size ? most : size;
    for (int64_t m = most; 2 * m > most && size % q->many; m--)
      if (size % m == 0) q->many = m;
  }
}

static double tiled_least(const Sched *s) { return (double)(stream_cache(s) / TILED_PART); }

/* Whether rows of the result map to the same cache set, so that a tile's rows evict each other. */
static bool rows_crowd(const Squares *q) {
  const TaskStage *st = q->p->stage;
  if (st->buffer < 0) return false;
  const TaskBuffer *b = buffer_seen(q->s, (uint32_t)st->buffer);
  int64_t bytes = dtype_size(b->dtype);
  for (uint32_t k = b->rank; k-- > 0 && !ex_has_label(st->at[k], q->side_of[OTHER]);) {
    if (b->dim[k]->kind != EX_INT) return false;
    bytes = bytes * b->dim[k]->i % WAY;
  }
  return bytes == 0;
}

/* Whether tiles pay: the source is then read in longer pieces, but the result is also written in pieces. Measured,
 * relative to the time without tiles: 0.4 to 0.7 if the result is streamed or larger than the cache; else 0.4 to 0.8
 * too, but 1.3 if rows crowd, and 1.0 to 1.4 if a square already has two lines a row (f64). Where a condition tells
 * at run time what is large, the tiles are for that. */
static bool tiles_pay(const Squares *q) {
  const StagePlan *p = q->p;
  int64_t size = dtype_size(p->stage->sum->dtype);
  double all = (double)size, most = 0;
  for (uint32_t k = 0; k < p->n_order; k++) all *= (double)p->size[p->order[k]];
  for (uint32_t k = 0; k < q->t.n; k++) {
    double bytes = plan_bytes(q->s, p, q->t.slot[k]);
    all += bytes, most = bytes > most ? bytes : most;
  }
  if (q->when && q->when->kind != EX_INT) return true;
  if (most < tiled_least(q->s)) return false;
  return q->when || all >= (double)stream_cache(q->s) || (q->square * size <= LINE && !rows_crowd(q));
}

/* Chooses squares and tiles. Rows of a square are streamed if they are whole lines. What is far larger than the
 * second-level cache is read in tiles. Reads that lie as the result does want long rows along the other side too. */
static void squares_choose(Squares *q, bool threads) {
  const StagePlan *p = q->p;
  Sched *s = q->s;
  int64_t size = dtype_size(p->stage->sum->dtype);
  const Expr *when =
      threads && plan_move(p, p->n_access - 1, q->side_of[LANES]) == MOVE_UNIT ? stream_if(s, p->stage) : NULL;
  q->square = square_side(q);
  if (when && q->square * size >= LINE) when = whole_lines(s, p->stage, when);
  else when = NULL;
  if (when && !(when->kind == EX_INT && !when->i)) q->when = when;
  q->asks = q->when && q->when->kind != EX_INT;
  q->tiled = !s->when && tiles_pay(q); /* tiles take five times as much code: not for a version that may never run */
  q->side[LANES] = q->side[OTHER] = q->square;
  if (!q->tiled) return;
  bool alone = q->t.n + 1 == p->n_access;
  q->lined = q->when, q->kept = q->lined && alone;
  int64_t lanes = alone ? TILE_ROWS : TILE_BYTES / 2 / size, other = (alone ? TILE_BYTES : TILE_BYTES / 2) / size;
  if (q->kept) lanes = BLOCK_BYTES / size > BLOCK_MOST ? BLOCK_MOST : BLOCK_BYTES / size;
  q->side[LANES] = (q->lined ? lined_side : tile_side)(p, q->side_of[LANES], lanes, q->square);
  q->side[OTHER] = tile_side(p, q->side_of[OTHER], other, q->square);
  stream_order(s, p, q->n, q->label);
  group_find(q);
}

static void walk_side(Squares *q, Walk *w, int side) {
  walk_add(q->s, w, NULL, ex_div_up(q->s, q->p->stage->bound[q->side_of[side]], ex_int(q->s, q->side[side])));
}

/* How far a row of the result, all of which lie alike, is from the next cache line. */
static const Expr *row_lead(Squares *q) {
  Sched *s = q->s;
  q->e->label[q->side_of[LANES]] = ex_int(s, 0);
  q->e->label[q->side_of[OTHER]] = q->tile.first[OTHER];
  if (q->group != NOWHERE) q->e->label[q->label[q->group]] = q->tile.from;
  return stream_lead(s, q->p->stage, q->e);
}

/* Walks what lies around the squares, or the tiles. */
static void squares_walk(Squares *q, bool threads) {
  Sched *s = q->s;
  const StagePlan *p = q->p;
  Walk *w = NEW(s->arena, Walk);
  const int order[2] = {q->out, !q->out};
  for (uint32_t k = 0; k < q->n; k++) {
    bool some = k == q->group;
    walk_add(s, w, some ? NULL : p->stage->label[q->label[k]],
        ex_div_up(s, p->stage->bound[q->label[k]], ex_int(s, some ? q->many : 1)));
  }
  for (int k = 0; k < 2; k++) walk_side(q, w, order[k]);
  if (threads) walk_chunks(s, w, ex_int(s, (int64_t)p->ops * q->side[LANES] * q->side[OTHER] * q->many), BIND_SEQ);
  else walk_plain(s, w, 0, BIND_SEQ);
  for (uint32_t k = 0; k < q->n; k++) q->e->label[q->label[k]] = w->index[k];
  for (int k = 0; k < 2; k++)
    q->now.lo[order[k]] = q->tile.first[order[k]] =
        ex_mul(s, w->index[q->n + (uint32_t)k], ex_int(s, q->side[order[k]]));
  if (q->group != NOWHERE) q->tile.from = ex_mul(s, w->index[q->group], ex_int(s, q->many));
  if (!q->tiled) return;
  q->next.at = NEW_ARRAY(s->arena, const Expr *, w->n);
  walk_next(s, w, NULL, q->next.at);
  for (int k = 0; k < 2; k++)
    q->next.first[order[k]] = ex_mul(s, q->next.at[q->n + (uint32_t)k], ex_int(s, q->side[order[k]]));
  if (!q->lined) return;
  q->tile.lead = row_lead(q);
  const Expr *end = ex_add(s, q->tile.first[LANES], ex_int(s, q->side[LANES]));
  q->tile.last = expr_op2(s->x, OP_LE, p->stage->bound[q->side_of[LANES]], end);
  q->tile.first[LANES] = named(s, NULL, "from", ex_add(s, q->tile.first[LANES], q->tile.lead));
  q->next.first[LANES] = named(s, NULL, "ahead", ex_add(s, q->next.first[LANES], q->tile.lead));
}

/* Loops along the group inside a tile. */
static void squares_group(Squares *q) {
  Sched *s = q->s;
  uint32_t label = q->label[q->group], v = var_new(s, q->p->stage->label[label], "i");
  const Expr *end = ex_min(s, q->p->stage->bound[label], ex_add(s, q->tile.from, ex_int(s, q->many)));
  into(s, &for_add(s, v, q->tile.from, end, 1, BIND_SEQ)->body);
  q->e->label[label] = var_read(s, v);
}

/* Loops along one side inside a tile. */
static void squares_side(Squares *q, int side) {
  Sched *s = q->s;
  uint32_t v = var_new(s, q->p->stage->label[q->side_of[side]], "i");
  bool lined = q->lined && side == LANES && !q->tile.whole; /* the number of lanes is the lesser of two */
  const Expr *from = lined ? ex_int(s, 0) : q->tile.first[side],
             *to = lined ? ex_min(s, q->tile.span[0], q->tile.span[1]) : q->tile.until[side];
  into(s, &for_add(s, v, from, to, q->square, BIND_SEQ)->body);
  q->now.in[side] = lined ? var_read(s, v) : ex_sub(s, var_read(s, v), q->tile.first[side]);
  q->now.lo[side] = lined ? ex_add(s, q->tile.first[side], var_read(s, v)) : var_read(s, v);
}

/* A point of the next tile, clamped to the last one. */
static const Expr *ahead_at(Squares *q, uint32_t label, const Expr *from, const Expr *in, int64_t side) {
  const StagePlan *p = q->p;
  const Expr *at = ex_add(q->s, from, in);
  if (p->exact[label] && p->size[label] % side == 0) return at;
  return ex_min(q->s, at, ex_sub(q->s, p->stage->bound[label], ex_int(q->s, 1)));
}

static const Expr *ahead_side(Squares *q, int side, const Expr *in) {
  const Expr *at = ahead_at(q, q->side_of[side], q->next.first[side], in, q->side[side]);
  if (!q->lined || side == OTHER) return at;
  return ex_min(q->s, at, ex_sub(q->s, q->p->stage->bound[q->side_of[side]], ex_int(q->s, 1)));
}

/* Prefetches a square's share of what the next tile reads: some rows or, of a row, what one point of the group has, in
 * memory order. */
static void tile_fetch(Squares *q, const Expr *read, int rows, const Expr *number) {
  Sched *s = q->s;
  int64_t squares = q->side[0] / q->square * (q->side[1] / q->square) * q->many, all = q->side[rows] * q->many,
          share = (all + squares - 1) / squares;
  LoopBody *was = s->body;
  uint32_t r = var_new(s, NULL, "r"), l = var_new(s, NULL, "l");
  if (squares * share > all)
    into(s, &if_add(s, expr_op2(s->x, OP_LT, number, ex_int(s, (all + share - 1) / share)))->body);
  into(s, &for_add(s, r, ex_int(s, 0), ex_int(s, share), 1, BIND_UNROLL)->body);
  const Expr *row = ex_add(s, ex_mul(s, number, ex_int(s, share)), var_read(s, r)), *many = ex_int(s, q->many);
  if (all % share) row = ex_min(s, row, ex_int(s, all - 1));
  if (q->group != NOWHERE) {
    uint32_t label = q->label[q->group];
    const Expr *from = ex_mul(s, q->next.at[q->group], many);
    q->e->label[label] = ahead_at(q, label, from, expr_op2(s->x, OP_MOD, row, many), q->many);
    row = expr_op2(s->x, OP_IDIV, row, many);
  }
  q->e->label[q->side_of[rows]] = ahead_side(q, rows, row);
  into(s,
      &for_add(s, l, ex_int(s, 0), ex_int(s, q->side[!rows]), LINE / dtype_size((DType)read->dtype), BIND_UNROLL)
           ->body);
  q->e->label[q->side_of[!rows]] = ahead_side(q, !rows, var_read(s, l));
  const Expr *at = ex_of(q->e, read);
  if (map_find(&s->safe, at)) fetch_add(s, at);
  into(s, was);
}

/* The number of the square in its tile. */
static const Expr *square_number(Squares *q) {
  Sched *s = q->s;
  const Expr *n = q->group == NOWHERE ? ex_int(s, 0) : ex_sub(s, q->e->label[q->label[q->group]], q->tile.from);
  const int order[2] = {OTHER, LANES};
  for (int k = 0; k < 2; k++) {
    const Expr *in = expr_op2(s->x, OP_IDIV, q->now.in[order[k]], ex_int(s, q->square));
    n = ex_add(s, ex_mul(s, n, ex_int(s, q->side[order[k]] / q->square)), in);
  }
  return named(s, NULL, "number", n);
}

static void squares_fetch(Squares *q) {
  Sched *s = q->s;
  const StagePlan *p = q->p;
  const EinSum *sum = p->stage->sum;
  const Expr **read = body_reads(s, sum), *number = square_number(q);
  const Expr **was = arena_copy(s->arena, q->e->label, p->n_label * sizeof *was);
  for (uint32_t k = 0; k < q->n; k++) q->e->label[q->label[k]] = q->next.at[k];
  for (uint32_t a = 0; a < sum->n_slot; a++) {
    bool large = (q->tile.when && q->asks) || plan_bytes(s, p, a) >= tiled_least(s);
    if (!read[a] || p->stage->slot[a].kept || !large) continue;
    for (int rows = 0; rows < 2; rows++)
      if (plan_move(p, a, q->side_of[rows]) == MOVE_FAR && plan_move(p, a, q->side_of[!rows]) == MOVE_UNIT)
        tile_fetch(q, read[a], rows, number);
  }
  memcpy(q->e->label, was, p->n_label * sizeof *was);
}

/* ---- one square ---------------------------------------------------------------------------------------- */

/* The half of the block for the squares that begin at `lo` along OTHER. */
static const Expr *block_half(Squares *q, const Expr *lo) {
  Exprs *x = q->s->x;
  const Expr *number = expr_op2(x, OP_IDIV, ex_sub(q->s, lo, q->tile.first[OTHER]), ex_int(q->s, q->square));
  return named(q->s, NULL, "half", expr_op2(x, OP_MOD, number, ex_int(q->s, 2)));
}

/* Computes one row of a square at e's point of `other`: into an array or, if line is NOWHERE, into the result. */
static void square_values(Squares *q, const Expr *row, uint32_t line) {
  Sched *s = q->s;
  const TaskStage *st = q->p->stage;
  const Expr *at[2] = {row, NULL}, *packed[TRANSPOSED_MOST];
  LoopBody *was = s->body;
  at[1] = side_loop(s, st, q->e, q->side_of[LANES], q->now.lo[LANES], q->now.count[LANES], BIND_VECTOR);
  for (uint32_t k = 0; k < q->t.n; k++) packed[k] = place_read(s, q->t.place[k], 2, at);
  q->e->packed = packed;
  const Expr *value = ex_shared(s, expr_cast(s->x, st->sum->dtype, ex_of(q->e, q->body)));
  q->e->packed = NULL;
  if (q->tile.kept) {
    const Expr *lane = ex_add(s, q->now.in[LANES], at[1]),
               *kept[3] = {q->now.half, row, lane};
    store_add(s, q->tile.block, 3, kept, value);
  } else if (line == NOWHERE) result_store(s, st, q->e, value);
  else store_add(s, line, 1, &at[1], value);
  into(s, was);
}

/* Before a tile's squares. */
static void block_new(Squares *q) {
  const Expr *dim[3] = {ex_int(q->s, 2), ex_int(q->s, q->square), ex_int(q->s, q->side[LANES])};
  q->tile.block = var_own(q->s, NULL, "block", q->p->stage->sum->dtype, 3, dim, NULL);
}

/* Streams `count` rows of a half, from the row `from` on. Its squares begin at `lo` along OTHER. */
static void block_stream(
    Squares *q, const Expr *half, const Expr *lo, const Expr *from, const Expr *count, LoopBind bind) {
  Sched *s = q->s;
  const TaskStage *st = q->p->stage;
  const Expr *r = side_loop(s, st, q->e, q->side_of[OTHER], ex_add(s, lo, from), count, bind);
  const Expr *at[3] = {half, ex_add(s, from, r), ex_int(s, 0)};
  q->e->label[q->side_of[LANES]] = q->tile.first[LANES];
  stream_from(s, st, q->e, place_read(s, q->tile.block, 3, at), ex_int(s, q->side[LANES]), 1);
}

/* After a square: streams its share of the rows of the squares before it along OTHER. A processor goes on reading
 * while a few lines wait for the memory, but stops while a whole block does. */
static void block_share(Squares *q) {
  Sched *s = q->s;
  int64_t beside = q->side[LANES] / q->square, most = (q->square + beside - 1) / beside;
  bool alike = q->square % beside == 0;
  const Expr *square = ex_int(s, q->square), *share = ex_int(s, most),
             *number = expr_op2(s->x, OP_IDIV, q->now.in[LANES], square);
  LoopBody *was = s->body;
  into(s, &if_add(s, expr_op2(s->x, OP_LT, q->tile.first[OTHER], q->now.lo[OTHER]))->body);
  const Expr *from = named(s, NULL, "row", ex_mul(s, number, share));
  if (!alike) share = ex_min(s, share, ex_sub(s, square, from));
  block_stream(q, ex_sub(s, ex_int(s, 1), q->now.half), ex_sub(s, q->now.lo[OTHER], square), from, share,
      alike ? BIND_UNROLL : BIND_SEQ);
  into(s, was);
}

/* After a tile: streams the squares that were filled last. */
static void block_last(Squares *q) {
  Sched *s = q->s;
  const Expr *square = ex_int(s, q->square), *points = ex_sub(s, q->tile.until[OTHER], q->tile.first[OTHER]),
             *before = ex_mul(s, ex_sub(s, ex_div_up(s, points, square), ex_int(s, 1)), square),
             *lo = named(s, NULL, "last", ex_add(s, q->tile.first[OTHER], before));
  block_stream(q, block_half(q, lo), lo, ex_int(s, 0), ex_sub(s, q->tile.until[OTHER], lo), BIND_SEQ);
}

/* Streams a row from the square if nothing is computed; else through an array. */
static void square_stream(Squares *q, const Expr *row) {
  Sched *s = q->s;
  const Expr *at[2] = {row, ex_int(s, 0)}, *dim = ex_int(s, q->square), *from;
  bool alone = q->body->kind == EX_READ && q->body->dtype == q->p->stage->sum->dtype;
  if (alone) {
    from = place_read(s, q->t.place[0], 2, at);
  } else {
    uint32_t line = var_own(s, NULL, "line", q->p->stage->sum->dtype, 1, &dim, NULL);
    square_values(q, row, line);
    from = place_read(s, line, 1, &at[1]);
  }
  q->e->label[q->side_of[LANES]] = q->now.lo[LANES];
  stream_from(s, q->p->stage, q->e, from, q->now.count[LANES], 1);
}

/* Computes the current square, of `count` points along each side. */
static void square_do(Squares *q) {
  Sched *s = q->s;
  const TaskStage *st = q->p->stage;
  SquaresNow *now = &q->now;
  LoopBody *was = s->body;
  if (q->tiled) squares_fetch(q);
  if (q->tile.kept) now->half = block_half(q, now->lo[OTHER]);
  transposed_fetch(s, st, q->e, &q->t, q->side_of[LANES], q->side_of[OTHER], now->lo, now->count, q->square);
  const Expr *row = side_loop(s, st, q->e, q->side_of[OTHER], now->lo[OTHER], now->count[OTHER], rows_bind(now->count));
  LoopBody *plain = s->body;
  if (q->tile.when && !q->tile.kept) {
    into(s, stream_when(s, q->tile.when, &plain));
    square_stream(q, row);
    if (plain) into(s, plain);
  }
  if (plain) square_values(q, row, NOWHERE);
  into(s, was);
  if (q->tile.kept) block_share(q);
}

/* ---- squares that are cut off ------------------------------------------------------------------------- */

/* The condition for the current square to have its whole side; NULL: all have. */
static const Expr *side_fits(Squares *q, int side) {
  Sched *s = q->s;
  const Expr *size = q->p->stage->bound[q->side_of[side]];
  bool lined = q->lined && side == LANES;
  if (lined ? q->tile.whole : size->kind == EX_INT && (size->i % q->square == 0 || size->i < q->square)) return NULL;
  return expr_op2(s->x, OP_LE, ex_add(s, q->now.lo[side], ex_int(s, q->square)), q->tile.until[side]);
}

static void side_all(Squares *q, int side) {
  const Expr *size = q->p->stage->bound[q->side_of[side]];
  q->now.count[side] = size->kind == EX_INT && size->i < q->square ? size : ex_int(q->s, q->square);
}

/* The current square's points along a side that may be cut off. */
static void side_left(Squares *q, int side) {
  Sched *s = q->s;
  const Expr *left = ex_sub(s, q->tile.until[side], q->now.lo[side]);
  if (q->lined && side == LANES)
    left = ex_min(s, ex_sub(s, q->tile.span[0], q->now.in[side]), ex_sub(s, q->tile.span[1], q->now.in[side]));
  q->now.count[side] = named(s, NULL, "n", ex_min(s, ex_int(s, q->square), left));
}

/* Each side that may be cut off is tested alone, and the code for what is left knows how much that is. */
static void square_sides(Squares *q, const Expr *const *fits, int k) {
  Sched *s = q->s;
  if (k == 2) {
    square_do(q);
    return;
  }
  int side = k ? !q->out : q->out;
  if (!fits[side] || (q->lined && side == LANES)) {
    if (fits[side]) side_left(q, side);
    else side_all(q, side);
    square_sides(q, fits, k + 1);
    return;
  }
  LoopStmt *both = if_add(s, fits[side]);
  LoopBody *was = into(s, &both->body);
  side_all(q, side);
  square_sides(q, fits, k + 1);
  into(s, &both->other);
  q->now.count[side] = ex_int(s, q->p->stage->bound[q->side_of[side]]->i % q->square);
  square_sides(q, fits, k + 1);
  into(s, was);
}

/* Computes a square. If a size is open, one test tells whole squares from all others. */
static void square_cut(Squares *q) {
  Sched *s = q->s;
  const Expr *const *bound = q->p->stage->bound, *fits[2], *all = NULL;
  bool open = bound[q->side_of[LANES]]->kind != EX_INT || bound[q->side_of[OTHER]]->kind != EX_INT;
  for (int k = 0; k < 2; k++) {
    fits[k] = side_fits(q, k);
    if (fits[k]) all = all ? expr_op2(s->x, OP_AND, all, fits[k]) : fits[k];
  }
  if (!open || !all) {
    square_sides(q, fits, 0);
    return;
  }
  LoopStmt *both = if_add(s, all);
  LoopBody *was = s->body;
  for (int left = 0; left < 2; left++) {
    into(s, left ? &both->other : &both->body);
    for (int k = 0; k < 2; k++) (left && fits[k] ? side_left : side_all)(q, k);
    square_do(q);
  }
  into(s, was);
}

/* The squares of a tile, or the one square. */
static void squares_do(Squares *q) {
  Sched *s = q->s;
  for (int side = OTHER; q->tiled && side >= LANES; side--) squares_side(q, side);
  const int order[2] = {q->out, !q->out};
  for (int k = 0; k < 2; k++)
    q->now.lo[order[k]] = named(s, q->p->stage->label[q->side_of[order[k]]], "i", q->now.lo[order[k]]);
  square_cut(q);
}

/* A lined tile that has all its lanes streams them. One that has not does not; the last one also computes the elements
 * before the first. */
static void squares_lined(Squares *q) {
  Sched *s = q->s;
  SquaresTile *tile = &q->tile;
  const Expr *size = q->p->stage->bound[q->side_of[LANES]],
             *end = ex_add(s, tile->first[LANES], ex_int(s, q->side[LANES]));
  LoopStmt *both = if_add(s, expr_op2(s->x, OP_AND, q->when, expr_op2(s->x, OP_LE, end, size)));
  into(s, &both->body);
  tile->whole = true, tile->until[LANES] = end, tile->when = expr_bool(s->x, true);
  tile->span[0] = tile->span[1] = ex_int(s, q->side[LANES]);
  if (tile->kept) block_new(q);
  squares_do(q);
  if (tile->kept) {
    into(s, &both->body);
    block_last(q);
  }
  into(s, &both->other);
  tile->whole = tile->kept = false, tile->when = NULL;
  tile->until[LANES] = ex_min(s, size, end), tile->span[1] = ex_sub(s, size, tile->first[LANES]);
  squares_do(q);
  into(s, &both->other);
  into(s, &if_add(s, tile->last)->body);
  tile->first[LANES] = ex_int(s, 0), tile->until[LANES] = ex_min(s, size, tile->lead);
  tile->span[0] = tile->lead, tile->span[1] = size;
  squares_do(q);
}

bool square_loops(Sched *s, const StagePlan *p, Env *e, bool threads) {
  Squares q = {.s = s, .p = p, .e = e, .group = NOWHERE, .many = 1};
  if (!squares_find(&q)) return false;
  squares_choose(&q, threads);
  how_add(s, p->stage, "squares of %s and %s, transposed%s%s%s", how_label(p->stage, q.side_of[OTHER]),
      how_label(p->stage, q.side_of[LANES]), q.tiled ? ", in tiles" : "", q.when ? ", the result past the cache" : "",
      q.kept ? " by rows of these" : "");
  squares_walk(&q, threads);
  if (q.group != NOWHERE) squares_group(&q);
  q.tile.when = q.when, q.tile.kept = q.kept;
  for (int k = 0; k < 2; k++) {
    q.tile.until[k] = p->stage->bound[q.side_of[k]];
    if (q.tiled) q.tile.until[k] = ex_min(s, q.tile.until[k], ex_add(s, q.tile.first[k], ex_int(s, q.side[k])));
  }
  if (q.lined) squares_lined(&q);
  else squares_do(&q);
  return true;
}
