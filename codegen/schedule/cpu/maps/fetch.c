/* codegen/schedule/cpu/maps/fetch.c - prefetches what tiles need next. Rows that are read once, from far: those of the
 * next tile, because the hardware prefetcher sees as many short streams as a tile has rows, and cannot guess where
 * they continue. And the places of a tile's results, with what is read there: each row of it lies in another page than
 * the one before. */
#include "schedule/schedule.h"

#include <string.h>

enum {
  LINE = 64,                 /* bytes of a cache line */
  AHEAD = 4096,              /* bytes to keep in flight, if a tile has fewer */
  TILE_LEAST = 2048,         /* bytes of a tile's rows: fewer were covered by the last tile's prefetch, */
  TILE_MOST = 32768,         /*   with more, the first would be evicted before their use */
  POINTS = 16,               /* roughly how many points of a sum lie between prefetches */
  POINTS_LEAST = 8,
  POINTS_MOST = 40,
  ROW_LEAST = 1024,          /* bytes of a row of results: shorter ones lie next to each other */
  ALL_LEAST = 1 << 20        /* and of the tensor: a smaller one is in cache anyway */
};

int64_t fetch_points(int64_t n) {
  for (int64_t d = POINTS; d <= POINTS_MOST; d++) {
    if (n % d == 0 && d < n) return d;
    if (2 * POINTS - d >= POINTS_LEAST && n % (2 * POINTS - d) == 0 && 2 * POINTS - d < n) return 2 * POINTS - d;
  }
  return 0;
}

static double bytes_of(const TaskBuffer *b) {
  double all = (double)dtype_size(b->dtype);
  for (uint32_t k = 0; k < b->rank; k++) all *= b->dim[k]->kind == EX_INT ? (double)b->dim[k]->i : 1e6;
  return all;
}

bool read_is_far(Sched *s, const StagePlan *p, const Expr *of) {
  if (of->kind != EX_READ || p->stage->slot[of->i].kept || p->stage->sum->where || p->stage->sum->domain) return false;
  return bytes_of(buffer_seen(s, p->stage->slot[of->i].index)) >= (double)ALL_LEAST;
}

LoopStmt *read_fetch(Sched *s, const StagePlan *p, const Expr *of, Env *e) {
  while (of->kind == EX_OP && of->n == 1) of = of->arg[0];
  if (!read_is_far(s, p, of)) return NULL;
  const Expr *at = ex_of(e, of);
  return map_find(&s->safe, at) ? fetch_add(s, at) : NULL;
}

/* Whether it is a read by rows that the lanes share: rows are strided, and each is contiguous along the last reduced
 * label. If an index depends on two labels, rows overlap, and most of them are in cache. */
static bool is_of_rows(const FetchRows *f, uint32_t access, const Expr *read) {
  const StagePlan *p = f->p;
  if (plan_move(p, access, f->u) != MOVE_FAR || plan_move(p, access, f->v) != MOVE_NONE) return false;
  if (plan_move(p, access, p->red[p->n_red - 1]) != MOVE_UNIT) return false;
  for (uint32_t k = 0; k < read->n; k++)
    if (read->arg[k]->kind != EX_LABEL) return false;
  return true;
}

/* Bytes of a tile's rows. */
static int64_t tile_bytes(const FetchRows *f, uint32_t access, DType t) {
  const StagePlan *p = f->p;
  int64_t bytes = f->rows * dtype_size(t);
  for (uint32_t k = 0; k < p->n_red && bytes <= TILE_MOST; k++)
    if (plan_move(p, access, p->red[k]) != MOVE_NONE) bytes *= p->size[p->red[k]];
  return bytes;
}

static void loop_open(Sched *s, const FetchRows *f, Env *e, uint32_t label, int64_t step) {
  const Expr *lo = f->lo ? f->lo : ex_int(s, 0), *hi = f->lo ? f->hi : f->p->stage->bound[label];
  e->label[label] = for_open(s, f->p->stage->label[label], "r", lo, hi, step, BIND_SEQ);
}

/* Prefetches the tile that is `ahead` tiles further on, line by line. */
static void fetch_tile(Sched *s, const FetchRows *f, Env *e, const Expr *read, int64_t ahead) {
  const StagePlan *p = f->p;
  const Expr *end = ex_sub(s, p->stage->bound[f->u], ex_int(s, 1)),
             **was = NEW_ARRAY(s->arena, const Expr *, p->n_label + 1);
  LoopBody *around = s->body;
  memcpy(was, e->label, p->n_label * sizeof *was);
  if (f->when) into(s, &if_add(s, f->when)->body);
  for (uint32_t k = 0; k < p->n_red; k++) {
    bool last = k + 1 == p->n_red;
    if (ex_has_label(read, p->red[k]) && (last || !f->lo))
      loop_open(s, f, e, p->red[k], last ? LINE / dtype_size((DType)read->dtype) : 1);
  }
  for (int64_t k = 0; k < f->rows; k++) {
    e->label[f->u] = ex_min(s, ex_add(s, f->u0, ex_int(s, ahead * f->rows + k)), end);
    const Expr *at = ex_of(e, read);
    if (map_find(&s->safe, at)) fetch_add(s, at);
  }
  memcpy(e->label, was, p->n_label * sizeof *was);
  into(s, around);
}

/* The prefetch distance in tiles; 0: not worth it. */
static int64_t tiles_ahead(Sched *s, const FetchRows *f, uint32_t access, const Expr *read) {
  TaskSlot slot = f->p->stage->slot[access];
  if (!read || slot.kept || !is_of_rows(f, access, read)) return 0;
  const TaskBuffer *b = buffer_seen(s, slot.index);
  int64_t tile = tile_bytes(f, access, b->dtype), ahead = tile ? (AHEAD + tile - 1) / tile : 1;
  if (tile < TILE_LEAST || tile > TILE_MOST || bytes_of(b) < (double)ALL_LEAST ||
      f->p->size[f->u] < 3 * ahead * f->rows)
    return 0;
  return ahead;
}

bool rows_wanted(Sched *s, const FetchRows *f) {
  const EinSum *sum = f->p->stage->sum;
  const Expr **read = body_reads(s, sum);
  bool some = false;
  for (uint32_t a = 0; a < sum->n_slot; a++) some |= tiles_ahead(s, f, a, read[a]) > 0;
  return some && !sum->where && !sum->domain;
}

void rows_fetch(Sched *s, const FetchRows *f, Env *e) {
  const EinSum *sum = f->p->stage->sum;
  const Expr **read = body_reads(s, sum);
  if (sum->where || sum->domain) return;
  for (uint32_t a = 0; a < sum->n_slot; a++) {
    int64_t ahead = tiles_ahead(s, f, a, read[a]);
    if (ahead) fetch_tile(s, f, e, read[a], ahead);
  }
}

/* ---- prefetch along a surrounding label -------------------------------------------------------------------------- */

static bool is_around(const FetchNext *f, uint32_t label) {
  for (uint32_t k = 0; k < f->p->n_order; k++)
    if (f->p->order[k] == label) return label != f->u && label != f->v;
  return false;
}

/* The labels that a read depends on at one point of the surrounding label, in the order of its axes, if there are at
 * least two; *bytes: how much it reads. 0: it has other indices than labels, or extents are unknown. */
static uint32_t labels_at_point(const FetchNext *f, const Expr *read, uint32_t *label, int64_t *bytes) {
  uint32_t n = 0;
  *bytes = dtype_size((DType)read->dtype);
  if (!ex_has_label(read, f->label)) return 0;
  for (uint32_t k = 0; k < read->n; k++) {
    if (read->arg[k]->kind != EX_LABEL) return 0;
    uint32_t at = (uint32_t)read->arg[k]->i;
    if (is_around(f, at)) continue;
    if (!f->p->exact[at]) return 0;
    if (*bytes <= TILE_MOST) *bytes *= f->p->size[at];
    label[n++] = at;
  }
  return n > 1 && !is_around(f, (uint32_t)read->arg[read->n - 1]->i) ? n : 0;
}

/* Prefetches the tile's share: some points of the first label, and all of the others. */
static void fetch_share(Sched *s, const FetchNext *f, Env *e, const Expr *read, uint32_t n, const uint32_t *label) {
  int64_t size = f->p->size[label[0]], share = (size + f->tiles - 1) / f->tiles;
  const Expr *lo = ex_mul(s, f->tile, ex_int(s, share)), *hi = ex_add(s, lo, ex_int(s, share));
  if (share * f->tiles != size) hi = ex_min(s, hi, ex_int(s, size));
  for (uint32_t k = 0; k < n; k++) {
    uint32_t v = var_new(s, f->p->stage->label[label[k]], "r");
    int64_t step = k + 1 < n ? 1 : LINE / dtype_size((DType)read->dtype);
    into(s, &for_add(s, v, k ? ex_int(s, 0) : lo, k ? f->p->stage->bound[label[k]] : hi, step, BIND_SEQ)->body);
    e->label[label[k]] = var_read(s, v);
  }
  const Expr *at = ex_of(e, read);
  if (map_find(&s->safe, at)) fetch_add(s, at);
}

/* As labels_at_point, if the read is worth a prefetch. */
static uint32_t labels_wanted(Sched *s, const FetchNext *f, uint32_t access, const Expr *read, uint32_t *label) {
  TaskSlot slot = f->p->stage->slot[access];
  int64_t bytes;
  if (!read || slot.kept || bytes_of(buffer_seen(s, slot.index)) < (double)ALL_LEAST) return 0;
  uint32_t n = labels_at_point(f, read, label, &bytes);
  return bytes < TILE_LEAST || bytes > TILE_MOST ? 0 : n;
}

bool next_wanted(Sched *s, const FetchNext *f) {
  const EinSum *sum = f->p->stage->sum;
  const Expr **read = body_reads(s, sum);
  uint32_t *label = NEW_ARRAY(s->arena, uint32_t, f->p->n_label + 1);
  bool some = false;
  for (uint32_t a = 0; a < sum->n_slot; a++) some |= labels_wanted(s, f, a, read[a], label) > 0;
  return some && !sum->where && !sum->domain;
}

void next_fetch(Sched *s, const FetchNext *f, Env *e) {
  const StagePlan *p = f->p;
  const EinSum *sum = p->stage->sum;
  if (sum->where || sum->domain) return;
  const Expr **read = body_reads(s, sum), **was = NEW_ARRAY(s->arena, const Expr *, p->n_label + 1);
  uint32_t *label = NEW_ARRAY(s->arena, uint32_t, p->n_label + 1);
  memcpy(was, e->label, p->n_label * sizeof *was);
  for (uint32_t a = 0; a < sum->n_slot; a++) {
    uint32_t n = labels_wanted(s, f, a, read[a], label);
    if (!n) continue;
    LoopBody *around = s->body;
    const Expr *end = ex_sub(s, p->stage->bound[f->label], ex_int(s, 1));
    e->label[f->label] = ex_min(s, ex_add(s, was[f->label], ex_int(s, 1)), end);
    fetch_share(s, f, e, read[a], n, label);
    memcpy(e->label, was, p->n_label * sizeof *was);
    into(s, around);
  }
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Whether it is contiguous along v and strided along u, in a large tensor. */
static bool is_of_tile(Sched *s, const FetchRows *f, uint32_t buffer, uint32_t n, const Expr *const *at) {
  if (!n || at[n - 1]->kind != EX_LABEL || at[n - 1]->i != f->v || bytes_of(buffer_seen(s, buffer)) < (double)ALL_LEAST)
    return false;
  for (uint32_t k = 0; k + 1 < n; k++)
    if (ex_has_label(at[k], f->u)) return true;
  return false;
}

/* Prefetches what the stage stores and reads at e's point. */
static void point_fetch(Sched *s, const FetchRows *f, Env *e, const Expr *const *read) {
  const TaskStage *st = e->stage;
  if (st->buffer >= 0 && is_of_tile(s, f, (uint32_t)st->buffer, st->n_at, st->at)) {
    const Expr **at = ex_store_at(e, st);
    fetch_add(s, place_read(s, place_of_buffer(s, (uint32_t)st->buffer, true), st->n_at, at));
  }
  for (uint32_t a = 0; a < st->sum->n_slot && read; a++) {
    if (!read[a] || st->slot[a].kept || !is_of_tile(s, f, st->slot[a].index, read[a]->n, read[a]->arg)) continue;
    const Expr *at = ex_of(e, read[a]);
    if (map_find(&s->safe, at)) fetch_add(s, at);
  }
}

/* Clamps to the last valid point, if tiles may be cut off. */
static const Expr *clamped(Sched *s, const FetchRows *f, uint32_t label, int64_t unit, const Expr *at) {
  if (f->p->exact[label] && f->p->size[label] % unit == 0) return at;
  return ex_min(s, at, ex_sub(s, f->p->stage->bound[label], ex_int(s, 1)));
}

void result_fetch(Sched *s, const FetchRows *f, Env *e, const Expr *v0, int64_t lanes) {
  const TaskStage *first = f->p->stage;
  const Expr *was_u = e->label[f->u], *was_v = e->label[f->v];
  if (f->p->size[f->v] * dtype_size(first->sum->dtype) < ROW_LEAST) return;
  for (uint32_t i = s->follow.goes_on ? s->follow.then : 0; i < (s->follow.goes_on ? s->task->stages.len : 1); i++) {
    Env other = {.s = s, .stage = s->follow.goes_on ? &s->task->stages.at[i] : first, .label = e->label};
    const EinSum *sum = other.stage->sum;
    if (sum->where || sum->domain) break;
    const Expr **read = body_reads(s, sum);
    for (int64_t r = 0; r < f->rows; r++)
      for (int64_t l = 0; l < lanes; l += LINE / dtype_size(sum->dtype)) {
        e->label[f->u] = clamped(s, f, f->u, f->rows, ex_add(s, f->u0, ex_int(s, r)));
        e->label[f->v] = clamped(s, f, f->v, lanes, ex_add(s, v0, ex_int(s, l)));
        point_fetch(s, f, &other, s->follow.goes_on ? read : NULL);
      }
  }
  e->label[f->u] = was_u, e->label[f->v] = was_v;
}
