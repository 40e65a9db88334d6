/* codegen/schedule/gpu/rows.c - sums along contiguous memory: one block per output point. Each thread reduces every
 * n-th point, and a tree in shared memory combines these parts. So the order of a sum depends on the number of
 * threads, which depends on the label's extent alone. For argmax and argmin a part is a value and its position. */
#include "schedule/gpu/gpu.h"

enum { BRANCHES = 8 };           /* of a tree: each level waits for the one before it */
enum { LEAST = 32, MOST = 256 }; /* threads; shorter sums take one thread */

/* Whether every read that has the label is contiguous along it, and there is one. */
static bool goes_along(const StagePlan *p, uint32_t label) {
  bool any = false;
  for (uint32_t r = 0; r + 1 < p->n_access; r++) {
    Move m = plan_move(p, r, label);
    if (m == MOVE_FAR) return false;
    any |= m == MOVE_UNIT;
  }
  return any;
}

bool rows_along(const Sched *s, const Launch *l) {
  const EinSum *sum = l->first->sum;
  const StagePlan *p = &l->plan;
  if (!launch_is_one_sum(s, l) || sum->domain || !p->n_red) return false;
  uint32_t last = p->red[p->n_red - 1];
  return p->size[last] >= LEAST && goes_along(p, last);
}

static int64_t threads_for(int64_t size) {
  int64_t n = LEAST;
  while (n < MOST && 2 * n <= size) n *= 2;
  return n;
}

/* ---- adding a value ---------------------------------------------------------------------------------------- */

static RowsAt cell(uint32_t value, uint32_t place, const Expr *const *at) {
  return (RowsAt){value, place, at ? 1 : 0, at};
}
static const Expr *value_at(Sched *s, const RowsAt *x) { return place_read(s, x->value, x->n, x->at); }
static const Expr *place_at(Sched *s, const RowsAt *x) { return place_read(s, x->place, x->n, x->at); }

/* For argmax and argmin: whether the other value replaces this one: it exists, and this one does not, or is beaten, or
 * comes later among equals. */
static const Expr *is_taken(
    Sched *s, const EinSum *sum, const Expr *value, const Expr *place, const Expr *other, const Expr *other_place) {
  const Expr *zero = ex_int(s, 0), *none = expr_op2(s->x, OP_LT, place, zero),
             *there = expr_op2(s->x, OP_LE, zero, other_place);
  const Expr *earlier = expr_op2(
      s->x, OP_AND, expr_op2(s->x, OP_LT, other_place, place), expr_op1(s->x, OP_NOT, red_beats(s, sum, value, other)));
  const Expr *better = expr_op2(s->x, OP_OR, none, expr_op2(s->x, OP_OR, red_beats(s, sum, other, value), earlier));
  return expr_op2(s->x, OP_AND, there, better);
}

void rows_take(Sched *s, const EinSum *sum, const RowsAt *to, const RowsAt *from) {
  const Expr *a = let_read(s, "a", value_at(s, to)), *b = let_read(s, "b", value_at(s, from));
  if (to->place == NOWHERE) {
    store_add(s, to->value, to->n, to->at, ex_shared(s, red_combine(s, sum, a, b)));
    return;
  }
  const Expr *place = let_read(s, "place", place_at(s, to)), *other = let_read(s, "other", place_at(s, from));
  LoopBody *was = into(s, &if_add(s, ex_shared(s, is_taken(s, sum, a, place, b, other)))->body);
  store_add(s, to->value, to->n, to->at, b);
  store_add(s, to->place, to->n, to->at, other);
  into(s, was);
}

RowsAt rows_own(Sched *s, const EinSum *sum) {
  RowsAt x = cell(place_own(s, NULL, "acc", sum->acc, 0, NULL), NOWHERE, NULL);
  var_add(s, x.value, red_identity(s, sum));
  if (!red_is_arg(sum)) return x;
  x.place = var_own(s, NULL, "place", DT_I64, 0, NULL, ex_int(s, -1));
  return x;
}

void rows_store(Sched *s, const RowsAt *to, const RowsAt *from) {
  store_add(s, to->value, to->n, to->at, value_at(s, from));
  if (to->place != NOWHERE) store_add(s, to->place, to->n, to->at, place_at(s, from));
}

const Expr *rows_result(Sched *s, const RowsAt *of) { return of->place == NOWHERE ? value_at(s, of) : place_at(s, of); }

/* ---- a thread's part ---------------------------------------------------------------------------------------- */

/* Adds the current point, which comes after all that the thread has seen. */
static void point_take(Sched *s, const Launch *l, const RowsAt *own) {
  const EinSum *sum = l->first->sum;
  const Expr *value = let_read(s, "v", ex_shared(s, ex_of(l->e, sum->body)));
  if (own->place == NOWHERE) {
    acc_take(s, sum, own->value, value);
    return;
  }
  const Expr *none = expr_op2(s->x, OP_LT, scalar_read(s, own->place), ex_int(s, 0));
  into(s, &if_add(s, expr_op2(s->x, OP_OR, none, red_beats(s, sum, value, scalar_read(s, own->value))))->body);
  store_add(s, own->value, 0, NULL, value);
  store_add(s, own->place, 0, NULL, red_position(s, &l->plan, l->e));
}

void part_loops(Sched *s, const Launch *l, const Expr *thread, int64_t threads, const RowsCut *cut) {
  const EinSum *sum = l->first->sum;
  const StagePlan *p = &l->plan;
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  const Expr *rest = sum->where;
  for (uint32_t k = 0; k < sum->n_out; k++) bound[k] = true;
  for (uint32_t k = 0; k < p->n_red; k++) {
    uint32_t label = p->red[k];
    bool last = k + 1 == p->n_red;
    const Expr *lo = ex_int(s, 0), *hi = l->first->bound[label];
    if (cut && cut->label == label) lo = cut->lo, hi = ex_min(s, hi, cut->hi);
    rest = where_narrow(l->e, rest, p->n_label, label, bound, &lo, &hi);
    rest = where_narrow_data(l->e, rest, p->n_label, label, bound, &lo, &hi);
    Comb comb;
    if (comb_take(l->e, &rest, p->n_label, label, bound, &lo, &hi, &comb)) {
      if (last) lo = ex_add(s, lo, thread);
      comb_open(s, &comb, last ? threads : 1, &lo, &hi);
      last = false; /* a thread takes whole runs */
    }
    uint32_t v = var_new(s, l->first->label[label], "r");
    /* even: all threads take the same number of turns, which compilers can then see. */
    bool even = last && lo->kind == EX_INT && hi->kind == EX_INT && (hi->i - lo->i) % threads == 0;
    l->e->label[label] = even ? ex_add(s, var_read(s, v), thread) : var_read(s, v);
    into(s, &for_add(s, v, last && !even ? ex_add(s, lo, thread) : lo, hi, last ? threads : 1, BIND_SEQ)->body);
    bound[label] = true;
  }
  if (rest) into(s, &if_add(s, ex_shared(s, ex_of(l->e, rest)))->body);
}

RowsAt rows_part(Sched *s, const Launch *l, const Expr *thread, int64_t threads, const RowsCut *cut) {
  RowsAt own = rows_own(s, l->first->sum);
  LoopBody *was = s->body;
  part_loops(s, l, thread, threads, cut);
  point_take(s, l, &own);
  into(s, was);
  return own;
}

/* ---- results of parts --------------------------------------------------------------------------------------- */

/* Combines elements at distance `left`, 2 * left and so on, below n, with the thread's own. */
static void branches_take(
    Sched *s, const EinSum *sum, uint32_t part, uint32_t places, const Expr *mine, int64_t left, int64_t n) {
  RowsAt to = cell(part, places, &mine);
  const Expr *all = places == NOWHERE ? let_read(s, "a", value_at(s, &to)) : NULL;
  for (int64_t at = left; at < n; at += left) {
    const Expr *other = ex_add(s, mine, ex_int(s, at));
    RowsAt from = cell(part, places, &other);
    if (places != NOWHERE) rows_take(s, sum, &to, &from);
    else all = let_read(s, "a", ex_shared(s, red_combine(s, sum, all, let_read(s, "b", value_at(s, &from)))));
  }
  if (places == NOWHERE) store_add(s, part, 1, &mine, all);
}

static void best_tree(Sched *s, const EinSum *sum, uint32_t part, uint32_t places, const Expr *base, const Expr *thread,
    int64_t threads) {
  const Expr *mine = ex_add(s, base, thread);
  for (int64_t n = threads, left; n > 1; n = left) {
    left = n > BRANCHES ? n / BRANCHES : 1;
    LoopBody *was = into(s, &if_add(s, expr_op2(s->x, OP_LT, thread, ex_int(s, left)))->body);
    branches_take(s, sum, part, places, mine, left, n);
    into(s, was);
    barrier_add(s);
  }
}

void rows_tree(Sched *s, const EinSum *sum, uint32_t part, const Expr *base, const Expr *thread, int64_t threads) {
  best_tree(s, sum, part, NOWHERE, base, thread, threads);
}

RowsShared rows_shared(Sched *s, const EinSum *sum, int64_t threads) {
  return (RowsShared){
      place_block(s, "part", sum->acc, threads), red_is_arg(sum) ? place_block(s, "places", DT_I64, threads) : NOWHERE};
}

RowsAt rows_together(
    Sched *s, const EinSum *sum, RowsShared shared, const RowsAt *own, const Expr *thread, int64_t threads) {
  const Expr **zero = NEW_ARRAY(s->arena, const Expr *, 1);
  *zero = ex_int(s, 0);
  RowsAt mine = cell(shared.part, shared.places, &thread);
  rows_store(s, &mine, own);
  barrier_add(s);
  best_tree(s, sum, shared.part, shared.places, *zero, thread, threads);
  return cell(shared.part, shared.places, zero);
}

/* ---- the launch --------------------------------------------------------------------------------------------- */

bool rows_launch(Sched *s, Launch *l) {
  const EinSum *sum = l->first->sum;
  const StagePlan *p = &l->plan;
  if (!rows_along(s, l)) return false;
  int64_t threads = threads_for(p->size[p->red[p->n_red - 1]]);
  how_add(s, l->first, "a block of %lld threads for each point, along %s", (long long)threads,
      how_label(l->first, p->red[p->n_red - 1]));
  Walk *w = points_walk(s, p);
  const Expr *all = walk_points(s, w), *zero = ex_int(s, 0);
  const Expr *block = for_open(s, NULL, "block", zero, all, 1, BIND_GRID);
  RowsShared shared = rows_shared(s, sum, threads);
  const Expr *t = for_open(s, NULL, "thread", zero, ex_int(s, threads), 1, BIND_BLOCK);
  labels_set(l->e, w, p->order, block);
  RowsAt own = rows_part(s, l, t, threads, NULL), result = rows_together(s, sum, shared, &own, t, threads);
  into(s, &if_add(s, expr_op2(s->x, OP_EQ, t, zero))->body);
  launch_finish(s, l, rows_result(s, &result));
  return true;
}
