/* codegen/schedule/cpu/sums/dot.c - reductions whose reads are contiguous along the innermost label: products with a
 * transposed matrix, matrix times vector. Lanes go along that label, and a block of outputs (some points of one or two
 * labels) is computed at once, so that what is read for one output serves the others. */
#include "schedule/schedule.h"

enum {
  CELLS_MOST = 16,
  ROW_LEAST = 512,           /* bytes of a row that is worth a loop of its own */
  HALVES_MOST = 4096,        /* halves of such a row: what it is multiplied with, in f32, stays in the nearest cache */
  LINE = 64,                 /* bytes of a cache line */
  AHEAD = 8192,              /* bytes between what is read of rows of halves and what is prefetched, at least */
  NO_LABEL = -1
};

typedef struct Dot {
  Sched *s;
  const StagePlan *p;
  Env *e;
  uint32_t r;                /* the label of the lanes */
  int64_t u[2], rows[2];     /* output labels that are blocked, and their points; NO_LABEL, 1 */
  int64_t width;
  bool by_rows;
} Dot;

/* ---- choice of labels and rows ------------------------------------------------------------------------ */

/* Whether some operand in lanes does not depend on u. */
static bool reuses(const StagePlan *p, uint32_t u, uint32_t r) {
  for (uint32_t a = 0; a + 1 < p->n_access; a++)
    if (plan_move(p, a, r) != MOVE_NONE && plan_move(p, a, u) == MOVE_NONE) return p->size[u] > 1;
  return false;
}

/* Whether each label is in a read that does not have the other. */
static bool cross(const StagePlan *p, uint32_t u, uint32_t w) {
  bool a_only = false, b_only = false;
  for (uint32_t a = 0; a + 1 < p->n_access; a++) {
    bool x = plan_move(p, a, u) != MOVE_NONE, y = plan_move(p, a, w) != MOVE_NONE;
    a_only |= x && !y;
    b_only |= y && !x;
  }
  return a_only && b_only;
}

static int64_t rows_of(const StagePlan *p, int64_t u, int64_t most) {
  if (u == NO_LABEL) return 1;
  int64_t n = p->size[u];
  if (!p->exact[u]) return most;
  if (n <= most) return n;
  for (int64_t d = most; d >= 3; d--)
    if (n % d == 0) return d;
  return most;
}

/* Whether the read has a row of its own, contiguous along the lanes, for each point of the first output label. Those of
 * a window, x[u + r], are mostly the same elements. */
static bool has_rows(const Dot *d, uint32_t access) {
  const Expr *read = body_reads(d->s, d->p->stage->sum)[access];
  if (plan_move(d->p, access, (uint32_t)d->u[0]) == MOVE_NONE) return false;
  if (plan_move(d->p, access, d->r) != MOVE_UNIT) return false;
  return !read || !ex_has_label(read->arg[read->n - 1], d->u[0]);
}

static bool is_half(const Dot *d, uint32_t access) {
  TaskSlot slot = d->p->stage->slot[access];
  return !slot.kept && dtype_is_half(buffer_seen(d->s, slot.index)->dtype);
}

/* Whether to go row by row: each output has a row of its own, and all rows are in the second-level cache. What rows
 * share then costs less to load again than leaving the rows' memory order. Halves from memory, too: several streams of
 * them arrive at two thirds of the rate of one. */
static bool goes_by_rows(const Dot *d) {
  const StagePlan *p = d->p;
  if (d->u[0] == NO_LABEL || d->u[1] != NO_LABEL || !p->exact[d->u[0]] || !p->exact[d->r]) return false;
  for (uint32_t a = 0; a + 1 < p->n_access; a++) {
    double bytes = plan_bytes(d->s, p, a);
    if (!has_rows(d, a) || bytes / (double)p->size[d->u[0]] < (double)ROW_LEAST) continue;
    if (bytes > (double)NEAR_CACHE && bytes <= (double)SECOND_CACHE) return true;
    if (bytes > (double)SECOND_CACHE && is_half(d, a) && p->size[d->r] <= HALVES_MOST) return true;
  }
  return false;
}

static void labels_choose(Dot *d) {
  const StagePlan *p = d->p;
  d->u[0] = d->u[1] = NO_LABEL;
  for (uint32_t k = 0; k < p->n_order; k++)
    if (reuses(p, p->order[k], d->r) && (d->u[0] == NO_LABEL || p->size[p->order[k]] > p->size[d->u[0]]))
      d->u[0] = p->order[k];
  for (uint32_t k = 0; d->u[0] != NO_LABEL && k < p->n_order; k++) {
    uint32_t w = p->order[k];
    if (w != d->u[0] && reuses(p, w, d->r) && cross(p, (uint32_t)d->u[0], w) &&
        (d->u[1] == NO_LABEL || p->size[w] > p->size[d->u[1]]))
      d->u[1] = w;
  }
  d->rows[0] = rows_of(p, d->u[0], d->u[1] == NO_LABEL ? 6 : 4);
  d->rows[1] = rows_of(p, d->u[1], 4);
  d->by_rows = goes_by_rows(d);
  if (d->by_rows) d->rows[0] = 1;
}

static int64_t width_of(const Dot *d) {
  const StagePlan *p = d->p;
  DType t = p->stage->sum->acc;
  int64_t size = dtype_size(t) < 4 && dtype_is_float(t) ? 4 : dtype_size(t), width = d->s->target->lanes_bytes / size;
  if (d->rows[0] * d->rows[1] <= 6) width *= d->rows[0] * d->rows[1] == 1 ? 4 : 2;
  while (width > 8 &&
      (p->size[d->r] < 2 * width || (p->exact[d->r] && p->size[d->r] % width && p->size[d->r] % (width / 2) == 0)))
    width /= 2;
  return width;
}

/* ---- one block of outputs -------------------------------------------------------------------------------- */

typedef struct Cells { int64_t rows[2]; uint32_t at[CELLS_MOST]; const Expr *u0[2]; } Cells;

static void point_set(Dot *d, const Cells *c, int64_t i, int64_t j) {
  if (d->u[0] != NO_LABEL) d->e->label[d->u[0]] = ex_add(d->s, c->u0[0], ex_int(d->s, i));
  if (d->u[1] != NO_LABEL) d->e->label[d->u[1]] = ex_add(d->s, c->u0[1], ex_int(d->s, j));
}

static void cells_new(Dot *d, Cells *c, const char *name, uint32_t rank) {
  const Expr *dim = ex_int(d->s, d->width);
  for (int64_t k = 0; k < c->rows[0] * c->rows[1]; k++) {
    c->at[k] = var_own(d->s, NULL, name, d->p->stage->sum->acc, rank, &dim, red_identity(d->s, d->p->stage->sum));
  }
}

static const Expr *lane(Dot *d, uint32_t place, const Expr *l) { return place_read(d->s, place, 1, &l); }

static LoopBody *lanes_open(Dot *d, const Expr *count, const Expr **l) {
  uint32_t v = var_new(d->s, NULL, "l");
  *l = var_read(d->s, v);
  return into(d->s, &for_add(d->s, v, ex_int(d->s, 0), count, 1, BIND_VECTOR)->body);
}

/* Adds the points at + l, for l below count, to all cells. */
static void cells_step(Dot *d, const Cells *c, const Expr *at, const Expr *count) {
  Sched *s = d->s;
  const EinSum *sum = d->p->stage->sum;
  const Expr *l;
  LoopBody *was = lanes_open(d, count, &l);
  d->e->label[d->r] = ex_add(s, at, l);
  for (int64_t i = 0; i < c->rows[0]; i++)
    for (int64_t j = 0; j < c->rows[1]; j++) {
      uint32_t place = c->at[i * c->rows[1] + j];
      point_set(d, c, i, j);
      const Expr *value = ex_shared(s, ex_of(d->e, sum->body));
      store_add(s, place, 1, &l, red_combine(s, sum, lane(d, place, l), value));
    }
  into(s, was);
}

static void cells_fold(Dot *d, const Cells *c) {
  Sched *s = d->s;
  for (int64_t half = d->width / 2; half >= 1; half /= 2) {
    const Expr *l = ex_int(s, 0);
    LoopBody *was = half > 1 ? lanes_open(d, ex_int(s, half), &l) : s->body;
    for (int64_t k = 0; k < c->rows[0] * c->rows[1]; k++)
      store_add(s, c->at[k], 1, &l,
          red_combine(s, d->p->stage->sum, lane(d, c->at[k], l), lane(d, c->at[k], ex_add(s, l, ex_int(s, half)))));
    into(s, was);
  }
}

/* Prefetches, of each read by rows of halves that come from memory, the lines of a later row at `at`. */
static void rows_ahead(Dot *d, const Cells *c, const Expr *at) {
  Sched *s = d->s;
  const StagePlan *p = d->p;
  const Expr **read = body_reads(s, p->stage->sum), *last = ex_sub(s, p->stage->bound[d->u[0]], ex_int(s, 1));
  for (uint32_t a = 0; d->by_rows && a < p->stage->sum->n_slot; a++) {
    if (!read[a] || !has_rows(d, a) || !is_half(d, a) || !read_is_far(s, p, read[a])) continue;
    int64_t row = p->size[d->r] * 2, ahead = (AHEAD + row - 1) / row;
    if (p->size[d->u[0]] < 3 * ahead) continue;
    d->e->label[d->u[0]] = ex_min(s, ex_add(s, c->u0[0], ex_int(s, ahead)), last);
    for (int64_t l = 0; l < d->width; l += LINE / 2) {
      d->e->label[d->r] = ex_add(s, at, ex_int(s, l));
      read_fetch(s, p, read[a], d->e);
    }
  }
}

/* Reduces lo to hi of the lanes' label. */
static void span(Dot *d, const Cells *c, const Expr *lo, const Expr *hi) {
  Sched *s = d->s;
  const Expr *width = ex_int(s, d->width);
  uint32_t v = var_new(s, d->p->stage->label[d->r], "r");
  LoopBody *was = into(
      s, &for_add(s, v, lo, ex_sub(s, hi, ex_int(s, d->width - 1)), d->width, d->by_rows ? BIND_ROLL : BIND_SEQ)->body);
  rows_ahead(d, c, var_read(s, v));
  cells_step(d, c, var_read(s, v), width);
  into(s, was);
  if (expr_is_int(lo, 0) && hi->kind == EX_INT && hi->i % d->width == 0) return;
  const Expr *rest = expr_op2(s->x, OP_MOD, ex_sub(s, hi, lo), width);
  cells_step(d, c, ex_sub(s, hi, rest), rest);
}

static void block_wanted(Dot *d, const Cells *c) {
  Reach span[2];
  uint32_t n = 0;
  for (int k = 0; k < 2; k++)
    if (d->u[k] != NO_LABEL)
      span[n++] = (Reach){(uint32_t)d->u[k], c->u0[k], ex_add(d->s, c->u0[k], ex_int(d->s, c->rows[k] - 1))};
  wanted_open(d->e, d->p->n_label, n, span);
}

static void block(Dot *d, Cells *tot) {
  Sched *s = d->s;
  const StagePlan *p = d->p;
  LoopBody *was = s->body;
  cells_new(d, tot, "tot", 0);
  block_wanted(d, tot);
  for (uint32_t k = 0; k + 1 < p->n_red; k++) {
    d->e->label[p->red[k]] = for_open(s, p->stage->label[p->red[k]], "r", ex_int(s, 0), p->stage->bound[p->red[k]],
        1, BIND_SEQ);
  }
  const Expr *lo = ex_int(s, 0), *hi = p->stage->bound[d->r];
  if (!p->exact[d->r] || p->size[d->r] > DOT_BLOCK) {
    lo = for_open(s, NULL, "block", lo, hi, DOT_BLOCK, BIND_SEQ);
    hi = named(s, NULL, "end", ex_min(s, hi, ex_add(s, lo, ex_int(s, DOT_BLOCK))));
  }
  Cells acc = *tot;
  cells_new(d, &acc, "acc", 1);
  span(d, &acc, lo, hi);
  cells_fold(d, &acc);
  for (int64_t k = 0; k < tot->rows[0] * tot->rows[1]; k++)
    store_add(s, tot->at[k], 0, NULL,
        red_combine(s, p->stage->sum, scalar_read(s, tot->at[k]), lane(d, acc.at[k], ex_int(s, 0))));
  into(s, was);
}

static void block_store(Dot *d, int64_t rows, int64_t columns, const Expr *const *u0) {
  Cells tot = {.rows = {rows, columns}, .u0 = {u0[0], u0[1]}};
  block(d, &tot);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) {
      point_set(d, &tot, i, j);
      const Expr *value = expr_cast(d->s->x, d->p->stage->sum->dtype, scalar_read(d->s, tot.at[i * columns + j]));
      result_store(d->s, d->p->stage, d->e, value);
    }
}

/* ---- entry points ------------------------------------------------------------------------------------------ */

/* Computes partial blocks one output at a time. */
static void blocks(Dot *d, const Expr *const *u0) {
  Sched *s = d->s;
  const Expr *whole = NULL, *one[2] = {u0[0], u0[1]};
  for (int k = 0; k < 2; k++) {
    if (d->u[k] == NO_LABEL) continue;
    const Expr *size = d->p->stage->bound[d->u[k]];
    if (size->kind == EX_INT && size->i % d->rows[k] == 0) continue;
    whole = expr_and(s->x, whole, expr_op2(s->x, OP_LE, ex_add(s, u0[k], ex_int(s, d->rows[k])), size));
  }
  LoopBody *was = s->body;
  LoopStmt *st = whole ? if_add(s, whole) : NULL;
  if (st) into(s, &st->body);
  block_store(d, d->rows[0], d->rows[1], u0);
  if (st) {
    into(s, &st->other);
    for (int k = 0; k < 2; k++) {
      if (d->u[k] == NO_LABEL) continue;
      const Expr *end = ex_min(s, d->p->stage->bound[d->u[k]], ex_add(s, u0[k], ex_int(s, d->rows[k])));
      one[k] = for_open(s, d->p->stage->label[d->u[k]], "u", u0[k], end, 1, BIND_SEQ);
    }
    block_store(d, 1, 1, one);
  }
  into(s, was);
}

bool dot_loops(Sched *s, const StagePlan *p, Env *e, bool threads) {
  const EinSum *sum = p->stage->sum;
  if (sum->reducer == RED_NONE || reducer_is_arg(sum->reducer) ||
      sum->reducer == RED_MONOID || sum->reducer == RED_LSE || sum->where || sum->domain || !p->n_red || !p->n_order)
    return false;
  Dot d = {.s = s, .p = p, .e = e, .r = p->red[p->n_red - 1]};
  if (red_score(p) < 1 || p->size[d.r] < LANES_LEAST) return false;
  labels_choose(&d);
  if (d.u[0] == NO_LABEL) return false;
  d.width = width_of(&d);
  how_add(s, p->stage, "lanes along %s, %lld results at once", how_label(p->stage, d.r),
      (long long)(d.rows[0] * d.rows[1]));
  Walk *w = NEW(s->arena, Walk);
  for (uint32_t k = 0; k < p->n_order; k++)
    if ((int64_t)p->order[k] != d.u[0] && (int64_t)p->order[k] != d.u[1])
      walk_add(s, w, p->stage->label[p->order[k]], p->stage->bound[p->order[k]]);
  uint32_t others = w->n;
  const Expr *work = ex_int(s, (int64_t)p->ops * d.rows[0] * d.rows[1]), *u0[2] = {NULL, NULL};
  for (int k = 0; k < 2; k++)
    if (d.u[k] != NO_LABEL) walk_add(s, w, NULL, ex_div_up(s, p->stage->bound[d.u[k]], ex_int(s, d.rows[k])));
  for (uint32_t k = 0; k < p->n_red; k++) work = ex_mul(s, work, p->stage->bound[p->red[k]]);
  if (threads) walk_chunks(s, w, work, BIND_SEQ);
  else walk_plain(s, w, 0, BIND_SEQ);
  for (uint32_t k = 0, i = 0; k < p->n_order; k++)
    if ((int64_t)p->order[k] != d.u[0] && (int64_t)p->order[k] != d.u[1]) e->label[p->order[k]] = w->index[i++];
  for (int k = 0; k < 2; k++)
    if (d.u[k] != NO_LABEL)
      u0[k] = named(s, p->stage->label[d.u[k]], "u", ex_mul(s, w->index[others++], ex_int(s, d.rows[k])));
  blocks(&d, u0);
  return true;
}
