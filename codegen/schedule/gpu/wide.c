/* codegen/schedule/gpu/wide.c - maps whose threads compute several neighbours each: contiguous operands come by one
 * wide load, all of them before anything is computed; shared operands are loaded once; and results go by one wide
 * store. So a thread has more bytes in flight, and computes addresses once for all neighbours. */
#include "schedule/gpu/wide.h"

#include "expr/prove/prove.h"

enum { THREADS = 1024 };     /* of a launch, at least: fewer leave a device idle, however much each reads at once */
enum { MOST = 8 };           /* neighbours */
enum { HEAVY = 400 };        /* operations of a point, above which memory is not the bottleneck */

/* A stage's reads, by slot. */
typedef struct Slots { const Expr **read; bool *always; uint32_t n; } Slots;

/* ---- when it applies ------------------------------------------------------------------------------------- */

static void slots_walk(Slots *t, const Expr *e, bool always) {
  if (!(e->has & HAS_READ)) return;
  if (e->kind == EX_READ) {
    t->read[e->i] = e;
    t->always[e->i] |= always;
  }
  bool lazy = e->kind == EX_OP && op_info[e->op].laws & LAW_LAZY;
  for (uint32_t k = 0; k < e->n; k++) slots_walk(t, e->arg[k], always && (!lazy || k == 0));
}

static Slots slots_of(Sched *s, const TaskStage *st) {
  uint32_t n = st->sum->n_slot;
  Slots t = {NEW_ARRAY(s->arena, const Expr *, n + 1), NEW_ARRAY(s->arena, bool, n + 1), n};
  slots_walk(&t, st->sum->body, true);
  return t;
}

static const Expr *leaf_first(void *env, Exprs *x, const Expr *leaf) {
  return leaf->kind == EX_LABEL && leaf->i == *(uint32_t *)env ? expr_int(x, DT_I64, 0) : leaf;
}

static bool any_label(const Expr *const *at, uint32_t n, uint32_t label) {
  for (uint32_t k = 0; k < n; k++)
    if (ex_has_label(at[k], label)) return true;
  return false;
}

/* Whether neighbours along the label are neighbours in memory, and groups of them are aligned wherever they begin. */
static bool lies_wide(const Wide *w, uint32_t n, const Expr *const *at, const Expr *const *dim) {
  uint32_t label = w->label;
  int64_t slope;
  if (w->each == 1) return true;
  if (!n || any_label(at, n - 1, label) || !ex_slope(at[n - 1], label, &slope) || slope != 1) return false;
  return ex_is_multiple(dim[n - 1], NOWHERE, w->each) &&
      ex_is_multiple(expr_map(w->s->x, at[n - 1], leaf_first, &label), NOWHERE, w->each);
}

bool wide_own(const Wide *w, TaskSlot slot) { return slot.kept && slot.index >= w->l->from && slot.index < w->l->to; }

static bool is_stored(const Wide *w, TaskSlot slot) {
  const Sched *s = w->s;
  for (uint32_t i = w->l->from; i < w->l->to && !slot.kept; i++) {
    int64_t to = s->task->stages.at[i].buffer;
    if (to >= 0 && buffer_seen(s, (uint32_t)to)->id == buffer_seen(s, slot.index)->id) return true;
  }
  return false;
}

DType wide_dtype(const Sched *s, TaskSlot slot) {
  return slot.kept ? s->task->stages.at[slot.index].sum->dtype : buffer_seen(s, slot.index)->dtype;
}

static bool is_transposed(const Wide *w, uint32_t stage, uint32_t slot) {
  return w->transposed && w->transposed[stage - w->l->from][slot] != NOWHERE;
}

static bool may_be_read(Sched *s, const TaskStage *st, const Slots *t, uint32_t k) {
  Env e = {.s = s, .stage = st};
  return t->always[k] || ex_is_safe(&e, t->read[k]);
}

/* Whether data determine the index, so that each neighbour reads for itself. */
static bool is_scattered(const Wide *w, const Expr *read) {
  for (uint32_t k = 0; k < read->n; k++)
    if (ex_has_label(read->arg[k], w->label) && !(read->arg[k]->has & HAS_READ)) return false;
  return ex_has_label(read, w->label);
}

/* Whether the neighbours' reads are one wide load, one shared load, or separate ones. */
static bool slot_fits(const Wide *w, uint32_t stage, const Slots *t, uint32_t k) {
  const TaskStage *st = &w->s->task->stages.at[stage];
  const Expr *read = t->read[k];
  if (!read || wide_own(w, st->slot[k]) || is_transposed(w, stage, k)) return true;
  if (is_stored(w, st->slot[k])) return false;
  if (w->each == 1 || !ex_has_label(read, w->label) || is_scattered(w, read)) return true;
  return lies_wide(w, read->n, read->arg, slot_dims(w->s, st->slot[k])) && may_be_read(w->s, st, t, k);
}

bool wide_slot(const Wide *w, uint32_t stage, uint32_t slot) {
  const TaskStage *st = &w->s->task->stages.at[stage];
  Slots t = slots_of(w->s, st);
  return t.read[slot] && !is_stored(w, st->slot[slot]) && may_be_read(w->s, st, &t, slot) &&
      (w->each == 1 || ex_is_multiple(st->bound[w->label], NOWHERE, w->each)) &&
      lies_wide(w, t.read[slot]->n, t.read[slot]->arg, slot_dims(w->s, st->slot[slot]));
}

const Expr *wide_read(const Wide *w, uint32_t stage, uint32_t slot) {
  return slots_of(w->s, &w->s->task->stages.at[stage]).read[slot];
}

static bool store_fits(const Wide *w, uint32_t i) {
  const TaskStage *st = &w->s->task->stages.at[i];
  const EinSum *sum = st->sum;
  if (w->each > 1 && w->s->of_stage[i] != NOWHERE &&
      (w->label + 1 != sum->n_out || !ex_is_multiple(st->bound[w->label], NOWHERE, w->each)))
    return false;
  return st->buffer < 0 || lies_wide(w, st->n_at, st->at, buffer_seen(w->s, (uint32_t)st->buffer)->dim);
}

/* Whether the store, and all reads, fit. */
static bool stage_fits(const Wide *w, uint32_t i) { return store_fits(w, i) && wide_reads(w, i); }

/* The size of the largest element along the label: it uses a wide load in full, smaller ones in part. */
static int64_t widest(const Wide *w) {
  const Sched *s = w->s;
  int64_t bytes = 1;
  for (uint32_t i = w->l->from; i < w->l->to; i++) {
    const TaskStage *st = &s->task->stages.at[i];
    Slots t = slots_of(w->s, st);
    int64_t own = st->buffer >= 0 || s->of_stage[i] != NOWHERE ? dtype_size(st->sum->dtype) : 1;
    if (own > bytes) bytes = own;
    for (uint32_t k = 0; k < t.n; k++) {
      int64_t n = t.read[k] && !wide_own(w, st->slot[k]) && !is_transposed(w, i, k) && !is_scattered(w, t.read[k]) &&
              ex_has_label(t.read[k], w->label)
          ? dtype_size(wide_dtype(s, st->slot[k]))
          : 1;
      if (n > bytes) bytes = n;
    }
  }
  return bytes;
}

bool wide_is_map(const Wide *w) {
  for (uint32_t i = w->l->from; i < w->l->to; i++) {
    const EinSum *sum = w->s->task->stages.at[i].sum;
    if (sum->reducer != RED_NONE || sum->domain) return false;
  }
  return w->plan.n_order > 0;
}

bool wide_reads(const Wide *w, uint32_t stage) {
  const TaskStage *st = &w->s->task->stages.at[stage];
  Slots t = slots_of(w->s, st);
  if (!expr_divide(w->s->x, st->bound[w->label], ex_int(w->s, w->each))) return false;
  for (uint32_t k = 0; k < t.n; k++)
    if (!slot_fits(w, stage, &t, k)) return false;
  return true;
}

bool wide_fits(const Wide *w) {
  for (uint32_t i = w->l->from; i < w->l->to; i++)
    if (!stage_fits(w, i)) return false;
  return true;
}

int64_t wide_most(const Wide *w) {
  double ops = 0;
  for (uint32_t i = w->l->from; i < w->l->to; i++) ops += stage_plan(w->s, &w->s->task->stages.at[i]).ops;
  return ops > (double)HEAVY ? 1 : LOOP_WIDEST / widest(w) > MOST ? MOST : LOOP_WIDEST / widest(w);
}

int64_t wide_points(const Wide *w) {
  int64_t points = 1;
  for (uint32_t k = 0; k < w->plan.n_order; k++)
    if (!mul_ok(points, w->plan.size[w->plan.order[k]], &points)) return INT64_MAX;
  return points;
}

/* ---- its statements ---------------------------------------------------------------------------------------- */

static const Expr *leaf_at(void *env, Exprs *x, const Expr *leaf) {
  Env *e = env;
  (void)x;
  if (leaf->kind == EX_LABEL) return e->label[leaf->i];
  if (leaf->kind != EX_READ) return leaf;
  return e->packed[leaf->i] ? e->packed[leaf->i] : ex_slot(e, leaf);
}

/* The loaded value at the current neighbour; NULL: it is read there, if at all. */
static const Expr *slot_loaded(Wide *w, Env *first, const Slots *t, uint32_t k) {
  Sched *s = w->s;
  uint32_t stage = (uint32_t)(first->stage - s->task->stages.at);
  if (!t->read[k] || wide_own(w, first->stage->slot[k])) return NULL;
  if (is_transposed(w, stage, k)) {
    const Expr *at = ex_add(s, w->flat, w->lane);
    return place_read(s, w->transposed[stage - w->l->from][k], 1, &at);
  }
  bool along = w->each > 1 && ex_has_label(t->read[k], w->label);
  if (along && is_scattered(w, t->read[k])) return NULL;
  if (!along && !may_be_read(s, first->stage, t, k)) return NULL;
  const Expr *read = ex_shared(s, ex_of(first, t->read[k])), *made = map_find(&w->arrays, read);
  if (made) return made;
  if (!along) made = let_read(s, "v", read);
  else made = place_read(s, wide_load_add(s, read, w->each), 1, &w->lane);
  map_put(&w->arrays, read, (void *)(uintptr_t)made);
  return made;
}

const Expr **wide_loaded(Wide *w, Env *first) {
  Slots t = slots_of(w->s, first->stage);
  const Expr **stands = NEW_ARRAY(w->s->arena, const Expr *, t.n + 1);
  for (uint32_t k = 0; k < t.n; k++) stands[k] = slot_loaded(w, first, &t, k);
  return stands;
}

const Expr *wide_value(Env *e, const Expr **loaded) {
  e->packed = loaded;
  return expr_map(e->s->x, e->stage->sum->body, leaf_at, e);
}

void wide_take(Wide *w, uint32_t acc) {
  Sched *s = w->s;
  const Launch *l = w->l;
  const EinSum *sum = l->first->sum;
  const Expr **label = NEW_ARRAY(s->arena, const Expr *, l->plan.n_label + 1);
  uint32_t v = w->each > 1 ? var_new(s, NULL, "lane") : 0;
  w->lane = w->each > 1 ? var_read(s, v) : ex_int(s, 0);
  const Expr **loaded = wide_loaded(w, l->e);
  LoopBody *was = s->body;
  if (w->each > 1) into(s, &for_add(s, v, ex_int(s, 0), ex_int(s, w->each), 1, BIND_UNROLL)->body);
  for (uint32_t k = 0; k < l->plan.n_label; k++) label[k] = l->e->label[k];
  label[w->label] = ex_add(s, label[w->label], w->lane);
  Env e = {.s = s, .stage = l->first, .label = label};
  const Expr *value = let_read(s, "v", ex_shared(s, wide_value(&e, loaded)));
  store_add(s, acc, 1, &w->lane, ex_shared(s, red_combine(s, sum, place_read(s, acc, 1, &w->lane), value)));
  into(s, was);
}

static Env env_of(const Wide *w, uint32_t stage, const Expr **label) {
  const TaskStage *st = &w->s->task->stages.at[stage];
  Env e = {.s = w->s, .stage = st, .label = label};
  return e;
}

/* Computes the value at the current neighbour, in the array to be stored. */
static void stage_point(Wide *w, uint32_t i, Env *e, const Expr **loaded, uint32_t array) {
  Sched *s = w->s;
  const EinSum *sum = e->stage->sum;
  const Expr *value = expr_cast(s->x, sum->dtype, ex_shared(s, expr_cast(s->x, sum->dtype, wide_value(e, loaded))));
  if (w->l->to - w->l->from > 1 && points_read_from(s, i, i + 1))
    s->value[i] = value = let_read(s, e->stage->name ? e->stage->name->s : "v", value);
  if (array != NOWHERE) store_add(s, array, 1, &w->lane, value);
}

static void group_store(Wide *w, uint32_t place, uint32_t n_at, const Expr *const *at, uint32_t array) {
  const Expr *zero = ex_int(w->s, 0);
  if (w->each > 1) wide_store_add(w->s, place, n_at, at, array);
  else store_add(w->s, place, n_at, at, place_read(w->s, array, 1, &zero));
}

static void stage_store(Wide *w, uint32_t i, Env *first, uint32_t array) {
  Sched *s = w->s;
  const TaskStage *st = first->stage;
  if (array == NOWHERE) return;
  if (s->of_stage[i] != NOWHERE)
    group_store(w, s->of_stage[i], st->sum->n_out - s->outer, first->label + s->outer, array);
  if (st->buffer < 0) return;
  group_store(w, place_of_buffer(s, (uint32_t)st->buffer, true), st->n_at, ex_store_at(first, st), array);
}

static uint32_t array_new(Wide *w, uint32_t i) {
  Sched *s = w->s;
  const TaskStage *st = &s->task->stages.at[i];
  const Expr *dim = ex_int(s, w->each);
  if (st->buffer < 0 && s->of_stage[i] == NOWHERE) return NOWHERE;
  return var_own(s, NULL, "y", st->sum->dtype, 1, &dim, NULL);
}

void wide_make(Wide *w) {
  Sched *s = w->s;
  const Launch *l = w->l;
  uint32_t n = l->to - l->from, *array = NEW_ARRAY(s->arena, uint32_t, n),
           v = w->each > 1 ? var_new(s, NULL, "lane") : 0;
  const Expr ***stands = NEW_ARRAY(s->arena, const Expr **, n),
             **label = NEW_ARRAY(s->arena, const Expr *, w->plan.n_label + 1);
  for (uint32_t k = 0; k < w->plan.n_label; k++) label[k] = l->e->label[k];
  w->lane = w->each > 1 ? var_read(s, v) : ex_int(s, 0);
  label[w->label] = ex_add(s, label[w->label], w->lane);
  for (uint32_t i = 0; i < n; i++) {
    Env first = env_of(w, l->from + i, l->e->label);
    stands[i] = wide_loaded(w, &first);
  }
  for (uint32_t i = 0; i < n; i++) array[i] = array_new(w, l->from + i);
  LoopBody *was = s->body;
  if (w->each > 1) into(s, &for_add(s, v, ex_int(s, 0), ex_int(s, w->each), 1, BIND_UNROLL)->body);
  for (uint32_t i = 0; i < n; i++) {
    Env e = env_of(w, l->from + i, label);
    stage_point(w, l->from + i, &e, stands[i], array[i]);
  }
  into(s, was);
  for (uint32_t i = 0; i < n; i++) {
    Env first = env_of(w, l->from + i, l->e->label);
    stage_store(w, l->from + i, &first, array[i]);
    s->value[l->from + i] = NULL;
  }
}

Wide wide_of(Sched *s, const Launch *l) {
  return (Wide){.s = s, .l = l, .plan = stage_plan(s, &s->task->stages.at[l->to - 1]), .arrays = map_new(s->arena)};
}

bool wide_launch(Sched *s, Launch *l) {
  Wide w = wide_of(s, l);
  if (!wide_is_map(&w)) return false;
  w.label = w.plan.order[w.plan.n_order - 1];
  for (w.each = wide_most(&w); w.each > 1 && !(wide_points(&w) / w.each >= THREADS && wide_fits(&w)); w.each /= 2)
    continue;
  if (w.each < 2) return false;
  points_spread(s, &w.plan, l->e, w.each);
  wide_make(&w);
  return true;
}
