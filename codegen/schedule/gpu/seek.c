/* codegen/schedule/gpu/seek.c - sums over the points that belong to an output, where the points determine the output,
 * and outputs are too many for a block to have some of its own (bins.c), or points too few: the adjoint of a gather.
 * A thread has an output, or neighbours, and looks for its points in order. All threads of a block look at the same
 * ones: what the points determine comes to shared memory, each once for a block, in the order of memory. */
#include "schedule/gpu/wide.h"

#include "expr/prove/prove.h"

enum { THREADS = 256 };      /* of a block; points that are shared at once */
enum { ENOUGH = 1024 };      /* threads of a launch, before threads have neighbours */
enum { FEW = 512 };          /* points that a thread always goes through; beyond, there must be as many threads */

typedef struct Seek {
  Sched *s;
  const Launch *l;
  Wide w;                    /* its label is the last one of the result */
  uint32_t pin;              /* the label that points determine, */
  const Expr *to, *rest;     /*   to be this; the rest of the predicate */
  int64_t results, points;
  uint32_t keys;             /* shared: `to`, of the points of a piece */
  Walk *reduced;
} Seek;

static const EinSum *sum_of(const Seek *k) { return k->l->first->sum; }

/* ---- when it applies ------------------------------------------------------------------------------------- */

static bool sizes_find(Seek *k) {
  const StagePlan *p = &k->l->plan;
  k->results = k->points = 1;
  for (uint32_t i = 0; i < p->n_label; i++)
    if (!p->exact[i] || !p->size[i]) return false;
  for (uint32_t i = 0; i < p->n_order; i++)
    if (!mul_ok(k->results, p->size[p->order[i]], &k->results)) return false;
  for (uint32_t i = 0; i < p->n_red; i++)
    if (!mul_ok(k->points, p->size[p->red[i]], &k->points)) return false;
  return k->results <= INT32_MAX && k->points <= DEVICE_BLOCK;
}

/* Finds a label that data determine, the same for all outputs. */
static bool pin_found(Seek *k) {
  const StagePlan *p = &k->l->plan;
  for (k->pin = 0; k->pin < sum_of(k)->n_out; k->pin++) {
    bool shared = pin_find(k->l->e, sum_of(k)->where, k->pin, true, &k->to, &k->rest) && k->to->has & HAS_READ;
    for (uint32_t i = 0; i < p->n_order && shared; i++) shared = !ex_has_label(k->to, p->order[i]);
    if (shared) return true;
  }
  return false;
}

/* Whether an output reads a row of its own along the sum: a block for each then reads it in the order of memory. */
static bool rows_are_own(const Seek *k) {
  const StagePlan *p = &k->l->plan;
  for (uint32_t a = 0; a + 1 < p->n_access; a++) {
    bool own = false;
    for (uint32_t i = 0; i < p->n_order; i++) own |= plan_move(p, a, p->order[i]) != MOVE_NONE;
    if (own && plan_move(p, a, p->red[p->n_red - 1]) == MOVE_UNIT) return true;
  }
  return false;
}

static bool each_fits(const Seek *k) {
  const Wide *w = &k->w;
  return k->results / w->each >= ENOUGH && w->label != k->pin && !(k->rest && ex_has_label(k->rest, w->label)) &&
      wide_reads(w, k->l->from);
}

static bool is_seek(Seek *k) {
  const Launch *l = k->l;
  const EinSum *sum = sum_of(k);
  if (!launch_is_one_sum(k->s, l) || red_is_arg(sum) || !sum->where || sum->domain || !l->plan.n_order ||
      !l->plan.n_red)
    return false;
  if (!sizes_find(k) || !pin_found(k) || rows_are_own(k)) return false;
  int64_t most = LOOP_WIDEST / dtype_size(sum->acc), bytes = wide_most(&k->w);
  k->w.label = l->plan.order[l->plan.n_order - 1];
  for (k->w.each = bytes < most ? bytes : most; k->w.each > 1 && !each_fits(k);) k->w.each /= 2;
  if (k->w.each < 1) k->w.each = 1;
  return k->points <= FEW || k->results / k->w.each >= k->points;
}

/* ---- its statements ---------------------------------------------------------------------------------------- */

/* Each thread brings one of the points from `from` on. */
static void keys_bring(Seek *k, const Expr *from, const Expr *thread) {
  Sched *s = k->s;
  LoopBody *was = s->body;
  const Expr *point = named(s, NULL, "point", ex_add(s, from, thread));
  if (k->points % THREADS) into(s, &if_add(s, ex_below(s, point, ex_int(s, k->points)))->body);
  labels_set(k->l->e, k->reduced, k->l->plan.red, point);
  store_add(s, k->keys, 1, &thread, ex_shared(s, ex_of(k->l->e, k->to)));
  into(s, was);
}

/* Adds those of the piece's points that are the thread's. */
static void points_take(Seek *k, const Expr *from, uint32_t acc) {
  Sched *s = k->s;
  LoopBody *was = s->body;
  uint32_t v = var_new(s, NULL, "k");
  const Expr *at = var_read(s, v), *n = ex_int(s, THREADS);
  if (k->points % THREADS) n = ex_min(s, n, ex_sub(s, ex_int(s, k->points), from));
  into(s, &for_add(s, v, ex_int(s, 0), n, 1, BIND_SEQ)->body);
  const Expr *key = place_read(s, k->keys, 1, &at);
  into(s, &if_add(s, expr_op2(s->x, OP_EQ, key, k->l->e->label[k->pin]))->body);
  labels_set(k->l->e, k->reduced, k->l->plan.red, named(s, NULL, "point", ex_add(s, from, at)));
  if (k->rest) into(s, &if_add(s, ex_shared(s, ex_of(k->l->e, k->rest)))->body);
  wide_take(&k->w, acc);
  into(s, was);
}

static void results_store(Seek *k, uint32_t acc) {
  Sched *s = k->s;
  const Expr *first = k->l->e->label[k->w.label], *lane = unrolled_open(s, "lane", k->w.each);
  k->l->e->label[k->w.label] = ex_add(s, first, lane);
  launch_finish(s, k->l, place_read(s, acc, 1, &lane));
}

static void choice_report(const Seek *k) {
  const TaskStage *st = k->l->first;
  const char *by = k->w.each > 1 ? arena_printf(k->s->arena, "thread for %lld neighbours along %s",
                                       (long long)k->w.each, how_label(st, k->w.label))
                                 : "thread for each point";
  how_add(k->s, st, "a %s, which looks for its points, %lld a block; the block reads the %s of %lld points at a time",
      by, (long long)THREADS, how_label(st, k->pin), (long long)THREADS);
}

bool seek_launch(Sched *s, Launch *l) {
  Seek k = {.s = s, .l = l, .w = wide_of(s, l), .reduced = NEW(s->arena, Walk)};
  const StagePlan *p = &l->plan;
  if (!is_seek(&k)) return false;
  choice_report(&k);
  Walk *w = points_walk(s, p);
  for (uint32_t i = 0; i < p->n_red; i++)
    walk_add(s, k.reduced, l->first->label[p->red[i]], l->first->bound[p->red[i]]);
  int64_t groups = k.results / k.w.each;
  const Expr *zero = ex_int(s, 0), *threads = ex_int(s, THREADS), *each = ex_int(s, k.w.each);
  if (k.w.each > 1) w->extent[w->n - 1] = expr_divide(s->x, w->extent[w->n - 1], each);
  uint32_t block = var_new(s, NULL, "block"), thread = var_new(s, NULL, "thread"), piece = var_new(s, NULL, "piece");
  into(s, &for_add(s, block, zero, ex_int(s, up(groups, THREADS)), 1, BIND_GRID)->body);
  k.keys = place_block(s, "keys", DT_I64, THREADS);
  into(s, &for_add(s, thread, zero, threads, 1, BIND_BLOCK)->body);
  const Expr *at = named(s, NULL, "at", ex_add(s, ex_mul(s, var_read(s, block), threads), var_read(s, thread)));
  const Expr *inside = groups % THREADS ? ex_below(s, at, ex_int(s, groups)) : NULL;
  labels_set(l->e, w, p->order, at);
  if (k.w.each > 1) l->e->label[k.w.label] = ex_mul(s, w->index[w->n - 1], each);
  uint32_t acc = var_own(s, NULL, "acc", sum_of(&k)->acc, 1, &each, red_identity(s, sum_of(&k)));
  LoopBody *was = into(s, &for_add(s, piece, zero, ex_int(s, k.points), THREADS, BIND_SEQ)->body), *body = s->body;
  keys_bring(&k, var_read(s, piece), var_read(s, thread));
  barrier_add(s);
  if (inside) into(s, &if_add(s, inside)->body);
  points_take(&k, var_read(s, piece), acc);
  into(s, body);
  barrier_add(s);
  into(s, was);
  if (inside) into(s, &if_add(s, inside)->body);
  results_store(&k, acc);
  return true;
}
