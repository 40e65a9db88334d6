/* driver/patience.c - warns before a run that will take minutes or more: estimates the work as if every predicate
 * held and no loop stopped early. Work that depends on data is not counted. Compiled code is counted by its loops,
 * which leave out most points of a running sum, a band or a segment. */
#include "driver.h"
#include "loop/loop.h"
#include "task/cost.h"

#include <string.h>

enum { PATIENCE_SECONDS = 120 };

/* 1 if it has no value yet. */
static double value_of(const Job *j, const Expr *e) {
  ExprEnv env = {.dim = dim_of_job, .ctx = (void *)(uintptr_t)j};
  Value v;
  return e && expr_value(e, &env, &v) ? (double)v.i : 1;
}

static double region_points(const Job *j, const EinRegion *r) {
  double all = 0;
  vec_each_of(const EinNode, n, r->nodes) {
    double points = n->kind == EIN_VERTEX ? 1 : 0;
    for (uint32_t k = 0; n->kind == EIN_VERTEX && k < n->sum->n_out + n->sum->n_red; k++)
      points *= value_of(j, n->bound[k]);
    all += n->kind == EIN_REPEAT ? value_of(j, n->body->turns) * region_points(j, n->body) : points;
  }
  return all;
}

static void say_long(Session *s, double steps, double a_second, const char *of, const char *hint) {
  double seconds = steps / a_second;
  if (!(seconds > (double)PATIENCE_SECONDS)) return;
  bool days = seconds > 2 * 86400, hours = seconds > 2 * 3600;
  say(s, "this is a run of up to %.1e %s: about %.0f %s%s", steps, of, seconds / (days ? 86400 : hours ? 3600 : 60),
      days ? "days" : hours ? "hours" : "minutes", hint);
}

/* The evaluator handles some ten million points per second. */
void patience_eval(Session *s, const Job *j, const EinGraph *g, const char *hint) {
  say_long(s, region_points(j, g->top), 3e7, "points by the evaluator", hint);
}

/* ---- how often statements run ------------------------------------------------------------------------ */

enum { SAMPLES = 4, DEEPEST = 100 };

/* One look at a kernel, with every variable as far along its loop as `part` says. */
typedef struct Look {
  double part;
  ExprEnv env;
  int64_t *value;            /* by variable */
  bool *unknown;             /* by variable: data decides */
  bool *used;                /* scratch */
} Look;

static bool index_of(Look *w, const Expr *e, int64_t *out) {
  Value v;
  memset(w->used, 0, w->env.n_label * sizeof *w->used);
  expr_labels(e, w->env.n_label, w->used);
  for (uint32_t i = 0; i < w->env.n_label; i++)
    if (w->used[i] && w->unknown[i]) return false;
  if (!expr_value(e, &w->env, &v)) return false;
  *out = v.i;
  return true;
}

/* A loop whose ends are data counts once: the segments of all rows make up the data. */
static double steps_of(Look *w, const LoopBody *body) {
  double all = 0;
  vec_each_of(const LoopStmt, s, *body) {
    int64_t lo, hi;
    all++;
    if (s->kind == LOOP_INDEX) w->unknown[s->var] = !index_of(w, s->lo, &w->value[s->var]);
    if (s->kind == LOOP_IF) {
      double yes = steps_of(w, &s->body), no = steps_of(w, &s->other);
      all += yes > no ? yes : no;
    }
    if (s->kind != LOOP_FOR) continue;
    bool known = index_of(w, s->lo, &lo) && index_of(w, s->hi, &hi);
    double n = !known ? 1 : lo < hi ? ((double)hi - (double)lo) / (double)(s->step > 0 ? s->step : 1) : 0;
    w->unknown[s->var] = !known;
    if (known) w->value[s->var] = lo + (int64_t)(w->part * ((double)hi - (double)lo));
    all += n * (1 + steps_of(w, &s->body));
  }
  return all;
}

static double kernel_steps(Session *s, const Job *j, const LoopKernel *k, uint32_t depth, const int64_t *turns) {
  uint32_t n = k->var.len;
  int64_t turn[DEEPEST];
  Look w = {.value = NEW_ARRAY(s->arena, int64_t, n + 1),
      .unknown = NEW_ARRAY(s->arena, bool, n + 1),
      .used = NEW_ARRAY(s->arena, bool, n + 1)};
  w.env = (ExprEnv){.label = w.value, .n_label = n, .turn = turn, .n_turn = depth, .dim = dim_of_job};
  w.env.ctx = (void *)(uintptr_t)j;
  double all = 0;
  for (int i = 0; i < SAMPLES; i++) {
    w.part = (i + 0.5) / (double)SAMPLES;
    for (uint32_t d = 0; d < depth; d++) turn[d] = (int64_t)(w.part * (double)turns[d]);
    all += steps_of(&w, &k->body) / (double)SAMPLES;
  }
  return all;
}

/* Of all kernels: as written or by their loops, whichever is less. */
static double operations_of(Session *s, const Job *j, const GraphCost *cost) {
  int64_t turns[DEEPEST] = {0};
  double all = 0;
  for (uint32_t i = 0, k = 0; i < cost->tasks.len; i++) {
    const TaskCost *x = &cost->tasks.at[i];
    if (x->task->kind == TASK_REPEAT && x->depth < DEEPEST) turns[x->depth] = x->turns < 0 ? 0 : x->turns;
    if (x->task->kind != TASK_KERNEL) continue;
    double steps = (double)x->once.flops + (double)x->once.integer, made = steps;
    while (k < j->loops->kernels.len && j->loops->kernels.at[k]->task < x->task->step) k++;
    if (k < j->loops->kernels.len && j->loops->kernels.at[k]->task == x->task->step && x->depth < DEEPEST)
      made = kernel_steps(s, j, j->loops->kernels.at[k], x->depth, turns);
    all += (made < steps ? made : steps) * (x->times < 0 ? 1 : (double)x->times);
  }
  return all;
}

/* C on one thread does some thousand million operations per second. */
void patience_c(Session *s, const Job *j, int threads) {
  GraphCost cost;
  CostError error;
  CostDims dims = {dim_of_job, (void *)(uintptr_t)j};
  if (!task_cost(s->arena, j->tasks, &dims, &cost, &error)) return; /* reported when the run is planned */
  say_long(s, operations_of(s, j, &cost), 2e9 * (threads > 1 ? threads : 1), "operations", "");
}
