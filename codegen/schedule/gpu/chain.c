/* codegen/schedule/gpu/chain.c - decides whether stages form a chain along rows (chain.h), and splits them into
 * sweeps. Attention is one, and so is whatever reduces along the rows of a product, or multiplies row values by what
 * all rows share. The test depends on no names and, of functions, only on whether one is an exponential of a
 * difference. */
#include "schedule/gpu/chain.h"

enum { LEAST = 32 };         /* points of a row */
enum { WIDEST = 16 };        /* points of a result's row in each thread */
enum { SWEEPS = 3 };
enum { HELD_ROWS = 16 };                        /* of a warp that has whole rows */
enum { REGISTERS = 160, HELD_REGISTERS = 232 }; /* of a thread, for the chain's values at the thread's points */
enum { HALF_REGISTERS = 112 }; /* if two blocks share a multiprocessor */

bool chain_is_sum(const Chain *c, uint32_t i) { return stage_at(c, i)->sum->reducer != RED_NONE; }
static bool is_ours(const Chain *c, TaskSlot slot) { return slot.kept && slot.index >= c->from && slot.index < c->to; }

bool chain_reads(const Chain *c, uint32_t i, uint32_t of) {
  return stage_reads_stage(stage_at(c, i), of);
}

bool chain_is_over(const Chain *c, uint32_t i, uint32_t sweep) {
  return c->link[i].over != NOWHERE && c->link[i].sweep == sweep;
}

/* ---- kinds of stages ------------------------------------------------------------------------------------- */

/* Whether the read of a kept value is at the reader's own point: at its outer labels, and then at `label`. */
static bool is_own(const Chain *c, const Expr *read, uint32_t label) {
  for (uint32_t k = 0; k < read->n; k++)
    if (read->arg[k]->kind != EX_LABEL || read->arg[k]->i != (k < c->n_outer ? k : label)) return false;
  return true;
}

/* Marks which kinds the stage reads; false: it reads elsewhere than at its own points. */
static bool kinds_read(const Chain *c, const TaskStage *st, bool *kind) {
  const EinSum *sum = st->sum;
  const Expr *top[] = {sum->body, sum->where, sum->domain},
             **read = NEW_ARRAY(c->s->arena, const Expr *, sum->n_slot + 1);
  expr_slot_reads(c->s->arena, 3, top, read);
  for (uint32_t k = 0; k < sum->n_slot; k++) {
    if (!read[k] || !st->slot[k].kept) continue;
    if (!is_ours(c, st->slot[k])) return false;
    LinkIs is = c->link[st->slot[k].index].is;
    kind[is] = true;
    if (!is_own(c, read[k], is == LINK_PIECE && sum->reducer != RED_NONE ? sum->n_out : c->n_outer)) return false;
  }
  return true;
}

static bool is_float_sum(const EinSum *sum) { return sum->reducer == RED_SUM && dtype_is_float(sum->acc); }
static bool is_long(const StagePlan *p, uint32_t label, int64_t most) {
  return p->exact[label] && p->size[label] > most;
}

static bool row_fits(Chain *c, const TaskStage *st, const bool *kind) {
  const EinSum *sum = st->sum;
  if (kind[LINK_RESULT] || sum->domain) return false;
  if (sum->reducer == RED_NONE) return !kind[LINK_PIECE];
  StagePlan p = stage_plan(c->s, st);
  if (sum->n_red != 1 || red_is_arg(sum) || !c->along || st->bound[c->n_outer] != c->along->bound[c->n_outer])
    return false;
  return !is_float_sum(sum) || !is_long(&p, c->n_outer, (int64_t)DEVICE_BLOCK * TILE_SIDE);
}

static bool piece_fits(Chain *c, const TaskStage *st) {
  if (c->along && st->bound[c->n_outer] != c->along->bound[c->n_outer]) return false;
  if (!c->along) c->along = st;
  return true;
}

static bool product_fits(Chain *c, uint32_t i, const bool *kind) {
  const EinSum *sum = stage_at(c, i)->sum;
  double points = 1;
  StagePlan p = stage_plan(c->s, stage_at(c, i));
  for (uint32_t k = 0; k < p.n_red; k++) points *= (double)p.size[p.red[k]];
  if (kind[LINK_PIECE] || kind[LINK_RESULT] || (is_float_sum(sum) && points > (double)DEVICE_BLOCK)) return false;
  return !red_is_arg(sum) && !sum->where && piece_fits(c, stage_at(c, i));
}

static bool result_fits(Chain *c, const TaskStage *st, const bool *kind) {
  StagePlan p = stage_plan(c->s, st);
  const EinSum *sum = st->sum;
  if (c->result && st->bound[c->n_outer] != c->result->bound[c->n_outer]) return false;
  if (sum->reducer != RED_NONE) {
    if (kind[LINK_RESULT] || sum->n_red != 1 || red_is_arg(sum) || sum->domain ||
        (sum->where && ex_reads_kept(st, sum->where)))
      return false;
    if (st->bound[sum->n_out] != c->along->bound[c->n_outer]) return false;
  } else if (kind[LINK_PIECE]) {
    return false;
  }
  if (!p.exact[c->n_outer] || p.size[c->n_outer] > (int64_t)WIDEST * TILE_SIDE || p.size[c->n_outer] < 1) return false;
  c->result = st;
  c->lanes = (p.size[c->n_outer] + TILE_SIDE - 1) / TILE_SIDE;
  return true;
}

static bool stage_fits(Chain *c, uint32_t i) {
  const TaskStage *st = stage_at(c, i);
  const EinSum *sum = st->sum;
  bool kind[3] = {0};
  uint32_t own = sum->n_out - c->n_outer;
  if (own > 1 || !kinds_read(c, st, kind)) return false;
  if (!own) return c->link[i].is = LINK_ROW, row_fits(c, st, kind);
  bool sums = sum->reducer != RED_NONE, result = kind[LINK_RESULT] || (sums && kind[LINK_PIECE]);
  c->link[i].is = result ? LINK_RESULT : LINK_PIECE;
  return result ? result_fits(c, st, kind) : sums ? product_fits(c, i, kind) : piece_fits(c, st);
}

/* ---- sides ----------------------------------------------------------------------------------------------- */

static const Expr *nobody(void *owner, const Expr *leaf) { return (void)owner, leaf; }

/* Whether products and results are tiles of rows. */
static bool sides_fit(Chain *c) {
  const ChainShape *shape = &c->shape;
  for (uint32_t i = c->from; i < c->to; i++) {
    Link *k = &c->link[i];
    Tiles *t = &k->tiles;
    const TaskStage *st = stage_at(c, i);
    if (k->is == LINK_ROW || !chain_is_sum(c, i)) continue;
    bool piece = k->is == LINK_PIECE;
    k->env = (Env){.s = c->s, .stage = st};
    *t = tiles_of(c->s, st, &k->env, shape->rows / TILE_SIDE, piece ? shape->piece / TILE_SIDE : c->lanes);
    t->row = side_new(t, 1, &c->row), t->lane = side_new(t, 1, &c->n_outer), t->kept.other = nobody;
    t->shape.brought = shape->packed || shape->matrix;
    if (shape->packed) t->shape.row_pack = shape->each, t->shape.lane_pack = ALONG_EACH, t->shape.part = shape->deep;
    if (shape->matrix) t->shape.matrix = true, t->shape.lane_pack = 2, t->shape.part = 2 * TILE_DEEP;
    t->red = piece ? t->plan.red[t->plan.n_red - 1] : st->sum->n_out;
    if (shape->held) {
      t->shape.down = CHAIN_WARPS, t->shape.across = 1, t->kept.held = 0; /* its place comes with the loops */
      t->shape.part = piece ? t->plan.size[t->red] : shape->piece;
    }
    if (!tiles_sides(t, piece) || (shape->matrix && !tiles_are_matrix(t)) ||
        (st->sum->where && !ex_is_safe(&k->env, st->sum->where)))
      return false;
    /* domain: values outside of it are computed, but not read. */
    if (st->sum->domain && !ex_is_safe(&k->env, st->sum->body)) return false;
    uint32_t pieces = 0;
    for (uint32_t s = 0; s < st->sum->n_slot; s++)
      pieces += st->slot[s].kept && c->link[st->slot[s].index].is == LINK_PIECE;
    if (pieces > 1) return false;
  }
  return true;
}

static bool row_found(Chain *c) {
  StagePlan p = stage_plan(c->s, c->along);
  for (c->row = c->n_outer; c->row-- > 0;)
    if (p.size[c->row] >= TILE_SIDE && sides_fit(c)) return true;
  return false;
}

/* ---- sweeps ---------------------------------------------------------------------------------------------- */

/* Whether both are the same except for the number of the label along rows. */
typedef struct Same { const TaskStage *a, *b; uint32_t along_a, along_b; } Same;

static bool is_same(const Same *s, const Expr *a, const Expr *b) {
  if (!a || !b) return a == b;
  if (a->kind != b->kind || a->dtype != b->dtype || a->n != b->n) return false;
  if (a->kind == EX_LABEL) return a->i == s->along_a ? b->i == s->along_b : a->i == b->i && b->i != s->along_b;
  if (a->kind == EX_READ) {
    TaskSlot x = s->a->slot[a->i], y = s->b->slot[b->i];
    if (x.kept != y.kept || x.index != y.index) return false;
  } else if (a->kind != EX_OP) {
    return a == b;
  } else if (a->op != b->op) {
    return false;
  }
  for (uint32_t k = 0; k < a->n; k++)
    if (!is_same(s, a->arg[k], b->arg[k])) return false;
  return true;
}

/* The number of sweeps before stage `of` is complete, so that others can read it. */
static uint32_t sweeps_for(const Chain *c, uint32_t of) {
  const Link *k = &c->link[of];
  return k->is == LINK_PIECE ? k->sweep + (k->over != NOWHERE) : k->sweep + chain_is_sum(c, of);
}

/* The most that the stage waits for, ignoring stage `but`. */
static uint32_t sweeps_but(const Chain *c, uint32_t i, uint32_t but) {
  const TaskStage *st = stage_at(c, i);
  uint32_t most = 0;
  for (uint32_t k = 0; k < st->sum->n_slot; k++) {
    if (!st->slot[k].kept || st->slot[k].index == but) continue;
    uint32_t n = sweeps_for(c, st->slot[k].index);
    most = n > most ? n : most;
  }
  return most;
}

static bool is_float_op(const Expr *e, Op op) {
  return e->kind == EX_OP && e->op == op && (e->dtype == DT_F32 || e->dtype == DT_F64);
}

/* Whether e reads nothing but what the kernel keeps. */
static bool reads_kept_alone(const TaskStage *st, const Expr *e) {
  if (e->kind == EX_READ) return st->slot[e->i].kept;
  for (uint32_t k = 0; k < e->n; k++)
    if (e->arg[k]->has & HAS_READ && !reads_kept_alone(st, e->arg[k])) return false;
  return true;
}

/* Finds exp(a - u), where u depends on the maximum of a. */
static void over_find(Chain *c, uint32_t i) {
  Link *k = &c->link[i];
  const TaskStage *st = stage_at(c, i);
  const Expr *e = st->sum->body;
  k->over = k->base = NOWHERE;
  if (k->is == LINK_RESULT || chain_is_sum(c, i) != (k->is == LINK_ROW)) return;
  if (!is_float_op(e, OP_EXP) || !is_float_op(e->arg[0], OP_SUB) || st->sum->dtype != e->dtype) return;
  k->a = e->arg[0]->arg[0], k->u = e->arg[0]->arg[1];
  for (uint32_t m = c->from; m < i; m++) {
    const TaskStage *max = stage_at(c, m);
    Same same = {st, max, c->n_outer, c->n_outer};
    const EinSum *sum = max->sum;
    if (c->link[m].is != LINK_ROW || sum->reducer != RED_MAX || sum->acc != st->sum->dtype || sum->dtype != sum->acc)
      continue;
    if (ex_has_label(k->u, c->n_outer) || !reads_kept_alone(st, k->u) || !expr_reads_stage(st, k->u, m)) continue;
    if (expr_reads_stage(st, k->a, m) || !is_same(&same, k->a, sum->body)) continue;
    if (sweeps_but(c, i, m) <= c->link[m].sweep) k->over = m, k->sweep = c->link[m].sweep;
  }
}

/* Whether e is the value of stage `of`, once, times factors that do not depend on it. */
static bool is_linear(const TaskStage *st, const Expr *e, uint32_t of) {
  if (e->kind == EX_READ) return st->slot[e->i].kept && st->slot[e->i].index == of;
  if (!is_float_op(e, OP_MUL) && !is_float_op(e, OP_DIV)) return false;
  bool left = expr_reads_stage(st, e->arg[0], of), right = expr_reads_stage(st, e->arg[1], of);
  if (left == right || (e->op == OP_DIV && right)) return false;
  return is_linear(st, e->arg[left ? 0 : 1], of);
}

/* Finds whether the sum can be kept relative to the maximum so far: both must go over the same points. */
static void base_find(Chain *c, uint32_t i) {
  Link *k = &c->link[i];
  const TaskStage *st = stage_at(c, i);
  const EinSum *sum = st->sum;
  if (sum->reducer != RED_SUM || sum->dtype != sum->acc) return;
  for (uint32_t e = c->from; e <= i; e++) {
    uint32_t m = c->link[e].over;
    bool itself = e == i;
    if (m == NOWHERE || (!itself && (c->link[e].is != LINK_PIECE || stage_at(c, e)->sum->dtype != sum->acc))) continue;
    Same same = {st, stage_at(c, m), k->is == LINK_RESULT ? sum->n_out : c->n_outer, c->n_outer};
    if (!is_same(&same, sum->where, stage_at(c, m)->sum->where)) continue;
    if (!itself &&
        (!is_linear(st, sum->body, e) || expr_reads_stage(st, sum->body, m) || sweeps_but(c, i, e) > c->link[m].sweep))
      continue;
    k->base = e, k->sweep = c->link[m].sweep, c->link[m].grows = true;
    return;
  }
}

static void sweeps_find(Chain *c) {
  for (uint32_t i = c->from; i < c->to; i++) {
    Link *k = &c->link[i];
    k->sweep = sweeps_but(c, i, NOWHERE);
    over_find(c, i);
    if (chain_is_sum(c, i) && k->is != LINK_PIECE) base_find(c, i);
    if (chain_is_sum(c, i) && k->base != i && k->over != NOWHERE)
      k->over = NOWHERE, k->sweep = sweeps_but(c, i, NOWHERE);
  }
  for (uint32_t i = c->from; i < c->to; i++) {
    Link *k = &c->link[i];
    if (k->over != NOWHERE && !c->link[k->over].grows) k->over = NOWHERE, k->sweep++;
    bool stored = k->is == LINK_PIECE && stage_at(c, i)->buffer >= 0;
    uint32_t last = k->sweep + (stored && k->over != NOWHERE);
    if ((stored || (chain_is_sum(c, i) && k->is != LINK_PIECE)) && last >= c->sweeps) c->sweeps = last + 1;
  }
}

/* ---- resources -------------------------------------------------------------------------------------------- */

static int64_t element_bytes(DType t) { return dtype_is_float(t) && dtype_size(t) < 4 ? 4 : dtype_size(t); }

static bool is_read_behind(const Chain *c, uint32_t of) {
  for (uint32_t i = c->to; i < c->s->task->stages.len; i++)
    if (chain_reads(c, i, of)) return true;
  return false;
}

bool chain_in_warp(const Chain *c, const EinSum *sum) {
  return (c->shape.held || !c->shape.matrix) && sum->reducer != RED_MONOID;
}

void chain_shares(const Chain *c, bool *part, bool *tile) {
  for (uint32_t i = c->from; i < c->to; i++) {
    const TaskStage *st = stage_at(c, i);
    if (c->link[i].is == LINK_ROW && chain_is_sum(c, i)) part[st->sum->acc] |= !chain_in_warp(c, st->sum);
    for (uint32_t k = 0; k < st->sum->n_slot && c->link[i].is == LINK_RESULT && chain_is_sum(c, i); k++)
      if (st->slot[k].kept && c->link[st->slot[k].index].is == LINK_PIECE && (!c->shape.held || c->shape.edges))
        tile[stage_at(c, st->slot[k].index)->sum->dtype] = true;
  }
}

/* Of the rows that a product holds, and of what is loaded ahead for a product or a result: halves. */
static int64_t held_registers(const Chain *c, const Link *k) {
  bool piece = k->is == LINK_PIECE;
  int64_t row = two_power(piece ? k->tiles.shape.part : TILE_SIDE * c->lanes),
          ahead = c->shape.piece * row / (TILE_SIDE * TILE_SIDE);
  return (ahead + (piece ? c->shape.each * k->tiles.shape.part / 4 : 0)) / 2;
}

/* Whether shared memory and registers suffice. */
static bool is_room(Chain *c) {
  ChainShape *shape = &c->shape;
  bool part[DTYPES] = {0}, tile[DTYPES] = {0};
  int64_t bytes = 0, registers = 0;
  chain_shares(c, part, tile);
  for (uint32_t t = 0; t < DTYPES; t++) {
    bytes += part[t] ? element_bytes((DType)t) * shape->rows * shape->sharing : 0;
    bytes +=
        tile[t] ? (shape->matrix ? dtype_size((DType)t) : element_bytes((DType)t)) * shape->rows * shape->tile_wide : 0;
  }
  for (uint32_t i = c->from; i < c->to; i++) {
    const Link *k = &c->link[i];
    int64_t results = (shape->direct ? 1 : 2) * shape->results;
    int64_t points = shape->each * (k->is == LINK_ROW ? 2 : k->is == LINK_PIECE ? shape->points : results);
    if (shape->held && k->is != LINK_ROW && chain_is_sum(c, i)) registers += held_registers(c, k);
    if (k->is != LINK_ROW && chain_is_sum(c, i)) bytes += tiles_bytes(&k->tiles);
    if (k->is != LINK_RESULT || chain_is_sum(c, i))
      registers += points * (dtype_size(stage_at(c, i)->sum->acc) > 4 ? 2 : 1);
  }
  shape->beside = !shape->held && (shape->matrix || registers <= HALF_REGISTERS) ? 2 : 1;
  return bytes <= LOOP_SHARED_PLAIN && registers <= (shape->held ? HELD_REGISTERS : REGISTERS);
}

/* Whether neighbouring points are read at once, up to 16 bytes. */
static bool is_packed(const Chain *c) {
  bool fits =
      c->shape.each == ALONG_EACH && (!c->result || (c->lanes % ALONG_EACH == 0 && bring_takes(TILE_SIDE * c->lanes)));
  for (uint32_t i = c->from; i < c->to; i++) fits &= dtype_size(stage_at(c, i)->sum->acc) <= 4;
  return fits;
}

/* Whether the sums of products have whole parts of shape.deep points, and no mask is read, which takes registers. */
static bool is_deep(const Chain *c) {
  for (uint32_t i = c->from; i < c->to; i++) {
    const EinSum *sum = stage_at(c, i)->sum;
    if (sum->where && sum->where->has & HAS_READ) return false;
    if (c->link[i].is == LINK_PIECE && chain_is_sum(c, i) && !tiles_whole(&c->link[i].tiles, c->shape.deep))
      return false;
  }
  return true;
}

/* Tries `each` points of a thread along each side, with or without matrix units, and parts of sums of `deep` points;
 * false: they do not fit. */
static bool shape_fits(Chain *c, int64_t each, int64_t deep, bool matrix) {
  ChainShape *shape = &c->shape;
  shape->held = shape->edges = shape->direct = false;
  shape->each = shape->points = each, shape->results = c->lanes;
  shape->rows = shape->piece = TILE_SIDE * each, shape->sharing = TILE_SIDE;
  shape->packed = is_packed(c), shape->deep = deep;
  shape->matrix = matrix && shape->packed;
  if (matrix && !shape->matrix) return false;
  if (shape->matrix) shape->packed = false;
  shape->tile_wide = shape->piece + (shape->matrix ? 8 : shape->packed ? 4 : shape->each % 2 ? 0 : TILE_SIDE);
  return row_found(c) && is_room(c) && (deep == TILE_DEEP || (shape->packed && is_deep(c)));
}

/* Tries a warp for each HELD_ROWS rows. */
static bool held_fits(Chain *c, int64_t piece) {
  ChainShape *shape = &c->shape;
  StagePlan p = stage_plan(c->s, c->along);
  shape->held = shape->matrix = true, shape->packed = false;
  shape->rows = HELD_ROWS * CHAIN_WARPS, shape->piece = piece, shape->sharing = 4;
  shape->each = HELD_ROWS / 8, shape->points = piece / 4, shape->results = TILE_SIDE * c->lanes / 4;
  shape->tile_wide = piece + 8;
  shape->direct = p.exact[c->n_outer] && p.size[c->n_outer] <= DEVICE_BLOCK;
  shape->edges = false;
  for (uint32_t i = c->from; i < c->to; i++) shape->edges |= c->link[i].is == LINK_RESULT && stage_at(c, i)->sum->where;
  return row_found(c) && p.size[c->row] > shape->rows / 2 && chain_held_fits(c) && is_room(c);
}

static bool chain_fits(Chain *c) {
  bool product = false, sums = false;
  for (uint32_t i = c->from; i < c->to; i++) {
    LinkIs is = c->link[i].is;
    product |= is != LINK_ROW && chain_is_sum(c, i);
    sums |= is != LINK_PIECE && chain_is_sum(c, i);
    if (is == LINK_PIECE && is_read_behind(c, i)) return false;
  }
  if (!product || !sums || !c->n_outer) return false;
  StagePlan p = stage_plan(c->s, c->along);
  if (p.size[c->n_outer] < LEAST) return false;
  for (int64_t piece = 64; piece >= 32; piece /= 2)
    if (held_fits(c, piece)) return true;
  if (shape_fits(c, ALONG_EACH, TILE_DEEP, true) || shape_fits(c, ALONG_EACH, 2 * TILE_DEEP, false)) return true;
  for (int64_t each = ALONG_EACH; each > 1; each /= 2)
    if (shape_fits(c, each, TILE_DEEP, false)) return true;
  return false;
}

static void choice_report(const Chain *c) {
  const ChainShape *shape = &c->shape;
  const char *row = how_label(c->along, c->row), *along = how_label(c->along, c->n_outer);
  bool grows = false;
  for (uint32_t i = c->from; i < c->to; i++) grows |= c->link[i].grows;
  how_add(c->s, NULL,
      "%u stages in one launch: a block has %lld %s and goes along %s by %lld, in %lld sweep%s, %lld by %lld "
      "threads%s%s",
      c->to - c->from, (long long)shape->rows, row, along, (long long)shape->piece, (long long)c->sweeps,
      c->sweeps == 1 ? "" : "s", (long long)TILE_SIDE, (long long)TILE_SIDE,
      shape->held         ? "; products by matrix units, of rows and pieces in registers"
          : shape->matrix ? "; products by matrix units"
                          : "",
      grows ? "; sums of exponentials are kept for the largest so far" : "");
}

static void ends_find(Chain *c) {
  StagePlan p = stage_plan(c->s, c->along);
  c->shape.rows_whole = p.exact[c->row] && p.size[c->row] % c->shape.rows == 0;
  c->shape.along_whole = p.exact[c->n_outer] && p.size[c->n_outer] % c->shape.piece == 0;
}

bool chain_launch(Sched *s, uint32_t from, uint32_t *to) {
  uint32_t n = s->task->stages.len;
  Chain c = {.s = s,
      .from = from,
      .to = from,
      .n_outer = s->task->n_outer,
      .link = NEW_ARRAY(s->arena, Link, n + 1),
      .lanes = 1,
      .sweeps = 1};
  while (c.to < n && stage_fits(&c, c.to)) c.to++;
  if (tile_in_place(s) || !c.along || !chain_fits(&c)) return false;
  sweeps_find(&c);
  ends_find(&c);
  if (c.sweeps > SWEEPS) return false;
  choice_report(&c);
  chain_loops(&c);
  *to = c.to;
  return true;
}
