/* codegen/schedule/gpu/scan.c - running sums: reductions that gain one point at each step along a label of the result
 * (schedule/running.c). Each thread of a block holds some points in registers and reduces them; a tree of radix 16 in
 * shared memory computes what precedes each thread. So each point is read once and written once. A long scan goes
 * piece by piece with a carry. Few long scans are cut into parts: one launch reduces each part, a second one scans
 * these results, and a third one scans the parts.
 *
 * If the scan goes along contiguous memory, a thread has every n-th group of neighbours, each as wide as a load; if it
 * goes across, threads go across too, and each has consecutive points. The order in which points are combined depends
 * on extents alone. */
#include "expr/prove/prove.h"
#include "schedule/gpu/gpu.h"

enum { WARP = 32, THREADS = 256, THREADS_ACROSS = 512 }; /* of a block, at most */
enum { RADIX = 16 };                           /* of the tree */
/* Scans that threads lie across: the usual number, and the fewest for which a thread has consecutive points. */
enum { ACROSS = 32, NARROW = 8 };
enum { EACH = 64, WIDEST = 16, GROUP = 4 };    /* bytes of a thread's points; of a load; points of a load, at most */
enum { FEW = 132, ENOUGH = 2048 };             /* blocks: fewer leave much of a device idle; the target for cut scans */
enum { UNKNOWN = 1024 };                       /* steps, if their number is unknown */
enum { AHEAD = 64 };                           /* points before the first step, at most */

/* How threads share the scans. Chosen once, before the first launch. */
typedef struct ScanShape {
  bool across;               /* threads lie across scans */
  int64_t beside;            /* scans of a block, */
  int64_t threads;           /*   threads of each, */
  int64_t groups, wide;      /*   groups that a thread has at a time, and points of each */
  int64_t part;              /* steps of a part; 0: scans are not cut */
} ScanShape;

/* Where the loops of the current launch are: begun by blocks_open. */
typedef struct ScanHere {
  const Expr *thread, *lane, *scan; /* thread along, lane across, and number of the scan */
  const Expr *inside;        /* test that the scan exists; NULL: always */
  const Expr *from, *to;     /* the block's steps */
  const Expr *number;        /* of its part, if scans are cut */
  const Expr *step;
} ScanHere;

/* What the current launch holds in shared memory, and in registers of each thread: begun by blocks_open, too. */
typedef struct ScanPlaces {
  /* Shared arrays: what precedes each thread, and each sixteen of them, within the next larger unit; the sums of
   * groups. */
  uint32_t one, some, all;
  uint32_t points, own;      /* registers: the points, later their prefix sums in the group; the sums of groups */
  uint32_t carry;            /*   what came before */
} ScanPlaces;

typedef struct Scan Scan;
struct Scan {
  Sched *s;
  const Launch *l;
  Running run;
  const Expr *first;         /* the point of step 0, over the stage's labels; later ones follow, upwards or downwards */
  const Expr *still;         /* the bound that does not move, over the same */
  bool before;               /* exclusive: a step gets what precedes its point */
  ScanShape shape;
  const Expr *steps, *scans, *parts; /* how many: steps of a scan, scans, and parts of a scan, if it is cut */
  Walk *walk;                /* over scans, */
  const uint32_t *label;     /*   whose labels these are; NULL: it is the scan over parts, which has none */
  uint32_t sums, starts;     /* buffers, for all launches: the parts' sums, and what precedes each, by scan and part */
  ScanHere here;
  ScanPlaces places;
};

static const EinSum *sum_of(const Scan *c) { return c->l->first->sum; }
static int64_t chunk_of(const Scan *c) { return c->shape.threads * c->shape.groups * c->shape.wide; }
/* Threads whose sums are combined first. */
static int64_t low_of(const Scan *c) { return c->shape.threads < RADIX ? c->shape.threads : RADIX; }
/* The number of these groups. */
static int64_t high_of(const Scan *c) { return c->shape.threads / low_of(c); }
static const Expr *combine(Scan *c, const Expr *a, const Expr *b) {
  return ex_shared(c->s, red_combine(c->s, sum_of(c), a, b));
}

/* ---- when it applies ------------------------------------------------------------------------------------ */

/* Finds the point of step 0; false if more than a few points precede it. */
static bool steps_find(Scan *c) {
  Sched *s = c->s;
  const StagePlan *p = &c->l->plan;
  const Running *r = &c->run;
  Env own = {.s = s, .stage = p->stage, .label = NEW_ARRAY(s->arena, const Expr *, p->n_label + 1)};
  const Expr *moves, *one = ex_int(s, 1), *other = r->end_moves ? r->lo : r->hi;
  if (!running_steps(s, r, &c->still, &moves)) return false;
  for (uint32_t l = 0; l < p->n_label; l++) own.label[l] = expr_label(s->x, l);
  c->steps = p->stage->bound[r->q];
  own.label[r->q] = r->backwards ? ex_sub(s, c->steps, one) : ex_int(s, 0);
  moves = ex_of(&own, moves);
  c->first = expr_normal(s->x, r->end_moves ? ex_sub(s, moves, one) : moves);
  c->before = r->end_moves ? ex_at_most(s, ex_add(s, c->first, one), other) : ex_at_most(s, other, c->first);
  if (c->before) c->first = expr_normal(s->x, r->end_moves ? ex_add(s, c->first, one) : ex_sub(s, c->first, one));
  return r->end_moves ? ex_at_most(s, ex_sub(s, c->first, other), ex_int(s, AHEAD))
                      : ex_at_most(s, ex_sub(s, other, c->first), ex_int(s, AHEAD));
}

static bool is_scan(Scan *c) {
  return launch_is_one_sum(c->s, c->l) && !red_is_arg(sum_of(c)) && running_find(c->s, &c->l->plan, &c->run) &&
      steps_find(c);
}

/* ---- choices ---------------------------------------------------------------------------------------------- */

/* Whether the last store is contiguous along the label. */
static bool stores_along(const Scan *c, uint32_t label) {
  StagePlan p = stage_plan(c->s, &c->s->task->stages.at[c->l->to - 1]);
  return plan_move(&p, p.n_access - 1, label) == MOVE_UNIT;
}

/* How many accesses are contiguous, along the scan or along another label. */
static uint32_t units(const Scan *c, uint32_t read, uint32_t store) {
  const StagePlan *p = &c->l->plan;
  uint32_t n = stores_along(c, store);
  for (uint32_t a = 0; a + 1 < p->n_access; a++) n += plan_move(p, a, read) == MOVE_UNIT;
  return n;
}

/* Orders the scans' labels; the last is the one along which threads go, if they go across. */
static void labels_choose(Scan *c) {
  Sched *s = c->s;
  const StagePlan *p = &c->l->plan;
  uint32_t best = NOWHERE, most = units(c, c->run.r, c->run.q), n = 0,
           *label = NEW_ARRAY(s->arena, uint32_t, p->n_order + 1);
  for (uint32_t k = 0; k < p->n_order; k++) {
    uint32_t x = p->order[k], got = units(c, x, x);
    if (x == c->run.q || got < most || (got == most && !stores_along(c, x))) continue;
    best = x, most = got;
  }
  c->shape.across = best != NOWHERE;
  for (uint32_t k = 0; k < p->n_order; k++)
    if (p->order[k] != c->run.q && p->order[k] != best) label[n++] = p->order[k];
  if (c->shape.across) label[n++] = best;
  c->label = label;
  c->walk = NEW(s->arena, Walk);
  c->scans = ex_int(s, 1);
  for (uint32_t k = 0; k < n; k++) {
    walk_add(s, c->walk, p->stage->label[label[k]], p->stage->bound[label[k]]);
    c->scans = ex_mul(s, c->scans, p->stage->bound[label[k]]);
  }
}

static bool is_aligned(const Scan *c, uint32_t memory, bool kept, const Expr *last, uint32_t label, int64_t n) {
  if (kept) return true;
  const TaskBuffer *b = buffer_seen(c->s, memory);
  const Expr *dim = b->dim[b->rank - 1];
  return dim->kind == EX_INT && dim->i % n == 0 && ex_is_multiple(last, label, n);
}

/* Whether groups of n points are aligned wherever they are read and stored. */
static bool fits_wide(const Scan *c, int64_t n) {
  const StagePlan *p = &c->l->plan;
  const TaskStage *st = p->stage, *end = &c->s->task->stages.at[c->l->to - 1];
  const Expr *top[] = {c->run.body}, **read = NEW_ARRAY(c->s->arena, const Expr *, st->sum->n_slot + 1);
  if (!p->exact[c->run.q] || p->size[c->run.q] % n || c->first->kind != EX_INT || (c->first->i + !c->run.end_moves) % n)
    return false;
  expr_slot_reads(c->s->arena, 1, top, read);
  for (uint32_t k = 0; k < st->sum->n_slot; k++) {
    if (!read[k] || plan_move(p, k, c->run.r) != MOVE_UNIT) continue;
    if (!is_aligned(c, st->slot[k].index, st->slot[k].kept, read[k]->arg[read[k]->n - 1], c->run.r, n)) return false;
    if (dtype_size((DType)read[k]->dtype) * n > WIDEST) return false;
  }
  if (dtype_size(end->sum->dtype) * n > WIDEST) return false;
  return end->buffer < 0 || !stores_along(c, c->run.q) ||
      is_aligned(c, (uint32_t)end->buffer, false, end->at[end->n_at - 1], c->run.q, n);
}

static int64_t points_each(const Scan *c) {
  int64_t size = dtype_size(sum_of(c)->acc);
  return EACH / (size > 4 ? 8 : 4);
}

static int64_t power(int64_t n, int64_t most) {
  int64_t k = 1;
  while (k < most && k < n) k *= 2;
  return k;
}

/* Chooses the threads of a scan and their groups, for so many steps. */
static void threads_choose(Scan *c, int64_t steps, int64_t most) {
  ScanShape *x = &c->shape;
  int64_t each = x->groups;
  for (x->threads = 1;; x->threads *= 2) {
    x->groups = x->threads < each ? x->threads : each;
    if (2 * x->threads > most || chunk_of(c) >= steps) break;
  }
  while (x->groups > 1 && chunk_of(c) / 2 >= steps) x->groups /= 2;
}

/* Chooses the shape across scans. If few scans are neighbours in memory, neighbouring threads have neighbouring
 * points. */
static void across_choose(Scan *c, int64_t steps) {
  ScanShape *x = &c->shape;
  int64_t scans = c->scans->kind == EX_INT ? c->scans->i : INT64_MAX, near = c->l->plan.size[c->label[c->walk->n - 1]];
  bool narrow = near < NARROW;
  x->beside = power(near < scans ? near : scans, ACROSS);
  int64_t n = ACROSS;
  while (n > NARROW && scans / n < FEW) n /= 2;
  if (x->beside == ACROSS && scans / n >= FEW) x->beside = n;
  x->wide = narrow ? 1 : points_each(c);
  x->groups = points_each(c) / x->wide;
  threads_choose(c, steps, (narrow ? THREADS : THREADS_ACROSS) / x->beside);
}

static void along_choose(Scan *c, int64_t steps) {
  ScanShape *x = &c->shape;
  x->wide = c->label ? GROUP : 1;
  while (x->wide > 1 && !fits_wide(c, x->wide)) x->wide /= 2;
  x->groups = points_each(c) / x->wide;
  threads_choose(c, steps, THREADS);
  x->beside = THREADS / x->threads;
  if (c->scans->kind == EX_INT) x->beside = power(c->scans->i, x->beside);
}

/* Cuts scans into parts if there are too few blocks. */
static void parts_choose(Scan *c, int64_t steps) {
  Sched *s = c->s;
  c->shape.part = 0;
  if (c->scans->kind != EX_INT || c->scans->i < 1) return;
  int64_t blocks = up(c->scans->i, c->shape.beside), chunk = chunk_of(c);
  if (blocks >= FEW || steps < 2 * chunk) return;
  c->shape.part = up(up(steps, up(ENOUGH, blocks)), chunk) * chunk;
  c->parts = ex_div_up(s, c->steps, ex_int(s, c->shape.part));
}

static void choice_report(const Scan *c) {
  const ScanShape *x = &c->shape;
  const TaskStage *st = c->l->first;
  how_add(c->s, st, "a running %s along %s: %lld threads for each, %lld a block, with %lld points at a time%s",
      reducer_info[sum_of(c)->reducer].name, how_label(st, c->run.r), (long long)x->threads, (long long)x->beside,
      (long long)(x->groups * x->wide),
      x->wide == 1         ? ""
          : x->groups == 1 ? " that follow each other"
                           : " in groups that follow each other");
  if (x->part)
    how_add(c->s, st, "in parts of %lld %s: what each comes to, what came before it, then the parts",
        (long long)x->part, how_label(st, c->run.r));
}

/* ---- a launch ------------------------------------------------------------------------------------------- */

static const Expr *shared_at(Scan *c, const Expr *at, int64_t size) {
  Sched *s = c->s;
  if (c->shape.across) return ex_add(s, ex_mul(s, at, ex_int(s, c->shape.beside)), c->here.lane);
  return ex_add(s, ex_mul(s, c->here.lane, ex_int(s, size)), at);
}

/* Layout of shared memory. A thread reads a row of sixteen by loads of 16 bytes, and a warp stores consecutive
 * elements: a gap after each row, or after each second one, keeps both in different banks. Short scans that share a
 * warp are offset from each other. Across scans, the lanes are the banks. */
static int64_t gap_of(const Scan *c) { return c->shape.across ? 1 : WIDEST / (dtype_size(sum_of(c)->acc) > 4 ? 8 : 4); }
static bool in_pairs(const Scan *c) {
  return !c->shape.across && c->shape.threads >= 2 * RADIX && dtype_size(sum_of(c)->acc) <= 4;
}
static int64_t row_of(const Scan *c) { return in_pairs(c) ? 2 * RADIX : low_of(c); }
static int64_t one_size(const Scan *c, int64_t groups) {
  int64_t row = row_of(c), size = groups * c->shape.threads / row * (row + gap_of(c));
  return size + (!c->shape.across && high_of(c) == 1 ? ((low_of(c) - size) % WARP + WARP) % WARP : 0);
}
static int64_t some_size(const Scan *c, int64_t groups) { return groups * (high_of(c) + gap_of(c)); }

static void shared_new(Scan *c, int64_t groups) {
  DType t = sum_of(c)->acc;
  if (c->shape.threads == 1) return;
  c->places.one = place_block(c->s, "before", t, c->shape.beside * one_size(c, groups));
  if (high_of(c) > 1) c->places.some = place_block(c->s, "above", t, c->shape.beside * some_size(c, groups));
  c->places.all = place_block(c->s, "all", t, c->shape.beside * groups);
}

/* Opens a block for some scans, or for a part of these. */
static void blocks_open(Scan *c, int64_t groups, bool cut) {
  Sched *s = c->s;
  const ScanShape *x = &c->shape;
  ScanHere *h = &c->here;
  uint32_t v = var_new(s, NULL, "block");
  const Expr *beside = ex_int(s, x->beside), *blocks = ex_div_up(s, c->scans, beside), *block = var_read(s, v),
             *zero = ex_int(s, 0), *part = NULL;
  into(s, &for_add(s, v, zero, cut ? ex_mul(s, blocks, c->parts) : blocks, 1, BIND_GRID)->body);
  c->places = (ScanPlaces){0};
  shared_new(c, groups);
  *h = (ScanHere){.lane = zero};
  if (x->across) h->lane = axis_open(c->s, "lane", x->beside, 0);
  h->thread = axis_open(c->s, "thread", x->threads, x->across);
  if (!x->across && x->beside > 1) h->lane = axis_open(c->s, "row", x->beside, 1);
  if (cut) {
    part = named(s, NULL, "part", expr_op2(s->x, OP_MOD, block, c->parts));
    block = named(s, NULL, "f", expr_op2(s->x, OP_IDIV, block, c->parts));
  }
  h->scan = named(s, NULL, "scan", ex_add(s, ex_mul(s, block, beside), h->lane));
  h->inside =
      c->scans->kind == EX_INT && c->scans->i % x->beside == 0 ? NULL : expr_op2(s->x, OP_LT, h->scan, c->scans);
  h->from = cut ? named(s, NULL, "from", ex_mul(s, part, ex_int(s, x->part))) : zero;
  h->to = cut ? named(s, NULL, "to", ex_min(s, c->steps, ex_add(s, h->from, ex_int(s, x->part)))) : c->steps;
  h->number = part;
  if (!c->label) return;
  labels_set(c->l->e, c->walk, c->label, h->scan);
}

/* Creates the thread's registers, and opens the loop over pieces; *several: there is more than one. Returns where a
 * piece begins. */
static const Expr *pieces_open(Scan *c, bool *several) {
  Sched *s = c->s;
  const ScanShape *x = &c->shape;
  DType t = sum_of(c)->acc;
  int64_t chunk = chunk_of(c);
  const Expr *at = c->here.from, *points = ex_int(s, x->groups * x->wide), *groups = ex_int(s, x->groups);
  *several = x->part ? x->part > chunk : c->steps->kind != EX_INT || c->steps->i > chunk;
  if (*several) {
    at = for_open(s, NULL, "piece", c->here.from, c->here.to, chunk, BIND_SEQ);
  }
  c->places.points = var_own(s, NULL, "points", t, 1, &points, NULL);
  c->places.own = var_own(s, NULL, "own", t, 1, &groups, NULL);
  return named(s, NULL, "at", ex_add(s, at, ex_mul(s, c->here.thread, ex_int(s, x->wide))));
}

/* The thread's current group: its number, where it begins, and the test that it is in a scan; each: its points must be
 * tested one by one. */
typedef struct Group { const Expr *number, *at, *there; bool each; } Group;

static Group group_open(Scan *c, const Expr *at) {
  Sched *s = c->s;
  Group g = {.number = unrolled_open(s, "g", c->shape.groups)};
  g.at = named(s, NULL, "at", ex_add(s, at, ex_mul(s, g.number, ex_int(s, c->shape.threads * c->shape.wide))));
  bool known = c->steps->kind == EX_INT, whole = known && c->steps->i % chunk_of(c) == 0;
  g.each = known ? c->steps->i % c->shape.wide != 0 : c->shape.wide > 1;
  g.there = whole || g.each ? NULL : expr_op2(s->x, OP_LT, g.at, c->steps);
  if (c->here.inside) g.there = g.there ? expr_and(s->x, c->here.inside, g.there) : c->here.inside;
  return g;
}

/* Opens a loop over the group's points, in the order of steps or in reverse. Returns the point's number in the thread.
 */
static const Expr *point_open(Scan *c, const Group *g, bool ahead) {
  Sched *s = c->s;
  const Running *r = &c->run;
  const Expr *e = unrolled_open(s, "e", c->shape.wide), *last = ex_int(s, c->shape.wide - 1),
             *left = ex_sub(s, last, e), **label = c->l->e->label;
  const Expr *up = ahead ? e : left, *down = ahead ? left : e;
  c->here.step = ex_add(s, g->at, up);
  if (c->label) {
    const Expr *first = ex_of(c->l->e, c->first), *end = ex_sub(s, c->steps, ex_int(s, 1));
    label[r->q] = r->backwards ? ex_add(s, ex_sub(s, ex_sub(s, end, last), g->at), down) : c->here.step;
    label[r->r] =
        r->end_moves ? ex_add(s, first, c->here.step) : ex_add(s, ex_sub(s, ex_sub(s, first, last), g->at), down);
  }
  return ex_add(s, ex_mul(s, g->number, ex_int(s, c->shape.wide)), up);
}

/* The test that the step exists; NULL: it does. */
static const Expr *step_there(Scan *c, const Group *g) {
  return g->each ? expr_op2(c->s->x, OP_LT, c->here.step, c->steps) : NULL;
}

/* The test that the current step has a point; NULL: it has. */
static const Expr *point_there(Scan *c) {
  Sched *s = c->s;
  const Running *r = &c->run;
  const Expr *lo = r->end_moves ? r->lo : c->still, *hi = r->end_moves ? c->still : r->hi, *at = c->l->e->label[r->r],
             *one = ex_int(s, 1);
  const Expr *most = r->end_moves ? ex_add(s, c->first, c->steps) : ex_add(s, c->first, one);
  const Expr *least = r->end_moves ? c->first : ex_add(s, ex_sub(s, c->first, c->steps), one);
  const Expr *low = ex_at_most(s, lo, least) ? NULL : expr_op2(s->x, OP_LE, ex_of(c->l->e, lo), at);
  const Expr *high = ex_at_most(s, most, hi) ? NULL : expr_op2(s->x, OP_LT, at, ex_of(c->l->e, hi));
  return low && high ? expr_and(s->x, low, high) : low ? low : high;
}

static void nothing_add(Scan *c, const Expr *i) {
  store_add(c->s, c->places.points, 1, &i, red_identity(c->s, sum_of(c)));
}

static void point_load(Scan *c, const Group *g) {
  Sched *s = c->s;
  const Expr *i = point_open(c, g, c->run.end_moves || !c->label), *there = c->label ? point_there(c) : NULL,
             *step = step_there(c, g);
  if (step) there = there ? expr_and(s->x, step, there) : step;
  LoopStmt *cond = there ? if_add(s, ex_shared(s, there)) : NULL;
  if (cond) into(s, &cond->body);
  const Expr *value = c->label ? ex_shared(s, ex_of(c->l->e, c->run.body))
                               : place_read(s, c->sums, 2, (const Expr *[]){c->here.scan, c->here.step});
  store_add(s, c->places.points, 1, &i, value);
  if (!cond) return;
  into(s, &cond->other);
  nothing_add(c, i);
}

static void points_load(Scan *c, const Expr *at) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  Group g = group_open(c, at);
  LoopStmt *cond = g.there ? if_add(s, g.there) : NULL;
  if (cond) into(s, &cond->body);
  point_load(c, &g);
  if (cond) {
    into(s, &cond->other);
    nothing_add(c, point_open(c, &g, true));
  }
  into(s, was);
}

/* Sums the points of each group, one after the other. */
static void points_sum(Scan *c) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  Group g = {.number = unrolled_open(s, "g", c->shape.groups), .at = ex_int(s, 0)};
  uint32_t run = var_own(s, NULL, "run", sum_of(c)->acc, 0, NULL, red_identity(s, sum_of(c)));
  LoopBody *around = s->body;
  const Expr *i = point_open(c, &g, true), *x = let_read(s, "v", place_read(s, c->places.points, 1, &i));
  if (c->before) store_add(s, c->places.points, 1, &i, scalar_read(s, run));
  acc_take(s, sum_of(c), run, x);
  if (!c->before) store_add(s, c->places.points, 1, &i, scalar_read(s, run));
  into(s, around);
  store_add(s, c->places.own, 1, &g.number, scalar_read(s, run));
  into(s, was);
}

/* ---- the tree ------------------------------------------------------------------------------------------- */

/* The thread's place within a group's. */
static const Expr *one_at(Scan *c, const Expr *group, int64_t groups) {
  Sched *s = c->s;
  int64_t row = row_of(c);
  const Expr *high = ex_mul(s, group, ex_int(s, c->shape.threads / row));
  if (c->shape.threads > row) high = ex_add(s, high, quotient(s, c->here.thread, row));
  return shared_at(
      c, ex_add(s, ex_mul(s, high, ex_int(s, row + gap_of(c))), rest(s, c->here.thread, row)), one_size(c, groups));
}

/* An element of the thread's row of sixteen. */
static const Expr *row_at(Scan *c, const Expr *k, int64_t groups) {
  Sched *s = c->s;
  const Expr *row = ex_mul(s, quotient(s, c->here.thread, row_of(c) / low_of(c)), ex_int(s, row_of(c) + gap_of(c)));
  if (in_pairs(c)) row = ex_add(s, row, ex_mul(s, rest(s, c->here.thread, 2), ex_int(s, RADIX)));
  return shared_at(c, ex_add(s, row, k), one_size(c, groups));
}

static const Expr *some_at(Scan *c, const Expr *group, const Expr *high, int64_t groups) {
  Sched *s = c->s;
  return shared_at(c, ex_add(s, ex_mul(s, group, ex_int(s, high_of(c) + gap_of(c))), high), some_size(c, groups));
}

/* Scans rows, one per thread: each element becomes what precedes it in the row, and `to` gets the row's sum. */
static void rows_before(Scan *c, bool above, int64_t groups, uint32_t to, const Expr *at) {
  Sched *s = c->s;
  DType t = sum_of(c)->acc;
  LoopBody *was = s->body;
  int64_t rows = above ? groups : groups * high_of(c), n = above ? high_of(c) : low_of(c);
  uint32_t place = above ? c->places.some : c->places.one, run = place_own(s, NULL, "run", t, 0, NULL);
  if (rows < c->shape.threads) into(s, &if_add(s, expr_op2(s->x, OP_LT, c->here.thread, ex_int(s, rows)))->body);
  var_add(s, run, red_identity(s, sum_of(c)));
  LoopBody *around = s->body;
  const Expr *k = unrolled_open(s, "k", n),
             *mine = above ? some_at(c, c->here.thread, k, groups) : row_at(c, k, groups);
  const Expr *x = let_read(s, "v", place_read(s, place, 1, &mine));
  store_add(s, place, 1, &mine, scalar_read(s, run));
  acc_take(s, sum_of(c), run, x);
  into(s, around);
  store_add(s, to, 1, &at, scalar_read(s, run));
  into(s, was);
  barrier_add(s);
}

/* Takes the groups' sums, and computes what precedes each thread. */
static void tree(Scan *c, int64_t groups) {
  Sched *s = c->s;
  int64_t high = high_of(c);
  LoopBody *was = s->body;
  const Expr *g = unrolled_open(s, "g", groups), *at = one_at(c, g, groups),
             *all = shared_at(c, c->here.thread, groups);
  store_add(s, c->places.one, 1, &at, place_read(s, c->places.own, 1, &g));
  into(s, was);
  barrier_add(s);
  rows_before(c, false, groups, high > 1 ? c->places.some : c->places.all,
      high > 1 ? some_at(c, quotient(s, c->here.thread, high), rest(s, c->here.thread, high), groups) : all);
  if (high > 1) rows_before(c, true, groups, c->places.all, all);
}

static const Expr *group_all(Scan *c, const Expr *group, int64_t groups) {
  const Expr *at = shared_at(c, group, groups);
  return c->shape.threads > 1 ? place_read(c->s, c->places.all, 1, &at) : place_read(c->s, c->places.own, 1, &group);
}

/* Everything that precedes the thread's group, including the carry. */
static const Expr *group_before(Scan *c, const Expr *group) {
  Sched *s = c->s;
  const Expr *before = let_read(s, "start", scalar_read(s, c->places.carry));
  if (high_of(c) > 1) {
    const Expr *at = some_at(c, group, quotient(s, c->here.thread, low_of(c)), c->shape.groups);
    before = let_read(s, "start", combine(c, before, let_read(s, "v", place_read(s, c->places.some, 1, &at))));
  }
  if (c->shape.threads > 1) {
    const Expr *at = one_at(c, group, c->shape.groups);
    before = let_read(s, "start", combine(c, before, let_read(s, "v", place_read(s, c->places.one, 1, &at))));
  }
  const Expr *all = let_read(s, "v", group_all(c, group, c->shape.groups));
  acc_take(s, sum_of(c), c->places.carry, all);
  return before;
}

/* ---- launches ------------------------------------------------------------------------------------------- */

static void point_give(Scan *c, const Expr *value) {
  if (c->label) launch_finish(c->s, c->l, value);
  else store_add(c->s, c->starts, 2, (const Expr *[]){c->here.scan, c->here.step}, value);
}

static void points_give(Scan *c, const Expr *at) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  Group g = group_open(c, at);
  const Expr *before = group_before(c, g.number);
  if (g.there) into(s, &if_add(s, g.there)->body);
  const Expr *i = point_open(c, &g, !c->run.backwards), *x = let_read(s, "v", place_read(s, c->places.points, 1, &i));
  const Expr *step = step_there(c, &g);
  if (step) into(s, &if_add(s, step)->body);
  point_give(c, let_read(s, "v", combine(c, before, x)));
  into(s, was);
}

/* Initialises the carry: the few points before the first step, and the parts before this one. */
static void carry_begin(Scan *c, bool cut) {
  Sched *s = c->s;
  const Running *r = &c->run;
  LoopBody *was = s->body;
  c->places.carry = var_own(s, NULL, "carry", sum_of(c)->acc, 0, NULL, red_identity(s, sum_of(c)));
  if (!c->label) return;
  bool none = r->end_moves ? ex_at_most(s, c->first, r->lo) : ex_at_most(s, r->hi, ex_add(s, c->first, ex_int(s, 1)));
  if (c->here.inside && (cut || !none)) into(s, &if_add(s, c->here.inside)->body);
  LoopBody *there = s->body;
  if (!none) {
    const Expr *first = ex_of(c->l->e, c->first), *still = ex_of(c->l->e, c->still);
    const Expr *lo = r->end_moves ? ex_of(c->l->e, r->lo) : ex_max(s, still, ex_add(s, first, ex_int(s, 1)));
    const Expr *hi = r->end_moves ? ex_min(s, still, first) : ex_of(c->l->e, r->hi);
    uint32_t v = var_new(s, c->l->first->label[r->r], "r");
    into(s, &for_add(s, v, lo, hi, 1, BIND_SEQ)->body);
    c->l->e->label[r->r] = var_read(s, v);
    const Expr *x = let_read(s, "v", ex_shared(s, ex_of(c->l->e, c->run.body)));
    acc_take(s, sum_of(c), c->places.carry, x);
    into(s, there);
  }
  if (cut) {
    const Expr *x = let_read(s, "v", place_read(s, c->starts, 2, (const Expr *[]){c->here.scan, c->here.number}));
    acc_take(s, sum_of(c), c->places.carry, x);
  }
  into(s, was);
}

static void scans_launch(Scan *c, bool cut) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  bool several;
  blocks_open(c, c->shape.groups, cut);
  carry_begin(c, cut);
  const Expr *at = pieces_open(c, &several);
  points_load(c, at);
  points_sum(c);
  if (c->shape.threads > 1) tree(c, c->shape.groups);
  points_give(c, at);
  if (several && c->shape.threads > 1) barrier_add(s);
  into(s, was);
}

/* Computes the parts' sums. */
static void sums_launch(Scan *c) {
  Sched *s = c->s;
  LoopBody *was = s->body;
  bool several;
  blocks_open(c, 1, true);
  const Expr *zero = ex_int(s, 0), *one = ex_int(s, 1);
  c->places.carry = var_own(s, NULL, "acc", sum_of(c)->acc, 0, NULL, red_identity(s, sum_of(c)));
  LoopBody *thread = s->body;
  const Expr *at = pieces_open(c, &several);
  points_load(c, at);
  LoopBody *piece = s->body;
  const Expr *i = unrolled_open(s, "i", c->shape.groups * c->shape.wide);
  const Expr *x = let_read(s, "v", place_read(s, c->places.points, 1, &i));
  acc_take(s, sum_of(c), c->places.carry, x);
  into(s, several ? thread : piece);
  c->places.own = place_own(s, NULL, "own", sum_of(c)->acc, 1, &one);
  var_add(s, c->places.own, scalar_read(s, c->places.carry));
  if (c->shape.threads > 1) tree(c, 1);
  const Expr *mine = c->shape.threads > 1 ? expr_op2(s->x, OP_EQ, c->here.thread, zero) : NULL;
  if (c->here.inside) mine = mine ? expr_and(s->x, mine, c->here.inside) : c->here.inside;
  if (mine) into(s, &if_add(s, mine)->body);
  store_add(s, c->sums, 2, (const Expr *[]){c->here.scan, c->here.number}, group_all(c, zero, 1));
  into(s, was);
}

/* Computes what precedes each part. */
static void starts_launch(const Scan *of) {
  Sched *s = of->s;
  Scan c = {.s = s,
      .l = of->l,
      .before = true,
      .steps = of->parts,
      .scans = of->scans,
      .sums = of->sums,
      .starts = of->starts};
  along_choose(&c, of->parts->kind == EX_INT ? of->parts->i : ENOUGH);
  scans_launch(&c, false);
}

bool scan_launch(Sched *s, Launch *l) {
  Scan c = {.s = s, .l = l};
  if (!is_scan(&c)) return false;
  int64_t steps = l->plan.size[c.run.q];
  if (!l->plan.exact[c.run.q] && steps < UNKNOWN) steps = UNKNOWN;
  labels_choose(&c);
  (c.shape.across ? across_choose : along_choose)(&c, steps);
  parts_choose(&c, steps);
  choice_report(&c);
  if (!c.shape.part) {
    scans_launch(&c, false);
    return true;
  }
  const Expr *dim[] = {c.scans, c.parts};
  c.sums = place_shared(s, "sums", sum_of(&c)->acc, 2, dim);
  c.starts = place_shared(s, "starts", sum_of(&c)->acc, 2, dim);
  sums_launch(&c);
  starts_launch(&c);
  scans_launch(&c, true);
  return true;
}
