/* codegen/schedule/cpu/rows/rows.c - kernels of several stages: loops over the labels that they share, the rows, and
 * within a row one stage after the other. Stages over the same points of a row share a sweep
 * (schedule/cpu/rows/lanes.c) unless one depends on the other's result: a softmax is a sweep for the maximum, one for
 * the exponentials and their sum, and one for the quotients.
 *
 * A map that a later sweep reads is recomputed there if that costs less than keeping it; else it is kept where the
 * row's result will be, or in an array of the kernel's own. Results too large for any cache are streamed
 * (schedule/cpu/maps/stream.c) by sweeps of maps alone. A few short rows run together, each sweep for all of them. If
 * rows are taken in blocks (schedule/cpu/rows/block.c), each stage has its own loops and an array. */
#include "schedule/schedule.h"

enum {
  AGAIN_OPS = 8,             /* at most so many operations are cheaper than an array */
  TOGETHER_BYTES = 8192,     /* of rows that run together, for their widest stage */
  PAGE = 4096,               /* bytes; and of a cache line, */
  LINE = 64                  /*   which goes to a place of the cache that depends on its place in a page */
};

typedef enum {
  HOME_NONE,                 /* nobody reads it, or only its own sweep does */
  HOME_AGAIN,                /* recomputed */
  HOME_STORE,                /* where stage `store` puts its result */
  HOME_OWN                   /* a register, or an array */
} Home;

typedef struct RowStage {
  StagePlan p;
  Env e;
  bool flat;                 /* runs in sweeps, */
  uint32_t level;            /*   in that of this level over its points */
  const Expr **read;         /* by slot: the read; NULL: none */
  double cost;               /* cost of recomputing it, with its inputs */
  bool here;                 /* some stage of its own sweep reads it */
  Home home;
  uint32_t store;
} RowStage;

typedef struct Rows {
  Sched *s;
  uint32_t n;
  RowStage *at;              /* by stage */
  const Expr **label;        /* of all stages, by number; the shared ones come first */
  const Expr *from, *to;     /* the range of rows that run together */
  uint32_t into;             /* the stage whose value the last one continues from; NOWHERE: none */
} Rows;

typedef struct Group { Rows *r; uint32_t *stage; } Group; /* the sweep's stages, by part */

/* ---- points ------------------------------------------------------------------------------------------ */

static const EinSum *sum_of(const RowStage *q) { return q->p.stage->sum; }
static bool is_map(const RowStage *q) { return sum_of(q)->reducer == RED_NONE; }

/* Whether the stage has one value per row. */
static bool is_single(const Rows *r, uint32_t k) { return sum_of(&r->at[k])->n_out == r->s->outer; }

static bool in_order(const StagePlan *p, uint32_t n, const uint32_t *label) {
  for (uint32_t k = 0; k < n; k++)
    if (label[k] != p->n_label - n + k) return false;
  return n > 0;
}

/* Whether some access is contiguous along another label, but strided along the innermost. */
static bool crosses(const StagePlan *p) {
  uint32_t last = p->n_label - 1;
  for (uint32_t a = 0; a < p->n_access; a++)
    for (uint32_t k = 0; k + 1 < p->n_order; k++)
      if (plan_move(p, a, last) == MOVE_FAR && plan_move(p, a, p->order[k]) == MOVE_UNIT) return true;
  return false;
}

static bool is_flat(Sched *s, const StagePlan *p) {
  const EinSum *sum = p->stage->sum;
  if (sum->domain || sum->where) return false;
  if (sum->reducer == RED_NONE) return in_order(p, p->n_order, p->order) && !crosses(p);
  return sum->n_out == s->outer && lanes_width(s, p) && in_order(p, p->n_red, p->red);
}

/* Whether both go over the same points of a row. A map's own labels, or a reduction's, follow the shared ones and have
 * the same numbers. */
static bool same_points(const Rows *r, uint32_t a, uint32_t b) {
  const StagePlan *p = &r->at[a].p, *q = &r->at[b].p;
  if (!r->at[a].flat || !r->at[b].flat || p->n_label != q->n_label) return false;
  for (uint32_t l = r->s->outer; l < p->n_label; l++)
    if (p->stage->bound[l] != q->stage->bound[l]) return false;
  return true;
}

/* Whether stage i reads the map k, through this slot, at its own point. */
static bool at_point(const Rows *r, uint32_t i, uint32_t slot, uint32_t k) {
  const Expr *read = r->at[i].read[slot];
  if (!read || !is_map(&r->at[k]) || !same_points(r, i, k)) return false;
  for (uint32_t l = r->s->outer; l < read->n; l++)
    if (read->arg[l]->kind != EX_LABEL || read->arg[l]->i != l) return false;
  return true;
}

/* ---- facts about stages -------------------------------------------------------------------------------- */


/* Whether e is a product that varies within a row. */
static bool is_product(const StagePlan *p, uint32_t outer, const Expr *e) {
  if (e->kind != EX_OP || e->op != OP_MUL || !dtype_is_float((DType)e->dtype)) return false;
  for (uint32_t l = outer; l < p->n_label; l++)
    if (ex_has_label(e, l)) return true;
  return false;
}

/* Whether e has no functions or divisions; no halves, which would be widened; and nothing that a C compiler may fuse
 * in one place and not in another: wherever it is computed, it is the same number. */
static bool is_light(const StagePlan *p, uint32_t outer, const Expr *e) {
  if (e->kind == EX_READ) return !dtype_is_half((DType)e->dtype);
  if (e->kind != EX_OP) return true;
  bool sum = e->op == OP_ADD || e->op == OP_SUB;
  if (!(op_info[e->op].laws & LAW_EXACT) || e->op == OP_DIV || e->op == OP_IDIV || e->op == OP_MOD || e->op == OP_SQRT)
    return false;
  for (uint32_t k = 0; k < e->n; k++)
    if (!is_light(p, outer, e->arg[k]) || (sum && is_product(p, outer, e->arg[k]))) return false;
  return true;
}

/* Whether it reads at computed indices. */
static bool is_far(const Expr *read) {
  for (uint32_t k = 0; read && k < read->n; k++)
    if (read->arg[k]->kind == EX_OP || read->arg[k]->kind == EX_READ) return true;
  return false;
}

static double cost_again(const Rows *r, uint32_t i) {
  const RowStage *q = &r->at[i];
  double cost = q->p.ops;
  if (!q->flat || !is_map(q) || cost > (double)AGAIN_OPS || dtype_is_half(sum_of(q)->dtype)) return AGAIN_OPS + 1;
  if (!is_light(&q->p, r->s->outer, sum_of(q)->body)) return AGAIN_OPS + 1;
  for (uint32_t j = 0; j < sum_of(q)->n_slot; j++) {
    TaskSlot slot = q->p.stage->slot[j];
    if (is_far(q->read[j])) return AGAIN_OPS + 1;
    if (slot.kept && !is_map(&r->at[slot.index])) continue;
    if (slot.kept && r->at[slot.index].flat) cost += r->at[slot.index].cost;
  }
  return cost;
}

/* The level behind everything that the stage depends on; a map's value at the current point is no wait. */
static uint32_t level_of(const Rows *r, uint32_t i) {
  const TaskStage *st = r->at[i].p.stage;
  uint32_t level = 0;
  for (uint32_t j = 0; j < st->sum->n_slot; j++) {
    if (!st->slot[j].kept) continue;
    uint32_t k = st->slot[j].index, from = r->at[k].level + !at_point(r, i, j, k);
    if (from > level) level = from;
  }
  return level;
}

static void stage_look(Rows *r, uint32_t i) {
  Sched *s = r->s;
  RowStage *q = &r->at[i];
  const TaskStage *st = &s->task->stages.at[i];
  q->p = stage_plan(s, st);
  q->e = (Env){.s = s, .stage = st, .label = r->label};
  q->flat = !s->rows.block && is_flat(s, &q->p);
  q->read = NEW_ARRAY(s->arena, const Expr *, st->sum->n_slot + 1);
  expr_slot_reads(s->arena, 3, (const Expr *const[]){st->sum->body, st->sum->where, st->sum->domain}, q->read);
  q->level = s->rows.block ? i : level_of(r, i);
  q->cost = cost_again(r, i);
}

/* ---- homes of values ------------------------------------------------------------------------------------ */

typedef struct Readers {
  bool any, here, beyond;    /* readers; in its own sweep; in another one */
  bool at_point;             /* all are in sweeps and read at their own point */
  uint32_t last;             /* level of the last reader */
} Readers;

/* The readers of stage k: they come after it, and already have a home. */
static Readers readers_of(const Rows *r, uint32_t k) {
  Readers all = {.at_point = true};
  for (uint32_t i = k + 1; i < r->n; i++) {
    const TaskStage *st = r->at[i].p.stage;
    for (uint32_t j = 0; j < st->sum->n_slot; j++) {
      if (!st->slot[j].kept || st->slot[j].index != k) continue;
      all.any = true;
      all.at_point &= at_point(r, i, j, k);
      all.here |= r->at[i].level == r->at[k].level;
      all.beyond |= r->at[i].level != r->at[k].level || r->at[i].home == HOME_AGAIN;
      if (r->at[i].home == HOME_AGAIN) all.last = UINT32_MAX; /* wherever that is recomputed */
      else if (r->at[i].level > all.last) all.last = r->at[i].level;
    }
  }
  return all;
}

static bool buffer_is_read(const Rows *r, uint32_t buffer) {
  for (uint32_t i = 0; i < r->n; i++)
    for (uint32_t j = 0; j < sum_of(&r->at[i])->n_slot; j++)
      if (!r->at[i].p.stage->slot[j].kept && r->at[i].p.stage->slot[j].index == buffer) return true;
  return false;
}

/* Whether the result of stage h can hold other values until h writes it: a state that is updated in place can not. */
static bool may_lend(const Rows *r, uint32_t h) {
  int32_t buffer = r->at[h].p.stage->buffer;
  return buffer >= 0 && !buffer_is_read(r, (uint32_t)buffer);
}

static bool has_home_in(const Rows *r, uint32_t h) {
  for (uint32_t i = 0; i < r->n; i++)
    if (r->at[i].home == HOME_STORE && r->at[i].store == h) return true;
  return false;
}

/* The condition under which map h's result bypasses the cache; NULL: never. */
static const Expr *streams_if(const Rows *r, uint32_t h) {
  const RowStage *q = &r->at[h];
  if (!q->flat || !is_map(q) || q->p.stage->buffer < 0 || !stream_rows(&q->p, q->p.n_label - 1)) return NULL;
  return buffer_is_read(r, (uint32_t)q->p.stage->buffer) ? NULL : stream_if(r->s, q->p.stage);
}

/* Whether a row of stage k is known to fit an array of the kernel's own, which is then better than a result that could
 * be streamed. */
static bool is_short(const Rows *r, uint32_t k) {
  const StagePlan *p = &r->at[k].p;
  int64_t bytes = dtype_size(p->stage->sum->dtype);
  for (uint32_t l = r->s->outer; l < p->n_label; l++)
    if (!p->exact[l] || !mul_ok(bytes, p->size[l], &bytes) || bytes > LOOP_STACK) return false;
  return true;
}

/* Whether values of stage k can be kept in stage h's result until h writes it. */
static bool store_fits(const Rows *r, uint32_t k, uint32_t h) {
  const RowStage *q = &r->at[h];
  if (!is_map(q) || !same_points(r, k, h) || !may_lend(r, h)) return false;
  DType t = sum_of(&r->at[k])->dtype;
  if (t != buffer_seen(r->s, (uint32_t)q->p.stage->buffer)->dtype || dtype_is_half(t) || t == DT_BOOL) return false;
  if (plan_move(&q->p, q->p.n_access - 1, q->p.n_label - 1) != MOVE_UNIT) return false;
  if (k != h && is_short(r, k) && streams_if(r, h)) return false;
  return !has_home_in(r, h);
}

static void home_choose(Rows *r, uint32_t k) {
  RowStage *q = &r->at[k];
  uint32_t end = r->n - 1;
  Readers all = readers_of(r, k);
  q->home = HOME_NONE;
  q->here = all.here;
  if (!all.any || (q->flat && is_map(q) && all.at_point && !all.beyond)) return;
  q->home = HOME_OWN;
  if (!q->flat || !is_map(q) || !all.at_point) return;
  if (q->cost <= (double)AGAIN_OPS) {
    q->home = HOME_AGAIN;
  } else if (store_fits(r, k, k)) {
    q->home = HOME_STORE, q->store = k;
  } else if (store_fits(r, k, end) && all.last <= r->at[end].level) {
    q->home = HOME_STORE, q->store = end;
  }
}

/* Whether stage i reads stage k; *own stays true if it does so at its own labels only. */
static bool reads(const Rows *r, uint32_t i, uint32_t k, bool *own) {
  const TaskStage *st = r->at[i].p.stage;
  bool any = false;
  for (uint32_t j = 0; j < st->sum->n_slot; j++) {
    const Expr *read = r->at[i].read[j];
    if (!read || !st->slot[j].kept || st->slot[j].index != k) continue;
    any = true;
    for (uint32_t l = 0; l < read->n; l++) *own &= read->arg[l]->kind == EX_LABEL && read->arg[l]->i == l;
  }
  return any;
}

/* Whether map k may overwrite the result of stage i, which it reads: all others have read it before. */
static bool may_follow(const Rows *r, uint32_t k, uint32_t i) {
  const EinSum *from = sum_of(&r->at[i]), *to = sum_of(&r->at[k]);
  bool own = true, any = true;
  if (r->s->of_stage[i] == NOWHERE || from->dtype != to->dtype || from->n_out != to->n_out) return false;
  if (!reads(r, k, i, &own) || !own) return false;
  for (uint32_t l = r->s->outer; l < from->n_out; l++) /* it may have more points, of which it reads some */
    if (r->at[i].p.stage->bound[l] != r->at[k].p.stage->bound[l]) return false;
  for (uint32_t j = i + 1; j < r->n; j++) {
    if (j != k && reads(r, j, i, &any) && (r->at[j].level >= r->at[k].level || r->at[j].home == HOME_AGAIN))
      return false;
    if (j < k && r->s->of_stage[j] == r->s->of_stage[i]) return false; /* another stage's already */
  }
  return true;
}

/* In blocks: the stage, if any, whose reduction the last stage maps point by point, so that it needs no array between
 * them and can follow the result's order. */
static uint32_t goes_into_last(const Rows *r) {
  uint32_t last = r->n - 1;
  const TaskStage *to = &r->s->task->stages.at[last];
  if (!r->s->rows.block || to->sum->reducer != RED_NONE || to->sum->domain || !may_lend(r, last)) return NOWHERE;
  for (uint32_t k = 0; k < last; k++) {
    const TaskStage *st = &r->s->task->stages.at[k];
    bool own = true, others = false, any = true;
    if (is_map(&r->at[k]) || st->buffer >= 0 || st->sum->domain || st->sum->n_out != to->sum->n_out ||
        st->sum->n_out <= r->s->outer + 1)
      continue;
    if (st->sum->dtype != buffer_seen(r->s, (uint32_t)to->buffer)->dtype || !reads(r, last, k, &own) || !own) continue;
    for (uint32_t i = k + 1; i < last; i++) others |= reads(r, i, k, &any);
    for (uint32_t l = r->s->outer; l < st->sum->n_out; l++) others |= st->bound[l] != to->bound[l];
    if (!others) return k;
  }
  return NOWHERE;
}

/* Moves that stage to the last one's level and result. */
static void into_last(Rows *r) {
  r->into = goes_into_last(r);
  if (r->into == NOWHERE) return;
  TaskStage *st = &r->s->task->stages.at[r->into];
  const TaskStage *last = &r->s->task->stages.at[r->n - 1];
  r->at[r->into].level = r->at[r->n - 1].level;
  st->buffer = last->buffer, st->n_at = last->n_at, st->at = last->at;
}

/* Rows of whole pages become a line longer: otherwise lines of a column, such as those that a tile of the transposed
 * product reads, have the same place in their pages, and evict one another. */
static void pages_apart(Sched *s, DType t, uint32_t n, const Expr **dim) {
  int64_t bytes, size = dtype_is_half(t) ? 4 : dtype_size(t); /* halves are kept as floats */
  if (n > 1 && dim[n - 1]->kind == EX_INT && mul_ok(dim[n - 1]->i, size, &bytes) && bytes > 0 && bytes % PAGE == 0)
    dim[n - 1] = ex_int(s, dim[n - 1]->i + LINE / size);
}

static void keep(Rows *r, uint32_t k) {
  Sched *s = r->s;
  const TaskStage *st = r->at[k].p.stage;
  if (r->at[k].home != HOME_OWN || k == r->into) return;
  for (uint32_t i = 0; i < k && is_map(&r->at[k]); i++) {
    if (!may_follow(r, k, i)) continue;
    s->of_stage[k] = s->of_stage[i];
    return;
  }
  uint32_t n = st->sum->n_out - s->outer, rows = s->rows.together > 1;
  const Expr **dim = NEW_ARRAY(s->arena, const Expr *, n + 2);
  dim[0] = ex_int(s, s->rows.together);
  for (uint32_t l = 0; l < n; l++) dim[l + rows] = st->bound[s->outer + l];
  if (n > 1) pages_apart(s, st->sum->dtype, n + rows, dim);
  uint32_t place = place_own(s, st->name, "t", st->sum->dtype, n + rows, dim);
  s->of_stage[k] = place;
  var_add(s, place, NULL);
}

/* ---- sweeps ------------------------------------------------------------------------------------------------ */

static const Expr *value_of(Rows *r, uint32_t k) {
  RowStage *q = &r->at[k];
  return ex_shared(r->s, expr_cast(r->s->x, sum_of(q)->dtype, ex_of(&q->e, sum_of(q)->body)));
}

/* Sets the value of stage k at the current point, for the rest of the sweep's body. */
static void value_is(Rows *r, uint32_t k, const Expr *value) {
  Sched *s = r->s;
  if (value->n) {
    uint32_t v = place_own(s, r->at[k].p.stage->name, "v", sum_of(&r->at[k])->dtype, 0, NULL);
    let_add(s, v, value);
    value = scalar_read(s, v);
  }
  s->value[k] = value;
}

static uint32_t store_of(Rows *r, uint32_t store) {
  return place_of_buffer(r->s, (uint32_t)r->at[store].p.stage->buffer, true);
}

/* The index in the result of stage `store` at the current point. */
static const Expr **store_at(Rows *r, uint32_t store) {
  return ex_store_at(&r->at[store].e, r->at[store].p.stage);
}

static void ready(Rows *r, uint32_t k);

/* Provides the values of the maps that stage i reads at the point. */
static void ready_for(Rows *r, uint32_t i) {
  const TaskStage *st = r->at[i].p.stage;
  for (uint32_t j = 0; j < st->sum->n_slot; j++)
    if (st->slot[j].kept) ready(r, st->slot[j].index);
}

/* Recursion is as deep as cheap maps are nested. */
static void ready(Rows *r, uint32_t k) {
  Sched *s = r->s;
  RowStage *q = &r->at[k];
  if (s->value[k]) return;
  if (q->home == HOME_AGAIN) {
    ready_for(r, k);
    value_is(r, k, value_of(r, k));
  } else if (q->home == HOME_STORE) {
    value_is(r, k, place_read(s, store_of(r, q->store), r->at[q->store].p.stage->n_at, store_at(r, q->store)));
  }
}

static void part_before(Sweep *w, uint32_t part) {
  const Group *g = w->env;
  ready_for(g->r, g->stage[part]);
}

/* Stores the value of stage k where it belongs. */
static void map_store(Sweep *w, uint32_t part, uint32_t k, const Expr *value) {
  Sched *s = w->s;
  RowStage *q = &((const Group *)w->env)->r->at[k];
  const TaskStage *st = q->p.stage;
  uint32_t place = s->of_stage[k], n = st->sum->n_out - s->outer;
  if (!w->at || !w->part[part].when) {
    result_store(s, st, &q->e, value);
    return;
  }
  if (place != NOWHERE) {
    const Expr *const *kept = kept_at(s, &n, q->e.label + s->outer);
    store_add(s, place, n, kept, value);
    value = place_read(s, place, n, kept);
  }
  store_add(s, w->part[part].line, 1, &w->at, value);
}

static void part_map(Sweep *w, uint32_t part) {
  const Group *g = w->env;
  uint32_t k = g->stage[part];
  RowStage *q = &g->r->at[k];
  if (q->home == HOME_AGAIN && q->p.stage->buffer < 0) return; /* recomputed where it is needed */
  ready_for(g->r, k);
  const Expr *value = value_of(g->r, k);
  if (!q->here && q->home != HOME_STORE) {
    map_store(w, part, k, value);
    return;
  }
  value_is(g->r, k, value);
  if (q->home == HOME_STORE && q->store != k)
    store_add(
        w->s, store_of(g->r, q->store), g->r->at[q->store].p.stage->n_at, store_at(g->r, q->store), w->s->value[k]);
  map_store(w, part, k, w->s->value[k]);
}

static void point_after(Sweep *w) {
  const Group *g = w->env;
  for (uint32_t k = 0; k < g->r->n; k++)
    if (!is_single(g->r, k)) w->s->value[k] = NULL;
}

/* Whether some sweep at that level reduces over stage i's points. */
static bool has_reduction(const Rows *r, uint32_t i, uint32_t level) {
  for (uint32_t k = 0; k < r->n; k++)
    if (r->at[k].level == level && !is_map(&r->at[k]) && same_points(r, i, k)) return true;
  return false;
}

static bool reads_slot(const RowStage *q, TaskSlot slot) {
  for (uint32_t a = 0; a < sum_of(q)->n_slot; a++)
    if (!q->p.stage->slot[a].kept && q->p.stage->slot[a].index == slot.index) return true;
  return false;
}

/* The level at which the next row of what a slot reads is prefetched: of the sweeps that reduce over stage i's points,
 * the last one that reads it, while its row is in the cache; if none does, or it is made again somewhere, the last one.
 * Later sweeps prefetch what they read. -1: nothing reduces. */
static int64_t fetch_level(const Rows *r, uint32_t i, TaskSlot slot) {
  int64_t last = -1, read = -1;
  bool again = false;
  for (uint32_t k = 0; k < r->n; k++) {
    int64_t level = (int64_t)r->at[k].level;
    if (!same_points(r, i, k) || !has_reduction(r, i, r->at[k].level)) continue;
    if (level > last) last = level;
    if (!reads_slot(&r->at[k], slot)) continue;
    again |= r->at[k].home == HOME_AGAIN;
    if (level > read) read = level;
  }
  return read < 0 || again ? last : read;
}

/* What stage k reads is prefetched by the sweep of stage i, except for what other sweeps prefetch. */
static void fetches_of(const Rows *r, Sweep *w, uint32_t i, uint32_t k) {
  const TaskStage *st = r->at[k].p.stage;
  bool *elsewhere = NEW_ARRAY(r->s->arena, bool, st->sum->n_slot + 1);
  for (uint32_t a = 0; a < st->sum->n_slot; a++)
    elsewhere[a] = !st->slot[a].kept && fetch_level(r, i, st->slot[a]) != (int64_t)r->at[i].level;
  sweep_fetches(w, &r->at[k].p, &r->at[k].e, elsewhere);
}

/* Makes the sweep of stage i, with all stages of its level that go over its points. */
static void sweep_make(Rows *r, uint32_t i, bool *done) {
  Sched *s = r->s;
  Group g = {r, NEW_ARRAY(s->arena, uint32_t, r->n)};
  Sweep w = {.s = s, .part = NEW_ARRAY(s->arena, SweepPart, r->n), .label = r->label};
  LoopBody *was = s->body;
  for (uint32_t k = i; k < r->n; k++) {
    if (r->at[k].level != r->at[i].level || !same_points(r, i, k)) continue;
    done[k] = true;
    g.stage[w.n] = k;
    const StagePlan *q = &r->at[k].p;
    const Expr *when = has_home_in(r, k) ? NULL : streams_if(r, k);
    if (when)
      how_add(s, q->stage, "pieces of rows along %s, which go past the cache", how_label(q->stage, q->n_label - 1));
    w.part[w.n++] = (SweepPart){.p = &r->at[k].p, .e = &r->at[k].e, .when = when};
  }
  const StagePlan *p = &r->at[i].p;
  w.n_loop = is_map(&r->at[i]) ? p->n_order : p->n_red;
  w.loop = is_map(&r->at[i]) ? p->order : p->red;
  w.before = part_before, w.map = part_map, w.after = point_after, w.env = &g;
  w.row = NOWHERE;
  if (s->outer && has_reduction(r, i, r->at[i].level)) {
    w.row = s->outer - 1;
    for (uint32_t k = 0; k < r->n; k++)
      if (same_points(r, i, k)) fetches_of(r, &w, i, k);
  }
  sweep_loops(&w);
  for (uint32_t k = 0; k < w.n; k++)
    if (w.part[k].result) result_store(s, w.part[k].p->stage, w.part[k].e, w.part[k].result);
  into(s, was);
}

/* Whether some stage at this level may read stage k. */
static bool is_wanted(const Rows *r, uint32_t k, uint32_t level) {
  bool own = true;
  for (uint32_t i = k + 1; i < r->n; i++)
    if ((r->at[i].level == level || r->at[i].home == HOME_AGAIN) && reads(r, i, k, &own)) return true;
  return false;
}

/* Whether stage k keeps a value per row that an earlier level has made. */
static bool is_made(const Rows *r, uint32_t k, uint32_t level) {
  return is_single(r, k) && r->s->of_stage[k] != NOWHERE && r->at[k].level < level;
}

/* Opens a loop over the rows that run together. Values kept per row are loaded to a name there, because they do not
 * change. */
static void together_open(Rows *r, uint32_t level) {
  Sched *s = r->s;
  uint32_t last = s->outer - 1;
  r->label[last] = for_open(s, s->task->stages.at[0].label[last], "row", r->from, r->to, 1, BIND_SEQ);
  s->rows.row = ex_sub(s, r->label[last], r->from);
  for (uint32_t k = 0; k < r->n; k++) {
    if (!is_made(r, k, level) || !is_wanted(r, k, level)) continue;
    uint32_t name = place_own(s, r->at[k].p.stage->name, "t", sum_of(&r->at[k])->dtype, 0, NULL);
    let_add(s, name, place_read(s, s->of_stage[k], 1, &s->rows.row));
    s->value[k] = scalar_read(s, name);
    map_put(&s->steady, s->value[k], s);
  }
}

/* The row runs alone: what is kept of it are scalars. */
static void alone_open(Rows *r, uint32_t level) {
  for (uint32_t k = 0; k < r->n; k++)
    if (is_made(r, k, level) && !r->s->rows.row) map_put(&r->s->steady, scalar_read(r->s, r->s->of_stage[k]), r->s);
}

static void together_close(Rows *r, LoopBody *was) {
  into(r->s, was);
  for (uint32_t k = 0; k < r->n; k++) r->s->value[k] = NULL;
}

static void levels_make(Rows *r) {
  bool *done = NEW_ARRAY(r->s->arena, bool, r->n);
  for (uint32_t level = 0, left = r->n; left; level++) {
    LoopBody *was = r->s->body;
    if (r->s->rows.together > 1) together_open(r, level);
    else alone_open(r, level);
    for (uint32_t i = 0; i < r->n; i++) {
      if (done[i] || r->at[i].level != level) continue;
      done[i] = true;
      if (r->into != NOWHERE && i + 1 == r->n) continue;
      r->s->follow.goes_on = i == r->into;
      r->s->follow.from = i, r->s->follow.then = r->n - 1;
      if (r->at[i].flat) {
        sweep_make(r, i, done);
        continue;
      }
      Env e = {
          .s = r->s, .stage = r->at[i].p.stage, .label = NEW_ARRAY(r->s->arena, const Expr *, r->at[i].p.n_label + 1)};
      for (uint32_t l = 0; l < r->s->outer; l++) e.label[l] = r->label[l];
      stage_loops(r->s, e.stage, &e, false);
      r->s->follow.goes_on = false, r->s->value[i] = NULL;
    }
    if (r->s->rows.together > 1) together_close(r, was);
    left = 0;
    for (uint32_t i = 0; i < r->n; i++) left += !done[i];
  }
}

/* ---- rows ---------------------------------------------------------------------------------------------------- */

const Expr *stage_work(Sched *s, const TaskStage *st, uint32_t from) {
  StagePlan p = stage_plan(s, st);
  const Expr *w = ex_int(s, (int64_t)p.ops);
  bool narrow = st->sum->where && p.n_red && where_most(s, &p, p.red[p.n_red - 1]) < p.size[p.red[p.n_red - 1]];
  uint32_t to = narrow ? st->sum->n_out : p.n_label;
  for (uint32_t l = from; l < to; l++) w = ex_mul(s, w, st->bound[l]);
  return narrow ? ex_mul(s, w, red_points(s, &p)) : w;
}

/* How many rows run together. A sweep ends with a latency: its lanes are folded, and the next sweep depends on the
 * result. With a few rows, another row's sweep fills the gap. Together they must fit the first-level cache. */
static int64_t rows_together(const Rows *r) {
  const Sched *s = r->s;
  bool waits = false;
  double most = 0;
  if (s->rows.block || !s->outer) return 1;
  for (uint32_t i = 0; i < r->n; i++) {
    const StagePlan *p = &r->at[i].p;
    double bytes = (double)dtype_size(p->stage->sum->reducer == RED_NONE ? p->stage->sum->dtype : p->stage->sum->acc);
    if (!r->at[i].flat && p->n_label > s->outer) return 1;
    for (uint32_t l = s->outer; l < p->n_label; l++) bytes *= (double)p->size[l];
    if (bytes > most) most = bytes;
    waits |= r->at[i].level > 0;
  }
  const StagePlan *first = &r->at[0].p;
  int64_t rows = most * 4 <= (double)TOGETHER_BYTES ? 4 : most * 2 <= (double)TOGETHER_BYTES ? 2 : 1;
  while (rows > 1 && first->size[s->outer - 1] < rows) rows /= 2;
  return waits ? rows : 1;
}

/* Opens the loops over the labels that all stages share. */
static void rows_open(Rows *r) {
  Sched *s = r->s;
  uint32_t n = s->task->n_outer;
  const TaskStage *first = &s->task->stages.at[0];
  Walk *w = NEW(s->arena, Walk);
  const Expr *work = ex_int(s, 0), *rows = ex_int(s, s->rows.together);
  for (uint32_t i = 0; i < r->n; i++) work = ex_add(s, work, stage_work(s, &s->task->stages.at[i], n));
  for (uint32_t l = 0; l < n; l++) {
    bool together = s->rows.together > 1 && l + 1 == n;
    walk_add(s, w, together ? NULL : first->label[l], together ? ex_div_up(s, first->bound[l], rows) : first->bound[l]);
  }
  walk_chunks(s, w, ex_mul(s, rows, work), BIND_SEQ);
  for (uint32_t l = 0; l < n; l++) r->label[l] = w->index[l];
  if (s->rows.together == 1) return;
  r->from = named(s, NULL, "from", ex_mul(s, w->index[n - 1], rows));
  r->to = named(s, NULL, "to", ex_min(s, first->bound[n - 1], ex_add(s, r->from, rows)));
}

/* Room for the labels of all stages, by number. */
static const Expr **labels_new(Sched *s) {
  uint32_t labels = s->task->n_outer;
  for (uint32_t i = 0; i < s->task->stages.len; i++) {
    const EinSum *sum = s->task->stages.at[i].sum;
    if (sum->n_out + sum->n_red > labels) labels = sum->n_out + sum->n_red;
  }
  return NEW_ARRAY(s->arena, const Expr *, labels + 1);
}

void rows_loops(Sched *s) {
  s->outer = 0;
  s->task = block_task(s, s->task);
  Rows r = {.s = s, .n = s->task->stages.len, .label = labels_new(s)};
  s->outer = s->task->n_outer;
  r.at = NEW_ARRAY(s->arena, RowStage, r.n);
  for (uint32_t i = 0; i < r.n; i++) stage_look(&r, i);
  s->rows.together = rows_together(&r);
  rows_open(&r);
  into_last(&r);
  for (uint32_t i = r.n; i-- > 0;) home_choose(&r, i);
  for (uint32_t i = 0; i < r.n; i++) keep(&r, i);
  if (s->rows.block) block_bound(s, r.label[s->outer - 1]);
  const TaskStage *first = &s->task->stages.at[0];
  if (s->rows.block)
    how_add(s, NULL, "all of it for %lld %s, then for the next", (long long)s->rows.block,
        how_label(first, first->sum->n_out - 1));
  else if (s->rows.together > 1)
    how_add(s, NULL, "all of it for %lld rows, then for the next", (long long)s->rows.together);
  else how_add(s, NULL, "all of it for one row, then for the next");
  levels_make(&r);
  s->rows.row = NULL, s->rows.together = 0;
}
