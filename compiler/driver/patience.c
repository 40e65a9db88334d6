/* driver/patience.c - warns before a run that will take minutes or more: estimates the work as if every predicate
 * held and no loop stopped early. Work that depends on data is not counted. */
#include "task/cost.h"
#include "driver.h"

enum { PATIENCE_SECONDS = 120 };

static bool dim_of(void *ctx, Str name, int64_t *out) { return job_dim(ctx, name, out); }

/* 1 if it has no value yet. */
static double value_of(const Job *j, const Expr *e) {
  ExprEnv env = {.dim = dim_of, .ctx = (void *)(uintptr_t)j};
  Value v;
  return e && expr_value(e, &env, &v) ? (double)v.i : 1;
}

static double region_points(const Job *j, const EinRegion *r) {
  double all = 0;
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const EinNode *n = r->nodes.at[i];
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
void patience_eval(Session *s, const Job *j, const EinGraph *g) {
  say_long(s, region_points(j, g->top), 3e7, "points by the evaluator", "; without --target=eval it is faster");
}

/* C on one thread does some thousand million operations per second. */
void patience_c(Session *s, const Job *j, int threads) {
  GraphCost cost;
  CostError error;
  CostDims dims = {dim_of, (void *)(uintptr_t)j};
  if (!task_cost(s->arena, j->tasks, &dims, &cost, &error)) return; /* reported when the run is planned */
  say_long(s, (double)cost.all.flops + (double)cost.all.integer, 2e9 * (threads > 1 ? threads : 1), "operations", "");
}
