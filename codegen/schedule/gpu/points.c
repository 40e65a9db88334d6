/* codegen/schedule/gpu/points.c - lowers a kernel to launches on a device. Stages that are neither tiles nor rows get
 * one thread per output point (maps: per several neighbours, wide.c), which computes its sum in order: that is correct
 * for every stage. Stages over the kernel's outer labels alone share a thread, one after the other; each other stage
 * has its own launch, and what later launches read of it is in a work buffer. */
#include "schedule/gpu/gpu.h"

#include "expr/prove/prove.h"

enum { WARP = 32, THREADS = 256 };

/* The threads of a block: no more than points, in whole warps. */
static int64_t threads_for(const Expr *points) {
  int64_t n = points->kind == EX_INT ? points->i : THREADS;
  return n == 1 ? 1 : n < THREADS ? (n + WARP - 1) / WARP * WARP + (n == 0 ? WARP : 0) : THREADS;
}

/* ---- which stages go together ------------------------------------------------------------------------ */

static bool at_outer(const Sched *s, const TaskStage *st) {
  return st->sum->n_out == s->task->n_outer && !st->sum->domain;
}

/* The end `to` of the stages from..to-1 that are computed at the same points. */
static uint32_t together(const Sched *s, uint32_t from) {
  uint32_t to = from + 1;
  if (!at_outer(s, &s->task->stages.at[from])) return to;
  while (to < s->task->stages.len && at_outer(s, &s->task->stages.at[to])) to++;
  return to;
}

bool points_read_from(const Sched *s, uint32_t stage, uint32_t from) {
  return task_reads_stage(s->task, stage, from, s->task->stages.len);
}

bool launch_is_one_sum(const Sched *s, const Launch *l) {
  for (uint32_t i = l->from + 1; i < l->to; i++)
    if (s->task->stages.at[i].sum->reducer != RED_NONE) return false;
  return l->first->sum->reducer != RED_NONE;
}

/* ---- a launch ---------------------------------------------------------------------------------------- */

Walk *points_walk(Sched *s, const StagePlan *p) {
  Walk *w = NEW(s->arena, Walk);
  for (uint32_t k = 0; k < p->n_order; k++)
    walk_add(s, w, p->stage->label[p->order[k]], p->stage->bound[p->order[k]]);
  return w;
}

const Expr *walk_points(Sched *s, const Walk *w) {
  const Expr *all = ex_int(s, 1);
  for (uint32_t k = 0; k < w->n; k++) all = ex_mul(s, all, w->extent[k]);
  return all;
}

void labels_set(Env *e, Walk *w, const uint32_t *label, const Expr *number) {
  walk_count(e->s, w, w->n, number);
  for (uint32_t k = 0; k < w->n; k++) e->label[label[k]] = w->index[k];
}

const Expr *points_spread(Sched *s, const StagePlan *p, Env *e, int64_t each) {
  const TaskStage *st = p->stage;
  Walk *w = points_walk(s, p);
  if (each > 1) w->extent[w->n - 1] = expr_divide(s->x, w->extent[w->n - 1], ex_int(s, each));
  const Expr *all = walk_points(s, w);
  const Expr *threads = ex_int(s, threads_for(all));
  if (each > 1)
    how_add(s, st, "a thread for %lld neighbours along %s, %lld a block", (long long)each,
        how_label(st, p->order[p->n_order - 1]), (long long)threads->i);
  else how_add(s, st, "a thread for each point, %lld a block", (long long)threads->i);
  const Expr *block = for_open(s, NULL, "block", ex_int(s, 0), ex_div_up(s, all, threads), 1, BIND_GRID);
  const Expr *thread = for_open(s, NULL, "thread", ex_int(s, 0), threads, 1, BIND_BLOCK);
  const Expr *point = named(s, NULL, "point", ex_add(s, ex_mul(s, block, threads), thread));
  if (all->kind != EX_INT || all->i % threads->i) into(s, &if_add(s, expr_op2(s->x, OP_LT, point, all))->body);
  labels_set(e, w, p->order, point);
  if (each > 1) e->label[p->order[p->n_order - 1]] = ex_mul(s, w->index[p->n_order - 1], ex_int(s, each));
  return point;
}

const Expr *axis_open(Sched *s, const char *name, int64_t n, uint8_t axis) {
  uint32_t v = var_new(s, NULL, name);
  LoopStmt *loop = for_add(s, v, ex_int(s, 0), ex_int(s, n), 1, BIND_BLOCK);
  loop->axis = axis;
  into(s, &loop->body);
  return n > 1 ? var_read(s, v) : ex_int(s, 0);
}

const Expr *threads_open(Sched *s, const StagePlan *p, Env *e) { return points_spread(s, p, e, 1); }

/* sum: its reduction, if that is computed already; wanted: later stages of the launch read it. */
static void stage_point(Sched *s, uint32_t number, const Launch *l, const Expr *sum, bool wanted) {
  const TaskStage *st = &s->task->stages.at[number];
  StagePlan p = stage_plan(s, st);
  Env e = {.s = s, .stage = st, .label = NEW_ARRAY(s->arena, const Expr *, p.n_label + 1)};
  for (uint32_t k = 0; k < st->sum->n_out; k++) e.label[k] = l->e->label[k];
  if (st->sum->domain) into(s, &if_add(s, ex_shared(s, ex_of(&e, st->sum->domain)))->body);
  const Expr *value = sum;
  if (!value)
    value = st->sum->reducer == RED_NONE ? ex_shared(s, expr_cast(s->x, st->sum->dtype, ex_of(&e, st->sum->body)))
                                         : reduce_point(s, &p, &e);
  value = expr_cast(s->x, st->sum->dtype, value);
  if (wanted) value = let_read(s, st->name ? st->name->s : "v", value);
  value_store(s, st, &e, value);
  if (wanted) s->value[number] = value;
}

void launch_finish(Sched *s, const Launch *l, const Expr *sum) {
  for (uint32_t i = l->from; i < l->to; i++)
    stage_point(s, i, l, i == l->from ? sum : NULL, l->to - l->from > 1 && points_read_from(s, i, i + 1));
  for (uint32_t i = l->from; i < l->to; i++) s->value[i] = NULL;
}

/* Points are in the memory order of the last stage's result. */
void points_launch(Sched *s, Launch *l) {
  StagePlan p = stage_plan(s, &s->task->stages.at[l->to - 1]);
  points_spread(s, &p, l->e, 1);
  launch_finish(s, l, NULL);
}

static void launch(Sched *s, uint32_t from, uint32_t to) {
  const TaskStage *first = &s->task->stages.at[from];
  LoopBody *was = s->body;
  for (uint32_t i = from; i < to; i++) {
    const TaskStage *st = &s->task->stages.at[i];
    if (points_read_from(s, i, to))
      s->of_stage[i] = place_shared(s, st->name ? st->name->s : "kept", st->sum->dtype, st->sum->n_out, st->bound);
  }
  Env e = {
      .s = s, .stage = first, .label = NEW_ARRAY(s->arena, const Expr *, first->sum->n_out + first->sum->n_red + 1)};
  Launch l = {from, to, first, stage_plan(s, first), &e};
  Library b;
  bool library = library_product(s, &l, &b);
  if (!scan_launch(s, &l) && !bins_launch(s, &l) && !seek_launch(s, &l) && !tile_launch(s, &l) &&
      !split_launch(s, &l) && !rows_launch(s, &l) && !transpose_launch(s, &l) && !wide_launch(s, &l))
    points_launch(s, &l);
  if (library) library_behind(&b);
  into(s, was);
}

void gpu_loops(Sched *s) {
  for (uint32_t from = 0, to; from < s->task->stages.len; from = to) {
    if (chain_launch(s, from, &to) || whole_launch(s, from, &to)) continue;
    to = together(s, from);
    launch(s, from, to);
  }
}
