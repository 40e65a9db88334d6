/* codegen/schedule/gpu/rows.c - a sum along which memory is read in its order: a block for each output point. Its threads make a part each, of every so
 * many-th point, and parts are combined in a tree in shared memory. So the order of a sum hangs on the number of threads, which hangs on the label's
 * extent alone. */
#include "schedule/gpu/gpu.h"

enum { LEAST = 32, MOST = 256 }; /* threads; shorter sums are a thread's */

/* Every read steps to the next element along the label, or has not got it; and one does. */
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
  if (sum->reducer == RED_NONE || red_is_arg(sum) || sum->domain || !p->n_red) return false;
  for (uint32_t i = l->from + 1; i < l->to; i++)
    if (s->task->stages.at[i].sum->reducer != RED_NONE) return false;
  uint32_t last = p->red[p->n_red - 1];
  return p->size[last] >= LEAST && goes_along(p, last);
}

static int64_t threads_for(int64_t size) {
  int64_t n = LEAST;
  while (n < MOST && 2 * n <= size) n *= 2;
  return n;
}

const Expr *rows_part(Sched *s, const Launch *l, const Expr *thread, int64_t threads, const RowsCut *cut) {
  const EinSum *sum = l->first->sum;
  const StagePlan *p = &l->plan;
  uint32_t acc = place_own(s, NULL, "acc", sum->acc, 0, NULL);
  bool *bound = NEW_ARRAY(s->arena, bool, p->n_label + 1);
  const Expr *rest = sum->where;
  LoopBody *was = s->body;
  var_add(s, acc, red_identity(s, sum));
  for (uint32_t k = 0; k < sum->n_out; k++) bound[k] = true;
  for (uint32_t k = 0; k < p->n_red; k++) {
    uint32_t label = p->red[k];
    bool last = k + 1 == p->n_red;
    const Expr *lo = ex_int(s, 0), *hi = l->first->bound[label];
    if (cut && cut->label == label) lo = cut->lo, hi = ex_min(s, hi, cut->hi);
    rest = where_narrow(l->e, rest, p->n_label, label, bound, &lo, &hi);
    uint32_t v = var_new(s, l->first->label[label], "r");
    l->e->label[label] = var_read(s, v);
    into(s, &for_add(s, v, last ? ex_add(s, lo, thread) : lo, hi, last ? threads : 1, BIND_SEQ)->body);
    bound[label] = true;
  }
  if (rest) into(s, &if_add(s, ex_shared(s, ex_of(l->e, rest)))->body);
  const Expr *value = let_read(s, "v", ex_shared(s, ex_of(l->e, sum->body)));
  store_add(s, acc, 0, NULL, ex_shared(s, red_combine(s, sum, scalar_read(s, acc), value)));
  into(s, was);
  return scalar_read(s, acc);
}

void rows_tree(Sched *s, const EinSum *sum, uint32_t part, const Expr *base, const Expr *thread, int64_t threads) {
  const Expr *mine = ex_add(s, base, thread);
  for (int64_t half = threads / 2; half > 0; half /= 2) {
    const Expr *other = ex_add(s, mine, ex_int(s, half));
    LoopBody *was = into(s, &if_add(s, expr_op2(s->x, OP_LT, thread, ex_int(s, half)))->body);
    const Expr *a = let_read(s, "a", place_read(s, part, 1, &mine)), *b = let_read(s, "b", place_read(s, part, 1, &other));
    store_add(s, part, 1, &mine, ex_shared(s, red_combine(s, sum, a, b)));
    into(s, was);
    barrier_add(s);
  }
}

bool rows_launch(Sched *s, Launch *l) {
  const EinSum *sum = l->first->sum;
  const StagePlan *p = &l->plan;
  if (!rows_along(s, l)) return false;
  Choice c = {.threads = threads_for(p->size[p->red[p->n_red - 1]])};
  how_add(s, l->first, "a block of %lld threads for each point, along %s", (long long)c.threads, how_label(l->first, p->red[p->n_red - 1]));
  Walk *w = NEW(s->arena, Walk);
  const Expr *all = ex_int(s, 1), *zero = ex_int(s, 0);
  for (uint32_t k = 0; k < p->n_order; k++) {
    walk_add(s, w, l->first->label[p->order[k]], l->first->bound[p->order[k]]);
    all = ex_mul(s, all, l->first->bound[p->order[k]]);
  }
  uint32_t block = var_new(s, NULL, "block"), thread = var_new(s, NULL, "thread");
  into(s, &for_add(s, block, zero, all, 1, BIND_GRID)->body);
  uint32_t part = place_block(s, "part", sum->acc, c.threads);
  into(s, &for_add(s, thread, zero, ex_int(s, c.threads), 1, BIND_BLOCK)->body);
  const Expr *t = var_read(s, thread);
  walk_count(s, w, p->n_order, var_read(s, block));
  for (uint32_t k = 0; k < p->n_order; k++) l->e->label[p->order[k]] = w->index[k];
  store_add(s, part, 1, &t, rows_part(s, l, t, c.threads, NULL));
  barrier_add(s);
  rows_tree(s, sum, part, zero, t, c.threads);
  into(s, &if_add(s, expr_op2(s->x, OP_EQ, t, zero))->body);
  launch_finish(s, l, place_read(s, part, 1, &zero));
  return true;
}
